#include <metal_stdlib>
using namespace metal;

struct Vertex {
    packed_float3 position;
    float weight;
    packed_half2 uv;
};
struct Box {
    float3 low;
    float3 high;
};

inline Box grow(Box box, float3 point) {
    box.low = min(box.low, point);
    box.high = max(box.high, point);
    return box;
}

kernel void packed_vertices(device const Vertex* vertices [[buffer(0)]],
                            device packed_float3* normals [[buffer(1)]],
                            device Box* boxes [[buffer(2)]],
                            device Vertex* copies [[buffer(3)]],
                            uint i [[thread_position_in_grid]]) {
    const Vertex a = vertices[3 * i];
    Vertex b = vertices[3 * i + 1];
    threadgroup Vertex shared[64];
    shared[i] = vertices[3 * i + 2];
    Vertex c = shared[i];
    const float3 pa(a.position), pb = b.position, pc = c.position;
    normals[i] = normalize(cross(pb - pa, pc - pa)) * a.weight;
    Box box = {pa, pa};
    box = grow(box, pb);
    boxes[i] = grow(box, float3(c.position));
    c.position = a.position * 2 + b.position;
    c.position[0] = -1;
    c.uv.x += 0.5h;
    copies[i] = c;
}
