/* orphan.c - frees memory of pools whose contexts are gone. */
#include <cuferry.h>

#include "memory/orphan.h"

#include "driver/driver.h"
#include "driver/failure.h"
#include "context/drivers.h"
#include "context/enter.h"
#include "memory/scratch_cache.h"

/* Memory of a pool survives its context, even a reset (CUDA 13.0), and any other context of the device can free it. It
 * waits in this list until then; memory beyond its limit stays until the process ends. The lock is
 * cf__scratch_lock(). */
static struct orphan {
    CUdeviceptr memory;
    CUdevice device;
} orphans[CF__SCRATCH_STREAMS];
static int orphan_count; /* written with the lock; atomic */

void cf__orphan_add(CUdeviceptr memory, CUdevice device)
{
    if (orphan_count == CF__SCRATCH_STREAMS)
        return;
    orphans[orphan_count] = (struct orphan){memory, device};
    __atomic_store_n(&orphan_count, orphan_count + 1, __ATOMIC_RELAXED);
}

int cf__orphans_exist(void)
{
    return __atomic_load_n(&orphan_count, __ATOMIC_RELAXED) > 0;
}

/* Takes memory of a device off the list; 0: there is none. */
static CUdeviceptr take_orphan(CUdevice device)
{
    CUdeviceptr memory = 0;
    cf__scratch_lock();
    for (int i = orphan_count; i-- > 0 && !memory;)
        if (orphans[i].device == device) {
            memory = orphans[i].memory;
            orphans[i] = orphans[orphan_count - 1];
            __atomic_store_n(&orphan_count, orphan_count - 1, __ATOMIC_RELAXED);
        }
    cf__scratch_unlock();
    return memory;
}

/* Memory that the driver fails to free goes back to the list, unless the failure says that it no longer exists. */
int cf__orphans_free(const struct cf__driver *driver)
{
    CUdevice device;
    CUdeviceptr memory;
    int freed = 0;
    if (!cf__orphans_exist() || driver->cuCtxGetDevice(&device) != CUDA_SUCCESS)
        return 0;
    while ((memory = take_orphan(device)) != 0) {
        CUresult result = driver->cuMemFree(memory);
        freed += result == CUDA_SUCCESS;
        if (result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_VALUE || cf__is_gone(result))
            continue;
        cf__scratch_lock();
        cf__orphan_add(memory, device);
        cf__scratch_unlock();
        break;
    }
    return freed;
}

void cf__orphans_forget(CUdevice device)
{
    while (take_orphan(device))
        continue;
}

void cf__orphans_free_all(const struct cf__driver *cuda)
{
    struct cf__scope scope;
    for (int device = 0; cf__orphans_exist() && device < CF__MAX_DEVICES; device++) {
        CUcontext primary = cf__primary_held(device);
        if (primary && cf__enter_context(&scope, "cf_shutdown", cuda, primary) == CF_OK) {
            (void)cf__orphans_free(cuda);
            cf__leave(&scope);
        }
    }
    cf__orphans_forget_all();
}

void cf__orphans_forget_all(void)
{
    __atomic_store_n(&orphan_count, 0, __ATOMIC_RELAXED);
}
