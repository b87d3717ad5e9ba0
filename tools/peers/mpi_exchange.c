/* mpi_exchange.c - cf_mpi_gather() beside MPI_Alltoallv() and loops written by hand, over the same elements.
 *
 * usage: mpiexec -n RANKS peers-mpi-exchange [ELEMENTS]
 *
 * Each rank wants ELEMENTS floats (1048576) of every other rank. Prints medians of repetitions that take turns, and the
 * ratios of throughputs: above 1 Cuferry is faster. The time of the plan's exchange is that between its first message
 * and the end of its last, seen through MPI's profiling interface; the ranks agree on errors in between. */
#include <stdio.h>
#include <stdlib.h>

#include <cuferry/mpi.h>

#include "mpi_median.h"

enum { REPETITIONS = 21, WARMING = 3 };

/* ---- Times of messages ---- */

static double exchange_begin, exchange_seconds;
static int in_flight;

static void note_begin(void)
{
    if (in_flight++ == 0)
        exchange_begin = PMPI_Wtime();
}

static void note_end(int count)
{
    if (in_flight == 0)
        return;
    in_flight -= count;
    if (in_flight == 0)
        exchange_seconds += PMPI_Wtime() - exchange_begin;
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request *request)
{
    note_begin();
    return PMPI_Isend(data, count, type, rank, tag, comm, request);
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request *request)
{
    note_begin();
    return PMPI_Irecv(data, count, type, rank, tag, comm, request);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    int result = PMPI_Wait(request, status);
    note_end(1);
    return result;
}

/* ---- The same elements for both ---- */

struct bench {
    int rank, ranks;
    int64_t part;   /* elements that a rank wants of each other rank: every second one */
    int64_t count;  /* of all other ranks */
    int64_t *index; /* global; sorted, so that both have them in the same order */
    int64_t *list;  /* own elements to send, and places of those that arrive, of the loops by hand */
    int64_t *place;
    float *source, *res, *packed, *received;
    int *counts, *places; /* of MPI_Alltoallv() */
    cf_mpi_plan *plan;
    cf_mpi_array array;
};

static void fail(const char *text)
{
    fprintf(stderr, "peers-mpi-exchange: %s\n", text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(int status)
{
    if (status)
        fail(cf_last_error());
}

static void *alloc(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory)
        fail("no memory");
    return memory;
}

static void make_indices(struct bench *bench)
{
    int64_t at = 0;
    for (int owner = 0; owner < bench->ranks; owner++) {
        bench->counts[owner] = owner == bench->rank ? 0 : (int)bench->part;
        bench->places[owner] = (int)at;
        for (int64_t i = 0; i < bench->counts[owner]; i++, at++) {
            bench->index[at] = 2 * (owner * bench->part + i);
            bench->list[at] = 2 * i;
            bench->place[at] = at;
        }
    }
}

static void make_bench(struct bench *bench, int64_t part)
{
    check(cf_device_use(CF_HOST));
    MPI_Comm_rank(MPI_COMM_WORLD, &bench->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench->ranks);
    bench->part = part;
    bench->count = part * (bench->ranks - 1);
    size_t words = (size_t)bench->count;
    int64_t *offsets = alloc(((size_t)bench->ranks + 1) * sizeof *offsets), length = 2 * part * bench->ranks;
    bench->index = alloc(words * sizeof *bench->index);
    bench->list = alloc(words * sizeof *bench->list);
    bench->place = alloc(words * sizeof *bench->place);
    bench->source = alloc(2 * (size_t)part * sizeof *bench->source);
    bench->res = alloc(words * sizeof *bench->res);
    bench->packed = alloc(words * sizeof *bench->packed);
    bench->received = alloc(words * sizeof *bench->received);
    bench->counts = alloc((size_t)bench->ranks * sizeof *bench->counts);
    bench->places = alloc((size_t)bench->ranks * sizeof *bench->places);
    make_indices(bench);
    for (int64_t i = 0; i < 2 * part; i++)
        bench->source[i] = (float)(2 * part * bench->rank + i);
    check(cf_mpi_split(length, bench->ranks, offsets));
    check(cf_mpi_plan_create(&bench->plan, MPI_COMM_WORLD, offsets, bench->index, bench->count));
    bench->array = (cf_mpi_array){length, offsets, bench->source, CF_F32, CF_HOST};
}

static void check_result(struct bench *bench)
{
    for (int64_t i = 0; i < bench->count; i++) {
        if (bench->res[i] != (float)bench->index[i])
            fail("a wrong element");
        bench->res[i] = -1;
    }
}

/* ---- One repetition of each: seconds of the exchange alone, and of everything ---- */

static void run_plan(struct bench *bench, double *exchange, double *all)
{
    exchange_seconds = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    check(cf_mpi_gather(bench->plan, &bench->array, bench->res));
    *all = MPI_Wtime() - begin;
    *exchange = exchange_seconds;
}

static void run_by_hand(struct bench *bench, double *exchange, double *all)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int64_t i = 0; i < bench->count; i++)
        bench->packed[i] = bench->source[bench->list[i]];
    double packed = MPI_Wtime();
    MPI_Alltoallv(bench->packed, bench->counts, bench->places, MPI_FLOAT, bench->received, bench->counts, bench->places,
                  MPI_FLOAT, MPI_COMM_WORLD);
    *exchange = MPI_Wtime() - packed;
    for (int64_t i = 0; i < bench->count; i++)
        bench->res[bench->place[i]] = bench->received[i];
    *all = MPI_Wtime() - begin;
}

static void print_row(const struct bench *bench, const char *name, double *ours, double *by_hand)
{
    double our_median = median_of_slowest(MPI_COMM_WORLD, ours, REPETITIONS);
    double other_median = median_of_slowest(MPI_COMM_WORLD, by_hand, REPETITIONS);
    double bytes = (double)bench->count * sizeof(float);
    if (bench->rank == 0)
        printf("%-14s %8.3f ms %6.2f GB/s   by hand %8.3f ms %6.2f GB/s   ratio %.2f\n", name, our_median * 1e3,
               bytes / our_median * 1e-9, other_median * 1e3, bytes / other_median * 1e-9, other_median / our_median);
}

int main(int argc, char **argv)
{
    double exchange[2][REPETITIONS], all[2][REPETITIONS];
    struct bench bench = {0};
    check(cf_mpi_init());
    make_bench(&bench, argc > 1 ? atoll(argv[1]) : 1 << 20);
    for (int i = -WARMING; i < REPETITIONS; i++) {
        int k = i < 0 ? 0 : i;
        run_plan(&bench, &exchange[0][k], &all[0][k]);
        check_result(&bench);
        run_by_hand(&bench, &exchange[1][k], &all[1][k]);
        check_result(&bench);
    }
    print_row(&bench, "exchange", exchange[0], exchange[1]);
    print_row(&bench, "whole gather", all[0], all[1]);
    check(cf_mpi_plan_destroy(bench.plan));
    MPI_Finalize();
    return 0;
}
