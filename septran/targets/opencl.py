"""OpenCL C: a kernel for each of the flat module, a work-group for each point of its grid.

Each statement is done by all work-items of a group, element by element; the elements of an array in
registers belong to work-items by rows: row r to item r % W of W. Copies that are started are
`async_work_group_copy`, row by row, and waited for by `wait_group_events`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from eas.ir.types import DType
from eas.septran.flat.affine import ONE, ZERO, Affine
from eas.septran.flat.lines import Lines
from eas.septran.flat.nodes import (
    Alloc,
    Barrier,
    Buffer,
    Call,
    Column,
    Copy,
    Expr,
    Fill,
    Kernel,
    Map,
    Mma,
    Module,
    Operand,
    Param,
    Reduce,
    Start,
    Stmt,
    View,
    Wait,
    accesses,
    body_of,
    operands_of,
    walk,
)
from eas.septran.targets.c_text import (
    Elements,
    c_factor,
    c_name,
    c_number,
    c_type,
    element_index,
    load,
    stored,
)
from eas.septran.targets.codegen_dsa import CText
from eas.septran.targets.kernel_text import KernelText
from eas.septran.targets.legalize import legalize
from eas.septran.targets.library import Library, TargetError
from eas.support.records import frozen

# No name of a kernel begins like these.
LANE, GROUP, BLOCK = "septran_lane", "septran_group", "septran_block"
_BARRIER = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"

Axes = tuple[int | None, ...]  # for each own axis of a view the loop that counts it, if one does


def print_opencl(module: Module, library: Library, registers: Collection[str]) -> str:
    """The text of an OpenCL program; `registers` are the memories whose arrays are private."""
    legal = legalize(module, library, has_threads=True)
    lines = Lines("    ")
    lines.add(f"/* {module.name} for {module.machine} */")
    lines.add('#include "septran_elements.h"')
    for kernel in legal.kernels:
        lines.add("")
        _print_kernel(kernel, legal, library, registers, lines)
    return lines.text()


def _print_kernel(
    kernel: Kernel, module: Module, library: Library, registers: Collection[str], lines: Lines
) -> None:
    given = [_parameter(param) for param in kernel.params]
    given += [f"int64_t {c_name(size)}" for size in module.sizes]
    lines.add(f"__kernel __attribute__((reqd_work_group_size({kernel.threads}, 1, 1)))")
    with lines.block(f"void run_{kernel.name}({', '.join(given)}) {{", "}"):
        text = _OpenCLText(kernel, module.sizes, library, lines, registers)
        text.declare()
        text.grid(list(kernel.grid))


def _parameter(param: Param) -> str:
    const = "const " if param.privilege == "r" else ""
    return f"__global {const}{c_type(param.dtype)} *{c_name(param.name)}"


@frozen
class _Spread:
    """How a statement's elements are spread over work-items: along a loop, or all to one of them.

    Item (offset + position) % W has the elements at a position along the loop `axis`; without one
    the item offset % W has all of them.
    """

    axis: int | None
    offset: Affine


class _OpenCLText(CText):
    """Prints the statements of one kernel for all its work-items."""

    language = "OpenCL"

    def __init__(
        self,
        kernel: Kernel,
        sizes: Sequence[str],
        library: Library,
        lines: Lines,
        registers: Collection[str],
    ) -> None:
        super().__init__(kernel, sizes, library, lines)
        self.registers = frozenset(registers)
        self.spread = _Spread(None, ZERO)
        self.rings: dict[str, int] = {}  # by token, how many copies may be in flight
        self.contested = _contested(kernel)

    def declare(self) -> None:
        """What OpenCL declares at the beginning of a kernel: local memory, events, the numbers."""
        for stmt in walk(self.kernel.body):
            if isinstance(stmt, Start):
                slots = self.buffers[stmt.target.buffer]
                depth = slots.slots if isinstance(slots, Alloc) else 1
                self.rings[stmt.token] = self.rings.get(stmt.token, 0) + depth
            if isinstance(stmt, Alloc):
                self.lines.add(self.declaration(stmt))
        for token, depth in self.rings.items():
            self.lines.add(f"event_t {token}[{depth}];")
            self.lines.add(f"int64_t {token}_started = 0, {token}_waited = 0;")
        self.lines.add(f"const int64_t {LANE} = get_local_id(0);")
        self.lines.add(f"const int64_t {GROUP} = get_group_id(0);")

    def declaration(self, stmt: Alloc) -> str:
        name, dtype = c_name(stmt.name), c_type(stmt.dtype)
        if stmt.memory in self.registers:
            count = stmt.slots * self.private_slot(stmt)
            return f"{dtype} {name}[{count}]; /* {stmt.memory}, of each work-item */"
        *rows, row = stmt.shape or (1,)
        count = stmt.slots * math.prod(rows) * (row + stmt.pad)
        return f"__local {dtype} {name}[{count}]; /* {stmt.memory} */"

    def private_slot(self, alloc: Alloc) -> int:
        """The elements that a work-item has of one slot: whole rows."""
        if not alloc.shape:
            return 1
        rows, *rest = alloc.shape
        return -(-rows // self.kernel.threads) * math.prod(rest)

    def grid(self, grid: Sequence[tuple[str, Affine]]) -> None:
        """The last variable of the grid counts fastest."""
        after: list[Affine] = []
        for name, extent in reversed(grid):
            number = " / ".join([GROUP, *map(c_factor, after)])
            self.lines.add(f"const int64_t {c_name(name)} = {number} % {c_factor(extent)};")
            after.append(extent)
            self.scope.append(name)
        self.block(self.kernel.body)

    def statement(self, stmt: Stmt) -> None:
        match stmt:
            case Start():
                self.start_copy(stmt)
            case Wait():
                self.wait(stmt)
            case Copy() | Fill() | Map() | Reduce() | Mma():
                self.spread = self.spread_of(stmt)
                with self.fenced(stmt):
                    KernelText.statement(self, stmt)
            case Call():
                raise TargetError(f"OpenCL has no function `{stmt.symbol}`")
            case _:
                KernelText.statement(self, stmt)

    @contextmanager
    def fenced(self, stmt: Stmt) -> Generator[None]:
        """Barriers around what writes GLOBAL memory that other work-items touch, too."""
        written = {view.buffer for view, how in accesses(stmt) if "w" in how}
        is_fenced = not written.isdisjoint(self.contested)
        if is_fenced:
            self.lines.add(_BARRIER)
        yield
        if is_fenced:
            self.lines.add(_BARRIER)

    def alloc(self, stmt: Alloc) -> None:
        """It is declared at the beginning of the kernel."""

    def barrier(self, stmt: Barrier) -> None:
        self.lines.add(_BARRIER)

    def start_copy(self, stmt: Start) -> None:
        *outer, columns = stmt.source.shape or (ONE,)
        token, depth = stmt.token, self.rings[stmt.token]
        with self.lines.block("{", "}"):
            with self.lines.block(f"if ({token}_started - {token}_waited == {depth})", ""):
                self.lines.add(f"wait_group_events(1, &{token}[{token}_waited++ % {depth}]);")
            self.lines.add("event_t copied = 0;")
            with ExitStack() as nest:
                rows: list[str] = []
                for axis, extent in enumerate(outer):
                    rows.append("0" if extent == ONE else self.fresh(f"e{axis}"))
                    if rows[-1] != "0":
                        nest.enter_context(self.loop(rows[-1], extent))
                target, source = self.row(stmt.target, rows), self.row(stmt.source, rows)
                given = f"{target}, {source}, {c_number(columns)}, copied"
                self.lines.add(f"copied = async_work_group_copy({given});")
            self.lines.add(f"{token}[{token}_started++ % {depth}] = copied;")

    def row(self, view: View, rows: Sequence[str]) -> str:
        """The address of a row of a view."""
        along = [*rows, "0"] if view.rank else []
        return f"&{c_name(view.buffer)}[{element_index(view, self.buffers[view.buffer], along)}]"

    def wait(self, stmt: Wait) -> None:
        token, depth = stmt.token, self.rings[stmt.token]
        left = c_factor(stmt.keep)
        with self.lines.block(f"while ({token}_started - {token}_waited > {left})", ""):
            self.lines.add(f"wait_group_events(1, &{token}[{token}_waited++ % {depth}]);")

    def spread_of(self, stmt: Stmt) -> _Spread:
        """The one spread by which every work-item finds its own rows in its registers."""
        shape, views = _loops_of(stmt)
        found: dict[_Spread, View] = {}
        for view, axes in views:
            if view.memory in self.registers:
                found.setdefault(self.rows_spread(stmt, view, axes, shape), view)
        if not found:
            wide = [n for n, extent in enumerate(shape) if extent != ONE]
            return _Spread(wide[0] if wide else None, ZERO)
        if len(found) > 1:
            raise self.crossing(stmt, *list(found.values())[:2])
        return next(iter(found))

    def rows_spread(self, stmt: Stmt, view: View, axes: Axes, shape: Sequence[Affine]) -> _Spread:
        if not view.extents:
            return _Spread(None, ZERO)
        offset = view.offsets[0]
        if view.extents[0] is None:
            return _Spread(None, offset)
        axis = axes[0]
        if axis is None and view.extents[0] != ONE:
            raise self.crossing(stmt, view)
        if axis is None or shape[axis] == ONE:
            return _Spread(None, offset)
        return _Spread(axis, offset) if view.extents[0] != ONE else _Spread(None, offset)

    def crossing(self, stmt: Stmt, *views: View) -> TargetError:
        names = " and ".join(f"`{view.buffer}`" for view in views)
        reason = f" ({stmt.origin.because})" if stmt.origin.because else ""
        message = f"OpenCL spreads the rows of {names} in {views[0].memory} over work-items, and a"
        return TargetError(f"{message} statement goes across them{reason}: use another memory")

    @contextmanager
    def loops(self, shape: Sequence[Affine]) -> Generator[list[str]]:
        width, spread = self.kernel.threads, self.spread
        with ExitStack() as nest:
            if spread.axis is None:
                owner = str(spread.offset.value % width) if spread.offset.is_constant else None
                owner = owner or f"septran_mod({c_number(spread.offset)}, {width})"
                nest.enter_context(self.lines.block(f"if ({LANE} == {owner}) {{", "}"))
            along: list[str] = []
            for axis, extent in enumerate(shape):
                along.append("0" if extent == ONE else self.fresh(f"e{axis}"))
                if axis == spread.axis:
                    nest.enter_context(self.own_rows(along[-1], extent))
                elif along[-1] != "0":
                    nest.enter_context(self.loop(along[-1], extent))
            yield along

    @contextmanager
    def own_rows(self, variable: str, extent: Affine) -> Generator[None]:
        """The positions that belong to a work-item, in a loop that all of them run alike.

        (PoCL 3 gives wrong results where loops of different lengths stand beside barriers.)
        """
        width, offset, bound = self.kernel.threads, self.spread.offset, c_number(extent)
        first = LANE
        if offset != ZERO:
            first = f"septran_mod({LANE} - ({c_number(offset)}), {width})"
        head = f"int64_t {BLOCK} = 0; {BLOCK} < {bound}; {BLOCK} += {width}"
        with self.lines.block(f"for ({head}) {{", "}"):
            self.lines.add(f"const int64_t {variable} = {BLOCK} + {first};")
            with self.lines.block(f"if ({variable} < {bound}) {{", "}"):
                yield

    def element(self, view: View, along: Sequence[str]) -> str:
        buffer = self.buffers[view.buffer]
        if view.memory in self.registers and isinstance(buffer, Alloc):
            return f"{c_name(view.buffer)}[{self.private_index(view, buffer, along)}]"
        return super().element(view, along)

    def private_index(self, view: View, alloc: Alloc, along: Sequence[str]) -> str:
        """The index of an element among those that the work-item has."""
        parts: list[str] = []
        if view.slot is not None and view.slot != ZERO:
            parts.append(f"{c_factor(view.slot)} * {self.private_slot(alloc)}")
        positions = iter(along)
        for axis, (offset, extent) in enumerate(zip(view.offsets, view.extents, strict=True)):
            position = "0" if extent is None else next(positions)
            shown = [c_factor(offset)] if offset != ZERO else []
            shown += [position] if position != "0" else []
            if not shown:
                continue
            number = " + ".join(shown) if len(shown) == 1 else f"({' + '.join(shown)})"
            if axis == 0:
                number = f"{number} / {self.kernel.threads}"
            stride = math.prod(alloc.shape[axis + 1 :])
            parts.append(number if stride == 1 else f"{number} * {stride}")
        return " + ".join(parts) or "0"

    def computed(self, expr: Expr, dtype: DType, along: Sequence[str]) -> str:
        return stored(_Elements(self, along).expr(expr), dtype)


class _Elements(Elements):
    """Expressions of one element, in which arrays in registers have indices of the work-item."""

    def __init__(self, text: _OpenCLText, along: Sequence[str]) -> None:
        super().__init__(text.buffers, along)
        self.text = text

    def element(self, view: View, buffer: Buffer, positions: Sequence[str]) -> str:
        return load(self.text.element(view, positions), buffer.dtype)


def _contested(kernel: Kernel) -> frozenset[str]:
    """Arguments that a kernel writes and touches again: in another statement, or another trip."""
    arguments = {param.name for param in kernel.params}
    touched: Counter[str] = Counter()
    for stmt in kernel.body:
        times = 2 if body_of(stmt) else 1
        for inner in walk((stmt,)):
            for name in {view.buffer for view, _ in accesses(inner)}:
                touched[name] += times
    written = {v.buffer for s in walk(kernel.body) for v, how in accesses(s) if "w" in how}
    return frozenset(name for name in arguments & written if touched[name] > 1)


def _loops_of(stmt: Stmt) -> tuple[tuple[Affine, ...], list[tuple[View, Axes]]]:
    """The extents of the loops over a statement's elements, and which of them count each view."""
    match stmt:
        case Copy():
            axes = tuple(range(stmt.source.rank))
            return stmt.source.shape, [(stmt.target, axes), (stmt.source, axes)]
        case Fill():
            return stmt.target.shape, [(stmt.target, tuple(range(stmt.target.rank)))]
        case Map():
            rank = stmt.target.rank
            own: Axes = tuple(range(rank))
            return stmt.target.shape, [(stmt.target, own), *_operands(stmt.value, rank)]
        case Reduce():
            return _loops_of_reduction(stmt)
        case Mma():
            left: Axes = (None, 0) if "a" in stmt.transposed else (0, None)
            right: Axes = (1, None) if "b" in stmt.transposed else (None, 1)
            views: list[tuple[View, Axes]] = [(stmt.target, (0, 1)), (stmt.left, left)]
            return stmt.target.shape, [*views, (stmt.right, right)]
        case _:
            return (), []


def _loops_of_reduction(stmt: Reduce) -> tuple[tuple[Affine, ...], list[tuple[View, Axes]]]:
    shape, axis = stmt.source.shape, stmt.axis
    others = [*range(axis), None, *range(axis, len(shape) - 1)]
    loops = (*shape[:axis], *shape[axis + 1 :])
    is_kept = stmt.target.rank == len(shape)
    target: Axes = tuple(others) if is_kept else tuple(range(len(loops)))
    return loops, [(stmt.target, target), (stmt.source, tuple(others))]


def _operands(expr: Expr, rank: int) -> Iterator[tuple[View, Axes]]:
    match expr:
        case Operand(view):
            yield view, tuple(range(rank - view.rank, rank))
        case Column(view):
            yield view, (rank - 2,)
        case _:
            for inner in operands_of(expr):
                yield from _operands(inner, rank)
