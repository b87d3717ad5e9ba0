/* transport.c - the choice of a transport, and messages over it.
 *
 * usage: transport [TEXT]
 *
 * TEXT: the reason of the choice contains it. With `aborted`, NCCL's messages fail; with `late`, after they have
 * started; with `lone`, on rank 1. With `fault`, the GPU of rank 1 fails; with
 * `source`, before it sends. */
#include "mpi_check.h"

#include <limits.h>

#include "mpi/agree.h"
#include "mpi/exchange.h"

enum { BYTES = 5000, ROUNDS = 3, WAYS = 2 }; /* two messages for each pair of ranks */

static cf_stream stream;
static int own, ranks; /* in the communicator of the messages */

static struct cf__mpi_transport *enter_transport(MPI_Comm comm)
{
    struct cf__mpi_comm *state = NULL;
    struct cf__mpi_transport *transport = NULL;
    CHECK_OK(cf__mpi_enter("test", comm, &state));
    CHECK_OK(cf__mpi_transport_enter("test", state, &transport));
    return transport;
}

/* ---- The choice ---- */

static int on_gpu(void)
{
    int device;
    CHECK_OK(cf_device_current(&device));
    return device != CF_HOST;
}

static void choice_has_its_reason(const char *expected)
{
    int transport = 0;
    char text[512], cut[5];
    CHECK_OK(cf_mpi_transport(MPI_COMM_WORLD, &transport, text, sizeof text));
    CHECK(transport == CF_MPI_TRANSPORT_NCCL ? strncmp(text, "NCCL ", 5) == 0 : strncmp(text, "MPI: ", 5) == 0);
    CHECK(strstr(text, expected));
    if (!on_gpu())
        CHECK(strcmp(text, "MPI: the device of rank 0 is the CPU") == 0);
    CHECK_OK(cf_mpi_transport(MPI_COMM_WORLD, NULL, cut, sizeof cut));
    CHECK(strncmp(cut, text, 4) == 0 && !cut[4]);
    CHECK_OK(cf_mpi_transport(MPI_COMM_WORLD, NULL, NULL, 0));
}

/* Sets the variable for a new communicator. */
static int choose_again(const char *name, const char *value, char *text, size_t size)
{
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    CHECK(setenv(name, value, 1) == 0);
    int status = cf_mpi_transport(copy, NULL, text, size);
    CHECK(unsetenv(name) == 0);
    MPI_Comm_free(&copy);
    return status;
}

static void variable_forces_a_transport(void)
{
    int transport = 0, last = world_size() - 1;
    char text[512];
    CHECK_OK(cf_mpi_transport(MPI_COMM_WORLD, &transport, NULL, 0));
    CHECK_OK(choose_again("CF_MPI_TRANSPORT", "mpi", text, sizeof text));
    CHECK(strcmp(text, "MPI: CF_MPI_TRANSPORT=mpi") == 0);
    if (transport == CF_MPI_TRANSPORT_NCCL) {
        CHECK_OK(choose_again("CF_MPI_TRANSPORT", "nccl", text, sizeof text));
        CHECK(strncmp(text, "NCCL ", 5) == 0);
    } else {
        CHECK_FAILS(choose_again("CF_MPI_TRANSPORT", "nccl", text, sizeof text), CF_ENOTSUP,
                    "cf_mpi_transport: CF_MPI_TRANSPORT=nccl: ");
    }
    CHECK_FAILS(choose_again("CF_MPI_TRANSPORT", "tcp", text, sizeof text), CF_EINVAL,
                "rank 0: cf_mpi_transport: CF_MPI_TRANSPORT=tcp: it is mpi or nccl");
    if (last > 0) {
        CHECK_FAILS(choose_again("CF_MPI_TRANSPORT", world_rank() == last ? "nccl" : "mpi", text, sizeof text),
                    CF_EINVAL, "CF_MPI_TRANSPORT is mpi on rank 0 and nccl on rank ");
        CHECK_OK(choose_again("CF_MPI_TRANSPORT", world_rank() == last ? "mpi" : "", text, sizeof text));
        CHECK(strcmp(text, "MPI: CF_MPI_TRANSPORT=mpi") == 0);
    }
    CHECK_FAILS(choose_again("CF_MPI_AWARE", "yes", text, sizeof text), CF_EINVAL,
                "cf_mpi_transport: CF_MPI_AWARE=yes: it is 0 or 1");
}

static void awareness_is_that_of_all_ranks(void)
{
    int aware = -1, last = world_size() - 1;
    CHECK_OK(cf_mpi_aware(MPI_COMM_WORLD, &aware));
    CHECK(aware == 0 || aware == 1);
    CHECK(setenv("CF_MPI_AWARE", "1", 1) == 0);
    CHECK_OK(cf_mpi_aware(MPI_COMM_WORLD, &aware));
    CHECK(aware == 1);
    CHECK(setenv("CF_MPI_AWARE", world_rank() == last ? "0" : "1", 1) == 0);
    CHECK_OK(cf_mpi_aware(MPI_COMM_WORLD, &aware));
    CHECK(aware == 0);
    CHECK(setenv("CF_MPI_AWARE", world_rank() == last ? "2" : "1", 1) == 0);
    CHECK_FAILS(cf_mpi_aware(MPI_COMM_WORLD, &aware), CF_EINVAL, "cf_mpi_aware: CF_MPI_AWARE=2: it is 0 or 1");
    CHECK(unsetenv("CF_MPI_AWARE") == 0);
    CHECK_FAILS(cf_mpi_aware(MPI_COMM_WORLD, NULL), CF_EINVAL, "cf_mpi_aware: aware is NULL");
}

/* ---- Messages ---- */

/* Bytes of a message, which may be none, and each of its bytes. */
static size_t size_of(int from, int to, int way)
{
    return (size_t)((from * 7 + to * 5 + way * 3) % 4 * (BYTES / 4 + way));
}

static unsigned char byte_of(int from, int to, int way, int round, size_t at)
{
    return (unsigned char)(from * 31 + to * 17 + way * 101 + round * 59 + (int)at);
}

/* An exchange with all ranks, in the order of the ranks; the same buffers serve each round. */
struct traffic {
    struct cf__mpi_exchange exchange;
    char *out, *in, *host;
    struct cf__mpi_message *sends, *receives;
    int count;
};

static void make_traffic(struct traffic *traffic, struct cf__mpi_transport *transport)
{
    traffic->count = WAYS * ranks;
    size_t bytes = (size_t)traffic->count * BYTES;
    CHECK_OK(cf__mpi_buffer_alloc("test", transport, (void **)&traffic->out, bytes));
    CHECK_OK(cf__mpi_buffer_alloc("test", transport, (void **)&traffic->in, bytes));
    CHECK_OK(cf_mem_alloc_pinned((void **)&traffic->host, bytes));
    CHECK_OK(cf__mpi_exchange_create("test", &traffic->exchange, transport, stream, 2 * traffic->count, BYTES));
    traffic->sends = calloc((size_t)traffic->count, sizeof *traffic->sends);
    traffic->receives = calloc((size_t)traffic->count, sizeof *traffic->receives);
    CHECK(traffic->sends && traffic->receives);
    for (int i = 0; i < traffic->count; i++) {
        int peer = i % ranks, way = i / ranks;
        size_t at = (size_t)i * BYTES;
        traffic->sends[i] = (struct cf__mpi_message){peer, traffic->out + at, size_of(own, peer, way)};
        traffic->receives[i] = (struct cf__mpi_message){peer, traffic->in + at, size_of(peer, own, way)};
    }
}

static void free_traffic(struct traffic *traffic)
{
    cf__mpi_exchange_free(&traffic->exchange);
    CHECK_OK(cf_mem_free(traffic->out));
    CHECK_OK(cf_mem_free(traffic->in));
    CHECK_OK(cf_mem_free(traffic->host));
    free(traffic->sends);
    free(traffic->receives);
}

/* The stream writes the buffer late, so that a transport that does not wait for it sends poison. */
static void start(struct traffic *traffic, int round)
{
    size_t bytes = (size_t)traffic->count * BYTES;
    for (int i = 0; i < traffic->count; i++)
        for (size_t k = 0; k < traffic->sends[i].bytes; k++)
            traffic->host[(size_t)i * BYTES + k] = (char)byte_of(own, traffic->sends[i].peer, i / ranks, round, k);
    CHECK_OK(cf_mem_fill_async(stream, traffic->in, 0xee, bytes));
    CHECK_OK(cf_mem_copy_async(stream, traffic->out, traffic->host, bytes));
    cf__mpi_exchange_start(&traffic->exchange, CF_OK, traffic->sends, traffic->count, traffic->receives,
                           traffic->count);
}

static void finish(struct traffic *traffic, int round)
{
    size_t bytes = (size_t)traffic->count * BYTES;
    CHECK_OK(cf__mpi_exchange_finish(&traffic->exchange));
    CHECK_OK(cf_mem_fill_async(stream, traffic->out, 0xdd, bytes));
    CHECK_OK(cf_mem_copy_async(stream, traffic->host, traffic->in, bytes));
    CHECK_OK(cf_stream_sync(stream));
    for (int i = 0; i < traffic->count; i++)
        for (size_t k = 0; k < BYTES; k++) {
            int got = (unsigned char)traffic->host[(size_t)i * BYTES + k];
            CHECK(got == (k < traffic->receives[i].bytes ? byte_of(traffic->receives[i].peer, own, i / ranks, round, k)
                                                         : 0xee));
        }
}

static void messages_arrive(MPI_Comm comm, struct cf__mpi_transport *transport)
{
    struct traffic first, second;
    CHECK_OK(cf_stream_create(&stream));
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &ranks);
    make_traffic(&first, transport);
    make_traffic(&second, transport);
    for (int round = 0; round < ROUNDS; round++) {
        start(&first, round);
        start(&second, round + ROUNDS);
        finish(&first, round);
        finish(&second, round + ROUNDS);
    }
    free_traffic(&first);
    free_traffic(&second);
    CHECK_OK(cf_stream_destroy(stream));
}

/* Half of the ranks, in reverse order, have a transport of their own. */
static void messages_arrive_in_parts_of_the_world(void)
{
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, -world_rank(), &part);
    messages_arrive(part, enter_transport(part));
    MPI_Comm_free(&part);
}

/* Number of messages for MPI. */
static int count_pieces(const struct cf__mpi_message *messages, int count, size_t piece)
{
    size_t pieces = 0;
    for (int i = 0; i < count; i++)
        pieces += (messages[i].bytes + piece - 1) / piece;
    return (int)pieces;
}

static void long_messages_travel_in_pieces(void)
{
    struct cf__mpi_transport *transport = enter_transport(MPI_COMM_WORLD);
    struct traffic traffic;
    size_t usual = transport->piece;
    CHECK(usual >= 1 << 20 && usual <= INT_MAX);
    if (transport->is_nccl)
        return;
    transport->piece = BYTES / 7;
    messages_arrive(MPI_COMM_WORLD, transport);
    CHECK_OK(cf_stream_create(&stream));
    make_traffic(&traffic, transport);
    start(&traffic, 0);
    CHECK(traffic.exchange.count == count_pieces(traffic.sends, traffic.count, transport->piece) +
                                        count_pieces(traffic.receives, traffic.count, transport->piece));
    finish(&traffic, 0);
    free_traffic(&traffic);
    CHECK_OK(cf_stream_destroy(stream));
    transport->piece = usual;
}

/* A receive of the caller for any message gets none of the library's. */
static void messages_stay_in_the_duplicate(void)
{
    MPI_Comm copy;
    MPI_Request any;
    MPI_Status status;
    int byte = 0, is_cancelled = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    struct cf__mpi_transport *transport = enter_transport(copy);
    MPI_Irecv(&byte, 1, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, copy, &any);
    messages_arrive(copy, transport);
    MPI_Cancel(&any);
    MPI_Wait(&any, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    CHECK(is_cancelled);
    MPI_Comm_free(&copy);
}

static void buffers_are_for_one_device(void)
{
    struct cf__mpi_transport *transport = enter_transport(MPI_COMM_WORLD);
    void *buffer = NULL;
    int device;
    if (!transport->is_nccl)
        return;
    CHECK_OK(cf_device_current(&device));
    CHECK_OK(cf_device_use(CF_HOST));
    CHECK_FAILS(cf__mpi_buffer_alloc("test", transport, &buffer, 8), CF_EINVAL, "NCCL of the communicator is for GPU");
    CHECK_OK(cf_device_use(device));
}

/* The communicator that is no longer needed is on a GPU that does not exist. */
static void errors_of_the_driver_are_told(void)
{
    struct cf__mpi_transport *transport = enter_transport(MPI_COMM_WORLD);
    struct cf__mpi_nccl broken = transport->nccl;
    if (!transport->is_nccl)
        return;
    broken.device = 99;
    broken.first = broken.comm;
    CHECK_FAILS(cf__mpi_nccl_settle(&broken), CF_ECALL, "cuDevicePrimaryCtxRetain: result 101");
    broken.first = NULL;
    CHECK_OK(cf__mpi_nccl_settle(&broken));
}

static void errors_abort_nccl(int is_late)
{
    struct cf__mpi_transport *transport = enter_transport(MPI_COMM_WORLD);
    struct traffic traffic;
    CHECK(transport->is_nccl);
    CHECK_OK(cf_stream_create(&stream));
    own = world_rank();
    ranks = world_size();
    make_traffic(&traffic, transport);
    CHECK_OK(cf__mpi_exchange_check(&traffic.exchange));
    start(&traffic, 0);
    CHECK_FAILS(cf__mpi_exchange_finish(&traffic.exchange), CF_ECALL,
                is_late ? "NCCL: remote process exited" : "rank 0: ncclGroupEnd: remote process exited");
    CHECK_FAILS(cf__mpi_exchange_check(&traffic.exchange), CF_ECALL, "NCCL was aborted after an earlier error");
    start(&traffic, 0);
    CHECK_FAILS(cf__mpi_exchange_finish(&traffic.exchange), CF_ECALL,
                "rank 0: NCCL was aborted after an earlier error");
    free_traffic(&traffic);
    CHECK_OK(cf_stream_destroy(stream));
}

/* The start fails on rank 1; the others do not wait for its messages. */
static void one_rank_aborts_nccl_of_all(void)
{
    struct cf__mpi_transport *transport = enter_transport(MPI_COMM_WORLD);
    cf_mpi_plan *plan = NULL;
    int64_t offsets[] = {0, 1, 2}, index[] = {0, 1};
    CHECK(transport->is_nccl);
    CHECK_FAILS(cf_mpi_plan_create(&plan, MPI_COMM_WORLD, offsets, index, 2), CF_ECALL,
                "rank 1: ncclGroupEnd: remote process");
    CHECK(!plan && !transport->nccl.comm);
}

/* A kernel of rank 1 writes memory out of its reach, which the next call tells all ranks; or it reads some to send it,
 * so that this call does. */
static void fault_is_told(int is_source)
{
    cf_mpi_plan *plan = NULL;
    int64_t offsets[] = {0, 1, 2}, index[] = {0, 1};
    int32_t *data = NULL, *res = NULL, outside[2];
    CHECK_OK(cf_mem_alloc((void **)&data, sizeof *data));
    CHECK_OK(cf_mem_alloc((void **)&res, 2 * sizeof *res));
    CHECK_OK(cf_mpi_plan_create(&plan, MPI_COMM_WORLD, offsets, index, 2));
    cf_mpi_array source = {2, offsets, data, CF_I32, 0};
    CHECK_OK(cf_device_current(&source.device));
    if (is_source && world_rank() == 1)
        source.data = outside;
    int status = cf_mpi_gather(plan, &source, !is_source && world_rank() == 1 ? outside : res);
    CHECK(status == (is_source || world_rank() == 1 ? CF_EFAULT : CF_OK));
    CHECK(!is_source || strncmp(cf_last_error(), "rank 1: ", 8) == 0);
    for (int i = 0; i < 2; i++) {
        CHECK(cf_mpi_gather(plan, &source, res) == CF_EFAULT);
        CHECK(strncmp(cf_last_error(), "rank 1: ", 8) == 0);
    }
}

int main(int argc, char **argv)
{
    const char *expected = argc > 1 ? argv[1] : "";
    CHECK_OK(cf_mpi_init());
    if (strcmp(expected, "aborted") == 0 || strcmp(expected, "late") == 0) {
        errors_abort_nccl(*expected == 'l');
    } else if (strcmp(expected, "lone") == 0) {
        one_rank_aborts_nccl_of_all();
    } else if (strcmp(expected, "fault") == 0 || strcmp(expected, "source") == 0) {
        fault_is_told(*expected == 's');
    } else {
        choice_has_its_reason(expected);
        variable_forces_a_transport();
        awareness_is_that_of_all_ranks();
        messages_arrive(MPI_COMM_WORLD, enter_transport(MPI_COMM_WORLD));
        messages_arrive_in_parts_of_the_world();
        long_messages_travel_in_pieces();
        messages_stay_in_the_duplicate();
        buffers_are_for_one_device();
        errors_of_the_driver_are_told();
    }
    MPI_Finalize();
    return 0;
}
