/* unpack.c - decompresses code with libraries that are opened at run time and never linked. */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "program/unpack.h"

static void *find_function(const char *library, const char *name)
{
    void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    void *function = opened ? dlsym(opened, name) : NULL;
    if (opened)
        dlclose(opened);
    return function;
}

/* The two functions below return 1 if the output has exactly `unpacked` bytes. */
static int run_lz4(void *address, const char *data, size_t size, char *code, size_t unpacked)
{
    int (*decompress)(const char *data, char *code, int size, int room);
    memcpy(&decompress, &address, sizeof decompress);
    return decompress(data, code, (int)size, (int)unpacked) == (int)unpacked;
}

static int run_zstd(void *address, const char *data, size_t size, char *code, size_t unpacked)
{
    size_t (*decompress)(void *code, size_t room, const void *data, size_t size);
    memcpy(&decompress, &address, sizeof decompress);
    return decompress(code, unpacked, data, size) == unpacked; /* error codes are larger than any size */
}

int cf__unpack(enum cf__packing packing, const void *data, size_t size, size_t unpacked, char **code)
{
    void *function = packing == CF__PACKED_LZ4 ? find_function("liblz4.so.1", "LZ4_decompress_safe")
                                               : find_function("libzstd.so.1", "ZSTD_decompress");
    if (size > INT_MAX || unpacked > INT_MAX)
        return -1;
    *code = function ? malloc(unpacked + 1) : NULL;
    if (!*code)
        return 0;
    (*code)[unpacked] = 0;
    if (packing == CF__PACKED_LZ4 ? run_lz4(function, data, size, *code, unpacked)
                                  : run_zstd(function, data, size, *code, unpacked))
        return 1;
    free(*code);
    *code = NULL;
    return -1;
}
