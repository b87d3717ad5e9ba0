/* test_warp.c - random sequences of warp operations, barriers and lanes that end, compared with CUDA's
 * specification. */
#include <stdlib.h>

#include "played_gpu.h"
#include "data/random.h"

#include "warp_kernels.h"

#include <cuferry/registry.h>

enum {
    SHUFFLE,
    UP,
    DOWN,
    XOR, /* the variants for 64 bits, for 32 bits and for doubles */
    NARROW = 4,
    OF_DOUBLES = 8,
    BALLOT = 12,
    ANY,
    ALL,
    MATCH_ANY,
    MATCH_ANY_NARROW,
    MATCH_ALL,
    MATCH_ALL_FLOATS,
    ADD,
    MIN,
    MAX,
    ADD_SIGNED,
    MIN_SIGNED,
    MAX_SIGNED,
    AND_BITS,
    OR_BITS,
    XOR_BITS,
    SYNC_WARP,
    COUNT_BLOCK,
    AND_BLOCK,
    OR_BLOCK,
    OPERATIONS
};

enum { STEPS = 24 };

/* The step of a lane, in the layout that warp.cu reads. */
typedef struct step {
    uint32_t mask; /* 0: the thread ends */
    int32_t operation, argument, width;
} step;

/* A launch, with the steps of each thread and the values of the model. */
struct launch {
    int blocks, size[3];
    int threads; /* per block */
    step *steps;
    unsigned long long *x, *expected;
    uint64_t seed, drawn;
};

static uint32_t draw(struct launch *launch, uint32_t below)
{
    return (uint32_t)random_below(launch->seed, launch->drawn++, below);
}

/* ---- The steps ---- */

static int lanes_of(const struct launch *launch, int warp)
{
    int rest = launch->threads - 32 * warp;
    return rest < 32 ? rest : 32;
}

static uint32_t mask_of(int lanes)
{
    return lanes == 32 ? UINT32_MAX : (1u << lanes) - 1;
}

static int any_lane(struct launch *launch, uint32_t of)
{
    for (;;) {
        int lane = (int)draw(launch, 32);
        if (of >> lane & 1)
            return lane;
    }
}

/* Returns the lane from which a shuffle reads by the CUDA Programming Guide, or the lane itself if there is none. Of a
 * distance, the PTX instruction uses only the low five bits. */
static int source_of(const step *own, int lane)
{
    int first = lane / own->width * own->width, from;
    switch (own->operation % 4) {
    case SHUFFLE:
        return first + (int)((uint32_t)own->argument % (uint32_t)own->width);
    case UP:
        from = lane - own->argument % 32;
        return from < first ? lane : from;
    case DOWN:
        from = lane + own->argument % 32;
        return from >= first + own->width ? lane : from;
    default: /* lower segments can be read, but not higher ones */
        from = lane ^ own->argument % 32;
        return from >= first + own->width ? lane : from;
    }
}

/* Reading a lane that does not take part is undefined. If a lane would do so, all lanes read a lane that takes part. */
static void make_shuffle(struct launch *launch, step *steps, uint32_t group)
{
    int operation = (int)draw(launch, BALLOT), width = 1 << draw(launch, 6);
    int argument = (int)draw(launch, 80), is_defined = 1;
    for (int lane = 0; lane < 32; lane++) {
        if (!(group >> lane & 1))
            continue;
        int own = operation % 4 == SHUFFLE ? (int)draw(launch, 100) - 50 : argument;
        steps[lane] = (step){group, operation, own, width};
        is_defined &= group >> source_of(&steps[lane], lane) & 1;
    }
    for (int lane = 0; lane < 32 && !is_defined; lane++)
        if (group >> lane & 1)
            steps[lane] = (step){group, operation / 4 * 4 + SHUFFLE, any_lane(launch, group), 32};
}

/* Divides the lanes of a warp into groups, with one operation for each. A mask may also contain lanes that have ended
 * or do not exist. */
static void make_warp(struct launch *launch, step *steps, uint32_t living, uint32_t others)
{
    while (living) {
        uint32_t group = living;
        if (draw(launch, 3) == 0)
            group &= (uint32_t)random_bits(launch->seed, launch->drawn++);
        if (!group)
            continue;
        living &= ~group;
        if (draw(launch, 2)) {
            make_shuffle(launch, steps, group);
            continue;
        }
        int operation = BALLOT + (int)draw(launch, SYNC_WARP + 1 - BALLOT);
        uint32_t mask = group | (draw(launch, 4) ? 0 : others);
        for (int lane = 0; lane < 32; lane++)
            if (group >> lane & 1)
                steps[lane] = (step){mask, operation, 0, 32};
    }
}

static void make_steps(struct launch *launch)
{
    int warps = (launch->threads + 31) / 32, all = launch->blocks * launch->threads;
    for (int block = 0; block < launch->blocks; block++) {
        uint32_t living[32];
        for (int warp = 0; warp < warps; warp++)
            living[warp] = mask_of(lanes_of(launch, warp));
        for (int i = 0; i < STEPS; i++) {
            step *steps = &launch->steps[i * all + block * launch->threads];
            int for_block = draw(launch, 5) ? 0 : COUNT_BLOCK + (int)draw(launch, 3);
            for (int warp = 0; warp < warps; warp++) {
                if (draw(launch, 12) == 0)
                    living[warp] &= (uint32_t)random_bits(launch->seed, launch->drawn++);
                memset(&steps[32 * warp], 0, (size_t)lanes_of(launch, warp) * sizeof *steps);
                for (int lane = 0; lane < 32 && for_block; lane++)
                    if (living[warp] >> lane & 1)
                        steps[32 * warp + lane] = (step){1, for_block, 0, 0};
                if (!for_block)
                    make_warp(launch, &steps[32 * warp], living[warp], ~living[warp]);
            }
        }
    }
}

/* ---- The model ---- */

static unsigned long long fold(int operation, unsigned long long folded, unsigned long long next)
{
    uint32_t a = (uint32_t)folded, b = (uint32_t)next;
    switch (operation) {
    case ADD:
    case ADD_SIGNED:
        return a + b;
    case MIN:
        return a < b ? a : b;
    case MAX:
        return a > b ? a : b;
    case MIN_SIGNED:
        return (int32_t)a < (int32_t)b ? a : b;
    case MAX_SIGNED:
        return (int32_t)a > (int32_t)b ? a : b;
    case AND_BITS:
        return a & b;
    case OR_BITS:
        return a | b;
    default:
        return a ^ b;
    }
}

/* Returns the value that a lane contributes to a match, or its vote. */
static unsigned long long brought(int operation, unsigned long long value)
{
    switch (operation) {
    case BALLOT:
        return (value & 4) != 0;
    case ANY:
        return (value & 0xf0000000) == 0x10000000;
    case ALL:
    case MATCH_ANY:
        return operation == ALL ? (value & 3) != 0 : (value & 3);
    case MATCH_ANY_NARROW:
        return value >> 40 & 1;
    case MATCH_ALL:
        return value >> 63;
    default: /* MATCH_ALL_FLOATS and the operations that count in a block */
        return value & 1;
    }
}

static unsigned long long shuffled(const step *steps, const unsigned long long *x, int lane)
{
    unsigned long long value = x[source_of(&steps[lane], lane)];
    return steps[lane].operation < NARROW ? value : steps[lane].operation < OF_DOUBLES ? (uint32_t)value : value >> 32;
}

/* Returns the result of a lane in a warp of `count` lanes. Its group are the lanes with the same operation and mask. */
static unsigned long long in_warp(const step *steps, const unsigned long long *x, int lane, int count)
{
    const int operation = steps[lane].operation;
    if (operation < BALLOT)
        return shuffled(steps, x, lane);
    uint32_t voting = 0, equal = 0, group = 0;
    unsigned long long folded = 0;
    for (int other = 0; other < count; other++) {
        if (steps[other].mask != steps[lane].mask || !(steps[lane].mask >> other & 1))
            continue;
        unsigned long long value = brought(operation, x[other]);
        voting |= (uint32_t)(value != 0) << other;
        equal |= (uint32_t)(value == brought(operation, x[lane])) << other;
        folded = group ? fold(operation, folded, x[other]) : (uint32_t)x[other];
        group |= 1u << other;
    }
    switch (operation) {
    case BALLOT:
        return voting;
    case ANY:
        return voting != 0;
    case ALL:
        return voting == group;
    case MATCH_ANY:
    case MATCH_ANY_NARROW:
        return equal;
    case MATCH_ALL:
    case MATCH_ALL_FLOATS:
        return equal == group ? group * 8ull + 1 : 0;
    case SYNC_WARP:
        return x[lane];
    default:
        return folded;
    }
}

static unsigned long long in_block(const step *steps, const unsigned long long *x, int threads, int operation)
{
    unsigned int living = 0, odd = 0;
    for (int i = 0; i < threads; i++) {
        living += steps[i].mask != 0;
        odd += steps[i].mask != 0 && x[i] & 1;
    }
    return operation == COUNT_BLOCK ? odd : operation == AND_BLOCK ? odd == living : odd != 0;
}

static void model_step(struct launch *launch, int number, int block)
{
    int first = block * launch->threads;
    const step *steps = &launch->steps[number * launch->blocks * launch->threads + first];
    unsigned long long *x = launch->expected + first, before[1024];
    memcpy(before, x, (size_t)launch->threads * sizeof *x);
    for (int i = 0; i < launch->threads; i++) {
        if (!steps[i].mask)
            continue;
        int warp = i / 32 * 32;
        unsigned long long value = steps[i].operation >= COUNT_BLOCK
                                       ? in_block(steps, before, launch->threads, steps[i].operation)
                                       : in_warp(steps + warp, before + warp, i - warp, lanes_of(launch, i / 32));
        x[i] = value * 0x9e3779b97f4a7c15u + (unsigned long long)(number + first + i);
    }
}

/* ---- The test ---- */

/* Runs the first `count` steps and the model of them; returns the first thread with a different value, or -1. */
static int run_steps(struct launch *launch, int count)
{
    int all = launch->blocks * launch->threads;
    for (int i = 0; i < all; i++)
        launch->x[i] = launch->expected[i] = random_bits(launch->seed + 1, (uint64_t)i);
    for (int i = 0; i < count; i++)
        for (int block = 0; block < launch->blocks; block++)
            model_step(launch, i, block);
    assert_ok(warp_operations((const int *)(const void *)launch->steps, launch->x, count, launch->blocks,
                              launch->size[0], launch->size[1], launch->size[2]));
    for (int i = 0; i < all; i++)
        if (launch->x[i] != launch->expected[i])
            return i;
    return -1;
}

/* Computes an operation's result back from the value in x. */
static unsigned long long given(unsigned long long x, int number, int thread)
{
    const unsigned long long factor = 0x9e3779b97f4a7c15u;
    unsigned long long inverse = factor; /* right in 3 bits, then in twice as many after each step */
    for (int i = 0; i < 5; i++)
        inverse *= 2 - factor * inverse;
    return (x - (unsigned long long)(number + thread)) * inverse;
}

/* Makes the test fail, with the first step whose result is wrong. */
static void fail_at_first(struct launch *launch)
{
    int thread = -1, count = 0;
    while (count < STEPS && thread < 0)
        thread = run_steps(launch, ++count);
    if (thread < 0)
        fail_msg("seed %llu: all %d steps together are wrong, and are right one after the other",
                 (unsigned long long)launch->seed, STEPS);
    const step *own = &launch->steps[(count - 1) * launch->blocks * launch->threads + thread];
    fail_msg(
        "seed %llu, %d blocks of %d x %d x %d: step %d, operation %d of %x, argument %d, width %d, gives thread %d "
        "%llx, not %llx",
        (unsigned long long)launch->seed, launch->blocks, launch->size[0], launch->size[1], launch->size[2], count - 1,
        own->operation, own->mask, own->argument, own->width, thread, given(launch->x[thread], count - 1, thread),
        given(launch->expected[thread], count - 1, thread));
}

static void run(struct launch *launch)
{
    launch->threads = launch->size[0] * launch->size[1] * launch->size[2];
    size_t all = (size_t)(launch->blocks * launch->threads);
    launch->steps = malloc(STEPS * all * sizeof *launch->steps);
    launch->x = malloc(all * sizeof *launch->x);
    launch->expected = malloc(all * sizeof *launch->expected);
    assert_true(launch->steps && launch->x && launch->expected);
    make_steps(launch);
    if (run_steps(launch, STEPS) >= 0)
        fail_at_first(launch);
    free(launch->steps);
    free(launch->x);
    free(launch->expected);
}

TEST(warp_operations_give_what_cuda_says)
{
    static const int sizes[][3] = {{1, 1, 1},   {2, 1, 1},    {31, 1, 1},  {32, 1, 1},  {33, 1, 1}, {64, 1, 1},
                                   {100, 1, 1}, {256, 1, 1},  {8, 8, 1},   {5, 7, 3},   {16, 4, 2}, {1, 1, 37},
                                   {3, 50, 1},  {1024, 1, 1}, {32, 32, 1}, {10, 10, 10}};
    for (uint64_t round = 0; round < (SANITIZED ? 1 : 40); round++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            run(&(struct launch){.blocks = (int)(1 + round % 3),
                                 .size = {sizes[i][0], sizes[i][1], sizes[i][2]},
                                 .seed = 1000 * round + i});
}

TEST(warp_active_lanes_are_those_of_the_branch)
{
    for (int n = 1; n <= 1024; n = n * 2 + 1) {
        int kind[1024];
        uint32_t found[1024] = {0};
        for (int i = 0; i < n; i++)
            kind[i] = (int)random_below(7, (uint64_t)(i + n), 3);
        assert_ok(warp_active(kind, found, n));
        for (int i = 0; i < n; i++) {
            uint32_t with = 0;
            for (int j = i / 32 * 32; j < n && j < i / 32 * 32 + 32; j++)
                with |= (uint32_t)(kind[j] == kind[i]) << j % 32;
            if (kind[i] == 2)
                with = 0;
            /* a GPU may have split the lanes */
            if (on_cuda() && kind[i] != 2 ? (found[i] & ~with) || !(found[i] >> i % 32 & 1) : found[i] != with)
                fail_msg("lane %d of %d, kind %d: %x, not %x", i, n, kind[i], found[i], with);
        }
    }
}

TEST(warp_active_lanes_are_found_beside_a_barrier)
{
    uint32_t found[96];
    assert_ok(warp_active_beside_barrier(found, 96));
    for (int i = 0; i < 96; i++) {
        uint32_t with = i % 2 ? 0xaaaaaaaa : 0x55555555;
        assert_int_equal(found[i] & ~with, 0);
        assert_true(found[i] >> i % 32 & 1);
        if (!on_cuda())
            assert_int_equal(found[i], with);
    }
}

TEST(warp_lanes_that_take_no_part_give_0)
{
    for (int count = 1; count <= 32; count++) {
        double sum;
        assert_ok(warp_sum_of_first(&sum, count));
        assert_true(sum == count * (count + 1) / 2);
    }
}

/* On a GPU the behaviour is undefined. */
static void expect_failure(int status, const char *detail)
{
    assert_int_equal(status, CF_EFAULT);
    if (!strstr(cf_last_error(), detail))
        fail_msg("%s", cf_last_error());
}

TEST(warp_wrong_use_is_named)
{
    int y[32];
    need_cpu();
    expect_failure(warp_wrong_mask(y, 5), "block (0, 0, 0): a warp operation whose mask leaves its "
                                          "own lane out");
    assert_ok(warp_wrong_mask(y, 32));
    expect_failure(warp_wrong_operation(y, 9),
                   "thread (9, 0, 0) of block (0, 0, 0): lanes of one mask are at different "
                   "warp operations");
    assert_ok(warp_wrong_operation(y, 32));
    static const int bad[] = {0, -1, 3, 33, 64, 256, 288, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_failure(warp_shuffle_by(y, bad[i]), "a shuffle whose width is not a power of two up to 32");
    for (int width = 1; width <= 32; width *= 2) {
        assert_ok(warp_shuffle_by(y, width));
        for (int i = 0; i < 32; i++)
            assert_int_equal(y[i], (i ^ 1) / width <= i / width ? i ^ 1 : i);
    }
}

static int set_up(void **state)
{
    (void)state;
    if (!on_cuda())
        return cf_device_use(CF_HOST);
    played_gpu_add(&warp_registry);
    return 0;
}

int main(void)
{
    return run_all_tests(set_up, end_library);
}
