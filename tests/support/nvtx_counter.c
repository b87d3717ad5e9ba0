/* nvtx_counter.c - a profiler for tests, which NVTX loads. It counts ranges and records their names. */
#include <stdio.h>
#include <string.h>

#include "nvtx_counter.h"

#include "config.h"

#if CF_CONFIG_NVTX
#include <nvtx3/nvToolsExt.h>

static struct nvtx_counts counts;
static int domain;

static nvtxDomainHandle_t create_domain(const char *name)
{
    counts.domains++;
    snprintf(counts.domain, sizeof counts.domain, "%s", name);
    return (nvtxDomainHandle_t)(void *)&domain;
}

static int push_range(nvtxDomainHandle_t of, const nvtxEventAttributes_t *attributes)
{
    size_t used = strlen(counts.names);
    counts.depth++;
    if (of == (nvtxDomainHandle_t)(void *)&domain && attributes->messageType == NVTX_MESSAGE_TYPE_ASCII)
        snprintf(counts.names + used, sizeof counts.names - used, "%s;", attributes->message.ascii);
    return counts.depth;
}

static int pop_range(nvtxDomainHandle_t of)
{
    (void)of;
    return --counts.depth;
}

__attribute__((visibility("default"))) nvtx_counts_function nvtx_counts;
struct nvtx_counts *nvtx_counts(void)
{
    return &counts;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table)
{
    const NvtxExportTableCallbacks *callbacks = get_table(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable table = NULL;
    unsigned int size = 0;
    if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size))
        return 0;
    *table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)create_domain;
    *table[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)push_range;
    *table[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)pop_range;
    return 1;
}
#endif
