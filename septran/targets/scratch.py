"""Arrays as compiled C takes them: contiguous, with memory for what it does not declare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from eas.ir.types import DType
from eas.septran.flat.interpret import bind_shapes
from eas.septran.flat.nodes import Alloc, Module
from eas.septran.flat.run_errors import FlatRunError
from eas.septran.targets.codegen_dsa import scratch_parameters
from eas.septran.targets.library import Library

Array: TypeAlias = np.ndarray[Any, Any]

_ALIGNMENT = 64


def prepared(
    module: Module, library: Library, arrays: Sequence[Array]
) -> tuple[list[Array], list[Array], list[int]]:
    """The arguments, the scratch arrays and the sizes for the entry function of a module."""
    sizes = bind_shapes(module, [array.shape for array in arrays])
    given: list[Array] = []
    for param, array in zip(module.params, arrays, strict=True):
        if array.dtype != param.dtype.numpy:
            raise FlatRunError(f"`{param.name}` holds {param.dtype}, the array {array.dtype}")
        given.append(np.ascontiguousarray(array).reshape(array.shape))
    scratch = [
        _aligned(tuple(extent.evaluate(sizes) for extent in temp.shape), temp.dtype)
        for temp in module.temps
    ]
    for kernel in module.kernels:
        scratch += [_allocated(each) for each in scratch_parameters(kernel, library)]
    return given, scratch, [sizes[name] for name in module.sizes]


def _allocated(alloc: Alloc) -> Array:
    *rows, row = alloc.shape or (1,)
    return _aligned((alloc.slots, *rows, row + alloc.pad), alloc.dtype)


def _aligned(shape: tuple[int, ...], dtype: DType) -> Array:
    """Memory for scratch arrays, aligned as a vendor may ask for."""
    size = int(np.prod(shape, dtype=np.int64)) * dtype.numpy.itemsize
    raw = np.empty(size + _ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT
    return raw[start : start + size].view(dtype.numpy).reshape(shape)
