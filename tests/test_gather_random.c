/* test_gather_random.c - cf_gather_random: its three steps at small sizes, and the whole of it at both sides of where it
 * takes them, against plain loops. */
#include "fake_ask.h"
#include "on_fake.h"

#include "cuferry/kernels_internal.h"

#include <inttypes.h>

#include "../kernels/gather_random.h"

/* ---- Indices ---- */

enum order { RANDOM, IN_ORDER, REVERSED, EQUAL, LAST_WINDOW, EVERY_WINDOW, ORDERS };

static uint64_t state = 88172645463325252u;

UNWATCHED static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Number i of n indices below M, in windows of 2^shift. */
UNWATCHED static int64_t index_of(enum order order, int64_t i, int64_t n, int64_t M, int shift)
{
    const int64_t windows = ((M - 1) >> shift) + 1, last = (windows - 1) << shift;
    switch (order) {
    case IN_ORDER:
        return i % M;
    case REVERSED:
        return (n - 1 - i) % M;
    case EQUAL:
        return M - 1;
    case LAST_WINDOW:
        return last + (int64_t)(next_random() % (uint64_t)(M - last));
    case EVERY_WINDOW: {
        const int64_t at = (i % windows << shift) + i % 7;
        return at < M ? at : M - 1;
    }
    default:
        return (int64_t)(next_random() % (uint64_t)M);
    }
}

/* ---- The steps ---- */

enum { MOST_N = 30000, MOST_M = 70000, MOST_RUNS = 4096 };
static uint64_t source_words[MOST_M + 4], res_words[MOST_N + 8];
static int64_t index_words[MOST_N + 4];
static uint32_t starts[MOST_RUNS];

/* Results begin where they are aligned to their elements alone, and what lies beside them stays as it is. */
#define STEPS(name, U, I, bits, windows)                                                                              \
    static void check_##name(enum order order, int64_t n, int64_t M, int shift, int offset)                           \
    {                                                                                                                 \
        U *source = (U *)(void *)source_words + offset, *res = (U *)(void *)res_words + 4 + offset;                   \
        I *index = (I *)(void *)index_words + offset;                                                                 \
        const int64_t N = n;                                                                                          \
        assert_true(GATHER_RANDOM_RUNS(sizeof(U), shift) <= MOST_RUNS);                                               \
        for (int64_t i = 0; i < M; i++)                                                                               \
            source[i] = (U)(i * 2654435761u + 12345);                                                                 \
        for (int64_t i = 0; i < n; i++)                                                                               \
            index[i] = (I)index_of(order, i, n, M, shift);                                                            \
        for (int64_t i = -4; i < n + 4; i++)                                                                          \
            res[i] = (U)0x5a5a5a5a;                                                                                   \
        assert_ok(cf_gather_random_order_##name(index, res, starts, n, M, shift));                                    \
        for (int64_t i = 1; i < n; i++) {                                                                             \
            const int64_t tile = i / GATHER_RANDOM_TILE(sizeof(U)), before = (i - 1) / GATHER_RANDOM_TILE(sizeof(U)); \
            if (tile == before && res[i - 1] >> shift > res[i] >> shift)                                              \
                fail_msg("windows are not in order at %" PRId64, i);                                                  \
        }                                                                                                             \
        assert_ok(cf_gather_random_fetch_##bits(source, starts, res, n, M, shift));                                   \
        assert_ok(cf_gather_random_restore_##name(index, res, n, M, shift));                                          \
        for (int64_t i = -4; i < n + 4; i++)                                                                          \
            if (res[i] != (i < 0 || i >= n ? (U)0x5a5a5a5a : source[index[i]]))                                       \
                fail_msg(#name ": element %" PRId64 " of %" PRId64 ", order %d, M = %" PRId64 ", shift %d", i, n,     \
                         (int)order, M, shift);                                                                       \
    }                                                                                                                 \
    static void steps_of_##name##_are_a_gather(void **unused)                                                         \
    {                                                                                                                 \
        const int64_t tile = GATHER_RANDOM_TILE(sizeof(U));                                                           \
        const int64_t lengths[] = {1, 31, 32, 33, tile - 1, tile, tile + 1, 3 * tile - 16, 3 * tile + 257};           \
        (void)unused;                                                                                                 \
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)                                                 \
            for (int order = 0; order < ORDERS; order++) {                                                            \
                check_##name((enum order)order, lengths[l], windows * 1000 + 1, 10, 0);                               \
                check_##name((enum order)order, lengths[l], (windows - 1) * 1024 + 3, 10, 1 + (int)l % 3);            \
                check_##name((enum order)order, lengths[l], 1, 0, order % 4);                                         \
                check_##name((enum order)order, lengths[l], windows, 0, 0);                                           \
            }                                                                                                         \
    }

STEPS(u32_i32_few, uint32_t, int32_t, u32, 64)
STEPS(u32_i64_few, uint32_t, int64_t, u32, 64)
STEPS(u64_i32_few, uint64_t, int32_t, u64, 64)
STEPS(u64_i64_few, uint64_t, int64_t, u64, 64)
enum { MANY = 65 }; /* more windows than there are kernels of the others for */
STEPS(u32_i32_many, uint32_t, int32_t, u32, MANY)
STEPS(u32_i64_many, uint32_t, int64_t, u32, MANY)
STEPS(u64_i32_many, uint64_t, int32_t, u64, MANY)
STEPS(u64_i64_many, uint64_t, int64_t, u64, MANY)

static void step_with_too_many_windows_is_refused(void **unused)
{
    (void)unused;
    assert_fails(cf_gather_random_order_u32_i32_few((int32_t *)(void *)index_words, (uint32_t *)(void *)res_words,
                                                    starts, 10, 65, 0),
                 CF_EINVAL, "(M - 1) >> shift < 1 << 6");
}

/* ---- The whole ---- */

static fake_cuda_counts_function *counts_of; /* NULL: on another driver */

static int launches(void)
{
    return counts_of ? counts_of()->launch : 0;
}

/* From so many results of so many elements on it takes steps; source has to be past 32 MiB. */
enum { BORDER_N = 4194304, BORDER_M4 = 2 << 22, BORDER_M8 = 2 << 21 };

#define WHOLE(tag, T, I, border)                                                                \
    static void check_whole_##tag(int64_t N, int64_t M, int expected_launches)                  \
    {                                                                                           \
        T *source = malloc((size_t)M * sizeof *source), *res = malloc((size_t)N * sizeof *res); \
        T *d_source, *d_res;                                                                    \
        I *index = malloc((size_t)N * sizeof *index), *d_index;                                 \
        assert_true(source &&res &&index);                                                      \
        for (int64_t i = 0; i < M; i++)                                                         \
            source[i] = (T)(i % 16777213);                                                      \
        for (int64_t i = 0; i < N; i++)                                                         \
            index[i] = (I)(next_random() % (uint64_t)M);                                        \
        memset(res, 0xee, (size_t)N * sizeof *res);                                             \
        assert_ok(cf_mem_alloc((void **)&d_source, (size_t)M * sizeof *source));                \
        assert_ok(cf_mem_alloc((void **)&d_index, (size_t)N * sizeof *index));                  \
        assert_ok(cf_mem_alloc((void **)&d_res, (size_t)N * sizeof *res));                      \
        assert_ok(cf_mem_copy(d_source, source, (size_t)M * sizeof *source));                   \
        assert_ok(cf_mem_copy(d_index, index, (size_t)N * sizeof *index));                      \
        assert_ok(cf_mem_copy(d_res, res, (size_t)N * sizeof *res));                            \
        const int before = launches();                                                          \
        assert_ok(cf_gather_random_##tag##_async(NULL, d_source, d_index, d_res, N, M));        \
        if (counts_of)                                                                          \
            assert_int_equal(launches() - before, expected_launches);                           \
        assert_ok(cf_mem_copy(res, d_res, (size_t)N * sizeof *res));                            \
        for (int64_t i = 0; i < N; i++)                                                         \
            if (res[i] != source[index[i]])                                                     \
                fail_msg(#tag ": element %" PRId64 " of %" PRId64 ", M = %" PRId64, i, N, M);   \
        assert_ok(cf_mem_free(d_source));                                                       \
        assert_ok(cf_mem_free(d_index));                                                        \
        assert_ok(cf_mem_free(d_res));                                                          \
        free(source);                                                                           \
        free(index);                                                                            \
        free(res);                                                                              \
    }                                                                                           \
    static void whole_##tag##_is_a_gather(void **unused)                                        \
    {                                                                                           \
        (void)unused;                                                                           \
        check_whole_##tag(BORDER_N, border, 1);                                                 \
        check_whole_##tag(BORDER_N - 1, border + 1, 1);                                         \
        check_whole_##tag(BORDER_N, border + 1, 3);                                             \
        check_whole_##tag(BORDER_N + 4099, border + 70001, 3);                                  \
    }

WHOLE(f32_i32, float, int32_t, BORDER_M4)
WHOLE(f64_i32, double, int32_t, BORDER_M8)
WHOLE(i32_i64, int32_t, int64_t, BORDER_M4)
WHOLE(i64_i64, int64_t, int64_t, BORDER_M8)

/* Of few elements of many. */
static void whole_of_a_sparse_index_is_a_gather(void **unused)
{
    (void)unused;
    check_whole_f32_i32(BORDER_N, 8 * (int64_t)BORDER_N, 3);
    check_whole_f32_i32(BORDER_N, 8 * (int64_t)BORDER_N + 8, 1);
}

static void plain_call_takes_host_arrays_and_checks(void **unused)
{
    enum { N = BORDER_N + 5, M = BORDER_M4 + 5 };
    static float source[M], res[N];
    static int32_t index[N];
    (void)unused;
    for (int i = 0; i < M; i++)
        source[i] = (float)(i % 4093);
    for (int i = 0; i < N; i++)
        index[i] = (int32_t)(next_random() % M);
    assert_ok(cf_gather_random(source, index, res, N, M));
    for (int i = 0; i < N; i++)
        assert_true(res[i] == source[index[i]]);
    memset(res, 0, sizeof res);
    index[N - 2] = M;
    assert_fails(cf_gather_random(source, index, res, N, M), CF_ERANGE, "cf_gather_random_f32_i32: index[4194307] = ");
    for (int i = 0; i < N; i++)
        assert_true(res[i] == 0);
    assert_fails(cf_gather_random(source, index, NULL, N, M), CF_EINVAL, "res is NULL");
    assert_fails(cf_gather_random(source, index, source + 1, N, M), CF_EINVAL, "overlap");
    assert_fails(cf_gather_random(source, index, res, -1, M), CF_EINVAL, "negative");
    assert_ok(cf_gather_random(source, index, res, 0, M));
    assert_ok(cf_gather_random((float *)NULL, (int32_t *)NULL, (float *)NULL, 0, 0));
}

static int tear_down(void **unused)
{
    (void)unused;
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    return 0;
}

int main(void)
{
#define TEST(function) cmocka_unit_test_teardown(function, tear_down)
#define STEPS_TEST(name) TEST(steps_of_##name##_are_a_gather)
    const struct CMUnitTest tests[] = {
        STEPS_TEST(u32_i32_few),
        STEPS_TEST(u32_i64_few),
        STEPS_TEST(u64_i32_few),
        STEPS_TEST(u64_i64_few),
        STEPS_TEST(u32_i32_many),
        STEPS_TEST(u32_i64_many),
        STEPS_TEST(u64_i32_many),
        STEPS_TEST(u64_i64_many),
        TEST(step_with_too_many_windows_is_refused),
        TEST(whole_f32_i32_is_a_gather),
        TEST(whole_f64_i32_is_a_gather),
        TEST(whole_i32_i64_is_a_gather),
        TEST(whole_i64_i64_is_a_gather),
        TEST(whole_of_a_sparse_index_is_a_gather),
        TEST(plain_call_takes_host_arrays_and_checks),
    };
    void *library = on_cuda() ? dlopen("libcuda.so.1", RTLD_NOW) : NULL;
    if (library)
        *(void **)&counts_of = dlsym(library, "fake_cuda_counts");
    return RUN_ON_DRIVER(tests, NULL, NULL);
}
