/* bad_types.h - types for bad_types.cu. */
struct shared {
    int n;
    float h;
};

#ifdef __cplusplus
namespace geometry {
struct point {
    int x;
};
}
#endif
