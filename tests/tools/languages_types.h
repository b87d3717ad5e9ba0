/* languages_types.h - structs that the kernels of languages.cu share with programs. */
#include <cuda_fp16.h>

struct place {
    float at[2];
    double mass;
};

struct size {
    int count;
};
