"""Suggests annotations for the kernels of one file that have none."""

from declare.declarations import find_declarations
from declare.kerneldecl import read_kernel
from declare.typedecl import Declared
from suggest.insertion import spell_pragmas
from suggest.launches import find_launches
from suggest.proposal import Proposer
from suggest.source import Macros
from tokens.lexer import TokenError
from tokens.scan import Pragma


class Suggestions:
    """`proposals`: in the file's order. `refused`: (token, name, reason) of kernels that no annotation can make an
    entry point. `annotated`: names of kernels that have an annotation. A file without kernels that launches those of
    its headers gets proposals for these."""

    def __init__(self, scanner, text, path):
        self.proposals, self.refused = [], []
        self._path = path
        macros = Macros(text)
        items = macros.restore(list(scanner.items()), scanner.lines_of)
        declarations, pending, found = [], None, []
        for item in find_declarations(items):
            if isinstance(item, Pragma):
                pending = pending or item.tokens[0].text != 'include'
                continue
            if not item.is_member:
                declarations.append(item)
                if item.has('__global__') and item.function is not None and (pending or item.body is not None):
                    found.append((item, bool(pending)))
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
                       if not is_annotated and (kernel.scope, kernel.name) not in self.annotated],
                      Proposer(declarations, launches, types.types, lines))

    def _propose(self, declarations, proposer):
        names = {name for _, name in self.annotated}
        places = [(d.head[0].file, d.head[0].line) for d in declarations]
        for declaration, place in zip(declarations, places):
            try:
                if places.count(place) > 1 and not declaration.head[0].exact:
                    raise TokenError(declaration.head[0], 'a macro makes several kernels in this line; write '
                                     '_Pragma("cf kernel ...") into the macro')
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

    def file_of(self, token, shown):
        """Returns the name of a token's file; `shown` is that of the file itself."""
        return shown if token.file == self._path else token.file

    def spell(self, shown):
        """Returns the list that people read, with `shown` as the file's name."""
        text = ''
        for proposal in self.proposals:
            token = proposal.kernel.token
            text += f'{self.file_of(token, shown)}:{token.line}: {token.text}\n'
            text += ''.join(f'+{line}\n' for line in spell_pragmas(proposal))
        return text
