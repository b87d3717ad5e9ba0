/* watch_kernel.c - makes the twin of a kernel or an operation, which is checked as it runs. */
#include "watch/watch_kernel.h"

#include <stdlib.h>
#include <string.h>

#include <cuferry.h>

#include "watch/finding.h"
#include "watch/watch.h"
#include "watch/watch_operation.h"

static cf_host_body *cpu_body; /* the kernel's own CPU body */
static size_t *array_bytes;    /* size of each parameter's array */

/* CPU body of the twin, which checks the kernel's own. */
static void body(const cf_host_launch *what, uint64_t begin, uint64_t end)
{
    watch_runs += begin == 0;
    watch_launch(finding_kernel, cpu_body, what, begin, end);
}

const cf_kernel *watch_kernel(const cf_kernel *of, const size_t *bytes, struct message *message)
{
    static cf_kernel copy;
    const int is_operation = cf_kernel_is_operation(of);
    if (!cf_kernel_has_host(of)) {
        message_set(message, "%s: --check: the kernel has no form for the CPU", of->name);
        return NULL;
    }
    size_t *copied = malloc((of->nparams + (size_t)1) * sizeof *copied);
    if (!copied) {
        message_set(message, "%s: no memory", of->name);
        return NULL;
    }
    memcpy(copied, bytes, of->nparams * sizeof *copied);
    free(array_bytes);
    watch_bytes = array_bytes = copied;
    finding_kernel = of;
    copy = *of;
    watch_runs = 0;
    finding_operation = is_operation ? of : NULL;
    if (is_operation) {
        copy.enqueue = watch_enqueue;
        return watch_uses(of, message) == 0 ? &copy : NULL;
    }
    cpu_body = watch_cpu_body(of);
    copy.cpu_body = body;
    return &copy;
}
