"""The LLVM text of a kernel: a function for one program, and the entry that runs many programs."""

from __future__ import annotations

from collections.abc import Callable

from eas.ir.nodes import Alloc, Function, Value, walk
from eas.ir.passes.bounds_params import bounds_of
from eas.ir.pipeline import run
from eas.ir.report_sites import sites_of
from eas.ir.types import BOOL, Pointer
from eas.ir.verify import verify
from eas.llvm import ENTRY
from eas.llvm.analysis.program_order import is_along_y
from eas.llvm.emit.dtypes import register, stored, to_register
from eas.llvm.emit.emit import Emitter, V, const
from eas.llvm.lane_listing import Listing
from eas.llvm.lanes.bounds_checks import Bounds
from eas.llvm.lanes.lane_values import Uniform
from eas.llvm.lanes.privatization import write_clear, write_flush
from eas.llvm.lanes.program import Program
from eas.llvm.lanes.proofs import launch_proofs
from eas.llvm.pipeline import CPU
from eas.llvm.program_body import Writer, check_legal

SLOT = 8  # bytes of an argument


def write(function: Function, width: int, has_nontemporal: bool) -> str:
    """The LLVM text of a function that was relaxed, for vectors of so many lanes.

    `has_nontemporal` says that the machine has stores that bypass its caches, as x86 does.
    """
    program, proofs = _write_program(function, width, has_nontemporal)
    e, sites = program.e, program.sites
    head = "ptr noalias %arguments, ptr %job, ptr noalias %scratch, i64 %proven"
    more = "i32 %x, i32 %y, i32 %z, i32 %extent_x, i32 %extent_y, i32 %extent_z"
    # a frame pointer lets LLVM align the stack, so that no spilled vector spans two cache lines
    how = '"frame-pointer"="all"'
    defined = f"define internal void @program({head}, {more}) {how} {{\n{e.body}\n}}\n"
    declared = "\n".join(e.declared.values())
    reports_in_order = any(site.kind in ("assert", "print") for site in sites)
    is_y_first = not reports_in_order and is_along_y(program.facts)
    private_tables = list(program.private_tables.values())
    parts = [
        declared,
        defined,
        proofs,
        _entry(e.scratch, has_nontemporal, is_y_first, bool(private_tables), bool(sites)),
    ]
    if private_tables:
        parts += [write_clear(private_tables), write_flush(private_tables)]
    return "\n".join(parts)


def list_lanes(function: Function, width: int, has_nontemporal: bool) -> str:
    """What the programs of a function do once, and in which loops over lanes, as text."""
    listing = Listing()
    _write_program(function, width, has_nontemporal, listing)
    return str(listing)


def _write_program(
    function: Function, width: int, has_nontemporal: bool, listing: Listing | None = None
) -> tuple[Program, str]:
    """The body of one program, and the text of the proofs that its accesses rely on."""
    check_legal(function)
    sites = sites_of(function)  # before the rewrites: readers of reports number them so
    function = run(CPU, function, None)
    verify(function, CPU.end)
    fast = "reassoc nsz arcp contract afn" if function.fast_math else ""
    e = Emitter(fast=fast, has_avx512=width == 16, has_avx2=has_nontemporal and width == 8)
    ids = tuple(V("i32", f"%{axis}") for axis in "xyz")
    extents = tuple(V("i32", f"%extent_{axis}") for axis in "xyz")
    for axis in "xyz":
        e.entry_line(f"%wide_{axis} = zext i32 %extent_{axis} to i64")
    e.entry_line("%plane = mul i64 %wide_x, %wide_y")
    e.entry_line("%programs = mul i64 %plane, %wide_z")
    e.entry_line("%p_report = getelementptr ptr, ptr %job, i64 2")
    e.entry_line("%report = load ptr, ptr %p_report")
    program = Program(function, sites, width, e, ids, extents, has_nontemporal)
    _read_arguments(program)
    proofs = _write_proofs(program)
    Writer(program, listing).run(function.body)
    e.leave()
    return program, proofs


def _entry(
    scratch: int, has_nontemporal: bool, is_y_first: bool, has_private_tables: bool, has_sites: bool
) -> str:
    """The entry. It allocates the memory for large blocks once for all of its programs.

    Other threads see nontemporal stores only after a fence. The programs are numbered along x
    first, or along y if `is_y_first`.
    """
    declared, allocated, freed = "", "  %scratch = bitcast ptr null to ptr", ""
    if scratch:
        declared = "declare ptr @malloc(i64)\ndeclare void @free(ptr)"
        allocated = f"""\
  %memory = call ptr @malloc(i64 {scratch + 64})
  %address = ptrtoint ptr %memory to i64
  %above = add i64 %address, 63
  %aligned = and i64 %above, -64
  %scratch = inttoptr i64 %aligned to ptr"""
        freed = "  call void @free(ptr %memory)"
    if has_private_tables:
        allocated += "\n  call void @clear(ptr %scratch)"
        freed = f"  call void @flush(ptr %arguments, ptr %scratch)\n{freed}"
    if has_nontemporal:
        declared += "\ndeclare void @llvm.x86.sse.sfence()"
        freed += "\n  call void @llvm.x86.sse.sfence()"
    declared += '\n!0 = !{i32 1}\n!1 = !{!"branch_weights", i32 1, i32 2000}'
    text = _ENTRY_TEXT.replace("FIRST", "xy"[is_y_first]).replace("SECOND", "yx"[is_y_first])
    checks_faults = has_sites and not is_y_first
    text = text.replace("NEXT", "check_fault" if checks_faults else "next")
    text = text.replace("CHECK_FAULT\n", _FAULT_CHECK_TEXT if checks_faults else "")
    text = text.replace("SCRATCH_DECLARED", declared)
    return text.replace("SCRATCH_ALLOCATED", allocated).replace("SCRATCH_FREED", freed)


def _read_arguments(program: Program) -> None:
    """Loads the arguments. Each has eight bytes: an address, or a number in the lowest ones."""
    e = program.e
    for n, param in enumerate(program.function.params):
        pointer = e.gep("i64", V("ptr", "%arguments"), const("i64", n))
        dtype = param.value.ty.dtype
        if isinstance(param.value.ty, Pointer):
            program.pointers[param.value.id] = e.load("ptr", pointer, SLOT)
        else:
            number = e.load("i8" if dtype == BOOL else stored(dtype), pointer, SLOT)
            v = to_register(e, number, dtype)
            assert v.ty == register(dtype)
            program.single.bind(param.value, (), Uniform(v))
    program.bounds |= _bounds(program.function, program.single.scalar)


def _bounds(function: Function, number: Callable[[Value], V]) -> dict[int, Bounds]:
    """The bounds of all arrays of a checked function, by their ids."""
    bounds = {
        array: Bounds(const("i64", 0) if low is None else number(low), number(high))
        for array, (low, high) in bounds_of(function).items()
    }
    allocs = [op for op in walk(function.body) if isinstance(op, Alloc) and function.checked]
    return bounds | {op.result.id: Bounds(const("i64", 0), const("i64", op.size)) for op in allocs}


def _write_proofs(program: Program) -> str:
    """The text of the function that says which accesses of a launch need no checks."""
    function, e = program.function, Emitter()
    numbers: dict[int, V] = {}
    for n, param in enumerate(function.params):
        dtype = param.value.ty.dtype
        if not isinstance(param.value.ty, Pointer) and dtype.is_int:
            pointer = e.gep("i64", V("ptr", "%arguments"), const("i64", n))
            numbers[param.value.id] = e.load(stored(dtype), pointer, SLOT)
    bounds = _bounds(function, lambda value: numbers[value.id])
    program.proofs, word = launch_proofs(e, program.facts, numbers, program.extents, bounds)
    e.line(f"ret {word}")
    program.e.declared |= e.declared
    head = "ptr noalias %arguments, i32 %extent_x, i32 %extent_y, i32 %extent_z"
    return f"define internal i64 @prove({head}) {{\n{e.body}\n}}\n"


# After a fault only programs with a smaller number than the faulty one are started.
_FAULT_CHECK_TEXT = """\
check_fault:
  %p_report = getelementptr ptr, ptr %job, i64 2
  %report = load ptr, ptr %p_report
  %fault = load atomic i32, ptr %report acquire, align 4
  %has_fault = icmp ne i32 %fault, 0
  br i1 %has_fault, label %compare, label %next
compare:
  %p_faulty = getelementptr i32, ptr %report, i64 14
  %faulty = load atomic i64, ptr %p_faulty monotonic, align 8
  %is_before = icmp slt i64 %n, %faulty
  br i1 %is_before, label %next, label %end
"""

_ENTRY_TEXT = f"""\
SCRATCH_DECLARED
define void @{ENTRY}(ptr noalias %arguments, ptr %job, i64 %first, i64 %last, \
i32 %extent_x, i32 %extent_y, i32 %extent_z) {{
entry:
SCRATCH_ALLOCATED
  %proven = call i64 @prove(ptr %arguments, i32 %extent_x, i32 %extent_y, i32 %extent_z)
  %wide_FIRST = zext i32 %extent_FIRST to i64
  %wide_SECOND = zext i32 %extent_SECOND to i64
  %row = udiv i64 %first, %wide_FIRST
  %FIRST64 = urem i64 %first, %wide_FIRST
  %plane = udiv i64 %row, %wide_SECOND
  %SECOND64 = urem i64 %row, %wide_SECOND
  %FIRST0 = trunc i64 %FIRST64 to i32
  %SECOND0 = trunc i64 %SECOND64 to i32
  %z0 = trunc i64 %plane to i32
  br label %head
head:
  %n = phi i64 [ %first, %entry ], [ %n_next, %next ]
  %FIRST = phi i32 [ %FIRST0, %entry ], [ %FIRST_next, %next ]
  %SECOND = phi i32 [ %SECOND0, %entry ], [ %SECOND_next, %next ]
  %z = phi i32 [ %z0, %entry ], [ %z_next, %next ]
  %has_next = icmp slt i64 %n, %last
  br i1 %has_next, label %NEXT, label %end
CHECK_FAULT
next:
  call void @program(ptr %arguments, ptr %job, ptr %scratch, i64 %proven, i32 %x, i32 %y, i32 %z, \
i32 %extent_x, i32 %extent_y, i32 %extent_z)
  %n_next = add i64 %n, 1
  %FIRST_more = add i32 %FIRST, 1
  %FIRST_wraps = icmp eq i32 %FIRST_more, %extent_FIRST
  %FIRST_next = select i1 %FIRST_wraps, i32 0, i32 %FIRST_more
  %SECOND_more = add i32 %SECOND, 1
  %SECOND_wraps = icmp eq i32 %SECOND_more, %extent_SECOND
  %SECOND_moved = select i1 %SECOND_wraps, i32 0, i32 %SECOND_more
  %SECOND_next = select i1 %FIRST_wraps, i32 %SECOND_moved, i32 %SECOND
  %both_wrap = and i1 %FIRST_wraps, %SECOND_wraps
  %z_more = add i32 %z, 1
  %z_next = select i1 %both_wrap, i32 %z_more, i32 %z
  br label %head
end:
SCRATCH_FREED
  ret void
}}
"""
