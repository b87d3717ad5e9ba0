/* cuda_atomic.cuh - cuda::atomic and cuda::atomic_ref: atomic among all CPU threads in every scope. */
#ifndef CUFERRY_CPU_CUDA_ATOMIC_CUH
#define CUFERRY_CPU_CUDA_ATOMIC_CUH

#include <atomic>
#include <sched.h>
#include <stddef.h>

#include <cuferry/cpu/words.cuh>

namespace cuda
{
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

using ::std::memory_order;
using ::std::memory_order_acq_rel;
using ::std::memory_order_acquire;
using ::std::memory_order_consume;
using ::std::memory_order_relaxed;
using ::std::memory_order_release;
using ::std::memory_order_seq_cst;

CF__FN void atomic_thread_fence(memory_order order, thread_scope = thread_scope_system)
{
    __atomic_thread_fence((int)order);
}

CF__FN void atomic_signal_fence(memory_order order)
{
    __atomic_signal_fence((int)order);
}

/* Returns the memory order that a failed comparison has if a successful one has `order`. */
CF__FN constexpr memory_order cf__failing(memory_order order)
{
    return order == memory_order_acq_rel   ? memory_order_acquire
           : order == memory_order_release ? memory_order_relaxed
                                           : order;
}

template <typename T> struct cf__difference {
    typedef T type;
};
template <typename T> struct cf__difference<T *> {
    typedef ptrdiff_t type;
};

/* A value with a lock beside it, as on a GPU. It is used for sizes that no processor instruction changes atomically. */
template <typename T> class cf__locked
{
  public:
    cf__locked() = default;

    constexpr cf__locked(const T &value) : value_(value), lock_(false)
    {
    }

    /* Calls a function with the value while the lock is held. */
    template <typename Use> auto use(Use used) -> decltype(used(*static_cast<T *>(nullptr)))
    {
        struct hold {
            bool *lock;

            hold(bool *wanted) : lock(wanted)
            {
                while (__atomic_exchange_n(lock, true, __ATOMIC_ACQUIRE))
                    sched_yield();
            }

            ~hold()
            {
                __atomic_store_n(lock, false, __ATOMIC_RELEASE);
            }
        } held(&lock_);
        return used(value_);
    }

  private:
    T value_;
    bool lock_;
};

/* ---- The basic operations, on values with and without locks ---- */

template <typename T> CF__FN T cf__load(T *object, memory_order order)
{
    T value;
    __atomic_load(object, &value, (int)order);
    return value;
}

template <typename T> CF__FN T cf__load(cf__locked<T> *object, memory_order)
{
    return object->use([](T &value) { return value; });
}

template <typename T> CF__FN void cf__store(T *object, T value, memory_order order)
{
    __atomic_store(object, &value, (int)order);
}

template <typename T> CF__FN void cf__store(cf__locked<T> *object, T value, memory_order)
{
    object->use([&](T &old) { old = value; });
}

template <typename T> CF__FN T cf__exchange(T *object, T value, memory_order order)
{
    T old;
    __atomic_exchange(object, &value, &old, (int)order);
    return old;
}

template <typename T> CF__FN T cf__exchange(cf__locked<T> *object, T value, memory_order)
{
    return object->use([&](T &place) {
        const T old = place;
        place = value;
        return old;
    });
}

template <typename T>
CF__FN bool cf__compare_exchange(T *object, T &expected, T value, bool is_weak, memory_order success,
                                 memory_order failure)
{
    return __atomic_compare_exchange(object, &expected, &value, is_weak, (int)success, (int)failure);
}

template <typename T>
CF__FN bool cf__compare_exchange(cf__locked<T> *object, T &expected, T value, bool, memory_order, memory_order)
{
    return object->use([&](T &place) {
        const bool is_equal = place == expected;
        if (is_equal)
            place = value;
        else
            expected = place;
        return is_equal;
    });
}

template <typename T> CF__FN constexpr bool cf__is_lock_free()
{
    return sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8;
}

template <typename T, bool is_lock_free> struct cf__storage_of {
    struct type {
        alignas(sizeof(T)) T value;
        type() = default;
        constexpr type(const T &initial) : value(initial)
        {
        }
        T *cf__place()
        {
            return &value;
        }
    };
};
template <typename T> struct cf__storage_of<T, false> {
    struct type : cf__locked<T> {
        using cf__locked<T>::cf__locked;
        type() = default;
        cf__locked<T> *cf__place()
        {
            return this;
        }
    };
};

/* All operations on the object to which cf__object() of the derived class points. */
template <typename Class, typename T> class cf__atomic_operations
{
    static_assert(__is_trivially_copyable(T), "atomic objects are trivially copyable");
    typedef typename cf__difference<T>::type difference;

    auto object() const
    {
        return static_cast<const Class *>(this)->cf__object();
    }

    template <typename Change> T change(memory_order order, Change changed) const
    {
        T old = load(memory_order_relaxed);
        while (!compare_exchange_weak(old, changed(old), order))
            ;
        return old;
    }

  public:
    typedef T value_type;
    static constexpr bool is_always_lock_free = cf__is_lock_free<T>();

    bool is_lock_free() const
    {
        return is_always_lock_free;
    }

    T load(memory_order order = memory_order_seq_cst) const
    {
        return cf__load(object(), order);
    }

    void store(T value, memory_order order = memory_order_seq_cst) const
    {
        cf__store(object(), value, order);
    }

    T exchange(T value, memory_order order = memory_order_seq_cst) const
    {
        return cf__exchange(object(), value, order);
    }

    bool compare_exchange_strong(T &expected, T value, memory_order success, memory_order failure) const
    {
        return cf__compare_exchange(object(), expected, value, false, success, failure);
    }

    bool compare_exchange_strong(T &expected, T value, memory_order order = memory_order_seq_cst) const
    {
        return compare_exchange_strong(expected, value, order, cf__failing(order));
    }

    bool compare_exchange_weak(T &expected, T value, memory_order success, memory_order failure) const
    {
        return cf__compare_exchange(object(), expected, value, true, success, failure);
    }

    bool compare_exchange_weak(T &expected, T value, memory_order order = memory_order_seq_cst) const
    {
        return compare_exchange_weak(expected, value, order, cf__failing(order));
    }

    operator T() const
    {
        return load();
    }

#define CF__FETCH(name, Operand, result)                                   \
    T name(Operand value, memory_order order = memory_order_seq_cst) const \
    {                                                                      \
        return change(order, [=](T old) -> T { return (T)(result); });     \
    }
    CF__FETCH(fetch_add, difference, old + value)
    CF__FETCH(fetch_sub, difference, old - value)
    CF__FETCH(fetch_min, T, value < old ? value : old)
    CF__FETCH(fetch_max, T, old < value ? value : old)
    CF__FETCH(fetch_and, T, old &value)
    CF__FETCH(fetch_or, T, old | value)
    CF__FETCH(fetch_xor, T, old ^ value)
#undef CF__FETCH

#define CF__ASSIGN(op, Operand, name)     \
    T operator op##=(Operand value) const \
    {                                     \
        return (T)(name(value) op value); \
    }
    CF__ASSIGN(+, difference, fetch_add)
    CF__ASSIGN(-, difference, fetch_sub)
    CF__ASSIGN(&, T, fetch_and)
    CF__ASSIGN(|, T, fetch_or)
    CF__ASSIGN(^, T, fetch_xor)
#undef CF__ASSIGN

    T operator++() const
    {
        return (T)(fetch_add(1) + 1);
    }

    T operator--() const
    {
        return (T)(fetch_sub(1) - 1);
    }

    T operator++(int) const
    {
        return fetch_add(1);
    }

    T operator--(int) const
    {
        return fetch_sub(1);
    }
};

template <typename T, thread_scope Scope = thread_scope_system>
class atomic_ref : public cf__atomic_operations<atomic_ref<T, Scope>, T>
{
    static_assert(cf__is_lock_free<T>(), "atomic_ref is of objects of 1, 2, 4 or 8 bytes");

  public:
    static constexpr size_t required_alignment = sizeof(T);

    explicit atomic_ref(T &object) : object_(&object)
    {
    }

    atomic_ref(const atomic_ref &) = default;
    atomic_ref &operator=(const atomic_ref &) = delete;

    T operator=(T value) const
    {
        this->store(value);
        return value;
    }

    T *cf__object() const
    {
        return object_;
    }

  private:
    T *object_;
};

template <typename T, thread_scope Scope = thread_scope_system>
class atomic : public cf__atomic_operations<atomic<T, Scope>, T>
{
  public:
    atomic() = default;

    constexpr atomic(T value) : storage_(value)
    {
    }

    atomic(const atomic &) = delete;
    atomic &operator=(const atomic &) = delete;

    T operator=(T value)
    {
        this->store(value);
        return value;
    }

    auto cf__object() const
    {
        return const_cast<storage *>(&storage_)->cf__place();
    }

  private:
    typedef typename cf__storage_of<T, cf__is_lock_free<T>()>::type storage;
    storage storage_;
};

} /* namespace cuda */

#endif
