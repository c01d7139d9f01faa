"""Kernels on the other machine: compiled for aarch64, and run by an emulator where there is one."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eas.msl.host import ORDERS
from eas.msl.host.build import HEAD
from eas.msl.host.toolchain import NATIVE, Toolchain, features, find_toolchain, run_tool
from eas.msl.host.translate import translate
from eas.msl.launch import bind
from eas.support.records import replace
from eas.support.report_buffer import report_buffer
from tests.host.handwritten import EXAMPLES, text_of
from tests.processes import PATIENCE
from tests.test_kernels import case_of, compare
from tests.thorough import sampled

EMULATOR = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
PROGRAM = (Path(__file__).parent / "emulated.cpp").read_text("utf-8")
# Those of the corpus that call no function of the C library's `libm`.
CORPUS = (
    "argmax_rows", "axpy_f16", "collatz", "floor_division", "gather_i64", "histogram", "matmul",
    "odd_even_sort", "prefix_sum", "scale_bf16", "thread_ids",
)  # fmt: skip
HANDWRITTEN = (
    "atomics", "bitonic_sort", "bodies", "comparisons", "half_and_bfloat", "histogram", "lanes",
    "namespaced", "quantized", "sizes", "struct_in_constant", "tiled_matmul", "tree_reduction",
    "vectors",
)  # fmt: skip

pytestmark = [
    pytest.mark.skipif(EMULATOR is None, reason="there is no qemu-aarch64 on the path"),
    pytest.mark.skipif("zig" not in find_toolchain().version, reason="the linker is zig's"),
]

Extents = tuple[int, int, int]
C_INT = np.int64  # its first half is an `int`, too


def run_emulated(
    text: str,
    buffers: Sequence[Any],
    threads: Extents,
    groups: Extents,
    folder: Path,
    shared: dict[int, int] | None = None,
    order: int = 0,
) -> list[Any]:
    """Runs the only kernel of a text; gives what its buffers hold in the end."""
    flat = [np.ascontiguousarray(each, C_INT if type(each) is int else None) for each in buffers]
    flat = [each.reshape(-1) for each in flat]
    unit = translate(text)
    defines = {
        "EAS_ENTRY_POINT": unit.entry(unit.kernels[0].name),
        "EAS_BYTES": ",".join(str(each.nbytes) for each in flat),
        "EAS_SHARED": "".join(f"{size}," for size in (shared or {}).values()),
        "EAS_THREADS": ",".join(map(str, threads)),
        "EAS_GROUPS": ",".join(map(str, groups)),
        "EAS_ORDER": str(order),
    }
    program = link(HEAD + unit.code, defines, folder)
    sent = b"".join(each.tobytes() for each in flat)
    assert EMULATOR is not None
    done = subprocess.run(
        [EMULATOR, program], input=sent, capture_output=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    results: list[Any] = []
    at = 0
    for each in flat:
        results.append(np.frombuffer(done.stdout[at : at + each.nbytes], each.dtype))
        at += each.nbytes
    return results


def link(code: str, defines: dict[str, str], folder: Path) -> str:
    tools = replace(find_toolchain(), target=("--target=aarch64-linux-gnu", *features("aarch64")))
    objects = [str(folder / "kernel.o"), str(folder / "program.o")]
    run_tool(tools.compile_command((), objects[0]), code)
    flags = ["-I", str(NATIVE), "-fno-builtin", *(f"-D{k}={v}" for k, v in defines.items())]
    run_tool(tools.compile_command(flags, objects[1]), PROGRAM)
    program = str(folder / "program")
    run_tool([*linker_of(tools), *objects, "-o", program])
    return program


def linker_of(tools: Toolchain) -> list[str]:
    return [*tools.linker[:2], "-static", "-e", "_start"]


@sampled(4)
@pytest.mark.parametrize("name", HANDWRITTEN)
def test_handwritten_kernels_run_on_aarch64(name: str, tmp_path: Path) -> None:
    example = EXAMPLES[name]
    buffers = example.buffers()
    per_group, groups = (three(extent) for extent in (example.per_group, example.groups))
    results = run_emulated(text_of(name), buffers, per_group, groups, tmp_path, example.shared)
    for index, expected in example.expected(*example.buffers()).items():
        found = results[index].reshape(np.shape(expected))
        np.testing.assert_allclose(
            found.astype(np.float64), expected.astype(np.float64), rtol=example.tolerance, atol=1e-5
        )


def three(extent: tuple[int, ...]) -> Extents:
    x, y, z = (*extent, 1, 1)[:3]
    return x, y, z


@sampled(4)
@pytest.mark.parametrize("name", CORPUS)
def test_kernels_of_the_corpus_run_on_aarch64(name: str, tmp_path: Path) -> None:
    case = case_of(name)
    arguments = case.arguments()
    compiled = case.kernel.compile(**arguments)
    bound = bind(
        compiled.metal, compiled.function.params, compiled.binding.bind(arguments), report_buffer(0)
    )
    grid = case.grid or (-(-arguments["N"] // arguments["BLOCK"]),)
    x, y, z = (*grid, 1, 1)[:3]
    order = len(name) % len(ORDERS)
    threads = (compiled.threads, 1, 1)
    buffers = [each.flat for each in bound]
    results = run_emulated(compiled.msl, buffers, threads, (x, y, z), tmp_path, order=order)
    for each, result in zip(bound, results, strict=True):
        if each.flat.flags.writeable:
            each.flat[:] = result
    expected = case.reference(**case.arguments())
    for array, values in expected.items():
        compare(array, arguments[array], values, case.tolerance)
