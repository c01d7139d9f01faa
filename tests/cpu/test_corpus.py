"""Every kernel of the corpus as machine code: its results against NumPy."""

from __future__ import annotations

from tests.test_kernels import arrays_of, case_of, compare, every_kernel
from tests.thorough import sampled


@every_kernel
@sampled(5)
def test_the_machine_code_gives_the_results_of_the_reference(name: str) -> None:
    case = case_of(name)
    arguments = case.arguments()
    expected = arrays_of(case.arguments()) | case.reference(**case.arguments())
    launch = case.kernel if case.grid is None else case.kernel[case.grid]
    launch(**arguments, _backend="cpu")
    for array, result in arrays_of(arguments).items():
        compare(array, result, expected[array], case.tolerance)
