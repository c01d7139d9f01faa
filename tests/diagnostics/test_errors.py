"""How a `CompileError` reaches the user, and how diagnostics are collected."""

from __future__ import annotations

import ast
import copy
import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from eas.frontend_ast.source.errors import CompileError, Diagnostics, Refusal
from eas.frontend_ast.source.reading import read_source
from eas.support.diagnostics import Diagnostic
from eas.support.location import NOWHERE, Loc, SourceName

TEXT = """\
def blur(a):
    b = a + unknown
    return missing
"""

RENDERED = """\
error[E0201]: `unknown` is not defined
 --> blur.py:2:13
  |
2 |     b = a + unknown
  |             ^^^^^^^ not found

error[E0201]: `missing` is not defined
 --> blur.py:3:12
  |
3 |     return missing
  |            ^^^^^^^

2 errors in kernel `blur`"""


@pytest.fixture(autouse=True)
def no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CompileError:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "blur.py"
    path.write_text(TEXT)
    source = SourceName("blur.py", str(path))
    first = Diagnostic("E0201", "`unknown` is not defined", Loc(source, 2, 12, 2, 19), "not found")
    second = Diagnostic("E0201", "`missing` is not defined", Loc(source, 3, 11, 3, 18))
    return CompileError((first, second), "blur")


def test_the_text_of_an_error_is_all_diagnostics_and_their_number(error: CompileError) -> None:
    assert str(error) == RENDERED


def test_one_error_is_counted_as_one(error: CompileError) -> None:
    assert str(CompileError(error.diagnostics[1:], "blur")).splitlines()[-1] == (
        "1 error in kernel `blur`"
    )


def test_warnings_are_shown_but_not_counted() -> None:
    warning = Diagnostic("E1", "slow", NOWHERE, severity="warning")
    error = CompileError((warning, Diagnostic("E2", "wrong", NOWHERE)))
    assert str(error) == "warning[E1]: slow\n\nerror[E2]: wrong\n\n1 error"


def test_an_error_has_the_place_of_its_first_diagnostic(error: CompileError) -> None:
    place = (error.lineno, error.offset, error.end_lineno, error.end_offset)
    assert place == (2, 13, 2, 20)
    assert error.filename == str(Path("blur.py").absolute())
    assert error.text == "    b = a + unknown\n"


def test_an_error_without_a_place_has_no_line() -> None:
    error = CompileError((Diagnostic("E1", "wrong", NOWHERE),))
    assert (error.filename, error.lineno, error.text) == (None, None, None)


def test_a_traceback_shows_the_place_and_every_diagnostic_once(error: CompileError) -> None:
    assert "".join(traceback.format_exception(error)) == (
        f'  File "{error.filename}", line 2\n'
        "    b = a + unknown\n"
        "            ^^^^^^^\n"
        f"eas.CompileError: {RENDERED}\n"
    )


def test_an_error_that_nobody_catches_is_printed_in_the_same_form(error: CompileError) -> None:
    Path("error.pickle").write_bytes(pickle.dumps(error))
    Path("run.py").write_text(
        "import pickle\nwith open('error.pickle', 'rb') as file:\n    raise pickle.load(file)\n"
    )
    run = subprocess.run(
        [sys.executable, "run.py"], capture_output=True, encoding="utf-8", check=False
    )
    stderr = run.stderr.splitlines()
    assert (run.returncode, stderr[3:5]) == (
        1,
        [f'  File "{error.filename}", line 2', "    b = a + unknown"],
    )
    assert "\n".join(stderr[6:]) == f"eas.CompileError: {RENDERED}"


def test_a_terminal_gets_the_message_in_colour_but_text_stays_plain(
    error: CompileError, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert error.msg == error.render(color=True)
    assert str(error) == RENDERED


@pytest.mark.parametrize(
    "clone", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))]
)
def test_a_copy_of_an_error_is_the_same_error(
    error: CompileError, clone: Callable[[CompileError], CompileError]
) -> None:
    error.add_note("seen by a test")
    twin = clone(error)
    assert type(twin) is CompileError
    assert twin.diagnostics == error.diagnostics
    assert "".join(traceback.format_exception(twin)) == "".join(traceback.format_exception(error))


def test_a_refusal_carries_its_diagnostic() -> None:
    diagnostic = Diagnostic("E1", "wrong", NOWHERE)
    refusal = pickle.loads(pickle.dumps(Refusal(diagnostic)))
    assert refusal.diagnostic == diagnostic
    assert str(refusal) == "error[E1]: wrong"


def number(n: int) -> Diagnostic:
    return Diagnostic(f"E{n}", "wrong", NOWHERE)


def test_equal_diagnostics_are_kept_once_in_the_order_found() -> None:
    found = Diagnostics()
    for n in (1, 2, 1, 3):
        found.add(number(n))
    assert found.items == (number(1), number(2), number(3))


def test_a_rollback_forgets_what_was_added_since_the_mark() -> None:
    found = Diagnostics()
    found.add(number(1))
    mark = found.mark()
    found.add(number(1))
    found.add(number(2))
    found.rollback(mark)
    found.add(number(3))
    assert found.items == (number(1), number(3))


def test_all_that_was_found_is_raised_at_once() -> None:
    found = Diagnostics()
    found.add(number(1))
    found.add(number(2))
    with pytest.raises(CompileError) as caught:
        found.raise_if_any("blur")
    assert caught.value.diagnostics == (number(1), number(2))
    assert caught.value.kernel == "blur"


def test_without_an_error_nothing_is_raised() -> None:
    found, warning = Diagnostics(), Diagnostic("E1", "slow", NOWHERE, severity="warning")
    found.raise_if_any("blur")
    found.add(warning)
    found.raise_if_any("blur")
    assert found.items == (warning,)


def test_a_notebook_shows_the_cell_and_every_diagnostic(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shell = InteractiveShell(colors="nocolor")
    shell.user_ns["refuse"] = _refuse
    shell.run_cell("def f(a):\n    return a + b\n\nrefuse(f)", store_history=True)
    last_frame = capsys.readouterr().out.rpartition("  File <ipython-input-1-")[2]
    assert last_frame.partition(">")[2] == SHOWN_IN_NOTEBOOK


SHOWN_IN_NOTEBOOK = """\
:2
    return a + b
               ^
CompileError: error[E0201]: `b` is not defined
 --> <cell>:2:16
  |
2 |     return a + b
  |                ^ not found

1 error in kernel `f`

"""


def _refuse(fn: Callable[..., object]) -> None:
    source = read_source(fn)
    name = [node for node in ast.walk(source.node) if isinstance(node, ast.Name)][-1]
    found = Diagnostic("E0201", "`b` is not defined", source.loc(name), "not found")
    raise CompileError((found,), "f")
