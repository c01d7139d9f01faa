"""The page of a review: what is in it, that it is safe, and how large it is."""

from __future__ import annotations

import base64
import json
import re
import shutil
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from eas.review.page import write_page
from eas.review.pairs import pair_up
from eas.review.trees import Tree
from eas.review.versions import Version, Wanted, read_versions
from tests.review.texts import metal
from tests.thorough import thorough

ROOT = Path(__file__).parent.parent.parent
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&`"


def read(tree: Tree) -> dict[str, Version]:
    return read_versions(tree, Wanted(is_compiled=False), lambda _: None)


def corpus(folder: Path, name: str) -> Tree:
    """The snapshots and the Python of all kernels of this project, in a folder of their own."""
    for part in ("snapshots/kernels", "tests/kernels"):
        shutil.copytree(ROOT / part, folder / name / part, dirs_exist_ok=True)
    return Tree(name, folder / name)


def texts_of(page: str) -> Any:
    [packed] = re.findall(r'id="texts">([^<]*)<', page)
    return json.loads(zlib.decompress(base64.b64decode(packed)))


class Collected(HTMLParser):
    """The tags of a page, their attributes, and its ids."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


@pytest.fixture(scope="module")
def whole_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """All kernels of this project, each with a change of its Metal text."""
    folder = tmp_path_factory.mktemp("trees")
    old, new = corpus(folder, "old"), corpus(folder, "new")
    for file in (new.folder / "snapshots/kernels").glob("*.metal"):
        text = file.read_text("utf-8")
        file.write_text(text.replace("int t = ", "int changed = 1;\n    const int t = "), "utf-8")
    return write_page(old, new, pair_up(read(old), read(new)))


@thorough
def test_a_hundred_changed_kernels_fit_into_a_megabyte(whole_page: str) -> None:
    assert len(texts_of(whole_page)["kernels"]) > 90
    assert len(whole_page.encode()) < 1_000_000


def test_the_page_needs_no_network(whole_page: str) -> None:
    found = Collected(whole_page)
    assert not {"link", "img", "iframe", "object", "base"} & set(found.tags)
    addresses = [value or "" for name, value in found.attributes if name in ("src", "href")]
    assert [each for each in addresses if not each.startswith("#")] == []
    assert "default-src 'none'" in whole_page


def test_every_line_of_python_ir_and_metal_has_its_counterpart(whole_page: str) -> None:
    [softmax] = [each for each in texts_of(whole_page)["kernels"] if each["name"] == "softmax"]
    python = {row[3]: row[1].strip() for row in softmax["python"]}
    metal_of = {row[1].strip(): python.get(row[3], "") for row in softmax["metal"] if row[0] != "-"}
    assert metal_of["high = simd_max(high);"] == "powers = mk.exp(v - mk.max(v))"
    assert metal_of["const int row = int(program.x);"] == "row = mk.program_id(0)"
    ir = [(row[1].strip(), python.get(row[3], "")) for row in softmax["ir"]]
    assert ("%powers.16: f32[1024] = exp %15", "powers = mk.exp(v - mk.max(v))") in ir


def test_the_python_of_every_kernel_of_the_corpus_is_found(whole_page: str) -> None:
    missing = [each["name"] for each in texts_of(whole_page)["kernels"] if not each["python"]]
    assert missing == []


def test_ids_are_unique(whole_page: str) -> None:
    ids = [value for name, value in Collected(whole_page).attributes if name == "id"]
    assert len(ids) == len(set(ids))


def test_names_and_texts_cannot_add_tags_to_the_page() -> None:
    old = Version(f"folder/{HOSTILE}", HOSTILE, metal("y[t] = x[t];"), error="")
    new = Version(f"folder/{HOSTILE}", HOSTILE, metal(f"y[t] = 1; // {HOSTILE}"), HOSTILE)
    broken = Version("b", "b", "", error=HOSTILE)
    pairs = pair_up({old.key: old}, {new.key: new, "b": broken})
    page = write_page(Tree(HOSTILE, Path(), HOSTILE, HOSTILE), Tree(HOSTILE, Path()), pairs)
    plain = write_page(Tree("a", Path()), Tree("b", Path()), pair_up({}, {"b": Version("b", "b")}))
    assert Collected(page).tags.count("script") == Collected(plain).tags.count("script") == 2
    assert "img" not in Collected(page).tags
    assert not [name for name, _ in Collected(page).attributes if name.startswith("on")]


def test_a_page_without_changes_says_so() -> None:
    same = {"a": Version("a", "a", metal("y[t] = x[t];"))}
    page = write_page(Tree("old", Path()), Tree("new", Path()), pair_up(same, same))
    assert "Nothing: 1 kernels are as they were." in page
