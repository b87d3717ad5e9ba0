/* test_compile.c - compiling CUDA C++ at run time: targets, options, names, logs and failures. NVRTC needs no GPU. */
#include "comma_locale.h"
#include "run_group.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cuferry/find.h>
#include <cuferry/program.h>

#include "program/compile.h"
#include "program/headers.h"
#include "program/nvrtc.h"
#include "find/find.h"

static struct cf__compiled compiled;
static cf_program_options options;

/* Skips the tests on a machine without NVRTC. */
static int set_up(void **state)
{
    (void)state;
    unsetenv("CF_CACHE");
    options = (cf_program_options){.time_limit = 0};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cf__compiled_free(&compiled);
    return 0;
}

static struct cf__request make_request(const char *source, int capability, int driver)
{
    return (struct cf__request){.function = "cf_test",
                                .source = source,
                                .name = "saxpy.cu",
                                .options = &options,
                                .capability = capability,
                                .driver = driver};
}

/* Compiles for a device of this compute capability, with a driver for CUDA 13. */
static int compile_for(int capability, const char *source)
{
    const char *path;
    if (cf_find("nvrtc", &path) != CF_OK)
        skip_test(NEEDS_NVRTC);
    cf__compiled_free(&compiled);
    struct cf__request request = make_request(source, capability, 13990);
    return cf__compile_source(&request, &compiled);
}

#define SAXPY                                                                                 \
    "extern \"C\" __global__ void saxpy(float a, float *x, float *y, float *out, size_t n)\n" \
    "{\n"                                                                                     \
    "    size_t i = blockIdx.x * blockDim.x + threadIdx.x;\n"                                 \
    "    if (i < n)\n"                                                                        \
    "        out[i] = a * x[i] + y[i];\n"                                                     \
    "}\n"

static int contains(const char *part)
{
    return memmem(compiled.image, compiled.bytes, part, strlen(part)) != NULL;
}

TEST_WITH(saxpy_is_machine_code_of_the_device, set_up, tear_down)
{
    options.flags = (const char *const[]){"--fmad=false", NULL};
    assert_ok(compile_for(90, SAXPY));
    assert_true(compiled.bytes > 64);
    assert_memory_equal(compiled.image, "\177ELF", 4);
    assert_true(contains("saxpy"));
    assert_null(compiled.log);
    assert_null(compiled.names);
}

/* For a device that is newer than NVRTC, the result is PTX, which the driver compiles. */
TEST_WITH(unknown_device_gets_ptx_of_the_newest_target, set_up, tear_down)
{
    assert_ok(compile_for(9990, SAXPY));
    assert_true(contains(".visible .entry saxpy("));
    assert_int_equal(strlen(compiled.image), compiled.bytes);
    assert_ok(compile_for(91, SAXPY)); /* lies between two targets that NVRTC knows */
    assert_true(contains(".target sm_90\n"));
}

TEST_WITH(exact_code_is_of_one_capability, set_up, tear_down)
{
    static const char source[] = "__global__ void exact(int *out)\n"
                                 "{\n"
                                 "#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n"
                                 "    *out = 1;\n"
                                 "#else\n"
                                 "#error \"no code for 9.0 alone\"\n"
                                 "#endif\n"
                                 "}\n";
    assert_fails(compile_for(90, source), CF_ECOMPILE, "no code for 9.0 alone");
    options.is_exact = 1;
    assert_ok(compile_for(90, source));
    assert_memory_equal(compiled.image, "\177ELF", 4);
    assert_fails(compile_for(91, source), CF_ENOCODE, "cf_test: saxpy.cu: NVRTC ");
    assert_fails(compile_for(91, source), CF_ENOCODE, " does not compile for 9.1a");
    assert_fails(compile_for(80, source), CF_ENOCODE, " does not compile for 8.0a");
}

TEST_WITH(device_that_is_too_old_has_no_code, set_up, tear_down)
{
    assert_fails(compile_for(20, SAXPY), CF_ENOCODE, " does not compile for 2.0");
}

TEST_WITH(error_has_file_and_line_and_the_log_has_all, set_up, tear_down)
{
    assert_int_equal(compile_for(90, "__global__ void k(int *p)\n{\n    int unused;\n    *p = x;\n    *p = y;\n}\n"),
                     CF_ECOMPILE);
    assert_string_equal(cf_last_error(), "cf_test: saxpy.cu(4): error: identifier \"x\" is undefined");
    assert_non_null(strstr(compiled.log, "saxpy.cu(5): error: identifier \"y\" is undefined"));
    assert_null(compiled.image);
    assert_string_equal(cf_status_name(CF_ECOMPILE), "CF_ECOMPILE");
}

static void expect_error_line(const char *log, const char *line)
{
    int length;
    const char *found = cf__log_error(log, &length);
    if ((size_t)length != strlen(line) || memcmp(found, line, strlen(line)) != 0)
        fail_msg("%.*s", length, found);
}

TEST_WITH(error_is_told_from_other_lines_of_a_log, set_up, tear_down)
{
    expect_error_line("a.cu(2): warning #177-D: variable \"error\" was declared: error: no\n"
                      "    puts(\"an error: none\");\nerror_table.cu(1): note\n"
                      "a.cu(5): error: identifier \"x\" is undefined\na.cu(6): error: y\n",
                      "a.cu(5): error: identifier \"x\" is undefined");
    expect_error_line("about terrors: all\na.cu(1): catastrophic error: no a.h", "a.cu(1): catastrophic error: no a.h");
    expect_error_line("a\na.cu(7): error #20: b\n", "a.cu(7): error #20: b");
    expect_error_line("ptxas info    : 0 error(s)\nptxas application ptx input, line 4; fatal   : Parsing\n",
                      "ptxas application ptx input, line 4; fatal   : Parsing");
    expect_error_line("info\nerror   : Undefined reference to 'f'\n", "error   : Undefined reference to 'f'");
    expect_error_line("first\nsecond\n", "first");
    expect_error_line("", "");
}

TEST_WITH(warnings_of_a_success_are_in_the_log, set_up, tear_down)
{
    assert_ok(compile_for(90, "__global__ void k(int *p)\n{\n    int unused;\n    *p = 1;\n}\n"));
    assert_non_null(strstr(compiled.log, "saxpy.cu(3): warning"));
    assert_non_null(strstr(compiled.log, "\"unused\""));
}

TEST_WITH(definitions_and_headers_are_seen, set_up, tear_down)
{
    char folder[] = "/tmp/cf_compile_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/of_folder.h", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("#define OF_FOLDER 7\n", file);
    fclose(file);
    options.definitions = (const char *const[]){"N=1024", "FAST", NULL};
    options.headers = (const cf_program_header[]){{"of_memory.h", "#define OF_MEMORY 5\n"}, {NULL, NULL}};
    options.include_folders = (const char *const[]){"/nowhere", folder, NULL};
    assert_ok(compile_for(90, "#include \"of_memory.h\"\n"
                              "#include <of_folder.h>\n"
                              "#include <cuda_fp16.h>\n" /* a header of the toolkit */
                              "static_assert(OF_MEMORY == 5 && OF_FOLDER == 7 && N == 1024 && FAST == 1, \"\");\n"
                              "__global__ void k(__half *p) { *p = 1; }\n"));
    options.headers = (const cf_program_header[]){{"no_text.h", NULL}, {NULL, NULL}};
    assert_fails(compile_for(90, SAXPY), CF_EINVAL, "cf_test: options.headers: no_text.h has no text");
    unlink(path);
    rmdir(folder);
}

TEST_WITH(name_expressions_have_lowered_names, set_up, tear_down)
{
    static const char source[] = "template <typename T> __global__ void scale(T *x, T a) { x[threadIdx.x] *= a; }\n"
                                 "namespace ns { __constant__ int step; }\n"
                                 "__global__ void plain(int *p) { *p = ns::step; }\n";
    options.names = (const char *const[]){"scale<float>", "plain", "&ns::step", NULL};
    assert_ok(compile_for(90, source));
    const char *at = compiled.names;
    for (int i = 0; i < 3; i++) {
        static const char *const lowered[] = {"_Z5scaleIfEvPT_S0_", "_Z5plainPi", "step"};
        assert_string_equal(at, options.names[i]);
        at += strlen(at) + 1;
        assert_non_null(strstr(at, lowered[i]));
        assert_true(contains(at));
        at += strlen(at) + 1;
    }
    assert_ptr_equal(at, compiled.names + compiled.names_bytes);
    assert_string_equal(at, "");
    options.names = (const char *const[]){"scale<nothing>", NULL};
    assert_fails(compile_for(90, source), CF_ECOMPILE, "identifier \"nothing\" is undefined");
}

TEST_WITH(unknown_flag_is_named, set_up, tear_down)
{
    options.flags = (const char *const[]){"--fast-as-light", NULL};
    assert_fails(compile_for(90, SAXPY), CF_EINVAL, "unrecognized option --fast-as-light");
}

TEST_WITH(time_limit_ends_a_compilation, set_up, tear_down)
{
    static const char source[] = "template <int N> struct deep { static const int value = deep<N - 1>::value + 1; };\n"
                                 "template <> struct deep<0> { static const int value = 0; };\n"
                                 "__global__ void k(float *p)\n{\n"
                                 "#pragma unroll\n"
                                 "    for (int i = 0; i < 20000; i++)\n"
                                 "        p[i] = sinf(p[i + 1]) * tanf(p[i + 2]) / powf(p[i], p[i + 3]);\n}\n";
    options.time_limit = 50;
    assert_fails(compile_for(90, source), CF_ECOMPILE, "cf_test: saxpy.cu: compiling took longer than 50 ms");
    options.time_limit = 0;
    assert_ok(compile_for(90, SAXPY)); /* the next compilation has a time limit of its own */
}

/* Builds a library in a new folder that plays NVRTC, without callbacks. `compile` is the body of its
 * nvrtcCompileProgram(), in which FOLDER stands for the folder. */
static void use_own_compiler(char folder[], const char *compile)
{
    static const char functions[] =
        "#include <stdio.h>\n#include <unistd.h>\n"
        "#define STUB(name) int nvrtc##name(void) { return 0; }\n"
        "STUB(GetPTXSize) STUB(GetPTX) STUB(GetCUBINSize) STUB(GetCUBIN) STUB(GetLTOIRSize) STUB(GetLTOIR)\n"
        "STUB(GetProgramLogSize) STUB(GetProgramLog) STUB(AddNameExpression) STUB(GetLoweredName)\n"
        "STUB(SetFlowCallback) STUB(GetErrorString)\n"
        "int nvrtcVersion(int *major, int *minor) { *major = 13; *minor = 0; return 0; }\n"
        "int nvrtcGetNumSupportedArchs(int *count) { *count = 1; return 0; }\n"
        "int nvrtcGetSupportedArchs(int *known) { *known = 90; return 0; }\n"
        "int nvrtcCreateProgram(void **program) { *program = program; return 0; }\n"
        "int nvrtcDestroyProgram(void) { fclose(fopen(FOLDER \"/destroyed\", \"w\")); return 0; }\n";
    char path[64], command[400];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/nvrtc.c", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%sint nvrtcCompileProgram(void) { %s return 0; }\n", functions, compile);
    fclose(file);
    snprintf(command, sizeof command,
             "cd %s && mkdir lib && cc -shared -fPIC -DFOLDER='\"%s\"' nvrtc.c -o lib/libnvrtc.so.13", folder, folder);
    assert_int_equal(system(command), 0);
    setenv("CF_CUDA_HOME", folder, 1);
}

static void remove_own_compiler(const char *folder)
{
    char command[64];
    unsetenv("CF_CUDA_HOME");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

TEST_WITH(pipe_in_the_place_of_a_header_is_refused, set_up, tear_down)
{
    char folder[] = "/tmp/cf_pipe_XXXXXX", command[160], cache[64];
    use_own_compiler(folder, "");
    snprintf(command, sizeof command, "cd %s && mkdir -p a b && mkfifo a/pipe.h && echo '#include \"pipe.h\"' >a/in.h",
             folder);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "%s/a", folder);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    options.include_folders = (const char *const[]){command, NULL};
    for (int i = 0; i < 2; i++) {
        options.cache = i ? cache : NULL;
        assert_fails(compile_for(90, "#include <pipe.h>\n" SAXPY), CF_ECOMPILE, "/a/pipe.h is a pipe");
        assert_fails(compile_for(90, "#include MACRO // __DATE__\n#include \"in.h\"\n" SAXPY), CF_ECOMPILE,
                     "cf_test: saxpy.cu: the header /tmp/cf_pipe_");
    }
    options = (cf_program_options){.time_limit = 0};
    assert_ok(compile_for(90, "#include <pipe.h>\n" SAXPY));
    remove_own_compiler(folder);
}

/* This compiler runs until the file `stop` exists. */
TEST_WITH(time_limit_does_not_wait_for_the_compiler, set_up, tear_down)
{
    char folder[] = "/tmp/cf_late_XXXXXX", path[64], command[64];
    use_own_compiler(folder, "while (access(FOLDER \"/stop\", F_OK)) usleep(1000);");
    options.time_limit = 50;
    assert_fails(compile_for(90, SAXPY), CF_ECOMPILE, "cf_test: saxpy.cu: compiling took longer than 50 ms");
    snprintf(path, sizeof path, "%s/destroyed", folder);
    assert_int_equal(access(path, F_OK), -1);
    snprintf(command, sizeof command, "touch %s/stop", folder);
    assert_int_equal(system(command), 0);
    assert_ok(cf_shutdown()); /* waits until the compiler ends */
    assert_int_equal(access(path, F_OK), 0);
    remove_own_compiler(folder);
}

TEST_WITH(compiler_runs_in_the_locale_c, set_up, tear_down)
{
    char folder[] = "/tmp/cf_comma_XXXXXX", path[64], text[8] = "";
    use_comma_locale();
    use_own_compiler(folder,
                     "FILE *file = fopen(FOLDER \"/number\", \"w\"); fprintf(file, \"%.1f\", 0.5); fclose(file);");
    assert_ok(compile_for(90, SAXPY));
    (void)setlocale(LC_NUMERIC, "C");
    snprintf(path, sizeof path, "%s/number", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "0.5");
    remove_own_compiler(folder);
}

TEST_WITH(precompiled_headers_go_to_their_folder, set_up, tear_down)
{
    char folder[] = "/tmp/cf_pch_XXXXXX";
    assert_non_null(mkdtemp(folder));
    options.precompiled = folder;
    assert_ok(compile_for(90, "#include <cuda_fp16.h>\n" SAXPY));
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

TEST_WITH(wrong_options_are_named, set_up, tear_down)
{
    options.time_limit = -1;
    assert_fails(compile_for(90, SAXPY), CF_EINVAL, "cf_test: options.time_limit is -1; it is 0 or more milliseconds");
    options.time_limit = 0;
    options.is_exact = 7;
    assert_fails(compile_for(90, SAXPY), CF_EINVAL, "cf_test: options.is_exact is 7; it is 0 or 1");
    options.is_exact = 0;
    options.is_lto = 2;
    assert_fails(compile_for(90, SAXPY), CF_EINVAL, "cf_test: options.is_lto is 2; it is 0 or 1");
    options.is_lto = 1;
    assert_fails(compile_for(90, SAXPY), CF_EINVAL, "cf_test: options.is_lto is of cf_program_link() alone");
    options.is_lto = 0;
    options.link_flags = (const char *const[]){NULL};
    assert_fails(compile_for(90, SAXPY), CF_EINVAL, "cf_test: options.link_flags is of cf_program_link() alone");
    options.link_flags = NULL;
    options.reserved[3] = 1;
    assert_fails(compile_for(90, SAXPY), CF_EINVAL, "cf_test: options.reserved[3] is not 0");
}

/* With a driver for CUDA 12, an NVRTC of CUDA 13 is not used. */
TEST_WITH(missing_nvrtc_is_reported_with_the_places, set_up, tear_down)
{
    struct cf__request request = make_request(SAXPY, 90, 12040);
    setenv("CF_CUDA_HOME", "/nowhere", 1);
    int status = cf__compile_source(&request, &compiled);
    unsetenv("CF_CUDA_HOME");
    if (status == CF_OK)
        skip_test("needs a machine without NVRTC of CUDA 12");
    assert_int_equal(status, CF_ENOTSUP);
    assert_non_null(strstr(cf_last_error(), "cf_test: libnvrtc.so.12 was not found in /nowhere/{lib64,lib,targets/"));
    assert_non_null(strstr(cf_last_error(), "; CF_CUDA_HOME may name a toolkit's folder"));
}

/* In the toolkit's folder, another library has the name of NVRTC. */
TEST_WITH(library_that_is_not_nvrtc_is_named, set_up, tear_down)
{
    char folder[] = "/tmp/cf_nvrtc_XXXXXX", command[300];
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command,
             "mkdir %s/lib && echo 'int x;' >%s/x.c && cc -shared -fPIC %s/x.c -o %s/lib/libnvrtc.so.13", folder,
             folder, folder, folder);
    assert_int_equal(system(command), 0);
    setenv("CF_CUDA_HOME", folder, 1);
    struct cf__request request = make_request(SAXPY, 90, 13000);
    assert_fails(cf__compile_source(&request, &compiled), CF_ENOTSUP, "/lib/libnvrtc.so.13 lacks nvrtc");
    snprintf(command, sizeof command, "echo text >%s/lib/libnvrtc.so.12", folder);
    assert_int_equal(system(command), 0);
    request.driver = 12080;
    assert_fails(cf__compile_source(&request, &compiled), CF_ENOTSUP, "cf_test: NVRTC cannot be opened: ");
    snprintf(command, sizeof command, "head -c 1000 %s/lib/libnvrtc.so.13 >%s/lib/libnvrtc.so.12", folder, folder);
    assert_int_equal(system(command), 0);
    assert_fails(cf__compile_source(&request, &compiled), CF_ENOTSUP, "/lib/libnvrtc.so.12 is cut off");
    unsetenv("CF_CUDA_HOME");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* The layouts are those of the toolkit, of Python wheels, of Conda and of Linux distributions. */
TEST_WITH(headers_are_beside_each_kind_of_library, set_up, tear_down)
{
    static const char *const layouts[][2] = {{"lib64", "include"},
                                             {"cuda_nvrtc/lib", "cuda_runtime/include"},
                                             {"lib", CF__TARGET_FOLDER "/include"},
                                             {"lib/x86_64-linux-gnu", "include"}};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        char root[] = "/tmp/cf_headers_XXXXXX", command[512], path[CF__PATH], folder[CF__PATH], real[PATH_MAX];
        assert_non_null(mkdtemp(root));
        snprintf(command, sizeof command, "mkdir -p %s/%s %s/%s && touch %s/%s/cuda_fp16.h", root, layouts[i][0], root,
                 layouts[i][1], root, layouts[i][1]);
        assert_int_equal(system(command), 0);
        snprintf(path, sizeof path, "%s/%s/libnvrtc.so.12", root, layouts[i][0]);
        cf__nvrtc_headers(path, folder);
        assert_non_null(realpath(folder, real));
        snprintf(path, sizeof path, "%s/%s", root, layouts[i][1]);
        assert_string_equal(real, path);
        snprintf(command, sizeof command, "rm -r %s", root);
        assert_int_equal(system(command), 0);
    }
}

/* Makes a folder whose path is `length` bytes long. */
static void make_deep(char path[CF__PATH], const char *root, size_t length)
{
    size_t used = (size_t)snprintf(path, CF__PATH, "%s", root);
    while (used < length) {
        size_t part = length - used - 1 < 200 ? length - used - 1 : 200;
        if (length - used - 1 - part == 1) /* otherwise the next part would be empty */
            part--;
        path[used++] = '/';
        memset(path + used, 'd', part);
        path[used += part] = 0;
        assert_int_equal(mkdir(path, 0700), 0);
    }
}

TEST_WITH(headers_in_a_folder_of_the_longest_path_are_found, set_up, tear_down)
{
    static const char header[] = "/cuda_fp16.h";
    for (size_t length = PATH_MAX - 60; length <= PATH_MAX; length += 20) { /* of the header's path, with its end */
        char root[] = "/tmp/cf_headers_XXXXXX", command[64], deep[CF__PATH], path[2 * CF__PATH], folder[CF__PATH];
        assert_non_null(mkdtemp(root));
        make_deep(deep, root, length - strlen("/lib/../include") - sizeof header);
        snprintf(path, sizeof path, "%s/include", deep);
        assert_int_equal(mkdir(path, 0700), 0);
        strcat(path, header);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fclose(file);
        snprintf(path, sizeof path, "%s/lib", deep);
        assert_int_equal(mkdir(path, 0700), 0);
        strcat(path, "/libnvrtc.so.12");
        cf__nvrtc_headers(path, folder);
        snprintf(path, sizeof path, "%s/lib/../include", deep);
        assert_string_equal(folder, path);
        snprintf(command, sizeof command, "rm -r %s", root);
        assert_int_equal(system(command), 0);
    }
}

TEST_WITH(comments_and_literals_are_skipped_whole, set_up, tear_down)
{
    static const struct {
        const char *text;
        size_t skipped;
    } cases[] = {
        {"// a\n b", 4},
        {"/* a */ b", 7},
        {"/*/ */ b", 6},
        {"/* a", 4},
        {"\"a\\\"b\" c", 6},
        {"'\"' \"", 3},
        {"\"a\nb\"", 2},
        {"a", 0},
        {"R\"(a\"b)\" c", 8},
        {"u8R\"(\")\" c", 8},
        {"uR\"(\")\" c", 7},
        {"UR\"(\")\" c", 7},
        {"LR\"(\")\" c", 7},
        {"8R\"(\")\" c", 0},
        {"u\"a\"", 0},
        {"R\"x()\")x\" c", 9},
        {"R\"(a", 4},
        {"R\"0123456789abcdef()0123456789abcdef\" c", 37},
        {"R\"0123456789abcdefg()\"", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (cf__text_skip(cases[i].text) != cases[i].text + cases[i].skipped)
            fail_msg("%s: %zu characters", cases[i].text, (size_t)(cf__text_skip(cases[i].text) - cases[i].text));
}

int main(void)
{
    return run_all_tests(NULL, NULL);
}
