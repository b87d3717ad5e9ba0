"""Emits the build edges of the kernel files. Their rules are in build.ninja.in."""

import os

from base.folders import source_files
from base.text import banner


def emit_edges(paths, outputs, gpu, images):
    """Returns the edges. `outputs`: the files that one run of cfgen writes. `gpu`: adds the edges of device code.
    `images`: maps a stem to the file that holds its image. A C file beside a kernel file with the same name contains
    the functions of its operations."""
    # The files are listed one by one, because restat does not work through a phony edge.
    generator = ''.join(f' $\n    $srcdir/{name}' for name in (
        'include/cuferry/registry.h', *(f'gen/{name}' for name in source_files())))
    stems = [os.path.splitext(os.path.basename(path))[0] for path in paths]
    header = next(name for name in outputs if name.endswith('.h'))
    text = [banner('the list of kernel files', ('#', ''))]
    objects = []
    for stem, path in zip(stems, paths):
        base = f'gen/{stem}'
        objects += [f'{base}.stub.o', f'{base}.host.o', f'{base}.image.o']
        # Each source has an edge of its own, without which Ninja 1.12 and later would fail once the source is removed.
        text.append(f'\nbuild {_escape_path(path)}: phony\nbuild {base}.ii: scan {_escape_path(path)}\n'
                    f'build {base}.host.o: cxx_host {base}.host.cpp\n')
        if stem in images:
            text.append('  keep_linked = 1\n')
        if gpu and stem in images:
            is_owner = images[stem] == stem
            code = ' '.join(f'gen/{other}.unlinked.fatbin' for other, of in images.items() if of == stem)
            text.append(f'build {base}.ptx: nvcc_ptx {base}.dev.cu\n  rdc = -rdc=true\n'
                        f'build {base}.unlinked.fatbin: nvcc_unlinked {base}.dev.cu\n' +
                        f'build {base}.fatbin: link_image {code}\n' * is_owner +
                        f'build {base}.image.h: image_header {base}.ptx gen/{images[stem]}.fatbin |{generator}\n'
                        '  image_facts = $linked_facts\n'
                        f'build {base}.image.o: as_image {base}.image.S{f" | {base}.fatbin" * is_owner}\n'
                        f'build {base}.stub.o: cc {base}.stub.c | {base}.image.h\n')
        elif gpu:
            text.append(f'build {base}.ptx: nvcc_ptx {base}.dev.cu\n'
                        f'build {base}.image.h: image_header {base}.ptx {base}.fatbin |{generator}\n'
                        f'build {base}.fatbin: nvcc_fatbin {base}.dev.cu\n'
                        f'build {base}.image.o: as_image {base}.image.S | {base}.fatbin\n'
                        f'build {base}.stub.o: cc {base}.stub.c | {base}.image.h\n')
        else:
            text.append(f'build {base}.image.o: as_image {base}.image.S\n'
                        f'build {base}.stub.o: cc {base}.stub.c\n')
        operations = os.path.splitext(path)[0] + '.c'
        if os.path.isfile(operations):
            objects.append(f'{base}.operations.o')
            text.append(f'build {base}.operations.o: cc {_escape_path(operations)} || gen/{header}\n')
    scanned = ''.join(f' gen/{stem}.ii' for stem in stems)
    written = ''.join(f' $\n    gen/{name}' for name in outputs)
    registry = next(name for name in outputs if name.endswith('_registry.c'))
    objects.append(f'gen/{registry[:-2]}.o')
    # The sources are inputs beside their preprocessed text, because this text lacks the documentation comments.
    sources = ''.join(f' {_escape_path(path)}' for path in paths)
    text.append(f'\nbuild{written}: cfgen{scanned} |{sources} $\n    $srcdir/kernels/tuning{generator}\n'
                f'build gen/{registry[:-2]}.o: cc gen/{registry}\n'
                f'\nkernel_objects = {" ".join(objects)}\nbuild kernel_objects: phony {" ".join(objects)}\n')
    return ''.join(text)


def _escape_path(path):
    return path.replace('$', '$$').replace(' ', '$ ').replace(':', '$:')
