#include <stdio.h>
#include <cuferry.h>
#include "double_kernels.h"
#include "shift_kernels.h"

int shift_by_one(int *x, int n);
int double_all(int *x, int n);

int main(void)
{
    int x[3] = {1, 20, 300};
    /* Calls the functions of the libraries, and their kernels directly. */
    if (shift_by_one(x, 3) || double_all(x, 3) || shift_kernels_add(x, 5, 3) || double_kernels_twice(x, 3)) {
        fprintf(stderr, "%s\n", cf_last_error());
        return 1;
    }
    printf("%d %d %d\n", x[0], x[1], x[2]);
    /* The text is available if the library uses the same runtime as the program. */
    int status = shift_kernels_add(x, 1, 1);
    printf("%s %s\n", cf_status_name(status), cf_last_error());
    return 0;
}
