/* saxpy.c - out = a x + y by a kernel that is compiled at run time. Prints the least time of its launches. */
#include <stdio.h>
#include <stdlib.h>

#include <cuferry/program.h>

static void check(int status)
{
    if (status != CF_OK) {
        fprintf(stderr, "%s\n", cf_last_error());
        exit(1);
    }
}

static const char source[] = "extern \"C\" __global__ void saxpy(float a, float *x, float *y, float *out, size_t n)\n"
                             "{\n    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;\n"
                             "    if (i < n)\n"
                             "        out[i] = a * x[i] + y[i];\n"
                             "}\n";
static const char signature[] = "(float a, in float x[n], in float y[n], out float out[n], size_t n) "
                                "grid(n) block(512)";
static float x[512 * 32768], y[512 * 32768], out[512 * 32768];

int main(void)
{
    const cf_program_options options = {.flags = (const char *const[]){"--fmad=false", NULL}};
    cf_program *program;
    const struct cf_kernel *saxpy;
    cf_stream stream;
    cf_event start, stop;
    void *on_gpu[3];
    float a = 2, least = 1e9f, ms;
    size_t n = sizeof x / sizeof *x;
    void *const args[] = {&a, &on_gpu[0], &on_gpu[1], &on_gpu[2], &n};
    for (size_t i = 0; i < n; i++)
        x[i] = (float)rand() / 1e6f, y[i] = (float)rand() / 1e6f;
    check(cf_program_compile(&program, source, "saxpy.cu", &options));
    check(cf_program_kernel(program, "saxpy", signature, &saxpy));
    check(cf_stream_create(&stream));
    check(cf_event_create(&start));
    check(cf_event_create(&stop));
    for (int i = 0; i < 3; i++)
        check(cf_mem_alloc(&on_gpu[i], sizeof x));
    check(cf_mem_copy_async(stream, on_gpu[0], x, sizeof x));
    check(cf_mem_copy_async(stream, on_gpu[1], y, sizeof y));
    for (int i = 0; i < 21; i++) {
        check(cf_event_record(start, stream));
        check(cf_launch(saxpy, stream, args));
        check(cf_event_record(stop, stream));
        check(cf_event_sync(stop));
        check(cf_event_elapsed(&ms, start, stop));
        least = ms < least ? ms : least;
    }
    check(cf_mem_copy_async(stream, out, on_gpu[2], sizeof out));
    check(cf_stream_sync(stream));
    for (size_t i = 0; i < n; i++)
        if (out[i] != a * x[i] + y[i])
            return fprintf(stderr, "out[%zu] is wrong\n", i), 1;
    return printf("%g ms\n", (double)least) < 0;
}
