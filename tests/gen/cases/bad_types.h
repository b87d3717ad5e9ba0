/* bad_types.h - types for bad_types.cu. */
struct shared {
    int n;
    float h;
};

struct shaped {
    int sizes[3];
    unsigned int kind : 3;
    struct {
        int n;
    } inner;
};

#ifdef __cplusplus
namespace geometry {
struct point {
    int x;
};
}
#endif
