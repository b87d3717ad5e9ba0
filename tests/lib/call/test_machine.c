/* test_machine.c - the constants of the machine: the library reads them from the machine file, uses defaults if they
 * are missing there, and writes no file. */
#include "handmade_kernel.h"

#include <cuferry/kernels.h>
#include <cuferry/tuning.h>
#include <dirent.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "threads/pool.h"
#include "context/enter.h"
#include "call/machine.h"

static char folder[64], path[128];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/cf_machine_XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/constants", folder);
    return setenv("CF_MACHINE_FILE", path, 1);
}

/* Counts the files in a folder; returns -1 if there is no folder. */
static int count_files(const char *name)
{
    int count = 0;
    DIR *files = opendir(name);
    if (!files)
        return -1;
    for (struct dirent *file; (file = readdir(files)) != NULL;)
        count += strcmp(file->d_name, ".") != 0 && strcmp(file->d_name, "..") != 0;
    closedir(files);
    return count;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(path);
    assert_int_equal(rmdir(folder), 0); /* the folder must be empty */
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    return 0;
}

/* Returns the machine's constants, as the library determines them at the first use. */
static struct cf__machine ask(enum cf__constants *constants)
{
    struct cf__scope place;
    struct cf__machine machine;
    assert_ok(cf_device_use(0));
    cf__machine_forget();
    assert_ok(cf__enter(&place, "test", NULL));
    assert_ok(cf__machine_get(&place, "test", &machine, constants));
    cf__leave(&place);
    return machine;
}

static int is_measured(void)
{
    enum cf__constants constants;
    (void)ask(&constants);
    return constants == CF__CONSTANTS_MEASURED;
}

static void write_text(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static const char numbers[] = "stage_latency 41e-6\nhost_to_device 51e9\ndevice_to_host 18e9\npool_latency 20e-6\n"
                              "thread_bandwidth 11e9\nthread_flops 80e8\nthread_random 10e7\n"
                              "pool_bandwidth 25e10\npool_flops 12e10\npool_random 70e7\nend\n";

/* Returns the text of a file that is valid for this machine. */
static const char *good(void)
{
    static char text[4096];
    char identity[1024];
    assert_ok(cf_machine_identity(identity, sizeof identity));
    snprintf(text, sizeof text, CF_MACHINE_HEADER "%s%s", identity, numbers);
    return text;
}

/* ---- Reading the file ---- */

FAKE_TEST(machine_file_is_read_once, "CF_THREADS=4")
{
    enum cf__constants constants;
    write_text(good());
    struct cf__machine first = ask(&constants), second;
    assert_int_equal(constants, CF__CONSTANTS_MEASURED);
    assert_true(first.stage_latency > 40.9e-6 && first.stage_latency < 41.1e-6);
    assert_true(first.host_to_device == 51e9 && first.device_to_host == 18e9 && first.pool_random == 70e7);
    assert_int_equal(unlink(path), 0);
    struct cf__scope place;
    assert_ok(cf__enter(&place, "test", NULL));
    assert_ok(cf__machine_get(&place, "test", &second, &constants));
    cf__leave(&place);
    assert_int_equal(constants, CF__CONSTANTS_MEASURED);
    assert_memory_equal(&first, &second, sizeof first);
    assert_ok(cf_shutdown());
    assert_false(is_measured());
}

/* Each machine finds its own lines; damaged lines are ignored. */
FAKE_TEST(machine_file_may_have_several_machines, "CF_THREADS=4")
{
    char text[4096];
    enum cf__constants constants;
    const char *own = strchr(good(), '\n') + 1;
    snprintf(text, sizeof text,
             CF_MACHINE_HEADER "gpu Another\ndriver 13000\nprocessor one\nthreads 4\n%sgpu Fake GPU 0\ndamaged\n%s",
             numbers, own);
    char *at = strstr(text, "51e9");
    memcpy(at, "52e9", 4);
    write_text(text);
    assert_true(ask(&constants).host_to_device == 51e9 && constants == CF__CONSTANTS_MEASURED);
    snprintf(text, sizeof text, CF_MACHINE_HEADER "not %s", own);
    write_text(text);
    assert_false(is_measured());
}

FAKE_TEST(machine_file_that_is_damaged_or_foreign_is_not_taken, "CF_THREADS=4")
{
    char right[4096], text[4096];
    snprintf(right, sizeof right, "%s", good());
    write_text(right);
    assert_true(is_measured());
    static const struct {
        const char *from, *to;
    } changes[] = {
        {"cuferry machine 1", "cuferry machine 2"},
        {"gpu Fake GPU 0", "gpu Fake GPU 1"},
        {"driver 13000", "driver 13010"},
        {"processor ", "processor x"},
        {"threads 4", "threads 40"},
        {"host_to_device ", "host_to_device -"},
        {"host_to_device ", "host_to_device 9999"},
        {"host_to_device ", "host_to_device x"},
        {"host_to_device ", "host_to_device 1e99999999999999999999\n"},
        {"pool_random ", "pool_ranbom "},
        {"thread_flops", "\nthread_flops"},
        {"end\n", "end"},
        {"stage_latency", "stage_latency 10e-5\nstage_latency"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const char *at = strstr(right, changes[i].from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - right), right, changes[i].to, at + strlen(changes[i].from));
        write_text(text);
        if (is_measured())
            fail_msg("the file was taken with %s for %s", changes[i].to, changes[i].from);
    }
    for (size_t length = 0; length < strlen(right); length++) { /* truncated */
        snprintf(text, sizeof text, "%.*s", (int)length, right);
        write_text(text);
        assert_false(is_measured());
    }
    for (size_t i = 0; i < strlen(right); i++) { /* one character changed */
        snprintf(text, sizeof text, "%s", right);
        text[i] = text[i] == '#' ? '!' : '#';
        write_text(text);
        assert_false(is_measured());
    }
    write_text(right);
    assert_int_equal(truncate(path, (off_t)CF_MACHINE_BYTES + 1), 0); /* bytes beyond the limit are not read */
    assert_true(is_measured());
}

/* ---- The defaults ---- */

static void expect_usual(void)
{
    enum cf__constants constants;
    struct cf__machine machine = ask(&constants);
    assert_int_equal(constants, CF__CONSTANTS_DEFAULT);
    assert_true(machine.stage_latency == 4e-5 && machine.pool_latency == 2e-5);
    assert_true(machine.thread_bandwidth == 1e10 && machine.thread_flops == 4e9 && machine.thread_random == 5e7);
    assert_true(machine.host_to_device == 2e10 && machine.device_to_host == 2e10);
    assert_true(machine.pool_bandwidth == 4e10 && machine.pool_flops == 16e9 && machine.pool_random == 2e8);
}

/* The library neither measures nor writes a file, whatever the path in CF_MACHINE_FILE is. */
FAKE_TEST(machine_without_a_file_is_the_usual, "CF_THREADS=4")
{
    size_t in = fake_counts()->bytes_in;
    expect_usual();
    assert_int_equal(setenv("CF_MACHINE_FILE", "/dev/null/machine", 1), 0);
    expect_usual();
    char long_path[5000];
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[0] = '/';
    long_path[sizeof long_path - 1] = 0;
    assert_int_equal(setenv("CF_MACHINE_FILE", long_path, 1), 0);
    expect_usual();
    assert_int_equal(setenv("CF_MACHINE_FILE", folder, 1), 0);
    expect_usual();
    assert_int_equal(unsetenv("CF_MACHINE_FILE"), 0);
    assert_int_equal(setenv("XDG_CACHE_HOME", folder, 1), 0);
    expect_usual();
    assert_int_equal(unsetenv("XDG_CACHE_HOME"), 0);
    assert_int_equal(setenv("HOME", folder, 1), 0);
    expect_usual();
    assert_int_equal(unsetenv("HOME"), 0);
    expect_usual();
    assert_int_equal(count_files(folder), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* a pipe that nobody writes to; the library must not wait */
    assert_int_equal(setenv("CF_MACHINE_FILE", path, 1), 0);
    expect_usual();
    assert_int_equal(fake_counts()->bytes_in, in);
}

FAKE_TEST(defaults_of_the_pool_grow_with_its_threads, "CF_THREADS=1")
{
    enum cf__constants constants;
    struct cf__machine machine = ask(&constants);
    int threads = cf__pool_size(), link = threads < 2 ? 1 : 2, memory = threads < 12 ? threads : 12;
    assert_int_equal(threads, atoi(getenv("CF_THREADS")));
    assert_int_equal(constants, CF__CONSTANTS_DEFAULT);
    assert_true(machine.host_to_device == 1e10 * link && machine.device_to_host == 1e10 * link);
    assert_true(machine.pool_bandwidth == 1e10 * memory && machine.pool_random == 5e7 * memory);
    assert_true(machine.pool_flops == 4e9 * threads && machine.thread_flops == 4e9);
}

/* A write beyond the limit would raise a signal that ends the process. */
FAKE_TEST(plain_call_under_a_limit_of_no_bytes_writes_nothing, "CF_THREADS=4", "CF_HOST_DATA")
{
    enum { LENGTH = 1 << 20 };
    float *x = calloc(LENGTH, sizeof *x), *y = calloc(LENGTH, sizeof *y);
    assert_true(x && y);
    assert_int_equal(unsetenv("CF_MACHINE_FILE"), 0);
    assert_int_equal(setenv("XDG_CACHE_HOME", folder, 1), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0}), 0);
    x[LENGTH - 1] = 3;
    assert_ok(cf_set_host_data(CF_HOST_DATA_AUTO));
    assert_ok(cf_axpy_f32(2, x, y, LENGTH));
    assert_true(y[LENGTH - 1] == 6);
    assert_non_null(strstr(cf_last_plan(), ", by default constants"));
    assert_int_equal(count_files(folder), 0);
    free(x);
    free(y);
}

/* ---- The path, the identity and the log ---- */

FAKE_TEST(machine_file_is_in_the_cache_of_the_user, "CF_THREADS=4")
{
    char expected[128], found[128], small[4];
    assert_ok(cf_machine_path(found, sizeof found));
    assert_string_equal(found, path);
    assert_fails(cf_machine_path(small, sizeof small), CF_EINVAL, "cf_machine_path: the path has ");
    assert_fails(cf_machine_path(NULL, 1), CF_EINVAL, "cf_machine_path: path is NULL");
    assert_int_equal(unsetenv("CF_MACHINE_FILE"), 0);
    assert_int_equal(setenv("XDG_CACHE_HOME", folder, 1), 0);
    assert_ok(cf_machine_path(found, sizeof found));
    snprintf(expected, sizeof expected, "%s/cuferry/machine", folder);
    assert_string_equal(found, expected);
    snprintf(path, sizeof path, "%s/cuferry", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s", expected);
    write_text(good());
    assert_true(is_measured());
    assert_int_equal(setenv("CF_MACHINE_FILE", "", 1), 0); /* an empty name disables reading */
    assert_false(is_measured());
    assert_fails(cf_machine_path(found, sizeof found), CF_ENOTSUP, "CF_MACHINE_FILE is empty");
    assert_int_equal(unlink(path), 0);
    *strrchr(path, '/') = 0;
    assert_int_equal(rmdir(path), 0);
}

FAKE_TEST(identity_has_gpu_driver_processor_and_threads, "CF_THREADS=4")
{
    char identity[1024], processor[256], expected[1024], small[8];
    assert_ok(cf_device_name(CF_HOST, processor, sizeof processor));
    snprintf(expected, sizeof expected, "gpu Fake GPU 1\ndriver 13000\nprocessor %s\nthreads 4\n", processor);
    assert_ok(cf_device_use(1));
    assert_ok(cf_machine_identity(identity, sizeof identity));
    assert_string_equal(identity, expected);
    assert_fails(cf_machine_identity(small, sizeof small), CF_EINVAL, "and there is room for 8");
    assert_fails(cf_machine_identity(NULL, 1), CF_EINVAL, "cf_machine_identity: text is NULL");
    assert_ok(cf_device_use(CF_HOST));
    assert_fails(cf_machine_identity(identity, sizeof identity), CF_ENOTSUP, "the thread's device is the CPU");
}

static char logged[1024];

static void note(void *data, int level, const char *line)
{
    (void)data;
    if (level == CF_LOG_INFO && strstr(line, "cf-tune"))
        snprintf(logged, sizeof logged, "%s", line);
}

FAKE_TEST(log_says_why_a_file_does_not_count, "CF_THREADS=4")
{
    char expected[256];
    cf_set_log(note, NULL);
    assert_false(is_measured());
    snprintf(expected, sizeof expected, "%s: No such file or directory; cf-tune --machine measures them", path);
    assert_string_equal(logged, expected);
    write_text("n,time\n");
    assert_false(is_measured());
    snprintf(expected, sizeof expected,
             "%s: it has no constants of this machine, or is damaged; cf-tune --machine measures them", path);
    assert_string_equal(logged, expected);
    logged[0] = 0;
    assert_int_equal(unsetenv("CF_MACHINE_FILE"), 0); /* now the file at the default path is read, if there is one */
    assert_int_equal(setenv("XDG_CACHE_HOME", folder, 1), 0);
    assert_false(is_measured());
    assert_string_equal(logged, "");
    cf_set_log(NULL, NULL);
}

/* ---- Races ---- */

static void *ask_on_thread(void *unused)
{
    struct cf__scope place;
    struct cf__machine *machine = malloc(sizeof *machine);
    enum cf__constants constants = CF__CONSTANTS_NONE;
    (void)unused;
    if (!machine || cf_device_use(0) != CF_OK || cf__enter(&place, "test", NULL) != CF_OK)
        return NULL;
    int status = cf__machine_get(&place, "test", machine, &constants);
    cf__leave(&place);
    return status == CF_OK && constants == CF__CONSTANTS_MEASURED ? machine : NULL;
}

FAKE_TEST(threads_that_race_agree, "CF_THREADS=4")
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    void *machines[THREADS];
    write_text(good());
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_on_thread, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &machines[i]), 0);
        assert_non_null(machines[i]);
        assert_memory_equal(machines[i], machines[0], sizeof(struct cf__machine));
    }
    for (int i = 0; i < THREADS; i++)
        free(machines[i]);
}

int main(int argc, char *argv[])
{
    RUN_ALSO(defaults_of_the_pool_grow_with_its_threads, "CF_THREADS=2");
    RUN_ALSO(defaults_of_the_pool_grow_with_its_threads, "CF_THREADS=16");
    static const cf_module none = {.version = CF_REGISTRY_VERSION, .prefix = "made"};
    return run_made(argc, argv, &none, set_up, tear_down);
}
