/* sphere.cu - a step that moves points towards the unit sphere. */

/* Moves each of n points with three coordinates by the fraction `part` of its distance to the sphere. */
#pragma cf kernel grid(n) inout(points[n][3]) split(n)
__global__ void approach(float *points, float part, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float *point = points + 3 * (long long)i;
    const float length = sqrtf(point[0] * point[0] + point[1] * point[1] + point[2] * point[2]);
    for (int d = 0; d < 3; d++)
        point[d] += part * (point[d] / length - point[d]);
}
