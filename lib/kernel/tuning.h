/* tuning.h - the choice among variants of kernels with tune(...). */
#ifndef CF__TUNING_H
#define CF__TUNING_H

#include <stdint.h>

#include <cuferry.h>
#include <cuferry/registry.h>
#include <cuferry/tuning.h>

/* The variant that runs for each size class. All fields are atomic: if a device refuses a variant, the first variant
 * replaces it. */
struct cf__choice {
    uint8_t is_uniform;                  /* all classes have the same variant */
    uint8_t variants[CF_TUNING_CLASSES]; /* indices into kernel->variants */
};

static inline unsigned int cf__choice_variant(const struct cf__choice *choice, int size_class)
{
    return __atomic_load_n(&choice->variants[size_class], __ATOMIC_RELAXED);
}

/* Chooses variants for a device of compute capability `capability`, times ten; 0: the CPU. */
void cf__tuning_choose(const cf_kernel *kernel, int capability, struct cf__choice *choice);

void cf__tuning_forget(void); /* at cf_shutdown() */
void cf__tuning_lock(void);   /* for fork */
void cf__tuning_unlock(void);

#endif
