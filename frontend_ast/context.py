"""The state of one compile, and the small steps every handler takes with it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any, Literal, Protocol

from eas.frontend_ast.operands import NONE, Array, Const, Num, Operand, Poison
from eas.frontend_ast.scopes import Bound, Env, Frame, assigned_names, changed_names
from eas.frontend_ast.source.errors import Diagnostics, Refusal
from eas.frontend_ast.source.parameters import Capture, snapshot
from eas.ir.builder import Builder
from eas.ir.nodes import Op, Param, Value
from eas.ir.ops import OPS
from eas.ir.ops.record import Attr, RuleError
from eas.ir.types import Scalar, Shape, broadcast_shapes, count
from eas.support.diagnostics import Diagnostic, Fix, Label
from eas.support.location import NOWHERE, Loc
from eas.support.records import field, frozen, record, replace

Ops = list[Op]

_MAX_QUOTE = 40

_MK = re.compile(r"\bmk\.")

# More than the registers of any GPU hold, and 64 MB of f32.
_MAX_ELEMENTS = 1 << 24

# Ops whose name is not that of a function of `mk`.
_SPELLED = {
    "and": "&", "or": "|", "xor": "^", "not": "~", "shl": "<<", "shr": ">>", "select": "mk.where",
    "truncdiv": "mk.trunc_div", "truncmod": "mk.fmod", "reduce_xor": "mk.xor_sum",
}  # fmt: skip


def is_language(value: object) -> bool:
    """Whether this is `mk`, known by its name: a layer above this one has it."""
    return isinstance(value, ModuleType) and value.__name__ == "eas.language"


class Caution(Protocol):
    """Which values from outside may be used, and which functions of Python's may be called."""

    def is_plain(self, value: object) -> bool: ...

    def has_plain_attribute(self, holder: object, name: str) -> bool: ...

    def may_call(self, function: Any, arguments: list[object]) -> bool: ...


class Silenced(Exception):
    """Something rests on a value with an error, which was reported where it arose."""


@frozen
class Table:
    """The handlers, one per class of ast node, and Python's own functions that may be called.

    `call` inlines a method: of an object, with arguments.
    """

    statements: Mapping[type[ast.stmt], Callable[[Context, Any], None]]
    expressions: Mapping[type[ast.expr], Callable[[Context, Any], Operand]]
    functions: frozenset[str]
    call: Callable[[Context, FunctionType, Operand, tuple[Operand, ...]], Operand]


@frozen
class Split:
    """A condition of block type: the lanes diverge at it."""

    shape: Shape
    loc: Loc


@record(eq=False)
class Edge:
    """An edge of the control flow graph: the open list of ops that it ends, and the names there.

    Its terminator is appended when the values that it must carry are known. `is_from_loop` says
    that it leads out of a loop, so that lanes may take it in different trips.
    """

    ops: Ops
    env: Env
    loc: Loc
    split: Shape = ()
    value: Operand | None = None
    is_from_loop: bool = False


# `unrolled` is a loop over a tuple, `trip` one trip of it; it is `exhausted` while its `else` runs,
# where a `break` leaves the loop further out
TargetKind = Literal["loop", "unrolled", "trip", "exhausted", "function"]


@record(eq=False)
class Target:
    """Something that a `break`, `continue` or `return` may leave.

    `splits` are the divergent exits seen so far: only some of the lanes reach the code after them.
    `leaving` are those that end a loop for some of its lanes, so that its whole body is split.
    `number` counts the trips of an unrolled loop.
    """

    kind: TargetKind
    label: int
    depth: int
    number: int = 0
    exits: list[Edge] = field(default_factory=list[Edge])
    continues: list[Edge] = field(default_factory=list[Edge])
    splits: list[Split] = field(default_factory=list[Split])
    leaving: list[Split] = field(default_factory=list[Split])


@frozen
class Call:
    """A function that is being inlined: its place in the text, the frame whose variables it sees,
    and the functions that it is given. A call that is equal to one around it would never end.
    """

    path: str
    line: int
    column: int
    outer: Frame | None
    functions: tuple[object, ...]


@frozen
class Mark:
    """Where a trial began, to undo it."""

    diagnostics: int
    failures: int
    messages: int
    targets: tuple[tuple[int, int, int, int], ...]


@record(eq=False)
class Context:
    """One compile. Handlers get it as an argument; nothing is global.

    With `caution`, no code of the user's runs, see `eas.frontend_ast.caution`.
    """

    table: Table
    frame: Frame
    diagnostics: Diagnostics
    build: Builder = field(default_factory=Builder)
    targets: list[Target] = field(default_factory=list[Target])
    splits: list[Split] = field(default_factory=list[Split])
    calls: list[Call] = field(default_factory=list[Call])
    params: dict[str, Param] = field(default_factory=dict[str, Param])
    captures: dict[tuple[int, str], Capture] = field(default_factory=dict[tuple[int, str], Capture])
    hints: dict[int, str] = field(default_factory=dict[int, str])
    messages: list[str] = field(default_factory=list[str])
    guesses: dict[tuple[object, ...], object] = field(
        default_factory=dict[tuple[object, ...], object]
    )
    statement: Loc = NOWHERE
    threads: int | None = None
    positions: dict[str, Loc] = field(default_factory=dict[str, Loc])
    is_for_threads: bool = False
    has_early_effects: bool = False
    has_local_arrays: bool = False
    caution: Caution | None = None
    has_unknowns: bool = False
    labels: int = 0
    conditions: int = 0  # of run time, around the current place
    searches: int = 0  # of bodies whose head could not be lowered, around the current place
    unrolled: int = 0
    failures: int = 0
    crash: Loc | None = None
    written: dict[int, tuple[object, tuple[Loc, ...]]] = field(
        default_factory=dict[int, "tuple[object, tuple[Loc, ...]]"]
    )
    ended: Literal["", "exit", "dead"] = ""

    @property
    def loc(self) -> Loc:
        return self.build.loc

    @contextmanager
    def at(self, node: ast.AST) -> Generator[None]:
        """Every op and error inside is at this node."""
        before = self.build.loc
        self.build.loc = self.frame.loc(node)
        try:
            yield
        finally:
            self.build.loc = before

    def place(self, operand: Operand) -> Loc:
        """Where an operand of the current statement is written, if it has a place of its own."""
        key = operand.value if isinstance(operand, Num) else operand
        _, places = self.written.get(id(operand)) or self.written.get(id(key)) or (None, ())
        for whole in (self.loc, self.statement):
            if inside := [loc for loc in places if loc.is_inside(whole)]:
                return inside[0]
        return self.loc

    def written_at(self, loc: Loc) -> str:
        """The source of a place, if it is on one line."""
        line = self.frame.source.lines[loc.line - 1]
        return line[loc.column : loc.end_column] if loc.line == loc.end_line else ""

    def beside(self, *remarks: tuple[Operand, str]) -> list[Label]:
        """Remarks on operands of the current statement, on those with a place of their own."""
        labels = [Label(self.place(operand), text) for operand, text in remarks]
        return [label for label in labels if label.loc != self.loc]

    def text(self, node: ast.AST) -> str:
        """A piece of source to quote in a message; empty if it is long."""
        found = self.written_at(self.frame.loc(node))
        return found if len(found) <= _MAX_QUOTE else ""

    def refusal(
        self,
        code: str,
        message: str,
        *,
        at: ast.AST | Loc | Operand | None = None,
        label: str = "",
        secondary: Sequence[Label] = (),
        notes: Sequence[str] = (),
        help: str | Fix | Sequence[str | Fix] = (),
    ) -> Refusal:
        """An error to raise: at a node, at an operand, or at the current place.

        A help that is an edit is a `Fix`, see `eas.frontend_ast.fixes`.
        """
        match at:
            case None:
                loc = self.loc
            case Loc():
                loc = at
            case ast.AST():
                loc = self.frame.loc(at)
            case _:
                loc = self.place(at)
        helps = (help,) if isinstance(help, str | Fix) else tuple(help)
        helps = tuple(self._fitting(each) if isinstance(each, Fix) else each for each in helps)
        return Refusal(
            Diagnostic(
                code,
                message,
                loc,
                label,
                tuple(secondary),
                tuple(notes),
                tuple(each.help if isinstance(each, Fix) else each for each in helps),
                fixes=tuple(each for each in helps if isinstance(each, Fix)),
            )
        )

    def is_certain(self) -> bool:
        """Whether every program gets here: there is no loop or condition of run time before."""
        return self.conditions == 0 and not any(
            target.kind == "loop" or target.exits or target.continues for target in self.targets
        )

    def _fitting(self, fix: Fix) -> Fix | str:
        """An edit with the name that `mk` has in this file; without one, only words."""
        if not any(_MK.search(edit.text) for edit in fix.edits):
            return fix
        names = self.frame.globals
        known = [name for name, value in names.items() if is_language(value)]
        if not known:
            return fix.help
        name = "mk" if "mk" in known else known[0]
        edits = (replace(edit, text=_MK.sub(f"{name}.", edit.text)) for edit in fix.edits)
        return Fix(fix.help, tuple(edits))

    def unknown(self) -> Poison:
        """A value that is not known, see `UNKNOWN`: its uses are not checked."""
        self.has_unknowns = True
        return Poison()

    def known_threads(self) -> int | None:
        """How many threads a threadgroup has, if that is given; it may depend on an unknown."""
        if self.threads is None and self.has_unknowns:
            raise Silenced
        return self.threads

    def report(self, error: Refusal | Silenced) -> None:
        """Keeps an error that was caught; one that was reported before is only counted."""
        self.failures += 1
        if isinstance(error, Refusal):
            self.diagnostics.add(error.diagnostic)

    def expression(self, node: ast.expr) -> Operand:
        """What an expression is, its ops appended to the current list."""
        before = self.build.loc
        self.build.loc = self.frame.loc(node)
        try:
            result = self._placed(self.table.expressions[type(node)](self, node))
        except (Refusal, Silenced):
            raise
        except Exception:
            self.crash = self.crash or self.build.loc
            raise
        finally:
            self.build.loc = before
        if isinstance(result, Poison):
            raise Silenced
        return result

    def _placed(self, result: Operand) -> Operand:
        """Keeps where an operand is written: a value that a statement has twice is two operands."""
        key = result.value if isinstance(result, Num) else result
        loc, (_, known) = self.build.loc, self.written.get(id(key), (None, ()))
        others = tuple(
            each for each in known if each.is_inside(self.statement) and not each.is_inside(loc)
        )
        self.written[id(key)] = (key, (*others, loc))
        if others and isinstance(result, Num | Array | Const) and result is not NONE:
            result = replace(result)
            self.written[id(result)] = (result, (loc,))
        return result

    def expressions(self, nodes: Sequence[ast.expr]) -> list[Operand]:
        """Several expressions in turn; each is tried, so that all of their errors are found."""
        found: list[Operand] = []
        for node in nodes:
            try:
                found.append(self.expression(node))
            except (Refusal, Silenced) as error:
                self.report(error)
        if len(found) != len(nodes):
            raise Silenced
        return found

    def statements(self, nodes: Sequence[ast.stmt]) -> None:
        """Runs statements in turn; one with an error is reported, and the next one is tried."""
        around = self.statement
        for node in nodes:
            if self.ended:
                break
            self.build.loc = self.statement = self.frame.loc(node)
            failures = self.failures
            try:
                self.table.statements[type(node)](self, node)
            except (Refusal, Silenced) as error:
                self.report(error)
                self._poison(assigned_names([node]))
            except Exception:
                self.crash = self.crash or self.frame.loc(node)
                raise
            if self.failures != failures:
                self._poison(name for name in changed_names(node) if name in self.frame.names)
        self.statement = around

    def _poison(self, names: Iterable[str]) -> None:
        for name in names:
            self.frame.env[name] = Bound(Poison(), self.loc)

    def compute(self, name: str, *operands: Value, **attrs: Attr) -> Num:
        """A pure op; the record's own complaint becomes an error at this place."""
        try:
            result = self.build.compute(name, *operands, **attrs)
            if shape := result.shape:
                self.check_size(shape)
                if name != "expand_dims":  # more axes may follow
                    self.check_lanes(shape)
                self.check_threads(shape)
            return Num(result)
        except RuleError as error:
            labels = self.beside(*((Num(value), str(value.ty)) for value in operands))
            only = labels[0] if len(labels) == 1 else None
            written = _SPELLED.get(name) or f"mk.{OPS[name].reduction or name}"
            raise self.refusal(
                "E0301",
                f"`{written}` {error.message}",
                at=only and only.loc,
                label=only.text if only else "",
                secondary=() if only else labels,
                help=error.help or (),
            ) from error

    @contextmanager
    def into(self, ops: Ops) -> Generator[None]:
        """Ops made inside are appended to this list."""
        before = self.build.ops
        self.build.ops = ops
        try:
            yield
        finally:
            self.build.ops = before

    def hidden(self, role: Literal["extent", "stride"], array: Array, axis: int) -> Value:
        """The extent or stride of an array argument, a parameter that is made when first used."""
        name = f"{array.name}_{role}_{axis}"
        if name not in self.params:
            value = self.build.value(Scalar(array.index_dtype), name)
            self.params[name] = Param(value, role, array.name, axis)
        return self.params[name].value

    def name_value(self, operand: Operand, name: str) -> None:
        """Remembers the user's word for a value that has none yet."""
        if isinstance(operand, Num):
            self.hints.setdefault(operand.value.id, name)

    def active_splits(self) -> list[Split]:
        """Every condition that keeps some lanes away from here."""
        found = list(self.splits)
        for target in self.targets:
            found += target.splits
        return found

    def split_shape(self) -> Shape:
        """The shape that the lanes here are split by, `()` if all of them are here."""
        shape: Shape = ()
        for split in self.active_splits():
            shape = self.cover(shape, split.shape)
        return shape

    def thread_shape(self) -> Shape:
        """The shape of the threads, each of which does what stands here; `()` in code for blocks.

        What comes before the first `mk.tid` is compiled anew once it is known to be for threads.
        """
        if self.threads is not None and (self.is_for_threads or "tid" in self.positions):
            return (self.threads,)
        self.has_early_effects = True
        return ()

    def cover(self, a: Shape, b: Shape) -> Shape:
        """The shape that both fit into."""
        both = broadcast_shapes(a, b)
        if both is None:
            raise self.refusal(
                "E0601",
                f"the lanes diverge over blocks of the shapes {list(a)} and {list(b)} at once",
                help="bring both to one shape, for example with `x[:, None]`",
            )
        return both

    def check_size(self, shape: Shape) -> None:
        """Refuses a block that no backend has the memory for."""
        if shape and (elements := count(shape)) > _MAX_ELEMENTS:
            raise self.refusal(
                "E0514",
                f"{list(shape)} are {elements} elements, a block has at most {_MAX_ELEMENTS}",
                help="let more programs have smaller blocks",
            )

    def check_lanes(self, shape: Shape) -> None:
        """Refuses a block where lanes of another shape diverged: which of its lanes are active?"""
        for split in self.active_splits() if shape else ():
            if shape != split.shape and broadcast_shapes(shape, split.shape) is None:
                raise self.refusal(
                    "E0601",
                    f"a block of shape {list(shape)} inside a branch that diverges over lanes of "
                    f"shape {list(split.shape)}",
                    secondary=[
                        Label(split.loc, f"diverges here, over a block of {list(split.shape)}")
                    ],
                    help="compute it before the branch, or bring both to one shape"
                    if len(shape) == len(split.shape)
                    else "compute it before the branch, or give both the same axes: `x[None, :]`",
                )

    def check_threads(self, shape: Shape) -> None:
        """Refuses a block in code for threads, each of which has one value."""
        threads = self.thread_shape() if shape else ()
        if threads and shape != threads:
            raise self.refusal(
                "E0608",
                f"a block of {list(shape)} in a kernel that is written for {threads[0]} threads",
                help="each thread has one value, a scalar; what they share is in `mk.alloc_tg`",
            )

    @contextmanager
    def split_by(self, shape: Shape, loc: Loc) -> Generator[None]:
        """Code that only the lanes reach for which a condition of this shape holds."""
        if not shape:
            yield
            return
        self.check_lanes(shape)
        self.splits.append(Split(shape, loc))
        try:
            yield
        finally:
            self.splits.pop()

    def new_target(self, kind: TargetKind, number: int = 0) -> Target:
        self.labels += 1
        return Target(kind, self.labels, len(self.splits), number)

    def trips(self) -> tuple[int, ...]:
        """The numbers of the current trips of the unrolled loops around."""
        return tuple(target.number for target in self.targets if target.kind == "trip")

    def exit_to(
        self, target: Target, edges: list[Edge], value: Operand | None = None, again: bool = False
    ) -> None:
        """Ends the current list with a jump; the code after it in this list is dead.

        `again` is set for `continue`: the loop itself is not left.
        """
        passed = self.targets[self.targets.index(target) :]
        for each in passed:
            if each is not target or not again:
                # lanes that were sent on to the next trip before do not leave now
                _add_missing(each.leaving, [*each.splits, *self._splits_inside(each)])
        own = self._splits_inside(target)
        shape: Shape = ()
        for split in own:
            shape = self.cover(shape, split.shape)
        is_from_loop = any(each.kind == "loop" for each in passed[1:])
        env = dict(self.frame.env)
        edges.append(Edge(self.build.ops, env, self.loc, shape, value, is_from_loop))
        _add_missing(target.splits, own)
        self.ended = "exit"

    def _splits_inside(self, target: Target) -> list[Split]:
        """The conditions between a target and the current place."""
        found = list(self.splits[target.depth :])
        for inner in self.targets[self.targets.index(target) + 1 :]:
            found += inner.splits
        return found

    def mark(self) -> Mark:
        return Mark(
            self.diagnostics.mark(),
            self.failures,
            len(self.messages),
            tuple(
                (len(t.exits), len(t.continues), len(t.splits), len(t.leaving))
                for t in self.targets
            ),
        )

    def undo(self, mark: Mark) -> None:
        """Forgets the errors and exits since the mark; the ops were in lists of their own."""
        self.diagnostics.rollback(mark.diagnostics)
        self.failures = mark.failures
        self.forget(mark)

    def forget(self, mark: Mark) -> None:
        """Forgets the exits since the mark, but keeps the errors."""
        del self.messages[mark.messages :]
        for target, lengths in zip(self.targets, mark.targets, strict=True):
            lists = (target.exits, target.continues, target.splits, target.leaving)
            for items, length in zip(lists, lengths, strict=True):
                del items[length:]

    def capture(self, holder: object, name: str, read: Callable[[], object], value: object) -> None:
        """Notes that the kernel depends on a value from outside; the first value counts."""
        if not self.has_captured(holder, name):
            self.captures[id(holder), name] = Capture(name, read, snapshot(value))

    def has_captured(self, holder: object, name: str) -> bool:
        return (id(holder), name) in self.captures


def _add_missing(splits: list[Split], more: list[Split]) -> None:
    splits += [split for split in more if split not in splits]
