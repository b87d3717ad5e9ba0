// plain_cpu.h - the OpenMP loops of plain_cpu.cpp, in the namespace PLAIN. They compute the same as the kernels of the
// same names. There is no include guard, since cpu.cpp includes the file once for each namespace.

namespace PLAIN
{
void stencil_points(const float *u, float *v, int nx, int ny, int nz);
void stencil_column(const float *u, float *v, int nx, int ny, int nz);
void kmeans_assign(const float *points, const float *centres, int *member, int n, int clusters, int dims);
void welford(const float *x, float *mean, float *variance, int rows, int columns);
void adjust_weights(const float *delta, const float *layer, float *weights, float *change, int to, int from);
void srad(float *image, float *north, float *south, float *west, float *east, float *diffusion, int nx, int ny,
          float q0);
void particle_resample(const float *cumulated, const float *wanted, const float *x, const float *y, float *new_x,
                       float *new_y, int n);
void spmv_thread(const int *start, const int *column, const float *value, const float *x, float *y, int rows,
                 int columns, int count);
void nbody_direct(const float *body, float *force, int n);
void matmul_direct(const float *a, const float *b, float *c, int rows, int inner, int columns);
void conv1d_direct(const float *x, const float *tap, float *y, int n, int taps);
void black_scholes(const float *price, const float *strike, const float *years, float *call, float *put, float rate,
                   float volatility, int n);

void tree_sum(const float *x, float *sums, int n);
void lud(float *a, int n);
void hotspot(const float *power, float *from, float *to, int nx, int ny, int rounds);
void pathfinder(const int *wall, int *from, int *to, int columns, int rows);
void nw(const int *match, int *score, int n, int penalty);
void layer_forward(const float *input, const float *weights, float *partial, int inputs);
void btree_search(const int *keys, const int *query, int *found, int queries, int nodes, int levels);
void cluster_gain(const float *coord, const float *weight, const float *cost, float *gain, int *switches, int n,
                  int dims, int centre);
void particle_weights(const int *picture, const float *x, const float *y, const int *offset, float *weight, float *sums,
                      int n, int points, int nx, int ny);
void conv1d_tile(const float *x, const float *tap, float *y, int n);
void conv2d_tile(const float *image, const float *tap, float *result, int nx, int ny);
void layer_norm(const float *x, const float *gamma, const float *beta, float *y, int rows, int columns);
void softmax_warp(const float *x, float *y, int rows, int columns);
void attention_head(const float *query, const float *key, const float *value, float *res, int queries);
void radix_pass(const unsigned int *keys, int *counts, unsigned int *sorted, int shift, int blocks);
void histogram_shared(const unsigned char *x, int *counts, int n);
void scan(const int *x, int *y, int n, int each);
void transpose_tile(const float *in, float *out, int nx, int ny);
} // namespace PLAIN
