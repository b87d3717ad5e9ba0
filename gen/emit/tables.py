"""Writes the constant tables of a stub. A table that several descriptors share is written once, under a name."""

from collections import Counter

from base.text import fold, WIDTH

_CONTINUED = ' \\'      # end of a macro line that continues
_SHORT = 80             # arrays of fewer characters are written in place


class Tables:
    """The arrays of one stub. The stub is rendered twice, and the first rendering counts the uses of each array."""

    def __init__(self):
        self._counts, self._names, self._is_counting = Counter(), {}, True
        self._definitions = []

    def name_repeated(self):
        """Ends the first rendering: from now on, arrays that were used several times get names."""
        self._is_counting = False

    def write_array(self, ctype, values, write_entry, name):
        """Returns a constant array, by name if it is long and repeated. `write_entry` returns the text of a value."""
        key = ctype, values
        if key in self._names:
            return self._names[key]
        if self._is_counting:
            self._counts[key] += 1
            if self._counts[key] > 1:
                return ''
        entries = [write_entry(value) for value in values]
        text = f'(const {ctype}[]){{{", ".join(entries)}}}'
        if self._counts[key] < 2 or len(text) < _SHORT:
            return text
        self._names[key] = self._find_unused_name(f'cf__{name}')
        self._definitions.append(f'static const {ctype} {self._names[key]}[] = {{\n{flow_fields(entries, 4)}}};\n')
        return self._names[key]

    def _find_unused_name(self, name):
        taken, number = set(self._names.values()), 2
        found = name
        while found in taken:
            found, number = f'{name}__{number}', number + 1
        return found

    def take_definitions(self):
        """Returns the definitions of the arrays that were named since the last call."""
        taken, self._definitions = ''.join(self._definitions), []
        return taken


def find_common(rows):
    """Returns the fields that all rows share, in the order of the first row."""
    return [field for field in rows[0] if all(field in row for row in rows[1:])] if len(rows) > 1 else []


def without(fields, common):
    return [field for field in fields if field not in common]


def define_macro(name, fields):
    """Defines a macro for some fields of an initializer."""
    lines = flow_fields(fields, 4, _CONTINUED).rstrip(',\n').split('\n')
    text = [line if line.endswith(_CONTINUED) else line + _CONTINUED for line in [f'#define {name}', *lines[:-1]]]
    return '\n'.join(text + lines[-1:]) + '\n'


def flow_fields(fields, indent, end=''):
    """Returns fields of an initializer with as many on a line as fit; a field of several lines begins a new line."""
    pad, lines, current = ' ' * indent, [], ''
    for field in fields:
        if '\n' in field:
            lines += [current] * bool(current) + [f'{pad}{field},']
            current = ''
            continue
        longer = f'{current} {field},' if current else f'{pad}{field},'
        if len(longer) > WIDTH - len(end) and current:
            lines.append(current)
            longer = f'{pad}{field},'
        current = longer
    lines += [current] * bool(current)
    return ''.join(line + '\n' if '\n' in line else fold(line, indent + 4, end) + '\n' for line in lines)
