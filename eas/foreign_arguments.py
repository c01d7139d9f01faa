"""Arguments in the memory of other libraries that NumPy cannot read."""

from __future__ import annotations

from typing import Any

from eas.runtime.argument_values import is_array, is_numpy_scalar
from eas.runtime.refusals import BadArgument
from eas.runtime.torch_arguments import is_on_mps, is_tensor


def read_foreign(argument: Any) -> Any | None:
    """A Metal buffer, or bf16, of an object with `__dlpack__`, as an `eas.Tensor`.

    None if the argument has nothing of that kind. Tensors of torch on the CPU have rules of their
    own.
    """
    if is_tensor(argument) and not is_on_mps(argument):
        return None
    is_of_numpy = is_array(argument) or is_numpy_scalar(argument)
    if is_of_numpy or not hasattr(argument, "__dlpack__"):
        return None
    from eas.runtime.tensors.dlpack_import import import_dlpack  # few launches need it

    try:
        return import_dlpack(argument)
    except BufferError as error:
        raise BadArgument(str(error)) from error
