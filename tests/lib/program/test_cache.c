/* test_cache.c - the cache of compiled programs: entries that other processes find, headers that change, damaged
 * entries, folders that are refused, and processes that compile at the same time. Each compilation runs in a process of
 * its own. */
#include "run_group.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuferry/find.h>
#include <cuferry/program.h>

#include "program/compile.h"
#include "program/headers.h"

#define OUTSIDER 65534 /* number of a user who is not root */

static char root[64];  /* folder of the test */
static char cache[80]; /* folder of the cache */
static cf_program_options options;
static const char *source, *name;
static int capability;
static int is_logged; /* compilations expect lines in the log */

__attribute__((format(printf, 1, 2))) static void run_shell(const char *format, ...)
{
    char command[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(command, sizeof command, format, values);
    va_end(values);
    assert_int_equal(system(command), 0);
}

__attribute__((format(printf, 2, 3))) static void write_file(const char *file_name, const char *format, ...)
{
    char path[128];
    va_list values;
    snprintf(path, sizeof path, "%s/%s", root, file_name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    va_start(values, format);
    assert_true(vfprintf(file, format, values) >= 0);
    va_end(values);
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
    (void)state;
    static const char *const folders[] = {root, NULL};
    unsetenv("CF_CACHE");
    umask(022); /* a test that was skipped may have left another mask */
    snprintf(root, sizeof root, "/tmp/cf_cache_XXXXXX");
    if (!mkdtemp(root))
        return -1;
    snprintf(cache, sizeof cache, "%s/cache", root);
    options = (cf_program_options){.include_folders = folders, .cache = cache};
    source = "#include <size.h>\nextern \"C\" __global__ void fill(int *p) { p[threadIdx.x] = SIZE; int unused; }\n";
    name = "fill.cu";
    capability = 90;
    is_logged = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    run_shell("rm -rf %s", root);
    return chdir("/");
}

static struct cf__request make_request(void)
{
    return (struct cf__request){.function = "cf_test",
                                .source = source,
                                .name = name,
                                .options = &options,
                                .capability = capability,
                                .driver = 13990};
}

static int lines, lines_under_a_lock;

static void count_lines(void *data, int level, const char *text)
{
    const struct dirent *item;
    DIR *folder = opendir(cache);
    (void)data, (void)level, (void)text;
    while (folder && (item = readdir(folder)) != NULL)
        lines_under_a_lock += strstr(item->d_name, ".lock") != NULL;
    if (folder)
        closedir(folder);
    lines++;
}

/* Runs in a child process. Returns the sum of the program's bytes, which differs between programs, or the status of a
 * failure. */
static int compile_now(void)
{
    struct cf__compiled compiled;
    struct cf__request request = make_request();
    cf_set_log(is_logged ? count_lines : NULL, NULL);
    int status = cf__compile_source(&request, &compiled);
    unsigned sum = 0;
    for (size_t i = 0; i < compiled.bytes; i++)
        sum = 31 * sum + (unsigned char)compiled.image[i];
    sum = sum >> 1 | 1;
    if (status == CF_OK && (!compiled.log || !strstr(compiled.log, "fill.cu(2): warning")))
        sum = 0; /* the log is missing, which the caller takes for an error */
    if (is_logged && (lines == 0 || lines_under_a_lock))
        sum = 0;
    if (status != CF_OK)
        fprintf(stderr, "%s\n", cf_last_error());
    cf__compiled_free(&compiled);
    return status == CF_OK ? (int)sum : status;
}

struct job {
    pid_t child;
    int result; /* a file descriptor */
};

static struct job begin_compile(void)
{
    const char *path;
    int ends[2];
    struct job job;
    if (cf_find("nvrtc", &path) != CF_OK)
        skip_test(NEEDS_NVRTC);
    assert_int_equal(pipe(ends), 0);
    job.child = fork_flushed();
    if (job.child == 0) {
        int result = compile_now();
        _exit(write(ends[1], &result, sizeof result) != sizeof result);
    }
    close(ends[1]);
    job.result = ends[0];
    return job;
}

static int end_compile(struct job job)
{
    int result = 0, status;
    assert_int_equal(read(job.result, &result, sizeof result), sizeof result);
    close(job.result);
    assert_int_equal(waitpid(job.child, &status, 0), job.child);
    assert_int_equal(status, 0);
    return result;
}

static int compile(void)
{
    return end_compile(begin_compile());
}

static void expect_counts(unsigned hits, unsigned misses, unsigned entries)
{
    cf_cache_state state;
    assert_ok(cf_cache_query(cache, &state));
    if (state.hits != hits || state.misses != misses || state.entries != entries)
        fail_msg("%u hits, %u misses and %u entries", (unsigned)state.hits, (unsigned)state.misses,
                 (unsigned)state.entries);
    assert_int_equal(state.bytes > 0, entries > 0);
}

TEST_WITH(second_process_hits, set_up, tear_down)
{
    struct stat info;
    mode_t mask = umask(0);
    write_file("size.h", "#define SIZE 4\n");
    int first = compile();
    umask(mask);
    assert_true(first > 0);
    expect_counts(0, 1, 1);
    assert_int_equal(stat(cache, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0700);
    assert_int_equal(compile(), first);
    expect_counts(1, 1, 1);
}

TEST_WITH(environment_names_the_folder, set_up, tear_down)
{
    write_file("size.h", "#define SIZE 4\n");
    options.cache = NULL;
    assert_true(compile() > 0);
    assert_int_equal(access(cache, F_OK), -1); /* with neither variable, nothing is written */
    setenv("CF_CACHE", cache, 1);
    assert_true(compile() > 0 && compile() > 0);
    expect_counts(1, 1, 1);
    cf_cache_state counts;
    assert_ok(cf_cache_query(NULL, &counts));
    assert_int_equal(counts.hits, 1);
    unsetenv("CF_CACHE");
}

TEST_WITH(everything_that_decides_is_in_the_key, set_up, tear_down)
{
    write_file("size.h", "#ifndef SIZE\n#define SIZE 4\n#endif\n");
    assert_true(compile() > 0);
    capability = 80;
    assert_true(compile() > 0);
    options.definitions = (const char *const[]){"SIZE=9", NULL};
    assert_true(compile() > 0);
    options.flags = (const char *const[]){"--fmad=false", NULL};
    assert_true(compile() > 0);
    options.headers = (const cf_program_header[]){{"size.h", "#define SIZE 9\n"}, {NULL, NULL}};
    options.definitions = NULL;
    int nine = compile();
    options.headers = (const cf_program_header[]){{"size.h", "#define SIZE 8\n"}, {NULL, NULL}};
    assert_int_not_equal(compile(), nine);
    options.names = (const char *const[]){"fill", NULL};
    assert_true(compile() > 0);
    capability = 90;
    options.is_exact = 1;
    assert_true(compile() > 0);
    expect_counts(0, 8, 8);
}

TEST_WITH(changed_header_misses, set_up, tear_down)
{
    write_file("size.h", "#include \"inner.h\"\n");
    write_file("inner.h", "#define SIZE 4\n");
    int four = compile();
    write_file("inner.h", "#define SIZE 5\n"); /* has the same size, and perhaps the same time */
    int five = compile();
    assert_true(five > 0 && five != four);
    expect_counts(0, 2, 1);
    write_file("inner.h", "#define SIZE 5\n"); /* the file has another time */
    run_shell("touch -d '2020-01-01' %s/inner.h", root);
    assert_int_equal(compile(), five);
    expect_counts(1, 2, 1);
}

/* A new header in a folder that is searched earlier is included from then on. */
TEST_WITH(header_that_hides_another_misses, set_up, tear_down)
{
    char first[128];
    snprintf(first, sizeof first, "%s/first", root);
    options.include_folders = (const char *const[]){first, root, NULL};
    run_shell("mkdir %s", first);
    write_file("size.h", "#define SIZE 4\n");
    int four = compile();
    assert_int_equal(compile(), four);
    write_file("first/size.h", "#define SIZE 5\n");
    assert_int_not_equal(compile(), four);
    expect_counts(1, 2, 1);
}

TEST_WITH(source_that_hides_its_headers_is_not_kept, set_up, tear_down)
{
    static const char *const sources[] = {"#define HEADER \"size.h\"\n#include HEADER\n",
                                          "#if __has_include(<size.h>)\n#include <size.h>\n#endif\n",
                                          "#include <size.h>\nstatic const char *const when = __TIME__;\n",
                                          "#inc\\\nlude /* a comment */ HEADER\n#define SIZE 4\n"};
    char text[512];
    source = text;
    write_file("size.h", "#define SIZE 4\n");
    options.definitions = (const char *const[]){"HEADER=<size.h>", NULL};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        snprintf(text, sizeof text, "%s#line 2\n__global__ void k(int *p) { *p = SIZE; int unused; }\n", sources[i]);
        assert_true(compile() > 0);
    }
    expect_counts(0, 4, 0);
    snprintf(text, sizeof text, "\n__global__ void k(int *p) { *p = SIZE; int unused; }\n");
    options.definitions = (const char *const[]){"SIZE=4", NULL};
    options.flags = (const char *const[]){"-I.", NULL};
    assert_true(compile() > 0);
    options.flags = (const char *const[]){"-include=size.h", NULL};
    (void)compile();
    expect_counts(0, 6, 0);
    options.flags = NULL;
    setenv("NVRTC_APPEND_FLAGS", "-DANY", 1);
    assert_true(compile() > 0);
    unsetenv("NVRTC_APPEND_FLAGS");
    expect_counts(0, 7, 0);
    assert_true(compile() > 0);
    setenv("NVRTC_APPEND_FLAGS", "-DANY", 1);
    assert_true(compile() > 0); /* without the flags it is another program */
    unsetenv("NVRTC_APPEND_FLAGS");
    expect_counts(0, 9, 1);
}

/* Headers with the same size, which get the same modification time. */
TEST_WITH(other_content_of_the_same_size_and_time_misses, set_up, tear_down)
{
    const char *const changes[] = {"", "ln -sfn two at", "mv at old && mv two at", "cp -p two/size.h at"};
    static char folder[128];
    static const char *const folders[] = {folder, NULL};
    snprintf(folder, sizeof folder, "%s/at", root);
    options.include_folders = folders;
    for (int i = 1; i < 4; i++) {
        run_shell("cd %s && rm -rf at one two old && mkdir one two && %s", root, i == 1 ? "ln -s one at" : "mkdir at");
        write_file(i == 1 ? "one/size.h" : "at/size.h", "#define SIZE 4\n");
        write_file("two/size.h", "#define SIZE 5\n");
        run_shell("touch -d 2020-01-01 %s/*/size.h", root);
        int four = compile();
        assert_int_equal(compile(), four);
        run_shell("cd %s && %s", root, changes[i]);
        int five = compile();
        assert_true(five > 0 && five != four);
        assert_int_equal(compile(), five);
        assert_ok(cf_cache_clear(cache));
    }
}

/* A folder and a source are given by relative names. */
TEST_WITH(other_working_folder_misses, set_up, tear_down)
{
    static const char *const here[] = {".", NULL};
    char folder[128];
    run_shell("mkdir %s/one %s/two", root, root);
    write_file("one/size.h", "#define SIZE 4\n");
    write_file("two/size.h", "#define SIZE 5\n");
    run_shell("touch -d 2020-01-01 %s/*/size.h", root);
    for (int is_source = 0; is_source < 2; is_source++) {
        int results[2] = {0};
        options.include_folders = is_source ? NULL : here;
        name = is_source ? "fill.cu" : "/nowhere/fill.cu";
        if (is_source)
            source = "#include \"size.h\"\n__global__ void fill(int *p) { *p = SIZE; int unused; }\n";
        for (int i = 0; i < 4; i++) {
            snprintf(folder, sizeof folder, "%s/%s", root, i % 2 ? "two" : "one");
            assert_int_equal(chdir(folder), 0);
            int result = compile();
            if (i >= 2)
                assert_int_equal(result, results[i % 2]);
            results[i % 2] = result;
        }
        assert_true(results[0] > 0 && results[1] > 0 && results[0] != results[1]);
        expect_counts(2, 2, 2);
        assert_ok(cf_cache_clear(cache));
    }
    source = "\n__global__ void k(int *p) { *p = 1; int unused; }\n"; /* no include: any folder will do */
    assert_true(compile() > 0);
    assert_int_equal(chdir("/"), 0);
    assert_true(compile() > 0);
    expect_counts(1, 1, 1);
    options.flags = (const char *const[]){"--fmad=false", NULL}; /* some flags name files in the current folder */
    assert_true(compile() > 0);
    assert_int_equal(chdir(root), 0);
    assert_true(compile() > 0);
    expect_counts(1, 3, 3);
}

/* If the size, device, inode or time of a header differs, the header's digest is compared. */
TEST_WITH(each_part_of_a_header_state_counts, set_up, tear_down)
{
    char path[128];
    struct stat info;
    write_file("size.h", "#define SIZE 4\n");
    snprintf(path, sizeof path, "%s/size.h", root);
    assert_int_equal(stat(path, &info), 0);
    const struct cf__header_state same = {.bytes = info.st_size,
                                          .device = (int64_t)info.st_dev,
                                          .inode = (int64_t)info.st_ino,
                                          .seconds = info.st_ctim.tv_sec,
                                          .nanoseconds = info.st_ctim.tv_nsec};
    struct cf__header_state other = same;
    assert_true(cf__header_is_unchanged(path, &same));
    int64_t *const parts[] = {&other.bytes, &other.device, &other.inode, &other.seconds, &other.nanoseconds};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        other = same;
        ++*parts[i];
        assert_false(cf__header_is_unchanged(path, &other));
    }
}

/* Two writes may get the same time, so the time of a header that was just written proves nothing. */
TEST_WITH(time_of_a_new_header_is_not_kept, set_up, tear_down)
{
    struct cf__request request = make_request();
    struct cf__headers headers;
    time_t began;
    int is_known = 1;
    do { /* the loop tries again if a turn took long */
        headers = (struct cf__headers){.count = 0};
        began = time(NULL);
        write_file("size.h", "#define SIZE 4\n");
        assert_null(cf__headers_collect(&headers, &request, "/nowhere"));
        is_known = 0;
        for (size_t i = 0; i < headers.count; i++)
            is_known |= headers.list[i].state.bytes >= 0 && headers.list[i].state.seconds >= 0;
        cf__headers_free(&headers);
    } while (time(NULL) > began + 1);
    assert_false(is_known);
}

/* The header is in the folder of the file that includes it, and in no other. */
TEST_WITH(header_beside_its_includer_counts, set_up, tear_down)
{
    run_shell("mkdir %s/sub", root);
    write_file("size.h", "#include \"sub/outer.h\"\n");
    write_file("sub/outer.h", "#include \"inner.h\"\n");
    write_file("sub/inner.h", "#define SIZE 4\n");
    int four = compile();
    assert_int_equal(compile(), four);
    write_file("sub/inner.h", "#define SIZE 5\n");
    int five = compile();
    assert_true(five > 0 && five != four);
    expect_counts(1, 2, 1);
}

TEST_WITH(names_that_macros_make_are_not_kept, set_up, tear_down)
{
    static const char *const made[][2] = {{"WHEN=__TIME__"}, {"WHEN=P(__TI, ME__)"}, {"WHEN=P(_, _DATE__)"}};
    static const char *const flags[] = {"-DWHEN=__TIME__", NULL};
    static const cf_program_header headers[] = {{"when.h", "#define WHEN __TIME__\n"}, {NULL, NULL}};
    write_file("size.h", "#define P(a, b) a##b\n#ifndef WHEN\n#define WHEN P(\"a\", )\n#endif\n");
    source = "#include <size.h>\n__global__ void k(const char **p) { *p = WHEN; int unused; }\n";
    for (size_t i = 0; i < 3; i++) {
        options.definitions = made[i];
        assert_true(compile() > 0);
        expect_counts(0, (unsigned)i + 1, 0);
    }
    options.definitions = NULL;
    options.flags = flags;
    assert_true(compile() > 0);
    options.flags = NULL; /* pasting that makes other names does not prevent caching */
    assert_true(compile() > 0);
    expect_counts(0, 5, 1);
    options.headers = headers;
    source = "#include <when.h>\n__global__ void k(const char **p) { *p = WHEN; int unused; }\n";
    assert_true(compile() > 0);
    expect_counts(0, 6, 1);
}

/* The headers include one another in a circle, each time by a longer path. */
TEST_WITH(headers_in_a_circle_are_kept, set_up, tear_down)
{
    run_shell("mkdir %s/sub", root);
    write_file("size.h", "#pragma once\n#define SIZE 4\n#include \"sub/../size.h\"\n#include \"./sub/again.h\"\n");
    write_file("sub/again.h", "#pragma once\n#include \"../size.h\"\n#include \"../sub/again.h\"\n");
    assert_true(compile() > 0 && compile() > 0);
    expect_counts(1, 1, 1);
    write_file("sub/again.h", "#pragma once\n#include \"../size.h\"\n#include \"../sub/again.h\"\n#undef SIZE\n"
                              "#define SIZE 5\n");
    assert_true(compile() > 0);
    expect_counts(1, 2, 1);
}

/* Writes the path of the only entry. */
static void find_entry(char path[512])
{
    DIR *folder = opendir(cache);
    const struct dirent *item;
    assert_non_null(folder);
    *path = 0;
    while ((item = readdir(folder)) != NULL)
        if (strlen(item->d_name) == 64)
            snprintf(path, 512, "%s/%s", cache, item->d_name);
    closedir(folder);
}

/* Changes one byte of the only entry, or truncates it. */
static void damage_entry(int is_cut)
{
    char path[512];
    find_entry(path);
    int file = open(path, O_RDWR);
    struct stat info;
    assert_true(file >= 0 && fstat(file, &info) == 0);
    char byte;
    off_t at = info.st_size / 2;
    assert_int_equal(pread(file, &byte, 1, at), 1);
    byte ^= 1;
    assert_int_equal(is_cut ? ftruncate(file, at) : pwrite(file, &byte, 1, at) - 1, 0);
    close(file);
}

TEST_WITH(damaged_entry_is_compiled_again, set_up, tear_down)
{
    write_file("size.h", "#define SIZE 4\n");
    int right = compile();
    for (int is_cut = 0; is_cut <= 1; is_cut++) {
        damage_entry(is_cut);
        assert_int_equal(compile(), right);
        assert_int_equal(compile(), right);
    }
    expect_counts(2, 3, 1);
}

/* An entry that others may have written is not read, and a new one of the user's own replaces it. */
TEST_WITH(entry_of_others_is_compiled_again, set_up, tear_down)
{
    char path[512];
    struct stat info;
    write_file("size.h", "#define SIZE 4\n");
    static const mode_t modes[] = {0620, 0602};
    int right = compile(), owners = geteuid() == 0 ? 3 : 2;
    find_entry(path);
    is_logged = 1; /* now a line in the log is expected */
    for (int i = 0; i < owners; i++) {
        if (i < 2)
            assert_int_equal(chmod(path, modes[i]), 0);
        else
            assert_int_equal(chown(path, OUTSIDER, 0), 0);
        assert_int_equal(compile(), right);
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_uid, geteuid());
        assert_int_equal(info.st_mode & 07777, 0600);
    }
    expect_counts(0, 1 + (unsigned)owners, 1);
    run_shell("cd %s && mkdir elsewhere && mv %s elsewhere/entry && ln -s ../elsewhere/entry %s", root, path, path);
    is_logged = 0;
    assert_int_equal(compile(), right); /* a symbolic link is not followed */
    expect_counts(0, 2 + (unsigned)owners, 1);
    if (owners == 2)
        skip_test("needs to be run by root");
}

/* An entry does not work under the name of another one, even for those who can rename files there. */
TEST_WITH(renamed_entry_is_compiled_again, set_up, tear_down)
{
    char four[512], five[512];
    write_file("size.h", "#ifndef SIZE\n#define SIZE 4\n#endif\n");
    assert_true(compile() > 0);
    find_entry(four);
    run_shell("mv %s %s/kept", four, root);
    options.definitions = (const char *const[]){"SIZE=5", NULL};
    int right = compile();
    find_entry(five);
    run_shell("mv %s/kept %s", root, five);
    assert_int_equal(compile(), right);
    expect_counts(0, 3, 1);
}

/* A log callback may wait for another compilation, so it must be called without the cache's lock. */
TEST_WITH(log_lines_wait_for_the_end_of_the_lock, set_up, tear_down)
{
    write_file("size.h", "#define SIZE 4\n");
    int right = compile();
    damage_entry(0);
    is_logged = 1;
    assert_int_equal(compile(), right);
}

TEST_WITH(failure_is_not_kept, set_up, tear_down)
{
    write_file("size.h", "#define SIZE no_such_name\n");
    assert_int_equal(compile(), CF_ECOMPILE);
    expect_counts(0, 1, 0);
    write_file("size.h", "#define SIZE 4\n");
    assert_true(compile() > 0);
    expect_counts(0, 2, 1);
}

TEST_WITH(processes_at_the_same_time_compile_once, set_up, tear_down)
{
    enum { RANKS = 4 };
    struct job jobs[RANKS];
    int results[RANKS];
    write_file("size.h", "#define SIZE 4\n");
    for (int i = 0; i < RANKS; i++)
        jobs[i] = begin_compile();
    for (int i = 0; i < RANKS; i++)
        results[i] = end_compile(jobs[i]);
    for (int i = 0; i < RANKS; i++)
        assert_int_equal(results[i], results[0]);
    assert_true(results[0] > 0);
    expect_counts(RANKS - 1, 1, 1);
}

TEST_WITH(cap_removes_what_was_not_used_for_long, set_up, tear_down)
{
    cf_cache_state counts;
    write_file("size.h", "#ifndef SIZE\n#define SIZE 4\n#endif\n");
    int first = compile();
    options.definitions = (const char *const[]){"SIZE=9", NULL};
    int second = compile();
    assert_ok(cf_cache_query(cache, &counts));
    assert_int_equal(counts.cap, CF_CACHE_CAP);
    options.definitions = NULL;
    assert_int_equal(compile(), first); /* now the second entry is the older one */
    assert_ok(cf_cache_cap(cache, counts.bytes - 1));
    expect_counts(1, 2, 1);
    assert_int_equal(compile(), first);
    expect_counts(2, 2, 1);
    options.definitions = (const char *const[]){"SIZE=9", NULL};
    assert_int_equal(compile(), second); /* the new entry replaces the first one */
    expect_counts(2, 3, 1);
    assert_int_equal(compile(), second);
    assert_ok(cf_cache_query(cache, &counts));
    assert_ok(cf_cache_cap(cache, 7));
    assert_ok(cf_cache_query(cache, &counts));
    assert_true(counts.cap == 7 && counts.bytes == 0 && counts.entries == 0);
}

TEST_WITH(clear_removes_all, set_up, tear_down)
{
    write_file("size.h", "#define SIZE 4\n");
    assert_true(compile() > 0 && compile() > 0);
    assert_ok(cf_cache_clear(cache));
    expect_counts(0, 0, 0);
    assert_true(compile() > 0);
    expect_counts(0, 1, 1);
}

#define DIGITS "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

TEST_WITH(empty_entry_is_removed, set_up, tear_down)
{
    cf_cache_state counts;
    run_shell("mkdir %s", cache);
    write_file("cache/" DIGITS, "%s", "");
    assert_ok(cf_cache_query(cache, &counts));
    assert_true(counts.entries == 1 && counts.bytes == 0);
    assert_ok(cf_cache_clear(cache));
    expect_counts(0, 0, 0);
    write_file("cache/" DIGITS, "%s", "");
    assert_ok(cf_cache_cap(cache, 0));
    expect_counts(0, 0, 0);
}

TEST_WITH(entry_that_cannot_be_removed_is_reported, set_up, tear_down)
{
    run_shell("mkdir -p %s/" DIGITS, cache);
    assert_fails(cf_cache_clear(cache), CF_EINVAL, "cf_cache_clear: the cache folder /tmp/");
    assert_non_null(strstr(cf_last_error(), "/cache: Is a directory"));
    assert_fails(cf_cache_cap(cache, 0), CF_EINVAL, "cf_cache_cap: the cache folder /tmp/");
    run_shell("rmdir %s/" DIGITS " && mkdir %s/hits", cache, cache);
    assert_fails(cf_cache_clear(cache), CF_EINVAL, "/cache: Is a directory");
}

static int count_files(void)
{
    DIR *files = opendir("/proc/self/fd");
    int count = 0;
    assert_non_null(files);
    while (readdir(files))
        count++;
    closedir(files);
    return count;
}

TEST_WITH(folders_that_were_listed_are_closed, set_up, tear_down)
{
    cf_cache_state counts;
    run_shell("mkdir %s && touch -d '2 hours ago' %s/" DIGITS ".lock", cache, cache);
    const int before = count_files();
    assert_ok(cf_cache_query(cache, &counts));
    assert_ok(cf_cache_cap(cache, 7));
    assert_ok(cf_cache_clear(cache));
    assert_fails(cf_cache_query("/dev/null", &counts), CF_EINVAL, "cf_cache_query: ");
    assert_int_equal(count_files(), before);
}

TEST_WITH(folder_that_cannot_be_listed_is_reported, set_up, tear_down)
{
    cf_cache_state counts;
    struct rlimit before;
    run_shell("mkdir %s", cache);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){3, before.rlim_max}), 0);
    int query = cf_cache_query(cache, &counts), clear = cf_cache_clear(cache);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(query, CF_EINVAL);
    assert_int_equal(clear, CF_EINVAL);
    assert_non_null(strstr(cf_last_error(), "/cache: Too many open files"));
}

TEST_WITH(locks_of_processes_that_ended_are_removed, set_up, tear_down)
{
    char path[256];
    cf_cache_state counts;
    run_shell("mkdir %s && touch -d '2 hours ago' %s/" DIGITS ".lock", cache, cache);
    snprintf(path, sizeof path, "%s/" DIGITS ".lock", cache);
    int file = open(path, O_RDWR);
    assert_int_equal(flock(file, LOCK_EX), 0);
    assert_ok(cf_cache_query(cache, &counts));
    assert_int_equal(access(path, F_OK), 0);
    close(file);
    assert_ok(cf_cache_query(cache, &counts));
    assert_int_equal(access(path, F_OK), -1);
}

static void expect_refused(const char *detail)
{
    struct cf__compiled compiled;
    struct cf__request request = make_request();
    assert_fails(cf__compile_source(&request, &compiled), CF_EINVAL, detail);
    assert_null(compiled.image);
}

TEST_WITH(folder_of_others_is_refused, set_up, tear_down)
{
    const char *path;
    if (cf_find("nvrtc", &path) != CF_OK)
        skip_test(NEEDS_NVRTC);
    run_shell("mkdir %s && chmod 770 %s", cache, cache);
    expect_refused("/cache, whose mode is 0770; use another folder");
    run_shell("chmod 707 %s", cache);
    expect_refused("/cache, whose mode is 0707; use another folder");
    run_shell("chmod 1777 %s", cache); /* only the folders above the cache may be like /tmp */
    expect_refused("/cache, whose mode is 1777; use another folder");
    run_shell("rmdir %s && echo text >%s", cache, cache);
    expect_refused("/cache: Not a directory");
    options.cache = "/proc/no/folder";
    expect_refused("cf_test: the cache folder /proc/no/folder: No such file or directory");
    char below[96];
    snprintf(below, sizeof below, "%s/open/cache", root);
    options.cache = below;
    run_shell("mkdir %s/open && chmod 777 %s/open", root, root);
    expect_refused("other users can write to /tmp/");
    run_shell("chmod 1777 %s/open", root); /* like /tmp */
    struct cf__compiled compiled;
    struct cf__request request = make_request();
    write_file("size.h", "#define SIZE 4\n");
    assert_ok(cf__compile_source(&request, &compiled));
    cf__compiled_free(&compiled);
    options.cache = cache;
    if (geteuid() != 0)
        skip_test("needs to be run by root");
    run_shell("rm %s && mkdir %s && chown %d %s", cache, cache, OUTSIDER, cache);
    expect_refused("belongs to user 65534, and not to user 0 of this process");
    run_shell("chmod 755 %s && chmod 555 %s", root, cache);
    assert_int_equal(seteuid(OUTSIDER), 0);
    request = make_request();
    int status = cf__compile_source(&request, &compiled);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(status, CF_EINVAL);
    assert_non_null(strstr(cf_last_error(), "/cache cannot be written: Permission denied"));
}

TEST_WITH(bad_arguments_are_refused, set_up, tear_down)
{
    cf_cache_state counts;
    assert_fails(cf_cache_query(cache, NULL), CF_EINVAL, "cf_cache_query: state is NULL");
    assert_fails(cf_cache_query(NULL, &counts), CF_EINVAL, "cf_cache_query: folder is NULL, and CF_CACHE names none");
    assert_fails(cf_cache_query(cache, &counts), CF_EINVAL, "/cache: No such file or directory");
    assert_fails(cf_cache_clear("/dev/null"), CF_EINVAL, "cf_cache_clear: the cache folder /dev/null: Not a directory");
    assert_fails(cf_cache_cap("", 1), CF_EINVAL, "cf_cache_cap: folder is NULL");
}

int main(void)
{
    return run_all_tests(NULL, NULL);
}
