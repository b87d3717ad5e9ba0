"""interop_torch.py - uses a library that cfcc made in one process with PyTorch: its tensors, streams and captures.

usage: interop_torch.py BUILDDIR              each scenario in a process of its own; TAP
       interop_torch.py BUILDDIR SCENARIO LIBRARY

It is skipped without PyTorch or a GPU. tools/dev/gpu-check runs it.
"""

import ctypes
import os
import shlex
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import Tap, run

try:
    import torch
except ImportError:
    torch = None

KERNELS = '''#include <stdint.h>
/* res[i] = source[index[i]] for n elements. */
#pragma cf kernel grid(n) in(source[m], index[n]) out(res[n]) check(0 <= index[:] < m)
__global__ void take(const float *source, const int64_t *index, float *res, int64_t n, int64_t m)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        res[i] = source[index[i]];
}

/* sum[index[i]] += values[i] for n elements. */
#pragma cf kernel grid(n) in(values[n], index[n]) inout(sum[m]) check(0 <= index[:] < m)
__global__ void put(const float *values, const int64_t *index, float *sum, int64_t n, int64_t m)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&sum[index[i]], values[i]);
}
'''

SHAPES = os.path.join(os.path.dirname(os.path.realpath(__file__)), '../tools/python.cu')

N, M = 1 << 16, 1 << 18
STAGE = 1  # CF_HOST_DATA_STAGE
ERANGE = -3
SLEEP = 20_000_000  # cycles, about ten milliseconds


def expect(holds, what):
    if not holds:
        raise AssertionError(what)


class Library:
    """The shared object. Each call checks that the thread's current context does not change."""

    def __init__(self, path):
        self.path, self.library = path, ctypes.CDLL(path)
        self.library.cf_last_error.restype = ctypes.c_char_p
        self.driver = ctypes.CDLL('libcuda.so.1')
        pointer, integer = ctypes.c_void_p, ctypes.c_int64
        for name in ('take', 'put'):
            getattr(self.library, f'wag_{name}').argtypes = [pointer] * 3 + [integer] * 2
            getattr(self.library, f'wag_{name}_async').argtypes = [pointer] * 4 + [integer] * 2
        self.library.cf_stream_sync.argtypes = [pointer]

    def current_context(self):
        context = ctypes.c_void_p()
        result = self.driver.cuCtxGetCurrent(ctypes.byref(context))
        return context.value if result == 0 else None

    def status(self, name, *arguments):
        before = self.current_context()
        status = getattr(self.library, name)(*arguments)
        expect(self.current_context() == before, f'{name} changed the current context')
        return status

    def call(self, name, *arguments):
        status = self.status(name, *arguments)
        expect(status == 0, f'{name}: {status}: {self.error()}')

    def error(self):
        return self.library.cf_last_error().decode()

    def take(self, source, index, res):
        self.call('wag_take', source.data_ptr(), index.data_ptr(), res.data_ptr(), index.numel(), source.numel())

    def take_async(self, source, index, res):
        """Calls take() in PyTorch's current stream."""
        self.call('wag_take_async', torch.cuda.current_stream().cuda_stream, source.data_ptr(), index.data_ptr(),
                  res.data_ptr(), index.numel(), source.numel())


def tensors(device='cuda', seed=0):
    """Returns source, index, and a result that is filled with a value which no result has."""
    generator = torch.Generator().manual_seed(seed)
    source = torch.rand(M, generator=generator)
    index = torch.randint(0, M, (N,), generator=generator)
    return source.to(device), index.to(device), torch.full((N,), -1.0, device=device)


def expect_taken(source, index, res):
    expect(torch.equal(res, torch.take(source, index)), 'torch.take gives something else')
    expect(torch.equal(res, torch.index_select(source, 0, index)), 'torch.index_select gives something else')


# ---- Scenarios


def library_first(library):
    """Calls the library before PyTorch has initialized CUDA, and afterwards."""
    source, index, res = tensors('cpu')
    library.take(source, index, res)
    expect_taken(source, index, res)
    expect(not torch.cuda.is_initialized(), 'the library started CUDA for PyTorch')
    expect(library.current_context() is None, 'a context stays current')
    torch.cuda.init()
    source, index, res = tensors()
    library.take_async(source, index, res)
    expect_taken(source, index, res)
    res.fill_(-1)
    library.take(source, index, res)
    expect_taken(source, index, res)


def torch_first(library):
    """PyTorch has used the GPU before. The arrays of a plain call may be tensors on the CPU or on the GPU."""
    expect(float(torch.ones(8, device='cuda').sum()) == 8, 'PyTorch adds up')
    source, index, res = tensors()
    library.take(source, index, res)
    expect_taken(source, index, res)
    for where in (0, STAGE):
        library.call('cf_set_host_data', where)
        res = torch.full((N,), -1.0)
        library.take(source.cpu(), index.cpu(), res)
        expect_taken(source.cpu(), index.cpu(), res)
        res.fill_(-1)
        library.take(source, index.cpu(), res)
        expect_taken(source.cpu(), index.cpu(), res)
    pinned = torch.full((N,), -1.0).pin_memory()
    library.take(source, index, pinned)
    expect_taken(source.cpu(), index.cpu(), pinned)


def streams(library):
    """Calls are ordered in PyTorch's streams without waits: inputs arrive late, and results are used at once."""
    source, index, _ = tensors()
    for stream in (torch.cuda.default_stream(), torch.cuda.Stream(), torch.cuda.Stream(priority=-1)):
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            late = torch.zeros_like(index)
            res = torch.full((N,), -1.0, device='cuda')
            torch.cuda._sleep(SLEEP)
            late.copy_(index)
            library.take_async(source, late, res)
            twice = res * 2
        stream.synchronize()
        expect(torch.equal(twice, torch.take(source, index) * 2), f'the order in {stream}')
    own = ctypes.c_void_p()
    library.call('cf_stream_create', ctypes.byref(own))
    with torch.cuda.stream(torch.cuda.ExternalStream(own.value)):
        res = torch.full((N,), -1.0, device='cuda')
        torch.cuda._sleep(SLEEP)
        library.take_async(source, index, res)
        twice = res * 2
    library.call('cf_stream_sync', own)
    expect(torch.equal(twice, torch.take(source, index) * 2), 'the order in a stream of the library')
    library.call('cf_stream_destroy', own)


def allocator(library):
    """Calls do not change the statistics of PyTorch's allocator, and work in memory that the allocator reuses."""
    source, index, res = tensors()
    library.take(source, index, res)
    torch.cuda.synchronize()
    before = torch.cuda.memory_stats()
    for _ in range(100):
        library.take(source, index, res)
        library.take_async(source, index, res)
    library.call('cf_set_host_data', STAGE)
    host = torch.full((N,), -1.0)
    library.take(source.cpu(), index.cpu(), host)
    torch.cuda.synchronize()
    after = torch.cuda.memory_stats()
    changed = [key for key in before if before[key] != after.get(key)]
    expect(not changed, f'the allocator counts {changed}')
    # The allocator reuses memory that contains earlier results.
    for seed in range(20):
        source, index, res = tensors(seed=seed)
        library.take_async(source, index, res)
        taken = res.clone()
        del res
        other = torch.full((N,), 7.0, device='cuda')
        expect_taken(source, index, taken)
        expect(bool((other == 7).all()), 'a block of another tensor changed')
    library.call('cf_shutdown')
    torch.cuda.empty_cache()
    expect(float(torch.ones(1 << 20, device='cuda').sum()) == 1 << 20, 'PyTorch works after cf_shutdown()')
    source, index, res = tensors()
    library.take(source, index, res)
    expect_taken(source, index, res)


class Take(torch.autograd.Function if torch else object):
    """torch.take by the library. Its gradient is computed on a thread of autograd."""

    library = None

    @staticmethod
    def forward(context, source, index):
        context.save_for_backward(index)
        context.size = source.numel()
        res = torch.empty(index.numel(), device=source.device)
        Take.library.take_async(source, index, res)
        return res

    @staticmethod
    def backward(context, gradient):
        index, = context.saved_tensors
        total = torch.zeros(context.size, device=gradient.device)
        gradient = gradient.contiguous()
        stream = torch.cuda.current_stream().cuda_stream
        Take.library.call('wag_put_async', stream, gradient.data_ptr(), index.data_ptr(), total.data_ptr(),
                          index.numel(), context.size)
        return total, None


def gradients(library):
    """A step of autograd that uses the library's kernels."""
    Take.library = library
    source, index, _ = tensors()
    index = torch.randperm(M, device='cuda')[:N]  # each index occurs once, so that sums are exact in any order
    weight = torch.rand(N, device='cuda')
    for stream in (torch.cuda.default_stream(), torch.cuda.Stream()):
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            ours = source.clone().requires_grad_()
            theirs = source.clone().requires_grad_()
            (Take.apply(ours, index) * weight).square().sum().backward()
            (torch.take(theirs, index) * weight).square().sum().backward()
        stream.synchronize()
        expect(torch.equal(ours.grad, theirs.grad), f'the gradient in {stream}')


def beside_training(library):
    """A model that trains in another stream and thread gets the same results as it does alone."""

    def train(seed, results):
        torch.manual_seed(seed)
        with torch.cuda.stream(torch.cuda.Stream()):
            model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1)).cuda()
            optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
            inputs = torch.rand(512, 256, generator=torch.Generator().manual_seed(seed)).cuda()
            for _ in range(100):
                optimizer.zero_grad()
                loss = model(inputs).square().mean()
                loss.backward()
                optimizer.step()
            results.append([p.detach().clone() for p in model.parameters()])
            torch.cuda.current_stream().synchronize()

    alone, beside = [], []
    train(3, alone)
    source, index, res = tensors()
    host = source.cpu(), index.cpu(), torch.full((N,), -1.0)
    library.call('cf_set_host_data', STAGE)
    thread = threading.Thread(target=train, args=(3, beside))
    thread.start()
    calls = 0
    while thread.is_alive() or calls < 10:
        res.fill_(-1)
        (library.take_async if calls % 2 else library.take)(source, index, res)
        host[2].fill_(-1)
        library.take(*host)
        expect_taken(source, index, res)
        expect_taken(*host)
        calls += 1
    thread.join()
    expect(len(beside) == 1, 'the training ended')
    for a, b in zip(alone[0], beside[0]):
        expect(torch.allclose(a, b, rtol=1e-5, atol=1e-7), 'training gives other weights beside the library')


def captured(library):
    """The library is first used inside a capture of PyTorch; when the graph is replayed, it uses the new inputs."""
    source, index, res = tensors()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        library.take_async(source, index, res)
        twice = res * 2
    for seed in range(1, 4):
        for target, new in zip((source, index, res), tensors(seed=seed)):
            target.copy_(new)
        graph.replay()
        torch.cuda.synchronize()
        expect_taken(source, index, res)
        expect(torch.equal(twice, res * 2), 'what follows in the graph')
    library.take(source, index, res)
    expect_taken(source, index, res)


def errors(library):
    """A wrong index is named, nothing is written, and PyTorch continues to work."""
    source, index, res = tensors()
    index[17] = M
    status = library.status('wag_take', source.data_ptr(), index.data_ptr(), res.data_ptr(), N, M)
    expect(status == ERANGE, f'status {status}')
    expect(library.error() == f'wag_take: index[17] = {M} is outside [0, {M})', library.error())
    expect(bool((res == -1).all()), 'the result is untouched')
    index[17] = 0
    library.take(source, index, res)
    expect_taken(source, index, res)


def second_device(library):
    """Calls run on PyTorch's current device."""
    if torch.cuda.device_count() < 2:
        raise SystemExit('needs two GPUs, real or played')
    with torch.cuda.device(1):
        source, index, res = tensors('cuda:1')
        library.take_async(source, index, res)
        expect_taken(source, index, res)
        res.fill_(-1)
        library.take(source, index, res)
        expect_taken(source, index, res)
        stream = torch.cuda.Stream()
        torch.cuda.synchronize()
    expect(torch.cuda.current_device() == 0, 'the current device is 0')
    res.fill_(-1)
    torch.cuda.synchronize(1)
    library.call('wag_take_async', stream.cuda_stream, source.data_ptr(), index.data_ptr(), res.data_ptr(), N, M)
    library.call('cf_stream_sync', stream.cuda_stream)
    expect_taken(source, index, res)
    expect(torch.cuda.current_device() == 0, 'the current device stays 0')


def of_python(library):
    """The Python module accepts structs, vectors and complex numbers together with PyTorch, and with CuPy."""
    sys.path.insert(0, os.path.dirname(library.path))
    import shapes
    try:
        import cupy
    except ImportError:
        cupy = None
    makers = [lambda values, dtype: torch.tensor(values, dtype=getattr(torch, dtype), device='cuda')]
    if cupy:
        makers.append(cupy.array)
    for make in makers:
        y = make([77, 77, 77], 'float32')
        shapes.tint(y, (1, 20, 300, 4000))
        expect(y.tolist() == [4001.0] * 3, f'tint: {y}')
        for dtype in ('complex64', 'complex128'):
            x, y = make([1 + 2j, 3 - 4j], dtype), make([0, 0], dtype)
            expect(shapes.quarter(x, y) is y and y.tolist() == [-2 + 1j, 4 + 3j], f'quarter: {y}')
    balls, corners = (shapes.ball * 2)(), (shapes.corner * 2)()
    for at, (ball, corner) in enumerate(zip(balls, corners)):
        ball.centre, ball.radius, corner.x = (0, 0, 0, 5 + at), 1 + at, 100 * (at + 1)
    shapes.swell(balls, corners, 7, shapes.corner(0, 0, 1000), ((0, 20000, 0, 0), 100000))
    expect([corner.z for corner in corners] == [121112, 121219], f'swell: {[corner.z for corner in corners]}')


SCENARIOS = [library_first, torch_first, streams, allocator, gradients, beside_training, captured, errors,
             second_device, of_python]

SKIPPED = 77


def scenario(name, path):
    """Runs one scenario; exits with the reason if it is skipped."""
    os.environ['CF_DRIVER'] = 'cuda'
    try:
        [s for s in SCENARIOS if s.__name__ == name][0](Library(path))
    except SystemExit as reason:
        print(reason)
        return SKIPPED
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
    return 0


def why_not():
    if not torch:
        return 'needs PyTorch'
    return '' if torch.cuda.is_available() else 'needs a PyTorch that finds a GPU'


def main(builddir, *arguments):
    if arguments:
        return scenario(*arguments)
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        source, library = os.path.join(folder, 'wag.cu'), os.path.join(folder, 'libwag.so')
        reason = why_not()
        if not reason:
            with open(source, 'w', encoding='utf-8') as file:
                file.write(KERNELS)
            command = [os.path.join(builddir, 'cfcc'), '--shared', '--prefix', 'wag', '-o', library, source]
            code, out, err = run(command)
            tap.check('cfcc makes a shared object', code and f'{shlex.join(command)}: exit {code}\n{out}{err}')
            command = [os.path.join(builddir, 'cfcc'), '--shared', '--prefix', 'shapes', '--emit', 'python', '-o',
                       os.path.join(folder, 'libshapes.so'), SHAPES]
            code, out, err = run(command)
            tap.check('cfcc makes a module for Python', code and f'{shlex.join(command)}: exit {code}\n{out}{err}')
        names = [f'{each.__name__}: {each.__doc__}' for each in SCENARIOS]
        command = [sys.executable, os.path.realpath(__file__), builddir]
        commands = [command + [each.__name__, library] for each in SCENARIOS]
        with ThreadPoolExecutor(3) as pool:  # importing PyTorch takes most of the time, so scenarios run at once
            results = [] if reason else list(pool.map(lambda words: run(words, timeout=120), commands))
        for i, name in enumerate(names):
            if reason or results[i][0] == SKIPPED:
                tap.skip(name, reason or results[i][1].strip())
            else:
                code, out, err = results[i]
                tap.check(name, code and f'exit {code}\n{out}{err}')
    return tap.close()


if __name__ == '__main__':
    if len(sys.argv) not in (2, 4):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
