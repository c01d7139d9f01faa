"""The functions of floats: inline vector code for f32, the C library for f64."""

from __future__ import annotations

from collections.abc import Callable

from eas.ir.types import DType
from eas.llvm.emit import exponentials, logarithms, trigonometry
from eas.llvm.emit.arithmetic import ARITHMETIC, Spelling
from eas.llvm.emit.emit import Emitter, V, const
from eas.llvm.emit.libm import each_lane


def _intrinsic(name: str) -> Spelling:
    def spell(e: Emitter, a: list[V], dtype: DType) -> V:
        del dtype
        return e.intrinsic(name, *a)

    return spell


def _function(name: str, ours: Callable[..., V]) -> Spelling:
    def spell(e: Emitter, a: list[V], dtype: DType) -> V:
        del dtype
        return ours(e, *a) if a[0].element == "float" else each_lane(e, name, a)

    return spell


def _sqrt(e: Emitter, a: list[V], dtype: DType) -> V:
    del dtype
    return e.sqrt(a[0])


def _rsqrt(e: Emitter, a: list[V], dtype: DType) -> V:
    del dtype
    x = a[0]
    if e.fast and x.ty == "<16 x float>" and e.has_avx512:
        all_lanes = const("i16", -1)
        name = "llvm.x86.avx512.rsqrt14.ps.512"
        return _improved(e, x, e.call(name, x.ty, x, const(x.ty, 0.0), all_lanes))
    if e.fast and x.ty == "<8 x float>" and e.has_avx2:
        return _improved(e, x, e.call("llvm.x86.avx.rsqrt.ps.256", x.ty, x))
    return e.binary(f"fdiv {e.fast}".strip(), const(x.ty, 1.0), e.sqrt(x))


def _improved(e: Emitter, a: V, r: V) -> V:
    """1 / sqrt(a) from an estimate, by one step of Newton's method.

    LLVM's expansion of a fast division has one multiplication more, is less accurate, and gives NaN
    for 0. An integer subtraction halves the estimate: it is finite even where the estimate is not.
    """
    whole = e.bits(r)
    half = e.floats(e.sub(whole, const(whole.ty, 1 << 23)))
    twice = e.fadd(r, r)
    rest = e.fma(e.fneg(e.fmul(a, half)), half, const(a.ty, 0.25))
    return e.fma(twice, rest, r)


def _sigmoid(e: Emitter, a: list[V], dtype: DType) -> V:
    del dtype
    if a[0].element == "float":
        return exponentials.sigmoid(e, a[0])
    one = const(a[0].ty, 1.0)
    return e.fdiv(one, e.fadd(one, each_lane(e, "exp", [e.fneg(a[0])])))


FUNCTIONS: dict[str, Spelling] = {
    "ceil": _intrinsic("ceil"),
    "floor": _intrinsic("floor"),
    "round": _intrinsic("roundeven"),
    "trunc": _intrinsic("trunc"),
    "sqrt": _sqrt,
    "rsqrt": _rsqrt,
    "sigmoid": _sigmoid,
    "exp": _function("exp", exponentials.exp),
    "expm1": _function("expm1", exponentials.expm1),
    "exp2": _function("exp2", exponentials.exp2),
    "tanh": _function("tanh", exponentials.tanh),
    "erf": _function("erf", exponentials.erf),
    "sinh": _function("sinh", exponentials.sinh),
    "cosh": _function("cosh", exponentials.cosh),
    "log": _function("log", logarithms.log),
    "log1p": _function("log1p", logarithms.log1p),
    "log2": _function("log2", logarithms.log2),
    "log10": _function("log10", logarithms.log10),
    "pow": _function("pow", logarithms.pow),
    "sin": _function("sin", trigonometry.sin),
    "cos": _function("cos", trigonometry.cos),
    "tan": _function("tan", trigonometry.tan),
    "asin": _function("asin", trigonometry.asin),
    "acos": _function("acos", trigonometry.acos),
    "atan": _function("atan", trigonometry.atan),
    "atan2": _function("atan2", trigonometry.atan2),
}

# functions that are expanded to many instructions and constants
EXPANDED = FUNCTIONS.keys() - {"ceil", "floor", "round", "trunc", "sqrt", "rsqrt"}

# All element-wise ops.
SPELLED: dict[str, Spelling] = {**ARITHMETIC, **FUNCTIONS}
