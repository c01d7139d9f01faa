"""The options of the commands `tune` and `replay`; nothing that takes long is imported here."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable

METHODS = ("evolution", "annealing", "random", "grid", "optuna")

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


AddParser = Callable[..., argparse.ArgumentParser]


def add_commands(add_parser: AddParser) -> None:
    """Adds `tune` and `replay` to the command line."""
    raw = argparse.RawDescriptionHelpFormatter
    tune = add_parser(
        "tune", help="find fast values for `!tune`", description=_TUNE, formatter_class=raw
    )
    tune.add_argument("logic", metavar="LOGIC")
    tune.add_argument("mappings", nargs="*", metavar="MAPPING")
    tune.add_argument("--auto", action="store_true", help="open everything: needs no mapping")
    tune.add_argument("--machine", help="the machine; with --auto it must be given")
    tune.add_argument("--entry", help="with --auto: the entry task, if the logic has several")
    tune.add_argument("--shape", action="append", default=[], metavar="NAME=SIZE,...")
    tune.add_argument("--dtype", help="what the arrays hold, if not what the machine prefers")
    tune.add_argument("--tune", action="append", default=[], metavar="KEY=VALUE,...")
    tune.add_argument("--primitives", action="append", default=[], metavar="FILE")
    tune.add_argument("--trials", type=_positive, default=64, help="trials in all (64)")
    tune.add_argument("--time", type=_seconds, default=float("inf"), help="such as 90s or 10m")
    tune.add_argument("--method", choices=METHODS, default="evolution", help=_METHOD)
    tune.add_argument("--seed", type=int, default=0)
    tune.add_argument("--db", default="tune.sqlite", metavar="FILE", help="(tune.sqlite)")
    tune.add_argument(
        "--resume", action="store_true", help="only go on with a stored search: begin no other"
    )
    tune.add_argument("--export", metavar="FILE", help="write the best mapping there")
    tune.add_argument("--plot", metavar="FILE", help="draw the search, as SVG")
    tune.add_argument("--workers", type=_positive, default=1, help="trials at once (1)")
    tune.add_argument("--dask", metavar="ADDRESS", help="run trials on the workers of a scheduler")
    tune.add_argument("--timeout", type=_seconds, default=30.0, help="of one trial (30s)")
    tune.add_argument("--memory", type=_positive, default=4096, help="of one trial, in MiB (4096)")
    replay = add_parser(
        "replay",
        help="compare search methods on stored results",
        description=_REPLAY,
        formatter_class=raw,
    )
    replay.add_argument("db", metavar="DB")
    replay.add_argument("--search", type=int, help="its number; without it, the longest one")
    replay.add_argument("--methods", default="evolution,annealing,random", metavar="NAME,...")
    replay.add_argument("--trials", type=_positive, default=24, help="per search (24)")
    replay.add_argument("--seeds", type=_positive, default=9, help="searches per method (9)")
    replay.add_argument("--plot", metavar="FILE", help="draw the curves, as SVG")


_METHOD = "how candidates are chosen (evolution); optuna is Optuna's TPE: pip install optuna"

_TUNE = """\
Tries values for each `!tune` of a mapping, and keeps what it measures in a database. A candidate
runs in a process of its own, is compared with NumPy and timed beside the best one so far. A search
that was interrupted goes on where it was; Ctrl-C exports the best mapping so far.

examples:
  septran tune gemm_logic.py gemm.cpu.map.yaml --shape M=512,N=512,K=512 --export best.map.yaml
  septran tune gemm_logic.py --auto --machine cpu --shape M=512,N=512,K=512 --trials 64
"""

_REPLAY = """\
Runs search methods against the results in a database, without measuring anything, and shows how
far from the best result each is after so many trials, in the median over several seeds.

example:
  septran replay tune.sqlite --trials 24 --seeds 9 --plot curves.svg
"""


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"`{text}` is no number from 1 on")
    return int(text)


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text)
    if found is None or float(found[1]) == 0:
        raise argparse.ArgumentTypeError(f"`{text}` is no time: write 90s, 10m or 1h")
    return float(found[1]) * _UNITS[found[2]]
