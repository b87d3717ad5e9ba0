/* watch_begin.c - prepares a process that cf-run has started to check kernels. */
#include "watch/watch_begin.h"

#include <stdlib.h>
#include <string.h>

#include "watch/address.h"
#include "watch/check.h"
#include "watch/finding.h"
#include "watch/poison.h"
#include "watch/race.h"

const char *watch_begin(void)
{
    static const struct {
        const char *name;
        const struct check_ops *check;
    } kinds[] = {{"address:", &address_check},
                 {"undefined:", &address_check},
                 {"race:", &race_check},
                 {"poison:", &poison_check}};
    const char *text = getenv(WATCH_VARIABLE);
    for (size_t i = 0; text && i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].name);
        char *end;
        if (strncmp(text, kinds[i].name, length) != 0)
            continue;
        int descriptor = (int)strtol(text + length, &end, 10);
        if (*end != ':')
            return NULL;
        finding_begin(descriptor, end + 1);
        check_current = kinds[i].check;
        if (check_current->begin)
            check_current->begin(end + 1);
        return end + 1;
    }
    return NULL;
}
