/* diagnosis.c - finds out why a process uses no GPU: from the driver, the device files and the hardware. */
#include "info/diagnosis.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuferry.h>
#include <cuferry/find.h>

#define PCI_DEVICES "/sys/bus/pci/devices"
#define MODULE "/proc/driver/nvidia/version"

/* Reads the first line of a file; "" if there is none. */
static void read_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "r");
    *line = 0;
    if (!file)
        return;
    if (!fgets(line, (int)size, file))
        *line = 0;
    line[strcspn(line, "\n")] = 0;
    fclose(file);
}

void diagnosis_kernel_module(char *text, size_t size)
{
    static const char label[] = "NVRM version:";
    char line[256];
    read_line(MODULE, line, sizeof line);
    const char *begin = strncmp(line, label, sizeof label - 1) == 0 ? line + sizeof label - 1 : line;
    snprintf(text, size, "%s", begin + strspn(begin, " "));
}

/* Counts NVIDIA's display and 3D controllers on the PCI bus. */
static int count_gpus(void)
{
    DIR *folder = opendir(PCI_DEVICES);
    const struct dirent *item;
    int count = 0;
    while (folder && (item = readdir(folder)) != NULL) {
        char path[512], vendor[16], class[16];
        snprintf(path, sizeof path, PCI_DEVICES "/%s/vendor", item->d_name);
        read_line(path, vendor, sizeof vendor);
        snprintf(path, sizeof path, PCI_DEVICES "/%s/class", item->d_name);
        read_line(path, class, sizeof class);
        count += strcmp(vendor, "0x10de") == 0 && strncmp(class, "0x03", 4) == 0;
    }
    if (folder)
        closedir(folder);
    return count;
}

__attribute__((format(printf, 3, 4))) static void add_text(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list values;
    va_start(values, format);
    vsnprintf(text + used, size - used, format, values);
    va_end(values);
}

/* Explains why CUDA could not be used; `reason` is the library's message. */
static void explain_failure(char *text, size_t size, const char *reason)
{
    const char *path, *visible = getenv("CUDA_VISIBLE_DEVICES");
    char module[256];
    int gpus = count_gpus(), has_library = cf_find("libcuda", &path) == CF_OK;
    diagnosis_kernel_module(module, sizeof module);
    add_text(text, size, "CUDA cannot be used: %s.", reason);
    if (!gpus && !*module)
        add_text(text, size, " This machine shows no NVIDIA GPU on its PCI bus.");
    else if (gpus)
        add_text(text, size, " The PCI bus has %d NVIDIA GPU%s.", gpus, gpus == 1 ? "" : "s");
    if (!has_library && *module)
        add_text(text, size,
                 " NVIDIA's kernel module is loaded and its library is missing: in a container, start it with "
                 "its GPUs (--gpus all) and with NVIDIA_DRIVER_CAPABILITIES=compute,utility; elsewhere, "
                 "install the driver's libraries.");
    else if (!has_library && gpus)
        add_text(text, size, " NVIDIA's driver is not installed.");
    else if (has_library && gpus && access("/dev/nvidiactl", F_OK) != 0)
        add_text(text, size,
                 " /dev/nvidiactl is missing: the kernel module is not loaded, or this is a container without "
                 "its GPUs (--gpus all).");
    if (visible)
        add_text(text, size, " CUDA_VISIBLE_DEVICES=%s hides all GPUs that it does not name.", visible);
}

void diagnosis_why_no_gpu(char *text, size_t size)
{
    static const char function[] = "cf_require(CF_CUDA): ";
    char reason[1024];
    int count = 0;
    *text = 0;
    if (cf_device_count(&count) == CF_OK && count > 0)
        return;
    const char *detail = cf_require(CF_CUDA) == CF_OK ? "" : cf_last_error();
    detail += strncmp(detail, function, sizeof function - 1) == 0 ? sizeof function - 1 : 0;
    snprintf(reason, sizeof reason, "%s", detail);
    if (strncmp(reason, "CF_", 3) == 0 || strstr(reason, "configured for the CPU"))
        add_text(text, size, "%s.", reason);
    else
        explain_failure(text, size, reason);
}
