// overloads.cpp - a C++ program: cf_gather() is an overload set, and a loop lists the registry.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <cuferry.h>
#include <cuferry/kernels.h>
#include <cuferry/registry.h>

int main()
{
    std::vector<std::int64_t> source{5, 6, 7}, res(2);
    std::vector<float> floats{1, 2}, few(1);
    std::vector<std::int32_t> index{2, 0};
    if (cf_gather(source.data(), index.data(), res.data(), 2, 3) != CF_OK ||
        cf_gather(floats.data(), index.data() + 1, few.data(), 1, 2) != CF_OK) {
        std::fprintf(stderr, "%s\n", cf_last_error());
        return 1;
    }
    const cf_kernel *kernel = cf_kernel_find(&cf_registry, "gather_i64_i32");
    std::printf("%ld %ld %g %s\n", (long)res[0], (long)res[1], (double)few[0], kernel ? kernel->function : "none");
    return 0;
}
