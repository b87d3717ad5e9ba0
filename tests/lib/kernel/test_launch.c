/* test_launch.c - asynchronous calls: cf_launch() and the `_async` functions on streams, with their checks of
 * scalars. */
#include "run_group.h"

#include <pthread.h>

#include <cuferry/kernels.h>
#include <cuferry/registry.h>

#include "expr_steps.h"
#include "gather_instances.h"
#include "any_arguments.h"

#define POISON 0xa5
#define GUARD 64 /* bytes after each result */

typedef int gather_async(cf_stream stream, const void *source, const void *index, void *res, int64_t N, int64_t M);

#define DEFINE(name, T, I)                                                                                            \
    static int typed_##name(cf_stream stream, const void *source, const void *index, void *res, int64_t N, int64_t M) \
    {                                                                                                                 \
        return cf_gather_##name##_async(stream, source, index, res, N, M);                                            \
    }                                                                                                                 \
    static int generic_##name(cf_stream stream, const void *source, const void *index, void *res, int64_t N,          \
                              int64_t M)                                                                              \
    {                                                                                                                 \
        return cf_gather_async(stream, (const T *)source, (const I *)index, (T *)res, N, M);                          \
    }                                                                                                                 \
    static int registered_##name(cf_stream stream, const void *source, const void *index, void *res, int64_t N,       \
                                 int64_t M)                                                                           \
    {                                                                                                                 \
        void *const args[] = {(void *)&source, (void *)&index, (void *)&res, &N, &M};                                 \
        return cf_launch(cf_kernel_find(&cf_registry, "gather_" #name), stream, args);                                \
    }
INSTANCES(DEFINE)
#undef DEFINE

static const struct instance {
    const char *name;
    gather_async *ways[3];
    size_t element, index;
} instances[] = {
#define ROW(name, T, I) {#name, {typed_##name, generic_##name, registered_##name}, sizeof(T), sizeof(I)},
    INSTANCES(ROW)
#undef ROW
};
enum { INSTANCE_COUNT = sizeof instances / sizeof *instances };

static void random_bytes(unsigned short seed[], void *target, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)target)[i] = (unsigned char)(nrand48(seed) >> 8);
}

/* A gather of random data: host copies, the expected result, and the arrays in device memory. */
struct data {
    unsigned char *source, *index, *expected, *read;
    void *device_source, *device_index, *device_res;
    size_t source_bytes, index_bytes, res_bytes;
    int64_t N, M;
};

static void *upload(const void *data, size_t bytes)
{
    void *memory = NULL;
    return cf_mem_alloc(&memory, bytes) == CF_OK && cf_mem_copy(memory, data, bytes) == CF_OK ? memory : NULL;
}

/* Returns 0 on failure, because assertions do not work on other threads. */
static int make(struct data *data, const struct instance *instance, int64_t N, int64_t M, unsigned short seed[])
{
    *data = (struct data){.source_bytes = (size_t)M * instance->element,
                          .index_bytes = (size_t)N * instance->index,
                          .res_bytes = (size_t)N * instance->element,
                          .N = N,
                          .M = M};
    data->source = malloc(data->source_bytes + 1);
    data->index = malloc(data->index_bytes + 1);
    data->expected = malloc(data->res_bytes + GUARD);
    data->read = malloc(data->res_bytes + GUARD);
    random_bytes(seed, data->source, data->source_bytes);
    memset(data->expected, POISON, data->res_bytes + GUARD);
    data->device_res = upload(data->expected, data->res_bytes + GUARD);
    for (int64_t i = 0; i < N; i++) {
        int64_t at = nrand48(seed) % M;
        if (instance->index == sizeof(int32_t))
            ((int32_t *)(void *)data->index)[i] = (int32_t)at;
        else
            ((int64_t *)(void *)data->index)[i] = at;
        memcpy(data->expected + (size_t)i * instance->element, data->source + (size_t)at * instance->element,
               instance->element);
    }
    data->device_source = upload(data->source, data->source_bytes + 1);
    data->device_index = upload(data->index, data->index_bytes + 1);
    return data->device_source && data->device_index && data->device_res;
}

/* Returns 1 if every element is right and the guard bytes after the last one are unchanged. */
static int is_right(const struct data *data)
{
    memset(data->read, (unsigned char)~POISON, data->res_bytes + GUARD);
    return cf_mem_copy(data->read, data->device_res, data->res_bytes + GUARD) == CF_OK &&
           memcmp(data->read, data->expected, data->res_bytes + GUARD) == 0;
}

static int release(struct data *data)
{
    free(data->source);
    free(data->index);
    free(data->expected);
    free(data->read);
    int first = cf_mem_free(data->device_source), second = cf_mem_free(data->device_index),
        third = cf_mem_free(data->device_res);
    return first == CF_OK && second == CF_OK && third == CF_OK;
}

static int launch(const cf_kernel *kernel, cf_stream stream, struct data *data)
{
    void *const args[] = {&data->device_source, &data->device_index, &data->device_res, &data->N, &data->M};
    return cf_launch(kernel, stream, args);
}

/* ---- Results ---- */

static void check_instances(int way)
{
    static const int64_t sizes[] = {0, 1, 31, 32, 33, 255, 256, 257, 100003};
    unsigned short seed[3] = {1, 2, (unsigned short)way};
    cf_stream own;
    assert_ok(cf_stream_create(&own));
    cf_stream streams[] = {NULL, own, (cf_stream)1, (cf_stream)2};
    for (size_t i = 0; i < INSTANCE_COUNT; i++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct data data;
            cf_stream stream = streams[(i + s) % 4];
            assert_true(make(&data, &instances[i], sizes[s], 1 + nrand48(seed) % 5000, seed));
            assert_ok(
                instances[i].ways[way](stream, data.device_source, data.device_index, data.device_res, data.N, data.M));
            assert_ok(cf_stream_sync(stream));
            if (!is_right(&data))
                fail_msg("gather_%s of %d elements is wrong", instances[i].name, (int)sizes[s]);
            assert_true(release(&data));
        }
    assert_ok(cf_stream_destroy(own));
}

TEST(gather_async_typed_function_every_size_is_right)
{
    check_instances(0);
}

TEST(gather_async_generic_every_size_is_right)
{
    check_instances(1);
}

TEST(launch_registered_kernel_every_size_is_right)
{
    check_instances(2);
}

/* Each launch reads the result of the launch before it. */
TEST(gather_async_chain_on_one_stream_keeps_its_order)
{
    enum { N = 50000, STEPS = 40 };
    unsigned short seed[3] = {6, 6, 6};
    static int32_t next[N], value[N], expected[N];
    for (int i = 0; i < N; i++) {
        next[i] = (i + 1) % N;
        value[i] = (int32_t)nrand48(seed);
    }
    for (int i = 0; i < N; i++)
        expected[i] = value[(i + STEPS) % N];
    int32_t *index = upload(next, sizeof next), *even = upload(value, sizeof value), *odd = upload(next, sizeof next);
    cf_stream stream;
    assert_true(index && even && odd);
    assert_ok(cf_stream_create(&stream));
    for (int i = 0; i < STEPS; i++)
        assert_ok(cf_gather_async(stream, i % 2 ? odd : even, index, i % 2 ? even : odd, N, N));
    assert_ok(cf_mem_copy_async(stream, value, even, sizeof value));
    assert_ok(cf_stream_sync(stream));
    assert_memory_equal(value, expected, sizeof value);
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(index));
    assert_ok(cf_mem_free(even));
    assert_ok(cf_mem_free(odd));
}

TEST(outside_async_lowers_first_in_place)
{
    enum { N = 70000 };
    static int64_t values[N];
    int64_t first = N;
    int64_t *device = upload(values, sizeof values), *found = upload(&first, sizeof first);
    assert_true(device && found);
    assert_ok(cf_outside_async(NULL, device, 0, 0, found, N));
    assert_ok(cf_mem_copy(&first, found, sizeof first));
    assert_int_equal(first, N);
    values[69999] = 1, values[1234] = -1, values[40000] = INT64_MIN;
    assert_ok(cf_mem_copy(device, values, sizeof values));
    assert_ok(cf_outside_async(NULL, device, 0, 0, found, N));
    assert_ok(cf_mem_copy(&first, found, sizeof first));
    assert_int_equal(first, 1234);
    assert_ok(cf_mem_free(device));
    assert_ok(cf_mem_free(found));
}

/* Returns the number of launches that failed. */
static void *launch_on_thread(void *number)
{
    unsigned short seed[3] = {11, 12, (unsigned short)(uintptr_t)number};
    intptr_t wrong = 0;
    cf_stream stream;
    if (cf_stream_create(&stream) != CF_OK)
        return (void *)(intptr_t)-1;
    for (int round = 0; round < 24; round++) {
        const struct instance *instance = &instances[nrand48(seed) % INSTANCE_COUNT];
        struct data data;
        wrong += !make(&data, instance, 1 + nrand48(seed) % 40000, 1 + nrand48(seed) % 1000, seed);
        wrong += instance->ways[round % 3](stream, data.device_source, data.device_index, data.device_res, data.N,
                                           data.M) != CF_OK;
        wrong += cf_stream_sync(stream) != CF_OK;
        wrong += !is_right(&data);
        wrong += !release(&data);
    }
    wrong += cf_stream_destroy(stream) != CF_OK;
    return (void *)wrong;
}

/* After a shutdown, the thread that comes first loads the images again. */
TEST(gather_async_8_threads_on_own_streams_are_right)
{
    assert_ok(cf_shutdown());
    run_threads(8, launch_on_thread);
}

/* ---- Scalars ---- */

/* Expects that each instance fails with this error and enqueues nothing. */
static void expect_refusal(int64_t N, int64_t M, int status, const char *detail)
{
    for (size_t i = 0; i < INSTANCE_COUNT; i++) {
        unsigned short seed[3] = {1, 1, 1};
        struct data data;
        char said[256];
        assert_true(make(&data, &instances[i], 10, 10, seed));
        memset(data.expected, POISON, data.res_bytes);
        snprintf(said, sizeof said, "cf_gather_%s_async: %s", instances[i].name, detail);
        for (int way = 0; way < 3; way++)
            assert_fails(instances[i].ways[way](NULL, data.device_source, data.device_index, data.device_res, N, M),
                         status, said);
        assert_ok(cf_device_sync());
        assert_true(is_right(&data));
        assert_true(release(&data));
    }
}

TEST(gather_async_negative_extent_is_invalid)
{
    expect_refusal(-1, 10, CF_EINVAL, "the extent index[N] is negative with N = -1");
    expect_refusal(INT64_MIN, 10, CF_EINVAL, "the extent index[N] is negative with N = -9223372036854775808");
    expect_refusal(10, -2, CF_EINVAL, "the extent source[M] is negative with M = -2");
}

TEST(gather_async_too_many_bytes_overflows)
{
    expect_refusal(1, INT64_MAX, CF_EOVERFLOW, "source[M] has more than 2^63 - 1 bytes with M = 9223372036854775807");
    expect_refusal(1, INT64_MAX / 4 + 1, CF_EOVERFLOW, "source[M] has more than 2^63 - 1 bytes");
    expect_refusal(INT64_MAX, 1, CF_EOVERFLOW, "index[N] has more than 2^63 - 1 bytes with N = 9223372036854775807");
    expect_refusal(INT64_MAX / 4 + 1, 1, CF_EOVERFLOW, "index[N] has more than 2^63 - 1 bytes");
}

TEST(gather_async_grid_past_the_limit_overflows)
{
    expect_refusal((int64_t)1024 * INT32_MAX + 1, 1, CF_EOVERFLOW,
                   "grid(N) asks for 2147483648 blocks and a grid has at most 2147483647");
    expect_refusal(INT64_MAX / 8, 1, CF_EOVERFLOW, "grid(N) asks for 1125899906842624 blocks");
}

TEST(gather_async_null_with_extent_is_invalid)
{
    char *memory = upload("0123456789abcdef", 16);
    assert_non_null(memory);
    for (size_t i = 0; i < INSTANCE_COUNT; i++)
        for (int way = 0; way < 3; way++) {
            gather_async *gather = instances[i].ways[way];
            assert_fails(gather(NULL, NULL, memory, memory, 1, 2), CF_EINVAL, ": source is NULL and its extent is 2");
            assert_fails(gather(NULL, memory, NULL, memory, 1, 1), CF_EINVAL, ": index is NULL and its extent is 1");
            assert_fails(gather(NULL, memory, memory, NULL, 1, 1), CF_EINVAL, ": res is NULL and its extent is 1");
            assert_fails(gather(NULL, NULL, NULL, NULL, 0, 1), CF_EINVAL, ": source is NULL and its extent is 1");
        }
    assert_ok(cf_mem_free(memory));
}

TEST(gather_async_nothing_to_do_succeeds)
{
    char *memory = upload("0123456789abcdef", 16);
    assert_non_null(memory);
    for (size_t i = 0; i < INSTANCE_COUNT; i++)
        for (int way = 0; way < 3; way++) {
            assert_ok(instances[i].ways[way](NULL, NULL, NULL, NULL, 0, 0));
            assert_ok(instances[i].ways[way](NULL, memory, NULL, NULL, 0, 2));
            assert_ok(instances[i].ways[way]((cf_stream)2, memory, memory, memory, 0, 2));
        }
    assert_ok(cf_mem_free(memory));
}

TEST(gather_async_destroyed_stream_is_invalid)
{
    need_cpu();
    unsigned short seed[3] = {2, 2, 2};
    struct data data;
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_stream_destroy(stream));
    assert_true(make(&data, &instances[0], 10, 10, seed));
    memset(data.expected, POISON, data.res_bytes);
    assert_fails(cf_gather_f32_i32_async(stream, data.device_source, data.device_index, data.device_res, 10, 10),
                 CF_EINVAL, ": invalid resource handle");
    assert_true(is_right(&data));
    assert_true(release(&data));
}

/* ---- Copies of the first instance's descriptor, without its compiled checks ---- */

enum { SOURCE, INDEX, RES, N_, M_ }; /* parameters of the instance */

static cf_kernel first_instance(void)
{
    const cf_kernel *kernel = cf_kernel_find(&cf_registry, "gather_f32_i32");
    assert_non_null(kernel);
    cf_kernel copy = *kernel;
    copy.sizes = NULL;
    return copy;
}

/* Launches the changed descriptor with `N` elements and checks the result. */
static void expect_right(const cf_kernel *kernel, int64_t N)
{
    unsigned short seed[3] = {3, 4, (unsigned short)N};
    struct data data;
    assert_true(make(&data, &instances[0], N, 77, seed));
    assert_ok(launch(kernel, NULL, &data));
    assert_ok(cf_stream_sync(NULL));
    assert_true(is_right(&data));
    assert_true(release(&data));
}

/* Launches the changed descriptor with 10 indices into 20 elements and expects an error. */
static void expect_kernel_refusal(const cf_kernel *kernel, int status, const char *detail)
{
    unsigned short seed[3] = {3, 4, 5};
    struct data data;
    assert_true(make(&data, &instances[0], 10, 20, seed));
    memset(data.expected, POISON, data.res_bytes);
    assert_fails(launch(kernel, NULL, &data), status, detail);
    assert_ok(cf_device_sync());
    assert_true(is_right(&data));
    assert_true(release(&data));
}

TEST(launch_null_is_invalid)
{
    cf_kernel kernel = first_instance();
    void *const args[] = {NULL};
    assert_fails(cf_launch(NULL, NULL, args), CF_EINVAL, "cf_launch: kernel is NULL");
    assert_fails(cf_launch(&kernel, NULL, NULL), CF_EINVAL, "cf_gather_f32_i32_async: args is NULL");
    assert_fails(cf_call(NULL, args), CF_EINVAL, "cf_call: kernel is NULL");
    assert_memory_equal(cf_last_error(), "cf_call: ", 9);
    assert_fails(cf_call(&kernel, NULL), CF_EINVAL, "cf_gather_f32_i32: args is NULL");
}

TEST(launch_other_descriptor_version_is_invalid)
{
    cf_kernel kernel = first_instance();
    kernel.version = CF_REGISTRY_VERSION + 1;
    expect_kernel_refusal(&kernel, CF_EINVAL,
                          "descriptor has version 10, this library takes 9; build the kernels again");
    kernel.version = 0;
    expect_kernel_refusal(&kernel, CF_EINVAL, "descriptor has version 0");
}

TEST(launch_any_block_in_the_limits_is_right)
{
    static const int64_t blocks[] = {1, 2, 31, 32, 33, 100, 512, 1023, 1024};
    static const int64_t sizes[] = {1, 1023, 1024, 1025, 30000};
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            cf_kernel kernel = first_instance();
            kernel.launch.block[0] = (cf_expr){"b", OPS(CONST(blocks[b]))};
            expect_right(&kernel, sizes[s]);
        }
    cf_kernel kernel = first_instance(); /* all rows of a block, and all rows of blocks, write the same elements */
    kernel.launch.block[0] = (cf_expr){"32", OPS(CONST(32))};
    kernel.launch.block[1] = (cf_expr){"4", OPS(CONST(4))};
    kernel.launch.block[2] = (cf_expr){"8", OPS(CONST(8))};
    kernel.launch.grid[1] = (cf_expr){"9", OPS(CONST(9))}; /* 3 rows of blocks */
    kernel.launch.grid[2] = (cf_expr){"10", OPS(CONST(10))};
    expect_right(&kernel, 50); /* few enough for one CPU thread; several threads would race */
    kernel = first_instance();
    kernel.launch.block[0] = (cf_expr){"min(N, 1024)", OPS(PARAM(N_), CONST(1024), OP(MIN))};
    expect_right(&kernel, 5);
    expect_right(&kernel, 5000);
    kernel.launch.block[0] = (cf_expr){NULL, NULL}; /* the block's size is missing, and then is 1 */
    expect_right(&kernel, 500);
}

TEST(launch_rule_that_counts_blocks_is_right)
{
    cf_kernel kernel = first_instance();
    kernel.launch.counts_blocks = 1;
    kernel.launch.grid[0] = (cf_expr){"(N + 255) / 256", OPS(PARAM(N_), CONST(255), OP(ADD), CONST(256), OP(DIV))};
    expect_right(&kernel, 1);
    expect_right(&kernel, 256);
    expect_right(&kernel, 257);
    expect_right(&kernel, 99999);
    kernel.launch.grid[0] = (cf_expr){"2^31", OPS(CONST((int64_t)INT32_MAX + 1))};
    expect_kernel_refusal(&kernel, CF_EOVERFLOW, "blocks(2^31) asks for 2147483648 blocks");
    kernel.launch.grid[0] = (cf_expr){"-N", OPS(PARAM(N_), OP(NEG))};
    expect_kernel_refusal(&kernel, CF_EINVAL, "blocks(-N) is negative with N = 10");
}

TEST(launch_bad_block_is_invalid)
{
    static const int64_t bad[][3] = {{0, 1, 1},    {1025, 1, 1}, {32, 33, 1},
                                     {1024, 1, 2}, {1, 0, 1},    {16, 16, 5},
                                     {1, 1, 0},    {1, 1, 65},   {INT64_MAX, INT64_MAX, 3}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cf_kernel kernel = first_instance();
        kernel.launch.block[0] = (cf_expr){"x", OPS(CONST(bad[i][0]))};
        kernel.launch.block[1] = (cf_expr){"y", OPS(CONST(bad[i][1]))};
        kernel.launch.block[2] = (cf_expr){"z", OPS(CONST(bad[i][2]))};
        expect_kernel_refusal(&kernel, CF_EINVAL, "a block has 1 to 1024 threads, and at most 64 along z");
    }
    cf_kernel kernel = first_instance();
    kernel.launch.block[0] = (cf_expr){"N - M", OPS(PARAM(N_), PARAM(M_), OP(SUB))};
    expect_kernel_refusal(&kernel, CF_EINVAL, "block(N - M) is negative with N = 10, M = 20");
    kernel.launch.block[0] = (cf_expr){"N / 0", OPS(PARAM(N_), CONST(0), OP(DIV))};
    expect_kernel_refusal(&kernel, CF_EOVERFLOW, "block(N / 0) overflows or divides by 0 with N = 10");
}

TEST(launch_bad_grid_is_refused)
{
    cf_kernel kernel = first_instance();
    kernel.launch.grid[0] = (cf_expr){"-M", OPS(PARAM(M_), OP(NEG))};
    expect_kernel_refusal(&kernel, CF_EINVAL, "grid(-M) is negative with M = 20");
    kernel.launch.grid[0] = (cf_expr){"N % 0", OPS(PARAM(N_), CONST(0), OP(MOD))};
    expect_kernel_refusal(&kernel, CF_EOVERFLOW, "grid(N % 0) overflows or divides by 0 with N = 10");
    for (int d = 1; d < CF_GRID_DIMS; d++) {
        kernel = first_instance();
        kernel.launch.grid[d] = (cf_expr){"65536", OPS(CONST(65536))};
        expect_kernel_refusal(&kernel, CF_EOVERFLOW, "grid(65536) asks for 65536 blocks and a grid has at most 65535");
    }
}

TEST(launch_empty_grid_launches_nothing)
{
    for (int d = 0; d < CF_GRID_DIMS; d++) {
        unsigned short seed[3] = {3, 4, 5};
        struct data data;
        cf_kernel kernel = first_instance();
        kernel.launch.grid[d] = (cf_expr){"0", OPS(CONST(0))};
        assert_true(make(&data, &instances[0], 10, 20, seed));
        memset(data.expected, POISON, data.res_bytes);
        assert_ok(launch(&kernel, NULL, &data));
        assert_ok(cf_device_sync());
        assert_true(is_right(&data));
        assert_true(release(&data));
    }
}

TEST(launch_condition_on_scalars_is_checked)
{
    cf_kernel kernel = first_instance();
    cf_check check = {
        .text = "N <= 5 && M > 0",
        .condition = {"N <= 5 && M > 0", OPS(PARAM(N_), CONST(5), OP(LE), {CF_OP_AND, 3}, PARAM(M_), CONST(0), OP(GT))},
        .array = -1};
    kernel.checks = &check;
    kernel.nchecks = 1;
    expect_right(&kernel, 5);
    expect_kernel_refusal(&kernel, CF_EINVAL,
                          "cf_gather_f32_i32_async: the check N <= 5 && M > 0 fails with N = 10, M = 20");
    check.text = "N / (M - 20)";
    check.condition = (cf_expr){"N / (M - 20)", OPS(PARAM(N_), PARAM(M_), CONST(20), OP(SUB), OP(DIV))};
    expect_kernel_refusal(&kernel, CF_EOVERFLOW,
                          "the check N / (M - 20) overflows or divides by 0 with N = 10, M = 20");
}

/* Launches a copy of the first instance with other extents for its source. */
static void expect_extents(const cf_expr *extents, uint32_t ndims, int status, const char *detail)
{
    cf_kernel kernel = first_instance();
    cf_param params[5];
    memcpy(params, kernel.params, sizeof params);
    params[SOURCE].extents = extents;
    params[SOURCE].ndims = ndims;
    kernel.params = params;
    if (status == CF_OK)
        expect_right(&kernel, 10);
    else
        expect_kernel_refusal(&kernel, status, detail);
}

TEST(launch_extents_of_several_dimensions_are_multiplied)
{
    const cf_expr large = {"2^32", OPS(CONST((int64_t)1 << 32))};
    const cf_expr none = {"0", OPS(CONST(0))}, one = {"1", OPS(CONST(1))}, m = {"M", OPS(PARAM(M_))};
    const cf_expr bad = {"N - M", OPS(PARAM(N_), PARAM(M_), OP(SUB))};
    const cf_expr over = {"M / (N - 10)", OPS(PARAM(M_), PARAM(N_), CONST(10), OP(SUB), OP(DIV))};
    expect_extents((const cf_expr[]){one, m, one}, 3, CF_OK, NULL);
    expect_extents((const cf_expr[]){large, large, none}, 3, CF_OK, NULL); /* the array has no elements */
    expect_extents((const cf_expr[]){none, large, large}, 3, CF_OK, NULL);
    expect_extents((const cf_expr[]){large, large, one}, 3, CF_EOVERFLOW, "has more than 2^63 - 1 bytes");
    expect_extents((const cf_expr[]){m, bad}, 2, CF_EINVAL, "the extent source[N - M] is negative with N = 10, M = 20");
    expect_extents((const cf_expr[]){none, bad}, 2, CF_EINVAL, "the extent source[N - M] is negative");
    expect_extents((const cf_expr[]){m, over}, 2, CF_EOVERFLOW,
                   "the extent source[M / (N - 10)] overflows or divides by 0 with M = 20");
}

TEST(launch_kernel_without_code_is_refused)
{
    static cf_state fresh; /* otherwise the function that the first instance has loaded would be used */
    cf_kernel kernel = first_instance();
    kernel.state = &fresh;
    if (on_cuda()) {
        kernel.image = NULL;
        expect_kernel_refusal(&kernel, CF_ENOCODE, "cf_gather_f32_i32_async: it was built for the CPU alone");
    } else {
        kernel.cpu_body = NULL;
        expect_kernel_refusal(&kernel, CF_ENOTSUP,
                              "cf_gather_f32_i32_async: it has no form for the CPU: its annotation has host(none), or "
                              "image(...) without host(function)");
    }
}

/* ---- CF_CHECK ---- */

/* Sets CF_CHECK, which the library reads at its first use. Shuts the library down only if the value changes, because
 * restarting a GPU takes long. */
static int set_check(const char *value)
{
    const char *now = getenv("CF_CHECK");
    if (now && strcmp(now, value) == 0)
        return 0;
    return setenv("CF_CHECK", value, 1) == 0 ? cf_shutdown() : -1;
}

static int check_off(void **state)
{
    (void)state;
    return set_check("0");
}

static int check_on(void **state)
{
    (void)state;
    return set_check("1");
}

/* The source is shorter than declared, but all indices are in range, so the kernel does not read beyond it. */
TEST_WITH(launch_unchecked_pointers_are_not_looked_at, check_off, NULL)
{
    unsigned short seed[3] = {8, 8, 8};
    struct data data;
    assert_true(make(&data, &instances[0], 100, 50, seed));
    assert_ok(cf_gather_f32_i32_async(NULL, data.device_source, data.device_index, data.device_res, 100, 500));
    assert_ok(cf_stream_sync(NULL));
    assert_true(is_right(&data));
    assert_true(release(&data));
}

TEST_WITH(launch_checked_good_pointers_are_right, check_on, NULL)
{
    for (int way = 0; way < 3; way++)
        check_instances(way);
}

TEST_WITH(launch_checked_short_allocation_is_invalid, check_on, NULL)
{
    unsigned short seed[3] = {8, 8, 8};
    struct data data;
    assert_true(make(&data, &instances[0], 100, 50, seed));
    void *source = upload(data.source, 199), *index = upload(data.index, 396), *res = upload(data.expected, 400);
    memset(data.read, POISON, 400);
    assert_true(source && index && res);
    assert_ok(cf_mem_copy(res, data.read, 400));
    assert_fails(cf_gather_f32_i32_async(NULL, source, data.device_index, res, 100, 50), CF_EINVAL,
                 "cf_gather_f32_i32_async: source has 50 elements, 200 bytes, and its allocation ends after 199 bytes");
    assert_fails(cf_gather_f32_i32_async(NULL, data.device_source, index, res, 100, 50), CF_EINVAL,
                 "cf_gather_f32_i32_async: index has 100 elements, 400 bytes, and its allocation ends after 396 bytes");
    assert_fails(cf_gather_f32_i32_async(NULL, data.device_source, data.device_index, (float *)res + 1, 100, 50),
                 CF_EINVAL,
                 "cf_gather_f32_i32_async: res has 100 elements, 400 bytes, and its allocation ends after 396 bytes");
    assert_ok(cf_device_sync());
    assert_ok(cf_mem_copy(data.read, res, 400));
    for (size_t i = 0; i < 400; i++)
        assert_int_equal(data.read[i], POISON);
    assert_fails(cf_gather_f32_i32_async(NULL, data.device_source, data.device_index, data.device_res, 100, 500),
                 CF_EINVAL, "source has 500 elements, 2000 bytes, and its allocation ends after 201 bytes");
    assert_ok(cf_mem_free(source));
    assert_ok(cf_mem_free(index));
    assert_ok(cf_mem_free(res));
    assert_true(release(&data));
}

TEST_WITH(launch_checked_misaligned_pointer_is_invalid, check_on, NULL)
{
    unsigned short seed[3] = {8, 8, 9};
    struct data data;
    assert_true(make(&data, &instances[3], 100, 50, seed)); /* f64_i64 */
    void *source = (char *)data.device_source + 4, *index = (char *)data.device_index + 1;
    assert_fails(cf_gather_f64_i64_async(NULL, source, data.device_index, data.device_res, 10, 10), CF_EINVAL,
                 "is not aligned to its elements' 8 bytes");
    assert_fails(cf_gather_f64_i64_async(NULL, data.device_source, index, data.device_res, 10, 10), CF_EINVAL,
                 "cf_gather_f64_i64_async: index = ");
    assert_true(release(&data));
}

TEST_WITH(launch_checked_host_memory_is_refused_on_a_gpu, check_on, NULL)
{
    unsigned short seed[3] = {8, 9, 8};
    struct data data;
    assert_true(make(&data, &instances[0], 100, 50, seed));
    if (on_cuda()) {
        const float *source = (void *)data.source;
        const int32_t *index = (void *)data.index;
        float *res = (void *)data.read;
        assert_fails(
            cf_gather_f32_i32_async(NULL, source, data.device_index, data.device_res, 100, 50), CF_EINVAL,
            "cf_gather_f32_i32_async: source is host memory, which the device cannot reach; only the plain call");
        assert_fails(cf_gather_f32_i32_async(NULL, data.device_source, index, data.device_res, 100, 50), CF_EINVAL,
                     "cf_gather_f32_i32_async: index is host memory");
        assert_fails(cf_gather_f32_i32_async(NULL, data.device_source, data.device_index, res, 100, 50), CF_EINVAL,
                     "cf_gather_f32_i32_async: res is host memory");
        void *freed = upload(data.source, 200);
        assert_ok(cf_mem_free(freed));
        assert_fails(cf_gather_f32_i32_async(NULL, freed, data.device_index, data.device_res, 100, 50), CF_EINVAL,
                     "is no memory: the CPU cannot read there, and no device has it; it may have been freed");
        assert_fails(cf_gather_f32_i32(freed, data.device_index, data.device_res, 100, 50), CF_EINVAL,
                     "is no memory: the CPU cannot read there, and no device has it; it may have been freed");
    } else { /* the CPU reaches all host memory */
        memset(data.read, POISON, data.res_bytes + GUARD);
        assert_ok(cf_gather_f32_i32_async(NULL, (void *)data.source, (void *)data.index, (void *)data.read, 100, 50));
        assert_memory_equal(data.read, data.expected, data.res_bytes + GUARD);
    }
    assert_true(release(&data));
}

/* ---- Every bundled kernel with no elements ---- */

/* Returns 1 if the kernel may be called with no elements, which a minimum may not. */
static int takes_no_elements(const cf_kernel *kernel)
{
    static const char *const families[] = {"min", "max", "argmin", "argmax"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(kernel->family, families[i]) == 0)
            return 0;
    return !cf_kernel_is_internal(kernel);
}

static void set_arrays(struct made_call *call, void *with_elements, void *without)
{
    for (uint32_t p = 0; p < call->kernel->nparams; p++)
        if (is_given_array(&call->kernel->params[p]))
            call->values[p].pointer = elements_of(call, p) ? with_elements : without;
}

TEST_WITH(launch_checked_empty_arrays_are_in_order, check_on, NULL)
{
    enum { ROOM = 64 };
    static _Alignas(16) char host[ROOM], zeros[ROOM];
    void *device;
    int tried = 0;
    assert_ok(cf_mem_alloc(&device, ROOM));
    for (size_t i = 0; i < cf_registry.count; i++) {
        const cf_kernel *kernel = cf_registry.kernels[i];
        struct made_call call;
        if (!takes_no_elements(kernel))
            continue;
        make_scalars(&call, kernel, 0);
        for (int way = 0; way < 4; way++) {
            const int is_async = way / 2;
            assert_ok(cf_mem_copy(device, zeros, ROOM));
            set_arrays(&call, is_async ? device : host, way % 2 ? host : NULL);
            int status = is_async ? cf_launch(kernel, NULL, call.args) : cf_call(kernel, call.args);
            if (status != CF_OK || (is_async && cf_stream_sync(NULL) != CF_OK))
                fail_msg("%s, way %d: %s", kernel->function, way, cf_last_error());
            tried++;
        }
    }
    assert_true(tried > 4 * 100);
    assert_ok(cf_mem_free(device));
}

int main(void)
{
    return run_all_tests(NULL, end_library);
}
