/* gather_instances.h - every instance of gather: its name, and the types of elements and indices. */
#ifndef GATHER_INSTANCES_H
#define GATHER_INSTANCES_H

#define INSTANCES(X)             \
    X(f32_i32, float, int32_t)   \
    X(f32_i64, float, int64_t)   \
    X(f64_i32, double, int32_t)  \
    X(f64_i64, double, int64_t)  \
    X(i32_i32, int32_t, int32_t) \
    X(i32_i64, int32_t, int64_t) \
    X(i64_i32, int64_t, int32_t) \
    X(i64_i64, int64_t, int64_t)

#endif
