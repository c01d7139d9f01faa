"""The kernel object: decorators, class bodies, its cache, and the forms it can be printed in."""

from __future__ import annotations

import copy
import dataclasses
import functools
import gc
import inspect
import pickle
import runpy
import subprocess
import sys
import threading
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import numpy as np
import pytest

import eas
from eas import mk

ROOT = Path(__file__).parent.parent
FACTOR = 2.0


@eas.kernel
def fill(out, value, BLOCK: eas.constexpr):
    """Fills an array."""
    mk.store(out, mk.arange(0, BLOCK), value)


@eas.kernel
def put(out, VALUE: eas.constexpr):
    mk.store(out, 0, VALUE)


@eas.kernel
def scale(a):
    i = mk.arange(0, 4)
    mk.store(a, i, mk.load(a, i) * FACTOR)


class Shapes:
    @eas.kernel
    def fill(out: Any, value):
        mk.store(out, mk.arange(0, 4), value)

    @eas.kernel
    @staticmethod
    def fill_static(out, value):
        mk.store(out, mk.arange(0, 4), value)

    @eas.kernel
    def with_self(self, out):
        mk.store(out, mk.arange(0, 4), 1.0)


QUICK_START = """\
import numpy as np
import eas
from eas import mk


@eas.kernel
def add_kernel(a, b, c, N, BLOCK: eas.constexpr):
    pid = mk.program_id(0)
    offs = pid * BLOCK + mk.arange(0, BLOCK)
    mask = offs < N
    mk.store(c, offs, mk.load(a, offs, mask) + mk.load(b, offs, mask), mask)


n = 1024 + 7
a = np.random.randn(n).astype(np.float32)
b = np.random.randn(n).astype(np.float32)
c = np.zeros_like(a)

add_kernel(a, b, c, n, BLOCK=256)
print(add_kernel.to_msl(a, b, c, n, BLOCK=256))
"""


def test_the_quick_start_runs_unchanged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "quick_start.py"
    path.write_text(QUICK_START)
    names = runpy.run_path(str(path))
    np.testing.assert_array_equal(names["c"], names["a"] + names["b"])
    text = names["add_kernel"].to_msl("*f32", "*f32", "*f32", "i32", BLOCK=256)
    assert capsys.readouterr().out == text + "\n"


def test_an_import_does_not_load_what_only_some_need() -> None:
    late = "rich", "astor", "llvmlite.binding", "eas.runtime.interpreter", "eas.msl.host"
    late += "eas.septran", "pydantic", "ruamel.yaml"
    code = f"import sys, eas; print([name for name in {late} if name in sys.modules])"
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert shown == "[]\n"


def test_the_first_compile_loads_no_module() -> None:
    code = """
        import sys
        from tests.kernels.add import CASE
        arguments = CASE.arguments()
        before = {*sys.modules}
        CASE.kernel.to_msl(**arguments)
        print(sorted({*sys.modules} - before))
    """
    shown = subprocess.run(
        [sys.executable, "-c", dedent(code)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    ).stdout
    assert shown == "[]\n"


def test_a_kernel_looks_like_its_function() -> None:
    assert fill.__name__ == "fill"
    assert fill.__doc__ == "Fills an array."
    assert fill.__module__ == __name__
    assert list(inspect.signature(fill).parameters) == ["out", "value", "BLOCK"]
    assert repr(fill) == "<kernel fill>"
    assert repr(Shapes.fill) == "<kernel Shapes.fill>"


@pytest.mark.parametrize("kernel", [fill, Shapes.fill])
def test_a_kernel_is_pickled_by_name(kernel: eas.Kernel) -> None:
    assert pickle.loads(pickle.dumps(kernel)) is kernel
    assert copy.deepcopy(kernel) is kernel


def test_the_decorator_takes_options() -> None:
    @eas.kernel(fast_math=True)
    def fast(out):
        mk.store(out, 0, 1.0)

    @eas.kernel()
    def safe(out):
        mk.store(out, 0, 1.0)

    assert fast.compile("*f32").function.fast_math
    assert not safe.compile("*f32").function.fast_math


def test_only_functions_become_kernels() -> None:
    with pytest.raises(TypeError) as caught:
        eas.kernel(int)
    assert str(caught.value) == "@eas.kernel takes a function, not <class 'int'>"


@pytest.mark.parametrize("stars", ["*", "**"])
def test_a_kernel_does_not_take_any_number_of_arguments(stars: str) -> None:
    def positional(out, *rest): ...
    def named(out, **rest): ...

    fn = positional if stars == "*" else named
    with pytest.raises(TypeError) as caught:
        eas.kernel(fn)
    assert str(caught.value) == (
        f"kernel `{fn.__name__}` takes `{stars}rest`: give each parameter a name of its own"
    )


def test_a_marked_helper_stays_an_ordinary_function() -> None:
    @eas.function
    def twice(x: int) -> int:
        return 2 * x

    assert twice(4) == 8


@pytest.mark.parametrize("kernel", [Shapes.fill, Shapes().fill, Shapes.fill_static])
def test_a_kernel_in_a_class_body_is_called_without_an_object(kernel: eas.Kernel) -> None:
    out = np.zeros(4, np.float32)
    kernel[1](out, 3.0)
    np.testing.assert_array_equal(out, 3.0)


def test_a_kernel_with_self_says_what_to_do() -> None:
    with pytest.raises(eas.LaunchError) as caught:
        Shapes().with_self[1](np.zeros(4, np.float32))
    assert str(caught.value) == (
        "kernel `with_self`: lacks the argument `out`; "
        "a kernel in a class body is called without an object: drop `self`"
    )


def test_a_decorator_below_is_looked_through() -> None:
    def logged(fn: Any) -> Any:
        @functools.wraps(fn)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return fn(*args, **kwargs)

        return wrapper

    @eas.kernel
    @logged
    def fill(out, value, BLOCK: eas.constexpr):
        mk.store(out, mk.arange(0, BLOCK), value)

    out = np.zeros(4, np.float32)
    fill[1](out, 3.0, BLOCK=4)
    np.testing.assert_array_equal(out, 3.0)


def test_a_kernel_without_source_cannot_be_compiled() -> None:
    names: dict[str, Any] = {}
    exec("def lost(out): pass", names)
    lost = eas.kernel(names["lost"])
    for read in (lost.compile, lost.to_python):
        with pytest.raises(eas.CompileError) as caught:
            read("*f32")
        assert caught.value.diagnostics[0].message == "the source of `lost` cannot be read"


def test_annotations_can_be_text() -> None:
    """This module has `from __future__ import annotations`, and `local` is not seen by the body."""
    import eas as local

    @eas.kernel
    def fill(out, value: mk.i16, n: "mk.u8", BLOCK: local.constexpr, OTHER: eas.constexpr):  # noqa: UP037
        mk.store(out, mk.arange(0, BLOCK), value)

    kinds = {p.name: (p.is_constexpr, p.dtype) for p in fill.parameters.all}
    assert kinds == {
        "out": (False, None),
        "value": (False, mk.i16),
        "n": (False, mk.u8),
        "BLOCK": (True, None),
        "OTHER": (True, None),
    }


def test_the_same_types_and_constants_share_a_compiled_kernel() -> None:
    first = fill.compile("*f32", "f32", BLOCK=4)
    assert fill.compile("*f32", "f32", BLOCK=4) is first
    assert fill.compile("*f32", np.float32(1), BLOCK=4) is first


class Pair(NamedTuple):
    a: Any
    b: Any


@dataclasses.dataclass(frozen=True)
class Config:
    a: Any


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 1.0),
        (1, True),
        (0.0, -0.0),
        ((1, 2), (1, 2.0)),
        ((1, 2), Pair(1, 2)),
        (Pair(1, 2), Pair(1, 2.0)),
        (Config(1), Config(True)),
        (np.float32(0.0), np.float32(-0.0)),
    ],
)
def test_constants_that_are_equal_but_not_the_same_get_their_own(a: Any, b: Any) -> None:
    @eas.kernel
    def ignore(out, VALUE: eas.constexpr):
        mk.store(out, 0, 1.0)

    assert ignore.compile("*f32", a) is not ignore.compile("*f32", b)


def test_a_nan_is_the_same_constant_each_time() -> None:
    assert put.compile("*f32", float("nan")) is put.compile("*f32", float("nan"))


def test_a_constant_keeps_its_type() -> None:
    out = np.zeros(1, np.float32)
    for value in (2, 0.5, True, -0.0):
        put[1](out, value)
        assert str(out[0]) == str(np.float32(value))


def test_a_changed_global_compiles_again(monkeypatch: pytest.MonkeyPatch) -> None:
    a = np.ones(4, np.float32)
    scale[1](a)
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    scale[1](a)
    np.testing.assert_array_equal(a, 10.0)


def test_many_threads_share_one_compile() -> None:
    found: list[eas.CompiledKernel] = []
    threads = [
        threading.Thread(target=lambda: found.append(fill.compile("*f32", "f32", BLOCK=37)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len({id(compiled) for compiled in found}) == 1


@pytest.mark.parametrize("is_enabled", [True, False])
def test_a_compile_leaves_the_garbage_collector_as_it_was(is_enabled: bool) -> None:
    before = gc.isenabled()
    (gc.enable if is_enabled else gc.disable)()
    try:
        put.to_msl("*f32", VALUE=gc.isenabled())
        with pytest.raises(eas.CompileError):
            put.to_msl("*f32", VALUE="text")
        assert gc.isenabled() is is_enabled
    finally:
        (gc.enable if before else gc.disable)()


def test_a_compiled_kernel_has_its_signature_and_what_it_writes() -> None:
    compiled = fill.compile("*f16", "i32", BLOCK=4)
    assert compiled.name == "fill"
    assert compiled.signature == "fill(out: *f16, value: i32) with BLOCK=4"
    assert compiled.writes == ("out",)


def test_an_array_that_is_only_read_is_not_written() -> None:
    @eas.kernel
    def first(a, out):
        mk.store(out, 0, mk.load(a, 0))

    assert first.compile("*f32", "*f32").writes == ("out",)


def test_types_can_be_given_as_arrays_or_as_text() -> None:
    array = np.zeros(4, np.float32)
    assert fill.to_ir(array, 1.0, BLOCK=4) == fill.to_ir("*f32[:]", "f32", BLOCK=4)


def test_the_texts_are_those_of_the_compiled_kernel() -> None:
    compiled = fill.compile("*f32", "f32", BLOCK=4)
    assert fill.to_ir("*f32", "f32", BLOCK=4) == compiled.ir
    assert fill.to_msl("*f32", "f32", BLOCK=4) == compiled.msl


def test_the_python_of_a_kernel_has_literals_for_its_constants() -> None:
    assert fill.to_python("*f32", "f32", BLOCK=4) == (
        "def fill(out, value):\n"
        '    """Fills an array."""\n'
        "    mk.store(out, mk.arange(0, 4), value)\n"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("*f31", "`*f31` names no dtype; did you mean `f32`?"),
        (
            "quux",
            "`quux` names no dtype; there are "
            "bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64",
        ),
        (
            "f32[:]",
            "`f32[:]` is no type: write `i32` for a number, `*f32` for an array, "
            "`*f32[:, :]` for an array of two dimensions",
        ),
    ],
)
def test_a_text_that_is_no_type_is_refused(text: str, message: str) -> None:
    with pytest.raises(eas.LaunchError) as caught:
        fill.to_ir(text, "f32", BLOCK=4)
    assert str(caught.value) == f"kernel `fill`, argument `out`: {message}"


def test_a_type_that_contradicts_the_annotation_is_refused() -> None:
    @eas.kernel
    def put(out, value: mk.i64):
        mk.store(out, 0, value)

    with pytest.raises(eas.LaunchError) as caught:
        put.to_ir("*i64", "i32")
    assert str(caught.value) == (
        "kernel `put`, argument `value`: the parameter is annotated `mk.i64`, which `i32` is not"
    )
