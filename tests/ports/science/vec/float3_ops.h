/* float3_ops.h - arithmetic on float3, as many projects define it. */
#ifndef VEC_FLOAT3_OPS_H
#define VEC_FLOAT3_OPS_H

#include <cuda_runtime.h>
#include <math.h>

#define VEC_OP static __host__ __device__ __inline__

VEC_OP float3 operator-(float3 a, float3 b)
{
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}
VEC_OP float3 operator-(float3 a)
{
    return make_float3(-a.x, -a.y, -a.z);
}
VEC_OP float3 operator*(float3 a, float b)
{
    return make_float3(a.x * b, a.y * b, a.z * b);
}
VEC_OP float3 &operator*=(float3 &a, float b)
{
    return a = a * b;
}
VEC_OP float3 operator/(float3 a, float b)
{
    return a * (1.0f / b);
}
VEC_OP float length(float3 a)
{
    return sqrtf(a.x * a.x + a.y * a.y + a.z * a.z);
}
VEC_OP bool operator==(float3 a, float3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

#endif
