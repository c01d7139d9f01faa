"""Helper functions above a kernel that uses them: Python's semantics where Metal's C++ differs.

Sections are those of the Metal Shading Language Specification. Metal is C++, so the overflow of a
signed integer is undefined; unsigned ones wrap. `as_type` ("Type Conversions and Reinterpreting
Data") goes from one to the other. Lanes exchange values of up to 32 bits ("SIMD-group Functions");
the only compare-and-exchange is weak ("Atomic Compare and Exchange Functions").
"""

from __future__ import annotations

from collections.abc import Callable

from eas.ir.types import DType
from eas.msl.cxx.compare_and_swap import KINDS, SPACES, define_loop
from eas.msl.cxx.functions import FUNCTIONS
from eas.msl.ops.dtypes import literal, type_name, unsigned
from eas.support.records import field, record

Definition = Callable[[DType], str]

# Functions of `a` and `b`; for integers the result is zero where `b` is zero.
DIVISIONS = frozenset({"trunc_div", "trunc_mod", "floor_div", "floor_mod"})


@record
class Helpers:
    """The helper functions that a kernel needs, each for a dtype; `own` are generated for it."""

    needed: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    own: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def need(self, name: str, dtype: DType) -> str:
        """Registers a function and those it calls; returns its name."""
        if (name, dtype.name) not in self.needed:
            for other in _calls(name, dtype):
                self.need(other, dtype)
            self.needed[name, dtype.name] = HELPERS[name](dtype)
        return name

    def define(self, name: str, dtype: DType, text: str) -> str:
        """Registers a function that is not in the table; returns its name."""
        self.own[name, dtype.name] = text
        return name

    def texts(self) -> list[str]:
        """The definitions, in the order of the table below, then the kernel's own."""
        order = list(HELPERS)
        keys = sorted(self.needed, key=lambda key: (order.index(key[0]), key[1]))
        # Some have the same text for every dtype.
        needed = dict.fromkeys(self.needed[key].strip("\n") for key in keys)
        return [*needed, *self.own.values()]


def _calls(name: str, dtype: DType) -> tuple[str, ...]:
    """The helpers that a helper calls."""
    if name in ("trunc_div", "floor_div", "wrap_abs") and dtype.is_signed and dtype.bits >= 32:
        return ("wrap_neg",)
    if name in _STEPS_64:
        return ("simd_shuffle_xor_64", *_WRAPPED_STEPS.get((name, dtype.is_signed), ()))
    if name.endswith("_64_ragged"):
        steps = _WRAPPED_STEPS.get((name.removesuffix("_ragged"), dtype.is_signed), ())
        return ("valid_lane", *steps)
    return ()


def _wrapped(name: str, operator: str) -> Definition:
    def define(dtype: DType) -> str:
        t, u = type_name(dtype), unsigned(dtype)
        return f"""
inline {t} {name}({t} a, {t} b) {{
    return as_type<{t}>(as_type<{u}>(a) {operator} as_type<{u}>(b));
}}
"""

    return define


def _wrap_neg(dtype: DType) -> str:
    t, u = type_name(dtype), unsigned(dtype)
    return f"""
inline {t} wrap_neg({t} a) {{
    return as_type<{t}>(-as_type<{u}>(a));
}}
"""


def _wrap_abs(dtype: DType) -> str:
    t = type_name(dtype)
    return f"""
inline {t} wrap_abs({t} a) {{
    return a < 0 ? {_negated(dtype)} : a;
}}
"""


def _wrap_index(dtype: DType) -> str:
    t = type_name(dtype)
    return f"""
// Python's index: a negative one counts from the end.
inline {t} wrap_index({t} a, {t} extent) {{
    return a < 0 ? {_back(dtype, "a + extent")} : a;
}}
"""


def _trunc_div(dtype: DType) -> str:
    t, zero = type_name(dtype), literal(0, dtype).text
    minus_one = "" if dtype.is_unsigned else f"b == -1 ? {_negated(dtype)} : "
    return f"""
// Rounds towards zero; by zero it gives zero.
inline {t} trunc_div({t} a, {t} b) {{
    return b == 0 ? {zero} : {minus_one}{_back(dtype, "a / b")};
}}
"""


def _trunc_mod(dtype: DType) -> str:
    t, zero = type_name(dtype), literal(0, dtype).text
    test = "b == 0" if dtype.is_unsigned else "b == 0 || b == -1"
    return f"""
// The remainder has the sign of a; by zero it is zero.
inline {t} trunc_mod({t} a, {t} b) {{
    return {test} ? {zero} : {_back(dtype, "a % b")};
}}
"""


def _floor_div(dtype: DType) -> str:
    t, zero = type_name(dtype), literal(0, dtype).text
    if dtype.is_float:
        return _FLOAT_FLOOR_DIV.replace("T", t)
    down = "int(a % b != 0 && (a < 0) != (b < 0))"
    return f"""
// Python's a // b: rounds towards minus infinity; by zero it gives zero.
inline {t} floor_div({t} a, {t} b) {{
    if (b == 0 || b == -1) {{
        return b == 0 ? {zero} : {_negated(dtype)};
    }}
    return {_back(dtype, f"a / b - {down}")};
}}
"""


def _floor_mod(dtype: DType) -> str:
    t, zero = type_name(dtype), literal(0, dtype).text
    if dtype.is_float:
        return _FLOAT_FLOOR_MOD.replace("T", t)
    return f"""
// Python's a % b: has the sign of b; by zero it gives zero.
inline {t} floor_mod({t} a, {t} b) {{
    if (b == 0 || b == -1) {{
        return {zero};
    }}
    const {t} r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? {_back(dtype, "r + b")} : r;
}}
"""


def _trip_count(dtype: DType) -> str:
    t, u = type_name(dtype), "ulong" if dtype.bits == 64 else "uint"
    if dtype.is_unsigned:
        return f"""
// The trip count of a range.
inline {u} trip_count({t} start, {t} stop, {t} step) {{
    return start < stop && step > 0 ? ({u}(stop) - {u}(start) - 1) / {u}(step) + 1 : 0;
}}
"""
    return f"""
// The trip count of a range.
inline {u} trip_count({t} start, {t} stop, {t} step) {{
    if (step > 0) {{
        return start < stop ? ({u}(stop) - {u}(start) - 1) / {u}(step) + 1 : 0;
    }}
    return step < 0 && start > stop ? ({u}(start) - {u}(stop) - 1) / -{u}(step) + 1 : 0;
}}
"""


def _back(dtype: DType, expression: str) -> str:
    """An expression that C++ promotes to `int`, converted back to its dtype."""
    return expression if dtype.bits >= 32 else f"{type_name(dtype)}({expression})"


def _negated(dtype: DType) -> str:
    return "wrap_neg(a)" if dtype.bits >= 32 else f"{type_name(dtype)}(-a)"


_FLOAT_FLOOR_DIV = """
// Python's a // b: rounds towards minus infinity.
inline T floor_div(T a, T b) {
    if (b == 0) {
        return a / b;
    }
    const T r = fmod(a, b);
    const T q = (a - r) / b - T(r != 0 && (b < 0) != (r < 0));
    if (q == 0) {
        return copysign(T(0), a / b);
    }
    const T whole = floor(q);
    return q - whole > T(0.5f) ? whole + T(1) : whole;
}
"""

_FLOAT_FLOOR_MOD = """
// Python's a % b: has the sign of b.
inline T floor_mod(T a, T b) {
    const T r = fmod(a, b);
    if (r == 0) {
        return copysign(T(0), b);
    }
    return (b < 0) != (r < 0) ? r + b : r;
}
"""


def _sign_of(dtype: DType) -> str:
    t = type_name(dtype)
    negative = "" if dtype.is_unsigned else f"x < 0 ? {t}(-1) : "
    rest = f"x == 0 ? {t}(0) : x" if dtype.is_float else f"{t}(0)"
    return f"""
inline {t} sign_of({t} x) {{
    return x > 0 ? {t}(1) : {negative}{rest};
}}
"""


def _function(name: str) -> Definition:
    def define(dtype: DType) -> str:
        del dtype
        return FUNCTIONS[name]

    return define


def _simd_shuffle_xor_64(dtype: DType) -> str:
    t = type_name(dtype)
    return f"""
// Metal shuffles 32 bits at a time.
inline {t} simd_shuffle_xor_64({t} x, ushort mask) {{
    return as_type<{t}>(simd_shuffle_xor(as_type<uint2>(x), mask));
}}
"""


def _valid_lane(dtype: DType) -> str:
    del dtype
    return """
// The lane that is asked for, or the thread's own lane if that one does not exist.
inline ushort valid_lane(int lane, int thread_index, int threads) {
    const int own = thread_index % 32;
    const bool is_valid = lane >= 0 && lane < 32 && thread_index - own + lane < threads;
    return ushort(is_valid ? lane : own);
}
"""


_STEPS_64 = {
    "simd_sum_64": "{add}",
    "simd_product_64": "{mul}",
    "simd_max_64": "max(x, other)",
    "simd_min_64": "min(x, other)",
    "simd_xor_64": "x ^ other",
}
_WRAPPED_STEPS = {
    ("simd_sum_64", True): ("wrap_add",),
    ("simd_product_64", True): ("wrap_mul",),
}


def _simd_64(name: str) -> Definition:
    def define(dtype: DType) -> str:
        t = type_name(dtype)
        return f"""
inline {t} {name}({t} x) {{
    for (ushort delta = 16; delta > 0; delta /= 2) {{
        const {t} other = simd_shuffle_xor_64(x, delta);
        x = {_step_64(name, dtype)};
    }}
    return x;
}}
"""

    return define


def _simd_64_ragged(name: str) -> Definition:
    def define(dtype: DType) -> str:
        t = type_name(dtype)
        return f"""
// For a simdgroup without its last lanes: the first lane gets the result and broadcasts it.
inline {t} {name}_ragged({t} x, int thread_index, int threads) {{
    for (ushort delta = 16; delta > 0; delta /= 2) {{
        const ushort lane = valid_lane(thread_index % 32 + delta, thread_index, threads);
        const {t} other = as_type<{t}>(simd_shuffle(as_type<uint2>(x), lane));
        x = thread_index + delta < threads ? {_step_64(name, dtype)} : x;
    }}
    return as_type<{t}>(simd_broadcast_first(as_type<uint2>(x)));
}}
"""

    return define


def _step_64(name: str, dtype: DType) -> str:
    add, mul = "x + other", "x * other"
    if dtype.is_signed:
        add, mul = "wrap_add(x, other)", "wrap_mul(x, other)"
    return _STEPS_64[name].format(add=add, mul=mul)


def _atomic_cas(space: str) -> Definition:
    def define(dtype: DType) -> str:
        t = type_name(dtype)
        return f"""
// Retries where the weak exchange fails spuriously.
inline {t} atomic_cas({space} atomic_{t}* address, {t} expected, {t} desired) {{
    {t} found = expected;
    while (!atomic_compare_exchange_weak_explicit(address, &found, desired,
                                                  memory_order_relaxed, memory_order_relaxed)) {{
        if (found != expected) {{
            break;
        }}
    }}
    return found;
}}
"""

    return define


def _report_failure(dtype: DType) -> str:
    del dtype
    return """
// Records the first assert that fails: its number plus one, the program and the lane.
inline void report_failure(device atomic_uint* report, uint site, uint3 program, int lane) {
    uint found = 0;
    while (!atomic_compare_exchange_weak_explicit(report, &found, site + 1,
                                                  memory_order_relaxed, memory_order_relaxed)) {
        if (found != 0) {
            return;
        }
    }
    atomic_store_explicit(&report[1], program.x, memory_order_relaxed);
    atomic_store_explicit(&report[2], program.y, memory_order_relaxed);
    atomic_store_explicit(&report[3], program.z, memory_order_relaxed);
    atomic_store_explicit(&report[4], uint(lane), memory_order_relaxed);
}
"""


def _report_fault(dtype: DType) -> str:
    del dtype
    return """
// Records the first access outside of an array: its number plus one, the program and the lane, the
// offset or the index, and the extent of the axis that the index does not fit.
inline void report_fault(device atomic_uint* report, uint site, uint3 program, int lane,
                         long number, long extent) {
    uint found = 0;
    while (!atomic_compare_exchange_weak_explicit(report, &found, site + 1,
                                                  memory_order_relaxed, memory_order_relaxed)) {
        if (found != 0) {
            return;
        }
    }
    const uint words[8] = {program.x, program.y, program.z, uint(lane),
                           uint(number), uint(number >> 32), uint(extent), uint(extent >> 32)};
    for (int n = 0; n < 4; ++n) {
        atomic_store_explicit(&report[1 + n], words[n], memory_order_relaxed);
        atomic_store_explicit(&report[8 + n], words[4 + n], memory_order_relaxed);
    }
}
"""


def _report_record(dtype: DType) -> str:
    del dtype
    return """
// Reserves a record for a print; returns the index of its first value, or 0 if it is full.
inline uint report_record(device atomic_uint* report, uint words, uint site, uint3 program,
                          int lane) {
    const uint room = atomic_load_explicit(&report[5], memory_order_relaxed);
    const uint used = atomic_fetch_add_explicit(&report[6], words, memory_order_relaxed);
    if (used > room || words > room - used) {
        atomic_fetch_add_explicit(&report[7], 1u, memory_order_relaxed);
        return 0;
    }
    atomic_store_explicit(&report[used + 16], site, memory_order_relaxed);
    atomic_store_explicit(&report[used + 17], program.x, memory_order_relaxed);
    atomic_store_explicit(&report[used + 18], program.y, memory_order_relaxed);
    atomic_store_explicit(&report[used + 19], program.z, memory_order_relaxed);
    atomic_store_explicit(&report[used + 20], uint(lane), memory_order_relaxed);
    return used + 21;
}
"""


def _report_value(dtype: DType) -> str:
    t = type_name(dtype)
    words = {True: "as_type<uint>(float(x))", False: "uint(x)"}[dtype.is_float]
    lines = [f"    atomic_store_explicit(&report[index], {words}, memory_order_relaxed);"]
    if dtype.bits == 64:
        high = "uint(as_type<ulong>(x) >> 32)"
        lines.append(
            f"    atomic_store_explicit(&report[index + 1], {high}, memory_order_relaxed);"
        )
    body = "\n".join(lines)
    return f"""
inline void report_value(device atomic_uint* report, uint index, {t} x) {{
{body}
}}
"""


HELPERS: dict[str, Definition] = {
    "wrap_add": _wrapped("wrap_add", "+"),
    "wrap_sub": _wrapped("wrap_sub", "-"),
    "wrap_mul": _wrapped("wrap_mul", "*"),
    "wrap_shl": _wrapped("wrap_shl", "<<"),
    "wrap_neg": _wrap_neg,
    "wrap_abs": _wrap_abs,
    "wrap_index": _wrap_index,
    "trunc_div": _trunc_div,
    "trunc_mod": _trunc_mod,
    "floor_div": _floor_div,
    "floor_mod": _floor_mod,
    "trip_count": _trip_count,
    "sign_of": _sign_of,
    **{name: _function(name) for name in FUNCTIONS},
    "valid_lane": _valid_lane,
    "simd_shuffle_xor_64": _simd_shuffle_xor_64,
    **{name: _simd_64(name) for name in _STEPS_64},
    **{f"{name}_ragged": _simd_64_ragged(name) for name in _STEPS_64},
    "atomic_cas": _atomic_cas("device"),
    "atomic_cas_threadgroup": _atomic_cas("threadgroup"),
    **{f"exchange_{kind}_{space}": define_loop(kind, space) for kind in KINDS for space in SPACES},
    "report_failure": _report_failure,
    "report_fault": _report_fault,
    "report_record": _report_record,
    "report_value": _report_value,
}
