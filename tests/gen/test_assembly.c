/* test_assembly.c - the inline PTX of assembly.cu has the results that PTX defines, which are here computed in plain
 * C. */
#include <math.h>

#include "played_gpu.h"

#include "data/random.h"

#include "assembly_kernels.h"

enum { EDGES = 20, N = EDGES * EDGES * EDGES + 1000, FLOATS = 999, COPIES = 77, REGISTERS = 20 };

static const uint32_t edges[EDGES] = {
    0,  1,  2,  7,      8,      15,         16,         31,         32,         33,
    63, 64, 65, 0xff00, 0x0105, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0x12345678,
};

static struct {
    uint32_t a[N], b[N], c[N], p32[8 * COPIES];
    uint64_t p[N], q[N];
} ints;

/* ---- Results in plain C ---- */

static uint32_t bit_count(uint64_t x)
{
    uint32_t count = 0;
    for (; x; x >>= 1)
        count += x & 1;
    return count;
}

static uint32_t leading_zeros(uint64_t x, int bits)
{
    uint32_t count = 0;
    while (bits-- && !(x >> bits & 1))
        count++;
    return count;
}

static uint64_t reversed_64(uint64_t x, int bits)
{
    uint64_t result = 0;
    for (int i = 0; i < bits; i++)
        result |= (x >> i & 1) << (bits - 1 - i);
    return result;
}
#define reversed(x, bits) ((bits) == 32 ? (uint32_t)reversed_64(x, bits) : reversed_64(x, bits))

static uint32_t find_bit(uint64_t x, int bits, int is_signed)
{
    const uint64_t ignored = is_signed && x >> (bits - 1) & 1;
    while (bits--)
        if ((x >> bits & 1) != ignored)
            return (uint32_t)bits;
    return UINT32_MAX;
}

static uint32_t find_shift(uint64_t x, int bits, int is_signed)
{
    const uint32_t place = find_bit(x, bits, is_signed);
    return place == UINT32_MAX ? place : (uint32_t)bits - 1 - place;
}

static uint64_t field(uint64_t x, uint32_t at, uint32_t count, uint32_t bits, int is_signed)
{
    at &= 0xff;
    count &= 0xff;
    uint64_t sign = 0, result = 0;
    if (is_signed && count)
        sign = x >> (at + count - 1 < bits - 1 ? at + count - 1 : bits - 1) & 1;
    for (uint32_t i = 0; i < bits; i++)
        result |= (i < count && at + i < bits ? x >> (at + i) & 1 : sign) << i;
    return result;
}

static uint64_t inserted(uint64_t x, uint64_t into, uint32_t at, uint32_t count, uint32_t bits)
{
    at &= 0xff;
    count &= 0xff;
    for (uint32_t i = 0; i < count && at + i < bits; i++)
        into = (into & ~((uint64_t)1 << (at + i))) | (x >> i & 1) << (at + i);
    return into;
}

static uint32_t permuted(uint32_t x, uint32_t y, uint32_t selectors)
{
    uint32_t result = 0;
    for (int i = 0; i < 4; i++) {
        const uint32_t selector = selectors >> 4 * i & 15, place = selector & 7;
        uint32_t byte = (place < 4 ? x >> 8 * place : y >> 8 * (place - 4)) & 0xff;
        if (selector > 7)
            byte = byte > 127 ? 0xff : 0;
        result |= byte << 8 * i;
    }
    return result;
}

/* Returns the sum of the products of the parts of a, of which there are `count`, and the lowest bytes of b. */
static uint32_t dot(uint32_t a, uint32_t b, int count, int is_signed_a, int is_signed_b)
{
    const int bits = 32 / count;
    uint32_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += (uint32_t)field(a, (uint32_t)(i * bits), (uint32_t)bits, 32, is_signed_a) *
               (uint32_t)field(b, (uint32_t)i * 8, 8, 32, is_signed_b);
    return sum;
}

static uint64_t pair(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

/* Returns the high 64 bits of the product, computed from the halves. */
static uint64_t high_product(uint64_t x, uint64_t y)
{
    const uint64_t x0 = (uint32_t)x, x1 = x >> 32, y0 = (uint32_t)y, y1 = y >> 32;
    const uint64_t middle = x1 * y0 + (x0 * y0 >> 32), other = x0 * y1 + (uint32_t)middle;
    return x1 * y1 + (middle >> 32) + (other >> 32);
}

static float product_toward(float x, float y, float end)
{
    const double exact = (double)x * y;
    const float near = (float)exact;
    const int is_beyond = end > 0 ? near < exact : end < 0 ? near > exact : fabs((double)near) > fabs(exact);
    return is_beyond ? nextafterf(near, end) : near;
}

static void expect_equal(const char *name, int i, uint64_t got, uint64_t wanted)
{
    if (got != wanted)
        fail_msg("%s of %x, %x, %x, %llx, %llx is %llx, not %llx", name, ints.a[i], ints.b[i], ints.c[i],
                 (unsigned long long)ints.p[i], (unsigned long long)ints.q[i], (unsigned long long)got,
                 (unsigned long long)wanted);
}

#define EXPECT(name, value) expect_equal(name, i, results[row++ * N + i], value);

TEST(words_have_the_bits_that_ptx_defines)
{
    static uint32_t results[N * (COUNT_ROWS(ROWS_1) + COUNT_ROWS(ROWS_2) + COUNT_ROWS(ROWS_3) + 5)];
    assert_ok(assembly_words(ints.a, ints.b, ints.c, results, N));
    for (int i = 0; i < N; i++) {
        const uint32_t a = ints.a[i], b = ints.b[i], c = ints.c[i];
        int row = 0;
        ROWS_1(EXPECT)
        ROWS_2(EXPECT)
        ROWS_3(EXPECT)
        EXPECT("bfi.b32", inserted(a, a, b, c, 32))
        EXPECT("lop3.b32 0x96", a ^ b ^ c)
        EXPECT("lop3.b32 0xca", (a & b) | (~a & c))
        EXPECT("shl, xor, add", (a << 5 ^ a) - 3)
        EXPECT("div, rem", a > b ? a / (b | 1) : (uint32_t)((int64_t)(int32_t)a % (int32_t)((b & 0xffff) | 1)))
    }
}

TEST(wide_words_have_the_bits_that_ptx_defines)
{
    static uint64_t results[N * (COUNT_ROWS(ROWS_1_WIDE) + COUNT_ROWS(ROWS_2_WIDE) + COUNT_ROWS(ROWS_SHIFT) +
                                 COUNT_ROWS(ROWS_PRODUCT) + 8)];
    static uint32_t counts[N * COUNT_ROWS(ROWS_COUNT)];
    assert_ok(assembly_wide(ints.a, ints.b, (void *)ints.p, (void *)ints.q, (void *)results, counts, N));
    for (int i = 0; i < N; i++) {
        const uint32_t a = ints.a[i], b = ints.b[i];
        const uint64_t p = ints.p[i], q = ints.q[i];
        int row = 0;
        ROWS_1_WIDE(EXPECT)
        ROWS_2_WIDE(EXPECT)
        ROWS_SHIFT(EXPECT)
        ROWS_PRODUCT(EXPECT)
        EXPECT("mad.wide.s32", (uint64_t)((int64_t)(int32_t)a * (int32_t)b) + q)
        EXPECT("mad.lo.u64", p * q + p)
        EXPECT("bfe.u64", field(p, a, b, 64, 0))
        EXPECT("bfe.s64", field(p, a, b, 64, 1))
        EXPECT("bfi.b64", inserted(p, q, a, b, 64))
        EXPECT("mov.b64 of halves", p >> 32 | p << 32)
        EXPECT("cvt.s64.s32", (uint64_t)(int32_t)a)
        EXPECT("cvt.u64.u32", a)
        row = 0;
#define EXPECT_COUNT(name, value) expect_equal(name, i, counts[row++ * N + i], value);
        ROWS_COUNT(EXPECT_COUNT)
    }
}

/* ---- Numbers ---- */

static void expect_near(const char *name, int i, double got, double wanted, double far)
{
    if (!(fabs(got - wanted) <= far * fmax(1, fabs(wanted))))
        fail_msg("%s of row %d is %a, not %a", name, i, got, wanted);
}

TEST(numbers_are_as_exact_as_ptx_defines)
{
    static float xs[FLOATS], ys[FLOATS], f32[FLOATS * (COUNT_ROWS(ROWS_FLOAT_1) + COUNT_ROWS(ROWS_FLOAT_2) + 3)];
    static double us[FLOATS], vs[FLOATS], f64[FLOATS * (COUNT_ROWS(ROWS_DOUBLE) + 2)];
    static int whole[4 * FLOATS];
    for (uint64_t i = 0; i < FLOATS; i++) {
        xs[i] = 0.1f + 3 * random_f32(1, i);
        ys[i] = 10 * random_f32(2, i) - 5;
        us[i] = 10 * random_f64(3, i) - 5;
        vs[i] = 1 + 4 * random_f64(4, i);
    }
    assert_ok(assembly_numbers(xs, ys, us, vs, f32, f64, whole, FLOATS));
    for (int i = 0; i < FLOATS; i++) {
        const float x = xs[i], y = ys[i];
        const double u = us[i], v = vs[i];
        int row = 0;
#define EXPECT_NEAR(name, value, far) expect_near(name, i, (double)f32[row++ * FLOATS + i], (double)(value), far);
        ROWS_FLOAT_1(EXPECT_NEAR)
        ROWS_FLOAT_2(EXPECT_NEAR)
        EXPECT_NEAR("fma.rn.f32", fmaf(x, y, 0.5f), 0)
        EXPECT_NEAR("cvt.rn.f32.s32", (float)(int32_t)((uint32_t)i * 1234567), 0)
        EXPECT_NEAR("cvt.rn.f32.f64", (float)u, 0)
        row = 0;
#define EXPECT_WIDE(name, value, far) expect_near(name, i, f64[row++ * FLOATS + i], value, far);
        ROWS_DOUBLE(EXPECT_WIDE)
        EXPECT_WIDE("fma.rn.f64", fma(u, v, u), 0)
        EXPECT_WIDE("cvt.f64.f32", (double)x, 0)
        assert_int_equal(whole[i], (int)rintf(y * 100));
        assert_int_equal(whole[FLOATS + i], (int)truncf(y * 100));
        assert_int_equal(whole[2 * FLOATS + i], (int)floor(v * 100));
        assert_memory_equal(&whole[3 * FLOATS + i], &x, sizeof x);
    }
}

/* ---- State that lasts within a statement, and between statements ---- */

enum { CARRIES = 10, CHOICES = 8, CELLS = 10 };

TEST(carries_go_from_word_to_word)
{
    static uint64_t results[CARRIES * N];
    assert_ok(assembly_carries(ints.a, ints.b, ints.c, (void *)ints.p, (void *)ints.q, (void *)results, N));
    for (int i = 0; i < N; i++) {
        const uint64_t p = ints.p[i], q = ints.q[i], product = (uint64_t)ints.a[i] * ints.b[i];
        const uint64_t carry = p + q < p, borrow = p < q, sum = (product >> 32) + ints.c[i];
        int row = 0;
        EXPECT("add.cc.u64", p + q)
        EXPECT("addc.u64", q + p + carry)
        EXPECT("sub.cc.s64", p - q)
        EXPECT("subc.s64", q - p - borrow)
        EXPECT("mad.lo.cc.u32, madc.hi.u32", product + q)
        EXPECT("addc.cc.u32", p + q)
        EXPECT("addc.u32 of 0", carry)
        EXPECT("subc.cc.u32", p - q)
        EXPECT("subc.u32 of 0", (uint32_t)(0 - borrow))
        EXPECT("mad.hi.cc.u32, madc.lo.cc.u32", (sum >> 32) << 32 | (uint32_t)sum)
    }
}

static int64_t clamped(int64_t x, int64_t least, int64_t most)
{
    return x < least ? least : x > most ? most : x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Returns the bits of a number whose sign is replaced by the product of the signs of x and y. */
static uint32_t signed_bits(float number, float x, float y)
{
    return isnan(number) ? 0x7fffffff : bits_of(number) | ((bits_of(x) ^ bits_of(y)) & 0x80000000);
}

TEST(extremes_may_be_nan_or_have_signs)
{
    static float xs[N], ys[N];
    static uint32_t results[N * COUNT_ROWS(ROWS_EXTREME)];
    for (int i = 0; i < N; i++) {
        xs[i] = i % 7 == 0 ? NAN : (float)(i % 11 - 5) / 4;
        ys[i] = i % 13 == 0 ? NAN : (float)(i % 5 - 2) / 4;
    }
    assert_ok(assembly_extremes(xs, ys, results, N));
    for (int i = 0; i < N && results[i] != LACKING; i++) {
        const float x = xs[i], y = ys[i];
        int row = 0;
        ROWS_EXTREME(EXPECT)
    }
}

TEST(choices_follow_comparisons)
{
    static float xs[N], ys[N];
    static uint32_t
        results[N * (COUNT_ROWS(ROWS_COMPARE) + COUNT_ROWS(ROWS_COMPARE_FLOAT) + COUNT_ROWS(ROWS_SATURATED) + CHOICES)];
    for (int i = 0; i < N; i++) { /* multiples of 1/4, which are exact in half precision */
        xs[i] = i % 7 == 0 ? NAN : (float)(i % 11 - 5) / 4;
        ys[i] = i % 13 == 0 ? NAN : (float)(i % 5 - 2) / 4;
    }
    assert_ok(assembly_choices(ints.a, ints.b, ints.c, xs, ys, results, N));
    for (int i = 0; i < N; i++) {
        const uint32_t a = ints.a[i], b = ints.b[i], c = ints.c[i];
        const float x = xs[i], y = ys[i];
        const uint32_t chosen = (a < b ? 11 + (c ? 100 : 1000) : 12) + (a >= b || c ? 10000 : 0);
        int row = 0;
        ROWS_COMPARE(EXPECT)
        ROWS_COMPARE_FLOAT(EXPECT)
        ROWS_SATURATED(EXPECT)
        EXPECT("predicates", chosen)
        EXPECT("setp into its own predicate", a < b ? (c ? 1 : 2) : 0)
        EXPECT("sub.u32 of _x and %x", a - b)
        EXPECT("nothing", chosen)
        EXPECT("and.b32 of %laneid", (uint32_t)i % 32 & 7)
        if (!isnan(x))
            expect_equal("cvt of halves", i, results[row * N + i], bits_of(x));
        row++;
        EXPECT("add.sat.f32", bits_of(isnan(x + y) ? 0 : fminf(fmaxf(x + y, 0), 1)))
        EXPECT("cvt.rni.sat.u8.f32", isnan(x) ? 0 : (uint64_t)clamped((int64_t)rintf(x * 1000), 0, 255))
    }
}

TEST(rows_turn_round_in_shared_memory)
{
    enum { COUNT = 150 };
    static uint32_t y[2 * COUNT];
    assert_ok(assembly_rows(ints.a, y, COUNT));
    for (int i = 0; i < COUNT; i++) {
        const int from = i / 64 * 64 + 63 - i % 64;
        assert_int_equal(y[i], from < COUNT ? ints.a[from] : 0);
        assert_int_equal(y[COUNT + i], y[i]);
    }
}

TEST(addresses_outside_of_shared_memory_are_errors_on_the_cpu)
{
    uint32_t y = 0;
    unsigned long long wide = 0;
    need_cpu();
    for (int kind = 0; kind < 5; kind++) {
        const int status = kind < 4 ? assembly_addresses(kind, &y) : assembly_address_of_global(&wide);
        assert_int_equal(status, kind < 2 ? CF_OK : CF_EFAULT);
        if (kind < 2)
            assert_int_equal(y, 16);
        else if (!strstr(cf_last_error(), "__cvta_generic_to_shared() of an address outside of shared memory") ||
                 !strstr(cf_last_error(), "assembly.cu:"))
            fail_msg("%s", cf_last_error());
    }
}

TEST(cells_change_atomically)
{
    enum { COUNT = 150 };
    uint32_t cells[CELLS] = {0, 0, 1000, 5, ~0u, 0, 0, 0, 0, 0};
    uint32_t wanted[CELLS] = {COUNT, COUNT * (COUNT - 1) / 2, 1000, 5, ~0u, 0, 0, 7, 8, COUNT % 100};
    unsigned long long wide[2] = {1, 2}, sum = 0;
    float number = 0;
    for (int i = 0; i < COUNT; i++) {
        const uint32_t x = ints.p32[i];
        wanted[2] = (int32_t)x < (int32_t)wanted[2] ? x : wanted[2];
        wanted[3] = x > wanted[3] ? x : wanted[3];
        wanted[4] &= x;
        wanted[5] |= x;
        wanted[6] ^= x;
    }
    for (int i = 0; i < COUNT; i += 64) {
        uint32_t block = 0;
        for (int j = i; j < i + 64 && j < COUNT; j++)
            block += ints.p32[j];
        sum += block;
    }
    assert_ok(assembly_cells(ints.p32, cells, wide, &number, COUNT));
    assert_memory_equal(cells, wanted, sizeof wanted);
    assert_int_equal(wide[0], 1 + COUNT * 3000000000ull);
    assert_int_equal(wide[1], 2 + sum);
    assert_true(number == COUNT * 0.5f);
}

/* ---- Memory and registers ---- */

TEST(loads_and_stores_copy)
{
    static uint32_t to[8 * COPIES];
    static int small[6 * COPIES];
    assert_ok(assembly_copies(ints.p32, to, small, COPIES));
    assert_memory_equal(to, ints.p32, sizeof to);
    for (int i = 0; i < COPIES; i++) {
        const uint32_t first = ints.p32[8 * i];
        const int wanted[] = {first & 0xff,   (int8_t)first, first & 0xffff,
                              (int16_t)first, (int)first,    (int)ints.p32[8 * i + 1]};
        assert_memory_equal(small + 6 * i, wanted, sizeof wanted);
    }
}

TEST(registers_tell_the_place_of_a_thread)
{
    enum { X = 8, Y = 6, THREADS = X * Y * 3, BLOCKS = 12 };
    static uint32_t found[BLOCKS * THREADS * REGISTERS];
    assert_ok(assembly_registers(found));
    for (uint32_t block = 0; block < BLOCKS; block++)
        for (uint32_t thread = 0; thread < THREADS; thread++) {
            const uint32_t lane = thread % 32, bit = (uint32_t)1 << lane;
            const uint32_t wanted[REGISTERS] = {thread % X,
                                                thread / X % Y,
                                                thread / X / Y,
                                                X,
                                                Y,
                                                3,
                                                block % 2,
                                                block / 2 % 3,
                                                block / 6,
                                                2,
                                                3,
                                                2,
                                                bit,
                                                bit - 1,
                                                2 * bit - 1,
                                                ~(2 * bit - 1),
                                                ~(bit - 1),
                                                lane,
                                                1,
                                                1};
            assert_memory_equal(found + (block * THREADS + thread) * REGISTERS, wanted, sizeof wanted);
        }
}

TEST(registers_hold_in_loops)
{
    static uint32_t place[2 * COPIES];
    assert_ok(assembly_places(place, COPIES));
    for (uint32_t i = 0; i < COPIES; i++) {
        assert_int_equal(place[2 * i], i % 32);
        assert_int_equal(place[2 * i + 1], i);
    }
}

/* Fills the operands with all triples of edge cases, then with random numbers. */
static int set_up(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < N; i++) {
        const int is_random = i >= EDGES * EDGES * EDGES;
        ints.a[i] = is_random ? (uint32_t)random_bits(1, i) : edges[i % EDGES];
        ints.b[i] = is_random ? (uint32_t)random_bits(2, i) : edges[i / EDGES % EDGES];
        ints.c[i] = is_random ? (uint32_t)random_bits(3, i) : edges[i / EDGES / EDGES];
        ints.p[i] = (uint64_t)ints.c[i] << 32 | ints.a[i];
        ints.q[i] = is_random ? random_bits(4, i) : (uint64_t)ints.b[i] << 32 | ints.c[i];
    }
    for (uint64_t i = 0; i < 8 * COPIES; i++)
        ints.p32[i] = (uint32_t)random_bits(5, i) | (i % 3 ? 0x8080 : 0);
    played_gpu_add(&assembly_registry);
    return 0;
}

int main(void)
{
    return run_all_tests(set_up, NULL);
}
