/* elements.h - the element types of the bundled kernels, for tests that run all of them: arrays of random numbers at
 * every alignment, with guard bytes on both sides, and three ways to call a kernel. */
#ifndef ELEMENTS_H
#define ELEMENTS_H

#include "run_group.h"

#include <cuferry/registry.h>

/* The plain loops here are also the reference for the GPU versions of the kernels; see test_pieces.py. */
#ifndef REGISTRY
#define REGISTRY cf_registry
#endif
extern const cf_module REGISTRY, cf_registry;

enum { F32, F64, I32, I64, F16, BF16, TYPES };

static const struct {
    const char *tag;
    size_t bytes;
    cf_type type;
} types[TYPES] = {{"f32", 4, CF_F32}, {"f64", 8, CF_F64}, {"i32", 4, CF_I32},
                  {"i64", 8, CF_I64}, {"f16", 2, CF_F16}, {"bf16", 2, CF_BF16}};

/* A number that holds a value of any element type. */
typedef struct number {
    double real;
    int64_t whole;
} number;

UNWATCHED static inline number element(int type, const void *at)
{
    number value = {0, 0};
    int32_t narrow;
    switch (type) {
    case I32:
        memcpy(&narrow, at, sizeof narrow);
        value.whole = narrow;
        break;
    case I64:
        memcpy(&value.whole, at, sizeof value.whole);
        break;
    default:
        value.real = cf_float_read(types[type].type, at);
    }
    return value;
}

UNWATCHED static inline void set_element(int type, void *at, number value)
{
    int32_t narrow = (int32_t)(uint32_t)value.whole;
    switch (type) {
    case I32:
        memcpy(at, &narrow, sizeof narrow);
        break;
    case I64:
        memcpy(at, &value.whole, sizeof value.whole);
        break;
    default:
        cf_float_write(types[type].type, value.real, at);
    }
}

/* Returns a random number. If `is_small` is set, sums of products are exact, both with and without fused
 * multiply-add. */
static inline number random_number(int is_small, unsigned short seed[])
{
    number value = {erand48(seed) * 8 - 4, (int64_t)((uint64_t)nrand48(seed) << 33 ^ (uint64_t)nrand48(seed) << 2)};
    value.whole ^= jrand48(seed);
    if (is_small)
        value.real = (double)(value.whole = nrand48(seed) % 31 - 15);
    return value;
}

/* ---- Arrays ---- */

#define GUARD 64 /* bytes on both sides */
#define POISON 0xa5

/* An array in host memory, with a copy on the device. It begins some elements after an address that is aligned for
 * every type. */
struct array {
    char *host, *there, *expected; /* all three include the guards */
    size_t bytes, begin;           /* total size; offset of the first element */
    int type;
};

static inline void make_array(struct array *array, int type, int64_t n, int offset)
{
    *array = (struct array){.type = type, .begin = GUARD + (size_t)offset * types[type].bytes};
    array->bytes = (array->begin + (size_t)n * types[type].bytes + GUARD + 63) / 64 * 64;
    array->host = aligned_alloc(64, array->bytes);
    array->expected = malloc(array->bytes);
    assert_true(array->host && array->expected);
    memset(array->host, POISON, array->bytes);
    memset(array->expected, POISON, array->bytes);
}

UNWATCHED static inline void randomize(struct array *array, int64_t n, int is_small, unsigned short seed[])
{
    for (int64_t i = 0; i < n; i++)
        set_element(array->type, array->host + array->begin + (size_t)i * types[array->type].bytes,
                    random_number(is_small, seed));
    memcpy(array->expected, array->host, array->bytes);
}

UNWATCHED static inline number at(const struct array *array, int64_t i)
{
    return element(array->type, array->host + array->begin + (size_t)i * types[array->type].bytes);
}

UNWATCHED static inline void expect_at(struct array *array, int64_t i, number value)
{
    set_element(array->type, array->expected + array->begin + (size_t)i * types[array->type].bytes, value);
}

/* ---- Calls ---- */

enum { CALL_HOST, CALL_DEVICE, LAUNCH, WAYS };

/* Returns the address to pass to a call: in host memory or in the copy on the device. */
static inline void *place(struct array *array, int way)
{
    if (way == CALL_HOST)
        return array->host + array->begin;
    if (!array->there) {
        void *memory;
        assert_ok(cf_mem_alloc(&memory, array->bytes));
        assert_ok(cf_mem_copy(memory, array->host, array->bytes));
        array->there = memory;
    }
    return array->there + array->begin;
}

/* Asserts that the whole array, including its guards, is as expected; frees the array. */
static inline void finish_array(struct array *array, const char *kernel, int64_t n)
{
    if (array->there)
        assert_ok(cf_mem_copy(array->host, array->there, array->bytes));
    if (memcmp(array->host, array->expected, array->bytes) != 0) {
        size_t i = 0;
        while (array->host[i] == array->expected[i])
            i++;
        fail_msg("%s of %lld elements: byte %zu is %02x and not %02x; the array begins at %zu", kernel, (long long)n, i,
                 (unsigned char)array->host[i], (unsigned char)array->expected[i], array->begin);
    }
    assert_ok(cf_mem_free(array->there));
    free(array->host);
    free(array->expected);
}

static inline const cf_kernel *find(const char *family, int type, const char *index)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%s%s%s", family, types[type].tag, *index ? "_" : "", index);
    const cf_kernel *kernel = cf_kernel_find(&REGISTRY, name);
    if (!kernel)
        fail_msg("there is no %s", name);
    return kernel;
}

/* first_variant() returns the variant of a tuned kernel whose sizes the tests know. next_variant() returns its
 * variants in turn, so that a test of many sizes runs all of them. */
static inline const cf_kernel *first_variant(const cf_kernel *kernel)
{
    return kernel->nvariants ? kernel->variants[0] : kernel;
}

static inline const cf_kernel *next_variant(const cf_kernel *kernel)
{
    static uint32_t calls;
    return kernel->nvariants ? kernel->variants[calls++ % kernel->nvariants] : kernel;
}

/* Skips a test whose arrays have more than 2^31 elements and take `bytes` bytes together. On the CPU such a test takes
 * a minute and runs with CHECK_LONG only; the played GPU has 16 GiB, which is too little. */
static inline void skip_without_memory(int64_t bytes)
{
    const int64_t least = on_cuda() ? (int64_t)20 << 30 : 0;
    int64_t memory = 0;
    if (on_cuda() || (!SANITIZED && getenv("CHECK_LONG")))
        assert_ok(cf_device_property(on_cuda() ? 0 : CF_HOST, CF_PROPERTY_MEMORY_FREE, &memory));
    if (memory < bytes || memory < least)
        skip_test("needs a GPU with more memory, or --long of tools/check");
}

static inline void run_kernel(const cf_kernel *kernel, int way, void *args[])
{
    kernel = next_variant(kernel);
    assert_ok(way == LAUNCH ? cf_launch(kernel, NULL, args) : cf_call(kernel, args));
    if (way == LAUNCH)
        assert_ok(cf_stream_sync(NULL));
}

/* Sizes around the boundaries of pieces, warps, blocks and elements per block. */
static const int64_t sizes[] = {0,   1,   2,    3,    7,    8,    9,    31,   32,   33,    255,   256,
                                257, 511, 1023, 1024, 1025, 2047, 2048, 2049, 4097, 16385, 100003};
#define SIZES (sizeof sizes / sizeof *sizes)

#endif
