"""verified.py - runs the kernels of suggested annotations on the CPU, with random numbers and under the check of
addresses, by cf-run."""

import json
import os
import re
import sys

from failure import Failure, Refused

RUNS = 20


def verify(options, config, runner, copies):
    """Prints for each suggestion whether runs confirm it. Returns the exit status: 1 if a run refutes one. `copies`:
    the folder that the generator wrote."""
    program = os.path.join(os.path.dirname(config.program), 'cf-run')
    if not os.access(program, os.X_OK):
        raise Failure(f'--verify runs the kernels by cf-run, and there is no {program}; build it, too')
    with open(os.path.join(copies, 'index.json'), encoding='utf-8') as file:
        entries = json.load(file)
    complete = [entry for entry in entries if entry['copy']]
    builds = [runner.start(_build(entry, options, config)) for entry in complete]
    runs = []
    for entry, build in zip(complete, builds):
        try:
            build.result()
            runs.append(runner.start([program, '--module', _object(entry), '--check', 'address', '--cxx', options.cxx,
                                      '--verify', '--all', '--repeat', str(RUNS), entry['name']]))
        except Refused as error:
            runs.append(error)
    results = {entry['copy']: _judge(entry, run) for entry, run in zip(complete, runs)}
    status = 0
    for entry in entries:
        is_good, text = results.get(entry['copy'], (True, 'not run: a comment stands for a part of it'))
        status |= not is_good
        print(f"{entry['place']}: {entry['name']}: {text}")
    return status


def _object(entry):
    return os.path.join(os.path.dirname(entry['copy']), 'suggested.o')


def _build(entry, options, config):
    """Returns the command that builds a copy. Its own headers are beside the original."""
    folders = [os.path.dirname(os.path.abspath(entry['original'])), *options.includes]
    return [sys.executable, config.program, '--cuda', 'no', '--prefix', 'suggested', '--cxx', options.cxx,
            *(f'-Xcxx={flag}' for flag in options.cxx_flags), *(f'-I{folder}' for folder in folders),
            *(f'-D{macro}' for macro in options.defines), '-o', _object(entry), entry['copy']]


def _judge(entry, run):
    """Returns (False if the suggestion is refuted or cannot be built, text about it)."""
    try:
        output = str(run) if isinstance(run, Refused) else run.result()
    except Refused as error:        # a failure of cf-run
        output = str(error)
    lines = [_in_original(entry, line) for line in output.split('\n')]
    found = [re.fullmatch(rf"({re.escape(entry['name'])}\w*) +(\d+|-)  (.*)", line) for line in lines]
    outcomes = [(int(match[2]) if match[2] != '-' else 0, match[3]) for match in found if match]
    if outcomes and all(runs for runs, _ in outcomes) and not any(text.startswith('FAILED') for _, text in outcomes):
        fewest = min(runs for runs, _ in outcomes)
        return True, f"confirmed by {fewest} run{'s' if fewest > 1 else ''}"
    finding = next((line for line in lines if re.search(r'^\S+:\d+: .*; thread \(', line)), '')
    failed = next((text for _, text in outcomes if text.startswith('FAILED')), '')
    if finding or failed:
        return False, f'refuted: {finding or failed[len("FAILED: "):]}'
    reason = next((text for runs, text in outcomes if not runs), '') or next(
        (line for line in lines if ': error: ' in line), '') or next(filter(None, lines), 'no output')
    return not isinstance(run, Refused), reason if reason.startswith('not run: ') else f'not run: {reason}'


def _in_original(entry, line):
    """Returns a line in which places of the copy become places of the file as it is now."""
    at, count = entry['inserted']

    def place(match):
        number = int(match[1])
        number -= count if number >= at + count else min(count, max(number - at, 0))
        number += sum(more for begin, more in entry['written'] if begin <= number)
        return f"{entry['place'].rsplit(':', 1)[0]}:{number}"
    return re.sub(rf"(?<![^\s(])\S*{re.escape(os.path.basename(entry['copy']))}:(\d+)", place, line)
