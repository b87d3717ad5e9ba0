/* program_compile.c - creates programs from CUDA C++, and from the inputs of a link. */
#include <cuferry.h>
#include <cuferry/program.h>

#include "program/cfcc.h"
#include "program/compile.h"
#include "program/link.h"
#include "program/program.h"

#include "base/error.h"

/* Writes the compute capability of the calling thread's GPU and the CUDA version of its driver. If the device is
 * CF_HOST, fails with the text `advice`; if `advice` is NULL, succeeds and writes nothing. */
static int ask_device(struct cf__request *request, const char *advice)
{
    int64_t capability, driver;
    int device, status = cf_device_current(&device);
    if (status == CF_OK && device == CF_HOST)
        return advice
                   ? cf__fail(CF_ENOTSUP, "%s: the calling thread's device is CF_HOST: %s", request->function, advice)
                   : CF_OK;
    if (status == CF_OK)
        status = cf_device_property(device, CF_PROPERTY_CAPABILITY, &capability);
    if (status == CF_OK)
        status = cf_device_property(device, CF_PROPERTY_DRIVER, &driver);
    if (status != CF_OK)
        return cf__fail_within(request->function, status);
    request->capability = (int)capability;
    request->driver = (int)driver;
    return CF_OK;
}

static const cf_program_options defaults;

int cf_program_compile(cf_program **program, const char *source, const char *name, const cf_program_options *options)
{
    struct cf__compiled compiled = {0};
    struct cf__request request = {.function = "cf_program_compile",
                                  .source = source,
                                  .name = name ? name : "program.cu",
                                  .options = options ? options : &defaults};
    int status = cf__program_begin("cf_program_compile", program);
    if (status == CF_OK && !source)
        status = cf__fail(CF_EINVAL, "cf_program_compile: source is NULL");
    if (status == CF_OK && !*request.name)
        status = cf__fail(CF_EINVAL, "cf_program_compile: name is empty; NULL stands for program.cu");
    const int is_annotated = status == CF_OK && cf__cfcc_takes(source);
    if (status == CF_OK)
        status = ask_device(&request, is_annotated ? NULL
                                                   : "NVRTC compiles for GPUs; for the CPU, annotate the kernels with "
                                                     "#pragma cf kernel, and name cfcc in options.cfcc or CF_CFCC");
    if (status == CF_OK && is_annotated)
        return cf__cfcc_compile(&request, program);
    if (status == CF_OK)
        status = cf__compile_source(&request, &compiled);
    return status == CF_OK ? cf__program_adopt("cf_program_compile", &compiled, program)
                           : cf__program_drop(&compiled, status);
}

int cf_program_link(cf_program **program, const cf_program_input *inputs, size_t count,
                    const cf_program_options *options)
{
    struct cf__compiled compiled = {0};
    struct cf__request request = {.function = "cf_program_link", .options = options ? options : &defaults};
    int status = cf__program_begin("cf_program_link", program);
    if (status == CF_OK && !inputs)
        status = cf__fail(CF_EINVAL, "cf_program_link: inputs is NULL");
    if (status == CF_OK)
        status = ask_device(&request, "nvJitLink links for GPUs");
    if (status == CF_OK)
        status = cf__link_inputs(&request, inputs, count, &compiled);
    return status == CF_OK ? cf__program_adopt("cf_program_link", &compiled, program)
                           : cf__program_drop(&compiled, status);
}
