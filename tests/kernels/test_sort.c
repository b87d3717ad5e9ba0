/* test_sort.c - sorted keys, pairs and indices: every type, ascending and descending, with random, few, equal,
 * sorted and special keys, at sizes around the work of a warp, a block, a tile and a CPU chunk, compared with a
 * stable merge sort of indices. Also tests that nothing else is written. */
/* The CPU emulation of the GPU code is about 100 times slower; see test_pieces.py. */
#ifdef REGISTRY
enum { STEP = 5 }; /* divides neither PATTERNS nor the runs of a key */
#else
enum { STEP = 1 };
#endif
#include "elements.h"

#include <limits.h>
#include <math.h>

#include <cuferry/kernels.h>

/* ---- Keys ---- */

enum { KEYS_U32, KEYS_I32, KEYS_F32, KEYS_U64, KEYS_I64, KEYS_F64, KEYS };

/* `type` is a type of the same size. */
static const struct {
    const char *tag;
    int type, bytes;
} keys_of[KEYS] = {{"u32", I32, 4}, {"i32", I32, 4}, {"f32", F32, 4},
                   {"u64", I64, 8}, {"i64", I64, 8}, {"f64", F64, 8}};

enum { RANDOM, NARROW, FEW, EQUAL, SORTED, REVERSED, SPECIAL, PATTERNS };

/* Zeros and NaNs of both signs, some of which differ only in the lowest bit; as integers, minima and maxima. */
static uint64_t special(int key, unsigned short seed[])
{
    static const uint32_t of_32[] = {0,          0x80000000, 0x7fc00000, 0xffc00000, 0x7f800001,
                                     0xffffffff, 0x7fffffff, 0x7f800000, 0xff800000, 1,
                                     0x80000001, 0x3f800000, 0x7f7fffff, 0xff7fffff};
    static const uint64_t of_64[] = {0,
                                     UINT64_C(1) << 63,
                                     0x7ff8000000000000,
                                     0xfff8000000000000,
                                     0x7ff0000000000001,
                                     UINT64_MAX,
                                     UINT64_MAX >> 1,
                                     0x7ff0000000000000,
                                     0xfff0000000000000,
                                     1,
                                     (UINT64_C(1) << 63) + 1,
                                     0x3ff0000000000000,
                                     0x7fefffffffffffff,
                                     0xffefffffffffffff,
                                     0xffffffff,
                                     UINT64_C(1) << 32};
    return keys_of[key].bytes == 4 ? of_32[nrand48(seed) % 14] : of_64[nrand48(seed) % 16];
}

/* Returns the bits of key i of n. */
static uint64_t make_key(int key, int pattern, int64_t i, int64_t n, unsigned short seed[])
{
    const uint64_t bits = (uint64_t)(uint32_t)jrand48(seed) << 32 | (uint32_t)jrand48(seed);
    float single;
    double real;
    uint32_t narrow;
    uint64_t wide;
    switch (pattern) {
    case RANDOM:
        return bits;
    case NARROW: /* most digits are equal */
        return (bits & 0x3ff) | (uint64_t)1 << (8 * keys_of[key].bytes - 4);
    case FEW:
        return (bits % 3) * UINT64_C(0x0101010101010101);
    case EQUAL:
        return UINT64_C(0xc1234567c1234567);
    case SPECIAL:
        return special(key, seed);
    default:
        break;
    }
    const int64_t value = (pattern == SORTED ? i : n - i) / 2 - n / 4;
    single = (float)value;
    real = (double)value;
    memcpy(&narrow, &single, sizeof narrow);
    memcpy(&wide, &real, sizeof wide);
    return key == KEYS_F32                      ? narrow
           : key == KEYS_F64                    ? wide
           : key == KEYS_U32 || key == KEYS_U64 ? (uint64_t)(value + n)
                                                : (uint64_t)value;
}

/* NaN is greater than every number, and equal to every NaN. */
static int is_below(int key, const char *a, const char *b)
{
    uint32_t u[2];
    int32_t i[2];
    float f[2];
    uint64_t v[2];
    int64_t l[2];
    double d[2];
#define BELOW(pair) (memcpy(&pair[0], a, sizeof *pair), memcpy(&pair[1], b, sizeof *pair), pair[0] < pair[1])
    switch (key) {
    case KEYS_U32:
        return BELOW(u);
    case KEYS_I32:
        return BELOW(i);
    case KEYS_F32:
        return BELOW(f) || (!isnan(f[0]) && isnan(f[1]));
    case KEYS_U64:
        return BELOW(v);
    case KEYS_I64:
        return BELOW(l);
    default:
        return BELOW(d) || (!isnan(d[0]) && isnan(d[1]));
    }
}

/* Returns the sorting indices, by merging runs of two, four and so on. */
static int64_t *sorting(int key, const char *keys, int64_t n, int is_descending)
{
    const size_t size = (size_t)keys_of[key].bytes;
    int64_t *from = malloc(((size_t)n + 1) * sizeof *from), *to = malloc(((size_t)n + 1) * sizeof *to);
    assert_true(from && to);
    for (int64_t i = 0; i < n; i++)
        from[i] = i;
    for (int64_t run = 1; run < n; run *= 2) {
        for (int64_t begin = 0; begin < n; begin += 2 * run) {
            const int64_t middle = begin + run < n ? begin + run : n, end = middle + run < n ? middle + run : n;
            int64_t a = begin, b = middle;
            for (int64_t i = begin; i < end; i++) {
                const char *of_a = keys + (size_t)from[a < n ? a : 0] * size;
                const char *of_b = keys + (size_t)from[b < n ? b : 0] * size;
                const int takes_b =
                    a == middle || (b < end && (is_descending ? is_below(key, of_a, of_b) : is_below(key, of_b, of_a)));
                to[i] = from[takes_b ? b++ : a++];
            }
        }
        int64_t *other = from;
        from = to;
        to = other;
    }
    free(to);
    return from;
}

/* ---- Runs ---- */

static void set_bits(struct array *array, int64_t i, uint64_t bits, char *memory)
{
    memcpy(memory + array->begin + (size_t)i * types[array->type].bytes, &bits, types[array->type].bytes);
}

static uint64_t bits_at(const struct array *array, int64_t i)
{
    uint64_t bits = 0;
    memcpy(&bits, array->host + array->begin + (size_t)i * types[array->type].bytes, types[array->type].bytes);
    return bits;
}

static void make_keys(struct array *array, int key, int pattern, int64_t n, int offset, unsigned short seed[])
{
    make_array(array, keys_of[key].type, n, offset);
    for (int64_t i = 0; i < n; i++)
        set_bits(array, i, make_key(key, pattern, i, n, seed), array->host);
    memcpy(array->expected, array->host, array->bytes);
}

static const cf_kernel *find_sort(const char *family, int key, int value)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%s%s%s", family, keys_of[key].tag, value < 0 ? "" : "_",
             value < 0 ? "" : types[value].tag);
    const cf_kernel *kernel = cf_kernel_find(&REGISTRY, name);
    if (!kernel)
        fail_msg("there is no %s", name);
    return kernel;
}

/* In place, the results replace the input arrays. */
static void run_keys(const struct array *keys, int key, int64_t n, const int64_t *order, int is_descending, int way,
                     int is_in_place)
{
    const cf_kernel *kernel = find_sort("sort_keys", key, -1);
    struct array in, out;
    bool descending = is_descending;
    make_array(&in, keys->type, n, 1);
    make_array(&out, keys->type, n, 0);
    for (int64_t i = 0; i < n; i++) {
        set_bits(&in, i, bits_at(keys, i), in.host);
        set_bits(is_in_place ? &in : &out, i, bits_at(keys, order[i]), is_in_place ? in.expected : out.expected);
    }
    if (!is_in_place)
        memcpy(in.expected, in.host, in.bytes);
    void *of_in = place(&in, way), *of_out = is_in_place ? of_in : place(&out, way);
    void *args[] = {&of_in, &of_out, NULL, NULL, &n, &descending};
    assert_int_equal(kernel->nparams, 6);
    run_kernel(kernel, way, args);
    finish_array(&in, kernel->name, n);
    finish_array(&out, kernel->name, n);
}

static void run_pairs(const struct array *keys, int key, int value, int64_t n, const int64_t *order, int is_descending,
                      int way, int is_in_place)
{
    const cf_kernel *kernel = find_sort("sort_pairs", key, value);
    struct array in, out, with, moved;
    bool descending = is_descending;
    make_array(&in, keys->type, n, 0);
    make_array(&out, keys->type, n, 1);
    make_array(&with, value, n, 1);
    make_array(&moved, value, n, 0);
    for (int64_t i = 0; i < n; i++) {
        set_bits(&in, i, bits_at(keys, i), in.host);
        set_bits(&with, i, UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(i + 1), with.host);
    }
    for (int64_t i = 0; i < n; i++) {
        set_bits(is_in_place ? &in : &out, i, bits_at(keys, order[i]), is_in_place ? in.expected : out.expected);
        set_bits(is_in_place ? &with : &moved, i, bits_at(&with, order[i]),
                 is_in_place ? with.expected : moved.expected);
    }
    if (!is_in_place) {
        memcpy(in.expected, in.host, in.bytes);
        memcpy(with.expected, with.host, with.bytes);
    }
    void *of_in = place(&in, way), *of_with = place(&with, way);
    void *of_out = is_in_place ? of_in : place(&out, way), *of_moved = is_in_place ? of_with : place(&moved, way);
    void *args[] = {&of_in, &of_with, &of_out, &of_moved, NULL, NULL, NULL, &n, &descending};
    assert_int_equal(kernel->nparams, 9);
    run_kernel(kernel, way, args);
    finish_array(&in, kernel->name, n);
    finish_array(&out, kernel->name, n);
    finish_array(&with, kernel->name, n);
    finish_array(&moved, kernel->name, n);
}

static void run_argsort(struct array *keys, int key, int value, int64_t n, const int64_t *order, int is_descending,
                        int way)
{
    const cf_kernel *kernel = find_sort("argsort", key, value);
    struct array index;
    bool descending = is_descending;
    make_array(&index, value, n, 1);
    for (int64_t i = 0; i < n; i++)
        set_bits(&index, i, (uint64_t)order[i], index.expected);
    void *of_keys = place(keys, way), *of_index = place(&index, way);
    void *args[] = {&of_keys, &of_index, NULL, NULL, NULL, NULL, &n, &descending};
    assert_int_equal(kernel->nparams, 8);
    run_kernel(kernel, way, args);
    finish_array(&index, kernel->name, n);
}

/* Runs all three kernels with values of 4 and 8 bytes, or the other way round. */
static void run_always(int key, int pattern, int64_t n, int is_wide, unsigned short seed[])
{
    struct array keys;
    make_keys(&keys, key, pattern, n, (int)(nrand48(seed) % 3), seed);
    const int is_descending = (int)(nrand48(seed) % 2);
    int64_t *order = sorting(key, keys.host + keys.begin, n, is_descending);
    run_keys(&keys, key, n, order, is_descending, (int)(nrand48(seed) % WAYS), (int)(nrand48(seed) % 2));
    run_pairs(&keys, key, is_wide ? I64 : I32, n, order, is_descending, (int)(nrand48(seed) % WAYS),
              (int)(nrand48(seed) % 2));
    run_argsort(&keys, key, is_wide ? I32 : I64, n, order, is_descending, (int)(nrand48(seed) % WAYS));
    finish_array(&keys, "keys of argsort", n);
    free(order);
}

static void run(int key, int pattern, int64_t n, unsigned short seed[])
{
    static int runs;
    if (runs++ % STEP == 0)
        run_always(key, pattern, n, (int)(nrand48(seed) % 2), seed);
}

/* Sizes around the limit of insertion sort, the work of a warp and a block, and the limit of a single launch. */
static const int64_t few[] = {0, 1, 2, 3, 31, 32, 33, 40, 41, 255, 256, 257, 1000, 4095, 4096, 4097};

TEST(sort_of_few_is_right)
{
    unsigned short seed[3] = {1, 2, 3};
    for (int key = 0; key < KEYS; key++)
        for (size_t s = 0; s < sizeof few / sizeof *few; s++)
            for (int pattern = 0; pattern < PATTERNS; pattern++)
                if (few[s] < 300 || pattern % 3 == key % 3)
                    run(key, pattern, few[s], seed);
}

/* Sizes around all tile shapes and CPU chunks. */
static const int64_t many[] = {4097, 4607, 4608, 4609, 5759, 5760,  5761, 6143,
                               6144, 6145, 8831, 8832, 8833, 12289, 17665};

TEST(sort_of_many_is_right)
{
    unsigned short seed[3] = {4, 5, 6};
    for (int key = 0; key < KEYS; key++) {
        for (size_t s = 0; s < sizeof many / sizeof *many; s++)
            run(key, (int)(s + (size_t)key) % PATTERNS, many[s], seed);
        for (int pattern = 0; pattern < PATTERNS; pattern++)
            run(key, pattern, 13000 + 7 * pattern, seed);
    }
    for (int key = 0; key < KEYS; key++)
        run(key, key % 2 ? RANDOM : SPECIAL, 65536 + key - 1, seed);
    run(KEYS_U32, RANDOM, 3 * 65536 + 1, seed);
    run(KEYS_F64, SPECIAL, 2 * 65536, seed);
}

/* The test must not skip these cases: values of 4 and 8 bytes give all shapes of tiles. */
TEST(sort_around_tiles_is_right)
{
    unsigned short seed[3] = {7, 8, 9};
    for (size_t s = 0; s < sizeof many / sizeof *many; s++) {
        run_always(KEYS_U32, RANDOM, many[s], 0, seed);
        run_always(KEYS_U64, RANDOM, many[s], 1, seed);
    }
    run_always(KEYS_F32, SPECIAL, 33, 0, seed);
    run_always(KEYS_F32, SPECIAL, 12289, 1, seed);
}

/* If all keys have the same digit they keep their places, also across the launches of a pass: see SORT_MOST in
 * test_pieces.py. */
TEST(sort_of_one_digit_over_launches_is_right)
{
    unsigned short seed[3] = {10, 11, 12};
    for (int is_wide = 0; is_wide < 2; is_wide++) {
        run_always(is_wide ? KEYS_U64 : KEYS_U32, EQUAL, 65537, is_wide, seed);
        run_always(is_wide ? KEYS_U64 : KEYS_U32, NARROW, 65537, is_wide, seed);
    }
}

/* Tests one launch of a pass: it passes the starts of the digits to the next launch and leaves its words zero, which
 * belong to tiles on a GPU and to a state on the CPU. */
TEST(sort_pass_leaves_what_the_next_needs)
{
    enum { COUNT = 2 * 6144, TILES = 5, WORDS = TILES * 256, CLEARED = STEP > 1 ? WORDS : 4 };
    static uint32_t keys[COUNT], sorted[COUNT], words[2][WORDS];
    int64_t begins[256], next[256], n = COUNT, tiles = TILES, total = 2 * COUNT, index = 0;
    int shift = 0;
    uint64_t flip = 0;
    bool is_float = false;
    const cf_kernel *kernel = cf_kernel_find(&REGISTRY, "sort_pass_u32");
    assert_true(kernel && kernel->is_internal);
    for (uint32_t i = 0; i < COUNT; i++)
        keys[i] = i << 8 | (i * 7 & 255);
    for (int digit = 0; digit < 256; digit++)
        begins[digit] = (int64_t)digit * ((COUNT + 255) / 256);
    memset(words[1], 0xff, sizeof words[1]);
    const void *from[] = {keys, sorted, begins, next, words[0], words[1]};
    const size_t bytes[] = {sizeof keys, sizeof sorted + 16384, sizeof begins,
                            sizeof next, sizeof words[0],       sizeof words[1]};
    const size_t given[] = {sizeof keys, 0, sizeof begins, 0, sizeof words[0], sizeof words[1]};
    void *there[6], *none = NULL;
    for (int i = 0; i < 6; i++) {
        assert_ok(cf_mem_alloc(&there[i], bytes[i]));
        assert_ok(cf_mem_copy(there[i], from[i], given[i]));
    }
    void *args[] = {&there[0], &there[1], &none,  &none,  &there[2], &there[3], &there[4], &there[5],
                    &n,        &tiles,    &total, &index, &shift,    &flip,     &is_float};
    assert_int_equal(kernel->nparams, 15);
    run_kernel(kernel, LAUNCH, args);
    assert_ok(cf_mem_copy(next, there[3], sizeof next));
    assert_ok(cf_mem_copy(words[1], there[5], sizeof words[1]));
    for (int digit = 0; digit < 256; digit++) {
        int64_t end = begins[digit];
        for (uint32_t i = 0; i < COUNT; i++)
            if ((keys[i] & 255) == (uint32_t)digit) {
                uint32_t found;
                assert_ok(i % 40 ? CF_OK : cf_mem_copy(&found, (uint32_t *)there[1] + end, sizeof found));
                assert_true(i % 40 || found == keys[i]);
                end++;
            }
        assert_int_equal(next[digit], end);
    }
    for (int i = 0; i < CLEARED; i++)
        assert_int_equal(words[1][i], 0);
    for (int i = 0; i < 6; i++)
        assert_ok(cf_mem_free(there[i]));
}

/* Sorting only keys keeps the order of equal zeros and NaNs. */
TEST(sort_of_zeros_and_nans_is_stable)
{
    float keys[6] = {NAN, 0.0f, 1.0f, -0.0f, -INFINITY, -NAN}, sorted[6];
    double twice[4] = {-0.0, NAN, 0.0, -1.0};
    int32_t index[6];
    int64_t wide[4], n = 6, few_keys = 4;
    bool up = false, down = true;
    void *of_keys = keys, *of_sorted = sorted, *of_index = index, *of_twice = twice, *of_wide = wide;
    void *sort[] = {&of_keys, &of_sorted, NULL, NULL, &n, &up};
    void *indices[] = {&of_keys, &of_index, NULL, NULL, NULL, NULL, &n, &down};
    void *others[] = {&of_twice, &of_wide, NULL, NULL, NULL, NULL, &few_keys, &up};
    run_kernel(find_sort("sort_keys", KEYS_F32, -1), CALL_HOST, sort);
    assert_true(sorted[0] == -INFINITY && sorted[3] == 1.0f && sorted[1] == 0 && sorted[2] == 0);
    assert_true(!signbit(sorted[1]) && signbit(sorted[2]));
    assert_true(isnan(sorted[4]) && isnan(sorted[5]) && signbit(keys[0]) == signbit(sorted[4]) &&
                signbit(keys[5]) == signbit(sorted[5]));
    run_kernel(find_sort("argsort", KEYS_F32, I32), CALL_HOST, indices);
    const int32_t expected[6] = {0, 5, 2, 1, 3, 4};
    assert_memory_equal(index, expected, sizeof expected);
    run_kernel(find_sort("argsort", KEYS_F64, I64), CALL_HOST, others);
    assert_true(wide[0] == 3 && wide[1] == 0 && wide[2] == 2 && wide[3] == 1);
}

/* ---- Past 2^31 ---- */

enum { LOOK = 20000 };
static const int64_t huge = ((int64_t)1 << 31) + 12345;
static const int64_t begins[] = {0, ((int64_t)1 << 30) - LOOK / 2, ((int64_t)1 << 31) - LOOK / 2,
                                 ((int64_t)1 << 31) + 12345 - LOOK};

/* Returns an array of step * i modulo 2^32. */
static void *make_steps(int32_t step)
{
    void *steps;
    assert_ok(cf_mem_alloc(&steps, (size_t)huge * sizeof(int32_t)));
    assert_ok(cf_fill(step, (int32_t *)steps, huge));
    assert_ok(cf_exclusive_scan((const int32_t *)steps, (int32_t *)steps, huge));
    return steps;
}

TEST(sort_past_2_31_is_right)
{
    const int64_t n = huge;
    static uint32_t found[LOOK];
    void *sorted;
    skip_without_memory(14 * huge); /* includes scratch memory */
    void *keys = make_steps(1);
    assert_ok(cf_mem_alloc(&sorted, (size_t)n * sizeof(uint32_t)));
    assert_ok(cf_sort_keys((const uint32_t *)keys, (uint32_t *)sorted, n, true));
    for (int b = 0; b < 4; b++) {
        assert_ok(cf_mem_copy(found, (uint32_t *)sorted + begins[b], sizeof found));
        for (int64_t i = 0; i < LOOK; i++)
            assert_int_equal(found[i], (uint32_t)(n - 1 - begins[b] - i));
    }
    assert_ok(cf_mem_free(keys));
    assert_ok(cf_mem_free(sorted));
}

/* Sorts in place; the keys are unsorted. */
TEST(sort_pairs_past_2_31_is_right)
{
    static uint32_t found[2][LOOK];
    skip_without_memory(18 * huge);
    /* Multiplying by an odd number is one-to-one modulo 2^32, so all keys are different. */
    void *keys = make_steps((int32_t)2654435769), *values = make_steps(7);
    const uint32_t inverse = 340573321; /* modular inverse of that number: key * inverse is i */
    assert_int_equal((uint32_t)(2654435769u * inverse), 1);
    assert_ok(cf_sort_pairs((const uint32_t *)keys, (const int32_t *)values, (uint32_t *)keys, (int32_t *)values, huge,
                            false));
    for (int b = 0; b < 4; b++) {
        assert_ok(cf_mem_copy(found[0], (uint32_t *)keys + begins[b], sizeof found[0]));
        assert_ok(cf_mem_copy(found[1], (uint32_t *)values + begins[b], sizeof found[1]));
        for (int64_t i = 0; i < LOOK; i++) {
            const uint32_t from = found[0][i] * inverse;
            assert_true(from < huge && found[1][i] == 7 * from && (i == 0 || found[0][i] > found[0][i - 1]));
        }
    }
    assert_ok(cf_mem_free(keys));
    assert_ok(cf_mem_free(values));
}

TEST(argsort_past_2_31_is_right)
{
    static int64_t found[LOOK];
    void *index;
    skip_without_memory(31 * huge);
    void *keys = make_steps(1);
    assert_ok(cf_mem_alloc(&index, (size_t)huge * sizeof(int64_t)));
    assert_ok(cf_argsort((const uint32_t *)keys, (int64_t *)index, huge, true));
    for (int b = 0; b < 4; b++) {
        assert_ok(cf_mem_copy(found, (int64_t *)index + begins[b], sizeof found));
        for (int64_t i = 0; i < LOOK; i++)
            assert_int_equal(found[i], huge - 1 - begins[b] - i);
    }
    assert_ok(cf_mem_free(keys));
    assert_ok(cf_mem_free(index));
}

/* ---- Small stacks ---- */

/* Arrays that a thread sorts; each key is its position. The test's own thread makes the assertions. */
struct small_stack {
    int64_t n;
    double keys[4097], sorted[4097];
    int64_t values[4097], moved[4097], index[4097];
    int status[4];
};

static void *sort_on_small_stack(void *opaque)
{
    struct small_stack *all = opaque;
    all->status[0] = cf_sort_keys((const double *)all->keys, all->sorted, all->n, false);
    all->status[1] = cf_argsort((const double *)all->keys, all->index, all->n, false);
    all->status[2] =
        cf_sort_pairs((const double *)all->keys, (const int64_t *)all->values, all->sorted, all->moved, all->n, false);
    all->status[3] =
        cf_sort_pairs((const double *)all->keys, (const int64_t *)all->values, all->keys, all->values, all->n, false);
    return NULL;
}

/* A thread with the minimum stack plus 64 KiB must have enough stack. */
TEST(sort_in_a_thread_of_a_small_stack_is_right)
{
    const int64_t counts[] = {3, 1000, 4096, 4097};
    static struct small_stack all;
    pthread_attr_t attributes;
    pthread_t thread;
    if (on_cuda() || SANITIZED)
        skip_test(on_cuda() ? NEEDS_CPU : NEEDS_NO_SANITIZER);
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN + 65536), 0);
    for (size_t s = 0; s < sizeof counts / sizeof *counts; s++) {
        all.n = counts[s];
        for (int64_t i = 0; i < all.n; i++) {
            all.keys[i] = (double)(i * 7919 % all.n);
            all.values[i] = 3 * i;
        }
        assert_int_equal(pthread_create(&thread, &attributes, sort_on_small_stack, &all), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        for (int call = 0; call < 4; call++)
            assert_ok(all.status[call]);
        for (int64_t i = 0; i < all.n; i++) {
            const int64_t place = i * 7919 % all.n;
            if (all.sorted[i] != (double)i || all.keys[i] != (double)i || all.index[place] != i ||
                all.moved[place] != 3 * i || all.values[place] != 3 * i)
                fail_msg("%d keys: %d is wrong", (int)all.n, (int)i);
        }
    }
    assert_int_equal(pthread_attr_destroy(&attributes), 0);
}

/* ---- Graphs and streams ---- */

/* Each replay starts with counts of 0, and a simultaneous call has its own scratch memory. */
TEST(sort_in_a_graph_and_on_two_streams_is_right)
{
    enum { COUNT = 30001 };
    static uint32_t keys[COUNT], found[2][COUNT];
    void *in, *out[2];
    cf_stream streams[2];
    cf_graph graph;
    cf_graph_exec exec;
    for (int s = 0; s < 2; s++) {
        assert_ok(cf_stream_create(&streams[s]));
        assert_ok(cf_mem_alloc(&out[s], sizeof keys));
    }
    assert_ok(cf_mem_alloc(&in, sizeof keys));
    assert_ok(cf_preload(&cf_registry));
    assert_ok(cf_stream_capture_begin(streams[0]));
    assert_ok(cf_sort_keys_async(streams[0], (const uint32_t *)in, (uint32_t *)out[0], COUNT, false));
    assert_ok(cf_stream_capture_end(streams[0], &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    assert_ok(cf_graph_destroy(graph));
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < COUNT; i++)
            keys[i] = (i * 7919 + round) % COUNT * 100000u;
        assert_ok(cf_mem_copy(in, keys, sizeof keys));
        assert_ok(cf_graph_launch(exec, streams[0]));
        assert_ok(cf_sort_keys_async(streams[1], (const uint32_t *)in, (uint32_t *)out[1], COUNT, true));
        for (int s = 0; s < 2; s++) {
            assert_ok(cf_stream_sync(streams[s]));
            assert_ok(cf_mem_copy(found[s], out[s], sizeof keys));
        }
        for (uint32_t i = 0; i < COUNT; i++)
            if (found[0][i] != i * 100000u || found[1][i] != (COUNT - 1 - i) * 100000u)
                fail_msg("round %u, %u: %u, %u", round, i, found[0][i], found[1][i]);
    }
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_mem_free(in));
    for (int s = 0; s < 2; s++) {
        assert_ok(cf_stream_destroy(streams[s]));
        assert_ok(cf_mem_free(out[s]));
    }
}

/* ---- Values and arguments ---- */

TEST(sort_takes_every_type)
{
    const uint32_t u[] = {3, 0xffffffff, 1};
    const int32_t i[] = {3, -1, 1}, narrow[] = {10, 20, 30};
    const int64_t l[] = {3, -1, 1}, wide[] = {10, 20, 30};
    const uint64_t v[] = {3, UINT64_MAX, 1};
    uint32_t of_u[3];
    int32_t of_i[3], of_narrow[3];
    uint64_t of_v[3];
    int64_t of_l[3], of_wide[3];
    assert_ok(cf_sort_keys(u, of_u, 3, false));
    assert_ok(cf_sort_keys(i, of_i, 3, false));
    assert_ok(cf_sort_keys(v, of_v, 3, true));
    assert_ok(cf_sort_keys(l, of_l, 3, true));
    assert_true(of_u[0] == 1 && of_u[1] == 3 && of_u[2] == 0xffffffff);
    assert_true(of_i[0] == -1 && of_i[1] == 1 && of_i[2] == 3);
    assert_true(of_v[0] == UINT64_MAX && of_v[1] == 3 && of_v[2] == 1);
    assert_true(of_l[0] == 3 && of_l[1] == 1 && of_l[2] == -1);
    assert_ok(cf_sort_pairs(i, narrow, of_i, of_narrow, 3, true));
    assert_ok(cf_sort_pairs(l, wide, of_l, of_wide, 3, false));
    assert_true(of_i[0] == 3 && of_narrow[0] == 10 && of_narrow[1] == 30 && of_narrow[2] == 20);
    assert_true(of_l[0] == -1 && of_wide[0] == 20 && of_wide[1] == 30 && of_wide[2] == 10);
    assert_ok(cf_argsort(u, of_narrow, 3, false));
    assert_ok(cf_argsort(v, of_wide, 3, false));
    assert_true(of_narrow[0] == 2 && of_narrow[1] == 0 && of_narrow[2] == 1);
    assert_true(of_wide[0] == 2 && of_wide[1] == 0 && of_wide[2] == 1);
}

TEST(sort_of_nothing_is_nothing)
{
    assert_ok(cf_sort_keys((const float *)NULL, NULL, 0, false));
    assert_ok(cf_sort_pairs((const float *)NULL, (const int32_t *)NULL, NULL, NULL, 0, true));
    assert_ok(cf_argsort((const float *)NULL, (int32_t *)NULL, 0, false));
    assert_ok(cf_sort_keys_async(NULL, (const float *)NULL, NULL, 0, false));
}

TEST(sort_bad_arguments_are_named)
{
    float x[6] = {3, 2, 1, 6, 5, 4}, y[3] = {7, 8, 9};
    int32_t index[3] = {7, 8, 9}, *same = (int32_t *)(void *)x;
    assert_fails(cf_sort_keys((const float *)NULL, y, 3, false), CF_EINVAL,
                 "cf_sort_keys_f32: keys is NULL and its extent is 3");
    assert_fails(cf_sort_keys(x, NULL, 3, false), CF_EINVAL, "cf_sort_keys_f32: sorted is NULL and its extent is 3");
    assert_fails(cf_sort_keys(x, y, -1, false), CF_EINVAL,
                 "cf_sort_keys_f32: the extent keys[n] is negative with n = -1");
    assert_fails(cf_sort_keys_async(NULL, x, y, INT64_MIN, false), CF_EINVAL,
                 "cf_sort_keys_f32_async: the extent keys[n] is negative with n = -9223372036854775808");
    assert_fails(cf_sort_keys(x, y, INT64_MAX, false), CF_EOVERFLOW,
                 "cf_sort_keys_f32: keys[n] has more than 2^63 - 1 bytes with n = 9223372036854775807");
    assert_fails(cf_sort_pairs(x, index, y, (int32_t *)NULL, 3, false), CF_EINVAL,
                 "cf_sort_pairs_f32_i32: sorted_values is NULL and its extent is 3");
    assert_fails(cf_argsort(x, index, ((int64_t)1 << 31) + 1, false), CF_EINVAL,
                 "cf_argsort_f32_i32: the check sizeof(int32_t) > 4 || n <= 2147483648 fails with n = 2147483649");
    assert_fails(
        cf_argsort_async(NULL, x, index, ((int64_t)1 << 31) + 1, false), CF_EINVAL,
        "cf_argsort_f32_i32_async: the check sizeof(int32_t) > 4 || n <= 2147483648 fails with n = 2147483649");
    assert_fails(cf_sort_keys(x, x + 1, 3, false), CF_EINVAL,
                 "cf_sort_keys_f32: keys and sorted overlap by 8 bytes; in place they have to be one array, and sorted "
                 "begins 4 bytes after keys");
    assert_fails(cf_argsort(x, same, 3, false), CF_EINVAL,
                 "cf_argsort_f32_i32: keys and index overlap by 12 bytes; the kernel declares both __restrict__");
    assert_true(x[0] == 3 && x[5] == 4 && y[0] == 7 && index[2] == 9);
    assert_ok(cf_sort_keys(x, x + 3, 3, false));
    assert_true(x[0] == 3 && x[3] == 1 && x[5] == 3);
}

int main(void)
{
    return run_all_tests(NULL, NULL);
}
