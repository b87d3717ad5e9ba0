/* Calls the kernel of libhello.so through dlopen(). The environment variable HELLO_LIBRARY_DIR names its folder. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    const char *folder = getenv("HELLO_LIBRARY_DIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/libhello.so", folder ? folder : ".");
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int (*hello)(void) = (int (*)(void))dlsym(library, "hello_hello");
    const char *(*last_error)(void) = (const char *(*)(void))dlsym(library, "cf_last_error");
    if (!hello || !last_error) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    if (hello()) {
        fprintf(stderr, "%s\n", last_error());
        return 1;
    }
    return 0;
}
