"""Estimates, their correction, and mappings in which everything is open."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from eas.septran.files import load_machine, tunes
from eas.septran.logic.loading import load_logic
from eas.septran.operators import load
from eas.septran.tuner.automatic import automatic_mapping
from eas.septran.tuner.cost import estimate, resident
from eas.septran.tuner.curves import draw_curves
from eas.septran.tuner.prediction import Model, facts_from, facts_of
from eas.septran.tuner.problem import Candidates, Problem
from eas.septran.tuner.residual import fit, rank_correlation
from eas.septran.tuner.surrogate import (
    Described,
    Posterior,
    expected_gains,
    expected_logs,
    posteriors,
)
from eas.septran.tuner.work import from_data, to_data, work_of
from tests.septran.tuner.problems import LOGIC

EXAMPLES = Path(__file__).parents[3] / "examples/septran"


def seconds(size: int) -> float:
    operator = load(LOGIC, EXAMPLES / "gemm/gemm.cpu.map.yaml")
    return estimate(work_of(operator.flat(M=size, N=size, K=size), {}), operator.machine).seconds


def test_more_work_is_estimated_to_take_longer() -> None:
    assert 4 < seconds(512) / seconds(256) < 16


def test_tiny_tiles_are_estimated_to_be_slow(tmp_path: Path) -> None:
    text = (EXAMPLES / "gemm/gemm.cpu.map.yaml").read_text("utf-8")
    path = tmp_path / "tiny.map.yaml"
    path.write_text(text.replace("block_m: 128, block_n: 256", "block_m: 4, block_n: 4"), "utf-8")
    operator = load(LOGIC, path)
    tiny = estimate(work_of(operator.flat(M=256, N=256, K=256), {}), operator.machine)
    assert tiny.seconds > 2 * seconds(256)
    assert "statements" in tiny.reasons


def test_scratch_memory_limits_the_programs_on_a_core_of_a_gpu() -> None:
    operator = load(LOGIC, EXAMPLES / "gemm/gemm.apple_gpu.map.yaml")
    (work,) = work_of(operator.flat(M=256, N=256, K=256), {})
    assert 1 <= resident(work, operator.machine) < 8


def test_products_that_are_packed_are_estimated_to_take_longer() -> None:
    operator = load(LOGIC, EXAMPLES / "gemm/gemm.openblas.map.yaml")
    (work,) = work_of(operator.flat(M=512, N=512, K=512), {})
    assert estimate([work], operator.machine).terms["packing"] > 0
    (small,) = work_of(operator.flat(M=64, N=64, K=64), {})
    assert estimate([small], operator.machine).terms["packing"] == 0


def test_what_is_read_again_comes_from_the_cache() -> None:
    operator = load(LOGIC, EXAMPLES / "gemm/gemm.openblas.map.yaml")
    works = work_of(operator.flat(M=1024, N=1024, K=1024), {})
    memory = operator.machine.mems["GLOBAL"].model_copy(update={"cached": None})
    mems = {**operator.machine.mems, "GLOBAL": memory}
    without = operator.machine.model_copy(update={"mems": mems})
    cached = estimate(works, operator.machine).terms["global"]
    assert cached < estimate(works, without).terms["global"]


def test_work_survives_a_file() -> None:
    operator = load(LOGIC, EXAMPLES / "gemm/gemm.cpu.map.yaml")
    works = work_of(operator.flat(M=200, N=200, K=200), {})
    assert from_data(json.loads(json.dumps(to_data(works)))) == works


def test_a_correction_learns_what_estimates_get_wrong() -> None:
    """Problems whose errors have means of their own."""
    random = np.random.default_rng(0)
    tables = [random.standard_normal((60, 5)) for _ in range(3)]
    errors = [0.7 * table[:, 1] - 0.4 * table[:, 3] + n for n, table in enumerate(tables)]
    fitted = fit(list(zip(tables[:2], errors[:2], strict=True)), 1e-3)
    np.testing.assert_allclose(fitted.predict(tables[2]), errors[2] - 2, atol=0.05)


def test_a_correction_leaves_out_what_problems_disagree_on() -> None:
    random = np.random.default_rng(0)
    tables = [random.standard_normal((60, 2)) for _ in range(2)]
    errors = [table @ (0.5, sign) for table, sign in zip(tables, (1.0, -0.2), strict=True)]
    weights = fit(list(zip(tables, errors, strict=True)), 1e-3).weights
    assert weights[0] == pytest.approx(0.5, abs=0.1)
    assert weights[1] == 0


def test_features_that_never_change_do_no_harm() -> None:
    table = np.ones((6, 3))
    fitted = fit([(table, np.full(6, 0.5))])
    np.testing.assert_allclose(fitted.predict(table), 0.0)


def described(places: list[float]) -> Described:
    column = np.array(places)[:, None]
    return Described(column, column, np.zeros(len(places)))


def test_measurements_say_most_about_what_is_near() -> None:
    tried, logs = described([0.0, 0.1, 0.9, 1.0]), np.array([0.0, 0.0, 1.0, 1.0])
    found = posteriors(tried, logs, described([0.05, 0.95, 3.0]))
    near, far, away = expected_logs(found)
    assert near < 0.3 and far > 0.7 and near < away < far
    assert all(each.deviation[2] > 2 * each.deviation[0] for each in found)


def test_what_is_expected_to_be_faster_gains_most() -> None:
    posterior = Posterior(1.0, np.array([0.0, 1.0, 1.0]), np.array([0.1, 0.1, 1.0]))
    sure, slow, unsure = expected_gains(0.5, [posterior])
    assert sure == pytest.approx(0.5, abs=0.01)
    assert 0 <= slow < 1e-3 < unsure < sure


def test_rank_correlation_is_that_of_spearman() -> None:
    assert rank_correlation([1, 2, 3], [10, 20, 30]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert rank_correlation([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(0.9486833)
    assert rank_correlation([1, 1], [1, 2]) == 0


LOGICS = [
    ("gemm/gemm_logic.py", None, ((40, 48), (40, 24), (24, 48))),
    ("softmax/softmax_logic.py", "softmax", ((40, 24), (40, 24))),
    ("flash_attention/flash_attention_logic.py", "attention", ((2, 40, 16),) * 4),
]


@pytest.mark.parametrize("machine", ["cpu", "apple_gpu", "awesomedsa"])
@pytest.mark.parametrize(("logic", "entry", "shapes"), LOGICS)
def test_a_mapping_with_everything_open_has_legal_points(
    machine: str,
    logic: str,
    entry: str | None,
    shapes: tuple[tuple[int, ...], ...],
    tmp_path: Path,
) -> None:
    tasks = load_logic(EXAMPLES / logic).tasks
    text = automatic_mapping(tasks, load_machine(machine), (48,), entry)
    path = tmp_path / "automatic.map.yaml"
    path.write_text(text, "utf-8")
    candidates = Candidates(Problem(str(EXAMPLES / logic), (str(path),), shapes, "f32"))
    assert len(tunes(candidates.base.mapping)) > 2
    model = Model(candidates.space, facts_of(candidates))
    random = np.random.default_rng(1)
    points = [candidates.space.draw(random) for _ in range(60)]
    assert any(map(model.is_legal, points))


def test_the_features_of_all_operators_are_as_many() -> None:
    gemm = load(LOGIC, EXAMPLES / "gemm/gemm.cpu.map.yaml")
    softmax = load(
        EXAMPLES / "softmax/softmax_logic.py", EXAMPLES / "softmax/softmax.apple_gpu.map.yaml"
    )
    one = facts_from(work_of(gemm.flat(M=32, N=32, K=32), {}), gemm.machine)
    other = facts_from(work_of(softmax.flat(M=32, N=32), {}), softmax.machine)
    assert len(one.features) == len(other.features)


def test_curves_are_an_svg_with_a_line_each() -> None:
    text = draw_curves("a <title>", "µs", {"evolution": [3.0, 2.0, 1.0], "random": [3.0]})
    assert text.startswith("<svg ")
    assert text.count("<polyline ") == 2
    assert "a &lt;title&gt;" in text


def test_trials_are_dots_at_their_numbers() -> None:
    each = [float("inf"), 3.0, float("inf"), 1.0]
    text = draw_curves("title", "µs", {"a trial": each, "best": each}, dots="a trial")
    root = ElementTree.fromstring(text)
    dots = [float(dot.get("cx", "")) for dot in root.iter("{http://www.w3.org/2000/svg}circle")]
    (line,) = root.iter("{http://www.w3.org/2000/svg}polyline")
    assert dots == [236.7, 570.0]
    assert [point.split(",")[0] for point in line.get("points", "").split()] == ["236.7", "570.0"]
    assert draw_curves("title", "µs", {"a trial": [float("inf")]}, "a trial").count("circle") == 0
