/* elf.h - checks ELF files. */
#ifndef CF__ELF_H
#define CF__ELF_H

#include <elf.h>
#include <stdint.h>

#include "program/elf_sections.h"
#include "program/image_part.h"

enum { CF__MACHINE_CUDA = 190 };

/* Checks the bounds, names and links of all sections, and fills `sections`. If the number of sections does not fit the
 * header, it is in section 0. */
int cf__elf_check_sections(const struct cf__image_part *part, const Elf64_Ehdr *head,
                           struct cf__elf_sections *sections);

/* Checks a cubin, either linked or an input of a link, and lists its target. */
int cf__elf_check_cubin(const struct cf__image_part *cubin);

#endif
