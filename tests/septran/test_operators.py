"""Every operator with every mapping, on every target that runs here, against NumPy."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import eas
from eas.review.metal.counting import count
from eas.review.metal.kernel_costs import barriers_per_loop
from eas.septran.flat.interpret import run_module
from eas.septran.flat.nodes import Alloc, Barrier, Copy, For, walk
from eas.septran.flat.parser import parse_module
from eas.septran.flat.text import print_module
from eas.septran.flat.verify import find_violations
from eas.septran.logic.loading import load_logic
from eas.septran.operators import Operator, load
from tests.septran.operators import EXAMPLES, Example, case_of, error_of, skip_unless_it_runs
from tests.thorough import sampled

TOLERANCE = {"f4": 2e-5, "f2": 2e-2}
DTYPE_NAMES = {"f4": "f32", "f2": "f16"}
RUNS = ("cpu", "apple_gpu", "c", "opencl")
CORE = ("cpu", "apple_gpu", "awesomedsa", "nvidia_gpu", "h100")
MACHINES = {*CORE, "openblas", "gemmini", "opencl", "arm_sme"}
ONLY = {"gemmini": ("f4",)}  # the dtypes of machines that do not have all


def is_default(example: Example, mapping: Path, sizes: tuple[int, ...], dtype: str) -> bool:
    """Whether a case is tried by default: with the smallest sizes, and elsewhere only in f32."""
    if mapping.name.endswith("arm_sme.map.yaml"):
        return False  # an emulator takes its time
    is_core = any(mapping.name.endswith(f"{machine}.map.yaml") for machine in CORE)
    return sizes is example.sizes[0] and (is_core or dtype == "f4")


CASES = [
    pytest.param(
        example,
        mapping,
        sizes,
        dtype,
        id="-".join([example.name, mapping.name.partition(".map")[0], *map(str, sizes), dtype]),
        marks=[] if is_default(example, mapping, sizes, dtype) else [pytest.mark.thorough],
    )
    for example in EXAMPLES
    for mapping in example.mappings
    for sizes in example.sizes
    for dtype in TOLERANCE
]
every_case = pytest.mark.parametrize(("example", "mapping", "sizes", "dtype"), CASES)


def operator_of(example: Example, mapping: Path) -> Operator:
    return load(example.logic_file, mapping)


def skip_unless_it_has(operator: Operator, dtype: str) -> None:
    if dtype not in ONLY.get(operator.machine.name, TOLERANCE):
        pytest.skip(f"{operator.machine.name} has no {dtype}")


def test_every_operator_has_a_mapping_for_every_machine() -> None:
    for example in EXAMPLES:
        found = {operator_of(example, mapping).machine.name for mapping in example.mappings}
        assert found >= MACHINES


@every_case
@sampled(5)
def test_the_result_is_that_of_numpy(
    example: Example, mapping: Path, sizes: tuple[int, ...], dtype: str
) -> None:
    operator = operator_of(example, mapping)
    if operator.target not in RUNS:
        pytest.skip(f"{operator.target} is a text")
    skip_unless_it_runs(operator)
    skip_unless_it_has(operator, dtype)
    arrays, expected = case_of(example, mapping, sizes, dtype)
    operator(*arrays)
    assert error_of(arrays[0], expected) <= TOLERANCE[dtype]


@sampled(3)
@every_case
def test_the_flat_module_is_legal_and_means_the_same(
    example: Example, mapping: Path, sizes: tuple[int, ...], dtype: str
) -> None:
    operator = operator_of(example, mapping)
    if not operator.machine.runs and operator.machine.default_dtype != DTYPE_NAMES[dtype]:
        pytest.skip(f"the mapping is for {operator.machine.default_dtype}")
    skip_unless_it_has(operator, dtype)
    arrays, expected = case_of(example, mapping, sizes, dtype)
    lowered = operator.build_flat(*arrays)
    assert find_violations(lowered.module, lowered.machine) == []
    run_module(lowered.module, arrays, machine=lowered.machine)
    assert error_of(arrays[0], expected) <= TOLERANCE[dtype]


@pytest.mark.parametrize("machine", ["nvidia_gpu", "h100"])
def test_a_mapping_that_binds_tensor_cores_refuses_f32(machine: str) -> None:
    [gemm] = [example for example in EXAMPLES if example.name == "gemm"]
    [mapping] = [each for each in gemm.mappings if f".{machine}." in each.name]
    with pytest.raises(eas.CompileError) as caught:
        operator_of(gemm, mapping).flat(M=512, N=512, K=512, dtype="f32")
    assert [each.code for each in caught.value.diagnostics] == ["S501"]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_a_task_runs_on_numpy_arrays_at_once(example: Example) -> None:
    arrays, expected = example.make(example.sizes[0], "f4")
    entry = operator_of(example, example.mappings[0]).entry.function_name
    tasks = load_logic(example.logic_file).tasks
    tasks[entry.removeprefix("causal_")](*arrays)
    assert error_of(arrays[0], expected) <= TOLERANCE["f4"]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_text_of_a_flat_module_is_read_back(example: Example) -> None:
    for mapping in example.mappings:
        operator = operator_of(example, mapping)
        dtype = ONLY.get(operator.machine.name, ("f2",))[0]
        arrays, _ = case_of(example, mapping, example.sizes[0], dtype)
        module = operator.flat(*arrays)
        assert print_module(parse_module(print_module(module))) == print_module(module)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_every_statement_has_a_reason_and_places_in_both_files(example: Example) -> None:
    for mapping in example.mappings:
        operator = operator_of(example, mapping)
        dtype = ONLY.get(operator.machine.name, ("f2",))[0]
        arrays, _ = case_of(example, mapping, example.sizes[0], dtype)
        module = operator.flat(*arrays)
        statements = [stmt for kernel in module.kernels for stmt in walk(kernel.body)]
        assert statements
        for stmt in statements:
            assert stmt.origin.because
            assert stmt.origin.yaml is not None
            assert stmt.origin.python is not None


@pytest.mark.parametrize("machine", ["cpu", "apple_gpu", "awesomedsa", "nvidia_gpu", "h100"])
def test_gemm_copies_two_tiles_per_step_and_the_sum_once(machine: str) -> None:
    [gemm] = [example for example in EXAMPLES if example.name == "gemm"]
    [mapping] = [each for each in gemm.mappings if f".{machine}." in each.name]
    [kernel] = operator_of(gemm, mapping).flat(M=512, N=512, K=512).kernels
    [loop] = [stmt for stmt in kernel.body if isinstance(stmt, For)]
    assert [copy.source.buffer for copy in loop.body if isinstance(copy, Copy)] == ["A", "B"]
    outside = [stmt for stmt in kernel.body if isinstance(stmt, Copy)]
    assert [(copy.target.buffer, copy.source.memory != "GLOBAL") for copy in outside] == [
        ("C", True)
    ]


@pytest.mark.parametrize("machine", ["apple_gpu", "awesomedsa", "nvidia_gpu", "h100"])
def test_flash_attention_copies_keys_once_per_step_and_queries_once(machine: str) -> None:
    [flash] = [example for example in EXAMPLES if example.name == "flash_attention"]
    [mapping] = [each for each in flash.mappings if each.name == f"{machine}.map.yaml"]
    [kernel] = operator_of(flash, mapping).flat(H=2, M=512, N=512, D=64).kernels
    [loop] = [stmt for stmt in kernel.body if isinstance(stmt, For)]
    assert [copy.source.buffer for copy in loop.body if isinstance(copy, Copy)] == ["K", "V"]
    outside = [stmt for stmt in kernel.body if isinstance(stmt, Copy)]
    moved = [(copy.source.buffer, copy.target.buffer) for copy in outside]
    assert [name for pair in moved for name in pair if name in ("Q", "O")] == ["Q", "O"]


def test_a_pipelined_loop_on_apple_gpu_has_one_barrier_per_trip() -> None:
    [gemm] = [example for example in EXAMPLES if example.name == "gemm"]
    [mapping] = [each for each in gemm.mappings if ".apple_gpu." in each.name]
    [kernel] = operator_of(gemm, mapping).flat(M=512, N=512, K=512).kernels
    [loop] = [stmt for stmt in kernel.body if isinstance(stmt, For)]
    assert loop.pipelined == 2
    assert sum(isinstance(stmt, Barrier) for stmt in loop.body) == 1
    slots = {stmt.name: stmt.slots for stmt in kernel.body if isinstance(stmt, Alloc)}
    assert slots == {"C_register": 1, "A_shared": 2, "B_shared": 2}


def test_gemm_on_apple_gpu_multiplies_its_tiles_where_the_mapping_puts_them() -> None:
    [gemm] = [example for example in EXAMPLES if example.name == "gemm"]
    [mapping] = [each for each in gemm.mappings if ".apple_gpu." in each.name]
    text = operator_of(gemm, mapping).emit("metal", M=64, N=64, K=64)
    arrays = re.findall(r"threadgroup float (\w+)\[", text)
    assert arrays == ["A_shared", "B_shared", "C_register_shared"]
    assert [number for _, number in barriers_per_loop(count(text))] == [1]


def test_a_leaf_without_a_mask_is_right_in_ragged_tiles() -> None:
    """The last tile of a row is smaller, and its maximum is that of its own elements."""
    [softmax] = [example for example in EXAMPLES if example.name == "softmax"]
    [mapping] = [each for each in softmax.mappings if ".cpu." in each.name]
    arrays, expected = softmax.make((9, 5), "f4")
    arrays[1] -= 100
    operator_of(softmax, mapping)(*arrays)
    assert error_of(arrays[0], expected) <= TOLERANCE["f4"]
