/* test_length.c - the bundled kernels with more than 2^31 and 2^32 elements: blocks at both ends and around powers
 * of two, on arrays of which few pages are touched. */
#include <sys/mman.h>

#include "elements.h"

static const int64_t lengths[] = {((int64_t)1 << 31) + 12345, ((int64_t)1 << 32) + 77};

/* Blocks that run next to those of the checked elements: a block of the CPU may take several thousand elements. */
enum { BLOCKS_BESIDE = 12, BESIDE = 2000 };

/* ---- Arrays ---- */

/* Small enough that every type holds sums of products exactly. */
static number value_of(int salt, int64_t i)
{
    int64_t value = (i * 7 + salt * 5) % 15 - 7;
    return (number){(double)value, value};
}

struct huge {
    char *memory, *at; /* at is the first element */
    size_t bytes;
    int type, salt;
};

static void make_huge(struct huge *huge, int type, int64_t n, int offset, int salt)
{
    size_t element_bytes = types[type].bytes;
    *huge = (struct huge){.bytes = (size_t)n * element_bytes + 4096, .type = type, .salt = salt};
    huge->memory = mmap(NULL, huge->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (huge->memory == MAP_FAILED)
        skip_test(NEEDS_ADDRESSES);
    huge->at = huge->memory + (size_t)offset * element_bytes;
}

static char *place_of(const struct huge *huge, int64_t i)
{
    return huge->at + (size_t)i * types[huge->type].bytes;
}

static void set_values(const struct huge *huge, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++)
        set_element(huge->type, place_of(huge, i), value_of(huge->salt, i));
}

static void expect_number(const struct huge *huge, const cf_kernel *kernel, int64_t i, number expected)
{
    char wanted[8];
    set_element(huge->type, wanted, expected);
    if (memcmp(place_of(huge, i), wanted, types[huge->type].bytes) != 0)
        fail_msg("%s: element %lld is wrong", kernel->name, (long long)i);
}

/* ---- Parts of a launch ---- */

/* A part of a launch of n elements: the blocks around one element. */
struct part {
    int64_t begin, end;        /* checked elements */
    int64_t first, last;       /* elements that the blocks may access, with a margin */
    uint64_t block, end_block; /* the blocks that run, end excluded */
    cf_launch_size size;
};

static struct part part_around(const cf_kernel *kernel, void *args[], int64_t n, int64_t center)
{
    struct part part = {.begin = center < BESIDE ? 0 : center - BESIDE, .end = center + BESIDE};
    part.end = part.end < n ? part.end : n;
    assert_int_equal(first_variant(kernel)->sizes(args, &part.size), 1);
    int64_t grid = part.size.grid[0], taken = n / grid + 1;
    int64_t block = part.begin / taken - BLOCKS_BESIDE, end = part.end / taken + BLOCKS_BESIDE;
    part.block = (uint64_t)(block > 0 ? block : 0);
    part.end_block = (uint64_t)(end < grid ? end : grid);
    part.first = (int64_t)part.block * taken - 8192;
    part.last = (int64_t)part.end_block * taken + 8192;
    part.first = part.first > 0 ? part.first : 0;
    part.last = part.last < n ? part.last : n;
    return part;
}

static void run_part(const cf_kernel *kernel, void *args[], const struct part *part)
{
    const uint32_t *grid = part->size.grid, *block = part->size.block;
    cf_host_launch launch = {
        .grid = {grid[0], grid[1], grid[2]}, .block = {block[0], block[1], block[2]}, .args = args};
    kernel->cpu_body(&launch, part->block, part->end_block);
}

#define CENTERS 4
static int64_t center(int64_t n, int which)
{
    return which == 0 ? 0 : which == 1 ? (int64_t)1 << 31 : which == 2 ? (int64_t)1 << 32 : n - 1;
}

/* ---- Streams ---- */

struct family {
    const char *name;
    int has_scalar, inputs, is_inout;
    number (*value)(number a, number x, number y);
};

static number sum_of(number x, number y)
{
    return (number){x.real + y.real, x.whole + y.whole};
}

static number product_of(number x, number y)
{
    return (number){x.real * y.real, x.whole * y.whole};
}

static number scalar(number a, number x, number y)
{
    (void)x, (void)y;
    return a;
}

static number same(number a, number x, number y)
{
    (void)a, (void)y;
    return x;
}

static number scaled(number a, number x, number y)
{
    (void)y;
    return product_of(a, x);
}

static number product(number a, number x, number y)
{
    (void)a;
    return product_of(x, y);
}

static number scaled_sum(number a, number x, number y)
{
    return sum_of(product_of(a, x), y);
}

static const struct family families[] = {{"fill", 1, 0, 0, scalar},     {"copy", 0, 1, 0, same},
                                         {"scale", 1, 1, 0, scaled},    {"multiply", 0, 2, 0, product},
                                         {"axpy", 1, 1, 1, scaled_sum}, {"waxpy", 1, 2, 0, scaled_sum}};

static void run_family(const struct family *family, int type, int64_t n, int is_misaligned)
{
    const cf_kernel *kernel = find(family->name, type, "");
    struct huge arrays[3];
    void *pointers[3], *args[6];
    int count = 0, out = family->inputs, most = (int)(16 / types[type].bytes);
    int64_t a = 0;
    number of_a = {3, 3};
    set_element(type == F16 || type == BF16 ? F32 : type, &a, of_a);
    if (family->has_scalar)
        args[count++] = &a;
    for (int i = 0; i <= out; i++) {
        make_huge(&arrays[i], type, n, is_misaligned ? i % most : 1, i);
        pointers[i] = arrays[i].at;
        args[count++] = &pointers[i];
    }
    args[count] = &n;
    for (int c = 0; c < CENTERS; c++) {
        if (center(n, c) >= n)
            continue;
        const struct part part = part_around(kernel, args, n, center(n, c));
        for (int i = 0; i < out + family->is_inout; i++)
            set_values(&arrays[i], part.first, part.last);
        run_part(kernel, args, &part);
        for (int64_t i = part.begin; i < part.end; i++)
            expect_number(&arrays[out], kernel, i,
                          family->value(of_a, value_of(0, i), value_of(family->is_inout ? out : 1, i)));
    }
    expect_number(&arrays[out], kernel, n, (number){0, 0});
    for (int i = 0; i <= out; i++)
        assert_int_equal(munmap(arrays[i].memory, arrays[i].bytes), 0);
}

TEST(streams_past_2_31_elements_are_right)
{
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (int type = 0; type < TYPES; type++)
            for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
                run_family(&families[f], type, lengths[l], (int)l);
}

/* ---- Indices ---- */

TEST(gather_past_2_31_elements_is_right)
{
    for (int type = 0; type < TYPES; type++)
        for (int is_wide = 0; is_wide < 2; is_wide++) {
            const cf_kernel *kernel = find("gather", type, is_wide ? "i64" : "i32");
            int64_t n = lengths[is_wide], m = 3000;
            struct huge source, index, res;
            make_huge(&source, type, m, 0, 0);
            make_huge(&index, is_wide ? I64 : I32, n, is_wide, 1);
            make_huge(&res, type, n, 0, 2);
            void *args[] = {&source.at, &index.at, &res.at, &n, &m};
            set_values(&source, 0, m);
            for (int c = 0; c < CENTERS; c++) {
                if (center(n, c) >= n)
                    continue;
                const struct part part = part_around(kernel, args, n, center(n, c));
                for (int64_t i = part.first; i < part.last; i++)
                    set_element(index.type, place_of(&index, i), (number){0, i * 17 % m});
                run_part(kernel, args, &part);
                for (int64_t i = part.begin; i < part.end; i++)
                    expect_number(&res, kernel, i, value_of(0, i * 17 % m));
            }
            expect_number(&res, kernel, n, (number){0, 0});
            assert_int_equal(munmap(source.memory, source.bytes), 0);
            assert_int_equal(munmap(index.memory, index.bytes), 0);
            assert_int_equal(munmap(res.memory, res.bytes), 0);
        }
}

/* Plain calls, which check each index and know the size of the indexed array. */
TEST(gather_and_scatter_of_few_of_many_are_right)
{
    enum { FEW = 3000 };
    need_cpu();
    for (int type = 0; type < TYPES; type++) {
        const cf_kernel *gather = find("gather", type, "i64"), *scatter = find("scatter", type, "i64");
        int64_t n = FEW, m = lengths[1];
        struct huge many, copy;
        struct array few;
        int64_t index[FEW];
        unsigned short seed[3] = {1, 2, (unsigned short)type};
        make_huge(&many, type, m, 0, 0);
        make_huge(&copy, type, m, 0, 0);
        make_array(&few, type, n, 0);
        randomize(&few, n, 1, seed);
        for (int64_t i = 0; i < n; i++) {
            index[i] = i % 3 == 0 ? i : i % 3 == 1 ? ((int64_t)1 << 31) + i : m - 1 - i;
            expect_at(&few, i, value_of(0, index[i]));
            set_element(type, place_of(&many, index[i]), value_of(0, index[i]));
        }
        const void *of_index = index;
        void *of_few = place(&few, CALL_HOST);
        void *gather_args[] = {&many.at, &of_index, &of_few, &n, &m};
        void *scatter_args[] = {&of_few, &of_index, &copy.at, &n, &m};
        run_kernel(gather, CALL_HOST, gather_args);
        run_kernel(scatter, CALL_HOST, scatter_args);
        for (int64_t i = 0; i < n; i++)
            expect_number(&copy, scatter, index[i], value_of(0, index[i]));
        index[5] = m;
        assert_int_equal(cf_call(gather, gather_args), CF_ERANGE);
        assert_non_null(strstr(cf_last_error(), "index[5] = 4294967373 is outside [0, 4294967373)"));
        finish_array(&few, gather->name, n);
        assert_int_equal(munmap(many.memory, many.bytes), 0);
        assert_int_equal(munmap(copy.memory, copy.bytes), 0);
    }
}

TEST(scatter_past_2_31_elements_is_right)
{
    for (int type = 0; type < TYPES; type++) {
        const cf_kernel *kernel = find("scatter", type, "i64");
        int64_t n = lengths[1];
        struct huge source, index, res;
        make_huge(&source, type, n, 0, 0);
        make_huge(&index, I64, n, 1, 1);
        make_huge(&res, type, n, 0, 2);
        void *args[] = {&source.at, &index.at, &res.at, &n, &n};
        for (int c = 0; c < CENTERS; c++) {
            if (center(n, c) >= n)
                continue;
            const struct part part = part_around(kernel, args, n, center(n, c));
            set_values(&source, part.first, part.last);
            for (int64_t i = part.first; i < part.last; i++)
                set_element(I64, place_of(&index, i), (number){0, n - 1 - i});
            run_part(kernel, args, &part);
            for (int64_t i = part.begin; i < part.end; i++)
                expect_number(&res, kernel, n - 1 - i, value_of(0, i));
        }
        assert_int_equal(munmap(source.memory, source.bytes), 0);
        assert_int_equal(munmap(index.memory, index.bytes), 0);
        assert_int_equal(munmap(res.memory, res.bytes), 0);
    }
}

/* Many short rows, and a few rows longer than 2^31 elements. */
TEST(rows_past_2_31_elements_are_right)
{
    static const int64_t widths[] = {3, 4, 100, 300, ((int64_t)1 << 31) + 5};
    for (int type = 0; type < TYPES; type++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            const cf_kernel *kernel = find("gather_rows", type, "i64");
            int64_t width = widths[w], rows = lengths[1] / width + 1, n = rows * width, sources = 2;
            struct huge source, index, res;
            make_huge(&source, type, sources * width, 0, 0);
            make_huge(&index, I64, rows, 0, 1);
            make_huge(&res, type, n, 0, 2);
            void *args[] = {&source.at, &index.at, &res.at, &rows, &width, &sources};
            for (int c = 0; c < CENTERS; c++) {
                const struct part part = part_around(kernel, args, n, center(n, c));
                for (int64_t row = part.first / width; row <= (part.last - 1) / width; row++)
                    set_element(I64, place_of(&index, row), (number){0, row % sources});
                if (width < BESIDE)
                    set_values(&source, 0, sources * width);
                for (int64_t i = part.first; width > BESIDE && i < part.last; i++) {
                    int64_t from = i / width % sources * width + i % width;
                    set_element(type, place_of(&source, from), value_of(0, from));
                }
                run_part(kernel, args, &part);
                for (int64_t i = part.begin; i < part.end; i++)
                    expect_number(&res, kernel, i, value_of(0, i / width % sources * width + i % width));
            }
            expect_number(&res, kernel, n, (number){0, 0});
            assert_int_equal(munmap(source.memory, source.bytes), 0);
            assert_int_equal(munmap(index.memory, index.bytes), 0);
            assert_int_equal(munmap(res.memory, res.bytes), 0);
        }
}

int main(void)
{
    return run_all_tests(NULL, NULL);
}
