"""Calls saxpy and gather with arrays of NumPy, CuPy or PyTorch, and compares each element. Ends with 77 and a reason
without a GPU. usage: vectors_check.py numpy|cupy|torch"""

import importlib
import sys

import vectors


def main(name):
    try:
        library = importlib.import_module(name)
    except ImportError:
        print(f'needs {name}')
        return 77
    if name != 'numpy' and not has_gpu(library):
        print('needs a GPU')
        return 77
    make = library.as_tensor if name == 'torch' else library.asarray
    where = {'device': 'cuda'} if name == 'torch' else {}
    n = 1 << 16
    x = make([(i * 7919 % 1000) / 8 for i in range(n)], dtype=library.float32, **where)
    y = make([float(i % 77) for i in range(n)], dtype=library.float32, **where)
    for _ in range(2):      # the second call takes the fast path
        out = vectors.saxpy(2.0, x, y)
        again = library.zeros_like(x)
        vectors.saxpy(2.0, x, y, again)
        good = bool((out == 2 * x + y).all()) and bool((again == out).all()) and type(out) is type(x)
        for kind in (library.int32, library.int64):
            index = make([i * 31 % n for i in range(n // 2)], dtype=kind, **where)
            good = good and bool((vectors.gather(x, index) == x[index]).all())
    print(f'{name}: {"all elements match" if good else "elements differ"}')
    return 0 if good else 1


def has_gpu(library):
    try:
        return library.cuda.is_available()
    except Exception:   # without a driver, CuPy raises errors of its own types
        return False


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
