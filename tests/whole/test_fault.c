/* test_fault.c - every public function and every kind of kernel, while each driver call and each allocation fails in
 * turn. Each failure gives the exact status, leaves data old or correct, and leaks nothing; the same call works
 * afterwards. */
#include "driver/deferred_free.h"
#include "context/enter.h"
#include "played_gpu.h"

#include <cuferry/find.h>
#include <cuferry/registry.h>

#include "driver_fault.h"
#include "fault_alloc.h"
#include "fault_data.h"
#include "fault_kernels.h"
#include "fault_locks.h"
#include "context/drivers.h"

/* ---- Functions that need no driver ---- */

static int act_names(void)
{
    if (!*cf_status_name(CF_OK) || !*cf_status_text(CF_OK) || !cf_last_error() || !cf_last_plan())
        return -100;
    (void)cf_last_driver_result();
    return cf_version() == CF_VERSION ? CF_OK : -100;
}

static int act_report(void)
{
    return cf_report(CF_ERANGE, "wrapper: 7") == CF_ERANGE && !strcmp(cf_last_error(), "wrapper: 7") ? CF_OK : -100;
}

static void log_nothing(void *data, int level, const char *line)
{
    (void)data, (void)level, (void)line;
}

static int act_set_log(void)
{
    cf_set_log(log_nothing, NULL);
    cf_set_log(NULL, NULL);
    return CF_OK;
}

static int act_set_check(void)
{
    int status = cf_set_check(CF_CHECK_NONE);
    return status == CF_OK ? cf_set_check(CF_CHECK_ELEMENTS) : status;
}
ACT(set_host_data, cf_set_host_data(CF_HOST_DATA_AUTO))

static const struct scene plain_scenes[] = {
    {"cf_status_name", NULL, act_names, NULL, NULL, COLD}, {"cf_status_text", NULL, act_names, NULL, NULL, COLD},
    {"cf_last_error", NULL, act_names, NULL, NULL, COLD},  {"cf_last_driver_result", NULL, act_names, NULL, NULL, COLD},
    {"cf_report", NULL, act_report, NULL, NULL, COLD},     {"cf_version", NULL, act_names, NULL, NULL, COLD},
    {"cf_last_plan", NULL, act_names, NULL, NULL, COLD},   {"cf_set_log", NULL, act_set_log, NULL, NULL, 0},
    {"cf_set_check", NULL, act_set_check, NULL, NULL, 0},  {"cf_set_host_data", NULL, act_set_host_data, NULL, NULL, 0},
};

/* ---- All scenes ---- */

enum { MOST = 200 };
static const struct scene *scenes[MOST];
static int scene_count;

static void add_scenes(const struct scene *more, int count)
{
    for (int i = 0; i < count && scene_count < MOST; i++)
        scenes[scene_count++] = &more[i];
}

/* Driver calls that may fail although the library's call succeeds. */
static const struct tolerated tolerated[] = {
    {"cuCtxPopCurrent", NULL, "the work is done, and there is nothing to pop only where the context is lost already"},
    {"cuThreadExchangeStreamCaptureMode", NULL, "fails for a wrong argument alone"},
    {"cuGetErrorName", NULL, "a message without the driver's name of its result is still one"},
    {"cuGetErrorString", NULL, "likewise"},
    {"cuDriverGetVersion", NULL, "the log then lacks the driver"},
    {"cuMemAllocFromPoolAsync", NULL, "where memory is short, what pools keep is given back, and it is tried again"},
    /* If these fail on the fast path, the call takes the slow path, which makes them again. */
    {"cuCtxGetCurrent", "cf_launch", "of the thread's own context"},
    {"cuCtxGetCurrent", "cf_call", "likewise"},
    {"cuCtxGetId", "cf_launch", "of finding a loaded kernel"},
    {"cuCtxGetId", "cf_call", "likewise"},
    {"cuCtxGetId", "cf_preload", "of finding a loaded operation: likewise"},
    {"cuCtxGetId", "cf_mem_alloc", "later calls ask the driver what memory it is then"},
    {"cuPointerGetAttributes", "cf_call", "of finding that memory is the device's"},
    {"cuPointerGetAttributes", "cf_launch", "likewise"},
    /* Queries without which a copy can be done, too. */
    {"cuPointerGetAttributes", "cf_symbol_set", "where registered memory ends: the driver is given all of it"},
    {"cuStreamGetCaptureInfo_edges", "cf_stream_capture_begin",
     "which streams only take part, when one of them ends it"},
    {"cuCtxGetId", "cf_stream_capture_begin", "that its context is gone, where another has that one's address"},
    /* Records of work in flight, which only affect messages. */
    {"cuCtxGetId", "cf_graph_launch", "a later fault does not name this graph"},
    /* Work that is then done later. */
    {"cuCtxGetId", "cf_device_reset", "what was loaded in the context is forgotten at cf_shutdown() then"},
    {"cuCtxGetDevice", "cf_device_reset", "of freeing what launches have left: later calls do that then"},
    {"cuMemFree", "cf_device_reset", "likewise"},
    {"cuDevicePrimaryCtxRelease", "cf_device_reset", "the reference is given back at cf_shutdown() then"},
    {"cuDevicePrimaryCtxRetain", "cf_device_reset", "the CPU's context is there without"},
    {"cuCtxGetId", "cf_shutdown", "the context counts as being there, and what fails in it is kept"},
    {"cuMemFreeHost", "cf_call", "a buffer that was too small is kept, and freed at cf_shutdown()"},
    {"cuMemFreeHost", "cf_mem_copy", "likewise"},
    {"cuCtxGetCurrent", "cf_shutdown", "what is freed in a context that cannot be entered, and fails, is kept"},
    {"cuCtxPushCurrent", "cf_shutdown", "likewise"},
    {"cuCtxGetId", "cf_program_unload", "the context counts as being there"},
    {"cuLibraryUnload", "cf_program_unload", "the image is gone with a context that was lost since the wait"},
    /* Scratch memory of a destroyed stream, which cf_shutdown() frees in that case. */
    {"cuCtxGetId", "cf_stream_destroy", "of finding its scratch memory"},
    {"cuStreamGetId", "cf_stream_destroy", "likewise"},
    {"cuCtxGetDevice", "cf_stream_destroy", "of freeing that"},
    {"cuMemFreeAsync", "cf_stream_destroy", "likewise"},
    {"cuEventDestroy", "cf_stream_destroy", "likewise"},
    {"cuCtxGetId", "cf_mem_trim", "likewise"},
    {"cuMemFree", "cf_mem_trim", "likewise"},
    {"cuMemFree", "cf_shutdown", "tried again after a wait"},
    {"cuStreamIsCapturing", "cf_shutdown", "of freeing in the default stream: likewise"},
    {"cuCtxGetDevice", "cf_shutdown", "likewise"},
    {"cuMemFreeAsync", "cf_shutdown", "likewise"},
    {NULL, NULL, NULL},
};

/* ---- The tests ---- */

static void sweep(void **state)
{
    const struct scene *scene = *state;
    const char *part;
    int count = 0;
    /* The first call also allocates a page that is never freed (see lib/base/fast.c). */
    assert_ok(cf_device_count(&count));
    assert_ok(cf_shutdown());
    if (scene->flags & TWO && count < 2)
        skip_test(NEEDS_TWO_GPUS);
    if (scene->flags & CUDA_ONLY && count < 1)
        skip_test(NEEDS_ANY_GPU);
    if (scene->flags & NVRTC && cf_find("nvrtc", &part) != CF_OK)
        skip_test(NEEDS_NVRTC);
    if (scene->flags & LINK && cf_find("nvJitLink", &part) != CF_OK)
        skip_test(NEEDS_NVJITLINK);
    assert_int_equal(fault_sweep(scene, tolerated), 0);
}

/* The text of include/cuferry.h and of two headers beside it, when this program was built. */
__asm__(".pushsection .rodata\n"
        "header_begin: .incbin \"" FAULT_HEADER ".h\"\n"
        ".incbin \"" FAULT_HEADER "/find.h\"\n"
        ".incbin \"" FAULT_HEADER "/program.h\"\n"
        ".byte 0\n"
        ".popsection");
extern const char header_begin[] __attribute__((visibility("hidden")));

static int is_swept(const char *function, size_t length)
{
    for (int i = 0; i < scene_count; i++)
        if (strncmp(scenes[i]->name, function, length) == 0 &&
            (!scenes[i]->name[length] || scenes[i]->name[length] == ' '))
            return 1;
    return 0;
}

/* A declaration begins at the start of a line; its name is the word before the first parenthesis. */
TEST(header_every_function_is_swept)
{
    int count = 0;
    for (const char *line = header_begin; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        const char *open = memchr(line, '(', length), *name = open;
        if (!open || !strchr("Cicv", *line) || strncmp(line, "typedef", 7) == 0)
            continue;
        while (name > line &&
               (name[-1] == '_' || (name[-1] >= '0' && name[-1] <= '9') || (name[-1] >= 'a' && name[-1] <= 'z')))
            name--;
        if (strncmp(name, "cf_", 3) != 0)
            continue;
        count++;
        if (!is_swept(name, (size_t)(open - name)))
            fail_msg("%.*s() has no scene", (int)(open - name), name);
    }
    assert_in_range(count, 60, 200);
}

static void *create_first(void *unused)
{
    cf_stream first = NULL;
    const char *name;
    (void)unused;
    int status = cf_device_use(CF_HOST);
    for (long at = 1; status == CF_OK && !first && at < 100; at++) {
        alloc_fault_arm(at, at % 2 == 0);
        status = cf_stream_create(&first);
        if (!alloc_fault_disarm(&name) || status == CF_OK)
            break;
        status = status == CF_ENOMEM ? CF_OK : status;
    }
    if (status == CF_OK)
        status = cf_stream_destroy(first);
    if (status == CF_OK)
        status = cf_shutdown();
    return status == CF_OK && first ? NULL : strdup(cf_last_error());
}

/* The address range for CPU handles is reserved at the first use and stays reserved, so leaks are counted after
 * that. */
TEST(first_handle_without_memory_is_enomem)
{
    pthread_t thread;
    void *wrong;
    assert_int_equal(pthread_create(&thread, NULL, create_first, NULL), 0);
    assert_int_equal(pthread_join(thread, &wrong), 0);
    if (wrong)
        fail_msg("%s", (const char *)wrong);
}

/* ---- Deferring frees without memory ---- */

static int freed;

static CUresult count_free(const struct cf__driver *driver, uintptr_t what)
{
    (void)driver, (void)what;
    freed++;
    return CUDA_SUCCESS;
}

static void defer_without_memory(int count)
{
    struct cf__scope place;
    const char *name;
    freed = 0;
    assert_ok(cf__enter_device(&place, "test", on_cuda() ? 0 : CF_HOST));
    alloc_fault_arm(1, 1);
    for (int i = 0; i < count; i++)
        cf__defer_free(place.driver, place.context, count_free, 1);
    (void)alloc_fault_disarm(&name);
    cf__leave(&place);
}

TEST(deferring_without_memory_is_reported)
{
    defer_without_memory(100);
    assert_fails(cf_shutdown(), CF_ENOMEM, "things could not be freed, and there was no memory to keep them");
    assert_int_equal(freed, 0);
    assert_ok(cf_shutdown());
}

/* Tests locks_held(), which the log callback of each scene uses. */
TEST(locks_are_counted)
{
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    assert_int_equal(locks_held(), 0);
    pthread_mutex_lock(&own);
    assert_int_equal(locks_held(), 1);
    cf__drivers_lock();
    assert_int_equal(locks_held(), 2);
    cf__drivers_unlock();
    pthread_mutex_unlock(&own);
    assert_int_equal(locks_held(), 0);
}

/* With an argument, runs only the scenes whose names contain it. */
int main(int argc, char *argv[])
{
    add_scenes(plain_scenes, sizeof plain_scenes / sizeof *plain_scenes);
    add_scenes(storage_scenes, storage_scene_count);
    add_scenes(launch_scenes, launch_scene_count);
    add_scenes(program_scenes, program_scene_count);
    for (int i = 0; i < scene_count; i++)
        if (argc < 2 || strstr(scenes[i]->name, argv[1]))
            add_test((struct CMUnitTest){scenes[i]->name, sweep, NULL, NULL, (void *)(uintptr_t)scenes[i]});
    setenv("CF_DRIVER", "host", 0); /* each driver is swept in a run of its own */
    setenv("FAKE_CUDA", "dawdle=0", 0);
    played_gpu_add(&fault_registry);
    int failed = run_all_tests(NULL, NULL);
    printf("# %ld faults injected, %ld leaks\n", fault_total, leak_total);
    return failed;
}
