"""Any mapping is right, or it is refused with a code: it changes time and rounding, no results.

`.ci/run` tries 300 mappings; `EAS_RANDOM_MAPPINGS=10000` sets another number. The rates at which
they are accepted: `python -m tests.septran.mapping_rates`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, target
from hypothesis import strategies as st

from tests.septran.random_mappings import (
    MACHINES,
    MISTAKES,
    OPERATORS,
    Trial,
    draw_trial,
    try_mapping,
)

COMBINATIONS = [(operator, machine) for operator in OPERATORS for machine in MACHINES]


@st.composite
def trials(draw: st.DrawFn, operator: str, machine: str) -> Trial:
    return draw_trial(operator, machine, lambda options: draw(st.sampled_from(options)))


@pytest.mark.parametrize(("operator", "machine"), COMBINATIONS)
def test_a_random_mapping_is_right_or_refused_with_a_code(
    operator: str, machine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    is_thorough = request.config.getoption("--thorough")
    total = int(os.environ.get("EAS_RANDOM_MAPPINGS", "300" if is_thorough else "60"))

    @settings(
        max_examples=-(-total // len(COMBINATIONS)),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        database=None,
    )
    @given(trials(operator, machine))
    def check(trial: Trial) -> None:
        codes = try_mapping(trial, tmp_path)
        target(float(not codes))

    check()


def test_a_wrong_result_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The trial itself can fail: here, where the sums of a product do not begin at zero."""
    import random

    from eas.septran.flat.nodes import Fill
    from eas.septran.logic import leaves
    from tests.septran import random_mappings

    monkeypatch.setattr(random_mappings, "MISTAKES", MISTAKES[:1])
    monkeypatch.setattr(leaves, "Fill", lambda view, value, *rest: Fill(view, value + 1, *rest))
    seeds = (random.Random(seed) for seed in range(20))
    with pytest.raises(AssertionError, match="wrong"):
        for seed in seeds:
            try_mapping(draw_trial("gemm", "cpu", seed.choice), tmp_path, is_compiled=False)
