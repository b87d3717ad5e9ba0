/* inspect.c - checks images that come from outside: cubins, fatbins and PTX.
 *
 * The layouts are those of nvcc 12 and 13. A cubin is an ELF file. A fatbin is a header, then entries with a header and
 * a payload each. */
#include <elf.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "program/inspect.h"

#include "base/error.h"

/* The first four bytes of images. */
static const uint32_t fatbin_magic = 0xba55ed50, lto_magic = 0x7f4e43ed, bitcode_magic = 0xdec04342;

enum {
    MACHINE_CUDA = 190,
    ABI_SINCE_13 = 8 /* e_ident[EI_ABIVERSION] of cubins whose flags have the target in their second byte */
};

/* Part of an image: a whole one, or an entry of a fatbin. */
struct part {
    const char *function, *what; /* for messages */
    const unsigned char *data;
    size_t size;
    struct cf__targets *targets;
};

/* Fails for a part; the format continues "function: the cubin ". */
#define REFUSE(part, format, ...) cf__fail(CF_EIMAGE, "%s: the %s " format, (part)->function, (part)->what, __VA_ARGS__)

static int is_within(size_t whole, uint64_t offset, uint64_t bytes)
{
    return offset <= whole && bytes <= whole - offset;
}

static void add_target(uint16_t list[], unsigned int target)
{
    int i = 0;
    while (i < CF__INSPECTED_TARGETS && list[i] && list[i] != target)
        i++;
    if (i < CF__INSPECTED_TARGETS)
        list[i] = (uint16_t)target;
}

/* ---- Cubins ---- */

static int check_section(const struct part *cubin, const Elf64_Ehdr *head, const Elf64_Shdr *names, unsigned int i)
{
    Elf64_Shdr section;
    memcpy(&section, cubin->data + head->e_shoff + i * sizeof section, sizeof section);
    uint64_t bytes = section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL ? 0 : section.sh_size;
    if (bytes && !is_within(cubin->size, section.sh_offset, bytes))
        return REFUSE(cubin, "has %zu bytes, and section %u needs %" PRIu64 " bytes from %" PRIu64, cubin->size, i,
                      bytes, section.sh_offset);
    if (section.sh_name >= names->sh_size)
        return REFUSE(cubin, "is damaged: the name of section %u is outside of the names", i);
    if (section.sh_link >= head->e_shnum)
        return REFUSE(cubin, "is damaged: section %u refers to section %u of %u", i, section.sh_link, head->e_shnum);
    if (section.sh_type != SHT_SYMTAB)
        return CF_OK;
    if (section.sh_entsize != sizeof(Elf64_Sym) || section.sh_size % sizeof(Elf64_Sym))
        return REFUSE(cubin, "is damaged: its symbols have %" PRIu64 " bytes and not %zu", section.sh_entsize,
                      sizeof(Elf64_Sym));
    Elf64_Shdr texts;
    memcpy(&texts, cubin->data + head->e_shoff + section.sh_link * sizeof texts, sizeof texts);
    if (texts.sh_type != SHT_STRTAB || !is_within(cubin->size, texts.sh_offset, texts.sh_size))
        return REFUSE(cubin, "is damaged: its symbols have no names in section %u", section.sh_link);
    for (uint64_t at = 0; at < section.sh_size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        memcpy(&symbol, cubin->data + section.sh_offset + at, sizeof symbol);
        if (symbol.st_name >= texts.sh_size)
            return REFUSE(cubin, "is damaged: the name of symbol %" PRIu64 " is outside of the names",
                          at / sizeof symbol);
        if (symbol.st_shndx >= head->e_shnum && symbol.st_shndx < SHN_LORESERVE)
            return REFUSE(cubin, "is damaged: symbol %" PRIu64 " is in section %u of %u", at / sizeof symbol,
                          symbol.st_shndx, head->e_shnum);
    }
    return CF_OK;
}

static int check_sections(const struct part *cubin, const Elf64_Ehdr *head)
{
    Elf64_Shdr names;
    if (head->e_shnum == 0 || head->e_shentsize != sizeof names)
        return REFUSE(cubin, "is damaged: it has %u sections of %u bytes", head->e_shnum, head->e_shentsize);
    if (!is_within(cubin->size, head->e_shoff, head->e_shnum * sizeof names))
        return REFUSE(cubin, "has %zu bytes, and its %u sections are listed from byte %" PRIu64 " on", cubin->size,
                      head->e_shnum, head->e_shoff);
    if (head->e_shstrndx >= head->e_shnum)
        return REFUSE(cubin, "is damaged: the names of its sections are section %u of %u", head->e_shstrndx,
                      head->e_shnum);
    memcpy(&names, cubin->data + head->e_shoff + head->e_shstrndx * sizeof names, sizeof names);
    if (names.sh_type != SHT_STRTAB || names.sh_size == 0 || !is_within(cubin->size, names.sh_offset, names.sh_size) ||
        cubin->data[names.sh_offset + names.sh_size - 1])
        return REFUSE(cubin, "is damaged: section %u has no names", head->e_shstrndx);
    int status = CF_OK;
    for (unsigned int i = 0; status == CF_OK && i < head->e_shnum; i++)
        status = check_section(cubin, head, &names, i);
    return status;
}

static int check_segments(const struct part *cubin, const Elf64_Ehdr *head)
{
    Elf64_Phdr segment;
    if (head->e_phnum == 0 || head->e_phentsize != sizeof segment)
        return REFUSE(cubin, "is damaged: it has %u segments of %u bytes", head->e_phnum, head->e_phentsize);
    if (!is_within(cubin->size, head->e_phoff, head->e_phnum * sizeof segment))
        return REFUSE(cubin, "has %zu bytes, and its %u segments are listed from byte %" PRIu64 " on", cubin->size,
                      head->e_phnum, head->e_phoff);
    for (unsigned int i = 0; i < head->e_phnum; i++) {
        memcpy(&segment, cubin->data + head->e_phoff + i * sizeof segment, sizeof segment);
        if (!is_within(cubin->size, segment.p_offset, segment.p_filesz))
            return REFUSE(cubin, "has %zu bytes, and segment %u needs %" PRIu64 " bytes from %" PRIu64, cubin->size, i,
                          segment.p_filesz, segment.p_offset);
    }
    return CF_OK;
}

/* The target is in the flags: before CUDA 13 in the lowest byte, with 0x800 for sm_90a; since then in the second one,
 * with 8 for such targets. */
static unsigned int read_cubin_target(const Elf64_Ehdr *head)
{
    int is_new = head->e_ident[EI_ABIVERSION] >= ABI_SINCE_13;
    unsigned int capability = (is_new ? head->e_flags >> 8 : head->e_flags) & 0xff;
    return capability | (head->e_flags & (is_new ? 8 : 0x800) ? CF_TARGET_EXACT : 0);
}

static int check_cubin(const struct part *cubin)
{
    Elf64_Ehdr head;
    if (cubin->size < sizeof head)
        return REFUSE(cubin, "is cut off: it has %zu bytes and its header %zu", cubin->size, sizeof head);
    memcpy(&head, cubin->data, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return REFUSE(cubin, "is damaged: it begins with byte %02x and not as an ELF file", cubin->data[0]);
    if (head.e_machine != MACHINE_CUDA)
        return REFUSE(cubin,
                      "is an ELF file for machine %u and not for a GPU (%d); code in object files has to be linked",
                      head.e_machine, MACHINE_CUDA);
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB ||
        head.e_ident[EI_VERSION] != EV_CURRENT || head.e_ehsize != sizeof head)
        return REFUSE(cubin, "is damaged: its ELF header has class %u, order %u, version %u and %u bytes",
                      head.e_ident[EI_CLASS], head.e_ident[EI_DATA], head.e_ident[EI_VERSION], head.e_ehsize);
    if (head.e_type == ET_REL)
        return REFUSE(cubin, "is relocatable code%s; link it first", "");
    if (head.e_type != ET_EXEC)
        return REFUSE(cubin, "is damaged: its ELF type is %u and not %d", head.e_type, ET_EXEC);
    unsigned int target = read_cubin_target(&head);
    if (CF_TARGET_CAPABILITY(target) < 10)
        return REFUSE(cubin, "is damaged: its target is sm_%u", CF_TARGET_CAPABILITY(target));
    int status = check_sections(cubin, &head);
    if (status == CF_OK)
        status = check_segments(cubin, &head);
    if (status == CF_OK)
        add_target(cubin->targets->sm, target);
    return status;
}

/* ---- Fatbins ---- */

struct fatbin_head {
    uint32_t magic;
    uint16_t version, head_bytes;
    uint64_t bytes; /* of all entries */
};

struct fatbin_entry {
    uint16_t kind, version;
    uint32_t head_bytes;
    uint64_t bytes;            /* of the payload in the file, padded */
    uint32_t compressed_bytes; /* of the payload without the padding; 0: it is not compressed */
    uint32_t options;
    uint16_t minor, major;
    uint32_t capability;
    uint32_t name, name_bytes;
    uint64_t flags;
};

enum { KIND_PTX = 1, KIND_CUBIN = 2, KIND_LTO = 8, FLAG_EXACT = 0x100000, FLAG_FAMILY = 0x200000 };

static int check_entry(const struct part *fatbin, const struct fatbin_entry *entry, size_t offset, int number)
{
    char what[64];
    snprintf(what, sizeof what, "fatbin's entry %d", number);
    const struct part part = {fatbin->function, what, fatbin->data + offset + entry->head_bytes, (size_t)entry->bytes,
                              fatbin->targets};
    unsigned int target = entry->capability | (entry->flags & FLAG_EXACT    ? CF_TARGET_EXACT
                                               : entry->flags & FLAG_FAMILY ? CF_TARGET_FAMILY
                                                                            : 0);
    if (entry->compressed_bytes > entry->bytes)
        return REFUSE(&part, "is damaged: it has %" PRIu64 " bytes, %u of them compressed", entry->bytes,
                      entry->compressed_bytes);
    if (entry->kind != KIND_PTX && entry->kind != KIND_CUBIN)
        return CF_OK; /* LTO-IR, and kinds of later toolkits */
    if (entry->capability < 10 || entry->capability > 999)
        return REFUSE(&part, "is damaged: its target is sm_%u", entry->capability);
    if (entry->kind == KIND_PTX || entry->compressed_bytes) {
        add_target(entry->kind == KIND_PTX ? fatbin->targets->ptx : fatbin->targets->sm, target);
        return CF_OK;
    }
    struct cf__targets unused = {{0}, {0}}; /* the entry's own flags are the ones that the driver reads */
    const struct part cubin = {part.function, part.what, part.data, part.size, &unused};
    int status = check_cubin(&cubin);
    if (status == CF_OK)
        add_target(fatbin->targets->sm, target);
    return status;
}

static int check_fatbin(const struct part *fatbin)
{
    struct fatbin_head head;
    int status = CF_OK, has_lto = 0, number = 1;
    if (fatbin->size < sizeof head)
        return REFUSE(fatbin, "is cut off: it has %zu bytes and its header %zu", fatbin->size, sizeof head);
    memcpy(&head, fatbin->data, sizeof head);
    if (head.version != 1 || head.head_bytes < sizeof head)
        return REFUSE(fatbin, "is damaged: its header has version %u and %u bytes", head.version, head.head_bytes);
    if (!is_within(fatbin->size, head.head_bytes, head.bytes))
        return REFUSE(fatbin, "has %zu bytes, and its entries need %" PRIu64 " bytes from %u", fatbin->size, head.bytes,
                      head.head_bytes);
    size_t at = head.head_bytes, end = at + (size_t)head.bytes;
    for (; status == CF_OK && at < end; number++) {
        struct fatbin_entry entry;
        if (end - at < sizeof entry)
            return REFUSE(fatbin, "is damaged: entry %d has %zu bytes", number, end - at);
        memcpy(&entry, fatbin->data + at, sizeof entry);
        if (entry.head_bytes < sizeof entry || entry.head_bytes > end - at || entry.bytes > end - at - entry.head_bytes)
            return REFUSE(fatbin, "is damaged: entry %d has %u and %" PRIu64 " bytes, and %zu are left", number,
                          entry.head_bytes, entry.bytes, end - at);
        status = check_entry(fatbin, &entry, at, number);
        has_lto |= entry.kind == KIND_LTO;
        at += entry.head_bytes + (size_t)entry.bytes;
    }
    if (status == CF_OK && !fatbin->targets->sm[0] && !fatbin->targets->ptx[0])
        status = REFUSE(fatbin, "has %s", has_lto ? "LTO-IR alone; link it first" : "no code in its entries");
    return status;
}

/* ---- PTX ---- */

struct text {
    const struct part *ptx;
    const char *at, *end;
    unsigned int line;
    char word[16]; /* the current one, cut off, or another character; "": the end of the text */
};

static int is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

static int is_at(const struct text *text, const char *spelling)
{
    size_t length = strlen(spelling);
    return (size_t)(text->end - text->at) >= length && memcmp(text->at, spelling, length) == 0;
}

/* Moves past a comment or a string, whose first `opened` bytes open it; `what`: NULL if the text may end in it. */
static int skip_past(struct text *text, size_t opened, const char *close, const char *what)
{
    const char *begin = text->at + opened, *end = memmem(begin, (size_t)(text->end - begin), close, strlen(close));
    if (!end && what)
        return REFUSE(text->ptx, "is cut off: the %s of line %u has no end", what, text->line);
    for (end = end ? end + strlen(close) : text->end; text->at < end; text->at++)
        text->line += *text->at == '\n';
    return CF_OK;
}

/* Reads a word or another character after blanks, comments and strings. */
static int next_word(struct text *text)
{
    int status = CF_OK;
    size_t length = 0;
    while (status == CF_OK && text->at < text->end)
        if (is_at(text, "//"))
            status = skip_past(text, 2, "\n", NULL);
        else if (is_at(text, "/*"))
            status = skip_past(text, 2, "*/", "comment");
        else if (is_at(text, "\""))
            status = skip_past(text, 1, "\"", "string");
        else if (strchr(" \t\r\n\f\v", *text->at))
            text->line += *text->at++ == '\n';
        else
            break;
    for (; text->at < text->end && (length == 0 || (is_word(text->word[0]) && is_word(*text->at))); text->at++)
        if (length < sizeof text->word - 1)
            text->word[length++] = *text->at;
    text->word[length] = 0;
    return status;
}

/* ".target sm_90a, texmode_independent" */
static int read_ptx_target(struct text *text)
{
    unsigned int capability = 0;
    char suffix = 0;
    int status = next_word(text);
    if (status != CF_OK)
        return status;
    if (sscanf(text->word, "sm_%4u%c", &capability, &suffix) < 1 || capability < 10 || capability > 999)
        return REFUSE(text->ptx, "is damaged: the .target of line %u is no GPU such as sm_90", text->line);
    add_target(text->ptx->targets->ptx, capability | (suffix == 'a'   ? CF_TARGET_EXACT
                                                      : suffix == 'f' ? CF_TARGET_FAMILY
                                                                      : 0));
    return CF_OK;
}

/* ".version 9.0" */
static int read_ptx_version(struct text *text)
{
    unsigned int major, minor;
    int status = next_word(text), is_version = strcmp(text->word, ".version") == 0;
    if (status == CF_OK && is_version)
        status = next_word(text);
    if (status == CF_OK && !(is_version && sscanf(text->word, "%3u.%3u", &major, &minor) == 2))
        return REFUSE(text->ptx, "begins without a .version in line %u", text->line);
    return status;
}

/* Follows the braces, so that a text that was cut off is found. */
static int check_ptx(const struct part *ptx)
{
    struct text text = {
        .ptx = ptx, .at = (const char *)ptx->data, .end = (const char *)ptx->data + ptx->size, .line = 1};
    unsigned int depth = 0, opened = 0;
    for (size_t i = 0; i < ptx->size; i++)
        if (ptx->data[i] < ' ' && !(ptx->data[i] >= '\t' && ptx->data[i] <= '\r'))
            return REFUSE(ptx, "is damaged: byte %zu is %02x, which is no text", i, ptx->data[i]);
    int status = read_ptx_version(&text);
    while (status == CF_OK && (status = next_word(&text)) == CF_OK && *text.word) {
        opened = *text.word == '{' && depth == 0 ? text.line : opened;
        if (*text.word == '}' && depth == 0)
            return REFUSE(ptx, "is damaged: line %u has a } without a {", text.line);
        depth += (*text.word == '{') - (unsigned int)(*text.word == '}');
        if (strcmp(text.word, ".target") == 0)
            status = read_ptx_target(&text);
    }
    if (status == CF_OK && !ptx->targets->ptx[0])
        return REFUSE(ptx, "is cut off: its %u lines have no .target", text.line);
    if (status == CF_OK && depth)
        return REFUSE(ptx, "is cut off: the { of line %u has no }", opened);
    return status;
}

/* ---- All kinds ---- */

static int is_text(const struct part *part)
{
    size_t i = 0;
    while (i < part->size && strchr(" \t\r\n\f\v", part->data[i]))
        i++;
    return i == part->size || part->data[i] == '.' || part->data[i] == '/';
}

int cf__inspect_image(const char *function, const unsigned char *data, size_t size, struct cf__targets *targets)
{
    struct part image = {function, "image", data, size, targets};
    uint32_t magic = 0;
    *targets = (struct cf__targets){{0}, {0}};
    memcpy(&magic, data, size < sizeof magic ? size : sizeof magic);
    if (magic == lto_magic || magic == bitcode_magic)
        return REFUSE(&image, "is LTO-IR%s; link it first", "");
    if (size >= 8 && memcmp(data, "!<arch>\n", 8) == 0)
        return REFUSE(&image, "is an archive of object files%s; link it first", "");
    if (magic == fatbin_magic) {
        image.what = "fatbin";
        return check_fatbin(&image);
    }
    if (size >= 4 && memcmp(data, ELFMAG, SELFMAG) == 0) {
        image.what = "cubin";
        return check_cubin(&image);
    }
    if (!is_text(&image))
        return REFUSE(&image, "is no cubin, fatbin or PTX: it has %zu bytes and begins with %02x%02x%02x%02x", size,
                      magic & 255, magic >> 8 & 255, magic >> 16 & 255, magic >> 24);
    image.what = "PTX";
    return check_ptx(&image);
}
