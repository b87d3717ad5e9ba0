/* operation.c - runs operations, which are entry points whose C function enqueues several launches. The launches go to
 * the device of the call, and messages name the operation and the kernel that failed. */
#include <stdint.h>
#include <string.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "kernel/operation.h"

#include "base/current_operation.h"
#include "base/error.h"
#include "base/fast.h"
#include "model/descriptor.h"
#include "model/section.h"
#include "trace/trace.h"
#include "context/enter.h"
#include "context/inflight.h"
#include "kernel/image.h"
#include "kernel/launch.h"
#include "kernel/preload.h"

static int count_nested(void)
{
    int count = 0;
    for (const struct cf__operation_frame *in = cf__current_operation; in; in = in->outer)
        count++;
    return count;
}

static int is_empty_array(const cf_kernel *kernel, uint32_t i, void *const args[])
{
    cf_section section;
    return cf__is_callers_array(&kernel->params[i]) && cf__section_measure(kernel, i, args, &section) == CF_OK &&
           section.count == 0;
}

int cf__operation_has_empty(const void *pointer)
{
    for (const struct cf__operation_frame *in = cf__current_operation; in; in = in->outer)
        for (uint32_t i = 0; i < in->kernel->nparams; i++)
            if (is_empty_array(in->kernel, i, in->args) && *(void *const *)in->args[i] == pointer)
                return 1;
    return 0;
}

/* Reports the failure of an operation's function. `has_failed` means that a library call within it failed. */
static int report_failure(const cf_kernel *kernel, int status, int has_failed)
{
    const char *name = cf_status_name(status);
    if (strcmp(name, "CF_?") == 0)
        return cf__fail(CF_EINVAL, "%s: its function returned %d, which is no status", kernel->function, status);
    if (!has_failed)
        return cf__fail(status, "%s: its function returned %s (%s)", kernel->function, name, cf_status_text(status));
    return cf__fail_within(kernel->function, status);
}

/* Calls the function of an operation. Its launches on the default stream usually enter the same scope as the call. But
 * a plain call may run on the CPU although the thread's device is a GPU; then the CPU becomes the thread's device until
 * the function returns. */
static int call_function(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream, void *const args[])
{
    const char *named = cf__error_async_name();
    const int is_on_other_device = scope->driver->is_cpu && !cf__cpu_owns(stream);
    const struct cf__thread_device chosen = is_on_other_device
                                                ? cf__thread_device_set((struct cf__thread_device){1, CF_HOST})
                                                : (struct cf__thread_device){0, 0};
    const struct cf__operation_frame self = {kernel, args, cf__current_operation};
    unsigned int failures = cf__error_count();
    cf__current_operation = &self;
    int status = kernel->enqueue(stream, args);
    cf__current_operation = self.outer;
    if (is_on_other_device)
        (void)cf__thread_device_set(chosen);
    cf__error_name_async(named);
    return status == CF_OK ? CF_OK : report_failure(kernel, status, cf__error_count() != failures);
}

int cf__operation_prepare(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded **loaded)
{
    if (kernel->runtime != cf_launch)
        return cf__fail(
            CF_ENOTSUP,
            "%s: what it is made of would be launched by another copy of Cuferry, as a shared object of cfcc's "
            "has it; call the functions of that",
            kernel->function);
    if (count_nested() == CF_OPERATION_DEPTH)
        return cf__fail(CF_EINVAL, "%s: it is in %d operations that enqueue one another, and no more are taken",
                        kernel->function, CF_OPERATION_DEPTH);
    return cf__load_all(kernel, scope, loaded); /* loads everything first, because a later failure would leave work half
                                                 * enqueued */
}

int cf__operation_enqueue(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded *loaded,
                          cf_stream stream, void *const args[])
{
    cf__inflight_launched(cf__launch_note(loaded, stream));
    int64_t began = cf__trace_span_begin();
    int status = call_function(kernel, scope, stream, args);
    cf__trace_span_end(began, "operation", kernel->function, "\"status\": \"%s\"", cf_status_name(status));
    return status;
}
