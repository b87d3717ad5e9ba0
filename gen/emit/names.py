"""Names of generated files and of the symbols in them."""

from base.text import identifier

# ---- Files


def library_names(prefix, header=None):
    """Returns the names of the files that one run writes for the library: the public header, the registry, the
    manifest, and the header for operations' C files, which only the bundled kernels and libraries with operations
    have."""
    if prefix == 'cf':
        names = header or 'cuferry/kernels.h', 'cuferry_registry.c', 'cuferry.json'
    else:
        names = header or f'{prefix}.h', f'{prefix}_registry.c', f'{prefix}.json'
    return (*names, internal_header_name(names[0]))


def file_names(name):
    return [f'{name}.stub.c', f'{name}.dev.cu', f'{name}.host.cu', f'{name}.host.cpp', f'{name}.image.S']


def adopted_inputs_name(name):
    """Returns the name of the make file that lists the images adopted by a kernel file. Only such files have it."""
    return f'{name}.adopted.d'


def devices_name(prefix):
    """Returns the name of the list of functions that kernel files define for one another and of files that share an
    image. Only libraries with such functions have this list."""
    return f'{prefix}_devices.json'


def wrappers_name(name):
    """Returns the name of the device source with functions for Numba. Only files with such functions have it."""
    return f'{name}.numba.cu'


def module_name(prefix):
    """Returns the name of the Python module that declares the functions for Numba."""
    return f'{prefix}_numba.py'


def internal_header_name(header):
    """Returns the name of the header for operations' C files."""
    return f'{header[:-2] if header.endswith(".h") else header}_internal.h'


# ---- In C


def descriptor_name(prefix, instance):
    """Returns the C name of an entry point's descriptor. A letter separates these names from the library's own."""
    return f'{prefix}__k_{instance.name}'


def symbol_descriptor_name(prefix, symbol):
    """Returns the C name of the descriptor of __constant__ data."""
    return f'{prefix}__d_{symbol.name}'


def cpu_body_name(prefix, instance):
    """Returns the C name of an entry point's CPU body."""
    return f'{prefix}__h_{instance.host_of or instance.name}'


def cpu_bytes_name(prefix, instance):
    """Returns the C name of the sizes of a CPU body's parameters."""
    return f'{prefix}__b_{instance.host_of or instance.name}'


def cpu_data_name(prefix, symbol):
    """Returns the C name of the pointer to the CPU's copy of __constant__ data."""
    return f'{prefix}__v_{symbol.name}'


def cpu_data_bytes_name(prefix, symbol):
    """Returns the C name of the size of the CPU's copy of __constant__ data."""
    return f'{prefix}__w_{symbol.name}'


def image_name(prefix, file):
    """Returns the C name of a kernel file's embedded image."""
    return f'{prefix}__i_{identifier(file.stem)}'


def image_end_name(prefix, file):
    """Returns the C name of the end of a kernel file's embedded image."""
    return f'{prefix}__j_{identifier(file.stem)}'


def shared_image_name(prefix, file):
    """Returns the C name of the descriptor of an image that has the code of several kernel files."""
    return f'{prefix}__g_{identifier(file.image_of)}'


def adopted_name(prefix, file, number):
    """Returns the C name of an adopted image; `number` counts the adopted images of one kernel file."""
    return f'{prefix}__a_{identifier(file.stem)}_{number}'


def adopted_end_name(prefix, file, number):
    """Returns the C name of the end of an adopted image."""
    return f'{prefix}__z_{identifier(file.stem)}_{number}'


def enqueuer_name(prefix, instance):
    """Returns the name of the C function that enqueues an operation."""
    return f'{prefix}__enqueue_{instance.name}'


def setter_name(prefix, symbol):
    return f'{prefix}_set_{symbol.name}'


# ---- In device code


def proof_name(instance):
    """Returns the device variable that points to an instance's kernel; the PTX shows its entry name."""
    return f'cf__e_{instance.name}'


def data_proof_name(symbol):
    """Returns the device variable that points to __constant__ data; the PTX shows its name."""
    return f'cf__d_{symbol.name}'
