/* plan.c - creates plans: sorts indices by owner and round, and tells the owners which elements are wanted. */
#include "mpi/plan.h"

#include <stdlib.h>

#include <cuferry/kernels.h>

#include "cuferry_mpi_kernels.h"
#include "mpi/agree.h"
#include "mpi/array.h"

#define FUNCTION "cf_mpi_plan_create"

/* Memory that is needed only while a plan is created. */
struct draft {
    struct cf_mpi_plan *plan;
    int64_t *index;  /* copy of the caller's indices on the device */
    int64_t *number; /* at first, for each index, the number of other ranks' elements before it; then for each entry the
                      * number of its element among the distinct ones; finally the slots */
    int64_t *wanted; /* other ranks' elements by slot; each is numbered from its owner's first element */
    int64_t *tables; /* on the device: copies of those of `offsets`, `bounds`, `parts` and `starts` that are still in
                      * use */
    int64_t *bounds; /* on the host: rank p owns the distinct elements [bounds[p], bounds[p + 1]) */
    int64_t *starts; /* on the host: first slot of each rank in each round, and number of slots */
};

/* Allocates at least one word, because callers add offsets to the address. */
static int alloc_words(int64_t **words, int64_t count)
{
    void *memory = NULL;
    int status = cf_mem_alloc(&memory, (size_t)(count ? count : 1) * sizeof **words);
    *words = memory;
    return status;
}

static int alloc_host(int64_t **words, int64_t count)
{
    *words = calloc((size_t)count, sizeof **words);
    return *words ? CF_OK : cf__mpi_fail(CF_ENOMEM, FUNCTION ": no memory for %jd integers", (intmax_t)count);
}

static int copy_words(int64_t *target, const int64_t *source, int64_t count)
{
    return cf_mem_copy(target, source, (size_t)count * sizeof *target);
}

/* Frees memory of a device. Ignores a failure, because no caller could react to it. */
static void free_words(void *pointer)
{
    int ignored = cf_mem_free(pointer);
    (void)ignored;
}

/* ---- The end of a plan ---- */

static void destroy_plan(struct cf__mpi_object *object)
{
    struct cf_mpi_plan *plan = (struct cf_mpi_plan *)object;
    void *const on_device[] = {plan->own, plan->place, plan->slot, plan->list, plan->wanted.buffer, plan->lent.buffer};
    void *const on_host[] = {plan->offsets,         plan->entries,     plan->wanted.counts,
                             plan->wanted.messages, plan->lent.counts, plan->lent.messages};
    for (size_t i = 0; i < sizeof on_device / sizeof *on_device; i++)
        free_words(on_device[i]);
    for (size_t i = 0; i < sizeof on_host / sizeof *on_host; i++)
        free(on_host[i]);
    cf__mpi_exchange_free(&plan->exchange);
    free(plan);
}

static void free_draft(struct draft *draft)
{
    int64_t *const on_device[] = {draft->index, draft->number, draft->wanted, draft->tables};
    for (size_t i = 0; i < sizeof on_device / sizeof *on_device; i++)
        free_words(on_device[i]);
    free(draft->bounds);
    free(draft->starts);
}

int cf_mpi_plan_destroy(cf_mpi_plan *plan)
{
    int status = plan ? cf__mpi_object_check("cf_mpi_plan_destroy", plan, CF__MPI_PLAN) : CF_OK;
    if (plan && status == CF_OK)
        cf__mpi_object_destroy(&plan->object);
    return status;
}

/* ---- Arguments ---- */

static int check_arguments(cf_mpi_plan **plan, const int64_t *offsets, const int64_t *index, int64_t count, int ranks)
{
    if (!plan)
        return cf__mpi_fail(CF_EINVAL, FUNCTION ": plan is NULL");
    if (count < 0)
        return cf__mpi_fail(CF_EINVAL, FUNCTION ": count is %jd", (intmax_t)count);
    if (count > INT64_MAX / 64)
        return cf__mpi_fail(CF_EOVERFLOW, FUNCTION ": count is %jd, more than memory can hold", (intmax_t)count);
    if (!index && count)
        return cf__mpi_fail(CF_EINVAL, FUNCTION ": index is NULL, and count is %jd", (intmax_t)count);
    return cf__mpi_offsets_check(FUNCTION, ranks, "", offsets);
}

/* ---- The rank's own part ---- */

static int alloc_plan(struct draft *draft, struct cf__mpi_transport *transport, const int64_t *offsets, int64_t count)
{
    int ranks = transport->object.comm->size;
    struct cf_mpi_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return cf__mpi_fail(CF_ENOMEM, FUNCTION ": no memory for a plan");
    *plan = (struct cf_mpi_plan){.object = {CF__MPI_PLAN, transport->object.comm, destroy_plan, NULL},
                                 .transport = transport,
                                 .count = count,
                                 .repeated = -1};
    draft->plan = plan;
    int status = cf_device_current(&plan->device);
    if (status == CF_OK)
        status = alloc_host(&plan->offsets, ranks + 1);
    if (status == CF_OK)
        status = alloc_host(&plan->wanted.counts, ranks);
    if (status == CF_OK)
        status = alloc_host(&plan->lent.counts, ranks);
    for (int rank = 0; status == CF_OK && rank <= ranks; rank++)
        plan->offsets[rank] = offsets[rank];
    return status;
}

static int alloc_draft(struct draft *draft, const int64_t *index)
{
    struct cf_mpi_plan *plan = draft->plan;
    int status = alloc_words(&draft->index, plan->count);
    if (status == CF_OK)
        status = copy_words(draft->index, index, plan->count);
    if (status == CF_OK)
        status = alloc_words(&plan->own, plan->count);
    if (status == CF_OK)
        status = alloc_words(&draft->number, plan->count + 1);
    if (status == CF_OK)
        status = alloc_words(&draft->tables, 3 * ((int64_t)plan->object.comm->size + 1));
    return status == CF_OK ? alloc_host(&draft->bounds, plan->object.comm->size + 1) : status;
}

/* Checks the indices. draft->tables[0] is the word that the kernel lowers to the position of the first invalid
 * index. */
static int check_range(struct draft *draft)
{
    struct cf_mpi_plan *plan = draft->plan;
    int64_t first = plan->count, value = 0, length = plan->offsets[plan->object.comm->size];
    int status = copy_words(draft->tables, &first, 1);
    if (status == CF_OK)
        status = cf_outside_i64_async(NULL, draft->index, 0, length - 1, draft->tables, plan->count);
    if (status == CF_OK)
        status = copy_words(&first, draft->tables, 1);
    if (status != CF_OK || first == plan->count)
        return status;
    status = copy_words(&value, draft->index + first, 1);
    return status == CF_OK ? cf__mpi_fail(CF_ERANGE, FUNCTION ": index[%jd] = %jd is outside [0, %jd)", (intmax_t)first,
                                          (intmax_t)value, (intmax_t)length)
                           : status;
}

static int alloc_entries(struct cf_mpi_plan *plan, const int64_t *count)
{
    int status = copy_words(&plan->nentries, count, 1);
    if (status == CF_OK)
        status = alloc_words(&plan->place, plan->nentries);
    return status == CF_OK ? alloc_words(&plan->slot, plan->nentries) : status;
}

/* Separates the rank's own elements from the entries. */
static int divide_indices(struct draft *draft)
{
    struct cf_mpi_plan *plan = draft->plan;
    int64_t begin = plan->offsets[plan->object.comm->rank], end = plan->offsets[plan->object.comm->rank + 1];
    int status = cfmpi_mark_async(NULL, draft->index, plan->own, draft->number, begin, end, plan->count);
    if (status == CF_OK)
        status = cf_exclusive_scan_i64_async(NULL, draft->number, draft->number, plan->count + 1);
    if (status == CF_OK)
        status = alloc_entries(plan, draft->number + plan->count);
    if (status == CF_OK)
        status = cfmpi_partition_async(NULL, draft->index, plan->own, draft->number, plan->slot, plan->place,
                                       plan->count, plan->nentries);
    free_words(draft->index);
    draft->index = NULL;
    return status;
}

/* Stores an index that this rank has twice, which the first scatter reports: keys[*repeated] if *repeated is an entry's
 * number. */
static int keep_repeated(struct draft *draft, const int64_t *keys, const int64_t *repeated, int64_t count)
{
    int64_t first = count;
    int status = copy_words(&first, repeated, 1);
    return status != CF_OK || first == count ? status : copy_words(&draft->plan->repeated, keys + first, 1);
}

/* Sorts the entries, which name other ranks' elements, and numbers the distinct elements. */
static int number_elements(struct draft *draft)
{
    struct cf_mpi_plan *plan = draft->plan;
    int64_t *keys = plan->slot, count = plan->nentries;
    int status = copy_words(draft->tables, &count, 1);
    if (status == CF_OK)
        status = cf_sort_pairs_i64_i64_async(NULL, keys, plan->place, keys, plan->place, count, false);
    if (status == CF_OK)
        status = cfmpi_differ_async(NULL, keys, draft->number, draft->tables, count);
    if (status == CF_OK)
        status = cf_inclusive_scan_i64_async(NULL, draft->number, draft->number, count + 1);
    return status == CF_OK ? keep_repeated(draft, keys, draft->tables, count) : status;
}

/* Counts the distinct elements of each owner: the sorted elements tell where each owner's elements begin. */
static int count_elements(struct draft *draft)
{
    struct cf_mpi_plan *plan = draft->plan;
    int64_t words = plan->object.comm->size + 1, count = plan->nentries;
    int64_t *offsets = draft->tables, *places = offsets + words, *bounds = places + words;
    int status = copy_words(offsets, plan->offsets, words);
    if (status == CF_OK)
        status = cfmpi_search_async(NULL, plan->slot, offsets, places, words, count);
    if (status == CF_OK)
        status = cfmpi_pack_b64_async(NULL, (const uint64_t *)draft->number, places, (uint64_t *)bounds, words,
                                      count + 1, false);
    if (status == CF_OK)
        status = copy_words(draft->bounds, bounds, words);
    for (int64_t rank = 0; status == CF_OK && rank < words - 1; rank++)
        plan->wanted.counts[rank] = draft->bounds[rank + 1] - draft->bounds[rank];
    return status;
}

static int sort_entries(struct draft *draft, struct cf__mpi_transport *transport, const int64_t *offsets,
                        const int64_t *index, int64_t count)
{
    int status = alloc_plan(draft, transport, offsets, count);
    if (status == CF_OK)
        status = alloc_draft(draft, index);
    if (status == CF_OK)
        status = check_range(draft);
    if (status == CF_OK)
        status = divide_indices(draft);
    if (status == CF_OK)
        status = number_elements(draft);
    return status == CF_OK ? count_elements(draft) : status;
}

/* ---- Elements of other ranks ---- */

/* Tells the owners how many elements this rank wants, and agrees on the number of rounds. */
static int exchange_counts(struct cf_mpi_plan *plan)
{
    struct cf__mpi_comm *state = plan->object.comm;
    int status = cf__mpi_result(
        MPI_Alltoall(plan->wanted.counts, 1, MPI_INT64_T, plan->lent.counts, 1, MPI_INT64_T, state->comm),
        "MPI_Alltoall");
    int64_t wanted = cf__mpi_rounds_needed(&plan->wanted, state->size);
    int64_t lent = cf__mpi_rounds_needed(&plan->lent, state->size), needed = wanted > lent ? wanted : lent;
    if (status == CF_OK)
        status = cf__mpi_result(MPI_Allreduce(&needed, &plan->rounds, 1, MPI_INT64_T, MPI_MAX, state->comm),
                                "MPI_Allreduce");
    return status;
}

/* Fills the host's tables, and copies all tables to the device. */
static int make_tables(struct draft *draft)
{
    struct cf_mpi_plan *plan = draft->plan;
    int64_t ranks = plan->object.comm->size, rounds = plan->rounds, next = 0;
    int64_t *parts = NULL;
    int status = alloc_host(&draft->starts, rounds * ranks + 1);
    if (status == CF_OK)
        status = alloc_host(&parts, ranks);
    if (status != CF_OK)
        return status;
    for (int64_t i = 0; i < rounds * ranks; i++) {
        draft->starts[i] = next;
        next += cf__mpi_round_space(&plan->wanted, rounds, i / ranks, (int)(i % ranks));
    }
    draft->starts[rounds * ranks] = next;
    for (int rank = 0; rank < ranks; rank++)
        parts[rank] = cf__mpi_round_part(&plan->wanted, rounds, 0, rank);
    free_words(draft->tables);
    status = alloc_words(&draft->tables, 2 * (ranks + 1) + ranks + rounds * ranks);
    if (status == CF_OK)
        status = copy_words(draft->tables, plan->offsets, ranks + 1);
    if (status == CF_OK)
        status = copy_words(draft->tables + ranks + 1, draft->bounds, ranks + 1);
    if (status == CF_OK)
        status = copy_words(draft->tables + 2 * (ranks + 1), parts, ranks);
    if (status == CF_OK)
        status = copy_words(draft->tables + 2 * (ranks + 1) + ranks, draft->starts, rounds * ranks);
    free(parts);
    return status;
}

/* Finds the slot of each entry, and the element of each slot. */
static int assign_slots(struct draft *draft)
{
    struct cf_mpi_plan *plan = draft->plan;
    int64_t ranks = plan->object.comm->size, count = plan->nentries, elements = draft->starts[plan->rounds * ranks];
    const int64_t *offsets = draft->tables, *bounds = offsets + ranks + 1, *parts = bounds + ranks + 1;
    int status = alloc_words(&draft->wanted, elements);
    if (status != CF_OK)
        return status;
    return cfmpi_assign_async(NULL, draft->number, draft->wanted, plan->slot, bounds, offsets, parts, parts + ranks,
                              count, elements, ranks, plan->rounds);
}

/* Sorts the entries by round and, within a round, by place. Then a gather writes its result from front to back and
 * reads from a small buffer. `number` has the slots, counted over all rounds. */
static int order_entries(struct draft *draft)
{
    struct cf_mpi_plan *plan = draft->plan;
    int64_t *places = plan->place, *tables = draft->tables;
    int64_t ranks = plan->object.comm->size, rounds = plan->rounds, count = plan->nentries;
    for (int64_t round = 0; round < rounds; round++)
        draft->starts[round] = draft->starts[round * ranks];
    int status = copy_words(tables, draft->starts, rounds);
    if (status == CF_OK)
        status = cfmpi_enter_rounds_async(NULL, draft->number, places, tables, plan->count, count, rounds);
    if (status == CF_OK)
        status = cf_sort_pairs_i64_i64_async(NULL, places, draft->number, places, plan->slot, count, false);
    return status;
}

/* Finds the first entry of each round. The tables have at least 2 (rounds + 1) words. */
static int divide_rounds(struct draft *draft)
{
    struct cf_mpi_plan *plan = draft->plan;
    int64_t *places = plan->place, *begins = draft->tables, *entries = begins + plan->rounds + 1;
    int64_t rounds = plan->rounds, count = plan->nentries;
    for (int64_t round = 0; round <= rounds; round++)
        plan->entries[round] = round * plan->count;
    int status = copy_words(begins, plan->entries, rounds + 1);
    if (status == CF_OK)
        status = cfmpi_search_async(NULL, places, begins, entries, rounds + 1, count);
    if (status == CF_OK)
        status = copy_words(plan->entries, entries, rounds + 1);
    return status == CF_OK ? cfmpi_leave_rounds_async(NULL, places, plan->count, count) : status;
}

static int place_entries(struct draft *draft)
{
    int status = make_tables(draft);
    if (status == CF_OK)
        status = assign_slots(draft);
    if (status == CF_OK)
        status = alloc_host(&draft->plan->entries, draft->plan->rounds + 1);
    if (status == CF_OK)
        status = order_entries(draft);
    return status == CF_OK ? divide_rounds(draft) : status;
}

/* Allocates the messages. Batches of the smallest elements have the most messages, so `count` is their number. */
static int alloc_messages(struct cf_mpi_plan *plan, int count)
{
    plan->wanted.messages = calloc((size_t)count, sizeof *plan->wanted.messages);
    plan->lent.messages = calloc((size_t)count, sizeof *plan->lent.messages);
    return plan->wanted.messages && plan->lent.messages
               ? CF_OK
               : cf__mpi_fail(CF_ENOMEM, FUNCTION ": no memory for %d messages", count);
}

/* Creates the exchange, and allocates the list of elements that other ranks want. */
static int prepare_exchange(struct cf_mpi_plan *plan)
{
    int ranks = plan->object.comm->size, messages = ranks * (int)cf__mpi_batch_end(plan->rounds, 0, 1);
    int64_t widest = 0;
    for (int rank = 0; rank < ranks; rank++) {
        int64_t wanted_part = cf__mpi_round_part(&plan->wanted, plan->rounds, 0, rank);
        int64_t lent_part = cf__mpi_round_part(&plan->lent, plan->rounds, 0, rank);
        int64_t part = wanted_part > lent_part ? wanted_part : lent_part;
        widest = part > widest ? part : widest;
    }
    int status = alloc_messages(plan, messages);
    if (status == CF_OK)
        status = alloc_words(&plan->list, cf__mpi_plan_list_length(plan));
    if (status == CF_OK)
        status = cf__mpi_plan_reserve(FUNCTION, plan, sizeof *plan->list);
    return status == CF_OK ? cf__mpi_exchange_create(FUNCTION, &plan->exchange, plan->transport, NULL, 2 * messages,
                                                     (size_t)widest * CF__MPI_ELEMENT_BYTES)
                           : status;
}

/* Sends the owners the numbers of the elements that this rank wants, in the rounds in which the elements will come
 * back. The list has -1 in the gaps between the parts of two ranks. */
static int exchange_lists(struct draft *draft)
{
    struct cf_mpi_plan *plan = draft->plan;
    const struct cf__mpi_comm *state = plan->object.comm;
    struct cf__mpi_side *wanted = &plan->wanted, *lent = &plan->lent;
    const size_t bytes = sizeof *plan->list;
    int64_t sent = 0, received = 0;
    int status = CF_OK;
    for (int64_t begin = 0; begin < plan->rounds; begin = cf__mpi_batch_end(plan->rounds, begin, bytes)) {
        int64_t nsent = cf__mpi_batch_fill(wanted, state, plan->rounds, begin, bytes);
        int64_t nreceived = cf__mpi_batch_fill(lent, state, plan->rounds, begin, bytes);
        status =
            cf__mpi_first(status, cf_mem_copy_async(NULL, wanted->buffer, draft->wanted + sent, (size_t)nsent * bytes));
        status = cf__mpi_first(status, cf_mem_fill_async(NULL, lent->buffer, 0xff, (size_t)nreceived * bytes));
        cf__mpi_exchange_start(&plan->exchange, status, wanted->messages, wanted->nmessages, lent->messages,
                               lent->nmessages);
        status = cf__mpi_exchange_finish(&plan->exchange);
        status = cf__mpi_first(status,
                               cf_mem_copy_async(NULL, plan->list + received, lent->buffer, (size_t)nreceived * bytes));
        sent += nsent;
        received += nreceived;
    }
    return cf__mpi_first(status, cf_stream_sync(NULL));
}

/* Connects the ranks in the direction in which the elements will be sent; the lists were sent in the other
 * direction. */
static int connect_owners(struct cf_mpi_plan *plan)
{
    const struct cf__mpi_comm *state = plan->object.comm;
    struct cf__mpi_side *wanted = &plan->wanted, *lent = &plan->lent;
    (void)cf__mpi_batch_fill(wanted, state, plan->rounds, 0, sizeof *plan->list);
    (void)cf__mpi_batch_fill(lent, state, plan->rounds, 0, sizeof *plan->list);
    return cf__mpi_exchange_connect(&plan->exchange, lent->messages, lent->nmessages, wanted->messages,
                                    wanted->nmessages);
}

/* ---- Functions ---- */

int64_t cf__mpi_plan_length(const struct cf_mpi_plan *plan)
{
    int rank = plan->object.comm->rank;
    return plan->offsets[rank + 1] - plan->offsets[rank];
}

int64_t cf__mpi_plan_list_length(const struct cf_mpi_plan *plan)
{
    return cf__mpi_batch_space(&plan->lent, plan->rounds, 0, plan->rounds, plan->object.comm->size);
}

static int alloc_buffer(const char *function, const struct cf_mpi_plan *plan, struct cf__mpi_side *side, size_t bytes)
{
    int64_t end = cf__mpi_batch_end(plan->rounds, 0, bytes);
    int64_t space = cf__mpi_batch_space(side, plan->rounds, 0, end, plan->object.comm->size);
    free_words(side->buffer);
    side->buffer = NULL;
    return cf__mpi_buffer_alloc(function, plan->transport, &side->buffer, (size_t)space * bytes);
}

int cf__mpi_plan_reserve(const char *function, struct cf_mpi_plan *plan, size_t bytes)
{
    if (bytes <= plan->element_bytes)
        return CF_OK;
    plan->element_bytes = 0;
    int status = alloc_buffer(function, plan, &plan->wanted, bytes);
    if (status == CF_OK)
        status = alloc_buffer(function, plan, &plan->lent, bytes);
    if (status == CF_OK)
        plan->element_bytes = bytes;
    return status;
}

/* Each phase ends with an agreement: a rank that continued after another one has failed would wait for its messages
 * forever. */
static int make_plan(struct draft *draft, struct cf__mpi_transport *transport, const int64_t *offsets,
                     const int64_t *index, int64_t count, int status)
{
    MPI_Comm comm = transport->object.comm->comm;
    uint64_t checksum = 0;
    if (status == CF_OK)
        checksum = cf__mpi_mix(0, offsets, ((size_t)transport->object.comm->size + 1) * sizeof *offsets);
    if (status == CF_OK)
        status = sort_entries(draft, transport, offsets, index, count);
    status = cf__mpi_agree_on(comm, FUNCTION, status, checksum);
    if (status == CF_OK)
        status = exchange_counts(draft->plan);
    if (status != CF_OK)
        return status;
    status = place_entries(draft);
    if (status == CF_OK)
        status = prepare_exchange(draft->plan);
    status = cf__mpi_agree(comm, status);
    if (status == CF_OK)
        status = cf__mpi_agree(comm, exchange_lists(draft));
    return status == CF_OK ? connect_owners(draft->plan) : status;
}

int cf_mpi_plan_create(cf_mpi_plan **plan, MPI_Comm comm, const int64_t *offsets, const int64_t *index, int64_t count)
{
    struct cf__mpi_comm *state = NULL;
    struct cf__mpi_transport *transport = NULL;
    struct draft draft = {0};
    if (plan)
        *plan = NULL;
    int status = cf__mpi_enter(FUNCTION, comm, &state);
    if (status == CF_OK)
        status = cf__mpi_transport_enter(FUNCTION, state, &transport);
    if (status != CF_OK)
        return status;
    status = check_arguments(plan, offsets, index, count, state->size);
    status = make_plan(&draft, transport, offsets, index, count, status);
    free_draft(&draft);
    if (status == CF_OK) {
        cf__mpi_object_add(&draft.plan->object);
        *plan = draft.plan;
    } else if (draft.plan) {
        destroy_plan(&draft.plan->object);
    }
    return status;
}
