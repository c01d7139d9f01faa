"""Counts the calls in CUDA sources for sm_90: of TileLang by hand, and of what SepTran prints.

EAS_TILELANG_PYTHON=venv/bin/python python -m scripts.compare_tilelang [--write]

`EAS_TILELANG_PYTHON` is a Python of an environment with what `.ci/tilelang.txt` lists. Both texts
have the same tiles, stages and threads, and TileLang lowers both; no GPU is needed. The result is a
table, which `--write` puts into docs/septran_comparison.md. It fails where two counts differ.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from eas.septran.operators import load
from eas.septran.targets.probes import probe
from eas.septran.targets.tilelang_process import lower_with_tilelang
from eas.support.records import frozen
from scripts.count_lines import BY_HAND, OPERATORS, REPOSITORY

PAGE = REPOSITORY / "docs" / "septran_comparison.md"
START, END = "<!-- calls -->\n", "<!-- end of calls -->\n"

# What counts as what in a source: a call by its name, at its opening bracket.
KINDS = {
    "products": r"\b(?:wgmma_\w+|gemm_[rs]{2}|mma_\w+)\b(?:<[^;]*?>)?\(",
    "asynchronous copies": r"\b(?:tma_load\w*|tma_store|cp_async\w*gs\w*)(?:<[^;(]*>)?\(",
    "barriers of threads": r"\b(?:__syncthreads|__sync_thread_partial)(?:<[^;(]*>)?\(",
    "waits and arrivals": r"\bmbarrier\[[^;]*?\]\.(?:wait|arrive|arrive_and_expect_tx)\(",
}


@frozen
class Case:
    """An operator with sizes and tiles, as it is written by hand and as it is mapped."""

    operator: str
    sizes: Mapping[str, int]
    tiles: Mapping[str, int]
    stages: int
    threads: int

    @property
    def name(self) -> str:
        sizes = ", ".join(f"{name} {size}" for name, size in self.sizes.items())
        tiles = " × ".join(map(str, self.tiles.values()))
        return f"{self.operator} | {sizes} | {tiles}, {self.stages} stages, {self.threads} threads"

    def by_hand(self) -> str:
        """The text by hand, called with this case's numbers."""
        text = (BY_HAND / f"{self.operator}.txt").read_text("utf-8")
        numbers = (*self.sizes.values(), *self.tiles.values(), self.stages, self.threads)
        return f"{text}\n\nkernel = {FUNCTIONS[self.operator]}.get_tir{numbers}\n"

    def emitted(self) -> str:
        """What SepTran prints for the machine h100, with this case's numbers over its mapping."""
        folder = OPERATORS / self.operator
        with TemporaryDirectory() as scratch:
            overlay = Path(scratch) / "tiles.map.yaml"
            overlay.write_text(OVERLAYS[self.operator].format(case=self, **self.tiles), "utf-8")
            mapping = [folder / MAPPINGS[self.operator], overlay]
            operator = load(folder / f"{self.operator}_logic.py", mapping)
            return operator.emit("tilelang", dtype="f16", **self.sizes)


FUNCTIONS = {"gemm": "gemm", "flash_attention": "attention"}
MAPPINGS = {"gemm": "gemm.h100.map.yaml", "flash_attention": "h100.map.yaml"}
OVERLAYS = {
    "gemm": """task_mappings:
  gemm_host: {{tunables: {{block_m: {block_m}, block_n: {block_n}}}}}
  gemm_block:
    tunables: {{block_k: {block_k}}}
    pipeline: {case.stages}
    threads: {case.threads}
""",
    "flash_attention": """task_mappings:
  host: {{tunables: {{queries: {queries}}}}}
  block: {{tunables: {{keys: {keys}}}, pipeline: {case.stages}, threads: {case.threads}}}
""",
}


def gemm(sizes: Sequence[int], tiles: Sequence[int], stages: int, threads: int) -> Case:
    parts = _named("block_m block_n block_k", tiles)
    return Case("gemm", _named("M N K", sizes), parts, stages, threads)


def attention(sizes: Sequence[int], tiles: Sequence[int], stages: int, threads: int) -> Case:
    parts = _named("queries keys", tiles)
    return Case("flash_attention", _named("H M N D", sizes), parts, stages, threads)


def _named(names: str, numbers: Sequence[int]) -> dict[str, int]:
    return dict(zip(names.split(), numbers, strict=True))


CASES = (
    gemm((1024, 1024, 1024), (128, 256, 64), 4, 128),
    gemm((1024, 1024, 1024), (128, 128, 32), 3, 128),
    gemm((1024, 1024, 1024), (64, 64, 32), 2, 128),
    gemm((1000, 1000, 1000), (128, 128, 64), 3, 256),
    attention((8, 1024, 1024, 64), (128, 64), 3, 256),
    attention((8, 1024, 1024, 128), (128, 128), 2, 256),
    attention((8, 1024, 1024, 64), (64, 64), 2, 128),
    attention((8, 1000, 1000, 64), (128, 64), 3, 256),
)


@frozen
class Compared:
    """How often each kind of call is in the source by hand, and in ours."""

    case: Case
    by_hand: tuple[int, ...]
    emitted: tuple[int, ...]


def count(source: str) -> tuple[int, ...]:
    """How often each kind of call is in a source."""
    return tuple(len(re.findall(pattern, source)) for pattern in KINDS.values())


def compare(cases: Sequence[Case], python: str) -> list[Compared]:
    """Lowers both texts of each case for sm_90; raises `ValueError` if TileLang takes one not."""
    texts = {f"{case.name} by hand": case.by_hand() for case in cases}
    texts |= {case.name: case.emitted() for case in cases}
    found = lower_with_tilelang(texts, python, ["sm_90"])
    refused = {name: each.reason for (name, _), each in found.items() if each.reason}
    if refused:
        raise ValueError("\n".join(f"{name}: {reason}" for name, reason in refused.items()))
    return [
        Compared(
            case,
            count(found[f"{case.name} by hand", "sm_90"].source),
            count(found[case.name, "sm_90"].source),
        )
        for case in cases
    ]


def table(compared: Sequence[Compared], version: str) -> str:
    """A row for each case, as Markdown; two numbers are by hand and ours."""
    rows = [
        f"With TileLang {version}, by hand / by SepTran:\n",
        f"| operator | sizes | tiles | {' | '.join(KINDS)} |",
        f"|---|---|---|{'---:|' * len(KINDS)}",
    ]
    for each in compared:
        pairs = zip(each.by_hand, each.emitted, strict=True)
        rows.append(f"| {each.case.name} | {' | '.join(f'{a} / {b}' for a, b in pairs)} |")
    return "\n".join(rows) + "\n"


def write_page(text: str) -> None:
    """Replaces the table on the page."""
    page = PAGE.read_text("utf-8")
    before, rest = page.split(START)
    _, after = rest.split(END)
    PAGE.write_text(f"{before}{START}{text}{END}{after}", "utf-8")


def main(arguments: Sequence[str]) -> int:
    python = os.environ.get("EAS_TILELANG_PYTHON", "")
    if not python:
        sys.exit("EAS_TILELANG_PYTHON names no Python with TileLang (.ci/tilelang.txt)")
    found = probe("tilelang", python)
    if found.version is None:
        sys.exit(f"{python} cannot import TileLang: {found.reason}")
    compared = compare(CASES, python)
    text = table(compared, found.version)
    print(text, end="")
    if "--write" in arguments:
        write_page(text)
    return int(any(each.by_hand != each.emitted for each in compared))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
