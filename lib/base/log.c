/* log.c - reports failures and rare events to the application's callback. */
#include <pthread.h>
#include <stdarg.h>
#include <string.h>

#include <cuferry.h>

#include "base/log.h"

#include "base/bounds.h"
#include "base/current_operation.h"
#include "base/lock.h"
#include "base/text.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects callback and callback_data */
static cf_log *callback;
static void *callback_data;
int cf__logging;

/* The header forbids a callback to call the library; this state stops the recursion of a callback that does. */
static _Thread_local enum { OUTSIDE, INSIDE, CHILD_OF_INSIDE } callback_state;

void cf_set_log(cf_log *log, void *data)
{
    cf__lock(&lock);
    callback = log;
    callback_data = data;
    __atomic_store_n(&cf__logging, log != NULL, __ATOMIC_RELAXED);
    cf__unlock(&lock);
}

static void call_callback(int level, const char *text)
{
    cf__lock(&lock);
    cf_log *log = callback;
    void *data = callback_data;
    cf__unlock(&lock);
    if (!log)
        return;
    /* The callback may fork. The fork handler clears cf__current_operation in the child, and if the child returns from
     * the callback, it continues the operation. */
    const struct cf__operation_frame *within = cf__current_operation;
    callback_state = INSIDE;
    log(data, level, text);
    callback_state = OUTSIDE;
    cf__current_operation = within;
}

/* ---- Lines delayed until the thread holds no lock ---- */

static _Thread_local char waiting[2048]; /* lines, each a byte for the level, the text, and a zero byte */
static _Thread_local size_t waiting_bytes;
static _Thread_local int lost_lines; /* number of lines that did not fit */

static int take_line(int *level, char text[CF__DETAIL])
{
    if (!waiting_bytes)
        return 0;
    size_t bytes = 1 + strlen(waiting + 1) + 1;
    *level = waiting[0];
    memcpy(text, waiting + 1, bytes - 1);
    waiting_bytes -= bytes;
    memmove(waiting, waiting + bytes, waiting_bytes);
    return 1;
}

/* Passes the delayed lines to the callback. */
static void flush_lines(void)
{
    char text[CF__DETAIL];
    int level;
    cf__thread_locks.all_released = NULL;
    while (take_line(&level, text))
        call_callback(level, text);
    if (lost_lines) {
        cf__format(text, sizeof text, "%d more lines found no room", lost_lines);
        lost_lines = 0;
        call_callback(CF_LOG_INFO, text);
    }
}

static void keep_line(int level, const char *text)
{
    size_t bytes = 1 + strlen(text) + 1;
    cf__thread_locks.all_released = flush_lines;
    if (bytes > sizeof waiting - waiting_bytes) {
        lost_lines++;
        return;
    }
    waiting[waiting_bytes] = (char)level;
    memcpy(waiting + waiting_bytes + 1, text, bytes - 1);
    waiting_bytes += bytes;
}

void cf__log_line(int level, const char *format, ...)
{
    char text[CF__DETAIL];
    va_list values;
    if (callback_state != OUTSIDE)
        return;
    va_start(values, format);
    cf__vformat(text, sizeof text, format, values);
    va_end(values);
    if (cf__thread_locks.held)
        keep_line(level, text);
    else
        call_callback(level, text);
}

int cf__log_is_inside(void)
{
    return callback_state == INSIDE;
}

/* ---- Fork ---- */

void cf__log_lock(void)
{
    cf__lock(&lock);
}

void cf__log_unlock(void)
{
    cf__unlock(&lock);
}

void cf__log_forget(void)
{
    if (callback_state == INSIDE)
        callback_state = CHILD_OF_INSIDE;
    waiting_bytes = 0;
    lost_lines = 0;
    cf__thread_locks.all_released = NULL;
}
