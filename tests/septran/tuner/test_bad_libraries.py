"""Candidates that call a vendor's library which goes wrong for some tiles."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from eas.septran.tuner.driver import Budget, Tuner
from eas.septran.tuner.measure import close_children
from eas.septran.tuner.problem import Problem
from eas.septran.tuner.store import Store
from eas.tuning.isolation import Limits
from eas.tuning.judging import Plan
from tests.septran.tuner.problems import LOGIC
from tests.thorough import thorough

PEBBLE = Path(__file__).parents[1] / "machines/pebble"

MAPPING = """\
machine: pebble
entrypoint: gemm_host
task_mappings:
  gemm_host:
    task_name: gemm_host_logic
    proc: HOST
    mems: {C: GLOBAL, A: GLOBAL, B: GLOBAL}
    tunables:
      block_m: !tune {type: choice, values: TILES}
      block_n: 16
    calls: {gemm_block_logic: gemm_block}
  gemm_block:
    task_name: gemm_block_logic
    proc: TILE
    mems: {C: L1, A: L1, B: L1}
    tunables: {block_k: 8}
    leaf_task_bindings: {gemm_leaf_logic: pebble_product}
"""

MISCHIEF = """\
void *malloc(unsigned long);
void abort(void);
void exit(int);

static void go_wrong(PebbleMatrix target) {
    static volatile int calls;
    volatile char *taken;
    volatile int *nowhere = (volatile int *)8;
    calls += 1;
    switch (target.rows) {
    case 16: *nowhere = 1; break;
    case 24: for (;;) calls += 1;
    case 32: for (;;)
        for (int n = (taken = malloc(1 << 22), 0); n < 1 << 22; n += 4096) taken[n] = 1;
    case 40: put(target, 3, 5, 1e6f); break;
    case 80: if (calls > 30) put(target, 0, 0, 1e6f); break;
    case 96: abort();
    case 120: exit(0);
    }
}
"""

# After a move: its source is changed.
SCRIBBLE = "    if (move->target.rows == 48) put(move->source, 0, 0, 1e6f);\n"

# What each height of a tile comes to; all of them divide the matrix.
EXPECTED = {
    8: ("ok", ""),
    16: ("crashed", "its process died of SIGSEGV"),
    24: ("timeout", "no result after 20 s"),
    32: ("memory", "its process died of SIGSEGV, after it took "),
    40: ("wrong", "`C[3, 5]` is "),
    48: ("wrong", "`A[0, 0]` is "),
    80: ("wrong", "`C["),  # in a later run
    96: ("crashed", "its process died of SIGABRT"),
    120: ("crashed", "its process exited with code 0"),
    160: ("ok", ""),
}


@pytest.fixture
def problem(tmp_path: Path, tiles: list[int]) -> Iterator[Problem]:
    for name in ("pebble.machine.yaml", "pebble.h"):
        shutil.copy(PEBBLE / name, tmp_path)
    text = (PEBBLE / "pebble.c").read_text("utf-8")
    text = text.replace("    heads[channel] =", f"{SCRIBBLE}    heads[channel] =", 1)
    head, mark, tail = text.partition("void pebble_multiply(")
    body, end, rest = tail.partition("multiply_block(target, left, right, is_flipped, i, j, p);\n}")
    assert mark and end
    call = end.removesuffix("}") + "    go_wrong(target);\n}"
    (tmp_path / "pebble.c").write_text(head + MISCHIEF + mark + body + call + rest, "utf-8")
    path = tmp_path / "gemm.map.yaml"
    path.write_text(MAPPING.replace("TILES", str(tiles)), "utf-8")
    yield Problem(str(LOGIC), (str(path),), ((480, 16), (480, 24), (24, 16)), "f32")
    close_children()


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory")
@pytest.mark.parametrize("tiles", [[8, 16, 40], pytest.param([*EXPECTED], marks=thorough)])
def test_tiles_for_which_a_library_goes_wrong_are_recorded_and_never_win(
    problem: Problem, tmp_path: Path, tiles: list[int]
) -> None:
    store = Store(tmp_path / "tune.sqlite")
    limits = Limits(seconds=20.0, memory=256 << 20)
    tuner = Tuner(problem, store, method="grid", plan=Plan(rounds=5), limits=limits)
    best = tuner.run(Budget(len(tiles)))
    stored = {t.values["gemm_host.block_m"]: t.outcome for t in store.trials(tuner.search)}
    store.close()
    expected = {rows: EXPECTED[rows] for rows in tiles}
    found = {n: (t.status, t.reason[: len(EXPECTED[n][1])]) for n, t in stored.items()}
    assert found == expected
    assert best is not None and best.values["gemm_host.block_m"] in (8, 160)
