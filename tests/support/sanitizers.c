/* sanitizers.c - options of the sanitizers, for every test program: malloc() returns NULL for a size that is too large,
 * a forked child of a process with threads continues, and threads that the parent has not joined are no leaks. */

#define EXPORT __attribute__((visibility("default")))

EXPORT const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* nvJitLink 13.0 leaks some memory when a link fails. */
EXPORT const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libnvJitLink.so";
}

EXPORT const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1:die_after_fork=0:report_thread_leaks=0";
}

/* ThreadSanitizer does not see that a closed library is unmapped and its addresses are reused, which happens if threads
 * open and close the driver; end() and note_exit() of the closed library do not race with those of the next one. It
 * does not see the dynamic linker's own lock either, which check_object() holds while it reads names of libraries. */
EXPORT const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:^end$\nrace:^note_exit$\nrace:^check_object$";
}
