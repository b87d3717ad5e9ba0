/* test_files.c - the location of cache files, their folders, and reading them. */
#include "run_group.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"
#include "base/write.h"

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/cf_cache_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

TEST_WITH(path_is_given_or_of_the_user, set_up, tear_down)
{
    char path[CF__PATH], long_name[CF__PATH + 1];
    setenv("XDG_CACHE_HOME", "/cache", 1);
    setenv("HOME", "/home", 1);
    setenv("CF_SOME", "a file", 1);
    assert_true(cf__file_path("CF_SOME", "name", path));
    assert_string_equal(path, "a file");
    unsetenv("CF_SOME");
    assert_true(cf__file_path("CF_SOME", "name", path));
    assert_string_equal(path, "/cache/cuferry/name");
    setenv("CF_SOME", "", 1);
    assert_false(cf__file_path("CF_SOME", "name", path));
    unsetenv("CF_SOME");
    setenv("XDG_CACHE_HOME", "cache", 1); /* relative paths are ignored */
    assert_true(cf__file_path("CF_SOME", "name", path));
    assert_string_equal(path, "/home/.cache/cuferry/name");
    unsetenv("HOME");
    assert_false(cf__file_path("CF_SOME", "name", path));
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    setenv("CF_SOME", long_name, 1);
    assert_false(cf__file_path("CF_SOME", "name", path));
}

TEST_WITH(folders_are_made_two_deep, set_up, tear_down)
{
    char path[128];
    struct stat status;
    snprintf(path, sizeof path, "%s/.cache/cuferry/name", folder);
    cf__file_make_folders(path);
    *strrchr(path, '/') = 0;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    cf__file_make_folders("name"); /* no folder to make */
    cf__file_make_folders("/name");
}

TEST_WITH(file_is_read_and_nothing_else, set_up, tear_down)
{
    char path[128], text[16];
    snprintf(path, sizeof path, "%s/file", folder);
    assert_int_equal(cf__file_read(path, text, sizeof text), -1);
    assert_int_equal(errno, ENOENT);
    FILE *file = fopen(path, "w");
    assert_int_equal(fputs("0123456789abcdef more", file) < 0, 0);
    fclose(file);
    assert_int_equal(cf__file_read(path, text, sizeof text), 16);
    assert_memory_equal(text, "0123456789abcdef", 16);
    assert_int_equal(cf__file_read(path, text, 4), 4);
    assert_int_equal(cf__file_read(folder, text, sizeof text), -1);
    assert_int_equal(cf__file_read("/dev/null", text, sizeof text), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(cf__file_read(path, text, sizeof text), -1);
}

/* A write that is too large raises a signal, which would end the process. A signal of this kind that was pending
 * before, because the program blocks it, stays pending. */
TEST_WITH(write_beyond_the_limit_leaves_signals_as_they_were, set_up, tear_down)
{
    char path[128];
    struct rlimit before;
    sigset_t too_large, masked, pending;
    snprintf(path, sizeof path, "%s/file", folder);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){4, before.rlim_max}), 0);
    assert_int_equal(cf__write(file, "0123", 4, 0), 0);
    int status = cf__write(file, "4567", 4, 4), error = errno, again = 0;
    sigpending(&pending);
    int is_pending = sigismember(&pending, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &too_large, &masked);
    raise(SIGXFSZ);
    again = cf__write(file, "4567", 4, 4);
    sigpending(&pending);
    setrlimit(RLIMIT_FSIZE, &before);
    close(file);
    assert_int_equal(sigtimedwait(&too_large, NULL, &(struct timespec){0}), SIGXFSZ);
    pthread_sigmask(SIG_SETMASK, &masked, NULL);
    assert_int_equal(status, -1);
    assert_int_equal(error, EFBIG);
    assert_int_equal(again, -1);
    assert_int_equal(is_pending, 0);
    assert_int_equal(sigismember(&pending, SIGXFSZ), 1);
}

int main(void)
{
    return run_group("tests", all_tests, test_count, NULL, NULL);
}
