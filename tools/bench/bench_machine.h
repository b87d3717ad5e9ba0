/* bench_machine.h - where a benchmark runs: processor, device, versions, cache, memory. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stddef.h>

#include "bench/bench_result.h"
#include "base/message.h"

/* Describes the thread's device, all but its copy bandwidth. `cache`: bytes of its last cache, or below 0: it is asked. */
int bench_machine_describe(struct bench_machine *machine, int64_t cache, struct message *message);

/* Bytes of the device's memory that may be taken now, and none of it is missed then. */
int bench_machine_available(const struct bench_machine *machine, size_t *available, struct message *message);

/* Bytes of the host's memory that may be taken; SIZE_MAX where the system does not tell. */
size_t bench_machine_host_available(void);

/* Bytes of the processor's last caches, all that the CPUs of this process have, from a folder like
 * /sys/devices/system/cpu; 0 where it does not tell. */
int64_t bench_machine_caches(const char *folder);

#endif
