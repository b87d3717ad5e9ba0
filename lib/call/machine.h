/* machine.h - constants of this machine. */
#ifndef CF__MACHINE_H
#define CF__MACHINE_H

#include <cuferry/tuning.h>

struct cf__scope;

/* The constants of CF_MACHINE_LIST; those of the pool are of all its threads. */
struct cf__machine {
#define CF__MACHINE_FIELD(name, usual, threads, least, most) double name;
    CF_MACHINE_LIST(CF__MACHINE_FIELD)
#undef CF__MACHINE_FIELD
};

enum cf__constants { CF__CONSTANTS_NONE, CF__CONSTANTS_MEASURED, CF__CONSTANTS_DEFAULT };

/* The constants of the scope's device and this CPU, and where they are from: the file, or the defaults. */
int cf__machine_get(const struct cf__scope *scope, const char *function, struct cf__machine *machine,
                    enum cf__constants *constants);

void cf__machine_forget(void); /* at cf_shutdown() */
void cf__machine_lock(void);   /* for fork */
void cf__machine_unlock(void);

#endif
