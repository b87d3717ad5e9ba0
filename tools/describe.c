/* describe.c - prints what the registry knows of kernels. */
#include "describe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "instance.h"

static void print_prototype(const cf_kernel *kernel)
{
    printf("int %s(", kernel->function);
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const char *ctype = kernel->params[i].ctype;
        printf("%s%s%s%s", i ? ", " : "", ctype, ctype[strlen(ctype) - 1] == '*' ? "" : " ", kernel->params[i].name);
    }
    printf("%s);\n", kernel->nparams ? "" : "void");
}

void describe_all(void)
{
    const cf_kernel *kernel;
    int width = 0;
    for (size_t i = 0; (kernel = cf_kernel_at(&cf_registry, i)) != NULL; i++)
        if ((int)strlen(kernel->name) > width)
            width = (int)strlen(kernel->name);
    for (size_t i = 0; (kernel = cf_kernel_at(&cf_registry, i)) != NULL; i++) {
        printf("%-*s  ", width, kernel->name);
        print_prototype(kernel);
    }
}

/* Begins a line. */
static void print_key(const char *key)
{
    printf("  %-9s ", key);
}

static void print_param(const cf_param *param)
{
    static const char *const directions[] = {
        [CF_VALUE] = "value", [CF_IN] = "in", [CF_OUT] = "out", [CF_INOUT] = "inout", [CF_POINTER] = "pointer"};
    print_key(directions[param->direction]);
    printf("%s", param->name);
    for (uint32_t d = 0; d < param->ndims; d++)
        printf("[%s]", param->extents[d].text);
    printf(", %s\n", cf_type_name(param->type));
}

static void print_sizes(const char *name, const cf_expr sizes[CF_GRID_DIMS])
{
    printf("%s(", name);
    for (int d = 0; d < CF_GRID_DIMS && sizes[d].ops; d++)
        printf("%s%s", d ? ", " : "", sizes[d].text);
    printf(")");
}

static void print_targets(const cf_image *image)
{
    print_key("cuda");
    if (!image) {
        printf("not built\n");
        return;
    }
    for (const uint16_t *target = image->sm; *target; target++)
        printf("sm_%u ", (unsigned)*target);
    for (const uint16_t *target = image->ptx; *target; target++)
        printf("compute_%u ", (unsigned)*target);
    printf("by CUDA %" PRIu32 ".%" PRIu32 "\n", image->toolkit / 1000, image->toolkit % 1000 / 10);
}

static void describe(const cf_kernel *kernel)
{
    printf("%s\n", kernel->name);
    print_key("function");
    print_prototype(kernel);
    for (uint32_t i = 0; i < kernel->nparams; i++)
        print_param(&kernel->params[i]);
    for (uint32_t i = 0; i < kernel->nchecks; i++) {
        print_key("check");
        printf("%s\n", kernel->checks[i].text);
    }
    print_key("launch");
    print_sizes(kernel->launch.counts_blocks ? "blocks" : "grid", kernel->launch.grid);
    printf(" ");
    print_sizes("block", kernel->launch.block);
    printf("\n");
    if (kernel->bytes.ops) {
        print_key("bytes");
        printf("%s\n", kernel->bytes.text);
    }
    print_targets(kernel->image);
    print_key("host");
    printf("%s\n", kernel->host ? "built" : "not built");
    print_key("source");
    printf("%s:%" PRIu32 "\n", kernel->file, kernel->line);
}

int describe_named(const char *name, struct message *message)
{
    const cf_kernel *kernel, *first = instance_any(name, message);
    if (!first)
        return -1;
    for (size_t i = 0; (kernel = cf_kernel_at(&cf_registry, i)) != NULL; i++)
        if (instance_is_named(kernel, name)) {
            printf("%s", kernel == first ? "" : "\n");
            describe(kernel);
        }
    return 0;
}
