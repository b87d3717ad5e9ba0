// Names that some C programs cannot write; each is refused once, at its place.
#define GRÖSSE n
#define MASSE(x) x

#pragma cf kernel grid(n) inout(x[n])
__global__ void zwölf(float *x, int n) {}

#pragma cf kernel grid(n) inout(größe[n])
__global__ void of_an_array(float *größe, int n) {}

#pragma cf kernel grid(n)
__global__ void of_a_value(int n, float \u00fcber) {}

#pragma cf kernel grid(n)
__global__ void of_a_dollar(int n, float a$b) {}

#pragma cf kernel name(zwölf) grid(n)
__global__ void of_the_function(int n) {}

#pragma cf kernel grid(n) inout(x[n])
#pragma cf instances(täg: float)
template <typename T> __global__ void of_an_instance(T *x, int n) {}

#pragma cf kernel grid(MASSE(öl))
__global__ void of_an_argument(int öl) {}

__constant__ float größe[2];

/* Macros and local variables may have such names. */
__device__ int earlier(int wärme) { const char *s = "\u00fc"; return wärme + *s; }

#pragma cf kernel grid(GRÖSSE) inout(x[n])
__global__ void taken(float *x, int n) { x[0] = earlier(n); }
