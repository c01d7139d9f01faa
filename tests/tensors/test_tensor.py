"""What a tensor is: made of data, asked for its facts, read by the host."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.types import DTYPES, DType

every_dtype = pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)


@every_dtype
def test_a_dtype_has_all_its_names(dtype: DType) -> None:
    for name in (dtype, dtype.name, dtype.numpy, dtype.numpy.name, dtype.numpy.type):
        assert eas.empty(1, dtype=name).dtype is dtype


@pytest.mark.parametrize("name", ["f33", np.complex64, "float", None, object(), 3, "cpu"])
def test_a_dtype_that_is_none_is_refused(name: Any) -> None:
    with pytest.raises(TypeError, match="names no dtype of a tensor; there are bool, i8"):
        eas.empty(1, dtype=name)


@every_dtype
def test_elements_come_back_as_python_numbers(dtype: DType) -> None:
    kind = bool if dtype.is_bool else float if dtype.is_float else int
    numbers = [kind(0), kind(1)]
    made = eas.tensor(numbers, dtype=dtype)
    assert made.tolist() == numbers
    assert [type(each) for each in made.tolist()] == [kind, kind]
    assert type(made[1].item()) is kind


def test_a_tensor_has_facts() -> None:
    t = eas.zeros((4, 6), dtype="f16")[::2, 1:]
    facts = (t.shape, t.strides, t.dtype, t.ndim, t.size, t.nbytes, t.device)
    assert facts == ((2, 5), (12, 1), mk.f16, 2, 10, 20, "cpu")


def test_numbers_get_the_dtype_that_they_have_in_kernels() -> None:
    lists: list[Any] = [1.0, [1, 2], [True], [1 << 31], [(1 << 64) - 1], [], [1, 2.5]]
    dtypes = [eas.tensor(each).dtype for each in lists]
    assert dtypes == [mk.f32, mk.i32, mk.bool, mk.i64, mk.u64, mk.f32, mk.f32]


def test_memory_of_numpy_is_shared_unless_a_copy_is_asked_for() -> None:
    array = np.zeros((3, 4), np.float32)
    for copy, is_shared in ((None, True), (False, True), (True, False)):
        made = eas.tensor(array[::-1, ::2], copy=copy)
        assert np.shares_memory(made.numpy(), array) == is_shared
        assert made.shape == (3, 2)


def test_a_tensor_of_a_tensor_shares_its_memory() -> None:
    t = eas.zeros(3)
    assert eas.tensor(t).fill_(1).numpy().base is t.numpy().base
    assert t.tolist() == [1, 1, 1]
    assert eas.tensor(t, copy=True).fill_(2) is not t
    assert t.tolist() == [1, 1, 1]


def test_another_dtype_is_a_copy() -> None:
    array = np.array([1.75, -2.5])
    made = eas.tensor(array, dtype="i8")
    assert made.tolist() == array.astype(np.int8).tolist()
    with pytest.raises(
        ValueError, match="a tensor of i8 on cpu would be a copy of this one of f64"
    ):
        eas.tensor(array, dtype="i8", copy=False)
    with pytest.raises(ValueError, match="a `list` has no memory to share"):
        eas.tensor([1], copy=False)


def test_a_read_only_array_makes_a_read_only_tensor() -> None:
    array = np.zeros(3, np.float32)
    array.flags.writeable = False
    made = eas.tensor(array)
    for write in (lambda: made.fill_(1), lambda: made.copy_([1, 2, 3])):
        with pytest.raises(ValueError, match="the tensor is read-only"):
            write()
    assert not made.numpy().flags.writeable
    assert eas.tensor(array, copy=True).fill_(1).tolist() == [1, 1, 1]


def test_makers_make_what_numpy_makes() -> None:
    assert eas.zeros((2, 3)).tolist() == np.zeros((2, 3)).tolist()
    assert eas.ones(4, dtype="i8").tolist() == [1] * 4
    assert eas.full((), 2.5).item() == 2.5
    assert eas.empty([2, 0]).tolist() == [[], []]
    for arguments in ((5,), (2, 9), (9, 2, -3), (0, 1, 0.25), (2.5,)):
        assert eas.arange(*arguments).tolist() == np.arange(*arguments).tolist()
    like = eas.zeros_like(eas.ones((2, 3), dtype="u8").T)
    assert (like.shape, like.strides, like.dtype) == ((3, 2), (2, 1), mk.u8)
    assert eas.empty_like(np.zeros(3), dtype="f32").dtype is mk.f32


@pytest.mark.parametrize(
    ("shape", "error", "message"),
    [
        (-1, ValueError, r"no negative extents, but this one is \(-1,\)"),
        ((2, -3), ValueError, r"no negative extents, but this one is \(2, -3\)"),
        (2.5, TypeError, "a shape is an int or a tuple of ints, not 2.5"),
        ((2, "a"), TypeError, r"a shape is an int or a tuple of ints, not \(2, 'a'\)"),
    ],
)
def test_a_wrong_shape_is_refused(shape: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        eas.empty(shape)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ([[1, 2], [3]], ValueError, "these lists make no tensor"),
        ("abc", TypeError, "not of a `str`"),
        (object(), TypeError, "not of a `object`"),
        (np.zeros(2, ">f4"), TypeError, "not in this machine's byte order"),
        (np.zeros(2, np.complex64), TypeError, "an array of complex64 cannot be a tensor"),
        (np.ma.zeros(2), TypeError, "a masked array"),
    ],
)
def test_data_that_makes_no_tensor_is_refused(
    data: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        eas.tensor(data)


@pytest.mark.parametrize(
    ("device", "error"), [("gpu", ValueError), ("cuda:0", ValueError), (3, TypeError)]
)
def test_a_wrong_device_is_refused(device: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match='"cpu", "metal", "mps"'):
        eas.zeros(3, device=device)


def test_a_tensor_goes_to_a_dtype_or_stays() -> None:
    t = eas.tensor([1.5, -2.5])
    assert t.to("f32") is t
    assert t.to("cpu") is t
    assert t.to(mk.bf16).dtype is mk.bf16
    assert t.to(np.int16).tolist() == [1, -2]
    with pytest.raises(TypeError, match="'gpu' is neither a device nor a dtype"):
        t.to("gpu")


def test_numpy_gives_the_same_memory() -> None:
    t = eas.zeros((2, 3))
    t.numpy()[1, 2] = 5
    assert t.tolist() == [[0, 0, 0], [0, 0, 5]]
    view = t.numpy()
    view.flags.writeable = False  # of the view only
    assert t.fill_(1).tolist() == [[1, 1, 1], [1, 1, 1]]


def test_an_array_of_numpy_outlives_its_tensor() -> None:
    array = eas.full(1000, 7).numpy()
    others = [eas.zeros(1000) for _ in range(10)]
    assert array.tolist() == [7] * 1000
    assert len(others) == 10


def test_numpy_functions_take_tensors() -> None:
    t = eas.tensor([1.0, 2.0], dtype="bf16")
    assert np.asarray(t).dtype == DTYPES["bf16"].numpy
    assert np.asarray(t, np.float64).tolist() == [1, 2]
    assert np.shares_memory(np.asarray(t), t.numpy())
    assert not np.shares_memory(np.array(t), t.numpy())
    with pytest.raises(ValueError, match="would be a copy"):
        np.asarray(t, np.float64, copy=False)
    assert np.sum(eas.ones((2, 3))) == 6


def test_only_one_element_is_an_item_and_has_a_truth() -> None:
    assert eas.tensor([[3]]).item() == 3
    assert bool(eas.tensor([2.0]))
    assert not eas.tensor(0)
    with pytest.raises(ValueError, match="a tensor of one element, this one has 2"):
        eas.zeros(2).item()
    with pytest.raises(ValueError, match="truth value of a tensor with 0 elements"):
        bool(eas.zeros(0))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: eas.tensor([1.0, 2.5]), "Tensor([1. , 2.5], shape=(2,), dtype=f32, device=cpu)"),
        (lambda: eas.tensor(1, dtype="bf16"), "Tensor(1., shape=(), dtype=bf16, device=cpu)"),
        (lambda: eas.zeros((0, 2)), "Tensor([], shape=(0, 2), dtype=f32, device=cpu)"),
        (
            lambda: eas.arange(100),
            "Tensor([0, 1, ..., 98, 99], shape=(100,), dtype=i32, device=cpu)",
        ),
    ],
)
def test_a_tensor_shows_itself_on_one_line(make: Any, text: str) -> None:
    assert repr(make()) == text


@pytest.mark.parametrize("value", ["a", None, [1]])
def test_a_fill_with_no_number_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="a tensor is filled with a number"):
        eas.zeros(2).fill_(value)


def test_a_number_that_does_not_fit_is_refused_as_by_numpy() -> None:
    with pytest.raises(OverflowError):
        eas.zeros(2, dtype="i8").fill_(300)


def test_a_tensor_is_not_made_by_its_class() -> None:
    with pytest.raises(TypeError, match=r"tensors are made with `eas\.tensor`"):
        eas.Tensor(np.zeros(3), None)  # type: ignore[arg-type]


def test_importing_eas_imports_no_tensors() -> None:
    code = "import eas, sys; print([name for name in sys.modules if 'tensors' in name])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_a_name_that_eas_lacks_is_refused() -> None:
    with pytest.raises(AttributeError, match="module 'eas' has no attribute 'tensr'"):
        eas.tensr  # type: ignore[attr-defined]  # noqa: B018
    assert {"Tensor", "tensor", "kernel"} <= set(dir(eas))


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda t: eas.tensor([1, 300], dtype="i8"), r"300 does not fit into i8 \(-128 to 127\)"),
        (lambda t: eas.tensor(-1, dtype="u64"), r"-1 does not fit into u64"),
        (lambda t: eas.tensor([float("nan")], dtype="i32"), "nan is no integer, and i32 holds"),
        (lambda t: eas.tensor([1e300]), "1e\\+300 is too large for f32"),
        (lambda t: eas.tensor([1e5], dtype="f16"), "100000.0 is too large for f16"),
        (lambda t: eas.tensor([[2**70]]), f"{2**70} fits into no integer of 64 bits"),
        (lambda t: t.fill_(1000), "1000 does not fit into i8"),
        (lambda t: t.fill_(np.int64(1000)), "1000 does not fit into i8"),
        (lambda t: t.copy_([1, 2, 1000]), "1000 does not fit into i8"),
        (lambda t: t.__setitem__(0, 1000), "1000 does not fit into i8"),
        (lambda t: t.copy_("1"), "a tensor is made of numbers"),
        (lambda t: t.copy_(np.zeros(3, complex)), "an array of complex128 cannot be a tensor"),
        (lambda t: eas.arange(300, dtype="u8"), "299 does not fit into u8"),
        (lambda t: eas.arange(0, 3, 0), "the step of `arange` is not 0"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(
    write: Callable[[eas.Tensor], object], message: str
) -> None:
    t = eas.zeros(3, dtype="i8")
    with pytest.raises((OverflowError, TypeError, ValueError), match=message):
        write(t)
    assert t.tolist() == [0, 0, 0]


def test_infinity_and_nan_are_numbers_of_floats() -> None:
    for dtype in ("f16", "bf16", "f32", "f64"):
        assert repr(eas.tensor([float("inf"), float("nan")], dtype=dtype).tolist()) == "[inf, nan]"


def test_arrays_are_converted_as_by_astype() -> None:
    assert eas.tensor(np.array([300, -1]), dtype="u8").tolist() == [44, 255]
