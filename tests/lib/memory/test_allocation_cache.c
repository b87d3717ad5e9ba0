/* test_allocation_cache.c - for live memory from cf_mem_alloc() on a GPU, plain calls do not ask the driver about the
 * pointer; for all other memory they do. */
#include <pthread.h>

#include "sum_kernel.h"
#include "memory/allocation_cache.h"
#include "context/enter.h"

static void *own(size_t bytes)
{
    void *memory = NULL;
    assert_ok(cf_mem_alloc(&memory, bytes));
    return memory;
}

TEST_WITH(call_does_not_ask_for_own_memory, set_up, tear_down)
{
    GPU_ONLY();
    float *mine = own(64 * sizeof *mine);
    assert_ok(cf_mem_copy(mine, x, 64 * sizeof *mine));
    assert_ok(call(mine, y, 64, 16)); /* loads the kernel */
    assert_ok(call(mine, y, 64, 16));
    expect_direct(1);
    expect_y(64);
    assert_ok(call(x, mine, 64, 64));
    expect_direct(1);
    assert_ok(call(mine, mine, 64, 64));
    expect_direct(0);
    assert_ptr_not_equal(strstr(cf_last_plan(), "2 arrays used in place"), NULL);
    assert_ok(call(mine + 16, y, 48, 16)); /* the cache knows only where an allocation begins */
    expect_direct(2);
    assert_ok(cf_mem_free(mine));
}

TEST_WITH(call_is_refused_where_own_memory_is_too_short, set_up, tear_down)
{
    GPU_ONLY();
    float *mine = own(64 * sizeof *mine);
    assert_ok(call(mine, y, 64, 16));
    assert_fails(call(mine, y, 65, 16), CF_EINVAL, "x has 65 elements, 260 bytes, and its allocation ends after 256");
    assert_int_equal(call_counts[CALL_cuLaunchKernel], 0);
    assert_ok(cf_mem_free(mine));
}

TEST_WITH(call_is_refused_where_own_memory_was_freed, set_up, tear_down)
{
    GPU_ONLY();
    for (int is_async = 0; is_async < 2; is_async++) {
        float *mine = own(64 * sizeof *mine);
        assert_ok(call(mine, y, 64, 16));
        assert_ok(is_async ? cf_mem_free_async(NULL, mine) : cf_mem_free(mine));
        assert_ok(cf_device_sync());
        assert_fails(call(mine, y, 64, 16), CF_EINVAL, "is no memory");
        assert_int_equal(call_counts[CALL_cuLaunchKernel], 0);
    }
}

/* ---- The cache of allocations ---- */

static unsigned long long id(void)
{
    unsigned long long id;
    assert_int_equal(place.driver->cuCtxGetId(place.context, &id), CUDA_SUCCESS);
    return id;
}

TEST_WITH(memory_is_known_by_its_beginning_its_bytes_and_its_context, set_up, tear_down)
{
    static char memory[512];
    GPU_ONLY();
    assert_int_equal(cf__allocation_has(id(), memory, 1), 0);
    cf__allocation_add(&place, memory, 100);
    assert_int_equal(cf__allocation_has(id(), memory, 100), 1);
    assert_int_equal(cf__allocation_has(id(), memory, 101), 0);
    assert_int_equal(cf__allocation_has(id(), memory + 1, 1), 0);
    assert_int_equal(cf__allocation_has(id() + 1, memory, 1), 0); /* another context has the same address */
    cf__allocation_drop(memory + 1);
    assert_int_equal(cf__allocation_has(id(), memory, 100), 1);
    cf__allocation_drop(memory);
    assert_int_equal(cf__allocation_has(id(), memory, 1), 0);
    cf__allocation_add(&place, memory, 100);
    cf__allocation_forget();
    assert_int_equal(cf__allocation_has(id(), memory, 1), 0);
    assert_int_equal(cf__allocation_has(id(), NULL, 0), 0);
}

TEST_WITH(memory_of_the_cpu_is_not_noted, set_up, tear_down)
{
    static char memory[512];
    static const struct cf__driver cpu = {.is_cpu = 1};
    const struct cf__scope host = {.driver = &cpu};
    GPU_ONLY();
    cf__allocation_add(&host, memory, 100);
    assert_int_equal(cf__allocation_has(0, memory, 1), 0);
}

/* There are more allocations than slots. Each entry of the cache is right, and the latest allocation is in the
 * cache. */
TEST_WITH(memory_beyond_the_room_takes_the_place_of_other, set_up, tear_down)
{
    enum { COUNT = 4096, STEP = 512 };
    static char memory[COUNT * STEP];
    GPU_ONLY();
    size_t known = 0;
    for (size_t i = 0; i < COUNT; i++) {
        cf__allocation_add(&place, &memory[i * STEP], i + 1);
        assert_int_equal(cf__allocation_has(id(), &memory[i * STEP], i + 1), 1);
    }
    for (size_t i = 0; i < COUNT; i++) {
        known += (size_t)cf__allocation_has(id(), &memory[i * STEP], i + 1);
        assert_int_equal(cf__allocation_has(id(), &memory[i * STEP], i + 2), 0);
    }
    assert_in_range(known, 256, 512); /* nearly all of the 512 slots are used */
    for (size_t i = 0; i < COUNT; i++) {
        cf__allocation_drop(&memory[i * STEP]);
        assert_int_equal(cf__allocation_has(id(), &memory[i * STEP], 1), 0);
    }
}

enum { THREADS = 4, ROUNDS = 200000, FEW = 100, MANY = 1000 };
static char blocks[4096 * 512];
static const char *small, *large; /* two blocks that share a slot */
static unsigned long long known_id;

static void find_two_of_one_slot(void)
{
    small = blocks;
    cf__allocation_add(&place, small, FEW);
    for (large = small + 512; cf__allocation_has(known_id, small, FEW); large += 512) {
        assert_true(large < blocks + sizeof blocks);
        cf__allocation_add(&place, large, MANY);
    }
    large -= 512;
}

/* Threads record the small block and the large block in turn. */
static void *note_and_look(void *data)
{
    uintptr_t thread = (uintptr_t)data, wrong = 0;
    for (size_t i = 0; i < ROUNDS; i++) {
        if (thread % 2)
            cf__allocation_add(&place, large, MANY);
        else
            cf__allocation_add(&place, small, FEW);
        wrong += (uintptr_t)cf__allocation_has(known_id, small, FEW + 1) +
                 (uintptr_t)cf__allocation_has(known_id, large, MANY + 1);
        if (i % 8 == 0)
            cf__allocation_drop(thread % 2 ? large : small);
    }
    return (void *)wrong;
}

TEST_WITH(memory_is_noted_by_many_threads, set_up, tear_down)
{
    GPU_ONLY();
    known_id = id();
    find_two_of_one_slot();
    run_threads(THREADS, note_and_look);
}

int main(int argc, char *argv[])
{
    make_image(&image, 9);
    return run_made(argc, argv, &module, set_up, tear_down);
}
