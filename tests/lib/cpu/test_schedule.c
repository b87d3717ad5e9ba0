/* test_schedule.c - how many CPU threads run a launch of few CUDA threads. The number depends on how long the kernel
 * takes. */
#include "run_group.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "threads/pool.h"
#include "cpu/schedule.h"

static int set_up(void **state)
{
    (void)state;
    cf__pool_stop();
    if (setenv("CF_THREADS", "2", 1) != 0)
        return 1;
    return cf_device_use(CF_HOST);
}

enum { BLOCKS = 8, SLOW_US = 1000, LAUNCHES = 208, OF_TURN = 16 };

/* A launch whose blocks return at once, sleep, or wait up to 5 s for a second CPU thread. */
struct work {
    enum { QUICK, SLEEPS, MEETS } first, others; /* what block 0 does, and what the others do */
    pthread_mutex_t lock;
    pthread_cond_t came;
    pthread_t threads[2];
    int count;
    int runs[BLOCKS];
};

static void enter(struct work *work, int kind)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 5;
    pthread_mutex_lock(&work->lock);
    if (work->count == 0 || (work->count == 1 && !pthread_equal(work->threads[0], pthread_self()))) {
        work->threads[work->count++] = pthread_self();
        pthread_cond_broadcast(&work->came);
    }
    while (kind == MEETS && work->count < 2 && pthread_cond_timedwait(&work->came, &work->lock, &end) == 0)
        ;
    pthread_mutex_unlock(&work->lock);
    if (kind == SLEEPS)
        usleep(SLOW_US);
}

static void run_blocks(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    struct work *work = launch->args[0];
    for (uint64_t b = begin; b < end; b++) {
        enter(work, b ? work->others : work->first);
        __atomic_fetch_add(&work->runs[b], 1, __ATOMIC_RELAXED);
    }
}

/* Bodies of other kernels, whose run time is not known yet. */
static void run_first(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    run_blocks(launch, begin, end);
}

static void run_again(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    run_blocks(launch, begin, end);
}

static void run_beside(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    run_blocks(launch, begin, end);
}

static void run_changing(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    run_blocks(launch, begin, end);
}

/* Returns the number of CPU threads that took part. The launching thread always comes first. */
static int launch(cf_host_body *body, int first, int others, uint32_t blocks)
{
    struct work work = {.first = first, .others = others, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER};
    void *const args[] = {&work};
    const cf_host_launch given = {.grid = {blocks, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}, .args = args};
    cf__schedule_run(body, &given);
    for (uint32_t b = 0; b < BLOCKS; b++)
        assert_int_equal(work.runs[b], b < blocks);
    return work.count;
}

TEST(schedule_first_launch_that_lasts_is_handed_over)
{
    assert_int_equal(launch(run_first, SLEEPS, MEETS, BLOCKS), 2);
}

TEST(schedule_later_launch_of_a_slow_kernel_begins_on_all_threads)
{
    (void)launch(run_again, SLEEPS, SLEEPS, BLOCKS);
    assert_int_equal(launch(run_again, MEETS, MEETS, BLOCKS), 2);
}

TEST(schedule_kernel_that_becomes_slow_is_shared)
{
    for (int i = 0; i < LAUNCHES; i++)
        (void)launch(run_changing, QUICK, QUICK, BLOCKS);
    int threads = 1;
    for (int i = 0; i < LAUNCHES && threads == 1; i++)
        threads = launch(run_changing, SLEEPS, SLEEPS, BLOCKS);
    assert_int_equal(threads, 2);
}

/* Launches 16 kernels in turn in a loop; then the first or the second one becomes slow. */
TEST(schedule_one_of_many_kernels_that_becomes_slow_is_shared)
{
    for (int slow = 0; slow < 2; slow++) {
        int threads = 1;
        for (int i = 0; i < LAUNCHES; i++)
            (void)launch(i % OF_TURN == slow ? run_changing : run_beside, QUICK, QUICK, BLOCKS);
        for (int i = 0; i < 2 * LAUNCHES && threads == 1; i++) {
            const int is_slow = i % OF_TURN == slow, kind = is_slow ? SLEEPS : QUICK;
            const int count = launch(is_slow ? run_changing : run_beside, kind, kind, BLOCKS);
            threads = is_slow ? count : 1;
        }
        assert_int_equal(threads, 2);
    }
}

TEST(schedule_one_block_stays_on_its_thread)
{
    for (int i = 0; i < 3; i++)
        assert_int_equal(launch(run_again, SLEEPS, SLEEPS, 1), 1);
}

/* For a kernel whose blocks wait for one another, the number is fixed before the launch, from earlier launches. */
static void noted(const cf_host_launch *given, uint64_t begin, uint64_t end)
{
    (void)given, (void)begin, (void)end;
}

TEST(schedule_is_alone_until_a_second_launch_was_slow)
{
    assert_true(cf__schedule_is_alone(noted, BLOCKS, 32));
    cf__schedule_note(noted, BLOCKS * 32, 10000000);
    assert_true(cf__schedule_is_alone(noted, BLOCKS, 32));
    cf__schedule_note(noted, BLOCKS * 32, 1000);
    assert_true(cf__schedule_is_alone(noted, BLOCKS, 32));
    cf__schedule_note(noted, BLOCKS * 32, 10000000);
    assert_false(cf__schedule_is_alone(noted, BLOCKS, 32));
    assert_true(cf__schedule_is_alone(noted, 1, 1024));
    assert_false(cf__schedule_is_alone(noted, 1000, 1024));
}

int main(void)
{
    return run_all_tests(set_up, end_library);
}
