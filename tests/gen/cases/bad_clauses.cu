/* bad_clauses - mistakes in clauses, one per kernel. */
#pragma cf kernel grid(n)
#pragma cf instances(a: float)
#pragma cf instances(b: double)
template <typename T> __global__ void two_instances(T *x, int n);

#pragma cf kernel grid(n) 7
__global__ void number_for_a_clause(int n);

#pragma cf kernel grid(n) cooperative cooperative
__global__ void twice_cooperative(int n);

#pragma cf kernel name(7) grid(n)
__global__ void number_for_a_name(int n);

#pragma cf kernel name(a) name(b) grid(n)
__global__ void two_names(int n);

#pragma cf kernel grid(n) include(types.h)
__global__ void include_without_quotes(int n);

#pragma cf kernel grid(n) in(x[2:])
__global__ void section_without_length(const float *x, int n);

#pragma cf kernel grid(n) in(x[0:n:2])
__global__ void section_with_a_stride(const float *x, int n);

#pragma cf kernel grid(n) in(3)
__global__ void number_for_an_array(const float *x, int n);

#pragma cf kernel grid(n) in(x[1][1][1][1][1][1][1][1][n])
__global__ void nine_dimensions(const float *x, int n);

#pragma cf kernel grid(n) pitch(3: n)
__global__ void number_for_a_pitch(const float *x, int n);

#pragma cf kernel grid(n) tune(3: 1)
__global__ void number_for_a_constant(const float *x, int n);

#pragma cf kernel grid(n) in(x[n][n]) pitch(x: n; x: n)
__global__ void two_pitches(const float *x, int n);

#pragma cf kernel grid(n) in(x[n][2:n])
__global__ void inner_section_without_pitch(const float *x, int n);

#pragma cf kernel grid(n) pitch(x: n)
__global__ void pitch_without_extent(const float *x, int n);

#pragma cf kernel grid(n) in(x[n]) pitch(x: n)
__global__ void pitch_of_one_dimension(const float *x, int n);

#pragma cf kernel grid(n)
#pragma cf instances(a: float *)
template <typename T> __global__ void instance_of_a_pointer(T *x, int n);

#pragma cf kernel grid(n)
#pragma cf instances(7: float)
template <typename T> __global__ void number_for_a_tag(T *x, int n);

#pragma cf kernel grid(n)
#pragma cf instances(a: float,)
template <typename T> __global__ void missing_argument(T *x, int n);

#pragma cf kernel grid(n)
#pragma cf instances(a: float) grid(n)
template <typename T> __global__ void clause_after_instances(T *x, int n);

#pragma cf kernel blocks(n) items(4)
__global__ void items_of_blocks(int n);

#pragma cf kernel grid(n) items(0)
__global__ void items_of_nothing(int n);

#pragma cf kernel grid(n) block(auto) shared(n)
__global__ void auto_with_shared(int n);

#pragma cf kernel grid(n, n) block(auto)
__global__ void auto_in_two_dimensions(int n);

#pragma cf kernel grid(n) block(auto) host(none)
__global__ void auto_with_shared_memory(int n)
{
    __shared__ int all[256];
    all[threadIdx.x] = n;
}

#pragma cf kernel grid(n) tune(BLOCK: 1, 2)
__global__ void tune_of_nothing(int n);

#pragma cf kernel grid(n) tune(T: 1, 2)
template <typename T> __global__ void tune_of_a_type(T *x, int n);

#pragma cf kernel grid(n) tune(A: 1, 2, 3, 4, 5, 6, 7, 8, 9; B: 1, 2, 3, 4, 5, 6, 7, 8)
template <int A, int B> __global__ void too_many_variants(int n);

#pragma cf kernel grid(n) tune(A: n)
template <int A> __global__ void tune_to_a_parameter(int n);

#pragma cf kernel grid(n) tune(A: 64, 8 * 8)
template <int A> __global__ void tune_to_the_same(int n);

#pragma cf kernel grid(n)
#pragma cf instances(a: 3)
template <typename T> __global__ void number_for_a_type(T *x, int n);

#pragma cf kernel grid(n)
#pragma cf instances(a: void)
template <typename T> __global__ void void_for_a_type(T *x, int n);

#pragma cf kernel grid(n) inout(x[n])
__global__ void assembler(float *x, int n)
{
    asm volatile("" ::: "memory"); asm volatile("bar.arrive 1, 64;");
    x[0] = 0;
}

__device__ float copy_of(float x)
{
    asm("{ .reg .pred p; testp.finite.f32 p, %0; }" : "+f"(x));
    return x;
}

#pragma cf kernel grid(n) inout(x[n])
__global__ void assembler_in_a_function(float *x, int n)
{
    x[0] = copy_of(x[0]);
}

/* The generator looks up functions and variables by their names. */
extern __shared__ float bad_buffer[];
template <typename T> __device__ T *bad_memory()
{
    extern __shared__ __align__(16) unsigned char raw[];
    return reinterpret_cast<T *>(raw);
}
#pragma cf kernel grid(n) out(y[n])
__global__ void shared_without_a_size(float *y, int n)
{
    __shared__ float first[32];
    extern __shared__ float rest[];
    y[0] = first[0] + rest[0];
}
#pragma cf kernel grid(n) out(y[n])
__global__ void shared_outside_without_a_size(float *y, int n)
{
    y[0] = bad_buffer[0];
}
template <typename T> class bad_holder final
{
  public:
    __device__ T *get()
    {
        extern __shared__ T held[];
        return held;
    }
};
#pragma cf kernel grid(n) out(y[n])
__global__ void shared_by_a_class_without_a_size(float *y, int n)
{
    bad_holder<float> holder;
    y[0] = holder.get()[0];
}
#pragma cf kernel grid(n) out(y[n])
__global__ void shared_elsewhere_without_a_size(float *y, int n)
{
    y[0] = bad_memory<float>()[0];
}
#pragma cf kernel grid(n) out(y[n]) cooperative
__global__ void __cluster_dims__(2) cluster_of_a_grid(float *y, int n)
{
    y[0] = 0;
}
#pragma cf kernel grid(n) out(y[n])
__global__ void __cluster_dims__(n) cluster_without_a_size(float *y, int n)
{
    y[0] = 0;
}
#pragma cf kernel grid(n) out(y[n])
__global__ void __cluster_dims__(4, 5) cluster_too_large(float *y, int n)
{
    y[0] = 0;
}
#pragma cf kernel grid(n) out(y[n])
__global__ void __block_size__((256, 1, 1), (2, 1, 1)) cluster_by_block_size(float *y, int n)
{
    y[0] = 0;
}
#pragma cf kernel grid(n) out(y[n])
__attribute__((cold, cluster_dims(4, 5))) __global__ void attribute_too_large(float *y, int n)
{
    y[0] = 0;
}
#pragma cf kernel grid(n) out(y[n])
__global__ void __attribute__((block_size((256, 1, 1), (2, 1, 1)))) attribute_of_sizes(float *y, int n)
{
    y[0] = 0;
}
#pragma cf kernel grid(n) cluster(2) out(y[n]) host(none)
__global__ void __block_size__((256, 1, 1), (2, 1, 1)) cluster_twice(float *y, int n)
{
    y[0] = 0;
}
