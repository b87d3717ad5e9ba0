/* verify_run.c - makes one call of a verified kernel on the CPU or a GPU, and checks what it wrote. */
#include "verify/verify_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>

#include "kernel/argument.h"
#include "kernel/parts.h"
#include "base/quiet.h"
#include "base/runtime.h"
#include "watch/check.h"
#include "watch/watch_kernel.h"

/* Returns the twin of the kernel that is checked as it runs. */
static const cf_kernel *watch(const struct verify_call *call, struct message *message)
{
    const cf_kernel *kernel = call->kernel;
    size_t *bytes = calloc(kernel->nparams + (size_t)1, sizeof *bytes);
    for (uint32_t i = 0; bytes && i < kernel->nparams; i++)
        bytes[i] = argument_is_array(&kernel->params[i]) ? call->arrays[i].bytes : 0;
    const cf_kernel *watched = bytes ? watch_kernel(kernel, bytes, message) : NULL;
    free(bytes);
    return watched;
}

static int make_call(const struct verify_call *call, void *const args[], struct verify_result *result,
                     struct message *message)
{
    if (constants_set(call->constants, message) != 0)
        return -1;
    const cf_kernel *kernel = check_current ? watch(call, message) : call->kernel;
    if (!kernel)
        return -1;
    int status = call->first_part ? parts_call(kernel, args, call->first_part, message) : cf_call(kernel, args);
    if (status != CF_OK && !call->first_part)
        runtime_failure(message);
    result->is_refused = status == CF_EINVAL || status == CF_EOVERFLOW; /* a grid may exceed device limits */
    return status;
}

/* An array for one call: in host memory, and for a GPU also a complete copy, including the poison, which a call with
 * host arrays would not copy. `before` keeps the earlier contents of an input, and of an array that several parameters
 * share. */
struct array {
    void *host, *device, *before;
    char *passed;
};

/* Returns the number of guard bytes; none under AddressSanitizer, which itself checks the surrounding bytes. */
static size_t guard(void)
{
    return check_is(CHECK_ADDRESS) ? 0 : VERIFY_GUARD;
}

/* Returns the number of the array whose memory array i uses. */
static uint32_t home_of(const struct verify_call *call, uint32_t i)
{
    return call->inplace && inplace_has(call->kernel, call->inplace, i) ? call->home : i;
}

static int is_filled(const struct verify_call *call, uint32_t i)
{
    return argument_is_read(&call->kernel->params[i]) || (call->inplace && i == call->home);
}

/* Returns the poison outside an array's section. It differs between inputs and outputs, so that a copy from an input's
 * padding to an output's is detected. */
static int beside(const struct verify_call *call, uint32_t i, int poison)
{
    return is_filled(call, i) ? poison ^ 0xff : poison;
}

/* Copies the results. Returns -1 if something outside a section was written. */
static int take(const struct verify_call *call, uint32_t i, const struct array *from, int poison, void **packed,
                struct message *message)
{
    const struct verify_array *array = &call->arrays[i];
    const char *name = call->kernel->params[i].name;
    *packed = malloc(array->section.bytes + 1);
    if (!*packed)
        return message_set(message, "no memory");
    size_t changed = verify_array_take(array, from->host, from->before, beside(call, i, poison), guard(), *packed);
    return changed ? message_set(message, "%zu bytes beside the section of %s are overwritten", changed, name) : 0;
}

/* Returns 1 for an array that the kernel promises not to write. */
static int is_input(const struct verify_call *call, uint32_t i)
{
    return call->kernel->params[i].direction == CF_IN &&
           !(call->inplace && inplace_has(call->kernel, call->inplace, i));
}

/* Returns -1 if an input was written. */
static int look_at_input(const struct verify_call *call, uint32_t i, const struct array *from, struct message *message)
{
    const char *before = from->before, *after = from->host;
    const size_t room = verify_array_room(&call->arrays[i], guard());
    size_t at = 0;
    while (at < room && before[at] == after[at])
        at++;
    if (at == room)
        return 0;
    const int64_t element = ((int64_t)at - (int64_t)guard()) / (int64_t)call->arrays[i].section.type.bytes;
    return message_set(message, "%s " MESSAGE_WRITTEN_INPUT "; the first is element %" PRId64,
                       call->kernel->params[i].name, element);
}

static int make_array(const struct verify_call *call, uint32_t i, int device, int poison, struct array *array,
                      struct message *message)
{
    const struct verify_array *made = &call->arrays[i];
    const int is_kept = is_input(call, i) || (call->inplace && i == call->home);
    const size_t room = verify_array_room(made, guard());
    if (made->bytes == 0)
        return 0;
    array->host = verify_array_make(made, is_filled(call, i), beside(call, i, poison), guard());
    array->before = is_kept ? malloc(room) : NULL;
    if (!array->host || (is_kept && !array->before))
        return message_set(message, "no memory");
    if (is_kept)
        memcpy(array->before, array->host, room);
    array->passed = (char *)array->host + guard();
    if (device == CF_HOST)
        return 0;
    int status = cf_mem_alloc(&array->device, room);
    if (status == CF_OK)
        status = cf_mem_copy(array->device, array->host, room);
    if (status != CF_OK)
        runtime_failure(message);
    array->passed = (char *)array->device + guard();
    return status;
}

static int take_array(const struct verify_call *call, uint32_t i, int device, int poison, const struct array *array,
                      struct verify_result *result, struct message *message)
{
    int status = CF_OK;
    if (!(argument_is_written(&call->kernel->params[i]) || is_input(call, i)) || !array->host)
        return CF_OK;
    if (device != CF_HOST)
        status = cf_mem_copy(array->host, array->device, verify_array_room(&call->arrays[home_of(call, i)], guard()));
    if (status != CF_OK) {
        runtime_failure(message);
        return status;
    }
    return is_input(call, i) ? look_at_input(call, i, array, message)
                             : take(call, i, array, poison, &result->packed[i], message);
}

static int free_array(int device, const struct array *array)
{
    free(array->host);
    free(array->before);
    return device == CF_HOST ? CF_OK : cf_mem_free(array->device);
}

static int run_with(const struct verify_call *call, int device, int poison, struct array *arrays, void **args,
                    struct verify_result *result, struct message *message)
{
    const cf_kernel *kernel = call->kernel;
    int status = cf_device_use(device);
    if (status != CF_OK)
        return runtime_failure(message);
    for (uint32_t i = 0; status == 0 && i < kernel->nparams; i++) {
        args[i] = call->args[i];
        if (!argument_is_array(&kernel->params[i]))
            continue;
        args[i] = &arrays[home_of(call, i)].passed;
        if (home_of(call, i) == i)
            status = make_array(call, i, device, poison, &arrays[i], message);
    }
    if (status == 0)
        status = make_call(call, args, result, message);
    for (uint32_t i = 0; status == 0 && i < kernel->nparams; i++)
        status = take_array(call, i, device, poison, &arrays[home_of(call, i)], result, message);
    return status;
}

int verify_run(const struct verify_call *call, int device, int poison, struct verify_result *result,
               struct message *message)
{
    const uint32_t count = call->kernel->nparams;
    struct array *arrays = calloc(count + (size_t)1, sizeof *arrays);
    void **args = calloc(count + (size_t)1, sizeof *args);
    quiet_begin(); /* text that a kernel prints for generated arguments is of no use */
    int status = arrays && args ? run_with(call, device, poison, arrays, args, result, message)
                                : message_set(message, "no memory");
    quiet_end();
    /* A failure to free memory counts only if the call succeeded, because the memory of a lost device cannot be
     * freed. */
    for (uint32_t i = 0; arrays && i < count; i++)
        if (free_array(device, &arrays[i]) != CF_OK && status == CF_OK)
            status = runtime_failure(message);
    free(arrays);
    free(args);
    return status;
}
