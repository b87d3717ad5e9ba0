/* refused_std_vector - a container by value; expected: it is no C type and not trivially copyable. */
#include <vector>

#pragma cf kernel grid(n) out(y[n])
__global__ void copy_vector(std::vector<float> x, float *y, int n);
