/* choose.c - assigns the GPUs of one machine to its ranks. */
#include "mpi/choose.h"

#include <limits.h>
#include <string.h>

/* Returns the number of ranks that have taken a GPU. */
static int count_ranks(const struct cf__mpi_view *views, int ranks, const int *choice, const char *uuid)
{
    int count = 0;
    for (int i = 0; i < ranks; i++)
        count += choice[i] >= 0 && strcmp(views[i].gpus[choice[i]].uuid, uuid) == 0;
    return count;
}

/* A possible pair of a rank that has no GPU yet and a GPU that it sees. `count` is the number of ranks that already
 * have that GPU. */
struct pair {
    int rank, gpu, count, distance;
};

static int is_better(const struct pair *pair, const struct pair *other)
{
    return pair->count < other->count || (pair->count == other->count && pair->distance < other->distance);
}

static struct pair find_pair(const struct cf__mpi_view *views, int ranks, const int *choice)
{
    struct pair best = {.rank = -1, .count = INT_MAX};
    for (int i = 0; i < ranks; i++)
        for (int k = 0; choice[i] < 0 && k < views[i].count; k++) {
            const struct cf__mpi_gpu *gpu = &views[i].gpus[k];
            const struct pair pair = {i, k, count_ranks(views, ranks, choice, gpu->uuid), gpu->distance};
            if (is_better(&pair, &best))
                best = pair;
        }
    return best;
}

void cf__mpi_choose(const struct cf__mpi_view *views, int ranks, int *choice)
{
    for (int i = 0; i < ranks; i++)
        choice[i] = views[i].count == 1 ? 0 : -1;
    for (struct pair pair; (pair = find_pair(views, ranks, choice)).rank >= 0;)
        choice[pair.rank] = pair.gpu;
}
