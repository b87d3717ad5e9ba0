/* bad_attributes - clusters and early beginnings that no launch can have. */
#pragma cf kernel blocks(n) cluster(2) out(y[n])
__global__ void __cluster_dims__(2) cluster_twice(float *y, int n)
{
    y[0] = 0;
}
#pragma cf kernel blocks(n) cluster(2) cluster(2) out(y[n])
__global__ void two_clusters(float *y, int n)
{
    y[0] = 0;
}
#pragma cf kernel blocks(n) cluster(n) out(y[n])
__global__ void cluster_of_a_parameter(float *y, int n)
{
    y[0] = 0;
}
#pragma cf kernel blocks(n) cluster(4, 5) out(y[n])
__global__ void cluster_too_large(float *y, int n)
{
    y[0] = 0;
}
#pragma cf kernel blocks(n) cluster(1, 1, 1, 1) out(y[n])
__global__ void cluster_of_four_dimensions(float *y, int n)
{
    y[0] = 0;
}
#pragma cf kernel blocks(n) cluster(2) cooperative out(y[n])
__global__ void cluster_of_a_grid(float *y, int n)
{
    y[0] = 0;
}
#pragma cf kernel grid(n) cluster(1, 2) out(y[n])
__global__ void cluster_along_no_axis(float *y, int n)
{
    y[0] = 0;
}
#pragma cf kernel blocks(6) cluster(4) out(y[n])
__global__ void cluster_of_a_part(float *y, int n)
{
    y[0] = 0;
}
#pragma cf kernel grid(n) block(auto) cluster(2) out(y[n])
__global__ void cluster_of_any_block(float *y, int n)
{
    y[0] = 0;
}
#pragma cf kernel grid(n) cluster(2) split(n) out(y[n])
__global__ void cluster_of_split_elements(float *y, int n)
{
    y[0] = 0;
}
#pragma cf kernel grid(n) dependent cooperative out(y[n])
__global__ void dependent_on_a_grid(float *y, int n)
{
    y[0] = 0;
}
#pragma cf kernel grid(n) dependent dependent out(y[n])
__global__ void dependent_twice(float *y, int n)
{
    y[0] = 0;
}
#pragma cf operation uses(cluster_twice) cluster(2)
int cluster_of_an_operation(cf_stream stream, float *y, int n);
#pragma cf kernel blocks(n) cluster(2) host(none) out(y[n])
__global__ void __block_size__((256, 1, 1), (2, 1, 1)) sizes_twice(float *y, int n)
{
    y[0] = 0;
}
