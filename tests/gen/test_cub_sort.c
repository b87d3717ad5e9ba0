/* test_cub_sort.c - the sorts, histograms and flags of cub_sort.cu have the same results as loops. */
#include "expect_all.h"

#include "data/random.h"

#include "cub_sort_kernels.h"

enum { MOST = 512 };

static void expect(const char *name, int row, int place, long long got, long long wanted)
{
    if (got != wanted)
        fail_msg("%s: row %d, element %d is %lld, not %lld", name, row, place, got, wanted);
}

/* Sorts the numbers 0 to count - 1 by their weights; numbers with equal weights keep their order. */
static void order_by(const uint64_t *weights, int count, int is_descending, int *order)
{
    for (int i = 0; i < count; i++) {
        int at = i;
        for (; at > 0 && (is_descending ? weights[order[at - 1]] < weights[i] : weights[order[at - 1]] > weights[i]);
             at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* ---- Sorts by bits ---- */

typedef enum number { UNSIGNED, SIGNED, REAL } number;

/* Returns the bits `begin` to `end` - 1 of a key, converted so that they have the numbers' order; both zeros count as
 * +0. */
static uint64_t weight_of(uint64_t key, int bits, number kind, int begin, int end)
{
    const uint64_t top = (uint64_t)1 << (bits - 1), all = top | (top - 1);
    if (kind == SIGNED)
        key ^= top;
    else if (kind == REAL && (key & (top - 1)) == 0)
        key = top;
    else if (kind == REAL)
        key = key & top ? ~key & all : key | top;
    if (end < bits)
        key &= ((uint64_t)1 << end) - 1;
    return key >> begin;
}

static const struct {
    const char *name;
    int (*run)(const uint64_t *keys, int begin, int end, uint64_t *sorted, int *numbers);
    int threads, items, bits;
    number kind;
} radix_sorts[] = {
    {"i32", cub_sort_radix_sorts_i32, 64, 3, 32, SIGNED},  {"u8", cub_sort_radix_sorts_u8, 40, 2, 8, UNSIGNED},
    {"u32", cub_sort_radix_sorts_u32, 1, 5, 32, UNSIGNED}, {"i64", cub_sort_radix_sorts_i64, 32, 1, 64, SIGNED},
    {"f64", cub_sort_radix_sorts_f64, 96, 2, 64, REAL},    {"f16", cub_sort_radix_sorts_f16, 64, 4, 16, REAL},
};

static void check_radix(size_t k, int begin, int end)
{
    const int threads = radix_sorts[k].threads, items = radix_sorts[k].items, count = threads * items;
    const int bits = radix_sorts[k].bits;
    static uint64_t keys[MOST], sorted[8 * MOST], weights[MOST];
    static int numbers[4 * MOST], order[MOST];
    for (int i = 0; i < count; i++) {
        keys[i] = random_bits(k, (uint64_t)i) >> (64 - bits);
        if (i % 5 == 0) /* zeros of both signs, and keys that are equal */
            keys[i] = i % 2 ? (uint64_t)1 << (bits - 1) : 0;
        else if (i % 7 == 0)
            keys[i] = keys[i - 1];
    }
    if (radix_sorts[k].run(keys, begin, end, sorted, numbers) != CF_OK)
        fail_msg("%s: %s", radix_sorts[k].name, cf_last_error());
    for (int row = 0; row < 8; row++) {
        const int is_descending = row % 2, is_striped = row % 4 >= 2;
        for (int i = 0; i < count; i++)
            weights[i] = weight_of(keys[i], bits, radix_sorts[k].kind, begin, end);
        order_by(weights, count, is_descending, order);
        for (int i = 0; i < count; i++) {
            const int wanted = order[is_striped ? i / items + i % items * threads : i];
            expect(radix_sorts[k].name, row, i, (long long)sorted[row * count + i], (long long)keys[wanted]);
            if (row >= 4)
                expect(radix_sorts[k].name, row, i, numbers[(row - 4) * count + i], wanted);
        }
    }
}

TEST(sorts_by_bits_are_stable)
{
    for (size_t k = 0; k < sizeof radix_sorts / sizeof *radix_sorts; k++) {
        check_radix(k, 0, radix_sorts[k].bits);
        check_radix(k, 3, radix_sorts[k].bits - 1);
        check_radix(k, radix_sorts[k].bits - 3, radix_sorts[k].bits);
    }
}

TEST(sorts_by_members_compare_the_first_first)
{
    int keys[128], numbers[4 * 128], order[128];
    uint64_t weights[128];
    for (int i = 0; i < 128; i++)
        keys[i] = (int)random_integer(9, (uint64_t)i, -(3 << 8), 3 << 8);
    assert_ok(cub_sort_member_sorts(keys, 5, 10, numbers));
    for (int row = 0; row < 4; row++) {
        for (int i = 0; i < 128; i++)
            weights[i] = weight_of((uint64_t)keys[i] & 0xffffff, 24, SIGNED, row < 2 ? 0 : 5, row < 2 ? 24 : 10);
        order_by(weights, 128, row % 2, order);
        for (int i = 0; i < 128; i++)
            expect("members", row, i, numbers[row * 128 + i], order[i]);
    }
}

TEST(sorts_of_two_classes_have_their_own_memory)
{
    int keys[128], sorted[2 * 128], order[128];
    uint64_t weights[128];
    for (int i = 0; i < 128; i++) {
        keys[i] = (int)random_integer(10, (uint64_t)i, 0, 1000);
        weights[i] = (uint64_t)keys[i];
    }
    assert_ok(cub_sort_two_sorts(keys, sorted));
    order_by(weights, 128, 0, order);
    for (int i = 0; i < 128; i++) {
        expect("by bits", 0, i, sorted[i], keys[order[i]]);
        expect("by comparison", 1, i, sorted[128 + i], -keys[order[127 - i]]);
    }
}

/* ---- Sorts by comparison ---- */

static const struct {
    const char *name;
    int (*run)(const int *keys, int valid, int *sorted, int *numbers);
    int threads, items; /* numbers of threads and items that are sorted together */
} merges[] = {
    {"block_3", cub_sort_block_merge_items_3, 64, 3}, {"block_1", cub_sort_block_merge_items_1, 64, 1},
    {"warp_32", cub_sort_warp_merge_of_32, 32, 3},    {"warp_8", cub_sort_warp_merge_of_8, 8, 5},
    {"warp_2", cub_sort_warp_merge_of_2, 2, 1},
};

static void check_merge(size_t k, int valid)
{
    const int count = 64 * merges[k].items, together = merges[k].threads * merges[k].items;
    static int keys[MOST], sorted[4 * MOST], numbers[4 * MOST], order[MOST];
    static uint64_t weights[MOST];
    for (int i = 0; i < count; i++)
        keys[i] = (int)random_integer(k, (uint64_t)i, 0, 300);
    if (merges[k].run(keys, valid, sorted, numbers) != CF_OK)
        fail_msg("%s: %s", merges[k].name, cf_last_error());
    for (int row = 0; row < 4; row++)
        for (int from = 0; from < count; from += together) {
            const int sorting = row < 2 ? together : valid;
            for (int i = 0; i < sorting; i++)
                weights[i] = (uint64_t)(keys[from + i] / 10);
            order_by(weights, sorting, 0, order);
            for (int i = 0; i < sorting; i++) {
                const int at = row * count + from + i, wanted = from + order[i];
                expect(merges[k].name, row, from + i, sorted[at], keys[wanted]);
                if (row % 2)
                    expect(merges[k].name, row, from + i, numbers[at], wanted);
            }
        }
}

TEST(sorts_by_comparison_are_stable)
{
    for (size_t k = 0; k < sizeof merges / sizeof *merges; k++) {
        const int together = merges[k].threads * merges[k].items;
        check_merge(k, 1);
        check_merge(k, together / 2 + 1);
        check_merge(k, together);
    }
}

/* ---- Histograms ---- */

TEST(histograms_count_every_item)
{
    unsigned char bytes[480];
    int x[480], counts[50];
    for (int round = 0; round < 3; round++) {
        const int count = round == 0 ? 192 : round == 1 ? 480 : 384;
        int wanted[50] = {0};
        for (int i = 0; i < count; i++) {
            x[i] = (int)random_integer(11, (uint64_t)i, 0, 50);
            bytes[i] = (unsigned char)x[i];
            wanted[x[i]]++;
        }
        if (round < 2)
            assert_ok((round == 0 ? cub_sort_histogram_sort : cub_sort_histogram_atomic)(bytes, counts));
        else
            assert_ok(cub_sort_histogram_wide(x, counts));
        for (int i = 0; i < 50; i++)
            expect("histogram", round, i, counts[i], wanted[i]);
    }
}

/* ---- Flags ---- */

static void check_flags(const char *name, const int *x, const int *results, int count, int before, int after)
{
    for (int i = 0; i < count; i++) {
        const int is_head = i == 0 || x[i] != x[i - 1], is_tail = i == count - 1 || x[i] != x[i + 1];
        const int head = i == 0 ? x[i] != before : is_head, tail = i == count - 1 ? x[i] != after : is_tail;
        const int wanted[17] = {
            is_head,
            head,
            is_tail,
            tail,
            is_head,
            is_tail,
            is_head,
            tail,
            head,
            is_tail,
            head,
            tail,
            is_head || i % 3 == 0,
            is_tail || (i + 1) % 3 == 0,
            i > 0 ? x[i - 1] : -1,
            head,
            i > 0 ? x[i - 1] : before,
        };
        for (int row = 0; row < 17; row++)
            expect(name, row, i, results[row * count + i], wanted[row]);
    }
}

TEST(flags_are_where_items_differ)
{
    int x[90], results[17 * 90];
    double reals[90];
    for (int i = 0; i < 90; i++)
        reals[i] = x[i] = (int)random_integer(13, (uint64_t)i, 0, 2);
    for (int same = 0; same < 2; same++) {
        assert_ok(cub_sort_flags_i32(x, same, same, results));
        check_flags("i32", x, results, 64, same, same);
        assert_ok(cub_sort_flags_f64(reals, same, same, results));
        check_flags("f64", x, results, 90, same, same);
        assert_ok(cub_sort_flags_one(x, same, same, results));
        check_flags("one", x, results, 2, same, same);
    }
}

int main(void)
{
    return run_played(&cub_sort_registry, NULL);
}
