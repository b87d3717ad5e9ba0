/* test_program_cfcc_cache.c - the cache of programs of annotated sources, which cfcc has compiled. */
#include "cfcc_script.h"

/* Runs in another process; returns the exit status. */
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

/* Runs use_cache() in a process that has one more environment variable. */
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

/* This is the first test; it keeps the shared object for the other tests. */
TEST_WITH(program_is_compiled_without_a_cache, NULL, tear_down)
{
    compile_and_keep();
}

TEST_WITH(second_process_does_not_compile, NULL, tear_down)
{
    cf_cache_state now;
    use_script("echo said; echo run >>$folder/runs; cp $folder/kept.so \"$out\"");
    for (int i = 0; i < 3; i++)
        run_process(NULL);
    assert_ok(cf_cache_query(cache, &now));
    assert_int_equal(now.entries, 1);
    assert_int_equal(now.misses, 1);
    assert_int_equal(now.hits, 2);
    run_process("NVCC_APPEND_FLAGS"); /* with the variable it is another program */
    assert_ok(cf_cache_query(cache, &now));
    assert_int_equal(now.entries, 2);
    run_process("CPATH"); /* and yet another one */
    run_process("CPATH");
    assert_ok(cf_cache_query(cache, &now));
    assert_int_equal(now.entries, 3);
    assert_int_equal(now.hits, 3);
}

/* Changes a file in the test's folder by a command, and waits until the time of the file system has advanced. */
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

TEST_WITH(inputs_of_cfcc_decide_about_its_entries, NULL, tear_down)
{
    use_script("printf '+%s\\0-%s\\0' $folder/one $folder/two >>\"$inputs\"; cp $folder/kept.so \"$out\"");
    change_file("echo a >one && touch -d 2020-01-01 one");
    if (access(cache, F_OK) == 0)
        assert_ok(cf_cache_clear(cache));
    expect_cached(0, 1, 1);
    expect_cached(1, 1, 1);
    change_file("echo b >one && touch -d 2020-01-01 one");
    expect_cached(1, 2, 1);
    expect_cached(2, 2, 1);
    change_file("touch -d 2020-01-02 one"); /* the content stays the same */
    expect_cached(3, 2, 1);
    change_file("touch two"); /* this file would be read instead of another one */
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

/* Returns 1 if the program is not in the cache. */
static int is_compiled_anew(const char *source, const char *name, const cf_program_options *options)
{
    cf_cache_state before, now;
    assert_ok(cf_cache_query(cache, &before));
    if (cf_program_compile(&program, source, name, options) != CF_OK)
        fail_msg("%s\n%s", cf_last_error(), cf_program_log(NULL));
    assert_ok(cf_program_unload(program));
    program = NULL;
    assert_ok(cf_cache_query(cache, &now));
    return now.misses != before.misses;
}

/* Runs cfcc itself, which shows that what the library passes and reads agrees with cfcc. */
TEST_WITH(header_of_cfcc_that_changes_misses, NULL, tear_down)
{
    static const char source[] = "#include <size.h>\n#pragma cf kernel grid(n) out(y[n])\n"
                                 "__global__ void k(int *y, int n)\n{\n    y[0] = SIZE + n;\n}\n";
    char first[96], searched[256];
    snprintf(first, sizeof first, "%s/first", folder);
    snprintf(searched, sizeof searched, "%s/alias:%s/absent:%s/second", folder, folder, folder);
    const cf_program_options options = {.cache = cache,
                                        .include_folders = (const char *const[]){first, NULL},
                                        .cfcc = cfcc,
                                        .flags = (const char *const[]){"-O0", "--cuda=no", NULL}};
    /* After a change, the entry is found only if `is_hit` is set. */
    static const struct {
        const char *change;
        unsigned is_hit;
    } steps[] = {
        {"mkdir first second && ln -s first alias && echo '#define SIZE 1' >second/size.h", 0},
        {"true", 1},
        {"echo '#define SIZE 2' >second/size.h", 0},
        {"echo '#define SIZE 3' >first/size.h", 0},
        {"true", 1},
        {"rm first/size.h && ln -s later first/size.h", 0},
        {"true", 1},
        {"echo '#define SIZE 4' >first/later", 0},
        {"rm first/* && mkdir first/size.h", 0},
        {"true", 1},
        {"rmdir first/size.h && echo '#define SIZE 5' >first/size.h", 0},
        {"rm first/size.h && mkdir second/deep && mv second/size.h second/deep && "
         "echo '#include <deep/size.h>' >second/size.h",
         0},
        {"true", 1},
        {"mkdir first/deep && echo '#define SIZE 6' >first/deep/size.h", 0},
        {"mkdir absent && echo '#define SIZE 7' >absent/size.h", 0},
        {"true", 1},
        {"mkdir other && echo '#define SIZE 8' >other/size.h && ln -sfn other alias", 0},
        {"true", 1},
    };
    need_cpu();
    assert_ok(cf_cache_clear(cache));
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++) {
        change_file(steps[i].change);
        assert_int_equal(setenv("CPATH", searched, 1), 0);
        int is_new = is_compiled_anew(source, "size.cu", &options);
        assert_int_equal(unsetenv("CPATH"), 0);
        if (is_new == (int)steps[i].is_hit)
            fail_msg("%s: %s", steps[i].change, steps[i].is_hit ? "a miss" : "a hit");
    }
}

/* A relative folder in a variable is another folder when the current folder changes. */
TEST_WITH(relative_folders_in_variables_are_those_of_the_current_folder, NULL, tear_down)
{
    static const char source[] = "#include <relative.h>\n#pragma cf kernel grid(n) out(y[n])\n"
                                 "__global__ void k(int *y, int n)\n{\n    y[0] = RELATIVE + n;\n}\n";
    static const char *const values[] = {"inc", ":", "/nowhere:"}, *const folders[] = {"w1", "w2"};
    const cf_program_options options = {.cache = cache, .cfcc = cfcc};
    char cwd[PATH_MAX], path[96];
    need_cpu();
    change_file("mkdir -p w1/inc w2/inc && for w in w1 w2; do echo '#define RELATIVE 1' >$w/inc/relative.h; "
                "cp $w/inc/relative.h $w; done");
    assert_ok(cf_cache_clear(cache));
    assert_non_null(getcwd(cwd, sizeof cwd));
    for (unsigned i = 0; i < 6; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, folders[i % 2]);
        assert_int_equal(chdir(path), 0);
        assert_int_equal(setenv("CPATH", values[i / 2], 1), 0);
        int is_new = is_compiled_anew(source, "/nowhere/s.cu", &options);
        assert_int_equal(unsetenv("CPATH"), 0);
        assert_int_equal(chdir(cwd), 0);
        if (!is_new)
            fail_msg("CPATH=%s in %s: a hit", values[i / 2], folders[i % 2]);
    }
}

/* Without a toolkit, its headers count as empty. */
TEST_WITH(toolkit_that_appears_misses, NULL, tear_down)
{
    static const char source[] = "#include <cf_toolkit_only.h>\n#pragma cf kernel grid(n) out(y[n])\n"
                                 "__global__ void k(int *y, int n)\n{\n    y[0] = n;\n}\n";
    char path[2 * PATH_MAX], old[PATH_MAX];
    const cf_program_options options = {
        .cache = cache, .cfcc = cfcc, .flags = (const char *const[]){"-O0", "--cuda=no", NULL}};
    need_cpu();
    snprintf(old, sizeof old, "%s", getenv("PATH"));
    snprintf(path, sizeof path, "%s/top/bin:%s", folder, old);
    change_file("mkdir -p top/bin top/include && touch top/include/cf_toolkit_only.h");
    assert_ok(cf_cache_clear(cache));
    assert_int_equal(setenv("PATH", path, 1), 0);
    int is_new = is_compiled_anew(source, "toolkit.cu", &options), is_again, is_third;
    is_again = is_compiled_anew(source, "toolkit.cu", &options);
    change_file("echo exit 1 >top/bin/nvcc && chmod 755 top/bin/nvcc");
    is_third = is_compiled_anew(source, "toolkit.cu", &options);
    assert_int_equal(setenv("PATH", old, 1), 0);
    assert_true(is_new && !is_again && is_third);
}

/* No later change of the file's mode would be noticed. */
TEST_WITH(nothing_is_kept_where_a_compiler_in_front_cannot_be_run, NULL, tear_down)
{
    static const char source[] = "#pragma cf kernel grid(n) out(y[n])\n"
                                 "__global__ void k(int *y, int n)\n{\n    y[0] = n;\n}\n";
    char path[2 * PATH_MAX], old[PATH_MAX];
    const cf_program_options options = {
        .cache = cache, .cfcc = cfcc, .flags = (const char *const[]){"-O0", "--cuda=no", "--cxx=c++", NULL}};
    need_cpu();
    snprintf(old, sizeof old, "%s", getenv("PATH"));
    snprintf(path, sizeof path, "%s/front:%s", folder, old);
    change_file("mkdir front && touch front/c++ && chmod 644 front/c++");
    assert_ok(cf_cache_clear(cache));
    assert_int_equal(setenv("PATH", path, 1), 0);
    int is_new = is_compiled_anew(source, "front.cu", &options), is_again;
    is_again = is_compiled_anew(source, "front.cu", &options);
    assert_int_equal(setenv("PATH", old, 1), 0);
    assert_true(is_new && is_again);
}

/* Headers in quotes are searched first in the source's folder, even if the source's name has no slash. */
TEST_WITH(headers_beside_a_name_without_a_slash_come_first, NULL, tear_down)
{
    static const char source[] = "#include \"cf_beside.h\"\n#pragma cf kernel grid(n) out(y[n])\n"
                                 "__global__ void k(int *y, int n)\n{\n    y[0] = BESIDE + n;\n}\n";
    char after[96], cwd[PATH_MAX];
    snprintf(after, sizeof after, "%s/after", folder);
    const cf_program_options options = {.include_folders = (const char *const[]){after, NULL},
                                        .cfcc = cfcc,
                                        .flags = (const char *const[]){"-O0", "--cuda=no", NULL}};
    need_cpu();
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

TEST_WITH(threads_compile_a_source_once, NULL, tear_down)
{
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

int main(int argc, char *argv[])
{
    if (argc == 4 && strcmp(argv[1], "use_cache") == 0) {
        snprintf(temporary, sizeof temporary, "%s", argv[2]);
        return use_cache(argv[3]);
    }
    return run_all_tests(set_up_group, tear_down_group);
}
