/* languages_types.h - structs that the kernels of languages.cu share with programs. */
#include <cuda_fp16.h>

struct place {
    float at[2];
    double mass;
};

struct size {
    int count;
};

enum shade { DARK = 1, LIGHT = 2 };

struct ball {
    float4 centre;
    float radius;
};

struct __align__(16) corner
{
    float x, y, z;
};

struct part {
    unsigned char count;
    bool is_twofold;
    enum shade shade;
};
