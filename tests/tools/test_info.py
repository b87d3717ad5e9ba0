"""test_info.py - tests cf-info as a user runs it: its two forms, the reasons why no GPU is used, the parts that it
finds, the kernels of a module, the cache, and every kind of error.

usage: test_info.py BUILD_FOLDER

Runs on the CPU, or with CF_DRIVER=cuda in the environment on that driver.
"""

import json
import os
import re
import shutil
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from runner import Runner
from tap import NEEDS_PLAYED_GPU, Tap, run

CPU_ALONE = 'this library was configured for the CPU alone.'   # a build without nvcc


class InfoTest(Runner):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.run_program, self.program = self.program, os.path.join(self.build, 'cf-info')
        folders = map(os.path.abspath, os.environ.get('LD_LIBRARY_PATH', '').split(os.pathsep))
        self.is_played = self.driver != 'host' and os.path.join(self.build, 'tests', 'fake') in folders

    def run(self):
        for group in (self.forms, self.devices, self.reasons, self.parts, self.modules, self.cache, self.refused,
                      self.manual):
            group()

    def execute(self, *arguments, driver=True, **options):
        del driver   # the environment variable CF_DRIVER chooses the driver
        return super().execute(*arguments, driver=False, **options)

    def facts(self, *arguments, **env):
        return json.loads(self.good('--json', *arguments, env={'CF_DRIVER': self.driver, **env}))

    def forms(self):
        def lines():
            out = self.good()
            heads = re.findall(r'(?m)^\S.*', out)
            for head in (r'Cuferry \d+\.\d+\.\d+', 'driver', 'CPU', 'parts of CUDA', 'environment', r'kernels: \d+'):
                assert sum(bool(re.fullmatch(head, each)) for each in heads) == 1, f'{head}: {heads}'
            return '' if all(len(line) <= 104 for line in out[out.index('kernels:'):].splitlines()) else 'a long line'

        def same():
            """The text and the JSON have the same facts."""
            facts, out = self.facts(), self.good(env={'CF_DRIVER': self.driver})
            texts = [f'Cuferry {facts["version"]}', *(device['name'] for device in facts['devices']),
                     *(path or 'not found' for path in facts['parts'].values()),
                     *(f'{image["file"]}: {image["bytes"]} bytes' for image in facts['images'] if image['file'])]
            missing = [text for text in texts if text not in out]
            return missing or ''

        def kernels():
            """Each kernel of the registry is listed exactly once."""
            listed = json.load(open(os.path.join(self.build, 'gen', 'cuferry.json'), encoding='utf-8'))
            names = [name for image in self.facts()['images'] for name in image['kernels']]
            assert len(names) == len(set(names)), 'a kernel is there twice'
            public = {kernel['name'] for kernel in listed['kernels']}
            return '' if public and public <= set(names) else f'missing: {sorted(public - set(names))}'

        self.test('text_has_every_section', lines, needs_device=False)
        self.test('json_has_the_facts_of_the_text', same)
        self.test('kernels_are_those_of_the_manifest', kernels)

    def devices(self):
        def cpu():
            device = self.facts()['devices'][-1]
            return '' if device['number'] == -1 and device['name'] and device['memory'] > 1 << 20 and \
                device['threads'] >= 1 and 'uuid' not in device else device

        def played():
            facts = self.facts()
            first = facts['devices'][0]
            assert (first['name'], first['pci'], first['numa'], first['capability'], first['multiprocessors']) == (
                'Fake GPU 0', '0001:ca:03.0', -1, 90, 132), first
            assert first['uuid'] == '00112233-4455-6677-8899-aabbccddeeff', first
            assert [device['number'] for device in facts['devices']] == [0, 1, -1], facts['devices']
            assert facts['driver']['cuda'] and facts['driver']['library'].endswith('libcuda.so.1'), facts['driver']
            return '' if facts['driver']['why_cpu'] is None else facts['driver']

        self.test('cpu_is_the_last_device', cpu)
        if self.is_played:
            self.test('gpus_have_addresses', played)
        else:
            self.tap.skip('gpus_have_addresses', NEEDS_PLAYED_GPU)

    def reasons(self):
        def why(**env):
            return json.loads(self.good('--json', env=env))['driver']['why_cpu']

        def host():
            reason = why(CF_DRIVER='host')
            return '' if reason in ('CF_DRIVER=host keeps this process on the CPU.', CPU_ALONE) else reason

        def wrong():
            reason = why(CF_DRIVER='gpu')
            return '' if reason == 'CF_DRIVER=gpu: it is cuda or host.' else reason

        def absent():
            """Without libcuda, cf-info gives the reason, and also the variable that would hide GPUs."""
            reason = why(CF_DRIVER=None, CUDA_VISIBLE_DEVICES='-1', LD_LIBRARY_PATH=None)
            if reason == CPU_ALONE:
                return ''
            assert reason.startswith('CUDA cannot be used: no NVIDIA driver (libcuda.so.1: '), reason
            return '' if reason.endswith('CUDA_VISIBLE_DEVICES=-1 hides all GPUs that it does not name.') else reason

        self.test('reason_is_the_environment', host, needs_device=False)
        self.test('reason_is_a_wrong_variable', wrong, needs_device=False)
        if json.loads(self.good('--json', env={'LD_LIBRARY_PATH': None}))['parts']['libcuda']:
            self.tap.skip('reason_is_a_missing_driver', "needs a machine without NVIDIA's driver")
        else:
            self.test('reason_is_a_missing_driver', absent, needs_device=False)

    def parts(self):
        def found():
            home = self.path('toolkit')
            os.makedirs(os.path.join(home, 'lib64'))
            os.makedirs(os.path.join(home, 'include'))
            for name in ('lib64/libnvrtc.so.12', 'include/nccl.h'):
                self.write(os.path.join('toolkit', name), b'')
            facts = self.facts(CF_CUDA_HOME=home)
            parts = facts['parts']
            assert facts['environment']['CF_CUDA_HOME'] == home, facts['environment']
            assert parts['nvrtc'] == f'{home}/lib64/libnvrtc.so.12', parts
            return '' if parts['nccl.h'] == f'{home}/include' and len(parts) == 14 else parts

        def control():
            """A newline in a variable's value does not break its line."""
            return '' if 'CONDA_PREFIX    a?b\n' in self.good(env={'CONDA_PREFIX': 'a\nb'}) else 'no'

        self.test('parts_come_from_the_environment', found)
        self.test('control_characters_do_not_break_lines', control, needs_device=False)

    def modules(self):
        def own():
            self.write('own.cu', b'#pragma cf kernel grid(n) inout(x[n])\n'
                                 b'__global__ void twice(float *x, int n)\n'
                                 b'{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }\n')
            code, _, err = run([os.path.join(self.build, 'cfcc'), '--cuda', 'no', '--shared', '--prefix', 'own', '-o',
                                'own.so', 'own.cu'], cwd=self.folder)
            assert code == 0, err
            images = self.facts('--module', 'own.so')['images']
            assert images == [{'file': None, 'bytes': 0, 'cuda': None, 'kernels': ['twice']}], images
            return '' if '  without an image: 1 operations' in self.good('--module', 'own.so') else 'the text lacks it'
        self.test('module_has_its_own_kernels', own)
        self.bad('module_that_is_missing', ['--module', 'none.so'], ['none.so: No such file'])

    def cache(self):
        def state(*arguments, **env):
            return json.loads(self.good('--cache', '--json', *arguments, env=env))

        def counted():
            folder = self.path('cache')
            os.mkdir(folder, 0o700)
            self.write(f'cache/{"ab" * 32}', bytes(1000))
            self.write(f'cache/{"cd" * 32}', bytes(500))
            self.write('cache/hits', b'+++')
            os.utime(self.path(f'cache/{"ab" * 32}'), (1, 1))
            assert state('cache') == {'folder': 'cache', 'entries': 2, 'bytes': 1500, 'cap': 1 << 30, 'hits': 3,
                                      'misses': 0}, state('cache')
            assert state(CF_CACHE=folder)['folder'] == folder
            capped = state('cache', '--cap', '1K')
            assert (capped['entries'], capped['bytes'], capped['cap']) == (1, 500, 1024), capped
            assert state('--clear', 'cache') == {'folder': 'cache', 'entries': 0, 'bytes': 0, 'cap': 1024, 'hits': 0,
                                                 'misses': 0}
            return '' if '  cap             2147483648\n' in self.good('--cache', '--cap', '2G', 'cache') else 'no cap'

        self.test('cache_is_counted_capped_and_cleared', counted, needs_device=False)
        self.bad('cache_without_a_folder', ['--cache'], ['folder is NULL, and CF_CACHE names none'])
        self.bad('cache_that_is_missing', ['--cache', 'nowhere'], ['the cache folder nowhere: No such file'])

    def refused(self):
        for name, arguments, culprit in (
                ('unknown_option', ['--fast'], '--fast'),
                ('folder_without_cache', ['folder'], 'the folder folder goes with --cache'),
                ('clear_without_cache', ['--clear'], '--clear goes with --cache'),
                ('cap_without_cache', ['--cap', '1'], '--cap goes with --cache'),
                ('cap_that_is_no_size', ['--cache', '--cap', '1T'], '--cap 1T: it is a number of bytes'),
                ('cap_that_is_negative', ['--cache', '--cap', '-1'], '--cap -1: it is a number of bytes'),
                ('cap_that_is_too_large', ['--cache', '--cap', '99999999999G'], '--cap 99999999999G: it is'),
                ('two_folders', ['--cache', 'one', 'two'], "'two' is one argument too many"),
                ('cache_of_a_module', ['--cache', '--module', 'own.so'], '--cache, --module and --mpi exclude'),
                ('cache_over_mpi', ['--cache', '--mpi'], '--cache, --module and --mpi exclude')):
            self.bad(f'{name}_is_refused', arguments, [culprit])

        def alone():
            code, out, err = run([shutil.copy(self.program, self.folder), '--mpi'])
            path = os.path.join(os.path.realpath(self.folder), 'cf-info-mpi')
            good = f'cf-info: --mpi: there is no {path}; ./configure --mpicc=mpicc builds it\n'
            return '' if code == 1 and not out and err == good else f'{code}: {out}{err}'
        self.test('mpi_without_its_program_is_an_error', alone, needs_device=False)

        def full():
            with open('/dev/full', 'wb') as file:
                code, _, err = self.execute(stdout=file)
            return '' if code == 1 and err == 'cf-info: stdout: No space left on device\n' else f'{code}: {err}'
        self.test('full_disk_is_an_error', full, needs_device=False)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        InfoTest(tap, sys.argv[1], folder).run()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
