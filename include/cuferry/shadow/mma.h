/* mma.h - its namespaces, which files name: CPU kernels do not use matrices of a warp, and host code is left out. */
namespace nvcuda
{
namespace wmma
{
}
} // namespace nvcuda
