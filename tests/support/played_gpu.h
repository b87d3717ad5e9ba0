/* played_gpu.h - runs tests on the played GPU. Each test has its own process and environment, because the
 * driver and the library's variables are read once per process. */
#ifndef PLAYED_GPU_H
#define PLAYED_GPU_H

#include "run_group.h"

#include <dlfcn.h>
#include <limits.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/driver.h"
#include "driver/driver_cuda.h"
#include "fake_ask.h"

extern char **environ;

struct fake_test {
    const char *name;
    CMUnitTestFunction run;
    const char *environment[4]; /* "NAME=value" sets, "NAME" removes; see make_command() */
};

/* Exit status of a process that cannot run its test. */
#define SKIPPED 77

static inline void skip_process(const char *reason)
{
    printf("# skip: %s\n", reason);
    fflush(stdout);
    _exit(SKIPPED);
}

/* Finds the path of this program, and the folder beside it with the driver of the played GPU. */
static inline void find_paths(char self[PATH_MAX], char fake[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", self, PATH_MAX - 1);
    self[length < 0 ? 0 : length] = 0;
    char *slash = strrchr(self, '/');
    int folder = slash ? (int)(slash - self) : 0;
    if (snprintf(fake, PATH_MAX, "%.*s/fake", folder, self) >= PATH_MAX)
        fake[0] = 0;
}

/* Writes the command that runs a test in its own process. It calls env(1) to remove and set variables, first those that
 * all tests need, then those of `environment`. */
static inline void make_command(const struct fake_test *test, const char *self, const char *fake,
                                const char *command[64])
{
    static const char *const decided_here[] = {
        "FAKE_CUDA", "CF_DRIVER", "CF_THREADS", "CF_CHECK", "CMOCKA_MESSAGE_OUTPUT", "CMOCKA_XML_FILE"};
    static char path[3 * PATH_MAX];
    size_t count = 0, own = strlen(fake);
    command[count++] = "env";
    for (size_t i = 0; i < sizeof decided_here / sizeof *decided_here; i++) {
        command[count++] = "-u";
        command[count++] = decided_here[i];
    }
    command[count++] = "CF_HOST_DATA=stage"; /* a test of the GPU must not run on the CPU */
    command[count++] = path;
    /* Keeps the other folders of the path, such as that of a CMocka copy. LD_LIBRARY_PATH in `environment` replaces
     * only the played GPU's folder. */
    const char *others = getenv("LD_LIBRARY_PATH");
    if (!others)
        others = "";
    if (strncmp(others, fake, own) == 0 && (others[own] == ':' || !others[own]))
        others += own + (others[own] == ':');
    for (const char *const *entry = test->environment; *entry; entry++) {
        const char *value = strchr(*entry, '=');
        if (strncmp(*entry, "LD_LIBRARY_PATH", 15) == 0) {
            fake = value ? value + 1 : "";
            continue;
        }
        command[count++] = "env";
        if (!value)
            command[count++] = "-u";
        command[count++] = *entry;
    }
    snprintf(path, sizeof path, "LD_LIBRARY_PATH=%s%s%s", fake, *fake && *others ? ":" : "", others);
    command[count++] = self;
    command[count++] = test->name;
    command[count] = NULL;
}

static inline void run_on_fake(void **state)
{
    const struct fake_test *test = *state;
    static char self[PATH_MAX], fake[PATH_MAX], library[PATH_MAX + 16], output[1 << 16];
    find_paths(self, fake);
    snprintf(library, sizeof library, "%s/libcuda.so.1", fake);
    if (access(library, R_OK) != 0)
        skip_test(getenv("CHECK_WITHOUT_CUDA") ? "needs a build for GPUs" : NEEDS_NVCC);
    int ends[2], status = -1;
    assert_int_equal(pipe(ends), 0);
    const char *command[64];
    make_command(test, self, fake, command);
    /* Not fork(): it copies the sanitizers' pages, for which a small machine may have too little memory. */
    posix_spawn_file_actions_t actions;
    pid_t child;
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO), 0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO), 0);
    assert_int_equal(posix_spawn_file_actions_addclose(&actions, ends[0]), 0);
    assert_int_equal(posix_spawn_file_actions_addclose(&actions, ends[1]), 0);
    int problem = posix_spawnp(&child, "env", &actions, NULL, (char *const *)command, environ);
    if (problem)
        fail_msg("the test's own process did not start: %s", strerror(problem));
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; (got = read(ends[0], output + used, sizeof output - 1 - used)) > 0;)
        used += (size_t)got;
    output[used] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
        fputs(output, stdout);
        skip();
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("the test's own process ended with status %#x and said:\n%s", (unsigned int)status, output);
}

static inline void enter_fake_test(struct fake_test *test, int line)
{
    enter_test((struct CMUnitTest){test->name, run_on_fake, NULL, NULL, test}, line);
}

/* The head of a test's function, like TEST(), with the environment of its process. */
#define FAKE_TEST(name, ...)                                         \
    static void name(void **state);                                  \
    __attribute__((constructor)) static void enter_##name(void)      \
    {                                                                \
        static struct fake_test test = {#name, name, {__VA_ARGS__}}; \
        enter_fake_test(&test, __LINE__);                            \
    }                                                                \
    static void name(void **state __attribute__((unused)))

/* Runs a test of FAKE_TEST() a second time, in another environment; a statement of main(). */
#define RUN_ALSO(name, ...) enter_fake_test(&(struct fake_test){#name, name, {__VA_ARGS__}}, INT_MAX)

/* Runs the program's tests and returns the exit status for main(); setup and teardown apply to those of FAKE_TEST(). */
static inline int run_with_fake(int argc, char *argv[], CMFixtureFunction setup, CMFixtureFunction teardown)
{
    for (size_t i = 0; argc > 1 && i < test_count; i++)
        if (all_tests[i].test_func == run_on_fake && strcmp(all_tests[i].name, argv[1]) == 0) {
            const struct fake_test *test = all_tests[i].initial_state;
            alarm(600); /* kills a process that hangs */
            const struct CMUnitTest one = {test->name, test->run, setup, teardown, NULL};
            return run_group(test->name, &one, 1, NULL, NULL);
        }
    return run_all_tests(NULL, NULL);
}

/* ---- Access to the driver beside the library ---- */

/* Looks up a function of fake_ask.h; returns NULL if the driver in use is not the played GPU. The driver stays
 * loaded. */
static inline void (*played_gpu_function(const char *name))(void)
{
    void (*function)(void) = NULL;
    const char *driver = getenv("CF_DRIVER");
    void *library = driver && strcmp(driver, "host") == 0 ? NULL : dlopen("libcuda.so.1", RTLD_NOW);
    if (library)
        *(void **)&function = dlsym(library, name);
    return function;
}

/* Adds kernels to the played GPU, which cannot run others; returns 0 if another driver is in use. */
static inline int played_gpu_add(const cf_module *module)
{
    fake_cuda_add_function *add = (fake_cuda_add_function *)played_gpu_function("fake_cuda_add");
    if (add)
        add(module);
    return add != NULL;
}

static inline int played_gpu_is_in_use(void)
{
    return played_gpu_function("fake_cuda_add") != NULL;
}

/* Returns the call counters of the played GPU, which are live; NULL on any other driver. */
static inline const struct fake_counts *played_gpu_counts(void)
{
    fake_cuda_counts_function *counts = (fake_cuda_counts_function *)played_gpu_function("fake_cuda_counts");
    return counts ? counts() : NULL;
}

/* Returns the number of live objects in the played GPU, with a text that lists them; -1 on any other driver. */
static inline int count_alive(char *text, size_t size)
{
    fake_cuda_alive_function *alive = (fake_cuda_alive_function *)played_gpu_function("fake_cuda_alive");
    *text = 0;
    return alive ? alive(text, size) : -1;
}

#define assert_nothing_alive()                             \
    do {                                                   \
        char text_[1024];                                  \
        if (count_alive(text_, sizeof text_) > 0)          \
            fail_msg("these are still alive:\n%s", text_); \
    } while (0)

static inline int end_library_empty(void **state)
{
    (void)state;
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    return 0;
}

/* Runs the program's tests, whose kernels are in `module`. */
static inline int run_played(const cf_module *module, CMFixtureFunction teardown)
{
    played_gpu_add(module);
    return run_all_tests(NULL, teardown);
}

/* Returns the driver table, for tests that play another library in the process. */
static inline const struct cf__driver *other_library(void)
{
    static struct cf__driver driver;
    char reason[256];
    if (!driver.cuInit && cf__driver_cuda_fill(&driver, reason, sizeof reason) != CF_OK)
        fail_msg("there is no driver: %s", reason);
    return &driver;
}

typedef CUresult create_context(CUcontext *context, unsigned int flags, CUdevice device);
typedef CUresult destroy_context(CUcontext context);
#define context_create ((create_context *)driver_function("cuCtxCreate", 3020))
#define context_destroy ((destroy_context *)driver_function("cuCtxDestroy", 4000))

#endif
