"""The command `eas`."""

from __future__ import annotations

import importlib.metadata
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from eas.cli import explain, main
from eas.ir.passes import COMMON
from eas.targets import TARGETS, names_of, pipelines_of

# What the command prints on stdout and stderr, and its exit code.
Outcome = tuple[str, str, int]
Run = Callable[..., Outcome]


@pytest.fixture
def eas(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: str) -> Outcome:
        code = main(arguments)
        captured = capsys.readouterr()
        return captured.out, captured.err, code

    return run


PAGES = {
    "E0201": "# E0201: a name is not defined\n\nIt is *not*.\n",
    "E0312": "# E0312: a variable has two types\n\nIt has.\n",
}


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explain, "read_pages", lambda: PAGES)


@pytest.mark.usefixtures("pages")
@pytest.mark.parametrize("code", ["E0201", "e0201", "201"])
def test_explain_prints_the_page_of_a_code(eas: Run, code: str) -> None:
    assert eas("explain", code) == (PAGES["E0201"], "", 0)


@pytest.mark.usefixtures("pages")
@pytest.mark.parametrize("arguments", [("explain",), ("explain", "--list")])
def test_explain_without_a_code_lists_all(eas: Run, arguments: tuple[str, ...]) -> None:
    table = """\
        code   what is wrong
        E0201  a name is not defined
        E0312  a variable has two types
        """
    assert eas(*arguments) == (dedent(table), "", 0)


@pytest.mark.usefixtures("pages")
def test_a_code_that_is_nearly_right_is_corrected(eas: Run) -> None:
    message = "eas: there is no error code E0313; did you mean E0312?\n"
    assert eas("explain", "E0313") == ("", message, 2)


@pytest.mark.usefixtures("pages")
def test_a_code_that_is_quite_wrong_is_refused(eas: Run) -> None:
    message = "eas: there is no error code nonsense; `eas explain --list` shows all codes\n"
    assert eas("explain", "nonsense") == ("", message, 2)


@pytest.mark.parametrize("code", ["E0101", "S101", "s101"])
def test_explain_has_the_pages_of_every_package(eas: Run, code: str) -> None:
    shown, complaint, status = eas("explain", code)
    assert shown.startswith(f"# {code.upper()}: ")
    assert (complaint, status) == ("", 0)


def test_a_report_of_the_host_has_no_page(eas: Run) -> None:
    message = "eas: H0104 is a report of `msl-host`; these have no pages, docs/host.md lists them\n"
    assert eas("explain", "h0104") == ("", message, 2)


@pytest.mark.usefixtures("pages")
def test_a_terminal_gets_the_page_laid_out(eas: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    page, _, _ = eas("explain", "E0201")
    assert re.sub(r"\x1b\[[0-9;]*m", "", page).splitlines()[-1] == "It is not."


def test_every_page_has_its_code_and_a_title_in_the_first_line() -> None:
    for code, page in explain.read_pages().items():
        assert page.startswith(f"# {code}: ")
        assert explain.title_of(page)


KERNELS = """\
import eas
from eas import mk

@eas.kernel
def add(a, b, c, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mask = offs < N
    mk.store(c, offs, mk.load(a, offs, mask) + mk.load(b, offs, mask), mask)

@eas.kernel
def fill(c, TYPE: eas.constexpr, SHAPE: eas.constexpr):
    mk.store(c, mk.arange(0, SHAPE[0]), mk.zeros(SHAPE, TYPE))

@eas.kernel
def wrong(a):
    mk.store(a, 0, missing)
"""
ADD = ("*f32", "*f32", "*f32", "i32", "BLOCK=256")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "kernels.py").write_text(KERNELS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "kernels", raising=False)
    return "kernels.py"


@pytest.mark.parametrize("form", ["msl", "ir", "schedule", "tree", "python"])
def test_a_kernel_is_printed_for_types_and_constants(eas: Run, file: str, form: str) -> None:
    add = runpy.run_path(file)["add"]
    text = getattr(add, f"to_{form}")("*f32", "*f32", "*f32", "i32", BLOCK=256)
    assert eas(form, f"{file}::add", *ADD) == (text.rstrip("\n") + "\n", "", 0)


def test_types_can_be_given_by_name_too(eas: Run, file: str) -> None:
    named = ("BLOCK=256", "N=i32", "c=*f32", "b=*f32", "a=*f32")
    assert eas("ir", f"{file}::add", *named) == eas("ir", f"{file}::add", *ADD)


def test_constants_can_be_dtypes_and_any_literals(eas: Run, file: str) -> None:
    out, _, code = eas("python", f"{file}::fill", "*f16", "TYPE=f16", "SHAPE=(8,)")
    text = """\
        def fill(c, TYPE: eas.constexpr):
            mk.store(c, mk.arange(0, (8,)[0]), mk.zeros((8,), TYPE))
        """
    assert (out, code) == (dedent(text), 0)


def test_an_error_in_the_kernel_is_rendered(eas: Run, file: str) -> None:
    out, err, code = eas("msl", f"{file}::wrong", "*f32")
    assert (out, code) == ("", 1)
    assert err.splitlines()[1:5] == [
        "  --> kernels.py:16:20",
        "   |",
        "16 |     mk.store(a, 0, missing)",
        "   |                    ^^^^^^^",
    ]


@pytest.mark.parametrize(
    ("target", "arguments", "message"),
    [
        ("gone.py::add", (), "there is no file gone.py"),
        ("kernels.py::ad", (), "kernels.py has no kernel `ad`; did you mean `add`?"),
        ("kernels.py::zzz", (), "kernels.py has no kernel `zzz`; it has add, fill, wrong"),
        ("kernels.py", (), "kernels.py has several kernels, say which: add, fill, wrong"),
        ("empty.py::add", (), "empty.py has no kernels"),
        ("text.txt::add", (), "text.txt is not a Python file"),
        (
            "kernels.py::add",
            ("BLOCK=big",),
            "the value of BLOCK is no Python literal: big; quote a string once more",
        ),
        (
            "kernels.py::add",
            ("*f32", "BLOCK=8"),
            "kernel `add`: lacks arguments `b`, `c`, `N`",
        ),
    ],
)
@pytest.mark.usefixtures("file")
def test_wrong_usage_is_explained(
    eas: Run, target: str, arguments: tuple[str, ...], message: str
) -> None:
    Path("empty.py").touch()
    Path("text.txt").touch()
    assert eas("msl", target, *arguments) == ("", f"eas: {message}\n", 2)


def test_the_only_kernel_of_a_file_needs_no_name(eas: Run, file: str) -> None:
    Path("one.py").write_text("from kernels import add\n")
    assert eas("ir", "one.py", *ADD) == eas("ir", f"{file}::add", *ADD)


def test_a_file_of_a_package_may_import_from_the_package(
    eas: Run, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("operators", "operators.sums", "operators.shared"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    Path("operators").mkdir()
    Path("operators/__init__.py").touch()
    Path("operators/shared.py").write_text(KERNELS)
    Path("operators/sums.py").write_text("from operators.shared import add\n")
    monkeypatch.chdir("operators")
    shown = eas("msl", "sums.py", *ADD)[0].replace("shared.py:", "kernels.py:")
    monkeypatch.chdir("..")
    assert shown == eas("msl", f"{file}::add", *ADD)[0]


def test_a_file_that_cannot_be_imported_is_an_error_at_its_line(eas: Run, file: str) -> None:
    Path(file).write_text("import nowhere\n")
    error = """\
        error[import]: the file cannot be imported: ModuleNotFoundError: No module named 'nowhere'
         --> kernels.py:1:1
          |
        1 | import nowhere
          | ^^^^^^^^^^^^^^

        1 error
        """
    assert eas("msl", f"{file}::add", *ADD) == ("", dedent(error), 1)


def test_what_a_file_prints_is_not_in_the_text_of_its_kernel(eas: Run, file: str) -> None:
    text = eas("msl", f"{file}::add", *ADD)[0]
    Path(file).write_text(f"{KERNELS}\nprint('imported')\n")
    assert eas("msl", f"{file}::add", *ADD) == (text, "imported\n", 0)


def test_a_file_with_dots_in_its_name_is_imported(eas: Run, file: str) -> None:
    Path("add.v2.py").write_text(KERNELS)
    shown = eas("msl", "add.v2.py::add", *ADD)[0].replace("add.v2.py:", "kernels.py:")
    assert shown == eas("msl", f"{file}::add", *ADD)[0]


def test_a_folder_is_not_taken_for_a_file(eas: Run, file: str) -> None:
    Path("kernels").mkdir()
    assert eas("msl", "kernels::add") == ("", "eas: kernels is a folder, not a Python file\n", 2)


UNREADABLE = """\
class Unreadable(Exception):
    def __str__(self) -> str:
        raise ValueError

raise Unreadable
"""


def test_an_error_without_words_is_named_at_its_line(eas: Run, file: str) -> None:
    Path(file).write_text(UNREADABLE)
    error = """\
        error[import]: the file cannot be imported: Unreadable
         --> kernels.py:5:1
          |
        5 | raise Unreadable
          | ^^^^^^^^^^^^^^^^

        1 error
        """
    assert eas("msl", f"{file}::add", *ADD) == ("", dedent(error), 1)


def test_an_error_of_the_package_of_a_file_names_the_place(eas: Run, file: str) -> None:
    Path("broken").mkdir()
    Path("broken/__init__.py").write_text("1 / 0\n")
    Path("broken/sums.py").write_text(KERNELS)
    place = f"{Path.cwd()}/broken/__init__.py, line 1"
    assert f"= note: it is raised in {place}\n" in eas("msl", "broken/sums.py::add", *ADD)[1]


def test_the_version_is_that_of_the_package() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "eas.cli", "--version"], capture_output=True, text=True, check=True
    )
    assert run.stdout == f"easy_as {importlib.metadata.version('easy_as')}\n"


def test_a_reader_that_leaves_early_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "eas.cli", "explain", "R0101"]
    run = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (run.stderr, run.returncode) == ("", 1)


def test_without_a_command_the_usage_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([])
    assert caught.value.code == 2
    assert capsys.readouterr().err == (
        "usage: eas [-h] [--version] COMMAND ...\n"
        "eas: error: the following arguments are required: COMMAND\n"
    )


LOOP = """\
import eas
from eas import mk

@eas.kernel
def scale(a, n):
    for i in range(n):
        mk.store(a, i, mk.load(a, i) * (n + 1))
"""


@pytest.fixture
def loop(file: str) -> str:
    Path("loop.py").write_text(LOOP)
    return f"{Path(file).parent / 'loop.py'}"


def ops_of(text: str) -> list[str]:
    """The ops of a printed function, without their locations."""
    return [line.partition("@")[0].strip() for line in text.splitlines()]


HOISTED = """\
kernel scale(%a.0: *i32, %n.1: i32) from "loop.py" {
  %2: i32 = 0                                                     @6:13-21
  %3: i32 = 1                                                     @6:13-21
  %7: i32 = add %n.1, %3                                          @7:40-45
  for %i.4: i32 = %2 .. %n.1 by %3 {                              @6:4-21
    %5: i32 = load %a.0[%i.4]                                     @7:23-36
    %8: i32 = mul %5, %7                                          @7:23-46
    store %a.0[%i.4] = %8                                         @7:8-47
    yield                                                         @7:8-47
  }
  yield                                                           @5:0-9
}
"""


@pytest.mark.parametrize("target", [(), ("--target", "cpu"), ("--target", "metal")])
def test_the_ir_of_a_kernel_is_printed_after_a_pass(
    eas: Run, loop: str, target: tuple[str, ...]
) -> None:
    assert eas("ir", loop, "*i32", "i32", "--after", "hoist", *target) == (HOISTED, "", 0)
    before, _, _ = eas("ir", loop, "*i32", "i32", "--after", "fold-merged", *target)
    moved = "%7: i32 = add %n.1, %3"
    assert ops_of(before).index(moved) > ops_of(HOISTED).index(moved)


@pytest.mark.parametrize(("target", "last"), [("cpu", "dot-operands"), ("metal", "lockstep")])
def test_without_a_pass_all_those_of_a_target_run(
    eas: Run, file: str, target: str, last: str
) -> None:
    whole = eas("ir", f"{file}::add", *ADD, "--target", target)
    assert whole == eas("ir", f"{file}::add", *ADD, "--target", target, "--after", last)
    assert whole[2] == 0
    assert whole != eas("ir", f"{file}::add", *ADD)


METAL_PASSES = ", ".join(names_of("metal"))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("hoits", "did you mean `hoist`?"),
        ("row-loops", "the target cpu has it"),
        ("zzz", "no other target has it either"),
    ],
)
def test_a_pass_that_there_is_not_is_explained(eas: Run, loop: str, name: str, hint: str) -> None:
    message = f"eas: the target metal has no pass `{name}`; {hint}\n"
    assert eas("ir", loop, "*i32", "i32", "--after", name) == (
        "",
        f"{message}its passes are {METAL_PASSES}\n",
        2,
    )


def test_what_metal_cannot_do_is_an_error_after_a_pass_too(eas: Run, loop: str) -> None:
    out, err, code = eas("ir", loop, "*f64", "i32", "--target", "metal")
    assert (out, code) == ("", 1)
    assert err == eas("msl", loop, "*f64", "i32")[1]


def test_the_passes_are_listed_with_the_reasons_for_their_places(
    eas: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    out, err, code = eas("passes", "--target", "cpu")
    assert (err, code) == ("", 0)
    lines = out.splitlines()
    assert lines[0] == "target      pass              why it stands there"
    assert lines[1] == f"common  1   exits             {COMMON.passes[0].reason}"
    assert [line.split()[2] for line in lines[1:]] == list(names_of("cpu"))


def test_the_passes_of_all_targets_are_listed_once(eas: Run) -> None:
    out, _, _ = eas("passes")
    names = [line.split()[:3] for line in out.splitlines() if line[:1] not in (" ", "t")]
    every = [pipeline for target in TARGETS for pipeline in pipelines_of(target)]
    passes = {(pipeline.name, each.name) for pipeline in every for each in pipeline.passes}
    assert sorted((name, each) for name, _, each in names) == sorted(passes)


EXPORT = ("--signature", "*f32,*f32,*f32,i32", "--constexpr", "BLOCK=256")


def test_a_kernel_is_exported_for_a_signature(eas: Run, file: str) -> None:
    out, err, code = eas("export", f"{file}::add", *EXPORT, "-o", "out")
    names = ["add.metal", "add.json", "add_host.py", "add_host.swift", "add_host.cpp"]
    files = [str(Path("out", name)) for name in (*names, "manifest.schema.json")]
    assert (out, err, code) == ("".join(f"{each}: written\n" for each in files), "", 0)
    text, _, _ = eas("msl", f"{file}::add", *ADD)
    assert Path("out/add.metal").read_text("utf-8") == text
    again, _, _ = eas("export", f"{file}::add", *EXPORT, "-o", "out")
    assert again == "".join(f"{each}: the same\n" for each in files)


@pytest.mark.usefixtures("file")
def test_kernels_with_examples_are_exported_together(eas: Run) -> None:
    Path("more.py").write_text(
        'from kernels import add\nimport eas\n\nwith_types = [("*f32", "*f32", "*f32", "i32", '
        "dict(BLOCK=8))]\nfirst = eas.kernel(examples=with_types)(add.fn)\n"
    )
    out, _, code = eas("export", "more.py", "-o", "out")
    assert code == 0
    assert out.splitlines()[0] == f"{Path('out/add.metal')}: written"
    _, _, code = eas("export", "more.py", "more.py::first", "-o", "out")
    assert code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("kernels.py::add",), "kernel `add` has no `examples`: give its types with --signature "),
        (
            ("kernels.py",),
            "kernels.py has no kernel with `examples`; name one and give its types: ",
        ),
        (("kernels.py::ad", *EXPORT), "kernels.py has no kernel `ad`; did you mean `add`?"),
        (
            ("kernels.py::add", "--signature", "*f32,,i32"),
            "a type is missing in the signature '*f32,,i32'",
        ),
        (
            ("kernels.py::add", "--signature", "*f32,i32"),
            "kernel `add`: lacks arguments `c`, `N`, `BLOCK`",
        ),
        (
            ("kernels.py::add", "--signature", "*f33,*f32,*f32,i32", "--constexpr", "BLOCK=8"),
            "kernel `add`, argument `a`: `*f33` names no dtype; did you mean `f32`?",
        ),
        (("kernels.py::add", "--constexpr", "BLOCK"), "--constexpr takes NAME=VALUE, not BLOCK"),
        (
            ("kernels.py::add", "--constexpr", "BLOK=1"),
            "kernel `add` has no constexpr `BLOK`; it has BLOCK",
        ),
        (
            ("kernels.py::add", "--constexpr", "N=1"),
            "`N` of kernel `add` is no constexpr: its type is in --signature",
        ),
        (
            ("kernels.py::add", "kernels.py::fill", *EXPORT),
            "--signature and --constexpr are for one kernel, and several are given",
        ),
        (
            ("kernels.py::add", *EXPORT, "--tptg", "2000"),
            "kernel `add`: `_tptg` is an int from 1 to 1024, not 2000",
        ),
    ],
)
@pytest.mark.usefixtures("file")
def test_a_wrong_export_is_explained(eas: Run, arguments: tuple[str, ...], message: str) -> None:
    out, err, code = eas("export", *arguments, "-o", "out")
    assert (out, err[: len(message) + 5], code) == ("", f"eas: {message}", 2)
    assert not Path("out").exists()


def test_an_export_keeps_files_that_are_not_ours(eas: Run, file: str) -> None:
    Path("out").mkdir()
    Path("out/add.metal").write_text("// mine\n")
    _, err, code = eas("export", f"{file}::add", *EXPORT, "-o", "out")
    assert (err.split(";")[0], code) == (
        "eas: out has files that were not exported, or were changed since: add.metal",
        2,
    )
    assert os.listdir("out") == ["add.metal"]
    _, _, code = eas("export", f"{file}::add", *EXPORT, "-o", "out", "--force")
    assert code == 0


def test_an_error_in_an_exported_kernel_is_rendered(eas: Run, file: str) -> None:
    _, err, code = eas("export", f"{file}::wrong", "--signature", "*f32", "-o", "out")
    assert (err.splitlines()[1], code) == ("  --> kernels.py:16:20", 1)
