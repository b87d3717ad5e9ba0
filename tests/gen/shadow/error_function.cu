/* error_function.cu - the inverses of the error function, erfcx() and the normal distribution. The expected values were
 * computed with 300 bits. */
#include "expect.h"

#include <math_constants.h>

/* The toolkit's documentation allows eight units in the last place. */
__device__ bool is_close(double value, double expected)
{
    return fabs(value - expected) <= 8 * 2.220446049250313e-16 * fabs(expected);
}

__global__ void check(int *wrong)
{
    volatile double zero = 0; /* keeps the compiler from evaluating the calls */
    EXPECT(is_close(erfinv(1e-300 + zero), 8.8622692545275804e-301));
    EXPECT(is_close(erfinv(-0.25 + zero), -0.2253120550121781));
    EXPECT(is_close(erfinv(0.5 + zero), 0.47693627620446987));
    EXPECT(is_close(erfinv(0.75 + zero), 0.81341984759761854));
    EXPECT(is_close(erfinv(-0.999 + zero), -2.3267537655135245));
    EXPECT(is_close(erfinv(0.9999999999999991 + zero), 5.686128441310391));
    EXPECT(is_close(erfcinv(1e-300 + zero), 26.209469960516124));
    EXPECT(is_close(erfcinv(1e-310 + zero), 26.644806559364763));
    EXPECT(is_close(erfcinv(4.9406564584124654e-324 + zero), 27.21329321081295));
    EXPECT(is_close(erfcinv(1e-08 + zero), 4.0522372438713892));
    EXPECT(is_close(erfcinv(0.25 + zero), 0.81341984759761854));
    EXPECT(is_close(erfcinv(0.5 + zero), 0.47693627620446987));
    EXPECT(is_close(erfcinv(1.25 + zero), -0.2253120550121781));
    EXPECT(is_close(erfcinv(1.75 + zero), -0.81341984759761854));
    EXPECT(is_close(erfcinv(1.9999999999990905 + zero), -5.05125408524939));
    EXPECT(is_close(erfcx(-26.628 + zero), 1.728618506590026e+308));
    EXPECT(is_close(erfcx(-20.0 + zero), 1.0442939379528288e+174));
    EXPECT(is_close(erfcx(-1.5 + zero), 18.653886256262734));
    EXPECT(is_close(erfcx(0.25 + zero), 0.77034654773099674));
    EXPECT(is_close(erfcx(3.0 + zero), 0.17900115118138995));
    EXPECT(is_close(erfcx(9.75 + zero), 0.057565923364815467));
    EXPECT(is_close(erfcx(10.25 + zero), 0.054784586952954528));
    EXPECT(is_close(erfcx(1000000000.0 + zero), 5.6418958354775629e-10));
    EXPECT(is_close(normcdf(-37.0 + zero), 5.7255712225245768e-300));
    EXPECT(is_close(normcdf(-12.5 + zero), 3.7325642988777134e-36));
    EXPECT(is_close(normcdf(-1.0 + zero), 0.15865525393145705));
    EXPECT(is_close(normcdf(0.75 + zero), 0.7733726476231318));
    EXPECT(is_close(normcdf(6.0 + zero), 0.99999999901341235));
    EXPECT(is_close(normcdfinv(1e-300 + zero), -37.047096299361199));
    EXPECT(is_close(normcdfinv(1e-319 + zero), -38.20895087966164));
    EXPECT(is_close(normcdfinv(1e-05 + zero), -4.2648907939228246));
    EXPECT(is_close(normcdfinv(0.3 + zero), -0.52440051270804082));
    EXPECT(is_close(normcdfinv(0.75 + zero), 0.67448975019608174));
    EXPECT(is_close(normcdfinv(0.9999999999999716 + zero), 7.5151552941589076));

    EXPECT(erfinv(1 + zero) == CUDART_INF && erfinv(-1 + zero) == -CUDART_INF && isnan(erfinv(1.5 + zero)));
    EXPECT(erfcinv(zero) == CUDART_INF && erfcinv(2 + zero) == -CUDART_INF && isnan(erfcinv(-1 + zero)));
    EXPECT(erfinv(zero) == 0 && erfcinv(1 + zero) == 0 && normcdfinv(0.5 + zero) == 0);
    EXPECT(normcdfinv(zero) == -CUDART_INF && normcdfinv(1 + zero) == CUDART_INF && isnan(normcdfinv(2 + zero)));
    EXPECT(erfcx(CUDART_INF + zero) == 0 && erfcx(-CUDART_INF + zero) == CUDART_INF && isnan(erfcx(CUDART_NAN + zero)));
    EXPECT(normcdf(CUDART_INF + zero) == 1 && normcdf(-CUDART_INF + zero) == 0 && isnan(normcdf(CUDART_NAN + zero)));
    volatile float nought = 0;
    EXPECT(fabsf(erfinvf(0.5f + nought) - 0.47693628f) < 2e-7f && fabsf(erfcinvf(0.5f + nought) - 0.47693628f) < 2e-7f);
    EXPECT(fabsf(erfcxf(1 + nought) - 0.42758358f) < 2e-7f && fabsf(normcdff(1 + nought) - 0.84134475f) < 2e-7f &&
           fabsf(normcdfinvf(0.25f + nought) + 0.67448975f) < 4e-7f);
    EXPECT(erfinv(0.5f + nought) == erfinvf(0.5f) && sizeof erfcx(nought) == sizeof(float));
}

EXPECT_RUN
