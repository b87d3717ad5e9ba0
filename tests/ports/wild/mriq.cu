/* mriq.cu - a transform of non-uniform samples, which fills constant memory in parts, as in benchmark suites. */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <cuda.h>
#include <malloc.h>

#define PI   3.1415926535897932384626433832795029f
#define PIx2 6.2831853071795864769252867665590058f

#define K_ELEMS_PER_GRID 512
#define KERNEL_Q_THREADS_PER_BLOCK 256

#define MIN(X,Y) ((X) < (Y) ? (X) : (Y))

#define CUERR { cudaError_t err; \
  if ((err = cudaGetLastError()) != cudaSuccess) { \
  printf("CUDA error: %s, line %d\n", cudaGetErrorString(err), __LINE__); \
  exit(-1); }}

#ifdef __cplusplus
extern "C" {
#endif
struct pb_Parameters {
  char *outFile;
  char **inpFiles;
};
enum pb_TimerID { pb_TimerID_NONE = 0, pb_TimerID_IO, pb_TimerID_KERNEL, pb_TimerID_LAST };
struct pb_Parameters *pb_ReadParameters(int *_argc, char **argv);
void pb_SwitchToTimer(void *timers, enum pb_TimerID timer);
#ifdef __cplusplus
}
#endif

struct kValues {
  float Kx;
  float Ky;
  float Kz;
  float PhiMag;
};

/* Values in the k-space coordinate system are stored in constant memory
 * on the GPU */
__constant__ __device__ kValues ck[K_ELEMS_PER_GRID];

#pragma cf kernel name(compute_phi) grid(numK) block(512) in(phiR[numK], phiI[numK]) out(phiMag[numK])
__global__ void
ComputePhiMag_GPU(float* phiR, float* phiI, float* phiMag, int numK) {
  int indexK = blockIdx.x*512 + threadIdx.x;
  if (indexK < numK) {
    float real = phiR[indexK];
    float imag = phiI[indexK];
    phiMag[indexK] = real*real + imag*imag;
  }
}

#pragma cf kernel name(compute_q) grid(numX) block(KERNEL_Q_THREADS_PER_BLOCK) in(x[numX], y[numX], z[numX]) \
  inout(Qr[numX], Qi[numX]) check(0 <= numK - kGlobalIndex) tolerance(1e-3) param(int numX)
__global__ void
ComputeQ_GPU(int numK, int kGlobalIndex,
	     float* x, float* y, float* z, float* Qr , float* Qi)
{
  float sX;
  float sY;
  float sZ;
  float sQr;
  float sQi;

  // Determine the element of the X arrays computed by this thread
  int xIndex = blockIdx.x*KERNEL_Q_THREADS_PER_BLOCK + threadIdx.x;

  // Read block's X values from global mem to shared mem
  sX = x[xIndex];
  sY = y[xIndex];
  sZ = z[xIndex];
  sQr = Qr[xIndex];
  sQi = Qi[xIndex];

  // Loop over all elements of K in constant mem to compute a partial value
  // for X.
  int kIndex = 0;
  if (numK % 2) {
    float expArg = PIx2 * (ck[0].Kx * sX + ck[0].Ky * sY + ck[0].Kz * sZ);
    sQr += ck[0].PhiMag * cos(expArg);
    sQi += ck[0].PhiMag * sin(expArg);
    kIndex++;
    kGlobalIndex++;
  }

  for (; (kIndex < K_ELEMS_PER_GRID) && (kGlobalIndex < numK);
       kIndex += 2, kGlobalIndex += 2) {
    float expArg = PIx2 * (ck[kIndex].Kx * sX +
			   ck[kIndex].Ky * sY +
			   ck[kIndex].Kz * sZ);
    sQr += ck[kIndex].PhiMag * cos(expArg);
    sQi += ck[kIndex].PhiMag * sin(expArg);

    int kIndex1 = kIndex + 1;
    float expArg1 = PIx2 * (ck[kIndex1].Kx * sX +
			    ck[kIndex1].Ky * sY +
			    ck[kIndex1].Kz * sZ);
    sQr += ck[kIndex1].PhiMag * cos(expArg1);
    sQi += ck[kIndex1].PhiMag * sin(expArg1);
  }

  Qr[xIndex] = sQr;
  Qi[xIndex] = sQi;
}

void computeQ_GPU (int numK, int numX,
                   float* x_d, float* y_d, float* z_d,
                   kValues* kVals,
                   float* Qr_d, float* Qi_d)
{
  int QGrids = numK / K_ELEMS_PER_GRID;
  if (numK % K_ELEMS_PER_GRID) QGrids++;
  int QBlocks = numX / KERNEL_Q_THREADS_PER_BLOCK;
  dim3 DimQBlock(KERNEL_Q_THREADS_PER_BLOCK, 1);
  dim3 DimQGrid(QBlocks, 1);

  for (int QGrid = 0; QGrid < QGrids; QGrid++) {
    // Put the tile of K values into constant mem
    int QGridBase = QGrid * K_ELEMS_PER_GRID;
    kValues* kValsTile = kVals + QGridBase;
    int numElems = MIN(K_ELEMS_PER_GRID, numK - QGridBase);
    cudaMemcpyToSymbol(ck, kValsTile, numElems * sizeof(kValues), 0);
    ComputeQ_GPU <<< DimQGrid, DimQBlock >>>
      (numK, QGridBase, x_d, y_d, z_d, Qr_d, Qi_d);
    CUERR;
  }
}

void createDataStructsCPU(int numK, int numX, float** phiMag,
	 float** Qr, float** Qi)
{
  *phiMag = (float* ) memalign(16, numK * sizeof(float));
  *Qr = (float*) memalign(16, numX * sizeof (float));
}
