/* comm.c - keeps the state of communicators as an attribute, and objects that end with them. */
#include "mpi/comm.h"

#include <pthread.h>
#include <stdlib.h>

#include "mpi/agree.h"

#ifdef CF__MPI_LIBRARY
const char CF__MPI_LIBRARY = 0;
#endif

/* Key of the attribute that holds a communicator's state, and key of an attribute of MPI_COMM_SELF. MPI_Finalize()
 * first deletes the attributes of MPI_COMM_SELF, while MPI can still be called. */
static int state_key = MPI_KEYVAL_INVALID, end_key = MPI_KEYVAL_INVALID;

static struct cf__mpi_comm *states; /* list of all states, the newest first */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- Objects ---- */

void cf__mpi_object_add(struct cf__mpi_object *object)
{
    pthread_mutex_lock(&lock);
    object->next = object->comm->objects;
    object->comm->objects = object;
    pthread_mutex_unlock(&lock);
}

static int has_object(const void *object, enum cf__mpi_kind kind)
{
    for (const struct cf__mpi_comm *state = states; state; state = state->next)
        for (const struct cf__mpi_object *each = state->objects; each; each = each->next)
            if (each == object)
                return each->kind == kind;
    return 0;
}

int cf__mpi_object_check(const char *function, const void *object, enum cf__mpi_kind kind)
{
    pthread_mutex_lock(&lock);
    int found = has_object(object, kind);
    pthread_mutex_unlock(&lock);
    const char *name = kind == CF__MPI_PLAN ? "plan" : "halo";
    if (found)
        return CF_OK;
    if (!object)
        return cf__mpi_fail(CF_EINVAL, "%s: %s is NULL", function, name);
    return cf__mpi_fail(CF_EINVAL, "%s: %p is no %s, or was destroyed, by itself or with its communicator", function,
                        object, name);
}

struct cf__mpi_object *cf__mpi_object_find(struct cf__mpi_comm *state, enum cf__mpi_kind kind)
{
    struct cf__mpi_object *each = state->objects;
    while (each && each->kind != kind)
        each = each->next;
    return each;
}

void cf__mpi_object_destroy(struct cf__mpi_object *object)
{
    pthread_mutex_lock(&lock);
    struct cf__mpi_object **link = &object->comm->objects;
    while (*link != object)
        link = &(*link)->next;
    *link = object->next;
    pthread_mutex_unlock(&lock);
    object->destroy(object);
}

/* ---- State ---- */

static void remove_state(struct cf__mpi_comm *state)
{
    pthread_mutex_lock(&lock);
    struct cf__mpi_comm **link = &states;
    while (*link && *link != state)
        link = &(*link)->next;
    if (*link)
        *link = state->next;
    pthread_mutex_unlock(&lock);
}

static void destroy_state(struct cf__mpi_comm *state)
{
    while (state->objects)
        cf__mpi_object_destroy(state->objects);
    remove_state(state);
    if (state->comm != MPI_COMM_NULL)
        MPI_Comm_free(&state->comm);
    free(state);
}

/* Called by MPI when the caller's communicator is freed. */
static int delete_state(MPI_Comm comm, int key, void *state, void *unused)
{
    (void)comm, (void)key, (void)unused;
    destroy_state(state);
    return MPI_SUCCESS;
}

/* Called by MPI_Finalize(). */
static int delete_states(MPI_Comm comm, int key, void *value, void *unused)
{
    (void)comm, (void)key, (void)value, (void)unused;
    while (states)
        if (MPI_Comm_delete_attr(states->parent, state_key) != MPI_SUCCESS)
            destroy_state(states);
    MPI_Comm_free_keyval(&state_key);
    MPI_Comm_free_keyval(&end_key);
    return MPI_SUCCESS;
}

/* Two threads may create the keys at the same time, for different communicators. */
static int create_keys(void)
{
    static pthread_mutex_t creating = PTHREAD_MUTEX_INITIALIZER;
    int result = MPI_SUCCESS;
    pthread_mutex_lock(&creating);
    if (end_key == MPI_KEYVAL_INVALID)
        result = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_states, &end_key, NULL);
    if (result == MPI_SUCCESS && state_key == MPI_KEYVAL_INVALID) {
        result = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_state, &state_key, NULL);
        if (result == MPI_SUCCESS)
            result = MPI_Comm_set_attr(MPI_COMM_SELF, end_key, NULL);
    }
    pthread_mutex_unlock(&creating);
    return result;
}

/* Duplicates the caller's communicator. The duplicate returns failures of MPI as error codes. */
static int duplicate(struct cf__mpi_comm *state)
{
    int result = MPI_Comm_dup(state->parent, &state->comm);
    if (result == MPI_SUCCESS)
        result = MPI_Comm_set_errhandler(state->comm, MPI_ERRORS_RETURN);
    if (result == MPI_SUCCESS)
        result = MPI_Comm_rank(state->comm, &state->rank);
    if (result == MPI_SUCCESS)
        result = MPI_Comm_size(state->comm, &state->size);
    return cf__mpi_result(result, "MPI_Comm_dup");
}

/* Copies the state from the stack to the heap. First, the ranks use the state on the stack to agree that all of them
 * have the memory. */
static int keep_state(const char *function, struct cf__mpi_comm *made, struct cf__mpi_comm **state)
{
    struct cf__mpi_comm *kept = malloc(sizeof *kept);
    int status = kept ? CF_OK : cf__mpi_fail(CF_ENOMEM, "%s: no memory for a communicator's state", function);
    status = cf__mpi_agree(made->comm, status);
    if (status == CF_OK)
        status = cf__mpi_result(MPI_Comm_set_attr(made->parent, state_key, kept), "MPI_Comm_set_attr");
    if (status != CF_OK) {
        free(kept);
        return status;
    }
    pthread_mutex_lock(&lock);
    made->next = states;
    *kept = *made;
    states = kept;
    pthread_mutex_unlock(&lock);
    *state = kept;
    return CF_OK;
}

static int create_state(const char *function, MPI_Comm comm, struct cf__mpi_comm **state)
{
    struct cf__mpi_comm made = {.comm = MPI_COMM_NULL, .parent = comm};
    int status = duplicate(&made);
    if (status == CF_OK)
        status = keep_state(function, &made, state);
    if (status != CF_OK && made.comm != MPI_COMM_NULL)
        MPI_Comm_free(&made.comm);
    return status;
}

/* ---- Entering ---- */

static int check_running(const char *function)
{
    int began = 0, ended = 0;
    MPI_Initialized(&began);
    MPI_Finalized(&ended);
    if (!began)
        return cf__mpi_fail(CF_EINVAL, "%s: MPI is not running; call MPI_Init() or cf_mpi_init() first", function);
    return ended ? cf__mpi_fail(CF_EINVAL, "%s: MPI has ended with MPI_Finalize()", function) : CF_OK;
}

static int check_comm(const char *function, MPI_Comm comm)
{
    int is_inter = 0, status = check_running(function);
    if (status != CF_OK)
        return status;
    if (comm == MPI_COMM_NULL)
        return cf__mpi_fail(CF_EINVAL, "%s: comm is MPI_COMM_NULL", function);
    status = cf__mpi_result(MPI_Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter");
    return is_inter ? cf__mpi_fail(CF_EINVAL, "%s: comm is an intercommunicator", function) : status;
}

int cf__mpi_enter(const char *function, MPI_Comm comm, struct cf__mpi_comm **state)
{
    int found = 0, status = check_comm(function, comm);
    if (status == CF_OK)
        status = cf__mpi_result(create_keys(), "MPI_Comm_create_keyval");
    if (status == CF_OK)
        status = cf__mpi_result(MPI_Comm_get_attr(comm, state_key, state, &found), "MPI_Comm_get_attr");
    return status != CF_OK || found ? status : create_state(function, comm, state);
}

int cf_mpi_init(void)
{
    int began = 0, provided = 0;
    MPI_Initialized(&began);
    if (began)
        return check_running("cf_mpi_init");
    return cf__mpi_result(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
}
