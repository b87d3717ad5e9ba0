/* bench_machine.h - describes the machine: processor, device, versions, cache, memory. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stddef.h>

#include "bench/bench_result.h"
#include "base/message.h"

/* Describes the thread's device, without measuring its bandwidth. `cache`: bytes of its last-level cache; below 0: ask
 * the device. */
int bench_machine_describe(struct bench_machine *machine, int64_t cache, struct message *message);

/* Stores the bytes of the device's memory that can be allocated now while leaving enough to other programs. */
int bench_machine_available(const struct bench_machine *machine, size_t *available, struct message *message);

/* Returns the bytes of host memory that can be allocated without swapping; SIZE_MAX if unknown. */
size_t bench_machine_host_available(void);

/* Returns the bytes of all last-level caches of this process's CPUs, read from a folder like /sys/devices/system/cpu; 0
 * if unknown. */
int64_t bench_machine_caches(const char *folder);

#endif
