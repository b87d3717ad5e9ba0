/* refused_nontrivial_class - a view by value that counts its copies; expected: no C type, nor trivially copyable. */
class View
{
  public:
    __host__ __device__ View(float *data, int count) : data_(data), count_(count)
    {
    }
    __host__ __device__ View(const View &other) : data_(other.data_), count_(other.count_), copies_(other.copies_ + 1)
    {
    }
    __device__ float &operator()(int i)
    {
        return data_[i];
    }
    __host__ __device__ int count() const
    {
        return count_;
    }

  private:
    float *data_;
    int count_;
    int copies_ = 0;
};

#pragma cf kernel grid(n)
__global__ void square(View view, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        view(i) *= view(i);
}
