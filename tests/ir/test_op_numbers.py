"""The numbers of ops: tables about ops are keyed by them, and outlive what passes rebuild."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from hypothesis import given

from eas.ir.nodes import Function, Op, walk
from eas.ir.pipeline import steps
from eas.ir.rewrite import Renaming, rebuild, renumber, same, substitute
from eas.ir.text import parse_function, print_function
from eas.ir.verify import verify
from eas.msl.pipeline import MetalOptions
from eas.support.records import replace
from eas.targets import TARGETS, pipelines_of
from tests.ir.strategies import functions

REPOSITORY = Path(__file__).parents[2]

# Steps and C++ trees of `msl` are equal to themselves only, and live as long as their tables.
OTHER_OBJECTS = {"msl/schedule/barriers.py", "msl/cxx/temporaries.py"}


def numbers(ops: tuple[Op, ...], f: Function) -> list[int]:
    return [op.number for op in walk(replace(f.body, ops=ops))]


@given(functions())
def test_an_op_keeps_its_number_when_it_is_rebuilt(f: Function) -> None:
    before = numbers(f.body.ops, f)
    assert numbers(tuple(rebuild(op, same, same) for op in f.body.ops), f) == before
    renamed = renumber(f)
    assert numbers(renamed.body.ops, f) == before
    [a, b] = [f.params[0].value, renamed.params[1].value]
    assert numbers(substitute(f.body.ops, {a.id: b}), f) == before


@given(functions())
def test_a_copy_has_numbers_of_its_own(f: Function) -> None:
    body = Renaming(same, is_copy=True).region(f.body)
    assert body == f.body
    assert not set(numbers(body.ops, f)) & set(numbers(f.body.ops, f))


@given(functions())
def test_a_number_is_no_part_of_what_an_op_is(f: Function) -> None:
    other = parse_function(print_function(f))
    assert not set(numbers(other.body.ops, f)) & set(numbers(f.body.ops, f))
    assert (other, hash(other.body), repr(other)) == (f, hash(f.body), repr(f))


@given(functions())
def test_what_no_pass_changes_keeps_its_number(f: Function) -> None:
    """Else a table that was made before a pass would lose ops that are still there."""
    for target in TARGETS:
        function = f
        for pipeline in pipelines_of(target):
            for each, stage, after in steps(pipeline, function, MetalOptions()):
                verify(after, stage)
                if after == function:
                    kept = numbers(after.body.ops, f)
                    assert kept == numbers(function.body.ops, f), each.name
                function = after


def test_no_table_is_keyed_by_the_address_of_an_op() -> None:
    folders = [REPOSITORY / name for name in ("ir", "llvm", "msl", "runtime/interpreter")]
    files = [path for folder in folders for path in folder.rglob("*.py")]
    found = {
        path.relative_to(REPOSITORY).as_posix()
        for path in files
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and re.match(r"(id|map\(id)\b", ast.unparse(node))
    }
    assert found == OTHER_OBJECTS
