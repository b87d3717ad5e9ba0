/* generic_types.h - a struct that generic.cu shares with C programs. */
#ifndef GENERIC_TYPES_H
#define GENERIC_TYPES_H

struct pair {
    int first, second;
};

#endif
