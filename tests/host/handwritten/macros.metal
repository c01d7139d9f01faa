#include <metal_stdlib>
using namespace metal;

#define WIDTH 8
#define SQUARE(x) ((x) * (x))
#define DECLARE_TILE(name, T) threadgroup T name[WIDTH * WIDTH]
#define INDEX(i, j)  \
    ((i) * WIDTH + \
     (j))
#if __METAL_VERSION__ >= 230 && WIDTH == 8
typedef float element;
#else
#error "WIDTH must be 8"
#endif
#if 0
kernel void disabled(device double* x [[buffer(0)]]) {}
#endif
#define UNARY_KERNEL(name, expression)                                        \
    kernel void name(device const element* in [[buffer(0)]],                  \
                     device element* out [[buffer(1)]],                       \
                     uint2 t [[thread_position_in_threadgroup]]) {            \
        DECLARE_TILE(tile, element);                                          \
        tile[INDEX(t.x, t.y)] = in[INDEX(t.y, t.x)];                          \
        threadgroup_barrier(mem_flags::mem_threadgroup);                      \
        const element x = tile[INDEX(t.y, t.x)];                              \
        out[INDEX(t.y, t.x)] = expression;                                    \
    }

UNARY_KERNEL(macros, SQUARE(x) + 1)
UNARY_KERNEL(other, -x)
