/* version.c - returns the version of the linked library. */
#include <cuferry.h>

int cf_version(void)
{
    return CF_VERSION;
}
