/* tuning.h - variants of kernels with tune(...). */
#ifndef CF__TUNING_H
#define CF__TUNING_H

#include <stdint.h>

#include <cuferry.h>
#include <cuferry/registry.h>
#include <cuferry/tuning.h>

#include "base/error.h"

struct cf__choice;
struct cf__loaded;

/* What runs in place of a kernel with tune(...): the numbers of its variants, by size class. All are atomic: where a
 * device refuses one, the first comes in its place. */
struct cf__choice {
    uint8_t is_uniform; /* they are all the same */
    uint8_t variants[CF_TUNING_CLASSES];
};

static inline unsigned int cf__choice_variant(const struct cf__choice *choice, int size_class)
{
    return __atomic_load_n(&choice->variants[size_class], __ATOMIC_RELAXED);
}

/* Works out what runs on a device of that architecture, 0: the CPU; for image.c, which keeps it. */
void cf__tuning_choose(const cf_kernel *kernel, int capability, struct cf__choice *choice);

void cf__tuning_forget(void); /* at cf_shutdown() */
void cf__tuning_lock(void);   /* for fork */
void cf__tuning_unlock(void);

#endif
