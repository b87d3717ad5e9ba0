/* inspect.c - checks external images and inputs of links.
 *
 * The layouts are those of nvcc 12 and 13. A cubin is an ELF file. A fatbin is a header, followed by entries with a
 * header and a payload each. An object file has fatbins in a section. */
#include <elf.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "program/inspect.h"

#include "program/definitions.h"
#include "program/elf.h"
#include "program/image_part.h"
#include "program/ptx.h"
#include "program/unpack.h"

/* The first four bytes of images. */
static const uint32_t fatbin_magic = 0xba55ed50, lto_magic = 0x7f4e43ed, bitcode_magic = 0xdec04342;

/* ---- Fatbins ---- */

struct fatbin_head {
    uint32_t magic;
    uint16_t version, head_bytes;
    uint64_t bytes; /* bytes of all entries */
};

struct fatbin_entry {
    uint16_t kind, version;
    uint32_t head_bytes;
    uint64_t bytes;            /* bytes of the payload in the file, including padding */
    uint32_t compressed_bytes; /* bytes of the compressed payload without padding; 0: uncompressed */
    uint32_t options;
    uint16_t minor, major;
    uint32_t capability;
    uint32_t name, name_bytes;
    uint64_t flags;
};

/* Returns 1 if the linker accepts code of a target, which is encoded as in cf_image. */
static int fits_target(const struct cf__link_target *target, unsigned int each, int is_ptx)
{
    unsigned int capability = CF_TARGET_CAPABILITY(each), wanted = CF_TARGET_CAPABILITY(target->sm);
    int is_within_family = capability <= wanted && capability / 10 == wanted / 10;
    return each & CF_TARGET_EXACT    ? each == target->sm
           : each & CF_TARGET_FAMILY ? is_within_family
           : is_ptx                  ? capability <= wanted
                                     : capability == wanted;
}

enum { KIND_PTX = 1, KIND_CUBIN = 2, KIND_LTO = 8 };
enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000, FLAG_EXACT = 0x100000, FLAG_FAMILY = 0x200000 };

static unsigned int read_entry_target(const struct fatbin_entry *entry)
{
    return entry->capability | (entry->flags & FLAG_EXACT    ? CF_TARGET_EXACT
                                : entry->flags & FLAG_FAMILY ? CF_TARGET_FAMILY
                                                             : 0);
}

static int check_entry(const struct cf__image_part *fatbin, const struct fatbin_entry *entry, size_t offset, int number)
{
    char what[64];
    snprintf(what, sizeof what, "fatbin's entry %d", number);
    struct cf__image_part part = *fatbin;
    part.what = what;
    part.data += offset + entry->head_bytes;
    part.size = (size_t)entry->bytes;
    part.definitions = NULL;
    unsigned int target = read_entry_target(entry);
    if (entry->compressed_bytes > entry->bytes)
        return CF__REFUSE_PART(&part, "is damaged: it has %" PRIu64 " bytes, %u of them compressed", entry->bytes,
                               entry->compressed_bytes);
    if (fatbin->is_input && !entry->compressed_bytes != !(entry->flags & (FLAG_LZ4 | FLAG_ZSTD)))
        return CF__REFUSE_PART(&part, "is damaged: %u bytes are compressed, and its flags are %" PRIx64,
                               entry->compressed_bytes, entry->flags);
    fatbin->targets->has_lto |= entry->kind == KIND_LTO;
    if (entry->kind != KIND_PTX && entry->kind != KIND_CUBIN)
        return CF_OK; /* LTO-IR, or a kind that later toolkits have added */
    if (entry->capability < 10 || entry->capability > 999)
        return CF__REFUSE_PART(&part, "is damaged: its target is sm_%u", entry->capability);
    if (entry->kind == KIND_PTX || entry->compressed_bytes) {
        cf__list_target(entry->kind == KIND_PTX ? fatbin->targets->ptx : fatbin->targets->sm, target);
        return CF_OK;
    }
    struct cf__targets unused = {.has_lto = 0}; /* targets of the entry, which are not used: the driver reads the
                                                 * entry's flags */
    part.targets = &unused;
    int status = cf__elf_check_cubin(&part);
    if (status == CF_OK)
        cf__list_target(fatbin->targets->sm, target);
    return status;
}

/* Rates how well an entry suits the link: the linker takes the entry with the highest rank. Returns 0 if the entry does
 * not suit it. */
static unsigned int rank_entry(const struct cf__link_target *target, const struct fatbin_entry *entry)
{
    int is_ptx = entry->kind == KIND_PTX;
    if (entry->kind == KIND_LTO)
        return target->is_lto ? UINT_MAX : 0;
    if ((entry->kind != KIND_CUBIN && !is_ptx) || !fits_target(target, read_entry_target(entry), is_ptx))
        return 0;
    return is_ptx ? entry->capability : UINT_MAX - 1;
}

/* Checks the entry that the linker takes again, and collects its symbols. The symbols of LTO-IR cannot be read. */
static int read_entry(const struct cf__image_part *fatbin, size_t at)
{
    enum { UNPACKED = 56 }; /* offset in the header of the size of the unpacked code */
    struct cf__targets unused = {.has_lto = 0};
    struct cf__image_part part = *fatbin;
    struct fatbin_entry entry;
    uint64_t unpacked = 0;
    char *code = NULL;
    memcpy(&entry, fatbin->data + at, sizeof entry);
    if (entry.kind == KIND_LTO)
        return CF_OK;
    part.targets = &unused;
    part.what = entry.kind == KIND_PTX ? "fatbin's PTX" : "fatbin's cubin";
    part.data += at + entry.head_bytes;
    part.size = (size_t)entry.bytes;
    if (entry.compressed_bytes) {
        if (entry.head_bytes < UNPACKED + sizeof unpacked || !(entry.flags & (FLAG_LZ4 | FLAG_ZSTD)))
            return CF_OK;
        memcpy(&unpacked, fatbin->data + at + UNPACKED, sizeof unpacked);
        int result = cf__unpack(entry.flags & FLAG_ZSTD ? CF__PACKED_ZSTD : CF__PACKED_LZ4, part.data,
                                entry.compressed_bytes, (size_t)unpacked, &code);
        if (result <= 0)
            return result < 0 ? CF__REFUSE_PART(&part, "is damaged: it cannot be unpacked%s", "") : CF_OK;
        part.data = (const unsigned char *)code;
        part.size = (size_t)unpacked;
    }
    if (entry.kind == KIND_PTX)
        part.size = cf__image_bytes((const char *)part.data, part.size);
    int status = entry.kind == KIND_PTX ? cf__ptx_check(&part) : cf__elf_check_cubin(&part);
    free(code);
    return status;
}

static int check_fatbin(const struct cf__image_part *fatbin)
{
    struct fatbin_head head;
    int status = CF_OK, number = 1;
    unsigned int best = 0;
    size_t best_at = 0;
    if (fatbin->definitions)
        fatbin->definitions->unit++;
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
        unsigned int rank = fatbin->target ? rank_entry(fatbin->target, &entry) : 0;
        if (rank > best) {
            best = rank;
            best_at = at;
        }
        at += entry.head_bytes + (size_t)entry.bytes;
    }
    if (status == CF_OK && !fatbin->targets->sm[0] && !fatbin->targets->ptx[0] &&
        !(fatbin->is_input && fatbin->targets->has_lto))
        status = CF__REFUSE_PART(fatbin, "has %s",
                                 fatbin->targets->has_lto ? "LTO-IR alone; link it first" : "no code in its entries");
    return status == CF_OK && best ? read_entry(fatbin, best_at) : status;
}

/* ---- Object files and archives ---- */

/* Checks the fatbins of a section. They are aligned to 8 bytes. */
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

/* Checks an object. If it has no GPU code for a link, its list of targets stays empty. */
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
    struct cf__image_part host = *object;
    host.definitions = NULL;
    int status = cf__elf_check_sections(&host, &head, &sections);
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
        for (const uint16_t *each = is_ptx ? targets->ptx : targets->sm; *each; each++)
            if (fits_target(target, *each, is_ptx))
                return CF_OK;
    if (!targets->sm[0] && !targets->ptx[0])
        return cf__fail(CF_EINVAL, "%s: the %s is LTO-IR alone; options.is_lto links it", input->function, input->what);
    unsigned int first = targets->sm[0] ? targets->sm[0] : targets->ptx[0];
    return cf__fail(CF_ENOCODE, "%s: the %s has no code for sm_%u%s; its first target is %s_%u%s", input->function,
                    input->what, wanted, CF_TARGET_SUFFIX(target->sm), targets->sm[0] ? "sm" : "compute",
                    CF_TARGET_CAPABILITY(first), CF_TARGET_SUFFIX(first));
}

/* Checks a member of an archive. Messages quote its name as the member's header spells it. Sets `has_any` if the member
 * has GPU code. */
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
        return CF_OK; /* the member is a table of symbols or of long names */
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

/* Returns the kind, or 0 if it is unknown. An ELF file that is not for a GPU is an object. */
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
    struct cf__image_part image = {
        .function = function, .what = "image", .data = data, .size = size, .targets = targets};
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
        return cf__ptx_check(&image);
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
                      const struct cf__link_target *target, struct cf__definitions *definitions,
                      enum cf__input_kind *kind)
{
    static const struct {
        const char *what;
        int (*check)(const struct cf__image_part *part);
    } kinds[] = {
        [CF__INPUT_CUBIN] = {"cubin", cf__elf_check_cubin},
        [CF__INPUT_PTX] = {"PTX", cf__ptx_check},
        [CF__INPUT_LTO] = {"LTO-IR", check_lto},
        [CF__INPUT_FATBIN] = {"fatbin", check_fatbin},
        [CF__INPUT_OBJECT] = {"object", check_object},
        [CF__INPUT_ARCHIVE] = {"archive", NULL},
    };
    struct cf__targets targets = {.has_lto = 0};
    struct cf__image_part input = {function, "input", data, size, &targets, 1, target, definitions};
    definitions->unit++;
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
