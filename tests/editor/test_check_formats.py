"""The formats of `eas check`: SARIF, GitHub, the problem matcher, and how each counts columns."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from eas.cli.check_formats import as_github, in_utf16
from tests.editor import sarif
from tests.editor.test_check import HEAD, WRONG, Run, check

__all__ = ["check"]

REPOSITORY = Path(__file__).parents[2]
# Characters of one and of two UTF-16 units, and a tab, stand before the mistake.
WIDE = """\
@eas.kernel(examples=[("*f32[:]",)])
def wide(a):
\ta["ß" == "𝒳"] = (0.5 if "日本𝒳" else 1.5) + missing
"""
LINE = '\ta["ß" == "𝒳"] = (0.5 if "日本𝒳" else 1.5) + missing'
COLUMN = LINE.index("missing") + 1


def test_json_counts_characters(check: Run) -> None:
    _, out, _ = check("a.py", "--format", "json", a=HEAD + WIDE)
    [diagnostic] = json.loads(out)["diagnostics"]
    place = diagnostic["place"]
    assert (place["line"], place["column"], place["endColumn"]) == (6, COLUMN, COLUMN + 7)


def test_sarif_counts_utf16_units_and_says_so(check: Run) -> None:
    _, out, _ = check("a.py", "--format", "sarif", a=HEAD + WIDE)
    [run] = json.loads(out)["runs"]
    assert run["columnKind"] == "utf16CodeUnits"
    [result] = run["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {
        "startLine": 6,
        "startColumn": COLUMN + 2,
        "endLine": 6,
        "endColumn": COLUMN + 9,
    }


def test_github_counts_utf16_units(check: Run) -> None:
    _, out, _ = check("a.py", "--format", "github", a=HEAD + WIDE)
    assert out.splitlines()[0] == (
        f"::error title=easy_as (E0201),file=a.py,line=6,endLine=6,col={COLUMN + 2},"
        f"endColumn={COLUMN + 9}::the name `missing` is not defined"
    )


@pytest.mark.parametrize(
    "text",
    [
        HEAD + WRONG,
        HEAD + WIDE,
        HEAD + "1 / 0\n" + WRONG,
        HEAD + "x = (\n",
        HEAD,
    ],
)
def test_a_log_of_sarif_is_valid(check: Run, text: str) -> None:
    sarif.validate(json.loads(check("a.py", "--format", "sarif", a=text)[1]))


def test_a_log_with_calls_labels_and_fixes_is_valid(check: Run, tmp_path: Path) -> None:
    kernel = (
        '@eas.kernel(examples=[("*f32[:]", "i32")])\n'
        "def k(a, n):\n"
        "    v = 0\n"
        "    if n > 0:\n"
        "        v = 1.5\n"
        "    a[0] = helper.twice(v)\n"
    )
    _, out, _ = check(
        "a b.py", "--format", "sarif", helper="def twice(x):\n    return 2 * y\n",
        **{"a b": f"{HEAD}import helper\n{kernel}"},
    )  # fmt: skip
    log = json.loads(out)
    sarif.validate(log)
    results = {each["ruleId"]: each for each in log["runs"][0]["results"]}
    wrong = results["E0312"]
    assert wrong["relatedLocations"][0]["message"]["text"].startswith("i32, ")
    assert wrong["locations"][0]["physicalLocation"]["artifactLocation"] == {
        "uri": "a%20b.py",
        "uriBaseId": "ROOT",
    }
    [fix] = wrong["fixes"]
    assert fix["artifactChanges"][0]["replacements"][0]["insertedContent"] == {"text": "v = 0.0"}


VALID: dict[str, Any] = {"$schema": "x:", "version": "2.1.0", "runs": []}


@pytest.mark.parametrize(
    "wrong",
    [
        {"wrong": 1},
        {"version": "2.0.0"},
        {"runs": [{}]},
        {"runs": [{"tool": {"driver": {"name": "a", "rules": [{"id": 1}]}}}]},
        {"$schema": "no uri"},
    ],
)
def test_the_check_of_logs_refuses_what_is_not_sarif(wrong: dict[str, Any]) -> None:
    sarif.validate(VALID)
    with pytest.raises(jsonschema.ValidationError):
        sarif.validate(VALID | wrong)


def record(**changes: Any) -> Any:
    place = {"path": "k,1:2%.py", "line": 3, "column": 1, "endLine": 4, "endColumn": 2}
    empty: dict[str, Any] = {name: [] for name in ("related", "calls", "notes", "help", "fixes")}
    fields = {"code": "E0", "severity": "error", "message": "m", "label": "", "text": ""}
    return {**fields, **empty, "place": place, **changes}


def test_github_escapes_what_would_end_a_command() -> None:
    text = as_github([], [record(message="50% of\r\nit: a, b", help=["x\ny"])])
    assert text.splitlines()[0] == (
        "::error title=easy_as (E0),file=k%2C1%3A2%25.py,line=3,endLine=4::"
        "50%25 of%0D%0Ait: a, b%0Ahelp: x%0Ay"
    )


def test_a_place_beyond_the_text_keeps_its_columns() -> None:
    place = record()["place"] | {"path": "no such file", "column": 5, "endColumn": 9}
    assert in_utf16(place) == place


def test_the_problem_matcher_finds_every_error(check: Run) -> None:
    matcher = json.loads(
        (REPOSITORY / "docs" / "editors" / "problem-matcher.json").read_text("utf-8")
    )
    first, second = matcher["pattern"]
    _, out, _ = check("a.py", a=HEAD + WRONG)
    lines = out.splitlines()
    found: list[tuple[str, str, str, str, str, str]] = []
    for head, place in pairwise(lines):
        a, b = re.search(first["regexp"], head), re.search(second["regexp"], place)
        if a and b:
            where = (b[second["file"]], b[second["line"]], b[second["column"]])
            found.append((*where, a[first["severity"]], a[first["code"]], a[first["message"]]))
    assert found == [
        ("a.py", "7", "12", "error", "E0205", "`mk` has no attribute `laod`"),
        ("a.py", "8", "20", "error", "E0201", "the name `vv` is not defined"),
    ]
