"""test_trace.py - checks the trace of a program with several threads as a viewer reads it: rows, nesting, times, arrows
and counts.

usage: test_trace.py BUILDDIR
The environment decides the driver, as for any program.
"""

import collections
import json
import os
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../../support'))
from tap import Tap, run

DEVICES = 100000000  # the process numbers of devices begin here
KERNEL = 'cf_gather_f32_i32'
COPIED = 8000  # bytes of an array of N elements, see trace_fixture.h
EPSILON = 0.0015  # times are rounded to nanoseconds


def host_spans(events):
    return [e for e in events if e['ph'] == 'X' and e['pid'] < DEVICES]


def device_spans(events):
    return [e for e in events if e['ph'] == 'X' and e['pid'] >= DEVICES]


def rows(spans, key):
    found = collections.defaultdict(list)
    for span in spans:
        found[span['pid'], span['tid']].append(span)
    for row in found.values():
        row.sort(key=key)
    return found


def outer_first(span):
    return span['ts'], -span['dur']


def in_turn(span):
    """A sort key. If two spans begin at the same time, the empty one comes first."""
    return span['ts'], span['dur']


def check_form(events):
    needed = {'X': {'ts', 'dur', 'cat'}, 'M': {'args'}, 's': {'ts', 'id', 'cat'}, 'f': {'ts', 'id', 'cat', 'bp'},
              'i': {'ts', 's'}}
    for event in events:
        missing = ({'ph', 'pid', 'tid', 'name'} | needed[event['ph']]) - set(event)
        if missing:
            return f'{event} lacks {missing}'
        if event.get('dur', 0) < 0 or event.get('ts', 0) < 0:
            return f'{event} has a negative time'
    for key in ('ts', 'dur'):
        if not any(event.get(key) for event in events):
            return f'every {key} is 0'
    return ''


def check_names(events):
    """Each process has a name, and so does each row with spans."""
    processes = {e['pid'] for e in events if e['ph'] == 'M' and e['name'] == 'process_name'}
    threads = {(e['pid'], e['tid']) for e in events if e['ph'] == 'M' and e['name'] == 'thread_name'}
    for span in events:
        if span['ph'] == 'X' and (span['pid'] not in processes or (span['pid'], span['tid']) not in threads):
            return f'{span} is in a row without a name'
    return ''


def check_nesting(events):
    for row in rows(host_spans(events), outer_first).values():
        open_spans = []
        for span in row:
            while open_spans and span['ts'] >= open_spans[-1]['ts'] + open_spans[-1]['dur'] - EPSILON:
                open_spans.pop()
            if open_spans and span['ts'] + span['dur'] > open_spans[-1]['ts'] + open_spans[-1]['dur'] + EPSILON:
                return f'{span}\noverlaps\n{open_spans[-1]}'
            open_spans.append(span)
    for row in rows(device_spans(events), in_turn).values():
        for before, after in zip(row, row[1:]):
            if after['ts'] < before['ts'] + before['dur'] - EPSILON:
                return f'{after}\nbegins before the end of\n{before}'
    return ''


def at(spans, end):
    """Returns the spans at one end of an arrow."""
    return [e for e in spans[end['pid'], end['tid']] if e['ts'] - EPSILON <= end['ts'] <= e['ts'] + e['dur'] + EPSILON]


def check_arrows(events):
    """An arrow leads to each span on a device, from the call that enqueued the work; that call began before the
    span."""
    starts = {e['id']: e for e in events if e['ph'] == 's'}
    finishes = {e['id']: e for e in events if e['ph'] == 'f'}
    if set(starts) != set(finishes) or len(finishes) != len(device_spans(events)):
        return f'{len(starts)} starts, {len(finishes)} finishes, {len(device_spans(events))} spans of devices'
    spans = rows([e for e in events if e['ph'] == 'X'], in_turn)
    for number, start in starts.items():
        finish = finishes[number]
        names = {e['name'] for e in at(spans, start)} & {e['name'] for e in at(spans, finish)}
        if not names:
            return f'{start}\nand\n{finish}\nare of different calls'
        if finish['ts'] < start['ts'] - EPSILON:
            return f'{finish}\nlies before\n{start}'
    last = max(e['ts'] + e['dur'] for e in host_spans(events))
    for span in device_spans(events):
        if span['ts'] + span['dur'] > last + EPSILON:
            return f'{span}\nends after all else'
    return ''


def check_order(events):
    """The spans of a stream are in the order of the calls: a kernel, a copy, a fill, and so on."""
    for row in rows(device_spans(events), in_turn).values():
        categories = [e['cat'] for e in row if e['cat'] == 'kernel' or e['args'].get('bytes') in (100, COPIED)]
        if len(categories) >= 30:
            for i, category in enumerate(categories[:30]):
                if i >= 3 and category != categories[i - 3]:
                    return f'{categories[:30]}'
    return ''


def check_plans(events, is_cuda):
    plans = [e['args']['plan'] for e in events if e.get('cat') == 'call']
    expected = 'on device 0, 8388608 bytes copied in and 4194304 out' if is_cuda else 'on the CPU, '
    if not plans or not plans[-1].startswith(f'{KERNEL}: {expected}'):
        return f'{plans}, where {expected} was expected'
    return ''


def check_counts(events, is_cuda):
    wanted = {('kernel', KERNEL): 102, ('load', KERNEL): 1, ('call', KERNEL): 2}
    if is_cuda:
        wanted['kernel', KERNEL] = wanted['launch', KERNEL] = 109 # one call is split into eight chunks
        wanted['stage', 'stage in'] = wanted['stage', 'stage in chunks'] = 1
    found = collections.Counter((e['cat'], e['name']) for e in events if e['ph'] == 'X')
    for key, count in wanted.items():
        if found[key] != count:
            return f'{key}: {found[key]} and not {count}'
    sides = [host_spans(events)] + ([device_spans(events)] if is_cuda else [])
    for side in sides:
        copies = sum(e['cat'] == 'copy' and e['args']['bytes'] == COPIED for e in side)
        fills = sum(e['cat'] == 'fill' and e['args']['bytes'] == 100 for e in side)
        if fills != 100 or copies < 100:
            return f'{copies} copies and {fills} fills'
    if len({e['tid'] for e in host_spans(events) if e['cat'] == 'fill' and e['args']['bytes'] == 100}) != 4:
        return 'not four threads with fills'
    return ''


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split('usage: ', 1)[1].splitlines()[0])
    os.environ['CF_HOST_DATA'] = 'stage'
    program = os.path.join(sys.argv[1], 'tests', 'test_trace')
    is_cuda = os.environ.get('CF_DRIVER') == 'cuda'
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'trace "1".json')
        code, out, _ = run([program, 'work', path])
        if code == 77:
            tap.skip('trace', out.strip())
            return tap.close()
        tap.check('the program succeeds', '' if code == 0 else f'exit {code}: {out}')
        try:
            with open(path, encoding='utf-8') as file:
                events = json.load(file)
        except (OSError, ValueError) as error:
            tap.check('the trace is JSON', str(error))
            return tap.close()
    for check in (check_form, check_names, check_nesting, check_arrows, check_order):
        tap.check(check.__name__.replace('check_', 'trace: '), check(events))
    tap.check('trace: plans', check_plans(events, is_cuda))
    tap.check('trace: counts', check_counts(events, is_cuda))
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
