/* blocks.c - computes sums that are bitwise independent of the number of ranks. */
#include "mpi/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "cuferry_mpi_kernels.h"
#include "mpi/agree.h"
#include "mpi/array.h"

/* Number of elements in a block. The kernels use the same number. */
static const int64_t each = 65536;

/* Tag of the messages. It differs from the tag of halos, whose messages may be in flight on the same communicator. */
enum { TAG = 1, NODES = 128 };

/* ---- The tree ----
 *
 * A node of level l is the sum of 2^l blocks, the first of which has a number that is a multiple of 2^l. A tree here is
 * a list of adjacent nodes. It never holds both halves of a larger node: push_node() joins them. */

struct node {
    int level;
    union cf__mpi_value value;
};

struct tree {
    cf_type type;
    int count;
    struct node nodes[NODES];
};

/* Adds a node to the right of the others. `block` is its first block. */
static void push_node(struct tree *tree, int level, int64_t block, union cf__mpi_value value)
{
    for (; block >> level & 1 && tree->count && tree->nodes[tree->count - 1].level == level; level++) {
        value = cf__mpi_value_add(tree->type, tree->nodes[--tree->count].value, value);
        block -= (int64_t)1 << level;
    }
    tree->nodes[tree->count++] = (struct node){.level = level, .value = value};
}

/* Returns the level of the largest node that begins with block `first` and ends before block `last`. */
static int find_level(int64_t first, int64_t last)
{
    int level = 0;
    while (!(first >> level & 1) && last - first >= (int64_t)2 << level)
        level++;
    return level;
}

static int count_nodes(int64_t first, int64_t last)
{
    int count = 0;
    for (; first < last; first += (int64_t)1 << find_level(first, last))
        count++;
    return count;
}

/* Returns the sum of all nodes. Nodes are added from right to left, which is the order of a tree whose right half may
 * have fewer blocks than its left half. */
static union cf__mpi_value join_nodes(const struct tree *tree)
{
    union cf__mpi_value sum = {.i64 = 0};
    if (tree->count)
        sum = tree->nodes[tree->count - 1].value;
    for (int i = tree->count - 2; i >= 0; i--)
        sum = cf__mpi_value_add(tree->type, tree->nodes[i].value, sum);
    return sum;
}

/* ---- Division among the ranks ----
 *
 * A rank owns the blocks that begin on it. The elements that it has before its first block are its head, which it sends
 * to the rank that owns their block. So a rank's last block may include the heads of later ranks. */

static int64_t first_block(int64_t element)
{
    return element / each + (element % each > 0);
}

struct share {
    int64_t first, last; /* range of blocks [first, last) */
    int64_t head, whole; /* number of elements of the head, and of the blocks that lie entirely on this rank */
    int64_t rest, end;   /* number of this rank's elements in its last block if other ranks share that, else 0; end of
                          * that block */
};

static struct share find_share(const cf_mpi_array *x, int rank)
{
    int64_t begin = x->offsets[rank], end = x->offsets[rank + 1];
    struct share share = {.first = first_block(begin), .last = first_block(end)};
    share.head = (end / each < share.first ? end : share.first * each) - begin;
    share.end = x->length / each < share.last ? x->length : share.last * each;
    if (share.first < share.last && end < share.end)
        share.rest = end - (share.last - 1) * each;
    share.whole = end - begin - share.head - share.rest;
    return share;
}

/* Returns 1 if any block has elements on several ranks. */
static int is_any_shared(const cf_mpi_array *x, int ranks)
{
    int i = 1;
    while (i < ranks && (x->offsets[i] % each == 0 || x->offsets[i] == x->length))
        i++;
    return i < ranks;
}

/* Returns the rank that owns the block to which this rank's first elements belong. */
static int find_owner(const cf_mpi_array *x, int rank)
{
    int64_t begin = x->offsets[rank] / each * each;
    while (x->offsets[rank] > begin)
        rank--;
    return rank;
}

/* ---- Work of a rank ---- */

struct work {
    const char *function;
    const struct cf__mpi_comm *state;
    const cf_mpi_array *arrays[2];
    int narrays;
    struct share share;
    size_t size;                 /* bytes of an element */
    char *sums;                  /* sums of the rank's blocks */
    char *heads[2], *blocks[2];  /* head and last block of each array, in memory that MPI accepts */
    int *counts, *begins;        /* number of nodes of each rank, and index of each rank's first node */
    union cf__mpi_value *values; /* values of nodes: NODES of this rank, then those of all ranks */
};

static int run_kernel(const struct work *work, const void *x, const void *y, void *sums, int64_t n)
{
    cf_type type = work->arrays[0]->type;
#define SUMS(T) cfmpi_block_sums((const T *)x, (T *)sums, n)
#define DOTS(T) cfmpi_block_dots((const T *)x, (const T *)y, (T *)sums, n)
    return work->narrays == 1 ? CF__MPI_OF_TYPE(type, SUMS) : CF__MPI_OF_TYPE(type, DOTS);
#undef SUMS
#undef DOTS
}

/* Writes the number of nodes of each rank and of all ranks before it; returns the total number. */
static int place_nodes(const struct work *work)
{
    int sum = 0;
    for (int rank = 0; rank < work->state->size; rank++) {
        struct share share = find_share(work->arrays[0], rank);
        work->counts[rank] = count_nodes(share.first, share.last);
        work->begins[rank] = sum;
        sum += work->counts[rank];
    }
    return sum;
}

static int alloc_work(struct work *work)
{
    size_t ranks = (size_t)work->state->size, more = 1; /* avoids allocations of 0 bytes */
    work->counts = malloc(ranks * sizeof *work->counts);
    work->begins = malloc(ranks * sizeof *work->begins);
    int is_there = work->counts && work->begins;
    if (is_there)
        work->values = malloc(((size_t)place_nodes(work) + NODES) * sizeof *work->values);
    for (int i = 0; i < work->narrays; i++) {
        work->heads[i] = malloc((size_t)work->share.head * work->size + more);
        work->blocks[i] = malloc((work->share.rest ? (size_t)each : 0) * work->size + more);
        is_there &= work->heads[i] && work->blocks[i];
    }
    work->sums = malloc((size_t)(work->share.last - work->share.first) * work->size + more);
    if (is_there && work->sums && work->values)
        return CF_OK;
    return cf__mpi_fail(CF_ENOMEM, "%s: no memory for the sums of blocks", work->function);
}

static void free_work(struct work *work)
{
    for (int i = 0; i < work->narrays; i++) {
        free(work->heads[i]);
        free(work->blocks[i]);
    }
    free(work->sums);
    free(work->counts);
    free(work->begins);
    free(work->values);
}

/* Copies the elements of blocks shared with other ranks, and adds up the other blocks. */
static int begin_work(struct work *work)
{
    const struct share *share = &work->share;
    const char *whole[2] = {NULL, NULL};
    int status = alloc_work(work);
    for (int i = 0; i < work->narrays && status == CF_OK; i++) {
        const char *data = work->arrays[i]->data;
        if (share->head)
            status = cf_mem_copy(work->heads[i], data, (size_t)share->head * work->size);
        if (!data)
            continue;
        whole[i] = data + (size_t)share->head * work->size;
        if (status == CF_OK && share->rest)
            status = cf_mem_copy(work->blocks[i], whole[i] + (size_t)share->whole * work->size,
                                 (size_t)share->rest * work->size);
    }
    return status != CF_OK || !share->whole ? status : run_kernel(work, whole[0], whole[1], work->sums, share->whole);
}

static int receive_heads(const struct work *work, int i)
{
    const int64_t *offsets = work->arrays[i]->offsets;
    int64_t end = work->share.end, begin = (work->share.last - 1) * each;
    int result = MPI_SUCCESS;
    for (int rank = work->state->rank + 1; result == MPI_SUCCESS && offsets[rank] < end; rank++) {
        int64_t count = (offsets[rank + 1] < end ? offsets[rank + 1] : end) - offsets[rank];
        if (count)
            result =
                MPI_Recv(work->blocks[i] + (size_t)(offsets[rank] - begin) * work->size,
                         (int)((size_t)count * work->size), MPI_BYTE, rank, TAG, work->state->comm, MPI_STATUS_IGNORE);
    }
    return cf__mpi_result(result, "MPI_Recv");
}

static int exchange_heads(const struct work *work, int i)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int status = CF_OK, rank = work->state->rank, bytes = (int)((size_t)work->share.head * work->size);
    if (bytes)
        status = cf__mpi_result(MPI_Isend(work->heads[i], bytes, MPI_BYTE, find_owner(work->arrays[i], rank), TAG,
                                          work->state->comm, &request),
                                "MPI_Isend");
    if (status == CF_OK && work->share.rest)
        status = receive_heads(work, i);
    int failed = cf__mpi_result(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    return status == CF_OK ? failed : status;
}

/* Adds up the last block if other ranks share it. */
static int add_last(struct work *work)
{
    const struct share *share = &work->share;
    int status = CF_OK;
    for (int i = 0; i < work->narrays && status == CF_OK; i++)
        status = exchange_heads(work, i);
    if (status == CF_OK && share->rest)
        status = run_kernel(work, work->blocks[0], work->blocks[1],
                            work->sums + (size_t)(share->last - 1 - share->first) * work->size,
                            share->end - (share->last - 1) * each);
    return cf__mpi_agree(work->state->comm, status);
}

/* Writes the rank's nodes to `values`; returns their number. */
static int make_nodes(const struct work *work)
{
    struct tree tree = {.type = work->arrays[0]->type};
    for (int64_t block = work->share.first; block < work->share.last; block++) {
        union cf__mpi_value value = {.i64 = 0};
        memcpy(&value, work->sums + (size_t)(block - work->share.first) * work->size, work->size);
        push_node(&tree, 0, block, value);
    }
    for (int i = 0; i < tree.count; i++)
        work->values[i] = tree.nodes[i].value;
    return tree.count;
}

static int gather_nodes(const struct work *work)
{
    return cf__mpi_result(MPI_Allgatherv(work->values, make_nodes(work), MPI_UINT64_T, work->values + NODES,
                                         work->counts, work->begins, MPI_UINT64_T, work->state->comm),
                          "MPI_Allgatherv");
}

static union cf__mpi_value join_ranks(const struct work *work)
{
    struct tree tree = {.type = work->arrays[0]->type};
    const union cf__mpi_value *value = work->values + NODES;
    for (int rank = 0; rank < work->state->size; rank++) {
        struct share share = find_share(work->arrays[0], rank);
        for (int64_t block = share.first; block < share.last;) {
            int level = find_level(block, share.last);
            push_node(&tree, level, block, *value++);
            block += (int64_t)1 << level;
        }
    }
    return join_nodes(&tree);
}

int cf__mpi_blocks_add(const char *function, struct cf__mpi_comm *state, const cf_mpi_array *x, const cf_mpi_array *y,
                       int status, uint64_t checksum, union cf__mpi_value *result)
{
    struct work work = {.function = function, .state = state, .arrays = {x, y}, .narrays = y ? 2 : 1};
    if (status == CF_OK) {
        work.size = cf_type_size(x->type);
        work.share = find_share(x, state->rank);
        status = begin_work(&work);
    }
    status = cf__mpi_agree_on(state->comm, function, status, checksum);
    if (status == CF_OK && is_any_shared(x, state->size))
        status = add_last(&work);
    if (status == CF_OK)
        status = gather_nodes(&work);
    if (status == CF_OK)
        *result = join_ranks(&work);
    free_work(&work);
    return status;
}
