/* bench_json.h - writes and reads results as JSON; cf-bench.1 has the schema. */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include "bench/bench_result.h"
#include "base/message.h"

/* Writes a complete file, or none. */
int bench_json_write(const char *path, const struct bench_run *run, struct message *message);

/* Reads such a file; the caller frees the results in every case. */
int bench_json_read(const char *path, struct bench_run *run, struct message *message);

#endif
