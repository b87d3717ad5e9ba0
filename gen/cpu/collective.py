"""Finds code whose threads have to run together, and code that only a GPU can run. The names of functions and classes
are searched in all code that a kernel reaches."""

import re

from cpu.assembly import find_unknown, needs_block, WORDS
from cpu.members import body_tokens, device_tokens
from cpu.reachable import find_reachable
from tokens.brackets import matching, split_at

# Matches functions that a loop over threads cannot run: they wait for other threads, use shared memory, or end the
# kernel.
TOGETHER = re.compile(
    r'__shared__|__sync(threads|warp)\w*|__shfl\w*|__(any|all|ballot|activemask|match)\w*|__reduce_\w+_sync|'
    r'__nanosleep|__trap|assert|__assert_fail|__is(Shared|Global)|__cvta_generic_to_shared|__dynamic_smem\w*|'
    r'make_pipeline|this_cluster')
# Matches further functions that wait in files with cooperative_groups. Ranks and sizes of groups need no other thread.
_GROUPS = re.compile(
    r'sync|shfl\w*|any|all|ballot|match_a\w+|reduce\w*|\w+clusive_scan\w*|coalesced_\w+|\w+_partition|invoke_one\w*|'
    r'memcpy_async|wait|wait_prior|barrier_(arrive|wait)|is_valid')
# Numbers of arguments of the functions that a call may name without `::`, because an argument is a group or a barrier.
# The other functions are members.
_ARITIES = {'init': (2, 3), 'sync': (1,), 'wait': (1,), 'wait_prior': (1,), 'reduce': (3,), 'inclusive_scan': (2, 3),
            'exclusive_scan': (2, 3), 'memcpy_async': (4, 5), 'labeled_partition': (2,), 'binary_partition': (2,),
            'tiled_partition': (1, 2), 'coalesced_threads': (0,)}
# Matches functions that wait in files that name a barrier of cuda:: or cuda::std::.
_BARRIERS = re.compile(r'arrive|arrive_and_\w+|wait|wait_parity|try_wait\w*|init')
# Matches classes of CUB in whose functions threads wait for one another.
_CUB = re.compile(r'(Block|Warp)[A-Z]\w+')
# Partitions that only compute ranks if the size is a part of their type.
_RANKS = {'tiled_partition'}
# Functions and classes that the CPU cannot run: (pattern of names, what they are, what to use instead).
_FOREIGN = (
    ('|'.join(WORDS), 'inline assembly', 'write C++ beside it, under #ifndef __CUDA_ARCH__'),
    (r'wmma|nvcuda|mma_sync|load_matrix_sync', 'matrices of a warp', 'multiply tiles in __shared__ memory'),
    (r'curandStateMtgp32\w*|curand_mtgp32\w*', "cuRAND's MTGP32", 'use another generator, such as Philox4_32_10'),
    (r'__cluster(?!_dims__)\w*', 'functions of clusters without a group',
     'use cooperative_groups::this_cluster()'),
    (r'tex[123]D\w*|texCubemap\w*|surf[123]D\w*', 'textures', 'read the array through a pointer'),
    (r'cudaGraphSetConditional', 'conditional nodes of graphs', 'decide in C from what the kernel wrote'),
    (r'__nv_fp[46]\w*|__nv_fp8\w*_e8m0|__nv_cvt_\w*(fp[46]|e8m0)\w*', 'floats of 6 and 4 bits, and e8m0',
     'use __nv_fp8_e4m3 or __half'),
    (r'__pipeline_arrive_on|__mbarrier\w*|__cvta_(?!generic_to_[sg]|[sg]\w+_to_generic)\w+', 'asynchronous barriers',
     'use __syncthreads()'),
)
# The names in thrust:: that the CPU can run.
OF_THRUST = frozenset('''
    abs acos acosh arg asin asinh atan atanh bit_and bit_or bit_xor complex conj cos cosh divides equal_to exp get
    greater greater_equal imag less less_equal log log10 logical_and logical_not logical_or make_pair make_tuple maximum
    minimum minus modulus multiplies negate norm not_equal_to pair plus polar pow proj real sin sinh sqrt swap tan tanh
    tie tuple tuple_element tuple_size'''.split())
# The names in cub:: that the CPU can run.
OF_CUB = frozenset('''
    ArgMax ArgMin BLOCK_HISTO_ATOMIC BLOCK_HISTO_SORT BLOCK_LOAD_DIRECT BLOCK_LOAD_STRIPED BLOCK_LOAD_TRANSPOSE
    BLOCK_LOAD_VECTORIZE BLOCK_LOAD_WARP_TRANSPOSE BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED BLOCK_REDUCE_RAKING
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY BLOCK_REDUCE_WARP_REDUCTIONS BLOCK_REDUCE_WARP_REDUCTIONS_NONDETERMINISTIC
    BLOCK_SCAN_RAKING BLOCK_SCAN_RAKING_MEMOIZE BLOCK_SCAN_WARP_SCANS BLOCK_STORE_DIRECT BLOCK_STORE_STRIPED
    BLOCK_STORE_TRANSPOSE BLOCK_STORE_VECTORIZE BLOCK_STORE_WARP_TRANSPOSE BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
    BlockAdjacentDifference BlockDiscontinuity BlockExchange BlockHistogram BlockHistogramAlgorithm BlockLoad
    BlockLoadAlgorithm BlockMergeSort BlockRadixSort BlockReduce BlockReduceAlgorithm BlockScan BlockScanAlgorithm
    BlockShuffle BlockStore BlockStoreAlgorithm CacheLoadModifier CacheStoreModifier CastOp Equality Inequality
    InequalityWrapper KeyValuePair LOAD_CA LOAD_CG LOAD_CS LOAD_CV LOAD_DEFAULT LOAD_LDG LOAD_VOLATILE
    LoadDirectBlocked LoadDirectBlockedVectorized LoadDirectStriped LoadDirectWarpStriped Log2 LowerBound Max Min
    NullType PowerOfTwo RowMajorTid STORE_CG STORE_CS STORE_DEFAULT STORE_VOLATILE STORE_WB STORE_WT
    StoreDirectBlocked StoreDirectBlockedVectorized StoreDirectStriped StoreDirectWarpStriped Sum ThreadLoad
    ThreadReduce ThreadStore UpperBound WARP_EXCHANGE_SHUFFLE WARP_EXCHANGE_SMEM WARP_LOAD_DIRECT WARP_LOAD_STRIPED
    WARP_LOAD_TRANSPOSE WARP_LOAD_VECTORIZE WARP_STORE_DIRECT WARP_STORE_STRIPED WARP_STORE_TRANSPOSE
    WARP_STORE_VECTORIZE WarpExchange WarpExchangeAlgorithm WarpLoad WarpLoadAlgorithm WarpMergeSort WarpReduce WarpScan
    WarpStore WarpStoreAlgorithm'''.split())
# The names of CUB that the CPU cannot run. A file may use them without cub:: after `using namespace cub`.
_LACKING_IN_CUB = frozenset('''
    ArgIndexInputIterator BlockRadixRank BlockRadixRankMatch BlockRadixRankMatchEarlyCounts BlockRakingLayout
    BlockRunLengthDecode CacheModifiedInputIterator CacheModifiedOutputIterator ConstantInputIterator
    CountingInputIterator DeviceAdjacentDifference DeviceCopy DeviceFor DeviceHistogram DeviceMemcpy DeviceMerge
    DeviceMergeSort DevicePartition DeviceRadixSort DeviceReduce DeviceRunLengthEncode DeviceScan
    DeviceSegmentedRadixSort DeviceSegmentedReduce DeviceSegmentedSort DeviceSelect DeviceTransform
    DiscardOutputIterator GridBarrier GridEvenShare GridQueue ReduceByKeyOp ReduceBySegmentOp StableOddEvenSort
    TexObjInputIterator TexRefInputIterator ThreadScanExclusive ThreadScanInclusive TransformInputIterator'''.split())
# Maps a library to its name in messages, the names that the CPU can run, and what to use instead of all other names.
_LIBRARIES = {
    'thrust': ('Thrust', OF_THRUST, 'write a loop, or use cooperative_groups'),
    'cub': ('CUB', OF_CUB, 'use its functions of a block or a warp, or cooperative_groups'),
}
_FOREIGN_WORDS = tuple((re.compile(pattern), what, instead) for pattern, what, instead in _FOREIGN)
_ANY_FOREIGN = re.compile('|'.join(pattern for pattern, _, _ in _FOREIGN))
# The names in cuda:: that the CPU cannot run.
_FOREIGN_OF_CUDA = {'latch', 'counting_semaphore', 'binary_semaphore', 'ptx', 'annotated_ptr', 'device'}


def find_reached(kernel, everything, others=()):
    """Returns a kernel and all declarations that it reaches on a GPU. `others`: further declarations that may be
    reached."""
    return find_reachable([kernel], [d for d in everything if not d.has('__global__') and
                                     (d.is_on_device if d.function is not None else d.body is not None)] + [*others])


def find_use(kernel, everything, words):
    """Returns the first name in a kernel, or in a function that it calls, that the pattern `words` matches; None if
    there is none."""
    for declaration in find_reached(kernel, everything):
        if any(map(words.fullmatch, declaration.words)):
            for token in body_tokens(declaration):
                if token.kind == 'identifier' and words.fullmatch(token.text):
                    return token.text
    return None


def may_wait_for_work(kernel, everything):
    """True if a kernel, or a function that it calls, waits for the work before a dependent launch, or if it calls a
    function whose body is in other GPU code."""
    reached = find_reached(kernel, everything)
    defined = {d.name for d in reached if d.body is not None}
    return any(d.function is not None and d.body is None and d.name not in defined for d in reached) or any(
        token.text == 'cudaGridDependencySynchronize' or
        (token.kind == 'string' and 'griddepcontrol.wait' in token.text)
        for declaration in reached for token in body_tokens(declaration))


def find_foreign(kernel, everything):
    """Returns (name, what to use instead) of the first name that the CPU cannot run in a kernel or a function that it
    calls; None if there is none."""
    lacking = _find_lacking(everything)
    # A name that stands for a type is searched, too. A name of a variable is not, since the kernel may have such a
    # variable.
    aliases = [d for d in everything if d.function is None and (d.has('typedef') or d.has('using'))]
    for declaration in find_reached(kernel, everything, aliases):
        used = _find_library(list(device_tokens(declaration)), lacking)
        if used:
            return used
    lacks_random = any('cf__without_curand' in d.names for d in everything)
    for declaration in find_reached(kernel, everything):
        parameters = declaration.parameters if declaration.function is not None else ()
        tokens = [t for parameter in parameters for t in parameter] + list(body_tokens(declaration))
        for at, token in enumerate(tokens):
            if token.text == 'cuda':
                texts = [t.text for t in tokens[at:at + 3]]
                if texts[:2] == ['cuda', '::'] and texts[2:] and texts[2] in _FOREIGN_OF_CUDA:
                    return (f'cuda::{texts[2]}', 'use __syncthreads() or cuda::barrier, and plain copies or '
                                                 'cuda::memcpy_async()')
            if token.kind == 'identifier' and _ANY_FOREIGN.fullmatch(token.text):
                used = find_unknown(tokens, at) if token.text in WORDS else (token.text, None)
                if used:
                    return next((f'{what} ({used[0]})', used[1] or instead) for words, what, instead in _FOREIGN_WORDS
                                if words.fullmatch(token.text))
            if lacks_random and token.kind == 'identifier' and token.text.startswith('curand'):
                return f'cuRAND ({token.text})', ("install the toolkit's curand_kernel.h, or write the generator in "
                                                  'the kernel file')
    return None


def _find_lacking(everything):
    """Returns the names of CUB that the CPU cannot run and that the file can use without cub:: before them."""
    if not any('cub' in d.words for d in everything):
        return frozenset()
    return _LACKING_IN_CUB.difference(*(d.names for d in everything if 'cub' not in d.words))


def _find_library(tokens, lacking):
    """Returns (name, what to use instead) of the first name of a library that the CPU cannot run; None if there is
    none."""
    for before, token, *after in zip([None, *tokens], tokens, [*tokens[1:], None], [*tokens[2:], None, None]):
        if token.kind != 'identifier':
            continue
        if token.text in _LIBRARIES and after[1] is not None and after[0].text == '::':
            library, names, instead = _LIBRARIES[token.text]
            if after[1].text not in names:
                return f'{library} ({token.text}::{after[1].text})', instead
        if token.text in lacking and (before is None or before.text not in ('::', '.', '->')):
            library, _, instead = _LIBRARIES['cub']
            return f'{library} ({token.text})', instead
    return None


def find_unbuilt(kernel, everything):
    """Returns (what a kernel or a function that it calls does, what to do instead) for the first name that no build
    supports, not even for GPUs; None if there is none."""
    roots = [kernel] + [d for d in everything if d is not kernel and d.defines_kernel(kernel.name)]
    reached = find_reachable(roots, [d for d in everything if not d.has('__global__')])
    for declaration in reached:
        head = [t.text for t in declaration.head if t.text not in ('static', 'extern')]
        if declaration.function is None and '__managed__' in head:
            return (f'uses {declaration.names[0]}, which is __managed__, so that C programs cannot reach it',
                    'pass it to the kernel as an argument, or make it __constant__, which has a setter')
        # The names of a texture reference include its template arguments.
        if declaration.function is None and head[:2] == ['texture', '<'] and \
                any(declaration.names[-1] in d.words for d in reached if d is not declaration):
            return (f'reads {declaration.names[-1]}, a texture reference, which CUDA has not had since 12.0',
                    'pass the array as a pointer, or a cudaTextureObject_t with host(none)')
        if (declaration in roots or declaration.has('__device__')) and has_launch(declaration.body or ()):
            return ('launches a kernel, which needs a device linker',
                    'launch that one from C, after this one; #pragma cf operation makes one function of both')
    return None


def has_launch(body):
    """True if the tokens launch a kernel by <<<."""
    for at, token in enumerate(body):
        if token.text == '<' and [t.text for t in body[at:at + 3]] == ['<', '<', '<'] and \
                [t.column - token.column for t in body[at:at + 3]] == [0, 1, 2]:
            return True
    return False


def runs_together(root, everything):
    """True if threads of a kernel wait for one another, or if the kernel is not understood."""
    return next(find_waits(root, everything), None) is not None


def find_waits(root, everything):
    """Yields (declaration, index of a token in its body) for code whose threads have to run together, in a kernel or
    what it reaches. The index 0 means the whole declaration."""
    reached = find_reached(root, everything)
    others = [d for d in everything if not d.has('__global__')]
    has_barrier = any('barrier' in d.words for d in everything)
    has_groups = any('cooperative_groups' in d.words for d in everything)
    own = {d.name for d in others if d.body is not None and d.function is not None and not d.is_member}
    for declaration in reached:
        tokens = list(body_tokens(declaration))
        if not declaration.words.isdisjoint(WORDS) and needs_block(tokens):
            yield declaration, 0
        for at, token in enumerate(tokens):
            if token.kind == 'identifier' and (
                    TOGETHER.fullmatch(token.text) or not (token.text in own and _calls_own(tokens, at)) and (
                        has_barrier and _BARRIERS.fullmatch(token.text) or
                        has_groups and _GROUPS.fullmatch(token.text) and not _is_rank(tokens, at) and
                        _may_name_function(tokens, at))):
                yield declaration, at
    has_cub = any('cub' in d.words for d in everything)
    for declaration in find_reachable([root], others):      # types and variables, too
        if declaration.has('__shared__') or has_cub and any(map(_CUB.fullmatch, declaration.words)):
            yield declaration, 0


def _may_name_function(tokens, at):
    """True if the word at `at` may name a function or a class; False if it can only be a variable."""
    return tokens[at].text.startswith('coalesced_') or tokens[at - 1].text == '::' or \
        tokens[at + 1:] and tokens[at + 1].text in ('(', '<')


def _calls_own(tokens, at):
    """True if a call names a function of the file, and none of cooperative_groups or of a barrier with this name."""
    name = tokens[at].text
    if tokens[at - 1].text in ('.', '->', '::') or [t.text for t in tokens[at + 1:at + 2]] != ['(']:
        return False
    if name not in _ARITIES:
        return re.fullmatch(r'invoke_one\w*|\w+_(update|store)(_async)?', name) is None
    inside = tokens[at + 2:matching(tokens, at + 1, '(', ')') - 1]
    count = len(split_at(inside, ',')) if inside else 0
    return count not in _ARITIES[name] and all(t.text != '<' for t in inside)   # commas between template arguments


def _is_rank(tokens, at):
    return tokens[at].text in _RANKS and [t.text for t in tokens[at + 1:at + 2]] == ['<']
