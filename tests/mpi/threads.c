/* threads.c - two threads of each rank, each with a communicator of its own. */
#include "mpi_check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { THREADS = 2, CALLS = 4, COUNT = 300 };

static pthread_barrier_t barrier;
static atomic_int keys;

/* MPI's own function under its name for tools: it takes so long that both threads want the keys meanwhile. */
int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete, int *key,
                           void *state)
{
    keys++;
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    return PMPI_Comm_create_keyval(copy, delete, key, state);
}

/* Element i of the thread's array has the value i + `first`. */
struct part {
    MPI_Comm comm;
    int first;
};

static void gather_once(const struct part *part, const int64_t *offsets, cf_mpi_array *array, int call)
{
    int64_t index[COUNT];
    int res[COUNT] = {0};
    void *result = NULL;
    cf_mpi_plan *plan = NULL;
    for (int i = 0; i < COUNT; i++)
        index[i] = (i * 7 + call) % COUNT;
    CHECK_OK(cf_mpi_plan_create(&plan, part->comm, offsets, index, COUNT));
    CHECK_OK(cf_mem_alloc(&result, sizeof res));
    CHECK_OK(cf_mpi_gather(plan, array, result));
    CHECK_OK(cf_mem_copy(res, result, sizeof res));
    for (int i = 0; i < COUNT; i++)
        CHECK(res[i] == index[i] + part->first);
    CHECK_OK(cf_mpi_plan_destroy(plan));
    CHECK_OK(cf_mem_free(result));
}

static void *use_communicator(void *argument)
{
    const struct part *part = argument;
    int64_t *offsets = calloc((size_t)world_size() + 1, sizeof *offsets);
    int values[COUNT];
    cf_mpi_array array = {.length = COUNT, .offsets = offsets, .type = CF_I32};
    CHECK(offsets);
    CHECK_OK(cf_mpi_split(COUNT, world_size(), offsets));
    for (int i = 0; i < COUNT; i++)
        values[i] = i + part->first;
    CHECK_OK(cf_device_current(&array.device));
    CHECK_OK(cf_mem_alloc(&array.data, sizeof values));
    CHECK_OK(cf_mem_copy(array.data, values + offsets[world_rank()],
                         sizeof *values * (size_t)(offsets[world_rank() + 1] - offsets[world_rank()])));
    pthread_barrier_wait(&barrier);
    for (int call = 0; call < CALLS; call++)
        gather_once(part, offsets, &array, call);
    CHECK_OK(cf_mem_free(array.data));
    free(offsets);
    return NULL;
}

/* The threads make the library's first calls, at once. */
int main(void)
{
    int provided = 0;
    struct part parts[THREADS];
    pthread_t threads[THREADS];
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS && provided == MPI_THREAD_MULTIPLE; i++) {
        parts[i].first = 1000 * i;
        MPI_Comm_dup(MPI_COMM_WORLD, &parts[i].comm);
    }
    for (int i = 0; i < THREADS && provided == MPI_THREAD_MULTIPLE; i++)
        CHECK(pthread_create(&threads[i], NULL, use_communicator, &parts[i]) == 0);
    for (int i = 0; i < THREADS && provided == MPI_THREAD_MULTIPLE; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(keys == 2 || provided != MPI_THREAD_MULTIPLE);
    pthread_barrier_destroy(&barrier);
    MPI_Finalize();
    return 0;
}
