"""`septran explain`: every op that the compiler inserts has a reason and its lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eas.ir.types import DTYPES
from eas.septran.flat.nodes import Alloc, Barrier, Copy, For, Start, Wait, walk
from eas.septran.operators import load
from eas.support.location import Loc
from tests.septran.operators import EXAMPLES, FOLDER, Example, case_of
from tests.thorough import sampled

SnapshotCheck = Callable[[str, str], None]
CASES = [(example, mapping) for example in EXAMPLES for mapping in example.mappings]
GEMM = FOLDER / "gemm"


def line_of(loc: Loc | None) -> str:
    """The text of a place; empty if there is none."""
    return "" if loc is None else loc.source.line(loc.line).strip()


@sampled(4)
@pytest.mark.parametrize(
    ("example", "mapping"), CASES, ids=[f"{e.name}-{m.name}" for e, m in CASES]
)
def test_every_inserted_op_has_a_reason_and_both_places(example: Example, mapping: Path) -> None:
    operator = load(example.logic_file, mapping)
    text = mapping.read_text("utf-8")
    dtype = DTYPES[operator.machine.default_dtype].numpy.str
    arrays, _ = case_of(example, mapping, example.sizes[-1], dtype)
    explained = operator.explain(*arrays)
    ops = [stmt for kernel in operator.flat(*arrays).kernels for stmt in walk(kernel.body)]
    inserted = [
        stmt
        for stmt in ops
        if isinstance(stmt, Alloc | Copy | Start | Wait | Barrier)
        or (isinstance(stmt, For) and stmt.pipelined > 1)
    ]
    assert len(explained.inserted) == len(inserted)
    memories = operator.machine.mems.items()
    asked = [name for name, each in memories if each.kind != "global" and f": {name}" in text]
    assert inserted or not asked
    for op in explained.inserted:
        assert op.causes
        for cause in op.causes:
            assert cause.because
            assert line_of(cause.yaml)
            assert line_of(cause.python)
            assert cause.yaml is not None and cause.python is not None
            assert cause.yaml.source.name == mapping.name
            assert cause.python.source.name == example.logic


def test_the_slots_of_a_pipeline_are_explained_by_the_line_that_asks_for_them() -> None:
    operator = load(GEMM / "gemm_logic.py", GEMM / "gemm.apple_gpu.map.yaml")
    explained = operator.explain(M=512, N=512, K=512)
    lines = {
        op.text.split(":")[0]: [
            c.yaml.source.line(c.yaml.line).strip() for c in op.causes if c.yaml
        ]
        for op in explained.inserted
    }
    mems = "mems: {C: REGISTER, A: SHARED, B: SHARED}"
    assert lines["alloc C_register"] == [mems]
    assert lines["alloc A_shared"] == lines["alloc B_shared"] == [mems, "pipeline: 2"]
    assert lines["for p < 32 pipelined 2"] == ["pipeline: 2"]


def test_gemm_is_explained(explanation_snapshot: SnapshotCheck) -> None:
    operator = load(GEMM / "gemm_logic.py", GEMM / "gemm.awesomedsa.map.yaml")
    explanation_snapshot("gemm.awesomedsa", f"{operator.explain(M=100, N=128, K=96)}\n")


def test_the_memory_that_metal_adds_is_listed_with_its_reason() -> None:
    softmax = FOLDER / "softmax"
    operator = load(softmax / "softmax_logic.py", softmax / "softmax.apple_gpu.map.yaml")
    explained = operator.explain(M=64, N=512)
    added = [room for room in explained.rooms if room.size == "added by Metal"]
    text = operator.emit("metal", M=64, N=512)
    assert added
    for room in added:
        assert room.memory == "SHARED"
        assert f" {room.name}[" in text
        assert "softmax_logic.py:" in room.because
    assert "the partials of a reduction or a scan" in str(explained)


def test_a_padded_row_is_in_the_table_of_memories(tmp_path: Path) -> None:
    overlay = tmp_path / "padded.map.yaml"
    overlay.write_text("task_mappings: {gemm_block: {layout: {A: {pad: 4}}}}\n", "utf-8")
    mapping = [GEMM / "gemm.apple_gpu.map.yaml", overlay]
    rooms = load(GEMM / "gemm_logic.py", mapping).explain(M=64, N=64, K=64).rooms
    [room] = [room for room in rooms if room.name == "A_shared"]
    assert (room.size, room.bytes) == ("2 slots of 32 x 16 + 4 f32", 2 * 32 * 20 * 4)


def test_large_sizes_are_counted_without_walking_every_trip() -> None:
    operator = load(GEMM / "gemm_logic.py", GEMM / "gemm.apple_gpu.map.yaml")
    size = 2**15
    kernel, loop = operator.explain(M=size, N=size, K=size).movement
    assert (kernel.runs, loop.runs) == ((size // 32) ** 2, (size // 32) ** 2 * (size // 16))
    assert kernel.total.flops == loop.total.flops == 2 * size**3
    assert kernel.total.copies == 2 * loop.runs + kernel.runs
