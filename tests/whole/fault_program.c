/* fault_program.c - the scenes of test_fault.c about programs. Programs that are loaded have the images of fault.cu's
 * kernels. */
#include "played_gpu.h"

#include <cuferry/find.h>
#include <cuferry/program.h>
#include <cuferry/registry.h>

#include <sys/stat.h>
#include <unistd.h>

#include "fault_data.h"
#include "fault_kernels.h"

static const char signature[] = "(float a, in float x[n], inout float y[n], int n) grid(n) block(256)";

static cf_program *program;
static const cf_kernel *kernel;
static void *pointer;
static char path[96];

static const cf_kernel *twin(void)
{
    return cf_kernel_find(&fault_registry, "axpy");
}

static size_t image_size(void)
{
    return (size_t)(twin()->image->end - twin()->image->begin);
}

ACT(load, cf_program_load(&program, twin()->image->begin, image_size()))
ACT(kernel, cf_program_kernel(program, twin()->entry, signature, &kernel))
RIGHT(load, is_done == (program != NULL))
RIGHT(kernel, is_done == (kernel != NULL))
PREPARE(load, NEED(act_load()))
PREPARE(kernel, NEED(act_load()); NEED(act_kernel()))

static void clean_program(void)
{
    NEED(cf_program_unload(program));
    program = NULL;
    kernel = NULL;
}

static void prepare_file(void)
{
    snprintf(path, sizeof path, "/tmp/cf_fault_program_%ld", (long)getpid());
    FILE *file = fopen(path, "w");
    if (!file || fwrite(twin()->image->begin, image_size(), 1, file) != 1 || fclose(file) != 0)
        fail_msg("%s cannot be written", path);
}
ACT(file, cf_program_load_file(&program, path))
CLEAN(file, (void)unlink(path); clean_program())

static int act_call(void)
{
    float a = 2;
    int n = N;
    void *of_x = x, *of_y = y;
    void *const args[] = {&a, &of_x, &of_y, &n};
    return cf_call(kernel, args);
}

static int act_launch(void)
{
    float a = 2;
    int n = N;
    void *const args[] = {&a, &dx, &dy, &n};
    return cf_launch(kernel, stream, args);
}
PREPARE(call, prepare_kernel(); NEED(cf_set_host_data(CF_HOST_DATA_STAGE)); expect_axpy())
CLEAN(call, clean_program(); clean_host_data())
PREPARE(launch, prepare_kernel(); expect_axpy(); upload(); make_stream())
CLEAN(launch, clean_program(); destroy_both())

ACT(symbol, cf_program_symbol(program, fault_registry.symbols[0]->entry, sizeof(float), &pointer))
ACT(attribute, cf_kernel_attribute(kernel, CF_ATTRIBUTE_REGISTERS, &wide))
PREPARE(attribute, prepare_kernel(); wide = -77)
RIGHT(attribute, is_done == (wide != -77))
ACT(log, *cf_program_log(NULL) ? -100 : CF_OK)

/* A launch is in flight. If the call fails, the program must still be loaded. */
static void prepare_unload(void)
{
    prepare_launch();
    NEED(act_launch());
}

static int act_unload(void)
{
    int status = cf_program_unload(program);
    program = status == CF_OK ? NULL : program;
    return status;
}

/* ---- Programs of CUDA C++; allocations of NVRTC itself are not made to fail ---- */

static const char source[] = "#include \"step.h\"\n"
                             "template <int N> __global__ void k(int *p) { *p = N * STEP; int unused; }\n";
static const cf_program_header headers[] = {{"step.h", "#define STEP 7\n"}, {NULL, NULL}};
static char folder[] = "/tmp/cf_fault_XXXXXX";
static cf_program_options options = {.headers = headers, .names = (const char *const[]){"k<3>", NULL}};

static void prepare_compile(void)
{
    memcpy(folder + sizeof folder - 7, "XXXXXX", 6);
    NEED(!mkdtemp(folder));
}
ACT(compile, cf_program_compile(&program, source, "k.cu", &options))
CLEAN(folder, char command[64]; snprintf(command, sizeof command, "rm -r %s", folder); NEED(system(command)))
CLEAN(compile, clean_program(); clean_folder(); options.cache = NULL)
PREPARE(miss, prepare_compile(); options.cache = folder)
PREPARE(hit, prepare_miss(); NEED(act_compile()); clean_program())

/* If there is no memory for a log, the log is left out. */
RIGHT(compile, is_done == (program != NULL) &&
                   (!is_done || !*cf_program_log(program) || strstr(cf_program_log(program), "k.cu(2): warning")))

/* ---- Annotated sources; in place of cfcc, a script copies the shared object that cfcc made once ---- */

static const char annotated[] = "#include \"step.h\"\n"
                                "#pragma cf kernel grid(n) inout(p[n])\n"
                                "__global__ void k(int *p, int n) { if (threadIdx.x == 0) p[blockIdx.x] = n * STEP; }\n"
                                "__constant__ float factor = 1;\n";
static char kept[64];
static const cf_program_options of_annotated = {.headers = headers, .cache = folder};

static void remove_kept(void)
{
    (void)unlink(kept);
}

static void run_cfcc(void)
{
    char self[PATH_MAX], fake[PATH_MAX], command[PATH_MAX + 512];
    find_paths(self, fake);
    *strrchr(self, '/') = 0;
    snprintf(kept, sizeof kept, "/tmp/cf_fault_program_%ld.so", (long)getpid());
    snprintf(command, sizeof command,
             "echo '%s' >%s/step.h; echo '%s' >%s/k.cu; '%.*s/../cfcc' --shared --kernels%s"
             " -o %s --header %s/k_kernels.h --prefix k %s/k.cu",
             headers[0].text, folder, annotated, folder, PATH_MAX / 2, self, on_cuda() ? "" : " --cuda=no", kept,
             folder, folder);
    NEED(system(command));
    NEED(atexit(remove_kept));
}

static void prepare_annotated(void)
{
    prepare_compile();
    if (!*kept)
        run_cfcc();
    snprintf(path, sizeof path, "%s/cfcc", folder);
    FILE *file = fopen(path, "w");
    NEED(!file ||
         fprintf(file, "#!/bin/sh\nwhile [ \"$1\" != -o ]; do\n    shift\ndone\ncp %s \"$2\"\necho said\n", kept) < 0 ||
         fclose(file) != 0);
    NEED(chmod(path, 0700));
    NEED(setenv("CF_CFCC", path, 1));
}
ACT(annotated, cf_program_compile(&program, annotated, "k.cu", &of_annotated))
ACT(uncached, cf_program_compile(&program, annotated, "k.cu", &(cf_program_options){.headers = headers}))
ACT(copied, cf_program_kernel(program, "k", NULL, &kernel))
ACT(factor, cf_program_symbol(program, "factor", sizeof(float), &pointer))
CLEAN(annotated, NEED(unsetenv("CF_CFCC")); clean_program(); clean_folder())
PREPARE(annotated_hit, prepare_annotated(); NEED(act_annotated()); clean_program())
PREPARE(copied, prepare_annotated(); NEED(act_uncached()))
RIGHT(annotated, is_done == (program != NULL) &&
                     (!is_done || !*cf_program_log(program) || strcmp(cf_program_log(program), "said\n") == 0))

/* The kernel has been used in this context. */
static void prepare_annotated_unload(void)
{
    prepare_copied();
    NEED(act_copied());
    NEED(act_factor());
}

/* ---- Links of a source with code; the log names the code's symbols ---- */

static const char calling[] = "extern \"C\" __device__ int twice(int);\n"
                              "__global__ void k(int *p) { *p = twice(*p); int unused; }\n";
static const char twice[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
                            ".visible .func (.param .b32 r) twice(.param .b32 x)\n{\n"
                            "    .reg .b32 %r<3>;\n    ld.param.b32 %r1, [x];\n    add.s32 %r2, %r1, %r1;\n"
                            "    st.param.b32 [r], %r2;\n    ret;\n}\n";
static const cf_program_input inputs[] = {{.name = "k.cu",
                                           .data = calling,
                                           .size = sizeof calling - 1,
                                           .is_source = 1,
                                           .names = (const char *const[]){"k", NULL}},
                                          {.name = path}};

static void prepare_link(void)
{
    prepare_compile();
    snprintf(path, sizeof path, "%s/twice.ptx", folder);
    FILE *file = fopen(path, "w");
    NEED(!file || fputs(twice, file) < 0 || fclose(file) != 0);
}

static int act_link(void)
{
    const cf_program_options of_link = {.cache = folder};
    return cf_program_link(&program, inputs, 2, &of_link);
}

static int act_undefined(void)
{
    const cf_program_options of_link = {.is_lto = 1};
    int status = cf_program_link(&program, inputs, 1, &of_link);
    return status == CF_ECOMPILE ? CF_OK : status;
}
PREPARE(linked, prepare_link(); NEED(act_link()); clean_program())

static int act_wrong(void)
{
    int status = cf_program_compile(&program, "error", "k.cu", NULL);
    return status == CF_ECOMPILE ? CF_OK : status;
}
RIGHT(wrong, program == NULL)

/* ---- Parts of CUDA, in a toolkit that is searched after the linker's folders ---- */

static const char *found;

static void prepare_find(void)
{
    found = NULL;
    prepare_compile();
    snprintf(path, sizeof path, "%s/lib", folder);
    NEED(mkdir(path, 0700));
    snprintf(path, sizeof path, "%s/lib/libnccl.so.2", folder);
    FILE *file = fopen(path, "w");
    NEED(!file || fclose(file) != 0);
    setenv("CUDA_HOME", folder, 1);
}
ACT(find, cf_find("nccl", &found))
RIGHT(find, is_done == (found != NULL))
CLEAN(find, unsetenv("CUDA_HOME"); clean_folder())

/* ---- The scenes ---- */

const struct scene program_scenes[] = {
    {"cf_program_load", NULL, act_load, is_load_right, clean_program, CUDA_ONLY},
    {"cf_program_load_file", prepare_file, act_file, is_load_right, clean_file, CUDA_ONLY},
    {"cf_program_compile into the cache", prepare_miss, act_compile, is_compile_right, clean_compile,
     CUDA_ONLY | NVRTC | LONG},
    {"cf_program_compile from the cache", prepare_hit, act_compile, is_compile_right, clean_compile,
     CUDA_ONLY | NVRTC | LONG},
    {"cf_program_compile of an error", NULL, act_wrong, is_wrong_right, NULL, CUDA_ONLY | NVRTC},
    {"cf_program_compile of annotations", prepare_annotated, act_uncached, is_annotated_right, clean_annotated, 0},
    {"cf_program_compile of annotations into the cache", prepare_annotated, act_annotated, is_annotated_right,
     clean_annotated, 0},
    {"cf_program_compile of annotations from the cache", prepare_annotated_hit, act_annotated, is_annotated_right,
     clean_annotated, 0},
    {"cf_program_kernel of annotations", prepare_copied, act_copied, is_kernel_right, clean_annotated, FRESH},
    {"cf_program_symbol of annotations", prepare_copied, act_factor, NULL, clean_annotated, FRESH},
    {"cf_program_unload of annotations", prepare_annotated_unload, act_unload, NULL, clean_annotated, FRESH},
    {"cf_program_link into the cache", prepare_link, act_link, is_compile_right, clean_compile,
     CUDA_ONLY | NVRTC | LINK | LONG},
    {"cf_program_link from the cache", prepare_linked, act_link, is_compile_right, clean_compile,
     CUDA_ONLY | NVRTC | LINK | LONG},
    {"cf_program_link of undefined symbols", NULL, act_undefined, is_wrong_right, NULL, CUDA_ONLY | NVRTC | LINK},
    {"cf_find", prepare_find, act_find, is_find_right, clean_find, 0},
    {"cf_program_kernel", prepare_load, act_kernel, is_kernel_right, clean_program, CUDA_ONLY | FRESH},
    {"cf_program_symbol", prepare_load, act_symbol, NULL, clean_program, CUDA_ONLY | FRESH},
    {"cf_program_log", NULL, act_log, NULL, NULL, COLD},
    {"cf_program_unload", prepare_unload, act_unload, NULL, clean_launch, CUDA_ONLY | FRESH},
    {"cf_kernel_attribute", prepare_attribute, act_attribute, is_attribute_right, clean_program, CUDA_ONLY | FRESH},
    {"cf_call of a program", prepare_call, act_call, is_host_right, clean_call, CUDA_ONLY | FRESH},
    {"cf_launch of a program", prepare_launch, act_launch, is_device_right, clean_launch, CUDA_ONLY | FRESH},
};
const int program_scene_count = sizeof program_scenes / sizeof *program_scenes;
