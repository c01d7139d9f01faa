"""Checks a flat module; every rule has a name.

    name       names are words, and no name hides another one in the same kernel
    parameter  a kernel's parameters are those of the module or its temporary arrays
    defined    buffers, variables and sizes are defined before they are used
    memory     a view names its buffer's memory, which the machine has
    capacity   the allocations that live at the same time fit into their memory
    number     slots, threads and stages are at least 1, and the machine has the processor
    rank       a view has an entry for each axis of its buffer
    bounds     a view lies inside of its buffer for all values of loops and sizes
    slot       a slot is one of its buffer's
    shape      the shapes of a statement's views agree
    dtype      the dtypes of a statement's views and expressions agree
    overlap    a statement writes what it reads in place, or not at all
    privilege  what is `r` is not written, what is `w` is written before it is read
    token      every copy that is started is waited for once
    barrier    all threads reach a barrier
    race       what one parallel iteration writes, no other touches
    reduction  buffers of `reduce add` are only added to
    pipeline   a pipelined loop has copies that can run ahead, into slots of their own

Bounds, slots and shapes are proved, or else values are looked for that refute them. What is neither
proved nor refuted is accepted, and the interpreter decides it. Races must be proved absent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from eas.septran.flat.affine import ZERO, Affine, Mod
from eas.septran.flat.bounds import Scope
from eas.septran.flat.copy_tokens import find_token_faults
from eas.septran.flat.machine import Machine
from eas.septran.flat.nodes import (
    Alloc,
    Barrier,
    Buffer,
    Call,
    Const,
    Copy,
    Expr,
    Fill,
    For,
    If,
    Index,
    Kernel,
    Map,
    Mma,
    Module,
    ParallelFor,
    Param,
    Reduce,
    Start,
    Stmt,
    View,
    Wait,
    accesses,
    operands_of,
    walk,
)
from eas.septran.flat.operand_types import OperandError, dtype_of, shape_of
from eas.septran.flat.pipelines import prefetched
from eas.septran.flat.races import are_disjoint, find_races, is_accumulation
from eas.septran.flat.text import print_stmt, print_view
from eas.support.records import frozen, replace


@frozen
class Violation:
    """A rule that a module breaks, and where."""

    rule: str
    message: str
    kernel: str = ""
    stmt: Stmt | None = None

    def __str__(self) -> str:
        where = f" in `{self.kernel}`" if self.kernel else ""
        line = "" if self.stmt is None else "\n  " + print_stmt(self.stmt).splitlines()[0]
        return f"[{self.rule}]{where}: {self.message}{line}"


class FlatVerifyError(Exception):
    """A module that breaks rules."""

    def __init__(self, violations: list[Violation]) -> None:
        super().__init__("\n".join(map(str, violations)))
        self.violations = violations


def verify(module: Module, machine: Machine | None = None) -> None:
    """Raises `FlatVerifyError` with all that is wrong with a module."""
    violations = find_violations(module, machine)
    if violations:
        raise FlatVerifyError(violations)


def find_violations(module: Module, machine: Machine | None = None) -> list[Violation]:
    """All that is wrong with a module."""
    found = list(_check_module(module))
    for kernel in module.kernels:
        check = _Check(module, kernel, machine)
        of_kernel = list(check.run())
        if not of_kernel:  # these read what the rules before them ensure
            of_kernel += check.whole_kernel_rules()
        found += of_kernel
    return found


def _check_module(module: Module) -> Iterator[Violation]:
    buffers = (*module.params, *module.temps)
    for names in ([k.name for k in module.kernels], [each.name for each in buffers]):
        for name in names:
            if not name.isidentifier():
                yield Violation("name", f"`{name}` is no word")
            if names.count(name) > 1:
                yield Violation("name", f"`{name}` is defined twice")
    for temp in module.temps:
        for name in frozenset[str]().union(*(each.names for each in temp.shape)):
            if name not in module.sizes:
                yield Violation("defined", f"no parameter has the size `{name}` of `{temp.name}`")
    sizes = {str(extent) for param in module.params for extent in param.shape}
    for name in module.sizes:
        if name not in sizes:
            yield Violation("defined", f"no axis has the size `{name}` by itself")


@frozen
class _Place:
    """What is known where a statement stands."""

    buffers: Mapping[str, Buffer]
    variables: frozenset[str]
    scope: Scope
    divergent: frozenset[tuple[str, str]]  # variables of parallel loops, with their processors
    conditions: frozenset[str]  # names that decide whether the statement is reached
    used: Mapping[str, int]  # bytes of the allocations around, by memory


class _Check:
    """The rules for one kernel."""

    def __init__(self, module: Module, kernel: Kernel, machine: Machine | None) -> None:
        self.module = module
        self.kernel = kernel
        self.machine = machine
        self.written = {param.name for param in kernel.params if param.privilege != "w"}

    def run(self) -> Iterator[Violation]:
        yield from self.parameters()
        scope = Scope()
        for name, extent in self.kernel.grid:
            yield from self.known(extent, frozenset(self.module.sizes), None)
            scope = scope.inside_loop(name, extent)
        variables = frozenset(name for name, _ in self.kernel.grid)
        if len(variables) < len(self.kernel.grid) or variables & set(self.module.sizes):
            yield self.violation("name", "two variables of the grid have one name", None)
        buffers: dict[str, Buffer] = {param.name: param for param in self.kernel.params}
        place = _Place(buffers, variables, scope, frozenset(), frozenset(), {})
        yield from self.body(self.kernel.body, place)

    def whole_kernel_rules(self) -> Iterator[Violation]:
        for stmt, message in find_token_faults(self.kernel, self.module.sizes):
            yield self.violation("token", message, stmt)
        for stmt, message in find_races(self.kernel):
            yield self.violation("race", message, stmt)

    def violation(self, rule: str, message: str, stmt: Stmt | None) -> Violation:
        return Violation(rule, message, self.kernel.name, stmt)

    def parameters(self) -> Iterator[Violation]:
        if self.kernel.threads < 1:
            yield self.violation("number", f"{self.kernel.threads} threads", None)
        outer = {each.name: each for each in (*self.module.params, *self.module.temps)}
        seen: set[str] = set()
        for param in self.kernel.params:
            yield from self.memory(param.memory, None)
            if param.name in seen:
                yield self.violation("name", f"`{param.name}` is defined twice", None)
            seen.add(param.name)
            given = outer.get(param.name)
            if given is None:
                message = f"`{param.name}` is neither a parameter of the module nor temporary"
                yield self.violation("parameter", message, None)
                continue
            ours = param.dtype, param.shape, param.memory
            if ours != (given.dtype, given.shape, given.memory):
                message = f"`{param.name}` is not what the module says it is"
                yield self.violation("parameter", message, None)
            if isinstance(given, Param) and given.privilege == "r" and param.privilege != "r":
                message = f"`{param.name}` is read only in the module"
                yield self.violation("privilege", message, None)

    def body(self, body: tuple[Stmt, ...], place: _Place) -> Iterator[Violation]:
        for stmt in body:
            match stmt:
                case Alloc():
                    yield from self.alloc(stmt, place)
                    used = {**place.used}
                    used[stmt.memory] = used.get(stmt.memory, 0) + stmt.bytes
                    place = replace(place, buffers={**place.buffers, stmt.name: stmt}, used=used)
                case For() | ParallelFor():
                    yield from self.loop(stmt, place)
                case If():
                    yield from self.condition(stmt, place)
                case _:
                    yield from self.simple(stmt, place)

    def alloc(self, stmt: Alloc, place: _Place) -> Iterator[Violation]:
        yield from self.fresh(stmt.name, place, stmt)
        yield from self.memory(stmt.memory, stmt)
        if stmt.slots < 1 or any(extent < 1 for extent in stmt.shape):
            yield self.violation("number", f"`{stmt.name}` has no elements", stmt)
        memory = None if self.machine is None else self.machine.memory(stmt.memory)
        total = place.used.get(stmt.memory, 0) + stmt.bytes
        if memory is not None and memory.capacity is not None and total > memory.capacity:
            message = f"{total} bytes of {stmt.memory} are in use, of {memory.capacity}"
            yield self.violation("capacity", message, stmt)

    def loop(self, stmt: For | ParallelFor, place: _Place) -> Iterator[Violation]:
        yield from self.fresh(stmt.variable, place, stmt)
        yield from self.known(stmt.extent, place.variables | set(self.module.sizes), stmt)
        scope = place.scope.inside_loop(stmt.variable, stmt.extent)
        inner = replace(
            place,
            scope=scope,
            variables=place.variables | {stmt.variable},
            conditions=place.conditions | stmt.extent.names,
        )
        if isinstance(stmt, ParallelFor):
            yield from self.proc(stmt.proc, stmt)
            yield from self.reductions(stmt, place)
            divergent = place.divergent | {(stmt.variable, stmt.proc)}
            inner = replace(inner, divergent=divergent, conditions=place.conditions)
        else:
            yield from self.pipeline(stmt, place)
        yield from self.body(stmt.body, inner)

    def condition(self, stmt: If, place: _Place) -> Iterator[Violation]:
        for number in (stmt.left, stmt.right):
            yield from self.known(number, place.variables | set(self.module.sizes), stmt)
        scope = place.scope.inside_if(stmt.left, stmt.comparison, stmt.right)
        conditions = place.conditions | stmt.left.names | stmt.right.names
        yield from self.body(stmt.body, replace(place, scope=scope, conditions=conditions))

    def reductions(self, stmt: ParallelFor, place: _Place) -> Iterator[Violation]:
        for name in stmt.reduced:
            if name not in place.buffers:
                yield self.violation("defined", f"nothing defines `{name}`", stmt)
        for inner in walk(stmt.body):
            touched = {view.buffer for view, _ in accesses(inner)} & set(stmt.reduced)
            for name in sorted(touched):
                if not is_accumulation(inner, name):
                    yield self.violation("reduction", f"`{name}` is only added to", inner)

    def pipeline(self, stmt: For, place: _Place) -> Iterator[Violation]:
        if stmt.pipelined < 1:
            yield self.violation("number", f"{stmt.pipelined} stages", stmt)
        if stmt.pipelined <= 1:
            return
        allocations = {n: each for n, each in place.buffers.items() if isinstance(each, Alloc)}
        copies = prefetched(stmt, allocations)
        if not copies:
            yield self.violation("pipeline", "no copy of the loop can run ahead", stmt)
        for copy in copies:
            if not _changes_slots(copy.target.slot, stmt):
                message = f"{stmt.pipelined} trips in a row do not use as many slots"
                yield self.violation("pipeline", message, copy)

    def simple(self, stmt: Stmt, place: _Place) -> Iterator[Violation]:
        known = place.variables | set(self.module.sizes)
        problems: list[Violation] = []
        for number in _numbers(stmt):
            problems += self.known(number, known, stmt)
        for view, _ in accesses(stmt):
            problems += self.view(view, place, stmt)
        yield from problems
        if problems:
            return
        yield from self.privileges(stmt, place)
        yield from self.overlaps(stmt, place)
        try:
            _AGREE.get(type(stmt), _agree_always)(self, stmt, place)
        except _Disagreement as problem:
            yield self.violation(problem.rule, str(problem), stmt)
        except OperandError as problem:
            yield self.violation("dtype", str(problem), stmt)
        if isinstance(stmt, Barrier):
            yield from self.barrier(stmt, place)

    def view(self, view: View, place: _Place, stmt: Stmt) -> Iterator[Violation]:
        buffer = place.buffers.get(view.buffer)
        if buffer is None:
            yield self.violation("defined", f"nothing defines `{view.buffer}`", stmt)
            return
        if view.memory != buffer.memory:
            message = f"`{view.buffer}` is in {buffer.memory}, not in {view.memory}"
            yield self.violation("memory", message, stmt)
        known = place.variables | set(self.module.sizes)
        problems: list[Violation] = []
        for number in (*view.offsets, *view.shape, view.slot or ZERO):
            problems += self.known(number, known, stmt)
        if len(view.offsets) != len(buffer.shape):
            message = f"{print_view(view)} has {len(view.offsets)} axes of {len(buffer.shape)}"
            problems.append(self.violation("rank", message, stmt))
        yield from problems
        if not problems:
            yield from self.bounds(view, buffer, place.scope, stmt)

    def bounds(self, view: View, buffer: Buffer, scope: Scope, stmt: Stmt) -> Iterator[Violation]:
        slots = buffer.slots if isinstance(buffer, Alloc) else 1
        slot = ZERO if view.slot is None else view.slot
        text = print_view(view)
        for values in self.refuted(scope, [slot, slots - 1 - slot]):
            yield self.violation("slot", f"{text} has no such slot{values}", stmt)
        limits: list[Affine] = []
        axes = zip(view.offsets, view.extents, buffer.shape, strict=True)
        for offset, extent, whole in axes:
            size = Affine(1) if extent is None else extent
            limits += [offset, size, whole - offset - size]
        for values in self.refuted(scope, limits):
            message = f"{text} is outside of `{view.buffer}`{values}"
            yield self.violation("bounds", message, stmt)

    def refuted(self, scope: Scope, numbers: list[Affine]) -> Iterator[str]:
        """` if` and values for which one of the numbers is negative, if some are found."""
        unsure = [number for number in numbers if not scope.proves(number)]
        if not unsure:
            return
        names = frozenset[str]().union(*(number.names for number in unsure))
        values = scope.counterexample(
            names, lambda values: all(number.evaluate(values) >= 0 for number in unsure)
        )
        if values is not None:
            bounding = (extent.names for name, extent in scope.loops if name in names)
            shown = names.union(*bounding)
            given = ", ".join(f"{n} = {v}" for n, v in values.items() if n in shown)
            yield f" if {given}" if given else ""

    def privileges(self, stmt: Stmt, place: _Place) -> Iterator[Violation]:
        for view, how in accesses(stmt):
            buffer = place.buffers[view.buffer]
            if not isinstance(buffer, Param):
                continue
            if buffer.privilege == "r" and how != "r":
                yield self.violation("privilege", f"`{buffer.name}` is read only", stmt)
            if how != "w" and buffer.name not in self.written:
                message = f"`{buffer.name}` is read, but nothing has written it"
                yield self.violation("privilege", message, stmt)
            if "w" in how:
                self.written.add(buffer.name)

    def overlaps(self, stmt: Stmt, place: _Place) -> Iterator[Violation]:
        """Element by element, in any order, must be the same as all elements at once."""
        touched = list(accesses(stmt))
        for target, how in touched:
            for view, other in touched:
                if "w" not in how or other != "r" or view.buffer != target.buffer:
                    continue
                is_in_place = isinstance(stmt, Map) and view == target
                if not is_in_place and not are_disjoint(view, target, place.scope):
                    message = f"{print_view(view)} is read while {print_view(target)} is written"
                    yield self.violation("overlap", message, stmt)

    def barrier(self, stmt: Barrier, place: _Place) -> Iterator[Violation]:
        yield from self.proc(stmt.proc, stmt)
        yield from self.memory(stmt.memory, stmt)
        for variable, proc in sorted(place.divergent):
            if variable in place.conditions and self.is_below(proc, stmt.proc):
                message = f"whether it is reached depends on `{variable}`"
                yield self.violation("barrier", message, stmt)

    def is_below(self, proc: str, other: str) -> bool:
        procs = () if self.machine is None else self.machine.procs
        if proc not in procs or other not in procs:
            return True
        return procs.index(proc) > procs.index(other)

    def fresh(self, name: str, place: _Place, stmt: Stmt) -> Iterator[Violation]:
        if not name.isidentifier():
            yield self.violation("name", f"`{name}` is no word", stmt)
        if name in place.buffers or name in place.variables or name in self.module.sizes:
            yield self.violation("name", f"`{name}` is defined already", stmt)

    def known(
        self, number: Affine, names: frozenset[str], stmt: Stmt | None
    ) -> Iterator[Violation]:
        for name in sorted(number.names - names):
            yield self.violation("defined", f"nothing defines `{name}`", stmt)

    def memory(self, name: str, stmt: Stmt | None) -> Iterator[Violation]:
        if self.machine is not None and self.machine.memory(name) is None:
            message = f"{self.machine.name} has no memory `{name}`"
            yield self.violation("memory", message, stmt)

    def proc(self, name: str, stmt: Stmt) -> Iterator[Violation]:
        if self.machine is not None and name not in self.machine.procs:
            message = f"{self.machine.name} has no processor `{name}`"
            yield self.violation("number", message, stmt)

    def require_same(
        self, left: tuple[Affine, ...], right: tuple[Affine, ...], place: _Place
    ) -> None:
        """Two shapes are equal, as far as can be said."""
        text = f"{_shape(left)} and {_shape(right)}"
        if len(left) != len(right):
            raise _Disagreement("shape", f"the shapes {text} differ")
        numbers = [sign * (a - b) for a, b in zip(left, right, strict=True) for sign in (1, -1)]
        for values in self.refuted(place.scope, numbers):
            raise _Disagreement("shape", f"the shapes {text} differ{values}")

    def require_fits(
        self, inner: tuple[Affine, ...], outer: tuple[Affine, ...], place: _Place
    ) -> None:
        text = f"{_shape(inner)} does not fit into {_shape(outer)}"
        if len(inner) != len(outer):
            raise _Disagreement("shape", f"the shapes {text} differ")
        numbers = [b - a for a, b in zip(inner, outer, strict=True)]
        for values in self.refuted(place.scope, numbers):
            raise _Disagreement("shape", f"{text}{values}")


class _Disagreement(Exception):
    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule


def _agree_always(check: _Check, stmt: Stmt, place: _Place) -> None:
    pass


def _agree_copy(check: _Check, stmt: Copy | Start, place: _Place) -> None:
    source, target = place.buffers[stmt.source.buffer], place.buffers[stmt.target.buffer]
    is_rounded = source.dtype.is_float and target.dtype.is_float
    if source.dtype != target.dtype and not is_rounded:
        raise _Disagreement("dtype", f"a copy of {source.dtype} to {target.dtype}")
    if stmt.fill is None:
        check.require_same(stmt.source.shape, stmt.target.shape, place)
    else:
        check.require_fits(stmt.source.shape, stmt.target.shape, place)


def _agree_map(check: _Check, stmt: Map, place: _Place) -> None:
    target = place.buffers[stmt.target.buffer].dtype
    found = dtype_of(stmt.value, place.buffers)
    if found != target:
        raise _Disagreement("dtype", f"{found} is stored as {target}")
    shape = stmt.target.shape
    for atom in _atoms(stmt.value):
        own = shape_of(atom, shape)
        if not own:
            continue
        if len(own) > len(shape):
            raise _Disagreement("shape", f"{_shape(own)} is not broadcast to {_shape(shape)}")
        pairs = [(a, b) for a, b in zip(own, shape[-len(own) :], strict=True) if a != Affine(1)]
        check.require_same(tuple(a for a, _ in pairs), tuple(b for _, b in pairs), place)


def _agree_reduce(check: _Check, stmt: Reduce, place: _Place) -> None:
    source, target = place.buffers[stmt.source.buffer], place.buffers[stmt.target.buffer]
    is_rounded = source.dtype.is_float and target.dtype.is_float
    if source.dtype.is_bool or (source.dtype != target.dtype and not is_rounded):
        raise _Disagreement("dtype", f"{source.dtype} is reduced to {target.dtype}")
    shape = stmt.source.shape
    if stmt.axis >= len(shape):
        raise _Disagreement("shape", f"there is no axis {stmt.axis} in {_shape(shape)}")
    kept = (Affine(1),) if stmt.target.rank == stmt.source.rank else ()
    wanted = (*shape[: stmt.axis], *kept, *shape[stmt.axis + 1 :])
    check.require_same(wanted, stmt.target.shape, place)


def _agree_mma(check: _Check, stmt: Mma, place: _Place) -> None:
    views = (stmt.target, stmt.left, stmt.right)
    if any(view.rank != 2 for view in views):
        raise _Disagreement("shape", "the factors and the sum of a product have two axes")
    target, left, right = (place.buffers[view.buffer].dtype for view in views)
    if left != right or left.is_bool or left.is_float != target.is_float:
        raise _Disagreement("dtype", f"{left} times {right} is added to {target}")
    m, k = stmt.left.shape[::-1] if "a" in stmt.transposed else stmt.left.shape
    k2, n = stmt.right.shape[::-1] if "b" in stmt.transposed else stmt.right.shape
    check.require_same((k, m, n), (k2, *stmt.target.shape), place)


def _agree_fill(check: _Check, stmt: Fill, place: _Place) -> None:
    dtype = place.buffers[stmt.target.buffer].dtype
    if not dtype.is_float and stmt.value != int(stmt.value):
        raise _Disagreement("dtype", f"{dtype} is filled with {stmt.value}")


_AGREE: dict[type[Stmt], Callable[[_Check, Stmt, _Place], None]] = {
    Copy: _agree_copy,
    Start: _agree_copy,
    Map: _agree_map,
    Reduce: _agree_reduce,
    Mma: _agree_mma,
    Fill: _agree_fill,
}  # pyright: ignore[reportAssignmentType]  # each function takes the statement that it is listed for


def _changes_slots(slot: Affine | None, loop: For) -> bool:
    """Whether a slot is `(variable + constant) % n` with n at least the number of stages."""
    if slot is None or len(slot.terms) != 1 or slot.constant:
        return False
    [(atom, coefficient)] = slot.terms
    if not isinstance(atom, Mod) or coefficient != 1 or atom.divisor < loop.pipelined:
        return False
    return atom.operand.coefficient(loop.variable) == 1 and len(atom.operand.terms) == 1


def _numbers(stmt: Stmt) -> Iterator[Affine]:
    """The affine numbers of a statement that are in no view."""
    match stmt:
        case Wait():
            yield stmt.keep
        case Call():
            yield from (each for each in stmt.arguments if isinstance(each, Affine))
        case Map():
            yield from (atom.value for atom in _atoms(stmt.value) if isinstance(atom, Index))
        case _:
            return


def _atoms(expr: Expr) -> Iterator[Expr]:
    inner = operands_of(expr)
    if not inner and not isinstance(expr, Const):
        yield expr
    for each in inner:
        yield from _atoms(each)


def _shape(shape: tuple[Affine, ...]) -> str:
    return f"[{', '.join(map(str, shape))}]"
