/* comm.c - the state of a communicator: its making, its end, and errors that all ranks get. */
#include "mpi_check.h"

#include "mpi/agree.h"
#include "mpi/comm.h"

static int destroyed;
static int copies; /* communicators that were duplicated and not freed */

/* MPI's own functions are counted under its names for tools. */
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy)
{
    copies++;
    return PMPI_Comm_dup(comm, copy);
}

int MPI_Comm_free(MPI_Comm *comm)
{
    copies--;
    return PMPI_Comm_free(comm);
}

static void note_destroyed(struct cf__mpi_object *object)
{
    free(object);
    destroyed++;
}

static struct cf__mpi_object *add_object(struct cf__mpi_comm *state, enum cf__mpi_kind kind)
{
    struct cf__mpi_object *object = calloc(1, sizeof *object);
    CHECK(object);
    *object = (struct cf__mpi_object){.kind = kind, .comm = state, .destroy = note_destroyed};
    cf__mpi_object_add(object);
    return object;
}

static void before_the_start(void)
{
    struct cf__mpi_comm *state = NULL;
    CHECK_FAILS(cf__mpi_enter("test", MPI_COMM_NULL, &state), CF_EINVAL, "test: MPI is not running");
    CHECK_OK(cf_mpi_init());
    CHECK_OK(cf_mpi_init());
}

static void one_state_per_communicator(void)
{
    struct cf__mpi_comm *state = NULL, *again = NULL, *other = NULL;
    MPI_Comm copy;
    CHECK_OK(cf__mpi_enter("test", MPI_COMM_WORLD, &state));
    CHECK_OK(cf__mpi_enter("test", MPI_COMM_WORLD, &again));
    CHECK(state == again && state->rank == world_rank() && state->size == world_size());
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    CHECK_OK(cf__mpi_enter("test", copy, &other));
    CHECK(other != state && copies == 3);
    MPI_Comm_free(&copy);
    CHECK(copies == 1);
    CHECK_FAILS(cf__mpi_enter("test", MPI_COMM_NULL, &state), CF_EINVAL, "test: comm is MPI_COMM_NULL");
}

static void no_intercommunicators(void)
{
    struct cf__mpi_comm *state = NULL;
    MPI_Comm part, inter;
    int is_odd = world_rank() % 2;
    MPI_Comm_split(MPI_COMM_WORLD, is_odd, 0, &part);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, !is_odd, 0, &inter);
    CHECK_FAILS(cf__mpi_enter("test", inter, &state), CF_EINVAL, "test: comm is an intercommunicator");
    PMPI_Comm_free(&inter);
    PMPI_Comm_free(&part);
}

static void objects_end_with_the_communicator(void)
{
    struct cf__mpi_comm *state = NULL;
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    CHECK_OK(cf__mpi_enter("test", copy, &state));
    struct cf__mpi_object *plan = add_object(state, CF__MPI_PLAN), *halo = add_object(state, CF__MPI_HALO);
    CHECK_OK(cf__mpi_object_check("test", plan, CF__MPI_PLAN));
    CHECK_FAILS(cf__mpi_object_check("test", plan, CF__MPI_HALO), CF_EINVAL, "is no halo");
    CHECK(cf__mpi_object_find(state, CF__MPI_HALO) == halo && !cf__mpi_object_find(state, CF__MPI_TRANSPORT));
    cf__mpi_object_destroy(halo);
    CHECK(destroyed == 1);
    MPI_Comm_free(&copy);
    CHECK(destroyed == 2);
    CHECK_FAILS(cf__mpi_object_check("test", plan, CF__MPI_PLAN), CF_EINVAL, "was destroyed");
}

static void errors_agree(void)
{
    struct cf__mpi_comm *state = NULL;
    CHECK_OK(cf__mpi_enter("test", MPI_COMM_WORLD, &state));
    CHECK_OK(cf__mpi_agree(state->comm, CF_OK));
    int last = world_size() - 1, half = world_size() / 2;
    int status = world_rank() == last ? cf__mpi_fail(CF_ERANGE, "index %d", 17) : CF_OK;
    char text[64];
    snprintf(text, sizeof text, "rank %d: index 17", last);
    CHECK_FAILS(cf__mpi_agree(state->comm, status), CF_ERANGE, text);
    status = world_rank() >= half ? cf__mpi_fail(CF_ENOMEM - (world_rank() != half), "on %d", world_rank()) : CF_OK;
    snprintf(text, sizeof text, "rank %d: on %d", half, half);
    CHECK_FAILS(cf__mpi_agree(state->comm, status), CF_ENOMEM, text);
}

static void errors_of_mpi_are_statuses(void)
{
    struct cf__mpi_comm *state = NULL;
    CHECK_OK(cf__mpi_enter("test", MPI_COMM_WORLD, &state));
    int result = MPI_Send(NULL, 0, MPI_INT, world_size(), 0, state->comm);
    CHECK(result != MPI_SUCCESS);
    CHECK_FAILS(cf__mpi_result(result, "MPI_Send"), CF_ECALL, "MPI_Send: ");
}

int main(void)
{
    struct cf__mpi_comm *state = NULL;
    before_the_start();
    one_state_per_communicator();
    if (world_size() > 1)
        no_intercommunicators();
    objects_end_with_the_communicator();
    errors_agree();
    errors_of_mpi_are_statuses();
    CHECK_OK(cf__mpi_enter("test", MPI_COMM_WORLD, &state));
    struct cf__mpi_object *plan = add_object(state, CF__MPI_PLAN);
    MPI_Finalize();
    CHECK(destroyed == 3 && copies == 0);
    CHECK_FAILS(cf__mpi_object_check("test", plan, CF__MPI_PLAN), CF_EINVAL, "was destroyed");
    CHECK_FAILS(cf__mpi_enter("test", MPI_COMM_WORLD, &state), CF_EINVAL, "MPI has ended");
    CHECK_FAILS(cf_mpi_init(), CF_EINVAL, "MPI has ended");
    return 0;
}
