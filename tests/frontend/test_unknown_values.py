"""Kernels that are read without being run: what is unknown is not checked, all else is."""

from __future__ import annotations

import dataclasses
import math
import operator
import os
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.frontend_ast import caution
from eas.frontend_ast.lower import Incomplete, lower
from eas.frontend_ast.source.parameters import UNKNOWN, ArrayArg, ScalarArg, UnknownArg
from eas.ir.types import F32, I32

TABLE: Any = UNKNOWN


def codes_of(fn: FunctionType, *, is_cautious: bool = False, **known: Any) -> list[str]:
    """The errors of a function; parameters are unknown unless given."""
    names = fn.__code__.co_varnames[: fn.__code__.co_argcount]
    arguments = {name: known.get(name, UnknownArg()) for name in names}
    try:
        lower(fn, arguments, caution=caution if is_cautious else None)
    except eas.CompileError as error:
        return [diagnostic.code for diagnostic in error.diagnostics]
    except Incomplete:
        return ["incomplete"]
    return []


def test_a_right_kernel_with_unknown_parameters_has_no_errors() -> None:
    def copy(a, b, N, BLOCK):
        i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
        total = 0.0
        for k in range(N):
            if k > 3 and k < N:
                total += mk.load(a, i + k, mask=i < N)
        while total > N:
            total = total / 2
        mk.store(b, i, total, mask=i < N)

    assert codes_of(copy) == ["incomplete"]


def test_what_is_known_is_checked() -> None:
    def wrong(a, n):
        v = mk.load(a, n)
        w = mk.arange(0, 8) + mk.arange(0, 4)
        mk.store(a, 0, v + w)

    assert codes_of(wrong) == ["E0304"]


def test_names_that_nothing_defines_are_found_everywhere() -> None:
    def wrong(a, n):
        if n > 0 and a[0] > first:
            a[1] = [second for k in range(n)]
        a[2] = (lambda x: x + third)(n)

    assert sorted(codes_of(wrong)) == ["E0201", "E0201", "E0201"]


def test_names_that_are_bound_in_inner_scopes_are_no_errors() -> None:
    def right(a, n):
        def inner(p, *rest, key=0, **more):
            return p + key

        for k, j in n:
            a[k] = inner(j) + sum(m for m in n if (z := m)) + (lambda u: u)(k)
        match n:
            case [q, *r]:
                a[0] = q
            case {"s": t, **u}:
                a[0] = t

    assert codes_of(right) == ["incomplete"]


def test_constructs_are_refused_where_nothing_is_known() -> None:
    def wrong(a, n):
        for k in n:
            with a:
                del k

    assert codes_of(wrong) == ["E0103", "E0107"]


def test_an_unknown_value_from_outside_silences_what_depends_on_it() -> None:
    def partly(a):
        a[0] = TABLE[3].field(2) + 1
        a[1] = nothing

    assert codes_of(partly, a=ArrayArg(F32, 1)) == ["E0201"]


def test_a_whole_kernel_is_lowered_if_nothing_is_unknown() -> None:
    def right(a, n):
        a[0] = n

    assert codes_of(right, a=ArrayArg(F32, 1), n=ScalarArg(I32)) == []


# What runs when it is looked at.
seen: list[str] = []


class Careless:
    @property
    def value(self) -> int:
        seen.append("property")
        return 1

    def __add__(self, other: object) -> int:
        seen.append("add")
        return 1

    def __len__(self) -> int:
        seen.append("len")
        return 1


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: int = 2


def run(text: str) -> int:
    seen.append(text)
    return 1


careless, point, remove = Careless(), Point(1), os.remove


def test_nothing_of_the_users_runs_while_a_kernel_is_read_with_caution(tmp_path: Path) -> None:
    def planted(a):
        a[0] = careless.value
        a[1] = careless + 1
        a[2] = len(careless)
        a[3] = operator.call(remove, "planted")
        a[4] = len(sorted(("planted", "planted"), key=remove))
        np.save("planted", 3)
        a[5] = operator.methodcaller("append", "method")(seen)
        os.remove("planted")

    folder = Path.cwd()
    os.chdir(tmp_path)
    try:
        (tmp_path / "planted").write_text("")
        codes = codes_of(planted, is_cautious=True, a=ArrayArg(F32, 1))
    finally:
        os.chdir(folder)
    assert seen == []
    assert [file.name for file in tmp_path.iterdir()] == ["planted"]
    assert codes[-1] == "E0411"  # os.remove is no function for kernels


def test_plain_values_are_used_with_caution() -> None:
    def right(a):
        a[0] = point.x + math.sqrt(4.0) + np.float32(2.0) + mk.f32.bits / 2
        a[1] = len((1, 2)) + max(point.y, 3) + "ab".index("b")

    assert codes_of(right, is_cautious=True, a=ArrayArg(F32, 1)) == []


@pytest.mark.parametrize("value", [1, 2.0, "a", (1, 2), {"a": [1]}, Point(1), mk.f32, math])
def test_data_is_plain(value: object) -> None:
    assert caution.is_plain(value)


@pytest.mark.parametrize("value", [careless, (1, careless), {"a": careless}, UNKNOWN, open])
def test_objects_with_code_are_not_plain(value: object) -> None:
    assert caution.is_plain(value) is (value is open)
