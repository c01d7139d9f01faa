// prime_factors(out: *i32, N: i32) with LIMIT=80, BLOCK=32 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

inline int wrap_add(int a, int b) {
    return as_type<int>(as_type<uint>(a) + as_type<uint>(b));
}

kernel void prime_factors(device int* out [[buffer(0)]],
                          constant int& N [[buffer(1)]],
                          uint3 program [[threadgroup_position_in_grid]],
                          uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 32 + t;               // +1
    const int n = offs + 2;                                 // +2
    int total = 0;                                          // +4
    for (int candidate = 2; candidate < 80; ++candidate) {
        if (candidate > 2 && candidate % 2 == 0) { continue; } // +5
        int total_1;                                        // +7
        bool left_early = false;
        for (int divisor = 3; divisor < candidate; divisor += 2) {
            if (candidate % divisor == 0) {                 // +8
                total_1 = total;                            // +9
                left_early = true;
                break;
            }
        }
        if (!left_early) {                                  // +7
            total_1 = n % candidate == 0 ? wrap_add(total, candidate) : total; // +11
        }
        if (candidate >= n) {                               // +13
            total = total_1;                                // +14
            break;
        }
        total = total_1;                                    // +13
    }
    if (offs < N) { out[offs] = total; }                    // +15
}
