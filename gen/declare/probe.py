"""Asks the C++ compiler what the text of a kernel file cannot tell: sizes, values, and which type a name means.

The compiler reads a unit with the file's system headers, the prelude, and the declarations of types and constants that
the questions need. The unit instantiates an undefined template with the answers as arguments, and the error messages of
gcc and clang print these numbers, so that nothing has to be run."""

import os
import re
import subprocess
import tempfile

from base.diagnostics import GeneratorError
from base.folders import INCLUDE
from expr.cxxtypes import BUILTIN
from tokens.lexer import spell_tokens

_ANSWER = re.compile(r'cf__told<(\d+)((?:, ?-?\d+)*)>')
_TEMPLATES = '''
template <long long...> struct cf__told;
template <typename T> struct cf__kind { static constexpr long long value = -1; };
template <typename T, bool = std::is_enum<T>::value> struct cf__under { static constexpr long long value = -1; };
'''
# Headers that nvcc includes by itself, and headers that the questions use.
_INCLUDES = [f'#include <{name}>' for name in ('math.h', 'string.h', 'time.h', 'type_traits', 'utility')]
# Specialisations that need the kinds of all types.
_UNDER = '''
template <typename T> struct cf__under<T, true> {
    static constexpr long long value = cf__kind<typename std::underlying_type<T>::type>::value;
};
'''


class TypeFacts:
    """The compiler's answer about one type."""

    def __init__(self, numbers):
        self.kind, self.under, self.category, self.bytes, self.align, self.is_copyable, self.is_virtual = numbers


# Placeholder answers to questions that are recorded but not yet asked. All results computed from them are dropped.
_SIZE, _FACTS = 1, (-1, -1, 1, 1, 1, 1, 0)


class Probe:
    """The questions of one kernel file. A question is recorded, and ask() answers all of them; until then the answer is
    provisional and `is_waiting` is true."""

    def __init__(self, cxx, scanner, declarations):
        self._cxx, self._scanner, self._declarations = cxx, scanner, declarations
        self._answers, self._waiting = {}, []
        self.aliases = []       # (scope, name, C++ type): names that generated C++ gives to types

    @property
    def is_waiting(self):
        return bool(self._waiting)

    def value(self, expression, words, scope=()):
        """Returns the value of an integer constant expression in a namespace; None if the compiler cannot tell."""
        answer = self._answer(f'(long long)({expression})', words, (_SIZE,), tuple(s for s in scope if s))
        return answer[0] if answer else None

    def facts(self, cxx, words):
        """Returns TypeFacts of a type at file scope; None if the compiler cannot tell."""
        plain = f'std::remove_cv<{cxx}>::type'
        category = ' + '.join(f'{number} * std::is_{what}<{plain}>::value' for number, what in (
            (1, 'class'), (1, 'union'), (2, 'enum'), (4, 'pointer'), (8, 'array')))
        answer = self._answer(f'cf__kind<{plain}>::value, cf__under<{plain}>::value, {category}, sizeof({plain}), '
                              f'alignof({plain}), __is_trivially_copyable({plain}), __is_polymorphic({plain})', words,
                              _FACTS)
        return TypeFacts(answer) if answer else None

    def alias(self, scope, name, cxx):
        """Gives a name to a type that `cxx` spells in `scope`; returns the name as spelled at file scope."""
        scope = tuple(s for s in scope if s)
        same = [alias for alias in self.aliases if alias[0] == scope and alias[2] == cxx]
        if not same:
            taken = sum(alias[:2] == (scope, name) for alias in self.aliases)
            same = [(scope, name + f'_{taken}' * bool(taken), cxx)]
            self.aliases += same
        return '::'.join(scope + (same[0][1],))

    def is_c(self, file):
        """True if the header with this displayed name is a C header."""
        path = self._scanner.path_of(file)
        if path == self._scanner.path:
            return False
        return not self._run(['-x', 'c', '-std=c11', f'-I{INCLUDE}', path]).returncode

    def _run(self, words):
        try:
            run = subprocess.run([*self._cxx, '-fsyntax-only', '-w', *words], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, check=False, env=dict(os.environ, LC_ALL='C'))
        except (OSError, IndexError) as error:
            raise GeneratorError(f'cannot run the C++ compiler, which has to tell the size of a type: {error}; name it '
                                 'with --cxx') from error
        if run.returncode not in (0, 1):    # the compiler crashed; with 1 its errors hold the answers
            said = run.stderr.decode(errors='replace').rstrip() or f'it ended with {run.returncode}'
            raise GeneratorError(f'the C++ compiler does not tell the size of a type: {said}')
        return run

    def _answer(self, question, words, provisional, scope=()):
        if (question, scope) in self._answers:
            return self._answers[question, scope]
        if (question, scope) not in [asked for asked, _ in self._waiting]:
            self._waiting.append(((question, scope), {*words, *scope}))
        return provisional

    def ask(self, types):
        """Asks all questions at once. `types`: the declared types that may be an answer; the compiler answers with a
        type's number in this list."""
        asked, self._waiting = self._waiting, []
        text = self._scanner.text
        std = re.search(r'^#define __cplusplus 20(\d\d)', text, re.MULTILINE)
        # Types with several names repeat a specialisation, so there are more errors than clang reports by default.
        limit = '-ferror-limit=0' if '\n#define __clang__ ' in text else '-fmax-errors=0'
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'probe.cpp')
            with open(path, 'w', encoding='utf-8', errors='surrogateescape') as file:
                file.write(self._spell_unit(asked, types))
            run = self._run([f'-std=c++{std.group(1) if std else 17}', '-isystem', f'{INCLUDE}/cuferry/shadow',
                             f'-I{INCLUDE}', limit, '-Wno-fatal-errors', path])
        said = run.stderr.decode(errors='replace')
        self._answers.update(dict.fromkeys((question for question, _ in asked), None))
        # After an error in an alias, a compiler may continue with another type or value, so that the answers are wrong.
        wrong = {self.aliases[int(number) - 1][1]
                 for number in re.findall(r'^cf__aliases:(\d+):\d+: error', said, re.M)}
        refused = {int(number) - 1 for number, text in re.findall(r'^cf__questions:(\d+):\d+: error(.*)', said, re.M)
                   if 'cf__told' not in text}
        for number, numbers in _ANSWER.findall(said):
            question = asked[int(number)][0]
            if int(number) not in refused and wrong.isdisjoint(re.findall(r'\w+', question[0])):
                self._answers[question] = tuple(int(n) for n in re.findall(r'-?\d+', numbers))

    def _spell_unit(self, asked, types):
        kept = self._list_needed({w for _, words in asked for w in words} |
                                 {w for _, _, cxx in self.aliases for w in re.findall(r'\w+', cxx)})
        named = {name for d in kept for name in d.names}
        lines = [self._scanner.spell_includes(), *_INCLUDES]
        for declaration in kept:
            lines.append(_within(declaration.scope, _spell_declaration(declaration)))
        lines.append('#line 1 "cf__aliases"')
        lines += [_within(scope, f'typedef {cxx} {name};') for scope, name, cxx in self.aliases]
        lines.append('#line 1 "cf__kinds"' + _TEMPLATES)
        known = list(BUILTIN) + [t.cxx for t in types]
        lines += [f'template <> struct cf__kind<{name}> {{ static constexpr long long value = {number}; }};'
                  for number, name in enumerate(known)
                  if number < len(BUILTIN) or not named.isdisjoint(re.findall(r'\w+', name))]
        lines.append(_UNDER + '#line 1 "cf__questions"')
        lines += [_within(scope, f'cf__told<{number}, {question}> cf__told_{number};')
                  for number, ((question, scope), _) in enumerate(asked)]
        return '\n'.join(lines) + '\n'

    def _list_needed(self, words):
        """Returns the declarations of types and constants that the words reach, in order."""
        system = self._scanner.given_paths
        named = {}
        for declaration in self._declarations:
            if declaration.is_instantiation or declaration.head[0].file in system:
                continue
            if declaration.function is None or declaration.has('constexpr'):
                for name in declaration.names:
                    named.setdefault(name, []).append(declaration)
        pending, seen = list(words), set(words)
        found = {id(d) for d in self._declarations if d.is_directive and d.has('using')}
        while pending:
            for declaration in named.get(pending.pop(), ()):
                if id(declaration) not in found:
                    found.add(id(declaration))
                    new = declaration.words - seen
                    seen |= new
                    pending += new
        return [d for d in self._declarations if id(d) in found]


def _spell_declaration(declaration):
    text = spell_tokens(declaration.head)
    if declaration.body is not None:
        text += ' {' + spell_tokens(declaration.body) + '} ' + spell_tokens(declaration.tail)
    return text + ';'


def _within(scope, text):
    return ''.join(f'namespace {s} {{ ' for s in scope) + text + ' }' * len(scope)


def find_known(number, types):
    """Returns the declared type that a number in TypeFacts stands for; None if it stands for no known type."""
    if number < 0:
        return None
    known = list(BUILTIN.values())
    return known[number] if number < len(known) else types[number - len(known)]
