// start.cu - fresh processes of first.c and saxpy.c: the first result of a process beside the bare driver API, a program
// from the cache beside its cubin, and a kernel compiled at run time beside nvcc's.
#include <cstdio>
#include <filesystem>
#include <unistd.h>

#include "peers.h"

namespace
{

// The time that a process prints, in seconds.
double printed_time(const std::string &command)
{
    std::FILE *output = popen(("CF_DRIVER=cuda " + command).c_str(), "r");
    char line[256] = "", word[8] = "";
    bool read = output && std::fgets(line, sizeof line, output);
    int code = output ? pclose(output) : -1;
    double time = 0;
    expect(code == 0 && read && std::sscanf(line, "%lf %7s", &time, word) == 2 && time > 0,
           command + ": exit " + std::to_string(code) + ": " + line);
    return time * (std::string(word) == "ns" ? 1e-9 : 1e-3);
}

// The time in processes of each command, in turns.
void run_in_turns(std::vector<Peer> &peers, const std::vector<std::string> &commands, int rounds)
{
    for (int r = -1; r < rounds; r++)
        for (size_t i = 0; i < peers.size(); i++) {
            size_t p = ((size_t)(r + 1) + i) % peers.size();
            double time = printed_time(commands[p]);
            if (r >= 0)
                peers[p].times.push_back(time);
        }
}

void first_result(const std::string &program)
{
    std::vector<Peer> peers(3);
    peers[0].name = "bare: cuInit, primary context, load, launch, wait";
    peers[1].name = "the same again: the noise";
    peers[2].name = "cf_gather_async, cf_stream_sync";
    const int rounds = 41;
    run_in_turns(peers, {program + " bare", program + " bare", program + " cuferry"}, rounds);
    print_times("first result of a process, from main() on: N = M = 2^16", peers, "ms", 1e3);
    // The start of a process varies by a tenth, and drifts: only neighbours in time are compared.
    std::vector<double> ratios, noise;
    for (size_t r = 0; r < (size_t)rounds; r++) {
        double first = peers[0].times[r], second = peers[1].times[r];
        ratios.push_back(peers[2].times[r] / ((first + second) / 2));
        noise.push_back(second / first);
    }
    figure("first result of a process, cf_gather_async / bare driver API", median(ratios), "x", Target::at_most, 1.03);
    figure("noise: bare / itself", median(noise), "x");
}

// A second process that compiles the same program takes it from the cache.
void cached_program(const std::string &program)
{
    char folder[] = "/tmp/peers-XXXXXX";
    expect(mkdtemp(folder) != nullptr, "mkdtemp");
    std::vector<Peer> peers(2);
    peers[0].name = "cf_program_load_file of the cubin";
    peers[1].name = "cf_program_compile, from the cache";
    const int rounds = 21;
    run_in_turns(peers,
                 {program + " loaded '" + own_path() + "-first.cubin'",
                  program + " compiled " + folder + " '" + own_path() + "-first.cu'"},
                 rounds);
    std::filesystem::remove_all(folder);
    print_times("first result of a process with a program", peers, "ms", 1e3);
    std::vector<double> more;
    for (size_t r = 0; r < (size_t)rounds; r++)
        more.push_back((peers[1].times[r] - peers[0].times[r]) * 1e3);
    figure("program from the cache - the same cubin loaded", median(more), "ms", Target::at_most, 5);
}

// saxpy.c beside its twin of nvcc: the kernel's time in each process.
void compiled_kernel(const std::string &program)
{
    std::vector<Peer> peers(2);
    peers[0].name = "compiled by nvcc";
    peers[1].name = "compiled at run time";
    run_in_turns(peers, {"'" + program + "-twin'", "'" + program + "'"}, 11);
    print_times("saxpy, 512 x 32768 threads", peers, "ms", 1e3);
    figure("saxpy compiled at run time / its twin of nvcc", peers[1].middle() / peers[0].middle(), "x", Target::at_most,
           1.02);
}

} // namespace

void part_start()
{
    const std::string first = own_path() + "-first", saxpy = own_path() + "-saxpy";
    for (const std::string &program : {first, saxpy, saxpy + "-twin"})
        expect(access(program.c_str(), X_OK) == 0, program + " is there");
    first_result("'" + first + "'");
    cached_program("'" + first + "'");
    compiled_kernel("'" + saxpy + "'");
}
