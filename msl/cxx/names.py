"""Names: the user's words as legal identifiers of MSL, unique in their scope."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache

from eas.msl.cxx.helpers import HELPERS

_KEYWORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const
const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit
export extern false float for friend goto if inline int long mutable namespace new noexcept not
not_eq nullptr operator or or_eq private protected public register reinterpret_cast return short
signed sizeof static static_assert static_cast struct switch template this thread_local throw true
try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
char16_t char32_t char8_t concept requires typeof global local generic pipe uniform read_only
write_only read_write
"""

_METAL = """
kernel vertex fragment compute visible intersection mesh object device constant thread threadgroup
threadgroup_imageblock ray_data object_data metal half bfloat uchar ushort uint ulong size_t
ptrdiff_t int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t packed vec matrix array
texture sampler access stage_in buffer sample atomic atomic_int atomic_uint atomic_float atomic_bool
atomic_ulong atomic_flag memory_order mem_flags memory_scope thread_scope simd simd_vote tensor
fast precise imageblock main this_thread patch_control_point raytracing interpolant as_type
INFINITY NAN INT_MAX INT_MIN UINT_MAX CHAR_BIT FLT_MAX FLT_MIN HALF_MAX MAXFLOAT HUGE_VALF
LONG_MAX LONG_MIN ULONG_MAX SHRT_MAX SHRT_MIN CHAR_MAX CHAR_MIN SCHAR_MAX SCHAR_MIN UCHAR_MAX
USHRT_MAX NULL METAL_FUNC assert threadgroup_barrier uintptr_t intptr_t simdgroup_float8x8
simdgroup_half8x8 simdgroup_bfloat8x8 memory_order_relaxed thread_scope_thread
thread_scope_simdgroup thread_scope_threadgroup thread_scope_device array_ref atomic_uchar
"""

_FUNCTIONS = """
abs absdiff acos acosh addsat all any asin asinh atan atan2 atanh ceil clamp clz copysign cos
cosh cospi cross ctz determinant discard_fragment distance distance_squared divide dot exp exp10
exp2 extract_bits fabs faceforward fdim floor fma fmax fmax3 fmedian3 fmin fmin3 fmod fract
frexp hadd ilogb insert_bits isfinite isinf isnan isnormal isordered isunordered ldexp length
length_squared log log10 log2 mad madhi madsat max max3 median3 min min3 mix modf mul24 mulhi
nan nextafter normalize numeric_limits popcount pow powr reflect refract reverse_bits rhadd rint
rotate round rsqrt saturate select sign signbit sin sincos sinh sinpi smoothstep sqrt step
subsat tan tanh tanpi transpose trunc quad_sum quad_shuffle simd_all simd_and simd_any
simd_ballot simd_broadcast simd_max simd_min simd_or simd_product simd_shuffle simd_shuffle_xor
simd_sum simd_xor simdgroup_barrier threadgroup_barrier simdgroup_matrix mad24 log1p expm1 erf
atomic_compare_exchange_weak_explicit atomic_exchange_explicit atomic_fetch_add_explicit
atomic_fetch_and_explicit atomic_fetch_max_explicit atomic_fetch_min_explicit
atomic_fetch_or_explicit atomic_fetch_sub_explicit atomic_fetch_xor_explicit atomic_load_explicit
atomic_store_explicit atomic_thread_fence quad_broadcast quad_shuffle_down quad_shuffle_up
quad_shuffle_xor simd_active_threads_mask simd_broadcast_first simd_is_first
simd_prefix_exclusive_product simd_prefix_exclusive_sum simd_prefix_inclusive_product
simd_prefix_inclusive_sum simd_shuffle_and_fill_up simd_shuffle_and_fill_down simd_shuffle_down
simd_shuffle_rotate_down simd_shuffle_rotate_up simd_shuffle_up simdgroup_load simdgroup_store
simdgroup_multiply simdgroup_multiply_accumulate make_filled_simdgroup_matrix
make_diagonal_simdgroup_matrix enable_if enable_if_t conditional conditional_t is_same is_same_v
"""

# What the compiler itself defines besides the helper functions: a struct, and its parameters.
_OWN = "Scalars scalars report"

_VECTORS = re.compile(
    r"(packed_)?(bool|char|uchar|short|ushort|int|uint|long|ulong|half|bfloat|float)([234])?(x[234])?"
)
_TEXTURES = re.compile(r"(texture|depth)(1d|2d|3d|cube|_buffer)(_ms)?(_array)?")
_NO_LETTERS = re.compile(r"\W+")
_UNDERSCORES = re.compile(r"__+")
_CONSTANTS = re.compile(r"(FLT|HALF|DBL|BFLT|M|INT\d+|UINT\d+)_[A-Z0-9_]+")
RESERVED = frozenset((*f"{_KEYWORDS} {_METAL} {_FUNCTIONS} {_OWN}".split(), *HELPERS))


@cache
def identifier(hint: str) -> str:
    """A hint as an ASCII identifier that MSL does not reserve; empty if nothing is left."""
    ascii_only = "".join(c if c.isascii() else f"u{ord(c):04x}" for c in hint)
    name = ascii_only if hint.isidentifier() else _NO_LETTERS.sub("_", ascii_only).strip("_")
    name = _UNDERSCORES.sub("_", name).lstrip("_")
    if not name:
        return ""
    if name[0].isdigit():
        name = f"v{name}"
    return f"{name}_" if is_reserved(name) else name


def is_reserved(name: str) -> bool:
    if name in RESERVED:
        return True
    return any(pattern.fullmatch(name) for pattern in (_VECTORS, _CONSTANTS, _TEXTURES))


def unique(hint: str, *taken: Collection[str]) -> str:
    """The hint, with the first number that makes it unique."""
    name, number = hint, 0
    while any(name in names for names in taken):
        number += 1
        name = f"{hint.rstrip('_')}_{number}"
    return name
