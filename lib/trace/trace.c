/* trace.c - writes the text of a trace, so that the file is a complete JSON array after each write.
 *
 * If a process is killed, the system may cut a write between two pages, but not within a page. So events and the
 * array's end are written one page at a time: no event crosses the end of a page, and blanks fill the rest of a page.
 * Only when the end moves from a full page to the next one, its four bytes are in two pages.
 *
 * A killed process loses its last second of events. cf_shutdown() and the process's end write the rest. If the library
 * is used again after cf_shutdown(), the trace continues in the same file. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cuferry.h>

#include "trace/trace.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/error.h"
#include "base/fast.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/text.h"
#include "base/write.h"
#include "trace/trace_file.h"

#define TEXT ((size_t)1 << 16) /* bytes of the buffer */
#define EVENT 1024             /* maximum bytes of an event */
#define SECOND 1000000000

#define PAGE 4096 /* bytes of the smallest page */

#define START "[\n"
#define END "]\n"
#define BLANKS "  " /* as many bytes as END */
#define END_BYTES (sizeof END - 1)

int cf__trace_on;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* lock for the variables below */
static int descriptor = -1;
static char path[PATH_MAX];
static struct stat identity; /* identity of the file, because a program may close our descriptor and reuse its number */
static pid_t process;        /* process that writes the file, or 0 */
static off_t written;        /* offset of the array's end */
static char *text;           /* buffer of the events that are not in the file yet */
static size_t used;          /* bytes used of `text` */
static int64_t flushed;      /* time of the latest write in ns */
static int is_refused;       /* 1 if another writer has the file; reset by cf_shutdown() */
static int is_child;         /* 1 in a forked child of a process that wrote a trace */
static unsigned int generation;

static _Thread_local unsigned int named; /* generation in which the thread's row was named */
static _Thread_local pid_t thread;

/* ---- Writing; the caller holds the lock ---- */

/* Returns 1 if the descriptor is still the trace's file and this process opened it. */
static int is_our_file(void)
{
    struct stat now;
    return getpid() == process && fstat(descriptor, &now) == 0 && now.st_dev == identity.st_dev &&
           now.st_ino == identity.st_ino;
}

static void stop_trace(void)
{
    __atomic_store_n(&cf__trace_on, 0, __ATOMIC_RELAXED);
    cf__slow_path_set(CF__SLOW_PATH_TRACE, 0);
    descriptor = -1;
    used = 0;
}

/* Ends the array after the last event that was written completely. */
static void truncate_file(void)
{
    (void)cf__write(descriptor, END, END_BYTES, written);
    (void)!ftruncate(descriptor, written + (off_t)END_BYTES);
}

/* Moves the array's end from a full page to the beginning of the next page. */
static int turn_page(void)
{
    if (cf__write(descriptor, BLANKS END, 2 * END_BYTES, written) != 0)
        return -1;
    written += (off_t)END_BYTES;
    return 0;
}

/* Writes the text in pieces, each up to the end of a page and followed by the array's end. */
static int write_text(void)
{
    for (size_t done = 0; done < used;) {
        size_t left = PAGE - END_BYTES - (size_t)(written % PAGE), count = used - done < left ? used - done : left;
        char after[END_BYTES];
        memcpy(after, text + done + count, END_BYTES);
        memcpy(text + done + count, END, END_BYTES);
        int status = cf__write(descriptor, text + done, count + END_BYTES, written);
        memcpy(text + done + count, after, END_BYTES);
        if (status != 0)
            return -1;
        written += (off_t)count;
        done += count;
        if (count < left)
            continue;
        if (turn_page() != 0)
            return -1;
        done += END_BYTES;
    }
    used = 0;
    return 0;
}

/* Writes the text. If that fails, the trace ends; the file remains readable. */
static void flush_text(void)
{
    if (descriptor < 0 || used == 0)
        return;
    if (!is_our_file()) {
        stop_trace();
    } else if (write_text() != 0) {
        int error = errno;
        truncate_file();
        close(descriptor);
        stop_trace();
        cf__log(CF_LOG_INFO, "CF_TRACE=%s: the trace ends here: %s", path, cf__strerror(error));
    }
    flushed = cf__now();
}

/* ---- Text ---- */

/* Returns the bytes of the UTF-8 character that begins here, or 0 if there is none. */
static size_t count_bytes(const unsigned char *at)
{
    static const struct {
        unsigned char first, last;  /* range of the first byte */
        unsigned char second, upto; /* range of the second byte */
        size_t bytes;
    } forms[] = {{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
                 {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
                 {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    if (*at < 0x80)
        return 1;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (*at < forms[i].first || *at > forms[i].last || at[1] < forms[i].second || at[1] > forms[i].upto)
            continue;
        for (size_t next = 2; next < forms[i].bytes; next++)
            if ((at[next] & 0xc0) != 0x80)
                return 0;
        return forms[i].bytes;
    }
    return 0;
}

char *cf__trace_quote(char *quoted, size_t size, const char *from)
{
    size_t length = 0;
    for (const unsigned char *at = (const unsigned char *)from; *at;) {
        char piece[8];
        size_t bytes = count_bytes(at);
        if (*at == '"' || *at == '\\')
            snprintf(piece, sizeof piece, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f)
            snprintf(piece, sizeof piece, "\\u%04x", *at);
        else
            snprintf(piece, sizeof piece, "%.*s", bytes ? (int)bytes : 6,
                     bytes ? (const char *)at : "\\ufffd"); /* replacement of bytes that are not UTF-8 */
        at += bytes ? bytes : 1;
        size_t more = strlen(piece);
        if (length + more >= size)
            break;
        memcpy(quoted + length, piece, more);
        length += more;
    }
    quoted[length] = 0;
    return quoted;
}

/* Format of microseconds with three decimals, independent of the locale. */
#define TIME "%lld.%03lld"
#define TIME_OF(nanoseconds) (long long)((nanoseconds) / 1000), (long long)((nanoseconds) % 1000)

/* Moves an event to the next page if the current page has no room for it and the array's end, by putting blanks before
 * it. Returns the bytes of the event and the blanks. */
static size_t pad_event(char *event, size_t length, off_t at)
{
    size_t left = PAGE - (size_t)(at % PAGE);
    if (length + END_BYTES <= left)
        return length;
    memmove(event + left, event, length);
    memset(event, ' ', left);
    return left + length;
}

/* The caller holds the lock. */
static void append_event(const struct cf__trace_event *event)
{
    char name[256], *to = text + used;
    size_t length = 0;
#define ADD(...)                                                        \
    do {                                                                \
        int more_ = snprintf(to + length, EVENT - length, __VA_ARGS__); \
        length = more_ < 0 ? EVENT : length + (size_t)more_;            \
        if (length >= EVENT)                                            \
            return;                                                     \
    } while (0)
    int64_t begin = event->begin < 0 ? 0 : event->begin, done = event->end < begin ? begin : event->end;
    ADD(",\n{\"ph\": \"%c\", \"pid\": %lld, \"tid\": %lld, \"name\": \"%s\"", event->phase,
        (long long)(event->process ? event->process : process), (long long)(event->process ? event->row : thread),
        cf__trace_quote(name, sizeof name, event->name));
    if (event->category)
        ADD(", \"cat\": \"%s\"", event->category);
    if (event->phase != 'M')
        ADD(", \"ts\": " TIME, TIME_OF(begin));
    if (event->phase == 'X')
        ADD(", \"dur\": " TIME, TIME_OF(done - begin));
    if (event->arrow)
        ADD(", \"id\": %llu", (unsigned long long)event->arrow);
    if (event->phase == 'f')
        ADD(", \"bp\": \"e\"");
    if (event->phase == 'i')
        ADD(", \"s\": \"p\"");
    if (event->args)
        ADD(", \"args\": {%s}", event->args);
    ADD("}");
#undef ADD
    used += pad_event(to, length, written + (off_t)used);
    if (used + 2 * EVENT + END_BYTES > TEXT || cf__now() - flushed > SECOND)
        flush_text();
}

void cf__trace_get_row(int64_t *of_process, int64_t *row)
{
    if (!thread)
        thread = (pid_t)syscall(SYS_gettid);
    *of_process = getpid();
    *row = thread;
}

/* Names the row of the calling thread before its first event. The caller holds the lock. */
static void name_thread(void)
{
    char name[17] = "thread", quoted[6 * sizeof name], args[sizeof quoted + 16];
    int64_t of_process, row;
    cf__trace_get_row(&of_process, &row);
    named = generation;
    (void)prctl(PR_GET_NAME, name);
    snprintf(args, sizeof args, "\"name\": \"%s\"", cf__trace_quote(quoted, sizeof quoted, name));
    append_event(&(struct cf__trace_event){.phase = 'M', .name = "thread_name", .args = args});
}

void cf__trace_write(const struct cf__trace_event *event)
{
    cf__lock(&lock);
    if (descriptor >= 0 && !event->process && named != generation)
        name_thread();
    if (descriptor >= 0)
        append_event(event);
    cf__unlock(&lock);
}

void cf__trace_span_end(int64_t begin, const char *category, const char *name, const char *format, ...)
{
    if (!begin)
        return;
    char args[2 * CF__TRACE_ARGS];
    int length = 0;
    if (format) {
        va_list values;
        va_start(values, format);
        length = cf__vformat(args, sizeof args, format, values);
        va_end(values);
    }
    int fits = length > 0 && (size_t)length < sizeof args; /* a truncated object is not valid JSON */
    cf__trace_write(&(struct cf__trace_event){.phase = 'X',
                                              .category = category,
                                              .name = name,
                                              .begin = begin,
                                              .end = cf__now(),
                                              .args = fits ? args : NULL});
}

/* ---- Begin and end ---- */

/* Writes an array with the process's name. If it does not fit, removes the file. */
static int write_start(void)
{
    char first[512], quoted[128];
    struct stat there;
    int length =
        snprintf(first, sizeof first,
                 START "{\"ph\": \"M\", \"pid\": %d, \"tid\": %d, \"name\": \"process_name\", "
                       "\"args\": {\"name\": \"%s\"}}" END,
                 (int)getpid(), (int)getpid(), cf__trace_quote(quoted, sizeof quoted, program_invocation_short_name));
    if (S_ISREG(identity.st_mode) && ftruncate(descriptor, 0) != 0)
        return -1;
    written = length - (off_t)END_BYTES;
    if (cf__write(descriptor, first, (size_t)length, 0) == 0)
        return 0;
    int error = errno;
    if (S_ISREG(identity.st_mode) && lstat(path, &there) == 0 && there.st_dev == identity.st_dev &&
        there.st_ino == identity.st_ino)
        (void)unlink(path); /* if it is a symbolic link, the user made it, so it is not removed */
    errno = error;
    return -1;
}

/* Opens the file and stores `path`; begins an array unless this process continues one. Returns -1 with `errno` on
 * failure. The caller holds the lock. */
static int open_file(const char *name)
{
    struct stat found = {.st_mode = 0};
    descriptor = cf__trace_open_file(name, path);
    if (descriptor < 0)
        return -1;
    (void)fstat(descriptor, &found);
    const int is_same = process == getpid() && found.st_dev == identity.st_dev && found.st_ino == identity.st_ino &&
                        found.st_size == written + (off_t)END_BYTES;
    identity = found;
    if (is_same || write_start() == 0)
        return 0;
    int error = errno;
    close(descriptor);
    descriptor = -1;
    errno = error;
    return -1;
}

static int start_trace(const char *name)
{
    if (!text && (text = malloc(TEXT)) == NULL)
        return cf__fail(CF_ENOMEM, "CF_TRACE=%s: no memory for the trace", name);
    if (open_file(name) != 0) {
        int error = errno;
        free(text);
        text = NULL;
        if (error != EAGAIN)
            return cf__fail(CF_EINVAL, "CF_TRACE=%s: the file cannot be written: %s", path, cf__strerror(error));
        is_refused = 1;
        cf__log(CF_LOG_INFO,
                "CF_TRACE=%s: this process writes no trace: another process or copy of the library has the file, or "
                "it exists and cannot be locked; %%p in the name stands for the process number",
                path);
        return CF_OK;
    }
    process = getpid();
    used = 0;
    flushed = cf__now();
    generation++;
    __atomic_store_n(&cf__trace_on, 1, __ATOMIC_RELAXED);
    cf__slow_path_set(CF__SLOW_PATH_TRACE, 1);
    return CF_OK;
}

int cf__trace_open(void)
{
    const char *name = cf__env_file("CF_TRACE");
    if (!name || !*name)
        return CF_OK;
    cf__lock(&lock);
    int status = cf__trace_is_on() || is_refused || is_child ? CF_OK : start_trace(name);
    cf__unlock(&lock);
    return status;
}

int cf__trace_is_child(void)
{
    return is_child;
}

void cf__trace_close_file(int is_final)
{
    cf__lock(&lock);
    flush_text();
    if (descriptor >= 0 && is_our_file())
        close(descriptor);
    descriptor = -1;
    if (is_final) {
        free(text);
        text = NULL;
        is_refused = 0;
    }
    cf__unlock(&lock);
}

/* ---- Fork ---- */

void cf__trace_lock(void)
{
    cf__lock(&lock);
}

void cf__trace_unlock(void)
{
    cf__unlock(&lock);
}

void cf__trace_forget(void)
{
    if (descriptor >= 0 || process)
        is_child = 1;
    if (descriptor >= 0)
        close(descriptor);
    stop_trace();
}
