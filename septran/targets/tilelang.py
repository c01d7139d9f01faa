"""TileLang: one `T.prim_func` per kernel, with `alloc_shared`, `copy`, `Pipelined` and `gemm`.

TileLang pipelines loops, places barriers and pads tails with zeros itself, so it is printed from
loops that are `pipelined`, not from starts and waits. A copy of a tile that ends where its array
ends is a `T.copy` of the whole tile. Products and reductions are of whole tiles, too: what lies
beyond the true extent of a factor is zero, and what is reduced is masked with the identity. It is
text only: TileLang is never imported.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager

from eas.ir.types import DType
from eas.septran.flat.affine import Affine, Min, affine, minimum
from eas.septran.flat.element_meanings import identity
from eas.septran.flat.lines import Lines
from eas.septran.flat.nodes import (
    Alloc,
    Barrier,
    Buffer,
    Call,
    Copy,
    Fill,
    For,
    If,
    Kernel,
    Map,
    Mma,
    Module,
    ParallelFor,
    Passed,
    Reduce,
    Start,
    Stmt,
    View,
    Wait,
    views_in,
    walk,
)
from eas.septran.flat.padding import zero_padded
from eas.septran.flat.pipelines import prefetched
from eas.septran.flat.simplify import simplify
from eas.septran.targets.kernel_text import KernelText, variables
from eas.septran.targets.library import Library, TargetError
from eas.septran.targets.origins import Comments
from eas.septran.targets.python_text import (
    ScriptElements,
    py_condition,
    py_constant,
    py_dtype,
    py_name,
    py_number,
    py_sum,
    py_tuple,
    slot_index,
)

_FRAGMENT = "T.alloc_fragment"
_ALLOCATE: Mapping[str, str] = {"SHARED": "T.alloc_shared", "REGISTER": _FRAGMENT}
_REDUCE = {"add": "T.reduce_sum", "max": "T.reduce_max", "min": "T.reduce_min"}
_COMBINE = {"add": "{} + {}", "max": "T.max({}, {})", "min": "T.min({}, {})"}


def print_tilelang(
    module: Module, library: Library, allocate: Mapping[str, str] = _ALLOCATE
) -> str:
    """The text of a Python file with a function for each kernel, to be called in order.

    `allocate` has TileLang's function for each memory that a kernel allocates from. A product by a
    primitive with a symbol is a `T.gemm`, by any other one plain loops.
    """
    lines = Lines("    ")
    lines.add("import tilelang.language as T")
    if module.sizes:
        lines.add("")
    for size in module.sizes:
        lines.add(f'{py_name(size)} = T.dynamic("{size}")')
    for kernel in simplify(module).kernels:
        lines.add("")
        lines.add("")
        _KernelTiles(kernel, library, allocate, lines).print()
    return lines.text()


class _TileElements(ScriptElements):
    """Expressions in TileLang, which has infinities of its own."""

    def constant(self, value: float | int | bool, dtype: DType) -> str:
        if not math.isinf(value):
            return super().constant(value, dtype)
        return f'{"-" if value < 0 else ""}T.infinity("{py_dtype(dtype)}")'


class _KernelTiles(KernelText):
    """Prints one kernel."""

    language = "TileLang"

    def __init__(
        self, kernel: Kernel, library: Library, allocate: Mapping[str, str], lines: Lines
    ) -> None:
        super().__init__(kernel, lines, Comments(kernel))
        self.library = library
        self.allocate = allocate
        allocations = {s.name: s for s in walk(kernel.body) if isinstance(s, Alloc)}
        self.buffers: dict[str, Buffer] = {param.name: param for param in kernel.params}
        self.buffers.update(allocations)
        self.taken = {py_name(each) for each in (*self.buffers, *variables(kernel))}
        loops = [s for s in walk(kernel.body) if isinstance(s, For) and s.pipelined > 1]
        copies = (copy for loop in loops for copy in prefetched(loop, allocations))
        # TileLang gives these as many slots as the loop has stages.
        self.slotless = frozenset(copy.target.buffer for copy in copies)
        self.padded = zero_padded(kernel)
        self.parts: list[str] = []  # fragments that the text needs besides those of the kernel
        # For other numbers of elements TileLang finds layouts only where there are conditions.
        self.is_even = all(
            math.prod(each.shape) % kernel.threads == 0
            for each in allocations.values()
            if each.memory in allocate and len(each.shape) > 1
        )
        kinds = {type(stmt) for stmt in walk(kernel.body)}
        self.has_rows = {Mma, Reduce} <= kinds

    def print(self) -> None:
        params = ", ".join(
            f"{py_name(param.name)}: "
            f'T.Tensor({py_tuple([py_number(e) for e in param.shape])}, "{py_dtype(param.dtype)}")'
            for param in self.kernel.params
        )
        self.lines.add("@T.prim_func")
        with self.lines.block(f"def {py_name(self.kernel.name)}({params}):"):
            # The last axis of the grid is the fastest one, as the first of `T.Kernel` is.
            grid = [*reversed(self.kernel.grid)] or [("_", affine(1))]
            extents = ", ".join(py_number(extent) for _, extent in grid)
            names = [py_name(name) for name, _ in grid]
            bound = names[0] if len(names) == 1 else py_tuple(names)
            head = f"with T.Kernel({extents}, threads={self.kernel.threads}) as {bound}:"
            with self.lines.block(head):
                start = self.lines.count
                self.body(self.kernel.body)
                self.lines.insert(start, self.parts)

    def body(self, body: Sequence[Stmt]) -> None:
        printed = [stmt for stmt in body if not isinstance(stmt, Barrier)]
        super().body(printed)
        if not printed:
            self.lines.add("pass")

    def statement(self, stmt: Stmt) -> None:
        match stmt:
            case Call():
                self.call(stmt)
            case Start() | Wait():
                raise TargetError("TileLang pipelines loops itself: print it before starts are")
            case _:
                super().statement(stmt)

    def commented(self, text: str) -> str:
        return f"# {text}"

    def repeat(self, stmt: For | ParallelFor) -> None:
        with self.lines.block(f"for {py_name(stmt.variable)} in {_range(stmt)}:"):
            self.body(stmt.body)

    def branch(self, stmt: If) -> AbstractContextManager[None]:
        return self.lines.block(f"if {py_condition(stmt)}:")

    def barrier(self, stmt: Barrier) -> None:
        """TileLang places them itself."""

    def alloc(self, stmt: Alloc) -> None:
        function = self.allocate.get(stmt.memory)
        if function is None:
            raise TargetError(f"TileLang does not allocate from {stmt.memory}")
        if stmt.is_mixed:  # its products and reductions are of whole buffers
            message = f"tiles of different shapes share the memory of `{stmt.name}`"
            raise TargetError(f"{message}, and tiles of TileLang are whole buffers")
        shape = [str(extent) for extent in stmt.shape]
        if stmt.slots > 1 and stmt.name not in self.slotless:
            shape.insert(0, str(stmt.slots))
        declared = f'{py_tuple(shape)}, "{py_dtype(stmt.dtype)}"'
        self.lines.add(f"{py_name(stmt.name)} = {function}({declared})")

    def copy(self, stmt: Copy) -> None:
        extents = self.copied_extents(stmt)
        if extents is None:
            self.guarded_copy(stmt)
            return
        source, target = self.region(stmt.source, extents), self.region(stmt.target, extents)
        self.lines.add(f"T.copy({source}, {target})")

    def copied_extents(self, stmt: Copy) -> list[int] | None:
        """The extents of a copy of whole tiles, or None if it copies other parts.

        Elements beyond the end of an array are not written, and read as zeros.
        """
        if stmt.fill not in (None, 0):
            return None
        found: list[int] = []
        pairs = zip(_axes(stmt.source, self.buffers), _axes(stmt.target, self.buffers), strict=True)
        for source, target in pairs:
            have, want = _tile(source), _tile(target)
            tile = have if have is not None else want
            is_same = source[1] == target[1] or (stmt.fill is not None and have == want == tile)
            is_end = have is not None or want is not None
            if tile is None or not is_end or not is_same:
                return None
            found.append(tile)
        return found

    def guarded_copy(self, stmt: Copy) -> None:
        dtype = self.buffers[stmt.target.buffer].dtype
        inside = stmt.source.shape
        with self.parallel(stmt.target.shape if stmt.fill is not None else inside) as along:
            value = self.elements(along).operand(stmt.source, along)
            target = self.elements(along).operand(stmt.target, along)
            if stmt.fill is None:
                self.lines.add(f"{target} = {value}")
                return
            condition = _all([f"{a} < {py_number(e)}" for a, e in zip(along, inside, strict=True)])
            fill = self.elements(along).constant(stmt.fill, dtype)
            self.lines.add(f"{target} = T.if_then_else({condition}, {value}, {fill})")

    def fill(self, stmt: Fill) -> None:
        has_all = all(extent.is_constant for extent in stmt.target.shape)
        if not self.is_plain(stmt.target) or not (has_all or self.is_even):
            dtype = self.buffers[stmt.target.buffer].dtype
            with self.parallel(stmt.target.shape) as along:
                target = self.elements(along).operand(stmt.target, along)
                self.lines.add(f"{target} = {self.elements([]).constant(stmt.value, dtype)}")
            return
        name = py_name(stmt.target.buffer)
        if stmt.value == 0:
            self.lines.add(f"T.clear({name})")
        else:
            dtype = self.buffers[stmt.target.buffer].dtype
            self.lines.add(f"T.fill({name}, {self.elements([]).constant(stmt.value, dtype)})")

    def map(self, stmt: Map) -> None:
        with self.parallel(self.computed(stmt)) as along:
            elements = self.elements(along)
            target = elements.operand(stmt.target, along)
            self.lines.add(f"{target} = {elements.expr(stmt.value)}")

    def computed(self, stmt: Map) -> Sequence[Affine]:
        """The elements that are computed: all of a tile, if its operands have as many.

        Nobody reads those beyond the true extent.
        """
        shape = stmt.target.shape
        tile = self.tile(stmt.target)
        if not self.is_plain(stmt.target) or not self.is_even:
            return shape
        for view in views_in(stmt.value):
            own = self.tile(view) if self.is_plain(view) else view.shape
            extents = [
                extent if isinstance(extent, int) else extent.value if extent.is_constant else 0
                for extent in own
            ]
            if any(each != 1 and each not in tile for each in extents):
                return shape
        return [affine(extent) for extent in tile]

    def reduce(self, stmt: Reduce) -> None:
        """TileLang reduces fragments; others, and parts of them, are copied to one, masked."""
        function = _REDUCE.get(stmt.kind)
        if function is None:
            raise TargetError(f"TileLang reduces by `add`, `max` or `min`, not by `{stmt.kind}`")
        shape = self.tile(stmt.source)
        has_all = stmt.source.shape[stmt.axis] == affine(shape[stmt.axis])
        is_same = self.dtype(stmt.source) == self.dtype(stmt.target)
        source = py_name(stmt.source.buffer)
        if not (has_all and is_same and self.is_fragment(stmt.source)):
            source = self.masked(stmt, shape)
        if self.is_fragment(stmt.target):
            target = py_name(stmt.target.buffer)
            self.lines.add(f"{function}({source}, {target}, dim={stmt.axis}, clear=False)")
            return
        keeps = stmt.target.rank == len(shape)
        rest = [1 if n == stmt.axis else each for n, each in enumerate(shape)]
        rest = rest if keeps else [each for n, each in enumerate(shape) if n != stmt.axis]
        part = self.part(rest, self.dtype(stmt.target))
        self.lines.add(f"{function}({source}, {part}, dim={stmt.axis})")
        with self.parallel(stmt.target.shape) as along:
            target = self.elements(along).operand(stmt.target, along)
            combined = _COMBINE[stmt.kind].format(target, f"{part}[{', '.join(along)}]")
            self.lines.add(f"{target} = {combined}")

    def masked(self, stmt: Reduce, shape: Sequence[int]) -> str:
        """A fragment with what is reduced, and the identity beyond its true extent."""
        buffer = self.buffers[stmt.target.buffer]
        part = self.part(shape, self.dtype(stmt.target))
        with self.parallel([affine(extent) for extent in shape]) as along:
            elements = self.elements(along)
            value = elements.operand(stmt.source, along)
            if self.dtype(stmt.source) != self.dtype(stmt.target):
                value = f'T.Cast("{self.dtype(stmt.target)}", {value})'
            beyond = elements.constant(identity(stmt.kind, buffer.dtype), buffer.dtype)
            tests = _tests(along, stmt.source.shape)
            value = f"T.if_then_else({_all(tests)}, {value}, {beyond})" if tests else value
            self.lines.add(f"{part}[{', '.join(along)}] = {value}")
        return part

    def part(self, shape: Sequence[int], dtype: str) -> str:
        """A new fragment, which is declared at the start of the kernel."""
        name = self.fresh(f"part{len(self.parts)}")
        self.parts.append(f'{name} = T.alloc_fragment({py_tuple([*map(str, shape)])}, "{dtype}")')
        return name

    def tile(self, view: View) -> list[int]:
        """The full extents of a view's tile: those of its buffer, if it has them all."""
        buffer = self.buffers[view.buffer]
        if isinstance(buffer, Alloc) and self.has_no_offset(view):
            return list(buffer.shape)
        return [_bound(extent) for extent in view.shape]

    def has_no_offset(self, view: View) -> bool:
        return None not in view.extents and all(offset == Affine() for offset in view.offsets)

    def is_plain(self, view: View) -> bool:
        """Whether a view is a tile from its start on, of which any rest may be computed too."""
        buffer = self.buffers[view.buffer]
        is_alloc = isinstance(buffer, Alloc) and not slot_index(view, buffer, self.slotless)
        return is_alloc and self.has_no_offset(view)

    def is_fragment(self, view: View) -> bool:
        return self.is_plain(view) and self.allocate.get(view.memory) == _FRAGMENT

    def mma(self, stmt: Mma) -> None:
        if self.library.product(stmt.primitive) is None:
            self.plain_product(stmt)
            return
        for view in (stmt.left, stmt.right, stmt.target):
            is_alloc = isinstance(self.buffers[view.buffer], Alloc)
            if is_alloc and self.has_no_offset(view):
                continue
            rule = "whose operands are whole tiles in shared memory or fragments"
            found = "an operand is a part of" if is_alloc else "an operand is in"
            name = f"`{view.buffer}`" if is_alloc else f"{view.memory}: `{view.buffer}`"
            raise TargetError(f"`{stmt.primitive}` is a `T.gemm`, {rule}; {found} {name}")
        factors = ((stmt.left, "a" in stmt.transposed, 1), (stmt.right, "b" in stmt.transposed, 0))
        for view, is_transposed, depth in factors:
            self.clear_beyond(view, 1 - depth if is_transposed else depth)
        views = (stmt.left, stmt.right, stmt.target)
        regions = [self.region(view, self.tile(view)) for view in views]
        flags = ""
        if "a" in stmt.transposed:
            flags += ", transpose_A=True"
        if "b" in stmt.transposed:
            flags += ", transpose_B=True"
        if self.has_rows:  # each row of a product is in one warp, where it can be reduced
            flags += ", policy=T.GemmWarpPolicy.FullRow"
        self.lines.add(f"T.gemm({', '.join(regions)}{flags})")

    def clear_beyond(self, view: View, axis: int) -> None:
        """Zeros beyond the depth that a product sums over, if the copy has not left them there."""
        full, extent = self.tile(view), view.shape[axis]
        if extent == affine(full[axis]) or self.padded.get(view.buffer) == view.shape:
            return
        dtype = self.buffers[view.buffer].dtype
        with (
            self.parallel([affine(each) for each in full]) as along,
            self.lines.block(f"if {along[axis]} >= {py_number(extent)}:"),
        ):
            element = self.elements(along).operand(view, along)
            self.lines.add(f"{element} = {self.elements([]).constant(0, dtype)}")

    def plain_product(self, stmt: Mma) -> None:
        """Each thread sums its own elements."""
        wide = self.dtype(stmt.target)
        step = self.fresh("step")
        with (
            self.parallel(stmt.target.shape) as (i, j),
            self.lines.block(f"for {step} in T.serial({py_number(stmt.depth)}):"),
        ):
            left = [step, i] if "a" in stmt.transposed else [i, step]
            right = [j, step] if "b" in stmt.transposed else [step, j]
            elements = self.elements([i, j])
            target = elements.operand(stmt.target, [i, j])
            first = f'T.Cast("{wide}", {elements.operand(stmt.left, left)})'
            second = f'T.Cast("{wide}", {elements.operand(stmt.right, right)})'
            self.lines.add(f"{target} = {target} + {first} * {second}")

    def call(self, stmt: Call) -> None:
        function = self.library.symbols.get(stmt.symbol)
        if function is None:
            raise TargetError(f"{self.library.name} has no symbol `{stmt.symbol}`")
        given: list[str] = []
        for argument in stmt.arguments:
            match argument:
                case Passed():
                    view = argument.view
                    first = self.elements([]).operand(view, ["0"] * view.rank)
                    given.append(f"T.address_of({first})")
                case Affine():
                    given.append(py_number(argument))
                case _:
                    given.append(py_constant(argument.value, argument.dtype))
        text = "".join(f", {each}" for each in given)
        self.lines.add(f'T.evaluate(T.call_extern("void", "{function}"{text}))')

    @contextmanager
    def parallel(self, shape: Sequence[Affine]) -> Generator[list[str]]:
        """A parallel loop over the constant bounds of a shape; gives the position on each axis."""
        bounds = [_bound(extent) for extent in shape]
        along = [
            "0" if extent == affine(1) else self.fresh(f"e{axis}")
            for axis, extent in enumerate(shape)
        ]
        loops = [(n, str(b)) for n, b in zip(along, bounds, strict=True) if n != "0"]
        if not loops:
            yield along
            return
        names, extents = (", ".join(parts) for parts in zip(*loops, strict=True))
        with self.lines.block(f"for {names} in T.Parallel({extents}):"):
            tests = _tests(along, shape)
            if not tests:
                yield along
                return
            with self.lines.block(f"if {_all(tests)}:"):
                yield along

    def elements(self, along: Sequence[str]) -> _TileElements:
        return _TileElements(self.buffers, along, self.slotless)

    def region(self, view: View, extents: Sequence[int]) -> str:
        """A view with constant extents; a whole buffer is its name."""
        buffer, name = self.buffers[view.buffer], py_name(view.buffer)
        slot = slot_index(view, buffer, self.slotless)
        is_whole = isinstance(buffer, Alloc) and tuple(extents) == buffer.shape and not slot
        if is_whole and not any(view.offsets[axis] != Affine() for axis in range(len(extents))):
            return name
        sizes = iter(extents)
        axes = list(slot)
        for offset, extent in zip(view.offsets, view.extents, strict=True):
            start = py_number(offset)
            end = "" if extent is None else f" : {py_sum(offset, str(next(sizes)))}"
            axes.append(start + end)
        return f"{name}[{', '.join(axes)}]"

    def dtype(self, view: View) -> str:
        return py_dtype(self.buffers[view.buffer].dtype)


def _tests(along: Sequence[str], shape: Sequence[Affine]) -> list[str]:
    """What holds of a position inside of the extents that are not constant."""
    pairs = zip(along, shape, strict=True)
    return [f"{at} < {py_number(extent)}" for at, extent in pairs if not extent.is_constant]


def _all(tests: Sequence[str]) -> str:
    condition = tests[0]
    for test in tests[1:]:
        condition = f"T.And({condition}, {test})"
    return condition


def _range(stmt: For | ParallelFor) -> str:
    extent = py_number(stmt.extent)
    if isinstance(stmt, For) and stmt.pipelined > 1:
        return f"T.Pipelined({extent}, num_stages={stmt.pipelined})"
    return f"T.serial({extent})"


def _axes(view: View, buffers: Mapping[str, Buffer]) -> list[tuple[Affine, Affine, Affine]]:
    """The offset, the extent and the buffer's extent of each of a view's own axes."""
    whole = [affine(extent) for extent in buffers[view.buffer].shape]
    axes = zip(view.offsets, view.extents, whole, strict=True)
    return [(offset, extent, end) for offset, extent, end in axes if extent is not None]


def _tile(axis: tuple[Affine, Affine, Affine]) -> int | None:
    """The tile that an extent is the rest of: it is constant, or cut off where the array ends."""
    offset, extent, end = axis
    if extent.is_constant:
        return extent.value
    for operand in _operands(extent):
        if operand.is_constant and extent == minimum(operand, end - offset):
            return operand.value
    return None


def _bound(extent: Affine) -> int:
    """A constant that an extent does not exceed."""
    bounds = [operand.value for operand in _operands(extent) if operand.is_constant]
    if not bounds:
        raise TargetError(f"TileLang's parallel loops are constant, `{extent}` is not")
    return min(bounds)


def _operands(extent: Affine) -> tuple[Affine, ...]:
    atom = extent.terms[0][0] if extent.terms else None
    is_minimum = isinstance(atom, Min) and extent == Affine(0, ((atom, 1),))
    return atom.operands if is_minimum and isinstance(atom, Min) else (extent,)
