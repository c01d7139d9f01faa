"""The interpreter: right where the module is, and an error where a machine would be wrong."""

from __future__ import annotations

import numpy as np
import pytest

from eas.septran.flat.interpret import run_module
from eas.septran.flat.machine import Machine, Memory
from eas.septran.flat.nodes import Module
from eas.septran.flat.parser import parse_module
from eas.septran.flat.pipelines import expand_pipelines
from eas.septran.flat.run_errors import FlatRunError
from tests.septran.modules import (
    assert_close,
    attention_of,
    flash_attention,
    gemm,
    nothing,
    random,
    softmax,
    softmax_of,
)


@pytest.mark.parametrize("shape", [(37, 53, 29), (1, 1, 1), (16, 24, 8), (50, 3, 17)])
@pytest.mark.parametrize("dtype", ["f32", "f16", "f64"])
@pytest.mark.parametrize("slots", [1, 2, 3])
@pytest.mark.parametrize("is_expanded", [False, True], ids=["annotated", "expanded"])
def test_gemm_is_right(
    slots: int, dtype: str, shape: tuple[int, int, int], is_expanded: bool
) -> None:
    m, n, k = shape
    module = gemm(slots, "f32" if dtype == "f64" else dtype)
    if dtype == "f64":
        module = parse_module(str(module).replace("f32", "f64"))
    module = expand_pipelines(module) if is_expanded else module
    a, b, c = random(dtype, m, k), random(dtype, k, n), nothing(dtype, m, n)
    run_module(module, [c, a, b])
    assert_close(c, a.astype(np.float64) @ b.astype(np.float64))


def test_gemm_in_bf16_is_right() -> None:
    a, b, c = random("bf16", 20, 9), random("bf16", 9, 30), nothing("bf16", 20, 30)
    run_module(gemm(2, "bf16"), [c, a, b])
    expected = (a.astype(np.float32) @ b.astype(np.float32)).astype(c.dtype)
    np.testing.assert_allclose(c.astype(np.float32), expected.astype(np.float32), rtol=1e-2)


@pytest.mark.parametrize("shape", [(13, 77), (8, 32), (1, 1)])
@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_softmax_is_right(dtype: str, shape: tuple[int, int]) -> None:
    x, y = random(dtype, *shape), nothing(dtype, *shape)
    run_module(softmax(dtype), [y, x])
    assert_close(y, softmax_of(x.astype(np.float64)))


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("shape", [(3, 37, 41), (1, 16, 12), (2, 5, 5)])
@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_flash_attention_is_right(dtype: str, shape: tuple[int, int, int], is_causal: bool) -> None:
    heads, rows, columns = shape
    q, k, v = (
        random(dtype, heads, extent, 16, seed=seed)
        for seed, extent in enumerate((rows, columns, columns))
    )
    o = nothing(dtype, heads, rows, 16)
    run_module(flash_attention(dtype, is_causal), [o, q, k, v])
    wide = [each.astype(np.float64) for each in (q, k, v)]
    expected = attention_of(wide[0], wide[1], wide[2], is_causal)
    assert_close(o, expected)


def small(body: str, threads: int = 1, privilege: str = "w") -> Module:
    """`Y` and `X` of eight floats, and some statements."""
    params = f"Y: f32 [8] GLOBAL {privilege}, X: f32 [8] GLOBAL r"
    return parse_module(
        f"module m({params}) machine test {{\n"
        f"kernel k({params}) grid [] threads {threads} {{\n{body}\n}}\n}}\n"
    )


def result_of(module: Module, machine: Machine | None = None) -> list[float]:
    y, x = np.zeros(8, np.float32), np.arange(8, dtype=np.float32)
    run_module(module, [y, x], machine=machine)
    return y.tolist()


STAGE = "alloc S: f32 [8] SPM slots 2 pad 0\n"
COPY_IN = STAGE + "copy S.SPM@(0)[0:8] <- X.GLOBAL[0:8]\n"
START = STAGE + "start S.SPM@(0)[0:8] <- X.GLOBAL[0:8] token t\n"
OUT = "copy Y.GLOBAL[0:8] <- S.SPM@(0)[0:8]\n"
BARRIER = "barrier BLOCK SPM\n"
ITERATION = "pfor i < 4 at THREAD {\n"

FAULTS = {
    "reads elements of `S` that nothing has written": STAGE + OUT,
    "reads `S` before the wait for its copy": START + OUT + "wait t",
    "writes `S` before the wait for its copy": START + "fill S.SPM@(0)[3:1] 0.0\nwait t",
    "writes `X` while a copy from it is in flight": START + "fill X.GLOBAL[0:1] 0.0\nwait t",
    "nothing waits for 1 copies of `t`": START + "fill Y.GLOBAL[0:8] 0.0",
    "waits for `t` with 0 copies in flight": START + "wait t\nwait t",
    "waits for `t` with 1 copies in flight": START + "wait t keep 1",
    "keeps -1 copies": START + "wait t keep -1",
    "slot 2 of `S`, which has 2": STAGE + "fill S.SPM@(2)[0:8] 0.0",
    "Y.GLOBAL[6 : 3] is [6] : [3], but `Y` has the shape (8,)": "fill Y.GLOBAL[6:3] 0.0",
    "Y.GLOBAL[-1 : 3] is [-1] : [3], but `Y` has the shape (8,)": "fill Y.GLOBAL[-1:3] 0.0",
    "1 elements of `Y` were never written": "fill Y.GLOBAL[0:7] 0.0",
    "nothing has allocated `S`": "if 0 == 0 {\n" + STAGE + "}\nfill S.SPM[0:8] 0.0",
    "copies a shape of (4,) to one of (8,)": "copy Y.GLOBAL[0:8] <- X.GLOBAL[0:4]",
    "two parallel iterations touch one element of `Y`": (
        ITERATION + "fill Y.GLOBAL[i : 2] 0.0\n}\nfill Y.GLOBAL[0:8] 0.0"
    ),
    "some iterations reach a barrier that others do not": (
        ITERATION + "if i < 2 {\n" + BARRIER + "}\n}\nfill Y.GLOBAL[0:8] 0.0"
    ),
    "there is no function for `dsa.twice`": "call dsa.twice(w Y.GLOBAL[0:8])",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str) -> None:
    with pytest.raises(FlatRunError) as caught:
        result_of(small(FAULTS[fault]))
    assert caught.value.message == fault


def test_an_error_shows_the_statement_and_the_values() -> None:
    body = "for i < 5 {\nfill Y.GLOBAL[2*i : 2] 0.0\n}"
    with pytest.raises(FlatRunError) as caught:
        result_of(small(body))
    assert str(caught.value) == (
        "Y.GLOBAL[2*i : 2] is [8] : [2], but `Y` has the shape (8,)\n"
        "fill Y.GLOBAL[2*i : 2] 0.0\n"
        "in `k`, i = 4"
    )


def test_a_started_copy_arrives_at_its_wait() -> None:
    assert result_of(small(START + "wait t\n" + OUT)) == list(range(8))


def test_iterations_exchange_elements_through_a_barrier() -> None:
    body = (
        STAGE
        + "fill S.SPM@(0)[0:8] 0.0\n"
        + "pfor i < 4 at THREAD {\n"
        + "copy S.SPM@(0)[2*i : 2] <- X.GLOBAL[2*i : 2]\n"
        + BARRIER
        + "copy Y.GLOBAL[2*i : 2] <- S.SPM@(0)[6 - 2*i : 2]\n}"
    )
    assert result_of(small(body)) == [6, 7, 4, 5, 2, 3, 0, 1]
    with pytest.raises(FlatRunError, match="two parallel iterations touch one element of `S`"):
        result_of(small(body.replace(BARRIER, "")))


def test_iterations_of_a_reduction_add_to_one_element() -> None:
    body = (
        "fill Y.GLOBAL[0:8] 0.0\npfor i < 8 at THREAD reduce add Y {\n"
        "map Y.GLOBAL[0:1] = Y.GLOBAL[0:1] + X.GLOBAL[i : 1]\n}"
    )
    assert result_of(small(body)) == [28, 0, 0, 0, 0, 0, 0, 0]


GPU = Machine("test", ("HOST", "BLOCK", "THREAD"), (Memory("GLOBAL"), Memory("SPM", 1024, True)))


def test_a_missing_barrier_is_found_where_threads_share_a_memory() -> None:
    assert result_of(small(COPY_IN + BARRIER + OUT, 32), GPU) == list(range(8))
    assert result_of(small(COPY_IN + OUT, 1), GPU) == list(range(8))
    with pytest.raises(FlatRunError, match="no barrier after another wrote it"):
        result_of(small(COPY_IN + OUT, 32), GPU)


def test_a_missing_barrier_before_the_next_write_is_found() -> None:
    again = COPY_IN + BARRIER + OUT + "{}copy S.SPM@(0)[0:8] <- X.GLOBAL[0:8]"
    assert result_of(small(again.format(BARRIER), 32), GPU) == list(range(8))
    with pytest.raises(FlatRunError, match="no barrier after another read it"):
        result_of(small(again.format(""), 32), GPU)


def test_a_call_gets_arrays_and_numbers() -> None:
    def scale(y: np.ndarray, x: np.ndarray, factor: float, shift: int) -> None:
        y[...] = x * factor + shift

    module = small("for i < 2 {\ncall f(w Y.GLOBAL[4*i:4], r X.GLOBAL[4*i:4], 0.5:f32, i + 1)\n}")
    y, x = np.zeros(8, np.float32), np.arange(8, dtype=np.float32)
    run_module(module, [y, x], functions={"f": scale})
    assert y.tolist() == [1, 1.5, 2, 2.5, 4, 4.5, 5, 5.5]


def test_unwritten_integers_are_poisoned_too() -> None:
    text = str(small(STAGE + OUT)).replace("f32", "i32")
    with pytest.raises(FlatRunError, match="that nothing has written"):
        run_module(parse_module(text), [np.zeros(8, np.int32), np.zeros(8, np.int32)])


def test_kernels_hand_on_temporary_memory() -> None:
    module = parse_module(
        """
module m(Y: f32 [M] GLOBAL w, X: f32 [M] GLOBAL r) machine test {
  temp T: f32 [M + 1] GLOBAL
  kernel first(T: f32 [M + 1] GLOBAL w, X: f32 [M] GLOBAL r) grid [] threads 1 {
    map T.GLOBAL[1:M] = X.GLOBAL[0:M] * 2.0:f32
  }
  kernel second(Y: f32 [M] GLOBAL w, T: f32 [M + 1] GLOBAL r) grid [i < M] threads 1 {
    map Y.GLOBAL[i : 1] = T.GLOBAL[M - i : 1]
  }
}
"""
    )
    y, x = np.zeros(5, np.float32), np.arange(5, dtype=np.float32)
    run_module(module, [y, x])
    assert y.tolist() == [8, 6, 4, 2, 0]


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ([(4, 4), (4, 3), (5, 4)], "`B` should have the shape (3, 4), not (5, 4)"),
        ([(4, 4), (4,), (5, 4)], "`A` has 2 axes, the array 1"),
        ([(4, 4)], "expected 3 arrays, got 1"),
    ],
)
def test_arrays_of_wrong_shapes_are_refused(shapes: list[tuple[int, ...]], message: str) -> None:
    with pytest.raises(FlatRunError) as caught:
        run_module(gemm(), [np.zeros(shape, np.float32) for shape in shapes])
    assert str(caught.value) == message
