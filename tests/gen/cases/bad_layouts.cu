/* bad_layouts - types that neither C nor bytes can stand for, one per kernel. */
template <typename T> struct trait {
};
template <> struct trait<float> {
    typedef float *pointer;
    typedef float row[4];
    struct counted {
        counted(const counted &other);
        int n;
    };
    struct seen {
        virtual int look();
    };
    struct unfinished;
};

#pragma cf kernel grid(n)
#pragma cf instances(f64: double)
template <typename T> __global__ void no_such_member(typename trait<T>::pointer x, int n);

#pragma cf kernel grid(n)
#pragma cf instances(f32: float)
template <typename T> __global__ void hidden_pointer(typename trait<T>::pointer x, int n);

#pragma cf kernel grid(n)
#pragma cf instances(f32: float)
template <typename T> __global__ void hidden_array(typename trait<T>::row *x, int n);

#pragma cf kernel grid(n)
#pragma cf instances(f32: float)
template <typename T> __global__ void own_copies(typename trait<T>::counted x, int n);

#pragma cf kernel grid(n)
#pragma cf instances(f32: float)
template <typename T> __global__ void virtual_functions(typename trait<T>::seen *x, int n);

#pragma cf kernel grid(n)
#pragma cf instances(f32: float)
template <typename T> __global__ void no_body(typename trait<T>::unfinished *x, int n);

namespace a
{
struct b {
    int n;
};
} // namespace a
struct a_b {
    int n;
};

#pragma cf kernel grid(n)
__global__ void one_name(a_b x, int n);

enum class Odd : unknown_t { A };

#pragma cf kernel grid(n)
__global__ void underlying(Odd x, int n);

enum Large { ALL = 0xffffffffff };

#pragma cf kernel grid(n)
__global__ void large_values(Large x, int n);

class Closed
{
    enum Inner { SOME = count() };
    static constexpr int count()
    {
        return 3;
    }
    class Part
    {
        int a;
    };
};

#pragma cf kernel grid(n)
__global__ void unknown_value(Closed::Inner x, int n);

#pragma cf kernel grid(n)
__global__ void unknown_size(Closed::Part x, int n);

struct Flags {
    unsigned int a : 3;
};

#pragma cf kernel grid(f.a)
__global__ void opaque_member(Flags f);

#pragma cf kernel grid(n)
#pragma cf instances(odd: trait<)
template <typename T> __global__ void open_argument(T *x, int n);
