"""cfcc_cache.py - tests of the libraries that cfcc caches for checks: their keys, and the folders and files that cfcc
trusts. Part of test_cfcc.py."""

import os
import stat
import sys
from types import SimpleNamespace
from unittest import mock

from tap import NEEDS_ROOT, ROOT

sys.path += [os.path.join(ROOT, folder) for folder in ('gen', 'tools/compile')]
import cache
import trust

OTHER = 65534   # a user other than root
VARIABLES = ('CPATH', 'C_INCLUDE_PATH', 'CPLUS_INCLUDE_PATH', 'COMPILER_PATH', 'GCC_EXEC_PREFIX', 'LIBRARY_PATH',
             'LD_LIBRARY_PATH', 'LD_PRELOAD', 'LD_RUN_PATH', 'CCC_OVERRIDE_OPTIONS', 'SOURCE_DATE_EPOCH',
             'NVCC_PREPEND_FLAGS', 'NVCC_APPEND_FLAGS', 'NVCC_CCBIN', 'PYTHONPATH', 'PYTHONHOME')


class CacheTest:
    def __init__(self, test):
        self.test = test

    def run(self):
        self.test.fresh(unused='')
        os.chmod(self.test.folder, 0o700)   # independent of the umask
        self.keys()
        self.owners_and_modes()
        self.folders()
        self.files()

    # ---- Keys

    def key(self, change=None, **environment):
        """Returns the key of a build after `change` has altered its options or its configuration."""
        options = SimpleNamespace(check='race', sources=['a.cu'], c_files=['a.c'], prefix='a', includes=['one'],
                                  defines=['A=1'], cxx='sh -e', cxx_flags=['-O1'])
        config = SimpleNamespace(values={'cxx': 'c++', 'body_flags': '-O2'})
        if change:
            change(options, config)
        # No cache folder is opened.
        with mock.patch.dict(os.environ, {**environment, 'XDG_CACHE_HOME': 'none', 'HOME': 'none'}):
            return cache.Cache(options, config).key

    def keys(self):
        """The key changes with everything that a build depends on, apart from the files that it reads."""
        def value(name, changed):
            return lambda options, _: setattr(options, name, changed)
        first = self.key()
        keys = {name: self.key(value(name, changed)) for name, changed in (
            ('check', 'poison'), ('sources', ['b.cu']), ('c_files', []), ('prefix', 'b'), ('includes', ['two']),
            ('defines', ['A=2']), ('cxx', 'sh -u'), ('cxx_flags', ['-O1', '-DA']))}
        keys['order_of_includes'] = self.key(value('includes', ['two', 'one']))
        keys['configuration'] = self.key(lambda _, config: config.values.update(body_flags='-O3'))
        for name in VARIABLES:
            keys[name] = self.key(**{name: f'{os.environ.get(name, "")}/changed'})
        # Makes the same command run another program.
        os.symlink('/bin/sh', os.path.join(self.test.folder, 'sh'))
        with mock.patch.object(cache, 'ENVIRONMENT', ()):
            here, there = (self.key(PATH=path) for path in (self.test.folder, '/bin'))
        keys['program'] = there if here != there else first
        keys['PATH'] = self.key(PATH=f'{os.environ["PATH"]}:/changed')
        folder = os.getcwd()
        try:
            os.chdir(self.test.folder)
            keys['folder'] = self.key()
        finally:
            os.chdir(folder)
        same = [name for name, key in keys.items() if key == first]
        self.test.expect('cfcc_key_of_a_check_has_all_that_a_build_depends_on', first == self.key() and not same and
                         len(set(keys.values())) == len(keys), same or keys)

    # ---- Trust

    def refusal(self, uid, mode, is_above=False, user=1000, root=0):
        """Returns the reason why a folder is refused for a user, if / belongs to `root`; '' if the folder is
        trusted."""
        with mock.patch.object(trust.os, 'geteuid', lambda: user), \
                mock.patch.object(trust.os, 'stat', lambda _: SimpleNamespace(st_uid=root)):
            try:
                trust.refuse(SimpleNamespace(st_uid=uid, st_mode=stat.S_IFDIR | mode), 'x', is_above)
                return ''
            except trust.Untrusted as error:
                return str(error)

    def owners_and_modes(self):
        others, sticky = 'others can write to x, whose mode is ', stat.S_ISVTX
        for name, got, expected in (
                ('own', self.refusal(1000, 0o755), ''),
                ('roots', self.refusal(0, 0o755), ''),
                ('another_users', self.refusal(1001, 0o700), 'x belongs to '),
                ('another_users_above', self.refusal(1001, 0o700, True), 'x belongs to '),
                ('another_users_for_root', self.refusal(1000, 0o700, user=0), 'x belongs to '),
                ('roots_by_another_number_above', self.refusal(77, 0o755, True, root=77), ''),
                ('roots_by_another_number', self.refusal(77, 0o755, root=77), 'x belongs to '),
                ('the_groups', self.refusal(1000, 0o720), f'{others}0720'),
                ('everybodys', self.refusal(1000, 0o702), f'{others}0702'),
                ('a_sticky', self.refusal(1000, 0o777 | sticky), f'{others}1777'),
                ('a_sticky_one_above', self.refusal(0, 0o777 | sticky, True), ''),
                ('everybodys_above', self.refusal(0, 0o777, True), f'{others}0777'),
                ('anothers_sticky_one_above', self.refusal(1001, 0o777 | sticky, True), 'x belongs to ')):
            self.test.expect(f'cfcc_trust_in_{name}_is_right', got.startswith(expected) and bool(got) == bool(expected),
                             got or 'it is trusted')

    def opened(self, path):
        """Returns the reason why a folder, or a file in one, is not opened; '' if it is opened."""
        folder, name = os.path.split(path)
        try:
            descriptor = trust.open_folder(path if not name else folder)
        except (trust.Untrusted, OSError) as error:
            return str(error)
        try:
            return '' if not name or trust.read_file(name, descriptor, path) == b'text' else 'another text'
        except (trust.Untrusted, OSError) as error:
            return str(error)
        finally:
            os.close(descriptor)

    def folders(self):
        """Every folder on the path to a cache is checked; if the path contains links, so are the folders on the paths
        to which they lead."""
        top = os.path.join(self.test.folder, 'top')
        way = os.path.join(top, 'middle', 'last')
        made = self.opened(f'{way}/')
        self.test.expect('cfcc_folder_to_trust_is_made_private', not made and
                         stat.S_IMODE(os.stat(way).st_mode) == 0o700, made)
        os.symlink('top/middle', os.path.join(self.test.folder, 'link'))
        for name, path, mode in (('above', os.path.dirname(way), 0o777), ('itself', way, 0o777),
                                 ('itself_and_is_sticky', way, 0o1777), ('at_the_top', top, 0o777)):
            os.chmod(path, mode)
            got = [self.opened(f'{way}/'), self.opened(f'{self.test.folder}/link/last/')]
            os.chmod(path, 0o700)
            self.test.expect(f'cfcc_folder_that_others_can_write_{name}_is_refused', got == [
                f'others can write to {path}, whose mode is {mode:04o}'] * 2, got)

        with mock.patch.object(trust.os.path, 'realpath', lambda path: path):
            got = self.opened(f'{self.test.folder}/link/last/')
        self.test.expect('cfcc_link_that_replaces_a_folder_meanwhile_is_refused', 'Not a directory' in got, got)

    def files(self):
        folder = os.path.join(self.test.folder, 'files')
        os.mkdir(folder, 0o700)
        path = os.path.join(folder, 'file')
        with open(path, 'wb') as file:
            file.write(b'text')
        os.chmod(path, 0o600)
        self.test.expect('cfcc_file_to_trust_is_read', not self.opened(path), self.opened(path))
        os.symlink('file', f'{path}.link')
        got = self.opened(f'{path}.link')
        self.test.expect('cfcc_link_to_a_file_is_refused', 'symbolic links' in got, got)
        os.mkfifo(f'{path}.pipe', 0o600)
        got = self.opened(f'{path}.pipe')
        self.test.expect('cfcc_pipe_for_a_file_is_refused', got == f'{path}.pipe is not a file', got)
        os.chmod(path, 0o620)
        got = self.opened(path)
        self.test.expect('cfcc_file_that_others_can_write_is_refused', 'mode is 0620' in got, got)
        os.chmod(path, 0o600)
        try:
            os.chown(path, OTHER, -1)
        except OSError:
            self.test.tap.skip('cfcc_file_of_another_user_is_refused', NEEDS_ROOT)
            return
        got = self.opened(path)
        self.test.expect('cfcc_file_of_another_user_is_refused', 'belongs to ' in got, got)
