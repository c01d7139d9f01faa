"""From a text to a pipeline: options, needs, and what Metal's compiler says against it."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eas
from eas.runtime import metal
from eas.runtime.metal import Complaint, MetalError
from eas.runtime.metal.errors import complaints_in
from tests.metal.kernels import add_up, rooted, scaled_sum, twice
from tests.metal.simulated import Machine
from tests.metal.simulated.machine import M1_FAMILIES
from tests.test_kernels import case_of

SAFE = {"math_mode": 0, "math_functions": 1}


def launch_twice(**options: Any) -> None:
    twice(np.zeros(4, np.float32), 4, BLOCK=4, **options)


def launch_bf16() -> None:
    case = case_of("scale_bf16")
    case.kernel(**case.arguments())


def test_a_kernel_is_compiled_once(machine: Machine) -> None:
    launch_twice()
    launch_twice()
    assert machine.libraries == [{"version": 0x20003, **SAFE}]


def test_a_text_is_compiled_anew_for_other_options(machine: Machine) -> None:
    text = twice.to_msl("*f32", "i32", BLOCK=4)
    device = metal.default_device()
    safe, fast = (metal.Program(text, "twice", (2, 3), is_fast) for is_fast in (False, True))
    newer = metal.Program(text, "twice", (3, 0))
    for program in (safe, fast, newer, safe, fast, newer):
        assert device.pipeline(program).program == program
    made = [(each["version"], each["math_mode"]) for each in machine.libraries]
    assert made == [(0x20003, 0), (0x20003, 1), (0x30000, 0)]


def test_a_kernel_is_compiled_for_the_version_that_it_needs(machine: Machine) -> None:
    launch_bf16()
    assert machine.libraries == [{"version": 0x30001, **SAFE}]


def test_fast_math_keeps_infinities(machine: Machine) -> None:
    x, y = np.ones(8, np.float32), np.zeros(1, np.float32)
    scaled_sum[1](x, y, 3.0, 8, BLOCK=8)
    assert y.tolist() == [24.0]
    assert machine.libraries == [{"version": 0x20003, "math_mode": 1, "math_functions": 0}]


@pytest.mark.parametrize("kernel", ["twice", "scaled_sum"])
def test_an_older_system_is_safe_by_its_own_means(machine: Machine, kernel: str) -> None:
    machine.system = (14, 5, 0)
    x = np.ones(8, np.float32)
    if kernel == "twice":
        twice(x, 8, BLOCK=8)
    else:
        scaled_sum[1](x, x.copy(), 3.0, 8, BLOCK=8)
    assert machine.libraries == [{"version": 0x20003, **SAFE}]


def test_a_system_that_is_too_old_for_bfloat_is_named(machine: Machine) -> None:
    machine.system = (13, 6, 1)
    launch_twice()
    assert message_of(launch_bf16) == (
        "kernel `scale_bf16`: it is written in Metal 3.1 (for `bfloat`), which needs macOS 14.0 or "
        "later; this is macOS 13.6"
    )


def test_a_gpu_that_is_too_old_for_bfloat_is_named(machine: Machine) -> None:
    machine.families = frozenset({1007, 2002})
    launch_twice()
    assert message_of(launch_bf16) == (
        "kernel `scale_bf16`: it is written in Metal 3.1 (for `bfloat`), which needs a GPU of the "
        "family Metal3; Apple M1 (simulated) is none"
    )


@pytest.mark.parametrize(
    ("system", "families", "lacks"),
    [
        ((12, 7, 0), M1_FAMILIES, "macOS 13.0 or later; this is macOS 12.7"),
        ((15, 1, 0), {1007, 2002}, "a GPU of the family Metal3; Apple M1 (simulated) is none"),
    ],
)
def test_what_is_too_old_for_atomics_on_floats_is_named(
    machine: Machine, system: tuple[int, int, int], families: frozenset[int], lacks: str
) -> None:
    machine.system, machine.families = system, families
    total = np.zeros(1, np.float32)
    assert message_of(lambda: add_up[1](np.ones(4, np.float32), total, BLOCK=4)) == (
        f"kernel `add_up`: it is written in Metal 3.0 (for atomics on floats), which needs {lacks}"
    )


def test_a_gpu_without_matrices_is_named(machine: Machine) -> None:
    machine.families = frozenset({2002, 5001})
    launch_twice()
    case = case_of("matmul_tiles")
    assert message_of(lambda: case.kernel[1](**case.arguments())) == (
        "kernel `matmul_tiles`: it multiplies matrices in simdgroups, which needs a GPU of the "
        "family Apple7; Apple M1 (simulated) is none"
    )


def test_a_gpu_with_other_simdgroups_is_refused_where_it_matters(machine: Machine) -> None:
    machine.simdgroup_threads = 64
    launch_twice()
    x, y = np.ones(8, np.float32), np.zeros(1, np.float32)
    assert message_of(lambda: scaled_sum[1](x, y, 3.0, 8, BLOCK=8)) == (
        "kernel `scaled_sum`: it is written for simdgroups of 32 threads, and those of Apple M1 "
        "(simulated) have 64"
    )


def test_a_gpu_that_is_too_old_for_any_kernel_is_named(machine: Machine) -> None:
    machine.families = frozenset({1006})
    assert message_of(launch_twice) == (
        "kernel `twice`: it is written in Metal 2.3, which needs a GPU of the family Apple7 or "
        "Mac2; Apple M1 (simulated) is none"
    )


def test_an_error_of_metals_compiler_is_shown_at_the_python_line(machine: Machine) -> None:
    text = twice.to_msl("*f32", "i32", BLOCK=4)
    number = next(n for n, line in enumerate(text.splitlines(), 1) if "x[i] =" in line)
    line = text.splitlines()[number - 1].strip()
    machine.faults.library_error = (
        "Compilation failed:\n\n"
        f"program_source:{number}:9: error: use of undeclared identifier 'x'\n        x[i]\n"
        "        ^\nprogram_source:3:1: warning: nobody minds\n"
    )
    with pytest.raises(eas.CompileError) as caught:
        launch_twice()
    file = Path(str(import_module("tests.metal.kernels").__file__))
    row = next(n for n, text in enumerate(file.read_text().splitlines(), 1) if "mk.store(x" in text)
    assert without_path(str(caught.value)) == (
        "error[E1002]: Metal's compiler refuses the text: use of undeclared identifier 'x'\n"
        f"  --> kernels.py:{row}:1\n"
        "   |\n"
        f"{row} |     mk.store(x, i, mk.load(x, i, i < N) * 2, i < N)\n"
        "   | ^ from here\n"
        f"   = note: line {number} of the Metal text: {line}\n"
        "   = note: this is a fault of easy_as, not of the kernel: please report it\n\n"
        "1 error in kernel `twice`"
    )


def test_errors_in_helpers_and_in_the_head_are_all_reported(machine: Machine) -> None:
    text = rooted.to_msl("*f32", "i32", BLOCK=4)
    numbers = [1, *(n for n, line in enumerate(text.splitlines(), 1) if "kernels.py:" in line)]
    machine.faults.library_error = "".join(
        f"program_source:{number}:1: error: not {number}\n" for number in numbers
    )
    with pytest.raises(eas.CompileError) as caught:
        rooted(np.zeros(4, np.float32), 4, BLOCK=4)
    head, *others = caught.value.diagnostics
    assert (head.loc.source.name, head.loc.line, head.label) == ("kernel.metal", 1, "")
    lines = Path(str(import_module("tests.metal.kernels").__file__)).read_text().splitlines()
    assert {d.loc.source.name for d in others} == {"kernels.py"}
    assert "    mk.store(x, i, root, mask)" in {lines[d.loc.line - 1] for d in others}
    assert [d.message.rpartition(" ")[2] for d in caught.value.diagnostics] == [
        str(number) for number in numbers
    ]


def without_path(text: str) -> str:
    return re.sub(r"--> \S*/", "--> ", text)


def test_an_error_in_a_header_counts_for_the_line_that_led_there() -> None:
    said = (
        "Compilation failed: program_source:2:1: warning: nobody minds\n"
        "program_source:4:2: note: nor this\n"
        "/System/Headers/metal_math:17:5: error: static_assert failed\n"
        "program_source:7:12: note: in instantiation of function template\n"
        "program_source:8:3: fatal error: too many errors\n"
    )
    assert complaints_in(said) == [
        Complaint(7, 12, "static_assert failed"),
        Complaint(8, 3, "too many errors"),
    ]


def test_an_error_behind_the_last_line_is_reported(machine: Machine) -> None:
    machine.faults.library_error = "program_source:9999:1: error: expected '}'"
    with pytest.raises(eas.CompileError) as caught:
        launch_twice()
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.message == "Metal's compiler refuses the text: expected '}'"


def test_an_error_without_a_line_is_reported_in_full(machine: Machine) -> None:
    machine.faults.library_error = "the compiler service has gone away"
    with pytest.raises(eas.CompileError) as caught:
        launch_twice()
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.message == (
        "Metal's compiler refuses the text\nthe compiler service has gone away"
    )


def test_a_function_that_is_not_in_the_library_is_an_error(machine: Machine) -> None:
    machine.faults.loses_function = True
    assert message_of(launch_twice) == "kernel `twice`: Metal does not find it in its own text"


def test_a_pipeline_that_cannot_be_made_is_an_error(machine: Machine) -> None:
    machine.faults.pipeline_error = "Compute function exceeds available registers"
    assert message_of(launch_twice) == (
        "kernel `twice`: Apple M1 (simulated) cannot run it: Compute function exceeds available "
        "registers"
    )


def test_a_kernel_that_failed_to_compile_is_tried_again(machine: Machine) -> None:
    machine.faults.pipeline_error = "try later"
    assert "try later" in message_of(launch_twice)
    machine.faults.pipeline_error = ""
    launch_twice()


def message_of(launch: Any) -> str:
    with pytest.raises(MetalError) as caught:
        launch()
    return str(caught.value)
