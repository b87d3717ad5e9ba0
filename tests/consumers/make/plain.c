/* plain.c - a C99 program: each type has its own entry point. */
#include <stdio.h>

#include <cuferry.h>
#include <cuferry/kernels.h>

int main(void)
{
    const float source[4] = {1, 2, 3, 4};
    const int32_t index[3] = {3, 2, 0};
    float res[3];
    int status = cf_gather_f32_i32(source, index, res, 3, 4);

    if (status != CF_OK) {
        fprintf(stderr, "%s\n", cf_last_error());
        return 1;
    }
    printf("%g %g %g\n", (double)res[0], (double)res[1], (double)res[2]);
    return 0;
}
