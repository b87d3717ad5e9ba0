/* open_plugin.h - opens the shared object of plugin.c, for tests of what remains after it is closed. */
#ifndef OPEN_PLUGIN_H
#define OPEN_PLUGIN_H

#include "played_gpu.h"

#include "plugin.h"

/* Opens the shared object that lies beside the program. */
static inline void *open_plugin(void)
{
    char self[PATH_MAX], fake[PATH_MAX], path[PATH_MAX];
    find_paths(self, fake);
    char *slash = strrchr(self, '/');
    assert_true(snprintf(path, sizeof path, "%.*s/plugin.so", slash ? (int)(slash - self) : 0, self) < PATH_MAX);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    return library;
}

static inline void (*plugin_function(void *library, const char *name))(void)
{
    void (*function)(void);
    *(void **)&function = dlsym(library, name);
    if (!function)
        fail_msg("%s", dlerror());
    return function;
}

/* Closes the shared object, and asserts that the code at `place` is unmapped. */
static inline void close_plugin(void *library, const void *place)
{
    Dl_info info;
    assert_int_not_equal(dladdr(place, &info), 0);
    assert_int_equal(dlclose(library), 0);
    assert_int_equal(dladdr(place, &info), 0);
}

#endif
