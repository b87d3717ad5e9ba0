/* images.c - the GPU code of a library: each image with its targets, its size and its kernels. */
#include "info/images.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Compares by image, then by name; kernels without an image come last. */
static int compare_image(const void *one, const void *other)
{
    const cf_kernel *a = *(const cf_kernel *const *)one, *b = *(const cf_kernel *const *)other;
    if (a->image != b->image) {
        int order = a->image && b->image ? strcmp(a->file, b->file) : 0;
        return order ? order : a->image > b->image ? -1 : 1;
    }
    return strcmp(a->name, b->name);
}

static void write_targets(struct writer *writer, const cf_image *image)
{
    char target[32];
    writer_begin_list(writer, "targets", NULL);
    for (const uint16_t *sm = image->sm; *sm; sm++) {
        snprintf(target, sizeof target, "sm_%u%s", CF_TARGET_CAPABILITY((unsigned)*sm), CF_TARGET_SUFFIX(*sm));
        writer_item(writer, target);
    }
    for (const uint16_t *ptx = image->ptx; *ptx; ptx++) {
        snprintf(target, sizeof target, "compute_%u%s", CF_TARGET_CAPABILITY((unsigned)*ptx), CF_TARGET_SUFFIX(*ptx));
        writer_item(writer, target);
    }
    writer_end_list(writer);
}

/* Writes one image and its kernels; `count` of them begin at `kernels`. */
static void write_image(struct writer *writer, const cf_kernel *const *kernels, size_t count)
{
    const cf_image *image = kernels[0]->image;
    int64_t bytes = image ? image->end - image->begin : 0;
    char heading[512], cuda[32] = "";
    if (image) {
        if (image->toolkit)
            snprintf(cuda, sizeof cuda, "%" PRIu32 ".%" PRIu32, image->toolkit / 1000, image->toolkit % 1000 / 10);
        snprintf(heading, sizeof heading, "  %s: %" PRId64 " bytes %s%s", kernels[0]->file, bytes,
                 *cuda ? "by CUDA " : "from a file of the annotation", cuda);
    } else {
        snprintf(heading, sizeof heading, "  without an image: %zu operations and kernels for the CPU alone", count);
    }
    writer_begin(writer, NULL, heading);
    if (writer->is_json) {
        writer_text(writer, "file", image ? kernels[0]->file : NULL);
        writer_number(writer, "bytes", bytes, NULL);
        writer_text(writer, "cuda", *cuda ? cuda : NULL);
    }
    if (image)
        write_targets(writer, image);
    writer_begin_list(writer, "kernels", NULL);
    for (size_t i = 0; i < count; i++)
        writer_item(writer, kernels[i]->name);
    writer_end_list(writer);
    writer_end(writer);
}

int images_write(struct writer *writer, const cf_module *module, struct message *message)
{
    char heading[64];
    const cf_kernel **sorted = malloc((module->count + 1) * sizeof *sorted);
    if (!sorted)
        return message_set(message, "no memory");
    for (size_t i = 0; i < module->count; i++)
        sorted[i] = module->kernels[i];
    qsort(sorted, module->count, sizeof *sorted, compare_image);
    snprintf(heading, sizeof heading, "kernels: %zu", module->count);
    writer_begin_list(writer, "images", heading);
    for (size_t i = 0, next; i < module->count; i = next) {
        for (next = i + 1; next < module->count && sorted[next]->image == sorted[i]->image; next++)
            continue;
        write_image(writer, sorted + i, next - i);
    }
    writer_end_list(writer);
    free(sorted);
    return 0;
}
