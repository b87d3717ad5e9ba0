/* main.c - calls kernels of the same name in two libraries, and finds each kernel in the registry of its library. */
#include <stdio.h>

#include <cuferry/registry.h>

#include "left.h"
#include "right.h"

extern const cf_module left_registry, right_registry;

int main(void)
{
    const float x[3] = {0, 1, 10};
    float left[3], right[3];

    if (left_scale(x, left, 3) != CF_OK || right_scale(x, right, 3) != CF_OK) {
        fprintf(stderr, "%s\n", cf_last_error());
        return 1;
    }
    for (int i = 0; i < 3; i++)
        printf("%g %g\n", (double)left[i], (double)right[i]);
    printf("%s %s\n", cf_kernel_find(&left_registry, "scale")->function,
           cf_kernel_find(&right_registry, "scale")->function);
    return 0;
}
