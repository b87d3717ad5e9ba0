/* sort.c - enqueues a sort: one launch for few keys, else one that counts, and one or more for each 8 bits */
#include "cuferry/kernels_internal.h"

#include "sort.h"

/* ---- Shapes: sizes of keys and values in bytes ---- */

struct shape {
    int key, value; /* bytes; value is 0 if there are none */
    int64_t tile, part;
    int (*small[2])(cf_stream, const void *, void *, const void *, void *, int, int64_t, uint64_t,
                    bool); /* for at most SORT_SMALL and SORT_SMALL_FEW keys */
    int (*count)(cf_stream, const void *, uint64_t *, uint64_t *, int64_t *, int64_t, uint64_t, bool);
    int (*pass)(cf_stream, const void *, void *, const void *, void *, const int64_t *, int64_t *, void *, void *,
                int64_t, int64_t, int64_t, int64_t, int, uint64_t, bool);
};

#define SHAPE(key, value, bits, pass)                                                                       \
    {                                                                                                       \
        key, value, SORT_TILE(key, value), SORT_PART(key, value),                                           \
            {cf_sort_small_##bits##_async, cf_sort_small_##bits##_few_async}, cf_sort_count_##bits##_async, \
            cf_sort_pass_##pass##_async                                                                     \
    }

static const struct shape shapes[2][3] = {
    {SHAPE(4, 0, u32, u32), SHAPE(4, 4, u32, u32_b32), SHAPE(4, 8, u32, u32_b64)},
    {SHAPE(8, 0, u64, u64), SHAPE(8, 4, u64, u64_b32), SHAPE(8, 8, u64, u64_b64)},
};

/* ---- Orders: inverted bits of a key ---- */

enum kind { UNSIGNED, SIGNED, FLOAT };

static uint64_t flip_of(enum kind kind, int key, bool descending)
{
    const uint64_t sign = UINT64_C(1) << (8 * key - 1);
    return (kind == SIGNED ? sign : 0) ^ (descending ? UINT64_MAX : 0);
}

/* ---- A sort ---- */

/* Keys and values go from the first array to the second, then to the third, and on between the second and third by
 * turns, as often as a key has bytes, an even number. Values that are NULL at first are indices; keys may be NULL in
 * the end. */
struct arrays {
    const void *keys, *values;
    void *other_keys, *other_values;
    void *back_keys, *back_values; /* the third array, until the last pass */
    void *sorted_keys, *sorted_values;
};

struct sort {
    const struct shape *shape;
    int64_t n, tiles; /* keys; tiles of a launch, at most */
    uint64_t flip;
    bool is_float;
    /* Scratch memory: see sort.h. */
    uint64_t *counters, *counts, *words[2];
    int64_t *begins, *carried;
    int turn; /* index of the next launch's words */
};

/* A pass has as few launches as possible, of about the same length. */
static struct sort sort_of(const struct shape *shape, enum kind kind, uint64_t *work, int64_t n, bool descending)
{
    const int64_t launches = (n - 1) / shape->part + 1, tiles = (n - 1) / launches / shape->tile + 1;
    uint64_t *counts = work + SORT_COUNTERS, *words = counts + SORT_DIGITS * shape->key;
    int64_t *begins = (int64_t *)(words + SORT_DIGITS / 2 * tiles), *carried = begins + SORT_DIGITS * shape->key;
    return (struct sort){.shape = shape,
                         .n = n,
                         .tiles = tiles,
                         .flip = flip_of(kind, shape->key, descending),
                         .is_float = kind == FLOAT,
                         .counters = work,
                         .counts = counts,
                         .words = {words, (uint64_t *)(carried + (ptrdiff_t)2 * SORT_DIGITS)},
                         .begins = begins,
                         .carried = carried};
}

static const void *beyond(const void *array, int64_t elements, int bytes)
{
    return array ? (const char *)array + elements * bytes : NULL;
}

/* Enqueues the launches for one digit. */
static int pass(cf_stream stream, struct sort *sort, int number, const void *keys, void *sorted, const void *values,
                void *moved)
{
    const struct shape *shape = sort->shape;
    const int64_t n = sort->n, most = sort->tiles * shape->tile;
    const int64_t *begins = sort->begins + (ptrdiff_t)number * SORT_DIGITS;
    int status = CF_OK;
    for (int64_t done = 0, part = 0; status == CF_OK && done < n; done += most, part++) {
        const int64_t count = n - done < most ? n - done : most;
        int64_t *next = sort->carried + part % 2 * SORT_DIGITS;
        status = shape->pass(stream, beyond(keys, done, shape->key), sorted, beyond(values, done, shape->value), moved,
                             begins, next, sort->words[sort->turn], sort->words[!sort->turn], count, sort->tiles, n,
                             done, 8 * number, sort->flip, sort->is_float);
        begins = next;
        sort->turn = !sort->turn;
    }
    return status;
}

static int enqueue(cf_stream stream, const struct shape *shape, enum kind kind, const struct arrays *all,
                   uint64_t *work, int64_t n, bool descending)
{
    if (n <= SORT_SMALL)
        return shape->small[n <= SORT_SMALL_FEW](stream, all->keys, all->sorted_keys, all->values, all->sorted_values,
                                                 shape->value, n, flip_of(kind, shape->key, descending), kind == FLOAT);
    struct sort sort = sort_of(shape, kind, work, n, descending);
    int status = shape->count(stream, all->keys, sort.counters, sort.counts, sort.begins, n, sort.flip, sort.is_float);
    const void *keys = all->keys, *values = all->values;
    for (int number = 0; status == CF_OK && number < shape->key; number++) {
        const bool is_last = number == shape->key - 1;
        void *sorted = number % 2 == 0 ? all->other_keys : is_last ? all->sorted_keys : all->back_keys;
        void *moved = number % 2 == 0 ? all->other_values : is_last ? all->sorted_values : all->back_values;
        status = pass(stream, &sort, number, keys, sorted, values, moved);
        keys = sorted;
        values = moved;
    }
    return status;
}

/* ---- The entry points ---- */

#define SORT_KEYS(tag, K, kind)                                                                                      \
    int cf__enqueue_sort_keys_##tag(cf_stream stream, const K *keys, K *sorted, K *other, uint64_t *work, int64_t n, \
                                    bool descending)                                                                 \
    {                                                                                                                \
        const struct arrays all = {.keys = keys, .other_keys = other, .back_keys = sorted, .sorted_keys = sorted};   \
        return enqueue(stream, &shapes[sizeof(K) / 8][0], kind, &all, work, n, descending);                          \
    }

#define SORT_PAIRS(tag, K, V, kind)                                                                               \
    int cf__enqueue_sort_pairs_##tag(cf_stream stream, const K *keys, const V *values, K *sorted_keys,            \
                                     V *sorted_values, K *other_keys, V *other_values, uint64_t *work, int64_t n, \
                                     bool descending)                                                             \
    {                                                                                                             \
        const struct arrays all = {.keys = keys,                                                                  \
                                   .values = values,                                                              \
                                   .other_keys = other_keys,                                                      \
                                   .other_values = other_values,                                                  \
                                   .back_keys = sorted_keys,                                                      \
                                   .back_values = sorted_values,                                                  \
                                   .sorted_keys = sorted_keys,                                                    \
                                   .sorted_values = sorted_values};                                               \
        return enqueue(stream, &shapes[sizeof(K) / 8][sizeof(V) / 4], kind, &all, work, n, descending);           \
    }

#define ARGSORT(tag, K, I, kind)                                                                                       \
    int cf__enqueue_argsort_##tag(cf_stream stream, const K *keys, I *index, K *one, K *two, I *other, uint64_t *work, \
                                  int64_t n, bool descending)                                                          \
    {                                                                                                                  \
        const struct arrays all = {.keys = keys,                                                                       \
                                   .other_keys = one,                                                                  \
                                   .other_values = other,                                                              \
                                   .back_keys = two,                                                                   \
                                   .back_values = index,                                                               \
                                   .sorted_values = index};                                                            \
        return enqueue(stream, &shapes[sizeof(K) / 8][sizeof(I) / 4], kind, &all, work, n, descending);                \
    }

#define WITH_VALUES(tag, K, kind)           \
    SORT_PAIRS(tag##_i32, K, int32_t, kind) \
    SORT_PAIRS(tag##_i64, K, int64_t, kind) \
    ARGSORT(tag##_i32, K, int32_t, kind)    \
    ARGSORT(tag##_i64, K, int64_t, kind)

#define OF_TYPE(tag, K, kind) \
    SORT_KEYS(tag, K, kind)   \
    WITH_VALUES(tag, K, kind)

OF_TYPE(u32, uint32_t, UNSIGNED)
OF_TYPE(i32, int32_t, SIGNED)
OF_TYPE(f32, float, FLOAT)
OF_TYPE(u64, uint64_t, UNSIGNED)
OF_TYPE(i64, int64_t, SIGNED)
OF_TYPE(f64, double, FLOAT)
