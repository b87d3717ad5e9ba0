/* fault_alloc.c - replaces the C library's allocators in a program. The linker's option --wrap=malloc redirects calls
 * of malloc() to __wrap_malloc(). */
#include "fault_alloc.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

#define FUNCTIONS(X)                                                                                                 \
    X(void *, malloc, (size_t bytes))                                                                                \
    X(void *, calloc, (size_t count, size_t bytes))                                                                  \
    X(void *, realloc, (void *block, size_t bytes))                                                                  \
    X(int, posix_memalign, (void **block, size_t alignment, size_t bytes))                                           \
    X(void *, aligned_alloc, (size_t alignment, size_t bytes))                                                       \
    X(char *, strdup, (const char *text))                                                                            \
    X(void, free, (void *block))                                                                                     \
    X(void *, mmap, (void *at, size_t bytes, int protection, int flags, int file, off_t offset))                     \
    X(int, munmap, (void *at, size_t bytes))                                                                         \
    X(int, pthread_create, (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *data)) \
    X(int, pthread_join, (pthread_t thread, void **value))

#define DECLARE(type, name, parameters) \
    type __real_##name parameters;      \
    type __wrap_##name parameters;
FUNCTIONS(DECLARE)
#undef DECLARE

static long calls, fail_at, injected, blocks, mappings, threads; /* atomic */
static int fails_forever;
static const char *first;

static void add(long *count, long value)
{
    __atomic_add_fetch(count, value, __ATOMIC_RELAXED);
}

void alloc_fault_arm(long at, int is_forever)
{
    __atomic_store_n(&calls, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&fails_forever, is_forever, __ATOMIC_RELAXED);
    __atomic_store_n(&first, NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&fail_at, at, __ATOMIC_RELEASE);
}

int alloc_fault_disarm(const char **name)
{
    __atomic_store_n(&fail_at, 0, __ATOMIC_RELEASE);
    *name = __atomic_load_n(&first, __ATOMIC_RELAXED);
    return *name != NULL;
}

long alloc_fault_count(void)
{
    return __atomic_load_n(&injected, __ATOMIC_RELAXED);
}

struct alloc_alive alloc_alive(void)
{
    return (struct alloc_alive){__atomic_load_n(&blocks, __ATOMIC_RELAXED),
                                __atomic_load_n(&mappings, __ATOMIC_RELAXED),
                                __atomic_load_n(&threads, __ATOMIC_RELAXED)};
}

static int strikes(const char *name)
{
    const char *none = NULL;
    long at = __atomic_load_n(&fail_at, __ATOMIC_ACQUIRE), call = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    if (!at || !(call == at || (call > at && __atomic_load_n(&fails_forever, __ATOMIC_RELAXED))))
        return 0;
    __atomic_compare_exchange_n(&first, &none, name, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    add(&injected, 1);
    return 1;
}

static void *counted(void *block)
{
    add(&blocks, block != NULL);
    return block;
}

void *__wrap_malloc(size_t bytes)
{
    return strikes("malloc") ? NULL : counted(__real_malloc(bytes));
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return strikes("calloc") ? NULL : counted(__real_calloc(count, bytes));
}

void *__wrap_realloc(void *block, size_t bytes)
{
    if (strikes("realloc"))
        return NULL;
    void *larger = __real_realloc(block, bytes);
    return block ? larger : counted(larger);
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t bytes)
{
    if (strikes("posix_memalign"))
        return ENOMEM;
    int error = __real_posix_memalign(block, alignment, bytes);
    if (!error)
        counted(*block);
    return error;
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return strikes("aligned_alloc") ? NULL : counted(__real_aligned_alloc(alignment, bytes));
}

char *__wrap_strdup(const char *text)
{
    return strikes("strdup") ? NULL : counted(__real_strdup(text));
}

void __wrap_free(void *block)
{
    add(&blocks, -(block != NULL));
    __real_free(block);
}

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    if (strikes("mmap"))
        return errno = ENOMEM, MAP_FAILED;
    void *mapping = __real_mmap(at, bytes, protection, flags, file, offset);
    add(&mappings, mapping != MAP_FAILED);
    return mapping;
}

int __wrap_munmap(void *at, size_t bytes)
{
    int error = __real_munmap(at, bytes);
    add(&mappings, -(error == 0));
    return error;
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *data)
{
    if (strikes("pthread_create"))
        return EAGAIN;
    int error = __real_pthread_create(thread, attributes, run, data);
    add(&threads, error == 0);
    return error;
}

int __wrap_pthread_join(pthread_t thread, void **value)
{
    int error = __real_pthread_join(thread, value);
    add(&threads, -(error == 0));
    return error;
}
