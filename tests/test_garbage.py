"""A compile leaves nothing behind that only the garbage collector could free.

The collector would search through all that a compile has made, and the user would wait for it.
"""

from __future__ import annotations

import gc

import pytest

import eas
from tests.test_kernels import case_of

NAMES = ("add", "softmax", "matmul_tiles", "flash_attention_backward", "connected_components")


@pytest.mark.parametrize("name", NAMES)
def test_a_compile_to_metal_leaves_no_garbage(name: str) -> None:
    case = case_of(name)
    case.kernel.to_msl(**case.arguments())  # the first compile also reads the file
    kernel, arguments = eas.kernel(case.kernel.fn), case.arguments()
    gc.collect()
    gc.disable()
    try:
        kernel.to_msl(**arguments)
        assert gc.collect() == 0
    finally:
        gc.enable()
