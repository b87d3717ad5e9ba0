/* array_table.c - fills the compact table of a kernel's arrays. */
#include <stdint.h>

#include <cuferry/registry.h>

#include "model/array_table.h"

#include "model/descriptor.h"
#include "model/overlap.h"

/* Returns 0 if the array is too complex for the table. */
static int describe_array(const cf_kernel *kernel, uint32_t i, struct cf__table_array *array)
{
    const cf_param *param = &kernel->params[i];
    if (!cf__is_array(param) || param->ndims != 1 || (param->lowers && param->lowers[0].ops) || param->align > 128)
        return 0;
    const cf_op *ops = param->extents[0].ops;
    if (!ops || ops[0].code != CF_OP_PARAM || ops[1].code != CF_OP_END || i > UINT8_MAX || ops[0].operand > UINT8_MAX)
        return 0;
    cf_type type = kernel->params[ops[0].operand].type;
    *array = (struct cf__table_array){.pointer = (uint8_t)i,
                                      .extent = (uint8_t)ops[0].operand,
                                      .is_wide = type == CF_I64,
                                      .mask = (uint16_t)(param->align > 1 ? param->align - 1 : 0) & 127,
                                      .bytes = param->bytes};
    return type == CF_I64 || type == CF_I32;
}

void cf__array_table_fill(const cf_kernel *kernel, struct cf__array_table *table)
{
    *table = (struct cf__array_table){.count = 0};
    for (uint32_t i = 0; i < kernel->nparams && table->count >= 0; i++) {
        if (kernel->params[i].direction == CF_VALUE)
            continue;
        struct cf__table_array *array = &table->arrays[table->count];
        int is_described = table->count < CF__TABLE_ARRAYS && describe_array(kernel, i, array);
        for (int j = 0; is_described && j < table->count; j++) {
            enum cf__sharing sharing = cf__sharing_of(kernel, i, table->arrays[j].pointer);
            int is_alike = sharing == CF__SHARE_ALL && table->arrays[j].bytes == array->bytes;
            array->apart |= (uint16_t)((sharing != CF__SHARE_ANY) << j) & 15;
            array->in_place |= (uint16_t)(is_alike << j) & 15;
        }
        table->count = (int8_t)(is_described ? table->count + 1 : -1);
    }
    for (uint32_t i = 0; i < kernel->nchecks; i++)
        table->has_element_checks |= kernel->checks[i].array >= 0;
}
