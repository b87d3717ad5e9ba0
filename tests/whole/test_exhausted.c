/* test_exhausted.c - a GPU with no free memory: each call reports that, and the next call that fits works. */
#include "played_gpu.h"

#include <cuferry/kernels.h>

enum { N = 1 << 10, M = 1 << 22 }; /* a source of 16 MiB, larger than the smallest block that fill_memory() tries */

/* ---- Using up the memory ---- */

struct blocks {
    void *memory[256];
    size_t count;
};

#define LARGEST ((size_t)1 << 40)
#define SMALLEST ((size_t)1 << 20)

/* Allocates blocks until even the smallest one is refused. */
static void fill_memory(struct blocks *blocks)
{
    blocks->count = 0;
    for (size_t bytes = LARGEST; bytes >= SMALLEST; bytes /= 2)
        for (;;) {
            void **memory = &blocks->memory[blocks->count];
            char said[64];
            int status = cf_mem_alloc(memory, bytes);
            if (status == CF_OK) {
                assert_true(++blocks->count < sizeof blocks->memory / sizeof *blocks->memory);
                continue;
            }
            snprintf(said, sizeof said, "cf_mem_alloc: %zu bytes", bytes);
            assert_int_equal(status, CF_ENOMEM);
            assert_non_null(strstr(cf_last_error(), said));
            break;
        }
    assert_true(blocks->count > 0);
}

static void free_memory(const struct blocks *blocks)
{
    for (size_t i = 0; i < blocks->count; i++)
        assert_ok(cf_mem_free(blocks->memory[i]));
}

/* ---- The work ---- */

static float source[M], res[N];
static int32_t indices[N];

static void prepare(void)
{
    for (int i = 0; i < M; i++)
        source[i] = (float)i;
    for (int i = 0; i < N; i++)
        indices[i] = (int32_t)((int64_t)i * 65537 % M);
    memset(res, 0xA5, sizeof res);
}

static void assert_gathered(void)
{
    for (int i = 0; i < N; i++)
        assert_true(res[i] == source[indices[i]]);
    memset(res, 0xA5, sizeof res);
}

static void assert_untouched(void)
{
    for (size_t i = 0; i < sizeof res; i++)
        assert_int_equal(((const unsigned char *)res)[i], 0xA5);
}

/* ---- The tests ---- */

static void calls_in_full_memory_are_enomem_and_next_work(void)
{
    void *d_source, *d_index, *d_res;
    struct blocks blocks;
    prepare();
    assert_ok(cf_mem_alloc(&d_source, sizeof source));
    assert_ok(cf_mem_alloc(&d_index, sizeof indices));
    assert_ok(cf_mem_alloc(&d_res, sizeof res));
    assert_ok(cf_mem_copy(d_source, source, sizeof source));
    assert_ok(cf_mem_copy(d_index, indices, sizeof indices));
    assert_ok(cf_gather_f32_i32(d_source, d_index, d_res, N, M));
    for (int round = 0; round < 3; round++) {
        fill_memory(&blocks);

        /* Host arrays need copies in device memory, for which there is no room. */
        assert_int_equal(cf_gather_f32_i32(source, indices, res, N, M), CF_ENOMEM);
        assert_non_null(strstr(cf_last_error(), "cf_gather_f32_i32: "));
        assert_untouched();

        /* Arrays that are in device memory need no further memory. */
        assert_ok(cf_mem_fill(d_res, 0xA5, sizeof res));
        assert_ok(cf_gather_f32_i32_async(NULL, d_source, d_index, d_res, N, M));
        assert_ok(cf_stream_sync(NULL));
        assert_ok(cf_mem_copy(res, d_res, sizeof res));
        assert_gathered();

        free_memory(&blocks);
    }
    /* This comes last, because the library's pool keeps the memory that it gets. */
    assert_ok(cf_gather_f32_i32(source, indices, res, N, M));
    assert_gathered();
    assert_ok(cf_mem_free(d_source));
    assert_ok(cf_mem_free(d_index));
    assert_ok(cf_mem_free(d_res));
    assert_ok(cf_shutdown());
    assert_nothing_alive();
}

FAKE_TEST(full_memory_of_a_small_gpu, "CF_DRIVER=cuda", "CF_HOST_DATA=stage", "FAKE_CUDA=oom=67108864")
{
    calls_in_full_memory_are_enomem_and_next_work();
}

TEST(full_memory_of_a_real_gpu)
{
    char text[16];
    if (!on_cuda() || count_alive(text, sizeof text) >= 0)
        skip_test(NEEDS_GPU);
    calls_in_full_memory_are_enomem_and_next_work();
}

int main(int argc, char *argv[])
{
    setenv("CF_HOST_DATA", "stage", 1); /* otherwise the call might run on the CPU, without GPU memory */
    return run_with_fake(argc, argv, NULL, NULL);
}
