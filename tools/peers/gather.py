"""gather.py - cf_gather_async() beside the gathers of PyTorch and CuPy, in one process: the time of the kernels alone,
behind other work of the stream, and the time of a call on an idle stream, from C and from Python.

usage: gather.py BUILDDIR

Prints a table of ratios, as peers does, and a line for each peer that is not installed. Only calls have a target: all
kernels alone wait for the same sectors of memory. Exits with 1 if a result is wrong or the library cannot be loaded.
tools/dev/gpu-check runs it."""

import ctypes
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import warnings

try:
    import torch
except ImportError:
    torch = None
try:
    import cupy
except Exception:  # its import looks for CUDA, and fails in several ways
    cupy = None

HERE = os.path.dirname(os.path.abspath(__file__))
N, M = 1 << 20, 1 << 27
SETS = 16  # of indices and results, in turn: no run finds the previous data in the cache
ROUNDS, WARM_UPS = 101, 5
DELAY = 400_000  # cycles in which the host enqueues the timed work
TARGET, CALLED = 1.15, 'as called'

# A shared object hides the archive's functions, except for explicitly visible ones.
SHARED = '''#include <cuferry.h>
#include <cuferry/kernels.h>
#define SEEN __attribute__((visibility("default")))
SEEN int gather_i32(cf_stream stream, const float *source, const int32_t *index, float *res, int64_t n, int64_t m)
{
    return cf_gather_f32_i32_async(stream, source, index, res, n, m);
}
SEEN int gather_i64(cf_stream stream, const float *source, const int64_t *index, float *res, int64_t n, int64_t m)
{
    return cf_gather_f32_i64_async(stream, source, index, res, n, m);
}
/* Milliseconds of a call on an idle stream, between marks of its beginning and end; less than 0 where one fails. */
#define TIMED(name, I, gather)                                                                                       \\
    SEEN float name(cf_stream stream, const float *source, const I *index, float *res, int64_t n, int64_t m)         \\
    {                                                                                                                \\
        static cf_event begin, end;                                                                                  \\
        float milliseconds;                                                                                          \\
        if (!begin && (cf_event_create(&begin) || cf_event_create(&end)))                                            \\
            return -1;                                                                                               \\
        if (cf_stream_sync(stream) || cf_event_record(begin, stream) || gather(stream, source, index, res, n, m) ||  \\
            cf_event_record(end, stream) || cf_event_sync(end) || cf_event_elapsed(&milliseconds, begin, end))       \\
            return -1;                                                                                               \\
        return milliseconds;                                                                                         \\
    }
TIMED(timed_i32, int32_t, cf_gather_f32_i32_async)
TIMED(timed_i64, int64_t, cf_gather_f32_i64_async)
SEEN const char *last_error(void)
{
    return cf_last_error();
}
'''


class Library:
    """The bundled kernels, in a shared object made of the archive."""

    def __init__(self, builddir, folder):
        source, path = os.path.join(folder, 'gather.c'), os.path.join(folder, 'libgather.so')
        with open(source, 'w', encoding='utf-8') as file:
            file.write(SHARED)
        command = shlex.split(os.environ.get('CC', 'cc')) + [
            '-std=c11', '-O2', '-fPIC', '-shared', '-fvisibility=hidden',
            '-I' + os.path.join(HERE, '..', '..', 'include'), '-I' + os.path.join(builddir, 'gen'), '-o', path,
            source, os.path.join(builddir, 'libcuferry.a'), '-lpthread', '-ldl', '-lm']
        subprocess.run(command, check=True)
        self.library = ctypes.CDLL(path)
        self.library.last_error.restype = ctypes.c_char_p
        for name in ('gather_i32', 'gather_i64', 'timed_i32', 'timed_i64'):
            getattr(self.library, name).argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_int64] * 2
        self.library.timed_i32.restype = self.library.timed_i64.restype = ctypes.c_float

    def _run(self, kind, source, index, res):
        """Enqueues in PyTorch's stream."""
        function = getattr(self.library, f'{kind}_i{8 * index.element_size()}')
        return function(torch.cuda.current_stream().cuda_stream, source.data_ptr(), index.data_ptr(), res.data_ptr(),
                        index.numel(), source.numel())

    def _error(self):
        return RuntimeError(f'cf_gather_async: {self.library.last_error().decode()}')

    def gather(self, source, index, res):
        if self._run('gather', source, index, res) != 0:
            raise self._error()

    def timed(self, source, index, res):
        """Seconds of a call from C on an idle stream."""
        milliseconds = self._run('timed', source, index, res)
        if milliseconds < 0:
            raise self._error()
        return milliseconds / 1e3


def peers(library, source, sets):
    """A list of (name, function of the number of a set, index of the library's own call that it is compared with); the
    library's two calls come first."""
    made = [('cf_gather_async, int32', lambda k: library.gather(source, sets[k][0], sets[k][2]), 0),
            ('cf_gather_async, int64', lambda k: library.gather(source, sets[k][1], sets[k][2]), 1),
            ('torch.index_select, int32', lambda k: torch.index_select(source, 0, sets[k][0], out=sets[k][2]), 0),
            ('torch.index_select, int64', lambda k: torch.index_select(source, 0, sets[k][1], out=sets[k][2]), 1),
            ('torch.take, int64', lambda k: torch.take(source, sets[k][1], out=sets[k][2]), 1)]
    if cupy:
        of_cupy = cupy.from_dlpack(source)
        sets_of_cupy = [[cupy.from_dlpack(tensor) for tensor in each] for each in sets]
        made += [('cupy.take, int32', lambda k: cupy.take(of_cupy, sets_of_cupy[k][0], out=sets_of_cupy[k][2]), 0),
                 ('cupy.take, int64', lambda k: cupy.take(of_cupy, sets_of_cupy[k][1], out=sets_of_cupy[k][2]), 1)]
    return made


def check(made, source, sets):
    """Checks the first and the last set, which were poisoned before."""
    for name, run, _ in made:
        for k in (0, SETS - 1):
            _, index, res = sets[k]
            res.fill_(-1)
            run(k)
            torch.cuda.synchronize()
            if not torch.equal(res, source[index]):
                sys.exit(f'gather.py: {name} gives something else')


def between_marks(run, k):
    """Device time in seconds of the work that is enqueued meanwhile."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    run(k)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3


def alone(_, run, k):
    """Times work behind other work of the stream, without Python's own time."""
    torch.cuda._sleep(DELAY)
    return between_marks(run, k)


def as_called(of_library, run, k):
    """Times calls on an idle stream: the library's from C, the others from Python."""
    torch.cuda.synchronize()
    return of_library(k) if of_library else between_marks(run, k)


def measure(made, of_library, timed):
    """Medians in seconds; the order changes each round."""
    times = [[] for _ in made]
    turn = 0
    for round_ in range(-WARM_UPS, ROUNDS):
        for step in range(len(made)):
            which = (step + round_) % len(made)
            turn = (turn + 1) % SETS
            seconds = timed(of_library[which] if which < len(of_library) else None, made[which][1], turn)
            if round_ >= 0:
                times[which].append(seconds)
    return [statistics.median(each) for each in times]


def report(made, medians, what):
    print(f'gather of floats, M = 2^27, N = 2^20, random: {what}')
    for (name, _, _), middle in zip(made, medians):
        print(f'  {name:58} {middle * 1e3:12.4f} ms')
    return [(f'{name} / cf_gather_async, M = 2^27, N = 2^20, {what}', middle / medians[ours])
            for (name, _, ours), middle in zip(made, medians) if not name.startswith('cf_')]


def compare(builddir):
    stream = torch.cuda.Stream()
    generator = torch.Generator(device='cuda').manual_seed(1)
    with tempfile.TemporaryDirectory() as folder, torch.cuda.stream(stream):
        library = Library(builddir, folder)
        if cupy:
            cupy.cuda.ExternalStream(stream.cuda_stream).use()
        source = torch.rand(M, generator=generator, device='cuda')
        index64 = torch.randint(0, M, (SETS, N), generator=generator, device='cuda')
        index32, res = index64.to(torch.int32), torch.full((SETS, N), -1.0, device='cuda')
        torch.cuda.synchronize()
        sets = [(index32[k], index64[k], res[k]) for k in range(SETS)]
        made = peers(library, source, sets)
        of_library = [lambda k, i=i: library.timed(source, sets[k][i], sets[k][2]) for i in range(2)]
        check(made, source, sets)
        figures = report(made, measure(made, of_library, alone), 'kernels alone')
        figures += report(made, measure(made, of_library, as_called), CALLED)
    print(f'\n{"part":8} {"figure":74} {"measured":>10}    target')
    for what, ratio in figures:
        judged = f'>= {TARGET:<6g} {"met" if ratio >= TARGET else "MISSED"}' if what.endswith(CALLED) else ''
        print(f'{"gather":8} {what:74} {ratio:10.3f} x  {judged}'.rstrip())
    return 0


def main(builddir):
    os.environ['CF_DRIVER'] = 'cuda'
    warnings.simplefilter('ignore', DeprecationWarning)  # CuPy's: older versions lack its new names
    if not torch or not torch.cuda.is_available():
        print('gather beside PyTorch and CuPy: not run, PyTorch ' + ('finds no GPU' if torch else 'is not installed'))
        return 0
    if not cupy:
        print('gather beside CuPy: not run, it is not installed')
    return compare(builddir)


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
