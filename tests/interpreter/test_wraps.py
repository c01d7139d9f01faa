"""Offsets that wrap are reported; those that are right, or that nobody uses, are not.

`EAS_FUZZ_WRAPS=10000 uv run pytest tests/interpreter/test_wraps.py` tries that many offsets.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.passes.ranges import Ranges
from eas.ir.stages import CORE
from eas.ir.verify import verify
from eas.kernel import Kernel
from eas.runtime.interpreter import wraps
from eas.runtime.interpreter.wraps import with_exact_offsets
from tests.fuzz.running import load
from tests.interpreter.running import arrays_after
from tests.kernels import adamw, cholesky, edit_distance, matmul, radix_scatter, tiled_scale
from tests.kernels.case import Case

FAR = 1 << 30


@eas.kernel
def product(x, y, n):
    i = mk.arange(0, 8)
    mk.store(y, i, mk.load(x, i + n * 4))


@eas.kernel
def in_the_store(x, y, n):
    i = mk.arange(0, 8)
    mk.store(y, i + n * 4, mk.load(x, i))


@eas.kernel
def in_the_atomic(x, y, n):
    i = mk.arange(0, 8)
    mk.atomic_add(y, i - n * 4, mk.load(x, i))


@eas.kernel
def in_the_index(x, y, n):
    i = mk.arange(0, 8)
    y[i] = x[i + n * 4]


@eas.kernel
def then_wider(x, y, n):
    i = mk.arange(0, 8)
    mk.store(y, i, mk.load(x, (n * 4).to(mk.i64) + i))


@eas.kernel
def in_another_shape(x, y, n):
    i, j = mk.arange(0, 2), mk.arange(0, 4)
    tile = (i * n * 4)[:, None] + j[None, :]
    mk.store(y, mk.arange(0, 8), mk.reshape(mk.load(x, tile), (8,)))


@eas.kernel
def carried_by_a_loop(x, y, n):
    i = mk.arange(0, 8)
    for _ in range(4):
        i += n
    mk.store(y, mk.arange(0, 8), mk.load(x, i))


@eas.kernel
def carried_by_lanes(x, y, n):
    i = mk.arange(0, 8)
    k = 0
    while k < i:
        if k == 3:
            i += n
        else:
            i += n
            i -= 1
        k += 1
        if k == 4:
            break
    mk.store(y, mk.arange(0, 8), mk.load(x, i))


@eas.kernel
def of_a_helper(x, y, n):
    i = mk.arange(0, 8)
    mk.store(y, i, mk.load(x, _offset(i, n)))


def _offset(i, n):
    if n > 3:
        return i + n * 4
    return i


@eas.kernel
def of_unsigned(x, y, n):
    i = mk.arange(0, 8).to(mk.u32)
    mk.store(y, i, mk.load(x, i + n.to(mk.u32) * 4))


WRAPPING = [
    product,
    in_the_store,
    in_the_atomic,
    in_the_index,
    then_wider,
    in_another_shape,
    carried_by_a_loop,
    carried_by_lanes,
    of_a_helper,
    of_unsigned,
]


def test_an_offset_that_wraps_in_a_scope_is_reported() -> None:
    text = """kernel k(%x.0: *i32, %n.1: i32) from "k.py" {
      %2: i32[8] = arange start=0 size=8
      %3: i32 = 4
      %4: i32 = mul %n.1, %3
      %5: i32[8] = splat %4 shape=[8]
      %6: i32[8] = add %2, %5
      %7: bool[8] = lt %2, %6
      %8: i32[8] = scope 1 {
        if %7 {
          leave 1 %2
        }
        yield %6
      }
      store %x.0[%8] = %2
    }"""
    with pytest.raises(eas.KernelError) as caught:
        arrays_after(text, np.zeros(8, np.int32), FAR)
    assert [d.code for d in caught.value.diagnostics] == ["R0108"]
    [array] = arrays_after(text, np.zeros(8, np.int32), 3)
    assert array.tolist() == list(range(8))


@pytest.mark.parametrize("kernel", WRAPPING, ids=lambda kernel: kernel.name)
def test_an_offset_that_wraps_is_reported(kernel: Kernel) -> None:
    with pytest.raises(eas.KernelError) as caught:
        kernel[1](np.zeros(8, np.int32), np.zeros(8, np.int32), FAR, _backend="interpret")
    assert [d.code for d in caught.value.diagnostics] == ["R0108"]


@pytest.mark.parametrize("kernel", WRAPPING, ids=lambda kernel: kernel.name)
def test_an_offset_that_does_not_wrap_is_not_reported(kernel: Kernel) -> None:
    kernel[1](np.zeros(8, np.int32), np.zeros(8, np.int32), 0, _backend="interpret")


@eas.kernel
def there_and_back(x, y, n):
    i = mk.arange(0, 8)
    mk.store(y, i, mk.load(x, i + n * 4 + n - n * 5))


@eas.kernel
def masked(x, y, n):
    i = mk.arange(0, 8)
    far = i + n * 4 * (i > 3)
    mk.store(y, i, mk.load(x, far, mask=i <= 3))


@eas.kernel
def in_other_lanes(x, y, n):
    i = mk.arange(0, 8)
    far = i + n * 4 * (i > 3)
    if i <= 3:
        y[i] = x[far]


@eas.kernel
def remainder(x, y, n):
    i = mk.arange(0, 8)
    mk.store(y, i, mk.load(x, (i + n * 4) % 8))


@eas.kernel
def hashed(x, y, n):
    i = mk.arange(0, 8)
    h = (i + n) * 0x01000193
    h = (h ^ (h >> 15)) * 0x01000193
    mk.store(y, i, mk.load(x, h & 7))


@eas.kernel
def shifted(x, y, n):
    i = mk.arange(0, 8)
    mk.store(y, i, mk.load(x, (((i + n * 5) >> 3) & 7) + 0))


@eas.kernel
def selected(x, y, n):
    i = mk.arange(0, 8)
    mk.store(y, i, mk.load(x, mk.where(i * n * 4 == 0, i, 0)))


@eas.kernel
def narrowed(x, y, n):
    i = mk.arange(0, 8)
    mk.store(y, i, mk.load(x, (n.to(mk.i64) * 4 + i).to(mk.i32)))


@eas.kernel
def of_bytes(x, y, n):
    i = mk.arange(0, 8)
    byte = (i + n).to(mk.u8)
    mk.store(y, i, mk.load(x, byte * 32 * 8 + byte))


ON_PURPOSE = [
    there_and_back,
    masked,
    in_other_lanes,
    remainder,
    hashed,
    shifted,
    selected,
    narrowed,
    of_bytes,
]


@pytest.mark.parametrize("kernel", ON_PURPOSE, ids=lambda kernel: kernel.name)
def test_what_wraps_on_purpose_or_is_not_used_is_not_reported(kernel: Kernel) -> None:
    kernel[1](np.zeros(8, np.int32), np.zeros(8, np.int32), FAR, _backend="interpret")


@pytest.mark.parametrize("kernel", [product, carried_by_a_loop, in_the_index])
def test_nothing_is_computed_twice_where_nothing_wraps(kernel: Kernel) -> None:
    x, y = np.zeros(100, np.int32), np.zeros(8, np.int32)
    f = kernel.compile(x, y, 3).function
    numbers = {p.value.id: 3 for p in f.params if p.name == "n"}
    numbers |= {p.value.id: 100 for p in f.params if p.role == "extent"}
    numbers |= {p.value.id: 1 for p in f.params if p.role == "stride"}
    is_certain = kernel is not carried_by_a_loop  # how often a loop adds is not followed
    assert (with_exact_offsets(f, numbers, (1,)) == (f, {})) is is_certain


class _Everything(set[int]):
    def __contains__(self, item: object) -> bool:
        return True


@pytest.mark.parametrize(
    "case",
    [m.CASE for m in (adamw, cholesky, edit_distance, matmul, radix_scatter, tiled_scale)],
    ids=lambda case: case.kernel.name,
)
def test_a_kernel_with_exact_offsets_beside_its_own_gives_the_same(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    def suspect_all(*_: Any) -> Ranges:
        return Ranges(wrapping=_Everything())

    monkeypatch.setattr(wraps, "analyze_launch", suspect_all)
    arguments = case.arguments()
    expected = case.reference(**case.arguments())
    compiled = case.kernel.compile(**arguments)
    changed, exact = with_exact_offsets(compiled.function, {}, (1,))
    verify(changed, CORE)
    assert exact
    options = {} if case.grid is None else {"_grid": case.grid}
    case.kernel(**arguments, **options, _backend="interpret")
    for name, array in expected.items():
        np.testing.assert_allclose(arguments[name], array, rtol=1e-3, atol=1e-3)


LANES = 8
SIZE = 64
HELPERS = int(os.environ.get("EAS_FUZZ_WRAPS", "80"))

_CALLED = """\
@eas.kernel
def touch(x, y, a, b, c, far, MOST):
    i = mk.arange(0, 8)
    mk.store(y, i, mk.load(x, offset(i, a, b, c) - far, mask=i < MOST))
"""


class Exact:
    """An i32 as it is, and what it would be in i64."""

    def __init__(self, exact: int, wrapped: int | None = None) -> None:
        self.exact = _cut(exact, 64)
        self.wrapped = _cut(exact if wrapped is None else wrapped, 32)

    def __add__(self, other: Exact | int) -> Exact:
        return self._made(other, operator.add)

    def __sub__(self, other: Exact | int) -> Exact:
        return self._made(other, operator.sub)

    def __mul__(self, other: Exact | int) -> Exact:
        return self._made(other, operator.mul)

    def __mod__(self, other: int) -> Exact:
        return Exact(self.wrapped % other)

    def __and__(self, other: int) -> Exact:
        return Exact(self.wrapped & other)

    def __rshift__(self, other: int) -> Exact:
        return Exact(self.wrapped >> other)

    def __lt__(self, other: Exact) -> bool:
        return self.wrapped < other.wrapped

    def _made(self, other: Exact | int, how: Callable[[int, int], int]) -> Exact:
        other = other if isinstance(other, Exact) else Exact(other)
        return Exact(how(self.exact, other.exact), how(self.wrapped, other.wrapped))


def _cut(number: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return (number + half) % (2 * half) - half


def _helper(random: Random) -> str:
    lines = ["def offset(i, a, b, c):", "    o = i"]
    for _ in range(random.randint(1, 5)):
        lines += [f"    {line}" for line in _statement(random, 0)]
    return "\n".join([*lines, "    return o"])


def _statement(random: Random, depth: int) -> list[str]:
    match random.randint(0, 7 if depth < 2 else 4):
        case 0 | 1 | 2:
            return [f"o = o {random.choice('+-*')} {_term(random)}"]
        case 3:
            return [f"o = {_term(random)} * {_term(random)} {random.choice('+-')} o"]
        case 4:
            cut = random.choice(["% 97", ">> 5", "& 1023"])
            return [f"o = o + ({_term(random)} * {_term(random)}) {cut}"]
        case 5:
            then, orelse = (_statement(random, depth + 1) for _ in range(2))
            head = f"if {_term(random)} < {random.choice(['a', 'i', 'o'])}:"
            return [head, *_indented(then), "else:", *_indented(orelse)]
        case _:
            trips = random.randint(1, 4)
            head = [f"for k in range({trips}):"]
            leave = [f"if {random.choice('ai')} < o:", "    break"] * random.randint(0, 1)
            return [*head, *_indented([*_statement(random, depth + 1), *leave])]


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _term(random: Random) -> str:
    return random.choice(["a", "b", "c", "i", "o"])


@pytest.mark.parametrize("seed", range(HELPERS))
def test_an_offset_is_reported_if_and_only_if_it_has_wrapped(seed: int) -> None:
    random = Random(seed)
    text = _helper(random)
    numbers = [random.choice([0, 1, 3, 70_000, 1 << 30, -(1 << 31)]) for _ in "abc"]
    module = load(f"import eas\nfrom eas import mk\n\n\n{text}\n\n\n{_CALLED}")
    offsets = [module["offset"](Exact(i), *map(Exact, numbers)) for i in range(LANES)]
    far = random.choice([Exact(offsets[0].wrapped), Exact(0)])
    offsets, most = [each - far for each in offsets], random.choice([2, LANES])
    used = offsets[:most]
    code = None
    if any(each.exact != each.wrapped for each in used):
        code = "R0108"
    elif any(not 0 <= each.wrapped < SIZE for each in used):
        code = "R0101"
    x, y = np.arange(SIZE, dtype=np.int32), np.zeros(LANES, np.int32)
    given = (x, y, *(np.int32(number) for number in (*numbers, far.wrapped)), most)
    try:
        module["touch"][1](*given, _backend="interpret")
    except eas.KernelError as error:
        assert [d.code for d in error.diagnostics] == [code], text
        return
    assert code is None, text
    np.testing.assert_array_equal(y[:most], [each.wrapped for each in used])
