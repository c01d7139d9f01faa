"""`septran tune` and `septran replay`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import eas
from eas.septran.cli import main, outputs, tuning
from eas.septran.operators import load
from eas.septran.tuner.driver import Budget, Progress, Tuner
from eas.septran.tuner.measure import Trial
from eas.support.records import replace
from eas.tuning.outcomes import Outcome
from tests.septran.tuner.problems import LOGIC, MAPPING, by_formula
from tests.thorough import thorough

SIZES = "M=32,N=32,K=32"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def septran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "gemm.map.yaml").write_text(MAPPING, "utf-8")

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return run


def test_a_search_exports_draws_and_goes_on(septran: Run, tmp_path: Path) -> None:
    command = ("tune", str(LOGIC), "gemm.map.yaml", "--shape", SIZES)
    code, out, err = septran(*command, "--trials", "2", "--export", "best.map.yaml")
    assert (code, out.splitlines()[0]) == (0, "gemm_host_logic on cpu, 32x32 32x32 32x32, f32")
    assert "2 trials, 0 without a time" in out
    assert "septran: 0/2 trials" in err
    load(LOGIC, tmp_path / "best.map.yaml").check(M=32, N=32, K=32)
    code, out, _ = septran(*command, "--trials", "3", "--plot", "search.svg")
    assert "3 trials, 0 without a time" in out
    assert (tmp_path / "search.svg").read_text("utf-8").startswith("<svg ")
    code, out, _ = septran("replay", "tune.sqlite", "--trials", "3", "--seeds", "2")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[4:]] == [
        "evolution",
        "annealing",
        "random",
    ]


def test_no_mapping_is_needed(septran: Run, tmp_path: Path) -> None:
    options = ("--auto", "--machine", "cpu", "--trials", "1", "--export", "auto.map.yaml")
    code, _, _ = septran("tune", str(LOGIC), "--shape", SIZES, *options)
    assert code == 0
    load(LOGIC, tmp_path / "auto.map.yaml").check(M=32, N=32, K=32)


def test_ctrl_c_exports_the_best_so_far(
    septran: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = Tuner.run

    def interrupted(self: Tuner, budget: Budget, *rest: Any) -> None:
        search(self, Budget(1))
        raise KeyboardInterrupt

    monkeypatch.setattr(tuning.Tuner, "run", interrupted)
    code, out, _ = septran(
        "tune", str(LOGIC), "gemm.map.yaml", "--shape", SIZES, "--export", "best.map.yaml"
    )
    assert code == 0
    assert "interrupted; the same command goes on with the search" in out
    assert (tmp_path / "best.map.yaml").exists()


@thorough
@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_the_middle_of_a_trial_exports_and_ends(
    tmp_path: Path, workers: str, number: int
) -> None:
    (tmp_path / "gemm.map.yaml").write_text(MAPPING, "utf-8")
    command = [sys.executable, "-m", "eas.septran", "tune", str(LOGIC), "gemm.map.yaml"]
    command += ["--shape", SIZES, "--trials", "5000", "--export", "best.map.yaml"]
    with subprocess.Popen(
        [*command, "--workers", workers],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None and process.stdout is not None
        lines = iter(process.stderr)
        assert any("10/5000 trials" in line for line in lines)
        process.send_signal(number)
        out = process.stdout.read()
    assert process.returncode == 0
    assert "interrupted; the same command goes on with the search" in out
    load(LOGIC, tmp_path / "best.map.yaml").check(M=32, N=32, K=32)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signals_end_a_search_but_not_what_follows(
    septran: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if os.name != "posix":
        pytest.skip("signals")
    number = getattr(signal, name)
    write_file = tuning.write_file

    def signalled(path: str, text: str) -> str:
        os.kill(os.getpid(), number)
        return write_file(path, text)

    def attempt(trial: Trial) -> Outcome:
        if trial.best is not None:
            os.kill(os.getpid(), number)
        return by_formula(trial)

    monkeypatch.setattr(tuning, "write_file", signalled)
    monkeypatch.setattr(tuning, "Tuner", partial(Tuner, attempt=attempt))
    before = signal.signal(number, signal.default_int_handler)  # `nohup` ignores SIGHUP
    try:
        code, out, _ = septran(
            "tune", str(LOGIC), "gemm.map.yaml", "--shape", SIZES, "--export", "best.map.yaml"
        )
        after = signal.getsignal(number)
    finally:
        signal.signal(number, before)
    assert (code, "1 trial, 0 without a time" in out) == (0, True)
    assert "interrupted; the same command goes on with the search" in out
    assert (tmp_path / "best.map.yaml").exists()
    assert after is signal.default_int_handler


def test_a_signal_before_the_search_is_no_traceback(
    septran: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*given: object, **named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tuning, "Tuner", interrupted)
    code, _, err = septran("tune", str(LOGIC), "gemm.map.yaml", "--shape", SIZES)
    assert (code, err) == (130, "septran: interrupted\n")


def test_resume_begins_no_other_search(septran: Run, tmp_path: Path) -> None:
    command = ("tune", str(LOGIC), "gemm.map.yaml", "--shape", SIZES)
    code, _, err = septran(*command, "--trials", "2", "--resume")
    assert (code, "tune.sqlite has no search to go on with" in err) == (2, True)
    septran(*command, "--trials", "1")
    code, out, _ = septran(*command, "--trials", "2", "--resume")
    assert (code, "2 trials, 0 without a time" in out) == (0, True)
    path = tmp_path / "gemm.map.yaml"
    path.write_text(MAPPING.replace("high: 16", "high: 24"), "utf-8")
    code, _, err = septran(*command, "--trials", "3", "--resume")
    assert code == 2
    assert "2 trials of search 1 in tune.sqlite are not used: the mapping was another" in err


def test_a_place_that_cannot_be_written_is_named_before_the_search(
    septran: Run, tmp_path: Path
) -> None:
    command = ("tune", str(LOGIC), "gemm.map.yaml", "--shape", SIZES, "--export")
    for path, reason in {
        "missing/best.map.yaml": "there is no such folder",
        ".": "it is a folder",
        "x" * 300: "File name too long",
        "/proc/best.map.yaml": "No such file or directory",  # a folder that takes no files
    }.items():
        code, _, err = septran(*command, path)
        assert (code, err) == (2, f"septran: {path} cannot be written: {reason}\n")
    code, _, err = septran(*command, "same", "--plot", "./same")
    assert (code, err) == (2, "septran: ./same is given for two files\n")
    assert not (tmp_path / "tune.sqlite").exists()


def test_a_disk_that_is_full_in_the_end_costs_no_result(
    septran: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: str, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tuning, "Tuner", partial(Tuner, attempt=by_formula))
    monkeypatch.setattr(outputs, "write_whole", full)
    command = ("tune", str(LOGIC), "gemm.map.yaml", "--shape", SIZES, "--trials", "1")
    code, _, err = septran(*command, "--export", "best.map.yaml")
    assert code == 2
    assert "1 trial, 0 without a time" in err
    assert err.splitlines()[-2:] == [
        "best.map.yaml cannot be written: No space left on device",
        "tune.sqlite has the trials: the same command writes what is missing",
    ]


def test_the_time_left_is_that_of_the_trials_of_this_run() -> None:
    progress = Progress(12, Budget(32), 20.0, None, Counter(), resumed=2)
    assert progress.left == pytest.approx(40.0)
    assert replace(progress, budget=Budget(32, 25.0)).left == pytest.approx(5.0)
    assert replace(progress, resumed=12).left is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tune", "LOGIC"), "give a mapping with `!tune`, or --auto and --machine, and not both"),
        (("tune", "LOGIC", "--auto"), "--auto needs a machine: --machine cpu"),
        (("tune", "LOGIC", "gemm.map.yaml", "--tune", "x"), "`x` does not choose a value"),
        (("replay", "missing.sqlite"), "there is no database missing.sqlite"),
        (("tune", "LOGIC", "fixed.map.yaml"), "nothing is open in the mapping"),
        (("replay", "empty.sqlite"), "empty.sqlite has no search"),
        (("tune", "LOGIC", "gemm.map.yaml", "--db", "gemm.map.yaml"), "give another --db"),
        (
            ("tune", "LOGIC", "--auto", "--machine", "cpu", "--entry", "gemm_blok_logic"),
            "gemm_host_logic; did you mean `gemm_block_logic`?",
        ),
    ],
)
def test_wrong_usage_is_named(
    septran: Run, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "empty.sqlite").touch()
    fixed = Path(LOGIC).parent / "gemm.cpu.map.yaml"
    (tmp_path / "fixed.map.yaml").write_text(fixed.read_text("utf-8"), "utf-8")
    code, out, err = septran(*(str(LOGIC) if each == "LOGIC" else each for each in arguments))
    assert (code, out) == (2, "")
    assert message in err
    assert not (tmp_path / "tune.sqlite").exists()


@pytest.mark.parametrize("command", ["tune", "sweep -o x.sweep.gz", "tune --rank 1"])
def test_sizes_for_which_nothing_is_computed_are_refused(septran: Run, command: str) -> None:
    name, *options = command.split()
    sizes = ("--shape", "M=0,N=3,K=4")
    code, out, err = septran(name, str(LOGIC), "gemm.map.yaml", *sizes, *options)
    assert (code, out) == (2, "")
    title = "gemm_host_logic on cpu, 0x3 0x4 4x3, f32"
    assert err.splitlines()[-1] == f"septran: nothing to tune: sizes are empty: {title}"


def test_a_search_that_ends_early_says_that_nothing_is_left(
    septran: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "Tuner", partial(Tuner, attempt=by_formula))
    text = MAPPING.replace("low: 8, high: 32", "low: 16, high: 16")
    (tmp_path / "gemm.map.yaml").write_text(text, "utf-8")
    command = ("tune", str(LOGIC), "gemm.map.yaml", "--shape", SIZES, "--method", "grid")
    left = "no other candidate is left to try"
    _, out, _ = septran(*command, "--trials", "2")
    assert left not in out
    _, out, _ = septran(*command, "--trials", "30")
    assert "8 trials, 0 without a time\n" + left in out


def test_a_ranking_in_a_pipe_has_whole_headings(
    septran: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    _, out, _ = septran("tune", str(LOGIC), "gemm.map.yaml", "--shape", SIZES, "--rank", "1")
    assert out.splitlines()[2].split("  ")[-1] == "SHARED touched, MB"


def test_sizes_that_are_assumed_are_named_before_the_search(
    septran: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "Tuner", partial(Tuner, attempt=by_formula))
    command = ("tune", str(LOGIC), "gemm.map.yaml", "--shape", "M=32", "--trials", "1")
    _, _, err = septran(*command)
    assert err.splitlines()[0] == "septran: not given, so assumed: N=64, K=64"


@pytest.mark.parametrize("text", ["0", "x", "-3", "1.5"])
def test_a_wrong_number_of_trials_is_refused(septran: Run, text: str) -> None:
    with pytest.raises(SystemExit):
        septran("tune", str(LOGIC), "gemm.map.yaml", "--trials", text)


def test_a_wrong_mapping_is_reported_with_its_place(septran: Run, tmp_path: Path) -> None:
    (tmp_path / "wrong.map.yaml").write_text(MAPPING.replace("pipeline:", "pipline:"), "utf-8")
    code, _, err = septran("tune", str(LOGIC), "wrong.map.yaml")
    assert code == 1
    assert "did you mean `pipeline`" in err


def test_a_sweep_is_recorded_and_replayed_after_another(septran: Run, tmp_path: Path) -> None:
    command = ("sweep", str(LOGIC), "gemm.map.yaml", "--shape", SIZES, "--points", "3")
    code, out, err = septran(*command, "-o", "x.sweep.gz", "--rounds", "0")
    assert (code, out.splitlines()[1]) == (0, "3 ok")
    assert "septran: 0 s, 0/3 checked" in err
    code, out, _ = septran(*command, "-o", "x.sweep.gz", "--rounds", "1")
    assert "1 timings or more of each, the best " in out
    code, out, _ = septran(
        "replay", "x.sweep.gz", "--fit", "x.sweep.gz", "--trials", "2", "--seeds", "1"
    )
    assert (code, out.splitlines()[0]) == (
        0,
        "sweep: gemm_host_logic on cpu, 32x32 32x32 32x32, f32",
    )
    assert "with the correction of the others" in out


K_TILES = "{type: int, low: 8, high: 16, step: 8}"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<= 512", "<= 1", "error[S602]: this constraint is false"),
        (K_TILES, "{type: choice, values: [0, -1]}", "error[S808]: the tunable `block_k` is "),
        (
            f"    tunables: {{block_k: !tune {K_TILES}}}  # one more\n",
            "",
            "error[S808]: the tunable `block_k` has no value",
        ),
    ],
)
@pytest.mark.parametrize("command", ["tune", "sweep -o x.sweep.gz", "tune --rank 1"])
def test_a_space_without_a_legal_candidate_is_an_error_with_places(
    septran: Run, tmp_path: Path, command: str, old: str, new: str, message: str
) -> None:
    assert old in MAPPING
    (tmp_path / "gemm.map.yaml").write_text(MAPPING.replace(old, new), "utf-8")
    name, *options = command.split()
    code, out, err = septran(name, str(LOGIC), "gemm.map.yaml", "--shape", SIZES, *options)
    assert (code, out) == (1, "")
    assert message in err
    assert "candidates that were looked at are refused with this code" in err
    assert err.endswith("no candidate passes the static checks\n")
    assert not (tmp_path / "x.sweep.gz").exists()


def test_trials_that_ended_at_their_limits_are_named_and_a_way_to_try_them_again(
    septran: Run, tmp_path: Path
) -> None:
    command = ("tune", str(LOGIC), "gemm.map.yaml", "--shape", SIZES, "--trials", "1")
    code, out, err = septran(*command, "--timeout", "0.001", "--export", "best.map.yaml")
    assert (code, out) == (1, "")
    assert "1 trial, 1 without a time\n  1 timeout: " in err
    assert "no trial has a time: nothing is exported" in err
    assert not (tmp_path / "best.map.yaml").exists()
    code, out, _ = septran(*command)
    assert code == 0
    assert "nothing was run: tune.sqlite has these trials already" in out
    assert "give another --seed or --db" in out


def test_ctrl_c_before_the_first_trial_says_how_to_go_on(
    septran: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Tuner, *rest: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tuning.Tuner, "run", interrupted)
    command = ("tune", str(LOGIC), "gemm.map.yaml", "--shape", SIZES)
    code, _, err = septran(*command, "--export", "best.map.yaml")
    assert code == 1
    assert "interrupted; the same command goes on with the search" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tune", "LOGIC", "gemm.map.yaml", "--export", "./gemm.map.yaml"), "is read by this"),
        (("tune", "LOGIC", "gemm.map.yaml", "--export", "LOGIC"), "is read by this command"),
        (("sweep", "LOGIC", "gemm.map.yaml", "-o", "gemm.map.yaml"), "is read by this command"),
        (("sweep", "LOGIC", "gemm.map.yaml", "-o", "missing/x"), "there is no such folder"),
        (("replay", "gemm.map.yaml", "--plot", "missing/x.svg"), "there is no such folder"),
        (("tune", "LOGIC", "gemm.map.yaml", "--resume"), "there is no such file"),
    ],
)
def test_wrong_files_are_refused_before_anything_runs(
    septran: Run, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    code, out, err = septran(*(str(LOGIC) if each == "LOGIC" else each for each in arguments))
    assert (code, out) == (2, "")
    assert message in err
    assert [each.name for each in tmp_path.iterdir()] == ["gemm.map.yaml"]


def test_resume_says_what_differs(septran: Run) -> None:
    command = ("tune", str(LOGIC), "gemm.map.yaml", "--trials", "1")
    septran(*command, "--shape", SIZES)
    _, _, err = septran(*command, "--shape", "M=64,N=32,K=32", "--seed", "1", "--resume")
    assert "1 trial of search 1 in tune.sqlite is not used: it was of gemm_host_logic on cpu" in err
    assert "the seed was 0, not 1" in err


def test_a_number_of_rounds_below_zero_is_named(
    septran: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        septran("sweep", str(LOGIC), "gemm.map.yaml", "-o", "x", "--rounds", "-1")
    assert "`-1` is no number from 0 on" in capsys.readouterr().err


@thorough
def test_times_of_metal_on_a_cpu_are_called_that(septran: Run, tmp_path: Path) -> None:
    options = ("--auto", "--machine", "apple_gpu", "--trials", "1", "--export", "x.map.yaml")
    code, out, _ = septran("tune", str(LOGIC), "--shape", SIZES, *options)
    assert code == 0
    is_on_cpu = eas.FunctionLauncher.backend_of("metal") == "msl-host"
    for text in (out, (tmp_path / "x.map.yaml").read_text("utf-8")):
        assert ("on the CPU of this computer (msl-host), not of a GPU" in text) == is_on_cpu
        assert ("`septran tune --rank 5`" in text) == is_on_cpu
