/* cfcc_script.h - for tests in which a script runs in place of cfcc. It copies the shared object that cfcc made for the
 * first program, or does something wrong. */
#ifndef CFCC_SCRIPT_H
#define CFCC_SCRIPT_H

#include "played_gpu.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

#include <cuferry/program.h>
#include <cuferry/registry.h>

#include "program/cfcc.h"

#define STEP                                                           \
    "#include \"scale.h\"\n"                                           \
    "__constant__ float factor = 1;\n"                                 \
    "// #pragma cf kernel is in a comment\n"                           \
    "#pragma cf kernel grid(n) in(x[n]) inout(y[n])\n"                 \
    "__global__ void step(float a, const float *x, float *y, int n)\n" \
    "{\n"                                                              \
    "    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);\n"      \
    "    if (i < n)\n"                                                 \
    "        y[i] += SCALE * OFFSET * factor * a * x[i];\n"            \
    "}\n"                                                              \
    "#pragma cf kernel grid(n) dependent inout(y[n])\n"                \
    "__global__ void worry(float *y, int n)\n"                         \
    "{\n"                                                              \
    "    y[0] += n;\n"                                                 \
    "}\n"

enum { N = 300 };

static char cfcc[PATH_MAX]; /* cfcc of this build */
static char folder[] = "/tmp/cf_of_cfcc_XXXXXX", script[64], temporary[64], cache[64];
static cf_program *program;
static const cf_kernel *kernel;

static const cf_program_header headers[] = {{"in/scale.h", "#define SCALE 3\n"}, {NULL, NULL}};
static const cf_program_options of_step = {.headers = headers,
                                           .include_folders = (const char *const[]){temporary, NULL},
                                           .definitions = (const char *const[]){"OFFSET=2", NULL},
                                           .flags = (const char *const[]){"-O1", NULL}};

/* ---- Fixture ---- */

static inline void write_text(const char *path, int mode, const char *text)
{
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0 || chmod(path, (mode_t)mode) != 0)
        fail_msg("%s cannot be written", path);
}

/* Sets CF_CFCC to a script of /bin/sh. In the script, $out is the output, $inputs the file that will list the inputs,
 * and $folder the folder of this test. */
static inline void use_script(const char *text)
{
    char whole[2 * PATH_MAX];
    snprintf(whole, sizeof whole,
             "#!/bin/sh\nfolder=%s cfcc='%s'\nout= last=\nfor word; do\n    [ \"$last\" = -o ] && out=$word\n"
             "    [ \"$last\" = --inputs ] && inputs=$word\n    last=$word\ndone\nprintf '\\0' >\"$inputs\"\n%s\n",
             folder, cfcc, text);
    write_text(script, 0755, whole);
    assert_int_equal(setenv("CF_CFCC", script, 1), 0);
}

static inline void use_copy(void)
{
    use_script("cp $folder/kept.so \"$out\"");
}

static int set_up_group(void **state)
{
    (void)state;
    char fake[PATH_MAX], self[PATH_MAX];
    find_paths(self, fake);
    for (int up = 0; up < 2; up++)
        *strrchr(self, '/') = 0;
    snprintf(cfcc, sizeof cfcc, "%.*s/cfcc", (int)sizeof cfcc - 8, self);
    unsetenv("CF_CACHE");
    if (!mkdtemp(folder))
        return -1;
    snprintf(script, sizeof script, "%s/script", folder);
    snprintf(temporary, sizeof temporary, "%s/temporary", folder);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    return mkdir(temporary, 0700) || setenv("TMPDIR", temporary, 1);
}

static int tear_down_group(void **state)
{
    (void)state;
    char command[80];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static inline int count_files(const char *path)
{
    int count = 0;
    DIR *stream = opendir(path);
    assert_non_null(stream);
    while (readdir(stream))
        count++;
    closedir(stream);
    return count - 2; /* does not count . and .. */
}

/* Checks that no file and no process is left behind. */
static int tear_down(void **state)
{
    (void)state;
    assert_ok(cf_program_unload(program));
    program = NULL;
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    assert_int_equal(count_files(temporary), 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    return 0;
}

static inline void compile(const cf_program_options *options)
{
    if (cf_program_compile(&program, STEP, "dir/step.cu", options) != CF_OK)
        fail_msg("%s\n%s", cf_last_error(), cf_program_log(NULL));
}

/* Calls the kernel `step` on host arrays. */
UNWATCHED static int call_step(float factor)
{
    float a = 0.5f, x[N], y[N];
    int n = N, wrong = 0;
    for (int i = 0; i < n; i++) {
        x[i] = (float)i;
        y[i] = 1;
    }
    void *of_x = x, *of_y = y;
    void *const args[] = {&a, &of_x, &of_y, &n};
    int status = cf_call(kernel, args);
    for (int i = 0; i < n; i++)
        wrong += y[i] != 1 + 6 * factor * a * x[i];
    return status == CF_OK && wrong ? CF_ECALL : status;
}

static inline void expect_step(float factor)
{
    if (cf_program_kernel(program, "step", NULL, &kernel) != CF_OK || call_step(factor) != CF_OK)
        fail_msg("%s", cf_last_error());
}

/* Compiles a program for the first time, and keeps its shared object for use_copy(). */
static void compile_and_keep(void)
{
    char header[96];
    snprintf(header, sizeof header, "%s/scale.h", temporary);
    write_text(header, 0600, "#include \"in/scale.h\"\n");
    use_script("\"$cfcc\" \"$@\" && cp \"$out\" $folder/kept.so");
    compile(&of_step);
    expect_step(1);
    assert_int_equal(unlink(header), 0);
}

static inline void expect_failure(int status, const char *detail)
{
    cf_program *none = (cf_program *)&none;
    assert_fails(cf_program_compile(&none, STEP, "dir/step.cu", &of_step), status, detail);
    assert_null(none);
}

#endif
