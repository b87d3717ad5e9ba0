/* main.c - calls the project's own kernels, one of them with an index out of range. */
#include <stdio.h>

#include "vec.h"

int main(void)
{
    const double x[3] = {1, 2, 3};
    double y[3] = {10, 20, 30};
    const float a[2] = {1, 5}, b[3] = {4, 7, 9};
    int32_t index[2] = {2, 0};
    float out[2];

    if (vec_axpy(0.5, x, y, 3) != CF_OK || vec_distance(a, b, index, out, 2, 3) != CF_OK) {
        fprintf(stderr, "%s\n", cf_last_error());
        return 1;
    }
    printf("%g %g %g, %g %g\n", y[0], y[1], y[2], (double)out[0], (double)out[1]);
    if (vec_normalise(y, 3) != CF_OK)
        return 1;
    printf("%.4f %.4f %.4f\n", y[0], y[1], y[2]);
    index[1] = 3;
    if (vec_distance(a, b, index, out, 2, 3) != CF_ERANGE)
        return 1;
    printf("%s\n", cf_last_error());
    return 0;
}
