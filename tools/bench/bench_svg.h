/* bench_svg.h - draws bandwidth over size, with the copy bandwidth as the limit. */
#ifndef BENCH_SVG_H
#define BENCH_SVG_H

#include "bench/bench_result.h"
#include "base/message.h"

/* Writes a file of SVG 1.1 that stands alone, whole or not at all: a line for each kernel and variant, a circle (class
 * "point") for each result, a bar from quartile to quartile. */
int bench_svg_write(const char *path, const struct bench_run *run, struct message *message);

#endif
