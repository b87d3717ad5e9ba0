/* test_program_compile.c - programs of CUDA C++: compiled or linked, loaded and launched on any GPU. The played GPU
 * recognizes images by their bytes, so the tests first compile each source once to register its kernels. */
#include "handmade_kernel.h"
#include "saxpy_kernel.h"

#include <pthread.h>
#include <sys/stat.h>

#include <cuferry/program.h>

#include "find/find.h"
#include "program/compile.h"
#include "program/link.h"

#define SAXPY                                                         \
    "extern \"C\" __global__\n"                                       \
    "void saxpy(float a, float *x, float *y, float *out, size_t n)\n" \
    "{\n"                                                             \
    "    int unused;\n"                                               \
    "    size_t tid = blockIdx.x * blockDim.x + threadIdx.x;\n"       \
    "    if (tid < n)\n"                                              \
    "        out[tid] = a * x[tid] + y[tid];\n"                       \
    "}\n"
#define SCALE                                                         \
    "namespace ns { __constant__ int factor; }\n"                     \
    "template <typename T> __global__ void scale(T *x, T a, int n)\n" \
    "{\n"                                                             \
    "    if (threadIdx.x < n)\n"                                      \
    "        x[threadIdx.x] *= a * ns::factor;\n"                     \
    "}\n"
#define MULTIPLY                                                                                \
    "extern \"C\" __device__ int mul_f32_f32(float *product, float x, float y);\n"              \
    "extern \"C\" __global__ void multiply_vectors(float *r, const float *x, const float *y)\n" \
    "{\n"                                                                                       \
    "    mul_f32_f32(&r[threadIdx.x], x[threadIdx.x], y[threadIdx.x]);\n"                       \
    "}\n"
#define MUL                                                                       \
    "extern \"C\" __device__ int mul_f32_f32(float *product, float x, float y)\n" \
    "{\n"                                                                         \
    "    *product = x * y;\n"                                                     \
    "    return 0;\n"                                                             \
    "}\n"
#define MULTIPLY_SIGNATURE "(float *r, float *x, float *y) blocks(1) block(32)"
#define SAXPY_SIGNATURE "(float a, in float x[n], in float y[n], out float out[n], size_t n) grid(n) block(512)"
#define SCALE_SIGNATURE "(float *x, float a, int n) blocks(1) block(n)"

static const cf_program_options exact_options = {.flags = (const char *const[]){"--fmad=false", NULL}};
static const cf_program_options scale_options = {.names = (const char *const[]){"scale<float>", "&ns::factor", NULL}};

/* ---- The kernels that the played GPU runs for these programs ---- */

static int factor;
static void *factor_data = &factor;
static const uint32_t factor_bytes = sizeof factor;

static void scale(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    float *x = *(float *const *)launch->args[0], a = *(const float *)launch->args[1];
    int n = *(const int *)launch->args[2];
    for (int i = 0; i < n && begin < end; i++)
        x[i] *= a * (float)factor;
}

static void multiply_vectors(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    float *r = *(float *const *)launch->args[0];
    const float *x = *(const float *const *)launch->args[1], *y = *(const float *const *)launch->args[2];
    for (uint64_t i = begin * launch->block.x; i < end * launch->block.x; i++)
        r[i] = x[i] * y[i];
}

#define POINTER(param_name)                                                                                      \
    {                                                                                                            \
        .name = param_name, .ctype = "float *", .type = CF_F32, .direction = CF_POINTER, .lanes = 1, .bytes = 4, \
        .align = 4                                                                                               \
    }
static const cf_param multiply_params[] = {POINTER("r"), POINTER("x"), POINTER("y")};
static const cf_param scale_params[] = {
    POINTER("x"),
    VALUE("a", float, CF_F32),
    VALUE("n", int, CF_I32),
};

static struct cf__compiled of_saxpy, of_scale, of_multiply[2];
static uint16_t target[2];
static cf_image saxpy_image = {.sm = target, .ptx = &target[1], .state = &(cf_state){NULL}};
static cf_image scale_image = {.sm = target, .ptx = &target[1], .state = &(cf_state){NULL}};
static cf_image multiply_image[2] = {{.sm = target, .ptx = &target[1], .state = &(cf_state){NULL}},
                                     {.sm = target, .ptx = &target[1], .state = &(cf_state){NULL}}};
static cf_kernel saxpy_twin = {.version = CF_REGISTRY_VERSION,
                               .name = "saxpy",
                               .family = "saxpy",
                               .function = "saxpy",
                               .file = "",
                               .image = &saxpy_image,
                               .entry = "saxpy",
                               .nparams = 5,
                               .params = saxpy_params,
                               .cpu_body = saxpy,
                               .state = &(cf_state){NULL}};
static cf_kernel scale_twin = {.version = CF_REGISTRY_VERSION,
                               .name = "scale",
                               .family = "scale",
                               .function = "scale",
                               .file = "",
                               .image = &scale_image,
                               .nparams = 3,
                               .params = scale_params,
                               .cpu_body = scale,
                               .state = &(cf_state){NULL}};
static cf_symbol factor_twin = {.version = CF_REGISTRY_VERSION,
                                .name = "factor",
                                .function = "set_factor",
                                .bytes = 4,
                                .image = &scale_image,
                                .cpu_data = &factor_data,
                                .cpu_bytes = &factor_bytes,
                                .state = &(cf_state){NULL}};
#define MULTIPLY_TWIN(twin_name, number)                                                                           \
    {                                                                                                              \
        .version = CF_REGISTRY_VERSION, .name = twin_name, .family = twin_name, .function = twin_name, .file = "", \
        .image = &multiply_image[number], .entry = "multiply_vectors", .nparams = 3, .params = multiply_params,    \
        .cpu_body = multiply_vectors, .state = &(cf_state)                                                         \
        {                                                                                                          \
            NULL                                                                                                   \
        }                                                                                                          \
    }
static cf_kernel multiply_twins[2] = {MULTIPLY_TWIN("multiply", 0), MULTIPLY_TWIN("multiply_lto", 1)};
static const cf_kernel *const kernels[] = {&saxpy_twin, &scale_twin, &multiply_twins[0], &multiply_twins[1]};
static const cf_symbol *const symbols[] = {&factor_twin};
static cf_module module = {.version = CF_REGISTRY_VERSION,
                           .prefix = "compiled",
                           .count = 4,
                           .kernels = kernels,
                           .nsymbols = 1,
                           .symbols = symbols};

static int compile_twin(struct cf__compiled *compiled, cf_image *image, const char *source,
                        const cf_program_options *options, int64_t driver)
{
    struct cf__request request = {.function = "compile_twin",
                                  .source = source,
                                  .name = "twin.cu",
                                  .options = options,
                                  .capability = target[0],
                                  .driver = (int)driver};
    if (cf__compile_source(&request, compiled) != CF_OK)
        return -1;
    image->begin = (const unsigned char *)compiled->image;
    image->end = image->begin + compiled->bytes;
    return 0;
}

static const cf_program_input inputs[] = {
    {.name = "multiply.cu", .data = MULTIPLY, .size = sizeof MULTIPLY - 1, .is_source = 1},
    {.name = "mul.cu", .data = MUL, .size = sizeof MUL - 1, .is_source = 1}};

/* Links without or with optimization across the inputs. */
static int link_twin(int is_lto, int64_t driver)
{
    cf_program_options options = {.is_lto = is_lto};
    struct cf__request request = {
        .function = "link_twin", .options = &options, .capability = target[0], .driver = (int)driver};
    if (cf__link_inputs(&request, inputs, 2, &of_multiply[is_lto]) != CF_OK)
        return -1;
    multiply_image[is_lto].begin = (const unsigned char *)of_multiply[is_lto].image;
    multiply_image[is_lto].end = multiply_image[is_lto].begin + of_multiply[is_lto].bytes;
    return 0;
}

static const char *after(const char *text)
{
    return text + strlen(text) + 1;
}

/* ---- Fixture ---- */

static const char *why_not, *why_not_linked; /* reasons to skip tests that need a GPU; NULL: they run */
static cf_program *program;
static const cf_kernel *kernel;
static char folder[64];

static int set_up_group(void **state)
{
    (void)state;
    int64_t capability, driver;
    unsetenv("CF_CACHE");
    why_not = why_not_linked = NEEDS_ANY_GPU;
    if (!on_cuda())
        return 0;
    if (cf_device_property(0, CF_PROPERTY_CAPABILITY, &capability) != CF_OK ||
        cf_device_property(0, CF_PROPERTY_DRIVER, &driver) != CF_OK)
        return -1;
    char path[CF__PATH]; /* NVRTC of the driver's major version, or of an older one */
    why_not = cf__find_part("test", "nvrtc", (int)driver / 1000, path) == CF_OK ? NULL : NEEDS_NVRTC;
    why_not_linked =
        !why_not && cf__find_part("test", "nvJitLink", (int)driver / 1000, path) == CF_OK ? NULL : NEEDS_NVJITLINK;
    if (why_not || !played_gpu_is_in_use())
        return 0;
    target[0] = (uint16_t)capability;
    if (compile_twin(&of_saxpy, &saxpy_image, SAXPY, &exact_options, driver) != 0 ||
        compile_twin(&of_scale, &scale_image, SCALE, &scale_options, driver) != 0)
        return -1;
    module.count = why_not_linked ? 2 : 4;
    if (!why_not_linked && (link_twin(0, driver) != 0 || link_twin(1, driver) != 0))
        return -1;
    scale_twin.entry = after(of_scale.names);
    factor_twin.entry = after(after(scale_twin.entry));
    played_gpu_add(&module);
    return 0;
}

static int tear_down_group(void **state)
{
    (void)state;
    cf__compiled_free(&of_saxpy);
    cf__compiled_free(&of_scale);
    cf__compiled_free(&of_multiply[0]);
    cf__compiled_free(&of_multiply[1]);
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/cf_compiled_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[80];
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    assert_ok(cf_program_unload(program));
    program = NULL;
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    return 0;
}

static void needs_gpu(void)
{
    if (why_not)
        skip_test(why_not);
}

static void compile(const char *source, const char *name, const cf_program_options *options)
{
    if (cf_program_compile(&program, source, name, options) != CF_OK)
        fail_msg("%s", cf_last_error());
}

/* ---- Launches ---- */

enum { BLOCK = 512, GPU_BLOCKS = 32768, PLAYED_BLOCKS = 64 };

static void launch_on(cf_stream stream, size_t n, const float *x, const float *y, float *out)
{
    float *dx, *dy, *dout, a = 2;
    assert_ok(cf_mem_alloc((void **)&dx, n * sizeof *x));
    assert_ok(cf_mem_alloc((void **)&dy, n * sizeof *y));
    assert_ok(cf_mem_alloc((void **)&dout, n * sizeof *out));
    assert_ok(cf_mem_copy_async(stream, dx, x, n * sizeof *x));
    assert_ok(cf_mem_copy_async(stream, dy, y, n * sizeof *y));
    void *const args[] = {&a, &dx, &dy, &dout, &n};
    assert_ok(cf_launch(kernel, stream, args));
    assert_ok(cf_mem_copy_async(stream, out, dout, n * sizeof *out));
    assert_ok(cf_stream_sync(stream));
    assert_ok(cf_mem_free(dx));
    assert_ok(cf_mem_free(dy));
    assert_ok(cf_mem_free(dout));
}

UNWATCHED static void fill(float *x, float *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = (float)(i * 2654435761u % 1000003) / 1000003;
        y[i] = (float)(i * 40503u % 65521) / 65521;
    }
}

UNWATCHED static size_t count_wrong(const float *x, const float *y, const float *out, size_t n)
{
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        volatile float product = 2 * x[i]; /* rounded, as it would be without fused multiply-add */
        wrong += out[i] != product + y[i];
    }
    return wrong;
}

static void expect_saxpy(size_t n)
{
    cf_stream stream;
    float *x = malloc(3 * n * sizeof *x), *y = x + n, *out = y + n;
    assert_non_null(x);
    fill(x, y, n);
    if (cf_program_kernel(program, "saxpy", SAXPY_SIGNATURE, &kernel) != CF_OK)
        fail_msg("%s", cf_last_error());
    assert_ok(cf_stream_create(&stream));
    launch_on(stream, n, x, y, out);
    assert_ok(cf_stream_destroy(stream));
    assert_int_equal(count_wrong(x, y, out, n), 0);
    free(x);
}

/* ---- Success ---- */

TEST_WITH(saxpy_is_exactly_that_of_c, set_up, tear_down)
{
    needs_gpu();
    compile(SAXPY, "saxpy.cu", &exact_options);
    expect_saxpy((size_t)BLOCK * (played_gpu_is_in_use() ? PLAYED_BLOCKS : GPU_BLOCKS));
}

TEST_WITH(name_expressions_stand_for_a_kernel_and_for_data, set_up, tear_down)
{
    needs_gpu();
    const float before[3] = {1, 2, 3};
    float after[3] = {0}, a = 1.5f;
    int n = 3, five = 5;
    void *at = NULL;
    compile(SCALE, "scale.cu", &scale_options);
    if (cf_program_kernel(program, "scale<float>", SCALE_SIGNATURE, &kernel) != CF_OK ||
        cf_program_symbol(program, "&ns::factor", sizeof five, &at) != CF_OK)
        fail_msg("%s", cf_last_error());
    assert_ok(cf_mem_copy(at, &five, sizeof five));
    void *dx = upload(before, sizeof before);
    void *const args[] = {&dx, &a, &n};
    assert_ok(cf_launch(kernel, NULL, args));
    assert_ok(cf_mem_copy(after, dx, sizeof after));
    assert_ok(cf_mem_free(dx));
    for (int i = 0; i < n; i++)
        assert_true(after[i] == 7.5f * before[i]);
    assert_fails(cf_program_kernel(program, "scale<int>", SCALE_SIGNATURE, &kernel), CF_EIMAGE, "scale<int>");
}

static void expect_product(const char *way)
{
    enum { N = 32 };
    float x[N], y[N], product[N];
    for (int i = 0; i < N; i++) {
        x[i] = 1 / (float)(i + 3);
        y[i] = (float)i * 0.7f;
    }
    if (cf_program_kernel(program, "multiply_vectors", MULTIPLY_SIGNATURE, &kernel) != CF_OK)
        fail_msg("%s: %s", way, cf_last_error());
    void *dx = upload(x, sizeof x), *dy = upload(y, sizeof y), *dr = upload(y, sizeof y);
    void *const args[] = {&dr, &dx, &dy};
    assert_ok(cf_launch(kernel, NULL, args));
    assert_ok(cf_mem_copy(product, dr, sizeof product));
    for (int i = 0; i < N; i++)
        assert_true(product[i] == x[i] * y[i]);
    assert_ok(cf_mem_free(dx));
    assert_ok(cf_mem_free(dy));
    assert_ok(cf_mem_free(dr));
}

TEST_WITH(link_calls_a_function_of_another_input, set_up, tear_down)
{
    if (why_not_linked)
        skip_test(why_not_linked);
    for (int is_lto = 0; is_lto < 2; is_lto++) {
        const cf_program_options options = {.is_lto = is_lto, .cache = folder};
        for (unsigned is_hit = 0; is_hit < 2; is_hit++) {
            if (cf_program_link(&program, inputs, 2, &options) != CF_OK)
                fail_msg("%s", cf_last_error());
            expect_product(is_lto ? "with LTO" : "without LTO");
            assert_ok(cf_program_unload(program));
            program = NULL;
        }
    }
    cf_program *none = (cf_program *)&none;
    assert_fails(cf_program_link(&none, inputs, 1, NULL), CF_ECOMPILE,
                 "cf_program_link: undefined symbols: mul_f32_f32 (needed by multiply.cu)");
    assert_null(none);
    assert_non_null(strstr(cf_program_log(NULL), "'mul_f32_f32' in 'multiply.cu'"));
}

TEST_WITH(log_after_success_has_the_warnings, set_up, tear_down)
{
    needs_gpu();
    compile(SAXPY, "dir/saxpy.cu", NULL);
    assert_non_null(strstr(cf_program_log(program), "dir/saxpy.cu(4): warning"));
    assert_non_null(strstr(cf_program_log(program), "\"unused\""));
    assert_ok(cf_program_unload(program));
    assert_string_equal(cf_program_log(program), "");
    compile("__global__ void k() {}", NULL, NULL);
    assert_string_equal(cf_program_log(program), "");
}

TEST_WITH(unloaded_program_is_refused, set_up, tear_down)
{
    needs_gpu();
    compile(SAXPY, NULL, &exact_options);
    expect_saxpy(BLOCK);
    cf_program *gone = program;
    program = NULL;
    assert_ok(cf_program_unload(gone));
    void *const args[5] = {NULL};
    assert_fails(cf_call(kernel, args), CF_EINVAL, "the kernel saxpy belongs to a program that was unloaded");
    assert_fails(cf_program_kernel(gone, "saxpy", SAXPY_SIGNATURE, &kernel), CF_EINVAL, "the program was unloaded");
    assert_fails(cf_program_unload(gone), CF_EINVAL, "cf_program_unload: the program was unloaded");
}

/* ---- The cache ---- */

static void expect_cache(uint64_t entries, uint64_t hits, uint64_t misses)
{
    cf_cache_state cached;
    assert_ok(cf_cache_query(folder, &cached));
    assert_int_equal(cached.entries, entries);
    assert_int_equal(cached.hits, hits);
    assert_int_equal(cached.misses, misses);
}

TEST_WITH(second_compilation_is_a_hit, set_up, tear_down)
{
    needs_gpu();
    cf_program_options options = exact_options;
    options.cache = folder;
    for (unsigned hits = 0; hits < 2; hits++) {
        compile(SAXPY, "saxpy.cu", &options);
        expect_cache(1, hits, 1);
        assert_non_null(strstr(cf_program_log(program), "saxpy.cu(4): warning"));
        expect_saxpy(1000);
        assert_ok(cf_program_unload(program));
        program = NULL;
    }
    options = scale_options; /* the names of these options are in the cache, too */
    options.cache = folder;
    for (unsigned hits = 1; hits < 3; hits++) {
        compile(SCALE, "scale.cu", &options);
        expect_cache(2, hits, 2);
        assert_ok(cf_program_kernel(program, "scale<float>", SCALE_SIGNATURE, &kernel));
        assert_ok(cf_program_unload(program));
        program = NULL;
    }
}

TEST_WITH(cache_of_the_environment_is_used, set_up, tear_down)
{
    needs_gpu();
    setenv("CF_CACHE", folder, 1);
    compile(SAXPY, "saxpy.cu", &exact_options);
    unsetenv("CF_CACHE");
    expect_cache(1, 0, 1);
    chmod(folder, 0770);
    cf_program_options options = exact_options;
    options.cache = folder;
    cf_program *none = program;
    assert_fails(cf_program_compile(&none, SAXPY, "saxpy.cu", &options), CF_EINVAL,
                 "whose mode is 0770; use another folder");
    assert_null(none);
}

/* ---- Failures ---- */

TEST_WITH(log_after_a_failure_has_all_errors, set_up, tear_down)
{
    needs_gpu();
    cf_program *none = (cf_program *)&none;
    assert_int_equal(
        cf_program_compile(&none, "__global__ void k(int *p)\n{\n    *p = x;\n    *p = y;\n}\n", "wrong.cu", NULL),
        CF_ECOMPILE);
    assert_string_equal(cf_last_error(), "cf_program_compile: wrong.cu(3): error: identifier \"x\" is undefined");
    assert_null(none);
    assert_non_null(strstr(cf_program_log(NULL), "wrong.cu(3): error: identifier \"x\" is undefined"));
    assert_non_null(strstr(cf_program_log(NULL), "wrong.cu(4): error: identifier \"y\" is undefined"));
    assert_fails(cf_program_compile(&none, "no C++", NULL, NULL), CF_ECOMPILE, "cf_program_compile: program.cu(1): ");
    assert_non_null(strstr(cf_program_log(NULL), "program.cu(1): "));
    assert_null(strstr(cf_program_log(NULL), "wrong.cu"));
    assert_fails(cf_program_compile(&none, SAXPY, NULL, &(cf_program_options){.time_limit = -1}), CF_EINVAL,
                 "cf_program_compile: options.time_limit is -1");
    assert_fails(cf_program_compile(&none, SAXPY, NULL, &(cf_program_options){.is_lto = 1}), CF_EINVAL,
                 "cf_program_compile: options.is_lto is of cf_program_link() alone");
    assert_string_equal(cf_program_log(NULL), ""); /* the latest failure has no log */
}

/* Runs on a thread of its own, because a thread cannot undo the choice of its device. */
static void *compile_on_the_cpu(void *unused)
{
    (void)unused;
    cf_program *none = (cf_program *)&none;
    static const char expected[] = "cf_program_compile: the calling thread's device is CF_HOST: NVRTC compiles for "
                                   "GPUs; for the CPU, annotate the "
                                   "kernels with #pragma cf kernel, and name cfcc in options.cfcc or CF_CFCC";
    static const char of_link[] = "cf_program_link: the calling thread's device is CF_HOST: nvJitLink links for GPUs";
    if (cf_device_use(CF_HOST) != CF_OK)
        return "the CPU cannot be used";
    if (cf_program_compile(&none, SAXPY, NULL, NULL) != CF_ENOTSUP || strcmp(cf_last_error(), expected) != 0)
        return "the status or the detail is another one";
    if (cf_program_link(&none, inputs, 2, NULL) != CF_ENOTSUP || strcmp(cf_last_error(), of_link) != 0)
        return "the status or the detail of the link is another one";
    return none ? "the program is not NULL" : NULL;
}

TEST_WITH(device_that_is_the_cpu_is_refused, set_up, tear_down)
{
    pthread_t thread;
    void *wrong;
    assert_int_equal(pthread_create(&thread, NULL, compile_on_the_cpu, NULL), 0);
    assert_int_equal(pthread_join(thread, &wrong), 0);
    if (wrong)
        fail_msg("%s", (const char *)wrong);
}

TEST_WITH(null_arguments_are_named, set_up, tear_down)
{
    cf_program *none = (cf_program *)&none;
    assert_fails(cf_program_compile(NULL, SAXPY, NULL, NULL), CF_EINVAL, "cf_program_compile: program is NULL");
    assert_fails(cf_program_compile(&none, NULL, NULL, NULL), CF_EINVAL, "cf_program_compile: source is NULL");
    assert_fails(cf_program_link(NULL, inputs, 2, NULL), CF_EINVAL, "cf_program_link: program is NULL");
    none = (cf_program *)&none;
    assert_fails(cf_program_link(&none, NULL, 2, NULL), CF_EINVAL, "cf_program_link: inputs is NULL");
    assert_null(none);
}

int main(void)
{
    return run_all_tests(set_up_group, tear_down_group);
}
