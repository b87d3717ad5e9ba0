"""runner.py - runs cf-run and cf-bench as a user does, and computes the random numbers that they generate."""

import os
import re
import subprocess

from manual import manual_problem
from tap import NEEDS_GPU

TIMEOUT = 600  # seconds for one run; longer means that it hangs
MASK = 2**64 - 1


# ---- The generators that random.h specifies, in Python

def splitmix64(seed, i):
    z = (seed + (i + 1) * 0x9e3779b97f4a7c15) & MASK
    z = ((z ^ (z >> 30)) * 0xbf58476d1ce4e5b9) & MASK
    z = ((z ^ (z >> 27)) * 0x94d049bb133111eb) & MASK
    return z ^ (z >> 31)


def made_floats(short, count, seed):
    bits = {'e4m3': 4, 'bf16': 8, 'f16': 11, 'f32': 24, 'f64': 53}[short]
    return [(splitmix64(seed, i) >> (64 - bits)) / 2**bits for i in range(count)]


def made_integers(count, low, high, seed):
    return [low + (splitmix64(seed, i) * (high - low) >> 64) for i in range(count)]


def made_distinct(count, low, high, seed):
    """Applies a Feistel network of four rounds over the next power of two until the result is in range."""
    bits = (high - low - 1).bit_length()
    below = bits // 2

    def permuted(i):
        left, right = i >> below, i & (1 << below) - 1
        for rounds in (0, 2):
            left ^= splitmix64((seed + rounds) & MASK, right) & (1 << bits - below) - 1
            right ^= splitmix64((seed + rounds + 1) & MASK, left) & (1 << below) - 1
        i = left << below | right
        return i if i < high - low else permuted(i)

    return [low + permuted(i) for i in range(count)]


class Runner:
    """The programs, the folder and the driver of a group of tests."""

    def __init__(self, tap, build, folder):
        self.tap = tap
        self.build = os.path.abspath(build)
        self.program = os.path.join(self.build, 'cf-run')
        self.folder = folder
        self.driver = os.environ.get('CF_DRIVER') or 'host'
        os.environ['CF_TUNING'] = os.environ['CF_MACHINE_FILE'] = ''    # ignores measurements of this machine
        self.no_device = self.probe()

    def execute(self, *arguments, driver=True, stdout=subprocess.PIPE, preexec_fn=None, env=None):
        command = [self.program, *(['--driver', self.driver] if driver else []), *arguments]
        done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE,
                              check=False, timeout=TIMEOUT, preexec_fn=preexec_fn,
                              env={k: v for k, v in {**os.environ, **(env or {})}.items() if v is not None})
        # LeakSanitizer prints this line about a thread that ends during its check.
        err = re.sub(r'(?m)^==\d+==Unable to get registers from thread \d+\.\n', '',
                     done.stderr.decode(errors='replace'))
        return done.returncode, (done.stdout or b'').decode(errors='replace'), err

    def probe(self):
        """Returns the reason to skip all runs, such as a missing GPU, or None."""
        _, _, err = self.execute('gather', 'source=fill:f32:1:0', 'index=fill:i32:1:0')
        match = re.match(r'cf-run: CF_DRIVER=cuda: (.*)', err)
        return match and (NEEDS_GPU if re.match('no NVIDIA driver|the driver finds no GPU', match[1]) else match[1])

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), 'wb') as file:
            file.write(content)
        return name

    def test(self, name, body, needs_device=True):
        """Runs a test. Its body returns an error text, or None on success."""
        if needs_device and self.no_device:
            self.tap.skip(name, self.no_device)
            return
        try:
            problem = body()
        except Exception as error:  # an error of one test must not stop the others
            problem = f'{type(error).__name__}: {error}'
        self.tap.check(name, problem)

    def good(self, *arguments, **options):
        """Returns stdout of a run that must succeed and print nothing on stderr."""
        code, out, err = self.execute(*arguments, **options)
        assert code == 0 and not err, f'{" ".join(arguments)}: exit {code}: {err}'
        return out

    def bad(self, name, arguments, culprits, needs_device=False, **options):
        """Tests a run that must fail with one line that names the culprits, and leave no file."""
        def body():
            before = sorted(os.listdir(self.folder))
            code, _, err = self.execute(*arguments, **options)
            after = sorted(os.listdir(self.folder))
            problems = [] if code == 1 else [f'exit {code}']
            if not re.fullmatch(os.path.basename(self.program) + r': [^\n]+\n', err):
                problems.append('not one line')
            problems += [f'{culprit!r} is not named' for culprit in culprits if culprit not in err]
            problems += [] if before == after else [f'files left: {set(after) ^ set(before)}']
            return f'{"; ".join(problems)}: {err}' if problems else ''
        self.test(name, body, needs_device)

    def manual(self):
        name = os.path.basename(self.program)
        self.test('manual_has_what_help_has', lambda: manual_problem(name, self.good('--help', driver=False)),
                  needs_device=False)
        self.test('version_is_the_librarys', lambda: '' if re.fullmatch(
            name + r' \d+\.\d+\.\d+\n', self.good('--version', driver=False)) else 'wrong', needs_device=False)
