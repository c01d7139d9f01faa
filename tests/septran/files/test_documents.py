"""YAML 1.2 with places: what scalars mean, and where every key and value stands."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eas.septran.files import load_mapping, nodes
from eas.septran.files.complaints import Complaints
from eas.septran.files.documents import Document, parse
from eas.septran.files.nodes import Items, Map, Node, Scalar
from eas.septran.files.offsets import Text
from eas.septran.files.writing import to_yaml
from eas.support.location import Loc

REPOSITORY = Path(__file__).parent.parent.parent.parent
FILES = [
    *(REPOSITORY / "septran" / "machines").glob("*.yaml"),
    *(REPOSITORY / "tests" / "septran" / "files" / "seed").glob("*.yaml"),
]


def document_of(text: str) -> Document:
    complaints = Complaints()
    document = parse(Text(text, "example.yaml"), complaints)
    complaints.raise_if_any()
    assert document is not None
    return document


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("32", 32),
        ("-7", -7),
        ("+7", 7),
        ("0x20", 32),
        ("0o17", 15),
        ("017", 17),
        ("1e9", 1e9),
        ("2.5", 2.5),
        (".5", 0.5),
        ("-.inf", -math.inf),
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("on", "on"),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        ("2026-11-17", "2026-11-17"),
        ("0b11", "0b11"),
        ("GLOBAL->SHARED", "GLOBAL->SHARED"),
        ('"32"', "32"),
        ("'it''s'", "it's"),
        ('"a\\tb\\u00e9"', "a\tbé"),
        ('"true"', "true"),
        ("|\n  two\n  lines", "two\nlines\n"),
        (">-\n  two\n  lines", "two lines"),
    ],
)
def test_a_scalar_means_what_yaml_1_2_says(text: str, value: object) -> None:
    node = nodes.find(document_of(f"key: {text}\n").root, ["key"])
    assert isinstance(node, Scalar)
    assert (node.value, type(node.value)) == (value, type(value))


def scalars_in(node: Node) -> Iterator[Scalar]:
    match node:
        case Scalar():
            yield node
        case Items():
            for each in node.items:
                yield from scalars_in(each)
        case Map():
            for entry in node.entries.values():
                yield from scalars_in(entry.value)


def keys_in(node: Node) -> Iterator[tuple[str, Loc]]:
    if isinstance(node, Map):
        for name, entry in node.entries.items():
            yield name, entry.key
            yield from keys_in(entry.value)
    elif isinstance(node, Items):
        for each in node.items:
            yield from keys_in(each)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_place_of_each_key_and_value_holds_its_text(path: Path) -> None:
    document = document_of(path.read_text("utf-8"))
    assert all(document.text.cut(loc) == name for name, loc in keys_in(document.root))
    for scalar in scalars_in(document.root):
        written = document.text.cut(scalar.loc)
        [alone] = scalars_in(document_of(f"key: {written}").root)
        assert alone.value == scalar.value


def test_a_place_is_that_of_the_value_or_of_what_is_around_it() -> None:
    text = "a:\n  b: {c: 12, d: [x, 'yz']}\n  e:\n    f: 1\n"
    root = document_of(text).root
    cut = document_of(text).text.cut

    def shown(*path: str | int) -> tuple[int, str]:
        loc = nodes.place(root, path)
        return loc.line, cut(loc)

    assert shown("a", "b", "c") == (2, "12")
    assert shown("a", "b", "d", 1) == (2, "'yz'")
    assert shown("a", "b") == (2, "{c: 12, d: [x, 'yz']}")
    assert shown("a", "e") == (4, "f: 1")
    assert shown("a") == (1, "a")
    assert shown("a", "b", "missing", "deeper") == (2, "{c: 12, d: [x, 'yz']}")
    assert cut(nodes.key_place(root, ["a", "b", "d"])) == "d"


def test_lines_end_as_in_an_editor() -> None:
    text = "a: 1\r\nb: 'x\u2028y'\rc: 3\n"
    root = document_of(text).root
    places = {name: (entry.key.line, entry.key.column) for name, entry in root.entries.items()}
    assert places == {"a": (1, 0), "b": (2, 0), "c": (3, 0)}


def test_the_end_of_a_line_is_on_this_line() -> None:
    loc = Text("ab\r\ncd\n", "example.yaml").loc(2, 4)
    assert (loc.line, loc.column, loc.end_line, loc.end_column) == (1, 2, 1, 2)


def test_a_mark_at_the_start_of_a_file_is_not_seen(tmp_path: Path) -> None:
    file = tmp_path / "gemm_on_cpu.map.yaml"
    file.write_bytes(b"\xef\xbb\xbftask_mappings: {}\n")
    assert load_mapping(file).key_place("task_mappings").column == 0


def test_an_alias_stands_for_its_anchor() -> None:
    root = document_of("a: &x {b: [1, 2]}\nc: *x\nd: [*x, 3]\n").root
    assert nodes.to_data(root) == {
        "a": {"b": [1, 2]},
        "c": {"b": [1, 2]},
        "d": [{"b": [1, 2]}, 3],
    }


keys = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
plain = st.one_of(
    st.integers(-(10**15), 10**15),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=20),
    st.sampled_from(["yes", "null", "~", "1e5", "0x1f", "- a", "a: b", "#c", "!tune", "*x", ""]),
)
trees = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(keys.filter(lambda key: key not in ("null", "true")), trees, max_size=5))
def test_what_is_written_is_read_back(data: dict[str, object]) -> None:
    assert nodes.to_data(document_of(to_yaml(data)).root) == data


def read_anything(text: str) -> None:
    """What cannot be read is complained about, and the complaint can be shown."""
    complaints = Complaints()
    document = parse(Text(text, "example.yaml"), complaints)
    assert document is not None or complaints
    if complaints:
        assert str(complaints.error())


@given(st.text(max_size=80))
def test_any_text_is_a_document_or_a_complaint(text: str) -> None:
    read_anything(text)


@given(st.text(alphabet="ab:{}[],&*!|>-?\"'#% \n\t\\\r<0", max_size=60))
def test_any_text_of_yaml_signs_is_a_document_or_a_complaint(text: str) -> None:
    read_anything(text)
