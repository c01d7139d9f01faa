// transpose(x: *f32, y: *f32, ROWS: i32, COLS: i32)
// with TILE=8 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;

kernel void transpose_(device const float* x [[buffer(0)]],
                       device float* y [[buffer(1)]],
                       constant int& ROWS [[buffer(2)]],
                       constant int& COLS [[buffer(3)]],
                       uint3 program [[threadgroup_position_in_grid]],
                       uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup float tile[72];
    const int t = int(thread_position.x);

    const int high = t / 8;                                 // +2
    const int row = int(program.x) * 8 + high;              // +4
    const int low = t % 8;                                  // +2
    const int col = int(program.y) * 8 + low;               // +4
    if (row < ROWS && col < COLS) {                         // +5
        tile[high * 9 + low] = x[row * COLS + col];         // +6
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);        // +7
    const int row_1 = int(program.x) * 8 + low;             // +8
    const int col_1 = int(program.y) * 8 + high;
    if (row_1 < ROWS && col_1 < COLS) {                     // +9
        y[col_1 * ROWS + row_1] = tile[low * 9 + high];     // +10
    }
}
