/* halo.c - exchanges of ghost cells, judged cell by cell against a function of the coordinates. */
#include "mpi_check.h"

#include <stdint.h>

enum { DIMS = 3, POISON = 0xA5 };

/* MPI's function, under its name for tools: messages begin at multiples of 16 bytes, for which NCCL has fast copies. */
int MPI_Isend(const void *data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request)
{
    CHECK((uintptr_t)data % 16 == 0);
    return PMPI_Isend(data, count, type, peer, tag, comm, request);
}

/* A block of the global grid, in an array with ghost cells. */
struct block {
    MPI_Comm comm;
    int dims, bytes;
    int ranks[DIMS], periodic[DIMS], coords[DIMS];
    int64_t width;
    int64_t extents[DIMS], first[DIMS], whole[DIMS]; /* the block, its first cell, the grid */
    unsigned char *cells;
};

static int64_t count_cells(const struct block *block)
{
    int64_t count = 1;
    for (int d = 0; d < block->dims; d++)
        count *= block->extents[d] + 2 * block->width;
    return count;
}

/* Uneven extents of the ranks in a dimension, the same on all ranks. */
static int64_t extent_at(const struct block *block, int d, int at)
{
    return block->width + 1 + (3 * at + 2 * d) % 4;
}

static struct block make_block(int dims, int periodic, int64_t width, int bytes)
{
    struct block block = {.dims = dims, .bytes = bytes, .width = width};
    MPI_Dims_create(world_size(), dims, block.ranks);
    for (int d = 0; d < dims; d++)
        block.periodic[d] = periodic >> d & 1;
    MPI_Cart_create(MPI_COMM_WORLD, dims, block.ranks, block.periodic, 0, &block.comm);
    MPI_Cart_get(block.comm, dims, block.ranks, block.periodic, block.coords);
    for (int d = 0; d < dims; d++)
        for (int at = 0; at < block.ranks[d]; at++) {
            if (at == block.coords[d]) {
                block.first[d] = block.whole[d];
                block.extents[d] = extent_at(&block, d, at);
            }
            block.whole[d] += extent_at(&block, d, at);
        }
    CHECK_OK(cf_mem_alloc((void **)&block.cells, (size_t)(count_cells(&block) * bytes)));
    return block;
}

static void free_block(struct block *block)
{
    CHECK_OK(cf_mem_free(block->cells));
    MPI_Comm_free(&block->comm);
}

/* The place of a cell of the array. */
enum place { INSIDE, GHOST, UNTOUCHED };

/* Finds the place of cell i; `seed` becomes the number of the cell in the global grid. */
static enum place find_place(const struct block *block, int64_t i, int has_corners, int64_t *seed)
{
    int64_t number = 0, coordinates[DIMS] = {0};
    int outside = 0, is_lost = 0;
    for (int d = block->dims - 1; d >= 0; d--) {
        int64_t side = block->extents[d] + 2 * block->width;
        coordinates[d] = i % side - block->width;
        i /= side;
    }
    for (int d = 0; d < block->dims; d++) {
        int64_t at = coordinates[d] + block->first[d], whole = block->whole[d];
        outside += coordinates[d] < 0 || coordinates[d] >= block->extents[d];
        is_lost |= (at < 0 || at >= whole) && !block->periodic[d];
        number = number * whole + (at + whole) % whole;
    }
    *seed = number;
    if (!outside)
        return INSIDE;
    return is_lost || (outside > 1 && !has_corners) ? UNTOUCHED : GHOST;
}

static unsigned char byte_of(int64_t seed, int step, int byte)
{
    return (unsigned char)((uint64_t)(seed + step + 1) * 2654435761u * (unsigned)(2 * byte + 3) >> 16);
}

static void fill_block(struct block *block, unsigned char *cells, int step)
{
    for (int64_t i = 0; i < count_cells(block); i++) {
        int64_t seed = 0;
        int is_inside = find_place(block, i, 1, &seed) == INSIDE;
        for (int k = 0; k < block->bytes; k++)
            cells[i * block->bytes + k] = is_inside ? byte_of(seed, step, k) : POISON;
    }
}

static void check_block(const struct block *block, const unsigned char *cells, int has_corners, int step)
{
    for (int64_t i = 0; i < count_cells(block); i++) {
        int64_t seed = 0;
        enum place place = find_place(block, i, has_corners, &seed);
        for (int k = 0; k < block->bytes; k++)
            CHECK(cells[i * block->bytes + k] == (place == UNTOUCHED ? POISON : byte_of(seed, step, k)));
    }
}

static void put_cells(struct block *block, int step)
{
    size_t bytes = (size_t)(count_cells(block) * block->bytes);
    unsigned char *cells = malloc(bytes);
    CHECK(cells);
    fill_block(block, cells, step);
    CHECK_OK(cf_mem_copy(block->cells, cells, bytes));
    free(cells);
}

static void judge_cells(const struct block *block, int has_corners, int step)
{
    size_t bytes = (size_t)(count_cells(block) * block->bytes);
    unsigned char *cells = malloc(bytes);
    CHECK(cells);
    CHECK_OK(cf_mem_copy(cells, block->cells, bytes));
    check_block(block, cells, has_corners, step);
    free(cells);
}

static cf_type type_of(int bytes)
{
    return bytes == 1 ? CF_BOOL : bytes == 2 ? CF_F16 : bytes == 4 ? CF_F32 : bytes == 8 ? CF_F64 : CF_C128;
}

static void exchange(int dims, int periodic, int64_t width, int bytes, unsigned int flags)
{
    struct block block = make_block(dims, periodic, width, bytes);
    cf_mpi_halo *halo = NULL;
    cf_stream stream = NULL;
    CHECK_OK(cf_stream_create(&stream));
    CHECK_OK(cf_mpi_halo_create(&halo, block.comm, type_of(bytes), block.extents, width, flags));
    for (int step = 0; step < 2; step++) {
        put_cells(&block, step);
        CHECK_OK(cf_mpi_halo_start(halo, stream, block.cells));
        CHECK_OK(cf_mpi_halo_finish(halo));
        CHECK_OK(cf_stream_sync(stream));
        judge_cells(&block, flags == CF_MPI_HALO_CORNERS, step);
    }
    CHECK_OK(cf_mpi_halo_destroy(halo));
    CHECK_OK(cf_stream_destroy(stream));
    free_block(&block);
}

static void every_form_of_grid(void)
{
    for (int dims = 1; dims <= DIMS; dims++)
        for (int periodic = 0; periodic < 1 << dims; periodic++)
            for (unsigned int flags = 0; flags <= CF_MPI_HALO_CORNERS; flags++)
                exchange(dims, periodic, 1 + (periodic + dims) % 3, 1 << (periodic + dims + (int)flags) % 5, flags);
    for (int bytes = 1; bytes <= 16; bytes *= 2)
        exchange(3, 5, 2, bytes, CF_MPI_HALO_CORNERS);
}

/* A box of more elements than a thread of the CPU copies at once. */
static void large_faces(void)
{
    int ranks[DIMS] = {0}, periodic[DIMS] = {1, 1, 1};
    int64_t extents[DIMS] = {70, 61, 3}, total = 72 * 63 * 5;
    cf_mpi_halo *halo = NULL;
    MPI_Comm comm;
    MPI_Dims_create(world_size(), DIMS, ranks);
    MPI_Cart_create(MPI_COMM_WORLD, DIMS, ranks, periodic, 0, &comm);
    int32_t *cells = NULL;
    CHECK_OK(cf_mem_alloc((void **)&cells, sizeof *cells * (size_t)total));
    CHECK_OK(cf_mpi_halo_create(&halo, comm, CF_I32, extents, 1, CF_MPI_HALO_CORNERS));
    int32_t *host = malloc(sizeof *cells * (size_t)total);
    CHECK(host);
    /* All ranks have the same cells, so a ghost cell has the value of the cell at the other end. */
    for (int32_t i = 0; i < total; i++)
        host[i] = (i / 315 + 69) % 70 * 100000 + (i / 5 % 63 + 60) % 61 * 100 + (i % 5 + 2) % 3;
    int32_t *wanted = malloc(sizeof *cells * (size_t)total);
    CHECK(wanted);
    memcpy(wanted, host, sizeof *cells * (size_t)total);
    for (int32_t i = 0; i < total; i++) {
        int x = i % 5, y = i / 5 % 63, z = i / 315;
        if (x < 1 || x > 3 || y < 1 || y > 61 || z < 1 || z > 70)
            host[i] = -1;
    }
    CHECK_OK(cf_mem_copy(cells, host, sizeof *cells * (size_t)total));
    CHECK_OK(cf_mpi_halo_start(halo, NULL, cells));
    CHECK_OK(cf_mpi_halo_finish(halo));
    CHECK_OK(cf_mem_copy(host, cells, sizeof *cells * (size_t)total));
    CHECK(memcmp(host, wanted, sizeof *cells * (size_t)total) == 0);
    free(host);
    free(wanted);
    CHECK_OK(cf_mem_free(cells));
    MPI_Comm_free(&comm);
}

/* Two halos of one communicator in flight; cells that were sent are overwritten, and other cells are computed. */
static void several_at_once(void)
{
    struct block one = make_block(2, 1, 1, 4), two = one;
    cf_mpi_halo *first = NULL, *second = NULL;
    cf_stream stream = NULL;
    size_t bytes = (size_t)(count_cells(&one) * 4);
    CHECK_OK(cf_stream_create(&stream));
    CHECK_OK(cf_mem_alloc((void **)&two.cells, bytes));
    CHECK_OK(cf_mpi_halo_create(&first, one.comm, CF_F32, one.extents, 1, 0));
    CHECK_OK(cf_mpi_halo_create(&second, one.comm, CF_I32, one.extents, 1, CF_MPI_HALO_CORNERS));
    put_cells(&one, 1);
    put_cells(&two, 2);
    CHECK_OK(cf_mpi_halo_start(first, stream, one.cells));
    CHECK_OK(cf_mpi_halo_start(second, NULL, two.cells));
    CHECK_OK(cf_mem_fill_async(stream, one.cells, POISON, bytes));
    CHECK_OK(cf_mem_copy_async(stream, one.cells, two.cells, bytes));
    CHECK_OK(cf_stream_sync(stream)); /* before ghost cells of the second array change */
    CHECK_OK(cf_mpi_halo_finish(second));
    CHECK_OK(cf_mpi_halo_finish(first));
    CHECK_OK(cf_stream_sync(stream));
    judge_cells(&two, 1, 2);
    put_cells(&two, 2); /* the inside that the first array has by now; its ghost cells are those of step 1 */
    unsigned char *cells = malloc(bytes), *inside = malloc(bytes);
    CHECK(cells && inside);
    CHECK_OK(cf_mem_copy(cells, one.cells, bytes));
    CHECK_OK(cf_mem_copy(inside, two.cells, bytes));
    for (int64_t i = 0; i < count_cells(&one); i++) {
        int64_t seed = 0;
        enum place place = find_place(&one, i, 0, &seed);
        for (int k = 0; k < 4; k++)
            CHECK(cells[4 * i + k] == (place == GHOST ? byte_of(seed, 1, k) : inside[4 * i + k]));
    }
    free(cells);
    free(inside);
    CHECK_OK(cf_mpi_halo_destroy(first));
    CHECK_OK(cf_mpi_halo_destroy(second));
    CHECK_OK(cf_mem_free(two.cells));
    CHECK_OK(cf_stream_destroy(stream));
    free_block(&one);
}

/* Two exchanges of one halo one after the other, in streams that nothing else orders. */
static void one_halo_in_two_streams(void)
{
    struct block one = make_block(1, 1, 2, 8), two = one;
    cf_mpi_halo *halo = NULL;
    cf_stream first = NULL, second = NULL;
    CHECK_OK(cf_stream_create(&first));
    CHECK_OK(cf_stream_create(&second));
    CHECK_OK(cf_mem_alloc((void **)&two.cells, (size_t)(count_cells(&one) * 8)));
    CHECK_OK(cf_mpi_halo_create(&halo, one.comm, CF_F64, one.extents, 2, 0));
    put_cells(&one, 1);
    put_cells(&two, 2);
    CHECK_OK(cf_device_sync());
    CHECK_OK(cf_mpi_halo_start(halo, first, one.cells));
    CHECK_OK(cf_mpi_halo_finish(halo));
    CHECK_OK(cf_mpi_halo_start(halo, second, two.cells));
    CHECK_OK(cf_mpi_halo_finish(halo));
    CHECK_OK(cf_stream_sync(first));
    CHECK_OK(cf_stream_sync(second));
    judge_cells(&one, 0, 1);
    judge_cells(&two, 0, 2);
    CHECK_OK(cf_mpi_halo_destroy(halo));
    CHECK_OK(cf_mem_free(two.cells));
    CHECK_OK(cf_stream_destroy(first));
    CHECK_OK(cf_stream_destroy(second));
    free_block(&one);
}

/* The first rank finishes while others wait for what it does afterwards. */
static void finish_before_others(void)
{
    struct block block = make_block(1, 1, 1, 8);
    cf_mpi_halo *halo = NULL;
    int is_first = world_rank() == 0, word = 0;
    CHECK_OK(cf_mpi_halo_create(&halo, block.comm, CF_F64, block.extents, 1, 0));
    put_cells(&block, 4);
    CHECK_OK(cf_mpi_halo_start(halo, NULL, block.cells));
    if (is_first)
        CHECK_OK(cf_mpi_halo_finish(halo));
    MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!is_first)
        CHECK_OK(cf_mpi_halo_finish(halo));
    judge_cells(&block, 0, 4);
    CHECK_OK(cf_mpi_halo_destroy(halo));
    free_block(&block);
}

/* MPI never gets the caller's memory, which may be of a pool. */
static void memory_of_a_pool(void)
{
    struct block block = make_block(2, 3, 1, 4);
    cf_mpi_halo *halo = NULL;
    CHECK_OK(cf_mem_free(block.cells));
    CHECK_OK(cf_mem_alloc_async(NULL, (void **)&block.cells, (size_t)(count_cells(&block) * 4)));
    CHECK_OK(cf_mpi_halo_create(&halo, block.comm, CF_F32, block.extents, 1, CF_MPI_HALO_CORNERS));
    put_cells(&block, 3);
    CHECK_OK(cf_mpi_halo_start(halo, NULL, block.cells));
    CHECK_OK(cf_mpi_halo_finish(halo));
    judge_cells(&block, 1, 3);
    CHECK_OK(cf_mpi_halo_destroy(halo));
    free_block(&block);
}

/* Ranks without cells are allowed where no neighbour needs these. */
static void empty_extents(void)
{
    int ranks[2] = {world_size(), 1}, periodic[2] = {1, 0};
    int64_t extents[2] = {2, 0};
    cf_mpi_halo *halo = NULL;
    MPI_Comm comm;
    int32_t cells[4 * 2];
    for (int i = 0; i < 8; i++)
        cells[i] = i;
    MPI_Cart_create(MPI_COMM_WORLD, 2, ranks, periodic, 0, &comm);
    CHECK_OK(cf_mpi_halo_create(&halo, comm, CF_I32, extents, 1, 0));
    CHECK_OK(cf_mpi_halo_start(halo, NULL, cells));
    CHECK_OK(cf_mpi_halo_finish(halo));
    for (int i = 0; i < 8; i++)
        CHECK(cells[i] == i);
    extents[0] = world_rank() == world_size() - 1 ? 0 : 2;
    CHECK_FAILS(cf_mpi_halo_create(&halo, comm, CF_I32, extents, 1, 0), CF_EINVAL,
                "extents[0] = 0 is less than the width, 1");
    CHECK(!halo);
    MPI_Comm_free(&comm);
}

/* ---- Errors ---- */

/* Creating fails alike on all ranks if the last rank has these arguments. */
static void check_creation(const struct block *block, cf_type type, const int64_t *extents, int64_t width,
                           unsigned int flags, int status, const char *text)
{
    int is_last = world_rank() == world_size() - 1;
    char rank[64];
    cf_mpi_halo *halo = (cf_mpi_halo *)&rank;
    CHECK_FAILS(cf_mpi_halo_create(&halo, block->comm, is_last ? type : CF_F32, is_last ? extents : block->extents,
                                   is_last ? width : 1, is_last ? flags : 0),
                status, text);
    snprintf(rank, sizeof rank, "rank %d: cf_mpi_halo_create: ", world_size() - 1);
    CHECK(!halo && strstr(cf_last_error(), rank));
}

static void errors_of_creation(void)
{
    struct block block = make_block(3, 7, 1, 4);
    int64_t negative[DIMS] = {block.extents[0], -1, block.extents[2]};
    int64_t large[DIMS] = {INT64_C(1) << 31, INT64_C(1) << 31, INT64_C(1) << 31};
    check_creation(&block, CF_PTR, block.extents, 1, 0, CF_EINVAL, "the array has type ptr (17); ");
    check_creation(&block, CF_F32, NULL, 1, 0, CF_EINVAL, "extents is NULL");
    check_creation(&block, CF_F32, negative, 1, 0, CF_EINVAL, "extents[1] = -1 is negative");
    check_creation(&block, CF_F32, block.extents, 0, 0, CF_EINVAL, "width = 0 is less than 1");
    check_creation(&block, CF_F32, block.extents, 9, 0, CF_EINVAL, "is less than the width, 9");
    check_creation(&block, CF_F32, block.extents, 1, 8, CF_EINVAL, "flags = 0x8 has unknown flags");
    check_creation(&block, CF_F32, large, 1, 0, CF_EOVERFLOW, "2^63 - 1 bytes");
    CHECK_FAILS(cf_mpi_halo_create(NULL, block.comm, CF_F32, block.extents, 1, 0), CF_EINVAL, "halo is NULL");
    free_block(&block);
}

static void errors_of_the_communicator(void)
{
    int64_t extents[4] = {1, 1, 1, 1};
    int ranks[4] = {1, 1, 1, world_size()}, periodic[4] = {0};
    cf_mpi_halo *halo = NULL;
    MPI_Comm comm;
    CHECK_FAILS(cf_mpi_halo_create(&halo, MPI_COMM_WORLD, CF_F32, extents, 1, 0), CF_EINVAL,
                "cf_mpi_halo_create: comm is no Cartesian communicator");
    MPI_Cart_create(MPI_COMM_WORLD, 4, ranks, periodic, 0, &comm);
    CHECK_FAILS(cf_mpi_halo_create(&halo, comm, CF_F32, extents, 1, 0), CF_EINVAL,
                "comm has 4 dimensions; a halo has 1 to 3");
    MPI_Comm_free(&comm);
}

/* One rank's block does not fit its neighbours'. */
static void extents_that_disagree(void)
{
    int ranks[2] = {world_size(), 1}, periodic[2] = {0};
    int is_last = world_rank() == world_size() - 1;
    int64_t extents[2] = {4, is_last ? 5 : 4};
    cf_mpi_halo *halo = NULL;
    MPI_Comm comm;
    if (world_size() == 1)
        return;
    MPI_Cart_create(MPI_COMM_WORLD, 2, ranks, periodic, 0, &comm);
    char text[128];
    snprintf(text, sizeof text, "rank %d: cf_mpi_halo_create: extents[1] = 4, but 5 on the neighbour in dimension 0",
             world_size() - 2);
    CHECK_FAILS(cf_mpi_halo_create(&halo, comm, CF_F32, extents, 1, 0), CF_EINVAL, text);
    extents[1] = 4;
    CHECK_FAILS(cf_mpi_halo_create(&halo, comm, is_last ? CF_I64 : CF_F32, extents, 1, 0), CF_EINVAL,
                "type, width or flags of a neighbour in dimension 0 differ");
    MPI_Comm_free(&comm);
}

/* A failure of start on one rank is one of finish on all; the halo works again afterwards. */
static void errors_of_the_exchange(void)
{
    struct block block = make_block(2, 3, 2, 8);
    cf_mpi_halo *halo = NULL;
    CHECK_OK(cf_mpi_halo_create(&halo, block.comm, CF_I64, block.extents, 2, 0));
    CHECK_FAILS(cf_mpi_halo_finish(halo), CF_EINVAL, "cf_mpi_halo_finish: the halo has no exchange");
    int last = world_size() - 1;
    put_cells(&block, 0);
    CHECK_OK(cf_mpi_halo_start(halo, NULL, world_rank() == last ? NULL : block.cells));
    CHECK_FAILS(cf_mpi_halo_start(halo, NULL, block.cells), CF_EINVAL, "has started and is not finished");
    CHECK_FAILS(cf_mpi_halo_destroy(halo), CF_EINVAL, "has started and is not finished");
    char text[64];
    snprintf(text, sizeof text, "rank %d: cf_mpi_halo_start: array is NULL", last);
    CHECK_FAILS(cf_mpi_halo_finish(halo), CF_EINVAL, text);
    CHECK_OK(cf_mpi_halo_start(halo, NULL, block.cells));
    CHECK_OK(cf_mpi_halo_finish(halo));
    judge_cells(&block, 0, 0);
    CHECK_OK(cf_mpi_halo_destroy(halo));
    CHECK_OK(cf_mpi_halo_destroy(NULL));
    CHECK_FAILS(cf_mpi_halo_start(halo, NULL, block.cells), CF_EINVAL, "is no halo");
    CHECK_FAILS(cf_mpi_halo_destroy(halo), CF_EINVAL, "is no halo");
    free_block(&block);
}

/* A halo of a GPU and a thread that uses the CPU. The last rank's stream is the CPU's; NCCL serves afterwards, too. */
static void errors_of_devices(void)
{
    struct block block = make_block(1, 1, 1, 4);
    cf_mpi_halo *halo = NULL;
    cf_stream stream = NULL;
    int device = CF_HOST, is_last = world_rank() == world_size() - 1;
    CHECK_OK(cf_device_current(&device));
    CHECK_OK(cf_mpi_halo_create(&halo, block.comm, CF_F32, block.extents, 1, 0));
    put_cells(&block, 5);
    CHECK_OK(cf_device_use(CF_HOST));
    CHECK_OK(cf_stream_create(&stream));
    CHECK_OK(cf_device_use(is_last ? CF_HOST : device));
    CHECK_OK(cf_mpi_halo_start(halo, is_last ? stream : NULL, block.cells));
    if (device == CF_HOST)
        CHECK_OK(cf_mpi_halo_finish(halo));
    else
        CHECK_FAILS(cf_mpi_halo_finish(halo), CF_EINVAL,
                    "cf_mpi_halo_start: stream is of device -1, the halo of device");
    CHECK_OK(cf_device_use(device));
    CHECK_OK(cf_mpi_halo_start(halo, NULL, block.cells));
    CHECK_OK(cf_device_use(CF_HOST));
    if (device != CF_HOST)
        CHECK_FAILS(cf_mpi_halo_finish(halo), CF_EINVAL, "cf_mpi_halo_finish: the calling thread's device is -1");
    CHECK_OK(cf_device_use(device));
    CHECK_OK(cf_mpi_halo_finish(halo));
    judge_cells(&block, 0, 5);
    CHECK_OK(cf_mpi_halo_destroy(halo));
    CHECK_OK(cf_stream_destroy(stream));
    free_block(&block);
}

/* The communicator and MPI_Finalize() end halos, also with an exchange in flight. */
static void end_of_the_communicator(cf_mpi_halo **left, struct block *block)
{
    cf_mpi_halo *halo = NULL;
    struct block freed = make_block(1, 1, 3, 2);
    CHECK_OK(cf_mpi_halo_create(&halo, freed.comm, CF_U16, freed.extents, 3, 0));
    CHECK_OK(cf_mpi_halo_start(halo, NULL, freed.cells));
    free_block(&freed);
    CHECK_FAILS(cf_mpi_halo_finish(halo), CF_EINVAL, "was destroyed");
    *block = make_block(1, 0, 1, 8);
    CHECK_OK(cf_mpi_halo_create(left, block->comm, CF_F64, block->extents, 1, 0));
}

int main(void)
{
    struct block block;
    cf_mpi_halo *left = NULL;
    CHECK_OK(cf_mpi_init());
    every_form_of_grid();
    large_faces();
    several_at_once();
    one_halo_in_two_streams();
    finish_before_others();
    memory_of_a_pool();
    empty_extents();
    errors_of_creation();
    errors_of_the_communicator();
    extents_that_disagree();
    errors_of_the_exchange();
    errors_of_devices();
    end_of_the_communicator(&left, &block);
    MPI_Finalize();
    CHECK_FAILS(cf_mpi_halo_start(left, NULL, block.cells), CF_EINVAL, "was destroyed");
    CHECK_OK(cf_mem_free(block.cells));
    return 0;
}
