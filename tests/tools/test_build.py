"""test_build.py - tests configure and the build: the arguments that configure refuses, and the targets that ninja
builds again after a change.

usage: test_build.py
"""

import glob
import os
import re
import shutil
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import ROOT, Tap, run

# The edges that run when a kernel file changes, but its interface does not.
OF_GATHER = r'(SCAN|CXX|NVCC|AS) gen/gather\..*|CFGEN gen(/gather\.image\.h|/kernels\.ninja)?|AR libcuferry\.a|LINK .*'


class BuildTest:
    def __init__(self, tap, folder):
        self.tap = tap
        # The path of the tree has a blank, and the build folder is outside the tree.
        self.tree = os.path.join(folder, 'a tree')
        self.build = os.path.join(folder, 'a build')
        shutil.copytree(ROOT, self.tree, ignore=shutil.ignore_patterns('build*', '.git', '__pycache__', '.whl',
                                                                       '.cmocka'))
        shutil.copy(os.path.join(ROOT, 'build.ninja.in'), self.tree)
        # Keeps only a few kernels, so that the build does not take minutes.
        for path in glob.glob(os.path.join(self.tree, 'kernels', '*.c')) + glob.glob(os.path.join(self.tree, 'kernels',
                                                                                                  '*.cu')):
            if os.path.splitext(os.path.basename(path))[0] not in ('axpy', 'gather', 'outside'):
                os.remove(path)
        # Keeps only the first instance of each kernel, which for gather is the one that cf-demo calls. The kernels that
        # check arguments keep all instances.
        for path in glob.glob(os.path.join(self.tree, 'kernels', '[!o]*.cu')):
            with open(path, encoding='utf-8') as file:
                text = file.read()
            with open(path, 'w', encoding='utf-8') as file:
                file.write(re.sub(r'(instances\([^;)]*);[^)]*', r'\1', text))

    def configure(self, *arguments, **environment):
        return run([os.path.join(self.tree, 'configure'), f'--builddir={self.build}', *arguments],
                   cwd=os.path.dirname(self.tree), env=dict(os.environ, **environment))

    def generated(self, name):
        with open(os.path.join(self.build, name), encoding='utf-8') as file:
            return file.read()

    def ninja(self, *arguments):
        """Returns the descriptions of the edges that ran; if ninja failed, its output."""
        code, out, err = run(['ninja', '-C', self.build, *arguments])
        lines = [re.sub(r'^\[\d+/\d+\] ', '', line) for line in out.splitlines() if line.startswith('[')]
        return lines if code == 0 else [f'FAILED: {out}{err}']

    def refuses(self):
        for name, arguments, expected in (
                ('unknown_option', ['--frobnicate'], 'unknown option: --frobnicate'),
                ('unknown_word', ['frobnicate'], 'unknown option: frobnicate'),
                ('empty_value', ['--prefix='], '--prefix= has no value'),
                ('relative_prefix', ['--prefix=here'], '--prefix=here'),
                ('toolkit_that_is_not_there', ['--cuda=/nowhere'], '--cuda=/nowhere'),
                ('compiler_that_is_not_there', ['CC=/nowhere/cc'], 'CC=/nowhere/cc'),
                ('cxx_that_is_not_there', ['CXX=/nowhere/c++'], 'CXX=/nowhere/c++'),
                ('python_that_is_none', ['PYTHON=false'], 'PYTHON=false')):
            code, _, err = self.configure(*arguments)
            self.tap.check(f'configure_{name}_is_refused', '' if code == 1 and expected in err
                           else f'exit {code}: {err}')
        code, out, err = self.configure('--targets=80,90b')
        refused = code == 1 and "configure: --targets: '90b' is no target; they are " in err
        self.tap.check('configure_target_that_is_none_is_refused', '' if refused or
                       'CPU code alone' in out else f'{out}{err}')

    def first_build(self):
        # Compiles without optimization, because no test here depends on the speed of the code.
        code, out, err = self.configure('--targets=sm_90', CFLAGS='-O0', CXXFLAGS='-O0')
        self.tap.check('configure_prints_what_it_probes',
                       '' if code == 0 and 'C compiler' in out and 'CUDA toolkit' in out
                       else f'exit {code}: {out}{err}')
        self.tap.check('configure_takes_targets_as_nvcc_spells_them',
                       '' if re.search(r'sm_90 compute_90$|CPU code alone', out, re.MULTILINE) else out or 'no text')
        log = self.generated('config.log')
        self.tap.check('configure_keeps_config_log', '' if '-std=c11' in log and 'C compiler' in log else log)
        self.gpu = 'CPU code alone' not in out
        built = self.ninja()
        self.tap.check('ninja_builds_outside_the_tree', '' if 'AR libcuferry.a' in built else '\n'.join(built))
        left = sorted(set(os.listdir(self.tree)) - set(os.listdir(ROOT)))
        self.tap.check('ninja_leaves_the_tree_alone', ', '.join(left))
        again = self.ninja()
        self.tap.check('ninja_second_run_does_nothing', '\n'.join(again))

    def rebuilds(self, name, path, edit, expected, *targets):
        """Changes a file and builds targets. The description of each edge that runs must match a pattern of `expected`,
        and the edges that are needed must be among them."""
        with open(os.path.join(self.tree, path), 'a', encoding='utf-8') as file:
            file.write(edit)
        if not edit:
            os.utime(os.path.join(self.tree, path))
        allowed, needed = expected
        built = self.ninja(*targets)
        other = [line for line in built if not re.fullmatch(allowed, line)]
        lost = [line for line in needed if line not in built]
        again = self.ninja(*targets)
        problem = f'built {built}, not expected {other}, missing {lost}, then {again}'
        self.tap.check(name, problem if other or lost or again else '')

    def later_builds(self):
        device = ['NVCC gen/gather.fatbin'] if self.gpu else []
        self.rebuilds('ninja_changed_kernel_builds_its_edges_alone', 'kernels/gather.cu', '\n// changed\n',
                      (OF_GATHER, ['SCAN gen/gather.ii'] + device))
        self.rebuilds('ninja_touched_generator_stops_where_output_is_unchanged', 'gen/annotation/kernelfile.py', '',
                      (r'CFGEN .*|PYTHON .*', ['CFGEN gen', 'PYTHON gen/compiled_python']))
        self.rebuilds('ninja_changed_library_file_builds_it_alone', 'lib/base/version.c', '/* changed */\n',
                      (r'CC lib/base/version\.o|AR libcuferry\.a|LINK .*',
                       ['CC lib/base/version.o', 'AR libcuferry.a']))
        self.rebuilds('ninja_changed_part_of_cfcc_is_a_change_of_cfcc', 'tools/compile/flags.py', '# changed\n',
                      (r'COPY cfcc|PYTHON .*', ['COPY cfcc', 'PYTHON gen/compiled_python']))

    def device_functions(self):
        """Kernel files that call functions of one another are linked as soon as one file offers such a function."""
        define = '#pragma cf device\n__device__ float limit_of(long i) { return 3 * i; }\n'
        call = ('__device__ float limit_of(long i);\n#pragma cf kernel grid(n) out(x[n])\n'
                '__global__ void extra(float *x, long n)\n{\n    long i = (long)blockIdx.x * blockDim.x + '
                'threadIdx.x;\n'
                '    if (i < n)\n        x[i] = limit_of(i);\n}\n')
        for name, text in (('extra', call), ('limit', define)):
            with open(os.path.join(self.tree, 'kernels', f'{name}.cu'), 'w', encoding='utf-8') as file:
                file.write(text)
        built = self.ninja('cf-run')
        lost = {'CXX gen/limit.host.o', *['LINK gen/extra.fatbin', 'CFGEN gen/limit.image.h'] * self.gpu} - set(built)
        self.tap.check('ninja_links_kernel_files_with_device_functions', f'{lost} {built}' if lost else '')
        code, out, err = run([os.path.join(self.build, 'cf-run'), '--driver', 'host', 'extra', 'n=100', 'x=-'])
        self.tap.check('ninja_device_functions_of_other_files_run', f'exit {code}: {out}{err}' if code else '')
        self.tap.check('ninja_second_run_after_a_link_does_nothing', '\n'.join(self.ninja('cf-run')))
        for name in ('extra', 'limit'):
            os.remove(os.path.join(self.tree, 'kernels', f'{name}.cu'))

    def kernel_files(self):
        """Tests that change kernel files, in builds without GPU code."""
        self.rebuilds('ninja_touched_kernel_builds_its_edges_alone', 'kernels/gather.cu', '',
                      (OF_GATHER, ['SCAN gen/gather.ii']), 'cf-run')
        self.rebuilds('ninja_changed_annotation_builds_its_stub', 'kernels/gather.cu',
                      '#pragma cf kernel grid(n) out(x[n])\n__global__ void ones(int *x, int n)\n'
                      '{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)\n        x[i] = 1;\n}\n',
                      (r'(SCAN|CXX|NVCC|AS|CC|CFGEN) gen/(gather|cuferry_registry|kernels)\..*|CFGEN (gen|wrappers)|'
                       r'AR libcuferry\.a|LINK .*'
                       r'|CC gen/outside.stub.o|CC tools/(run/cf-demo|tune/machine_measure).o|AR tools/tune\.a',
                       ['CFGEN gen', 'CC gen/gather.stub.o', 'AR libcuferry.a']), 'cf-run')
        path = os.path.join(self.tree, 'kernels', 'gather.cu')
        with open(path, encoding='utf-8') as file:
            text = file.read()
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text.replace('/* Gathers N elements', '/* Gathers, as was said, N elements', 1))
        self.ninja('gen/cuferry/kernels.h')
        header = self.generated('gen/cuferry/kernels.h')
        self.tap.check('ninja_changed_comment_reaches_the_header',
                       '' if 'Gathers, as was said, N' in header else header[:800])
        with open(os.path.join(self.tree, 'kernels', 'extra.cu'), 'w', encoding='utf-8') as file:
            file.write('#pragma cf kernel grid(n) out(x[n])\n__global__ void extra(float *x, long n)\n{\n'
                       '    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)\n        x[i] = 2;\n'
                       '}\n')
        self.ninja('cf-run')
        code, out, err = run([os.path.join(self.build, 'cf-run'), '--driver', 'host', 'extra', 'n=100', 'x=-'])
        self.tap.check('ninja_new_kernel_file_joins_the_library', f'exit {code}: {out}{err}' if code else '')
        # Without an edge for the source itself, Ninja 1.12 does not build after the source is removed.
        code, out, err = run(['ninja', '-C', self.build, '-t', 'query', os.path.join(self.tree, 'kernels', 'extra.cu')])
        self.tap.check('ninja_kernel_file_has_an_edge', '' if 'input: phony' in out else f'exit {code}: {out}{err}')

    def bad_kernel(self):
        path = os.path.join(self.tree, 'kernels', 'extra.cu')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('#pragma cf kernel grid(m)\n__global__ void extra(float *x, long n)\n{\n}\n')
        built = '\n'.join(self.ninja('cf-run'))
        self.tap.check('ninja_wrong_annotation_names_file_and_line',
                       '' if "kernels/extra.cu:1:24: error: 'm' is no parameter" in built else built)
        os.remove(path)
        built = self.ninja('cf-run')
        _, out, err = run([os.path.join(self.build, 'cf-run'), '--list'])
        gone = 'gather_f32_i32' in out and 'extra' not in out and not any('FAILED' in line for line in built)
        self.tap.check('ninja_removed_kernel_file_leaves_the_library', '' if gone else f'{built}\n{out}{err}')

    def reconfigures(self):
        self.configure('--cuda=no', CFLAGS='-O0 -g0', CXXFLAGS='-O0 -g0')
        before = self.generated('build.ninja')
        os.utime(os.path.join(self.tree, 'configure'))
        self.ninja('build.ninja')
        same = (self.generated('build.ninja') == before and '\ncflags = -O0 -g0' in before and
                '\ncxxflags = -O0 -g0' in before)
        self.tap.check('ninja_reconfigures_as_the_environment_had_it',
                       '' if same else self.generated('build.ninja')[:1500])
        built = self.ninja('cf-run')
        self.tap.check('ninja_builds_with_other_flags', '' if 'AR libcuferry.a' in built else '\n'.join(built))
        self.rebuilds('ninja_touched_configure_runs_it_and_builds_nothing', 'configure', '',
                      (r'CONFIGURE', ['CONFIGURE']), 'cf-run')


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        test = BuildTest(tap, folder)
        test.refuses()
        test.first_build()
        test.later_builds()
        test.device_functions()
        test.reconfigures()
        test.kernel_files()
        test.bad_kernel()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
