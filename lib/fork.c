/* fork.c - what a forked child may do: no lock is held there, and GPUs stay its parent's. */
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"
#include "trace.h"
#include "tuning.h"

/* The driver does not work in a child of a process that has used it, and neither says so nor always fails. The word
 * that calls on a GPU look at lies in a page that the kernel wipes for a child, also one that no handler hears of, as
 * of clone() or _Fork(). Kernels before 4.14 have no such pages: there the handler alone wipes it. */
static int unwatched = CF__GPU_OURS; /* the word before a GPU is used, and where there is no page */
struct cf__hot cf__hot = {.gpu_page = &unwatched};
static void *page; /* NULL until its first use */
static int is_watched;

static size_t page_size(void)
{
    long size = sysconf(_SC_PAGESIZE);
    return size > 0 ? (size_t)size : 4096;
}

static void *wiped_page(void)
{
    if (page)
        return page;
    void *made = mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED)
        return NULL;
#ifdef MADV_WIPEONFORK
    (void)madvise(made, page_size(), MADV_WIPEONFORK);
#endif
    return page = made;
}

void cf__fork_watch(int is_used)
{
    int *word = is_used ? wiped_page() : NULL;
    if (!word)
        word = &unwatched;
    is_watched = is_used;
    if (word != cf__hot.gpu_page)
        __atomic_store_n(word, cf__gpu_state(), __ATOMIC_RELAXED);
    __atomic_store_n(&cf__hot.gpu_page, word, __ATOMIC_RELEASE);
}

void cf__gpu_mark(int bits, int is_on)
{
    int *word = __atomic_load_n(&cf__hot.gpu_page, __ATOMIC_ACQUIRE);
    if (is_on)
        (void)__atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
    else
        (void)__atomic_fetch_and(word, ~bits, __ATOMIC_RELAXED);
}

void cf__fork_end(void)
{
    unwatched = cf__gpu_state();
    __atomic_store_n(&cf__hot.gpu_page, &unwatched, __ATOMIC_RELEASE);
    if (page)
        munmap(page, page_size());
    page = NULL;
}

int cf__fail_fork(const char *what)
{
    return cf__fail(CF_EFORK,
                    "%s: this process was forked from one that used a GPU, and cannot; cf_device_use(CF_HOST) runs on "
                    "the CPU, or fork before the first use",
                    what);
}

/* ---- Locks ---- */

/* A child has the forking thread alone: no lock may be held by another one at that moment. In the order in which they
 * nest, each once; `forget`: what has to be put right in a child, with the lock. Those of the trace's times and of its
 * kernels' names are not among them: a child has no trace, and never takes them. */
static const struct {
    void (*lock)(void), (*unlock)(void), (*forget)(void);
} locks[] = {
    {cf__machine_lock, cf__machine_unlock, NULL},
    {cf__device_lock, cf__device_unlock, NULL},
    {cf__peer_lock, cf__peer_unlock, NULL},
    {cf__image_lock, cf__image_unlock, NULL},
    {cf__tuning_lock, cf__tuning_unlock, NULL},
    {cf__stage_lock, cf__stage_unlock, NULL},
    {cf__contexts_lock, cf__contexts_unlock, NULL},
    {cf__keep_lock, cf__keep_unlock, NULL},
    {cf__workspace_lock, cf__workspace_unlock, NULL},
    {cf__capture_lock, cf__capture_unlock, cf__device_waits_forget},
    {cf__handles_lock, cf__handles_unlock, NULL},
    {cf__host_lock, cf__host_unlock, NULL},
    {cf__pool_lock, cf__pool_unlock, cf__pool_forget},
    {cf__running_lock, cf__running_unlock, cf__running_forget_threads},
    {cf__trace_lock, cf__trace_unlock, cf__trace_forget},
    {cf__log_lock, cf__log_unlock, cf__log_forget},
};
enum { LOCKS = sizeof locks / sizeof *locks };

static void before_fork(void)
{
    for (int i = 0; i < LOCKS; i++)
        locks[i].lock();
}

static void after_fork(void)
{
    for (int i = LOCKS; i-- > 0;)
        locks[i].unlock();
}

/* A child that the callback of cf_set_log() forks is outside of the call that told the line. */
static void after_fork_in_child(void)
{
    if (cf__log_is_inside())
        cf__within = NULL;
    if (is_watched)
        __atomic_store_n(cf__hot.gpu_page, 0, __ATOMIC_RELAXED);
    for (int i = 0; i < LOCKS; i++)
        if (locks[i].forget)
            locks[i].forget();
    after_fork();
}

/* A fork may come at any moment after. Closing a shared object takes its handlers away. */
void cf__fork_start(void)
{
    (void)pthread_atfork(before_fork, after_fork, after_fork_in_child);
}
