"""Every kernel of the corpus on a GPU, against its reference."""

from __future__ import annotations

import pytest

from tests.test_kernels import arrays_of, case_of, compare, every_kernel
from tests.thorough import sampled


@sampled(3)
@every_kernel
@pytest.mark.usefixtures("any_gpu")
def test_a_gpu_gives_the_results_of_the_reference(name: str) -> None:
    case = case_of(name)
    arguments = case.arguments()
    launch = case.kernel if case.grid is None else case.kernel[case.grid]
    launch(**arguments)
    expected = arrays_of(case.arguments()) | case.reference(**case.arguments())
    for array, result in arrays_of(arguments).items():
        compare(array, result, expected[array], case.tolerance)
