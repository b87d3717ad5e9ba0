/* test_program_cfcc.c - programs of annotated sources, which cfcc compiles for the CPU and the GPU in use. Most tests
 * take a script in its place: it copies the shared object that cfcc made for the first one, or does something wrong. */
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

static char cfcc[PATH_MAX]; /* of this build */
static char folder[] = "/tmp/cf_of_cfcc_XXXXXX", script[64], temporary[64], cache[64];
static cf_program *program;
static const cf_kernel *kernel;

static const cf_program_header headers[] = {{"in/scale.h", "#define SCALE 3\n"}, {NULL, NULL}};
static const cf_program_options of_step = {.headers = headers,
                                           .include_folders = (const char *const[]){temporary, NULL},
                                           .definitions = (const char *const[]){"OFFSET=2", NULL},
                                           .flags = (const char *const[]){"-O1", NULL}};

/* ---- Fixture ---- */

static void write_text(const char *path, int mode, const char *text)
{
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0 || chmod(path, (mode_t)mode) != 0)
        fail_msg("%s cannot be written", path);
}

/* CF_CFCC names a script of /bin/sh, in which $out is the output, $inputs the file of inputs, at first without any, and
 * $folder the folder of this test. */
static void use_script(const char *text)
{
    char whole[2 * PATH_MAX];
    snprintf(whole, sizeof whole,
             "#!/bin/sh\nfolder=%s cfcc='%s'\nout= last=\nfor word; do\n    [ \"$last\" = -o ] && out=$word\n"
             "    [ \"$last\" = --inputs ] && inputs=$word\n    last=$word\ndone\nprintf '\\0' >\"$inputs\"\n%s\n",
             folder, cfcc, text);
    write_text(script, 0755, whole);
    assert_int_equal(setenv("CF_CFCC", script, 1), 0);
}

static void use_copy(void)
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

static int count_files(const char *path)
{
    int count = 0;
    DIR *stream = opendir(path);
    assert_non_null(stream);
    while (readdir(stream))
        count++;
    closedir(stream);
    return count - 2; /* . and .. */
}

/* No file and no process is left behind. */
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

static void compile(const cf_program_options *options)
{
    if (cf_program_compile(&program, STEP, "dir/step.cu", options) != CF_OK)
        fail_msg("%s\n%s", cf_last_error(), cf_program_log(NULL));
}

/* The call of `step` on arrays of the host. */
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

static void expect_step(float factor)
{
    if (cf_program_kernel(program, "step", NULL, &kernel) != CF_OK || call_step(factor) != CF_OK)
        fail_msg("%s", cf_last_error());
}

static void expect_failure(int status, const char *detail)
{
    cf_program *none = (cf_program *)&none;
    assert_fails(cf_program_compile(&none, STEP, "dir/step.cu", &of_step), status, detail);
    assert_null(none);
}

/* ---- cfcc itself ---- */

/* The first test: it keeps the shared object for the others. */
static void kernel_runs_where_the_thread_is(void **state)
{
    (void)state;
    char header[96];
    snprintf(header, sizeof header, "%s/scale.h", temporary);
    write_text(header, 0600, "#include \"in/scale.h\"\n");
    use_script("\"$cfcc\" \"$@\" && cp \"$out\" $folder/kept.so");
    compile(&of_step);
    expect_step(1);
    assert_non_null(strstr(cf_program_log(program), "dir/step.cu:11:"));
    assert_non_null(strstr(cf_program_log(program), "warning: "));
    assert_null(strstr(cf_program_log(program), "/cuferry-"));
    assert_int_equal(unlink(header), 0);
}

static void error_has_the_name_and_the_line(void **state)
{
    (void)state;
    static const char *const sources[] = {
        "#pragma cf kernel grid(n)\n__global__ void k(int n)\n{\n    no(n);\n}\n",
        "#pragma cf kernel grid(m)\n__global__ void k(int n)\n{\n}\n",
        "#pragma cf kernel grid(n)\n#include \"h.h\"\n__global__ void k(int n)\n{\n    no(n);\n}\n",
    };
    static const char *const details[] = {"dir/k.cu", "dir/k.cu:1:", "h.h:2"};
    static const cf_program_header wrong[] = {{"h.h", "\n#error wrong\n"}, {NULL, NULL}};
    setenv("CF_CFCC", cfcc, 1);
    for (int i = 0; i < 3; i++) {
        assert_fails(cf_program_compile(&program, sources[i], "dir/k.cu", &(cf_program_options){.headers = wrong}),
                     CF_ECOMPILE, details[i]);
        assert_null(program);
        assert_non_null(strstr(cf_program_log(NULL), details[i]));
        assert_null(strstr(cf_program_log(NULL), "/cuferry-"));
    }
}

static void device_needs_its_code(void **state)
{
    (void)state;
    /* Names of cfcc's own files, and two points that lead nowhere. */
    static const cf_program_header scale[] = {{"scale.h", "#include \"program.h\"\n"},
                                              {"program.h", "#include \"v1..2.h\"\n"},
                                              {"v1..2.h", "#define SCALE 3\n"},
                                              {"log", "no message\n"},
                                              {NULL, NULL}};
    const cf_program_options options = {
        .headers = scale, .definitions = of_step.definitions, .flags = (const char *const[]){"--cuda=no", NULL}};
    setenv("CF_CFCC", cfcc, 1);
    if (!on_cuda()) {
        compile(&options);
        assert_null(strstr(cf_program_log(program), "no message"));
        expect_step(1);
        return;
    }
    assert_fails(cf_program_compile(&program, STEP, "k.cu", &options), CF_ENOCODE,
                 "cf_program_compile: k.cu: cfcc made no code for the GPU");
    assert_null(program);
}

/* ---- Kernels and data ---- */

static void unloaded_kernel_is_refused(void **state)
{
    (void)state;
    use_copy();
    for (int time = 0; time < 3; time++) {
        compile(&of_step);
        expect_step(1);
        const cf_kernel *again = NULL;
        assert_ok(cf_program_kernel(program, "step", NULL, &again));
        assert_ptr_equal(again, kernel);
        assert_string_equal(kernel->name, "step");
        assert_ok(cf_shutdown());
        expect_step(1);
        assert_ok(cf_program_unload(program));
        assert_fails(call_step(1), CF_EINVAL, "the kernel step belongs to a program that was unloaded");
        assert_fails(cf_program_kernel(program, "step", NULL, &again), CF_EINVAL, "the program was unloaded");
        program = NULL;
    }
}

static void two_programs_of_a_source_have_their_own_data(void **state)
{
    (void)state;
    cf_program *other;
    const float two = 2, five = 5;
    void *pointer;
    if (played_gpu_is_in_use()) /* it knows images by their bytes */
        skip_test(NEEDS_CPU);
    use_copy();
    compile(&of_step);
    other = program;
    compile(&of_step);
    assert_ok(cf_program_symbol(program, "factor", sizeof five, &pointer));
    assert_ok(cf_mem_copy(pointer, &five, sizeof five));
    assert_ok(cf_program_symbol(other, "factor", sizeof two, &pointer));
    assert_ok(cf_mem_copy(pointer, &two, sizeof two));
    expect_step(5);
    assert_ok(cf_program_unload(program));
    program = other;
    expect_step(2);
}

static void names_that_are_not_there_are_refused(void **state)
{
    (void)state;
    void *pointer = NULL;
    use_copy();
    compile(&of_step);
    assert_fails(cf_program_kernel(program, "jump", NULL, &kernel), CF_EIMAGE,
                 "cf_program_kernel: the source has no kernel jump");
    assert_non_null(strstr(cf_last_error(), "the first one is step"));
    assert_fails(cf_program_kernel(program, "step", "(int n) grid(n)", &kernel), CF_EINVAL,
                 "step has an annotation: its signature is NULL");
    assert_fails(cf_program_kernel(program, NULL, NULL, &kernel), CF_EINVAL, "entry is NULL");
    assert_fails(cf_program_symbol(program, "jump", 4, &pointer), CF_EIMAGE, "no __constant__ data jump");
    assert_fails(cf_program_symbol(program, "factor", 8, &pointer), CF_EIMAGE, "factor has 4 bytes, and 8 in the call");
    assert_null(pointer);
}

/* ---- The cache ---- */

/* Another process; returns its exit status. */
static int use_cache(const char *self_cache)
{
    const cf_program_options options = {.headers = headers,
                                        .include_folders = of_step.include_folders,
                                        .definitions = of_step.definitions,
                                        .flags = of_step.flags,
                                        .cache = self_cache};
    if (cf_program_compile(&program, STEP, "dir/step.cu", &options) != CF_OK ||
        cf_program_kernel(program, "step", NULL, &kernel) != CF_OK || call_step(1) != CF_OK) {
        fprintf(stderr, "%s\n", cf_last_error());
        return 1;
    }
    int has_log = strcmp(cf_program_log(program), "said\n") == 0;
    return cf_program_unload(program) != CF_OK || cf_shutdown() != CF_OK || !has_log;
}

/* Runs use_cache() in a process with one more variable. */
static void run_process(const char *variable)
{
    char self[PATH_MAX], fake[PATH_MAX];
    int status = -1;
    find_paths(self, fake);
    pid_t child = fork_flushed();
    assert_true(child >= 0);
    if (child == 0) {
        if (variable)
            setenv(variable, "-DX", 1);
        execl(self, self, "use_cache", temporary, cache, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void second_process_does_not_compile(void **state)
{
    (void)state;
    cf_cache_state now;
    use_script("echo said; echo run >>$folder/runs; cp $folder/kept.so \"$out\"");
    for (int i = 0; i < 3; i++)
        run_process(NULL);
    assert_ok(cf_cache_query(cache, &now));
    assert_int_equal(now.entries, 1);
    assert_int_equal(now.misses, 1);
    assert_int_equal(now.hits, 2);
    run_process("NVCC_APPEND_FLAGS"); /* another program */
    assert_ok(cf_cache_query(cache, &now));
    assert_int_equal(now.entries, 2);
    run_process("CPATH"); /* and another one */
    run_process("CPATH");
    assert_ok(cf_cache_query(cache, &now));
    assert_int_equal(now.entries, 3);
    assert_int_equal(now.hits, 3);
}

/* Changes a file of the test's folder by a command, and waits until the clock of file systems has another time. */
static void change_file(const char *command)
{
    char whole[256];
    snprintf(whole, sizeof whole, "cd %s && %s", folder, command);
    assert_int_equal(system(whole), 0);
    usleep(50000);
}

static void expect_cached(unsigned hits, unsigned misses, unsigned entries)
{
    const cf_program_options options = {.cache = cache};
    cf_cache_state now;
    compile(&options);
    assert_ok(cf_program_unload(program));
    program = NULL;
    assert_ok(cf_cache_query(cache, &now));
    if (now.hits != hits || now.misses != misses || now.entries != entries)
        fail_msg("%u hits, %u misses and %u entries", (unsigned)now.hits, (unsigned)now.misses, (unsigned)now.entries);
}

static void inputs_of_cfcc_decide_about_its_entries(void **state)
{
    (void)state;
    use_script("printf '+%s\\0-%s\\0' $folder/one $folder/two >>\"$inputs\"; cp $folder/kept.so \"$out\"");
    change_file("echo a >one && touch -d 2020-01-01 one");
    if (access(cache, F_OK) == 0)
        assert_ok(cf_cache_clear(cache));
    expect_cached(0, 1, 1);
    expect_cached(1, 1, 1);
    change_file("echo b >one && touch -d 2020-01-01 one");
    expect_cached(1, 2, 1);
    expect_cached(2, 2, 1);
    change_file("touch -d 2020-01-02 one"); /* the content is the same */
    expect_cached(3, 2, 1);
    change_file("touch two"); /* would be read instead of another one */
    expect_cached(3, 3, 1);
    change_file("rm two && mv one old && echo c >one && touch -d 2020-01-01 one");
    expect_cached(3, 4, 1);
    change_file("rm one");
    expect_cached(3, 5, 1);
    assert_ok(cf_cache_clear(cache));
    static const char *const without[] = {
        "printf 'a date\\0' >\"$inputs\"; cp $folder/kept.so \"$out\"",
        "rm \"$inputs\"; cp $folder/kept.so \"$out\"",
        ">\"$inputs\"; cp $folder/kept.so \"$out\"",
        "echo >$folder/new; printf '+%s\\0' $folder/new >>\"$inputs\"; cp $folder/kept.so \"$out\"",
    };
    for (unsigned i = 0; i < sizeof without / sizeof *without; i++) {
        use_script(without[i]);
        expect_cached(0, i + 1, 0);
    }
}

/* With cfcc itself: what lib passes and reads fits to it. */
static void header_of_cfcc_that_changes_misses(void **state)
{
    (void)state;
    static const char source[] = "#include <size.h>\n#pragma cf kernel grid(n) out(y[n])\n"
                                 "__global__ void k(int *y, int n)\n{\n    y[0] = SIZE + n;\n}\n";
    char first[96], second[96];
    snprintf(first, sizeof first, "%s/first", folder);
    snprintf(second, sizeof second, "%s/second", folder);
    const cf_program_options options = {.cache = cache,
                                        .include_folders = (const char *const[]){first, second, NULL},
                                        .cfcc = cfcc,
                                        .flags = (const char *const[]){"-O0", "--cuda=no", NULL}};
    static const char *const changes[] = {"mkdir first second && echo '#define SIZE 1' >second/size.h", "true",
                                          "echo '#define SIZE 2' >second/size.h", "echo '#define SIZE 3' >first/size.h",
                                          "true"};
    static const unsigned hits[] = {0, 1, 1, 1, 2};
    if (on_cuda())
        skip_test(NEEDS_CPU);
    assert_ok(cf_cache_clear(cache));
    for (unsigned i = 0; i < sizeof changes / sizeof *changes; i++) {
        cf_cache_state now;
        change_file(changes[i]);
        if (cf_program_compile(&program, source, "size.cu", &options) != CF_OK)
            fail_msg("%s\n%s", cf_last_error(), cf_program_log(NULL));
        assert_ok(cf_program_unload(program));
        program = NULL;
        assert_ok(cf_cache_query(cache, &now));
        assert_int_equal(now.hits, hits[i]);
        assert_int_equal(now.entries, 1);
    }
}

/* Headers in quotes are looked for in the source's folder first, also if its name has no slash. */
static void headers_beside_a_name_without_a_slash_come_first(void **state)
{
    (void)state;
    static const char source[] = "#include \"cf_beside.h\"\n#pragma cf kernel grid(n) out(y[n])\n"
                                 "__global__ void k(int *y, int n)\n{\n    y[0] = BESIDE + n;\n}\n";
    char after[96], cwd[PATH_MAX];
    snprintf(after, sizeof after, "%s/after", folder);
    const cf_program_options options = {.include_folders = (const char *const[]){after, NULL},
                                        .cfcc = cfcc,
                                        .flags = (const char *const[]){"-O0", "--cuda=no", NULL}};
    if (on_cuda())
        skip_test(NEEDS_CPU);
    assert_non_null(getcwd(cwd, sizeof cwd));
    change_file("mkdir after && echo '#error after' >after/cf_beside.h && echo '#define BESIDE 1' >cf_beside.h");
    assert_int_equal(chdir(folder), 0);
    int status = cf_program_compile(&program, source, NULL, &options);
    assert_int_equal(chdir(cwd), 0);
    if (status != CF_OK)
        fail_msg("%s\n%s", cf_last_error(), cf_program_log(NULL));
    assert_ok(cf_program_unload(program));
    program = NULL;
}

static void *compile_cached(void *made)
{
    const cf_program_options options = {.cache = cache};
    return cf_program_compile(made, STEP, "threads.cu", &options) == CF_OK ? NULL : made;
}

static void threads_compile_a_source_once(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    cf_program *made[THREADS];
    void *wrong;
    cf_cache_state now;
    use_copy();
    assert_ok(cf_cache_clear(cache));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, compile_cached, &made[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    assert_ok(cf_cache_query(cache, &now));
    assert_int_equal(now.entries, 1);
    assert_int_equal(now.misses, 1);
    for (int i = 0; i < THREADS; i++) {
        program = made[i];
        expect_step(1);
        assert_ok(cf_program_unload(program));
    }
    program = NULL;
}

/* ---- Wrong values of CF_CFCC ---- */

static void cfcc_that_is_not_there_is_not_supported(void **state)
{
    (void)state;
    unsetenv("CF_CFCC");
    expect_failure(CF_ENOTSUP, "CF_CFCC is no path with a slash");
    setenv("CF_CFCC", "cfcc", 1);
    expect_failure(CF_ENOTSUP, "CF_CFCC=cfcc is no path with a slash");
    setenv("CF_CFCC", "/nowhere/cfcc", 1);
    expect_failure(CF_ENOTSUP, "CF_CFCC=/nowhere/cfcc cannot be run: No such file");
    setenv("CF_CFCC", folder, 1);
    expect_failure(CF_ENOTSUP, "cannot be run: Permission denied");
    use_copy();
    assert_int_equal(chmod(script, 0600), 0);
    expect_failure(CF_ENOTSUP, "cannot be run: Permission denied");
    write_text(script, 0755, "neither a script nor a program");
    expect_failure(CF_ENOTSUP, "cannot be run: Exec format error");
    setenv("TMPDIR", "/nowhere", 1);
    expect_failure(CF_ENOTSUP, "no folder can be made in /nowhere: No such file");
    setenv("TMPDIR", temporary, 1);
}

static void wrong_output_is_no_program(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "true",
        "echo text >\"$out\"",
        "head -c 9000 $folder/kept.so >\"$out\"",
        "cp \"${cfcc%/*}/tests/work_clock.so\" \"$out\"",
    };
    static const char *const details[] = {"", "file too short", "it is cut off", "it has no kernels"};
    const cf_program_options options = {.cache = cache};
    cf_cache_state now;
    use_copy();
    compile(&options);
    assert_ok(cf_cache_clear(cache));
    assert_ok(cf_program_unload(program));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        use_script(texts[i]);
        assert_fails(cf_program_compile(&program, STEP, "wrong.cu", &options), CF_EIMAGE, details[i]);
        assert_non_null(strstr(cf_last_error(), script));
        assert_null(program);
    }
    assert_ok(cf_cache_query(cache, &now));
    assert_int_equal(now.entries, 0);
    use_script("exit 7");
    expect_failure(CF_ECOMPILE, "/script ended with exit status 7 and gave no reason");
    use_script("echo 'x.cu:1:2: error: no'; exit 1");
    expect_failure(CF_ECOMPILE, "cf_program_compile: x.cu:1:2: error: no");
    assert_string_equal(cf_program_log(NULL), "x.cu:1:2: error: no\n");
    use_script("echo 'x.cu:1:2: error: no'; kill -9 $$");
    expect_failure(CF_ENOTSUP, "/script was ended by signal 9");
    assert_string_equal(cf_program_log(NULL), "x.cu:1:2: error: no\n");
}

/* cfcc itself, under limits of the system, and with compilers that meet one. */
static void cfcc_without_memory_or_space_says_so(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int status;
        const char *detail;
    } limits[] = {
        {"echo MemoryError >&2; exit 1", CF_ENOMEM, "dir/step.cu: cfcc has no memory: MemoryError"},
        /* Memory is short while cfcc imports its modules. */
        {"mkdir $out.site; cat >$out.site/sitecustomize.py <<END\nimport sys\nclass Short:\n"
         "    def find_spec(self, name, *rest):\n        if name == 'subprocess':\n            raise MemoryError\n"
         "sys.meta_path.insert(0, Short())\nEND\nPYTHONPATH=$out.site exec \"$cfcc\" \"$@\"",
         CF_ENOMEM, "dir/step.cu: cfcc has no memory: cfcc: there is no memory"},
        {"printf '#!/bin/sh\\necho cc1plus: out of memory; exit 1' >$out.cxx; chmod 700 $out.cxx\n"
         "exec \"$cfcc\" --cxx=$out.cxx \"$@\"",
         CF_ENOMEM, "dir/step.cu: cfcc has no memory: cfcc: cc1plus: out of memory"},
        {"printf '#!/bin/sh\\nkill -9 $$' >$out.cxx; chmod 700 $out.cxx; exec \"$cfcc\" --cxx=$out.cxx \"$@\"",
         CF_ENOMEM, ".cxx was ended by signal 9"},
        {"printf '#!/bin/sh\\nulimit -c 0; kill -SEGV $$' >$out.cxx; chmod 700 $out.cxx\n"
         "ulimit -f 1000; exec \"$cfcc\" --cxx=$out.cxx \"$@\"",
         CF_ENOTSUP, "cfcc cannot write its files"},
        {"printf '#!/bin/sh\\necho k.cu:1:2: internal compiler error: Segmentation fault; exit 4' >$out.cxx\n"
         "chmod 700 $out.cxx; ulimit -v 20000000; exec \"$cfcc\" --cxx=$out.cxx \"$@\"",
         CF_ENOMEM, "internal compiler error"},
        {"printf '#!/bin/sh\\necho k.cu:1:2: error: out of memory; exit 1' >$out.cxx; chmod 700 $out.cxx\n"
         "exec \"$cfcc\" --cxx=$out.cxx \"$@\"",
         CF_ECOMPILE, "k.cu:1:2: error: out of memory"},
        {"printf '#!/bin/sh\\necho k.s: No space left on device; exit 1' >$out.cxx; chmod 700 $out.cxx\n"
         "exec \"$cfcc\" --cxx=$out.cxx \"$@\"",
         CF_ENOTSUP, "cfcc cannot write its files, and TMPDIR names another folder: cfcc: k.s: No space left"},
        {"ulimit -f 1; exec \"$cfcc\" \"$@\"", CF_ENOTSUP, "dir/step.cu: cfcc cannot write its files"},
        {"ulimit -f 40; exec \"$cfcc\" \"$@\"", CF_ENOTSUP, "dir/step.cu: cfcc cannot write its files"},
        /* The messages, too, are longer than a file may be. Buffers of Python hide this where it is told to have none. */
        {"printf '#!/bin/sh\\nyes k.s: File too large | head -n 100; exit 1' >$out.cxx; chmod 700 $out.cxx\n"
         "unset PYTHONUNBUFFERED; ulimit -f 1; exec \"$cfcc\" --cxx=$out.cxx \"$@\"",
         CF_ENOTSUP, "dir/step.cu: cfcc cannot write its files"},
        /* The disk is full when cfcc makes its folder. */
        {"mkdir $out.full; cat >$out.full/sitecustomize.py <<END\nimport tempfile\n"
         "def fail(*rest, **words):\n    raise OSError(28, 'No space left on device')\n"
         "tempfile.mkdtemp = fail\nEND\nPYTHONPATH=$out.full exec \"$cfcc\" \"$@\"",
         CF_ENOTSUP, "dir/step.cu: cfcc cannot write its files"},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        use_script(limits[i].text);
        expect_failure(limits[i].status, limits[i].detail);
        assert_null(strstr(cf_last_error(), "Traceback"));
    }
    /* Kilobytes in which Python cannot start, cfcc cannot, or compilers cannot. Python crashes under some of them. */
    for (int kilobytes = 9000; kilobytes < 60000; kilobytes += kilobytes / 6) {
        char text[64];
        snprintf(text, sizeof text, "ulimit -v %d; exec \"$cfcc\" \"$@\"", kilobytes);
        use_script(text);
        cf_program *none = NULL;
        int status = cf_program_compile(&none, STEP, "dir/step.cu", &of_step);
        if (status != CF_ENOMEM && !(status == CF_ENOTSUP && strstr(cf_last_error(), "was ended by signal")))
            fail_msg("ulimit -v %d: %d, %s\n%s", kilobytes, status, cf_last_error(), cf_program_log(NULL));
    }
    setenv("CF_CFCC", cfcc, 1);
    assert_fails(cf_program_compile(&program, STEP, "k.cu",
                                    &(cf_program_options){.flags = (const char *const[]){"--no-such", NULL}}),
                 CF_EINVAL, "--no-such");
}

static void option_names_cfcc_before_the_environment(void **state)
{
    (void)state;
    cf_program_options options = {.headers = headers, .cfcc = script};
    use_copy();
    setenv("CF_CFCC", "/nowhere/cfcc", 1);
    compile(&options);
    expect_step(1);
    options.cfcc = "cfcc";
    cf_program *none = (cf_program *)&none;
    assert_fails(cf_program_compile(&none, STEP, "k.cu", &options), CF_ENOTSUP,
                 "options.cfcc=cfcc is no path with a slash");
    assert_null(none);
    options.cfcc = "/nowhere/else";
    assert_fails(cf_program_compile(&none, STEP, "k.cu", &options), CF_ENOTSUP,
                 "options.cfcc=/nowhere/else cannot be run: No such file");
}

/* Whoever can rename a folder of TMPDIR could exchange the code that is run. */
static void folder_that_others_can_change_is_refused(void **state)
{
    (void)state;
    char open_folder[96];
    snprintf(open_folder, sizeof open_folder, "%s/open", folder);
    assert_int_equal(mkdir(open_folder, 0700), 0);
    assert_int_equal(chmod(open_folder, 0777), 0);
    use_copy();
    setenv("TMPDIR", open_folder, 1);
    expect_failure(CF_ENOTSUP, "whose mode is 0777");
    assert_int_equal(count_files(open_folder), 0);
    assert_int_equal(chmod(open_folder, 01777), 0);
    compile(&of_step);
    setenv("TMPDIR", temporary, 1);
    assert_int_equal(rmdir(open_folder), 0);
}

/* A process that has ended and that nobody has collected yet counts as gone. */
static int is_running(const char *path)
{
    char name[64], text[256] = "";
    int number = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &number), 1);
    fclose(file);
    snprintf(name, sizeof name, "/proc/%d/stat", number);
    file = fopen(name, "r");
    size_t got = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    const char *close = got ? strrchr(text, ')') : NULL;
    return close && close[2] != 'Z' && close[2] != 'X';
}

static void hanging_cfcc_is_ended_with_its_group(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "sleep 1000 & echo $! >$folder/number\nwait",
        "trap '' TERM\n(trap '' TERM; while :; do sleep 1000; done) & echo $! >$folder/number\nwhile :; do wait; done",
        "cp $folder/kept.so \"$out\"\nsleep 1000 & echo $! >$folder/number\nkill -STOP $$",
    };
    char number[64];
    snprintf(number, sizeof number, "%s/number", folder);
    const cf_program_options options = {.time_limit = 500};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        use_script(texts[i]);
        assert_fails(cf_program_compile(&program, STEP, "slow.cu", &options), CF_ECOMPILE,
                     "cf_program_compile: slow.cu: compiling took longer than 500 ms");
        for (int tries = 0; is_running(number) && tries < 6000; tries++)
            usleep(10000);
        assert_false(is_running(number));
    }
    use_script("sleep 1000 & echo $! >$folder/number\ncp $folder/kept.so \"$out\""); /* its group ends with it */
    compile(NULL);
    for (int tries = 0; is_running(number) && tries < 6000; tries++)
        usleep(10000);
    assert_false(is_running(number));
}

/* ---- The process around it ---- */

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
    const int before = errno;
    (void)number;
    signals++;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    errno = before;
}

static void program_may_ignore_or_collect_children(void **state)
{
    (void)state;
    use_copy();
    for (int is_ignored = 0; is_ignored < 2; is_ignored++) {
        struct sigaction before, after,
            action = {.sa_handler = is_ignored ? SIG_IGN : count_signal, .sa_flags = SA_RESTART};
        assert_int_equal(sigaction(SIGCHLD, &action, &before), 0);
        compile(&of_step);
        assert_int_equal(sigaction(SIGCHLD, &before, &after), 0);
        assert_ptr_equal(after.sa_handler, action.sa_handler);
        expect_step(1);
        assert_ok(cf_program_unload(program));
        program = NULL;
    }
    assert_true(signals > 0);
}

static int stops; /* atomic */

static void *fork_often(void *unused)
{
    (void)unused;
    pid_t children[8] = {0};
    for (size_t i = 0; !__atomic_load_n(&stops, __ATOMIC_RELAXED); i = (i + 1) % 8) {
        if (children[i] > 0) {
            kill(children[i], SIGKILL);
            waitpid(children[i], NULL, 0);
        }
        children[i] = fork_flushed();
        if (children[i] == 0)
            for (;;)
                pause();
        usleep(1000);
    }
    for (size_t i = 0; i < 8; i++)
        if (children[i] > 0) {
            kill(children[i], SIGKILL);
            waitpid(children[i], NULL, 0);
        }
    return NULL;
}

static void fork_at_the_same_time_holds_nothing_up(void **state)
{
    (void)state;
    skip_where_forks_are_unsafe();
    pthread_t thread;
    const cf_program_options options = {.cache = cache};
    use_copy();
    __atomic_store_n(&stops, 0, __ATOMIC_RELAXED);
    assert_int_equal(pthread_create(&thread, NULL, fork_often, NULL), 0);
    for (int i = 0; i < 10; i++) {
        compile(i % 2 ? NULL : &options);
        expect_step(1);
        assert_ok(cf_program_unload(program));
        program = NULL;
        if (i % 2)
            assert_ok(cf_cache_clear(cache));
    }
    __atomic_store_n(&stops, 1, __ATOMIC_RELAXED);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* ---- Options and annotations ---- */

static void options_without_meaning_are_refused(void **state)
{
    (void)state;
    static const char *const some[] = {"x", NULL}, *const empty[] = {"x", "", NULL};
    static const cf_program_header above[] = {{"../x.h", ""}, {NULL, NULL}}, folder_only[] = {{"x/", ""}, {NULL, NULL}},
                                   nested[] = {{"x/../../y.h", ""}, {NULL, NULL}},
                                   twice[] = {{"program.cu", ""}, {NULL, NULL}};
    const struct {
        cf_program_options options;
        const char *detail;
    } wrong[] = {
        {{.names = some}, "options.names has no meaning for annotated kernels"},
        {{.precompiled = "x"}, "options.precompiled has no meaning"},
        {{.is_exact = 1}, "options.is_exact has no meaning"},
        {{.is_lto = 1}, "options.is_lto is of cf_program_link() alone"},
        {{.definitions = empty}, "options.definitions: a text is empty"},
        {{.include_folders = empty}, "options.include_folders: a text is empty"},
        {{.flags = some}, "options.flags: 'x' is no option of cfcc"},
        {{.headers = above}, "options.headers: ../x.h is no name of a file in a folder"},
        {{.headers = folder_only}, "options.headers: x/ is no name of a file in a folder"},
        {{.headers = nested}, "options.headers: x/../../y.h is no name of a file in a folder"},
        {{.headers = twice}, "program.cu cannot be written: File exists"},
    };
    use_copy();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_fails(cf_program_compile(&program, STEP, "k.cu", &wrong[i].options), CF_EINVAL, wrong[i].detail);
        assert_null(program);
    }
    assert_fails(cf_program_compile(&program, STEP, "two\nlines.cu", NULL), CF_EINVAL, "the name of the source");
    assert_fails(cf_program_compile(&program, STEP, "", NULL), CF_EINVAL, "cf_program_compile: name is empty");
    assert_fails(cf_program_compile(&program, "int x;", "", NULL), CF_EINVAL, "name is empty"); /* for NVRTC */
}

static void annotation_is_a_directive(void **state)
{
    (void)state;
    static const char *const with[] = {"#pragma cf kernel",
                                       "int x;\n \t#  pragma\tcf  kernel grid(n)\n",
                                       "/* a */ #pragma cf/* b */kernel(n)",
                                       "#pragma \\\n cf kernel",
                                       "char c = '\"';\n#pragma cf kernel\n",
                                       "// \"\n#pragma cf kernel",
                                       "t = R\"(\n)\";\n#pragma cf kernel",
                                       "t = R\"x()\" )x\";\n#pragma cf kernel",
                                       "#if 0\n# if 1\n# endif\n#else\n#pragma cf kernel\n#endif",
                                       "#if 0\n'\n#endif\n#pragma cf kernel",
                                       "#if 01\n#pragma cf kernel\n#endif",
                                       "#if 0 || 1\n#pragma cf kernel\n#endif"};
    static const char *const without[] = {"",
                                          "#pragma cf",
                                          "#pragma cf kernels",
                                          "#pragma cf\nkernel",
                                          "x #pragma cf kernel",
                                          "// a\n//#pragma cf kernel\n",
                                          "/*\n#pragma cf kernel\n*/",
                                          "const char *t = \"\\\n#pragma cf kernel\";",
                                          "#pragma once cf kernel",
                                          "const char *t = R\"(\n#pragma cf kernel\n)\";",
                                          "t = u8R\"x(\n)\"\n#pragma cf kernel\n)x\";",
                                          "#if 0\n#pragma cf kernel\n#endif",
                                          "x\n # if 0 // not now\n#if 1\n#else\n#pragma cf kernel\n#endif\n#endif",
                                          "/* open"};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        if (!cf__cfcc_takes(with[i]))
            fail_msg("it has an annotation: %s", with[i]);
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (cf__cfcc_takes(without[i]))
            fail_msg("it has no annotation: %s", without[i]);
}

int main(int argc, char *argv[])
{
    if (argc == 4 && strcmp(argv[1], "use_cache") == 0) {
        snprintf(temporary, sizeof temporary, "%s", argv[2]);
        return use_cache(argv[3]);
    }
#define TEST(name) cmocka_unit_test_teardown(name, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(kernel_runs_where_the_thread_is),
        TEST(error_has_the_name_and_the_line),
        TEST(device_needs_its_code),
        TEST(unloaded_kernel_is_refused),
        TEST(two_programs_of_a_source_have_their_own_data),
        TEST(names_that_are_not_there_are_refused),
        TEST(second_process_does_not_compile),
        TEST(inputs_of_cfcc_decide_about_its_entries),
        TEST(header_of_cfcc_that_changes_misses),
        TEST(headers_beside_a_name_without_a_slash_come_first),
        TEST(threads_compile_a_source_once),
        TEST(cfcc_that_is_not_there_is_not_supported),
        TEST(wrong_output_is_no_program),
        TEST(cfcc_without_memory_or_space_says_so),
        TEST(option_names_cfcc_before_the_environment),
        TEST(folder_that_others_can_change_is_refused),
        TEST(hanging_cfcc_is_ended_with_its_group),
        TEST(program_may_ignore_or_collect_children),
        TEST(fork_at_the_same_time_holds_nothing_up),
        TEST(options_without_meaning_are_refused),
        TEST(annotation_is_a_directive),
    };
    return RUN_ON_DRIVER(tests, set_up_group, tear_down_group);
}
