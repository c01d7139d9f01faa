"""Any mapping is right, or it is refused with a code: it changes time and rounding, no results.

`.ci/run` tries 300 mappings. `EAS_RANDOM_MAPPINGS=10000` tries that many, of fixed seeds, and holds
the rates at which they are accepted; `python -m tests.septran.mapping_rates` prints them.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, target
from hypothesis import strategies as st

from tests.septran.mapping_rates import Rates, draw, measure
from tests.septran.random_mappings import (
    ASKED,
    MACHINES,
    MISTAKES,
    OPERATORS,
    Trial,
    draw_trial,
    plant_mistake,
    try_mapping,
)
from tests.thorough import sampled

COMBINATIONS = [(operator, machine) for operator in OPERATORS for machine in MACHINES]
every_combination = pytest.mark.parametrize(("operator", "machine"), COMBINATIONS)


@st.composite
def trials(draw: st.DrawFn, operator: str, machine: str) -> Trial:
    return draw_trial(operator, machine, lambda options: draw(st.sampled_from(options)))


@sampled(3)
@every_combination
def test_a_random_mapping_is_right_or_refused_with_a_code(
    operator: str, machine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    total = 300 if request.config.getoption("--thorough") else 60

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


@pytest.mark.skipif(not ASKED, reason="EAS_RANDOM_MAPPINGS asks for no mappings of fixed seeds")
@every_combination
def test_enough_random_mappings_are_accepted_and_no_code_refuses_most(
    operator: str, machine: str
) -> None:
    count = -(-ASKED // len(COMBINATIONS))
    rates = measure(machine, operator, range(count), seed=1)
    assert rates.wrong == 0
    assert rates.is_enough or count < 200, rates


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_a_planted_mistake_is_refused_or_does_no_harm(mistake: object, tmp_path: Path) -> None:
    """One for each machine; a mapping without local tensors, for example, forgets none."""
    refused = 0
    for number, machine in enumerate(MACHINES):
        source = random.Random(number)
        trial = draw_trial("attention", machine, source.choice)
        planted = plant_mistake(trial, lambda _: mistake)
        refused += bool(try_mapping(planted, tmp_path, is_compiled=False))
    assert refused >= 2


def test_a_number_draws_the_same_mapping_in_every_run() -> None:
    first, second = (draw("cpu", "gemm", 7, seed=3) for _ in range(2))
    assert (first.yaml, first.sizes, first.dtype) == (second.yaml, second.sizes, second.dtype)
    assert first.yaml != draw("cpu", "gemm", 8, seed=3).yaml


def test_rates_need_enough_that_are_accepted_and_no_code_that_refuses_most() -> None:
    rates = Rates("cpu", "gemm", tried=100, accepted=16)
    rates.codes.update({"S401": 42, "S501": 42})
    assert rates.is_enough
    rates.codes.update({"S401": 1})
    assert not rates.is_enough
    assert not Rates("cpu", "gemm", tried=100, accepted=14).is_enough


def test_a_wrong_result_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The trial itself can fail: here, where the sums of a product do not begin at zero."""
    from eas.septran.flat.nodes import Fill
    from eas.septran.logic import leaves

    monkeypatch.setattr(leaves, "Fill", lambda view, value, *rest: Fill(view, value + 1, *rest))
    seeds = (random.Random(seed) for seed in range(20))
    with pytest.raises(AssertionError, match="wrong"):
        for seed in seeds:
            try_mapping(draw_trial("gemm", "cpu", seed.choice), tmp_path, is_compiled=False)
