/* elf.h - checks of ELF files. */
#ifndef CF__ELF_H
#define CF__ELF_H

#include <elf.h>
#include <stdint.h>

#include "program/image_part.h"

enum { CF__MACHINE_CUDA = 190 };

/* The table of sections. */
struct cf__elf_sections {
    const unsigned char *table;
    uint64_t count;
    Elf64_Shdr names; /* the section with their names */
};

/* Copies section `i` of a table that was checked; it may not be aligned. */
Elf64_Shdr cf__elf_section(const struct cf__elf_sections *sections, uint64_t i);

/* Checks the bounds, names and links of all sections, and fills `sections`. Files with more sections than the header can
 * tell have the numbers in section 0. */
int cf__elf_check_sections(const struct cf__image_part *part, const Elf64_Ehdr *head,
                           struct cf__elf_sections *sections);

/* Checks a cubin, linked or an input of a link, and lists its target. */
int cf__elf_check_cubin(const struct cf__image_part *cubin);

#endif
