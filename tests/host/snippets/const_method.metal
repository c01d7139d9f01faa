#include <metal_stdlib>
using namespace metal;

struct Counter {
    int n;
    void add() { n += 1; }
};
kernel void broken(device float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   constant int& N [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    const Counter c = {0};
    c.add();
    a[i] = c.n;
}
// line 13: 'this' argument to member function 'add' has type 'const thread Counter', but function is not marked const
