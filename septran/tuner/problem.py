"""What is tuned: a logic, a mapping with open values, sizes and a dtype."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from eas.ir.types import DTYPES
from eas.septran.files import Machine, SeptranError, resolve, tunes
from eas.septran.files import Mapping as MappingFile
from eas.septran.flat.nodes import Module
from eas.septran.logic.errors import LogicError
from eas.septran.logic.tasks import Task
from eas.septran.lowering import Lowered
from eas.septran.operators import Operator, load
from eas.septran.tuner.space import Space, Values
from eas.support.cache import digest
from eas.support.command_line import UsageError
from eas.support.diagnostics import Diagnostic
from eas.support.package_version import package_version
from eas.support.records import frozen, replace

Array = np.ndarray[Any, Any]
_PACKAGE = Path(__file__).resolve().parents[1]
_SHOWN_CODES = 4


@frozen
class Problem:
    """Paths and numbers only: another process can be given it. `shapes` are those of the arrays."""

    logic: str
    mappings: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    dtype: str
    machine: str | None = None
    primitives: tuple[str, ...] = ()
    tune: tuple[tuple[str, int | bool | str], ...] = ()  # values that are not searched for


class NothingPasses(SeptranError):
    """Each candidate that was looked at is refused: one mistake of each code, with its place."""

    def _closing_line(self) -> str:
        return "no candidate passes the static checks"


class Candidates:
    """The operators of a problem: one for each choice of values."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.base = load(
            problem.logic,
            problem.mappings,
            machine=problem.machine,
            primitives=problem.primitives,
            tune=dict(problem.tune),
        )
        self.space = Space(tuple(tunes(self.base.mapping)))
        self._lowered: dict[str, Lowered | str] = {}
        self._refused: dict[str, Diagnostic] = {}  # the first mistake of a candidate

    def operator(self, values: Values) -> Operator:
        """The operator with values for all that is open; raises what is wrong with them."""
        mapping = resolve(self.base.mapping, values)
        return Operator(self.base.logic, mapping, self.base.primitives, self.base.target)

    @cached_property
    def arrays(self) -> tuple[Array, ...]:
        """Arrays with the shapes of the arguments, which take no memory."""
        empty = np.empty((), DTYPES[self.problem.dtype].numpy)
        return tuple(np.broadcast_to(empty, shape) for shape in self.problem.shapes)

    def lowered(self, values: Values) -> Lowered | str:
        """The flat module of a candidate, or the code and the message with which it is refused."""
        key = _key(values)
        if key not in self._lowered:
            self._lowered[key] = self._checked(values)
        return self._lowered[key]

    def passes(self, values: Values) -> bool:
        """Whether everything that can be checked without running is right."""
        try:
            self.operator(values).check(*self.arrays)
        except SeptranError as error:
            self.refuse(values, error)
            return False
        return True

    def refuse(self, values: Values, error: SeptranError) -> None:
        """Keeps why a candidate is refused, for `nothing_passes`."""
        self._refused[_key(values)] = error.diagnostics[0]

    def nothing_passes(self) -> NothingPasses:
        """Why candidates were refused so far: each code once, the most frequent first."""
        codes = Counter(each.code for each in self._refused.values())
        firsts = {each.code: each for each in reversed(self._refused.values())}
        return NothingPasses(
            [
                replace(firsts[code], notes=(*firsts[code].notes, _share(count, codes.total())))
                for code, count in codes.most_common(_SHOWN_CODES)
            ]
        )

    def _checked(self, values: Values) -> Lowered | str:
        try:
            operator = self.operator(values)
            if operator.target == "cpu":  # `check` takes twice as long, and refuses few others
                lowered = operator.build_flat(*self.arrays)
            else:
                lowered = operator.check(*self.arrays)
        except SeptranError as error:
            self.refuse(values, error)
            return refusal(error)
        self.check_work(lowered.module)
        return lowered

    def check_work(self, module: Module) -> None:
        """Refuses a problem for whose sizes nothing is computed."""
        if not module.kernels:
            raise UsageError(f"nothing to tune: sizes are empty: {self.title}")

    @cached_property
    def contents(self) -> dict[str, list[str]]:
        """The texts that the candidates are made of, by what they are; the package's own are not.

        Where the files lie does not matter. A logic is its file, with the modules beside it
        that it imports.
        """
        problem, machine = self.problem, self.base.machine
        tasks = self.base.logic.tasks.values()
        folder = os.path.dirname(machine.path) if machine.path else ""
        library = [os.path.join(folder, each) for each in _library_of(machine)]
        return {
            "logic": _texts([problem.logic, *_modules_beside(problem.logic, tasks)]),
            "primitives": _texts([*problem.primitives, *library]),
            "machine file": _texts([machine.path] if machine.path else []),
            "mapping": [document.text.text for document in self.base.mapping.documents],
            "sizes": [repr((problem.shapes, problem.dtype, problem.tune))],
        }

    @cached_property
    def fingerprint(self) -> str:
        """Equal for problems with the same files, sizes and values; where the files lie is not."""
        return digest(*(text for texts in self.contents.values() for text in texts))

    @property
    def origin(self) -> str:
        """What results depend on, besides the computer."""
        return f"{package_version()} {self.fingerprint}"

    @cached_property
    def parts(self) -> dict[str, str]:
        """A digest of each kind of content, to say which one differs."""
        return {name: digest(*texts)[:16] for name, texts in self.contents.items()}

    @property
    def title(self) -> str:
        """What is tuned, in words."""
        shapes = " ".join("x".join(map(str, shape)) for shape in self.problem.shapes)
        name, machine = self.base.entry.function_name, self.base.machine.name
        return f"{name} on {machine}, {shapes}, {self.problem.dtype}"


def require_open(mapping: MappingFile) -> None:
    """Refuses a mapping without a `!tune`."""
    if not tunes(mapping):
        raise UsageError("nothing is open in the mapping: write `!tune`, or give `--auto`")


def _key(values: Values) -> str:
    return repr(sorted(values.items()))


def _share(count: int, total: int) -> str:
    return f"{count} of the {total} candidates that were looked at are refused with this code"


def refusal(error: SeptranError | LogicError) -> str:
    """The code and the message of the first mistake."""
    first = error.diagnostics[0]
    return f"{first.code}: {first.message}"


def _texts(paths: Iterable[str]) -> list[str]:
    return [Path(path).read_text("utf-8") for path in paths]


def _library_of(machine: Machine) -> list[str]:
    """The files of a machine's C library, unless they ship with the package."""
    if not machine.path or os.path.realpath(machine.path).startswith(str(_PACKAGE) + os.sep):
        return []
    return [*machine.library.headers, *machine.library.sources]


def _modules_beside(logic: str, tasks: Iterable[Task]) -> list[str]:
    """The files of modules in a logic's folder that it imports, and that they import."""
    own = os.path.realpath(logic)
    found: set[str] = set()
    left: list[dict[str, Any]] = [task.fn.__globals__ for task in tasks]
    while left:
        for value in list(left.pop().values()):
            owner = _owner(value)
            path = os.path.realpath(getattr(owner, "__file__", None) or os.sep)
            is_beside = path != own and path.startswith(os.path.dirname(own) + os.sep)
            if owner is not None and is_beside and path not in found:
                found.add(path)
                left.append(vars(owner))
    return sorted(found)


def _owner(value: object) -> ModuleType | None:
    """The module that a value of a module comes from."""
    if isinstance(value, ModuleType):
        return value
    function = value.fn if isinstance(value, Task) else value
    if not isinstance(function, FunctionType | type):
        return None
    return sys.modules.get(function.__module__)


def problem_of(
    logic: str | os.PathLike[str],
    mappings: tuple[str, ...],
    shapes: tuple[tuple[int, ...], ...],
    dtype: str,
    *,
    machine: str | None = None,
    primitives: tuple[str, ...] = (),
    tune: Mapping[str, int | bool | str] | None = None,
) -> Problem:
    """A problem whose paths hold wherever a process runs on this machine."""
    given = machine and (os.path.abspath(machine) if os.path.exists(machine) else machine)
    return Problem(
        os.path.abspath(logic),
        tuple(map(os.path.abspath, mappings)),
        shapes,
        dtype,
        given or None,
        tuple(map(os.path.abspath, primitives)),
        tuple((tune or {}).items()),
    )
