"""Graphs: recorded launches, their replay, and what is fused."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import eas
from eas.config import Backend
from eas.runtime.streams.active import ACTIVE
from eas.runtime.streams.waits import cancel_all
from tests.streams.elementwise import add, crossed, crowd, half, relu, say, shift, total
from tests.streams.gates import Gate, demand, forever, mix, scale

BACKENDS: tuple[Backend, ...] = ("cpu", "interpret", "msl-host")
on_each = pytest.mark.parametrize("backend", BACKENDS)


@pytest.fixture(autouse=True)
def nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("EAS_BACKEND", "cpu")
    yield
    eas.synchronize()
    assert not ACTIVE


def ones(n: int = 100) -> Any:
    return np.ones(n, np.float32)


@on_each
def test_a_graph_records_launches_and_replays_them(backend: Backend) -> None:
    x, y = ones(), ones() * 2
    with eas.graph() as g, eas.use_backend(backend):
        scale(x, 3.0, 100, BLOCK=32)
        add(x, y, y, 100, BLOCK=32)
        scale[4](x, 2.0, 100, BLOCK=32, _sync=False)
    assert (x[0], y[0], len(g)) == (1.0, 2.0, 3)
    g.replay()
    assert (x.tolist(), y.tolist()) == ([6.0] * 100, [5.0] * 100)
    g.replay()
    assert (x[0], y[0]) == (36.0, 23.0)


@on_each
def test_scalars_are_set_by_name_for_one_replay(backend: Backend) -> None:
    x, y = ones(), ones()
    with eas.graph() as g, eas.use_backend(backend):
        scale(x, 3.0, 100, BLOCK=32)
        scale(y, 5.0, 100, BLOCK=32)
    g.replay(factor=2, N=50)
    assert [x[0], x[50], y[0], y[50]] == [2.0, 1.0, 2.0, 1.0]
    g.replay()
    assert [x[0], x[50], y[0], y[50]] == [6.0, 3.0, 10.0, 5.0]


NONE = "no launch of the graph has a runtime argument"


@pytest.mark.parametrize(
    ("scalars", "message"),
    [
        ({"factr": 2.0}, f"{NONE} `factr`; did you mean `factor`?"),
        ({"BLOCK": 2}, f"{NONE} `BLOCK`; there are `factor`, `N`"),
        ({"x": 2}, "`x` is an array: a graph keeps the arrays of its launches"),
        ({"N": 2.5}, "`N` of `scale`: expected an int (i32), not `2.5`"),
        ({"_sync": "x"}, "`_sync` is True or False, not 'x'"),
    ],
)
def test_a_scalar_that_cannot_be_set_is_refused(scalars: dict[str, Any], message: str) -> None:
    x = ones()
    with eas.graph() as g:
        scale(x, 3.0, 100, BLOCK=32)
    with pytest.raises(eas.GraphError) as caught:
        g.replay(**scalars)
    assert str(caught.value) == message
    assert x[0] == 1.0


def test_a_graph_keeps_its_arrays_alive() -> None:
    class Memory(bytearray):
        """Other than its base it can be referred to weakly."""

    memory = Memory(400)
    alive = weakref.ref(memory)
    with eas.graph() as g:
        scale(np.frombuffer(memory, np.float32), 2.0, 100, BLOCK=32)
    del memory
    gc.collect()
    assert alive() is not None
    g.replay()
    del g
    gc.collect()
    assert alive() is None


def test_reads_of_what_a_recorded_launch_writes_are_refused() -> None:
    x, y = eas.ones(100), eas.ones(100)
    with eas.graph() as g:
        relu(x, y, 100, BLOCK=32)
        assert x.tolist() == [1.0] * 100
        with pytest.raises(eas.GraphError, match=r"^the launch of `relu` at .*test_graphs.py:\d+ "):
            y.tolist()
    x.fill_(-3.0)
    assert (x[0].item(), y[0].item()) == (-3.0, 1.0)
    g.replay()
    assert y[0].item() == 0.0


def test_a_recorded_launch_is_checked_when_it_is_recorded() -> None:
    g = eas.graph()
    with pytest.raises(eas.LaunchError, match="argument `x`: expected a number or an array"), g:
        scale("x", 2.0, 100, BLOCK=32)
    with pytest.raises(eas.GraphError, match=r"^a graph is replayed after the `with` block that"):
        g.replay()


def test_graphs_are_not_used_while_they_are_recorded() -> None:
    x = ones()
    with eas.graph() as other:
        scale(x, 2.0, 100, BLOCK=32)
    with eas.graph() as g:
        with pytest.raises(eas.GraphError, match=r"^a graph is replayed after the `with` block"):
            g.replay()
        with pytest.raises(
            eas.GraphError, match=r"^a graph is not replayed while one is recorded$"
        ):
            other.replay()
        with pytest.raises(eas.GraphError, match=r"^a graph is being recorded already$"):
            eas.graph().__enter__()
    with pytest.raises(eas.GraphError, match=r"^a graph records once: make another one with"):
        g.__enter__()
    g.replay()
    with pytest.raises(TypeError, match=r"^`fuse` is True or False, not 1$"):
        eas.graph(fuse=1)  # pyright: ignore[reportArgumentType]


def test_writes_of_the_host_to_what_a_graph_uses_are_refused() -> None:
    x, y, z = eas.ones(100), eas.ones(100), eas.ones(100)
    with eas.graph() as g:
        add(x, y, y, 100, BLOCK=32)
        for write in (lambda: x.fill_(0), lambda: y.copy_(x), lambda: y[3:].fill_(1)):
            with pytest.raises(eas.GraphError, match="writing it now is no part of a replay"):
                write()
        z[:50].fill_(7)
        with pytest.raises(eas.GraphError, match=r"written at .*test_graphs.py.*only launches are"):
            scale(z, 2.0, 100, BLOCK=32)
        new = eas.zeros(100)
        add(x, y, new, 100, BLOCK=32)
    z.fill_(0)
    g.replay()
    assert (y.tolist(), new.tolist()) == ([2.0] * 100, [3.0] * 100)


def test_another_thread_launches_while_a_graph_is_recorded() -> None:
    x, y = ones(), ones()
    with eas.graph() as g:
        thread = threading.Thread(target=lambda: scale(y, 2.0, 100, BLOCK=32))
        thread.start()
        thread.join()
        scale(x, 2.0, 100, BLOCK=32)
    assert (len(g), x[0], y[0]) == (1, 1.0, 2.0)


@on_each
def test_an_error_names_the_launch_and_where_it_was_recorded(backend: Backend) -> None:
    x, y = ones() * 60, ones()
    with eas.graph() as g, eas.use_backend(backend):
        scale(y, 2.0, 100, BLOCK=32)
        demand(x, 100, BLOCK=32)
        scale(y, 5.0, 100, BLOCK=32)
    with pytest.raises(eas.KernelError) as caught:
        g.replay()
    last = str(caught.value).splitlines()[-1]
    assert last.startswith(f"   = note: in the launch of `demand`, recorded at {__file__}:")
    assert y[0] == 2.0
    x[:] = 0
    g.replay()
    assert y[0] == 20.0


def test_an_error_of_an_asynchronous_replay_comes_with_a_wait() -> None:
    with eas.graph() as g:
        demand(ones() * 60, 100, BLOCK=32)
    g.replay(_sync=False)
    with pytest.raises(eas.KernelError, match="in the launch of `a graph of 1 launches` at "):
        eas.synchronize()


def test_replays_are_ordered_with_launches() -> None:
    x, gate = np.ones(64, np.int32), Gate()
    y = np.zeros(64, np.int32)
    with eas.graph() as g:
        mix(x, x, y, 64, BLOCK=64)
    with eas.stream() as held:
        held.submit(gate, "gate", (), ())
        scale(x, 3, 64, BLOCK=64, _sync=False)
    with eas.stream():
        g.replay(_sync=False)
        scale(y, 2, 64, BLOCK=64, _sync=False)
    threading.Timer(0.05, gate.open).start()
    g.replay()
    first = (3 * 5 + 3 * 7 + 1) * 2
    assert y.tolist() == [(first * 3 + 3 * 5 + 3 * 7 + 1) % 251] * 64


def test_replays_with_other_scalars_do_not_mix() -> None:
    x = ones()
    with eas.graph() as g:
        scale(x, 1.0, 100, BLOCK=32)
        scale(x, 1.0, 100, BLOCK=32)
    for factor in (2.0, 3.0, 0.5):
        g.replay(factor=factor, _sync=False)
    eas.synchronize()
    assert x[0] == 9.0


def test_a_kernel_that_prints_keeps_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    x = ones()
    with eas.graph() as g:
        scale(x, 2.0, 100, BLOCK=32)
        say[1](x)
        scale(x, 2.0, 100, BLOCK=32)
        say[1](x)
    g.replay()
    assert capsys.readouterr().out == "x is 2.0\nx is 4.0\n"


def test_an_empty_graph_runs_nothing() -> None:
    with eas.graph() as g:
        scale(ones(0), 2.0, 0, BLOCK=32)
    g.replay()
    assert repr(g) == "<graph of 0 launches, recorded>"


def test_a_graph_lists_its_launches() -> None:
    x = ones()
    with eas.graph() as g:
        scale(x, 2.0, 100, BLOCK=32)
        total[1](x[:64], ones(1), BLOCK=64, _backend="interpret")
    lines = [line.rpartition(":")[0] for line in repr(g).splitlines()[1:]]
    assert lines == [
        f"  0: scale(x: *f32, factor: f32, N: i32) with BLOCK=32, grid 4, cpu, {__file__}",
        f"  1: total(x: *f32, out: *f32) with BLOCK=64, grid 1, interpret, {__file__}",
    ]


def test_a_replay_that_is_cancelled_leaves_the_graph_usable() -> None:
    x, y = np.zeros(1, np.float32), ones()
    with eas.graph() as g:
        forever[1](x)
        scale(y, 2.0, 100, BLOCK=32)
    g.replay(_sync=False)
    g.replay(_sync=False)
    cancel_all()
    assert y[0] == 1.0
    x[0] = 1.0
    g.replay()
    assert y[0] == 2.0


def results(fuse: bool, backend: Backend) -> tuple[list[list[float]], int]:
    """What launches of all kinds leave in their arrays, and how many launches a graph makes."""
    rng = np.random.default_rng(1)
    x, y, t, u, out = (rng.standard_normal(100).astype(np.float32) for _ in range(5))
    with eas.graph(fuse=fuse) as g, eas.use_backend(backend):
        add(x, y, t, 100, BLOCK=32)
        scale(t, 3.0, 100, BLOCK=32)
        relu(t, u, 100, BLOCK=32)
        half(u, out, 100, BLOCK=32)
        shift(u, x, 100, BLOCK=32)
        relu(x, x, 100, BLOCK=32)
        scale(x, 0.5, 100, BLOCK=32)
    g.replay()
    g.replay(factor=2.0)
    return [array.tolist() for array in (x, y, t, u, out)], len(g)


@on_each
def test_fused_launches_give_the_same_results(backend: Backend) -> None:
    plain, count = results(False, backend)
    fused, fewer = results(True, backend)
    assert fused == plain
    assert (count, fewer) == (7, 2)


def fused_count(launch: Any) -> int:
    with eas.graph(fuse=True) as g:
        launch()
    return len(g)


# Two launches on three arrays, by why they are not fused.
APART: dict[str, Any] = {
    "the second reads what a neighbor writes": (
        lambda x, y, z: relu(x, y, 96, BLOCK=32),
        lambda x, y, z: shift(y, z, 96, BLOCK=32),
    ),
    "the second writes what a neighbor reads": (
        lambda x, y, z: shift(x, y, 96, BLOCK=32),
        lambda x, y, z: relu(z, x, 96, BLOCK=32),
    ),
    "lanes share elements": (
        lambda x, y, z: crowd(x, 96, BLOCK=32),
        lambda x, y, z: relu(x, y, 96, BLOCK=32),
    ),
    "programs share elements": (
        lambda x, y, z: crossed[3](x, y, 96, BLOCK=32),
        lambda x, y, z: crossed[3](y, z, 96, BLOCK=32),
    ),
    "another grid": (
        lambda x, y, z: relu(x, y, 96, BLOCK=32),
        lambda x, y, z: relu(y, z, 64, BLOCK=32),
    ),
    "another block": (
        lambda x, y, z: relu[3](x, y, 96, BLOCK=32),
        lambda x, y, z: relu[3](y, z, 96, BLOCK=64),
    ),
    "another value of one name": (
        lambda x, y, z: scale(x, 2.0, 96, BLOCK=32),
        lambda x, y, z: scale(x, 3.0, 96, BLOCK=32),
    ),
    "a reduction": (
        lambda x, y, z: relu[1](x, y, 96, BLOCK=32),
        lambda x, y, z: total[1](y, z, BLOCK=32),
    ),
    "a grid of two axes": (
        lambda x, y, z: relu[3, 2](x, y, 96, BLOCK=32),
        lambda x, y, z: relu[3, 2](y, z, 96, BLOCK=32),
    ),
    "arrays overlap": (
        lambda x, y, z: relu(x[:96], y[:96], 96, BLOCK=32),
        lambda x, y, z: relu(y[1:97], z[:96], 96, BLOCK=32),
    ),
}


@pytest.mark.parametrize("why", APART)
def test_what_could_differ_is_not_fused(why: str) -> None:
    first, second = APART[why]
    arrays = [ones() for _ in range(3)]
    assert fused_count(lambda: (first(*arrays), second(*arrays))) == 2


def test_launches_of_other_arrays_are_fused() -> None:
    x, y, z = ones(), ones(), ones()
    assert fused_count(lambda: (relu(x, y, 96, BLOCK=32), shift(x, z, 96, BLOCK=32))) == 1


def test_the_metal_of_a_fused_kernel_can_be_printed() -> None:
    x, y, t, out = (ones() for _ in range(4))
    with eas.graph(fuse=True) as g:
        add(x, y, t, 100, BLOCK=64)
        relu(t, out, 100, BLOCK=64)
    text = g.to_msl()
    start, end = text.index("kernel void"), text.index("}\n}")
    body = [line.partition("//")[0].rstrip() for line in text[start:end].splitlines()]
    assert body == [
        "kernel void add_relu(device const float* x [[buffer(0)]],",
        "                     device const float* y [[buffer(1)]],",
        "                     device float* out [[buffer(2)]],",
        "                     constant int& N [[buffer(3)]],",
        "                     device float* out_2 [[buffer(4)]],",
        "                     uint3 program [[threadgroup_position_in_grid]],",
        "                     uint3 thread_position [[thread_position_in_threadgroup]]) {",
        "    const int t = int(thread_position.x);",
        "",
        "    const int i = int(program.x) * 64 + t;",
        "    if (i < N) {",
        "        const float x_1 = x[i] + y[i];",
        "        out[i] = x_1;",
        "        out_2[i] = fmax(x_1, 0.0f);",
        "",
    ]
