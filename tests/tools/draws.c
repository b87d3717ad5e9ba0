/* draws.c - compares the numbers that draws.cu generates with plain loops of the published generators, and with known
 * answers. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "draws.h"

enum { N = 4096 };

static unsigned x[N][4], counts[N][3];
static float shares[N], normal[N], logarithms[N];
static double exact[N], doubles[N];
static cf_float2 pairs[N];
static int wrong;

static void expect(int is_right, const char *subject)
{
    if (!is_right)
        printf("%s differ\n", subject);
    wrong += !is_right;
}

static void check_call(int status)
{
    if (status)
        printf("%s\n", cf_last_error());
    wrong += status != 0;
}

/* With this seed, the generator begins with the state of Marsaglia's paper of 2003. */
static void check_xorwow(void)
{
    static struct curandStateXORWOW states[N];
    uint32_t v[5] = {123456789, 362436069, 521288629, 88675123, 5783321}, d = 6615241, drawn[120];
    for (int i = 0; i < 120; i++) {
        const uint32_t t = v[0] ^ (v[0] >> 2);
        memmove(v, v + 1, 4 * sizeof *v);
        v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
        drawn[i] = (d += 362437) + v[4];
    }
    int is_same = 1;
    for (int offset = 0; offset < 60; offset += 7) {
        check_call(draws_seed_xorwow(states, 0xf7dcefddaad26b49, 0, (unsigned long long)offset, 3));
        check_call(draws_draw_xorwow(states, *x, shares, exact, 5, 3));
        is_same = is_same && !memcmp(x[0], drawn + offset + 20, sizeof x[0]);
        is_same = is_same && shares[0] == (float)drawn[offset] * 0x1p-32f + 0x1p-33f;
    }
    expect(is_same, "numbers of XORWOW");
    expect(memcmp(x[0], x[1], sizeof x[0]) != 0, "subsequences of XORWOW");
}

/* The known answers that come with Random123, for three counters and keys. */
static void check_philox(void)
{
    static const unsigned known[2][4] = {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
    static struct curandStatePhilox4_32_10 states[N];
    check_call(draws_seed_philox(states, 0, 0, 0, 2));
    check_call(draws_draw_philox(states, *x, shares, exact, 0, 2));
    expect(!memcmp(x[0], known[0], sizeof known[0]), "numbers of Philox");
    check_call(draws_seed_philox(states, 0x299f31d0a4093822, 0x0370734413198a2e, 0, 2));
    check_call(draws_draw_philox(states, *x, shares, exact, 0x85a308d3243f6a88, 2));
    expect(!memcmp(x[0], known[1], sizeof known[1]), "numbers of Philox after a jump");

    static cf_uint4 four[N], four_counts[N];
    static cf_float4 four_shares[N], four_normal[N];
    check_call(draws_fours(four, four_shares, four_normal, four_counts, 0, N));
    expect(four[0].x == known[0][0] && four[0].y == known[0][1] && four[0].z == known[0][2] && four[0].w == known[0][3],
           "four numbers of Philox");
    double sum = 0, squares = 0, events = 0;
    int is_same = 1;
    for (int i = 0; i < N; i++) {
        is_same = is_same && four_shares[i].w == (float)four[i].w * 0x1p-32f + 0x1p-33f;
        sum += (double)four_normal[i].x + four_normal[i].w;
        squares += four_normal[i].y * four_normal[i].y;
        events += four_counts[i].x + four_counts[i].w;
    }
    expect(is_same, "four shares of Philox");
    expect(fabs(sum / N) < 0.1 && fabs(squares / N - 1) < 0.1, "four normal numbers of Philox");
    expect(fabs(events / N - 6) < 0.2, "four counts of Philox");
}

/* Without a seed, the state is the initial one of L'Ecuyer's package RngStreams; these are its first three numbers. */
static void check_mrg(void)
{
    static const double known[] = {0.127011122046577, 0.318527565398093, 0.309186079469017};
    static struct curandStateMRG32k3a states[N];
    for (int i = 0; i < 3; i++) {
        check_call(draws_seed_mrg(states, 0, 0, (unsigned long long)i, 2));
        check_call(draws_draw_mrg(states, *x, shares, exact, 0, 2));
        expect(fabs(shares[0] - known[i]) < 1e-7, "numbers of MRG32k3a");
        expect(fabs(x[0][2 - i] * 0x1p-32 - known[2]) < 1e-7, "bits of MRG32k3a");
    }
}

/* An element of doubles[] is half the sum of four normal numbers, so its variance is that of one normal number. */
static void check_shapes(const char *subject)
{
    static const double means[] = {3, 100, 5000};
    double sums[2] = {0, 0}, squares[2] = {0, 0}, events[3] = {0, 0, 0};
    int is_same = 1;
    for (int i = 0; i < N; i++) {
        is_same = is_same && pairs[i].x == normal[i] && fabs(logf(logarithms[i]) - 1 - 0.5 * normal[i]) < 1e-5;
        sums[0] += normal[i];
        sums[1] += doubles[i];
        squares[0] += normal[i] * (double)normal[i];
        squares[1] += doubles[i] * doubles[i];
        for (int k = 0; k < 3; k++)
            events[k] += counts[i][k];
    }
    expect(is_same, subject);
    for (int k = 0; k < 2; k++)
        expect(fabs(sums[k] / N) < 0.1 && fabs(squares[k] / N - 1) < 0.1, subject);
    for (int k = 0; k < 3; k++)
        expect(fabs(events[k] / N - means[k]) < 5 * sqrt(means[k] / N), subject);
}

/* With powers of 2 as direction vectors, Sobol's sequence is the reversed Gray code of the index. */
static void check_quasi(void)
{
    static struct curandDirectionVectors32_t narrow;
    static struct curandDirectionVectors64_t wide;
    static unsigned x32[N], scrambled32[N];
    static double normals32[N], normals64[N];
    static unsigned long long x64[N], scrambled64[N];
    unsigned vectors32[32];
    unsigned long long vectors64[64];
    for (int i = 0; i < 64; i++)
        vectors64[i] = 1ULL << (63 - i);
    for (int i = 0; i < 32; i++)
        vectors32[i] = 1U << (31 - i);
    memcpy(&narrow, vectors32, sizeof vectors32);
    memcpy(&wide, vectors64, sizeof vectors64);
    check_call(draws_quasi_v32(&narrow, x32, scrambled32, exact, normal, normals32, 0x12345678, N));
    check_call(draws_quasi_v64(&wide, x64, scrambled64, doubles, normal, normals64, 0x123456789abcdef, N));
    int is_same = 1, is_normal = 1;
    for (unsigned i = 0; i < N; i++) {
        unsigned long long reversed = 0;
        for (int bit = 0; bit < 12; bit++)
            reversed |= (unsigned long long)((i ^ (i >> 1)) >> bit & 1) << (63 - bit);
        is_same = is_same && x64[i] == reversed && x32[i] == reversed >> 32 &&
                  scrambled32[i] == (x32[i] ^ 0x12345678) && scrambled64[i] == (x64[i] ^ 0x123456789abcdef) &&
                  fabs(exact[i] - x32[i] * 0x1p-32) < 1e-9 && fabs(doubles[i] - (double)x64[i] * 0x1p-64) < 1e-15;
        is_normal = is_normal && fabs(erfc(-normals32[i] * M_SQRT1_2) / 2 - exact[i]) < 1e-9 &&
                    fabs(erfc(-normals64[i] * M_SQRT1_2) / 2 - doubles[i]) < 1e-12 &&
                    fabs(erfc(-normal[i] * M_SQRT1_2) / 2 - doubles[i]) < 1e-6;
    }
    expect(is_same, "numbers of Sobol");
    expect(is_normal, "normal numbers of Sobol");
}

int main(void)
{
    check_xorwow();
    check_philox();
    check_mrg();
    check_call(draws_shape_xorwow(normal, pairs, logarithms, doubles, *counts, 42, N));
    check_shapes("distributions of XORWOW");
    check_call(draws_shape_philox(normal, pairs, logarithms, doubles, *counts, 42, N));
    check_shapes("distributions of Philox");
    check_call(draws_shape_mrg(normal, pairs, logarithms, doubles, *counts, 42, N));
    check_shapes("distributions of MRG32k3a");
    check_quasi();
    puts(wrong ? "wrong" : "right");
    return cf_shutdown() != 0;
}
