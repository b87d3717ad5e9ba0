/* relocatable.c - checks the tables of relocatable cubins. nvJitLink crashes if they have a number of a symbol or
 * section that does not exist or is of another kind. The layouts are those of nvcc 12 and 13. */
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>

#include "program/relocatable.h"

#include "program/elf_sections.h"
#include "program/image_part.h"

/* Types of sections, and of symbols in GPU memory. */
enum {
    OF_INFO = SHT_LOPROC,
    OF_CALLS,
    OF_PROTOTYPES,
    OF_GLOBAL = SHT_LOPROC + 7,
    OF_INITIAL,
    OF_LOCAL,
    OF_SHARED,
    OF_CONSTANT_0 = SHT_LOPROC + 0x64,
    LAST_CONSTANT = OF_CONSTANT_0 + 17,
    OF_COMPATIBILITY = SHT_LOPROC + 0x86
};

struct cubin {
    const struct cf__image_part *part;
    const struct cf__elf_sections *sections;
    Elf64_Shdr symbols; /* section of the symbols */
    uint64_t count;     /* number of symbols */
};

static uint32_t read_word(const struct cubin *cubin, uint64_t at)
{
    uint32_t word;
    memcpy(&word, cubin->part->data + at, sizeof word);
    return word;
}

static Elf64_Sym read_symbol(const struct cubin *cubin, uint64_t i)
{
    Elf64_Sym symbol;
    memcpy(&symbol, cubin->part->data + cubin->symbols.sh_offset + i * sizeof symbol, sizeof symbol);
    return symbol;
}

static const char *name_of(const struct cubin *cubin, const Elf64_Shdr *section)
{
    return (const char *)cubin->part->data + cubin->sections->names.sh_offset + section->sh_name;
}

static int begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static int is_function(const struct cubin *cubin, uint64_t i)
{
    return i < cubin->count && ELF64_ST_TYPE(read_symbol(cubin, i).st_info) == STT_FUNC;
}

static int refuse(const struct cubin *cubin, const Elf64_Shdr *section, const char *what)
{
    return CF__REFUSE_PART(cubin->part, "is damaged: %.60s %s", name_of(cubin, section), what);
}

/* ---- Facts about functions ---- */

/* Returns 1 for attributes that begin with the number of a function, which are registers and three sizes of stacks. */
static int has_function(unsigned int attribute)
{
    return attribute == 0x2f || attribute == 0x23 || attribute == 0x11 || attribute == 0x12;
}

/* Checks a sequence of attributes. Each has a form, a number, and 16 bits. These bits are the value; with form 4, they
 * are the size in bytes of the value that follows. */
static int check_info(const struct cubin *cubin, const Elf64_Shdr *section)
{
    enum { HEAD = 4, WITH_BYTES = 4, EXTERNS = 0x0f, BANK = 0x0a, PARAMETER = 0x17 };
    const unsigned char *info = cubin->part->data + section->sh_offset;
    for (uint64_t at = 0; at < section->sh_size;) {
        if (section->sh_size - at < HEAD || info[at] < 1 || info[at] > WITH_BYTES)
            return refuse(cubin, section, "ends within an attribute");
        unsigned int attribute = info[at + 1], bytes = info[at] == WITH_BYTES ? info[at + 2] + 256U * info[at + 3] : 0;
        at += HEAD;
        if (bytes > section->sh_size - at)
            return refuse(cubin, section, "ends within an attribute");
        if (bytes >= 4) {
            uint32_t first = read_word(cubin, section->sh_offset + at);
            if (has_function(attribute) && (bytes != 8 || !is_function(cubin, first)))
                return refuse(cubin, section, "tells of no function");
            if (attribute == PARAMETER && (bytes != 12 || first))
                return refuse(cubin, section, "has a parameter of another form");
            if (attribute == BANK && first >= cubin->count)
                return refuse(cubin, section, "has a symbol that is not there");
            for (uint64_t i = 0; attribute == EXTERNS && i + 4 <= bytes; i += 4)
                if (read_word(cubin, section->sh_offset + at + i) >= cubin->count)
                    return refuse(cubin, section, "has a symbol that is not there");
        }
        at += bytes;
    }
    return CF_OK;
}

/* Returns 1 if a text begins at this offset in the names of symbols, which include texts of prototypes. */
static int is_text(const struct cubin *cubin, uint32_t at)
{
    Elf64_Shdr names = cf__elf_section(cubin->sections, cubin->symbols.sh_link);
    return at > 0 && at < names.sh_size && !cubin->part->data[names.sh_offset + at - 1];
}

/* Checks four lists of pairs. Each list begins with a pair of 0 and the list's mark. The lists are: calls; functions
 * whose address is taken, with their prototypes; calls through pointers, with their prototypes; functions that take an
 * address. */
static int check_calls(const struct cubin *cubin, const Elf64_Shdr *section)
{
    enum { CALLS = -1, TAKEN = -2, INDIRECT = -3, TAKERS = -4 };
    int list = CALLS;
    for (uint64_t at = 0; at < section->sh_size; at += 8) {
        uint32_t one = read_word(cubin, section->sh_offset + at), other = read_word(cubin, section->sh_offset + at + 4);
        int is_right = is_function(cubin, one);
        if (one == 0) {
            list = (int)other;
            is_right = list >= TAKERS && list <= CALLS;
        } else if (list == TAKEN || list == INDIRECT)
            is_right = is_right && is_text(cubin, other);
        else
            is_right = is_right && is_function(cubin, other);
        if (!is_right)
            return refuse(cubin, section, "calls what is no function");
    }
    return CF_OK;
}

/* Checks pairs of a function and a text in the table of names. */
static int check_prototypes(const struct cubin *cubin, const Elf64_Shdr *section)
{
    for (uint64_t at = 0; at < section->sh_size; at += 8)
        if (!is_function(cubin, read_word(cubin, section->sh_offset + at)) ||
            !is_text(cubin, read_word(cubin, section->sh_offset + at + 4)))
            return refuse(cubin, section, "tells of no function");
    return CF_OK;
}

/* Returns 1 for relocations that use the descriptor of a function. If the symbol is not a function, nvJitLink 13.0
 * reads past its tables, as trials with each relocation type and each kind of symbol have shown. */
static int needs_function(uint64_t type)
{
    return (type >= 0x1f && type <= 0x23) || (type >= 0x2f && type <= 0x31) || (type >= 0x3d && type <= 0x3f);
}

static int check_relocations(const struct cubin *cubin, const Elf64_Shdr *section)
{
    enum { TYPES = 256 };
    uint64_t each = section->sh_type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    if (section->sh_entsize != each || section->sh_size % each || section->sh_info >= cubin->sections->count)
        return refuse(cubin, section, "has another form");
    Elf64_Shdr target = cf__elf_section(cubin->sections, section->sh_info);
    const char *name = name_of(cubin, section), *prefix = section->sh_type == SHT_RELA ? ".rela" : ".rel";
    if (!begins(name, prefix) || strcmp(name + strlen(prefix), name_of(cubin, &target)) != 0)
        return refuse(cubin, section, "belongs to another section");
    for (uint64_t at = 0; at < section->sh_size; at += each) {
        Elf64_Rel entry;
        memcpy(&entry, cubin->part->data + section->sh_offset + at, sizeof entry);
        if (entry.r_offset >= target.sh_size || ELF64_R_SYM(entry.r_info) >= cubin->count ||
            ELF64_R_TYPE(entry.r_info) >= TYPES)
            return refuse(cubin, section, "has a place or a symbol that is not there");
        if (needs_function(ELF64_R_TYPE(entry.r_info)) && !is_function(cubin, ELF64_R_SYM(entry.r_info)))
            return refuse(cubin, section, "has no function");
    }
    return CF_OK;
}

/* ---- Sections ---- */

/* Returns the required type of sections with this name, or 0 if any is allowed. */
static uint32_t type_of(const char *name)
{
    static const struct {
        const char *name;
        uint32_t type;
    } kinds[] = {
        {".text.", SHT_PROGBITS},
        {".nv.info", OF_INFO},
        {".nv.callgraph", OF_CALLS},
        {".nv.prototype", OF_PROTOTYPES},
        {".nv.global.init", OF_INITIAL},
        {".nv.global", OF_GLOBAL},
        {".nv.shared.", OF_SHARED},
        {".nv.compat", OF_COMPATIBILITY},
        {".debug_frame", SHT_PROGBITS},
        {".rela", SHT_RELA},
        {".rel.", SHT_REL},
        {".symtab", SHT_SYMTAB},
        {".strtab", SHT_STRTAB},
        {".note.nv.", SHT_NOTE},
    };
    if (begins(name, ".nv.constant"))
        return OF_CONSTANT_0 + (uint32_t)strtoul(name + strlen(".nv.constant"), NULL, 10);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (begins(name, kinds[i].name))
            return kinds[i].type;
    return 0;
}

/* Returns 1 if the section's owner is valid. For a section about a function, it is the section of the function's code;
 * for other known sections, it is any section that exists, or none. */
static int has_owner(const struct cubin *cubin, const Elf64_Shdr *section, const char *name)
{
    static const char *const of_functions[] = {".nv.info.", ".nv.shared.", ".nv.constant0."};
    for (size_t i = 0; i < sizeof of_functions / sizeof *of_functions; i++)
        if (begins(name, of_functions[i])) {
            if (section->sh_info >= cubin->sections->count)
                return 0;
            Elf64_Shdr owner = cf__elf_section(cubin->sections, section->sh_info);
            return begins(name_of(cubin, &owner), ".text.");
        }
    int is_known = section->sh_type == SHT_PROGBITS || section->sh_type == SHT_NOTE ||
                   (section->sh_type >= OF_INFO && section->sh_type <= OF_SHARED);
    return begins(name, ".text.") || !is_known || section->sh_info < cubin->sections->count;
}

static int check_section(const struct cubin *cubin, uint64_t i)
{
    enum { LARGEST_ALIGNMENT = 1 << 20 };
    Elf64_Shdr section = cf__elf_section(cubin->sections, i);
    const char *name = name_of(cubin, &section);
    uint32_t type = type_of(name);
    int is_table = section.sh_type == OF_CALLS || section.sh_type == OF_PROTOTYPES;
    uint64_t alignment = section.sh_addralign;
    if (type && type != section.sh_type)
        return refuse(cubin, &section, "is a section of another type");
    if (alignment == 0 || alignment > LARGEST_ALIGNMENT || (alignment & (alignment - 1)))
        return refuse(cubin, &section, "has an alignment that is no power of two");
    if (section.sh_offset > cubin->part->size)
        return refuse(cubin, &section, "begins behind the end");
    if (!has_owner(cubin, &section, name))
        return refuse(cubin, &section, "belongs to another section");
    if (is_table && (section.sh_size % 8 || section.sh_entsize != 8))
        return refuse(cubin, &section, "has another form");
    switch (section.sh_type) {
    case SHT_REL:
    case SHT_RELA:
        return check_relocations(cubin, &section);
    case OF_INFO:
        return check_info(cubin, &section);
    case OF_COMPATIBILITY:
        return section.sh_size ? check_info(cubin, &section) : refuse(cubin, &section, "is empty");
    case OF_CALLS:
        return check_calls(cubin, &section);
    case OF_PROTOTYPES:
        return check_prototypes(cubin, &section);
    default:
        break;
    }
    if (begins(name, ".text.")) { /* the number of the section's function, and in the upper bits the number of
                                   * registers */
        uint32_t symbol = section.sh_info & 0xffffff;
        if (!is_function(cubin, symbol) || read_symbol(cubin, symbol).st_shndx != i)
            return refuse(cubin, &section, "has no function");
    }
    if (section.sh_type >= OF_CONSTANT_0 && section.sh_type <= LAST_CONSTANT &&
        section.sh_info >= cubin->sections->count)
        return refuse(cubin, &section, "belongs to no section");
    return CF_OK;
}

static int check_symbol(const struct cubin *cubin, uint64_t i)
{
    enum { TEXTURE = 10, SURFACE, DATA = 13 };
    Elf64_Sym symbol = read_symbol(cubin, i);
    unsigned int type = ELF64_ST_TYPE(symbol.st_info);
    if (ELF64_ST_BIND(symbol.st_info) > STB_WEAK ||
        (type > STT_FILE && type != TEXTURE && type != SURFACE && type != DATA))
        return CF__REFUSE_PART(cubin->part, "is damaged: symbol %" PRIu64 " has no kind", i);
    if (symbol.st_shndx > SHN_COMMON)
        return CF__REFUSE_PART(cubin->part, "is damaged: symbol %" PRIu64 " is in no section", i);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE)
        return CF_OK;
    Elf64_Shdr section = cf__elf_section(cubin->sections, symbol.st_shndx);
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && !begins(name_of(cubin, &section), ".text."))
        return refuse(cubin, &section, "has a function");
    if (section.sh_type != OF_SHARED && ELF64_ST_TYPE(symbol.st_info) != STT_SECTION &&
        !cf__is_within_part(section.sh_size, symbol.st_value, symbol.st_size))
        return refuse(cubin, &section, "ends within a symbol");
    return CF_OK;
}

int cf__relocatable_check(const struct cf__image_part *part, const struct cf__elf_sections *sections)
{
    struct cubin cubin = {.part = part, .sections = sections};
    uint64_t tables = 0;
    int status = CF_OK;
    for (uint64_t i = 0; i < sections->count; i++) {
        Elf64_Shdr section = cf__elf_section(sections, i);
        if (section.sh_type == SHT_SYMTAB) {
            cubin.symbols = section;
            cubin.count = section.sh_size / sizeof(Elf64_Sym);
            tables++;
        }
    }
    Elf64_Shdr none = cf__elf_section(sections, 0);
    if (none.sh_type != SHT_NULL)
        return CF__REFUSE_PART(part, "is damaged: section 0 is not empty%s", "");
    if (tables == 1 && part->data[cf__elf_section(sections, cubin.symbols.sh_link).sh_offset])
        return CF__REFUSE_PART(part, "is damaged: its table of names does not begin with none%s", "");
    if (tables != 1 || cubin.count == 0)
        return CF__REFUSE_PART(part, "is damaged: it has %" PRIu64 " tables of symbols", tables);
    for (uint64_t i = 1; i < cubin.count && status == CF_OK; i++)
        status = check_symbol(&cubin, i);
    for (uint64_t i = 1; i < sections->count && status == CF_OK; i++)
        status = check_section(&cubin, i);
    return status;
}
