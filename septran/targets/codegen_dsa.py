"""C for machines with a vendor's library: CodeGenDSA as a table of symbols.

A statement for which the library has a function becomes a call of it, any other one plain loops.
The entry function is named after the module and takes the arrays of its parameters, of its
temporary arrays and, where the library wants scratch memory as parameters, of all allocations;
then the sizes, as `int64_t`.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager

from eas.ir.types import DType
from eas.septran.flat.affine import Affine
from eas.septran.flat.element_meanings import accumulator
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
    Param,
    Reduce,
    Stmt,
    Temp,
    View,
    walk,
)
from eas.septran.targets.c_text import (
    Elements,
    c_cast,
    c_constant,
    c_name,
    c_number,
    c_product,
    c_type,
    element_index,
    load,
    row_stride,
    stored,
)
from eas.septran.targets.calls import Address, Argument, Chosen, DtypeCode, Stride
from eas.septran.targets.kernel_text import LoopText, variables
from eas.septran.targets.legalize import legalize
from eas.septran.targets.library import Library, TargetError
from eas.septran.targets.origins import Comments
from eas.septran.targets.repeated import name_repeated
from eas.septran.targets.spaces import check_reach, panel_index, panel_stride, place_arrays


def print_c(module: Module, library: Library) -> str:
    """The text of a C file with the module's entry function."""
    legal = legalize(module, library)
    lines = Lines("    ")
    lines.add(f"/* {module.name} for {module.machine} */")
    lines.add('#include "septran_elements.h"')
    for header in library.headers:
        lines.add(f'#include "{header}"')
    for kernel in legal.kernels:
        lines.add("")
        _print_kernel(kernel, legal, library, lines)
    lines.add("")
    _print_entry(legal, library, lines)
    return lines.text()


def scratch_parameters(kernel: Kernel, library: Library) -> list[Alloc]:
    """The allocations of a kernel that its caller makes, where the library wants that."""
    if library.scratch != "parameter":
        return []
    return [alloc for alloc in allocations(kernel) if alloc.memory not in library.spaces]


def allocations(kernel: Kernel) -> list[Alloc]:
    """The allocations of a kernel."""
    return [stmt for stmt in walk(kernel.body) if isinstance(stmt, Alloc)]


def _print_kernel(kernel: Kernel, module: Module, library: Library, lines: Lines) -> None:
    given: list[str] = [_parameter(param) for param in kernel.params]
    scratch = scratch_parameters(kernel, library)
    given += [f"{c_type(each.dtype)} *{c_name(each.name)}" for each in scratch]
    given += [f"int64_t {c_name(size)}" for size in module.sizes]
    with lines.block(f"static void run_{kernel.name}({', '.join(given)}) {{", "}"):
        CText(kernel, module.sizes, library, lines).grid(list(kernel.grid))


def _print_entry(module: Module, library: Library, lines: Lines) -> None:
    given = [_parameter(param) for param in module.params]
    given += [f"{c_type(temp.dtype)} *{c_name(temp.name)}" for temp in module.temps]
    for kernel in module.kernels:
        scratch = scratch_parameters(kernel, library)
        given += [f"{c_type(each.dtype)} *{kernel.name}_{each.name}" for each in scratch]
    given += [f"int64_t {c_name(size)}" for size in module.sizes]
    with lines.block(f"void {c_name(module.name)}({', '.join(given)}) {{", "}"):
        for kernel in module.kernels:
            names = [c_name(param.name) for param in kernel.params]
            scratch = scratch_parameters(kernel, library)
            names += [f"{kernel.name}_{each.name}" for each in scratch]
            names += [c_name(size) for size in module.sizes]
            lines.add(f"run_{kernel.name}({', '.join(names)});")


def _parameter(param: Param | Temp) -> str:
    const = "const " if isinstance(param, Param) and param.privilege == "r" else ""
    return f"{const}{c_type(param.dtype)} *{c_name(param.name)}"


class CText(LoopText):
    """Prints the statements of one kernel."""

    language = "C"

    def __init__(
        self, kernel: Kernel, sizes: Sequence[str], library: Library, lines: Lines
    ) -> None:
        comments = Comments(kernel, library.scratch != "parameter")
        super().__init__(kernel, library, lines, comments)
        self.taken = {c_name(name) for name in (*self.buffers, *variables(kernel), *sizes)}
        self.scope = [*sizes]  # the names that have a value, the innermost loop last
        self.addresses = place_arrays(kernel, library)

    def grid(self, grid: Sequence[tuple[str, Affine]]) -> None:
        if not grid:
            self.block(self.kernel.body)
            return
        (name, extent), *rest = grid
        with self.loop(c_name(name), extent):
            self.scope.append(name)
            self.grid(rest)

    @contextmanager
    def loop(self, variable: str, extent: Affine) -> Generator[None]:
        bound = c_number(extent)
        with self.lines.block(
            f"for (int64_t {variable} = 0; {variable} < {bound}; ++{variable}) {{", "}"
        ):
            yield

    def block(self, body: Sequence[Stmt]) -> None:
        """Statements, after the numbers that they would repeat."""
        named, body = name_repeated(body, self.scope, self.declared)
        for name, number in named:
            self.lines.add(f"const int64_t {name} = {c_number(number)};")
            self.scope.insert(0, name)
        self.body(body)
        self.scope = self.scope[len(named) :]

    def declared(self, name: str) -> str:
        """A new name, which nothing else has from now on."""
        name = self.fresh(c_name(name))
        self.taken.add(name)
        return name

    def commented(self, text: str) -> str:
        return f"/* {text.replace('*/', '* /')} */"

    def repeat(self, stmt: For | ParallelFor) -> None:
        with self.loop(c_name(stmt.variable), stmt.extent):
            self.scope.append(stmt.variable)
            self.block(stmt.body)
            self.scope.pop()

    def branch(self, stmt: If) -> AbstractContextManager[None]:
        condition = f"{c_number(stmt.left)} {stmt.comparison} {c_number(stmt.right)}"
        return self.lines.block(f"if ({condition}) {{", "}")

    def statement(self, stmt: Stmt) -> None:
        if self.chooser.choose(stmt) is None:
            check_reach(stmt, self.library)
        super().statement(stmt)

    def alloc(self, stmt: Alloc) -> None:
        if stmt.name in self.addresses:
            name, dtype = c_name(stmt.name), c_type(stmt.dtype)
            address = f"({dtype} *)(uintptr_t){self.addresses[stmt.name]:#x}"
            self.lines.add(f"{dtype} *const {name} = {address}; /* {stmt.memory} */")
            return
        if self.library.scratch == "parameter":
            return
        *rows, row = stmt.shape or (1,)
        count = stmt.slots * math.prod(rows) * (row + stmt.pad)
        place = f"/* {stmt.memory} */"
        self.lines.add(f"{c_type(stmt.dtype)} {c_name(stmt.name)}[{count}]; {place}")

    def barrier(self, stmt: Barrier) -> None:
        """One thread runs a kernel, so that there is nobody to wait for."""
        if self.kernel.threads != 1:
            message = f"C runs a kernel by one thread, `{self.kernel.name}` has"
            raise TargetError(f"{message} {self.kernel.threads} and a barrier")

    def call(self, call: Chosen) -> None:
        self.lines.add(f"{call.function}({', '.join(map(self.argument, call.arguments))});")

    def argument(self, argument: Argument) -> str:
        match argument:
            case Address():
                view = argument.view
                index = self.start(view)
                name = c_name(view.buffer)
                return name if index == "0" else f"&{name}[{index}]"
            case Stride():
                return self.stride(argument.view)
            case DtypeCode():
                return f"SEPTRAN_{argument.dtype.upper()}"
            case Affine():
                return c_number(argument)
            case float() | int():
                if math.isinf(argument):
                    return "-__builtin_inf()" if argument < 0 else "__builtin_inf()"
                return repr(argument)
            case _:
                return c_constant(argument.value, argument.dtype)

    def start(self, view: View) -> str:
        """The index of a view's first element."""
        buffer, space = self.buffers[view.buffer], self.library.spaces.get(view.memory)
        if space is not None and isinstance(buffer, Alloc):
            return c_number(panel_index(view, buffer, space))
        return element_index(view, buffer, ["0"] * view.rank)

    def stride(self, view: View) -> str:
        buffer, space = self.buffers[view.buffer], self.library.spaces.get(view.memory)
        if space is not None and isinstance(buffer, Alloc):
            return str(panel_stride(buffer, space))
        return c_product(row_stride(view, buffer))

    def element(self, view: View, along: Sequence[str]) -> str:
        return f"{c_name(view.buffer)}[{element_index(view, self.buffers[view.buffer], along)}]"

    def value(self, view: View, along: Sequence[str]) -> str:
        return load(self.element(view, along), self.dtype(view))

    def assign(self, target: View, along: Sequence[str], value: str) -> None:
        self.lines.add(f"{self.element(target, along)} = {value};")

    def constant(self, value: float, dtype: DType) -> str:
        return stored(c_constant(value, dtype), dtype)

    def copied(self, stmt: Copy, along: Sequence[str]) -> str:
        source, target = self.dtype(stmt.source), self.dtype(stmt.target)
        if source == target:
            return self.element(stmt.source, along)
        return stored(c_cast(self.value(stmt.source, along), source, target), target)

    def computed(self, expr: Expr, dtype: DType, along: Sequence[str]) -> str:
        return stored(Elements(self.buffers, along).expr(expr), dtype)

    def combine(self, stmt: Reduce, total: str, along: Sequence[str]) -> None:
        wide = self.accumulator(stmt.target)
        combined = _combined(stmt.kind, total, self.value(stmt.source, along), wide)
        self.lines.add(f"{total} = {combined};")

    def add_product(self, stmt: Mma, total: str, left: Sequence[str], right: Sequence[str]) -> None:
        wide = self.accumulator(stmt.target)
        first, second = self.value(stmt.left, left), self.value(stmt.right, right)
        self.lines.add(f"{total} += ({wide}){first} * ({wide}){second};")

    def accumulator(self, view: View) -> str:
        return c_type(accumulator(self.dtype(view)))

    @contextmanager
    def accumulated(
        self, view: View, along: Sequence[str], extent: Affine
    ) -> Generator[tuple[str, str]]:
        dtype = self.dtype(view)
        total, step = self.fresh("total"), self.fresh("step")
        target = self.element(view, along)
        with ExitStack() as scope:
            if all(position == "0" for position in along):  # no loop around it is a scope
                scope.enter_context(self.lines.block("{", "}"))
            self.lines.add(f"{self.accumulator(view)} {total} = {load(target, dtype)};")
            with self.loop(step, extent):
                yield total, step
            self.lines.add(f"{target} = {stored(total, dtype)};")


def _combined(kind: str, total: str, value: str, wide: str) -> str:
    if kind in ("add", "mul"):
        return f"{total} {'+' if kind == 'add' else '*'} {value}"
    suffix = {"float": "f32", "double": "f64"}.get(wide, "u64" if wide[0] == "u" else "i64")
    return f"septran_{kind}_{suffix}({total}, {value})"
