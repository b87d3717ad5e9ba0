/* test_cpu_launch.c - launches on the CPU: how CPU threads share them, in which order blocks and threads run, and
 * failures. */
#include <sched.h>
#include <stdlib.h>

#include "played_gpu.h"

#include "threads/pool.h"
#include "driver/driver.h"
#include "cpu/cpu_launch.h"
#include "cpu/schedule.h"
#include "cpu_launch_kernels.h"

/* ---- Kernels in C, which can check more than kernels in CUDA ---- */

enum { MOST_MEMBERS = 64 };

static struct {
    int rounds, failing_block, is_deadlock;
    pthread_t members[MOST_MEMBERS];
    int member_count, wrong, calls; /* atomic */
} world;

static const cf_host_where where = {"grid.sync()", "here.cu", 7};

static uint64_t number_of(const cf_host_block *block)
{
    return block->index.x;
}

/* Each block reads what other blocks wrote in the round before. */
static void neighbours(void *closure, cf_host_block *block, cf_dim3 thread)
{
    const cf_host_launch *launch = closure;
    uint64_t number = number_of(block), blocks = launch->grid.x;
    int *values = launch->args[0]; /* one per block, written by thread 0 of the block before each grid.sync() */
    if (SANITIZED && thread.x >= 4)
        return;                              /* ThreadSanitizer supports at most 8,000 waiting threads */
    if (block->ops->peer(block, 0) != block) /* without a cluster each block is its own peer */
        __atomic_add_fetch(&world.wrong, 1, __ATOMIC_RELAXED);
    for (int round = 1; round <= world.rounds; round++) {
        if (thread.x == 0)
            values[number] = round;
        if (round == world.rounds / 2 && (int)number == world.failing_block && thread.x == 3) {
            if (world.is_deadlock)
                block->ops->barrier(block, CF_HOST_VOTE_COUNT, 0, &where);
            else
                (block->ops->fail)(block, 0, &where) /* the parentheses avoid CMocka's macro fail */;
        }
        block->ops->grid(block, &where);
        for (uint64_t step = 1; step < blocks; step *= 3)
            if (values[(number + step) % blocks] != round)
                __atomic_add_fetch(&world.wrong, 1, __ATOMIC_RELAXED);
        block->ops->grid(block, &where);
    }
}

/* Spins until another block fails, perhaps on another CPU thread. */
static void spin(void *closure, cf_host_block *block, cf_dim3 thread)
{
    (void)closure;
    if (SANITIZED && thread.x >= 4)
        return;
    if ((int)number_of(block) == world.failing_block && thread.x == 3)
        (block->ops->fail)(block, 0, &where);
    for (;;)
        block->ops->yield(block);
}

static void note_member(void)
{
    world.members[__atomic_fetch_add(&world.member_count, 1, __ATOMIC_RELAXED) % MOST_MEMBERS] = pthread_self();
}

static void run_neighbours(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    note_member();
    launch->ops->run(launch, begin, end, neighbours, (void *)(uintptr_t)launch);
}

static void run_spin(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    note_member();
    launch->ops->run(launch, begin, end, spin, (void *)(uintptr_t)launch);
}

static CUresult launch_on(cf_host_body *body, uint32_t blocks, uint32_t threads)
{
    static const cf_param none[1];
    const cf_kernel kernel = {.name = "made", .params = none, .cpu_body = body, .launch.is_cooperative = 1};
    int *values = calloc(blocks, sizeof *values);
    void *args[] = {values};
    const cf_host_launch what = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .args = args};
    if (!values)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = cf__cpu_run(&kernel, &what, 0);
    for (uint32_t i = 0; i < blocks && body == run_neighbours && result == CUDA_SUCCESS; i++)
        if (values[i] != world.rounds)
            __atomic_add_fetch(&world.wrong, 1, __ATOMIC_RELAXED);
    free(values);
    return result;
}

static void forget_members(void)
{
    world.member_count = world.wrong = 0;
}

static void ready(int rounds, int failing_block, int is_deadlock)
{
    forget_members();
    world.rounds = rounds;
    world.failing_block = failing_block;
    world.is_deadlock = is_deadlock;
    assert_int_equal(cf__pool_configure(), CF_OK);
}

/* ---- Cooperative launches ---- */

TEST(cooperative_launch_waits_for_all_blocks)
{
    ready(SANITIZED ? 3 : 20, -1, 0);
    static const uint32_t shapes[][2] = {{1, 1}, {2, 33}, {7, 1}, {64, 256}, {129, 128}, {1000, 20}, {17, 1024}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        forget_members();
        assert_int_equal(launch_on(run_neighbours, shapes[i][0], shapes[i][1]), CUDA_SUCCESS);
        assert_int_equal(world.wrong, 0);
        assert_true(world.member_count >= 1 && world.member_count <= cf__pool_size());
        for (int a = 0; a < world.member_count; a++)
            for (int b = 0; b < a; b++)
                assert_false(pthread_equal(world.members[a], world.members[b]));
    }
}

/* After some launches another thread of the pool takes part. */
TEST(cooperative_launch_is_shared_by_threads)
{
    ready(2, -1, 0);
    for (int i = 0; i < 10000; i++) {
        forget_members();
        assert_int_equal(launch_on(run_neighbours, 64, 256), CUDA_SUCCESS);
        assert_int_equal(world.wrong, 0);
        if (world.member_count > 1)
            return;
    }
    fail_msg("%s", "no launch had a second thread");
}

TEST(cooperative_launch_that_fails_ends_for_all)
{
    for (int i = 0; i < (SANITIZED ? 4 : 20); i++)
        for (int is_deadlock = 0; is_deadlock < 2; is_deadlock++) {
            ready(6, i % 2 ? 63 : 6 * i, is_deadlock);
            assert_int_equal(launch_on(run_neighbours, 128, 128), CUDA_ERROR_LAUNCH_FAILED);
            assert_int_equal(world.wrong, 0);
            assert_int_equal(launch_on(run_spin, 128, 128), CUDA_ERROR_LAUNCH_FAILED);
        }
    ready(6, -1, 0);
    assert_int_equal(launch_on(run_neighbours, 128, 128), CUDA_SUCCESS);
}

static void fill(void *data, uint64_t begin, uint64_t end)
{
    unsigned char *bytes = data;
    for (uint64_t i = begin; i < end; i++)
        bytes[i]++;
}

static void *fill_often(void *data)
{
    for (int i = 0; i < 200; i++)
        cf__pool_for(fill, data, 1 << 16, 1 << 10);
    return NULL;
}

/* Launches from several threads while the pool is also busy with other work. */
static void *launch_often(void *data)
{
    int *failures = data;
    for (int i = 0; i < (SANITIZED ? 3 : 10); i++)
        *failures += launch_on(run_neighbours, 64, 256) != CUDA_SUCCESS;
    return NULL;
}

TEST(cooperative_launches_and_other_jobs_leave_each_other_room)
{
    ready(3, -1, 0);
    enum { USERS = 6 };
    pthread_t users[USERS];
    static unsigned char bytes[USERS][1 << 16];
    int failures[USERS] = {0};
    memset(bytes, 0, sizeof bytes);
    for (int i = 0; i < USERS; i++)
        assert_int_equal(
            pthread_create(&users[i], NULL, i % 2 ? fill_often : launch_often, i % 2 ? (void *)bytes[i] : &failures[i]),
            0);
    for (int i = 0; i < USERS; i++)
        assert_int_equal(pthread_join(users[i], NULL), 0);
    assert_int_equal(world.wrong, 0);
    for (int i = 0; i < USERS; i++) {
        assert_int_equal(failures[i], 0);
        for (size_t j = 0; j < sizeof bytes[i] && i % 2; j++)
            assert_int_equal(bytes[i][j], 200);
    }
}

/* Each thread of the pool is kept busy with one piece of work, until the test releases them all. */
static int holding, is_released; /* atomic */

static void hold(void *data, uint64_t begin, uint64_t end)
{
    (void)data, (void)begin, (void)end;
    __atomic_add_fetch(&holding, 1, __ATOMIC_RELAXED);
    while (!__atomic_load_n(&is_released, __ATOMIC_RELAXED))
        sched_yield();
}

static void *hold_the_pool(void *unused)
{
    cf__pool_for(hold, NULL, (uint64_t)cf__pool_size(), 1);
    return unused;
}

TEST(cooperative_launch_without_free_threads_runs_on_its_own)
{
    pthread_t thread;
    ready(3, -1, 0);
    holding = is_released = 0;
    assert_int_equal(pthread_create(&thread, NULL, hold_the_pool, NULL), 0);
    while (__atomic_load_n(&holding, __ATOMIC_RELAXED) < cf__pool_size())
        sched_yield();
    alarm(600);
    CUresult result = launch_on(run_neighbours, 64, 256);
    alarm(0);
    __atomic_store_n(&is_released, 1, __ATOMIC_RELAXED);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(result, CUDA_SUCCESS);
    assert_int_equal(world.wrong, 0);
    assert_int_equal(world.member_count, 1);
}

/* ---- CF_HOST_ORDER ---- */

enum { BLOCKS = 36, THREADS = 50, ALL = BLOCKS * THREADS };

typedef int order_of(int *order, int *count, int blocks, int threads);

/* Runs a kernel on one CPU thread with this seed in CF_HOST_ORDER, and records in which order the threads ran. */
static void order_with(const char *seed, order_of *run, int *order)
{
    int count = 0;
    if (seed)
        setenv("CF_HOST_ORDER", seed, 1);
    else
        unsetenv("CF_HOST_ORDER");
    setenv("CF_THREADS", "1", 1);
    assert_ok(cf_shutdown());
    assert_ok(cf_device_use(CF_HOST));
    unsetenv("CF_THREADS");
    for (int i = 0; i < ALL; i++)
        order[i] = -1;
    assert_ok(run(order, &count, BLOCKS, THREADS));
    assert_int_equal(count, ALL);
    char seen[ALL] = {0};
    for (int i = 0; i < ALL; i++) {
        assert_true(order[i] >= 0 && order[i] < ALL && !seen[order[i]]);
        seen[order[i]] = 1;
    }
}

static int is_natural(const int *order)
{
    for (int i = 0; i < ALL; i++)
        if (order[i] != i)
            return 0;
    return 1;
}

/* Expects that the blocks ran out of order, and that the threads of a block did. */
static void assert_shuffled(const int *order)
{
    int blocks = 0, threads = 0;
    for (int i = 1; i < ALL; i++) {
        blocks += order[i] / THREADS < order[i - 1] / THREADS;
        threads += order[i] / THREADS == order[i - 1] / THREADS && order[i] < order[i - 1];
    }
    assert_true(blocks > 5 && threads > 100);
}

static void order_of_kernel_is_the_seed_s(order_of *run)
{
    static int natural[ALL], first[ALL], again[ALL], second[ALL];
    order_with(NULL, run, natural);
    order_with("", run, first);
    assert_memory_equal(natural, first, sizeof first);
    order_with("0", run, first);
    assert_memory_equal(natural, first, sizeof first);
    order_with("1", run, first);
    order_with("4294967294", run, second);
    order_with("1", run, again);
    assert_memory_equal(first, again, sizeof first);
    assert_memory_not_equal(first, second, sizeof first);
    assert_memory_not_equal(first, natural, sizeof first);
    assert_shuffled(first);
    assert_shuffled(second);
}

/* The order is reversed after a barrier, too, so that two runs show both orders of any two threads. */
TEST(order_reverse_is_the_natural_one_backwards)
{
    order_of *const runs[] = {cpu_launch_order_of_loop, cpu_launch_order_after_barrier, cpu_launch_order_after_grid,
                              cpu_launch_order_after_cluster};
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
        static int reverse[ALL];
        order_with("reverse", runs[r], reverse);
        for (int i = 0; i < ALL; i++)
            assert_int_equal(reverse[i], ALL - 1 - i);
    }
}

TEST(order_of_a_loop_is_the_seed_s)
{
    static int order[ALL];
    order_with("0", cpu_launch_order_of_loop, order);
    assert_true(is_natural(order));
    order_of_kernel_is_the_seed_s(cpu_launch_order_of_loop);
}

TEST(order_of_threads_that_wait_is_the_seed_s)
{
    order_of_kernel_is_the_seed_s(cpu_launch_order_after_barrier);
    order_of_kernel_is_the_seed_s(cpu_launch_order_after_shuffle);
}

TEST(order_leaves_results_as_they_are)
{
    enum { N = 5000 };
    static float x[N];
    char seed[16];
    for (int i = 0; i < N; i++)
        x[i] = (float)(i % 10);
    for (int i = 0; i < 8; i++) {
        snprintf(seed, sizeof seed, "%d", i);
        setenv("CF_HOST_ORDER", seed, 1);
        assert_ok(cf_shutdown());
        assert_ok(cf_device_use(CF_HOST));
        float sums[(N + 255) / 256];
        assert_ok(cpu_launch_sums(x, sums, N));
        for (int block = 0; block < (N + 255) / 256; block++) {
            float sum = 0;
            for (int j = 256 * block; j < 256 * (block + 1) && j < N; j++)
                sum += x[j];
            assert_true(sums[block] == sum);
        }
    }
}

TEST(order_that_is_no_number_is_einval)
{
    static const char *const bad[] = {"-1", "4294967295", "one", "1 ", "0x10", "99999999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("CF_HOST_ORDER", bad[i], 1);
        assert_ok(cf_shutdown());
        char detail[128];
        int order[ALL], count = 0;
        snprintf(detail, sizeof detail,
                 "CF_HOST_ORDER=%s: it is reverse, or a number from 0, the natural order, to 4294967294", bad[i]);
        int status = cf_device_use(CF_HOST);
        if (status == CF_OK)
            status = cpu_launch_order_of_loop(order, &count, BLOCKS, THREADS);
        assert_int_equal(status, CF_EINVAL);
        if (!strstr(cf_last_error(), detail))
            fail_msg("%s", cf_last_error());
    }
    unsetenv("CF_HOST_ORDER");
    assert_ok(cf_shutdown());
    assert_ok(cf_device_use(CF_HOST));
}

TEST(shuffled_is_one_to_one)
{
    static const uint64_t counts[] = {1, 2, 3, 7, 8, 31, 32, 33, 1000, 4097};
    for (uint64_t key = 1; key < 30; key++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            char seen[4097] = {0};
            for (uint64_t j = 0; j < counts[i]; j++) {
                uint64_t place = cf__schedule_shuffle(j, counts[i], key);
                assert_true(place < counts[i] && !seen[place]);
                seen[place] = 1;
            }
        }
    for (uint64_t key = 1; key < 1000; key++)
        assert_true(cf__schedule_shuffle(key << 40, UINT64_MAX, key) < UINT64_MAX);
}

/* ---- Failures ---- */

static void *fail_often(void *data)
{
    int *wrong = data, x[100];
    *wrong = cf_device_use(CF_HOST) != CF_OK; /* each thread has its own current device */
    for (int i = 0; i < 50; i++) {
        for (int j = 0; j < 100; j++)
            x[j] = j;
        int limit = 96 + i % 4; /* within one block, because several CPU threads may run the blocks of a launch */
        char detail[64];
        snprintf(detail, sizeof detail, "thread (%d, 0, 0) of block (%d, 0, 0)", limit % 32, limit / 32);
        *wrong += cpu_launch_check(x, limit, 100) != CF_EFAULT || !strstr(cf_last_error(), detail) ||
                  cpu_launch_check(x, 101, 100) != CF_OK;
    }
    return NULL;
}

TEST(failures_of_several_threads_are_each_its_own)
{
    enum { COUNT = 8 };
    pthread_t threads[COUNT];
    int wrong[COUNT] = {0};
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fail_often, &wrong[i]), 0);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(wrong[i], 0);
}

TEST(failure_in_a_graph_is_reported_at_its_launch)
{
    cf_stream stream;
    cf_graph graph;
    cf_graph_exec exec;
    int *x;
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_mem_alloc((void **)&x, 100 * sizeof *x));
    for (int i = 0; i < 100; i++)
        x[i] = i;
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(cpu_launch_check_async(stream, x, 60, 100));
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    for (int i = 0; i < 3; i++) {
        int status = cf_graph_launch(exec, stream);
        if (status == CF_OK)
            status = cf_stream_sync(stream);
        assert_int_equal(status, CF_EFAULT);
        if (!strstr(cf_last_error(), "assertion `x[i] < limit' failed"))
            fail_msg("%s", cf_last_error());
    }
    x[60] = 0;
    for (int i = 0; i < 100; i++)
        x[i] = 0;
    assert_ok(cf_graph_launch(exec, stream));
    assert_ok(cf_stream_sync(stream));
    assert_int_equal(x[99], 1);
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_mem_free(x));
    assert_ok(cf_stream_destroy(stream));
}

/* ---- Forks ---- */

static int stop_launching; /* atomic */

static void *launch_until_stopped(void *data)
{
    static float x[2560];
    float sums[10];
    int *failures = data;
    *failures = cf_device_use(CF_HOST) != CF_OK;
    while (!__atomic_load_n(&stop_launching, __ATOMIC_RELAXED))
        *failures += cpu_launch_sums(x, sums, 2560) != CF_OK;
    return NULL;
}

TEST(fork_while_threads_wait_leaves_the_child_able)
{
    skip_where_forks_are_unsafe();
    pthread_t thread;
    int failures = 0;
    __atomic_store_n(&stop_launching, 0, __ATOMIC_RELAXED);
    assert_int_equal(pthread_create(&thread, NULL, launch_until_stopped, &failures), 0);
    for (int i = 0; i < 10; i++) {
        pid_t child = fork_flushed();
        if (child == 0) {
            static float x[2560];
            float sums[10];
            alarm(600);
            _exit(cpu_launch_sums(x, sums, 2560) == CF_OK && cf_shutdown() == CF_OK ? 0 : 1);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    __atomic_store_n(&stop_launching, 1, __ATOMIC_RELAXED);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(failures, 0);
}

static int set_up(void **state)
{
    (void)state;
    (void)setenv("CF_THREADS", "4", 1);
    return cf_device_use(CF_HOST);
}

static int tear_down(void **state)
{
    (void)state;
    (void)unsetenv("CF_HOST_ORDER");
    return cf_shutdown();
}

int main(void)
{
    return run_all_tests(set_up, tear_down);
}
