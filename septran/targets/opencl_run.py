"""Runs OpenCL text on NumPy arrays, through pyopencl: on PoCL, or on the first device there is."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from eas.septran.flat.interpret import bind_shapes
from eas.septran.flat.nodes import Kernel, Module
from eas.septran.targets.library import NATIVE, Library, TargetError
from eas.septran.targets.needs import MissingError, require
from eas.septran.targets.opencl import print_opencl

Array: TypeAlias = np.ndarray[Any, Any]

POCL = "Portable Computing Language"


class OpenCLProgram:
    """A module that was compiled for an OpenCL device."""

    def __init__(self, module: Module, library: Library, registers: Collection[str]) -> None:
        self.module = module
        self.text = print_opencl(module, library, registers)
        require(library)
        self._queue = open_queue()
        self._kernels = _build(self.text, module, self._queue)

    def __call__(self, *arrays: Array) -> None:
        """Runs on arrays, one for each parameter; those it writes are changed in place."""
        import pyopencl as cl

        module, context = self.module, self._queue.context
        sizes = bind_shapes(module, [array.shape for array in arrays])
        given = [np.ascontiguousarray(array).reshape(array.shape) for array in arrays]
        flags = cl.mem_flags.READ_WRITE
        buffers = {
            param.name: cl.Buffer(context, flags, max(array.nbytes, 1))
            for param, array in zip(module.params, given, strict=True)
        }
        for temp in module.temps:
            count = math.prod(extent.evaluate(sizes) for extent in temp.shape)
            size = max(count * temp.dtype.numpy.itemsize, 1)
            buffers[temp.name] = cl.Buffer(context, flags, size)
        for param, array in zip(module.params, given, strict=True):
            if array.nbytes:
                cl.enqueue_copy(self._queue, buffers[param.name], array)
        for kernel, compiled in zip(module.kernels, self._kernels, strict=True):
            groups = math.prod(extent.evaluate(sizes) for _, extent in kernel.grid)
            if groups == 0:
                continue
            numbers = [np.int64(sizes[name]) for name in module.sizes]
            pointers = [buffers[param.name] for param in kernel.params]
            compiled(
                self._queue, (groups * kernel.threads,), (kernel.threads,), *pointers, *numbers
            )
        self._queue.finish()
        for param, array, used in zip(module.params, arrays, given, strict=True):
            if param.privilege != "r" and used.nbytes:
                cl.enqueue_copy(self._queue, used, buffers[param.name])
                if used is not array:
                    array[...] = used


@cache
def open_queue() -> Any:
    """A queue of commands to a device; raises `MissingError` if there is none."""
    import pyopencl as cl

    try:
        platforms = cl.get_platforms()
    except cl.Error as error:
        raise MissingError(f"there is no OpenCL device ({error}): {_INSTALL}") from error
    platforms.sort(key=lambda platform: platform.name != POCL)
    for platform in platforms:
        for device in platform.get_devices():
            return cl.CommandQueue(cl.Context([device]))
    raise MissingError(f"there is no OpenCL device: {_INSTALL}")


_INSTALL = "`pip install 'easy_as[opencl]'` brings PoCL, which is one"


def _build(text: str, module: Module, queue: Any) -> list[Any]:
    import pyopencl as cl

    device = queue.device
    needed = max((kernel.threads for kernel in module.kernels), default=1)
    if needed > device.max_work_group_size:
        most = device.max_work_group_size
        raise TargetError(f"{device.name} has {most} work-items per group, this needs {needed}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a compiler that has something to say
            program = cl.Program(queue.context, text).build(options=["-I", str(NATIVE)])
    except cl.Error as error:
        raise TargetError(f"{device.name} does not compile this: {error}") from error
    return [_kernel(cl, program, kernel) for kernel in module.kernels]


def _kernel(cl: Any, program: Any, kernel: Kernel) -> Any:
    return cl.Kernel(program, f"run_{kernel.name}")
