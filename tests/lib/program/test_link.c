/* test_link.c - links of GPU code: kinds of inputs, targets, options, undefined symbols, the cache, and failures.
 * nvJitLink needs no GPU. */
#include "link_requests.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "program/inspect.h"

#define KERNEL                                                                                           \
    "extern \"C\" __device__ float mul_f32_f32(float x, float y);\n"                                     \
    "extern \"C\" __global__ void multiply_vectors(float *out, const float *x, const float *y, int n)\n" \
    "{\n"                                                                                                \
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"                                               \
    "    if (i < n)\n"                                                                                   \
    "        out[i] = mul_f32_f32(x[i], y[i]);\n"                                                        \
    "}\n"
#define MUL "extern \"C\" __device__ float mul_f32_f32(float x, float y) { return x * y; }\n"
#define MUL_PTX                                                                                                  \
    ".version 8.0\n.target sm_75\n.address_size 64\n"                                                            \
    ".visible .func (.param .b32 r) mul_f32_f32(.param .b32 x, .param .b32 y)\n{\n"                              \
    "    .reg .f32 %f<4>;\n    ld.param.f32 %f1, [x];\n    ld.param.f32 %f2, [y];\n    mul.f32 %f3, %f1, %f2;\n" \
    "    st.param.f32 [r], %f3;\n    ret;\n}\n"

static struct cf__targets targets;

/* Compiles mul_f32_f32() to relocatable code or LTO-IR. */
static void make_code(struct program_image *made, enum cf__output output, int capability)
{
    make_code_of(made, MUL, output, capability);
}

/* ---- Links ---- */

/* Expects that the result is complete machine code, in which nothing is undefined. */
static void expect_linked(int capability)
{
    if (link_for(capability) != CF_OK)
        fail_msg("%s\n%s", cf_last_error(), linked.log ? linked.log : "");
    if (cf__inspect_image("test", (const unsigned char *)linked.image, linked.bytes, &targets) != CF_OK)
        fail_msg("%s", cf_last_error());
    assert_int_equal(CF_TARGET_CAPABILITY(targets.sm[0]), capability);
    assert_int_equal(targets.sm[1], 0);
    assert_non_null(memmem(linked.image, linked.bytes, "multiply_vectors", 16));
}

static int has_text(const char *text)
{
    return memmem(linked.image, linked.bytes, text, strlen(text)) != NULL;
}

TEST_WITH(sources_are_compiled_and_linked, set_up, tear_down)
{
    needs_linker();
    add_source("kernel.cu", KERNEL);
    add_source("mul.cu", MUL);
    expect_linked(90);
    assert_true(has_text("mul_f32_f32"));
    assert_null(linked.log);
}

TEST_WITH(ptx_cubin_fatbin_and_lto_ir_are_linked, set_up, tear_down)
{
    struct program_image cubin, fatbin, lto;
    needs_linker();
    make_code(&cubin, CF__RELOCATABLE, 90);
    begin_fatbin(&fatbin);
    add_fatbin_entry(&fatbin, 2, 90, cubin.size, 0, 0x11);
    add_bytes(&fatbin, cubin.bytes, cubin.size);
    finish_fatbin(&fatbin);
    make_code(&lto, CF__LTO, 90);
    add_source("kernel.cu", KERNEL);
    add_data("mul.cubin", cubin.bytes, cubin.size);
    expect_linked(90);
    count = 1;
    add_data("mul.fatbin", fatbin.bytes, fatbin.size);
    expect_linked(90);
    count = 1;
    add_data("mul.ptx", MUL_PTX, sizeof MUL_PTX); /* the data includes the NUL at the end of the text */
    expect_linked(90);
    options.is_lto = 1;
    expect_linked(90); /* the call links LTO-IR with PTX */
    count = 1;
    add_data("mul.ltoir", lto.bytes, lto.size);
    expect_linked(90);
    assert_false(has_text(".text.mul_f32_f32")); /* its code was inlined into the kernel */
}

/* Links kernel.cu with a file that a shell command makes from mul.cu. */
static void expect_linked_file(const char *folder, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    count = 0;
    add_source("kernel.cu", KERNEL);
    inputs[count++] = (cf_program_input){.name = path};
    expect_linked(90);
}

TEST_WITH(object_and_archive_of_nvcc_are_linked, set_up, tear_down)
{
    const char *headers;
    char folder[] = "/tmp/cf_link_XXXXXX", command[CF__PATH + 400];
    needs_linker();
    assert_ok(cf_find("nvrtc.h", &headers));
    snprintf(command, sizeof command, "test -x %s/../bin/nvcc", headers);
    if (system(command) != 0)
        skip_test(NEEDS_NVCC);
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command,
             "cd %s && echo '" MUL "' >mul.cu && echo 'int host_only;' >none.c && cc -c none.c && "
             "%s/../bin/nvcc -rdc=true -arch=sm_90 -c mul.cu && ar rc libmul.a none.o mul.o && "
             "%s/../bin/nvcc -arch=sm_90 -c mul.cu -o whole.o",
             folder, headers, headers);
    for (char *c = command; (c = strchr(c, '\n')) != NULL;)
        *c = ' ';
    assert_int_equal(system(command), 0);
    expect_linked_file(folder, "mul.o");
    expect_linked_file(folder, "libmul.a");
    snprintf(command, sizeof command, "%s/whole.o", folder);
    inputs[1].name = command;
    assert_fails(link_for(90), CF_EIMAGE, "whole.o: the object has no GPU code for a link; nvcc -rdc=true makes it");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

TEST_WITH(file_is_read, set_up, tear_down)
{
    needs_linker();
    char path[] = "/tmp/cf_link_XXXXXX";
    int file = mkstemp(path);
    assert_int_equal(write(file, MUL_PTX, strlen(MUL_PTX)), strlen(MUL_PTX));
    close(file);
    add_source("kernel.cu", KERNEL);
    inputs[count++] = (cf_program_input){.name = path};
    expect_linked(90);
    unlink(path);
    assert_fails(link_for(90), CF_EINVAL, "cf_test: /tmp/cf_link_");
    assert_fails(link_for(90), CF_EINVAL, " cannot be read: No such file or directory");
}

TEST_WITH(names_and_warnings_are_those_of_all_sources, set_up, tear_down)
{
    needs_linker();
    add_source("kernel.cu", "template <typename T> __device__ T twice(T);\n"
                            "template <typename T> __global__ void multiply_vectors(T *x) { *x = twice<T>(*x); }\n");
    inputs[0].names = (const char *const[]){"multiply_vectors<int>", NULL};
    add_source("twice.cu", "__constant__ int two;\n"
                           "template <typename T> __device__ T twice(T x) { int unused; return two * x; }\n"
                           "template __device__ int twice<int>(int);\n");
    inputs[1].names = (const char *const[]){"&two", NULL};
    expect_linked(90);
    static const char names[] = "multiply_vectors<int>\0_Z16multiply_vectorsIiEvPT_\0&two\0two\0";
    assert_int_equal(linked.names_bytes, sizeof names - 1);
    assert_memory_equal(linked.names, names, sizeof names);
    assert_non_null(strstr(linked.log, "twice.cu(2): warning"));
}

TEST_WITH(flags_of_the_link_are_obeyed, set_up, tear_down)
{
    needs_linker();
    add_source("kernel.cu", KERNEL);
    add_source("mul.cu", MUL);
    options.link_flags = (const char *const[]){"-verbose", "-maxrregcount=32", NULL};
    expect_linked(90);
    assert_non_null(linked.log);
    options.link_flags = (const char *const[]){"-fast-as-light", NULL};
    assert_fails(link_for(90), CF_EINVAL, "cf_test: unrecognized option: -fast-as-light");
}

/* ---- Targets ---- */

TEST_WITH(unknown_device_gets_code_of_an_older_one, set_up, tear_down)
{
    needs_linker();
    add_source("kernel.cu", KERNEL);
    add_source("mul.cu", MUL);
    assert_ok(link_for(91));
    assert_ok(cf__inspect_image("test", (const unsigned char *)linked.image, linked.bytes, &targets));
    assert_int_equal(targets.sm[0], 90);
    assert_fails(link_for(990), CF_ENOCODE, " does not link for 99.0; with options.is_lto it makes PTX for newer GPUs");
    options.is_lto = 1;
    assert_ok(link_for(990));
    assert_ok(cf__inspect_image("test", (const unsigned char *)linked.image, linked.bytes, &targets));
    assert_true(has_text(".visible .entry multiply_vectors("));
    assert_int_equal(strlen(linked.image), linked.bytes);
}

TEST_WITH(exact_target_is_linked, set_up, tear_down)
{
    needs_linker();
    add_source("kernel.cu", "#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n" KERNEL "#endif\n");
    add_source("mul.cu", MUL);
    options.is_exact = 1;
    expect_linked(90);
    count = 0;
    add_text("mul.ptx", MUL_PTX);
    assert_fails(link_for(91), CF_ENOCODE, " does not link for 9.1a");
}

TEST_WITH(input_without_code_for_the_device_is_named, set_up, tear_down)
{
    struct program_image cubin, lto;
    needs_linker();
    make_code(&cubin, CF__RELOCATABLE, 80);
    make_code(&lto, CF__LTO, 90);
    add_source("kernel.cu", KERNEL);
    add_data("mul.cubin", cubin.bytes, cubin.size);
    assert_fails(link_for(90), CF_ENOCODE,
                 "cf_test: mul.cubin: the cubin has no code for sm_90; its first target is sm_80");
    count = 1;
    add_data("mul.ltoir", lto.bytes, lto.size);
    assert_fails(link_for(90), CF_EINVAL, "cf_test: mul.ltoir: the LTO-IR is LTO-IR alone; options.is_lto links it");
    count = 1;
    add_text("mul.ptx", MUL_PTX);
    memcpy(strstr(strcpy((char *)lto.bytes, MUL_PTX), "sm_75"), "sm_95", 5);
    inputs[1].data = lto.bytes;
    assert_fails(link_for(90), CF_ENOCODE,
                 "cf_test: mul.ptx: the PTX has no code for sm_90; its first target is compute_95");
}

/* ---- Failures ---- */

TEST_WITH(undefined_symbols_are_named, set_up, tear_down)
{
    needs_linker();
    add_source("kernel.cu", "extern \"C\" __device__ float add_f32(float, float);\n" KERNEL
                            "extern \"C\" __global__ void add(float *x) { *x = add_f32(*x, 1); }\n");
    add_source("other.cu", "extern \"C\" __device__ int third(int);\n"
                           "extern \"C\" __global__ void other(int *x) { *x = third(*x); }\n");
    assert_int_equal(link_for(90), CF_ECOMPILE);
    assert_non_null(strstr(cf_last_error(), "cf_test: undefined symbols: "));
    assert_non_null(strstr(cf_last_error(), "mul_f32_f32 (needed by kernel.cu), "));
    assert_non_null(strstr(cf_last_error(), "add_f32 (needed by kernel.cu), "));
    assert_non_null(strstr(cf_last_error(), "third (needed by other.cu)"));
    assert_non_null(strstr(linked.log, "'mul_f32_f32' in 'kernel.cu'"));
    assert_null(linked.image);
    options.is_lto = 1;
    assert_int_equal(link_for(90), CF_ECOMPILE);
    assert_non_null(strstr(cf_last_error(), "cf_test: undefined symbols: "));
    assert_non_null(strstr(cf_last_error(), "mul_f32_f32"));
    assert_non_null(strstr(cf_last_error(), "add_f32"));
    assert_non_null(strstr(cf_last_error(), "third"));
    assert_null(strstr(cf_last_error(), "needed by"));
}

TEST_WITH(undefined_symbols_that_do_not_fit_are_cut_off, set_up, tear_down)
{
    char source[4000] = "", *at = source;
    needs_linker();
    for (int i = 0; i < 20; i++)
        at += sprintf(at, "extern \"C\" __device__ int a_function_with_a_long_name_%d(int);\n", i);
    at += sprintf(at, "__global__ void k(int *x) {\n");
    for (int i = 0; i < 20; i++)
        at += sprintf(at, "x[%d] = a_function_with_a_long_name_%d(x[%d]);\n", i, i, i);
    sprintf(at, "}\n");
    add_source("kernel.cu", source);
    assert_int_equal(link_for(90), CF_ECOMPILE);
    assert_string_equal(cf_last_error() + strlen(cf_last_error()) - 3, "...");
    assert_non_null(strstr(linked.log, "a_function_with_a_long_name_19"));
}

TEST_WITH(symbol_with_two_definitions_is_reported_with_lto, set_up, tear_down)
{
    needs_linker();
    options.is_lto = 1;
    add_source("kernel.cu", KERNEL);
    add_source("mul.cu", MUL);
    add_source("again.cu", MUL);
    assert_fails(link_for(90), CF_ECOMPILE, "mul_f32_f32': symbol multiply defined");
}

TEST_WITH(source_that_does_not_compile_is_named, set_up, tear_down)
{
    needs_linker();
    add_source("kernel.cu", KERNEL);
    add_source("mul.cu", "\nextern \"C\" __device__ float mul_f32_f32(float x) { return y; }\n");
    assert_fails(link_for(90), CF_ECOMPILE, "cf_test: mul.cu(2): error: identifier \"y\" is undefined");
    assert_non_null(strstr(linked.log, "mul.cu(2): error"));
}

TEST_WITH(damaged_inputs_are_refused, set_up, tear_down)
{
    struct program_image code, cut;
    needs_linker();
    make_code(&code, CF__RELOCATABLE, 90);
    add_source("kernel.cu", KERNEL);
    add_data("mul.cubin", code.bytes, 100);
    assert_fails(link_for(90), CF_EIMAGE, "cf_test: mul.cubin: the cubin has 100 bytes, and its ");
    count = 1;
    add_text("mul.ptx", ".version 8.0\n.target sm_75\n.visible .func f()\n{\n");
    assert_fails(link_for(90), CF_EIMAGE, "cf_test: mul.ptx: the PTX is cut off: the { of line 4 has no }");
    count = 1;
    add_data("mul.bin", "\x01\x02\x03\x04", 4);
    assert_fails(link_for(90), CF_EIMAGE,
                 "cf_test: mul.bin: the input is no PTX, cubin, fatbin, LTO-IR, object file or archive: it has 4 bytes "
                 "and begins with 01020304");
    options.is_lto = 1;
    make_code(&cut, CF__LTO, 90);
    count = 1;
    add_data("mul.ltoir", cut.bytes, 20);
    assert_fails(link_for(90), CF_EIMAGE, "cf_test: mul.ltoir: the LTO-IR is cut off: it has 20 bytes");
    count = 1;
    add_data("mul.ltoir", cut.bytes, cut.size / 2);
    assert_fails(link_for(90), CF_ECOMPILE, "cf_test: mul.ltoir: parse ");
}

TEST_WITH(wrong_arguments_are_named, set_up, tear_down)
{
    needs_linker();
    assert_fails(link_for(90), CF_EINVAL, "cf_test: there are no inputs");
    add_text("mul.ptx", MUL_PTX);
    inputs[0].is_source = 2;
    assert_fails(link_for(90), CF_EINVAL, "cf_test: mul.ptx: is_source is 2; it is 0 or 1");
    inputs[0].is_source = 0;
    inputs[0].names = (const char *const[]){"mul", NULL};
    assert_fails(link_for(90), CF_EINVAL, "cf_test: mul.ptx: names are those of a source, and is_source is 0");
    inputs[0].names = NULL;
    inputs[0].name = NULL;
    assert_fails(link_for(90), CF_EINVAL, "cf_test: inputs[0].name is NULL");
    inputs[0].name = "mul.ptx";
    inputs[0].size = 0;
    assert_fails(link_for(90), CF_EIMAGE, "cf_test: mul.ptx is empty");
    options.names = (const char *const[]){"mul", NULL};
    assert_fails(link_for(90), CF_EINVAL, "cf_test: options.names belongs to cf_program_compile()");
    options.is_lto = 2;
    assert_fails(link_for(90), CF_EINVAL, "cf_test: options.is_lto is 2; it is 0 or 1");
}

TEST_WITH(source_with_a_zero_byte_is_refused, set_up, tear_down)
{
    needs_linker();
    static const char source[] = "__device__ int f;\n\0no C++";
    add_source("mul.cu", MUL);
    inputs[count++] = (cf_program_input){.name = "f.cu", .data = source, .size = sizeof source - 1, .is_source = 1};
    assert_fails(link_for(90), CF_EINVAL, "cf_test: f.cu: the source has a zero byte after 18 bytes");
}

/* ---- The cache ---- */

TEST_WITH(second_link_is_a_hit, set_up, tear_down)
{
    needs_linker();
    char folder[] = "/tmp/cf_link_XXXXXX", command[64];
    cf_cache_state cached;
    assert_non_null(mkdtemp(folder));
    options.cache = folder;
    add_source("kernel.cu", KERNEL);
    add_source("mul.cu", "__constant__ int two;\n" MUL);
    inputs[1].names = (const char *const[]){"&two", NULL};
    for (unsigned hits = 0; hits <= 3; hits += 3) {
        expect_linked(90);
        assert_ok(cf_cache_query(folder, &cached));
        assert_int_equal(cached.hits, hits); /* there are two sources, but only one link */
        assert_int_equal(cached.misses, 3);
        assert_int_equal(cached.entries, 3);
        assert_string_equal(linked.names, "&two");
    }
    inputs[1].name = "mul2.cu"; /* the names of inputs appear in logs */
    expect_linked(90);
    options.link_flags = (const char *const[]){"-maxrregcount=32", NULL};
    expect_linked(90);
    assert_ok(cf_cache_query(folder, &cached));
    assert_int_equal(cached.misses, 6);
    assert_int_equal(cached.hits, 6);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* ---- Parts of CUDA ---- */

TEST_WITH(missing_linker_is_reported_with_the_places, set_up, tear_down)
{
    struct cf__request request = {.function = "cf_test", .options = &options, .capability = 90, .driver = 12040};
    add_text("mul.ptx", MUL_PTX);
    setenv("CF_CUDA_HOME", "/nowhere", 1);
    int status = cf__link_inputs(&request, inputs, count, &linked);
    unsetenv("CF_CUDA_HOME");
    if (status == CF_OK)
        skip_test("needs a machine without nvJitLink of CUDA 12");
    assert_int_equal(status, CF_ENOTSUP);
    assert_non_null(strstr(cf_last_error(), "cf_test: libnvJitLink.so.12 was not found in /nowhere/"));
}

/* In the toolkit's folder, other libraries have these names. */
TEST_WITH(parts_that_do_not_fit_are_named, set_up, tear_down)
{
    char folder[] = "/tmp/cf_link_XXXXXX", command[400];
    needs_linker();
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command,
             "mkdir %s/lib && echo 'int x;' >%s/x.c && cc -shared -fPIC %s/x.c -o %s/lib/libnvJitLink.so.13", folder,
             folder, folder, folder);
    assert_int_equal(system(command), 0);
    setenv("CF_CUDA_HOME", folder, 1);
    add_text("mul.ptx", MUL_PTX);
    assert_fails(link_for(90), CF_ENOTSUP, "/lib/libnvJitLink.so.13 lacks nvJitLinkCreate");
    snprintf(command, sizeof command, "cp %s/lib/libnvJitLink.so.13 %s/lib/libnvrtc.so.12", folder, folder);
    assert_int_equal(system(command), 0);
    count = 0;
    add_source("kernel.cu", KERNEL);
    assert_fails(link_for(90), CF_ENOTSUP, "libnvrtc.so.12 and ");
    assert_fails(link_for(90), CF_ENOTSUP, " are of different versions; CF_CUDA_HOME may name a toolkit's folder");
    snprintf(command, sizeof command, "rm %s/lib/libnvJitLink.so.13 && mkfifo %s/lib/libnvJitLink.so.13", folder,
             folder);
    assert_int_equal(system(command), 0);
    count = 0;
    add_text("mul.ptx", MUL_PTX);
    assert_fails(link_for(90), CF_ENOTSUP, "/lib/libnvJitLink.so.13 is no regular file");
    unsetenv("CF_CUDA_HOME");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* The linker's log or image has more bytes than there is memory. */
TEST_WITH(link_without_memory_says_so, set_up, tear_down)
{
    static const struct {
        const char *macros;
        int status;
        const char *detail;
    } cases[] = {
        {"-DRESULT=6 '-DLOG=1ul<<62' -DIMAGE=1", CF_ENOMEM, "cf_test: there is no memory for the link"},
        {"-DRESULT=0 -DLOG=0 '-DIMAGE=1ul<<62'", CF_ENOMEM, "cf_test: there is no memory for the link"},
        {"-DRESULT=6 -DLOG=0 -DIMAGE=1", CF_ECALL, "cf_test: nvJitLinkComplete returned 6"},
        {"-DRESULT=0 -DLOG=0 -DIMAGE=1 -DGOT=6", CF_ECALL, "cf_test: nvJitLinkGetLinkedCubin returned 6"},
        {"-DRESULT=1 -DLOG=2 -DIMAGE=1", CF_EINVAL, "cf_test: x"},
        {"-DRESULT=12 -DLOG=2 -DIMAGE=1", CF_EIMAGE, "cf_test: x"},
        {"-DRESULT=14 -DLOG=2 -DIMAGE=1", CF_ENOTSUP, "cf_test: x"},
        {"-DRESULT=17 -DLOG=2 -DIMAGE=1", CF_ENOCODE, "cf_test: x"},
    };
    static const char text[] =
        "#define GOOD(name) int nvJitLink##name(void) { return 0; }\n"
        "GOOD(Destroy) GOOD(AddData) GOOD(GetLinkedPtxSize) GOOD(GetLinkedPtx)\n"
        "GOOD(GetInfoLogSize) GOOD(GetInfoLog)\n"
        "int nvJitLinkGetErrorLog(void *handle, char *log) { *log = 120; return 0; }\n"
        "int nvJitLinkVersion(unsigned *major, unsigned *minor) { *major = 13, *minor = 0; return 0; }\n"
        "int nvJitLinkCreate(void **handle) { *handle = handle; return 0; }\n"
        "int nvJitLinkComplete(void *handle) { return RESULT; }\n"
        "#ifndef GOT\n#define GOT 0\n#endif\n"
        "int nvJitLinkGetLinkedCubin(void *handle, char *image) { return GOT; }\n"
        "int nvJitLinkGetLinkedCubinSize(void *handle, unsigned long *size) { *size = IMAGE; return 0; }\n"
        "int nvJitLinkGetErrorLogSize(void *handle, unsigned long *size) { *size = LOG; return 0; }\n";
    char folder[] = "/tmp/cf_link_XXXXXX", place[64], command[400];
    assert_non_null(mkdtemp(folder));
    add_text("mul.ptx", MUL_PTX);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) { /* a library that was loaded stays loaded */
        snprintf(place, sizeof place, "%s/%zu", folder, i);
        snprintf(command, sizeof command, "mkdir -p %s/lib && cc %s -shared -fPIC -x c - -o %s/lib/libnvJitLink.so.13",
                 place, cases[i].macros, place);
        FILE *compiler = popen(command, "w");
        assert_non_null(compiler);
        assert_true(fputs(text, compiler) >= 0);
        assert_int_equal(pclose(compiler), 0);
        setenv("CF_CUDA_HOME", place, 1);
        assert_fails(link_for(90), cases[i].status, cases[i].detail);
        unsetenv("CF_CUDA_HOME");
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    return run_all_tests(NULL, NULL);
}
