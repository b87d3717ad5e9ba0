/* reach_data.h - data that a kernel of reach.cu finds in a header. */
static __device__ float from_header = 1;
