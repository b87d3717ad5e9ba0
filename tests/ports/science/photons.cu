/* photons.cu - photons in a stack of layers, as a state machine with switch, fall-through cases and goto. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum Fate : unsigned char { ABSORBED = 1, ESCAPED, TIRED };

enum {
    MOST_STEPS = 1000,
};

#pragma cf kernel grid(photons) block(100) in(layers[depth], start[photons]) out(fate[photons], bounces[photons]) \
    check(depth > 0, 0 <= start[:] < depth)
__global__ void walk(const char *layers, short depth, const short *start, Fate *fate, unsigned short *bounces,
                     int energy, unsigned photons)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, seen = 0;
    int at, direction = 1, steps = 0;
    Fate end = TIRED;

    if (i >= photons)
        return;
    at = start[i];
next:
    if (at < 0 || at >= depth) {
        end = ESCAPED;
        goto done;
    }
    if (++steps > MOST_STEPS)
        goto done;
    switch (layers[at]) {
    case 'a':
    case 'A':
        end = ABSORBED;
        goto done;
    case 'm': /* a mirror on glass */
        direction = -direction;
        seen++;
        // fall through
    case 'g':
        if (--energy < 0) {
            end = ABSORBED;
            break;
        }
        /* FALLTHROUGH */
    case ' ':
        at += direction;
        goto next;
    default:
        at += 2 * direction;
        goto next;
    }
done:
    fate[i] = end;
    bounces[i] = (unsigned short)seen;
}

static int count(const char *layers)
{
    int n = 0;
again:
    switch (*layers++) {
    case '\0': return n;
    default:
        if (isalpha((unsigned char)layers[-1]))
            n++;
    }
    goto again;
}

int main(int argc, char **argv)
{
    const char *layers = argc > 1 ? argv[1] : "gg mg a";
    printf("%d layers of %d\n", count(layers), (int)strlen(layers));
    walk<<<10, 100>>>(layers, (short)strlen(layers), nullptr, nullptr, nullptr, 10, 1000);
    return cudaDeviceSynchronize() ? 1 : 0;
}
