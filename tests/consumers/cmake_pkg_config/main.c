/* Computes the largest of some numbers, on all CPU threads or on a GPU. */
#include <stdio.h>

#include <cuferry.h>
#include <cuferry/kernels.h>

int main(void)
{
    const float x[] = {3, 9, 4};
    float largest;
    if (cf_max_f32(x, &largest, 3) != CF_OK) {
        fprintf(stderr, "%s\n", cf_last_error());
        return 1;
    }
    printf("%g\n", largest);
    return 0;
}
