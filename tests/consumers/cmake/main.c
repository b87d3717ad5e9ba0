/* main.c - diffuses a spot of heat with the kernel and with a plain loop, and compares every bit. */
#include <stdio.h>
#include <string.h>

#include <diffusion.h>

#include "norms.h"

#define WEIGHT 0.125
#include "include/stencil.h"

enum { NX = 61, NY = 37, STEPS = 20 };

static double u[NY * NX], v[NY * NX], plain[2][NY * NX];

static void plain_step(const double *from, double *to)
{
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++) {
            int at = y * NX + x, is_edge = x == 0 || x == NX - 1 || y == 0 || y == NY - 1;
            to[at] = is_edge ? from[at] : STENCIL(from, at, NX);
        }
}

int main(void)
{
    u[18 * NX + 30] = plain[0][18 * NX + 30] = 1000;
    for (int i = 0; i < STEPS; i++)
        plain_step(plain[i % 2], plain[1 - i % 2]);
    int status = diffusion_step(u, v, NX, NY);
    if (status == CF_OK)
        status = diffusion_step(v, u, NX, NY);
    for (int i = 2; i < STEPS && status == CF_OK; i += 2)
        status = diffusion_two_steps(u, NX, NY);
    if (status != CF_OK) {
        fprintf(stderr, "%s\n", cf_last_error());
        return 1;
    }
    int64_t differences[NY * NX];
    for (int i = 0; i < NY * NX; i++)
        differences[i] = memcmp(&u[i], &plain[0][i], sizeof u[i]) != 0;
    printf("largest difference after %d steps: %lld, center: %.3f\n", STEPS,
           (long long)largest_distance(differences, NY * NX), u[18 * NX + 30]);
    return 0;
}
