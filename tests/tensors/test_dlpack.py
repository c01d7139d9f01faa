"""DLPack both ways: same memory, versions, flags, refusals."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import eas
from eas import mk
from eas.ir.types import DTYPES, DType
from eas.runtime.tensors import capsules
from eas.runtime.tensors.capsules import DLManagedTensor, DLManagedTensorVersioned

Array = np.ndarray[Any, np.dtype[Any]]
Version = tuple[int, int] | None

in_every_version = pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (1, 3)])


class Exporter:
    """A library that knows DLPack and nothing else. `change` tampers with its struct."""

    def __init__(self, given: Any, device: int = 1, change: Any = None, **options: Any) -> None:
        self.given, self.device, self.change, self.options = given, device, change, options

    def __dlpack__(self, **options: Any) -> Any:
        capsule = self.given.__dlpack__(**{**options, **self.options})
        if self.change is not None:
            self.change(struct_of(capsule))
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0


def struct_of(capsule: Any) -> Any:
    """The struct of a capsule that nobody has consumed; it keeps the capsule alive."""
    is_versioned = capsules.is_valid(capsule, capsules.VERSIONED)
    name = capsules.VERSIONED if is_versioned else capsules.PLAIN
    kind: Any = DLManagedTensorVersioned if is_versioned else DLManagedTensor
    struct = kind.from_address(capsules.get_pointer(capsule, name))
    struct.capsule = capsule
    return struct


def address(tensor: eas.Tensor) -> int:
    return tensor.numpy().ctypes.data


def frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array


def test_the_structs_have_the_sizes_of_the_specification() -> None:
    sizes = map(ctypes.sizeof, (capsules.DLTensor, DLManagedTensor, DLManagedTensorVersioned))
    assert list(sizes) == [48, 64, 80]
    assert DLManagedTensor.owner.offset == 48  # as `runtime/cpu/dlpack.ll` reads them
    assert DLManagedTensorVersioned.owner.offset == 8


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
@in_every_version
def test_every_dtype_goes_out_and_comes_back(dtype: DType, version: Version) -> None:
    t = eas.tensor([[0, 1, 1], [1, 0, 1]], dtype=dtype)[:, 1:]
    back = eas.from_dlpack(Exporter(t, max_version=version))
    facts = (back.dtype, back.shape, back.strides, address(back), back.tolist())
    assert facts == (dtype, t.shape, t.strides, address(t), t.tolist())


@pytest.mark.parametrize(
    "dtype", [each for each in DTYPES.values() if each.name != "bf16"], ids=str
)
def test_numpy_reads_and_is_read(dtype: DType) -> None:
    t = eas.tensor([0, 1, 1], dtype=dtype)
    array = np.from_dlpack(t)
    assert (array.dtype, array.ctypes.data) == (dtype.numpy, address(t))
    made = eas.from_dlpack(array)
    assert (made.dtype, address(made)) == (dtype, address(t))


@given(data=st.data())
def test_views_keep_their_layout_or_are_copied(data: st.DataObject) -> None:
    shape = data.draw(arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    array = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
    view = eas.tensor(array)[data.draw(arrays.basic_indices(shape))].T
    capsule = view.__dlpack__(max_version=(1, 0))
    struct = struct_of(capsule)
    is_negative = min(view.strides, default=0) < 0
    assert bool(struct.flags & capsules.IS_COPIED) == is_negative
    handed_out = struct.tensor.strides[: view.ndim] if view.ndim else []
    assert all(stride >= 0 for stride in handed_out)
    back = eas.from_dlpack(capsule)
    assert back.tolist() == view.tolist()
    assert np.from_dlpack(view).tolist() == view.tolist()
    if not is_negative and view.size:
        assert (address(back), back.strides) == (address(view), view.strides)


def test_a_negative_stride_is_not_handed_out() -> None:
    t = eas.arange(5)[::-1]
    with pytest.raises(BufferError, match="DLPack has no negative strides, and `copy=False`"):
        t.__dlpack__(copy=False)
    assert np.from_dlpack(t).tolist() == [4, 3, 2, 1, 0]


def test_a_negative_stride_is_read() -> None:
    array = np.arange(12).reshape(3, 4)[::-1, ::-2]
    made = eas.from_dlpack(array)
    assert (made.tolist(), made.strides) == (array.tolist(), (-4, -2))
    assert np.shares_memory(made.numpy(), array)


@in_every_version
def test_the_flag_for_read_only_tensors_is_kept(version: Version) -> None:
    t = eas.tensor(frozen(np.zeros(3, np.float32)))
    is_versioned = version is not None and version[0] >= 1
    capsule = t.__dlpack__(max_version=version)
    if is_versioned:
        assert struct_of(capsule).flags == capsules.READ_ONLY
        back = eas.from_dlpack(capsule)
        assert address(back) == address(t)
        with pytest.raises(ValueError, match="the tensor is read-only"):
            back.fill_(1)
    else:  # it cannot say so: a copy
        assert address(eas.from_dlpack(capsule)) != address(t)
        with pytest.raises(BufferError, match=r"before version 1\.0, DLPack cannot say"):
            t.__dlpack__(max_version=version, copy=False)


def test_a_read_only_tensor_of_another_library_is_not_written() -> None:
    @eas.kernel
    def clear(a):
        mk.store(a, 0, 0.0)

    given = Exporter(frozen(np.ones(3, np.float32)))
    for argument in (given, eas.from_dlpack(given)):
        with pytest.raises(eas.LaunchError, match="the kernel writes to it"):
            clear(argument, _grid=1)


def test_an_old_capsule_counts_as_read_only_unless_its_array_is_not() -> None:
    array = np.zeros(3, np.float32)
    assert not eas.from_dlpack(Exporter(array, max_version=None)).numpy().flags.writeable

    class WithArray(Exporter):
        def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
            return self.given

    made = eas.from_dlpack(WithArray(array, max_version=None))
    assert made.fill_(2).tolist() == array.tolist() == [2, 2, 2]


def test_a_library_from_before_version_1_takes_no_options() -> None:
    class Old(Exporter):
        def __dlpack__(self, stream: Any = None) -> Any:  # type: ignore[override]
            return self.given.__dlpack__()

    assert eas.from_dlpack(Old(np.arange(3))).tolist() == [0, 1, 2]


def test_copies_are_made_and_refused() -> None:
    array = np.arange(3, dtype=np.int32)
    assert np.shares_memory(eas.from_dlpack(array, copy=False).numpy(), array)
    assert not np.shares_memory(eas.from_dlpack(array, copy=True).numpy(), array)
    t = eas.tensor(array)
    assert struct_of(t.__dlpack__(max_version=(1, 0), copy=True)).flags == capsules.IS_COPIED
    with pytest.raises(BufferError, match="the object has made a copy"):
        eas.from_dlpack(Exporter(t, copy=True), copy=False)
    with pytest.raises(BufferError, match="`copy` is None, True or False, not 3"):
        t.__dlpack__(copy=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("stream", [1, 2, "s"])
def test_a_stream_is_refused(stream: Any) -> None:
    with pytest.raises(BufferError, match="`stream` is None, not"):
        eas.zeros(3).__dlpack__(stream=stream)


@pytest.mark.parametrize("device", [(2, 0), (1, 1), (10, 0)])
def test_another_device_is_refused(device: tuple[int, int]) -> None:
    with pytest.raises(BufferError, match="a tensor on cpu cannot go to the DLPack device"):
        eas.zeros(3).__dlpack__(dl_device=device)


def test_a_tensor_says_where_it_is() -> None:
    assert eas.zeros(3).__dlpack_device__() == (1, 0)


def change(**facts: Any) -> Any:
    def apply(struct: Any) -> None:
        for name, value in facts.items():
            owner = struct if hasattr(struct, name) else struct.tensor
            if name in ("code", "bits", "lanes"):
                owner = struct.tensor.dtype
            setattr(owner, name, value)

    return apply


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"major": 2}, r"DLPack 2\.1 is not known here"),
        ({"code": 5, "bits": 64}, "DLPack's complex64 have no counterpart"),
        ({"code": 17, "bits": 8}, "DLPack's type 17 8 have no counterpart"),
        ({"lanes": 4}, "DLPack's int32x4 have no counterpart"),
        ({"bits": 4}, "DLPack's int4 have no counterpart"),
        ({"ndim": -1}, "with -1 axes"),
        ({"ndim": 65}, "with 65 axes"),
        ({"device_type": 2}, "a capsule is not in the memory of the CPU or of Metal, but of CUDA"),
        ({"data": None}, r"there is no memory for the shape \(2, 3\) of i32"),
    ],
)
def test_a_capsule_that_makes_no_tensor_is_refused(facts: dict[str, Any], message: str) -> None:
    array = eas.zeros((2, 3), dtype="i32")
    with pytest.raises(BufferError, match=message):
        eas.from_dlpack(Exporter(array, change=change(**facts)))


def test_wild_shapes_are_refused() -> None:
    def set_shape(*extents: int) -> Any:
        def apply(struct: Any) -> None:
            for axis, extent in enumerate(extents):
                struct.tensor.shape[axis] = extent

        return apply

    for extents in ((-1, 3), (1 << 62, 1 << 62)):
        with pytest.raises(BufferError):
            eas.from_dlpack(Exporter(eas.zeros((2, 3)), change=set_shape(*extents)))


def test_a_capsule_without_strides_is_packed() -> None:
    def drop_strides(struct: Any) -> None:
        struct.tensor.strides = type(struct.tensor.strides)()

    t = eas.arange(6).reshape(2, 3)
    back = eas.from_dlpack(Exporter(t, change=drop_strides))
    assert (back.strides, back.tolist()) == ((3, 1), t.tolist())


def test_a_byte_offset_is_added() -> None:
    t = eas.arange(6)

    def shift(struct: Any) -> None:
        struct.tensor.data -= 8
        struct.tensor.byte_offset = 16

    back = eas.from_dlpack(Exporter(t[:4], change=shift))
    assert back.tolist() == [2, 3, 4, 5]


def test_a_capsule_is_consumed_once() -> None:
    capsule = eas.to_dlpack(eas.arange(3))
    assert eas.from_dlpack(capsule).tolist() == [0, 1, 2]
    with pytest.raises(BufferError, match="it was consumed before"):
        eas.from_dlpack(capsule)
    with pytest.raises(BufferError, match="the capsule has no tensor of DLPack"):
        eas.from_dlpack(capsules.new_capsule(16, b"other", None))


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (3, TypeError, "an object with `__dlpack__` is expected, not `3`"),
        ([1.0], TypeError, "an object with `__dlpack__` is expected, not a `list`"),
        (Exporter(np.zeros(2), device=2), BufferError, "of CUDA (its DLPack device is 2)"),
        (Exporter(np.zeros(2), device=99), BufferError, "of device 99"),
        (Exporter(np.zeros(2, object)), BufferError, "cannot be read through DLPack"),
        (Exporter(np.zeros(2, np.complex64)), BufferError, "DLPack's complex64"),
    ],
)
def test_what_is_no_tensor_is_refused(value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        eas.from_dlpack(value)
    assert message in str(caught.value)


def test_an_object_that_gives_no_capsule_is_refused() -> None:
    class Liar(Exporter):
        def __dlpack__(self, **options: Any) -> Any:
            return "a capsule"

    with pytest.raises(BufferError, match="gave no capsule, but a `str`"):
        eas.from_dlpack(Liar(None))


def test_a_kernel_takes_bf16_of_another_library() -> None:
    @eas.kernel
    def double(a, b, BLOCK: eas.constexpr):
        i = mk.arange(0, BLOCK)
        mk.store(b, i, mk.load(a, i) * 2)

    a, b = eas.arange(4, dtype="bf16"), eas.zeros(4, dtype="bf16")
    for _ in range(2):
        double(Exporter(a), Exporter(b), BLOCK=4, _grid=1)
    assert b.tolist() == [0, 2, 4, 6]


def test_tensor_takes_what_has_dlpack() -> None:
    array = np.arange(3)
    made = eas.tensor(Exporter(array))
    assert np.shares_memory(made.numpy(), array)
    assert not np.shares_memory(eas.tensor(Exporter(array), copy=True).numpy(), array)
    assert eas.tensor(Exporter(array), dtype="f32").tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="`copy=False` forbids that"):
        eas.tensor(Exporter(array), dtype="f32", copy=False)
