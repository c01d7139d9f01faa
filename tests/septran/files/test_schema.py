"""The published JSON Schemas: current, and of one mind with the models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from eas.septran.files import load_machine, nodes, shipped_machines
from eas.septran.files.complaints import Complaints
from eas.septran.files.documents import read
from eas.septran.files.machine import SUFFIX
from eas.septran.files.schema import FOLDER, MODELS, schema_of, schema_text, write_schemas
from tests.septran.files.checking import error_of
from tests.septran.operators import REPOSITORY

HERE = Path(__file__).parent
SEED = sorted((HERE / "seed").glob("*.yaml"))
USED = sorted(
    path
    for folder in (REPOSITORY / "examples" / "septran", HERE.parent / "machines")
    for path in folder.rglob("*.yaml")
)
WRONG = sorted((HERE / "errors").glob("*.yaml"))

# What a schema can see: unknown keys, missing keys, types, ranges and words, names.
SEEN = {"S106", "S107", "S108", "S109", "S110", "S123"}


def data_of(path: Path) -> Any:
    document = read(str(path), Complaints())
    return None if document is None else without_tags(nodes.to_data(document.root))


def without_tags(value: Any) -> Any:
    """The data as an editor sees it."""
    if isinstance(value, nodes.TuneData):
        return without_tags(value.data)
    if isinstance(value, dict):
        return {key: without_tags(each) for key, each in value.items()}
    return [without_tags(each) for each in value] if isinstance(value, list) else value


def is_valid(kind: str, data: Any) -> bool:
    return Draft202012Validator(schema_of(kind)).is_valid(data)


@pytest.mark.parametrize("kind", MODELS)
def test_the_published_schema_is_current(kind: str, pytestconfig: pytest.Config) -> None:
    if pytestconfig.option.update_snapshots:
        write_schemas()
    assert (FOLDER / f"{kind}.json").read_text("utf-8") == schema_text(kind)


@pytest.mark.parametrize("kind", MODELS)
def test_the_schema_is_one(kind: str) -> None:
    Draft202012Validator.check_schema(schema_of(kind))


@pytest.mark.parametrize("name", shipped_machines())
def test_every_machine_that_ships_is_valid(name: str) -> None:
    assert is_valid("machine", data_of(Path(load_machine(name).path)))


@pytest.mark.parametrize("path", SEED, ids=lambda path: path.name)
def test_every_mapping_that_loads_is_valid(path: Path) -> None:
    assert is_valid("mapping", data_of(path))


def test_every_file_of_the_examples_and_of_machines_in_the_tests_is_valid() -> None:
    kinds = {path: "machine" if path.name.endswith(SUFFIX) else "mapping" for path in USED}
    assert len(kinds) > 70
    assert [path.name for path, kind in kinds.items() if not is_valid(kind, data_of(path))] == []


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.name)
def test_a_schema_refuses_only_what_the_models_refuse(path: Path) -> None:
    data = data_of(path)
    kind = "machine" if path.name.endswith(".machine.yaml") else "mapping"
    codes = {diagnostic.code for diagnostic in error_of(path).diagnostics}
    if data is not None and not is_valid(kind, data):
        assert codes & SEEN


@pytest.mark.parametrize(
    "name",
    [
        "unknown_key.map.yaml",
        "unknown_key_at_top.map.yaml",
        "unknown_key_of_tune.map.yaml",
        "unknown_key_of_machine.machine.yaml",
        "missing_type_of_tune.map.yaml",
        "missing_keys_of_machine.machine.yaml",
        "wrong_types.map.yaml",
        "values_out_of_range.map.yaml",
        "unknown_words.machine.yaml",
        "names_that_are_none.map.yaml",
        "names_that_are_none.machine.yaml",
        "tune_of_another_kind.map.yaml",
    ],
)
def test_a_schema_finds_what_it_can_see(name: str) -> None:
    kind = "machine" if name.endswith(".machine.yaml") else "mapping"
    assert not is_valid(kind, data_of(HERE / "errors" / name))
