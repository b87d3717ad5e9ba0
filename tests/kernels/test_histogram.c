/* test_histogram.c - histograms of elements, compared with a plain loop. */
#include "elements.h"

#include <float.h>
#include <math.h>

#include <cuferry/kernels.h>

static const struct {
    const char *tag;
    int sample, count;
} kinds[] = {{"f32_i32", F32, I32}, {"f32_i64", F32, I64}, {"f64_i32", F64, I32}, {"f64_i64", F64, I64},
             {"i32_i32", I32, I32}, {"i32_i64", I32, I64}, {"i64_i32", I64, I32}, {"i64_i64", I64, I64}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int is_whole(int kind)
{
    return kinds[kind].sample == I32 || kinds[kind].sample == I64;
}

/* Returns the lower edge of a bin as numpy.histogram computes it; volatile rounds each operation to double and
 * prevents fused multiply-adds. */
static double edge_of(number lower, number upper, int64_t bins, int64_t bin)
{
    const double span = upper.real - lower.real;
    const volatile double width =
        span <= DBL_MAX ? span / (double)bins : (upper.real / 2 - lower.real / 2) / (double)bins;
    const volatile double beyond = (double)bin * width;
    if (bin >= bins)
        return upper.real;
    return span <= DBL_MAX ? lower.real + beyond : (lower.real / 2 + beyond) * 2;
}

/* Returns the bin of a value, or -1. */
static int64_t bin_of(int kind, number x, number lower, number upper, int64_t bins)
{
    if (is_whole(kind)) {
        if (x.whole < lower.whole || x.whole >= upper.whole)
            return -1;
        __extension__ unsigned __int128 distance = (uint64_t)x.whole - (uint64_t)lower.whole;
        return (int64_t)(distance * (uint64_t)bins / ((uint64_t)upper.whole - (uint64_t)lower.whole));
    }
    if (!(x.real >= lower.real && x.real < upper.real))
        return -1;
    int64_t first = 0, end = bins;
    while (end - first > 1) {
        const int64_t middle = first + (end - first) / 2;
        if (x.real < edge_of(lower, upper, bins, middle))
            end = middle;
        else
            first = middle;
    }
    return first;
}

static number random_sample(int kind, int64_t i, unsigned short seed[])
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, -0.0, 3e38};
    number x = {erand48(seed) * 12 - 6, nrand48(seed) % 1200 - 600};
    if (i % 97 == 5)
        x.real = odd[i / 97 % 5];
    if (i % 97 == 6 && kinds[kind].sample == I64)
        x.whole = i & 1 ? INT64_MIN : INT64_MAX;
    if (i % 97 == 6 && kinds[kind].sample == I32)
        x.whole = i & 1 ? INT32_MIN : INT32_MAX;
    return x;
}

/* Samples are random, all equal, or on and next to edges. */
enum { ANY, SAME, ON_EDGES };

static number sample_of(int kind, int samples, int64_t i, number lower, number upper, int64_t bins,
                        unsigned short seed[])
{
    if (samples == SAME)
        return (number){1.3, 77};
    if (samples == ANY || is_whole(kind))
        return random_sample(kind, i, seed);
    const double edge = edge_of(lower, upper, bins, (nrand48(seed) << 31 | nrand48(seed)) % (bins + 1));
    const int beside = i % 3 == 0 ? 0 : i % 3 == 1 ? 1 : -1;
    if (kinds[kind].sample == F64)
        return (number){beside ? nextafter(edge, beside * HUGE_VAL) : edge, 0};
    return (number){beside ? nextafterf((float)edge, (float)beside * HUGE_VALF) : (float)edge, 0};
}

static void run_histogram(int kind, int64_t n, int64_t bins, number lower, number upper, int samples, int offset,
                          int way, unsigned short seed[])
{
    struct array x, counts;
    char name[32];
    snprintf(name, sizeof name, "histogram_%s", kinds[kind].tag);
    const cf_kernel *kernel = cf_kernel_find(&REGISTRY, name);
    assert_non_null(kernel);
    make_array(&x, kinds[kind].sample, n, offset);
    make_array(&counts, kinds[kind].count, bins, offset);
    const size_t bytes = types[x.type].bytes;
    int64_t *wanted = calloc((size_t)bins, sizeof *wanted);
    assert_non_null(wanted);
    for (int64_t i = 0; i < n; i++) {
        char *sample = x.host + x.begin + (size_t)i * bytes;
        set_element(x.type, sample, sample_of(kind, samples, i, lower, upper, bins, seed));
        int64_t bin = bin_of(kind, element(x.type, sample), lower, upper, bins);
        if (bin >= 0)
            wanted[bin]++;
    }
    memcpy(x.expected, x.host, x.bytes);
    for (int64_t b = 0; b < bins; b++)
        expect_at(&counts, b, (number){0, wanted[b]});
    char from[8], to[8];
    set_element(x.type, from, lower);
    set_element(x.type, to, upper);
    void *pointers[] = {place(&x, way), place(&counts, way)};
    run_kernel(kernel, way, (void *[]){&pointers[0], from, to, &pointers[1], &n, &bins});
    finish_array(&x, name, n);
    finish_array(&counts, name, n);
    free(wanted);
}

TEST(histogram_every_type_and_size_is_right)
{
    static const int64_t bins[] = {1, 2, 10, 255, 256, 257, 1000};
    unsigned short seed[3] = {1, 2, 3};
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t s = 0; s < SIZES; s++) {
            const int64_t b = bins[(s + (size_t)kind) % (sizeof bins / sizeof *bins)];
            const number lower = {-5, -500}, upper = {4.5, 500};
            run_histogram(kind, sizes[s], b, lower, upper, 0, (int)(nrand48(seed) % 5), (int)(nrand48(seed) % WAYS),
                          seed);
        }
}

/* Numbers of bins around the capacity of shared memory and around the points where fewer copies of the counts fit;
 * also with all samples in one bin. */
TEST(histogram_every_number_of_bins_is_right)
{
    static const int64_t bins[] = {512, 513, 2048, 2049, 4096, 4097, 8192, 8193, 100000};
    unsigned short seed[3] = {4, 5, 6};
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t b = 0; b < sizeof bins / sizeof *bins; b++)
            for (int samples = 0; samples < 3; samples++)
                run_histogram(kind, 9000 + 40000 * (b % 3 == 0), bins[b], (number){-1, -500}, (number){1.5, 500},
                              samples, samples, (int)(nrand48(seed) % WAYS), seed);
}

/* Integers are binned exactly: with one bin per integer, with bins narrower than an integer, and over the whole
 * range. */
TEST(histogram_bounds_are_exact)
{
    unsigned short seed[3] = {7, 8, 9};
    for (int kind = 0; kind < KINDS; kind++) {
        const int64_t least = kinds[kind].sample == I32 ? INT32_MIN : INT64_MIN / 2;
        const int64_t most = kinds[kind].sample == I32 ? INT32_MAX : INT64_MAX / 2;
        run_histogram(kind, 5000, 1000, (number){-3, -500}, (number){3, 500}, 0, 0, CALL_HOST, seed);
        run_histogram(kind, 5000, 1777, (number){-3, -500}, (number){3, 500}, 0, 1, CALL_DEVICE, seed);
        run_histogram(kind, 5000, 77, (number){-2, -3}, (number){-1.5, 4}, 0, 0, LAUNCH, seed);
        if (is_whole(kind))
            run_histogram(kind, 5000, 8191, (number){0, least}, (number){0, most}, 0, 0, CALL_HOST, seed);
    }
    float x[] = {0, 0.25F, 0.5F, 0.75F, 1, -1e-30F, 0.99999994F, NAN, INFINITY, -INFINITY, 0.49999997F};
    int32_t counts[4] = {9, 9, 9, 9};
    assert_ok(cf_histogram(x, 0, 1, counts, 11, 4));
    assert_true(counts[0] == 1 && counts[1] == 2 && counts[2] == 1 && counts[3] == 2);
    float wide[] = {-3.4e38F, -1e38F, 0, 1, 3.3e38F};
    assert_ok(cf_histogram(wide, -3.4028234e38F, 3.4028234e38F, counts, 5, 4));
    assert_true(counts[0] == 1 && counts[1] == 1 && counts[2] == 2 && counts[3] == 1);
}

/* Ranges far from 0, with bins narrower than the spacing of numbers, with a width that overflows, and ranges in
 * which all samples are on edges. */
TEST(histogram_edges_are_numpys)
{
    static const struct {
        double lower, upper;
        int64_t bins;
        int is_of_f64;
    } ranges[] = {{0, 82, 2, 0},
                  {0, 147, 3, 0},
                  {0, 1e-36F, 200, 0},
                  {0, 1, 10, 0},
                  {-0.7F, 0.1F, 7, 0},
                  {1000, 1001, 4096, 0},
                  {16777216, 16777316, 1000, 0},
                  {-3.4e38F, 3.4e38F, 77, 0},
                  {0, 1.4e-45F, 3, 0},
                  {-1e-40F, 1e-40F, 5000, 0},
                  {3e38F, 3.1e38F, 9000, 0},
                  {0, 1, 1000003, 0},
                  {1e16, 1e16 + 100, 1000, 1},
                  {-1.7e308, 1.7e308, 333, 1},
                  {-1.7e308, 1.7e308, 9000, 1},
                  {0, 5e-324, 4, 1},
                  {0, 2e-320, 1000, 1},
                  {1e300, 1.1e300, 12345, 1}};
    unsigned short seed[3] = {3, 1, 4};
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t r = 0; r < sizeof ranges / sizeof *ranges && !is_whole(kind); r++) {
            const number lower = {(float)ranges[r].lower, 0}, upper = {(float)ranges[r].upper, 0};
            if (!ranges[r].is_of_f64)
                run_histogram(kind, 5000, ranges[r].bins, lower, upper, ON_EDGES, 0, (int)(nrand48(seed) % WAYS), seed);
            else if (kinds[kind].sample == F64)
                run_histogram(kind, 5000, ranges[r].bins, (number){ranges[r].lower, 0}, (number){ranges[r].upper, 0},
                              ON_EDGES, 0, (int)(nrand48(seed) % WAYS), seed);
        }
    float two[] = {0, 41}, small[] = {2.5e-37F};
    double three[] = {0, 49, 98};
    int32_t counts[200];
    assert_ok(cf_histogram(two, 0, 82, counts, 2, 2));
    assert_true(counts[0] == 1 && counts[1] == 1);
    assert_ok(cf_histogram(three, 0, 147, counts, 3, 3));
    assert_true(counts[0] == 1 && counts[1] == 1 && counts[2] == 1);
    assert_ok(cf_histogram(small, 0, 1e-36F, counts, 1, 200));
    for (int b = 0; b < 200; b++)
        assert_int_equal(counts[b], b == 50);
}

TEST(histogram_nothing_to_count_is_zeros)
{
    int64_t counts[5] = {7, 7, 7, 7, 7};
    assert_ok(cf_histogram((double *)NULL, 0, 1, counts, 0, 5));
    for (int b = 0; b < 5; b++)
        assert_true(counts[b] == 0);
}

TEST(histogram_bad_arguments_are_named)
{
    float x[4] = {0.1F, 0.2F, 0.3F, 0.4F};
    int32_t counts[4] = {1, 2, 3, 4}, whole[4] = {0};
    assert_fails(cf_histogram(x, 0, 1, counts, -4, 4), CF_EINVAL,
                 "cf_histogram_f32_i32: the extent x[n] is negative with n = -4");
    assert_fails(cf_histogram(x, 0, 1, counts, 4, -4), CF_EINVAL,
                 "cf_histogram_f32_i32: the extent counts[bins] is negative with bins = -4");
    assert_fails(cf_histogram(x, 0, 1, counts, 4, 0), CF_EINVAL,
                 "cf_histogram_f32_i32: the check bins >= 1 fails with bins = 0");
    assert_fails(cf_histogram(x, 1, 1, counts, 4, 4), CF_EINVAL,
                 "cf_histogram_f32_i32: the check lower < upper fails with");
    assert_fails(cf_histogram(x, NAN, 1, counts, 4, 4), CF_EINVAL,
                 "cf_histogram_f32_i32: the check lower < upper fails with");
    assert_fails(cf_histogram(x, -INFINITY, 1, counts, 4, 4), CF_EINVAL,
                 "cf_histogram_f32_i32: the check lower - lower == 0 fails with lower = -inf");
    assert_fails(cf_histogram(x, 0, INFINITY, counts, 4, 4), CF_EINVAL,
                 "cf_histogram_f32_i32: the check upper - upper == 0 fails with upper = inf");
    assert_fails(cf_histogram(whole, 5, -5, counts, 4, 4), CF_EINVAL,
                 "cf_histogram_i32_i32: the check lower < upper fails with");
    assert_fails(cf_histogram(x, 0, 1, counts, INT64_MAX, 4), CF_EOVERFLOW, "cf_histogram_f32_i32: ");
    assert_fails(cf_histogram((float *)NULL, 0, 1, counts, 4, 4), CF_EINVAL,
                 "cf_histogram_f32_i32: x is NULL and its extent is 4");
    assert_fails(cf_histogram(x, 0, 1, (int32_t *)NULL, 4, 4), CF_EINVAL,
                 "cf_histogram_f32_i32: counts is NULL and its extent is 4");
    assert_fails(cf_histogram(counts, 0, 9, counts, 4, 4), CF_EINVAL,
                 "cf_histogram_i32_i32: x and counts overlap by 16 bytes");
    for (int b = 0; b < 4; b++)
        assert_true(counts[b] == b + 1);
}

/* Only a few elements are not 0: at both ends and around index 2^31. */
TEST(histogram_past_2_31_is_right)
{
    const int64_t n = ((int64_t)1 << 31) + 12345, places[] = {0, 77, INT32_MAX, (int64_t)1 << 31, n - 1};
    int64_t counts[10];
    int32_t *x;
    skip_without_memory(5 * n);
    assert_ok(cf_mem_alloc((void **)&x, (size_t)n * sizeof *x));
    assert_ok(cf_mem_fill(x, 0, (size_t)n * sizeof *x));
    for (int32_t i = 0; i < 5; i++) {
        const int32_t value = i + 5;
        assert_ok(cf_mem_copy(x + places[i], &value, sizeof value));
    }
    assert_ok(cf_histogram(x, 0, 10, counts, n, (int64_t)10));
    for (int b = 0; b < 10; b++)
        assert_int_equal(counts[b], b == 0 ? n - 5 : b >= 5);
    assert_ok(cf_mem_free(x));
}

int main(void)
{
    return run_all_tests(NULL, end_library);
}
