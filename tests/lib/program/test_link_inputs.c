/* test_link_inputs.c - inputs of links that cannot be linked: symbols with two definitions, which nvJitLink would
 * print about. */
#include "link_requests.h"

#include <unistd.h>

#define HEAD ".version 8.0\n.target sm_75\n.address_size 64\n"
#define ENTRY(name) ".visible .entry " name "(.param .u64 p)\n{\n    ret;\n}\n"

/* ---- What goes to stderr ---- */

static char said[1024];

/* Links with stderr in a file, whose text goes to `said`. */
static int link_quietly(void)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    (void)fflush(stderr);
    int before = dup(STDERR_FILENO);
    assert_true(before >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    int status = link_for(90);
    (void)fflush(stderr);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    close(before);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = 0;
    fclose(file);
    return status;
}

/* ---- Two definitions ---- */

/* Sources of one input each; NULL for what is PTX. */
struct pair {
    const char *one, *other, *message; /* NULL: the link succeeds */
};

static void expect_pair(const struct pair *pair, enum cf__output output)
{
    struct program_image one, other;
    count = 0;
    if (strncmp(pair->one, ".version", 8) == 0) {
        add_text("one", pair->one);
        add_text("other", pair->other);
    } else {
        make_code_of(&one, pair->one, output, 90);
        make_code_of(&other, pair->other, output, 90);
        add_data("one", one.bytes, one.size);
        add_data("other", other.bytes, other.size);
    }
    int status = link_quietly();
    if (status != (pair->message ? CF_ECOMPILE : CF_OK) ||
        (pair->message && output != CF__LTO && !strstr(cf_last_error(), pair->message)))
        fail_msg("%s\n%s\n%d %s", pair->one, pair->other, status, status ? cf_last_error() : "");
    assert_string_equal(said, "");
}

#define F "extern \"C\" __device__ int f(int x) "
#define K "extern \"C\" __global__ void k"
static const struct pair of_sources[] = {
    {F "{ return x; }", F "{ return 2 * x; }", "cf_test: 'f' is defined in one and in other"},
    {K "(int *x) { *x = 1; }", K "(int *x, int n) { *x = n; }", "cf_test: 'k' is defined in one and in other"},
    {"__constant__ int c[4];", "__constant__ int c[4];", "cf_test: 'c' is defined in one and in other"},
    {"__constant__ int c[4];", "__constant__ int c[8];", "cf_test: 'c' is defined in one and in other"},
    {"__device__ int d = 1;", "__device__ float d = 1;", "cf_test: 'd' is defined in one and in other"},
    {"__constant__ int c[4];", "extern __constant__ int c[8]; __global__ void k(int *x) { *x = c[1]; }",
     "cf_test: 'c' has 16 bytes in one and 32 in other"},
    {"__constant__ int c[4];", "extern __constant__ int c[]; __global__ void k(int *x) { *x = c[1]; }", NULL},
    {"static __noinline__ __device__ int f(int x) { return x; }\n__global__ void k(int *x) { *x = f(1); }",
     "static __noinline__ __device__ int f(int x) { return x; }\n__global__ void l(int *x) { *x = f(1); }", NULL},
    {"inline __device__ __noinline__ int f(int x) { return x; }\n__global__ void k(int *x) { *x = f(1); }",
     "inline __device__ __noinline__ int f(int x) { return x; }\n__global__ void l(int *x) { *x = f(1); }", NULL},
    {"template <class T> __global__ void k(T *x) { *x = 1; }\ntemplate __global__ void k(int *);",
     "template <class T> __global__ void k(T *x) { *x = 1; }\ntemplate __global__ void k(int *);", NULL},
    {F "{ return x; }", F ";\n__global__ void k(int *x) { *x = f(1); }", NULL},
    {"extern __shared__ int s[];\n__global__ void k(int *x) { *x = s[1]; }",
     "extern __shared__ int s[];\n__global__ void l(int *x) { *x = s[1]; }", NULL},
};

static const struct pair of_ptx[] = {
    {HEAD ENTRY("k"), HEAD ENTRY("k"), "cf_test: 'k' is defined in one and in other"},
    {HEAD ".visible .func (.param .b32 r) f(.param .b32 x)\n{\n    ret;\n}\n" ENTRY("k"),
     HEAD ".visible .func f()\n{\n    ret;\n}\n", "cf_test: 'f' is defined in one and in other"},
    {HEAD ".visible .const .align 4 .b8 c[16] = {1, 2};\n" ENTRY("k"), HEAD ".visible .const .align 4 .u32 c;\n",
     "cf_test: 'c' is defined in one and in other"},
    {HEAD ".weak .global .align 16 .v4 .f32 w[2];\n" ENTRY("k"), HEAD ".weak .global .align 4 .b8 w[16];\n",
     "cf_test: 'w' has 32 bytes in one and 16 in other"},
    {HEAD ".weak .global .align 4 .b8 w[16];\n" ENTRY("k"), HEAD ".visible .global .align 4 .b8 w[16];\n", NULL},
    {HEAD ".common .global .align 4 .b8 m[16];\n" ENTRY("k"), HEAD ".common .global .align 4 .b8 m[32];\n", NULL},
    {HEAD ".entry h()\n{\n    ret;\n}\n.global .u32 g = 1;\n" ENTRY("k"),
     HEAD ".entry h()\n{\n    ret;\n}\n.global .u32 g;\n", NULL},
    {HEAD ".extern .func f;\n" ENTRY("k"), HEAD ".visible .func f()\n{\n    ret;\n}\n", NULL},
    {HEAD "/* .visible .entry k() { } */ // .visible .entry k()\n" ENTRY("$k"), HEAD ENTRY("k"), NULL},
};

static void two_definitions_of_a_symbol_are_refused(void **state)
{
    (void)state;
    needs_linker();
    for (size_t i = 0; i < sizeof of_sources / sizeof *of_sources; i++) {
        options.is_lto = 0;
        expect_pair(&of_sources[i], CF__RELOCATABLE);
        options.is_lto = 1;
        expect_pair(&of_sources[i], CF__LTO);
    }
    options.is_lto = 0;
    for (size_t i = 0; i < sizeof of_ptx / sizeof *of_ptx; i++)
        expect_pair(&of_ptx[i], CF__RELOCATABLE);
}

/* ---- Compressed code ---- */

/* nvcc compresses the code of objects. */
static void two_definitions_in_objects_are_refused(void **state)
{
    (void)state;
    char folder[] = "/tmp/cf_link_XXXXXX", command[CF__PATH + 400], object[64], archive[64];
    const char *headers;
    needs_linker();
    if (!dlopen("libzstd.so.1", RTLD_NOW))
        skip_test("needs libzstd");
    assert_ok(cf_find("nvrtc.h", &headers));
    snprintf(command, sizeof command, "test -x %s/../bin/nvcc", headers);
    if (system(command) != 0)
        skip_test(NEEDS_NVCC);
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command,
             "cd %s && echo '" F "{ return x; }' >f.cu && echo '" F "{ return -x; } " K "() { }' >k.cu && "
             "for name in f k; do %s/../bin/nvcc -arch=sm_90 -dc $name.cu || exit; done && ar rc k.a k.o",
             folder, headers);
    assert_int_equal(system(command), 0);
    snprintf(object, sizeof object, "%s/f.o", folder);
    snprintf(archive, sizeof archive, "%s/k.a", folder);
    add_source("kernel.cu", "__global__ void l() { }");
    inputs[count++] = (cf_program_input){.name = object};
    inputs[count++] = (cf_program_input){.name = archive};
    assert_fails(link_quietly(), CF_ECOMPILE, "cf_test: 'f' is defined in /tmp/cf_link_");
    assert_non_null(strstr(cf_last_error(), "/f.o and in /tmp/cf_link_"));
    assert_string_equal(said, "");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(two_definitions_of_a_symbol_are_refused),
        TEST(two_definitions_in_objects_are_refused),
    };
    return RUN_ON_DRIVER(tests, NULL, NULL);
}
