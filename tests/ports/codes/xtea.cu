/* xtea.cu - encrypts blocks of 64 bits with XTEA. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define DELTA 0x9E3779B9u
#define ROUNDS 32
#define MIX(v, sum, k) ((((v) << 4 ^ (v) >> 5) + (v)) ^ ((sum) + (k)))

typedef struct {
    uint32_t word[4];
} xtea_key;

__device__ __host__ static void encipher(uint32_t v[2], const xtea_key *key)
{
    uint32_t v0 = v[0], v1 = v[1], sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        v0 += MIX(v1, sum, key->word[sum & 3]);
        sum += DELTA;
        v1 += MIX(v0, sum, key->word[(sum >> 11) & 3]);
    }
    v[0] = v0;
    v[1] = v1;
}

#pragma cf kernel grid(blocks) block(64) in(plain[blocks]) out(cipher[blocks])
__global__ void encrypt(const uint2 *plain, uint2 *cipher, xtea_key key, uint64_t blocks)
{
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < blocks; i += (uint64_t)blockDim.x * gridDim.x) {
        uint32_t v[2] = {plain[i].x, plain[i].y};
        encipher(v, &key);
        cipher[i] = make_uint2(v[0], v[1]);
    }
}

#ifndef NO_MAIN
int main(int argc, char **argv)
{
    xtea_key key;
    if (argc < 2 || strlen(argv[1]) < sizeof key) {
        fprintf(stderr, "usage: xtea KEY\n");
        return 1;
    }
    memcpy(&key, argv[1], sizeof key);
    encrypt<<<1, 64>>>(NULL, NULL, key, 0);
    return cudaDeviceSynchronize() != cudaSuccess;
}
#endif
