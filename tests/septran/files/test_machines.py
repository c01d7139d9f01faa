"""The machines that ship: what they say, and what is asked of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from eas.septran.files import load_machine, shipped_machines

STANDARD = {
    "gemm",
    "fill",
    "copy",
    "add",
    "mul",
    "exp",
    "row_max",
    "row_sum",
    "scale_rows",
    "gelu",
}
every_machine = pytest.mark.parametrize("name", shipped_machines())


def test_these_machines_ship() -> None:
    assert {"cpu", "apple_gpu", "awesomedsa", "nvidia_gpu", "h100"} <= set(shipped_machines())


@every_machine
def test_a_machine_is_named_as_its_file(name: str) -> None:
    assert load_machine(name).name == name


@every_machine
def test_a_machine_that_runs_has_a_generic_primitive_for_every_operation(name: str) -> None:
    machine = load_machine(name)
    generic = {
        operation
        for operation, several in machine.primitives.items()
        if any(each.is_generic for each in several)
    }
    assert generic >= STANDARD or not machine.runs


@every_machine
def test_every_memory_can_be_filled_from_global_memory_and_read_back(name: str) -> None:
    machine = load_machine(name)
    for memory in machine.mems:
        assert machine.copy_between("GLOBAL", memory) is not None
        assert machine.copy_between(memory, "GLOBAL") is not None


@every_machine
def test_the_host_is_the_outermost_level_and_sees_global_memory_only(name: str) -> None:
    machine = load_machine(name)
    assert machine.level("HOST") == 0
    assert machine.memories_of("HOST") == ["GLOBAL"]
    assert machine.mems["GLOBAL"].capacity is None


def test_levels_and_memories_are_those_of_the_design() -> None:
    shapes = {
        name: (list(load_machine(name).procs), list(load_machine(name).mems))
        for name in ("cpu", "apple_gpu", "awesomedsa")
    }
    assert shapes == {
        "cpu": (["HOST", "BLOCK"], ["GLOBAL", "SHARED", "REGISTER"]),
        "apple_gpu": (
            ["HOST", "BLOCK", "SIMDGROUP", "THREAD"],
            ["GLOBAL", "SHARED", "REGISTER"],
        ),
        "awesomedsa": (["HOST", "CORE"], ["GLOBAL", "SPM", "ACC"]),
    }


def test_awesomedsa_calls_the_functions_of_its_vendor() -> None:
    machine = load_machine("awesomedsa")
    first = machine.primitives["gemm"][0]
    assert first.symbol is not None and machine.symbols[first.symbol] == "vendor_lib_mma"
    found = machine.primitive("gemm_leaf_systolic")
    assert found is not None
    operation, systolic = found
    assert (operation, systolic.symbol) == ("gemm", "dsa.systolic_compute")
    assert machine.symbols["dsa.systolic_compute"] == "vendor_lib_systolic_compute"
    copy = machine.copy_between("GLOBAL", "SPM")
    assert copy is not None and copy.mode == "start_wait" and copy.symbol is not None
    assert machine.symbols[copy.symbol] == "vendor_lib_dma_copy"
    assert machine.scratch == "parameter"


@pytest.mark.parametrize("name", ["nvidia_gpu", "h100"])
def test_machines_of_text_only_hold_three_stages_of_tiles_of_128(name: str) -> None:
    machine = load_machine(name)
    assert (machine.runs, machine.default_dtype) == (False, "f16")
    assert machine.mems["SHARED"].capacity == 232_448
    assert 3 * 2 * 128 * 128 * 2 <= 232_448
    assert set(machine.primitive_names()) >= {"gemm_leaf_tensorcore", "gemm_leaf_simt"}


def test_values_of_a_machine_have_places() -> None:
    machine = load_machine("apple_gpu")
    loc = machine.place("mems", "SHARED", "capacity")
    assert loc.source.line(loc.line)[loc.column : loc.end_column] == "32768"
    assert loc.source.name == "apple_gpu.yaml"


def test_a_machine_that_ships_is_read_once() -> None:
    assert load_machine("cpu") is load_machine("cpu")


def test_files_need_an_extra_which_is_named_when_it_is_missing() -> None:
    code = "import sys; sys.modules['pydantic'] = None\nimport eas.septran.files"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: SepTran reads files with pydantic and ruamel.yaml:"
        " pip install 'easy_as[septran]'"
    )
