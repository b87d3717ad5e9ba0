/* test_overlap.c - arrays that a kernel declares __restrict__ or in place. A call with overlapping arrays is refused,
 * with the number of bytes that they have in common, unless they are in place and the same array. */
#include "handmade_kernel.h"

#include "model/overlap.h"

#define DIMS 3

/* ---- A kernel with two arrays of any shape and a third 1D array, which writes nothing ---- */

enum { X, Y, Z, SHAPE, OF_Y = SHAPE + 3 * DIMS, LENGTH = OF_Y + 3 * DIMS, PARAMS };
enum { EXTENT, LOWER = DIMS, PITCH = 2 * DIMS };

#define SHAPE_AT(at)                                                                                  \
    {NUMBER("e0", at), NUMBER("e1", (at) + 1), NUMBER("e2", (at) + 2)},                               \
        {NUMBER("l0", (at) + LOWER), NUMBER("l1", (at) + LOWER + 1), NUMBER("l2", (at) + LOWER + 2)}, \
    {                                                                                                 \
        {NULL, NULL}, NUMBER("p1", (at) + PITCH + 1), NUMBER("p2", (at) + PITCH + 2)                  \
    }
static const cf_expr shapes[2][3][DIMS] = {{SHAPE_AT(SHAPE)}, {SHAPE_AT(OF_Y)}};
static const cf_expr length = NUMBER("n", LENGTH);

#define NUMBERS                                                                                   \
    VALUE("e0", int64_t, CF_I64), VALUE("e1", int64_t, CF_I64), VALUE("e2", int64_t, CF_I64),     \
        VALUE("l0", int64_t, CF_I64), VALUE("l1", int64_t, CF_I64), VALUE("l2", int64_t, CF_I64), \
        VALUE("p0", int64_t, CF_I64), VALUE("p1", int64_t, CF_I64), VALUE("p2", int64_t, CF_I64)
static cf_param params[PARAMS] = {
    {.name = "x", .ctype = "const int32_t *", .type = CF_I32, .direction = CF_IN, .lanes = 1, .bytes = 4, .align = 4},
    {.name = "y", .ctype = "int16_t *", .type = CF_I16, .direction = CF_OUT, .lanes = 1, .bytes = 2, .align = 2},
    ARRAY_1D("z", int8_t, CF_I8, CF_IN, length),
    NUMBERS,
    NUMBERS,
    VALUE("n", int64_t, CF_I64)};

static int runs;

static void count_runs(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    (void)launch;
    runs += (int)(end - begin);
}

static uint8_t restricts[PARAMS], lists[PARAMS];
static struct made_image image;
static cf_kernel kernel = {MADE_KERNEL("apart", image),
                           .nparams = PARAMS,
                           .params = params,
                           .restricts = restricts,
                           .launch = {.grid = {FIXED(1)}, .block = {FIXED(1)}},
                           .cpu_body = count_runs};
static const cf_kernel *const kernels[] = {&kernel};
static const cf_module module = {.version = CF_REGISTRY_VERSION, .prefix = "made", .count = 1, .kernels = kernels};

static void declare(int x, int y, int z, cf_direction of_x, cf_direction of_y, cf_direction of_z)
{
    restricts[X] = (uint8_t)x;
    restricts[Y] = (uint8_t)y;
    restricts[Z] = (uint8_t)z;
    params[X].direction = of_x;
    params[Y].direction = of_y;
    params[Z].direction = of_z;
}

/* Declares that the arrays may be in place, instead of __restrict__, with the given lists. */
static void declare_in_place(int x, int y, int z, cf_direction of_x, cf_direction of_y, cf_direction of_z)
{
    declare(0, 0, 0, of_x, of_y, of_z);
    kernel.restricts = NULL;
    kernel.in_place = lists;
    lists[X] = (uint8_t)x;
    lists[Y] = (uint8_t)y;
    lists[Z] = (uint8_t)z;
}

static void set_element_of_y(uint32_t bytes)
{
    params[Y].type = bytes == 4 ? CF_I32 : CF_I16;
    params[Y].bytes = params[Y].align = bytes;
}

static void shape(uint32_t ndims_of_x, uint32_t ndims_of_y)
{
    for (int i = X; i <= Y; i++) {
        params[i].ndims = i == X ? ndims_of_x : ndims_of_y;
        params[i].extents = shapes[i][0];
        params[i].lowers = shapes[i][1];
        params[i].pitches = shapes[i][2];
    }
}

struct call {
    void *pointers[3];
    int64_t numbers[PARAMS - SHAPE];
    void *args[PARAMS];
};

static void bind(struct call *call)
{
    for (int i = 0; i < PARAMS; i++)
        call->args[i] = i < SHAPE ? (void *)&call->pointers[i] : (void *)&call->numbers[i - SHAPE];
}

/* Passes 1D arrays. */
static void plain(struct call *call, void *x, int64_t nx, void *y, int64_t ny, void *z, int64_t nz)
{
    *call = (struct call){.pointers = {x, y, z}};
    shape(1, 1);
    call->numbers[0] = nx;
    call->numbers[OF_Y - SHAPE] = ny;
    call->numbers[LENGTH - SHAPE] = nz;
    bind(call);
}

static int set_up(void **state)
{
    (void)state;
    runs = 0;
    kernel.restricts = restricts;
    kernel.in_place = NULL;
    set_element_of_y(2);
    declare(0, 1, 0, CF_IN, CF_OUT, CF_IN);
    return 0;
}

/* ---- Shapes ---- */

enum { ROOM = 4096 };

/* Marks the bytes of a section; returns how many of them were marked already. */
static uint64_t mark(uint8_t *room, const int64_t numbers[], uint32_t ndims, size_t at, size_t element)
{
    uint64_t before = 0;
    int64_t index[DIMS] = {0}, extents[DIMS] = {1, 1, 1}, lowers[DIMS] = {0}, pitches[DIMS] = {0};
    for (uint32_t d = 0; d < ndims; d++) {
        extents[d] = numbers[EXTENT + d];
        lowers[d] = numbers[LOWER + d];
        pitches[d] = numbers[PITCH + d];
    }
    for (index[0] = 0; index[0] < extents[0]; index[0]++)
        for (index[1] = 0; index[1] < extents[1]; index[1]++)
            for (index[2] = 0; index[2] < extents[2]; index[2]++) {
                int64_t place = 0;
                for (uint32_t d = 0; d < ndims; d++)
                    place = (d ? place * pitches[d] : 0) + index[d] + lowers[d];
                for (size_t byte = 0; byte < element; byte++) {
                    uint8_t *marked = &room[at + (size_t)place * element + byte];
                    before += *marked & 1;
                    *marked |= 2;
                }
            }
    for (size_t i = 0; i < ROOM; i++)
        room[i] = room[i] ? 1 : 0;
    return before;
}

/* Chooses a random shape that fits into the second half of the room, wherever in the first half it begins. */
static void choose(int64_t numbers[], uint32_t ndims, size_t element, unsigned short seed[])
{
    for (int64_t span = ROOM; span * (int64_t)element > ROOM / 2;) {
        span = 1;
        for (uint32_t d = 0; d < ndims; d++) {
            numbers[EXTENT + d] = nrand48(seed) % (d ? 9 : 12);
            numbers[LOWER + d] = nrand48(seed) % 3;
            numbers[PITCH + d] = numbers[EXTENT + d] + numbers[LOWER + d] + nrand48(seed) % 8;
            span *= d ? numbers[PITCH + d] : numbers[EXTENT + d] + numbers[LOWER + d];
        }
    }
}

static void expect(struct call *call, uint64_t bytes)
{
    char detail[128];
    int before = runs;
    snprintf(detail, sizeof detail, "made_apart: x and y overlap by %llu bytes; the kernel declares y __restrict__",
             (unsigned long long)bytes);
    if (bytes > 0) {
        assert_fails(cf_call(&kernel, call->args), CF_EINVAL, detail);
        assert_int_equal(runs, before);
    } else {
        assert_ok(cf_call(&kernel, call->args));
        assert_int_equal(runs, before + 1);
    }
}

static void call_any_two_shapes_as_many_bytes_as_they_share(void **state)
{
    unsigned short seed[3] = {1, 2, 3};
    int is_device = *state != NULL, apart = 0, close_by = 0;
    void *memory = calloc(1, ROOM), *there = memory;
    assert_non_null(memory);
    if (is_device)
        assert_ok(cf_mem_alloc(&there, ROOM));
    for (int round = 0; round < (is_device ? 2000 : 6000); round++) {
        struct call call = {.numbers = {0}};
        uint8_t room[ROOM] = {0};
        uint32_t ndims[2] = {1 + (uint32_t)(nrand48(seed) % DIMS), 1 + (uint32_t)(nrand48(seed) % DIMS)};
        int64_t *of_x = call.numbers, *of_y = call.numbers + (OF_Y - SHAPE);
        size_t at_x = 4 * (size_t)(nrand48(seed) % (ROOM / 8)), at_y = 2 * (size_t)(nrand48(seed) % (ROOM / 4));
        choose(of_x, ndims[0], 4, seed);
        choose(of_y, ndims[1], 2, seed);
        if (round % 2 && ndims[0] > 1 && ndims[0] == ndims[1]) {
            /* Rows with equal pitches, which may or may not interleave. */
            int64_t pitch = 20 + nrand48(seed) % 4, planes = 1 + nrand48(seed) % 4;
            for (uint32_t d = 0; d < ndims[0]; d++) {
                int64_t extent = 1 + nrand48(seed) % (d == ndims[0] - 1 ? 9 : planes);
                of_x[EXTENT + d] = extent;
                of_y[EXTENT + d] = 1 + nrand48(seed) % (d == ndims[0] - 1 ? 18 : planes);
                of_x[LOWER + d] = of_y[LOWER + d] = 0;
                of_x[PITCH + d] = d == ndims[0] - 1 ? pitch : planes;
                of_y[PITCH + d] = d == ndims[0] - 1 ? 2 * pitch : planes;
            }
            at_y = at_x + 2 * (size_t)(nrand48(seed) % 40);
        }
        shape(ndims[0], ndims[1]);
        call.pointers[X] = (char *)there + at_x;
        call.pointers[Y] = (char *)there + at_y;
        bind(&call);
        mark(room, of_x, ndims[0], at_x, 4);
        uint64_t shared = mark(room, of_y, ndims[1], at_y, 2);
        expect(&call, shared);
        apart += shared == 0;
        close_by += shared > 0;
    }
    assert_true(apart > 200 && close_by > 200); /* there were enough cases of both kinds */
    if (is_device)
        assert_ok(cf_mem_free(there));
    free(memory);
}

/* Columns of the same matrix: the ranges of their addresses are almost the same. */
TEST_WITH(call_rows_that_interleave_are_taken, set_up, end_library_empty)
{
    enum { ROWS = 1000000, PITCH_OF_X = 8 }; /* pitch in elements of 4 bytes */
    int32_t *matrix = malloc(ROWS * PITCH_OF_X * sizeof *matrix);
    assert_non_null(matrix);
    struct call call = {.pointers = {matrix, matrix + 3, NULL}};
    shape(2, 2);
    call.numbers[EXTENT] = call.numbers[OF_Y - SHAPE + EXTENT] = ROWS;
    call.numbers[EXTENT + 1] = 3;
    call.numbers[OF_Y - SHAPE + EXTENT + 1] = 10;
    call.numbers[PITCH + 1] = PITCH_OF_X;
    call.numbers[OF_Y - SHAPE + PITCH + 1] = 2 * PITCH_OF_X;
    bind(&call);
    declare(1, 1, 0, CF_IN, CF_OUT, CF_IN);
    assert_ok(cf_call(&kernel, call.args));
    call.pointers[Y] = (int16_t *)(void *)matrix + 5;
    assert_fails(cf_call(&kernel, call.args), CF_EINVAL,
                 "made_apart: x and y overlap by 2000000 bytes; the kernel "
                 "declares both __restrict__");
    free(matrix);
}

/* ---- In place ---- */

/* Returns the distance between adjacent elements in a dimension, in elements. */
static int64_t stride(const int64_t numbers[], uint32_t ndims, uint32_t d)
{
    int64_t elements = 1;
    while (++d < ndims)
        elements *= numbers[PITCH + d];
    return elements;
}

/* Returns 1 if all elements with the same index are at the same address, as kernels/LANGUAGE.md requires; counts the
 * elements that both arrays have. */
static int is_one(const int64_t of_x[], const int64_t of_y[], uint32_t ndims, size_t at_x, size_t at_y, uint64_t *both)
{
    int64_t between = (int64_t)at_x - (int64_t)at_y; /* number of bytes from y[0] to x[0] */
    int is_alike = 1;
    *both = 1;
    for (uint32_t d = 0; d < ndims; d++) {
        int64_t low = of_x[LOWER + d], other = of_y[LOWER + d];
        int64_t high = low + of_x[EXTENT + d], other_high = other + of_y[EXTENT + d];
        int64_t first = low > other ? low : other, last = high < other_high ? high : other_high;
        if (of_x[EXTENT + d] > 1 || of_y[EXTENT + d] > 1 || low != other)
            is_alike &= stride(of_x, ndims, d) == stride(of_y, ndims, d);
        else
            between += 4 * low * (stride(of_x, ndims, d) - stride(of_y, ndims, d));
        *both *= (uint64_t)(last > first ? last - first : 0);
    }
    return is_alike && between == 0;
}

/* Chooses a shape that is equal to the other one, differs in one number, or differs in all. */
static void choose_another(int64_t numbers[], const int64_t before[], uint32_t ndims, unsigned short seed[])
{
    uint32_t d = (uint32_t)nrand48(seed) % ndims;
    choose(numbers, ndims, 4, seed);
    if (nrand48(seed) % 4 == 0)
        return;
    memcpy(numbers, before, 3 * DIMS * sizeof *numbers);
    switch (nrand48(seed) % 4) {
    case 0:
        numbers[EXTENT + d] -= numbers[EXTENT + d] > 0;
        break;
    case 1:
        numbers[LOWER + d] -= numbers[LOWER + d] > 0;
        break;
    case 2:
        numbers[PITCH + d] += nrand48(seed) % 2;
        break;
    default:
        break;
    }
}

static void call_in_place_any_two_shapes_are_one_or_apart(void **state)
{
    unsigned short seed[3] = {4, 5, 6};
    int is_device = *state != NULL, ones = 0, apart = 0, parts = 0;
    void *memory = calloc(1, 2 * ROOM), *there = memory;
    assert_non_null(memory);
    if (is_device)
        assert_ok(cf_mem_alloc(&there, 2 * ROOM));
    set_element_of_y(4);
    declare_in_place(1, 1, 0, CF_IN, CF_OUT, CF_IN);
    for (int round = 0; round < (is_device ? 2000 : 6000); round++) {
        struct call call = {.numbers = {0}};
        uint8_t room[ROOM] = {0};
        uint32_t ndims = 1 + (uint32_t)(nrand48(seed) % DIMS);
        int64_t *of_x = call.numbers, *of_y = call.numbers + (OF_Y - SHAPE);
        size_t at_x = 4 * (size_t)(nrand48(seed) % (ROOM / 16)), at_y = at_x;
        choose(of_x, ndims, 4, seed);
        choose_another(of_y, of_x, ndims, seed);
        if (nrand48(seed) % 3 == 0)
            at_y = 4 * (size_t)(nrand48(seed) % (ROOM / 16));
        shape(ndims, ndims);
        call.pointers[X] = (char *)there + at_x;
        call.pointers[Y] = (char *)there + at_y;
        bind(&call);
        mark(room, of_x, ndims, at_x, 4);
        uint64_t both, shared = mark(room, of_y, ndims, at_y, 4);
        int is_taken = is_one(of_x, of_y, ndims, at_x, at_y, &both), before = runs;
        /* If a call is accepted, no element of one array is an element of the other one with another index. */
        assert_true(!is_taken || shared == 4 * both);
        if (shared == 0 || is_taken) {
            assert_ok(cf_call(&kernel, call.args));
            assert_int_equal(runs, before + 1);
        } else {
            char detail[128];
            snprintf(detail, sizeof detail,
                     "made_apart: x and y overlap by %llu bytes; in place they have to be one array, and ",
                     (unsigned long long)shared);
            assert_fails(cf_call(&kernel, call.args), CF_EINVAL, detail);
            assert_int_equal(runs, before);
        }
        ones += shared > 0 && is_taken;
        apart += shared == 0;
        parts += shared > 0 && !is_taken;
    }
    assert_true(ones > 200 && apart > 200 && parts > 200); /* there were enough cases of each kind */
    if (is_device)
        assert_ok(cf_mem_free(there));
    free(memory);
}

#define IN_PLACE "in place they have to be one array, and "

TEST_WITH(call_in_place_says_what_differs, set_up, end_library_empty)
{
    int32_t memory[64] = {0};
    struct call call;
    set_element_of_y(4);
    declare_in_place(1, 1, 0, CF_IN, CF_INOUT, CF_IN);
    plain(&call, memory, 8, memory, 8, memory, 0);
    assert_ok(cf_call(&kernel, call.args));
    plain(&call, memory, 8, memory, 3, memory, 0); /* the part that both have is in place */
    assert_ok(cf_call(&kernel, call.args));
    plain(&call, memory, 8, memory + 8, 8, memory, 0);
    assert_ok(cf_call(&kernel, call.args));
    plain(&call, memory, 8, memory + 7, 0, memory, 0);
    assert_ok(cf_call(&kernel, call.args));
    assert_int_equal(runs, 4);
    plain(&call, memory, 8, memory + 1, 8, memory, 0);
    assert_fails(cf_call(&kernel, call.args), CF_EINVAL,
                 "made_apart: x and y overlap by 28 bytes; " IN_PLACE "y begins 4 bytes after x");
    plain(&call, memory + 7, 8, memory, 8, memory, 0);
    assert_fails(cf_call(&kernel, call.args), CF_EINVAL,
                 "made_apart: x and y overlap by 4 bytes; " IN_PLACE "x begins 28 bytes after y");
    /* The sections x[2:3] and y[0:8]. */
    plain(&call, memory, 3, memory, 8, memory, 0);
    call.numbers[LOWER] = 2;
    assert_ok(cf_call(&kernel, call.args));
    plain(&call, memory, 3, memory + 2, 8, memory, 0);
    call.numbers[LOWER] = 2;
    assert_fails(cf_call(&kernel, call.args), CF_EINVAL,
                 "made_apart: x and y overlap by 12 bytes; " IN_PLACE "y[i] lies 8 bytes after x[i]");
    call.numbers[LOWER] = 0;
    set_element_of_y(2);
    plain(&call, memory, 8, memory, 8, memory, 0);
    assert_fails(cf_call(&kernel, call.args), CF_EINVAL,
                 "made_apart: x and y overlap by 16 bytes; " IN_PLACE "their elements have 4 and 2 bytes");
    set_element_of_y(4);
    call = (struct call){.pointers = {memory, memory, NULL}};
    for (int i = X; i <= Y; i++) {
        int64_t *numbers = call.numbers + (i == X ? 0 : OF_Y - SHAPE);
        numbers[EXTENT] = 2;
        numbers[EXTENT + 1] = 3;
        numbers[PITCH + 1] = 5 + i;
    }
    bind(&call);
    shape(2, 2);
    assert_fails(cf_call(&kernel, call.args), CF_EINVAL,
                 "made_apart: x and y overlap by 20 bytes; " IN_PLACE
                 "elements that follow one another in dimension 0 are 20 and 24 bytes apart");
    shape(1, 2);
    assert_fails(cf_call(&kernel, call.args), CF_EINVAL,
                 "made_apart: x and y overlap by 8 bytes; " IN_PLACE "they have 1 and 2 dimensions");
    assert_int_equal(runs, 5);
}

TEST_WITH(call_in_place_heeds_lists_and_directions, set_up, end_library_empty)
{
    int32_t memory[16] = {0};
    struct call same, shifted;
    set_element_of_y(4);
    plain(&same, memory, 8, memory, 8, memory, 0);
    plain(&shifted, memory, 8, memory + 1, 8, memory, 0);
    declare_in_place(1, 1, 0, CF_IN, CF_IN, CF_INOUT);
    assert_ok(cf_call(&kernel, shifted.args)); /* arrays that are only read may overlap */
    declare_in_place(1, 0, 2, CF_IN, CF_INOUT, CF_IN);
    assert_ok(cf_call(&kernel, shifted.args)); /* y is not in the list of x */
    declare_in_place(1, 1, 0, CF_INOUT, CF_OUT, CF_IN);
    assert_ok(cf_call(&kernel, same.args));
    declare_in_place(1, 1, 0, CF_OUT, CF_OUT, CF_IN);
    assert_fails(cf_call(&kernel, same.args), CF_EINVAL,
                 "made_apart: x and y overlap by 32 bytes; both are results, and neither may be the other");
    declare_in_place(1, 2, 0, CF_IN, CF_OUT, CF_IN);
    assert_fails(cf_call(&kernel, same.args), CF_EINVAL,
                 "made_apart: x and y overlap by 32 bytes; the kernel works in place with others alone");
    assert_fails(cf_call(&kernel, shifted.args), CF_EINVAL,
                 "overlap by 28 bytes; the kernel works in place with others");
    plain(&same, memory, 8, memory, 8, (char *)memory + 31, 1);
    declare_in_place(1, 1, 0, CF_IN, CF_OUT, CF_IN);
    assert_ok(cf_call(&kernel, same.args));
    kernel.restricts = restricts;
    restricts[Z] = 1;
    assert_fails(cf_call(&kernel, same.args), CF_EINVAL,
                 "made_apart: y and z overlap by 1 bytes; the kernel declares z __restrict__");
    assert_int_equal(runs, 4);
}

/* ---- Declarations ---- */

TEST_WITH(call_what_is_only_read_may_overlap, set_up, end_library_empty)
{
    int32_t memory[8] = {0};
    struct call call;
    plain(&call, memory, 8, memory, 16, memory, 0);
    declare(1, 1, 1, CF_IN, CF_IN, CF_IN);
    assert_ok(cf_call(&kernel, call.args));
    declare(0, 0, 0, CF_IN, CF_INOUT, CF_IN);
    assert_ok(cf_call(&kernel, call.args));
    declare(1, 0, 0, CF_IN, CF_INOUT, CF_IN);
    assert_fails(cf_call(&kernel, call.args), CF_EINVAL,
                 "made_apart: x and y overlap by 32 bytes; the kernel declares x __restrict__");
    declare(0, 1, 0, CF_INOUT, CF_IN, CF_IN);
    assert_fails(cf_call(&kernel, call.args), CF_EINVAL,
                 "made_apart: x and y overlap by 32 bytes; the kernel declares y __restrict__");
    plain(&call, memory, 4, memory + 4, 8, (char *)memory + 15, 2);
    declare(0, 0, 1, CF_INOUT, CF_OUT, CF_INOUT);
    assert_fails(cf_call(&kernel, call.args), CF_EINVAL,
                 "made_apart: x and z overlap by 1 bytes; the kernel declares z __restrict__");
    declare(0, 0, 1, CF_IN, CF_OUT, CF_IN);
    assert_fails(cf_call(&kernel, call.args), CF_EINVAL,
                 "made_apart: y and z overlap by 1 bytes; the kernel declares z __restrict__");
    assert_int_equal(runs, 2);
}

TEST_WITH(call_neighbours_and_empty_arrays_are_taken, set_up, end_library_empty)
{
    int32_t memory[8] = {0};
    struct call call;
    plain(&call, memory, 4, memory + 4, 8, memory, 0);
    assert_ok(cf_call(&kernel, call.args));
    plain(&call, memory + 4, 4, memory, 8, memory, 0);
    assert_ok(cf_call(&kernel, call.args));
    plain(&call, memory, 4, (char *)memory + 14, 1, memory, 0);
    assert_fails(cf_call(&kernel, call.args), CF_EINVAL, "overlap by 2 bytes");
    plain(&call, memory, 0, memory, 16, memory, 0);
    assert_ok(cf_call(&kernel, call.args));
    plain(&call, memory, 8, memory, 0, memory, 0);
    assert_ok(cf_call(&kernel, call.args));
    plain(&call, NULL, 0, NULL, 0, NULL, 0);
    assert_ok(cf_call(&kernel, call.args));
    assert_int_equal(runs, 5);
}

TEST_WITH(call_descriptor_that_says_nothing_of_it_is_taken, set_up, end_library_empty)
{
    int32_t memory[8] = {0};
    struct call call;
    plain(&call, memory, 8, memory, 16, memory, 0);
    kernel.restricts = NULL;
    assert_ok(cf_call(&kernel, call.args));
    kernel.restricts = restricts;
    assert_int_equal(cf_call(&kernel, call.args), CF_EINVAL);
    assert_int_equal(runs, 1);
    declare_in_place(1, 1, 0, CF_IN, CF_OUT, CF_IN);
    assert_int_equal(cf_call(&kernel, call.args), CF_EINVAL);
    kernel.in_place = NULL;
    assert_ok(cf_call(&kernel, call.args));
    assert_int_equal(runs, 2);
}

TEST_WITH(array_without_a_size_is_an_error, set_up, end_library_empty)
{
    float memory[8];
    struct call call;
    plain(&call, memory, -1, memory, 4, memory, 0);
    assert_int_equal(cf__check_overlap(&kernel, call.args, call.args), CF_EINVAL);
    plain(&call, memory, 1, memory, -4, memory, 0);
    assert_int_equal(cf__check_overlap(&kernel, call.args, call.args), CF_EINVAL);
}

/* Arrays of the CPU that the GPU reaches at another address, as may be so for pinned memory. */
TEST_WITH(array_used_elsewhere_is_compared_there, set_up, end_library_empty)
{
    char memory[96];
    struct call given, used;
    plain(&given, memory, 8, memory + 32, 16, memory + 64, 32);
    for (int last = Y; last <= Z; last++) {
        declare(0, last == Y, last == Z, CF_IN, CF_OUT, CF_OUT);
        used = given;
        bind(&used);
        used.pointers[last] = memory + 28;
        assert_int_equal(cf__check_overlap(&kernel, given.args, used.args), CF_EINVAL);
        used.pointers[last] = (char *)given.pointers[last] + 0x10000;
        assert_ok(cf__check_overlap(&kernel, given.args, used.args));
    }
}

/* ---- cf_launch() ---- */

static void launch_looks_where_pointers_are_checked(void **state)
{
    void *memory;
    struct call call;
    int is_checked = *state != NULL;
    assert_int_equal(setenv("CF_CHECK", is_checked ? "1" : "0", 1), 0);
    assert_ok(cf_shutdown());
    assert_ok(cf_mem_alloc(&memory, 32));
    plain(&call, memory, 8, memory, 16, memory, 0);
    if (is_checked)
        assert_fails(cf_launch(&kernel, NULL, call.args), CF_EINVAL,
                     "made_apart_async: x and y overlap by 32 bytes; the kernel declares y __restrict__");
    else
        assert_ok(cf_launch(&kernel, NULL, call.args));
    assert_ok(cf_stream_sync(NULL));
    assert_int_equal(runs, !is_checked);
    set_element_of_y(4);
    declare_in_place(1, 1, 0, CF_IN, CF_OUT, CF_IN);
    plain(&call, memory, 8, memory, 8, memory, 0);
    assert_ok(cf_launch(&kernel, NULL, call.args));
    plain(&call, memory, 7, (char *)memory + 4, 7, memory, 0);
    if (is_checked)
        assert_fails(cf_launch(&kernel, NULL, call.args), CF_EINVAL,
                     "made_apart_async: x and y overlap by 24 bytes; " IN_PLACE "y begins 4 bytes after x");
    else
        assert_ok(cf_launch(&kernel, NULL, call.args));
    assert_ok(cf_stream_sync(NULL));
    assert_int_equal(runs, is_checked ? 1 : 3);
    assert_ok(cf_mem_free(memory));
    assert_int_equal(unsetenv("CF_CHECK"), 0);
    assert_ok(cf_shutdown());
}

int main(int argc, char *argv[])
{
    make_image(&image, 1);
    add_test((struct CMUnitTest){"call_any_two_shapes_in_host_memory_as_many_bytes_as_they_share",
                                 call_any_two_shapes_as_many_bytes_as_they_share, set_up, end_library_empty, NULL});
    add_test((struct CMUnitTest){"call_any_two_shapes_in_device_memory_as_many_bytes_as_they_share",
                                 call_any_two_shapes_as_many_bytes_as_they_share, set_up, end_library_empty,
                                 (void *)1});
    add_test((struct CMUnitTest){"call_in_place_any_two_shapes_in_host_memory_are_one_or_apart",
                                 call_in_place_any_two_shapes_are_one_or_apart, set_up, end_library_empty, NULL});
    add_test((struct CMUnitTest){"call_in_place_any_two_shapes_in_device_memory_are_one_or_apart",
                                 call_in_place_any_two_shapes_are_one_or_apart, set_up, end_library_empty, (void *)1});
    add_test((struct CMUnitTest){"launch_overlap_is_not_looked_for", launch_looks_where_pointers_are_checked, set_up,
                                 end_library_empty, NULL});
    add_test((struct CMUnitTest){"launch_checked_overlap_is_refused", launch_looks_where_pointers_are_checked, set_up,
                                 end_library_empty, (void *)1});
    return run_made(argc, argv, &module, NULL, NULL);
}
