"""What tasks do with their tensors: found from the leaves, checked where a task declares it.

A task *reads* a tensor if it uses elements that it has not written itself before. It *covers* a
tensor if it writes every element of it. Both are proved from the offsets of the tiles; what is not
proved is tried with the sizes that are given, iteration by iteration.

    @task.define(reads=("A", "B"), writes=("C",))

declares that `A` and `B` are not written (S301), that `C` is not read before it is written (S301),
and that all of it is written (S303). A local tensor that is read before it is written is S304.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any, TypeAlias

import numpy as np

from eas.septran.flat.affine import ZERO, Affine, affine, minimum
from eas.septran.flat.nodes import Stmt, View, accesses, holds
from eas.septran.flat.ranges import Ranges, is_same, known
from eas.septran.logic.errors import suggest
from eas.septran.logic.task_body import Branch, Launch, Local, Loop, Step
from eas.septran.logic.tasks import Task
from eas.septran.logic.values import Tensor
from eas.support.diagnostics import Diagnostic, Label
from eas.support.location import Loc
from eas.support.records import field, frozen, record, replace

MOST_TRIALS = 20_000  # launches that are tried where nothing is proved
MOST_ELEMENTS = 1 << 24


@frozen
class Use:
    """What a task does with a tensor, and where: `read` and `written` are the places."""

    read: Loc | None = None
    written: Loc | None = None
    covers: bool = False


Uses: TypeAlias = Mapping[str, Use]
Launches: TypeAlias = Mapping[Launch, Sequence[Use]]  # of each argument
NO_USE = Use()


def uses_of_leaf(views: Mapping[str, View], statements: Iterable[Stmt]) -> dict[str, Use]:
    """What a leaf does with its tensors: it reads and writes whole tiles."""
    uses = dict.fromkeys(views, NO_USE)
    for stmt in statements:
        for view, how in accesses(stmt):
            for name, own in views.items():
                if view != own:
                    continue
                use, loc = uses[name], stmt.origin.python
                if "r" in how and not use.covers:
                    use = replace(use, read=use.read or loc)
                if "w" in how:
                    use = replace(use, written=use.written or loc, covers=True)
                uses[name] = use
    return uses


@frozen(eq=False)
class Found:
    """The uses of an inner task's tensors, and the local ones that are read unwritten."""

    uses: dict[str, Use]
    unwritten: list[tuple[Local, Loc]]


def uses_of_inner(
    tensors: Mapping[str, Tensor], steps: Sequence[Step], launches: Launches, ranges: Ranges
) -> Found:
    """What an inner task does with its tensors, given what its launches do with theirs."""
    locals = {each.name: each for each in _locals(steps)}
    every = {**tensors, **{name: _whole(each) for name, each in locals.items()}}
    proof = _Proof(every, launches)
    covered = proof.steps(steps, {})
    uses = {name: proof.uses.get(name, NO_USE) for name in every}
    doubtful = {
        name: every[name]
        for name, use in uses.items()
        if use.written is not None
        and name not in proof.certain
        and (use.read is not None or name not in covered)
    }
    if doubtful:
        trial = _Trial(doubtful, launches)
        is_whole = trial.run(steps, ranges)
        for name in doubtful:
            covers = not is_whole or name not in trial.partial or name in covered
            uses[name] = replace(uses[name], read=trial.reads.get(name), covers=covers)
    for name in covered:
        uses[name] = replace(uses[name], covers=True)
    unwritten = [(each, loc) for name, each in locals.items() if (loc := uses[name].read)]
    return Found({name: uses[name] for name in tensors}, unwritten)


def _whole(local: Local) -> Tensor:
    return Tensor(local.name, (ZERO,) * len(local.shape), local.shape)


def _locals(steps: Iterable[Step]) -> Iterator[Local]:
    for step in steps:
        if isinstance(step, Local):
            yield step
        elif not isinstance(step, Launch):
            yield from _locals(step.body)


def _arguments(launch: Launch, launches: Launches) -> Iterator[tuple[Tensor, Use]]:
    """The tensors of a launch, with what is done with them: all reads first."""
    pairs = [
        (argument, use)
        for argument, use in zip(launch.arguments, launches.get(launch, ()), strict=False)
        if isinstance(argument, Tensor)
    ]
    yield from ((tensor, Use(read=use.read)) for tensor, use in pairs if use.read)
    yield from ((tensor, replace(use, read=None)) for tensor, use in pairs)


Covered: TypeAlias = dict[str, tuple[Tensor, ...]]  # rectangles; the whole tensor if there are none


@record
class _Proof:
    """Walks steps in order with the rectangles that are written by then.

    `certain` are the tensors that are read where nothing has written any of them.
    """

    tensors: Mapping[str, Tensor]
    launches: Launches
    uses: dict[str, Use] = field(default_factory=dict[str, Use])
    certain: set[str] = field(default_factory=set[str])

    def steps(self, steps: Iterable[Step], covered: Covered) -> set[str]:
        """The tensors of which everything is written after some steps."""
        state = dict(covered)
        for step in steps:
            match step:
                case Launch():
                    self.launch(step, state)
                case Loop():
                    self.loop(step, state)
                case Branch():
                    self.steps(step.body, dict(state))
                case Local():
                    state.pop(step.name, None)
        covered.update(state)
        return {name for name, parts in state.items() if not parts}

    def launch(self, step: Launch, state: Covered) -> None:
        for tensor, use in _arguments(step, self.launches):
            name = tensor.root
            held = self.uses.get(name, NO_USE)
            is_known = name in state and (not state[name] or tensor in state[name])
            if use.read and not is_known:
                self.certain |= {name} if held.written is None else set()
                held = replace(held, read=held.read or step.loc)
            if use.written:
                held = replace(held, written=held.written or step.loc)
            if use.covers and name in self.tensors and not (name in state and not state[name]):
                is_all = _same(tensor, self.tensors[name])
                state[name] = () if is_all else (*state.get(name, ()), tensor)
            self.uses[name] = held

    def loop(self, step: Loop, state: Covered) -> None:
        inner = dict(state)
        self.steps(step.body, inner)
        runs = all((known(extent) or 0) > 0 for extent in step.extents)
        extents = dict(zip(step.variables, step.extents, strict=True))
        for name, parts in inner.items():
            if name not in self.tensors or (name in state and not state[name]):
                continue
            whole = self.tensors[name]
            wider = [_widened(part, whole, extents) for part in parts]
            kept = [part for part in wider if runs and not _names(part) & set(extents)]
            if (not parts and runs) or any(_same(part, whole) for part in kept):
                state[name] = ()
            elif kept:
                state[name] = tuple(kept)


def _names(tensor: Tensor) -> frozenset[str]:
    numbers = [*tensor.offsets, *tensor.shape]
    return frozenset[str]().union(*(number.names for number in numbers))


def _same(part: Tensor, whole: Tensor) -> bool:
    return None not in part.extents and all(
        offset == ZERO and is_same(extent, full)
        for offset, extent, full in zip(part.offsets, part.shape, whole.shape, strict=True)
    )


def _widened(part: Tensor, whole: Tensor, loops: Mapping[str, Affine]) -> Tensor:
    """A rectangle at all values of loop variables: whole axes where its tiles are all there."""
    offsets, extents = list(part.offsets), list(part.extents)
    for axis, full in enumerate(whole.shape):
        if _is_tiled(offsets[axis], extents[axis], full, loops):
            offsets[axis], extents[axis] = ZERO, full
    return Tensor(part.root, tuple(offsets), tuple(extents))


def _is_tiled(
    offset: Affine, extent: Affine | None, full: Affine, loops: Mapping[str, Affine]
) -> bool:
    """Whether tiles at `tile * v`, for all values of `v`, are a whole axis."""
    match offset.terms:
        case [(str() as name, int() as tile)] if name in loops and offset.constant == 0:
            pass
        case _:
            return False
    trips, size = known(loops[name]), known(full)
    if tile < 1 or trips is None or size is None or trips * tile < size:
        return False
    width = affine(1) if extent is None else extent
    if width == affine(tile) or width == minimum(affine(tile), full - offset):
        return True
    return all(
        (known(width.substitute({name: index})) or 0) >= min(tile, size - tile * index)
        for index in range(min(trips, -(-size // tile)))
    )


@record
class _Trial:
    """Runs the launches of a task with the sizes that are given, on masks of what is written.

    Loops around the task have their first and their last iteration.
    `reads` has the tensors that are read before they are written, and where. `partial` has those
    of which something is left unwritten.
    """

    tensors: Mapping[str, Tensor]
    launches: Launches
    reads: dict[str, Loc] = field(default_factory=dict[str, Loc])
    partial: set[str] = field(default_factory=set[str])
    left: int = MOST_TRIALS
    masks: dict[str, Any] = field(default_factory=dict[str, Any])

    def run(self, steps: Sequence[Step], ranges: Ranges) -> bool:
        """Whether all iterations of the task could be tried."""
        used = _used(steps).union(*(_names(each) for each in self.tensors.values()))
        outer = [name for name in ranges.extents if name in used]
        lasts = [max(0, ranges.upper(ranges.extents[name]) - 1) for name in outer]
        for indices in islice(product(*({0: 0, last: 0} for last in lasts)), 64):
            values = dict(zip(outer, indices, strict=True))
            self.masks = {}
            tensors = self.tensors.items()
            shapes = {n: tuple(_number(e, values) for e in each.shape) for n, each in tensors}
            if any(extent < 0 for shape in shapes.values() for extent in shape):
                continue  # the tile around is a ragged one, which has fewer tiles
            for name, shape in shapes.items():
                if np.prod(shape, dtype=np.float64) > MOST_ELEMENTS:
                    return False
                self.masks[name] = np.zeros(shape, bool)
            if not self.steps(steps, values):
                return False
            self.partial |= {name for name, mask in self.masks.items() if not mask.all()}
        return True

    def steps(self, steps: Iterable[Step], values: Mapping[str, int]) -> bool:
        for step in steps:
            match step:
                case Launch():
                    self.left -= 1
                    if self.left < 0:
                        return False
                    self.launch(step, values)
                case Loop():
                    extents = [range(_number(extent, values)) for extent in step.extents]
                    for indices in product(*extents):
                        inner = dict(zip(step.variables, indices, strict=True))
                        if not self.steps(step.body, {**values, **inner}):
                            return False
                case Branch():
                    left, right = _number(step.left, values), _number(step.right, values)
                    if holds(left, step.comparison, right) and not self.steps(step.body, values):
                        return False
                case Local():
                    if step.name in self.masks:
                        self.masks[step.name][...] = False
        return True

    def launch(self, step: Launch, values: Mapping[str, int]) -> None:
        for tensor, use in _arguments(step, self.launches):
            if tensor.root not in self.masks:
                continue
            part = self.masks[tensor.root][_index(tensor, values)]
            if use.read and not np.all(part):
                self.reads.setdefault(tensor.root, step.loc)
            if use.covers:
                self.masks[tensor.root][_index(tensor, values)] = True


def _used(steps: Iterable[Step]) -> frozenset[str]:
    """The names of sizes and loop variables in some steps."""
    found: set[str] = set()
    for step in steps:
        match step:
            case Launch():
                for each in step.arguments:
                    found |= _names(each) if isinstance(each, Tensor) else set()
            case Loop():
                found |= {name for extent in step.extents for name in extent.names}
                found |= _used(step.body)
            case Branch():
                found |= step.left.names | step.right.names | _used(step.body)
            case Local():
                found |= {name for extent in step.shape for name in extent.names}
    return frozenset(found)


def _number(number: Affine, values: Mapping[str, int]) -> int:
    sizes = {name: int(name) for name in number.names if name.isdigit()}
    return number.evaluate({**values, **sizes})


def _index(tensor: Tensor, values: Mapping[str, int]) -> tuple[int | slice, ...]:
    index: list[int | slice] = []
    for offset, extent in zip(tensor.offsets, tensor.extents, strict=True):
        start = _number(offset, values)
        index.append(start if extent is None else slice(start, start + _number(extent, values)))
    return tuple(index)


def check_declared(task: Task, uses: Uses) -> Iterator[Diagnostic]:
    """What a task does although its declaration says that it does not (S301, S303)."""
    declared = {"reads": task.reads, "writes": task.writes}
    for what, names in declared.items():
        for name in names or ():
            if name not in task.parameters:
                message = f"`{what}` of `{task.function_name}` names no parameter: `{name}`"
                help = suggest(name, task.parameters)
                yield Diagnostic("S802", message, task.loc, help=help)
    for name, use in uses.items():
        for what, names, loc in (
            ("reads", task.reads, use.read),
            ("writes", task.writes, use.written),
        ):
            if loc is not None and names is not None and name not in names:
                message = f"`{task.function_name}` {what} `{name}`, and declares that it does not"
                label = Label(task.place_of(name), f"not among its `{what}`")
                help = f'write `{what}=("{name}", ...)`, or do not declare `{what}`'
                yield Diagnostic("S301", message, loc, secondary=(label,), help=(help,))
        yield from _check_covered(task, name, use)


def check_entry(task: Task, uses: Uses) -> Iterator[Diagnostic]:
    """An operator that writes none of its arguments has no result (S303)."""
    if not any(use.written for use in uses.values()):
        message = f"`{task.function_name}` writes none of its arguments"
        help = "launch a leaf on one of them that writes it: `Y[...] = ...`"
        yield Diagnostic("S303", message, task.loc, help=(help,))


def _check_covered(task: Task, name: str, use: Use) -> Iterator[Diagnostic]:
    """A tensor that is declared to be written and not to be read is written everywhere."""
    is_write_only = name in (task.writes or ()) and task.reads is not None
    if not is_write_only or name in (task.reads or ()) or use.covers:
        return
    how = "a part of" if use.written else "nothing of"
    message = f"`{task.function_name}` declares that it only writes `{name}`, and writes {how} it"
    labels = () if use.written is None else (Label(use.written, "what is written"),)
    help = f'write all of it, or declare `reads=("{name}", ...)`: the rest of it is kept'
    yield Diagnostic("S303", message, task.place_of(name), secondary=labels, help=(help,))


def unwritten_local(local: Local, loc: Loc) -> Diagnostic:
    """A local tensor that is read before it is written (S304)."""
    return Diagnostic(
        "S304",
        f"the local tensor `{local.label}` is read before it is written",
        loc,
        secondary=(Label(local.loc, "nothing is in it at first"),),
        help=("launch a leaf that fills it first",),
    )
