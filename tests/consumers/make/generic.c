/* generic.c - a C11 program: cf_gather() selects the instance by the types of its arguments. */
#include <stdio.h>

#include <cuferry.h>
#include <cuferry/kernels.h>

int main(void)
{
    const double source[5] = {0, 10, 20, 30, 40};
    const int64_t index[3] = {4, 0, 3};
    double res[3];
    const float floats[3] = {1, 2, 3};
    const int32_t wrong[2] = {1, 7};
    float none[2];

    if (cf_gather(source, index, res, 3, 5) != CF_OK) {
        fprintf(stderr, "%s\n", cf_last_error());
        return 1;
    }
    printf("%g %g %g\n", res[0], res[1], res[2]);
    if (cf_gather(floats, wrong, none, 2, 3) != CF_ERANGE)
        return 1;
    printf("%s\n", cf_last_error());
    return cf_shutdown();
}
