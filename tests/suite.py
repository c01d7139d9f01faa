"""How the suite runs: on all cores, and without the thorough tests unless they are asked for.

`tests/conftest.py` calls these functions from the hooks of pytest.
"""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Iterable, Sequence
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
    left_out = [item for item in items if item.get_closest_marker("thorough")]
    for cases in _sampled_tests(items):
        left_out += _unsampled(cases)
    if left_out:
        names = {item.nodeid for item in left_out}
        items[:] = [item for item in items if item.nodeid not in names]
        config.stash[_LEFT_OUT] = len(left_out)
        config.hook.pytest_deselected(items=left_out)


def _sampled_tests(items: Sequence[pytest.Item]) -> Iterable[list[pytest.Item]]:
    """The cases of each test that is `sampled`, but those that are `thorough`."""
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sampled") and not item.get_closest_marker("thorough"):
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    return tests.values()


def _unsampled(cases: list[pytest.Item]) -> list[pytest.Item]:
    """The cases of a test to leave out: of so many in a row, all but one.

    That one has the values that have run least often so far, so that no backend and no dtype is
    always left out. What has run is the same in every process: a value is known by its text.
    """
    marker = cases[0].get_closest_marker("sampled")
    assert marker is not None
    ran, left_out = Counter[tuple[str, str]](), list[pytest.Item]()
    for first in range(0, len(cases), marker.args[0]):
        row = cases[first : first + marker.args[0]]
        values = {item: _values_of(item) for item in row}
        chosen = max(row, key=lambda item: sum(1 / (1 + ran[value]) for value in values[item]))
        ran.update(values[chosen])
        left_out += [item for item in row if item is not chosen]
    return left_out


def _values_of(item: pytest.Item) -> list[tuple[str, str]]:
    """The parameters of a case with the texts of their values."""
    params: dict[str, object] = getattr(getattr(item, "callspec", None), "params", {})
    return [(name, repr(value)) for name, value in params.items()]


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
