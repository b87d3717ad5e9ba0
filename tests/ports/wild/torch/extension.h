/* extension.h - the few names of PyTorch's header that roi_pool.cu needs; where PyTorch is installed, its header is
 * used. */
#pragma once
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace at
{
enum class ScalarType : signed char { Float, Double };
struct Device {
    int index_ = 0;
    bool is_cuda() const noexcept
    {
        return index_ >= 0;
    }
};
class Tensor
{
  public:
    Tensor() = default;
    virtual ~Tensor() = default;
    template <typename T> T *data_ptr() const
    {
        return static_cast<T *>(data_.get());
    }
    int64_t size(int64_t dimension) const
    {
        return sizes_.at(dimension);
    }
    ScalarType scalar_type() const
    {
        return type_;
    }
    Device device() const
    {
        return {};
    }
    bool is_contiguous() const
    {
        return true;
    }

  private:
    std::function<void *()> data_holder_;
    struct Data {
        void *get() const
        {
            return nullptr;
        }
    } data_;
    std::vector<int64_t> sizes_;
    ScalarType type_ = ScalarType::Float;
};
Tensor zeros_like(const Tensor &);
} // namespace at
namespace torch
{
using at::Tensor;
using at::zeros_like;
} // namespace torch
namespace c10
{
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};
} // namespace c10
#define TORCH_CHECK(condition, ...)                            \
    do {                                                       \
        if (!(condition))                                      \
            throw ::c10::Error(std::string("") + __VA_ARGS__); \
    } while (false)
#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) \
    [&] {                                           \
        switch (TYPE) {                             \
        case at::ScalarType::Float: {               \
            using scalar_t = float;                 \
            return __VA_ARGS__();                   \
        }                                           \
        case at::ScalarType::Double: {              \
            using scalar_t = double;                \
            return __VA_ARGS__();                   \
        }                                           \
        default:                                    \
            throw ::c10::Error(NAME);               \
        }                                           \
    }()
namespace pybind11
{
struct module_ {
    template <typename F> void def(const char *, F, const char * = "")
    {
    }
};
} // namespace pybind11
#define PYBIND11_MODULE(name, variable) void init_##name(pybind11::module_ &variable)
#define TORCH_EXTENSION_NAME wild_extension
