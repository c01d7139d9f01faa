"""What an editor knows of `mk`: a type checker reads right and wrong uses of each name."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from eas.ir.types import DTYPES
from tests.calls import ARGUMENTS, FUNCTIONS, forms_of

TYPED_KERNEL = """\
# pyright: strict
import eas
from eas import mk


@eas.kernel
def total(x: mk.Value, out: mk.Value, n: mk.i64, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(x, offs, mask=offs < n).to(mk.f32)
    w = mk.load(x + offs, offs < n, 0.0)
    for k in range(mk.cdiv(n, BLOCK)):
        v += 2.0 * k
    same = (offs == 3)[:, None] & (offs[None, :] != 3)
    while mk.max(v) > mk.i32.max:
        v = mk.where(v > 1.0, v / 2.0, -v)
    mk.store(out + offs, abs(v) ** 2, mk.any(same, axis=1))
    mk.atomic_add(out + offs, w)
    tile = mk.make_block_ptr(x, (n, n), (n, 1), (0, 0), (8, 8), order=(1, 0))
    mk.store(tile, mk.load(mk.advance(tile, [0, 8])), boundary_check=(0, 1))
    out[0], out[offs] = mk.sum(v), mk.reduce(v, 0, lambda a, b: a * b)
    total, place = mk.reduce((v, offs), 0, lambda a, i, b, j: (a + b, mk.maximum(i, j)))
    mk.static_print(total, place)
    row, column = divmod(offs, n)
    out[max(row, 0)] = round(min(v, w)) + min(row, column, 3)
"""

MISTAKES = """\
    mk.load(x, offs, msk=offs < n)
    mk.sum(v, axes=1)
    mk.stor(out, offs, v)
    mk.zeros("f32")
    mk.store(out)
    mk.store(out, offs, v, offs < n, 3)
    mk.load(tile, offs)
    mk.load(x + offs, 1.5)
    x["row"]
    mk.reduce(v, 0, lambda a: a)
    mk.f32.bitz
    v.to(f32=1)
"""

# These take whatever there is.
TAKES_ANYTHING = {("static_print", "parts")}


def call(
    name: str, parameters: Sequence[inspect.Parameter], wrong: str = "", more: str = ""
) -> str:
    """A call with a right argument for each parameter but a wrong one."""
    arguments: list[str] = []
    for p in parameters:
        value = "wrong" if p.name == wrong else ARGUMENTS[p.annotation]
        arguments.append(f"{p.name}={value}" if p.kind is p.KEYWORD_ONLY else value)
    return f"mk.{name}({', '.join([*arguments, *([more] if more else [])])})"


def right_calls() -> Iterator[str]:
    """With all arguments, with the required ones only, and with all of them by name."""
    for name, function in FUNCTIONS.items():
        for form in forms_of(function):
            parameters = list(form.parameters.values())
            yield call(name, parameters)
            yield call(name, [p for p in parameters if p.default is p.empty])
            if all(p.kind is not p.VAR_POSITIONAL for p in parameters):
                yield call(name, [p.replace(kind=p.KEYWORD_ONLY) for p in parameters])


def wrong_calls() -> Iterator[str]:
    """With a keyword that is unknown, with something wrong for each parameter, with no such part
    of the result."""
    for name, function in FUNCTIONS.items():
        for form in forms_of(function):
            parameters = list(form.parameters.values())
            yield call(name, parameters, more="no_such_keyword=1")
            for p in parameters:
                if (name, p.name) not in TAKES_ANYTHING:
                    yield call(name, parameters, wrong=p.name)
            if form.return_annotation != "None":
                yield f"{call(name, parameters)}.no_such_attribute"
    for name in DTYPES:
        yield f"mk.{name}.no_such_attribute"
        yield f"mk.zeros(4, mk.{name}, 1)"


HEAD = """\
from eas import mk


class Wrong: ...


def join(*parts: mk.Value) -> tuple[mk.Value, ...]:
    return parts[:4]


def calls(v: mk.Value, p: mk.BlockPointer, wrong: Wrong):
"""


def file_of(calls: Sequence[str]) -> str:
    return HEAD + "".join(f"    {text}\n" for text in calls)


Findings = dict[str, dict[int, list[str]]]


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    """The rules that the type checker finds broken in each file, by the line, from 0 on."""
    folder = tmp_path_factory.mktemp("editor")
    (folder / "kernel.py").write_text(TYPED_KERNEL + MISTAKES)
    (folder / "right.py").write_text(file_of(list(right_calls())))
    (folder / "wrong.py").write_text(file_of(list(wrong_calls())))
    command = [sys.executable, "-m", "basedpyright", "--outputjson", str(folder)]
    root = Path(__file__).parents[1]
    report = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False).stdout
    found: Findings = {"kernel": {}, "right": {}, "wrong": {}}
    for item in json.loads(report)["generalDiagnostics"]:
        lines = found[Path(item["file"]).stem]
        lines.setdefault(item["range"]["start"]["line"], []).append(item["rule"])
    return found


# Statements without an effect.
OF_NO_INTEREST = {"reportUnusedExpression", "reportUnusedCallResult"}


def of_interest(lines: dict[int, list[str]]) -> dict[int, set[str]]:
    """The rules that a type checker breaks off with, by the line."""
    kept = {line: set(rules) - OF_NO_INTEREST for line, rules in lines.items()}
    return {line: rules for line, rules in kept.items() if rules}


def test_a_kernel_has_no_mistakes_but_those_that_it_has(findings: Findings) -> None:
    first = len(TYPED_KERNEL.splitlines())
    found = of_interest(findings["kernel"])
    assert {line: rules for line, rules in found.items() if line < first} == {}
    wrong = MISTAKES.splitlines()
    assert [text for n, text in enumerate(wrong) if first + n not in found] == []


def test_right_calls_of_each_function_are_accepted(findings: Findings) -> None:
    calls = list(right_calls())
    first = len(HEAD.splitlines())
    found = of_interest(findings["right"])
    assert {calls[line - first]: rules for line, rules in found.items()} == {}
    assert {text.partition("(")[0].removeprefix("mk.") for text in calls} == FUNCTIONS.keys()


def test_wrong_keywords_types_and_attributes_are_found_for_each_function(
    findings: Findings,
) -> None:
    calls = list(wrong_calls())
    first = len(HEAD.splitlines())
    found = of_interest(findings["wrong"])
    assert [text for n, text in enumerate(calls) if first + n not in found] == []


def test_each_function_is_misused_by_a_keyword_and_by_a_type() -> None:
    calls = list(wrong_calls())
    by_keyword = {name for text in calls if "no_such_keyword" in text for name in named(text)}
    by_type = {name for text in calls if re.search(r"\bwrong\b", text) for name in named(text)}
    assert by_keyword == FUNCTIONS.keys()
    without_arguments = {n for n, f in FUNCTIONS.items() if not inspect.signature(f).parameters}
    assert FUNCTIONS.keys() - by_type == without_arguments | {n for n, _ in TAKES_ANYTHING}


def named(text: str) -> set[str]:
    return {text.partition("(")[0].removeprefix("mk.")}


def test_each_function_has_a_docstring_that_ends_its_first_sentence() -> None:
    heads = {name: (inspect.getdoc(f) or "").partition("\n\n")[0] for name, f in FUNCTIONS.items()}
    assert [name for name, head in heads.items() if not head.endswith(".")] == []
