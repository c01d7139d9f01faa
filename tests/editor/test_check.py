"""`eas check`: what it finds, what it prints, how it ends."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eas.cli import main
from tests.processes import is_alive, wait_until
from tests.thorough import thorough

REPOSITORY = Path(__file__).parents[2]
HEAD = "import eas\nfrom eas import mk\n\n"
RIGHT = """\
@eas.kernel(examples=[("*f32", "*f32", "i32", dict(BLOCK=64))])
def copy(a, b, N, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(b, i, mk.load(a, i, mask=i < N), mask=i < N)
"""
WRONG = """\
@eas.kernel(examples=[("*f32", "*f32", "i32", dict(BLOCK=64))])
def wrong(a, b, N, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    v = mk.laod(a, i)
    mk.store(b, i, vv, mask=i < N)
"""
PARTLY = """\
@eas.kernel
def partly(a, b, N, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(b, i, mk.load(a, ofs, mask=i < N), mask=i < N)
"""
Outcome = tuple[int, str, str]
Run = Callable[..., Outcome]


@pytest.fixture
def check(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Run:
    """Writes files into an empty folder, and checks there."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, **files: str) -> Outcome:
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(text, "utf-8")
        code = main(["check", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def found(check: Run, *arguments: str, **files: str) -> dict[str, Any]:
    return json.loads(check(*arguments, "--format", "json", **files)[1])


def places(document: dict[str, Any]) -> list[tuple[str, int, int, int]]:
    return [
        (d["code"], d["place"]["line"], d["place"]["column"], d["place"]["endColumn"])
        for d in document["diagnostics"]
    ]


def test_right_kernels_have_no_errors(check: Run) -> None:
    assert check("a.py", a=HEAD + RIGHT) == (0, "no errors in 1 kernel of 1 file\n", "")


TEXT = """\
error[E0205]: `mk` has no attribute `laod`
 --> a.py:7:12
  |
7 |     v = mk.laod(a, i)
  |            ^^^^
  = help: did you mean `mk.load`?

error[E0201]: the name `vv` is not defined
 --> a.py:8:20
  |
8 |     mk.store(b, i, vv, mask=i < N)
  |                    ^^
  = help: did you mean `v`?

2 errors in 1 kernel of 1 file
"""


def test_all_errors_are_printed_as_the_compiler_prints_them(check: Run) -> None:
    code, text, _ = check("a.py", a=HEAD + WRONG)
    assert (code, text) == (1, TEXT)


def test_json_counts_columns_from_one_and_has_the_range(check: Run) -> None:
    document = found(check, "a.py", a=HEAD + WRONG)
    assert places(document) == [("E0205", 7, 12, 16), ("E0201", 8, 20, 22)]
    first = document["diagnostics"][0]
    assert first["place"]["path"] == "a.py"
    assert first["fixes"] == [
        {
            "title": "did you mean `mk.load`?",
            "edits": [{"place": first["place"], "text": "load"}],
        }
    ]
    assert document["summary"] == {"errors": 2, "kernels": 1, "files": 1}


def test_a_kernel_without_types_is_checked_in_part_and_the_output_says_so(check: Run) -> None:
    code, text, _ = check("a.py", a=HEAD + PARTLY)
    assert code == 1
    assert "error[E0201]: the name `ofs` is not defined" in text
    assert (
        "note: a.py:4: kernel `partly` is checked in part: "
        "nothing is known of `a`, `b`, `N`, `BLOCK`\n"
    ) in text


GUARDED = """\
@eas.kernel
def guarded(a, N, BLOCK: eas.constexpr):
    if BLOCK % 32:
        raise ValueError("BLOCK is a multiple of 32")
    t, s = mk.tid(0, BLOCK), mk.sg_id()
    acc = mk.mma_zero()
    mk.store(a, t + mk.simd_sum(s), 1.0)
"""


def test_what_depends_on_an_unknown_constant_is_no_error(check: Run) -> None:
    code, out, _ = check("a.py", a=HEAD + GUARDED)
    assert (code, out.splitlines()[-1]) == (0, "no errors in 1 kernel of 1 file")


def test_a_raise_behind_a_condition_of_run_time_is_an_error_in_part_too(check: Run) -> None:
    text = PARTLY.replace("    i =", "    if mk.program_id(0):\n        raise ValueError\n    i =")
    assert ("E0102", 7, 9, 25) in places(found(check, "a.py", a=HEAD + text))


def test_annotations_give_the_types(check: Run) -> None:
    kernel = (
        "@eas.kernel\n"
        'def k(a: "*f32", N: mk.i32, BLOCK: eas.constexpr = 8):\n'
        "    mk.store(a, mk.arange(0, BLOCK), N & 1.5)\n"
    )
    document = found(check, "a.py", a=HEAD + kernel)
    assert [d["code"] for d in document["diagnostics"]] == ["E0301"]
    [record] = document["files"][0]["kernels"]
    assert record["checked"] == "annotations"
    assert record["signatures"] == ["a: *f32, N: i32, BLOCK: constexpr 8"]


def test_the_project_gives_the_types(check: Run, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[tool.eas.check.examples]\n"
        '"a.py::typed" = [["*f32", "i32", {BLOCK = 8, T = "f16"}], ["*f32", "f32", '
        '{BLOCK = 8, T = "f32"}]]\n'
    )
    kernel = (
        "@eas.kernel\n"
        "def typed(a, n, BLOCK: eas.constexpr, T: eas.constexpr):\n"
        "    mk.store(a, mk.arange(0, BLOCK), (n & 3).to(T))\n"
    )
    document = found(check, "a.py", a=HEAD + kernel)
    [record] = document["files"][0]["kernels"]
    assert record["checked"] == "pyproject"
    assert [d["code"] for d in document["diagnostics"]] == ["E0301"]  # of the second example


def test_an_example_of_the_project_that_does_not_fit_is_an_error(
    check: Run, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.eas.check.examples]\n"a.py::partly" = [["*f32"]]\n'
    )
    document = found(check, "a.py", a=HEAD + PARTLY)
    [diagnostic] = document["diagnostics"]
    assert (diagnostic["code"], diagnostic["message"]) == (
        "example",
        "kernel `partly`, example 1: lacks arguments `b`, `N`, `BLOCK`",
    )


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("pathes = []", "[tool.eas.check] has no `pathes`; did you mean `paths`?"),
        ("paths = 3", "[tool.eas.check]: `paths` is a list of strings"),
        ('target = "gpu"', "[tool.eas.check]: `target` is metal or cpu, not 'gpu'"),
        ("timeout = 0", "[tool.eas.check]: `timeout` is a number of seconds, not 0"),
        (
            "examples = { add = [] }",
            "[tool.eas.check]: `examples`: `add` names no kernel; write `FILE::KERNEL`",
        ),
        (
            'examples = { "a.py::add" = ["i32"] }',
            "[tool.eas.check]: `examples`: `a.py::add` is a list of lists: "
            '[["*f32", { BLOCK = 256 }]]',
        ),
    ],
)
def test_a_wrong_table_is_wrong_usage(check: Run, tmp_path: Path, table: str, message: str) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text(f"[tool.eas.check]\n{table}\n")
    assert check("a.py", a=HEAD + RIGHT) == (2, "", f"eas: {file}: {message}\n")


def test_without_files_the_paths_of_the_project_are_checked(check: Run, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.eas.check]\npaths = ["src"]\nexclude = ["src/old*"]\n'
    )
    (tmp_path / "src" / "inner").mkdir(parents=True)
    (tmp_path / "src" / "inner" / "one.py").write_text(HEAD + WRONG)
    (tmp_path / "src" / "old.py").write_text(HEAD + WRONG)
    (tmp_path / "src" / "other.py").write_text("raise RuntimeError('no kernels: not imported')")
    document = found(check)
    assert [file["path"] for file in document["files"]] == [os.path.join("src", "inner", "one.py")]


def test_without_files_and_paths_the_usage_is_wrong(check: Run) -> None:
    code, _, err = check()
    assert (code, err) == (
        2,
        "eas: no files are given, and pyproject.toml has no `paths` in [tool.eas.check]\n",
    )


def test_a_file_that_is_not_there_is_wrong_usage(check: Run) -> None:
    assert check("no.py") == (2, "", "eas: there is no file or folder no.py\n")


def test_what_a_module_prints_is_kept_apart(check: Run) -> None:
    noise = "import os, sys\nprint('{out')\nsys.stderr.write('err\\n')\nos.write(1, b'raw\\n')\n"
    code, out, err = check("a.py", "--format", "json", a=HEAD + noise + RIGHT)
    assert code == 0
    assert json.loads(out)["summary"]["errors"] == 0
    assert sorted(err.splitlines()[1:]) == ["err", "raw", "{out"]


@pytest.mark.parametrize(
    ("line", "place", "message"),
    [
        (
            "x = 1 + math.nothing",
            (4, 9, 13),
            "NameError: name 'math' is not defined. Did you forget to import 'math'?",
        ),
        ("import nothing.at_all", (4, 1, 22), "ModuleNotFoundError: No module named 'nothing'"),
        ("'ß𝒳', [][3]", (4, 7, 12), "IndexError: list index out of range"),
        ("import sys; sys.exit(3)", (4, 13, 24), "the module ended itself: SystemExit(3)"),
        ("raise KeyboardInterrupt", (4, 1, 24), "KeyboardInterrupt"),
        ("class E(BaseException): ...\nraise E('odd')", (5, 1, 15), "E: odd"),
    ],
)
def test_a_failing_import_is_reported_with_its_place(
    check: Run, line: str, place: tuple[int, int, int], message: str
) -> None:
    code, out, _ = check("a.py", "--format", "json", a=f"{HEAD}{line}\n{WRONG}")
    first, *rest = json.loads(out)["diagnostics"]
    assert code == 2
    assert places({"diagnostics": [first]}) == [("import", *place)]
    shown = first["message"].removeprefix("the file cannot be imported: ")
    assert shown.partition(". Did")[0] == message.partition(". Did")[0]
    assert [each["code"] for each in rest] == ["E0205", "E0201"]  # and the kernels are read


def test_an_optional_module_that_is_missing_is_a_note(check: Run, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.eas.check]\noptional = ["nothing"]\n')
    code, out, _ = check("a.py", a=f"{HEAD}import nothing.at_all\n{RIGHT}")
    assert code == 0
    assert out.startswith("note: a.py is not imported: `nothing` is not installed\n")
    assert out.endswith("\n\nno errors in 1 kernel of 1 file\n")
    assert check("a.py", a=f"{HEAD}import nothing\n{WRONG}")[0] == 1
    assert check("a.py", a=f"{HEAD}import other\n{RIGHT}")[0] == 2


def test_an_import_that_fails_in_another_module_is_at_the_import(check: Run) -> None:
    code, out, _ = check("a.py", "--format", "json", a=f"{HEAD}import helper\n", helper="\n1 / 0\n")
    [diagnostic] = json.loads(out)["diagnostics"]
    assert code == 2
    assert diagnostic["place"]["line"] == 4
    assert re.search(r"helper\.py, line 2$", diagnostic["notes"][0])


def test_a_module_that_ends_its_process_is_reported(check: Run) -> None:
    code, out, _ = check("a.py", "--format", "json", a=f"{HEAD}import os\nos._exit(7)\n{WRONG}")
    first, *rest = json.loads(out)["diagnostics"]
    assert code == 2
    assert first["message"] == (
        "the file cannot be imported: it ended its process, with exit code 7"
    )
    assert [each["code"] for each in rest] == ["E0205", "E0201"]


@thorough
def test_a_module_that_hangs_is_ended_with_its_children(check: Run, tmp_path: Path) -> None:
    hanging = (
        "import subprocess, sys, time, pathlib\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(child.pid))\n"
        "time.sleep(600)\n"
    )
    started = time.monotonic()
    code, out, _ = check("a.py", "--timeout", "3", a=HEAD + hanging)
    assert code == 2
    assert "the file cannot be imported: it did not end within 3 seconds" in out
    assert "help: give it more time: `--timeout SECONDS`" in out
    assert time.monotonic() - started < 300
    child = int((tmp_path / "pid").read_text())
    wait_until(lambda: not is_alive(child))


def test_invalid_syntax_is_at_its_place(check: Run) -> None:
    code, out, _ = check("a.py", "--format", "json", a=f"{HEAD}x = 'ß' (]\n")
    assert code == 2
    assert places(json.loads(out)) == [("syntax", 4, 10, 11)]


def test_nothing_runs_without_imports(check: Run, tmp_path: Path) -> None:
    text = f"{HEAD}BLOCK = 4\nopen('planted', 'w')\n{WRONG}"
    document = found(check, "a.py", "--no-import", a=text)
    assert [d["code"] for d in document["diagnostics"]] == ["E0205", "E0201"]
    assert not (tmp_path / "planted").exists()


def test_kernels_in_classes_functions_and_factories_are_found(check: Run) -> None:
    text = (
        "class Shapes:\n"
        "    @eas.kernel\n"
        "    def first(a):\n"
        "        a[0] = one\n\n"
        "def make(factor):\n"
        '    @eas.kernel(examples=[("*f32[:]",)])\n'
        "    def second(a):\n"
        "        a[0] = factor + two\n"
        "    return second\n\n"
        "doubled, tripled = make(2), make('3')\n\n"
        "def never(factor):\n"
        "    @eas.kernel\n"
        "    def third(a):\n"
        "        a[0] = factor + three\n"
        "    return third\n\n"
        "def plain(a):\n"
        "    a[0] = four\n\n"
        "called = eas.kernel(plain)\n"
    )
    document = found(check, "a.py", a=HEAD + text)
    names = [kernel["name"] for kernel in document["files"][0]["kernels"]]
    assert names == ["Shapes.first", "make.<locals>.second", "never.<locals>.third", "plain"]
    assert [d["message"].split("`")[1] for d in document["diagnostics"]] == [
        *("one", "two", "three", "four")
    ]


def test_a_file_of_a_package_is_imported_by_its_whole_name(check: Run, tmp_path: Path) -> None:
    package = tmp_path / "source" / "pack"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "sizes.py").write_text("BLOCK = 8\n")
    (package / "kernels.py").write_text(f"{HEAD}from .sizes import BLOCK\n{RIGHT}")
    assert check(str(package / "kernels.py"))[0] == 0


def test_the_project_says_where_files_import_from(check: Run, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "sizes.py").write_text("BLOCK = 8\n")
    (tmp_path / "pyproject.toml").write_text('[tool.eas.check]\npythonpath = ["lib"]\n')
    assert check("a.py", a=f"{HEAD}from sizes import BLOCK\n{RIGHT}")[0] == 0


def test_an_error_in_a_helper_of_another_file_is_in_that_file(check: Run) -> None:
    kernel = '@eas.kernel(examples=[("*f32[:]",)])\ndef k(a):\n    a[0] = helper.twice(a[0])\n'
    document = found(
        check, "a.py", a=f"{HEAD}import helper\n{kernel}", helper="def twice(x):\n    return y\n"
    )
    [diagnostic] = document["diagnostics"]
    assert (diagnostic["place"]["path"], diagnostic["place"]["line"]) == ("helper.py", 2)
    assert [(c["path"], c["line"]) for c in diagnostic["calls"]] == [("a.py", 7)]


def test_metal_is_the_target_unless_another_is_given(check: Run) -> None:
    kernel = '@eas.kernel(examples=[("*f64",)])\ndef k(a):\n    mk.store(a, 0, 1.0)\n'
    assert [d["code"] for d in found(check, "a.py", a=HEAD + kernel)["diagnostics"]] == ["E1001"]
    assert check("a.py", "--target", "cpu")[0] == 0


def test_the_hook_for_pre_commit_runs_the_command() -> None:
    text = (REPOSITORY / ".pre-commit-hooks.yaml").read_text("utf-8")
    fields = dict(line.strip("- ").split(": ", 1) for line in text.splitlines())
    assert fields["entry"] == "eas check"
    assert (fields["id"], fields["language"], fields["types"]) == (
        *("eas-check", "python", "[python]"),
    )
