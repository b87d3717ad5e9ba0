/* ptx.c - checks PTX, and reads its symbols. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "program/ptx.h"

#include "program/definitions.h"
#include "program/image_part.h"

struct text {
    const struct cf__image_part *ptx;
    const char *begin, *at, *end; /* begin and end of the current word; end of the text */
    unsigned int line;
    char word[16]; /* current word, truncated, or another character; "" at the end of the text */
};

static int is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '$' || c == '%';
}

static int is_at(const struct text *text, const char *spelling)
{
    size_t length = strlen(spelling);
    return (size_t)(text->end - text->at) >= length && memcmp(text->at, spelling, length) == 0;
}

/* Skips a comment or a string, whose opening has `opened` bytes. `what` names it in a message; if `what` is NULL, the
 * text may end within it. */
static int skip_past(struct text *text, size_t opened, const char *close, const char *what)
{
    const char *begin = text->at + opened, *end = memmem(begin, (size_t)(text->end - begin), close, strlen(close));
    if (!end && what)
        return CF__REFUSE_PART(text->ptx, "is cut off: the %s of line %u has no end", what, text->line);
    for (end = end ? end + strlen(close) : text->end; text->at < end; text->at++)
        text->line += *text->at == '\n';
    return CF_OK;
}

/* Reads a word or another character after blanks, comments and strings. */
static int next_word(struct text *text)
{
    int status = CF_OK;
    size_t length = 0;
    while (status == CF_OK && text->at < text->end)
        if (is_at(text, "//"))
            status = skip_past(text, 2, "\n", NULL);
        else if (is_at(text, "/*"))
            status = skip_past(text, 2, "*/", "comment");
        else if (is_at(text, "\""))
            status = skip_past(text, 1, "\"", "string");
        else if (strchr(" \t\r\n\f\v", *text->at))
            text->line += *text->at++ == '\n';
        else
            break;
    text->begin = text->at;
    for (; text->at < text->end && (length == 0 || (is_word(text->word[0]) && is_word(*text->at))); text->at++)
        if (length < sizeof text->word - 1)
            text->word[length++] = *text->at;
    text->word[length] = 0;
    return status;
}

/* Reads ".target sm_90a, texmode_independent". */
static int read_ptx_target(struct text *text)
{
    unsigned int capability = 0;
    char suffix = 0;
    int status = next_word(text);
    if (status != CF_OK)
        return status;
    if (sscanf(text->word, "sm_%4u%c", &capability, &suffix) < 1 || capability < 10 || capability > 999)
        return CF__REFUSE_PART(text->ptx, "is damaged: the .target of line %u is no GPU such as sm_90", text->line);
    cf__list_target(text->ptx->targets->ptx, capability | (suffix == 'a'   ? CF_TARGET_EXACT
                                                           : suffix == 'f' ? CF_TARGET_FAMILY
                                                                           : 0));
    return CF_OK;
}

/* Reads ".version 9.0". */
static int read_ptx_version(struct text *text)
{
    unsigned int major, minor;
    int status = next_word(text), is_version = strcmp(text->word, ".version") == 0;
    if (status == CF_OK && is_version)
        status = next_word(text);
    if (status == CF_OK && !(is_version && sscanf(text->word, "%3u.%3u", &major, &minor) == 2))
        return CF__REFUSE_PART(text->ptx, "begins without a .version in line %u", text->line);
    return status;
}

/* ---- Symbols ---- */

/* A declaration outside of functions, such as ".visible .const .align 4 .b8 table[4][2] = {", as far as it has been
 * read. */
struct declaration {
    enum { NOTHING, FUNCTION, DATA } what;
    int is_local, is_left; /* 1 if no other module sees the symbol; 1 if its check is left to the linker */
    enum cf__definition_kind kind;
    const char *name; /* name; NULL: not read yet */
    size_t length;
    uint64_t bytes; /* bytes of one element of data, and later of all elements; 0: unknown */
    unsigned int parentheses;
    int is_extent, is_initialiser; /* 1 if the next number is an extent; 1 after the = of data */
};

static void begin_declaration(struct declaration *declaration)
{
    *declaration = (struct declaration){.is_local = 1, .kind = CF__DEFINED, .bytes = 1};
}

/* Adds the declared symbol. `is_prototype` is 1 for a function without a body. */
static void add_symbol(const struct text *text, const struct declaration *declaration, int is_prototype)
{
    int is_data = declaration->what == DATA;
    if (text->ptx->definitions && declaration->name && !declaration->is_local && !declaration->is_left)
        cf__definitions_add(text->ptx->definitions, declaration->name, declaration->length,
                            is_prototype ? CF__DECLARED : declaration->kind, is_data ? declaration->bytes : 0);
}

/* Reads a directive such as ".visible", ".const", ".align", ".v4" or ".b8". */
static void read_directive(const char *word, struct declaration *declaration)
{
    unsigned int bits = 0, lanes = 1;
    if (strcmp(word, ".visible") == 0)
        declaration->is_local = 0;
    else if (strcmp(word, ".common") == 0)
        declaration->is_left = 1;
    else if (strcmp(word, ".weak") == 0 || strcmp(word, ".extern") == 0) {
        declaration->is_local = 0;
        declaration->kind = word[1] == 'w' ? CF__WEAK : CF__DECLARED;
    } else if (strcmp(word, ".func") == 0 || strcmp(word, ".entry") == 0)
        declaration->what = FUNCTION;
    else if (strcmp(word, ".global") == 0 || strcmp(word, ".const") == 0 || strcmp(word, ".shared") == 0)
        declaration->what = DATA;
    else if (sscanf(word, ".v%1u", &lanes) == 1)
        declaration->bytes *= lanes;
    else if (sscanf(word, ".%*1[bsuf]%3ux%1u", &bits, &lanes) >= 1 || sscanf(word, ".bf%2ux%1u", &bits, &lanes) >= 1)
        declaration->bytes *= bits / 8 * lanes;
}

/* Reads a word outside of braces. */
static void read_declaration(const struct text *text, struct declaration *declaration)
{
    const char *word = text->word;
    int is_number = *word >= '0' && *word <= '9';
    declaration->parentheses -= *word == ')' && declaration->parentheses;
    if (declaration->parentheses || *word == '(' || *word == ')')
        declaration->parentheses += *word == '(';
    else if (*word == ';') {
        if (declaration->what != NOTHING)
            add_symbol(text, declaration, declaration->what == FUNCTION);
        begin_declaration(declaration);
    } else if (*word == '.')
        read_directive(word, declaration);
    else if (*word == '=')
        declaration->is_initialiser = 1;
    else if (*word == '[')
        declaration->is_extent = 1;
    else if (*word == ']') { /* the initialiser determines the extent of "[]" */
        declaration->bytes = declaration->is_extent ? 0 : declaration->bytes;
        declaration->is_extent = 0;
    } else if (is_number && declaration->is_extent && !declaration->is_initialiser) {
        declaration->bytes *= strtoull(word, NULL, 0);
        declaration->is_extent = 0;
    } else if (*word == ',' && declaration->what == DATA && !declaration->is_initialiser) {
        declaration->is_left = 1; /* a list of several symbols, which no compiler writes, is left to the linker */
    } else if (declaration->what != NOTHING && !declaration->name && !is_number) {
        declaration->name = text->begin;
        declaration->length = (size_t)(text->at - text->begin);
    }
}

/* ---- The whole ---- */

/* Checks a whole text. Braces are counted, so that a truncated text is detected. */
int cf__ptx_check(const struct cf__image_part *ptx)
{
    struct text text = {
        .ptx = ptx, .at = (const char *)ptx->data, .end = (const char *)ptx->data + ptx->size, .line = 1};
    struct declaration declaration;
    unsigned int depth = 0, opened = 0;
    for (size_t i = 0; i < ptx->size; i++)
        if (ptx->data[i] < ' ' && !(ptx->data[i] >= '\t' && ptx->data[i] <= '\r'))
            return CF__REFUSE_PART(ptx, "is damaged: byte %zu is %02x, which is no text", i, ptx->data[i]);
    begin_declaration(&declaration);
    int status = read_ptx_version(&text);
    while (status == CF_OK && (status = next_word(&text)) == CF_OK && *text.word) {
        opened = *text.word == '{' && depth == 0 ? text.line : opened;
        if (*text.word == '}' && depth == 0)
            return CF__REFUSE_PART(ptx, "is damaged: line %u has a } without a {", text.line);
        if (depth == 0 && *text.word == '{' && declaration.what == FUNCTION)
            add_symbol(&text, &declaration, 0);
        else if (depth == 0 && *text.word != '{')
            read_declaration(&text, &declaration);
        depth += (*text.word == '{') - (unsigned int)(*text.word == '}');
        if (depth == 0 && *text.word == '}' && declaration.what != DATA)
            begin_declaration(&declaration);
        if (strcmp(text.word, ".target") == 0)
            status = read_ptx_target(&text);
    }
    if (status == CF_OK && !ptx->targets->ptx[0])
        return CF__REFUSE_PART(ptx, "is cut off: its %u lines have no .target", text.line);
    if (status == CF_OK && depth)
        return CF__REFUSE_PART(ptx, "is cut off: the { of line %u has no }", opened);
    return status;
}
