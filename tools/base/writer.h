/* writer.h - writes facts as lines for readers, or as JSON. */
#ifndef WRITER_H
#define WRITER_H

#include <stdint.h>
#include <stdio.h>

struct writer {
    FILE *file;
    int is_json;
    int depth;    /* number of open groups */
    int is_first; /* nothing is in the innermost group yet */
    int column;   /* current column in a list for readers */
};

/* Begin a group: a JSON object, or a list of objects or texts. The key is NULL for the outermost group and for an item
 * of a list. Readers get the line `heading` before the group, unless it is NULL. */
void writer_begin(struct writer *writer, const char *key, const char *heading);
void writer_begin_list(struct writer *writer, const char *key, const char *heading);
void writer_end(struct writer *writer);
void writer_end_list(struct writer *writer);

/* Writes a text. NULL becomes JSON's null, and readers get nothing. */
void writer_text(struct writer *writer, const char *key, const char *value);

/* Writes a number; readers get `text` in its place. */
void writer_number(struct writer *writer, const char *key, int64_t value, const char *text);

/* Write, in JSON only, a number (null if it is negative or not finite), and true or false. */
void writer_real(struct writer *writer, const char *key, double value);
void writer_truth(struct writer *writer, const char *key, int value);

/* Writes one text of a list. Readers get the texts side by side in lines below the list's heading. */
void writer_item(struct writer *writer, const char *value);

#endif
