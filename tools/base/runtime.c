/* runtime.c - the library that runs kernels: the one in this program or, for a shared object with operations, the one in that. */
#include "base/runtime.h"

#include <dlfcn.h>

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
