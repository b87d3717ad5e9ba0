/* automata.cu - elementary cellular automata, 64 cells per word; a macro defines each kernel with its annotation. */
#include <bitset>
#include <cinttypes>
#include <cstdint>
#include <iostream>

using Word = std::uint64_t;

/* The cells form a ring; bit 0 of word 0 is the leftmost cell. */
#define AUTOMATON(name, rule)                                                                  \
    _Pragma("cf kernel grid(words) block(128) in(now[words]) out(next[words])")                \
    extern "C" __global__ void name(const Word *now, Word *next, int64_t words)                \
    {                                                                                          \
        const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;                      \
        if (i >= words)                                                                        \
            return;                                                                            \
        const Word c = now[i];                                                                 \
        const Word l = c << 1 | now[i ? i - 1 : words - 1] >> 63;                              \
        const Word r = c >> 1 | now[i + 1 < words ? i + 1 : 0] << 63;                          \
        next[i] = rule;                                                                        \
    }

AUTOMATON(rule30, l ^ (c | r))
AUTOMATON(rule90, l ^ r)
AUTOMATON(rule110, (c | r) ^ (l & c & r))

#undef AUTOMATON

enum class Rule : int { chaos = 30, sierpinski = 90, computer = 110 };

static void step(Rule rule, const Word *now, Word *next, int64_t words)
{
    const unsigned gridDim = (unsigned)((words + 127) / 128), blockDim = 128;
    switch (rule) {
    case Rule::chaos: rule30<<<gridDim, blockDim>>>(now, next, words); break;
    case Rule::sierpinski: rule90<<<gridDim, blockDim>>>(now, next, words); break;
    case Rule::computer: rule110<<<gridDim, blockDim>>>(now, next, words); break;
    }
}

int main()
{
    Word *cells[2];
    for (Word *&c : cells)
        cudaMallocManaged(&c, 1024 * sizeof *c);
    for (int t = 0; t < 100; t++)
        step(Rule::computer, cells[t % 2], cells[(t + 1) % 2], 1024);
    cudaDeviceSynchronize();
    std::cout << std::bitset<64>(cells[0][0]) << '\n';
    std::printf("%" PRIx64 "\n", cells[0][1]);
}
