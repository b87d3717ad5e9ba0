/* test_program_image.c - images that are truncated, damaged or of another kind: the library returns a status with a
 * message before the driver sees them. */
#include "run_group.h"

#include <cuferry/registry.h>

#include "program_image.h"
#include "program/definitions.h"
#include "program/inspect.h"

/* ---- Checks ---- */

static struct cf__targets targets;

/* Copies the bytes first, so that a sanitizer finds reads beyond their end. */
static int inspect(const unsigned char *bytes, size_t size)
{
    unsigned char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    int status = cf__inspect_image("test", copy, size, &targets);
    free(copy);
    return status;
}

static void expect_refused(const struct program_image *made, const char *detail)
{
    assert_int_equal(inspect(made->bytes, made->size), CF_EIMAGE);
    assert_string_equal(cf_last_error(), detail);
}

static void expect_taken(const struct program_image *made, uint16_t sm, uint16_t ptx)
{
    if (inspect(made->bytes, made->size) != CF_OK)
        fail_msg("%s", cf_last_error());
    assert_int_equal(targets.sm[0], sm);
    assert_int_equal(targets.ptx[0], ptx);
}

/* ---- Kinds ---- */

TEST(image_intact_is_taken_with_its_targets)
{
    struct program_image made;
    make_cubin(&made, "saxpy", 121);
    expect_taken(&made, 121, 0);
    made = (struct program_image){.size = 0};
    add_cubin(&made, "saxpy", 86, 0);
    expect_taken(&made, 86, 0);
    make_fatbin(&made, "saxpy", 90);
    expect_taken(&made, 90, 90);
    make_ptx(&made, "saxpy", 75, "");
    expect_taken(&made, 0, 75);
}

TEST(image_of_exact_targets_has_their_bits)
{
    struct program_image made;
    begin_fatbin(&made);
    add_fatbin_entry(&made, 2, 90, 16, 9, 0x108011);
    add_bytes(&made, "compressed bytes", 16);
    add_fatbin_entry(&made, 1, 100, 16, 9, 0x208011);
    add_bytes(&made, "compressed bytes", 16);
    add_fatbin_entry(&made, 64, 5, 0, 0, 0); /* a kind that no CUDA version has yet */
    finish_fatbin(&made);
    expect_taken(&made, 90 | CF_TARGET_EXACT, 100 | CF_TARGET_FAMILY);
    made.size = (size_t)sprintf((char *)made.bytes, ".version 8.7\n.target sm_103f, debug\n");
    expect_taken(&made, 0, 103 | CF_TARGET_FAMILY);
    made.size = (size_t)sprintf((char *)made.bytes, "/* a\n */ .version 8.7 .target\tsm_90a");
    expect_taken(&made, 0, 90 | CF_TARGET_EXACT);
}

TEST(image_with_one_target_often_lists_it_once)
{
    struct program_image made;
    begin_fatbin(&made);
    for (uint32_t i = 0; i < 40; i++)
        add_fatbin_entry(&made, 1, 50 + i % 4 * 10, 0, 0, 0x11);
    finish_fatbin(&made);
    expect_taken(&made, 0, 50);
    assert_true(targets.ptx[3] == 80 && targets.ptx[4] == 0);
}

TEST(image_that_needs_a_link_says_so)
{
    struct program_image made;
    make_cubin(&made, "saxpy", 90);
    made.bytes[16] = ET_REL;
    expect_refused(&made, "test: the cubin is relocatable code; link it first");
    make_cubin(&made, "saxpy", 90);
    made.bytes[18] = EM_X86_64;
    expect_refused(&made, "test: the cubin is an ELF file for machine 62 and not for a GPU (190); code in object files "
                          "has to be linked");
    memcpy(made.bytes, "\xed\x43\x4e\x7f", 4);
    expect_refused(&made, "test: the image is LTO-IR; link it first");
    memcpy(made.bytes, "BC\xc0\xde", 4);
    expect_refused(&made, "test: the image is LTO-IR; link it first");
    memcpy(made.bytes, "!<arch>\n", 8);
    expect_refused(&made, "test: the image is an archive of object files; link it first");
    begin_fatbin(&made);
    add_fatbin_entry(&made, 8, 90, 0, 0, 0x11);
    finish_fatbin(&made);
    expect_refused(&made, "test: the fatbin has LTO-IR alone; link it first");
    begin_fatbin(&made);
    finish_fatbin(&made);
    expect_refused(&made, "test: the fatbin has no code in its entries");
}

TEST(image_of_no_kind_is_named)
{
    struct program_image made = {.size = 12};
    memcpy(made.bytes, "\x89PNG\r\n\x1a\n1234", 12);
    expect_refused(&made, "test: the image is no cubin, fatbin or PTX: it has 12 bytes and begins with 89504e47");
    made.size = 1;
    expect_refused(&made, "test: the image is no cubin, fatbin or PTX: it has 1 bytes and begins with 89000000");
    made.size = (size_t)sprintf((char *)made.bytes, "__global__ void f(float *x) {}");
    expect_refused(&made, "test: the image is no cubin, fatbin or PTX: it has 30 bytes and begins with 5f5f676c");
}

/* ---- Damage ---- */

/* Each expectation changes one field of an image that is intact. */
static struct program_image damaged;

static Elf64_Ehdr *head_of(void)
{
    make_cubin(&damaged, "saxpy", 90);
    return (Elf64_Ehdr *)(void *)damaged.bytes;
}

static Elf64_Shdr *section_of(int number)
{
    return (Elf64_Shdr *)(void *)(damaged.bytes + head_of()->e_shoff) + number;
}

/* The header has no room for 65,280 sections or more; their number is in section 0. */
TEST(cubin_with_section_numbers_in_section_0_is_read)
{
    Elf64_Shdr *first = section_of(0);
    Elf64_Ehdr *head = (Elf64_Ehdr *)(void *)damaged.bytes;
    first->sh_size = head->e_shnum;
    first->sh_link = head->e_shstrndx;
    head->e_shnum = 0;
    head->e_shstrndx = SHN_XINDEX;
    expect_taken(&damaged, 90, 0);
    first->sh_size = UINT64_MAX / 64 + 2;
    expect_refused(&damaged,
                   "test: the cubin has 656 bytes, and its 288230376151711745 sections are listed from byte 280 on");
    first->sh_size = 5;
    first->sh_link = 70000;
    expect_refused(&damaged, "test: the cubin is damaged: the names of its sections are section 70000 of 5");
}

TEST(cubin_with_a_wrong_header_is_refused)
{
    head_of()->e_ident[EI_CLASS] = ELFCLASS32;
    expect_refused(&damaged, "test: the cubin is damaged: its ELF header has class 1, order 1, version 1 and 64 bytes");
    head_of()->e_type = ET_DYN;
    expect_refused(&damaged, "test: the cubin is damaged: its ELF type is 3 and not 2");
    head_of()->e_flags = 0;
    expect_refused(&damaged, "test: the cubin is damaged: its target is sm_0");
    head_of()->e_shnum = 0;
    expect_refused(&damaged, "test: the cubin is damaged: it has 0 sections of 64 bytes");
    head_of()->e_shentsize = 40;
    expect_refused(&damaged, "test: the cubin is damaged: it has 5 sections of 40 bytes");
    head_of()->e_shoff = 100000;
    expect_refused(&damaged, "test: the cubin has 656 bytes, and its 5 sections are listed from byte 100000 on");
    head_of()->e_shoff = UINT64_MAX;
    expect_refused(&damaged,
                   "test: the cubin has 656 bytes, and its 5 sections are listed from byte 18446744073709551615 on");
    head_of()->e_shstrndx = 5;
    expect_refused(&damaged, "test: the cubin is damaged: the names of its sections are section 5 of 5");
    head_of()->e_shstrndx = 4;
    expect_refused(&damaged, "test: the cubin is damaged: section 4 has no names");
    head_of()->e_phnum = 0;
    expect_refused(&damaged, "test: the cubin is damaged: it has 0 segments of 56 bytes");
    head_of()->e_phnum = 2;
    expect_refused(&damaged, "test: the cubin has 656 bytes, and its 2 segments are listed from byte 600 on");
    head_of();
    damaged.size = 60;
    expect_refused(&damaged, "test: the cubin is cut off: it has 60 bytes and its header 64");
    damaged.size = 64;
    expect_refused(&damaged, "test: the cubin has 64 bytes, and its 5 sections are listed from byte 280 on");
}

TEST(cubin_with_wrong_sections_is_refused)
{
    section_of(4)->sh_size = 1000;
    expect_refused(&damaged, "test: the cubin has 656 bytes, and section 4 needs 1000 bytes from 216");
    section_of(4)->sh_offset = UINT64_MAX - 8;
    expect_refused(&damaged, "test: the cubin has 656 bytes, and section 4 needs 64 bytes from 18446744073709551607");
    section_of(2)->sh_name = 40;
    expect_refused(&damaged, "test: the cubin is damaged: the name of section 2 is outside of the names");
    section_of(4)->sh_link = 9;
    expect_refused(&damaged, "test: the cubin is damaged: section 4 refers to section 9 of 5");
    section_of(3)->sh_entsize = 16;
    expect_refused(&damaged, "test: the cubin is damaged: its symbols have 16 bytes and not 24");
    section_of(3)->sh_link = 4;
    expect_refused(&damaged, "test: the cubin is damaged: its symbols have no names in section 4");
    uint64_t offset = section_of(3)->sh_offset;
    Elf64_Sym symbol = {.st_name = 64};
    memcpy(damaged.bytes + offset + sizeof symbol, &symbol, sizeof symbol);
    expect_refused(&damaged, "test: the cubin is damaged: the name of symbol 1 is outside of the names");
    symbol = (Elf64_Sym){.st_shndx = 77};
    memcpy(damaged.bytes + offset + sizeof symbol, &symbol, sizeof symbol);
    expect_refused(&damaged, "test: the cubin is damaged: symbol 1 is in section 77 of 5");
    Elf64_Phdr segment = {.p_offset = 600, .p_filesz = 96};
    memcpy(damaged.bytes + head_of()->e_phoff, &segment, sizeof segment);
    expect_refused(&damaged, "test: the cubin has 656 bytes, and segment 0 needs 96 bytes from 600");
}

/* Writes a field of `bytes` bytes into a fatbin that is intact. */
static void damage_fatbin(size_t offset, uint64_t value, size_t bytes)
{
    make_fatbin(&damaged, "saxpy", 90);
    memcpy(damaged.bytes + offset, &value, bytes);
}

TEST(fatbin_with_wrong_sizes_is_refused)
{
    damage_fatbin(4, 2, 2);
    expect_refused(&damaged, "test: the fatbin is damaged: its header has version 2 and 16 bytes");
    damage_fatbin(6, 8, 2);
    expect_refused(&damaged, "test: the fatbin is damaged: its header has version 1 and 8 bytes");
    damage_fatbin(8, 817, 8);
    expect_refused(&damaged, "test: the fatbin has 832 bytes, and its entries need 817 bytes from 16");
    damage_fatbin(8, UINT64_MAX, 8);
    expect_refused(&damaged, "test: the fatbin has 832 bytes, and its entries need 18446744073709551615 bytes from 16");
    damage_fatbin(8, 761, 8);
    expect_refused(&damaged, "test: the fatbin is damaged: entry 2 has 41 bytes");
    damage_fatbin(20, 8, 4);
    expect_refused(&damaged, "test: the fatbin is damaged: entry 1 has 8 and 656 bytes, and 816 are left");
    damage_fatbin(20, UINT32_MAX, 4);
    expect_refused(&damaged, "test: the fatbin is damaged: entry 1 has 4294967295 and 656 bytes, and 816 are left");
    damage_fatbin(24, UINT64_MAX - 63, 8);
    expect_refused(&damaged,
                   "test: the fatbin is damaged: entry 1 has 64 and 18446744073709551552 bytes, and 816 are left");
    damage_fatbin(32, 657, 4);
    expect_refused(&damaged, "test: the fatbin's entry 1 is damaged: it has 656 bytes, 657 of them compressed");
    damage_fatbin(44, 1000, 4);
    expect_refused(&damaged, "test: the fatbin's entry 1 is damaged: its target is sm_1000");
    damage_fatbin(80, 0, 1);
    expect_refused(&damaged, "test: the fatbin's entry 1 is damaged: it begins with byte 00 and not as an ELF file");
    damage_fatbin(0, 0, 0);
    damaged.size = 10;
    expect_refused(&damaged, "test: the fatbin is cut off: it has 10 bytes and its header 16");
}

static void expect_ptx(const char *text, const char *detail)
{
    assert_int_equal(inspect((const unsigned char *)text, strlen(text)), CF_EIMAGE);
    assert_string_equal(cf_last_error(), detail);
}

TEST(ptx_that_is_wrong_is_refused)
{
    expect_ptx("// nothing\n", "test: the PTX begins without a .version in line 2");
    expect_ptx(".target sm_90", "test: the PTX begins without a .version in line 1");
    expect_ptx(".version x", "test: the PTX begins without a .version in line 1");
    expect_ptx(".version 9", "test: the PTX begins without a .version in line 1");
    expect_ptx(".version 9.0\n.address_size 64\n", "test: the PTX is cut off: its 3 lines have no .target");
    expect_ptx(".version 9.0\n.target map_f64",
               "test: the PTX is damaged: the .target of line 2 is no GPU such as sm_90");
    expect_ptx(".version 9.0\n.target sm_9\n",
               "test: the PTX is damaged: the .target of line 2 is no GPU such as sm_90");
    expect_ptx(".version 9.0\n.target sm_90\n.func f() {\n{ }\n", "test: the PTX is cut off: the { of line 3 has no }");
    expect_ptx(".version 9.0\n.target sm_90\n} {\n", "test: the PTX is damaged: line 3 has a } without a {");
    expect_ptx(".version 9.0\n/* {\n\n", "test: the PTX is cut off: the comment of line 2 has no end");
    expect_ptx(".version 9.0\n.file 1 \"a\n", "test: the PTX is cut off: the string of line 2 has no end");
    expect_ptx(".version 9.0\n\x02", "test: the PTX is damaged: byte 13 is 02, which is no text");
}

/* ---- Inputs of a link ---- */

static enum cf__input_kind found;

static int inspect_input(const unsigned char *bytes, size_t size, unsigned int sm, int is_lto)
{
    const struct cf__link_target target = {sm, is_lto};
    unsigned char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    struct cf__definitions definitions = {.list = NULL};
    int status = cf__inspect_input("test: x", copy, size, &target, &definitions, &found);
    cf__definitions_free(&definitions);
    free(copy);
    return status;
}

static void expect_input(const struct program_image *made, enum cf__input_kind expected)
{
    if (inspect_input(made->bytes, made->size, 90, 1) != CF_OK)
        fail_msg("%s", cf_last_error());
    assert_int_equal(found, expected);
}

static void expect_wrong_input(const struct program_image *made, int status, const char *detail)
{
    assert_int_equal(inspect_input(made->bytes, made->size, 90, 0), status);
    assert_string_equal(cf_last_error(), detail);
}

static void make_relocatable(struct program_image *made)
{
    make_cubin(made, "mul", 90);
    made->bytes[16] = ET_REL;
}

/* Makes a fatbin with an entry of this kind and target. */
static void make_entry(struct program_image *made, uint16_t entry, uint32_t capability, uint64_t flags)
{
    struct program_image code;
    if (entry == 2)
        make_relocatable(&code);
    else
        make_ptx(&code, "mul", 90, "");
    begin_fatbin(made);
    add_fatbin_entry(made, entry, capability, code.size, 0, flags);
    add_bytes(made, code.bytes, code.size);
    finish_fatbin(made);
}

TEST(input_of_each_kind_is_told_by_its_bytes)
{
    struct program_image code, object, archive = {.size = 0};
    make_relocatable(&code);
    expect_input(&code, CF__INPUT_CUBIN);
    make_ptx(&code, "mul", 75, "");
    expect_input(&code, CF__INPUT_PTX);
    code = (struct program_image){.bytes = "\xed\x43\x4e\x7f", .size = 24};
    expect_input(&code, CF__INPUT_LTO);
    make_entry(&code, 8, 90, 0x11);
    expect_input(&code, CF__INPUT_FATBIN);
    make_object(&object, "__nv_relfatbin", code.bytes, code.size);
    expect_input(&object, CF__INPUT_OBJECT);
    add_member(&archive, "/", "names", 5);
    add_member(&archive, "mul.o/", object.bytes, object.size);
    expect_input(&archive, CF__INPUT_ARCHIVE);
}

/* Bytes after the end of an input do not belong to it. */
TEST(input_of_blanks_ends_with_its_size)
{
    const struct cf__link_target target = {90, 0};
    struct cf__definitions definitions = {.list = NULL};
    assert_int_equal(cf__inspect_input("test: x", (const unsigned char *)" \n x", 2, &target, &definitions, &found),
                     CF_EIMAGE);
    assert_int_equal(found, CF__INPUT_PTX);
    cf__definitions_free(&definitions);
}

TEST(input_of_another_target_is_refused)
{
    struct program_image code, object, archive = {.size = 0};
    make_entry(&code, 2, 80, 0x11);
    expect_wrong_input(&code, CF_ENOCODE, "test: x: the fatbin has no code for sm_90; its first target is sm_80");
    make_object(&object, "__nv_relfatbin", code.bytes, code.size);
    expect_wrong_input(&object, CF_ENOCODE, "test: x: the object has no code for sm_90; its first target is sm_80");
    add_member(&archive, "mul.o/", object.bytes, object.size);
    expect_wrong_input(&archive, CF_ENOCODE,
                       "test: x: the archive's member mul.o has no code for sm_90; its first target is sm_80");
    make_entry(&code, 8, 90, 0x11);
    expect_wrong_input(&code, CF_EINVAL, "test: x: the fatbin is LTO-IR alone; options.is_lto links it");
    make_entry(&code, 1, 90, 0x100011);
    expect_wrong_input(&code, CF_ENOCODE, "test: x: the fatbin has no code for sm_90; its first target is compute_90a");
    assert_ok(inspect_input(code.bytes, code.size, 90 | CF_TARGET_EXACT, 0));
    make_entry(&code, 2, 100, 0x200011);
    assert_ok(inspect_input(code.bytes, code.size, 103, 0));
    assert_int_equal(inspect_input(code.bytes, code.size, 120, 0), CF_ENOCODE);
    assert_string_equal(cf_last_error(), "test: x: the fatbin has no code for sm_120; its first target is sm_100f");
}

TEST(input_that_is_wrong_is_refused)
{
    struct program_image code, object, archive = {.size = 0};
    make_cubin(&code, "mul", 90);
    expect_wrong_input(&code, CF_EIMAGE,
                       "test: x: the cubin is linked already; nvcc -rdc=true makes code that can be linked");
    make_object(&object, ".nv_fatbin", "none", 4);
    expect_wrong_input(&object, CF_EIMAGE, "test: x: the object has no GPU code for a link; nvcc -rdc=true makes it");
    add_member(&archive, "a/", object.bytes, object.size);
    expect_wrong_input(&archive, CF_EIMAGE, "test: x: the archive has no GPU code for a link; nvcc -rdc=true makes it");
    object.bytes[4] = ELFCLASS32;
    expect_wrong_input(&object, CF_EIMAGE,
                       "test: x: the object is no object file for this link: its ELF header has class 1, order 1 and "
                       "type 1");
    make_entry(&code, 8, 90, 0x11);
    code.bytes[20] = 8;
    make_object(&object, "__nv_relfatbin", code.bytes, code.size);
    expect_wrong_input(&object, CF_EIMAGE,
                       "test: x: the fatbin in the object is damaged: entry 1 has 8 and 128 bytes, and 192 are left");
    archive.bytes[66] = 0;
    expect_wrong_input(&archive, CF_EIMAGE, "test: x: the archive is cut off or damaged: byte 8 begins no member");
    archive.size = 0;
    add_member(&archive, "a/", "1234", 4);
    archive.bytes[8 + 48] = '9';
    expect_wrong_input(&archive, CF_EIMAGE, "test: x: the archive has 72 bytes, and the member at byte 8 needs more");
    code = (struct program_image){.bytes = "\xed\x43\x4e\x7f", .size = 23};
    expect_wrong_input(&code, CF_EIMAGE, "test: x: the LTO-IR is cut off: it has 23 bytes and its header 24");
    code.bytes[0] = 1;
    expect_wrong_input(&code, CF_EIMAGE,
                       "test: x: the input is no PTX, cubin, fatbin, LTO-IR, object file or archive: it has 23 bytes "
                       "and begins with 01434e7f");
}

/* Tries each length, and other values for each byte; the bytes of a payload are not checked. */
TEST(input_damaged_anywhere_gets_a_status)
{
    long refused = 0, taken = 0;
    struct program_image code, inputs[3] = {{.size = 0}};
    make_entry(&code, 2, 90, 0x11);
    make_relocatable(&inputs[0]);
    make_object(&inputs[1], "__nv_relfatbin", code.bytes, code.size);
    add_member(&inputs[2], "mul.o/", inputs[1].bytes, inputs[1].size);
    for (int i = 0; i < 3; i++) {
        assert_ok(inspect_input(inputs[i].bytes, inputs[i].size, 90, 0));
        for (size_t size = 1; size < inputs[i].size; size++)
            refused += inspect_input(inputs[i].bytes, size, 90, 0) != CF_OK;
        for (size_t at = 0; at < inputs[i].size; at++)
            for (int change = 1; change < 256; change += 7) {
                inputs[i].bytes[at] ^= (unsigned char)change;
                int status = inspect_input(inputs[i].bytes, inputs[i].size, 90, 0);
                assert_true(status == CF_OK || status == CF_EIMAGE || status == CF_ENOCODE || status == CF_EINVAL);
                taken += status == CF_OK;
                refused += status != CF_OK;
                inputs[i].bytes[at] ^= (unsigned char)change;
            }
    }
    assert_true(refused > 5000 && taken > 5000);
}

/* ---- Every length and every byte ---- */

enum { PTX = 2 };
static struct program_image kinds[4];

static void make_kinds(void)
{
    make_cubin(&kinds[0], "saxpy", 90);
    make_fatbin(&kinds[1], "saxpy", 90);
    make_ptx(&kinds[PTX], "saxpy", 90, "");
    kinds[3] = (struct program_image){.size = 0};
    add_cubin(&kinds[3], "saxpy", 80, 0);
}

TEST(image_cut_off_at_any_byte_is_refused)
{
    make_kinds();
    for (int kind = 0; kind < 4; kind++)
        for (size_t size = 1; size < kinds[kind].size - 1; size++) {
            int status = inspect(kinds[kind].bytes, size);
            if (kind == PTX && status == CF_OK && !memchr(kinds[PTX].bytes, '{', size))
                continue; /* PTX is correct even without a kernel */
            if (status != CF_EIMAGE)
                fail_msg("image %d of %zu bytes is taken", kind, size);
            assert_ptr_equal(strstr(cf_last_error(), "test: the "), cf_last_error());
        }
}

/* Gives each byte every value. Damage to code cannot be noticed; reads outside the image are found by a sanitizer, or
 * crash. */
TEST(image_with_any_byte_damaged_gets_a_status)
{
    long refused = 0, taken = 0;
    make_kinds();
    for (int kind = 0; kind < 4; kind++)
        for (size_t i = 0; i < kinds[kind].size; i++) {
            unsigned char intact = kinds[kind].bytes[i];
            for (int change = 1; change < 256; change += 1 + (i > 200) * 6) {
                kinds[kind].bytes[i] = (unsigned char)(intact ^ change);
                int status = inspect(kinds[kind].bytes, kinds[kind].size);
                assert_true(status == CF_OK || status == CF_EIMAGE);
                refused += status == CF_EIMAGE;
                taken += status == CF_OK;
            }
            kinds[kind].bytes[i] = intact;
        }
    assert_true(refused > 10000 && taken > 10000);
}

int main(void)
{
    return run_all_tests(NULL, NULL);
}
