/* bench_json.c - writes and reads results as JSON; cf-bench.1 has the schema. */
#include "bench/bench_json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "bench/bench_limit.h"

#define FORMAT 2
#define LARGEST_FILE ((size_t)1 << 28)

static const char *const outcomes[] = {"measured", "not run", "failed"};

/* ---- Writing ---- */

static void write_text(FILE *file, const char *key, const char *text)
{
    fprintf(file, "\"%s\": ", key);
    if (*text)
        json_write_string(file, text);
    else
        fprintf(file, "null");
}

static void write_real(FILE *file, const char *key, double value)
{
    if (isfinite(value) && value >= 0)
        fprintf(file, "\"%s\": %.17g", key, value);
    else
        fprintf(file, "\"%s\": null", key);
}

static void write_statistics(FILE *file, const struct bench_statistics *seconds)
{
    fprintf(file, "\"seconds\": {\"least\": %.17g, \"lower\": %.17g, \"median\": %.17g, \"upper\": %.17g, ",
            seconds->least, seconds->lower, seconds->median, seconds->upper);
    fprintf(file, "\"most\": %.17g, \"samples\": %zu}", seconds->most, seconds->count);
}

static void write_machine(FILE *file, const struct bench_machine *machine)
{
    fprintf(file, "  \"machine\": {");
    write_text(file, "cuferry", machine->version);
    fprintf(file, ", ");
    write_text(file, "date", machine->date);
    fprintf(file, ", ");
    write_text(file, "system", machine->system);
    fprintf(file, ", ");
    write_text(file, "processor", machine->processor);
    fprintf(file, ", \"threads\": %d},\n", machine->threads);
    fprintf(file, "  \"device\": {\"driver\": \"%s\", ", machine->on_cuda ? "cuda" : "host");
    write_text(file, "cuda", machine->driver);
    fprintf(file, ", \"number\": %d, ", machine->device);
    write_text(file, "name", machine->device_name);
    fprintf(file, ", \"capability\": %" PRId64 ", \"memory\": %" PRId64 ", \"cache\": %" PRId64 "},\n",
            machine->capability, machine->memory, machine->cache);
    fprintf(file, "  \"limit\": {\"access\": \"%s\", ", bench_limit_name(machine->limit.access));
    write_text(file, "device", machine->device_name);
    fprintf(file, ", ");
    write_real(file, "threads", machine->on_cuda ? -1 : machine->threads);
    fprintf(file, ", ");
    write_real(file, "bytes", machine->limit.bytes);
    fprintf(file, ", ");
    write_statistics(file, &machine->limit.seconds);
    fprintf(file, ", ");
    write_real(file, "bandwidth", bench_bandwidth(machine->limit.bytes, &machine->limit.seconds));
    fprintf(file, "},\n");
}

static void write_measured(FILE *file, const struct bench_machine *machine, const struct bench_result *result)
{
    const double bandwidth = bench_bandwidth(result->bytes, &result->seconds);
    const double limit = bench_bandwidth(machine->limit.bytes, &machine->limit.seconds);
    fprintf(file, ", ");
    write_text(file, "values", result->values);
    fprintf(file, ", \"elements\": %" PRId64 ", ", result->elements);
    write_real(file, "bytes", result->bytes);
    fprintf(file, ", ");
    write_real(file, "flops", result->flops);
    fprintf(file, ", \"copies\": %" PRId64 ", \"batch\": %" PRId64 ", \"verified\": %s, ", result->copies,
            result->batch, result->is_verified ? "true" : "false");
    write_statistics(file, &result->seconds);
    fprintf(file, ", ");
    write_real(file, "bandwidth", bandwidth);
    fprintf(file, ", ");
    write_real(file, "fraction", limit > 0 ? bandwidth / limit : -1);
    fprintf(file, ", ");
    write_real(file, "flops_per_second", result->flops < 0 ? -1 : bench_bandwidth(result->flops, &result->seconds));
}

static void write_result(FILE *file, const struct bench_machine *machine, const struct bench_result *result)
{
    fprintf(file, "    {");
    write_text(file, "kernel", result->kernel);
    fprintf(file, ", ");
    write_text(file, "variant", result->variant);
    fprintf(file, ", \"size\": %" PRId64 ", \"outcome\": \"%s\"", result->size, outcomes[result->outcome]);
    if (result->outcome == BENCH_MEASURED) {
        write_measured(file, machine, result);
    } else {
        fprintf(file, ", ");
        write_text(file, "reason", result->reason);
    }
    fprintf(file, "}");
}

int bench_json_write(const char *path, const struct bench_run *run, struct message *message)
{
    struct file_part part = {NULL, 0};
    char *text = NULL;
    FILE *file = open_memstream(&text, &part.bytes);
    if (!file)
        return message_set(message, "%s: no memory", path);
    fprintf(file, "{\n  \"cf_bench\": %d,\n", FORMAT);
    write_machine(file, &run->machine);
    fprintf(file, "  \"results\": [\n");
    for (size_t i = 0; i < run->count; i++) {
        write_result(file, &run->machine, &run->results[i]);
        fprintf(file, "%s\n", i + 1 < run->count ? "," : "");
    }
    fprintf(file, "  ]\n}\n");
    int status = ferror(file) ? -1 : 0;
    if (fclose(file) != 0 || status != 0) {
        free(text);
        return message_set(message, "%s: no memory", path);
    }
    part.data = text;
    status = file_write(path, &part, 1, message);
    free(text);
    return status;
}

/* ---- Reading ---- */

/* Keeps the first error. */
struct source {
    const char *path;
    struct message *message;
    int is_wrong;
};

static void wrong(struct source *source, const char *key, const char *what)
{
    if (!source->is_wrong)
        message_set(source->message, "%s: no result of cf-bench: \"%s\" is not %s", source->path, key, what);
    source->is_wrong = 1;
}

/* Reads a number in [low, high]; `absent` for null. */
static double get_real(struct source *source, const struct json *object, const char *key, double low, double high,
                       double absent)
{
    const struct json *found = json_get(object, key);
    if (found && found->kind == JSON_NUMBER && found->number >= low && found->number <= high)
        return found->number;
    if (!(found && found->kind == JSON_NULL && absent < low))
        wrong(source, key, "a number that it can be");
    return absent;
}

static int64_t get_integer(struct source *source, const struct json *object, const char *key, double low)
{
    return (int64_t)get_real(source, object, key, low, 0x1p62, low);
}

/* Longer texts are cut, as when they were written. */
static void get_text(struct source *source, const struct json *object, const char *key, char *text, size_t size)
{
    const struct json *found = json_get(object, key);
    *text = 0;
    if (found && found->kind == JSON_STRING)
        snprintf(text, size, "%s", found->text);
    else if (!found || found->kind != JSON_NULL)
        wrong(source, key, "a text");
}

static struct bench_statistics get_statistics(struct source *source, const struct json *object)
{
    const struct json *seconds = json_get(object, "seconds");
    return (struct bench_statistics){
        get_real(source, seconds, "least", 0, 1e18, 0),  get_real(source, seconds, "lower", 0, 1e18, 0),
        get_real(source, seconds, "median", 0, 1e18, 0), get_real(source, seconds, "upper", 0, 1e18, 0),
        get_real(source, seconds, "most", 0, 1e18, 0),   (size_t)get_integer(source, seconds, "samples", 1)};
}

static void get_machine(struct source *source, const struct json *root, struct bench_machine *machine)
{
    const struct json *where = json_get(root, "machine"), *device = json_get(root, "device"),
                      *limit = json_get(root, "limit");
    char driver[8], access[8];
    get_text(source, where, "cuferry", machine->version, sizeof machine->version);
    if (json_get(where, "date")) /* older files lack it */
        get_text(source, where, "date", machine->date, sizeof machine->date);
    get_text(source, where, "system", machine->system, sizeof machine->system);
    get_text(source, where, "processor", machine->processor, sizeof machine->processor);
    machine->threads = (int)get_real(source, where, "threads", 0, 1e6, 0);
    get_text(source, device, "driver", driver, sizeof driver);
    machine->on_cuda = strcmp(driver, "cuda") == 0;
    get_text(source, device, "cuda", machine->driver, sizeof machine->driver);
    machine->device = (int)get_real(source, device, "number", -1, 1e6, -2);
    get_text(source, device, "name", machine->device_name, sizeof machine->device_name);
    machine->capability = get_integer(source, device, "capability", 0);
    machine->memory = get_integer(source, device, "memory", 0);
    machine->cache = get_integer(source, device, "cache", 0);
    get_text(source, limit, "access", access, sizeof access);
    int number = 0;
    while (number < BENCH_ACCESSES && strcmp(access, bench_limit_name((enum bench_access)number)) != 0)
        number++;
    if (number == BENCH_ACCESSES)
        wrong(source, "access", "copy, update or read");
    else
        machine->limit.access = (enum bench_access)number;
    machine->limit.bytes = get_real(source, limit, "bytes", 0, 1e18, 0);
    machine->limit.seconds = get_statistics(source, limit);
}

static void get_result(struct source *source, const struct json *object, struct bench_result *result)
{
    char outcome[16];
    get_text(source, object, "kernel", result->kernel, sizeof result->kernel);
    get_text(source, object, "variant", result->variant, sizeof result->variant);
    result->size = get_integer(source, object, "size", 0);
    get_text(source, object, "outcome", outcome, sizeof outcome);
    result->outcome = strcmp(outcome, outcomes[BENCH_MEASURED]) == 0   ? BENCH_MEASURED
                      : strcmp(outcome, outcomes[BENCH_LEFT_OUT]) == 0 ? BENCH_LEFT_OUT
                                                                       : BENCH_FAILED;
    result->flops = -1;
    if (result->outcome == BENCH_FAILED && strcmp(outcome, outcomes[BENCH_FAILED]) != 0)
        wrong(source, "outcome", "measured, not run or failed");
    if (result->outcome != BENCH_MEASURED) {
        get_text(source, object, "reason", result->reason, sizeof result->reason);
        return;
    }
    get_text(source, object, "values", result->values, sizeof result->values);
    result->elements = get_integer(source, object, "elements", 0);
    result->bytes = get_real(source, object, "bytes", 0, 1e18, 0);
    result->flops = get_real(source, object, "flops", 0, 1e24, -1);
    result->copies = get_integer(source, object, "copies", 1);
    result->batch = get_integer(source, object, "batch", 1);
    const struct json *verified = json_get(object, "verified");
    if (!verified || (verified->kind != JSON_TRUE && verified->kind != JSON_FALSE))
        wrong(source, "verified", "true or false");
    result->is_verified = verified && verified->kind == JSON_TRUE;
    result->seconds = get_statistics(source, object);
}

static int get_results(struct source *source, const struct json *results, struct bench_run *run)
{
    size_t count = 0;
    if (!results || results->kind != JSON_ARRAY)
        wrong(source, "results", "an array");
    else
        for (const struct json *item = results->first; item; item = item->next)
            count++;
    run->results = calloc(count + 1, sizeof *run->results);
    if (!run->results)
        return message_set(source->message, "%s: no memory", source->path);
    for (const struct json *item = count ? results->first : NULL; item; item = item->next)
        get_result(source, item, &run->results[run->count++]);
    return source->is_wrong ? -1 : 0;
}

/* The caller frees the text. */
static char *read_file(const char *path, size_t *length, struct message *message)
{
    int fd = file_open(path, message);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    char *text = NULL;
    size_t room = 0, got = 1;
    *length = 0;
    if (!file) {
        if (fd >= 0) {
            message_set(message, "%s: %s", path, strerror(errno));
            (void)close(fd);
        }
        return NULL;
    }
    while (got && *length <= LARGEST_FILE) {
        if (room - *length < 2) {
            room = room ? 2 * room : 1 << 16;
            char *more = realloc(text, room);
            if (!more)
                break;
            text = more;
        }
        got = fread(text + *length, 1, room - *length - 1, file);
        *length += got;
    }
    int error = ferror(file) ? errno : 0;
    (void)fclose(file);
    if (got == 0 && !error) {
        text[*length] = 0;
        return text;
    }
    message_set(message, "%s: %s", path, error ? strerror(error) : "it is too large");
    free(text);
    return NULL;
}

int bench_json_read(const char *path, struct bench_run *run, struct message *message)
{
    size_t length;
    *run = (struct bench_run){.count = 0};
    char *text = read_file(path, &length, message);
    struct json *root = text ? json_read(text, length, path, message) : NULL;
    free(text);
    if (!root)
        return -1;
    struct source source = {path, message, 0};
    if (get_real(&source, root, "cf_bench", 0, 1e9, 0) != FORMAT)
        wrong(&source, "cf_bench", "2, the format that this cf-bench reads");
    get_machine(&source, root, &run->machine);
    int status = get_results(&source, json_get(root, "results"), run);
    json_free(root);
    return status;
}
