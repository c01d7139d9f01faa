"""The driver of pipelines: what it runs, verifies, times and dumps."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import eas
from eas import mk
from eas.ir.nodes import Function, Region
from eas.ir.passes import COMMON, RELAX, with_bounds
from eas.ir.passes.strides import with_unit_strides
from eas.ir.pipeline import Pass, Pipeline, chain, run, steps
from eas.ir.stages import CORE, GUARDED_RELAXED, SOURCE
from eas.ir.text import parse_function, print_function
from eas.ir.verify import VerifyError
from eas.msl import kernel as metal_kernel
from eas.msl.pipeline import METAL, RELAX_METAL
from eas.support.records import replace
from eas.targets import TARGETS, pipelines_of

TEXT = """\
kernel f(%out.0: *i32, %n.1: i32) from "f.py" {
  scope 1 {
    %2: i32 = 1
    %3: i32 = 2
    %4: i32 = add %2, %3
    store %out.0[%n.1] = %4
    leave 1
  }
}
"""


@eas.kernel
def double(x):
    i = mk.arange(0, 8)
    x[i] *= 2


def example() -> Function:
    return parse_function(TEXT)


def renamed(name: str) -> Pass[object]:
    """A pass that only changes the function's name, to that and the options."""
    return Pass(name, lambda f, options: replace(f, name=f"{f.name}_{name}{options}"), "a reason")


def emptied(function: Function, options: object) -> Function:
    """A function without a terminator."""
    del options
    return replace(function, body=Region((), function.body.ops[:-1]))


TWO = Pipeline("two", (renamed("a"), renamed("b")), COMMON)


def test_passes_run_in_their_order_and_get_the_options() -> None:
    assert run(TWO, run(COMMON, example(), None), 7).name == "f_a7_b7"


def test_a_run_stops_after_a_pass() -> None:
    assert run(TWO, run(COMMON, example(), None), 7, until="a").name == "f_a7"


def test_steps_give_each_pass_with_its_stage_and_function() -> None:
    function = run(COMMON, example(), None)
    found = [(each.name, stage, f.name) for each, stage, f in steps(TWO, function, "")]
    assert found == [("a", CORE, "f_a"), ("b", CORE, "f_a_b")]


def test_a_pipeline_counts_its_passes_from_the_one_that_it_follows() -> None:
    assert [each.first for each in chain(TWO)] == [1, 1 + len(COMMON.passes)]
    stages = (COMMON.start, COMMON.end, RELAX.start, RELAX.end)
    assert stages == (SOURCE, CORE, CORE, GUARDED_RELAXED)


@pytest.mark.parametrize("target", TARGETS)
def test_each_pass_of_a_target_has_a_name_of_its_own_and_one_sentence_as_its_reason(
    target: str,
) -> None:
    passes = [each for pipeline in pipelines_of(target) for each in pipeline.passes]
    names = [each.name for each in passes]
    assert len(set(names)) == len(names)
    for each in passes:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", each.name)
        assert re.fullmatch(r"[A-Z][^.]*\.", each.reason), each.reason


def test_a_pass_that_breaks_the_contract_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Pipeline("broken", (renamed("a"), Pass("b", emptied, "a reason")), COMMON)
    function = run(COMMON, example(), None)
    with pytest.raises(VerifyError) as caught:
        run(broken, function, "")
    assert caught.value.message == "after the pass `b`: a region does not end in a terminator"
    monkeypatch.delenv("EAS_VERIFY")
    assert run(broken, function, "").body.ops == function.body.ops[:-1]


def test_metal_is_verified_after_its_last_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    *others, last = METAL.passes
    broken = replace(METAL, passes=(*others, Pass(last.name, emptied, "a reason")))
    monkeypatch.setattr(metal_kernel, "METAL", broken)
    function = run(RELAX_METAL, run(COMMON, example(), None), None)
    with pytest.raises(VerifyError) as caught:
        metal_kernel.write(function)
    expected = f"after the pass `{last.name}`: a region does not end in a terminator"
    assert caught.value.message == expected


def test_a_pass_that_leaves_an_illegal_form_is_named() -> None:
    does_nothing = Pass("exits", lambda f, _: f, "a reason", CORE)
    with pytest.raises(VerifyError) as caught:
        run(Pipeline("common", (does_nothing,)), example(), None)
    assert caught.value.message == (
        "after the pass `exits`: a `scope` is not legal at the stage `core`"
    )


def test_each_pass_is_timed_on_demand(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EAS_TIMING", "passes")
    run(TWO, run(COMMON, example(), None), "", until="a")
    said = [re.sub(r"\d+\.\d ms", "T", line) for line in capsys.readouterr().err.splitlines()]
    names = [each.name for each in COMMON.passes]
    assert said == [f"eas: f: the pass {name} took T" for name in [*names, "a"]]


def test_passes_are_not_timed_with_the_parts_of_a_compile(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EAS_TIMING", "1")
    run(COMMON, example(), None)
    assert capsys.readouterr().err == ""


def test_the_function_is_dumped_after_every_pass(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EAS_DUMP", str(tmp_path / "new"))
    function = example()
    run(RELAX, run(COMMON, function, None), None)
    [folder] = (tmp_path / "new").iterdir()
    found = {str(p.relative_to(folder)): p.read_text("utf-8") for p in folder.rglob("*.ir")}
    texts = {str(Path("common", "00-front-end.ir")): print_function(function)}
    for pipeline in (COMMON, RELAX):
        for number, (each, _, after) in enumerate(steps(pipeline, function, None), pipeline.first):
            name = f"{number:02}-{each.name}.ir"
            texts[str(Path(pipeline.name, name))] = print_function(after)
            function = after
    assert found == texts


def test_every_specialization_of_a_kernel_is_dumped_to_a_folder_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EAS_DUMP", str(tmp_path))
    hostile = "größer/../" + "long" * 100
    changes = [
        {},
        {"name": "con"},
        {"name": hostile},
        {"threads": 32},
        {"fast_math": True},
        {"constants": (("BLOCK", "8"),)},
    ]
    for change in changes:
        run(COMMON, replace(example(), **change), None)
    names = [path.name for path in tmp_path.iterdir()]
    assert len(names) == len(changes)
    assert all(re.fullmatch(r"[A-Za-z0-9_]{1,40}-[0-9a-f]{8}", name) for name in names)


def test_the_forms_that_a_target_makes_of_a_specialization_are_dumped_side_by_side(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EAS_DUMP", str(tmp_path))
    function = double.compile("*f32[:]").function
    for form in (function, with_unit_strides(function)):
        for each in (form, with_bounds(form)):
            run(RELAX, each, None)
    [folder] = tmp_path.iterdir()
    forms = ["", "-checked", "-unit-stride", "-unit-stride-checked"]
    assert sorted(path.name for path in folder.iterdir()) == [
        "common",
        *(f"{RELAX.name}{form}" for form in forms),
    ]


def test_a_folder_that_cannot_be_written_is_reported_and_fails_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    function = run(COMMON, example(), None)
    (tmp_path / "file").touch()
    monkeypatch.setenv("EAS_DUMP", str(tmp_path / "file"))
    assert run(TWO, function, "").name.startswith("f_a")
    [line] = capsys.readouterr().err.splitlines()
    file = f"{TWO.first:02}-a"
    assert re.fullmatch(rf"eas: EAS_DUMP: .*{file}\.ir cannot be written: .*", line)
