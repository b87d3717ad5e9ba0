/* driver_cuda.c - fills the driver table from libcuda.so.1, which is opened at run time and never linked.
 *
 * The library stays open, because other parts of the process may use it, and it does not support being unloaded. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cuferry.h>

#include "driver/driver_cuda.h"

#include "base/linker.h"
#include "base/lock.h"
#include "base/text.h"
#include "driver/driver.h"

#define ABSENT 1 /* result of cf__driver_cuda_fill() if there is no driver or no GPU */

#define LIBRARY "libcuda.so.1"
#define NO_LIBRARY "libcuda.so.none" /* name of a file that does not exist */

/* Type of cuGetProcAddress_v2, of API version 12.0. */
typedef CUresult get_address(const char *name, void **function, int version, unsigned long long flags, int *found);

/* Writes the driver's name for a function of the table. */
static const char *spell_name(const char *name, char spelled[64])
{
    snprintf(spelled, 64, "%.*s", (int)strcspn(name, "_"), name);
    return spelled;
}

/* `has` is the driver's version. Functions of newer versions are not looked up: asked for a version that it does not
 * know, a driver may return an older signature. */
static int load_functions(struct cf__driver *driver, get_address *lookup, int has, char *reason, size_t size)
{
    char spelled[64];
    *driver = (struct cf__driver){0};
#define LOAD(name, version, parameters, names)                                                                         \
    {                                                                                                                  \
        void *address = NULL;                                                                                          \
        int asked = (version) > CF__DRIVER_VERSION ? (version) : CF__DRIVER_VERSION;                                   \
        if (asked <= has && lookup(spell_name(#name, spelled), &address, asked, 0, NULL) == CUDA_SUCCESS && address) { \
            *(void **)&driver->name = address;                                                                         \
        } else if ((version) <= CF__DRIVER_VERSION) {                                                                  \
            snprintf(reason, size, "libcuda.so.1 lacks %s; reinstall the NVIDIA driver", #name);                       \
            return CF_EDRIVER;                                                                                         \
        }                                                                                                              \
    }
    CF__DRIVER_FUNCS(LOAD)
#undef LOAD
    return CF_OK;
}

/* ISO C does not allow converting dlsym()'s void * to a function pointer; POSIX does. */
static void (*find_function(void *library, const char *name))(void)
{
    void (*function)(void) = NULL;
    *(void **)&function = dlsym(library, name);
    return function;
}

static int check_usable(struct cf__driver *driver, char *reason, size_t size)
{
    CUresult result = driver->cuInit(0);
    if (result == CUDA_ERROR_NO_DEVICE || result == CUDA_ERROR_STUB_LIBRARY) {
        snprintf(reason, size, "%s",
                 result == CUDA_ERROR_NO_DEVICE ? "the driver finds no GPU"
                                                : "libcuda.so.1 is the toolkit's stub and no driver");
        return ABSENT;
    }
    if (result != CUDA_SUCCESS) {
        const char *name = NULL, *text = NULL;
        driver->cuGetErrorName(result, &name);
        driver->cuGetErrorString(result, &text);
        snprintf(reason, size, "cuInit returned %d (%s, %s)", (int)result, name ? name : "unknown result",
                 text ? text : "no text");
        return CF_EDRIVER;
    }
    int count = 0;
    if (driver->cuDeviceGetCount(&count) != CUDA_SUCCESS || count == 0) {
        snprintf(reason, size, "the driver finds no GPU");
        return ABSENT;
    }
    return CF_OK;
}

/* Fills the table; closes the library on failure. */
static int fill_table(void *library, struct cf__driver *driver, char *reason, size_t size)
{
    CUresult (*get_version)(int *) = (CUresult(*)(int *))find_function(library, "cuDriverGetVersion");
    get_address *lookup = (get_address *)find_function(library, "cuGetProcAddress_v2");
    int version = 0, status;
    if (!get_version || get_version(&version) != CUDA_SUCCESS) {
        snprintf(reason, size, "libcuda.so.1 is no NVIDIA driver: it has no cuDriverGetVersion");
        status = CF_EDRIVER;
    } else if (version < CF__DRIVER_VERSION || !lookup) {
        snprintf(reason, size,
                 "the NVIDIA driver is for CUDA %d.%d and Cuferry needs one for CUDA %d.%d or newer; update the driver",
                 version / 1000, version % 1000 / 10, CF__DRIVER_VERSION / 1000, CF__DRIVER_VERSION % 1000 / 10);
        status = CF_EDRIVER;
    } else {
        status = load_functions(driver, lookup, version, reason, size);
    }
    if (status == CF_OK)
        status = check_usable(driver, reason, size);
    if (status != CF_OK)
        dlclose(library);
    return status;
}

/* ---- The library ---- */

struct search {
    unsigned long long count;   /* number of objects that the process has loaded so far */
    unsigned long long without; /* that number at an earlier search that did not find the driver */
    int is_found;
};

/* Stops the search if it finds the driver, which programs may also load as libcuda.so. Also stops it if nothing was
 * loaded since the earlier search. */
static int check_object(struct dl_phdr_info *object, size_t size, void *data)
{
    struct search *search = data;
    const char *slash = strrchr(object->dlpi_name, '/');
    if (size >= offsetof(struct dl_phdr_info, dlpi_adds) + sizeof object->dlpi_adds)
        search->count = object->dlpi_adds;
    search->is_found = strncmp(slash ? slash + 1 : object->dlpi_name, "libcuda.so", 10) == 0;
    return search->is_found || (search->count && search->count == search->without);
}

/* The lock is held during a search, and by a thread that forks: a search takes a lock of glibc, which would stay locked
 * in a child forked meanwhile. */
static pthread_mutex_t search_lock = PTHREAD_MUTEX_INITIALIZER;

void cf__driver_search_lock(void)
{
    cf__lock(&search_lock);
}

void cf__driver_search_unlock(void)
{
    cf__unlock(&search_lock);
}

/* dlopen() with RTLD_NOLOAD would search all folders, so go through the loaded objects instead. */
int cf__driver_cuda_is_loaded(void)
{
    static unsigned long long without; /* objects at the last search without a result; guarded by the lock */
    cf__lock(&search_lock);
    struct search search = {.without = without};
    (void)dl_iterate_phdr(check_object, &search);
    if (!search.is_found)
        without = search.count;
    cf__unlock(&search_lock);
    return search.is_found;
}

/* Returns an `errno` if the process has run out of file descriptors or memory, which the dynamic linker needs; else 0.
 * glibc opens and maps this file in its first search; if that fails, all later searches ignore the file. */
static int check_resources(void)
{
    int file = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC), error = file < 0 ? errno : 0;
    struct stat info;
    if (file < 0)
        return error == EMFILE || error == ENFILE || error == ENOMEM ? error : 0;
    if (fstat(file, &info) == 0 && info.st_size > 0) {
        void *map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        error = map == MAP_FAILED ? errno : 0;
        if (map != MAP_FAILED)
            munmap(map, (size_t)info.st_size);
    }
    close(file);
    return error == ENOMEM ? error : 0;
}

/* Returns 1 if dlopen()'s message says that LIBRARY does not exist: it then differs from the message about NO_LIBRARY
 * only in the name. The message about a missing dependency differs in more. */
static int is_no_such_file(const char *text)
{
    const char *at = strstr(text, LIBRARY), *other;
    size_t before = at ? (size_t)(at - text) : 0;
    if (!at || !strstr(text, cf__strerror(ENOENT)) || dlopen(NO_LIBRARY, RTLD_NOW | RTLD_LOCAL) || !(other = dlerror()))
        return 0;
    return strncmp(text, other, before) == 0 && strncmp(other + before, NO_LIBRARY, sizeof NO_LIBRARY - 1) == 0 &&
           strcmp(at + sizeof LIBRARY - 1, other + before + sizeof NO_LIBRARY - 1) == 0;
}

/* Returns 1 if the program has no dynamic linker and so cannot load a driver. */
static int is_static_program(void)
{
    void *program = dlopen(NULL, RTLD_NOW);
    if (program)
        dlclose(program);
    return !program;
}

static int is_library_cut_off(void)
{
    char path[CF__PATH];
    return cf__linker_find(LIBRARY, path) > 0 && cf__linker_is_cut_off(path);
}

/* Opens the driver's library. The caller has switched to the C locale, so that messages can be compared. */
static int open_library(void **library, char *reason, size_t size)
{
    char text[512];
    int error = cf__driver_cuda_is_loaded() ? 0 : check_resources();
    if (error) {
        snprintf(reason, size, "libcuda.so.1 cannot be searched for: %s", cf__strerror(error));
        return CF_EDRIVER;
    }
    if (!cf__driver_cuda_is_loaded() && is_library_cut_off()) {
        snprintf(reason, size, "libcuda.so.1 cannot be loaded: the file is cut off; reinstall the NVIDIA driver");
        return CF_EDRIVER;
    }
    *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (*library)
        return CF_OK;
    const char *message = dlerror();
    snprintf(text, sizeof text, "%s", message ? message : "dlopen failed and gave no reason");
    int is_absent = is_static_program() || is_no_such_file(text);
    snprintf(reason, size, is_absent ? "no NVIDIA driver (%s)" : "libcuda.so.1 cannot be loaded: %s", text);
    return is_absent ? ABSENT : CF_EDRIVER;
}

int cf__driver_cuda_fill(struct cf__driver *driver, char *reason, size_t size)
{
    void *library = NULL;
    struct cf__locale locale = cf__enter_c_locale();
    int status = open_library(&library, reason, size);
    cf__leave_c_locale(locale);
    return status == CF_OK ? fill_table(library, driver, reason, size) : status;
}
