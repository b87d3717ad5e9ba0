/* machine.h - provides the constants of the machine. */
#ifndef CF__MACHINE_H
#define CF__MACHINE_H

#include <cuferry/tuning.h>

struct cf__scope;

/* The constants of CF_MACHINE_LIST, in seconds and units per second; those named pool_* are for all threads of the pool
 * together. */
struct cf__machine {
#define CF__MACHINE_FIELD(name, usual, threads, least, most) double name;
    CF_MACHINE_LIST(CF__MACHINE_FIELD)
#undef CF__MACHINE_FIELD
};

enum cf__constants { CF__CONSTANTS_NONE, CF__CONSTANTS_MEASURED, CF__CONSTANTS_DEFAULT };

/* Returns the constants of the scope's device and this CPU, and their source, which is the file or the defaults.
 * Returns a status. */
int cf__machine_get(const struct cf__scope *scope, const char *function, struct cf__machine *machine,
                    enum cf__constants *constants);

void cf__machine_forget(void); /* forgets the constants, at cf_shutdown() */
void cf__machine_lock(void);   /* for fork handlers */
void cf__machine_unlock(void);

#endif
