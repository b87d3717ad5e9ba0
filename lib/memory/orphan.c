/* orphan.c - memory of pools that was in contexts which are gone: it is the device's, and stays until it is freed. */
#include <cuferry.h>

#include "memory/orphan.h"

#include "driver/driver.h"
#include "driver/failure.h"
#include "context/drivers.h"
#include "context/enter.h"
#include "memory/scratch_cache.h"

/* Memory of a pool goes with no context, not even with a reset (CUDA 13.0), and is freed in any other of its device. It
 * waits here for one; what is more than there is room for stays until the process ends. Under the table's lock. */
static struct orphan {
    CUdeviceptr memory;
    CUdevice device;
} orphans[CF__SCRATCH_STREAMS];
static int count; /* atomic, too */

void cf__orphan_add(CUdeviceptr memory, CUdevice device)
{
    if (count == CF__SCRATCH_STREAMS)
        return;
    orphans[count] = (struct orphan){memory, device};
    __atomic_store_n(&count, count + 1, __ATOMIC_RELAXED);
}

int cf__have_orphans(void)
{
    return __atomic_load_n(&count, __ATOMIC_RELAXED) > 0;
}

/* One of the device's, which is an orphan no longer; 0: it has none. */
static CUdeviceptr take(CUdevice device)
{
    CUdeviceptr memory = 0;
    cf__scratch_lock();
    for (int i = count; i-- > 0 && !memory;)
        if (orphans[i].device == device) {
            memory = orphans[i].memory;
            orphans[i] = orphans[count - 1];
            __atomic_store_n(&count, count - 1, __ATOMIC_RELAXED);
        }
    cf__scratch_unlock();
    return memory;
}

/* What the driver could not free, and still knows, stays for another time. */
int cf__orphans_free(const struct cf__driver *driver)
{
    CUdevice device;
    CUdeviceptr memory;
    int freed = 0;
    if (!cf__have_orphans() || driver->cuCtxGetDevice(&device) != CUDA_SUCCESS)
        return 0;
    while ((memory = take(device)) != 0) {
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
    while (take(device))
        continue;
}

void cf__orphans_free_all(const struct cf__driver *cuda)
{
    struct cf__scope scope;
    for (int device = 0; cf__have_orphans() && device < CF__MAX_DEVICES; device++) {
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
    __atomic_store_n(&count, 0, __ATOMIC_RELAXED);
}
