"""cfcc_record.py - tests of the record of an object, which says how it was built and which cfcc must not trust, because
anyone can have written it. Part of test_cfcc.py."""

import json
import os
import random
import shlex

from tap import NEEDS_NO_SANITIZER, run

SECTION = '.cuferry.build'

RANDOM_RECORDS = 300 if os.environ.get('CHECK_LONG') else 100

# Flags that cfcc must refuse when they are in an object's record.
FLAGS = (
    ['-fproc-stat-report=own'], ['-fxray-always-instrument=own'],
    ['-fplugin=./own.so'], ['-fplugin-arg-own-x=1'], ['-fpass-plugin=own'], ['-wrapper', 'sh,own.sh'], ['-B.'],
    ['-B', '.'],
    ['-specs=own'], ['--specs=own'], ['@own'], ['-Xclang', '-load', '-Xclang', 'own.so'], ['-include', 'own.h'],
    ['-imacros', 'own.h'], ['-mllvm', '-load=own.so'], ['-mllvm=-load=own.so'], ['-Wl,-plugin,own.so'], ['-Wa,@own'],
    ['-Wp,-MD,own'], ['-Xassembler', '@own'], ['-Xlinker', 'own'], ['-Xpreprocessor', 'own'], ['-fuse-ld=own'],
    ['-fdump-tree-all'], ['-fprofile-use=own'], ['-fmodule-mapper=own'], ['-fopt-info-all=own'], ['-o', 'own'],
    ['-x', 'c'], ['--sysroot=.'], ['--gcc-toolchain=.'], ['-iplugindir=.'], ['-save-temps'], ['-MF', 'own'], ['own.o'],
    ['-'], ['-I', '@own'], ['-D', '-fplugin=own'], ['-I'])
# Flags that cfcc must accept.
TAKEN = ['-DFACTOR=3', '-UOTHER', '-D', 'PLUGIN=-fplugin', '-I.', '-isystem', '.', '-iquote.', '-std=c++17', '-O1',
         '-g', '-m64',
         '-ggdb3', '-fno-trapping-math', '-ffp-contract=off', '-fmax-errors=3', '-Wno-unused', '-pthread',
         '-Wframe-larger-than=100000', '-mcmodel=small']


class RecordTest:
    def __init__(self, cfcc_test):
        self.test = cfcc_test
        self.marker = os.path.join(cfcc_test.folder, 'marker')

    def path(self, name):
        return os.path.join(self.test.folder, name)

    def put(self, text, name='bad.o'):
        """Writes an object with this record, which is text or bytes."""
        with open(self.path('record'), 'wb') as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        code, out, err = run([self.test.config['objcopy'], '--update-section', f'{SECTION}={self.path("record")}',
                              self.path('heat.o'), self.path(name)])
        assert code == 0, out + err

    def put_with(self, name='bad.o', **values):
        self.put(json.dumps(dict(self.record, **values)), name)

    def again(self, *words, path='bad.o', **environment):
        return self.test.compile('--check', 'poison', '--again', path, '-o', 'again.so', *words, cuda=None,
                                 XDG_CACHE_HOME=self.path('cache'), **environment)

    def again_of(self, names, *words):
        """Runs cfcc for each object; returns its exit code, and a list of its outputs. No shared object may be
        written."""
        results = [self.test.compile('--check', 'poison', *words, '-o', f'{name}.so', '--again', name, cuda=None,
                                     XDG_CACHE_HOME=self.path('cache')) for name in names]
        made = [name for name in names if os.path.exists(self.path(f'{name}.so'))]
        self.expect(f'makes_nothing_of_{names[0]}', not made, made)
        return [(code, out + err) for code, out, err in results]

    def expect(self, name, is_good, detail):
        is_good = is_good and not os.path.exists(self.marker) and not os.path.exists(self.path('again.so'))
        self.test.expect(f'cfcc_again_{name}', is_good, detail)

    def begin(self, kernel):
        self.test.fresh(heat=kernel)
        result = self.test.compile('heat.cu')
        assert result == (0, '', ''), result
        run([self.test.config['objcopy'], '--dump-section', f'{SECTION}=first', 'heat.o', 'copy.o'],
            cwd=self.test.folder)
        self.record = json.loads(self.test.read('first'))
        self.test.write('own.sh', f'touch {shlex.quote(self.marker)}\n')

    def damaged(self):
        known = self.record
        cases = (
            ('text_that_is_no_json', 'cxx: own', 'Expecting value'),
            ('bytes_that_are_no_text', b'\xff\xfe', 'codec can'),
            ('deep_lists', '[' * 100000, 'recursion'),
            ('much_text', ' ' * (1 << 20) + '\n{}', 'it has more than 1048576 bytes'),
            ('a_list', '[]', 'it is no JSON object'),
            ('another_key', dict(known, wrapper='own'), "'wrapper' is unknown"),
            ('a_key_less', {key: known[key] for key in known if key != 'cxx'}, "'cxx' is missing"),
            ('a_number', dict(known, cxx=5), "'cxx' is no text of 1 to 4096 characters"),
            ('a_text_for_a_list', dict(known, sources='heat.cu'), "'sources' is no list of at most 4096 texts"),
            ('a_list_of_lists', dict(known, defines=[['X']]), "'defines' is no text of"),
            ('a_long_list', dict(known, defines=['X'] * 4097), "'defines' is no list of at most 4096 texts"),
            ('a_long_text', dict(known, cxx='x' * 4097), "'cxx' is no text of"),
            ('an_empty_text', dict(known, includes=['']), "'includes' is no text of"),
            ('a_null', dict(known, folder='a\0b'), "'folder' holds a control character"),
            ('an_escape', dict(known, cxx='\x1b[2J'), "'cxx' holds a control character"),
            ('half_a_character', dict(known, folder='\ud800'), "'folder' holds a character that no path has"),
            ('another_kind_of_source', dict(known, sources=['/etc/passwd']),
             "'sources' does not end with .cu or .cuh"),
            ('a_prefix_that_is_no_name', dict(known, prefix='a b'), "'prefix' is none"),
            ('a_header_elsewhere', dict(known, header='../heat.h'), "'header' is no file's name"))
        for name, text, _ in cases:
            self.put(text if isinstance(text, (str, bytes)) else json.dumps(text), f'{name}.o')
        for (name, _, expected), (code, said) in zip(cases, self.again_of([f'{name}.o' for name, _, _ in cases])):
            begin = f'cfcc: {name}.o: its record of how it was built is damaged: '
            self.expect(f'of_{name}_is_refused', code == 1 and said.startswith(begin) and expected in said and
                        said.count('\n') == 1, f'{code}: {said[:2000]}')
        self.put('[]')
        result = self.test.compile('--shared', 'bad.o')
        self.expect('shared_of_a_damaged_record_is_refused', result[0] == 1 and 'it is no JSON object' in result[2],
                    result)
        code, out, err = run([self.test.cf_run, '--check', 'race', '--module', 'bad.o', 'twice'], cwd=self.test.folder,
                             env=self.test.env)
        self.expect('by_cf_run_of_a_damaged_record_is_refused', code == 1 and 'it is no JSON object' in err and
                    'Traceback' not in err, f'{code}: {out}{err}')

    def names(self):
        """Tests file names that a compiler would take for options."""
        for name, source in (('a_file_of_options', '@own/heat.cu'), ('an_option', '-fplugin=own/heat.cu')):
            self.test.write(source, self.test.read('heat.cu'))
            self.put_with(sources=[f'./{source}'])
            result = self.again()
            self.expect(f'of_{name}_is_refused', result[0] == 1
                        and f'takes the name {source} for an option' in result[2], result)
        self.test.write('other/heat.cu', self.test.read('heat.cu'))
        self.put_with(sources=['heat.cu', 'other/heat.cu'])
        result = self.again()
        self.expect('of_two_files_of_one_name_is_refused', result[0] == 1 and 'has the same name' in result[2], result)

    def flags(self):
        lost, configured = [], self.test.config['cxx']
        names = [f'flags{i}.o' for i in range(len(FLAGS))]
        for name, flags in zip(names, FLAGS):
            self.put_with(name, cxx_flags=['-O1', *flags])
        for flags, (code, said) in zip(FLAGS, self.again_of(names)):
            advice = f"--cxx={shlex.quote(f'{configured} {shlex.join(flags[:2])}')}\n"
            if (code != 1 or f'was built with the flag {flags[0]}, which is not taken' not in said or
                    not said.endswith(advice) or said.count('\n') > 1):
                lost.append(f'{flags}: {code}: {said[:300]}')
        self.expect('takes_no_flag_that_has_code_run', not lost, '\n'.join(lost))
        self.put_with(cxx_flags=TAKEN)
        self.built('takes_flags_of_other_kinds', self.again(), '')
        self.test.write('headers/own.h', '#define OWN\n')
        for name, flags, own in (('a_flag', ['-include', 'headers/own.h'], '-include headers/own.h'),
                                 ('one_flag_of_several', ['-D', 'OTHER', '-imacros', 'headers/own.h'],
                                  '-D MINE -imacros headers/own.h'),
                                 ('a_flag_beside_his_own', ['-include', 'headers/own.h', '-I', 'headers'],
                                  '-I . -include headers/own.h')):
            self.put_with(cxx_flags=flags)
            self.built(f'takes_{name}_that_the_user_names', self.again('--cxx', f'{configured} {own}'), '')

    def built(self, name, result, said):
        is_there = os.path.exists(self.path('again.so'))
        if is_there:
            os.remove(self.path('again.so'))
        self.expect(name, is_there and result[:2] == (0, '\n') and result[2] == said, result)

    def compilers(self):
        """The compiler must be the configured one, or come from the user's own folder or PATH."""
        own = f"sh {shlex.quote(self.path('own.sh'))}"
        configured = self.test.config['cxx']
        self.put_with(cxx=own)
        self.built('takes_no_compiler_from_a_record', self.again(),
                   f"cfcc: bad.o was built with '{own}'; the check is built "
                   f"with '{configured}': name another compiler with --cxx\n")
        os.mkdir(self.path('sub'))
        self.test.write('sub/heat.cu', self.test.read('heat.cu'))
        for name in ['cxx.sh', *shlex.split(configured)]:
            self.test.write(os.path.join('sub', os.path.basename(name)),
                            f'#!/bin/sh\n. {shlex.quote(self.path("own.sh"))}\n')
            os.chmod(self.path(os.path.join('sub', os.path.basename(name))), 0o755)
        self.test.write('cxx.sh', f'exec {configured} "$@"\n')
        self.put_with(folder='sub', sources=['sub/heat.cu'])
        self.built('takes_no_program_from_the_folder_of_a_record', self.again(PATH=f'.:{os.environ["PATH"]}'), '')
        self.built('takes_the_compiler_that_the_user_names', self.again('--cxx', 'sh ./cxx.sh'), '')
        self.test.write('env.sh', f'[ "$OWN" = ./own ] && exec {configured} "$@"\n')
        self.built('takes_words_that_are_no_programs_as_they_are', self.again('--cxx', 'env OWN=./own sh ./env.sh'), '')

    # ---- Random records

    def changed(self, chance):
        """Returns a record, as bytes, in which one or several values or parts of the text are wrong."""
        own = [f"sh {shlex.quote(self.path('own.sh'))}", './own.sh', '$(./own.sh)', '`./own.sh`', '; ./own.sh', "'",
               '"', '\udcff',
               '/', '.', '..', '-', '@own', '@own.cu', '@own.c', '-fplugin=own.cu', './-x.cu', './@own.cu', 'heat.cu',
               './heat.cu',
               'heat.c', '../heat.cu', '/dev/zero', 'none.cu', '%s%n', 'cf', 'cf_x',
               *(word for flags in FLAGS for word in flags)]
        record = json.loads(json.dumps(self.record))
        if chance.randrange(4):
            for _ in range(chance.randint(1, 3)):
                key = chance.choice(('cxx', 'cxx', 'folder', 'header', 'c_files', 'cxx_flags', 'defines', 'includes',
                                     'sources'))
                if isinstance(record[key], list):
                    record[key].insert(chance.randint(0, len(record[key])), chance.choice(own))
                else:
                    record[key] = chance.choice(own)
            return json.dumps(record).encode()
        values = [None, 5, -1.5, True, {}, [], [[]], {'x': []}, 10 ** 4000, '', '\0', '\n', '\ud800', 'x' * 5000, *own]
        key = chance.choice((*sorted(self.record), 'own'))
        if chance.randrange(3):
            record[key] = chance.choice(values)
        else:
            record.pop(key, None)
        text = bytearray(json.dumps(record).encode())
        for _ in range(chance.choice((0, 0, 1, 4))):
            begin = chance.randint(0, len(text))
            text[begin:begin + chance.randint(0, 3)] = bytes(chance.randrange(256) for _ in range(chance.randint(0, 3)))
        return bytes(text) + chance.choice((b'', b'\n', b'\n')) + bytes(text) * chance.choice((0, 0, 1))

    def random(self, count=RANDOM_RECORDS):
        """cfcc answers random records with an error message. It runs no program that they name, and passes no flag of
        FLAGS to the user's compiler."""
        chance = random.Random(23)
        self.test.write('own', f'-fplugin={self.path("own.so")}\n')
        self.test.write('own.cu', '')
        os.chmod(self.path('own.sh'), 0o755)
        self.test.write('user.sh', f'printf "%s\\n" "$@" >>{shlex.quote(self.path("log"))}\nexit 1\n')
        compiler = f"sh {shlex.quote(self.path('user.sh'))}"
        records = [json.dumps(self.record).encode(), *(self.changed(chance) for _ in range(count))]
        names = [f'random{i}.o' for i in range(len(records))]
        for name, record in zip(names, records):
            self.put(record, name)
        problems, answers = [], self.again_of(names, '--cxx', compiler)
        for record, (code, said) in zip(records, answers):
            if code != 1 or 'Traceback' in said or not said.startswith('cfcc: ') or os.path.exists(self.marker):
                problems.append(f'{record[:1000]}: {code}: {said[:2000]}')
        self.expect('of_random_records_fails_in_a_line', not problems, '\n'.join(problems[:5]))
        with open(self.path('log'), encoding='utf-8', errors='replace') as file:
            words = file.read().splitlines()
        given = {flags[0] for flags in FLAGS} - {'-include', '-x', '-o', '-I', '-D', '-MF'}
        reached = sum(said.endswith(' ended with 1\n') for _, said in answers)
        self.expect('of_random_records_has_compilers_run', reached > count // 10, reached)
        wrong = sorted({word for word in words if word in given or word.startswith(('@', '-fplugin', '-B', '-specs'))})
        self.expect('of_random_records_passes_no_such_flag_on', not wrong, wrong)

    def run(self, kernel):
        if self.test.is_sanitized:
            self.test.tap.skip('cfcc_again', NEEDS_NO_SANITIZER)
            return
        self.begin(kernel)
        self.damaged()
        self.names()
        self.flags()
        self.compilers()
        self.random()
