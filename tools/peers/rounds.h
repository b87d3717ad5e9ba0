// rounds.h - measures rounds in which a kernel and its peers take turns.
#ifndef ROUNDS_H
#define ROUNDS_H

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <stdexcept>
#include <string>
#include <vector>

#include <dirent.h>

#include <cuferry.h>

// Fraction of a round's time that threads may wait for a processor; if they wait longer, the round counts as disturbed.
const double DISTURBED = 0.02;

inline double seconds(clockid_t clock = CLOCK_MONOTONIC)
{
    timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// Returns the time since the program's start in which its threads were ready but did not run; 0 if the system does not
// report it.
inline double delayed()
{
    double sum = 0;
    DIR *threads = opendir("/proc/self/task");
    if (!threads)
        return 0;
    while (const dirent *thread = readdir(threads)) {
        unsigned long long ran, waited;
        FILE *file = std::fopen((std::string("/proc/self/task/") + thread->d_name + "/schedstat").c_str(), "r");
        if (!file)
            continue;
        if (std::fscanf(file, "%llu %llu", &ran, &waited) == 2)
            sum += 1e-9 * (double)waited;
        std::fclose(file);
    }
    closedir(threads);
    return sum;
}

inline double median(std::vector<double> values)
{
    if (values.empty())
        return NAN;
    std::nth_element(values.begin(), values.begin() + (ptrdiff_t)values.size() / 2, values.end());
    return values[values.size() / 2];
}

inline void check(int status)
{
    if (status != CF_OK)
        throw std::runtime_error(cf_last_error());
}

#endif
