"""The text form: what is printed, what is parsed, and that one undoes the other."""

from __future__ import annotations

import math
from textwrap import dedent

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eas.ir.builder import Builder
from eas.ir.nodes import Assert, Constant, Function, Param, Print, Region, Value, Yield
from eas.ir.text import ParseError, parse_function, print_function
from eas.ir.types import F32, I32, Pointer, Scalar
from eas.support.location import NOWHERE, Loc, SourceName
from eas.support.records import replace
from tests.ir.strategies import functions

STRINGS = st.text(st.characters(codec=None), max_size=20)


def as_printed(text: str) -> str:
    """A text, parsed and printed again."""
    return print_function(parse_function(text))


def body(*lines: str) -> str:
    """The text of a function with these lines."""
    head = 'kernel f(%p.0: *f32, %q.1: *i32, %i.2: i32, %x.3: f32, %c.4: bool) from "f.py" {'
    return "\n".join([head, *(f"  {line}" for line in lines), "}\n"])


@given(functions())
def test_a_printed_function_is_parsed_back(f: Function) -> None:
    assert parse_function(print_function(f)) == f


@given(functions())
def test_without_places_the_rest_is_parsed_back(f: Function) -> None:
    text = print_function(f, locations=False)
    assert as_printed(text) == text


@given(STRINGS, STRINGS, STRINGS)
def test_strings_and_names_may_have_any_characters(text: str, name: str, file: str) -> None:
    value = Value(0, Scalar(I32), name)
    loc = Loc(SourceName(file), 1, 2, 3, 4)
    ops = (Print((text, value, text), loc), Assert(value, text, loc), Yield((), NOWHERE))
    size = Param(Value(1, Scalar(I32), "n"), "extent", name, 1)
    params = (Param(value), size)
    constants = ((name, text),)
    f = Function(name, params, Region((), ops), SourceName(file), 4, True, constants)
    assert parse_function(print_function(f)) == f


@given(st.one_of(st.floats(), st.integers(), st.booleans()))
def test_any_number_is_parsed_back(number: float) -> None:
    op = Constant(number, Value(0, Scalar(F32)), NOWHERE)
    f = Function("f", (), Region((), (op, Yield((), NOWHERE))), SourceName("f.py"))
    assert parse_function(print_function(f)) == f


@given(st.text(st.characters(exclude_categories=())))
@example("x\n#error hi\n.py")
@example('a" @1:0-1 from "b')
@example("\udcff\udc80.py")
def test_any_file_name_is_parsed_back(name: str) -> None:
    place = Loc(SourceName(name), 3, 4, 3, 9, Loc(SourceName(f"{name}.py"), 1, 2, 1, 3))
    op = Constant(1, Value(0, Scalar(F32)), place)
    for source in (SourceName(name), SourceName("f.py")):
        f = Function("f", (), Region((), (op, Yield((), NOWHERE))), source)
        text = print_function(f)
        assert parse_function(text) == f
        assert text.encode().decode().splitlines() == text.split("\n")[:-1]


def test_zeros_of_either_sign_are_different_constants() -> None:
    result = Value(0, Scalar(F32))
    assert Constant(0.0, result, NOWHERE) != Constant(-0.0, result, NOWHERE)
    assert Constant(math.nan, result, NOWHERE) == Constant(-math.nan, result, NOWHERE)


def test_the_text_is_the_function_that_the_builder_makes() -> None:
    build = Builder()
    pointer = build.value(Pointer(F32), "p")
    offset = build.compute("program_id", axis=0)
    build.loc = Loc(SourceName("f.py"), 3, 4, 3, 9)
    build.store(pointer, offset, build.load(pointer, offset))
    build.emit(Yield((), NOWHERE))
    f = Function("f", (Param(pointer),), Region((), tuple(build.ops)), SourceName("f.py"))
    text = dedent("""\
        kernel f(%p.0: *f32) from "f.py" {
          %1: i32 = program_id axis=0
          %2: f32 = load %p.0[%1]                                         @3:4-9
          store %p.0[%1] = %2                                             @3:4-9
        }
        """)
    assert print_function(f) == text
    assert parse_function(text) == f


@pytest.mark.parametrize(
    "line",
    [
        "%5: i32 = -7",
        "%5: f32 = 0.1",
        "%5: f32 = -0.0",
        "%5: f32 = 1e-30",
        "%5: f32 = inf",
        "%5: f32 = -inf",
        "%5: f32 = nan",
        "%5: bool = true",
        "%sum.5: f32 = add %x.3, %x.3",
        "%5: i32[8] = arange start=0 size=8",
        "%5: i32[2, 3] = splat %i.2 shape=[2, 3]",
        "%5: i64 = cast %i.2 dtype=i64",
        '%5: i32 = index %i.2, %i.2 array="q" axis=0',
        "%5: f32 = reduce_sum %x.3 axis=none",
        "%5: f32 = load %p.0[%i.2]",
        "%5: f32 = load %p.0[%i.2] if %c.4 else %x.3",
        "store %p.0[%i.2] = %x.3",
        "store %p.0[%i.2] = %x.3 if %c.4",
        "%5: f32 = atomic add %p.0[%i.2], %x.3",
        "%5: i32 = atomic cas %q.1[%i.2], %i.2 -> %i.2 if %c.4",
        "%5: *f32@threadgroup = alloc 256",
        "barrier",
        'assert %c.4, "not \\"good\\"\\n"',
        'print "x = ", %x.3, ""',
        "print",
    ],
)
def test_an_op_is_a_line(line: str) -> None:
    assert as_printed(body(line)) == body(line)


def test_an_if_without_results_has_no_else() -> None:
    text = body("if %c.4 {", "  barrier", "}")
    assert as_printed(text) == text


def test_an_if_yields_its_results_in_both_branches() -> None:
    text = body(
        "%y.5: f32, %6: i32 = if %c.4 {",
        "  yield %x.3, %i.2",
        "} else {",
        "  barrier",
        "  yield %x.3, %i.2",
        "}",
    )
    assert as_printed(text) == text


def test_a_for_shows_its_bounds_and_what_it_carries() -> None:
    text = body(
        "%y.5: f32 = for %k.6: i32 = %i.2 .. %i.2 by %i.2 carrying (%y.7: f32 = %x.3) {",
        "  if %c.4 {",
        "    break %y.7",
        "  } else {",
        "    continue %x.3",
        "  }",
        "  yield %y.7",
        "} else (%y.8: f32) {",
        "  %9: f32 = neg %y.8",
        "  yield %9",
        "}",
    )
    assert as_printed(text) == text


def test_an_else_that_only_passes_on_has_no_braces() -> None:
    text = body(
        "%y.5: f32 = for %k.6: i32 = %i.2 .. %i.2 by %i.2 carrying (%y.7: f32 = %x.3) {",
        "  yield %x.3",
        "} else (%y.8: f32)",
        "for %k.9: i32 = %i.2 .. %i.2 by %i.2 {",
        "}",
    )
    assert as_printed(text) == text


def test_a_while_has_a_test_and_a_body() -> None:
    text = body(
        "%y.5: f32 = while (%y.6: f32 = %x.3, %k.7: i32 = %i.2) {",
        "  condition %c.4 with %y.6, %k.7",
        "} do (%y.8: f32, %k.9: i32) {",
        "  yield %y.8, %k.9",
        "} else (%y.10: f32, %k.11: i32) {",
        "  yield %y.10",
        "}",
        "while {",
        "  condition %c.4",
        "} do {",
        "} else {",
        "  barrier",
        "}",
    )
    assert as_printed(text) == text


def test_a_long_list_of_carried_values_has_a_line_for_each() -> None:
    text = body(
        "%total.5: f32, %count.6: i32 = while (",
        "    %total_of_all_so_far.7: f32 = %x.3,",
        "    %count_so_far.8: i32 = %i.2,",
        ") {                                                             @7:0-9",
        "  condition %c.4 with %total_of_all_so_far.7, %count_so_far.8   @7:0-9",
        "} do (%total_so_far.9: f32, %count_so_far.10: i32) {",
        "  yield %total_so_far.9, %count_so_far.10                       @7:0-9",
        "} else (",
        "    %total_that_was_reached_in_the_very_end.11: f32,",
        "    %count_that_was_reached_in_the_end.12: i32,",
        ")",
    )
    assert as_printed(text) == text


def test_a_scope_is_left_by_its_label() -> None:
    text = body("%y.5: f32 = scope 3 {", "  leave 3 %x.3", "}")
    assert as_printed(text) == text


def test_places_stand_in_a_column_or_behind_the_line() -> None:
    text = body(
        "barrier                                                         @3:4-9",
        "barrier                                                         @3:4-5:9",
        'assert %c.4, "a text that is too long to leave room for a place"  @6:0-1',
        "if %c.4 {                                                       @7:0-9",
        "  barrier                                                       @7:1-2",
        "}",
    )
    assert as_printed(text) == text


def test_a_place_elsewhere_names_the_file_and_the_calls() -> None:
    text = body(
        "barrier                                                         "
        '@helpers.py:3:4-9 from 8:12-20 from "<stdin>":1:0-2:7',
    )
    assert as_printed(text) == text


def test_a_yield_in_a_place_of_its_own_is_shown() -> None:
    text = body(
        "if %c.4 {                                                       @7:0-9",
        "  yield                                                         @8:0-9",
        "} else {",
        "  yield                                                         @8:0-9",
        "}",
        "yield                                                           @9:0-9",
    )
    assert as_printed(text) == text


def test_without_locations_no_yield_is_left_for_its_place() -> None:
    text = body("if %c.4 {  @7:0-9", "  yield  @8:0-9", "}", "yield @9:0-9")
    assert print_function(parse_function(text), locations=False) == body("if %c.4 {", "}")


def test_the_path_of_a_file_is_not_printed() -> None:
    f = parse_function(body("barrier @3:4-9"))
    elsewhere = replace(f, source=SourceName("f.py", "/somewhere/else/f.py"))
    assert print_function(elsewhere) == print_function(f)


def test_the_header_has_all_options() -> None:
    text = dedent("""\
        kernel f(%a.0: *f32, %n.1: i32 = extent 0 of a, %2: i32 = stride 1 of a) from "f.py" {
        }
        kernel g() from "g.py" threads 64 fast_math where BLOCK=256, EPS=1e-05, ACT="lambda x: x" {
        }
        """)
    first, second = text[: text.index("kernel g")], text[text.index("kernel g") :]
    assert as_printed(first) == first
    assert as_printed(second) == second


def test_a_long_header_has_a_line_for_each_parameter() -> None:
    text = dedent("""\
        kernel blur(
            %source.0: *f32,
            %target.1: *f32,
            %source_extent_0.2: i32 = extent 0 of source,
            %source_extent_1.3: i32 = extent 1 of source,
        ) from "blur.py" where BLOCK=256 {
        }
        """)
    assert as_printed(text) == text


def test_words_that_are_no_names_are_quoted() -> None:
    text = dedent("""\
        kernel "<lambda>"(%"a b".0: *f32, %größe.1: i32 = extent 0 of "a b") from "<stdin>" {
        }
        """)
    assert as_printed(text) == text


def test_comments_and_empty_lines_are_skipped() -> None:
    text = body("# what follows", "", "barrier  # waits", "")
    assert as_printed("\n# a file\n\n" + text) == body("barrier")


def test_a_value_may_be_used_before_its_definition() -> None:
    text = body("%5: i32 = neg %6", "%6: i32 = neg %5")
    assert as_printed(text) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func f", "line 1: expected `kernel`, found `func`"),
        ('kernel f() from "f.py" {', "line 1: expected an op, found the end of the text"),
        ('kernel f() "f.py" {\n}', 'line 1: expected `from`, found `"f.py"`'),
        ('kernel f(%a.0: *f31) from "f.py" {\n}', "line 1: expected a dtype, found `f31`"),
        ('kernel f(%a.0: f31) from "f.py" {\n}', "line 1: expected a type, found `f31`"),
        ('kernel f() from "f.py" {\n} }', "line 2: expected the end of the line, found `}`"),
        ('kernel f() from "f.py" {\n}\nx', "line 3: expected the end of the text, found `x`"),
        (
            'kernel f(%n.0: i32 = length 0 of a) from "f.py" {\n}',
            "line 1: expected `extent`, `stride`, `low` or `high`, found `length`",
        ),
        (body("%5: f32 = sum %x.3"), "line 2: expected an op, found `sum`"),
        (body("%5: f32 = neg %x.9"), "line 2: nothing defines %x.9"),
        (body("%5: f32 = neg %y.3"), "line 2: nothing defines %y.3"),
        (body("neg %x.3"), "line 2: expected one result, found 0"),
        (body("%5: i32 = barrier"), "line 2: `barrier` has no results"),
        (body("store %p.0[%i.2]"), "line 2: expected `=`, found the end of the line"),
        (body("store %p.0 = %x.3"), "line 2: expected `[`, found `=`"),
        (body("barrier barrier"), "line 2: expected the end of the line, found `barrier`"),
        (
            body("barrier", "if %c.4 { barrier }"),
            "line 3: expected the end of the line, found `barrier`",
        ),
        (body("leave %i.2"), "line 2: expected the label of a scope, found `%i.2`"),
        (body("%5: i32 = alloc 1.5"), "line 2: expected a size, found `1.5`"),
        (
            body("%5: i32 = atomic nand %q.1[%i.2], %i.2"),
            "line 2: expected a kind of atomic, found `nand`",
        ),
        (body("%5: i32 = program_id axis=x"), "line 2: expected an attribute's value, found `x`"),
        (body("assert %c.4, 1"), "line 2: expected a message in quotes, found `1`"),
        (body('print "\\q"'), "line 2: unknown escape '\\\\q' in a string"),
        (body("barrier $"), "line 2: unexpected character '$'"),
    ],
)
def test_bad_text_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_function(text)
    assert str(caught.value) == message
