"""TVMScript: a TensorIR function for each kernel, with `T.call_extern` for the vendor's calls.

It is text for TVM 0.27 (`from tvm.script import tirx as T`); TVM itself is never imported. The
functions take a handle for each parameter, then, where the library wants scratch memory as
parameters, one for each allocation. Every operand of a call is an `access_ptr`: other forms give a
function two prototypes, or let TVM shrink an allocation to the elements that it sees.

A machine whose kernels have several threads gets its grid bound to blocks; one thread of each block
runs the statements, and the vendor's functions use the others.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager

from eas.ir.types import F32, F64, DType
from eas.septran.flat.affine import Affine, affine
from eas.septran.flat.lines import Lines
from eas.septran.flat.nodes import (
    Alloc,
    Barrier,
    Copy,
    Expr,
    Fill,
    For,
    If,
    Kernel,
    Map,
    Mma,
    Module,
    ParallelFor,
    Reduce,
    Stmt,
    UnaryKind,
    View,
    walk,
)
from eas.septran.flat.operand_types import dtype_of
from eas.septran.targets.c_text import row_stride, strides_of
from eas.septran.targets.calls import Address, Argument, DtypeCode, Stride, chooser_for
from eas.septran.targets.codegen_dsa import allocations
from eas.septran.targets.legalize import legalize
from eas.septran.targets.library import Library, TargetError
from eas.septran.targets.origins import Comments
from eas.septran.targets.python_text import (
    ScriptElements,
    buffer_shape,
    py_constant,
    py_dtype,
    py_name,
    py_number,
    py_tuple,
)

_BLOCKS = ("blockIdx.x", "blockIdx.y", "blockIdx.z")
_SCOPES = {"SHARED": "shared", "REGISTER": "local"}


def print_tvmscript(module: Module, library: Library) -> str:
    """The text of a Python file with a function for each kernel, to be called in order."""
    legal = legalize(module, library)
    lines = Lines("    ")
    lines.add("from tvm.script import tirx as T")
    for kernel in legal.kernels:
        lines.add("")
        lines.add("")
        _KernelScript(kernel, legal, library, lines).print()
    return lines.text()


class _TensorElements(ScriptElements):
    """Expressions that TVM's C has functions for: it has no `exp2` and no `fabs`."""

    def unary(self, kind: UnaryKind, operand: Expr) -> str:
        dtype = dtype_of(operand, self.buffers)
        if kind == "exp2":
            return f"T.pow({self.constant(2.0, dtype)}, {self.expr(operand)})"
        if kind == "abs" and dtype.is_float:
            text = self.expr(operand)
            return f"T.max({text}, -{text})"
        return super().unary(kind, operand)


class _KernelScript:
    """Prints one kernel."""

    def __init__(self, kernel: Kernel, module: Module, library: Library, lines: Lines) -> None:
        self.kernel = kernel
        self.sizes = module.sizes
        self.library = library
        self.lines = lines
        self.chooser = chooser_for(kernel, library)
        self.buffers = self.chooser.buffers
        loops = (stmt for stmt in walk(kernel.body) if isinstance(stmt, For | ParallelFor))
        variables = [*(name for name, _ in kernel.grid), *(loop.variable for loop in loops)]
        self.taken = {py_name(name) for name in (*self.buffers, *variables, *self.sizes)}
        self.is_on_blocks = kernel.threads > 1
        self.comments = Comments(kernel, has_allocations=False)

    def print(self) -> None:
        self.lines.add("@T.prim_func")
        given = [*self.kernel.params]
        scratch = allocations(self.kernel)
        is_given = self.library.scratch == "parameter"
        handles = [py_name(each.name) for each in (*given, *(scratch if is_given else ()))]
        head = ", ".join(f"{name}_handle: T.handle" for name in handles)
        with self.lines.block(f"def {py_name(self.kernel.name)}({head}):"):
            self.lines.add(f'T.func_attr({{"global_symbol": "{py_name(self.kernel.name)}"}})')
            for size in self.used_sizes():
                self.lines.add(f"{py_name(size)} = T.int32()")
            for each in (*given, *scratch):
                name, shape = py_name(each.name), py_tuple(buffer_shape(each))
                declared = f'{shape}, "{py_dtype(each.dtype)}"'
                if each in given or is_given:
                    self.lines.add(f"{name} = T.match_buffer({name}_handle, {declared})")
                else:
                    scope = _SCOPES.get(each.memory, "global") if self.is_on_blocks else "global"
                    comment = f"  # {each.memory}"
                    text = f'{name} = T.alloc_buffer({declared}, scope="{scope}"){comment}'
                    self.lines.add(text)
            if self.has_narrow_sums():
                total = self.fresh(_TOTAL)
                self.lines.add(f'{total} = T.alloc_buffer((1,), "float32", scope="local")')
            self.grid(list(enumerate(self.kernel.grid)))

    def used_sizes(self) -> list[str]:
        names = (extent.names for param in self.kernel.params for extent in param.shape)
        used = frozenset[str]().union(*names)
        return [size for size in self.sizes if size in used]

    def grid(self, grid: Sequence[tuple[int, tuple[str, Affine]]]) -> None:
        if not grid:
            self.body(self.kernel.body)
            return
        (position, (name, extent)), *rest = grid
        bound = py_number(extent)
        how = f"T.serial({bound})"
        if self.is_on_blocks:
            # The last axis of the grid is the fastest one.
            thread = _BLOCKS[len(self.kernel.grid) - 1 - position]
            how = f'T.thread_binding({bound}, thread="{thread}")'
        with self.lines.block(f"for {py_name(name)} in {how}:"):
            self.grid(rest)

    def body(self, body: Sequence[Stmt]) -> None:
        if all(isinstance(stmt, Alloc) for stmt in body):
            self.lines.add("T.evaluate(0)")
        for stmt in body:
            comment = self.comments.of(stmt)
            if comment:
                self.lines.add(f"# {comment}")
            match stmt:
                case Alloc():
                    pass  # declared at the start
                case For() | ParallelFor():
                    with self.loop(py_name(stmt.variable), stmt.extent):
                        self.body(stmt.body)
                case If():
                    condition = f"{py_number(stmt.left)} {stmt.comparison} {py_number(stmt.right)}"
                    with self.lines.block(f"if {condition}:"):
                        self.body(stmt.body)
                case Barrier():
                    self.barrier(stmt)
                case _:
                    self.simple(stmt)

    @contextmanager
    def loop(self, variable: str, extent: Affine) -> Generator[None]:
        with self.lines.block(f"for {variable} in T.serial({py_number(extent)}):"):
            yield

    def barrier(self, stmt: Barrier) -> None:
        scope = _SCOPES.get(stmt.memory, "global")
        self.lines.add(f'T.evaluate(T.tvm_storage_sync("{scope}"))')

    def simple(self, stmt: Stmt) -> None:
        chosen = self.chooser.choose(stmt)
        if chosen is not None:
            for call in chosen:
                given = "".join(f", {self.argument(each)}" for each in call.arguments)
                text = f'T.evaluate(T.call_extern("void", "{call.function}"{given}))'
                self.lines.add(text)
            return
        match stmt:
            case Copy():
                self.copy(stmt)
            case Fill():
                self.fill(stmt)
            case Map():
                self.map(stmt)
            case Reduce():
                self.reduce(stmt)
            case Mma():
                self.mma(stmt)
            case _:
                raise TargetError(f"TVMScript has no text for {type(stmt).__name__}")

    def argument(self, argument: Argument) -> str:
        match argument:
            case Address():
                return self.address(argument.view)
            case Stride():
                return _product(row_stride(argument.view, self.buffers[argument.view.buffer]))
            case DtypeCode():
                return str(argument.code)
            case Affine():
                return py_number(argument)
            case float() | int():
                return py_constant(argument, F64)
            case _:
                return py_constant(argument.value, argument.dtype)

    def address(self, view: View) -> str:
        buffer = self.buffers[view.buffer]
        parts: list[str] = []
        strides = strides_of(buffer)
        if isinstance(buffer, Alloc) and view.slot is not None and view.slot != Affine():
            slot_size = [affine(extent) for extent in buffer.shape[:-1]]
            slot_size.append(affine(buffer.shape[-1] + buffer.pad) if buffer.shape else affine(1))
            parts.append(_product([view.slot, *slot_size]))
        for offset, stride in zip(view.offsets, strides, strict=True):
            if offset != Affine():
                parts.append(_product([offset, *stride]))
        start = f", offset={' + '.join(parts)}" if parts else ""
        return f'{py_name(view.buffer)}.access_ptr("rw"{start})'

    @contextmanager
    def loops(self, shape: Sequence[Affine]) -> Generator[list[str]]:
        """Loops over all elements of a shape; gives the position on each axis."""
        with ExitStack() as nest:
            along: list[str] = []
            for axis, extent in enumerate(shape):
                along.append("0" if extent == affine(1) else self.fresh(f"e{axis}"))
                if along[-1] != "0":
                    nest.enter_context(self.loop(along[-1], extent))
            yield along

    def fresh(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        return name

    def elements(self, along: Sequence[str] = ()) -> _TensorElements:
        return _TensorElements(self.buffers, along)

    def copy(self, stmt: Copy) -> None:
        source, target = (self.buffers[v.buffer].dtype for v in (stmt.source, stmt.target))
        with self.loops(stmt.source.shape) as along:
            value = self.elements().element(stmt.source, along)
            value = value if source == target else f'T.Cast("{py_dtype(target)}", {value})'
            self.lines.add(f"{self.elements().element(stmt.target, along)} = {value}")

    def fill(self, stmt: Fill) -> None:
        dtype = self.buffers[stmt.target.buffer].dtype
        with self.loops(stmt.target.shape) as along:
            value = py_constant(stmt.value, dtype)
            self.lines.add(f"{self.elements().element(stmt.target, along)} = {value}")

    def map(self, stmt: Map) -> None:
        with self.loops(stmt.target.shape) as along:
            value = self.elements(along).expr(stmt.value)
            self.lines.add(f"{self.elements().element(stmt.target, along)} = {value}")

    def reduce(self, stmt: Reduce) -> None:
        shape, axis = stmt.source.shape, stmt.axis
        with self.loops([*shape[:axis], *shape[axis + 1 :]]) as along:
            is_kept = stmt.target.rank == len(shape)
            at = [*along[:axis], "0", *along[axis:]] if is_kept else along
            target = self.elements().element(stmt.target, at)
            with self.accumulated(stmt.target, target, shape[axis]) as (total, step):
                inner = [*along[:axis], step, *along[axis:]]
                value = self.widened(stmt.source, inner, stmt.target)
                self.lines.add(f"{total} = {_COMBINED[stmt.kind].format(total, value)}")

    def mma(self, stmt: Mma) -> None:
        with self.loops(stmt.target.shape) as (i, j):
            target = self.elements().element(stmt.target, [i, j])
            with self.accumulated(stmt.target, target, stmt.depth) as (total, step):
                left = [step, i] if "a" in stmt.transposed else [i, step]
                right = [j, step] if "b" in stmt.transposed else [step, j]
                first = self.widened(stmt.left, left, stmt.target)
                second = self.widened(stmt.right, right, stmt.target)
                self.lines.add(f"{total} = {total} + {first} * {second}")

    @contextmanager
    def accumulated(self, view: View, target: str, extent: Affine) -> Generator[tuple[str, str]]:
        """A loop that accumulates one element, in f32 for numbers of 16 bits.

        Gives the accumulator and the loop's variable.
        """
        dtype, step = self.buffers[view.buffer].dtype, self.fresh("step")
        if not _is_narrow(dtype):
            with self.loop(step, extent):
                yield target, step
            return
        total = f"{self.fresh(_TOTAL)}[0]"
        self.lines.add(f'{total} = T.Cast("float32", {target})')
        with self.loop(step, extent):
            yield total, step
        self.lines.add(f'{target} = T.Cast("{py_dtype(dtype)}", {total})')

    def has_narrow_sums(self) -> bool:
        """Whether some numbers of 16 bits are accumulated by loops."""
        sums = (stmt for stmt in walk(self.kernel.body) if isinstance(stmt, Mma | Reduce))
        return any(
            _is_narrow(self.buffers[stmt.target.buffer].dtype) and self.chooser.choose(stmt) is None
            for stmt in sums
        )

    def widened(self, view: View, along: Sequence[str], target: View) -> str:
        """An element in the dtype of what it is accumulated in."""
        dtype = self.buffers[target.buffer].dtype
        wide = F32 if _is_narrow(dtype) else dtype
        text = self.elements().element(view, along)
        is_same = self.buffers[view.buffer].dtype == wide
        return text if is_same else f'T.Cast("{py_dtype(wide)}", {text})'


_TOTAL = "total"
_COMBINED = {
    "add": "{} + {}",
    "mul": "{} * {}",
    "max": "T.max({}, {})",
    "min": "T.min({}, {})",
}


def _is_narrow(dtype: DType) -> bool:
    return dtype.is_float and dtype.bits == 16


def _product(factors: Sequence[Affine]) -> str:
    """A product of affine numbers; a constant is multiplied into an affine one."""
    total = affine(1)
    symbolic: list[Affine] = []
    for factor in factors:
        if factor.is_constant:
            total = total * factor
        else:
            symbolic.append(factor)
    if not symbolic:
        return py_number(total)
    first = symbolic[0] * total
    if len(symbolic) == 1:
        return py_number(first)
    return " * ".join(f"({py_number(each)})" for each in (first, *symbolic[1:]))
