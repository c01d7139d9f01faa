// The names of vectors, and the words of Metal that C++ lacks.
#pragma once

#define EAS_VECTORS(T)                          \
    typedef metal::vec<T, 2> T##2;              \
    typedef metal::vec<T, 3> T##3;              \
    typedef metal::vec<T, 4> T##4;              \
    typedef metal::packed_vec<T, 2> packed_##T##2; \
    typedef metal::packed_vec<T, 3> packed_##T##3; \
    typedef metal::packed_vec<T, 4> packed_##T##4; \
    namespace metal {                           \
    using ::T##2;                               \
    using ::T##3;                               \
    using ::T##4;                               \
    using ::packed_##T##2;                      \
    using ::packed_##T##3;                      \
    using ::packed_##T##4;                      \
    }
EAS_VECTORS(bool)
EAS_VECTORS(char)
EAS_VECTORS(uchar)
EAS_VECTORS(short)
EAS_VECTORS(ushort)
EAS_VECTORS(int)
EAS_VECTORS(uint)
EAS_VECTORS(long)
EAS_VECTORS(ulong)
EAS_VECTORS(half)
EAS_VECTORS(float)
EAS_VECTORS(bfloat)
#undef EAS_VECTORS

namespace metal {
using ::bfloat;
using ::int8_t;
using ::uint8_t;
using ::int16_t;
using ::uint16_t;
using ::int32_t;
using ::uint32_t;
using ::int64_t;
using ::uint64_t;
using ::ptrdiff_t;
using ::size_t;
using ::uchar;
using ::uint;
using ::ulong;
using ::ushort;
#if !defined(EAS_STRICT)
using ::half;
#endif
}  // namespace metal

#define device EAS_DEVICE
#define constant EAS_CONSTANT
#define threadgroup EAS_THREADGROUP
#define thread EAS_THREAD
#define kernel EAS_KERNEL
#define is_function_constant_defined(name) eas_has_##name

#if defined(EAS_STRICT)
// Names that are free in Metal, but not in OpenCL.
#define local eas_name_local
#define global eas_name_global
#define generic eas_name_generic
#define pipe eas_name_pipe
#define read_only eas_name_read_only
#define write_only eas_name_write_only
#define read_write eas_name_read_write
#define uniform eas_name_uniform
#endif
