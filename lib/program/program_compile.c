/* program_compile.c - makes programs of CUDA C++. */
#include <string.h>

#include <cuferry.h>
#include <cuferry/program.h>
#include <cuferry/program_options.h>

#include "program/compile.h"
#include "program/program.h"

#include "base/error.h"

/* Lets the name expressions stand for their lowered names. */
static int add_names(cf_program *program, const cf_program_options *options, const char *lowered)
{
    int status = CF_OK;
    for (const char *const *name = options->names; name && *name && status == CF_OK; name++) {
        status = cf__program_add_alias("cf_program_compile", program, *name, lowered);
        lowered += strlen(lowered) + 1;
    }
    return status;
}

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
    if (status != CF_OK)
        return status;
    status = cf__compile(&request, &compiled);
    if (status == CF_OK) {
        status = cf__program_adopt("cf_program_compile", (unsigned char *)compiled.image, compiled.bytes, compiled.log,
                                   program);
        compiled.image = compiled.log = NULL; /* are the program's */
    } else {
        cf__program_keep_log(compiled.log);
        compiled.log = NULL;
    }
    if (status == CF_OK)
        status = add_names(*program, request.options, compiled.names);
    if (status != CF_OK && *program && cf_program_unload(*program) == CF_OK)
        *program = NULL;
    cf__compiled_free(&compiled);
    return status;
}
