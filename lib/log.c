/* log.c - the callback that is told of failures and of what happens rarely. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "internal.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the pair below */
static cf_log *callback;
static void *callback_data;
int cf__logging;

/* A callback that calls the library in spite of what the header says must not call itself without end. */
static _Thread_local int is_inside;

void cf_set_log(cf_log *log, void *data)
{
    pthread_mutex_lock(&lock);
    callback = log;
    callback_data = data;
    __atomic_store_n(&cf__logging, log != NULL, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
}

void cf__log_line(int level, const char *format, ...)
{
    char text[CF__DETAIL];
    va_list values;
    if (is_inside)
        return;
    va_start(values, format);
    cf__vformat(text, sizeof text, format, values);
    va_end(values);
    pthread_mutex_lock(&lock);
    cf_log *log = callback;
    void *data = callback_data;
    pthread_mutex_unlock(&lock);
    if (!log)
        return;
    is_inside = 1;
    log(data, level, text);
    is_inside = 0;
}

int cf__log_is_inside(void)
{
    return is_inside;
}

void cf__log_lock(void)
{
    pthread_mutex_lock(&lock);
}

void cf__log_unlock(void)
{
    pthread_mutex_unlock(&lock);
}
