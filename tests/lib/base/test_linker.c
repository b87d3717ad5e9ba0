/* test_linker.c - the dynamic linker's search finds what dlopen() loads. */
#include "run_group.h"

#include <dlfcn.h>
#include <link.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/linker.h"

static int is_same_file(const char *one, const char *other)
{
    struct stat a, b;
    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

TEST(loaded_library_is_found)
{
    char path[CF__PATH];
    struct link_map *map;
    void *library = dlopen("libc.so.6", RTLD_NOW);
    assert_non_null(library);
    assert_int_equal(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
    assert_true(cf__linker_find("libc.so.6", path));
    assert_true(is_same_file(path, map->l_name));
    dlclose(library);
}

/* ldconfig prints the linker's cache, which also lists libraries for other processors. */
#if defined __aarch64__
#define MACHINE "AArch64"
#define KIND 0x0a03
#else
#define MACHINE "x86-64"
#define KIND 0x0303
#endif

TEST(libraries_of_the_cache_are_found)
{
    char line[1024], name[256], file[512], path[CF__PATH];
    int count = 0;
    FILE *list = popen("PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | grep '(libc6," MACHINE ")'", "r");
    assert_non_null(list);
    while (fgets(line, sizeof line, list)) {
        if (sscanf(line, " %255s (%*[^)]) => %511s", name, file) != 2)
            continue;
        if (!cf__linker_find(name, path))
            fail_msg("%s is not found at %s", name, file);
        count++;
    }
    pclose(list);
    if (!count)
        skip_test("needs ldconfig");
}

/* Makes a linker's cache of five entries. Entry `at` names `file`; another entry contains the texts. The header states
 * `count` entries, and the last `cut` bytes are missing. Returns 1 if the search then finds the file. */
static int cache_leads_to(const char *file, int at, uint32_t count, size_t cut)
{
    struct {
        char magic[20];
        uint32_t count, unused[6];
        struct {
            uint32_t kind, name, path, system;
            uint64_t processor;
        } entries[5];
    } cache = {.count = count};
    char path[CF__PATH], place[CF__PATH], *texts = (char *)&cache.entries[!at];
    const uint32_t begin = (uint32_t)(texts - (char *)&cache);
    memcpy(cache.magic, "glibc-ld.so.cache1.1", sizeof cache.magic);
    memcpy(texts, "libm.so.6", sizeof "libm.so.6");
    strcpy(texts + 16, file);
    cache.entries[at].kind = KIND;
    cache.entries[at].name = begin;
    cache.entries[at].path = begin + 16;
    snprintf(place, sizeof place, "%s.cache", file);
    FILE *made = fopen(place, "w");
    int is_made = made && fwrite(&cache, sizeof cache - cut, 1, made) == 1;
    return made && fclose(made) == 0 && is_made && mount(place, "/etc/ld.so.cache", NULL, MS_BIND, NULL) == 0 &&
           cf__linker_find("libm.so.6", path) && strcmp(path, file) == 0;
}

/* Runs in a child process that has its own mounts. Returns 0, or the line of a failure. */
static int find_in_a_cache_of(const char *folder)
{
    char command[2 * CF__PATH], cache[128], expected[128], path[CF__PATH];
    snprintf(cache, sizeof cache, "%s/cache", folder);
    snprintf(expected, sizeof expected, "%s/libm.so.6", folder);
    if (!cf__linker_find("libm.so.6", path))
        return __LINE__;
    snprintf(command, sizeof command,
             "cp -L %s %s && echo %s >%s/list && PATH=$PATH:/sbin:/usr/sbin ldconfig -X -C %s -f %s/list", path, folder,
             folder, folder, cache, folder);
    if (system(command) != 0)
        return __LINE__;
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(cache, "/etc/ld.so.cache", NULL, MS_BIND, NULL) != 0)
        return 0; /* the process may not mount */
    if (!cf__linker_find("libm.so.6", path) || strcmp(path, expected) != 0)
        return __LINE__;
    if (!cache_leads_to(expected, 0, 1, 0) || !cache_leads_to(expected, 4, 5, 0))
        return __LINE__;
    if (cache_leads_to(expected, 4, 4, 0) || cache_leads_to(expected, 4, UINT32_MAX, 1)) /* damaged caches */
        return __LINE__;
    return 0;
}

TEST(cache_counts_before_the_default_folders)
{
    int status;
    char folder[] = "/tmp/cf_linker_XXXXXX", command[64];
    if (geteuid() != 0)
        skip_test("needs to be run by root");
    assert_non_null(mkdtemp(folder));
    pid_t child = fork_flushed();
    if (child == 0) {
        int line = find_in_a_cache_of(folder);
        if (line)
            fprintf(stderr, "line %d fails\n", line);
        _exit(line != 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(status, 0);
}

TEST(library_that_is_nowhere_is_not_found)
{
    char path[CF__PATH];
    assert_false(cf__linker_find("libcuda.so.none", path));
}

/* Searches the linker's cache many times, in a child process that can allocate little memory. */
TEST(search_gives_its_memory_back)
{
    enum { MORE = 16 << 20 };
    char path[CF__PATH];
    struct stat cache;
    int status;
    skip_in_emulator();
    if (SANITIZED)
        skip_test(NEEDS_NO_SANITIZER);
    if (stat("/etc/ld.so.cache", &cache) != 0 || cache.st_size < 1024)
        skip_test("needs ldconfig");
    pid_t child = fork_flushed();
    if (child == 0) {
        unsigned long pages = 0;
        FILE *file = fopen("/proc/self/statm", "r");
        if (!file || fscanf(file, "%lu", &pages) != 1)
            _exit(2);
        fclose(file);
        const rlim_t most = pages * (rlim_t)sysconf(_SC_PAGESIZE) + MORE;
        if (setrlimit(RLIMIT_AS, &(struct rlimit){most, most}) != 0)
            _exit(3);
        for (off_t got = 0; got < 4 * MORE; got += cache.st_size)
            if (cf__linker_find("libcuda.so.none", path) != 0)
                _exit(4);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

enum { SEGMENTS = 3 };

/* Makes a file whose headers describe segments that begin after the headers, by types and sizes; the file states that
 * `count` of them belong to it. Returns 1 if the library calls it truncated when it has `bytes` bytes after the
 * headers. */
static int is_cut_off(int count, const unsigned int segments[SEGMENTS][2], size_t bytes)
{
    struct {
        ElfW(Ehdr) head;
        ElfW(Phdr) segments[SEGMENTS];
        char rest[64];
    } file = {.head = {.e_phoff = sizeof file.head, .e_phentsize = sizeof *file.segments}};
    char path[] = "/tmp/cf_linker_XXXXXX";
    const size_t begin = offsetof(__typeof__(file), rest);
    memcpy(file.head.e_ident, ELFMAG, SELFMAG);
    file.head.e_phnum = (unsigned short)count;
    for (int i = 0; i < SEGMENTS; i++) {
        file.segments[i].p_type = segments[i][0];
        file.segments[i].p_offset = begin;
        file.segments[i].p_filesz = segments[i][1];
    }
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, &file, begin + bytes), begin + bytes);
    close(descriptor);
    int result = cf__linker_is_cut_off(path);
    assert_int_equal(unlink(path), 0);
    return result;
}

TEST(file_that_ends_before_a_segment_is_cut_off)
{
    static const unsigned int first[][2] = {{PT_LOAD, 20}, {PT_NOTE, 4}, {PT_NOTE, 4}},
                              last[][2] = {{PT_NOTE, 4}, {PT_LOAD, 8}, {PT_LOAD, 20}},
                              note[][2] = {{PT_NOTE, 20}, {PT_LOAD, 8}, {PT_LOAD, 8}};
    assert_int_equal(is_cut_off(3, first, 19), 1);
    assert_int_equal(is_cut_off(1, first, 19), 1);
    assert_int_equal(is_cut_off(3, first, 20), 0);
    assert_int_equal(is_cut_off(3, first, 21), 0);
    assert_int_equal(is_cut_off(3, last, 19), 1);
    assert_int_equal(is_cut_off(3, last, 20), 0);
    assert_int_equal(is_cut_off(2, last, 19), 0); /* the third header does not belong to the file */
    assert_int_equal(is_cut_off(3, note, 8), 0);  /* a note segment is not loaded */
}

TEST(file_that_is_no_library_is_not_cut_off)
{
    char path[] = "/tmp/cf_linker_XXXXXX";
    ElfW(Ehdr) head = {.e_phoff = sizeof head, .e_phnum = 1, .e_phentsize = sizeof(ElfW(Phdr))};
    const ElfW(Phdr) segment = {.p_type = PT_LOAD, .p_filesz = 4096};
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, &segment, sizeof segment, sizeof head), sizeof segment);
    assert_int_equal(pwrite(file, &head, sizeof head, 0), sizeof head);
    assert_int_equal(cf__linker_is_cut_off(path), 0);
    memcpy(head.e_ident, ELFMAG, SELFMAG);
    assert_int_equal(pwrite(file, &head, sizeof head, 0), sizeof head);
    assert_int_equal(cf__linker_is_cut_off(path), 1);
    head.e_phentsize--; /* the size of another class's headers */
    assert_int_equal(pwrite(file, &head, sizeof head, 0), sizeof head);
    assert_int_equal(cf__linker_is_cut_off(path), 0);
    assert_int_equal(ftruncate(file, sizeof head - 1), 0);
    assert_int_equal(cf__linker_is_cut_off(path), 0);
    close(file);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(cf__linker_is_cut_off(path), 0);
}

int main(void)
{
    return run_group("tests", all_tests, test_count, NULL, NULL);
}
