/* trace_end.c - ends a trace, at cf_shutdown() or with the process. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/trace_end.h"

#include "base/clock.h"
#include "base/fast.h"
#include "driver/driver.h"
#include "trace/trace.h"
#include "trace/trace_device.h"
#include "trace/trace_driver.h"

static void finish_trace(int is_final)
{
    __atomic_store_n(&cf__trace_on, 0, __ATOMIC_RELAXED);
    cf__slow_path_set(CF__SLOW_PATH_TRACE, 0);
    uint64_t lost = cf__trace_device_finish(is_final);
    if (lost) {
        char args[48];
        snprintf(args, sizeof args, "\"count\": %llu", (unsigned long long)lost);
        cf__trace_write(&(struct cf__trace_event){
            .phase = 'i', .category = "trace", .name = "device times lost", .begin = cf__now(), .args = args});
    }
    if (is_final)
        cf__trace_forget_kernels();
    cf__trace_close_file(is_final);
}

/* Writes the rest of the trace at the end of the process. It does not wait, so device times of unfinished work are
 * lost. It frees no memory, because other threads may still run. */
static void finish_at_exit(void)
{
    if (cf__trace_is_on())
        finish_trace(0);
}

/* Registers the end with atexit(), not as a destructor: it has to run before libcuda's own atexit() function, which was
 * registered earlier. */
void cf__trace_end_at_exit(const struct cf__driver *driver)
{
    static int will_end[2];
    if (cf__trace_is_on() && !will_end[driver->is_cpu])
        will_end[driver->is_cpu] = atexit(finish_at_exit) == 0;
}

/* Ends the trace. A forked child only has copies of its parent's objects and must not destroy them. */
void cf__trace_close(void)
{
    if (!cf__trace_is_child())
        finish_trace(1);
}
