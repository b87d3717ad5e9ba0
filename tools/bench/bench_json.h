/* bench_json.h - results as JSON, to a file and from it; cf-bench.1 has the schema. */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include "bench/bench_result.h"
#include "base/message.h"

/* Writes the file, whole or not at all. */
int bench_json_write(const char *path, const struct bench_run *run, struct message *message);

/* Reads what that wrote; the results are the caller's to free whatever it returns. */
int bench_json_read(const char *path, struct bench_run *run, struct message *message);

#endif
