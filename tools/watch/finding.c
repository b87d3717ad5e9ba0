/* finding.c - sends findings of a checked kernel to the cf-run that started this one. */
#include "watch/finding.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/quiet.h"

const cf_kernel *finding_kernel, *finding_operation;

static int findings = -1; /* file descriptor; -1: none */
static const char *module_path;

void finding_begin(int descriptor, const char *path)
{
    findings = descriptor;
    module_path = path;
}

const char *finding_module(void)
{
    return module_path;
}

void finding_tell(const char *format, ...)
{
    char text[2048];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text - 256, format, values);
    va_end(values);
    int length = (int)strlen(text);
    const int is_within = finding_kernel && finding_operation && finding_kernel != finding_operation;
    length += snprintf(text + length, sizeof text - (size_t)length, " [%.120s%s%.120s]\n",
                       finding_kernel ? finding_kernel->name : "", is_within ? " in " : "",
                       is_within ? finding_operation->name : "");
    for (int at = 0; at < length;) {
        ssize_t written = write(findings, text + at, (size_t)(length - at));
        if (written <= 0)
            return;
        at += (int)written;
    }
}

void finding_tell_next(void)
{
    if (!crash_next())
        return;
    (void)dprintf(findings, FINDING_NEXT "%s\n", crash_next());
    if (crash_shares_output()) /* the finding is printed next, and the kernel's line is repeated after it */
        (void)dprintf(quiet_output(), "\n");
}

int finding_is_new(const void *pc)
{
    static const void *places[64];
    static int count;
    for (int i = 0; i < count; i++)
        if (places[i] == pc)
            return 0;
    if (count == (int)(sizeof places / sizeof *places))
        return 0;
    places[count++] = pc;
    return 1;
}

unsigned long finding_offset(const void *address)
{
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_fname || strcmp(info.dli_fname, module_path) != 0)
        return 0;
    return (unsigned long)((uintptr_t)address - (uintptr_t)info.dli_fbase);
}
