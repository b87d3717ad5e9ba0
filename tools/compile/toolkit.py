"""toolkit.py - finds an nvcc."""

import os
import re
import shutil

from failure import Failure
from targets import Targets, ask

HEADER = 'cuda_runtime_api.h'     # a header that every toolkit has


class Toolkit:
    """An nvcc and its targets."""

    def __init__(self, nvcc, targets, flags):
        self.nvcc = nvcc
        release = re.search(r'release (\d+)\.(\d+)', ask([nvcc, '--version']))
        if not release:
            raise Failure(f'{nvcc} does not tell its version')
        self.version = int(release.group(1)) * 1000 + int(release.group(2)) * 10
        if self.version < 12000:
            raise Failure(f'{nvcc} is of CUDA {release.group(1)}.{release.group(2)}; Cuferry needs 12.0 or newer')
        # The compression was added during CUDA 12, so that some drivers for CUDA 12 lack it.
        self.flags = [f for f in flags if self.version >= 13000 or not f.startswith('-compress-mode')]
        self.targets = Targets(nvcc, targets)


    @property
    def fatbinary(self):
        return os.path.join(os.path.dirname(self.nvcc), 'fatbinary')

    @property
    def nvjitlink(self):
        """Returns the path of the toolkit's nvJitLink library, or its name, for which the dynamic linker then looks."""
        name = f'libnvJitLink.so.{self.version // 1000}'
        tops = [os.path.dirname(os.path.dirname(path)) for path in (self.nvcc, os.path.realpath(self.nvcc))]
        folders = [os.path.join(top, *parts) for top in tops
                   for parts in (('lib64',), ('lib',), ('targets', 'x86_64-linux', 'lib'), ('..', 'nvjitlink', 'lib'))]
        return next((path for path in (os.path.join(folder, name) for folder in folders) if os.path.exists(path)), name)


def is_toolkit(folder):
    """True for the folder of a toolkit's headers."""
    return os.path.isfile(os.path.join(folder, HEADER))


def find_nvcc(config):
    """Returns the configured nvcc, or the one in PATH; None if there is neither."""
    return config['nvcc'] and shutil.which(os.path.join(config.folder, config['nvcc'])) or shutil.which('nvcc')


def _header_folders(options, config):
    """Returns the folders that may contain the toolkit's headers, in order of preference."""
    folders = [] if options.cuda in (None, 'no') else [os.path.join(options.cuda, 'include')]
    nvcc = find_nvcc(config)
    for path in [nvcc, os.path.realpath(nvcc)] if nvcc else []:
        folders.append(os.path.normpath(os.path.join(os.path.dirname(path), '..', 'include')))
    return folders


def find_headers(options, config):
    """Returns the folder of the toolkit's headers; None without a toolkit. Kernels built only for the CPU need its
    types, too."""
    return next(filter(is_toolkit, _header_folders(options, config)), None)


def toolkit_places(options, config):
    """Returns the paths of all files, existing or not, that decide which folder has the toolkit's headers."""
    return [*[os.path.join(config.folder, config['nvcc'])] * bool(config['nvcc']),
            *(os.path.join(folder, 'nvcc') for folder in os.get_exec_path()),
            *(os.path.join(folder, HEADER) for folder in _header_folders(options, config))]


def find_toolkit(options, config):
    """Returns the toolkit of --cuda, the configured one, or the one in PATH, and ''. Without one, returns None and the
    reason to build only for the CPU, which is '' if the user asked for that."""
    if options.cuda == 'no':
        return None, ''
    if options.cuda is not None:
        nvcc = os.path.join(options.cuda, 'bin', 'nvcc')
        if not os.access(nvcc, os.X_OK):
            raise Failure(f'--cuda={options.cuda}: there is no bin/nvcc')
    elif config['cuda'] == 'no':
        return None, 'Cuferry was configured without CUDA'
    else:
        nvcc = find_nvcc(config)
        if not nvcc:
            return None, 'no nvcc was found'
    return Toolkit(nvcc, options.targets or config['targets'], config.words('nvcc_flags')), ''
