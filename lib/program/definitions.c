/* definitions.c - finds symbols with two definitions before a link: nvJitLink only prints them to stderr and
 * succeeds. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>

#include "program/definitions.h"

#include "base/error.h"

/* Makes room for `more` items after `count`. Returns 0 if there is no memory. */
static int make_room(void **list, size_t *room, size_t count, size_t more, size_t size)
{
    if (more <= *room - count)
        return 1;
    size_t larger = 2 * (count + more);
    void *longer = realloc(*list, larger * size);
    if (!longer)
        return 0;
    *list = longer;
    *room = larger;
    return 1;
}

void cf__definitions_add(struct cf__definitions *definitions, const char *name, size_t length,
                         enum cf__definition_kind kind, uint64_t bytes)
{
    void *list = definitions->list, *texts = definitions->texts;
    int has_room = make_room(&list, &definitions->room, definitions->count, 1, sizeof *definitions->list) &&
                   make_room(&texts, &definitions->texts_room, definitions->texts_bytes, length + 1, 1);
    definitions->list = list;
    definitions->texts = texts;
    if (!has_room) {
        definitions->is_short = 1;
        return;
    }
    memcpy(definitions->texts + definitions->texts_bytes, name, length);
    definitions->texts[definitions->texts_bytes + length] = 0;
    definitions->list[definitions->count++] = (struct cf__definition){.at = definitions->texts_bytes,
                                                                      .bytes = bytes,
                                                                      .kind = kind,
                                                                      .input = definitions->input,
                                                                      .unit = definitions->unit};
    definitions->texts_bytes += length + 1;
}

static int compare(const void *one, const void *other)
{
    const struct cf__definition *a = one, *b = other;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->unit > b->unit) - (a->unit < b->unit);
}

/* Checks all symbols of one name. */
static int check_name(const struct cf__definition *list, size_t count, const char *function,
                      const struct cf__input *inputs)
{
    const struct cf__definition *defined = NULL, *sized = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct cf__definition *each = &list[i];
        if (each->kind == CF__DEFINED && defined && defined->unit != each->unit)
            return cf__fail(CF_ECOMPILE, "%s: '%s' is defined in %s and in %s", function, each->name,
                            inputs[defined->input].name, inputs[each->input].name);
        if (each->kind == CF__DEFINED)
            defined = each;
    }
    for (size_t i = 0; i < count; i++) {
        const struct cf__definition *each = &list[i];
        if (each->bytes && sized && sized->bytes != each->bytes && sized->unit != each->unit)
            return cf__fail(CF_ECOMPILE, "%s: '%s' has %" PRIu64 " bytes in %s and %" PRIu64 " in %s", function,
                            each->name, sized->bytes, inputs[sized->input].name, each->bytes, inputs[each->input].name);
        if (each->bytes)
            sized = each;
    }
    return CF_OK;
}

int cf__definitions_check(struct cf__definitions *definitions, const char *function, const struct cf__input *inputs)
{
    struct cf__definition *list = definitions->list;
    int status = CF_OK;
    if (definitions->is_short)
        return cf__fail(CF_ENOMEM, "%s: there is no memory for the symbols of the link", function);
    for (size_t i = 0; i < definitions->count; i++)
        list[i].name = definitions->texts + list[i].at;
    if (definitions->count)
        qsort(list, definitions->count, sizeof *list, compare);
    for (size_t begin = 0, end; status == CF_OK && begin < definitions->count; begin = end) {
        for (end = begin + 1; end < definitions->count && strcmp(list[begin].name, list[end].name) == 0;)
            end++;
        status = check_name(list + begin, end - begin, function, inputs);
    }
    return status;
}

void cf__definitions_free(struct cf__definitions *definitions)
{
    free(definitions->list);
    free(definitions->texts);
    *definitions = (struct cf__definitions){.list = NULL};
}
