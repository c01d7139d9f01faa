// fft(re: *f32, im: *f32, out_re: *f32, out_im: *f32)
// with N=64 · 32 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void fft(device const float* re [[buffer(0)]],
                device const float* im [[buffer(1)]],
                device float* out_re [[buffer(2)]],
                device float* out_im [[buffer(3)]],
                uint3 program [[threadgroup_position_in_grid]],
                uint3 thread_position [[thread_position_in_threadgroup]]) {
    threadgroup float x[128];
    threadgroup float y[128];
    const int t = int(thread_position.x);

    const int offset = int(program.x) * 64 + t;             // +6
    x[t] = re[offset];
    y[t] = im[offset];                                      // +7
    const int last = t + 32;                                // +6
    x[last] = re[offset + 32];
    y[last] = im[offset + 32];                              // +7
    threadgroup_barrier(mem_flags::mem_threadgroup);        // +12
    const float a = x[t];                                   // +13
    const float c = x[last];                                // +14
    const float d = y[last];
    const float p = c - d * -0.0f;                          // +17
    const int offset_1 = 64 + t * 2;                        // +19
    x[offset_1] = a + p;
    const float b = y[t];                                   // +13
    const float q = c * -0.0f + d;                          // +17
    y[offset_1] = b + q;                                    // +20
    x[offset_1 + 1] = a - p;                                // +21
    y[offset_1 + 1] = b - q;                                // +22
    threadgroup_barrier(mem_flags::mem_threadgroup);        // +12
    const int offset_2 = 64 + t;                            // +13
    const float a_1 = x[offset_2];
    const int offset_3 = offset_2 + 32;                     // +14
    const float c_1 = x[offset_3];
    const float d_1 = y[offset_3];
    const int n = t % 2;                                    // +15
    const float angle = -1.5707964f * float(n);
    const float co = precise::cos(angle);                   // +16
    const float si = precise::sin(angle);
    const float p_1 = c_1 * co - d_1 * si;                  // +17
    const int place = t / 2 * 4 + n;                        // +18
    x[place] = a_1 + p_1;                                   // +19
    const float b_1 = y[offset_2];                          // +13
    const float q_1 = c_1 * si + d_1 * co;                  // +17
    y[place] = b_1 + q_1;                                   // +20
    x[place + 2] = a_1 - p_1;                               // +21
    y[place + 2] = b_1 - q_1;                               // +22
    threadgroup_barrier(mem_flags::mem_threadgroup);        // +12
    const float a_2 = x[t];                                 // +13
    const float c_2 = x[last];                              // +14
    const float d_2 = y[last];
    const int n_1 = t % 4;                                  // +15
    const float angle_1 = -0.7853982f * float(n_1);
    const float co_1 = precise::cos(angle_1);               // +16
    const float si_1 = precise::sin(angle_1);
    const float p_2 = c_2 * co_1 - d_2 * si_1;              // +17
    const int offset_4 = 64 + (t / 4 * 8 + n_1);            // +19
    x[offset_4] = a_2 + p_2;
    const float b_2 = y[t];                                 // +13
    const float q_2 = c_2 * si_1 + d_2 * co_1;              // +17
    y[offset_4] = b_2 + q_2;                                // +20
    x[offset_4 + 4] = a_2 - p_2;                            // +21
    y[offset_4 + 4] = b_2 - q_2;                            // +22
    threadgroup_barrier(mem_flags::mem_threadgroup);        // +12
    const float a_3 = x[offset_2];                          // +13
    const float c_3 = x[offset_3];                          // +14
    const float d_3 = y[offset_3];
    const int n_2 = t % 8;                                  // +15
    const float angle_2 = -0.3926991f * float(n_2);
    const float co_2 = precise::cos(angle_2);               // +16
    const float si_2 = precise::sin(angle_2);
    const float p_3 = c_3 * co_2 - d_3 * si_2;              // +17
    const int place_1 = t / 8 * 16 + n_2;                   // +18
    x[place_1] = a_3 + p_3;                                 // +19
    const float b_3 = y[offset_2];                          // +13
    const float q_3 = c_3 * si_2 + d_3 * co_2;              // +17
    y[place_1] = b_3 + q_3;                                 // +20
    x[place_1 + 8] = a_3 - p_3;                             // +21
    y[place_1 + 8] = b_3 - q_3;                             // +22
    threadgroup_barrier(mem_flags::mem_threadgroup);        // +12
    const float a_4 = x[t];                                 // +13
    const float c_4 = x[last];                              // +14
    const float d_4 = y[last];
    const int n_3 = t % 16;                                 // +15
    const float angle_3 = -0.19634955f * float(n_3);
    const float co_3 = precise::cos(angle_3);               // +16
    const float si_3 = precise::sin(angle_3);
    const float p_4 = c_4 * co_3 - d_4 * si_3;              // +17
    const int offset_5 = 64 + (t / 16 * 32 + n_3);          // +19
    x[offset_5] = a_4 + p_4;
    const float b_4 = y[t];                                 // +13
    const float q_4 = c_4 * si_3 + d_4 * co_3;              // +17
    y[offset_5] = b_4 + q_4;                                // +20
    x[offset_5 + 16] = a_4 - p_4;                           // +21
    y[offset_5 + 16] = b_4 - q_4;                           // +22
    threadgroup_barrier(mem_flags::mem_threadgroup);        // +12
    const float a_5 = x[offset_2];                          // +13
    const float c_5 = x[offset_3];                          // +14
    const float d_5 = y[offset_3];
    const int n_4 = t % 32;                                 // +15
    const float angle_4 = -0.09817477f * float(n_4);
    const float co_4 = precise::cos(angle_4);               // +16
    const float si_4 = precise::sin(angle_4);
    const float p_5 = c_5 * co_4 - d_5 * si_4;              // +17
    const int place_2 = t / 32 * 64 + n_4;                  // +18
    x[place_2] = a_5 + p_5;                                 // +19
    const float b_5 = y[offset_2];                          // +13
    const float q_5 = c_5 * si_4 + d_5 * co_4;              // +17
    y[place_2] = b_5 + q_5;                                 // +20
    x[place_2 + 32] = a_5 - p_5;                            // +21
    y[place_2 + 32] = b_5 - q_5;                            // +22
    threadgroup_barrier(mem_flags::mem_threadgroup);        // +23
    out_re[offset] = x[t];                                  // +26
    out_im[offset] = y[t];                                  // +27
    out_re[offset + 32] = x[last];                          // +26
    out_im[offset + 32] = y[last];                          // +27
}
