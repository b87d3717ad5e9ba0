/* test_element_check.c - checks of an array's elements: their range, for every type and shape and with bounds at and
 * beyond the limits of the type, and their order. */
#include "handmade_kernel.h"

#include <inttypes.h>

#include "context/drivers.h"
#include "context/enter.h"
#include "staging/buffers.h"

/* ---- A kernel that does nothing and has one checked array of up to three dimensions ---- */

enum { X, E0, E1, E2, L0, L1, L2, P1, P2, LOWER, UPPER, PARAMS };

static const cf_expr extents[] = {NUMBER("e0", E0), NUMBER("e1", E1), NUMBER("e2", E2)};
static const cf_expr lowers[] = {NUMBER("l0", L0), NUMBER("l1", L1), NUMBER("l2", L2)};
static const cf_expr pitches[] = {{NULL, NULL}, NUMBER("p1", P1), NUMBER("p2", P2)};
static const cf_expr lower_bound = NUMBER("lower", LOWER), upper_bound = NUMBER("upper", UPPER), absent = {NULL, NULL};
static cf_param params[PARAMS] = {
    {.name = "x", .direction = CF_IN, .lanes = 1, .extents = extents, .lowers = lowers, .pitches = pitches},
    VALUE("e0", int64_t, CF_I64),
    VALUE("e1", int64_t, CF_I64),
    VALUE("e2", int64_t, CF_I64),
    VALUE("l0", int64_t, CF_I64),
    VALUE("l1", int64_t, CF_I64),
    VALUE("l2", int64_t, CF_I64),
    VALUE("p1", int64_t, CF_I64),
    VALUE("p2", int64_t, CF_I64),
    VALUE("lower", int64_t, CF_I64),
    VALUE("upper", int64_t, CF_I64),
};
static cf_check check = {.text = "lower <= x[:] <= upper", .array = X};
static int runs;

static void count_run(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    (void)launch;
    runs += (int)(end - begin);
}

static struct made_image image;
static const cf_kernel kernel = {MADE_KERNEL("checked", image),
                                 .nparams = PARAMS,
                                 .params = params,
                                 .launch = {.grid = {FIXED(1)}, .block = {FIXED(1)}},
                                 .nchecks = 1,
                                 .checks = &check,
                                 .cpu_body = count_run};
static const cf_kernel *const kernels[] = {&kernel};
static const cf_module module = {.version = CF_REGISTRY_VERSION, .prefix = "made", .count = 1, .kernels = kernels};

/* Declares the kernel's array with this type, number of dimensions and bounds. `scan` is the name of the bundled kernel
 * that searches the array. */
static void declare(cf_type type, uint32_t ndims, int has_lower, int has_upper, const char *scan)
{
    char name[32];
    params[X].type = type;
    params[X].bytes = params[X].align = (uint32_t)cf_type_size(type);
    params[X].ndims = ndims;
    snprintf(name, sizeof name, "%s_%s", scan, cf_type_name(type));
    check.scan = cf_kernel_find(&cf_registry, name);
    check.lower = has_lower ? lower_bound : absent;
    check.upper = has_upper ? upper_bound : absent;
    check.lower_open = check.upper_open = 0;
    check.is_ascending = strcmp(scan, "descending") == 0;
    check.member = NULL;
    assert_non_null(check.scan);
}

/* Makes the elements structs of three integers of the declared type; the second one is checked. */
static void declare_member(void)
{
    const size_t bytes = cf_type_size(params[X].type);
    check.member = ".pair.y";
    check.type = params[X].type;
    check.offset = (uint32_t)bytes;
    params[X].type = CF_OPAQUE;
    params[X].bytes = (uint32_t)(3 * bytes);
}

static int call(void *x, const int64_t numbers[PARAMS - E0])
{
    void *args[PARAMS] = {&x};
    for (int i = E0; i < PARAMS; i++)
        args[i] = (void *)&numbers[i - E0];
    return cf_call(&kernel, args);
}

static void expect_inside(void *x, const int64_t numbers[])
{
    runs = 0;
    assert_ok(call(x, numbers));
    assert_int_equal(runs, 1);
}

static void expect_refused(void *x, const int64_t numbers[], int status, const char *detail)
{
    runs = 0;
    assert_int_equal(call(x, numbers), status);
    assert_string_equal(cf_last_error(), detail);
    assert_int_equal(runs, 0);
}

static void expect_outside(void *x, const int64_t numbers[], const char *detail)
{
    expect_refused(x, numbers, CF_ERANGE, detail);
}

/* ---- Types ---- */

static void put(cf_type type, void *x, size_t i, uint64_t bits)
{
    size_t bytes = cf_type_size(type);
    memcpy((char *)x + i * bytes, &bits, bytes); /* little endian: the low bytes come first */
}

static int is_unsigned(cf_type type)
{
    return type >= CF_U8 && type <= CF_U64;
}

/* Returns the largest value of the type, as bits. */
static uint64_t largest(cf_type type)
{
    return UINT64_MAX >> (64 - 8 * cf_type_size(type) + !is_unsigned(type));
}

static uint64_t smallest(cf_type type)
{
    return is_unsigned(type) ? 0 : ~largest(type);
}

static void describe(cf_type type, uint64_t bits, char text[24])
{
    snprintf(text, 24, is_unsigned(type) ? "%" PRIu64 : "%" PRId64, bits);
}

/* Sets x[1] to `bits` and the other elements to `good`, and expects an error about x[1]. */
static void expect_element(cf_type type, uint64_t good, uint64_t bits, const int64_t numbers[], const char *range)
{
    uint64_t x[3];
    char value[24], detail[100];
    for (size_t i = 0; i < 3; i++)
        put(type, x, i, i == 1 ? bits : good);
    describe(type, bits, value);
    snprintf(detail, sizeof detail, "made_checked: x[1] = %s is outside %s", value, range ? range : "");
    if (range)
        expect_outside(x, numbers, detail);
    else
        expect_inside(x, numbers);
}

TEST_WITH(range_elements_of_every_type_meet_its_bounds, NULL, end_library_empty)
{
    const int64_t numbers[] = {3, 0, 0, 0, 0, 0, 0, 0, 5, 100};
    for (int type = CF_I8; type <= CF_U64; type++) {
        declare(type, 1, 1, 1, "outside");
        expect_element(type, 7, 5, numbers, NULL);
        expect_element(type, 7, 100, numbers, NULL);
        expect_element(type, 7, 4, numbers, "[5, 100]");
        expect_element(type, 7, 101, numbers, "[5, 100]");
        expect_element(type, 7, smallest(type), numbers, "[5, 100]");
        expect_element(type, 7, largest(type), numbers, "[5, 100]");
        if (!is_unsigned(type))
            expect_element(type, 7, (uint64_t)-1, numbers, "[5, 100]");
        check.lower_open = check.upper_open = 1;
        expect_element(type, 7, 6, numbers, NULL);
        expect_element(type, 7, 99, numbers, NULL);
        expect_element(type, 7, 5, numbers, "(5, 100)");
        expect_element(type, 7, 100, numbers, "(5, 100)");
    }
}

TEST_WITH(range_without_a_bound_holds_the_whole_type, NULL, end_library_empty)
{
    const int64_t numbers[] = {3, 0, 0, 0, 0, 0, 0, 0, 5, 100};
    for (int type = CF_I8; type <= CF_U64; type++) {
        declare(type, 1, 1, 0, "outside");
        expect_element(type, 7, largest(type), numbers, NULL);
        expect_element(type, 7, 4, numbers, "[5, inf)");
        declare(type, 1, 0, 1, "outside");
        expect_element(type, 7, smallest(type), numbers, NULL);
        expect_element(type, 7, 101, numbers, "(-inf, 100]");
    }
}

/* Members of every type, in host memory, with a negative bound. */
TEST_WITH(range_members_of_every_type_meet_its_bounds, NULL, end_library_empty)
{
    const int64_t numbers[] = {2, 0, 0, 0, 0, 0, 0, 0, -3, 100};
    for (int type = CF_I8; type <= CF_U64; type++) {
        uint64_t x[6];
        const uint64_t bad[] = {101, largest(type), smallest(type)};
        declare(type, 1, 1, 1, "outside_rows");
        declare_member();
        for (size_t i = 0; i < 6; i++)
            put(type, x, i, i == 1 ? (is_unsigned(type) ? 0 : (uint64_t)-3) : i == 4 ? 100 : 101);
        expect_inside(x, numbers);
        for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
            char value[24], detail[100];
            if (is_unsigned(type) && bad[b] == smallest(type))
                continue;
            put(type, x, 4, bad[b]);
            describe(type, bad[b], value);
            snprintf(detail, sizeof detail, "made_checked: x[1].pair.y = %s is outside [-3, 100]", value);
            expect_outside(x, numbers, detail);
        }
    }
}

/* Bounds beyond the range of the type allow all elements, or none. */
TEST_WITH(range_past_the_type_is_cut, NULL, end_library_empty)
{
    const int64_t wide[] = {3, 0, 0, 0, 0, 0, 0, 0, INT64_MIN, INT64_MAX};
    const int64_t above[] = {3, 0, 0, 0, 0, 0, 0, 0, (int64_t)1 << 33, (int64_t)1 << 40};
    const int64_t below[] = {3, 0, 0, 0, 0, 0, 0, 0, -((int64_t)1 << 40), -((int64_t)1 << 33)};
    uint64_t x[3] = {0, 0, 0};
    for (int type = CF_I8; type <= CF_U64; type++) {
        declare(type, 1, 1, 1, "outside");
        expect_element(type, smallest(type), largest(type) >> (type == CF_U64), wide, NULL);
        expect_outside(x, above, "made_checked: x[0] = 0 is outside [8589934592, 1099511627776]");
        expect_outside(x, below, "made_checked: x[0] = 0 is outside [-1099511627776, -8589934592]");
    }
    declare(CF_U64, 1, 1, 1, "outside"); /* the largest bound that exists */
    expect_element(CF_U64, 0, (uint64_t)1 << 63, wide, "[-9223372036854775808, 9223372036854775807]");
    const int64_t empty[] = {3, 0, 0, 0, 0, 0, 0, 0, 5, 4};
    expect_outside(x, empty, "made_checked: x[0] = 0 is outside [5, 4]");
}

/* ---- Shapes ---- */

/* Puts a bad value at each position of an array in turn. Inside the section, the error must name the element. Outside
 * it, and in other members of an element, the value must be ignored. */
static void check_places(const char *scan, uint32_t ndims, const int64_t numbers[], int is_there, int has_members)
{
    const int64_t *extent = numbers, *lower = numbers + L0 - E0;
    int64_t pitch1 = numbers[P1 - E0], pitch2 = numbers[P2 - E0];
    int16_t x[3 * 600];
    const int64_t width = has_members ? 3 : 1;
    int64_t count = (lower[0] + extent[0]) * (ndims > 1 ? pitch1 : 1) * (ndims > 2 ? pitch2 : 1);
    assert_true(count <= 600);
    declare(CF_I16, ndims, 1, 1, scan);
    if (has_members)
        declare_member();
    for (int64_t bad = 0; bad < count; bad++) {
        char detail[100];
        int64_t index[3] = {bad, 0, 0};
        for (int64_t i = 0; i < 3 * 600; i++)
            x[i] = i / width == bad || i % width != width / 2 ? -7 : 50;
        if (ndims == 2)
            index[0] = bad / pitch1, index[1] = bad % pitch1;
        if (ndims == 3)
            index[0] = bad / pitch2 / pitch1, index[1] = bad / pitch2 % pitch1, index[2] = bad % pitch2;
        int is_inside = 1;
        size_t used = (size_t)snprintf(detail, sizeof detail, "made_checked: x");
        for (uint32_t d = 0; d < ndims; d++) {
            is_inside &= index[d] >= lower[d] && index[d] < lower[d] + extent[d];
            used += (size_t)snprintf(detail + used, sizeof detail - used, "[%" PRId64 "]", index[d]);
        }
        snprintf(detail + used, sizeof detail - used, "%s = -7 is outside [0, 100]", has_members ? ".pair.y" : "");
        void *given = is_there ? upload(x, sizeof x) : x;
        if (is_inside)
            expect_outside(given, numbers, detail);
        else
            expect_inside(given, numbers);
        assert_ok(cf_mem_free(is_there ? given : NULL));
    }
}

TEST_WITH(range_element_of_any_shape_is_named_by_its_indices, NULL, end_library_empty)
{
    /* extents, lower bounds, pitches, range */
    static const int64_t shapes[][PARAMS - E0] = {
        {5, 4, 3, 0, 0, 0, 4, 3, 0, 100}, /* no gaps */
        {5, 4, 3, 2, 0, 0, 4, 3, 0, 100}, /* a gap before the section */
        {5, 4, 3, 1, 2, 0, 7, 3, 0, 100}, /* gaps between planes */
        {3, 4, 3, 0, 0, 1, 4, 5, 0, 100}, /* gaps between rows, the same from plane to plane */
        {3, 4, 3, 1, 1, 1, 6, 5, 0, 100}, /* all gaps */
        {1, 4, 3, 1, 1, 1, 6, 5, 0, 100}, {3, 1, 3, 1, 1, 1, 6, 5, 0, 100},
        {3, 4, 1, 1, 1, 1, 6, 5, 0, 100}, {3, 1, 1, 1, 1, 1, 6, 5, 0, 100},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (uint32_t ndims = 1; ndims <= 3; ndims++) {
            check_places("outside_rows", ndims, shapes[i], (int)i % 2, 0);
            check_places("outside", ndims, shapes[i], 1 - (int)i % 2, 0); /* one launch for each row */
            check_places("outside_rows", ndims, shapes[i], (int)i % 2, 1);
            check_places("outside_rows", ndims, shapes[i], 1 - (int)i % 2, 1);
        }
}

TEST_WITH(range_lowest_of_several_is_named, NULL, end_library_empty)
{
    int16_t x[4 * 6 * 5] = {0};
    static const int64_t numbers[] = {3, 4, 3, 1, 1, 1, 6, 5, 0, 100};
    static const char *const scans[] = {"outside", "outside_rows"};
    for (size_t i = 0; i < 2; i++) {
        declare(CF_I16, 3, 1, 1, scans[i]);
        memset(x, 0, sizeof x);
        x[(3 * 6 + 1) * 5 + 1] = 101;
        x[(2 * 6 + 4) * 5 + 1] = 102;
        x[(2 * 6 + 3) * 5 + 3] = 103;
        x[(2 * 6 + 3) * 5 + 4] = 104; /* in the padding between rows */
        expect_outside(x, numbers, "made_checked: x[2][3][3] = 103 is outside [0, 100]");
    }
}

TEST_WITH(range_of_no_elements_is_not_searched, NULL, end_library_empty)
{
    static const int64_t numbers[] = {0, 4, 3, 1, 1, 1, 6, 5, 5, 4};
    declare(CF_I16, 3, 1, 1, "outside_rows");
    expect_inside(NULL, numbers);
}

/* The kernel that searches can handle rows, so one launch searches a plane. In host memory no launch is needed. */
FAKE_TEST(range_of_rows_is_searched_at_once, "CF_DRIVER")
{
    const struct fake_counts *counts = fake_counts();
    static int16_t x[2000];
    static const int64_t numbers[] = {100, 4, 0, 1, 2, 0, 9, 0, 0, 100};
    static const int64_t planes[] = {5, 4, 3, 1, 2, 1, 7, 5, 0, 100};
    int16_t *there = upload(x, sizeof x);
    int before = counts->launch;
    declare(CF_I16, 2, 1, 1, "outside_rows");
    expect_inside(there, numbers);
    assert_int_equal(counts->launch - before, 2); /* one of them is the kernel itself */
    before = counts->launch;
    expect_inside(x, numbers);
    assert_int_equal(counts->launch - before, 1);
    declare(CF_I16, 3, 1, 1, "outside_rows");
    before = counts->launch;
    expect_inside(there, planes);
    assert_int_equal(counts->launch - before, 6);
    assert_ok(cf_mem_free(there));
}

/* There are more slices than cells, so several passes are needed. Each pass may be the one that finds the lowest bad
 * element. */
TEST_WITH(range_of_many_slices_is_searched_in_turns, NULL, end_library_empty)
{
    enum { SLICES = 3 * CF__CELLS + 1 };
    static int16_t x[4 * SLICES];
    static const int places[] = {0, CF__CELLS - 1, CF__CELLS, 2 * CF__CELLS, SLICES - 1};
    const int64_t numbers[] = {SLICES, 2, 0, 0, 1, 0, 4, 0, 0, 100};
    declare(CF_I16, 2, 1, 1, "outside"); /* the kernel for this type cannot handle rows */
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char detail[100];
        memset(x, 0, sizeof x);
        x[4 * places[i] + 2] = 101;
        x[4 * (SLICES - 1) + 2] = 101;
        int16_t *there = upload(x, sizeof x);
        snprintf(detail, sizeof detail, "made_checked: x[%d][2] = 101 is outside [0, 100]", places[i]);
        expect_outside(there, numbers, detail);
        expect_outside(x, numbers, detail);
        assert_ok(cf_mem_free(there));
    }
    memset(x, 0, sizeof x);
    int16_t *there = upload(x, sizeof x);
    expect_inside(there, numbers);
    assert_ok(cf_mem_free(there));
}

/* Several threads search a long array. Each position in turn has a bad value, with other bad elements after it. */
TEST_WITH(range_of_a_long_array_lowest_is_named, NULL, end_library_empty)
{
    enum { COUNT = 700001 };
    static int32_t x[COUNT];
    static const int places[] = {0, 1, 63, 64, 65, 65535, 65536, 65537, 131071, 350000, 699999, COUNT - 1};
    const int64_t numbers[] = {COUNT, 0, 0, 0, 0, 0, 0, 0, 0, 100};
    declare(CF_I32, 1, 1, 1, "outside");
    expect_inside(x, numbers);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char detail[100];
        memset(x, 0, sizeof x);
        for (int j = places[i]; j < COUNT; j += j == places[i] ? 1 : 4999)
            x[j] = j == places[i] ? -1 : 101;
        snprintf(detail, sizeof detail, "made_checked: x[%d] = -1 is outside [0, 100]", places[i]);
        expect_outside(x, numbers, detail);
    }
}

/* ---- The order ---- */

TEST_WITH(ascending_elements_of_every_type_are_compared, NULL, end_library_empty)
{
    static const cf_type types[] = {CF_I8, CF_I16, CF_I32, CF_I64, CF_U8, CF_U16, CF_U32, CF_U64};
    static const int64_t numbers[] = {5, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const cf_type type = types[t];
        const uint64_t values[] = {smallest(type), 0, largest(type) - 1, largest(type)};
        declare(type, 1, 0, 0, "descending");
        for (size_t i = 0; i < 4; i++)
            for (size_t j = 0; j < 4; j++) {
                uint64_t x[5];
                char first[24], second[24], detail[100];
                for (size_t k = 0; k < 5; k++)
                    put(type, x, k, k < 2 ? smallest(type) : k == 2 ? values[i] : k == 3 ? values[j] : largest(type));
                describe(type, values[i], first);
                describe(type, values[j], second);
                snprintf(detail, sizeof detail, "made_checked: x[3] = %s is less than x[2] = %s", second, first);
                void *there = upload(x, sizeof x);
                for (int is_there = 0; is_there < 2; is_there++)
                    if (i <= j || values[i] == values[j])
                        expect_inside(is_there ? there : x, numbers);
                    else
                        expect_refused(is_there ? there : x, numbers, CF_EINVAL, detail);
                assert_ok(cf_mem_free(there));
            }
    }
}

/* Several threads check a long array, in chunks if it is staged. Each position in turn is bad, with other bad elements
 * after it. */
TEST_WITH(ascending_lowest_descent_is_named, NULL, end_library_empty)
{
    enum { COUNT = 700001 };
    static int32_t x[COUNT];
    static const int places[] = {1,     2,     63,     64,     65,     66,     129,    32767,  32768,    65535,
                                 65536, 65537, 131072, 196608, 262143, 262144, 262145, 524288, COUNT - 1};
    const int64_t numbers[] = {COUNT, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    declare(CF_I32, 1, 0, 0, "descending");
    for (size_t i = 0; i <= sizeof places / sizeof *places; i++) {
        char detail[100];
        for (int j = 0; j < COUNT; j++)
            x[j] = j / 3 - 1000;
        if (i < sizeof places / sizeof *places) {
            const int at = places[i];
            for (int j = at; j < COUNT; j += 4999)
                x[j] = x[j - 1] - 1 - (j > at);
            snprintf(detail, sizeof detail, "made_checked: x[%d] = %d is less than x[%d] = %d", at, x[at], at - 1,
                     x[at - 1]);
        }
        void *there = i % 3 == 0 ? upload(x, sizeof x) : NULL;
        for (int is_there = 0; is_there < 1 + (there != NULL); is_there++)
            if (i < sizeof places / sizeof *places)
                expect_refused(is_there ? there : x, numbers, CF_EINVAL, detail);
            else
                expect_inside(is_there ? there : x, numbers);
        assert_ok(cf_mem_free(there));
    }
}

TEST_WITH(ascending_section_is_looked_at_alone, NULL, end_library_empty)
{
    int16_t x[8] = {900, 800, 5, 5, 7, 9, 3, 2};
    static const int64_t numbers[] = {4, 0, 0, 2, 0, 0, 0, 0, 0, 0}, none[] = {0, 0, 0, 2, 0, 0, 0, 0, 0, 0};
    declare(CF_I16, 1, 0, 0, "descending");
    for (int is_there = 0; is_there < 2; is_there++) {
        void *given = is_there ? upload(x, sizeof x) : x;
        expect_inside(given, numbers);
        expect_inside(given, none);
        assert_ok(cf_mem_free(is_there ? given : NULL));
    }
    x[4] = -5;
    for (int is_there = 0; is_there < 2; is_there++) {
        void *given = is_there ? upload(x, sizeof x) : x;
        expect_refused(given, numbers, CF_EINVAL, "made_checked: x[4] = -5 is less than x[3] = 5");
        assert_ok(cf_set_check(CF_CHECK_NONE));
        expect_inside(given, numbers);
        assert_ok(cf_set_check(CF_CHECK_ELEMENTS));
        assert_ok(cf_mem_free(is_there ? given : NULL));
    }
}

/* ---- cf_set_check ---- */

TEST_WITH(set_check_none_looks_at_nothing, NULL, end_library_empty)
{
    static const int64_t numbers[] = {3, 0, 0, 0, 0, 0, 0, 0, 0, 100};
    int16_t x[3] = {0, 500, 0}, *there = upload(x, sizeof x);
    declare(CF_I16, 1, 1, 1, "outside");
    assert_ok(cf_set_check(CF_CHECK_NONE));
    expect_inside(x, numbers);
    expect_inside(there, numbers);
    assert_fails(cf_set_check(2), CF_EINVAL, "cf_set_check: 2 is no level");
    expect_inside(x, numbers);
    assert_ok(cf_set_check(CF_CHECK_ELEMENTS));
    expect_outside(x, numbers, "made_checked: x[1] = 500 is outside [0, 100]");
    expect_outside(there, numbers, "made_checked: x[1] = 500 is outside [0, 100]");
    assert_ok(cf_mem_free(there));
}

/* ---- Memory for the search ---- */

FAKE_TEST(range_search_allocates_once, "CF_DRIVER")
{
    const struct fake_counts *counts = fake_counts();
    static const int64_t numbers[] = {3, 0, 0, 0, 0, 0, 0, 0, 0, 100};
    int16_t x[3] = {0}, *there = upload(x, sizeof x);
    declare(CF_I16, 1, 1, 1, "outside");
    expect_inside(there, numbers);
    int allocated = counts->alloc + counts->host_alloc + counts->alloc_async, copied = counts->copy;
    for (int i = 0; i < 5; i++)
        expect_inside(there, numbers);
    assert_int_equal(counts->alloc + counts->host_alloc + counts->alloc_async, allocated);
    assert_int_equal(counts->copy, copied);
    assert_ok(cf_mem_free(there));
}

FAKE_TEST(range_without_memory_for_the_search_is_enomem, "FAKE_CUDA=oom=2000")
{
    static int16_t x[1000];
    static const int64_t numbers[] = {1000, 0, 0, 0, 0, 0, 0, 0, 0, 100};
    declare(CF_I16, 1, 1, 1, "outside");
    int16_t *there = upload(x, sizeof x);
    runs = 0;
    assert_int_equal(call(there, numbers), CF_ENOMEM); /* 2000 bytes are enough for the array only */
    assert_non_null(strstr(cf_last_error(), "made_checked: checking elements: cuMemHostAlloc returned 2"));
    assert_int_equal(runs, 0);
    assert_ok(cf_mem_free(there));
}

/* ---- A search that cannot be launched ---- */

static struct cf__driver real, wrapped;
static int fails_id;
static int launches = -1; /* number of launches that succeed before one fails; -1: none fails */

static CUresult launch_kernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                              unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared,
                              CUstream stream, void **args, void **extra)
{
    if (launches >= 0 && launches-- == 0)
        return CUDA_ERROR_UNKNOWN;
    return real.cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, args,
                               extra);
}

static CUresult get_id(CUcontext context, unsigned long long *id)
{
    return fails_id ? CUDA_ERROR_UNKNOWN : real.cuCtxGetId(context, id);
}

__attribute__((visibility("default"))) const struct cf__driver *cf__driver_wrap(const struct cf__driver *driver)
{
    if (driver->is_cpu)
        return driver;
    real = wrapped = *driver;
    wrapped.cuLaunchKernel = launch_kernel;
    wrapped.cuCtxGetId = get_id;
    return &wrapped;
}

FAKE_TEST(range_that_cannot_be_searched_runs_nothing, "CF_DRIVER")
{
    static int16_t x[1000];
    static const int64_t planes[] = {5, 4, 3, 1, 2, 1, 7, 5, 0, 100};
    declare(CF_I16, 3, 1, 1, "outside_rows");
    int16_t *there = upload(x, sizeof x);
    for (int i = 0; i < 5; i++) {
        runs = 0;
        launches = i;
        assert_fails(call(there, planes), CF_ECALL, "cf_outside_rows_i16: cuLaunchKernel returned 999");
        assert_int_equal(runs, 0);
    }
    launches = -1;
    expect_inside(there, planes);
    assert_ok(cf_mem_free(there));
}

FAKE_TEST(range_in_a_context_without_a_number_is_not_searched, "CF_DRIVER")
{
    struct cf__scope place;
    uint64_t *cells = NULL;
    assert_ok(cf__enter(&place, "test", NULL));
    fails_id = 1;
    assert_fails(cf__cells_acquire(&place, "test", &cells), CF_ECALL, "test: cuCtxGetId returned 999");
    fails_id = 0;
    assert_null(cells);
    cf__leave(&place);
}

int main(int argc, char *argv[])
{
    make_image(&image, 2);
    return run_made(argc, argv, &module, NULL, end_library_empty);
}
