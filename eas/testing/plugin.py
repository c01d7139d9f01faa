"""The pytest plugin: the fixture `metal_snapshot`, and short messages of errors in kernels."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from eas.kernel import Kernel

# `eas` is imported where it is used: pytest loads this plugin in projects without kernels too.


# The texts of this run, by their files.
_TEXTS = pytest.StashKey[dict[Path, str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("easy_as")
    group.addoption(
        "--update-metal", action="store_true", help="write the Metal texts of `metal_snapshot`"
    )


@pytest.fixture
def metal_snapshot(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Compares the Metal text of a kernel with a file in `__metal__` beside the test.

    `metal_snapshot(relu, "*f32", "*f32", "i32", BLOCK=256)` takes what `relu.to_msl` takes, and
    `_name=` for another name than the kernel's.
    """
    from eas.testing.snapshots import FOLDER, check_file, refuse_second, stored_text

    folder = request.path.parent / FOLDER
    update = bool(request.config.getoption("--update-metal"))
    texts = request.config.stash.setdefault(_TEXTS, {})

    def check(kernel: Kernel, *args: Any, _name: str | None = None, **kwargs: Any) -> None:
        __tracebackhide__ = True
        text = stored_text(kernel.compile(*args, **kwargs))
        file = folder / f"{_name or kernel.name}.metal"
        refuse_second(file, text, texts)
        check_file(file, text, update=update)

    return check


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The summary shows the message of an error in a kernel, where pytest would show its file."""
    report = yield
    crash = getattr(report.longrepr, "reprcrash", None)
    error = call.excinfo.value if call.excinfo else None
    if crash is None or "eas" not in sys.modules:
        return report
    from eas.frontend_ast.source.errors import CompileError
    from eas.testing.snapshots import Mismatch

    if isinstance(error, CompileError):
        first = error.diagnostics[0]
        crash.message = f"{first.code}: {first.message}"
    elif isinstance(error, Mismatch):
        crash.message = str(error).partition("\n")[0]
    return report
