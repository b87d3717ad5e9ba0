/* stream.c - streams: the driver's own. */
#include "internal.h"

int cf_stream_create(cf_stream *stream)
{
    if (!stream)
        return cf__fail(CF_EINVAL, "cf_stream_create: stream is NULL");
    struct cf__place place;
    int status = cf__enter(&place, "cf_stream_create", NULL);
    if (status != CF_OK)
        return status;
    CUstream made;
    CUresult result = place.driver->cuStreamCreate(&made, CU_STREAM_NON_BLOCKING);
    if (result == CUDA_SUCCESS)
        *stream = made;
    else
        status = cf__fail_driver(place.driver, result, "cuStreamCreate", "cf_stream_create");
    cf__leave(&place);
    return status;
}

int cf_stream_destroy(cf_stream stream)
{
    if (!stream)
        return CF_OK;
    if (stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD)
        return cf__fail(CF_EINVAL, "cf_stream_destroy: a default stream cannot be destroyed");
    struct cf__place place;
    int status = cf__enter(&place, "cf_stream_destroy", stream);
    if (status != CF_OK)
        return status;
    CUresult result = place.driver->cuStreamDestroy(stream);
    if (result != CUDA_SUCCESS)
        status = cf__fail_driver(place.driver, result, "cuStreamDestroy", "cf_stream_destroy");
    cf__leave(&place);
    return status;
}

int cf_stream_sync(cf_stream stream)
{
    struct cf__place place;
    int status = cf__enter(&place, "cf_stream_sync", stream);
    if (status != CF_OK)
        return status;
    CUresult result = place.driver->cuStreamSynchronize(stream);
    if (result != CUDA_SUCCESS)
        status = cf__fail_driver(place.driver, result, "cuStreamSynchronize", "cf_stream_sync");
    else
        cf__note_waited(&place, stream);
    cf__leave(&place);
    return status;
}

int cf_stream_query(cf_stream stream)
{
    struct cf__place place;
    int status = cf__enter(&place, "cf_stream_query", stream);
    if (status != CF_OK)
        return status;
    CUresult result = place.driver->cuStreamQuery(stream);
    if (result == CUDA_ERROR_NOT_READY)
        status = CF_ENOTREADY;
    else if (result != CUDA_SUCCESS)
        status = cf__fail_driver(place.driver, result, "cuStreamQuery", "cf_stream_query");
    else
        cf__note_waited(&place, stream);
    cf__leave(&place);
    return status;
}

int cf_stream_wait(cf_stream stream, cf_event event)
{
    if (!event)
        return cf__fail(CF_EINVAL, "cf_stream_wait: event is NULL");
    struct cf__place place;
    int status = cf__enter(&place, "cf_stream_wait", stream);
    if (status != CF_OK)
        return status;
    if (cf__host_owns(event) && !place.driver->is_host) {
        status = cf_event_query(event); /* work on the CPU is done already, where the event is one */
    } else if (!cf__host_owns(event) && place.driver->is_host) {
        status = cf_event_sync(event); /* work on the CPU runs at once, so it has to wait here */
    } else {
        CUresult result = place.driver->cuStreamWaitEvent(stream, event, 0);
        if (result != CUDA_SUCCESS)
            status = cf__fail_driver(place.driver, result, "cuStreamWaitEvent", "cf_stream_wait");
    }
    cf__leave(&place);
    return status;
}
