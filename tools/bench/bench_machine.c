/* bench_machine.c - describes the machine: processor, device, versions, cache, memory. */
#include "bench/bench_machine.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <cuferry.h>

#include "base/runtime.h"

/* Fallback for a cache of unknown size: as large as the largest of today, so that arrays do not fit in it. */
#define UNKNOWN_CACHE ((int64_t)64 << 20)

/* ---- Caches of the processor ---- */

/* Reads the first line of a file below the folder; the line is empty if there is no such file. */
static void read_line(const char *folder, int cpu, int index, const char *name, char line[BENCH_NAME])
{
    char path[512];
    snprintf(path, sizeof path, "%s/cpu%d/cache/index%d/%s", folder, cpu, index, name);
    FILE *file = fopen(path, "re");
    *line = 0;
    if (!file)
        return;
    if (!fgets(line, BENCH_NAME, file))
        *line = 0;
    line[strcspn(line, "\n")] = 0;
    (void)fclose(file);
}

/* Reads a size such as "32768K". Returns bytes. */
static int64_t read_size(const char *text)
{
    char *end;
    long long value = strtoll(text, &end, 10);
    int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    return value > 0 && value < (1LL << 31) ? (int64_t)value << shift : 0;
}

/* Returns the bytes of a CPU's highest-level cache; 0 if unknown. */
static int64_t last_cache(const char *folder, int cpu, char shared[BENCH_NAME])
{
    int64_t size = 0;
    long highest = 0;
    for (int index = 0; index < 16; index++) {
        char level[BENCH_NAME], type[BENCH_NAME], text[BENCH_NAME];
        read_line(folder, cpu, index, "level", level);
        if (!*level)
            break;
        read_line(folder, cpu, index, "type", type);
        if (strtol(level, NULL, 10) <= highest || strcmp(type, "Instruction") == 0)
            continue;
        read_line(folder, cpu, index, "size", text);
        read_line(folder, cpu, index, "shared_cpu_list", shared);
        highest = strtol(level, NULL, 10);
        size = read_size(text);
    }
    return size;
}

int64_t bench_machine_caches(const char *folder)
{
    static char seen[CPU_SETSIZE][BENCH_NAME]; /* lists of CPUs that share a counted cache: each is counted once */
    cpu_set_t set;
    int64_t total = 0;
    int count = 0;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        char shared[BENCH_NAME] = "";
        int64_t size = CPU_ISSET(cpu, &set) ? last_cache(folder, cpu, shared) : 0;
        int is_known = 0;
        for (int i = 0; i < count; i++)
            is_known |= strcmp(seen[i], shared) == 0;
        if (size == 0 || is_known)
            continue;
        memcpy(seen[count++], shared, sizeof shared);
        total += size;
    }
    return total;
}

static int64_t cpu_cache(void)
{
    int64_t cache = bench_machine_caches("/sys/devices/system/cpu");
    if (cache == 0)
        cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return cache > 0 ? cache : UNKNOWN_CACHE;
}

/* ---- Memory ---- */

/* Returns the memory that Linux can provide without swapping: free pages and cached pages of files. */
size_t bench_machine_host_available(void)
{
    FILE *file = fopen("/proc/meminfo", "re");
    char line[BENCH_NAME];
    unsigned long long kib = 0;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
            break;
    if (file)
        (void)fclose(file);
    return kib ? (size_t)kib << 10 : SIZE_MAX;
}

int bench_machine_available(const struct bench_machine *machine, size_t *available, struct message *message)
{
    int64_t free_bytes;
    if (cf_device_property(machine->device, CF_PROPERTY_MEMORY_FREE, &free_bytes) != CF_OK)
        return runtime_failure(message);
    size_t host = machine->on_cuda ? SIZE_MAX : bench_machine_host_available();
    *available = host < SIZE_MAX ? host : (size_t)free_bytes;
    *available -= *available / 8;
    return 0;
}

/* ---- Description ---- */

/* The driver is loaded already if it is used, so that RTLD_NOLOAD finds it. */
static void describe_driver(char text[32])
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    int (*get)(int *) = NULL;
    int version = 0;
    if (driver)
        *(void **)&get = dlsym(driver, "cuDriverGetVersion");
    if (get && get(&version) == 0)
        snprintf(text, 32, "%d.%d", version / 1000, version % 1000 / 10);
    if (driver)
        (void)dlclose(driver);
}

static int ask(int device, int property, int64_t *value, struct message *message)
{
    return cf_device_property(device, property, value) == CF_OK ? 0 : runtime_failure(message);
}

int bench_machine_describe(struct bench_machine *machine, int64_t cache, struct message *message)
{
    struct utsname system;
    struct tm today;
    const time_t now = time(NULL);
    int64_t threads;
    int version = cf_version();
    *machine = (struct bench_machine){.device = CF_HOST};
    snprintf(machine->version, sizeof machine->version, "%d.%d.%d", version / 10000, version / 100 % 100,
             version % 100);
    if (localtime_r(&now, &today))
        (void)strftime(machine->date, sizeof machine->date, "%Y-%m-%d", &today);
    if (uname(&system) == 0)
        snprintf(machine->system, sizeof machine->system, "%.60s %.60s", system.sysname, system.release);
    if (cf_device_current(&machine->device) != CF_OK)
        return runtime_failure(message);
    machine->on_cuda = machine->device != CF_HOST;
    if (cf_device_name(CF_HOST, machine->processor, sizeof machine->processor) != CF_OK ||
        cf_device_name(machine->device, machine->device_name, sizeof machine->device_name) != CF_OK)
        return runtime_failure(message);
    if (ask(CF_HOST, CF_PROPERTY_MULTIPROCESSORS, &threads, message) != 0 ||
        ask(machine->device, CF_PROPERTY_CAPABILITY, &machine->capability, message) != 0 ||
        ask(machine->device, CF_PROPERTY_MEMORY, &machine->memory, message) != 0 ||
        ask(machine->device, CF_PROPERTY_L2_CACHE, &machine->cache, message) != 0)
        return -1;
    machine->threads = (int)threads;
    if (cache >= 0)
        machine->cache = cache;
    else if (!machine->on_cuda)
        machine->cache = cpu_cache();
    else if (machine->cache <= 0)
        machine->cache = UNKNOWN_CACHE;
    if (machine->on_cuda)
        describe_driver(machine->driver);
    return 0;
}
