/* test_allocate.c - allocating, copying and filling device memory, synchronously and in stream order. */
#include "run_group.h"

#include "context/enter.h"
#include "context/handle.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

static unsigned short seed[3] = {1, 2, 3};

static void random_bytes(void *target, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)target)[i] = (unsigned char)(nrand48(seed) >> 8);
}

static void *allocate(size_t bytes)
{
    void *memory = NULL;
    assert_ok(cf_mem_alloc(&memory, bytes));
    assert_non_null(memory);
    return memory;
}

/* Returns device memory with a copy of `bytes` bytes. */
static void *upload(const void *data, size_t bytes)
{
    void *memory = allocate(bytes);
    assert_ok(cf_mem_copy(memory, data, bytes));
    return memory;
}

static void expect_bytes(const void *memory, const void *expected, size_t bytes)
{
    unsigned char *read = malloc(bytes);
    assert_non_null(read);
    for (size_t i = 0; i < bytes; i++)
        read[i] = (unsigned char)~((const unsigned char *)expected)[i];
    assert_ok(cf_mem_copy(read, memory, bytes));
    assert_memory_equal(read, expected, bytes);
    free(read);
}

/* The streams of a copy: all names of the default streams, and a stream of our own. */
enum { STREAMS = 4 };
static cf_stream streams[STREAMS] = {NULL, (cf_stream)1, (cf_stream)2};

static int set_up(void **state)
{
    (void)state;
    return cf_stream_create(&streams[STREAMS - 1]);
}

static int tear_down(void **state)
{
    (void)state;
    int status = cf_stream_destroy(streams[STREAMS - 1]);
    return status == CF_OK ? cf_shutdown() : status;
}

/* ---- Allocation ---- */

TEST(mem_alloc_any_size_is_aligned_and_usable)
{
    static const size_t sizes[] = {1, 2, 3, 255, 256, 257, 4095, 4096, 65537, 1 << 20, (8 << 20) + 1};
    unsigned char *data = malloc((8 << 20) + 1);
    assert_non_null(data);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        random_bytes(data, sizes[i]);
        void *memory = upload(data, sizes[i]);
        assert_int_equal((uintptr_t)memory % 256, 0);
        expect_bytes(memory, data, sizes[i]);
        assert_ok(cf_mem_free(memory));
    }
    free(data);
}

TEST(mem_alloc_0_bytes_is_null)
{
    void *memory = &memory;
    assert_ok(cf_mem_alloc(&memory, 0));
    assert_null(memory);
    assert_ok(cf_mem_free(memory));
}

TEST(mem_alloc_null_is_invalid)
{
    assert_fails(cf_mem_alloc(NULL, 16), CF_EINVAL, "cf_mem_alloc: pointer is NULL");
    assert_fails(cf_mem_alloc(NULL, 0), CF_EINVAL, "cf_mem_alloc: pointer is NULL");
}

TEST(mem_alloc_too_much_is_enomem_and_next_works)
{
    static const size_t sizes[] = {SIZE_MAX / 2, SIZE_MAX / 2 + 1, SIZE_MAX - 255, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *memory = &memory;
        char said[64];
        snprintf(said, sizeof said, "cf_mem_alloc: %zu bytes", sizes[i]);
        assert_fails(cf_mem_alloc(&memory, sizes[i]), CF_ENOMEM, said);
        assert_ptr_equal(memory, &memory);
        assert_ok(cf_mem_free(upload("abc", 4)));
    }
}

TEST(mem_free_null_succeeds)
{
    assert_ok(cf_mem_free(NULL));
}

TEST(mem_free_foreign_pointer_is_invalid)
{
    static char in_data[256];
    char on_stack[256];
    char *on_heap = malloc(256);
    assert_non_null(on_heap);
    void *memory = upload("live", 5); /* the driver then has a live allocation */
    assert_fails(cf_mem_free(in_data), CF_EINVAL, "is not from cf_mem_alloc()");
    assert_fails(cf_mem_free(on_stack), CF_EINVAL, "is not from cf_mem_alloc()");
    assert_fails(cf_mem_free(on_heap), CF_EINVAL, "is not from cf_mem_alloc()");
    assert_fails(cf_mem_free((void *)(uintptr_t)1), CF_EINVAL, "is not from cf_mem_alloc()");
    assert_fails(cf_mem_free((void *)UINTPTR_MAX), CF_EINVAL, "is not from cf_mem_alloc()");
    expect_bytes(memory, "live", 5);
    assert_ok(cf_mem_free(memory));
    free(on_heap);
}

TEST(mem_free_middle_of_allocation_is_invalid)
{
    unsigned char data[1024];
    random_bytes(data, sizeof data);
    char *memory = upload(data, sizeof data);
    static const size_t offsets[] = {1, 256, 512, 1023};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
        assert_fails(cf_mem_free(memory + offsets[i]), CF_EINVAL, "is not from cf_mem_alloc()");
    expect_bytes(memory, data, sizeof data);
    assert_ok(cf_mem_free(memory));
}

TEST(mem_free_twice_is_invalid)
{
    void *memory = allocate(4 << 20);
    assert_ok(cf_mem_free(memory));
    assert_fails(cf_mem_free(memory), CF_EINVAL, "is not from cf_mem_alloc()");
}

TEST(mem_free_many_in_random_order_keeps_the_others)
{
    enum { COUNT = 2000 };
    static struct {
        void *memory;
        uint64_t value;
        size_t size;
    } all[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        all[i].size = sizeof all[i].value + (size_t)nrand48(seed) % 2000;
        random_bytes(&all[i].value, sizeof all[i].value);
        all[i].memory = allocate(all[i].size);
        /* The value is at the end, where an overlapping neighbour would overwrite it. */
        assert_ok(cf_mem_copy((char *)all[i].memory + all[i].size - 8, &all[i].value, 8));
    }
    for (size_t left = COUNT; left > 0; left--) {
        size_t i = (size_t)nrand48(seed) % left;
        uint64_t value = ~all[i].value;
        assert_ok(cf_mem_copy(&value, (char *)all[i].memory + all[i].size - 8, 8));
        assert_int_equal(value, all[i].value);
        assert_ok(cf_mem_free(all[i].memory));
        if (left % 97 == 0)
            assert_int_equal(cf_mem_free(all[i].memory), CF_EINVAL);
        all[i] = all[left - 1];
    }
}

/* Each thread allocates, fills, reads back and frees memory; returns the number of errors. */
static void *churn(void *unused)
{
    intptr_t wrong = 0;
    unsigned char read[512];
    (void)unused;
    for (int round = 0; round < 100; round++) {
        void *memory[8] = {NULL};
        for (int i = 0; i < 8; i++) {
            wrong += cf_mem_alloc(&memory[i], sizeof read) != CF_OK;
            wrong += cf_mem_fill(memory[i], (unsigned char)(round + i), sizeof read) != CF_OK;
        }
        for (int i = 0; i < 8; i++) {
            wrong += cf_mem_copy(read, memory[i], sizeof read) != CF_OK;
            for (size_t j = 0; j < sizeof read; j++)
                wrong += read[j] != (unsigned char)(round + i);
            wrong += cf_mem_free(memory[i]) != CF_OK;
        }
    }
    return (void *)wrong;
}

TEST(mem_alloc_8_threads_at_once_are_apart)
{
    run_threads(8, churn);
}

/* ---- Pinned memory, and memory of other libraries ---- */

TEST(mem_alloc_pinned_is_host_memory_that_devices_reach)
{
    static const size_t sizes[] = {1, 4096, 100001, 1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *pinned = NULL, *read = malloc(sizes[i]);
        assert_non_null(read);
        assert_ok(cf_mem_alloc_pinned((void **)&pinned, sizes[i]));
        assert_non_null(pinned);
        assert_int_equal((uintptr_t)pinned % 256, 0);
        random_bytes(pinned, sizes[i]);
        void *memory = upload(pinned, sizes[i]);
        expect_bytes(memory, pinned, sizes[i]);
        assert_ok(cf_mem_fill(pinned, 0x77, sizes[i])); /* the device itself fills it */
        for (size_t b = 0; b < sizes[i]; b++)
            assert_int_equal(pinned[b], 0x77);
        assert_ok(cf_mem_copy(read, pinned, sizes[i]));
        assert_memory_equal(read, pinned, sizes[i]);
        assert_ok(cf_mem_free(pinned));
        assert_ok(cf_mem_free(memory));
        free(read);
    }
}

TEST(mem_alloc_pinned_bad_arguments_are_named)
{
    void *memory = &memory;
    assert_fails(cf_mem_alloc_pinned(NULL, 16), CF_EINVAL, "cf_mem_alloc_pinned: pointer is NULL");
    assert_fails(cf_mem_alloc_pinned(&memory, SIZE_MAX), CF_ENOMEM, "cf_mem_alloc_pinned: 18446744073709551615 bytes");
    assert_ptr_equal(memory, &memory);
    assert_ok(cf_mem_alloc_pinned(&memory, 0));
    assert_null(memory);
}

TEST(mem_free_pinned_memory_wrongly_is_invalid)
{
    char *pinned = NULL;
    assert_ok(cf_mem_alloc_pinned((void **)&pinned, 10000));
    assert_fails(cf_mem_free(pinned + 4096), CF_EINVAL, "is not from cf_mem_alloc()");
    pinned[9999] = 1;
    assert_int_equal(cf__handle_is_memory(pinned + 9999), on_cuda()); /* a forked child may not use it */
    assert_ok(cf_mem_free(pinned));
    assert_int_equal(cf__handle_is_memory(pinned), 0);
    assert_fails(cf_mem_free(pinned), CF_EINVAL, "cf_mem_free: ");
}

TEST(mem_free_registered_memory_is_invalid_and_leaves_it)
{
    need_any_gpu();
    int (*host_register)(void *, size_t, unsigned int) =
        (int (*)(void *, size_t, unsigned int))driver_function("cuMemHostRegister", 6050);
    int (*host_unregister)(void *) = (int (*)(void *))driver_function("cuMemHostUnregister", 4000);
    unsigned char *memory = aligned_alloc(4096, 8192);
    struct cf__scope place;
    assert_non_null(memory);
    random_bytes(memory, 8192);
    assert_ok(cf__enter(&place, "test", NULL));
    assert_int_equal(host_register(memory, 8192, 0), 0);
    assert_fails(cf_mem_free(memory), CF_EINVAL, "is page-locked memory, and not from cf_mem_alloc_pinned()");
    assert_fails(cf_mem_free(memory + 4096), CF_EINVAL, "is not from cf_mem_alloc()");
    void *device = upload(memory, 8192);
    expect_bytes(device, memory, 8192);
    assert_int_equal(host_unregister(memory), 0);
    cf__leave(&place);
    assert_ok(cf_mem_free(device));
    free(memory);
}

/* Memory that CUDA's own functions allocated is freed with the matching functions. */
TEST(mem_free_memory_of_the_driver_frees_it)
{
    need_any_gpu();
    int (*alloc_managed)(void **, size_t, unsigned int) =
        (int (*)(void **, size_t, unsigned int))driver_function("cuMemAllocManaged", 6000);
    int (*alloc_host)(void **, size_t) = (int (*)(void **, size_t))driver_function("cuMemAllocHost", 3020);
    struct cf__scope place;
    void *memory = NULL;
    assert_ok(cf__enter(&place, "test", NULL));
    assert_int_equal(alloc_managed(&memory, 1000, 1), 0);
    memset(memory, 1, 1000);
    assert_ok(cf_mem_free(memory));
    assert_int_equal(alloc_host(&memory, 1000), 0);
    memset(memory, 1, 1000);
    assert_ok(cf_mem_free(memory));
    cf__leave(&place);
}

/* Allocates and frees until stop_allocating is set. */
static int stop_allocating;

static void *keep_allocating(void *unused)
{
    intptr_t wrong = 0;
    (void)unused;
    while (!__atomic_load_n(&stop_allocating, __ATOMIC_RELAXED)) {
        void *memory = NULL;
        wrong += cf_mem_alloc(&memory, 64) != CF_OK || cf_mem_free(memory) != CF_OK;
    }
    return (void *)wrong;
}

/* A child must not use memory that its parent pinned for a GPU, even if it can read that memory. On the CPU, the child
 * has a copy of it, as of all memory. Returns the line of a failure, or 0. */
static int use_parents_pinned(char *pinned, size_t bytes)
{
    char other[16] = {0};
    int expected = on_cuda() ? CF_EFORK : CF_OK;
    void *own = NULL;
#define EXPECT(call, status)    \
    do {                        \
        if ((call) != (status)) \
            return __LINE__;    \
    } while (0)
    EXPECT(cf_device_use(CF_HOST), CF_OK);
    for (int i = 0; i < 2; i++) {
        EXPECT(cf_mem_copy(other, pinned, sizeof other), expected);
        EXPECT(cf_mem_copy(pinned + bytes - sizeof other, other, sizeof other), expected);
        EXPECT(cf_mem_copy_async(NULL, other, pinned + 1, sizeof other), expected);
        EXPECT(cf_mem_fill(pinned + bytes - 1, 0, 1), expected);
        EXPECT(cf_mem_free(other), CF_EINVAL); /* memory that nobody allocated still gives EINVAL */
        EXPECT(cf_mem_alloc_pinned(&own, bytes), CF_OK);
        EXPECT(cf_mem_copy(other, own, sizeof other), CF_OK);
        EXPECT(cf_mem_free(own), CF_OK);
        if (!on_cuda())
            break;
        EXPECT(cf_mem_free(pinned), CF_EFORK);
        EXPECT(cf_mem_free_async(NULL, pinned), CF_EFORK);
        if (!strstr(cf_last_error(), "cf_mem_free_async: this process was forked from one that used a GPU"))
            return __LINE__;
        EXPECT(cf_shutdown(), CF_OK); /* the pinned memory still counts as the parent's after that */
    }
    EXPECT(on_cuda() ? CF_OK : cf_mem_free(pinned), CF_OK);
    EXPECT(cf_shutdown(), CF_OK);
#undef EXPECT
    return 0;
}

TEST(mem_functions_pinned_memory_of_the_parent_is_efork)
{
    enum { LENGTH = 10000 };
    char *pinned = NULL;
    int status = -1;
    assert_ok(cf_mem_alloc_pinned((void **)&pinned, LENGTH));
    memset(pinned, 7, LENGTH);
    pid_t child = fork_flushed();
    assert_true(child >= 0);
    if (child == 0) {
        int line = use_parents_pinned(pinned, LENGTH);
        if (line)
            printf("# line %d: %s\n", line, cf_last_error());
        fflush(NULL);
        _exit(line != 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    for (int i = 0; i < LENGTH; i++)
        assert_int_equal(pinned[i], 7);
    assert_ok(cf_mem_free(pinned));
}

TEST(mem_alloc_in_child_of_busy_parent_works)
{
    skip_where_forks_are_unsafe();
    need_cpu();
    enum { THREADS = 4, CHILDREN = 200 };
    pthread_t threads[THREADS];
    int failed = 0, status = 0;
    __atomic_store_n(&stop_allocating, 0, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, keep_allocating, NULL), 0);
    for (int i = 0; i < CHILDREN && !failed; i++) {
        pid_t child = fork_flushed();
        if (child == 0) {
            void *memory = NULL;
            alarm(600); /* ends a child that hangs */
            _exit(cf_mem_alloc(&memory, 64) != CF_OK || cf_mem_fill(memory, 1, 64) != CF_OK ||
                  cf_mem_free(memory) != CF_OK);
        }
        failed = child < 0 || waitpid(child, &status, 0) != child || status != 0;
    }
    __atomic_store_n(&stop_allocating, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    if (failed)
        fail_msg("a child %s", WIFSIGNALED(status) ? "is stuck" : "gets wrong results");
}

/* ---- Copies ---- */

/* Copies between both kinds of memory in all directions, at odd offsets; the bytes around the target must not
 * change. */
static void check_copies(int asynchronous)
{
    enum { SIZE = 5000 };
    static unsigned char data[SIZE], before[SIZE], expected[SIZE];
    static const size_t lengths[] = {1, 3, 4, 255, 256, 257, 4000};
    for (int direction = 0; direction < 4; direction++) {
        int from_device = direction & 1, to_device = direction >> 1;
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            size_t from = (size_t)nrand48(seed) % 900, to = (size_t)nrand48(seed) % 900;
            random_bytes(data, SIZE);
            random_bytes(before, SIZE);
            memcpy(expected, before, SIZE);
            memcpy(expected + to, data + from, lengths[i]);
            char *source = from_device ? upload(data, SIZE) : (char *)data;
            char *target = to_device ? upload(before, SIZE) : (char *)before;
            if (asynchronous) {
                cf_stream stream = streams[i % STREAMS];
                assert_ok(cf_mem_copy_async(stream, target + to, source + from, lengths[i]));
                assert_ok(cf_stream_sync(stream));
            } else {
                assert_ok(cf_mem_copy(target + to, source + from, lengths[i]));
            }
            if (to_device)
                expect_bytes(target, expected, SIZE);
            else
                assert_memory_equal(target, expected, SIZE);
            if (from_device)
                expect_bytes(source, data, SIZE);
            assert_ok(cf_mem_free(from_device ? source : NULL));
            assert_ok(cf_mem_free(to_device ? target : NULL));
        }
    }
}

TEST(mem_copy_every_direction_moves_the_bytes)
{
    check_copies(0);
}

TEST(mem_copy_async_every_direction_moves_the_bytes)
{
    check_copies(1);
}

TEST(mem_copy_within_an_allocation_moves_the_bytes)
{
    unsigned char data[2000];
    random_bytes(data, sizeof data);
    char *memory = upload(data, sizeof data);
    assert_ok(cf_mem_copy(memory + 1000, memory, 1000));
    memcpy(data + 1000, data, 1000);
    expect_bytes(memory, data, sizeof data);
    assert_ok(cf_mem_free(memory));
}

TEST(mem_copy_large_is_complete_on_return)
{
    size_t bytes = (16 << 20) + 13;
    unsigned char *data = malloc(bytes), *read = calloc(bytes, 1);
    assert_true(data && read);
    random_bytes(data, bytes);
    void *first = upload(data, bytes), *second = allocate(bytes);
    assert_ok(cf_mem_copy(second, first, bytes));
    assert_ok(cf_mem_free(first));
    assert_ok(cf_mem_copy(read, second, bytes));
    assert_memory_equal(read, data, bytes);
    assert_ok(cf_mem_free(second));
    free(data);
    free(read);
}

/* Each copy of the chain needs the result of the one before it. */
TEST(mem_copy_async_one_stream_keeps_its_order)
{
    size_t bytes = 1 << 20;
    unsigned char *data = malloc(bytes), *read = calloc(bytes, 1);
    assert_true(data && read);
    random_bytes(data, bytes);
    for (int s = 0; s < STREAMS; s++) {
        void *first = allocate(bytes), *second = allocate(bytes);
        memset(read, 0, bytes);
        assert_ok(cf_mem_copy_async(streams[s], first, data, bytes));
        assert_ok(cf_mem_copy_async(streams[s], second, first, bytes));
        assert_ok(cf_mem_fill_async(streams[s], first, 0, bytes));
        assert_ok(cf_mem_copy_async(streams[s], read, second, bytes));
        assert_ok(cf_stream_sync(streams[s]));
        assert_memory_equal(read, data, bytes);
        assert_ok(cf_mem_free(first));
        assert_ok(cf_mem_free(second));
    }
    free(data);
    free(read);
}

TEST(mem_copy_0_bytes_takes_anything)
{
    char byte = 'x';
    void *memory = upload("y", 1);
    assert_ok(cf_mem_copy(NULL, NULL, 0));
    assert_ok(cf_mem_copy(&byte, memory, 0));
    assert_ok(cf_mem_copy((char *)memory + 1, &byte, 0));
    assert_ok(cf_mem_copy_async(streams[3], NULL, NULL, 0));
    assert_ok(cf_mem_copy_async(NULL, memory, &byte, 0));
    assert_int_equal(byte, 'x');
    expect_bytes(memory, "y", 1);
    assert_ok(cf_mem_free(memory));
}

TEST(mem_copy_null_is_invalid)
{
    char byte = 'x';
    void *memory = upload("y", 1);
    assert_fails(cf_mem_copy(NULL, memory, 1), CF_EINVAL, "cf_mem_copy: target is NULL");
    assert_fails(cf_mem_copy(memory, NULL, 1), CF_EINVAL, "cf_mem_copy: source is NULL");
    assert_fails(cf_mem_copy_async(NULL, NULL, &byte, 1), CF_EINVAL, "cf_mem_copy_async: target is NULL");
    assert_fails(cf_mem_copy_async(streams[3], memory, NULL, 1), CF_EINVAL, "cf_mem_copy_async: source is NULL");
    expect_bytes(memory, "y", 1);
    assert_ok(cf_mem_free(memory));
}

TEST(mem_copy_past_the_end_is_invalid)
{
    static unsigned char data[2000], other[2000];
    random_bytes(data, sizeof data);
    memset(other, 0x5a, sizeof other);
    char *memory = upload(data, 1000);
    assert_fails(cf_mem_copy(memory, other, 1001), CF_EINVAL,
                 "cf_mem_copy: target has 1000 bytes left in its allocation, not 1001");
    assert_fails(cf_mem_copy(memory + 999, other, 2), CF_EINVAL, "target has 1 bytes left in its allocation, not 2");
    assert_fails(cf_mem_copy(other, memory, 1001), CF_EINVAL,
                 "cf_mem_copy: source has 1000 bytes left in its allocation, not 1001");
    assert_fails(cf_mem_copy(other, memory + 600, 401), CF_EINVAL, "source has 400 bytes left");
    assert_fails(cf_mem_copy(other, memory, SIZE_MAX), CF_EOVERFLOW,
                 "cf_mem_copy: 18446744073709551615 bytes from target = 0x");
    assert_fails(cf_mem_copy_async(streams[3], memory, other, SIZE_MAX - 1), CF_EOVERFLOW, " bytes from target = 0x");
    assert_fails(cf_mem_fill(other, 0, SIZE_MAX), CF_EOVERFLOW, "cf_mem_fill: 18446744073709551615 bytes from target");
    assert_fails(cf_mem_fill_async(streams[3], memory, 0, SIZE_MAX), CF_EOVERFLOW, "cf_mem_fill_async: ");
    assert_fails(cf_mem_copy_async(streams[3], memory + 1, other, 1000), CF_EINVAL,
                 "cf_mem_copy_async: target has 999 bytes left");
    assert_fails(cf_mem_copy_async(NULL, other, memory + 1, 1000), CF_EINVAL,
                 "cf_mem_copy_async: source has 999 bytes left");
    expect_bytes(memory, data, 1000);
    for (size_t i = 0; i < sizeof other; i++)
        assert_int_equal(other[i], 0x5a);
    assert_ok(cf_mem_copy(memory + 999, other, 1));
    assert_ok(cf_mem_free(memory));
}

TEST(mem_copy_async_destroyed_stream_is_invalid)
{
    need_cpu();
    cf_stream stream;
    void *memory = upload("y", 1);
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_stream_destroy(stream));
    assert_fails(cf_mem_copy_async(stream, memory, "x", 1), CF_EINVAL, ": invalid resource handle");
    assert_fails(cf_mem_fill_async(stream, memory, 'x', 1), CF_EINVAL, ": invalid resource handle");
    expect_bytes(memory, "y", 1);
    assert_ok(cf_mem_free(memory));
}

/* ---- Fills ---- */

static void check_fills(int asynchronous)
{
    enum { SIZE = 3000 };
    static unsigned char expected[SIZE];
    static const size_t lengths[] = {1, 2, 3, 255, 256, 257, 2000};
    for (size_t i = 0; i < 4 * sizeof lengths / sizeof *lengths; i++) {
        size_t length = lengths[i % (sizeof lengths / sizeof *lengths)], from = (size_t)nrand48(seed) % 900;
        unsigned char value = i == 0 ? 0 : i == 1 ? 0xff : (unsigned char)nrand48(seed);
        random_bytes(expected, SIZE);
        char *memory = upload(expected, SIZE);
        memset(expected + from, value, length);
        if (asynchronous) {
            cf_stream stream = streams[i % STREAMS];
            assert_ok(cf_mem_fill_async(stream, memory + from, value, length));
            assert_ok(cf_stream_sync(stream));
        } else {
            assert_ok(cf_mem_fill(memory + from, value, length));
        }
        expect_bytes(memory, expected, SIZE);
        assert_ok(cf_mem_free(memory));
    }
}

TEST(mem_fill_any_part_sets_every_byte)
{
    check_fills(0);
}

TEST(mem_fill_async_any_part_sets_every_byte)
{
    check_fills(1);
}

TEST(mem_fill_0_bytes_takes_anything)
{
    void *memory = upload("y", 1);
    assert_ok(cf_mem_fill(NULL, 1, 0));
    assert_ok(cf_mem_fill(memory, 1, 0));
    assert_ok(cf_mem_fill_async(NULL, NULL, 1, 0));
    assert_ok(cf_mem_fill_async(streams[3], memory, 1, 0));
    expect_bytes(memory, "y", 1);
    assert_ok(cf_mem_free(memory));
}

TEST(mem_fill_bad_target_is_invalid)
{
    unsigned char data[100];
    random_bytes(data, sizeof data);
    char *memory = upload(data, sizeof data);
    assert_fails(cf_mem_fill(NULL, 1, 1), CF_EINVAL, "cf_mem_fill: target is NULL");
    assert_fails(cf_mem_fill_async(streams[3], NULL, 1, 1), CF_EINVAL, "cf_mem_fill_async: target is NULL");
    assert_fails(cf_mem_fill(memory, 1, 101), CF_EINVAL,
                 "cf_mem_fill: target has 100 bytes left in its allocation, not 101");
    assert_fails(cf_mem_fill_async(NULL, memory + 60, 1, 41), CF_EINVAL,
                 "cf_mem_fill_async: target has 40 bytes left in its allocation, not 41");
    char detail[128], ordinary[100];
    snprintf(
        detail, sizeof detail,
        "cf_mem_fill: 100 bytes at target %p, which is host memory that the GPU does not reach: ", (void *)ordinary);
    int status = cf_mem_fill(ordinary, 1, sizeof ordinary); /* on some devices the GPU can access it */
    assert_true(status == CF_OK || (status == CF_EINVAL && strstr(cf_last_error(), detail)));
    expect_bytes(memory, data, sizeof data);
    assert_ok(cf_mem_free(memory));
}

/* The driver would take the address for CPU memory, and crash. */
TEST(memory_of_a_gpu_that_was_freed_is_no_memory)
{
    enum { LARGE = 4 << 20 }; /* large enough to be staged */
    need_any_gpu();
    char detail[160], *host = calloc(1, LARGE);
    void *freed;
    assert_non_null(host);
    assert_ok(cf_mem_alloc(&freed, LARGE));
    assert_ok(cf_mem_free(freed));
#define GONE(call, name)                                                                           \
    do {                                                                                           \
        snprintf(detail, sizeof detail,                                                            \
                 "%.*s: " name " = %p is no memory: the CPU cannot read there, and no device has " \
                 "it; it may have been freed",                                                     \
                 (int)strcspn(#call, "("), #call, freed);                                          \
        assert_fails(call, CF_EINVAL, detail);                                                     \
    } while (0)
    static const size_t sizes[] = {1, 1000, LARGE};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        GONE(cf_mem_copy(freed, host, sizes[i]), "target");
        GONE(cf_mem_copy(host, freed, sizes[i]), "source");
        GONE(cf_mem_fill(freed, 1, sizes[i]), "target");
    }
    GONE(cf_mem_copy_2d(freed, 100, host, 100, 10, 10), "target");
#undef GONE
    assert_int_equal(cf_mem_free(freed), CF_EINVAL);
    free(host);
}

/* ---- Two devices in one process ---- */

static void *cross_devices(void *unused)
{
    void *of_host = NULL, *of_gpu = NULL;
    cf_stream on_host = NULL;
    unsigned char bytes[64], expected[64];
    (void)unused;
    memset(expected, 7, sizeof expected);
    if (cf_mem_alloc(&of_gpu, sizeof bytes) != CF_OK || cf_device_use(CF_HOST) != CF_OK ||
        cf_mem_alloc(&of_host, sizeof bytes) != CF_OK || cf_stream_create(&on_host) != CF_OK)
        return (void *)"no memory on both devices";
    if (cf_mem_copy_async(on_host, bytes, of_gpu, sizeof bytes) != CF_EINVAL ||
        !strstr(cf_last_error(), "cf_mem_copy_async: source is memory of device 0 and the stream is of CF_HOST"))
        return (void *)"a stream of the CPU reads memory of a GPU";
    if (cf_mem_fill_async(on_host, of_gpu, 7, sizeof bytes) != CF_EINVAL ||
        !strstr(cf_last_error(), "cf_mem_fill_async: target is memory of device 0 and the stream is of CF_HOST"))
        return (void *)"a stream of the CPU fills memory of a GPU";
    if (cf_mem_fill(of_gpu, 7, sizeof bytes) != CF_OK || cf_mem_copy(of_host, of_gpu, sizeof bytes) != CF_OK ||
        memcmp(of_host, expected, sizeof bytes) != 0)
        return (void *)"a thread of the CPU cannot use memory of a GPU";
    if (cf_device_use(0) != CF_OK || cf_mem_fill(of_host, 9, sizeof bytes) != CF_OK ||
        ((unsigned char *)of_host)[63] != 9)
        return (void *)"a thread of a GPU cannot fill memory of the CPU";
    if (cf_mem_free(of_host) != CF_OK || cf_mem_free(of_gpu) != CF_OK || cf_stream_destroy(on_host) != CF_OK)
        return (void *)"the memory cannot be freed";
    /* Frees pinned memory of the GPU while the CPU is the thread's device, and the other way round. */
    if (cf_mem_alloc_pinned(&of_gpu, 100) != CF_OK || cf_device_use(CF_HOST) != CF_OK ||
        cf_mem_alloc_pinned(&of_host, 100) != CF_OK || cf_mem_free(of_gpu) != CF_OK || cf_device_use(0) != CF_OK ||
        cf_mem_free(of_host) != CF_OK)
        return (void *)"page-locked memory cannot be freed";
    return NULL;
}

TEST(mem_copy_host_memory_registered_in_part_moves_the_bytes)
{
    need_any_gpu();
    enum { PAGE = 4096, BYTES = 3 * PAGE };
    int (*host_register)(void *, size_t, unsigned int) =
        (int (*)(void *, size_t, unsigned int))driver_function("cuMemHostRegister", 6050);
    int (*host_unregister)(void *) = (int (*)(void *))driver_function("cuMemHostUnregister", 4000);
    unsigned char *memory = aligned_alloc(PAGE, BYTES), expected[BYTES];
    void *device;
    struct cf__scope place;
    assert_non_null(memory);
    random_bytes(expected, sizeof expected);
    memcpy(memory, expected, sizeof expected);
    assert_ok(cf_mem_alloc(&device, BYTES));
    assert_ok(cf__enter(&place, "test", NULL));
    assert_int_equal(host_register(memory, PAGE, 0), 0);
    assert_ok(cf_mem_copy(device, memory, BYTES));
    memset(memory, 0, BYTES);
    assert_ok(cf_mem_copy(memory, device, BYTES));
    assert_memory_equal(memory, expected, BYTES);
    memset(memory, 0, BYTES);
    assert_ok(cf_mem_copy_async(NULL, memory, device, BYTES));
    assert_ok(cf_stream_sync(NULL));
    assert_memory_equal(memory, expected, BYTES);
    assert_int_equal(host_unregister(memory), 0);
    cf__leave(&place);
    assert_ok(cf_mem_free(device));
    free(memory);
}

TEST(mem_functions_two_devices_each_memory_is_reached)
{
    run_beside_a_gpu(cross_devices);
}

int main(void)
{
    return run_all_tests(set_up, tear_down);
}
