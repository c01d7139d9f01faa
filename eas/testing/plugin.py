"""The pytest plugin: the fixture `metal_snapshot`, and short messages of errors in kernels."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from eas.kernel import Kernel

# `eas` is imported where it is used: pytest loads this plugin in projects without kernels too.


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
    from eas.testing.snapshots import FOLDER, check_file, stored_text

    folder = request.path.parent / FOLDER
    update = bool(request.config.getoption("--update-metal"))

    def check(kernel: Kernel, *args: Any, _name: str | None = None, **kwargs: Any) -> None:
        __tracebackhide__ = True
        text = stored_text(kernel.compile(*args, **kwargs))
        check_file(folder / f"{_name or kernel.name}.metal", text, update=update)

    return check


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The summary shows the message of an error in a kernel, where pytest would show its file."""
    report = yield
    crash = getattr(report.longrepr, "reprcrash", None)
    if call.excinfo is None or crash is None or not isinstance(call.excinfo.value, SyntaxError):
        return report
    from eas.frontend_ast.source.errors import CompileError

    if isinstance(call.excinfo.value, CompileError):
        first = call.excinfo.value.diagnostics[0]
        crash.message = f"{first.code}: {first.message}"
    return report
