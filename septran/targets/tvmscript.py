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
from contextlib import AbstractContextManager, contextmanager

from eas.ir.types import F32, F64, DType
from eas.septran.flat.affine import Affine, affine
from eas.septran.flat.lines import Lines
from eas.septran.flat.nodes import (
    Alloc,
    Barrier,
    Copy,
    Expr,
    For,
    If,
    Kernel,
    Mma,
    Module,
    ParallelFor,
    Reduce,
    Stmt,
    Unary,
    View,
    walk,
)
from eas.septran.flat.operand_types import dtype_of
from eas.septran.targets.c_text import row_stride, strides_of
from eas.septran.targets.calls import Address, Argument, Chosen, DtypeCode, Stride
from eas.septran.targets.codegen_dsa import allocations
from eas.septran.targets.kernel_text import LoopText, variables
from eas.septran.targets.legalize import legalize
from eas.septran.targets.library import Library
from eas.septran.targets.origins import Comments
from eas.septran.targets.python_text import (
    ScriptElements,
    buffer_shape,
    py_condition,
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

    def unary(self, expr: Unary) -> str:
        dtype = dtype_of(expr.operand, self.buffers)
        if expr.kind == "exp2":
            return f"T.pow({self.constant(2.0, dtype)}, {self.expr(expr.operand)})"
        if expr.kind == "abs" and dtype.is_float:
            text = self.expr(expr.operand)
            return f"T.max({text}, -{text})"
        return super().unary(expr)


class _KernelScript(LoopText):
    """Prints one kernel."""

    language = "TVMScript"

    def __init__(self, kernel: Kernel, module: Module, library: Library, lines: Lines) -> None:
        super().__init__(kernel, library, lines, Comments(kernel, has_allocations=False))
        self.sizes = module.sizes
        names = (*self.buffers, *variables(kernel), *self.sizes)
        self.taken = {py_name(name) for name in names}
        self.is_on_blocks = kernel.threads > 1

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
        super().body(body)

    def commented(self, text: str) -> str:
        return f"# {text}"

    def repeat(self, stmt: For | ParallelFor) -> None:
        with self.loop(py_name(stmt.variable), stmt.extent):
            self.body(stmt.body)

    def branch(self, stmt: If) -> AbstractContextManager[None]:
        return self.lines.block(f"if {py_condition(stmt)}:")

    @contextmanager
    def loop(self, variable: str, extent: Affine) -> Generator[None]:
        with self.lines.block(f"for {variable} in T.serial({py_number(extent)}):"):
            yield

    def alloc(self, stmt: Alloc) -> None:
        """It is declared at the start."""

    def barrier(self, stmt: Barrier) -> None:
        scope = _SCOPES.get(stmt.memory, "global")
        self.lines.add(f'T.evaluate(T.tvm_storage_sync("{scope}"))')

    def call(self, call: Chosen) -> None:
        given = "".join(f", {self.argument(each)}" for each in call.arguments)
        self.lines.add(f'T.evaluate(T.call_extern("void", "{call.function}"{given}))')

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

    def element(self, view: View, along: Sequence[str]) -> str:
        return _TensorElements(self.buffers, ()).operand(view, along)

    def assign(self, target: View, along: Sequence[str], value: str) -> None:
        self.lines.add(f"{self.element(target, along)} = {value}")

    def constant(self, value: float, dtype: DType) -> str:
        return py_constant(value, dtype)

    def copied(self, stmt: Copy, along: Sequence[str]) -> str:
        return self.element_as(self.dtype(stmt.target), stmt.source, along)

    def computed(self, expr: Expr, dtype: DType, along: Sequence[str]) -> str:
        return _TensorElements(self.buffers, along).expr(expr)

    def combine(self, stmt: Reduce, total: str, along: Sequence[str]) -> None:
        value = self.element_as(_wide(self.dtype(stmt.target)), stmt.source, along)
        self.lines.add(f"{total} = {_COMBINED[stmt.kind].format(total, value)}")

    def add_product(self, stmt: Mma, total: str, left: Sequence[str], right: Sequence[str]) -> None:
        wide = _wide(self.dtype(stmt.target))
        first = self.element_as(wide, stmt.left, left)
        second = self.element_as(wide, stmt.right, right)
        self.lines.add(f"{total} = {total} + {first} * {second}")

    @contextmanager
    def accumulated(
        self, view: View, along: Sequence[str], extent: Affine
    ) -> Generator[tuple[str, str]]:
        dtype, step = self.dtype(view), self.fresh("step")
        target = self.element(view, along)
        if _wide(dtype) == dtype:
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
        targets = [stmt.target for stmt in sums if self.chooser.choose(stmt) is None]
        return any(_wide(self.dtype(each)) != self.dtype(each) for each in targets)

    def element_as(self, dtype: DType, view: View, along: Sequence[str]) -> str:
        """An element of a view, in a dtype."""
        text = self.element(view, along)
        return text if self.dtype(view) == dtype else f'T.Cast("{py_dtype(dtype)}", {text})'


_TOTAL = "total"
_COMBINED = {
    "add": "{} + {}",
    "mul": "{} * {}",
    "max": "T.max({}, {})",
    "min": "T.min({}, {})",
}


def _wide(dtype: DType) -> DType:
    """What numbers of a dtype are accumulated in."""
    return F32 if dtype.is_float and dtype.bits == 16 else dtype


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
