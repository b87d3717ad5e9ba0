/* timer.h - clocks of the host and of the GPU behind one interface. */
#pragma once
#include <chrono>
#include <memory>
#include <vector>

#include <cuda_runtime.h>

class Timer
{
  public:
    virtual ~Timer() = default;
    virtual void start() = 0;
    virtual float stop() = 0;
};

class HostTimer : public Timer
{
    std::chrono::steady_clock::time_point begin_;

  public:
    void start() override { begin_ = std::chrono::steady_clock::now(); }
    float stop() override
    {
        return std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - begin_).count();
    }
};

struct GpuTimer : Timer {
    cudaEvent_t begin, end;
    GpuTimer()
    {
        cudaEventCreate(&begin);
        cudaEventCreate(&end);
    }
    ~GpuTimer() override
    {
        cudaEventDestroy(begin);
        cudaEventDestroy(end);
    }
    void start() override { cudaEventRecord(begin, 0); }
    float stop() override
    {
        float ms = 0;
        cudaEventRecord(end, 0);
        cudaEventSynchronize(end);
        cudaEventElapsedTime(&ms, begin, end);
        return ms;
    }
};

template <typename Kernel, typename... Args>
float time_launch(Kernel kernel, dim3 gridDim, dim3 blockDim, Args... args)
{
    std::unique_ptr<Timer> timer(new GpuTimer);
    timer->start();
    kernel<<<gridDim, blockDim>>>(args...);
    return timer->stop();
}
