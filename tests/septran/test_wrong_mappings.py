"""Mappings changed at random, and files that are no files: right, or refused with a place."""

from __future__ import annotations

import os
import random
import re
import time
from pathlib import Path

import numpy as np
import pytest

import eas
from eas import septran
from eas.septran.codes import TITLES
from eas.septran.logic.loading import load_primitives
from tests.septran.operators import EXAMPLES, case_of, error_of
from tests.septran.small import codes
from tests.thorough import sampled

SECONDS = 20.0  # of the processor's time, on a slow and busy machine
MACHINES = ("cpu", "apple_gpu", "awesomedsa")
VALUES = (
    *("0", "1", "3", "-1", "7", "8", "4096", "2147483647", "1.5", "true", "null", "~", "''", "[]"),
    *("{}", "NONE", "GLOBAL", "SHARED", "REGISTER", "SPM", "ACC", "HOST", "BLOCK", "CORE"),
    *(
        "THREAD",
        "gemm_host",
        "gemm_block",
        "attention",
        "simt_gemm",
        "cpu_dot",
        "C",
        "A",
        "é",
        "&a",
    ),
    *("*a", "!tune {type: bool}", "!!str 1", "? x", "- 1", "'", '"', "\t", "<<", "0x10", "1e3"),
)
WORD = re.compile(r"[\w.]+")


def mutate(text: str, source: random.Random) -> str:
    """A text with one to three words replaced, or lines removed, doubled, swapped or indented."""
    for _ in range(source.randint(1, 3)):
        lines = text.splitlines()
        at = source.randrange(len(lines))
        match source.randrange(7):
            case 0:
                del lines[at]
            case 1:
                lines.insert(at, lines[at])
            case 2:
                other = source.randrange(len(lines))
                lines[at], lines[other] = lines[other], lines[at]
            case 3:
                lines[at] = source.choice(["  ", "\t", " "]) + lines[at]
            case _:
                words = list(WORD.finditer(lines[at]))
                if words:
                    word, value = source.choice(words), source.choice(VALUES)
                    lines[at] = lines[at][: word.start()] + value + lines[at][word.end() :]
        text = "\n".join(lines) + "\n"
        if not text.strip():
            return text
    return text


@sampled(4)
@pytest.mark.parametrize("seed", range(240))
def test_a_mapping_that_was_changed_at_random_is_right_or_refused(
    seed: int, tmp_path: Path
) -> None:
    source = random.Random(seed)
    example = source.choice(EXAMPLES)
    mapping = source.choice(
        [each for each in example.mappings if any(m in each.name for m in MACHINES)]
    )
    file = tmp_path / mapping.name
    file.write_text(mutate(mapping.read_text("utf-8"), source), "utf-8")
    arrays, expected = case_of(example, mapping, example.sizes[1], "f4")
    start = time.process_time()
    try:
        operator = septran.load(example.logic_file, file)
        changed = operator.entry.function_name.startswith("causal") != ("causal" in file.name)
        if operator.target != "cpu":  # test_random_mappings runs on the others, which takes longer
            operator.check(*arrays)
            return
        operator(*arrays)
    except eas.CompileError as error:
        assert str(error)
        assert all(each.code in TITLES and each.loc.line >= 1 for each in error.diagnostics)
    else:
        assert changed or error_of(arrays[0], expected) <= 2e-5
    assert time.process_time() - start < SECONDS


def odd_files(folder: Path) -> dict[str, Path]:
    """Paths at which no file can be read, or one that is far too large."""
    os.mkfifo(folder / "pipe")
    (folder / "folder").mkdir()
    (folder / "loop").symlink_to("loop")
    with open(folder / "large", "wb") as file:
        file.truncate(50 << 20)
    names = ("pipe", "folder", "loop", "large", "missing", "a\0b", "x" * 5000)
    return {name[:9]: folder / name for name in names} | {"device": Path("/dev/zero")}


@pytest.mark.parametrize("kind", ["logic", "mapping", "machine", "primitives"])
@pytest.mark.parametrize(
    "name", ["pipe", "folder", "loop", "large", "missing", "a\0b", "x" * 9, "device"]
)
def test_what_is_no_file_is_refused_at_once(kind: str, name: str, tmp_path: Path) -> None:
    path = str(odd_files(tmp_path)[name])
    [gemm] = [example for example in EXAMPLES if example.name == "gemm"]
    good = next(each for each in gemm.mappings if ".cpu." in each.name)
    start = time.process_time()
    with pytest.raises(eas.CompileError) as caught:
        match kind:
            case "logic":
                septran.load(path, good)
            case "mapping":
                septran.load(gemm.logic_file, path)
            case "machine":
                septran.load(gemm.logic_file, good, machine=path)
            case _:
                load_primitives(path)
    assert set(codes(caught.value)) <= {"S101", "S105", "S113"}
    assert time.process_time() - start < SECONDS


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    [gemm] = [example for example in EXAMPLES if example.name == "gemm"]
    good = next(each for each in gemm.mappings if ".cpu." in each.name)
    file = tmp_path / "gemm.map.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + good.read_bytes())
    logic = tmp_path / "gemm_logic.py"
    logic.write_bytes(b"\xef\xbb\xbf" + gemm.logic_file.read_bytes())
    c, a, b = np.zeros((4, 5), "f4"), np.ones((4, 6), "f4"), np.ones((6, 5), "f4")
    septran.load(logic, file)(c, a, b)
    assert (c == 6).all()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path) -> None:
    [gemm] = [example for example in EXAMPLES if example.name == "gemm"]
    file = tmp_path / "gemm.map.yaml"
    file.touch(mode=0)
    with pytest.raises(eas.CompileError) as caught:
        septran.load(gemm.logic_file, file)
    assert codes(caught.value) == ["S101"]
