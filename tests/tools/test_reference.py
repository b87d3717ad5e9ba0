"""test_reference.py - builds the API reference, which must cause no warnings and describe each public function.

usage: test_reference.py BUILD_FOLDER
"""

import html
import os
import re
import shutil
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import ROOT, Tap, run


def text_of(page):
    return re.sub(r'\s+', ' ', html.unescape(re.sub(r'<[^>]+>', ' ', page)))


def undocumented(folder, header):
    """Returns the functions of a header whose text in the reference differs from the header's comment."""
    with open(os.path.join(ROOT, 'include', header), encoding='utf-8') as file:
        functions = re.findall(r'^(?!typedef)(?:CF_CHECKED )?[\w ]+[ *](cf_\w+)\(', file.read(), re.MULTILINE)
    name = re.sub(r'[/.]', lambda found: {'.': '_8', '/': '_2'}[found[0]], os.path.basename(header)) + '.html'
    with open(os.path.join(folder, 'html', name), encoding='utf-8') as file:
        details = text_of(file.read().partition('Function Documentation')[2])
    assert functions, header
    return [function for function in functions
            if not re.search(rf'\b{function} ?\([^◆]{{0,700}}?\) [^◆]*\w{{3,}} [^◆]*\.', details)]


def main():
    tap = Tap()
    if not shutil.which('doxygen'):
        tap.skip('reference_has_no_warnings', 'needs doxygen')
        return tap.close()
    with tempfile.TemporaryDirectory() as folder:
        code, out, err = run([sys.executable, os.path.join(ROOT, 'tools', 'dev', 'reference'), folder])
        tap.check('reference_has_no_warnings', f'exit {code}: {out}{err}' if code or out or err else '')
        for header in ('cuferry.h', 'cuferry/find.h', 'cuferry/mpi.h', 'cuferry/program.h', 'cuferry/tuning.h'):
            lost = undocumented(folder, header)
            tap.check(f'reference_has_the_text_of_each_function_of_{os.path.basename(header)}', ', '.join(lost))
        with open(os.path.join(folder, 'html', 'cuferry_8h.html'), encoding='utf-8') as file:
            statuses = text_of(file.read())
        lost = [name for name in ('CF_ERANGE', 'CF_PROPERTY_WARP_SIZE') if name not in statuses]
        tap.check('reference_has_the_values_of_lists', ', '.join(lost))
    return tap.close()


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main())
