/* test_scratch_cache.c - scratch memory that streams keep: which launches use it, and how long it lives. */
#include "scratch_reporter.h"

#include <pthread.h>

/* ---- The kernel, and variants that leave both of their scratch arrays zero, or only one ---- */

static void leave_body(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    report_body(launch, begin, end);
    memset(*(void *const *)launch->args[WORK], 0, 4 * (size_t) * (const int64_t *)launch->args[N]);
    memset(*(void *const *)launch->args[MORE], 0, sizeof(int32_t[3]));
}

static cf_zero rezeros[] = {{.array = WORK, .is_rezeroed = 1}, {.array = MORE, .is_rezeroed = 1}};
static cf_kernel leave = {MADE_KERNEL("leave", image),
                          .nparams = PARAMS,
                          .params = params,
                          .launch = {.grid = {FIXED(1)}, .block = {FIXED(1)}},
                          .cpu_body = leave_body,
                          .nzeros = 2,
                          .zeros = rezeros};
static cf_kernel given;
static const cf_kernel *const kernels[] = {&leave, &report_kernel, &given};
static const cf_module module = {.version = CF_REGISTRY_VERSION, .prefix = "made", .count = 3, .kernels = kernels};

static int leave_zeros(cf_stream stream, struct report *there, int64_t n)
{
    void *const args[] = {NULL, &there, NULL, &n};
    return cf_launch(&leave, stream, args);
}

/* ---- Owners of the memory ---- */

FAKE_TEST(launches_of_a_stream_use_the_same_memory, "CF_DRIVER")
{
    const struct fake_counts *counts = fake_counts();
    struct report *there = make_report();
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    for (int i = 0; i < 5; i++)
        assert_ok(launch(stream, there, 1000));
    assert_ok(cf_stream_sync(stream));
    struct report report = read_report(there, 5);
    assert_int_equal(report.others, 0);
    assert_int_equal((uintptr_t)report.work % 256, 0);
    assert_int_equal(report.more - report.work, 4096); /* the arrays lie one after the other */
    assert_int_equal(counts->alloc_async, 1);
    assert_int_equal(counts->alloc_bytes, LEAST);
    assert_int_equal(counts->free_async, 0);
    assert_ok(cf_stream_destroy(stream));
    assert_int_equal(counts->free_async, 1);
    assert_int_equal(counts->pool_used, 0);
    assert_ok(cf_mem_free(there));
}

FAKE_TEST(streams_have_memory_of_their_own, "CF_DRIVER")
{
    enum { STREAMS = 4 };
    cf_stream streams[STREAMS] = {NULL};
    struct report *there[STREAMS], report[STREAMS];
    for (int s = 0; s < STREAMS; s++) {
        there[s] = make_report();
        if (s)
            assert_ok(cf_stream_create(&streams[s]));
    }
    for (int i = 0; i < 20; i++)
        assert_ok(launch(streams[i % STREAMS], there[i % STREAMS], 10));
    assert_ok(launch(CU_STREAM_LEGACY, there[0], 10)); /* names the same stream as NULL */
    assert_ok(cf_device_sync());
    for (int s = 0; s < STREAMS; s++) {
        report[s] = read_report(there[s], 5 + !s);
        assert_int_equal(report[s].others, 0);
        for (int other = 0; other < s; other++)
            assert_true(report[s].work >= report[other].work + LEAST || report[other].work >= report[s].work + LEAST);
        assert_ok(cf_mem_free(there[s]));
        assert_ok(cf_stream_destroy(streams[s]));
    }
    assert_int_equal(fake_counts()->alloc_async, STREAMS);
}

FAKE_TEST(devices_have_memory_of_their_own, "CF_DRIVER")
{
    struct report *there[2];
    for (int device = 0; device < 2; device++) {
        assert_ok(cf_device_use(device));
        there[device] = make_report();
    }
    for (int i = 0; i < 6; i++) {
        assert_ok(cf_device_use(i % 2));
        assert_ok(launch(NULL, there[i % 2], 10));
    }
    for (int device = 0; device < 2; device++) {
        assert_ok(cf_device_use(device));
        assert_int_equal(read_report(there[device], 3).others, 0);
        assert_ok(cf_mem_free(there[device]));
    }
    assert_int_equal(fake_counts()->alloc_async, 2);
}

FAKE_TEST(memory_grows_with_requests, "CF_DRIVER")
{
    static const int64_t bytes[] = {100, 16000, 16200, 100, 300000, CF__SCRATCH_BYTES - 4096, 16000, CF__SCRATCH_BYTES};
    static const int allocated[] = {1, 1, 2, 2, 3, 4, 4, 6}, freed[] = {0, 0, 1, 1, 2, 3, 3, 5};
    const struct fake_counts *counts = fake_counts();
    struct report *there = make_report();
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    for (int i = 0; i < 8; i++) {
        assert_ok(launch(stream, there, bytes[i] / 4));
        assert_int_equal(counts->alloc_async, allocated[i]); /* the last size is too large to be kept */
        assert_int_equal(counts->free_async, freed[i]);
    }
    assert_ok(cf_stream_sync(stream));
    (void)read_report(there, 8);
    assert_int_equal(counts->pool_used, CF__SCRATCH_BYTES);
    assert_ok(cf_mem_free(there));
    assert_ok(cf_stream_destroy(stream));
}

/* end_library_empty() checks that the memory is freed in the end. */
FAKE_TEST(memory_that_cannot_be_freed_is_freed_later, "CF_DRIVER")
{
    struct report *there = make_report();
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    assert_ok(launch(stream, there, 100));
    fails_free_async = 1;
    assert_fails(launch(stream, there, LEAST), CF_ECALL, ": scratch memory: cuMemFreeAsync returned 999");
    fails_free_async = 0;
    assert_ok(launch(stream, there, LEAST));
    assert_ok(cf_stream_sync(stream));
    (void)read_report(there, 2);
    assert_ok(cf_mem_free(there));
    assert_ok(cf_stream_destroy(stream));
}

/* A graph may run at the same time as the stream, and more than once. */
FAKE_TEST(captured_launches_have_memory_of_their_own, "CF_DRIVER")
{
    struct report *there = make_report(), *captured = make_report();
    cf_stream stream, other;
    cf_graph graph;
    cf_graph_exec exec;
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_stream_create(&other));
    assert_ok(launch(stream, there, 100));
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(launch(stream, captured, 100));
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    for (int i = 0; i < 3; i++) {
        assert_ok(cf_graph_launch(exec, other));
        assert_ok(launch(stream, there, 100));
    }
    assert_ok(cf_device_sync());
    struct report own = read_report(there, 4), of_graph = read_report(captured, 3);
    assert_int_equal(own.others, 0);
    assert_ptr_not_equal(own.work, of_graph.work);
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_stream_destroy(other));
    assert_ok(cf_mem_free(there));
    assert_ok(cf_mem_free(captured));
}

/* Clearing and launching are two driver calls; another thread's launch may come between them. */
FAKE_TEST(launch_that_comes_between_has_memory_of_its_own, "CF_DRIVER")
{
    struct report *there = make_report();
    cf_stream stream;
    report_between = make_report();
    assert_ok(cf_stream_create(&stream));
    for (int i = 0; i < 3; i++) {
        between = stream;
        assert_ok(launch(stream, there, 100));
    }
    assert_ok(cf_stream_sync(stream));
    struct report report = read_report(there, 3), other = read_report(report_between, 3);
    assert_int_equal(report.others, 0);
    assert_ptr_not_equal(report.work, other.work);
    assert_ok(cf_stream_destroy(stream));
    assert_int_equal(fake_counts()->pool_used, 0);
    assert_ok(cf_mem_free(there));
    assert_ok(cf_mem_free(report_between));
}

enum { THREADS = 64, ROUNDS = 20 };
struct worker {
    pthread_t thread;
    cf_stream stream;
    struct report *there;
    int failures;
};

static void *launch_often(void *of_worker)
{
    struct worker *worker = of_worker;
    for (int i = 0; i < ROUNDS; i++)
        worker->failures += launch(worker->stream, worker->there, 64 + i % 3 * 8000) != CF_OK;
    return NULL;
}

static void run_workers(struct worker workers[THREADS])
{
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, launch_often, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(workers[i].failures, 0);
    }
}

/* Every second thread has a stream of its own. */
FAKE_TEST(threads_find_zeros, "CF_DRIVER")
{
    static struct worker workers[THREADS];
    struct report *there = make_report();
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    assert_ok(launch(stream, there, 8));
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.stream = stream, .there = there};
        if (i % 2) {
            assert_ok(cf_stream_create(&workers[i].stream));
            workers[i].there = make_report();
        }
    }
    run_workers(workers);
    assert_ok(cf_device_sync());
    (void)read_report(there, THREADS / 2 * ROUNDS + 1);
    for (int i = 1; i < THREADS; i += 2) {
        (void)read_report(workers[i].there, ROUNDS);
        assert_ok(cf_stream_destroy(workers[i].stream));
        assert_ok(cf_mem_free(workers[i].there));
    }
    assert_ok(cf_stream_destroy(stream));
    assert_int_equal(fake_counts()->pool_used, 0);
    assert_ok(cf_mem_free(there));
}

/* ---- An operation cannot use the stream's memory if its kernels do ---- */

static int twice_body(cf_stream stream, void *const args[])
{
    struct report *there = *(struct report *const *)args[REPORT];
    const int64_t n = *(const int64_t *)args[N];
    int status = launch(stream, there, n);
    return status == CF_OK ? launch(stream, there, n) : status;
}

static const cf_kernel *const used[] = {&report_kernel};
static const cf_kernel twice = {MADE_KERNEL("twice", image), .nparams = PARAMS, .params = params,
                                .enqueue = twice_body,       .nuses = 1,        .uses = used,
                                .runtime = cf_launch};

/* Runs an operation of two launches three times; the launches record their scratch memory. */
static struct report *launch_thrice(const cf_kernel *operation)
{
    struct report *there = make_report();
    int64_t n = 100;
    void *const args[] = {NULL, &there, NULL, &n};
    for (int i = 0; i < 3; i++)
        assert_ok(cf_launch(operation, NULL, args));
    assert_int_equal(read_report(there, 6).others, 0);
    return there;
}

FAKE_TEST(operations_have_memory_of_their_own, "CF_DRIVER")
{
    const struct fake_counts *counts = fake_counts();
    struct report *there = launch_thrice(&twice);
    assert_int_equal(counts->alloc_async, 2 * 3 + 1);
    assert_int_equal(counts->free_async, 2 * 3);
    assert_ok(cf_mem_free(there));
}

/* Kernels that get the operation's scratch memory and leave it zero. */
#define INTS_INOUT(param_name, extent)                                                                       \
    {                                                                                                        \
        .name = param_name, .ctype = "int *", .type = CF_I32, .direction = CF_INOUT, .lanes = 1, .bytes = 4, \
        .align = 4, .ndims = 1, .extents = &(extent)                                                         \
    }
static const cf_param given_params[] = {
    INTS_INOUT("work", n_elements),
    STRUCT_INOUT("report", struct report, one),
    INTS_INOUT("more", three),
    VALUE("n", int64_t, CF_I64),
};
static cf_kernel given = {MADE_KERNEL("given", image), .nparams = PARAMS, .params = given_params,
                          .launch = {.grid = {FIXED(1)}, .block = {FIXED(1)}}, .cpu_body = leave_body};

static int give_twice_body(cf_stream stream, void *const args[])
{
    int status = cf_launch(&given, stream, args);
    return status == CF_OK ? cf_launch(&given, stream, args) : status;
}

static const cf_kernel *const given_to[] = {&given};
static const cf_kernel give_twice = {MADE_KERNEL("give_twice", image),
                                     .nparams = PARAMS,
                                     .params = params,
                                     .enqueue = give_twice_body,
                                     .nuses = 1,
                                     .uses = given_to,
                                     .runtime = cf_launch,
                                     .nzeros = 2,
                                     .zeros = rezeros};

FAKE_TEST(operations_whose_kernels_need_none_use_the_streams_memory, "CF_DRIVER")
{
    const struct fake_counts *counts = fake_counts();
    struct report *there = launch_thrice(&give_twice);
    assert_int_equal(counts->alloc_async, 1);
    assert_int_equal(counts->fill, 1);
    assert_ok(leave_zeros(NULL, there, 100)); /* the next kernel must find zeros */
    assert_int_equal(read_report(there, 7).others, 0);
    assert_int_equal(counts->alloc_async, 1);
    assert_int_equal(counts->fill, 1);
    assert_ok(cf_mem_free(there));
}

/* ---- Kernels that leave their scratch memory zero ---- */

FAKE_TEST(memory_that_is_left_zero_is_cleared_once, "CF_DRIVER")
{
    const struct fake_counts *counts = fake_counts();
    struct report *there = make_report();
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    for (int i = 0; i < 5; i++)
        assert_ok(leave_zeros(stream, there, i == 3 ? 3000 : 100));
    assert_int_equal(counts->fill, 1);
    assert_int_equal(counts->fill_bytes, LEAST); /* clears the memory that later, larger launches may use, too */
    assert_ok(launch(stream, there, 100));       /* clears both arrays; the kernel leaves neither of them zero */
    assert_int_equal(counts->fill, 3);
    for (int i = 0; i < 3; i++)
        assert_ok(leave_zeros(stream, there, 100));
    assert_int_equal(counts->fill, 4);
    for (int i = 0; i < 3; i++)
        assert_ok(leave_zeros(stream, there, 10000)); /* this launch needs more memory */
    assert_int_equal(counts->fill, 5);
    assert_int_equal(counts->fill_bytes, 65536);
    assert_ok(cf_stream_sync(stream));
    (void)read_report(there, 12);
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(there));
}

FAKE_TEST(memory_of_which_a_part_is_left_zero_is_cleared_each_time, "CF_DRIVER")
{
    const struct fake_counts *counts = fake_counts();
    struct report *there = make_report();
    rezeros[1].is_rezeroed = 0;
    for (int i = 0; i < 3; i++)
        assert_ok(leave_zeros(NULL, there, 100));
    assert_int_equal(counts->fill, 6);
    (void)read_report(there, 3);
    assert_ok(cf_mem_free(there));
}

/* After a launch that failed, the contents of the memory are unknown. */
FAKE_TEST(memory_of_a_launch_that_failed_is_cleared_again, "CF_DRIVER", "FAKE_CUDA=resident=8")
{
    const struct fake_counts *counts = fake_counts();
    struct report *there = make_report();
    assert_ok(leave_zeros(NULL, there, 100));
    leave.launch.is_cooperative = 1;
    leave.launch.grid[0] = (cf_expr)FIXED(9);
    assert_fails(leave_zeros(NULL, there, 100), CF_EINVAL, "made_leave_async: its grid of 9 blocks does not fit");
    assert_int_equal(counts->fill, 1);
    leave.launch.is_cooperative = 0;
    leave.launch.grid[0] = (cf_expr)FIXED(1);
    assert_ok(leave_zeros(NULL, there, 100));
    assert_ok(leave_zeros(NULL, there, 100));
    assert_int_equal(counts->fill, 2);
    (void)read_report(there, 3);
    assert_ok(cf_mem_free(there));
}

FAKE_TEST(memory_of_a_graph_is_cleared_in_each_run, "CF_DRIVER")
{
    struct report *there = make_report();
    cf_stream stream;
    cf_graph graph;
    cf_graph_exec exec;
    assert_ok(cf_stream_create(&stream));
    assert_ok(leave_zeros(stream, there, 100));
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(leave_zeros(stream, there, 100));
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    for (int i = 0; i < 3; i++) {
        assert_ok(cf_graph_launch(exec, stream));
        assert_ok(leave_zeros(stream, there, 100));
    }
    assert_ok(cf_stream_sync(stream));
    (void)read_report(there, 7);
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(there));
}

/* ---- Streams that keep no memory ---- */

FAKE_TEST(streams_of_others_get_memory_of_the_pool, "CF_DRIVER")
{
    begin_other();
    const struct fake_counts *counts = fake_counts();
    struct report *there = make_report();
    for (int i = 0; i < 2 * CF__SCRATCH_STREAMS; i++) {
        cf_stream stream = make_stream();
        assert_ok(launch(stream, there, 100));
        assert_ok(leave_zeros(stream, there, 100));
        destroy_stream(stream);
        assert_int_equal(counts->alloc_async, 4 * (i + 1));
        assert_int_equal(counts->free_async, 4 * (i + 1));
        assert_int_equal(counts->pool_used, 0);
    }
    (void)read_report(there, 4 * CF__SCRATCH_STREAMS);
    assert_ok(cf_mem_free(there));
    end_other();
}

/* Only a limited number of streams keep memory. */
FAKE_TEST(streams_beyond_the_first_get_memory_of_the_pool, "CF_DRIVER")
{
    const struct fake_counts *counts = fake_counts();
    cf_stream streams[CF__SCRATCH_STREAMS + 1];
    struct report *there = make_report();
    for (int i = 0; i <= CF__SCRATCH_STREAMS; i++) {
        assert_ok(cf_stream_create(&streams[i]));
        assert_ok(launch(streams[i], there, 100));
        assert_ok(cf_stream_sync(streams[i]));
    }
    assert_int_equal(counts->pool_used, CF__SCRATCH_STREAMS * LEAST);
    assert_ok(cf_stream_destroy(streams[0]));
    assert_int_equal(counts->pool_used, (CF__SCRATCH_STREAMS - 1) * LEAST);
    assert_ok(launch(streams[CF__SCRATCH_STREAMS], there, 100));
    assert_ok(cf_stream_sync(streams[CF__SCRATCH_STREAMS]));
    assert_int_equal(counts->pool_used, CF__SCRATCH_STREAMS * LEAST);
    (void)read_report(there, CF__SCRATCH_STREAMS + 2);
    for (int i = 1; i <= CF__SCRATCH_STREAMS; i++)
        assert_ok(cf_stream_destroy(streams[i]));
    assert_int_equal(counts->pool_used, 0);
    assert_ok(cf_mem_free(there));
}

/* ---- Launches that do not use the stream's memory ---- */

FAKE_TEST(checked_launches_have_memory_of_their_own, "CF_DRIVER", "CF_CHECK=1")
{
    const struct fake_counts *counts = fake_counts();
    struct report *there = make_report();
    for (int i = 0; i < 3; i++)
        assert_ok(launch(NULL, there, 100));
    (void)read_report(there, 3);
    assert_int_equal(counts->alloc_async, 6);
    assert_int_equal(counts->free_async, 6);
    assert_ok(cf_mem_free(there));
}

FAKE_TEST(forked_child_leaves_it_alone, "CF_DRIVER")
{
    struct report *there = make_report(), of_child = {0, 0, NULL, NULL, 0};
    int status = -1;
    assert_ok(launch(NULL, there, 100));
    pid_t child = fork_flushed();
    assert_true(child >= 0);
    if (child == 0) {
        int is_right = launch(NULL, there, 100) == CF_EFORK && cf_device_use(CF_HOST) == CF_OK &&
                       launch(NULL, &of_child, 100) == CF_OK && of_child.launches == 1 && cf_shutdown() == CF_OK;
        _exit(is_right ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_ok(launch(NULL, there, 100));
    assert_int_equal(read_report(there, 2).others, 0);
    assert_ok(cf_mem_free(there));
}

/* On the CPU, launches of several threads run at the same time, even in the same stream. */
FAKE_TEST(launches_on_the_cpu_have_memory_of_their_own, "CF_DRIVER=host")
{
    static struct report report[THREADS];
    struct worker workers[THREADS];
    for (int i = 0; i < THREADS; i++)
        workers[i] = (struct worker){.there = &report[i]};
    run_workers(workers);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(report[i].nonzero, 0);
        assert_int_equal(report[i].launches, ROUNDS);
    }
}

int main(int argc, char *argv[])
{
    make_image(&image, 7);
    return run_made(argc, argv, &module, NULL, end_library_empty);
}
