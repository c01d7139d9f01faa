"""Which backend a launch uses, and whether it checks."""

from __future__ import annotations

import sys
from functools import cache
from typing import Literal, Self, get_args

from eas.support.block_values import BlockValue
from eas.support.close_names import closest
from eas.support.environment import Variable

Backend = Literal["auto", "cpu", "interpret", "python", "metal", "mps", "msl-host"]

# Compiled kernels need POSIX threads and `dlsym`, which Windows does not have.
_HAS_POSIX = sys.platform != "win32"
AVAILABLE: tuple[Backend, ...] = ("cpu", "interpret", "msl-host") if _HAS_POSIX else ("interpret",)
_ALIASES: dict[str, Backend] = {"mps": "metal"}


class BackendError(Exception):
    """A backend that does not exist, or not here."""

    __module__ = "eas"  # where a user imports it from; tracebacks show it


class CheckError(ValueError):
    """A choice of checks that says neither yes nor no."""


class _Setting:
    """Something that is chosen for a block of code, for the process, or by the environment."""

    def __init__(self, variable: str) -> None:
        self.variable = variable
        self.process: str | None = None  # what holds for all threads
        self.chosen_by: object = None  # the one that chose it
        self.here = BlockValue[str](variable.lower())
        self._from_environment = Variable(variable).text

    def chosen(self) -> str:
        """What was chosen; empty if nothing was."""
        return self.here.get() or self.process or self._from_environment()


_backend = _Setting("EAS_BACKEND")
_checks = _Setting("EAS_CHECK")


class _Chosen:
    """A choice for the process, which `with` makes one for the block, thread and task only."""

    def __init__(self, setting: _Setting, text: str) -> None:
        self._setting, self._text = setting, text
        self._before, setting.process, setting.chosen_by = setting.process, text, self

    def __enter__(self) -> Self:
        if self._setting.chosen_by is self:  # neither in a block before, nor replaced
            self._setting.process, self._setting.chosen_by = self._before, None
        self._setting.here.enter(self._text)
        return self

    def __exit__(self, *_: object) -> None:
        self._setting.here.leave()


class use_backend(_Chosen):
    """Chooses the backend of the launches that follow: `eas.use_backend("interpret")`.

    As a context manager, `with eas.use_backend("interpret"):`, it holds inside the block only, and
    for this thread or task only.
    """

    def __init__(self, name: Backend) -> None:
        resolve_backend(name)
        self.name: Backend = name
        super().__init__(_backend, name)


class checked(_Chosen):
    """Chooses whether launches that follow check their accesses to memory: `eas.checked(False)`.

    On, every backend checks; off, only the interpreter does. Without a choice `cpu` checks, and
    `metal` and `msl-host` do not. As a context manager, `with eas.checked(False):`, it holds
    inside the block only, and for this thread or task only.
    """

    def __init__(self, on: bool = True) -> None:
        super().__init__(_checks, _SPELLINGS[to_flag(on, "eas.checked")])


def choose_backend(at_launch: str | None) -> Backend:
    """The backend of a launch: its own `_backend`, else `use_backend`, else `EAS_BACKEND`."""
    return resolve_backend(at_launch or _backend.chosen() or "auto")


def choose_checks(at_launch: bool | None, of_kernel: bool | None) -> bool | None:
    """Whether a launch is checked, None if nothing says so.

    Its own `_checked` comes first, then the kernel's `checked`, `eas.checked` and `EAS_CHECK`.
    """
    if at_launch is not None:
        return to_flag(at_launch, "_checked")
    if of_kernel is not None:
        return of_kernel
    text = _checks.chosen()
    return _parse_flag(text) if text else None


_SPELLINGS = {True: "1", False: "0"}
_FLAGS = {
    **dict.fromkeys(("1", "true", "on", "yes"), True),
    **dict.fromkeys(("0", "false", "off", "no"), False),
}


def to_flag(value: object, name: str) -> bool:
    """A choice that says yes or no; raises `CheckError` for anything else."""
    if not isinstance(value, bool):
        raise CheckError(f"`{name}` is True or False, not {value!r}")
    return value


def _parse_flag(text: str) -> bool:
    if text.lower() not in _FLAGS:
        raise CheckError(f"EAS_CHECK is 1 or 0, not {text!r}")
    return _FLAGS[text.lower()]


@cache
def resolve_backend(name: str) -> Backend:
    """The backend that a name stands for; raises `BackendError` if it is not there."""
    known = get_args(Backend)
    if name not in known:
        close = closest(str(name), known)
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
