/* elf.c - checks ELF files: cubins, and the sections of object files. */
#include <elf.h>
#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "program/elf.h"

#include "program/definitions.h"
#include "program/elf_sections.h"
#include "program/image_part.h"
#include "program/relocatable.h"

enum {
    ABI_SINCE_13 = 8 /* value of e_ident[EI_ABIVERSION] in cubins that have the target in the second byte of their
                      * flags */
};

static void add_symbol(struct cf__definitions *definitions, const char *name, const Elf64_Sym *symbol)
{
    enum { OF_CUDA = 13 }; /* symbol type of data in GPU memory, like STT_OBJECT */
    int binding = ELF64_ST_BIND(symbol->st_info), type = ELF64_ST_TYPE(symbol->st_info);
    int is_data = type == STT_OBJECT || type == OF_CUDA;
    /* Symbols in special sections are skipped, because the linker merges them. */
    if (!*name || (binding != STB_GLOBAL && binding != STB_WEAK) || (!is_data && type != STT_FUNC) ||
        symbol->st_shndx >= SHN_LORESERVE)
        return;
    cf__definitions_add(definitions, name, strlen(name),
                        symbol->st_shndx == SHN_UNDEF ? CF__DECLARED
                        : binding == STB_WEAK         ? CF__WEAK
                                                      : CF__DEFINED,
                        is_data ? symbol->st_size : 0);
}

static int check_symbols(const struct cf__image_part *cubin, const struct cf__elf_sections *sections,
                         const Elf64_Shdr *section)
{
    if (section->sh_entsize != sizeof(Elf64_Sym) || section->sh_size % sizeof(Elf64_Sym))
        return CF__REFUSE_PART(cubin, "is damaged: its symbols have %" PRIu64 " bytes and not %zu", section->sh_entsize,
                               sizeof(Elf64_Sym));
    Elf64_Shdr texts = cf__elf_section(sections, section->sh_link);
    if (texts.sh_type != SHT_STRTAB || !texts.sh_size ||
        !cf__is_within_part(cubin->size, texts.sh_offset, texts.sh_size) ||
        cubin->data[texts.sh_offset + texts.sh_size - 1])
        return CF__REFUSE_PART(cubin, "is damaged: its symbols have no names in section %u", section->sh_link);
    for (uint64_t at = 0; at < section->sh_size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        memcpy(&symbol, cubin->data + section->sh_offset + at, sizeof symbol);
        if (symbol.st_name >= texts.sh_size)
            return CF__REFUSE_PART(cubin, "is damaged: the name of symbol %" PRIu64 " is outside of the names",
                                   at / sizeof symbol);
        if (symbol.st_shndx >= sections->count && symbol.st_shndx < SHN_LORESERVE)
            return CF__REFUSE_PART(cubin, "is damaged: symbol %" PRIu64 " is in section %u of %" PRIu64,
                                   at / sizeof symbol, symbol.st_shndx, sections->count);
        if (cubin->definitions)
            add_symbol(cubin->definitions, (const char *)cubin->data + texts.sh_offset + symbol.st_name, &symbol);
    }
    return CF_OK;
}

static int check_section(const struct cf__image_part *cubin, const struct cf__elf_sections *sections, uint64_t i)
{
    Elf64_Shdr section = cf__elf_section(sections, i);
    uint64_t bytes = section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL ? 0 : section.sh_size;
    if (bytes && !cf__is_within_part(cubin->size, section.sh_offset, bytes))
        return CF__REFUSE_PART(cubin, "has %zu bytes, and section %" PRIu64 " needs %" PRIu64 " bytes from %" PRIu64,
                               cubin->size, i, bytes, section.sh_offset);
    if (section.sh_name >= sections->names.sh_size)
        return CF__REFUSE_PART(cubin, "is damaged: the name of section %" PRIu64 " is outside of the names", i);
    if (section.sh_type != SHT_NULL && section.sh_link >= sections->count)
        return CF__REFUSE_PART(cubin, "is damaged: section %" PRIu64 " refers to section %u of %" PRIu64, i,
                               section.sh_link, sections->count);
    return section.sh_type == SHT_SYMTAB ? check_symbols(cubin, sections, &section) : CF_OK;
}

int cf__elf_check_sections(const struct cf__image_part *cubin, const Elf64_Ehdr *head,
                           struct cf__elf_sections *sections)
{
    uint64_t names = head->e_shstrndx;
    *sections = (struct cf__elf_sections){.count = head->e_shnum};
    if (head->e_shentsize == sizeof(Elf64_Shdr) && cf__is_within_part(cubin->size, head->e_shoff, sizeof(Elf64_Shdr))) {
        sections->table = cubin->data + head->e_shoff;
        Elf64_Shdr first = cf__elf_section(sections, 0);
        sections->count = head->e_shnum ? head->e_shnum : first.sh_size;
        names = names == SHN_XINDEX ? first.sh_link : names;
    }
    if (sections->count == 0 || head->e_shentsize != sizeof(Elf64_Shdr))
        return CF__REFUSE_PART(cubin, "is damaged: it has %" PRIu64 " sections of %u bytes", sections->count,
                               head->e_shentsize);
    if (sections->count > cubin->size / sizeof(Elf64_Shdr) ||
        !cf__is_within_part(cubin->size, head->e_shoff, sections->count * sizeof(Elf64_Shdr)))
        return CF__REFUSE_PART(cubin, "has %zu bytes, and its %" PRIu64 " sections are listed from byte %" PRIu64 " on",
                               cubin->size, sections->count, head->e_shoff);
    if (names >= sections->count)
        return CF__REFUSE_PART(cubin, "is damaged: the names of its sections are section %" PRIu64 " of %" PRIu64,
                               names, sections->count);
    sections->names = cf__elf_section(sections, names);
    const Elf64_Shdr *texts = &sections->names;
    if (texts->sh_type != SHT_STRTAB || texts->sh_size == 0 ||
        !cf__is_within_part(cubin->size, texts->sh_offset, texts->sh_size) ||
        cubin->data[texts->sh_offset + texts->sh_size - 1])
        return CF__REFUSE_PART(cubin, "is damaged: section %" PRIu64 " has no names", names);
    int status = CF_OK;
    for (uint64_t i = 0; status == CF_OK && i < sections->count; i++)
        status = check_section(cubin, sections, i);
    return status;
}

static int check_segments(const struct cf__image_part *cubin, const Elf64_Ehdr *head)
{
    Elf64_Phdr segment;
    if (head->e_phnum == 0 || head->e_phentsize != sizeof segment)
        return CF__REFUSE_PART(cubin, "is damaged: it has %u segments of %u bytes", head->e_phnum, head->e_phentsize);
    if (!cf__is_within_part(cubin->size, head->e_phoff, head->e_phnum * sizeof segment))
        return CF__REFUSE_PART(cubin, "has %zu bytes, and its %u segments are listed from byte %" PRIu64 " on",
                               cubin->size, head->e_phnum, head->e_phoff);
    for (unsigned int i = 0; i < head->e_phnum; i++) {
        memcpy(&segment, cubin->data + head->e_phoff + i * sizeof segment, sizeof segment);
        if (!cf__is_within_part(cubin->size, segment.p_offset, segment.p_filesz))
            return CF__REFUSE_PART(cubin, "has %zu bytes, and segment %u needs %" PRIu64 " bytes from %" PRIu64,
                                   cubin->size, i, segment.p_filesz, segment.p_offset);
    }
    return CF_OK;
}

/* Reads the target from the flags. Before CUDA 13 it is in the lowest byte, and 0x800 marks targets such as sm_90a.
 * Since CUDA 13 it is in the second byte, and 8 marks such targets. */
static unsigned int read_cubin_target(const Elf64_Ehdr *head)
{
    int is_new = head->e_ident[EI_ABIVERSION] >= ABI_SINCE_13;
    unsigned int capability = (is_new ? head->e_flags >> 8 : head->e_flags) & 0xff;
    return capability | (head->e_flags & (is_new ? 8 : 0x800) ? CF_TARGET_EXACT : 0);
}

int cf__elf_check_cubin(const struct cf__image_part *cubin)
{
    Elf64_Ehdr head;
    if (cubin->size < sizeof head)
        return CF__REFUSE_PART(cubin, "is cut off: it has %zu bytes and its header %zu", cubin->size, sizeof head);
    memcpy(&head, cubin->data, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return CF__REFUSE_PART(cubin, "is damaged: it begins with byte %02x and not as an ELF file", cubin->data[0]);
    if (head.e_machine != CF__MACHINE_CUDA)
        return CF__REFUSE_PART(
            cubin, "is an ELF file for machine %u and not for a GPU (%d); code in object files has to be linked",
            head.e_machine, CF__MACHINE_CUDA);
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB ||
        head.e_ident[EI_VERSION] != EV_CURRENT || head.e_ehsize != sizeof head)
        return CF__REFUSE_PART(cubin, "is damaged: its ELF header has class %u, order %u, version %u and %u bytes",
                               head.e_ident[EI_CLASS], head.e_ident[EI_DATA], head.e_ident[EI_VERSION], head.e_ehsize);
    if (head.e_type == ET_REL && !cubin->is_input)
        return CF__REFUSE_PART(cubin, "is relocatable code%s; link it first", "");
    if (head.e_type == ET_EXEC && cubin->is_input)
        return CF__REFUSE_PART(cubin, "is linked already%s; nvcc -rdc=true makes code that can be linked", "");
    if (head.e_type != (cubin->is_input ? ET_REL : ET_EXEC))
        return CF__REFUSE_PART(cubin, "is damaged: its ELF type is %u and not %d", head.e_type,
                               cubin->is_input ? ET_REL : ET_EXEC);
    unsigned int target = read_cubin_target(&head);
    if (CF_TARGET_CAPABILITY(target) < 10)
        return CF__REFUSE_PART(cubin, "is damaged: its target is sm_%u", CF_TARGET_CAPABILITY(target));
    struct cf__elf_sections sections;
    int status = cf__elf_check_sections(cubin, &head, &sections);
    if (status == CF_OK && !cubin->is_input)
        status = check_segments(cubin, &head);
    if (status == CF_OK && cubin->is_input)
        status = cf__relocatable_check(cubin, &sections);
    if (status == CF_OK)
        cf__list_target(cubin->targets->sm, target);
    return status;
}
