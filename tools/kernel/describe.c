/* describe.c - prints what the registry tells about kernels. */
#include "kernel/describe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kernel/argument.h"
#include "kernel/image_text.h"
#include "kernel/instance.h"
#include "kernel/variant_text.h"

/* ---- Prototypes ---- */

static void print_prototype(const cf_kernel *kernel)
{
    const char *separator = "";
    printf("int %s(", kernel->function);
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const char *ctype = kernel->params[i].ctype;
        if (kernel->params[i].direction == CF_SCRATCH)
            continue;
        printf("%s%s%s%s", separator, ctype, ctype[strlen(ctype) - 1] == '*' ? "" : " ", kernel->params[i].name);
        separator = ", ";
    }
    printf("%s);\n", *separator ? "" : "void");
}

static void print_setter(const cf_symbol *symbol)
{
    printf("int %s(%s%s %s", symbol->function, symbol->ndims ? "const " : "", symbol->ctype, symbol->name);
    for (uint32_t d = 0; d < symbol->ndims; d++)
        printf("[%" PRId64 "]", symbol->extents[d]);
    printf(");\n");
}

/* Returns the name of a symbol's setter without the library's prefix. */
static const char *setter_name(const cf_module *module, const cf_symbol *symbol)
{
    size_t length = strlen(module->prefix);
    int has_prefix = strncmp(symbol->function, module->prefix, length) == 0 && symbol->function[length] == '_';
    return symbol->function + (has_prefix ? length + 1 : 0);
}

void describe_all(const cf_module *module)
{
    const cf_kernel *kernel;
    int width = 0;
    for (size_t i = 0; (kernel = cf_kernel_at(module, i)) != NULL; i++)
        if (!cf_kernel_is_internal(kernel) && (int)strlen(kernel->name) > width)
            width = (int)strlen(kernel->name);
    for (size_t i = 0; i < module->nsymbols; i++)
        if ((int)strlen(setter_name(module, module->symbols[i])) > width)
            width = (int)strlen(setter_name(module, module->symbols[i]));
    for (size_t i = 0; (kernel = cf_kernel_at(module, i)) != NULL; i++) {
        if (cf_kernel_is_internal(kernel))
            continue;
        printf("%-*s  ", width, kernel->name);
        print_prototype(kernel);
    }
    for (size_t i = 0; i < module->nsymbols; i++) {
        printf("%-*s  ", width, setter_name(module, module->symbols[i]));
        print_setter(module->symbols[i]);
    }
}

/* ---- Kernels and setters ---- */

/* Prints the key at the beginning of a line. */
static void print_key(const char *key)
{
    printf("  %-9s ", key);
}

/* Prints the lines of a kernel's comment. */
static void print_doc(const char *doc)
{
    while (doc && *doc) {
        size_t length = strcspn(doc, "\n");
        print_key("doc");
        printf("%.*s\n", (int)length, doc);
        doc += length + (doc[length] == '\n');
    }
}

/* Prints an image's targets. `variant` names the kernel's variant if the image has only one; NULL: it has all. */
static void print_targets(const cf_image *image, const char *variant)
{
    char text[IMAGE_TEXT];
    print_key("cuda");
    if (!image) {
        printf("not built\n");
        return;
    }
    for (size_t i = 0; image_target(image, i, text); i++)
        printf("%s ", text);
    image_toolkit(image, text);
    printf("%s%s", *text ? "by CUDA " : "from a file of the annotation", text);
    printf("%s%s\n", variant ? ", for " : "", variant ? variant : "");
}

/* Prints a kernel's images. Each variant of a kernel with image(...) may have an image of its own. */
static void print_images(const cf_kernel *kernel)
{
    int differ = 0;
    for (uint32_t i = 0; i < kernel->nvariants; i++)
        differ |= kernel->variants[i]->image != kernel->image;
    if (!differ)
        print_targets(kernel->image, NULL);
    for (uint32_t i = 0; differ && i < kernel->nvariants; i++) {
        struct message text = {""};
        variant_add(kernel->variants[i], &text);
        print_targets(kernel->variants[i]->image, text.text);
    }
}

static void print_source(const char *file, uint32_t line)
{
    print_key("source");
    printf("%s:%" PRIu32 "\n", file, line);
}

/* ---- Kernels ---- */

static void print_pitches(const cf_param *param)
{
    const char *separator = ", pitch(";
    for (uint32_t d = param->ndims; param->pitches && d-- > 1;)
        if (param->pitches[d].ops) {
            printf("%s%s", separator, param->pitches[d].text);
            separator = ", ";
        }
    printf("%s", separator[2] ? "" : ")");
}

static void print_param(const cf_param *param, int is_added)
{
    static const char *const directions[] = {[CF_VALUE] = "value", [CF_IN] = "in",           [CF_OUT] = "out",
                                             [CF_INOUT] = "inout", [CF_POINTER] = "pointer", [CF_SCRATCH] = "scratch"};
    const struct element_type type = argument_type(param);
    char name[ELEMENT_NAME];
    print_key(is_added ? "param" : directions[param->direction]);
    printf("%s", param->name);
    for (uint32_t d = 0; d < param->ndims; d++) {
        int has_lower = param->lowers && param->lowers[d].ops;
        printf("[%s%s%s]", has_lower ? param->lowers[d].text : "", has_lower ? ":" : "", param->extents[d].text);
    }
    element_name(&type, name);
    printf(", %s", name);
    if (type.type == CF_OPAQUE || type.lanes > 1)
        printf(" (%s)", param->ctype);
    print_pitches(param);
    printf("\n");
}

static void print_sizes(const char *name, const cf_expr sizes[CF_GRID_DIMS])
{
    printf("%s(", name);
    for (int d = 0; d < CF_GRID_DIMS && sizes[d].ops; d++)
        printf("%s%s", d ? ", " : "", sizes[d].text);
    printf(")");
}

static void print_launch(const cf_launch_rule *launch)
{
    print_key("launch");
    print_sizes(launch->counts_blocks ? "blocks" : "grid", launch->grid);
    printf(" ");
    if (launch->is_block_auto)
        printf("block(auto)");
    else
        print_sizes("block", launch->block);
    if (launch->items.ops)
        printf(" items(%s)", launch->items.text);
    if (launch->shared.ops)
        printf(" shared(%s)", launch->shared.text);
    for (int d = 0; d < CF_GRID_DIMS && launch->cluster[d]; d++)
        printf("%s%" PRIu32,
               d                        ? ", "
               : launch->passes_cluster ? " cluster("
                                        : " __cluster_dims__(",
               launch->cluster[d]);
    if (launch->cluster[0])
        printf(")");
    printf("%s%s\n", launch->is_cooperative ? " cooperative" : "", launch->is_dependent ? " dependent" : "");
}

static void print_expression(const char *key, const cf_expr *expr)
{
    if (!expr->ops)
        return;
    print_key(key);
    printf("%s\n", expr->text);
}

static void print_distinct(const cf_kernel *kernel)
{
    if (!kernel->distinct)
        return;
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (kernel->distinct[i]) {
            print_key("distinct");
            printf("the elements of %s\n", kernel->params[i].name);
        }
}

static void print_zeros(const cf_kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->nzeros; i++) {
        const cf_zero *zero = &kernel->zeros[i];
        print_key("zero");
        printf("%s", kernel->params[zero->array].name);
        if (zero->extent.ops)
            printf("[%s%s%s]", zero->lower.ops ? zero->lower.text : "", zero->lower.ops ? ":" : "", zero->extent.text);
        printf("%s\n", zero->is_rezeroed ? ", and when it ends" : "");
    }
}

/* Prints a line for each list of arrays that may be one array, as inplace(...) declares them. */
static void print_in_place(const cf_kernel *kernel)
{
    if (!kernel->in_place)
        return;
    for (unsigned int list = 1, printed = 1; printed; list++) {
        printed = 0;
        for (uint32_t i = 0; i < kernel->nparams; i++)
            if (kernel->in_place[i] == list) {
                if (!printed)
                    print_key("in place");
                printf("%s%s", printed++ ? ", " : "", kernel->params[i].name);
            }
        if (printed)
            printf(" may be one array\n");
    }
}

static void print_split(const cf_kernel *kernel)
{
    if (cf_kernel_split(kernel) < 0)
        return;
    print_key("split");
    printf("by %s\n", kernel->params[cf_kernel_split(kernel)].name);
}

static void print_host(const cf_kernel *kernel)
{
    print_key("host");
    printf("%s%s%s\n",
           !cf_kernel_has_host(kernel)      ? "not built: the CPU does not run it"
           : cf_kernel_is_operation(kernel) ? "built, as what it uses"
                                            : "built",
           kernel->cpu_form ? ", " : "", kernel->cpu_form ? kernel->cpu_form : "");
}

static void print_uses(const cf_kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->nuses; i++) {
        print_key("uses");
        printf("%s\n", kernel->uses[i]->name);
    }
}

static void print_variants(const cf_kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->nvariants; i++) {
        struct message text = {""};
        variant_add(kernel->variants[i], &text);
        print_key("variant");
        printf("%s%s\n", text.text, i == 0 ? ", which runs where nothing was measured" : "");
    }
}

/* Prints the constants of the kernel's file, which it may read. */
static void print_constants(const cf_module *module, const cf_kernel *kernel)
{
    for (size_t i = 0; i < module->nsymbols; i++)
        if (strcmp(module->symbols[i]->file, kernel->file) == 0) {
            print_key("setter");
            print_setter(module->symbols[i]);
        }
}

static void describe_kernel(const cf_module *module, const cf_kernel *kernel)
{
    printf("%s%s\n", kernel->name, cf_kernel_is_internal(kernel) ? ", for operations alone" : "");
    print_doc(kernel->doc);
    print_key("function");
    print_prototype(kernel);
    for (uint32_t i = 0; i < kernel->nparams; i++)
        print_param(&kernel->params[i], i >= kernel->nparams - kernel->nadded);
    for (uint32_t i = 0; i < kernel->nchecks; i++) {
        print_key("check");
        printf("%s\n", kernel->checks[i].text);
    }
    print_distinct(kernel);
    print_zeros(kernel);
    print_in_place(kernel);
    print_split(kernel);
    if (cf_kernel_is_operation(kernel))
        print_uses(kernel);
    else
        print_launch(&kernel->launch);
    print_variants(kernel);
    print_expression("tolerance", &kernel->tolerance);
    print_expression("flops", &kernel->flops);
    print_expression("bytes", &kernel->bytes);
    print_constants(module, kernel);
    if (!cf_kernel_is_operation(kernel))
        print_images(kernel);
    print_host(kernel);
    print_source(kernel->file, kernel->line);
}

/* ---- Setters ---- */

static void describe_symbol(const cf_module *module, const cf_symbol *symbol)
{
    const struct element_type type = {symbol->type, symbol->lanes, symbol->bytes, NULL};
    char name[ELEMENT_NAME];
    element_name(&type, name);
    printf("%s\n", setter_name(module, symbol));
    print_doc(symbol->doc);
    print_key("function");
    print_setter(symbol);
    print_key("constant");
    printf("%s", symbol->name);
    for (uint32_t d = 0; d < symbol->ndims; d++)
        printf("[%" PRId64 "]", symbol->extents[d]);
    printf(", %s\n", name);
    print_targets(symbol->image, NULL);
    print_key("host");
    printf("%s\n", symbol->cpu_data ? "built" : "not built");
    print_source(symbol->file, symbol->line);
}

int describe_named(const cf_module *module, const char *name, struct message *message)
{
    for (size_t i = 0; i < module->nsymbols; i++)
        if (strcmp(setter_name(module, module->symbols[i]), name) == 0) {
            describe_symbol(module, module->symbols[i]);
            return 0;
        }
    const cf_kernel *kernel, *first = instance_any(module, name, message);
    if (!first)
        return -1;
    for (size_t i = 0; (kernel = cf_kernel_at(module, i)) != NULL; i++)
        if (instance_is_named(module, kernel, name)) {
            printf("%s", kernel == first ? "" : "\n");
            describe_kernel(module, kernel);
        }
    return 0;
}
