"""Effects and values of fewer lanes than take a branch: as on the interpreter, in every order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.msl.host import ORDERS, Host, check, default_host, run
from eas.support.diagnostics import render
from tests.thorough import sampled

ROWS, COLUMNS = 6, 8
SIZE = ROWS * COLUMNS


@eas.kernel
def store_in_a_branch(x, out, N: eas.constexpr):
    if mk.load(x, mk.arange(0, N)) > 4:
        mk.store(out, 0, 7)


@eas.kernel
def count_in_a_branch(x, out, N: eas.constexpr):
    if mk.load(x, mk.arange(0, N)) > 4:
        mk.store(out, 0, mk.load(out, 0) + 1)


@eas.kernel
def last_trip_counts(x, out, N: eas.constexpr):
    v = mk.load(x, mk.arange(0, N))
    n = 0
    while n < v:
        mk.store(out, 0, n)
        n += 1


@eas.kernel
def one_lane_acts(x, out, N: eas.constexpr):
    i = mk.arange(0, N)
    if i == 3:
        mk.store(out, 0, mk.load(out, 0) + mk.load(x, 3))


@eas.kernel
def two_lanes_act(x, out, N: eas.constexpr):
    i = mk.arange(0, N)
    if i == 40:
        mk.store(out, 0, 5)
    elif i == 1:
        mk.store(out, 0, 6)


@eas.kernel
def rows_count(x, out, M: eas.constexpr, N: eas.constexpr):
    i = mk.arange(0, M)[:, None]
    j = mk.arange(0, N)[None, :]
    if mk.load(x, i * N + j) > 4:
        mk.store(out, i, mk.load(out, i) + 1)
        mk.store(out, M + j, mk.load(out, M + j) + 2)


@eas.kernel
def rows_and_elements(x, out, M: eas.constexpr, N: eas.constexpr):
    i = mk.arange(0, M)[:, None]
    j = mk.arange(0, N)[None, :]
    t = 0 * mk.load(x, i)
    while t < mk.load(x, i):
        mk.store(out, i * N + j, t + mk.load(out, i * N))
        t += 1
    mk.store(out, i * N + j, mk.load(out, i * N + j) + 10 * t)


@eas.kernel
def rows_leave(x, out, M: eas.constexpr, N: eas.constexpr):
    i = mk.arange(0, M)[:, None]
    j = mk.arange(0, N)[None, :]
    total = i * 0
    trip = 0
    for trip in range(9):
        if mk.load(x, i * N + j) == trip:
            break
        mk.store(out, i, trip)
        total += trip
    else:
        mk.store(out, M + i, 1)
    mk.store(out, 2 * M + i * N + j, total + trip, mask=i < 4)


@eas.kernel
def lanes_pass_on(x, out, N: eas.constexpr):
    i = mk.arange(0, N)
    v = mk.load(x, i)
    n = 0
    while n < v:
        mk.store(out, i, v + n)
        v = mk.load(out, (i + 1) % N)
        n += 2
    mk.store(x, i, n)


@eas.kernel
def lanes_share_places(x, out, N: eas.constexpr):
    i = mk.arange(0, N)
    v = mk.load(x, i)
    n = 0
    while n < v:
        mk.store(out, i % 3, n)
        n += 1
    mk.store(out, 8 + i, n + mk.load(out, i % 3), mask=i < N - 8)


@eas.kernel
def own_trips(x, out, N: eas.constexpr):
    i = mk.arange(0, N)
    v = mk.load(x, i)
    for k in range(v, 3 * v + 1, v + 1):
        for other in range(9, v, -2):
            if other == k:
                break
            if other == 5:
                continue
            mk.store(out, i, k, mask=i > 7)
        else:
            mk.store(out, 7, mk.load(out, 7) + 1)
            continue
        mk.store(out, 6, mk.load(out, 6) + 1)


@eas.kernel
def else_of_lanes(x, out, N: eas.constexpr):
    i = mk.arange(0, N)
    v = mk.load(x, i)
    n = 0
    for outer in range(4):
        k = 0
        while k * k < v + outer:
            k += 1
            if k == 3:
                mk.store(out, 0, mk.load(out, 0) + 1)
                break
        else:
            mk.store(out, 1, mk.load(out, 1) + k)
            if v > 6:
                break
            continue
        n += k
    mk.store(out, 2 + i, n, mask=i < N - 2)


def inputs() -> dict[str, Any]:
    x = np.random.default_rng(3).integers(0, 10, SIZE).astype(np.int32)
    return {"x": x, "out": np.zeros(SIZE, np.int32)}


LINES = [
    store_in_a_branch,
    count_in_a_branch,
    last_trip_counts,
    one_lane_acts,
    two_lanes_act,
    lanes_pass_on,
    lanes_share_places,
    own_trips,
    else_of_lanes,
]
TILES = [rows_count, rows_and_elements, rows_leave]
CASES = [
    *((kernel, {"N": n}) for kernel in LINES for n in (SIZE, 7)),
    *((kernel, {"M": ROWS, "N": COLUMNS}) for kernel in TILES),
]


def name_of(part: Any) -> str:
    return getattr(part, "name", str(part))


@pytest.mark.parametrize(("kernel", "constants"), CASES, ids=name_of)
@pytest.mark.parametrize("threads", [None, 32])
@sampled(3)
def test_the_results_are_those_of_the_interpreter(
    kernel: Any, constants: dict[str, int], threads: int | None
) -> None:
    expected = inputs()
    kernel[1](**expected, **constants, _backend="interpret")
    compiled = kernel.compile(**inputs(), **constants, _tptg=threads)
    for order in ORDERS:
        arrays = inputs()
        bound = compiled.binding.bind(arrays)
        run(compiled.metal, compiled.function.params, bound, (1,), order=order)
        assert {n: a.tolist() for n, a in arrays.items()} == {
            n: a.tolist() for n, a in expected.items()
        }


# That lanes store the same number to one place in one step is the kernel's own race.
@sampled(3)
@pytest.mark.parametrize(
    ("kernel", "constants"), [c for c in CASES if c[0] is not lanes_share_places], ids=name_of
)
def test_no_lane_races_with_another(
    kernel: Any, constants: dict[str, int], checked_host: Host
) -> None:
    compiled = kernel.compile(**inputs(), **constants)
    bound = compiled.binding.bind(inputs())
    found = check(compiled.metal, compiled.function, bound, (1,), checked_host)
    assert [render(diagnostic) for diagnostic in found] == []


@eas.kernel
def speak(x, N: eas.constexpr):
    i = mk.arange(0, N)
    v = mk.load(x, i)
    n = 0
    while n < v:
        print("on")
        n += 3
    if v > 8:
        print("large")
    assert mk.load(x, 0) < 100, "never"


def test_a_text_is_printed_once_for_all_lanes(capsys: pytest.CaptureFixture[str]) -> None:
    x = inputs()["x"]
    speak[2](x, N=SIZE, _backend="interpret")
    expected = capsys.readouterr().out
    speak[2](x, N=SIZE, _backend="msl-host")
    assert capsys.readouterr().out == expected
    assert expected.splitlines() == ["on", "on", "on", "large"] * 2


@eas.kernel
def demand(x, N: eas.constexpr):
    v = mk.load(x, mk.arange(0, N))
    n = 0
    while n < v:
        assert n < 8, "too many"
        n += 1


def test_an_assert_on_what_lanes_share_fails_in_the_trip_of_the_last() -> None:
    errors: list[Any] = []
    for backend in ("interpret", "msl-host"):
        with pytest.raises(eas.KernelError) as caught:
            demand[1](inputs()["x"], N=SIZE, _backend=backend)
        errors.append([(d.code, d.message, d.loc) for d in caught.value.diagnostics])
    assert errors[0] == errors[1]


@eas.kernel
def store_load_store(x, out, N: eas.constexpr):
    i = mk.arange(0, N)
    mask = i < 20
    mk.store(out, i, 5, mask)
    y = mk.load(out, i, mask)
    mk.store(out, i, y + 1, mask)


@eas.kernel
def the_test_reads_what_is_stored(x, out, N: eas.constexpr):
    n = 5
    while n != 0 and mk.load(out, 3) < 3:
        mk.store(out, 3, mk.load(out, 3) + 1)
        n -= 1
    mk.store(out, 0, n)


@eas.kernel
def swap_around(x, out, N: eas.constexpr):
    i = mk.arange(0, N)
    a = mk.load(x, i)
    b = a + 1
    c = a * 2
    n = 0
    while n < a:
        c, a, b = a - b, b + c * 0, a + 1
        n += 2
    mk.store(out, i, a + 10 * b + 100 * c)


@pytest.mark.parametrize(
    "kernel", [store_load_store, the_test_reads_what_is_stored, swap_around], ids=lambda k: k.name
)
def test_accesses_keep_their_order(kernel: Any, checked_host: Host) -> None:
    expected = inputs()
    kernel[1](**expected, N=32, _backend="interpret")
    compiled = kernel.compile(**inputs(), N=32)
    for order in ORDERS:
        arrays = inputs()
        bound = compiled.binding.bind(arrays)
        host = default_host()
        run(compiled.metal, compiled.function.params, bound, (1,), order=order, host=host)
        assert arrays["out"].tolist() == expected["out"].tolist()
    bound = compiled.binding.bind(inputs())
    found = check(compiled.metal, compiled.function, bound, (1,), checked_host)
    assert [render(diagnostic) for diagnostic in found] == []
