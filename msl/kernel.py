"""A whole MSL file: its header, helper functions, the kernel's parameters and its body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from eas.ir.nodes import (
    Assert,
    Compute,
    Function,
    Load,
    Param,
    Print,
    Value,
    operands_of,
    results_of,
    walk,
)
from eas.ir.pipeline import run
from eas.ir.report_sites import local_extents
from eas.ir.types import BF16, F64, DType, Pointer
from eas.msl.analysis.facts import Facts
from eas.msl.analysis.numbers import study
from eas.msl.cxx.atomics import only_atomic
from eas.msl.cxx.hints import suggest_names
from eas.msl.cxx.names import identifier, unique
from eas.msl.cxx.printer import Printer
from eas.msl.cxx.temporaries import place_temporaries
from eas.msl.cxx.tree import Shared
from eas.msl.layout.layout import Budget
from eas.msl.layout.ownership import MAX_THREADS, complete_layout
from eas.msl.lower.body import lower_body
from eas.msl.lower.lowering import Lowering
from eas.msl.ops.dtypes import type_name
from eas.msl.ops.errors import UnsupportedError
from eas.msl.ops.text import MAX_WIDTH, Writer
from eas.msl.pipeline import METAL, PREPARE, MetalOptions
from eas.msl.schedule.barriers import Backings, insert_barriers
from eas.msl.schedule.description import print_layout, print_schedule
from eas.msl.schedule.double_buffering import double_buffer_partials
from eas.msl.schedule.memory_planning import MAX_BYTES, bytes_of, describe_memory, overlay_arrays
from eas.msl.schedule.planner import make_plan
from eas.msl.schedule.steps import Plan
from eas.msl.schedule.threadgroup_arrays import Role, ThreadgroupArray
from eas.msl.schedule.value_sources import Finder
from eas.msl.schedule.variable_storage import assign_storage
from eas.support.escapes import escape
from eas.support.faults import Extent
from eas.support.location import Loc
from eas.support.records import frozen
from eas.support.report_buffer import Site

MAX_BUFFERS = 31

# The first one is the fastest; each of the others needs less threadgroup memory.
BUDGETS = (
    Budget(),
    Budget(reuses_memory=True),
    Budget(reuses_memory=True, keeps_factors=False),
    Budget(reuses_memory=True, strips=True),
    Budget(1, reuses_memory=True),
    Budget(1, reuses_memory=True, keeps_factors=False),
    Budget(1, reuses_memory=True, keeps_factors=False, strips=True),
    Budget(1, 2048, reuses_memory=True, keeps_factors=False, strips=True),
    Budget(1, 0, reuses_memory=True, keeps_factors=False, strips=True, pads=False),
)


@frozen
class Field:
    """A scalar in the struct of all scalars, at an offset in bytes."""

    parameter: int
    dtype: DType
    offset: int


@frozen
class Buffer:
    """What a launch binds at a buffer index.

    An `array` or a `scalar` is the parameter with that number; `scalars` is a struct with `fields`;
    `report` is the buffer of `eas.msl.lower.reports`. The kernel writes to it if it `is_written`.
    """

    kind: Literal["array", "scalar", "scalars", "report"]
    index: int
    parameter: int = -1
    is_written: bool = False
    fields: tuple[Field, ...] = ()


@frozen
class ThreadgroupMemory:
    """An array in threadgroup memory: its bytes, what it is for, and the source that it serves.

    Arrays that are overlaid are one, with the `reasons` of all of them. One that `is_allocated` was
    asked for; the writer adds the others.
    """

    name: str
    bytes: int
    reasons: tuple[str, ...]
    loc: Loc | None
    is_allocated: bool = False


@frozen
class MslKernel:
    """A kernel as text, and what a launch needs to know.

    It is launched with `threads` threads per program, and at most `programs` programs along each
    axis of the grid. `buffers` describes what is bound at which buffer index, `sites` the asserts
    and prints. `memory` is the threadgroup memory that the user allocates, `threadgroup_memory` all
    that it has. If it `is_threaded`, its lanes are threads.
    """

    text: str
    name: str
    threads: int
    metal_version: tuple[int, int]
    buffers: tuple[Buffer, ...]
    programs: int
    sites: tuple[Site, ...] = ()
    memory: tuple[Extent, ...] = ()
    is_threaded: bool = False
    threadgroup_memory: tuple[ThreadgroupMemory, ...] = ()


def write(function: Function, threads: int | None = None) -> MslKernel:
    """Compiles a kernel to MSL. The function is verified and its scopes are lowered.

    Ints wrap at their width, except in arithmetic that only feeds offsets and masks of loads and
    stores: there an overflow is the caller's mistake. Different array arguments do not alias.
    """
    low = _prepare_and_lower(function, threads)
    if bytes_of(low.shared.values()) > MAX_BYTES:
        message, table, loc = describe_memory(low.shared.values())
        loc = loc or low.function.body.ops[0].loc
        raise UnsupportedError(message, loc, tuple(table), _advise(function))
    kernel = _assemble(low)
    low.release()
    return kernel


def describe(function: Function, threads: int | None = None) -> tuple[str, str]:
    """The layout and the schedule of a kernel, as text; the function is what `write` takes."""
    low = _prepare_and_lower(function, threads)
    return print_layout(low.layout), print_schedule(low.plan)


def describe_tree(function: Function, threads: int | None = None) -> str:
    """The C++ tree of a kernel, as text; the function is what `write` takes."""
    from eas.msl.cxx.tree_text import print_tree  # not needed for what a compile makes

    low = _prepare_and_lower(function, threads)
    return print_tree(low.root, low.nodes, list(low.shared.values()), _names_of(low))


def list_memory(function: Function, threads: int | None = None) -> tuple[ThreadgroupMemory, ...]:
    """The threadgroup memory of a kernel, also if Metal has less; it is what `write` takes."""
    low = _prepare_and_lower(function, threads)
    return _assemble(low).threadgroup_memory


def _advise(function: Function) -> str:
    """The help for a kernel that needs too much memory: the constants that set the block sizes."""
    extents = {
        str(extent)
        for op in walk(function.body)
        for value in results_of(op)
        for extent in value.shape
        if extent > 1
    }
    sizes = [f"{name}={value}" for name, value in function.constants if value in extents]
    given = f": {', '.join(sizes)} now" if sizes else ""
    return f"use smaller blocks or arrays{given}"


def _check(function: Function, threads: int | None) -> None:
    if function.threads is not None and threads not in (None, function.threads):
        raise ValueError(f"`{function.name}` is written for {function.threads} threads")
    wanted = threads or function.threads or 1
    if not 1 <= wanted <= MAX_THREADS:
        loc = function.body.terminator.loc
        message = f"Metal runs up to {MAX_THREADS} threads per threadgroup, not {wanted}"
        raise UnsupportedError(message, loc)
    for param in function.params:
        if param.value.ty.dtype is F64:
            _check_dtype(param.value, f"the argument `{param.name}`", _first_use(function, param))
    for op in walk(function.body):
        if isinstance(op, Compute | Load):
            _check_dtype(op.result, "this value", op.loc)
            continue
        for value in results_of(op):
            _check_dtype(value, "this value", op.loc)


def _first_use(function: Function, param: Param) -> Loc:
    """Where an argument is first used; where the kernel ends, if it never is."""
    uses = (op.loc for op in walk(function.body) if param.value in operands_of(op))
    return next(uses, function.body.terminator.loc)


def _check_dtype(value: Value, what: str, loc: Loc) -> None:
    if value.ty.dtype is F64:
        raise UnsupportedError(f"Metal has no f64: {what} needs another dtype, such as f32", loc)


def choose_budget(function: Function, threads: int | None = None) -> Budget:
    """The budget that a function is lowered with, which `PREPARE` has led to."""
    _check(function, threads)
    return _lower_within(function, threads).layout.budget


def _prepare_and_lower(function: Function, threads: int | None) -> Lowering:
    _check(function, threads)
    return _lower_within(run(PREPARE, function, MetalOptions(threads)), threads)


def _lower_within(function: Function, threads: int | None) -> Lowering:
    """Lowers a function with the first budget that fits into threadgroup memory."""
    low: Lowering | None = None
    for budget in BUDGETS:
        options = MetalOptions(threads, budget)
        low = _lower(run(METAL, function, options), options)
        if bytes_of(low.shared.values()) <= MAX_BYTES:
            break
    assert low is not None
    return low


def _lower(function: Function, options: MetalOptions) -> Lowering:
    """A function after all passes: which thread holds what, then the steps, then the C++."""
    layout = options.control(function)
    complete_layout(layout, options.threads)
    finder = Finder(layout)
    plan = double_buffer_partials(make_plan(layout, finder), finder)
    low = _lower_plan(plan, finder, {}, {})
    if not options.budget.reuses_memory:
        return low
    backings = overlay_arrays(plan, finder, low.shared)
    dtypes = {backing: low.shared[backing].dtype for backing in backings.values()}
    return _lower_plan(plan, finder, backings, dtypes)


def _lower_plan(
    plan: Plan, finder: Finder, backings: Backings, backing_dtypes: Mapping[ThreadgroupArray, DType]
) -> Lowering:
    layout = finder.layout
    facts = layout.facts
    with_barriers = insert_barriers(plan, finder, backings)
    low = Lowering(
        facts=facts,
        layout=layout,
        plan=with_barriers,
        numbers=study(facts),
        storage=assign_storage(layout),
        backings=backings,
        backing_dtypes=backing_dtypes,
    )
    low.atomics = only_atomic(facts.function)
    _bind(low)
    lower_body(low)
    if any(value.ty.dtype is BF16 for value in facts.born) or _has_bfloat(facts.function):
        low.version = max(low.version, (3, 1))
    return low


def _has_bfloat(function: Function) -> bool:
    return any(param.value.ty.dtype is BF16 for param in function.params)


def _bind(low: Lowering) -> None:
    """Gives the parameters their names."""
    taken = set(low.names.values()) | {identifier(low.function.name)}
    in_struct = _needs_struct(low.facts)
    for param in low.function.params:
        name = unique(identifier(param_name(param)) or "argument", taken)
        taken.add(name)
        if isinstance(param.value.ty, Pointer):
            low.arrays[param.value] = name
        else:
            text = f"scalars.{name}" if in_struct else name
            low.root.nodes[param.value, ()] = low.leaf(text, param.value.ty.dtype)
        low.parameters.append(name)


def param_name(param: Param) -> str:
    if param.role == "argument":
        return param.name
    if param.role in ("low", "high"):
        return f"{param.array}_{param.role}"
    return f"{param.array}_{param.role}_{param.axis}"


def _needs_struct(facts: Facts) -> bool:
    """Whether there are more parameters than buffers; the report takes one buffer."""
    reports = any(isinstance(op, Assert | Print) for op in facts.ops)
    return len(facts.function.params) > MAX_BUFFERS - reports


def _assemble(low: Lowering) -> MslKernel:
    place_temporaries(low.root, low.nodes)
    suggest_names(low.root, low.nodes)
    function, writer = low.function, Writer()
    name = _kernel_name(low)
    body = Writer(depth=1)
    taken = _names_of(low)
    users = frozenset(identifier(value.hint) for value in low.facts.born)
    printer = Printer(body, [taken], users, low.names["t"])
    for shared in low.shared.values():
        shared.name = printer.name(shared.hint, "shared")
        body.line(_declare_shared(shared))
    if "t" in low.builtins:
        body.line(f"const int {low.names['t']} = int({low.names['thread_position']}.x);")
    if body.lines:
        body.line()
    printer.print(low.root, low.nodes)
    buffers = _buffers(low)
    _write_head(low, buffers, writer)
    _write_kernel(low, name, buffers, body, writer)
    text, programs = str(writer), _most_programs(low)
    own = tuple(local_extents(function).values())
    return MslKernel(
        text,
        name,
        low.threads,
        low.version,
        buffers,
        programs,
        tuple(low.sites),
        own,
        function.threads is not None,
        tuple(_threadgroup_memory(low)),
    )


def _kernel_name(low: Lowering) -> str:
    return identifier(low.function.name) or "kernel_"


def _names_of(low: Lowering) -> set[str]:
    """The names that stand for something in the whole kernel: no variable has one of them."""
    return {_kernel_name(low), *low.parameters, *low.names.values()}


def _threadgroup_memory(low: Lowering) -> Iterator[ThreadgroupMemory]:
    """The arrays that take memory; those that lie in the memory of another take none."""
    for key, shared in low.shared.items():
        if shared.backing is None:
            keys = [each for each in (key, *shared.overlays) if isinstance(each, ThreadgroupArray)]
            reasons = dict.fromkeys(each.role.value for each in keys)
            makers = [low.facts.definition(each.value) for each in keys]
            locs = [each.loc for each in (shared, *shared.overlays.values(), *makers) if each]
            loc = next((loc for loc in locs if loc is not None), None)
            is_allocated = any(each.role is Role.ALLOCATED for each in keys)
            yield ThreadgroupMemory(shared.name, shared.bytes, tuple(reasons), loc, is_allocated)


def _declare_shared(shared: Shared) -> str:
    kind = f"threadgroup {'atomic_' if shared.is_atomic else ''}{type_name(shared.dtype)}"
    size = f"[{shared.size}]"
    if shared.backing is None:
        buffers = f"[{shared.buffers}]" if shared.buffers > 1 else ""
        return f"{kind} {shared.name}{buffers}{size};"
    if shared.buffers > 1:
        return f"{kind} (*{shared.name}){size} = ({kind} (*){size}){shared.backing.name};"
    return f"{kind}* {shared.name} = ({kind}*){shared.backing.name};"


def _most_programs(low: Lowering) -> int:
    known = low.numbers.ranges.programs
    return min(known, low.function.programs or known)


def _write_head(low: Lowering, buffers: tuple[Buffer, ...], writer: Writer) -> None:
    function = low.function
    arguments = [p for p in function.params if p.role == "argument"]
    signature = ", ".join(f"{p.name}: {p.value.ty}" for p in arguments)
    constants = ", ".join(f"{name}={value}" for name, value in function.constants)
    threads = f"{low.threads} thread{'s' if low.threads > 1 else ''} per program"
    version = f"Metal {low.version[0]}.{low.version[1]}"
    with_constants = f" with {constants}" if constants else ""
    lines = [f"// {function.name}({signature})", f"{with_constants} · {threads} · {version}"]
    lines = [escape(line) for line in lines]
    is_short = sum(map(len, lines)) <= MAX_WIDTH
    writer.add(["".join(lines)] if is_short else [lines[0], f"//{lines[1]}"])
    writer.add(["#include <metal_stdlib>", "using namespace metal;"])
    if not function.fast_math and _multiplies_floats(low.facts):
        writer.line("#pragma METAL fp contract(off)")
    writer.line()
    for buffer in buffers:
        if buffer.kind == "scalars":
            _write_struct(low, buffer, writer)
    for text in low.helpers.texts():
        writer.add((*text.split("\n"), ""))


def _multiplies_floats(facts: Facts) -> bool:
    """Whether there is a product that a compiler could contract with a sum to an `fma`."""
    ops = (op for op in facts.ops if isinstance(op, Compute))
    return any(op.op.name == "mul" and op.result.ty.dtype.is_float for op in ops)


def _write_struct(low: Lowering, buffer: Buffer, writer: Writer) -> None:
    with writer.block("struct Scalars", tail="};"):
        for each in buffer.fields:
            writer.line(f"{type_name(each.dtype)} {low.parameters[each.parameter]};")
    writer.line()


def _write_kernel(
    low: Lowering, name: str, buffers: tuple[Buffer, ...], body: Writer, writer: Writer
) -> None:
    head = f"kernel void {name}("
    parameters = [*(_declare(low, buffer) for buffer in buffers), *_declare_builtins(low)]
    lines = f",\n{' ' * len(head)}".join(parameters).split("\n")
    lines[0] = head + lines[0]
    lines[-1] += ") {"
    writer.add((*lines, *body.lines, "}"))


def _buffers(low: Lowering) -> tuple[Buffer, ...]:
    """Arrays and scalars in the order of the parameters, or all scalars in one struct."""
    params = low.function.params
    in_struct = _needs_struct(low.facts)
    chosen = [n for n, p in enumerate(params) if not in_struct or isinstance(p.value.ty, Pointer)]
    buffers: list[Buffer] = []
    for number in chosen:
        value = params[number].value
        kind = "array" if isinstance(value.ty, Pointer) else "scalar"
        buffers.append(Buffer(kind, len(buffers), number, value in low.facts.written))
    if len(chosen) < len(params):
        buffers.append(Buffer("scalars", len(buffers), fields=_fields(params)))
    if low.sites:
        buffers.append(Buffer("report", len(buffers), is_written=True))
    if len(buffers) > MAX_BUFFERS:
        count = sum(buffer.kind == "array" for buffer in buffers)
        message = (
            f"{len(buffers)} buffers, but a Metal kernel has at most {MAX_BUFFERS}: {count} arrays"
            f"{_others(buffers)}"
        )
        raise UnsupportedError(message, low.function.body.ops[0].loc)
    return tuple(buffers)


def _others(buffers: list[Buffer]) -> str:
    """The buffers that are no arrays, in words."""
    words = {"scalars": "one for all scalars", "report": "one for asserts and prints"}
    return "".join(f", {words[buffer.kind]}" for buffer in buffers if buffer.kind in words)


def _fields(params: tuple[Param, ...]) -> tuple[Field, ...]:
    fields: list[Field] = []
    offset = 0
    for number, param in enumerate(params):
        dtype = param.value.ty.dtype
        if isinstance(param.value.ty, Pointer):
            continue
        size = max(dtype.bits // 8, 1)
        offset = -(-offset // size) * size
        fields.append(Field(number, dtype, offset))
        offset += size
    return tuple(fields)


def _declare(low: Lowering, buffer: Buffer) -> str:
    at = f"[[buffer({buffer.index})]]"
    if buffer.kind == "scalars":
        return f"constant Scalars& scalars {at}"
    if buffer.kind == "report":
        return f"device atomic_uint* report {at}"
    value = low.function.params[buffer.parameter].value
    kind, name = type_name(value.ty.dtype), low.parameters[buffer.parameter]
    if buffer.kind == "scalar":
        return f"constant {kind}& {name} {at}"
    if value in low.atomics:
        return f"device atomic_{kind}* {name} {at}"
    const = "" if value in low.facts.written else "const "
    return f"device {const}{kind}* {name} {at}"


def _declare_builtins(low: Lowering) -> list[str]:
    names, used = low.names, low.builtins
    wanted = [
        ("program", "uint3", "program", "threadgroup_position_in_grid"),
        ("programs", "uint3", "programs", "threadgroups_per_grid"),
        ("t", "uint3", "thread_position", "thread_position_in_threadgroup"),
        ("simdgroup", "uint", "simdgroup", "simdgroup_index_in_threadgroup"),
        ("lane", "uint", "lane", "thread_index_in_simdgroup"),
    ]
    return [f"{ty} {names[name]} [[{attr}]]" for key, ty, name, attr in wanted if key in used]
