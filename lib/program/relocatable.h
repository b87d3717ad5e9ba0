/* relocatable.h - checks relocatable cubins, which a link reads. */
#ifndef CF__RELOCATABLE_H
#define CF__RELOCATABLE_H

#include "program/elf_sections.h"
#include "program/image_part.h"

/* Checks the tables that nvJitLink follows without checking bounds. The sections have been checked already. */
int cf__relocatable_check(const struct cf__image_part *cubin, const struct cf__elf_sections *sections);

#endif
