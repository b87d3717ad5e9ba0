/* test_machine.c - the machine's constants: measured once, kept in a file that is whole, and replaced where it is
 * damaged. */
#include "on_made.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

static char folder[64], path[64 + NAME_MAX + 2];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/cf_machine_XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/constants", folder);
    return setenv("CF_MACHINE_FILE", path, 1);
}

/* Files in a folder; -1 where there is none. */
static int count_files(const char *name)
{
    int count = 0;
    DIR *files = opendir(name);
    if (!files)
        return -1;
    for (struct dirent *file; (file = readdir(files)) != NULL;)
        count += file->d_name[0] != '.';
    closedir(files);
    return count;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(path);
    assert_int_equal(rmdir(folder), 0); /* nothing else was left in it */
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    return 0;
}

/* What the library takes for the machine, as if it had just begun. */
static struct cf__machine ask(enum cf__constants *constants)
{
    struct cf__place place;
    struct cf__machine machine;
    assert_ok(cf_device_use(0));
    cf__machine_forget();
    assert_ok(cf__enter(&place, "test", NULL));
    assert_ok(cf__machine(&place, "test", &machine, constants));
    cf__leave(&place);
    return machine;
}

static void read_text(char *text, size_t size)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t used = fread(text, 1, size - 1, file);
    text[used] = 0;
    assert_int_equal(fclose(file), 0);
}

static void write_text(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int is_same(const struct cf__machine *a, const struct cf__machine *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* ---- Measuring ---- */

static void machine_is_measured_once_and_read_after(void **state)
{
    (void)state;
    enum cf__constants constants;
    struct stat status;
    char text[4096];
    struct cf__machine first = ask(&constants), slowest, fastest;
    assert_int_equal(constants, CF__CONSTANTS_MEASURED);
    read_text(text, sizeof text);
    assert_int_equal(strncmp(text, "cuferry machine 1\ngpu Fake GPU 0\ndriver 13000\nprocessor ", 56), 0);
    assert_string_equal(text + strlen(text) - 4, "end\n");
    assert_int_equal(count_files(folder), 1);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 077, 0);
    cf__machine_limits(&slowest, &fastest);
#define WITHIN(name, usual, least, most)                                  \
    assert_true(first.name >= least * 0.99 && first.name <= most * 1.01); \
    assert_true(slowest.name == least || slowest.name == most);           \
    assert_true(fastest.name == least || fastest.name == most);
    CF__MACHINE_LIST(WITHIN)
#undef WITHIN
    size_t in = fake_counts()->bytes_in;
    struct cf__machine second = ask(&constants);
    assert_true(is_same(&first, &second));
    assert_int_equal(constants, CF__CONSTANTS_MEASURED);
    assert_int_equal(fake_counts()->bytes_in, in); /* nothing was measured */
    /* Within a process not even the file is read. */
    struct cf__place place;
    struct cf__machine third;
    assert_int_equal(unlink(path), 0);
    assert_ok(cf__enter(&place, "test", NULL));
    assert_ok(cf__machine(&place, "test", &third, &constants));
    cf__leave(&place);
    assert_true(is_same(&first, &third));
}

static void machine_measuring_leaves_no_memory(void **state)
{
    (void)state;
    enum cf__constants constants;
    char text[4096];
    void *memory;
    assert_ok(cf_mem_alloc(&memory, 4));
    (void)ask(&constants);
    assert_int_equal(constants, CF__CONSTANTS_MEASURED);
    assert_true(count_alive(text, sizeof text) > 0);
    assert_null(strstr(text, "134217728 bytes"));
    assert_ok(cf_mem_free(memory));
}

static void machine_measuring_leaves_captures_alone(void **state)
{
    (void)state;
    enum cf__constants constants;
    cf_stream stream;
    cf_graph graph;
    const struct cf__driver *driver = other_library();
    assert_ok(cf_device_use(0));
    assert_ok(cf_stream_create(&stream));
    assert_int_equal(driver->cuStreamBeginCapture(stream, 0), CUDA_SUCCESS); /* the strictest */
    (void)ask(&constants);
    assert_int_equal(constants, CF__CONSTANTS_MEASURED);
    assert_int_equal(driver->cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    assert_int_equal(driver->cuGraphDestroy(graph), CUDA_SUCCESS);
    assert_ok(cf_stream_destroy(stream));
}

/* ---- Where nothing can be kept, or measured ---- */

static struct cf__machine expect_usual(void)
{
    enum cf__constants constants;
    size_t in = fake_counts()->bytes_in;
    struct cf__machine machine = ask(&constants);
    assert_int_equal(constants, CF__CONSTANTS_DEFAULT);
    assert_int_equal(fake_counts()->bytes_in, in);
    assert_true(machine.stage_latency == 4e-5 && machine.host_to_device == 2e10 && machine.device_to_host == 2e10);
    assert_true(machine.thread_bandwidth == 1e10 && machine.pool_bandwidth == 4e10 && machine.pool_flops == 16e9);
    return machine;
}

static void machine_without_a_place_for_the_file_is_the_usual(void **state)
{
    (void)state;
    assert_int_equal(setenv("CF_MACHINE_FILE", "/dev/null/machine", 1), 0);
    (void)expect_usual();
    char long_path[5000];
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[0] = '/';
    long_path[sizeof long_path - 1] = 0;
    assert_int_equal(setenv("CF_MACHINE_FILE", long_path, 1), 0);
    (void)expect_usual();
    assert_int_equal(setenv("CF_MACHINE_FILE", folder, 1), 0); /* a folder */
    char beside[128];
    enum cf__constants constants;
    (void)ask(&constants);
    assert_int_equal(constants, CF__CONSTANTS_DEFAULT);
    snprintf(beside, sizeof beside, "%s/missing/machine", folder); /* whose folder is not made */
    assert_int_equal(setenv("CF_MACHINE_FILE", beside, 1), 0);
    (void)expect_usual();
    assert_int_equal(count_files(folder), 0);
    assert_int_equal(unsetenv("CF_MACHINE_FILE"), 0);
    assert_int_equal(unsetenv("XDG_CACHE_HOME"), 0);
    assert_int_equal(unsetenv("HOME"), 0);
    (void)expect_usual();
}

static void machine_that_cannot_be_measured_is_the_usual(void **state)
{
    (void)state;
    char before[1024];
    assert_int_equal(cf_device_use(77), CF_ENODEV);
    snprintf(before, sizeof before, "%s", cf_last_error());
    (void)expect_usual();                         /* there is no memory for it */
    assert_string_equal(cf_last_error(), before); /* which is no failure */
    assert_int_equal(count_files(folder), 0);
}

static void machine_file_is_in_the_cache_of_the_user(void **state)
{
    (void)state;
    enum cf__constants constants;
    char cache[128], home[128], made[160], command[300];
    snprintf(cache, sizeof cache, "%s/cache", folder);
    snprintf(home, sizeof home, "%s/home", folder);
    assert_int_equal(unsetenv("CF_MACHINE_FILE"), 0);
    assert_int_equal(setenv("XDG_CACHE_HOME", cache, 1), 0);
    assert_int_equal(setenv("HOME", home, 1), 0);
    struct cf__machine first = ask(&constants);
    assert_int_equal(constants, CF__CONSTANTS_MEASURED);
    snprintf(made, sizeof made, "%s/cuferry", cache);
    assert_int_equal(count_files(made), 1);
    assert_int_equal(setenv("XDG_CACHE_HOME", "relative", 1), 0); /* does not count */
    assert_int_equal(mkdir(home, 0700), 0);
    (void)ask(&constants);
    snprintf(made, sizeof made, "%s/.cache/cuferry", home);
    assert_int_equal(count_files(made), 1);
    assert_int_equal(setenv("XDG_CACHE_HOME", cache, 1), 0);
    struct cf__machine second = ask(&constants);
    assert_true(is_same(&first, &second));
    snprintf(command, sizeof command, "rm -r %s %s", cache, home);
    assert_int_equal(system(command), 0);
}

/* ---- Damage ---- */

/* Whether a text is taken, from a file beside which no other one can be made: its name is too long for that. */
static int is_taken(const char *text)
{
    enum cf__constants constants;
    char name[NAME_MAX + 1];
    memset(name, 'n', sizeof name);
    name[NAME_MAX - 2] = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(setenv("CF_MACHINE_FILE", path, 1), 0);
    write_text(text);
    (void)ask(&constants);
    assert_int_equal(unlink(path), 0);
    return constants == CF__CONSTANTS_MEASURED;
}

static void machine_file_that_is_damaged_or_foreign_is_not_taken(void **state)
{
    (void)state;
    enum cf__constants constants;
    char good[4096], text[4096];
    (void)ask(&constants);
    read_text(good, sizeof good);
    assert_int_equal(unlink(path), 0);
    size_t in = fake_counts()->bytes_in;
    assert_true(is_taken(good));
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
        {"end\n", "end\nmore\n"},
        {"end\n", "end"},
        {"stage_latency", "stage_latency 10e-5\nstage_latency"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const char *at = strstr(good, changes[i].from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, changes[i].to, at + strlen(changes[i].from));
        if (is_taken(text))
            fail_msg("the file was taken with %s for %s", changes[i].to, changes[i].from);
    }
    for (size_t length = 0; length < strlen(good); length++) { /* cut short */
        snprintf(text, sizeof text, "%.*s", (int)length, good);
        assert_false(is_taken(text));
    }
    for (size_t i = 0; i < strlen(good); i++) { /* one letter changed */
        snprintf(text, sizeof text, "%s", good);
        text[i] = text[i] == '#' ? '!' : '#';
        assert_false(is_taken(text));
    }
    assert_int_equal(fake_counts()->bytes_in, in); /* nothing was measured */
}

static void machine_file_that_is_damaged_is_replaced(void **state)
{
    (void)state;
    enum cf__constants constants;
    char text[4096];
    write_text("damaged");
    (void)ask(&constants);
    assert_int_equal(constants, CF__CONSTANTS_MEASURED);
    read_text(text, sizeof text);
    assert_string_equal(text + strlen(text) - 4, "end\n");
    assert_int_equal(count_files(folder), 1);
    /* A pipe that nobody writes to is not waited for. */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    (void)ask(&constants);
    assert_int_equal(constants, CF__CONSTANTS_MEASURED);
    read_text(text, sizeof text);
    assert_int_equal(count_files(folder), 1);
}

/* ---- Races ---- */

static void *ask_on_thread(void *unused)
{
    struct cf__place place;
    struct cf__machine *machine = malloc(sizeof *machine);
    enum cf__constants constants = CF__CONSTANTS_ANY;
    (void)unused;
    if (!machine || cf_device_use(0) != CF_OK || cf__enter(&place, "test", NULL) != CF_OK)
        return NULL;
    int status = cf__machine(&place, "test", machine, &constants);
    cf__leave(&place);
    return status == CF_OK && constants == CF__CONSTANTS_MEASURED ? machine : NULL;
}

static void machine_threads_that_race_measure_once(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    void *machines[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_on_thread, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &machines[i]), 0);
        assert_non_null(machines[i]);
        assert_true(is_same(machines[i], machines[0]));
    }
    for (int i = 0; i < THREADS; i++)
        free(machines[i]);
    assert_int_equal(fake_counts()->bytes_in, 3 * 134217728 + 6 * 1024);
}

/* The first one's file stays, and serves all. */
static void machine_processes_that_race_agree(void **state)
{
    (void)state;
    enum { PROCESSES = 4 };
    for (int round = 0; round < 2; round++) {
        int ends[2];
        struct cf__machine first, other;
        assert_int_equal(pipe(ends), 0);
        if (round)
            write_text("damaged");
        for (int i = 0; i < PROCESSES; i++) { /* before the library is used in this one */
            pid_t child = fork();
            assert_true(child >= 0);
            if (child == 0) {
                struct cf__machine *machine = ask_on_thread(NULL);
                _exit(!machine || write(ends[1], machine, sizeof *machine) != sizeof *machine);
            }
        }
        for (int i = 0; i < PROCESSES; i++) {
            int status;
            assert_true(wait(&status) > 0);
            assert_int_equal(status, 0);
        }
        assert_int_equal(count_files(folder), 1);
        for (int i = 0; i < PROCESSES; i++) {
            assert_int_equal(read(ends[0], &other, sizeof other), sizeof other);
            if (i == 0)
                first = other;
            else if (round == 0)
                assert_true(is_same(&first, &other));
        }
        close(ends[0]);
        close(ends[1]);
        assert_int_equal(unlink(path), 0);
    }
}

int main(int argc, char *argv[])
{
#define FAKE(function, ...) fake_test(function, "CF_THREADS=4", __VA_ARGS__)
    const struct CMUnitTest tests[] = {
        FAKE(machine_is_measured_once_and_read_after, NULL),
        FAKE(machine_measuring_leaves_no_memory, NULL),
        FAKE(machine_measuring_leaves_captures_alone, NULL),
        FAKE(machine_without_a_place_for_the_file_is_the_usual, NULL),
        FAKE(machine_that_cannot_be_measured_is_the_usual, "FAKE_CUDA=oom=60000000"),
        FAKE(machine_file_is_in_the_cache_of_the_user, NULL),
        FAKE(machine_file_that_is_damaged_or_foreign_is_not_taken, NULL),
        FAKE(machine_file_that_is_damaged_is_replaced, NULL),
        FAKE(machine_threads_that_race_measure_once, NULL),
        FAKE(machine_processes_that_race_agree, NULL),
    };
#undef FAKE
    static const cf_module none = {.size = sizeof none, .version = CF_REGISTRY_VERSION, .prefix = "made"};
    return RUN_MADE(argc, argv, &none, tests, set_up, tear_down);
}
