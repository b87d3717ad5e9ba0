/* test_driver.c - the signatures, constants and types in lib/driver/driver.h are those of the toolkit's headers. The
 * compiler compares them, so this program cannot be built if one differs. */
#include "config.h"

#if CF_CONFIG_CUDA_TYPEDEFS
#include <cudaTypedefs.h> /* must come first: driver.h then uses the types of this <cuda.h> */
#endif

#include "run_group.h"

#include "driver/driver.h"

#if CF_CONFIG_CUDA_TYPEDEFS

#define PFN_cuStreamGetCaptureInfo_edges_v12030 PFN_cuStreamGetCaptureInfo_v12030

/* Each function pointer has the type that the toolkit gives to this version of the function. */
#define COMPARE(name, version, parameters, names)                                                             \
    _Static_assert(                                                                                           \
        __builtin_types_compatible_p(__typeof__(((struct cf__driver *)NULL)->name), PFN_##name##_v##version), \
        "the signature of " #name " is not that of version " #version);
CF__DRIVER_FUNCS(COMPARE)
#undef COMPARE

#define COMPARE(name, value) _Static_assert((long long)(name) == (value), #name " is not " #value);
CF__DRIVER_CONSTANTS(COMPARE)
#undef COMPARE

/* Declares the library's types again, under another name. */
#define DECLARE(name, type) typedef type our_##name;
CF__DRIVER_TYPES(DECLARE)
#undef DECLARE

/* Classifies a type: an enumeration counts as its integer type, any other type as a pointer. */
#define KIND(type)                     \
    _Generic((type)0, int              \
             : 'i', unsigned int       \
             : 'I', long               \
             : 'l', unsigned long      \
             : 'L', long long          \
             : 'q', unsigned long long \
             : 'Q', default            \
             : '*')
#define COMPARE(name, type)                                                                  \
    _Static_assert(sizeof(name) == sizeof(our_##name), #name " has another size");           \
    _Static_assert(KIND(name) == KIND(our_##name), #name " is of another kind than " #type); \
    _Static_assert(KIND(name) != '*' || __builtin_types_compatible_p(name, our_##name), #name " is no " #type);
CF__DRIVER_TYPES(COMPARE)
#undef COMPARE

/* Compares the library's struct with the toolkit's, field by field. */
#define DECLARE(type, name) type name;
struct our_memcpy2d {
    CF__MEMCPY2D_FIELDS(DECLARE)
};
#undef DECLARE
#define COMPARE(type, name)                                                                                        \
    _Static_assert(offsetof(struct our_memcpy2d, name) == offsetof(CUDA_MEMCPY2D, name), #name " lies elsewhere"); \
    _Static_assert(__builtin_types_compatible_p(__typeof__(((CUDA_MEMCPY2D *)NULL)->name), type),                  \
                   #name " is no " #type);
CF__MEMCPY2D_FIELDS(COMPARE)
#undef COMPARE
_Static_assert(sizeof(struct our_memcpy2d) == sizeof(CUDA_MEMCPY2D), "CUDA_MEMCPY2D has another size");

/* The properties of a pool. The reserved zeros after them must be as many as in the toolkit's struct. */
#define DECLARE(type, name) type name;
struct our_location {
    CF__POOL_LOCATION_FIELDS(DECLARE)
};
struct our_pool_props {
    CF__POOL_PROPS_FIELDS(DECLARE)
    unsigned char reserved[56];
};
#undef DECLARE
#define COMPARE(type, name)                                                                                        \
    _Static_assert(offsetof(struct our_location, name) == offsetof(CUmemLocation, name), #name " lies elsewhere"); \
    _Static_assert(sizeof(type) == sizeof(((CUmemLocation *)NULL)->name), #name " has another size");
CF__POOL_LOCATION_FIELDS(COMPARE)
#undef COMPARE
#define COMPARE(type, name)                                                                                           \
    _Static_assert(offsetof(struct our_pool_props, name) == offsetof(CUmemPoolProps, name), #name " lies elsewhere"); \
    _Static_assert(sizeof(type) == sizeof(((CUmemPoolProps *)NULL)->name), #name " has another size");
CF__POOL_PROPS_FIELDS(COMPARE)
#undef COMPARE
_Static_assert(sizeof(struct our_location) == sizeof(CUmemLocation), "CUmemLocation has another size");
_Static_assert(sizeof(struct our_pool_props) == sizeof(CUmemPoolProps), "CUmemPoolProps has another size");

#define DECLARE(type, name) type name;
struct our_access {
    CF__ACCESS_FIELDS(DECLARE)
};
#undef DECLARE
#define COMPARE(type, name) \
    _Static_assert(offsetof(struct our_access, name) == offsetof(CUmemAccessDesc, name), #name " lies elsewhere");
CF__ACCESS_FIELDS(COMPARE)
#undef COMPARE
_Static_assert(sizeof(struct our_access) == sizeof(CUmemAccessDesc), "CUmemAccessDesc has another size");

#define COMPARE(type, name)                                                                                       \
    _Static_assert(offsetof(struct our_config, name) == offsetof(CUlaunchConfig, name), #name " lies elsewhere"); \
    _Static_assert(sizeof(type) == sizeof(((CUlaunchConfig *)NULL)->name), #name " has another size");
#define DECLARE(type, name) type name;
struct our_config {
    CF__LAUNCH_CONFIG_FIELDS(DECLARE)
};
struct our_edge {
    CF__EDGE_FIELDS(DECLARE)
};
struct our_node {
    CF__KERNEL_NODE_FIELDS(DECLARE)
};
#undef DECLARE
CF__LAUNCH_CONFIG_FIELDS(COMPARE)
#undef COMPARE
_Static_assert(sizeof(struct our_config) == sizeof(CUlaunchConfig), "CUlaunchConfig has another size");
#define COMPARE(type, name) \
    _Static_assert(offsetof(struct our_edge, name) == offsetof(CUgraphEdgeData, name), #name " lies elsewhere");
CF__EDGE_FIELDS(COMPARE)
#undef COMPARE
#define COMPARE(type, name)                                                                       \
    _Static_assert(offsetof(struct our_node, name) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, name), \
                   #name " lies elsewhere");                                                      \
    _Static_assert(sizeof(type) == sizeof(((CUDA_KERNEL_NODE_PARAMS_v2 *)NULL)->name), #name " has another size");
CF__KERNEL_NODE_FIELDS(COMPARE)
#undef COMPARE
_Static_assert(sizeof(struct our_node) == sizeof(CUDA_KERNEL_NODE_PARAMS_v2), "the parameters have another size");
_Static_assert(sizeof(CUgraphEdgeData) == 8, "CUgraphEdgeData has another size");
_Static_assert(sizeof(CUlaunchAttribute) == 72 && offsetof(CUlaunchAttribute, value) == 8 &&
                   sizeof(CUlaunchAttributeValue) == 64 &&
                   sizeof((CUlaunchAttributeValue){.cooperative = 1}.cooperative) == 4,
               "CUlaunchAttribute has another layout");

_Static_assert(sizeof(CUuuid) == 16 && sizeof(((CUuuid *)NULL)->bytes) == 16, "CUuuid has another size");

TEST(driver_declarations_all_were_compared)
{
#define COUNT_FUNCTION(name, version, parameters, names) +1
#define COUNT_ROW(name, other) +1
    int functions = 0 CF__DRIVER_FUNCS(COUNT_FUNCTION), constants = 0 CF__DRIVER_CONSTANTS(COUNT_ROW),
        types = 0 CF__DRIVER_TYPES(COUNT_ROW);
#undef COUNT_FUNCTION
#undef COUNT_ROW
    /* Besides is_cpu, the table holds only these functions. */
    assert_int_equal(sizeof(struct cf__driver), (size_t)(functions + 1) * sizeof(void (*)(void)));
    assert_in_range(functions, 40, 1000);
    assert_in_range(constants, 40, 1000);
    assert_in_range(types, 14, 1000);
    printf("# %d functions, %d constants and %d types are those of CUDA %d.%d\n", functions, constants, types,
           CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
}

TEST(driver_default_streams_are_the_toolkits)
{
    assert_ptr_equal(CU_STREAM_LEGACY, (void *)1);
    assert_ptr_equal(CU_STREAM_PER_THREAD, (void *)2);
    assert_int_equal(CU_EVENT_DEFAULT, 0);
}

TEST(driver_handles_are_the_toolkits)
{
    /* The handles of cuferry.h can be used as the toolkit's, without a cast. */
    assert_true(__builtin_types_compatible_p(cf_stream, CUstream));
    assert_true(__builtin_types_compatible_p(cf_event, CUevent));
    assert_true(__builtin_types_compatible_p(cf_graph, CUgraph));
    assert_true(__builtin_types_compatible_p(cf_graph_exec, CUgraphExec));
    assert_true(__builtin_types_compatible_p(cf_graph_node, CUgraphNode));
}

#else

TEST(driver_declarations_all_were_compared)
{
    skip_test(NEEDS_NVCC);
}

#endif

TEST(driver_versions_are_in_order)
{
#define CHECK(name, version, parameters, names) \
    assert_in_range(version, 2000, 12999);      \
    assert_int_equal((version) % 10, 0);
    CF__DRIVER_FUNCS(CHECK)
#undef CHECK
    assert_int_equal(CF__DRIVER_VERSION, 12000);
}

int main(void)
{
    return run_all_tests(NULL, NULL);
}
