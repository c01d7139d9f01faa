"""SepTran as it was first sketched: its logic, mappings and primitives work as they stand.

Only `gemm_host_logic` is added to the logic.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from eas.septran.flat.interpret import run_module
from eas.septran.operators import Operator, load

SEED = Path(__file__).parent / "files" / "seed"


def operator_of(
    mappings: Sequence[str], primitives: Sequence[str] = (), **options: object
) -> Operator:
    paths = [SEED / name for name in mappings]
    own = [SEED / name for name in primitives]
    return load(SEED / "gemm_logic.py", paths, primitives=own, **options)  # pyright: ignore[reportArgumentType]


def text_of(operator: Operator, kind: str) -> str:
    return operator.emit(kind, M=512, N=512, K=512)


def lines_of(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if not line.strip().startswith("#")]


@pytest.mark.parametrize(
    ("mappings", "primitives"),
    [
        (["gemm_on_nvidia_gpu.mapping.yaml"], []),
        (
            ["gemm_on_nvidia_gpu.mapping.yaml", "gemm_on_nvidia_gpu.map.yaml"],
            ["primitives_nvidia.py"],
        ),
    ],
)
def test_the_mapping_is_a_pipelined_program_of_tilelang(
    mappings: list[str], primitives: list[str]
) -> None:
    lines = lines_of(text_of(operator_of(mappings, primitives), "tilelang"))
    assert 'A_shared = T.alloc_shared((128, 128), "float16")' in lines
    assert 'B_shared = T.alloc_shared((128, 128), "float16")' in lines
    loop = lines.index("for step in T.Pipelined(4, num_stages=3):")
    assert lines[loop + 1 : loop + 4] == [
        "T.copy(A[128 * i : 128 * i + 128, 128 * step : 128 * step + 128], A_shared)",
        "T.copy(B[128 * step : 128 * step + 128, 128 * j : 128 * j + 128], B_shared)",
        "T.gemm(A_shared, B_shared, C_register)",
    ]


def test_an_overlay_for_nvidia_gpu_alone_is_completed() -> None:
    operator = operator_of(["gemm_on_nvidia_gpu.map.yaml"], ["primitives_nvidia.py"])
    assert operator.mapping.entrypoint == "gemm_host"
    assert "T.gemm(A_shared, B_shared, C_register)" in lines_of(text_of(operator, "tilelang"))


def test_tvmscript_calls_the_bound_symbol() -> None:
    mappings = ["gemm_on_nvidia_gpu.mapping.yaml", "gemm_on_nvidia_gpu.map.yaml"]
    text = text_of(operator_of(mappings, ["primitives_nvidia.py"]), "tvmscript")
    assert text.count('T.call_extern("void", "nvidia_wmma", ') == 1


@pytest.mark.parametrize("kind", ["c", "tvmscript"])
def test_an_overlay_for_the_accelerator_alone_calls_its_library(kind: str) -> None:
    operator = operator_of(["gemm_on_awesomedsa.map.yaml"], ["primitives_dsa.py"])
    text = text_of(operator, kind)
    assert text.count("vendor_lib_systolic_compute") == 1
    assert text.count("vendor_lib_dma_copy") == 4  # C in and out, and a tile of A and of B
    assert "vendor_lib_mma" not in text


def test_a_product_that_nothing_binds_is_the_first_one_of_the_machine(tmp_path: Path) -> None:
    overlay = tmp_path / "gemm_on_awesomedsa.map.yaml"
    overlay.write_text("task_mappings: {}\n", "utf-8")
    text = text_of(load(SEED / "gemm_logic.py", overlay), "c")
    assert text.count("vendor_lib_mma") == 1
    assert "vendor_lib_systolic_compute" not in text


def arrays_of(dtype: str) -> list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    source = np.random.default_rng(0)
    return [source.standard_normal(s).astype(dtype) for s in ((67, 45), (67, 33), (33, 45))]


def test_the_c_program_adds_the_product_to_what_was_there() -> None:
    C, A, B = arrays_of("f4")
    expected = C.astype("f8") + A.astype("f8") @ B.astype("f8")
    operator_of(["gemm_on_awesomedsa.map.yaml"], ["primitives_dsa.py"])(C, A, B)
    assert np.abs(C - expected).max() <= 2e-5 * (1 + np.abs(expected).max())


def test_the_mapping_means_the_product_too() -> None:
    C, A, B = arrays_of("f2")
    expected = C.astype("f8") + A.astype("f8") @ B.astype("f8")
    lowered = operator_of(["gemm_on_nvidia_gpu.mapping.yaml"]).build_flat(C, A, B)
    run_module(lowered.module, [C, A, B], machine=lowered.machine)
    assert np.abs(C - expected).max() <= 2e-2 * (1 + np.abs(expected).max())


def test_the_choices_of_the_second_phase_load_and_are_resolved() -> None:
    tune = {
        "gemm_block_gpu.block_size_M": 64,
        "gemm_block_gpu.pipeline_depth": 2,
        "gemm_block_gpu.leaf_task_bindings.gemm_leaf_logic": "gemm_leaf_tensorcore",
    }
    mappings = ["gemm_on_nvidia_gpu.mapping.yaml", "tuned_on_nvidia_gpu.map.yaml"]
    lines = lines_of(text_of(operator_of(mappings, tune=tune), "tilelang"))
    assert 'A_shared = T.alloc_shared((64, 128), "float16")' in lines
    assert "for step in T.Pipelined(4, num_stages=2):" in lines


HOSTS = {
    "all at once": """
    task.launch(gemm_block_logic, C, A, B)
""",
    "streams": """
    Cp = task.partition(C, by="blocks", shape_from="A")
    Ap = task.partition(A, by="blocks", shape_from="A")
    Bp = task.partition(B, by="blocks", shape_from="A")
    for i, j in task.parallel_range(Cp.shape):
        task.launch(gemm_block_logic, Cp[i, j], Ap[i, :], Bp[:, j])
""",
    "panels": """
    b = task.tunable("block_size")
    Cp = task.partition(C, by="blocks", tile=(b, b))
    Ap = task.partition(A, by="rows", tile=b)
    Bp = task.partition(B, by="blocks", tile=(B.shape[0], b))
    for i, j in task.parallel_range(*Cp.shape):
        task.launch(gemm_block_logic, Cp[i, j], Ap[i, 0], Bp[0, j])
""",
    "rows": """
    Cp = task.partition(C, by="rows", tile=task.tunable("block_size"))
    Ap = task.partition(A, by="rows", tile=task.tunable("block_size"))
    for i in task.parallel_range(Cp.shape[0]):
        task.launch(gemm_block_logic, Cp[i, 0], Ap[i, 0], B)
""",
    "tiles": """
    Cp = task.partition(C, by="blocks", shape_from="A")
    Ap = task.partition(A, by="blocks", shape_from="A")
    Bp = task.partition(B, by="blocks", shape_from="A")
    for i, j in task.parallel_range(Cp.shape):
        for step in task.sequential_range(Ap.shape[1]):
            task.launch(gemm_block_logic, Cp[i, j], Ap[i, step], Bp[step, j])
""",
}


def logic_with(host: str, folder: Path) -> Path:
    """The sketch's logic with a host of our own."""
    sketch, _ = (SEED / "gemm_logic.py").read_text("utf-8").split("# The one task that")
    path = folder / "gemm_logic.py"
    path.write_text(f"{sketch}@task.define\ndef gemm_host_logic(C, A, B):{HOSTS[host]}", "utf-8")
    return path


@pytest.mark.parametrize("host", HOSTS)
def test_each_way_to_write_the_missing_task_is_pipelined(host: str, tmp_path: Path) -> None:
    mapping = SEED / "gemm_on_nvidia_gpu.mapping.yaml"
    lines = lines_of(text_of(load(logic_with(host, tmp_path), mapping), "tilelang"))
    assert 'A_shared = T.alloc_shared((128, 128), "float16")' in lines
    assert 'B_shared = T.alloc_shared((128, 128), "float16")' in lines
    loop = lines.index("for step in T.Pipelined(4, num_stages=3):")
    assert [line.partition("(")[0] for line in lines[loop + 1 : loop + 4]] == [
        "T.copy", "T.copy", "T.gemm",
    ]  # fmt: skip
    assert len([line for line in lines if line.startswith("T.copy(")]) == 4  # and C in and out


@pytest.mark.parametrize("inner", [32, 24])
@pytest.mark.parametrize("host", HOSTS)
def test_tiles_of_ragged_tiles_are_right(host: str, inner: int, tmp_path: Path) -> None:
    mapping = tmp_path / "gemm_on_awesomedsa.map.yaml"
    mapping.write_text(
        f"""
entrypoint: host
task_mappings:
  host:
    task_name: gemm_host_logic
    proc: HOST
    tunables: {{block_size: 32}}
    calls: {{gemm_block_logic: block}}
  block:
    task_name: gemm_block_logic
    proc: CORE
    mems: {{C: ACC, A: SPM, B: SPM}}
    tunables: {{block_size: {inner}}}
""",
        "utf-8",
    )
    C, A, B = arrays_of("f4")
    expected = C.astype("f8") + A.astype("f8") @ B.astype("f8")
    lowered = load(logic_with(host, tmp_path), mapping).build_flat(C, A, B)
    run_module(lowered.module, [C, A, B], machine=lowered.machine)
    assert np.abs(C - expected).max() <= 2e-5 * (1 + np.abs(expected).max())


def test_one_file_of_primitives_needs_no_list() -> None:
    overlay = SEED / "gemm_on_awesomedsa.map.yaml"
    operator = load(SEED / "gemm_logic.py", overlay, primitives=SEED / "primitives_dsa.py")
    assert "vendor_lib_systolic_compute" in text_of(operator, "c")
