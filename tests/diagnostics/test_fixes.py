"""Helps that are edits: each is applied to the text, and the error is gone."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

import pytest

import eas
from eas.support.diagnostics import Diagnostic, Edit, Fix
from tests.errors.case import Case
from tests.test_error_snapshots import NAMES, WITHOUT_SOURCE
from tests.thorough import sampled, thorough

Errors = list[tuple[str, str]]


def fixes_of(name: str) -> Iterable[tuple[Diagnostic, Fix]]:
    case: Case = import_module(f"tests.errors.{name}").CASE
    for diagnostic in case.error().diagnostics:
        for fix in diagnostic.fixes:
            yield diagnostic, fix


def errors_of(name: str) -> Errors:
    case: Case = import_module(f"tests.errors.{name}").CASE
    return [(diagnostic.code, diagnostic.message) for diagnostic in case.error().diagnostics]


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text after all edits; the last place first, so that the others stay where they are."""
    lines = [*text.splitlines(keepends=True), ""]
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]
    spans = [
        (
            starts[edit.loc.line - 1] + edit.loc.column,
            starts[edit.loc.end_line - 1] + edit.loc.end_column,
            edit.text,
        )
        for edit in edits
    ]
    for start, end, new in sorted(spans, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def remaining(file: Path) -> Errors:
    """The errors that the kernel of a file has now."""
    spec = importlib.util.spec_from_file_location("tests.errors.fixed", file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        return [(d.code, d.message) for d in module.CASE.error().diagnostics]
    except AssertionError:  # it compiles
        return []


# Of two mistakes in a statement, the second is found when the first is gone.
SECOND = {"functions_not_called": "this is the function `exp`"}


def new_errors(name: str, left: Errors, before: Errors) -> Errors:
    """Errors that an edit has made; a parameter that becomes a constexpr gets a value next."""
    found = [error for error in left if error not in before]
    return [
        e for e in found if "the string 'i32'" not in e[1] and SECOND.get(name, "-") not in e[1]
    ]


@sampled(3)
@pytest.mark.parametrize("name", sorted(set(NAMES) - WITHOUT_SOURCE))
def test_an_error_is_gone_when_its_help_is_applied(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EAS_MAX_TRIPS", "1000")
    for number, (diagnostic, fix) in enumerate(fixes_of(name)):
        paths = {edit.loc.source.path for edit in fix.edits}
        assert len(paths) == 1
        path = Path(paths.pop())
        if path.stem != name:  # a helper of several files
            continue
        file = tmp_path / f"{name}_{number}.py"
        file.write_text(applied(path.read_text("utf-8"), fix.edits), "utf-8")
        error = (diagnostic.code, diagnostic.message)
        left, before = remaining(file), errors_of(name)
        assert left.count(error) < before.count(error), fix
        assert not new_errors(name, left, before), fix


@thorough
def test_a_fix_stands_among_the_helps_that_are_printed() -> None:
    for name in sorted(set(NAMES) - WITHOUT_SOURCE):
        for diagnostic, fix in fixes_of(name):
            assert fix.help in diagnostic.help


@thorough
def test_many_helps_are_edits() -> None:
    codes = {d.code for name in sorted(set(NAMES) - WITHOUT_SOURCE) for d, _ in fixes_of(name)}
    assert codes >= {
        *("E0104", "E0107", "E0201", "E0205", "E0306", "E0312", "E0314"),
        *("E0410", "E0414", "E0422", "E0427", "E0428", "E0431", "E0510"),
    }


@pytest.mark.parametrize(
    ("line", "edits"),
    [
        ("import eas.language as tl", ["tl.floor(", ").to(tl.i32)"]),
        ("from eas import mk", ["mk.floor(", ").to(mk.i32)"]),
        ("from eas import mk as m", ["m.floor(", ").to(m.i32)"]),
        ("import math", None),
    ],
)
def test_an_edit_has_the_name_of_mk_in_its_file(
    tmp_path: Path, line: str, edits: list[str] | None
) -> None:
    text = f"import eas\n{line}\n@eas.kernel\ndef k(a, v):\n    a[0] = v\n"
    (tmp_path / "aliased.py").write_text(text)
    spec = importlib.util.spec_from_file_location("aliased", tmp_path / "aliased.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(eas.CompileError) as caught:
        module.k.to_msl("*i32", "f32")
    [error] = caught.value.diagnostics
    assert "mk.floor(x).to(mk.i32)" in error.help[0]
    assert [[edit.text for edit in fix.edits] for fix in error.fixes] == ([edits] if edits else [])
