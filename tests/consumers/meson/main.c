#include <stdio.h>
#include <cuferry.h>
#include "heat.h"

int main(void)
{
    double u[5] = {0, 0, 8, 0, 0}, v[5] = {0};
    if (heat_step(u, v, 5) != CF_OK) {
        fprintf(stderr, "%s\n", cf_last_error());
        return 1;
    }
    printf("%g %g %g %g %g\n", v[0], v[1], v[2], v[3], v[4]);
    return 0;
}
