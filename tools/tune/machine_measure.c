/* machine_measure.c - measures the machine's constants for plain calls on host arrays, and keeps them in a file.
 *
 * The constants predict the times of plain calls and of copies, so that these are timed. */
#include "tune/machine_measure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cuferry.h>
#include <cuferry/kernels.h>
#include <cuferry/tuning.h>

#include "base/file.h"
#include "base/files.h"
#include "base/runtime.h"
#include "bench/bench_timing.h"

/* Number of floats, 256 MiB, which is more than most caches hold; and number of random indices into them. */
#define FLOATS ((int64_t)1 << 26)
#define INDICES ((int64_t)1 << 20)

/* Smallest number of runs per measurement, and smallest time in seconds. */
#define REPEATS 4
#define BUDGET 0.02

/* Numbers of elements of calls whose arrays stay in the cache: a thread runs the first alone, the second wakes the
 * others. */
#define ALONE 4096
#define WAKING ((int64_t)1 << 17)

struct machine {
#define FIELD(name, usual, threads, least, most) double name;
    CF_MACHINE_LIST(FIELD)
#undef FIELD
};

struct memory {
    float *floats, *found;
    int32_t *index;
    void *device;
};

/* ---- Timing ---- */

struct job {
    enum { AXPY, GATHER, COPY_IN, COPY_OUT } work;
    int64_t n;
    long rest; /* pause in nanoseconds before each run, in which the library's threads fall asleep */
};

static int run_job(const struct memory *memory, const struct job *job)
{
    switch (job->work) {
    case AXPY:
        return cf_axpy_f32(0.5F, memory->floats, memory->floats + FLOATS / 2, job->n);
    case GATHER:
        return cf_gather_f32_i32(memory->floats, memory->index, memory->found, job->n, FLOATS);
    case COPY_IN:
        return cf_mem_copy(memory->device, memory->floats, (size_t)job->n * sizeof(float));
    default:
        return cf_mem_copy(memory->floats, memory->device, (size_t)job->n * sizeof(float));
    }
}

/* Stores the seconds of the fastest run. The first run does not count. */
static int measure_job(const struct memory *memory, struct job job, double *least, struct message *message)
{
    double spent = 0;
    *least = 1e30;
    for (int i = 0; i <= REPEATS || spent < BUDGET; i++) {
        nanosleep(&(struct timespec){.tv_nsec = job.rest}, NULL);
        double start = bench_timing_now();
        if (run_job(memory, &job) != CF_OK)
            return runtime_failure(message);
        double took = bench_timing_now() - start;
        spent += took + 1e-9 * (double)(job.rest + 1);
        if (i > 0 && took < *least)
            *least = took > 1e-9 ? took : 1e-9;
    }
    return 0;
}

/* ---- The constants ---- */

/* Measures the thread's GPU. */
static int measure_link(struct memory *memory, struct machine *machine, struct message *message)
{
    const int64_t n = FLOATS / 2;
    double in = 1, out = 1;
    if (cf_mem_alloc(&memory->device, (size_t)n * sizeof(float)) != CF_OK ||
        cf_set_host_data(CF_HOST_DATA_STAGE) != CF_OK)
        return runtime_failure(message);
    int status = measure_job(memory, (struct job){COPY_IN, n, 0}, &in, message);
    if (status == 0)
        status = measure_job(memory, (struct job){COPY_OUT, n, 0}, &out, message);
    if (status == 0)
        status = measure_job(memory, (struct job){AXPY, 1, 0}, &machine->stage_latency, message);
    machine->host_to_device = (double)n * sizeof(float) / in;
    machine->device_to_host = (double)n * sizeof(float) / out;
    if (cf_mem_free(memory->device) != CF_OK && status == 0)
        status = runtime_failure(message);
    return status;
}

/* Measures the library's threads on the CPU: bytes and random accesses per second. */
static int measure_memory(const struct memory *memory, double *bandwidth, double *accesses, struct message *message)
{
    double stream = 1, hop = 1;
    if (cf_device_use(CF_HOST) != CF_OK)
        return runtime_failure(message);
    int status = measure_job(memory, (struct job){AXPY, FLOATS / 2, 0}, &stream, message);
    if (status == 0)
        status = measure_job(memory, (struct job){GATHER, INDICES, 0}, &hop, message);
    *bandwidth = (double)FLOATS / 2 * 3 * sizeof(float) / stream;
    *accesses = (double)INDICES / hop;
    return status;
}

/* Measures the library's threads as they are, on the CPU that measure_memory() has chosen. */
static int measure_pool(const struct memory *memory, int64_t threads, struct machine *machine, struct message *message)
{
    double alone = 1, waking = 1;
    int status = measure_memory(memory, &machine->pool_bandwidth, &machine->pool_random, message);
    if (status == 0)
        status = measure_job(memory, (struct job){AXPY, ALONE, 0}, &alone, message);
    if (status == 0)
        status = measure_job(memory, (struct job){AXPY, WAKING, 1000000}, &waking, message);
    machine->thread_flops = 2 * ALONE / alone;
    machine->pool_flops = machine->thread_flops * (double)threads;
    machine->pool_latency = waking - 2 * WAKING / machine->pool_flops;
    return status;
}

/* Restarts the library for each number of threads; the environment is restored at the end. */
static int measure_cpu(const struct memory *memory, int64_t threads, struct machine *machine, struct message *message)
{
    const char *asked = getenv("CF_THREADS");
    char *before = asked ? strdup(asked) : NULL;
    int status = measure_pool(memory, threads, machine, message);
    if (status == 0 && (cf_shutdown() != CF_OK || setenv("CF_THREADS", "1", 1) != 0))
        status = runtime_failure(message);
    if (status == 0)
        status = measure_memory(memory, &machine->thread_bandwidth, &machine->thread_random, message);
    if (before)
        (void)setenv("CF_THREADS", before, 1);
    else
        (void)unsetenv("CF_THREADS");
    free(before);
    return status;
}

static void clamp_number(double *number, double least, double most)
{
    *number = *number > most ? most : *number > least ? *number : least;
}

static int measure_all(struct memory *memory, struct machine *machine, struct message *message)
{
    int64_t threads;
    if (cf_device_property(CF_HOST, CF_PROPERTY_MULTIPROCESSORS, &threads) != CF_OK)
        return runtime_failure(message);
    for (int64_t i = 0; i < FLOATS; i++)
        memory->floats[i] = 1;
    for (int64_t i = 0; i < INDICES; i++)
        memory->index[i] = (int32_t)(((uint64_t)i + 1) * 0x9e3779b97f4a7c15 >> 38);
    if (measure_link(memory, machine, message) != 0 || measure_cpu(memory, threads, machine, message) != 0)
        return -1;
#define LIMIT(name, usual, threads, least, most) clamp_number(&machine->name, least, most);
    CF_MACHINE_LIST(LIMIT)
#undef LIMIT
    return 0;
}

static int measure_machine(struct machine *machine, struct message *message)
{
    void *floats = NULL;
    struct memory memory = {.found = calloc((size_t)INDICES, sizeof(float)),
                            .index = calloc((size_t)INDICES, sizeof(int32_t))};
    int is_there = posix_memalign(&floats, 4096, (size_t)FLOATS * sizeof(float)) == 0 && memory.found && memory.index;
    memory.floats = floats;
    int status = is_there ? measure_all(&memory, machine, message)
                          : message_set(message, "there is no memory to measure with, 264 MiB");
    free(floats);
    free(memory.found);
    free(memory.index);
    return status;
}

/* ---- The file ---- */

/* Appends a number with two digits, such as "51e9"; with more, measurements of the same machine would differ. */
static void add_number(struct message *text, const char *name, double number)
{
    int exponent = 0;
    for (; number >= 99.5; exponent++)
        number /= 10;
    for (; number < 9.95; exponent--)
        number *= 10;
    message_add(text, "%s %de%d\n", name, (int)(number + 0.5), exponent);
}

/* Reads a file's text, which the caller frees; "" if there is no file. A file of another kind is refused. */
static int read_file(const char *path, char **text, struct message *message)
{
    *text = calloc(1, CF_MACHINE_BYTES + 2);
    if (!*text)
        return message_set(message, "no memory");
    ssize_t size = cf__file_read(path, *text, CF_MACHINE_BYTES + 1);
    if (size < 0 && errno != ENOENT)
        return message_set(message, "%s: %s", path, errno == EINVAL ? "it is no file" : strerror(errno));
    if (size > 0 && strncmp(*text, CF_MACHINE_HEADER, strlen(CF_MACHINE_HEADER)) != 0)
        return message_set(message, "%s does not begin with '%.*s': it is left as it is", path,
                           (int)strlen(CF_MACHINE_HEADER) - 1, CF_MACHINE_HEADER);
    return 0;
}

int machine_find(char *path, size_t size, struct message *message)
{
    char *text = NULL;
    int status = cf_machine_path(path, size) == CF_OK
                     ? read_file(path, &text, message)
                     : message_set(message, "there is no file to write to: %s; --file names one", cf_last_error());
    free(text);
    return status;
}

/* Reduces a file's text to the header and the lines of other machines, or to the header alone if these have become too
 * long. Returns the length. */
static size_t keep_others(char *text, const char *identity)
{
    static const char end[] = "\nend\n";
    const size_t header = strlen(CF_MACHINE_HEADER);
    size_t used = header;
    char *next, *at = *text ? text + header : text;
    for (; (next = strstr(at, end)) != NULL; at = next) {
        next += sizeof end - 1;
        size_t bytes = (size_t)(next - at);
        if (strncmp(at, "gpu ", 4) != 0 || memmem(at, bytes, identity, strlen(identity)))
            continue;
        memmove(text + used, at, bytes);
        used += bytes;
    }
    memcpy(text, CF_MACHINE_HEADER, header);
    return used + sizeof(struct machine_lines) > CF_MACHINE_BYTES ? header : used;
}

/* Replaces the machine's lines in the file. The caller holds the lock. */
static int update_file(const char *path, const struct machine_lines *lines, struct message *message)
{
    char *text;
    int status = read_file(path, &text, message);
    if (status == 0) {
        const struct file_part parts[] = {{text, keep_others(text, lines->identity)},
                                          {lines->identity, strlen(lines->identity)},
                                          {lines->numbers.text, strlen(lines->numbers.text)}};
        status = file_write(path, parts, 3, message);
    }
    free(text);
    return status;
}

int machine_write(const char *path, const struct machine_lines *lines, struct message *message)
{
    char real[PATH_MAX], locked[PATH_MAX + 8];
    (void)umask(077); /* readable by the user only */
    if (!getenv("CF_MACHINE_FILE"))
        cf__file_make_folders(path);
    if (!cf__file_resolve(path, real))
        return message_set(message, "%s: %s", path, strerror(errno));
    snprintf(locked, sizeof locked, "%s.lock", real);
    int file = cf__file_lock(AT_FDCWD, locked);
    if (file < 0)
        return message_set(message, "%s: %s", locked, strerror(errno));
    int status = update_file(path, lines, message);
    (void)unlink(locked);
    (void)close(file);
    return status;
}

/* ---- Public functions ---- */

int machine_is_needed(int *needed, struct message *message)
{
    int device;
    int64_t reaches = 0;
    if (cf_device_current(&device) != CF_OK ||
        (device != CF_HOST && cf_device_property(device, CF_PROPERTY_PAGEABLE_ACCESS, &reaches) != CF_OK))
        return runtime_failure(message);
    *needed = device != CF_HOST && !reaches;
    if (device == CF_HOST)
        printf("calls run on the CPU: nothing needs measuring\n");
    else if (reaches)
        printf("GPU %d reaches all memory: nothing needs measuring\n", device);
    return 0;
}

int machine_measure(struct machine_lines *lines, struct message *message)
{
    struct machine machine;
    if (cf_machine_identity(lines->identity, sizeof lines->identity) != CF_OK)
        return runtime_failure(message);
    int status = measure_machine(&machine, message);
    if (cf_shutdown() != CF_OK && status == 0)
        status = runtime_failure(message);
    if (status != 0)
        return -1;
    lines->numbers.text[0] = 0;
#define ADD(name, usual, threads, least, most) add_number(&lines->numbers, #name, machine.name);
    CF_MACHINE_LIST(ADD)
#undef ADD
    message_add(&lines->numbers, "end\n");
    return 0;
}
