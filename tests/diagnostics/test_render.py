"""Rendered diagnostics, compared as whole texts."""

from __future__ import annotations

import io
from pathlib import Path
from textwrap import dedent

import pytest

from eas.support.diagnostics import Diagnostic, Label, render, use_color
from eas.support.location import NOWHERE, Loc, SourceName


class File:
    """A source file, in which places are found by the text that stands there."""

    def __init__(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.text = text
        self.source = SourceName(path.name, str(path))

    def at(self, part: str, caller: Loc | None = None) -> Loc:
        assert self.text.count(part) == 1
        start = self.text.index(part)
        line, column = self._position(start)
        end_line, end_column = self._position(start + len(part))
        return Loc(self.source, line, column, end_line, end_column, caller)

    def _position(self, index: int) -> tuple[int, int]:
        before = self.text[:index]
        return before.count("\n") + 1, index - (before.rfind("\n") + 1)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def expect(diagnostic: Diagnostic, text: str) -> None:
    assert render(diagnostic) == dedent(text).strip("\n")


BLUR = """\
import eas

W = 3


@eas.kernel
def blur(a, b):
    if not a:
        return
    # the sum
    v = 0
    w = a[0]
    if w > 0:
        v = 1.5 * w
    b[0] = v
"""


def test_a_diagnostic_is_laid_out_as_the_language_document_shows(folder: Path) -> None:
    file = File(folder / "kernels/blur.py", BLUR)
    diagnostic = Diagnostic(
        "E0312",
        "`v` is an int here and a float there",
        file.at("v = 1.5 * w"),
        "f32, on the path where `w > 0`",
        secondary=(Label(file.at("v = 0"), "i32, from this assignment"),),
        help=("start with a float: `v = 0.0`",),
    )
    expect(
        diagnostic,
        """
        error[E0312]: `v` is an int here and a float there
          --> kernels/blur.py:14:9
           |
        11 |     v = 0
           |     ----- i32, from this assignment
           ...
        14 |         v = 1.5 * w
           |         ^^^^^^^^^^^ f32, on the path where `w > 0`
           = help: start with a float: `v = 0.0`
        """,
    )


def test_a_place_needs_no_label(folder: Path) -> None:
    file = File(folder / "a.py", "x = y\n")
    expect(
        Diagnostic("E0201", "`y` is not defined", file.at("y")),
        """
        error[E0201]: `y` is not defined
         --> a.py:1:5
          |
        1 | x = y
          |     ^
        """,
    )


def test_a_single_line_between_two_marks_is_shown(folder: Path) -> None:
    file = File(folder / "a.py", "x = 1\ny = 2\nz = 3\n")
    expect(
        Diagnostic("E1", "m", file.at("z = 3"), "c", (Label(file.at("x = 1"), "a"),)),
        """
        error[E1]: m
         --> a.py:3:1
          |
        1 | x = 1
          | ----- a
        2 | y = 2
        3 | z = 3
          | ^^^^^ c
        """,
    )


def test_labels_on_one_line_hang_below_it_from_right_to_left(folder: Path) -> None:
    file = File(folder / "a.py", "total = alpha + beta\n")
    diagnostic = Diagnostic(
        "E0301",
        "`+` has no meaning for these",
        file.at("+"),
        "here",
        (Label(file.at("alpha"), "u32"), Label(file.at("beta"), "i32")),
    )
    expect(
        diagnostic,
        """
        error[E0301]: `+` has no meaning for these
         --> a.py:1:15
          |
        1 | total = alpha + beta
          |         ----- ^ ---- i32
          |         |     |
          |         |     here
          |         u32
        """,
    )


def test_a_mark_within_a_longer_one_stays_visible(folder: Path) -> None:
    file = File(folder / "a.py", "x = f(a, b)\n")
    diagnostic = Diagnostic(
        "E1", "m", file.at("f(a, b)"), "this call", (Label(file.at("a"), "a float"),)
    )
    expect(
        diagnostic,
        """
        error[E1]: m
         --> a.py:1:5
          |
        1 | x = f(a, b)
          |     ^^-^^^^
          |     | |
          |     | a float
          |     this call
        """,
    )


def test_two_labels_of_one_span_stand_below_each_other(folder: Path) -> None:
    file = File(folder / "a.py", "x = y\n")
    expect(
        Diagnostic("E1", "m", file.at("y"), "first", (Label(file.at("y"), "second"),)),
        """
        error[E1]: m
         --> a.py:1:5
          |
        1 | x = y
          |     ^ first
          |     |
          |     second
        """,
    )


def test_a_span_of_several_lines_is_marked_at_the_left(folder: Path) -> None:
    file = File(folder / "a.py", "if a:\n    x = 1\n    y = 2\nz = 3\n")
    expect(
        Diagnostic("E1", "m", file.at("if a:\n    x = 1\n    y = 2"), "all of this"),
        """
        error[E1]: m
         --> a.py:1:1
          |
        1 | / if a:
        2 | |     x = 1
        3 | |     y = 2
          | |_________^ all of this
        """,
    )


def test_a_span_of_several_lines_can_start_within_a_line(folder: Path) -> None:
    file = File(folder / "a.py", "x = f(\n    a,\n)\n")
    expect(
        Diagnostic("E1", "m", file.at("f(\n    a,\n)"), "called", (Label(file.at("a,"), "it"),)),
        """
        error[E1]: m
         --> a.py:1:5
          |
        1 |   x = f(
          |  _____^
        2 | |     a,
          | |     -- it
        3 | | )
          | |_^ called
        """,
    )


def test_spans_of_several_lines_nest_the_outer_one_first(folder: Path) -> None:
    text = "while a:\n    if b:\n        c\n        d\n    e\n"
    file = File(folder / "a.py", text)
    outer, inner = file.at(text.rstrip()), file.at("if b:\n        c\n        d")
    expect(
        Diagnostic("E1", "m", inner, "inner", (Label(outer, "outer"),)),
        """
        error[E1]: m
         --> a.py:2:5
          |
        1 | /   while a:
        2 | | /     if b:
        3 | | |         c
        4 | | |         d
          | | |_________^ inner
        5 | |       e
          | |_______- outer
        """,
    )


def test_a_long_span_shows_its_head_and_its_tail(folder: Path) -> None:
    text = "if a:\n" + "".join(f"    x{n} = {n}\n" for n in range(2, 13))
    file = File(folder / "a.py", text)
    expect(
        Diagnostic("E1", "m", file.at(text.rstrip()), "this"),
        """
        error[E1]: m
          --> a.py:1:1
           |
         1 | / if a:
         2 | |     x2 = 2
         3 | |     x3 = 3
         4 | |     x4 = 4
           ...
        11 | |     x11 = 11
        12 | |     x12 = 12
           | |____________^ this
        """,
    )


def test_tabs_have_the_same_width_in_the_text_and_below_it(folder: Path) -> None:
    file = File(folder / "a.py", "if a:\n\tx =\ty + z\n")
    expect(
        Diagnostic("E1", "m", file.at("y"), "tabs", (Label(file.at("z"), "too"),)),
        """
        error[E1]: m
         --> a.py:2:6
          |
        2 |     x = y + z
          |         ^   - too
          |         |
          |         tabs
        """,
    )


def test_wide_characters_take_two_columns(folder: Path) -> None:
    file = File(folder / "a.py", "値 = '日本' + 幅\n")
    expect(
        Diagnostic(
            "E1", "`幅` is not defined", file.at("幅"), "幅?", (Label(file.at("値"), "値"),)
        ),
        """
        error[E1]: `幅` is not defined
         --> a.py:1:12
          |
        1 | 値 = '日本' + 幅
          | --            ^^ 幅?
          | |
          | 値
        """,
    )


def test_combining_characters_take_no_column(folder: Path) -> None:
    file = File(folder / "a.py", "x = 'e\u0301' + y\n")
    expect(
        Diagnostic("E1", "m", file.at("y"), "here"),
        """
        error[E1]: m
         --> a.py:1:12
          |
        1 | x = 'e\u0301' + y
          |           ^ here
        """,
    )


def test_characters_that_would_reorder_the_line_are_replaced(folder: Path) -> None:
    file = File(folder / "a.py", "x = '\u202e' + y\n")
    expect(
        Diagnostic("E1", "m", file.at("y"), "here"),
        """
        error[E1]: m
         --> a.py:1:11
          |
        1 | x = '\ufffd' + y
          |           ^ here
        """,
    )


def test_a_remark_in_another_file_has_an_excerpt_of_its_own(folder: Path) -> None:
    kernel = File(folder / "kernel.py", "\n" * 99 + "x = WIDTH + 1\n")
    config = File(folder / "config.py", "WIDTH = 'a'\n")
    diagnostic = Diagnostic(
        "E1", "m", kernel.at("WIDTH"), "a str", (Label(config.at("WIDTH = 'a'"), "set here"),)
    )
    expect(
        diagnostic,
        """
        error[E1]: m
           --> kernel.py:100:5
            |
        100 | x = WIDTH + 1
            |     ^^^^^ a str
           ::: config.py:1:1
            |
          1 | WIDTH = 'a'
            | ----------- set here
        """,
    )


def test_the_calls_that_led_to_a_place_are_shown_from_the_inside_out(folder: Path) -> None:
    helpers = File(folder / "helpers.py", "def scale(x):\n    return x * q\n")
    kernel = File(folder / "kernel.py", "def k(a):\n    inner(a)\n\ndef inner(b):\n    scale(b)\n")
    loc = helpers.at("q", kernel.at("scale(b)", kernel.at("inner(a)")))
    expect(
        Diagnostic("E0201", "`q` is not defined", loc, notes=("names are looked up here",)),
        """
        error[E0201]: `q` is not defined
         --> helpers.py:2:16
          |
        2 |     return x * q
          |                ^
         ::: kernel.py:5:5
          |
        5 |     scale(b)
          |     -------- called from here
         ::: kernel.py:2:5
          |
        2 |     inner(a)
          |     -------- called from here
          = note: names are looked up here
        """,
    )


def test_calls_that_repeat_are_folded(folder: Path) -> None:
    file = File(folder / "a.py", "def f(x):\n    return f(x - 1)\n\nf(3)\n")
    loc = file.at("f(3)")
    for _ in range(13):
        loc = file.at("f(x - 1)", loc)
    expect(
        Diagnostic("E0601", "`f` calls itself", loc),
        """
        error[E0601]: `f` calls itself
         --> a.py:2:12
          |
        2 |     return f(x - 1)
          |            ^^^^^^^^
         ::: a.py:2:12
          |
        2 |     return f(x - 1)
          |            -------- called from here
          ... 11 more calls like this
         ::: a.py:4:1
          |
        4 | f(3)
          | ---- called from here
        """,
    )


def test_of_many_different_calls_the_first_and_the_last_are_shown(folder: Path) -> None:
    file = File(folder / "a.py", "".join(f"call_{n:02}\n" for n in range(13)))
    loc = file.at("call_12")
    for number in reversed(range(12)):
        loc = file.at(f"call_{number:02}", loc)
    text = render(Diagnostic("E1", "m", loc)).splitlines()
    assert [line for line in text if "call" in line and "|" not in line] == ["   ... 4 more calls"]
    shown = [line[5:] for line in text if line[5:].startswith("call_")]
    assert shown == [f"call_{n:02}" for n in (0, 1, 2, 3, 4, 9, 10, 11, 12)]


def test_remarks_of_several_lines_are_aligned(folder: Path) -> None:
    file = File(folder / "a.py", "x = y\n")
    expect(
        Diagnostic(
            "E1", "m", file.at("y"), notes=("one",), help=("write\n    x = 1\nhere", "or not")
        ),
        """
        error[E1]: m
         --> a.py:1:5
          |
        1 | x = y
          |     ^
          = note: one
          = help: write
                      x = 1
                  here
          = help: or not
        """,
    )


def test_without_the_source_the_labels_become_notes(folder: Path) -> None:
    source = SourceName("gone.py", str(folder / "gone.py"))
    diagnostic = Diagnostic(
        "E1",
        "m",
        Loc(source, 14, 8, 14, 19),
        "a float",
        (Label(Loc(source, 11, 4, 11, 9), "an int"),),
        help=("agree",),
    )
    expect(
        diagnostic,
        """
        error[E1]: m
          --> gone.py:14:9
           = note: line 14: a float
           = note: line 11: an int
           = help: agree
        """,
    )


def test_a_line_that_the_file_no_longer_has_is_left_out(folder: Path) -> None:
    file = File(folder / "a.py", "x = y\n")
    expect(
        Diagnostic("E1", "m", Loc(file.source, 2, 0, 2, 1)),
        """
        error[E1]: m
         --> a.py:2:1
        """,
    )


def test_a_diagnostic_can_be_about_no_place_at_all() -> None:
    expect(
        Diagnostic("", "nothing to compile", NOWHERE, notes=("so it is",), severity="warning"),
        """
        warning: nothing to compile
          = note: so it is
        """,
    )


def test_a_span_without_width_gets_one_caret(folder: Path) -> None:
    file = File(folder / "a.py", "x =\n")
    expect(
        Diagnostic("E1", "m", Loc(file.source, 1, 3, 1, 3), "expected a value"),
        """
        error[E1]: m
         --> a.py:1:4
          |
        1 | x =
          |    ^ expected a value
        """,
    )


def test_a_file_outside_of_the_current_folder_keeps_its_path(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = File(folder / "a.py", "x = y\n")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    expect(
        Diagnostic("E1", "m", file.at("y")),
        f"""
        error[E1]: m
         --> {folder / "a.py"}:1:5
          |
        1 | x = y
          |     ^
        """,
    )


def test_colour_changes_nothing_but_the_colour(folder: Path) -> None:
    file = File(folder / "a.py", "x = y + 1\n")
    diagnostic = Diagnostic(
        "E1", "m", file.at("y"), "here", (Label(file.at("1"), "there"),), help=("so",)
    )
    red, blue, bold, off = "\x1b[1;31m", "\x1b[1;34m", "\x1b[1m", "\x1b[0m"
    assert render(diagnostic, color=True).splitlines() == [
        f"{red}error[E1]{off}{bold}: m{off}",
        f" {blue}--> {off}a.py:1:5",
        f"  {blue}|{off}",
        f"{blue}1 |{off} x = y + 1",
        f"  {blue}|{off}     {red}^{off}   {blue}-{off} {blue}there{off}",
        f"  {blue}|{off}     {red}|{off}",
        f"  {blue}|{off}     {red}here{off}",
        f"  {blue}={off} {bold}help{off}: so",
    ]


class _Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "expected"),
    [
        (_Screen(), {}, True),
        (_Screen(), {"TERM": "dumb"}, False),
        (_Screen(), {"NO_COLOR": "1"}, False),
        (_Screen(), {"NO_COLOR": ""}, True),
        (io.StringIO(), {}, False),
        (None, {}, False),
        (io.StringIO(), {"FORCE_COLOR": "1"}, True),
        (io.StringIO(), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colour_is_for_terminals_unless_the_environment_decides(
    stream: io.StringIO | None,
    environment: dict[str, str],
    expected: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert use_color(stream) is expected


def test_a_long_line_is_cut_around_its_mark(folder: Path) -> None:
    terms = " + ".join(f"x[{number}]" for number in range(60))
    file = File(folder / "long.py", f"total = {terms} + wrong + {terms}\n")
    shown = render(Diagnostic("E0201", "the name `wrong` is not defined", file.at("wrong")))
    source, carets = shown.splitlines()[3:]
    assert len(source) == len("1 | ") + 120 + 2 * len("...")
    assert source.index("wrong") == carets.index("^^^^^")
    assert source.startswith("1 | ...")
    assert source.endswith("...")


def test_a_line_that_is_just_short_enough_is_whole(folder: Path) -> None:
    text = "x" * 119 + "y"
    file = File(folder / "wide.py", text + "\n")
    shown = render(Diagnostic("E0201", "no", file.at("y")))
    assert shown.splitlines()[3] == f"1 | {text}"
