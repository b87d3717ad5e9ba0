#define WEIGHT 0.25
