"""Views of tensors are the views of NumPy: same elements, same shape, same strides, same errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import eas

Array = np.ndarray[Any, np.dtype[Any]]

SHAPES = arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)


def numbered(shape: tuple[int, ...]) -> tuple[Array, eas.Tensor]:
    """The same memory as an array and as a tensor; each element is different."""
    array = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
    return array, eas.tensor(array)


def require_same(view: eas.Tensor, expected: Array) -> None:
    assert view.numpy().__array_interface__ == expected.__array_interface__
    assert view.shape == expected.shape
    assert view.strides == tuple(stride // expected.itemsize for stride in expected.strides)


@given(data=st.data())
def test_an_index_gives_the_view_of_numpy(data: st.DataObject) -> None:
    array, tensor = numbered(data.draw(SHAPES))
    index = data.draw(arrays.basic_indices(array.shape, allow_newaxis=True))
    parts = index if isinstance(index, tuple) else (index,)
    require_same(tensor[index], array[(*parts, *([] if Ellipsis in parts else [...]))])


@given(data=st.data())
def test_an_index_of_a_view_gives_the_view_of_numpy(data: st.DataObject) -> None:
    array, tensor = numbered(data.draw(SHAPES))
    for _ in range(3):
        index = data.draw(arrays.basic_indices(array.shape, allow_ellipsis=False))
        parts = index if isinstance(index, tuple) else (index,)
        array, tensor = array[(*parts, ...)], tensor[index]
        if data.draw(st.booleans()):
            array, tensor = array.T, tensor.T
    require_same(tensor, array)


@given(data=st.data())
def test_reshape_gives_the_elements_of_numpy(data: st.DataObject) -> None:
    array, tensor = numbered(data.draw(SHAPES))
    index = data.draw(arrays.basic_indices(array.shape, allow_ellipsis=False))
    parts = index if isinstance(index, tuple) else (index,)
    array, tensor = array[(*parts, ...)], tensor[index]
    shape = data.draw(st.lists(st.integers(-1, 6), max_size=4).map(tuple))
    try:
        expected = array.reshape(shape)
    except ValueError:
        with pytest.raises(ValueError, match="cannot reshape a tensor of size"):
            tensor.reshape(shape)
        return
    made = tensor.reshape(*shape)
    assert made.shape == expected.shape
    assert made.tolist() == expected.tolist()
    is_view = np.shares_memory(expected, array)
    assert np.shares_memory(made.numpy(), array) == is_view


@given(data=st.data())
def test_copy_and_fill_write_what_numpy_writes(data: st.DataObject) -> None:
    array, tensor = numbered(data.draw(SHAPES))
    tensor = eas.tensor(tensor, copy=True)
    index = data.draw(arrays.basic_indices(array.shape))
    parts = index if isinstance(index, tuple) else (index,)
    index = (*parts, *([] if Ellipsis in parts else [...]))  # also one element is a view
    source = data.draw(SHAPES.map(lambda shape: np.full(shape, 7.6)))
    try:
        array[index] = source
    except ValueError:
        with pytest.raises(ValueError, match="could not broadcast"):
            tensor[index].copy_(source)
    else:
        tensor[index].copy_(eas.tensor(source))
    assert tensor.tolist() == array.tolist()
    array[index], tensor[index] = 3, 3
    assert tensor.tolist() == array.tolist()
    assert tensor.fill_(2).tolist() == np.full(array.shape, 2).tolist()


@given(data=st.data())
def test_contiguous_gives_the_elements_in_order(data: st.DataObject) -> None:
    array, tensor = numbered(data.draw(SHAPES))
    index = data.draw(arrays.basic_indices(array.shape))
    view = tensor[index].T
    made = view.contiguous()
    assert made.numpy().flags.c_contiguous
    assert made.tolist() == view.tolist()
    assert (made is view) == view.numpy().flags.c_contiguous


@pytest.mark.parametrize("index", [3, -4, (0, 5), (0, 0, 0), (..., ...), slice(None, None, 0)])
def test_a_wrong_index_is_refused_as_by_numpy(index: Any) -> None:
    array, tensor = numbered((3, 5))
    with pytest.raises((IndexError, ValueError)) as expected:
        array[index]
    with pytest.raises(expected.type) as caught:
        tensor[index]
    assert str(caught.value) == str(expected.value)


@pytest.mark.parametrize("index", [[0, 1], np.array([0]), True, 1.5, "a", np.True_])
def test_an_index_that_would_copy_is_refused(index: Any) -> None:
    with pytest.raises(IndexError, match="a tensor is indexed with ints, slices"):
        numbered((3, 5))[1][index]


def test_iteration_gives_views_of_the_first_axis() -> None:
    array, tensor = numbered((3, 5))
    for row, expected in zip(tensor, array, strict=True):
        require_same(row, expected)
    with pytest.raises(TypeError, match="iteration over a tensor without axes"):
        iter(tensor[0, 0])


def test_the_length_is_that_of_the_first_axis() -> None:
    assert len(numbered((3, 5))[1]) == 3
    with pytest.raises(TypeError, match="unsized"):
        len(numbered(())[1])


def test_a_negative_extent_other_than_minus_one_is_refused() -> None:
    with pytest.raises(ValueError, match=r"cannot reshape a tensor of size 1 into shape \(-2,\)"):
        numbered((1,))[1].reshape(-2)
