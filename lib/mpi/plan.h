/* plan.h - plans of gather and scatter: where each index finds its element, and which elements are sent between
 * ranks. */
#ifndef CF__MPI_PLAN_H
#define CF__MPI_PLAN_H

#include "mpi/agree.h"
#include "mpi/rounds.h"

/* A plan. An entry is an index of this rank that names an element of another rank. Entries are sorted by round, and
 * within a round by the position of the index. A slot is the position of an element among those that this rank receives
 * in a round. */
struct cf_mpi_plan {
    struct cf__mpi_object object;
    struct cf__mpi_transport *transport;
    struct cf__mpi_exchange exchange;
    int device;
    int64_t *offsets; /* offsets of the arrays, one per rank, followed by the length */
    int64_t count;    /* number of indices */
    int64_t *own;     /* for each index the own element that it names, or -1 */
    int64_t nentries;
    int64_t *place; /* position of each entry's index */
    int64_t *slot;  /* slot of each entry */
    int64_t rounds;
    int64_t *entries;               /* range of entries of round k: [entries[k], entries[k + 1]) */
    int64_t *list;                  /* own elements that other ranks want, in the order of the lent side's buffer, or
                                     * -1 */
    struct cf__mpi_side wanted;     /* elements of other ranks that this rank wants */
    struct cf__mpi_side lent;       /* own elements that other ranks want */
    size_t element_bytes;           /* size of the elements that the buffers are allocated for; 0: there are no
                                     * buffers */
    int64_t repeated;               /* an index that this rank has twice; -1: none is known */
    int is_distinct;                /* 1 if all indices of all ranks differ */
    struct cf__mpi_failure failure; /* failure of this rank in the last call, which occurred after the ranks had
                                     * agreed */
};

/* Returns the number of elements that the rank owns. */
int64_t cf__mpi_plan_length(const struct cf_mpi_plan *plan);

/* Returns the length of the plan's list. */
int64_t cf__mpi_plan_list_length(const struct cf_mpi_plan *plan);

/* Enlarges the buffers for elements of `bytes` bytes. After a failure, whose detail begins with `function`, there are
 * no buffers. */
int cf__mpi_plan_reserve(const char *function, struct cf_mpi_plan *plan, size_t bytes);

#endif
