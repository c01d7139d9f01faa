"""The table of all times, for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table

from benchmarks.aims import Aim, Times, duration
from benchmarks.peers import LANGUAGES, SHOWN, TRITON

Results = Mapping[str, Times]  # by the name of a line
Aims = Mapping[str, Sequence[Aim]]


def columns_of(results: Results) -> list[str]:
    """Those that have any time, in the order in which they are shown."""
    return [name for name in SHOWN if any(name in times for times in results.values())]


def ratio_of(times: Times) -> str:
    """How much longer the fastest language for kernels takes."""
    others = [times[name] for name in LANGUAGES if name in times]
    return f"{min(others) / times['eas']:.2f}" if others else ""


def table_of(results: Results, aims: Aims) -> Table:
    table = Table(title="best times; ratios are a peer's time by ours")
    table.add_column("work")
    for name in columns_of(results):
        table.add_column("Triton" if name == TRITON else SHOWN[name], justify="right")
    table.add_column("best\nlanguage", justify="right")
    table.add_column("aims")
    for work, times in results.items():
        cells = [duration(times[n]) if n in times else "" for n in columns_of(results)]
        judged = [
            f"[{'green' if is_met else 'bold red'}]{text}{'' if is_met else ' missed'}[/]"
            for text, is_met in _judged(times, aims[work])
        ]
        table.add_row(work, *cells, ratio_of(times), "\n".join(judged))
    return table


def markdown_of(results: Results, aims: Aims) -> str:
    names = columns_of(results)
    heads = ["work", *(SHOWN[name] for name in names), "best kernel language / eas", "aims"]
    lines = [_line(heads), "|---" * len(heads) + "|"]
    for work, times in results.items():
        cells = [duration(times[name]) if name in times else "" for name in names]
        judged = [
            text if is_met else f"**{text}, missed**" for text, is_met in _judged(times, aims[work])
        ]
        lines.append(_line([work, *cells, ratio_of(times), "; ".join(judged)]))
    return "\n".join(lines)


def missed(results: Results, aims: Aims) -> list[str]:
    """The lines with an aim that was not reached."""
    return [
        f"{work}: {text}"
        for work, times in results.items()
        for text, is_met in _judged(times, aims[work])
        if not is_met
    ]


def _judged(times: Times, aims: Sequence[Aim]) -> list[tuple[str, bool]]:
    found = [aim.judge(times) for aim in aims]
    return [each for each in found if each is not None]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
