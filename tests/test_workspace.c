/* test_workspace.c - scratch memory that the launches on a stream have at hand: whose it is, how long, and that there is
 * an end of it. */
#include "on_made.h"

#include <pthread.h>

#include "place.h"

/* ---- A kernel that says which memory it got, and what of it was not 0 ---- */

enum { WORK, TOLD, MORE, N, PARAMS };
enum { MOST = 128, QUIET = 64, LEAST = 16384, LARGEST = 1 << 20 }; /* as lib/workspace.c has them */

struct told {
    int64_t launches, nonzero;
    char *work, *more;
    int64_t others; /* launches that got other memory than the one before */
};

static const cf_expr n_elements = NUMBER("n", N), one = FIXED(1), three = FIXED(3);

static const cf_param params[] = {
    SCRATCH_INTS("work", n_elements),
    STRUCT_INOUT("told", struct told, one),
    SCRATCH_INTS("more", three),
    VALUE("n", int64_t, CF_I64),
};

static void tell_body(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    int32_t *work = *(int32_t *const *)launch->args[WORK], *more = *(int32_t *const *)launch->args[MORE];
    struct told *told = *(struct told *const *)launch->args[TOLD];
    const int64_t n = *(const int64_t *)launch->args[N];
    (void)begin, (void)end;
    for (int64_t i = 0; i < n; i++)
        told->nonzero += work[i] != 0;
    for (int i = 0; i < 3; i++)
        told->nonzero += more[i] != 0;
    memset(work, 0x5a, 4 * (size_t)n);
    memset(more, 0x5a, sizeof(int32_t[3]));
    told->others += told->launches && told->work != (char *)work;
    told->launches++;
    told->work = (char *)work;
    told->more = (char *)more;
}

static struct made_image image;
static const cf_zero zeros[] = {{.array = WORK}, {.array = MORE}};
static cf_kernel tell = {MADE_KERNEL("tell", image),
                         .nparams = PARAMS,
                         .params = params,
                         .launch = {.grid = {FIXED(1)}, .block = {FIXED(1)}},
                         .host = tell_body,
                         .nzeros = 2,
                         .zeros = zeros};

/* The same, and sets to 0 again what it has used: of both arrays, or of one. */
static void leave_body(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    tell_body(launch, begin, end);
    memset(*(void *const *)launch->args[WORK], 0, 4 * (size_t) * (const int64_t *)launch->args[N]);
    memset(*(void *const *)launch->args[MORE], 0, sizeof(int32_t[3]));
}

static cf_zero rezeros[] = {{.array = WORK, .is_rezeroed = 1}, {.array = MORE, .is_rezeroed = 1}};
static cf_kernel leave = {MADE_KERNEL("leave", image),
                          .nparams = PARAMS,
                          .params = params,
                          .launch = {.grid = {FIXED(1)}, .block = {FIXED(1)}},
                          .host = leave_body,
                          .nzeros = 2,
                          .zeros = rezeros};
static const cf_kernel *const kernels[] = {&leave, &tell};
static const cf_module module = {
    .size = sizeof module, .version = CF_REGISTRY_VERSION, .prefix = "made", .count = 2, .kernels = kernels};

static int tear_down(void **state)
{
    (void)state;
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    return 0;
}

static int launch(cf_stream stream, struct told *there, int64_t n)
{
    void *const args[] = {NULL, &there, NULL, &n};
    return cf_launch(&tell, stream, args);
}

/* ---- A driver that does not answer, or lets another launch come between the calls of one ---- */

static const struct cf__driver *real;
static int is_slow;       /* no event is done */
static cf_stream between; /* launched on when memory is cleared; NULL: nothing is */
static struct told *told_between;

static CUresult query_event(CUevent event)
{
    return is_slow ? CUDA_ERROR_NOT_READY : real->cuEventQuery(event);
}

static CUresult clear_memory(CUdeviceptr target, unsigned char value, size_t bytes, CUstream stream)
{
    CUresult result = real->cuMemsetD8Async(target, value, bytes, stream);
    cf_stream other = between;
    if (other) {
        between = NULL;
        assert_ok(launch(other, told_between, 100));
    }
    return result;
}

const struct cf__driver *cf__driver_wrap(const struct cf__driver *driver)
{
    static struct cf__driver wrapped;
    if (driver->is_host)
        return driver;
    real = driver;
    wrapped = *driver;
    wrapped.cuEventQuery = query_event;
    wrapped.cuMemsetD8Async = clear_memory;
    return &wrapped;
}

static int leave_zeros(cf_stream stream, struct told *there, int64_t n)
{
    void *const args[] = {NULL, &there, NULL, &n};
    return cf_launch(&leave, stream, args);
}

static struct told *make_told(void)
{
    const struct told none = {0, 0, NULL, NULL, 0};
    return upload(&none, sizeof none);
}

static struct told told_by(struct told *there, int64_t launches)
{
    struct told told;
    assert_ok(cf_mem_copy(&told, there, sizeof told));
    assert_int_equal(told.launches, launches);
    assert_int_equal(told.nonzero, 0);
    return told;
}

/* Another library in the process: the primary context is current, and its streams are no concern of ours. */
static void begin_other(void)
{
    CUcontext context;
    assert_int_equal(other_library()->cuInit(0), CUDA_SUCCESS);
    assert_int_equal(other_library()->cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    assert_int_equal(other_library()->cuCtxPushCurrent(context), CUDA_SUCCESS);
}

static void end_other(void)
{
    CUcontext context;
    assert_ok(cf_shutdown()); /* the context goes with this library */
    assert_int_equal(other_library()->cuCtxPopCurrent(&context), CUDA_SUCCESS);
    assert_int_equal(other_library()->cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

static cf_stream make_stream(void)
{
    CUstream stream;
    assert_int_equal(other_library()->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    return stream;
}

static void destroy_stream(cf_stream stream)
{
    assert_int_equal(other_library()->cuStreamDestroy(stream), CUDA_SUCCESS);
}

/* ---- Whose it is ---- */

static void launches_of_a_stream_use_the_same_memory(void **state)
{
    (void)state;
    const struct fake_counts *counts = fake_counts();
    struct told *there = make_told();
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    for (int i = 0; i < 5; i++)
        assert_ok(launch(stream, there, 1000));
    assert_ok(cf_stream_sync(stream));
    struct told told = told_by(there, 5);
    assert_int_equal(told.others, 0);
    assert_int_equal((uintptr_t)told.work % 256, 0);
    assert_int_equal(told.more - told.work, 4096); /* arrays lie in it one behind the other */
    assert_int_equal(counts->alloc_async, 1);
    assert_int_equal(counts->alloc_bytes, LEAST);
    assert_int_equal(counts->free_async, 0);
    assert_ok(cf_stream_destroy(stream));
    assert_int_equal(counts->free_async, 1);
    assert_int_equal(counts->pool_used, 0);
    assert_ok(cf_mem_free(there));
}

static void streams_have_memory_of_their_own(void **state)
{
    (void)state;
    enum { STREAMS = 4 };
    cf_stream streams[STREAMS] = {NULL};
    struct told *there[STREAMS], told[STREAMS];
    for (int s = 0; s < STREAMS; s++) {
        there[s] = make_told();
        if (s)
            assert_ok(cf_stream_create(&streams[s]));
    }
    for (int i = 0; i < 20; i++)
        assert_ok(launch(streams[i % STREAMS], there[i % STREAMS], 10));
    assert_ok(launch(CU_STREAM_LEGACY, there[0], 10)); /* is the one that NULL stands for */
    assert_ok(cf_device_sync());
    for (int s = 0; s < STREAMS; s++) {
        told[s] = told_by(there[s], 5 + !s);
        assert_int_equal(told[s].others, 0);
        for (int other = 0; other < s; other++)
            assert_true(told[s].work >= told[other].work + LEAST || told[other].work >= told[s].work + LEAST);
        assert_ok(cf_mem_free(there[s]));
        assert_ok(cf_stream_destroy(streams[s]));
    }
    assert_int_equal(fake_counts()->alloc_async, STREAMS);
}

static void devices_have_memory_of_their_own(void **state)
{
    (void)state;
    struct told *there[2];
    for (int device = 0; device < 2; device++) {
        assert_ok(cf_device_use(device));
        there[device] = make_told();
    }
    for (int i = 0; i < 6; i++) {
        assert_ok(cf_device_use(i % 2));
        assert_ok(launch(NULL, there[i % 2], 10));
    }
    for (int device = 0; device < 2; device++) {
        assert_ok(cf_device_use(device));
        assert_int_equal(told_by(there[device], 3).others, 0);
        assert_ok(cf_mem_free(there[device]));
    }
    assert_int_equal(fake_counts()->alloc_async, 2);
}

static void memory_grows_with_what_is_asked_for(void **state)
{
    (void)state;
    static const int64_t bytes[] = {100, 16000, 16200, 100, 300000, LARGEST - 4096, 16000, LARGEST};
    static const int allocated[] = {1, 1, 2, 2, 3, 4, 4, 6}, freed[] = {0, 0, 1, 1, 2, 3, 3, 5};
    const struct fake_counts *counts = fake_counts();
    struct told *there = make_told();
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    for (int i = 0; i < 8; i++) {
        assert_ok(launch(stream, there, bytes[i] / 4));
        assert_int_equal(counts->alloc_async, allocated[i]); /* the last one has more than is kept: an array each */
        assert_int_equal(counts->free_async, freed[i]);
    }
    assert_ok(cf_stream_sync(stream));
    (void)told_by(there, 8);
    assert_int_equal(counts->pool_used, LARGEST);
    assert_ok(cf_mem_free(there));
    assert_ok(cf_stream_destroy(stream));
}

/* A graph may run beside the stream, and more than once. */
static void captured_launches_have_memory_of_their_own(void **state)
{
    (void)state;
    struct told *there = make_told(), *captured = make_told();
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
    struct told own = told_by(there, 4), of_graph = told_by(captured, 3);
    assert_int_equal(own.others, 0);
    assert_ptr_not_equal(own.work, of_graph.work);
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_stream_destroy(other));
    assert_ok(cf_mem_free(there));
    assert_ok(cf_mem_free(captured));
}

/* Clearing and launching are two steps, which those of another thread may come between. */
static void launch_that_comes_between_has_memory_of_its_own(void **state)
{
    (void)state;
    struct told *there = make_told();
    cf_stream stream;
    told_between = make_told();
    assert_ok(cf_stream_create(&stream));
    for (int i = 0; i < 3; i++) {
        between = stream;
        assert_ok(launch(stream, there, 100));
    }
    assert_ok(cf_stream_sync(stream));
    struct told told = told_by(there, 3), other = told_by(told_between, 3);
    assert_int_equal(told.others, 0);
    assert_ptr_not_equal(told.work, other.work);
    assert_ok(cf_stream_destroy(stream));
    assert_int_equal(fake_counts()->pool_used, 0);
    assert_ok(cf_mem_free(there));
    assert_ok(cf_mem_free(told_between));
}

enum { THREADS = 64, ROUNDS = 20 };
struct worker {
    pthread_t thread;
    cf_stream stream;
    struct told *there;
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

/* Every other thread has a stream of its own. */
static void threads_find_zeros(void **state)
{
    (void)state;
    static struct worker workers[THREADS];
    struct told *there = make_told();
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    assert_ok(launch(stream, there, 8));
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.stream = stream, .there = there};
        if (i % 2) {
            assert_ok(cf_stream_create(&workers[i].stream));
            workers[i].there = make_told();
        }
    }
    run_workers(workers);
    assert_ok(cf_device_sync());
    (void)told_by(there, THREADS / 2 * ROUNDS + 1);
    for (int i = 1; i < THREADS; i += 2) {
        (void)told_by(workers[i].there, ROUNDS);
        assert_ok(cf_stream_destroy(workers[i].stream));
        assert_ok(cf_mem_free(workers[i].there));
    }
    assert_ok(cf_stream_destroy(stream));
    assert_int_equal(fake_counts()->pool_used, 0);
    assert_ok(cf_mem_free(there));
}

/* ---- Operations: their kernels use the stream's memory, so that they cannot ---- */

static int twice_body(cf_stream stream, void *const args[])
{
    struct told *there = *(struct told *const *)args[TOLD];
    const int64_t n = *(const int64_t *)args[N];
    int status = launch(stream, there, n);
    return status == CF_OK ? launch(stream, there, n) : status;
}

static const cf_kernel *const used[] = {&tell};
static const cf_kernel twice = {MADE_KERNEL("twice", image), .nparams = PARAMS, .params = params,
                                .enqueue = twice_body,       .nuses = 1,        .uses = used,
                                .runtime = cf_launch};

static void operations_have_memory_of_their_own(void **state)
{
    (void)state;
    const struct fake_counts *counts = fake_counts();
    struct told *there = make_told();
    int64_t n = 100;
    void *const args[] = {NULL, &there, NULL, &n};
    for (int i = 0; i < 3; i++)
        assert_ok(cf_launch(&twice, NULL, args));
    assert_int_equal(told_by(there, 6).others, 0);
    assert_int_equal(counts->alloc_async, 2 * 3 + 1);
    assert_int_equal(counts->free_async, 2 * 3);
    assert_ok(cf_mem_free(there));
}

/* ---- Memory that launches leave as they have found it ---- */

static void memory_that_is_left_zero_is_cleared_once(void **state)
{
    (void)state;
    const struct fake_counts *counts = fake_counts();
    struct told *there = make_told();
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    for (int i = 0; i < 5; i++)
        assert_ok(leave_zeros(stream, there, i == 3 ? 3000 : 100));
    assert_int_equal(counts->fill, 1);
    assert_int_equal(counts->fill_bytes, LEAST); /* for larger launches, too */
    assert_ok(launch(stream, there, 100));       /* has both arrays cleared, and leaves neither so */
    assert_int_equal(counts->fill, 3);
    for (int i = 0; i < 3; i++)
        assert_ok(leave_zeros(stream, there, 100));
    assert_int_equal(counts->fill, 4);
    for (int i = 0; i < 3; i++)
        assert_ok(leave_zeros(stream, there, 10000)); /* has grown */
    assert_int_equal(counts->fill, 5);
    assert_int_equal(counts->fill_bytes, 65536);
    assert_ok(cf_stream_sync(stream));
    (void)told_by(there, 12);
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(there));
}

static void memory_of_which_a_part_is_left_zero_is_cleared_each_time(void **state)
{
    (void)state;
    const struct fake_counts *counts = fake_counts();
    struct told *there = make_told();
    rezeros[1].is_rezeroed = 0;
    for (int i = 0; i < 3; i++)
        assert_ok(leave_zeros(NULL, there, 100));
    assert_int_equal(counts->fill, 6);
    (void)told_by(there, 3);
    assert_ok(cf_mem_free(there));
}

/* What a launch that failed has done to it is not known. */
static void memory_of_a_launch_that_failed_is_cleared_again(void **state)
{
    (void)state;
    const struct fake_counts *counts = fake_counts();
    struct told *there = make_told();
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
    (void)told_by(there, 3);
    assert_ok(cf_mem_free(there));
}

static void memory_of_a_graph_is_cleared_in_each_run(void **state)
{
    (void)state;
    struct told *there = make_told();
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
    (void)told_by(there, 7);
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(there));
}

/* ---- Streams of others ---- */

static void stream_with_the_handle_of_one_that_is_gone_has_other_memory(void **state)
{
    (void)state;
    begin_other();
    struct told *there = make_told();
    cf_stream first = make_stream(), second = first;
    assert_ok(launch(first, there, 100));
    destroy_stream(first);
    for (int i = 0; i < 100 && (second != first || i == 0); i++) {
        if (i)
            destroy_stream(second);
        second = make_stream();
    }
    assert_ok(launch(second, there, 100));
    assert_ok(cf_stream_sync(second));
    assert_int_equal(told_by(there, 2).others, 1);
    destroy_stream(second);
    assert_ok(cf_mem_free(there));
    end_other();
}

/* A stream for each step, as long as you like: what there is stays the same, and what was gone on with is used again. */
static void streams_that_come_and_go_leave_little(void **state)
{
    (void)state;
    begin_other();
    const struct fake_counts *counts = fake_counts();
    struct told *there = make_told();
    for (int i = 0; i < 1000; i++) {
        cf_stream stream = make_stream();
        assert_ok(launch(stream, there, 100));
        assert_ok(launch(stream, there, 100));
        destroy_stream(stream);
        assert_int_equal(counts->alloc_async, i < MOST ? i + 1 : MOST);
    }
    assert_int_equal(counts->free_async, 0);
    assert_int_equal(counts->pool_used, MOST * LEAST);
    (void)told_by(there, 2000);
    assert_ok(cf_device_sync()); /* now nothing is in use, whose stream ever it was */
    assert_ok(cf_mem_trim(0));
    assert_int_equal(counts->pool_used + counts->pool_kept, 0);
    assert_ok(cf_mem_free(there));
    end_other();
}

/* Those that go keep theirs until their work is done. */
static void streams_that_are_at_work_keep_their_memory(void **state)
{
    (void)state;
    begin_other();
    enum { STREAMS = MOST + 20 };
    const struct fake_counts *counts = fake_counts();
    static cf_stream streams[STREAMS];
    static struct told *there[STREAMS];
    is_slow = 1;
    for (int i = 0; i < STREAMS; i++) {
        there[i] = make_told();
        streams[i] = make_stream();
        for (int k = 0; k < 3; k++)
            assert_ok(launch(streams[i], there[i], 100));
    }
    assert_int_equal(counts->pool_used, MOST * LEAST + 3 * (400 + 12) * (STREAMS - MOST)); /* nothing has run yet */
    is_slow = 0;
    for (int i = STREAMS; i-- > 0;) { /* in another order */
        assert_ok(cf_stream_sync(streams[i]));
        assert_int_equal(told_by(there[i], 3).others, i < MOST ? 0 : 2);
        assert_ok(cf_mem_free(there[i]));
    }
    assert_int_equal(counts->pool_used, MOST * LEAST);
    there[0] = make_told();
    assert_ok(launch(streams[MOST], there[0], 100)); /* takes over what a stream used that is not at work */
    assert_ok(launch(streams[MOST], there[0], 100));
    assert_ok(cf_stream_sync(streams[MOST]));
    assert_int_equal(told_by(there[0], 2).others, 0);
    assert_int_equal(counts->pool_used, MOST * LEAST);
    assert_ok(cf_mem_free(there[0]));
    for (int i = 0; i < STREAMS; i++)
        destroy_stream(streams[i]);
    end_other();
}

static void shutdown_waits_for_who_uses_it(void **state)
{
    (void)state;
    begin_other();
    struct told *there = make_told(), told;
    cf_stream stream = make_stream();
    for (int i = 0; i < 3; i++)
        assert_ok(launch(stream, there, 100));
    assert_ok(cf_shutdown());
    assert_int_equal(fake_counts()->pool_used, 0);
    assert_ok(cf_mem_copy(&told, there, sizeof told));
    assert_int_equal(told.launches, 3);
    assert_int_equal(told.nonzero, 0);
    destroy_stream(stream);
    assert_ok(cf_mem_free(there));
    end_other();
}

/* ---- Contexts that go ---- */

/* Memory of pools goes with no context, and is given back all the same. */
static void reset_leaves_memory_that_is_given_back(void **state)
{
    (void)state;
    const struct fake_counts *counts = fake_counts();
    struct told *there = make_told();
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    assert_ok(launch(NULL, there, 100));
    assert_ok(launch(stream, there, 100));
    assert_ok(cf_device_reset(0));
    there = make_told();
    for (int i = 0; i < 2; i++)
        assert_ok(launch(NULL, there, 100));
    assert_int_equal(told_by(there, 2).others, 0);
    const int free_before = counts->free;
    assert_ok(cf_mem_trim(0));
    assert_int_equal(counts->free, free_before + 2);
    assert_ok(cf_device_reset(0)); /* and what this leaves at cf_shutdown() */
}

static void contexts_that_others_destroy_leave_little(void **state)
{
    (void)state;
    const struct fake_counts *counts = fake_counts();
    const struct cf__driver *driver = other_library();
    CUcontext context, popped;
    struct told *there;
    for (int i = 0; i < 3 * MOST; i++) {
        assert_int_equal(context_create(&context, 0, 0), CUDA_SUCCESS);
        there = make_told();
        assert_ok(launch(NULL, there, 100));
        (void)told_by(there, 1);
        assert_ok(cf_mem_free(there));
        assert_int_equal(driver->cuCtxPopCurrent(&popped), CUDA_SUCCESS);
        assert_int_equal(context_destroy(context), CUDA_SUCCESS);
        assert_in_range(counts->pool_used, LEAST, MOST * LEAST);
    }
    there = make_told();
    for (int i = 0; i < 4; i++)
        assert_ok(launch(NULL, there, 100));
    assert_in_range(told_by(there, 4).others, 0, 1);
    assert_ok(cf_mem_free(there));
}

/* ---- Little memory ---- */

static void trim_takes_what_is_known_to_be_done(void **state)
{
    (void)state;
    const struct fake_counts *counts = fake_counts();
    struct told *there = make_told();
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    assert_ok(launch(NULL, there, 100));
    assert_ok(launch(stream, there, 100));
    assert_int_equal(counts->pool_used, 2 * LEAST);
    assert_ok(cf_mem_trim(0)); /* the default stream's, in its order: it is done, too, behind the wait */
    assert_ok(cf_stream_sync(NULL));
    assert_int_equal(counts->pool_used, LEAST);
    assert_ok(cf_device_sync());
    assert_ok(launch(stream, there, 100)); /* is not known to be done again */
    assert_ok(cf_mem_trim(0));
    assert_ok(cf_stream_sync(NULL));
    assert_int_equal(counts->pool_used, LEAST);
    assert_ok(cf_device_sync());
    assert_ok(cf_mem_trim(0));
    assert_ok(cf_stream_sync(NULL));
    assert_int_equal(counts->pool_used, 0);
    (void)told_by(there, 3);
    assert_ok(launch(stream, there, 100));
    assert_ok(cf_stream_sync(stream));
    (void)told_by(there, 4);
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(there));
}

static void memory_that_is_short_is_not_kept(void **state)
{
    (void)state;
    struct told *there = make_told();
    void *large = NULL;
    assert_ok(launch(NULL, there, 100));
    assert_ok(cf_device_sync());
    assert_ok(cf_mem_alloc(&large, 60000)); /* of 65536 */
    assert_ok(launch(NULL, there, 100));    /* there is no room for more than this needs */
    assert_int_equal(launch(NULL, there, 3000), CF_ENOMEM);
    assert_string_equal(cf_last_error(), "made_tell_async: 12000 bytes for work: cuMemAllocFromPoolAsync returned 2 "
                                         "(CUDA_ERROR_OUT_OF_MEMORY, out of memory)");
    assert_ok(cf_stream_sync(NULL));
    (void)told_by(there, 2);
    assert_ok(cf_mem_free(large));
    assert_ok(cf_mem_free(there));
}

/* ---- Ways around it ---- */

static void checked_launches_have_memory_of_their_own(void **state)
{
    (void)state;
    const struct fake_counts *counts = fake_counts();
    struct told *there = make_told();
    for (int i = 0; i < 3; i++)
        assert_ok(launch(NULL, there, 100));
    (void)told_by(there, 3);
    assert_int_equal(counts->alloc_async, 6);
    assert_int_equal(counts->free_async, 6);
    assert_ok(cf_mem_free(there));
}

/* To free there waits for the stream. */
static void devices_without_pools_allocate_once(void **state)
{
    (void)state;
    const struct fake_counts *counts = fake_counts();
    struct told *there = make_told();
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    const int before = counts->alloc;
    for (int i = 0; i < 3; i++)
        assert_ok(launch(stream, there, 100));
    assert_int_equal(counts->alloc, before + 1);
    assert_int_equal(counts->free, 0);
    assert_ok(cf_stream_sync(stream));
    (void)told_by(there, 3);
    assert_ok(cf_stream_destroy(stream));
    assert_int_equal(counts->free, 1);
    assert_ok(cf_mem_free(there));
}

static void forked_child_leaves_it_alone(void **state)
{
    (void)state;
    struct told *there = make_told(), of_child = {0, 0, NULL, NULL, 0};
    int status = -1;
    assert_ok(launch(NULL, there, 100));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int is_right = launch(NULL, there, 100) == CF_EFORK && cf_device_use(CF_HOST) == CF_OK &&
                       launch(NULL, &of_child, 100) == CF_OK && of_child.launches == 1 && cf_shutdown() == CF_OK;
        _exit(is_right ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_ok(launch(NULL, there, 100));
    assert_int_equal(told_by(there, 2).others, 0);
    assert_ok(cf_mem_free(there));
}

/* Launches of several threads run beside one another there, whatever their stream. */
static void launches_on_the_cpu_have_memory_of_their_own(void **state)
{
    (void)state;
    static struct told told[THREADS];
    struct worker workers[THREADS];
    for (int i = 0; i < THREADS; i++)
        workers[i] = (struct worker){.there = &told[i]};
    run_workers(workers);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(told[i].nonzero, 0);
        assert_int_equal(told[i].launches, ROUNDS);
    }
}

int main(int argc, char *argv[])
{
    const struct CMUnitTest tests[] = {
        fake_test(launches_of_a_stream_use_the_same_memory, "CF_DRIVER"),
        fake_test(streams_have_memory_of_their_own, "CF_DRIVER"),
        fake_test(devices_have_memory_of_their_own, "CF_DRIVER"),
        fake_test(memory_grows_with_what_is_asked_for, "CF_DRIVER"),
        fake_test(captured_launches_have_memory_of_their_own, "CF_DRIVER"),
        fake_test(launch_that_comes_between_has_memory_of_its_own, "CF_DRIVER"),
        fake_test(threads_find_zeros, "CF_DRIVER"),
        fake_test(operations_have_memory_of_their_own, "CF_DRIVER"),
        fake_test(memory_that_is_left_zero_is_cleared_once, "CF_DRIVER"),
        fake_test(memory_of_which_a_part_is_left_zero_is_cleared_each_time, "CF_DRIVER"),
        fake_test(memory_of_a_launch_that_failed_is_cleared_again, "CF_DRIVER", "FAKE_CUDA=resident=8"),
        fake_test(memory_of_a_graph_is_cleared_in_each_run, "CF_DRIVER"),
        fake_test(stream_with_the_handle_of_one_that_is_gone_has_other_memory, "CF_DRIVER"),
        fake_test(streams_that_come_and_go_leave_little, "CF_DRIVER"),
        fake_test(streams_that_are_at_work_keep_their_memory, "CF_DRIVER"),
        fake_test(shutdown_waits_for_who_uses_it, "CF_DRIVER"),
        fake_test(reset_leaves_memory_that_is_given_back, "CF_DRIVER"),
        fake_test(contexts_that_others_destroy_leave_little, "CF_DRIVER"),
        fake_test(trim_takes_what_is_known_to_be_done, "CF_DRIVER"),
        fake_test(memory_that_is_short_is_not_kept, "CF_DRIVER", "FAKE_CUDA=oom=65536"),
        fake_test(checked_launches_have_memory_of_their_own, "CF_DRIVER", "CF_CHECK=1"),
        fake_test(devices_without_pools_allocate_once, "CF_DRIVER", "FAKE_CUDA=pools=0"),
        fake_test(forked_child_leaves_it_alone, "CF_DRIVER"),
        fake_test(launches_on_the_cpu_have_memory_of_their_own, "CF_DRIVER=host"),
    };
    make_image(&image, 7);
    return RUN_MADE(argc, argv, &module, tests, NULL, tear_down);
}
