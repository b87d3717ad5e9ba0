/* find_text.cu - marks the positions of a word in a text, and counts them. */
#include <fstream>
#include <iterator>
#include <string>

static std::string read_all(const char *path)
{
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

__device__ bool matches(const char *text, const char *word, int length)
{
    while (length > 0 && *text == *word)
        --length, ++text, ++word;
    return length == 0;
}

#pragma cf kernel grid(size) in(text[size], word[length]) out(mark[size]) inout(count[1]) check(length > 0)
__global__ void find(const char *text, long size, const char *word, int length, char *mark, unsigned *count)
{
    __shared__ unsigned found;
    if (threadIdx.x == 0)
        found = 0;
    __syncthreads();
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    bool here = i + length <= size && matches(text + i, word, length);
    if (i < size)
        mark[i] = here ? 'x' : '.';
    if (here)
        atomicInc(&found, ~0u);
    __syncthreads();
    if (threadIdx.x == 0 && found)
        atomicAdd(count, found);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const std::string text = read_all(argv[1]), word(argv[2]);
    char *d_text, *d_mark;
    unsigned *d_count;
    if (cudaMalloc(&d_text, text.size()) || cudaMalloc(&d_mark, text.size()) || cudaMalloc(&d_count, sizeof *d_count))
        return 1;
    find<<<(text.size() + 255) / 256, 256>>>(d_text, text.size(), d_text, (int)word.size(), d_mark, d_count);
    return 0;
}
