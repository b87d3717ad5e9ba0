/* bench_svg.c - draws bandwidth over size, with the limit of the bandwidth. */
#include "bench/bench_svg.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "bench/bench_limit.h"

/* Frame of the plot, in units of the drawing. */
#define LEFT 90.0
#define TOP 72.0
#define WIDTH 720.0
#define HEIGHT 420.0
#define LEGEND (LEFT + WIDTH + 24)
#define LINE 18.0
#define MARGIN 20.0

/* Width of letters as a part of the font size: exact in the legend, above the mean elsewhere. */
#define LETTER 0.65
#define TITLE_SIZE 16.0
#define TEXT_SIZE 12.0
#define LIMIT_NAME "limit: %s, %.4g GB/s" /* at most 32 letters */
#define TITLE_NAMES 60                    /* letters of names in the title; at least one name is shown */

/* Colours for all kinds of colour vision, after Okabe and Ito; the second round is dashed, and so on. */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};
static const char *const dashes[] = {"none", "6 3", "2 3", "8 3 2 3"};
#define COLOURS (sizeof colours / sizeof *colours)
#define DASHES (sizeof dashes / sizeof *dashes)

struct plot {
    FILE *file;
    const struct bench_run *run;
    double first, last;     /* exponents of 2 at the left and right edge */
    double most;            /* bytes per second at the top */
    size_t series, longest; /* lines of the legend, and letters of the longest */
    int is_busy;            /* a spread is above BENCH_BUSY */
    struct message title, machine;
};

static int is_drawn(const struct bench_result *result)
{
    return result->outcome == BENCH_MEASURED && result->size > 0 && result->seconds.median > 0 &&
           isfinite(bench_bandwidth(result->bytes, &result->seconds));
}

static int is_same(const struct bench_result *a, const struct bench_result *b)
{
    return strcmp(a->kernel, b->kernel) == 0 && strcmp(a->variant, b->variant) == 0;
}

/* 1 if no earlier result of the kernel is drawn. */
static int is_first(const struct bench_run *run, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (is_drawn(&run->results[i]) && is_same(&run->results[i], &run->results[number]))
            return 0;
    return 1;
}

static double limit_of(const struct plot *plot)
{
    return bench_bandwidth(plot->run->machine.limit.bytes, &plot->run->machine.limit.seconds);
}

static double x_of(const struct plot *plot, double exponent)
{
    return LEFT + WIDTH * (exponent - plot->first) / (plot->last - plot->first);
}

static double y_of(const struct plot *plot, double bandwidth)
{
    return TOP + HEIGHT * (1 - bandwidth / plot->most);
}

/* Bytes per second at the end of a bar, from the third or first quartile of the times. */
static double bar_end(const struct bench_result *result, double seconds)
{
    double bandwidth = seconds > 0 ? result->bytes / seconds : HUGE_VAL;
    return isfinite(bandwidth) ? bandwidth : bench_bandwidth(result->bytes, &result->seconds);
}

static void put_text(const struct plot *plot, const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        if (strchr("&<>\"'", *at))
            fprintf(plot->file, "&#%d;", *at);
        else
            putc(*at < ' ' || *at >= 0x7f ? '?' : *at, plot->file);
}

static void put_name(const struct plot *plot, const struct bench_result *result)
{
    put_text(plot, result->kernel);
    if (*result->variant)
        putc(' ', plot->file);
    put_text(plot, result->variant);
}

/* ---- Axes ---- */

/* A round distance between about `count` marks. */
static double round_step(double range, double count)
{
    double rough = range / count, unit = pow(10, floor(log10(rough)));
    return rough <= unit ? unit : rough <= 2 * unit ? 2 * unit : rough <= 5 * unit ? 5 * unit : 10 * unit;
}

static void find_ranges(struct plot *plot)
{
    double least = 62, greatest = 0, most = limit_of(plot);
    plot->longest = 32;
    for (size_t i = 0; i < plot->run->count; i++) {
        const struct bench_result *result = &plot->run->results[i];
        if (!is_drawn(result))
            continue;
        double exponent = log2((double)result->size), bandwidth = bar_end(result, result->seconds.lower);
        least = exponent < least ? exponent : least;
        greatest = exponent > greatest ? exponent : greatest;
        most = bandwidth > most ? bandwidth : most;
        size_t length = strlen(result->kernel) + 1 + strlen(result->variant);
        plot->longest = length > plot->longest ? length : plot->longest;
        plot->series += (size_t)is_first(plot->run, i);
        plot->is_busy |= bench_statistics_is_busy(&result->seconds);
    }
    if (greatest < least)
        least = greatest = 0;
    plot->first = floor(least) - (floor(least) == ceil(greatest) && least > 0);
    plot->last = ceil(greatest) + (floor(least) == ceil(greatest));
    plot->most = most > 0 ? 1.05 * most : 1;
}

static void draw_axes(const struct plot *plot)
{
    FILE *file = plot->file;
    int step = (int)ceil((plot->last - plot->first) / 15);
    step = step < 1 ? 1 : step;
    for (int k = (int)plot->first; k <= (int)plot->last; k += step)
        fprintf(
            file,
            "<line class=\"tick\" x1=\"%.2f\" x2=\"%.2f\" y1=\"%.2f\" y2=\"%.2f\" stroke=\"#ddd\"/>\n"
            "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\">2<tspan dy=\"-5\" font-size=\"9\">%d</tspan></text>\n",
            x_of(plot, k), x_of(plot, k), TOP, TOP + HEIGHT, x_of(plot, k), TOP + HEIGHT + 20, k);
    double giga = plot->most / 1e9, between = round_step(giga, 8);
    for (int i = 0; i * between <= giga; i++) {
        double y = y_of(plot, i * between * 1e9);
        fprintf(file,
                "<line class=\"tick\" x1=\"%.2f\" x2=\"%.2f\" y1=\"%.2f\" y2=\"%.2f\" stroke=\"#ddd\"/>\n"
                "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"end\">%g</text>\n",
                LEFT, LEFT + WIDTH, y, y, LEFT - 6, y + 4, i * between);
    }
    fprintf(file, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"none\" stroke=\"#444\"/>\n", LEFT,
            TOP, WIDTH, HEIGHT);
    fprintf(file, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\">size, elements</text>\n", LEFT + WIDTH / 2,
            TOP + HEIGHT + 42);
    fprintf(file, "<text transform=\"translate(22 %.2f) rotate(-90)\" text-anchor=\"middle\">GB/s</text>\n",
            TOP + HEIGHT / 2);
}

/* Begins a line of the legend with its symbol. */
static void draw_key(const struct plot *plot, size_t number, const char *colour, const char *dash, const char *class)
{
    double y = TOP + 10 + LINE * (double)number;
    fprintf(plot->file,
            "<line x1=\"%.2f\" x2=\"%.2f\" y1=\"%.2f\" y2=\"%.2f\" stroke=\"%s\" stroke-width=\"1.8\" "
            "stroke-dasharray=\"%s\"/>\n<text class=\"%s\" font-family=\"monospace\" x=\"%.2f\" y=\"%.2f\">",
            LEGEND, LEGEND + 26, y, y, colour, dash, class, LEGEND + 32, y + 4);
}

static void draw_limit(const struct plot *plot)
{
    double limit = limit_of(plot), y = y_of(plot, limit);
    if (!(limit > 0))
        return;
    fprintf(plot->file,
            "<line class=\"limit\" x1=\"%.2f\" x2=\"%.2f\" y1=\"%.2f\" y2=\"%.2f\" stroke=\"#444\" "
            "stroke-dasharray=\"8 4\" stroke-width=\"1.8\"/>\n",
            LEFT, LEFT + WIDTH, y, y);
    draw_key(plot, 0, "#444", "8 4", "limit");
    fprintf(plot->file, LIMIT_NAME "</text>\n", bench_limit_name(plot->run->machine.limit.access), limit / 1e9);
}

/* ---- Results ---- */

/* A line through all results of a kernel, which are ordered by size. */
static void draw_line(const struct plot *plot, size_t from, const char *colour, const char *dash)
{
    const struct bench_run *run = plot->run;
    const char *command = "M";
    fprintf(plot->file,
            "<path class=\"kernel\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" stroke-dasharray=\"%s\" d=\"",
            colour, dash);
    for (size_t i = from; i < run->count; i++) {
        const struct bench_result *result = &run->results[i];
        if (!is_same(result, &run->results[from]) || !is_drawn(result))
            continue;
        fprintf(plot->file, "%s%.2f %.2f", command, x_of(plot, log2((double)result->size)),
                y_of(plot, bench_bandwidth(result->bytes, &result->seconds)));
        command = " L";
    }
    fprintf(plot->file, "\"/>\n");
}

static void draw_point(const struct plot *plot, const struct bench_result *result, const char *colour)
{
    const struct bench_statistics *seconds = &result->seconds;
    double x = x_of(plot, log2((double)result->size)), bandwidth = bench_bandwidth(result->bytes, seconds);
    fprintf(plot->file, "<line class=\"spread\" x1=\"%.2f\" x2=\"%.2f\" y1=\"%.2f\" y2=\"%.2f\" stroke=\"%s\"/>\n", x,
            x, y_of(plot, bar_end(result, seconds->lower)), y_of(plot, bar_end(result, seconds->upper)), colour);
    fprintf(plot->file, "<circle class=\"point\" cx=\"%.2f\" cy=\"%.2f\" r=\"3\" fill=\"%s\" stroke=\"%s\"><title>", x,
            y_of(plot, bandwidth), bench_statistics_is_busy(&result->seconds) ? "#fff" : colour, colour);
    put_name(plot, result);
    fprintf(plot->file, " %" PRId64 ": %.4g GB/s, %.4g us</title></circle>\n", result->size, bandwidth / 1e9,
            seconds->median * 1e6);
}

static void draw_results(const struct plot *plot)
{
    const struct bench_run *run = plot->run;
    size_t number = 0;
    for (size_t i = 0; i < run->count; i++) {
        if (!is_drawn(&run->results[i]) || !is_first(run, i))
            continue;
        const char *colour = colours[number % COLOURS], *dash = dashes[number / COLOURS % DASHES];
        draw_line(plot, i, colour, dash);
        for (size_t k = i; k < run->count; k++)
            if (is_drawn(&run->results[k]) && is_same(&run->results[k], &run->results[i]))
                draw_point(plot, &run->results[k], colour);
        draw_key(plot, ++number, colour, dash, "legend"); /* the limit is the first line */
        put_name(plot, &run->results[i]);
        fprintf(plot->file, "</text>\n");
    }
}

/* ---- Texts ---- */

/* Writes "axpy_f32, axpy_f64 and 3 more: bandwidth over size, 2026-05-01". */
static void set_title(struct plot *plot)
{
    const struct bench_run *run = plot->run;
    size_t named = 0, kernels = 0;
    for (size_t i = 0; i < run->count; i++) {
        const char *kernel = run->results[i].kernel;
        int is_known = !is_drawn(&run->results[i]);
        for (size_t k = 0; k < i && !is_known; k++)
            is_known = is_drawn(&run->results[k]) && strcmp(run->results[k].kernel, kernel) == 0;
        if (is_known)
            continue;
        if (named == kernels && (!named || strlen(plot->title.text) + strlen(kernel) <= TITLE_NAMES))
            message_add(&plot->title, "%s%s", named++ ? ", " : "", kernel);
        kernels++;
    }
    if (kernels > named)
        message_add(&plot->title, " and %zu more", kernels - named);
    message_add(&plot->title, "%sbandwidth over size", kernels ? ": " : "");
    if (*run->machine.date)
        message_add(&plot->title, ", %s", run->machine.date);
}

static void set_machine(struct plot *plot)
{
    const struct bench_machine *machine = &plot->run->machine;
    message_add(&plot->machine, "%s", machine->device_name);
    if (!machine->on_cuda)
        message_add(&plot->machine, ", %d threads", machine->threads);
    else if (*machine->driver)
        message_add(&plot->machine, ", driver for CUDA %s", machine->driver);
    message_add(&plot->machine, ", Cuferry %s", machine->version);
}

static const char *const caption[] = {
    "A point is the median of the samples at a size; its bar goes from their first to their third quartile.",
    "The limit is the fastest of a copy, an update in place and a read of memory, on a GPU a copy within it.",
    "A kernel that works in a cache may be above it, and on a GPU one that only reads or only writes.",
    "Hollow points have a spread above 20 %: the machine was busy, and they mean nothing."};

static size_t caption_lines(const struct plot *plot)
{
    return sizeof caption / sizeof *caption - !plot->is_busy;
}

static double text_width(size_t letters, double size)
{
    return LETTER * size * (double)letters;
}

static double pick_larger(double a, double b)
{
    return a > b ? a : b;
}

static void put_line(const struct plot *plot, const char *class, double y, double size, const char *text)
{
    fprintf(plot->file, "<text class=\"%s\" x=\"%.2f\" y=\"%.2f\" font-size=\"%g\">", class, LEFT, y, size);
    put_text(plot, text);
    fprintf(plot->file, "</text>\n");
}

static void draw_texts(const struct plot *plot)
{
    put_line(plot, "title", 28, TITLE_SIZE, plot->title.text);
    put_line(plot, "machine", 50, TEXT_SIZE, plot->machine.text);
    for (size_t i = 0; i < caption_lines(plot); i++)
        put_line(plot, "caption", TOP + HEIGHT + 72 + LINE * (double)i, TEXT_SIZE, caption[i]);
}

/* The drawing is as large as its content. */
static void begin_file(const struct plot *plot)
{
    double width = LEGEND + 32 + text_width(plot->longest, TEXT_SIZE);
    width = pick_larger(width, LEFT + text_width(strlen(plot->title.text), TITLE_SIZE));
    width = pick_larger(width, LEFT + text_width(strlen(plot->machine.text), TEXT_SIZE));
    for (size_t i = 0; i < caption_lines(plot); i++)
        width = pick_larger(width, LEFT + text_width(strlen(caption[i]), TEXT_SIZE));
    double height = TOP + HEIGHT + 72 + LINE * (double)caption_lines(plot);
    height = pick_larger(height, TOP + 10 + LINE * (double)(plot->series + 1));
    fprintf(plot->file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" "
            "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"%g\">\n<title>",
            width + MARGIN, height + MARGIN, TEXT_SIZE);
    put_text(plot, plot->title.text);
    fprintf(plot->file, "</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
}

static void draw_plot(struct plot *plot)
{
    find_ranges(plot);
    set_title(plot);
    set_machine(plot);
    begin_file(plot);
    draw_texts(plot);
    draw_axes(plot);
    draw_limit(plot);
    draw_results(plot);
    fprintf(plot->file, "</svg>\n");
}

int bench_svg_write(const char *path, const struct bench_run *run, struct message *message)
{
    struct file_part part = {NULL, 0};
    char *text = NULL;
    struct plot plot = {.file = open_memstream(&text, &part.bytes), .run = run};
    if (!plot.file)
        return message_set(message, "%s: no memory", path);
    draw_plot(&plot);
    int status = ferror(plot.file) ? -1 : 0;
    if (fclose(plot.file) != 0 || status != 0) {
        free(text);
        return message_set(message, "%s: no memory", path);
    }
    part.data = text;
    status = file_write(path, &part, 1, message);
    free(text);
    return status;
}
