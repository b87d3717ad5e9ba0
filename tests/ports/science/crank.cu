/* crank.cu - a Crank-Nicolson step of many rods at once; one thread solves each rod. */
#include <cassert>
#include <cstring>
#include <stdexcept>
#include <vector>

/* The elements of all rods with the same index are adjacent, so that neighbouring threads read neighbouring words. */
static __device__ inline size_t at(int i, int rods, int rod)
{
	return (size_t)i * rods + rod;
}

static __device__ inline double clamp_index(const double *u, int i, int n, int rods, int rod)
{
	return i < 0 || i >= n ? 0.0 : u[at(i, rods, rod)];
}

/* (1 + r) v[i] - r / 2 (v[i - 1] + v[i + 1]) = (1 - r) u[i] + r / 2 (u[i - 1] + u[i + 1]); v replaces u. */
#pragma cf kernel	grid(rods) block(32)			\
	inout(u[n][rods])	scratch(c[n][rods])		\
	check(r >= 0, n >= 0)	tolerance(1e-12)
__global__ void crank_nicolson(double *u, double *c, double r, int n, int rods)
{
	const int	rod = blockIdx.x * blockDim.x + threadIdx.x;
	double		before = 0,	/* u[i - 1] of the old time */
			c_above = 0, d_above = 0;

	if (rod >= rods)
		return;

	for (int i = 0; i < n; i++) {
		const double	here = u[at(i, rods, rod)];
		const double	after = clamp_index(u, i + 1, n, rods, rod);
		const double	right = (1 - r) * here + r / 2 * (before + after);
		const double	pivot = 1 + r + r / 2 * c_above;

		c[at(i, rods, rod)] = c_above = -r / 2 / pivot;
		u[at(i, rods, rod)] = d_above = (right + r / 2 * d_above) / pivot;
		before = here;
	}

	double	last = 0;
	for (int i = n; i-- > 0; )
		u[at(i, rods, rod)] = last = u[at(i, rods, rod)] - c[at(i, rods, rod)] * last;
}

struct Rods {
	int		n = 0, count = 0;
	double		*u = nullptr, *c = nullptr;

	Rods(int n, int count) : n(n), count(count)
	{
		const size_t	bytes = sizeof(double) * n * count;

		if (cudaMalloc(&u, bytes) || cudaMalloc(&c, bytes))
			throw std::bad_alloc();
		cudaMemset(u, 0, bytes);
	}
	Rods(const Rods &) = delete;
	Rods &operator=(const Rods &) = delete;
	~Rods()
	{
		cudaFree(u);
		cudaFree(c);
	}
	void step(double r, cudaStream_t stream = nullptr)
	{
		assert(count > 0);
		crank_nicolson<<<(count + 31) / 32, 32, 0, stream>>>(u, c, r, n, count);
	}
};

int main()
{
	Rods	rods(100, 1000);

	for (int i = 0; i < 10; i++)
		rods.step(0.5);
	return cudaDeviceSynchronize() != cudaSuccess;
}
