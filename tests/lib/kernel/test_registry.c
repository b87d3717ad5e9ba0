/* test_registry.c - lookup of kernels by name, and iteration over bundled kernels and modules made by hand; types. */
#include "run_group.h"

#include <cuferry/kernels.h>
#include <cuferry/registry.h>

/* ---- Types ---- */

TEST(type_name_every_type_is_its_short_name)
{
#define CHECK(name, text, ctype, kind, digits, code) \
    assert_string_equal(cf_type_name(name), text);   \
    assert_int_equal(cf_type_size(name), sizeof(ctype));
    CF_TYPE_LIST(CHECK)
#undef CHECK
    /* A short name is a kind, followed by the number of bits. */
    for (int type = 0; type < CF_TYPE_COUNT; type++) {
        const char *name = cf_type_name((cf_type)type);
        const char kind = cf_type_kind((cf_type)type);
        const int bits = 8 * (int)cf_type_size((cf_type)type);
        if (strchr("iufc", name[0])) {
            assert_int_equal(atoi(name + 1), bits);
            assert_int_equal(name[0], kind);
        }
        if (kind == 'i' || kind == 'u')
            assert_int_equal(cf_type_digits((cf_type)type), bits - (kind == 'i'));
    }
}

TEST(type_name_no_type_is_null)
{
    static const unsigned int none[] = {CF_TYPE_COUNT, CF_TYPE_COUNT + 1, 0x7fffffff};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_null(cf_type_name((cf_type)none[i]));
        assert_int_equal(cf_type_size((cf_type)none[i]), 0);
        assert_int_equal(cf_type_kind((cf_type)none[i]), 0);
        assert_int_equal(cf_type_digits((cf_type)none[i]), 0);
    }
}

/* ---- The bundled kernels ---- */

TEST(registry_bundled_is_this_version)
{
    assert_int_equal(cf_registry.version, CF_REGISTRY_VERSION);
    assert_string_equal(cf_registry.prefix, "cf");
    assert_in_range(cf_registry.count, 10, 100000);
}

TEST(registry_bundled_is_sorted)
{
    for (size_t i = 1; i < cf_registry.count; i++)
        assert_true(strcmp(cf_registry.kernels[i - 1]->name, cf_registry.kernels[i]->name) < 0);
}

TEST(registry_every_descriptor_is_whole)
{
    const cf_kernel *kernel;
    for (size_t i = 0; (kernel = cf_kernel_at(&cf_registry, i)) != NULL; i++) {
        char function[256];
        snprintf(function, sizeof function, "%s_%s", cf_registry.prefix, kernel->name);
        assert_string_equal(kernel->function, function);
        assert_memory_equal(kernel->name, kernel->family, strlen(kernel->family));
        assert_int_equal(kernel->version, CF_REGISTRY_VERSION);
        assert_non_null(strstr(kernel->file, ".cu"));
        assert_true(kernel->file[0] != '/' && kernel->line > 0);
        assert_non_null(kernel->state);
        assert_true(cf_kernel_has_host(kernel));
        assert_true(cf_kernel_is_operation(kernel) ? !kernel->cpu_body && !kernel->image && kernel->nuses
                                                   : kernel->cpu_body && !kernel->nuses);
        if (kernel->image) {
            assert_non_null(kernel->entry);
            assert_true(kernel->image->begin < kernel->image->end);
            assert_true(kernel->image->toolkit >= 12000 && kernel->image->sm[0] != 0);
            assert_non_null(kernel->image->state);
        }
        for (uint32_t p = 0; p < kernel->nparams; p++) {
            const cf_param *param = &kernel->params[p];
            assert_in_range(param->type, 0, CF_TYPE_COUNT - 1);
            assert_int_equal(strchr(param->ctype, '*') != NULL, param->direction != CF_VALUE);
            assert_int_equal(param->ndims > 0, param->direction != CF_VALUE && param->direction != CF_POINTER);
            for (uint32_t d = 0; d < param->ndims; d++)
                assert_true(param->extents[d].text && param->extents[d].ops);
            assert_int_equal(cf_param_find(kernel, param->name), p);
        }
        for (uint32_t c = 0; c < kernel->nchecks; c++) {
            const cf_check *check = &kernel->checks[c];
            assert_non_null(check->text);
            assert_in_range(check->array + 1, 0, kernel->nparams);
            assert_int_equal(check->scan != NULL, check->array >= 0);
            assert_int_equal(check->condition.ops != NULL, check->array < 0);
        }
    }
}

TEST(kernel_find_every_bundled_name_is_found)
{
    for (size_t i = 0; i < cf_registry.count; i++) {
        char name[256]; /* a copy of the name, because the lookup must compare texts and not addresses */
        snprintf(name, sizeof name, "%s", cf_registry.kernels[i]->name);
        assert_ptr_equal(cf_kernel_find(&cf_registry, name), cf_registry.kernels[i]);
    }
    static const char *const known[] = {"gather_f32_i32", "gather_f32_i64", "gather_f64_i32", "gather_f64_i64",
                                        "gather_i32_i32", "gather_i32_i64", "gather_i64_i32", "gather_i64_i64",
                                        "outside_i32",    "outside_i64"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_non_null(cf_kernel_find(&cf_registry, known[i]));
        assert_string_equal(cf_kernel_find(&cf_registry, known[i])->name, known[i]);
    }
}

/* Looks up names that come before and after each existing name, and similar ones. */
TEST(kernel_find_bundled_near_miss_is_null)
{
    assert_null(cf_kernel_find(&cf_registry, NULL));
    assert_null(cf_kernel_find(NULL, "gather_f32_i32"));
    assert_null(cf_kernel_at(NULL, 0));
    assert_int_equal(cf_param_find(NULL, "N"), -1);
    assert_int_equal(cf_param_find(cf_registry.kernels[0], NULL), -1);
    assert_null(cf_kernel_find(&cf_registry, ""));
    assert_null(cf_kernel_find(&cf_registry, " "));
    assert_null(cf_kernel_find(&cf_registry, "~"));
    assert_null(cf_kernel_find(&cf_registry, "\xff\xff"));
    assert_null(cf_kernel_find(&cf_registry, "gather"));
    assert_null(cf_kernel_find(&cf_registry, "cf_gather_f32_i32"));
    assert_null(cf_kernel_find(&cf_registry, "GATHER_F32_I32"));
    for (size_t i = 0; i < cf_registry.count; i++) {
        char name[256];
        size_t length = (size_t)snprintf(name, sizeof name - 1, "%s", cf_registry.kernels[i]->name);
        name[length] = ' ', name[length + 1] = 0;
        assert_null(cf_kernel_find(&cf_registry, name));
        name[length] = 0, name[length - 1]++;
        if (i + 1 == cf_registry.count || strcmp(name, cf_registry.kernels[i + 1]->name) != 0)
            assert_null(cf_kernel_find(&cf_registry, name));
        name[length - 1] = 0;
        assert_null(cf_kernel_find(&cf_registry, name));
    }
}

TEST(kernel_at_past_the_last_is_null)
{
    size_t count = 0;
    for (size_t i = 0; cf_kernel_at(&cf_registry, i); i++) {
        assert_ptr_equal(cf_kernel_at(&cf_registry, i), cf_registry.kernels[i]);
        count++;
    }
    assert_int_equal(count, cf_registry.count);
    assert_null(cf_kernel_at(&cf_registry, cf_registry.count));
    assert_null(cf_kernel_at(&cf_registry, SIZE_MAX));
}

/* ---- Modules made by hand ---- */

#define MOST 33

/* A module whose kernels have two-letter names ab, ad, ... Between any two of them is a name that no kernel has. */
struct made {
    char names[MOST][4];
    cf_kernel kernels[MOST];
    const cf_kernel *pointers[MOST];
    cf_module module;
};

static void make(struct made *made, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t number = 2 * i + 1;
        snprintf(made->names[i], sizeof made->names[i], "%c%c", (int)('a' + number / 26), (int)('a' + number % 26));
        made->kernels[i] = (cf_kernel){.name = made->names[i]};
        made->pointers[i] = &made->kernels[i];
    }
    made->module = (cf_module){CF_REGISTRY_VERSION, "made", count, made->pointers, 0, NULL};
}

TEST(kernel_find_modules_of_every_size_finds_all_and_only_theirs)
{
    struct made made;
    for (size_t count = 0; count <= MOST; count++) {
        make(&made, count);
        for (size_t number = 0; number <= 2 * count; number++) {
            char name[4];
            snprintf(name, sizeof name, "%c%c", (int)('a' + number / 26), (int)('a' + number % 26));
            const cf_kernel *found = cf_kernel_find(&made.module, name);
            assert_ptr_equal(found, number % 2 ? &made.kernels[number / 2] : NULL);
        }
    }
}

TEST(kernel_find_empty_module_is_null)
{
    const cf_module empty = {CF_REGISTRY_VERSION, "none", 0, NULL, 0, NULL};
    assert_null(cf_kernel_find(&empty, "gather_f32_i32"));
    assert_null(cf_kernel_find(&empty, ""));
    assert_null(cf_kernel_at(&empty, 0));
}

TEST(kernel_find_module_of_one_tells_its_neighbours_apart)
{
    const cf_kernel kernel = {.name = "m"};
    const cf_kernel *const kernels[] = {&kernel};
    const cf_module one = {CF_REGISTRY_VERSION, "one", 1, kernels, 0, NULL};
    assert_ptr_equal(cf_kernel_find(&one, "m"), &kernel);
    assert_null(cf_kernel_find(&one, "l"));
    assert_null(cf_kernel_find(&one, "n"));
    assert_null(cf_kernel_find(&one, "mm"));
    assert_null(cf_kernel_find(&one, ""));
    assert_ptr_equal(cf_kernel_at(&one, 0), &kernel);
    assert_null(cf_kernel_at(&one, 1));
}

/* ---- Parameters ---- */

TEST(param_find_names_of_gather_are_numbered)
{
    const cf_kernel *kernel = cf_kernel_find(&cf_registry, "gather_f64_i32");
    assert_non_null(kernel);
    assert_int_equal(kernel->nparams, 5);
    assert_int_equal(cf_param_find(kernel, "source"), 0);
    assert_int_equal(cf_param_find(kernel, "index"), 1);
    assert_int_equal(cf_param_find(kernel, "res"), 2);
    assert_int_equal(cf_param_find(kernel, "N"), 3);
    assert_int_equal(cf_param_find(kernel, "M"), 4);
    assert_int_equal(kernel->params[0].type, CF_F64);
    assert_int_equal(kernel->params[1].type, CF_I32);
    assert_int_equal(kernel->params[2].direction, CF_OUT);
    assert_string_equal(kernel->params[0].ctype, "const double *");
}

TEST(param_find_unknown_name_is_minus_1)
{
    const cf_kernel *kernel = cf_kernel_find(&cf_registry, "gather_f64_i32");
    const cf_kernel bare = {.name = "bare"};
    assert_non_null(kernel);
    assert_int_equal(cf_param_find(kernel, ""), -1);
    assert_int_equal(cf_param_find(kernel, "n"), -1);
    assert_int_equal(cf_param_find(kernel, "sourc"), -1);
    assert_int_equal(cf_param_find(kernel, "sources"), -1);
    assert_int_equal(cf_param_find(&bare, "source"), -1);
}

int main(void)
{
    return run_all_tests(NULL, NULL);
}
