/* machine.c - provides the constants of the machine, which decide where a call on host arrays runs.
 *
 * cf-tune --machine measures the constants and writes a file, which the library reads once per process. If the file has
 * no constants of this machine, the defaults of <cuferry/tuning.h> apply. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <cuferry.h>
#include <cuferry/tuning.h>

#include "call/machine.h"

#include "base/files.h"
#include "base/env.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/text.h"
#include "threads/pool.h"
#include "driver/driver.h"
#include "cpu/driver_cpu.h"
#include "context/backend.h"
#include "context/enter.h"

#define IDENTITY_BYTES 1024

enum {
#define COUNT(name, usual, threads, least, most) OF_##name,
    CF_MACHINE_LIST(COUNT)
#undef COUNT
        CONSTANTS
};

static const struct {
    const char *name;
    double usual;
    int threads;
    double least, most;
} constants_of[] = {
#define ROW(name, usual, threads, least, most) {#name, usual, threads, least, most},
    CF_MACHINE_LIST(ROW)
#undef ROW
};

/* Returns the address of constant number `i` in the struct, which consists of doubles. */
static double *get_constant(struct cf__machine *machine, int i)
{
    return (double *)(void *)machine + i;
}

static void set_defaults(struct cf__machine *machine)
{
    int threads = cf__pool_size();
    for (int i = 0; i < CONSTANTS; i++)
        *get_constant(machine, i) =
            constants_of[i].usual * (threads < constants_of[i].threads ? threads : constants_of[i].threads);
}

/* ---- The file ---- */

static int write_identity(const struct cf__scope *scope, int device, char text[IDENTITY_BYTES])
{
    CUdevice handle;
    int version = 0;
    char gpu[256] = "", processor[256] = "";
    if (scope->driver->cuDeviceGet(&handle, device) != CUDA_SUCCESS ||
        scope->driver->cuDeviceGetName(gpu, sizeof gpu, handle) != CUDA_SUCCESS ||
        scope->driver->cuDriverGetVersion(&version) != CUDA_SUCCESS ||
        cf__driver_cpu.cuDeviceGetName(processor, sizeof processor, 0) != CUDA_SUCCESS)
        return 0;
    snprintf(text, IDENTITY_BYTES, "gpu %s\ndriver %d\nprocessor %s\nthreads %d\n", gpu, version, processor,
             cf__pool_size());
    return 1;
}

/* Reads a line "NAME NUMBER" and returns its length, or 0 for any other line. Mantissa and exponent are parsed as
 * integers, because strtod() depends on the locale. */
static size_t read_number(const char *line, const char *name, double *number)
{
    size_t length = strlen(name);
    long mantissa, exponent;
    int used = 0;
    if (strncmp(line, name, length) != 0 || line[length] != ' ' ||
        sscanf(line + length + 1, "%3lde%4ld%n", &mantissa, &exponent, &used) != 2)
        return 0;
    length += 1 + (size_t)used;
    *number = (double)mantissa;
    for (; exponent > 0 && *number < 1e20; exponent--)
        *number *= 10;
    for (; exponent < 0 && *number > 1e-20; exponent++)
        *number /= 10;
    return line[length] == '\n' ? length + 1 : 0;
}

/* Returns 1 if a text begins with all constants, each within its limits, and "end". */
static int parse_constants(const char *text, struct cf__machine *machine)
{
    for (int i = 0; i < CONSTANTS; i++) {
        double number = 0;
        size_t line = read_number(text, constants_of[i].name, &number);
        if (!line || !(number >= constants_of[i].least * 0.999 && number <= constants_of[i].most * 1.001))
            return 0;
        *get_constant(machine, i) = number;
        text += line;
    }
    return strncmp(text, "end\n", 4) == 0;
}

/* Returns 1 if a file's text has constants of the machine. Queries the driver only for a text with the right header. */
static int find_constants(const char *text, const struct cf__scope *scope, int device, struct cf__machine *machine)
{
    const size_t header = strlen(CF_MACHINE_HEADER);
    char identity[IDENTITY_BYTES];
    if (strncmp(text, CF_MACHINE_HEADER, header) != 0 || !write_identity(scope, device, identity))
        return 0;
    for (const char *at = text + header; (at = strstr(at, identity)) != NULL; at++)
        if (at[-1] == '\n')
            return parse_constants(at + strlen(identity), machine);
    return 0;
}

/* Returns 1 if the file has constants of the machine; if an existing file has none, logs the reason. */
static int read_file(const struct cf__scope *scope, int device, struct cf__machine *machine)
{
    char path[CF__PATH];
    if (!cf__file_path("CF_MACHINE_FILE", "machine", path))
        return 0;
    char *text = malloc(CF_MACHINE_BYTES + 1);
    ssize_t size = text ? cf__file_read(path, text, CF_MACHINE_BYTES) : -1;
    int error = errno;
    if (size >= 0)
        text[size] = 0;
    int is_found = size >= 0 && find_constants(text, scope, device, machine);
    free(text);
    if (!is_found && (size >= 0 || error != ENOENT || cf__env_file("CF_MACHINE_FILE")))
        cf__log(CF_LOG_INFO, "%s: %s; cf-tune --machine measures them", path,
                size >= 0 ? "it has no constants of this machine, or is damaged" : cf__strerror(error));
    return is_found;
}

/* ---- The constants ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects writes of `known` */
static struct {
    struct cf__machine machine;
    enum cf__constants constants; /* source of the constants, or CF__CONSTANTS_NONE while they are unknown; written
                                   * last; atomic */
} known[CF__MAX_DEVICES];

/* Reads the file without the lock, because reading logs. The thread that finishes first sets the constants. */
static void load_constants(const struct cf__scope *scope, int device)
{
    struct cf__machine machine;
    enum cf__constants constants = CF__CONSTANTS_MEASURED;
    if (!read_file(scope, device, &machine)) {
        set_defaults(&machine);
        constants = CF__CONSTANTS_DEFAULT;
    }
    cf__lock(&lock);
    if (known[device].constants == CF__CONSTANTS_NONE) {
        known[device].machine = machine;
        __atomic_store_n(&known[device].constants, constants, __ATOMIC_RELEASE);
    }
    cf__unlock(&lock);
}

int cf__machine_get(const struct cf__scope *scope, const char *function, struct cf__machine *machine,
                    enum cf__constants *constants)
{
    int device, status = cf__scope_device(scope, function, &device);
    if (status == CF_OK)
        status = cf__pool_ready();
    if (status != CF_OK)
        return status;
    if (device < 0 || device >= CF__MAX_DEVICES) {
        set_defaults(machine);
        *constants = CF__CONSTANTS_DEFAULT;
        return CF_OK;
    }
    if (__atomic_load_n(&known[device].constants, __ATOMIC_ACQUIRE) == CF__CONSTANTS_NONE)
        load_constants(scope, device);
    *machine = known[device].machine;
    *constants = known[device].constants;
    return CF_OK;
}

void cf__machine_forget(void)
{
    cf__lock(&lock);
    memset(known, 0, sizeof known);
    cf__unlock(&lock);
}

void cf__machine_lock(void)
{
    cf__lock(&lock);
}

void cf__machine_unlock(void)
{
    cf__unlock(&lock);
}

/* ---- Public functions ---- */

int cf_machine_path(char *path, size_t size)
{
    return cf__file_copy_path("cf_machine_path", "CF_MACHINE_FILE", "machine", path, size);
}

static int write_scope_identity(const struct cf__scope *scope, char text[IDENTITY_BYTES])
{
    int device, status = cf__scope_device(scope, "cf_machine_identity", &device);
    if (status == CF_OK)
        status = cf__pool_ready();
    if (status != CF_OK)
        return status;
    if (scope->driver->is_cpu)
        return cf__fail(CF_ENOTSUP, "cf_machine_identity: the thread's device is the CPU");
    return write_identity(scope, device, text)
               ? CF_OK
               : cf__fail(CF_ECALL, "cf_machine_identity: the driver does not name device %d", device);
}

int cf_machine_identity(char *text, size_t size)
{
    char identity[IDENTITY_BYTES];
    struct cf__scope scope;
    int status = text ? cf__enter(&scope, "cf_machine_identity", NULL)
                      : cf__fail(CF_EINVAL, "cf_machine_identity: text is NULL");
    if (status != CF_OK)
        return status;
    status = write_scope_identity(&scope, identity);
    cf__leave(&scope);
    if (status != CF_OK)
        return status;
    if (strlen(identity) >= size)
        return cf__fail(CF_EINVAL, "cf_machine_identity: the text has %zu bytes and there is room for %zu",
                        strlen(identity) + 1, size);
    memcpy(text, identity, strlen(identity) + 1);
    return CF_OK;
}
