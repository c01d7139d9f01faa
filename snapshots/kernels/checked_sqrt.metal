// checked_sqrt(x: *f32, y: *f32, N: i32) with BLOCK=32 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

// Records the first assert that fails: its number plus one, the program and the lane.
inline void report_failure(device atomic_uint* report, uint site, uint3 program, int lane) {
    uint found = 0;
    while (!atomic_compare_exchange_weak_explicit(report, &found, site + 1,
                                                  memory_order_relaxed, memory_order_relaxed)) {
        if (found != 0) {
            return;
        }
    }
    atomic_store_explicit(&report[1], program.x, memory_order_relaxed);
    atomic_store_explicit(&report[2], program.y, memory_order_relaxed);
    atomic_store_explicit(&report[3], program.z, memory_order_relaxed);
    atomic_store_explicit(&report[4], uint(lane), memory_order_relaxed);
}

// Reserves a record for a print; returns the index of its first value, or 0 if it is full.
inline uint report_record(device atomic_uint* report, uint words, uint site, uint3 program,
                          int lane) {
    const uint room = atomic_load_explicit(&report[5], memory_order_relaxed);
    const uint used = atomic_fetch_add_explicit(&report[6], words, memory_order_relaxed);
    if (used > room || words > room - used) {
        atomic_fetch_add_explicit(&report[7], 1u, memory_order_relaxed);
        return 0;
    }
    atomic_store_explicit(&report[used + 16], site, memory_order_relaxed);
    atomic_store_explicit(&report[used + 17], program.x, memory_order_relaxed);
    atomic_store_explicit(&report[used + 18], program.y, memory_order_relaxed);
    atomic_store_explicit(&report[used + 19], program.z, memory_order_relaxed);
    atomic_store_explicit(&report[used + 20], uint(lane), memory_order_relaxed);
    return used + 21;
}

inline void report_value(device atomic_uint* report, uint index, float x) {
    atomic_store_explicit(&report[index], as_type<uint>(float(x)), memory_order_relaxed);
}

kernel void checked_sqrt(device const float* x [[buffer(0)]],
                         device float* y [[buffer(1)]],
                         constant int& N [[buffer(2)]],
                         device atomic_uint* report [[buffer(3)]],
                         uint3 group [[threadgroup_position_in_grid]],
                         uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int program = int(group.x);                       // +1
    const int offs = program * 32 + t;                      // +2
    const float v = offs < N ? x[offs] : 0.0f;              // +3
    if (!(v >= 0.0f)) { report_failure(report, 0, group, t); } // +4
    if (offs < N) { y[offs] = precise::sqrt(v); }           // +5
    if (program == 0) {                                     // +6
        const float high = simd_max(fmax(v, -INFINITY));    // +7
        if (t == 0) {
            const uint record = report_record(report, 6, 1, group, 0);
            if (record != 0) { report_value(report, record, high); }
        }
    }
}
