/* machine.c - the constants of the machine that decide where a call on host arrays runs: measured once and kept in a
 * file.
 *
 * The file is $CF_MACHINE_FILE, else cuferry/machine-<hash> in $XDG_CACHE_HOME or ~/.cache, where the hash is of what
 * the file begins with: GPU, driver, processor and number of threads. A file that begins otherwise, or is damaged, is
 * replaced. Where none can be written nothing is measured, and the usual constants serve: the same call always goes
 * the same way, in this process and the next. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cache.h"
#include "internal.h"
#include "trace.h"

#define TEXT_BYTES 2048

enum {
#define COUNT(name, usual, least, most) OF_##name,
    CF__MACHINE_LIST(COUNT)
#undef COUNT
        CONSTANTS
};

static const char *const names[] = {
#define NAME(name, usual, least, most) #name,
    CF__MACHINE_LIST(NAME)
#undef NAME
};
static const double usual_values[] = {
#define USUAL(name, usual, least, most) usual,
    CF__MACHINE_LIST(USUAL)
#undef USUAL
};
static const double least_values[] = {
#define LEAST(name, usual, least, most) least,
    CF__MACHINE_LIST(LEAST)
#undef LEAST
};
static const double most_values[] = {
#define MOST(name, usual, least, most) most,
    CF__MACHINE_LIST(MOST)
#undef MOST
};

/* The same as an array. */
static double *value(struct cf__machine *machine, int i)
{
    return (double *)(void *)machine + i;
}

static int is_latency(int i)
{
    return i == OF_stage_latency || i == OF_pool_latency;
}

void cf__machine_limits(struct cf__machine *slowest, struct cf__machine *fastest)
{
    for (int i = 0; i < CONSTANTS; i++) {
        *value(slowest, i) = is_latency(i) ? most_values[i] : least_values[i];
        *value(fastest, i) = is_latency(i) ? least_values[i] : most_values[i];
    }
}

/* More threads than this share one memory that fewer keep busy. */
#define USUAL_THREADS 12

static void set_usual(struct cf__machine *machine)
{
    int threads = cf__pool_size();
    for (int i = 0; i < CONSTANTS; i++)
        *value(machine, i) = usual_values[i];
    machine->pool_flops *= threads;
    machine->pool_bandwidth *= threads < USUAL_THREADS ? threads : USUAL_THREADS;
    machine->pool_random *= threads < USUAL_THREADS ? threads : USUAL_THREADS;
}

/* ---- The file ---- */

/* What a file's first lines have to be. */
static int describe(const struct cf__place *place, int device, char text[TEXT_BYTES])
{
    CUdevice handle;
    int version = 0;
    char gpu[256] = "", processor[256] = "";
    if (place->driver->cuDeviceGet(&handle, device) != CUDA_SUCCESS ||
        place->driver->cuDeviceGetName(gpu, sizeof gpu, handle) != CUDA_SUCCESS ||
        place->driver->cuDriverGetVersion(&version) != CUDA_SUCCESS ||
        cf__driver_host.cuDeviceGetName(processor, sizeof processor, 0) != CUDA_SUCCESS)
        return 0;
    snprintf(text, TEXT_BYTES, "cuferry machine 1\ngpu %s\ndriver %d\nprocessor %s\nthreads %d\n", gpu, version,
             processor, cf__pool_size());
    return 1;
}

/* The folders of a path that CF_MACHINE_FILE gives are the caller's to make. */
static int find_path(const char *description, char path[CF__PATH], int *is_given)
{
    uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
    for (const char *c = description; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
    const char *file = secure_getenv("CF_MACHINE_FILE");
    char name[32];
    snprintf(name, sizeof name, "machine-%016" PRIx64, hash);
    *is_given = file && *file;
    return cf__cache_path(file, name, path);
}

/* Whether a text is `description` and all constants, each within its limits, and nothing else. */
static int parse(const char *text, const char *description, struct cf__machine *machine)
{
    size_t length = strlen(description);
    if (strncmp(text, description, length) != 0)
        return 0;
    text += length;
    for (int i = 0; i < CONSTANTS; i++) {
        size_t name = strlen(names[i]);
        if (strncmp(text, names[i], name) != 0 || text[name] != ' ')
            return 0;
        /* Mantissa and exponent are integers: what strtod() reads depends on the locale. */
        long mantissa, exponent;
        int used = 0;
        if (sscanf(text + name + 1, "%3lde%4ld%n", &mantissa, &exponent, &used) != 2 ||
            text[name + 1 + (size_t)used] != '\n')
            return 0;
        double number = (double)mantissa;
        for (; exponent > 0 && number < 1e20; exponent--)
            number *= 10;
        for (; exponent < 0 && number > 1e-20; exponent++)
            number /= 10;
        if (!(number >= least_values[i] * 0.999 && number <= most_values[i] * 1.001))
            return 0;
        *value(machine, i) = number;
        text += name + 1 + (size_t)used + 1;
    }
    return strcmp(text, "end\n") == 0;
}

static int read_file(const char *path, const char *description, struct cf__machine *machine)
{
    char text[TEXT_BYTES + 1];
    ssize_t size = cf__cache_read(path, text, TEXT_BYTES);
    if (size <= 0)
        return 0;
    text[size] = 0;
    return parse(text, description, machine);
}

/* Two digits, which other measurements of the machine are likely to give again, as "51e9". */
static size_t write_number(double number, char *text, size_t size)
{
    int exponent = 0;
    for (; number >= 99.5; exponent++)
        number /= 10;
    for (; number < 9.95; exponent--)
        number *= 10;
    return (size_t)snprintf(text, size, "%de%d\n", (int)(number + 0.5), exponent);
}

static size_t write_text(struct cf__machine *machine, const char *description, char text[TEXT_BYTES])
{
    size_t used = (size_t)snprintf(text, TEXT_BYTES, "%s", description);
    for (int i = 0; i < CONSTANTS; i++) {
        used += (size_t)snprintf(text + used, TEXT_BYTES - used, "%s ", names[i]);
        used += write_number(*value(machine, i), text + used, TEXT_BYTES - used);
    }
    return used + (size_t)snprintf(text + used, TEXT_BYTES - used, "end\n");
}

/* Puts the temporary file in its place, whole. Of two processes the first one's stays, and serves both. */
static int put(const char *temporary, const char *path, const char *description, struct cf__machine *machine)
{
    if (link(temporary, path) == 0 || (errno == EEXIST && read_file(path, description, machine))) {
        unlink(temporary);
        return 1;
    }
    return rename(temporary, path) == 0;
}

/* ---- Measuring ---- */

/* More than caches hold. */
#define FLOATS ((size_t)1 << 24)
#define REPEATS 3

struct arrays {
    float *x, *y; /* of FLOATS each, in one piece */
    uint64_t sum; /* so that nothing is left out; atomic */
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void touch(void *data, uint64_t begin, uint64_t end)
{
    struct arrays *arrays = data;
    for (uint64_t i = begin; i < end; i++) {
        arrays->x[i] = 1;
        arrays->y[i] = 2;
    }
}

static void stream(void *data, uint64_t begin, uint64_t end)
{
    struct arrays *arrays = data;
    for (uint64_t i = begin; i < end; i++)
        arrays->y[i] += arrays->x[i] * 0.5F;
}

#define CHAINS 32
#define STEPS 64

static void multiply(void *data, uint64_t begin, uint64_t end)
{
    struct arrays *arrays = data;
    float chains[CHAINS];
    for (int c = 0; c < CHAINS; c++)
        chains[c] = (float)c;
    for (uint64_t i = begin * STEPS; i < end * STEPS; i++)
        for (int c = 0; c < CHAINS; c++)
            chains[c] = chains[c] * 0.999F + 0.5F;
    float sum = 0;
    for (int c = 0; c < CHAINS; c++)
        sum += chains[c];
    __atomic_fetch_add(&arrays->sum, (uint64_t)sum, __ATOMIC_RELAXED);
}

/* Reads elements in no order, none of which tells where the next one is. */
static void hop(void *data, uint64_t begin, uint64_t end)
{
    struct arrays *arrays = data;
    float sum = 0;
    for (uint64_t i = begin; i < end; i++)
        sum += arrays->x[(i * 0x9e3779b97f4a7c15) >> 40];
    __atomic_fetch_add(&arrays->sum, (uint64_t)sum, __ATOMIC_RELAXED);
}

static void rest(void *data, uint64_t begin, uint64_t end)
{
    (void)data, (void)begin, (void)end;
}

/* Pieces of a job a second, at best. */
static double rate(struct arrays *arrays, cf__pool_body *body, uint64_t count, uint64_t chunk)
{
    double best = 1e30;
    for (int i = 0; i < REPEATS; i++) {
        double start = now();
        cf__pool_for(body, arrays, count, chunk);
        double took = now() - start;
        best = took < best ? took : best;
    }
    return (double)count / (best > 0 ? best : 1e-9);
}

/* How long it takes to wake the pool from sleep. */
static double wake(struct arrays *arrays)
{
    double least = 1e30;
    for (int i = 0; i < 2 * REPEATS; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        double start = now();
        cf__pool_for(rest, arrays, (uint64_t)cf__pool_size() * 4, 1);
        double took = now() - start;
        least = took < least ? took : least;
    }
    return least;
}

static void measure_cpu(struct arrays *arrays, struct cf__machine *machine)
{
    enum { PIECES = 1 << 10 };
    const double flops = 2.0 * CHAINS * STEPS, bytes = 3 * sizeof(float);
    uint64_t threads = (uint64_t)cf__pool_size();
    cf__pool_for(touch, arrays, FLOATS, FLOATS / 256);
    machine->pool_latency = wake(arrays);
    machine->pool_bandwidth = bytes * rate(arrays, stream, FLOATS, FLOATS / 256);
    machine->pool_flops = flops * rate(arrays, multiply, PIECES * threads, PIECES / 16);
    machine->pool_random = rate(arrays, hop, threads << 16, 1 << 13);
    machine->thread_bandwidth = bytes * rate(arrays, stream, FLOATS / 16, FLOATS);
    machine->thread_flops = flops * rate(arrays, multiply, PIECES, PIECES);
    machine->thread_random = rate(arrays, hop, 1 << 16, 1 << 16);
}

/* Bytes a second through a set of buffers, at best of some times; 0 where it fails. */
static double link_rate(const struct cf__place *place, struct cf__stage *stage, struct cf__moved *part, int to_host)
{
    double best = 1e30;
    for (int i = 0; i < REPEATS; i++) {
        double start = now();
        if (cf__stage_move(place, stage, "measuring", part, 1, to_host) != CF_OK ||
            place->driver->cuStreamSynchronize(cf__stage_stream(stage)) != CUDA_SUCCESS)
            return 0;
        double took = now() - start;
        best = took < best ? took : best;
    }
    return (double)part->bytes / best;
}

/* How long a little takes there and back. */
static double round_trip(const struct cf__place *place, CUstream own, const struct cf__moved *part)
{
    const struct cf__driver *driver = place->driver;
    enum { BYTES = 1024 };
    double least = 1e30;
    for (int i = 0; i < 2 * REPEATS; i++) {
        double start = now();
        CUdeviceptr here = (uintptr_t)part->host;
        if (driver->cuMemcpyAsync(part->device, here, BYTES, own) != CUDA_SUCCESS ||
            driver->cuStreamSynchronize(own) != CUDA_SUCCESS ||
            driver->cuMemcpyAsync(here, part->device, BYTES, own) != CUDA_SUCCESS ||
            driver->cuStreamSynchronize(own) != CUDA_SUCCESS)
            return 0;
        double took = now() - start;
        least = took < least ? took : least;
    }
    return least;
}

static int measure_link(const struct cf__place *place, struct arrays *arrays, struct cf__machine *machine)
{
    const size_t bytes = 2 * FLOATS * sizeof(float);
    struct cf__stage *stage;
    struct cf__moved part = {
        .name = "memory", .host = (char *)arrays->x, .rows = {.length = bytes, .rows = 1, .slices = 1}, .bytes = bytes};
    if (cf__stage_begin(place, "measuring", &stage) != CF_OK)
        return 0;
    int is_there = place->driver->cuMemAlloc(&part.device, bytes) == CUDA_SUCCESS;
    if (is_there) {
        machine->stage_latency = round_trip(place, cf__stage_stream(stage), &part);
        machine->host_to_device = link_rate(place, stage, &part, 0);
        machine->device_to_host = link_rate(place, stage, &part, 1);
        cf__give_back(place, cf__free_memory, (uintptr_t)part.device);
    }
    cf__stage_end(stage);
    return is_there && machine->stage_latency > 0 && machine->host_to_device > 0 && machine->device_to_host > 0;
}

static int measure(const struct cf__place *place, struct cf__machine *machine)
{
    struct arrays arrays = {.x = NULL};
    void *memory;
    if (posix_memalign(&memory, 4096, 2 * FLOATS * sizeof(float)) != 0)
        return 0;
    arrays.x = memory;
    arrays.y = arrays.x + FLOATS;
    struct cf__error before;
    cf__error_save(&before);
    /* What is measured is not traced, which would take its time. */
    struct cf__context *context;
    struct cf__place untraced = *place;
    untraced.driver = cf__trace_real(place->driver);
    int64_t began = cf__trace_begin();
    measure_cpu(&arrays, machine);
    int is_measured = cf__context(place, "measuring", &context) == CF_OK && measure_link(&untraced, &arrays, machine);
    cf__trace_end(began, "load", "measure the machine", NULL);
    cf__error_restore(&before);
    free(memory);
    for (int i = 0; i < CONSTANTS; i++) {
        double *number = value(machine, i);
        *number = *number > most_values[i] ? most_values[i] : *number > least_values[i] ? *number : least_values[i];
    }
    return is_measured;
}

/* Measures and writes the file, where there can be one. What is used is what was written. */
static int make(const struct cf__place *place, const char *path, int is_given, const char *description,
                struct cf__machine *machine)
{
    char temporary[CF__PATH + 8], text[TEXT_BYTES];
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    int file = mkostemp(temporary, O_CLOEXEC);
    if (file < 0 && !is_given) {
        cf__cache_folders(path);
        snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
        file = mkostemp(temporary, O_CLOEXEC);
    }
    if (file < 0)
        return 0;
    int is_made = measure(place, machine);
    if (is_made) {
        size_t size = write_text(machine, description, text);
        is_made = parse(text, description, machine) && cf__cache_write(file, text, size);
    }
    is_made = close(file) == 0 && is_made;
    if (is_made && put(temporary, path, description, machine))
        return 1;
    unlink(temporary);
    return 0;
}

/* ---- What is known ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of measuring */
static struct {
    struct cf__machine machine;
    enum cf__constants constants; /* CF__CONSTANTS_ANY: not known yet; written last */
} known[CF__MAX_DEVICES];

/* With the lock. */
static void get(const struct cf__place *place, int device)
{
    char description[TEXT_BYTES], path[CF__PATH];
    struct cf__machine *machine = &known[device].machine;
    int is_given, has_path = describe(place, device, description) && find_path(description, path, &is_given),
                  is_measured = 0;
    if (has_path)
        is_measured = read_file(path, description, machine) || make(place, path, is_given, description, machine);
    if (!is_measured)
        set_usual(machine);
    __atomic_store_n(&known[device].constants, is_measured ? CF__CONSTANTS_MEASURED : CF__CONSTANTS_DEFAULT,
                     __ATOMIC_RELEASE);
}

int cf__machine(const struct cf__place *place, const char *function, struct cf__machine *machine,
                enum cf__constants *constants)
{
    int device, status = cf__place_device(place, function, &device);
    if (status == CF_OK)
        status = cf__pool_ready();
    if (status != CF_OK)
        return status;
    if (device < 0 || device >= CF__MAX_DEVICES) {
        set_usual(machine);
        *constants = CF__CONSTANTS_DEFAULT;
        return CF_OK;
    }
    if (__atomic_load_n(&known[device].constants, __ATOMIC_ACQUIRE) == CF__CONSTANTS_ANY) {
        pthread_mutex_lock(&lock);
        if (known[device].constants == CF__CONSTANTS_ANY) {
            int mode = cf__relax(place->driver);
            get(place, device);
            cf__unrelax(place->driver, mode);
        }
        pthread_mutex_unlock(&lock);
    }
    *machine = known[device].machine;
    *constants = known[device].constants;
    return CF_OK;
}

void cf__machine_forget(void)
{
    pthread_mutex_lock(&lock);
    memset(known, 0, sizeof known);
    pthread_mutex_unlock(&lock);
}

void cf__machine_lock(void)
{
    pthread_mutex_lock(&lock);
}

void cf__machine_unlock(void)
{
    pthread_mutex_unlock(&lock);
}
