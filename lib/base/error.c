/* error.c - status codes, and each thread's detail of its latest failure. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cuferry.h>

#include "base/error.h"

#include "base/bounds.h"
#include "base/log.h"
#include "base/text.h"

static _Thread_local char detail[CF__DETAIL];
static _Thread_local unsigned int failures;
static _Thread_local int is_quiet; /* nonzero between cf__error_save() and cf__error_restore() or cf__error_keep() */
static _Thread_local int driver_result;
static _Thread_local char cause[500];      /* cause of the CPU driver's latest failure; empty once a detail includes
                                            * it */
static _Thread_local const char *async_of; /* function whose `_async` form is running, or NULL */

const char *cf_status_name(int status)
{
    switch (status) {
#define NAME(name, value, text) \
    case name:                  \
        return #name;
        CF_STATUS_LIST(NAME)
#undef NAME
    default:
        return "CF_?";
    }
}

const char *cf_status_text(int status)
{
    switch (status) {
#define TEXT(name, value, text) \
    case name:                  \
        return text;
        CF_STATUS_LIST(TEXT)
#undef TEXT
    default:
        return "unknown status";
    }
}

const char *cf_last_error(void)
{
    return detail;
}

int cf_last_driver_result(void)
{
    return driver_result;
}

void cf__error_name_async(const char *function)
{
    async_of = function;
}

const char *cf__error_async_name(void)
{
    return async_of;
}

/* Inserts "_async" after the function's name, if the detail begins with it. */
static void insert_async(void)
{
    static const char suffix[] = "_async";
    const size_t added = sizeof suffix - 1, name = async_of ? strlen(async_of) : sizeof detail;
    if (name + added >= sizeof detail || strncmp(detail, async_of, name) != 0 || detail[name] != ':')
        return;
    size_t tail = strlen(detail) - name;
    if (name + added + tail >= sizeof detail)
        tail = sizeof detail - 1 - name - added;
    memmove(detail + name + added, detail + name, tail);
    memcpy(detail + name, suffix, added);
    detail[name + added + tail] = 0;
}

static void log_detail(void)
{
    if (!is_quiet)
        cf__log(CF_LOG_ERROR, "%s", detail);
}

unsigned int cf__error_count(void)
{
    return failures;
}

int cf__fail_within(const char *function, int status)
{
    char within[CF__DETAIL];
    snprintf(within, sizeof within, "%s", detail);
    cf__format(detail, sizeof detail, "%.200s: in %s", function, within);
    insert_async();
    log_detail();
    return status;
}

static int note_failure(int status, int result)
{
    insert_async();
    driver_result = result;
    failures++;
    log_detail();
    return status;
}

int cf__fail(int status, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    cf__vformat(detail, sizeof detail, format, values);
    va_end(values);
    return note_failure(status, 0);
}

int cf__fail_result(int status, int result, const char *text)
{
    snprintf(detail, sizeof detail, "%s", text);
    return note_failure(status, result);
}

void cf__error_note_cause(const char *text)
{
    snprintf(cause, sizeof cause, "%s", text);
}

int cf__error_take_cause(char *text, size_t size)
{
    int is_there = *cause != 0;
    if (is_there)
        snprintf(text, size, "%s", cause);
    *cause = 0;
    return is_there;
}

int cf_report(int status, const char *text)
{
    if (status >= 0)
        return cf__fail(CF_EINVAL, "cf_report: status = %d is no failure", status);
    if (!text)
        return cf__fail(CF_EINVAL, "cf_report: text is NULL");
    return cf__fail_result(status, 0, text);
}

/* ---- Saved details ---- */

void cf__error_copy(struct cf__error *error)
{
    memcpy(error->detail, detail, strlen(detail) + 1);
    error->result = driver_result;
}

void cf__error_save(struct cf__error *error)
{
    cf__error_copy(error);
    error->failures = failures;
    error->is_quiet = is_quiet;
    is_quiet = 1;
}

void cf__error_restore(const struct cf__error *error)
{
    is_quiet = error->is_quiet;
    if (failures == error->failures)
        return;
    memcpy(detail, error->detail, strlen(error->detail) + 1);
    driver_result = error->result;
    failures = error->failures;
}

void cf__error_keep(const struct cf__error *error)
{
    is_quiet = error->is_quiet;
    if (failures != error->failures)
        log_detail();
}

int cf__fail_as(int status, const struct cf__error *error)
{
    memcpy(detail, error->detail, strlen(error->detail) + 1);
    driver_result = error->result;
    failures++;
    log_detail();
    return status;
}
