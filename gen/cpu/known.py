"""Decides by name whether code of a kernel file would compile in the copy for the CPU."""

from cpu.members import device_tokens

# The words after which a name is used and not declared.
_NO_TYPES = {'return', 'case', 'else', 'do', 'sizeof', 'new', 'delete', 'goto', 'throw', 'namespace', 'using', 'const',
             'volatile', 'constexpr', 'static', 'extern', 'inline', 'virtual', 'explicit', 'friend', 'mutable',
             'typedef', 'operator', 'public', 'private', 'protected', '__host__', '__device__', '__forceinline__'}
_WORDS = frozenset('''
    alignas alignof and asm auto bool break case catch char char16_t char32_t class const const_cast constexpr continue
    decltype default delete do double else enum explicit export extern false final float for friend goto if inline int
    long mutable namespace new noexcept not nullptr operator or override private protected public register
    reinterpret_cast return short signed sizeof static static_assert static_cast struct switch template this
    thread_local true typedef typename union unsigned using virtual void volatile while xor wchar_t size_t ptrdiff_t
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t std __host__ __device__ __constant__ __shared__
    __managed__
    __restrict__ __forceinline__ __noinline__ __inline__ __attribute__ __align__ __extension__'''.split())


class Known:
    """The names that have a meaning in the CPU's copy: names of its declarations, and of the headers that it
    includes."""

    def __init__(self, scanner, chosen, everything):
        self._scanner = scanner
        self._words = set()
        self._namespaces = set()
        names = set()
        for declaration in chosen:
            names.update(declaration.names)
            if declaration.is_class or declaration.is_on_device:        # the copy may lack bodies of host code
                self._words.update(t.text for t in device_tokens(declaration))
            self._namespaces.update(s for s in declaration.scope if s)
        keys = {id(d) for d in chosen}
        self._gone = {name for d in everything if id(d) not in keys for name in d.names} - names

    def has_all(self, tokens, own=()):
        """True if every name in the tokens has a meaning in the copy. `own`: names that the tokens declare."""
        local, tokens = set(own), list(tokens)
        for before, token in zip(tokens, tokens[1:]):
            if tokens[0].text == 'static_assert':
                break       # a static_assert declares nothing
            if token.kind == 'identifier' and (before.kind == 'identifier' and before.text not in _NO_TYPES or
                                               before.text in ('*', '&', '&&', '>')):
                local.add(token.text)
        for at, token in enumerate(tokens):
            if token.kind != 'identifier' or token.text in _WORDS or token.text in local or token.text.startswith('__'):
                continue
            before = tokens[at - 1].text if at else ''
            is_standard = before == '::' and at > 1 and tokens[at - 2].text == 'std'
            if before not in ('.', '->') and not self._has(token.text, is_standard):
                return False
        return True

    def _has(self, word, is_standard):
        if word in self._gone and not is_standard:
            return False
        is_own = word in self._words or word in self._namespaces
        return not is_standard and is_own or word in self._scanner.given_words

    def has_namespace(self, name):
        return name == 'std' or name in self._namespaces or name in self._scanner.given_namespaces
