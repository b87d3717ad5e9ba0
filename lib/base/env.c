/* env.c - reads environment variables; no other file calls getenv(). */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuferry.h>

#include "base/env.h"

#include "base/error.h"
#include "base/fast.h"

struct cf__env_settings cf__env;

/* Returns NULL if the variable is unset or empty. */
static const char *get_text(const char *name)
{
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

/* Returns the index of a word in a list that ends with NULL, or -1. */
static int find_word(const char *text, const char *const words[])
{
    int i = 0;
    while (words[i] && strcmp(words[i], text) != 0)
        i++;
    return words[i] ? i : -1;
}

/* Reads a decimal number. Returns 0 if the text has anything else, or if the number is outside [least, most]. */
static int read_number(const char *text, long long least, long long most, long long *number)
{
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return !errno && !*end && *number >= least && *number <= most;
}

int cf__env_read_driver(enum cf__env_driver *driver)
{
    static const char *const words[] = {"cuda", "host", NULL};
    const char *text = get_text("CF_DRIVER");
    int word = text ? find_word(text, words) : -1;
    *driver = word == 0 ? CF__ENV_CUDA : word == 1 ? CF__ENV_HOST : CF__ENV_NO_DRIVER;
    return text && word < 0 ? cf__fail(CF_EINVAL, "CF_DRIVER=%s: it is cuda or host", text) : CF_OK;
}

int cf__env_read_calls(void)
{
    static const char *const check_words[] = {"0", "1", NULL}, *const data_words[] = {"auto", "stage", "host", NULL};
    const char *check = get_text("CF_CHECK"), *host_data = get_text("CF_HOST_DATA");
    int check_value = check ? find_word(check, check_words) : 0;
    int where = host_data ? find_word(host_data, data_words) : CF_HOST_DATA_AUTO;
    if (check_value < 0)
        return cf__fail(CF_EINVAL, "CF_CHECK=%s: it is 0 or 1", check);
    if (where < 0)
        return cf__fail(CF_EINVAL, "CF_HOST_DATA=%s: it is auto, stage or host", host_data);
    cf__slow_path_set(CF__SLOW_PATH_POINTERS, check_value);
    __atomic_store_n(&cf__env.host_data, where, __ATOMIC_RELAXED);
    return CF_OK;
}

int cf__env_read_threads(int most, int *threads)
{
    const char *text = get_text("CF_THREADS"), *order = get_text("CF_HOST_ORDER");
    long long count = 0, seed = 0;
    if (text && !read_number(text, 1, most, &count))
        return cf__fail(CF_EINVAL, "CF_THREADS=%s: it is a number from 1 to %d", text, most);
    if (order && strcmp(order, "reverse") == 0)
        seed = CF__ORDER_REVERSE;
    else if (order && !read_number(order, 0, CF__ORDER_REVERSE - 1, &seed))
        return cf__fail(CF_EINVAL, "CF_HOST_ORDER=%s: it is reverse, or a number from 0, the natural order, to %u",
                        order, CF__ORDER_REVERSE - 1);
    *threads = (int)count;
    __atomic_store_n(&cf__env.host_order, (uint32_t)seed, __ATOMIC_RELAXED);
    return CF_OK;
}

const char *cf__env_file(const char *name)
{
    return secure_getenv(name);
}

char **cf__env_with(char *setting)
{
    size_t count = 0, used = 0, name = strcspn(setting, "=") + 1;
    while (environ && environ[count])
        count++;
    char **all = malloc((count + 2) * sizeof *all);
    for (size_t i = 0; all && i < count; i++)
        if (strncmp(environ[i], setting, name) != 0)
            all[used++] = environ[i];
    if (all) {
        all[used] = setting;
        all[used + 1] = NULL;
    }
    return all;
}
