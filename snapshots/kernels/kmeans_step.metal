// kmeans_step(points: *f32, centres: *f32, nearest: *i32, sums: *f32, counts: *i32, N: i32, K: i32)
// with BLOCK=64 · 64 threads per program · Metal 3.0
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void kmeans_step(device const float* points [[buffer(0)]],
                        device const float* centres [[buffer(1)]],
                        device int* nearest [[buffer(2)]],
                        device atomic_float* sums [[buffer(3)]],
                        device atomic_int* counts [[buffer(4)]],
                        constant int& N [[buffer(5)]],
                        constant int& K [[buffer(6)]],
                        uint3 program [[threadgroup_position_in_grid]],
                        uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int i = int(program.x) * 64 + t;                  // +1
    const float x = i < N ? points[2 * i] : 0.0f;           // +2
    const float y = i < N ? points[2 * i + 1] : 0.0f;
    int place = 0;                                          // +4
    float best = INFINITY;
    for (int k = 0; k < K; ++k) {
        const float dx = x - centres[2 * k];                // +5
        const float dy = y - centres[2 * k + 1];
        const float far = dx * dx + dy * dy;                // +6
        place = far < best ? k : place;                     // +7
        best = fmin(far, best);                             // +8
    }
    if (i < N) {                                            // +9
        nearest[i] = place;
        atomic_fetch_add_explicit(&sums[2 * place], x, memory_order_relaxed); // +10
        atomic_fetch_add_explicit(&sums[2 * place + 1], y, memory_order_relaxed); // +11
        atomic_fetch_add_explicit(&counts[place], 1, memory_order_relaxed); // +12
    }
}
