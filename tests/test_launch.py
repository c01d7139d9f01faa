"""Launches: grids, arguments and what is wrong with them. Everything runs on the interpreter."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import eas
from eas import mk
from eas.config import available, choose_backend, choose_checks
from eas.runtime.refusals import LaunchError
from tests.processes import PATIENCE

Array = np.ndarray[Any, np.dtype[Any]]

NO_TWIN = (
    "has no counterpart in a kernel; "
    "its dtypes are bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64"
)


@eas.kernel
def add(a, b, c, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mask = offs < N
    mk.store(c, offs, mk.load(a, offs, mask) + mk.load(b, offs, mask), mask)


@eas.kernel
def mark_program(out, WIDTH: eas.constexpr, HEIGHT: eas.constexpr):
    x, y, z = mk.program_id(0), mk.program_id(1), mk.program_id(2)
    mk.store(out, (z * HEIGHT + y) * WIDTH + x, 1 + x + 10 * y + 100 * z)


@eas.kernel
def scale(a, factor):
    i = mk.arange(0, 4)
    mk.store(a, i, mk.load(a, i) * factor)


@eas.kernel
def put(out, value):
    mk.store(out, 0, value)


@eas.kernel
def put_i64(out, value: mk.i64):
    mk.store(out, 0, value)


@eas.kernel
def put_u8(out, value: mk.u8):
    mk.store(out, 0, value)


@eas.kernel
def put_f32(out, value: mk.f32):
    mk.store(out, 0, value)


@eas.kernel
def put_bool(out, value: mk.bool):
    mk.store(out, 0, value)


@eas.kernel
def double_each(a):
    i, j = mk.program_id(0), mk.program_id(1)
    a[i, j] = 2 * a[i, j]


@eas.kernel
def copy_each(source, target):
    i = mk.program_id(0)
    target[i] = source[i]


@eas.kernel
def copy_first(source, target, N, BLOCK: eas.constexpr):
    target[0] = source[0]


def inputs(n: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(n)
    a, b = rng.standard_normal((2, n), dtype=np.float32)
    return a, b, np.zeros(n, np.float32)


def message_of(launch: Callable[[], object]) -> str:
    with pytest.raises(LaunchError) as caught:
        launch()
    return str(caught.value)


@pytest.mark.parametrize("n", [1, 255, 256, 257, 1031])
def test_the_implicit_grid_covers_all_elements(n: int) -> None:
    a, b, c = inputs(n)
    add(a, b, c, n, BLOCK=256)
    np.testing.assert_array_equal(c, a + b)


def test_a_numpy_integer_counts_as_n() -> None:
    a, b, c = inputs(100)
    add(a, b, c, np.int64(100), BLOCK=32)
    np.testing.assert_array_equal(c, a + b)


@pytest.mark.parametrize(
    "grid",
    [
        2,
        np.int64(2),
        (2,),
        [2],
        (2, 1),
        (2, 1, 1),
        lambda meta: mk.cdiv(meta["N"], meta["BLOCK"]),
        lambda meta: (mk.cdiv(meta["N"], meta["BLOCK"]),),
    ],
)
def test_a_grid_is_an_int_a_tuple_or_a_function_of_the_arguments(grid: Any) -> None:
    for launch in (add[grid], lambda *args, **kw: add(*args, _grid=grid, **kw)):
        a, b, c = inputs(50)
        launch(a, b, c, 50, BLOCK=32)
        np.testing.assert_array_equal(c, a + b)


def test_a_grid_has_up_to_three_axes() -> None:
    out = np.zeros((2, 3, 4), np.int32)
    mark_program[4, 3, 2](out, WIDTH=4, HEIGHT=3)
    z, y, x = np.indices((2, 3, 4))
    np.testing.assert_array_equal(out, 1 + x + 10 * y + 100 * z)


@pytest.mark.parametrize("grid", [0, (0,), (3, 0), (1, 1, 0)])
def test_an_empty_grid_runs_nothing(grid: Any) -> None:
    out = np.zeros(4, np.int32)
    mark_program[grid](out, WIDTH=4, HEIGHT=1)
    np.testing.assert_array_equal(out, 0)


def test_an_empty_array_has_an_empty_grid() -> None:
    @eas.kernel
    def write_without_a_mask(x, N, BLOCK: eas.constexpr):
        mk.store(x, mk.program_id(0) * BLOCK + mk.arange(0, BLOCK), 1.0)

    memory = np.zeros(4, np.float32)
    write_without_a_mask(memory[:0], 0, BLOCK=4)
    np.testing.assert_array_equal(memory, 0)
    with pytest.raises(eas.KernelError):
        write_without_a_mask[1](memory[:0], 0, BLOCK=4)


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        (-1, "an extent of a grid is 0 to 2147483647, not -1"),
        (2**31, "an extent of a grid is 0 to 2147483647, not 2147483648"),
        (1.0, "an extent of a grid is an int, not `1.0`"),
        (True, "an extent of a grid is an int, not `True`"),
        ("4", "an extent of a grid is an int, not `'4'`"),
        ((1, 2.5), "an extent of a grid is an int, not `2.5`"),
        ((1, 1, 1, 1), "a grid has one to 3 axes, not 4: (1, 1, 1, 1)"),
        ((), "a grid has one to 3 axes, not 0: ()"),
        (lambda meta: None, "an extent of a grid is an int, not `None`"),
    ],
)
def test_a_bad_grid_is_refused(grid: Any, message: str) -> None:
    a, b, c = inputs(4)
    assert message_of(lambda: add[grid](a, b, c, 4, BLOCK=4)) == f"kernel `add`: {message}"


def test_a_kernel_without_n_and_block_needs_a_grid() -> None:
    a = np.zeros(4, np.float32)
    assert message_of(lambda: scale(a, 2.0)) == (
        "kernel `scale`: give a grid: `kernel[grid](...)`. Without one the grid is ceil(N / BLOCK),"
        " and that takes an integer argument `N` (there is none) and a constexpr `BLOCK` "
        "(there is none)"
    )


def test_a_float_n_gives_no_grid() -> None:
    a, b, c = inputs(4)
    assert message_of(lambda: add(a, b, c, 4.0, BLOCK=4)) == (
        "kernel `add`: give a grid: `kernel[grid](...)`. Without one the grid is ceil(N / BLOCK), "
        "and that takes an integer argument `N` (found `4.0`) and a constexpr `BLOCK` (found)"
    )


def test_an_array_for_n_gives_no_grid() -> None:
    a, _, c = inputs(4)
    assert message_of(lambda: copy_first(a, c, a, BLOCK=None)) == (
        "kernel `copy_first`: give a grid: `kernel[grid](...)`. Without one the grid is "
        "ceil(N / BLOCK), and that takes an integer argument `N` (found an array) and a constexpr "
        "`BLOCK` (found `None`)"
    )


def test_a_negative_n_is_refused() -> None:
    a, b, c = inputs(4)
    assert message_of(lambda: add(a, b, c, -4, BLOCK=4)) == (
        "kernel `add`: the grid is ceil(N / BLOCK), but N is -4 and BLOCK is 4"
    )


def test_arguments_can_be_given_by_name_in_any_order() -> None:
    a, b, c = inputs(10)
    add(BLOCK=4, N=10, c=c, b=b, a=a)
    np.testing.assert_array_equal(c, a + b)


def test_a_constexpr_can_be_given_by_position() -> None:
    a, b, c = inputs(10)
    add(a, b, c, 10, 4)
    np.testing.assert_array_equal(c, a + b)


def test_a_parameter_can_have_a_default() -> None:
    @eas.kernel
    def fill(out, value=2.5, BLOCK: eas.constexpr = 4):
        mk.store(out, mk.arange(0, BLOCK), value)

    out = np.zeros(4, np.float32)
    fill[1](out)
    np.testing.assert_array_equal(out, 2.5)


def test_parameters_can_be_for_names_or_for_positions_only() -> None:
    @eas.kernel
    def fill(out, /, value, *, BLOCK: eas.constexpr):
        mk.store(out, mk.arange(0, BLOCK), value)

    out = np.zeros(4, np.float32)
    fill[1](out, value=2.5, BLOCK=4)
    np.testing.assert_array_equal(out, 2.5)
    assert message_of(lambda: fill[1](out, 2.5, 4)) == (
        "kernel `fill`: takes 2 arguments by position, not 3"
    )


def test_missing_arguments_are_named() -> None:
    a, _, c = inputs(4)
    assert message_of(lambda: add(a, c=c)) == ("kernel `add`: lacks arguments `b`, `N`, `BLOCK`")


def test_one_missing_argument_is_named() -> None:
    a, b, c = inputs(4)
    assert message_of(lambda: add(a, b, c, 4)) == "kernel `add`: lacks the argument `BLOCK`"


def test_an_unknown_argument_gets_a_suggestion() -> None:
    a, b, c = inputs(4)
    assert message_of(lambda: add(a, b, c, 4, BLOK=4)) == (
        "kernel `add`: has no parameter `BLOK`; did you mean `BLOCK`?"
    )


@pytest.mark.parametrize(("misspelt", "option"), [("_gird", "_grid"), ("_check", "_checked")])
def test_a_misspelt_launch_option_gets_a_suggestion(misspelt: str, option: str) -> None:
    a, b, c = inputs(4)
    options: dict[str, Any] = {misspelt: 1}
    assert message_of(lambda: add(a, b, c, 4, BLOCK=4, **options)) == (
        f"kernel `add`: has no parameter `{misspelt}`; did you mean `{option}`?"
    )


def test_an_argument_given_twice_is_refused() -> None:
    a, b, c = inputs(4)
    assert message_of(lambda: add(a, b, c, 4, BLOCK=4, N=4)) == (
        "kernel `add`: `N` is given twice, by position and by name"
    )


def test_too_many_arguments_are_refused() -> None:
    a, b, c = inputs(4)
    assert message_of(lambda: add(a, b, c, 4, 4, 4)) == (
        "kernel `add`: takes 5 arguments by position, not 6"
    )


def test_an_unhashable_constexpr_is_refused() -> None:
    a, b, c = inputs(4)
    assert message_of(lambda: add(a, b, c, 4, BLOCK=[4])) == (
        "kernel `add`, argument `BLOCK`: a constexpr is part of the compiled kernel and must be "
        "hashable, which a `list` is not; use a tuple"
    )
    assert message_of(lambda: add(a, b, c, 4, BLOCK=a)) == (
        "kernel `add`, argument `BLOCK`: a constexpr is part of the compiled kernel and must be "
        "hashable, which a `ndarray` is not; use a tuple, or leave out the annotation "
        "`eas.constexpr`"
    )


def test_a_launch_error_can_be_pickled() -> None:
    error = LaunchError("add", "is wrong", "a")
    assert str(pickle.loads(pickle.dumps(error))) == "kernel `add`, argument `a`: is wrong"


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, "bool"),
        (2**31 - 1, "i32"),
        (-(2**31), "i32"),
        (2**31, "i64"),
        (-(2**63), "i64"),
        (2**63, "u64"),
        (2.5, "f32"),
        (float("inf"), "f32"),
        (np.int8(-3), "i8"),
        (np.uint16(3), "u16"),
        (np.float16(0.5), "f16"),
        (np.float64(0.1), "f64"),
        (np.bool_(True), "bool"),
        (ml_dtypes.bfloat16(1.5), "bf16"),
    ],
)
def test_a_number_has_the_dtype_that_its_type_and_size_ask_for(value: Any, dtype: str) -> None:
    assert put.compile("*f32", value).signature == f"put(out: *f32, value: {dtype})"


@pytest.mark.parametrize("value", [7, True, np.int8(7), 2**40, np.uint64(2**63 - 1)])
def test_an_annotation_decides_the_dtype_of_a_number(value: Any) -> None:
    out = np.zeros(1, np.int64)
    put_i64[1](out, value)
    assert out[0] == int(value)


@pytest.mark.parametrize("value", [1, 1.5, np.float64(1.5), float("inf"), np.int64(3)])
def test_a_float_parameter_takes_ints_and_floats(value: Any) -> None:
    out = np.zeros(1, np.float32)
    put_f32[1](out, value)
    assert out[0] == np.float32(value)


@pytest.mark.parametrize(
    ("kernel", "value", "message"),
    [
        (put_i64, 1.0, "expected an int (i64), not `1.0`"),
        (put_i64, float("nan"), "expected an int (i64), not `nan`"),
        (put_i64, np.float32(1), "expected an int (i64), not a NumPy `float32`"),
        (put_i64, 2**63, f"{2**63} does not fit into i64 ({-(2**63)} to {2**63 - 1})"),
        (put_i64, np.zeros(1), "expected an int (i64), not an array of float64"),
        (put_i64, None, "expected an int (i64), not `None`"),
        (put_u8, 256, "256 does not fit into u8 (0 to 255)"),
        (put_u8, -1, "-1 does not fit into u8 (0 to 255)"),
        (put_f32, 1e39, "1e+39 is too large for f32"),
        (put_f32, 10**400, f"{10**400} is too large for f32"),
        (put_f32, 1j, "expected a float (f32), not a `complex`"),
        (put_bool, 1, "expected a bool, not `1`"),
        (put, 2**64, f"{2**64} fits into no integer of 64 bits"),
        (put, 1e39, "1e+39 is too large for f32"),
        (put, np.complex64(1), f"a NumPy `complex64` {NO_TWIN}"),
    ],
)
def test_a_number_that_does_not_fit_is_refused(kernel: Any, value: Any, message: str) -> None:
    out = np.zeros(1, np.int64)
    assert message_of(lambda: kernel[1](out, value)) == (
        f"kernel `{kernel.name}`, argument `value`: {message}"
    )


@pytest.mark.parametrize(
    "dtype",
    [
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", ml_dtypes.bfloat16),
    ],
)
def test_arrays_of_every_dtype_can_be_passed(dtype: Any) -> None:
    a = np.arange(4).astype(dtype)
    scale[1](a, a.dtype.type(3))
    np.testing.assert_array_equal(a, (3 * np.arange(4)).astype(dtype))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            [1.0, 2.0],
            "expected a number or an array (`eas.Tensor`, NumPy, or an object with `__dlpack__`), "
            "not a `list`; "
            "make an array of it with `np.array`",
        ),
        (
            "*f32[:]",
            "expected a number or an array (`eas.Tensor`, NumPy, or an object with `__dlpack__`), "
            "not a `str`; "
            "a type is enough for `compile` and `to_msl`, but not for a launch",
        ),
        (
            "mean",
            "expected a number or an array (`eas.Tensor`, NumPy, or an object with `__dlpack__`), "
            "not a `str`; "
            "a value for the compiler needs the annotation `eas.constexpr`",
        ),
        (np.zeros(4, object), f"an array of object {NO_TWIN}"),
        (
            np.zeros(4, np.complex64),
            f"an array of complex64 {NO_TWIN}",
        ),
        (
            np.zeros(4, "datetime64[s]"),
            f"an array of datetime64[s] {NO_TWIN}",
        ),
        (
            np.zeros(4, ">f4"),
            "its elements are >f4, not in this machine's byte order: "
            "convert them with `a.astype(a.dtype.newbyteorder('='))`",
        ),
        (
            np.ma.masked_array(np.zeros(4, np.float32), [True, False, False, False]),
            "a masked array: pass its data and its mask as two arguments",
        ),
    ],
)
def test_what_is_no_array_is_refused(value: Any, message: str) -> None:
    assert message_of(lambda: scale[1](value, 2.0)) == f"kernel `scale`, argument `a`: {message}"


@eas.kernel
def shift_and_scale(x, y, bias=None, factor=None):
    v = x[0]
    if bias is not None:
        v += bias[0]
    if factor is not None:
        v *= factor
    y[0] = v


@pytest.mark.parametrize("backend", available())
@pytest.mark.parametrize(
    ("bias", "factor", "expected"),
    [(None, None, 3), (4.0, None, 7), (None, 2.0, 6), (4.0, 2.0, 14)],
)
def test_an_array_or_a_number_can_be_left_out(
    bias: float | None, factor: float | None, expected: float, backend: Any
) -> None:
    x = np.array([3], np.float32)
    shift = None if bias is None else np.array([bias], np.float32)
    for _ in range(2):  # the second launch is a short one
        y = np.zeros(1, np.float32)
        shift_and_scale[1](x, y, shift, factor, _backend=backend)
        assert y[0] == expected


def test_what_is_none_by_default_is_known_to_the_compiler() -> None:
    signature = shift_and_scale.compile("*f32[:]", "*f32[:]", factor="f32").signature
    assert signature == "shift_and_scale(x: *f32, y: *f32, factor: f32) with bias=None"


def test_a_read_only_array_can_be_read() -> None:
    a, b, c = inputs(4)
    a.flags.writeable = False
    add(a, b, c, 4, BLOCK=4)
    np.testing.assert_array_equal(c, a + b)


def test_a_read_only_array_cannot_be_written() -> None:
    a, b, c = inputs(4)
    c.flags.writeable = False
    assert message_of(lambda: add(a, b, c, 4, BLOCK=4)) == (
        "kernel `add`, argument `c`: the kernel writes to it, but the array is read-only"
    )


def test_flat_offsets_need_a_contiguous_array() -> None:
    a, b, c = inputs(8)
    assert message_of(lambda: add(a[::2], b, c, 4, BLOCK=4)) == (
        "kernel `add`, argument `a`: the kernel counts offsets in a contiguous array, but this one "
        "has the shape (4,) and the strides (8,): pass `np.ascontiguousarray(a)` or "
        "`a.contiguous()`, index it as `a[i, ...]`, or have the kernel take its strides, "
        "`a.strides[0]`"
    )


def test_flat_offsets_may_count_with_the_strides_of_an_array() -> None:
    @eas.kernel
    def gather(x, y, BLOCK: eas.constexpr):
        i = mk.arange(0, BLOCK)
        y[i] = mk.load(x, i * x.strides[0])

    x, y = np.arange(8, dtype=np.float32), np.zeros(4, np.float32)
    gather[1](x[::2], y, BLOCK=4)
    np.testing.assert_array_equal(y, [0, 2, 4, 6])


def test_an_array_of_two_dimensions_can_be_used_with_flat_offsets() -> None:
    a = np.arange(4, dtype=np.float32).reshape(2, 2)
    scale[1](a, 2.0)
    np.testing.assert_array_equal(a, [[0, 2], [4, 6]])


def test_an_array_without_dimensions_is_an_array() -> None:
    out = np.zeros((), np.float32)
    put[1](out, 2.5)
    assert out == 2.5


VIEWS: list[Callable[[Array], Array]] = [
    lambda a: a,
    lambda a: a.T,
    lambda a: a[::2, 1::3],
    lambda a: a[::-1],
    lambda a: a[:, ::-1],
    lambda a: a[::-2, ::-3].T,
    lambda a: a[3:4],
    lambda a: a[:, 2:2],
]


@pytest.mark.parametrize("view", VIEWS)
def test_indexing_reaches_the_elements_of_any_view(view: Callable[[Array], Array]) -> None:
    a = np.arange(48, dtype=np.float32).reshape(6, 8)
    expected = a.copy()
    view(expected)[...] *= 2
    double_each[view(a).shape](view(a))
    np.testing.assert_array_equal(a, expected)


def test_elements_between_others_are_refused() -> None:
    record = np.zeros((2, 4), np.dtype([("x", "<i4"), ("y", "<i2")], align=False))
    assert message_of(lambda: double_each[2, 4](record["x"])) == (
        "kernel `double_each`, argument `a`: its elements are 4 bytes long and must lie at "
        "multiples of that, but its strides are (24, 6): pass a copy, `a.copy()`"
    )


def test_a_field_of_a_record_can_be_indexed() -> None:
    record = np.zeros((2, 4), np.dtype([("x", "<i4"), ("y", "<i4")]))
    record["y"] = 3
    double_each[2, 4](record["y"])
    assert (record["x"] == 0).all()
    assert (record["y"] == 6).all()


class Exporter:
    """An array that only speaks DLPack, as the tensors of other libraries do."""

    def __init__(self, array: Array, device: int = 1) -> None:
        self.array = array
        self.device = device

    def __dlpack__(self, **options: Any) -> object:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (self.device, 0)


class OldExporter(Exporter):
    """DLPack before version 1.0: it cannot say whether the memory may be written."""

    def __dlpack__(self, **options: Any) -> object:
        return self.array.__dlpack__()

    def __array__(self, dtype: object = None, copy: object = None) -> Array:
        return self.array


class Interface:
    """An object with NumPy's array interface."""

    def __init__(self, array: Array) -> None:
        self.array = array

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self.array.__array_interface__


@pytest.mark.parametrize("wrap", [Exporter, OldExporter, Interface])
def test_the_memory_of_other_libraries_is_used_in_place(wrap: Callable[[Array], Any]) -> None:
    a, b, c = inputs(4)
    add(wrap(a), wrap(b), wrap(c), 4, BLOCK=4)
    np.testing.assert_array_equal(c, a + b)


def test_an_array_on_another_device_is_refused() -> None:
    a, b, c = inputs(4)
    assert message_of(lambda: add(Exporter(a, device=2), b, c, 4, BLOCK=4)) == (
        "kernel `add`, argument `a`: an `Exporter` is not in the memory of the CPU or of Metal, "
        "but of CUDA (its DLPack device is 2): copy it there first"
    )


def test_a_tensor_that_refuses_to_be_exported_says_why() -> None:
    class Refusing(Exporter):
        def __dlpack__(self, **options: Any) -> object:
            raise BufferError("this tensor requires grad")

    a, b, c = inputs(4)
    assert message_of(lambda: add(Refusing(a), b, c, 4, BLOCK=4)) == (
        "kernel `add`, argument `a`: a `Refusing` cannot be read through DLPack: "
        "this tensor requires grad"
    )


@eas.kernel
def clear_and_keep(source, cleared, kept, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    old = mk.load(source, i)
    mk.store(cleared, i, 0.0)
    mk.store(kept, i, old)


SHARING = "the kernel writes to `c`: pass a copy of one, or the very same array for both"


def test_one_array_can_be_input_and_output() -> None:
    a, b, _ = inputs(4)
    expected = a + b
    add(a, b, a, 4, BLOCK=4)
    np.testing.assert_array_equal(a, expected)


@pytest.mark.parametrize("again", [lambda a: a, lambda a: a[:], Exporter])
def test_an_array_that_is_passed_twice_is_one_parameter(again: Callable[[Array], Any]) -> None:
    a, _, kept = inputs(4)
    compiled = clear_and_keep.compile(a, again(a), kept, BLOCK=4)
    assert compiled.signature == "clear_and_keep(source: *f32, kept: *f32) with BLOCK=4"
    assert compiled.writes == ("source", "kept")
    expected = a.copy()
    clear_and_keep[1](a, again(a), kept, BLOCK=4)
    np.testing.assert_array_equal(kept, expected)
    np.testing.assert_array_equal(a, np.zeros(4))


@pytest.mark.parametrize(
    "view",
    [lambda a: a[1:], lambda a: a[::-1], lambda a: a.view(np.int32), lambda a: a.reshape(1, -1)],
)
def test_arrays_that_overlap_are_refused_if_one_is_written(view: Callable[[Array], Array]) -> None:
    a, b, c = inputs(8)
    assert message_of(lambda: add(view(c), b, c, 4, BLOCK=4)) == (
        f"kernel `add`, argument `c`: it shares memory with `a`, and {SHARING}"
    )
    assert message_of(lambda: add(a, c[2:], c, 4, BLOCK=4)) == (
        f"kernel `add`, argument `c`: it shares memory with `b`, and {SHARING}"
    )


def test_arrays_that_overlap_can_be_read() -> None:
    a, _, c = inputs(8)
    add(a, a[2:], c, 4, BLOCK=4)
    np.testing.assert_array_equal(c[:4], a[:4] + a[2:6])


def test_arrays_in_one_piece_of_memory_that_share_no_element_are_apart() -> None:
    both = np.arange(16, dtype=np.float32).reshape(8, 2)
    copy_each[8](both[:, 0], both[:, 1])
    np.testing.assert_array_equal(both[:, 1], both[:, 0])


def launch_add(**options: Any) -> None:
    a, b, c = inputs(4)
    add(a, b, c, 4, BLOCK=4, **options)
    eas.synchronize()
    np.testing.assert_array_equal(c, a + b)


@pytest.mark.parametrize("backend", ["auto", "interpret"])
def test_the_interpreter_is_there(backend: Any) -> None:
    launch_add(_backend=backend)


def test_waiting_and_threads_can_be_chosen_at_a_launch() -> None:
    launch_add(_sync=False, _tptg=32)


@pytest.mark.parametrize("threads", [0, -1, 1025, 1.0, True])
def test_a_bad_number_of_threads_is_refused(threads: Any) -> None:
    assert message_of(lambda: launch_add(_tptg=threads)) == (
        f"kernel `add`: `_tptg` is an int from 1 to 1024, not {threads!r}"
    )


NOT_HERE = f"the backend `python` is not available here; available: {', '.join(available())}"


def test_a_backend_that_is_not_here_is_refused() -> None:
    assert message_of(lambda: launch_add(_backend="python")) == f"kernel `add`: {NOT_HERE}"


def test_a_misspelt_backend_gets_a_suggestion() -> None:
    assert message_of(lambda: launch_add(_backend="intepret")) == (
        "kernel `add`: there is no backend `intepret`; did you mean `interpret`?"
    )


def test_the_environment_chooses_the_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAS_BACKEND", "python")
    assert message_of(launch_add) == f"kernel `add`: {NOT_HERE}"


def test_use_backend_is_stronger_than_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAS_BACKEND", "python")
    with eas.use_backend("interpret"):
        launch_add()
    with pytest.raises(LaunchError):
        launch_add()


def test_use_backend_counts_from_its_call_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eas.config._backend.process", None)
    monkeypatch.setenv("EAS_BACKEND", "python")
    eas.use_backend("interpret")
    launch_add()


def test_a_choice_may_be_entered_within_itself() -> None:
    choice = eas.use_backend("interpret")
    with choice, choice:
        assert choose_backend(None) == "interpret"
    with eas.use_backend("msl-host"), choice:
        assert choose_backend(None) == "interpret"


def test_a_block_leaves_a_later_choice_for_the_process_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("eas.config._backend.process", None)
    first = eas.use_backend("interpret")
    eas.use_backend("msl-host")
    for _ in range(2):
        with first:
            assert choose_backend(None) == "interpret"
        assert choose_backend(None) == "msl-host"


def test_threads_may_share_a_choice() -> None:
    choice, both = eas.checked(False), Barrier(2, timeout=PATIENCE)

    def found() -> list[bool | None]:
        both.wait()
        with choice:
            both.wait()
            inside = choose_checks(None, None)
        both.wait()
        return [inside, choose_checks(None, None)]

    with choice:  # so that it is none for the process
        pass
    with ThreadPoolExecutor(2) as threads:
        results = [each.result() for each in [threads.submit(found), threads.submit(found)]]
    assert results == [[False, None], [False, None]]


def test_use_backend_refuses_what_is_not_here() -> None:
    with pytest.raises(eas.BackendError) as caught:
        eas.use_backend("python")
    assert str(caught.value) == NOT_HERE


def test_the_trips_of_a_loop_are_limited_by_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EAS_MAX_TRIPS", "100")
    out = np.zeros(1, np.int32)
    count_to[1](out, 100)
    assert out[0] == 100
    with pytest.raises(eas.KernelError) as caught:
        count_to[1](out, 101)
    assert caught.value.diagnostics[0].code == "R0301"


def test_a_limit_that_is_no_number_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAS_MAX_TRIPS", "many")
    with pytest.raises(LaunchError, match="EAS_MAX_TRIPS is a number of trips, not 'many'"):
        count_to[1](np.zeros(1, np.int32), 3)


@eas.kernel
def count_to(out: Any, N: Any) -> None:
    n = 0
    while n < N:
        n += 1
    out[0] = n
