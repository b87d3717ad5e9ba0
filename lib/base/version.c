/* version.c - the version of the library that is linked. */
#include <cuferry.h>

int cf_version(void)
{
    return CF_VERSION;
}
