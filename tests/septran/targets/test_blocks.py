"""The typed IR of block programs."""

from __future__ import annotations

import re

from eas.septran.operators import load
from tests.septran.operators import FOLDER


def test_what_is_computed_of_columns_is_computed_once_for_each_row() -> None:
    folder = FOLDER / "flash_attention"
    operator = load(folder / "flash_attention_logic.py", folder / "cpu.map.yaml")
    lowered = operator.build_flat(H=1, M=128, N=128, D=64)
    [(_, kernel)] = operator._compiled(lowered)  # pyright: ignore[reportPrivateUsage]
    assert re.findall(r": f32(\[.*\]) = exp ", kernel.ir) == ["[128, 128]", "[128]"]
