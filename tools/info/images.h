/* images.h - the GPU code of a library: each image with its targets, its size and its kernels. */
#ifndef IMAGES_H
#define IMAGES_H

#include <cuferry/registry.h>

#include "base/message.h"
#include "base/writer.h"

/* Writes all images, and the kernels without one. */
int images_write(struct writer *writer, const cf_module *module, struct message *message);

#endif
