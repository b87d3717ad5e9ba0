/* test_link_inputs.c - inputs that cannot be linked: symbols with two definitions, and damaged code. On some of them
 * nvJitLink would print to stderr or end the process. */
#include "link_requests.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEAD ".version 8.0\n.target sm_75\n.address_size 64\n"
#define ENTRY(name) ".visible .entry " name "(.param .u64 p)\n{\n    ret;\n}\n"

/* ---- Text on stderr ---- */

static char said[1024];

/* Links while stderr is a file; puts the file's text in `said`. */
static int link_quietly(void)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    (void)fflush(stderr);
    int before = dup(STDERR_FILENO);
    assert_true(before >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    int status = link_for(90);
    (void)fflush(stderr);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    close(before);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = 0;
    fclose(file);
    return status;
}

/* ---- Two definitions ---- */

/* The sources of two inputs; NULL stands for an input of PTX. */
struct pair {
    const char *one, *other, *message; /* NULL: the link succeeds */
};

static void expect_pair(const struct pair *pair, enum cf__output output)
{
    struct program_image one, other;
    count = 0;
    if (strncmp(pair->one, ".version", 8) == 0) {
        add_text("one", pair->one);
        add_text("other", pair->other);
    } else {
        make_code_of(&one, pair->one, output, 90);
        make_code_of(&other, pair->other, output, 90);
        add_data("one", one.bytes, one.size);
        add_data("other", other.bytes, other.size);
    }
    int status = link_quietly();
    if (status != (pair->message ? CF_ECOMPILE : CF_OK) ||
        (pair->message && output != CF__LTO && !strstr(cf_last_error(), pair->message)))
        fail_msg("%s\n%s\n%d %s", pair->one, pair->other, status, status ? cf_last_error() : "");
    assert_string_equal(said, "");
}

#define F "extern \"C\" __device__ int f(int x) "
#define K "extern \"C\" __global__ void k"
static const struct pair of_sources[] = {
    {F "{ return x; }", F "{ return 2 * x; }", "cf_test: 'f' is defined in one and in other"},
    {K "(int *x) { *x = 1; }", K "(int *x, int n) { *x = n; }", "cf_test: 'k' is defined in one and in other"},
    {"__constant__ int c[4];", "__constant__ int c[4];", "cf_test: 'c' is defined in one and in other"},
    {"__constant__ int c[4];", "__constant__ int c[8];", "cf_test: 'c' is defined in one and in other"},
    {"__device__ int d = 1;", "__device__ float d = 1;", "cf_test: 'd' is defined in one and in other"},
    {"__constant__ int c[4];", "extern __constant__ int c[8]; __global__ void k(int *x) { *x = c[1]; }",
     "cf_test: 'c' has 16 bytes in one and 32 in other"},
    {"__constant__ int c[4];", "extern __constant__ int c[]; __global__ void k(int *x) { *x = c[1]; }", NULL},
    {"static __noinline__ __device__ int f(int x) { return x; }\n__global__ void k(int *x) { *x = f(1); }",
     "static __noinline__ __device__ int f(int x) { return x; }\n__global__ void l(int *x) { *x = f(1); }", NULL},
    {"inline __device__ __noinline__ int f(int x) { return x; }\n__global__ void k(int *x) { *x = f(1); }",
     "inline __device__ __noinline__ int f(int x) { return x; }\n__global__ void l(int *x) { *x = f(1); }", NULL},
    {"template <class T> __global__ void k(T *x) { *x = 1; }\ntemplate __global__ void k(int *);",
     "template <class T> __global__ void k(T *x) { *x = 1; }\ntemplate __global__ void k(int *);", NULL},
    {F "{ return x; }", F ";\n__global__ void k(int *x) { *x = f(1); }", NULL},
    {"extern __shared__ int s[];\n__global__ void k(int *x) { *x = s[1]; }",
     "extern __shared__ int s[];\n__global__ void l(int *x) { *x = s[1]; }", NULL},
};

static const struct pair of_ptx[] = {
    {HEAD ENTRY("azAZ09"), HEAD ENTRY("azAZ09"), "cf_test: 'azAZ09' is defined in one and in other"},
    {HEAD ".visible .func (.param .b32 r) f(.param .b32 x)\n{\n    ret;\n}\n" ENTRY("k"),
     HEAD ".visible .func f()\n{\n    ret;\n}\n", "cf_test: 'f' is defined in one and in other"},
    {HEAD ".visible .const .align 4 .b8 c[16] = {1, 2};\n" ENTRY("k"), HEAD ".visible .const .align 4 .u32 c;\n",
     "cf_test: 'c' is defined in one and in other"},
    {HEAD ".weak .global .align 16 .v4 .f32 w[2];\n" ENTRY("k"), HEAD ".weak .global .align 4 .b8 w[16];\n",
     "cf_test: 'w' has 32 bytes in one and 16 in other"},
    {HEAD ".weak .global .align 4 .b8 w[16];\n" ENTRY("k"), HEAD ".visible .global .align 4 .b8 w[16];\n", NULL},
    {HEAD ".common .global .align 4 .b8 m[16];\n" ENTRY("k"), HEAD ".common .global .align 4 .b8 m[32];\n", NULL},
    {HEAD ".entry h()\n{\n    ret;\n}\n.global .u32 g = 1;\n" ENTRY("k"),
     HEAD ".entry h()\n{\n    ret;\n}\n.global .u32 g;\n", NULL},
    {HEAD ".extern .func f;\n" ENTRY("k"), HEAD ".visible .func f()\n{\n    ret;\n}\n", NULL},
    {HEAD "/* .visible .entry k() { } */ // .visible .entry k()\n" ENTRY("$k"), HEAD ENTRY("k"), NULL},
};

TEST_WITH(two_definitions_of_a_symbol_are_refused, set_up, tear_down)
{
    needs_linker();
    for (size_t i = 0; i < sizeof of_sources / sizeof *of_sources; i++) {
        options.is_lto = 0;
        expect_pair(&of_sources[i], CF__RELOCATABLE);
        options.is_lto = 1;
        expect_pair(&of_sources[i], CF__LTO);
    }
    options.is_lto = 0;
    for (size_t i = 0; i < sizeof of_ptx / sizeof *of_ptx; i++)
        expect_pair(&of_ptx[i], CF__RELOCATABLE);
}

/* The link takes one code of each fatbin, and only its definitions count. An object may contain two fatbins; then the
 * link takes a code from each. */
TEST_WITH(definitions_of_fatbins_are_those_of_the_code_that_is_taken, set_up, tear_down)
{
    static const char text[] = HEAD ".visible .const .align 4 .b8 c[32];\n" ENTRY("k");
    struct program_image cubin, user, fatbin, two, object;
    needs_linker();
    make_code_of(&cubin, "__constant__ int c[4];\n" K "(int *x) { *x = c[1]; }", CF__RELOCATABLE, 90);
    make_code_of(&user, "extern __constant__ int c[4];\n__global__ void l(int *x) { *x = c[1]; }", CF__RELOCATABLE, 90);
    begin_fatbin(&fatbin);
    add_fatbin_entry(&fatbin, 1, 75, sizeof text, 0, 0x11);
    add_bytes(&fatbin, text, sizeof text);
    add_fatbin_entry(&fatbin, 2, 90, cubin.size, 0, 0x11);
    add_bytes(&fatbin, cubin.bytes, cubin.size);
    finish_fatbin(&fatbin);
    add_data("one", fatbin.bytes, fatbin.size);
    add_data("user", user.bytes, user.size);
    if (link_quietly() != CF_OK)
        fail_msg("%s", cf_last_error());
    two = fatbin;
    add_bytes(&two, "\0\0\0\0\0\0\0", (8 - two.size % 8) % 8);
    add_bytes(&two, fatbin.bytes, fatbin.size);
    make_object(&object, "__nv_relfatbin", two.bytes, two.size);
    count = 0;
    add_data("object", object.bytes, object.size);
    assert_fails(link_quietly(), CF_ECOMPILE, " is defined in object and in object");
    assert_string_equal(said, "");
}

/* ---- Compressed code ---- */

/* In objects, nvcc compresses the code. */
TEST_WITH(two_definitions_in_objects_are_refused, set_up, tear_down)
{
    char folder[] = "/tmp/cf_link_XXXXXX", command[CF__PATH + 400], object[64], archive[64];
    const char *headers;
    needs_linker();
    if (!dlopen("libzstd.so.1", RTLD_NOW))
        skip_test("needs libzstd");
    assert_ok(cf_find("nvrtc.h", &headers));
    snprintf(command, sizeof command, "test -x %s/../bin/nvcc", headers);
    if (system(command) != 0)
        skip_test(NEEDS_NVCC);
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command,
             "cd %s && echo '" F "{ return x; }' >f.cu && echo '" F "{ return -x; } " K "() { }' >k.cu && "
             "for name in f k; do %s/../bin/nvcc -arch=sm_90 -dc $name.cu || exit; done && ar rc k.a k.o",
             folder, headers);
    assert_int_equal(system(command), 0);
    snprintf(object, sizeof object, "%s/f.o", folder);
    snprintf(archive, sizeof archive, "%s/k.a", folder);
    add_source("kernel.cu", "__global__ void l() { }");
    inputs[count++] = (cf_program_input){.name = object};
    inputs[count++] = (cf_program_input){.name = archive};
    assert_fails(link_quietly(), CF_ECOMPILE, "cf_test: 'f' is defined in /tmp/cf_link_");
    assert_non_null(strstr(cf_last_error(), "/f.o and in /tmp/cf_link_"));
    assert_string_equal(said, "");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* ---- Damage ---- */

static const char damaged_source[] =
    "extern \"C\" __device__ float outer(float);\n"
    "__constant__ float table[4] = {1, 2, 3, 4};\n"
    "__device__ int counter = 7;\n"
    "extern __shared__ float shared[];\n"
    "__device__ float (*pointer)(float) = outer;\n"
    "template <typename T> __device__ __noinline__ T weak(T x) { return x * table[(int)x & 3]; }\n"
    "extern \"C\" __global__ void __launch_bounds__(128) user(float *x, long many, int n)\n"
    "{\n"
    "    __shared__ int mine[32];\n"
    "    mine[threadIdx.x] = atomicAdd(&counter, 1);\n"
    "    __syncthreads();\n"
    "    x[threadIdx.x] = outer(weak(x[n])) + shared[n] + pointer(mine[n ^ 1]);\n"
    "}\n";
#define OUTER "extern \"C\" __device__ float outer(float x) { return x; }\n"

static uint64_t seed_state;

static uint64_t draw(uint64_t below)
{
    uint64_t z = seed_state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % below;
}

static void write_value(struct program_image *image, size_t at)
{
    static const uint64_t values[] = {0, 1, UINT64_MAX, 0x7fffffff, 0x80000000, 0xffff, 0x100, 24, 64};
    uint64_t value = draw(3) ? values[draw(sizeof values / sizeof *values)] : draw(UINT32_MAX);
    size_t bytes = (size_t)1 << draw(4);
    if (draw(4) == 0 && at < image->size)
        value = image->bytes[at] + (draw(2) ? 1 : UINT64_MAX), bytes = 1;
    if (at + bytes <= image->size)
        memcpy(image->bytes + at, &value, bytes);
}

/* Changes fields of the ELF file that begins at `begin`: in its header, in section headers, and in the sections
 * themselves. */
static void damage_elf(struct program_image *image, size_t begin)
{
    Elf64_Ehdr head;
    Elf64_Shdr section;
    memcpy(&head, image->bytes + begin, sizeof head);
    for (uint64_t i = 0, many = draw(3) ? 1 : 1 + draw(4); i < many; i++) {
        size_t at = begin + head.e_shoff + draw(head.e_shnum) * sizeof section;
        memcpy(&section, image->bytes + at, sizeof section);
        switch (draw(8)) {
        case 0:
            write_value(image, begin + draw(48)); /* the last byte of the flags is left as the toolkit wrote it */
            break;
        case 1:
        case 2:
            write_value(image, at + 4 * draw(sizeof section / 4));
            break;
        default: /* chooses a section first, so that small sections are damaged as often as large ones */
            if (section.sh_size && section.sh_type != SHT_NOBITS)
                write_value(image, begin + section.sh_offset + draw(section.sh_size) / 4 * 4);
        }
    }
}

static void damage_text(struct program_image *image)
{
    for (uint64_t i = 0, many = 1 + draw(3); i < many; i++) {
        size_t at = draw(image->size), length = 1 + draw(draw(3) ? 8 : 200);
        length = length < image->size - at ? length : image->size - at;
        if (draw(3) == 0)
            image->bytes[at] = (unsigned char)(32 + draw(95));
        else if (draw(2) == 0) {
            memmove(image->bytes + at, image->bytes + at + length, image->size - at - length);
            image->size -= length;
        } else if (image->size + length < sizeof image->bytes) {
            memmove(image->bytes + at + length, image->bytes + at, image->size - at);
            image->size += length;
        }
    }
}

enum { CUBIN, PTX, FATBIN, OBJECT, KINDS };
static struct program_image whole[KINDS], outer;

static void make_whole(void)
{
    make_code_of(&whole[CUBIN], damaged_source, CF__RELOCATABLE, 90);
    make_code_of(&outer, OUTER, CF__RELOCATABLE, 90);
    begin_fatbin(&whole[FATBIN]);
    add_fatbin_entry(&whole[FATBIN], 2, 90, whole[CUBIN].size, 0, 0x11);
    add_bytes(&whole[FATBIN], whole[CUBIN].bytes, whole[CUBIN].size);
    finish_fatbin(&whole[FATBIN]);
    make_object(&whole[OBJECT], "__nv_relfatbin", whole[FATBIN].bytes, whole[FATBIN].size);
    add_bytes(&whole[PTX], HEAD, strlen(HEAD));
    static const char rest[] =
        ".extern .func (.param .b32 r) outer(.param .b32 x);\n.visible .const .align 4 .b8 table[8] = {1, 2, 3};\n"
        ".weak .global .u32 weak = 1;\n.extern .shared .align 4 .b8 dynamic[];\n.global .u64 place = generic(weak);\n"
        ".visible .entry user(.param .u64 x, .param .align 8 .b8 s[24])\n.maxntid 128, 1, 1\n{\n"
        "    .reg .f32 %f<4>;\n    .reg .b64 %rd<3>;\n    ld.param.u64 %rd1, [x];\n    ld.f32 %f1, [%rd1];\n    {\n"
        "    .param .b32 a;\n    st.param.f32 [a], %f1;\n    .param .b32 b;\n    call.uni (b), outer, (a);\n"
        "    ld.param.f32 %f2, [b];\n    }\n    st.f32 [%rd1], %f2;\n    ret;\n}\n";
    add_bytes(&whole[PTX], rest, strlen(rest));
}

static void make_damaged(struct program_image *image, uint64_t number)
{
    seed_state = number;
    int kind = (int)draw(8);
    kind = kind < 5 ? CUBIN : kind - 4;
    *image = whole[kind];
    if (kind == PTX)
        damage_text(image);
    else
        damage_elf(image, kind == CUBIN ? 0 : image->size - whole[CUBIN].size);
    if (kind == FATBIN && draw(4) == 0)
        write_value(image, draw(80));
}

/* Links damaged inputs in a child, until all are linked or one of them ends the child. `current` is the input that is
 * being linked. */
static int link_damaged(volatile uint64_t *current, uint64_t end)
{
    pid_t child = fork_flushed();
    int ended = -1;
    assert_true(child >= 0);
    if (child == 0) {
        const int signals[] = {SIGSEGV, SIGFPE, SIGBUS, SIGABRT, SIGILL}; /* CMocka has handlers for these */
        for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
            (void)signal(signals[i], SIG_DFL);
        for (; *current < end; ++*current) {
            static struct program_image image;
            make_damaged(&image, *current);
            count = 0;
            add_data("damaged", image.bytes, image.size);
            add_data("outer", outer.bytes, outer.size);
            alarm(30);
            (void)link_for(90);
            cf__compiled_free(&linked);
        }
        _exit(0);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    return ended;
}

/* The variables CF_SEED and CF_INPUTS select other inputs. */
TEST_WITH(damaged_inputs_are_survived, set_up, tear_down)
{
    uint64_t begin = getenv("CF_SEED") ? strtoull(getenv("CF_SEED"), NULL, 0) : 1;
    const uint64_t end = begin + (getenv("CF_INPUTS")    ? strtoull(getenv("CF_INPUTS"), NULL, 0)
                                  : getenv("CHECK_LONG") ? 6000
                                                         : 1000);
    volatile uint64_t *current = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int failed = 0;
    skip_where_forks_are_unsafe();
    needs_linker();
    assert_true(current != MAP_FAILED);
    make_whole();
    add_data("whole", whole[CUBIN].bytes, whole[CUBIN].size);
    add_data("outer", outer.bytes, outer.size);
    assert_ok(link_for(90));
    inputs[0].data = whole[PTX].bytes, inputs[0].size = whole[PTX].size;
    assert_ok(link_for(90));
    for (*current = begin; *current < end; ++*current) {
        int ended = link_damaged(current, end);
        if (ended == 0)
            break;
        printf("# input %llu: status %d\n", (unsigned long long)*current, ended);
        failed++;
    }
    assert_int_equal(failed, 0);
    munmap((void *)current, 4096);
}

/* Without the refusal, nvJitLink 13.0 would end the process. */
TEST_WITH(relocation_of_a_function_with_data_is_refused, set_up, tear_down)
{
    enum { OF_FUNCTION = 0x31 };
    static struct program_image damaged, other;
    Elf64_Ehdr head;
    Elf64_Shdr section, symbols;
    int changed = 0;
    needs_linker();
    make_code_of(&damaged, damaged_source, CF__RELOCATABLE, 90);
    make_code_of(&other, OUTER, CF__RELOCATABLE, 90);
    unsigned char *bytes = damaged.bytes;
    memcpy(&head, bytes, sizeof head);
    for (int i = 0; i < head.e_shnum; i++) {
        memcpy(&section, bytes + head.e_shoff + (size_t)i * sizeof section, sizeof section);
        if (section.sh_type != SHT_REL && section.sh_type != SHT_RELA)
            continue;
        memcpy(&symbols, bytes + head.e_shoff + section.sh_link * sizeof symbols, sizeof symbols);
        for (uint64_t at = section.sh_offset; at < section.sh_offset + section.sh_size; at += section.sh_entsize) {
            Elf64_Rel entry;
            Elf64_Sym symbol;
            memcpy(&entry, bytes + at, sizeof entry);
            memcpy(&symbol, bytes + symbols.sh_offset + ELF64_R_SYM(entry.r_info) * sizeof symbol, sizeof symbol);
            if (changed || ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
                continue;
            entry.r_info = ELF64_R_INFO(ELF64_R_SYM(entry.r_info), OF_FUNCTION);
            memcpy(bytes + at, &entry, sizeof entry);
            changed = 1;
        }
    }
    assert_true(changed);
    add_data("damaged", bytes, damaged.size);
    add_data("outer", other.bytes, other.size);
    assert_fails(link_for(90), CF_EIMAGE, "has no function");
}

int main(void)
{
    return run_all_tests(NULL, NULL);
}
