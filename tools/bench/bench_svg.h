/* bench_svg.h - draws bandwidth over size, with the copy bandwidth as the limit. */
#ifndef BENCH_SVG_H
#define BENCH_SVG_H

#include "bench/bench_result.h"
#include "base/message.h"

/* Writes a complete, self-contained file of SVG 1.1, or none: a line per kernel and variant, a circle (class "point")
 * per result, a bar from quartile to quartile. */
int bench_svg_write(const char *path, const struct bench_run *run, struct message *message);

#endif
