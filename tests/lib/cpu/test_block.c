/* test_block.c - blocks on the CPU whose threads wait for one another: barriers, shared memory and failures. */
#include <stdlib.h>

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_group.h"

#include "block_kernels.h"

/* ---- A system without guard pages ---- */

static int has_no_guards;

/* These functions replace those of the C library, for calls in the library, too. */
int madvise(void *memory, size_t bytes, int advice)
{
    if (has_no_guards)
        return errno = EINVAL, -1;
    return (int)syscall(SYS_madvise, memory, bytes, advice);
}

int mprotect(void *memory, size_t bytes, int protection)
{
    if (has_no_guards)
        return errno = ENOMEM, -1;
    return (int)syscall(SYS_mprotect, memory, bytes, protection);
}

/* ---- Results ---- */

TEST(block_sums_of_rows_are_right)
{
    enum { ROWS = SANITIZED ? 20 : 300 };
    float *x = malloc(ROWS * 256 * sizeof *x), sums[ROWS];
    assert_non_null(x);
    for (int i = 0; i < ROWS * 256; i++)
        x[i] = (float)(i * 7 % 11);
    assert_ok(block_row_sums(x, sums, ROWS));
    for (int row = 0; row < ROWS; row++) {
        float sum = 0;
        for (int i = 0; i < 256; i++)
            sum += x[row * 256 + i];
        assert_true(sums[row] == sum);
    }
    free(x);
}

TEST(block_shared_memory_of_a_launch_is_right)
{
    for (int n = 1; n <= 1024; n = n * 3 + 1) {
        int x[1024], y[1024];
        for (int i = 0; i < n; i++)
            x[i] = 5 * i + n;
        assert_ok(block_reverse_in_shared(x, y, n));
        for (int i = 0; i < n; i++)
            assert_int_equal(y[i], x[n - 1 - i]);
    }
}

TEST(block_deadlock_is_named)
{
    int y[64];
    assert_int_equal(block_wait_for_ever(y, 40), CF_EFAULT);
    if (!strstr(cf_last_error(), "63 of 64 threads wait at __syncthreads() in ") ||
        !strstr(cf_last_error(), "1 of 64 threads wait at __shfl_sync() in ") ||
        !strstr(cf_last_error(), "block.cu:46, such as (40, 0, 0) of block (0, 0, 0)"))
        fail_msg("%s", cf_last_error());
    assert_int_equal(block_wait_for_ever(y, 64), CF_OK);
}

TEST(block_assertion_that_fails_is_named)
{
    int x[1000];
    for (int i = 0; i < 1000; i++)
        x[i] = i;
    assert_int_equal(block_check_all(x, 998, 999), CF_EFAULT);
    if (!strstr(cf_last_error(), "assertion `x[i] < limit' failed") ||
        !strstr(cf_last_error(), "thread (230, 0, 0) of block (3, 0, 0)"))
        fail_msg("%s", cf_last_error());
    assert_ok(block_check_all(x, 2000, 1000));
}

TEST(block_threads_that_leave_are_not_waited_for)
{
    static int rounds[3 * 1024];
    for (int n = 1; n <= (SANITIZED ? 100 : 1024); n = n * 2 + 1) {
        assert_ok(block_leave_in_turn(rounds, 3, n));
        for (int i = 0; i < 3 * n; i++)
            assert_int_equal(rounds[i], i % n * 37 % n);
    }
}

/* ---- Stacks ---- */

/* A thread always continues on its own stack, wherever it stopped and whichever thread runs next. */
TEST(block_waits_of_all_kinds_take_turns)
{
    enum { BLOCKS = 3, ROUNDS = SANITIZED ? 20 : 200 };
    for (int n = 32; n <= 512; n *= 4) {
        int y[64], wrong[BLOCKS * 512];
        assert_int_equal(block_fail_after_barrier(y, n / 32), CF_EFAULT); /* its threads must not run later */
        assert_ok(block_wait_in_all_ways(wrong, BLOCKS, n, ROUNDS));
        for (int i = 0; i < BLOCKS * n; i++)
            assert_int_equal(wrong[i], 0);
    }
}

TEST(block_local_memory_of_400_kib_is_there)
{
    int x[64];
    for (int i = 0; i < 64; i++)
        x[i] = i + 1;
    assert_ok(block_keep_much(x, 100 * 1024 - 1));
    for (int i = 0; i < 64; i++)
        assert_int_equal(x[i], 200 * (i + 1));
}

TEST(block_thread_that_runs_out_of_its_stack_ends_the_process)
{
    int x[64];
    assert_ok(block_descend_deep(x, 100));
    pid_t child = fork_flushed();
    if (child == 0) {
        struct rlimit none = {0, 0};
        (void)setrlimit(RLIMIT_CORE, &none);
        (void)signal(SIGSEGV, SIG_DFL);
        _exit(block_descend_deep(x, 100000) == CF_OK ? 0 : 1);
    }
    int status = -1;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
}

/* A thread exceeds its stack by less than a page. No later launch may use the damaged stacks. */
TEST(block_after_a_thread_that_ran_out_of_its_stack_is_right)
{
    int x[64], depth = 0, status = CF_OK;
    if (SANITIZED)
        skip_test(NEEDS_NO_SANITIZER);
    assert_ok(cf_shutdown());
    assert_ok(cf_device_use(CF_HOST));
    has_no_guards = 1;
    while (status == CF_OK && depth < 100000)
        status = block_descend_slowly(x, depth += 8);
    assert_int_equal(status, CF_EFAULT);
    assert_non_null(strstr(cf_last_error(), "a thread needs more than the 640 KiB that a stack has on the CPU"));
    for (int i = 0; i < 3; i++) {
        assert_ok(block_descend_slowly(x, 100));
        assert_int_equal(x[63], 5050);
    }
    has_no_guards = 0;
    assert_ok(cf_shutdown());
    assert_ok(cf_device_use(CF_HOST));
}

int main(void)
{
    return run_all_tests(use_cpu, end_library);
}
