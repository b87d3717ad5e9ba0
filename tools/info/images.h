/* images.h - prints the GPU code of a library: each image with its targets, its size and its kernels. */
#ifndef IMAGES_H
#define IMAGES_H

#include <cuferry/registry.h>

#include "base/message.h"
#include "base/writer.h"

/* Writes all images with their kernels, and the kernels without an image. */
int images_write(struct writer *writer, const cf_module *module, struct message *message);

#endif
