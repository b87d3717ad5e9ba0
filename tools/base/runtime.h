/* runtime.h - table of the library's functions, through which tools call the copy of the library that runs kernels.
 * The copy is the program's own, or for a shared object with operations the copy that it is linked with. */
#ifndef RUNTIME_H
#define RUNTIME_H

#include <cuferry.h>
#include <cuferry/registry.h>
#include <cuferry/tuning.h>

#include "base/message.h"

#define RUNTIME_FUNCTIONS(X)   \
    X(cf_call)                 \
    X(cf_device_current)       \
    X(cf_device_name)          \
    X(cf_device_property)      \
    X(cf_device_sync)          \
    X(cf_device_use)           \
    X(cf_event_create)         \
    X(cf_event_destroy)        \
    X(cf_event_elapsed)        \
    X(cf_event_record)         \
    X(cf_kernel_evaluate)      \
    X(cf_kernel_evaluate_real) \
    X(cf_kernel_section)       \
    X(cf_last_error)           \
    X(cf_last_plan)            \
    X(cf_launch)               \
    X(cf_mem_alloc)            \
    X(cf_mem_copy)             \
    X(cf_mem_copy_async)       \
    X(cf_mem_copy_2d_async)    \
    X(cf_mem_fill)             \
    X(cf_mem_fill_async)       \
    X(cf_mem_free)             \
    X(cf_shutdown)             \
    X(cf_stream_call)          \
    X(cf_stream_create)        \
    X(cf_stream_destroy)       \
    X(cf_stream_sync)          \
    X(cf_symbol_set)           \
    X(cf_tuning_class)         \
    X(cf_tuning_path)          \
    X(cf_tuning_save)          \
    X(cf_tuning_variant)

struct runtime {
#define RUNTIME_MEMBER(name) __typeof__(&name) name;
    RUNTIME_FUNCTIONS(RUNTIME_MEMBER)
#undef RUNTIME_MEMBER
};
extern struct runtime runtime;

/* Switches to the copy of the library in a shared object, which dlopen() opened as `path`. No function of the program's
 * own copy may have been called before. */
int runtime_use(void *handle, const char *path, struct message *message);

/* Sets the message to cf_last_error() and returns -1. */
int runtime_failure(struct message *message);

/* Chooses the driver before any other call; NULL: the library chooses. Unless CF_HOST_DATA is set, calls of every size
 * run on a GPU if there is one. */
int runtime_set_environment(const char *driver, struct message *message);

#define cf_call(...) runtime.cf_call(__VA_ARGS__)
#define cf_device_current(...) runtime.cf_device_current(__VA_ARGS__)
#define cf_device_name(...) runtime.cf_device_name(__VA_ARGS__)
#define cf_device_property(...) runtime.cf_device_property(__VA_ARGS__)
#define cf_device_sync(...) runtime.cf_device_sync(__VA_ARGS__)
#define cf_device_use(...) runtime.cf_device_use(__VA_ARGS__)
#define cf_event_create(...) runtime.cf_event_create(__VA_ARGS__)
#define cf_event_destroy(...) runtime.cf_event_destroy(__VA_ARGS__)
#define cf_event_elapsed(...) runtime.cf_event_elapsed(__VA_ARGS__)
#define cf_event_record(...) runtime.cf_event_record(__VA_ARGS__)
#define cf_kernel_evaluate(...) runtime.cf_kernel_evaluate(__VA_ARGS__)
#define cf_kernel_evaluate_real(...) runtime.cf_kernel_evaluate_real(__VA_ARGS__)
#define cf_kernel_section(...) runtime.cf_kernel_section(__VA_ARGS__)
#define cf_last_error(...) runtime.cf_last_error(__VA_ARGS__)
#define cf_last_plan(...) runtime.cf_last_plan(__VA_ARGS__)
#define cf_launch(...) runtime.cf_launch(__VA_ARGS__)
#define cf_mem_alloc(...) runtime.cf_mem_alloc(__VA_ARGS__)
#define cf_mem_copy(...) runtime.cf_mem_copy(__VA_ARGS__)
#define cf_mem_copy_async(...) runtime.cf_mem_copy_async(__VA_ARGS__)
#define cf_mem_copy_2d_async(...) runtime.cf_mem_copy_2d_async(__VA_ARGS__)
#define cf_mem_fill(...) runtime.cf_mem_fill(__VA_ARGS__)
#define cf_mem_fill_async(...) runtime.cf_mem_fill_async(__VA_ARGS__)
#define cf_mem_free(...) runtime.cf_mem_free(__VA_ARGS__)
#define cf_shutdown(...) runtime.cf_shutdown(__VA_ARGS__)
#define cf_stream_call(...) runtime.cf_stream_call(__VA_ARGS__)
#define cf_stream_create(...) runtime.cf_stream_create(__VA_ARGS__)
#define cf_stream_destroy(...) runtime.cf_stream_destroy(__VA_ARGS__)
#define cf_stream_sync(...) runtime.cf_stream_sync(__VA_ARGS__)
#define cf_symbol_set(...) runtime.cf_symbol_set(__VA_ARGS__)
#define cf_tuning_class(...) runtime.cf_tuning_class(__VA_ARGS__)
#define cf_tuning_path(...) runtime.cf_tuning_path(__VA_ARGS__)
#define cf_tuning_save(...) runtime.cf_tuning_save(__VA_ARGS__)
#define cf_tuning_variant(...) runtime.cf_tuning_variant(__VA_ARGS__)

#endif
