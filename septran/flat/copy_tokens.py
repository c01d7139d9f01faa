"""Whether every started copy is waited for once: the control flow of a kernel, without its data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from eas.septran.flat.affine import affine
from eas.septran.flat.nodes import For, If, Kernel, ParallelFor, Start, Stmt, Wait, holds, walk
from eas.support.records import field, record

_SIZES = (1, 2, 7, 33, 64)
_MOST_STEPS = 4000


def find_token_faults(kernel: Kernel, sizes: Sequence[str]) -> list[tuple[Stmt, str]]:
    """Waits with nothing to wait for, and copies that nothing waits for, at some sizes."""
    stmts = list(walk(kernel.body))
    started = {stmt.token for stmt in stmts if isinstance(stmt, Start)}
    for stmt in stmts:
        if isinstance(stmt, Wait) and stmt.token not in started:
            return [(stmt, f"nothing starts a copy of `{stmt.token}`")]
    if not started:
        return []
    names = set(sizes) & {name for stmt in stmts for name in _control_names(stmt)}
    for chosen in _choices(sorted(names)):
        values = {**dict.fromkeys(sizes, 1), **chosen}
        values.update((name, 0) for name, _ in kernel.grid)
        walked = _Walk(values)
        try:
            walked.run(kernel.body)
            walked.require_none_left()
        except _Fault as fault:
            given = ", ".join(f"{name} = {value}" for name, value in chosen.items())
            return [(fault.stmt, f"{fault}{f' if {given}' if given else ''}")]
        except _Long:
            continue
    return []


def _choices(names: list[str]) -> Iterator[dict[str, int]]:
    for drawn in product(_SIZES, repeat=min(len(names), 2)):
        shifted = {name: _SIZES[n % len(_SIZES)] for n, name in enumerate(names)}
        yield {**shifted, **dict(zip(names, drawn, strict=False))}


def _control_names(stmt: Stmt) -> frozenset[str]:
    match stmt:
        case For() | ParallelFor():
            return stmt.extent.names
        case If():
            return stmt.left.names | stmt.right.names
        case Wait():
            return stmt.keep.names
        case _:
            return affine(0).names


class _Fault(Exception):
    def __init__(self, stmt: Stmt, message: str) -> None:
        super().__init__(message)
        self.stmt = stmt


class _Long(Exception):
    """The walk takes too many steps at these sizes."""


@record
class _Walk:
    values: dict[str, int]
    started: dict[str, list[Stmt]] = field(default_factory=dict[str, "list[Stmt]"])
    steps: int = 0

    def run(self, body: Sequence[Stmt]) -> None:
        for stmt in body:
            self.steps += 1
            if self.steps > _MOST_STEPS:
                raise _Long
            match stmt:
                case For() | ParallelFor():
                    for value in range(stmt.extent.evaluate(self.values)):
                        self.values[stmt.variable] = value
                        self.run(stmt.body)
                case If():
                    left = stmt.left.evaluate(self.values)
                    if holds(left, stmt.comparison, stmt.right.evaluate(self.values)):
                        self.run(stmt.body)
                case Start():
                    self.started.setdefault(stmt.token, []).append(stmt)
                case Wait():
                    self.wait(stmt)
                case _:
                    pass

    def wait(self, stmt: Wait) -> None:
        waiting = self.started.get(stmt.token, [])
        keep = stmt.keep.evaluate(self.values)
        if not 0 <= keep < len(waiting):
            message = f"{len(waiting)} copies of `{stmt.token}` are in flight, it keeps {keep}"
            raise _Fault(stmt, message)
        del waiting[: len(waiting) - keep]

    def require_none_left(self) -> None:
        for token, waiting in self.started.items():
            if waiting:
                raise _Fault(waiting[0], f"nothing waits for this copy of `{token}`")
