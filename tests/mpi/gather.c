/* gather.c - plans, gather and scatter, judged element by element against a serial computation. */
#include "mpi_check.h"

#include <sys/mman.h>
#include <unistd.h>

#include "mpi/plan.h"

enum { LENGTH = 5000 };

static const cf_type types[] = {CF_I8, CF_U16, CF_F32, CF_F64, CF_C128};
enum { NTYPES = sizeof types / sizeof *types };

/* ---- MPI's functions, under its names for tools ---- */

static int64_t sent;        /* bytes */
static int agreements;      /* calls of MPI_Allreduce() */
static int wait_fails;      /* the call of MPI_Wait() that fails, after it has waited: 1 is the next one */
static int agreement_fails; /* the call of MPI_Allreduce() that fails, after it has reduced */

/* Messages begin at multiples of 16 bytes, for which NCCL has fast copies. */
int MPI_Isend(const void *data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request)
{
    CHECK((uintptr_t)data % 16 == 0);
    sent += count;
    return PMPI_Isend(data, count, type, peer, tag, comm, request);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    int result = PMPI_Wait(request, status);
    return wait_fails && --wait_fails == 0 ? MPI_ERR_OTHER : result;
}

int MPI_Allreduce(const void *data, void *res, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    agreements++;
    int result = PMPI_Allreduce(data, res, count, type, op, comm);
    return agreement_fails && --agreement_fails == 0 ? MPI_ERR_OTHER : result;
}

/* ---- Data that all ranks can compute ---- */

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15 + b + 1;
    x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* The bytes of element i of an array that is known by its seed. */
static void make_element(unsigned char *bytes, size_t size, int64_t i, uint64_t seed)
{
    for (size_t k = 0; k < size; k++)
        bytes[k] = (unsigned char)mix(mix(seed, (uint64_t)i), k);
}

static void make_elements(unsigned char *bytes, size_t size, int64_t first, int64_t count, uint64_t seed)
{
    for (int64_t i = 0; i < count; i++)
        make_element(bytes + (size_t)i * size, size, first + i, seed);
}

/* ---- Memory of the device ---- */

/* By turns memory of both kinds. */
static void *to_device(const void *data, size_t bytes)
{
    static int is_async;
    void *memory = NULL;
    is_async = !is_async;
    CHECK_OK(is_async ? cf_mem_alloc_async(NULL, &memory, bytes) : cf_mem_alloc(&memory, bytes));
    CHECK_OK(cf_mem_copy(memory, data, bytes));
    return memory;
}

static void *alloc_host(size_t bytes)
{
    void *memory = malloc(bytes + 1);
    CHECK(memory);
    memset(memory, 0xA5, bytes + 1);
    return memory;
}

static int device(void)
{
    int number = 0;
    CHECK_OK(cf_device_current(&number));
    return number;
}

/* ---- Offsets ---- */

enum layout { EVEN, UNEVEN, ALL_ON_LAST, NONE_ON_FIRST, EMPTY, LAYOUTS };

static void make_offsets(int64_t *offsets, enum layout layout)
{
    int ranks = world_size();
    int64_t length = layout == EMPTY ? 0 : LENGTH;
    CHECK_OK(cf_mpi_split(length, ranks, offsets));
    for (int rank = 1; rank < ranks; rank++) {
        if (layout == UNEVEN)
            offsets[rank] = offsets[rank - 1] + (int64_t)mix(7, (uint64_t)rank) % (length - offsets[rank - 1]);
        if (layout == UNEVEN && offsets[rank] < offsets[rank - 1])
            offsets[rank] = offsets[rank - 1];
        if (layout == ALL_ON_LAST || (layout == NONE_ON_FIRST && rank == 1))
            offsets[rank] = 0;
    }
}

/* Elements before this one have no memory, so that arrays can be longer than any memory. */
static int64_t first_kept;

static int64_t count_skipped(const int64_t *offsets)
{
    int64_t begin = offsets[world_rank()];
    return begin < first_kept ? first_kept - begin : 0;
}

/* Addresses for an array on the CPU, of which the first bytes have no memory. */
static void *reserve_array(size_t skipped, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), before = skipped / page * page;
    char *start = mmap(NULL, skipped + bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(start != MAP_FAILED);
    CHECK(mprotect(start + before, skipped + bytes - before, PROT_READ | PROT_WRITE) == 0);
    return start;
}

/* The rank's part of an array with these offsets. */
static cf_mpi_array make_array(const int64_t *offsets, cf_type type, uint64_t seed)
{
    int64_t skipped = count_skipped(offsets), first = offsets[world_rank()] + skipped;
    int64_t count = offsets[world_rank() + 1] - first;
    size_t size = cf_type_size(type), bytes = (size_t)count * size;
    unsigned char *data = alloc_host(bytes);
    void *start = NULL;
    make_elements(data, size, first, count, seed);
    if (skipped) {
        start = reserve_array((size_t)skipped * size, bytes);
        memcpy((char *)start + (size_t)skipped * size, data, bytes);
    } else {
        start = to_device(data, bytes);
    }
    free(data);
    return (cf_mpi_array){offsets[world_size()], offsets, start, type, device()};
}

static void free_array(const cf_mpi_array *array)
{
    size_t size = cf_type_size(array->type), skipped = (size_t)count_skipped(array->offsets) * size;
    size_t length = (size_t)(array->offsets[world_rank() + 1] - array->offsets[world_rank()]) * size;
    if (skipped)
        CHECK(munmap(array->data, length) == 0);
    else
        CHECK_OK(cf_mem_free(array->data));
}

/* ---- Gather ---- */

/* Indices: any, a few, all the same, all of the last rank that has elements, in order, or none on odd ranks. */
enum choice { ANY, FEW, SAME, ONE_RANK, IN_ORDER, NONE_ON_ODD, CHOICES };

struct indices {
    int64_t count;
    int64_t *index;
};

static struct indices make_indices(const int64_t *offsets, enum choice choice, uint64_t seed)
{
    int ranks = world_size(), last = ranks - 1;
    int64_t length = offsets[ranks];
    struct indices made = {0, alloc_host(3 * LENGTH * sizeof(int64_t))};
    while (last > 0 && offsets[last] == length)
        last--;
    if (length && !(choice == NONE_ON_ODD && world_rank() % 2))
        made.count = choice == FEW ? 50 : 1000 + (int64_t)(mix(seed, (uint64_t)world_rank()) % (2 * LENGTH));
    for (int64_t i = 0; i < made.count; i++) {
        int64_t any = (int64_t)(mix(mix(seed, (uint64_t)world_rank()), (uint64_t)i) % (uint64_t)length);
        made.index[i] = choice == SAME       ? length / 2
                        : choice == ONE_RANK ? offsets[last] + any % (offsets[last + 1] - offsets[last])
                        : choice == IN_ORDER ? i % length
                                             : any;
    }
    return made;
}

/* The elements of other ranks that this rank has indices for. */
static int64_t count_wanted(const int64_t *offsets, const struct indices *made)
{
    int64_t count = 0, begin = offsets[world_rank()], end = offsets[world_rank() + 1];
    char is_seen[LENGTH] = "";
    for (int64_t i = 0; i < made->count; i++) {
        char *seen = &is_seen[made->index[i] - first_kept];
        count += !*seen && (made->index[i] < begin || made->index[i] >= end);
        *seen = 1;
    }
    return count;
}

/* Each wanted element has crossed once. Messages over NCCL are not counted. */
static void check_sent(const cf_mpi_plan *plan, const int64_t *offsets, const struct indices *made, size_t size)
{
    int64_t own[2] = {count_wanted(offsets, made) * (int64_t)size, sent}, all[2];
    MPI_Allreduce(own, all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(plan->transport->is_nccl || all[1] == all[0]);
}

/* The ranks agree when the call begins and with each batch, which has up to 16 bytes of the rounds' elements. */
static void check_batches(const cf_mpi_plan *plan, int64_t size)
{
    CHECK(agreements == 1 + (plan->rounds * size + 15) / 16);
}

static void check_gather(cf_mpi_plan *plan, const int64_t *offsets, const struct indices *made, cf_type type,
                         uint64_t seed)
{
    size_t size = cf_type_size(type), bytes = (size_t)made->count * size;
    unsigned char *res = alloc_host(bytes), expected[16];
    void *result = to_device(res, bytes);
    cf_mpi_array source = make_array(offsets, type, seed);
    sent = agreements = 0;
    CHECK_OK(cf_mpi_gather(plan, &source, result));
    check_batches(plan, (int64_t)size);
    check_sent(plan, offsets, made, size);
    CHECK_OK(cf_mem_copy(res, result, bytes));
    for (int64_t i = 0; i < made->count; i++) {
        make_element(expected, size, made->index[i], seed);
        CHECK(memcmp(res + (size_t)i * size, expected, size) == 0);
    }
    CHECK_OK(cf_mem_free(result));
    free_array(&source);
    free(res);
}

/* The elements of a batch fit a buffer, whatever their size. */
static void check_buffers(const cf_mpi_plan *plan)
{
    size_t least = 512 * (size_t)world_size(), most = cf__mpi_buffer_limit < least ? least : cf__mpi_buffer_limit;
    const struct cf__mpi_side *const sides[] = {&plan->wanted, &plan->lent};
    for (int i = 0; i < 2; i++)
        for (size_t size = 1; size <= 16; size *= 2)
            for (int64_t begin = 0, end; begin < plan->rounds; begin = end) {
                end = cf__mpi_batch_end(plan->rounds, begin, size);
                CHECK((size_t)cf__mpi_batch_space(sides[i], plan->rounds, begin, end, world_size()) * size <= most);
            }
}

/* Gathers elements of two sizes with one plan, one size after the other. */
static void gathers(enum layout layout, enum choice choice, int number)
{
    int is_on_device = number % 2;
    int64_t *offsets = alloc_host(((size_t)world_size() + 1) * sizeof *offsets);
    make_offsets(offsets, layout);
    struct indices made = make_indices(offsets, choice, 11 + (uint64_t)choice);
    size_t bytes = (size_t)made.count * sizeof *made.index;
    int64_t *index = is_on_device ? to_device(made.index, bytes) : made.index;
    cf_mpi_plan *plan = NULL;
    CHECK_OK(cf_mpi_plan_create(&plan, MPI_COMM_WORLD, offsets, index, made.count));
    check_buffers(plan);
    CHECK(cf__mpi_buffer_limit == CF_MPI_BUFFER || world_size() == 1 || plan->rounds > 1);
    if (is_on_device)
        CHECK_OK(cf_mem_free(index));
    check_gather(plan, offsets, &made, types[number % NTYPES], 1);
    check_gather(plan, offsets, &made, types[(number + 2) % NTYPES], 2);
    CHECK_OK(cf_mpi_plan_destroy(plan));
    free(made.index);
    free(offsets);
}

static void gathers_all(void)
{
    for (int layout = 0; layout < LAYOUTS; layout++)
        for (int choice = 0; choice < (layout == EMPTY ? 1 : CHOICES); choice++)
            gathers(layout, choice, layout * CHOICES + choice);
}

static void gathers_in_rounds(void)
{
    cf__mpi_buffer_limit = 1;
    gathers(EVEN, ANY, 0);
    cf__mpi_buffer_limit = 3000;
    gathers(UNEVEN, ANY, 4);
    cf__mpi_buffer_limit = 20000;
    gathers(ALL_ON_LAST, ONE_RANK, 2);
    gathers(EVEN, NONE_ON_ODD, 3);
    cf__mpi_buffer_limit = CF_MPI_BUFFER;
}

/* The first rank has 2^40 elements more, which no index names. The played GPU would look at the first one. */
static void indices_of_more_than_32_bits(void)
{
    const int64_t more = (int64_t)1 << 40;
    int64_t *offsets = alloc_host(((size_t)world_size() + 1) * sizeof *offsets);
    cf_mpi_plan *plan = NULL;
    make_offsets(offsets, EVEN);
    struct indices made = make_indices(offsets, ANY, 41);
    for (int64_t i = 0; i < made.count; i++)
        made.index[i] += more;
    for (int rank = 1; rank <= world_size(); rank++)
        offsets[rank] += more;
    first_kept = more;
    CHECK_OK(cf_mpi_plan_create(&plan, MPI_COMM_WORLD, offsets, made.index, made.count));
    check_gather(plan, offsets, &made, CF_F32, 6);
    CHECK_OK(cf_mpi_plan_destroy(plan));
    first_kept = 0;
    free(made.index);
    free(offsets);
}

static void two_plans_at_once(void)
{
    int64_t *offsets = alloc_host(((size_t)world_size() + 1) * sizeof *offsets);
    cf_mpi_plan *one = NULL, *two = NULL;
    make_offsets(offsets, EVEN);
    struct indices first = make_indices(offsets, ANY, 21), second = make_indices(offsets, SAME, 22);
    CHECK_OK(cf_mpi_plan_create(&one, MPI_COMM_WORLD, offsets, first.index, first.count));
    CHECK_OK(cf_mpi_plan_create(&two, MPI_COMM_WORLD, offsets, second.index, second.count));
    check_gather(one, offsets, &first, CF_F64, 1);
    check_gather(two, offsets, &second, CF_I8, 2);
    check_gather(one, offsets, &first, CF_F32, 3);
    CHECK_OK(cf_mpi_plan_destroy(one));
    check_gather(two, offsets, &second, CF_F64, 4);
    CHECK_OK(cf_mpi_plan_destroy(two));
    CHECK_OK(cf_mpi_plan_destroy(NULL));
    free(first.index);
    free(second.index);
    free(offsets);
}

/* ---- Scatter ---- */

/* Deals most of the global indices to the ranks: rank_of(i) is the rank that has index i, or -1. */
static int rank_of(int64_t i, uint64_t seed)
{
    return (int)(mix(seed, (uint64_t)i) % ((uint64_t)world_size() + 1)) - 1;
}

/* The rank's indices in an order that is not theirs: steps of a number that is prime to the length. */
static struct indices deal_indices(int64_t length, uint64_t seed)
{
    struct indices made = {0, alloc_host((size_t)length * sizeof(int64_t))};
    for (int64_t i = 0; i < length; i++) {
        int64_t at = i * 1999 % length;
        if (rank_of(at, seed) == world_rank())
            made.index[made.count++] = at;
    }
    return made;
}

static void check_scatter(cf_mpi_plan *plan, const int64_t *offsets, const struct indices *made, cf_type type,
                          uint64_t seed)
{
    int64_t begin = offsets[world_rank()], length = offsets[world_rank() + 1] - begin;
    size_t size = cf_type_size(type), bytes = (size_t)made->count * size;
    unsigned char *source = alloc_host(bytes), *res = alloc_host((size_t)length * size), expected[16];
    for (int64_t i = 0; i < made->count; i++)
        make_element(source + (size_t)i * size, size, made->index[i], seed + 1);
    void *on_device = to_device(source, bytes);
    cf_mpi_array array = make_array(offsets, type, seed);
    CHECK_OK(cf_mpi_scatter(plan, on_device, &array));
    CHECK_OK(cf_mem_copy(res, array.data, (size_t)length * size));
    for (int64_t i = 0; i < length; i++) {
        make_element(expected, size, begin + i, rank_of(begin + i, 31) < 0 ? seed : seed + 1);
        CHECK(memcmp(res + (size_t)i * size, expected, size) == 0);
    }
    CHECK_OK(cf_mem_free(on_device));
    free_array(&array);
    free(source);
    free(res);
}

static void scatters(enum layout layout)
{
    int64_t *offsets = alloc_host(((size_t)world_size() + 1) * sizeof *offsets);
    cf_mpi_plan *plan = NULL;
    make_offsets(offsets, layout);
    struct indices made = deal_indices(offsets[world_size()], 31);
    CHECK_OK(cf_mpi_plan_create(&plan, MPI_COMM_WORLD, offsets, made.index, made.count));
    for (int i = 0; i < 2; i++)
        check_scatter(plan, offsets, &made, types[(layout + 3 * i) % NTYPES], 200 + 2 * (uint64_t)i);
    check_gather(plan, offsets, &made, CF_F32, 77);
    CHECK_OK(cf_mpi_plan_destroy(plan));
    free(made.index);
    free(offsets);
}

static void scatters_all(void)
{
    for (int layout = 0; layout < LAYOUTS; layout++)
        scatters(layout);
    cf__mpi_buffer_limit = 3000;
    scatters(EVEN);
    scatters(UNEVEN);
    cf__mpi_buffer_limit = CF_MPI_BUFFER;
}

/* Two of the indices are 4321: of the ranks one and two, which may be the same. */
static void scatter_finds_the_repeated(int one, int two)
{
    enum { OTHERS = 500 };
    int64_t *offsets = alloc_host(((size_t)world_size() + 1) * sizeof *offsets), index[OTHERS + 2], count = 0;
    float source[OTHERS + 2] = {1, 2, 3}, res[OTHERS + 2] = {0};
    cf_mpi_plan *plan = NULL;
    make_offsets(offsets, EVEN);
    for (; count < OTHERS; count++)
        index[count] = count * world_size() + world_rank();
    if (world_rank() == one)
        index[count++] = 4321;
    if (world_rank() == two)
        index[count++] = 4321;
    void *on_device = to_device(source, sizeof source), *result = to_device(res, sizeof res);
    cf_mpi_array array = make_array(offsets, CF_F32, 5);
    CHECK_OK(cf_mpi_plan_create(&plan, MPI_COMM_WORLD, offsets, index, count));
    for (int i = 0; i < 2; i++)
        CHECK_FAILS(cf_mpi_scatter(plan, on_device, &array), CF_EINVAL,
                    "cf_mpi_scatter: index 4321 occurs more than once");
    CHECK_OK(cf_mpi_gather(plan, &array, result));
    CHECK_OK(cf_mpi_plan_destroy(plan));
    CHECK_OK(cf_mem_free(on_device));
    CHECK_OK(cf_mem_free(result));
    free_array(&array);
    free(offsets);
}

static void scatter_finds_what_is_repeated(void)
{
    for (int one = 0; one < world_size(); one++)
        for (int two = one; two < world_size(); two++)
            scatter_finds_the_repeated(one, two);
    cf__mpi_buffer_limit = 3000;
    scatter_finds_the_repeated(0, world_size() - 1);
    cf__mpi_buffer_limit = CF_MPI_BUFFER;
}

/* ---- Errors ---- */

/* Makes a plan that fails because of the last rank, and tells the same on all. */
static void plan_fails(const int64_t *offsets, const int64_t *index, int64_t count, int status, const char *detail)
{
    static int64_t fine[4] = {0, 1, 2, 3};
    int last = world_size() - 1;
    char text[300];
    cf_mpi_plan *plan = (cf_mpi_plan *)fine;
    int64_t *own = alloc_host(((size_t)last + 2) * sizeof *own);
    make_offsets(own, EVEN);
    int is_last = world_rank() == last;
    snprintf(text, sizeof text, "rank %d: cf_mpi_plan_create: %s", last, detail);
    CHECK_FAILS(cf_mpi_plan_create(&plan, MPI_COMM_WORLD, is_last && offsets != fine ? offsets : own,
                                   is_last ? index : fine, is_last ? count : 4),
                status, text);
    CHECK(!plan);
    free(own);
}

static void plans_that_fail(void)
{
    int64_t index[6] = {0, 4999, 7, 5000, -1, 3}, *offsets = alloc_host(((size_t)world_size() + 1) * sizeof *offsets);
    make_offsets(offsets, EVEN);
    plan_fails(offsets, index, 6, CF_ERANGE, "index[3] = 5000 is outside [0, 5000)");
    plan_fails(offsets, index + 4, 2, CF_ERANGE, "index[0] = -1 is outside [0, 5000)");
    plan_fails(offsets, NULL, 2, CF_EINVAL, "index is NULL, and count is 2");
    plan_fails(offsets, index, -1, CF_EINVAL, "count is -1");
    plan_fails(offsets, index, INT64_MAX, CF_EOVERFLOW, "count is 9223372036854775807");
    plan_fails(NULL, index, 2, CF_EINVAL, "offsets is NULL");
    offsets[world_size()] = -2;
    plan_fails(offsets, index, 2, CF_EINVAL, "offsets[");
    offsets[0] = 1;
    plan_fails(offsets, index, 2, CF_EINVAL, "offsets[0] is 1 instead of 0");
    CHECK_FAILS(cf_mpi_plan_create(NULL, MPI_COMM_WORLD, offsets, index, 0), CF_EINVAL,
                "rank 0: cf_mpi_plan_create: plan is NULL");
    free(offsets);
}

/* The last rank has another length, and elements of another size. */
static void ranks_that_differ(void)
{
    int64_t index = 0, *offsets = alloc_host(((size_t)world_size() + 1) * sizeof *offsets);
    int is_last = world_rank() == world_size() - 1;
    double res;
    cf_mpi_plan *plan = NULL;
    make_offsets(offsets, EVEN);
    cf_mpi_array array = make_array(offsets, CF_F64, 3);
    void *result = to_device(&res, sizeof res);
    CHECK_OK(cf_mpi_plan_create(&plan, MPI_COMM_WORLD, offsets, &index, 1));
    array.type = is_last ? CF_F32 : CF_F64;
    CHECK_FAILS(cf_mpi_gather(plan, &array, result), CF_EINVAL, "cf_mpi_gather: ranks 0 and ");
    CHECK_FAILS(cf_mpi_scatter(plan, result, &array), CF_EINVAL, "cf_mpi_scatter: ");
    array.type = CF_F64;
    CHECK_FAILS(cf_mpi_gather(plan, &array, is_last ? array.data : result), CF_EINVAL,
                "cf_mpi_gather: source and res overlap");
    CHECK_OK(cf_mpi_plan_destroy(plan));
    offsets[world_size()] += is_last;
    CHECK_FAILS(cf_mpi_plan_create(&plan, MPI_COMM_WORLD, offsets, &index, 1), CF_EINVAL,
                "cf_mpi_plan_create: ranks 0 and ");
    CHECK(!plan);
    CHECK_OK(cf_mem_free(result));
    free_array(&array);
    free(offsets);
}

static void a_plan_without_memory(void)
{
    int64_t index[4] = {0, 1, 2, 3}, *offsets = alloc_host(((size_t)world_size() + 1) * sizeof *offsets);
    cf_mpi_plan *plan = NULL;
    make_offsets(offsets, EVEN);
    CHECK(cf_mpi_plan_create(&plan, MPI_COMM_WORLD, offsets, index, world_rank() ? 4 : (int64_t)1 << 56) == CF_ENOMEM);
    CHECK(strstr(cf_last_error(), "rank 0: "));
    free(offsets);
}

/* Ranks other than the last have a good array. */
static void gather_fails(cf_mpi_plan *plan, const cf_mpi_array *good, const cf_mpi_array *bad, const char *detail)
{
    char text[300];
    float res[2];
    int last = world_size() - 1;
    void *result = to_device(res, sizeof res);
    snprintf(text, sizeof text, "rank %d: cf_mpi_gather: %s", last, detail);
    CHECK_FAILS(cf_mpi_gather(plan, world_rank() == last ? bad : good, result), CF_EINVAL, text);
    CHECK_OK(cf_mpi_gather(plan, good, result));
    snprintf(text, sizeof text, "rank %d: cf_mpi_scatter: %s", last, detail);
    for (const char *at = strstr(text, "source"); at; at = strstr(text, "source"))
        memmove((char *)at + 3, at + 6, strlen(at + 6) + 1), memcpy((char *)at, "res", 3);
    CHECK_FAILS(cf_mpi_scatter(plan, result, (cf_mpi_array *)(world_rank() == last ? bad : good)), CF_EINVAL, text);
    CHECK_OK(cf_mem_free(result));
}

static void gathers_that_fail(void)
{
    int64_t index[2] = {4999 - world_rank(), world_rank()},
            *offsets = alloc_host(((size_t)world_size() + 1) * sizeof *offsets);
    int64_t *other = alloc_host(((size_t)world_size() + 1) * sizeof *other);
    cf_mpi_plan *plan = NULL;
    make_offsets(offsets, EVEN);
    make_offsets(other, EVEN);
    other[1]++;
    CHECK_OK(cf_mpi_plan_create(&plan, MPI_COMM_WORLD, offsets, index, 2));
    cf_mpi_array good = make_array(offsets, CF_F32, 5), bad = good;
    gather_fails(plan, &good, NULL, "source is NULL");
    bad.type = CF_PTR;
    gather_fails(plan, &good, &bad, "source has type ptr (17); elements are numbers of 1, 2, 4, 8 or 16 bytes");
    bad = good, bad.device = 7;
    gather_fails(plan, &good, &bad, "source.device is 7, and the plan was made on device ");
    bad = good, bad.offsets = NULL;
    gather_fails(plan, &good, &bad, "source.offsets is NULL");
    bad = good, bad.offsets = other;
    gather_fails(plan, &good, &bad, "source.offsets[1] is ");
    bad = good, bad.length = 4;
    gather_fails(plan, &good, &bad, "source.length is 4, that of the plan 5000");
    bad = good, bad.data = NULL;
    gather_fails(plan, &good, &bad, "source.data is NULL, and has ");
    bad = good, bad.data = (char *)good.data + 1;
    gather_fails(plan, &good, &bad, "source.data = ");
    CHECK_FAILS(cf_mpi_gather(plan, &good, NULL), CF_EINVAL, "rank 0: cf_mpi_gather: res is NULL, and has 2 elements");
    CHECK_FAILS(cf_mpi_scatter(plan, NULL, &good), CF_EINVAL,
                "rank 0: cf_mpi_scatter: source is NULL, and has 2 elements");
    if (good.device != CF_HOST) {
        CHECK_OK(cf_device_use(CF_HOST));
        CHECK_FAILS(cf_mpi_gather(plan, &good, good.data), CF_EINVAL, ", and the calling thread uses device -1");
        CHECK_OK(cf_device_use(good.device));
    }
    CHECK_OK(cf_mpi_plan_destroy(plan));
    CHECK_FAILS(cf_mpi_plan_destroy(plan), CF_EINVAL, "cf_mpi_plan_destroy: ");
    CHECK_FAILS(cf_mpi_gather(plan, &good, NULL), CF_EINVAL, "is no plan, or was destroyed");
    free_array(&good);
    free(other);
    free(offsets);
}

/* One gather fails on the last rank, and on all ranks the next one, which tells them. */
static void fail_and_tell(cf_mpi_plan *plan, const cf_mpi_array *array, void *result, const char *call)
{
    int last = world_size() - 1;
    char text[64];
    snprintf(text, sizeof text, "rank %d: %s: ", last, call);
    CHECK(cf_mpi_gather(plan, array, result) == (world_rank() == last ? CF_ECALL : CF_OK));
    CHECK_FAILS(cf_mpi_gather(plan, array, result), CF_ECALL, text);
}

/* The last rank alone learns that its message or its agreement failed. */
static void failures_are_told_in_the_next_call(void)
{
    int64_t *offsets = alloc_host(((size_t)world_size() + 1) * sizeof *offsets);
    int is_last = world_rank() == world_size() - 1;
    cf_mpi_plan *plan = NULL;
    make_offsets(offsets, EVEN);
    struct indices made = make_indices(offsets, FEW, 51);
    CHECK_OK(cf_mpi_plan_create(&plan, MPI_COMM_WORLD, offsets, made.index, made.count));
    cf_mpi_array array = make_array(offsets, CF_F64, 1);
    double res[50];
    void *result = to_device(res, sizeof res);
    agreement_fails = is_last ? 2 : 0; /* the first one compares the arguments */
    fail_and_tell(plan, &array, result, "MPI_Allreduce");
    wait_fails = is_last && !plan->transport->is_nccl;
    if (!plan->transport->is_nccl)
        fail_and_tell(plan, &array, result, "MPI_Wait");
    check_gather(plan, offsets, &made, CF_F64, 2);
    CHECK_OK(cf_mpi_plan_destroy(plan));
    CHECK_OK(cf_mem_free(result));
    free_array(&array);
    free(made.index);
    free(offsets);
}

/* Returns a plan of a communicator. */
static cf_mpi_plan *make_plan(MPI_Comm comm)
{
    int64_t index[2] = {4999, 0}, *offsets = alloc_host(((size_t)world_size() + 1) * sizeof *offsets);
    cf_mpi_plan *plan = NULL;
    make_offsets(offsets, EVEN);
    CHECK_OK(cf_mpi_plan_create(&plan, comm, offsets, index, 2));
    free(offsets);
    return plan;
}

static void plans_end_with_the_communicator(void)
{
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    cf_mpi_plan *plan = make_plan(copy);
    MPI_Comm_free(&copy);
    CHECK_FAILS(cf_mpi_gather(plan, NULL, NULL), CF_EINVAL, "is no plan, or was destroyed");
    CHECK_FAILS(cf_mpi_plan_destroy(plan), CF_EINVAL, "is no plan, or was destroyed");
}

static void split(void)
{
    int64_t offsets[6];
    CHECK_OK(cf_mpi_split(13, 5, offsets));
    CHECK(memcmp(offsets, (int64_t[]){0, 3, 6, 9, 11, 13}, sizeof offsets) == 0);
    CHECK_OK(cf_mpi_split(2, 5, offsets));
    CHECK(memcmp(offsets, (int64_t[]){0, 1, 2, 2, 2, 2}, sizeof offsets) == 0);
    CHECK_OK(cf_mpi_split(INT64_MAX, 5, offsets));
    CHECK(offsets[5] == INT64_MAX && offsets[4] == INT64_MAX - INT64_MAX / 5);
    CHECK_FAILS(cf_mpi_split(-1, 5, offsets), CF_EINVAL, "cf_mpi_split: length is -1");
    CHECK_FAILS(cf_mpi_split(1, 0, offsets), CF_EINVAL, "cf_mpi_split: ranks is 0");
    CHECK_FAILS(cf_mpi_split(1, 5, NULL), CF_EINVAL, "cf_mpi_split: offsets is NULL");
}

int main(void)
{
    split();
    CHECK_OK(cf_mpi_init());
    gathers_all();
    gathers_in_rounds();
    if (device() == CF_HOST)
        indices_of_more_than_32_bits();
    two_plans_at_once();
    scatters_all();
    scatter_finds_what_is_repeated();
    plans_that_fail();
    if (world_size() > 1)
        ranks_that_differ();
    a_plan_without_memory();
    gathers_that_fail();
    if (world_size() > 1)
        failures_are_told_in_the_next_call();
    plans_end_with_the_communicator();
    cf_mpi_plan *plan = make_plan(MPI_COMM_WORLD);
    MPI_Finalize();
    CHECK_FAILS(cf_mpi_gather(plan, NULL, NULL), CF_EINVAL, "is no plan, or was destroyed");
    CHECK_FAILS(cf_mpi_plan_destroy(plan), CF_EINVAL, "is no plan, or was destroyed");
    return 0;
}
