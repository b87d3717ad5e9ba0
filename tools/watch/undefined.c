/* undefined.c - reports what UndefinedBehaviorSanitizer finds in a checked kernel: misaligned addresses, indices
 * outside an array type, and divisions, shifts and conversions that C++ leaves undefined. These functions replace the
 * sanitizer's runtime. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "watch/finding.h"
#include "watch/watch_thread.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define IS_SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(undefined_behavior_sanitizer)
#define IS_SANITIZED 1
#endif
#endif

#ifndef IS_SANITIZED

#define EXPORT __attribute__((visibility("default"), noreturn))

/* Descriptions of source locations and types, as compilers lay them out. */
struct place {
    const char *file;
    uint32_t line, column;
};

struct type {
    uint16_t kind, info;
    char name[];
};

struct mismatch {
    struct place place;
    const struct type *type;
    unsigned char log_alignment, kind;
};

struct bounds {
    struct place place;
    const struct type *array, *index;
};

struct overflow {
    struct place place;
    const struct type *type;
};

/* Returns a type's name. Reduces clang's text for a typedef of the generator, "'cf__T_tile' (aka 'int[4]')", to
 * "'int[4]'". */
static const char *name_of(const struct type *type)
{
    static char text[256];
    const char *aka = strncmp(type->name, "'cf__T_", 7) == 0 ? strstr(type->name, "(aka ") : NULL;
    if (!aka)
        return type->name;
    snprintf(text, sizeof text, "%.*s", (int)strcspn(aka + 5, ")"), aka + 5);
    return text;
}

/* Reports a finding and ends the process. `from` is the call's return address, which tells the kernel's line if the
 * place is in one of our headers. */
__attribute__((noreturn)) static void tell(const struct place *place, const void *from, const char *what)
{
    char who[96] = "outside of the kernel's threads";
    if (watch_current)
        watch_describe(watch_current->slot->number, watch_current->number, who, sizeof who);
    if (strstr(place->file, "cuferry/cpu/"))
        finding_tell("{pc:%lx}: %s; %s", finding_offset((const char *)from - 1), what, who);
    else
        finding_tell("%s:%u: %s; %s", place->file, place->line, what, who);
    finding_tell_next();
    _exit(EXIT_FAILURE);
}

EXPORT void __ubsan_handle_type_mismatch_v1_abort(const struct mismatch *data, uintptr_t pointer);
void __ubsan_handle_type_mismatch_v1_abort(const struct mismatch *data, uintptr_t pointer)
{
    static const char *const verbs[] = {"a read of",           "a write of",        "a reference to",
                                        "a member access of",  "a member call of",  "a constructor of",
                                        "a downcast of",       "a downcast of",     "an upcast of",
                                        "a cast to a base of", "a null pointer as", "a dynamic operation on"};
    char text[300];
    const char *verb = data->kind < sizeof verbs / sizeof *verbs ? verbs[data->kind] : "an access of";
    /* clang also reports null pointers here, and names the element's type */
    if (pointer % (1ul << data->log_alignment) == 0)
        snprintf(text, sizeof text, "%s %s through a null pointer", verb, name_of(data->type));
    else
        snprintf(text, sizeof text, "%s %s at address 0x%lx, which is not aligned to its %lu bytes", verb,
                 name_of(data->type), (unsigned long)pointer, 1ul << data->log_alignment);
    tell(&data->place, __builtin_return_address(0), text);
}

EXPORT void __ubsan_handle_out_of_bounds_abort(const struct bounds *data, uintptr_t index);
void __ubsan_handle_out_of_bounds_abort(const struct bounds *data, uintptr_t index)
{
    char text[300];
    int is_signed = data->index->kind == 0 && data->index->info & 1;
    unsigned bits = 1u << (data->index->info >> 1);
    if (is_signed && bits < 8 * sizeof index) /* the value's other bits are undefined */
        index = (uintptr_t)((intptr_t)(index << (8 * sizeof index - bits)) >> (8 * sizeof index - bits));
    if (is_signed)
        snprintf(text, sizeof text, "index %ld is outside of %s", (long)(intptr_t)index, name_of(data->array));
    else
        snprintf(text, sizeof text, "index %lu is outside of %s", (unsigned long)index, name_of(data->array));
    tell(&data->place, __builtin_return_address(0), text);
}

EXPORT void __ubsan_handle_divrem_overflow_abort(const struct overflow *data, uintptr_t left, uintptr_t right);
void __ubsan_handle_divrem_overflow_abort(const struct overflow *data, uintptr_t left, uintptr_t right)
{
    (void)left;
    tell(&data->place, __builtin_return_address(0), right ? "a division that overflows" : "a division by 0");
}

EXPORT void __ubsan_handle_shift_out_of_bounds_abort(const struct overflow *data, uintptr_t left, uintptr_t right);
void __ubsan_handle_shift_out_of_bounds_abort(const struct overflow *data, uintptr_t left, uintptr_t right)
{
    (void)left;
    (void)right;
    char text[300];
    snprintf(text, sizeof text, "a shift of %s by a negative count, or by its width or more", name_of(data->type));
    tell(&data->place, __builtin_return_address(0), text);
}

/* Describes a conversion: its place, and the types of the value and of the result. */
struct conversion {
    struct place place;
    const struct type *from, *to;
};

EXPORT void __ubsan_handle_float_cast_overflow_abort(const struct conversion *data, uintptr_t value);
void __ubsan_handle_float_cast_overflow_abort(const struct conversion *data, uintptr_t value)
{
    (void)value;
    char text[300];
    snprintf(text, sizeof text, "a value of %s that is out of the range of %s", data->from->name, data->to->name);
    tell(&data->place, __builtin_return_address(0), text);
}

#endif
