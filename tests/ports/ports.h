/* ports.h - runs a kernel on host arrays, on device memory and in a stream, and compares the results with expected
 * ones. */
#ifndef PORTS_H
#define PORTS_H

#include <math.h>

#include "played_gpu.h"

#include <cuferry/registry.h>

#include "data/random.h"

/* ---- Sizes ---- */

static const int port_sizes[] = {0,   1,   2,   31,  32,  33,  63,  64,  65,   127,
                                 128, 129, 255, 256, 257, 511, 512, 513, 1000, 4099};

/* Fewer and smaller sizes, for kernels whose work grows faster than the size. */
static const int port_small_sizes[] = {0, 1, 2, 7, 15, 16, 17, 31, 32, 33, 65, 100};

/* ThreadSanitizer takes about 100 times as long for a CUDA thread that waits, so it tests only a part of the sizes. */
#if defined __SANITIZE_THREAD__ || __has_feature(thread_sanitizer)
#define PORT_STEP 4
#else
#define PORT_STEP 1
#endif

#define EACH_SIZE(sizes, n)                                                                                      \
    for (size_t at_##n = 0, n = 0; at_##n < sizeof(sizes) / sizeof *(sizes) && (n = (size_t)(sizes)[at_##n], 1); \
         at_##n += PORT_STEP)

/* ---- Arrays ---- */

/* The bytes with which an output array is filled before a kernel writes it: NaN in floating point, and a value that no
 * result here has. */
#define PORT_POISON 0xff

enum { HOST_ARRAYS, DEVICE_ARRAYS, IN_STREAM, WAYS };

static int port_way;
static cf_stream port_stream;

static struct port_array {
    void *host, *device;
    size_t bytes;
} port_arrays[16];

static int port_count;

/* Makes an array that lives until drop_arrays(). It has no spare bytes, so that sanitizers notice accesses beyond its
 * end. */
static inline void *make_array(size_t count, size_t size)
{
    assert_true(port_count < 16);
    struct port_array *array = &port_arrays[port_count++];
    *array = (struct port_array){malloc(count * size), NULL, count * size};
    assert_non_null(array->host);
    memset(array->host, 0, array->bytes);
    return array->host;
}
#define MAKE(type, count) ((type *)make_array(count, sizeof(type)))

static inline void drop_arrays(void)
{
    while (port_count)
        free(port_arrays[--port_count].host);
}

static inline float *random_floats(size_t count, uint64_t name, float low, float high)
{
    float *x = MAKE(float, count);
    for (size_t i = 0; i < count; i++)
        x[i] = low + (high - low) * random_f32(name, i);
    return x;
}

static inline double *random_doubles(size_t count, uint64_t name, double low, double high)
{
    double *x = MAKE(double, count);
    for (size_t i = 0; i < count; i++)
        x[i] = low + (high - low) * random_f64(name, i);
    return x;
}

static inline int *random_ints(size_t count, uint64_t name, int low, int high)
{
    int *x = MAKE(int, count);
    for (size_t i = 0; i < count; i++)
        x[i] = (int)random_integer(name, i, low, high);
    return x;
}

/* Returns the array that is passed to the kernel: the array itself, or a copy in device memory. */
static inline void *give(const void *host, int is_poisoned)
{
    for (int i = 0; i < port_count; i++) {
        struct port_array *array = &port_arrays[i];
        if (array->host != host)
            continue;
        if (is_poisoned)
            memset(array->host, PORT_POISON, array->bytes);
        if (port_way == HOST_ARRAYS)
            return array->host;
        assert_ok(cf_mem_alloc(&array->device, array->bytes));
        if (array->bytes)
            assert_ok(cf_mem_copy(array->device, array->host, array->bytes));
        return array->device;
    }
    fail_msg("%s", "the array is not one of make_array()");
    return NULL;
}
#define IN(x) give(x, 0)
#define OUT(x) give(x, 1)
#define INOUT(x) give(x, 0)

static inline void take_back(void)
{
    if (port_way == IN_STREAM)
        assert_ok(cf_stream_sync(port_stream));
    for (int i = 0; i < port_count; i++) {
        struct port_array *array = &port_arrays[i];
        if (array->device) {
            assert_ok(cf_mem_copy(array->host, array->device, array->bytes));
            assert_ok(cf_mem_free(array->device));
        }
        array->device = NULL;
    }
}

#define EACH_WAY for (port_way = 0; port_way < WAYS; port_way++)

/* Calls the function of a kernel; port_way selects the kind of call. */
#define RUN(function, ...)                                                                                     \
    do {                                                                                                       \
        assert_ok(port_way == IN_STREAM ? function##_async(port_stream, __VA_ARGS__) : function(__VA_ARGS__)); \
        take_back();                                                                                           \
    } while (0)

/* ---- Results ---- */

static inline int is_near(double got, double wanted, double tolerance)
{
    double size = fabs(wanted) > 1 ? fabs(wanted) : 1;
    return fabs(got - wanted) <= tolerance * size; /* false if either is NaN */
}

#define assert_near(got, wanted, count, tolerance)                                                          \
    do {                                                                                                    \
        for (size_t i_ = 0; i_ < (size_t)(count); i_++)                                                     \
            if (!is_near((double)(got)[i_], (double)(wanted)[i_], tolerance))                               \
                fail_msg("way %d, %s[%zu] of %zu is %.17g, not %.17g", port_way, #got, i_, (size_t)(count), \
                         (double)(got)[i_], (double)(wanted)[i_]);                                          \
    } while (0)

#define assert_same(got, wanted, count)                                                                   \
    do {                                                                                                  \
        for (size_t i_ = 0; i_ < (size_t)(count); i_++)                                                   \
            if ((got)[i_] != (wanted)[i_])                                                                \
                fail_msg("way %d, %s[%zu] of %zu is %lld, not %lld", port_way, #got, i_, (size_t)(count), \
                         (long long)(got)[i_], (long long)(wanted)[i_]);                                  \
    } while (0)

static inline int compare_ints(const void *a, const void *b)
{
    int left = *(const int *)a, right = *(const int *)b;
    return (left > right) - (left < right);
}

/* ---- The program ---- */

static const cf_module *port_module;

static inline int begin_ports(void **state)
{
    (void)state;
    played_gpu_add(port_module);
    return cf_stream_create(&port_stream);
}

static inline int end_ports(void **state)
{
    (void)state;
    return cf_stream_destroy(port_stream) == CF_OK && cf_shutdown() == CF_OK ? 0 : -1;
}

static inline int drop(void **state)
{
    (void)state;
    drop_arrays();
    return 0;
}

/* The head of a test's function. */
#define PORT(name) TEST_WITH(name, NULL, drop)

static inline int run_ports(const cf_module *module)
{
    port_module = module;
    return run_all_tests(begin_ports, end_ports);
}

#endif
