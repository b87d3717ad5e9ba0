/* tuning.h - chooses variants of kernels with tune(...). */
#ifndef CF__TUNING_H
#define CF__TUNING_H

#include <stdint.h>

#include <cuferry.h>
#include <cuferry/registry.h>
#include <cuferry/tuning.h>

/* The variant that runs for each size class. All fields are atomic, because a variant that a device refuses is replaced
 * by the first one. */
struct cf__choice {
    uint8_t is_uniform;                  /* 1 if all classes have the same variant */
    uint8_t variants[CF_TUNING_CLASSES]; /* indices into kernel->variants */
};

static inline unsigned int cf__choice_variant(const struct cf__choice *choice, int size_class)
{
    return __atomic_load_n(&choice->variants[size_class], __ATOMIC_RELAXED);
}

/* Chooses variants for a device; `capability` is its compute capability times ten, or 0 for the CPU. */
void cf__tuning_choose(const cf_kernel *kernel, int capability, struct cf__choice *choice);

void cf__tuning_forget(void); /* forgets the file's text, at cf_shutdown() */
void cf__tuning_lock(void);   /* for fork handlers */
void cf__tuning_unlock(void);

#endif
