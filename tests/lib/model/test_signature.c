/* test_signature.c - signatures that are read at run time: types, expressions, launch rules, and every kind of
 * refusal. */
#include "run_group.h"

#include <cuferry/registry.h>

#include "model/expr.h"
#include "model/signature.h"

static cf_kernel kernel;
static void *tables;

static int read_signature(const char *text)
{
    free(tables);
    tables = NULL;
    kernel = (cf_kernel){.name = "k", .function = "k"};
    return cf__signature_read("test", text, &kernel, &tables);
}

static int tear_down(void **state)
{
    (void)state;
    free(tables);
    tables = NULL;
    return 0;
}

static void expect_read(const char *text)
{
    if (read_signature(text) != CF_OK)
        fail_msg("%s: %s", text, cf_last_error());
}

/* ---- Parameters ---- */

static const struct {
    const char *text, *name, *ctype;
    cf_type type;
    cf_direction direction;
    uint32_t lanes, bytes, align, ndims;
} declarations[] = {
    {"float a", "a", "float", CF_F32, CF_VALUE, 1, 4, 4, 0},
    {"const double a", "a", "double", CF_F64, CF_VALUE, 1, 8, 8, 0},
    {"char c", "c", "char", CF_INTEGER_TYPE(char), CF_VALUE, 1, 1, 1, 0},
    {"signed char c", "c", "signed char", CF_I8, CF_VALUE, 1, 1, 1, 0},
    {"unsigned short s", "s", "unsigned short", CF_U16, CF_VALUE, 1, 2, 2, 0},
    {"int i", "i", "int", CF_I32, CF_VALUE, 1, 4, 4, 0},
    {"unsigned u", "u", "unsigned", CF_U32, CF_VALUE, 1, 4, 4, 0},
    {"unsigned int u", "u", "unsigned int", CF_U32, CF_VALUE, 1, 4, 4, 0},
    {"long l", "l", "long", CF_I64, CF_VALUE, 1, 8, 8, 0},
    {"long long l", "l", "long long", CF_I64, CF_VALUE, 1, 8, 8, 0},
    {"long int l", "l", "long int", CF_I64, CF_VALUE, 1, 8, 8, 0},
    {"unsigned short int s", "s", "unsigned short int", CF_U16, CF_VALUE, 1, 2, 2, 0},
    {"unsigned long long const l", "l", "unsigned long long", CF_U64, CF_VALUE, 1, 8, 8, 0},
    {"int8_t i", "i", "int8_t", CF_I8, CF_VALUE, 1, 1, 1, 0},
    {"uint64_t i", "i", "uint64_t", CF_U64, CF_VALUE, 1, 8, 8, 0},
    {"size_t n", "n", "size_t", CF_U64, CF_VALUE, 1, 8, 8, 0},
    {"ptrdiff_t n", "n", "ptrdiff_t", CF_I64, CF_VALUE, 1, 8, 8, 0},
    {"bool b", "b", "bool", CF_BOOL, CF_VALUE, 1, 1, 1, 0},
    {"half h", "h", "cf_half", CF_F16, CF_VALUE, 1, 2, 2, 0},
    {"cf_bfloat16 h", "h", "cf_bfloat16", CF_BF16, CF_VALUE, 1, 2, 2, 0},
    {"float4 v", "v", "cf_float4", CF_F32, CF_VALUE, 4, 16, 16, 0},
    {"cf_double3 v", "v", "cf_double3", CF_F64, CF_VALUE, 3, 24, 8, 0},
    {"uchar2 v", "v", "cf_uchar2", CF_U8, CF_VALUE, 2, 2, 2, 0},
    {"half2 v", "v", "cf_half2", CF_F16, CF_VALUE, 2, 4, 4, 0},
    {"complex64 z", "z", "cf_complex64", CF_C64, CF_VALUE, 1, 8, 8, 0},
    {"float *p", "p", "float *", CF_F32, CF_POINTER, 1, 4, 4, 0},
    {"const int2*p", "p", "const cf_int2 *", CF_I32, CF_POINTER, 2, 8, 8, 0},
    {"void *p", "p", "void *", CF_OPAQUE, CF_POINTER, 1, 0, 0, 0},
    {"in float x[7]", "x", "const float *", CF_F32, CF_IN, 1, 4, 4, 1},
    {"out half x[7]", "x", "cf_half *", CF_F16, CF_OUT, 1, 2, 2, 1},
    {"inout long long x [7] [2]", "x", "long long *", CF_I64, CF_INOUT, 1, 8, 8, 2},
    {"in complex128 x[1][2][3][4][5][6][7][8]", "x", "const cf_complex128 *", CF_C128, CF_IN, 1, 16, 16, 8},
    {"int azAZ_09", "azAZ_09", "int", CF_I32, CF_VALUE, 1, 4, 4, 0},
    {"int long_", "long_", "int", CF_I32, CF_VALUE, 1, 4, 4, 0},
};

TEST_WITH(signature_of_each_type_describes_it, NULL, tear_down)
{
    for (size_t i = 0; i < sizeof declarations / sizeof *declarations; i++) {
        char text[128];
        snprintf(text, sizeof text, "(%s)blocks(1)", declarations[i].text);
        expect_read(text);
        assert_int_equal(kernel.nparams, 1);
        const cf_param *param = kernel.params;
        assert_string_equal(param->name, declarations[i].name);
        assert_string_equal(param->ctype, declarations[i].ctype);
        if (param->type != declarations[i].type || param->direction != declarations[i].direction ||
            param->lanes != declarations[i].lanes || param->bytes != declarations[i].bytes ||
            param->align != declarations[i].align || param->ndims != declarations[i].ndims)
            fail_msg("%s: type %d, direction %d, %u lanes, %u bytes, alignment %u, %u dimensions", text, param->type,
                     param->direction, param->lanes, param->bytes, param->align, param->ndims);
        assert_true(!param->lowers && !param->pitches && !param->members);
    }
}

/* ---- Expressions ---- */

static const struct {
    const char *text;
    int64_t n, m, value; /* value OVERFLOWS: expects CF_EOVERFLOW */
} expressions[] = {
#define OVERFLOWS INT64_MIN
    {"7", 0, 0, 7},
    {"0x1F", 0, 0, 31},
    {"017", 0, 0, 15},
    {"0b101ull", 0, 0, 5},
    {"9223372036854775807", 0, 0, INT64_MAX},
    {"n", 12, 0, 12},
    {"n + m * 2", 3, 4, 11},
    {"(n + m) * 2", 3, 4, 14},
    {"n - m - 1", 9, 3, 5},
    {"n / m % 4", 29, 3, 1},
    {"-m + +n", 9, 3, 6},
    {"- -n", 9, 0, 9},
    {"~n", 9, 0, -10},
    {"!n + !m", 9, 0, 1},
    {"n << m >> 1", 3, 4, 24},
    {"n & 6 | m ^ 1", 5, 8, 13},
    {"n < m", 3, 4, 1},
    {"n >= m", 3, 4, 0},
    {"n == m || n != 3", 3, 4, 0},
    {"n && m", 3, 4, 1},
    {"n && m", 3, 0, 0},
    {"m && 8 / m", 0, 0, 0},
    {"m == 0 || 8 / m", 0, 0, 1},
    {"0 < n <= m < 10", 3, 9, 1},
    {"0 < n <= m < 10", 3, 10, 0},
    {"0 < n + 1 * 2 < m", 3, 6, 1},
    {"n ? m : 5", 1, 4, 4},
    {"n ? m : 5", 0, 4, 5},
    {"n == 1 ? 10 : n == 2 ? 20 : 30", 2, 0, 20},
    {"n ? m ? 1 : 2 : 3", 1, 0, 2},
    {"min(n, m) + max(n, m + 1)", 3, 4, 8},
    {"sizeof(double) * n", 2, 0, 16},
    {"sizeof(unsigned long long) + sizeof(float4)", 0, 0, 24},
    {"true + false", 0, 0, 1},
    {"(n+255)/256", 257, 0, 2},
    {"n * n", 3037000500, 0, OVERFLOWS},
    {"n / m", 1, 0, OVERFLOWS},
    {"((((((((((((((((((((n))))))))))))))))))))", 5, 0, 5},
};

TEST_WITH(signature_expressions_are_those_of_annotations, NULL, tear_down)
{
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        char text[256];
        uint64_t n = (uint64_t)expressions[i].n;
        int32_t m = (int32_t)expressions[i].m;
        int64_t value = OVERFLOWS;
        void *pointer = NULL;
        void *const args[] = {&pointer, &n, &m};
        snprintf(text, sizeof text, "(out float x[ %s ], size_t n, int m) grid(%s)", expressions[i].text,
                 expressions[i].text);
        expect_read(text);
        assert_string_equal(kernel.params[0].extents[0].text, expressions[i].text);
        int status = cf__evaluate(&(struct cf__operands){&kernel, args}, &kernel.params[0].extents[0], &value);
        if (value != expressions[i].value || status != (value == OVERFLOWS ? CF_EOVERFLOW : CF_OK))
            fail_msg("%s: status %d, value %lld", expressions[i].text, status, (long long)value);
        assert_int_equal(cf__evaluate(&(struct cf__operands){&kernel, args}, &kernel.launch.grid[0], &value), status);
    }
}

static void expect_result(const cf_expr *expr, const char *text, int64_t expected)
{
    int64_t value = -1;
    int32_t n = 10;
    void *const args[] = {&n};
    assert_string_equal(expr->text, text);
    assert_ok(cf__evaluate(&(struct cf__operands){&kernel, args}, expr, &value));
    assert_int_equal(value, expected);
}

TEST_WITH(signature_launch_rules_are_read, NULL, tear_down)
{
    expect_read("(int n) grid(n)");
    expect_result(&kernel.launch.grid[0], "n", 10);
    expect_result(&kernel.launch.block[0], "256", 256);
    assert_true(!kernel.launch.counts_blocks && !kernel.launch.grid[1].ops && !kernel.launch.block[1].ops &&
                !kernel.launch.shared.ops && !kernel.launch.items.ops && !kernel.launch.is_cooperative);
    expect_read("(int n) block(n, n+1, 2), shared(4*n), blocks(n, 2 , n*3)");
    assert_true(kernel.launch.counts_blocks);
    expect_result(&kernel.launch.grid[1], "2", 2);
    expect_result(&kernel.launch.grid[2], "n*3", 30);
    expect_result(&kernel.launch.block[0], "n", 10);
    expect_result(&kernel.launch.block[1], "n+1", 11);
    expect_result(&kernel.launch.block[2], "2", 2);
    expect_result(&kernel.launch.shared, "4*n", 40);
    expect_read("()\n\tgrid(1)");
    assert_int_equal(kernel.nparams, 0);
}

TEST_WITH(signature_checks_are_read, NULL, tear_down)
{
    expect_read("(int n, float a, double d) grid(n) check(n % 2 == 0, 0 < a <= 0.5 / d) check(d > 1e-3f)");
    assert_int_equal(kernel.nchecks, 3);
    assert_string_equal(kernel.checks[0].text, "n % 2 == 0");
    assert_string_equal(kernel.checks[1].text, "0 < a <= 0.5 / d");
    assert_true(!kernel.checks[0].is_real && kernel.checks[1].is_real && kernel.checks[2].is_real);
    for (int i = 0; i < 3; i++)
        assert_true(kernel.checks[i].array == -1 && !kernel.checks[i].scan && !kernel.checks[i].is_ascending);
    int32_t n = 4;
    float a = 0.25f;
    double d = 2, value = -1;
    void *const args[] = {&n, &a, &d};
    assert_ok(cf__evaluate_real(&(struct cf__operands){&kernel, args}, &kernel.checks[1].condition, &value));
    assert_true(value == 1);
    d = 4;
    assert_ok(cf__evaluate_real(&(struct cf__operands){&kernel, args}, &kernel.checks[1].condition, &value));
    assert_true(value == 0);
    assert_ok(cf__evaluate_real(&(struct cf__operands){&kernel, args}, &kernel.checks[2].condition, &value));
    assert_true(value == 1);
}

TEST_WITH(signature_real_numbers_have_the_values_of_c, NULL, tear_down)
{
    expect_read("(double d) grid(1) check(d == 0.1f, d == 0x1.8p-2, d == 0x1p+4f, d == 0.1)");
    assert_int_equal(kernel.nchecks, 4);
    const double numbers[] = {0.1f, 0.375, 16, 0.1};
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 4; k++) {
            double d = numbers[k], value = -1;
            void *const args[] = {&d};
            assert_ok(cf__evaluate_real(&(struct cf__operands){&kernel, args}, &kernel.checks[i].condition, &value));
            assert_true(value == (i == k));
        }
}

/* ---- Refusals ---- */

static const struct {
    const char *text, *problem;
} refusals[] = {
    {"", "column 1 of the signature: expected '(' before the parameters, found the end"},
    {"float a", "column 1 of the signature: expected '(' before the parameters, found 'float'"},
    {"(", "column 2 of the signature: expected a type, found the end"},
    {"(float", "column 7 of the signature: expected the parameter's name, found the end"},
    {"(float a", "column 9 of the signature: expected ',' or ')' after a parameter, found the end"},
    {"(float a b) grid(1)", "column 10 of the signature: expected ',' or ')' after a parameter, found 'b'"},
    {"(float a,) grid(1)", "column 10 of the signature: expected a type, found ')'"},
    {"(3 a) grid(1)", "column 2 of the signature: expected a type, found '3'"},
    {"(struct s a) grid(1)",
     "column 2 of the signature: 'struct' is no type of a signature, such as float, int, size_t or float4"},
    {"(in quaternion x[1]) grid(1)",
     "column 5 of the signature: 'quaternion' is no type of a signature, such as float, int, size_t or float4"},
    {"(cf_ x) grid(1)",
     "column 2 of the signature: 'x' is no type of a signature, such as float, int, size_t or float4"},
    {"(long double x) grid(1)", "column 14 of the signature: expected ',' or ')' after a parameter, found 'x'"},
    {"(void a) grid(1)", "column 2 of the signature: void is a type of pointers only, as in void *p"},
    {"(in void a[3]) grid(1)", "column 5 of the signature: void is a type of pointers only, as in void *p"},
    {"(float) grid(1)", "column 7 of the signature: expected the parameter's name, found ')'"},
    {"(float **x) grid(1)", "column 9 of the signature: expected the parameter's name, found '*'"},
    {"(in float *x) grid(1)", "column 11 of the signature: expected the array's name, without *, found '*'"},
    {"(in float x) grid(1)", "column 12 of the signature: expected '[' and the array's extent, found ')'"},
    {"(float x[n], int n) grid(n)", "column 2 of the signature: expected in, out or inout before an array"},
    {"(in float x[]) grid(1)", "column 13 of the signature: expected a number, a parameter or '(', found ']'"},
    {"(in float x[1) grid(1)", "column 14 of the signature: expected ']' after the extent, found ')'"},
    {"(in float x[1][2][3][4][5][6][7][8][9]) grid(1)",
     "column 37 of the signature: an array has at most 8 dimensions"},
    {"(int n, float n) grid(n)", "column 15 of the signature: n is declared twice"},
    {"(in float x[m], int n) grid(n)", "column 13 of the signature: 'm' is no parameter of the signature"},
    {"(in float x[x], int n) grid(n)", "column 13 of the signature: x is a pointer; this expression takes integers"},
    {"(float a) grid(a)", "column 16 of the signature: a is float; this expression takes integers"},
    {"(int2 v) grid(v)", "column 15 of the signature: v is cf_int2; this expression takes integers"},
    {"(complex64 z) grid(1) check(z == 0)",
     "column 29 of the signature: z is cf_complex64; this expression takes numbers"},
    {"(int n) grid(0.5)", "column 14 of the signature: '0.5' is no integer; this expression takes integers"},
    {"(int n) grid(0x)", "column 14 of the signature: '0x' is no integer of 63 bits"},
    {"(int n) grid(08)", "column 14 of the signature: '08' is no integer of 63 bits"},
    {"(int n) grid(9223372036854775808)", "column 14 of the signature: '9223372036854775808' is no integer of 63 bits"},
    {"(int n) grid(1) check(1e999 > n)", "column 23 of the signature: '1e999' is no number"},
    {"(int n) grid(1) check(1e39f > n)", "column 23 of the signature: '1e39f' is no number"},
    {"(int n) grid(1) check(0x1.8 > n)", "column 23 of the signature: '0x1.8' is no integer of 63 bits"},
    {"(int n) grid(1) check(1.2.3 > n)", "column 23 of the signature: '1.2.3' is no number"},
    {"(float a, int n) grid(1) check(a % 2 == 0)",
     "column 34 of the signature: the operator takes integers, and the condition has real numbers"},
    {"(float a, int n) grid(1) check(a > ~n)",
     "column 36 of the signature: the operator takes integers, and the condition has real numbers"},
    {"(int n) grid(n +)", "column 17 of the signature: expected a number, a parameter or '(', found ')'"},
    {"(int n) grid((n)", "column 17 of the signature: expected ')' or an operator after the expression, found the end"},
    {"(int n) grid(n n)", "column 16 of the signature: expected ')' or an operator after the expression, found 'n'"},
    {"(int n) grid(n ? 1)", "column 19 of the signature: expected ':' between the two values of ?:, found ')'"},
    {"(int n) grid(min(n))",
     "column 19 of the signature: expected ',' between the two values of min or max, found ')'"},
    {"(int n) grid(max n)", "column 18 of the signature: expected '(' after min or max, found 'n'"},
    {"(int n) grid(sizeof(n))",
     "column 21 of the signature: 'n' is no type of a signature, such as float, int, size_t or float4"},
    {"(int n) grid(sizeof(void))", "column 21 of the signature: void has no size"},
    {"(int n) grid(x[:] < 3)",
     "column 15 of the signature: expected ')' or an operator after the expression, found '['"},
    {"(int n) grid", "column 13 of the signature: expected '(' after the name of a clause, found the end"},
    {"(int n) grid(1, 2, 3, 4)", "column 23 of the signature: grid takes 3 values at most"},
    {"(int n) grid(n) grid(n)", "column 17 of the signature: grid stands twice"},
    {"(int n) grid(n) blocks(n)", "column 26 of the signature: grid and blocks exclude each other"},
    {"(int n)", "column 8 of the signature: grid or blocks is missing"},
    {"(int n) block(n)", "column 17 of the signature: grid or blocks is missing"},
    {"(int n) grid(n) shared(1, 2)", "column 27 of the signature: shared takes 1 value at most"},
    {"(int n) grid(n) items(4)",
     "column 17 of the signature: expected grid, blocks, block, shared or check, found 'items'"},
    {"(int n) grid(n) ;", "column 17 of the signature: expected grid, blocks, block, shared or check, found ';'"},
    {"(int n) grid(n) check()", "column 23 of the signature: expected a number, a parameter or '(', found ')'"},
    {"(int n) grid(0b)", "column 14 of the signature: '0b' is no integer of 63 bits"},
    {"(int n) grid(0bu)", "column 14 of the signature: '0bu' is no integer of 63 bits"},
    {"(int n) grid(0b0b1)", "column 14 of the signature: '0b0b1' is no integer of 63 bits"},
    {"(int n) grid(0b12)", "column 14 of the signature: '0b12' is no integer of 63 bits"},
    {"(int n) grid(1+(2+(3+(4+(5+(6+(7+(8+(9+(1+(2+(3+(4+(5+(6+(7+n))))))))))))))))",
     "column 14 of the signature: the expression needs more than 16 values at once; make it simpler"},
};

TEST_WITH(signature_that_is_wrong_names_the_column, NULL, tear_down)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        char detail[256];
        if (read_signature(refusals[i].text) != CF_EINVAL)
            fail_msg("%s is read", refusals[i].text);
        snprintf(detail, sizeof detail, "test: k: %s", refusals[i].problem);
        if (strcmp(cf_last_error(), detail) != 0)
            fail_msg("\"%s\": %s\nexpected: %s", refusals[i].text, cf_last_error(), detail);
        assert_null(tables);
    }
}

TEST_WITH(signature_nested_too_deep_is_refused, NULL, tear_down)
{
    char text[1024] = "(int n) grid(";
    for (int i = 0; i < 900; i++)
        strcat(text, "(");
    assert_int_equal(read_signature(text), CF_EINVAL);
    assert_non_null(strstr(cf_last_error(), "the expression is nested more than 64 deep"));
    memset(text + 13, '-', 900);
    assert_int_equal(read_signature(text), CF_EINVAL);
    assert_non_null(strstr(cf_last_error(), "the expression is nested more than 64 deep"));
}

/* A chain a < b < c evaluates b twice, so chains within chains multiply the number of steps. */
TEST_WITH(signature_of_nested_comparisons_is_refused, NULL, tear_down)
{
    char text[1024] = "(int n) grid(n) check(";
    for (int i = 0; i < 30; i++)
        strcat(text, "0<(");
    strcat(text, "n");
    for (int i = 0; i < 30; i++)
        strcat(text, ")<2");
    strcat(text, ")");
    assert_int_equal(read_signature(text), CF_EINVAL);
    assert_non_null(strstr(cf_last_error(), "the expression has more than 4096 steps; make it simpler"));
    expect_read("(int n) grid(n) check(0 < (0 < (0 < n < 9) < 2) < 2)");
}

/* Truncates a signature at each place, and changes each of its bytes. Each result is read or refused. */
TEST_WITH(signature_with_any_damage_gets_a_status, NULL, tear_down)
{
    static const char intact[] = "(float a, in float x[n][m * 2], out cf_int4 y[n ? m : 1], void *p, size_t n, int m) "
                                 "grid(min(n, 0x1f), 0 < m < 3 && 1) block(64) shared(~m) check(a > 1e-3, m != 2)";
    static const char others[] = "()[],?:<=>&|^!~+-*/%.\"0x9eE_ \xff";
    char text[sizeof intact];
    long refused = 0, read = 0;
    expect_read(intact);
    for (size_t i = 0; i < sizeof intact - 1; i++) {
        memcpy(text, intact, sizeof intact);
        text[i] = 0;
        assert_true(read_signature(text) == CF_EINVAL || i > 110);
        for (const char *other = others; *other; other++) {
            text[i] = *other;
            int status = read_signature(text);
            assert_true(status == CF_OK || status == CF_EINVAL);
            refused += status == CF_EINVAL;
            read += status == CF_OK;
        }
    }
    assert_true(refused > 1000 && read > 200);
}

/* ---- Random damage, from a seed ---- */

static uint32_t random_state;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % below;
}

static const char *const pieces[] = {"(",
                                     ")",
                                     "[",
                                     "]",
                                     ",",
                                     "*",
                                     "in ",
                                     "out ",
                                     "inout ",
                                     "const ",
                                     "float ",
                                     "int ",
                                     "n",
                                     "m",
                                     "x",
                                     "size_t ",
                                     "unsigned ",
                                     "long ",
                                     "void *",
                                     "float4 ",
                                     "grid(",
                                     "block(",
                                     "blocks(",
                                     "shared(",
                                     "check(",
                                     "min(",
                                     "max(",
                                     "? ",
                                     ": ",
                                     "0",
                                     "1e400",
                                     "0x",
                                     "0b1",
                                     "1e-",
                                     ".5",
                                     "7u",
                                     "9223372036854775807",
                                     "9223372036854775808",
                                     "-",
                                     "!",
                                     "~",
                                     "<<",
                                     ">>",
                                     "<=",
                                     "&&",
                                     "||",
                                     "%",
                                     "/",
                                     "\xff",
                                     "\"",
                                     " ",
                                     "\n",
                                     "complex128 ",
                                     "half2 ",
                                     "abs(",
                                     "==",
                                     "65536",
                                     "3.0f",
                                     "x[n][m]",
                                     "(n, m)",
                                     "-n +",
                                     "2 * ",
                                     "n ? 3 : ",
                                     "~m & ",
                                     "(m < 7) + "};

/* Replaces, removes or inserts pieces of the text, or repeats a part of it. Returns the new length. */
static size_t damage(char *text, size_t length, size_t room)
{
    size_t at = draw((uint32_t)length + 1);
    if (draw(2)) /* a place where an expression may begin */
        at += strcspn(text + at, "([,+*") + (text[at + strcspn(text + at, "([,+*")] != 0);
    size_t gone = draw(2) ? 0 : draw(4) ? draw(6) : draw((uint32_t)length + 1);
    gone = gone < length - at ? gone : length - at;
    const char *piece = pieces[draw(sizeof pieces / sizeof *pieces)];
    char part[64];
    if (length && draw(4) == 0) {
        snprintf(part, sizeof part, "%.*s", (int)(1 + draw(sizeof part - 1)), text + draw((uint32_t)length));
        piece = part;
        gone = 0;
    }
    size_t added = strlen(piece);
    if (length - gone + added >= room)
        return length;
    memmove(text + at + added, text + at + gone, length - at - gone + 1);
    memcpy(text + at, piece, added);
    return length - gone + added;
}

/* Describes a kernel that was read, which shows that its texts end and that its expressions lie within their table. */
static void look_at_kernel(void)
{
    size_t letters = 0;
    for (uint32_t i = 0; i < kernel.nparams; i++)
        letters += strlen(kernel.params[i].name) + strlen(kernel.params[i].ctype) + kernel.params[i].ndims;
    for (uint32_t i = 0; i < kernel.nchecks; i++)
        letters += strlen(kernel.checks[i].text);
    assert_true(letters > 0 || kernel.nparams == 0);
}

/* Makes several changes in correct signatures. The same seed makes the same changes; tools/check --long makes many
 * more. */
TEST_WITH(signature_with_random_damage_gets_a_status, NULL, tear_down)
{
    static const char *const intact[] = {
        /* Each text is in parentheses, since clang would suspect a missing comma between two literals. */
        ("(float a, in float x[n][m * 2], out cf_int4 y[n ? m : 1], void *p, size_t n, int m) "
         "grid(min(n, 0x1f), 0 < m < 3 && 1) block(64) shared(~m) check(a > 1e-3, m != 2)"),
        ("(unsigned long long const n, inout half2 z[n + 1]) blocks((n + 255) / 256, 2, 3) block(32, 4, 2)"),
        ("(const complex64 c, in int8_t k[3][n], int n) grid(n, abs(n) << 2), shared(n * 8) check(n > 0 ? n : 1)"),
        ("() blocks(1)")};
    const uint32_t turns = getenv("CHECK_LONG") ? 1000000 : 30000;
    long refused = 0, read = 0;
    random_state = 43;
    for (uint32_t turn = 0; turn < turns; turn++) {
        char text[512];
        const uint32_t seed = random_state;
        size_t length = (size_t)snprintf(text, sizeof text, "%s", intact[draw(sizeof intact / sizeof *intact)]);
        for (uint32_t changes = draw(2) ? 1 : 1 + draw(4); changes; changes--)
            length = damage(text, length, sizeof text);
        char *copy = strdup(text); /* a copy, so that AddressSanitizer finds reads beyond its end */
        assert_non_null(copy);
        int status = read_signature(copy);
        if (status != CF_OK && (status != CF_EINVAL || !strstr(cf_last_error(), "column ") || tables))
            fail_msg("seed %u: %s: status %d: %s", seed, text, status, cf_last_error());
        free(copy);
        if (status == CF_OK)
            look_at_kernel();
        refused += status != CF_OK;
        read += status == CF_OK;
    }
    if (refused < turns / 4 || read < turns / 100)
        fail_msg("%ld are read, %ld refused", read, refused);
}

int main(void)
{
    return run_all_tests(NULL, NULL);
}
