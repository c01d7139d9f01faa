"""`Kernel.to_mlx`: the text that MLX makes of a kernel is Metal, and computes the same."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.mlx import MlxKernel
from eas.msl import host
from eas.runtime.refusals import LaunchError
from tests.kernels.case import Array, Case

NAMES = (
    "add",
    "softmax_rows",
    "layernorm",
    "matmul",
    "transpose",
    "flash_attention",
)
C_TYPES = {
    "bool": "bool",
    "float32": "float",
    "float16": "float16_t",
    "bfloat16": "bfloat16_t",
    **{f"{kind}{bits}": f"{kind}{bits}_t" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
}
ATTRIBUTES = {
    "simdgroup_index_in_threadgroup": "uint",
    "simdgroups_per_threadgroup": "uint",
    "thread_index_in_simdgroup": "uint",
    "thread_position_in_grid": "uint3",
    "thread_position_in_threadgroup": "uint3",
    "threadgroup_position_in_grid": "uint3",
    "threadgroups_per_grid": "uint3",
}


def text_of_mlx(kernel: MlxKernel, name: str) -> str:
    """The text as MLX 0.32 writes it: our header, its signature, our body."""
    options = kernel.options
    parameters: list[str] = []
    for each, value in zip(options["input_names"], kernel.inputs, strict=True):
        found = np.asarray(value)
        space = "constant" if found.size < 8 else "device"
        c_type = C_TYPES[found.dtype.name]
        parameters.append(f"const {space} {c_type}{'*' if found.ndim else '&'} {each}")
    for each, (_, dtype) in zip(options["output_names"], kernel.outputs, strict=True):
        c_type = C_TYPES[dtype]
        parameters.append(
            f"device {f'atomic<{c_type}>' if options['atomic_outputs'] else c_type}* {each}"
        )
    lines = [f"  {text} [[buffer({n})]]" for n, text in enumerate(parameters)]
    source = options["source"]
    lines += [f"  {kind} {a} [[{a}]]" for a, kind in ATTRIBUTES.items() if a in source]
    signature = f"[[kernel]] void {name}(\n" + ",\n".join(lines) + ") {\n"
    return f"{options['header']}{signature}{source}\n}}\n"


def run_on_host(kernel: MlxKernel, start: Any = 0) -> list[Array]:
    shader = host.load(text_of_mlx(kernel, "run"))
    outputs = [np.full(shape, start, dtype) for shape, dtype in kernel.outputs]
    inputs = [each if np.ndim(each) else each.item() for each in kernel.inputs]
    shader.run(*inputs, *outputs, groups=kernel.grid, per_group=kernel.threads)
    return outputs


@pytest.mark.parametrize("name", NAMES)
def test_the_text_computes_what_the_kernel_does(name: str) -> None:
    case: Case = importlib.import_module(f"tests.kernels.{name}").CASE
    arguments = case.arguments()
    wanted = case.reference(**arguments)
    kernel = case.kernel.to_mlx(**arguments, _grid=case.grid)
    found = dict(zip(kernel.options["output_names"], run_on_host(kernel), strict=True))
    assert set(found) == set(wanted)
    for each, right in wanted.items():
        scale = np.abs(right).max()
        np.testing.assert_allclose(found[each], right, rtol=0, atol=case.tolerance * scale)


@eas.kernel
def sum_all(x, total, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.atomic_add(total, 0, mk.sum(mk.load(x, i, i < N)))


def test_atomic_outputs_begin_at_zero() -> None:
    x = np.arange(1000, dtype=np.int32)
    kernel = sum_all.to_mlx(x, np.zeros(1, np.int32), 1000, BLOCK=256)
    assert kernel.options["atomic_outputs"]
    assert run_on_host(kernel)[0].tolist() == [x.sum()]


@eas.kernel
def scale_rows(x, y, FACTOR: mk.i64, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    for row in range(x.shape[0]):
        y[row, i] = x[row, i] * FACTOR


def test_shapes_strides_and_wide_numbers_are_inputs() -> None:
    x = np.arange(32, dtype=np.int64).reshape(4, 8)
    kernel = scale_rows.to_mlx(x, np.zeros_like(x), 2**40, BLOCK=8, _grid=1)
    np.testing.assert_array_equal(run_on_host(kernel)[0], x << 40)


def test_types_are_enough_to_build_a_kernel() -> None:
    kernel = sum_all.to_mlx("*i32", "*i32", "i32", BLOCK=256)
    assert kernel.options["input_names"] == ["x", "N"]
    assert kernel.options["output_names"] == ["total"]


@eas.kernel
def in_place(x, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(x, i, mk.load(x, i) + 1)


@eas.kernel
def asserting(x, y, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    v = mk.load(x, i)
    assert v > 0
    mk.store(y, i, v)


@eas.kernel
def without_outputs(x, BLOCK: eas.constexpr):
    mk.load(x, mk.arange(0, BLOCK))


@pytest.mark.parametrize(
    ("kernel", "types", "message"),
    [
        (in_place, ["*f32"], "argument `x`: it reads and writes this array"),
        (asserting, ["*f32", "*f32"], "asserts or prints"),
        (without_outputs, ["*f32"], "writes to no array"),
    ],
)
def test_what_mlx_cannot_run_is_refused(kernel: Any, types: list[str], message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        kernel.to_mlx(*types, BLOCK=32)


@pytest.mark.parametrize("name", NAMES)
def test_mlx_writes_this_text(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """MLX writes the text also without a GPU, when it exports a function."""
    mx: Any = pytest.importorskip("mlx.core")
    case: Case = importlib.import_module(f"tests.kernels.{name}").CASE
    given = case.arguments()
    arguments = {k: mx.array(v) if isinstance(v, np.ndarray) else v for k, v in given.items()}
    kernel = case.kernel.to_mlx(**arguments, _grid=case.grid)
    made = mx.fast.metal_kernel(**kernel.options)
    mx.export_function(
        str(tmp_path / "f"), lambda _: made(**kernel.launch, verbose=True), mx.zeros(1)
    )
    printed = capfd.readouterr().out
    found = re.search(r"```\n(.*)\n```", printed, re.DOTALL)
    assert found is not None, printed
    chosen = re.search(r"void (custom_kernel_\w+)\(", found[1])
    assert chosen is not None
    ours = case.kernel.to_mlx(**given, _grid=case.grid)
    assert found[1] == text_of_mlx(ours, chosen[1])
