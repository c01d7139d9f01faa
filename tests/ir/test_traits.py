"""Traits of ops: what passes and backends ask about an op is said once, on its record."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from eas.ir.ops import OPS
from eas.ir.ops.simdgroup import SIMD
from eas.ir.types import I32

REPOSITORY = Path(__file__).parents[2]
PRODUCT = ("eas", "frontend_ast", "ir", "llvm", "msl", "runtime")
TRAITS = {
    "view": {name for name, op in OPS.items() if op.view},
    "repeats": {name for name, op in OPS.items() if op.repeats},
    "view without collective": {n for n, op in OPS.items() if op.view and not op.collective},
    "position": {name for name, op in OPS.items() if op.position},
    "positional": {name for name, op in OPS.items() if op.positional},
    "reduction": {name for name, op in OPS.items() if op.reduction},
    "simdgroup": {name for name, op in OPS.items() if op.simdgroup},
    "simd_reduction": {name for name, op in OPS.items() if op.simd_reduction},
    "simdgroup without a reduction": {
        name for name, op in OPS.items() if op.simdgroup and not op.simd_reduction
    },
    "exchange in a simdgroup": {
        name for name, op in OPS.items() if op.simdgroup and len(op.operands) == 2
    },
    "fault of the second operand": {
        name for name, op in OPS.items() if op.fault and op.fault.of_second
    },
}
FAULTS = {name: op.fault for name, op in OPS.items() if op.fault and op.fault.of_second}


def product_files() -> list[Path]:
    files = {file.resolve() for folder in PRODUCT for file in (REPOSITORY / folder).rglob("*.py")}
    return sorted(files - {file for file in files if file.parent.name == "ops"})


def name_sets(tree: ast.AST) -> Iterator[tuple[int, set[str]]]:
    """The lists of names of ops in a file, with their lines: sets, tuples, patterns."""
    for node in ast.walk(tree):
        match node:
            case ast.Set() | ast.Tuple() | ast.List():
                values = [each.value for each in node.elts if isinstance(each, ast.Constant)]
            case ast.MatchOr():
                cases = [each.value for each in node.patterns if isinstance(each, ast.MatchValue)]
                values = [each.value for each in cases if isinstance(each, ast.Constant)]
            case _:
                continue
        names = {value for value in values if isinstance(value, str) and value in OPS}
        yield getattr(node, "lineno", 0), names


def test_no_list_of_names_stands_for_a_trait() -> None:
    found = [
        f"{file.relative_to(REPOSITORY)}:{line} is the trait `{trait}`"
        for file in product_files()
        for line, names in name_sets(ast.parse(file.read_text("utf-8")))
        for trait, extent in TRAITS.items()
        if names == extent
    ]
    assert found == []


def test_no_prefix_of_a_name_stands_for_a_trait() -> None:
    found = [
        f"{file.relative_to(REPOSITORY)}:{node.lineno}"
        for file in product_files()
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("startswith", "removeprefix")
        and any(isinstance(a, ast.Constant) and a.value == "reduce_" for a in node.args)
    ]
    assert found == []


VIEWS: dict[str, tuple[tuple[int, ...], dict[str, object]]] = {
    "splat": ((), {"shape": (2, 3)}),
    "broadcast": ((1, 3), {"shape": (2, 3)}),
    "expand_dims": ((3,), {"axis": 1}),
    "reshape": ((2, 3), {"shape": (6,)}),
    "permute": ((2, 3), {"axes": (1, 0)}),
    "slice": ((4, 3), {"starts": (1, 0), "sizes": (2, 2), "steps": (2, 1)}),
    "cycle": ((4,), {"axis": 0, "start": 1, "size": 6}),
}


def test_every_view_has_an_example() -> None:
    assert VIEWS.keys() == TRAITS["view"]


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_gives_elements_of_its_operand(name: str) -> None:
    shape, attrs = VIEWS[name]
    operand = np.arange(100, 100 + math.prod(shape), dtype=np.int32).reshape(1, *shape)
    result = OPS[name].meaning(operand, **attrs)
    assert set(result.ravel()) <= set(operand.ravel())
    assert result.dtype == operand.dtype


def test_a_position_has_no_operands() -> None:
    assert {name for name, op in OPS.items() if not op.operands} == TRAITS["position"]


def test_reductions_and_simdgroup_ops_are_collective() -> None:
    named = TRAITS["reduction"] | TRAITS["simdgroup"]
    assert {name for name in named if not OPS[name].collective} == set()


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("second", [-1, 0, 1, 31, 32])
def test_a_fault_of_the_second_operand_is_found_from_a_literal(name: str, second: int) -> None:
    fault = FAULTS[name]
    first = np.arange(-4, 4, dtype=np.int32)
    happens = fault.where(first, np.full(8, second, np.int32))
    assert happens is not None
    assert set(happens) == {fault.happens_for(second, I32)}


def test_a_simdgroup_has_32_threads() -> None:
    assert OPS["lane_index"].meaning(size=SIMD + 1).tolist() == [[*range(SIMD), 0]]
    assert OPS["simdgroup_index"].meaning(size=SIMD + 1).tolist() == [[*([0] * SIMD), 1]]
