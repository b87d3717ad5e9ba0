/* backend.c - the record of a driver in use: its table, its number of GPUs, and the retained primary contexts. */
#include <stddef.h>

#include "context/backend.h"

#include "driver/driver.h"

struct cf__backend cf__cuda, cf__cpu;

CUcontext cf__primary_held(int device)
{
    return __atomic_load_n(&cf__cuda.primary[device], __ATOMIC_ACQUIRE);
}

void cf__primary_hold(int device, CUcontext context)
{
    __atomic_store_n(&cf__cuda.primary[device], context, __ATOMIC_RELEASE);
}

void cf__primary_owe(int device)
{
    __atomic_add_fetch(&cf__cuda.owed[device], 1, __ATOMIC_RELAXED);
}

/* Another library has reset the device's primary context. The driver counts the library's reference for the next one
 * too, so the library still has to release it. */
void cf__primary_drop(int device, CUcontext gone)
{
    if (__atomic_compare_exchange_n(&cf__cuda.primary[device], &gone, NULL, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        cf__primary_owe(device);
}
