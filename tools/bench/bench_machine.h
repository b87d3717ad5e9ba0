/* bench_machine.h - describes the machine: processor, device, versions, cache, memory. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stddef.h>

#include "bench/bench_result.h"
#include "base/message.h"

/* Describes the thread's device, except the limit of its bandwidth. `cache`: bytes of its last cache; below 0: ask the
 * device. */
int bench_machine_describe(struct bench_machine *machine, int64_t cache, struct message *message);

/* Bytes of the device's memory that may be taken now without harm to others. */
int bench_machine_available(const struct bench_machine *machine, size_t *available, struct message *message);

/* Bytes of host memory that may be taken; SIZE_MAX if unknown. */
size_t bench_machine_host_available(void);

/* Bytes of all last-level caches of this process's CPUs, read from a folder like /sys/devices/system/cpu; 0 if
 * unknown. */
int64_t bench_machine_caches(const char *folder);

#endif
