/* test_gather_random.c - gather by random index, window by window of the source: its three launches with small
 * windows, all index patterns and alignments, and calls of sizes near the thresholds of the algorithm, compared with
 * plain loops. */
/* The CPU emulation of the GPU code is about 100 times slower per tile; see test_pieces.py. */
#ifdef REGISTRY
enum { STEP = 7, IS_LARGE = 0 }; /* has no common divisor with the number of cases */
#else
enum { STEP = 1, IS_LARGE = 1 };
#endif
#include "elements.h"
#include "played_gpu.h"

#include <cuferry/kernels.h>

static const char *const index_types[] = {"i32", "i64"};

/* A tile has 32 KiB of results. */
static int64_t tile_of(int type)
{
    return 32768 / (int64_t)types[type].bytes;
}

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* ---- Indices ---- */

enum { RANDOM, EQUAL, IN_ORDER, BACKWARDS, SKEWED, ENDS, STREAMS, STRIDED, PATTERNS };

static int64_t make_index(int pattern, int64_t i, int64_t n, int64_t m, uint64_t *seed)
{
    const int64_t any = (int64_t)(next_random(seed) % (uint64_t)m);
    switch (pattern) {
    case EQUAL:
        return m * 2 / 3;
    case IN_ORDER:
        return i * m / n;
    case BACKWARDS:
        return m - 1 - i * m / n;
    case SKEWED: /* most indices lie in the first 16th of the source */
        return any % 8 ? any / 16 : any;
    case ENDS:
        return any % 2 ? m - 1 : 0;
    case STREAMS: /* 1024 interleaved streams, each in order */
        return (i % 1024 * (m / 1024) + i / 1024 % (m / 1024 + 1)) % m;
    case STRIDED:
        return i * 100 % m;
    default:
        return any;
    }
}

static int64_t index_at(const struct array *index, int64_t i)
{
    return at(index, i).whole;
}

/* ---- The three launches ---- */

struct steps {
    int type, index_type, pattern, shift, is_many, way;
    int64_t n, m;
    int offsets[3];
    int32_t blocks;
};

static const cf_kernel *find_step(const char *step, const struct steps *steps)
{
    char name[64];
    snprintf(name, sizeof name, "gather_random_%s_u%d_%s_%s", step, (int)types[steps->type].bytes * 8,
             index_types[steps->index_type], steps->is_many ? "many" : "few");
    if (strcmp(step, "fetch") == 0)
        snprintf(name, sizeof name, "gather_random_fetch_u%d", (int)types[steps->type].bytes * 8);
    const cf_kernel *kernel = cf_kernel_find(&REGISTRY, name);
    if (!kernel || !kernel->is_internal)
        fail_msg("there is no internal %s", name);
    return kernel;
}

/* Computes the start and end of each window's run in each tile. */
static void expect_starts(struct array *starts, const struct array *index, const struct steps *steps)
{
    const int64_t tile = tile_of(steps->type), tiles = divide_up(steps->n, tile);
    const int64_t windows = ((steps->m - 1) >> steps->shift) + 1;
    for (int64_t t = 0; t < tiles; t++) {
        uint32_t counts[128] = {0}, begin = 0;
        for (int64_t i = t * tile; i < steps->n && i < (t + 1) * tile; i++)
            counts[index_at(index, i) >> steps->shift]++;
        for (int64_t w = 0; w < windows; w++) {
            const uint32_t run = begin | (begin + counts[w]) << 16;
            expect_at(starts, w * tiles + t, (number){0, (int32_t)run});
            begin += counts[w];
        }
    }
}

/* The contents of scratch arrays after a launch are arbitrary. */
static void finish_any(struct array *array)
{
    if (array->there)
        assert_ok(cf_mem_copy(array->host, array->there, array->bytes));
    memcpy(array->expected + array->begin, array->host + array->begin, types[array->type].bytes);
    finish_array(array, "all", 1);
}

static void run_steps(struct steps steps, unsigned short seed[])
{
    struct array source, index, res, starts, next;
    const cf_kernel *order = find_step("order", &steps), *fetch = find_step("fetch", &steps);
    const cf_kernel *restore = find_step("restore", &steps);
    const int64_t windows = ((steps.m - 1) >> steps.shift) + 1,
                  n_starts = windows * divide_up(steps.n, tile_of(steps.type));
    const size_t bytes = types[steps.type].bytes;
    uint64_t state = (uint64_t)nrand48(seed) + 1;
    make_array(&source, steps.type, steps.m, steps.offsets[0]);
    make_array(&index, steps.index_type ? I64 : I32, steps.n, steps.offsets[1]);
    make_array(&res, steps.type, steps.n, steps.offsets[2]);
    make_array(&starts, I32, n_starts, 0);
    make_array(&next, I32, 1, 0);
    randomize(&source, steps.m, 0, seed);
    for (int64_t i = 0; i < steps.n; i++) {
        const int64_t chosen = make_index(steps.pattern, i, steps.n, steps.m, &state);
        set_element(index.type, index.host + index.begin + (size_t)i * types[index.type].bytes, (number){0, chosen});
        memcpy(res.expected + res.begin + (size_t)i * bytes, source.host + source.begin + (size_t)chosen * bytes,
               bytes);
    }
    memcpy(index.expected, index.host, index.bytes);
    expect_starts(&starts, &index, &steps);
    void *of_source = place(&source, steps.way), *of_index = place(&index, steps.way), *of_res = place(&res, steps.way);
    void *of_starts = place(&starts, steps.way), *of_next = place(&next, steps.way);
    void *to_order[] = {&of_index, &of_res, &of_starts, &of_next, &steps.n, &steps.m, &steps.shift, &steps.blocks};
    void *to_fetch[] = {&of_source, &of_starts, &of_res, &of_next, &steps.n, &steps.m, &steps.shift, &steps.blocks};
    void *to_restore[] = {&of_index, &of_res, &steps.n, &steps.m, &steps.shift, &steps.blocks};
    assert_true(order->nparams == 8 && fetch->nparams == 8 && restore->nparams == 6);
    run_kernel(order, steps.way, to_order);
    run_kernel(fetch, steps.way, to_fetch);
    run_kernel(restore, steps.way, to_restore);
    finish_array(&source, order->name, steps.n);
    finish_array(&index, order->name, steps.n);
    finish_array(&res, order->name, steps.n);
    finish_array(&starts, order->name, steps.n);
    finish_any(&next);
}

TEST(gather_random_by_steps_is_right)
{
    /* Sizes around a warp's row, both tile sizes, and the elements that a block fetches. */
    static const int64_t lengths[] = {0,    1,    31,   32,   33,    1000,     4095,         4096,
                                      4097, 8191, 8192, 8193, 12289, 3 * 8192, 8 * 4096 + 1, 9 * 8192 + 77};
    unsigned short seed[3] = {1, 2, 3};
    int runs = 0;
    for (int kind = 0; kind < 8; kind++)
        for (size_t s = 0; s < sizeof lengths / sizeof *lengths; s++)
            for (int pattern = 0; pattern < PATTERNS; pattern++) {
                const int is_many = kind / 4, most = is_many ? 128 : 64, shift = (int)(nrand48(seed) % 8);
                const int64_t windows = nrand48(seed) % 3 ? nrand48(seed) % most + 1 : most;
                struct steps steps = {.type = kind % 2 ? I64 : I32,
                                      .index_type = kind / 2 % 2,
                                      .pattern = pattern,
                                      .shift = shift,
                                      .is_many = is_many,
                                      .way = (int)(nrand48(seed) % WAYS),
                                      .blocks = (int32_t)(nrand48(seed) % 5 + 1),
                                      .n = lengths[s],
                                      .m = ((windows - 1) << shift) + nrand48(seed) % (1 << shift) + 1};
                if (pattern % 2)
                    for (int a = 0; a < 3; a++)
                        steps.offsets[a] = (int)(nrand48(seed) % 5);
                if (runs++ % STEP == 0)
                    run_steps(steps, seed);
            }
}

/* Cases that sampling must not skip: whole tiles, and arrays with and without 16-byte alignment. */
TEST(gather_random_by_steps_of_whole_tiles_is_right)
{
    unsigned short seed[3] = {4, 5, 6};
    for (int kind = 0; kind < 8; kind++) {
        struct steps steps = {.type = kind % 2 ? I64 : I32,
                              .index_type = kind / 2 % 2,
                              .is_many = kind / 4,
                              .way = LAUNCH,
                              .shift = 3,
                              .blocks = 1 + kind % 3,
                              .m = kind / 4 ? 1019 : 509,
                              .n = 2 * tile_of(kind % 2 ? I64 : I32)};
        run_steps(steps, seed);
        steps.offsets[2] = 1;
        steps.n++;
        run_steps(steps, seed);
    }
}

/* ---- Small calls ---- */

static void run_few(int type, int index_type, int64_t n, int64_t m, const int offsets[3], int way,
                    unsigned short seed[])
{
    struct array source, index, res;
    const cf_kernel *kernel = find("gather_random", type, index_types[index_type]);
    const size_t bytes = types[type].bytes;
    make_array(&source, type, m, offsets[0]);
    make_array(&index, index_type ? I64 : I32, n, offsets[1]);
    make_array(&res, type, n, offsets[2]);
    randomize(&source, m, 0, seed);
    for (int64_t i = 0; i < n; i++) {
        const int64_t chosen = nrand48(seed) % m;
        set_element(index.type, index.host + index.begin + (size_t)i * types[index.type].bytes, (number){0, chosen});
        memcpy(res.expected + res.begin + (size_t)i * bytes, source.host + source.begin + (size_t)chosen * bytes,
               bytes);
    }
    memcpy(index.expected, index.host, index.bytes);
    void *of_source = place(&source, way), *of_index = place(&index, way), *of_res = place(&res, way);
    void *args[] = {&of_source, &of_index, &of_res, &n, &m, NULL, NULL};
    assert_int_equal(kernel->nparams, 7);
    run_kernel(kernel, way, args);
    finish_array(&source, kernel->name, n);
    finish_array(&index, kernel->name, n);
    finish_array(&res, kernel->name, n);
}

TEST(gather_random_of_few_is_right)
{
    unsigned short seed[3] = {7, 8, 9};
    for (int type = F32; type <= I64; type++)
        for (int index_type = 0; index_type < 2; index_type++)
            for (size_t s = 0; s < SIZES; s++) {
                const int offsets[] = {(int)(nrand48(seed) % 4), (int)(nrand48(seed) % 4), (int)(nrand48(seed) % 4)};
                run_few(type, index_type, sizes[s], nrand48(seed) % 4 ? sizes[s] / 2 + 1 : 10 * sizes[s] + 1, offsets,
                        (int)(nrand48(seed) % WAYS), seed);
            }
}

/* ---- Large calls, for which a GPU makes three launches ---- */

static const struct fake_counts *counts; /* NULL on another driver */

static int find_counts(void **state)
{
    (void)state;
    counts = played_gpu_counts();
    return 0;
}

static void skip_where_many_take_long(void)
{
    if (!IS_LARGE)
        skip_test("needs the operation as a GPU has it");
}

/* Elements of 4 and 8 bytes with random bits, so that floats may be NaNs. */
enum { MANY = (5 << 20) + 4321, LARGE = (5 << 22) + 12345 };

static void *many_alloc(size_t bytes)
{
    void *memory = malloc(bytes);
    assert_non_null(memory);
    return memory;
}

UNWATCHED static void fill_many(uint64_t *source, int32_t *narrow, int64_t *wide, int64_t m)
{
    uint64_t state = 12345;
    for (int64_t i = 0; i < LARGE; i++)
        source[i] = next_random(&state);
    for (int64_t i = 0; i < MANY; i++)
        narrow[i] = (int32_t)(wide[i] = (int64_t)(next_random(&state) % (uint64_t)m));
}

UNWATCHED static int64_t first_wrong(const void *res, const void *source, const int32_t *index, size_t bytes)
{
    const char *found = res, *from = source;
    for (int64_t i = 0; i < MANY; i++)
        if (memcmp(found + (size_t)i * bytes, from + (size_t)index[i] * bytes, bytes) != 0)
            return i;
    return -1;
}

/* If `offset` is 1, all arrays begin one element after an aligned address. */
TEST(gather_random_of_many_is_right)
{
    skip_where_many_take_long();
    const int64_t n = MANY;
    uint64_t *source = many_alloc(LARGE * sizeof *source), *res = many_alloc((MANY + 1) * sizeof *res);
    int32_t *narrow = many_alloc(MANY * sizeof *narrow);
    int64_t *wide = many_alloc(MANY * sizeof *wide);
    void *of_source, *of_index[2], *of_res;
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_mem_alloc(&of_source, (LARGE + 1) * sizeof *source));
    assert_ok(cf_mem_alloc(&of_res, (MANY + 1) * sizeof *res));
    for (int is_wide = 0; is_wide < 2; is_wide++)
        assert_ok(cf_mem_alloc(&of_index[is_wide], (MANY + 1) * sizeof *wide));
    for (int type = F32; type <= I64; type++)
        for (int index_type = 0; index_type < 2; index_type++) {
            const cf_kernel *kernel = find("gather_random", type, index_types[index_type]);
            const size_t bytes = types[type].bytes, offset = (size_t)(type + index_type) % 2;
            const size_t index_bytes = index_type ? sizeof *wide : sizeof *narrow;
            char *from = (char *)of_source + offset * bytes, *in = (char *)of_index[index_type] + offset * index_bytes;
            char *out = (char *)of_res + offset * bytes;
            int64_t count = n, extent = bytes == 4 ? LARGE : 2 * MANY;
            fill_many(source, narrow, wide, extent);
            void *args[] = {&from, &in, &out, &count, &extent, NULL, NULL};
            assert_ok(cf_mem_copy(from, source, LARGE * bytes));
            assert_ok(cf_mem_copy(in, index_type ? (void *)wide : (void *)narrow, MANY * index_bytes));
            assert_ok(cf_mem_fill(of_res, 0xa5, (MANY + 1) * sizeof *res));
            const int launches = counts ? counts->launch : 0;
            assert_ok(cf_launch(kernel, stream, args));
            assert_ok(cf_stream_sync(stream));
            if (counts)
                assert_int_equal(counts->launch - launches, 3);
            assert_ok(cf_mem_copy(res, out, MANY * bytes));
            const int64_t wrong = first_wrong(res, source, narrow, bytes);
            if (wrong >= 0)
                fail_msg("%s: element %lld is wrong", kernel->name, (long long)wrong);
        }
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(of_source));
    assert_ok(cf_mem_free(of_res));
    for (int is_wide = 0; is_wide < 2; is_wide++)
        assert_ok(cf_mem_free(of_index[is_wide]));
    free(source);
    free(res);
    free(narrow);
    free(wide);
}

/* Host arrays, and an index out of range, with which nothing is written. */
TEST(gather_random_plain_of_many_is_right)
{
    skip_where_many_take_long();
    uint64_t *source = many_alloc(LARGE * sizeof *source);
    float *res = many_alloc(MANY * sizeof *res);
    int32_t *narrow = many_alloc(MANY * sizeof *narrow);
    int64_t *wide = many_alloc(MANY * sizeof *wide);
    fill_many(source, narrow, wide, LARGE);
    memset(res, 0xa5, MANY * sizeof *res);
    const int32_t kept = narrow[MANY - 2];
    narrow[MANY - 2] = LARGE;
    assert_fails(cf_gather_random((const float *)(void *)source, narrow, res, MANY, LARGE), CF_ERANGE,
                 "cf_gather_random_f32_i32: index[5247199] = 20983865 is outside [0, 20983865)");
    for (int64_t i = 0; i < MANY; i += 4095)
        assert_memory_equal(res + i, "\xa5\xa5\xa5\xa5", 4);
    narrow[MANY - 2] = kept;
    assert_ok(cf_gather_random((const float *)(void *)source, narrow, res, MANY, LARGE));
    assert_int_equal(first_wrong(res, source, narrow, sizeof *res), -1);
    free(source);
    free(res);
    free(narrow);
    free(wide);
}

/* Each replay reads the current indices. */
TEST(gather_random_in_a_graph_is_right)
{
    skip_where_many_take_long();
    uint64_t *source = many_alloc(LARGE * sizeof *source);
    float *res = many_alloc(MANY * sizeof *res);
    int32_t *narrow = many_alloc(MANY * sizeof *narrow);
    int64_t *wide = many_alloc(MANY * sizeof *wide);
    void *of_source, *of_index, *of_res;
    cf_stream stream;
    cf_graph graph;
    cf_graph_exec exec;
    fill_many(source, narrow, wide, LARGE);
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_mem_alloc(&of_source, LARGE * sizeof(float)));
    assert_ok(cf_mem_alloc(&of_index, MANY * sizeof *narrow));
    assert_ok(cf_mem_alloc(&of_res, MANY * sizeof *res));
    assert_ok(cf_mem_copy(of_source, source, LARGE * sizeof(float)));
    assert_ok(cf_preload(&cf_registry));
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(cf_gather_random_async(stream, (const float *)of_source, (const int32_t *)of_index, (float *)of_res, MANY,
                                     LARGE));
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    assert_ok(cf_graph_destroy(graph));
    for (int round = 0; round < 2; round++) {
        for (int64_t i = 0; i < 100000; i++)
            narrow[i] = (int32_t)((i * 7919 + round) % LARGE);
        assert_ok(cf_mem_copy(of_index, narrow, MANY * sizeof *narrow));
        assert_ok(cf_graph_launch(exec, stream));
        assert_ok(cf_stream_sync(stream));
        assert_ok(cf_mem_copy(res, of_res, MANY * sizeof *res));
        assert_int_equal(first_wrong(res, source, narrow, sizeof *res), -1);
    }
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(of_source));
    assert_ok(cf_mem_free(of_index));
    assert_ok(cf_mem_free(of_res));
    free(source);
    free(res);
    free(narrow);
    free(wide);
}

/* ---- Thresholds ---- */

static int64_t scratch_of(int type, int64_t n, int64_t m)
{
    const cf_kernel *kernel = find("gather_random", type, "i64");
    void *args[] = {NULL, NULL, NULL, &n, &m, NULL, NULL};
    int64_t words;
    assert_ok(cf_kernel_evaluate(kernel, kernel->params[5].extents[0].ops, SIZE_MAX, args, &words));
    return words;
}

TEST(gather_random_scratch_is_what_windows_take)
{
    const int64_t least = 1 << 22, large = (int64_t)1 << 28;
    for (int type = F32; type <= I64; type++) {
        const int64_t size = (int64_t)types[type].bytes, tile = tile_of(type), window = (1 << 24) / size;
        assert_int_equal(scratch_of(type, 0, 0), 0);
        assert_int_equal(scratch_of(type, large, 0), 0);
        assert_int_equal(scratch_of(type, large, 4 * window), 0);
        assert_int_equal(scratch_of(type, large, 4 * window + 1), 5 * large / tile);
        assert_int_equal(scratch_of(type, large + 1, 64 * window), 64 * (large / tile + 1));
        assert_int_equal(scratch_of(type, large, 64 * window + 1), 65 * large / tile);
        assert_int_equal(scratch_of(type, large, 128 * window), 128 * large / tile);
        assert_int_equal(scratch_of(type, large, 128 * window + 1), 65 * large / tile);
        assert_int_equal(scratch_of(type, large, 256 * window), 128 * large / tile);
        assert_int_equal(scratch_of(type, large, 256 * window + 1), 0);
        assert_int_equal(scratch_of(type, large, INT64_MAX), 0);
        const int64_t n = 4 * least, of = size == 4 ? 8 : 2; /* for one window */
        assert_int_equal(scratch_of(type, least - 1, 5 * window), 0);
        assert_int_equal(scratch_of(F32, least, 5 << 22), 5 * least / 8192);
        assert_int_equal(scratch_of(type, n, of * n + of - 1), ((of * n + of - 2) / window + 1) * n / tile);
        assert_int_equal(scratch_of(type, n, of * n + of), 0);
        assert_int_equal(scratch_of(type, ((int64_t)1 << 32) + 1, large),
                         large / window * (((int64_t)1 << 32) / tile + 1));
    }
    assert_int_equal(scratch_of(F32, large, large) * 4, 8 << 20);
}

/* Returns the number of launches of a call of floats whose indices are all 0. */
static int launches_of(int64_t n, int64_t m, void *source, void *index, void *res)
{
    const int before = counts->launch;
    assert_ok(cf_gather_random_async(NULL, (const float *)source, (const int32_t *)index, (float *)res, n, m));
    assert_ok(cf_stream_sync(NULL));
    return counts->launch - before;
}

TEST(gather_random_takes_one_launch_where_it_does_not_pay)
{
    const int64_t least = 1 << 22, most = 8 * least + 8;
    int64_t few;
    void *source, *index, *res;
    if (!counts || !IS_LARGE)
        skip_test(NEEDS_PLAYED_GPU);
    assert_ok(cf_device_property(0, CF_PROPERTY_L2_CACHE, &few));
    few = few / 4 * 5 / (int64_t)sizeof(float);
    assert_true(few > 1 << 24 && few < most);
    assert_ok(cf_mem_alloc(&source, (size_t)most * sizeof(float)));
    assert_ok(cf_mem_alloc(&index, (size_t)least * sizeof(int32_t)));
    assert_ok(cf_mem_alloc(&res, (size_t)least * sizeof(float)));
    assert_ok(cf_mem_fill(index, 0, (size_t)least * sizeof(int32_t)));
    assert_int_equal(launches_of(0, few + 1, source, index, res), 0);
    assert_int_equal(launches_of(least - 1, few + 1, source, index, res), 1);
    assert_int_equal(launches_of(least, few, source, index, res), 1);
    assert_int_equal(launches_of(least, few + 1, source, index, res), 3);
    assert_int_equal(launches_of(least, most - 1, source, index, res), 3);
    assert_int_equal(launches_of(least, most, source, index, res), 1);
    assert_ok(cf_mem_free(source));
    assert_ok(cf_mem_free(index));
    assert_ok(cf_mem_free(res));
}

/* 65 windows, which need other kernels. */
TEST(gather_random_of_many_windows_on_a_gpu_is_right)
{
    enum { LOOK = 20000 };
    const int64_t n = ((int64_t)1 << 31) + 12345, m = ((int64_t)1 << 28) + 54321;
    const int64_t begins[] = {0, ((int64_t)1 << 30) - LOOK / 2, ((int64_t)1 << 31) - LOOK / 2, n - LOOK};
    static int32_t found[LOOK], index[LOOK];
    int64_t memory = 0;
    void *source, *indices, *res;
    if (on_cuda())
        assert_ok(cf_device_property(0, CF_PROPERTY_MEMORY, &memory));
    if (memory < n * 9 || counts)
        skip_test(NEEDS_GPU_MEMORY);
    assert_ok(cf_mem_alloc(&source, (size_t)m * sizeof(int32_t)));
    assert_ok(cf_mem_alloc(&indices, (size_t)n * sizeof(int32_t)));
    assert_ok(cf_mem_alloc(&res, (size_t)n * sizeof(int32_t)));
    assert_ok(cf_fill(7, (int32_t *)source, m));
    assert_ok(cf_exclusive_scan((const int32_t *)source, (int32_t *)source, m));
    assert_ok(cf_fill(1, (int32_t *)indices, n));
    for (int b = 0; b < 4; b++) {
        for (int64_t i = 0; i < LOOK; i++)
            index[i] = (int32_t)((begins[b] + i) * 7919 % m);
        assert_ok(cf_mem_copy((int32_t *)indices + begins[b], index, sizeof index));
    }
    assert_ok(cf_gather_random((const int32_t *)source, (const int32_t *)indices, (int32_t *)res, n, m));
    for (int b = 0; b < 4; b++) {
        assert_ok(cf_mem_copy(found, (int32_t *)res + begins[b], sizeof found));
        for (int64_t i = 0; i < LOOK; i++)
            assert_int_equal(found[i], (int32_t)((begins[b] + i) * 7919 % m * 7));
    }
    assert_ok(cf_mem_free(source));
    assert_ok(cf_mem_free(indices));
    assert_ok(cf_mem_free(res));
}

/* ---- Arguments ---- */

TEST(gather_random_of_nothing_is_nothing)
{
    float source[4] = {1, 2, 3, 4}, res[2] = {7, 8};
    int32_t index[2] = {1, 0};
    assert_ok(cf_gather_random(source, index, res, 0, 4));
    assert_ok(cf_gather_random((float *)NULL, (int32_t *)NULL, (float *)NULL, 0, 0));
    assert_ok(cf_gather_random_async(NULL, (float *)NULL, (int64_t *)NULL, (float *)NULL, 0, 0));
    assert_true(res[0] == 7 && res[1] == 8);
    assert_ok(cf_gather_random(source, index, res, 2, 4));
    assert_true(res[0] == 2 && res[1] == 1);
}

TEST(gather_random_bad_arguments_are_named)
{
    double source[6] = {1, 2, 3, 4, 5, 6}, res[4] = {0};
    int64_t index[2] = {2, 3};
    int32_t narrow[2] = {-1, 5};
    assert_fails(cf_gather_random(source, narrow, res, 2, 6), CF_ERANGE,
                 "cf_gather_random_f64_i32: index[0] = -1 is outside [0, 6)");
    assert_fails(cf_gather_random(source, index, res, 2, 3), CF_ERANGE,
                 "cf_gather_random_f64_i64: index[1] = 3 is outside [0, 3)");
    assert_fails(cf_gather_random(source, index, res, -1, 3), CF_EINVAL, "is negative with N = -1");
    assert_fails(cf_gather_random_async(NULL, source, index, res, 2, -3), CF_EINVAL, "is negative with M = -3");
    assert_fails(cf_gather_random(source, index, (double *)NULL, 2, 6), CF_EINVAL, "res is NULL and its extent is 2");
    assert_fails(cf_gather_random(source, index, source + 1, 2, 6), CF_EINVAL,
                 "cf_gather_random_f64_i64: source and res overlap by 16 bytes; the kernel declares both __restrict__");
    assert_fails(cf_gather_random(index, index, index, 2, 2), CF_EINVAL,
                 "cf_gather_random_i64_i64: source and res overlap by 16");
    for (int i = 0; i < 6; i++)
        assert_true(source[i] == i + 1 && (i > 3 || res[i] == 0));
    assert_true(index[0] == 2 && index[1] == 3);
}

int main(void)
{
    return run_all_tests(find_counts, end_library);
}
