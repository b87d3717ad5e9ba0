"""fuzz_adopt.py - runs cfcc --adopt and the generator's reader of images on randomly damaged entries of Triton's cache
and kernels of Numba. Each input must be refused with a message, or give declarations in which only names and numbers
come from the input.

usage: fuzz_adopt.py [--inputs N] [--seed S]"""

import argparse
import contextlib
import io
import json
import os
import random
import re
import shutil
import struct
import sys
import tempfile
import traceback
from dataclasses import asdict
from types import SimpleNamespace

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
import forked
from tap import ROOT, Tap

sys.path += [os.path.join(ROOT, folder) for folder in ('gen', 'tools/compile')]
import adopt
from failure import Failure, Refused
from image.facts import ImageError
from image.read import read_image

FIXTURES = os.path.join(ROOT, 'tests', 'fixtures', 'adopted')
COMPILED = 200      # one of this many accepted inputs is given to the generator

# Patterns of the texts that may be printed. None of them can end a comment, a string or the pragma.
NAME, WORD = r'[A-Za-z_]\w*', r'[A-Za-z_$%][\w$%]*'
CLAUSE = (rf'(?:image\("[^"\\{{}}\n]+"\)|entry\("{WORD}"\)|'
          r'\w+\((?:[\w, ()*]|\[0\]|/\* programs\? \*/|/\* threads\? \*/|'
          r'/\* programs along [xyz]\? \*/|\[/\* elements\? \*/\])*\)|cooperative|dependent)')
TEXT = re.compile(rf'(?:#include <\w+\.h>\n)+(?:\n/\* {NAME}, which (?:Triton|Numba) compiled for [\w ]+\. \*/\n'
                  rf'#pragma cf kernel(?: (?:\\\n {{4,5}})?{CLAUSE}| \\\n   )*\n'
                  rf'__global__ void {NAME}\((?:{NAME} \*?{NAME}(?:, )?)*\);\n)+', re.ASCII)

VALUES = (0, 1, -1, True, False, None, 1.5, float('nan'), 2 ** 31, 2 ** 70, -2 ** 70, '', 'x', '4', [], [1], [[]],
          {}, {'a': 1}, 'a\nb', '"); system("x', '*/ int x; /*', 'größe', '\ud800', 'int', [2, 1, 1], [0], [True],
          [1] * 4, 'softmax_kernel')
PAYLOADS = (b'\n', b'"', b'\\', b'*/', b'\0', b'\xff', b'\x85', b'(', b')', b'{', b'}', b',', b'$', b'%', b' ',
            b'\r', b'9' * 5000, b'[' * 3000, b'(' * 3000, b'\n#include "/etc/passwd"\n', 'ä'.encode(), '٣'.encode(),
            b'.entry ', b'.param .u64 ', b'.reqntid 1, 2', b'loc("', b'#loc = ', b'tt.func public @', b'_ZN', b'E',
            b'B1')


class Mutator:
    def __init__(self, rng):
        self.rng = rng

    def bytes(self, data):
        """Returns the data with one to four random damages."""
        for _ in range(self.rng.choice((1, 1, 1, 2, 4))):
            data = self.rng.choice((self._flip, self._flip, self._insert, self._remove, self._repeat, self._cut,
                                    self._word))(data)
        return data

    def _place(self, data):
        return self.rng.randrange(len(data) + 1)

    def _flip(self, data):
        at = self._place(data)
        return data[:at] + bytes([self.rng.choice((0, 255, self.rng.randrange(256)))]) + data[at + 1:]

    def _insert(self, data):
        at = self._place(data)
        return data[:at] + self.rng.choice(PAYLOADS) + data[at:]

    def _remove(self, data):
        at = self._place(data)
        return data[:at] + data[at + self.rng.choice((1, 2, 8, 64)):]

    def _repeat(self, data):
        at, size = self._place(data), self.rng.choice((4, 30, 200))
        return data[:at] + data[at:at + size] * 2 + data[at + size:]

    def _cut(self, data):
        return data[:self._place(data)]

    def _word(self, data):
        """Returns the data with one of its names or numbers replaced."""
        words = list(re.finditer(rb'[\w$%]+', data)) if len(data) < 20000 else []
        if not words:
            return self._flip(data)
        word = self.rng.choice(words)
        new = self.rng.choice((*PAYLOADS, word.group() + self.rng.choice(PAYLOADS)))
        return data[:word.start()] + new + data[word.end():]

    def cubin(self, data):
        """Returns a cubin with a change in its tables, its names or its facts about kernels."""
        if self.rng.random() < 0.2:
            return self.bytes(data)
        data = bytearray(data)
        at, = struct.unpack_from('<Q', data, 40)
        count, = struct.unpack_from('<H', data, 60)
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            kind, section = self.rng.randrange(4), at + 64 * self.rng.randrange(count)
            offset, size = struct.unpack_from('<QQ', data, section + 24)
            if kind == 0:
                place = self.rng.randrange(64)
            elif kind == 1:
                place = section + 4 * self.rng.randrange(16)
            else:
                place = offset + self.rng.randrange(max(size, 1))
            value = self.rng.choice((b'\n', b'"', b'\xff', b'\0', b'\xff\xff\xff\xff', b'\0\0\0\1', b'*/', b'\\',
                                     b'\xff' * 8, *[bytes([self.rng.randrange(256)])] * 2))
            if place + len(value) <= len(data):
                data[place:place + len(value)] = value
        if self.rng.random() < 0.2:
            name = self.rng.choice((b'softmax_kernel', b'kernel', b'.nv.info.'))
            data = data.replace(name, (self.rng.choice(PAYLOADS) * len(name))[:len(name)])
        return bytes(data)

    def json(self, data):
        if self.rng.random() < 0.3:
            return self.bytes(data)
        values = json.loads(data)
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            key = self.rng.choice(sorted(values) or ['name'])
            if self.rng.random() < 0.15:
                values.pop(key, None)
            else:
                values[key] = self.rng.choice(VALUES)
        return json.dumps(values).encode()


class Fuzzer:
    def __init__(self, seed, folder):
        self.rng, self.folder = random.Random(seed), folder
        self.mutator, self.generator = Mutator(self.rng), forked.load()
        self.accepted = self.refused = 0
        self.triton, self.numba = self._load('triton'), self._load('numba')

    @staticmethod
    def _load(kind):
        files = {}
        for name in sorted(os.listdir(os.path.join(FIXTURES, kind))):
            with open(os.path.join(FIXTURES, kind, name), 'rb') as file:
                files[name] = file.read()
        return files

    def step(self):
        """Runs one input. Returns the error, or '' if the result is right."""
        place = os.path.join(self.folder, self.rng.choice(('entry',) * 8 + (
            'a"b', 'a\nb', 'a\\b', 'a{N}b', 'a b', 'größe', os.fsdecode(b'a\xffb'), '*', "a'b", '$x')))
        shutil.rmtree(place, ignore_errors=True)
        os.mkdir(place)
        kind = self.rng.choice(adopt.KINDS)
        (self._write_triton if kind == 'triton' else self._write_numba)(place)
        named = place if kind == 'triton' else os.path.join(place, os.listdir(place)[0])
        problem = self._adopt(kind, named)
        shutil.rmtree(place)
        return problem

    def _write(self, folder, name, data):
        with open(os.path.join(folder, name), 'wb') as file:
            file.write(data)

    def _write_triton(self, folder):
        damaged = self.rng.choice(['.json', '.ttir', '.ptx', '.cubin'])
        without = self.rng.choice([(), (), ('.cubin',), ('.ttir',), ('.ptx',)])
        for name, data in self.triton.items():
            ending = os.path.splitext(name)[1]
            if ending == damaged:
                damage = {'.json': self.mutator.json, '.cubin': self.mutator.cubin}.get(ending, self.mutator.bytes)
                data = damage(data)
            if ending not in without:
                self._write(folder, name, data)

    def _write_numba(self, folder):
        if self.rng.random() < 0.2:
            self._write(folder, 'scale.cubin', self.mutator.cubin(self.triton['softmax_kernel.cubin']))
            return
        ptx = self.numba['scale.ptx']
        if self.rng.random() < 0.5:     # only the entry's name
            name = re.search(rb'\.entry ([\w$%]+)', ptx).group(1)
            ptx = ptx.replace(name, self.mutator.bytes(name))
        else:
            ptx = self.mutator.bytes(ptx)
        self._write(folder, 'scale.ptx', ptx)

    def _adopt(self, kind, named):
        printed = io.TextIOWrapper(io.BytesIO())
        runner = SimpleNamespace(start=self._start)
        config = SimpleNamespace(start_of_generator=['cfgen'])
        options = SimpleNamespace(adopt=kind, files=[named], output=None)
        try:
            with contextlib.redirect_stdout(printed):
                adopt.adopt(options, config, runner)
        except Failure as error:
            self.refused += 1
            return '' if str(error) else 'the message is empty'
        except BaseException:   # pylint: disable=broad-except
            return traceback.format_exc(limit=-4)
        self.accepted += 1
        printed.flush()
        text = printed.buffer.getvalue().decode()
        if not TEXT.fullmatch(text):
            return f'it prints:\n{text}'
        return self._compile(text) if self.accepted % COMPILED == 0 else ''

    @staticmethod
    def _start(command):
        """Plays the process of the generator that prints the facts of an image."""
        def result():
            try:
                with open(command[-1], 'rb') as file:
                    return json.dumps(asdict(read_image(file.read())))
            except ImageError as error:
                raise Refused(f'cfgen: {command[-1]} {error}\n') from error
        return SimpleNamespace(result=result)

    def _compile(self, text):
        """Gives the printed declarations to the generator, which must accept them or refuse them with messages."""
        self._write(self.folder, 'one.cu', re.sub(r'/\* [\w ]+\? \*/', '1', text).encode())
        code, out, err = forked.run_forked(self.generator, ['--outdir', 'out', 'one.cu'], self.folder)
        if code == 0 or (code == 1 and ': error: ' in err and 'Traceback' not in err):
            return ''
        return f'cfgen ends with {code}: {out}{err}\n{text}'


def problems(inputs, seed):
    """Runs this many inputs. Returns at most three errors, and the numbers of accepted and refused inputs."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        here = os.getcwd()
        os.chdir(folder)
        try:
            fuzzer = Fuzzer(seed, folder)
            for number in range(inputs):
                problem = fuzzer.step()
                if problem:
                    found.append(f'input {number} of seed {seed}: {problem}')
                if len(found) == 3:
                    break
        finally:
            os.chdir(here)
    return found, fuzzer.accepted, fuzzer.refused


def main():
    parser = argparse.ArgumentParser(usage=__doc__.rsplit('usage: ', 1)[1])
    parser.add_argument('--inputs', type=int, default=2000)
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    tap = Tap()
    found, accepted, refused = problems(options.inputs, options.seed)
    print(f'# {accepted} inputs were accepted and {refused} refused')
    tap.check('damaged_images_are_refused_or_give_plain_declarations', '\n'.join(found))
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
