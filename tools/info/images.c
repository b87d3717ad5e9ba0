/* images.c - prints the GPU code of a library: each image with its targets, its size and its kernels. */
#include "info/images.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/image_text.h"

/* A kernel, and an image that contains it or one of its variants. */
struct place {
    const cf_image *image;
    const cf_kernel *kernel;
};

/* Compares by image, then by name; kernels without an image come last. */
static int compare_image(const void *one, const void *other)
{
    const struct place *a = one, *b = other;
    if (a->image != b->image) {
        int order = a->image && b->image ? strcmp(a->kernel->file, b->kernel->file) : 0;
        return order ? order : a->image > b->image ? -1 : 1;
    }
    return strcmp(a->kernel->name, b->kernel->name);
}

static void write_targets(struct writer *writer, const cf_image *image)
{
    char target[IMAGE_TEXT];
    writer_begin_list(writer, "targets", NULL);
    for (size_t i = 0; image_target(image, i, target); i++)
        writer_item(writer, target);
    writer_end_list(writer);
}

/* Writes one image and its kernels, which are the first `count` of `places`. */
static void write_image(struct writer *writer, const struct place *places, size_t count)
{
    const cf_image *image = places[0].image;
    const char *file = places[0].kernel->file;
    int64_t bytes = image ? image->end - image->begin : 0;
    char heading[512], cuda[IMAGE_TEXT] = "";
    if (image) {
        image_toolkit(image, cuda);
        snprintf(heading, sizeof heading, "  %s: %" PRId64 " bytes %s%s", file, bytes,
                 *cuda ? "by CUDA " : "from a file of the annotation", cuda);
    } else {
        snprintf(heading, sizeof heading, "  without an image: %zu operations and kernels for the CPU alone", count);
    }
    writer_begin(writer, NULL, heading);
    if (writer->is_json) {
        writer_text(writer, "file", image ? file : NULL);
        writer_number(writer, "bytes", bytes, NULL);
        writer_text(writer, "cuda", *cuda ? cuda : NULL);
    }
    if (image)
        write_targets(writer, image);
    writer_begin_list(writer, "kernels", NULL);
    for (size_t i = 0; i < count; i++)
        writer_item(writer, places[i].kernel->name);
    writer_end_list(writer);
    writer_end(writer);
}

/* Adds a kernel once for each image that contains it. Returns the new number of places. */
static size_t add_places(struct place *places, size_t count, const cf_kernel *kernel)
{
    size_t first = count;
    for (uint32_t v = 0; v < (kernel->nvariants ? kernel->nvariants : 1); v++) {
        const struct place place = {kernel->nvariants ? kernel->variants[v]->image : kernel->image, kernel};
        size_t i = first;
        while (i < count && places[i].image != place.image)
            i++;
        if (i == count)
            places[count++] = place;
    }
    return count;
}

int images_write(struct writer *writer, const cf_module *module, struct message *message)
{
    char heading[64];
    size_t most = 1, count = 0;
    for (size_t i = 0; i < module->count; i++)
        most += 1 + module->kernels[i]->nvariants;
    struct place *places = malloc(most * sizeof *places);
    if (!places)
        return message_set(message, "no memory");
    for (size_t i = 0; i < module->count; i++)
        count = add_places(places, count, module->kernels[i]);
    qsort(places, count, sizeof *places, compare_image);
    snprintf(heading, sizeof heading, "kernels: %zu", module->count);
    writer_begin_list(writer, "images", heading);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && places[next].image == places[i].image; next++)
            continue;
        write_image(writer, places + i, next - i);
    }
    writer_end_list(writer);
    free(places);
    return 0;
}
