/* runtime.c - chooses the copy of the library that runs kernels: the program's own, or that of a shared object. */
#include "base/runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OWN(name) .name = name,
struct runtime runtime = {RUNTIME_FUNCTIONS(OWN)};

int runtime_use(void *handle, const char *path, struct message *message)
{
#define FIND(name)                                                                                                  \
    *(void **)&runtime.name = dlsym(handle, #name);                                                                 \
    if (!runtime.name)                                                                                              \
        return message_set(message, "%s: it has operations, and lacks %s(), which runs them; build it again", path, \
                           #name);
    RUNTIME_FUNCTIONS(FIND)
    return 0;
}

int runtime_failure(struct message *message)
{
    return message_set(message, "%s", cf_last_error());
}

int runtime_set_environment(const char *driver, struct message *message)
{
    if (driver && setenv("CF_DRIVER", driver, 1) != 0)
        return message_set(message, "CF_DRIVER: %s", strerror(errno));
    if (setenv("CF_HOST_DATA", "stage", 0) != 0)
        return message_set(message, "CF_HOST_DATA: %s", strerror(errno));
    return 0;
}
