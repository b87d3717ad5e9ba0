/* test_preload.c - after preloading, the first call of a kernel loads nothing. Also tests the number of resident
 * blocks. */
#include "counting_driver.h"
#include "handmade_kernel.h"

#include <cuferry/kernels.h>

#include "driver/driver.h"
#include "context/enter.h"
#include "kernel/tuning_file.h"

/* ---- Kernels made by hand ---- */

static void nothing(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    (void)launch, (void)begin, (void)end;
}

static struct made_image image;
static const cf_param number[] = {VALUE("n", int64_t, CF_I64)};
#define KERNEL(name, ...)                                                     \
    {                                                                         \
        MADE_KERNEL(name, image), .nparams = 1, .params = number, __VA_ARGS__ \
    }
static cf_kernel any_block =
    KERNEL("any_block", .launch = {.grid = {FIXED(100)}, .is_block_auto = 1}, .cpu_body = nothing);
static cf_kernel gpu_alone = KERNEL("gpu_alone", .launch = {.grid = {FIXED(1)}, .block = {FIXED(32)}});
static cf_kernel plain = KERNEL("plain", .launch = {.grid = {FIXED(1)}, .block = {FIXED(32)}}, .cpu_body = nothing);

/* A tuned kernel whose second variant, which is chosen, has no code, and an operation that enqueues it after another
 * kernel. */
static int runs;

static void count_run(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    (void)launch, (void)begin, (void)end;
    runs++;
}

static cf_kernel counted =
    KERNEL("counted", .launch = {.grid = {FIXED(1)}, .block = {FIXED(1)}}, .cpu_body = count_run);
static const cf_constant ways[] = {{"WAY", 1}, {"WAY", 2}};
static cf_kernel first = KERNEL("tuned", .launch = {.grid = {FIXED(1)}, .block = {FIXED(1)}}, .cpu_body = count_run,
                                .nconstants = 1, .constants = ways);
static cf_kernel second =
    KERNEL("tuned", .launch = {.grid = {FIXED(1)}, .block = {FIXED(1)}}, .nconstants = 1, .constants = ways + 1);
static const cf_kernel *const variants[] = {&first, &second};
static char lines[128];
static cf_kernel tuned = KERNEL("tuned", .launch = {.grid = {FIXED(1)}, .block = {FIXED(1)}}, .cpu_body = count_run,
                                .nvariants = 2, .variants = variants, .tuning = lines);

static int enqueue_both(cf_stream stream, void *const args[])
{
    int status = cf_launch(&counted, stream, args);
    return status == CF_OK ? cf_launch(&tuned, stream, args) : status;
}

static const cf_kernel *const used[] = {&counted, &tuned};
static const cf_kernel both = KERNEL("both", .enqueue = enqueue_both, .nuses = 2, .uses = used, .runtime = cf_launch);
static const cf_kernel *kernels[] = {&any_block, &gpu_alone, &plain, &counted, &tuned};
static cf_module module = {.version = CF_REGISTRY_VERSION, .prefix = "made", .count = 5, .kernels = kernels};

static int set_up(void **state)
{
    (void)state;
    checks_mode = not_relaxed = 0;
    kernels[0] = &any_block, kernels[1] = &gpu_alone, kernels[2] = &plain;
    gpu_alone.image = plain.image = &image.image;
    module.version = CF_REGISTRY_VERSION;
    memset(call_counts, 0, sizeof call_counts);
    return 0;
}

static int launch(const cf_kernel *kernel)
{
    int64_t n = 1;
    void *const args[] = {&n};
    return cf_launch(kernel, NULL, args);
}

/* ---- Loading ---- */

TEST_WITH(preload_bundled_leaves_nothing_to_load, set_up, end_library)
{
    assert_ok(cf_preload(&cf_registry));
    for (size_t i = 0; i < cf_registry.count; i++)
        assert_non_null(cf_registry.kernels[i]->state->loaded);
    float *x;
    int32_t *index;
    assert_ok(cf_mem_alloc((void **)&x, 64));
    assert_ok(cf_mem_alloc((void **)&index, 64));
    assert_ok(cf_mem_fill(index, 0, 64));
    struct cf__scope place; /* a thread that uses a GPU usually has a current context */
    assert_ok(cf__enter(&place, "test", NULL));
    memset(call_counts, 0, sizeof call_counts);
    assert_ok(cf_gather_async(NULL, x, index, x + 8, 8, 8));
    expect_calls(0, 1, 1, 1);
    assert_ok(cf_gather(x, index, x + 8, 8, 8));
    assert_int_equal(call_counts[CALL_cuLibraryLoadData] + call_counts[CALL_cuLibraryGetKernel], 0);
    cf__leave(&place);
    assert_ok(cf_preload(&cf_registry)); /* there is nothing to load any more */
    assert_int_equal(call_counts[CALL_cuLibraryLoadData] + call_counts[CALL_cuLibraryGetKernel], 0);
    assert_ok(cf_mem_free(x));
    assert_ok(cf_mem_free(index));
}

TEST_WITH(preload_kernel_loads_what_its_checks_run, set_up, end_library)
{
    const cf_kernel *gather = cf_kernel_find(&cf_registry, "gather_f64_i64");
    assert_ok(cf_kernel_preload(gather));
    assert_non_null(gather->state->loaded);
    assert_non_null(gather->checks[0].scan->state->loaded);
    assert_null(cf_kernel_find(&cf_registry, "gather_f32_i32")->state->loaded);
}

TEST_WITH(preload_asks_for_the_block, set_up, end_library)
{
    assert_ok(cf_kernel_preload(&any_block));
    assert_int_equal(call_counts[CALL_cuOccupancyMaxPotentialBlockSize], 1);
    assert_ok(launch(&any_block));
    assert_ok(launch(&any_block));
    assert_int_equal(call_counts[CALL_cuOccupancyMaxPotentialBlockSize], 1);
    assert_int_equal(call_counts[CALL_cuLaunchKernel], 2);
}

TEST_WITH(preload_kernel_without_form_for_the_cpu_is_passed_over, set_up, end_library)
{
    assert_ok(cf_preload(&module));
    assert_non_null(plain.state->loaded);
    assert_int_equal(gpu_alone.state->loaded != NULL, on_cuda());
    if (on_cuda())
        assert_ok(cf_kernel_preload(&gpu_alone));
    else
        assert_fails(cf_kernel_preload(&gpu_alone), CF_ENOTSUP, "made_gpu_alone: it has no form for the CPU");
}

TEST_WITH(preload_kernel_without_code_is_refused_and_the_rest_stays, set_up, end_library)
{
    need_any_gpu();
    gpu_alone.image = NULL;
    assert_fails(cf_preload(&module), CF_ENOCODE, "made_gpu_alone: it was built for the CPU alone");
    assert_non_null(any_block.state->loaded);
    assert_null(plain.state->loaded);
    gpu_alone.image = &image.image;
    assert_ok(cf_preload(&module));
    assert_non_null(plain.state->loaded);
}

TEST_WITH(preload_bad_descriptor_is_invalid, set_up, end_library)
{
    assert_fails(cf_preload(NULL), CF_EINVAL, "cf_preload: module is NULL");
    assert_fails(cf_kernel_preload(NULL), CF_EINVAL, "cf_kernel_preload: kernel is NULL");
    module.version = 99;
    assert_fails(cf_preload(&module), CF_EINVAL, "the module's descriptor has version 99");
    module.version = CF_REGISTRY_VERSION;
    kernels[1] = NULL;
    assert_fails(cf_preload(&module), CF_EINVAL, "cf_preload: kernel is NULL");
    cf_kernel other = plain;
    other.version = 1;
    kernels[1] = &other;
    assert_fails(cf_preload(&module), CF_EINVAL, "the kernel's descriptor has version 1");
    assert_fails(cf_kernel_preload(&other), CF_EINVAL, "the kernel's descriptor has version 1");
    const cf_module empty = {.version = CF_REGISTRY_VERSION, .prefix = "none"};
    assert_ok(cf_preload(&empty));
}

TEST_WITH(preload_and_occupancy_do_no_harm_to_a_capture, set_up, end_library)
{
    int blocks;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    assert_ok(cf_mem_free(NULL));
    checks_mode = 1;
    assert_ok(cf_preload(&module));
    assert_ok(cf_kernel_occupancy(&plain, 64, 60000, &blocks));
    checks_mode = 0;
    assert_int_equal(not_relaxed, 0);
    assert_int_equal(counting.cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
    if (on_cuda())
        assert_int_equal(mode, 0); /* global, the initial mode of each thread */
    assert_int_equal(counting.cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
}

/* A log callback must not call the library. If it does, the call fails and does not wait for the lock, which the
 * callback's own thread holds. */
static int status_inside = 77;
static char detail_inside[128];

static void ask_inside(void *data, int level, const char *text)
{
    int blocks;
    (void)data, (void)level;
    if (!strstr(text, "its image of "))
        return;
    status_inside = cf_kernel_occupancy(&plain, 32, 60000, &blocks);
    snprintf(detail_inside, sizeof detail_inside, "%s", cf_last_error());
}

TEST_WITH(occupancy_in_the_callback_of_the_log_does_not_hang, set_up, end_library)
{
    need_any_gpu();
    alarm(600);
    assert_ok(cf_kernel_preload(&plain));
    cf_set_log(ask_inside, NULL);
    assert_ok(cf_kernel_preload(cf_kernel_find(&cf_registry, "gather_f32_i32")));
    cf_set_log(NULL, NULL);
    alarm(0);
    assert_int_equal(status_inside, CF_EINVAL);
    assert_string_equal(detail_inside, "made_plain: called from the callback of cf_set_log()");
}

/* All kernels of an operation, including variants of tuned kernels, are loaded before the operation enqueues
 * anything. */
TEST_WITH(operation_whose_chosen_variant_cannot_be_loaded_enqueues_nothing, set_up, end_library)
{
    int64_t n = 1;
    void *const args[] = {&n};
    const unsigned version = (unsigned)cf__tuning_version(&tuned);
    snprintf(lines, sizeof lines, "made_tuned %08x host 2^0 WAY=2\nmade_tuned %08x sm_90 2^0 WAY=2\n", version,
             version);
    second.image = NULL;
    runs = 0;
    const int status = on_cuda() ? CF_ENOCODE : CF_ENOTSUP;
    assert_fails(cf_launch(&both, NULL, args), status, "made_both_async: in made_tuned: it ");
    assert_ok(cf_device_sync());
    assert_int_equal(runs, 0);
    assert_fails(cf_call(&both, args), status, "made_both: in made_tuned: it ");
    assert_fails(cf_kernel_preload(&both), status, "made_both: in made_tuned: it ");
    second.image = &image.image;
    second.cpu_body = count_run;
    assert_ok(cf_launch(&both, NULL, args));
    assert_ok(cf_device_sync());
    assert_int_equal(runs, 2);
    second.cpu_body = NULL;
}

/* ---- Occupancy ---- */

TEST_WITH(occupancy_is_the_devices, set_up, end_library)
{
    static const int threads[] = {1, 32, 33, 256, 1024};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        int blocks = -1, warps = (threads[i] + 31) / 32;
        assert_ok(cf_kernel_occupancy(&plain, threads[i], 0, &blocks));
        assert_int_equal(blocks, !on_cuda() ? 1 : warps <= 2 ? 32 : 64 / warps);
    }
    int blocks = -1;
    assert_ok(cf_kernel_occupancy(&plain, 32, 100000, &blocks));
    assert_int_equal(call_counts[CALL_cuFuncSetAttribute], on_cuda());
    assert_in_range(blocks, 1, 2);
    assert_ok(cf_kernel_occupancy(&plain, 32, 0, &blocks));
    assert_int_equal(blocks, on_cuda() ? 32 : 1);
}

TEST_WITH(occupancy_of_more_shared_memory_than_there_is_is_0, set_up, end_library)
{
    int blocks = -1;
    assert_ok(cf_kernel_occupancy(&plain, 32, (size_t)INT32_MAX + 1, &blocks));
    assert_int_equal(blocks, 0);
    blocks = -1;
    assert_ok(cf_kernel_occupancy(&plain, 32, INT32_MAX, &blocks));
    assert_int_equal(blocks, on_cuda() ? 0 : 1);
    assert_ok(launch(&plain)); /* the query did not change anything */
}

TEST_WITH(occupancy_bad_arguments_are_invalid, set_up, end_library)
{
    int blocks = 77;
    assert_fails(cf_kernel_occupancy(NULL, 32, 0, &blocks), CF_EINVAL, "cf_kernel_occupancy: kernel is NULL");
    assert_fails(cf_kernel_occupancy(&plain, 32, 0, NULL), CF_EINVAL, "cf_kernel_occupancy: blocks is NULL");
    assert_fails(cf_kernel_occupancy(&plain, 0, 0, &blocks), CF_EINVAL,
                 "cf_kernel_occupancy: threads is 0; a block has 1 to 1024");
    assert_fails(cf_kernel_occupancy(&plain, 1025, 0, &blocks), CF_EINVAL, "threads is 1025");
    assert_fails(cf_kernel_occupancy(&plain, -5, 0, &blocks), CF_EINVAL, "threads is -5");
    assert_fails(
        cf_kernel_occupancy(&tuned, 32, 0, &blocks), CF_EINVAL,
        "cf_kernel_occupancy: made_tuned runs one of its variants; ask for that: cf_tuning_variant() gives it");
    if (!on_cuda())
        assert_fails(cf_kernel_occupancy(&gpu_alone, 32, 0, &blocks), CF_ENOTSUP, "it has no form for the CPU");
    assert_int_equal(blocks, 77);
    assert_ok(cf_kernel_occupancy(&first, 32, 0, &blocks));
    assert_int_equal(blocks, on_cuda() ? 32 : 1);
}

int main(int argc, char *argv[])
{
    make_image(&image, 10);
    return run_made(argc, argv, &module, set_up, end_library);
}
