/* planted_types.h - types that planted.cu shares with its callers. */
#ifndef PLANTED_TYPES_H
#define PLANTED_TYPES_H

struct planted_pair {
    char tag;
    int value;
};

#endif
