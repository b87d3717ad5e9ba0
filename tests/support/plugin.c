/* plugin.c - a shared object that contains the library. test_shutdown.c opens it, uses it, and closes it without
 * cf_shutdown(). */
#include <string.h>

#include <cuferry.h>
#include <cuferry/kernels.h>
#include <cuferry/registry.h>

#include "plugin.h"
#include "context/drivers.h"

enum { LENGTH = 1 << 15 }; /* enough elements to start threads on the CPU */
static float source[LENGTH], res[LENGTH];
static int32_t indices[LENGTH];

static int gather(void)
{
    for (int i = 0; i < LENGTH; i++) {
        source[i] = (float)i;
        indices[i] = LENGTH - 1 - i;
    }
    memset(res, 0, sizeof res);
    int status = cf_gather_f32_i32(source, indices, res, LENGTH, LENGTH);
    return status == CF_OK && !(res[0] == (float)(LENGTH - 1) && res[LENGTH - 1] == 0) ? CF_ECALL : status;
}

/* On the CPU the objects are not destroyed, so that the library has to do it. On a GPU the event and the stream are
 * destroyed and the memory is freed here. */
static int use(int device)
{
    void *memory = NULL, *from_pool = NULL;
    cf_stream stream = NULL;
    cf_event event = NULL;
    int status = cf_device_use(device);
    if (status == CF_OK)
        status = gather();
    if (status == CF_OK)
        status = cf_mem_alloc(&memory, 1000);
    if (status == CF_OK)
        status = cf_stream_create(&stream);
    if (status == CF_OK)
        status = cf_event_create(&event);
    if (status == CF_OK)
        status = cf_mem_alloc_async(stream, &from_pool, 1000);
    if (status == CF_OK)
        status = cf_mem_free_async(stream, from_pool);
    if (status == CF_OK)
        status = cf_gather_f32_i32_async(stream, memory, memory, memory, 0, 0);
    if (status == CF_OK)
        status = cf_stream_sync(stream);
    if (status != CF_OK || device == CF_HOST)
        return status;
    status = cf_event_destroy(event);
    if (status == CF_OK)
        status = cf_stream_destroy(stream);
    return status == CF_OK ? cf_mem_free(memory) : status;
}

int plugin_use(const char **detail)
{
    int count = 0, status = use(CF_HOST);
    if (status == CF_OK && cf_require(CF_CUDA) == CF_OK)
        status = cf_device_count(&count);
    for (int device = 0; status == CF_OK && device < count; device++)
        status = use(device);
    *detail = cf_last_error();
    return status;
}

void plugin_hold(void)
{
    cf__drivers_lock();
}

void plugin_set_log(cf_log *log, void *data)
{
    cf_set_log(log, data);
}

const struct cf_module *plugin_module(void)
{
    return &cf_registry;
}
