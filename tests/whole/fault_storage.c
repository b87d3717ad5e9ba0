/* fault_storage.c - the scenes of test_fault.c about devices, memory, streams, events, graphs and the cache of
 * programs. */
#include "played_gpu.h"

#include <cuferry/program.h>

#include "fault_data.h"
#include "fault_kernels.h"

/* ---- Devices ---- */

PREPARE(number, number = other_number = -77)
ACT(device_count, cf_device_count(&number))
RIGHT(device_count, is_done ? number == (on_cuda() ? number >= 1 ? number : -1 : 0) : number == -77)
ACT(device_use, cf_device_use(on_cuda() ? 0 : CF_HOST))
ACT(device_use_host, cf_device_use(CF_HOST))
ACT(device_current, cf_device_current(&number))
RIGHT(device_current, number == (is_done ? on_cuda() ? 0 : CF_HOST : -77))
PREPARE(wide, wide = -77)
ACT(property_memory, cf_device_property(on_cuda() ? 0 : CF_HOST, CF_PROPERTY_MEMORY, &wide))
ACT(property_free, cf_device_property(on_cuda() ? 0 : CF_HOST, CF_PROPERTY_MEMORY_FREE, &wide))
ACT(property_capability, cf_device_property(0, CF_PROPERTY_CAPABILITY, &wide))
ACT(property_threads, cf_device_property(on_cuda() ? 0 : CF_HOST, CF_PROPERTY_THREADS_PER_BLOCK, &wide))
RIGHT(property, is_done ? wide > 0 : wide == -77)
PREPARE(text, memset(text, '#', sizeof text))
ACT(device_name, cf_device_name(on_cuda() ? 0 : CF_HOST, text, sizeof text))
RIGHT(device_name, is_done ? memchr(text, 0, sizeof text) != NULL : 1)
ACT(device_uuid, cf_device_uuid(on_cuda() ? 0 : CF_HOST, text, sizeof text))
ACT(device_pci, cf_device_pci(on_cuda() ? 0 : CF_HOST, text, sizeof text))
ACT(property_numa, cf_device_property(on_cuda() ? 0 : CF_HOST, CF_PROPERTY_NUMA_NODE, &wide))
ACT(property_driver, cf_device_property(on_cuda() ? 0 : CF_HOST, CF_PROPERTY_DRIVER, &wide))
RIGHT(property_small, is_done ? wide >= -1 : wide == -77)
ACT(device_sync, cf_device_sync())
ACT(peer_possible, cf_peer_possible(0, 1, &number))
RIGHT(peer_possible, is_done ? number == 0 || number == 1 : number == -77)
ACT(peer_enable, cf_peer_enable(0, 1))
CLEAN(peer, NEED(cf_peer_disable(0, 1)))
PREPARE(peer_disable, NEED(cf_peer_enable(0, 1)))
ACT(peer_disable, cf_peer_disable(0, 1))
PREPARE(reset, make_stream(); fill_host(); upload())
ACT(device_reset, cf_device_reset(on_cuda() ? 0 : CF_HOST))
ACT(require, cf_require(CF_CUDA))
PREPARE(shutdown, NEED(cf_set_host_data(CF_HOST_DATA_STAGE)); expect_pick(); NEED(fault_pick(x, picked, y, M, N));
        NEED(fault_set_factor(1)); make_stream(); NEED(cf_mem_alloc_async(stream, &memory, 1000));
        NEED(cf_mem_free_async(stream, memory)); destroy_stream())
ACT(shutdown, cf_shutdown())

/* ---- Memory ---- */

PREPARE(memory, memory = NULL)
ACT(alloc, cf_mem_alloc(&memory, 1000))
ACT(alloc_pinned, cf_mem_alloc_pinned(&memory, 1000))
RIGHT(alloc, is_done == (memory != NULL))
CLEAN(memory, NEED(cf_mem_free(memory)); memory = NULL)
PREPARE(alloced, NEED(cf_mem_alloc(&memory, 1000)))
PREPARE(alloced_pinned, NEED(cf_mem_alloc_pinned(&memory, 1000)))
PREPARE(alloced_async, make_stream(); NEED(cf_mem_alloc_async(stream, &memory, 1000)); NEED(cf_stream_sync(stream)))
ACT(free, cf_mem_free(memory))
PREPARE(alloc_async, make_stream(); memory = NULL)
ACT(alloc_async, cf_mem_alloc_async(stream, &memory, 1000))
ACT(alloc_async_default, cf_mem_alloc_async(NULL, &memory, 1000))
CLEAN(alloc_async, NEED(cf_mem_free_async(stream, memory)); destroy_stream())
CLEAN(alloc_async_default, NEED(cf_mem_free_async(NULL, memory)))
ACT(free_async, cf_mem_free_async(stream, memory))
PREPARE(trim, make_stream(); NEED(cf_mem_alloc_async(stream, &memory, 1000)); NEED(cf_mem_free_async(stream, memory));
        NEED(cf_stream_sync(stream)))
ACT(trim, cf_mem_trim(0))

PREPARE(copy, expect_copy(); upload())
ACT(copy_in, cf_mem_copy(dy, x, N * sizeof *x))
ACT(copy_within, cf_mem_copy(dy, dx, N * sizeof *x))
PREPARE(copy_out, expect_copy(); upload())
ACT(copy_out, cf_mem_copy(y, dx, N * sizeof *x))
ACT(copy_on_host, cf_mem_copy(y, x, N * sizeof *x))
PREPARE(copy_async, expect_copy(); upload(); make_stream())
ACT(copy_async, cf_mem_copy_async(stream, dy, x, N * sizeof *x))
PREPARE(copy_2d, expect_copy_2d(); upload())
ACT(copy_2d, cf_mem_copy_2d(dy, LD * sizeof *x, x, NX * sizeof *x, NX * sizeof *x, NY))
PREPARE(copy_2d_async, expect_copy_2d(); upload(); make_stream())
ACT(copy_2d_async, cf_mem_copy_2d_async(stream, dy, LD * sizeof *x, dx, NX * sizeof *x, NX * sizeof *x, NY))
PREPARE(fill, expect_fill(); upload())
ACT(fill, cf_mem_fill(dy, 0x11, N * sizeof *y))
PREPARE(fill_async, expect_fill(); upload(); make_stream())
ACT(fill_async, cf_mem_fill_async(stream, dy, 0x11, N * sizeof *y))

/* A copy between two GPUs. */
static void prepare_copy_peer(void)
{
    expect_copy();
    NEED(cf_device_use(1));
    NEED(cf_mem_alloc((void **)&dx, sizeof x));
    NEED(cf_mem_copy(dx, x, sizeof x));
    NEED(cf_device_use(0));
    NEED(cf_mem_alloc((void **)&dy, sizeof y));
    NEED(cf_mem_copy(dy, y, sizeof y));
}

/* Copies through pinned buffers. */
static void prepare_large_copy(void)
{
    fill_large();
    memcpy(large_new, large_x, sizeof large_x);
    NEED(cf_mem_alloc(&memory, sizeof large_x));
    NEED(cf_mem_copy(memory, large_x, sizeof large_x));
}

static void prepare_large_copy_in(void)
{
    prepare_large_copy();
    NEED(cf_mem_copy(memory, large_y, sizeof large_y));
}

static int is_large_device_right(int is_done)
{
    NEED(cf_mem_copy(large_y, memory, sizeof large_y));
    return is_large_right(is_done);
}
ACT(large_copy, cf_mem_copy(large_y, memory, sizeof large_y))
ACT(large_copy_in, cf_mem_copy(memory, large_x, sizeof large_x))
CLEAN(large_copy, clean_memory(); clean_host_data())

/* ---- Streams and events ---- */

PREPARE(no_stream, stream = NULL)
ACT(stream_create, cf_stream_create(&stream))
RIGHT(stream_create, is_done == (stream != NULL))
ACT(stream_create_with_priority, cf_stream_create_with_priority(&stream, -1))
PREPARE(stream, make_stream(); number = other_number = -77)
ACT(stream_destroy, cf_stream_destroy(stream))
CLEAN(stream_gone, stream = NULL)
ACT(stream_priorities, cf_stream_priorities(&number, &other_number))
ACT(stream_device, cf_stream_device(stream, &number))
RIGHT(stream_device, number == (is_done ? on_cuda() ? 0 : CF_HOST : -77))
ACT(stream_sync, cf_stream_sync(stream))
ACT(stream_sync_default, cf_stream_sync(NULL))
ACT(stream_query, cf_stream_query(stream))
PREPARE(events, make_stream(); NEED(cf_stream_create(&other_stream)); NEED(cf_event_create(&event));
        NEED(cf_event_create(&other_event)); NEED(cf_event_record(event, stream));
        NEED(cf_event_record(other_event, stream)); NEED(cf_stream_sync(stream)); milliseconds = -77)
CLEAN(events, NEED(cf_stream_destroy(other_stream)); NEED(cf_event_destroy(event)); NEED(cf_event_destroy(other_event));
      destroy_stream())
ACT(stream_wait, cf_stream_wait(other_stream, event))
ACT(event_record, cf_event_record(event, stream))
ACT(event_sync, cf_event_sync(event))
ACT(event_query, cf_event_query(event))
ACT(event_elapsed, cf_event_elapsed(&milliseconds, event, other_event))
RIGHT(event_elapsed, is_done ? milliseconds >= 0 : milliseconds == -77)
PREPARE(no_event, event = NULL)
ACT(event_create, cf_event_create(&event))
RIGHT(event_create, is_done == (event != NULL))
ACT(event_create_with, cf_event_create_with(&event, CF_EVENT_NO_TIMING | CF_EVENT_BLOCKING))
CLEAN(event, NEED(cf_event_destroy(event)))
PREPARE(event, NEED(cf_event_create(&event)))
ACT(event_destroy, cf_event_destroy(event))

static void set_number(void *to)
{
    *(int *)to = 5;
}
ACT(stream_call, cf_stream_call(stream, set_number, &number))
static int is_stream_call_right(int is_done)
{
    NEED(cf_stream_sync(stream));
    return number == (is_done ? 5 : -77);
}

/* ---- Graphs ---- */

static cf_graph_node node;

CLEAN(capturing_alone, end_capture(); NEED(cf_graph_destroy(graph)); graph = NULL; destroy_stream())
PREPARE(capture_begin, make_stream(); graph = NULL)
ACT(capture_begin, cf_stream_capture_begin(stream))
PREPARE(capture_end, make_stream(); NEED(cf_stream_capture_begin(stream)); graph = NULL)
ACT(capture_end, cf_stream_capture_end(stream, &graph))
ACT(is_capturing, cf_stream_is_capturing(stream, &number))
RIGHT(is_capturing, number == (is_done ? 1 : -77))
PREPARE(graph, prepare_capturing(); NEED(fault_axpy_async(stream, 2, dx, dy, N));
        NEED(cf_stream_capture_end(stream, &graph)); exec = NULL)
ACT(graph_instantiate, cf_graph_instantiate(&exec, graph))
RIGHT(graph_instantiate, is_done == (exec != NULL))
CLEAN(graph, NEED(cf_graph_exec_destroy(exec)); exec = NULL; NEED(cf_graph_destroy(graph)); graph = NULL;
      destroy_both())
ACT(graph_destroy, cf_graph_destroy(graph))
CLEAN(graph_gone, graph = NULL; destroy_both())
PREPARE(exec, prepare_graph(); NEED(cf_graph_instantiate(&exec, graph)))
ACT(graph_exec_destroy, cf_graph_exec_destroy(exec))
CLEAN(exec_gone, exec = NULL; NEED(cf_graph_destroy(graph)); graph = NULL; destroy_both())
ACT(graph_launch, cf_graph_launch(exec, stream))
PREPARE(node, prepare_capturing(); NEED(fault_axpy_async(stream, 3, dx, dy, N)); node = NULL)
ACT(capture_node, cf_stream_capture_node(stream, &node))
RIGHT(capture_node, is_done == (node != NULL))
PREPARE(update, prepare_node(); NEED(cf_stream_capture_node(stream, &node));
        NEED(cf_stream_capture_end(stream, &graph)); NEED(cf_graph_instantiate(&exec, graph)))
ACT(graph_update, fault_axpy_update(exec, node, 2, dx, dy, N))
static int is_graph_update_right(int is_done)
{
    if (is_done)
        NEED(cf_graph_launch(exec, stream));
    return is_device_right(is_done);
}

/* ---- The cache of programs ---- */

static char cache[] = "/tmp/cf_fault_XXXXXX";
static cf_cache_state cached;

static void prepare_cache(void)
{
    char path[128];
    memcpy(cache + sizeof cache - 7, "XXXXXX", 6);
    NEED(!mkdtemp(cache));
    snprintf(path, sizeof path, "%s/%064d", cache, 1); /* an entry that has one byte */
    FILE *file = fopen(path, "w");
    NEED(!file || fputc(0, file) != 0 || fclose(file) != 0);
    cached.entries = 77;
}
CLEAN(cache, char command[128]; snprintf(command, sizeof command, "rm -r %s", cache); NEED(system(command)))
ACT(cache_query, cf_cache_query(cache, &cached))
RIGHT(cache_query, cached.entries == (is_done ? 1 : 77))
ACT(cache_clear, cf_cache_clear(cache))
ACT(cache_cap, cf_cache_cap(cache, 0))

/* ---- The scenes ---- */

const struct scene storage_scenes[] = {
    {"cf_device_count", prepare_number, act_device_count, is_device_count_right, NULL, 0},
    {"cf_device_use", NULL, act_device_use, NULL, NULL, 0},
    {"cf_device_use of the CPU", NULL, act_device_use_host, NULL, NULL, 0},
    {"cf_device_current", prepare_number, act_device_current, is_device_current_right, NULL, 0},
    {"cf_device_property memory", prepare_wide, act_property_memory, is_property_right, NULL, 0},
    {"cf_device_property free memory", prepare_wide, act_property_free, is_property_right, NULL, 0},
    {"cf_device_property threads", prepare_wide, act_property_threads, is_property_right, NULL, 0},
    {"cf_device_property capability", prepare_wide, act_property_capability, is_property_right, NULL, CUDA_ONLY},
    {"cf_device_name", prepare_text, act_device_name, is_device_name_right, NULL, 0},
    {"cf_device_property NUMA node", prepare_wide, act_property_numa, is_property_small_right, NULL, 0},
    {"cf_device_property driver", prepare_wide, act_property_driver, is_property_small_right, NULL, 0},
    {"cf_device_uuid", prepare_text, act_device_uuid, is_device_name_right, NULL, 0},
    {"cf_device_pci", prepare_text, act_device_pci, is_device_name_right, NULL, 0},
    {"cf_device_sync", NULL, act_device_sync, NULL, NULL, 0},
    {"cf_peer_possible", prepare_number, act_peer_possible, is_peer_possible_right, NULL, TWO},
    {"cf_peer_enable", NULL, act_peer_enable, NULL, clean_peer, TWO},
    {"cf_peer_disable", prepare_peer_disable, act_peer_disable, NULL, NULL, TWO},
    {"cf_device_reset", prepare_reset, act_device_reset, NULL, NULL, FRESH},
    {"cf_cache_query", prepare_cache, act_cache_query, is_cache_query_right, clean_cache, 0},
    {"cf_cache_clear", prepare_cache, act_cache_clear, NULL, clean_cache, 0},
    {"cf_cache_cap", prepare_cache, act_cache_cap, NULL, clean_cache, 0},
    {"cf_require", NULL, act_require, NULL, NULL, CUDA_ONLY},
    {"cf_shutdown", prepare_shutdown, act_shutdown, NULL, clean_host_data, ANY},
    {"cf_shutdown unused", NULL, act_shutdown, NULL, NULL, 0},
    {"cf_mem_alloc", prepare_memory, act_alloc, is_alloc_right, clean_memory, 0},
    {"cf_mem_alloc_pinned", prepare_memory, act_alloc_pinned, is_alloc_right, clean_memory, 0},
    {"cf_mem_free", prepare_alloced, act_free, NULL, NULL, 0},
    {"cf_mem_free pinned memory", prepare_alloced_pinned, act_free, NULL, NULL, 0},
    {"cf_mem_free memory of a stream", prepare_alloced_async, act_free, NULL, destroy_stream, 0},
    {"cf_mem_alloc_async", prepare_alloc_async, act_alloc_async, is_alloc_right, clean_alloc_async, 0},
    {"cf_mem_alloc_async default stream", prepare_memory, act_alloc_async_default, is_alloc_right,
     clean_alloc_async_default, 0},
    {"cf_mem_free_async", prepare_alloced_async, act_free_async, NULL, destroy_stream, 0},
    {"cf_mem_trim", prepare_trim, act_trim, NULL, destroy_stream, 0},
    {"cf_mem_copy in", prepare_copy, act_copy_in, is_device_right, destroy_arrays, 0},
    {"cf_mem_copy within", prepare_copy, act_copy_within, is_device_right, destroy_arrays, 0},
    {"cf_mem_copy out", prepare_copy_out, act_copy_out, is_host_right, destroy_arrays, 0},
    {"cf_mem_copy on the host", expect_copy, act_copy_on_host, is_host_right, NULL, 0},
    {"cf_mem_copy in, through buffers", prepare_large_copy_in, act_large_copy_in, is_large_device_right,
     clean_large_copy, ANY},
    {"cf_mem_copy out, through buffers", prepare_large_copy, act_large_copy, is_large_right, clean_large_copy, ANY},
    {"cf_mem_copy between GPUs", prepare_copy_peer, act_copy_within, is_device_right, destroy_arrays, TWO},
    {"cf_mem_copy_async", prepare_copy_async, act_copy_async, is_device_right, destroy_both, 0},
    {"cf_mem_copy_2d", prepare_copy_2d, act_copy_2d, is_device_right, destroy_arrays, 0},
    {"cf_mem_copy_2d_async", prepare_copy_2d_async, act_copy_2d_async, is_device_right, destroy_both, 0},
    {"cf_mem_fill", prepare_fill, act_fill, is_device_right, destroy_arrays, 0},
    {"cf_mem_fill_async", prepare_fill_async, act_fill_async, is_device_right, destroy_both, 0},
    {"cf_stream_create", prepare_no_stream, act_stream_create, is_stream_create_right, destroy_stream, 0},
    {"cf_stream_create_with_priority", prepare_no_stream, act_stream_create_with_priority, is_stream_create_right,
     destroy_stream, 0},
    {"cf_stream_destroy", prepare_stream, act_stream_destroy, NULL, clean_stream_gone, 0},
    {"cf_stream_priorities", prepare_number, act_stream_priorities, NULL, NULL, 0},
    {"cf_stream_device", prepare_stream, act_stream_device, is_stream_device_right, destroy_stream, 0},
    {"cf_stream_sync", prepare_stream, act_stream_sync, NULL, destroy_stream, 0},
    {"cf_stream_sync default stream", NULL, act_stream_sync_default, NULL, NULL, 0},
    {"cf_stream_query", prepare_stream, act_stream_query, NULL, destroy_stream, 0},
    {"cf_stream_wait", prepare_events, act_stream_wait, NULL, clean_events, 0},
    {"cf_stream_call", prepare_stream, act_stream_call, is_stream_call_right, destroy_stream, 0},
    {"cf_event_create", prepare_no_event, act_event_create, is_event_create_right, clean_event, 0},
    {"cf_event_create_with", prepare_no_event, act_event_create_with, is_event_create_right, clean_event, 0},
    {"cf_event_destroy", prepare_event, act_event_destroy, NULL, NULL, 0},
    {"cf_event_record", prepare_events, act_event_record, NULL, clean_events, 0},
    {"cf_event_sync", prepare_events, act_event_sync, NULL, clean_events, 0},
    {"cf_event_query", prepare_events, act_event_query, NULL, clean_events, 0},
    {"cf_event_elapsed", prepare_events, act_event_elapsed, is_event_elapsed_right, clean_events, 0},
    {"cf_stream_capture_begin", prepare_capture_begin, act_capture_begin, NULL, clean_capturing_alone, 0},
    {"cf_stream_capture_end", prepare_capture_end, act_capture_end, NULL, clean_capturing_alone, FRESH},
    {"cf_stream_is_capturing", prepare_capturing, act_is_capturing, is_is_capturing_right, clean_capturing, 0},
    {"cf_graph_instantiate", prepare_graph, act_graph_instantiate, is_graph_instantiate_right, clean_graph, 0},
    {"cf_graph_destroy", prepare_graph, act_graph_destroy, NULL, clean_graph_gone, 0},
    {"cf_graph_exec_destroy", prepare_exec, act_graph_exec_destroy, NULL, clean_exec_gone, 0},
    {"cf_graph_launch", prepare_exec, act_graph_launch, is_device_right, clean_graph, FRESH},
    {"cf_stream_capture_node", prepare_node, act_capture_node, is_capture_node_right, clean_capturing, 0},
    {"cf_graph_update", prepare_update, act_graph_update, is_graph_update_right, clean_graph, FRESH},
    {"cf_graph_launch traced", prepare_exec, act_graph_launch, is_device_right, clean_graph, FRESH | TRACED},
    {"cf_device_reset traced", prepare_reset, act_device_reset, NULL, NULL, FRESH | TRACED},
    {"cf_shutdown traced", prepare_shutdown, act_shutdown, NULL, clean_host_data, TRACED},
};
const int storage_scene_count = sizeof storage_scenes / sizeof *storage_scenes;
