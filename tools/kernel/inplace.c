/* inplace.c - lists the ways in which arrays of an inplace(...) list can share memory. */
#include "kernel/inplace.h"

#include "kernel/argument.h"

/* Returns the number of the inplace(...) list that names a parameter; 0 if there is none. */
static uint8_t list_of(const cf_kernel *kernel, uint32_t i)
{
    return kernel->in_place ? kernel->in_place[i] : 0;
}

/* Returns 1 if parameter i is only read and is in the same list as parameter `written`. */
static int can_be(const cf_kernel *kernel, uint32_t i, uint32_t written)
{
    return kernel->params[i].direction == CF_IN && list_of(kernel, i) && list_of(kernel, i) == list_of(kernel, written);
}

int inplace_at(const cf_kernel *kernel, uint32_t k, struct inplace *which)
{
    for (uint32_t w = 0; w < kernel->nparams; w++) {
        uint32_t inputs = 0;
        if (!argument_is_written(&kernel->params[w]))
            continue;
        for (uint32_t i = 0; i < kernel->nparams; i++) {
            if (!can_be(kernel, i, w))
                continue;
            *which = (struct inplace){w, i};
            inputs++;
            if (k-- == 0)
                return 0;
        }
        *which = (struct inplace){w, INPLACE_ALL};
        if (inputs > 1 && k-- == 0)
            return 0;
    }
    return -1;
}

int inplace_has(const cf_kernel *kernel, const struct inplace *which, uint32_t i)
{
    return i == which->written || i == which->read || (which->read == INPLACE_ALL && can_be(kernel, i, which->written));
}

void inplace_add(const cf_kernel *kernel, const struct inplace *which, struct message *message)
{
    const char *separator = " is ";
    message_add(message, "%s", kernel->params[which->written].name);
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (i != which->written && inplace_has(kernel, which, i)) {
            message_add(message, "%s%s", separator, kernel->params[i].name);
            separator = " and ";
        }
}
