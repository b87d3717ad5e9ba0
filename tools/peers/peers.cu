// peers.cu - compares the library with the code or libraries that CUDA programmers usually use. All run in one process,
// in turns, on the same data; ratios of medians are printed in one table with their targets. tools/dev/gpu-check builds
// and runs the program on machines with the toolkit and a GPU.
//
// usage: peers [--strict] [PART...]      PART: gather reduce scan select sort spmv transpose histogram enqueue graph
// call arrays stage start stream; all if none is given
//
// The cost of a call varies by 1 % with the addresses of code and stacks, which are fixed within a process. Run
// enqueue, graph and call several times.
//
// Exits with 0 if every result is right, 1 if one is wrong or a call fails; with --strict 2 if a target is missed.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unistd.h>

#include "peers.h"

// ---- Checked calls ----

void check(cudaError_t error, const char *call)
{
    if (error != cudaSuccess)
        throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(error));
}

void check(CUresult result, const char *call)
{
    const char *text = "unknown result";
    if (result == CUDA_SUCCESS)
        return;
    (void)cuGetErrorString(result, &text);
    throw std::runtime_error(std::string(call) + ": " + text);
}

void check(int status, const char *call)
{
    if (status != CF_OK)
        throw std::runtime_error(std::string(call) + ": " + cf_status_name(status) + ": " + cf_last_error());
}

void expect(bool right, const std::string &what)
{
    if (!right)
        throw std::runtime_error("wrong: " + what);
}

std::string own_path()
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    expect(length > 0 && length < (ssize_t)sizeof path, "readlink /proc/self/exe");
    return std::string(path, (size_t)length);
}

// ---- Timing ----

// Calls turn(peer) for each peer in each round. Another peer is the first in each round, and every second round is in
// reverse order, so that each peer follows each other peer equally often.
static void in_turns(std::vector<Peer> &peers, int rounds, int warm_ups, const std::function<double(Peer &)> &turn)
{
    size_t count = peers.size();
    for (int r = -warm_ups; r < rounds; r++)
        for (size_t i = 0; i < count; i++) {
            size_t step = ((size_t)(r + warm_ups) / 2 + i) % count;
            Peer &peer = peers[r & 1 ? count - 1 - step : step];
            if (peer.prepare)
                peer.prepare();
            double time = turn(peer);
            if (peer.settle)
                peer.settle();
            if (r >= 0)
                peer.times.push_back(time);
        }
}

void take_turns(std::vector<Peer> &peers, int rounds, int warm_ups)
{
    in_turns(peers, rounds, warm_ups, [](Peer &peer) {
        double begin = seconds();
        peer.run();
        return seconds() - begin;
    });
}

void take_turns_on(cudaStream_t stream, std::vector<Peer> &peers, int rounds, int warm_ups)
{
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    in_turns(peers, rounds, warm_ups, [&](Peer &peer) {
        float ms = 0;
        CHECK(cudaEventRecord(start, stream));
        peer.run();
        CHECK(cudaEventRecord(stop, stream));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        return ms / 1e3;
    });
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
}

static __global__ void spend(long long ns)
{
    long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - begin < ns);
}

void delay(cudaStream_t stream)
{
    spend<<<1, 1, 0, stream>>>(40000);
}

void print_times(const std::string &title, const std::vector<Peer> &peers, const char *unit, double scale)
{
    std::printf("%s\n", title.c_str());
    for (const Peer &peer : peers)
        std::printf("  %-58s %12.4f %s %8.3f x the first\n", peer.name.c_str(), peer.middle() * scale, unit,
                    peer.middle() / peers[0].middle());
    std::fflush(stdout);
}

// ---- The table ----

namespace
{

struct Row {
    std::string part, what, unit;
    double value;
    Target kind;
    double target;
    std::string why; // reason for a missing value
    bool met() const
    {
        // NaN meets no target
        return kind == Target::none || (kind == Target::at_most ? value <= target : value >= target);
    }
};

std::vector<Row> table;
std::string current_part;

// Returns the number of missed targets.
int print_table()
{
    int missed = 0;
    std::printf("\n%-9s %-74s %10s    %-9s\n", "part", "figure", "measured", "target");
    for (const Row &row : table) {
        if (!row.why.empty()) {
            std::printf("%-9s %-74s %10s    %s\n", row.part.c_str(), row.what.c_str(), "-", row.why.c_str());
            continue;
        }
        std::printf("%-9s %-74s %10.3f %-2s", row.part.c_str(), row.what.c_str(), row.value, row.unit.c_str());
        if (row.kind != Target::none)
            std::printf(" %s %-6g %s", row.kind == Target::at_most ? "<=" : ">=", row.target,
                        row.met() ? "met" : "MISSED");
        std::printf("\n");
        missed += !row.met();
    }
    return missed;
}

} // namespace

void figure(const std::string &what, double value, const char *unit, Target kind, double target)
{
    table.push_back({current_part, what, unit, value, kind, target, ""});
}

void no_figure(const std::string &what, const std::string &why)
{
    table.push_back({current_part, what, "", NAN, Target::none, 0, why});
}

// ---- Data ----

void on_all_cores(size_t count, const std::function<void(size_t, size_t)> &body)
{
    size_t threads = std::max(1u, std::thread::hardware_concurrency()), share = count / threads + 1;
    std::vector<std::thread> workers;
    for (size_t t = 0; t < threads && t * share < count; t++)
        workers.emplace_back([=, &body] { body(t * share, std::min(count, (t + 1) * share)); });
    for (std::thread &worker : workers)
        worker.join();
}

void fill(float *values, size_t count, uint64_t seed)
{
    on_all_cores(count, [=](size_t begin, size_t end) {
        for (size_t i = begin; i < end; i++)
            values[i] = random_f32(seed, i);
    });
}

void fill(int32_t *values, size_t count, uint64_t seed, int64_t m)
{
    on_all_cores(count, [=](size_t begin, size_t end) {
        for (size_t i = begin; i < end; i++)
            values[i] = (int32_t)random_integer(seed, i, 0, m);
    });
}

static bool is_same(float a, float b)
{
    return std::memcmp(&a, &b, sizeof a) == 0;
}

int64_t first_wrong_gather(const float *source, const int32_t *index, const float *res, size_t n)
{
    return first_wrong(n, [=](size_t i) { return is_same(res[i], source[index[i]]); });
}

bool is_axpy(float a, float x, float y0, float y)
{
    volatile float product = a * x; // volatile, so that it is rounded and not fused with the sum
    return is_same(y, std::fma(a, x, y0)) || is_same(y, product + y0);
}

int64_t first_wrong_axpy(float a, const float *x, const float *y0, const float *y, size_t n)
{
    return first_wrong(n, [=](size_t i) { return is_axpy(a, x[i], y0[i], y[i]); });
}

// ---- The driver API's side ----

CUfunction bundled(const char *name)
{
    const cf_kernel *kernel = cf_kernel_find(&cf_registry, name);
    expect(kernel && kernel->image, std::string("there is no GPU code for ") + name);
    CUlibrary library;
    CUkernel handle;
    CUfunction function;
    CHECK(cuLibraryLoadData(&library, kernel->image->begin, nullptr, nullptr, 0, nullptr, nullptr, 0));
    CHECK(cuLibraryGetKernel(&handle, library, kernel->entry));
    CHECK(cuKernelGetFunction(&function, handle));
    return function;
}

// ---- The program ----

struct Part {
    const char *name;
    void (*run)();
};
static const Part parts[] = {{"gather", part_gather},       {"reduce", part_reduce},       {"scan", part_scan},
                             {"select", part_select},       {"sort", part_sort},           {"spmv", part_spmv},
                             {"transpose", part_transpose}, {"histogram", part_histogram}, {"enqueue", part_enqueue},
                             {"graph", part_graph},         {"call", part_call},           {"arrays", part_arrays},
                             {"stage", part_stage},         {"start", part_start},         {"stream", part_stream}};

// Returns true if all went well.
static bool run_part(const Part &part)
{
    current_part = part.name;
    double begin = seconds();
    std::printf("---- %s\n", part.name);
    try {
        CHECK(cudaFree(nullptr)); // makes the primary context current
        part.run();
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaGetLastError());
    } catch (const std::exception &failure) {
        std::printf("peers: %s: FAILED: %s\n", part.name, failure.what());
        return false;
    }
    std::printf("  (%.1f s)\n", seconds() - begin);
    return true;
}

static int usage()
{
    std::fprintf(stderr, "usage: peers [--strict] [PART...]\nparts:");
    for (const Part &part : parts)
        std::fprintf(stderr, " %s", part.name);
    std::fprintf(stderr, "\n");
    return 1;
}

int main(int argc, char **argv)
{
    bool is_strict = false, is_right = true;
    setenv("CF_DRIVER", "cuda", 1);
    for (const char *setting : {"CF_CHECK", "CF_TRACE", "CF_HOST_DATA", "CF_THREADS"})
        unsetenv(setting);
    std::vector<const Part *> chosen;
    for (int i = 1; i < argc; i++) {
        auto found = std::find_if(std::begin(parts), std::end(parts),
                                  [&](const Part &part) { return std::strcmp(part.name, argv[i]) == 0; });
        if (std::strcmp(argv[i], "--strict") == 0)
            is_strict = true;
        else if (found == std::end(parts))
            return usage();
        else
            chosen.push_back(found);
    }
    if (chosen.empty())
        for (const Part &part : parts)
            chosen.push_back(&part);
    for (const Part *part : chosen)
        is_right = run_part(*part) && is_right;
    const int missed = print_table();
    return !is_right ? 1 : is_strict && missed ? 2 : 0;
}
