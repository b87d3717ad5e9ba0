#pragma cf kernel grid(n) inout(x[n]) instead(again: n > 2)
__global__ void step(float *x, int n);

#pragma cf operation inout(x[n]) uses(step)
void again(float *x, int n);
