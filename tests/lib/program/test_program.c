/* test_program.c - programs: loading, kernels that are found by signatures, calls and launches, data, attributes, and
 * unloading. The images are made by hand; the played GPU recognizes them by their bytes. */
#include "handmade_kernel.h"

#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

#include <cuferry/program.h>

#include "program_image.h"
#include "saxpy_kernel.h"
#include "program/program.h"

/* ---- The kernels that the played GPU runs for these images ---- */

#define SIGNATURE "(float a, in float x[n], in float y[n], out float out[n], size_t n) grid(n) block(512) check(a != 0)"

static float coeff[3] = {0, 0, 0};
static void *coeff_data = coeff;
static const uint32_t coeff_bytes = sizeof coeff;

static void weigh(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    float *x = *(float *const *)launch->args[0];
    for (uint64_t i = begin; i < end; i++)
        x[i] *= coeff[i % 3];
}

static const cf_param weigh_params[] = {
    {.name = "x", .ctype = "float *", .type = CF_F32, .direction = CF_POINTER, .lanes = 1, .bytes = 4, .align = 4}};

static struct program_image cubin, fatbin, ptx, odd, old;

#define SAXPY(made)                                                                                          \
    {                                                                                                        \
        .version = CF_REGISTRY_VERSION, .name = "saxpy", .family = "saxpy", .function = "saxpy", .file = "", \
        .image = &(made).image, .entry = "saxpy", .nparams = 5, .params = saxpy_params, .cpu_body = saxpy,   \
        .launch = {.grid = {NUMBER("n", 4)}, .block = {FIXED(512)}}, .state = &(cf_state)                    \
        {                                                                                                    \
            NULL                                                                                             \
        }                                                                                                    \
    }

static const cf_kernel in_cubin = SAXPY(cubin), in_fatbin = SAXPY(fatbin), in_ptx = SAXPY(ptx), in_odd = SAXPY(odd);
static const cf_kernel in_old = SAXPY(old);
static const cf_kernel weigh_kernel = {.version = CF_REGISTRY_VERSION,
                                       .name = "weigh",
                                       .family = "weigh",
                                       .function = "weigh",
                                       .file = "",
                                       .image = &cubin.image,
                                       .entry = "weigh",
                                       .nparams = 1,
                                       .params = weigh_params,
                                       .cpu_body = weigh,
                                       .state = &(cf_state){NULL}};
static const cf_symbol coeff_symbol = {.version = CF_REGISTRY_VERSION,
                                       .name = "coeff",
                                       .function = "set_coeff",
                                       .bytes = 12,
                                       .image = &cubin.image,
                                       .entry = "coeff",
                                       .cpu_data = &coeff_data,
                                       .cpu_bytes = &coeff_bytes,
                                       .state = &(cf_state){NULL}};
static const cf_kernel *const kernels[] = {&in_cubin, &in_fatbin, &in_ptx, &in_odd, &in_old, &weigh_kernel};
static const cf_symbol *const symbols[] = {&coeff_symbol};
static const cf_module module = {.version = CF_REGISTRY_VERSION,
                                 .prefix = "made",
                                 .count = 6,
                                 .kernels = kernels,
                                 .nsymbols = 1,
                                 .symbols = symbols};

static void make_images(void)
{
    make_cubin(&cubin, "saxpy", 90);
    make_fatbin(&fatbin, "saxpy", 90);
    make_ptx(&ptx, "saxpy", 80, "");
    make_ptx(&odd, "saxpy", 80, FAKE_WARNING_PTX);
    make_cubin(&old, "saxpy", 80);
}

/* ---- Fixture ---- */

enum { N = 1000 };
static float x[N], y[N], out[N];
static cf_program *program;
static const cf_kernel *kernel;

static int tear_down(void **state)
{
    (void)state;
    cf_program *left = program;
    program = NULL;
    kernel = NULL;
    cf_set_log(NULL, NULL);
    assert_ok(cf_program_unload(left));
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    return 0;
}

static void needs_gpu(void)
{
    int count = 0;
    if (cf_device_count(&count) != CF_OK || count == 0)
        skip_test(NEEDS_PLAYED_GPU);
}

static void load(const struct program_image *made)
{
    needs_gpu();
    if (cf_program_load(&program, made->bytes, made->size) != CF_OK)
        fail_msg("%s", cf_last_error());
    if (cf_program_kernel(program, "saxpy", SIGNATURE, &kernel) != CF_OK)
        fail_msg("%s", cf_last_error());
}

static void fill(void)
{
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = (float)(i % 7);
        out[i] = -1;
    }
}

static void expect_result(const float *result, float a)
{
    for (int i = 0; i < N; i++)
        assert_true(result[i] == a * x[i] + y[i]);
}

static int call_with(const cf_kernel *of, float a, const void *of_x, const void *of_y, void *of_out, size_t n)
{
    void *const args[] = {&a, &of_x, &of_y, &of_out, &n};
    return cf_call(of, args);
}

static int launch_with(cf_stream stream, float a, const void *of_x, const void *of_y, void *of_out, size_t n)
{
    void *const args[] = {&a, &of_x, &of_y, &of_out, &n};
    return cf_launch(kernel, stream, args);
}

static void expect_call(void)
{
    fill();
    if (call_with(kernel, 2, x, y, out, N) != CF_OK)
        fail_msg("%s", cf_last_error());
    expect_result(out, 2);
}

/* ---- Loading ---- */

FAKE_TEST(program_of_each_kind_runs, "CF_DRIVER=cuda")
{
    const struct program_image *made[] = {&cubin, &fatbin, &ptx};
    for (int i = 0; i < 3; i++) {
        load(made[i]);
        assert_string_equal(cf_program_log(program), "");
        expect_call();
        assert_ok(cf_program_unload(program));
        program = NULL;
    }
}

FAKE_TEST(program_of_a_file_runs, "CF_DRIVER=cuda")
{
    needs_gpu();
    char path[] = "/tmp/cf_programXXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, fatbin.bytes, fatbin.size), (ssize_t)fatbin.size);
    close(file);
    int status = cf_program_load_file(&program, path);
    assert_int_equal(truncate(path, 0), 0);
    cf_program *other = (cf_program *)&other;
    int of_empty = cf_program_load_file(&other, path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(status, CF_OK);
    assert_ok(cf_program_kernel(program, "saxpy", SIGNATURE, &kernel));
    expect_call();
    assert_int_equal(of_empty, CF_EIMAGE);
    assert_null(other);
}

TEST(program_of_a_bad_file_is_refused)
{
    assert_fails(cf_program_load_file(&program, "/tmp/no such file"), CF_EINVAL,
                 "cf_program_load_file: /tmp/no such file cannot be read: No such file or directory");
    assert_fails(cf_program_load_file(&program, "/tmp"), CF_EINVAL,
                 "cf_program_load_file: /tmp cannot be read: Is a directory");
    assert_fails(cf_program_load_file(&program, "/dev/null"), CF_EINVAL, "cf_program_load_file: /dev/null cannot be");
    assert_fails(cf_program_load_file(&program, NULL), CF_EINVAL, "cf_program_load_file: path is NULL");
    assert_fails(cf_program_load_file(NULL, "/tmp"), CF_EINVAL, "cf_program_load_file: program is NULL");
}

TEST(program_of_bad_arguments_is_refused)
{
    assert_fails(cf_program_load(NULL, x, 4), CF_EINVAL, "cf_program_load: program is NULL");
    assert_fails(cf_program_load(&program, NULL, 4), CF_EINVAL, "cf_program_load: data is NULL");
    assert_fails(cf_program_load(&program, x, 0), CF_EINVAL, "cf_program_load: size is 0");
    assert_fails(cf_program_load(&program, x, SIZE_MAX), CF_ENOMEM, "cf_program_load: no memory for");
    assert_fails(cf_program_load(&program, cubin.bytes, cubin.size - 1), CF_EIMAGE,
                 "cf_program_load: the cubin has 655 bytes, and its 1 segments are listed from byte 600 on");
    assert_null(program);
    assert_fails(cf_program_kernel(NULL, "saxpy", SIGNATURE, &kernel), CF_EINVAL, "cf_program_kernel: program is NULL");
    assert_fails(cf_program_symbol(NULL, "x", 4, (void **)&program), CF_EINVAL, "cf_program_symbol: program is NULL");
    assert_ok(cf_program_unload(NULL));
}

TEST(program_on_the_cpu_is_refused)
{
    need_cpu();
    assert_fails(cf_program_load(&program, cubin.bytes, cubin.size), CF_ENOTSUP,
                 "cf_program_load: the image is GPU code and the call is on the CPU: there is no GPU, or CF_DRIVER or "
                 "cf_device_use() chose the CPU");
    assert_null(program);
}

FAKE_TEST(program_without_code_for_the_gpu_is_refused, "CF_DRIVER=cuda")
{
    needs_gpu();
    struct program_image other;
    make_cubin(&other, "saxpy", 100);
    assert_fails(cf_program_load(&program, other.bytes, other.size), CF_ENOCODE,
                 "cf_program_load: its image has code for sm_100 and device 0 is sm_90; compile it for sm_90");
    assert_fails(cf_program_load(&program, old.bytes, old.size), CF_ENOCODE, "its image has code for sm_80 and");
    make_ptx(&other, "saxpy", 100, "");
    assert_fails(cf_program_load(&program, other.bytes, other.size), CF_ENOCODE, "its image has code for compute_100");
    assert_null(program);
}

FAKE_TEST(zeros_are_no_image, "CF_DRIVER=cuda")
{
    static const char zeros[64];
    assert_fails(cf_program_load(&program, zeros, sizeof zeros), CF_EIMAGE,
                 "cf_program_load: the image has nothing but zeros");
    assert_fails(cf_program_load(&program, "\0x", 2), CF_EIMAGE, "it has 2 bytes and begins with 0078");
    /* A file in /proc, whose size is reported as 0. */
    assert_fails(cf_program_load_file(&program, "/proc/self/status"), CF_EIMAGE, "is no cubin, fatbin or PTX");
    assert_null(program);
}

FAKE_TEST(program_log_has_the_compilers_text, "CF_DRIVER=cuda")
{
    needs_gpu();
    assert_string_equal(cf_program_log(NULL), "");
    load(&odd);
    assert_string_equal(cf_program_log(program), "ptxas application ptx input, line 4; warning : odd\n");
    assert_string_equal(cf_program_log(NULL), "");
    struct program_image wrong;
    cf_program *failed;
    make_ptx(&wrong, "saxpy", 80, FAKE_WRONG_PTX);
    assert_fails(cf_program_load(&failed, wrong.bytes, wrong.size), CF_EIMAGE,
                 "cf_program_load: loading its image: cuLibraryGetModule returned 218 (CUDA_ERROR_INVALID_PTX");
    assert_null(failed);
    assert_string_equal(cf_program_log(failed), "ptxas application ptx input, line 4; fatal   : Parsing error near "
                                                "'wrong': syntax error\n");
    assert_string_equal(cf_program_log(program), "ptxas application ptx input, line 4; warning : odd\n");
}

static int make_wrongly(int way)
{
    cf_program *failed = NULL;
    switch (way) {
    case 0:
        return cf_program_load(NULL, x, 4);
    case 1:
        return cf_program_load(&failed, NULL, 4);
    case 2:
        return cf_program_load_file(&failed, NULL);
    case 3:
        return cf_program_load_file(&failed, "/tmp/no_such_file");
    case 4:
        return cf_program_load_file(NULL, "/tmp");
    case 5:
        return cf_program_compile(&failed, NULL, NULL, NULL);
    case 6:
        return cf_program_compile(NULL, "", NULL, NULL);
    default:
        return cf_program_link(&failed, NULL, 1, NULL);
    }
}

FAKE_TEST(program_log_is_of_the_latest_failure, "CF_DRIVER=cuda")
{
    needs_gpu();
    struct program_image wrong;
    cf_program *failed;
    make_ptx(&wrong, "saxpy", 80, FAKE_WRONG_PTX);
    for (int way = 0; way < 8; way++) {
        assert_int_equal(cf_program_load(&failed, wrong.bytes, wrong.size), CF_EIMAGE);
        assert_string_not_equal(cf_program_log(NULL), "");
        assert_int_equal(make_wrongly(way), CF_EINVAL);
        if (*cf_program_log(NULL))
            fail_msg("the log of way %d is an older one", way);
    }
}

/* ---- Kernels ---- */

FAKE_TEST(kernel_on_device_arrays_and_a_stream_runs, "CF_DRIVER=cuda")
{
    load(&cubin);
    fill();
    void *dx = upload(x, sizeof x), *dy = upload(y, sizeof y), *dout = upload(out, sizeof out);
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    assert_ok(call_with(kernel, 3, dx, dy, dout, N));
    assert_string_equal(cf_last_plan(), "saxpy: on device 0, 3 arrays used in place; nothing was copied");
    assert_ok(cf_mem_copy(out, dout, sizeof out));
    expect_result(out, 3);
    for (int i = 0; i < 3; i++)
        assert_ok(launch_with(stream, 4, dx, dy, dout, N));
    assert_ok(launch_with(NULL, 4, dx, dy, dout, N));
    assert_ok(cf_stream_sync(stream));
    assert_ok(cf_mem_copy(out, dout, sizeof out));
    expect_result(out, 4);
    assert_true(fake_counts()->block.x == 512 && fake_counts()->grid.x == 2);
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(dx));
    assert_ok(cf_mem_free(dy));
    assert_ok(cf_mem_free(dout));
}

FAKE_TEST(launch_has_one_layer_in_dimensions_without_a_rule, "CF_DRIVER=cuda")
{
    load(&cubin);
    fill();
    void *dx = upload(x, sizeof x), *dy = upload(y, sizeof y), *dout = upload(out, sizeof out);
    assert_ok(cf_program_kernel(program, "saxpy",
                                "(float a, in float x[n], in float y[n], out float out[n], size_t n) grid(n) block(16)",
                                &kernel));
    for (int i = 0; i < 2; i++) { /* the second launch takes the fast path */
        assert_ok(launch_with(NULL, 3, dx, dy, dout, N));
        const struct fake_counts *counts = fake_counts();
        assert_true(counts->block.x == 16 && counts->block.y == 1 && counts->block.z == 1);
        assert_true(counts->grid.x == (N + 15) / 16 && counts->grid.y == 1 && counts->grid.z == 1);
    }
    assert_ok(cf_mem_copy(out, dout, sizeof out));
    expect_result(out, 3);
    assert_ok(cf_mem_free(dx));
    assert_ok(cf_mem_free(dy));
    assert_ok(cf_mem_free(dout));
}

FAKE_TEST(kernel_arguments_are_checked, "CF_DRIVER=cuda")
{
    load(&cubin);
    assert_fails(call_with(kernel, 0, x, y, out, N), CF_EINVAL, "saxpy: the check a != 0 fails with a = 0");
    assert_fails(call_with(kernel, 1, x, NULL, out, N), CF_EINVAL, "saxpy: y is NULL and its extent is 1000");
    assert_fails(call_with(kernel, 1, x, y, out, SIZE_MAX), CF_EOVERFLOW, "saxpy: ");
    assert_fails(launch_with(NULL, 0, x, y, out, N), CF_EINVAL, "saxpy_async: the check a != 0 fails with a = 0");
    assert_ok(call_with(kernel, 1, NULL, NULL, NULL, 0));
    float a = 1, *pointer = x;
    void *const args[] = {&a, &pointer, &pointer, &pointer, NULL};
    assert_fails(cf_call(kernel, args), CF_EINVAL, "saxpy: the argument for n is NULL, and not a pointer to one");
    assert_fails(cf_launch(kernel, NULL, NULL), CF_EINVAL, "saxpy_async: args is NULL");
}

FAKE_TEST(kernel_asked_for_again_is_the_same, "CF_DRIVER=cuda")
{
    load(&cubin);
    const cf_kernel *again, *other;
    assert_ok(cf_program_kernel(program, "saxpy", SIGNATURE, &again));
    assert_ptr_equal(again, kernel);
    assert_ok(cf_program_kernel(
        program, "saxpy",
        "(float a, const float *x, const float *y, float *out, unsigned long long n) blocks(2) block(256, 2)", &other));
    assert_ptr_not_equal(other, kernel);
    assert_string_equal(other->name, "saxpy");
    int blocks = 0;
    assert_ok(cf_kernel_preload(other));
    assert_ok(cf_kernel_occupancy(other, 512, 0, &blocks));
    assert_int_equal(blocks, 4);
    expect_call();
}

FAKE_TEST(kernel_that_disagrees_with_the_image_is_refused, "CF_DRIVER=cuda")
{
    load(&cubin);
    const cf_kernel *none = kernel;
    assert_fails(cf_program_kernel(program, "nothing", "() grid(1)", &none), CF_EIMAGE,
                 "nothing: its program has no kernel nothing; the name of a kernel in C++ is mangled, unless it is "
                 "extern \"C\" or in options.names");
    assert_null(none);
    assert_fails(
        cf_program_kernel(program, "saxpy", "(double a, void *x, void *y, void *out, size_t n) grid(n)", &none),
        CF_EIMAGE, "saxpy: a has 4 bytes in its image and 8 in its signature");
    assert_fails(cf_program_kernel(program, "saxpy", "(float a, void *x, void *y, void *out, int n) grid(n)", &none),
                 CF_EIMAGE, "saxpy: n has 8 bytes in its image and 4 in its signature");
    assert_fails(cf_program_kernel(program, "saxpy", "(float a, void *x, void *y, void *out) grid(1)", &none),
                 CF_EIMAGE, "saxpy: its image has a parameter of 8 bytes after the 4 parameters of its signature");
    assert_fails(cf_program_kernel(program, "saxpy",
                                   "(float a, void *x, void *y, void *out, size_t n, int more) grid(1)", &none),
                 CF_EIMAGE, "saxpy: its image does not know more, parameter 5 of its signature");
    assert_fails(cf_program_kernel(program, "saxpy", "(float a) grid(b)", &none), CF_EINVAL,
                 "cf_program_kernel: saxpy: column 16 of the signature: 'b' is no parameter of the signature");
    assert_fails(cf_program_kernel(program, NULL, "() grid(1)", &none), CF_EINVAL, "cf_program_kernel: entry is NULL");
    assert_fails(cf_program_kernel(program, "saxpy", NULL, &none), CF_EINVAL, "cf_program_kernel: signature is NULL");
    assert_fails(cf_program_kernel(program, "saxpy", SIGNATURE, NULL), CF_EINVAL, "cf_program_kernel: kernel is NULL");
    expect_call();
}

static char logged[1024];

static void keep_line(void *data, int level, const char *text)
{
    (void)data;
    if (level == CF_LOG_INFO)
        snprintf(logged, sizeof logged, "%s", text);
}

FAKE_TEST(kernel_with_an_older_driver_is_not_compared, "FAKE_CUDA=version=12030")
{
    cf_set_log(keep_line, NULL);
    load(&cubin);
    assert_string_equal(logged,
                        "saxpy: drivers before CUDA 12.4 do not know parameters: the signature was not compared");
    expect_call();
}

FAKE_TEST(kernel_runs_on_each_gpu, "CF_DRIVER=cuda")
{
    load(&cubin);
    for (int device = 1; device >= 0; device--) {
        assert_ok(cf_device_use(device));
        expect_call();
    }
    assert_ok(cf_program_unload(program));
    program = NULL;
    assert_fails(call_with(kernel, 2, x, y, out, N), CF_EINVAL, "was unloaded");
}

FAKE_TEST(kernel_on_the_cpu_is_refused, "CF_DRIVER=cuda")
{
    load(&cubin);
    assert_ok(cf_device_use(CF_HOST));
    assert_fails(call_with(kernel, 2, x, y, out, N), CF_ENOTSUP,
                 "saxpy: it has no form for the CPU: its program is GPU code");
    assert_fails(cf_program_kernel(program, "weigh", "(float *x) blocks(1)", &kernel), CF_ENOTSUP,
                 "weigh: it has no form for the CPU: its program is GPU code");
    int64_t value;
    assert_fails(cf_kernel_attribute(&weigh_kernel, CF_ATTRIBUTE_REGISTERS, &value), CF_ENOTSUP,
                 "cf_kernel_attribute: weigh: attributes are of GPU code, and the call is on the CPU");
    assert_ok(cf_device_use(0));
}

FAKE_TEST(kernel_after_shutdown_loads_again, "CF_DRIVER=cuda")
{
    load(&cubin);
    expect_call();
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    expect_call();
}

enum { SIGNATURES = 20 };
static const cf_kernel *of_signature[SIGNATURES];

static void *call_often(void *of)
{
    float result[N];
    for (int i = 0; i < SIGNATURES; i++) {
        const cf_kernel *own, *other = NULL;
        char signature[256];
        snprintf(signature, sizeof signature, SIGNATURE " check(n < %d)", 2000 + i);
        if (cf_program_kernel(of, "saxpy", signature, &own) != CF_OK || call_with(own, 2, x, y, result, N) != CF_OK)
            return strdup(cf_last_error());
        if (!__atomic_compare_exchange_n(&of_signature[i], &other, own, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
            other != own)
            return strdup("two threads have two descriptors of one signature");
        for (int j = 0; j < N; j++)
            if (result[j] != 2 * x[j] + y[j])
                return strdup("a result is wrong");
    }
    return NULL;
}

FAKE_TEST(kernel_used_by_8_threads_runs, "CF_DRIVER=cuda")
{
    pthread_t threads[8];
    load(&cubin);
    fill();
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, program), 0);
    for (int i = 0; i < 8; i++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        if (wrong)
            fail_msg("%s", (char *)wrong);
    }
}

/* ---- Data and attributes ---- */

FAKE_TEST(symbol_is_memory_of_the_device, "CF_DRIVER=cuda")
{
    load(&cubin);
    const float values[3] = {2, 3, 4};
    float read[3] = {0}, data[6] = {1, 1, 1, 1, 1, 1};
    const cf_kernel *of_data;
    void *pointer, *again, *memory = upload(data, sizeof data);
    assert_ok(cf_program_symbol(program, "coeff", sizeof values, &pointer));
    assert_ok(cf_program_symbol(program, "coeff", sizeof values, &again));
    assert_ptr_equal(pointer, again);
    assert_ok(cf_mem_copy(pointer, values, sizeof values));
    assert_ok(cf_mem_copy(read, pointer, sizeof read));
    assert_memory_equal(read, values, sizeof read);
    assert_ok(cf_program_kernel(program, "weigh", "(float *x) blocks(6)", &of_data));
    void *const args[] = {&memory};
    assert_ok(cf_call(of_data, args));
    assert_ok(cf_mem_copy(data, memory, sizeof data));
    for (int i = 0; i < 6; i++)
        assert_true(data[i] == values[i % 3]);
    assert_ok(cf_mem_free(memory));
}

FAKE_TEST(symbol_that_disagrees_is_refused, "CF_DRIVER=cuda")
{
    load(&cubin);
    void *pointer = x;
    assert_fails(cf_program_symbol(program, "coeff", 8, &pointer), CF_EIMAGE,
                 "cf_program_symbol: coeff has 12 bytes in its image and 8 in the call");
    assert_fails(cf_program_symbol(program, "other", 8, &pointer), CF_EIMAGE, "cf_program_symbol: finding other: ");
    assert_fails(cf_program_symbol(program, NULL, 8, &pointer), CF_EINVAL, "cf_program_symbol: name is NULL");
    assert_fails(cf_program_symbol(program, "coeff", 12, NULL), CF_EINVAL, "cf_program_symbol: pointer is NULL");
    assert_ptr_equal(pointer, x);
    assert_null(program->symbols);
}

/* Causes failures of other kinds first, because the C library keeps memory that it allocates for them. */
FAKE_TEST(kernels_that_are_not_there_leave_nothing, "CF_DRIVER=cuda")
{
    enum { NAMES = 400 };
    if (SANITIZED)
        skip_test(NEEDS_NO_SANITIZER);
    load(&cubin);
    size_t before = 0;
    for (int i = 0; i < NAMES; i++) {
        char name[32];
        snprintf(name, sizeof name, "no_kernel_%d", i);
        assert_int_equal(cf_program_kernel(program, name, "() blocks(1)", &kernel), CF_EIMAGE);
        if (i == NAMES / 2)
            before = mallinfo2().uordblks;
    }
    assert_true(mallinfo2().uordblks < before + 64 * NAMES / 2);
}

FAKE_TEST(attributes_are_the_drivers, "CF_DRIVER=cuda")
{
    load(&cubin);
    static const struct {
        int attribute;
        int64_t value;
    } expected[] = {{CF_ATTRIBUTE_REGISTERS, 32},
                    {CF_ATTRIBUTE_SHARED, 1024},
                    {CF_ATTRIBUTE_LOCAL, 16},
                    {CF_ATTRIBUTE_THREADS, 1024},
                    {CF_ATTRIBUTE_BINARY, 90}};
    int64_t value = -1;
    for (int i = 0; i < 5; i++) {
        assert_ok(cf_kernel_attribute(kernel, expected[i].attribute, &value));
        assert_int_equal(value, expected[i].value);
    }
    assert_fails(cf_kernel_attribute(NULL, 1, &value), CF_EINVAL, "cf_kernel_attribute: kernel is NULL");
    assert_fails(cf_kernel_attribute(kernel, 1, NULL), CF_EINVAL, "cf_kernel_attribute: value is NULL");
    assert_fails(cf_kernel_attribute(kernel, 0, &value), CF_EINVAL, "cf_kernel_attribute: 0 is no attribute");
    assert_fails(cf_kernel_attribute(kernel, 6, &value), CF_EINVAL, "cf_kernel_attribute: 6 is no attribute");
    const cf_kernel operation = {
        .version = CF_REGISTRY_VERSION, .function = "several", .enqueue = (cf_enqueue_body *)(uintptr_t)1};
    assert_fails(cf_kernel_attribute(&operation, 1, &value), CF_EINVAL,
                 "cf_kernel_attribute: several is made of several kernels; ask for one of them");
    assert_int_equal(value, 90);
}

/* ---- Unloading ---- */

FAKE_TEST(unload_waits_for_launches, "CF_DRIVER=cuda")
{
    load(&cubin);
    fill();
    void *dx = upload(x, sizeof x), *dy = upload(y, sizeof y), *dout = upload(out, sizeof out);
    cf_stream stream;
    cf_event event;
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_event_create(&event));
    assert_ok(launch_with(stream, 5, dx, dy, dout, N));
    assert_ok(cf_event_record(event, stream));
    assert_ok(cf_program_unload(program));
    program = NULL;
    assert_ok(cf_event_query(event));
    assert_ok(cf_mem_copy(out, dout, sizeof out));
    expect_result(out, 5);
    assert_fails(launch_with(stream, 5, dx, dy, dout, N), CF_EINVAL, "belongs to a program that was unloaded");
    assert_ok(cf_event_destroy(event));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(dx));
    assert_ok(cf_mem_free(dy));
    assert_ok(cf_mem_free(dout));
}

FAKE_TEST(unload_during_a_capture_is_refused, "CF_DRIVER=cuda")
{
    load(&cubin);
    fill();
    void *dx = upload(x, sizeof x), *dy = upload(y, sizeof y), *dout = upload(out, sizeof out);
    cf_stream stream;
    cf_graph graph;
    cf_graph_exec exec;
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(launch_with(stream, 6, dx, dy, dout, N));
    assert_fails(cf_program_unload(program), CF_ECAPTURE, "cf_program_unload: ");
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    assert_ok(cf_graph_launch(exec, stream));
    assert_ok(cf_program_unload(program));
    program = NULL;
    assert_ok(cf_mem_copy(out, dout, sizeof out));
    expect_result(out, 6);
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(dx));
    assert_ok(cf_mem_free(dy));
    assert_ok(cf_mem_free(dout));
}

FAKE_TEST(unloaded_handles_are_refused, "CF_DRIVER=cuda")
{
    load(&cubin);
    cf_program *unloaded = program;
    void *pointer;
    int64_t value;
    int blocks;
    const cf_kernel *other;
    assert_ok(cf_program_unload(program));
    program = NULL;
    assert_fails(cf_program_unload(unloaded), CF_EINVAL, "cf_program_unload: the program was unloaded");
    assert_fails(cf_program_kernel(unloaded, "saxpy", SIGNATURE, &other), CF_EINVAL,
                 "cf_program_kernel: the program was unloaded");
    assert_fails(cf_program_symbol(unloaded, "coeff", 12, &pointer), CF_EINVAL,
                 "cf_program_symbol: the program was unloaded");
    assert_string_equal(cf_program_log(unloaded), "");
    assert_fails(call_with(kernel, 2, x, y, out, N), CF_EINVAL, "belongs to a program that was unloaded");
    assert_fails(cf_kernel_attribute(kernel, CF_ATTRIBUTE_REGISTERS, &value), CF_EINVAL, "was unloaded");
    assert_fails(cf_kernel_preload(kernel), CF_EINVAL, "was unloaded");
    assert_fails(cf_kernel_occupancy(kernel, 32, 0, &blocks), CF_EINVAL, "was unloaded");
    assert_int_equal(cf_param_find(kernel, "x"), -1);
    assert_int_equal(cf_kernel_has_host(kernel), 0);
}

FAKE_TEST(program_loaded_and_unloaded_often_leaves_nothing, "CF_DRIVER=cuda")
{
    char text[1024];
    for (int i = 0; i < 200; i++) {
        load(i % 2 ? &cubin : &fatbin);
        if (i % 3 == 0)
            expect_call();
        assert_ok(cf_program_unload(program));
        program = NULL;
        (void)count_alive(text, sizeof text);
        assert_null(strstr(text, "library"));
    }
}

/* In the child, the part of the program that is on the GPU is left to the parent. */
FAKE_TEST(unload_in_a_forked_child_leaves_the_parents, "CF_DRIVER=cuda")
{
    load(&cubin);
    expect_call();
    pid_t child = fork_flushed();
    assert_true(child >= 0);
    if (child == 0)
        _exit(cf_program_unload(program) == CF_OK && cf_program_unload(program) == CF_EINVAL ? 0 : 1);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    expect_call();
}

static int refused_in_log;

static void count_refusal(int status)
{
    refused_in_log += status == CF_EINVAL && strstr(cf_last_error(), ": called from the callback of cf_set_log()");
}

static void use_program(void *data, int level, const char *text)
{
    void *pointer;
    const cf_kernel *other;
    cf_program *loaded;
    const cf_program_options options = {.time_limit = -1};
    const cf_program_input input = {.name = "none"};
    (void)data, (void)level, (void)text;
    cf_set_log(NULL, NULL);
    count_refusal(cf_program_unload(program));
    count_refusal(cf_program_kernel(program, "saxpy", SIGNATURE, &other));
    count_refusal(cf_program_symbol(program, "coeff", 12, &pointer));
    count_refusal(cf_program_load(&loaded, cubin.bytes, cubin.size));
    count_refusal(cf_program_load_file(&loaded, "/tmp/no_such_file"));
    count_refusal(cf_program_compile(&loaded, "", NULL, &options));
    count_refusal(cf_program_link(&loaded, &input, 1, &options));
}

FAKE_TEST(use_within_the_log_is_refused, "CF_DRIVER=cuda")
{
    load(&cubin);
    cf_set_log(use_program, NULL);
    assert_fails(cf_program_symbol(program, NULL, 12, NULL), CF_EINVAL, "cf_program_link: called from the callback");
    assert_int_equal(refused_in_log, 7);
    expect_call();
}

/* No wait is needed for a launch in a context that was destroyed. */
FAKE_TEST(unload_after_a_context_is_gone_succeeds, "CF_DRIVER=cuda")
{
    needs_gpu();
    CUcontext context;
    assert_int_equal(other_library()->cuInit(0), CUDA_SUCCESS);
    assert_int_equal(context_create(&context, 0, 0), CUDA_SUCCESS);
    load(&cubin);
    expect_call();
    assert_int_equal(context_destroy(context), CUDA_SUCCESS);
    assert_ok(cf_program_unload(program));
    program = NULL;
}

int main(int argc, char *argv[])
{
    make_images();
    return run_made(argc, argv, &module, NULL, tear_down);
}
