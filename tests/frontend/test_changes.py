"""What a kernel was compiled from may change: then it is compiled anew, never run as it was."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from functools import partial, wraps
from textwrap import dedent
from typing import Any, NamedTuple

import numpy as np
import pytest

import eas
from eas import mk
from tests.thorough import sampled


def result(kernel: Any, *constants: object, backend: str = "cpu") -> list[float]:
    x = np.arange(1, 5, dtype=np.float32)
    kernel[1](x, *constants, _backend=backend)
    return x.tolist()


def scaled_by(helper: Any) -> Any:
    @eas.kernel
    def kernel(x):
        i = mk.arange(0, 4)
        mk.store(x + i, helper(mk.load(x + i)))

    return kernel


def test_the_keywords_of_a_partial_may_change() -> None:
    helper = partial(lambda a, s: a * s, s=2)
    kernel = scaled_by(helper)
    assert result(kernel) == [2, 4, 6, 8]
    helper.keywords["s"] = 3
    assert result(kernel) == [3, 6, 9, 12]


def test_the_function_of_a_partial_may_change() -> None:
    helper = partial(lambda a, s: a * s, s=2)
    kernel = scaled_by(helper)
    assert result(kernel) == [2, 4, 6, 8]
    helper.__setstate__((lambda a, s: a + s, (), {"s": 2}, {}))  # pyright: ignore
    assert result(kernel) == [3, 4, 5, 6]


def test_the_code_of_a_helper_may_change() -> None:
    def helper(a: Any) -> Any:
        return a * 2

    kernel = scaled_by(helper)
    assert result(kernel) == [2, 4, 6, 8]
    helper.__code__ = (lambda a: a + 1).__code__
    assert result(kernel) == [2, 3, 4, 5]


def test_the_defaults_of_a_helper_may_change() -> None:
    def helper(a: Any, s: Any = 2, *, t: Any = 0) -> Any:
        return a * s + t

    kernel = scaled_by(helper)
    assert result(kernel) == [2, 4, 6, 8]
    helper.__defaults__ = (3,)
    assert result(kernel) == [3, 6, 9, 12]
    helper.__kwdefaults__ = {"t": 1}
    assert result(kernel) == [4, 7, 10, 13]


def test_a_variable_that_a_helper_closes_over_may_change() -> None:
    s = 2

    def helper(a: Any) -> Any:
        return a * s

    kernel = scaled_by(helper)
    assert result(kernel) == [2, 4, 6, 8]
    s = 3
    assert result(kernel) == [3, 6, 9, 12]


def test_what_a_decorator_has_wrapped_may_change() -> None:
    def passing_on(fn: Callable[..., Any]) -> Any:
        @wraps(fn)
        def wrapper(*args: Any) -> Any:
            return fn(*args)

        return wrapper

    helper = passing_on(lambda a: a * 2)
    kernel = scaled_by(helper)
    assert result(kernel) == [2, 4, 6, 8]
    other = lambda a: a * 3  # noqa: E731
    helper.__wrapped__ = other
    helper.__closure__[0].cell_contents = other
    assert result(kernel) == [3, 6, 9, 12]


def test_the_methods_of_a_record_may_change() -> None:
    class Scale(NamedTuple):
        by: Any

        def apply(self, a: Any) -> Any:
            return a * self.by

        @property
        def twice(self) -> Any:
            return self.by * 2

    kernel = scaled_by(lambda a: Scale(2).apply(a) + Scale(1).twice)
    assert result(kernel) == [4, 6, 8, 10]
    Scale.apply = lambda self, a: a * self.by * 2  # pyright: ignore
    assert result(kernel) == [6, 10, 14, 18]
    Scale.twice = property(lambda self: self.by)  # pyright: ignore
    assert result(kernel) == [5, 9, 13, 17]


def test_a_name_of_pythons_may_be_defined_later() -> None:
    names = defined(
        """
        @eas.kernel
        def kernel(x):
            i = mk.arange(0, 4)
            mk.store(x + i, mk.load(x + i) * max(2, 1))
        """
    )
    assert result(names["kernel"]) == [2, 4, 6, 8]
    names["max"] = lambda a, b: b  # pyright: ignore
    assert result(names["kernel"]) == [1, 2, 3, 4]


def defined(text: str, **names: Any) -> dict[str, Any]:
    """What a text defines, in a module of its own."""
    text, name = dedent(text), f"<defined {len(linecache.cache)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names |= {"eas": eas, "mk": mk, "__name__": "defined"}
    exec(compile(text, name, "exec"), names)
    return names


def test_the_code_of_a_kernel_may_change() -> None:
    kernel = scaled_by(lambda a: a * 2)
    other = scaled_by(lambda a: a * 2)
    assert result(kernel) == [2, 4, 6, 8]

    def fn(x: Any) -> None:
        mk.store(x, 0, 7.0)
        _ = helper

    helper = other
    kernel.fn.__code__ = fn.__code__
    assert result(kernel) == [7, 2, 3, 4]


def test_the_defaults_of_a_kernel_may_change() -> None:
    @eas.kernel
    def kernel(x, s=2, *, B: eas.constexpr = 4):
        i = mk.arange(0, B)
        mk.store(x + i, mk.load(x + i) * s)

    assert result(kernel) == result(kernel) == [2, 4, 6, 8]
    kernel.fn.__defaults__ = (3,)
    assert result(kernel) == [3, 6, 9, 12]
    kernel.fn.__kwdefaults__ = {"B": 2}
    assert result(kernel) == [3, 6, 3, 4]


def test_a_kernel_with_parameters_of_another_code_takes_those() -> None:
    @eas.kernel
    def kernel(x):
        mk.store(x, 0, 1.0)

    assert result(kernel) == [1, 2, 3, 4]
    kernel.fn.__code__ = (lambda x, s: mk.store(x, 0, s)).__code__
    with pytest.raises(eas.LaunchError, match="argument"):
        result(kernel)


class Private:
    __factor = 2

    @eas.kernel
    def by_class(x, N, __B: eas.constexpr):
        __i = mk.arange(0, __B)

        def __scaled(__a):
            return __a * Private.__factor * __outside

        mk.store(x + __i, __scaled(mk.load(x + __i)))

    @classmethod
    @eas.kernel
    def of_class(cls: eas.constexpr, x):
        i = mk.arange(0, 4)
        mk.store(x + i, mk.load(x + i) * cls.__factor)

    @classmethod
    @eas.kernel
    def of_unknown(cls, x):
        mk.store(x, 0, 1)

    @staticmethod
    @eas.kernel
    def static(x):
        i = mk.arange(0, 4)
        mk.store(x + i, mk.load(x + i) * Private.__factor)


_Private__outside = 5


@pytest.mark.parametrize("backend", ["cpu", "interpret"])
def test_private_names_of_a_class_are_its_own(backend: str) -> None:
    assert result(Private.by_class, 4, 4, backend=backend) == [10, 20, 30, 40]


def test_a_private_name_that_is_missing_is_named_as_python_does() -> None:
    class Other:
        @eas.kernel
        def kernel(x):
            mk.store(x, 0, __missing)  # noqa: F821  # pyright: ignore

    with pytest.raises(eas.CompileError) as caught:
        result(Other.kernel)
    [found] = caught.value.diagnostics
    assert (found.code, found.message) == ("E0201", "the name `_Other__missing` is not defined")


def test_the_python_of_a_kernel_has_private_names_as_they_are_compiled() -> None:
    assert "__scaled(_Private__a)" in Private.by_class.to_python(np.zeros(4), 4, 4)


def test_a_static_method_over_a_kernel_is_the_kernel() -> None:
    assert result(Private.static) == [2, 4, 6, 8]


def test_a_class_method_over_a_kernel_gives_it_the_class() -> None:
    x = np.arange(1, 5, dtype=np.float32)
    Private.of_class(x, _grid=1, _backend="cpu")
    assert x.tolist() == [2, 4, 6, 8]


def test_a_class_method_over_a_kernel_that_does_not_expect_the_class_is_refused() -> None:
    with pytest.raises(eas.LaunchError, match="argument `cls`: expected a number or an array"):
        Private.of_unknown(np.zeros(4, np.float32), _grid=1)


class Unequal:
    def __init__(self, by: int) -> None:
        self.by = by

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("incomparable")

    def __hash__(self) -> int:
        return 1


class Unhashable(Unequal):
    def __hash__(self) -> int:
        raise RuntimeError("no number")


@eas.kernel
def by_constant(x, C: eas.constexpr):
    i = mk.arange(0, 4)
    mk.store(x + i, mk.load(x + i) * C.by)


def test_a_constexpr_whose_hash_fails_is_refused() -> None:
    with pytest.raises(eas.LaunchError) as caught:
        result(by_constant, Unhashable(2))
    assert str(caught.value) == (
        "kernel `by_constant`, argument `C`: a constexpr is part of the compiled kernel and must "
        "be hashable, which a `Unhashable` is not (RuntimeError: no number)"
    )


def test_a_constexpr_that_cannot_be_compared_with_an_earlier_one_is_refused() -> None:
    one = Unequal(2)
    assert result(by_constant, one) == result(by_constant, one) == [2, 4, 6, 8]
    with pytest.raises(eas.LaunchError) as caught:
        result(by_constant, Unequal(3))
    assert str(caught.value) == (
        "kernel `by_constant`: a constexpr cannot be compared (RuntimeError: incomparable)"
    )


@pytest.mark.parametrize("kind", [Unequal, Unhashable])
def test_a_captured_object_that_cannot_be_compared_is_read_again(kind: type[Unequal]) -> None:
    captured = kind(2)
    kernel = scaled_by(lambda a: a * captured.by)
    assert result(kernel) == [2, 4, 6, 8]
    captured = kind(3)
    assert result(kernel) == [3, 6, 9, 12]


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("C == D", "E0701"),
        ("C in (D,)", "E0701"),
        ("C()", "E0411"),
        ("TABLE[C]", "E0701"),
        ("C.missing", "E0205"),
    ],
)
def test_what_an_object_of_the_users_raises_is_the_users_error(expression: str, code: str) -> None:
    text = f"@eas.kernel\ndef kernel(x): mk.store(x, 0, {expression})\n"
    kernel = defined(text, C=Unhashable(2), D=Unhashable(3), TABLE={})["kernel"]
    with pytest.raises(eas.CompileError) as caught:
        result(kernel)
    assert [each.code for each in caught.value.diagnostics] == [code]


def chosen(count: int) -> str:
    arms = "".join(f"    elif v == {n}:\n        v = v * {n}\n" for n in range(1, count))
    return f"    if v == 0:\n        v = v + 1\n{arms}    else:\n        v = v - 1\n"


DEEP: dict[str, Callable[[int], str]] = {
    "elif": chosen,
    "sum": lambda n: f"    v = {' + '.join(['v'] * n)}\n",
    "and": lambda n: f"    v = v if {' and '.join(f'v > {-k}' for k in range(n))} else v * 2\n",
    "if": lambda n: f"    v = {' '.join(f'v * {k} if v == {k} else' for k in range(n))} v\n",
    "minus": lambda n: f"    v = {'-' * n}v\n",
    "call": lambda n: f"    v = {'abs(' * (n // 4)}v{')' * (n // 4)}\n",
    "match": lambda n: (
        "    match 3:\n" + "".join(f"        case {k}: v = v * {k}\n" for k in range(n))
    ),
}


@sampled(5)
@pytest.mark.parametrize("backend", ["cpu", "interpret", "msl"])
@pytest.mark.parametrize("count", [100, 300])
@pytest.mark.parametrize("kind", list(DEEP))
def test_a_deep_kernel_gives_the_right_result_or_is_refused(
    kind: str, count: int, backend: str
) -> None:
    body = DEEP[kind](count)
    names = defined(
        "@eas.kernel\ndef kernel(x):\n    i = mk.arange(0, 4)\n    v = mk.load(x + i)\n"
        f"{body}    mk.store(x + i, v)\n\ndef plain(v):\n{body}    return v\n"
    )
    try:
        if backend == "msl":
            names["kernel"].to_msl("*f32")
            return
        found = result(names["kernel"], backend=backend)
    except eas.CompileError as error:
        assert [each.code for each in error.diagnostics] == ["E0902"]
    else:
        assert found == [names["plain"](float(v)) for v in range(1, 5)]


def test_helpers_that_call_each_other_too_deeply_do_not_call_themselves() -> None:
    text = "def h0(v): return v\n"
    text += "".join(f"def h{n}(v): return h{n - 1}(v)\n" for n in range(1, 70))
    text += "@eas.kernel\ndef kernel(x): mk.store(x, 0, h69(1.0))\n"
    with pytest.raises(eas.CompileError) as caught:
        result(defined(text)["kernel"])
    [found] = caught.value.diagnostics
    assert (found.code, found.message) == ("E0418", "`h5` is called through 64 other functions")
