// The words of Metal that C++ lacks, and `float4(...)`, which clang's vectors cannot be made with.
#pragma once

namespace metal {

template <class V, class T>
inline void eas_put(V& v, int& at, T x) {
    if constexpr (eas_shape<T>::length == 1) {
        v[at++] = (eas_element<V>)x;
    } else {
        for (int i = 0; i < eas_shape<T>::length; ++i) {
            v[at++] = (eas_element<V>)x[i];
        }
    }
}
template <class V, class... Parts>
inline V eas_make(Parts... parts) {
    V v;
    if constexpr (sizeof...(Parts) == 1 && (eas_shape<Parts>::length + ...) == 1) {
        v = ((eas_element<V>)parts, ...);
    } else {
        static_assert((eas_shape<Parts>::length + ...) == eas_shape<V>::length,
                      "the parts of a vector do not have as many elements as the vector");
        int at = 0;
        (eas_put(v, at, parts), ...);
    }
    return v;
}

}  // namespace metal

#define EAS_MAKE(T)                       \
    template <class... Parts>             \
    inline T eas_make_##T(Parts... parts) { \
        return metal::eas_make<T>(parts...);     \
    }
EAS_MAKE(bool2) EAS_MAKE(bool3) EAS_MAKE(bool4)
EAS_MAKE(char2) EAS_MAKE(char3) EAS_MAKE(char4)
EAS_MAKE(uchar2) EAS_MAKE(uchar3) EAS_MAKE(uchar4)
EAS_MAKE(short2) EAS_MAKE(short3) EAS_MAKE(short4)
EAS_MAKE(ushort2) EAS_MAKE(ushort3) EAS_MAKE(ushort4)
EAS_MAKE(int2) EAS_MAKE(int3) EAS_MAKE(int4)
EAS_MAKE(uint2) EAS_MAKE(uint3) EAS_MAKE(uint4)
EAS_MAKE(long2) EAS_MAKE(long3) EAS_MAKE(long4)
EAS_MAKE(ulong2) EAS_MAKE(ulong3) EAS_MAKE(ulong4)
EAS_MAKE(half2) EAS_MAKE(half3) EAS_MAKE(half4)
EAS_MAKE(float2) EAS_MAKE(float3) EAS_MAKE(float4)
EAS_MAKE(bfloat2) EAS_MAKE(bfloat3) EAS_MAKE(bfloat4)
#undef EAS_MAKE

namespace metal {

using ::bool2; using ::bool3; using ::bool4;
using ::char2; using ::char3; using ::char4;
using ::uchar2; using ::uchar3; using ::uchar4;
using ::short2; using ::short3; using ::short4;
using ::ushort2; using ::ushort3; using ::ushort4;
using ::int2; using ::int3; using ::int4;
using ::uint2; using ::uint3; using ::uint4;
using ::long2; using ::long3; using ::long4;
using ::ulong2; using ::ulong3; using ::ulong4;
using ::half2; using ::half3; using ::half4;
using ::float2; using ::float3; using ::float4;
using ::bfloat2; using ::bfloat3; using ::bfloat4;
using ::half;
using ::bfloat;
using ::uchar;
using ::ushort;
using ::uint;
using ::ulong;
using ::size_t;

using ::eas_make_bool2; using ::eas_make_bool3; using ::eas_make_bool4;
using ::eas_make_char2; using ::eas_make_char3; using ::eas_make_char4;
using ::eas_make_uchar2; using ::eas_make_uchar3; using ::eas_make_uchar4;
using ::eas_make_short2; using ::eas_make_short3; using ::eas_make_short4;
using ::eas_make_ushort2; using ::eas_make_ushort3; using ::eas_make_ushort4;
using ::eas_make_int2; using ::eas_make_int3; using ::eas_make_int4;
using ::eas_make_uint2; using ::eas_make_uint3; using ::eas_make_uint4;
using ::eas_make_long2; using ::eas_make_long3; using ::eas_make_long4;
using ::eas_make_ulong2; using ::eas_make_ulong3; using ::eas_make_ulong4;
using ::eas_make_half2; using ::eas_make_half3; using ::eas_make_half4;
using ::eas_make_float2; using ::eas_make_float3; using ::eas_make_float4;
using ::eas_make_bfloat2; using ::eas_make_bfloat3; using ::eas_make_bfloat4;

}  // namespace metal

#define bool2(...) eas_make_bool2(__VA_ARGS__)
#define bool3(...) eas_make_bool3(__VA_ARGS__)
#define bool4(...) eas_make_bool4(__VA_ARGS__)
#define char2(...) eas_make_char2(__VA_ARGS__)
#define char3(...) eas_make_char3(__VA_ARGS__)
#define char4(...) eas_make_char4(__VA_ARGS__)
#define uchar2(...) eas_make_uchar2(__VA_ARGS__)
#define uchar3(...) eas_make_uchar3(__VA_ARGS__)
#define uchar4(...) eas_make_uchar4(__VA_ARGS__)
#define short2(...) eas_make_short2(__VA_ARGS__)
#define short3(...) eas_make_short3(__VA_ARGS__)
#define short4(...) eas_make_short4(__VA_ARGS__)
#define ushort2(...) eas_make_ushort2(__VA_ARGS__)
#define ushort3(...) eas_make_ushort3(__VA_ARGS__)
#define ushort4(...) eas_make_ushort4(__VA_ARGS__)
#define int2(...) eas_make_int2(__VA_ARGS__)
#define int3(...) eas_make_int3(__VA_ARGS__)
#define int4(...) eas_make_int4(__VA_ARGS__)
#define uint2(...) eas_make_uint2(__VA_ARGS__)
#define uint3(...) eas_make_uint3(__VA_ARGS__)
#define uint4(...) eas_make_uint4(__VA_ARGS__)
#define long2(...) eas_make_long2(__VA_ARGS__)
#define long3(...) eas_make_long3(__VA_ARGS__)
#define long4(...) eas_make_long4(__VA_ARGS__)
#define ulong2(...) eas_make_ulong2(__VA_ARGS__)
#define ulong3(...) eas_make_ulong3(__VA_ARGS__)
#define ulong4(...) eas_make_ulong4(__VA_ARGS__)
#define half2(...) eas_make_half2(__VA_ARGS__)
#define half3(...) eas_make_half3(__VA_ARGS__)
#define half4(...) eas_make_half4(__VA_ARGS__)
#define float2(...) eas_make_float2(__VA_ARGS__)
#define float3(...) eas_make_float3(__VA_ARGS__)
#define float4(...) eas_make_float4(__VA_ARGS__)
#define bfloat2(...) eas_make_bfloat2(__VA_ARGS__)
#define bfloat3(...) eas_make_bfloat3(__VA_ARGS__)
#define bfloat4(...) eas_make_bfloat4(__VA_ARGS__)

#define device EAS_DEVICE
#define constant const EAS_CONSTANT
#define threadgroup EAS_THREADGROUP
#define thread
#define kernel
