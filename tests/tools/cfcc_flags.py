"""cfcc_flags.py - tests of compiler flags that would leave functions out, or make code that cannot be loaded. Part of
test_cfcc.py."""

import re
import shutil

from tap import NEEDS_CLANG


VOLATILE = '''#pragma cf kernel grid(1) inout(x[1])
__global__ void halve(int *x, int n, float by)
{
    volatile int whole = x[0];
    volatile float part = by;
    whole /= n;
    whole >>= n;
    part /= by;
    x[0] = whole;
}
'''


class FlagTest:
    def __init__(self, test):
        self.test = test

    def run(self):
        """Tests flags with which a compiler succeeds but leaves functions out: cfcc refuses them or makes them
        harmless."""
        compilers = {'gcc': [], 'clang': ['--cc', 'clang', '--cxx', 'clang++']}
        for compiler, flags in (('gcc', ['-flto']), ('gcc', ['-flto=auto', '-ffat-lto-objects']),
                                ('clang', ['-flto=thin'])):
            test = f'cfcc_{compiler}_with_{"_".join(flags).replace("-", "").replace("=", "_")}_gives_functions'
            if compiler == 'clang' and not shutil.which('clang++'):
                self.test.tap.skip(test, NEEDS_CLANG)
                continue
            self.test.fresh()
            words = [*compilers[compiler], *(f'-Xcxx={flag}' for flag in flags)]
            result = self.test.compile('--shared', *words, 'heat.cu')
            self.test.expect(test, result == (0, '', ''), result)
            self.test.loads(f'{test}_that_run', './heat.so')
        for compiler, words in compilers.items():
            test = f'cfcc_{compiler}_says_nothing_of_a_volatile_variable_that_divides'
            if compiler == 'clang' and not shutil.which('clang++'):
                self.test.tap.skip(test, NEEDS_CLANG)
                continue
            self.test.fresh(heat=VOLATILE)
            result = self.test.compile(*words, '-Xcxx=-Wall', '-Xcxx=-Wextra', 'heat.cu')
            self.test.expect(test, result == (0, '', ''), result)
        no_object = 'compiler made no object of this machine, as '
        for name, words, said in (
                ('assembly', ['-Xcxx=-S'], f'the C++ {no_object}'),
                ('preprocessed_text', ['-Xcxx=-E'], f'the C++ {no_object}'),
                ('nothing', ['-Xcxx=-fsyntax-only'], f'the C++ {no_object}'),
                ('commands', ['-Xcxx=-###'], 'the C++ compiler preprocessed nothing, as '),
                ('no_helpers', ['-Xcxx=-fwhole-program'], 'the C++ compiler made no heat__b_twice, heat__h_twice, as '),
                ('other_names', ['-Xcxx=-fleading-underscore'],
                 'the C++ compiler made no heat__b_twice, heat__h_twice, as '),
                ('nothing_of_c', ['--cc', f'{self.test.config["cc"]} -fsyntax-only'], f'the C {no_object}'),
                ('other_functions', ['--cc', f'{self.test.config["cc"]} -Dheat_twice=other'],
                 'the C compiler made no heat_twice, as ')):
            self.test.fresh()
            self.test.refused(f'cfcc_compiler_that_makes_{name}_is_refused', self.test.compile(*words, 'heat.cu'), 1,
                         f'cfcc: heat.cu: {said}')
        unlinked = 'its code needs another link before a GPU can load it'
        for words, said in (
                (['-rdc=true'], unlinked), (['-rdc', 'true'], unlinked), (['--relocatable-device-code=true'], unlinked),
                (['-dc'], unlinked), (['--device-link'], unlinked), (['-r'], unlinked), (['-ewp'], unlinked),
                (['-Xptxas=-v,-c'], unlinked), (['-Xptxas', '--compile-only'], unlinked),
                (['-arch=sm_80'], '--targets chooses the GPUs'), (['-gencode', 'arch=compute_80'], '--targets chooses'),
                (['-optf=flags.txt'], 'cfcc cannot see the options in that file'), (['-run'], 'it makes no image'),
                (['--keep'], 'cfcc runs several compilations'), (['-dlto'], unlinked), (['--ltoir'], unlinked),
                *(([word], 'it makes no image') for word in (
                    '-fdevice-syntax-only', '-ptx', '--cubin', '-optix-ir', '-cuda', '-E', '--preprocess', '-M', '-MM',
                    '--generate-dependencies', '--generate-nonsystem-dependencies', '-dryrun', '--help', '-h',
                    '--version', '-V'))):
            self.test.fresh()
            self.test.refused(f'cfcc_nvcc_flag{re.sub("[^a-z]", "_", "".join(words).lower())}_is_refused',
                         self.test.compile(*(f'-Xnvcc={word}' for word in words), 'heat.cu'), 2,
                         f'cfcc: -Xnvcc={words[0]}', said)
        for word, said in (('-m32', 'the library has 64 bits'), ('-std=gnu++14', 'kernels on the CPU need C++17'),
                           ('-fno-pic', 'programs and shared objects cannot contain the code'),
                           ('-mabi=ms', 'the library has the calls of System V'), ('-P', 'it leaves no text')):
            self.test.fresh()
            self.test.refused(f'cfcc_cxx_flag{re.sub("[^a-z0-9]", "_", word.lower())}_is_refused',
                         self.test.compile(f'-Xcxx={word}', 'heat.cu'), 2, f'cfcc: -Xcxx={word}: {said}')
