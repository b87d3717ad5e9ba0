/* test_stress.c - 64 threads use the whole library at once, and every result is checked. ThreadSanitizer runs it,
 * too. */
#include "run_group.h"

#include <cuferry/find.h>
#include <cuferry/kernels.h>
#include <cuferry/program.h>
#include <cuferry/registry.h>

#include <stdatomic.h>
#include <unistd.h>

enum { THREADS = 64, LIVES = 4, ROUNDS = 10, LARGEST = 40000 };

struct worker {
    pthread_t thread;
    unsigned short seed[3];
    char wrong[640]; /* first error; recorded because only the main thread can assert */
};

static pthread_barrier_t begin;
static int devices; /* number of GPUs */

/* Records the error, and returns from the function. */
#define NEED_OR(condition, ...)                                                                               \
    do {                                                                                                      \
        if (!(condition)) {                                                                                   \
            int used_ = snprintf(worker->wrong, sizeof worker->wrong, "line %d: %s: ", __LINE__, #condition); \
            snprintf(worker->wrong + used_, sizeof worker->wrong - (size_t)used_, __VA_ARGS__);               \
            return;                                                                                           \
        }                                                                                                     \
    } while (0)
#define NEED(condition) NEED_OR(condition, "%s", cf_last_error())
#define GOES(call) NEED((call) == CF_OK)

static int below(struct worker *worker, int end)
{
    return (int)(nrand48(worker->seed) % end);
}

/* ---- Data ---- */

struct data {
    int n, m;
    double *source, *res;
    int64_t *index;
};

static int make(struct worker *worker, struct data *data)
{
    data->n = 1 + below(worker, below(worker, 8) ? 700 : LARGEST);
    data->m = 1 + below(worker, 500);
    data->source = malloc((size_t)data->m * sizeof *data->source);
    data->res = malloc((size_t)data->n * sizeof *data->res);
    data->index = malloc((size_t)data->n * sizeof *data->index);
    if (!data->source || !data->res || !data->index)
        return 0;
    for (int i = 0; i < data->m; i++)
        data->source[i] = erand48(worker->seed);
    for (int i = 0; i < data->n; i++) {
        data->index[i] = below(worker, data->m);
        data->res[i] = -1;
    }
    return 1;
}

static void drop(struct data *data)
{
    free(data->source);
    free(data->res);
    free(data->index);
}

static int is_gathered(const struct data *data)
{
    for (int i = 0; i < data->n; i++)
        if (data->res[i] != data->source[data->index[i]])
            return 0;
    return 1;
}

static int is_untouched(const struct data *data)
{
    for (int i = 0; i < data->n; i++)
        if (data->res[i] != -1)
            return 0;
    return 1;
}

/* Copies of the data on the device of the thread. */
struct copies {
    void *source, *index, *res;
};

static int upload(const struct data *data, struct copies *copies)
{
    int status = cf_mem_alloc(&copies->source, (size_t)data->m * sizeof(double));
    if (status == CF_OK)
        status = cf_mem_alloc(&copies->index, (size_t)data->n * sizeof(int64_t));
    if (status == CF_OK)
        status = cf_mem_alloc(&copies->res, (size_t)data->n * sizeof(double));
    if (status == CF_OK)
        status = cf_mem_copy(copies->source, data->source, (size_t)data->m * sizeof(double));
    if (status == CF_OK)
        status = cf_mem_copy(copies->index, data->index, (size_t)data->n * sizeof(int64_t));
    return status;
}

static int release(struct copies *copies)
{
    int status = cf_mem_free(copies->source);
    if (status == CF_OK)
        status = cf_mem_free(copies->index);
    return status == CF_OK ? cf_mem_free(copies->res) : status;
}

static int enqueue(cf_stream stream, const struct data *data, const struct copies *copies)
{
    return cf_gather_f64_i64_async(stream, copies->source, copies->index, copies->res, data->n, data->m);
}

/* ---- Actions of a thread ---- */

static void calls_plainly(struct worker *worker, struct data *data)
{
    GOES(cf_gather_f64_i64(data->source, data->index, data->res, data->n, data->m));
    NEED(is_gathered(data));
}

static void calls_with_a_bad_index(struct worker *worker, struct data *data)
{
    char expected[160];
    int at = below(worker, data->n), lowest = at;
    data->index[at] = data->m + below(worker, 9);
    int other = below(worker, data->n);
    data->index[other] = -1;
    lowest = other < at ? other : at;
    snprintf(expected, sizeof expected, "cf_gather_f64_i64: index[%d] = %lld is outside [0, %d)", lowest,
             (long long)data->index[lowest], data->m);
    NEED(cf_gather_f64_i64(data->source, data->index, data->res, data->n, data->m) == CF_ERANGE);
    NEED_OR(strcmp(cf_last_error(), expected) == 0, "%s, not %s", cf_last_error(), expected);
    NEED(is_untouched(data));
}

static void calls_on_device_memory(struct worker *worker, struct data *data)
{
    struct copies copies;
    GOES(upload(data, &copies));
    GOES(cf_gather_f64_i64(copies.source, copies.index, copies.res, data->n, data->m));
    GOES(cf_mem_copy(data->res, copies.res, (size_t)data->n * sizeof(double)));
    NEED(is_gathered(data));
    GOES(release(&copies));
}

static void enqueues(struct worker *worker, struct data *data)
{
    struct copies copies;
    cf_stream stream, other;
    cf_event start, stop;
    float milliseconds = -1;
    int status, is_captured = 1, device = -9, current = -8;
    GOES(upload(data, &copies));
    GOES(cf_stream_create(&stream));
    GOES(cf_stream_create_with_priority(&other, below(worker, 3) - 1));
    GOES(cf_event_create(&start));
    GOES(cf_event_create(&stop));
    GOES(cf_event_record(start, stream));
    GOES(enqueue(stream, data, &copies));
    GOES(cf_event_record(stop, stream));
    GOES(cf_stream_wait(other, stop));
    GOES(cf_mem_copy_async(other, data->res, copies.res, (size_t)data->n * sizeof(double)));
    GOES(cf_stream_is_capturing(stream, &is_captured));
    NEED(is_captured == 0);
    GOES(cf_stream_device(stream, &device));
    GOES(cf_device_current(&current));
    NEED_OR(device == current, "%d and %d", device, current);
    while ((status = cf_stream_query(other)) == CF_ENOTREADY)
        ;
    NEED(status == CF_OK);
    NEED(is_gathered(data));
    GOES(cf_event_query(stop));
    GOES(cf_event_elapsed(&milliseconds, start, stop));
    NEED_OR(milliseconds >= 0, "%g", (double)milliseconds);
    GOES(cf_event_destroy(stop));
    GOES(cf_event_destroy(start));
    GOES(cf_stream_destroy(other));
    GOES(cf_stream_destroy(stream));
    GOES(release(&copies));
}

/* Meanwhile other threads allocate memory, load kernels and wait. */
static void captures(struct worker *worker, struct data *data)
{
    struct copies copies;
    cf_stream stream;
    cf_graph graph;
    cf_graph_exec exec;
    int is_captured = 0;
    GOES(upload(data, &copies));
    GOES(cf_stream_create(&stream));
    GOES(cf_stream_capture_begin(stream));
    GOES(enqueue(stream, data, &copies));
    GOES(cf_mem_copy_async(stream, data->res, copies.res, (size_t)data->n * sizeof(double)));
    GOES(cf_stream_is_capturing(stream, &is_captured));
    NEED(is_captured == 1);
    GOES(cf_stream_capture_end(stream, &graph));
    NEED(is_untouched(data));
    GOES(cf_graph_instantiate(&exec, graph));
    GOES(cf_graph_destroy(graph));
    for (int i = 0; i < 3; i++) {
        data->res[0] = -1;
        GOES(cf_graph_launch(exec, stream));
        GOES(cf_stream_sync(stream));
        NEED(is_gathered(data));
    }
    GOES(cf_graph_exec_destroy(exec));
    GOES(cf_stream_destroy(stream));
    GOES(release(&copies));
}

static void uses_the_pool(struct worker *worker, struct data *data)
{
    size_t bytes = (size_t)data->n;
    unsigned char value = (unsigned char)below(worker, 256), *read = malloc(bytes);
    void *memory;
    cf_stream stream;
    NEED(read);
    GOES(cf_stream_create(&stream));
    GOES(cf_mem_alloc_async(stream, &memory, bytes));
    GOES(cf_mem_fill_async(stream, memory, value, bytes));
    GOES(cf_mem_copy_async(stream, read, memory, bytes));
    GOES(cf_mem_free_async(stream, memory));
    GOES(cf_stream_sync(stream));
    for (size_t i = 0; i < bytes; i++)
        NEED_OR(read[i] == value, "%d at %zu, not %d", read[i], i, value);
    free(read);
    if (below(worker, 4) == 0)
        GOES(cf_mem_trim(0));
    GOES(cf_stream_destroy(stream));
}

static void copies_rows(struct worker *worker, struct data *data)
{
    enum { PITCH = 64 };
    size_t width = (size_t)below(worker, PITCH) + 1, rows = (size_t)below(worker, 30) + 1;
    char *pinned, *memory, from[PITCH * 30];
    void *allocated;
    (void)data;
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (char)below(worker, 100);
    GOES(cf_mem_alloc_pinned(&allocated, sizeof from));
    pinned = allocated;
    GOES(cf_mem_alloc(&allocated, sizeof from));
    memory = allocated;
    memset(pinned, 111, sizeof from);
    GOES(cf_mem_fill(memory, 7, sizeof from));
    GOES(cf_mem_copy_2d(memory, width, from, PITCH, width, rows));
    GOES(cf_mem_copy_2d(pinned, PITCH, memory, width, width, rows));
    for (size_t i = 0; i < sizeof from; i++) {
        char expected = i % PITCH < width && i / PITCH < rows ? from[i] : 111;
        NEED_OR(pinned[i] == expected, "%d at %zu, not %d", pinned[i], i, expected);
    }
    GOES(cf_mem_free(memory));
    GOES(cf_mem_free(pinned));
}

static void count_call(void *counter)
{
    atomic_fetch_add((atomic_int *)counter, 1);
}

static void is_called_back(struct worker *worker, struct data *data)
{
    atomic_int counter;
    cf_stream stream;
    (void)data;
    atomic_init(&counter, 0);
    GOES(cf_stream_create(&stream));
    for (int i = 0; i < 5; i++)
        GOES(cf_stream_call(stream, count_call, &counter));
    GOES(cf_stream_sync(stream));
    NEED_OR(atomic_load(&counter) == 5, "%d", atomic_load(&counter));
    GOES(cf_stream_destroy(stream));
}

/* Each thread has a program of its own. Unloading it waits until captures of other threads have ended. */
static void runs_a_program(struct worker *worker, struct data *data)
{
    int device, status;
    int64_t n = data->n, m = data->m;
    cf_program *program;
    const cf_kernel *kernel, *twin = cf_kernel_find(&cf_registry, "gather_f64_i64");
    void *const args[] = {&data->source, &data->index, &data->res, &n, &m};
    GOES(cf_device_current(&device));
    if (device == CF_HOST)
        return;
    GOES(cf_program_load(&program, twin->image->begin, (size_t)(twin->image->end - twin->image->begin)));
    GOES(cf_program_kernel(
        program, twin->entry,
        "(in double source[M], in int64_t index[N], out double res[N], int64_t N, int64_t M) grid(N)", &kernel));
    GOES(cf_call(kernel, args));
    NEED(is_gathered(data));
    do
        status = cf_program_unload(program);
    while (status == CF_ECAPTURE);
    NEED(status == CF_OK);
    NEED(cf_call(kernel, args) == CF_EINVAL);
}

/* Each thread has its own latest error. */
static void makes_mistakes(struct worker *worker, struct data *data)
{
    char expected[96];
    void *memory = worker;
    int64_t value;
    int bad = 1000 + below(worker, 1000);
    (void)data;
    NEED(cf_mem_free(worker) == CF_EINVAL);
    snprintf(expected, sizeof expected, "cf_mem_free: %p", (void *)worker);
    NEED(strncmp(cf_last_error(), expected, strlen(expected)) == 0);
    NEED(cf_device_use(bad) == CF_ENODEV);
    snprintf(expected, sizeof expected, "device %d", bad);
    NEED(strstr(cf_last_error(), expected) || !on_cuda());
    NEED(cf_mem_alloc(&memory, (size_t)1 << 62) == CF_ENOMEM);
    NEED(strstr(cf_last_error(), "4611686018427387904 bytes"));
    NEED(memory == worker);
    NEED(cf_device_property(CF_HOST, bad, &value) == CF_EINVAL);
    NEED(cf_mem_copy(NULL, worker, 1) == CF_EINVAL);
    NEED(strstr(cf_last_error(), "cf_mem_copy: target is NULL"));
}

static void asks(struct worker *worker, struct data *data)
{
    int count = -1, device = -9, least = -99, greatest = 99;
    int64_t bytes = -1;
    char name[64] = "";
    (void)data;
    GOES(cf_device_count(&count));
    NEED_OR(count == devices, "%d", count);
    GOES(cf_device_current(&device));
    GOES(cf_device_property(device, CF_PROPERTY_MEMORY, &bytes));
    NEED(bytes > 1 << 20);
    GOES(cf_device_name(device, name, sizeof name));
    NEED(*name);
    GOES(cf_device_pci(device, name, sizeof name));
    NEED(device == CF_HOST || *name);
    GOES(cf_device_uuid(device, name, sizeof name));
    NEED(strlen(name) == (device == CF_HOST ? 0 : 36));
    const char *path = "";
    int found = cf_find("nvrtc", &path);
    NEED_OR(found == CF_ENOTSUP || strstr(path, "nvrtc"), "%d", found);
    GOES(cf_stream_priorities(&least, &greatest));
    NEED_OR(greatest <= least, "%d and %d", greatest, least);
    int status = cf_device_sync();
    NEED(status == CF_OK || status == CF_ECAPTURE); /* another thread may be capturing on the device */
}

static void (*const deeds[])(struct worker *, struct data *) = {
    calls_plainly, calls_with_a_bad_index, calls_on_device_memory, enqueues, captures,       uses_the_pool,
    copies_rows,   is_called_back,         makes_mistakes,         asks,     runs_a_program,
};
enum { DEEDS = sizeof deeds / sizeof *deeds };

static void *work(void *of_worker)
{
    struct worker *worker = of_worker;
    int has_chosen = 0;
    pthread_barrier_wait(&begin);
    for (int round = 0; round < ROUNDS && !*worker->wrong; round++) {
        struct data data;
        int status = CF_OK;
        /* The first call of the process may be of any kind. */
        if (has_chosen || below(worker, 3) == 0) {
            status = cf_device_use(devices && below(worker, 4) ? below(worker, devices) : CF_HOST);
            has_chosen = 1;
        }
        if (status != CF_OK || !make(worker, &data)) {
            snprintf(worker->wrong, sizeof worker->wrong, "choosing a device: %s", cf_last_error());
            return NULL;
        }
        deeds[below(worker, DEEDS)](worker, &data);
        drop(&data);
    }
    return NULL;
}

/* ---- The tests ---- */

static void run_lives(void)
{
    static struct worker workers[THREADS];
    int cuda = on_cuda();
    for (int life = 0; life < LIVES; life++) {
        devices = 0;
        if (cuda) {
            assert_ok(cf_device_count(&devices));
            assert_ok(cf_shutdown()); /* so that the first use is made by the threads */
        }
        assert_int_equal(pthread_barrier_init(&begin, NULL, THREADS), 0);
        for (int i = 0; i < THREADS; i++) {
            workers[i] = (struct worker){.seed = {(unsigned short)i, (unsigned short)life, 77}};
            assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
        }
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        pthread_barrier_destroy(&begin);
        for (int i = 0; i < THREADS; i++)
            if (*workers[i].wrong)
                fail_msg("life %d, thread %d: %s", life, i, workers[i].wrong);
        assert_ok(cf_shutdown());
    }
}

TEST(everything_from_64_threads_is_right)
{
    run_lives();
}

TEST(everything_traced_is_right_too)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/test_stress.%d.json", (int)getpid());
    assert_ok(cf_shutdown());
    setenv("CF_TRACE", path, 1);
    run_lives();
    unsetenv("CF_TRACE");
    assert_int_equal(unlink(path), 0);
}

TEST(everything_checked_is_right_too)
{
    assert_ok(cf_shutdown());
    setenv("CF_CHECK", "1", 1);
    run_lives();
    unsetenv("CF_CHECK");
}

int main(void)
{
    return run_all_tests(NULL, NULL);
}
