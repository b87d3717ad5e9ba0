"""Suggests annotations for the kernels of one file that have none."""

import os
import shutil

from base.diagnostics import GeneratorError
from cpu.collective import find_unbuilt
from declare.declarations import find_declarations
from declare.kerneldecl import read_kernel
from declare.typedecl import Declared
from suggest.insertion import check_writable, insert, spell_pragmas
from suggest.launches import find_launches
from suggest.proposal import Proposer
from suggest.source import Macros
from tokens.lexer import TokenError
from tokens.scan import Pragma


class Suggestions:
    """The suggestions for one file, or for its headers if it launches their kernels and has none. `proposals`: in the
    file's order. `refused`: (token, name, reason) of kernels that cannot become entry points. `annotated`: names of
    annotated kernels. `earlier`: Suggestions of earlier files, whose kernels count as annotated."""

    def __init__(self, scanner, text, path, earlier):
        self.proposals, self.refused = [], []
        self._added = earlier[0]._added if earlier else {}
        done = {other.kernel.declaration.head[0].location for found in earlier for other in found.proposals}
        self._path, self._scanner = path, scanner
        macros = Macros(text)
        try:
            items = macros.restore(scanner.read_items(), scanner.lines_of)
        except TokenError as error:
            place = error.token.location
            raise GeneratorError(f'{place.file}:{place.line}:{place.column}: error: {error}') from error
        declarations, pending, found = [], None, []
        for item in find_declarations(items):
            if isinstance(item, Pragma):
                pending = pending or item.tokens[0].text != 'include'
                continue
            if not item.is_member:
                declarations.append(item)
                if item.has('__global__') and item.function is not None and (pending or item.body is not None):
                    found.append((item, bool(pending) or item.head[0].location in done))
            pending = None
        types = Declared()
        for declaration in declarations:
            types.add(declaration)
        lines = {}
        for name, value in macros.values():
            types.types.declare_constant((), name, value)
            lines[name] = macros.line(name, scanner.path), value
        launches = list(find_launches(declarations))
        launched = {launch.name for launch in launches}
        found = [pair for pair in found if pair[0].head[0].file == path] or \
            [pair for pair in found if pair[0].name in launched]
        self.annotated = [(kernel.scope, kernel.name) for kernel, is_annotated in found if is_annotated]
        self._propose([kernel for kernel, is_annotated in found
                       if not is_annotated and (kernel.scope, kernel.name) not in self.annotated], declarations,
                      Proposer(declarations, launches, types.types, lines))

    def _propose(self, declarations, file, proposer):
        names = {name for _, name in self.annotated}
        places = [(d.head[0].file, d.head[0].line) for d in declarations]
        for declaration, place in zip(declarations, places):
            try:
                if places.count(place) > 1 and not declaration.head[0].exact:
                    raise TokenError(declaration.head[0], 'a macro makes several kernels in this line; write '
                                     '_Pragma("cf kernel ...") into the macro')
                unbuilt = find_unbuilt(declaration, file)
                if unbuilt:
                    raise TokenError(declaration.head[0], f'it {unbuilt[0]}; {unbuilt[1]}')
                kernel = read_kernel(declaration)
                name, number = declaration.name, 2
                while name in names:
                    name, number = f'{declaration.name}{number}', number + 1
                self.proposals.append(proposer.propose(kernel, name if name != declaration.name else ''))
                names.add(name)
            except TokenError as error:
                self.refused.append((error.token, declaration.name, str(error)))

    @property
    def is_empty(self):
        """True if the file has no kernel."""
        return not (self.proposals or self.refused or self.annotated)

    def check_files(self):
        """Refuses files that --write may not change."""
        for path in self._files:
            check_writable(path, self._scanner.is_system(path))

    def copy(self, folder):
        """Writes for each annotation without a gap a copy of the kernel's file that has this one alone."""
        for proposal in self.proposals:
            if '/*' in ''.join([*proposal.clauses, proposal.instances]):
                continue
            path = self._scanner.path_of(proposal.kernel.declaration.head[0].file)
            own = os.path.join(folder, str(len(os.listdir(folder))))
            os.mkdir(own)
            proposal.copy = os.path.join(own, os.path.basename(path))
            shutil.copyfile(path, proposal.copy)
            proposal.inserted, = insert(proposal.copy, [proposal])

    def describe(self, shown):
        """Yields for each proposal a dict with its kernel's name and place, and the copy with its original, the lines
        that were inserted there, and those that write() inserted. `shown`: the name of the file."""
        for proposal in self.proposals:
            token = proposal.kernel.token
            named = [c[5:-1] for c in proposal.clauses if c.startswith('name(')]
            yield {'name': named[0] if named else token.text, 'place': self._line(token, shown),
                   'original': self._scanner.path_of(proposal.kernel.declaration.head[0].file),
                   'copy': proposal.copy, 'inserted': proposal.inserted,
                   'written': self._added.get(proposal.kernel.declaration.head[0].file, [])}

    def write(self):
        """Writes the annotations into the files."""
        for path, proposals in self._files.items():
            self._added[proposals[0].kernel.declaration.head[0].file] = insert(path, proposals)

    @property
    def _files(self):
        """Maps the paths of the kernels' files to their proposals."""
        files = {}
        for proposal in self.proposals:
            files.setdefault(self._scanner.path_of(proposal.kernel.declaration.head[0].file), []).append(proposal)
        return files

    def _line(self, token, shown):
        """Returns the file and the line of a token for a message. `shown`: the name of the file itself. The line counts
        the annotations that were written above it."""
        line = token.line + sum(count for at, count in self._added.get(token.file, ()) if at <= token.line)
        return f'{shown if token.file == self._path else token.file}:{line}'

    def spell(self, shown):
        """Returns the list of proposals as text for people. `shown`: the name of the file in this text."""
        text = ''
        for proposal in self.proposals:
            token = proposal.kernel.token
            text += f'{self._line(token, shown)}: {token.text}\n'
            text += ''.join(f'+{line}\n' for line in spell_pragmas(proposal))
        return text

    def spell_notes(self, shown):
        """Returns the lines about kernels without an annotation, and about several launches of one kernel."""
        def place(token):
            return f'{self._line(token, shown)}:{token.column}'
        return ''.join([
            f'{place(token)}: note: {name} gets no annotation: {reason}\n' for token, name, reason in self.refused] + [
            f'{place(p.kernel.token)}: note: {p.kernel.token.text} is launched in several ways; the annotation is for '
            f'the launch at {place(p.launch)}, not for {", ".join(map(place, p.others))}\n'
            for p in self.proposals if p.others])
