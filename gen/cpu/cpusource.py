"""Writes the source that is compiled for the CPU. This copy contains the declarations that CPU kernels reach, from the
preprocessed text of a kernel file and its headers. Each declaration keeps its lines."""

from cpu.arithmetic import Arithmetic
from cpu.assembly import find_assembly_edits, HEADER
from cpu.chosen import find_choices
from cpu.known import Known
from cpu.members import body_tokens, host_members
from cpu.reachable import all_tokens, find_reachable
from cpu.sharedmem import find_edits, Outside
from tokens.brackets import without_attributes
from tokens.lexer import Token, TokenError

_HEAP = {'new', 'delete', 'virtual'}
# The words with which variables for device code are declared.
_DATA = ('__device__', '__constant__', '__shared__', '__managed__', 'constexpr')
# A host function with one of these words is left out: exceptions are off, and CUDA's indices are no variables in host
# code.
_FOREIGN = frozenset(('throw', 'try', 'dynamic_cast', 'typeid', 'threadIdx', 'blockIdx', 'blockDim', 'gridDim'))
# Most empty lines that are written as such. A line marker replaces longer gaps.
_MOST_LINES = 8


def copy_for_cpu(scanner, items, declarations, kernels, devices, functions, words, loop_edits, regions, report):
    """Returns the text of the copy, which includes the prelude.

    `items`: tokens and pragmas of the file, with the ranges of `declarations`. `kernels`: declarations of the kernels
    that the CPU runs. `devices`: device functions that other files call. `functions`: names of the functions that the
    CPU runs instead of kernels. `words`: other names in the generated code. `loop_edits`: maps a declaration's id to
    the edits of find_loop(). `regions`: maps a kernel's id to (Rewriter, True if the kernel has only numbers, edits of
    its parameters). `report`: called with a token and the text of its error."""
    choice = _Choice(scanner, declarations, [*kernels, *devices], functions, words)
    outside, edits, others = Outside(declarations), {}, {}  # others: edits of kernels of which a second form is written
    arithmetic = Arithmetic(declarations)
    classes = {name for d in declarations if d.is_class and d.head[0].text != 'template' and 'delete' not in d.words
               for name in d.names}
    for declaration in choice.needed:
        try:
            edits.update(_find_edits(declaration, declaration in kernels, outside,
                                     loop_edits.get(id(declaration), ())))
            if declaration in devices:
                place = declaration.head[2 * (declaration.head[1].kind == 'string')]    # the token after extern "C"
                edits[id(place)] = f'CF__LINKED {edits.get(id(place), place.text)}'
            operators = [*arithmetic.edits(declaration), *find_choices(declaration, classes)]
            _add_operators(edits, operators)
            if id(declaration) in regions:
                rewriter, is_numeric, parameters = regions[id(declaration)]
                kernel = rewriter.kernel
                plain = {**_find_edits(kernel, False, outside, (), True),
                         **{id(t): '' for t in kernel.head if t.text == 'inline'}}
                _add_operators(plain, operators if kernel is declaration else [*arithmetic.edits(kernel),
                                                                               *find_choices(kernel, classes)])
                changes = rewriter.edits(plain, is_numeric, outside.references(kernel))
                changes.update((id(token), text) for token, text in parameters)
                others[id(declaration)] = kernel, {**plain, **changes}
        except TokenError as error:
            report(error.token, str(error))
    writer = _Writer(scanner.markers, edits, choice.left_out)
    at = 0
    for declaration in choice.printed:
        writer.write_pragmas(items[at:declaration.begin + 1])
        at = declaration.end
        writer.enter(declaration.openings)
        tokens = [t for t in items[declaration.begin:declaration.end] if isinstance(t, Token)]
        writer.write(tokens)
        if id(declaration) in others:
            kernel, changes = others[id(declaration)]
            begin = next(at for at, token in enumerate(tokens) if token is declaration.body[0])
            writer.write_again([*tokens[:begin], *kernel.body, *tokens[begin + len(declaration.body):]], changes)
    if not choice.printed:
        return scanner.spell_includes()
    writer.enter(())
    writer.write_pragmas(items[at:])
    own = ['cuferry/cpu/runtime/heap.cuh'] if _uses_heap(choice.needed) else []
    own += [HEADER] if any(any(find_assembly_edits(d.body or ())) for d in choice.needed) else []
    return scanner.spell_includes(*own) + writer.text()


def _add_operators(edits, operators):
    for token, (before, text, after) in operators:
        old = edits.get(id(token), token.text)
        if old.endswith(token.text):
            edits[id(token)] = old[:len(old) - len(token.text)] + before + text + after


class _Choice:
    """Chooses the declarations of the copy. `entries`: the kernels and device functions that the copy is made for."""

    def __init__(self, scanner, declarations, entries, functions, words):
        self._scanner = scanner
        others = [d for d in declarations if not d.has('__global__') and not d.is_instantiation and not d.is_directive]
        data = [d for d in others if d.function is None and d.has('__constant__')]
        roots = [*entries, *data]
        on_device = find_reachable(roots, [d for d in others if _may_be_on_device(d)], words)
        is_empty = not (roots or functions)
        # Host functions that replace kernels, and functions that the values of constants call.
        starts = [d for d in others if d.name in functions]
        starts += [d for d in on_device if d.function is None and not d.is_class]
        # Operators of host code are used only by functions that the CPU runs instead of kernels.
        on_host = find_reachable(starts, others if functions else _without_host_operators(others),
                                 tokens_of=all_tokens) if not is_empty else []
        self._hosts = {id(d) for d in on_host} - {id(d) for d in on_device}
        self._chosen = {id(d): d for d in [*on_device, *on_host]} if not is_empty else {}
        self._others = others
        given = scanner.given_paths
        self._own = [d for d in declarations if d.head[0].file not in given]
        self._add_called(on_device)
        self._drop_unknown(roots, starts)
        self.needed = [d for d in self._own if id(d) in self._chosen]
        known = self._known_now()
        self.left_out = {id(t) for d in self.needed if id(d) not in self._hosts for t in self._unneeded(d, known)}
        self.printed = [d for d in self._own if id(d) in self._chosen or self.needed and d.is_directive and
                        self._is_valid(d, known)]

    def _known_now(self):
        return Known(self._scanner, list(self._chosen.values()), self._own)

    def _add_called(self, on_device):
        """Adds the host functions that device code calls under conditions such as #ifndef __CUDA_ARCH__."""
        named = {}
        for declaration in self._others:
            if declaration.function is not None:
                named.setdefault(declaration.name, []).append(declaration)
        classes = {name for d in on_device if d.is_class for name in d.names}
        called, names = {}, named.keys() - classes
        for declaration in on_device:
            for name in _list_calls(declaration) & names:
                if not any(d.is_on_device for d in named[name]):
                    called.update({id(d): d for d in named[name]})
        if not called:
            return
        for declaration in find_reachable(list(called.values()), _without_host_operators(self._others),
                                          tokens_of=all_tokens):
            if id(declaration) not in self._chosen:
                self._chosen[id(declaration)] = declaration
                self._hosts.add(id(declaration))

    def _drop_unknown(self, roots, starts):
        """Leaves out host functions, types and variables that would not compile. They were chosen by name alone: device
        code means other things that have these names."""
        fixed = {id(d) for d in roots} | {id(d) for d in starts if d.function is not None}
        fixed |= {key for key, d in self._chosen.items() if d.function is None and any(map(d.has, _DATA))}
        while True:
            known = self._known_now()
            gone = [key for key, d in self._chosen.items() if key not in fixed and not d.is_class and
                    (d.function is None or not d.is_on_device) and not known.has_all(all_tokens(d), d.names)]
            gone += [key for key, d in self._chosen.items() if key not in fixed and key not in gone and
                     d.function is not None and not d.is_on_device and not _is_plain(all_tokens(d))]
            if not gone:
                return
            for key in gone:
                del self._chosen[key]

    @staticmethod
    def _unneeded(declaration, known):
        """Yields the tokens of each host function in a class that would not compile."""
        for first, end in host_members(declaration):
            tokens = declaration.body[first:end]
            if not _is_plain(tokens) or not known.has_all(tokens, {t.text for t in declaration.head}):
                yield from tokens

    def _is_valid(self, directive, known):
        """True if the copy knows all names in a using directive, a namespace alias or a static_assert."""
        words = [t.text for t in directive.head if t.kind == 'identifier']
        if words[0] == 'static_assert':
            return known.has_all(directive.head)
        return known.has_namespace(words[-1])


def _list_calls(declaration):
    """Returns the names that a function may call. The declaration of a variable may have the form of a call."""
    body = declaration.body or [] if declaration.function is not None else []
    return {token.text for before, token, after in zip([None, *body], body, body[1:])
            if token.kind == 'identifier' and after.text in ('(', '<') and (
                before is None or before.text not in ('.', '->') and (
                    before.kind != 'identifier' or before.text in ('return', 'else', 'case')))}


def _without_host_operators(declarations):
    return [d for d in declarations if d.name != 'operator' or d.is_on_device]


def _is_plain(tokens):
    """True if the tokens of host code contain only features that the CPU's copy allows."""
    texts = [t.text for t in tokens]
    return _FOREIGN.isdisjoint(texts) and not any(texts[at:at + 3] == ['<'] * 3 for at in range(len(texts) - 2))


def _may_be_on_device(declaration):
    """True if device code may use a declaration."""
    if declaration.function is not None:
        return declaration.is_on_device or declaration.body is None and declaration.has('->')
    first = declaration.head[0].text
    if declaration.is_class or first in ('typedef', 'using', 'struct', 'class', 'union', 'enum', 'template'):
        return True
    if declaration.has('const') and not any(declaration.has(word) for word in _DATA):
        return _is_number(declaration.head)
    return any(declaration.has(word) for word in _DATA)


def _is_number(head):
    """True if the head of a constant in host code may declare a number or an array of numbers. Device code can read no
    other constants of host code."""
    texts = [t.text for t in head]
    end = next((at for at, text in enumerate(texts) if text in ('=', '[', '(')), len(texts))
    return '<' not in texts[:end] and not any(
        texts[at:at + 2] == ['std', '::'] and not texts[at + 2].endswith('_t') for at in range(end - 2))


def _find_edits(declaration, is_kernel, outside, loop_edits, is_block=False):
    """Returns a map from the ids of a declaration's tokens to their new texts. `is_block`: the declaration is a kernel
    in the form that runs a block."""
    edits = {}
    if is_kernel:       # `inline` comes from the definition of __global__ in words.cuh
        edits.update((id(t), '') for t in declaration.head if t.text == 'inline')
    elif declaration.function is None and declaration.has('__constant__') and not any(
            declaration.has(w) for w in ('static', 'extern', 'const', 'constexpr', 'template')):
        place = _behind_attributes(declaration.head)
        edits[id(place)] = 'static ' + place.text
    edits.update((id(token), text) for token, text in loop_edits)
    if outside.is_one(declaration):
        edits.update((id(token), text) for token, text in outside.edits(declaration))
        return edits
    edits.update((id(token), text) for token, text in find_edits(declaration.body or [], is_block))
    edits.update((id(token), text) for token, text in find_assembly_edits(declaration.body or []))
    references = '' if is_block else outside.references(declaration)
    if is_kernel and declaration.last_return is not None:
        edits[id(declaration.last_return)] = 'CF__END return'
    if declaration.function is not None and declaration.body and (references or is_kernel):
        first, last = declaration.body[0], declaration.last
        if references:
            edits[id(first)] = f'{references.lstrip()} {{ {edits.get(id(first), first.text)}'
        edits[id(last)] = ('CF__END ' if is_kernel else '') + last.text + ('}' if references else '')
    return edits


def _behind_attributes(head):
    """Returns the first token of a variable's type, since `static` must not precede alignas(...)."""
    return next((t for t in without_attributes(head) if t.kind == 'identifier'), head[0])


def _uses_heap(declarations):
    """True if device code contains words for which the compiler calls functions of the C++ library."""
    return any(token.text in _HEAP and token.kind == 'identifier' for d in declarations for token in body_tokens(d))


class _Writer:
    """Writes tokens at the lines of the source, and at its columns unless a macro moved them."""

    def __init__(self, markers, edits, left_out):
        self._markers, self._edits, self._left_out = markers, edits, left_out
        self._parts, self._openings = [], ()
        self._file, self._line, self._column = None, 0, 0
        self._is_again = False

    def text(self):
        return ''.join(self._parts) + '\n'

    def enter(self, openings):
        """Writes the ends of namespaces and linkage blocks, and the beginnings of those around the next declaration."""
        common = 0
        for a, b in zip(self._openings, openings):
            if a is not b:
                break
            common += 1
        if len(self._openings) > common:
            self._put(' ' + '}' * (len(self._openings) - common))
        for opening in openings[common:]:
            self.write(t for t in opening if isinstance(t, Token))
        self._openings = openings

    def write_pragmas(self, items):
        """Writes the directives between two declarations, since they may concern later declarations."""
        for item in items:
            for line in item.pragmas if isinstance(item, Token) else ():
                self._put_pragma(line)

    def write(self, tokens):
        is_first, is_apart = True, True
        for token in tokens:
            if id(token) in self._left_out:
                is_apart = True
                continue
            if token.pragmas and not is_first and not self._is_again:
                for line in token.pragmas:
                    self._put_pragma(line)
            self._move(token, is_apart or not token.joined)
            is_first = is_apart = False
            self._put(self._edits.get(id(token), token.text))

    def write_again(self, tokens, edits):
        """Writes a second form of a declaration as text of a system header, so that compilers warn only once of its
        code."""
        self._file, first, self._edits, self._is_again = None, self._edits, edits, True
        self.write(tokens)
        self._file, self._edits, self._is_again = None, first, False

    def _put(self, text):
        self._parts.append(text)
        lines = text.count('\n')
        self._line += lines
        self._column = len(text) - text.rindex('\n') - 1 if lines else self._column + len(text)

    def _put_pragma(self, line):
        self._put(('\n' if self._column else '') + line + '\n')
        self._file = None

    def _move(self, token, is_apart):
        """Writes line ends and spaces up to the line and the column of a token."""
        ahead = token.line - self._line
        if token.file != self._file or ahead < 0 or ahead > _MOST_LINES:
            marker = self._markers[token.file]
            marker += ' 3' * (self._is_again and not marker.endswith(' 3'))
            self._put(('\n' if self._column else '') + f'# {token.line} {marker}\n')
            self._file, self._line = token.file, token.line
        elif ahead:
            self._put('\n' * ahead)
        if self._column == 0 or is_apart:
            gap = token.column - 1 - self._column
            self._put(' ' * max(gap, self._column > 0))
