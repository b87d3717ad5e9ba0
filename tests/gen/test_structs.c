/* test_structs.c - kernels with types that only the kernel file and a C++ header declare. C programs get these types
 * from the generated header. */
#include <string.h>

#include "expect_all.h"

#include "structs_kernels.h"

enum { N = 300 };

static int is_played; /* the driver is the played GPU, which does not translate pointers in structs */

TEST(structs_by_value_and_in_arrays_have_their_members)
{
    struct Params p = {
        .n = N, .rule = Rule_Add, .shift = {1, 2, 3}, .axis = geo_Z, .tag = "ab", .limits = {{0, 1000}, 1}};
    struct geo_vec v[N];
    for (int i = 0; i < N; i++)
        v[i] = (struct geo_vec){(float)i, 1, 2};
    p.tag[2] = 5;
    assert_ok(structs_change(v, p));
    for (int i = 0; i < N; i++) {
        assert_true(v[i].x == i + 1106 && v[i].z == 2);
        assert_true(v[i].y == v[i].x + 2 + 6);
    }
    p.rule = Rule_Scale;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 2; j++)
            p.weights[i][j] = 10 * i + j;
    assert_ok(structs_change(v, p));
    for (int i = 0; i < N; i++)
        assert_true(v[i].x == (i + 1106) * (10 * (i % 4) + (i & 1)));
}

TEST(sizes_of_a_launch_read_members)
{
    struct Params p = {.n = -1};
    struct geo_vec v = {0, 0, 0};
    assert_int_equal(structs_change(&v, p), CF_EINVAL);
    p.n = 0;
    assert_ok(structs_change(NULL, p));
}

TEST(opaque_types_pass_as_bytes)
{
    struct Counter c[N], one;
    int y[N];
    memset(c, 0xff, sizeof c);
    assert_ok(structs_make(c, N));
    one = c[1];
    assert_ok(structs_count(c, one, y, N));
    for (int i = 0; i < N; i++)
        assert_int_equal(y[i], 10 * i + 6 + 12);
}

TEST(instances_of_class_templates_pass_as_bytes)
{
    if (is_played)
        skip_test("needs the CPU's driver or a GPU");
    struct {
        int *data;
        int count;
    } members = {NULL, 100};
    struct Span_int span;
    int y[N];
    memset(y, 0, sizeof y);
    assert_ok(cf_mem_alloc((void **)&members.data, sizeof y));
    assert_ok(cf_mem_copy(members.data, y, sizeof y));
    assert_int_equal(sizeof members, sizeof span);
    memcpy(&span, &members, sizeof span);
    assert_ok(structs_count_span(span, N));
    assert_ok(cf_mem_copy(y, members.data, sizeof y));
    for (int i = 0; i < N; i++)
        assert_int_equal(y[i], i < 100 ? i : 0);
    assert_ok(cf_mem_free(members.data));
}

TEST(types_of_an_instance_are_those_of_its_traits)
{
    float x[N];
    double wide[N];
    cf_float4 v[N];
    struct geo_vec w[N];
    for (int i = 0; i < N; i++)
        x[i] = (float)i, wide[i] = 2 * i;
    assert_ok(structs_widen(x, v, N));
    assert_ok(structs_widen(wide, w, N));
    for (int i = 0; i < N; i++)
        assert_true(v[i].z == i && w[i].z == 2 * i);
}

TEST(constant_data_of_these_types_have_setters)
{
    const struct geo_vec limits[2] = {{5, 0, 0}, {7, 0, 0}};
    struct geo_vec v[N];
    for (int i = 0; i < N; i++)
        v[i] = (struct geo_vec){(float)i, 0, 0};
    assert_ok(structs_set_limits(limits));
    assert_ok(structs_limit(v, N));
    for (int i = 0; i < N; i++)
        assert_true(v[i].x == (i < 5 ? i : i & 1 ? (i < 7 ? i : 7) : 5));
}

static int set_up(void **state)
{
    (void)state;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    is_played = library != NULL && dlsym(library, "fake_cuda_add") != NULL;
    if (library)
        dlclose(library);
    played_gpu_add(&structs_registry);
    return 0;
}

int main(void)
{
    return run_all_tests(set_up, NULL);
}
