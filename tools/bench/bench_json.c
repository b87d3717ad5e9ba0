/* bench_json.c - writes results as JSON; cf-bench.1 has the schema. */
#include "bench/bench_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "bench/bench_limit.h"

#define FORMAT 2

static const char *const outcomes[] = {"measured", "not run", "failed"};

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
