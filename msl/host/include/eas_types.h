// Scalars, vectors, and what the runtime offers to the rest of the library.
#pragma once

#define __METAL__ 1
#define __METAL_VERSION__ 310
#define METAL_FUNC inline

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef unsigned long uintptr_t;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef __bf16 bfloat;
#if defined(EAS_STRICT)
#pragma OPENCL EXTENSION __cl_clang_non_portable_kernel_param_types : enable
#define half _Float16
#else
typedef _Float16 half;
#endif

#define INFINITY __builtin_inff()
#define HUGE_VALF __builtin_inff()
#define NAN __builtin_nanf("")
#define MAXFLOAT 3.40282346638528860e+38f
#define FLT_MAX 3.40282346638528860e+38f
#define FLT_MIN 1.17549435082228751e-38f
#define FLT_EPSILON 1.19209289550781250e-07f
#define HALF_MAX ((half)65504.0f)
#define HALF_MIN ((half)6.103515625e-05f)
#define HALF_EPSILON ((half)9.765625e-04f)
#define M_E_F 2.71828182845904524f
#define M_LOG2E_F 1.44269504088896341f
#define M_LOG10E_F 0.43429448190325183f
#define M_LN2_F 0.69314718055994531f
#define M_LN10_F 2.30258509299404568f
#define M_PI_F 3.14159265358979324f
#define M_PI_2_F 1.57079632679489662f
#define M_PI_4_F 0.78539816339744831f
#define M_1_PI_F 0.31830988618379067f
#define M_2_PI_F 0.63661977236758134f
#define M_2_SQRTPI_F 1.12837916709551257f
#define M_SQRT2_F 1.41421356237309505f
#define M_SQRT1_2_F 0.70710678118654752f
#define CHAR_BIT 8
#define CHAR_MAX 127
#define CHAR_MIN (-128)
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807l
#define LONG_MIN (-9223372036854775807l - 1)
#define ULONG_MAX 18446744073709551615ul

// Where a text is looked at by the rules of C++ for OpenCL, memory is of four kinds that do not mix.
// Where it runs they are one, so that classes can be copied and called in all of them.
#if defined(EAS_STRICT)
#define EAS_DEVICE __attribute__((address_space(1)))
#define EAS_CONSTANT const __global
#define EAS_THREADGROUP __local
#define EAS_THREAD __private
#define EAS_KERNEL __kernel
#define EAS_MEMORIES(M) M(EAS_DEVICE) M(EAS_THREADGROUP)
#else
#define EAS_DEVICE
#define EAS_CONSTANT const
#define EAS_THREADGROUP
#define EAS_THREAD
#define EAS_KERNEL
#define EAS_MEMORIES(M) M()
#endif

// Our functions vanish into the lines that call them, for whoever asks for the line of an access.
#define EAS_LAMBDA __attribute__((always_inline, nodebug))
#define EAS_FUNC EAS_LAMBDA inline

// What the runtime (native/runtime.cpp) offers. A site is the line and the column of a call.
extern "C" {
struct eas_thread {
    uint position[3], threads[3], most_threads[3], group[3], groups[3], grid[3];
    uint lane, simdgroup, simdgroups, most_simdgroups, index;
};
struct eas_slots {
    uint active;
    uchar bytes[32][64];
};
uint eas_lane();
void eas_barrier(uint flags, ulong site);
const eas_slots* eas_exchange(const void* value, uint size, uint flags, ulong site);
void eas_atomic(const volatile void* place, uint size, uint is_write, ulong site);
void eas_declare(void* begin, ulong size, const char* name);
void eas_bad_index();
void eas_enter(ulong site);
void eas_leave();
void eas_trip_on();
void eas_bad_lane(ulong site);
void eas_bad_distance(ulong site);
void eas_diverged(ulong site);
uint eas_lanes();
void eas_divided_by_zero();
}
#define EAS_HERE ((ulong)__builtin_LINE() << 16 | __builtin_COLUMN())
#define EAS_SITE ulong site = EAS_HERE

// The path of a lane: the calls and the loops that it is in, and the trip of each loop. Between the
// trips conditions and increments are evaluated, which counts as a trip, too.
struct eas_step {
    EAS_FUNC eas_step(EAS_SITE) { eas_enter(site); }
    EAS_FUNC ~eas_step() { eas_leave(); }
};
struct eas_trip {
    EAS_FUNC eas_trip() { eas_trip_on(); }
    EAS_FUNC ~eas_trip() { eas_trip_on(); }
};
struct eas_origin {
    ulong site;
};
#define EAS_CALLER eas_origin eas_from = {EAS_HERE}

// A variable in threadgroup memory lies in a section of its text, between two symbols.
#define EAS_TEXT_(x) #x
#define EAS_TEXT(x) EAS_TEXT_(x)
#if defined(__APPLE__)
#define EAS_SECTION(n) "__DATA,eas_group_" EAS_TEXT(n)
#define EAS_START(n) __asm("section$start$__DATA$eas_group_" EAS_TEXT(n))
#define EAS_STOP(n) __asm("section$end$__DATA$eas_group_" EAS_TEXT(n))
#else
#define EAS_SECTION(n) "eas_group_" EAS_TEXT(n)
#define EAS_START(n) __asm("__start_eas_group_" EAS_TEXT(n)) __attribute__((weak, visibility("hidden")))
#define EAS_STOP(n) __asm("__stop_eas_group_" EAS_TEXT(n)) __attribute__((weak, visibility("hidden")))
#endif
#define EAS_VARIABLE(n, name)                                                              \
    static __attribute__((section(EAS_SECTION(n)), aligned(16)))                           \
    uchar eas_bytes_##name[sizeof(eas_type_##name) + EAS_GAP];                             \
    eas_type_##name& name = *(eas_type_##name*)eas_bytes_##name;                           \
    EAS_DECLARED(name)
#define EAS_BOUNDS(n)                                                        \
    extern uchar eas_first_##n[] EAS_START(n);                               \
    extern uchar eas_last_##n[] EAS_STOP(n);                                 \
    extern "C" uchar* eas_variables_##n() { return eas_first_##n; }          \
    extern "C" uchar* eas_variables_end_##n() { return eas_last_##n; }
#define EAS_ENTRY __attribute__((no_sanitize("thread")))
#if defined(EAS_CHECKED)
#define EAS_GAP 64
#define EAS_DECLARED(name) eas_declare((void*)&name, sizeof(name), #name)
#else
#define EAS_GAP 0
#define EAS_DECLARED(name)
#endif

#if defined(EAS_CHECKED)
#define EAS_DIVISOR(b) ((b) == 0 ? eas_divided_by_zero() : (void)0)
#else
#define EAS_DIVISOR(b)
#endif

// The index of a vector's element, if it has one.
EAS_FUNC int eas_index(long i, int length) {
#if defined(EAS_CHECKED)
    if (i < 0 || i >= length) {
        eas_bad_index();
    }
#endif
    return (int)i;
}
