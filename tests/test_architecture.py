"""ARCHITECTURE.md is true: the forms of its kernel, the grammar of the IR, the files it names."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eas.call_arguments import argument_types
from eas.cli import main
from eas.frontend_ast.lower import lower
from eas.ir import nodes, types
from eas.ir.passes import relax
from eas.ir.text import print_function
from eas.llvm.kernel import write as write_llvm
from eas.llvm.pipeline import CPU
from eas.msl.pipeline import METAL
from tests.forms.center import center

REPOSITORY = Path(__file__).parent.parent
PAGE = REPOSITORY / "ARCHITECTURE.md"
TYPES = ("*f32", "*f32", "i32")
BLOCK = 256

FORM = re.compile(r"(<!-- form: ([\w ]+) -->\n```\w+\n)(.*?)(?=^```\n)", re.MULTILINE | re.DOTALL)
PATH = re.compile(r"`((?:\w+/)+\w+\.(?:py|ll|metal|ir|md))`")


def without_places(text: str) -> str:
    return re.sub(r" +@[\d:-]+$", "", text, flags=re.MULTILINE)


def python() -> str:
    return (REPOSITORY / "tests/forms/center.py").read_text("utf-8").partition("@eas")[2]


def syntax_tree() -> str:
    [assignment] = ast.parse("v = mk.load(x, i, mask=i < N)").body
    text = ast.dump(assignment, annotate_fields=False)
    return text.replace(", Load()", "").replace(", Store()", "") + "\n"


def front_end_ir() -> str:
    call = center._specialize(TYPES, {"BLOCK": BLOCK}, is_launch=False)  # pyright: ignore[reportPrivateUsage]
    types = argument_types(center.parameters.all, call)
    return without_places(print_function(lower(center.fn, types).function))


def metal_part(begin: str) -> str:
    text = center.to_msl(*TYPES, BLOCK=BLOCK)
    return text[text.index(begin) :]


def main_loop(width: int) -> str:
    """The first loop of the LLVM text for vectors of so many lanes."""
    text = write_llvm(relax(center.compile(*TYPES, BLOCK=BLOCK).function), width, True)
    found = re.search(r"^loop\d+:\n(?:  .*\n)*", text, re.MULTILINE)
    assert found is not None
    return found[0]


FORMS: dict[str, Callable[[], str]] = {
    "python": lambda: f"@eas{python()}",
    "ast": syntax_tree,
    "typed IR": front_end_ir,
    "optimized IR": lambda: without_places(center.to_ir(*TYPES, BLOCK=BLOCK)),
    "layout": lambda: center.to_schedule(*TYPES, BLOCK=BLOCK).partition("\n\n")[0] + "\n",
    "schedule": lambda: center.to_schedule(*TYPES, BLOCK=BLOCK).partition("\n\n")[2],
    "tree": lambda: center.to_tree(*TYPES, BLOCK=BLOCK),
    "lane loops": lambda: center.to_schedule(*TYPES, BLOCK=BLOCK, _target="cpu"),
    "metal": lambda: metal_part("    threadgroup float"),
    "llvm": lambda: main_loop(8),
}


def test_the_forms_are_what_the_compiler_makes(pytestconfig: pytest.Config) -> None:
    text = PAGE.read_text("utf-8")
    assert {found[2] for found in FORM.finditer(text)} == set(FORMS)
    right = FORM.sub(lambda found: found[1] + FORMS[found[2]](), text)
    if pytestconfig.option.update_snapshots:
        PAGE.write_text(right, "utf-8")
    else:
        assert text == right


@pytest.mark.parametrize("target", ["metal", "cpu"])
def test_the_passes_of_the_targets_leave_the_kernel_as_it_is(target: str) -> None:
    """The page does not show its IR of a target for this reason."""
    last = {"metal": METAL, "cpu": CPU}[target].passes[-1].name
    found = center.ir_after(last, target, *TYPES, BLOCK=BLOCK)
    assert without_places(found) == FORMS["optimized IR"]()


COMMAND = re.compile(r"^uv run (eas .*)$", re.MULTILINE)


def test_the_command_of_the_page_shows_ops_of_a_target(capsys: pytest.CaptureFixture[str]) -> None:
    [command] = COMMAND.findall(PAGE.read_text("utf-8"))
    assert main(shlex.split(command)[1:]) == 0
    assert "mma_" in capsys.readouterr().out


def grammar() -> dict[str, list[str]]:
    """The records of the grammar with their fields."""
    block = PAGE.read_text("utf-8").partition("<!-- grammar -->\n```text\n")[2].partition("```")[0]
    found: dict[str, list[str]] = {}
    for name, inner in re.findall(r"(\w+)(?: += )?\(([^()]*)\)", block):
        fields = [each.strip().partition(":")[0].rstrip("*?") for each in inner.split(",")]
        found[name] = [each for each in fields if each]
    return found


IMPLIED = {"loc", "number"}  # every op has them


def fields_of(record: Any) -> list[str]:
    return [name for name in record.__record_fields__ if name not in IMPLIED]


@pytest.mark.parametrize("name", sorted(grammar()))
def test_the_grammar_has_the_fields_of_each_record(name: str) -> None:
    record = getattr(nodes, name, None) or getattr(types, name)
    assert grammar()[name] == fields_of(record)


def test_the_grammar_has_every_op() -> None:
    ops = {op.__name__ for op in nodes.Op.__args__}
    assert ops - set(grammar()) == set()


def test_the_files_that_the_page_names_exist() -> None:
    named = set(PATH.findall(PAGE.read_text("utf-8")))
    assert len(named) > 30
    assert sorted(path for path in named if not (REPOSITORY / path).exists()) == []
