/* cf-info.c - prints the drivers, devices, parts of CUDA, settings and kernels that programs would use here. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuferry.h>
#include <cuferry/find.h>
#include <cuferry/program.h>
#include <cuferry/registry.h>

#include "base/message.h"
#include "data/option.h"
#include "info/diagnosis.h"
#include "info/images.h"
#include "base/writer.h"
#include "kernel/module.h"

static const char help[] =
    "usage: cf-info [--json] [--module FILE]\n"
    "       cf-info --cache [--json] [--clear] [--cap SIZE] [FOLDER]\n"
    "       mpiexec -n 4 cf-info --mpi [--json]\n"
    "\n"
    "Prints the driver, the devices, the parts of CUDA that were found, the environment variables in force, and the\n"
    "kernels with the sizes of their GPU code. If calls run on the CPU, it says why.\n"
    "\n"
    "Options:\n"
    "  --module FILE  the kernels of an object or a shared object made by cfcc, in place of the bundled kernels\n"
    "  --cache        the state of the cache of compiled programs in FOLDER, or in the folder that CF_CACHE names\n"
    "  --clear        remove the programs of the cache first\n"
    "  --cap SIZE     set the bytes that the cache may hold; K, M and G stand for 2^10, 2^20 and 2^30\n"
    "  --mpi          the transport between ranks of a program over MPI, and the device of each rank\n"
    "  --json         print JSON\n"
    "  --help         print this\n"
    "  --version      print the version\n";

struct options {
    int is_help, is_version, is_json, is_cache, is_clear, has_cap, is_mpi;
    uint64_t cap;       /* bytes */
    const char *module; /* file with kernels; NULL: the bundled kernels */
    const char *folder; /* folder of the cache; NULL: that of CF_CACHE */
};

/* ---- Options ---- */

static int read_size(const char *text, uint64_t *size, struct message *message)
{
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (errno || *text < '0' || *text > '9' || end[unit != NULL] || number > UINT64_MAX >> shift)
        return message_set(message, "--cap %s: it is a number of bytes, or one with K, M or G", text);
    *size = (uint64_t)number << shift;
    return 0;
}

static int set_option(void *program, const char *name, char *value, struct message *message)
{
    struct options *options = program;
    if (strcmp(name, "--module") == 0)
        options->module = value;
    else if (strcmp(name, "--cap") == 0)
        return options->has_cap = 1, read_size(value, &options->cap, message);
    else if (strcmp(name, "--cache") == 0)
        options->is_cache = 1;
    else if (strcmp(name, "--clear") == 0)
        options->is_clear = 1;
    else if (strcmp(name, "--mpi") == 0)
        options->is_mpi = 1;
    else if (strcmp(name, "--json") == 0)
        options->is_json = 1;
    else
        *(strcmp(name, "--help") == 0 ? &options->is_help : &options->is_version) = 1;
    return 0;
}

static int add_word(void *program, char *word, struct message *message)
{
    struct options *options = program;
    if (options->folder)
        return message_set(message, "'%s' is one argument too many", word);
    options->folder = word;
    return 0;
}

static int read_options(struct options *options, int argc, char **argv, struct message *message)
{
    static const struct option known[] = {{"--module", "FILE"}, {"--cache", NULL},  {"--clear", NULL},
                                          {"--cap", "SIZE"},    {"--mpi", NULL},    {"--json", NULL},
                                          {"--help", NULL},     {"--version", NULL}};
    static const struct option_reader reader = {known, sizeof known / sizeof *known, set_option, add_word};
    if (option_read(&reader, options, argc, argv, message) != 0)
        return -1;
    if (!options->is_cache && (options->is_clear || options->has_cap || options->folder))
        return message_set(message, "%s%s goes with --cache", options->folder ? "the folder " : "",
                           options->folder     ? options->folder
                           : options->is_clear ? "--clear"
                                               : "--cap");
    if (options->is_cache + options->is_mpi + (options->module != NULL) > 1)
        return message_set(message, "--cache, --module and --mpi exclude each other");
    return 0;
}

/* ---- The cache ---- */

static int show_cache(const struct options *options, struct writer *writer, struct message *message)
{
    const char *folder = options->folder;
    cf_cache_state state;
    char text[64];
    if ((options->is_clear && cf_cache_clear(folder) != CF_OK) ||
        (options->has_cap && cf_cache_cap(folder, options->cap) != CF_OK) || cf_cache_query(folder, &state) != CF_OK)
        return message_set(message, "%s", cf_last_error());
    folder = folder ? folder : getenv("CF_CACHE");
    writer_begin(writer, NULL, "cache");
    writer_text(writer, "folder", folder);
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {{"entries", state.entries},
                   {"bytes", state.bytes},
                   {"cap", state.cap},
                   {"hits", state.hits},
                   {"misses", state.misses}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        snprintf(text, sizeof text, "%" PRIu64, numbers[i].value);
        writer_number(writer, numbers[i].key, (int64_t)numbers[i].value, text);
    }
    writer_end(writer);
    return 0;
}

/* ---- MPI ---- */

/* Executes cf-info-mpi, the program in the same folder that is linked with MPI, in place of this one. */
static int run_mpi(const struct options *options, struct message *message)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof "-mpi");
    if (length <= 0)
        return message_set(message, "--mpi: /proc/self/exe does not tell where cf-info-mpi is");
    memcpy(path + length, "-mpi", sizeof "-mpi");
    char *const arguments[] = {path, options->is_json ? "--json" : NULL, NULL};
    execv(path, arguments);
    if (errno == ENOENT)
        return message_set(message, "--mpi: there is no %s; ./configure --mpicc=mpicc builds it", path);
    return message_set(message, "--mpi: %s: %s", path, strerror(errno));
}

/* ---- Devices ---- */

static void write_driver(struct writer *writer)
{
    const char *library;
    int64_t version = 0;
    char cuda[32], module[256], why[2048];
    int has_version = cf_device_property(0, CF_PROPERTY_DRIVER, &version) == CF_OK;
    diagnosis_kernel_module(module, sizeof module);
    diagnosis_why_no_gpu(why, sizeof why);
    snprintf(cuda, sizeof cuda, "%" PRId64 ".%" PRId64, version / 1000, version % 1000 / 10);
    writer_begin(writer, "driver", "driver");
    writer_text(writer, "cuda", has_version ? cuda : NULL);
    writer_text(writer, "library", cf_find("libcuda", &library) == CF_OK ? library : NULL);
    writer_text(writer, "module", *module ? module : NULL);
    writer_text(writer, "why_cpu", *why ? why : NULL);
    writer_end(writer);
}

static void write_property(struct writer *writer, int device, int property, const char *key, const char *unit)
{
    int64_t value = 0;
    char text[64];
    if (cf_device_property(device, property, &value) != CF_OK)
        return;
    if (property == CF_PROPERTY_MEMORY)
        snprintf(text, sizeof text, "%.1f GiB", (double)value / 1073741824.0);
    else if (property == CF_PROPERTY_CAPABILITY)
        snprintf(text, sizeof text, "%" PRId64 ".%" PRId64, value / 10, value % 10);
    else if (property == CF_PROPERTY_NUMA_NODE && value < 0)
        snprintf(text, sizeof text, "unknown");
    else
        snprintf(text, sizeof text, "%" PRId64 "%s", value, unit);
    writer_number(writer, key, value, text);
}

/* Writes one device. Returns 0, and writes nothing, if there is no such device. */
static int write_device(struct writer *writer, int device)
{
    char name[256], uuid[40] = "", pci[40] = "", heading[32];
    if (cf_device_name(device, name, sizeof name) != CF_OK)
        return 0;
    snprintf(heading, sizeof heading, device == CF_HOST ? "CPU" : "GPU %d", device);
    writer_begin(writer, NULL, heading);
    if (writer->is_json)
        writer_number(writer, "number", device, NULL);
    writer_text(writer, "name", name);
    if (device != CF_HOST) {
        int has_addresses =
            cf_device_uuid(device, uuid, sizeof uuid) == CF_OK && cf_device_pci(device, pci, sizeof pci) == CF_OK;
        writer_text(writer, "uuid", has_addresses ? uuid : NULL);
        writer_text(writer, "pci", has_addresses ? pci : NULL);
        write_property(writer, device, CF_PROPERTY_NUMA_NODE, "numa", "");
        write_property(writer, device, CF_PROPERTY_CAPABILITY, "capability", "");
    }
    write_property(writer, device, CF_PROPERTY_MEMORY, "memory", "");
    write_property(writer, device, CF_PROPERTY_MULTIPROCESSORS, device == CF_HOST ? "threads" : "multiprocessors", "");
    writer_end(writer);
    return 1;
}

static void write_devices(struct writer *writer)
{
    int device = 0;
    writer_begin_list(writer, "devices", NULL);
    while (write_device(writer, device))
        device++;
    (void)write_device(writer, CF_HOST);
    writer_end_list(writer);
}

/* ---- Parts and settings ---- */

static void write_parts(struct writer *writer)
{
    static const char *const names[] = {
#define NAMES(library, header) library, header,
        CF_PART_LIST(NAMES)
#undef NAMES
    };
    writer_begin(writer, "parts", "parts of CUDA");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path;
        int is_found = cf_find(names[i], &path) == CF_OK;
        writer_text(writer, names[i], is_found ? path : writer->is_json ? NULL : "not found");
    }
    writer_end(writer);
}

static void write_environment(struct writer *writer)
{
    static const char *const names[] = {"CF_CACHE",         "CF_CFCC",           "CF_CHECK",
                                        "CF_CUDA_HOME",     "CF_DRIVER",         "CF_HOST_DATA",
                                        "CF_HOST_ORDER",    "CF_MACHINE_FILE",   "CF_MPI_AWARE",
                                        "CF_MPI_TRANSPORT", "CF_THREADS",        "CF_TRACE",
                                        "CF_TUNING",        "CONDA_PREFIX",      "CUDA_HOME",
                                        "CUDA_PATH",        "CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES",
                                        "LD_LIBRARY_PATH",  "VIRTUAL_ENV",       "NVIDIA_VISIBLE_DEVICES"};
    writer_begin(writer, "environment", "environment");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            writer_text(writer, names[i], getenv(names[i]));
    writer_end(writer);
}

static int show_all(const struct options *options, struct writer *writer, struct message *message)
{
    int version = cf_version();
    char text[32];
    const cf_module *module = options->module ? module_open(options->module, message) : &cf_registry;
    if (!module)
        return -1;
    snprintf(text, sizeof text, "%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
    writer_begin(writer, NULL, NULL);
    if (writer->is_json)
        writer_text(writer, "version", text);
    else
        printf("Cuferry %s\n", text);
    write_driver(writer);
    write_devices(writer);
    write_parts(writer);
    write_environment(writer);
    int status = images_write(writer, module, message);
    writer_end(writer);
    return status;
}

static int run(const struct options *options, struct message *message)
{
    struct writer writer = {.file = stdout, .is_json = options->is_json};
    if (options->is_help) {
        fputs(help, stdout);
        return 0;
    }
    if (options->is_version) {
        option_print_version("cf-info");
        return 0;
    }
    if (options->is_mpi)
        return run_mpi(options, message);
    return options->is_cache ? show_cache(options, &writer, message) : show_all(options, &writer, message);
}

int main(int argc, char **argv)
{
    struct options options = {.is_help = 0};
    struct message message = {""};
    int status = read_options(&options, argc, argv, &message);
    if (status == 0)
        status = run(&options, &message);
    if (cf_shutdown() != CF_OK && status == 0)
        status = message_set(&message, "%s", cf_last_error());
    return message_end("cf-info", status, &message);
}
