"""Prints a function in the text form."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from itertools import zip_longest

from eas.ir import nodes as ir
from eas.ir.nodes import Function, Op, Param, Region, Value, results_of
from eas.ir.ops.record import Attr
from eas.ir.text.lexer import FILE, NUMBER, WORD, quote, quote_unless
from eas.support.location import NOWHERE, Loc, SourceName
from eas.support.records import field, record

_PLACE_COLUMN = 64
_WIDTH = 100


def print_function(f: Function, locations: bool = True) -> str:
    """A function as text, with the place of each op in the user's source or without."""
    writer = _Writer(f.source, locations)
    writer.function(f)
    return "\n".join(writer.lines) + "\n"


def summarize(op: Op) -> str:
    """An op on one line, without what is inside it: for messages."""
    match op:
        case ir.If() | ir.For() | ir.While() | ir.Scope():
            return f"{_results(op)}{type(op).__name__.lower()} {{ ... }}"
        case ir.Combine():
            return f"{_results(op)}{op.kind}{_uses(op.operands)} {{ ... }}"
        case _:
            return _spell(op)


@record
class _Writer:
    source: SourceName
    locations: bool
    lines: list[str] = field(default_factory=list[str])
    depth: int = 0

    def line(self, text: str, loc: Loc = NOWHERE) -> None:
        text = "  " * self.depth + text
        if self.locations and loc != NOWHERE:
            text = f"{text:<{_PLACE_COLUMN}}  @{self.place(loc)}"
        self.lines.append(text)

    @contextmanager
    def indented(self) -> Generator[None, None, None]:
        self.depth += 1
        yield
        self.depth -= 1

    def place(self, loc: Loc) -> str:
        return " from ".join(map(self.spot, loc.chain))

    def spot(self, loc: Loc) -> str:
        file = f"{quote_unless(FILE, loc.source.name)}:" if loc.source != self.source else ""
        end = f"{loc.end_line}:" if loc.end_line != loc.line else ""
        return f"{file}{loc.line}:{loc.column}-{end}{loc.end_column}"

    def head(self, start: str, items: Sequence[str], end: str, loc: Loc = NOWHERE) -> None:
        """A line with a list in parentheses, which is broken up if it gets too long."""
        whole = f"{start}({', '.join(items)}){end}"
        if 2 * self.depth + len(whole) <= _WIDTH:
            self.line(whole, loc)
            return
        self.line(f"{start}(")
        with self.indented(), self.indented():
            for item in items:
                self.line(f"{item},")
        self.line(f"){end}", loc)

    def function(self, f: Function) -> None:
        params = [_param(p) for p in f.params]
        self.head(f"kernel {quote_unless(WORD, f.name)}", params, f" {_options(f)} {{")
        self.region(f.body, NOWHERE)
        self.line("}")

    def region(self, region: Region, around: Loc) -> None:
        ops = region.ops[:-1] if self.ends_silently(region, around) else region.ops
        with self.indented():
            for op in ops:
                self.op(op)

    def ends_silently(self, region: Region, around: Loc) -> bool:
        """Whether the region ends in a `yield` that goes without saying."""
        if not region.ops or not self.is_yield_of((), region.ops[-1], around):
            return False
        return len(region.ops) == 1 or not isinstance(region.ops[-2], ir.Terminator)

    def is_yield_of(self, values: tuple[Value, ...], op: Op, around: Loc) -> bool:
        if not isinstance(op, ir.Yield) or op.values != values:
            return False
        return op.loc == around or not self.locations

    def op(self, op: Op) -> None:
        match op:
            case ir.If():
                self.line(f"{_results(op)}if {_use(op.condition)} {{", op.loc)
                self.region(op.then, op.loc)
                self.orelse(op.orelse, op.loc)
            case ir.For():
                self.loop_for(op)
            case ir.While():
                self.loop_while(op)
            case ir.Scope():
                self.line(f"{_results(op)}scope {op.label} {{", op.loc)
                self.region(op.body, op.loc)
                self.line("}")
            case ir.Combine():
                self.combine(op)
            case _:
                self.line(_spell(op), op.loc)

    def combine(self, op: ir.Combine) -> None:
        arguments = [_definition(value) for value in op.body.args]
        start = f"{_results(op)}{op.kind}{_uses(op.operands)} by "
        self.head(start, arguments, " {", op.loc)
        self.region(op.body, op.loc)
        self.line("}")

    def loop_for(self, op: ir.For) -> None:
        counter, *args = op.body.args
        bounds = f"{_use(op.start)} .. {_use(op.stop)} by {_use(op.step)}"
        start = f"{_results(op)}for {_definition(counter)} = {bounds}"
        carried = _carried(args, op.inits)
        if carried:
            self.head(f"{start} carrying ", carried, " {", op.loc)
        else:
            self.line(f"{start} {{", op.loc)
        self.region(op.body, op.loc)
        self.orelse(op.orelse, op.loc)

    def loop_while(self, op: ir.While) -> None:
        carried = _carried(op.test.args, op.inits)
        if carried:
            self.head(f"{_results(op)}while ", carried, " {", op.loc)
        else:
            self.line(f"{_results(op)}while {{", op.loc)
        self.region(op.test, op.loc)
        self.next_region("do", op.body)
        self.region(op.body, op.loc)
        self.orelse(op.orelse, op.loc)

    def orelse(self, region: Region, around: Loc) -> None:
        """The rest of an op from the brace on that closes the region before its `else`."""
        passes_on = len(region.ops) == 1 and self.is_yield_of(region.args, region.ops[0], around)
        if passes_on and not region.args:
            self.line("}")
        elif passes_on:
            self.next_region("else", region, "")
        else:
            self.next_region("else", region)
            self.region(region, around)
            self.line("}")

    def next_region(self, word: str, region: Region, end: str = " {") -> None:
        """The line that closes a region and opens the next one of the same op."""
        if region.args:
            self.head(f"}} {word} ", [_definition(value) for value in region.args], end)
        else:
            self.line(f"}} {word}{end}")


def _param(param: Param) -> str:
    text = _definition(param.value)
    if param.role != "argument":
        text += f" = {param.role} {param.axis} of {quote_unless(WORD, param.array)}"
    return text


def _options(f: Function) -> str:
    parts = [f"from {quote(f.source.name)}"]
    if f.threads is not None:
        parts.append(f"threads {f.threads}")
    if f.programs is not None:
        parts.append(f"programs {f.programs}")
    if f.fast_math:
        parts.append("fast_math")
    if f.checked:
        parts.append("checked")
    if f.constants:
        pairs = (
            f"{quote_unless(WORD, name)}={quote_unless(f'{WORD}|{NUMBER}', text)}"
            for name, text in f.constants
        )
        parts.append(f"where {', '.join(pairs)}")
    return " ".join(parts)


def _use(value: Value) -> str:
    return f"%{quote_unless(WORD, value.hint)}.{value.id}" if value.hint else f"%{value.id}"


def _uses(values: Sequence[Value]) -> str:
    """A list of values after a word: nothing, or a space before it."""
    return " " + ", ".join(map(_use, values)) if values else ""


def _definition(value: Value) -> str:
    return f"{_use(value)}: {value.ty}"


def _results(op: Op) -> str:
    results = results_of(op)
    return f"{', '.join(map(_definition, results))} = " if results else ""


def _carried(args: Sequence[Value], inits: Sequence[Value]) -> list[str]:
    pairs = zip_longest(map(_definition, args), map(_use, inits), fillvalue="?")
    return [f"{arg} = {init}" for arg, init in pairs]


def _spell(op: Op) -> str:
    """The line of an op without regions."""
    match op:
        case ir.Constant():
            return _results(op) + _number(op.value)
        case ir.Compute() | ir.TargetOp():
            attrs = "".join(f" {name}={_attr(attr)}" for name, attr in op.attrs)
            return f"{_results(op)}{op.op.name}{_uses(op.operands)}{attrs}"
        case ir.Load():
            other = f" else {_use(op.other)}" if op.other is not None else ""
            return f"{_results(op)}load {_at(op)}{_mask(op)}{other}"
        case ir.Store():
            return f"store {_at(op)} = {_use(op.value)}{_mask(op)}"
        case ir.Atomic():
            expected = f"{_use(op.expected)} -> " if op.expected is not None else ""
            value = expected + _use(op.value)
            return f"{_results(op)}atomic {op.kind} {_at(op)}, {value}{_mask(op)}"
        case ir.Alloc():
            return f"{_results(op)}alloc {op.size}"
        case ir.Barrier():
            return "barrier"
        case ir.Assert():
            word = "assume" if op.is_assumed else "assert"
            return f"{word} {_use(op.condition)}, {quote(op.message)}{_fault(op.fault)}"
        case ir.Print():
            return f"print {', '.join(map(_part, op.parts))}".rstrip()
        case ir.Condition():
            passed = f" with{_uses(op.values)}" if op.values else ""
            return f"condition {_use(op.condition)}{passed}"
        case ir.Leave():
            return f"leave {op.label}{_uses(op.values)}"
        case ir.Yield() | ir.Break() | ir.Continue():
            return type(op).__name__.lower() + _uses(op.values)
        case ir.If() | ir.For() | ir.While() | ir.Scope() | ir.Combine():
            raise TypeError(f"{type(op).__name__} has regions")


def _fault(fault: ir.Fault | None) -> str:
    if fault is None:
        return ""
    what = f"{fault.kind} {quote_unless(WORD, fault.array)} {_use(fault.number)}"
    of = "" if fault.extent is None else f" of {_use(fault.extent)} axis {fault.axis}"
    return f" fault {what}{of}{' masked' if fault.is_masked else ''}"


def _at(op: ir.Load | ir.Store | ir.Atomic) -> str:
    return f"{_use(op.pointer)}[{_use(op.offset)}]"


def _mask(op: ir.Load | ir.Store | ir.Atomic) -> str:
    return f" if {_use(op.mask)}" if op.mask is not None else ""


def _part(part: str | Value) -> str:
    return _use(part) if isinstance(part, Value) else quote(part)


def _number(value: bool | int | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "nan" if isinstance(value, float) and math.isnan(value) else repr(value)


def _attr(attr: Attr) -> str:
    match attr:
        case None:
            return "none"
        case bool():
            return "true" if attr else "false"
        case str():
            return quote(attr)
        case tuple():
            return f"[{', '.join(map(str, attr))}]"
        case _:
            return str(attr)
