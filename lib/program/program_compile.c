/* program_compile.c - makes programs of CUDA C++. */
#include <cuferry.h>
#include <cuferry/program.h>

#include "program/compile.h"
#include "program/program.h"

#include "base/error.h"

/* Writes the capability of the calling thread's GPU, and the CUDA version of its driver. */
static int ask_device(struct cf__request *request)
{
    int64_t capability, driver;
    int device, status = cf_device_current(&device);
    if (status == CF_OK && device == CF_HOST)
        return cf__fail(CF_ENOTSUP, "cf_program_compile: NVRTC compiles for a GPU, and the calling thread's device is "
                                    "CF_HOST");
    if (status == CF_OK)
        status = cf_device_property(device, CF_PROPERTY_CAPABILITY, &capability);
    if (status == CF_OK)
        status = cf_device_property(device, CF_PROPERTY_DRIVER, &driver);
    if (status != CF_OK)
        return cf__fail_within("cf_program_compile", status);
    request->capability = (int)capability;
    request->driver = (int)driver;
    return CF_OK;
}

int cf_program_compile(cf_program **program, const char *source, const char *name, const cf_program_options *options)
{
    static const cf_program_options defaults;
    struct cf__compiled compiled = {0};
    struct cf__request request = {.function = "cf_program_compile",
                                  .source = source,
                                  .name = name ? name : "program.cu",
                                  .options = options ? options : &defaults};
    if (!program)
        return cf__fail(CF_EINVAL, "cf_program_compile: program is NULL");
    *program = NULL;
    if (!source)
        return cf__fail(CF_EINVAL, "cf_program_compile: source is NULL");
    int status = ask_device(&request);
    if (status == CF_OK)
        status = cf__compile(&request, &compiled);
    return status == CF_OK ? cf__program_adopt("cf_program_compile", &compiled, program)
                           : cf__program_drop(&compiled, status);
}
