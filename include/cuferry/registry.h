/* registry.h - descriptors of kernels and constants: header-only constant data, look-up by name, iteration.
 *
 * The generator writes one `cf_kernel` per entry point and one `cf_module` per library, named `<prefix>_registry`; the
 * registry of the bundled kernels is `cf_registry`. All descriptors are constant and static: no caller frees or writes
 * them, and any thread may call any function here. */
#ifndef CUFERRY_REGISTRY_H
#define CUFERRY_REGISTRY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cuferry/cpu/abi.h>
#include <cuferry/scalar.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the structures below; the library refuses descriptors of another version. It stays the first member of
 * cf_kernel, cf_symbol and cf_module. */
#define CF_REGISTRY_VERSION 9

/* Limits, which the generator reads from this file: dimensions of a grid and of an array; values on the stack of an
 * expression; nesting of operations; threads of a block, in all and along z; blocks along x, and along y and z. */
#define CF_GRID_DIMS 3
#define CF_ARRAY_DIMS 8
#define CF_EXPR_DEPTH 16
#define CF_OPERATION_DEPTH 4
#define CF_BLOCK_SIZE 1024
#define CF_BLOCK_SIZE_Z 64
#define CF_GRID_SIZE_X 2147483647
#define CF_GRID_SIZE_YZ 65535

/* ---- Expressions ----------------------------------------------------------------------------------------------- */

/* One step of an expression in postfix form over a stack of int64_t. Arithmetic is exact: a step that overflows or
 * divides by 0 fails the whole expression. Comparisons and logic give 0 or 1.
 *
 * Expressions for reports and comparisons (bytes, flops, tolerance) are evaluated over a stack of double instead: they
 * may read floating-point parameters and constants, and no step fails. */
enum cf_op_code {
    CF_OP_END,    /* the end; the value is on the stack */
    CF_OP_CONST,  /* push `operand` */
    CF_OP_PARAM,  /* push integer parameter number `operand` */
    CF_OP_MEMBER, /* push a member of a parameter; `operand` is a CF_MEMBER() */
    CF_OP_REAL,   /* push the double whose bits are `operand` */
    CF_OP_NEG,
    CF_OP_NOT,
    CF_OP_ADD, /* pops the right operand, then the left */
    CF_OP_SUB,
    CF_OP_MUL,
    CF_OP_DIV, /* truncates towards 0, as in C */
    CF_OP_MOD,
    CF_OP_MIN,
    CF_OP_MAX,
    CF_OP_LT,
    CF_OP_LE,
    CF_OP_GT,
    CF_OP_GE,
    CF_OP_EQ,
    CF_OP_NE,
    CF_OP_AND,    /* if the top is 0 skip the next `operand` steps, else pop it */
    CF_OP_OR,     /* if the top is not 0 make it 1 and skip the next `operand` steps, else pop it */
    CF_OP_UNLESS, /* pop the top, and skip the next `operand` steps if it is 0 */
    CF_OP_SKIP,   /* skip the next `operand` steps */
    CF_OP_SHL,    /* multiplies by 2^right and fails as CF_OP_MUL does, or if right is negative or above 63 */
    CF_OP_SHR,    /* rounds down, also for negative numbers */
    CF_OP_BIT_AND,
    CF_OP_BIT_OR,
    CF_OP_BIT_XOR
};

typedef struct cf_op {
    int32_t code;
    int64_t operand;
} cf_op;

/* The operand of CF_OP_MEMBER: the parameter's number, the member's cf_type and its offset in the parameter's value. */
#define CF_MEMBER(param, type, offset) ((int64_t)(offset) << 24 | (int64_t)(type) << 16 | (param))
#define CF_MEMBER_PARAM(operand) ((uint32_t)((operand)&0xffff))
#define CF_MEMBER_TYPE(operand) ((cf_type)((operand) >> 16 & 0xff))
#define CF_MEMBER_OFFSET(operand) ((size_t)((operand) >> 24))

/* The offset of an integer member that a check names. Does not compile if the member is of another type, or if it may
 * be misaligned in some element of an array. */
#define CF_CHECKED_OFFSET(ctype, path, type)                                                       \
    (offsetof(ctype, path) *                                                                       \
     sizeof(char[CF_INTEGER_TYPE(__typeof__(((ctype *)0)->path)) == (type) &&                      \
                         (offsetof(ctype, path) | sizeof(ctype)) % sizeof(((ctype *)0)->path) == 0 \
                     ? 1                                                                           \
                     : -1]))

typedef struct cf_expr {
    const char *text; /* as written in the annotation; NULL: there is no expression */
    const cf_op *ops; /* ends with CF_OP_END */
} cf_expr;

/* ---- Kernels --------------------------------------------------------------------------------------------------- */

typedef enum cf_direction {
    CF_VALUE,   /* passed by value */
    CF_IN,      /* array, read only */
    CF_OUT,     /* array, every element written */
    CF_INOUT,   /* array, read and written */
    CF_POINTER, /* pointer of undeclared extent: only memory that the device can access */
    CF_SCRATCH  /* array that the library supplies; no parameter of the C function */
} cf_direction;

/* An array within a struct: distance between two elements in bytes, and number of elements. */
typedef struct cf_stride {
    uint32_t bytes, count;
} cf_stride;

/* A value within a struct. If it is in arrays within the struct, one value in each element of these arrays. */
typedef struct cf_member {
    const char *path;       /* "cells[].x", with [] for each index; NULL ends a table */
    cf_type type;           /* CF_OPAQUE: only its size is known */
    uint32_t lanes;         /* components of a vector; else 1 */
    uint32_t offset, bytes; /* offset of the first value, and size of each value, in bytes */
    uint32_t ndims;         /* number of arrays, one for each [] of the path */
    const cf_stride *strides;
} cf_member;

/* Initializers of cf_member, for the position and size of a value in a struct, and of cf_stride. */
#define CF_PLACE(ctype, path) .offset = offsetof(ctype, path), .bytes = sizeof(((ctype *)0)->path)
#define CF_STRIDE(ctype, path)                                                                    \
    {                                                                                             \
        sizeof(((ctype *)0)->path[0]), sizeof(((ctype *)0)->path) / sizeof(((ctype *)0)->path[0]) \
    }

/* Element [i][j] of an array of two dimensions lies i * P + j elements after the pointer; P is pitches[1], or
 * extents[1] without a pitch. More dimensions work alike. The kernel touches [lowers[d], lowers[d] + extents[d]) in
 * each dimension d. */
typedef struct cf_param {
    const char *name;
    const char *ctype; /* C declaration: "const float *" */
    cf_type type;      /* type of the value or of an array's elements; of a component if `lanes` is not 1 */
    cf_direction direction;
    uint32_t lanes;         /* components of a vector: 4 for float4; else 1 */
    uint32_t bytes, align;  /* size and alignment in bytes of the value or of an element; 0 for void * */
    uint32_t cpu_align;     /* arrays: alignment in bytes to which the CPU body casts pointers; 0: that of elements */
    uint32_t ndims;         /* arrays: number of extents */
    const cf_expr *extents; /* outermost first, in elements */
    const cf_expr *lowers;  /* first element in each dimension; NULL, or absent: 0 */
    const cf_expr *pitches; /* length of each dimension in memory, in elements; absent: the extent. [0] is absent */
    const cf_member
        *members; /* values in a struct, or in each struct of an array; NULL: there are none, or it is bytes in C */
} cf_param;

/* A condition on scalars, on every element of an integer array, on an integer member of every element, or on the order
 * of the elements. */
typedef struct cf_check {
    const char *text;               /* as written: "0 <= index[:] < M" */
    cf_expr condition;              /* condition on scalars, which must not be 0; absent for an array */
    int32_t array;                  /* parameter number of the array; -1 for a condition on scalars */
    const char *member;             /* path within each element, ".pos.x"; NULL: the elements themselves */
    cf_type type;                   /* type of the member */
    uint32_t offset;                /* offset of the member in an element, in bytes */
    cf_expr lower, upper;           /* bounds of the elements; each may be absent */
    uint8_t lower_open, upper_open; /* the bound itself is outside of the range */
    uint8_t is_real;                /* the condition reads floating-point numbers and is evaluated over double */
    uint8_t is_ascending;           /* for an array of one dimension: no element is less than the one before it */
    const struct cf_kernel *scan;   /* kernel that finds the first violating element; see kernels/outside.cu */
} cf_check;

/* The elements of a scratch array or of a written array that are 0 when the kernel begins. These are elements [lower,
 * lower + extent) of an array of one dimension, or the whole array. */
typedef struct cf_zero {
    uint32_t array;       /* number of the parameter */
    uint32_t is_rezeroed; /* whole scratch arrays: the elements are 0 again when the kernel ends */
    cf_expr lower;        /* absent: 0 */
    cf_expr extent;       /* absent: all of the array */
} cf_zero;

/* Size of a launch. `grid` counts elements, or blocks if `counts_blocks` is set; each thread takes `items` elements
 * along x. Absent entries are 1. */
typedef struct cf_launch_rule {
    uint8_t counts_blocks;
    uint8_t is_cooperative; /* all blocks are resident at once */
    uint8_t is_block_auto;  /* the driver chooses the block size; `block` is absent */
    uint8_t passes_cluster; /* a launch passes the size of clusters to the driver, because the kernel's code lacks it */
    uint8_t is_dependent;   /* the kernel may begin before earlier work in the stream has ended */
    cf_expr grid[CF_GRID_DIMS];
    cf_expr block[CF_GRID_DIMS];
    cf_expr items;
    cf_expr shared;                 /* bytes of dynamic shared memory; absent: 0 */
    uint32_t max_block;             /* threads of a block, by __launch_bounds__; 0: as many as any block */
    uint32_t cluster[CF_GRID_DIMS]; /* blocks of a cluster, from __cluster_dims__ or cluster(...); 0: no clusters */
} cf_launch_rule;

/* State of a loaded descriptor, initially 0. Only the library writes it. */
typedef struct cf_state {
    void *loaded;
} cf_state;

/* A target is a compute capability times ten. One bit marks code that runs only on this capability (90a); another bit
 * marks code that runs only on this and later minor versions (100f). */
#define CF_TARGET_EXACT 0x8000
#define CF_TARGET_FAMILY 0x4000
#define CF_TARGET_CAPABILITY(target) ((target)&0x3fff)
#define CF_TARGET_SUFFIX(target) ((target)&CF_TARGET_EXACT ? "a" : (target)&CF_TARGET_FAMILY ? "f" : "")

/* Code for one or more targets, in a form that the driver loads: nvcc's fatbin, or a file that image(...) names. */
typedef struct cf_image {
    const unsigned char *begin, *end;
    uint32_t crc32;      /* zlib's CRC-32 of the bytes */
    uint32_t toolkit;    /* version of the nvcc that built it: 13000 is CUDA 13.0; 0: not known */
    const uint16_t *sm;  /* targets with machine code, ends with 0 */
    const uint16_t *ptx; /* targets with PTX, ends with 0 */
    cf_state *state;
} cf_image;

/* Grid and block of a launch, and its dynamic shared memory in bytes. */
typedef struct cf_launch_size {
    uint32_t grid[CF_GRID_DIMS], block[CF_GRID_DIMS];
    uint32_t shared;
} cf_launch_size;

/* The elements of an array argument that a kernel reads or writes; see cf_kernel_section(). */
typedef struct cf_section {
    int64_t count; /* number of elements; if 0, offset and span are 0, and the strides mean nothing */
    size_t offset; /* bytes from the array's pointer to the first element */
    size_t span;   /* bytes from the first element to the end of the last element */
    uint32_t ndims;
    int64_t lowers[CF_ARRAY_DIMS], extents[CF_ARRAY_DIMS]; /* first index, and number of elements, in each dimension */
    size_t strides[CF_ARRAY_DIMS];                         /* bytes between neighbours in each dimension */
} cf_section;

/* The compiled scalar checks and launch rule of a kernel. Returns 1 and writes `size` if every check holds, no pointer
 * with an extent other than 0 is NULL, and there is work to launch. Otherwise returns 0: the library then evaluates the
 * descriptor and reports the error. */
typedef int cf_launch_size_body(void *const args[], cf_launch_size *size);

/* Enqueues the launches of an operation in the stream's order and returns a status. `args` is as in a launch, but
 * pointers to scratch memory are filled in. The stream's device can access all memory that `args` points to. */
struct CUstream_st;
typedef int cf_enqueue_body(struct CUstream_st *stream, void *const args[]);

/* A template constant that tune(...) declares, and its value in one variant. */
typedef struct cf_constant {
    const char *name;
    int64_t value;
} cf_constant;

typedef struct cf_kernel {
    uint32_t version;     /* CF_REGISTRY_VERSION */
    const char *name;     /* key: "gather_f32_i32" */
    const char *family;   /* template of this instance: "gather"; its own name without a template */
    const char *function; /* C function: "cf_gather_f32_i32" */
    const char *doc;      /* comment above the kernel; NULL: none */
    const char *file;     /* source file of the kernel's name */
    uint32_t line;
    uint32_t nparams;
    uint32_t nadded; /* number of parameters of param(...), the last ones, which the kernel itself does not take */
    const cf_param *params;
    cf_launch_rule launch;
    uint32_t nchecks;
    const cf_check *checks;
    cf_expr bytes;             /* real: bytes that one launch moves, for reports; absent: the bytes of its arrays */
    cf_expr flops;             /* real: floating-point operations of one launch, for reports */
    cf_expr tolerance;         /* real: allowed difference of results; absent: none */
    const cf_image *image;     /* GPU code; NULL: none was built */
    const char *entry;         /* symbol of the kernel in the image */
    cf_host_body *cpu_body;    /* CPU body; NULL: there is none */
    uint8_t is_cpu_whole;      /* one call of the CPU body runs all blocks */
    const char *cpu_form;      /* how the CPU body runs the threads, in words; NULL: unknown */
    const uint32_t *cpu_bytes; /* size in bytes of each parameter of the CPU body; NULL: there is none */
    cf_state *state;
    uint32_t nconstants; /* tuned constants of this variant; 0 for the kernel itself */
    const cf_constant *constants;
    uint32_t nvariants; /* number of variants of a kernel with tune(...); 0 for all other kernels */
    const struct cf_kernel *const *variants;
    cf_launch_size_body *sizes; /* compiled checks and launch rule; NULL: the library evaluates the expressions at each
                                 * launch */
    uint8_t is_bounded;         /* the kernel and its callees have no loop, so the work of a thread is bounded */
    uint8_t is_closed;          /* the kernel reads and writes only its arguments, and no other data of its file */
    const uint8_t *restricts;   /* for each parameter, 1 if it is declared __restrict__; NULL: none is */
    const uint8_t *distinct;    /* for each parameter, 1 if its elements differ from one another; NULL: none do */
    const uint8_t *in_place;    /* for each parameter: number of its inplace(...) list, 0: none; NULL: all are 0 */
    cf_expr cpu_grid;           /* number of threads on the CPU; absent if it is the number on a GPU or the grid's
                                 * count */
    uint32_t nzeros;            /* sections of arrays that are set to 0 before each launch */
    const cf_zero *zeros;
    cf_enqueue_body *enqueue; /* enqueues an operation, which has no launch rule, image or CPU body; else NULL */
    /* The cf_launch() that the operation calls: if a process has several copies of the library, this one runs it. */
    int (*runtime)(const struct cf_kernel *kernel, struct CUstream_st *stream, void *const args[]);
    uint32_t nuses; /* number of kernels and operations that an operation enqueues */
    const struct cf_kernel *const *uses;
    uint8_t is_internal;   /* it serves only operations; no public header declares its functions */
    uint8_t is_of_program; /* cf_program_kernel() made the descriptor from a signature */
    const char *tuning;    /* tuning-file lines that came with the kernel; NULL: none */
    uint32_t split;        /* number, from 1, of the split(...) parameter, else 0; see cf_kernel_split() */
} cf_kernel;

/* Data in __constant__ memory that has a setter. */
typedef struct cf_symbol {
    uint32_t version;     /* CF_REGISTRY_VERSION */
    const char *name;     /* "coeff" */
    const char *function; /* the setter: "heat_set_coeff" */
    const char *doc;      /* comment above the data; NULL: none */
    const char *file;
    uint32_t line;
    const char *ctype; /* C type of an element */
    cf_type type;
    uint32_t lanes;
    uint32_t bytes, align; /* size and alignment of an element in bytes */
    uint32_t ndims;        /* 0: one value */
    const int64_t *extents;
    const cf_image *image;     /* GPU code; NULL: none was built */
    const char *entry;         /* symbol of the data in the image */
    void *const *cpu_data;     /* address of the CPU's copy; NULL: none */
    const uint32_t *cpu_bytes; /* size of the CPU's copy in bytes */
    cf_state *state;
} cf_symbol;

/* The kernels and constants of one library, sorted by name (strcmp). */
typedef struct cf_module {
    uint32_t version;   /* CF_REGISTRY_VERSION */
    const char *prefix; /* prefix of the C functions: "cf" */
    size_t count;
    const cf_kernel *const *kernels;
    size_t nsymbols;
    const cf_symbol *const *symbols;
} cf_module;

/* The function that a shared object of cfcc exports as cf_module_info; returns the object's registry. */
typedef const cf_module *cf_module_info_function(void);

/* The bundled kernels. A program that names cf_registry links all of them. */
extern const cf_module cf_registry;

/* ---- Look-up and iteration ------------------------------------------------------------------------------------- */

/* Returns the i-th kernel by name; NULL if there are fewer, or `module` is NULL:
 *     for (size_t i = 0; (kernel = cf_kernel_at(&cf_registry, i)) != NULL; i++) */
static inline const cf_kernel *cf_kernel_at(const cf_module *module, size_t i)
{
    return module && i < module->count ? module->kernels[i] : NULL;
}

/* Returns the kernel called `name` after O(log n) comparisons; NULL if there is none, or an argument is NULL. */
static inline const cf_kernel *cf_kernel_find(const cf_module *module, const char *name)
{
    size_t low = 0, high = module && name ? module->count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, module->kernels[middle]->name);
        if (order == 0)
            return module->kernels[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* Returns 1 if the kernel is an operation: several launches, without a launch of its own. */
static inline int cf_kernel_is_operation(const cf_kernel *kernel)
{
    return kernel && kernel->enqueue;
}

/* Returns 1 if only operations use the kernel. */
static inline int cf_kernel_is_internal(const cf_kernel *kernel)
{
    return kernel && kernel->is_internal;
}

/* Returns 1 if the kernel, or everything that an operation uses, has a CPU form. */
static inline int cf_kernel_has_host(const cf_kernel *kernel)
{
    if (!cf_kernel_is_operation(kernel))
        return kernel && kernel->cpu_body;
    uint32_t i = 0;
    while (i < kernel->nuses && cf_kernel_has_host(kernel->uses[i]))
        i++;
    return i == kernel->nuses;
}

/* Returns the number of the parameter that split(...) names; -1: none. A call with the value n does the same as one
 * call for the first elements and then one for the others. Arrays whose outermost extent is this parameter are split,
 * and have no lower bounds or pitches. Other arrays do not depend on it. */
static inline int cf_kernel_split(const cf_kernel *kernel)
{
    return kernel && kernel->split <= kernel->nparams ? (int)kernel->split - 1 : -1;
}

/* Returns 1 if parameter number `i` is an array that is split, because its outermost extent is the parameter of
 * split(...). */
static inline int cf_param_is_split(const cf_kernel *kernel, uint32_t i)
{
    const cf_param *param = &kernel->params[i];
    const cf_op *ops = param->ndims ? param->extents[0].ops : NULL;
    return ops && cf_kernel_split(kernel) >= 0 && ops[0].code == CF_OP_PARAM &&
           ops[0].operand == cf_kernel_split(kernel) && ops[1].code == CF_OP_END;
}

/* Returns the number of the parameter called `name`; -1 if there is none, or an argument is NULL. */
static inline int cf_param_find(const cf_kernel *kernel, const char *name)
{
    for (uint32_t i = 0; kernel && name && i < kernel->nparams; i++)
        if (strcmp(kernel->params[i].name, name) == 0)
            return (int)i;
    return -1;
}

#ifdef __cplusplus
}
#endif
#endif
