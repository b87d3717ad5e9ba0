/* fault_data.h - arrays and handles that the scenes of test_fault.c share, and macros to write a scene. */
#ifndef FAULT_DATA_H
#define FAULT_DATA_H

#include <stdint.h>

#include "fault_sweep.h"

enum { N = 400, M = 300, NX = 30, NY = 12, LD = 37, ROWS = NY * LD };
enum { LARGE = 200 * 1000 };
#define OLD (-5.f)

extern float x[ROWS], y[ROWS], expected[ROWS];
extern int32_t picked[N];
extern float *dx, *dy;
extern int32_t *dpicked;
extern cf_stream stream, other_stream;
extern cf_event event, other_event;
extern cf_graph graph;
extern cf_graph_exec exec;
extern void *memory;
extern int number, other_number;
extern int64_t wide;
extern float milliseconds;
extern char text[64];
extern float large_x[LARGE], large_y[LARGE], large_new[LARGE];
extern int32_t large_picked[LARGE];

int is_array_right(const float *array, int is_done);
void fill_host(void);
void expect_axpy(void);
void expect_pick(void);
void expect_rows(void);
void expect_mirror(void);
void expect_copy(void);
void expect_copy_2d(void);
void expect_fill(void);
void upload(void);
void make_stream(void);
void destroy_arrays(void);
void destroy_stream(void);
void destroy_both(void);
int is_host_right(int is_done);
int is_device_right(int is_done);
void fill_large(void);
int is_large_right(int is_done);
void end_capture(void);
int is_capture_right(int is_done);
void prepare_capturing(void);
void clean_capturing(void);
void clean_host_data(void);

/* ---- Parts of a scene ---- */

#define PREPARE(name, ...)           \
    static void prepare_##name(void) \
    {                                \
        __VA_ARGS__;                 \
    }
#define ACT(name, call)         \
    static int act_##name(void) \
    {                           \
        return call;            \
    }
#define RIGHT(name, condition)                \
    static int is_##name##_right(int is_done) \
    {                                         \
        (void)is_done;                        \
        return condition;                     \
    }
#define CLEAN(name, ...)           \
    static void clean_##name(void) \
    {                              \
        __VA_ARGS__;               \
    }

/* ---- The scenes ---- */

/* The scenes about devices, memory, streams, events and graphs; about kernels and constants; about programs. */
extern const struct scene storage_scenes[], launch_scenes[], program_scenes[];
extern const int storage_scene_count, launch_scene_count, program_scene_count;

#endif
