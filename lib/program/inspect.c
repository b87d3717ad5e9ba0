/* inspect.c - checks images and inputs of links, which come from outside.
 *
 * The layouts are those of nvcc 12 and 13. A cubin is an ELF file. A fatbin is a header, then entries with a header and
 * a payload each. An object file has fatbins in a section. */
#include <elf.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "program/inspect.h"

#include "program/elf.h"
#include "program/image_part.h"

/* The first four bytes of images. */
static const uint32_t fatbin_magic = 0xba55ed50, lto_magic = 0x7f4e43ed, bitcode_magic = 0xdec04342;

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

static int check_entry(const struct cf__image_part *fatbin, const struct fatbin_entry *entry, size_t offset, int number)
{
    char what[64];
    snprintf(what, sizeof what, "fatbin's entry %d", number);
    struct cf__image_part part = *fatbin;
    part.what = what;
    part.data += offset + entry->head_bytes;
    part.size = (size_t)entry->bytes;
    unsigned int target = entry->capability | (entry->flags & FLAG_EXACT    ? CF_TARGET_EXACT
                                               : entry->flags & FLAG_FAMILY ? CF_TARGET_FAMILY
                                                                            : 0);
    if (entry->compressed_bytes > entry->bytes)
        return CF__REFUSE_PART(&part, "is damaged: it has %" PRIu64 " bytes, %u of them compressed", entry->bytes,
                               entry->compressed_bytes);
    fatbin->targets->has_lto |= entry->kind == KIND_LTO;
    if (entry->kind != KIND_PTX && entry->kind != KIND_CUBIN)
        return CF_OK; /* LTO-IR, and kinds of later toolkits */
    if (entry->capability < 10 || entry->capability > 999)
        return CF__REFUSE_PART(&part, "is damaged: its target is sm_%u", entry->capability);
    if (entry->kind == KIND_PTX || entry->compressed_bytes) {
        cf__list_target(entry->kind == KIND_PTX ? fatbin->targets->ptx : fatbin->targets->sm, target);
        return CF_OK;
    }
    struct cf__targets unused = {.has_lto = 0}; /* the entry's own flags are the ones that the driver reads */
    part.targets = &unused;
    int status = cf__elf_check_cubin(&part);
    if (status == CF_OK)
        cf__list_target(fatbin->targets->sm, target);
    return status;
}

static int check_fatbin(const struct cf__image_part *fatbin)
{
    struct fatbin_head head;
    int status = CF_OK, number = 1;
    if (fatbin->size < sizeof head)
        return CF__REFUSE_PART(fatbin, "is cut off: it has %zu bytes and its header %zu", fatbin->size, sizeof head);
    memcpy(&head, fatbin->data, sizeof head);
    if (head.version != 1 || head.head_bytes < sizeof head)
        return CF__REFUSE_PART(fatbin, "is damaged: its header has version %u and %u bytes", head.version,
                               head.head_bytes);
    if (!cf__is_within_part(fatbin->size, head.head_bytes, head.bytes))
        return CF__REFUSE_PART(fatbin, "has %zu bytes, and its entries need %" PRIu64 " bytes from %u", fatbin->size,
                               head.bytes, head.head_bytes);
    size_t at = head.head_bytes, end = at + (size_t)head.bytes;
    for (; status == CF_OK && at < end; number++) {
        struct fatbin_entry entry;
        if (end - at < sizeof entry)
            return CF__REFUSE_PART(fatbin, "is damaged: entry %d has %zu bytes", number, end - at);
        memcpy(&entry, fatbin->data + at, sizeof entry);
        if (entry.head_bytes < sizeof entry || entry.head_bytes > end - at || entry.bytes > end - at - entry.head_bytes)
            return CF__REFUSE_PART(fatbin, "is damaged: entry %d has %u and %" PRIu64 " bytes, and %zu are left",
                                   number, entry.head_bytes, entry.bytes, end - at);
        status = check_entry(fatbin, &entry, at, number);
        at += entry.head_bytes + (size_t)entry.bytes;
    }
    if (status == CF_OK && !fatbin->targets->sm[0] && !fatbin->targets->ptx[0] &&
        !(fatbin->is_input && fatbin->targets->has_lto))
        status = CF__REFUSE_PART(fatbin, "has %s",
                                 fatbin->targets->has_lto ? "LTO-IR alone; link it first" : "no code in its entries");
    return status;
}

/* ---- PTX ---- */

struct text {
    const struct cf__image_part *ptx;
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
        return CF__REFUSE_PART(text->ptx, "is cut off: the %s of line %u has no end", what, text->line);
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
        return CF__REFUSE_PART(text->ptx, "is damaged: the .target of line %u is no GPU such as sm_90", text->line);
    cf__list_target(text->ptx->targets->ptx, capability | (suffix == 'a'   ? CF_TARGET_EXACT
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
        return CF__REFUSE_PART(text->ptx, "begins without a .version in line %u", text->line);
    return status;
}

/* Follows the braces, so that a text that was cut off is found. */
static int check_ptx(const struct cf__image_part *ptx)
{
    struct text text = {
        .ptx = ptx, .at = (const char *)ptx->data, .end = (const char *)ptx->data + ptx->size, .line = 1};
    unsigned int depth = 0, opened = 0;
    for (size_t i = 0; i < ptx->size; i++)
        if (ptx->data[i] < ' ' && !(ptx->data[i] >= '\t' && ptx->data[i] <= '\r'))
            return CF__REFUSE_PART(ptx, "is damaged: byte %zu is %02x, which is no text", i, ptx->data[i]);
    int status = read_ptx_version(&text);
    while (status == CF_OK && (status = next_word(&text)) == CF_OK && *text.word) {
        opened = *text.word == '{' && depth == 0 ? text.line : opened;
        if (*text.word == '}' && depth == 0)
            return CF__REFUSE_PART(ptx, "is damaged: line %u has a } without a {", text.line);
        depth += (*text.word == '{') - (unsigned int)(*text.word == '}');
        if (strcmp(text.word, ".target") == 0)
            status = read_ptx_target(&text);
    }
    if (status == CF_OK && !ptx->targets->ptx[0])
        return CF__REFUSE_PART(ptx, "is cut off: its %u lines have no .target", text.line);
    if (status == CF_OK && depth)
        return CF__REFUSE_PART(ptx, "is cut off: the { of line %u has no }", opened);
    return status;
}

/* ---- Object files and archives ---- */

/* Checks the fatbins of a section, which are aligned to 8 bytes. */
static int check_fatbins(const struct cf__image_part *object, size_t offset, size_t bytes)
{
    struct cf__image_part fatbin = *object;
    fatbin.what = "fatbin in the object";
    for (size_t at = 0; at < bytes; at += 8) {
        struct fatbin_head head = {.magic = 0};
        memcpy(&head, object->data + offset + at, bytes - at < sizeof head ? bytes - at : sizeof head);
        if (head.magic != fatbin_magic)
            continue;
        fatbin.data = object->data + offset + at;
        fatbin.size = bytes - at;
        int status = check_fatbin(&fatbin);
        if (status != CF_OK)
            return status;
        at += (head.head_bytes + (size_t)head.bytes - 1) / 8 * 8;
    }
    return CF_OK;
}

/* An object without GPU code for a link has no targets afterwards. */
static int check_object(const struct cf__image_part *object)
{
    Elf64_Ehdr head;
    struct cf__elf_sections sections;
    if (object->size < sizeof head)
        return CF__REFUSE_PART(object, "is cut off: it has %zu bytes and its header %zu", object->size, sizeof head);
    memcpy(&head, object->data, sizeof head);
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_type != ET_REL)
        return CF__REFUSE_PART(object,
                               "is no object file for this link: its ELF header has class %u, order %u and type %u",
                               head.e_ident[EI_CLASS], head.e_ident[EI_DATA], head.e_type);
    int status = cf__elf_check_sections(object, &head, &sections);
    for (uint64_t i = 0; status == CF_OK && i < sections.count; i++) {
        Elf64_Shdr section = cf__elf_section(&sections, i);
        if (section.sh_type == SHT_PROGBITS &&
            strcmp((const char *)object->data + sections.names.sh_offset + section.sh_name, "__nv_relfatbin") == 0)
            status = check_fatbins(object, (size_t)section.sh_offset, (size_t)section.sh_size);
    }
    return status;
}

static int has_code(const struct cf__targets *targets)
{
    return targets->sm[0] || targets->ptx[0] || targets->has_lto;
}

/* Checks that an input has code for the target. */
static int check_target(const struct cf__image_part *input, const struct cf__link_target *target)
{
    const struct cf__targets *targets = input->targets;
    unsigned int wanted = CF_TARGET_CAPABILITY(target->sm);
    if (targets->has_lto && target->is_lto)
        return CF_OK;
    for (int is_ptx = 0; is_ptx < 2; is_ptx++)
        for (const uint16_t *each = is_ptx ? targets->ptx : targets->sm; *each; each++) {
            unsigned int capability = CF_TARGET_CAPABILITY(*each);
            int is_within_family = capability <= wanted && capability / 10 == wanted / 10;
            if (*each & CF_TARGET_EXACT    ? *each == target->sm
                : *each & CF_TARGET_FAMILY ? is_within_family
                : is_ptx                   ? capability <= wanted
                                           : capability == wanted)
                return CF_OK;
        }
    if (!targets->sm[0] && !targets->ptx[0])
        return cf__fail(CF_EINVAL, "%s: the %s is LTO-IR alone; options.is_lto links it", input->function, input->what);
    unsigned int first = targets->sm[0] ? targets->sm[0] : targets->ptx[0];
    return cf__fail(CF_ENOCODE, "%s: the %s has no code for sm_%u%s; its first target is %s_%u%s", input->function,
                    input->what, wanted, CF_TARGET_SUFFIX(target->sm), targets->sm[0] ? "sm" : "compute",
                    CF_TARGET_CAPABILITY(first), CF_TARGET_SUFFIX(first));
}

/* The member's name is in messages as it stands in its header. Sets `has_any` if the member has GPU code. */
static int check_member(const struct cf__image_part *archive, size_t offset, size_t bytes, const char *name,
                        const struct cf__link_target *target, int *has_any)
{
    char what[64];
    struct cf__targets targets = {.has_lto = 0};
    struct cf__image_part member = *archive;
    snprintf(what, sizeof what, "archive's member %.16s", name);
    what[strcspn(what, "/")] = 0;
    member.what = what;
    member.data += offset;
    member.size = bytes;
    member.targets = &targets;
    if (bytes < SELFMAG || memcmp(member.data, ELFMAG, SELFMAG) != 0)
        return CF_OK; /* a list of symbols or of names */
    int status = check_object(&member);
    if (status == CF_OK && has_code(&targets)) {
        *has_any = 1;
        status = check_target(&member, target);
    }
    return status;
}

static int check_archive(const struct cf__image_part *archive, const struct cf__link_target *target)
{
    enum { MAGIC = 8, HEAD = 60, SIZE = 48, END = 58 }; /* bytes, and offsets in a member's header */
    size_t at = MAGIC;
    int status = CF_OK, has_any = 0;
    while (status == CF_OK && at < archive->size) {
        const char *head = (const char *)archive->data + at;
        char size[11] = "";
        unsigned long long bytes;
        if (archive->size - at < HEAD || head[END] != '`' || head[END + 1] != '\n')
            return CF__REFUSE_PART(archive, "is cut off or damaged: byte %zu begins no member", at);
        memcpy(size, head + SIZE, sizeof size - 1);
        if (sscanf(size, "%llu", &bytes) != 1 || !cf__is_within_part(archive->size, at + HEAD, bytes))
            return CF__REFUSE_PART(archive, "has %zu bytes, and the member at byte %zu needs more", archive->size, at);
        status = check_member(archive, at + HEAD, (size_t)bytes, head, target, &has_any);
        at += HEAD + (size_t)bytes + bytes % 2;
    }
    if (status == CF_OK && !has_any)
        return CF__REFUSE_PART(archive, "has no GPU code for a link%s", "; nvcc -rdc=true makes it");
    return status;
}

/* ---- All kinds ---- */

static int is_text(const struct cf__image_part *part)
{
    size_t i = 0;
    while (i < part->size && part->data[i] && strchr(" \t\r\n\f\v", part->data[i]))
        i++;
    return i == part->size || part->data[i] == '.' || part->data[i] == '/';
}

/* Returns the kind; 0 if there is none. An ELF file for another machine than a GPU is an object. */
static enum cf__input_kind find_kind(const struct cf__image_part *image)
{
    uint32_t magic = 0;
    uint16_t machine = CF__MACHINE_CUDA;
    memcpy(&magic, image->data, image->size < sizeof magic ? image->size : sizeof magic);
    if (image->size >= offsetof(Elf64_Ehdr, e_machine) + sizeof machine)
        memcpy(&machine, image->data + offsetof(Elf64_Ehdr, e_machine), sizeof machine);
    if (magic == lto_magic || magic == bitcode_magic)
        return CF__INPUT_LTO;
    if (image->size >= 8 && memcmp(image->data, "!<arch>\n", 8) == 0)
        return CF__INPUT_ARCHIVE;
    if (magic == fatbin_magic)
        return CF__INPUT_FATBIN;
    if (image->size >= SELFMAG && memcmp(image->data, ELFMAG, SELFMAG) == 0)
        return machine == CF__MACHINE_CUDA ? CF__INPUT_CUBIN : CF__INPUT_OBJECT;
    return is_text(image) ? CF__INPUT_PTX : 0;
}

static int fail_kind(const struct cf__image_part *image, const char *kinds)
{
    unsigned char first[4] = {0};
    memcpy(first, image->data, image->size < sizeof first ? image->size : sizeof first);
    return CF__REFUSE_PART(image, "is no %s: it has %zu bytes and begins with %02x%02x%02x%02x", kinds, image->size,
                           first[0], first[1], first[2], first[3]);
}

int cf__inspect_image(const char *function, const unsigned char *data, size_t size, struct cf__targets *targets)
{
    struct cf__image_part image = {function, "image", data, size, targets, 0};
    *targets = (struct cf__targets){.has_lto = 0};
    switch (find_kind(&image)) {
    case CF__INPUT_LTO:
        return CF__REFUSE_PART(&image, "is LTO-IR%s; link it first", "");
    case CF__INPUT_ARCHIVE:
        return CF__REFUSE_PART(&image, "is an archive of object files%s; link it first", "");
    case CF__INPUT_FATBIN:
        image.what = "fatbin";
        return check_fatbin(&image);
    case CF__INPUT_CUBIN:
    case CF__INPUT_OBJECT:
        image.what = "cubin";
        return cf__elf_check_cubin(&image);
    case CF__INPUT_PTX:
        image.what = "PTX";
        return check_ptx(&image);
    }
    return fail_kind(&image, "cubin, fatbin or PTX");
}

size_t cf__image_bytes(const char *image, size_t size)
{
    size_t end = size;
    while (end > 0 && !image[end - 1])
        end--;
    return memchr(image, 0, end) ? size : end;
}

static int check_lto(const struct cf__image_part *lto)
{
    enum { LTO_HEAD = 24 };
    lto->targets->has_lto = 1;
    return lto->size < LTO_HEAD
               ? CF__REFUSE_PART(lto, "is cut off: it has %zu bytes and its header %d", lto->size, LTO_HEAD)
               : CF_OK;
}

int cf__inspect_input(const char *function, const unsigned char *data, size_t size,
                      const struct cf__link_target *target, enum cf__input_kind *kind)
{
    static const struct {
        const char *what;
        int (*check)(const struct cf__image_part *part);
    } kinds[] = {
        [CF__INPUT_CUBIN] = {"cubin", cf__elf_check_cubin},
        [CF__INPUT_PTX] = {"PTX", check_ptx},
        [CF__INPUT_LTO] = {"LTO-IR", check_lto},
        [CF__INPUT_FATBIN] = {"fatbin", check_fatbin},
        [CF__INPUT_OBJECT] = {"object", check_object},
        [CF__INPUT_ARCHIVE] = {"archive", NULL},
    };
    struct cf__targets targets = {.has_lto = 0};
    struct cf__image_part input = {function, "input", data, size, &targets, 1};
    *kind = find_kind(&input);
    if (!*kind)
        return fail_kind(&input, "PTX, cubin, fatbin, LTO-IR, object file or archive");
    input.what = kinds[*kind].what;
    if (*kind == CF__INPUT_ARCHIVE)
        return check_archive(&input, target);
    int status = kinds[*kind].check(&input);
    if (status == CF_OK && !has_code(&targets))
        return CF__REFUSE_PART(&input, "has no GPU code for a link%s", "; nvcc -rdc=true makes it");
    return status == CF_OK ? check_target(&input, target) : status;
}
