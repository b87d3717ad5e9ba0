/* bench_json.h - writes results as JSON; cf-bench.1 has the schema. */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include "bench/bench_result.h"
#include "base/message.h"

/* Writes a complete file, or none. Returns 0, or -1 with a message. */
int bench_json_write(const char *path, const struct bench_run *run, struct message *message);

#endif
