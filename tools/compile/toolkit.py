"""toolkit.py - finds an nvcc."""

import os
import re
import shutil

from failure import Failure
from targets import Targets, ask

HEADER = 'cuda_runtime_api.h'     # is in each toolkit


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
        # This compression was added within CUDA 12: some of its drivers may lack it.
        self.flags = [f for f in flags if self.version >= 13000 or not f.startswith('-compress-mode')]
        self.targets = Targets(nvcc, targets)


    @property
    def fatbinary(self):
        return os.path.join(os.path.dirname(self.nvcc), 'fatbinary')

    @property
    def nvjitlink(self):
        """The path of its linker for GPU code, or the name by which the dynamic linker looks for it."""
        name = f'libnvJitLink.so.{self.version // 1000}'
        tops = [os.path.dirname(os.path.dirname(path)) for path in (self.nvcc, os.path.realpath(self.nvcc))]
        folders = [os.path.join(top, *parts) for top in tops
                   for parts in (('lib64',), ('lib',), ('targets', 'x86_64-linux', 'lib'), ('..', 'nvjitlink', 'lib'))]
        return next((path for path in (os.path.join(folder, name) for folder in folders) if os.path.exists(path)), name)


def is_toolkit(folder):
    """True for the folder of a toolkit's headers."""
    return os.path.isfile(os.path.join(folder, HEADER))


def find_nvcc(config):
    """The configured nvcc, or the one in PATH; None if there is neither."""
    return config['nvcc'] and shutil.which(os.path.join(config.folder, config['nvcc'])) or shutil.which('nvcc')


def _header_folders(options, config):
    """The folders that may have the toolkit's headers, first ones first."""
    folders = [] if options.cuda in (None, 'no') else [os.path.join(options.cuda, 'include')]
    nvcc = find_nvcc(config)
    for path in [nvcc, os.path.realpath(nvcc)] if nvcc else []:
        folders.append(os.path.normpath(os.path.join(os.path.dirname(path), '..', 'include')))
    return folders


def find_headers(options, config):
    """The folder of the toolkit's headers; None without a toolkit. Kernels for the CPU alone use its types, too."""
    return next(filter(is_toolkit, _header_folders(options, config)), None)


def toolkit_places(options, config):
    """The places of all files that decide about the folder of the toolkit's headers."""
    return [*[os.path.join(config.folder, config['nvcc'])] * bool(config['nvcc']),
            *(os.path.join(folder, 'nvcc') for folder in os.get_exec_path()),
            *(os.path.join(folder, HEADER) for folder in _header_folders(options, config))]


def find_toolkit(options, config):
    """The toolkit of --cuda, or the configured toolkit, or the one in PATH; None with the reason to build for the CPU
    alone, which is empty if the user asked for it."""
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
