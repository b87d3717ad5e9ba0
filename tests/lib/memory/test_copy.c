/* test_copy.c - copies of rows, copies between devices and contexts, and errors that prevent a copy. */
#include "played_gpu.h"

#include "model/section.h"
#include "driver/driver.h"
#include "cpu/driver_cpu.h"
#include "context/drivers.h"
#include "context/enter.h"
#include "staging/transfer.h"
#include "memory/copy.h"

#include <sys/mman.h>

static unsigned short seed[3] = {7, 8, 9};

/* ---- A driver that can be made to fail ---- */

static struct cf__driver real, wrapped;
static CUresult attributes_result, rows_result, row_result; /* 0: call the driver */
static int rows_calls;

static CUresult get_attributes(unsigned int count, CUpointer_attribute *attributes, void **data, CUdeviceptr pointer)
{
    return attributes_result ? attributes_result : real.cuPointerGetAttributes(count, attributes, data, pointer);
}

static CUresult copy_rows(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    rows_calls++;
    return rows_result ? rows_result : real.cuMemcpy2DAsync(copy, stream);
}

static CUresult copy_row(CUdeviceptr target, CUdeviceptr from, size_t bytes, CUstream in)
{
    return row_result ? row_result : real.cuMemcpyAsync(target, from, bytes, in);
}

__attribute__((visibility("default"))) const struct cf__driver *cf__driver_wrap(const struct cf__driver *driver)
{
    if (driver->is_cpu)
        return driver;
    real = wrapped = *driver;
    wrapped.cuPointerGetAttributes = get_attributes;
    wrapped.cuMemcpy2DAsync = copy_rows;
    wrapped.cuMemcpyAsync = copy_row;
    return &wrapped;
}

/* ---- Memory of every kind ---- */

enum kind { HOST, PINNED, DEVICE, POOL, KINDS };

static void *allocate(enum kind kind, size_t bytes)
{
    void *memory = NULL;
    if (kind == HOST)
        memory = malloc(bytes);
    else if (kind == POOL)
        assert_ok(cf_mem_alloc_async(NULL, &memory, bytes));
    else
        assert_ok(kind == PINNED ? cf_mem_alloc_pinned(&memory, bytes) : cf_mem_alloc(&memory, bytes));
    assert_non_null(memory);
    return memory;
}

static void release(enum kind kind, void *memory)
{
    if (kind == HOST)
        free(memory);
    else
        assert_ok(cf_mem_free(memory));
}

static void random_bytes(unsigned char *target, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        target[i] = (unsigned char)(nrand48(seed) >> 8);
}

static void expect_bytes(const void *memory, const unsigned char *expected, size_t bytes)
{
    static unsigned char read[1 << 16];
    assert_true(bytes <= sizeof read);
    for (size_t i = 0; i < bytes; i++)
        read[i] = (unsigned char)~expected[i];
    assert_ok(cf_mem_copy(read, memory, bytes));
    assert_memory_equal(read, expected, bytes);
}

static cf_stream stream;

static int set_up(void **state)
{
    (void)state;
    attributes_result = rows_result = row_result = 0;
    rows_calls = 0;
    return cf_stream_create(&stream);
}

static int tear_down(void **state)
{
    (void)state;
    attributes_result = rows_result = row_result = 0;
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    return 0;
}

/* ---- Rows ---- */

/* Copies rows between two kinds of memory. The rows must then be equal, and the bytes between them unchanged. */
static void check_rows(enum kind from, enum kind to, size_t source_pitch, size_t target_pitch, size_t width,
                       size_t rows, int is_async)
{
    enum { MOST = 1 << 14 };
    static unsigned char data[MOST], before[MOST];
    size_t of_source = (rows - 1) * source_pitch + width, of_target = (rows - 1) * target_pitch + width;
    assert_true(of_source <= MOST && of_target <= MOST);
    random_bytes(data, of_source);
    random_bytes(before, of_target);
    /* The allocation ends with the data of the last row, which has no padding. */
    unsigned char *source = allocate(from, of_source), *target = allocate(to, of_target);
    assert_ok(cf_mem_copy(source, data, of_source));
    assert_ok(cf_mem_copy(target, before, of_target));
    if (is_async) {
        cf_stream on = is_async == 1 ? stream : NULL;
        assert_ok(cf_mem_copy_2d_async(on, target, target_pitch, source, source_pitch, width, rows));
        assert_ok(cf_stream_sync(on));
    } else {
        assert_ok(cf_mem_copy_2d(target, target_pitch, source, source_pitch, width, rows));
    }
    for (size_t row = 0; row < rows; row++)
        memcpy(before + row * target_pitch, data + row * source_pitch, width);
    expect_bytes(target, before, of_target);
    expect_bytes(source, data, of_source);
    release(from, source);
    release(to, target);
}

TEST_WITH(mem_copy_2d_every_direction_moves_the_rows, set_up, tear_down)
{
    static const size_t shapes[][4] = {{64, 64, 64, 16}, {100, 64, 48, 20},  {64, 100, 64, 20}, {33, 57, 31, 100},
                                       {512, 700, 1, 9}, {700, 512, 512, 1}, {1, 1, 1, 1},      {128, 256, 128, 2}};
    for (int from = 0; from < KINDS; from++)
        for (int to = 0; to < KINDS; to++)
            for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
                for (int is_async = 0; is_async < 3; is_async++)
                    check_rows(from, to, shapes[i][0], shapes[i][1], shapes[i][2], shapes[i][3], is_async);
}

TEST_WITH(mem_copy_2d_within_an_allocation_takes_rows_that_interlace, set_up, tear_down)
{
    enum { PITCH = 64, ROWS = 50 };
    static unsigned char data[PITCH * ROWS];
    random_bytes(data, sizeof data);
    unsigned char *memory = allocate(DEVICE, sizeof data);
    assert_ok(cf_mem_copy(memory, data, sizeof data));
    assert_ok(cf_mem_copy_2d(memory + 32, PITCH, memory, PITCH, 32, ROWS));
    for (size_t row = 0; row < ROWS; row++)
        memcpy(data + row * PITCH + 32, data + row * PITCH, 32);
    expect_bytes(memory, data, sizeof data);
    release(DEVICE, memory);
}

TEST_WITH(mem_copy_2d_of_nothing_takes_anything, set_up, tear_down)
{
    unsigned char byte = 'x';
    assert_ok(cf_mem_copy_2d(NULL, 0, NULL, 0, 0, 0));
    assert_ok(cf_mem_copy_2d(NULL, 0, NULL, 0, 10, 0));
    assert_ok(cf_mem_copy_2d(&byte, 0, NULL, 0, 0, 10));
    assert_ok(cf_mem_copy_2d_async(stream, NULL, 5, &byte, 1, 0, SIZE_MAX));
    assert_int_equal(byte, 'x');
}

TEST_WITH(mem_copy_2d_bad_arguments_are_named, set_up, tear_down)
{
    unsigned char data[1000];
    random_bytes(data, sizeof data);
    unsigned char *memory = allocate(DEVICE, 995);
    assert_ok(cf_mem_copy(memory, data, 995));
    assert_fails(cf_mem_copy_2d(NULL, 10, data, 10, 10, 2), CF_EINVAL, "cf_mem_copy_2d: target is NULL");
    assert_fails(cf_mem_copy_2d(memory, 10, NULL, 10, 10, 2), CF_EINVAL, "cf_mem_copy_2d: source is NULL");
    assert_fails(cf_mem_copy_2d_async(stream, NULL, 10, data, 10, 10, 2), CF_EINVAL,
                 "cf_mem_copy_2d_async: target is NULL");
    assert_fails(cf_mem_copy_2d(memory, 9, data, 10, 10, 2), CF_EINVAL,
                 "cf_mem_copy_2d: target_pitch is 9 and width 10");
    assert_fails(cf_mem_copy_2d_async(stream, memory, 10, data, 9, 10, 1), CF_EINVAL,
                 "cf_mem_copy_2d_async: source_pitch is 9 and width 10");
    assert_fails(cf_mem_copy_2d(memory, SIZE_MAX, data, 10, 10, 2), CF_EOVERFLOW,
                 "cf_mem_copy_2d: 2 rows, and target_pitch is 18446744073709551615");
    assert_fails(cf_mem_copy_2d(memory, 10, data, SIZE_MAX / 2, 10, 4), CF_EOVERFLOW, "4 rows, and source_pitch is");
    assert_fails(cf_mem_copy_2d(memory, 10, data, 10, 10, SIZE_MAX), CF_EOVERFLOW, "rows, and target_pitch is 10");
    /* The last row would end after the allocation. */
    assert_fails(cf_mem_copy_2d(memory + 1, 100, data, 100, 95, 10), CF_EINVAL,
                 "cf_mem_copy_2d: target has 994 bytes left in its allocation, not 995");
    assert_fails(cf_mem_copy_2d_async(stream, data, 100, memory + 900, 100, 96, 1), CF_EINVAL,
                 "cf_mem_copy_2d_async: source has 95 bytes left in its allocation, not 96");
    expect_bytes(memory, data, 995);
    assert_ok(cf_mem_copy_2d(memory, 100, data, 100, 95, 10));
    release(DEVICE, memory);
}

/* Pitches that are too long for the driver. */
TEST_WITH(mem_copy_2d_long_pitch_moves_the_rows, set_up, tear_down)
{
    enum { WIDTH = 300, ROWS = 3 };
    size_t pitch = ((size_t)1 << 31) + 4096, bytes = (ROWS - 1) * pitch + WIDTH;
    unsigned char *far = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (far == MAP_FAILED)
        skip_test(NEEDS_ADDRESSES);
    unsigned char expected[ROWS * WIDTH], *memory = allocate(DEVICE, sizeof expected);
    random_bytes(expected, sizeof expected);
    for (size_t row = 0; row < ROWS; row++)
        memcpy(far + row * pitch, expected + row * WIDTH, WIDTH);
    assert_ok(cf_mem_copy_2d(memory, WIDTH, far, pitch, WIDTH, ROWS));
    expect_bytes(memory, expected, sizeof expected);
    for (size_t row = 0; row < ROWS; row++)
        memset(far + row * pitch, 0, WIDTH);
    assert_ok(cf_mem_copy_2d_async(stream, far, pitch, memory, WIDTH, WIDTH, ROWS));
    assert_ok(cf_stream_sync(stream));
    for (size_t row = 0; row < ROWS; row++)
        assert_memory_equal(far + row * pitch, expected + row * WIDTH, WIDTH);
    assert_int_equal(rows_calls, 0);
    release(DEVICE, memory);
    munmap(far, bytes);
}

TEST_WITH(mem_copy_2d_that_the_driver_refuses_goes_row_by_row, set_up, tear_down)
{
    need_any_gpu();
    rows_result = CUDA_ERROR_INVALID_VALUE;
    check_rows(DEVICE, DEVICE, 33, 57, 31, 100, 0);
    check_rows(DEVICE, DEVICE, 57, 33, 31, 100, 1);
    assert_int_equal(rows_calls, 2);
    unsigned char *memory = allocate(DEVICE, 100), data[100];
    random_bytes(data, sizeof data);
    char detail[160];
    snprintf(detail, sizeof detail,
             "cf_mem_copy_2d: 9 rows of 5 bytes from source %p to target %p: cuMemcpy2DAsync returned 1 "
             "(CUDA_ERROR_INVALID_VALUE",
             (void *)data, (void *)memory);
    assert_fails(cf_mem_copy_2d(memory, 11, data, 10, 5, 9), CF_EINVAL, detail);
    release(DEVICE, memory);
}

TEST_WITH(mem_copy_2d_host_memory_registered_in_part_moves_the_rows, set_up, tear_down)
{
    need_any_gpu();
    enum { PAGE = 4096, BYTES = 3 * PAGE, PITCH = 640, WIDTH = 600, ROWS = BYTES / PITCH };
    int (*host_register)(void *, size_t, unsigned int) =
        (int (*)(void *, size_t, unsigned int))driver_function("cuMemHostRegister", 6050);
    int (*host_unregister)(void *) = (int (*)(void *))driver_function("cuMemHostUnregister", 4000);
    unsigned char *memory = aligned_alloc(PAGE, BYTES), expected[ROWS * WIDTH];
    void *device = allocate(DEVICE, sizeof expected);
    struct cf__scope place;
    assert_non_null(memory);
    random_bytes(memory, BYTES);
    for (size_t row = 0; row < ROWS; row++)
        memcpy(expected + row * WIDTH, memory + row * PITCH, WIDTH);
    assert_ok(cf__enter(&place, "test", NULL));
    assert_int_equal(host_register(memory, PAGE, 0), 0);
    assert_ok(cf_mem_copy_2d(device, WIDTH, memory, PITCH, WIDTH, ROWS));
    expect_bytes(device, expected, sizeof expected);
    for (size_t row = 0; row < ROWS; row++)
        memset(memory + row * PITCH, 0, WIDTH);
    assert_ok(cf_mem_copy_2d_async(stream, memory, PITCH, device, WIDTH, WIDTH, ROWS));
    assert_ok(cf_stream_sync(stream));
    for (size_t row = 0; row < ROWS; row++)
        assert_memory_equal(memory + row * PITCH, expected + row * WIDTH, WIDTH);
    row_result = CUDA_ERROR_UNKNOWN;
    assert_fails(cf_mem_copy_2d(device, WIDTH, memory, PITCH, WIDTH, ROWS), CF_ECALL, "cuMemcpyAsync returned 999");
    row_result = 0;
    assert_int_equal(host_unregister(memory), 0);
    cf__leave(&place);
    release(DEVICE, device);
    free(memory);
}

/* ---- More than one device ---- */

/* Allocates on a GPU in a thread of its own, because a thread that has chosen a device cannot undo that. */
struct request {
    int device;
    enum kind kind;
    size_t bytes;
    void *memory;
    const char *wrong;
};

static void *allocate_there(void *of)
{
    struct request *request = of;
    if (cf_device_use(request->device) != CF_OK ||
        (request->kind == POOL ? cf_mem_alloc_async(NULL, &request->memory, request->bytes)
                               : cf_mem_alloc(&request->memory, request->bytes)) != CF_OK ||
        cf_stream_sync(NULL) != CF_OK)
        request->wrong = cf_last_error();
    return NULL;
}

static void *allocate_on(int device, enum kind kind, size_t bytes)
{
    struct request request = {.device = device, .kind = kind, .bytes = bytes};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, allocate_there, &request), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_null(request.wrong);
    return request.memory;
}

TEST_WITH(mem_copy_between_two_gpus_moves_the_bytes, set_up, tear_down)
{
    need_two_gpus();
    enum { BYTES = 5000, PITCH = 100, WIDTH = 70, ROWS = 50 };
    static unsigned char data[BYTES], expected[BYTES];
    for (int kinds = 0; kinds < 4; kinds++)
        for (int is_async = 0; is_async < 3; is_async++) {
            enum kind of_first = kinds & 1 ? POOL : DEVICE, of_second = kinds & 2 ? POOL : DEVICE;
            unsigned char *first = allocate(of_first, BYTES), *second = allocate_on(1, of_second, BYTES);
            cf_stream on = is_async == 1 ? stream : NULL;
            random_bytes(data, BYTES);
            assert_ok(cf_mem_copy(second, data, BYTES));
            if (is_async)
                assert_ok(cf_mem_copy_async(on, first + 1, second, BYTES - 1));
            else
                assert_ok(cf_mem_copy(first + 1, second, BYTES - 1));
            assert_ok(cf_stream_sync(on));
            expect_bytes(first + 1, data, BYTES - 1);
            memset(expected, 7, BYTES);
            assert_ok(cf_mem_fill(second, 7, BYTES));
            for (size_t row = 0; row < ROWS; row++)
                memcpy(expected + row * PITCH, data + row * WIDTH, WIDTH);
            if (is_async)
                assert_ok(cf_mem_copy_2d_async(on, second, PITCH, first + 1, WIDTH, WIDTH, ROWS));
            else
                assert_ok(cf_mem_copy_2d(second, PITCH, first + 1, WIDTH, WIDTH, ROWS));
            assert_ok(cf_stream_sync(on));
            expect_bytes(second, expected, BYTES);
            release(of_first, first);
            release(of_second, second);
        }
}

static void *fill_there(void *of)
{
    struct request *request = of;
    if (cf_device_use(request->device) != CF_OK || cf_mem_fill_async(NULL, request->memory, 9, request->bytes) != CF_OK)
        request->wrong = cf_last_error();
    return NULL;
}

/* The source's default stream still has work for which nobody has waited. */
TEST_WITH(mem_copy_between_two_gpus_comes_after_both_default_streams, set_up, tear_down)
{
    need_two_gpus();
    struct request request = {.device = 1, .bytes = 1 << 20};
    request.memory = allocate_on(1, DEVICE, request.bytes);
    unsigned char *first = allocate(DEVICE, request.bytes), read[1000];
    pthread_t thread;
    assert_ok(cf_mem_fill(request.memory, 1, request.bytes));
    assert_int_equal(pthread_create(&thread, NULL, fill_there, &request), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_null(request.wrong);
    assert_ok(cf_mem_fill_async(NULL, first, 2, request.bytes));
    assert_ok(cf_mem_copy(first, request.memory, request.bytes));
    assert_ok(cf_mem_copy(read, first + request.bytes - sizeof read, sizeof read));
    for (size_t i = 0; i < sizeof read; i++)
        assert_int_equal(read[i], 9);
    release(DEVICE, first);
    release(DEVICE, request.memory);
}

/* The default stream is that of the thread's device, on whichever devices the memory is; waiting for it is enough. */
TEST_WITH(mem_copy_async_default_stream_is_the_threads, set_up, tear_down)
{
    need_two_gpus();
    unsigned char data[500], read[500] = {0};
    random_bytes(data, sizeof data);
    unsigned char *second = allocate_on(1, DEVICE, sizeof data);
    assert_ok(cf_mem_copy_async(NULL, second, data, sizeof data));
    assert_ok(cf_mem_copy_async(NULL, read, second, sizeof data));
    assert_ok(cf_stream_sync(NULL));
    assert_memory_equal(read, data, sizeof data);
    release(DEVICE, second);
}

TEST_WITH(mem_copy_between_contexts_moves_the_bytes, set_up, tear_down)
{
    need_any_gpu();
    const struct cf__driver *driver = other_library();
    CUcontext foreign = NULL, popped;
    CUdeviceptr theirs = 0;
    unsigned char data[3000];
    random_bytes(data, sizeof data);
    unsigned char *ours = allocate(DEVICE, sizeof data), *pooled = allocate(POOL, sizeof data);
    assert_int_equal(context_create(&foreign, 0, 0), CUDA_SUCCESS);
    assert_int_equal(driver->cuMemAlloc(&theirs, sizeof data), CUDA_SUCCESS);
    assert_int_equal(driver->cuCtxPopCurrent(&popped), CUDA_SUCCESS);
    unsigned char *memory = (unsigned char *)(uintptr_t)theirs;
    assert_ok(cf_mem_copy(memory, data, sizeof data));
    assert_ok(cf_mem_copy(ours, memory, sizeof data));
    expect_bytes(ours, data, sizeof data);
    assert_ok(cf_mem_fill(memory, 0, sizeof data));
    assert_ok(cf_mem_copy_async(stream, memory, ours, sizeof data));
    assert_ok(cf_stream_sync(stream));
    expect_bytes(memory, data, sizeof data);
    assert_ok(cf_mem_copy_2d(pooled, 100, memory, 100, 90, 30));
    assert_ok(cf_mem_copy_2d(memory, 90, pooled, 100, 90, 30));
    for (size_t row = 1; row < 30; row++)
        memmove(data + row * 90, data + row * 100, 90);
    expect_bytes(memory, data, 30 * 90);
    assert_ok(cf_mem_free(memory));
    assert_int_equal(context_destroy(foreign), CUDA_SUCCESS);
    release(DEVICE, ours);
    release(POOL, pooled);
}

/* ---- The CPU together with a GPU ---- */

static void *use_the_cpu(void *unused)
{
    unsigned char data[256], read[256] = {0}, *on_gpu = NULL, *on_cpu = NULL;
    cf_stream of_gpu = NULL;
    (void)unused;
    random_bytes(data, sizeof data);
    if (cf_mem_alloc((void **)&on_gpu, sizeof data) != CF_OK || cf_stream_create(&of_gpu) != CF_OK ||
        cf_device_use(CF_HOST) != CF_OK || cf_mem_alloc((void **)&on_cpu, sizeof data) != CF_OK)
        return (void *)"no memory on both";
    /* A default stream of the CPU could not wait for the GPU, so the copy is done synchronously. */
    for (uintptr_t handle = 0; handle <= 2; handle++) {
        memset(read, 0, sizeof read);
        if (cf_mem_copy_async((cf_stream)handle, on_gpu, data, sizeof data) != CF_OK ||
            cf_mem_copy_async((cf_stream)handle, read, on_gpu, sizeof data) != CF_OK ||
            memcmp(read, data, sizeof data) != 0)
            return (void *)"a copy of a GPU's memory in the CPU's default stream is not done";
        memset(on_cpu, 0, sizeof data);
        if (cf_mem_copy_2d_async((cf_stream)handle, on_cpu, 16, on_gpu, 16, 16, 16) != CF_OK ||
            memcmp(on_cpu, data, sizeof data) != 0)
            return (void *)"a copy of a GPU's rows in the CPU's default stream is not done";
        if (cf_mem_fill_async((cf_stream)handle, on_gpu, 3, sizeof data) != CF_OK ||
            cf_mem_copy_async(NULL, read, on_gpu, sizeof data) != CF_OK || read[255] != 3)
            return (void *)"a fill of a GPU's memory in the CPU's default stream is not done";
    }
    if (cf_mem_copy_async(of_gpu, on_gpu, on_cpu, sizeof data) != CF_OK || cf_stream_sync(of_gpu) != CF_OK ||
        cf_mem_copy(read, on_gpu, sizeof data) != CF_OK || memcmp(read, data, sizeof data) != 0)
        return (void *)"a GPU's stream does not take the CPU's memory";
    if (cf_mem_fill_async(of_gpu, on_cpu, 1, sizeof data) != CF_EINVAL ||
        !strstr(cf_last_error(), "cf_mem_fill_async: target is memory of CF_HOST and the stream is of device 0"))
        return (void *)"a GPU's stream fills the CPU's memory";
    /* In a default stream of the GPU, the copy comes after the stream's earlier work. */
    if (cf_device_use(0) != CF_OK || cf_mem_fill_async(NULL, on_gpu, 4, sizeof data) != CF_OK ||
        cf_mem_copy_async(NULL, on_cpu, on_gpu, sizeof data) != CF_OK ||
        cf_mem_fill_async(NULL, on_cpu, 5, sizeof data - 1) != CF_OK || on_cpu[0] != 5 || on_cpu[255] != 4)
        return (void *)"a fill of the CPU's memory comes too early";
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (other_library()->cuThreadExchangeStreamCaptureMode(&mode) != CUDA_SUCCESS ||
        mode != CU_STREAM_CAPTURE_MODE_GLOBAL)
        return (void *)"the thread's capture mode is another one now";
    if (cf_mem_free(on_gpu) != CF_OK || cf_mem_free(on_cpu) != CF_OK || cf_stream_destroy(of_gpu) != CF_OK)
        return (void *)"it cannot be freed";
    return NULL;
}

TEST_WITH(mem_copy_async_on_a_thread_of_the_cpu_is_done, set_up, tear_down)
{
    run_beside_a_gpu(use_the_cpu);
}

/* ---- A driver that does not answer queries ---- */

/* Memory of an unknown kind is not treated as host memory, unless the CPU can read it. */
static void *copy_when_lost(void *unused)
{
    unsigned char data[64] = {1}, read[64] = {0}, *on_gpu = NULL, *on_cpu = NULL;
    (void)unused;
    if (cf_mem_alloc((void **)&on_gpu, sizeof data) != CF_OK || cf_device_use(CF_HOST) != CF_OK ||
        cf_mem_alloc((void **)&on_cpu, sizeof data) != CF_OK)
        return (void *)"no memory on both";
    attributes_result = CUDA_ERROR_ILLEGAL_ADDRESS;
    int of_gpu = cf_mem_copy(data, on_gpu, sizeof data), freed = cf_mem_free(on_gpu);
    int is_named = strstr(cf_last_error(), "cuPointerGetAttributes returned 700") != NULL;
    int in = cf_mem_copy(on_cpu, data, sizeof data), out = cf_mem_copy(read, on_cpu, sizeof data);
    attributes_result = CUDA_ERROR_UNKNOWN;
    int unknown = cf_mem_copy(on_cpu, data, sizeof data), filled = cf_mem_fill(data, 1, sizeof data);
    attributes_result = 0;
    if (of_gpu != CF_EFAULT || freed != CF_EFAULT || !is_named)
        return (void *)"memory of a GPU that is lost is not refused";
    if (in != CF_OK || out != CF_OK || memcmp(read, data, sizeof data) != 0)
        return (void *)"a lost GPU keeps the CPU from working";
    if (unknown != CF_ECALL || filled != CF_ECALL)
        return (void *)"a driver that does not answer is not a failure";
    if (cf_mem_free(on_gpu) != CF_OK || cf_mem_free(on_cpu) != CF_OK)
        return (void *)"the memory cannot be freed";
    return NULL;
}

TEST_WITH(mem_copy_staged_that_fails_says_so, set_up, tear_down)
{
    char here[4096] = {0};
    need_any_gpu();
    void *there = allocate(DEVICE, sizeof here);
    struct cf__scope place;
    assert_ok(cf__enter(&place, "test", NULL));
    for (int to_host = 0; to_host < 2; to_host++) {
        row_result = CUDA_ERROR_UNKNOWN;
        assert_fails(cf__staging_copy(&place, "test", there, here, sizeof here, to_host), CF_ECALL,
                     "cuMemcpyAsync returned 999");
        row_result = 0;
        assert_ok(cf__staging_copy(&place, "test", there, here, sizeof here, to_host));
    }
    cf__leave(&place);
    release(DEVICE, there);
}

TEST_WITH(mem_copy_when_the_driver_does_not_answer_fails, set_up, tear_down)
{
    run_beside_a_gpu(copy_when_lost);
}

/* ---- Sections ---- */

static CUresult refuse_2d(const CUDA_MEMCPY2D *copy)
{
    (void)copy;
    return CUDA_ERROR_INVALID_VALUE;
}

/* If the pitch is too long for cuMemcpy2D(), rows are copied one by one. The memory between the rows is never touched,
 * so only the pages that hold rows exist. */
TEST_WITH(copy_section_of_rows_too_far_apart_for_the_driver_is_right, set_up, tear_down)
{
    struct cf__driver driver = cf__driver_cpu;
    driver.cuMemcpy2D = refuse_2d;
    const struct cf__scope place = {.driver = &driver};
    const size_t pitch = (size_t)1 << 31, bytes = pitch + 8;
    char *from = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *to = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(from != MAP_FAILED && to != MAP_FAILED);
    cf_section section = {.count = 4, .span = bytes, .ndims = 2, .extents = {2, 2}, .strides = {pitch, 4}};
    memcpy(from, "row 0, and more", 15);
    memcpy(from + pitch, "row 1", 5);
    const char *call = "";
    assert_int_equal(cf__copy_section(&place, &section, 4, from, to, 0, &call), CUDA_SUCCESS);
    assert_string_equal(call, "cuMemcpy"); /* one row at a time */
    assert_memory_equal(to, "row 0, a\0", 9);
    assert_memory_equal(to + pitch, "row 1", 5);
    section.strides[0] = pitch - 1; /* this pitch is short enough for the driver */
    assert_int_equal(cf__copy_section(&place, &section, 4, from, to, 0, &call), CUDA_ERROR_INVALID_VALUE);
    assert_string_equal(call, "cuMemcpy2D");
    munmap(from, bytes);
    munmap(to, bytes);
}

int main(void)
{
    return run_all_tests(NULL, NULL);
}
