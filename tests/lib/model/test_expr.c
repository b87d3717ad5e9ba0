/* test_expr.c - the expressions of annotations: every step, every type of parameter, and overflows. */
#include "run_group.h"

#include "expr_steps.h"
#include "model/expr.h"

#define SKIP(code, steps)   \
    {                       \
        CF_OP_##code, steps \
    }

/* A parameter of each type, then an array. */
static const struct cf_expr extents[] = {
    {"i32 * i64", (const cf_op[]){PARAM(CF_I32), PARAM(CF_I64), OP(MUL), OP(END)}},
    {"u64", (const cf_op[]){PARAM(CF_U64), OP(END)}},
    {"100 / i8", (const cf_op[]){CONST(100), PARAM(CF_I8), OP(DIV), OP(END)}},
};
static const cf_param params[] = {
#define ROW(id, text, c, kind, digits, code) \
    {.name = text, .ctype = #c, .type = id, .direction = CF_VALUE, .bytes = sizeof(c)},
    CF_TYPE_LIST(ROW)
#undef ROW
        {.name = "array",
         .ctype = "float *",
         .type = CF_F32,
         .direction = CF_OUT,
         .bytes = 4,
         .ndims = 3,
         .extents = extents},
};
enum { ARRAY = CF_TYPE_COUNT, PARAMS };
static const cf_kernel kernel = {
    .version = CF_REGISTRY_VERSION,
    .name = "every",
    .function = "cf_every",
    .nparams = PARAMS,
    .params = params,
};

static struct {
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    float f32;
    double f64;
} values;
static void *const args[PARAMS] = {
    [CF_I8] = &values.i8,   [CF_I16] = &values.i16, [CF_I32] = &values.i32, [CF_I64] = &values.i64,
    [CF_U8] = &values.u8,   [CF_U16] = &values.u16, [CF_U32] = &values.u32, [CF_U64] = &values.u64,
    [CF_F32] = &values.f32, [CF_F64] = &values.f64,
};

static int clear_values(void **state)
{
    (void)state;
    memset(&values, 0, sizeof values);
    return 0;
}

static void expect(const cf_op *ops, int64_t value)
{
    const cf_expr expr = {"expression", ops};
    int64_t result = 0x5a5a5a5a5a5a5a5a;
    assert_ok(cf__evaluate(&(struct cf__operands){&kernel, args}, &expr, &result));
    assert_int_equal(result, value);
}

static void expect_overflow(const cf_op *ops)
{
    const cf_expr expr = {"expression", ops};
    int64_t result = 0x5a5a5a5a5a5a5a5a;
    assert_int_equal(cf__evaluate(&(struct cf__operands){&kernel, args}, &expr, &result), CF_EOVERFLOW);
    assert_int_equal(result, 0x5a5a5a5a5a5a5a5a);
}

static void expect_binary(int32_t code, int64_t left, int64_t right, int64_t value)
{
    expect(OPS(CONST(left), CONST(right), {code, 0}), value);
}

static void expect_binary_overflow(int32_t code, int64_t left, int64_t right)
{
    expect_overflow(OPS(CONST(left), CONST(right), {code, 0}));
}

/* ---- Steps ---- */

TEST_WITH(evaluate_constant_is_itself, clear_values, NULL)
{
    static const int64_t all[] = {0, 1, -1, 42, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        expect(OPS(CONST(all[i])), all[i]);
}

TEST_WITH(evaluate_arithmetic_is_exact, clear_values, NULL)
{
    expect_binary(CF_OP_ADD, 40, 2, 42);
    expect_binary(CF_OP_ADD, INT64_MAX, INT64_MIN, -1);
    expect_binary(CF_OP_ADD, INT64_MAX - 1, 1, INT64_MAX);
    expect_binary(CF_OP_SUB, 40, 2, 38);
    expect_binary(CF_OP_SUB, 2, 40, -38);
    expect_binary(CF_OP_SUB, INT64_MIN + 1, 1, INT64_MIN);
    expect_binary(CF_OP_SUB, -1, INT64_MIN, INT64_MAX);
    expect_binary(CF_OP_MUL, -6, 7, -42);
    expect_binary(CF_OP_MUL, (int64_t)1 << 62, -2, INT64_MIN);
    expect_binary(CF_OP_MUL, 3037000499, 3037000499, 9223372030926249001);
    expect(OPS(CONST(5), OP(NEG)), -5);
    expect(OPS(CONST(INT64_MAX), OP(NEG)), -INT64_MAX);
    expect(OPS(CONST(0), OP(NEG)), 0);
}

TEST_WITH(evaluate_division_truncates_towards_0, clear_values, NULL)
{
    expect_binary(CF_OP_DIV, 7, 2, 3);
    expect_binary(CF_OP_DIV, -7, 2, -3);
    expect_binary(CF_OP_DIV, 7, -2, -3);
    expect_binary(CF_OP_DIV, -7, -2, 3);
    expect_binary(CF_OP_DIV, INT64_MIN, 1, INT64_MIN);
    expect_binary(CF_OP_DIV, INT64_MIN + 1, -1, INT64_MAX);
    expect_binary(CF_OP_MOD, 7, 2, 1);
    expect_binary(CF_OP_MOD, -7, 2, -1);
    expect_binary(CF_OP_MOD, 7, -2, 1);
    expect_binary(CF_OP_MOD, -7, -2, -1);
    expect_binary(CF_OP_MOD, INT64_MIN, 2, 0);
}

TEST_WITH(evaluate_min_max_take_the_signed_one, clear_values, NULL)
{
    expect_binary(CF_OP_MIN, 3, 5, 3);
    expect_binary(CF_OP_MIN, 5, 3, 3);
    expect_binary(CF_OP_MIN, -1, 1, -1);
    expect_binary(CF_OP_MIN, INT64_MIN, INT64_MAX, INT64_MIN);
    expect_binary(CF_OP_MAX, 3, 5, 5);
    expect_binary(CF_OP_MAX, 5, 3, 5);
    expect_binary(CF_OP_MAX, -1, 1, 1);
    expect_binary(CF_OP_MAX, INT64_MIN, INT64_MAX, INT64_MAX);
}

TEST_WITH(evaluate_comparison_is_0_or_1, clear_values, NULL)
{
    static const struct {
        int64_t left, right;
        int lt, eq;
    } rows[] = {
        {1, 2, 1, 0},
        {2, 1, 0, 0},
        {2, 2, 0, 1},
        {-1, 1, 1, 0},
        {1, -1, 0, 0},
        {INT64_MIN, INT64_MAX, 1, 0},
        {INT64_MAX, INT64_MIN, 0, 0},
        {INT64_MIN, INT64_MIN, 0, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int lt = rows[i].lt, eq = rows[i].eq;
        expect_binary(CF_OP_LT, rows[i].left, rows[i].right, lt);
        expect_binary(CF_OP_LE, rows[i].left, rows[i].right, lt || eq);
        expect_binary(CF_OP_GT, rows[i].left, rows[i].right, !(lt || eq));
        expect_binary(CF_OP_GE, rows[i].left, rows[i].right, !lt);
        expect_binary(CF_OP_EQ, rows[i].left, rows[i].right, eq);
        expect_binary(CF_OP_NE, rows[i].left, rows[i].right, !eq);
    }
}

TEST_WITH(evaluate_not_is_0_or_1, clear_values, NULL)
{
    expect(OPS(CONST(0), OP(NOT)), 1);
    expect(OPS(CONST(1), OP(NOT)), 0);
    expect(OPS(CONST(-7), OP(NOT)), 0);
    expect(OPS(CONST(INT64_MIN), OP(NOT), OP(NOT)), 1);
}

TEST_WITH(evaluate_logic_is_that_of_c, clear_values, NULL)
{
    for (int left = 0; left < 2; left++)
        for (int right = 0; right < 2; right++) {
            expect(OPS(CONST(left), SKIP(AND, 1), CONST(right)), left && right);
            expect(OPS(CONST(left), SKIP(OR, 1), CONST(right)), left || right);
        }
    /* If the left side decides the result, the result is 0 or 1. */
    expect(OPS(CONST(-9), SKIP(OR, 1), CONST(0)), 1);
    expect(OPS(CONST(7), SKIP(AND, 1), CONST(1)), 1);
}

TEST_WITH(evaluate_logic_decided_skips_the_right_side, clear_values, NULL)
{
    expect(OPS(CONST(0), SKIP(AND, 3), CONST(1), CONST(0), OP(DIV)), 0);
    expect(OPS(CONST(1), SKIP(OR, 3), CONST(1), CONST(0), OP(DIV)), 1);
    expect_overflow(OPS(CONST(1), SKIP(AND, 3), CONST(1), CONST(0), OP(DIV)));
    expect_overflow(OPS(CONST(0), SKIP(OR, 3), CONST(1), CONST(0), OP(DIV)));
    /* (0 && 1 / 0) || 6 == 6: the skip must end at the right step. */
    expect(OPS(CONST(0), SKIP(AND, 3), CONST(1), CONST(0), OP(DIV), SKIP(OR, 3), CONST(6), CONST(6), OP(EQ)), 1);
    /* i64 != 0 && 100 / i64 > 7 */
    const cf_op *guarded =
        OPS(PARAM(CF_I64), CONST(0), OP(NE), SKIP(AND, 5), CONST(100), PARAM(CF_I64), OP(DIV), CONST(7), OP(GT));
    values.i64 = 0;
    expect(guarded, 0);
    values.i64 = 10;
    expect(guarded, 1);
    values.i64 = 100;
    expect(guarded, 0);
}

TEST_WITH(evaluate_postfix_groups_as_written, clear_values, NULL)
{
    expect(OPS(CONST(2), CONST(3), CONST(4), OP(MUL), OP(ADD)), 14);            /* 2 + 3 * 4 */
    expect(OPS(CONST(2), CONST(3), OP(ADD), CONST(4), OP(MUL)), 20);            /* (2 + 3) * 4 */
    expect(OPS(CONST(20), CONST(5), OP(SUB), CONST(3), OP(SUB)), 12);           /* (20 - 5) - 3 */
    expect(OPS(CONST(20), CONST(5), CONST(3), OP(SUB), OP(SUB)), 18);           /* 20 - (5 - 3) */
    expect(OPS(CONST(100), CONST(7), OP(MOD), CONST(2), OP(DIV), OP(NEG)), -1); /* -(100 % 7 / 2) */
    expect(OPS(CONST(1), CONST(2), OP(LT), CONST(2), CONST(1), OP(LT), OP(EQ)), 0);
}

TEST_WITH(evaluate_deepest_stack_fits, clear_values, NULL)
{
    cf_op ops[2 * CF_EXPR_DEPTH];
    size_t count = 0;
    for (int i = 1; i <= CF_EXPR_DEPTH; i++)
        ops[count++] = (cf_op){CF_OP_CONST, i};
    for (int i = 1; i < CF_EXPR_DEPTH; i++)
        ops[count++] = (cf_op){CF_OP_ADD, 0};
    ops[count] = (cf_op){CF_OP_END, 0};
    expect(ops, CF_EXPR_DEPTH * (CF_EXPR_DEPTH + 1) / 2);
}

/* ---- Overflow ---- */

TEST_WITH(evaluate_inexact_result_overflows, clear_values, NULL)
{
    expect_binary_overflow(CF_OP_ADD, INT64_MAX, 1);
    expect_binary_overflow(CF_OP_ADD, INT64_MIN, -1);
    expect_binary_overflow(CF_OP_SUB, INT64_MIN, 1);
    expect_binary_overflow(CF_OP_SUB, 0, INT64_MIN);
    expect_binary_overflow(CF_OP_MUL, INT64_MAX, 2);
    expect_binary_overflow(CF_OP_MUL, (int64_t)1 << 32, (int64_t)1 << 31);
    expect_binary_overflow(CF_OP_MUL, INT64_MIN, -1);
    expect_overflow(OPS(CONST(INT64_MIN), OP(NEG)));
    expect_overflow(OPS(CONST(INT64_MAX), CONST(1), OP(ADD), CONST(1), OP(SUB))); /* before the subtraction */
    expect_overflow(OPS(CONST(INT64_MAX), CONST(2), OP(MUL), CONST(0), OP(MUL)));
}

TEST_WITH(evaluate_division_by_0_overflows, clear_values, NULL)
{
    static const int64_t all[] = {0, 1, -1, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        expect_binary_overflow(CF_OP_DIV, all[i], 0);
        expect_binary_overflow(CF_OP_MOD, all[i], 0);
    }
}

TEST_WITH(evaluate_least_by_minus_1_overflows, clear_values, NULL)
{
    expect_binary_overflow(CF_OP_DIV, INT64_MIN, -1);
    expect_binary_overflow(CF_OP_MOD, INT64_MIN, -1);
}

/* ---- Parameters ---- */

TEST_WITH(evaluate_parameter_keeps_its_value, clear_values, NULL)
{
    values.i8 = INT8_MIN;
    values.i16 = INT16_MIN;
    values.i32 = INT32_MIN;
    values.i64 = INT64_MIN;
    values.u8 = UINT8_MAX;
    values.u16 = UINT16_MAX;
    values.u32 = UINT32_MAX;
    values.u64 = INT64_MAX;
    expect(OPS(PARAM(CF_I8)), INT8_MIN);
    expect(OPS(PARAM(CF_I16)), INT16_MIN);
    expect(OPS(PARAM(CF_I32)), INT32_MIN);
    expect(OPS(PARAM(CF_I64)), INT64_MIN);
    expect(OPS(PARAM(CF_U8)), UINT8_MAX);
    expect(OPS(PARAM(CF_U16)), UINT16_MAX);
    expect(OPS(PARAM(CF_U32)), UINT32_MAX);
    expect(OPS(PARAM(CF_U64)), INT64_MAX);
    values.i8 = INT8_MAX;
    values.i16 = INT16_MAX;
    values.i32 = INT32_MAX;
    values.i64 = INT64_MAX;
    values.u64 = 0;
    expect(OPS(PARAM(CF_I8)), INT8_MAX);
    expect(OPS(PARAM(CF_I16)), INT16_MAX);
    expect(OPS(PARAM(CF_I32)), INT32_MAX);
    expect(OPS(PARAM(CF_I64)), INT64_MAX);
    expect(OPS(PARAM(CF_U64)), 0);
}

TEST_WITH(evaluate_u64_past_int64_overflows, clear_values, NULL)
{
    values.u64 = (uint64_t)INT64_MAX + 1;
    expect_overflow(OPS(PARAM(CF_U64)));
    values.u64 = UINT64_MAX;
    expect_overflow(OPS(CONST(1), PARAM(CF_U64), OP(GT)));
    expect(OPS(CONST(0), SKIP(AND, 1), PARAM(CF_U64)), 0); /* the parameter is not read */
}

TEST_WITH(evaluate_narrow_parameters_are_widened_first, clear_values, NULL)
{
    values.i32 = INT32_MAX;
    values.u32 = UINT32_MAX;
    expect(OPS(PARAM(CF_I32), PARAM(CF_I32), OP(MUL)), (int64_t)INT32_MAX * INT32_MAX);
    expect(OPS(PARAM(CF_U32), CONST(1), OP(ADD)), (int64_t)1 << 32);
}

TEST_WITH(integer_every_type_is_read, clear_values, NULL)
{
    values.i8 = -8, values.i16 = -16, values.i32 = -32, values.i64 = -64;
    values.u8 = 8, values.u16 = 16, values.u32 = 32, values.u64 = 64;
    static const int64_t expected[] = {-8, -16, -32, -64, 8, 16, 32, 64};
    for (uint32_t i = CF_I8; i <= CF_U64; i++) {
        int64_t value = 0;
        assert_ok(cf__read_integer((cf_type)i, args[i], &value));
        assert_int_equal(value, expected[i]);
    }
    int64_t value = 7;
    values.u64 = UINT64_MAX;
    assert_int_equal(cf__read_integer(CF_U64, args[CF_U64], &value), CF_EOVERFLOW);
    assert_int_equal(cf__read_integer(CF_F32, args[CF_F32], &value), CF_EINVAL);
    assert_int_equal(cf__read_integer(CF_F64, args[CF_F64], &value), CF_EINVAL);
    assert_int_equal(value, 7);
}

/* ---- Members ---- */

/* A struct that is passed by value. It has members of all types that an expression can read; one is not aligned. */
struct __attribute__((packed)) grid {
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    bool is_on;
    float f32;
    int32_t n[3];
};
static struct grid grid, other;
static const cf_param grid_params[] = {
    {.name = "g", .ctype = "struct grid", .type = CF_OPAQUE, .direction = CF_VALUE, .bytes = sizeof(struct grid)},
    {.name = "h", .ctype = "struct grid", .type = CF_OPAQUE, .direction = CF_VALUE, .bytes = sizeof(struct grid)},
    {.name = "flag", .ctype = "bool", .type = CF_BOOL, .direction = CF_VALUE, .bytes = 1},
    {.name = "half", .ctype = "cf_half", .type = CF_F16, .direction = CF_VALUE, .bytes = 2},
    {.name = "brain", .ctype = "cf_bfloat16", .type = CF_BF16, .direction = CF_VALUE, .bytes = 2},
    {.name = "z", .ctype = "cf_complex64", .type = CF_C64, .direction = CF_VALUE, .bytes = 8},
};
static const cf_kernel grid_kernel = {
    .version = CF_REGISTRY_VERSION, .name = "grid", .function = "cf_grid", .nparams = 6, .params = grid_params};
static unsigned char flag;
static uint16_t half, brain;
static float complex_value[2];
static void *const grid_args[] = {&grid, &other, &flag, &half, &brain, complex_value};

#define MEMBER(number, type, member)                                         \
    {                                                                        \
        CF_OP_MEMBER, CF_MEMBER(number, type, offsetof(struct grid, member)) \
    }

static void expect_of_grid(const cf_op *ops, int64_t value)
{
    int64_t result = 0x5a5a5a5a5a5a5a5a;
    assert_ok(cf_kernel_evaluate(&grid_kernel, ops, SIZE_MAX, grid_args, &result));
    assert_int_equal(result, value);
}

TEST_WITH(evaluate_members_of_every_type_are_read, clear_values, NULL)
{
    grid = (struct grid){-8, -16, -32, INT64_MIN, 200, 60000, 4000000000, INT64_MAX, true, 1.5F, {7, -8, 9}};
    other.i32 = 1000;
    expect_of_grid(OPS(MEMBER(0, CF_I8, i8)), -8);
    expect_of_grid(OPS(MEMBER(0, CF_I16, i16)), -16);
    expect_of_grid(OPS(MEMBER(0, CF_I32, i32)), -32);
    expect_of_grid(OPS(MEMBER(0, CF_I64, i64)), INT64_MIN);
    expect_of_grid(OPS(MEMBER(0, CF_U8, u8)), 200);
    expect_of_grid(OPS(MEMBER(0, CF_U16, u16)), 60000);
    expect_of_grid(OPS(MEMBER(0, CF_U32, u32)), 4000000000);
    expect_of_grid(OPS(MEMBER(0, CF_U64, u64)), INT64_MAX);
    expect_of_grid(OPS(MEMBER(0, CF_BOOL, is_on)), 1);
    expect_of_grid(OPS(MEMBER(0, CF_I32, n[1])), -8);
    expect_of_grid(OPS(MEMBER(1, CF_I32, i32), MEMBER(0, CF_I32, n[2]), OP(MUL)), 9000);
}

TEST_WITH(evaluate_bool_is_0_or_1, clear_values, NULL)
{
    for (int i = 0; i < 256; i++) {
        flag = (unsigned char)i;
        expect_of_grid(OPS(PARAM(2)), i != 0);
    }
}

TEST_WITH(evaluate_of_what_is_no_integer_is_invalid, clear_values, NULL)
{
    int64_t value = 7;
    grid.u64 = UINT64_MAX;
    assert_fails(cf_kernel_evaluate(&grid_kernel, OPS(MEMBER(0, CF_U64, u64)), SIZE_MAX, grid_args, &value),
                 CF_EOVERFLOW, "cf_grid: an expression overflows");
    assert_fails(cf_kernel_evaluate(&grid_kernel, OPS(MEMBER(0, CF_F32, f32)), SIZE_MAX, grid_args, &value), CF_EINVAL,
                 "cf_grid: an expression of integers reads what is none");
    assert_fails(cf_kernel_evaluate(&grid_kernel, OPS({CF_OP_REAL, 0}), SIZE_MAX, grid_args, &value), CF_EINVAL,
                 "cf_grid: an expression of integers reads what is none");
    assert_int_equal(value, 7);
}

/* ---- Real numbers ---- */

static cf_op constant(double value)
{
    cf_op op = {CF_OP_REAL, 0};
    memcpy(&op.operand, &value, sizeof value);
    return op;
}

static double real_of(const cf_op *ops)
{
    double value = -12345;
    assert_ok(cf_kernel_evaluate_real(&grid_kernel, ops, grid_args, &value));
    return value;
}

TEST_WITH(evaluate_real_is_arithmetic_of_doubles, clear_values, NULL)
{
    const cf_op tiny = constant(1e-6), half_of = constant(0.5), none = constant(0), minus = constant(-7);
    grid.i32 = 3;
    assert_true(real_of(OPS(tiny, MEMBER(0, CF_I32, i32), OP(MUL))) == 1e-6 * 3);
    assert_true(real_of(OPS(CONST(7), CONST(2), OP(DIV))) == 3.5);
    assert_true(real_of(OPS(minus, CONST(2), OP(MOD))) == -1);
    assert_true(real_of(OPS(half_of, CONST(2), OP(SUB), OP(NEG))) == 1.5);
    assert_true(real_of(OPS(half_of, CONST(2), OP(MIN))) == 0.5);
    assert_true(real_of(OPS(half_of, CONST(2), OP(MAX))) == 2);
    assert_true(real_of(OPS(CONST(INT64_MAX), CONST(INT64_MAX), OP(ADD))) == 0x1p64);
    double inf = real_of(OPS(CONST(1), none, OP(DIV))), nan = real_of(OPS(none, none, OP(DIV)));
    assert_true(inf > 1e308 && real_of(OPS(CONST(-1), none, OP(DIV))) == -inf);
    assert_true(nan != nan);
    nan = real_of(OPS(CONST(1), none, OP(MOD)));
    assert_true(nan != nan);
}

TEST_WITH(evaluate_real_compares_and_decides, clear_values, NULL)
{
    static const struct {
        int32_t code;
        int less, same, more; /* results of comparing 0.25 with 0.5, 0.25 and 0.125 */
    } rows[] = {{CF_OP_LT, 1, 0, 0}, {CF_OP_LE, 1, 1, 0}, {CF_OP_GT, 0, 0, 1},
                {CF_OP_GE, 0, 1, 1}, {CF_OP_EQ, 0, 1, 0}, {CF_OP_NE, 1, 0, 1}};
    const cf_op quarter = constant(0.25), half_of = constant(0.5), eighth = constant(0.125);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(real_of(OPS(quarter, half_of, {rows[i].code, 0})) == rows[i].less);
        assert_true(real_of(OPS(quarter, quarter, {rows[i].code, 0})) == rows[i].same);
        assert_true(real_of(OPS(quarter, eighth, {rows[i].code, 0})) == rows[i].more);
    }
    assert_true(real_of(OPS(quarter, OP(NOT))) == 0);
    assert_true(real_of(OPS(CONST(0), OP(NOT))) == 1);
    assert_true(real_of(OPS(quarter, SKIP(OR, 1), PARAM(5))) == 1); /* an operand that is skipped is not read */
    assert_true(real_of(OPS(CONST(0), SKIP(AND, 1), PARAM(5))) == 0);
    assert_true(real_of(OPS(quarter, SKIP(AND, 1), half_of)) == 0.5);
    assert_true(real_of(OPS(CONST(0), SKIP(OR, 1), half_of)) == 0.5);
}

TEST_WITH(evaluate_real_parameters_of_every_width_are_read, clear_values, NULL)
{
    static const struct {
        uint16_t bits;
        double as_half, as_brain;
    } rows[] = {{0, 0, 0},
                {0x3c00, 1, 0.0078125},
                {0xc000, -2, -2},
                {0x0001, 0x1p-24, 0x1p-133},
                {0x03ff, 0x3ffp-24, 0x1.fep-120},
                {0x7bff, 65504, 0},
                {0x3555, 0.333251953125, 0},
                {0x3f80, 0, 1},
                {0x4049, 0, 3.140625}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        half = brain = rows[i].bits;
        if (rows[i].as_half != 0 || !rows[i].bits)
            assert_true(real_of(OPS(PARAM(3))) == rows[i].as_half);
        if (rows[i].as_brain != 0 || !rows[i].bits)
            assert_true(real_of(OPS(PARAM(4))) == rows[i].as_brain);
    }
    half = 0x7c00;
    assert_true(real_of(OPS(PARAM(3))) > 1e308);
    half = 0xfc00;
    assert_true(real_of(OPS(PARAM(3))) < -1e308);
    half = 0x7e00;
    double nan = real_of(OPS(PARAM(3)));
    assert_true(nan != nan);
    grid.f32 = 1.5F;
    grid.u64 = UINT64_MAX;
    assert_true(real_of(OPS(MEMBER(0, CF_F32, f32))) == 1.5);
    assert_true(real_of(OPS(MEMBER(0, CF_U64, u64))) == 0x1p64);
    values.f32 = 0.5F;
    values.f64 = 1e300;
    double value = 0;
    assert_ok(cf_kernel_evaluate_real(&kernel, OPS(PARAM(CF_F32), PARAM(CF_F64), OP(MUL)), args, &value));
    assert_true(value == 0.5 * 1e300);
}

TEST_WITH(evaluate_real_of_what_is_no_number_is_invalid, clear_values, NULL)
{
    double value = 7;
    assert_fails(cf_kernel_evaluate_real(&grid_kernel, OPS(PARAM(5)), grid_args, &value), CF_EINVAL,
                 "cf_grid: an expression reads what is no number");
    assert_fails(cf_kernel_evaluate_real(&grid_kernel, OPS(PARAM(0)), grid_args, &value), CF_EINVAL, "cf_grid");
    assert_fails(cf_kernel_evaluate_real(NULL, OPS(PARAM(0)), grid_args, &value), CF_EINVAL, "kernel is NULL");
    assert_fails(cf_kernel_evaluate_real(&grid_kernel, NULL, grid_args, &value), CF_EINVAL, "ops is NULL");
    assert_fails(cf_kernel_evaluate_real(&grid_kernel, OPS(CONST(0)), NULL, &value), CF_EINVAL, "args is NULL");
    assert_fails(cf_kernel_evaluate_real(&grid_kernel, OPS(CONST(0)), grid_args, NULL), CF_EINVAL, "value is NULL");
    assert_true(value == 7);
}

/* ---- Descriptions ---- */

/* Compares a description with the values that it names, if there are any. */
static void expect_values(const char *got, const char *named)
{
    static const char with[] = " with ";
    if (*named) {
        assert_memory_equal(got, with, sizeof with - 1);
        got += sizeof with - 1;
    }
    assert_string_equal(got, named);
}

static void expect_description(const cf_op *ops, const char *text)
{
    const cf_expr expr = {"expression", ops}, *exprs[] = {&expr};
    char got[160];
    memset(got, 'x', sizeof got);
    cf__describe_values(&(struct cf__operands){&kernel, args}, exprs, 1, got, sizeof got);
    expect_values(got, text);
}

TEST_WITH(describe_parameters_are_named_once_in_order, clear_values, NULL)
{
    values.i8 = -3;
    values.i64 = INT64_MIN;
    values.u32 = UINT32_MAX;
    expect_description(OPS(CONST(7)), "");
    expect_description(OPS(PARAM(CF_I8)), "i8 = -3");
    expect_description(OPS(PARAM(CF_U32), PARAM(CF_I8), OP(MUL), PARAM(CF_U32), OP(ADD), PARAM(CF_I64), OP(SUB)),
                       "u32 = 4294967295, i8 = -3, i64 = -9223372036854775808");
}

TEST_WITH(describe_u64_past_int64_says_so, clear_values, NULL)
{
    values.u64 = UINT64_MAX;
    values.i8 = 1;
    expect_description(OPS(PARAM(CF_U64), PARAM(CF_I8), OP(ADD)),
                       "u64 = 18446744073709551615, which is past 2^63 - 1, i8 = 1");
}

TEST_WITH(describe_short_buffer_is_cut, clear_values, NULL)
{
    const cf_expr expr = {"expression", OPS(PARAM(CF_I8), PARAM(CF_I16), OP(ADD), PARAM(CF_I32), OP(ADD))};
    const cf_expr *const exprs[] = {&expr};
    static const char whole[] = " with i8 = 12, i16 = -345, i32 = 6789";
    values.i8 = 12;
    values.i16 = -345;
    values.i32 = 6789;
    for (size_t size = 1; size < sizeof whole + 4; size++) {
        char got[sizeof whole + 8];
        memset(got, 'x', sizeof got);
        cf__describe_values(&(struct cf__operands){&kernel, args}, exprs, 1, got, size);
        size_t length = size < sizeof whole ? size - 1 : sizeof whole - 1;
        assert_int_equal(strlen(got), length);
        assert_memory_equal(got, whole, length);
        for (size_t i = size; i < sizeof got; i++)
            assert_int_equal(got[i], 'x');
    }
}

static void expect_members(const char *text, const cf_op *ops, const char *description)
{
    const cf_expr expr = {text, ops}, *exprs[] = {&expr};
    char got[160];
    cf__describe_values(&(struct cf__operands){&grid_kernel, grid_args}, exprs, 1, got, sizeof got);
    expect_values(got, description);
}

TEST_WITH(describe_members_are_spelt_as_in_the_text, clear_values, NULL)
{
    grid = (struct grid){.i32 = 3, .i64 = -4, .n = {7, 8, 9}};
    other.i32 = 1000;
    flag = 0;
    expect_members("g.i32", OPS(MEMBER(0, CF_I32, i32)), "g.i32 = 3");
    expect_members("g.i64 * (gg.x + g.i32) - g.i64",
                   OPS(MEMBER(0, CF_I64, i64), CONST(1), MEMBER(0, CF_I32, i32), OP(ADD), OP(MUL),
                       MEMBER(0, CF_I64, i64), OP(SUB)),
                   "g.i64 = -4, g.i32 = 3");
    expect_members("max(h.i32, g.n[1]) / g.n[2] + flag + x.g.n",
                   OPS(MEMBER(1, CF_I32, i32), MEMBER(0, CF_I32, n[1]), OP(MAX), MEMBER(0, CF_I32, n[2]), OP(DIV),
                       PARAM(2), OP(ADD)),
                   "h.i32 = 1000, g.n[1] = 8, g.n[2] = 9, flag = 0");
    /* The expression 0 < g.i32 <= g.i64 reads its middle operand twice. */
    expect_members("0 < g.i32 <= g.i64",
                   OPS(CONST(0), MEMBER(0, CF_I32, i32), OP(LT), SKIP(AND, 3), MEMBER(0, CF_I32, i32),
                       MEMBER(0, CF_I64, i64), OP(LE)),
                   "g.i32 = 3, g.i64 = -4");
}

/* The text has other members than the steps. */
TEST_WITH(describe_member_that_cannot_be_found_names_its_parameter, clear_values, NULL)
{
    grid = (struct grid){.i32 = 3, .i64 = -4};
    expect_members("COUNT", OPS(MEMBER(0, CF_I32, i32)), "a member of g = 3");
    expect_members("g.u8 * g.i32 + g.i64", OPS(MEMBER(0, CF_I32, i32), MEMBER(0, CF_I64, i64), OP(ADD)),
                   "a member of g = 3, a member of g = -4");
    expect_members("g.n[0", OPS(MEMBER(0, CF_I32, i32)), "a member of g = 3");
}

TEST_WITH(describe_several_expressions_names_values_once, clear_values, NULL)
{
    const cf_expr none = {NULL, NULL}, first = {"i8 * i16", OPS(PARAM(CF_I8), PARAM(CF_I16), OP(MUL))};
    const cf_expr second = {"i16 + i32", OPS(PARAM(CF_I16), PARAM(CF_I32), OP(ADD))};
    const cf_expr *const exprs[] = {&none, &first, &none, &second, &first};
    char got[160];
    values.i8 = 1;
    values.i16 = 2;
    values.i32 = 3;
    cf__describe_values(&(struct cf__operands){&kernel, args}, exprs, 5, got, sizeof got);
    expect_values(got, "i8 = 1, i16 = 2, i32 = 3");
    cf__describe_values(&(struct cf__operands){&kernel, args}, exprs, 1, got, sizeof got);
    expect_values(got, "");
}

/* ---- cf_kernel_evaluate() ---- */

static const cf_op *extent(uint32_t dimension)
{
    return kernel.params[ARRAY].extents[dimension].ops;
}

TEST_WITH(kernel_evaluate_every_extent_is_evaluated, clear_values, NULL)
{
    int64_t value = -1;
    values.i32 = 6;
    values.i64 = 7;
    values.u64 = 1234567890123;
    values.i8 = 9;
    assert_ok(cf_kernel_evaluate(&kernel, extent(0), SIZE_MAX, args, &value));
    assert_int_equal(value, 42);
    assert_ok(cf_kernel_evaluate(&kernel, extent(1), SIZE_MAX, args, &value));
    assert_int_equal(value, 1234567890123);
    assert_ok(cf_kernel_evaluate(&kernel, extent(2), SIZE_MAX, args, &value));
    assert_int_equal(value, 11);
}

TEST_WITH(kernel_evaluate_some_steps_stops_after_them, clear_values, NULL)
{
    const cf_op *ops = OPS(CONST(5), CONST(3), OP(SUB), CONST(0), OP(DIV));
    int64_t value = -1;
    assert_ok(cf_kernel_evaluate(&kernel, ops, 1, args, &value));
    assert_int_equal(value, 5);
    assert_ok(cf_kernel_evaluate(&kernel, ops, 3, args, &value));
    assert_int_equal(value, 2);
    assert_fails(cf_kernel_evaluate(&kernel, ops, 5, args, &value), CF_EOVERFLOW, kernel.function);
}

TEST_WITH(kernel_evaluate_other_arguments_are_not_read, clear_values, NULL)
{
    void *few[PARAMS] = {NULL};
    int64_t value = -1;
    values.u64 = 5;
    few[CF_U64] = &values.u64;
    assert_ok(cf_kernel_evaluate(&kernel, extent(1), SIZE_MAX, few, &value));
    assert_int_equal(value, 5);
}

TEST_WITH(kernel_evaluate_overflow_is_reported, clear_values, NULL)
{
    int64_t value = -1;
    values.i32 = 2;
    values.i64 = INT64_MAX;
    values.u64 = UINT64_MAX;
    values.i8 = 0;
    for (uint32_t d = 0; d < 3; d++)
        assert_fails(cf_kernel_evaluate(&kernel, extent(d), SIZE_MAX, args, &value), CF_EOVERFLOW, kernel.function);
    assert_int_equal(value, -1);
}

TEST_WITH(kernel_evaluate_null_is_invalid, clear_values, NULL)
{
    int64_t value = -1;
    assert_fails(cf_kernel_evaluate(NULL, extent(0), 1, args, &value), CF_EINVAL, "kernel is NULL");
    assert_fails(cf_kernel_evaluate(&kernel, NULL, 1, args, &value), CF_EINVAL, "ops is NULL");
    assert_fails(cf_kernel_evaluate(&kernel, extent(0), 1, NULL, &value), CF_EINVAL, "args is NULL");
    assert_fails(cf_kernel_evaluate(&kernel, extent(0), 1, args, NULL), CF_EINVAL, "value is NULL");
    assert_int_equal(value, -1);
}

int main(void)
{
    return run_all_tests(NULL, NULL);
}
