/* fast.c - state that every launch reads: drivers in use, GPUs after a fork or a fault, reasons for the slow path. */
#include <sys/mman.h>

#include <cuferry.h>

#include "base/fast.h"

#define PAGE_BYTES 4096 /* the kernel rounds up to whole pages */

/* A driver does not work in a child of a process that used it, and does not always report that. So the state of the
 * GPUs is in a page that the kernel wipes for a child, even after clone() or _Fork(), which run no fork handlers. Linux
 * before 4.14 cannot wipe pages; there only the fork handler does. */
static int unwatched = CF__GPU_OURS; /* state before the first use of a GPU, or if no page can be mapped */
struct cf__fast_path cf__fast = {.gpu_page = &unwatched};
static void *page; /* address of the page; NULL until the first use */
static int is_watched;

static void *get_wiped_page(void)
{
    if (page)
        return page;
    void *memory = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
#ifdef MADV_WIPEONFORK
    (void)madvise(memory, PAGE_BYTES, MADV_WIPEONFORK);
#endif
    return page = memory;
}

void cf__fork_watch(int is_used)
{
    int *word = is_used ? get_wiped_page() : NULL;
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
        munmap(page, PAGE_BYTES);
    page = NULL;
}

/* ---- The slow path ---- */

void cf__slow_path_set(int reasons, int is_on)
{
    if (is_on)
        __atomic_or_fetch(&cf__fast.slow_path, reasons, __ATOMIC_RELAXED);
    else
        __atomic_and_fetch(&cf__fast.slow_path, ~reasons, __ATOMIC_RELAXED);
}
