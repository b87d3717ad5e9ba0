"""Makes the clauses of a kernel's first annotation from its launches and from the walk over its body."""

import re

from base.bounds import MAX_ARRAY_DIMS
from cpu.dynamicmem import Dynamic
from expr.cxxtypes import UNREADABLE
from expr.plain import spell_tree
from expr.tree import Node
from suggest.accesses import Extent
from suggest.instances import Instances, tag_of
from suggest.ranges import AXES, Ranges, Size
from suggest.sizes import count_elements, LaunchReader
from suggest.sums import constant, read_sum, replace_factors
from suggest.terms import named, Terms
from suggest.walk import Walk


class Proposal:
    """A proposed annotation. `clauses` and `instances`: the texts after `#pragma cf`, '' for no instances. `launch`:
    the token of the launch that they describe, or None; `others`: the tokens of launches with other sizes."""

    def __init__(self, kernel, clauses, instances, launch, others):
        self.kernel, self.clauses, self.instances = kernel, clauses, instances
        self.launch, self.others = launch, others
        self.copy, self.inserted = '', None     # a file with this annotation alone: its path, and insert()'s pair


class Proposer:
    """Proposes annotations for kernels of one file. `launches` and `types`: those of the file; `macros`: maps the name
    of a macro to the line of its definition and its value."""

    def __init__(self, declarations, launches, types, macros):
        self.macros = macros
        self._terms, self._launches, self._types = Terms(declarations), launches, types
        self._dynamic, self._instances = Dynamic(declarations), Instances(declarations, types)

    def propose(self, kernel, name):
        """Returns the Proposal for a kernel. `name`: the text of a name clause, or ''."""
        return _Kernel(self, kernel).propose(name)

    def launches_of(self, kernel):
        count = len(kernel.params)
        return [launch for launch in self._launches if launch.name == kernel.token.text and
                (launch.arguments is None or len(launch.arguments) == count)]

    terms = property(lambda self: self._terms)
    types = property(lambda self: self._types)
    dynamic = property(lambda self: self._dynamic)
    instances = property(lambda self: self._instances)


class _Rule:
    """The launch rule of one launch, as sums; None for unknown ones. `grid`: the tokens of a grid that is no sum, or
    None."""

    def __init__(self, size, shared, hosts, launch):
        self.size, self.shared, self.hosts, self.launch = size, shared, hosts, launch
        self.counts_elements, self.grid = bool(size.counts), launch and launch.grid

    blocks = property(lambda self: [self.size.blocks.get(axis) for axis in AXES])
    block = property(lambda self: [self.size.block.get(axis) for axis in AXES])

    @property
    def key(self):
        return [str(s) for s in [*self.blocks, *self.block, self.shared, *self.size.counts.values()]]


class _Kernel:
    def __init__(self, file, kernel):
        self._file, self._kernel = file, kernel
        self._params = {p.token.text: p for p in kernel.params}
        self._added = {}        # name of a parameter that the kernel lacks: words of its type
        self._hosts = {}

    def propose(self, name):
        launches = self._file.launches_of(self._kernel)
        rules = [self._rule(launch) for launch in launches]
        rule = max(rules, key=self._count_known, default=None) or self._without_launch()
        others = [other.launch.token for other in rules if other.key != rule.key]
        self._hosts = rule.hosts
        walk, ranges = self._walk(rule.size)
        if self._use_guards(rule, walk.conditions):
            walk, ranges = self._walk(rule.size)
        clauses = [f'name({name})'] if name else []
        clauses += self._launch_clauses(rule)
        clauses += self._array_clauses(walk)
        checks = [*self._whole_blocks(rule, ranges), *self._small_blocks(rule, walk.conditions)]
        clauses += [f'check({", ".join(dict.fromkeys(checks))})'] if checks else []
        if self._added:
            added = ', '.join(f'{" ".join(words)} {text}' for text, words in self._added.items())
            clauses.append(f'param({added})')
        if rule.launch and rule.launch.is_cooperative:
            clauses.append('cooperative')
        token = rule.launch and rule.launch.token
        return Proposal(self._kernel, clauses, self._instance_texts(launches), token, others)

    # ---- The launch

    def _rule(self, launch):
        constants = self._template_values(launch)
        reader = LaunchReader(self._file.terms, self._file.types, self._kernel, launch, constants)
        blocks, block = reader.dimensions(launch.grid), reader.dimensions(launch.block)
        shared = reader.size(launch.shared) if launch.shared else constant(0)
        size = Size()
        for axis, grid, threads in zip(AXES, blocks, block):
            count = None if threads is not None and threads.value == 1 else count_elements(grid, threads)
            threads = None if threads is None else replace_factors(_with_names(threads, constants), lambda t: None)
            size.set_axis(axis, count, threads)
            if count is not None:
                size.rounded.add(axis)
            elif grid is not None:
                size.blocks[axis] = grid
        return _Rule(size, shared, reader.hosts, launch)

    def _template_values(self, launch):
        """Maps the integers among a launch's template arguments to the names of their parameters: launches may differ
        only in these."""
        values = {}
        for arguments in self._file.instances.find(self._kernel, launch)[:1]:
            for parameter, text in zip(self._kernel.template, arguments):
                if not parameter.is_type and text and text.isdigit() and int(text) > 1:
                    values.setdefault(int(text), parameter.name)
        return values

    def _count_known(self, rule):
        sums = [*rule.blocks, *rule.block, rule.shared]
        return sum(self._express(s, dry=True) is not None for s in sums), -len(rule.hosts)

    def _without_launch(self):
        return _Rule(Size(), None, {}, None)

    def _walk(self, size):
        ranges = Ranges(size)
        return Walk(self._file.terms, ranges, self._kernel), ranges

    def _use_guards(self, rule, conditions):
        """Takes the grid from the guards if no launch tells it, or if the launch has a constant, which only fits its
        own data. Returns True if the rule has changed."""
        guards, fixed = conditions.guards(), conditions.guards(with_loops=False)
        side = constant({1: 256, 2: 16}.get(len(guards), 8))
        is_free = not any(t.text == '__shared__' for t in self._kernel.declaration.body)
        if rule.launch is None:
            if not guards or {*AXES[:len(guards)], *conditions.used} != {*guards} or not all(
                    self._express(limit, dry=True) for limit in guards.values()):
                return False
            rule.counts_elements = True
            for axis in AXES:
                sides = side if axis in guards else constant(1)
                rule.size.set_axis(axis, guards.get(axis, constant(1)), sides if is_free else None)
            return True
        before = rule.key
        for axis, blocks, block in zip(AXES, rule.blocks, rule.block):
            is_fixed = self._is_fixed(blocks, {*self._params, *self._hosts})
            limit = (fixed if is_fixed else guards).get(axis)
            if self._express(limit, dry=True) is None:
                if is_fixed and axis in fixed:
                    rule.size.set_axis(axis, None, block)
                    rule.grid = None
            elif is_fixed and block and is_free and not self._is_fixed(block, self._params):
                rule.size.set_axis(axis, limit, side)
            elif is_fixed and limit != block or self._express(blocks, dry=True) is None:
                rule.size.set_axis(axis, limit, block)
        rule.counts_elements |= bool(rule.size.counts)
        return rule.key != before

    def _launch_clauses(self, rule):
        counts = []
        for axis, blocks, block in zip(AXES, rule.blocks, rule.block):
            count = rule.size.counts.get(axis)
            if count is None and None not in (blocks, block) and (block.value == 1 or blocks.value is not None):
                count = blocks * block
            counts.append(count)
        is_counted = rule.counts_elements and None not in counts
        sizes = counts if is_counted else rule.blocks
        grid = self._list('grid' if is_counted else 'blocks', sizes, rule.grid, 'blocks' if rule.launch else 'threads')
        if not is_counted and not rule.launch:
            grid = 'grid(/* threads? */)'
        clauses = [grid]
        if rule.launch or rule.block[0] is None and rule.counts_elements or rule.block[1] is not None and (
                rule.block[1].value != 1):
            clauses.append(self._list('block', rule.block, rule.launch.block if rule.launch else None, 'threads'))
        dynamic = self._file.dynamic.first(self._kernel.declaration)
        if rule.shared is None or rule.shared.value != 0 or dynamic:
            text = self._express(rule.shared) if rule.launch else None
            if dynamic or rule.launch:
                clauses.append(f'shared({text or _blank(rule.launch.shared if rule.launch else None, "bytes")})')
        return clauses

    def _list(self, clause, sums, tokens, what):
        """Returns the text of a clause with up to three sizes; sizes of 1 at its end are left out."""
        while len(sums) > 1 and sums[-1] is not None and sums[-1].value == 1:
            sums = sums[:-1]
        if all(s is None for s in sums):
            return f'{clause}({_blank(tokens, what)})'
        texts = [(None if s is None else self._express(s)) or _blank(None, what if s is None else str(s)) for s in sums]
        return f'{clause}({", ".join(texts)})'

    def _whole_blocks(self, rule, ranges):
        """Yields checks that sizes are multiples of the block, which a kernel without a guard needs."""
        for axis in AXES:
            if axis in ranges.used and axis in rule.size.rounded:
                total, block = self._express(rule.size.counts[axis]), self._express(rule.size.block[axis])
                if total and block:
                    total = total if len(rule.size.counts[axis].terms) == 1 else f'({total})'
                    yield f'{total} % {block} == 0'

    def _small_blocks(self, rule, conditions):
        """Yields checks that a block has the threads that a guard of threadIdx lets pass, if the launch has a
        number."""
        for axis, limit in conditions.thread_limits:
            block, text = rule.size.block.get(axis), self._express(limit, dry=True)
            if rule.launch and text and self._is_fixed(block, self._params) and not self._is_fixed(limit, self._params):
                yield f'{text} <= {self._express(block)}'

    # ---- Arrays

    def _array_clauses(self, walk):
        arrays, pitches, resident = {'in': [], 'inout': []}, [], []
        for param in self._kernel.params:
            if not param.pointer:
                continue
            name = param.token.text
            if param.words == ['void'] or len(param.pointers) > 1:
                resident.append(name)
                continue
            found = walk.extent(name)
            if found and len(found.dimensions) > MAX_ARRAY_DIMS:
                found = Extent(found.elements, [found.elements], [])
            texts = [self._express(s) for s in found.dimensions] if found else [None]
            gaps = [self._express(s) for s in found.pitches] if found else []
            is_known = None not in texts + gaps
            least = None if is_known else walk.least(name)
            # A sum of several terms may be larger than the elements that are reached.
            is_tight = least is not None and (least.value is not None or least.product is not None)
            least = self._express(least, dry=True) if is_tight else None
            arrays['in' if param.const else 'inout'].append(name + (
                ''.join(f'[{text}]' for text in texts) if is_known else
                f'[/* elements? at least {least} */]' if least else '[/* elements? */]'))
            if is_known and gaps:
                pitches.append(f'{name}: {", ".join(gaps)}')
        clauses = [f'{direction}({", ".join(sections)})' for direction, sections in arrays.items() if sections]
        clauses += [f'pitch({"; ".join(pitches)})'] if pitches else []
        return clauses + ([f'resident({", ".join(resident)})'] if resident else [])

    # ---- Expressions

    def _express(self, total, dry=False):
        """Returns the text of a sum; None if it has names that an annotation does not know. `dry`: adds no
        parameters."""
        if total is None:
            return None
        total = replace_factors(total, self._late_macro)
        added = {}
        if not all(self._is_known(tree, added) for tree in total.factors.values()):
            return None
        if not dry:
            self._added.update(added)
        return str(total)

    @staticmethod
    def _is_fixed(total, names):
        """True if a sum has none of the names, whose values callers choose."""
        return total is not None and not set(re.findall(r'\w+', str(total))) & set(names)

    def _late_macro(self, tree):
        """Returns the value of a macro that is defined below the kernel, where its annotation cannot expand it."""
        line, value = self._file.macros.get(spell_tree(tree), (0, 0))
        return constant(value) if line > self._kernel.declaration.head[0].line else None

    def _is_known(self, tree, added):
        kind, text = tree.kind, spell_tree(tree)
        if kind == 'NUMBER':
            return read_sum(tree).value is not None     # no real number
        if kind in ('SIZEOF', 'IS_INTEGRAL'):
            return kind != 'SIZEOF' or self._is_known_type(tree.parts[0], tree.parts[1])
        if kind == 'MEMBER':
            param = self._params.get(tree.parts[0])
            # C sees an instance of a class template only as bytes, without members.
            return param is not None and not param.pointer and not any('<' in word for word in param.words)
        if kind == 'NAME':
            return self._is_known_name(text, added)
        parts = tree.parts[0] if kind == 'CHAIN' else tree.parts
        return all(self._is_known(part, added) for part in parts if isinstance(part, Node))

    def _is_known_name(self, text, added):
        param = self._params.get(text)
        if param is not None:
            if param.pointer:
                return False
            if any(param.words == [t.name] for t in self._kernel.template):
                return True
            ctype = self._file.types.find(self._kernel.scope, param.words)
            return ctype is not None and not isinstance(ctype, str) and ctype.integer
        if any(p.name == text and not p.is_type for p in self._kernel.template):
            return True
        value = self._file.types.constant(self._kernel.scope, text)
        if value is not None and value is not UNREADABLE:
            return True
        words = self._hosts.get(text)
        if words:
            added[text] = words
            return True
        return False

    def _is_known_type(self, words, stars):
        ctype = self._file.types.find(self._kernel.scope, words)
        return bool(stars) or any(words == [p.name] for p in self._kernel.template) or (
            ctype is not None and not isinstance(ctype, str))

    # ---- Instances

    def _instance_texts(self, launches):
        if not self._kernel.template:
            return ''
        found = []
        for launch in launches:
            for arguments in self._file.instances.find(self._kernel, launch):
                if arguments not in found and None not in arguments:
                    found.append(arguments)
        tags, texts = set(), []
        for arguments in found:
            tag = tag_of(self._kernel, arguments, self._file.types, self._kernel.scope)
            while tag in tags:
                tag += '_2'
            tags.add(tag)
            texts.append(f'{tag}: {", ".join(arguments)}')
        if not texts:
            return 'instances(/* tag: ' + ', '.join(p.name for p in self._kernel.template) + '? */)'
        return f'instances({"; ".join(texts)})'


def _with_names(total, constants):
    """Returns a sum, or the name of a template constant that has the same value."""
    return named(constants[total.value]) if total.value in constants else total


def _blank(tokens, what):
    """Returns a comment in place of an expression that cannot be in an annotation."""
    if tokens:
        what = ''.join((' ' if i and t.column > tokens[i - 1].column + len(tokens[i - 1].text) else '') + t.text
                       for i, t in enumerate(tokens))
    return f'/* {what.replace("*/", "* /").rstrip("?")}? */'
