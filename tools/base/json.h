/* json.h - reads JSON into a tree. */
#ifndef JSON_H
#define JSON_H

#include <stddef.h>

#include "base/message.h"

enum json_kind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
    enum json_kind kind;
    double number;
    char *text;        /* of a string, without zero bytes in it */
    char *key;         /* in an object */
    struct json *next; /* in the array or object that it is in */
    struct json *first;
};

/* Reads one value, in UTF-8, of RFC 8259. NULL with the reason, which begins with `name` and has the line; freed by the
 * caller. The length is without the zero byte that text[length] has to be. */
struct json *json_read(const char *text, size_t length, const char *name, struct message *message);
void json_free(struct json *json);

/* The member called `key`; NULL where the value is no object, or has none. */
const struct json *json_get(const struct json *object, const char *key);

#endif
