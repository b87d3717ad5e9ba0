/* mpi_arrays.h - distributed arrays for tests: many divisions among the ranks, and a copy of each rank's part. */
#ifndef MPI_ARRAYS_H
#define MPI_ARRAYS_H

#include "mpi_check.h"

enum { MOST_RANKS = 16, DIVISIONS = 6 };

static inline int current_device(void)
{
    int device = 0;
    CHECK_OK(cf_device_current(&device));
    return device;
}

static inline void use_device(int device)
{
    if (device != current_device())
        CHECK_OK(cf_device_use(device));
}

/* Calls `test` with all ranks, and with all but the last one. More ranks than processors make a call slow with MPI
 * libraries whose ranks wait actively, so tests choose few cases. */
static inline void on_communicators(void (*test)(MPI_Comm comm, int ranks))
{
    for (int ranks = world_size(); ranks > 0 && ranks >= world_size() - 1; ranks--) {
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_split(MPI_COMM_WORLD, world_rank() < ranks ? 0 : MPI_UNDEFINED, 0, &comm);
        if (comm == MPI_COMM_NULL)
            continue;
        test(comm, ranks);
        MPI_Comm_free(&comm);
    }
}

static inline uint64_t random_bits(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33 ^ *seed >> 11;
}

/* Shares `length` elements among the ranks in one of DIVISIONS ways. */
static inline void divide(int way, int64_t length, int ranks, int64_t *offsets)
{
    uint64_t seed = (uint64_t)(way * 100 + ranks);
    offsets[0] = 0;
    offsets[ranks] = length;
    for (int i = 1; i < ranks; i++) {
        if (way == 0) /* as evenly as possible */
            offsets[i] = length / ranks * i;
        else if (way == 1) /* all on the first rank */
            offsets[i] = length;
        else if (way == 2) /* all on the last rank */
            offsets[i] = 0;
        else if (way == 3) /* a few elements each, and the rest on the last rank */
            offsets[i] = 7 * i < length ? 7 * i : length;
        else /* at random; some ranks are empty */
            offsets[i] = i % 3 == 2 ? offsets[i - 1] : (int64_t)(random_bits(&seed) % (uint64_t)(length + 1));
    }
    for (int i = 1; i < ranks; i++)
        for (int k = i; k > 0 && offsets[k] < offsets[k - 1]; k--) {
            int64_t held = offsets[k];
            offsets[k] = offsets[k - 1];
            offsets[k - 1] = held;
        }
}

/* A GPU that is not the thread's own, if there is one. */
static inline int other_device(void)
{
    int count = 0;
    CHECK_OK(cf_device_count(&count));
    return count > 1 ? (current_device() + 1) % count : current_device();
}

/* Memory of a device, by both ways of allocation in turn. */
static inline void *alloc_on(int device, size_t bytes)
{
    static int turn;
    int previous = current_device();
    void *memory = NULL;
    use_device(device);
    CHECK_OK(turn++ % 2 ? cf_mem_alloc_async(NULL, &memory, bytes) : cf_mem_alloc(&memory, bytes));
    use_device(previous);
    return memory;
}

/* This rank's part of `all`, not aligned to more than an element; in memory of another device on odd ranks. */
static inline cf_mpi_array take_part(MPI_Comm comm, const void *all, int64_t length, const int64_t *offsets,
                                     cf_type type)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    cf_mpi_array array = {.length = length, .offsets = offsets, .type = type, .device = CF_HOST};
    size_t size = cf_type_size(type), count = (size_t)(offsets[rank + 1] - offsets[rank]);
    if (!count)
        return array;
    void *block = NULL;
    if (rank % 2)
        block = alloc_on(array.device = other_device(), (count + 1) * size);
    else
        CHECK_OK(cf_mem_alloc_pinned(&block, (count + 1) * size));
    array.data = (char *)block + size;
    CHECK_OK(cf_mem_copy(array.data, (const char *)all + (size_t)offsets[rank] * size, count * size));
    return array;
}

/* Calls with the array have not changed the thread's device. */
static inline void free_part(cf_mpi_array *array)
{
    CHECK(array->device == CF_HOST || array->device == other_device());
    if (array->data)
        CHECK_OK(cf_mem_free((char *)array->data - cf_type_size(array->type)));
    array->data = NULL;
}

/* Fills an array with a type's numbers: floats of both signs and many magnitudes, and integers that wrap. */
static inline void fill_random(void *all, int64_t length, cf_type type, uint64_t seed)
{
    for (int64_t i = 0; i < length; i++) {
        uint64_t bits = random_bits(&seed) << 32 | (random_bits(&seed) & 0xffffffff);
        double number = (double)((int64_t)bits >> 11) / (double)((uint64_t)1 << (bits % 50));
        if (type == CF_F32)
            ((float *)all)[i] = (float)number;
        else if (type == CF_F64)
            ((double *)all)[i] = number;
        else if (type == CF_I32)
            ((int32_t *)all)[i] = (int32_t)(uint32_t)bits;
        else
            ((int64_t *)all)[i] = (int64_t)bits;
    }
}

#endif
