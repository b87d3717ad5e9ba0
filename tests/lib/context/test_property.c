/* test_property.c - the properties of devices. */
#include "played_gpu.h"

static int64_t property(int device, int which)
{
    int64_t value = -1;
    assert_ok(cf_device_property(device, which, &value));
    return value;
}

TEST_WITH(device_property_bad_arguments_are_named, NULL, end_library_empty)
{
    int64_t value = 77;
    assert_fails(cf_device_property(CF_HOST, CF_PROPERTY_MEMORY, NULL), CF_EINVAL, "cf_device_property: value is NULL");
    assert_fails(cf_device_property(CF_HOST, 0, &value), CF_EINVAL, "cf_device_property: 0 is no property");
    assert_fails(cf_device_property(CF_HOST, -1, &value), CF_EINVAL, "cf_device_property: -1 is no property");
    assert_fails(cf_device_property(CF_HOST, CF_PROPERTY_DRIVER + 1, &value), CF_EINVAL, "22 is no property");
    assert_fails(cf_device_property(-2, CF_PROPERTY_MEMORY, &value), CF_ENODEV, "cf_device_property: device -2");
    assert_fails(cf_device_property(1000, CF_PROPERTY_MEMORY, &value), CF_ENODEV, "cf_device_property: device 1000");
    assert_int_equal(value, 77);
}

TEST_WITH(device_property_every_one_is_plausible, NULL, end_library_empty)
{
    int count = 0;
    assert_ok(cf_device_count(&count));
    for (int device = CF_HOST; device < count; device++) {
#define EXPECT(which, least, most) assert_in_range(property(device, which), least, most)
        int is_gpu = device != CF_HOST;
        EXPECT(CF_PROPERTY_MEMORY, 1 << 20, INT64_MAX);
        EXPECT(CF_PROPERTY_MEMORY_FREE, 0, property(device, CF_PROPERTY_MEMORY));
        EXPECT(CF_PROPERTY_CAPABILITY, is_gpu ? 50 : 0, is_gpu ? 999 : 0);
        EXPECT(CF_PROPERTY_MULTIPROCESSORS, 1, 100000);
        EXPECT(CF_PROPERTY_THREADS_PER_BLOCK, 1024, 1024);
        EXPECT(CF_PROPERTY_THREADS_PER_MULTIPROCESSOR, is_gpu ? 1024 : 0, is_gpu ? 4096 : 0);
        EXPECT(CF_PROPERTY_SHARED_PER_BLOCK, is_gpu ? 48 << 10 : 0, is_gpu ? 1 << 20 : 0);
        EXPECT(CF_PROPERTY_REGISTERS_PER_BLOCK, is_gpu ? 32768 : 0, is_gpu ? 1 << 20 : 0);
        EXPECT(CF_PROPERTY_WARP_SIZE, is_gpu ? 32 : 0, 32);
        EXPECT(CF_PROPERTY_L2_CACHE, is_gpu ? 1 << 16 : 0, 1 << 30);
        EXPECT(CF_PROPERTY_CLOCK_KHZ, is_gpu ? 100000 : 0, is_gpu ? 10000000 : 0);
        EXPECT(CF_PROPERTY_MEMORY_CLOCK_KHZ, is_gpu ? 100000 : 0, is_gpu ? 100000000 : 0);
        EXPECT(CF_PROPERTY_MEMORY_BUS_BITS, is_gpu ? 32 : 0, is_gpu ? 1 << 20 : 0);
        EXPECT(CF_PROPERTY_COPY_ENGINES, is_gpu ? 1 : 0, is_gpu ? 64 : 0);
        EXPECT(CF_PROPERTY_PAGEABLE_ACCESS, is_gpu ? 0 : 1, 1);
        EXPECT(CF_PROPERTY_MANAGED_MEMORY, 0, 1);
        EXPECT(CF_PROPERTY_COOPERATIVE_LAUNCH, 0, 1);
        EXPECT(CF_PROPERTY_MEMORY_POOLS, 0, 1);
        EXPECT(CF_PROPERTY_INTEGRATED, is_gpu ? 0 : 1, 1);
        EXPECT(CF_PROPERTY_DRIVER, is_gpu ? 12000 : 0, is_gpu ? 99000 : 0);
#undef EXPECT
        int64_t node = property(device, CF_PROPERTY_NUMA_NODE);
        assert_true(node >= -1 && node < (is_gpu ? 1024 : 0));
    }
}

TEST_WITH(device_property_is_what_the_driver_says, NULL, end_library_empty)
{
    static const struct {
        int property;
        CUdevice_attribute attribute;
    } pairs[] = {
        {CF_PROPERTY_MULTIPROCESSORS, 16},
        {CF_PROPERTY_THREADS_PER_BLOCK, 1},
        {CF_PROPERTY_THREADS_PER_MULTIPROCESSOR, 39},
        {CF_PROPERTY_SHARED_PER_BLOCK, 97},
        {CF_PROPERTY_REGISTERS_PER_BLOCK, 12},
        {CF_PROPERTY_WARP_SIZE, 10},
        {CF_PROPERTY_L2_CACHE, 38},
        {CF_PROPERTY_CLOCK_KHZ, 13},
        {CF_PROPERTY_MEMORY_CLOCK_KHZ, 36},
        {CF_PROPERTY_MEMORY_BUS_BITS, 37},
        {CF_PROPERTY_COPY_ENGINES, 40},
        {CF_PROPERTY_PAGEABLE_ACCESS, 88},
        {CF_PROPERTY_MANAGED_MEMORY, 83},
        {CF_PROPERTY_COOPERATIVE_LAUNCH, 95},
        {CF_PROPERTY_MEMORY_POOLS, 115},
        {CF_PROPERTY_INTEGRATED, 18},
    };
    need_any_gpu();
    const struct cf__driver *driver = other_library();
    int major = 0, minor = 0, value;
    size_t bytes;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_int_equal(driver->cuDeviceGetAttribute(&value, pairs[i].attribute, 0), CUDA_SUCCESS);
        assert_int_equal(property(0, pairs[i].property), value);
    }
    assert_int_equal(driver->cuDeviceGetAttribute(&major, 75, 0), CUDA_SUCCESS);
    assert_int_equal(driver->cuDeviceGetAttribute(&minor, 76, 0), CUDA_SUCCESS);
    assert_int_equal(property(0, CF_PROPERTY_CAPABILITY), 10 * major + minor);
    assert_int_equal(driver->cuDeviceTotalMem(&bytes, 0), CUDA_SUCCESS);
    assert_int_equal(property(0, CF_PROPERTY_MEMORY), bytes);
}

FAKE_TEST(device_property_of_two_devices_differs, "FAKE_CUDA=cc=90,cc1=86")
{
    assert_int_equal(property(0, CF_PROPERTY_CAPABILITY), 90);
    assert_int_equal(property(1, CF_PROPERTY_CAPABILITY), 86);
}

FAKE_TEST(device_property_alone_starts_no_device, "CF_DRIVER=cuda")
{
    char text[1024];
    for (int which = CF_PROPERTY_MEMORY; which <= CF_PROPERTY_DRIVER; which++)
        if (which != CF_PROPERTY_MEMORY_FREE)
            (void)property(0, which);
    if (count_alive(text, sizeof text) > 0)
        fail_msg("%s", text);
    (void)property(1, CF_PROPERTY_MEMORY_FREE);
    assert_int_equal(count_alive(text, sizeof text), 1);
    assert_string_equal(text, "primary context of device 1, retained 1 times\n");
}

FAKE_TEST(device_property_free_memory_is_what_is_left, "FAKE_CUDA=oom=1000000")
{
    void *memory;
    int64_t before = property(0, CF_PROPERTY_MEMORY_FREE);
    assert_int_equal(before, 1000000);
    assert_ok(cf_mem_alloc(&memory, 300000));
    assert_int_equal(property(0, CF_PROPERTY_MEMORY_FREE), 700000);
    assert_ok(cf_mem_free(memory));
    assert_int_equal(property(0, CF_PROPERTY_MEMORY_FREE), 1000000);
}

FAKE_TEST(device_property_no_gpu_is_enodev, "FAKE_CUDA=devices=0")
{
    int64_t value = 77;
    assert_fails(cf_device_property(0, CF_PROPERTY_MEMORY, &value), CF_ENODEV, "cf_device_property: device 0");
    assert_int_equal(value, 77);
    assert_true(property(CF_HOST, CF_PROPERTY_MEMORY) > 0);
}

int main(int argc, char *argv[])
{
    return run_with_fake(argc, argv, NULL, end_library_empty);
}
