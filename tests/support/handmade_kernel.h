/* handmade_kernel.h - for kernels that a test makes by hand, with bodies in C. They run on the CPU, and on the played
 * GPU once run_made() has added them there. A real GPU has no code for them; there the tests are skipped. */
#ifndef HANDMADE_KERNEL_H
#define HANDMADE_KERNEL_H

#include "played_gpu.h"

#include <cuferry/registry.h>

#include "expr_steps.h"

/* ---- Descriptors ---- */

#define MEMBER(number, type, offset)                  \
    {                                                 \
        CF_OP_MEMBER, CF_MEMBER(number, type, offset) \
    }

/* An expression that is one parameter or one constant. */
#define NUMBER(text, number)     \
    {                            \
        text, OPS(PARAM(number)) \
    }
#define FIXED(value)              \
    {                             \
#value, OPS(CONST(value)) \
    }

#define VALUE(param_name, c, id)                                                                            \
    {                                                                                                       \
        .name = param_name, .ctype = #c, .type = id, .direction = CF_VALUE, .lanes = 1, .bytes = sizeof(c), \
        .align = _Alignof(c)                                                                                \
    }

/* Parameters: scratch memory of ints, and a struct that the kernel reads and writes. */
#define SCRATCH_INTS(param_name, extent)                                                                       \
    {                                                                                                          \
        .name = param_name, .ctype = "int *", .type = CF_I32, .direction = CF_SCRATCH, .lanes = 1, .bytes = 4, \
        .align = 4, .ndims = 1, .extents = &(extent)                                                           \
    }
#define STRUCT_INOUT(param_name, c, extent)                                                         \
    {                                                                                               \
        .name = param_name, .ctype = #c " *", .type = CF_OPAQUE, .direction = CF_INOUT, .lanes = 1, \
        .bytes = sizeof(c), .align = 8, .ndims = 1, .extents = &(extent)                            \
    }

/* The first members of every descriptor in this file; `made` is its image. */
#define MADE_KERNEL(kernel_name, made)                                                                           \
    .version = CF_REGISTRY_VERSION, .name = kernel_name, .family = kernel_name, .function = "made_" kernel_name, \
    .file = __FILE__, .line = __LINE__, .image = &(made).image, .entry = kernel_name, .state = &(cf_state)       \
    {                                                                                                            \
        NULL                                                                                                     \
    }

/* An array of one dimension. */
#define ARRAY_1D(param_name, c, id, way, extent)                                                            \
    {                                                                                                       \
        .name = param_name, .ctype = #c " *", .type = id, .direction = way, .lanes = 1, .bytes = sizeof(c), \
        .align = _Alignof(c), .ndims = 1, .extents = &(extent)                                              \
    }

/* An image without code. The played GPU recognizes it by its mark. */
struct made_image {
    unsigned char bytes[32];
    cf_image image;
    cf_state state;
};

static inline void make_image(struct made_image *made, unsigned char mark)
{
    const uint32_t magic = 0xBA55ED50;
    const uint16_t header = 16;
    const uint64_t body = sizeof made->bytes - header;
    memset(made->bytes, mark, sizeof made->bytes);
    memcpy(made->bytes, &magic, sizeof magic);
    memcpy(made->bytes + 6, &header, sizeof header);
    memcpy(made->bytes + 8, &body, sizeof body);
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < 8 * sizeof made->bytes; i++) {
        uint32_t bit = (crc ^ (uint32_t)made->bytes[i / 8] >> i % 8) & 1;
        crc = crc >> 1 ^ (bit ? 0xedb88320 : 0);
    }
    static const uint16_t sm[] = {90, 0}, ptx[] = {90, 0};
    made->image = (cf_image){.begin = made->bytes,
                             .end = made->bytes + sizeof made->bytes,
                             .crc32 = ~crc,
                             .toolkit = 12000,
                             .sm = sm,
                             .ptx = ptx,
                             .state = &made->state};
}

/* ---- The driver ---- */

/* Returns the call counters of the played GPU; skips the test on any other driver. */
static inline const struct fake_counts *fake_counts(void)
{
    const struct fake_counts *counts = played_gpu_counts();
    if (!counts)
        skip_test(NEEDS_PLAYED_GPU);
    return counts;
}

/* Runs tests like run_with_fake(). The kernels of the tests are in `module`. */
static inline int run_made(int argc, char *argv[], const cf_module *module, CMFixtureFunction setup,
                           CMFixtureFunction teardown)
{
    if (!played_gpu_add(module) && on_cuda()) {
        printf("1..%zu\n", test_count);
        for (size_t i = 0; i < test_count; i++)
            printf("ok %zu - %s # SKIP " NEEDS_CPU_OR_PLAYED_GPU "\n", i + 1, all_tests[i].name);
        return 0;
    }
    return run_with_fake(argc, argv, setup, teardown);
}

/* Allocates device memory and copies `bytes` bytes there. */
static inline void *upload(const void *data, size_t bytes)
{
    void *memory = NULL;
    assert_int_equal(cf_mem_alloc(&memory, bytes), CF_OK);
    assert_int_equal(cf_mem_copy(memory, data, bytes), CF_OK);
    return memory;
}

#endif
