// interop_cuda.cu - the library together with other users of CUDA in one process: foreign contexts, the CUDA
// runtime, cuBLAS, captures, threads, a second GPU. Each call of the library leaves the thread's current context
// and the runtime's last error unchanged. Built and run by tools/dev/gpu-check.
//
// usage: interop_cuda [SCENARIO]      without one, each runs in its own process, and the results are TAP
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>

#include <cuferry.h>
#include <cuferry/kernels.h>
#include <cuferry/registry.h>

#include "../../tools/peers/cublas.h"
#include "../../tools/data/random.h"

namespace
{

// ---- Ending a scenario ----

enum { FAILED = 1, SKIPPED = 77 };

[[noreturn]] void finish(int code, const std::string &why)
{
    std::printf("%s\n", why.c_str());
    std::fflush(stdout);
    _exit(code); // other threads may still be running
}

void expect_at(int line, bool holds, const std::string &what)
{
    if (!holds)
        finish(FAILED, "line " + std::to_string(line) + ": " + what);
}
#define EXPECT(condition) expect_at(__LINE__, condition, #condition)

void cuda_at(int line, cudaError_t error, const char *call)
{
    expect_at(line, error == cudaSuccess, std::string(call) + ": " + cudaGetErrorString(error));
}
#define CUDA(call) cuda_at(__LINE__, call, #call)

void cu_at(int line, CUresult result, const char *call)
{
    const char *text = "?";
    (void)cuGetErrorString(result, &text);
    expect_at(line, result == CUDA_SUCCESS, std::string(call) + ": " + text);
}
#define CU(call) cu_at(__LINE__, call, #call)

CUcontext current_context()
{
    CUcontext context = nullptr;
    return cuCtxGetCurrent(&context) == CUDA_SUCCESS ? context : nullptr;
}

// False if the scenario does not use the runtime: querying its last error might initialize it.
bool uses_runtime = true;

// Calls the library, and expects that it changes neither the current context nor the runtime's last error.
template <typename Call> int cf_at(int line, const char *text, Call call)
{
    CUcontext before = current_context();
    cudaError_t error = uses_runtime ? cudaPeekAtLastError() : cudaSuccess;
    int status = call();
    expect_at(line, current_context() == before, std::string(text) + " changed the current context");
    expect_at(line, !uses_runtime || cudaPeekAtLastError() == error,
              std::string(text) + " changed the runtime's error");
    return status;
}
#define CF_STATUS(call) cf_at(__LINE__, #call, [&] { return call; })
#define CF(call)                                                                                 \
    do {                                                                                         \
        int status_ = CF_STATUS(call);                                                           \
        expect_at(__LINE__, status_ == CF_OK,                                                    \
                  std::string(#call) + ": " + cf_status_name(status_) + ": " + cf_last_error()); \
    } while (0)

// ---- The work: a gather with a known result ----

constexpr int64_t n = 1 << 16, m = 1 << 18;

struct Work {
    std::vector<float> source, result, expected;
    std::vector<int32_t> index;
    explicit Work(uint64_t seed) : source(m), result(n), expected(n), index(n)
    {
        for (int64_t i = 0; i < m; i++)
            source[i] = random_f32(seed, (uint64_t)i);
        for (int64_t i = 0; i < n; i++) {
            index[i] = (int32_t)random_integer(seed + 1, (uint64_t)i, 0, m);
            expected[i] = source[index[i]];
        }
        poison();
    }
    void poison()
    {
        std::memset(result.data(), 0xA5, n * sizeof(float));
    }
    bool is_right() const
    {
        return std::memcmp(result.data(), expected.data(), n * sizeof(float)) == 0;
    }
};

struct Pointers {
    float *source, *result;
    int32_t *index;
};

// Uploads the inputs, and poison for the result. It uses only the driver, so that it works in any context and does not
// depend on the code under test.
void upload(const Work &work, const Pointers &at)
{
    std::vector<unsigned char> bytes(n * sizeof(float), 0xA5);
    CU(cuMemcpy((CUdeviceptr)at.source, (CUdeviceptr)work.source.data(), m * sizeof(float)));
    CU(cuMemcpy((CUdeviceptr)at.index, (CUdeviceptr)work.index.data(), n * sizeof(int32_t)));
    CU(cuMemcpy((CUdeviceptr)at.result, (CUdeviceptr)bytes.data(), n * sizeof(float)));
    CU(cuStreamSynchronize(nullptr));
}

void download(int line, Work &work, const Pointers &at)
{
    work.poison();
    CU(cuMemcpy((CUdeviceptr)work.result.data(), (CUdeviceptr)at.result, n * sizeof(float)));
    expect_at(line, work.is_right(), "the result is right");
}
#define DOWNLOAD(work, at) download(__LINE__, work, at)

Pointers of_runtime()
{
    Pointers at;
    CUDA(cudaMalloc((void **)&at.source, m * sizeof(float)));
    CUDA(cudaMalloc((void **)&at.index, n * sizeof(int32_t)));
    CUDA(cudaMalloc((void **)&at.result, n * sizeof(float)));
    return at;
}

void free_runtime(const Pointers &at)
{
    CUDA(cudaFree(at.source));
    CUDA(cudaFree(at.index));
    CUDA(cudaFree(at.result));
}

Pointers of_driver()
{
    CUdeviceptr source, index, result;
    CU(cuMemAlloc(&source, m * sizeof(float)));
    CU(cuMemAlloc(&index, n * sizeof(int32_t)));
    CU(cuMemAlloc(&result, n * sizeof(float)));
    return {(float *)source, (float *)result, (int32_t *)index};
}

void free_driver(const Pointers &at)
{
    CU(cuMemFree((CUdeviceptr)at.source));
    CU(cuMemFree((CUdeviceptr)at.index));
    CU(cuMemFree((CUdeviceptr)at.result));
}

Pointers of_library()
{
    Pointers at;
    CF(cf_mem_alloc((void **)&at.source, m * sizeof(float)));
    CF(cf_mem_alloc((void **)&at.index, n * sizeof(int32_t)));
    CF(cf_mem_alloc((void **)&at.result, n * sizeof(float)));
    return at;
}

void free_library(const Pointers &at)
{
    CF(cf_mem_free(at.source));
    CF(cf_mem_free(at.index));
    CF(cf_mem_free(at.result));
}

CUcontext context_of(const void *pointer)
{
    CUcontext context = nullptr;
    CU(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, (CUdeviceptr)pointer));
    return context;
}

// Copies the index, but only after some milliseconds. Work that does not wait for it reads zeros.
__global__ void late_copy(const int32_t *from, int32_t *to, int64_t count)
{
    long long begin = clock64();
    while (clock64() - begin < 4000000)
        ;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * blockDim.x)
        to[i] = from[i];
}

__global__ void runtime_gather(const float *source, const int32_t *index, float *result, int64_t count)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        result[i] = source[index[i]];
}

// ---- The CUDA runtime ----

// Synchronous and asynchronous calls in a stream of any kind, between work of the runtime and a copy in the same
// stream.
void use_stream(cudaStream_t stream, Work &work, const Pointers &at, int32_t *late)
{
    upload(work, at);
    CUDA(cudaMemset(late, 0, n * sizeof(int32_t)));
    CUDA(cudaDeviceSynchronize());
    late_copy<<<8, 256, 0, stream>>>(at.index, late, n);
    CF(cf_gather_async(stream, at.source, late, at.result, n, m));
    work.poison();
    CUDA(cudaMemcpyAsync(work.result.data(), at.result, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
    CF(cf_stream_sync(stream));
    EXPECT(cudaStreamQuery(stream) == cudaSuccess);
    EXPECT(work.is_right());
}

void runtime_first()
{
    CUDA(cudaSetDevice(0));
    Work work(1);
    Pointers at = of_runtime();
    int32_t *late;
    CUDA(cudaMalloc((void **)&late, n * sizeof(int32_t)));
    upload(work, at);
    CF(cf_gather(at.source, at.index, at.result, n, m));
    DOWNLOAD(work, at);

    cudaStream_t blocking, other, urgent;
    int least, greatest;
    CUDA(cudaStreamCreate(&blocking));
    CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CUDA(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
    cf_stream ours;
    CF(cf_stream_create(&ours));
    for (cudaStream_t stream :
         {blocking, other, urgent, (cudaStream_t)ours, (cudaStream_t) nullptr, cudaStreamLegacy, cudaStreamPerThread})
        use_stream(stream, work, at, late);

    // The synchronous call is ordered like work in the default stream: after that stream and blocking streams.
    for (cudaStream_t stream : {blocking, (cudaStream_t) nullptr}) {
        upload(work, at);
        CUDA(cudaMemset(late, 0, n * sizeof(int32_t)));
        CUDA(cudaDeviceSynchronize());
        late_copy<<<8, 256, 0, stream>>>(at.index, late, n);
        CF(cf_gather(at.source, late, at.result, n, m));
        DOWNLOAD(work, at);
    }

    // Records and waits for events of both sides in streams of both sides.
    cudaEvent_t event;
    cf_event mark;
    CUDA(cudaEventCreate(&event));
    CF(cf_event_create(&mark));
    upload(work, at);
    CUDA(cudaMemset(late, 0, n * sizeof(int32_t)));
    CUDA(cudaDeviceSynchronize());
    late_copy<<<8, 256, 0, other>>>(at.index, late, n);
    CUDA(cudaEventRecord(event, other));
    CF(cf_stream_wait(ours, event));
    CF(cf_gather_async(ours, at.source, late, at.result, n, m));
    CF(cf_event_record(mark, ours));
    CUDA(cudaStreamWaitEvent(urgent, mark, 0));
    work.poison();
    CUDA(cudaMemcpyAsync(work.result.data(), at.result, n * sizeof(float), cudaMemcpyDeviceToHost, urgent));
    CUDA(cudaStreamSynchronize(urgent));
    EXPECT(work.is_right());
    CF(cf_event_sync(event));
    CF(cf_event_destroy(mark));
    CUDA(cudaEventDestroy(event));

    // The library does not take over an error of the runtime.
    void *too_much;
    EXPECT(cudaMalloc(&too_much, (size_t)1 << 60) == cudaErrorMemoryAllocation);
    CF(cf_gather(at.source, at.index, at.result, n, m));
    EXPECT(CF_STATUS(cf_gather(at.source, (const int32_t *)nullptr, at.result, n, m)) == CF_EINVAL);
    EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError() == cudaSuccess);

    // The library's shutdown does not affect the runtime.
    CF(cf_stream_destroy(ours));
    CF(cf_shutdown());
    runtime_gather<<<(unsigned)(n / 256), 256, 0, other>>>(at.source, at.index, at.result, n);
    CUDA(cudaStreamSynchronize(other));
    DOWNLOAD(work, at);
    use_stream(other, work, at, late); // the library is initialized again
    CUDA(cudaStreamDestroy(blocking));
    CUDA(cudaStreamDestroy(other));
    CUDA(cudaStreamDestroy(urgent));
    CUDA(cudaFree(late));
    free_runtime(at);
    CUDA(cudaGetLastError());
}

void library_first()
{
    uses_runtime = false;
    Work work(2);
    CF(cf_gather(work.source.data(), work.index.data(), work.result.data(), n, m));
    EXPECT(work.is_right());
    EXPECT(current_context() == nullptr);
    Pointers at = of_library();
    cf_stream stream;
    CF(cf_stream_create(&stream));
    uses_runtime = true;

    // The runtime uses the same context, and can use the library's memory and stream.
    float *result;
    CUDA(cudaMalloc((void **)&result, n * sizeof(float)));
    EXPECT(context_of(result) == context_of(at.source));
    upload(work, at);
    runtime_gather<<<(unsigned)(n / 256), 256, 0, stream>>>(at.source, at.index, result, n);
    CF(cf_mem_copy_async(stream, at.result, result, n * sizeof(float)));
    CUDA(cudaStreamSynchronize(stream));
    DOWNLOAD(work, at);
    cudaPointerAttributes attributes;
    CUDA(cudaPointerGetAttributes(&attributes, at.source));
    EXPECT(attributes.type == cudaMemoryTypeDevice && attributes.device == 0);
    CF(cf_stream_destroy(stream));
    CUDA(cudaFree(result));
    free_library(at);
    CF(cf_shutdown());
    CUDA(cudaMalloc((void **)&result, n * sizeof(float)));
    CUDA(cudaFree(result));
}

// All kinds of memory that the runtime has. Host arrays are copied, but never registered.
void memory_kinds()
{
    Work work(3);
    Pointers at = of_runtime(), managed, pinned, ordered;
    for (int level : {CF_HOST_DATA_AUTO, CF_HOST_DATA_STAGE, CF_HOST_DATA_HOST}) {
        CF(cf_set_host_data(level));
        work.poison();
        CF(cf_gather(work.source.data(), work.index.data(), work.result.data(), n, m));
        EXPECT(work.is_right());
        for (const void *array :
             {(const void *)work.source.data(), (const void *)work.index.data(), (const void *)work.result.data()}) {
            cudaPointerAttributes attributes;
            CUDA(cudaPointerGetAttributes(&attributes, array));
            EXPECT(attributes.type == cudaMemoryTypeUnregistered);
        }
        // Host arrays and device arrays in one call.
        upload(work, at);
        work.poison();
        CF(cf_gather(at.source, work.index.data(), work.result.data(), n, m));
        EXPECT(work.is_right());
        CF(cf_gather(work.source.data(), at.index, at.result, n, m));
        DOWNLOAD(work, at);
    }
    CF(cf_set_host_data(CF_HOST_DATA_STAGE));

    CUDA(cudaMallocManaged((void **)&managed.source, m * sizeof(float)));
    CUDA(cudaMallocManaged((void **)&managed.index, n * sizeof(int32_t)));
    CUDA(cudaMallocManaged((void **)&managed.result, n * sizeof(float)));
    upload(work, managed);
    CF(cf_gather(managed.source, managed.index, managed.result, n, m));
    DOWNLOAD(work, managed);
    upload(work, managed);
    CF(cf_gather_async(cudaStreamPerThread, managed.source, managed.index, managed.result, n, m));
    CF(cf_stream_sync(cudaStreamPerThread));
    DOWNLOAD(work, managed);
    free_runtime(managed);

    CUDA(cudaHostAlloc((void **)&pinned.source, m * sizeof(float), cudaHostAllocDefault));
    CUDA(cudaMallocHost((void **)&pinned.index, n * sizeof(int32_t)));
    CUDA(cudaHostAlloc((void **)&pinned.result, n * sizeof(float), cudaHostAllocPortable | cudaHostAllocMapped));
    upload(work, pinned);
    CF(cf_gather(pinned.source, pinned.index, pinned.result, n, m));
    DOWNLOAD(work, pinned);
    upload(work, pinned);
    CF(cf_gather_async(nullptr, pinned.source, pinned.index, pinned.result, n, m));
    CF(cf_stream_sync(nullptr));
    DOWNLOAD(work, pinned);
    CUDA(cudaFreeHost(pinned.source));
    CUDA(cudaFreeHost(pinned.index));
    CUDA(cudaFreeHost(pinned.result));

    // Memory that is registered as a whole or in part; if in part, the rest or all of it is copied.
    for (size_t registered : {n * sizeof(float), n * sizeof(float) / 2}) {
        CUDA(cudaHostRegister(work.result.data(), registered, cudaHostRegisterDefault));
        work.poison();
        CF(cf_gather(work.source.data(), work.index.data(), work.result.data(), n, m));
        EXPECT(work.is_right());
        CUDA(cudaHostUnregister(work.result.data()));
    }

    // Memory from the pools of the runtime and of the library, in streams of both sides.
    cudaStream_t stream;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaMallocAsync((void **)&ordered.source, m * sizeof(float), stream));
    CUDA(cudaMallocAsync((void **)&ordered.index, n * sizeof(int32_t), stream));
    CF(cf_mem_alloc_async(stream, (void **)&ordered.result, n * sizeof(float)));
    CUDA(cudaMemcpyAsync(ordered.source, work.source.data(), m * sizeof(float), cudaMemcpyHostToDevice, stream));
    CF(cf_mem_copy_async(stream, ordered.index, work.index.data(), n * sizeof(int32_t)));
    CF(cf_gather_async(stream, ordered.source, ordered.index, ordered.result, n, m));
    work.poison();
    CUDA(cudaMemcpyAsync(work.result.data(), ordered.result, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
    CUDA(cudaFreeAsync(ordered.source, stream));
    CUDA(cudaFreeAsync(ordered.index, stream));
    CF(cf_mem_free_async(stream, ordered.result));
    CUDA(cudaStreamSynchronize(stream));
    EXPECT(work.is_right());
    CUDA(cudaStreamDestroy(stream));
    free_runtime(at);
    CUDA(cudaGetLastError());
}

// ---- Contexts ----

bool is_primary_active()
{
    CUdevice device;
    unsigned int flags;
    int active;
    CU(cuDeviceGet(&device, 0));
    CU(cuDevicePrimaryCtxGetState(device, &flags, &active));
    return active != 0;
}

// The program retains the primary context before the library does, and releases it later.
void primary_retained()
{
    uses_runtime = false;
    CUdevice device;
    CUcontext primary;
    Work work(4);
    CU(cuInit(0));
    CU(cuDeviceGet(&device, 0));
    CU(cuDevicePrimaryCtxRetain(&primary, device));
    CU(cuCtxPushCurrent(primary));
    Pointers at = of_driver();
    upload(work, at);
    for (int life = 0; life < 3; life++) {
        CF(cf_gather(at.source, at.index, at.result, n, m));
        DOWNLOAD(work, at);
        Pointers ours = of_library();
        EXPECT(context_of(ours.source) == primary);
        free_library(ours);
        CF(cf_shutdown());
        EXPECT(is_primary_active());
        EXPECT(current_context() == primary);
        DOWNLOAD(work, at);
    }
    // The thread has no current context.
    std::thread([&] {
        Work other(5);
        CUcontext popped;
        CU(cuCtxPushCurrent(primary));
        upload(other, at);
        CU(cuCtxPopCurrent(&popped));
        EXPECT(current_context() == nullptr);
        CF(cf_gather(at.source, at.index, at.result, n, m));
        CF(cf_mem_copy(other.result.data(), at.result, n * sizeof(float)));
        EXPECT(other.is_right());
    }).join();
    free_driver(at);
    CUcontext popped;
    CU(cuCtxPopCurrent(&popped));
    EXPECT(popped == primary && current_context() == nullptr);
    CU(cuDevicePrimaryCtxRelease(device));
    EXPECT(is_primary_active()); // the library has retained it
    CF(cf_shutdown());
    EXPECT(!is_primary_active()); // the library has released it
}

CUcontext make_context(CUdevice device)
{
    CUcontext context;
#if CUDA_VERSION >= 13000
    CU(cuCtxCreate(&context, nullptr, 0, device));
#else
    CU(cuCtxCreate(&context, 0, device));
#endif
    return context;
}

// Contexts that the program created, two of them on the thread's stack.
void foreign_context()
{
    uses_runtime = false;
    CUdevice device;
    CU(cuInit(0));
    CU(cuDeviceGet(&device, 0));
    // A new context may have the address of a destroyed one; the library must not confuse them.
    for (int life = 0; life < 3; life++) {
        Work work(6 + (uint64_t)life);
        CUcontext below = make_context(device);
        Pointers of_below = of_driver();
        CUstream stream_below;
        CU(cuStreamCreate(&stream_below, CU_STREAM_NON_BLOCKING));
        CUcontext context = make_context(device);
        Pointers at = of_driver();
        upload(work, at);

        // Calls without a stream run in the current context.
        Pointers ours = of_library();
        EXPECT(context_of(ours.source) == context);
        CF(cf_gather(at.source, at.index, ours.result, n, m));
        CF(cf_mem_copy(at.result, ours.result, n * sizeof(float)));
        DOWNLOAD(work, at);
        work.poison();
        CF(cf_gather(work.source.data(), work.index.data(), work.result.data(), n, m));
        EXPECT(work.is_right());
        cf_stream stream;
        CUcontext of_stream;
        CF(cf_stream_create(&stream));
        CU(cuStreamGetCtx(stream, &of_stream));
        EXPECT(of_stream == context);

        // A call with a stream of the other context runs in that context.
        CF(cf_mem_copy(of_below.source, work.source.data(), m * sizeof(float)));
        CF(cf_mem_copy(of_below.index, work.index.data(), n * sizeof(int32_t)));
        CF(cf_mem_fill(of_below.result, 0xA5, n * sizeof(float)));
        CF(cf_gather_async(stream_below, of_below.source, of_below.index, of_below.result, n, m));
        CF(cf_stream_sync(stream_below));
        work.poison();
        CF(cf_mem_copy(work.result.data(), of_below.result, n * sizeof(float)));
        EXPECT(work.is_right());

        // If no context is current, the call runs in the context of the stream.
        CUcontext popped;
        CU(cuCtxPopCurrent(&popped));
        EXPECT(popped == context);
        CU(cuCtxPopCurrent(&popped));
        EXPECT(popped == below && current_context() == nullptr);
        CF(cf_mem_fill(at.result, 0xA5, n * sizeof(float)));
        CF(cf_gather_async(stream, at.source, at.index, at.result, n, m));
        CF(cf_stream_sync(stream));
        CF(cf_stream_destroy(stream));
        work.poison();
        CF(cf_mem_copy(work.result.data(), at.result, n * sizeof(float)));
        EXPECT(work.is_right());

        CU(cuCtxPushCurrent(context));
        free_library(ours);
        free_driver(at);
        CU(cuCtxDestroy(context));
        CU(cuCtxPushCurrent(below));
        free_driver(of_below);
        CU(cuStreamDestroy(stream_below));
        CU(cuCtxDestroy(below));
        EXPECT(current_context() == nullptr);
        if (life == 1)
            CF(cf_shutdown()); // contexts that were destroyed still have records
    }
    CF(cf_shutdown());
    EXPECT(!is_primary_active());
}

// ---- cuBLAS ----

void cublas_with(Cublas &blas, Cublas::Handle handle, cf_stream stream, uint64_t seed)
{
    // In stream order, cuBLAS computes y = 2 x + y, the library res[i] = y[index[i]], and cuBLAS y = 2 x + y again.
    Work work(seed);
    Pointers at = of_library();
    float *x;
    const float two = 2;
    std::vector<float> y(m);
    CF(cf_mem_alloc((void **)&x, m * sizeof(float)));
    upload(work, at);
    for (int64_t i = 0; i < m; i++)
        y[i] = std::ldexp(random_f32(seed + 7, (uint64_t)i), -1);
    CU(cuMemcpy((CUdeviceptr)x, (CUdeviceptr)y.data(), m * sizeof(float)));
    for (int64_t i = 0; i < n; i++) // 2 x is exact, so there is only one rounding
        work.expected[i] = two * y[work.index[i]] + work.source[work.index[i]];
    EXPECT(blas.set_stream(handle, stream) == 0);
    EXPECT(blas.saxpy(handle, (int)m, &two, x, 1, at.source, 1) == 0);
    CF(cf_gather_async(stream, at.source, at.index, at.result, n, m));
    EXPECT(blas.saxpy(handle, (int)m, &two, x, 1, at.source, 1) == 0);
    CF(cf_stream_sync(stream));
    DOWNLOAD(work, at);
    // Now with a synchronous call.
    for (int64_t i = 0; i < n; i++)
        work.expected[i] = two * y[work.index[i]] + work.expected[i];
    CF(cf_gather(at.source, at.index, at.result, n, m));
    DOWNLOAD(work, at);
    CF(cf_mem_free(x));
    free_library(at);
}

void cublas()
{
    Cublas blas;
    if (!load_cublas(&blas)) {
        const char *why = dlerror();
        finish(SKIPPED, std::string("needs libcublas: ") + (why ? why : "it lacks a function"));
    }
    CF(cf_preload(&cf_registry)); // the library comes first
    Cublas::Handle handle;
    EXPECT(blas.create(&handle) == 0);
    cf_stream stream;
    CF(cf_stream_create(&stream));
    cublas_with(blas, handle, stream, 20);
    cublas_with(blas, handle, nullptr, 30);
    EXPECT(blas.destroy(handle) == 0);
    CF(cf_stream_destroy(stream));
    CF(cf_shutdown());

    EXPECT(blas.create(&handle) == 0); // cuBLAS comes first
    CF(cf_stream_create(&stream));
    cublas_with(blas, handle, stream, 40);
    CF(cf_shutdown());
    EXPECT(blas.destroy(handle) == 0);
    CUDA(cudaGetLastError());
}

// ---- Captures ----

// The library is first used in this process during a capture of the runtime, in the strictest mode.
void first_use_in_capture()
{
    Work work(50);
    Pointers at = of_runtime();
    upload(work, at);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CF(cf_gather_async(stream, at.source, at.index, at.result, n, m));
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    for (int run = 0; run < 3; run++) {
        Work other(51 + (uint64_t)run);
        upload(other, at);
        if (run == 1)
            CF(cf_graph_launch(exec, stream));
        else
            CUDA(cudaGraphLaunch(exec, stream));
        CUDA(cudaStreamSynchronize(stream));
        DOWNLOAD(other, at);
    }
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    free_runtime(at);
    CUDA(cudaGetLastError());
}

// While one thread captures, another thread's synchronous call loads, allocates, stages and waits. The capture must not
// be broken.
void beside_a_capture()
{
    Work work(60);
    Pointers at = of_runtime();
    upload(work, at);
    for (bool is_blocking : {false, true}) {
        CF(cf_shutdown()); // the other thread then makes the first use
        cudaStream_t stream;
        cudaGraph_t graph;
        cudaGraphExec_t exec;
        CUDA(cudaStreamCreateWithFlags(&stream, is_blocking ? cudaStreamDefault : cudaStreamNonBlocking));
        CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        std::thread([&] {
            Work other(61);
            uses_runtime = false; // the other thread's capture forbids calls of the runtime
            for (int level : {CF_HOST_DATA_STAGE, CF_HOST_DATA_HOST}) {
                CF(cf_set_host_data(level));
                int status = CF_STATUS(cf_gather(other.source.data(), other.index.data(), other.result.data(), n, m));
                // During a capture of a blocking stream, calls that need the default stream are refused, because it
                // waits for blocking streams.
                bool is_refused = is_blocking && status == CF_ECAPTURE;
                expect_at(__LINE__, is_refused || status == CF_OK,
                          std::string("cf_gather beside a capture: ") + cf_status_name(status) + ": " +
                              cf_last_error());
                EXPECT(is_refused || other.is_right());
                EXPECT(!(is_blocking && level == CF_HOST_DATA_STAGE) || is_refused);
                other.poison();
            }
            uses_runtime = true;
        }).join();
        CF(cf_gather_async(stream, at.source, at.index, at.result, n, m));
        CUDA(cudaStreamEndCapture(stream, &graph));
        CUDA(cudaGraphInstantiate(&exec, graph, 0));
        upload(work, at);
        CUDA(cudaGraphLaunch(exec, stream));
        CUDA(cudaStreamSynchronize(stream));
        DOWNLOAD(work, at);
        CUDA(cudaGraphExecDestroy(exec));
        CUDA(cudaGraphDestroy(graph));
        CUDA(cudaStreamDestroy(stream));
    }
    free_runtime(at);
    CUDA(cudaGetLastError());
}

// ---- Threads, devices ----

void threads()
{
    std::vector<std::thread> all;
    for (uint64_t t = 0; t < 8; t++)
        all.emplace_back([t] {
            CUDA(cudaSetDevice(0));
            Work work(100 + 10 * t);
            Pointers at = of_runtime();
            cudaStream_t stream;
            CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
            for (int i = 0; i < 20; i++) {
                upload(work, at);
                if (i % 4 == 0)
                    CF(cf_gather(at.source, at.index, at.result, n, m));
                else if (i % 4 == 1)
                    CF(cf_gather_async(stream, at.source, at.index, at.result, n, m));
                else if (i % 4 == 2)
                    runtime_gather<<<(unsigned)(n / 256), 256, 0, stream>>>(at.source, at.index, at.result, n);
                else
                    CF(cf_gather(work.source.data(), at.index, at.result, n, m));
                CUDA(cudaStreamSynchronize(stream));
                DOWNLOAD(work, at);
            }
            CUDA(cudaStreamDestroy(stream));
            free_runtime(at);
            CUDA(cudaGetLastError());
        });
    for (std::thread &thread : all)
        thread.join();
}

// Calls without a stream run on the runtime's current device, calls with a stream on the device of the stream.
void second_device()
{
    int count, device;
    CUDA(cudaGetDeviceCount(&count));
    if (count < 2)
        finish(SKIPPED, "needs two GPUs, real or played");
    Work work(200);
    CUDA(cudaSetDevice(1));
    Pointers at = of_runtime();
    upload(work, at);
    cudaStream_t stream;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CF(cf_device_current(&device));
    EXPECT(device == 1);
    CF(cf_gather(at.source, at.index, at.result, n, m));
    DOWNLOAD(work, at);
    CUDA(cudaSetDevice(0));
    CF(cf_stream_device(stream, &device));
    EXPECT(device == 1);
    CF(cf_mem_fill(at.result, 0xA5, n * sizeof(float)));
    CF(cf_gather_async(stream, at.source, at.index, at.result, n, m));
    CF(cf_stream_sync(stream));
    CUDA(cudaGetDevice(&device));
    EXPECT(device == 0);
    work.poison();
    CF(cf_mem_copy(work.result.data(), at.result, n * sizeof(float)));
    EXPECT(work.is_right());
    CF(cf_shutdown());
    CUDA(cudaStreamDestroy(stream));
    free_runtime(at);
    CUDA(cudaGetLastError());
}

// ---- The program ----

struct Scenario {
    const char *name;
    void (*run)();
};
const Scenario scenarios[] = {{"runtime_first", runtime_first},
                              {"library_first", library_first},
                              {"memory_kinds", memory_kinds},
                              {"primary_retained", primary_retained},
                              {"foreign_context", foreign_context},
                              {"cublas", cublas},
                              {"first_use_in_capture", first_use_in_capture},
                              {"beside_a_capture", beside_a_capture},
                              {"threads", threads},
                              {"second_device", second_device}};
constexpr size_t count = sizeof scenarios / sizeof *scenarios;

// Returns true if the scenario passed or was skipped; `number` counts from 1.
bool run_apart(size_t number, const Scenario &scenario)
{
    std::string command = std::string("exec timeout 60 /proc/") + std::to_string(getpid()) + "/exe " + scenario.name +
                          " 2>&1",
                output;
    std::FILE *pipe = popen(command.c_str(), "r");
    char line[512];
    while (pipe && std::fgets(line, sizeof line, pipe))
        output += line;
    int state = pipe ? pclose(pipe) : -1;
    int code = state >= 0 && WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    if (code == SKIPPED) {
        std::printf("ok %zu - %s # SKIP %s", number, scenario.name, output.c_str());
        return true;
    }
    std::printf("%s %zu - %s\n", code == 0 ? "ok" : "not ok", number, scenario.name);
    if (code != 0)
        std::printf("# exit %d: %s\n", code, output.c_str());
    return code == 0;
}

} // namespace

int main(int argc, char **argv)
{
    setenv("CF_DRIVER", "cuda", 1);
    for (size_t i = 0; argc == 2 && i < count; i++)
        if (std::strcmp(scenarios[i].name, argv[1]) == 0) {
            scenarios[i].run();
            return 0;
        }
    if (argc != 1) {
        std::fprintf(stderr, "usage: interop_cuda [SCENARIO]\n");
        return 1;
    }
    bool is_right = true;
    std::printf("1..%zu\n", count);
    for (size_t i = 0; i < count; i++) {
        is_right = run_apart(i + 1, scenarios[i]) && is_right;
        std::fflush(stdout);
    }
    return is_right ? 0 : 1;
}
