/* test_fiber.c - fibers: their stacks, switches between them, and the guard that stops a thread whose stack
 * overflows. */
#include "run_group.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bounds.h"
#include "cpu/fiber.h"

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

/* ---- Fibers in a ring ---- */

enum { FIBERS = 200, ROUNDS = 50 };

static struct {
    struct cf__stacks stacks;
    struct cf__fiber fibers[FIBERS], outside;
    uint64_t rounds[FIBERS]; /* number of rounds of each fiber; the previous fiber sets it */
    int ended, misaligned, wrong;
} ring;

/* The jump must return the number of rounds at the time when the fiber continues, which differs from that when it
 * stopped. */
static void switch_to_next(size_t own)
{
    size_t next = (own + 1) % FIBERS;
    uint64_t before = ring.rounds[own];
    ring.rounds[next]++;
    if (cf__fiber_is_watched)
        cf__fiber_switch(&ring.fibers[own], &ring.fibers[next]);
    else
        ring.wrong += cf__fiber_jump(&ring.fibers[own].sp, ring.fibers[next].sp, &ring.rounds[own]) != before + 1;
}

/* Uses so many values that they fill all registers while other fibers run. */
static void go_round(void *data)
{
    cf__fiber_begun();
    long own = (long)(intptr_t)data, a = own, b = 2 * own, c = 3 * own, d = 5 * own, e = 7 * own, f = 11 * own;
    double x = (double)own, y = x / 4, z = x / 8; /* exact, as are all later values */
    _Alignas(16) volatile char aligned[16];
    char text[64];
    ring.misaligned += (uintptr_t)aligned % 16 != 0;
    for (int i = 0; i < ROUNDS; i++) {
        switch_to_next((size_t)own);
        a++, b += 2, c += 3, d += 5, e += 7, f += 11;
        x += 1, y += 1.0 / 4, z += 1.0 / 8;
    }
    snprintf(text, sizeof text, "%.1f %.1Lf", x, (long double)x); /* needs an aligned stack */
    char right[64];
    snprintf(right, sizeof right, "%ld.0 %ld.0", own + ROUNDS, own + ROUNDS);
    ring.wrong += a != own + ROUNDS || b != 2 * a || c != 3 * a || d != 5 * a || e != 7 * a || f != 11 * a ||
                  x != (double)a || y != (double)own / 4 + ROUNDS / 4.0 || z != (double)own / 8 + ROUNDS / 8.0 ||
                  strcmp(text, right) != 0;
    ring.ended++;
    ring.rounds[(own + 1) % FIBERS]++;
    cf__fiber_leave(&ring.fibers[own], own + 1 < FIBERS ? &ring.fibers[own + 1] : &ring.outside);
}

TEST(fiber_keeps_what_its_functions_have)
{
    cf__fiber_detect_sanitizers();
    assert_true(cf__stacks_reserve(&ring.stacks, FIBERS));
    for (int again = 0; again < 3; again++) {
        ring.ended = 0;
        for (intptr_t i = 0; i < FIBERS; i++)
            cf__fiber_create(&ring.fibers[i], &ring.stacks, (size_t)i, go_round, (void *)i);
        cf__fiber_switch(&ring.outside, &ring.fibers[0]);
        for (int i = 0; i < FIBERS; i++)
            cf__fiber_end(&ring.fibers[i]);
        assert_int_equal(ring.ended, FIBERS);
        assert_int_equal(ring.wrong, 0);
        assert_int_equal(ring.misaligned, 0);
    }
    for (int i = 0; i < FIBERS; i++)
        cf__fiber_forget(&ring.fibers[i]);
    assert_int_equal(cf__stacks_overrun(&ring.stacks, FIBERS), SIZE_MAX);
    cf__stacks_free(&ring.stacks);
}

static long resident_pages(void)
{
    long size, resident;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &size, &resident), 2);
    fclose(file);
    return resident;
}

/* ThreadSanitizer itself uses more than a page for each fiber. */
TEST(fibers_that_are_forgotten_keep_no_memory)
{
    enum { MANY = 10000 };
    struct cf__stacks stacks = {.memory = NULL};
    struct cf__fiber fiber = {.sp = NULL};
    cf__fiber_detect_sanitizers();
    assert_true(cf__stacks_reserve(&stacks, 1));
    const long before = resident_pages();
    for (int i = 0; i < MANY; i++) {
        cf__fiber_create(&fiber, &stacks, 0, go_round, NULL);
        cf__fiber_forget(&fiber);
    }
    assert_in_range(resident_pages(), 1, before + MANY / 2);
    cf__stacks_free(&stacks);
}

/* ---- Stacks ---- */

TEST(stacks_that_cannot_be_had_leave_what_there_was)
{
    struct cf__stacks stacks = {.memory = NULL};
    assert_true(cf__stacks_reserve(&stacks, 3));
    char *memory = stacks.memory;
    assert_true(cf__stacks_reserve(&stacks, 2));
    assert_ptr_equal(stacks.memory, memory);
    assert_false(cf__stacks_reserve(&stacks, (size_t)1 << 31));
    assert_ptr_equal(stacks.memory, memory);
    assert_int_equal(stacks.count, 3);
    assert_true(cf__stacks_reserve(&stacks, 4));
    assert_int_equal(stacks.count, 4);
    cf__stacks_free(&stacks);
    assert_null(stacks.memory);
    assert_int_equal(stacks.count, 0);
    cf__stacks_free(&stacks);
}

/* Other memory may be mapped at the same addresses meanwhile. Large stacks make that unlikely, because small mappings
 * go to smaller gaps first. */
static int is_mapped(char *memory)
{
    return msync(memory, (size_t)sysconf(_SC_PAGESIZE), MS_ASYNC) == 0;
}

TEST(stacks_that_are_freed_or_replaced_leave_no_mapping)
{
    struct cf__stacks stacks = {.memory = NULL};
    assert_true(cf__stacks_reserve(&stacks, 3));
    char *first = stacks.memory;
    assert_true(is_mapped(first));
    assert_true(cf__stacks_reserve(&stacks, 30));
    assert_false(is_mapped(first));
    char *second = stacks.memory, *last = stacks.memory + 30 * stacks.stride - stacks.page;
    assert_true(is_mapped(second) && is_mapped(last));
    cf__stacks_free(&stacks);
    assert_false(is_mapped(second) || is_mapped(last));
}

static void nothing(void *data)
{
    (void)data;
}

/* Runs a child that writes stack 1, from its top down to `below` bytes under its usable part; returns its exit
 * status. */
static int end_of_child(size_t below)
{
    pid_t child = fork_flushed();
    if (child == 0) {
        struct cf__stacks stacks = {.memory = NULL};
        struct cf__fiber fibers[2] = {{.sp = NULL}};
        struct rlimit none = {0, 0};
        (void)setrlimit(RLIMIT_CORE, &none);
        (void)signal(SIGSEGV, SIG_DFL);
        if (!cf__stacks_reserve(&stacks, 2))
            _exit(2);
        for (size_t i = 0; i < 2; i++)
            cf__fiber_create(&fibers[i], &stacks, i, nothing, NULL);
        volatile char *stack = stacks.memory + stacks.stride;
        for (size_t i = stacks.stride; i-- > stacks.page - below;)
            stack[i] = 1;
        _exit(stacks.stride - stacks.page < CF__STACK_BYTES ? 3 : 0);
    }
    int status = -1;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

TEST(stack_is_large_enough_and_what_lies_below_is_guarded)
{
    skip_in_emulator();
    assert_int_equal(end_of_child(0), 0);
    int status = end_of_child(1);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
}

TEST(stack_without_a_guard_tells_what_ran_out_of_it)
{
    enum { COUNT = 6 };
    struct cf__stacks stacks = {.memory = NULL};
    struct cf__fiber fibers[COUNT] = {{.sp = NULL}};
    assert_true(cf__stacks_reserve(&stacks, COUNT));
    for (size_t i = 0; i < COUNT; i++) {
        has_no_guards = i >= 2;
        cf__fiber_create(&fibers[i], &stacks, i, nothing, NULL);
    }
    has_no_guards = 0;
    assert_int_equal(stacks.bare, 2);
    assert_int_equal(cf__stacks_overrun(&stacks, COUNT), SIZE_MAX);
    memset(stacks.memory + 4 * stacks.stride + stacks.page, 1, 100);
    assert_int_equal(cf__stacks_overrun(&stacks, COUNT), SIZE_MAX);
    stacks.memory[4 * stacks.stride + stacks.page - 1] = 1;
    assert_int_equal(cf__stacks_overrun(&stacks, COUNT), 4);
    assert_int_equal(cf__stacks_overrun(&stacks, 4), SIZE_MAX);
    stacks.memory[2 * stacks.stride] = 1;
    assert_int_equal(cf__stacks_overrun(&stacks, COUNT), 2);
    for (size_t i = 0; i < COUNT; i++)
        cf__fiber_forget(&fibers[i]);
    cf__stacks_free(&stacks);
}

int main(void)
{
    return run_group("tests", all_tests, test_count, NULL, NULL);
}
