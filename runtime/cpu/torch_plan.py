"""Plans for launches with tensors of torch, which `call_torch.ll` reads."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np

from eas.ir.types import DType, from_numpy
from eas.runtime import torch_arguments
from eas.runtime.argument_values import Array
from eas.runtime.cpu.launch_plan import Plan, PlannedLaunch, Reading, make_builtin
from eas.runtime.cpu.support import MOST_TENSORS, support
from eas.runtime.errors import KernelError
from eas.support.diagnostics import Diagnostic

_MOST_AXES = 8
_HEADER, _READ = 16, 3  # bytes before the functions of the exchange API, and which one of them
_KINDS = {"i": 0, "u": 1, "f": 2}  # codes of DLPack
_BF16, _BOOL = 4, 6

Slot = tuple[int, ...]


class TorchPlan:
    """A plan whose arrays are tensors; `slots` has a row of words for each, see `slots_of`."""

    def __init__(self, plan: Plan | Reading, slots: Sequence[Slot]) -> None:
        torch: Any = torch_arguments.loaded()
        self._plan, self._slots = plan, slots
        self._tensors = tuple(slot[0] for slot in slots)
        self._written = tuple(slot[0] for slot in slots if slot[-1])
        types = (torch.Tensor, torch.nn.Parameter, np.ndarray, False)
        head = [id(plan.capsule), _reader(torch), *map(id, types), plan.arguments, len(slots)]
        self._words = np.array([*head, *(word for slot in slots for word in slot)], np.int64)
        self._method, _, self._call = make_builtin(support().call_torch, self._words)
        self._requires_grad: Callable[[Any], bool] = torch.Tensor.requires_grad.__get__
        self._is_neg: Callable[[Any], bool] = torch.Tensor.is_neg
        self._transform: Callable[[], object] = torch._C._functorch.peek_interpreter_stack

    def run(self, row: tuple[Any, ...]) -> bool:
        """Whether the kernel has run; raises `KernelError` if something went wrong in it."""
        found = self.call(row)
        if found is None:
            return True
        if found is False:
            return False
        assert isinstance(found, bytes)
        raise KernelError((self.explain(row, np.frombuffer(found, np.uint32)),))

    def call(self, row: tuple[Any, ...]) -> object:
        """What the plan's own call gives; False if the tensors are none that it can read."""
        written = [row[n] for n in self._written]
        try:
            if not self._are_plain(row, written):
                return False
        except TypeError:  # no tensors
            return False
        found = self._call(*row)
        if written and found is not False:
            torch_arguments.mark_written(written)
        return found

    def explain(self, row: tuple[Any, ...], report: Array) -> Diagnostic:
        """What a report says about a launch with these arguments."""
        arrays = tuple(
            torch_arguments.to_array(each) if n in self._tensors else each
            for n, each in enumerate(row)
        )
        return self._plan.explain(arrays, report)

    @cached_property
    def reading(self) -> TorchReading:
        """The plan, to read arguments without running the kernel."""
        assert isinstance(self._plan, Plan)
        return TorchReading(self._plan.reading, self._slots)

    def _are_plain(self, row: tuple[Any, ...], written: list[Any]) -> bool:
        """Whether memory holds what the tensors are, and autograd need not be asked."""
        if self._transform() is not None or any(map(self._requires_grad, written)):
            return False
        return not any(map(self._is_neg, [row[n] for n in self._tensors]))


class TorchReading(TorchPlan):
    """A plan that reads arguments and runs nothing, see `launch_plan.Reading`."""

    def __init__(self, inner: Reading, slots: Sequence[Slot]) -> None:
        super().__init__(inner, slots)
        self._reading = inner

    def read(self, row: tuple[Any, ...]) -> PlannedLaunch | None:
        packet = self.call(row)
        if not isinstance(packet, bytearray):
            return None
        # a tensor can get other memory before the launch runs (`x.data = y`): this is what it uses
        storages = [row[n].untyped_storage() for n in self._tensors]
        return self._reading.launch(packet, (*row, storages), self.explain)


def can_be_planned(arrays: Mapping[int, Array]) -> bool:
    """Whether `call_torch.ll` can read these arguments, which are tensors."""
    if not arrays:
        return True
    is_large = len(arrays) > MOST_TENSORS or any(a.ndim > _MOST_AXES for a in arrays.values())
    return not is_large and _reader(torch_arguments.loaded()) != 0


def slots_of(tensors: Mapping[int, Array], written: frozenset[int]) -> list[Slot]:
    """What `call_torch.ll` knows of tensors, by their positions. It keeps none of them alive."""
    return [_slot(index, array, index in written) for index, array in tensors.items()]


def _slot(index: int, array: Array, is_written: bool) -> tuple[int, ...]:
    dtype = from_numpy(array.dtype)
    assert dtype is not None
    descr = id(dtype.numpy)
    return index, _dtype_word(dtype), descr, array.itemsize, array.ndim, int(is_written)


def _dtype_word(dtype: DType) -> int:
    """Code, bits and lanes as they lie in a `DLTensor`."""
    known = {"bf16": _BF16, "bool": _BOOL}
    code = known.get(dtype.name, _KINDS.get(dtype.name[0], 0))
    return code | (8 * dtype.numpy.itemsize) << 8 | 1 << 16


@cache
def _reader(torch: Any) -> int:
    """The address of `dltensor_from_py_object_no_sync`; 0 if this torch has none."""
    capsule = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    if capsule is None:
        return 0
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    table: int = get(("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, b"dlpack_exchange_api")
    major = ctypes.c_uint32.from_address(table).value
    functions = (ctypes.c_void_p * 5).from_address(table + _HEADER)
    return functions[_READ] or 0 if major == 1 else 0
