/* launch_cost.c - calls one small kernel many times, for tools/dev/bench-launch, which counts the instructions.
 *
 * usage: peers-launch async|launch|resident|host CALLS
 *
 * async: cf_gather_f32_i32_async(); launch: cf_launch() of the same kernel; resident: the plain call on arrays of the
 * device; host: the plain call on arrays of the host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>
#include <cuferry/kernels.h>
#include <cuferry/registry.h>

/* N is so small that the kernel takes almost no time; BATCH is a number of launches in flight that a stream can
 * hold. */
enum { N = 4, BATCH = 100 };

static void expect(int status)
{
    if (status == CF_OK)
        return;
    fprintf(stderr, "peers-launch: %s\n", cf_last_error());
    exit(EXIT_FAILURE);
}

static void *copy_in(const void *data, size_t bytes)
{
    void *memory;
    expect(cf_mem_alloc(&memory, bytes));
    expect(cf_mem_copy(memory, data, bytes));
    return memory;
}

int main(int argc, char **argv)
{
    static const float source[N] = {0, 1, 2, 3};
    static const int32_t index[N] = {3, 2, 1, 0};
    float res[N] = {0};
    const long calls = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    const char *kind = calls > 0 ? argv[1] : "";
    const int is_async = strcmp(kind, "async") == 0, is_launch = strcmp(kind, "launch") == 0,
              is_resident = strcmp(kind, "resident") == 0;
    if (!is_async && !is_launch && !is_resident && strcmp(kind, "host") != 0) {
        fprintf(stderr, "usage: peers-launch async|launch|resident|host CALLS\n");
        return EXIT_FAILURE;
    }
    const cf_kernel *kernel = cf_kernel_find(&cf_registry, "gather_f32_i32");
    float *own_source = copy_in(source, sizeof source), *own_res = copy_in(res, sizeof res);
    int32_t *own_index = copy_in(index, sizeof index);
    int64_t n = N, m = N;
    void *args[] = {&own_source, &own_index, &own_res, &n, &m};
    for (long i = 1; i <= calls; i++) {
        if (is_async)
            expect(cf_gather_f32_i32_async(NULL, own_source, own_index, own_res, n, m));
        else if (is_launch)
            expect(cf_launch(kernel, NULL, args));
        else if (is_resident)
            expect(cf_gather_f32_i32(own_source, own_index, own_res, n, m));
        else
            expect(cf_gather_f32_i32(source, index, res, n, m));
        if (i % BATCH == 0)
            expect(cf_stream_sync(NULL));
    }
    expect(cf_stream_sync(NULL));
    if (strcmp(kind, "host") != 0)
        expect(cf_mem_copy(res, own_res, sizeof res));
    return res[0] == 3 && res[3] == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
