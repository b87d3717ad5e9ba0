/* mpi_nccl.c - compares a plan's exchange over NCCL with NCCL's own all-to-all of the same bytes.
 *
 * usage: mpiexec -n RANKS peers-mpi-nccl [LEAST [MOST]]      each rank on a GPU of its own
 *
 * Each rank wants 2^LEAST (default 14) to 2^MOST (26) floats of every other rank; the exponent grows by 2, with a row
 * for each. Prints medians of the slowest rank's times, of repetitions that take turns, and ratios of throughputs;
 * Cuferry is faster if they are above 1. NCCL's all-to-all is a group of sends and receives, as its manual describes
 * it, but without the rank's message to itself. From NCCL 2.28 on, ncclAlltoAll() is timed, too, which also copies the
 * rank's own part. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <cuferry/find.h>
#include <cuferry/mpi.h>

#include "mpi/plan.h"
#include "mpi/primary.h"
#include "mpi_peer.h"

enum { REPETITIONS = 15, WARMING = 3, NCCL_BYTE = 1 };

/* ---- NCCL without its header ---- */

struct nccl_id {
    char bytes[128];
};

#define NCCL_FUNCTIONS(X)                                                                           \
    X(ncclGetUniqueId, (struct nccl_id * id))                                                       \
    X(ncclCommInitRank, (void **comm, int ranks, struct nccl_id id, int rank))                      \
    X(ncclCommDestroy, (void *comm))                                                                \
    X(ncclGroupStart, (void))                                                                       \
    X(ncclGroupEnd, (void))                                                                         \
    X(ncclSend, (const void *data, size_t count, int type, int peer, void *comm, cf_stream stream)) \
    X(ncclRecv, (void *data, size_t count, int type, int peer, void *comm, cf_stream stream))       \
    X(ncclAlltoAll, (const void *data, void *res, size_t count, int type, void *comm, cf_stream stream))

static struct {
#define FIELD(name, parameters) int(*name) parameters;
    NCCL_FUNCTIONS(FIELD)
#undef FIELD
} nccl;

/* Loads the same NCCL library that plans use. Before version 2.28, it has no ncclAlltoAll(). */
static void load_nccl(void)
{
    const char *path = NULL;
    check(cf_find("nccl", &path));
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        fail(dlerror());
#define LOAD(name, parameters) *(void **)&nccl.name = dlsym(library, #name);
    NCCL_FUNCTIONS(LOAD)
#undef LOAD
}

static void check_nccl(int result)
{
    if (result)
        fail("a call of NCCL failed");
}

/* ---- The same elements for all ---- */

struct bench {
    int rank, ranks, device;
    int64_t part; /* number of elements that a rank wants of each other rank, which are every second one */
    float *host;  /* memory for the elements of all ranks */
    int64_t *offsets;
    struct cf_mpi_plan *plan;
    cf_mpi_array source;
    float *res;
    void *comm; /* NCCL's communicator */
    cf_stream stream;
    float *sent, *received; /* elements of all ranks, including this one */
};

/* Returns element number i that rank `from` sends to rank `to`. */
static float element_of(int from, int to, int64_t i)
{
    return (float)((i + 1009 * from + 9176 * to) & 0x7fffff);
}

static float *alloc_floats(int64_t count)
{
    return alloc_device((size_t)count * sizeof(float));
}

static void write_elements(const struct bench *bench, float *data, int to, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        bench->host[i] = element_of(bench->rank, to, i);
    check(cf_mem_copy(data, bench->host, (size_t)count * sizeof *data));
}

static void check_elements(const struct bench *bench, const float *data, int from, int64_t count)
{
    check(cf_mem_copy(bench->host, data, (size_t)count * sizeof *data));
    for (int64_t i = 0; i < count; i++)
        if (bench->host[i] != element_of(from, bench->rank, i))
            fail("a wrong element");
}

static void make_source(struct bench *bench)
{
    int64_t count = 2 * bench->part;
    float *data = alloc_floats(count);
    write_elements(bench, data, 0, count);
    bench->source = (cf_mpi_array){count * bench->ranks, bench->offsets, data, CF_F32, bench->device};
}

static void make_plan(struct bench *bench)
{
    int64_t count = bench->part * (bench->ranks - 1), at = 0, *index = alloc_host((size_t)count * sizeof *index);
    for (int owner = 0; owner < bench->ranks; owner++)
        for (int64_t i = 0; owner != bench->rank && i < bench->part; i++)
            index[at++] = 2 * (owner * bench->part + i);
    check(cf_mpi_plan_create(&bench->plan, MPI_COMM_WORLD, bench->offsets, index, count));
    free(index);
}

static void make_bench(struct bench *bench, int64_t part)
{
    bench->part = part;
    bench->host = alloc_host((size_t)(bench->ranks * part) * sizeof *bench->host);
    bench->res = alloc_floats(bench->ranks * part);
    bench->sent = alloc_floats(bench->ranks * part);
    bench->received = alloc_floats(bench->ranks * part);
    check(cf_mpi_split(2 * part * bench->ranks, bench->ranks, bench->offsets));
    make_source(bench);
    make_plan(bench);
}

static void free_bench(struct bench *bench)
{
    check(cf_mpi_plan_destroy(bench->plan));
    check(cf_mem_free(bench->source.data));
    check(cf_mem_free(bench->res));
    check(cf_mem_free(bench->sent));
    check(cf_mem_free(bench->received));
    free(bench->host);
}

/* ---- The whole gather ---- */

static void poison_gather(const struct bench *bench)
{
    check(cf_mem_fill(bench->res, 0xff, (size_t)(bench->ranks - 1) * (size_t)bench->part * sizeof *bench->res));
}

static void run_gather(const struct bench *bench)
{
    check(cf_mpi_gather(bench->plan, &bench->source, bench->res));
}

static void check_gather(const struct bench *bench)
{
    int64_t count = bench->part * (bench->ranks - 1);
    check(cf_mem_copy(bench->host, bench->res, (size_t)count * sizeof *bench->res));
    for (int64_t at = 0; at < count; at++) {
        int before = (int)(at / bench->part), owner = before + (before >= bench->rank);
        if (bench->host[at] != element_of(owner, 0, 2 * (at % bench->part)))
            fail("the gather brought a wrong element");
    }
}

/* ---- The plan's exchange ---- */

/* Returns the end of the batch that begins with round `begin`. */
static int64_t end_batch(const struct bench *bench, int64_t begin)
{
    return cf__mpi_batch_end(bench->plan->rounds, begin, sizeof(float));
}

/* Makes the messages of a batch, and returns the received side. */
static struct cf__mpi_side *fill_batch(const struct bench *bench, int64_t begin)
{
    struct cf_mpi_plan *plan = bench->plan;
    (void)cf__mpi_batch_fill(&plan->lent, plan->object.comm, plan->rounds, begin, sizeof(float));
    (void)cf__mpi_batch_fill(&plan->wanted, plan->object.comm, plan->rounds, begin, sizeof(float));
    return &plan->wanted;
}

static struct cf__mpi_side *fill_last_batch(const struct bench *bench)
{
    int64_t begin = 0;
    while (end_batch(bench, begin) < bench->plan->rounds)
        begin = end_batch(bench, begin);
    return fill_batch(bench, begin);
}

/* Fills the buffers with the elements of the last batch, which is checked. Earlier batches send the same contents. */
static void write_exchange(const struct bench *bench)
{
    (void)fill_last_batch(bench);
    const struct cf__mpi_side *lent = &bench->plan->lent;
    for (const struct cf__mpi_message *each = lent->messages; each < lent->messages + lent->nmessages; each++)
        write_elements(bench, each->data, each->peer, (int64_t)(each->bytes / sizeof(float)));
}

static void poison_exchange(const struct bench *bench)
{
    const struct cf__mpi_side *wanted = fill_last_batch(bench);
    for (const struct cf__mpi_message *each = wanted->messages; each < wanted->messages + wanted->nmessages; each++)
        check(cf_mem_fill(each->data, 0xff, each->bytes));
}

static void run_exchange(const struct bench *bench)
{
    struct cf_mpi_plan *plan = bench->plan;
    for (int64_t begin = 0; begin < plan->rounds; begin = end_batch(bench, begin)) {
        const struct cf__mpi_side *wanted = fill_batch(bench, begin), *lent = &plan->lent;
        cf__mpi_exchange_start(&plan->exchange, CF_OK, lent->messages, lent->nmessages, wanted->messages,
                               wanted->nmessages);
        check(cf__mpi_exchange_finish(&plan->exchange));
    }
}

static void check_exchange(const struct bench *bench)
{
    const struct cf__mpi_side *wanted = &bench->plan->wanted;
    for (const struct cf__mpi_message *each = wanted->messages; each < wanted->messages + wanted->nmessages; each++)
        check_elements(bench, each->data, each->peer, (int64_t)(each->bytes / sizeof(float)));
}

/* ---- NCCL's own all-to-all ---- */

static void write_sent(const struct bench *bench)
{
    for (int rank = 0; rank < bench->ranks; rank++)
        write_elements(bench, bench->sent + rank * bench->part, rank, bench->part);
}

static void poison_received(const struct bench *bench)
{
    check(cf_mem_fill(bench->received, 0xff, (size_t)bench->ranks * (size_t)bench->part * sizeof *bench->received));
}

static void run_group(const struct bench *bench)
{
    size_t bytes = (size_t)bench->part * sizeof(float);
    check_nccl(nccl.ncclGroupStart());
    for (int i = 1; i < bench->ranks; i++) {
        int peer = (bench->rank + i) % bench->ranks;
        check_nccl(nccl.ncclSend(bench->sent + peer * bench->part, bytes, NCCL_BYTE, peer, bench->comm, bench->stream));
        check_nccl(
            nccl.ncclRecv(bench->received + peer * bench->part, bytes, NCCL_BYTE, peer, bench->comm, bench->stream));
    }
    check_nccl(nccl.ncclGroupEnd());
    check(cf_stream_sync(bench->stream));
}

static void run_alltoall(const struct bench *bench)
{
    size_t bytes = (size_t)bench->part * sizeof(float);
    check_nccl(nccl.ncclAlltoAll(bench->sent, bench->received, bytes, NCCL_BYTE, bench->comm, bench->stream));
    check(cf_stream_sync(bench->stream));
}

static void check_received(const struct bench *bench)
{
    for (int rank = 0; rank < bench->ranks; rank++)
        if (rank != bench->rank)
            check_elements(bench, bench->received + rank * bench->part, rank, bench->part);
}

/* ---- Times ---- */

static const struct way {
    void (*poison)(const struct bench *bench);
    void (*run)(const struct bench *bench);
    void (*check)(const struct bench *bench);
} ways[] = {{poison_exchange, run_exchange, check_exchange},
            {poison_received, run_group, check_received},
            {poison_received, run_alltoall, check_received},
            {poison_gather, run_gather, check_gather}};
enum { EXCHANGE, GROUP, ALLTOALL, GATHER, WAYS };

/* Times one way. The GPU's context is made current for NCCL, as in programs that use the CUDA runtime. */
static double time_way(const struct bench *bench, const struct way *way)
{
    way->poison(bench);
    check(cf__mpi_primary_push(bench->device));
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    way->run(bench);
    double seconds = MPI_Wtime() - begin;
    cf__mpi_primary_pop(bench->device);
    way->check(bench);
    return seconds;
}

/* Stores the medians of the ways [first, last), which take turns; 0 for a way that NCCL lacks. */
static void time_ways(const struct bench *bench, int first, int last, double *medians)
{
    double seconds[WAYS][REPETITIONS] = {{0}};
    for (int i = -WARMING; i < REPETITIONS; i++)
        for (int way = first; way < last; way++)
            if (way != ALLTOALL || nccl.ncclAlltoAll)
                seconds[way][i < 0 ? 0 : i] = time_way(bench, &ways[way]);
    for (int way = first; way < last; way++)
        medians[way] = median_of_slowest(MPI_COMM_WORLD, seconds[way], REPETITIONS);
}

static void print_way(double bytes, double seconds, double ours)
{
    if (seconds == 0)
        printf(" - | - | - |");
    else
        printf(" %.1f | %.1f | %.2f |", seconds * 1e6, bytes / seconds * 1e-9, seconds / ours);
}

/* The gather comes first, because it allocates the buffers and fills those of the exchange. */
static void print_row(struct bench *bench, int exponent)
{
    double medians[WAYS];
    make_bench(bench, (int64_t)1 << exponent);
    time_ways(bench, GATHER, WAYS, medians);
    write_exchange(bench);
    write_sent(bench);
    time_ways(bench, EXCHANGE, GATHER, medians);
    double bytes = (double)bench->part * (bench->ranks - 1) * sizeof(float), ours = medians[EXCHANGE];
    if (bench->rank == 0) {
        printf("| 2^%d | %.1f | %.1f |", exponent, ours * 1e6, bytes / ours * 1e-9);
        print_way(bytes, medians[GROUP], ours);
        print_way(bytes, medians[ALLTOALL], ours);
        printf(" %.1f |\n", medians[GATHER] * 1e6);
        fflush(stdout);
    }
    free_bench(bench);
}

static void start(struct bench *bench)
{
    int transport = 0;
    char reason[512];
    struct nccl_id id = {""};
    check(cf_mpi_init());
    MPI_Comm_rank(MPI_COMM_WORLD, &bench->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench->ranks);
    check(cf_mpi_device(MPI_COMM_WORLD, &bench->device, NULL, 0));
    check(cf_mpi_transport(MPI_COMM_WORLD, &transport, reason, sizeof reason));
    if (transport != CF_MPI_TRANSPORT_NCCL || bench->ranks < 2)
        fail(bench->ranks < 2 ? "needs two ranks" : reason);
    load_nccl();
    check(cf_stream_create(&bench->stream));
    bench->offsets = alloc_host(((size_t)bench->ranks + 1) * sizeof *bench->offsets);
    if (bench->rank == 0)
        check_nccl(nccl.ncclGetUniqueId(&id));
    MPI_Bcast(&id, (int)sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    check(cf__mpi_primary_push(bench->device));
    check_nccl(nccl.ncclCommInitRank(&bench->comm, bench->ranks, id, bench->rank));
    cf__mpi_primary_pop(bench->device);
    if (bench->rank == 0)
        printf("%d ranks, %s\n\n"
               "| floats a pair | plan, us | GB/s | sends, receives, us | GB/s | ratio "
               "| ncclAlltoAll, us | GB/s | ratio | gather, us |\n"
               "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
               bench->ranks, reason);
}

static void end(struct bench *bench)
{
    check(cf__mpi_primary_push(bench->device));
    check_nccl(nccl.ncclCommDestroy(bench->comm));
    cf__mpi_primary_pop(bench->device);
    check(cf_stream_destroy(bench->stream));
    free(bench->offsets);
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    struct bench bench = {0};
    int least = argc > 1 ? atoi(argv[1]) : 14, most = argc > 2 ? atoi(argv[2]) : 26;
    start(&bench);
    for (int exponent = least; exponent <= most; exponent += 2)
        print_row(&bench, exponent);
    end(&bench);
    return 0;
}
