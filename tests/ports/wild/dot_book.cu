/* dot_book.cu - a dot product by blocks, and spheres in constant memory, in a textbook's manner. */
#include "common/book.h"
#include <math.h>

#define imin(a,b) (a<b?a:b)
#define INF     2e10f
#define rnd( x ) (x * rand() / RAND_MAX)
#define SPHERES 8

const int threadsPerBlock = 256;
const int N = 33 * 1024;
const int blocksPerGrid =
            imin( 32, (N+threadsPerBlock-1) / threadsPerBlock );

#pragma cf kernel blocks(blocksPerGrid) block(threadsPerBlock) in(a[N], b[N]) out(c[blocksPerGrid]) tolerance(1e-4)
__global__ void dot( float *a, float *b, float *c ) {
    __shared__ float cache[threadsPerBlock];
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    int cacheIndex = threadIdx.x;

    float   temp = 0;
    while (tid < N) {
        temp += a[tid] * b[tid];
        tid += blockDim.x * gridDim.x;
    }
    cache[cacheIndex] = temp;
    __syncthreads();

    int i = blockDim.x/2;
    while (i != 0) {
        if (cacheIndex < i)
            cache[cacheIndex] += cache[cacheIndex + i];
        __syncthreads();
        i /= 2;
    }
    if (cacheIndex == 0)
        c[blockIdx.x] = cache[0];
}

struct Sphere {
    float   r,b,g;
    float   radius;
    float   x,y,z;
    __device__ float hit( float ox, float oy, float *n ) {
        float dx = ox - x;
        float dy = oy - y;
        if (dx*dx + dy*dy < radius*radius) {
            float dz = sqrtf( radius*radius - dx*dx - dy*dy );
            *n = dz / sqrtf( radius * radius );
            return dz + z;
        }
        return -INF;
    }
};
__constant__ Sphere s[SPHERES];

#pragma cf kernel name(trace_spheres) grid(w, h) block(16, 16) out(ptr[h][w]) check(w % 16 == 0, h % 16 == 0) param(int w, int h)
__global__ void kernel( uchar4 *ptr ) {
    int x = threadIdx.x + blockIdx.x * blockDim.x;
    int y = threadIdx.y + blockIdx.y * blockDim.y;
    int offset = x + y * blockDim.x * gridDim.x;
    float   ox = (x - 32/2);
    float   oy = (y - 32/2);

    float   r=0, g=0, b=0;
    float   maxz = -INF;
    for(int i=0; i<SPHERES; i++) {
        float   n;
        float   t = s[i].hit( ox, oy, &n );
        if (t > maxz) {
            float fscale = n;
            r = s[i].r * fscale;
            g = s[i].g * fscale;
            b = s[i].b * fscale;
            maxz = t;
        }
    }
    ptr[offset].x = (int)(r * 255);
    ptr[offset].y = (int)(g * 255);
    ptr[offset].z = (int)(b * 255);
    ptr[offset].w = 255;
}

#define sum_squares(x)  (x*(x+1)*(2*x+1)/6)

int main( void ) {
    float   *a, c, *partial_c;
    a = new float[N];
    Sphere *temp_s = (Sphere*)malloc( sizeof(Sphere) * SPHERES );
    for (int i=0; i<SPHERES; i++) {
        temp_s[i].r = rnd( 1.0f );
        temp_s[i].x = rnd( 1000.0f ) - 500;
    }
    HANDLE_ERROR( cudaMemcpyToSymbol( s, temp_s,
                                sizeof(Sphere) * SPHERES) );
    partial_c = (float*)malloc( blocksPerGrid*sizeof(float) );
    dot<<<blocksPerGrid,threadsPerBlock>>>( a, a, partial_c );
    c = 0;
    for (int i=0; i<blocksPerGrid; i++) {
        c += partial_c[i];
    }
    printf( "Does GPU value %.6g = %.6g?\n", c,
             2 * sum_squares( (float)(N - 1) ) );
    delete [] a;
}
