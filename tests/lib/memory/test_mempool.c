/* test_mempool.c - stream-ordered memory and its pool. */
#include "handmade_kernel.h"

#include "driver/driver.h"
#include "context/drivers.h"

static unsigned short seed[3] = {10, 11, 12};

static cf_stream stream;

static int set_up(void **state)
{
    (void)state;
    return cf_stream_create(&stream);
}

static int tear_down(void **state)
{
    (void)state;
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    return 0;
}

static void *allocate(cf_stream on, size_t bytes)
{
    void *memory = NULL;
    assert_ok(cf_mem_alloc_async(on, &memory, bytes));
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % 256, 0);
    return memory;
}

TEST_WITH(mem_alloc_async_is_usable_in_its_order, set_up, tear_down)
{
    static const size_t sizes[] = {1, 3, 255, 256, 257, 4096, 65537, 1 << 20};
    static unsigned char data[1 << 20], read[1 << 20];
    cf_stream all[] = {NULL, (cf_stream)1, (cf_stream)2, stream};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t s = 0; s < sizeof all / sizeof *all; s++) {
            for (size_t b = 0; b < sizes[i]; b++)
                data[b] = (unsigned char)nrand48(seed);
            memset(read, ~data[0], sizes[i]);
            void *memory = allocate(all[s], sizes[i]);
            assert_ok(cf_mem_copy_async(all[s], memory, data, sizes[i]));
            assert_ok(cf_mem_copy_async(all[s], read, memory, sizes[i]));
            assert_ok(cf_mem_free_async(all[s], memory));
            assert_ok(cf_stream_sync(all[s]));
            assert_memory_equal(read, data, sizes[i]);
        }
}

TEST_WITH(mem_alloc_async_0_bytes_is_null, set_up, tear_down)
{
    void *memory = &memory;
    assert_ok(cf_mem_alloc_async(stream, &memory, 0));
    assert_null(memory);
    assert_ok(cf_mem_free_async(stream, memory));
    assert_ok(cf_mem_free_async(NULL, NULL));
}

TEST_WITH(mem_alloc_async_null_is_invalid, set_up, tear_down)
{
    assert_fails(cf_mem_alloc_async(stream, NULL, 10), CF_EINVAL, "cf_mem_alloc_async: pointer is NULL");
    assert_fails(cf_mem_alloc_async(NULL, NULL, 0), CF_EINVAL, "cf_mem_alloc_async: pointer is NULL");
}

TEST_WITH(mem_alloc_async_too_much_is_enomem_and_next_works, set_up, tear_down)
{
    static const size_t sizes[] = {(size_t)1 << 60, SIZE_MAX / 2, SIZE_MAX - 255, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *memory = &memory;
        int status = cf_mem_alloc_async(stream, &memory, sizes[i]);
        /* A size that overflows when it is rounded up may also be reported as invalid by the driver. */
        assert_true(status == CF_ENOMEM || (i > 0 && status == CF_EINVAL));
        assert_non_null(strstr(cf_last_error(), "cf_mem_alloc_async: "));
        assert_ptr_equal(memory, &memory);
        assert_ok(cf_mem_free_async(stream, allocate(stream, 100)));
    }
}

TEST_WITH(mem_free_async_foreign_pointer_is_invalid, set_up, tear_down)
{
    char on_stack[256];
    char *on_heap = malloc(256), *memory = allocate(stream, 1000);
    void *pinned;
    assert_non_null(on_heap);
    assert_ok(cf_mem_alloc_pinned(&pinned, 100));
    assert_ok(cf_stream_sync(stream));
    assert_int_equal(cf_mem_free_async(stream, on_stack), CF_EINVAL);
    assert_int_equal(cf_mem_free_async(stream, on_heap), CF_EINVAL);
    assert_int_equal(cf_mem_free_async(stream, memory + 256), CF_EINVAL);
    assert_non_null(strstr(cf_last_error(), "cf_mem_free_async: "));
    if (on_cuda())
        assert_fails(cf_mem_free_async(stream, pinned), CF_EINVAL,
                     "is not from cf_mem_alloc_async() on the stream's kind of device");
    assert_ok(cf_mem_fill(memory, 1, 1000));
    assert_ok(cf_mem_free_async(stream, memory));
    assert_ok(cf_mem_free(pinned));
    free(on_heap);
}

/* The free waits for work in all streams, not only in the default stream. */
TEST_WITH(mem_free_of_a_pools_memory_waits, set_up, tear_down)
{
    size_t bytes = 32 << 20;
    unsigned char *read = malloc(bytes);
    assert_non_null(read);
    void *memory = allocate(stream, bytes);
    for (int i = 0; i < 10; i++)
        assert_ok(cf_mem_fill_async(stream, memory, (unsigned char)i, bytes));
    assert_ok(cf_mem_copy_async(stream, read, memory, bytes));
    assert_ok(cf_mem_free(memory));
    for (size_t i = 0; i < bytes; i++)
        if (read[i] != 9)
            fail_msg("byte %zu is %d", i, read[i]);
    assert_ok(cf_stream_query(stream));
    assert_int_equal(cf_mem_free(memory), CF_EINVAL);
    free(read);
}

static void *cross_devices(void *unused)
{
    void *on_gpu = NULL, *on_cpu = NULL;
    cf_stream of_gpu = NULL;
    (void)unused;
    if (cf_mem_alloc_async(NULL, &on_gpu, 100) != CF_OK || cf_stream_create(&of_gpu) != CF_OK ||
        cf_device_use(CF_HOST) != CF_OK || cf_mem_alloc_async(NULL, &on_cpu, 100) != CF_OK)
        return (void *)"no memory on both";
    if (cf_mem_free_async(NULL, on_gpu) != CF_EINVAL || cf_mem_free_async(of_gpu, on_cpu) != CF_EINVAL)
        return (void *)"memory is freed on another device's stream";
    if (cf_mem_trim(0) != CF_OK || cf_mem_free_async(of_gpu, on_gpu) != CF_OK || cf_mem_free(on_cpu) != CF_OK)
        return (void *)"it cannot be freed";
    if (cf_mem_alloc_async(of_gpu, &on_gpu, 100) != CF_OK || cf_mem_free(on_gpu) != CF_OK)
        return (void *)"a thread of the CPU cannot free memory of a GPU";
    return cf_stream_destroy(of_gpu) == CF_OK ? NULL : (void *)"the stream cannot be destroyed";
}

TEST_WITH(mem_alloc_async_two_devices_each_has_its_own, set_up, tear_down)
{
    run_beside_a_gpu(cross_devices);
}

/* Returns the number of errors. */
static void *churn(void *unused)
{
    intptr_t wrong = 0;
    (void)unused;
    for (int round = 0; round < 100; round++) {
        cf_stream own = NULL;
        uint64_t written = (uint64_t)(uintptr_t)&wrong + (uint64_t)round, read[4] = {0};
        void *memory[4] = {NULL};
        wrong += cf_stream_create(&own) != CF_OK;
        for (int i = 0; i < 4; i++) {
            wrong += cf_mem_alloc_async(own, &memory[i], 512) != CF_OK;
            wrong += cf_mem_copy_async(own, memory[i], &written, 8) != CF_OK;
        }
        for (int i = 0; i < 4; i++) {
            wrong += cf_mem_copy_async(own, &read[i], memory[i], 8) != CF_OK;
            wrong += cf_mem_free_async(own, memory[i]) != CF_OK;
        }
        wrong += cf_stream_sync(own) != CF_OK || cf_stream_destroy(own) != CF_OK;
        for (int i = 0; i < 4; i++)
            wrong += read[i] != written;
    }
    return (void *)wrong;
}

/* The threads also create the pool at the same time. */
TEST_WITH(mem_alloc_async_16_threads_at_once_are_apart, set_up, tear_down)
{
    enum { THREADS = 16 };
    run_threads(THREADS, churn);
}

/* ---- The pool in the played GPU ---- */

FAKE_TEST(mem_trim_gives_back_what_the_pool_keeps, "CF_DRIVER=cuda")
{
    const struct fake_counts *counts = fake_counts();
    assert_ok(cf_mem_trim(0)); /* there is no pool, and the call does not create one */
    assert_int_equal(counts->pool_create, 0);
    void *first = allocate(stream, 10000), *second = allocate(NULL, 20000);
    assert_int_equal(counts->pool_create, 1);
    assert_int_equal(counts->pool_used, 30000);
    assert_ok(cf_mem_free_async(stream, first));
    assert_ok(cf_stream_sync(stream));
    assert_ok(cf_device_sync());
    assert_int_equal(counts->pool_used, 20000);
    assert_int_equal(counts->pool_kept, 10000); /* a wait does not release the memory that the pool caches */
    assert_ok(cf_mem_free_async(NULL, second));
    assert_ok(cf_stream_sync(NULL));
    assert_int_equal(counts->pool_kept, 30000);
    assert_ok(cf_mem_free_async(stream, allocate(stream, 5000)));
    assert_ok(cf_stream_sync(stream));
    assert_int_equal(counts->pool_kept, 30000);
    assert_ok(cf_mem_trim(12345));
    assert_int_equal(counts->pool_kept, 12345);
    assert_ok(cf_mem_trim(0));
    assert_int_equal(counts->pool_kept, 0);
    assert_int_equal(counts->pool_create, 1);
}

static void *trim_on_second(void *unused)
{
    void *memory;
    (void)unused;
    return (void *)(intptr_t)(cf_device_use(1) != CF_OK || cf_mem_alloc_async(NULL, &memory, 700) != CF_OK ||
                              cf_mem_free_async(NULL, memory) != CF_OK || cf_stream_sync(NULL) != CF_OK ||
                              cf_mem_trim(0) != CF_OK);
}

/* The thread uses another GPU; the free waits for the device of the memory. */
FAKE_TEST(mem_free_of_another_gpus_pool_waits, "CF_DRIVER=cuda")
{
    cf_stream second;
    void *memory;
    assert_ok(cf_device_use(1));
    assert_ok(cf_stream_create(&second));
    memory = allocate(second, 1000);
    assert_ok(cf_device_use(0));
    assert_ok(cf_mem_fill_async(second, memory, 1, 1000));
    assert_ok(cf_mem_free(memory));
    assert_ok(cf_stream_destroy(second));
}

/* As in CUDA, memory may be freed in a stream of another device if that stream is ordered after the work that uses the
 * memory. */
FAKE_TEST(mem_free_async_on_a_stream_of_another_gpu, "CF_DRIVER=cuda")
{
    cf_stream second;
    cf_event filled;
    char host[100];
    need_two_gpus();
    assert_ok(cf_device_use(1));
    assert_ok(cf_stream_create(&second));
    assert_ok(cf_device_use(0));
    assert_ok(cf_event_create(&filled));
    for (int i = 0; i < 10; i++) {
        void *memory = allocate(stream, 1000);
        assert_ok(cf_mem_fill_async(stream, memory, (unsigned char)i, 1000));
        assert_ok(cf_mem_copy_async(stream, host, memory, sizeof host));
        assert_ok(cf_event_record(filled, stream));
        assert_ok(cf_stream_wait(second, filled));
        assert_ok(cf_mem_free_async(second, memory));
        assert_ok(cf_stream_sync(second));
        assert_int_equal(host[99], i);
    }
    assert_ok(cf_event_destroy(filled));
    assert_ok(cf_stream_destroy(second));
}

FAKE_TEST(mem_trim_is_of_the_threads_device, "CF_DRIVER=cuda")
{
    const struct fake_counts *counts = fake_counts();
    pthread_t thread;
    void *wrong;
    assert_ok(cf_mem_free_async(NULL, allocate(NULL, 900)));
    assert_ok(cf_stream_sync(NULL));
    assert_int_equal(pthread_create(&thread, NULL, trim_on_second, NULL), 0);
    assert_int_equal(pthread_join(thread, &wrong), 0);
    assert_null(wrong);
    assert_int_equal(counts->pool_create, 2);
    assert_int_equal(counts->pool_kept, 900);
}

FAKE_TEST(mem_alloc_of_what_the_pool_keeps_succeeds, "CF_DRIVER=cuda", "FAKE_CUDA=oom=1000000")
{
    void *memory;
    assert_ok(cf_mem_free_async(NULL, allocate(NULL, 900000)));
    assert_ok(cf_stream_sync(NULL));
    assert_ok(cf_mem_alloc(&memory, 800000));
    assert_ok(cf_mem_free(memory));
    assert_ok(cf_mem_free_async(NULL, allocate(NULL, 950000)));
    assert_fails(cf_mem_alloc_async(NULL, &memory, 1000001), CF_ENOMEM,
                 "cf_mem_alloc_async: 1000001 bytes: cuMemAllocFromPoolAsync returned 2 (CUDA_ERROR_OUT_OF_MEMORY");
}

FAKE_TEST(without_pools_memory_is_there_at_once, "CF_DRIVER=cuda", "FAKE_CUDA=pools=0")
{
    const struct fake_counts *counts = fake_counts();
    unsigned char data[100] = {1, 2, 3}, read[100] = {0};
    void *memory = allocate(stream, sizeof data);
    cf_graph graph;
    assert_ok(cf_mem_copy_async(stream, memory, data, sizeof data));
    assert_ok(cf_mem_copy_async(stream, read, memory, sizeof data));
    assert_ok(cf_mem_free_async(stream, memory));
    assert_memory_equal(read, data, sizeof data); /* cf_mem_free() waits for the copy */
    assert_ok(cf_mem_trim(0));
    assert_int_equal(counts->pool_create, 0);
    memory = allocate(stream, sizeof data);
    assert_ok(cf_stream_capture_begin(stream));
    assert_fails(cf_mem_free_async(stream, memory), CF_ENOTSUP, "cf_mem_free_async: 0x");
    assert_fails(cf_mem_alloc_async(stream, &(void *){NULL}, 10), CF_ENOTSUP, "cf_mem_alloc_async: 10 bytes: ");
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_mem_free_async(stream, memory));
}

/* Only here does the library find out that there are no pools, because nothing was allocated in stream order before. */
FAKE_TEST(without_pools_other_memory_is_freed_in_order, "CF_DRIVER=cuda", "FAKE_CUDA=pools=0")
{
    unsigned char data[100] = {1, 2, 3}, read[100] = {0};
    void *memory = NULL;
    assert_ok(cf_mem_alloc(&memory, sizeof data));
    assert_ok(cf_mem_copy_async(stream, memory, data, sizeof data));
    assert_ok(cf_mem_copy_async(stream, read, memory, sizeof data));
    assert_ok(cf_mem_free_async(stream, memory));
    assert_memory_equal(read, data, sizeof data);
    assert_int_equal(fake_counts()->free, 1);
}

/* ---- A driver that fails at the first use ---- */

static struct cf__driver real, wrapped;
static int fails_create, fails_set, fails_destroy, fails_device;

static CUresult create(CUmemoryPool *pool, const CUmemPoolProps *props)
{
    return fails_create ? CUDA_ERROR_UNKNOWN : real.cuMemPoolCreate(pool, props);
}

static CUresult set_attribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    return fails_set ? CUDA_ERROR_UNKNOWN : real.cuMemPoolSetAttribute(pool, attribute, value);
}

static CUresult get_device(CUdevice *device)
{
    return fails_device ? CUDA_ERROR_UNKNOWN : real.cuCtxGetDevice(device);
}

static CUresult destroy(CUmemoryPool pool)
{
    return fails_destroy ? CUDA_ERROR_UNKNOWN : real.cuMemPoolDestroy(pool);
}

__attribute__((visibility("default"))) const struct cf__driver *cf__driver_wrap(const struct cf__driver *driver)
{
    if (driver->is_cpu)
        return driver;
    real = wrapped = *driver;
    wrapped.cuMemPoolCreate = create;
    wrapped.cuMemPoolSetAttribute = set_attribute;
    wrapped.cuMemPoolDestroy = destroy;
    wrapped.cuCtxGetDevice = get_device;
    return &wrapped;
}

TEST_WITH(mem_alloc_async_without_a_pool_fails_and_next_works, set_up, tear_down)
{
    void *memory = &memory;
    need_any_gpu();
    fails_device = 1;
    assert_fails(cf_mem_alloc_async(stream, &memory, 10), CF_ECALL,
                 "cf_mem_alloc_async: 10 bytes: cuCtxGetDevice returned 999");
    fails_device = 0;
    fails_create = 1;
    assert_fails(cf_mem_alloc_async(stream, &memory, 10), CF_ECALL,
                 "cf_mem_alloc_async: 10 bytes: cuMemPoolCreate returned 999");
    fails_create = 0;
    fails_set = 1;
    assert_fails(cf_mem_alloc_async(stream, &memory, 10), CF_ECALL,
                 "cf_mem_alloc_async: 10 bytes: cuMemPoolSetAttribute returned 999");
    fails_set = 0;
    assert_ptr_equal(memory, &memory);
    assert_ok(cf_mem_free_async(stream, allocate(stream, 10)));
}

TEST_WITH(shutdown_reports_a_pool_that_stays, set_up, tear_down)
{
    need_any_gpu();
    assert_ok(cf_mem_free_async(stream, allocate(stream, 10)));
    assert_ok(cf_stream_destroy(stream));
    fails_destroy = 1;
    assert_fails(cf_shutdown(), CF_ECALL, "the memory pool of device 0: cuMemPoolDestroy returned 999");
    fails_destroy = 0;
    assert_ok(cf_shutdown());
    assert_ok(cf_stream_create(&stream));
}

int main(int argc, char *argv[])
{
    RUN_ALSO(mem_free_async_on_a_stream_of_another_gpu, "CF_DRIVER=cuda", "FAKE_CUDA=pools=0");
    return run_with_fake(argc, argv, set_up, tear_down);
}
