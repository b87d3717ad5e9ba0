"""cfcc_gpu.py - tests of cfcc with nvcc, without nvcc, and with GPU code from other compilers. Part of test_cfcc.py."""

import json
import os
import re
import shlex
import shutil
import sys

from cfcc_case import KERNEL, ON_CPU, CfccTest, defined
from tap import NEEDS_NO_SANITIZER, NEEDS_NVCC, ROOT, path_without_nvcc, run

# Functions that exist as GPU code only; the first kernel also has a function for the CPU.
GPU_CALLS = '''extern "C" __device__ float ptx_f32(const float *x, int n);
extern "C" __device__ float cubin_f32(const float *x, int n);
extern "C" __device__ float fatbin_f32(const float *x, int n);
extern "C" __device__ float o_f32(const float *x, int n);
extern "C" __device__ float a_f32(const float *x, int n);
static void copy_here(float *r, const float *x, int n)
{
    for (int i = 0; i < n; i++)
        r[i] = x[i];
}
#pragma cf kernel grid(n) in(x[n]) out(r[n]) host(copy_here)
__global__ void copy(float *r, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        r[i] = ptx_f32(x, i);
}
#pragma cf kernel blocks(1) block(1) in(x[n]) out(r[1]) host(none)
__global__ void reduce(float *r, const float *x, int n)
{
    *r = cubin_f32(x, n - 1) + fatbin_f32(x, 0) + o_f32(x, 1) + a_f32(x, 2);
}
'''

GPU_FUNCTION = 'extern "C" __device__ float {}_f32(const float *x, int n) {{ return x[n]; }}\n'

GPU_CALLS_PROGRAM = '''#include <stdio.h>
#include <cuferry.h>
#include "heat.h"
int main(void)
{
    float r[32], x[32];
    int wrong = 0;
    for (int i = 0; i < 32; i++)
        x[i] = 1 / (float)(i + 3);
    if (heat_copy(r, x, 32) != CF_OK || heat_reduce(r, x, 32) != CF_ENOTSUP)
        return 1;
    for (int i = 0; i < 32; i++)
        wrong += r[i] != x[i];
    puts(wrong ? "wrong" : "right");
    return 0;
}
'''

DRAW = '''#include <curand_kernel.h>
#pragma cf kernel grid(n) inout(states[n]) out(x[n])
__global__ void draw(curandState *states, float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = curand_uniform(&states[i]);
}
#pragma cf kernel grid(n) out(states[n]) host(none)
__global__ void seed(curandState *states, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        curand_init(1, i, 0, &states[i]);
}
'''


class GpuTest(CfccTest):
    def places(self):
        self.fresh()
        link = os.path.join(self.folder, 'link')
        os.symlink(self.cfcc, link)
        code, out, err = self.compile('heat.cu', cfcc=link)
        self.tap.check('cfcc_works_through_a_symbolic_link', f'exit {code}: {out}{err}' if code else '')
        copy = os.path.join(self.folder, 'bin', 'cfcc')
        os.mkdir(os.path.dirname(copy))
        shutil.copy(self.cfcc, copy)
        code, _, err = self.compile('heat.cu', cfcc=copy)
        good = code == 1 and err.startswith('cfcc: there is no cfcc.json')
        self.expect('cfcc_without_configuration_says_so', good, err)
        with open(os.path.join(os.path.dirname(copy), 'cfcc.json'), 'w', encoding='utf-8') as file:
            json.dump(dict(self.config, srcdir='/nowhere'), file)
        result = self.compile('heat.cu', cfcc=copy)
        self.expect('cfcc_without_its_source_tree_says_so', result == (
            1, '', 'cfcc: there is no folder /nowhere/tools/compile, where the rest of it was\n'), result)
        return copy

    def without_nvcc(self):
        """Tests a configuration whose nvcc was removed, and a PATH without nvcc."""
        copy = self.places()
        folder = os.path.dirname(copy)
        config = dict(self.config, srcdir=ROOT, nvcc='/nowhere/nvcc', cuda='')
        with open(os.path.join(folder, 'cfcc.json'), 'w', encoding='utf-8') as file:
            json.dump(config, file)
        path = path_without_nvcc(os.path.join(self.folder, 'programs'))
        result = self.compile('heat.cu', cfcc=copy, cuda=None, PATH=path)
        self.expect('cfcc_without_nvcc_says_so_in_one_line',
                       result == (0, '', 'cfcc: no nvcc was found: heat.o runs on the CPU alone\n'), result)
        self.write('draw.cu', DRAW)
        code, _, err = self.compile(*self.folders_without('curand_kernel.h'), 'draw.cu', cfcc=copy, PATH=path)
        self.expect('cfcc_curand_without_its_header_is_refused', code == 1 and err.count('error: ') == 1 and
                    'draw.cu:3:17: error: draw uses cuRAND (curandState), which the CPU does not run; install the '
                    "toolkit's curand_kernel.h, or write the generator in the kernel file, or add host(none)" in err,
                    f'exit {code}: {err}')
        self.write('draw.cu', DRAW.replace('out(x[n])', 'out(x[n]) host(none)'))
        result = self.compile(*self.folders_without('curand_kernel.h'), 'draw.cu', cfcc=copy, PATH=path)
        self.expect('cfcc_curand_without_its_header_runs_on_gpus', result == (0, '', ''), result)
        with open(os.path.join(folder, 'cfcc.json'), 'w', encoding='utf-8') as file:
            json.dump(dict(config, cuda='no'), file)
        result = self.compile('heat.cu', cfcc=copy, cuda=None)
        expected = 'cfcc: Cuferry was configured without CUDA: heat.o runs on the CPU alone\n'
        self.expect('cfcc_configured_without_cuda_says_so', result == (0, '', expected), result)

    def make_gpu_code(self, *kinds):
        """Writes a function as relocatable GPU code, in a file for each of these endings."""
        for kind in kinds:
            self.write(f'{kind}_f.cu', GPU_FUNCTION.format(kind))
            flags = ['-c', '-arch=sm_90'] if kind == 'o' else [
                f'-{kind}', '-arch=compute_90' if kind == 'ptx' else '-arch=sm_90']
            code, out, err = run([self.config['nvcc'], '-rdc=true', *flags, f'{kind}_f.cu', '-o', f'{kind}_f.{kind}'],
                                 cwd=self.folder)
            self.expect(f'nvcc_makes_{kind}', code == 0, f'{out}{err}')

    def gpu_code(self):
        """GPU code of other compilers is linked with the kernels' GPU code."""
        if not self.config['nvcc']:
            self.tap.skip('cfcc_links_gpu_code', NEEDS_NVCC)
            return
        self.fresh(heat=GPU_CALLS, archived=GPU_FUNCTION.format('a'))
        self.make_gpu_code('ptx', 'cubin', 'fatbin', 'o')
        self.write('body.c', ON_CPU)
        for command in ([self.config['nvcc'], '-rdc=true', '-c', '-arch=sm_90', 'archived.cu'],
                        [*shlex.split(self.config['cc']), '-fPIC', '-c', 'body.c'],
                        ['ar', 'rc', 'libmixed.a', 'archived.o', 'body.o']):
            code, out, err = run(command, cwd=self.folder)
            self.expect(f'{os.path.basename(command[0])}_makes_an_archive_with_gpu_code', code == 0, f'{out}{err}')
        files = ['ptx_f.ptx', 'cubin_f.cubin', 'fatbin_f.fatbin', 'o_f.o', 'libmixed.a']
        result = self.compile('--targets=90', '-MD', '--manifest', 'heat.json', 'heat.cu', *files, cuda=None)
        self.expect('cfcc_links_gpu_code_of_every_kind', result == (0, '', ''), result)
        read = self.read('heat.d') if not result[0] else ''
        lost = [name for name in files if f'  {name}' not in read]
        self.expect('cfcc_depends_on_gpu_code_of_every_kind', not lost, lost)
        self.write('main.c', GPU_CALLS_PROGRAM)
        code, out, err = run([*shlex.split(self.config['cc']), *shlex.split(self.config['link_flags']),
                              f'-I{ROOT}/include', 'main.c', 'heat.o', os.path.join(self.builddir, 'libcuferry.a'),
                              '-lpthread', '-ldl', '-lm', '-o', 'main'], cwd=self.folder)
        if code == 0:
            code, out, err = run(['./main'], cwd=self.folder, env=dict(self.env, CF_DRIVER='host'))
        self.expect('cfcc_kernels_with_gpu_code_have_their_form_on_the_cpu', (code, out) == (0, 'right\n'),
                    f'exit {code}: {out}{err}')
        self.archive_with_a_function_for_the_cpu()
        self.gpu_code_that_is_wrong()

    def archive_with_a_function_for_the_cpu(self):
        """An archive with GPU code may also have a function that the CPU runs."""
        if self.is_sanitized:
            self.tap.skip('cfcc_shared_links_the_cpus_functions_of_archives', NEEDS_NO_SANITIZER)
            return
        self.write('heat.cu', KERNEL.replace('#pragma cf kernel', '#pragma cf kernel host(twice_on_cpu)'))
        result = self.compile('--shared', '--targets=90', 'heat.cu', 'libmixed.a', cuda=None)
        self.expect('cfcc_shared_links_the_cpus_functions_of_archives', result == (0, '', ''), result)

    def gpu_code_that_is_wrong(self):
        calls = GPU_CALLS.replace(' + fatbin_f32(x, 0) + o_f32(x, 1) + a_f32(x, 2)', '')
        cpu = calls.replace(' host(copy_here)', '')
        files, made = ['ptx_f.ptx', 'cubin_f.cubin'], os.path.join(os.path.dirname(self.folder), 'made')
        os.mkdir(made)
        for file in files:
            shutil.copy(os.path.join(self.folder, file), made)
        lacking = ('heat.cu:1:29: error: the CPU lacks float ptx_f32(const float *x, int n): it is in ptx_f.ptx, '
                   'cubin_f.cubin; annotate kernels that call it with host(none), or with host(FUNCTION) for a form of '
                   'their own\n')
        cases = [
            ('undefined_function_is_named', calls, files[:1], ['--targets=90'], 1,
             'heat.cu:2:29: error: float cubin_f32(const float *x, int n) is defined in no kernel file, nor in '
             'ptx_f.ptx; write #pragma cf device above its definition in a kernel file, or name the GPU code that '
             'has it\n'),
            ('function_of_gpu_code_alone_is_refused_without_cuda', cpu, files, ['--cuda=no'], 1, lacking),
            ('link_to_ptx_is_refused', calls, files, ['--targets=90-virtual'], 1,
             'cfcc: --targets: ptx_f.ptx is linked to machine code, and no target has any'),
            ('gpu_code_without_kernels_is_refused', None, files[:1], ['--targets=90'], 2,
             'ptx_f.ptx: GPU code goes with the kernel files that call it')]
        # test_devices.py tests undefined functions without GPU code.
        if os.environ.get('CHECK_LONG'):
            cases.append(('function_of_gpu_code_alone_is_refused_on_the_cpu', cpu, files, ['--targets=90'], 1, lacking))
        for name, text, given, words, code, expected in cases:
            self.fresh(heat=text or '')
            for file in given:
                shutil.copy(os.path.join(made, file), self.folder)
            result = self.compile(*words, *['heat.cu'] * bool(text), *given, cuda=None)
            self.expect(f'cfcc_{name}', result[0] == code and expected in result[2] and
                        not os.path.exists(os.path.join(self.folder, 'heat.o')), result)

    def folders_without(self, header):
        """Returns options with which the compiler searches all of its own folders except those that have a header."""
        shown = run([*shlex.split(self.config['cxx']), '-E', '-v', '-x', 'c++', os.devnull])[2]
        listed = shown[shown.index('#include <...>'):shown.index('End of search')]
        folders = re.findall(r'^ (/.*)$', listed, re.MULTILINE)
        return ['-Xcxx=-nostdinc', *(f'-Xcxx=-idirafter{folder}' for folder in folders
                                     if not os.path.exists(os.path.join(folder, header)))]

    def with_nvcc(self):
        if not self.config['nvcc']:
            self.tap.skip('cfcc_builds_for_gpus', NEEDS_NVCC)
            return
        self.fresh()
        known = run([self.config['nvcc'], '--help'])[1]
        family = ',100f' * ("'sm_100f'" in known)
        result = self.compile(f'--targets=80 90a-real,compute_90{family}', '-MD', 'heat.cu', cuda=None)
        self.check('cfcc_builds_for_gpus', result, 'heat.d', 'heat.h', 'heat.o')
        self.expect_targets('of_every_kind', f'sm_80 sm_90a{family.replace(",", " sm_")} compute_80 compute_90')
        names = defined(os.path.join(self.folder, 'heat.o'))
        good = 'heat__i_heat' in names and 'heat__i_heat' not in defined(os.path.join(self.folder, 'heat.o'), '-g')
        self.expect('cfcc_object_embeds_the_image', good, names)
        self.fresh()
        words = ['--shared', '--kernels', '--inputs', 'inputs', '-o', 'k.so', 'heat.cu']
        result = self.compile(*words, '--targets=90', cuda=None)
        why, *lines = self.read('inputs').split('\0') if result[0] == 0 else [result]
        lost = [end for end in ('/cuda_runtime.h', '/ptxas', '/cicc', '/nvcc') if not any(
            line.startswith('+') and line.endswith(end) for line in lines)]
        self.expect('cfcc_inputs_have_those_of_nvcc', not why and not lost, f'{why}{lost}')
        self.fresh()
        result = self.compile('heat.cu', cuda=None, NVCC_APPEND_FLAGS='--use_fast_math -rdc=true')
        self.refused('cfcc_refuses_useless_flags_of_the_environment', result, 1,
                     'cfcc: NVCC_APPEND_FLAGS=-rdc=true: its code needs another link')
        self.fresh(heat=KERNEL.replace('2 * x', '2 * q'))
        result = self.compile('heat.cu', '--targets=90', cuda=None)
        self.refused('cfcc_nvcc_message_names_the_source', result, 1, 'heat.cu(8): error: ')
        self.fresh()
        # Plays an nvcc that makes PTX or nothing. Flags of users that have this effect are refused by name, before nvcc
        # runs.
        toolkit = os.path.join(os.path.dirname(self.folder), 'cuda')
        nvcc = os.path.join(toolkit, 'bin/nvcc')
        os.makedirs(os.path.dirname(nvcc))
        for name, flag in (('ptx', '-ptx'), ('commands', '-dryrun')):
            with open(nvcc, 'w', encoding='utf-8') as file:
                file.write(f'#!/bin/sh\n[ "$1" = --version ] || set -- "$@" {flag}\nexec {self.config["nvcc"]} "$@"\n')
            os.chmod(nvcc, 0o755)
            self.refused(f'cfcc_nvcc_that_makes_{name}_is_refused',
                         self.compile('heat.cu', '--targets=90-real', cuda=f'--cuda={toolkit}'), 1,
                         f'cfcc: heat.cu: the CUDA compiler made no image, as {nvcc}')
        shutil.rmtree(toolkit)
        self.refused('cfcc_unknown_target_is_refused', self.compile('heat.cu', '--targets=90,123', cuda=None), 1,
                     'cfcc: --targets: nvcc knows no sm_123; it knows ')
        self.refused('cfcc_unknown_family_is_refused', self.compile('heat.cu', '--targets=90f', cuda=None), 1,
                     'cfcc: --targets: nvcc knows no sm_90f; it knows ')
        self.targets(family)

    def targets(self, family):
        """Tests the lists that nvcc gets for the targets that users name."""
        for name, given, expected in (('spelled_as_in_nvcc', 'sm_80 sm_90', '80,90 90'),
                                      ('for_one_capability', '80,90a', '80,90a 80'),
                                      ('for_a_family', '100f', '100f '),
                                      ('without_ptx', '80;90-real', '80,90 80'),
                                      ('without_any_ptx', '90a-real', '90a '),
                                      ('of_ptx_alone', '90-virtual,90a-virtual', ' 90,90a'),
                                      ('of_ptx_as_in_nvcc', 'compute_80,90', '90 80,90')):
            if 'f' in given and not family:
                self.tap.skip(f'cfcc_targets_{name}', 'needs nvcc of CUDA 12.9 or newer')
                continue
            code, out, err = run([sys.executable, os.path.join(ROOT, 'tools/compile/targets.py'), self.config['nvcc'],
                                  given])
            self.expect(f'cfcc_targets_{name}', code == 0 and ' '.join(out.split('\n')[:2]) == expected,
                        f'{code}: {out}{err}')
        self.fresh()
        result = self.compile('--targets=90-virtual,90a-virtual', 'heat.cu', cuda=None)
        self.expect('cfcc_builds_ptx_alone', result == (0, '', ''), result)
        self.expect_targets('of_ptx_alone', 'compute_90 compute_90a')
