/* test_cub_move.c - the loads, stores, exchanges and shuffles of cub_move.cu move every item to its place. */
#include "expect_all.h"

#include "data/random.h"

#include "cub_move_kernels.h"

enum { MOST = 1024, OLD = -7 };

/* Kernels of floating-point types, called with arrays of integers. */
#define OF_TYPE(T, name, kernel, count, rows)         \
    static int name(int *x, int scalar, int *results) \
    {                                                 \
        static T from[MOST], to[(rows)*MOST];         \
        for (int i = 0; i < (count); i++)             \
            from[i] = (T)x[i];                        \
        for (int i = 0; i < (rows) * (count); i++)    \
            to[i] = (T)results[i];                    \
        const int status = kernel;                    \
        for (int i = 0; i < (count); i++)             \
            x[i] = (int)from[i];                      \
        for (int i = 0; i < (rows) * (count); i++)    \
            results[i] = (int)to[i];                  \
        (void)scalar;                                 \
        return status;                                \
    }

static void expect(const char *name, int row, int place, int got, int wanted)
{
    if (got != wanted)
        fail_msg("%s: row %d, element %d is %d, not %d", name, row, place, got, wanted);
}

/* Returns the place in the block of item i of thread t, if the items of `width` threads alternate. */
static int striped(int t, int i, int width, int items)
{
    return t / width * width * items + t % width + i * width;
}

/* Returns the number of the item at a place in that arrangement; items are numbered in the order of threads. */
static int item_at(int place, int width, int items)
{
    const int part = place / (width * items) * width, inside = place % (width * items);
    return (part + inside % width) * items + inside / width;
}

/* ---- Loads and stores ---- */

OF_TYPE(int, direct, cub_move_loads_direct(from, scalar, to), 72, 6)
OF_TYPE(float, alternating, cub_move_loads_striped(from, scalar, to), 192, 6)
OF_TYPE(int, vectorize, cub_move_loads_vectorize(from, scalar, to), 256, 6)
OF_TYPE(double, transpose, cub_move_loads_transpose(from, scalar, to), 120, 6)
OF_TYPE(float, warp, cub_move_loads_warp(from, scalar, to), 320, 6)
OF_TYPE(int, sliced, cub_move_loads_sliced(from, scalar, to), 192, 6)

static const struct {
    const char *name;
    int (*run)(int *x, int valid, int *results);
    int threads, items, is_striped;
} loads[] = {
    {"direct", direct, 24, 3, 0},       {"striped", alternating, 64, 3, 1}, {"vectorize", vectorize, 64, 4, 0},
    {"transpose", transpose, 40, 3, 0}, {"warp", warp, 64, 5, 0},           {"sliced", sliced, 96, 2, 0},
};

TEST(loads_and_stores_of_every_algorithm_keep_to_their_places)
{
    for (size_t k = 0; k < sizeof loads / sizeof *loads; k++) {
        const int threads = loads[k].threads, items = loads[k].items, count = threads * items;
        const int valids[] = {0, 1, count / 2 + 1, count};
        for (int v = 0; v < 4; v++) {
            static int x[MOST], results[6 * MOST];
            for (int i = 0; i < count; i++)
                x[i] = 1000 + i;
            for (int i = 0; i < 6 * count; i++)
                results[i] = OLD;
            if (loads[k].run(x, valids[v], results) != CF_OK)
                fail_msg("%s: %s", loads[k].name, cf_last_error());
            for (int i = 0; i < count; i++) {
                const int place = loads[k].is_striped ? striped(i / items, i % items, threads, items) : i;
                const int is_valid = place < valids[v];
                expect(loads[k].name, 0, i, results[i], x[place]);
                expect(loads[k].name, 1, i, results[count + i], x[i]);
                if (is_valid)
                    expect(loads[k].name, 2, i, results[2 * count + i], x[place]);
                expect(loads[k].name, 3, i, results[3 * count + i], i < valids[v] ? x[i] : OLD);
                expect(loads[k].name, 4, i, results[4 * count + i], is_valid ? x[place] : -1);
                expect(loads[k].name, 5, i, results[5 * count + i], i < valids[v] ? x[i] : -1);
            }
        }
    }
}

TEST(warps_load_and_store_in_place)
{
    static const int widths[] = {32, 8, 16};
    for (int k = 0; k < 3; k++)
        for (int valid = 0; valid <= widths[k] * 3; valid += 7) {
            int x[64 * 3];
            float reals[64 * 3];
            for (int i = 0; i < 64 * 3; i++)
                reals[i] = (float)(x[i] = i);
            if (k == 1)
                assert_ok(cub_move_warp_loads_striped(reals, valid));
            else
                assert_ok((k == 0 ? cub_move_warp_loads_direct : cub_move_warp_loads_transpose)(x, valid));
            for (int i = 0; i < 64 * 3; i++)
                expect("warp_loads", k, i, k == 1 ? (int)reals[i] : x[i], 100 + (i % (widths[k] * 3) < valid ? i : -1));
        }
}

/* ---- Exchanges ---- */

OF_TYPE(int, exchange_i32, cub_move_exchanges_i32(from, scalar, to), 192, 12)
OF_TYPE(int, exchange_sliced, cub_move_exchanges_sliced(from, scalar, to), 288, 12)

static int exchange_f64(int *ranks, int limit, int *results)
{
    static double to[12 * 256];
    const int status = cub_move_exchanges_f64(ranks, limit, to);
    for (int i = 0; i < 12 * 256; i++)
        results[i] = (int)to[i];
    return status;
}

static const struct {
    const char *name;
    int (*run)(int *ranks, int limit, int *results);
    int threads, items, is_sliced;
} exchanges[] = {
    {"i32", exchange_i32, 64, 3, 0},
    {"f64", exchange_f64, 64, 4, 0},
    {"sliced", exchange_sliced, 96, 3, 1},
};

TEST(exchanges_of_blocks_move_every_item)
{
    for (size_t k = 0; k < sizeof exchanges / sizeof *exchanges; k++) {
        const char *name = exchanges[k].name;
        const int threads = exchanges[k].threads, items = exchanges[k].items, count = threads * items;
        static int ranks[MOST], of_rank[MOST], results[12 * MOST];
        for (int i = 0; i < count; i++) {
            ranks[i] = (int)random_permuted(3, (uint64_t)i, (uint64_t)count);
            of_rank[ranks[i]] = i;
        }
        const int limit = count * 2 / 3;
        if (exchanges[k].run(ranks, limit, results) != CF_OK)
            fail_msg("%s: %s", name, cf_last_error());
        for (int i = 0; i < count; i++) {
            const int place = striped(i / items, i % items, threads, items);
            const int in_warp = striped(i / items, i % items, 32, items);
            const int wanted[] = {item_at(i, threads, items),
                                  place,
                                  item_at(i, 32, items),
                                  in_warp,
                                  of_rank[i],
                                  of_rank[place],
                                  of_rank[place],
                                  of_rank[place]};
            for (int row = 0; row < 8; row++) {
                const int is_known = row < 6 || (!exchanges[k].is_sliced && place < limit);
                if (is_known)
                    expect(name, row, i, results[row * count + i], wanted[row]);
            }
            expect(name, 8, i, results[8 * count + i], wanted[0]);
            expect(name, 9, i, results[9 * count + i], i);
            expect(name, 10, i, results[10 * count + i], in_warp);
            const int source = of_rank[i];
            expect(name, 11, i, results[11 * count + i], striped(source / items, source % items, 32, items));
        }
    }
}

static void check_warps(const char *name, int width, int items, int is_shuffle, const int *results)
{
    const int count = 64 * items, part = width * items;
    for (int i = 0; i < count; i++) {
        const int place = striped(i / items, i % items, width, items);
        expect(name, 0, i, results[i], place);
        expect(name, 1, i, results[count + i], item_at(i, width, items));
        expect(name, 2, i, results[2 * count + i],
               is_shuffle ? item_at(i, width, items) : place / part * part + part - 1 - place % part);
    }
}

TEST(exchanges_of_warps_move_every_item)
{
    static int whole[3 * 64 * 8];
    double reals[3 * 64 * 5];
    float singles[3 * 64 * 8];
    assert_ok(cub_move_warp_exchanges_i32_32(whole));
    check_warps("i32_32", 32, 3, 0, whole);
    assert_ok(cub_move_warp_exchanges_f64_8(reals));
    for (int i = 0; i < 3 * 64 * 5; i++)
        whole[i] = (int)reals[i];
    check_warps("f64_8", 8, 5, 0, whole);
    assert_ok(cub_move_warp_exchanges_i32_4(whole));
    check_warps("i32_4", 4, 4, 1, whole);
    assert_ok(cub_move_warp_exchanges_f32_8(singles));
    for (int i = 0; i < 3 * 64 * 8; i++)
        whole[i] = (int)singles[i];
    check_warps("f32_8", 8, 8, 1, whole);
}

/* ---- Neighbours ---- */

OF_TYPE(int, neighbours_i32, cub_move_neighbours_i32(from, scalar, to), 64, 14)
OF_TYPE(double, neighbours_f64, cub_move_neighbours_f64(from, scalar, to), 180, 14)
OF_TYPE(int, neighbours_one, cub_move_neighbours_one(from, scalar, to), 2, 14)

/* Returns the difference of the items i and `other`, if there is such an item. */
static int difference(const int *x, int count, int i, int other, int beyond)
{
    return other >= 0 && other < count ? x[i] - x[other] : beyond ? x[i] - beyond : x[i];
}

static void check_neighbours(const char *name, int (*run)(int *x, int valid, int *results), int threads)
{
    static int x[MOST], results[14 * MOST];
    const int count = 2 * threads;
    for (int i = 0; i < count; i++)
        x[i] = (int)random_integer(5, (uint64_t)i, 0, 1000);
    const int valids[] = {0, 1, count / 2, count};
    for (int v = 0; v < 4; v++) {
        const int valid = valids[v];
        if (run(x, valid, results) != CF_OK)
            fail_msg("%s: %s", name, cf_last_error());
        for (int i = 0; i < count; i++) {
            const int t = i / 2, is_second = i % 2, turned = threads > 3 ? (t + 3) % threads : t;
            const int up = i > 0 ? x[i - 1] : -99, down = i < count - 1 ? x[i + 1] : -99;
            const int is_left = i < valid, is_right = i < valid - 1;
            const int wanted[14] = {
                !is_second && t + 1 < threads ? x[i + 2] : -99,
                !is_second && t >= 2 ? x[i - 4] : -99,
                !is_second ? x[2 * turned] : -99,
                up,
                is_second ? up : x[count - 1],
                down,
                is_second ? x[0] : down,
                difference(x, count, i, i - 1, 0),
                difference(x, count, i, i - 1, 50),
                is_left ? difference(x, count, i, i - 1, 0) : x[i],
                is_left ? difference(x, count, i, i - 1, 50) : x[i],
                difference(x, count, i, i + 1, 0),
                difference(x, count, i, i + 1, 50),
                is_right ? difference(x, count, i, i + 1, 0) : x[i],
            };
            for (int row = 0; row < 14; row++)
                expect(name, row, i, results[row * count + i], wanted[row]);
        }
    }
}

TEST(neighbours_get_each_others_items)
{
    check_neighbours("i32", neighbours_i32, 32);
    check_neighbours("f64", neighbours_f64, 90);
    check_neighbours("one", neighbours_one, 1);
}

int main(void)
{
    return run_played(&cub_move_registry, NULL);
}
