/* test_program_kernel.c - kernels of real images, namely those of the bundled kernels, on any GPU. */
#include "played_gpu.h"

#include <cuferry/kernels.h>
#include <cuferry/program.h>
#include <cuferry/registry.h>

#include "program/program.h"

#define SIGNATURE "(in float source[M], in int32_t index[N], out float res[N], int64_t N, int64_t M) grid(N)"

static cf_program *program;
static const cf_kernel *kernel;

static const cf_kernel *twin(void)
{
    return cf_kernel_find(&cf_registry, "gather_f32_i32");
}

static int tear_down(void **state)
{
    (void)state;
    assert_ok(cf_program_unload(program));
    program = NULL;
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    return 0;
}

static void load(void)
{
    need_any_gpu();
    const cf_image *image = twin()->image;
    if (cf_program_load(&program, image->begin, (size_t)(image->end - image->begin)) != CF_OK)
        fail_msg("%s", cf_last_error());
}

static void expect_gather(void)
{
    const float source[] = {1, 2, 3}, *source_pointer = source;
    const int32_t index[] = {2, 0, 1, 2}, *index_pointer = index;
    float res[4] = {0}, *res_pointer = res;
    int64_t N = 4, M = 3;
    void *const args[] = {(void *)&source_pointer, (void *)&index_pointer, &res_pointer, &N, &M};
    if (cf_call(kernel, args) != CF_OK)
        fail_msg("%s", cf_last_error());
    assert_true(res[0] == 3 && res[1] == 1 && res[2] == 2 && res[3] == 3);
}

TEST_WITH(kernel_by_a_signature_runs, NULL, tear_down)
{
    load();
    assert_ok(cf_program_kernel(program, twin()->entry, SIGNATURE, &kernel));
    expect_gather();
    const cf_kernel *again;
    assert_ok(cf_program_kernel(program, twin()->entry, SIGNATURE, &again));
    assert_ptr_equal(again, kernel);
}

TEST_WITH(kernel_that_disagrees_is_refused, NULL, tear_down)
{
    load();
    const cf_kernel *none = (const cf_kernel *)&none;
    assert_fails(cf_program_kernel(program, "nothing", SIGNATURE, &none), CF_EIMAGE, "nothing");
    assert_null(none);
    assert_fails(cf_program_kernel(
                     program, twin()->entry,
                     "(in float source[M], in int32_t index[N], out float res[N], int N, int64_t M) grid(N)", &none),
                 CF_EIMAGE, "N has 8 bytes in its image and 4 in its signature");
    assert_fails(
        cf_program_kernel(program, twin()->entry, "(void *source, void *index, void *res, int64_t N) grid(N)", &none),
        CF_EIMAGE, "its image has a parameter of 8 bytes after the 4 parameters of its signature");
    assert_fails(cf_program_kernel(program, twin()->entry,
                                   "(void *source, void *index, void *res, int64_t N, int64_t M, int O) grid(N)",
                                   &none),
                 CF_EIMAGE, "its image does not know O, parameter 5 of its signature");
}

TEST_WITH(kernel_by_another_name_runs, NULL, tear_down)
{
    static const char name[] = "gather<float, int>";
    load();
    program->names = calloc(1, sizeof name + strlen(twin()->entry) + 2); /* freed when the program is unloaded */
    assert_non_null(program->names);
    strcpy(program->names, name);
    strcpy(program->names + sizeof name, twin()->entry);
    assert_int_equal(cf_program_kernel(program, "gather<float, int>", SIGNATURE, &kernel), CF_OK);
    assert_string_equal(kernel->name, "gather<float, int>");
    expect_gather();
}

/* An image does not contain the number of threads that __launch_bounds__ allows, but the driver knows it. */
TEST_WITH(kernel_with_too_large_a_block_is_refused, NULL, tear_down)
{
    void *none = NULL;
    int64_t n = 1, threads;
    void *const args[] = {&none, &none, &none, &n};
    need_any_gpu();
    const cf_kernel *sum = cf_kernel_find(&cf_registry, "sum_f32");
    sum = sum->nvariants ? sum->variants[0] : sum;
    assert_ok(cf_program_load(&program, sum->image->begin, (size_t)(sum->image->end - sum->image->begin)));
    assert_ok(cf_program_kernel(program, sum->entry,
                                "(void *x, void *result, void *work, int64_t n) blocks(1) block(32, 16)", &kernel));
    assert_ok(cf_kernel_attribute(kernel, CF_ATTRIBUTE_THREADS, &threads));
    assert_int_equal(threads, 256);
    for (int i = 0; i < 3; i++)
        assert_fails(i ? cf_launch(kernel, NULL, args) : cf_call(kernel, args), CF_EINVAL,
                     ": its block has 32 x 16 x 1 threads, and its code allows 256: cuLaunchKernel returned 1");
}

TEST_WITH(attributes_of_a_real_kernel_are_plausible, NULL, tear_down)
{
    int64_t value[6];
    need_any_gpu();
    for (int i = 1; i < 6; i++)
        assert_ok(cf_kernel_attribute(twin(), i, &value[i]));
    assert_in_range(value[CF_ATTRIBUTE_REGISTERS], 8, 255);
    assert_in_range(value[CF_ATTRIBUTE_SHARED], 0, 48 << 10);
    assert_in_range(value[CF_ATTRIBUTE_LOCAL], 0, 1024);
    assert_in_range(value[CF_ATTRIBUTE_THREADS], 256, 1024);
    assert_in_range(value[CF_ATTRIBUTE_BINARY], 50, 999);
}

static const char ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                          ".visible .entry nothing(.param .u32 n)\n{\n\t%s\n\tret;\n}\n";

/* The played GPU cannot compile PTX. */
TEST_WITH(ptx_is_compiled_by_the_driver, NULL, tear_down)
{
    char text[512] = "";
    if (!on_cuda() || played_gpu_is_in_use())
        skip_test(NEEDS_GPU);
    snprintf(text, sizeof text, ptx, "");
    assert_ok(cf_program_load(&program, text, sizeof text)); /* the zeros at the end do not belong to the PTX */
    assert_ok(cf_program_kernel(program, "nothing", "(int n) grid(n)", &kernel));
    int32_t n = 1;
    void *const args[] = {&n};
    assert_ok(cf_call(kernel, args));
    snprintf(text, sizeof text, ptx, "wrong;");
    cf_program *failed;
    assert_int_equal(cf_program_load(&failed, text, strlen(text)), CF_EIMAGE);
    if (!strstr(cf_program_log(NULL), "line 6"))
        fail_msg("%s and \"%s\"", cf_last_error(), cf_program_log(NULL));
}

int main(void)
{
    return run_all_tests(NULL, NULL);
}
