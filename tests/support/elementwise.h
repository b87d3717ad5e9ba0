/* elementwise.h - tests of kernels that compute one array from others, element by element: every type, size and
 * alignment, compared with plain loops. */
#ifndef ELEMENTWISE_H
#define ELEMENTWISE_H

#include "elements.h"

/* The result of a kernel for one element. `y` is the second input or, in an inout array, the old value. */
typedef number elementwise_op(int type, number a, number x, number y);

struct elementwise {
    const char *family;
    int has_scalar, inputs; /* number of input arrays; they precede the output */
    int is_inout, is_small;
    elementwise_op *op;
};

/* ---- Plain arithmetic of a type ---- */

static inline number plain_times(int type, number a, number x)
{
    number value = {0, (int64_t)((uint64_t)a.whole * (uint64_t)x.whole)};
    value.real = type == F64 ? a.real * x.real : (double)((float)a.real * (float)x.real);
    return value;
}

static inline number plain_plus(int type, number x, number y)
{
    number value = {0, (int64_t)((uint64_t)x.whole + (uint64_t)y.whole)};
    value.real = type == F64 ? x.real + y.real : (double)((float)x.real + (float)y.real);
    return value;
}

/* ---- One run ---- */

/* Converts the scalar as the kernel does: for 16-bit elements it is a float. */
static inline number make_scalar(int type, void *scalar, number value)
{
    int of_scalar = type == F16 || type == BF16 ? F32 : type;
    set_element(of_scalar, scalar, value);
    return element(of_scalar, scalar);
}

/* `alias` is the number of the input array that is also the output, or -1. */
static inline void run_elementwise(const struct elementwise *tested, int type, int64_t n, const int offsets[3], int way,
                                   int alias, unsigned short seed[])
{
    struct array arrays[3];
    const cf_kernel *kernel = find(tested->family, type, "");
    int64_t scalar = 0;
    void *pointers[3], *args[6];
    int count = 0, arrays_count = tested->inputs + 1, out = alias < 0 ? tested->inputs : alias;
    number a = make_scalar(type, &scalar, random_number(tested->is_small, seed));
    for (int i = 0; i < arrays_count; i++) {
        if (i == tested->inputs && alias >= 0)
            continue;
        make_array(&arrays[i], type, n, offsets[i]);
        if (i < tested->inputs || tested->is_inout)
            randomize(&arrays[i], n, tested->is_small, seed);
    }
    for (int64_t i = 0; i < n; i++) {
        number none = {0, 0}, x = tested->inputs > 0 ? at(&arrays[0], i) : none;
        number y = tested->inputs > 1 ? at(&arrays[1], i) : tested->is_inout ? at(&arrays[out], i) : none;
        expect_at(&arrays[out], i, tested->op(type, a, x, y));
    }
    if (tested->has_scalar)
        args[count++] = &scalar;
    for (int i = 0; i < arrays_count; i++) {
        pointers[i] = place(&arrays[i == tested->inputs ? out : i], way);
        args[count++] = &pointers[i];
    }
    args[count++] = &n;
    assert_int_equal(kernel->nparams, count);
    run_kernel(kernel, way, args);
    for (int i = 0; i < arrays_count; i++)
        if (i < tested->inputs || alias < 0)
            finish_array(&arrays[i], kernel->name, n);
}

/* ---- Tests ---- */

static const struct elementwise *tested_kernel(void **state)
{
    return *state;
}

/* First all arrays have the same misalignment, then each array has its own. */
static void elementwise_every_type_size_and_alignment_is_right(void **state)
{
    const struct elementwise *tested = tested_kernel(state);
    unsigned short seed[3] = {1, 2, 3};
    for (int type = 0; type < TYPES; type++)
        for (size_t s = 0; s < SIZES; s++) {
            int alignments = sizes[s] > 5000 ? 2 : (int)(16 / types[type].bytes);
            for (int offset = 0; offset < alignments; offset++)
                for (int mixed = 0; mixed < 2; mixed++) {
                    int offsets[3] = {offset, offset, offset};
                    for (int i = 0; mixed && i < 3; i++)
                        offsets[i] = (int)((size_t)nrand48(seed) % (16 / types[type].bytes));
                    run_elementwise(tested, type, sizes[s], offsets, (int)(nrand48(seed) % WAYS), -1, seed);
                }
        }
}

static inline void elementwise_in_place_is_right(void **state)
{
    const struct elementwise *tested = tested_kernel(state);
    unsigned short seed[3] = {4, 5, 6};
    for (int type = 0; type < TYPES; type++)
        for (size_t s = 0; s < SIZES; s += 2)
            for (int alias = 0; alias < tested->inputs; alias++) {
                const int offsets[3] = {(int)(s % 2), (int)((size_t)nrand48(seed) % (16 / types[type].bytes)), 0};
                run_elementwise(tested, type, sizes[s], offsets, (int)(nrand48(seed) % WAYS), alias, seed);
            }
}

/* A call is refused, and writes nothing, if the output begins one element before or after an input. Adjacent arrays do
 * not overlap. */
static void elementwise_overlap_in_part_is_refused(void **state)
{
    const struct elementwise *tested = tested_kernel(state);
    unsigned short seed[3] = {7, 8, 9};
    int64_t n = 33, scalar = 0;
    for (int type = 0; type < TYPES; type++)
        for (int input = 0; input < tested->inputs; input++)
            for (int shift = -1; shift <= 33; shift += shift < 1 ? 2 : 32)
                for (int way = CALL_HOST; way <= CALL_DEVICE; way++) {
                    struct array both, other;
                    const cf_kernel *kernel = find(tested->family, type, "");
                    void *pointers[3], *args[6] = {&scalar};
                    int status, count = tested->has_scalar;
                    make_array(&both, type, 2 * n, 0);
                    randomize(&both, 2 * n, tested->is_small, seed);
                    make_array(&other, type, n, 0);
                    randomize(&other, n, tested->is_small, seed);
                    char *base = place(&both, way);
                    for (int i = 0; i <= tested->inputs; i++) {
                        int is_output = i == tested->inputs;
                        int64_t first = shift < 0 ? !is_output : is_output ? shift : 0;
                        pointers[i] =
                            is_output || i == input ? base + (size_t)first * types[type].bytes : place(&other, way);
                        args[count++] = &pointers[i];
                    }
                    args[count++] = &n;
                    status = cf_call(kernel, args);
                    if (shift == 33)
                        assert_ok(status);
                    else
                        assert_fails(status, CF_EINVAL, " overlap by ");
                    if (shift == 33) /* other tests check the values */
                        memcpy(both.expected, both.host, both.bytes);
                    if (shift == 33 && both.there)
                        assert_ok(cf_mem_copy(both.expected, both.there, both.bytes));
                    finish_array(&both, kernel->name, n);
                    finish_array(&other, kernel->name, n);
                }
}

/* Checks the numbers of bytes and operations that a report gives for one launch. */
static void expect_costs(const char *family, double bytes, double flops)
{
    for (int type = 0; type < TYPES; type++) {
        const cf_kernel *kernel = find(family, type, "");
        int64_t n = 1000;
        void *args[6] = {NULL};
        double value;
        args[kernel->nparams - 1] = &n;
        assert_ok(cf_kernel_evaluate_real(kernel, kernel->bytes.ops, args, &value));
        assert_true(value == bytes * 1000 * (double)types[type].bytes);
        assert_ok(cf_kernel_evaluate_real(kernel, kernel->flops.ops, args, &value));
        assert_true(value == flops * 1000);
        assert_int_equal(kernel->is_bounded, &REGISTRY == &cf_registry); /* the GPU pieces are loops */
        assert_int_equal(kernel->is_closed, 1);
        kernel = first_variant(kernel);
        assert_non_null(kernel->sizes);
        /* Each thread computes one piece of 16 bytes, for more than 2^31 elements too. The size function does not read
         * the arrays. */
        cf_launch_size size;
        void *pointer = &n;
        n = (int64_t)1 << 33;
        for (uint32_t i = 0; i + 1 < kernel->nparams; i++)
            args[i] = &pointer;
        assert_int_equal(kernel->sizes(args, &size), 1);
        assert_int_equal(size.grid[0], n * (int64_t)types[type].bytes / 16 / 256);
        assert_int_equal(size.block[0], 256);
    }
}

/* Statements of main(). ELEMENTWISE_IN_PLACE_TEST is for kernels that may have an input as their output. */
#define ELEMENTWISE_TEST(name, what, tested) \
    add_test((struct CMUnitTest){#name "_" #what, elementwise_##what, NULL, NULL, tested})
#define ELEMENTWISE_TESTS(name, tested)                                         \
    do {                                                                        \
        ELEMENTWISE_TEST(name, every_type_size_and_alignment_is_right, tested); \
        ELEMENTWISE_TEST(name, overlap_in_part_is_refused, tested);             \
    } while (0)
#define ELEMENTWISE_IN_PLACE_TEST(name, tested) ELEMENTWISE_TEST(name, in_place_is_right, tested)

#endif
