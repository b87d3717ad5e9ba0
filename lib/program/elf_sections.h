/* elf_sections.h - the table of sections of an ELF file that was checked. */
#ifndef CF__ELF_SECTIONS_H
#define CF__ELF_SECTIONS_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

struct cf__elf_sections {
    const unsigned char *table;
    uint64_t count;
    Elf64_Shdr names; /* section with the names of the sections */
};

/* Copies section header `i`, because it may be misaligned. */
static inline Elf64_Shdr cf__elf_section(const struct cf__elf_sections *sections, uint64_t i)
{
    Elf64_Shdr section;
    memcpy(&section, sections->table + i * sizeof section, sizeof section);
    return section;
}

#endif
