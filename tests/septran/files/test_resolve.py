"""Choices: what is open, what is chosen, and files with nothing else changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from eas.septran.files import (
    Mapping,
    SeptranError,
    check_constraints,
    load_mapping,
    parse_values,
    require_resolved,
    resolve,
    resolved_texts,
    tunes,
)

TEXT = """\
# A mapping with every kind of choice.   (these spaces stay)
machine:   apple_gpu      # here too

entrypoint: gemm_host
task_mappings:
  gemm_host:   # the host
    task_name: gemm_host_logic
    proc: HOST
    mems: {C: GLOBAL,   A: GLOBAL, B: !tune {type: memory}}  # any that HOST sees
    tunables:
      block_m: !tune {type: choice, values: [32, 64, 128]}   # rows
      block_n: !tune   # columns, as a block
        type: int
        low: 16
        high: 64
        step: 16
      # a comment between
      causal: !tune {type: bool}
    calls: {gemm_block_logic: !tune {type: choice, values: [gemm_block, gemm_other]}}

  gemm_block:
    task_name: gemm_block_logic
    proc: BLOCK
    mems: {A: !tune {type: memory, values: [SHARED, GLOBAL]}}
    locals: {t: !tune {type: choice, values: [SHARED, REGISTER]}}
    threads: !tune {type: pow2, low: 32, high: 200}
    pipeline: !tune {type: choice, values: [1, 2]} # 软件流水线
    leaf_task_bindings: {gemm_leaf_logic: !tune {type: binding}}
    layout: {A: {pad: !tune {type: choice, values: [0, 4]}}}
  gemm_other: !tune
    type: instance
    values:
      - {task_name: gemm_block_logic, proc: BLOCK, pipeline: 1}   # slow
      - task_name: gemm_block_logic
        proc: SIMDGROUP
        tunables: {block_k: 8}
# the end
"""
VALUES = {
    "gemm_host.mems.B": "GLOBAL",
    "gemm_host.block_m": 64,
    "gemm_host.block_n": 48,
    "gemm_host.causal": True,
    "gemm_host.calls.gemm_block_logic": "gemm_other",
    "gemm_block.mems.A": "SHARED",
    "gemm_block.locals.t": "REGISTER",
    "gemm_block.threads": 128,
    "gemm_block.pipeline": 2,
    "gemm_block.leaf_task_bindings.gemm_leaf_logic": "simdgroup_mma",
    "gemm_block.layout.A.pad": 4,
    "gemm_other": 1,
}
RESOLVED = """\
# A mapping with every kind of choice.   (these spaces stay)
machine:   apple_gpu      # here too

entrypoint: gemm_host
task_mappings:
  gemm_host:   # the host
    task_name: gemm_host_logic
    proc: HOST
    mems: {C: GLOBAL,   A: GLOBAL, B: GLOBAL}  # any that HOST sees
    tunables:
      block_m: 64   # rows
      block_n: 48   # columns, as a block
      # a comment between
      causal: true
    calls: {gemm_block_logic: gemm_other}

  gemm_block:
    task_name: gemm_block_logic
    proc: BLOCK
    mems: {A: SHARED}
    locals: {t: REGISTER}
    threads: 128
    pipeline: 2 # 软件流水线
    leaf_task_bindings: {gemm_leaf_logic: simdgroup_mma}
    layout: {A: {pad: 4}}
  gemm_other: {task_name: gemm_block_logic, proc: SIMDGROUP, tunables: {block_k: 8}}
# the end
"""


@pytest.fixture
def mapping(tmp_path: Path) -> Mapping:
    file = tmp_path / "gemm.map.yaml"
    file.write_text(TEXT, "utf-8")
    return load_mapping(file)


def test_every_choice_has_a_key_and_options(mapping: Mapping) -> None:
    primitives = mapping.machine.primitive_names()
    assert {tune.key: list(tune.options) for tune in tunes(mapping)} == {
        "gemm_host.mems.B": ["GLOBAL"],
        "gemm_host.block_m": [32, 64, 128],
        "gemm_host.block_n": [16, 32, 48, 64],
        "gemm_host.causal": [False, True],
        "gemm_host.calls.gemm_block_logic": ["gemm_block", "gemm_other"],
        "gemm_block.mems.A": ["SHARED", "GLOBAL"],
        "gemm_block.locals.t": ["SHARED", "REGISTER"],
        "gemm_block.threads": [32, 64, 128],
        "gemm_block.pipeline": [1, 2],
        "gemm_block.leaf_task_bindings.gemm_leaf_logic": primitives,
        "gemm_block.layout.A.pad": [0, 4],
        "gemm_other": [0, 1],
    }


def test_all_choices_are_made(mapping: Mapping) -> None:
    host, block, other = require_resolved(resolve(mapping, VALUES)).values()
    assert host.mems == {"C": "GLOBAL", "A": "GLOBAL", "B": "GLOBAL"}
    assert host.tunables == {"block_m": 64, "block_n": 48, "causal": True}
    assert host.calls == {"gemm_block_logic": "gemm_other"}
    assert (block.mems, block.locals) == ({"A": "SHARED"}, {"t": "REGISTER"})
    assert (block.threads, block.pipeline, block.pads) == (128, 2, {"A": 4})
    assert block.bindings == {"gemm_leaf_logic": "simdgroup_mma"}
    assert (other.proc, other.tunables, other.threads) == ("SIMDGROUP", {"block_k": 8}, 32)


def test_choices_can_be_made_one_after_the_other(mapping: Mapping) -> None:
    for key, value in VALUES.items():
        mapping = resolve(mapping, {key: value})
        assert key not in [tune.key for tune in tunes(mapping)]
    assert tunes(mapping) == []


def test_a_chosen_value_stands_where_its_choice_stands(mapping: Mapping) -> None:
    path = ("task_mappings", "gemm_host", "tunables", "block_m")
    assert resolve(mapping, VALUES).place(*path) == mapping.place(*path)


def test_a_file_is_written_with_choices_replaced_and_all_else_kept(mapping: Mapping) -> None:
    [text] = resolved_texts(mapping, VALUES).values()
    assert text == RESOLVED


def test_a_file_without_choices_is_written_byte_for_byte(mapping: Mapping) -> None:
    assert list(resolved_texts(mapping, {}).values()) == [TEXT]


def test_what_is_written_loads_as_what_was_resolved(mapping: Mapping, tmp_path: Path) -> None:
    [text] = resolved_texts(mapping, VALUES).values()
    file = tmp_path / "best.map.yaml"
    file.write_text(text, "utf-8")
    assert load_mapping(file).data == resolve(mapping, VALUES).data


def test_lines_of_windows_stay_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "gemm.map.yaml"
    file.write_bytes(TEXT.replace("\n", "\r\n").encode())
    [text] = resolved_texts(load_mapping(file), VALUES).values()
    assert text == RESOLVED.replace("\n", "\r\n")


def test_choices_in_two_files_are_written_to_both(tmp_path: Path) -> None:
    first, second = tmp_path / "a_on_cpu.map.yaml", tmp_path / "b_on_cpu.map.yaml"
    first.write_text("task_mappings: {a: {threads: !tune {type: pow2, low: 1, high: 4}}} # 1\n")
    second.write_text("task_mappings: {a: {pipeline: !tune {type: pow2, low: 1, high: 4}}} # 2\n")
    mapping = load_mapping([first, second])
    assert resolved_texts(mapping, {"a.threads": 4, "a.pipeline": 2}) == {
        str(first): "task_mappings: {a: {threads: 4}} # 1\n",
        str(second): "task_mappings: {a: {pipeline: 2}} # 2\n",
    }


def test_what_is_open_is_refused_where_all_must_be_closed(mapping: Mapping) -> None:
    with pytest.raises(SeptranError) as caught:
        require_resolved(resolve(mapping, {"gemm_host.block_m": 64}))
    assert len(caught.value.diagnostics) == len(VALUES) - 1
    assert {each.code for each in caught.value.diagnostics} == {"S601"}


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"gemm_host.block_m": 65}, "S124"),
        ({"gemm_host.block_m": "64"}, "S124"),
        ({"gemm_host.block_m": 64.0}, "S124"),
        ({"gemm_host.causal": 1}, "S124"),
        ({"gemm_other": 2}, "S124"),
        ({"gemm_other": -1}, "S124"),
        ({"gemm_block.mems.A": "REGISTER"}, "S124"),
        ({"gemm_hosts.block_m": 64}, "S120"),
        ({"gemm_block.proc": "BLOCK"}, "S120"),
        ({"": 1}, "S120"),
    ],
)
def test_a_wrong_choice_is_refused(mapping: Mapping, values: dict[str, int], code: str) -> None:
    with pytest.raises(SeptranError) as caught:
        resolve(mapping, values)
    assert [each.code for each in caught.value.diagnostics] == [code]


def test_constraints_see_sizes_tunables_stages_and_threads(tmp_path: Path) -> None:
    file = tmp_path / "gemm_on_apple_gpu.map.yaml"
    file.write_text(
        "entrypoint: a\n"
        "task_mappings:\n"
        "  a: {task_name: t, proc: BLOCK, tunables: {m: 8, depth: 1, pipeline_depth: 3}}\n"
        "constraints: [M % a.m == 0, a.pipeline == 3, a.threads == 128]\n"
    )
    mapping = load_mapping(file)
    check_constraints(mapping, {"M": 16})
    with pytest.raises(SeptranError) as caught:
        check_constraints(mapping, {"M": 17})
    [diagnostic] = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.notes) == ("S602", ("M is 17, a.m is 8",))


def test_values_are_read_as_yaml_would_read_them() -> None:
    texts = ["a.m=64", " a.flag = true", "a.mems.A=SHARED", "a.x=0x10", "a=0"]
    assert parse_values(texts) == {
        "a.m": 64,
        "a.flag": True,
        "a.mems.A": "SHARED",
        "a.x": 16,
        "a": 0,
    }


@pytest.mark.parametrize("text", ["a.m", "a.m=", "a.m=~", "a.m=1.5", "a.m=" + "9" * 30])
def test_a_text_that_chooses_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="does not choose a value"):
        parse_values([text])
