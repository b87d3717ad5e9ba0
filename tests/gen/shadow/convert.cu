/* convert - writes 16-bit floats as float, doubles as 16-bit floats, and results of arithmetic; test_shadow.py checks
 * them.
 *
 * usage: convert DOUBLES PATTERNS OUTPUT; DOUBLES holds doubles, PATTERNS three uint16_t for each row of results */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <stdint.h>
#include <stdio.h>

static FILE *output;

/* Makes a value of either type from its bits. */
static __half from_bits(uint16_t bits, __half)
{
    return __ushort_as_half(bits);
}

static __nv_bfloat16 from_bits(uint16_t bits, __nv_bfloat16)
{
    return __ushort_as_bfloat16(bits);
}

static uint16_t to_bits(__half x)
{
    return __half_as_ushort(x);
}

static uint16_t to_bits(__nv_bfloat16 x)
{
    return __bfloat16_as_ushort(x);
}

template <typename T> static void write_floats()
{
    for (int bits = 0; bits < 65536; bits++) {
        float x = from_bits((uint16_t)bits, T());
        fwrite(&x, sizeof(x), 1, output);
    }
}

static void write_rounded(double x)
{
    const float f = (float)x;
    const uint16_t bits[] = {to_bits(__double2half(x)),       to_bits(__float2half(f)),
                             to_bits(__float2half_rz(f)),     to_bits(__float2half_ru(f)),
                             to_bits(__float2half_rd(f)),     to_bits(__double2bfloat16(x)),
                             to_bits(__float2bfloat16(f)),    to_bits(__float2bfloat16_rz(f)),
                             to_bits(__float2bfloat16_ru(f)), to_bits(__float2bfloat16_rd(f))};
    fwrite(bits, sizeof(bits), 1, output);
}

template <typename T> static void write_results(const uint16_t *operands)
{
    const T a = from_bits(operands[0], T()), b = from_bits(operands[1], T()), c = from_bits(operands[2], T());
#if defined __NVCC__ /* nvcc needs a device function here */
    const T fma = c;
#else
    const T fma = __hfma(a, b, c);
#endif
    const uint16_t bits[] = {to_bits(a + b), to_bits(a - b), to_bits(a * b), to_bits(a / b), to_bits(fma)};
    fwrite(bits, sizeof(bits), 1, output);
}

int main(int, char **argv)
{
    double x;
    uint16_t operands[3];
    FILE *doubles = fopen(argv[1], "rb"), *patterns = fopen(argv[2], "rb");
    output = fopen(argv[3], "wb");
    write_floats<__half>();
    write_floats<__nv_bfloat16>();
    while (fread(&x, sizeof(x), 1, doubles) == 1)
        write_rounded(x);
    while (fread(operands, sizeof(operands), 1, patterns) == 1) {
        write_results<__half>(operands);
        write_results<__nv_bfloat16>(operands);
    }
    fclose(doubles);
    fclose(patterns);
    return fclose(output);
}
