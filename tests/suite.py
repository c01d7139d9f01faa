"""How the suite runs: on all cores, and without the thorough tests unless they are asked for.

`tests/conftest.py` calls these functions from the hooks of pytest.
"""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

# So few files start sooner in one process than on workers, which import and collect by themselves.
FEW_FILES = 3

# How many cases a property of hypothesis is tried on; `--thorough` takes its own default, 100.
EXAMPLES = 15

_LEFT_OUT = pytest.StashKey[int]()
_SENT = "thorough tests left out"


def choose_workers(config: pytest.Config) -> None:
    """Distributes the tests over all cores, if there are many and no option says otherwise.

    `-n 0` runs them in one process, as do `-p no:xdist`, `--pdb` and `-s`.
    """
    option = config.option
    if not config.pluginmanager.hasplugin("xdist") or hasattr(config, "workerinput"):
        return
    is_chosen = option.numprocesses is not None or option.dist != "no" or option.tx
    is_one = option.usepdb or option.collectonly or option.capture == "no"
    if is_chosen or is_one or _names_few_files(config.args):
        return
    option.numprocesses = "logical"
    option.dist = "worksteal"


def _names_few_files(arguments: Sequence[str]) -> bool:
    paths = {argument.partition("::")[0] for argument in arguments}
    return len(paths) <= FEW_FILES and all(Path(path).is_file() for path in paths)


def leave_out_thorough(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects the tests that are marked `thorough`, and most of those that are `sampled`.

    With `--thorough` all tests run.
    """
    if config.getoption("--thorough"):
        return
    numbers = Counter[str]()
    left_out = [item for item in items if _is_left_out(item, numbers)]
    if left_out:
        names = {item.nodeid for item in left_out}
        items[:] = [item for item in items if item.nodeid not in names]
        config.stash[_LEFT_OUT] = len(left_out)
        config.hook.pytest_deselected(items=left_out)


def _is_left_out(item: pytest.Item, numbers: Counter[str]) -> bool:
    """Whether `--thorough` is needed; `numbers` counts the sampled cases of each test so far."""
    if item.get_closest_marker("thorough"):
        return True
    sampled = item.get_closest_marker("sampled")
    if sampled is None:
        return False
    test = item.nodeid.partition("[")[0]
    numbers[test] += 1
    return (numbers[test] - 1) % sampled.args[0] != 0


def send_left_out(session: pytest.Session) -> None:
    """A worker says how many tests it has left out: the same number as any other worker."""
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_SENT] = session.config.stash.get(_LEFT_OUT, 0)


def receive_left_out(config: pytest.Config, output: dict[str, Any]) -> None:
    """Takes the number that a worker has sent."""
    config.stash[_LEFT_OUT] = max(output.get(_SENT, 0), config.stash.get(_LEFT_OUT, 0))


def report_left_out(reporter: pytest.TerminalReporter) -> None:
    """Ends the summary with the number of tests that were left out, and the option for them."""
    count = reporter.config.stash.get(_LEFT_OUT, 0)
    if count:
        reporter.write_line(f"{count} thorough tests were left out; --thorough runs them, too.")


def freeze_objects() -> None:
    """Frees garbage, and has later collections skip the objects that are left.

    Collected tests and compiled kernels stay to the end. To go through all of them takes half a
    second, in each test that collects garbage and whenever Python does so by itself.
    """
    gc.collect()
    gc.freeze()


def prepare_children(patch: pytest.MonkeyPatch, root: Path, folder: Path) -> None:
    """Sets the environment of processes that tests start: they find `eas`, installed or not.

    Where Python must not write bytecode beside the sources, they share it in a folder.
    """
    patch.setenv("PYTHONPATH", str(root), prepend=os.pathsep)
    if os.environ.get("PYTHONDONTWRITEBYTECODE"):
        patch.delenv("PYTHONDONTWRITEBYTECODE")
        patch.setenv("PYTHONPYCACHEPREFIX", str(folder))
