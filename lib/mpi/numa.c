/* numa.c - reads the NUMA nodes of the machine from the kernel's files. */
#include "mpi/numa.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int has_bit(const struct cf__mpi_processors *processors, long number)
{
    return number >= 0 && number < CF__MPI_PROCESSORS && processors->bits[number / 8] >> number % 8 & 1;
}

void cf__mpi_numa_processors(struct cf__mpi_processors *processors)
{
    static const size_t most = CF__MPI_PROCESSORS;
    memset(processors, 0, sizeof *processors);
    cpu_set_t *set = CPU_ALLOC(most);
    if (set && sched_getaffinity(0, CPU_ALLOC_SIZE(most), set) == 0)
        for (size_t i = 0; i < most; i++)
            if (CPU_ISSET_S(i, CPU_ALLOC_SIZE(most), set))
                processors->bits[i / 8] |= (unsigned char)(1 << i % 8);
    CPU_FREE(set);
}

/* Reads the first line of a file in the folder; the line is empty if there is no file. */
static void read_line(char *line, size_t size, const char *folder, const char *name)
{
    char path[512];
    line[0] = 0;
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (file && !fgets(line, (int)size, file))
        line[0] = 0;
    if (file)
        (void)fclose(file);
}

/* Removes the first range of a list such as "0-3,8" and returns 1; returns 0 at the end. */
static int take_range(const char **list, long *first, long *last)
{
    char *end;
    *last = *first = strtol(*list, &end, 10);
    if (end == *list)
        return 0;
    if (*end == '-')
        *last = strtol(end + 1, &end, 10);
    *list = end + (*end == ',');
    return 1;
}

static int meets(const char *list, const struct cf__mpi_processors *own)
{
    long first, last;
    while (take_range(&list, &first, &last))
        for (long i = first; i <= last && i < CF__MPI_PROCESSORS; i++)
            if (has_bit(own, i))
                return 1;
    return 0;
}

static void read_node(struct cf__mpi_numa *numa, const char *folder, int node, const struct cf__mpi_processors *own)
{
    char name[64], line[4096];
    (void)snprintf(name, sizeof name, "node%d/cpulist", node);
    read_line(line, sizeof line, folder, name);
    numa->nodes[numa->count].node = node;
    numa->nodes[numa->count].is_own = meets(line, own);
    (void)snprintf(name, sizeof name, "node%d/distance", node);
    read_line(line, sizeof line, folder, name);
    char *rest = line, *end;
    int *distance = numa->nodes[numa->count++].distance;
    for (int i = 0; i < CF__MPI_NUMA_NODES; i++) {
        long value = strtol(rest, &end, 10);
        distance[i] = end == rest || value < 0 || value > CF__MPI_NUMA_FAR ? CF__MPI_NUMA_FAR : (int)value;
        rest = end;
    }
}

void cf__mpi_numa_read(struct cf__mpi_numa *numa, const char *folder, const struct cf__mpi_processors *own)
{
    char line[4096];
    const char *rest = line;
    long first, last;
    memset(numa, 0, sizeof *numa);
    read_line(line, sizeof line, folder, "online");
    while (take_range(&rest, &first, &last))
        for (long i = first; i <= last && numa->count < CF__MPI_NUMA_NODES; i++)
            read_node(numa, folder, (int)i, own);
}

static int find_node(const struct cf__mpi_numa *numa, int node)
{
    int i = numa->count - 1;
    while (i >= 0 && numa->nodes[i].node != node)
        i--;
    return i;
}

int cf__mpi_numa_distance(const struct cf__mpi_numa *numa, int node)
{
    int found = find_node(numa, node), least = CF__MPI_NUMA_FAR;
    for (int i = 0; i < numa->count && found >= 0; i++)
        if (numa->nodes[i].is_own && numa->nodes[i].distance[found] < least)
            least = numa->nodes[i].distance[found];
    return least;
}

int cf__mpi_numa_is_own(const struct cf__mpi_numa *numa, int node)
{
    int found = find_node(numa, node);
    return found >= 0 && numa->nodes[found].is_own;
}
