/* planted.c - the operations of planted.cu. */
#include "planted_internal.h"

int planted__enqueue_launches_a_race(cf_stream stream, const int *x, int *y, int *other, int *total, int n, int bug)
{
    (void)other;
    int status = planted_adds_async(stream, x, total, n, bug);
    return status == CF_OK ? planted_subtracts_async(stream, x, total, y, n, 0) : status;
}

int planted__enqueue_launches_past_end(cf_stream stream, const int *x, int *y, int *total, int n, int bug)
{
    int status = planted_adds_async(stream, x, total, n, 0);
    return status == CF_OK ? planted_subtracts_async(stream, x, total, y, n, bug) : status;
}

int planted__enqueue_leaves_scratch(cf_stream stream, const int *x, int *y, int *other, int *total, int n, int bug)
{
    int status = cf_mem_fill_async(stream, other, 0, bug ? 2 : 8 * sizeof *other);
    if (status == CF_OK)
        status = cf_mem_copy_async(stream, total, other, 8 * sizeof *total);
    if (status == CF_OK)
        status = planted_adds_async(stream, x, total + 7, n, 0);
    return status == CF_OK ? planted_subtracts_async(stream, x, total + 7, y, n, 0) : status;
}

int planted__enqueue_leaves_out(cf_stream stream, const int *x, int *y, int *total, int n, int bug)
{
    (void)total;
    return planted_launches_past_end_async(stream, x, y, n - bug, 0);
}
