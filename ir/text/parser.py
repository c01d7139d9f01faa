"""Parses the text form: recursive descent, one method per line of the grammar."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Literal, TypeVar, get_args

from eas.ir import nodes as ir
from eas.ir.nodes import AtomicKind, Function, Op, Param, Region, Value
from eas.ir.ops import OPS, OpTable, TargetOpDef
from eas.ir.ops.record import Attr
from eas.ir.text.lexer import SPOT, ParseError, Token, split_tokens, unquote
from eas.ir.text.reader import TokenReader
from eas.ir.types import DTYPES, Block, DType, Pointer, Scalar, Space, Type
from eas.support.faults import AccessKind
from eas.support.location import NOWHERE, Loc, SourceName
from eas.support.records import field, record

T = TypeVar("T")
Values = tuple[Value, ...]
Hidden = Literal["extent", "stride", "low", "high"]

_ROLES: dict[str, Hidden] = {role: role for role in get_args(Hidden)}
_ATOMICS: dict[str, AtomicKind] = {kind: kind for kind in get_args(AtomicKind)}
_SPACES: dict[str, Space] = {space: space for space in get_args(Space)}
_NUMBERS = {"true": True, "false": False, "inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_FAULTS: dict[str, AccessKind | Literal["index"]] = {
    "index": "index",
    **{kind: kind for kind in get_args(AccessKind)},
}
_WORDS: dict[str, Attr] = {"none": None, "true": True, "false": False}


def parse_function(text: str, ops: OpTable = OPS) -> Function:
    """The function that a text stands for, of some ops; raises `ParseError`."""
    parser = _Parser(split_tokens(text), ops)
    parser.collect_definitions()
    return parser.function()


@record
class _Parser(TokenReader[Token]):
    """The tokens, the next one, and every value of the text by its id.

    The values are collected before anything else: so even a function that uses a value before
    its definition can be read, for the verifier to refuse.
    """

    tokens: list[Token]
    legal: OpTable
    next: int = 0
    values: dict[int, Value] = field(default_factory=dict[int, Value])
    source: SourceName = NOWHERE.source

    choices = ("word", "number")

    def error(self, expected: str) -> ParseError:
        return ParseError(self.token.line, f"expected {expected}, found {_shown(self.token)}")

    def integer(self, expected: str) -> int:
        if not re.fullmatch(r"-?\d+", self.token.text):
            raise self.error(expected)
        return int(self.take("number", expected).text)

    def string(self, expected: str) -> str:
        token = self.take("string", expected)
        return unquote(token.text, token.line)

    def collect_definitions(self) -> None:
        for place, (token, follower) in enumerate(zip(self.tokens, self.tokens[1:], strict=False)):
            if token.kind == "value" and follower.text == ":":
                self.next = place
                self.definition()
        self.next = 0

    def definition(self) -> Value:
        token = self.take("value", "a value to define")
        self.expect(":")
        hint, number = _split_value(token)
        value = Value(number, self.type(), hint)
        if self.values.get(number) != value:
            self.values[number] = value
        return self.values[number]

    def definitions(self) -> Values:
        found = [self.definition()]
        while self.accept(","):
            found.append(self.definition())
        return tuple(found)

    def use(self, expected: str = "a value") -> Value:
        token = self.take("value", expected)
        hint, number = _split_value(token)
        found = self.values.get(number)
        if found is None or found.hint != hint:
            raise ParseError(token.line, f"nothing defines {token.text}")
        return found

    def uses(self) -> Values:
        """The values up to the first thing that is none."""
        if self.token.kind != "value":
            return ()
        found = [self.use()]
        while self.accept(","):
            found.append(self.use())
        return tuple(found)

    def type(self) -> Type:
        if self.accept("*"):
            dtype = self.one_of(DTYPES, "a dtype")
            if not self.accept("@"):
                return Pointer(dtype)
            return Pointer(dtype, self.one_of(_SPACES, "a space of memory"))
        dtype = self.one_of(DTYPES, "a type")
        return Block(dtype, self.shape()) if self.token.text == "[" else Scalar(dtype)

    def shape(self) -> tuple[int, ...]:
        self.expect("[")
        return self.listed(lambda: self.integer("an integer"), "]")

    def place(self) -> Loc:
        """The place at the end of a line, or nowhere."""
        if self.token.kind != "place":
            return NOWHERE
        token = self.take("place", "a place")
        loc: Loc | None = None
        for spot in reversed(list(re.finditer(SPOT, token.text))):
            loc = self.spot(spot["file"], spot["span"], token.line, loc)
        return loc or NOWHERE

    def spot(self, file: str | None, span: str, line: int, caller: Loc | None) -> Loc:
        source = self.source
        if file is not None:
            source = SourceName(unquote(file, line) if file.startswith('"') else file)
        first, column, *end = map(int, re.split("[:-]", span))
        last, end_column = end if len(end) == 2 else (first, *end)
        return Loc(source, first, column, last, end_column, caller)

    def function(self) -> Function:
        self.skip_lines()
        self.expect("kernel")
        name = self.name("the function's name")
        self.expect("(")
        params = self.listed(self.param, ")")
        self.expect("from")
        self.source = SourceName(self.string("the file's name in quotes"))
        threads = self.integer("the number of threads") if self.accept("threads") else None
        programs = self.integer("the number of programs") if self.accept("programs") else None
        fast_math = self.accept("fast_math")
        checked = self.accept("checked")
        constants = self.constants() if self.accept("where") else ()
        self.open()
        body = self.region((), NOWHERE)
        self.end_line()
        self.take("end", "the end of the text")
        options = (self.source, threads, fast_math, constants, programs, checked)
        return Function(name, params, body, *options)

    def param(self) -> Param:
        value = self.definition()
        if not self.accept("="):
            return Param(value)
        role = self.one_of(_ROLES, "`extent`, `stride`, `low` or `high`")
        axis = self.integer("the number of an axis")
        self.expect("of")
        return Param(value, role, self.name("the name of an array"), axis)

    def constants(self) -> tuple[tuple[str, str], ...]:
        found: list[tuple[str, str]] = []
        while not found or self.accept(","):
            name = self.name("the name of a constant")
            self.expect("=")
            is_number = self.token.kind == "number"
            text = self.take("number", "").text if is_number else self.name("a constant's value")
            found.append((name, text))
        return tuple(found)

    def open(self) -> Loc:
        """The brace that opens the first region of an op, and the op's place behind it."""
        self.expect("{")
        loc = self.place()
        self.end_line()
        return loc

    def region(self, args: Values, around: Loc) -> Region:
        """The ops up to the closing brace, which is taken."""
        ops: list[Op] = []
        while not self.accept("}"):
            ops.append(self.op())
            self.end_line()
        if not ops or not isinstance(ops[-1], ir.Terminator):
            ops.append(ir.Yield((), around))
        return Region(args, tuple(ops))

    def inner_region(self, args: Values, around: Loc) -> Region:
        """A region after the first: its brace has no place of its own."""
        self.expect("{")
        self.end_line()
        return self.region(args, around)

    def arguments(self) -> Values:
        return self.listed(self.definition, ")") if self.accept("(") else ()

    def carried(self) -> tuple[Values, Values]:
        """Arguments with the values that they start from."""
        args: list[Value] = []
        inits: list[Value] = []

        def pair() -> None:
            args.append(self.definition())
            if self.accept("="):
                inits.append(self.use())

        self.expect("(")
        self.listed(pair, ")")
        return tuple(args), tuple(inits)

    def orelse(self, around: Loc) -> Region:
        """What follows the brace that closes a loop's body."""
        if not self.accept("else"):
            return Region((), (ir.Yield((), around),))
        args = self.arguments()
        if self.token.text == "{":
            return self.inner_region(args, around)
        return Region(args, (ir.Yield(args, around),))

    def op(self) -> Op:
        results: Values = ()
        if self.token.kind == "value":
            results = self.definitions()
            self.expect("=")
        token = self.token
        if token.text in _NUMBERS or token.kind == "number":
            value = self.number()
            return ir.Constant(value, self.only(results), self.place())
        word = self.take("word", "an op").text
        if word in self.legal:
            return self.compute(word, results)
        if word in _WITH_RESULTS:
            return _WITH_RESULTS[word](self, results)
        if word not in _WITHOUT_RESULTS:
            raise ParseError(token.line, f"expected an op, found {_shown(token)}")
        if results:
            raise ParseError(token.line, f"`{word}` has no results")
        return _WITHOUT_RESULTS[word](self)

    def only(self, results: Values) -> Value:
        if len(results) != 1:
            raise ParseError(self.token.line, f"expected one result, found {len(results)}")
        return results[0]

    def number(self) -> bool | int | float:
        text = self.token.text
        self.next += 1
        if text in _NUMBERS:
            return _NUMBERS[text]
        return int(text) if re.fullmatch(r"-?\d+", text) else float(text)

    def compute(self, name: str, results: Values) -> Op:
        operands = self.uses()
        attrs: list[tuple[str, Attr]] = []
        while self.token.kind == "word":
            attribute = self.take("word", "an attribute").text
            self.expect("=")
            attrs.append((attribute, self.attr()))
        op = self.legal[name]
        if isinstance(op, TargetOpDef):
            result = self.only(results) if results else None
            return ir.TargetOp(op, operands, tuple(attrs), result, self.place())
        return ir.Compute(op, operands, tuple(attrs), self.only(results), self.place())

    def attr(self) -> Attr:
        if self.token.kind == "string":
            return self.string("a string")
        if self.token.kind == "number":
            return self.integer("an integer")
        if self.token.text == "[":
            return self.shape()
        dtypes: dict[str, DType] = DTYPES
        return self.one_of({**dtypes, **_WORDS}, "an attribute's value")

    def at(self) -> tuple[Value, Value]:
        pointer = self.use("a pointer")
        self.expect("[")
        offset = self.use("an offset")
        self.expect("]")
        return pointer, offset

    def optional(self, word: str) -> Value | None:
        return self.use() if self.accept(word) else None

    def load(self, results: Values) -> Op:
        pointer, offset = self.at()
        mask, other = self.optional("if"), self.optional("else")
        return ir.Load(pointer, offset, mask, other, self.only(results), self.place())

    def store(self) -> Op:
        pointer, offset = self.at()
        self.expect("=")
        value = self.use()
        return ir.Store(pointer, offset, value, self.optional("if"), self.place())

    def atomic(self, results: Values) -> Op:
        kind = self.one_of(_ATOMICS, "a kind of atomic")
        pointer, offset = self.at()
        self.expect(",")
        expected, value = None, self.use()
        if self.accept("->"):
            expected, value = value, self.use()
        mask, result = self.optional("if"), self.only(results)
        return ir.Atomic(kind, pointer, offset, expected, value, mask, result, self.place())

    def alloc(self, results: Values) -> Op:
        return ir.Alloc(self.integer("a size"), self.only(results), self.place())

    def barrier(self) -> Op:
        return ir.Barrier(self.place())

    def check(self, is_assumed: bool = False) -> Op:
        condition = self.use("a condition")
        self.expect(",")
        message = self.string("a message in quotes")
        fault = self.fault() if self.accept("fault") else None
        return ir.Assert(condition, message, self.place(), is_assumed, fault)

    def fault(self) -> ir.Fault:
        kind = self.one_of(_FAULTS, "the kind of a fault")
        array, number = self.name("the name of an array"), self.use()
        extent, axis = None, 0
        if self.accept("of"):
            extent = self.use()
            self.expect("axis")
            axis = self.integer("the number of an axis")
        return ir.Fault(kind, array, number, extent, axis, self.accept("masked"))

    def assume(self) -> Op:
        return self.check(is_assumed=True)

    def print(self) -> Op:
        parts: list[str | Value] = []
        while self.token.kind in ("string", "value"):
            is_value = self.token.kind == "value"
            parts.append(self.use() if is_value else self.string("a string"))
            if not self.accept(","):
                break
        return ir.Print(tuple(parts), self.place())

    def yields(self) -> Op:
        return ir.Yield(self.uses(), self.place())

    def breaks(self) -> Op:
        return ir.Break(self.uses(), self.place())

    def continues(self) -> Op:
        return ir.Continue(self.uses(), self.place())

    def leave(self) -> Op:
        label = self.integer("the label of a scope")
        return ir.Leave(label, self.uses(), self.place())

    def condition(self) -> Op:
        condition = self.use("a condition")
        passed = self.uses() if self.accept("with") else ()
        return ir.Condition(condition, passed, self.place())

    def reduce(self, results: Values) -> Op:
        return self.combine("reduce", results)

    def scan(self, results: Values) -> Op:
        return self.combine("scan", results)

    def combine(self, kind: ir.CombineKind, results: Values) -> Op:
        operands = self.uses()
        self.expect("by")
        arguments = self.arguments()
        loc = self.open()
        return ir.Combine(kind, operands, self.region(arguments, loc), results, loc)

    def branch(self, results: Values) -> Op:
        condition = self.use("a condition")
        loc = self.open()
        then = self.region((), loc)
        orelse = self.orelse(loc)
        return ir.If(condition, then, orelse, results, loc)

    def loop_for(self, results: Values) -> Op:
        counter = self.definition()
        self.expect("=")
        start = self.use("the start")
        self.expect("..")
        stop = self.use("the stop")
        self.expect("by")
        step = self.use("the step")
        args, inits = self.carried() if self.accept("carrying") else ((), ())
        loc = self.open()
        body = self.region((counter, *args), loc)
        return ir.For(start, stop, step, inits, body, self.orelse(loc), results, loc)

    def loop_while(self, results: Values) -> Op:
        args, inits = self.carried() if self.token.text == "(" else ((), ())
        loc = self.open()
        test = self.region(args, loc)
        self.expect("do")
        body = self.inner_region(self.arguments(), loc)
        return ir.While(inits, test, body, self.orelse(loc), results, loc)

    def scope(self, results: Values) -> Op:
        label = self.integer("a label")
        loc = self.open()
        return ir.Scope(label, self.region((), loc), results, loc)


_WITH_RESULTS: dict[str, Callable[[_Parser, Values], Op]] = {
    "load": _Parser.load,
    "atomic": _Parser.atomic,
    "alloc": _Parser.alloc,
    "reduce": _Parser.reduce,
    "scan": _Parser.scan,
    "if": _Parser.branch,
    "for": _Parser.loop_for,
    "while": _Parser.loop_while,
    "scope": _Parser.scope,
}
_WITHOUT_RESULTS: dict[str, Callable[[_Parser], Op]] = {
    "store": _Parser.store,
    "barrier": _Parser.barrier,
    "assert": _Parser.check,
    "assume": _Parser.assume,
    "print": _Parser.print,
    "yield": _Parser.yields,
    "condition": _Parser.condition,
    "break": _Parser.breaks,
    "continue": _Parser.continues,
    "leave": _Parser.leave,
}


def _split_value(token: Token) -> tuple[str, int]:
    """The hint and the id of a value."""
    hint, _, number = token.text[1:].rpartition(".")
    return unquote(hint, token.line) if hint.startswith('"') else hint, int(number)


def _shown(token: Token) -> str:
    return token.text if token.kind in ("newline", "end") else f"`{token.text}`"
