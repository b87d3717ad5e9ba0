/* json.h - reads JSON into a tree, and writes its strings. */
#ifndef JSON_H
#define JSON_H

#include <stddef.h>
#include <stdio.h>

#include "base/message.h"

enum json_kind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
    enum json_kind kind;
    double number;
    char *text;        /* a string's text, without zero bytes */
    char *key;         /* name of an object's member */
    struct json *next; /* next value of the same array or object */
    struct json *first;
};

/* Reads one JSON value (RFC 8259) in UTF-8. text[length] must be 0. Returns a tree, which the caller frees; NULL with a
 * message that begins with `name` and contains the line number. */
struct json *json_read(const char *text, size_t length, const char *name, struct message *message);
void json_free(struct json *json);

/* Member `key` of an object; NULL if the value is no object or lacks it. */
const struct json *json_get(const struct json *object, const char *key);

/* Writes a text in quotes. Invalid UTF-8 becomes U+FFFD. */
void json_write_string(FILE *file, const char *text);

#endif
