"""Random kernels on the interpreter, on `msl-host` and on the CPU: results compared.

`EAS_TEST_METAL=device` runs them on this machine's GPU as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eas import gpu
from eas.ir.nodes import Function
from eas.ir.passes import relax
from eas.ir.text import print_function
from eas.msl.host import CHECKED, ORDERS, Host, check, run
from eas.msl.kernel import MslKernel
from eas.runtime.argument_values import ArrayArgument
from eas.runtime.cpu import Executable
from eas.runtime.interpreter import run as interpret
from eas.support.diagnostics import render
from tests.backends import IS_ON_DEVICE

Array = np.ndarray[Any, np.dtype[Any]]
Arrays = dict[str, Array]


@dataclass(frozen=True)
class Trial:
    """A kernel in both forms; `arrays` makes its arrays anew, `expected` are the right results.

    `name` finds it again. Without `expected` the interpreter decides.
    """

    name: str
    function: Function
    metal: MslKernel
    arrays: Callable[[], Arrays]
    bind: Callable[[Arrays], list[ArrayArgument | np.generic]]
    grid: tuple[int, ...]
    expected: Arrays | None = None


def run_trials(host: Host, trials: Sequence[Trial]) -> None:
    """Compiles all kernels at once, runs each in every order and compares."""
    library = host.builder.build([trial.metal.text for trial in trials])
    for unit, trial in enumerate(trials):
        expected, lines = _interpreted(trial)
        _run_on_cpu(trial, expected, lines)
        for order in ORDERS:
            printed: list[str] = []
            arrays = trial.arrays()
            found = run(
                trial.metal,
                trial.function.params,
                trial.bind(arrays),
                trial.grid,
                host=host,
                library=library,
                unit=unit,
                order=order,
                program_output=printed.append,
            )
            place = f"{trial.name}, {order}\n{trial.metal.text}"
            assert found == (), place
            assert sorted(printed) == lines, place
            _compare(arrays, expected, place)
        if IS_ON_DEVICE:
            _try_on_device(trial, expected, lines)


def check_trials(host: Host, trials: Sequence[Trial]) -> None:
    """Runs each kernel in check mode, in every order: nothing is reported."""
    library = host.builder.build([trial.metal.text for trial in trials], CHECKED)
    for unit, trial in enumerate(trials):
        arguments = trial.bind(trial.arrays())
        found = check(
            trial.metal, trial.function, arguments, trial.grid, host, library=library, unit=unit
        )
        assert [render(d) for d in found] == [], f"{trial.name}\n{trial.metal.text}"


def _run_on_cpu(trial: Trial, expected: Arrays, lines: list[str]) -> None:
    printed: list[str] = []
    arrays = trial.arrays()
    executable = Executable(relax(trial.function))
    found = executable.run(trial.bind(arrays), trial.grid, printed.append)
    place = f"{trial.name} on the CPU\n{print_function(trial.function)}"
    assert (found, sorted(printed)) == ((), lines), place
    _compare(arrays, expected, place)


def _try_on_device(trial: Trial, expected: Arrays, lines: list[str]) -> None:
    printed: list[str] = []
    arrays = trial.arrays()
    arguments = trial.bind(arrays)
    found = gpu.run(trial.metal, trial.function, arguments, trial.grid, printed.append)
    place = f"{trial.name}, on the GPU\n{trial.metal.text}"
    assert (found, sorted(printed)) == ((), lines), place
    _compare(arrays, expected, place)


def _interpreted(trial: Trial) -> tuple[Arrays, list[str]]:
    arrays = trial.arrays()
    lines: list[str] = []
    interpret(trial.function, trial.bind(arrays), trial.grid, program_output=lines.append)
    if trial.expected is not None:
        _compare(arrays, trial.expected, trial.name)
    return arrays, sorted(lines)


def _compare(results: Arrays, expected: Arrays, place: str) -> None:
    for name, array in expected.items():
        result = results[name]
        if array.dtype.kind == "f":
            np.testing.assert_allclose(
                result, array, rtol=1e-5, atol=1e-6, err_msg=f"{name} of {place}"
            )
        else:
            np.testing.assert_array_equal(result, array, err_msg=f"{name} of {place}")
