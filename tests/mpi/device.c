/* device.c - the choice of a GPU for each rank: tables of ranks and GPUs, NUMA nodes of a made machine, and the
 * whole. */
#include "mpi_check.h"

#include <sys/stat.h>
#include <unistd.h>

#include "mpi/choose.h"
#include "mpi/numa.h"

/* ---- The choice ---- */

enum { RANKS = 8 };

/* Each rank's view is a list of GPUs, a letter and a distance of one digit for each: "a1b2". */
static void check_choice(const char *const *lists, const char *expected)
{
    static struct cf__mpi_view views[RANKS];
    int choice[RANKS], ranks = 0;
    char got[RANKS + 1] = "";
    memset(views, 0, sizeof views);
    for (; lists[ranks]; ranks++)
        for (const char *at = lists[ranks]; *at; at += 2) {
            struct cf__mpi_gpu *gpu = &views[ranks].gpus[views[ranks].count++];
            gpu->uuid[0] = at[0];
            gpu->distance = at[1] - '0';
        }
    cf__mpi_choose(views, ranks, choice);
    for (int i = 0; i < ranks; i++)
        got[i] = choice[i] < 0 ? '-' : lists[i][2 * choice[i]];
    if (strcmp(got, expected) != 0)
        fail_check(__FILE__, __LINE__, got, expected);
}

#define CHOICE(expected, ...) check_choice((const char *const[]){__VA_ARGS__, NULL}, expected)

static void ranks_share_gpus(void)
{
    CHOICE("-", "");
    CHOICE("a", "a1b1");
    CHOICE("ab", "a1b1", "a1b1");
    CHOICE("abab", "a1b1", "a1b1", "a1b1", "a1b1");
    CHOICE("abca", "a1b1c1", "a1b1c1", "a1b1c1", "a1b1c1");
    /* the own node first, also for ranks that come late */
    CHOICE("ba", "a2b1", "a1b2");
    CHOICE("aabb", "a1b2", "a1b2", "a2b1", "a2b1");
    CHOICE("bbaa", "a2b1", "a2b1", "a1b2", "a1b2");
    /* even shares before distance */
    CHOICE("ab", "a1b2", "a1b2");
    CHOICE("acbb", "a1b2c2", "a1b2c2", "a2b1c2", "a2b1c2");
    CHOICE("abcda", "a1b1c2d2", "a1b1c2d2", "a1b1c2d2", "a1b1c2d2", "a1b1c2d2");
    /* a rank that sees one GPU takes it */
    CHOICE("ba", "a1b2", "a1");
    CHOICE("aaa", "a9", "a9", "a9");
    CHOICE("bbaa", "b1", "b1", "a2b1", "a2b1");
    CHOICE("-ab", "", "a1", "b1a1");
    /* the same GPUs in other orders */
    CHOICE("ab", "a1b1", "b1a1");
    CHOICE("bab", "b1a1", "a1b1", "b1a1");
}

/* ---- NUMA nodes ---- */

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[256];
    CHECK(snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path);
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void make_node(const char *folder, int node, const char *processors, const char *distance)
{
    char path[128], name[32];
    CHECK(snprintf(path, sizeof path, "%s/node%d", folder, node) < (int)sizeof path && mkdir(path, 0700) == 0);
    snprintf(name, sizeof name, "node%d/cpulist", node);
    write_file(folder, name, processors);
    snprintf(name, sizeof name, "node%d/distance", node);
    write_file(folder, name, distance);
}

static void remove_node(const char *folder, int node)
{
    static const char *const names[] = {"/cpulist", "/distance", ""};
    char path[128];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/node%d%s", folder, node, names[i]);
        CHECK(remove(path) == 0);
    }
}

static void distances_are_those_of_the_own_nodes(void)
{
    char folder[] = "/tmp/cuferry_numa_XXXXXX", path[64];
    struct cf__mpi_processors own = {{0}};
    struct cf__mpi_numa numa;
    CHECK(mkdtemp(folder));
    write_file(folder, "online", "0-1,8\n");
    make_node(folder, 0, "0-3,16-19\n", "10 21 30\n");
    make_node(folder, 1, "4-7,20\n", "21 10 17\n");
    make_node(folder, 8, "\n", "30 17 10\n");
    own.bits[2] = 1 << 3; /* processor 19 */
    cf__mpi_numa_read(&numa, folder, &own);
    CHECK(numa.count == 3 && cf__mpi_numa_is_own(&numa, 0) && !cf__mpi_numa_is_own(&numa, 1));
    CHECK(cf__mpi_numa_distance(&numa, 0) == 10 && cf__mpi_numa_distance(&numa, 1) == 21);
    CHECK(cf__mpi_numa_distance(&numa, 8) == 30);
    own.bits[0] = 1 << 5;
    cf__mpi_numa_read(&numa, folder, &own);
    CHECK(cf__mpi_numa_distance(&numa, 1) == 10 && cf__mpi_numa_distance(&numa, 8) == 17);
    CHECK(cf__mpi_numa_distance(&numa, -1) == CF__MPI_NUMA_FAR && cf__mpi_numa_distance(&numa, 2) == CF__MPI_NUMA_FAR);
    remove_node(folder, 0);
    remove_node(folder, 1);
    remove_node(folder, 8);
    snprintf(path, sizeof path, "%s/online", folder);
    CHECK(remove(path) == 0 && rmdir(folder) == 0);
    cf__mpi_numa_read(&numa, folder, &own);
    CHECK(numa.count == 0 && cf__mpi_numa_distance(&numa, 0) == CF__MPI_NUMA_FAR && !cf__mpi_numa_is_own(&numa, 0));
}

static void thread_has_a_processor(void)
{
    struct cf__mpi_processors own;
    int bits = 0;
    cf__mpi_numa_processors(&own);
    for (size_t i = 0; i < sizeof own.bits; i++)
        bits |= own.bits[i];
    CHECK(bits);
}

/* ---- The whole ---- */

static void check_reason(const char *reason, int device, int count)
{
    char text[128], uuid[40];
    snprintf(text, sizeof text, "rank %d of %d on ", world_rank(), world_size());
    CHECK(strncmp(reason, text, strlen(text)) == 0);
    if (device == CF_HOST) {
        CHECK(strstr(reason, ": the CPU, as there is no GPU"));
        return;
    }
    CHECK_OK(cf_device_uuid(device, uuid, sizeof uuid));
    snprintf(text, sizeof text, ": GPU %d of %d (GPU-%s)", device, count, uuid);
    CHECK(strstr(reason, text));
}

static void each_rank_has_a_device(void)
{
    int device = -2, current = -2, count = 0, devices[64];
    char reason[512] = "", cut[8];
    CHECK_OK(cf_device_count(&count));
    CHECK_OK(cf_mpi_device(MPI_COMM_WORLD, &device, reason, sizeof reason));
    CHECK_OK(cf_device_current(&current));
    CHECK(current == device && (count ? device >= 0 && device < count : device == CF_HOST));
    check_reason(reason, device, count);
    /* All ranks have the same GPUs, unless a variable chooses for each. */
    MPI_Allgather(&device, 1, MPI_INT, devices, 1, MPI_INT, MPI_COMM_WORLD);
    const char *fake = getenv("FAKE_CUDA");
    int is_own = getenv("CUDA_VISIBLE_DEVICES") || (fake && strstr(fake, "first="));
    for (int i = 0; i < world_size() && count && !is_own; i++) {
        char name[32];
        CHECK(devices[i] == i % count);
        snprintf(name, sizeof name, "%d", i);
        if (i != world_rank() && devices[i] == device)
            CHECK(strstr(reason, ", shared with rank") && strstr(strstr(reason, ", shared with rank"), name));
    }
    CHECK_OK(cf_mpi_device(MPI_COMM_WORLD, NULL, cut, sizeof cut));
    CHECK(strlen(cut) == sizeof cut - 1 && strncmp(cut, reason, sizeof cut - 1) == 0);
    CHECK_OK(cf_mpi_device(MPI_COMM_WORLD, NULL, NULL, 0));
}

/* Ranks of a part of the world are named by their ranks there. */
static void parts_choose_for_themselves(void)
{
    MPI_Comm part;
    int device, count, size;
    char reason[512], text[64];
    CHECK_OK(cf_device_count(&count));
    MPI_Comm_split(MPI_COMM_WORLD, world_rank() == 0, 0, &part);
    MPI_Comm_size(part, &size);
    CHECK_OK(cf_mpi_device(part, &device, reason, sizeof reason));
    snprintf(text, sizeof text, "of %d on ", size);
    CHECK(strstr(reason, text));
    if (world_rank() == 0 && count)
        CHECK(device == 0);
    MPI_Comm_free(&part);
}

int main(void)
{
    CHECK_OK(cf_mpi_init());
    ranks_share_gpus();
    distances_are_those_of_the_own_nodes();
    thread_has_a_processor();
    each_rank_has_a_device();
    parts_choose_for_themselves();
    MPI_Finalize();
    return 0;
}
