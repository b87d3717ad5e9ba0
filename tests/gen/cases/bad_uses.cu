// Mistakes in uses(...), whose names are looked up after all files are read.
#include <stdint.h>

#pragma cf kernel grid(n) inout(x[n])
#pragma cf instances(f32: float; f64: double)
template <typename T> __global__ void scale_by(T *x, int n)
{
}

#pragma cf operation inout(x[n]) uses(scale_bi)
#pragma cf instances(f32: float; f64: double)
template <typename T> void near(T *x, int n);

#pragma cf operation inout(x[n]) uses(scale_by_f64, elsewhere)
void unknown(double *x, int n);

#pragma cf operation inout(x[n]) uses(t_scale_by)
void with_prefix(double *x, int n);

#pragma cf operation inout(x[n]) uses(cf_sum, cf_smu_f32)
void misspelled(float *x, int n);

/* Internal parts of bundled operations may not be used. */
#pragma cf operation inout(x[n]) uses(cf_sort_small)
void others(float *x, int n);
