/* comm.h - keeps the library's state of a communicator, and objects that end with it. */
#ifndef CF__MPI_COMM_H
#define CF__MPI_COMM_H

#include <stddef.h>

#include <cuferry/mpi.h>

struct cf__mpi_object;

/* State of one of the caller's communicators, stored as an attribute of it. */
struct cf__mpi_comm {
    MPI_Comm comm;   /* the library's duplicate, which returns errors */
    MPI_Comm parent; /* the caller's communicator */
    int rank, size;
    struct cf__mpi_object *objects; /* list of objects that end with the communicator */
    struct cf__mpi_comm *next;      /* next state in the list of all */
};

enum cf__mpi_kind { CF__MPI_PLAN, CF__MPI_HALO, CF__MPI_TRANSPORT };

/* The first member of plans, halos and other objects that end with a communicator. */
struct cf__mpi_object {
    enum cf__mpi_kind kind;
    struct cf__mpi_comm *comm;
    void (*destroy)(struct cf__mpi_object *object); /* frees the object and everything that it owns */
    struct cf__mpi_object *next;
};

/* Writes the state of `comm` to `state`, and creates it at the first call. Collective. Returns CF_EINVAL if MPI is not
 * running or `comm` is not an intracommunicator; the detail begins with `function`. */
int cf__mpi_enter(const char *function, MPI_Comm comm, struct cf__mpi_comm **state);

/* Adds an object to its communicator's list. */
void cf__mpi_object_add(struct cf__mpi_object *object);

/* Returns CF_OK if `object` is in a list and of this kind, and CF_EINVAL otherwise. */
int cf__mpi_object_check(const char *function, const void *object, enum cf__mpi_kind kind);

/* Returns the communicator's object of this kind, or NULL if there is none. */
struct cf__mpi_object *cf__mpi_object_find(struct cf__mpi_comm *state, enum cf__mpi_kind kind);

/* Removes an object from its list and destroys it. */
void cf__mpi_object_destroy(struct cf__mpi_object *object);

#endif
