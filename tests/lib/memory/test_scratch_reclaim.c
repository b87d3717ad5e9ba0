/* test_scratch_reclaim.c - scratch memory of streams is freed when the stream, the context or the library ends, and
 * when memory runs short. The library frees no memory of others. */
#include "scratch_reporter.h"

static const cf_kernel *const kernels[] = {&report_kernel};
static const cf_module module = {.version = CF_REGISTRY_VERSION, .prefix = "made", .count = 1, .kernels = kernels};

/* ---- Contexts that are destroyed ---- */

/* Memory of a pool outlives its context; it is freed once there is a new context. */
FAKE_TEST(reset_leaves_memory_that_is_given_back, "CF_DRIVER")
{
    const struct fake_counts *counts = fake_counts();
    struct report *there = make_report();
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    assert_ok(launch(NULL, there, 100));
    assert_ok(launch(stream, there, 100));
    assert_ok(cf_device_reset(0));
    assert_int_equal(counts->free, 2);
    there = make_report();
    for (int i = 0; i < 2; i++)
        assert_ok(launch(NULL, there, 100));
    assert_int_equal(read_report(there, 2).others, 0);
    assert_ok(cf_device_reset(0));
    assert_int_equal(counts->free, 3);
}

/* After memory was destroyed with its context, the application may allocate memory at the same addresses. Expects that
 * the library does not free that memory. */
static void expect_own_memory_alone_is_freed(void)
{
    enum { MANY = 64 };
    const struct fake_counts *counts = fake_counts();
    void *own[MANY];
    char host[LEAST];
    for (int i = 0; i < MANY; i++) {
        assert_ok(cf_mem_alloc(&own[i], LEAST));
        assert_ok(cf_mem_fill(own[i], (unsigned char)i, LEAST));
    }
    const int before = counts->free;
    assert_ok(cf_mem_trim(0));
    assert_int_equal(counts->free, before);
    for (int i = 0; i < MANY; i++) {
        assert_ok(cf_mem_copy(host, own[i], LEAST));
        assert_int_equal(host[LEAST - 1], i);
        assert_ok(cf_mem_free(own[i]));
    }
}

FAKE_TEST(reset_without_pools_leaves_nothing, "CF_DRIVER", "FAKE_CUDA=pools=0")
{
    struct report *there = make_report();
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    assert_ok(launch(NULL, there, 100));
    assert_ok(launch(stream, there, 100));
    assert_ok(cf_device_reset(0));
    expect_own_memory_alone_is_freed();
}

FAKE_TEST(reset_after_a_fault_leaves_nothing, "CF_DRIVER=cuda", "FAKE_CUDA=reset=1")
{
    static struct report out_of_reach;
    struct report *there = make_report();
    assert_ok(launch(NULL, there, 100));
    assert_ok(launch(NULL, &out_of_reach, 100));
    assert_int_equal(cf_device_sync(), CF_EFAULT);
    assert_ok(cf_device_reset(0));
    expect_own_memory_alone_is_freed();
}

FAKE_TEST(context_that_others_reset_after_a_fault_leaves_nothing, "CF_DRIVER=cuda", "FAKE_CUDA=reset=1")
{
    static struct report out_of_reach;
    struct report *there = make_report();
    assert_ok(launch(NULL, there, 100));
    assert_ok(launch(NULL, &out_of_reach, 100));
    assert_int_equal(cf_device_sync(), CF_EFAULT);
    assert_int_equal(other_library()->cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
    expect_own_memory_alone_is_freed();
}

FAKE_TEST(contexts_that_others_destroy_leave_little, "CF_DRIVER")
{
    const struct fake_counts *counts = fake_counts();
    const struct cf__driver *driver = other_library();
    CUcontext context, popped;
    struct report *there;
    for (int i = 0; i < 3 * CF__SCRATCH_STREAMS; i++) {
        assert_int_equal(context_create(&context, 0, 0), CUDA_SUCCESS);
        there = make_report();
        assert_ok(launch(NULL, there, 100));
        (void)read_report(there, 1);
        assert_ok(cf_mem_free(there));
        assert_int_equal(driver->cuCtxPopCurrent(&popped), CUDA_SUCCESS);
        assert_int_equal(context_destroy(context), CUDA_SUCCESS);
        assert_in_range(counts->pool_used, LEAST, CF__SCRATCH_STREAMS * LEAST);
    }
    there = make_report();
    for (int i = 0; i < 4; i++)
        assert_ok(launch(NULL, there, 100));
    assert_in_range(read_report(there, 4).others, 0, 1);
    assert_ok(cf_device_sync());
    assert_ok(cf_mem_trim(0));
    assert_int_equal(counts->pool_used + counts->pool_kept, 0);
    assert_ok(cf_mem_free(there));
}

/* ---- Memory that is short ---- */

FAKE_TEST(trim_takes_what_is_known_to_be_done, "CF_DRIVER")
{
    const struct fake_counts *counts = fake_counts();
    struct report *there = make_report();
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    assert_ok(launch(NULL, there, 100));
    assert_ok(launch(stream, there, 100));
    assert_int_equal(counts->pool_used, 2 * LEAST);
    assert_ok(cf_mem_trim(0)); /* frees the memory of the default stream, which is idle after the wait */
    assert_ok(cf_stream_sync(NULL));
    assert_int_equal(counts->pool_used, LEAST);
    assert_ok(cf_device_sync());
    assert_ok(launch(stream, there, 100)); /* the memory may be in use again */
    assert_ok(cf_mem_trim(0));
    assert_ok(cf_stream_sync(NULL));
    assert_int_equal(counts->pool_used, LEAST);
    assert_ok(cf_device_sync());
    assert_ok(cf_mem_trim(0));
    assert_ok(cf_stream_sync(NULL));
    assert_int_equal(counts->pool_used, 0);
    (void)read_report(there, 3);
    assert_ok(launch(stream, there, 100));
    assert_ok(cf_stream_sync(stream));
    (void)read_report(there, 4);
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(there));
}

FAKE_TEST(memory_that_is_short_is_not_kept, "CF_DRIVER", "FAKE_CUDA=oom=65536")
{
    struct report *there = make_report();
    void *large = NULL;
    assert_ok(launch(NULL, there, 100));
    assert_ok(cf_device_sync());
    assert_ok(cf_mem_alloc(&large, 60000)); /* of 65536 bytes */
    assert_ok(launch(NULL, there, 100));    /* there is just enough memory for this launch */
    assert_int_equal(launch(NULL, there, 3000), CF_ENOMEM);
    assert_string_equal(cf_last_error(), "made_report_async: 12000 bytes for work: cuMemAllocFromPoolAsync returned 2 "
                                         "(CUDA_ERROR_OUT_OF_MEMORY, out of memory)");
    assert_ok(cf_stream_sync(NULL));
    (void)read_report(there, 2);
    assert_ok(cf_mem_free(large));
    assert_ok(cf_mem_free(there));
}

/* ---- Streams that are destroyed ---- */

/* Without pools, freeing memory waits for the stream; destroying a stream must not wait. */
FAKE_TEST(devices_without_pools_allocate_once, "CF_DRIVER", "FAKE_CUDA=pools=0")
{
    const struct fake_counts *counts = fake_counts();
    struct report *there = make_report();
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    const int before = counts->alloc;
    for (int i = 0; i < 3; i++)
        assert_ok(launch(stream, there, 100));
    assert_int_equal(counts->alloc, before + 1);
    assert_int_equal(counts->free, 0);
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_trim(0));
    assert_int_equal(counts->free, 0); /* the stream may still be running */
    assert_ok(cf_device_sync());
    assert_ok(cf_mem_trim(0));
    assert_int_equal(counts->free, 1);
    (void)read_report(there, 3);
    assert_ok(cf_mem_free(there));
}

/* The memory is idle; its stream is destroyed while another thread trims. */
FAKE_TEST(trim_leaves_what_is_being_freed, "CF_DRIVER")
{
    struct report *there = make_report();
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    assert_ok(launch(stream, there, 100));
    assert_ok(cf_device_sync());
    trims_in_free = 1;
    assert_ok(cf_stream_destroy(stream));
    assert_int_equal(trims_in_free, 0);
    assert_int_equal(freed_by_trim, 0);
    (void)read_report(there, 1);
    assert_ok(cf_mem_free(there));
}

/* ---- Shutdown ---- */

FAKE_TEST(shutdown_waits_for_who_uses_it, "CF_DRIVER")
{
    begin_other();
    struct report *there = make_report(), report;
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    for (int i = 0; i < 3; i++)
        assert_ok(launch(stream, there, 100));
    const int freed = fake_counts()->free;
    assert_ok(cf_shutdown());
    assert_int_equal(fake_counts()->free, freed + 1);
    assert_int_equal(fake_counts()->pool_used, 0);
    assert_ok(cf_mem_copy(&report, there, sizeof report));
    assert_int_equal(report.launches, 3);
    assert_int_equal(report.nonzero, 0);
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(there));
    end_other();
}

/* The memory of the default stream is freed in stream order. */
FAKE_TEST(shutdown_does_not_wait_for_the_default_stream, "CF_DRIVER")
{
    begin_other();
    struct report *there = make_report();
    assert_ok(launch(NULL, there, 100));
    const int freed = fake_counts()->free_async;
    context_waits = 0;
    assert_ok(cf_shutdown());
    assert_int_equal(context_waits, 0);
    assert_int_equal(fake_counts()->free_async, freed + 1);
    (void)read_report(there, 1);
    assert_ok(cf_mem_free(there));
    end_other();
}

int main(int argc, char *argv[])
{
    make_image(&image, 7);
    return run_made(argc, argv, &module, NULL, end_library_empty);
}
