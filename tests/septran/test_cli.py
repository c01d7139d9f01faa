"""The command `septran`."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

from eas import septran as septran_package
from eas.septran import cli
from eas.septran.cli import main
from eas.septran.cli.arguments import make_arguments
from eas.septran.files import parse_values, tunes
from eas.septran.files.schema import schema_text
from eas.septran.operators import TEXTS, load
from tests.septran.operators import EXAMPLES, FOLDER, REPOSITORY
from tests.thorough import thorough

# What the command prints on stdout and stderr, and its exit code.
Outcome = tuple[str, str, int]
Run = Callable[..., Outcome]

GEMM = (str(FOLDER / "gemm/gemm_logic.py"), str(FOLDER / "gemm/gemm.cpu.map.yaml"))
SHAPE = ("--shape", "M=37,N=45,K=29")
RUN_HERE = ("cpu", "apple_gpu", "awesomedsa")


@pytest.fixture
def septran(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run(*arguments: str) -> Outcome:
        code = main(arguments)
        captured = capsys.readouterr()
        return captured.out, captured.err, code

    return run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of gemm, in which the command runs."""
    for source, name in zip(GEMM, ("logic.py", "cpu.map.yaml"), strict=True):
        (tmp_path / name).write_text(Path(source).read_text("utf-8"), "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_mapping_without_mistakes_is_checked(septran: Run) -> None:
    text = "gemm_host_logic on cpu: M=37, N=45, K=29, f32\nno mistakes; 1 kernel\n"
    assert septran("check", *GEMM, *SHAPE) == (text, "", 0)


def test_sizes_that_are_not_given_are_named(septran: Run) -> None:
    out, _, code = septran("check", *GEMM, "--shape", "M=37")
    assert out == (
        "gemm_host_logic on cpu: M=37, N=256, K=256, f32\n"
        "not given, so assumed: N=256, K=256\n"
        "no mistakes; 1 kernel\n"
    )
    assert code == 0


def test_the_shape_of_an_argument_gives_sizes(septran: Run) -> None:
    by_shape = septran("emit", "flat", *GEMM, "--shape", "A=37x29", "--shape", "N=45")
    assert by_shape == septran("emit", "flat", *GEMM, *SHAPE)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_every_example_is_checked_without_mistakes(septran: Run, example) -> None:
    for mapping in example.mappings:
        _, err, code = septran("check", str(example.logic_file), str(mapping))
        assert (err, code) == ("", 0)


@pytest.mark.parametrize("machine", RUN_HERE)
@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_a_run_shows_its_error_and_what_it_copies(septran: Run, machine: str, dtype: str) -> None:
    mapping = str(FOLDER / f"gemm/gemm.{machine}.map.yaml")
    out, err, code = septran("run", GEMM[0], mapping, *SHAPE, "--dtype", dtype)
    assert (err, code) == ("", 0)
    head, error, empty, titles, row = out.splitlines()
    assert head == f"gemm_host_logic on {machine}: M=37, N=45, K=29, {dtype}"
    assert error.startswith("C: the largest error is ")
    assert empty == ""
    assert titles.split() == [
        "kernel", "programs", "copies", "barriers", "products", "bytes", "copied",
    ]  # fmt: skip
    assert row.split()[0] == "gemm_host_logic"


def test_the_counts_of_a_run_are_those_of_the_flat_module(septran: Run) -> None:
    out, _, _ = septran("run", *GEMM, "--shape", "M=256,N=256,K=256")
    # 2 programs with two steps each, in which tiles of A and B are copied, and C at the end.
    elements = 2 * (2 * (128 * 128 + 128 * 256) + 128 * 256)
    counts = ["2", str(2 * (2 * 2 + 1)), "0", "4", f"{elements * 4:,}"]
    assert out.splitlines()[-1].split() == ["gemm_host_logic", *counts]


def test_a_wrong_result_is_an_error(septran: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from eas.septran.cli import trial

    monkeypatch.setattr(trial, "tolerance_of", lambda dtype: -1.0)
    out, err, code = septran("run", *GEMM, *SHAPE)
    assert (out, code) == ("", 1)
    assert err.splitlines()[-1] == "the result is not that of NumPy"


SQUARE_ROOTS = """\
from eas import mk
from eas import task_lang as task


@task.define(leaf=True)
def leaf(Y, X):
    Y[...] = mk.sqrt(X) + mk.log(X - X)


@task.define(shapes="Y[M,N] X[M,N]")
def main(Y, X):
    task.launch(leaf, Y, X)
"""


@pytest.mark.filterwarnings("error")
@pytest.mark.usefixtures("here")
def test_nan_and_infinities_that_numpy_has_too_are_right(septran: Run) -> None:
    Path("roots.py").write_text(SQUARE_ROOTS, "utf-8")
    septran("init-mapping", "roots.py", "--machine", "cpu", "-o", "roots.map.yaml")
    out, err, code = septran("run", "roots.py", "roots.map.yaml", "--shape", "M=3,N=4")
    assert (err, code) == ("", 0)
    assert "Y: the largest error is 0.0e+00" in out


@pytest.mark.usefixtures("here")
def test_a_number_that_is_too_large_for_the_dtype_is_infinite_in_numpy_too(septran: Run) -> None:
    text = SQUARE_ROOTS.replace("mk.sqrt(X) + mk.log(X - X)", "X * 50000.0")
    assert text != SQUARE_ROOTS
    Path("large.py").write_text(text, "utf-8")
    septran("init-mapping", "large.py", "--machine", "cpu", "-o", "large.map.yaml")
    files = ("run", "large.py", "large.map.yaml", "--shape", "M=8,N=9", "--dtype", "f16")
    _, err, code = septran(*files)
    assert (err, code) == ("", 0)


@pytest.mark.parametrize(
    ("found", "expected"), [("nan", "1"), ("1", "nan"), ("inf", "1"), ("-inf", "inf")]
)
def test_nan_and_infinities_that_numpy_has_not_are_wrong(found: str, expected: str) -> None:
    from eas.septran.cli.trial import error_of

    arrays = (np.array([0.0, float(each)]) for each in (found, expected))
    assert error_of(*arrays) == float("inf")


def test_a_machine_of_text_only_does_not_run(septran: Run) -> None:
    mapping = str(FOLDER / "gemm/gemm.h100.map.yaml")
    _, err, code = septran("run", GEMM[0], mapping)
    assert err.startswith("error[S701]: `h100` does not run here: its targets are texts\n")
    assert "print one: `septran emit tilelang`" in err
    assert code == 1


@pytest.mark.parametrize(
    ("kind", "machine"), [("metal", "apple_gpu"), ("llvm", "cpu"), ("flat", "h100")]
)
def test_a_text_is_printed(septran: Run, kind: str, machine: str) -> None:
    files = (GEMM[0], str(FOLDER / f"gemm/gemm.{machine}.map.yaml"))
    text = load(*files).emit(kind, M=37, N=45, K=29)
    assert septran("emit", kind, *files, *SHAPE) == (text.rstrip("\n") + "\n", "", 0)


def test_the_target_tvm_is_a_name_of_its_text(septran: Run) -> None:
    files = (GEMM[0], str(FOLDER / "gemm/gemm.nvidia_gpu.map.yaml"))
    assert septran("emit", "tvm", *files) == septran("emit", "tvmscript", *files)
    assert "tvmscript" in TEXTS


def test_the_package_lists_what_it_loads_when_asked() -> None:
    assert {"load", "Operator", "__doc__"} <= set(dir(septran_package))


def test_a_text_is_written_to_a_file(septran: Run, here: Path) -> None:
    mapping = str(FOLDER / "gemm/gemm.awesomedsa.map.yaml")
    done = septran("emit", "c", GEMM[0], mapping, *SHAPE, "-o", "gemm.c")
    assert done == ("wrote gemm.c\n", "", 0)
    text = load(GEMM[0], mapping).emit("c", M=37, N=45, K=29)
    assert (here / "gemm.c").read_text("utf-8").splitlines() == text.splitlines()


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (("emit", "flat", "logic.py", "gemm.map.yaml"), "./logic.py"),
        (("picture", "logic.py", "gemm.map.yaml"), "gemm.map.yaml"),
        (("init-mapping", "logic.py", "--machine", "cpu"), "logic.py"),
    ],
)
def test_a_file_that_is_read_is_not_written(
    septran: Run, here: Path, command: tuple[str, ...], output: str
) -> None:
    for name, path in zip(("logic.py", "gemm.map.yaml"), GEMM, strict=True):
        (here / name).write_text(Path(path).read_text("utf-8"), "utf-8")
    before = (here / output).read_text("utf-8")
    out, err, code = septran(*command, "-o", output)
    message = f"septran: {output} is read by this command: write to another file\n"
    assert (out, err, code) == ("", message, 2)
    assert (here / output).read_text("utf-8") == before


def test_what_is_assumed_does_not_get_into_a_text(septran: Run) -> None:
    out, err, _ = septran("emit", "flat", *GEMM)
    assert out.startswith("module gemm_host_logic(")
    assert err == "septran: not given, so assumed: M=256, N=256, K=256\n"


def test_an_open_choice_is_resolved_on_the_command_line(septran: Run, here: Path) -> None:
    text = (here / "cpu.map.yaml").read_text("utf-8")
    tuned = text.replace("block_m: 128", "block_m: !tune {type: choice, values: [16, 32]}")
    (here / "tuned.map.yaml").write_text(tuned, "utf-8")
    _, err, code = septran("check", "logic.py", "tuned.map.yaml", *SHAPE)
    assert err.startswith("error[S601]: `gemm_host.block_m` is not resolved\n")
    assert code == 1
    out, _, code = septran(
        "emit", "flat", "logic.py", "tuned.map.yaml", *SHAPE, "--tune", "gemm_host.block_m=16"
    )
    assert "grid [i < 3, j < 1]" in out
    assert code == 0


def test_several_choices_are_resolved_by_one_option(septran: Run, here: Path) -> None:
    text = (here / "cpu.map.yaml").read_text("utf-8")
    tuned = text.replace("block_m: 128", "block_m: !tune {type: choice, values: [16, 32]}")
    tuned = tuned.replace("block_n: 256", "block_n: !tune {type: pow2, low: 8, high: 64}")
    (here / "tuned.map.yaml").write_text(tuned, "utf-8")
    values = "gemm_host.block_m=16,gemm_host.block_n=16"
    out, _, code = septran("emit", "flat", "logic.py", "tuned.map.yaml", *SHAPE, "--tune", values)
    assert "grid [i < 3, j < 3]" in out
    assert code == 0


def test_a_huge_tile_is_refused_for_its_memory(septran: Run, here: Path) -> None:
    (here / "huge.map.yaml").write_text(
        "task_mappings: {gemm_host: {tunables: {block_m: 2147483647}}}\n", "utf-8"
    )
    out, err, code = septran("check", *GEMM, "huge.map.yaml")
    assert (out, code) == ("", 1)
    assert err.startswith("error[S401]")
    assert "gemm_host.block_m=2147483647" in err


def test_an_overlay_changes_a_mapping(septran: Run, here: Path) -> None:
    overlay = "task_mappings: {gemm_host: {tunables: {block_m: 16}}}\n"
    (here / "small.map.yaml").write_text(overlay, "utf-8")
    out, _, _ = septran("emit", "flat", "logic.py", "cpu.map.yaml", "small.map.yaml", *SHAPE)
    assert "grid [i < 3, j < 1]" in out


def test_the_machine_can_be_given(septran: Run, here: Path) -> None:
    text = (here / "cpu.map.yaml").read_text("utf-8").replace("machine: cpu\n", "")
    (here / "any.map.yaml").write_text(text, "utf-8")
    _, err, code = septran("check", "logic.py", "any.map.yaml", *SHAPE)
    assert (err[:11], code) == ("error[S112]", 1)
    _, err, code = septran("check", "logic.py", "any.map.yaml", *SHAPE, "--machine", "cpu")
    assert (err, code) == ("", 0)


@pytest.mark.parametrize("machine", RUN_HERE)
@pytest.mark.usefixtures("here")
def test_a_first_mapping_runs(septran: Run, machine: str) -> None:
    made = septran("init-mapping", "logic.py", "--machine", machine, "-o", "first.map.yaml")
    assert made == ("wrote first.map.yaml\n", "", 0)
    _, err, code = septran("run", "logic.py", "first.map.yaml", *SHAPE)
    assert (err, code) == ("", 0)


def test_a_machine_beside_the_logic_is_found_by_its_name(septran: Run, tmp_path: Path) -> None:
    for path in (Path(__file__).parent / "machines" / "pebble").glob("*.machine.yaml"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "gemm_logic.py").write_bytes(Path(GEMM[0]).read_bytes())
    out, _, code = septran("init-mapping", str(tmp_path / "gemm_logic.py"), "--machine", "pebble")
    assert (code, out.splitlines()[0]) == (0, "machine: pebble")
    _, err, code = septran("init-mapping", str(tmp_path / "gemm_logic.py"), "--machine", "peble")
    assert "did you mean `pebble`?" in err
    assert code == 1


def test_a_machine_that_there_is_not_is_refused(septran: Run) -> None:
    _, err, code = septran("init-mapping", GEMM[0], "--machine", "cpi")
    assert err.startswith("error[S111]: ")
    assert code == 1


@pytest.mark.parametrize("kind", ["mapping", "machine"])
def test_a_schema_is_printed(septran: Run, kind: str) -> None:
    out, _, code = septran("schema", kind)
    assert (out, code) == (schema_text(kind), 0)


def test_without_a_kind_the_files_of_the_schemas_are_named(septran: Run) -> None:
    out, _, code = septran("schema")
    files = dict(line.split(": ", 1) for line in out.splitlines())
    assert list(files) == ["machine", "mapping"]
    assert all(json.loads(Path(file).read_text("utf-8")) for file in files.values())
    assert code == 0


LOGICS = {
    "empty.py": "",
    "syntax.py": "def f(:\n",
    "raises.py": "x = 1\nraise ValueError('not now')\n",
    "exits.py": "import sys\nsys.exit(3)\n",
    "imports.py": "import syntax\n",
    "refused.py": """\
        from eas import task_lang as task

        @task.define
        def gemm_host_logic(C, A, B):
            while True:
                pass
        """,
}


@pytest.mark.parametrize(
    ("logic", "message", "place"),
    [
        ("gone.py", "S101]: `gone.py` cannot be read: no such file or directory", "gone.py:1:1"),
        ("folder", "S101]: `folder` cannot be read: it is not a file", "folder:1:1"),
        ("notes.txt", "S811]: notes.txt is not a Python file", ""),
        ("empty.py", "S811]: the file has no tasks", "empty.py:1:1"),
        ("syntax.py", "S811]: this is not Python: invalid syntax", "syntax.py:1:7"),
        ("imports.py", "S811]: this is not Python: invalid syntax", "syntax.py:1:7"),
        ("raises.py", "S811]: running raises.py raises ValueError: not now", "raises.py:2:1"),
        ("exits.py", "S811]: running exits.py raises SystemExit: 3", "exits.py:2:1"),
        ("refused.py", "S801]: ", "refused.py:5:5"),
    ],
)
@pytest.mark.usefixtures("here")
def test_logic_that_cannot_be_used_is_explained(
    septran: Run, logic: str, message: str, place: str
) -> None:
    Path("folder").mkdir()
    Path("notes.txt").touch()
    for name, text in LOGICS.items():
        Path(name).write_text(dedent(text), "utf-8")
    Path("host.map.yaml").write_text(
        "machine: cpu\nentrypoint: host\n"
        "task_mappings: {host: {task_name: gemm_host_logic, proc: HOST}}\n"
    )
    out, err, code = septran("check", logic, "host.map.yaml")
    assert (out, code) == ("", 1)
    first, *rest = err.splitlines()
    assert first.startswith(f"error[{message}")
    assert place in rest[0]
    assert bool(place) == rest[0].lstrip().startswith("-->")


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ("gone.yaml", "error[S101]: `gone.yaml` cannot be read: no such file or directory"),
        ("folder", "error[S101]: `folder` cannot be read: it is not a file"),
        ("logic.py", "error[S102]: this is not YAML"),
    ],
)
@pytest.mark.usefixtures("here")
def test_a_mapping_that_cannot_be_read_is_explained(
    septran: Run, mapping: str, message: str
) -> None:
    Path("folder").mkdir()
    out, err, code = septran("check", "logic.py", mapping, *SHAPE)
    assert (out, code) == ("", 1)
    assert err.startswith(message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--shape", "M"), "`M` is no size: write `M=512` or, for an array, `A=131x95`"),
        (
            ("--shape", "M=4294967296"),
            "`M=4294967296` is no size: it is below 2**31",
        ),
        (
            ("--shape", "M=2147483647,N=2147483647"),
            "`C` of 2147483647x2147483647 has too many elements",
        ),
        (("--shape", "Q=3"), "`Q` is no size and no argument; the sizes are M, N, K"),
        (("--shape", "M=3x4"), "`M` is one number, not 3x4"),
        (("--shape", "M=3,M=4"), "`M` is given twice"),
        (("--shape", "M=3,A=4x5"), "`M` is 3, and 4 by `A`"),
        (("--shape", "C=3x4,A=5x6"), "`M` is 3, and 5 by `A`"),
        (("--dtype", "F32"), "there is no dtype `F32`; did you mean `f32`?"),
        (
            ("--tune", "block_m"),
            "`block_m` does not choose a value, as `gemm_host.block_m=64` does",
        ),
    ],
)
def test_wrong_usage_is_explained(septran: Run, options: tuple[str, ...], message: str) -> None:
    assert septran("check", *GEMM, *options) == ("", f"septran: {message}\n", 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("schema", "maping"), "there is no schema `maping`; there is machine, mapping"),
        (("emit", "flat", *GEMM, *SHAPE, "-o", "."), ". cannot be written: Is a directory"),
    ],
)
def test_other_wrong_usage_is_explained(
    septran: Run, arguments: tuple[str, ...], message: str
) -> None:
    assert septran(*arguments) == ("", f"septran: {message}\n", 2)


def test_a_text_that_there_is_not_is_refused(septran: Run) -> None:
    out, err, code = septran("emit", "fortran", *GEMM, *SHAPE)
    assert (out, code) == ("", 2)
    assert err.startswith("septran: there is no text `fortran`: metal, ")


def test_a_tune_key_that_there_is_not_is_refused(septran: Run) -> None:
    _, err, code = septran("check", *GEMM, *SHAPE, "--tune", "gemm_host.block=64")
    assert err.startswith("error[S120]: nothing called `gemm_host.block` can be tuned\n")
    assert code == 1


def test_a_rank_that_the_logic_does_not_have_is_refused(septran: Run) -> None:
    softmax = FOLDER / "softmax"
    logic, mapping = softmax / "softmax_logic.py", softmax / "softmax.cpu.map.yaml"
    _, err, code = septran("check", str(logic), str(mapping), "--shape", "X=3x4x5")
    assert err.startswith("error[S803]: `X` has 3 axes, and 2 names\n")
    assert code == 1


def test_a_mapping_that_only_fits_without_what_metal_adds_is_refused(
    septran: Run, tmp_path: Path
) -> None:
    softmax = FOLDER / "softmax"
    text = (softmax / "softmax.apple_gpu.map.yaml").read_text("utf-8")
    text = text.replace("rows: 4", "rows: 8").replace("X: REGISTER", "X: SHARED")
    (tmp_path / "full.map.yaml").write_text(text, "utf-8")
    files = (str(softmax / "softmax_logic.py"), str(tmp_path / "full.map.yaml"))
    for command in ("check", "run", "explain"):
        _, err, code = septran(command, *files, "--shape", "M=64,N=1024")
        assert err.startswith("error[S401]: SHARED holds 32,768 bytes, and the Metal text needs ")
        assert "the mapping asks for 32,768 bytes, the Metal text adds " in err
        assert "bytes for the partials of a reduction or a scan, softmax_logic.py:9\n" in err
        assert code == 1
    assert septran("check", *files, "--shape", "M=64,N=512")[2] == 0


def test_a_check_loads_no_writer_of_another_target_and_no_reader_of_kernels() -> None:
    code = "import sys; from eas.septran.cli import main; main(sys.argv[1:]); print(*sys.modules)"
    command = [sys.executable, "-c", code, "check", *GEMM, *SHAPE]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=REPOSITORY)
    loaded = done.stdout.splitlines()[-1].split()
    assert "eas.septran.targets.blocks" in loaded
    others = {"c_text", "codegen_dsa", "tilelang", "tvmscript", "opencl"}
    assert not {f"eas.septran.targets.{each}" for each in others}.intersection(loaded)
    unused = {"eas.frontend_ast.lower", "eas.msl.kernel", "eas.septran.flat.interpret"}
    assert not unused.intersection(loaded)


def subprocess_of(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "eas.septran", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=REPOSITORY,
        env={**os.environ, **variables},
    )


def test_a_module_is_the_command_too() -> None:
    done = subprocess_of("check", *GEMM, *SHAPE)
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout.endswith("no mistakes; 1 kernel\n")


def test_errors_have_colour_where_it_is_asked_for() -> None:
    done = subprocess_of("check", "gone.py", GEMM[1], FORCE_COLOR="1", NO_COLOR="")
    assert done.stderr.startswith("\x1b[1;31merror[S101]")


def test_a_reader_that_leaves_early_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "eas.septran", "schema", "mapping"]
    done = subprocess.run(
        command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False, cwd=REPOSITORY
    )
    os.close(writer)
    assert (done.stderr, done.returncode) == ("", 1)


@thorough
@pytest.mark.parametrize(
    "example",
    [each for each in EXAMPLES if each.name in ("gemm", "flash_attention")],
    ids=lambda example: example.name,
)
def test_a_check_takes_less_than_a_second(example, tmp_path: Path) -> None:
    """CPU time, with cached bytecode; the first run fills the cache."""
    [mapping] = [m for m in example.mappings if m.name.endswith("apple_gpu.map.yaml")][-1:]

    def measure() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        cache = {"PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": ""}
        done = subprocess_of("check", str(example.logic_file), str(mapping), **cache)
        assert done.returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(measure() for _ in range(4)) < 0.8


@pytest.mark.parametrize("command", ["check", "run", "explain", "emit"])
def test_help_has_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([command, "--help"])
    assert caught.value.code == 0
    assert f"  septran {command} " in capsys.readouterr().out


COMMANDS = ("check", "run", "explain", "emit", "picture", "init-mapping", "tune", "sweep", "replay")


def test_the_commands_in_the_help_work_in_the_folders_of_the_examples(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for command in ("", *COMMANDS):
        with pytest.raises(SystemExit):
            main([*command.split(), "--help"])
    lines = capsys.readouterr().out.replace("\\\n", " ").splitlines()
    parser = cli._parser()  # pyright: ignore[reportPrivateUsage]
    shown = [line.split()[1:] for line in lines if line.startswith("  septran ")]
    assert {words[0] for words in shown} == {*COMMANDS, "schema"}
    tried: set[str] = set()
    for parsed in map(parser.parse_args, shown):
        if parsed.command in ("schema", "replay"):  # what replay reads, tune and sweep write
            continue
        [logic] = FOLDER.glob(f"*/{parsed.logic}")
        is_open = parsed.command in ("tune", "sweep")
        for name in getattr(parsed, "mappings", ()):
            options = parsed.tune, parsed.shape, parsed.dtype
            what = repr((name, is_open, getattr(parsed, "text", None), options))
            if what not in tried:
                tried.add(what)
                operator = load(logic, logic.parent / name, tune=parse_values(parsed.tune))
                assert bool(tunes(operator.mapping)) == is_open
                arguments = make_arguments(operator, parsed.shape, parsed.dtype)
                if parsed.command == "emit":
                    operator.emit(parsed.text, *arguments.arrays)
                elif not is_open:
                    operator.check(*arguments.arrays)


def test_without_a_command_the_usage_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([])
    assert caught.value.code == 2
    assert capsys.readouterr().err == (
        "usage: septran [-h] COMMAND ...\n"
        "septran: error: the following arguments are required: COMMAND\n"
    )
