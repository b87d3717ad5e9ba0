"""Reads PTX."""

import re

from image.facts import Entry, Facts, ImageError

_IGNORED = re.compile(r'//[^\n]*|/\*.*?\*/|"[^"]*"', re.DOTALL)
_TARGET = re.compile(r'\.target\s+sm_([0-9]{2,3}[af]?)\b')
_ENTRY = re.compile(r'\.entry\s+([A-Za-z_$%][\w$%]*)\s*(?:\(([^()]*)\))?([^{;]*)[{;]', re.ASCII)
_PARAM = re.compile(r'\.param\s+(?:\.align\s+\d+\s+)?\.([a-z]+)(\d{1,9})\s+(\.ptr\b[^,\[]*?\s)?\s*[\w$%]+\s*'
                    r'(?:\[\s*(\d{1,9})\s*\])?', re.ASCII)
_BLOCK = re.compile(r'\.reqntid\s+(\d{1,9})(?:\s*,\s*(\d{1,9}))?(?:\s*,\s*(\d{1,9}))?\b', re.ASCII)


def read_ptx(text):
    """Returns the facts of PTX. Raises ImageError."""
    if re.search(r'[\0-\x08\x0e-\x1f]', text):
        raise ImageError('is damaged: it has bytes that are no text')
    text = _IGNORED.sub(' ', text)
    if not re.match(r'\s*\.version\s+\d+\.\d', text):
        raise ImageError('is no PTX: it begins without a .version')
    if '/*' in text or '"' in text:
        raise ImageError('is cut off: a comment or a string has no end')
    target = _TARGET.search(text)
    if not target or len(_TARGET.findall(text)) != len(re.findall(r'\.target\b', text)):
        raise ImageError('is cut off: it has no .target such as sm_90')
    _check_braces(text)
    found = _ENTRY.findall(text)
    if len(found) != len(re.findall(r'\.entry\b', text)):
        raise ImageError('is cut off or damaged: it has a kernel without a body')
    entries = {name: _read_entry(name, params, directives) for name, params, directives in found}
    return Facts((), (target[1],), entries)


def _check_braces(text):
    depth = 0
    for brace in re.findall('[{}]', text):
        depth += 1 if brace == '{' else -1
        if depth < 0:
            raise ImageError('is damaged: it has a } without a {')
    if depth:
        raise ImageError('is cut off: its braces do not close')


def _read_entry(name, params, directives):
    sizes, types = [], []
    for param in params.split(',') if params.strip() else []:
        found = _PARAM.fullmatch(param.strip())
        if not found:
            raise ImageError(f"is damaged: {name} has no parameter '{' '.join(param.split())}'")
        sizes.append(int(found[2]) // 8 * int(found[4] or 1))
        types.append('ptr' if found[3] else found[1] + found[2])
    block = _BLOCK.search(directives)
    return Entry(tuple(sizes), tuple(types), tuple(int(n or 1) for n in block.groups()) if block else ())
