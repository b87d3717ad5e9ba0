/* test_program_cfcc.c - programs of annotated sources, which cfcc compiles for the CPU and for the GPU in use. */
#include "cfcc_script.h"

/* ---- cfcc itself ---- */

/* This is the first test; it keeps the shared object for the other tests. */
TEST_WITH(kernel_runs_where_the_thread_is, NULL, tear_down)
{
    compile_and_keep();
    assert_non_null(strstr(cf_program_log(program), "dir/step.cu:11:"));
    assert_non_null(strstr(cf_program_log(program), "warning: "));
    assert_null(strstr(cf_program_log(program), "/cuferry-"));
}

TEST_WITH(error_has_the_name_and_the_line, NULL, tear_down)
{
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

TEST_WITH(device_needs_its_code, NULL, tear_down)
{
    /* Headers with the names of cfcc's own files, and a name with two dots that do not lead to another folder. */
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

TEST_WITH(unloaded_kernel_is_refused, NULL, tear_down)
{
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

TEST_WITH(two_programs_of_a_source_have_their_own_data, NULL, tear_down)
{
    cf_program *other;
    const float two = 2, five = 5;
    void *pointer;
    if (played_gpu_is_in_use()) /* the played GPU recognizes images by their bytes */
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

TEST_WITH(names_that_are_not_there_are_refused, NULL, tear_down)
{
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

/* ---- Wrong values of CF_CFCC ---- */

TEST_WITH(cfcc_that_is_not_there_is_not_supported, NULL, tear_down)
{
    unsetenv("CF_CFCC");
    expect_failure(CF_ENOTSUP, "neither options.cfcc nor CF_CFCC is set to its path");
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

TEST_WITH(wrong_output_is_no_program, NULL, tear_down)
{
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

/* Runs cfcc itself, under limits of the system, and with compilers that run into such a limit. */
TEST_WITH(cfcc_without_memory_or_space_says_so, NULL, tear_down)
{
    static const struct {
        const char *text;
        int status;
        const char *detail;
    } limits[] = {
        {"echo MemoryError >&2; exit 1", CF_ENOMEM, "dir/step.cu: cfcc has no memory: MemoryError"},
        {"echo SystemError: error return without exception set >&2; exit 1", CF_ENOMEM,
         "cfcc has no memory: SystemError"},
        {"echo 'OSError: [Errno 12] Cannot allocate memory' >&2; exit 1", CF_ENOMEM, "cfcc has no memory: OSError"},
        {"echo 'SyntaxError: unterminated triple-quoted string literal' >&2; exit 1", CF_ENOMEM,
         "cfcc has no memory: Sy"},
        /* Memory runs out while cfcc imports its modules. */
        {"mkdir $out.site; cat >$out.site/sitecustomize.py <<END\nimport sys\nclass Short:\n"
         "    def find_spec(self, name, *rest):\n        if name == 'subprocess':\n            raise MemoryError\n"
         "sys.meta_path.insert(0, Short())\nEND\nPYTHONPATH=$out.site exec \"$cfcc\" \"$@\"",
         CF_ENOMEM, "dir/step.cu: cfcc has no memory: cfcc: there is no memory"},
        /* CPython itself can lose a MemoryError during an import, which then fails without a reason. */
        {"mkdir $out.lost; cat >$out.lost/sitecustomize.py <<END\nimport sys\nclass Short:\n"
         "    def find_spec(self, name, *rest):\n        if name == 'subprocess':\n            raise SystemError\n"
         "sys.meta_path.insert(0, Short())\nEND\nPYTHONPATH=$out.lost exec \"$cfcc\" \"$@\"",
         CF_ENOMEM, "dir/step.cu: cfcc has no memory: cfcc: there is no memory"},
        /* A folder with modules cannot be read. */
        {"mkdir $out.listed; cat >$out.listed/sitecustomize.py <<END\nimport sys\nclass Short:\n"
         "    def find_spec(self, name, *rest):\n        if name == 'subprocess':\n            raise OSError(12, "
         "'Cannot allocate memory')\n"
         "sys.meta_path.insert(0, Short())\nEND\nPYTHONPATH=$out.listed exec \"$cfcc\" \"$@\"",
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
        /* The messages, too, are longer than a file may be. PYTHONUNBUFFERED is unset because it would hide that. */
        {"printf '#!/bin/sh\\nyes k.s: File too large | head -n 100; exit 1' >$out.cxx; chmod 700 $out.cxx\n"
         "unset PYTHONUNBUFFERED; ulimit -f 1; exec \"$cfcc\" --cxx=$out.cxx \"$@\"",
         CF_ENOTSUP, "dir/step.cu: cfcc cannot write its files"},
        /* The disk is full when cfcc makes its temporary folder. */
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
    /* Limits of memory, in kilobytes, at which Python cannot start, cfcc cannot, or compilers cannot. Python crashes at
     * some of them. The header exists: if it were missing, nvcc's preprocessor, which needs little memory, would report
     * that. */
    static const cf_program_header scale[] = {{"scale.h", "#define SCALE 3\n"}, {NULL, NULL}};
    const cf_program_options whole = {.headers = scale, .definitions = of_step.definitions};
    for (int kilobytes = 9000; kilobytes < 60000; kilobytes += kilobytes / 6) {
        char text[64];
        snprintf(text, sizeof text, "ulimit -v %d; exec \"$cfcc\" \"$@\"", kilobytes);
        use_script(text);
        cf_program *none = NULL;
        int status = cf_program_compile(&none, STEP, "dir/step.cu", &whole);
        if (status != CF_ENOMEM && !(status == CF_ENOTSUP && strstr(cf_last_error(), "was ended by signal")))
            fail_msg("ulimit -v %d: %d, %s\n%s", kilobytes, status, cf_last_error(), cf_program_log(NULL));
    }
    setenv("CF_CFCC", cfcc, 1);
    assert_fails(cf_program_compile(&program, STEP, "k.cu",
                                    &(cf_program_options){.flags = (const char *const[]){"--no-such", NULL}}),
                 CF_EINVAL, "--no-such");
}

TEST_WITH(option_names_cfcc_before_the_environment, NULL, tear_down)
{
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

/* Others who can rename a folder of TMPDIR's path could exchange the code that is run. */
TEST_WITH(folder_that_others_can_change_is_refused, NULL, tear_down)
{
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

/* Returns 1 if the process is running. One that has ended, but whose parent has not collected it yet, is not
 * running. */
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

TEST_WITH(hanging_cfcc_is_ended_with_its_group, NULL, tear_down)
{
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

/* ---- The process that calls cfcc ---- */

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

TEST_WITH(program_may_ignore_or_collect_children, NULL, tear_down)
{
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

TEST_WITH(fork_at_the_same_time_holds_nothing_up, NULL, tear_down)
{
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

TEST_WITH(options_without_meaning_are_refused, NULL, tear_down)
{
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

TEST_WITH(annotation_is_a_directive, NULL, tear_down)
{
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
                                       "#if 0 || 1\n#pragma cf kernel\n#endif",
                                       "#if /* a */ 1\n#pragma cf kernel\n#endif",
                                       "# 0\n#pragma cf kernel"};
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
                                          "#if 0\n#if 1\n#endif\n#error\n#pragma cf kernel\n#endif",
                                          "/* open"};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        if (!cf__cfcc_takes(with[i]))
            fail_msg("it has an annotation: %s", with[i]);
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (cf__cfcc_takes(without[i]))
            fail_msg("it has no annotation: %s", without[i]);
}

int main(void)
{
    return run_all_tests(set_up_group, tear_down_group);
}
