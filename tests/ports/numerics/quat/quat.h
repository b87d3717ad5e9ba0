/* quat.h - quaternions; their operators are in a subfolder. */
#ifndef QUAT_QUAT_H
#define QUAT_QUAT_H

#ifdef __cplusplus
#include <cmath>
#include <iostream>
#endif

struct Quat {
    float w, x, y, z;
};

#ifdef __CUDACC__
#include "detail/quat_ops.h"
#endif

#endif
