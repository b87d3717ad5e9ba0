/* comm.h - what the library keeps for a communicator, and objects that end with it. */
#ifndef CF__MPI_COMM_H
#define CF__MPI_COMM_H

#include <stddef.h>

#include <cuferry/mpi.h>

struct cf__mpi_object;

/* State of one of the caller's communicators, an attribute of it. */
struct cf__mpi_comm {
    MPI_Comm comm;   /* the library's duplicate, which returns errors */
    MPI_Comm parent; /* the caller's */
    int rank, size;
    struct cf__mpi_object *objects; /* that end with the communicator */
    struct cf__mpi_comm *next;      /* in the list of all */
};

enum cf__mpi_kind { CF__MPI_PLAN, CF__MPI_HALO, CF__MPI_TRANSPORT };

/* The first member of plans, halos and other objects that end with a communicator. */
struct cf__mpi_object {
    enum cf__mpi_kind kind;
    struct cf__mpi_comm *comm;
    void (*destroy)(struct cf__mpi_object *object); /* frees everything of the object, and the object */
    struct cf__mpi_object *next;
};

/* Writes the state of `comm` to `state`, and makes it at the first call. Collective. CF_EINVAL: MPI is not running, or
 * `comm` is no intracommunicator; the detail begins with `function`. */
int cf__mpi_enter(const char *function, MPI_Comm comm, struct cf__mpi_comm **state);

/* Adds an object to its communicator's list. */
void cf__mpi_object_add(struct cf__mpi_object *object);

/* Returns CF_OK if `object` is an object of this kind that is in a list. CF_EINVAL otherwise. */
int cf__mpi_object_check(const char *function, const void *object, enum cf__mpi_kind kind);

/* Returns the communicator's object of this kind; NULL if there is none. */
struct cf__mpi_object *cf__mpi_object_find(struct cf__mpi_comm *state, enum cf__mpi_kind kind);

/* Takes an object out of the list and destroys it. */
void cf__mpi_object_destroy(struct cf__mpi_object *object);

#endif
