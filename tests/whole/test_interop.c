/* test_interop.c - other users of the driver in the process: no call changes the calling thread's CUDA contexts or
 * their order, and each side can use the other side's objects. */
#include "played_gpu.h"

#include <cuferry/kernels.h>
#include <cuferry/program.h>
#include <cuferry/registry.h>

/* ---- The caller's contexts ---- */

enum { DEPTH = 4, MOST_NAMES = 200 };

static const struct cf__driver *driver; /* NULL without a GPU */
static CUcontext stack[DEPTH];          /* contexts that the thread has pushed; the last one is current */
static int depth;

static const char *names[MOST_NAMES]; /* functions that were called, each once */
static int name_count;

static void push(CUcontext context)
{
    assert_true(depth < DEPTH);
    assert_int_equal(driver->cuCtxPushCurrent(context), CUDA_SUCCESS);
    stack[depth++] = context;
}

/* Pops all contexts, compares them, and pushes them again. */
static void expect_stack(const char *function, int line)
{
    CUcontext context = NULL;
    if (!driver)
        return;
    for (int i = depth; i-- > 0;) {
        context = NULL;
        if (driver->cuCtxPopCurrent(&context) != CUDA_SUCCESS || context != stack[i])
            fail_msg("line %d: %s leaves context %p and not %p, %d deep", line, function, (void *)context,
                     (void *)stack[i], i);
    }
    if (driver->cuCtxGetCurrent(&context) != CUDA_SUCCESS || context)
        fail_msg("line %d: %s leaves context %p below all others", line, function, (void *)context);
    for (int i = 0; i < depth; i++)
        assert_int_equal(driver->cuCtxPushCurrent(stack[i]), CUDA_SUCCESS);
}

static void pop_all(void)
{
    for (CUcontext context; depth > 0; depth--)
        assert_int_equal(driver->cuCtxPopCurrent(&context), CUDA_SUCCESS);
}

/* Records that a function was called. */
static void note(const char *call)
{
    size_t length = strcspn(call, "(");
    for (int i = 0; i < name_count; i++)
        if (strncmp(names[i], call, length) == 0 && names[i][length] == '(')
            return;
    assert_true(name_count < MOST_NAMES);
    names[name_count++] = call;
}

/* Calls a function, and checks the thread's contexts afterwards. */
#define GIVES(status, call)                                                                     \
    do {                                                                                        \
        int got_ = call;                                                                        \
        note(#call);                                                                            \
        if (got_ != (status))                                                                   \
            fail_msg("line %d: %s gives %s, not %s: %s", __LINE__, #call, cf_status_name(got_), \
                     cf_status_name(status), cf_last_error());                                  \
        expect_stack(#call, __LINE__);                                                          \
    } while (0)
#define WORKS(call) GIVES(CF_OK, call)

/* ---- Every function ---- */

static void do_nothing(void *data)
{
    (void)data;
}

static void use_devices(void)
{
    int number, possible, count;
    int64_t value;
    char name[64];
    WORKS(cf_device_count(&count));
    WORKS(cf_device_current(&number));
    GIVES(CF_ENODEV, cf_device_use(1000));
    for (int device = CF_HOST; device < count; device++) {
        WORKS(cf_device_name(device, name, sizeof name));
        WORKS(cf_device_uuid(device, name, sizeof name));
        WORKS(cf_device_pci(device, name, sizeof name));
        for (int property = CF_PROPERTY_MEMORY; property <= CF_PROPERTY_DRIVER; property++)
            WORKS(cf_device_property(device, property, &value));
        GIVES(CF_EINVAL, cf_device_property(device, 0, &value));
    }
    WORKS(cf_device_sync());
    GIVES(on_cuda() ? CF_OK : CF_ENODEV, cf_require(CF_CUDA));
    WORKS(cf_peer_possible(CF_HOST, CF_HOST, &possible));
    WORKS(cf_peer_enable(CF_HOST, CF_HOST));
    for (int peer = 0; peer < count; peer++) {
        WORKS(cf_peer_possible(0, peer, &possible));
        if (possible) {
            WORKS(cf_peer_enable(0, peer));
            WORKS(cf_peer_disable(0, peer));
        } else {
            GIVES(CF_ENOTSUP, cf_peer_enable(0, peer));
        }
    }
    GIVES(CF_ENODEV, cf_peer_disable(0, 1000));
}

static void use_memory(cf_stream stream)
{
    char *memory = NULL, *pinned = NULL, *pooled = NULL, bytes[1000] = {0};
    WORKS(cf_mem_alloc((void **)&memory, sizeof bytes));
    WORKS(cf_mem_alloc_pinned((void **)&pinned, sizeof bytes));
    WORKS(cf_mem_alloc_async(stream, (void **)&pooled, sizeof bytes));
    GIVES(CF_ENOMEM, cf_mem_alloc((void **)&memory, SIZE_MAX / 2));
    GIVES(CF_ENOMEM, cf_mem_alloc_pinned((void **)&pinned, SIZE_MAX / 2));
    GIVES(CF_ENOMEM, cf_mem_alloc_async(stream, (void **)&pooled, (size_t)1 << 60));
    WORKS(cf_mem_copy(memory, bytes, sizeof bytes));
    WORKS(cf_mem_copy(bytes, memory, sizeof bytes));
    GIVES(CF_EINVAL, cf_mem_copy(memory, NULL, 1));
    GIVES(CF_EINVAL, cf_mem_copy(memory + 1, bytes, sizeof bytes));
    WORKS(cf_mem_copy_async(stream, pooled, pinned, sizeof bytes));
    WORKS(cf_mem_copy_async(NULL, pinned, memory, sizeof bytes));
    WORKS(cf_mem_copy_2d(memory, 100, bytes, 100, 90, 10));
    WORKS(cf_mem_copy_2d_async(stream, pinned, 100, pooled, 100, 90, 10));
    GIVES(CF_EINVAL, cf_mem_copy_2d(memory, 100, bytes, 80, 90, 10));
    WORKS(cf_mem_fill(memory, 1, sizeof bytes));
    WORKS(cf_mem_fill_async(stream, pooled, 1, sizeof bytes));
    GIVES(CF_EINVAL, cf_mem_fill(memory + 1, 1, sizeof bytes));
    WORKS(cf_stream_sync(stream));
    WORKS(cf_stream_sync(NULL));
    GIVES(CF_EINVAL, cf_mem_free(memory + 1));
    GIVES(CF_EINVAL, cf_mem_free_async(stream, bytes));
    WORKS(cf_mem_free_async(stream, pooled));
    WORKS(cf_mem_trim(0));
    WORKS(cf_mem_free(memory));
    WORKS(cf_mem_free(pinned));
    WORKS(cf_mem_alloc_async(stream, (void **)&pooled, sizeof bytes));
    WORKS(cf_mem_free(pooled));
}

static void use_streams(cf_stream stream)
{
    int device, least, greatest;
    float milliseconds;
    cf_stream other;
    cf_event start, stop, waited;
    WORKS(cf_stream_priorities(&least, &greatest));
    WORKS(cf_stream_create_with_priority(&other, greatest));
    WORKS(cf_stream_device(stream, &device));
    WORKS(cf_event_create(&start));
    WORKS(cf_event_create(&stop));
    WORKS(cf_event_create_with(&waited, CF_EVENT_NO_TIMING | CF_EVENT_BLOCKING));
    WORKS(cf_event_record(start, stream));
    WORKS(cf_stream_wait(other, start));
    WORKS(cf_stream_call(other, do_nothing, NULL));
    WORKS(cf_event_record(stop, other));
    WORKS(cf_event_sync(stop));
    WORKS(cf_event_query(stop));
    WORKS(cf_event_elapsed(&milliseconds, start, stop));
    WORKS(cf_stream_sync(other));
    WORKS(cf_stream_query(other));
    GIVES(CF_EINVAL, cf_stream_wait(other, NULL));
    GIVES(CF_EINVAL, cf_stream_destroy((cf_stream)1));
    WORKS(cf_event_destroy(start));
    WORKS(cf_event_destroy(stop));
    WORKS(cf_event_destroy(waited));
    WORKS(cf_stream_destroy(other));
}

static void use_kernels(cf_stream stream)
{
    enum { COUNT = 100 };
    float *source, *result, host_source[COUNT], host_result[COUNT];
    int32_t *index, host_index[COUNT];
    int64_t n = COUNT, m = COUNT, negative = -1, value;
    int blocks;
    double real;
    cf_section section;
    const cf_kernel *kernel = cf_kernel_find(&cf_registry, "gather_f32_i32");
    assert_non_null(kernel);
    for (int i = 0; i < COUNT; i++) {
        host_source[i] = (float)i;
        host_index[i] = COUNT - 1 - i;
    }
    WORKS(cf_kernel_preload(kernel));
    WORKS(cf_preload(&cf_registry));
    WORKS(cf_kernel_occupancy(kernel, 256, 0, &blocks));
    WORKS(cf_mem_alloc((void **)&source, sizeof host_source));
    WORKS(cf_mem_alloc((void **)&index, sizeof host_index));
    WORKS(cf_mem_alloc((void **)&result, sizeof host_result));
    WORKS(cf_mem_copy(source, host_source, sizeof host_source));
    WORKS(cf_mem_copy(index, host_index, sizeof host_index));
    void *on_host_source = host_source, *on_host_index = host_index, *on_host_result = host_result;
    void *const args[] = {&source, &index, &result, &n, &m};
    void *const host_args[] = {&on_host_source, &on_host_index, &on_host_result, &n, &m};
    void *const bad_args[] = {&source, &index, &result, &negative, &m};
    WORKS(cf_launch(kernel, stream, args));
    WORKS(cf_stream_sync(stream));
    WORKS(cf_call(kernel, args));
    WORKS(cf_call(kernel, host_args));
    assert_true(host_result[0] == COUNT - 1);
    GIVES(CF_EINVAL, cf_call(kernel, bad_args));
    GIVES(CF_EINVAL, cf_launch(kernel, stream, bad_args));
    host_index[7] = COUNT;
    GIVES(CF_ERANGE, cf_call(kernel, host_args));
    WORKS(cf_kernel_evaluate(kernel, kernel->params[0].extents[0].ops, SIZE_MAX, args, &value));
    assert_int_equal(value, COUNT);
    WORKS(cf_kernel_section(kernel, 0, args, &section));
    assert_int_equal(section.count, COUNT);
    GIVES(CF_EINVAL, cf_kernel_evaluate_real(NULL, NULL, args, &real));
    GIVES(CF_EINVAL, cf_symbol_set(NULL, &value));
    GIVES(CF_EINVAL, cf_symbol_set_async(stream, NULL, &value));
    WORKS(cf_mem_free(source));
    WORKS(cf_mem_free(index));
    WORKS(cf_mem_free(result));
}

static void use_programs(void)
{
    const cf_kernel *kernel, *twin = cf_kernel_find(&cf_registry, "gather_f32_i32");
    cf_program *program;
    int device;
    int64_t value;
    void *pointer;
    WORKS(cf_device_current(&device));
    if (device == CF_HOST)
        return;
    WORKS(cf_program_load(&program, twin->image->begin, (size_t)(twin->image->end - twin->image->begin)));
    WORKS(
        cf_program_kernel(program, twin->entry, "(void *x, void *i, void *y, int64_t n, int64_t m) grid(n)", &kernel));
    WORKS(cf_kernel_attribute(kernel, CF_ATTRIBUTE_REGISTERS, &value));
    GIVES(CF_EIMAGE, cf_program_symbol(program, "nothing", 4, &pointer));
    WORKS(cf_program_unload(program));
}

static void use_graphs(cf_stream stream)
{
    int is_capturing;
    cf_graph graph;
    cf_graph_exec exec;
    cf_graph_node node;
    void *memory;
    WORKS(cf_mem_alloc(&memory, 100));
    WORKS(cf_stream_capture_begin(stream));
    WORKS(cf_stream_is_capturing(stream, &is_capturing));
    WORKS(cf_mem_fill_async(stream, memory, 1, 100));
    WORKS(cf_fill_f32_async(stream, 1, memory, 25));
    WORKS(cf_stream_capture_node(stream, &node));
    GIVES(CF_ECAPTURE, cf_stream_sync(stream));
    GIVES(CF_ECAPTURE, cf_device_sync());
    WORKS(cf_stream_capture_end(stream, &graph));
    GIVES(CF_EINVAL, cf_stream_capture_end(stream, &graph));
    WORKS(cf_graph_instantiate(&exec, graph));
    WORKS(cf_graph_update(exec, node, cf_kernel_find(&cf_registry, "fill_f32"),
                          (void *const[]){&(float){2}, &memory, &(int64_t){25}}));
    WORKS(cf_graph_launch(exec, stream));
    WORKS(cf_stream_sync(stream));
    WORKS(cf_graph_exec_destroy(exec));
    WORKS(cf_graph_destroy(graph));
    WORKS(cf_mem_free(memory));
}

static void use_everything(void)
{
    cf_stream stream;
    use_devices();
    WORKS(cf_stream_create(&stream));
    use_streams(stream);
    use_memory(stream);
    use_memory(NULL);
    use_kernels(stream);
    use_programs();
    use_graphs(stream);
    WORKS(cf_stream_destroy(stream));
    WORKS(cf_device_reset(CF_HOST));
    WORKS(cf_shutdown());
}

/* ---- Context stacks ---- */

/* The contexts on the stack, the current one last: p is the primary one, c one created on this device, o one on another
 * device. */
static const char *const arrangements[] = {"", "p", "c", "o", "pc", "cp", "ocp", "pcc"};

static CUcontext primary, created, elsewhere; /* elsewhere is NULL if there is only one GPU */
static int was_reset;

static int set_up(void **state)
{
    (void)state;
    CUcontext popped;
    int count = 0;
    depth = 0;
    if (!on_cuda())
        return 0;
    driver = other_library();
    assert_int_equal(driver->cuDeviceGetCount(&count), CUDA_SUCCESS);
    assert_int_equal(driver->cuDevicePrimaryCtxRetain(&primary, 0), CUDA_SUCCESS);
    assert_int_equal(context_create(&created, 0, 0), CUDA_SUCCESS);
    assert_int_equal(driver->cuCtxPopCurrent(&popped), CUDA_SUCCESS);
    if (count > 1) {
        assert_int_equal(context_create(&elsewhere, 0, 1), CUDA_SUCCESS);
        assert_int_equal(driver->cuCtxPopCurrent(&popped), CUDA_SUCCESS);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_ok(cf_shutdown());
    if (driver) {
        pop_all();
        assert_int_equal(context_destroy(created), CUDA_SUCCESS);
        if (elsewhere)
            assert_int_equal(context_destroy(elsewhere), CUDA_SUCCESS);
        CUresult released = driver->cuDevicePrimaryCtxRelease(0);
        assert_true(released == CUDA_SUCCESS || was_reset); /* the reset may have released the context */
        was_reset = 0;
    }
    driver = NULL;
    assert_nothing_alive();
    return 0;
}

static void use_everything_in_every_arrangement(void)
{
    for (size_t i = 0; i < (driver ? sizeof arrangements / sizeof *arrangements : 1); i++) {
        for (const char *c = arrangements[i]; *c; c++)
            if (*c != 'o' || elsewhere)
                push(*c == 'p' ? primary : *c == 'c' ? created : elsewhere);
        use_everything();
        if (driver)
            pop_all();
    }
}

TEST_WITH(every_function_leaves_the_callers_contexts, set_up, tear_down)
{
    use_everything_in_every_arrangement();
}

/* Once a thread has chosen a device, the device takes precedence over its context. A choice cannot be undone, so these
 * tests come last. */
TEST_WITH(every_function_on_a_chosen_device_leaves_the_callers_contexts, set_up, tear_down)
{
    GIVES(CF_OK, cf_device_use(on_cuda() ? 0 : CF_HOST));
    use_everything_in_every_arrangement();
}

TEST_WITH(every_function_on_the_cpu_leaves_the_callers_contexts, set_up, tear_down)
{
    WORKS(cf_device_use(CF_HOST));
    use_everything_in_every_arrangement();
}

TEST_WITH(device_reset_leaves_the_callers_contexts, set_up, tear_down)
{
    need_any_gpu();
    WORKS(cf_device_use(0));
    push(created);
    WORKS(cf_device_sync());
    WORKS(cf_device_reset(0));
    was_reset = 1;
}

/* Every function of the header that could change the stack of contexts must have been called. */
TEST_WITH(every_function_was_called, set_up, tear_down)
{
    static const char *const others[] = {"cf_last_driver_result", "cf_report", "cf_version", "cf_set_check",
                                         "cf_set_host_data"};
    char path[3 * PATH_MAX], self[PATH_MAX], unused[PATH_MAX];
    find_paths(self, unused);
    *strrchr(self, '/') = 0; /* the build's folder of tests; __FILE__ is relative to the folder above it */
    const char *here = __FILE__;
    snprintf(path, sizeof path, "%s%s%.*s/../../include/cuferry.h", here[0] == '/' ? "" : self,
             here[0] == '/' ? "" : "/../", (int)(strrchr(here, '/') - here), here);
    FILE *header = fopen(path, "re");
    if (!header)
        skip_test("needs the source tree where it was built");
    char line[512];
    int count = 0;
    while (fgets(line, sizeof line, header)) {
        const char *name = line;
        if (strncmp(name, "CF_CHECKED ", 11) == 0)
            name += 11;
        if (strncmp(name, "int cf_", 7) != 0)
            continue;
        name += 4;
        size_t length = strcspn(name, "(");
        int is_known = 0;
        for (int i = 0; i < name_count; i++)
            is_known |= strncmp(names[i], name, length) == 0 && names[i][length] == '(';
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            is_known |= strlen(others[i]) == length && strncmp(others[i], name, length) == 0;
        if (!is_known)
            fail_msg("%.*s() was not called", (int)length, name);
        count++;
    }
    fclose(header);
    assert_true(count > 50);
}

/* ---- Objects of the other library ---- */

TEST_WITH(objects_of_the_primary_context_serve_both_sides, set_up, tear_down)
{
    need_any_gpu();
    CUstream their_stream;
    CUevent their_event;
    CUdeviceptr theirs;
    CUcontext popped;
    cf_stream our_stream;
    cf_event our_event;
    void *ours;
    unsigned char data[500], read[500] = {0};
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 7);
    assert_ok(cf_device_use(0));
    assert_int_equal(driver->cuCtxPushCurrent(primary), CUDA_SUCCESS);
    assert_int_equal(driver->cuStreamCreate(&their_stream, 0), CUDA_SUCCESS);
    assert_int_equal(driver->cuEventCreate(&their_event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    assert_int_equal(driver->cuMemAlloc(&theirs, sizeof data), CUDA_SUCCESS);
    assert_int_equal(driver->cuCtxPopCurrent(&popped), CUDA_SUCCESS);
    assert_ok(cf_stream_create(&our_stream));
    assert_ok(cf_event_create(&our_event));
    assert_ok(cf_mem_alloc(&ours, sizeof data));

    assert_ok(cf_mem_copy_async(their_stream, ours, data, sizeof data));
    assert_ok(cf_event_record(their_event, their_stream));
    assert_ok(cf_stream_wait(our_stream, their_event));
    assert_ok(cf_mem_copy_async(our_stream, (void *)(uintptr_t)theirs, ours, sizeof data));
    assert_ok(cf_event_record(our_event, our_stream));
    assert_int_equal(driver->cuStreamWaitEvent(their_stream, our_event, 0), CUDA_SUCCESS);
    assert_int_equal(driver->cuMemcpyAsync((uintptr_t)read, theirs, sizeof read, their_stream), CUDA_SUCCESS);
    assert_ok(cf_stream_sync(their_stream));
    assert_memory_equal(read, data, sizeof data);
    assert_ok(cf_event_query(their_event));

    assert_ok(cf_event_destroy(their_event));
    assert_ok(cf_stream_destroy(their_stream));
    assert_ok(cf_mem_free((void *)(uintptr_t)theirs));
    assert_int_equal(driver->cuCtxPushCurrent(primary), CUDA_SUCCESS);
    assert_int_equal(driver->cuEventDestroy(our_event), CUDA_SUCCESS);
    assert_int_equal(driver->cuStreamDestroy(our_stream), CUDA_SUCCESS);
    assert_int_equal(driver->cuMemFree((uintptr_t)ours), CUDA_SUCCESS);
    assert_int_equal(driver->cuCtxPopCurrent(&popped), CUDA_SUCCESS);
}

TEST_WITH(shutdown_leaves_a_foreign_primary_context, set_up, tear_down)
{
    need_any_gpu();
    CUdeviceptr theirs;
    unsigned char data[100] = {1, 2, 3}, read[100] = {0};
    assert_ok(cf_device_use(0));
    push(primary);
    assert_int_equal(driver->cuMemAlloc(&theirs, sizeof data), CUDA_SUCCESS);
    WORKS(cf_mem_copy((void *)(uintptr_t)theirs, data, sizeof data));
    WORKS(cf_shutdown());
    WORKS(cf_mem_copy(read, (void *)(uintptr_t)theirs, sizeof data));
    assert_memory_equal(read, data, sizeof data);
    WORKS(cf_shutdown());
    assert_int_equal(driver->cuMemcpy((uintptr_t)read, theirs, sizeof read), CUDA_SUCCESS);
    assert_int_equal(driver->cuMemFree(theirs), CUDA_SUCCESS);
}

/* A thread of the CPU makes the first call of all: the library has not used any device before. */
FAKE_TEST(memory_of_another_library_is_known_from_the_first_call, "CF_DRIVER")
{
    const struct cf__driver *cuda = other_library();
    CUcontext context, popped;
    CUdeviceptr theirs;
    char read[64] = {0};
    assert_int_equal(cuda->cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    assert_int_equal(cuda->cuCtxPushCurrent(context), CUDA_SUCCESS);
    assert_int_equal(cuda->cuMemAlloc(&theirs, sizeof read), CUDA_SUCCESS);
    assert_int_equal(cuda->cuMemsetD8Async(theirs, 7, sizeof read, NULL), CUDA_SUCCESS);
    assert_int_equal(cuda->cuStreamSynchronize(NULL), CUDA_SUCCESS);
    for (int on_cpu = 0; on_cpu < 2; on_cpu++) {
        if (on_cpu)
            WORKS(cf_device_use(CF_HOST));
        assert_int_equal(cf_mem_copy(read, (void *)(uintptr_t)theirs, sizeof read + 1), CF_EINVAL);
        assert_non_null(strstr(cf_last_error(), "source has 64 bytes left"));
        WORKS(cf_mem_copy(read, (void *)(uintptr_t)theirs, sizeof read));
        assert_int_equal(read[63], 7);
        WORKS(cf_shutdown());
    }
    WORKS(cf_mem_free((void *)(uintptr_t)theirs));
    WORKS(cf_shutdown());
    assert_int_equal(cuda->cuCtxPopCurrent(&popped), CUDA_SUCCESS);
    assert_int_equal(cuda->cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

int main(int argc, char *argv[])
{
    return run_with_fake(argc, argv, NULL, NULL);
}
