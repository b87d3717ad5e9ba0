/* fast.c - state that every launch reads: drivers in use, GPUs after a fork or a fault, reasons for the slow path. */
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cuferry.h>

#include "base/fast.h"

#include "base/error.h"

/* The driver does not work in a child of a process that has used it, and neither says so nor always fails. The word
 * that calls on a GPU look at lies in a page that the kernel wipes for a child, also one that no handler hears of, as
 * of clone() or _Fork(). Kernels before 4.14 have no such pages: there the handler alone wipes it. */
static int unwatched = CF__GPU_OURS; /* the word before a GPU is used, and where there is no page */
struct cf__fast_path cf__fast = {.gpu_page = &unwatched};
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
    if (word != cf__fast.gpu_page)
        __atomic_store_n(word, cf__gpu_state(), __ATOMIC_RELAXED);
    __atomic_store_n(&cf__fast.gpu_page, word, __ATOMIC_RELEASE);
}

void cf__gpu_mark(int bits, int is_on)
{
    int *word = __atomic_load_n(&cf__fast.gpu_page, __ATOMIC_ACQUIRE);
    if (is_on)
        (void)__atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
    else
        (void)__atomic_fetch_and(word, ~bits, __ATOMIC_RELAXED);
}

void cf__fork_wipe_page(void)
{
    if (is_watched)
        __atomic_store_n(cf__fast.gpu_page, 0, __ATOMIC_RELAXED);
}

void cf__fork_free_page(void)
{
    unwatched = cf__gpu_state();
    __atomic_store_n(&cf__fast.gpu_page, &unwatched, __ATOMIC_RELEASE);
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

/* ---- The slow path ---- */

void cf__slow_path(int what, int is_on)
{
    if (is_on)
        __atomic_or_fetch(&cf__fast.slow_path, what, __ATOMIC_RELAXED);
    else
        __atomic_and_fetch(&cf__fast.slow_path, ~what, __ATOMIC_RELAXED);
}
