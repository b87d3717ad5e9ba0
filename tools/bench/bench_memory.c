/* bench_memory.c - the arrays of a timed kernel: several copies, larger than the cache, used in turn. */
#include "bench/bench_memory.h"

#include <stdlib.h>

#include "kernel/argument.h"
#include "base/runtime.h"

/* Alignment of an array in bytes, as cf_mem_alloc() aligns memory. */
#define ALIGNMENT ((size_t)256)

#define TIMES_CACHE 4

/* Byte with which arrays are filled before they are written. */
#define POISON 0x5a

/* Bytes whose transfer on a GPU takes longer than the resolution of events. Kernels that move less are launched several
 * times per sample, each time on another copy if they change their arrays. */
#define SHORT_BYTES ((size_t)64 << 20)
#define SHORT_COPIES ((size_t)64)

/* ---- Layout ---- */

static void lay_out(struct bench_memory *memory)
{
    const cf_kernel *kernel = memory->values->kernel;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        if (!argument_is_array(&kernel->params[i]))
            continue;
        memory->offsets[i] = memory->bytes;
        memory->bytes += (memory->values->arrays[i].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        memory->has_changes |= argument_is_read(&kernel->params[i]) && argument_is_written(&kernel->params[i]);
    }
    if (memory->bytes == 0)
        memory->bytes = ALIGNMENT;
}

/* Chooses the number of copies: several times the cache's size, because a cache keeps parts of data that is only
 * slightly larger. If memory is short, there are fewer, but still more than the cache holds. */
static int count_copies(struct bench_memory *memory, size_t cache, size_t available, struct message *message)
{
    size_t spare = memory->has_changes ? 1 : 0, room = available / memory->bytes;
    size_t least = cache / memory->bytes + 1, wanted = TIMES_CACHE * cache / memory->bytes + 1;
    size_t fitting = SHORT_BYTES / memory->bytes < SHORT_COPIES ? SHORT_BYTES / memory->bytes : SHORT_COPIES;
    if (memory->has_changes && wanted < fitting)
        wanted = fitting;
    if (room < least + spare)
        return message_set(message, "out of memory: %zu copies of its arrays take %.1f MiB, and %.1f MiB are left",
                           least + spare, (double)(least + spare) * (double)memory->bytes / 0x1p20,
                           (double)available / 0x1p20);
    memory->count = room < wanted + spare ? room - spare : wanted;
    return 0;
}

/* ---- Contents ---- */

/* Uploads the first copy array by array, so that the host holds one array at a time. */
static int make_first(const struct bench_memory *memory, struct message *message)
{
    const cf_kernel *kernel = memory->values->kernel;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const struct verify_array *array = &memory->values->arrays[i];
        if (!argument_is_array(&kernel->params[i]) || array->bytes == 0)
            continue;
        void *made = verify_array_make(array, argument_is_read(&kernel->params[i]), POISON, 0);
        if (!made)
            return message_set(message, "out of memory: the host has no %.1f MiB for %s", (double)array->bytes / 0x1p20,
                               kernel->params[i].name);
        int status = cf_mem_copy(memory->base + memory->offsets[i], made, array->bytes);
        free(made);
        if (status != CF_OK)
            return runtime_failure(message);
    }
    return 0;
}

/* Doubles the `done` existing copies until there are `count`. */
static int multiply(const struct bench_memory *memory, cf_stream stream, size_t count, struct message *message)
{
    for (size_t done = 1; done < count;) {
        size_t part = done < count - done ? done : count - done;
        if (cf_mem_copy_async(stream, memory->base + done * memory->bytes, memory->base, part * memory->bytes) != CF_OK)
            return runtime_failure(message);
        done += part;
    }
    return 0;
}

int bench_memory_restore(const struct bench_memory *memory, cf_stream stream, struct message *message)
{
    if (!memory->has_changes)
        return 0;
    if (cf_mem_copy_async(stream, memory->base, memory->base + memory->count * memory->bytes, memory->bytes) != CF_OK)
        return runtime_failure(message);
    return multiply(memory, stream, memory->count, message);
}

static int fill(const struct bench_memory *memory, size_t count, struct message *message)
{
    cf_stream stream;
    if (make_first(memory, message) != 0)
        return -1;
    if (cf_stream_create(&stream) != CF_OK)
        return runtime_failure(message);
    int status = multiply(memory, stream, count, message);
    if (status == 0 && cf_stream_sync(stream) != CF_OK)
        status = runtime_failure(message);
    if (cf_stream_destroy(stream) != CF_OK && status == 0)
        status = runtime_failure(message);
    return status;
}

/* ---- Public functions ---- */

int bench_memory_make(struct bench_memory *memory, const struct verify_values *values, size_t cache, size_t available,
                      struct message *message)
{
    const size_t count = values->kernel->nparams + (size_t)1;
    *memory = (struct bench_memory){.values = values,
                                    .offsets = calloc(count, sizeof *memory->offsets),
                                    .pointers = calloc(count, sizeof *memory->pointers),
                                    .args = calloc(count, sizeof *memory->args)};
    if (!memory->offsets || !memory->pointers || !memory->args)
        return message_set(message, "out of memory");
    lay_out(memory);
    if (count_copies(memory, cache, available, message) != 0)
        return -1;
    size_t copies = memory->count + (memory->has_changes ? 1 : 0);
    void *base = NULL;
    if (cf_mem_alloc(&base, copies * memory->bytes) != CF_OK)
        return message_set(message, "out of memory: %s", cf_last_error());
    memory->base = base;
    bench_memory_take(memory, 0);
    return fill(memory, copies, message);
}

void bench_memory_free(struct bench_memory *memory)
{
    if (cf_mem_free(memory->base) != CF_OK) { /* fails on a lost device, which the launches have reported already */
    }
    free(memory->offsets);
    free(memory->pointers);
    free(memory->args);
}

void bench_memory_take(struct bench_memory *memory, size_t copy)
{
    const cf_kernel *kernel = memory->values->kernel;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        if (argument_is_array(&kernel->params[i])) {
            memory->pointers[i] = memory->base + copy * memory->bytes + memory->offsets[i];
            memory->args[i] = &memory->pointers[i];
        } else {
            memory->args[i] = memory->values->args[i]; /* the value, or NULL for scratch memory */
        }
    }
}
