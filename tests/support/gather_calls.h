/* gather_calls.h - calls every instance of gather by plain calls, with arrays of host and device memory in any mix. */
#ifndef GATHER_CALLS_H
#define GATHER_CALLS_H

#include "played_gpu.h"

#include <cuferry/kernels.h>
#include <cuferry/registry.h>

#include "gather_instances.h"

#define POISON 0xa5
#define GUARD 64 /* bytes after every result */

typedef int gather_call(const void *source, const void *index, void *res, int64_t N, int64_t M);

#define DEFINE(name, T, I)                                                                                      \
    static inline int typed_##name(const void *source, const void *index, void *res, int64_t N, int64_t M)      \
    {                                                                                                           \
        return cf_gather_##name(source, index, res, N, M);                                                      \
    }                                                                                                           \
    static inline int generic_##name(const void *source, const void *index, void *res, int64_t N, int64_t M)    \
    {                                                                                                           \
        return cf_gather((const T *)source, (const I *)index, (T *)res, N, M);                                  \
    }                                                                                                           \
    static inline int registered_##name(const void *source, const void *index, void *res, int64_t N, int64_t M) \
    {                                                                                                           \
        void *const args[] = {(void *)&source, (void *)&index, (void *)&res, &N, &M};                           \
        return cf_call(cf_kernel_find(&cf_registry, "gather_" #name), args);                                    \
    }
INSTANCES(DEFINE)
#undef DEFINE

enum { WAYS = 3 };
static const struct instance {
    const char *name;
    gather_call *ways[WAYS];
    size_t element, index;
} instances[] = {
#define ROW(name, T, I) {#name, {typed_##name, generic_##name, registered_##name}, sizeof(T), sizeof(I)},
    INSTANCES(ROW)
#undef ROW
};
enum { INSTANCE_COUNT = sizeof instances / sizeof *instances };

static inline void random_bytes(unsigned short seed[], void *target, size_t bytes)
{
    unsigned char *byte = target;
    for (size_t i = 0; i + 3 < bytes; i += 4) {
        long value = nrand48(seed);
        memcpy(byte + i, &value, 4);
    }
    for (size_t i = bytes - bytes % 4; i < bytes; i++)
        byte[i] = (unsigned char)nrand48(seed);
}

/* Bits of a mix: the arrays that lie in device memory. */
enum { SOURCE_THERE = 1, INDEX_THERE = 2, RES_THERE = 4, MIXES = 8 };

/* The random data of one gather. The pointers that are passed point to host or device memory. */
struct data {
    const struct instance *instance;
    unsigned char *host_source, *host_index, *host_res, *expected;
    unsigned char *source, *index, *res; /* the arguments */
    size_t source_bytes, index_bytes, res_bytes;
    int64_t N, M;
};

static inline void *upload(const void *data, size_t bytes)
{
    void *memory = NULL;
    if (bytes == 0)
        return NULL;
    return cf_mem_alloc(&memory, bytes) == CF_OK && cf_mem_copy(memory, data, bytes) == CF_OK ? memory : NULL;
}

static inline void set_index(struct data *data, int64_t i, int64_t value)
{
    if (data->instance->index == sizeof(int32_t))
        ((int32_t *)(void *)data->host_index)[i] = (int32_t)value;
    else
        ((int64_t *)(void *)data->host_index)[i] = value;
}

/* Copies the host arrays to device memory; returns 1 on success. */
static inline int refresh(struct data *data)
{
    return (data->index == data->host_index ||
            cf_mem_copy(data->index, data->host_index, data->index_bytes) == CF_OK) &&
           (data->res == data->host_res || cf_mem_copy(data->res, data->host_res, data->res_bytes + GUARD) == CF_OK);
}

/* Returns 1 on success. Does not assert, because it also runs on other threads. */
static inline int make(struct data *data, const struct instance *instance, int64_t N, int64_t M, int mix,
                       unsigned short seed[])
{
    *data = (struct data){.instance = instance,
                          .source_bytes = (size_t)M * instance->element,
                          .index_bytes = (size_t)N * instance->index,
                          .res_bytes = (size_t)N * instance->element,
                          .N = N,
                          .M = M};
    data->source = data->host_source = malloc(data->source_bytes);
    data->index = data->host_index = malloc(data->index_bytes);
    data->res = data->host_res = malloc(data->res_bytes + GUARD);
    data->expected = malloc(data->res_bytes + GUARD);
    random_bytes(seed, data->source, data->source_bytes);
    memset(data->host_res, POISON, data->res_bytes + GUARD);
    memset(data->expected, POISON, data->res_bytes + GUARD);
    for (int64_t i = 0; i < N; i++) {
        int64_t at = nrand48(seed) % M;
        set_index(data, i, at);
        memcpy(data->expected + (size_t)i * instance->element, data->host_source + (size_t)at * instance->element,
               instance->element);
    }
    if (mix & SOURCE_THERE)
        data->source = upload(data->host_source, data->source_bytes);
    if (mix & INDEX_THERE)
        data->index = upload(data->host_index, data->index_bytes);
    if (mix & RES_THERE)
        data->res = upload(data->host_res, data->res_bytes + GUARD);
    return (data->source || data->source_bytes == 0) && (data->index || data->index_bytes == 0) && data->res;
}

/* Returns 1 if the result and its guard equal `expected` byte by byte. */
static inline int is_result(struct data *data, const unsigned char *expected)
{
    size_t bytes = data->res_bytes + GUARD;
    if (data->res != data->host_res) {
        memset(data->host_res, 0, bytes);
        if (cf_mem_copy(data->host_res, data->res, bytes) != CF_OK)
            return 0;
    }
    return memcmp(data->host_res, expected, bytes) == 0;
}

static inline int is_right(struct data *data)
{
    return is_result(data, data->expected);
}

static inline int is_untouched(struct data *data)
{
    unsigned char *poison = malloc(data->res_bytes + GUARD);
    memset(poison, POISON, data->res_bytes + GUARD);
    int same = is_result(data, poison);
    free(poison);
    return same;
}

static inline int release(struct data *data)
{
    int wrong = 0;
    if (data->source != data->host_source)
        wrong |= cf_mem_free(data->source) != CF_OK;
    if (data->index != data->host_index)
        wrong |= cf_mem_free(data->index) != CF_OK;
    if (data->res != data->host_res)
        wrong |= cf_mem_free(data->res) != CF_OK;
    free(data->host_source);
    free(data->host_index);
    free(data->host_res);
    free(data->expected);
    return !wrong;
}

static inline int call(const struct data *data, int way)
{
    return data->instance->ways[way](data->source, data->index, data->res, data->N, data->M);
}

/* Makes a small valid call, after a failure. */
static inline void expect_usable(void)
{
    static const float source[] = {1.5F, -2, 3};
    static const int64_t index[] = {2, 0, 2, 1};
    float res[5] = {9, 9, 9, 9, 9};
    assert_ok(cf_gather(source, index, res, 4, 3));
    assert_true(res[0] == 3 && res[1] == 1.5F && res[2] == 3 && res[3] == -2 && res[4] == 9);
}

/* Expects an error from every way of calling gather, with a detail that begins with this text. */
static inline void expect_refusal(const struct data *data, int64_t N, int64_t M, int status, const char *detail)
{
    char said[256];
    snprintf(said, sizeof said, "cf_gather_%s: %s", data->instance->name, detail);
    for (int way = 0; way < WAYS; way++)
        assert_fails(data->instance->ways[way](data->source, data->index, data->res, N, M), status, said);
}

#endif
