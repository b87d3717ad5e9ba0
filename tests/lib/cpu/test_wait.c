/* test_wait.c - random programs whose threads wait for one another in all ways that the CPU supports, compared with a
 * serial model: partial masks, lanes that end early, and barriers for some threads, in several orders. */
#include "run_group.h"

#include "wait_kernels.h"

enum { BLOCKS = 3, MOST = 1024, STEPS = 50, PROGRAMS = SANITIZED ? 60 : 1000 };

static uint64_t state_of_random;

static uint32_t below(uint32_t end)
{
    state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state_of_random >> 33) % end;
}

static uint32_t any_bits(void)
{
    return below(0x10000) << 16 | below(0x10000);
}

/* ---- The model ---- */

static struct {
    int blocks, threads, count;
    struct step steps[STEPS];
    struct meeting meetings[MEETINGS];
    uint32_t value[BLOCKS][MOST];
    char has_ended[MOST]; /* the same threads have ended in all blocks */
} model;

static int takes_part(uint32_t lanes, uint32_t warps, int thread)
{
    return (lanes >> thread % 32 & 1) && (warps >> thread / 32 & 1);
}

static void get(int block, int thread, uint32_t result)
{
    model.value[block][thread] = model.value[block][thread] * 31 + result;
}

/* Returns the lanes of a warp that have not ended. */
static uint32_t alive(int warp)
{
    uint32_t lanes = 0;
    for (int thread = 32 * warp; thread < 32 * (warp + 1) && thread < model.threads; thread++)
        lanes |= (uint32_t)!model.has_ended[thread] << thread % 32;
    return lanes;
}

/* Returns the result of a shuffle; the value is 0 if the source lane takes no part. */
static uint64_t shuffled(const struct step *step, const uint32_t *values, uint32_t lanes, int lane)
{
    int width = (int)step->width, first = lane & ~(width - 1), last = first + width - 1, from = lane;
    int distance = (int)step->argument & 31;
    switch (step->kind) {
    case STEP_SHUFFLE:
        from = first | (distance & (width - 1));
        break;
    case STEP_SHUFFLE_UP:
        from = lane - distance < first ? lane : lane - distance;
        break;
    case STEP_SHUFFLE_DOWN:
        from = lane + distance > last ? lane : lane + distance;
        break;
    default:
        from = (lane ^ distance) > last ? lane : lane ^ distance;
    }
    return lanes >> from & 1 ? values[from] : 0;
}

/* Returns the result of lane `lane` in a warp operation. `lanes` are the lanes that take part, `values` their
 * operands. */
static uint32_t of_warp(const struct step *step, const uint32_t *values, uint32_t lanes, int lane)
{
    uint32_t ballot = 0, same = 0, all = 1, sum = 0;
    int32_t least = INT32_MAX;
    for (int other = 0; other < 32; other++)
        if (lanes >> other & 1) {
            ballot |= (values[other] & 1) << other;
            same |= (uint32_t)((values[other] & 3) == (values[lane] & 3)) << other;
            all &= values[other] >> 31 == values[lane] >> 31;
            sum += values[other];
            least = (int32_t)values[other] < least ? (int32_t)values[other] : least;
        }
    switch (step->kind) {
    case STEP_SYNC_WARP:
        return 0;
    case STEP_BALLOT:
        return ballot;
    case STEP_MATCH_ANY:
        return same;
    case STEP_MATCH_ALL:
        return all ? lanes + 1 : 0;
    case STEP_SUM:
        return sum;
    case STEP_LEAST:
        return (uint32_t)least;
    case STEP_SHUFFLE_DOWN: {
        uint64_t value = shuffled(step, values, lanes, lane);
        return (uint32_t)((value << 20 | value) >> 3);
    }
    default:
        return (uint32_t)shuffled(step, values, lanes, lane);
    }
}

static void take_in_warps(const struct step *step)
{
    for (int block = 0; block < model.blocks; block++)
        for (int warp = 0; 32 * warp < model.threads; warp++) {
            uint32_t lanes = step->warps >> warp & 1 ? step->lanes & alive(warp) : 0, before[32];
            memcpy(before, &model.value[block][32 * warp], sizeof before);
            for (int lane = 0; lane < 32; lane++)
                if (lanes >> lane & 1)
                    get(block, 32 * warp + lane, of_warp(step, before, lanes, lane));
        }
}

static uint32_t of_others(const uint32_t *values, int thread, uint32_t distance)
{
    uint32_t sum = 0;
    for (uint32_t i = 1; i < 4; i++) {
        uint32_t other = ((uint32_t)thread + i * distance) % (uint32_t)model.threads;
        sum += model.has_ended[other] ? 0 : values[other];
    }
    return sum;
}

static void take_in_block(const struct step *step, int block)
{
    uint32_t count = 0, all = 1, any = 0, argument = step->argument, before[MOST];
    memcpy(before, model.value[block], sizeof before);
    for (int thread = 0; thread < model.threads; thread++)
        if (!model.has_ended[thread]) {
            count += before[thread] & 1;
            all &= (before[thread] & argument) != 0;
            any |= (before[thread] & argument) == argument;
        }
    for (int thread = 0; thread < model.threads; thread++)
        if (!model.has_ended[thread] && takes_part(step->lanes, step->warps, thread))
            get(block, thread,
                step->kind == STEP_COUNT    ? count
                : step->kind == STEP_AND    ? all
                : step->kind == STEP_OR     ? any
                : step->kind == STEP_SHARED ? of_others(before, thread, argument)
                : step->kind == STEP_ALONE  ? argument
                                            : 0);
}

static void take(const struct step *step)
{
    if (step->kind < STEP_BARRIER) {
        take_in_warps(step);
    } else if (step->kind == STEP_END) {
        for (int thread = 0; thread < model.threads; thread++)
            model.has_ended[thread] |= (char)takes_part(step->lanes, step->warps, thread);
    } else {
        for (int block = 0; block < model.blocks; block++)
            take_in_block(step, block);
    }
}

/* ---- Programs ---- */

static uint32_t any_lanes(void)
{
    switch (below(6)) {
    case 0:
    case 1:
        return ~0u;
    case 2:
        return any_bits();
    case 3:
        return 0xffu << 8 * below(4);
    case 4:
        return 0x55555555u << below(2);
    default:
        return any_bits() & any_bits();
    }
}

static uint32_t any_warps(void)
{
    return below(3) ? ~0u : any_bits();
}

/* Returns a mask that may or may not contain lanes that have ended. */
static uint32_t mask_of(const struct step *step)
{
    uint32_t ended = ~0u;
    for (int warp = 0; 32 * warp < model.threads; warp++)
        ended &= step->warps >> warp & 1 ? ~alive(warp) : ~0u;
    return step->lanes | (ended & any_bits());
}

static struct step any_step(void)
{
    struct step step = {below(STEP_KINDS), any_lanes(), any_warps(), 0, below(32), 1u << below(6)};
    const struct meeting *meeting = &model.meetings[step.argument % MEETINGS];
    if (step.kind < STEP_BARRIER)
        step.mask = mask_of(&step);
    else if (step.kind < STEP_MEET)
        step.lanes = step.warps = ~0u;
    if (step.kind == STEP_AND || step.kind == STEP_OR)
        step.argument = 1u << below(4) | 1u << below(4);
    if (step.kind == STEP_MEET)
        step = (struct step){STEP_MEET, meeting->lanes, meeting->warps, 0, step.argument % MEETINGS, 0};
    if (step.kind == STEP_END) /* only few lanes end */
        step.lanes &= any_bits() & any_bits();
    return step;
}

static void make_program(void)
{
    static const int sizes[] = {1, 31, 32, 33, 64, 100, 256, 1000, 1024};
    model.blocks = 1 + (int)below(BLOCKS);
    model.threads = below(2) ? sizes[below(sizeof sizes / sizeof *sizes)] : 1 + (int)below(200);
    model.count = 1 + (int)below(STEPS);
    memset(model.has_ended, 0, sizeof model.has_ended);
    for (int i = 0; i < MEETINGS; i++) {
        model.meetings[i] = (struct meeting){any_lanes(), any_warps(), 0};
        for (int thread = 0; thread < model.threads; thread++)
            model.meetings[i].count += (uint32_t)takes_part(model.meetings[i].lanes, model.meetings[i].warps, thread);
    }
    for (int block = 0; block < model.blocks; block++)
        for (int thread = 0; thread < model.threads; thread++)
            model.value[block][thread] = ((uint32_t)(block * model.threads + thread) + 1) * 2654435761u;
    for (int i = 0; i < model.count; i++) {
        model.steps[i] = any_step();
        take(&model.steps[i]);
    }
}

static void run_program(uint32_t seed)
{
    static uint32_t values[BLOCKS * MOST];
    uint32_t wrong = 0;
    state_of_random = seed;
    make_program();
    memset(values, 0xee, sizeof values);
    if (wait_run(model.steps, model.count, model.meetings, &wrong, values, model.blocks, model.threads) != CF_OK)
        fail_msg("program %u: %s", seed, cf_last_error());
    if (wrong)
        fail_msg("program %u: %u threads are not in their own __activemask(), or its lanes do not come", seed, wrong);
    for (int block = 0; block < model.blocks; block++)
        for (int thread = 0; thread < model.threads; thread++)
            if (values[block * model.threads + thread] != model.value[block][thread])
                fail_msg("program %u of %d threads: thread %d of block %d has %u, not %u", seed, model.threads, thread,
                         block, values[block * model.threads + thread], model.value[block][thread]);
}

static void run_programs(uint32_t first, int count)
{
    for (int i = 0; i < count; i++)
        run_program(first + (uint32_t)i);
}

TEST(wait_gives_what_a_serial_model_does)
{
    run_programs(1, PROGRAMS);
}

TEST(wait_gives_the_same_in_other_orders)
{
    static const char *const orders[] = {"1", "7", "4294967294", "reverse"};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        assert_int_equal(setenv("CF_HOST_ORDER", orders[i], 1), 0);
        assert_ok(cf_shutdown());
        assert_ok(cf_device_use(CF_HOST));
        run_programs(100000 * (uint32_t)(i + 1), PROGRAMS / 4);
    }
    assert_int_equal(unsetenv("CF_HOST_ORDER"), 0);
}

int main(void)
{
    return run_all_tests(use_cpu, end_library);
}
