"""Every broken kernel under `tests/errors/`: the message, compared with its snapshot."""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

import eas
from eas.frontend_ast import name_lookup
from eas.frontend_ast.context import Context
from eas.frontend_ast.operands import Operand
from eas.frontend_ast.table import TABLE
from tests.errors.case import Case

REPOSITORY = Path(__file__).parent.parent
FOLDER = REPOSITORY / "tests" / "errors"
OTHER_FILES = {"__init__", "case", "shared"}
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in OTHER_FILES)
every_error = pytest.mark.parametrize("name", NAMES)
SnapshotCheck = Callable[[str, str], None]

# The definition itself is wrong, or has the mistake in it; or there is no text to point into.
AT_A_DEFINITION = {"async_kernel", "async_nested_function", "mistake_in_default"}
WITHOUT_SOURCE = {"kernel_without_source"}


@pytest.fixture(autouse=True)
def same_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are shown as seen from the current folder, and an endless loop is stopped soon."""
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setenv("EAS_MAX_TRIPS", "1000")


def error_of(name: str) -> eas.CompileError | eas.KernelError:
    case: Case = import_module(f"tests.errors.{name}").CASE
    return case.error()


@every_error
def test_the_error_is_that_of_the_snapshot(name: str, error_snapshot: SnapshotCheck) -> None:
    error_snapshot(name, f"{error_of(name)}\n")


@pytest.mark.parametrize("name", sorted(set(NAMES) - AT_A_DEFINITION - WITHOUT_SOURCE))
def test_an_error_is_at_the_use_and_not_at_the_definition(name: str) -> None:
    for diagnostic in error_of(name).diagnostics:
        assert diagnostic.loc.line not in lines_of_definitions(Path(diagnostic.loc.source.path))


@pytest.mark.parametrize("name", sorted(set(NAMES) - WITHOUT_SOURCE))
def test_an_error_marks_a_part_of_the_text_that_is_no_block_of_statements(name: str) -> None:
    for diagnostic in error_of(name).diagnostics:
        loc = diagnostic.loc
        tree = ast.parse(Path(loc.source.path).read_text("utf-8"))
        starts = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt)]
        assert not any(loc.line < start <= loc.end_line for start in starts)


def lines_of_definitions(path: Path) -> set[int]:
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return {n.lineno for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_a_kernel_with_three_mistakes_has_three_diagnostics() -> None:
    error = error_of("three_mistakes")
    assert [diagnostic.code for diagnostic in error.diagnostics] == ["E0428", "E0312", "E0201"]


def test_an_error_is_a_syntax_error_at_the_place_of_the_first_mistake() -> None:
    error = error_of("undefined_name")
    assert isinstance(error, SyntaxError)
    place = (error.lineno, error.offset, error.end_lineno, error.end_offset)
    assert place == (12, 59, 12, 62)
    assert error.filename == str(FOLDER / "undefined_name.py")
    assert error.text == (
        "    mk.store(c, offs, mk.load(a, offs, mask) + mk.load(b, ofs, mask), mask)\n"
    )


INTERNAL_ERROR = """\
error[E0900]: internal compiler error: LookupError: out of luck
  --> tests/errors/call_chain.py:9:16
   |
 9 |     return x + undefined
   |                ^^^^^^^^^
  ::: tests/errors/call_chain.py:13:12
   |
13 |     return third(x) * 2.0
   |            -------- called from here
  ::: tests/errors/call_chain.py:17:12
   |
17 |     return second(x + 1.0)
   |            --------------- called from here
  ::: tests/errors/call_chain.py:22:20
   |
22 |     mk.store(a, 0, first(mk.load(a, 0)))
   |                    -------------------- called from here
   = note: this is a fault of easy_as, not of the kernel
   = help: please report it, with the kernel

1 error in kernel `apply`"""


def test_what_was_not_foreseen_is_an_internal_error_at_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lower_name(ctx: Context, node: ast.Name) -> Operand:
        if node.id == "undefined":
            raise LookupError("out of luck")
        return name_lookup.lower_name(ctx, node)

    monkeypatch.setitem(globals(), "__name__", "eas.handlers")  # it is not the user's code
    monkeypatch.setitem(TABLE.expressions, ast.Name, lower_name)
    error = error_of("call_chain")
    assert str(error) == INTERNAL_ERROR
    assert isinstance(error.__cause__, LookupError)
