/* test_processors.c - the number of processors that the process may use: the affinity of its threads, and control
 * groups of both versions in a folder made for the test. */
#include "run_group.h"

#include <dirent.h>
#include <ftw.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/processors.h"

static char root[] = "/tmp/cuferry-processors-XXXXXX";

/* Writes a file under the root and creates its folders. */
static void put(const char *path, const char *text)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    for (char *slash = whole + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
        *slash = 0;
        (void)mkdir(whole, 0700);
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int take_away(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind;
    return walk->level ? remove(path) : 0;
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(root) ? 0 : -1;
}

static int clear(void **state)
{
    (void)state;
    return nftw(root, take_away, 8, FTW_DEPTH | FTW_PHYS);
}

static int tear_down(void **state)
{
    return clear(state) || rmdir(root);
}

#define MOUNT_2 "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
#define MOUNT_1 "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:12 - cgroup cgroup rw,cpu,cpuacct\n"
#define OTHERS                                                \
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n" \
    "33 31 0:30 / /sys/fs/cgroup/cpuset rw shared:13 - cgroup cgroup rw,cpuset\n"

TEST_WITH(processors_without_groups_are_all, NULL, clear)
{
    assert_int_equal(cf__processors_limit(root, 24), 24);
    put("/proc/self/cgroup", "");
    put("/proc/self/mountinfo", OTHERS);
    assert_int_equal(cf__processors_limit(root, 24), 24);
}

TEST_WITH(processors_of_version_2_are_those_of_the_least_group, NULL, clear)
{
    put("/proc/self/cgroup", "0::/user.slice/job 7.scope/step\n");
    put("/proc/self/mountinfo", OTHERS MOUNT_2);
    assert_int_equal(cf__processors_limit(root, 24), 24); /* no group has a cpu.max file */
    put("/sys/fs/cgroup/user.slice/job 7.scope/step/cpu.max", "max 100000\n");
    assert_int_equal(cf__processors_limit(root, 24), 24);
    put("/sys/fs/cgroup/user.slice/job 7.scope/cpu.max", "750000 100000\n");
    assert_int_equal(cf__processors_limit(root, 24), 8);
    put("/sys/fs/cgroup/user.slice/cpu.max", "600000 100000\n");
    assert_int_equal(cf__processors_limit(root, 24), 6);
    put("/sys/fs/cgroup/user.slice/job 7.scope/step/cpu.max", "200001 100000\n");
    assert_int_equal(cf__processors_limit(root, 24), 3);
    assert_int_equal(cf__processors_limit(root, 2), 2);
    put("/sys/fs/cgroup/user.slice/job 7.scope/step/cpu.max", "1000 100000\n");
    assert_int_equal(cf__processors_limit(root, 24), 1);
}

/* In a container, the container's own group is mounted as the root; the name of its group may or may not show that. */
TEST_WITH(processors_in_a_container_are_those_of_what_is_mounted, NULL, clear)
{
    put("/proc/self/mountinfo", MOUNT_2);
    put("/sys/fs/cgroup/cpu.max", "400000 100000\n");
    static const char *const names[] = {"0::/\n", "0::/../outside\n", "0::/docker/0123\n"};
    for (int i = 0; i < 3; i++) {
        put("/proc/self/cgroup", names[i]);
        assert_int_equal(cf__processors_limit(root, 24), 4);
    }
    put("/proc/self/mountinfo", "30 24 0:26 /docker/0123 /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    assert_int_equal(cf__processors_limit(root, 24), 4);
    put("/sys/fs/cgroup/docker/0123/cpu.max", "100000 100000\n"); /* belongs to a group that the process is not in */
    assert_int_equal(cf__processors_limit(root, 24), 4);
    put("/proc/self/cgroup", "0::/docker/0123/inner\n");
    put("/sys/fs/cgroup/inner/cpu.max", "200000 100000\n");
    assert_int_equal(cf__processors_limit(root, 24), 2);
    put("/proc/self/cgroup", "0::/docker/01234\n");
    assert_int_equal(cf__processors_limit(root, 24), 4);
}

/* In the list of mounts a blank in a folder's name is written "\\040". Any other byte may be written in this way, too,
 * up to "\\377". */
TEST_WITH(processors_of_a_mount_with_blanks_are_found, NULL, clear)
{
    put("/proc/self/cgroup", "0::/a b/c\n");
    put("/proc/self/mountinfo", "30 24 0:26 /a\\040b /sys/all\\040\\303\\2779\\134040 rw - cgroup2 cgroup2 rw\n");
    put("/sys/all \xc3\xbf"
        "9\\040/c/cpu.max",
        "300000 100000\n");
    assert_int_equal(cf__processors_limit(root, 24), 3);
    put("/proc/self/mountinfo", "30 24 0:26 / /sys/\\400\\080\\008\\04 rw - cgroup2 cgroup2 rw\n"); /* no escapes */
    put("/sys/\\400\\080\\008\\04/cpu.max", "200000 100000\n");
    assert_int_equal(cf__processors_limit(root, 24), 2);
}

TEST_WITH(processors_of_version_1_are_found_by_the_controller, NULL, clear)
{
    put("/proc/self/cgroup", "12:cpuset:/wrong\n4:cpuacct,cpu:/a/b\n1:name=systemd:/wrong\n0::/\n");
    put("/proc/self/mountinfo", OTHERS MOUNT_1);
    put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/wrong/cpu.cfs_quota_us", "100000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/wrong/cpu.cfs_period_us", "100000\n");
    assert_int_equal(cf__processors_limit(root, 24), 24);
    put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "250000\n");
    assert_int_equal(cf__processors_limit(root, 24), 24); /* without a period the quota is ignored */
    put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "50000\n");
    assert_int_equal(cf__processors_limit(root, 24), 5);
    put("/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us", "100000\n");
    assert_int_equal(cf__processors_limit(root, 24), 5);
}

TEST_WITH(processors_where_files_make_no_sense_are_all, NULL, clear)
{
    static const char *const texts[] = {
        "", "\n", "max", "0 100000\n", "100000\n", "100000 0\n", "-5 100000\n", "x y\n", "99999999999999999999 1\n"};
    put("/proc/self/cgroup", "0::/a\n");
    put("/proc/self/mountinfo", "\n - \nx - cgroup2\n1 2 - cgroup2 cgroup2 rw\n" MOUNT_2);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put("/sys/fs/cgroup/a/cpu.max", texts[i]);
        assert_int_equal(cf__processors_limit(root, 24), 24);
    }
    put("/sys/fs/cgroup/a/cpu.max", "100000 100000"); /* without a newline at the end */
    assert_int_equal(cf__processors_limit(root, 24), 1);
    static char line[5000] = "0::/";
    memset(line + 4, 'a', sizeof line - 6);
    put("/proc/self/cgroup", line);
    assert_int_equal(cf__processors_limit(root, 24), 24);
}

/* ---- Affinity ---- */

static void bind_to(const cpu_set_t *set)
{
    assert_int_equal(sched_setaffinity(0, sizeof *set, set), 0);
}

/* Returns a set that contains only the first processor. */
static cpu_set_t first_of(const cpu_set_t *set)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, set))
            CPU_SET(i, &one);
    return one;
}

static void assert_found(const struct cf__processor_set *found, const cpu_set_t *set)
{
    assert_int_equal(CPU_COUNT_S(sizeof found->sets, found->sets), CPU_COUNT(set));
    assert_true(CPU_EQUAL(&found->sets[0], set));
}

static int count_threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    int count = 0;
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    assert_int_equal(closedir(folder), 0);
    return count;
}

TEST(processors_of_one_thread_are_at_most_those_it_may_run_on)
{
    struct cf__processor_set found;
    cpu_set_t before, one;
    if (count_threads() > 1)
        skip_test("needs a driver without threads of its own");
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    int all = cf__processors_count(&found);
    assert_in_range(all, 1, CPU_COUNT(&before));
    assert_found(&found, &before);
    one = first_of(&before);
    bind_to(&one);
    assert_int_equal(cf__processors_count(&found), 1);
    assert_found(&found, &one);
    bind_to(&before);
    assert_int_equal(cf__processors_count(&found), all);
}

static void *wait_for_end(void *barrier)
{
    pthread_barrier_wait(barrier);
    return NULL;
}

/* The calling thread is bound to the first processor, as OpenMP does with the threads of a program. */
TEST(processors_of_bound_threads_are_those_of_all)
{
    struct cf__processor_set found;
    cpu_set_t before, one;
    pthread_barrier_t barrier;
    pthread_t other;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    one = first_of(&before);
    if (CPU_COUNT(&before) == 1)
        skip_test("needs two processors");
    int all = cf__processors_count(&found);
    assert_int_equal(pthread_barrier_init(&barrier, NULL, 2), 0);
    assert_int_equal(pthread_create(&other, NULL, wait_for_end, &barrier), 0);
    bind_to(&one);
    int with_other = cf__processors_count(&found);
    bind_to(&before);
    pthread_barrier_wait(&barrier);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(pthread_barrier_destroy(&barrier), 0);
    assert_int_equal(with_other, all);
    assert_found(&found, &before);
}

int main(void)
{
    return run_all_tests(set_up, tear_down);
}
