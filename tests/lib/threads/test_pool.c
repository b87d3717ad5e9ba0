/* test_pool.c - the worker threads: each block runs exactly once, whichever thread launches, and the threads start and
 * stop as configured. */
#include "run_group.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "threads/pool.h"
#include "cpu/schedule.h"

static unsigned short seed[3] = {1, 2, 3};

/* Refers to a device function, which links the constructor that installs the fork handlers. */
/* Restarts the pool with this number of threads. */
static void use_threads(const char *count)
{
    cf__pool_stop();
    assert_int_equal(count ? setenv("CF_THREADS", count, 1) : unsetenv("CF_THREADS"), 0);
    assert_ok(cf__pool_configure());
}

/* ---- Counts ---- */

/* Counts how often each block of a launch runs, and wrong calls of the body. */
struct counts {
    uint64_t blocks;
    unsigned int *runs;
    unsigned int calls, wrong;
};

static void count_blocks(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    struct counts *counts = launch->args[0];
    __atomic_fetch_add(&counts->calls, 1, __ATOMIC_RELAXED);
    if (begin >= end || end > counts->blocks)
        __atomic_fetch_add(&counts->wrong, 1, __ATOMIC_RELAXED);
    else
        for (uint64_t b = begin; b < end; b++)
            __atomic_fetch_add(&counts->runs[b], 1, __ATOMIC_RELAXED);
}

/* Returns 1 if each block of a launch ran exactly once. */
static int runs_once(cf_dim3 grid, cf_dim3 block, cf_host_body *body)
{
    struct counts counts = {.blocks = (uint64_t)grid.x * grid.y * grid.z};
    counts.runs = calloc(counts.blocks, sizeof *counts.runs);
    void *const args[] = {&counts};
    const cf_host_launch launch = {.grid = grid, .block = block, .cluster = {1, 1, 1}, .args = args};
    if (!counts.runs)
        return 0;
    cf__schedule_run(body, &launch);
    int right = counts.wrong == 0 && counts.calls >= 1 && counts.calls <= counts.blocks;
    for (uint64_t b = 0; b < counts.blocks; b++)
        right &= counts.runs[b] == 1;
    free(counts.runs);
    return right;
}

static const char *const thread_counts[] = {"1", "2", "3", "8", "33", NULL};

TEST(pool_run_shapes_at_the_limits_run_each_block_once)
{
    static const struct {
        cf_dim3 grid, block;
    } shapes[] = {
        {{1, 1, 1}, {1, 1, 1}},      {{2, 1, 1}, {1, 1, 1}},         {{1, 1, 1}, {1024, 1, 1}},
        {{15, 1, 1}, {1024, 1, 1}},  {{16, 1, 1}, {1024, 1, 1}},     {{17, 1, 1}, {1024, 1, 1}},
        {{63, 1, 1}, {256, 1, 1}},   {{64, 1, 1}, {256, 1, 1}},      {{65, 1, 1}, {256, 1, 1}},
        {{16383, 1, 1}, {1, 1, 1}},  {{16384, 1, 1}, {1, 1, 1}},     {{16385, 1, 1}, {1, 1, 1}},
        {{100003, 1, 1}, {1, 1, 1}}, {{1, 65535, 1}, {2, 2, 2}},     {{1, 1, 65535}, {7, 1, 1}},
        {{31, 37, 41}, {32, 8, 1}},  {{1000003, 1, 1}, {256, 1, 1}}, {{4, 4, 4}, {8, 8, 8}},
        {{17, 1, 1}, {1000, 1, 1}},  {{3, 5, 7}, {10, 10, 10}},
    };
    for (size_t t = 0; t < sizeof thread_counts / sizeof *thread_counts; t++) {
        use_threads(thread_counts[t]);
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            if (!runs_once(shapes[s].grid, shapes[s].block, count_blocks))
                fail_msg("shape %zu with CF_THREADS=%s", s, thread_counts[t] ? thread_counts[t] : "");
    }
}

/* A job is divided into at most 128 ranges. */
TEST(pool_of_more_threads_than_ranges_runs_each_block_once)
{
    use_threads("200");
    for (uint32_t blocks = 127; blocks < 20000; blocks = 3 * blocks + 1)
        assert_true(runs_once((cf_dim3){blocks, 1, 1}, (cf_dim3){1024, 1, 1}, count_blocks));
    use_threads(NULL);
}

TEST(pool_run_random_shapes_run_each_block_once)
{
    for (size_t t = 0; t < sizeof thread_counts / sizeof *thread_counts; t++) {
        use_threads(thread_counts[t]);
        for (int round = 0; round < 60; round++) {
            cf_dim3 grid = {1 + (uint32_t)(nrand48(seed) % 100), 1 + (uint32_t)(nrand48(seed) % 30),
                            1 + (uint32_t)(nrand48(seed) % 10)};
            cf_dim3 block = {1 + (uint32_t)(nrand48(seed) % 16), 1 + (uint32_t)(nrand48(seed) % 8),
                             1 + (uint32_t)(nrand48(seed) % 8)};
            if (!runs_once(grid, block, count_blocks))
                fail_msg("grid %u %u %u, block %u %u %u", grid.x, grid.y, grid.z, block.x, block.y, block.z);
        }
    }
}

/* ---- Threads that take part ---- */

/* Waits at most 5 s until `wanted` threads have arrived, and records each of them. */
struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t came;
    int wanted, count;
    pthread_t threads[64];
    sigset_t masks[64];
};

static void meet(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    struct meeting *meeting = launch->args[0];
    (void)begin, (void)end;
    pthread_mutex_lock(&meeting->lock);
    int known = 0;
    for (int i = 0; i < meeting->count; i++)
        known |= pthread_equal(meeting->threads[i], pthread_self()) != 0;
    if (!known && meeting->count < 64) {
        pthread_sigmask(SIG_BLOCK, NULL, &meeting->masks[meeting->count]);
        meeting->threads[meeting->count++] = pthread_self();
        pthread_cond_broadcast(&meeting->came);
    }
    struct timespec end_time;
    clock_gettime(CLOCK_REALTIME, &end_time);
    end_time.tv_sec += 600;
    while (meeting->count < meeting->wanted && pthread_cond_timedwait(&meeting->came, &meeting->lock, &end_time) == 0)
        ;
    pthread_mutex_unlock(&meeting->lock);
}

static struct meeting hold_meeting(int wanted, uint32_t blocks)
{
    struct meeting meeting = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .wanted = wanted};
    void *const args[] = {&meeting};
    const cf_host_launch launch = {.grid = {blocks, 1, 1}, .block = {256, 1, 1}, .cluster = {1, 1, 1}, .args = args};
    cf__schedule_run(meet, &launch);
    return meeting;
}

TEST(pool_run_large_launch_takes_every_thread)
{
    static const char *const counts[] = {"2", "4", "7"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        use_threads(counts[i]);
        struct meeting meeting = hold_meeting(atoi(counts[i]), 100000);
        assert_int_equal(meeting.count, atoi(counts[i]));
        int launcher = 0;
        for (int t = 0; t < meeting.count; t++)
            launcher |= pthread_equal(meeting.threads[t], pthread_self()) != 0;
        assert_true(launcher);
    }
}

TEST(pool_run_one_thread_is_the_launching_one)
{
    use_threads("1");
    struct meeting meeting = hold_meeting(1, 100000);
    assert_int_equal(meeting.count, 1);
    assert_true(pthread_equal(meeting.threads[0], pthread_self()));
}

TEST(pool_run_small_launch_stays_on_its_thread)
{
    use_threads("8");
    int alone = 0;
    for (int i = 0; i < 100; i++) {
        struct meeting meeting = hold_meeting(1, 16);
        alone += meeting.count == 1 && pthread_equal(meeting.threads[0], pthread_self()) != 0;
    }
    assert_true(alone >= 50); /* while the thread waits for a processor, the launch seems to take long */
}

/* The pieces of a job whose threads wait for one another, with the number of runs of each piece. */
struct pieces {
    struct meeting meeting;
    unsigned int runs[100];
};

static void meet_and_count(void *data, uint64_t begin, uint64_t end)
{
    struct pieces *pieces = data;
    void *const args[] = {&pieces->meeting};
    const cf_host_launch launch = {.cluster = {1, 1, 1}, .args = args};
    meet(&launch, begin, end);
    for (uint64_t i = begin; i < end; i++)
        __atomic_fetch_add(&pieces->runs[i], 1, __ATOMIC_RELAXED);
}

/* The meeting ends only when all workers that were requested have come. */
TEST(pool_share_takes_as_many_workers_as_asked_for_the_rest_of_a_job)
{
    enum { COUNT = 100, UNIT = 3 };
    use_threads("8");
    for (uint64_t workers = 0; workers < 10; workers++)
        for (uint64_t done = 0; done < COUNT / UNIT; done += 11) {
            const int wanted = workers < 8 ? (int)workers + 1 : 8;
            struct pieces pieces = {.meeting = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .wanted = wanted}};
            struct cf__pool_job job = {
                .body = meet_and_count, .data = &pieces, .count = COUNT, .unit = UNIT, .units = COUNT / UNIT + 1};
            (void)cf__pool_share(&job, done, workers, workers);
            assert_int_equal(pieces.meeting.count, wanted);
            for (uint64_t i = 0; i < COUNT; i++)
                assert_int_equal(pieces.runs[i], i >= done * UNIT);
        }
    use_threads(NULL);
}

/* ---- Distribution of blocks ---- */

/* One block waits, for at most 600 s, until all other blocks have run, except those that its own thread takes with
 * it. */
struct late {
    pthread_mutex_t lock;
    pthread_cond_t change;
    uint64_t blocks, late, ran, longest;
    int was_alone;
};

static void wait_for_others(struct late *late, uint64_t others)
{
    struct timespec end_time;
    clock_gettime(CLOCK_REALTIME, &end_time);
    end_time.tv_sec += 600;
    pthread_mutex_lock(&late->lock);
    while (late->ran < others && pthread_cond_timedwait(&late->change, &late->lock, &end_time) == 0)
        ;
    late->was_alone = late->ran == others;
    pthread_mutex_unlock(&late->lock);
}

static void run_late(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    struct late *late = launch->args[0];
    if (begin <= late->late && late->late < end)
        wait_for_others(late, late->blocks - (end - begin));
    pthread_mutex_lock(&late->lock);
    late->ran += end - begin;
    late->longest = end - begin > late->longest ? end - begin : late->longest;
    pthread_cond_broadcast(&late->change);
    pthread_mutex_unlock(&late->lock);
}

/* If a thread does not get to some of its blocks, others run them, whichever thread it is and however long the kernel
 * took before. */
TEST(pool_run_uneven_blocks_are_run_by_who_is_free)
{
    static const int counts[] = {2, 3, 8};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char text[8];
        snprintf(text, sizeof text, "%d", counts[i]);
        use_threads(text);
        for (int part = 0; part < counts[i]; part++)
            for (int round = 0; round < 3; round++) {
                struct late late = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .blocks = 2000};
                late.late = late.blocks * (uint64_t)part / (uint64_t)counts[i] + (uint64_t)round * 20;
                void *const args[] = {&late};
                const cf_host_launch launch = {
                    .grid = {2000, 1, 1}, .block = {1024, 1, 1}, .cluster = {1, 1, 1}, .args = args};
                cf__schedule_run(run_late, &launch);
                assert_int_equal(late.ran, late.blocks);
                assert_true(late.was_alone);
                assert_true(late.longest <= late.blocks / 16 / (uint64_t)counts[i] || late.longest <= 16);
            }
    }
}

/* The first blocks of each thread, in which all threads wait for one another. */
struct firsts {
    struct meeting meeting;
    uint64_t begin[64];
};

static void note_first(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    struct firsts *firsts = launch->args[0];
    void *const args[] = {&firsts->meeting};
    const cf_host_launch inner = {.cluster = {1, 1, 1}, .args = args};
    meet(&inner, begin, end);
    pthread_mutex_lock(&firsts->meeting.lock);
    for (int i = 0; i < firsts->meeting.count; i++)
        if (pthread_equal(firsts->meeting.threads[i], pthread_self()) && firsts->begin[i] == UINT64_MAX)
            firsts->begin[i] = begin;
    pthread_mutex_unlock(&firsts->meeting.lock);
}

static struct firsts first_blocks(int wanted, uint64_t blocks)
{
    struct firsts firsts = {.meeting = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .wanted = wanted}};
    void *const args[] = {&firsts};
    const cf_host_launch launch = {
        .grid = {(uint32_t)blocks, 1, 1}, .block = {256, 1, 1}, .cluster = {1, 1, 1}, .args = args};
    memset(firsts.begin, 0xff, sizeof firsts.begin);
    cf__schedule_run(note_first, &launch);
    return firsts;
}

TEST(pool_run_again_gives_each_thread_the_same_part)
{
    enum { THREADS = 5, BLOCKS = 100000 };
    use_threads("5");
    struct firsts firsts = first_blocks(THREADS, BLOCKS);
    assert_int_equal(firsts.meeting.count, THREADS);
    for (int round = 0; round < 10; round++) {
        struct firsts again = first_blocks(THREADS, BLOCKS);
        unsigned int parts = 0;
        assert_int_equal(again.meeting.count, THREADS);
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(again.begin[i] % (BLOCKS / THREADS), 0);
            parts |= 1u << again.begin[i] / (BLOCKS / THREADS);
            for (int j = 0; j < THREADS; j++)
                if (pthread_equal(again.meeting.threads[i], firsts.meeting.threads[j]))
                    assert_int_equal(again.begin[i], firsts.begin[j]);
        }
        assert_int_equal(parts, (1u << THREADS) - 1);
    }
}

static void add_blocks(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    uint64_t *sums = launch->args[0]; /* the sum is modulo 2^64 */
    __atomic_fetch_add(&sums[0], end - begin, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sums[1], end * end - begin * begin, __ATOMIC_RELAXED);
}

TEST(pool_run_grids_of_any_size_run_each_block_once)
{
    static const cf_dim3 grids[] = {{0x7fffffff, 1, 1},     {0x7fffffff, 2, 1},         {0x7fffffff, 3, 1},
                                    {65536, 65535, 1},      {0x7fffffff, 65535, 1},     {1, 65535, 65535},
                                    {33, 65535, 65535},     {0x7fffffff, 65535, 65535}, {65537, 65535, 7},
                                    {0x7fffffff, 1, 65535}, {0x40000000, 4, 1},         {0x40000000, 4, 3}};
    for (size_t t = 0; t < sizeof thread_counts / sizeof *thread_counts; t++) {
        use_threads(thread_counts[t]);
        for (size_t g = 0; g < sizeof grids / sizeof *grids; g++)
            for (uint32_t size = 1; size <= 1024; size *= 32) {
                uint64_t blocks = (uint64_t)grids[g].x * grids[g].y * grids[g].z, sums[2] = {0, 0};
                void *const args[] = {sums};
                const cf_host_launch launch = {
                    .grid = grids[g], .block = {size, 1, 1}, .cluster = {1, 1, 1}, .args = args};
                cf__schedule_run(add_blocks, &launch);
                assert_int_equal(sums[0], blocks);
                assert_int_equal(sums[1], blocks * blocks);
            }
    }
}

/* How long the kernel took last time decides which threads take part, but each block runs in any case. */
TEST(pool_run_short_launches_again_and_again_run_each_block_once)
{
    for (size_t t = 0; t < sizeof thread_counts / sizeof *thread_counts; t++) {
        use_threads(thread_counts[t]);
        for (uint32_t round = 0; round < 300; round++) {
            if (round % 16 == 0)
                nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL); /* after this time the workers sleep */
            assert_true(runs_once((cf_dim3){64 + round, 1, 1}, (cf_dim3){256, 1, 1}, count_blocks));
            assert_true(runs_once((cf_dim3){8, 16 + round, 1}, (cf_dim3){32, 8, 1}, count_blocks));
        }
    }
}

/* ---- Signals ---- */

static volatile sig_atomic_t handled_here, handled_elsewhere;
static pthread_t main_thread;

static void handle(int number)
{
    (void)number;
    if (pthread_equal(pthread_self(), main_thread))
        handled_here++;
    else
        handled_elsewhere++;
}

/* Returns 1 for signals that a kernel itself can raise. If they were blocked, they would end the process without
 * calling a handler. */
static int is_fault(int number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP;
}

TEST(pool_run_workers_block_every_signal_but_faults)
{
    skip_in_emulator();
    sigset_t before, after;
    use_threads("4");
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &before), 0);
    struct meeting meeting = hold_meeting(4, 100000);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &after), 0);
    assert_int_equal(meeting.count, 4);
    for (int number = 1; number < 65; number++) {
        if (number == SIGKILL || number == SIGSTOP || number == 32 || number == 33)
            continue; /* cannot be blocked, or (32 and 33) belongs to the C library */
        assert_int_equal(sigismember(&after, number), sigismember(&before, number));
        for (int t = 0; t < meeting.count; t++)
            if (!pthread_equal(meeting.threads[t], pthread_self()))
                assert_int_equal(sigismember(&meeting.masks[t], number), !is_fault(number));
    }

    struct sigaction action = {.sa_handler = handle}, old;
    main_thread = pthread_self();
    sigemptyset(&action.sa_mask);
    assert_int_equal(sigaction(SIGUSR1, &action, &old), 0);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(kill(getpid(), SIGUSR1), 0);
        assert_true(runs_once((cf_dim3){1000, 1, 1}, (cf_dim3){256, 1, 1}, count_blocks));
    }
    assert_int_equal(sigaction(SIGUSR1, &old, NULL), 0);
    assert_int_equal(handled_here, 20);
    assert_int_equal(handled_elsewhere, 0);
}

/* The exit status shows whether the handler runs on a thread other than the main thread, and on that thread's alternate
 * stack. */
static void handle_fault(int number)
{
    stack_t own;
    (void)number;
    _exit(sigaltstack(NULL, &own) == 0 && own.ss_flags & SS_ONSTACK && !pthread_equal(pthread_self(), main_thread) ? 7
                                                                                                                   : 8);
}

static void write_elsewhere(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    volatile char *none = launch->args[0];
    (void)begin;
    (void)end;
    if (!pthread_equal(pthread_self(), main_thread))
        *none = 1;
    usleep(1000); /* gives the other threads time to start */
}

TEST(pool_run_fault_on_a_worker_gets_to_the_handler_on_its_stack)
{
    skip_in_emulator();
    int ended = 0;
    pid_t child = fork_flushed();
    assert_true(child >= 0);
    if (child == 0) {
        struct sigaction action = {.sa_handler = handle_fault, .sa_flags = SA_ONSTACK};
        void *none = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        void *const args[] = {none};
        const cf_host_launch launch = {.grid = {4096, 1, 1}, .block = {1024, 1, 1}, .cluster = {1, 1, 1}, .args = args};
        main_thread = pthread_self();
        sigemptyset(&action.sa_mask);
        if (setenv("CF_THREADS", "4", 1) != 0 || cf__pool_configure() != CF_OK || none == MAP_FAILED ||
            sigaction(SIGSEGV, &action, NULL) != 0)
            _exit(1);
        cf__schedule_run(write_elsewhere, &launch);
        _exit(2);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended));
    assert_int_equal(WEXITSTATUS(ended), 7);
}

/* Uses as much stack as a thread of a GPU has local memory. */
static void use_stack(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    char local[512 << 10];
    for (size_t i = 0; i < sizeof local; i += 512)
        *(volatile char *)&local[i] = 1;
    count_blocks(launch, begin, end);
    if (!pthread_equal(pthread_self(), main_thread))
        __atomic_store_n((int *)launch->args[1], 1, __ATOMIC_RELAXED);
    usleep(1000); /* gives the other threads time to start */
}

TEST(pool_run_worker_has_room_for_a_kernel_where_the_default_is_small)
{
    unsigned int runs[4096] = {0};
    struct counts counts = {.blocks = 4096, .runs = runs};
    int was_worker = 0;
    void *const args[] = {&counts, &was_worker};
    const cf_host_launch launch = {.grid = {4096, 1, 1}, .block = {1024, 1, 1}, .cluster = {1, 1, 1}, .args = args};
    pthread_attr_t attributes;
    size_t before;
    assert_int_equal(pthread_getattr_default_np(&attributes), 0);
    assert_int_equal(pthread_attr_getstacksize(&attributes, &before), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, 128 << 10), 0);
    cf__pool_stop();
    assert_int_equal(pthread_setattr_default_np(&attributes), 0);
    main_thread = pthread_self();
    use_threads("2");
    cf__schedule_run(use_stack, &launch);
    cf__pool_stop();
    assert_int_equal(pthread_attr_setstacksize(&attributes, before), 0);
    assert_int_equal(pthread_setattr_default_np(&attributes), 0);
    assert_int_equal(pthread_attr_destroy(&attributes), 0);
    assert_true(was_worker);
    for (int b = 0; b < 4096; b++)
        assert_int_equal(runs[b], 1);
}

/* ---- Processors ---- */

static void note_processors(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    cpu_set_t own, *of_workers = launch->args[0];
    (void)begin, (void)end;
    if (!pthread_equal(pthread_self(), main_thread) && sched_getaffinity(0, sizeof own, &own) == 0) {
        *of_workers = own;
        __atomic_store_n((int *)launch->args[1], 1, __ATOMIC_RELEASE);
    }
    usleep(1000); /* gives the other threads time to start */
}

static void *wait_for_end(void *barrier)
{
    pthread_barrier_wait(barrier);
    return NULL;
}

TEST(pool_run_by_a_bound_thread_leaves_its_workers_all_processors)
{
    cpu_set_t all, one, of_workers;
    int is_noted = 0;
    void *const args[] = {&of_workers, &is_noted};
    const cf_host_launch launch = {.grid = {4096, 1, 1}, .block = {1024, 1, 1}, .cluster = {1, 1, 1}, .args = args};
    pthread_barrier_t barrier;
    pthread_t other;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int i = 0; !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    use_threads(NULL);
    int threads = cf__pool_size();
    assert_int_equal(pthread_barrier_init(&barrier, NULL, 2), 0);
    assert_int_equal(pthread_create(&other, NULL, wait_for_end, &barrier), 0);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    main_thread = pthread_self();
    use_threads(NULL);
    int bound_threads = cf__pool_size();
    use_threads("2");
    cf__schedule_run(note_processors, &launch);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    pthread_barrier_wait(&barrier);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(pthread_barrier_destroy(&barrier), 0);
    assert_int_equal(bound_threads, threads);
    assert_true(is_noted);
    assert_true(CPU_EQUAL(&of_workers, &all));
}

/* ---- Nested and concurrent launches ---- */

static int nested_wrong;

static void launch_within(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    for (uint64_t b = begin; b < end; b += 64)
        if (!runs_once((cf_dim3){70, 1, 1}, (cf_dim3){256, 1, 1}, count_blocks))
            __atomic_fetch_add(&nested_wrong, 1, __ATOMIC_RELAXED);
    count_blocks(launch, begin, end);
}

TEST(pool_run_in_a_body_runs_each_block_once)
{
    for (size_t t = 0; t < sizeof thread_counts / sizeof *thread_counts; t++) {
        use_threads(thread_counts[t]);
        assert_true(runs_once((cf_dim3){3000, 1, 1}, (cf_dim3){64, 1, 1}, launch_within));
        assert_int_equal(nested_wrong, 0);
    }
}

/* Returns the number of failed launches. */
static void *launch_on_thread(void *number)
{
    unsigned short own[3] = {4, 5, (unsigned short)(uintptr_t)number};
    intptr_t wrong = 0;
    for (int round = 0; round < 60; round++) {
        cf_dim3 grid = {1 + (uint32_t)(nrand48(own) % 3000), 1, 1}, block = {1 + (uint32_t)(nrand48(own) % 256), 1, 1};
        wrong += !runs_once(grid, block, round % 16 ? count_blocks : launch_within);
    }
    return (void *)wrong;
}

static void launch_on_8_threads(void)
{
    run_threads(8, launch_on_thread);
    assert_int_equal(nested_wrong, 0);
}

TEST(pool_run_8_threads_at_once_run_each_block_once)
{
    static const char *const counts[] = {"1", "2", "5"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        use_threads(counts[i]);
        launch_on_8_threads();
    }
}

/* ---- Stop and fork ---- */

TEST(pool_stop_then_run_starts_anew)
{
    use_threads("3");
    for (int i = 0; i < 30; i++) {
        struct meeting meeting = hold_meeting(3, 100000);
        assert_int_equal(meeting.count, 3);
        cf__pool_stop();
        if (i % 2)
            cf__pool_stop(); /* no launch is running, so this has no effect */
    }
    assert_true(runs_once((cf_dim3){1000, 1, 1}, (cf_dim3){256, 1, 1}, count_blocks));
}

/* Returns 1 if launches work in a forked child, which has only the thread that forked. */
static int works_in_child(void)
{
    int status = 0;
    pid_t child = fork_flushed();
    if (child == 0) {
        alarm(120); /* kills a child that hangs, but not one that is slow */
        int right = 1;
        for (int i = 0; i < 3; i++)
            right &= runs_once((cf_dim3){1000, 1, 1}, (cf_dim3){256, 1, 1}, count_blocks);
        right &= hold_meeting(4, 100000).count == 4; /* the child starts threads of its own */
        cf__pool_stop();
        _exit(!right);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

TEST(pool_run_in_a_child_runs_each_block_once)
{
    skip_where_forks_are_unsafe();
    use_threads("4");
    assert_true(works_in_child()); /* the pool has not started any threads yet */
    assert_true(runs_once((cf_dim3){1000, 1, 1}, (cf_dim3){256, 1, 1}, count_blocks));
    for (int i = 0; i < 10; i++)
        assert_true(works_in_child());
    assert_true(runs_once((cf_dim3){1000, 1, 1}, (cf_dim3){256, 1, 1}, count_blocks));
    cf__pool_stop();
    assert_true(works_in_child());
}

/* Forks without fork handlers. The child lacks the workers, and also the thread that holds the lock. */
static int works_in_bare_child(void)
{
    int status = 0;
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        static unsigned int runs[2000];
        alarm(120);
        int right = 1;
        for (int i = 0; i < 3; i++) { /* must not allocate, because the lock of the heap may be held */
            struct counts counts = {.blocks = 2000, .runs = runs};
            void *const args[] = {&counts};
            const cf_host_launch launch = {
                .grid = {2000, 1, 1}, .block = {256, 1, 1}, .cluster = {1, 1, 1}, .args = args};
            memset(runs, 0, sizeof runs);
            cf__schedule_run(count_blocks, &launch);
            for (int b = 0; b < 2000; b++)
                right &= runs[b] == 1;
        }
        cf__pool_stop();
        _exit(!right);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

TEST(pool_run_in_a_child_without_handlers_runs_each_block_once)
{
    skip_where_forks_are_unsafe();
    use_threads("4");
    assert_true(works_in_bare_child());
    assert_true(runs_once((cf_dim3){1000, 1, 1}, (cf_dim3){256, 1, 1}, count_blocks));
    for (int i = 0; i < 10; i++)
        assert_true(works_in_bare_child());
    assert_true(runs_once((cf_dim3){1000, 1, 1}, (cf_dim3){256, 1, 1}, count_blocks));
}

TEST(pool_run_in_a_child_without_handlers_that_has_the_lock_taken_works)
{
    skip_where_forks_are_unsafe();
    use_threads("4");
    assert_true(runs_once((cf_dim3){1000, 1, 1}, (cf_dim3){256, 1, 1}, count_blocks));
    cf__pool_lock(); /* plays another thread that holds the lock */
    int works = works_in_bare_child();
    cf__pool_unlock();
    assert_true(works);
    assert_true(runs_once((cf_dim3){1000, 1, 1}, (cf_dim3){256, 1, 1}, count_blocks));
}

static int stop_launching;

static void *keep_launching(void *unused)
{
    intptr_t wrong = 0;
    (void)unused;
    static unsigned int runs[200];
    while (!__atomic_load_n(&stop_launching, __ATOMIC_RELAXED)) { /* allocates nothing: the heap is not under test */
        struct counts counts = {.blocks = 200, .runs = runs};
        void *const args[] = {&counts};
        const cf_host_launch launch = {.grid = {200, 1, 1}, .block = {256, 1, 1}, .cluster = {1, 1, 1}, .args = args};
        memset(runs, 0, sizeof runs);
        cf__schedule_run(count_blocks, &launch);
        for (int b = 0; b < 200; b++)
            wrong += runs[b] != 1;
    }
    return (void *)wrong;
}

TEST(pool_run_in_a_child_of_a_launching_parent_runs_each_block_once)
{
    skip_where_forks_are_unsafe();
    use_threads("4");
    pthread_t thread;
    void *wrong;
    int right = 1;
    __atomic_store_n(&stop_launching, 0, __ATOMIC_RELAXED);
    assert_int_equal(pthread_create(&thread, NULL, keep_launching, NULL), 0);
    for (int i = 0; i < 50 && right; i++)
        right = works_in_child();
    __atomic_store_n(&stop_launching, 1, __ATOMIC_RELAXED);
    assert_int_equal(pthread_join(thread, &wrong), 0);
    assert_null(wrong);
    assert_true(right);
}

/* ---- CF_THREADS ---- */

TEST(pool_configure_bad_number_is_refused_and_the_old_one_kept)
{
    static const char *const bad[] = {"0", "-1", "x", "1x", "2 ", "1025", "1.5", "0x4", "99999999999999999999"};
    use_threads("3");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char said[64];
        snprintf(said, sizeof said, "CF_THREADS=%s: it is a number from 1 to 1024", bad[i]);
        assert_int_equal(setenv("CF_THREADS", bad[i], 1), 0);
        assert_fails(cf__pool_configure(), CF_EINVAL, said);
    }
    assert_int_equal(hold_meeting(3, 100000).count, 3);
}

TEST(pool_configure_empty_or_unset_takes_the_processors)
{
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    int processors = CPU_COUNT(&set) < 64 ? CPU_COUNT(&set) : 64;
    use_threads("");
    assert_int_equal(hold_meeting(processors, 1000000).count, processors);
    use_threads(NULL);
    assert_int_equal(hold_meeting(processors, 1000000).count, processors);
}

int main(void)
{
    return run_all_tests(use_cpu, end_library);
}
