/* fault_launch.c - the scenes of test_fault.c about kernels and their constants. */
#include "played_gpu.h"

#include <cuferry/registry.h>
#include <cuferry/tuning.h>

#include <unistd.h>

#include "fault_data.h"
#include "fault_kernels_internal.h"
#include "driver/driver.h"
#include "context/drivers.h"

/* Only the last launch writes y, so y has its old values until all launches are enqueued. */
int fault__enqueue_mirror_often(cf_stream on, const float *from, float *to, float *one, float *other, int n)
{
    int status = fault_mirror_async(on, from, one, n);
    if (status == CF_OK)
        status = fault_mirror_async(on, one, other, n);
    return status == CF_OK ? fault_mirror_async(on, other, to, n) : status;
}

/* The CPU's function for turn(), by the annotation host(turn_on_cpu). */
void turn_on_cpu(float *array, int n);
void turn_on_cpu(float *array, int n)
{
    for (int i = 0; i < n / 2; i++) {
        float kept = array[i];
        array[i] = array[n - 1 - i];
        array[n - 1 - i] = kept;
    }
}

/* ---- Kernels ---- */

ACT(axpy, fault_axpy(2, x, y, N))
ACT(pick, fault_pick(x, picked, y, M, N))
ACT(rows, fault_rows(x, y, NX, NY, LD))
ACT(mirror, fault_mirror(x, y, N))
ACT(mirror_often, fault_mirror_often(x, y, N))
PREPARE(axpy_staged, NEED(cf_set_host_data(CF_HOST_DATA_STAGE)); expect_axpy())
PREPARE(pick_staged, NEED(cf_set_host_data(CF_HOST_DATA_STAGE)); expect_pick())
PREPARE(rows_staged, NEED(cf_set_host_data(CF_HOST_DATA_STAGE)); expect_rows())
PREPARE(mirror_staged, NEED(cf_set_host_data(CF_HOST_DATA_STAGE)); expect_mirror())
PREPARE(mirror_on_host, NEED(cf_set_host_data(CF_HOST_DATA_HOST)); expect_mirror())
PREPARE(axpy_on_host, NEED(cf_set_host_data(CF_HOST_DATA_HOST)); expect_axpy())
PREPARE(pick_on_host, NEED(cf_set_host_data(CF_HOST_DATA_HOST)); expect_pick())
PREPARE(axpy_auto, expect_axpy())

PREPARE(axpy_device, expect_axpy(); upload())
ACT(axpy_device, fault_axpy(2, dx, dy, N))
PREPARE(pick_device, expect_pick(); upload())
ACT(pick_device, fault_pick(dx, dpicked, dy, M, N))
ACT(pick_mixed, fault_pick(x, dpicked, dy, M, N))
PREPARE(pick_mixed, NEED(cf_set_host_data(CF_HOST_DATA_STAGE)); expect_pick(); upload())
CLEAN(pick_mixed, destroy_arrays(); clean_host_data())

/* Arrays that are staged through pinned buffers. */
static void prepare_large_axpy(void)
{
    fill_large();
    for (int i = 0; i < LARGE; i++)
        large_new[i] = OLD + 2 * large_x[i];
}

static void prepare_large_pick(void)
{
    fill_large();
    for (int i = 0; i < LARGE; i++)
        large_new[i] = large_x[large_picked[i]];
}
ACT(large_axpy, fault_axpy(2, large_x, large_y, LARGE))
ACT(large_pick, fault_pick(large_x, large_picked, large_y, LARGE, LARGE))

/* A call that copies 8 MiB and is split into chunks, with and without staging buffers. */
enum { SPLIT = 8 * 1024 * 1024 / 12 + 1 };
static float *split_x, *split_y;
static void fill_split(void)
{
    NEED(cf_set_host_data(CF_HOST_DATA_STAGE));
    for (int i = 0; i < SPLIT; i++) {
        split_x[i] = (float)(i % 1009);
        split_y[i] = OLD;
    }
}
static void prepare_split(void)
{
    split_x = malloc(SPLIT * sizeof *split_x);
    split_y = malloc(SPLIT * sizeof *split_y);
    if (!split_x || !split_y)
        fail_msg("no memory for %d elements", SPLIT);
    fill_split();
}
static void prepare_split_pinned(void)
{
    NEED(cf_mem_alloc_pinned((void **)&split_x, SPLIT * sizeof *split_x));
    NEED(cf_mem_alloc_pinned((void **)&split_y, SPLIT * sizeof *split_y));
    fill_split();
}
/* If a chunk failed, chunks that were complete before have been copied back. */
static int is_split_right(int is_done)
{
    for (int i = 0; i < SPLIT; i++)
        if (split_y[i] != OLD + 2 * split_x[i] && (is_done || split_y[i] != OLD))
            return 0;
    return 1;
}
ACT(split, fault_axpy(2, split_x, split_y, SPLIT))
CLEAN(split, free(split_x); free(split_y); clean_host_data())
CLEAN(split_pinned, NEED(cf_mem_free(split_x)); NEED(cf_mem_free(split_y)); clean_host_data())

/* Pinned arrays, which kernels use in place. */
static float *pinned[2];
static void prepare_pinned(void)
{
    expect_axpy();
    for (int i = 0; i < 2; i++)
        NEED(cf_mem_alloc_pinned((void **)&pinned[i], sizeof x));
    memcpy(pinned[0], x, sizeof x);
    memcpy(pinned[1], y, sizeof y);
}
ACT(pinned, fault_axpy(2, pinned[0], pinned[1], N))
RIGHT(pinned, is_array_right(pinned[1], is_done))
CLEAN(pinned, NEED(cf_mem_free(pinned[0])); NEED(cf_mem_free(pinned[1])))

PREPARE(axpy_async, expect_axpy(); upload(); make_stream())
ACT(axpy_async, fault_axpy_async(stream, 2, dx, dy, N))
ACT(axpy_async_default, fault_axpy_async(NULL, 2, dx, dy, N))
PREPARE(mirror_async, expect_mirror(); upload(); make_stream())
ACT(mirror_async, fault_mirror_async(stream, dx, dy, N))
ACT(mirror_often_async, fault_mirror_often_async(stream, dx, dy, N))

/* A launch that needs more scratch memory than all launches of the stream before it. */
enum { GROWN = 5000 };
static void prepare_mirror_grown(void)
{
    expect_mirror();
    upload();
    make_stream();
    NEED(fault_mirror_async(stream, dx, dy, N));
    NEED(cf_mem_alloc(&memory, 2 * GROWN * sizeof *x));
    NEED(cf_mem_fill(memory, 0, 2 * GROWN * sizeof *x));
}
ACT(mirror_grown, fault_mirror_async(stream, memory, (float *)memory + GROWN, GROWN))
CLEAN(mirror_grown, destroy_both(); NEED(cf_mem_free(memory)))

/* Scratch memory in so many streams that the library has to record an event, or to take over the memory of another
 * stream. */
static cf_stream crowd[128];
static int crowd_count;
static void prepare_crowd(int count)
{
    expect_mirror();
    upload();
    for (crowd_count = 0; crowd_count < count; crowd_count++) {
        NEED(cf_stream_create(&crowd[crowd_count]));
        NEED(fault_mirror_async(crowd[crowd_count], dx, dx, 1));
    }
    make_stream();
}
PREPARE(mirror_noisy, prepare_crowd(64))
PREPARE(mirror_crowded, prepare_crowd(128); NEED(cf_device_sync()))
static void clean_crowd(void)
{
    while (crowd_count > 0)
        NEED(cf_stream_destroy(crowd[--crowd_count]));
    destroy_both();
}

PREPARE(mirror_done, prepare_mirror_async(); NEED(fault_mirror_async(stream, dx, dy, N)); NEED(cf_device_sync()))
ACT(mirror_stream_destroy, cf_stream_destroy(stream))
ACT(mirror_trim, cf_mem_trim(0))
CLEAN(mirror_stream_gone, destroy_arrays())

/* A stream that another library has destroyed. */
static void prepare_mirror_left(void)
{
    prepare_mirror_async();
    NEED(fault_mirror_async(NULL, dx, dy, N));
    NEED(fault_mirror_async(stream, dx, dy, N));
    destroy_arrays();
    if (on_cuda())
        NEED(cf__cuda_in_use()->cuStreamDestroy(stream) == CUDA_SUCCESS ? CF_OK : CF_ECALL);
    else
        destroy_stream();
}
ACT(mirror_shutdown, cf_shutdown())
PREPARE(mirror_reset, prepare_mirror_async(); NEED(fault_mirror_async(stream, dx, dy, N)))
ACT(mirror_reset, cf_device_reset(on_cuda() ? 0 : CF_HOST))

static void prepare_weigh_async(void)
{
    fill_host();
    for (int i = 0; i < N; i++)
        expected[i] = 3 * OLD;
    upload();
    make_stream();
    NEED(fault_set_factor(3));
}
ACT(weigh_async, fault_weigh_async(stream, dy, N))

static void prepare_turn_async(void)
{
    fill_host();
    y[0] = OLD;
    upload();
    NEED(cf_mem_copy(dy, x, N * sizeof *x));
    for (int i = 0; i < N; i++)
        expected[i] = x[N - 1 - i];
    make_stream();
}
ACT(turn_async, fault_turn_async(stream, dy, N))
ACT(turn_together_async, fault_turn_together_async(stream, dy, N))
static int is_turn_right(int is_done)
{
    if (is_done)
        return is_device_right(1);
    memcpy(expected, x, N * sizeof *x);
    int is_right = is_device_right(1); /* the array has not changed */
    for (int i = 0; i < N; i++)
        expected[i] = x[N - 1 - i];
    return is_right;
}

/* With CF_CHECK=1, launches check their pointers. */
PREPARE(checked, setenv("CF_CHECK", "1", 1); prepare_axpy_async())
CLEAN(checked, unsetenv("CF_CHECK"); destroy_both())

/* Launches in a stream while it is being captured. */
ACT(mirror_captured, fault_mirror_async(stream, dx, dy, N))
ACT(mirror_often_captured, fault_mirror_often_async(stream, dx, dy, N))
PREPARE(mirror_captured, prepare_capturing(); expect_mirror())

static const cf_kernel *kernel(const char *name)
{
    return cf_kernel_find(&fault_registry, name);
}

static int act_call(void)
{
    float a = 2;
    int n = N;
    void *of_x = x, *of_y = y;
    void *const args[] = {&a, &of_x, &of_y, &n};
    return cf_call(kernel("axpy"), args);
}

static int act_launch(void)
{
    float a = 2;
    int n = N;
    void *const args[] = {&a, &dx, &dy, &n};
    return cf_launch(kernel("axpy"), stream, args);
}
ACT(axpy_late_async, fault_axpy_late_async(stream, 2, dx, dy, N))
ACT(preload, cf_preload(&fault_registry))
ACT(kernel_preload, cf_kernel_preload(kernel("weigh")))
PREPARE(number, number = -77)
ACT(kernel_occupancy, cf_kernel_occupancy(kernel("axpy"), 256, 0, &number))
RIGHT(kernel_occupancy, is_done ? number >= 1 : number == -77)

static int act_evaluate(void)
{
    int n = N;
    void *const args[] = {NULL, NULL, NULL, &n};
    return cf_kernel_evaluate(kernel("axpy"), kernel("axpy")->params[1].extents[0].ops, SIZE_MAX, args, &wide);
}

static int act_section(void)
{
    int n = N;
    void *const args[] = {NULL, NULL, NULL, &n};
    cf_section section;
    int status = cf_kernel_section(kernel("axpy"), 1, args, &section);
    return status == CF_OK && section.count != N ? -100 : status;
}

static int act_evaluate_real(void)
{
    int n = N;
    double real = 0;
    void *const args[] = {NULL, NULL, NULL, &n};
    int status = cf_kernel_evaluate_real(kernel("axpy"), kernel("axpy")->params[1].extents[0].ops, args, &real);
    return status == CF_OK && real != N ? -100 : status;
}

/* The constant must have its old value or its new one. */
static const cf_symbol *factor(void)
{
    return fault_registry.symbols[0];
}
static const float three = 3;
PREPARE(symbol, fill_host(); upload(); make_stream(); NEED(fault_set_factor(1)))
ACT(symbol_set, cf_symbol_set(factor(), &three))
ACT(symbol_set_async, cf_symbol_set_async(stream, factor(), &three))
static int is_symbol_right(int is_done)
{
    NEED(cf_stream_sync(stream));
    NEED(cf_mem_copy(dy, y, sizeof y));
    NEED(fault_weigh_async(stream, dy, N));
    for (int i = 0; i < N; i++)
        expected[i] = 3 * OLD;
    return is_device_right(is_done);
}
PREPARE(symbol_cold, stream = NULL)

/* A file that contains tuning results, to which another result is added. */
static char tuning[64];
static const cf_kernel *chosen;
static int save_tuning(int size_class)
{
    const cf_tuning result = {kernel("add")->variants[1], 0, size_class, 1, 2};
    return cf_tuning_save(tuning, &result, 1);
}

static void prepare_tuning(void)
{
    snprintf(tuning, sizeof tuning, "/tmp/cf_fault_tuning_%ld", (long)getpid());
    (void)unlink(tuning);
    setenv("CF_TUNING", tuning, 1);
    NEED(save_tuning(0));
}

static void clean_tuning(void)
{
    char locked[80];
    snprintf(locked, sizeof locked, "%s.lock", tuning);
    (void)unlink(tuning);
    (void)unlink(locked);
    setenv("CF_TUNING", "", 1);
}
PREPARE(tuned_async, prepare_tuning(); prepare_axpy_async())
CLEAN(tuned_async, clean_tuning(); destroy_both())
ACT(tuned_async, fault_add_async(stream, 2, dx, dy, N))
PREPARE(tuned, prepare_tuning(); prepare_axpy_device())
CLEAN(tuned, clean_tuning(); destroy_arrays())
ACT(tuned, fault_add(2, dx, dy, N))
PREPARE(tuning_variant, prepare_tuning(); chosen = NULL)
ACT(tuning_variant, cf_tuning_variant(kernel("add"), 0, &chosen))
RIGHT(tuning_variant, !is_done || chosen == kernel("add")->variants[0] || chosen == kernel("add")->variants[1])
ACT(tuning_save, save_tuning(1))
static int is_tuning_save_right(int is_done)
{
    char found[512] = "";
    FILE *file = fopen(tuning, "r");
    if (file) {
        found[fread(found, 1, sizeof found - 1, file)] = 0;
        fclose(file);
    }
    return strstr(found, " 2^0 BLOCK=128 ") && !strstr(found, " 2^1 BLOCK=128 ") == !is_done;
}

/* ---- The scenes ---- */

const struct scene launch_scenes[] = {
    {"cf_call", prepare_axpy_staged, act_call, is_host_right, clean_host_data, FRESH},
    {"cf_call host arrays, nothing more", prepare_axpy_staged, act_axpy, is_host_right, clean_host_data, FRESH},
    {"cf_call host arrays, elements checked", prepare_pick_staged, act_pick, is_host_right, clean_host_data, FRESH},
    {"cf_call host arrays, rows", prepare_rows_staged, act_rows, is_host_right, clean_host_data, FRESH},
    {"cf_call host arrays, scratch", prepare_mirror_staged, act_mirror, is_host_right, clean_host_data, FRESH},
    {"cf_call host arrays, an operation", prepare_mirror_staged, act_mirror_often, is_host_right, clean_host_data,
     FRESH},
    {"cf_call host arrays on the CPU, an operation", prepare_mirror_on_host, act_mirror_often, is_host_right,
     clean_host_data, FRESH | ANY},
    {"cf_call host arrays, through buffers", prepare_large_axpy, act_large_axpy, is_large_right, clean_host_data,
     FRESH | ANY},
    {"cf_call host arrays, through buffers, elements checked", prepare_large_pick, act_large_pick, is_large_right,
     clean_host_data, FRESH | ANY},
    {"cf_call host arrays, in chunks", prepare_split, act_split, is_split_right, clean_split, FRESH | ANY | LONG},
    {"cf_call pinned arrays, in chunks", prepare_split_pinned, act_split, is_split_right, clean_split_pinned,
     FRESH | LONG},
    {"cf_call host arrays on the CPU", prepare_axpy_on_host, act_axpy, is_host_right, clean_host_data, FRESH},
    {"cf_call host arrays on the CPU, elements checked", prepare_pick_on_host, act_pick, is_host_right, clean_host_data,
     FRESH},
    {"cf_call host arrays, where it is faster", prepare_axpy_auto, act_axpy, is_host_right, NULL, FRESH},
    {"cf_call device arrays", prepare_axpy_device, act_axpy_device, is_device_right, destroy_arrays, FRESH},
    {"cf_call device arrays, elements checked", prepare_pick_device, act_pick_device, is_device_right, destroy_arrays,
     FRESH},
    {"cf_call arrays of both", prepare_pick_mixed, act_pick_mixed, is_device_right, clean_pick_mixed, FRESH},
    {"cf_call pinned arrays", prepare_pinned, act_pinned, is_pinned_right, clean_pinned, FRESH},
    {"cf_launch", prepare_axpy_async, act_launch, is_device_right, destroy_both, FRESH},
    {"cf_launch by its own function", prepare_axpy_async, act_axpy_async, is_device_right, destroy_both, FRESH},
    {"cf_launch attributes", prepare_axpy_async, act_axpy_late_async, is_device_right, destroy_both, FRESH},
    {"cf_launch default stream", prepare_axpy_async, act_axpy_async_default, is_device_right, destroy_both, FRESH},
    {"cf_launch scratch", prepare_mirror_async, act_mirror_async, is_device_right, destroy_both, FRESH},
    {"cf_launch an operation", prepare_mirror_async, act_mirror_often_async, is_device_right, destroy_both, FRESH},
    {"cf_launch scratch, more of it", prepare_mirror_grown, act_mirror_grown, NULL, clean_mirror_grown, 0},
    {"cf_launch scratch, on one stream of many", prepare_mirror_noisy, act_mirror_async, is_device_right, clean_crowd,
     FRESH | LONG},
    {"cf_launch scratch, on one stream too many", prepare_mirror_crowded, act_mirror_async, is_device_right,
     clean_crowd, FRESH | LONG},
    {"cf_stream_destroy scratch", prepare_mirror_done, act_mirror_stream_destroy, NULL, clean_mirror_stream_gone, 0},
    {"cf_mem_trim scratch", prepare_mirror_done, act_mirror_trim, NULL, destroy_both, 0},
    {"cf_device_reset scratch", prepare_mirror_reset, act_mirror_reset, NULL, NULL, FRESH},
    {"cf_shutdown scratch", prepare_mirror_left, act_mirror_shutdown, NULL, NULL, ANY | LONG},
    {"cf_launch block(auto), constants", prepare_weigh_async, act_weigh_async, is_device_right, destroy_both, FRESH},
    {"cf_launch shared memory", prepare_turn_async, act_turn_async, is_turn_right, destroy_both, FRESH},
    {"cf_launch threads that wait", prepare_turn_async, act_turn_together_async, is_turn_right, destroy_both, FRESH},
    {"cf_launch pointers checked", prepare_checked, act_axpy_async, is_device_right, clean_checked, FRESH},
    {"cf_launch captured", prepare_capturing, act_axpy_async, is_capture_right, clean_capturing, FRESH | CAPTURED},
    {"cf_launch captured, attributes", prepare_capturing, act_axpy_late_async, is_capture_right, clean_capturing,
     FRESH | CAPTURED},
    {"cf_launch captured, scratch", prepare_mirror_captured, act_mirror_captured, is_capture_right, clean_capturing,
     FRESH | CAPTURED},
    {"cf_launch captured, an operation", prepare_mirror_captured, act_mirror_often_captured, is_capture_right,
     clean_capturing, FRESH | CAPTURED | LONG},
    {"cf_launch an operation, traced", prepare_mirror_async, act_mirror_often_async, is_device_right, destroy_both,
     FRESH | TRACED | LONG},
    {"cf_launch traced", prepare_axpy_async, act_launch, is_device_right, destroy_both, FRESH | TRACED},
    {"cf_call traced", prepare_pick_staged, act_pick, is_host_right, clean_host_data, FRESH | TRACED},
    {"cf_launch tuned", prepare_tuned_async, act_tuned_async, is_device_right, clean_tuned_async, FRESH},
    {"cf_call tuned", prepare_tuned, act_tuned, is_device_right, clean_tuned, FRESH},
    {"cf_tuning_variant", prepare_tuning_variant, act_tuning_variant, is_tuning_variant_right, clean_tuning, FRESH},
    {"cf_tuning_save", prepare_tuning, act_tuning_save, is_tuning_save_right, clean_tuning, FRESH},
    {"cf_preload", NULL, act_preload, NULL, NULL, 0},
    {"cf_kernel_preload", NULL, act_kernel_preload, NULL, NULL, 0},
    {"cf_kernel_occupancy", prepare_number, act_kernel_occupancy, is_kernel_occupancy_right, NULL, 0},
    {"cf_kernel_evaluate", NULL, act_evaluate, NULL, NULL, 0},
    {"cf_kernel_section", NULL, act_section, NULL, NULL, 0},
    {"cf_kernel_evaluate_real", NULL, act_evaluate_real, NULL, NULL, 0},
    {"cf_symbol_set", prepare_symbol, act_symbol_set, is_symbol_right, destroy_both, 0},
    {"cf_symbol_set first", prepare_symbol_cold, act_symbol_set, NULL, NULL, 0},
    {"cf_symbol_set_async", prepare_symbol, act_symbol_set_async, is_symbol_right, destroy_both, 0},
};
const int launch_scene_count = sizeof launch_scenes / sizeof *launch_scenes;
