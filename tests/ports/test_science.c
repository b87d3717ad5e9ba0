/* test_science.c - the kernels of ports/science, which are files like those of scientific codes, compared with plain
 * loops. */
#include "ports.h"

#include "science_kernels.h"

PORT(pairs_of_atoms_repel_and_attract)
{
    enum { MOST = 6 };
    const double box = 4, cutoff = 1.5, epsilon = 0.75, sigma = 0.5;
    EACH_SIZE(port_sizes, n)
    {
        double *x = random_doubles(3 * n, 1, 0, box), *f = MAKE(double, 3 * n), *wanted = MAKE(double, 3 * n);
        float *x_f = MAKE(float, 3 * n), *f_f = MAKE(float, 3 * n);
        int *neighbours = MAKE(int, MOST *n);
        unsigned char *counts = MAKE(unsigned char, n);
        for (size_t i = 0; i < 3 * n; i++)
            x_f[i] = (float)(x[i] = (float)x[i]);
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < MOST; k++) {
                size_t j = neighbours[k * n + i] = (int)random_integer(2, k * n + i, 0, (int64_t)n);
                double d[3], square = 0, images[3];
                for (int c = 0; c < 3; c++) {
                    images[c] = x[3 * i + c] - x[3 * j + c];
                    d[c] = images[c] - box * (images[c] > box / 2) + box * (images[c] < -box / 2);
                    square += d[c] * d[c];
                }
                /* Ends the list at a pair of atoms for which rounding would decide the force. */
                if (square < 0.25 || fabs(square - cutoff * cutoff) < 1e-3)
                    break;
                counts[i]++;
                double s6 = pow(sigma * sigma / square, 3);
                if (square < cutoff * cutoff)
                    for (int c = 0; c < 3; c++)
                        wanted[3 * i + c] += 24 * epsilon * s6 * (2 * s6 - 1) / square * d[c];
            }
        }
        EACH_WAY
        {
            RUN(science_pair_forces_f64, IN(x), IN(neighbours), IN(counts), OUT(f), (int)n, MOST, box, cutoff, epsilon,
                sigma);
            assert_near(f, wanted, 3 * n, 1e-9);
            RUN(science_pair_forces_f32, IN(x_f), IN(neighbours), IN(counts), OUT(f_f), (int)n, MOST, (float)box,
                (float)cutoff, (float)epsilon, (float)sigma);
            assert_near(f_f, wanted, 3 * n, 1e-3);
        }
        assert_int_equal(science_pair_forces_f64(x, neighbours, counts, f, (int)n, MOST, 0, cutoff, epsilon, sigma),
                         CF_EINVAL);
        if (n) {
            counts[n - 1] = MOST + 1;
            assert_int_equal(
                science_pair_forces_f64(x, neighbours, counts, f, (int)n, MOST, box, cutoff, epsilon, sigma),
                CF_ERANGE);
        }
        drop_arrays();
    }
}

static uint32_t mix_bits(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

PORT(spins_flip)
{
    static const int sizes[] = {0, 2, 4, 30, 32, 66};
    unsigned chances[2] = {1u << 30, 1u << 28};
    assert_ok(science_set_threshold(chances));
    EACH_SIZE(sizes, size)
    {
        int n = (int)size;
        signed char *start = MAKE(signed char, size *size), *s = MAKE(signed char, size *size);
        signed char *wanted = MAKE(signed char, size *size);
        unsigned *flips = MAKE(unsigned, 1), flipped = 0;
        for (size_t i = 0; i < size * size; i++)
            wanted[i] = start[i] = random_below(1, i, 3) ? 1 : -1;
        for (int i = 0; i < n; i++)
            for (int j = (i + 1) % 2; j < n; j += 2) {
                int sum = start[(i + 1) % n * n + j] + start[(i + n - 1) % n * n + j] + start[i * n + (j + 1) % n] +
                          start[i * n + (j + n - 1) % n];
                int rise = 2 * start[i * n + j] * sum;
                if (rise <= 0 || mix_bits(77 ^ mix_bits((uint32_t)(i * n + j))) < chances[rise == 8]) {
                    wanted[i * n + j] = (signed char)-start[i * n + j];
                    flipped++;
                }
            }
        EACH_WAY
        {
            memcpy(s, start, size * size);
            flips[0] = 5;
            RUN(science_sweep, INOUT(s), n, 1, 77, INOUT(flips));
            assert_same(s, wanted, size * size);
            assert_int_equal(flips[0], 5 + flipped);
        }
        assert_int_equal(science_sweep(s, n + 1, 1, 77, flips), CF_EINVAL);
        assert_int_equal(science_sweep(s, n, 2, 77, flips), CF_EINVAL);
        drop_arrays();
    }
}

PORT(elements_add_to_their_nodes)
{
    enum { NODES = 50 };
    EACH_SIZE(port_sizes, n)
    {
        struct Triangle *t = MAKE(struct Triangle, n);
        double *points = random_doubles(2 * NODES, 1, 0, 1), *u = random_doubles(NODES, 2, -1, 1);
        double *r = MAKE(double, NODES), *wanted = MAKE(double, NODES);
        for (int i = 0; i < NODES; i++)
            points[2 * i] += i; /* makes sure that no triangle is too thin */
        for (size_t e = 0; e < n; e++) {
            int first = (int)random_below(3, e, NODES - 2), corner[3] = {first, first + 1, first + 2};
            t[e] = (struct Triangle){corner[0], corner[1], corner[2]};
            points[2 * (first + 1) + 1] = first % 2 ? 3 : -3;
        }
        for (size_t e = 0; e < n; e++) {
            int corner[3] = {t[e].a, t[e].b, t[e].c};
            double a[2][2], inverse[2][2], gradient[3][2], slope[2] = {0};
            for (int k = 0; k < 2; k++)
                for (int c = 0; c < 2; c++)
                    a[k][c] = points[2 * corner[k + 1] + c] - points[2 * corner[0] + c];
            double area = a[0][0] * a[1][1] - a[0][1] * a[1][0];
            inverse[0][0] = a[1][1] / area;
            inverse[0][1] = -a[0][1] / area;
            inverse[1][0] = -a[1][0] / area;
            inverse[1][1] = a[0][0] / area;
            for (int c = 0; c < 2; c++) {
                gradient[1][c] = inverse[c][0];
                gradient[2][c] = inverse[c][1];
                gradient[0][c] = -gradient[1][c] - gradient[2][c];
                for (int k = 0; k < 3; k++)
                    slope[c] += u[corner[k]] * gradient[k][c];
            }
            for (int k = 0; k < 3; k++)
                wanted[corner[k]] += fabs(area) / 2 * (slope[0] * gradient[k][0] + slope[1] * gradient[k][1]);
        }
        EACH_WAY
        {
            memset(r, 0, NODES * sizeof *r);
            RUN(science_apply_laplacian, IN(t), IN(points), IN(u), INOUT(r), n, NODES);
            assert_near(r, wanted, NODES, 1e-9);
        }
        if (n) {
            t[n / 2].c = NODES;
            assert_int_equal(science_apply_laplacian(t, (void *)points, u, r, n, NODES), CF_ERANGE);
        }
        drop_arrays();
    }
}

PORT(pixels_see_their_nearest_spheres)
{
    enum { WIDTH = 61, HEIGHT = 35, BALLS = 12 };
    struct Camera camera = {WIDTH, HEIGHT, {0.125f, 0, -2}, 0.03125f};
    struct Ball *balls = MAKE(struct Ball, BALLS);
    int16_t *nearest = MAKE(int16_t, WIDTH * HEIGHT);
    float *depth = MAKE(float, WIDTH *HEIGHT);
    int *nearest_wanted = MAKE(int, WIDTH *HEIGHT);
    double *depth_wanted = MAKE(double, WIDTH *HEIGHT);
    for (uint64_t i = 0; i < BALLS; i++) {
        balls[i].centre = (cf_float3){4 * random_f32(1, i) - 2, 2 * random_f32(2, i) - 1, 2 + 3 * random_f32(3, i)};
        balls[i].radius = 0.25f + 0.5f * random_f32(4, i);
    }
    for (int at = 0; at < WIDTH * HEIGHT; at++) {
        double d[3] = {(at % WIDTH + 0.5 - WIDTH / 2) * 0.03125, (at / WIDTH + 0.5 - HEIGHT / 2) * 0.03125, 1};
        double size = sqrt(d[0] * d[0] + d[1] * d[1] + 1), least = INFINITY;
        nearest_wanted[at] = -1;
        for (int i = 0; i < BALLS; i++) {
            double to[3] = {0.125 - balls[i].centre.x, -balls[i].centre.y, -2 - balls[i].centre.z};
            double b = (to[0] * d[0] + to[1] * d[1] + to[2]) / size, square = (double)balls[i].radius * balls[i].radius;
            double root = b * b - (to[0] * to[0] + to[1] * to[1] + to[2] * to[2] - square);
            if (root >= 0 && -b - sqrt(root) < least) {
                least = -b - sqrt(root);
                nearest_wanted[at] = i;
                depth_wanted[at] = -2 + least / size;
            }
        }
    }
    EACH_WAY
    {
        RUN(science_trace, IN(balls), BALLS, camera, OUT(nearest), OUT(depth));
        int different = 0; /* rounding decides at the edge of a sphere */
        for (int at = 0; at < WIDTH * HEIGHT; at++)
            different += nearest[at] != nearest_wanted[at] || !is_near(depth[at], depth_wanted[at], 1e-2);
        assert_in_range(different, 0, 8);
    }
    camera.width = 0;
    assert_ok(science_trace(balls, BALLS, camera, nearest, depth));
    assert_int_equal(science_trace(balls, -1, camera, nearest, depth), CF_EINVAL);
}

PORT(charges_reach_four_nodes)
{
    enum { NX = 13, NY = 7 };
    EACH_SIZE(port_sizes, n)
    {
        pic_particle *p = MAKE(pic_particle, n);
        float *rho = MAKE(float, NX *NY);
        double *wanted = MAKE(double, NX *NY);
        for (size_t i = 0; i < n; i++) {
            double x = (double)random_integer(1, i, -1024, 2048) / 64,
                   y = (double)random_integer(2, i, -512, 1024) / 64;
            p[i].x = (float)x;
            p[i].y = (float)y;
            p[i].charge = i % 2 ? 0.5f : -0.25f;
            p[i].tag[0] = i % 5 ? 1 : 0xff;
            for (int corner = 0; corner < 4 && i % 5; corner++) {
                double wx = x - floor(x), wy = y - floor(y);
                int column = ((int)floor(x) + corner % 2 + 100 * NX) % NX,
                    row = ((int)floor(y) + corner / 2 + 100 * NY) % NY;
                wanted[row * NX + column] += p[i].charge * (corner % 2 ? wx : 1 - wx) * (corner / 2 ? wy : 1 - wy);
            }
        }
        EACH_WAY
        {
            memset(rho, 0, NX * NY * sizeof *rho);
            RUN(science_deposit, IN(p), (long long)n, INOUT(rho), NX, NY);
            assert_near(rho, wanted, NX * NY, 1e-4);
        }
        assert_int_equal(science_deposit(p, (long long)n, rho, 0, NY), CF_EINVAL);
        drop_arrays();
    }
}

PORT(particles_have_densities)
{
    const double h = 0.25f;
    EACH_SIZE(port_small_sizes, n)
    {
        float *particles = random_floats(4 * n, 1, 0, 1), *density = MAKE(float, n);
        double *wanted = MAKE(double, n);
        for (size_t i = 0; i < n * n; i++) {
            const float *a = particles + 4 * (i / n), *b = particles + 4 * (i % n);
            double q = sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2)) / h;
            double value = q < 1 ? 1 - 1.5 * q * q + 0.75 * q * q * q : q < 2 ? 0.25 * pow(2 - q, 3) : 0;
            wanted[i / n] += b[3] * value / (acos(-1) * h * h * h);
        }
        EACH_WAY
        {
            RUN(science_densities, IN(particles), OUT(density), (unsigned)n, (float)h);
            assert_near(density, wanted, n, 1e-4);
        }
        assert_int_equal(science_densities((void *)particles, density, (unsigned)n, 0), CF_EINVAL);
        drop_arrays();
    }
}

PORT(water_takes_a_step)
{
    static const int widths[] = {0, 1, 2, 31, 33, 70};
    enum { HEIGHT = 9 };
    const double ratio = 0.125;
    EACH_SIZE(widths, width)
    {
        size_t cells = width * HEIGHT;
        float *before[3] = {random_floats(cells, 1, 1, 2), random_floats(cells, 2, -1, 1),
                            random_floats(cells, 3, -1, 1)};
        float *after[3] = {MAKE(float, cells), MAKE(float, cells), MAKE(float, cells)};
        double *wanted[3] = {MAKE(double, cells), MAKE(double, cells), MAKE(double, cells)};
        for (size_t at = 0; at < cells; at++) {
            size_t x = at % width, y = at / width, row = y * width;
            size_t sides[4] = {row + (x + 1) % width, row + (x + width - 1) % width, (y + 1) % HEIGHT * width + x,
                               (y + HEIGHT - 1) % HEIGHT * width + x};
            for (int side = 0; side < 4; side++) {
                double q[3], sign = side % 2 ? 0.5 * ratio : -0.5 * ratio;
                for (int k = 0; k < 3; k++)
                    q[k] = before[k][sides[side]];
                int along = side < 2 ? 1 : 2;
                for (int k = 0; k < 3; k++) {
                    double flux = k == 0 ? q[along] : q[along] * q[k] / q[0] + (k == along) * 0.5 * 9.81 * q[0] * q[0];
                    wanted[k][at] += q[k] / 4 + sign * flux;
                }
            }
        }
        EACH_WAY
        {
            RUN(science_water, IN(before[0]), IN(before[1]), IN(before[2]), OUT(after[0]), OUT(after[1]), OUT(after[2]),
                (int)width, HEIGHT, (float)ratio);
            for (int k = 0; k < 3; k++)
                assert_near(after[k], wanted[k], cells, 1e-5);
        }
        if (cells) /* these arrays are __restrict__ */
            assert_int_equal(
                science_water(before[0], before[1], before[2], before[0], after[1], after[2], (int)width, HEIGHT, 0),
                CF_EINVAL);
        drop_arrays();
    }
}

PORT(rods_cool)
{
    enum { N = 17 };
    const double r = 0.75;
    EACH_SIZE(port_small_sizes, rods)
    {
        double *start = random_doubles(N * rods, 1, -1, 1), *u = MAKE(double, N *rods), *left = MAKE(double, N *rods);
        double *right = MAKE(double, N *rods);
        for (size_t i = 0; i < N * rods; i++) {
            double above = i < rods ? 0 : start[i - rods], below = i + rods < N * rods ? start[i + rods] : 0;
            right[i] = (1 - r) * start[i] + r / 2 * (above + below);
        }
        EACH_WAY
        {
            memcpy(u, start, N * rods * sizeof *u);
            RUN(science_crank_nicolson, INOUT(u), r, N, (int)rods);
            for (size_t i = 0; i < N * rods; i++) {
                double above = i < rods ? 0 : u[i - rods], below = i + rods < N * rods ? u[i + rods] : 0;
                left[i] = (1 + r) * u[i] - r / 2 * (above + below);
            }
            assert_near(left, right, N * rods, 1e-13);
        }
        assert_ok(science_crank_nicolson(u, r, 0, (int)rods));
        assert_int_equal(science_crank_nicolson(u, -r, N, (int)rods), CF_EINVAL);
        drop_arrays();
    }
}

PORT(bonds_pull_their_atoms)
{
    enum { ATOMS = 40 };
    EACH_SIZE(port_sizes, n)
    {
        struct Bond *bonds = MAKE(struct Bond, n);
        float *r = random_floats(3 * ATOMS, 1, -1, 1), *force = MAKE(float, 3 * ATOMS), most = 0;
        unsigned *stretch = MAKE(unsigned, 1);
        double *wanted = MAKE(double, 3 * ATOMS), most_wanted = 0;
        for (size_t b = 0; b < n; b++) {
            int i = (int)random_below(2, b, ATOMS), j = (int)random_below(3, b, ATOMS);
            bonds[b] = (struct Bond){i, j, random_f32(4, b), 0.5f};
            double d[3], square = 0;
            for (int k = 0; k < 3; k++) {
                d[k] = (double)r[3 * j + k] - r[3 * i + k];
                square += d[k] * d[k];
            }
            if (i == j)
                continue;
            double distance = sqrt(square), pull = bonds[b].k * (distance - 0.5) / distance;
            most_wanted = fmax(most_wanted, fabs(distance - 0.5));
            for (int k = 0; k < 3; k++) {
                wanted[3 * i + k] += pull * d[k];
                wanted[3 * j + k] -= pull * d[k];
            }
        }
        EACH_WAY
        {
            memset(force, 0, 3 * ATOMS * sizeof *force);
            stretch[0] = 0;
            RUN(science_bond_forces, IN(bonds), IN(r), INOUT(force), INOUT(stretch), (int)n, ATOMS);
            assert_near(force, wanted, 3 * ATOMS, 1e-3);
            memcpy(&most, stretch, sizeof most);
            assert_near(&most, &most_wanted, 1, 1e-6);
        }
        if (n) {
            bonds[n - 1].i = -1;
            assert_int_equal(science_bond_forces(bonds, (void *)r, (void *)force, stretch, (int)n, ATOMS), CF_ERANGE);
        }
        drop_arrays();
    }
}

PORT(pendulums_swing)
{
    enum { STEPS = 20 };
    const double dt = 0.05;
    struct Physics physics = {.stiffness = 1.5, .damping = 0.25, .drive = {1.25, 0.5}};
    assert_ok(science_set_physics(&physics));
    EACH_SIZE(port_small_sizes, n)
    {
        double *start = random_doubles(2 * n, 1, -2, 2), *s = MAKE(double, 2 * n), *wanted = MAKE(double, 2 * n);
        for (size_t i = 0; i < n; i++) {
            double *w = wanted + 2 * i, t = 0.5;
            memcpy(w, start + 2 * i, 2 * sizeof *w);
            for (int step = 0; step < STEPS; step++, t += dt) {
                static const double at[4] = {0, 0.5, 0.5, 1}, weights[4] = {1, 2, 2, 1};
                double k[2] = {0, 0}, sum[2] = {0, 0};
                for (int stage = 0; stage < 4; stage++) {
                    double x = w[0] + at[stage] * dt * k[0], v = w[1] + at[stage] * dt * k[1];
                    k[0] = v;
                    k[1] = 1.25 * cos(0.5 * (t + at[stage] * dt)) - 0.25 * v - 1.5 * sin(x);
                    sum[0] += weights[stage] * k[0];
                    sum[1] += weights[stage] * k[1];
                }
                w[0] += dt / 6 * sum[0];
                w[1] += dt / 6 * sum[1];
            }
        }
        EACH_WAY
        {
            memcpy(s, start, 2 * n * sizeof *s);
            RUN(science_advance, INOUT(s), 0.5, dt, STEPS, n);
            assert_near(s, wanted, 2 * n, 1e-11);
        }
        assert_int_equal(science_advance((void *)s, 0.5, dt, -1, n), CF_EINVAL);
        drop_arrays();
    }
}

PORT(photons_meet_their_fates)
{
    enum { DEPTH = 24, ENERGY = 30 };
    EACH_SIZE(port_sizes, n)
    {
        char *layers = MAKE(char, DEPTH);
        short *start = MAKE(short, n);
        unsigned char *fate = MAKE(unsigned char, n), *fate_wanted = MAKE(unsigned char, n);
        unsigned short *bounces = MAKE(unsigned short, n), *bounces_wanted = MAKE(unsigned short, n);
        memcpy(layers, n % 2 ? "x m gg  g  A  xgg  m gg " : "m   x     x  x    x   m ", DEPTH);
        for (size_t i = 0; i < n; i++) {
            int at = start[i] = (short)random_below(1, i, DEPTH), direction = 1, energy = ENERGY, steps = 0;
            while (!fate_wanted[i]) {
                if (at < 0 || at >= DEPTH)
                    fate_wanted[i] = ESCAPED;
                else if (++steps > 1000)
                    fate_wanted[i] = TIRED;
                else if (strchr("aA", layers[at]))
                    fate_wanted[i] = ABSORBED;
                else {
                    int is_mirror = layers[at] == 'm';
                    bounces_wanted[i] = (unsigned short)(bounces_wanted[i] + is_mirror);
                    direction = is_mirror ? -direction : direction;
                    if ((is_mirror || layers[at] == 'g') && --energy < 0)
                        fate_wanted[i] = ABSORBED;
                    at += strchr("mg ", layers[at]) ? direction : 2 * direction;
                }
            }
        }
        EACH_WAY
        {
            RUN(science_walk, IN(layers), DEPTH, IN(start), OUT(fate), OUT(bounces), ENERGY, (unsigned)n);
            assert_same(fate, fate_wanted, n);
            assert_same(bounces, bounces_wanted, n);
        }
        assert_int_equal(science_walk(layers, 0, start, fate, bounces, ENERGY, (unsigned)n), CF_EINVAL);
        drop_arrays();
    }
}

int main(void)
{
    return run_ports(&science_registry);
}
