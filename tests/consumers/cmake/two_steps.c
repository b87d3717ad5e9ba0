/* two_steps.c - the launches of diffusion_two_steps(). */
#include "diffusion_internal.h"

int diffusion__enqueue_two_steps(cf_stream stream, double *u, double *v, int32_t nx, int32_t ny)
{
    int status = diffusion_step_async(stream, u, v, nx, ny);
    return status == CF_OK ? diffusion_step_async(stream, v, u, nx, ny) : status;
}
