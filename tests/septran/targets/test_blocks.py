"""The typed IR of block programs."""

from __future__ import annotations

import re
from pathlib import Path

from eas.septran.operators import load
from tests.septran.operators import FOLDER


def test_what_is_computed_of_columns_is_computed_once_for_each_row() -> None:
    folder = FOLDER / "flash_attention"
    operator = load(folder / "flash_attention_logic.py", folder / "cpu.map.yaml")
    lowered = operator.build_flat(H=1, M=128, N=128, D=64)
    [(_, kernel)] = operator._compiled(lowered)  # pyright: ignore[reportPrivateUsage]
    assert re.findall(r": f32(\[.*\]) = exp ", kernel.ir) == ["[128, 128]", "[128]"]


def test_the_padding_of_a_vector_is_in_its_array(tmp_path: Path) -> None:
    overlay = tmp_path / "pad.map.yaml"
    overlay.write_text(
        "task_mappings: {block: {mems: {weight: SHARED}, layout: {weight: {pad: 4}}}}\n", "utf-8"
    )
    folder = FOLDER / "layernorm"
    files = [folder / "layernorm.apple_gpu.map.yaml", overlay]
    text = load(folder / "layernorm_logic.py", files).emit("metal", M=8, N=32)
    assert "threadgroup float weight_shared[36];" in text
