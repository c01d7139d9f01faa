"""`@eas.autotune`: the fastest config that is right, measured once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def tuning_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "tuning.json"
    monkeypatch.setenv("EAS_TUNING_FILE", str(path))
    monkeypatch.setenv("EAS_BACKEND", "cpu")
    return path


@eas.kernel
def accumulate(x: Any, y: Any, N: Any, BLOCK: eas.constexpr) -> None:
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(y, i, mk.load(y, i, mask=i < N) + mk.load(x, i, mask=i < N), mask=i < N)


@eas.kernel
def accumulate_rows(x: Any, y: Any, N: Any, BLOCK: eas.constexpr) -> None:
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    if i < N:
        y[i] += x[i]


@eas.kernel
def moody(x: Any, y: Any, N: Any, KIND: eas.constexpr) -> None:
    """A kernel that is right, wrong, endless, fatal or refused, by its constexpr."""
    i = mk.arange(0, 64)
    value = mk.load(x, i, mask=i < N)
    if KIND == "wrong":
        value = value + 1.0
    if KIND == "endless":
        while mk.load(x, 0) == 0.0:
            value = value + 1.0
    if KIND == "fatal":
        mk.store(y, mk.cast(i, mk.i64) + (1 << 44), value)
    if KIND == "refused":
        value = value + undefined_name  # noqa: F821  # pyright: ignore
    mk.store(y, i, value, mask=i < N)


CONFIGS = [eas.Config(BLOCK=64), eas.Config(BLOCK=256)]
FAST: dict[str, Any] = {"rep": 1, "warmup": 0}


def arrays(n: int = 1000) -> tuple[Array, Array]:
    return np.arange(n, dtype=np.float32), np.ones(n, np.float32)


def test_a_tuned_launch_has_the_effect_of_one_launch() -> None:
    tuned = eas.autotune(CONFIGS, key=["N"], **FAST)(accumulate)
    x, y = arrays()
    tuned(x, y, 1000)
    np.testing.assert_array_equal(y, x + 1)


def test_a_view_with_strides_is_changed_once() -> None:
    tuned = eas.autotune(CONFIGS, key=["N"], **FAST)(accumulate_rows)
    x, y = np.arange(10, dtype=np.float32), np.ones(30, np.float32)
    tuned(x, y[::3], 10)
    np.testing.assert_array_equal(y[::3], x + 1)
    np.testing.assert_array_equal(y[1::3], 1)


def test_a_view_that_a_kernel_refuses_is_refused_by_name() -> None:
    tuned = eas.autotune(CONFIGS, key=["N"], **FAST)(accumulate)
    x, y = np.arange(10, dtype=np.float32), np.ones(30, np.float32)
    with pytest.raises(eas.LaunchError, match="argument `y`: the kernel counts offsets"):
        tuned(x, y[::3], 10)


def test_memory_that_is_shared_with_a_file_is_changed_once(tmp_path: Path) -> None:
    tuned = eas.autotune(CONFIGS, key=["N"], **FAST)(accumulate)
    x, _ = arrays()
    y = np.memmap(tmp_path / "y", np.float32, "w+", shape=1000)
    tuned(x, y, 1000)
    np.testing.assert_array_equal(y, x)


def test_one_array_for_two_parameters_stays_one() -> None:
    tuned = eas.autotune(CONFIGS, key=["N"], **FAST)(accumulate)
    x, _ = arrays()
    tuned(x, x, 1000)
    np.testing.assert_array_equal(x, 2 * np.arange(1000, dtype=np.float32))


def test_tensors_are_changed_once() -> None:
    tuned = eas.autotune(CONFIGS, key=["N"], **FAST)(accumulate)
    x, y = eas.arange(1000, dtype=mk.f32), eas.ones(1000)
    tuned(x, y, 1000)
    np.testing.assert_array_equal(y.numpy(), np.arange(1000, dtype=np.float32) + 1)


@pytest.mark.parametrize("backend", ["interpret", "cpu", "msl-host"])
def test_every_backend_is_tuned(backend: Any) -> None:
    tuned = eas.autotune(CONFIGS, key=["N"], **FAST)(accumulate)
    x, y = arrays(100)
    tuned(x, y, 100, _backend=backend)
    np.testing.assert_array_equal(y, x + 1)
    assert [each.outcome.status for each in tuned.trials] == ["ok", "ok"]


def test_candidates_that_are_wrong_endless_fatal_or_refused_never_win() -> None:
    kinds = ["right", "wrong", "endless", "fatal", "refused"]
    configs = [eas.Config(KIND=kind) for kind in kinds]
    kernel = eas.Kernel(moody.fn, checked=False)
    tuned = eas.autotune(configs, timeout=4.0, **FAST)(kernel)
    x, y = np.zeros(64, np.float32), np.ones(64, np.float32)
    tuned[1](x, y, 64)
    np.testing.assert_array_equal(y, x)
    statuses = [each.outcome.status for each in tuned.trials]
    assert statuses == ["ok", "wrong", "timeout", "crashed", "refused"]
    assert tuned.trials[1].outcome.reason == "`y[0]` is 1.0 instead of 0.0"
    assert "undefined_name" in tuned.trials[4].outcome.reason
    assert tuned.best(x, y, 64) == eas.Config(KIND="right")


def test_a_first_config_that_fails_is_not_the_reference() -> None:
    configs = [eas.Config(KIND="refused"), eas.Config(KIND="right"), eas.Config(KIND="wrong")]
    tuned = eas.autotune(configs, **FAST)(moody)
    x, y = np.zeros(64, np.float32), np.ones(64, np.float32)
    tuned[1](x, y, 64)
    np.testing.assert_array_equal(y, x)


def test_configs_of_which_none_works_are_named_with_the_reasons() -> None:
    configs = [eas.Config(KIND="refused"), eas.Config(KIND="endless")]
    tuned = eas.autotune(configs, timeout=0.5, **FAST)(moody)
    x, y = np.zeros(64, np.float32), np.ones(64, np.float32)
    with pytest.raises(eas.LaunchError, match=r"(?s)no config works:.*undefined_name.*timeout"):
        tuned[1](x, y, 64)
    np.testing.assert_array_equal(y, 1)


def test_configs_that_fail_alike_are_reported_once_with_the_place() -> None:
    tuned = eas.autotune(CONFIGS, **FAST)(accumulate)
    x, y = arrays(100)
    with pytest.raises(eas.LaunchError) as caught:
        tuned(x, y, 200)
    names, message = "; ".join(map(str, CONFIGS)), str(caught.value)
    reason = "error[R0101]: `y` is read out of bounds, at offset 100\n"
    assert message.startswith(
        f"kernel `accumulate`: no config works:\n  {names}: failed, {reason}\n"
        f"with {CONFIGS[0]}:\n{reason}"
    )
    assert message.count("error[R0101]") == 2
    assert "test_autotune.py:32" in message
    assert "program 1 of a grid of 4, lane 36" in message


def test_a_grid_that_is_missing_is_the_same_reason_for_all_configs() -> None:
    @eas.kernel
    def fill(y: Any, M: Any, N: Any, BM: eas.constexpr, BN: eas.constexpr) -> None:
        i = mk.program_id(1) * BM + mk.arange(0, BM)
        j = mk.program_id(0) * BN + mk.arange(0, BN)
        inside = (i[:, None] < M) & (j[None, :] < N)
        mk.store(y, i[:, None] * N + j[None, :], 1.0, mask=inside)

    sizes = [(16, 16), (8, 16), (8, 32), (16, 8), (32, 8)]
    configs = [eas.Config(BM=rows, BN=columns) for rows, columns in sizes]
    with pytest.raises(eas.LaunchError) as caught:
        eas.autotune(configs, **FAST)(fill)(np.zeros((20, 20), np.float32), 20, 20)
    message = str(caught.value)
    assert "BM=16, BN=8; 1 more: refused, give a grid" in message
    assert message.count("give a grid") == 1
    assert "a constexpr `BLOCK` (there is none)" in message


def test_a_key_is_measured_once() -> None:
    tuned = eas.autotune(CONFIGS, key=["N"], **FAST)(accumulate)
    x, y = arrays()
    tuned(x, y, 1000)
    tuned.trials.clear()
    tuned(x, y, 1000)
    assert tuned.trials == []
    tuned(x, y, 999)
    assert len(tuned.trials) == 2


def test_another_dtype_is_measured_anew() -> None:
    tuned = eas.autotune(CONFIGS, **FAST)(accumulate)
    x, y = arrays()
    tuned(x, y, 1000)
    tuned.trials.clear()
    tuned(x.astype(np.float64), y.astype(np.float64), 1000)
    assert len(tuned.trials) == 2


PROGRAM = """
import numpy as np, eas
from eas import mk

@eas.autotune([eas.Config(BLOCK=64), eas.Config(BLOCK=128)], key=["N"], rep=1, warmup=0)
@eas.kernel
def scale(x, N, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK) + mk.program_id(0) * BLOCK
    mk.store(x, i, helper(mk.load(x, i, mask=i < N)), mask=i < N)

def helper(v):
    return v * {factor}

x = np.ones({n}, np.float32)
scale(x, {n})
assert (x == {factor}).all()
print(len(scale.trials))
"""


def run(folder: Path, factor: int = 2, n: int = 100) -> str:
    path = folder / "program.py"
    path.write_text(PROGRAM.format(factor=factor, n=n))
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_second_process_reuses_the_file(tmp_path: Path, tuning_file: Path) -> None:
    assert run(tmp_path) == "2"
    assert run(tmp_path) == "0"
    (entry,) = json.loads(tuning_file.read_text())["entries"].values()
    assert entry["config"] in ("BLOCK=64", "BLOCK=128")


@pytest.mark.parametrize("number", ["another", 7, -1, True, 1e9, None])
def test_an_entry_whose_number_is_not_its_configs_is_measured_anew(
    tuning_file: Path, number: object
) -> None:
    x, y = arrays()
    eas.autotune(CONFIGS, key=["N"], **FAST)(accumulate)(x, y, 1000)
    content = json.loads(tuning_file.read_text())
    (entry,) = content["entries"].values()
    entry["number"] = 1 - entry["number"] if number == "another" else number
    tuning_file.write_text(json.dumps(content))
    tuned = eas.autotune(CONFIGS, key=["N"], **FAST)(accumulate)
    tuned(x, y, 1000)
    assert len(tuned.trials) == 2


def test_each_constant_is_measured(tuning_file: Path) -> None:
    @eas.kernel
    def power(x: Any, N: Any, TIMES: eas.constexpr, BLOCK: eas.constexpr) -> None:
        i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
        v = mk.load(x, i, mask=i < N)
        mk.store(x, i, v * TIMES, mask=i < N)

    tuned = eas.autotune(CONFIGS, key=["N"], **FAST)(power)
    for times in (2, 3):
        x = np.ones(100, np.float32)
        tuned.trials.clear()
        tuned(x, 100, times)
        assert (x == times).all()
        assert len(tuned.trials) == 2
    assert len(json.loads(tuning_file.read_text())["entries"]) == 2


def test_a_changed_helper_is_measured_anew(tmp_path: Path) -> None:
    assert run(tmp_path) == "2"
    assert run(tmp_path, factor=3) == "2"
    assert run(tmp_path, factor=3) == "0"


def test_another_device_is_measured_anew(
    tuning_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tuned = eas.autotune(CONFIGS, key=["N"], **FAST)(accumulate)
    x, y = arrays()
    monkeypatch.setenv("EAS_NUM_THREADS", "2")
    tuned(x, y, 1000)
    monkeypatch.setenv("EAS_NUM_THREADS", "3")
    again = eas.autotune(CONFIGS, key=["N"], **FAST)(accumulate)
    again(x, y, 1000)
    assert len(again.trials) == 2
    assert len(json.loads(tuning_file.read_text())["entries"]) == 2


def test_other_configs_are_measured_anew() -> None:
    x, y = arrays()
    eas.autotune(CONFIGS, key=["N"], **FAST)(accumulate)(x, y, 1000)
    tuned = eas.autotune([*CONFIGS, eas.Config(BLOCK=128)], key=["N"], **FAST)(accumulate)
    tuned(x, y, 1000)
    assert len(tuned.trials) == 3


def test_pruned_configs_get_no_trial() -> None:
    def prune(configs: list[eas.Config], arguments: dict[str, Any]) -> Iterable[eas.Config]:
        assert arguments["N"] == 1000
        return [each for each in configs if each.values["BLOCK"] < 100]

    tuned = eas.autotune(CONFIGS, key=["N"], prune=prune, **FAST)(accumulate)
    x, y = arrays()
    tuned(x, y, 1000)
    assert [str(each.config) for each in tuned.trials] == ["BLOCK=64"]


def test_a_prune_that_gives_no_list_is_named() -> None:
    tuned = eas.autotune(CONFIGS, prune=lambda configs, arguments: None)(accumulate)  # type: ignore
    with pytest.raises(eas.LaunchError, match="`prune` gave None, which is no list"):
        tuned(*arrays(), 1000)


def test_limits_may_be_larger_than_the_system_counts() -> None:
    tuned = eas.autotune(CONFIGS, timeout=float("inf"), memory=1 << 80, **FAST)(accumulate)
    tuned(*arrays(), 1000)
    assert [trial.outcome.status for trial in tuned.trials] == ["ok", "ok"]


def test_a_recorded_launch_is_not_measured() -> None:
    tuned = eas.autotune(CONFIGS, key=["N"], **FAST)(accumulate)
    x, y = arrays()
    with eas.graph() as graph:
        tuned(x, y, 1000)
    assert tuned.trials == []
    graph.replay()
    np.testing.assert_array_equal(y, x + 1)


def test_a_launch_waits_for_those_in_flight() -> None:
    tuned = eas.autotune(CONFIGS, key=["N"], **FAST)(accumulate)
    x, y = arrays()
    accumulate(x, y, 1000, BLOCK=64, _sync=False)
    tuned(x, y, 1000, _sync=False)
    eas.synchronize()
    np.testing.assert_array_equal(y, 2 * x + 1)


def test_a_grid_may_depend_on_the_config() -> None:
    tuned = eas.autotune(CONFIGS, key=["N"], **FAST)(accumulate)
    x, y = arrays()
    tuned[lambda meta: (-(-meta["N"] // meta["BLOCK"]),)](x, y, 1000)
    np.testing.assert_array_equal(y, x + 1)


def test_a_configs_threads_are_those_of_the_launch() -> None:
    configs = [eas.Config(BLOCK=64, _tptg=32), eas.Config(BLOCK=64, _tptg=64)]
    tuned = eas.autotune(configs, **FAST)(accumulate)
    x, y = arrays()
    tuned(x, y, 1000)
    np.testing.assert_array_equal(y, x + 1)


def test_the_spellings_of_the_original_work() -> None:
    assert eas.Config(meta={"BLOCK": 64}) == eas.Config(BLOCK=64) == eas.Config({"BLOCK": 64})
    tuned = eas.autotune(configs=[eas.Config(meta={"BLOCK": 64})], key=["N"], repeat=3)(accumulate)
    x, y = arrays()
    tuned(x, y, 1000)
    np.testing.assert_array_equal(y, x + 1)


def test_the_texts_of_the_kernel_are_there() -> None:
    tuned = eas.autotune(CONFIGS)(accumulate)
    types = ("*f32", "*f32", "i32")
    assert tuned.to_msl(*types, BLOCK=64) == accumulate.to_msl(*types, BLOCK=64)


def test_progress_is_a_line_per_trial(capsys: pytest.CaptureFixture[str]) -> None:
    tuned = eas.autotune(CONFIGS, key=["N"], progress=True, **FAST)(accumulate)
    tuned(*arrays(), 1000)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[1].split()[0] for line in lines] == ["1/2", "2/2", "chosen"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: eas.autotune([])(accumulate), "at least one `eas.Config`"),
        (lambda: eas.autotune(accumulate), r"needs configs: `@eas.autotune\(configs="),  # type: ignore
        (lambda: eas.autotune([{"BLOCK": 1}])(accumulate), "a list of `eas.Config`"),  # type: ignore
        (lambda: eas.autotune([eas.Config(BLOK=1)])(accumulate), "did you mean `BLOCK`"),
        (lambda: eas.autotune(CONFIGS, key=["M"])(accumulate), "`key` has `M`"),
        (lambda: eas.autotune(CONFIGS, key=["BLOCK"])(accumulate), "`key` has `BLOCK`"),
        (lambda: eas.autotune(CONFIGS, key=3)(accumulate), "`key` is a list of names, .*3"),  # type: ignore
        (lambda: eas.autotune(CONFIGS, key=[3])(accumulate), "`key` is a list of names, .*3"),  # type: ignore
        (lambda: eas.autotune(CONFIGS, progress="no"), "`progress` is True, False or None"),  # type: ignore
        (lambda: eas.autotune([eas.Config(BLOCK=[1])])(accumulate), r"BLOCK=\[1\].*use a tuple"),
        (lambda: eas.autotune(CONFIGS)(accumulate.fn), "stands above @eas.kernel"),  # type: ignore
        (lambda: eas.autotune(CONFIGS, rep=0), "`rep` is an int from 1 on"),
        (lambda: eas.autotune(CONFIGS, rep=1, repeat=1), "two names of one number"),
        (lambda: eas.autotune(CONFIGS, warmup=-1), "`warmup` is an int from 0 on"),
        (lambda: eas.autotune(CONFIGS, timeout=0), "`timeout` is a number of seconds above 0"),
        (lambda: eas.autotune(CONFIGS, timeout=-1), "`timeout` is a number of seconds above 0"),
        (lambda: eas.autotune(CONFIGS, timeout="3s"), "`timeout` is a number of .*'3s'"),  # type: ignore
        (lambda: eas.autotune(CONFIGS, prune=3), "`prune` is a function"),  # type: ignore
        (lambda: eas.autotune(CONFIGS, tolerance=-1), "`tolerance` is a number from 0 on"),
        (lambda: eas.autotune(CONFIGS, memory=0), "`memory` is an int from 1 on"),
        (eas.Config, "at least one value"),
        (lambda: eas.Config(7), "named values"),
        (
            lambda: eas.autotune([eas.Config(BLOCK=1), eas.Config(_tptg=1)])(accumulate),
            "the same names",
        ),
    ],
)
def test_a_wrong_decorator_is_refused(make: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        make()


def test_a_tuned_argument_that_is_given_is_refused() -> None:
    tuned = eas.autotune(CONFIGS)(accumulate)
    with pytest.raises(eas.LaunchError, match="`BLOCK` is tuned"):
        tuned(*arrays(), 1000, BLOCK=64)
