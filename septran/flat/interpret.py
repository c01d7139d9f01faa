"""Runs a flat module on NumPy arrays and finds what a machine would do silently wrong.

Unwritten memory is poisoned (NaN, or a pattern of bits) and every element knows whether it was
written. A `start` copies at its `wait`, as late as is allowed, and until then its target cannot be
read. Iterations of parallel loops run one after the other between barriers; what one of them
writes, no other may touch. With a machine's table the interpreter also finds missing barriers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from eas.septran.flat.affine import Affine
from eas.septran.flat.element_meanings import ShapeError, compute, multiply, padded, reduce_along
from eas.septran.flat.machine import Machine
from eas.septran.flat.nodes import (
    Alloc,
    Barrier,
    Call,
    Column,
    Const,
    Copy,
    Fill,
    For,
    If,
    Kernel,
    Map,
    Mma,
    Module,
    Operand,
    ParallelFor,
    Param,
    Passed,
    Reduce,
    Start,
    Stmt,
    View,
    Wait,
    holds,
)
from eas.septran.flat.run_errors import FlatRunError
from eas.septran.flat.text import print_view
from eas.septran.flat.tracking import AccessError, Cells, Frame
from eas.support.records import field, record

Array: TypeAlias = np.ndarray[Any, Any]
Function: TypeAlias = Callable[..., None]


def run_module(
    module: Module,
    arrays: Sequence[Array],
    *,
    functions: Mapping[str, Function] | None = None,
    machine: Machine | None = None,
) -> None:
    """Runs a module on arrays, one for each parameter; those it writes are changed in place.

    `functions` are what `call` calls, by symbol: they get arrays and numbers.
    """
    sizes = bind_shapes(module, [array.shape for array in arrays])
    outer: dict[str, Cells] = {}
    for param, array in zip(module.params, arrays, strict=True):
        outer[param.name] = _argument_cells(param, array)
    for temp in module.temps:
        shape = tuple(extent.evaluate(sizes) for extent in temp.shape)
        outer[temp.name] = Cells(temp.name, temp.dtype, shape, temp.memory)
    for kernel in module.kernels:
        _Run(kernel, sizes, outer, functions or {}, machine).run()
    for param, array in zip(module.params, arrays, strict=True):
        _give_back(param, outer[param.name], array)


def bind_shapes(module: Module, shapes: Sequence[tuple[int, ...]]) -> dict[str, int]:
    """The sizes that shapes of arguments stand for; raises `FlatRunError` where they disagree."""
    if len(shapes) != len(module.params):
        raise FlatRunError(f"expected {len(module.params)} arrays, got {len(shapes)}")
    sizes: dict[str, int] = {}
    for param, shape in zip(module.params, shapes, strict=True):
        if len(shape) != len(param.shape):
            wanted = len(param.shape)
            raise FlatRunError(f"`{param.name}` has {wanted} axes, the array {len(shape)}")
        for extent, found in zip(param.shape, shape, strict=True):
            if len(extent.terms) == 1 and extent.terms[0] == (str(extent), 1):
                sizes.setdefault(str(extent), found)
    for param, shape in zip(module.params, shapes, strict=True):
        wanted = tuple(extent.evaluate(sizes) for extent in param.shape)
        if wanted != tuple(shape):
            raise FlatRunError(f"`{param.name}` should have the shape {wanted}, not {shape}")
    return sizes


def _argument_cells(param: Param, array: Array) -> Cells:
    if array.dtype != param.dtype.numpy:
        raise FlatRunError(f"`{param.name}` holds {param.dtype}, the array {array.dtype}")
    cells = Cells(param.name, param.dtype, array.shape, param.memory)
    if param.privilege != "w":
        cells.data[0] = array
        cells.is_written[...] = True
    return cells


def _give_back(param: Param, cells: Cells, array: Array) -> None:
    if param.privilege == "r":
        return
    if not cells.is_written.all():
        count = int(cells.is_written.size - cells.is_written.sum())
        raise FlatRunError(f"{count} elements of `{param.name}` were never written")
    array[...] = cells.data[0]


_Steps: TypeAlias = Generator[Barrier]


@record
class _Started:
    """A copy in flight."""

    stmt: Start
    target: tuple[Cells, Any]
    source: tuple[Cells, Any]


@record
class _Run:
    """One kernel: its buffers, the values of its variables, the copies in flight."""

    kernel: Kernel
    sizes: dict[str, int]
    outer: dict[str, Cells]
    functions: Mapping[str, Function]
    machine: Machine | None
    values: dict[str, int] = field(default_factory=dict[str, int])
    buffers: dict[str, Cells] = field(default_factory=dict[str, Cells])
    tokens: dict[str, list[_Started]] = field(default_factory=dict[str, "list[_Started]"])
    frames: list[Frame] = field(default_factory=list[Frame])
    stmt: Stmt | None = None
    is_one_thread: bool = False

    def run(self) -> None:
        self.values = dict(self.sizes)
        for param in self.kernel.params:
            self.buffers[param.name] = self.outer[param.name]
            self.buffers[param.name].depth = 0
        grid = [extent.evaluate(self.sizes) for _, extent in self.kernel.grid]
        self.frames.append(Frame())
        for number, point in enumerate(np.ndindex(*grid)):
            self.frames[-1].iteration = number + 1
            names = (name for name, _ in self.kernel.grid)
            self.values.update(zip(names, point, strict=True))
            for _ in self.scoped(self.kernel.body):
                pass  # every statement is run by all threads together
            self.require_no_tokens()
            for cells in self.buffers.values():
                cells.forget_hazards()

    def fail(self, message: str) -> FlatRunError:
        values = {name: value for name, value in self.values.items() if name not in self.sizes}
        given = ", ".join(f"{name} = {value}" for name, value in (self.sizes | values).items())
        return FlatRunError(message, self.stmt, f"in `{self.kernel.name}`, {given}")

    def require_no_tokens(self) -> None:
        for token, started in self.tokens.items():
            if started:
                self.stmt = started[0].stmt
                raise self.fail(f"nothing waits for {len(started)} copies of `{token}`")

    def scoped(self, body: Sequence[Stmt]) -> _Steps:
        """Runs statements; their allocations end with them."""
        before = self.buffers.copy()
        yield from self.statements(body)
        self.buffers = before

    def statements(self, body: Sequence[Stmt]) -> _Steps:
        for stmt in body:
            self.stmt = stmt
            match stmt:
                case For():
                    yield from self.loop(stmt)
                case ParallelFor():
                    yield from self.parallel_loop(stmt)
                case If():
                    left, right = stmt.left.evaluate(self.values), stmt.right.evaluate(self.values)
                    if holds(left, stmt.comparison, right):
                        yield from self.scoped(stmt.body)
                case Barrier():
                    yield stmt
                    self.forget_hazards(stmt.memory)
                case _:
                    self.execute(stmt)

    def loop(self, stmt: For) -> _Steps:
        for value in range(stmt.extent.evaluate(self.values)):
            self.values[stmt.variable] = value
            yield from self.scoped(stmt.body)
        self.values.pop(stmt.variable, None)

    def parallel_loop(self, stmt: ParallelFor) -> _Steps:
        """Runs every iteration up to its next barrier, then all of them on."""
        count = stmt.extent.evaluate(self.values)
        frame = Frame({name: self.buffers[name] for name in stmt.reduced})
        self.frames.append(frame)
        states = [self.fork(stmt, value, frame) for value in range(count)]
        while states:
            barriers = [state.advance() for state in states]
            reached = {id(barrier): barrier for barrier in barriers}
            if len(reached) > 1:
                self.stmt = stmt
                raise self.fail("some iterations reach a barrier that others do not")
            barrier = barriers[0]
            if barrier is None:
                break
            if self.is_inside(stmt.proc, barrier.proc):
                frame.clear()
                self.frames.pop()
                yield barrier
                self.frames.append(frame)
        self.frames.pop()

    def fork(self, stmt: ParallelFor, value: int, frame: Frame) -> _Iteration:
        values = {**self.values, stmt.variable: value}
        inner = _Run(self.kernel, self.sizes, self.outer, self.functions, self.machine, values)
        inner.buffers, inner.frames = self.buffers.copy(), self.frames.copy()
        procs = () if self.machine is None else self.machine.procs
        inner.is_one_thread = self.is_one_thread or stmt.proc == (procs or ("",))[-1]
        return _Iteration(inner, inner.scoped(stmt.body), frame, value + 1)

    def is_inside(self, inner: str, outer: str) -> bool:
        """Whether one instance of a processor holds several of another."""
        procs = () if self.machine is None else self.machine.procs
        if inner not in procs or outer not in procs:
            return True
        return procs.index(inner) > procs.index(outer)

    def forget_hazards(self, memory: str) -> None:
        for cells in self.buffers.values():
            if cells.memory == memory:
                cells.forget_hazards()

    def execute(self, stmt: Stmt) -> None:
        try:
            _EXECUTE[type(stmt)](self, stmt)
        except (AccessError, ShapeError) as error:
            raise self.fail(str(error)) from None

    def alloc(self, stmt: Alloc) -> None:
        cells = Cells(stmt.name, stmt.dtype, stmt.shape, stmt.memory, stmt.slots)
        cells.depth = len(self.frames)
        self.buffers[stmt.name] = cells

    def copy(self, stmt: Copy) -> None:
        source = self.read(stmt.source)
        target, index = self.locate(stmt.target)
        self.write(target, index, self.padded(source, stmt, target, index))

    def start(self, stmt: Start) -> None:
        source, source_index = self.locate(stmt.source)
        target, target_index = self.locate(stmt.target)
        source.require_readable(source_index)
        target.require_writable(target_index)
        self.note(source, source_index, is_write=False)
        self.note(target, target_index, is_write=True)
        source.reading[source_index] += 1
        target.is_arriving[target_index] = True
        started = _Started(stmt, (target, target_index), (source, source_index))
        self.tokens.setdefault(stmt.token, []).append(started)

    def wait(self, stmt: Wait) -> None:
        waiting = self.tokens.get(stmt.token, [])
        keep = stmt.keep.evaluate(self.values)
        if keep < 0:
            raise self.fail(f"keeps {keep} copies")
        if len(waiting) <= keep:
            raise self.fail(f"waits for `{stmt.token}` with {len(waiting)} copies in flight")
        while len(waiting) > keep:
            self.arrive(waiting.pop(0))

    def arrive(self, started: _Started) -> None:
        (source, source_index), (target, target_index) = started.source, started.target
        source.reading[source_index] -= 1
        target.is_arriving[target_index] = False
        moved = self.padded(source.data[source_index], started.stmt, target, target_index)
        target.data[target_index] = moved
        target.is_written[target_index] = True

    def padded(self, source: Array, stmt: Copy | Start, target: Cells, index: Any) -> Array:
        return padded(source, target.data[index].shape, stmt.fill, target.dtype)

    def fill(self, stmt: Fill) -> None:
        cells, index = self.locate(stmt.target)
        self.write(cells, index, np.full(cells.data[index].shape, stmt.value, cells.dtype.numpy))

    def map(self, stmt: Map) -> None:
        cells, index = self.locate(stmt.target)
        shape = cells.data[index].shape

        def read(expr: Operand | Column) -> Array:
            found = self.read(expr.view)
            return found[:, None] if isinstance(expr, Column) else found

        value = compute(stmt.value, shape, read, lambda number: number.evaluate(self.values))
        self.write(cells, index, np.broadcast_to(value, shape))

    def reduce(self, stmt: Reduce) -> None:
        source = self.read(stmt.source)
        held = self.read(stmt.target)
        cells, index = self.locate(stmt.target)
        total = reduce_along(stmt.kind, held, source, stmt.axis, cells.dtype)
        self.write(cells, index, total)

    def mma(self, stmt: Mma) -> None:
        left, right = self.read(stmt.left), self.read(stmt.right)
        held = self.read(stmt.target)
        cells, index = self.locate(stmt.target)
        self.write(cells, index, multiply(held, left, right, stmt.transposed, cells.dtype))

    def call(self, stmt: Call) -> None:
        function = self.functions.get(stmt.symbol)
        if function is None:
            raise self.fail(f"there is no function for `{stmt.symbol}`")
        given: list[Any] = []
        written: list[tuple[Cells, Any, Array]] = []
        for argument in stmt.arguments:
            match argument:
                case Passed():
                    given.append(self.passed(argument, written))
                case Const():
                    given.append(argument.value)
                case Affine():
                    given.append(argument.evaluate(self.values))
        function(*given)
        for cells, index, result in written:
            self.write(cells, index, result)

    def passed(self, argument: Passed, written: list[tuple[Cells, Any, Array]]) -> Array:
        cells, index = self.locate(argument.view)
        if argument.privilege == "r":
            return self.read(argument.view)
        if argument.privilege == "rw":
            self.read(argument.view)
        result = cells.data[index].copy()
        written.append((cells, index, result))
        return result

    def locate(self, view: View) -> tuple[Cells, Any]:
        """The cells of a view and the index of its rectangle, which lies inside of them."""
        cells = self.buffers.get(view.buffer)
        if cells is None:
            raise self.fail(f"nothing has allocated `{view.buffer}`")
        slot = 0 if view.slot is None else view.slot.evaluate(self.values)
        if not 0 <= slot < cells.slots:
            raise self.fail(f"slot {slot} of `{view.buffer}`, which has {cells.slots}")
        offsets = [offset.evaluate(self.values) for offset in view.offsets]
        extents = [1 if e is None else e.evaluate(self.values) for e in view.extents]
        bounds = zip(offsets, extents, cells.shape, strict=True)
        if any(low < 0 or size < 0 or low + size > end for low, size, end in bounds):
            inside = f"`{view.buffer}` has the shape {cells.shape}"
            raise self.fail(f"{print_view(view)} is {offsets} : {extents}, but {inside}")
        axes = zip(offsets, extents, view.extents, strict=True)
        index = (low if e is None else slice(low, low + size) for low, size, e in axes)
        return cells, (slot, *index)

    def read(self, view: View) -> Array:
        cells, index = self.locate(view)
        cells.require_readable(index)
        self.note(cells, index, is_write=False)
        return cells.data[index]

    def write(self, cells: Cells, index: Any, value: Array) -> None:
        cells.require_writable(index)
        self.note(cells, index, is_write=True)
        cells.data[index] = value
        cells.is_written[index] = True

    def note(self, cells: Cells, index: Any, is_write: bool) -> None:
        """Reports what is touched to the parallel loops around and to the search for hazards."""
        for frame in self.frames[cells.depth :]:
            frame.note(cells, index, is_write)
        if self.is_synchronized(cells):
            cells.note_hazard(index, id(self.stmt), is_write)

    def is_synchronized(self, cells: Cells) -> bool:
        if self.machine is None or self.kernel.threads == 1 or self.is_one_thread:
            return False
        memory = self.machine.memory(cells.memory)
        return memory is not None and memory.is_synchronized


@record
class _Iteration:
    """One iteration of a parallel loop, which stops at barriers."""

    run: _Run
    steps: _Steps
    frame: Frame
    number: int

    def advance(self) -> Barrier | None:
        """Runs to the next barrier, or to the end."""
        self.frame.iteration = self.number
        barrier = next(self.steps, None)
        if barrier is None:
            self.run.require_no_tokens()
        return barrier


_EXECUTE: dict[type[Stmt], Callable[[_Run, Any], None]] = {
    Alloc: _Run.alloc,
    Copy: _Run.copy,
    Start: _Run.start,
    Wait: _Run.wait,
    Fill: _Run.fill,
    Map: _Run.map,
    Reduce: _Run.reduce,
    Mma: _Run.mma,
    Call: _Run.call,
}
