"""Counts of copies, bytes, barriers and products, per kernel and per trip."""

from __future__ import annotations

from eas import septran
from eas.septran.flat.counts import Row, count, print_counts
from eas.septran.flat.pipelines import expand_pipelines
from tests.septran.modules import flash_attention, gemm
from tests.septran.operators import FOLDER

SIZES = {"M": 37, "N": 53, "K": 29}


def row(rows: list[Row], loop: str) -> Row:
    return next(each for each in rows if each.loop == loop)


def test_gemm_copies_twice_per_step_of_k_and_c_once_per_block() -> None:
    rows = count(gemm(), SIZES)
    step, block = row(rows, "k"), row(rows, "")
    assert (step.runs, step.first.copies, step.first.mmas) == (3 * 3 * 4, 2, 1)
    assert (block.runs, block.first.copies) == (9, 4 * 2 + 1)
    assert block.total.flops == 2 * 16 * 24 * 8 * 36


def test_bytes_are_those_of_the_true_extents() -> None:
    total = row(count(gemm(), SIZES), "").total
    assert total.moved["ACC->GLOBAL"] == 37 * 53 * 4
    assert total.moved["GLOBAL->SPM"] == 4 * (3 * 37 * 29 + 3 * 29 * 53)


def test_large_odd_sizes_are_counted_without_walking_all_trips() -> None:
    m, n, k = 16 * 10**6 + 5, 24 * 10**6 + 7, 8 * 10**6 + 3
    rows = count(expand_pipelines(gemm(2)), {"M": m, "N": n, "K": k})
    step, block = row(rows, "k"), row(rows, "")
    down, along, deep = 10**6 + 1, 10**6 + 1, 10**6 + 1
    assert (block.runs, step.runs) == (down * along, down * along * deep)
    assert block.total.moved["ACC->GLOBAL"] == 4 * m * n
    assert block.total.moved["GLOBAL->SPM"] == 4 * (along * m * k + down * k * n)
    assert block.total.flops == 2 * 16 * 24 * 8 * down * along * deep, "of whole tiles"


def test_trips_whose_loops_differ_are_counted_one_by_one() -> None:
    """The loop over keys of a block of queries ends at its last query."""
    folder = FOLDER / "flash_attention"
    causal = septran.load(
        folder / "flash_attention_logic.py", folder / "causal_awesomedsa.map.yaml"
    )
    tile, blocks = 32, 9
    rows = count(causal.flat(H=3, M=tile * blocks, N=tile * blocks, D=16), {})
    steps = next(each for each in rows if each.loop)
    assert steps.runs == 3 * sum(range(1, blocks + 1))


def test_pipelining_moves_nothing_twice() -> None:
    plain, pipelined = count(gemm(3), SIZES), count(expand_pipelines(gemm(3)), SIZES)
    assert row(plain, "").total.moved == row(pipelined, "").total.moved
    assert row(pipelined, "k").first.waits == 1
    assert row(pipelined, "k_ahead").first.copies == 2


def test_flash_attention_copies_k_and_v_once_per_step() -> None:
    rows = count(flash_attention(), {"H": 2, "L": 20, "S": 30})
    assert (row(rows, "j").first.copies, row(rows, "").first.copies) == (2, 3 * 2 + 2)


def test_the_table_has_a_line_per_kernel_and_loop() -> None:
    assert print_counts(count(gemm(2), {"M": 16, "N": 24, "K": 16})) == (
        "kernel  loop  runs  per run: copies  waits  barriers  mma  bytes"
        "  in all: copies  barriers  mma  bytes  ACC->GLOBAL  GLOBAL->SPM\n"
        "gemm             1                5      0         0    2   4096"
        "               5         0    2   4096         1536         2560\n"
        "gemm    k        2                2      0         0    1   1280"
        "               4         0    2   2560            0         2560\n"
    )
