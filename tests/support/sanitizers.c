/* sanitizers.c - what sanitizers are told, in every test program: to refuse too much memory as malloc() does, and
 * to let a child of a process with threads go on, where those that the parent has not joined yet are no leak. */

#define EXPORT __attribute__((visibility("default")))

EXPORT const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

EXPORT const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1:die_after_fork=0:report_thread_leaks=0";
}

/* ThreadSanitizer does not see that a closed library's memory was unmapped and is another's now, which happens where
 * threads open and close the driver: what the library's end() and note_exit() did in the one is no race with what is
 * done in the other. */
EXPORT const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:^end$\nrace:^note_exit$";
}
