/* fiber.c - stacks on which CUDA threads wait for one another, and the switch between them. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpu/fiber.h"

#include "base/bounds.h"

/* If the tops of all stacks had the same offset in their pages, they would compete for a few cache sets, and loads from
 * one stack would wait for stores to another (4 KiB aliasing). So the offsets go through all lines of a page in turn,
 * in steps longer than the lines that a waiting thread uses. */
#define LINE ((size_t)64)
#define LINES 64
#define STEP 9

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102 /* since Linux 6.13: makes a guard page without a separate mapping */
#endif

#define PATTERN 0xcf

int cf__stacks_reserve(struct cf__stacks *stacks, size_t count)
{
    if (count <= stacks->count)
        return 1;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    /* Each stack has one guard page and an odd number of pages: with a power of two, all tops would compete for a few
     * sets of the TLB. */
    size_t stride = (CF__STACK_BYTES + page - 1) / page * page + page;
    stride += stride / page % 2 ? 0 : page;
    char *memory =
        mmap(NULL, count * stride, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return 0;
    (void)madvise(memory, count * stride, MADV_NOHUGEPAGE); /* threads use one or two pages of a stack */
    cf__stacks_free(stacks);
    *stacks = (struct cf__stacks){.memory = memory, .stride = stride, .count = count, .bare = count, .page = page};
    return 1;
}

static void remove_marks(const void *memory, size_t bytes);

/* Removes AddressSanitizer's marks, because other memory may get these addresses later. Stacks without a guard were
 * never used, so they are skipped; clearing their marks would touch gigabytes. */
void cf__stacks_free(struct cf__stacks *stacks)
{
    if (stacks->memory) {
        remove_marks(stacks->memory, stacks->ready * stacks->stride);
        munmap(stacks->memory, stacks->count * stacks->stride);
    }
    *stacks = (struct cf__stacks){.memory = NULL};
}

/* Makes the lowest page of a stack a guard. Before Linux 6.13, each guard page is a separate mapping, and the number of
 * mappings is limited. Beyond some ten thousand stacks, a guard is a byte pattern that is checked after the launch. */
static void add_guard(struct cf__stacks *stacks, size_t number)
{
    char *stack = stacks->memory + number * stacks->stride;
    stacks->ready = number + 1;
    if (number < stacks->bare && madvise(stack, stacks->page, MADV_GUARD_INSTALL) != 0 &&
        mprotect(stack, stacks->page, PROT_NONE) != 0)
        stacks->bare = number;
    if (number >= stacks->bare)
        memset(stack, PATTERN, stacks->page);
}

size_t cf__stacks_overrun(const struct cf__stacks *stacks, size_t used)
{
    for (size_t number = stacks->bare; number < used; number++) {
        const unsigned char *stack = (const unsigned char *)stacks->memory + number * stacks->stride;
        for (size_t i = 0; i < stacks->page; i++)
            if (stack[i] != PATTERN)
                return number;
    }
    return SIZE_MAX;
}

/* ---- The switch: saves the callee-saved registers, and returns on the other stack ---- */

/* cf__fiber_jump() returns to an address that is not on the processor's shadow stack, which would kill the program.
 * This object lacks the mark for shadow stacks, so the linker and the loader disable them. */
#if (defined __CET__ && __CET__ & 2) || defined __ARM_FEATURE_GCS_DEFAULT
#error "fiber.c: compile with -fcf-protection=branch on x86-64, with -mbranch-protection=bti+pac-ret on aarch64"
#endif

const uint64_t cf__fiber_nothing = 0;

#if defined __x86_64__

__asm__(".text\n"
        ".hidden cf__fiber_jump\n"
        ".globl cf__fiber_jump\n"
        ".type cf__fiber_jump, @function\n"
        ".p2align 4\n"
        "cf__fiber_jump:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    pushq %rdx\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %rdx\n"
        "    movq (%rdx), %rax\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size cf__fiber_jump, . - cf__fiber_jump\n"
        /* The first frame of a fiber. No function calls it. */
        ".hidden cf__fiber_start\n"
        ".globl cf__fiber_start\n"
        ".type cf__fiber_start, @function\n"
        ".p2align 4\n"
        "cf__fiber_start:\n"
        "    .cfi_startproc\n"
        "    .cfi_undefined rip\n"
        "    movq %r12, %rdi\n"
        "    callq *%rbx\n"
        "    ud2\n"
        "    .cfi_endproc\n"
        ".size cf__fiber_start, . - cf__fiber_start\n");

enum { SAVED = 8 }; /* words: address of the result, six registers, return address */

static void build_frame(void **frame, void (*entry)(void *), void *data, void (*start)(void))
{
    *(const uint64_t **)&frame[0] = &cf__fiber_nothing;
    frame[4] = data;                         /* r12 */
    *(void (**)(void *)) & frame[5] = entry; /* rbx */
    *(void (**)(void)) & frame[7] = start;
}

#elif defined __aarch64__

__asm__(".text\n"
        ".hidden cf__fiber_jump\n"
        ".globl cf__fiber_jump\n"
        ".type cf__fiber_jump, %function\n"
        ".p2align 4\n"
        "cf__fiber_jump:\n"
        "    hint 34\n" /* bti c */
        "    sub sp, sp, #176\n"
        "    stp x19, x20, [sp]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    str x2, [sp, #160]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    ldr x2, [sp, #160]\n"
        "    ldr x0, [x2]\n"
        "    add sp, sp, #176\n"
        "    ret\n"
        ".size cf__fiber_jump, . - cf__fiber_jump\n"
        ".hidden cf__fiber_start\n"
        ".globl cf__fiber_start\n"
        ".type cf__fiber_start, %function\n"
        ".p2align 4\n"
        "cf__fiber_start:\n"
        "    .cfi_startproc\n"
        "    .cfi_undefined x30\n"
        "    mov x0, x20\n"
        "    blr x19\n"
        "    brk #1\n"
        "    .cfi_endproc\n"
        ".size cf__fiber_start, . - cf__fiber_start\n");

enum { SAVED = 22 };

static void build_frame(void **frame, void (*entry)(void *), void *data, void (*start)(void))
{
    *(void (**)(void *)) & frame[0] = entry; /* x19 */
    frame[1] = data;                         /* x20 */
    *(void (**)(void)) & frame[11] = start;  /* x30 */
    *(const uint64_t **)&frame[20] = &cf__fiber_nothing;
}

#else
#error "fiber.c switches stacks on x86-64 and aarch64"
#endif

void cf__fiber_start(void) __attribute__((visibility("hidden")));

/* ---- Sanitizers, which follow stacks ---- */

/* Functions of the sanitizer in the process. AddressSanitizer has to know each stack's addresses; ThreadSanitizer has
 * an object for each fiber. */
static struct {
    void (*begin)(void **shadow, const void *bottom, size_t size);
    void (*end)(void *shadow, const void **bottom, size_t *size);
    void *(*create)(unsigned int flags);
    void (*destroy)(void *fiber);
    void (*enter)(void *fiber, unsigned int flags);
    void *(*current)(void);
    void (*unpoison)(const volatile void *memory, size_t bytes);
} tool;
int cf__fiber_is_watched;

static void find_function(void *function, const char *name)
{
    *(void **)function = dlsym(RTLD_DEFAULT, name);
}

static void find_sanitizer(void)
{
    find_function(&tool.begin, "__sanitizer_start_switch_fiber");
    find_function(&tool.end, "__sanitizer_finish_switch_fiber");
    find_function(&tool.create, "__tsan_create_fiber");
    find_function(&tool.destroy, "__tsan_destroy_fiber");
    find_function(&tool.enter, "__tsan_switch_to_fiber");
    find_function(&tool.current, "__tsan_get_current_fiber");
    find_function(&tool.unpoison, "__asan_unpoison_memory_region");
    cf__fiber_is_watched = (tool.begin && tool.end) || (tool.create && tool.destroy && tool.enter && tool.current);
}

void cf__fiber_detect_sanitizers(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_sanitizer);
}

/* Clears AddressSanitizer's marks around variables. */
static void remove_marks(const void *memory, size_t bytes)
{
    if (tool.unpoison)
        tool.unpoison(memory, bytes);
}

/* Finds the bounds of the thread's own stack and caches them: to find them, the C library allocates memory and reads a
 * file. */
static const void *find_own_stack(size_t *size)
{
    static _Thread_local void *bottom;
    static _Thread_local size_t bytes;
    pthread_attr_t attributes;
    if (!bottom && pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &bottom, &bytes);
        pthread_attr_destroy(&attributes);
    }
    *size = bytes;
    return bottom;
}

void cf__fiber_watched_switch(struct cf__fiber *from, const struct cf__fiber *to, int is_last)
{
    if (tool.begin) {
        size_t size = to->bytes;
        const void *bottom = to->stack ? to->stack : find_own_stack(&size);
        tool.begin(is_last ? NULL : &from->tool, bottom, size);
    } else {
        if (!from->stack)
            from->tool = tool.current();
        tool.enter(to->tool, 0);
    }
    cf__fiber_jump(&from->sp, to->sp, &cf__fiber_nothing);
    if (tool.begin)
        tool.end(from->tool, NULL, NULL);
}

/* Functions that never returned leave AddressSanitizer's marks around their variables. */
void cf__fiber_end(const struct cf__fiber *fiber)
{
    if (tool.unpoison && fiber->stack)
        tool.unpoison(fiber->sp, (size_t)((const char *)fiber->stack + fiber->bytes - (const char *)fiber->sp));
}

void cf__fiber_forget(struct cf__fiber *fiber)
{
    if (fiber->tool && tool.create && fiber->stack)
        tool.destroy(fiber->tool);
    fiber->tool = NULL;
}

void cf__fiber_begun(void)
{
    if (tool.end && cf__fiber_is_watched)
        tool.end(NULL, NULL, NULL);
}

void cf__fiber_create(struct cf__fiber *fiber, struct cf__stacks *stacks, size_t number, void (*entry)(void *data),
                      void *data)
{
    char *stack = stacks->memory + number * stacks->stride;
    if (number >= stacks->ready)
        add_guard(stacks, number);
    void **top = (void **)(void *)(stack + stacks->stride - (number * STEP % LINES + 1) * LINE);
    void **frame = top - SAVED; /* an even number of words, so that the stack is aligned when `entry` is called */
    for (int i = 0; i < SAVED; i++)
        frame[i] = NULL;
    build_frame(frame, entry, data, cf__fiber_start);
    int has_object = cf__fiber_is_watched && tool.create;
    void *object = has_object ? fiber->tool : NULL; /* reused, because creating the object is slow */
    *fiber = (struct cf__fiber){.sp = frame, .stack = stack, .bytes = stacks->stride, .tool = object};
    if (has_object && !object)
        fiber->tool = tool.create(0);
}
