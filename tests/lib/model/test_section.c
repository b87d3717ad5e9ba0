/* test_section.c - sections and pitches: how they are checked, and that a call copies only the section. */
#include "handmade_kernel.h"

#include <sys/mman.h>

#include "model/section.h"
#include "driver/driver.h"
#include "context/enter.h"

#define DIMS 4
#define POISON 0x5a

/* ---- A kernel that adds 1 to each element of a section of x and stores the sums in y, which has the same shape
 * ---- */

enum { X, Y, EXTENT, LOWER = EXTENT + DIMS, PITCH = LOWER + DIMS, PARAMS = PITCH + DIMS };

static const cf_expr extents[] = {NUMBER("e0", EXTENT), NUMBER("e1", EXTENT + 1), NUMBER("e2", EXTENT + 2),
                                  NUMBER("e3", EXTENT + 3)};
static const cf_expr lowers[] = {NUMBER("l0", LOWER), NUMBER("l1", LOWER + 1), NUMBER("l2", LOWER + 2),
                                 NUMBER("l3", LOWER + 3)};
static const cf_expr pitches[] = {
    {NULL, NULL}, NUMBER("p1", PITCH + 1), NUMBER("p2", PITCH + 2), NUMBER("p3", PITCH + 3)};

static cf_param params[PARAMS] = {
    {.name = "x", .ctype = "const int32_t *", .type = CF_I32, .direction = CF_IN, .lanes = 1, .bytes = 4, .align = 4},
    {.name = "y", .ctype = "int32_t *", .type = CF_I32, .direction = CF_OUT, .lanes = 1, .bytes = 4, .align = 4},
    VALUE("e0", int64_t, CF_I64),
    VALUE("e1", int64_t, CF_I64),
    VALUE("e2", int64_t, CF_I64),
    VALUE("e3", int64_t, CF_I64),
    VALUE("l0", int64_t, CF_I64),
    VALUE("l1", int64_t, CF_I64),
    VALUE("l2", int64_t, CF_I64),
    VALUE("l3", int64_t, CF_I64),
    VALUE("p0", int64_t, CF_I64),
    VALUE("p1", int64_t, CF_I64),
    VALUE("p2", int64_t, CF_I64),
    VALUE("p3", int64_t, CF_I64),
};

static int64_t number(void *const args[], uint32_t i)
{
    return *(const int64_t *)args[i];
}

/* Returns the offset of an element from the pointer; the indices count from the begin of the section. */
static int64_t place_of(void *const args[], const int64_t index[], uint32_t ndims)
{
    int64_t at = 0;
    for (uint32_t d = 0; d < ndims; d++) {
        int64_t pitch = params[X].pitches ? number(args, PITCH + d) : number(args, EXTENT + d);
        at = (d ? at * pitch : 0) + index[d] + (params[X].lowers ? number(args, LOWER + d) : 0);
    }
    return at;
}

/* Advances the indices to the next element; returns 0 if there is none. */
static int next(void *const args[], int64_t index[], uint32_t ndims)
{
    for (uint32_t d = ndims; d-- > 0;) {
        if (++index[d] < number(args, EXTENT + d))
            return 1;
        index[d] = 0;
    }
    return 0;
}

static const void *last_x; /* the pointer that the kernel got */

static void add_1(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    int64_t index[DIMS] = {0};
    const int32_t *x = *(int32_t *const *)launch->args[X];
    int32_t *y = *(int32_t *const *)launch->args[Y];
    assert_true(begin == 0 && end == 1);
    last_x = x;
    do {
        int64_t at = place_of(launch->args, index, params[X].ndims);
        y[at] = x[at] + 1;
    } while (next(launch->args, index, params[X].ndims));
}

static struct made_image image;
static const cf_kernel kernel = {MADE_KERNEL("add_1", image), .nparams = PARAMS, .params = params,
                                 .launch = {.grid = {FIXED(1)}, .block = {FIXED(1)}}, .cpu_body = add_1};
static const cf_kernel *const kernels[] = {&kernel};
static const cf_module module = {.version = CF_REGISTRY_VERSION, .prefix = "made", .count = 1, .kernels = kernels};

static void shape(uint32_t ndims, int has_lowers, int has_pitches, cf_direction of_y)
{
    for (int i = X; i <= Y; i++) {
        params[i].ndims = ndims;
        params[i].extents = extents;
        params[i].lowers = has_lowers ? lowers : NULL;
        params[i].pitches = has_pitches ? pitches : NULL;
    }
    params[Y].direction = of_y;
}

/* The numbers and the arguments of a call. */
struct call {
    void *x, *y;
    int64_t numbers[PARAMS - EXTENT];
    void *args[PARAMS];
};

static void set(struct call *call, void *x, void *y, const int64_t numbers[3][DIMS])
{
    call->x = x;
    call->y = y;
    memcpy(call->numbers, numbers, sizeof call->numbers);
    call->args[X] = &call->x;
    call->args[Y] = &call->y;
    for (int i = EXTENT; i < PARAMS; i++)
        call->args[i] = &call->numbers[i - EXTENT];
}

static int set_up(void **state)
{
    (void)state;
    shape(2, 1, 1, CF_OUT);
    return 0;
}

/* ---- Results ---- */

/* Makes a call with random numbers. Its arrays are in host or device memory, which ends where the section ends. */
static void check_shape(unsigned short seed[], uint32_t ndims, int has_lowers, int has_pitches, int mix)
{
    int64_t numbers[3][DIMS] = {{0}}, index[DIMS] = {0}, last[DIMS] = {0};
    struct call call;
    for (uint32_t d = 0; d < ndims; d++) {
        numbers[0][d] = 1 + nrand48(seed) % 5;
        numbers[1][d] = has_lowers ? nrand48(seed) % 4 : 0;
        numbers[2][d] = numbers[0][d] + numbers[1][d] + (has_pitches ? nrand48(seed) % 3 : 0);
        last[d] = numbers[0][d] - 1;
    }
    shape(ndims, has_lowers, has_pitches, nrand48(seed) % 2 ? CF_OUT : CF_INOUT);
    set(&call, NULL, NULL, (const int64_t(*)[DIMS])numbers);
    int64_t first = place_of(call.args, index, ndims), span = place_of(call.args, last, ndims) + 1 - first;
    size_t bytes = (size_t)span * sizeof(int32_t);
    int32_t *x = malloc(bytes), *y = malloc(bytes), *expected = malloc(bytes);
    assert_true(x && y && expected);
    for (int64_t i = 0; i < span; i++)
        x[i] = (int32_t)nrand48(seed);
    memset(y, POISON, bytes);
    memset(expected, POISON, bytes);
    do {
        int64_t at = place_of(call.args, index, ndims) - first;
        expected[at] = x[at] + 1;
    } while (next(call.args, index, ndims));
    void *there_x = mix & 1 ? upload(x, bytes) : x, *there_y = mix & 2 ? upload(y, bytes) : y;
    call.x = (char *)there_x - first * (int64_t)sizeof *x;
    call.y = (char *)there_y - first * (int64_t)sizeof *y;
    assert_ok(cf_call(&kernel, call.args));
    if (mix & 2)
        assert_ok(cf_mem_copy(y, there_y, bytes));
    assert_memory_equal(y, expected, bytes);
    assert_ok(cf_mem_free(mix & 1 ? there_x : NULL));
    assert_ok(cf_mem_free(mix & 2 ? there_y : NULL));
    free(x);
    free(y);
    free(expected);
}

TEST_WITH(call_any_shape_in_any_memory_is_right, set_up, end_library_empty)
{
    unsigned short seed[3] = {1, 2, 3};
    for (int round = 0; round < 2000; round++) {
        int has_pitches = (int)(nrand48(seed) % 2);
        uint32_t ndims = 1 + (uint32_t)(nrand48(seed) % DIMS);
        check_shape(seed, ndims, (has_pitches || ndims == 1) && nrand48(seed) % 2, has_pitches, round % 4);
    }
}

/* Each row ends at the end of a page, and the page after it cannot be accessed. */
TEST_WITH(call_memory_between_the_rows_is_not_touched, set_up, end_library_empty)
{
    enum { ROWS = 4, ROW = 7 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), elements = page / sizeof(int32_t);
    char *memory = mmap(NULL, 4 * ROWS * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    for (int i = 0; i < 4 * ROWS; i += 2)
        assert_int_equal(mprotect(memory + (size_t)i * page, page, PROT_NONE), 0);
    /* Row r of x ends with page 2r + 1, and row r of y with page 2r + 1 + 2 * ROWS. */
    int32_t *x = (int32_t *)(void *)memory + 2 * elements - ROW, *y = x + 2 * ROWS * elements;
    for (size_t r = 0; r < ROWS; r++)
        for (size_t i = 0; i < ROW; i++)
            x[2 * r * elements + i] = (int32_t)(100 * r + i);
    const int64_t numbers[3][DIMS] = {{ROWS, ROW}, {3, 5}, {0, (int64_t)(2 * elements)}};
    struct call call;
    int64_t before = 3 * numbers[2][1] + 5;
    set(&call, x - before, y - before, numbers);
    assert_ok(cf_call(&kernel, call.args));
    for (size_t r = 0; r < ROWS; r++)
        for (size_t i = 0; i < ROW; i++)
            assert_int_equal(y[2 * r * elements + i], 100 * r + i + 1);
    munmap(memory, 4 * ROWS * page);
}

/* The driver copies all rows in one call, and only the bytes of the section. */
FAKE_TEST(call_rows_of_a_host_array_are_one_copy, "CF_DRIVER")
{
    const struct fake_counts *counts = fake_counts();
    static int32_t x[3 * 7 * 11], y[3 * 7 * 11];
    static const int64_t rows[3][DIMS] = {{5, 4}, {1, 2}, {0, 7}}, whole[3][DIMS] = {{5, 7}, {1, 0}, {0, 7}};
    static const int64_t slices[3][DIMS] = {{3, 4, 5}, {0, 1, 1}, {0, 7, 11}},
                         columns[3][DIMS] = {{3, 7, 5}, {0, 0, 1}, {0, 7, 11}};
    struct call call;
    int before = counts->copy_2d;
    set(&call, x, y, rows);
    assert_ok(cf_call(&kernel, call.args));
    assert_int_equal(counts->copy_2d - before, 2); /* one copy for x and one for y, which is not copied in */
    before = counts->copy_2d;
    set(&call, x, y, whole);
    assert_ok(cf_call(&kernel, call.args));
    assert_int_equal(counts->copy_2d - before, 0);
    before = counts->copy_2d;
    shape(3, 1, 1, CF_INOUT);
    set(&call, x, y, slices);
    assert_ok(cf_call(&kernel, call.args));
    assert_int_equal(counts->copy_2d - before, 9);
    before = counts->copy_2d;
    set(&call, x, y, columns);
    assert_ok(cf_call(&kernel, call.args));
    assert_int_equal(counts->copy_2d - before, 3); /* the slices follow one another without a gap */
}

/* ---- Errors ---- */

static void expect_refused(uint32_t ndims, const int64_t numbers[3][DIMS], int status, const char *detail)
{
    int32_t x[64] = {0}, y[64];
    struct call call;
    shape(ndims, 1, 1, CF_OUT);
    memset(y, POISON, sizeof y);
    set(&call, x, y, numbers);
    assert_int_equal(cf_call(&kernel, call.args), status);
    assert_string_equal(cf_last_error(), detail);
    /* cf_launch() reports the same error under its own name. */
    char said[256];
    const char *colon = strchr(detail, ':');
    snprintf(said, sizeof said, "%.*s_async%s", (int)(colon - detail), detail, colon);
    assert_int_equal(cf_launch(&kernel, NULL, call.args), status);
    assert_string_equal(cf_last_error(), said);
    for (size_t i = 0; i < sizeof y; i++)
        assert_int_equal(((unsigned char *)y)[i], POISON);
}
#define ROWS(...) ((const int64_t[3][DIMS]){__VA_ARGS__})

TEST_WITH(call_negative_number_is_named, set_up, end_library_empty)
{
    expect_refused(2, ROWS({2, -3}, {0, 0}, {0, 3}), CF_EINVAL,
                   "made_add_1: the extent x[e1] is negative with e1 = -3");
    expect_refused(2, ROWS({2, 3}, {-1, 0}, {0, 3}), CF_EINVAL,
                   "made_add_1: the lower bound x[l0:] is negative with l0 = -1");
    expect_refused(2, ROWS({2, 3}, {0, -1}, {0, 3}), CF_EINVAL,
                   "made_add_1: the lower bound x[l1:] is negative with l1 = -1");
    expect_refused(2, ROWS({2, 3}, {0, 0}, {0, -3}), CF_EINVAL, "made_add_1: pitch(x: p1) is negative with p1 = -3");
    expect_refused(2, ROWS({0, 0}, {0, 0}, {0, -3}), CF_EINVAL, "made_add_1: pitch(x: p1) is negative with p1 = -3");
}

TEST_WITH(call_pitch_shorter_than_its_row_is_invalid, set_up, end_library_empty)
{
    expect_refused(2, ROWS({2, 5}, {0, 0}, {0, 3}), CF_EINVAL,
                   "made_add_1: pitch(x: p1) is 3, shorter than its row of 5 with p1 = 3, l1 = 0, e1 = 5");
    expect_refused(2, ROWS({2, 5}, {0, 1}, {0, 5}), CF_EINVAL,
                   "made_add_1: pitch(x: p1) is 5, shorter than its row of 6 with p1 = 5, l1 = 1, e1 = 5");
    expect_refused(3, ROWS({1, 2, 3}, {0, 3, 0}, {0, 4, 3}), CF_EINVAL,
                   "made_add_1: pitch(x: p1) is 4, shorter than its row of 5 with p1 = 4, l1 = 3, e1 = 2");
    expect_refused(2, ROWS({0, 5}, {0, 0}, {0, 3}), CF_EINVAL,
                   "made_add_1: pitch(x: p1) is 3, shorter than its row of 5 with p1 = 3, l1 = 0, e1 = 5");
}

/* Without a pitch, rows have as many elements as the extent says. */
TEST_WITH(call_section_past_rows_without_pitch_is_invalid, set_up, end_library_empty)
{
    int32_t x[64] = {0};
    struct call call;
    shape(2, 1, 0, CF_OUT);
    set(&call, x, x, ROWS({2, 5}, {0, 1}, {0, 0}));
    assert_fails(cf_call(&kernel, call.args), CF_EINVAL,
                 "made_add_1: x[l1:e1] reaches to 6 in rows of 5, since it has no pitch with l1 = 1, e1 = 5");
    set(&call, x, x + 32, ROWS({2, 5}, {1, 0}, {0, 0})); /* the outermost dimension has no pitch */
    assert_ok(cf_call(&kernel, call.args));
}

TEST_WITH(call_too_many_bytes_overflow, set_up, end_library_empty)
{
    const int64_t large = (int64_t)1 << 62;
    expect_refused(1, ROWS({large}, {0}, {0}), CF_EOVERFLOW,
                   "made_add_1: x[l0:e0] has more than 2^63 - 1 bytes with e0 = 4611686018427387904, l0 = 0");
    expect_refused(1, ROWS({1}, {large}, {0}), CF_EOVERFLOW,
                   "made_add_1: x[l0:e0] has more than 2^63 - 1 bytes with e0 = 1, l0 = 4611686018427387904");
    expect_refused(1, ROWS({INT64_MAX}, {1}, {0}), CF_EOVERFLOW,
                   "made_add_1: x[l0:e0] has more than 2^63 - 1 bytes with e0 = 9223372036854775807, l0 = 1");
    expect_refused(2, ROWS({3, 1}, {0, 0}, {0, large}), CF_EOVERFLOW,
                   "made_add_1: x[l0:e0][l1:e1] has more than 2^63 - 1 bytes with e0 = 3, l0 = 0, e1 = 1, l1 = 0, "
                   "p1 = 4611686018427387904");
}

TEST_WITH(call_empty_section_takes_null, set_up, end_library_empty)
{
    const int64_t large = (int64_t)1 << 62;
    struct call call;
    /* The grid of the other kernel is not empty, so its body would access an element. This one has an empty grid. */
    cf_kernel empty = kernel;
    empty.launch.grid[0] = (cf_expr){"0", OPS(CONST(0))};
    set(&call, NULL, NULL, ROWS({0, 5}, {1, 2}, {0, 9}));
    assert_ok(cf_call(&empty, call.args));
    set(&call, NULL, NULL, ROWS({5, 0}, {large, large}, {0, large}));
    assert_ok(cf_call(&empty, call.args));
    set(&call, NULL, NULL, ROWS({5, 1}, {1, 2}, {0, 9}));
    assert_fails(cf_call(&empty, call.args), CF_EINVAL, "made_add_1: x is NULL and its extent is 5");
}

TEST_WITH(call_section_past_its_allocation_is_invalid, set_up, end_library_empty)
{
    static const int32_t zeros[40];
    int32_t *x = upload(zeros, sizeof zeros), *y = upload(zeros, sizeof zeros);
    struct call call;
    set(&call, x, y, ROWS({4, 10}, {0, 0}, {0, 10}));
    assert_ok(cf_call(&kernel, call.args));
    set(&call, x, y, ROWS({4, 5}, {0, 5}, {0, 10})); /* the section ends with the array's last element */
    assert_ok(cf_call(&kernel, call.args));
    set(&call, x, y, ROWS({4, 5}, {0, 0}, {0, 11})); /* 3 * 11 + 5 elements, where there are 40 */
    assert_ok(cf_call(&kernel, call.args));
    set(&call, x, y, ROWS({4, 5}, {0, 0}, {0, 12}));
    assert_fails(cf_call(&kernel, call.args), CF_EINVAL,
                 "made_add_1: x has 20 elements, 164 bytes, and its allocation ends after 160 bytes");
    set(&call, x, y, ROWS({4, 5}, {0, 6}, {0, 11}));
    assert_fails(cf_call(&kernel, call.args), CF_EINVAL,
                 "made_add_1: x has 20 elements, from byte 24 to byte 176, and its allocation ends after 160 bytes");
    assert_ok(cf_mem_free(x));
    assert_ok(cf_mem_free(y));
}

TEST_WITH(call_pointer_off_its_alignment_is_invalid, set_up, end_library_empty)
{
    int32_t x[16] = {0}, y[16];
    struct call call;
    set(&call, (char *)x + 2, y, ROWS({1, 5}, {0, 0}, {0, 5}));
    assert_fails(cf_call(&kernel, call.args), CF_EINVAL, "is not aligned to its elements' 4 bytes");
}

TEST_WITH(call_more_dimensions_than_there_are_is_invalid, set_up, end_library_empty)
{
    int32_t x[4] = {0};
    struct call call;
    set(&call, x, x, ROWS({1, 1}, {0, 0}, {0, 1}));
    params[Y].ndims = CF_ARRAY_DIMS + 1;
    assert_fails(cf_call(&kernel, call.args), CF_EINVAL, "made_add_1: y has 9 dimensions, and an array has at most 8");
}

/* ---- Pointers that are not arrays ---- */

TEST_WITH(call_pointer_without_extent_is_no_array, set_up, end_library_empty)
{
    int32_t host[4] = {1, 2, 3, 4};
    int32_t *device = upload(host, sizeof host), *result = upload(host, sizeof host);
    struct call call;
    shape(0, 0, 0, CF_INOUT); /* with this declaration the kernel reads one element */
    set(&call, device, result, ROWS({1}, {0}, {0}));
    assert_ok(cf_call(&kernel, call.args));
    assert_ok(cf_mem_copy(host, result, sizeof host));
    assert_true(host[0] == 2 && host[1] == 2);
    params[X].direction = CF_POINTER;
    params[X].bytes = params[X].align = 0; /* a pointer to elements of unknown size, as void * */
    params[X].type = CF_OPAQUE;
    assert_ok(cf_call(&kernel, call.args));
    set(&call, host, result, ROWS({1}, {0}, {0}));
    if (on_cuda())
        assert_fails(cf_call(&kernel, call.args), CF_EINVAL,
                     "made_add_1: x is host memory; it has no declared extent and takes device memory only");
    else
        assert_ok(cf_call(&kernel, call.args));
    params[X].direction = CF_IN;
    params[X].bytes = params[X].align = 4;
    params[X].type = CF_I32;
    assert_ok(cf_mem_free(device));
    assert_ok(cf_mem_free(result));
}

/* The staged copy has the same alignment as the whole array, because a kernel may read several elements at once. */
FAKE_TEST(call_staged_pointer_is_aligned_wherever_the_section_begins, "CF_DRIVER")
{
    static int32_t x[8192], y[8192];
    struct call call;
    for (int64_t lower = 0; lower < 200; lower++) {
        set(&call, x, y, ROWS({2, 5}, {lower % 7, lower}, {0, 500}));
        assert_ok(cf_call(&kernel, call.args));
        assert_int_equal((uintptr_t)last_x % 256, 0);
    }
}

/* Only the first pages of the memory are registered, so the driver refuses to copy all of it at once. */
FAKE_TEST(call_rows_registered_in_part_are_right, "CF_DRIVER")
{
    enum { PAGE = 4096, ROW = 1000, PITCH_ = 1024, COUNT = 6 };
    int (*host_register)(void *, size_t, unsigned int) =
        (int (*)(void *, size_t, unsigned int))driver_function("cuMemHostRegister", 6050);
    int (*host_unregister)(void *) = (int (*)(void *))driver_function("cuMemHostUnregister", 4000);
    int32_t *x = aligned_alloc(PAGE, COUNT * PAGE), *y = aligned_alloc(PAGE, COUNT * PAGE);
    struct cf__scope place;
    assert_true(x && y);
    for (int i = 0; i < COUNT * PITCH_; i++)
        x[i] = i;
    memset(y, POISON, COUNT * PAGE);
    assert_ok(cf__enter(&place, "test", NULL));
    assert_int_equal(host_register(x, 2 * PAGE, 0), 0);
    assert_int_equal(host_register(y, 3 * PAGE, 0), 0);
    struct call call;
    set(&call, x, y, ROWS({COUNT, ROW}, {0, 10}, {0, PITCH_}));
    assert_ok(cf_call(&kernel, call.args));
    for (int i = 0; i < COUNT * PITCH_; i++) {
        int is_inside = i % PITCH_ >= 10 && i % PITCH_ < 10 + ROW;
        assert_int_equal(y[i], is_inside ? i + 1 : 0x5a5a5a5a);
    }
    assert_int_equal(host_unregister(x), 0);
    assert_int_equal(host_unregister(y), 0);
    cf__leave(&place);
    free(x);
    free(y);
}

/* ---- cf_kernel_section() ---- */

TEST_WITH(section_of_rows_in_memory_is_where_they_lie, set_up, end_library_empty)
{
    struct call call;
    cf_section section;
    set(&call, NULL, NULL, ROWS({2, 3}, {1, 4}, {0, 10}));
    assert_ok(cf_kernel_section(&kernel, X, call.args, &section));
    assert_int_equal(section.count, 6);
    assert_int_equal(section.offset, (1 * 10 + 4) * sizeof(int32_t));
    assert_int_equal(section.span, (10 + 3) * sizeof(int32_t));
    assert_int_equal(section.ndims, 2);
    assert_true(section.extents[0] == 2 && section.extents[1] == 3);
    assert_true(section.lowers[0] == 1 && section.lowers[1] == 4);
    assert_true(section.strides[0] == 10 * sizeof(int32_t) && section.strides[1] == sizeof(int32_t));
    set(&call, NULL, NULL, ROWS({2, 0}, {1, 4}, {0, 10}));
    assert_ok(cf_kernel_section(&kernel, X, call.args, &section));
    assert_true(section.count == 0 && section.offset == 0 && section.span == 0);
}

TEST_WITH(section_bad_arguments_are_named, set_up, end_library_empty)
{
    struct call call;
    cf_section section;
    set(&call, NULL, NULL, ROWS({2, 3}, {1, 4}, {0, 5}));
    assert_fails(cf_kernel_section(&kernel, X, call.args, &section), CF_EINVAL,
                 "made_add_1: pitch(x: p1) is 5, shorter than its row of 7");
    assert_fails(cf_kernel_section(NULL, X, call.args, &section), CF_EINVAL, "cf_kernel_section: kernel is NULL");
    assert_fails(cf_kernel_section(&kernel, X, NULL, &section), CF_EINVAL, "cf_kernel_section: args is NULL");
    assert_fails(cf_kernel_section(&kernel, X, call.args, NULL), CF_EINVAL, "cf_kernel_section: section is NULL");
    assert_fails(cf_kernel_section(&kernel, EXTENT, call.args, &section), CF_EINVAL,
                 "cf_kernel_section: parameter number 2 of made_add_1 is no array");
    assert_fails(cf_kernel_section(&kernel, PARAMS, call.args, &section), CF_EINVAL,
                 "cf_kernel_section: parameter number 14 of made_add_1 is no array");
}

int main(int argc, char *argv[])
{
    make_image(&image, 1);
    return run_made(argc, argv, &module, set_up, end_library_empty);
}
