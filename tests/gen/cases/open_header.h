static inline float half_of(float x)
{
    if (x > 0) {
        return x / 2;
    return x;
}
