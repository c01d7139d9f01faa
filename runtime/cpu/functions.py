"""The spelling of functions of floats."""

from __future__ import annotations

from collections.abc import Callable

from eas.ir.types import DType
from eas.runtime.cpu.arithmetic import Spelling
from eas.runtime.cpu.emit import Emitter, V, const


def _named(name: str) -> Spelling:
    def spell(e: Emitter, a: list[V], dtype: DType) -> V:
        del dtype
        return e.intrinsic(name, *a)

    return spell


def _rsqrt(e: Emitter, a: list[V], dtype: DType) -> V:
    del dtype
    return e.fdiv(const(a[0].ty, 1.0), e.intrinsic("sqrt", a[0]))


def _libm(name: str) -> Callable[[Emitter, list[V], DType], V]:
    def spell(e: Emitter, a: list[V], dtype: DType) -> V:
        del dtype
        fn = name + ("f" if a[0].element == "float" else "")
        if not a[0].lanes:
            return e.call(fn, a[0].ty, *a)
        r = V(a[0].ty, "poison")
        for i in range(a[0].lanes):
            r = e.insert(r, e.call(fn, a[0].element, *(e.extract(x, i) for x in a)), i)
        return r

    return spell


def _sigmoid(e: Emitter, a: list[V], dtype: DType) -> V:
    one = const(a[0].ty, 1.0)
    return e.fdiv(one, e.fadd(one, FUNCTIONS["exp"](e, [e.fneg(a[0])], dtype)))


FUNCTIONS: dict[str, Spelling] = {
    "ceil": _named("ceil"),
    "floor": _named("floor"),
    "round": _named("roundeven"),
    "trunc": _named("trunc"),
    "sqrt": _named("sqrt"),
    "rsqrt": _rsqrt,
    "sigmoid": _sigmoid,
    **{
        n: _libm(n)
        for n in (
            "exp",
            "exp2",
            "log",
            "log2",
            "log10",
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "atan",
            "sinh",
            "cosh",
            "tanh",
            "erf",
            "pow",
            "atan2",
        )
    },
}
