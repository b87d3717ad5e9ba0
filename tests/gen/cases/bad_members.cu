/* bad_members - checks on members that elements do not have, or that are no integers. */
#include "declared_types.h"

#pragma cf include("declared_types.h")

#pragma cf kernel grid(n) in(edges[n]) check(0 <= edges[:] < n)
__global__ void whole_vector(const int2 *edges, int n);

#pragma cf kernel grid(n) in(boxes[n]) check(0 <= boxes[:] < n)
__global__ void whole_struct(const box *boxes, int n);

#pragma cf kernel grid(n) in(boxes[n]) check(0 <= boxes[:].lo.x < n)
__global__ void no_such_member(const box *boxes, int n);

#pragma cf kernel grid(n) in(boxes[n]) check(0 <= boxes[:].low < n)
__global__ void a_vector(const box *boxes, int n);

#pragma cf kernel grid(n) in(bodies[n]) check(0 <= bodies[:].mass < n)
__global__ void real_member(const body *bodies, int n);

#pragma cf kernel grid(n) in(grids[n]) check(0 <= grids[:].halo < n)
__global__ void whole_array(const grid_t *grids, int n);

#pragma cf kernel grid(n) in(grids[n]) check(0 <= grids[:].halo[2] < n)
__global__ void past_the_end(const grid_t *grids, int n);

#pragma cf kernel grid(n) in(grids[n]) check(0 <= grids[:].halo[n] < n)
__global__ void no_constant(const grid_t *grids, int n);

#pragma cf kernel grid(n) in(grids[n]) check(0 <= grids[:].step.total < n)
__global__ void within_a_struct_without_name(const grid_t *grids, int n);

#pragma cf kernel grid(n) in(grids[n]) check(0 <= grids[:].step < n)
__global__ void a_struct_without_name(const grid_t *grids, int n);

#pragma cf kernel grid(n) in(states[n]) check(0 <= states[:].now < n)
__global__ void of_a_type_without_name(const state *states, int n);

#pragma cf kernel grid(n) in(x[n]) check(0 <= x[:].y < n)
__global__ void numbers(const int *x, int n);

#pragma cf kernel grid(n) out(edges[n]) check(0 <= edges[:].x < n)
__global__ void results(int2 *edges, int n);

#pragma cf kernel grid(n) in(edges[n]) check(0 <= edges[:]. < n)
__global__ void no_name(const int2 *edges, int n);

#pragma cf kernel grid(n) in(edges[n]) check(edges[:].x < edges[:].y)
__global__ void two_members(const int2 *edges, int n);

struct __attribute__((packed)) tagged {
    char tag;
    int key;
};

#pragma cf kernel grid(n) in(rows[n]) check(0 <= rows[:].key < n)
__global__ void packed_member(const tagged *rows, int n);

struct holder {
    short before;
    tagged inner[3];
};

#pragma cf kernel grid(n) in(rows[n]) check(0 <= rows[:].inner[1].key < n)
__global__ void within_a_packed_struct(const holder *rows, int n);
