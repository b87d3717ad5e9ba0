/* fem_triangle.h - a triangle and its geometry; this header and fem_point.h each include details of the other. */
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
