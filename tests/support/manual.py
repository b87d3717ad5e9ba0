"""manual.py - reads manual pages as text and compares them with --help: synopses, options and operands must agree."""

import glob
import os
import re

from tap import ROOT, read


def spell_roff(text):
    """Returns lines of roff as plain text, without macros and fonts."""
    return '\n'.join(map(_spell_line, text.split('\n')))


def _spell_line(line):
    macro, _, rest = line.partition(' ')
    if re.fullmatch(r'\.[A-Z]+', macro):
        words = [quoted or word for quoted, word in re.findall(r'"([^"]*)"|(\S+)', rest)]
        line = (' ' if macro in ('.B', '.I') else '').join(words)
    return re.sub(r'\\f.|\\c', '', line).replace('\\-', '-')


def section(page, name):
    return re.search(rf'^\.SH {name}\n(.*?)(?=^\.SH |\Z)', page, re.MULTILINE | re.DOTALL)[1]


def manual_problem(program, helped):
    """Compares the manual page of a program with its --help; returns what only one of them contains."""
    page = read(glob.glob(os.path.join(ROOT, 'tools', '*', f'{program}.1'))[0])
    synopses = [re.sub(r'\s+', ' ', spell_roff(text)).strip() for text in section(page, 'SYNOPSIS').split('.br\n')]
    tags = spell_roff('\n'.join(re.findall(r'^\.TP\n(.*)', page.partition('.SH DESCRIPTION')[2], re.MULTILINE)))
    usage = [line[len('usage: '):] for line in helped.partition('\n\n')[0].split('\n')]
    heads = '\n'.join(re.findall(r'^  (\S.*?)(?:  .*)?$', helped, re.MULTILINE))
    wrong = set(synopses) ^ set(usage) | _list_options(tags) ^ _list_options(heads)
    return ', '.join(sorted(wrong)) or ('' if heads else '--help has no options')


def _list_options(heads):
    """Returns the options and operands in lines; it does not matter how a value is separated from its option."""
    found = re.split(r'\n|, (?=-|NAME)', heads)
    return {re.sub(r'[] =[]', '', head) for head in found if re.match('-|NAME=', head)}
