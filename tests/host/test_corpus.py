"""Every kernel of the corpus on `msl-host`: the bytes that a Mac would get, and their results."""

from __future__ import annotations

import pytest

from eas.msl.host import CHECKED, ORDERS, Host, default_host, run
from tests.kernels.case import Arguments
from tests.test_kernels import NAMES, arrays_of, case_of, compare, every_kernel
from tests.thorough import sampled


@every_kernel
@sampled(5)
def test_the_metal_text_gives_the_results_of_the_reference(name: str) -> None:
    case = case_of(name)
    arguments = case.arguments()
    launch = case.kernel if case.grid is None else case.kernel[case.grid]
    launch(**arguments, _backend="msl-host")
    check_results(name, arguments)


@sampled(7)
@pytest.mark.parametrize(
    ("name", "order"), [(name, order) for order in ORDERS[1:] for name in NAMES]
)
def test_the_order_of_threads_does_not_matter(name: str, order: str) -> None:
    case = case_of(name)
    arguments = case.arguments()
    compiled = case.kernel.compile(**arguments)
    bound = compiled.binding.bind(arguments)
    grid = case.grid or (-(-arguments["N"] // arguments["BLOCK"]),)
    host = default_host()
    found = run(compiled.metal, compiled.function.params, bound, grid, host=host, order=order)
    assert found == ()
    check_results(name, arguments)


def check_results(name: str, arguments: Arguments) -> None:
    case = case_of(name)
    expected = arrays_of(case.arguments()) | case.reference(**case.arguments())
    for array, result in arrays_of(arguments).items():
        compare(array, result, expected[array], case.tolerance)


@sampled(9)
@pytest.mark.parametrize(("name", "order"), [(name, order) for order in ORDERS for name in NAMES])
def test_every_access_is_watched_and_right(name: str, order: str, checked_host: Host) -> None:
    case = case_of(name)
    arguments = case.arguments()
    compiled = case.kernel.compile(**arguments)
    bound = compiled.binding.bind(arguments)
    grid = case.grid or (-(-arguments["N"] // arguments["BLOCK"]),)
    library = checked_host.builder.build([compiled.msl], CHECKED)
    params = compiled.function.params
    found = run(
        compiled.metal, params, bound, grid, host=checked_host, library=library, order=order
    )
    assert found == ()
    check_results(name, arguments)
