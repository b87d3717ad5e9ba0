/* fem_triangle.h - a triangle and its geometry; it and fem_point.h include each other's details. */
#ifndef MESH_FEM_TRIANGLE_H
#define MESH_FEM_TRIANGLE_H

#include "fem_point.h"

struct Triangle {
    int a, b, c;
};

#include "detail/gradient.h"

inline bool is_valid(const Triangle &t, int nodes)
{
    for (int i : {t.a, t.b, t.c})
        if (i < 0 || i >= nodes)
            return false;
    return true;
}

#endif
