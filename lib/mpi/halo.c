/* halo.c - exchanges ghost cells between neighbours on a Cartesian communicator. */
#include <stdlib.h>

#include <cuferry/mpi.h>

#include "cuferry_mpi_kernels.h"
#include "mpi/agree.h"
#include "mpi/elements.h"
#include "mpi/exchange.h"

enum { DIMS = 3, NEIGHBOURS = 26, DIRECTIONS = 27 };

/* The cells that are sent, or the cells that are received: their boxes in the order of the messages, and their
 * buffer. */
struct cells {
    struct cfmpi_boxes boxes;
    struct cf__mpi_message messages[NEIGHBOURS];
    void *buffer;
    int64_t elements;               /* number of elements in the buffer */
    const struct cf_kernel *kernel; /* kernel that copies between the array and the buffer */
};

struct cf_mpi_halo {
    struct cf__mpi_object object;
    struct cf__mpi_exchange exchange;
    struct cells out, in;
    int messages;  /* number of messages in each direction */
    int64_t total; /* number of elements in the array */
    int device;
    int is_started;
    void *array;
    cf_event unpacked; /* recorded when the buffers are free for the next exchange, which may use a different stream */
};

/* The communicator's grid of ranks, and a rank's block, both extended to three dimensions. The added dimensions come
 * first, and have one cell and no ghost cells. */
struct grid {
    MPI_Comm comm;
    int dims;
    int ranks[DIMS], periodic[DIMS], coords[DIMS];
    int64_t extents[DIMS], ghosts[DIMS];
    size_t bytes; /* bytes of an element */
    unsigned int flags;
};

/* ---- Checks ---- */

static int read_topology(struct grid *grid)
{
    int kind = MPI_UNDEFINED;
    int status = cf__mpi_result(MPI_Topo_test(grid->comm, &kind), "MPI_Topo_test");
    if (status == CF_OK && kind != MPI_CART)
        status = cf__mpi_fail(CF_EINVAL, "cf_mpi_halo_create: comm is no Cartesian communicator");
    if (status == CF_OK)
        status = cf__mpi_result(MPI_Cartdim_get(grid->comm, &grid->dims), "MPI_Cartdim_get");
    if (status == CF_OK && (grid->dims < 1 || grid->dims > DIMS))
        status = cf__mpi_fail(CF_EINVAL, "cf_mpi_halo_create: comm has %d dimensions; a halo has 1 to 3", grid->dims);
    return status == CF_OK
               ? cf__mpi_result(MPI_Cart_get(grid->comm, grid->dims, grid->ranks, grid->periodic, grid->coords),
                                "MPI_Cart_get")
               : status;
}

/* Returns 1 if the block has neighbours in dimension d. */
static int has_neighbours(const struct grid *grid, int d)
{
    return grid->ranks[d] > 1 || grid->periodic[d];
}

static int check_extent(const struct grid *grid, int d, int64_t extent, int64_t width)
{
    if (extent < 0)
        return cf__mpi_fail(CF_EINVAL, "cf_mpi_halo_create: extents[%d] = %lld is negative", d, (long long)extent);
    if (extent < width && has_neighbours(grid, d))
        return cf__mpi_fail(CF_EINVAL, "cf_mpi_halo_create: extents[%d] = %lld is less than the width, %lld", d,
                            (long long)extent, (long long)width);
    return CF_OK;
}

/* Writes the number of elements of an array with ghost cells to `total`. */
static int count_elements(const int64_t *extents, int dims, int64_t width, size_t bytes, int64_t *total)
{
    int64_t ghosts = 0, side = 0, size = (int64_t)bytes;
    int is_large = __builtin_mul_overflow(width, (int64_t)2, &ghosts);
    for (int d = 0; d < dims; d++) {
        is_large |= __builtin_add_overflow(extents[d], ghosts, &side);
        is_large |= __builtin_mul_overflow(size, side, &size);
    }
    *total = size / (int64_t)bytes;
    return is_large ? cf__mpi_fail(CF_EOVERFLOW, "cf_mpi_halo_create: the array has more than 2^63 - 1 bytes") : CF_OK;
}

static int check_arguments(const void *halo, const struct grid *grid, const int64_t *extents, int64_t width,
                           cf_type type)
{
    int status = cf__mpi_elements_check("cf_mpi_halo_create", "the array", type);
    if (!halo || !extents)
        return cf__mpi_fail(CF_EINVAL, "cf_mpi_halo_create: %s is NULL", halo ? "extents" : "halo");
    if (status != CF_OK)
        return status;
    if (width < 1)
        return cf__mpi_fail(CF_EINVAL, "cf_mpi_halo_create: width = %lld is less than 1", (long long)width);
    if (grid->flags & ~(unsigned)CF_MPI_HALO_CORNERS)
        return cf__mpi_fail(CF_EINVAL, "cf_mpi_halo_create: flags = %#x has unknown flags", grid->flags);
    for (int d = 0; d < grid->dims && status == CF_OK; d++)
        status = check_extent(grid, d, extents[d], width);
    return status;
}

/* The properties of a block that a rank compares with those of its neighbours. */
struct block {
    int64_t is_valid, type, width, flags, extents[DIMS];
};
enum { BLOCK_VALUES = sizeof(struct block) / sizeof(int64_t) };

/* Compares a block with that of the neighbour in dimension `across`. */
static int compare_block(const struct block *own, const struct block *other, int dims, int across)
{
    if (!own->is_valid || !other->is_valid)
        return CF_OK;
    if (own->type != other->type || own->width != other->width || own->flags != other->flags)
        return cf__mpi_fail(CF_EINVAL, "cf_mpi_halo_create: type, width or flags of a neighbour in dimension %d differ",
                            across);
    for (int d = 0; d < dims; d++)
        if (d != across && own->extents[d] != other->extents[d])
            return cf__mpi_fail(CF_EINVAL,
                                "cf_mpi_halo_create: extents[%d] = %lld, but %lld on the neighbour in dimension %d", d,
                                (long long)own->extents[d], (long long)other->extents[d], across);
    return CF_OK;
}

/* Compares the block with those of all neighbours. Where there is no neighbour, nothing is received, and the entry
 * stays invalid. */
static int compare_blocks(const struct grid *grid, const struct block *own)
{
    struct block others[2 * DIMS] = {{0}};
    int status = cf__mpi_result(
        MPI_Neighbor_allgather(own, BLOCK_VALUES, MPI_INT64_T, others, BLOCK_VALUES, MPI_INT64_T, grid->comm),
        "MPI_Neighbor_allgather");
    for (int i = 0; i < 2 * grid->dims && status == CF_OK; i++)
        status = compare_block(own, &others[i], grid->dims, i / 2);
    return status;
}

/* ---- Boxes ---- */

/* Extends the communicator's dimensions to three by adding leading ones. */
static void widen_grid(struct grid *grid, const int64_t *extents, int64_t width)
{
    for (int d = DIMS - 1, from = grid->dims - 1; d >= 0; d--, from--) {
        grid->extents[d] = from < 0 ? 1 : extents[from];
        grid->ghosts[d] = from < 0 ? 0 : width;
    }
}

static int64_t side_of(const struct grid *grid, int d)
{
    return grid->extents[d] + 2 * grid->ghosts[d];
}

/* Writes direction `number`, one of 27. In each dimension it is -1, 0 or 1. */
static void read_direction(int number, int direction[DIMS])
{
    direction[0] = number / 9 - 1;
    direction[1] = number / 3 % 3 - 1;
    direction[2] = number % 3 - 1;
}

/* Returns 1 if cells are exchanged in this direction when there is a rank. */
static int is_exchanged(const struct grid *grid, const int direction[DIMS])
{
    int moves = 0;
    for (int d = 0; d < DIMS; d++) {
        moves += direction[d] != 0;
        if (direction[d] && d < DIMS - grid->dims)
            return 0;
    }
    return moves == 1 || (moves && grid->flags & CF_MPI_HALO_CORNERS);
}

/* Writes the rank in a direction to `peer`, or MPI_PROC_NULL if there is none. */
static int find_peer(const struct grid *grid, const int direction[DIMS], int *peer)
{
    int coords[DIMS];
    *peer = MPI_PROC_NULL;
    for (int d = 0; d < grid->dims; d++) {
        coords[d] = grid->coords[d] + direction[DIMS - grid->dims + d];
        if (!grid->periodic[d] && (coords[d] < 0 || coords[d] >= grid->ranks[d]))
            return CF_OK;
    }
    return cf__mpi_result(MPI_Cart_rank(grid->comm, coords, peer), "MPI_Cart_rank");
}

/* Returns the box at a side of the block: its ghost cells, or the cells that the neighbour has as ghost cells. A box
 * that is one cell wide gets its rows along the previous dimension, so that they are long. */
static struct cfmpi_box make_box(const struct grid *grid, const int direction[DIMS], int is_ghost, int64_t *elements)
{
    int64_t first[DIMS], extents[DIMS];
    for (int d = 0; d < DIMS; d++) {
        int64_t extent = grid->extents[d], ghosts = grid->ghosts[d];
        extents[d] = direction[d] ? ghosts : extent;
        first[d] = (direction[d] > 0 ? extent : ghosts) + (is_ghost ? direction[d] * ghosts : 0);
    }
    *elements = extents[0] * extents[1] * extents[2];
    const int64_t row = side_of(grid, 2), plane = side_of(grid, 1) * row;
    struct cfmpi_box box = {.cell = first[0] * plane + first[1] * row + first[2]};
    if (extents[2] == 1)
        box.rows = extents[0], box.width = extents[1], box.row = plane, box.step = row;
    else
        box.rows = extents[1], box.width = extents[2], box.plane = plane, box.row = row, box.step = 1;
    return box;
}

/* Lists the messages to send, or the messages to receive, and writes their number. Two ranks may be neighbours in
 * several directions, so both lists are in the order of the sender's directions. */
static int list_messages(const struct grid *grid, struct cells *cells, int is_ghost, int *count)
{
    int direction[DIMS], peer = MPI_PROC_NULL, status = CF_OK;
    int64_t begin = 0, length = 0;
    *count = 0;
    for (int number = 0; number < DIRECTIONS && status == CF_OK; number++) {
        read_direction(is_ghost ? DIRECTIONS - 1 - number : number, direction);
        if (!is_exchanged(grid, direction))
            continue;
        status = find_peer(grid, direction, &peer);
        if (status != CF_OK || peer == MPI_PROC_NULL)
            continue;
        begin = cf__mpi_message_space(cells->elements);
        cells->boxes.at[*count] = make_box(grid, direction, is_ghost, &length);
        cells->boxes.at[*count].begin = begin;
        cells->boxes.at[*count].end = cells->elements = begin + length;
        cells->messages[*count] = (struct cf__mpi_message){.peer = peer, .bytes = (size_t)length * grid->bytes};
        ++*count;
    }
    return status;
}

/* ---- Making ---- */

static int alloc_buffer(const cf_mpi_halo *halo, struct cells *cells, size_t bytes)
{
    int status = cf__mpi_buffer_alloc("cf_mpi_halo_create", halo->exchange.transport, &cells->buffer,
                                      (size_t)cells->elements * bytes);
    for (int i = 0; i < halo->messages && cells->buffer; i++)
        cells->messages[i].data = (char *)cells->buffer + (size_t)cells->boxes.at[i].begin * bytes;
    return status;
}

static int fill_halo(cf_mpi_halo *halo, const struct grid *grid, struct cf__mpi_transport *transport)
{
    int status = cf_device_current(&halo->device);
    if (status == CF_OK)
        status = list_messages(grid, &halo->out, 0, &halo->messages);
    if (status == CF_OK)
        status = list_messages(grid, &halo->in, 1, &halo->messages);
    if (status == CF_OK)
        status = cf__mpi_exchange_create("cf_mpi_halo_create", &halo->exchange, transport, NULL, 2 * halo->messages,
                                         (size_t)halo->out.elements * grid->bytes);
    if (status == CF_OK)
        status = cf_event_create_with(&halo->unpacked, CF_EVENT_NO_TIMING);
    if (status == CF_OK)
        status = alloc_buffer(halo, &halo->out, grid->bytes);
    if (status == CF_OK)
        status = alloc_buffer(halo, &halo->in, grid->bytes);
    halo->exchange.is_background = 1;
    halo->out.kernel = cf__mpi_elements_kernel("pack_boxes", grid->bytes);
    halo->in.kernel = cf__mpi_elements_kernel("unpack_boxes", grid->bytes);
    return status;
}

/* Waits for messages in flight, because MPI is using the buffers. A failure is ignored: no caller could receive it. */
static void destroy_halo(struct cf__mpi_object *object)
{
    cf_mpi_halo *halo = (cf_mpi_halo *)object;
    if (halo->is_started)
        (void)cf__mpi_exchange_finish(&halo->exchange);
    cf__mpi_exchange_free(&halo->exchange);
    (void)!cf_event_destroy(halo->unpacked);
    (void)!cf_mem_free(halo->out.buffer);
    (void)!cf_mem_free(halo->in.buffer);
    free(halo);
}

static int make_halo(cf_mpi_halo **halo, const struct grid *grid, int64_t total, struct cf__mpi_comm *state,
                     struct cf__mpi_transport *transport)
{
    *halo = calloc(1, sizeof **halo);
    if (!*halo)
        return cf__mpi_fail(CF_ENOMEM, "cf_mpi_halo_create: no memory for a halo");
    (*halo)->object = (struct cf__mpi_object){.kind = CF__MPI_HALO, .comm = state, .destroy = destroy_halo};
    (*halo)->total = total;
    return fill_halo(*halo, grid, transport);
}

static int check_block(const void *halo, const struct grid *grid, const int64_t *extents, int64_t width, cf_type type,
                       int64_t *total)
{
    struct block own = {.type = type, .width = width, .flags = grid->flags};
    int status = check_arguments(halo, grid, extents, width, type);
    if (status == CF_OK)
        status = count_elements(extents, grid->dims, width, cf_type_size(type), total);
    own.is_valid = status == CF_OK;
    for (int d = 0; d < grid->dims && status == CF_OK; d++)
        own.extents[d] = extents[d];
    int compared = compare_blocks(grid, &own);
    return status == CF_OK ? compared : status;
}

int cf_mpi_halo_create(cf_mpi_halo **halo, MPI_Comm comm, cf_type type, const int64_t *extents, int64_t width,
                       unsigned int flags)
{
    struct cf__mpi_comm *state = NULL;
    struct cf__mpi_transport *transport = NULL;
    struct grid grid = {.flags = flags, .bytes = cf_type_size(type)};
    cf_mpi_halo *made = NULL;
    int64_t total = 0;
    int status = cf__mpi_enter("cf_mpi_halo_create", comm, &state);
    if (status != CF_OK)
        return status;
    grid.comm = state->comm;
    status = read_topology(&grid);
    if (status == CF_OK)
        status = cf__mpi_transport_enter("cf_mpi_halo_create", state, &transport);
    if (status != CF_OK)
        return status;
    status = check_block(halo, &grid, extents, width, type, &total);
    if (status == CF_OK) {
        widen_grid(&grid, extents, width);
        status = make_halo(&made, &grid, total, state, transport);
    }
    status = cf__mpi_agree(state->comm, status);
    if (status == CF_OK)
        status = cf__mpi_exchange_connect(&made->exchange, made->out.messages, made->messages, made->in.messages,
                                          made->messages);
    if (status != CF_OK && made)
        destroy_halo(&made->object);
    if (status == CF_OK)
        cf__mpi_object_add(&made->object);
    if (halo)
        *halo = status == CF_OK ? made : NULL;
    return status;
}

int cf_mpi_halo_destroy(cf_mpi_halo *halo)
{
    int status = halo ? cf__mpi_object_check("cf_mpi_halo_destroy", halo, CF__MPI_HALO) : CF_OK;
    if (status != CF_OK || !halo)
        return status;
    if (halo->is_started)
        return cf__mpi_fail(CF_EINVAL, "cf_mpi_halo_destroy: an exchange has started and is not finished");
    cf__mpi_object_destroy(&halo->object);
    return CF_OK;
}

/* ---- Exchange ---- */

static int check_start(const cf_mpi_halo *halo, cf_stream stream, const void *array)
{
    int device = 0, status = cf_stream_device(stream, &device);
    if (status == CF_OK && device != halo->device)
        status = cf__mpi_fail(CF_EINVAL, "cf_mpi_halo_start: stream is of device %d, the halo of device %d", device,
                              halo->device);
    if (status == CF_OK && !array && halo->total)
        status = cf__mpi_fail(CF_EINVAL, "cf_mpi_halo_start: array is NULL");
    return status;
}

/* Copies between array and buffer, in the exchange's stream. */
static int copy_boxes(cf_mpi_halo *halo, struct cells *cells, void *from, void *to)
{
    void *args[] = {&cells->boxes, &from, &to, &cells->elements, &halo->total};
    return cf_launch(cells->kernel, halo->exchange.stream, args);
}

int cf_mpi_halo_start(cf_mpi_halo *halo, cf_stream stream, void *array)
{
    int status = cf__mpi_object_check("cf_mpi_halo_start", halo, CF__MPI_HALO);
    if (status != CF_OK)
        return status;
    if (halo->is_started)
        return cf__mpi_fail(CF_EINVAL, "cf_mpi_halo_start: the halo's exchange has started and is not finished");
    int checked = check_start(halo, stream, array);
    halo->is_started = 1;
    halo->array = array;
    /* If this rank failed, its neighbours still wait for its messages. So the buffer is sent with its old content: over
     * NCCL in NCCL's own stream, over MPI in the default stream (NULL). */
    halo->exchange.stream = checked ? halo->exchange.transport->nccl.stream : stream;
    status = cf_stream_wait(halo->exchange.stream, halo->unpacked);
    if (status == CF_OK && !checked)
        status = copy_boxes(halo, &halo->out, array, halo->out.buffer);
    cf__mpi_exchange_start(&halo->exchange, checked ? checked : status, halo->out.messages, halo->messages,
                           halo->in.messages, halo->messages);
    return CF_OK;
}

/* Checks the thread's device, because the default stream belongs to it, and it may have changed since the start. */
static int check_finish(const cf_mpi_halo *halo)
{
    int device = 0;
    if (!halo->is_started)
        return cf__mpi_fail(CF_EINVAL, "cf_mpi_halo_finish: the halo has no exchange that has started");
    if (halo->exchange.failure.status != CF_OK || halo->exchange.stream)
        return CF_OK;
    int status = cf_device_current(&device);
    if (status != CF_OK || device == halo->device)
        return status;
    return cf__mpi_fail(CF_EINVAL, "cf_mpi_halo_finish: the calling thread's device is %d, the halo's is %d", device,
                        halo->device);
}

static int unpack(cf_mpi_halo *halo)
{
    int status = copy_boxes(halo, &halo->in, halo->in.buffer, halo->array);
    return status == CF_OK ? cf_event_record(halo->unpacked, halo->exchange.stream) : status;
}

int cf_mpi_halo_finish(cf_mpi_halo *halo)
{
    int status = cf__mpi_object_check("cf_mpi_halo_finish", halo, CF__MPI_HALO);
    if (status != CF_OK)
        return status;
    status = check_finish(halo);
    if (status != CF_OK)
        return status;
    halo->is_started = 0;
    status = cf__mpi_exchange_finish(&halo->exchange);
    return status == CF_OK ? unpack(halo) : status;
}
