"""Search methods on the stored sweeps: how far from the best they are, and how estimates correlate.

    python -m benchmarks.search_methods --plots docs

Nothing is measured: the result is the same on every machine. The model is fitted to two sweeps and
runs on the third one, each way round. `sweeps` says how the sweeps were made.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from eas.septran.tuner.curves import draw_curves
from eas.septran.tuner.methods import METHODS
from eas.septran.tuner.residual import Residual
from eas.septran.tuner.sweep_files import read_sweep
from eas.septran.tuner.sweeps import (
    Sweep,
    fit_sweeps,
    median_regrets,
    recorded_sweep,
    replayed,
)

SWEEPS = Path(__file__).parent / "sweeps"
NAMES = ("gemm.cpu", "gemm.openblas", "gemm.awesomedsa")
TRIALS, SEEDS = 24, range(9)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a table of regrets and one of correlations, and draws the curves if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--methods", default="evolution,annealing,random,optuna")
    parser.add_argument("--plots", metavar="FOLDER", help="draw the curves there, as SVG")
    parsed = parser.parse_args(arguments)
    recorded = {name: read_sweep(SWEEPS / f"{name}.sweep.gz") for name in NAMES}
    sweeps = {name: recorded_sweep(each) for name, each in recorded.items()}
    methods = parsed.methods.split(",")
    print(f"| sweep | candidates | {' | '.join(methods)} |")
    print(f"|{'---|' * (len(methods) + 2)}")
    for name, sweep in sweeps.items():
        known = fit_sweeps([each for other, each in sweeps.items() if other != name])
        curves = {each: regret_curve(sweep, each, known) for each in methods}
        shown = [f"{curve[-1]:.2f} %" for curve in curves.values()]
        print(f"| {name} | {len(sweep.seconds):,} | {' | '.join(shown)} |", flush=True)
        if parsed.plots:
            path = Path(parsed.plots) / f"septran_search.{name}.svg"
            path.write_text(draw_curves(recorded[name].title, "% slower", curves), "utf-8")
    print("\n| sweep | estimate | fitted to the other two | after 24 trials |\n|---|---|---|---|")
    for name, sweep in sweeps.items():
        known = fit_sweeps([each for other, each in sweeps.items() if other != name])
        print(f"| {name} | {' | '.join(f'{each:.2f}' for each in correlations(sweep, known))} |")


def regret_curve(sweep: Sweep, method: str, known: Residual) -> list[float]:
    """After each trial, how many percent slower than the best the best one so far is."""
    regrets = median_regrets(sweep, METHODS[method], SEEDS, TRIALS, known)
    return [100.0 * each for each in regrets]


def correlations(sweep: Sweep, known: Residual) -> tuple[float, float, float]:
    """Spearman's, of seconds with estimates; corrected by the others; and by trials of its own."""
    histories = [replayed(sweep, METHODS["evolution"], seed, TRIALS, known) for seed in SEEDS]
    learned = median(sweep.correlation(known, history) for history in histories)
    return sweep.correlation(), sweep.correlation(known), learned


if __name__ == "__main__":
    main()
