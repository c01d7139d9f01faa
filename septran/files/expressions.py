"""The conditions in `constraints` and `when`: a tiny grammar, read and computed here.

    condition  = conjunction ("or" conjunction)*
    conjunction = negation ("and" negation)*
    negation   = "not" negation | comparison
    comparison = sum (("<" | "<=" | ">" | ">=" | "==" | "!=") sum)*
    sum        = product (("+" | "-") product)*
    product    = factor (("*" | "//" | "%") factor)*
    factor     = "-" factor | number | name ("." name)* | "(" condition ")"

They mean what they mean in Python, with whole numbers of 64 bits: a result beyond that is an error.
`1 <= x < 4` compares twice. A number is no condition, and a condition no number.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator

from eas.support.records import frozen

LONGEST = 500
DEEPEST = 30
LARGEST = 2**63 - 1

Lookup = Callable[[str], int | bool | None]


class ExpressionError(Exception):
    """What is wrong with an expression, and with which characters of it."""

    def __init__(self, message: str, start: int, end: int, help: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.start = start
        self.end = end
        self.help = help


@frozen
class Number:
    value: int
    start: int
    end: int


@frozen
class Named:
    name: str
    start: int
    end: int


@frozen
class Arithmetic:
    """An operator on numbers, and where it stands."""

    symbol: str
    left: Term
    right: Term
    start: int
    end: int


@frozen
class Comparison:
    """`a < b <= c`: all neighbours compare."""

    terms: tuple[Term, ...]
    symbols: tuple[str, ...]
    start: int
    end: int


@frozen
class Logic:
    """`and` and `or` of several conditions, `not` of one."""

    symbol: str
    terms: tuple[Term, ...]
    start: int
    end: int


Term = Number | Named | Arithmetic | Comparison | Logic

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]+)|(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)"
    r"|(?P<symbol>//|<=|>=|==|!=|[-+*%<>()]))"
)
_WORDS = ("and", "or", "not")
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_COMPUTE: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": lambda left, right: left // right,
    "%": operator.mod,
}
_MEANT = {
    "/": "write `//`: all numbers are whole",
    "=": "write `==`",
    "&": "write `and`",
    "|": "write `or`",
    "!": "write `not`",
}


def parse(text: str) -> Term:
    """The condition that a text is; an `ExpressionError` if it is none."""
    if len(text) > LONGEST:
        raise ExpressionError(f"this has more than {LONGEST} characters", 0, LONGEST)
    parser = _Parser(text)
    term = parser.condition()
    if not parser.is_at_end:
        raise parser.unexpected("the end")
    if isinstance(term, Number | Arithmetic):
        raise ExpressionError("this is a number, not a condition", term.start, term.end)
    return term


def names_in(term: Term) -> Iterator[Named]:
    """Every name in an expression, in the order of the text."""
    match term:
        case Named():
            yield term
        case Arithmetic():
            yield from names_in(term.left)
            yield from names_in(term.right)
        case Comparison() | Logic():
            for each in term.terms:
                yield from names_in(each)
        case Number():
            pass


def holds(term: Term, lookup: Lookup) -> bool:
    """Whether a condition is true; `lookup` gives the value of a name, or None."""
    match term:
        case Comparison():
            return _compares(term, lookup)
        case Logic(symbol="not"):
            return not holds(term.terms[0], lookup)
        case Logic(symbol="and"):
            return all(holds(each, lookup) for each in term.terms)
        case Logic():
            return any(holds(each, lookup) for each in term.terms)
        case Named():
            value = _value(term, lookup)
            if isinstance(value, bool):
                return value
            raise ExpressionError(f"`{term.name}` is the number {value}", term.start, term.end)
        case Number() | Arithmetic():
            raise ExpressionError("this is a number, not a condition", term.start, term.end)


def _compares(term: Comparison, lookup: Lookup) -> bool:
    """Python computes no term after the first pair that does not compare."""
    left = _number(term.terms[0], lookup)
    for symbol, each in zip(term.symbols, term.terms[1:], strict=True):
        right = _number(each, lookup)
        if not _COMPARE[symbol](left, right):
            return False
        left = right
    return True


def _number(term: Term, lookup: Lookup) -> int:
    match term:
        case Number():
            return term.value
        case Named():
            value = _value(term, lookup)
            if isinstance(value, bool):
                message = f"`{term.name}` is `{str(value).lower()}`, not a number"
                raise ExpressionError(message, term.start, term.end)
            return value
        case Arithmetic():
            return _compute(term, _number(term.left, lookup), _number(term.right, lookup))
        case Comparison() | Logic():
            raise ExpressionError("this is a condition, not a number", term.start, term.end)


def _value(term: Named, lookup: Lookup) -> int | bool:
    value = lookup(term.name)
    if value is None:
        raise ExpressionError(f"`{term.name}` has no value", term.start, term.end)
    return value


def _compute(term: Arithmetic, left: int, right: int) -> int:
    if term.symbol in ("//", "%") and right == 0:
        raise ExpressionError("this divides by zero", term.start, term.end)
    result = _COMPUTE[term.symbol](left, right)
    if abs(result) > LARGEST:
        raise ExpressionError("this is beyond 64 bits", term.start, term.end)
    return result


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self._advance()

    @property
    def is_at_end(self) -> bool:
        return self.kind == ""

    def _advance(self) -> None:
        """Read the next token: its kind, its text, where it begins and ends."""
        found = _TOKEN.match(self.text, self.at)
        if found is None:
            self._end_or_refuse()
            return
        self.kind = found.lastgroup or ""
        self.word = found.group(self.kind)
        self.start, self.end = found.span(self.kind)
        if self.kind == "name" and self.word in _WORDS:
            self.kind = "word"
        self.at = self.end

    def _end_or_refuse(self) -> None:
        rest = self.text[self.at :].lstrip()
        self.kind, self.word = "", ""
        self.start = len(self.text) - len(rest)
        self.end = self.start + 1
        if rest:
            help = _MEANT.get(rest[0], "")
            raise ExpressionError(f"`{rest[0]}` cannot stand here", self.start, self.end, help)

    def unexpected(self, wanted: str) -> ExpressionError:
        found = f"`{self.word}`" if self.word else "the end"
        return ExpressionError(f"expected {wanted}, found {found}", self.start, self.end)

    def _take(self, *words: str) -> str | None:
        if self.kind in ("symbol", "word") and self.word in words:
            word = self.word
            self._advance()
            return word
        return None

    def condition(self) -> Term:
        return self._logic("or", lambda: self._logic("and", self._negation))

    def _logic(self, word: str, inner: Callable[[], Term]) -> Term:
        terms = [inner()]
        while self._take(word):
            terms.append(inner())
        if len(terms) == 1:
            return terms[0]
        for each in terms:
            _require_condition(each)
        return Logic(word, tuple(terms), terms[0].start, terms[-1].end)

    def _negation(self) -> Term:
        start = self.start
        if not self._take("not"):
            return self._comparison()
        term = self._nested(self._negation)
        _require_condition(term)
        return Logic("not", (term,), start, term.end)

    def _comparison(self) -> Term:
        terms, symbols = [self._sum()], list[str]()
        while symbol := self._take(*_COMPARE):
            symbols.append(symbol)
            terms.append(self._sum())
        if not symbols:
            return terms[0]
        for each in terms:
            _require_number(each)
        return Comparison(tuple(terms), tuple(symbols), terms[0].start, terms[-1].end)

    def _sum(self) -> Term:
        return self._binary(("+", "-"), lambda: self._binary(("*", "//", "%"), self._factor))

    def _binary(self, symbols: tuple[str, ...], inner: Callable[[], Term]) -> Term:
        left = inner()
        while symbol := self._take(*symbols):
            right = inner()
            _require_number(left)
            _require_number(right)
            left = Arithmetic(symbol, left, right, left.start, right.end)
        return left

    def _factor(self) -> Term:
        start, end, word, kind = self.start, self.end, self.word, self.kind
        if kind == "number":
            if len(word) > 18:
                raise ExpressionError("this number has too many digits", start, end)
            self._advance()
            return Number(int(word), start, end)
        if kind == "name":
            self._advance()
            return Named(word, start, end)
        if self._take("-"):
            inner = self._nested(self._factor)
            _require_number(inner)
            return Arithmetic("-", Number(0, start, end), inner, start, inner.end)
        if self._take("("):
            term = self._nested(self.condition)
            if not self._take(")"):
                raise self.unexpected("`)`")
            return term
        raise self.unexpected("a number or a name")

    def _nested(self, inner: Callable[[], Term]) -> Term:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ExpressionError("this is nested too deeply", self.start, self.end)
        term = inner()
        self.depth -= 1
        return term


def _require_number(term: Term) -> None:
    if isinstance(term, Comparison | Logic):
        raise ExpressionError("this is a condition, not a number", term.start, term.end)


def _require_condition(term: Term) -> None:
    if isinstance(term, Number | Arithmetic):
        raise ExpressionError("this is a number, not a condition", term.start, term.end)
