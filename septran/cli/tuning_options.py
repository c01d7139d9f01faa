"""The options of `tune`, `sweep` and `replay`; nothing that takes long is imported here."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable

METHODS = ("evolution", "annealing", "random", "grid", "optuna")

_LONGEST = 1e8  # seconds, of any time that is given
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


AddParser = Callable[..., argparse.ArgumentParser]


def add_commands(add_parser: AddParser) -> None:
    """Adds `tune`, `sweep` and `replay` to the command line."""
    raw = argparse.RawDescriptionHelpFormatter
    tune = add_parser(
        "tune", help="find fast values for `!tune`", description=_TUNE, formatter_class=raw
    )
    _add_problem(tune)
    tune.add_argument("--trials", type=_positive, default=64, metavar="N", help="in all (64)")
    tune.add_argument(
        "--time", type=_seconds, default=float("inf"), metavar="T", help="90s or 10m (no limit)"
    )
    tune.add_argument("--method", choices=METHODS, default="evolution", help=_METHOD)
    tune.add_argument("--seed", type=_seed, default=0, metavar="N", help="of random numbers (0)")
    tune.add_argument(
        "--db", default="tune.sqlite", metavar="FILE", help="the database (tune.sqlite)"
    )
    tune.add_argument(
        "--resume", action="store_true", help="only go on with a stored search: begin no other"
    )
    tune.add_argument("--export", metavar="FILE", help="write the best mapping there")
    tune.add_argument("--plot", metavar="FILE", help="draw the search, as SVG")
    tune.add_argument(
        "--rank",
        type=_positive,
        metavar="N",
        help="measure nothing: show the N candidates that should be fastest, with the reasons",
    )
    tune.add_argument("--workers", type=_positive, default=1, metavar="N", help="at once (1)")
    tune.add_argument("--dask", metavar="ADDRESS", help="run trials on a Dask cluster")
    _add_limits(tune)
    _add_sweep(add_parser)
    replay = add_parser(
        "replay",
        help="compare search methods on stored results",
        description=_REPLAY,
        formatter_class=raw,
    )
    replay.add_argument("db", metavar="FILE", help="a database of `tune`, or a file of `sweep`")
    replay.add_argument("--search", type=int, help="its number; without it, the longest one")
    replay.add_argument("--methods", default="evolution,annealing,random", metavar="NAME,...")
    replay.add_argument("--trials", type=_positive, default=24, help="per search (24)")
    replay.add_argument("--seeds", type=_positive, default=9, help="searches per method (9)")
    replay.add_argument("--plot", metavar="FILE", help="draw the curves, as SVG")
    replay.add_argument(
        "--fit",
        action="append",
        default=[],
        metavar="FILE",
        help="a sweep of another problem, to which the model is fitted first; several may be given",
    )


def _add_problem(command: argparse.ArgumentParser) -> None:
    command.add_argument("logic", metavar="LOGIC", help="the Python file with the tasks")
    command.add_argument(
        "mappings", nargs="*", metavar="MAPPING", help="a mapping with `!tune`, and overlays"
    )
    command.add_argument("--auto", action="store_true", help="open everything: needs no mapping")
    command.add_argument("--machine", help="the machine; with --auto it must be given")
    command.add_argument("--entry", help="with --auto: the entry task, if the logic has several")
    command.add_argument(
        "--shape", action="append", default=[], metavar="NAME=SIZE,...", help="sizes of the arrays"
    )
    command.add_argument("--dtype", help="what the arrays hold, if not what the machine prefers")
    command.add_argument(
        "--tune", action="append", default=[], metavar="KEY=VALUE,...", help="values that are fixed"
    )
    command.add_argument(
        "--primitives", action="append", default=[], metavar="FILE", help="primitives of your own"
    )


def _add_limits(command: argparse.ArgumentParser) -> None:
    command.add_argument("--timeout", type=_seconds, default=30.0, help="of one trial (30s)")
    command.add_argument(
        "--memory", type=_positive, default=4096, help="of one trial, in MiB (4096)"
    )


def _add_sweep(add_parser: AddParser) -> None:
    sweep = add_parser(
        "sweep",
        help="measure many candidates, for `replay`",
        description=_SWEEP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_problem(sweep)
    sweep.add_argument("-o", "--output", required=True, metavar="FILE", help="such as x.sweep.gz")
    sweep.add_argument("--points", type=_positive, default=1000, help="at most so many (1000)")
    sweep.add_argument("--rounds", type=_count, default=7, help="timings of each (7); 0: none")
    sweep.add_argument("--time", type=_seconds, default=float("inf"), help="such as 90s or 10m")
    sweep.add_argument("--seed", type=_seed, default=0, help="of which candidates are taken (0)")
    sweep.add_argument("--workers", type=_positive, default=1, help="checks at once (1)")
    _add_limits(sweep)


_METHOD = "how candidates are chosen (evolution); optuna is Optuna's TPE: pip install optuna"

_TUNE = """\
Tries values for each `!tune` of a mapping, and keeps what it measures in a database. A candidate
runs in a process of its own, is compared with NumPy and timed beside the best one so far. A search
that was interrupted goes on where it was; Ctrl-C exports the best mapping so far.

examples:
  septran tune gemm_logic.py gemm.cpu.tune.yaml --shape M=512,N=512,K=512 --export best.map.yaml
  septran tune gemm_logic.py --auto --machine cpu --shape M=512,N=512,K=512 --trials 64
  septran tune gemm_logic.py --auto --machine apple_gpu --shape M=512,N=512,K=512 --rank 5
  septran tune gemm_logic.py gemm.cpu.tune.yaml --trials 500 --dask tcp://10.0.0.1:8786
"""

_SWEEP = """\
Measures all candidates of a mapping with `!tune`, or so many at random, and keeps them in a file.
Each is compiled and compared with NumPy once. Then they are timed in rounds: each round has one
timing of every candidate, in an order of its own. What was measured is kept whatever ends the
command, and the same command goes on. Times mean something on a machine that does nothing else:
`--rounds 0` only checks, so that this need not be done then.

examples:
  septran sweep gemm_logic.py gemm.cpu.tune.yaml --shape M=512,N=512,K=512 -o x.sweep.gz --rounds 0
  septran sweep gemm_logic.py gemm.cpu.tune.yaml --shape M=512,N=512,K=512 -o x.sweep.gz --time 5m
"""

_REPLAY = """\
Runs search methods against what `tune` or `sweep` measured, without measuring anything, and shows
how far from the best result each is after so many trials, in the median over several seeds.

examples:
  septran replay tune.sqlite --trials 24 --seeds 9 --plot curves.svg
  septran replay x.sweep.gz --fit other.sweep.gz --methods evolution,random,optuna
"""


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"`{text}` is no number from 1 on")
    return int(text)


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"`{text}` is no number from 0 on")
    return int(text)


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**63:
        raise argparse.ArgumentTypeError(f"`{text}` is no number from 0 to 2**63 - 1")
    return int(text)


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text)
    seconds = float(found[1]) * _UNITS[found[2]] if found else 0.0
    if not 0 < seconds < _LONGEST:
        raise argparse.ArgumentTypeError(f"`{text}` is no time: write 90s, 10m or 1h")
    return seconds
