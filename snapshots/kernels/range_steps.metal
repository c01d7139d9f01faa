// range_steps(starts: *i32, stops: *i32, steps: *i32, sums: *i32, lasts: *i32)
// · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

inline int wrap_add(int a, int b) {
    return as_type<int>(as_type<uint>(a) + as_type<uint>(b));
}

// The trip count of a range.
inline uint trip_count(int start, int stop, int step) {
    if (step > 0) {
        return start < stop ? (uint(stop) - uint(start) - 1) / uint(step) + 1 : 0;
    }
    return step < 0 && start > stop ? (uint(start) - uint(stop) - 1) / -uint(step) + 1 : 0;
}

kernel void range_steps(device const int* starts [[buffer(0)]],
                        device const int* stops [[buffer(1)]],
                        device const int* steps [[buffer(2)]],
                        device int* sums [[buffer(3)]],
                        device int* lasts [[buffer(4)]],
                        uint3 program [[threadgroup_position_in_grid]],
                        uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int p = int(program.x);                           // +1
    const int starts_value = starts[p];                     // +3
    const int steps_value = steps[p];
    const uint trips = trip_count(starts_value, stops[p], steps_value);
    int total = 0;
    int last = -1;
    for (uint trip = 0; trip < trips; ++trip) {
        const int i = int(uint(starts_value) + trip * uint(steps_value));
        total = wrap_add(total, i);                         // +4
        last = i;                                           // +5
    }
    if (t == 0) {                                           // +6
        sums[p] = total;
        lasts[p] = last;                                    // +7
    }
}
