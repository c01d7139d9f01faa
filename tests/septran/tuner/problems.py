"""A gemm with open values, and tuners whose times come from a formula in place of a clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from eas.septran.tuner.measure import Trial
from eas.septran.tuner.problem import Problem
from eas.tuning.outcomes import Outcome

LOGIC = Path(__file__).parents[3] / "examples/septran/gemm/gemm_logic.py"

MAPPING = """\
# A comment at the head.
machine: cpu
entrypoint: gemm_host
task_mappings:
  gemm_host:
    task_name: gemm_host_logic
    proc: HOST
    mems: {C: GLOBAL, A: GLOBAL, B: GLOBAL}
    tunables:
      block_m: !tune {type: pow2, low: 8, high: 32}
      block_n: !tune {type: pow2, low: 8, high: 32}
    calls: {gemm_block_logic: gemm_block}
  gemm_block:
    task_name: gemm_block_logic
    proc: BLOCK
    mems: {C: REGISTER, A: !tune {type: memory, values: [SHARED, NONE]}, B: SHARED}
    tunables: {block_k: !tune {type: int, low: 8, high: 16, step: 8}}  # one more
    pipeline: !tune {type: choice, values: [1, 2]}
constraints: ["gemm_host.block_m * gemm_host.block_n <= 512"]
"""

SIZE = 64


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    path = tmp_path / "gemm.map.yaml"
    path.write_text(MAPPING, "utf-8")
    return Problem(str(LOGIC), (str(path),), ((SIZE, SIZE),) * 3, "f32")


def formula(values: dict[str, object]) -> float:
    """Seconds of a candidate, as if somebody had measured them."""
    m, n = int(str(values["gemm_host.block_m"])), int(str(values["gemm_host.block_n"]))
    k = int(str(values["gemm_block.block_k"]))
    staged = values["gemm_block.mems.A"] == "SHARED"
    return 1e-5 * (1 + abs(m - 32) / 32 + abs(n - 64) / 64 + abs(k - 16) / 16 + 0.2 * staged)


def by_formula(trial: Trial) -> Outcome:
    seconds = formula(dict(trial.values))
    beside = () if trial.best is None else (formula(dict(trial.best)),)
    return Outcome("ok", samples=(seconds,), beside=beside)
