"""What calls cost: Metal's functions, and the functions of a text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

import numpy as np

from eas.review.metal import arithmetic
from eas.review.metal.kernel_costs import What
from eas.review.metal.syntax import Call, Expression, Type
from eas.review.metal.thread_values import BOOL, INT, Value, is_float, lanes_of

FRAGMENT_ELEMENTS = 64
SIMDGROUP = 32
_SCALAR = re.compile(
    r"(?:bool|char|uchar|short|ushort|int|uint|long|ulong|half|bfloat|float)[234]?"
)
# Those that take tens of instructions; all others take one or a few.
_LONG = {
    "exp", "exp2", "exp10", "log", "log2", "log10", "pow", "powr", "sqrt", "rsqrt", "sin", "cos",
    "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "atan2",
    "fmod", "sincos", "sinpi", "cospi", "tanpi", "divide",
}  # fmt: skip
_TESTS = {"isnan", "isinf", "isfinite", "isnormal", "signbit", "any", "all"}


class Access(Protocol):
    def __call__(self, what: What, ty: Type, place: int, elements: float = 1.0) -> None: ...


class Count(Protocol):
    def __call__(self, what: What, amount: float = 1.0, width: int = 0) -> None: ...


class Calls:
    """Counts calls with the functions of the one that goes through the text."""

    def __init__(
        self,
        evaluate: Callable[[Expression], Value],
        access: Access,
        count: Count,
        own_function: Callable[[Call], Value | None],
    ) -> None:
        self.evaluate = evaluate
        self.access = access
        self.count = count
        self.own_function = own_function

    def call(self, call: Call) -> Value:
        name = call.function.rpartition("::")[2]
        own = self.own_function(call)
        if own is not None:
            return own
        values = [self.evaluate(argument) for argument in call.arguments]
        first = values[0] if values else Value(INT)
        if _SCALAR.fullmatch(name) or name == "as_type":
            return _converted(call.of or name, first)
        if name == ".thread_elements":
            return Value(Type(first.type.name.removeprefix("simdgroup_").removesuffix("8x8") + "2"))
        for pattern, handler in _FAMILIES:
            if re.match(pattern, name):
                return handler(self, name, call, values)
        return self.function(name, values)

    def function(self, name: str, values: list[Value]) -> Value:
        """A function of Metal's library."""
        first = values[0] if values else Value(INT)
        ty = next((value.type for value in values if is_float(value.type)), first.type)
        plain = Type(ty.name)
        if name in _LONG:
            self.count("function", lanes_of(plain))
        elif name == "fma":
            self.count("flop", 2 * lanes_of(plain))
        if name in _TESTS:
            return Value(BOOL)
        return Value(plain, _known(name, values))

    def barrier(self, name: str, call: Call, values: list[Value]) -> Value:
        if name == "threadgroup_barrier":
            self.count("barrier")
        return Value(Type("void"))

    def atomic(self, name: str, call: Call, values: list[Value]) -> Value:
        pointer = values[0].type
        self.access("atomic", Type(pointer.name, pointer.space), id(call))
        return Value(Type(pointer.name.removeprefix("atomic_")))

    def fragment_access(self, name: str, call: Call, values: list[Value]) -> Value:
        what: What = "load" if name == "simdgroup_load" else "store"
        pointer = values[1].type
        place = id(call)
        self.access(what, Type(pointer.name, pointer.space), place, FRAGMENT_ELEMENTS / SIMDGROUP)
        return Value(Type("void"))

    def fragment_product(self, name: str, call: Call, values: list[Value]) -> Value:
        self.count("product", 1 / SIMDGROUP)
        self.count("flop", 2 * 8**3 / SIMDGROUP)
        return Value(Type("void"))

    def simdgroup(self, name: str, call: Call, values: list[Value]) -> Value:
        self.count("simd")
        is_test = name in ("simd_all", "simd_any", "simd_is_first")
        return Value(BOOL if is_test else Type(values[0].type.name) if values else INT)

    def fragment(self, name: str, call: Call, values: list[Value]) -> Value:
        return Value(Type("simdgroup_float8x8"))


_FAMILIES: tuple[tuple[str, Callable[[Calls, str, Call, list[Value]], Value]], ...] = (
    (r"(threadgroup|simdgroup)_barrier$|atomic_thread_fence$", Calls.barrier),
    (r"atomic_", Calls.atomic),
    (r"simdgroup_(load|store)$", Calls.fragment_access),
    (r"simdgroup_multiply", Calls.fragment_product),
    (r"make_filled_simdgroup_matrix|simdgroup_", Calls.fragment),
    (r"simd_|quad_", Calls.simdgroup),
)


def _converted(name: str, first: Value) -> Value:
    number = None if first.number is None else arithmetic.convert(first.number, name)
    return Value(Type(name), number)


def _known(name: str, values: list[Value]) -> arithmetic.Known | None:
    numbers = [value.number for value in values]
    if name not in ("min", "max", "abs", "clamp") or any(each is None for each in numbers):
        return None
    wide = [np.asarray(each, np.int64) for each in numbers if each is not None]
    if name == "abs":
        result = np.abs(wide[0])
    elif name == "clamp":
        result = np.clip(*wide[:3])
    else:
        pick = np.minimum if name == "min" else np.maximum
        result = pick(*wide[:2])
    return int(result) if result.ndim == 0 else result
