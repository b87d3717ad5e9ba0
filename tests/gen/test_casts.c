/* test_casts.c - kernels read arrays at any address as wider types, on every device. */
#include "expect_all.h"

#include <sys/mman.h>
#include <unistd.h>

#include "casts_kernels.h"

/* The 16-bit floats 1, 2, ... in turn. */
TEST(packed_loads_see_other_types)
{
    enum { COUNT = 300 };
    static const uint16_t numbers[] = {0x3c00, 0x4000, 0x4200, 0x4400, 0x4500};
    static _Alignas(64) cf_half x[8 * COUNT + 8];
    float sums[COUNT];
    for (int shift = 0; shift < 8; shift++) {
        for (int i = 0; i < 8 * COUNT; i++)
            x[shift + i].bits = numbers[i % 5];
        assert_ok(casts_packed(x + shift, sums, COUNT));
        for (int i = 0; i < COUNT; i++) {
            float sum = 0;
            for (int k = 0; k < 8; k++)
                sum += (float)((8 * i + k) % 5 + 1);
            assert_true(sums[i] == sum);
        }
    }
}

enum { WIDE = 100, PITCH = 8 };

/* Runs the kernel with arrays that begin `shift` elements after an aligned address; the result is in `y`. */
static void run_wide(int shift, int is_launch, float y[PITCH * WIDE])
{
    static _Alignas(64) float x[4 * WIDE + 4], own[PITCH * WIDE + 4];
    static _Alignas(64) cf_half halves[8 * WIDE + 8];
    static _Alignas(64) int index[WIDE + 4];
    for (int i = 0; i < PITCH * WIDE + 4; i++)
        own[i] = (float)(i - shift);
    for (int i = 0; i < 4 * WIDE; i++)
        x[shift + i] = (float)i;
    for (int i = 0; i < 8 * WIDE; i++)
        halves[shift + i].bits = (uint16_t)i;
    for (int i = 0; i < WIDE; i++)
        index[shift + i] = 7 * i;
    if (is_launch)
        assert_ok(casts_wide_async(NULL, x + shift, halves + shift, index + shift, own + shift, PITCH, WIDE));
    else
        assert_ok(casts_wide(x + shift, halves + shift, index + shift, own + shift, PITCH, WIDE));
    memcpy(y, own + shift, PITCH * WIDE * sizeof *y);
    for (int i = 0; i < shift; i++)
        assert_true(own[i] == (float)(i - shift));
}

/* In host memory, the caller's arrays need only the alignment of their elements. */
TEST(arrays_of_any_address_are_read_as_wider_types)
{
    static float aligned[PITCH * WIDE], other[PITCH * WIDE];
    run_wide(0, 0, aligned);
    for (int i = 0; i < WIDE; i++) {
        const float *row = &aligned[PITCH * i], first = (float)(PITCH * i);
        assert_true(row[0] == first + (float)(4 * i) && row[1] == first + 1 + (float)(4 * i + 3 + 8 * i + 7) &&
                    row[2] == first + 2 + (float)(7 * i) && row[3] == first + 3 && row[4] == first + 4);
    }
    for (int shift = 1; shift < 4; shift++) {
        run_wide(shift, 0, other);
        assert_memory_equal(other, aligned, sizeof other);
        if (on_cuda())
            continue;
        run_wide(shift, 1, other);
        assert_memory_equal(other, aligned, sizeof other);
    }
}

/* Also tests an array that is both read and written, and calls that may run on either device. */
TEST(calls_in_place_and_on_either_device_take_any_address)
{
    static _Alignas(64) float both[4 * WIDE + 1];
    static _Alignas(64) cf_half halves[8 * WIDE];
    static const int index[WIDE];
    for (int where = CF_HOST_DATA_AUTO; where <= CF_HOST_DATA_HOST; where++) {
        assert_ok(cf_set_host_data(where));
        for (int i = 0; i < 4 * WIDE; i++)
            both[1 + i] = (float)i;
        assert_ok(casts_wide(both + 1, halves, index, both + 1, 4, WIDE));
        for (int i = 0; i < WIDE; i++)
            assert_true(both[1 + 4 * i] == (float)(8 * i) && both[2 + 4 * i] == (float)(8 * i + 4) &&
                        both[3 + 4 * i] == (float)(4 * i + 2));
    }
    assert_ok(cf_set_host_data(CF_HOST_DATA_AUTO));
}

/* A kernel that itself looks for aligned elements gets the same numbers. */
TEST(kernels_may_align_by_hand)
{
    static _Alignas(64) float x[107];
    for (int i = 0; i < 107; i++)
        x[i] = (float)i;
    for (int shift = 0; shift < 4; shift++) {
        float sum;
        assert_ok(casts_peeled(x + shift, &sum, 100));
        assert_true(sum == (float)(4950 + 100 * shift));
    }
}

/* A graph contains the addresses, and copies nothing when it is launched. */
TEST(graphs_on_the_cpu_refuse_misaligned_arrays)
{
    static _Alignas(64) float x[101], sum;
    static const char text[] = "is not aligned to the 16 bytes of a type to which the kernel casts pointers";
    cf_stream stream;
    cf_graph graph;
    cf_graph_exec exec;
    cf_graph_node node;
    need_cpu();
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_stream_capture_begin(stream));
    assert_fails(casts_peeled_async(stream, x + 1, &sum, 100), CF_EINVAL, text);
    assert_fails(casts_peeled_async(stream, x + 1, &sum, 100), CF_EINVAL, "casts_peeled_async: x = 0x");
    assert_ok(casts_peeled_async(stream, x + 1, &sum, 0));
    assert_ok(casts_peeled_async(stream, x, &sum, 100));
    assert_ok(cf_stream_capture_node(stream, &node));
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    const float *misaligned = x + 1;
    float *result = &sum;
    const int n = 100;
    assert_fails(cf_graph_update(exec, node, cf_kernel_find(&casts_registry, "peeled"),
                                 (void *const[]){&misaligned, &result, (void *)(uintptr_t)&n}),
                 CF_EINVAL, text);
    assert_ok(cf_graph_launch(exec, stream));
    assert_ok(cf_stream_sync(stream));
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_stream_destroy(stream));
}

/* A descriptor states the alignment only for arrays of types that the kernel casts from. */
TEST(descriptors_name_the_alignment_of_casts)
{
    const cf_kernel *wide = cf_kernel_find(&casts_registry, "wide");
    const cf_kernel *narrow = cf_kernel_find(&casts_registry, "narrow");
    const cf_kernel *packed = cf_kernel_find(&casts_registry, "packed");
    assert_int_equal(wide->params[0].cpu_align, 16);
    assert_int_equal(wide->params[1].cpu_align, 16);
    assert_int_equal(wide->params[3].cpu_align, 16);
    assert_int_equal(wide->params[4].cpu_align, 0);
    assert_int_equal(packed->params[0].cpu_align, 16);
    assert_int_equal(packed->params[1].cpu_align, 0);
    for (uint32_t i = 0; i < narrow->nparams; i++)
        assert_int_equal(narrow->params[i].cpu_align, 0);
    const cf_kernel *colours = cf_kernel_find(&casts_registry, "colours");
    assert_int_equal(colours->params[0].cpu_align, 0);
    assert_int_equal(cf_kernel_find(&casts_registry, "linked")->params[0].cpu_align, 8);
    static const uint32_t of_widths[] = {32, 64, 16};
    const cf_kernel *widths = cf_kernel_find(&casts_registry, "widths");
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(widths->params[i].cpu_align, of_widths[i]);
    static const uint32_t of_ways[] = {16, 16, 256, 8, 256, 16, 256, 256};
    const cf_kernel *ways = cf_kernel_find(&casts_registry, "ways");
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(ways->params[i].cpu_align, of_ways[i]);
}

/* The addresses of the elements are multiples of their own size only. */
TEST(arrays_are_aligned_for_casts_of_all_spellings)
{
    enum { N = 16 };
    static _Alignas(64) float a[N + 1];
    static _Alignas(64) unsigned char b[N + 1];
    static _Alignas(64) int16_t c[N + 1];
    static _Alignas(64) uint16_t d[N + 1];
    static _Alignas(64) double e[N + 1];
    static _Alignas(64) int f[N + 1], g[2 * N + 1];
    static _Alignas(64) long long h[N + 1];
    double y[8];
    for (int i = 0; i < N; i++) {
        a[i + 1] = e[i + 1] = i;
        c[i + 1] = (int16_t)i;
        f[i + 1] = g[i + 1] = 10 + i;
        h[i + 1] = 20 + i;
    }
    b[1 + 12] = 7;
    d[1 + 3] = 0x4000; /* the upper half of 2.0f */
    assert_ok(casts_ways(a + 1, b + 1, c + 1, (void *)(d + 1), e + 1, f + 1, (void *)(g + 1), h + 1, y, N));
    static const double wanted[] = {3, 7, 7, 2, 0 + 1 + 2 + 3, 13, 13, 21};
    for (int i = 0; i < 8; i++)
        assert_true(y[i] == wanted[i]);
}

TEST(rows_of_two_shapes_at_one_address_are_copied_each)
{
    static _Alignas(64) float x[16];
    float sums[2], wanted[2] = {0, 0};
    for (int k = 0; k < 15; k++) {
        x[1 + k] = (float)(1 << k);
        wanted[0] += k < 6 || k >= 9 ? x[1 + k] : 0;
        wanted[1] += k % 4 == 3 ? 0 : x[1 + k];
    }
    assert_ok(casts_shapes(x + 1, x + 1, sums));
    assert_true(sums[0] == wanted[0] && sums[1] == wanted[1]);
}

/* The integers are not copied, so these writes are like writes of another thread. */
TEST(elements_that_a_launch_leaves_are_not_written)
{
    enum { N = 11 };
    static _Alignas(64) int memory[N + 1];
    need_cpu();
    assert_ok(casts_halves_async(NULL, (float *)(void *)(memory + 1), memory + 1, N));
    assert_ok(cf_stream_sync(NULL));
    for (int k = 0; k < N; k++) {
        float value;
        memcpy(&value, &memory[1 + k], sizeof value);
        assert_true(k % 2 ? memory[1 + k] == k : value == (float)k);
    }
}

/* The accessible memory ends right after the last row of an array whose rows are apart. */
TEST(copies_end_with_the_last_row)
{
    enum { ROWS = 3, COUNT = PITCH * (ROWS - 1) + 4 };
    static _Alignas(64) float x[4 * ROWS];
    static _Alignas(64) cf_half halves[8 * ROWS];
    static const int index[ROWS];
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    need_cpu();
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
    float *y = (float *)(void *)(memory + page) - COUNT - 1;
    for (int i = 0; i < 4 * ROWS; i++)
        x[i] = (float)(i + 1);
    assert_ok(casts_wide_async(NULL, x, halves, index, y, PITCH, ROWS));
    for (int i = 0; i < COUNT; i++)
        assert_true(y[i] == (float)(i % PITCH == 0 ? i / 2 + 1 : i % PITCH == 1 ? i / 2 + 4 : 0));
    assert_int_equal(munmap(memory, 2 * page), 0);
}

int main(void)
{
    return run_played(&casts_registry, NULL);
}
