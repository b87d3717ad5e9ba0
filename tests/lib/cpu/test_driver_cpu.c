/* test_driver_cpu.c - the CPU's driver table, called as the library calls it. */
#include "run_group.h"

#include <pthread.h>
#include <unistd.h>
#include <cuferry/registry.h>

#include "base/fast.h"
#include "threads/pool.h"
#include "driver/driver.h"
#include "cpu/driver_cpu.h"
#include "cpu/cpu_stream.h"

static const struct cf__driver *const host = &cf__driver_cpu;

static int set_up(void **state)
{
    (void)state;
    return host->cuInit(0) == CUDA_SUCCESS ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    cf__cpu_reset();
    return 0;
}

/* ---- The table ---- */

TEST(table_every_function_is_there)
{
    assert_int_equal(host->is_cpu, 1);
#define CHECK(name, version, parameters, names) \
    if ((version) <= CF__DRIVER_VERSION)        \
        assert_true(host->name != NULL);
    CF__DRIVER_FUNCS(CHECK)
#undef CHECK
}

TEST(version_is_the_requested_one)
{
    int version = 0;
    assert_int_equal(host->cuDriverGetVersion(&version), CUDA_SUCCESS);
    assert_int_equal(version, CF__DRIVER_VERSION);
}

TEST(error_name_its_own_results_have_name_and_text)
{
    static const struct {
        CUresult result;
        const char *name;
    } rows[] = {
        {CUDA_SUCCESS, "CUDA_SUCCESS"},
        {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
        {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
        {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
        {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
        {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},
        {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name = NULL, *text = NULL;
        assert_int_equal(host->cuGetErrorName(rows[i].result, &name), CUDA_SUCCESS);
        assert_int_equal(host->cuGetErrorString(rows[i].result, &text), CUDA_SUCCESS);
        assert_string_equal(name, rows[i].name);
        assert_true(text && text[0]);
    }
    const char *name = NULL, *text = NULL;
    assert_int_equal(host->cuGetErrorName(12345, &name), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(host->cuGetErrorString(12345, &text), CUDA_ERROR_INVALID_VALUE);
}

/* ---- Device and contexts ---- */

TEST(device_there_is_one)
{
    int count = -1;
    CUdevice device = -1;
    assert_int_equal(host->cuDeviceGetCount(&count), CUDA_SUCCESS);
    assert_int_equal(count, 1);
    assert_int_equal(host->cuDeviceGet(&device, 0), CUDA_SUCCESS);
    assert_int_equal(device, 0);
    assert_int_equal(host->cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE);
    assert_int_equal(host->cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
}

TEST(device_name_any_size_is_cut_to_it)
{
    char whole[256];
    memset(whole, 'x', sizeof whole);
    assert_int_equal(host->cuDeviceGetName(whole, sizeof whole, 0), CUDA_SUCCESS);
    size_t length = strnlen(whole, sizeof whole);
    assert_in_range(length, 1, sizeof whole - 1);
    assert_null(strchr(whole, '\n'));
    for (size_t size = 1; size < sizeof whole; size++) {
        char name[sizeof whole + 1];
        memset(name, '\n', sizeof name);
        assert_int_equal(host->cuDeviceGetName(name, (int)size, 0), CUDA_SUCCESS);
        assert_int_equal(strnlen(name, size), length < size ? length : size - 1);
        assert_memory_equal(name, whole, strlen(name));
        for (size_t i = size; i < sizeof name; i++)
            assert_int_equal(name[i], '\n');
    }
}

TEST(device_name_is_the_processors_on_any_machine)
{
    static char infos[][160] = {
        "processor\t: 0\nmodel name\t: Fast 9000 @ 3 GHz\n\nprocessor\t: 1\nmodel name\t: Another\n",
        "processor\t: 0\nCPU implementer\t: 0x41\nCPU variant\t: 0x0\nCPU part\t: 0xd4f\n\nprocessor\t: 1\n",
        "processor\t: 0\nFeatures\t: fp\n",
    };
    static const char *const names[] = {"Fast 9000 @ 3 GHz", "CPU 0x41, part 0xd4f", "CPU"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[64];
        FILE *info = fmemopen(infos[i], strlen(infos[i]), "r");
        assert_non_null(info);
        cf__cpu_processor_name(info, name, sizeof name);
        fclose(info);
        assert_string_equal(name, names[i]);
    }
}

TEST(device_attribute_of_gpus_is_not_had)
{
    int value = -1;
    assert_int_equal(host->cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(value, -1);
}

static CUcontext primary(void)
{
    CUcontext context = NULL;
    assert_int_equal(host->cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    assert_non_null(context);
    return context;
}

TEST(context_push_and_pop_nest)
{
    CUcontext context = primary(), current = context;
    assert_int_equal(host->cuCtxGetCurrent(&current), CUDA_SUCCESS);
    assert_null(current);
    int depth = 0;
    while (depth < 1000 && host->cuCtxPushCurrent(context) == CUDA_SUCCESS) {
        depth++;
        assert_int_equal(host->cuCtxGetCurrent(&current), CUDA_SUCCESS);
        assert_ptr_equal(current, context);
    }
    assert_in_range(depth, 4, 999); /* the stack is full, and nothing was overwritten */
    assert_int_equal(host->cuCtxPushCurrent(context), CUDA_ERROR_INVALID_CONTEXT);
    for (; depth > 0; depth--) {
        assert_int_equal(host->cuCtxGetCurrent(&current), CUDA_SUCCESS);
        assert_ptr_equal(current, context);
        current = NULL;
        assert_int_equal(host->cuCtxPopCurrent(&current), CUDA_SUCCESS);
        assert_ptr_equal(current, context);
    }
    assert_int_equal(host->cuCtxPopCurrent(&current), CUDA_ERROR_INVALID_CONTEXT);
    assert_int_equal(host->cuCtxGetCurrent(&current), CUDA_SUCCESS);
    assert_null(current);
    assert_int_equal(host->cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

TEST(context_push_foreign_one_is_invalid)
{
    int other;
    CUcontext current = (CUcontext)(void *)&other;
    assert_int_equal(host->cuCtxPushCurrent(NULL), CUDA_ERROR_INVALID_CONTEXT);
    assert_int_equal(host->cuCtxPushCurrent(current), CUDA_ERROR_INVALID_CONTEXT);
    assert_int_equal(host->cuCtxGetCurrent(&current), CUDA_SUCCESS);
    assert_null(current);
}

static void *current_on_thread(void *other)
{
    CUcontext current = other;
    return host->cuCtxGetCurrent(&current) == CUDA_SUCCESS ? (void *)current : other;
}

TEST(context_current_is_the_threads_own)
{
    CUcontext context = primary();
    pthread_t thread;
    void *current = NULL;
    assert_int_equal(host->cuCtxPushCurrent(context), CUDA_SUCCESS);
    assert_int_equal(pthread_create(&thread, NULL, current_on_thread, &current), 0);
    assert_int_equal(pthread_join(thread, &current), 0);
    assert_null(current);
    assert_int_equal(host->cuCtxPopCurrent(&context), CUDA_SUCCESS);
}

TEST(context_id_is_no_gpu_contexts)
{
    unsigned long long id = 0;
    CUdevice device = -1;
    assert_int_equal(host->cuCtxGetId(primary(), &id), CUDA_SUCCESS);
    assert_true(id > UINT32_MAX); /* differs from the ids of GPU contexts, which count from 1 */
    assert_int_equal(host->cuCtxGetDevice(&device), CUDA_SUCCESS);
    assert_int_equal(device, 0);
    assert_int_equal(host->cuCtxSynchronize(), CUDA_SUCCESS);
}

/* ---- Memory ---- */

TEST(mem_alloc_0_or_too_many_bytes_is_refused)
{
    CUdeviceptr memory = 7;
    assert_int_equal(host->cuMemAlloc(&memory, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(host->cuMemAlloc(&memory, (size_t)PTRDIFF_MAX + 1), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(host->cuMemAlloc(&memory, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(memory, 7);
    assert_int_equal(host->cuMemFree(0), CUDA_ERROR_INVALID_VALUE);
}

/* The attributes of a pointer. */
struct known {
    CUcontext context;
    CUdeviceptr address, begin;
    size_t size;
    unsigned int type;
    int managed, ordinal;
};

static struct known ask(CUdeviceptr pointer)
{
    struct known known;
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_CONTEXT,        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                        CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                        CU_POINTER_ATTRIBUTE_RANGE_SIZE,     CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *data[] = {&known.context, &known.type,    &known.address, &known.begin,
                    &known.size,    &known.managed, &known.ordinal};
    memset(&known, 0x5a, sizeof known);
    assert_int_equal(host->cuPointerGetAttributes(7, attributes, data, pointer), CUDA_SUCCESS);
    return known;
}

static void expect_unknown(CUdeviceptr pointer)
{
    struct known known = ask(pointer);
    assert_null(known.context);
    assert_int_equal(known.type, 0);
    assert_int_equal(known.address, 0);
    assert_int_equal(known.begin, 0);
    assert_int_equal(known.size, 0);
}

TEST(pointer_attributes_in_an_allocation_name_it)
{
    static const size_t sizes[] = {1, 255, 256, 257, 100000};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    CUdeviceptr all[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(host->cuMemAlloc(&all[i], sizes[i]), CUDA_SUCCESS);
    for (size_t i = 0; i < COUNT; i++) {
        const size_t offsets[] = {0, sizes[i] / 2, sizes[i] - 1};
        assert_int_equal(all[i] % 256, 0);
        for (size_t o = 0; o < 3; o++) {
            struct known known = ask(all[i] + offsets[o]);
            assert_ptr_equal(known.context, primary());
            assert_int_equal(known.type, CU_MEMORYTYPE_HOST);
            assert_int_equal(known.address, all[i] + offsets[o]);
            assert_int_equal(known.begin, all[i]);
            assert_int_equal(known.size, sizes[i]);
            assert_int_equal(known.managed, 0);
            assert_int_equal(known.ordinal, 0);
        }
        if (sizes[i] % 256) /* the gap between two allocations */
            expect_unknown(all[i] + sizes[i]);
    }
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(host->cuMemFree(all[i] + 1), CUDA_ERROR_INVALID_VALUE);
        assert_int_equal(host->cuMemFree(all[i]), CUDA_SUCCESS);
        expect_unknown(all[i]);
        assert_int_equal(host->cuMemFree(all[i]), CUDA_ERROR_INVALID_VALUE);
    }
}

TEST(pointer_attributes_of_other_memory_are_zeros)
{
    static char in_data[64];
    char on_stack[64];
    CUdeviceptr memory;
    assert_int_equal(host->cuMemAlloc(&memory, 64), CUDA_SUCCESS);
    expect_unknown((uintptr_t)in_data);
    expect_unknown((uintptr_t)on_stack);
    expect_unknown(0);
    expect_unknown(UINTPTR_MAX);
    expect_unknown(memory - 1);
    assert_int_equal(host->cuMemFree(memory), CUDA_SUCCESS);
}

TEST(pointer_attributes_unknown_one_is_refused)
{
    uint64_t value = 0;
    CUpointer_attribute attribute = 12345;
    void *data = &value;
    assert_int_equal(host->cuPointerGetAttributes(1, &attribute, &data, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST(mem_copy_and_fill_touch_their_range_alone)
{
    CUdeviceptr memory;
    char read[8] = "xxxxxxx";
    assert_int_equal(host->cuMemAlloc(&memory, 8), CUDA_SUCCESS);
    assert_int_equal(host->cuMemcpy(memory, (uintptr_t) "abcdefg", 8), CUDA_SUCCESS);
    assert_int_equal(host->cuMemsetD8Async(memory + 2, '-', 3, NULL), CUDA_SUCCESS);
    assert_int_equal(host->cuMemcpyAsync((uintptr_t)read, memory + 1, 5, NULL), CUDA_SUCCESS);
    assert_string_equal(read, "b---fxx");
    assert_int_equal(host->cuMemFree(memory), CUDA_SUCCESS);
}

TEST(mem_host_alloc_is_memory_as_any)
{
    void *pinned = NULL;
    assert_int_equal(host->cuMemHostAlloc(&pinned, 0, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(host->cuMemHostAlloc(&pinned, SIZE_MAX, CU_MEMHOSTALLOC_PORTABLE), CUDA_ERROR_OUT_OF_MEMORY);
    assert_null(pinned);
    assert_int_equal(host->cuMemHostAlloc(&pinned, 100, CU_MEMHOSTALLOC_PORTABLE), CUDA_SUCCESS);
    struct known known = ask((uintptr_t)pinned + 99);
    assert_int_equal(known.begin, (uintptr_t)pinned);
    assert_int_equal(known.size, 100);
    memset(pinned, 1, 100);
    assert_int_equal(host->cuMemFreeHost(pinned), CUDA_SUCCESS);
    assert_int_equal(host->cuMemFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);
    expect_unknown((uintptr_t)pinned);
    assert_int_equal(host->cuMemHostAlloc(&pinned, 100, 0), CUDA_SUCCESS);
    assert_int_equal(host->cuMemFree((uintptr_t)pinned), CUDA_SUCCESS);
}

TEST(mem_info_is_the_machines)
{
    size_t free_bytes = 0, total = 0, bytes = 0;
    assert_int_equal(host->cuMemGetInfo(&free_bytes, &total), CUDA_SUCCESS);
    assert_true(free_bytes > 0 && free_bytes <= total);
    assert_int_equal(total, (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE));
    assert_int_equal(host->cuDeviceTotalMem(&bytes, 0), CUDA_SUCCESS);
    assert_int_equal(bytes, total);
    assert_int_equal(host->cuDeviceTotalMem(&bytes, 1), CUDA_ERROR_INVALID_DEVICE);
}

TEST(pool_live_one_is_taken)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemoryPool pool = NULL;
    CUdeviceptr memory = 0;
    uint64_t keep = UINT64_MAX;
    assert_int_equal(host->cuMemPoolCreate(&pool, &props), CUDA_SUCCESS);
    assert_true(cf__cpu_owns(pool));
    assert_int_equal(host->cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep), CUDA_SUCCESS);
    assert_int_equal(host->cuMemPoolSetAttribute(pool, 12345, &keep), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(host->cuMemAllocFromPoolAsync(&memory, 100, pool, NULL), CUDA_SUCCESS);
    memset((void *)(uintptr_t)memory, 1, 100);
    assert_int_equal(host->cuMemPoolTrimTo(pool, 0), CUDA_SUCCESS);
    assert_int_equal(host->cuMemPoolDestroy(pool), CUDA_SUCCESS);
    memset((void *)(uintptr_t)memory, 2, 100); /* memory is kept when its pool is destroyed */
    assert_int_equal(host->cuMemFreeAsync(memory, NULL), CUDA_SUCCESS);
    assert_int_equal(host->cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(host->cuMemPoolTrimTo(pool, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(host->cuMemAllocFromPoolAsync(&memory, 100, pool, NULL), CUDA_ERROR_INVALID_VALUE);
    CUmemPoolProps others[] = {props, props, props};
    others[0].location.id = 1;
    others[1].location.type++;
    others[2].allocType++;
    for (int i = 0; i < 3; i++)
        assert_int_equal(host->cuMemPoolCreate(&pool, &others[i]), CUDA_ERROR_INVALID_VALUE);
}

TEST(mem_copy_peer_takes_its_context_alone)
{
    int other;
    char target[4] = "...";
    CUcontext context = primary(), none = (CUcontext)(void *)&other;
    assert_int_equal(host->cuMemcpyPeerAsync((uintptr_t)target, context, (uintptr_t) "abc", context, 3, NULL),
                     CUDA_SUCCESS);
    assert_string_equal(target, "abc");
    assert_int_equal(host->cuMemcpyPeerAsync((uintptr_t)target, none, (uintptr_t) "xyz", context, 3, NULL),
                     CUDA_ERROR_INVALID_CONTEXT);
    assert_int_equal(host->cuMemcpyPeerAsync((uintptr_t)target, context, (uintptr_t) "xyz", none, 3, NULL),
                     CUDA_ERROR_INVALID_CONTEXT);
    assert_string_equal(target, "abc");
    assert_int_equal(host->cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

/* ---- Handles ---- */

TEST(mem_alloc_async_is_there_until_it_is_freed)
{
    CUdeviceptr memory = 0;
    assert_int_equal(host->cuMemAllocAsync(&memory, 100, NULL), CUDA_SUCCESS);
    assert_int_equal(memory % 256, 0);
    memset((void *)(uintptr_t)memory, 1, 100);
    assert_int_equal(host->cuMemFreeAsync(memory, NULL), CUDA_SUCCESS);
    assert_int_equal(host->cuMemFreeAsync(memory, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(host->cuMemAllocAsync(&memory, (size_t)PTRDIFF_MAX + 1, NULL), CUDA_ERROR_OUT_OF_MEMORY);
}

/* Copies rows of 3 bytes from the second byte of the second row, with both memory types on each side. */
TEST(mem_copy_2d_touches_its_rows_alone)
{
    static const char source[] = "abcde"
                                 "fghij"
                                 "klmno";
    for (int sides = 0; sides < 4; sides++) {
        char target[] = "......."
                        "......."
                        ".......";
        CUDA_MEMCPY2D copy = {.srcXInBytes = 1,
                              .srcY = 1,
                              .srcPitch = 5,
                              .dstXInBytes = 2,
                              .dstPitch = 7,
                              .srcMemoryType = sides & 1 ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
                              .dstMemoryType = sides & 2 ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
                              .WidthInBytes = 3,
                              .Height = 2};
        if (sides & 1)
            copy.srcHost = source;
        else
            copy.srcDevice = (uintptr_t)source;
        if (sides & 2)
            copy.dstHost = target;
        else
            copy.dstDevice = (uintptr_t)target;
        assert_int_equal(host->cuMemcpy2D(&copy), CUDA_SUCCESS);
        assert_string_equal(target, "..ghi.."
                                    "..lmn.."
                                    ".......");
        copy.srcPitch = 2;
        assert_int_equal(host->cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE);
    }
}

TEST(function_takes_any_shared_memory)
{
    int value = 0, grid = 0, block = 0;
    CUfunction none = NULL;
    assert_int_equal(host->cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, none), 0);
    assert_int_equal(value, INT32_MAX);
    assert_int_equal(host->cuFuncSetAttribute(none, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20), 0);
    assert_int_equal(host->cuFuncSetAttribute(none, 0, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(host->cuFuncGetAttribute(&value, 0, none), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(host->cuOccupancyMaxPotentialBlockSize(&grid, &block, none, NULL, 0, 0), CUDA_SUCCESS);
    assert_true(grid > 0 && block == 256);
}

TEST(host_owns_nothing_else)
{
    static char in_data;
    char on_stack;
    char *on_heap = malloc(1);
    for (int with_handles = 0; with_handles < 2; with_handles++) {
        assert_false(cf__cpu_owns(NULL));
        assert_false(cf__cpu_owns(CU_STREAM_LEGACY));
        assert_false(cf__cpu_owns(CU_STREAM_PER_THREAD));
        assert_false(cf__cpu_owns((void *)UINTPTR_MAX));
        assert_false(cf__cpu_owns(&in_data));
        assert_false(cf__cpu_owns(&on_stack));
        assert_false(cf__cpu_owns(on_heap));
        CUstream stream;
        CUdeviceptr memory;
        assert_int_equal(host->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
        assert_int_equal(host->cuMemAlloc(&memory, 64), CUDA_SUCCESS);
        assert_false(cf__cpu_owns((void *)(uintptr_t)memory));
        assert_true(cf__cpu_owns(stream));
        assert_int_equal(host->cuStreamDestroy(stream), CUDA_SUCCESS);
        assert_true(cf__cpu_owns(stream)); /* the range of handles is the CPU's even without an object */
        assert_int_equal(host->cuMemFree(memory), CUDA_SUCCESS);
    }
    cf__cpu_reset();
    assert_false(cf__cpu_owns(on_heap));
    free(on_heap);
}

TEST(stream_functions_live_one_is_taken)
{
    CUstream stream;
    CUcontext context = NULL;
    assert_int_equal(host->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    CUstream streams[] = {stream, NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        assert_int_equal(host->cuStreamQuery(streams[i]), CUDA_SUCCESS);
        assert_int_equal(host->cuStreamSynchronize(streams[i]), CUDA_SUCCESS);
        assert_int_equal(host->cuStreamGetCtx(streams[i], &context), CUDA_SUCCESS);
        assert_ptr_equal(context, primary());
    }
    assert_int_equal(host->cuStreamDestroy(stream), CUDA_SUCCESS);
}

/* Expects that each function with a stream or an event rejects an invalid handle. */
static void expect_no_stream(CUstream stream)
{
    CUevent event;
    CUcontext context;
    assert_int_equal(host->cuEventCreate(&event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    assert_int_equal(host->cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(host->cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(host->cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(host->cuStreamGetCtx(stream, &context), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(host->cuStreamWaitEvent(stream, event, 0), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(host->cuEventRecord(event, stream), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(host->cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(host->cuEventDestroy(event), CUDA_SUCCESS);
}

static void expect_no_event(CUevent event)
{
    CUevent good;
    float milliseconds = -1;
    assert_int_equal(host->cuEventCreate(&good, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    assert_int_equal(host->cuEventRecord(good, NULL), CUDA_SUCCESS);
    assert_int_equal(host->cuEventRecord(event, NULL), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(host->cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(host->cuEventSynchronize(event), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(host->cuEventDestroy(event), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(host->cuStreamWaitEvent(NULL, event, 0), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(host->cuEventElapsedTime(&milliseconds, good, event), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(host->cuEventElapsedTime(&milliseconds, event, good), CUDA_ERROR_INVALID_HANDLE);
    assert_true(milliseconds == -1);
    assert_int_equal(host->cuEventDestroy(good), CUDA_SUCCESS);
}

TEST(handle_functions_invalid_handle_is_refused)
{
    CUstream stream, gone;
    CUevent event, past;
    char other[64];
    assert_int_equal(host->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    assert_int_equal(host->cuEventCreate(&event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    /* handles of another kind, inside a slot, in a slot that was never used, and far outside */
    expect_no_stream((CUstream)(void *)event);
    expect_no_stream((CUstream)(void *)((char *)stream + 1));
    expect_no_stream((CUstream)(void *)((char *)stream + 8));
    expect_no_stream((CUstream)(void *)((char *)stream + (1 << 20) / 24 * 24));
    expect_no_stream((CUstream)(void *)other);
    expect_no_event((CUevent)(void *)stream);
    expect_no_event((CUevent)(void *)((char *)event + 1));
    expect_no_event((CUevent)(void *)((char *)event + 8));
    expect_no_event((CUevent)(void *)other);
    expect_no_event(NULL);
    expect_no_event((CUevent)(void *)CU_STREAM_LEGACY);
    /* a handle that was destroyed */
    assert_int_equal(host->cuStreamCreate(&gone, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    assert_int_equal(host->cuStreamDestroy(gone), CUDA_SUCCESS);
    assert_int_equal(host->cuStreamQuery(gone), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(host->cuStreamDestroy(gone), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(host->cuEventCreate(&past, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    assert_int_equal(host->cuEventDestroy(past), CUDA_SUCCESS);
    assert_int_equal(host->cuEventQuery(past), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(host->cuEventDestroy(past), CUDA_ERROR_INVALID_HANDLE);
    /* the valid handles still work */
    assert_int_equal(host->cuStreamQuery(stream), CUDA_SUCCESS);
    assert_int_equal(host->cuEventQuery(event), CUDA_SUCCESS);
    assert_int_equal(host->cuStreamDestroy(stream), CUDA_SUCCESS);
    assert_int_equal(host->cuEventDestroy(event), CUDA_SUCCESS);
}

TEST(event_record_invalid_stream_leaves_it_unrecorded)
{
    CUstream gone;
    CUevent event;
    float milliseconds = -1;
    assert_int_equal(host->cuStreamCreate(&gone, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    assert_int_equal(host->cuEventCreate(&event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    assert_int_equal(host->cuStreamDestroy(gone), CUDA_SUCCESS);
    assert_int_equal(host->cuEventRecord(event, gone), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(host->cuEventElapsedTime(&milliseconds, event, event), CUDA_ERROR_INVALID_HANDLE);
    assert_true(milliseconds == -1);
    assert_int_equal(host->cuEventDestroy(event), CUDA_SUCCESS);
}

TEST(event_elapsed_recorded_events_is_the_time_between)
{
    CUevent start, stop;
    float milliseconds = -1, back;
    assert_int_equal(host->cuEventCreate(&start, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    assert_int_equal(host->cuEventCreate(&stop, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    assert_int_equal(host->cuEventElapsedTime(&milliseconds, start, stop), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(host->cuEventRecord(start, NULL), CUDA_SUCCESS);
    assert_int_equal(host->cuEventElapsedTime(&milliseconds, start, stop), CUDA_ERROR_INVALID_HANDLE);
    usleep(5000);
    assert_int_equal(host->cuEventRecord(stop, NULL), CUDA_SUCCESS);
    assert_int_equal(host->cuEventElapsedTime(&milliseconds, start, stop), CUDA_SUCCESS);
    assert_true(milliseconds >= 5); /* at least the pause between the events */
    assert_int_equal(host->cuEventElapsedTime(&back, stop, start), CUDA_SUCCESS);
    assert_true(back == -milliseconds);
    assert_int_equal(host->cuEventDestroy(start), CUDA_SUCCESS);
    assert_int_equal(host->cuEventDestroy(stop), CUDA_SUCCESS);
}

TEST(handle_create_until_full_is_out_of_memory)
{
    enum { MOST = 1 << 20 };
    CUevent *all = malloc(MOST * sizeof *all);
    size_t count = 0;
    CUstream stream;
    assert_non_null(all);
    while (count < MOST && host->cuEventCreate(&all[count], CU_EVENT_DEFAULT) == CUDA_SUCCESS)
        count++;
    assert_in_range(count, 100000, MOST - 1);
    assert_int_equal(host->cuEventCreate(&all[count], CU_EVENT_DEFAULT), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(host->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_ERROR_OUT_OF_MEMORY);
    assert_true(cf__cpu_owns(all[0]) && cf__cpu_owns(all[count - 1]));
    assert_int_equal(host->cuEventDestroy(all[count / 2]), CUDA_SUCCESS);
    assert_int_equal(host->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    assert_true((void *)stream != (void *)all[count / 2]); /* the same slot, but a new generation */
    assert_int_equal((uintptr_t)stream / 64, (uintptr_t)all[count / 2] / 64);
    assert_int_equal(host->cuEventQuery(all[count / 2]), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(host->cuStreamDestroy(stream), CUDA_SUCCESS);
    for (size_t i = 0; i < count; i++)
        if (i != count / 2)
            assert_int_equal(host->cuEventDestroy(all[i]), CUDA_SUCCESS);
    free(all);
}

TEST(reset_gives_everything_back)
{
    CUstream stream;
    CUevent event;
    CUdeviceptr memory;
    for (int round = 0; round < 3; round++) {
        assert_int_equal(host->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
        assert_int_equal(host->cuEventCreate(&event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
        assert_int_equal(host->cuMemAlloc(&memory, 100), CUDA_SUCCESS);
        assert_false(cf__cpu_handle_is_stale(stream));
        cf__cpu_reset();
        assert_true(cf__cpu_owns(stream) && cf__cpu_handle_is_stale(stream) && cf__cpu_handle_is_stale(event));
        assert_int_equal(host->cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
        assert_int_equal(host->cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
        assert_int_equal(host->cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
    }
}

static int is_known(CUdeviceptr memory)
{
    CUdeviceptr begin = 0;
    CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_RANGE_START_ADDR;
    void *data = &begin;
    assert_int_equal(host->cuPointerGetAttributes(1, &attribute, &data, memory), CUDA_SUCCESS);
    return begin == memory;
}

/* Memory of a graph lives as long as the graph and its executable graphs, or until the memory of the last run is
 * freed. */
TEST(memory_of_a_graph_is_freed_with_the_graph)
{
    CUstream stream;
    assert_int_equal(host->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    for (int is_freed_inside = 0; is_freed_inside < 2; is_freed_inside++)
        for (int runs = 0; runs < 2; runs++) {
            CUgraph graph;
            CUgraphExec exec;
            CUdeviceptr memory;
            assert_int_equal(host->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
            assert_int_equal(host->cuMemAllocAsync(&memory, 100, stream), CUDA_SUCCESS);
            assert_int_equal(host->cuMemsetD8Async(memory, 1, 100, stream), CUDA_SUCCESS);
            if (is_freed_inside)
                assert_int_equal(host->cuMemFreeAsync(memory, stream), CUDA_SUCCESS);
            assert_int_equal(host->cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
            assert_int_equal(host->cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
            assert_int_equal(host->cuGraphDestroy(graph), CUDA_SUCCESS);
            if (runs)
                assert_int_equal(host->cuGraphLaunch(exec, stream), CUDA_SUCCESS);
            assert_true(is_known(memory));
            assert_int_equal(host->cuGraphExecDestroy(exec), CUDA_SUCCESS);
            assert_int_equal(is_known(memory), runs && !is_freed_inside);
            assert_int_equal(host->cuMemFree(memory),
                             runs && !is_freed_inside ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
            assert_false(is_known(memory));
        }
    assert_int_equal(host->cuStreamDestroy(stream), CUDA_SUCCESS);
}

/* The context itself stays, but everything in it is destroyed. Its old handles differ from new ones. */
TEST(primary_reset_makes_handles_stale)
{
    CUstream stream, fresh;
    CUevent event;
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr memory;
    unsigned int flags = 77;
    int active = 77;
    assert_int_equal(host->cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -3), CUDA_SUCCESS);
    assert_int_equal(host->cuEventCreate(&event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    assert_int_equal(host->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    assert_int_equal(host->cuMemAllocAsync(&memory, 100, stream), CUDA_SUCCESS);
    assert_int_equal(host->cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    assert_int_equal(host->cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
    assert_int_equal(host->cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    assert_int_equal(host->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    assert_int_equal(host->cuEventRecord(event, stream), CUDA_SUCCESS);
    assert_int_equal(host->cuMemsetD8Async(memory, 1, 1, stream), CUDA_SUCCESS);
    assert_int_equal(host->cuDevicePrimaryCtxReset(1), CUDA_ERROR_INVALID_DEVICE);
    assert_int_equal(host->cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
    assert_true(cf__cpu_owns(stream));
    assert_int_equal(host->cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(host->cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(host->cuGraphLaunch(exec, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(host->cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(host->cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
    for (int i = 0; i < 8; i++) { /* the new handles use the same slots, but differ from the old ones */
        assert_int_equal(host->cuStreamCreate(&fresh, 0), CUDA_SUCCESS);
        assert_true(fresh != stream && (void *)fresh != (void *)event && (void *)fresh != (void *)graph);
    }
    assert_int_equal(host->cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
    CUcontext context = primary();
    assert_int_equal(host->cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
    assert_true(flags == 0 && active == 1);
    assert_int_equal(host->cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
    assert_non_null(context);
}

TEST(device_has_what_a_cpu_has)
{
    int value = -1, least = -1, greatest = -1, blocks = -1;
    assert_int_equal(cf__pool_configure(), CF_OK);
    assert_int_equal(host->cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0), CUDA_SUCCESS);
    assert_int_equal(value, cf__pool_size());
    assert_int_equal(host->cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0), CUDA_SUCCESS);
    assert_int_equal(value, 1024);
    assert_int_equal(host->cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 0), CUDA_SUCCESS);
    assert_int_equal(value, 1);
    assert_int_equal(host->cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 0), CUDA_SUCCESS);
    assert_int_equal(value, 0);
    assert_int_equal(host->cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 1), CUDA_ERROR_INVALID_DEVICE);
    assert_int_equal(host->cuCtxGetStreamPriorityRange(&least, &greatest), CUDA_SUCCESS);
    assert_true(least == 0 && greatest == 0);
    assert_int_equal(host->cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, NULL, 256, 0), CUDA_SUCCESS);
    assert_int_equal(blocks, 1);
    assert_int_equal(host->cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, NULL, 0, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(host->cuDeviceCanAccessPeer(&value, 0, 0), CUDA_SUCCESS);
    assert_int_equal(value, 0);
    assert_int_equal(host->cuDeviceCanAccessPeer(&value, 0, 1), CUDA_ERROR_INVALID_DEVICE);
    assert_int_equal(host->cuCtxEnablePeerAccess(NULL, 0), CUDA_ERROR_INVALID_CONTEXT);
    assert_int_equal(host->cuCtxDisablePeerAccess(NULL), CUDA_ERROR_INVALID_CONTEXT);
}

/* ---- Kernels ---- */

static void add_blocks(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    uint64_t *sum = launch->args[0];
    uint64_t shape = launch->grid.x * 1000000 + launch->grid.y * 10000 + launch->grid.z * 100 + launch->block.x * 16 +
                     launch->block.y * 4 + launch->block.z;
    for (uint64_t b = begin; b < end; b++)
        __atomic_fetch_add(sum, shape + b, __ATOMIC_RELAXED);
}

TEST(launch_runs_the_body_before_it_returns)
{
    const cf_kernel kernel = {.version = CF_REGISTRY_VERSION, .name = "sum", .cpu_body = add_blocks};
    uint64_t sum = 0, shape = 5 * 1000000 + 6 * 10000 + 7 * 100 + 3 * 16 + 2 * 4 + 1;
    void *args[] = {&sum};
    CUfunction function = (CUfunction)(void *)(uintptr_t)&kernel;
    assert_int_equal(host->cuLaunchKernel(function, 5, 6, 7, 3, 2, 1, 0, NULL, args, NULL), CUDA_SUCCESS);
    assert_int_equal(sum, 210 * shape + 210 * 209 / 2);
}

TEST(library_functions_are_not_supported)
{
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    CUfunction function = NULL;
    assert_int_equal(host->cuLibraryLoadData(&library, "", NULL, NULL, 0, NULL, NULL, 0), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(host->cuLibraryGetKernel(&kernel, library, "x"), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(host->cuKernelGetFunction(&function, kernel), CUDA_ERROR_NOT_SUPPORTED);
    CUdeviceptr pointer;
    size_t bytes;
    CUmodule module;
    assert_int_equal(host->cuLibraryGetModule(&module, library), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(host->cuLibraryGetGlobal(&pointer, &bytes, library, "x"), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(host->cuLibraryUnload(library), CUDA_ERROR_NOT_SUPPORTED);
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    assert_int_equal(host->cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
    assert_int_equal(host->cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
    assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
}

int main(void)
{
    return run_all_tests(set_up, tear_down);
}
