/* writer.c - writes facts as lines for readers, or as JSON. */
#include "base/writer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/json.h"

enum { WIDTH = 100, KEY = 15 };

static void begin_value(struct writer *writer, const char *key)
{
    if (writer->depth)
        fprintf(writer->file, "%s\n%*s", writer->is_first ? "" : ",", 2 * writer->depth, "");
    if (key) {
        json_write_string(writer->file, key);
        fprintf(writer->file, ": ");
    }
    writer->is_first = 0;
}

static void begin_group(struct writer *writer, const char *key, const char *heading, char bracket)
{
    if (writer->is_json) {
        begin_value(writer, key);
        putc(bracket, writer->file);
    } else if (heading) {
        fprintf(writer->file, "%s\n", heading);
    }
    writer->depth++;
    writer->is_first = 1;
    writer->column = 0;
}

void writer_begin(struct writer *writer, const char *key, const char *heading)
{
    begin_group(writer, key, heading, '{');
}

void writer_begin_list(struct writer *writer, const char *key, const char *heading)
{
    begin_group(writer, key, heading, '[');
}

static void end_group(struct writer *writer, char bracket)
{
    writer->depth--;
    if (writer->is_json) {
        if (!writer->is_first)
            fprintf(writer->file, "\n%*s", 2 * writer->depth, "");
        putc(bracket, writer->file);
    }
    if ((writer->is_json && !writer->depth) || writer->column)
        putc('\n', writer->file);
    writer->is_first = 0;
    writer->column = 0;
}

void writer_end(struct writer *writer)
{
    end_group(writer, '}');
}

void writer_end_list(struct writer *writer)
{
    end_group(writer, ']');
}

/* Control characters, as in file names and variables, are replaced, so that a value stays in its line. */
static void write_readable(struct writer *writer, const char *value)
{
    for (; *value; value++)
        putc((unsigned char)*value < ' ' || *value == 0x7f ? '?' : *value, writer->file);
}

void writer_text(struct writer *writer, const char *key, const char *value)
{
    if (writer->is_json) {
        begin_value(writer, key);
        if (value)
            json_write_string(writer->file, value);
        else
            fprintf(writer->file, "null");
    } else if (value) {
        fprintf(writer->file, "  %-*s ", KEY, key);
        write_readable(writer, value);
        putc('\n', writer->file);
    }
}

void writer_number(struct writer *writer, const char *key, int64_t value, const char *text)
{
    if (!writer->is_json) {
        writer_text(writer, key, text);
        return;
    }
    begin_value(writer, key);
    fprintf(writer->file, "%" PRId64, value);
}

void writer_real(struct writer *writer, const char *key, double value)
{
    begin_value(writer, key);
    if (isfinite(value) && value >= 0)
        fprintf(writer->file, "%.17g", value);
    else
        fprintf(writer->file, "null");
}

void writer_truth(struct writer *writer, const char *key, int value)
{
    begin_value(writer, key);
    fprintf(writer->file, value ? "true" : "false");
}

void writer_item(struct writer *writer, const char *value)
{
    if (writer->is_json) {
        begin_value(writer, NULL);
        json_write_string(writer->file, value);
        return;
    }
    int length = (int)strlen(value);
    if (writer->column && writer->column + 1 + length > WIDTH) {
        putc('\n', writer->file);
        writer->column = 0;
    }
    writer->column += fprintf(writer->file, writer->column ? " " : "    ");
    write_readable(writer, value);
    writer->column += length;
}
