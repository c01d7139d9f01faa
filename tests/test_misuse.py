"""Each function of `mk` with operands of every kind: refused in words, or compiled."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import eas
from tests.calls import ARGUMENTS, FUNCTIONS, forms_of
from tests.thorough import sampled

# Names of operands in the kernels below, and constants.
OPERANDS = (
    *("n", "f", "h", "i", "i8", "u", "w", "v", "hv", "bv", "c", "t", "cube", "one", "a", "b", "p"),
    *("a + i", "b + n", "a + t", "i > n", "t > n", "0", "-1", "4", "2**40", "1.5", "-0.0", "True"),
    *("None", "'zero'", "()", "(4,)", "[2, 2]", "(v, i)", "(t, t, t)", "mk.f32", "mk.bool"),
    *("math.nan", "np.int16(3)", "np.float32", "range(4)", "range(n)", "a.shape", "v.shape"),
    *("mk.maximum", "lambda x: x", "lambda x, y: x + y", "lambda x, y, z, w: (x, y)", "math"),
)
HEAD = """\
import math

import numpy as np

import eas
from eas import mk


def join(*parts):
    return parts[:4]
"""
BLOCKS = """
    i = mk.arange(0, 4)
    t = mk.arange(0, 2)[:, None] * 4 + i
    cube = mk.reshape(mk.arange(0, 8), (2, 2, 2))
    one = mk.zeros((1,))
    p = mk.make_block_ptr(a, (4, 4), (4, 1), (0, 0), (2, 2))
"""
THREADS = """
    i = mk.tid(0, 40)
    t = mk.lane_id()
    cube = mk.sg_id()
    one = mk.local_id() % 3
    p = mk.alloc_tg((4, 16), mk.f32)
"""
BOTH = """\
    i8, u, w = i.to(mk.i8), i.to(mk.u32), i.to(mk.i64)
    v = mk.load(a, i)
    hv, bv, c = v.to(mk.f16), v.to(mk.bf16), i > 1
"""
SETTINGS = {"blocks": BLOCKS, "threads": THREADS}
TYPES = ("*f32[:]", "*i32[:]", "i32", "f32", "f16")


def misuses(name: str) -> Iterator[str]:
    """Calls in which one argument after the other is of each kind."""
    for form in forms_of(FUNCTIONS[name]):
        parameters = list(form.parameters.values())
        right = [ARGUMENTS[p.annotation] for p in parameters]
        yield call(name, parameters, right)
        for place in range(len(parameters)):
            for operand in OPERANDS:
                yield call(name, parameters, [*right[:place], operand, *right[place + 1 :]])


def call(name: str, parameters: Sequence[inspect.Parameter], values: Sequence[str]) -> str:
    pairs = zip(parameters, values, strict=True)
    given = [f"{p.name}={v}" if p.kind is p.KEYWORD_ONLY else v for p, v in pairs]
    return f"print(mk.{name}({', '.join(given)}))"


def source(setting: str, calls: Sequence[str]) -> str:
    body = "".join(f"    {text}\n" for text in calls)
    return f"{HEAD}\n\n@eas.kernel\ndef kernel(a, b, n, f, h):{setting}{BOTH}{body}"


def compiled(path: Path, text: str, target: str) -> set[int]:
    """Compiles a kernel; gives the lines, from 1 on, that are refused."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("misuse", path)
    assert spec and spec.loader
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        getattr(module.kernel, target)(*TYPES)
    except eas.CompileError as error:
        internal = [d for d in error.diagnostics if d.code in ("E0900", "E0901")]
        assert internal == [], text.splitlines()[internal[0].loc.line - 1]
        return {d.loc.line for d in error.diagnostics}
    return set()


@pytest.mark.parametrize(
    ("name", "setting"),
    [(name, setting) for name in FUNCTIONS for setting in SETTINGS],
)
@sampled(9)
def test_a_call_is_refused_in_words_or_compiled(name: str, setting: str, tmp_path: Path) -> None:
    """What is refused is left out, until the rest is compiled."""
    calls = list(dict.fromkeys(misuses(name)))
    target = "to_llvm" if name == "to_f64" else "to_msl"
    refused = {0}
    for turn in range(5):
        if calls and refused:
            text = source(SETTINGS[setting], calls)
            first = len(text.splitlines()) - len(calls) + 1
            refused = compiled(tmp_path / f"turn{turn}.py", text, target)
            calls = [call for n, call in enumerate(calls) if first + n not in refused]
    assert not (calls and refused)
