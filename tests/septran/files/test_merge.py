"""Several files as one mapping: `extends`, overlays, the machine, completion, choice by sizes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from eas.septran.files import SeptranError, complete, load_machine, load_mapping, pick
from eas.septran.files.mapping import Instance

SEED = Path(__file__).parent / "seed"

BASE = """\
entrypoint: gemm_host
task_mappings:
  gemm_host:
    task_name: gemm_host_logic
    proc: HOST
    tunables: {block_m: 32, block_n: 32}
    calls: {gemm_block_logic: gemm_block}
  gemm_block:
    task_name: gemm_block_logic
    proc: BLOCK
    mems: {C: REGISTER, A: SHARED}
    pipeline: !tune {type: choice, values: [1, 2]}
constraints: [gemm_host.block_m <= 64]
"""
CHANGES = """\
task_mappings:
  gemm_host: {tunables: {block_m: 64}}
  gemm_block:
    mems: {A: GLOBAL, B: SHARED}
    pipeline: 2
constraints: [gemm_host.block_n <= 64]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "base.map.yaml").write_text(BASE)
    (tmp_path / "changes.map.yaml").write_text(CHANGES)
    return tmp_path


def instance(mapping: object, name: str) -> Instance:
    found = getattr(mapping, "task_mappings")[name]  # noqa: B009
    assert isinstance(found, Instance)
    return found


@pytest.mark.usefixtures("folder")
def test_a_later_file_changes_an_earlier_one_key_by_key() -> None:
    mapping = load_mapping(["base.map.yaml", "changes.map.yaml"], machine="cpu")
    assert instance(mapping, "gemm_host").tunables == {"block_m": 64, "block_n": 32}
    block = instance(mapping, "gemm_block")
    assert block.mems == {"C": "REGISTER", "A": "GLOBAL", "B": "SHARED"}
    assert block.pipeline == 2
    assert mapping.constraints == ["gemm_host.block_m <= 64", "gemm_host.block_n <= 64"]


@pytest.mark.usefixtures("folder")
def test_a_merged_value_keeps_the_place_in_its_file() -> None:
    mapping = load_mapping(["base.map.yaml", "changes.map.yaml"], machine="cpu")
    path = ("task_mappings", "gemm_block", "mems")
    places = {key: str(mapping.place(*path, key)) for key in "CAB"}
    assert places == {"C": "base.map.yaml:11", "A": "changes.map.yaml:4", "B": "changes.map.yaml:4"}
    assert str(mapping.place("constraints", 0)) == "base.map.yaml:13"
    assert str(mapping.place("constraints", 1)) == "changes.map.yaml:6"


def test_extends_is_the_same_as_files_in_order(folder: Path) -> None:
    (folder / "inner").mkdir()
    file = folder / "inner" / "gemm.map.yaml"
    file.write_text("extends: ../base.map.yaml\nmachine: cpu\n" + CHANGES)
    extended = load_mapping(file)
    merged = load_mapping(["base.map.yaml", "changes.map.yaml"], machine="cpu")
    assert extended.task_mappings == merged.task_mappings
    assert extended.constraints == merged.constraints


def test_of_several_bases_the_last_one_counts(folder: Path) -> None:
    for name, number in (("one", 1), ("two", 2)):
        text = f"task_mappings: {{gemm_block: {{pipeline: {number}, threads: {number}}}}}\n"
        (folder / f"{name}.map.yaml").write_text(text)
    file = folder / "gemm.map.yaml"
    file.write_text(
        "machine: cpu\nextends: [one.map.yaml, two.map.yaml]\n"
        "task_mappings: {gemm_block: {threads: 3}}\n"
    )
    block = instance(load_mapping(file), "gemm_block")
    assert (block.pipeline, block.threads) == (2, 3)


def test_a_base_may_be_extended_twice_without_a_cycle(folder: Path) -> None:
    for name in ("left", "right"):
        (folder / f"{name}.map.yaml").write_text("extends: base.map.yaml\n")
    (folder / "gemm.map.yaml").write_text(
        "extends: [left.map.yaml, right.map.yaml]\nmachine: cpu\n"
    )
    assert load_mapping("gemm.map.yaml").entrypoint == "gemm_host"


def test_a_choice_in_an_overlay_replaces_a_value_and_the_other_way_round(folder: Path) -> None:
    (folder / "open.map.yaml").write_text(
        "task_mappings: {gemm_host: {tunables: {block_m: !tune {type: bool}}}}\n"
    )
    mapping = load_mapping(["base.map.yaml", "open.map.yaml"], machine="cpu")
    assert not isinstance(instance(mapping, "gemm_host").tunables["block_m"], int)
    closed = load_mapping(["open.map.yaml", "base.map.yaml"], machine="cpu")
    assert instance(closed, "gemm_host").tunables["block_m"] == 32


@pytest.mark.parametrize("suffix", ["map.yaml", "mapping.yaml", "map.yml"])
def test_a_machine_is_found_in_the_name_of_a_file(folder: Path, suffix: str) -> None:
    file = folder / f"gemm_on_cpu.{suffix}"
    file.write_text(BASE)
    assert load_mapping(file).machine.name == "cpu"


def test_the_last_machine_in_the_name_of_a_file_counts(folder: Path) -> None:
    file = folder / "gemm_on_rows_on_cpu.map.yaml"
    file.write_text(BASE)
    assert load_mapping(file).machine.name == "cpu"


def test_no_file_is_no_mapping() -> None:
    with pytest.raises(ValueError, match="no mapping is given"):
        load_mapping([])


def test_the_key_says_more_than_the_name_of_the_file(folder: Path) -> None:
    file = folder / "gemm_on_cpu.map.yaml"
    file.write_text("machine: apple_gpu\n" + BASE)
    assert load_mapping(file).machine.name == "apple_gpu"


def test_a_machine_beside_the_mapping_is_found_by_name_and_by_path(folder: Path) -> None:
    text = Path(load_machine("cpu").path).read_text("utf-8").replace("name: cpu", "name: mine")
    (folder / "mine.machine.yaml").write_text(text)
    (folder / "inner").mkdir()
    for where, machine in (
        ("by_name.map.yaml", "mine"),
        ("by_path.map.yaml", "./mine.machine.yaml"),
        ("inner/by_path.map.yaml", "../mine.machine.yaml"),
    ):
        (folder / where).write_text(f"machine: {machine}\n{BASE}")
        assert load_mapping(folder / where).machine.name == "mine"
    assert load_mapping("base.map.yaml", machine="mine").machine.name == "mine"
    assert load_mapping("base.map.yaml", machine="mine.machine.yaml").machine.name == "mine"
    assert load_mapping("base.map.yaml", machine=load_machine("cpu")).machine.name == "cpu"


def test_a_path_to_a_machine_counts_as_its_name(folder: Path) -> None:
    text = Path(load_machine("cpu").path).read_text("utf-8").replace("name: cpu", "name: mine")
    (folder / "mine.machine.yaml").write_text(text)
    (folder / "by_path.map.yaml").write_text(f"machine: ./mine.machine.yaml\n{BASE}")
    (folder / "by_name.map.yaml").write_text(f"machine: cpu\n{BASE}")
    assert load_mapping("by_path.map.yaml", machine="mine").machine.name == "mine"
    for file, machine in (("by_path.map.yaml", "cpu"), ("by_name.map.yaml", "mine.machine.yaml")):
        with pytest.raises(SeptranError) as caught:
            load_mapping(file, machine=machine)
        assert [each.code for each in caught.value.diagnostics] == ["S113"]


def test_a_machine_with_mistakes_has_them_reported_with_those_of_the_mapping(folder: Path) -> None:
    (folder / "mine.machine.yaml").write_text("name: mine\ntarget: [c]\n")
    (folder / "gemm.map.yaml").write_text("machine: mine\nentry: gemm\n")
    with pytest.raises(SeptranError) as caught:
        load_mapping("gemm.map.yaml")
    files = {each.loc.source.name for each in caught.value.diagnostics}
    assert files == {"gemm.map.yaml", "mine.machine.yaml"}


def test_primitives_of_a_project_can_be_bound(folder: Path) -> None:
    file = folder / "gemm.map.yaml"
    file.write_text(
        "machine: cpu\ntask_mappings: {a: {leaf_task_bindings: {gemm_leaf_logic: my_gemm}}}\n"
    )
    with pytest.raises(SeptranError):
        load_mapping(file)
    assert load_mapping(file, primitives=["my_gemm"]).is_overlay


SKELETON = {
    "entrypoint": "gemm_host_logic",
    "task_mappings": {
        "gemm_host_logic": {
            "task_name": "gemm_host_logic",
            "proc": "HOST",
            "mems": {"C": "GLOBAL", "A": "GLOBAL", "B": "GLOBAL"},
            "calls": {"gemm_block_logic": "gemm_block_logic"},
        },
        "gemm_block_logic": {
            "task_name": "gemm_block_logic",
            "proc": "CORE",
            "mems": {"C": "ACC", "A": "SPM", "B": "SPM"},
        },
    },
}


def test_an_overlay_alone_is_completed_by_a_skeleton() -> None:
    overlay = load_mapping(SEED / "gemm_on_awesomedsa.map.yaml")
    mapping = complete(overlay, SKELETON)
    assert (mapping.is_overlay, mapping.entrypoint) == (False, "gemm_host_logic")
    host = instance(mapping, "gemm_host_logic")
    assert host.calls == {"gemm_block_logic": "gemm_block_dsa"}
    block = instance(mapping, "gemm_block_dsa")
    assert (block.task_name, block.proc) == ("gemm_block_logic", "CORE")
    assert block.leaf_task_bindings == {"gemm_leaf_logic": "gemm_leaf_systolic"}


def test_what_completes_an_overlay_has_a_place_in_a_text_of_its_own() -> None:
    overlay = load_mapping(SEED / "gemm_on_awesomedsa.map.yaml")
    mapping = complete(overlay, SKELETON)
    added = mapping.place("task_mappings", "gemm_block_dsa", "mems", "A")
    assert added.source.name == "<completed for awesomedsa>"
    assert added.source.line(added.line)[added.column : added.end_column] == "SPM"
    bindings = ("task_mappings", "gemm_block_dsa", "leaf_task_bindings", "gemm_leaf_logic")
    assert str(mapping.place(*bindings)) == "gemm_on_awesomedsa.map.yaml:6"


def test_the_entrypoint_of_a_skeleton_takes_the_name_of_its_overlay(folder: Path) -> None:
    file = folder / "host_on_awesomedsa.map.yaml"
    file.write_text("task_mappings: {mine: {task_name: gemm_host_logic, tunables: {block_m: 8}}}\n")
    mapping = complete(load_mapping(file), SKELETON)
    assert mapping.entrypoint == "mine"
    assert instance(mapping, "mine").tunables == {"block_m": 8}


def test_a_mapping_is_picked_by_sizes(folder: Path) -> None:
    for name, when in (
        ("large", 'when: ["M >= 1024", "N >= 1024"]\n'),
        ("small", ""),
        ("none", ""),
    ):
        (folder / f"{name}_on_cpu.map.yaml").write_text(when + BASE)
    mappings = [load_mapping(f"{name}_on_cpu.map.yaml") for name in ("large", "small", "none")]
    large, small, _ = mappings
    assert pick(mappings, {"M": 4096, "N": 4096}) is large
    assert pick(mappings, {"M": 4096, "N": 16}) is small


def test_the_seed_is_as_it_was_written(folder: Path) -> None:
    """Files may be moved: nothing in them depends on where they are."""
    for file in SEED.glob("*.yaml"):
        shutil.copy(file, folder)
    mapping = load_mapping(["gemm_on_nvidia_gpu.mapping.yaml", "gemm_on_nvidia_gpu.map.yaml"])
    assert mapping.machine.name == "nvidia_gpu"


def test_files_with_one_name_in_two_folders_are_distinguished(folder: Path) -> None:
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "part.map.yaml").write_text("task_mappings: {x: {wrong: 1}}\n")
    (folder / "gemm_on_cpu.map.yaml").write_text("extends: [a/part.map.yaml, b/part.map.yaml]\n")
    with pytest.raises(SeptranError) as caught:
        load_mapping("gemm_on_cpu.map.yaml")
    names = [each.loc.source.name for each in caught.value.diagnostics]
    assert names == ["part.map.yaml", "b/part.map.yaml"]
