/* program_image.h - small images of each kind, without code: the played GPU identifies images by their bytes. */
#ifndef PROGRAM_IMAGE_H
#define PROGRAM_IMAGE_H

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cuferry/registry.h>

struct program_image {
    _Alignas(16) unsigned char bytes[16384];
    size_t size;
    uint16_t sm[2], ptx[2];
    cf_image image; /* for a kernel that the played GPU knows */
    cf_state state;
};

static inline void add_bytes(struct program_image *made, const void *bytes, size_t size)
{
    memcpy(made->bytes + made->size, bytes, size);
    made->size += size;
}

static inline void finish_image(struct program_image *made)
{
    made->image = (cf_image){.begin = made->bytes,
                             .end = made->bytes + made->size,
                             .toolkit = 12000,
                             .sm = made->sm,
                             .ptx = made->ptx,
                             .state = &made->state};
}

/* Adds the ELF file of a kernel called `name`. Since CUDA 13 (`is_new`) the target is in another byte of the flags. */
static inline void add_cubin(struct program_image *made, const char *name, unsigned int capability, int is_new)
{
    enum { NAMES = 1, TEXTS, SYMBOLS, CODE, SECTIONS };
    static const char names[40] = "\0.shstrtab\0.strtab\0.symtab\0.text.code"; /* at 1, 11, 19 and 27 */
    size_t begin = made->size;
    Elf64_Ehdr head = {.e_type = ET_EXEC,
                       .e_machine = 190,
                       .e_version = EV_CURRENT,
                       .e_flags = is_new ? capability << 8 | 0x06000004 : capability << 16 | 0x500 | capability,
                       .e_ehsize = sizeof head,
                       .e_phentsize = sizeof(Elf64_Phdr),
                       .e_phnum = 1,
                       .e_shentsize = sizeof(Elf64_Shdr),
                       .e_shnum = SECTIONS,
                       .e_shstrndx = NAMES};
    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    head.e_ident[EI_VERSION] = EV_CURRENT;
    head.e_ident[EI_OSABI] = is_new ? 0x41 : 0x33;
    head.e_ident[EI_ABIVERSION] = is_new ? 8 : 7;
    const Elf64_Sym symbols[2] = {{.st_name = 0}, {.st_name = 1, .st_info = 0x12, .st_shndx = CODE, .st_size = 64}};
    char texts[64] = "", code[64];
    snprintf(texts + 1, sizeof texts - 1, "%s", name);
    memset(code, 0x5a, sizeof code);
    Elf64_Shdr sections[SECTIONS] = {
        {.sh_name = 0},
        {.sh_name = 1, .sh_type = SHT_STRTAB, .sh_size = sizeof names},
        {.sh_name = 11, .sh_type = SHT_STRTAB, .sh_size = sizeof texts},
        {.sh_name = 19, .sh_type = SHT_SYMTAB, .sh_size = sizeof symbols, .sh_link = TEXTS, .sh_entsize = 24},
        {.sh_name = 27, .sh_type = SHT_PROGBITS, .sh_size = sizeof code, .sh_link = SYMBOLS, .sh_info = 1},
    };
    const void *contents[SECTIONS] = {NULL, names, texts, symbols, code};
    add_bytes(made, &head, sizeof head);
    for (int i = 1; i < SECTIONS; i++) {
        sections[i].sh_offset = made->size - begin;
        sections[i].sh_addralign = 1;
        add_bytes(made, contents[i], sections[i].sh_size);
    }
    const Elf64_Phdr segment = {
        .p_type = PT_LOAD, .p_offset = sections[CODE].sh_offset, .p_filesz = sizeof code, .p_memsz = sizeof code};
    head.e_shoff = made->size - begin;
    add_bytes(made, sections, sizeof sections);
    head.e_phoff = made->size - begin;
    add_bytes(made, &segment, sizeof segment);
    memcpy(made->bytes + begin, &head, sizeof head);
}

static inline void make_cubin(struct program_image *made, const char *name, uint16_t capability)
{
    *made = (struct program_image){.sm = {capability, 0}};
    add_cubin(made, name, capability, 1);
    finish_image(made);
}

/* Adds the header of an entry; the caller adds its payload. */
static inline void add_fatbin_entry(struct program_image *made, uint16_t kind, uint32_t capability, uint64_t bytes,
                                    uint32_t compressed, uint64_t flags)
{
    const uint16_t version = 0x101;
    const uint32_t header = 64;
    unsigned char entry[64] = {0};
    memcpy(entry, &kind, sizeof kind);
    memcpy(entry + 2, &version, sizeof version);
    memcpy(entry + 4, &header, sizeof header);
    memcpy(entry + 8, &bytes, sizeof bytes);
    memcpy(entry + 16, &compressed, sizeof compressed);
    memcpy(entry + 28, &capability, sizeof capability);
    memcpy(entry + 40, &flags, sizeof flags);
    add_bytes(made, entry, sizeof entry);
}

static inline void begin_fatbin(struct program_image *made)
{
    *made = (struct program_image){.size = 16};
}

/* Writes the header, whose size field covers all entries. */
static inline void finish_fatbin(struct program_image *made)
{
    const uint32_t magic = 0xba55ed50;
    const uint16_t version = 1, header = 16;
    const uint64_t body = made->size - header;
    memcpy(made->bytes, &magic, sizeof magic);
    memcpy(made->bytes + 4, &version, sizeof version);
    memcpy(made->bytes + 6, &header, sizeof header);
    memcpy(made->bytes + 8, &body, sizeof body);
    finish_image(made);
}

/* Makes a fatbin with a cubin and compressed PTX. */
static inline void make_fatbin(struct program_image *made, const char *name, uint16_t capability)
{
    struct program_image cubin;
    make_cubin(&cubin, name, capability);
    begin_fatbin(made);
    add_fatbin_entry(made, 2, capability, cubin.size, 0, 0x11);
    add_bytes(made, cubin.bytes, cubin.size);
    add_fatbin_entry(made, 1, capability, 32, 27, 0x8011);
    add_bytes(made, "not really what zstd would make", 32);
    made->sm[0] = made->ptx[0] = capability;
    finish_fatbin(made);
}

/* Makes an object file of the host that has GPU code in a section. */
static inline void make_object(struct program_image *made, const char *section, const void *code, size_t bytes)
{
    enum { NAMES = 1, CODE, SECTIONS };
    char names[48] = "\0.shstrtab";
    Elf64_Ehdr head = {.e_type = ET_REL,
                       .e_machine = EM_X86_64,
                       .e_version = EV_CURRENT,
                       .e_shoff = sizeof head,
                       .e_ehsize = sizeof head,
                       .e_shentsize = sizeof(Elf64_Shdr),
                       .e_shnum = SECTIONS,
                       .e_shstrndx = NAMES};
    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    head.e_ident[EI_VERSION] = EV_CURRENT;
    snprintf(names + 11, sizeof names - 11, "%s", section);
    const uint64_t after = sizeof head + SECTIONS * sizeof(Elf64_Shdr);
    const Elf64_Shdr sections[SECTIONS] = {
        {.sh_name = 0},
        {.sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = after, .sh_size = sizeof names},
        {.sh_name = 11, .sh_type = SHT_PROGBITS, .sh_offset = after + sizeof names, .sh_size = bytes},
    };
    *made = (struct program_image){.size = 0};
    add_bytes(made, &head, sizeof head);
    add_bytes(made, sections, sizeof sections);
    add_bytes(made, names, sizeof names);
    add_bytes(made, code, bytes);
}

/* Adds a member to an archive; the first member also begins the archive. */
static inline void add_member(struct program_image *made, const char *name, const void *data, size_t bytes)
{
    char head[80];
    if (made->size == 0)
        add_bytes(made, "!<arch>\n", 8);
    snprintf(head, sizeof head, "%-16s%-12d%-6d%-6d%-8d%-10zu`\n", name, 0, 0, 0, 644, bytes);
    add_bytes(made, head, 60);
    add_bytes(made, data, bytes);
    if (bytes % 2)
        add_bytes(made, "\n", 1);
}

/* Makes PTX with `comment`, which is a whole line. */
static inline void make_ptx(struct program_image *made, const char *name, uint16_t capability, const char *comment)
{
    *made = (struct program_image){.ptx = {capability, 0}};
    made->size = (size_t)snprintf((char *)made->bytes, sizeof made->bytes,
                                  "// made by hand\n.version 9.0\n.target sm_%u\n%s\n.address_size 64\n\n"
                                  ".visible .entry %s(\n\t.param .u64 %s_param_0\n)\n{\n\tret; /* } */\n}\n",
                                  capability, comment, name, name);
    finish_image(made);
}

#endif
