// start.cu - compares the time to the first result of a new process with the bare driver API's; both are runs of
// first.c.
#include <cstdio>
#include <unistd.h>

#include "peers.h"

namespace
{

// Runs a process that prints a time in nanoseconds, and returns the time in seconds.
double printed_time(const std::string &command)
{
    std::FILE *output = popen(("CF_DRIVER=cuda " + command).c_str(), "r");
    char line[256] = "";
    bool read = output && std::fgets(line, sizeof line, output);
    int code = output ? pclose(output) : -1;
    double time = 0;
    expect(code == 0 && read && std::sscanf(line, "%lf ns", &time) == 1 && time > 0,
           command + ": exit " + std::to_string(code) + ": " + line);
    return time * 1e-9;
}

} // namespace

void part_start()
{
    const std::string program = own_path() + "-first";
    expect(access(program.c_str(), X_OK) == 0, program + " is there");
    std::vector<Peer> peers(3);
    peers[0].name = "bare: cuInit, primary context, load, launch, wait";
    peers[1].name = "the same again: the noise";
    peers[2].name = "cf_gather_async, cf_stream_sync";
    const int rounds = 41;
    for (int r = -1; r < rounds; r++)
        for (size_t i = 0; i < peers.size(); i++) {
            size_t p = ((size_t)(r + 1) + i) % peers.size();
            double time = printed_time("'" + program + (p == 2 ? "' cuferry" : "' bare"));
            if (r >= 0)
                peers[p].times.push_back(time);
        }
    print_times("first result of a process, from main() on: N = M = 2^16", peers, "ms", 1e3);
    // The time of a process's start varies by a tenth and drifts, so that only neighbouring runs are compared.
    std::vector<double> ratios, noise;
    for (size_t r = 0; r < (size_t)rounds; r++) {
        double first = peers[0].times[r], second = peers[1].times[r];
        ratios.push_back(peers[2].times[r] / ((first + second) / 2));
        noise.push_back(second / first);
    }
    figure("first result of a process, cf_gather_async / bare driver API", median(ratios), "x", Target::at_most, 1.03);
    figure("noise: bare / itself", median(noise), "x");
}
