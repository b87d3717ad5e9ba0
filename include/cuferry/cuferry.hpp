/* cuferry.hpp - C++ around <cuferry.h>: errors as exceptions, and owners of memory, streams and events.
 *
 * A call that fails throws cf::error. Without exceptions (-fno-exceptions), or where CF_NO_EXCEPTIONS is defined, the
 * same functions return a status instead, and constructors that allocate do not exist. Both kinds of translation units
 * may be linked into one program. The header needs C++17; from C++20 on cf::span is std::span. */
#ifndef CUFERRY_CUFERRY_HPP
#define CUFERRY_CUFERRY_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>
#if __has_include(<version>)
#include <version>
#endif
#ifdef __cpp_lib_span
#include <span>
#endif

#include <cuferry.h>

#if !defined CF_NO_EXCEPTIONS && !defined __cpp_exceptions
#define CF_NO_EXCEPTIONS
#endif

/* CF__RESULT is the result of functions that may fail, CF__STYLE the namespace of everything that depends on it. */
#ifdef CF_NO_EXCEPTIONS
#define CF__RESULT CF_CHECKED int
#define CF__STYLE returning
#else
#define CF__RESULT void
#define CF__STYLE throwing
#endif

namespace cf
{

/* ---- Arrays ---- */

#ifdef __cpp_lib_span
template <typename T> using span = std::span<T>;
#else
/* A pointer and a number of elements: the part of std::span that arguments need. */
template <typename T> class span
{
  public:
    using element_type = T;
    using value_type = std::remove_cv_t<T>;

    constexpr span() noexcept = default;
    constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size)
    {
    }
    template <std::size_t N> constexpr span(T (&array)[N]) noexcept : data_(array), size_(N)
    {
    }
    /* From a std::vector, a std::array or another span. A temporary is accepted only if the elements are const. */
    template <typename Range, typename Element = std::remove_pointer_t<decltype(std::data(std::declval<Range &>()))>,
              typename = decltype(std::begin(std::declval<Range &>())),
              std::enable_if_t<std::is_convertible_v<Element (*)[], T (*)[]> &&
                                   (std::is_lvalue_reference_v<Range> ||
                                    std::is_const_v<T>)&&!std::is_array_v<std::remove_reference_t<Range>>,
                               int> = 0>
    constexpr span(Range &&range) noexcept : data_(std::data(range)), size_(std::size(range))
    {
    }
    template <typename U, std::enable_if_t<std::is_convertible_v<U (*)[], T (*)[]>, int> = 0>
    constexpr span(span<U> other) noexcept : data_(other.data()), size_(other.size())
    {
    }

    constexpr T *data() const noexcept
    {
        return data_;
    }
    constexpr std::size_t size() const noexcept
    {
        return size_;
    }
    constexpr std::size_t size_bytes() const noexcept
    {
        return size_ * sizeof(T);
    }
    constexpr bool empty() const noexcept
    {
        return size_ == 0;
    }
    constexpr T &operator[](std::size_t i) const noexcept
    {
        return data_[i];
    }
    constexpr T *begin() const noexcept
    {
        return data_;
    }
    constexpr T *end() const noexcept
    {
        return data_ + size_;
    }
    constexpr span subspan(std::size_t begin, std::size_t count) const noexcept
    {
        return {data_ + begin, count};
    }

  private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};
#endif

/* ---- Errors ---- */

#ifdef __cpp_exceptions
/* A call that failed; what() is the text of cf_last_error(). */
class error : public std::runtime_error
{
  public:
    explicit error(int status)
        : std::runtime_error(cf_last_error()), status_(status), driver_result_(cf_last_driver_result())
    {
    }
    int status() const noexcept
    {
        return status_;
    }
    int driver_result() const noexcept
    {
        return driver_result_;
    }

  private:
    int status_, driver_result_;
};
#endif

inline namespace CF__STYLE
{

/* Turns the status of a C function into the result of this style: cf::check(cf_device_sync()). */
inline CF__RESULT check(int status)
{
#ifdef CF_NO_EXCEPTIONS
    return status;
#else
    if (status != CF_OK)
        throw error(status);
#endif
}

} // namespace CF__STYLE

namespace detail
{

/* An integer in an annotation's expression. After an overflow or a division by 0 it has no value. */
struct exact {
    std::int64_t value = 0;
    bool is_known = false;

    constexpr exact() = default;
    template <typename T>
    constexpr explicit exact(T number)
        : value(static_cast<std::int64_t>(number)),
          is_known(!std::is_unsigned_v<T> || static_cast<std::uint64_t>(number) <= INT64_MAX)
    {
    }
    constexpr bool is_true() const
    {
        return is_known && value != 0;
    }
    constexpr bool is_false() const
    {
        return is_known && value == 0;
    }
};

#define CF__EXACT(symbol, condition, result)             \
    constexpr exact operator symbol(exact a, exact b)    \
    {                                                    \
        std::int64_t to = 0;                             \
        (void)to;                                        \
        if (!a.is_known || !b.is_known || !(condition))  \
            return {};                                   \
        return exact(static_cast<std::int64_t>(result)); \
    }
CF__EXACT(+, !__builtin_add_overflow(a.value, b.value, &to), to)
CF__EXACT(-, !__builtin_sub_overflow(a.value, b.value, &to), to)
CF__EXACT(*, !__builtin_mul_overflow(a.value, b.value, &to), to)
CF__EXACT(/, b.value != 0 && (b.value != -1 || a.value != INT64_MIN), a.value / b.value)
CF__EXACT(%, b.value != 0, b.value == -1 ? 0 : a.value % b.value)
CF__EXACT(<<, b.value >= 0 && b.value < 63 && !__builtin_mul_overflow(a.value, std::int64_t(1) << b.value, &to), to)
CF__EXACT(>>, b.value >= 0 && b.value < 64, a.value >> b.value)
CF__EXACT(&, true, a.value &b.value)
CF__EXACT(|, true, a.value | b.value)
CF__EXACT(^, true, a.value ^ b.value)
CF__EXACT(<, true, a.value < b.value)
CF__EXACT(<=, true, a.value <= b.value)
CF__EXACT(>, true, a.value > b.value)
CF__EXACT(>=, true, a.value >= b.value)
CF__EXACT(==, true, a.value == b.value)
CF__EXACT(!=, true, a.value != b.value)
#undef CF__EXACT

constexpr exact operator-(exact a)
{
    return exact(0) - a;
}
constexpr exact operator!(exact a)
{
    return a == exact(0);
}
constexpr exact least(exact a, exact b)
{
    return a.is_known && b.is_known ? exact(a.value < b.value ? a.value : b.value) : exact();
}
constexpr exact most(exact a, exact b)
{
    return a.is_known && b.is_known ? exact(a.value > b.value ? a.value : b.value) : exact();
}
constexpr exact both(exact a, exact b)
{
    return a.is_false() ? a : a.is_known ? b != exact(0) : exact();
}
constexpr exact either(exact a, exact b)
{
    return a.is_true() ? exact(1) : a.is_known ? b != exact(0) : exact();
}
constexpr exact choose(exact condition, exact a, exact b)
{
    return condition.is_true() ? a : condition.is_false() ? b : exact();
}

/* Checks a call before it is made; the first failure counts. An expression without a value is not checked, because the
 * call reports it. */
class call
{
  public:
    explicit call(const char *function) noexcept : function_(function)
    {
    }
    bool fails() const noexcept
    {
        return status_ != CF_OK;
    }
    int status() const noexcept
    {
        return status_;
    }

    /* The number of elements of an array, as a scalar of the C function. */
    template <typename Count> Count length(const char *array, std::size_t size)
    {
        if (size > static_cast<std::uintmax_t>(std::numeric_limits<Count>::max()))
            report(CF_EOVERFLOW, array, size,
                   "more than its count holds:", static_cast<std::int64_t>(std::numeric_limits<Count>::max()));
        return static_cast<Count>(size);
    }
    void equal(const char *array, std::size_t size, exact wanted)
    {
        if (wanted.is_known && (wanted.value < 0 || size != static_cast<std::uint64_t>(wanted.value)))
            report(CF_EINVAL, array, size, "instead of", wanted.value);
    }
    void at_least(const char *array, std::size_t size, exact wanted)
    {
        if (wanted.is_known && wanted.value >= 0 && size < static_cast<std::uint64_t>(wanted.value))
            report(CF_EINVAL, array, size, "instead of at least", wanted.value);
    }

  private:
    void report(int status, const char *array, std::size_t size, const char *relation, std::int64_t wanted)
    {
        if (fails())
            return;
        char text[300];
        std::snprintf(text, sizeof text, "%.100s: %.60s has %zu elements, %s %lld", function_, array, size, relation,
                      static_cast<long long>(wanted));
        status_ = cf_report(status, text);
    }

    const char *function_;
    int status_ = CF_OK;
};

} // namespace detail

inline namespace CF__STYLE
{

/* ---- Owners ---- */

/* The only owner of a handle, which `Destroy` destroys. */
template <typename Handle, int (*Destroy)(Handle)> class owner
{
  public:
    owner() noexcept = default;
    owner(owner &&other) noexcept : handle_(other.release())
    {
    }
    owner &operator=(owner &&other) noexcept
    {
        if (this != &other)
            reset(other.release());
        return *this;
    }
    ~owner()
    {
        reset();
    }

    Handle get() const noexcept
    {
        return handle_;
    }
    operator Handle() const noexcept
    {
        return handle_;
    }
    /* Gives the handle to the caller. */
    Handle release() noexcept
    {
        return std::exchange(handle_, nullptr);
    }
    /* Takes ownership of `handle`, and destroys the previous one. A failure to destroy it is not reported. */
    void reset(Handle handle = nullptr) noexcept
    {
        Handle old = std::exchange(handle_, handle);
        if (old && Destroy(old) != CF_OK)
            return;
    }

  private:
    Handle handle_ = nullptr;
};

class event : public owner<cf_event, cf_event_destroy>
{
  public:
    event() noexcept = default;
    /* Creates an event on the calling thread's device; `flags` are those of cf_event_create_with(). */
    CF__RESULT create(unsigned int flags = 0)
    {
        cf_event made = nullptr;
        const int status = cf_event_create_with(&made, flags);
        if (status == CF_OK)
            reset(made);
        return check(status);
    }
    CF__RESULT record(cf_stream stream = nullptr)
    {
        return check(cf_event_record(get(), stream));
    }
    CF__RESULT sync()
    {
        return check(cf_event_sync(get()));
    }
    /* Writes the milliseconds from `start` to this event. */
    CF__RESULT elapsed(float &milliseconds, cf_event start)
    {
        return check(cf_event_elapsed(&milliseconds, start, get()));
    }
};

class stream : public owner<cf_stream, cf_stream_destroy>
{
  public:
    /* The default stream, until create() is called. */
    stream() noexcept = default;
    /* Creates a stream on the calling thread's device. */
    CF__RESULT create()
    {
        cf_stream made = nullptr;
        const int status = cf_stream_create(&made);
        if (status == CF_OK)
            reset(made);
        return check(status);
    }
    CF__RESULT sync()
    {
        return check(cf_stream_sync(get()));
    }
    /* Makes later work wait for the work that `event` has recorded. */
    CF__RESULT wait(cf_event event)
    {
        return check(cf_stream_wait(get(), event));
    }
    /* Writes true if all work is done. */
    CF__RESULT query(bool &is_done)
    {
        const int status = cf_stream_query(get());
        is_done = status == CF_OK;
        return check(status == CF_ENOTREADY ? CF_OK : status);
    }
};

/* Memory for `size()` elements on the device, or in pinned host memory. No constructors of elements run. Calls accept
 * the memory as a span. Only code of the device may read device memory; if the device is the CPU, any code may. */
template <typename T, int (*Allocate)(void **, std::size_t)> class memory
{
    static_assert(std::is_trivially_copyable_v<T>, "the device copies elements as bytes");

  public:
    memory() noexcept = default;
#ifndef CF_NO_EXCEPTIONS
    explicit memory(std::size_t size)
    {
        allocate(size);
    }
    /* A copy of host or device memory. */
    explicit memory(span<const T> source) : memory(source.size())
    {
        copy_from(source);
    }
#endif
    memory(memory &&other) noexcept : owner_(std::move(other.owner_)), size_(std::exchange(other.size_, 0))
    {
    }
    memory &operator=(memory &&other) noexcept
    {
        owner_ = std::move(other.owner_);
        size_ = std::exchange(other.size_, 0);
        return *this;
    }

    /* Allocates on the calling thread's device, then frees the old memory, which is kept after a failure. */
    CF__RESULT allocate(std::size_t size)
    {
        void *made = nullptr;
        int status = size > SIZE_MAX / sizeof(T) ? cf_report(CF_EOVERFLOW, "cf::memory: the size does not fit")
                                                 : Allocate(&made, size * sizeof(T));
        if (status == CF_OK) {
            owner_.reset(made);
            size_ = size;
        }
        return check(status);
    }
    T *data() const noexcept
    {
        return static_cast<T *>(owner_.get());
    }
    std::size_t size() const noexcept
    {
        return size_;
    }
    std::size_t size_bytes() const noexcept
    {
        return size_ * sizeof(T);
    }
    operator span<T>() const noexcept
    {
        return {data(), size_};
    }
    operator span<const T>() const noexcept
    {
        return {data(), size_};
    }

    /* Copies all elements. Both sizes have to be equal. */
    CF__RESULT copy_from(span<const T> source)
    {
        detail::call call("cf::memory::copy_from");
        call.equal("source", source.size(), detail::exact(size_));
        return check(call.fails() ? call.status() : cf_mem_copy(data(), source.data(), size_bytes()));
    }
    CF__RESULT copy_to(span<T> target) const
    {
        detail::call call("cf::memory::copy_to");
        call.equal("target", target.size(), detail::exact(size_));
        return check(call.fails() ? call.status() : cf_mem_copy(target.data(), data(), size_bytes()));
    }
    /* Sets each byte. */
    CF__RESULT fill(unsigned char value)
    {
        return check(cf_mem_fill(data(), value, size_bytes()));
    }

  private:
    owner<void *, cf_mem_free> owner_;
    std::size_t size_ = 0;
};

template <typename T> using buffer = memory<T, cf_mem_alloc>;
template <typename T> using pinned_buffer = memory<T, cf_mem_alloc_pinned>;

} // namespace CF__STYLE

} // namespace cf

#endif
