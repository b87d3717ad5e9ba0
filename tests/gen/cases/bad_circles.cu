// Operations that use themselves, directly or through others, or that are nested too deeply.
#pragma cf kernel grid(n) inout(x[n])
__global__ void scale(float *x, int n)
{
}

#pragma cf operation inout(x[n]) uses(scale, itself)
void itself(float *x, int n);

#pragma cf operation inout(x[n]) uses(other)
void one(float *x, int n);

#pragma cf operation inout(x[n]) uses(one)
void other(float *x, int n);

#pragma cf operation inout(x[n]) uses(one, scale)
void leads_there(float *x, int n);

#pragma cf operation inout(x[n]) uses(scale)
void first(float *x, int n);

#pragma cf operation inout(x[n]) uses(first)
void second(float *x, int n);

#pragma cf operation inout(x[n]) uses(second)
void third(float *x, int n);

#pragma cf operation inout(x[n]) uses(third, first)
void fourth(float *x, int n);

#pragma cf operation inout(x[n]) uses(fourth)
void fifth(float *x, int n);
