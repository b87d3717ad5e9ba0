/* pendulum.cu - driven pendulums by the Runge-Kutta method; a constant struct has their physical parameters. */
#include <cmath>
#include <vector>

struct Physics {
    double stiffness, damping;
    struct {
        double strength, frequency;
    } drive;
};

__constant__ Physics physics;
static const Physics h_physics = {.stiffness = 1.0, .damping = 0.5, .drive = {1.2, 2.0 / 3}};

#pragma cf kernel grid(n) inout(state[n]) check(steps >= 0) tolerance(1e-9)
__global__ void advance(double2 *const state, double time, const double dt, const int steps, const unsigned long n)
{
    const unsigned long i = (unsigned long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    const auto slope = [](double2 s, double t) {
        const double drive = physics.drive.strength * cos(physics.drive.frequency * t);
        return make_double2(s.y, drive - physics.damping * s.y - physics.stiffness * sin(s.x));
    };
    auto moved = [](const double2 &s, const double2 &k, double h) -> double2 { return {s.x + h * k.x, s.y + h * k.y}; };

    double2 s = state[i];
    for (int step = 0; step < steps; step++, time += dt) {
        const double2 k1 = slope(s, time);
        const double2 k2 = slope(moved(s, k1, dt / 2), time + dt / 2);
        const double2 k3 = slope(moved(s, k2, dt / 2), time + dt / 2);
        const double2 k4 = slope(moved(s, k3, dt), time + dt);
        [&] {
            s.x += dt / 6 * (k1.x + 2 * (k2.x + k3.x) + k4.x);
            s.y += dt / 6 * (k1.y + 2 * (k2.y + k3.y) + k4.y);
        }();
    }
    state[i] = s;
}

std::vector<double2> run(std::vector<double2> start, double until)
{
    double2 *d = nullptr;
    auto bytes = start.size() * sizeof *d;
    auto check = [](cudaError_t error) {
        if (error != cudaSuccess)
            throw error;
    };
    check(cudaMemcpyToSymbol(physics, &h_physics, sizeof physics));
    check(cudaMalloc(&d, bytes));
    check(cudaMemcpy(d, start.data(), bytes, cudaMemcpyDefault));
    advance<<<(unsigned)std::ceil(start.size() / 256.0), 256>>>(d, 0, 0.01, (int)(until / 0.01), start.size());
    check(cudaMemcpy(start.data(), d, bytes, cudaMemcpyDefault));
    check(cudaFree(d));
    return start;
}
