/* bench_json.c - writes results as JSON; cf-bench.1 has the schema. */
#include "bench/bench_json.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/writer.h"
#include "bench/bench_limit.h"

#define FORMAT 2

static const char *const outcomes[] = {"measured", "not run", "failed"};

static void write_text(struct writer *writer, const char *key, const char *text)
{
    writer_text(writer, key, *text ? text : NULL);
}

static void write_statistics(struct writer *writer, const struct bench_statistics *seconds)
{
    writer_begin(writer, "seconds", NULL);
    writer_real(writer, "least", seconds->least);
    writer_real(writer, "lower", seconds->lower);
    writer_real(writer, "median", seconds->median);
    writer_real(writer, "upper", seconds->upper);
    writer_real(writer, "most", seconds->most);
    writer_number(writer, "samples", (int64_t)seconds->count, NULL);
    writer_end(writer);
}

static void write_machine(struct writer *writer, const struct bench_machine *machine)
{
    writer_begin(writer, "machine", NULL);
    write_text(writer, "cuferry", machine->version);
    write_text(writer, "date", machine->date);
    write_text(writer, "system", machine->system);
    write_text(writer, "processor", machine->processor);
    writer_number(writer, "threads", machine->threads, NULL);
    writer_end(writer);
    writer_begin(writer, "device", NULL);
    write_text(writer, "driver", machine->on_cuda ? "cuda" : "host");
    write_text(writer, "cuda", machine->driver);
    writer_number(writer, "number", machine->device, NULL);
    write_text(writer, "name", machine->device_name);
    writer_number(writer, "capability", machine->capability, NULL);
    writer_number(writer, "memory", machine->memory, NULL);
    writer_number(writer, "cache", machine->cache, NULL);
    writer_end(writer);
    writer_begin(writer, "limit", NULL);
    write_text(writer, "access", bench_limit_name(machine->limit.access));
    write_text(writer, "device", machine->device_name);
    writer_real(writer, "threads", machine->on_cuda ? -1 : machine->threads);
    writer_real(writer, "bytes", machine->limit.bytes);
    write_statistics(writer, &machine->limit.seconds);
    writer_real(writer, "bandwidth", bench_bandwidth(machine->limit.bytes, &machine->limit.seconds));
    writer_end(writer);
}

static void write_result(struct writer *writer, const struct bench_machine *machine, const struct bench_result *result)
{
    const double bandwidth = bench_bandwidth(result->bytes, &result->seconds);
    const double limit = bench_bandwidth(machine->limit.bytes, &machine->limit.seconds);
    writer_begin(writer, NULL, NULL);
    write_text(writer, "kernel", result->kernel);
    write_text(writer, "variant", result->variant);
    writer_number(writer, "size", result->size, NULL);
    write_text(writer, "outcome", outcomes[result->outcome]);
    if (result->outcome != BENCH_MEASURED) {
        write_text(writer, "reason", result->reason);
        writer_end(writer);
        return;
    }
    write_text(writer, "values", result->values);
    writer_number(writer, "elements", result->elements, NULL);
    writer_real(writer, "bytes", result->bytes);
    writer_real(writer, "flops", result->flops);
    writer_number(writer, "copies", result->copies, NULL);
    writer_number(writer, "batch", result->batch, NULL);
    writer_truth(writer, "verified", result->is_verified);
    write_statistics(writer, &result->seconds);
    writer_real(writer, "bandwidth", bandwidth);
    writer_real(writer, "fraction", limit > 0 ? bandwidth / limit : -1);
    writer_real(writer, "flops_per_second", result->flops < 0 ? -1 : bench_bandwidth(result->flops, &result->seconds));
    writer_end(writer);
}

int bench_json_write(const char *path, const struct bench_run *run, struct message *message)
{
    struct file_part part = {NULL, 0};
    char *text = NULL;
    struct writer writer = {.file = open_memstream(&text, &part.bytes), .is_json = 1};
    if (!writer.file)
        return message_set(message, "%s: no memory", path);
    writer_begin(&writer, NULL, NULL);
    writer_number(&writer, "cf_bench", FORMAT, NULL);
    write_machine(&writer, &run->machine);
    writer_begin_list(&writer, "results", NULL);
    for (size_t i = 0; i < run->count; i++)
        write_result(&writer, &run->machine, &run->results[i]);
    writer_end_list(&writer);
    writer_end(&writer);
    int status = ferror(writer.file) ? -1 : 0;
    if (fclose(writer.file) != 0 || status != 0) {
        free(text);
        return message_set(message, "%s: no memory", path);
    }
    part.data = text;
    status = file_write(path, &part, 1, message);
    free(text);
    return status;
}
