/* ranges.c - marks calls of kernels as NVTX ranges. NVTX consists only of headers: a profiler gives the path of its
 * library in an environment variable, and the first NVTX function that is called loads that library. */
#include <stdio.h>

#include "trace/ranges.h"

#include "base/env.h"
#include "config.h"

#if CF_CONFIG_NVTX
/* Gives NVTX's state internal linkage, so that the archive exports only the library's own names. NVTX defines the other
 * macros only if the first one is not defined. */
#define __NVTX_LINKONCE_H__ /* NOLINT */
#define NVTX_LINKONCE_DEFINE_GLOBAL static
#define NVTX_LINKONCE_FWDDECL_GLOBAL static
#define NVTX_LINKONCE_DEFINE_FUNCTION static
#define NVTX_LINKONCE_FWDDECL_FUNCTION static
#define NVTX_SUPPORT_STATIC_INJECTION_LIBRARY 0
#include <nvtx3/nvToolsExt.h>

static nvtxDomainHandle_t domain; /* NULL if no profiler is attached */

void cf__ranges_open(void)
{
    /* NVTX itself would also open the file if the process has more privileges than its user. */
    if (!domain && cf__env_file("NVTX_INJECTION64_PATH"))
        domain = nvtxDomainCreateA("cuferry");
    cf__slow_path_set(CF__SLOW_PATH_RANGES, domain != NULL);
}

void cf__range_push(const char *function, const char *suffix)
{
    char name[128];
    snprintf(name, sizeof name, "%s%s", function, suffix);
    const nvtxEventAttributes_t attributes = {.version = NVTX_VERSION,
                                              .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                              .messageType = NVTX_MESSAGE_TYPE_ASCII,
                                              .message.ascii = name};
    (void)nvtxDomainRangePushEx(domain, &attributes);
}

void cf__range_pop(void)
{
    (void)nvtxDomainRangePop(domain);
}

#else

void cf__ranges_open(void)
{
}

void cf__range_push(const char *function, const char *suffix)
{
    (void)function, (void)suffix;
}

void cf__range_pop(void)
{
}
#endif
