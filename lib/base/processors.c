/* processors.c - counts the processors that the process may use: the processors in its threads' affinity masks, or
 * fewer if its control groups (a container's, for example) limit its processor time. */
#include <dirent.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/processors.h"

/* Size in bytes of a path or line. Longer ones are truncated or skipped; paths of control groups are far shorter. */
#define LONGEST 1024

/* Opens the file `root`/`folder`/`name`; `folder` is `length` bytes long. */
static FILE *open_below(const char *root, const char *folder, size_t length, const char *name)
{
    char path[LONGEST];
    int used = snprintf(path, sizeof path, "%s%.*s%s", root, (int)length, folder, name);
    return used < (int)sizeof path ? fopen(path, "re") : NULL;
}

/* Reads the next line without its newline, truncated to LONGEST bytes; returns 0 after the last line. */
static int read_line(FILE *file, char line[LONGEST])
{
    if (!fgets(line, LONGEST, file))
        return 0;
    char *end = strchr(line, '\n');
    if (end)
        *end = 0;
    else
        for (int c; (c = getc(file)) != EOF && c != '\n';)
            ;
    return 1;
}

/* ---- Time ---- */

/* Reads a file of one or two numbers. A missing number, or a word such as "max", is read as 0. */
static void read_numbers(const char *root, const char *folder, size_t length, const char *name, long long *first,
                         long long *second)
{
    char line[LONGEST], *end;
    FILE *file = open_below(root, folder, length, name);
    if (!file)
        return;
    if (read_line(file, line)) {
        *first = strtoll(line, &end, 10);
        *second = strtoll(end, NULL, 10);
    }
    fclose(file);
}

/* Lowers `most` to the limit of one group, which is a quota divided by its period, both in microseconds. Version 2 has
 * both in one file, as "200000 100000", or "max 100000" for no limit. */
static void limit_by_group(const char *root, int version, const char *folder, size_t length, int64_t *most)
{
    long long quota = 0, period = 0, none;
    if (version == 2) {
        read_numbers(root, folder, length, "/cpu.max", &quota, &period);
    } else {
        read_numbers(root, folder, length, "/cpu.cfs_quota_us", &quota, &none);
        read_numbers(root, folder, length, "/cpu.cfs_period_us", &period, &none);
    }
    if (quota <= 0 || period <= 0)
        return;
    int64_t processors = quota / period + (quota % period != 0);
    if (processors < *most)
        *most = processors;
}

/* ---- Groups ---- */

/* Returns 1 if a comma-separated list contains the word. */
static int has_word(const char *list, size_t length, const char *word)
{
    size_t wanted = strlen(word);
    for (const char *at = list, *end = list + length; at < end; at++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        size_t size = (size_t)((comma ? comma : end) - at);
        if (size == wanted && memcmp(at, word, wanted) == 0)
            return 1;
        at += size;
    }
    return 0;
}

/* Reads the process's group from /proc/self/cgroup: "0::/a/b" for version 2, "4:cpu,cpuacct:/a/b" for version 1. */
static int find_group(const char *root, int version, char group[LONGEST])
{
    char line[LONGEST];
    FILE *file = open_below(root, "", 0, "/proc/self/cgroup");
    int is_found = 0;
    if (!file)
        return 0;
    while (!is_found && read_line(file, line)) {
        const char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path || path[1] != '/')
            continue;
        size_t length = (size_t)(path - controllers - 1);
        is_found = version == 2 ? length == 0 : has_word(controllers + 1, length, "cpu");
        if (is_found)
            strcpy(group, path + 1);
    }
    fclose(file);
    return is_found;
}

/* Replaces octal escapes, such as "\040" for a blank. */
static void decode_path(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++)
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' && from[2] <= '7' && from[3] >= '0' &&
            from[3] <= '7') {
            *to++ = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
            from += 3;
        } else {
            *to++ = *from;
        }
    *to = 0;
}

/* Reads a line of /proc/self/mountinfo: "31 23 0:28 ROOT FOLDER rw,relatime shared:1 - cgroup2 cgroup2 rw". Writes the
 * mounted group (ROOT) and the folder. Returns 0 unless the line mounts control groups of this version. */
static int read_mount(char *line, int version, char **root, char **folder)
{
    char *fields[5], *rest = NULL, *kind = strstr(line, " - ");
    if (!kind)
        return 0;
    *kind = 0;
    kind = strtok_r(kind + 3, " ", &rest);
    (void)strtok_r(NULL, " ", &rest);
    const char *options = strtok_r(NULL, " ", &rest);
    if (!kind || strcmp(kind, version == 2 ? "cgroup2" : "cgroup") != 0 ||
        (version == 1 && (!options || !has_word(options, strlen(options), "cpu"))))
        return 0;
    for (int i = 0; i < 5; i++)
        if (!(fields[i] = strtok_r(i ? NULL : line, " ", &rest)))
            return 0;
    *root = fields[3];
    *folder = fields[4];
    decode_path(*root);
    decode_path(*folder);
    return 1;
}

/* Lowers `most` to the limits of a group and of its visible ancestors. In a container, the mounted root may be the
 * process's own group; the group's path is then not below `mounted`, and only the root's limit applies. */
static void limit_by_ancestors(const char *root, int version, const char *group, const char *mounted,
                               const char *folder, int64_t *most)
{
    char path[2 * LONGEST]; /* room for the texts of two lines */
    size_t skipped = strcmp(mounted, "/") == 0 ? 0 : strlen(mounted), top = strlen(folder);
    if (strncmp(group, mounted, skipped) != 0 || (group[skipped] != '/' && group[skipped]) || strstr(group, "/.."))
        group = "", skipped = 0;
    size_t end = (size_t)snprintf(path, sizeof path, "%s%s", folder, group + skipped);
    for (;;) {
        limit_by_group(root, version, path, end, most);
        if (end <= top)
            return;
        while (end > top && path[end - 1] != '/')
            end--;
        end -= end > top; /* excludes the trailing slash */
    }
}

int cf__processors_limit(const char *root, int most)
{
    int64_t limited = most;
    for (int version = 1; version <= 2; version++) {
        char group[LONGEST], line[LONGEST], *mounted, *folder;
        if (!find_group(root, version, group))
            continue;
        FILE *file = open_below(root, "", 0, "/proc/self/mountinfo");
        if (!file)
            continue;
        while (read_line(file, line))
            if (read_mount(line, version, &mounted, &folder))
                limit_by_ancestors(root, version, group, mounted, folder, &limited);
        fclose(file);
    }
    return (int)limited;
}

/* ---- Affinity ---- */

/* Adds the processors that the process's threads may run on, and skips threads that end meanwhile. Without /proc only
 * the calling thread's mask counts, which at worst gives too few workers. */
static void add_thread_masks(struct cf__processor_set *cpus)
{
    DIR *tasks = opendir("/proc/self/task");
    for (const struct dirent *task; tasks && (task = readdir(tasks)) != NULL;) {
        struct cf__processor_set own;
        int id = atoi(task->d_name);
        if (id > 0 && sched_getaffinity(id, sizeof own.sets, own.sets) == 0)
            CPU_OR_S(sizeof own.sets, cpus->sets, cpus->sets, own.sets);
    }
    if (tasks)
        closedir(tasks);
}

int cf__processors_count(struct cf__processor_set *cpus)
{
    if (sched_getaffinity(0, sizeof cpus->sets, cpus->sets) != 0)
        CPU_ZERO_S(sizeof cpus->sets, cpus->sets);
    add_thread_masks(cpus);
    int count = CPU_COUNT_S(sizeof cpus->sets, cpus->sets);
    if (!count)
        count = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return cf__processors_limit("", count < 1 ? 1 : count);
}
