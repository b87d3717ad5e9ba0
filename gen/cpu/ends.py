"""Handles threads that end while other threads of their block go on.

    if (i >= n) return;                 for each thread: ended[t] = i >= n
    out[i] = v;                         for each thread: if (!ended[t]) out[i] = v;"""

from cpu.statements import LOOPS


class Ends:
    """The part of a Layout that finds statements which end threads."""

    def _is_end_of_others(self, statement, rest):
        """True for an `if (...) return;` that becomes a guard around all later statements. Barriers do not wait for
        threads that have ended; but if barriers follow, the checks of warp operations have to know these threads."""
        if statement.kind != 'if' or len(statement.children) > 1 or not rest:
            return False
        if statement.children[0].unwrap().kind != 'return' or any(map(self.has_block_barrier, rest)) and any(
                self.lanes.find_first(s) is not None for s in rest):
            return False
        # A loop around regions ends only if the code of the block knows when all threads have left it.
        loops = [s for t in rest for s in t.walk() if s.kind in LOOPS and self.has_barrier(s)]
        if not all(self.innermost.ends(s) or 'return' not in self._find_escapes(s, False) for s in loops):
            return False
        return self.innermost.is_guard(statement, any(map(self.has_barrier, rest)), rest[-1].end)

    def _is_leave(self, statement):
        """True for an `if (...) return;` after which the remaining threads wait for one another."""
        if statement.kind != 'if' or len(statement.children) > 1 or self._guards or self.warps is not None or \
                self._text(statement.begin + 1) != '(' or not self.lanes.goes_on(statement.end):
            return False
        return statement.children[0].unwrap().kind == 'return' and not any(
            at in self._variables.of and at in self._variables.of[at].writes for at in range(*statement.parts[0]))


class EndsText:
    """The part of a Rewriter that writes the code for threads that have ended."""

    def _is_masked(self):
        """True if threads may have ended before a region runs: a region other than the last, or one in a loop, has a
        return."""
        regions, loops = self._layout.regions, self._layout.loops.items()
        return any(r.has_return and (r is not regions[-1] or any(a <= r.begin < b for a, b in loops)) for r in regions)

    def _write_leave(self, region, used, moved, rows):
        """Writes the loop that notes for each thread if it ends at a region's statement."""
        self._moved.update(range(region.begin, region.end))
        load = self._load(self._needed(used), region)
        self._put_before(region.begin, f'{moved}{self._spell_ends(region.statement.parts[0], rows, load)}')

    def _spell_ends(self, place, rows, load):
        """Returns the loop that notes for each thread if it ends, because the condition at `place` holds. `rows`: text
        of the loops around it; `load`: declarations of the condition's variables."""
        hint = 'CF__INDEPENDENT' if self._is_independent(*place) else 'CF__VECTORIZE'
        return (f'{rows}{hint} CF__ROW {{ {self._enter(True)}{load}'
                f'cf__ended.cf__has[cf__t] = !!({self._spell(*place)}); }} cf__ended.cf__count_all(cf__scope); ')

    def _write_loop(self, statement):
        """Makes a loop around regions end if all threads have ended."""
        if statement.kind in ('for', 'while', 'do') and self._layout.has_barrier(statement) and not any(
                s.has(statement.begin) for s in self._layout.sections):
            body = statement.children[0]
            if body.kind == 'block':
                self._put_after(body.begin, ' CF__LEAVE_IF_ENDED ')
            else:
                self._put_before(body.begin, '{ CF__LEAVE_IF_ENDED ')
                self._put_after(body.end - 1, ' }')

    def _enter(self, is_masked):
        return f"CF__ENTER{'_MIRRORED' * self.is_mirrored} " + 'if (cf__ended.cf__has[cf__t]) continue; ' * is_masked
