"""Parses the flat IR's text: recursive descent, one method per line of the grammar."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from typing import Literal, NamedTuple, TypeVar, get_args

from eas.ir.text.lexer import STRING, WORD, ParseError, unquote
from eas.ir.text.reader import TokenReader
from eas.ir.types import DTYPES, DType
from eas.septran.flat.affine import ZERO, Affine, AffineError, affine, maximum, minimum
from eas.septran.flat.nodes import (
    Alloc,
    Barrier,
    Binary,
    BinaryKind,
    Call,
    Cast,
    Column,
    Comparison,
    Const,
    Copy,
    Expr,
    Fill,
    For,
    If,
    Index,
    Iota,
    Kernel,
    Map,
    Mma,
    Module,
    Operand,
    Origin,
    ParallelFor,
    Param,
    Passed,
    Privilege,
    Reduce,
    ReduceKind,
    Select,
    Start,
    Stmt,
    Temp,
    Transposed,
    Unary,
    UnaryKind,
    View,
    Wait,
)
from eas.septran.flat.spelling import BINARY_CALLS, INFIX, NAME, PREFIX, UNARY_CALLS
from eas.support.location import Loc, SourceName
from eas.support.records import record, replace

T = TypeVar("T")
_Kind = Literal["string", "number", "word", "mark", "newline", "end"]

_PRIVILEGES: dict[str, Privilege] = {each: each for each in get_args(Privilege)}
_REDUCTIONS: dict[str, ReduceKind] = {each: each for each in get_args(ReduceKind)}
_TRANSPOSED: dict[str, Transposed] = {each: each for each in get_args(Transposed)}
_COMPARISONS: dict[str, Comparison] = {each: each for each in get_args(Comparison)}
_INFIX_MARKS: dict[str, BinaryKind] = {mark: kind for kind, (mark, _, _) in INFIX.items()}
_PREFIX_MARKS: dict[str, UnaryKind] = {mark: kind for kind, mark in PREFIX.items()}
_WORD_NUMBERS: dict[str, float | bool] = {"inf": math.inf, "true": True, "false": False}


class FlatParseError(Exception):
    """Text that is no module: the line and column (from 1), and what was expected there."""

    def __init__(self, line: int, column: int, message: str) -> None:
        super().__init__(f"line {line}, column {column}: {message}")
        self.line = line
        self.column = column
        self.message = message


def parse_module(text: str) -> Module:
    """The module that a text stands for; raises `FlatParseError`."""
    return _Parser(_split(text)).module()


class _Token(NamedTuple):
    kind: _Kind
    text: str
    line: int
    column: int


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(
        rf"(?P<string>{STRING})"
        r"|(?P<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
        rf"|(?P<word>{WORD})"
        r"|(?P<mark><-|<=|>=|==|!=|\+=|//|[(){}\[\],:=*@<>+\-%/.&|!])"
        r"|(?P<newline>\n)"
        r"|(?P<skipped>[ \t\r]+|\#[^\n]*)"
    )


def _split(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    position, line, start = 0, 1, 0
    kinds: dict[str, _Kind] = {"string": "string", "number": "number", "word": "word"}
    kinds["mark"] = "mark"
    while position < len(text):
        found = _pattern().match(text, position)
        column = position - start + 1
        if found is None:
            raise FlatParseError(line, column, f"unexpected character {text[position]!r}")
        kind = found.lastgroup or ""
        position = found.end()
        if kind == "newline":
            tokens.append(_Token("newline", "the end of the line", line, column))
            line, start = line + 1, position
        elif kind != "skipped":
            tokens.append(_Token(kinds[kind], found[0], line, column))
    tokens.append(_Token("newline", "the end of the line", line, position - start + 1))
    tokens.append(_Token("end", "the end of the text", line, position - start + 1))
    return tokens


@record
class _Parser(TokenReader[_Token]):
    tokens: list[_Token]
    next: int = 0

    choices = ("word", "mark")

    def error(self, expected: str) -> FlatParseError:
        token = self.token
        shown = token.text if token.kind in ("newline", "end") else f"`{token.text}`"
        return self.refusal(f"expected {expected}, found {shown}")

    def refusal(self, message: str, token: _Token | None = None) -> FlatParseError:
        place = token or self.token
        return FlatParseError(place.line, place.column, message)

    def integer(self, expected: str = "an integer") -> int:
        if not self.token.text.isdigit():
            raise self.error(expected)
        return int(self.take("number", expected).text)

    def string(self, expected: str) -> str:
        token = self.take("string", expected)
        try:
            return unquote(token.text, token.line)
        except ParseError as error:
            raise self.refusal(error.message, token) from None

    def dotted(self, expected: str) -> str:
        name = self.name(expected)
        while re.fullmatch(NAME, name) and self.accept("."):
            name += "." + self.take("word", "a name after the dot").text
        return name

    def module(self) -> Module:
        self.skip_lines()
        self.expect("module")
        name = self.name("the module's name")
        self.expect("(")
        params = self.listed(self.param, ")")
        self.expect("machine")
        machine = self.dotted("the machine's name")
        self.open_block()
        temps: list[Temp] = []
        while self.accept("temp"):
            temps.append(self.temp())
        kernels: list[Kernel] = []
        while not self.accept("}"):
            kernels.append(self.kernel())
        self.end_line()
        if self.token.kind != "end":
            raise self.error("the end of the text")
        return Module(name, machine, params, tuple(temps), tuple(kernels))

    def open_block(self) -> None:
        self.expect("{")
        self.end_line()

    def declared(self) -> tuple[str, DType, tuple[Affine, ...], str]:
        name = self.name("a name")
        self.expect(":")
        dtype = self.one_of(DTYPES, "a dtype")
        self.expect("[")
        shape = self.listed(self.affine, "]")
        return name, dtype, shape, self.name("a memory")

    def param(self) -> Param:
        return Param(*self.declared(), self.one_of(_PRIVILEGES, "`r`, `w` or `rw`"))

    def temp(self) -> Temp:
        found = Temp(*self.declared())
        self.end_line()
        return found

    def kernel(self) -> Kernel:
        self.expect("kernel")
        name = self.name("the kernel's name")
        self.expect("(")
        params = self.listed(self.param, ")")
        self.expect("grid")
        self.expect("[")
        grid = self.listed(self.counted, "]")
        self.expect("threads")
        threads = self.integer()
        self.open_block()
        body = self.body()
        self.end_line()
        return Kernel(name, params, grid, threads, body)

    def counted(self) -> tuple[str, Affine]:
        name = self.name("a variable")
        self.expect("<")
        return name, self.affine()

    def body(self) -> tuple[Stmt, ...]:
        """The statements up to the closing brace, which is taken."""
        found: list[Stmt] = []
        while not self.accept("}"):
            found.append(self.stmt())
        return tuple(found)

    def stmt(self) -> Stmt:
        parse = self.one_of(_STATEMENTS, "a statement")
        stmt = parse(self)
        if isinstance(stmt, For | ParallelFor | If):
            self.expect("{")
            origin = self.origin()
            self.end_line()
            stmt = replace(stmt, body=self.body(), origin=origin)
        else:
            stmt = replace(stmt, origin=self.origin())
        self.end_line()
        return stmt

    def alloc(self) -> Stmt:
        start = self.token
        name, dtype, extents, memory = self.declared()
        if not all(extent.is_constant for extent in extents):
            raise self.refusal(f"the shape of `{name}` is not constant", start)
        self.expect("slots")
        slots = self.integer()
        self.expect("pad")
        shape = tuple(extent.value for extent in extents)
        return Alloc(name, dtype, shape, memory, slots, self.integer(), self.accept("mixed"))

    def moved(self) -> tuple[View, View, float | int | None]:
        target = self.view()
        self.expect("<-")
        source = self.view()
        return target, source, self.number() if self.accept("fill") else None

    def copy(self) -> Stmt:
        return Copy(*self.moved())

    def start(self) -> Stmt:
        target, source, fill = self.moved()
        self.expect("token")
        return Start(target, source, self.name("a token"), fill)

    def wait(self) -> Stmt:
        return Wait(self.name("a token"), self.affine() if self.accept("keep") else ZERO)

    def barrier(self) -> Stmt:
        return Barrier(self.name("a processor"), self.name("a memory"))

    def fill(self) -> Stmt:
        return Fill(self.view(), self.number())

    def map(self) -> Stmt:
        target = self.view()
        self.expect("=")
        return Map(target, self.expr())

    def reduce(self) -> Stmt:
        target = self.view()
        kind = self.one_of(_REDUCTIONS, "`add`, `mul`, `max` or `min`")
        self.expect("=")
        source = self.view()
        self.expect("axis")
        return Reduce(target, kind, source, self.integer())

    def mma(self) -> Stmt:
        target = self.view()
        self.expect("+=")
        left = self.view()
        self.expect("@")
        right = self.view()
        transposed: Transposed = ""
        if self.accept("trans"):
            transposed = self.one_of(_TRANSPOSED, "`a`, `b` or `ab`")
        self.expect("by")
        return Mma(target, left, right, self.dotted("a primitive"), transposed)

    def call(self) -> Stmt:
        symbol = self.dotted("a symbol")
        self.expect("(")
        return Call(symbol, self.listed(self.argument, ")"))

    def argument(self) -> Passed | Affine | Const:
        if self.is_view_after_privilege():
            return Passed(self.one_of(_PRIVILEGES, "a privilege"), self.view())
        constant = self.constant()
        return self.affine() if constant is None else constant

    def is_view_after_privilege(self) -> bool:
        follower = self.tokens[self.next + 1]
        return self.token.text in _PRIVILEGES and follower.kind in ("word", "string")

    def for_(self) -> Stmt:
        variable, extent = self.counted()
        pipelined = self.integer() if self.accept("pipelined") else 1
        return For(variable, extent, (), pipelined)

    def pfor(self) -> Stmt:
        variable, extent = self.counted()
        self.expect("at")
        proc = self.name("a processor")
        reduced: list[str] = []
        if self.accept("reduce"):
            self.expect("add")
            reduced.append(self.name("a buffer"))
            while self.accept(","):
                reduced.append(self.name("a buffer"))
        return ParallelFor(variable, extent, proc, (), tuple(reduced))

    def if_(self) -> Stmt:
        left = self.affine()
        comparison = self.one_of(_COMPARISONS, "a comparison")
        return If(left, comparison, self.affine(), ())

    def origin(self) -> Origin:
        because = self.string("a reason") if self.accept("because") else ""
        yaml = self.place() if self.accept("yaml") else None
        python = self.place() if self.accept("python") else None
        return Origin(because, yaml, python)

    def place(self) -> Loc:
        source = SourceName(self.string("a file"))
        self.expect(":")
        line = self.integer()
        self.expect(":")
        column = self.integer()
        self.expect("-")
        end_line = self.integer()
        self.expect(":")
        end_column = self.integer()
        caller = self.place() if self.accept("from") else None
        return Loc(source, line, column, end_line, end_column, caller)

    def view(self) -> View:
        buffer = self.name("a view")
        self.expect(".")
        memory = self.name("a memory")
        slot = None
        if self.accept("@"):
            self.expect("(")
            slot = self.affine()
            self.expect(")")
        self.expect("[")
        axes = self.listed(self.axis, "]")
        offsets, extents = tuple(each[0] for each in axes), tuple(each[1] for each in axes)
        return View(buffer, memory, offsets, extents, slot)

    def axis(self) -> tuple[Affine, Affine | None]:
        offset = self.affine()
        return offset, self.affine() if self.accept(":") else None

    def affine(self) -> Affine:
        total = self.affine_term()
        while self.is_next("+") or self.is_next("-"):
            sign = 1 if self.accept("+") else -1
            self.next += sign < 0
            total += self.affine_term() * sign
        return total

    def affine_term(self) -> Affine:
        total = self.affine_factor()
        while self.token.text in ("*", "//", "%"):
            mark = self.take("mark", "an operator")
            factor = self.affine_factor()
            try:
                total = _AFFINE_MARKS[mark.text](total, factor)
            except AffineError as error:
                raise self.refusal(str(error), mark) from None
        return total

    def affine_factor(self) -> Affine:
        if self.accept("-"):
            return -self.affine_factor()
        if self.accept("("):
            inner = self.affine()
            self.expect(")")
            return inner
        if self.token.kind == "number":
            return affine(self.integer())
        name = self.name("an affine expression")
        if name in ("min", "max") and self.accept("("):
            operands = self.listed(self.affine, ")")
            if not operands:
                raise self.error("an operand")
            return minimum(*operands) if name == "min" else maximum(*operands)
        return affine(name)

    def number(self) -> float | int:
        sign = -1 if self.accept("-") else 1
        if self.token.text in _WORD_NUMBERS:
            value = _WORD_NUMBERS[self.take("word", "a number").text]
        else:
            text = self.take("number", "a number").text
            value = int(text) if text.isdigit() else float(text)
        return value if sign == 1 else -value

    def constant(self) -> Const | None:
        """A number with its dtype, if one is next."""
        start = self.next
        self.accept("-")
        is_number = self.token.kind == "number" or self.token.text in _WORD_NUMBERS
        is_typed = is_number and self.tokens[self.next + 1].text == ":"
        self.next = start
        if not is_typed:
            return None
        value = self.number()
        self.expect(":")
        return Const(value, self.one_of(DTYPES, "a dtype"))

    def expr(self, level: int = 1) -> Expr:
        left = self.expr_factor()
        while self.token.kind == "mark" and self.token.text in _INFIX_MARKS:
            kind = _INFIX_MARKS[self.token.text]
            own = INFIX[kind][1]
            if own < level:
                break
            self.next += 1
            left = Binary(kind, left, self.expr(own + 1))
        return left

    def expr_factor(self) -> Expr:
        constant = self.constant()
        if constant is not None:
            return constant
        if self.token.text in _PREFIX_MARKS and self.token.kind == "mark":
            kind = _PREFIX_MARKS[self.take("mark", "an operator").text]
            return Unary(kind, self.expr_factor())
        if self.accept("("):
            inner = self.expr()
            self.expect(")")
            return inner
        if self.tokens[self.next + 1].text == "(" and self.token.kind == "word":
            return self.expr_call()
        return Operand(self.view())

    def expr_call(self) -> Expr:
        token = self.take("word", "a function")
        name = token.text
        self.expect("(")
        if name == "int":
            return Index(self.closed(self.affine))
        if name == "iota":
            return Iota(self.closed(self.integer))
        if name == "column":
            return Column(self.closed(self.view))
        operands = self.listed(self.expr, ")")
        if name in UNARY_CALLS and len(operands) == 1:
            return Unary(UNARY_CALLS[name], *operands)
        if name in BINARY_CALLS and len(operands) == 2:
            return Binary(BINARY_CALLS[name], *operands)
        if name == "select" and len(operands) == 3:
            return Select(*operands)
        if name in DTYPES and len(operands) == 1:
            return Cast(DTYPES[name], *operands)
        raise self.refusal(f"there is no function `{name}` of {len(operands)} operands", token)

    def closed(self, item: Callable[[], T]) -> T:
        found = item()
        self.expect(")")
        return found


def _divisor(factor: Affine) -> int:
    return factor.value


_AFFINE_MARKS: dict[str, Callable[[Affine, Affine], Affine]] = {
    "*": lambda left, right: left * right,
    "//": lambda left, right: left // _divisor(right),
    "%": lambda left, right: left % _divisor(right),
}

_STATEMENTS: dict[str, Callable[[_Parser], Stmt]] = {
    "alloc": _Parser.alloc,
    "copy": _Parser.copy,
    "start": _Parser.start,
    "wait": _Parser.wait,
    "barrier": _Parser.barrier,
    "fill": _Parser.fill,
    "map": _Parser.map,
    "reduce": _Parser.reduce,
    "mma": _Parser.mma,
    "call": _Parser.call,
    "for": _Parser.for_,
    "pfor": _Parser.pfor,
    "if": _Parser.if_,
}
