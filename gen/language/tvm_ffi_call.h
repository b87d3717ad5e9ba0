/* tvm_ffi_call.h - the part of a generated file for TVM-FFI that does not depend on kernels. It turns packed arguments
 * into a call through a kernel's descriptor. It follows tvm_ffi_text.h. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cuferry.h>
#include <cuferry/registry.h>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

/* Place of an extent that tells a scalar: extent = factor * scalar + offset. `scalar` and `array` are argument numbers
 * of the C function. */
struct place {
    uint32_t scalar, array, dimension;
    int64_t factor, offset;
};

struct instance {
    const char *key; /* the instance's name in the registry */
    uint32_t nplaces;
    const struct place *places;
};

/* A function for TVM-FFI, which stands for the instances of a family. It has the arguments of the C function except
 * scalars that arrays tell. */
struct family {
    const char *name;
    const cf_module *module;
    uint32_t ninstances;
    const struct instance *instances;
    const uint8_t *is_told; /* 1 for each argument of the C function that an array tells */
};

/* One call. `numbers` and `values` have an entry for each argument of the C function, `args` one for each parameter of
 * the descriptor. */
struct packed_call {
    const struct family *family;
    const cf_kernel *kernel;
    const struct instance *instance;
    uint32_t nargs;
    const DLTensor *tensors[CF__MOST_ARGUMENTS];
    const cf_param *params[CF__MOST_ARGUMENTS];
    union value {
        int64_t integer;
        int32_t i32;
        int16_t i16;
        int8_t i8;
        float f32;
        double f64;
        bool is_true;
        void *pointer;
    } values[CF__MOST_ARGUMENTS];
    void **args;
};

__attribute__((format(printf, 3, 4))) static int fail(const struct family *family, const char *kind, const char *format,
                                                      ...)
{
    char text[1024];
    int length = snprintf(text, sizeof text, "%.400s: ", family->name);
    va_list list;
    va_start(list, format);
    vsnprintf(text + length, sizeof text - (size_t)length, format, list);
    va_end(list);
    return raise_error(kind, text);
}

static int fail_call(int status)
{
    return raise_error(status == CF_EINVAL || status == CF_ERANGE ? "ValueError"
                       : status == CF_EOVERFLOW                   ? "OverflowError"
                       : status == CF_ENOMEM                      ? "MemoryError"
                       : status == CF_ENOTSUP                     ? "NotImplementedError"
                                                                  : "RuntimeError",
                       cf_last_error());
}

static const DLTensor *find_tensor(const TVMFFIAny *any)
{
    if (any->type_index == kTVMFFIDLTensorPtr)
        return any->v_ptr;
    return any->type_index == kTVMFFITensor ? (const DLTensor *)(any->v_obj + 1) : NULL;
}

static int is_packed(const DLTensor *tensor)
{
    int64_t size = 1;
    for (int i = 0; i < tensor->ndim; i++)
        if (tensor->shape[i] == 0)
            return 1;
    for (int i = tensor->ndim; tensor->strides && i-- > 0; size *= tensor->shape[i])
        if (tensor->shape[i] != 1 && tensor->strides[i] != size)
            return 0;
    return 1;
}

/* Returns the type of a tensor's elements. */
static cf_type type_of(DLDataType type)
{
    int known = 0;
    while (known < CF_TYPE_COUNT &&
           (cf_type_code((cf_type)known) != type.code || cf_type_size((cf_type)known) * 8 != type.bits))
        known++;
    return (cf_type)known;
}

/* True for complex elements whose two parts are a vector's components: complex64 for float2. */
static int is_pair(const DLTensor *tensor, const cf_param *param)
{
    cf_type type = type_of(tensor->dtype);
    return param->lanes == 2 && tensor->dtype.lanes == 1 &&
           ((type == CF_C64 && param->type == CF_F32) || (type == CF_C128 && param->type == CF_F64));
}

/* True if a tensor has elements of a parameter's type. A vector's components are the last dimension, or lanes of the
 * tensor's type. */
static int has_type(const DLTensor *tensor, const cf_param *param)
{
    if (is_pair(tensor, param))
        return 1;
    if (type_of(tensor->dtype) != param->type)
        return 0;
    return tensor->dtype.lanes == param->lanes ||
           (tensor->dtype.lanes == 1 && tensor->ndim > 0 && tensor->shape[tensor->ndim - 1] == param->lanes);
}

/* Returns the first fault of a tensor's fields as a text; NULL if they have none. */
static const char *find_damage(const DLTensor *tensor)
{
    uint64_t end, bytes = tensor->dtype.bits / 8 * (uint64_t)tensor->dtype.lanes;
    int is_empty = 0;
    if (tensor->ndim < 0 || tensor->ndim > 64 || (tensor->ndim && !tensor->shape))
        return "has no valid number of dimensions or no shape";
    for (int d = 0; d < tensor->ndim; d++) {
        if (tensor->shape[d] < 0)
            return "has a negative extent";
        is_empty |= !tensor->shape[d];
    }
    for (int d = 0; d < tensor->ndim && !is_empty; d++)
        if (__builtin_mul_overflow(bytes, (uint64_t)tensor->shape[d], &bytes))
            return "has more bytes than there are addresses";
    if (!is_empty && !tensor->data)
        return "has a NULL pointer";
    if (__builtin_add_overflow((uintptr_t)tensor->data, tensor->byte_offset, &end) ||
        (!is_empty && __builtin_add_overflow(end, bytes, &end)))
        return "ends beyond the last address";
    return NULL;
}

static int64_t count_elements(const DLTensor *tensor, int ndims)
{
    int64_t count = 1;
    for (int d = 0; d < ndims; d++)
        if (!tensor->shape[d])
            return 0;
    for (int d = 0; d < ndims; d++)
        count *= tensor->shape[d];
    return count;
}

/* Returns the number of dimensions without that of a vector's components. */
static int rank_of(const DLTensor *tensor, const cf_param *param)
{
    return tensor->ndim - (param->lanes != tensor->dtype.lanes && !is_pair(tensor, param));
}

static void use_instance(struct packed_call *call, const struct instance *instance)
{
    call->instance = instance;
    call->kernel = cf_kernel_find(call->family->module, instance->key);
    call->nargs = 0;
    for (uint32_t i = 0; i < call->kernel->nparams; i++) {
        const cf_param *param = call->kernel->params + i;
        call->args[i] = NULL;
        if (param->direction == CF_SCRATCH)
            continue;
        call->args[i] = call->values + call->nargs;
        call->params[call->nargs++] = param;
    }
}

/* Chooses the instance for the tensors' types; refuses the call if none or several fit. */
static int choose_instance(struct packed_call *call)
{
    const struct instance *found = NULL;
    char names[400] = "";
    uint32_t furthest = 0, count = 0;
    for (uint32_t i = 0; i < call->family->ninstances; i++) {
        uint32_t k = 0;
        use_instance(call, call->family->instances + i);
        while (k < call->nargs && (!call->tensors[k] || has_type(call->tensors[k], call->params[k])))
            k++;
        furthest = k > furthest ? k : furthest;
        if (k < call->nargs)
            continue;
        size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, "%s%s", count++ ? ", " : "", call->instance->key);
        found = call->instance;
    }
    if (count > 1)
        return fail(call->family, "TypeError", "several instances take these tensors; call one of %s", names);
    if (found) {
        use_instance(call, found);
        return 0;
    }
    DLDataType type = call->tensors[furthest]->dtype;
    static const char *const codes[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
    return fail(call->family, "TypeError", "%s has elements of the type %s%d, and not %s", call->params[furthest]->name,
                type.code < 7 ? codes[type.code] : "DLPack's ", type.bits,
                call->family->ninstances > 1 ? "of an instance" : call->params[furthest]->ctype);
}

/* Sets an integer argument. `of` is the tensor from whose size the integer follows, or NULL. */
static int set_integer(struct packed_call *call, uint32_t k, int64_t integer, const cf_param *of)
{
    const cf_param *param = call->params[k];
    union value *value = call->values + k;
    int is_unsigned = cf_type_kind(param->type) == 'u';
    int64_t half = param->bytes < 8 ? INT64_C(1) << (8 * param->bytes - 1) : 0;
    int64_t low = is_unsigned ? 0 : half ? -half : INT64_MIN;
    int64_t high = !half ? INT64_MAX : is_unsigned ? 2 * half - 1 : half - 1;
    if (integer < low || integer > high)
        return fail(call->family, "OverflowError", "%s%s%s = %lld does not fit %s", param->name, of ? " of " : "",
                    of ? of->name : "", (long long)integer, param->ctype);
    switch (param->bytes) {
    case 1:
        value->i8 = (int8_t)integer;
        return 0;
    case 2:
        value->i16 = (int16_t)integer;
        return 0;
    case 4:
        value->i32 = (int32_t)integer;
        return 0;
    default:
        value->integer = integer;
        return 0;
    }
}

/* Returns the double nearest to a long integer. It is rounded from the highest 128 bits, the lowest of which is set if
 * any lower bit is. */
static double round_big(const struct big *big)
{
    __extension__ typedef unsigned __int128 bits;
    __extension__ typedef __int128 integer;
    uint64_t rest = 0;
    size_t n = big->nwords;
    for (size_t i = 0; i + 2 < n; i++)
        rest |= big->words[i];
    bits top = (bits)big->words[n - 1] << 64 | (n > 1 ? big->words[n - 2] : 0) | (rest != 0);
    return ldexp((double)(integer)top, n > 1100 ? 1 << 20 : 64 * ((int)n - 2));
}

static int read_scalar(struct packed_call *call, uint32_t k, const TVMFFIAny *any)
{
    const cf_param *param = call->params[k];
    union value *value = call->values + k;
    const struct big *big = find_big(any);
    char text[120];
    struct text type;
    int is_integer = any->type_index == kTVMFFIInt || any->type_index == kTVMFFIBool;
    int is_float = param->type == CF_F32 || param->type == CF_F64;
    if (!is_integer && !big && !(is_float && any->type_index == kTVMFFIFloat))
        return fail(call->family, "TypeError", "%s%s is %s, and no %s", param->name, spell(any, text, sizeof text),
                    name_type(any, &type),
                    is_float                 ? "number"
                    : param->type == CF_BOOL ? "bool"
                                             : "integer");
    if (is_float) {
        double real = is_integer ? (double)any->v_int64 : big ? round_big(big) : any->v_float64;
        value->f64 = real;
        if (param->type == CF_F32)
            value->f32 = (float)real;
        if ((big && isinf(real)) || (param->type == CF_F32 && isinf(value->f32) && !isinf(real)))
            return fail(call->family, "OverflowError", "%s%s does not fit %s", param->name,
                        spell(any, text, sizeof text), param->ctype);
        return 0;
    }
    if (big && param->type == CF_U64 && big->nwords == 2 && !big->words[1])
        value->integer = (int64_t)big->words[0];
    else if (big || (param->type == CF_BOOL && any->v_int64 != 0 && any->v_int64 != 1))
        return fail(call->family, "OverflowError", "%s%s does not fit %s", param->name, spell(any, text, sizeof text),
                    param->ctype);
    else if (param->type == CF_BOOL)
        value->is_true = any->v_int64 != 0;
    else
        return set_integer(call, k, any->v_int64, NULL);
    return 0;
}

static int read_scalars(struct packed_call *call, const TVMFFIAny *args)
{
    for (uint32_t k = 0, at = 0; k < call->nargs; k++) {
        if (call->family->is_told[k])
            continue;
        if (!call->tensors[k]) {
            if (read_scalar(call, k, args + at))
                return -1;
        }
        at++;
    }
    for (uint32_t i = 0; i < call->instance->nplaces; i++) {
        const struct place *place = call->instance->places + i;
        const DLTensor *tensor = call->tensors[place->array];
        const cf_param *param = call->params[place->array];
        int rank = rank_of(tensor, param);
        int64_t extent = 1;
        if (param->ndims == 1)
            extent = count_elements(tensor, rank);
        else if (rank == (int)param->ndims)
            extent = tensor->shape[place->dimension];
        else
            return fail(call->family, "ValueError", "%s has %d dimensions, and not %u", param->name, rank,
                        param->ndims);
        if (extent < place->offset || (extent - place->offset) % place->factor)
            return fail(call->family, "ValueError", "%s has the extent %lld, which %s does not allow", param->name,
                        (long long)extent, param->extents[place->dimension].text);
        if (set_integer(call, place->scalar, (extent - place->offset) / place->factor, param))
            return -1;
    }
    return 0;
}

/* Compares a tensor's shape with the section that the annotation declares. */
static int check_shape(struct packed_call *call, uint32_t k)
{
    const DLTensor *tensor = call->tensors[k];
    const cf_param *param = call->params[k];
    int rank = rank_of(tensor, param);
    int64_t size = count_elements(tensor, rank), count = 1;
    for (uint32_t d = 0; d < param->ndims; d++) {
        int64_t lower = 0, extent = 0;
        const cf_expr *pitch = d && param->pitches && param->pitches[d].ops ? param->pitches + d : param->extents + d;
        int status = cf_kernel_evaluate(call->kernel, pitch->ops, SIZE_MAX, call->args, &extent);
        if (!status && pitch == param->extents + d && param->lowers && param->lowers[d].ops)
            status = cf_kernel_evaluate(call->kernel, param->lowers[d].ops, SIZE_MAX, call->args, &lower);
        if (status)
            return fail_call(status);
        if (__builtin_add_overflow(extent, lower, &extent) || __builtin_mul_overflow(count, extent, &count))
            return fail(call->family, "OverflowError", "the elements of %s cannot be counted", param->name);
        if (rank == (int)param->ndims && rank > 1 && tensor->shape[d] != extent)
            return fail(call->family, "ValueError", "%s has the extent %lld in dimension %u, and not %s = %lld",
                        param->name, (long long)tensor->shape[d], d, param->extents[d].text, (long long)extent);
    }
    if (size != count)
        return fail(call->family, "ValueError", "%s has %lld elements, and not %lld", param->name, (long long)size,
                    (long long)count);
    return 0;
}

static int check_tensors(struct packed_call *call, DLDevice *device)
{
    const cf_param *first = NULL;
    for (uint32_t k = 0; k < call->nargs; k++) {
        const DLTensor *tensor = call->tensors[k];
        if (!tensor)
            continue;
        const char *name = call->params[k]->name;
        int is_gpu = tensor->device.device_type == kDLCUDA || tensor->device.device_type == kDLCUDAManaged;
        if (!is_gpu && tensor->device.device_type != kDLCPU && tensor->device.device_type != kDLCUDAHost)
            return fail(call->family, "ValueError", "%s is on a device of DLPack's kind %d, neither CPU nor CUDA", name,
                        (int)tensor->device.device_type);
        DLDevice place = {is_gpu ? kDLCUDA : kDLCPU, is_gpu ? tensor->device.device_id : 0};
        if (first && (place.device_type != device->device_type || place.device_id != device->device_id))
            return fail(call->family, "ValueError", "%s and %s are on different devices", first->name, name);
        first = first ? first : call->params[k];
        *device = place;
        if (!is_packed(tensor))
            return fail(call->family, "ValueError", "%s is not contiguous in C order", name);
        if (call->params[k]->ndims && check_shape(call, k))
            return -1;
        call->values[k].pointer = (char *)tensor->data + tensor->byte_offset;
    }
    return 0;
}

static int enqueue(struct packed_call *call, DLDevice device)
{
    int count, place;
    cf_stream stream = TVMFFIEnvGetStream(kDLCUDA, device.device_id);
    int status = cf_device_count(&count);
    if (!status && !count)
        return fail(call->family, "ValueError", "the tensors are on a GPU, and the library runs on the CPU");
    if (!status)
        status = cf_stream_device(stream, &place);
    if (!status && place != device.device_id)
        return fail(call->family, "ValueError", "the tensors are on GPU %d, and the stream is on %d", device.device_id,
                    place);
    if (!status)
        status = cf_launch(call->kernel, stream, call->args);
    return status ? fail_call(status) : 0;
}

static int call_family(const struct family *family, const TVMFFIAny *args, int32_t count, TVMFFIAny *result)
{
    void *pointers[cf_kernel_find(family->module, family->instances->key)->nparams + 1];
    struct packed_call call = {.family = family, .args = pointers};
    uint32_t wanted = 0;
    use_instance(&call, family->instances);
    for (uint32_t k = 0; k < call.nargs; k++)
        wanted += !family->is_told[k];
    if (count != (int32_t)wanted)
        return fail(family, "TypeError", "%u arguments are needed, and %d were passed", wanted, count);
    for (uint32_t k = 0, at = 0; k < call.nargs; k++) {
        if (family->is_told[k])
            continue;
        if (call.params[k]->direction != CF_VALUE) {
            struct text type;
            call.tensors[k] = find_tensor(args + at);
            if (!call.tensors[k])
                return fail(family, "TypeError", "%s is no tensor but %s", call.params[k]->name,
                            name_type(args + at, &type));
            const char *damage = find_damage(call.tensors[k]);
            if (damage)
                return fail(family, "ValueError", "%s %s", call.params[k]->name, damage);
        }
        at++;
    }
    DLDevice device = {kDLCPU, 0};
    if (choose_instance(&call) || read_scalars(&call, args) || check_tensors(&call, &device))
        return -1;
    if (device.device_type == kDLCUDA) {
        if (enqueue(&call, device))
            return -1;
    } else {
        int status = cf_call(call.kernel, call.args);
        if (status)
            return fail_call(status);
    }
    result->type_index = kTVMFFINone;
    result->zero_padding = 0;
    result->v_int64 = 0;
    return 0;
}
