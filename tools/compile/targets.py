"""targets.py - reads GPU targets as users of nvcc and CMake write them. configure runs this file as a program."""

import re
import subprocess
import sys

from failure import Failure, Short, shortage

_TARGET = re.compile(r'(?:sm_)?(\d{2,3}[af]?)(-real|-virtual)?|compute_(\d{2,3}[af]?)', re.ASCII)
_SETS = ('major', 'all-major', 'all', 'native')
FORMS = 'they are major, all, native, or compute capabilities such as 80,90a,100f'


def ask(command):
    """Returns the output of a command."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=True)
        return done.stdout.decode(errors='replace')
    except OSError as error:
        raise Failure(f'{" ".join(command)} fails: {error}') from error
    except subprocess.CalledProcessError as error:
        status = shortage(error.returncode, error.stderr.decode(errors='replace'))
        raise (Short(f'{" ".join(command)} fails: {error}', status) if status else
               Failure(f'{" ".join(command)} fails: {error}')) from error


def wrong_target(text):
    """Returns the first target that no nvcc accepts; None if all are valid. Needs no nvcc."""
    return None if text in _SETS else next((n for n in _words(text) or [text] if not _TARGET.fullmatch(n)), None)


class Targets:
    """The targets that a list names, for one nvcc: `sm` for machine code, `ptx` for PTX."""

    def __init__(self, nvcc, text):
        # --list-gpu-code leaves out targets such as 90a.
        known = set(re.findall(r"'sm_(\d+[af]?)'", ask([nvcc, '--help'])))
        real, virtual, both = self._read(text, known)
        for name in sorted(real | virtual, key=_order):
            if name not in known:
                raise Failure(f'--targets: nvcc knows no sm_{name}; it knows {" ".join(sorted(known, key=_order))}')
        # PTX is added for the newest target without a letter: PTX for 90a runs only where machine code for 90a runs,
        # too.
        newest = sorted(filter(str.isdigit, both), key=_order)[-1:]
        self.sm, self.ptx = sorted(real, key=_order), sorted(virtual.union(newest), key=_order)

    @staticmethod
    def _read(text, known):
        """Returns three sets: targets for machine code; targets for PTX; and the targets without a suffix, such as 90,
        of which the newest gets PTX, too."""
        numbers = sorted(filter(str.isdigit, known), key=_order)
        if text in ('major', 'all-major'):
            names = list({n[:-1]: n for n in reversed(numbers)}.values())
        elif text == 'all':
            names = numbers
        elif text == 'native':
            names = _native()
        else:
            names = _words(text)
        if not names:
            raise Failure(f'--targets={text} names no target')
        real, virtual, both = set(), set(), set()
        for name in names:
            found = _TARGET.fullmatch(name)
            if not found:
                raise Failure(f"--targets: '{name}' is no target; {FORMS}")
            if found.group(3) or found.group(2) == '-virtual':
                virtual.add(found.group(3) or found.group(1))
            else:
                real.add(found.group(1))
                both |= set() if found.group(2) else {found.group(1)}
        return real, virtual, both

    @property
    def oldest(self):
        return min(self.sm + self.ptx, key=_order)

    def gencode_for_link(self, is_debugged):
        """Returns nvcc's options for code that is linked later: LTO-IR, or machine code if it is for debuggers."""
        kind = 'sm' if is_debugged else 'lto'
        return [word for n in self.sm for word in ('-gencode', f'arch=compute_{n},code={kind}_{n}')]

    @property
    def gencode(self):
        """Returns nvcc's options for code that is not linked."""
        codes = [(n, f'sm_{n}') for n in self.sm] + [(n, f'compute_{n}') for n in self.ptx]
        return [word for n, code in codes for word in ('-gencode', f'arch=compute_{n},code={code}')]


def _words(text):
    return [n for n in re.split('[,; ]', text) if n]


def _order(name):
    return int(name.rstrip('af')), name


def _native():
    try:
        found = ask(['nvidia-smi', '--query-gpu=compute_cap', '--format=csv,noheader'])
    except Failure:
        found = ''
    if not found.split():
        raise Failure('--targets=native: nvidia-smi finds no GPU')
    return found.replace('.', '').split()


def main():
    """Prints on a line each: the lists `sm` and `ptx`, the oldest target, nvcc's options, and nvcc's options for linked
    code; or prints the failure."""
    try:
        targets = Targets(*sys.argv[1:])
    except Failure as failure:
        print(failure)
        sys.exit(1)
    print(','.join(targets.sm), ','.join(targets.ptx), targets.oldest, ' '.join(targets.gencode),
          ' '.join(targets.gencode_for_link(False)), sep='\n')


if __name__ == '__main__':
    main()
