kernel void broken(device metal::float4* a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    a[i] = metal::sqrt(a[i]);
}
// line 1: unknown type name 'device'
