/* quat_ops.h - operators of quaternions. */
#ifndef QUAT_DETAIL_QUAT_OPS_H
#define QUAT_DETAIL_QUAT_OPS_H

#include "../quat.h"

#define QUAT_FUNCTION constexpr __host__ __device__

QUAT_FUNCTION Quat operator*(const Quat &a, const Quat &b)
{
    return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

QUAT_FUNCTION Quat operator~(const Quat &a)
{
    return {a.w, -a.x, -a.y, -a.z};
}

QUAT_FUNCTION float norm2(const Quat &a)
{
    return a.w * a.w + a.x * a.x + a.y * a.y + a.z * a.z;
}

QUAT_FUNCTION Quat operator/(const Quat &a, float s)
{
    return {a.w / s, a.x / s, a.y / s, a.z / s};
}

inline std::ostream &operator<<(std::ostream &out, const Quat &a)
{
    return out << a.w << " + " << a.x << "i + " << a.y << "j + " << a.z << 'k';
}

#undef QUAT_FUNCTION
#endif
