// a kernel returns nothing
#include <metal_stdlib>
using namespace metal;

kernel int broken(device float* a [[buffer(0)]]) {
    a[0] = 0.0f;
    return 1;
}
// line 5: kernel `broken` returns `int`, not void
