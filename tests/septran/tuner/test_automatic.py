"""`septran tune --auto`: every operator on every machine that runs here, without a mapping."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from eas.septran.cli import main
from eas.septran.files import load_machine, tunes
from eas.septran.logic.loading import load_logic
from eas.septran.operators import load
from eas.septran.tuner.automatic import automatic_mapping, tile_sizes
from eas.septran.tuner.prediction import Model, facts_of
from eas.septran.tuner.problem import Candidates, Problem
from eas.septran.tuner.proposers import propose_by_evolution
from tests.thorough import thorough

EXAMPLES = Path(__file__).parents[3] / "examples/septran"

MACHINES = ["cpu", "openblas", "awesomedsa", "gemmini", "apple_gpu", "opencl"]

Sizes = Callable[[random.Random], str]


def _sizes(text: str) -> Sizes:
    """Sizes with a random number from 1 to 70 for each `?`."""

    def draw(numbers: random.Random) -> str:
        parts = text.split("?")
        return "".join(f"{part}{numbers.randint(1, 70)}" for part in parts[:-1]) + parts[-1]

    return draw


OPERATORS: dict[str, tuple[str, str, Sizes]] = {
    "gemm": ("gemm/gemm_logic.py", "gemm_host_logic", _sizes("M=?,N=?,K=?")),
    "softmax": ("softmax/softmax_logic.py", "softmax", _sizes("M=?,N=?")),
    "layernorm": ("layernorm/layernorm_logic.py", "layernorm", _sizes("M=?,N=?")),
    "batched_gemm": (
        "batched_gemm/batched_gemm_logic.py",
        "batched_gemm",
        _sizes("G=2,M=?,N=?,K=?"),
    ),
    "attention": (
        "flash_attention/flash_attention_logic.py",
        "attention",
        _sizes("H=2,M=?,N=?,D=?"),
    ),
    "causal_attention": (
        "flash_attention/flash_attention_logic.py",
        "causal_attention",
        _sizes("H=1,M=40,N=40,D=?"),
    ),
    "conv2d": ("conv2d/conv2d_logic.py", "conv2d", _sizes("N=1,P=5,Q=?,O=?,C=?")),
}

USUAL = {("softmax", "cpu")}  # the others are thorough
CASES = [
    pytest.param(name, machine, marks=() if (name, machine) in USUAL else thorough)
    for name in OPERATORS
    for machine in MACHINES
]


@pytest.mark.parametrize(("name", "machine"), CASES)
def test_a_mapping_is_found_for_each_operator_and_machine(
    name: str,
    machine: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    path, entry, draw = OPERATORS[name]
    shape = draw(random.Random(f"{name} {machine}"))
    logic = str(EXAMPLES / path)
    options = ("--auto", "--machine", machine, "--entry", entry, "--shape", shape)
    code = main(["tune", logic, *options, "--trials", "2", "--export", "best.map.yaml"])
    said = capsys.readouterr()
    assert code == 0, f"{shape}: {said.err}"
    for command in ("check", "run"):
        assert main([command, logic, "best.map.yaml", "--shape", shape]) == 0
    assert "!tune" not in Path("best.map.yaml").read_text("utf-8")


def test_a_machine_that_only_prints_is_refused_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    logic = str(EXAMPLES / "gemm/gemm_logic.py")
    options = ("--auto", "--machine", "h100", "--shape", "M=32,N=32,K=32")
    assert main(["tune", logic, *options, "--trials", "1"]) == 2
    assert "`h100` does not run here: `--rank 5` ranks" in capsys.readouterr().err


TWO_ENTRIES = """\
from eas import task_lang as task


@task.define(leaf=True)
def double(Y, X):
    Y[...] = X + X


@task.define
def first(Y, X):
    task.launch(double, Y, X)


@task.define
def second(Y, X):
    task.launch(double, Y, X)
"""


def test_memories_of_a_leaf_that_the_entry_task_launches_are_open(tmp_path: Path) -> None:
    logic, mapping = tmp_path / "two.py", tmp_path / "open.map.yaml"
    logic.write_text(TWO_ENTRIES, "utf-8")
    text = automatic_mapping(load_logic(logic).tasks, load_machine("cpu"))
    mapping.write_text(text, "utf-8")
    options = {each.key: each.options for each in tunes(load(logic, mapping).mapping)}
    assert options == {
        "double.mems.Y": ("NONE", "SHARED", "REGISTER"),
        "double.mems.X": ("NONE", "SHARED", "REGISTER"),
    }
    operator = load(logic, mapping, tune={"double.mems.Y": "REGISTER", "double.mems.X": "SHARED"})
    x = np.arange(12, dtype="f4").reshape(3, 4)
    y = np.empty_like(x)
    operator(y, x)
    assert np.array_equal(y, x + x)


@pytest.mark.parametrize("command", ["init-mapping", "tune --auto --rank 1"])
def test_an_entry_task_is_named_if_there_are_several(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("two.py").write_text(TWO_ENTRIES, "utf-8")
    name, *options = command.split()
    assert main([name, "two.py", "--machine", "cpu", *options]) == 0
    said = "the mapping begins with `first`; --entry takes another: first, second"
    assert said in capsys.readouterr().err
    assert main([name, "two.py", "--machine", "cpu", *options, "--entry", "second"]) == 0
    out, err = capsys.readouterr()
    assert "second" in out
    assert "--entry" not in err
    assert main([name, "two.py", "--machine", "cpu", *options, "--entry", "secnd"]) == 2
    assert "did you mean `second`?" in capsys.readouterr().err


def test_a_machine_beside_the_logic_is_found_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "logics"
    folder.mkdir()
    (folder / "two.py").write_text(TWO_ENTRIES, "utf-8")
    [machine] = (Path(__file__).parents[1] / "machines" / "pebble").glob("*.machine.yaml")
    (folder / machine.name).write_bytes(machine.read_bytes())
    monkeypatch.chdir(tmp_path)
    assert main(["tune", "logics/two.py", "--auto", "--machine", "pebble", "--rank", "1"]) == 0
    assert capsys.readouterr().out.startswith("first on pebble, ")


def test_nothing_legal_is_an_error_with_the_reasons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    mapping = (EXAMPLES / "gemm/gemm.cpu.map.yaml").read_text("utf-8")
    choice = "!tune {type: choice, values: [4096, 8192]}"
    Path("large.map.yaml").write_text(mapping.replace("block_m: 128", f"block_m: {choice}"))
    logic = str(EXAMPLES / "gemm/gemm_logic.py")
    assert main(["tune", logic, "large.map.yaml", "--shape", "M=8192,N=256,K=256"]) == 1
    said = capsys.readouterr().err
    assert "no candidate passes the static checks" in said
    assert "error[S401]" in said


def test_tiles_are_powers_of_two_whole_axes_and_their_parts() -> None:
    assert tile_sizes([64]) == (1, 2, 4, 8, 16, 32, 64)
    assert tile_sizes([100, 3]) == (1, 2, 4, 8, 16, 32, 56, 64, 100, 128)
    assert tile_sizes([])[-1] == tile_sizes([100_000])[-1] == 1024


def _candidates(machine: str, folder: Path) -> Candidates:
    logic = EXAMPLES / "batched_gemm/batched_gemm_logic.py"
    path = folder / "automatic.map.yaml"
    shapes = ((2, 63, 96), (2, 63, 147), (2, 147, 96), (96,))
    sizes = {extent for shape in shapes for extent in shape}
    path.write_text(automatic_mapping(load_logic(logic).tasks, load_machine(machine), sizes))
    return Candidates(Problem(str(logic), (str(path),), shapes, "f32"))


def test_a_point_is_proposed_where_hardly_any_that_is_drawn_is_legal(tmp_path: Path) -> None:
    candidates = _candidates("gemmini", tmp_path)
    model = Model(candidates.space, facts_of(candidates))
    numbers = np.random.default_rng(0)
    point = propose_by_evolution(candidates.space, [], model, numbers)
    assert point is not None
    assert model.is_legal(point)


def test_points_on_the_way_come_nearer_to_the_goal(tmp_path: Path) -> None:
    space = _candidates("cpu", tmp_path).space
    numbers = np.random.default_rng(0)
    start, goal = space.draw(numbers), space.draw(numbers)

    def distance(point: tuple[int, ...]) -> int:
        return sum(a != b for a, b in zip(point, goal, strict=True))

    way = [distance(point) for point in space.approach(start, goal, numbers)]
    assert way == sorted(way, reverse=True)
    assert distance(start) > way[0]
    assert way[-1] == 1


def test_primitives_for_other_dtypes_are_no_options() -> None:
    logic = load_logic(EXAMPLES / "gemm/gemm_logic.py")
    single = automatic_mapping(logic.tasks, load_machine("openblas"), [64], dtype="f32")
    assert "openblas_dgemm" not in single


def test_a_tensor_of_which_a_loop_takes_tiles_can_be_placed_there_too(tmp_path: Path) -> None:
    logic = EXAMPLES / "conv2d/conv2d_logic.py"
    path = tmp_path / "automatic.map.yaml"
    path.write_text(automatic_mapping(load_logic(logic).tasks, load_machine("cpu"), [16]))
    row = load(logic, path).mapping.task_mappings["conv2d_row"]
    assert list(getattr(row, "mems")) == ["Y", "X", "W"]  # noqa: B009


@pytest.mark.parametrize(
    ("logic", "tuned", "fixed"),
    [
        ("gemm/gemm_logic.py", "gemm/gemm.cpu.tune.yaml", "gemm/gemm.cpu.map.yaml"),
        (
            "flash_attention/flash_attention_logic.py",
            "flash_attention/cpu.tune.yaml",
            "flash_attention/cpu.map.yaml",
        ),
    ],
)
def test_the_open_example_can_be_what_an_expert_wrote(logic: str, tuned: str, fixed: str) -> None:
    expert = load(EXAMPLES / logic, EXAMPLES / fixed).mapping
    choices = tunes(load(EXAMPLES / logic, EXAMPLES / tuned).mapping)
    assert choices
    for choice in choices:
        instance = getattr(expert.task_mappings[choice.path[1]], choice.path[2])
        value = instance[choice.path[3]] if len(choice.path) > 3 else instance
        assert choice.has(value)


RANKED = """\
machine: apple_gpu
entrypoint: gemm_host
task_mappings:
  gemm_host:
    task_name: gemm_host_logic
    proc: HOST
    mems: {C: GLOBAL, A: GLOBAL, B: GLOBAL}
    tunables: {block_m: !tune {type: choice, values: [16, 32]}, block_n: 32}
    calls: {gemm_block_logic: gemm_block}
  gemm_block:
    task_name: gemm_block_logic
    proc: BLOCK
    mems: {C: REGISTER, A: !tune {type: memory, values: [SHARED, NONE]}, B: SHARED}
    tunables: {block_k: !tune {type: choice, values: [8, 512]}}
    pipeline: 1
    leaf_task_bindings: {gemm_leaf_logic: simdgroup_mma}
"""


def test_a_ranking_gives_reasons_and_says_that_nothing_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    Path("gemm.map.yaml").write_text(RANKED, "utf-8")
    logic = str(EXAMPLES / "gemm/gemm_logic.py")
    options = ("--shape", "M=64,N=64,K=512", "--rank", "3", "--export", "first.map.yaml")
    assert main(["tune", logic, "gemm.map.yaml", *options]) == 0
    title, note, *table = capsys.readouterr().out.splitlines()
    assert title == "gemm_host_logic on apple_gpu, 64x64 64x512 512x64, f32"
    assert note == (
        "nothing was measured: 4 candidates were estimated by the figures of the machine file of "
        "`apple_gpu`, 4 were refused"
    )
    for column in ("estimated µs", "at once per core", "barriers", "SHARED held", "GLOBAL touched"):
        assert column in table[0]
    assert [line.split()[0] for line in table[1:4]] == ["1.", "2.", "3."]
    times = [float(line.split()[1]) for line in table[1:4]]
    assert times == sorted(times)
    assert "nothing was measured" in Path("first.map.yaml").read_text("utf-8")
    load(logic, "first.map.yaml").check(M=64, N=64, K=512)
    assert not Path("tune.sqlite").exists()
