/****************************************************************************/
/* ising.cu - a Metropolis sweep of one colour of the Ising model's lattice  */
/*                                                                          */
/* The lattice is a torus of L by L spins, +1 or -1, in bytes.              */
/* threshold[] has the chances to accept a rise of the energy by 4 and 8.   */
/****************************************************************************/

#include <stdio.h>
#include <stdlib.h>
#include <math.h>

#define SPIN(s, i, j)	((s)[(i) * L + (j)])
#define WRAP(i)		((i) < 0 ? (i) + L : (i) >= L ? (i) - L : (i))
#ifndef FALSE
#define FALSE	0
#define TRUE	1
#endif

__constant__ unsigned int threshold[2];

/* mixes the bits of a word */
static __device__ __host__ unsigned int
mix(unsigned int x)
{
	x ^= x >> 16;
	x *= 0x7feb352dU;
	x ^= x >> 15;
	x *= 0x846ca68bU;
	return x ^ (x >> 16);
}

#pragma cf kernel grid(L / 2, L) block(32, 8) inout(s[L][L], flips[1]) check(L % 2 == 0, 0 <= colour <= 1)
extern "C" __global__ void
sweep(signed char *s, int L, int colour, unsigned int seed, unsigned int *flips)
{
	int i, j, sum, accept;

	i = blockIdx.y * blockDim.y + threadIdx.y;
	j = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
	if (i >= L || j >= L)
		return;
	j += (i + colour) & 1;
	sum = SPIN(s, WRAP(i - 1), j) + SPIN(s, WRAP(i + 1), j)
	    + SPIN(s, i, WRAP(j - 1)) + SPIN(s, i, WRAP(j + 1));
	accept = FALSE;
	{
		int rise = 2 * SPIN(s, i, j) * sum;
		unsigned int dice = mix(seed ^ mix(i * L + j));

		if (rise <= 0)
			accept = TRUE;
		else
			accept = dice < threshold[rise / 4 - 1];
	}
	if (accept) {
		SPIN(s, i, j) = -SPIN(s, i, j);
		atomicAdd(flips, 1u);
	}
}

int
main(int argc, char *argv[])
{
	int L = 128, step, n_steps = 1000;
	double temperature;
	unsigned int h_threshold[2], *flips;
	signed char *s;
	dim3 block(32, 8), grid;

	temperature = argc > 1 ? atof(argv[1]) : 2.269;
	h_threshold[0] = (unsigned int)(4294967295.0 * exp(-4.0 / temperature));
	h_threshold[1] = (unsigned int)(4294967295.0 * exp(-8.0 / temperature));
	cudaMemcpyToSymbol(threshold, h_threshold, sizeof(h_threshold));
	if (cudaMalloc((void **)&s, L * L) != cudaSuccess || cudaMalloc((void **)&flips, 4) != cudaSuccess) {
		fprintf(stderr, "%s: no memory\n", argv[0]);
		return EXIT_FAILURE;
	}
	cudaMemset(s, 1, L * L);
	grid = dim3(L / 64, L / 8);
	for (step = 0; step < n_steps; step++) {
		sweep<<<grid, block>>>(s, L, 0, 2 * step, flips);
		sweep<<<grid, block>>>(s, L, 1, 2 * step + 1, flips);
	}
	return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
