#include <metal_stdlib>

namespace shapes {
struct Circle {
    metal::float2 center;
    float radius;
    float distance(metal::float2 point) const { return metal::distance(center, point) - radius; }
};
}  // namespace shapes

kernel void namespaced(constant shapes::Circle* circles [[buffer(0)]],
                       device const metal::packed_float2* points [[buffer(1)]],
                       device float* distances [[buffer(2)]],
                       constant metal::uint2& counts [[buffer(3)]],
                       metal::uint3 gid [[thread_position_in_grid]]) {
    metal::vec<float, 2> point = points[gid.x];
    float nearest = metal::numeric_limits<float>::max();
    for (metal::uint k = 0; k < counts.x; ++k) {
        const shapes::Circle circle = circles[k];
        nearest = metal::min(nearest, circle.distance(point));
    }
    distances[gid.x] = metal::precise::sqrt(metal::abs(nearest)) * metal::sign(nearest);
}
