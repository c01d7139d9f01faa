"""Which backend a launch uses."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextvars import ContextVar, Token
from difflib import get_close_matches
from functools import cache
from types import TracebackType
from typing import Any, Literal, get_args

from eas.ir.records import record

Backend = Literal["auto", "cpu", "interpret", "python", "metal", "mps", "msl-host"]

# Compiled kernels need POSIX threads and `dlsym`, which Windows does not have.
_HAS_POSIX = sys.platform != "win32"
AVAILABLE: tuple[Backend, ...] = ("cpu", "interpret", "msl-host") if _HAS_POSIX else ("interpret",)
_ALIASES: dict[str, Backend] = {"mps": "metal"}


class BackendError(Exception):
    """A backend that does not exist, or not here."""


@record
class _Process:
    """What `use_backend` has set for all threads."""

    backend: str | None = None


_process = _Process()
_here: ContextVar[str | None] = ContextVar("eas_backend", default=None)


class use_backend:
    """Chooses the backend of the launches that follow: `eas.use_backend("interpret")`.

    As a context manager, `with eas.use_backend("interpret"):`, it counts inside the block only, and
    for this thread or task only.
    """

    def __init__(self, name: Backend) -> None:
        resolve_backend(name)
        self.name: Backend = name
        self._token: Token[str | None] | None = None
        self._before, _process.backend = _process.backend, name

    def __enter__(self) -> use_backend:
        _process.backend = self._before
        self._token = _here.set(self.name)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._token is not None:
            _here.reset(self._token)


def choose_backend(at_launch: str | None) -> Backend:
    """The backend of a launch: its own `_backend`, else `use_backend`, else `EAS_BACKEND`."""
    return resolve_backend(at_launch or _here.get() or _process.backend or _told() or "auto")


# What is under `os.environ`, which takes a microsecond of every launch to find nothing.
_variables: Mapping[Any, Any] = vars(os.environ)["_data"]
_VARIABLE: Any = os.environ.encodekey("EAS_BACKEND")


def _told() -> str:
    """What `EAS_BACKEND` says now."""
    value = _variables.get(_VARIABLE)
    return os.environ.decodevalue(value) if value else ""


@cache
def resolve_backend(name: str) -> Backend:
    """The backend that a name stands for; raises `BackendError` if it is not there."""
    known = get_args(Backend)
    if name not in known:
        close = get_close_matches(str(name), known, 1)
        hint = f"did you mean `{close[0]}`?" if close else f"there are {', '.join(known)}"
        raise BackendError(f"there is no backend `{name}`; {hint}")
    real = automatic() if name == "auto" else _ALIASES.get(name, name)
    if real == "metal":
        return _metal(name)
    for backend in AVAILABLE:
        if backend == real:
            return backend
    raise _not_here(name)


def automatic() -> Backend:
    """What `auto` stands for: the GPU on a Mac that has one, else the CPU, else the interpreter."""
    if not _HAS_POSIX:
        return "interpret"
    if sys.platform != "darwin":
        return "cpu"
    from eas.runtime import metal

    return "cpu" if metal.missing() else "metal"


def _metal(name: str) -> Backend:
    from eas.runtime import metal  # only those who ask for it pay for its import

    why = metal.missing()
    if why:
        raise _not_here(name, f" ({why})")
    return "metal"


def available() -> list[str]:
    """The backends of this machine."""
    return [*AVAILABLE, *(["metal"] if automatic() == "metal" else [])]


def _not_here(name: str, why: str = "") -> BackendError:
    others = ", ".join(available())
    return BackendError(f"the backend `{name}` is not available here{why}; available: {others}")
