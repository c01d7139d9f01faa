"""A machine that the package does not know: a YAML file, a table of symbols and a small C library.

Everything about it is in the folder `pebble`; flash attention moves to it by one mapping.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import eas
from eas.septran.flat.interpret import run_module
from eas.septran.flat.nodes import Fill, If, Mma, walk
from eas.septran.flat.parser import parse_module
from eas.septran.flat.verify import find_violations
from eas.septran.machine_tables import library_of
from eas.septran.operators import Operator, load
from eas.septran.targets.build import Program
from eas.septran.targets.library import TargetError
from eas.septran.targets.whole_blocks import pad_products
from tests.septran.operators import EXAMPLES, REPOSITORY, Sizes, error_of

FOLDER = Path(__file__).parent / "pebble"
MAPPING = FOLDER / "flash_attention.map.yaml"
[FLASH] = [example for example in EXAMPLES if example.name == "flash_attention"]
TOLERANCE = {"f4": 2e-5, "f2": 2e-2}


def pebble() -> Operator:
    return load(FLASH.logic_file, MAPPING)


def thorough_but(first: object, every: tuple[object, ...]) -> list[object]:
    return [
        each if each is first else pytest.param(each, marks=pytest.mark.thorough) for each in every
    ]


@pytest.mark.parametrize("dtype", ["f4", "f2"])
@pytest.mark.parametrize("sizes", thorough_but(FLASH.sizes[0], FLASH.sizes), ids=str)
def test_flash_attention_moves_to_it_by_one_mapping(sizes: Sizes, dtype: str) -> None:
    operator = pebble()
    arrays, expected = FLASH.make(sizes, dtype)
    operator(*arrays)
    assert error_of(arrays[0], expected) <= TOLERANCE[dtype]
    lowered = operator.build_flat(*arrays)
    assert find_violations(lowered.module, lowered.machine) == []
    arrays[0][...] = float("nan")
    run_module(lowered.module, arrays, machine=lowered.machine)
    assert error_of(arrays[0], expected) <= TOLERANCE[dtype]


def test_the_package_does_not_know_it() -> None:
    files = [path for path in (REPOSITORY / "septran").rglob("*") if path.is_file()]
    texts = [path.read_bytes() for path in files if path.suffix != ".pyc"]
    assert len(texts) > 100
    assert not any(b"pebble" in text.lower() for text in texts)


def test_its_own_functions_do_the_work() -> None:
    """Per block of queries, Q and O are moved; per step, which has two products, K and V are."""
    arrays, _ = FLASH.make((2, 32, 48, 16), "f4")
    operator = pebble()
    program = Program(operator.flat(*arrays), operator.library)
    program(*arrays)
    blocks, steps = 2 * 2, 2
    counts = program.call_counts()
    assert counts["pebble_multiply"] == blocks * steps * 2
    assert counts["pebble_queue_move"] == blocks * (2 + steps * 2)
    assert counts["pebble_drain_channel"] == blocks * (2 + steps)


def test_a_tile_that_its_product_cannot_take_is_refused(tmp_path: Path) -> None:
    text = MAPPING.read_text("utf-8").replace("keys: 24", "keys: 12")
    (tmp_path / MAPPING.name).write_text(text, "utf-8")
    for name in ("pebble.machine.yaml", "pebble.h", "pebble.c"):
        (tmp_path / name).write_bytes((FOLDER / name).read_bytes())
    with pytest.raises(eas.CompileError) as caught:
        load(FLASH.logic_file, tmp_path / MAPPING.name).build(H=1, M=16, N=24, D=8)
    assert {each.code for each in caught.value.diagnostics} == {"S501"}
    assert "takes multiples of 8 for `n`, and it is 12" in str(caught.value)


PRODUCT = """
module product(C: f32 [8, 8] GLOBAL w, A: f32 [8, 5] GLOBAL r, B: f32 [5, 8] GLOBAL r) machine pebble {
  kernel product(C: f32 [8, 8] GLOBAL w, A: f32 [8, 5] GLOBAL r, B: f32 [5, 8] GLOBAL r) grid [] threads 1 {
    alloc c: f32 [8, 8] L1 slots 1 pad 0
    alloc a: f32 [8, 8] L1 slots 1 pad 0
    alloc b: f32 [8, 8] L1 slots 1 pad 0
    fill c.L1[0:8, 0:8] 0.0
    map a.L1[0:8, 0:5] = A.GLOBAL[0:8, 0:5]
    copy b.L1[0:8, 0:8] <- B.GLOBAL[0:5, 0:8] fill 0.0
    mma c.L1[0:8, 0:8] += a.L1[0:8, 0:5] @ b.L1[0:5, 0:8] by pebble_product
    copy C.GLOBAL[0:8, 0:8] <- c.L1[0:8, 0:8]
  }
}
"""  # noqa: E501


def test_a_factor_that_is_not_padded_is_filled_with_zeros_for_whole_blocks() -> None:
    padded = pad_products(parse_module(PRODUCT), library_of(pebble().machine))
    [product] = [stmt for stmt in walk(padded.kernels[0].body) if isinstance(stmt, Mma)]
    assert [str(product.depth), *map(str, product.right.shape)] == ["8", "8", "8"]
    guards = [stmt for stmt in padded.kernels[0].body if isinstance(stmt, If)]
    fills = [stmt for guard in guards for stmt in guard.body if isinstance(stmt, Fill)]
    assert [(fill.target.buffer, str(fill.target.offsets[1])) for fill in fills] == [("a", "5")]


def test_whole_blocks_of_an_argument_that_has_none_are_refused() -> None:
    text = PRODUCT.replace("b.L1[0:5, 0:8] by", "B.GLOBAL[0:5, 0:8] by")
    with pytest.raises(TargetError, match="tiles of `B` are not whole in GLOBAL"):
        pad_products(parse_module(text), library_of(pebble().machine))


def copied(folder: Path, **changed: bytes) -> Operator:
    """The machine in another folder, with something before its C or instead of its mapping."""
    for path in FOLDER.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "pebble.c").write_bytes(
        changed.get("before", b"") + (FOLDER / "pebble.c").read_bytes()
    )
    (folder / MAPPING.name).write_bytes(changed.get("mapping", MAPPING.read_bytes()))
    return load(FLASH.logic_file, folder / MAPPING.name)


def test_a_product_of_whole_blocks_on_a_ragged_tile_in_global_is_refused(tmp_path: Path) -> None:
    mapping = MAPPING.read_bytes().replace(b"V: L1", b"V: GLOBAL")
    copied(tmp_path, mapping=mapping)
    machine = tmp_path / "pebble.machine.yaml"
    machine.write_bytes(machine.read_bytes().replace(b"B: [L1]", b"B: [L1, GLOBAL]"))
    operator = load(FLASH.logic_file, tmp_path / MAPPING.name)
    operator.build(H=1, M=16, N=48, D=8)
    with pytest.raises(eas.CompileError) as caught:
        operator.build(H=1, M=16, N=13, D=8)
    assert {each.code for each in caught.value.diagnostics} == {"S501"}
    assert "takes whole blocks, and tiles of `V` are not whole in GLOBAL" in str(caught.value)


def test_what_a_compiler_says_of_a_vendors_file_has_no_control_characters(tmp_path: Path) -> None:
    operator = copied(tmp_path, before=b"#error \x1b[31mred\x07 \xff\n")
    with pytest.raises(eas.CompileError) as caught:
        operator.build(H=1, M=16, N=24, D=8)
    assert {each.code for each in caught.value.diagnostics} == {"S701"}
    text = str(caught.value)
    assert "[31mred" in text
    assert all(each.isprintable() or each in "\n\t" for each in text)


def test_a_vendors_file_may_use_the_c_library(tmp_path: Path) -> None:
    before = b"#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
    before += b"void *kept(void) { return memset(malloc(4), 0, 4); }\n"
    operator = copied(tmp_path, before=before)
    arrays, expected = FLASH.make((1, 16, 24, 8), "f4")
    operator(*arrays)
    assert error_of(arrays[0], expected) <= TOLERANCE["f4"]
