/* gather.c - gathers and scatters elements of distributed arrays by a plan. */
#include "cuferry_mpi_kernels.h"
#include "mpi/agree.h"
#include "mpi/elements.h"
#include "mpi/plan.h"

/* One call of gather or scatter. */
struct call {
    const char *function;
    struct cf_mpi_plan *plan;
    const cf_mpi_array *array; /* the distributed array */
    const char *name;          /* name of that argument */
    const void *part;          /* the other array, with one element per index of this rank */
    const char *part_name;
    size_t bytes; /* bytes of an element */
};

/* ---- Checks ---- */

static int check_pointer(const struct call *call, const char *name, const char *field, const void *data, int64_t count)
{
    if (!data && count)
        return cf__mpi_fail(CF_EINVAL, "%s: %s%s is NULL, and has %jd elements", call->function, name, field,
                            (intmax_t)count);
    if ((uintptr_t)data % call->bytes)
        return cf__mpi_fail(CF_EINVAL, "%s: %s%s = %p is not aligned to its elements of %zu bytes", call->function,
                            name, field, data, call->bytes);
    return CF_OK;
}

static int check_device(const struct call *call)
{
    int device = 0, status = cf_device_current(&device);
    if (status != CF_OK)
        return status;
    if (device != call->plan->device)
        return cf__mpi_fail(CF_EINVAL, "%s: the plan was made on device %d, and the calling thread uses device %d",
                            call->function, call->plan->device, device);
    if (call->array->device != call->plan->device)
        return cf__mpi_fail(CF_EINVAL, "%s: %s.device is %d, and the plan was made on device %d", call->function,
                            call->name, call->array->device, call->plan->device);
    return CF_OK;
}

static int check_offsets(const struct call *call)
{
    const int64_t *offsets = call->array->offsets, *planned = call->plan->offsets;
    int ranks = call->plan->object.comm->size;
    if (call->array->length != planned[ranks])
        return cf__mpi_fail(CF_EINVAL, "%s: %s.length is %jd, that of the plan %jd", call->function, call->name,
                            (intmax_t)call->array->length, (intmax_t)planned[ranks]);
    if (!offsets)
        return cf__mpi_fail(CF_EINVAL, "%s: %s.offsets is NULL", call->function, call->name);
    for (int rank = 0; rank <= ranks; rank++)
        if (offsets[rank] != planned[rank])
            return cf__mpi_fail(CF_EINVAL, "%s: %s.offsets[%d] is %jd, that of the plan %jd", call->function,
                                call->name, rank, (intmax_t)offsets[rank], (intmax_t)planned[rank]);
    return CF_OK;
}

/* Fails if source and result of one rank overlap. */
static int check_overlap(const struct call *call)
{
    uintptr_t array = (uintptr_t)call->array->data, part = (uintptr_t)call->part;
    uintptr_t array_bytes = (uintptr_t)cf__mpi_plan_length(call->plan) * call->bytes;
    uintptr_t part_bytes = (uintptr_t)call->plan->count * call->bytes;
    if (!array_bytes || !part_bytes || array >= part + part_bytes || part >= array + array_bytes)
        return CF_OK;
    return cf__mpi_fail(CF_EINVAL, "%s: %s and %s overlap", call->function, call->name, call->part_name);
}

/* Checks a call. If this rank still has a failure that the other ranks do not know, the call fails with it. */
static int check_call(struct call *call)
{
    int status = cf__mpi_recall(&call->plan->failure);
    if (status == CF_OK && !call->array)
        return cf__mpi_fail(CF_EINVAL, "%s: %s is NULL", call->function, call->name);
    if (status == CF_OK)
        status = cf__mpi_elements_check(call->function, call->name, call->array->type);
    call->bytes = status == CF_OK ? cf_type_size(call->array->type) : 0;
    if (status == CF_OK)
        status = check_device(call);
    if (status == CF_OK)
        status = check_offsets(call);
    if (status == CF_OK)
        status = check_pointer(call, call->name, ".data", call->array->data, cf__mpi_plan_length(call->plan));
    if (status == CF_OK)
        status = check_pointer(call, call->part_name, "", call->part, call->plan->count);
    if (status == CF_OK)
        status = check_overlap(call);
    if (status == CF_OK)
        status = cf__mpi_exchange_check(&call->plan->exchange);
    return status == CF_OK ? cf__mpi_plan_reserve(call->function, call->plan, call->bytes) : status;
}

/* ---- Distinct indices ---- */

/* Sets a bit for each of this rank's elements that an index of any rank names. Lowers `first` to the smallest element
 * that is named twice. */
static int claim_elements(const struct cf_mpi_plan *plan, void *bits, int64_t *first)
{
    int64_t length = cf__mpi_plan_length(plan);
    size_t bytes = (size_t)((length + 31) / 32) * sizeof(uint32_t);
    int64_t *word = (int64_t *)((char *)bits + (bytes + 7) / 8 * 8);
    int status = cf_mem_fill_async(NULL, bits, 0, bytes);
    if (status == CF_OK)
        status = cf_mem_copy(word, first, sizeof *word);
    if (status == CF_OK)
        status = cfmpi_claim_async(NULL, plan->own, bits, word, plan->count, length);
    if (status == CF_OK)
        status = cfmpi_claim_async(NULL, plan->list, bits, word, cf__mpi_plan_list_length(plan), length);
    return status == CF_OK ? cf_mem_copy(first, word, sizeof *first) : status;
}

static int check_distinct(const struct cf_mpi_plan *plan)
{
    int64_t length = cf__mpi_plan_length(plan), first = length, repeated = plan->repeated;
    void *bits = NULL;
    int status = cf_mem_alloc(&bits, (size_t)length / 8 + 32);
    if (status == CF_OK)
        status = claim_elements(plan, bits, &first);
    status = cf__mpi_first(status, cf_mem_free(bits));
    if (status != CF_OK)
        return status;
    if (first < length)
        repeated = plan->offsets[plan->object.comm->rank] + first;
    return repeated < 0
               ? CF_OK
               : cf__mpi_fail(CF_EINVAL, "cf_mpi_scatter: index %jd occurs more than once", (intmax_t)repeated);
}

/* ---- Rounds ---- */

/* A rank that has failed still sends and receives, so that other ranks do not wait for it. While a batch is in flight,
 * each rank copies a share of its own elements. */

/* The rounds [begin, end), and the `count` elements of the plan's list that cross in them. */
struct batch {
    int64_t begin, end, first, count;
};

/* A range of indices: those that name own elements are copied during a batch. The range is empty if all indices name
 * other ranks' elements. */
struct share {
    int64_t begin, count;
};

static struct share own_share(const struct cf_mpi_plan *plan, const struct batch *batch)
{
    int64_t part = (plan->count + plan->rounds - 1) / plan->rounds;
    int64_t begin = batch->begin * part, end = batch->end * part < plan->count ? batch->end * part : plan->count;
    return begin < end && plan->nentries < plan->count ? (struct share){begin, end - begin} : (struct share){0, 0};
}

/* Copies a share of the own elements. In the first batch, also writes zeros for other ranks' elements if these are few,
 * because that is faster. In later batches some of these elements have already arrived. */
static int gather_own(const struct call *call, const struct batch *batch)
{
    const struct cf_mpi_plan *plan = call->plan;
    const struct share own = own_share(plan, batch);
    if (!own.count)
        return CF_OK;
    char *res = (char *)call->part + (size_t)own.begin * call->bytes;
    return cf__mpi_elements_pack(call->bytes, call->array->data, plan->own + own.begin, res, own.count,
                                 cf__mpi_plan_length(plan), !batch->begin && plan->nentries < plan->count / 2);
}

static int scatter_own(const struct call *call, const struct batch *batch)
{
    const struct cf_mpi_plan *plan = call->plan;
    const struct share own = own_share(plan, batch);
    if (!own.count)
        return CF_OK;
    const char *source = (const char *)call->part + (size_t)own.begin * call->bytes;
    return cf__mpi_elements_unpack(call->bytes, source, plan->own + own.begin, call->array->data, own.count,
                                   cf__mpi_plan_length(plan));
}

/* Copies other ranks' elements from the buffer to the positions of their indices, or in the other direction. */
static int move_entries(const struct call *call, const struct batch *batch, int is_gather)
{
    const struct cf_mpi_plan *plan = call->plan;
    char *buffer = plan->wanted.buffer;
    int status = CF_OK;
    for (int64_t round = batch->begin; round < batch->end && status == CF_OK; round++) {
        int64_t entry = plan->entries[round], count = plan->entries[round + 1] - entry;
        int64_t space = cf__mpi_batch_space(&plan->wanted, plan->rounds, round, round + 1, plan->object.comm->size);
        const int64_t *slot = plan->slot + entry, *place = plan->place + entry;
        if (!space) /* the following rounds are also empty, and there may be no buffer */
            break;
        status =
            is_gather
                ? cf__mpi_elements_move(call->bytes, buffer, slot, place, (void *)call->part, count, space, plan->count)
                : cf__mpi_elements_move(call->bytes, call->part, place, slot, buffer, count, plan->count, space);
        buffer += (size_t)space * call->bytes;
    }
    return status;
}

static int gather_batch(const struct call *call, const struct batch *batch)
{
    struct cf_mpi_plan *plan = call->plan;
    const struct cf__mpi_side *wanted = &plan->wanted, *lent = &plan->lent;
    int status = cf__mpi_elements_pack(call->bytes, call->array->data, plan->list + batch->first, lent->buffer,
                                       batch->count, cf__mpi_plan_length(plan), false);
    cf__mpi_exchange_start(&plan->exchange, status, lent->messages, lent->nmessages, wanted->messages,
                           wanted->nmessages);
    int copied = gather_own(call, batch);
    status = cf__mpi_first(cf__mpi_exchange_finish(&plan->exchange), copied);
    return status == CF_OK ? move_entries(call, batch, 1) : status;
}

static int scatter_batch(const struct call *call, const struct batch *batch)
{
    struct cf_mpi_plan *plan = call->plan;
    const struct cf__mpi_side *wanted = &plan->wanted, *lent = &plan->lent;
    cf__mpi_exchange_start(&plan->exchange, move_entries(call, batch, 0), wanted->messages, wanted->nmessages,
                           lent->messages, lent->nmessages);
    int copied = scatter_own(call, batch);
    int status = cf__mpi_first(cf__mpi_exchange_finish(&plan->exchange), copied);
    return status == CF_OK ? cf__mpi_elements_unpack(call->bytes, lent->buffer, plan->list + batch->first,
                                                     call->array->data, batch->count, cf__mpi_plan_length(plan))
                           : status;
}

/* Reports the first failure. If the ranks have not agreed on that failure, their next call reports it. */
static int run_batches(const struct call *call, int (*run)(const struct call *call, const struct batch *batch))
{
    struct cf_mpi_plan *plan = call->plan;
    struct cf__mpi_failure failure = {0};
    struct batch batch = {0};
    int is_told = 0, status = CF_OK;
    for (; batch.begin < plan->rounds; batch.begin = batch.end) {
        batch.end = cf__mpi_batch_end(plan->rounds, batch.begin, call->bytes);
        batch.count = cf__mpi_batch_fill(&plan->lent, plan->object.comm, plan->rounds, batch.begin, call->bytes);
        (void)cf__mpi_batch_fill(&plan->wanted, plan->object.comm, plan->rounds, batch.begin, call->bytes);
        status = run(call, &batch);
        if (!failure.status)
            (void)cf__mpi_keep(&failure, status);
        is_told |= plan->exchange.is_told;
        batch.first += batch.count;
    }
    status = cf_stream_sync(NULL);
    if (failure.status)
        status = cf__mpi_recall(&failure);
    return is_told ? status : cf__mpi_keep(&plan->failure, status);
}

/* ---- Functions: the ranks compare their element sizes, because the lengths of messages depend on them ---- */

int cf_mpi_gather(cf_mpi_plan *plan, const cf_mpi_array *source, void *res)
{
    struct call call = {"cf_mpi_gather", plan, source, "source", res, "res", 0};
    int status = cf__mpi_object_check(call.function, plan, CF__MPI_PLAN);
    if (status != CF_OK)
        return status;
    status = check_call(&call);
    status = cf__mpi_agree_on(plan->object.comm->comm, call.function, status, call.bytes);
    return status == CF_OK ? run_batches(&call, gather_batch) : status;
}

int cf_mpi_scatter(cf_mpi_plan *plan, const void *source, cf_mpi_array *res)
{
    struct call call = {"cf_mpi_scatter", plan, res, "res", source, "source", 0};
    int status = cf__mpi_object_check(call.function, plan, CF__MPI_PLAN);
    if (status != CF_OK)
        return status;
    status = check_call(&call);
    if (status == CF_OK && !plan->is_distinct)
        status = check_distinct(plan);
    status = cf__mpi_agree_on(plan->object.comm->comm, call.function, status, call.bytes);
    if (status != CF_OK)
        return status;
    plan->is_distinct = 1;
    return run_batches(&call, scatter_batch);
}
