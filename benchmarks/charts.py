"""The charts: how much longer the peers take, and time over size."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.growth import SIZES
from benchmarks.growth import Times as Growth
from benchmarks.peers import SHOWN, TRITON
from benchmarks.tables import Results, columns_of

_COLORS = {
    "numpy": "#4c78a8",
    "torch": "#e45756",
    "numba": "#54a24b",
    "numba_fast": "#9ccf8f",
    "taichi": "#b279a2",
    "warp": "#f2a73b",
    "by_hand": "#555555",
}
_THIN = "#bbbbbb"
_RATIOS = [digit * size for size in (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0) for digit in (1, 2, 5)]
_TICKS = {1 << 10: "1 K", 1 << 14: "16 K", 1 << 18: "256 K", 1 << 22: "4 M", 1 << 26: "64 M"}


def can_draw() -> bool:
    try:
        import_module("matplotlib")
    except ImportError:
        return False
    return True


def draw_ratios(results: Results, target: Path) -> None:
    """A row of dots per work: each peer's time by ours, on a logarithmic axis."""
    figure, axes = _figure(11, 0.42 * len(results) + 1.6)
    names = [name for name in columns_of(results) if name not in ("eas", TRITON)]
    for row, times in enumerate(results.values()):
        ratios = {name: times[name] / times["eas"] for name in names if name in times}
        low, high = min([1.0, *ratios.values()]), max([1.0, *ratios.values()])
        axes.plot([low, high], [row, row], color=_THIN, linewidth=1, zorder=1)
        for place, name in enumerate(names):
            if name in ratios:
                height = row + 0.09 * (place - (len(names) - 1) / 2)  # equal ones side by side
                axes.scatter([ratios[name]], [height], s=36, color=_COLORS[name], zorder=2)
    for name in names:
        axes.scatter([], [], s=36, color=_COLORS[name], label=SHOWN[name])
    axes.axvline(1, color="black", linewidth=1, zorder=0)
    axes.set_yticks(range(len(results)), list(results))
    axes.set_ylim(len(results) - 0.4, -0.6)
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    shown = [tick for tick in _RATIOS if low <= tick <= high]
    axes.set_xticks(shown, [f"{tick:g}" for tick in shown])
    axes.set_xlabel("time by that of eas (right of the line: eas is faster)")
    axes.grid(axis="x", color="#eeeeee")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(names), frameon=False)
    _save(figure, target)


def draw_growth(by_threads: Mapping[int, Growth], target: Path) -> None:
    """Time over size for each kernel, a line per number of threads."""
    names = list(next(iter(by_threads.values())))
    figure, all_axes = _figure(4 * len(names), 4, columns=len(names))
    for axes, name in zip(all_axes, names, strict=True):
        for (threads, growth), color in zip(by_threads.items(), _COLORS.values(), strict=False):
            label = "1 thread" if threads == 1 else f"{threads} threads"
            times = [1e6 * seconds for seconds in growth[name]]
            axes.plot(SIZES, times, marker="o", markersize=3, color=color, label=label)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(list(_TICKS), list(_TICKS.values()))
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
        axes.set_title(name)
        axes.set_xlabel("elements")
        axes.grid(color="#eeeeee")
        axes.legend(frameon=False)
    all_axes[0].set_ylabel("µs of a launch")
    _save(figure, target)


def _figure(width: float, height: float, columns: int = 1) -> tuple[Any, Any]:
    matplotlib: Any = import_module("matplotlib")
    matplotlib.use("agg")  # no window, wherever this runs
    plots: Any = import_module("matplotlib.pyplot")
    return plots.subplots(1, columns, figsize=(width, height))


def _save(figure: Any, target: Path) -> None:
    figure.tight_layout()
    for suffix in (".png", ".svg"):
        figure.savefig(target.with_suffix(suffix), dpi=110, metadata=_UNDATED.get(suffix))


_UNDATED = {".svg": {"Date": None}}
