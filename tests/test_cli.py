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


@pytest.mark.parametrize("form", ["msl", "ir", "python"])
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
