"""Parses a Metal text into its tree.

It reads what our texts are written in: functions, declarations, loops, branches, expressions. A
text with anything else (a `struct`, a `switch`) is refused with a `MetalSyntaxError`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from eas.msl.host.errors import MslError
from eas.msl.host.tokens import Token, closing, tokenize
from eas.review.metal.syntax import (
    Assign,
    Binary,
    Block,
    Braces,
    Call,
    Cast,
    Choice,
    Declare,
    Evaluate,
    Expression,
    Function,
    If,
    Index,
    Leave,
    Loop,
    Member,
    MetalText,
    Name,
    Number,
    Parameter,
    Statement,
    Type,
    Unary,
)

_QUALIFIERS = {
    "const",
    "constexpr",
    "inline",
    "static",
    "volatile",
    "unsigned",
    "kernel",
    "coherent",
}
_SPACES = {"device", "threadgroup", "thread", "constant"}
_ASSIGNING = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
_LEVELS = {
    op: level
    for level, ops in enumerate(
        ("||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %")
    )
    for op in ops.split()
}
_UNARY = {"-", "+", "!", "~", "*", "&", "++", "--"}
_TYPE_NAME = re.compile(
    r"(?:bool|char|uchar|short|ushort|int|uint|long|ulong|half|bfloat|float|double|size_t)[234]?"
    r"|void|auto|atomic_\w+|simdgroup_\w+8x8|vec|simdgroup_matrix|packed_\w+"
)


class MetalSyntaxError(Exception):
    """A text has something that is not counted; the message has the line."""


def parse(text: str) -> MetalText:
    """The functions of a text."""
    try:
        return _Parser(tokenize(text)).text()
    except MslError as error:
        raise MetalSyntaxError(str(error)) from error
    except RecursionError:
        raise MetalSyntaxError("the text is nested too deeply") from None


class _Parser:
    def __init__(self, tokens: Sequence[Token]) -> None:
        self.attributes: dict[int, str] = {}
        self.tokens = self._plain(tokens)
        self.at = 0

    def _plain(self, tokens: Sequence[Token]) -> list[Token]:
        """Without directives, with an end; an attribute is noted at the word before it."""
        kept: list[Token] = []
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token.text == "[[":
                end = closing(tokens, at)
                words = "".join(each.text for each in tokens[at + 1 : end])
                self.attributes[len(kept) - 1] = words
                at = end
            elif token.text == "]]":
                kept += [_part(token, 0), _part(token, 1)]
            elif token.kind != "directive":
                kept.append(token)
            at += 1
        last = tokens[-1] if tokens else None
        kept.append(Token("sign", "", last.end if last else 0, 0, last.line if last else 1))
        return kept

    def text(self) -> MetalText:
        functions: list[Function] = []
        while self.peek():
            if self.accept("using"):
                self.skip_to(";")
            elif self.peek() == "template":
                self.at += 1
                self.template_arguments()
            elif self.accept("constant"):
                self.skip_to(";")
            else:
                functions.append(self.function())
        return MetalText(tuple(functions))

    def function(self) -> Function:
        line, start = self.line, self.at
        result = self.type()
        is_kernel = any(token.text == "kernel" for token in self.tokens[start : self.at])
        name = self.name()
        self.expect("(")
        parameters: list[Parameter] = []
        while not self.accept(")"):
            kind = self.type()
            at = self.at
            parameters.append(Parameter(kind, self.name(), self.attributes.get(at, "")))
            self.accept(",")
        if self.accept(";"):
            return Function(name, result, tuple(parameters), Block(line, ()), line, is_kernel)
        return Function(name, result, tuple(parameters), self.block(), line, is_kernel)

    def block(self) -> Block:
        line = self.line
        self.expect("{")
        statements: list[Statement] = []
        while not self.accept("}"):
            statements += self.statement()
        return Block(line, tuple(statements))

    def body(self) -> Block:
        if self.peek() == "{":
            return self.block()
        line = self.line
        return Block(line, tuple(self.statement()))

    def statement(self) -> list[Statement]:
        line, word = self.line, self.peek()
        if word == "{":
            return [self.block()]
        if word == ";":
            self.at += 1
            return []
        if word == "if":
            return [self.branch()]
        if word in ("for", "while", "do"):
            return [self.loop()]
        if word in ("return", "break", "continue"):
            self.at += 1
            value = None if self.peek() == ";" else self.expression()
            self.expect(";")
            return [Leave(line, word, value)]
        if word in ("switch", "goto", "struct", "union", "enum", "typedef"):
            raise self.error(f"`{word}` is not read")
        if self.is_declaration():
            return self.declaration()
        value = self.expression()
        self.expect(";")
        return [Evaluate(line, value)]

    def branch(self) -> If:
        line = self.line
        self.expect("if")
        condition = self.condition()
        then = self.body()
        orelse = self.body() if self.accept("else") else Block(line, ())
        return If(line, condition, then, orelse)

    def condition(self) -> Expression:
        self.expect("(")
        value = self.expression()
        self.expect(")")
        return value

    def loop(self) -> Loop:
        line, start = self.line, self.at
        word = self.tokens[self.at].text
        self.at += 1
        if word == "do":
            body = self.body()
            self.expect("while")
            condition = self.condition()
            self.expect(";")
            return Loop(line, "do", (), condition, (), body, True)
        if word == "while":
            condition = self.condition()
            return Loop(line, self.spelled(start), (), condition, (), self.body())
        self.expect("(")
        first = self.statement()
        condition = None if self.peek() == ";" else self.expression()
        self.expect(";")
        steps: list[Expression] = []
        while self.peek() != ")":
            steps.append(self.expression())
            self.accept(",")
        self.expect(")")
        return Loop(line, self.spelled(start), tuple(first), condition, tuple(steps), self.body())

    def spelled(self, start: int) -> str:
        """The words since a place, as they are spaced in the text."""
        words, own = "", self.tokens[start : self.at]
        for before, token in zip([None, *own[:-1]], own, strict=True):
            words += " " * bool(before and token.start > before.end) + token.text
        return words

    def is_declaration(self) -> bool:
        """Whether a type and a name begin here."""
        word = self.peek()
        if word in _QUALIFIERS or word in _SPACES:
            return True
        if self.tokens[self.at].kind != "name":
            return False
        follower = self.peek(1)
        if follower in ("<", "*", "&"):
            return bool(_TYPE_NAME.fullmatch(word))
        return bool(re.fullmatch(r"[A-Za-z_]\w*", follower))

    def declaration(self) -> list[Statement]:
        line, kind = self.line, self.type()
        declared: list[Statement] = []
        while True:
            is_pointer = kind.is_pointer
            if self.accept("("):  # `half (*tile)[64]`, a pointer to rows
                self.next()
                is_pointer = True
                name = self.name()
                self.expect(")")
            else:
                name = self.name()
            whole = Type(kind.name, kind.space, is_pointer, self.extents())
            declared.append(Declare(line, whole, name, self.initial_value()))
            if not self.accept(","):
                break
        self.expect(";")
        return declared

    def extents(self) -> tuple[int, ...]:
        """`[2][64]` behind a name."""
        found: list[int] = []
        while self.accept("["):
            size = self.expression() if self.peek() != "]" else None
            value = size.value if isinstance(size, Number) else None
            found.append(-1 if value is None else value)
            self.expect("]")
        return tuple(found)

    def initial_value(self) -> Expression | None:
        if self.accept("="):
            return self.assignment() if self.peek() != "{" else self.braces()
        return self.braces() if self.peek() == "{" else None

    def braces(self) -> Braces:
        self.expect("{")
        items: list[Expression] = []
        while not self.accept("}"):
            items.append(self.braces() if self.peek() == "{" else self.assignment())
            self.accept(",")
        return Braces(tuple(items))

    def type(self) -> Type:
        space, name, is_pointer = "", "", False
        while True:
            word = self.peek()
            if word in _SPACES:
                space = word
            elif word in ("*", "&"):
                is_pointer = is_pointer or word == "*"
            elif word in _QUALIFIERS:
                name = "uint" if word == "unsigned" else name
            elif not name or (name == "uint" and word == "int"):
                name = name or self.name_of_type()
                continue
            else:
                return Type(name, space, is_pointer)
            self.at += 1

    def name_of_type(self) -> str:
        name = self.name()
        while self.accept("::"):
            name = self.name()
        if self.peek() == "<":
            inside = self.template_arguments()
            match = re.match(r"(\w+),(\d)", inside)
            if name == "vec" and match:
                return f"{match[1]}{match[2]}"
            if name == "simdgroup_matrix" and match:
                return f"simdgroup_{match[1]}8x8"
            return name
        return name

    def template_arguments(self) -> str:
        self.expect("<")
        words, depth = "", 1
        while depth:
            word = self.next()
            depth += {"<": 1, ">": -1}.get(word, 0)
            words += word if depth else ""
        return words

    def expression(self) -> Expression:
        return self.assignment()

    def assignment(self) -> Expression:
        target = self.choice()
        if self.peek() in _ASSIGNING:
            operator = self.next()[:-1]
            value = self.braces() if self.peek() == "{" else self.assignment()
            return Assign(operator, target, value)
        return target

    def choice(self) -> Expression:
        condition = self.binary(0)
        if not self.accept("?"):
            return condition
        then = self.assignment()
        self.expect(":")
        return Choice(condition, then, self.assignment())

    def binary(self, level: int) -> Expression:
        left = self.unary()
        while True:
            operator = self.operator()
            own = _LEVELS.get(operator, -1)
            if own < level:
                return left
            self.at += 2 if operator == ">>" else 1
            left = Binary(operator, left, self.binary(own + 1))

    def operator(self) -> str:
        """`>>` comes as two words, because it may close templates."""
        word = self.peek()
        is_shift = word == ">" and self.peek(1) == ">"
        is_shift = is_shift and self.tokens[self.at].end == self.tokens[self.at + 1].start
        return ">>" if is_shift else word

    def unary(self) -> Expression:
        word = self.peek()
        if word in _UNARY:
            self.at += 1
            return Unary(word, self.unary())
        if word == "(" and self.is_cast():
            self.at += 1
            kind = self.type()
            if self.accept("("):  # `(threadgroup half (*)[64])`
                self.expect("*")
                self.expect(")")
                kind = Type(kind.name, kind.space, True, self.extents())
            self.expect(")")
            return Cast(kind, self.unary())
        return self.postfix(self.primary())

    def is_cast(self) -> bool:
        word, follower = self.peek(1), self.peek(2)
        if word in _SPACES or word == "const":
            return True
        return bool(_TYPE_NAME.fullmatch(word)) and follower in (")", "*")

    def primary(self) -> Expression:
        token = self.tokens[self.at]
        self.at += 1
        if token.text == "(":
            value = self.expression()
            self.expect(")")
            return value
        if token.kind == "number":
            return _number(token.text)
        if token.kind == "string":
            return Number(None, "string")
        if token.kind != "name":
            raise self.error(f"`{token.text}` is not expected", token)
        name = token.text
        while self.accept("::"):
            name = f"{name}::{self.name()}"
        of = ""
        if self.peek() == "<" and self.is_template():
            of = self.template_arguments()
        if self.peek() == "(":
            return Call(name, self.arguments(), of)
        if of:
            raise self.error(f"`{name}<{of}>` is not read", token)
        return Name(name)

    def is_template(self) -> bool:
        """Whether `<` opens the types of a template: `as_type<int>(x)`."""
        at, depth = self.at, 0
        while at < len(self.tokens):
            token = self.tokens[at]
            depth += {"<": 1, ">": -1}.get(token.text, 0)
            if not depth:
                return at + 1 < len(self.tokens) and self.tokens[at + 1].text == "("
            if token.kind == "sign" and token.text not in ("<", ">", ",", "::"):
                return False
            at += 1
        return False

    def postfix(self, value: Expression) -> Expression:
        while True:
            place = self.at
            if self.accept("["):
                value = Index(value, self.expression(), place)
                self.expect("]")
            elif self.accept(".") or self.accept("->"):
                name = self.name()
                if self.peek() == "(":
                    value = Call(f".{name}", (value, *self.arguments()))
                else:
                    value = Member(value, name)
            elif self.peek() in ("++", "--"):
                value = Unary(self.next(), value)
            else:
                return value

    def arguments(self) -> tuple[Expression, ...]:
        self.expect("(")
        found: list[Expression] = []
        while not self.accept(")"):
            found.append(self.assignment())
            if self.peek() != ")":
                self.expect(",")
        return tuple(found)

    @property
    def line(self) -> int:
        return self.tokens[self.at].line

    def peek(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at].text if at < len(self.tokens) else ""

    def next(self) -> str:
        word = self.peek()
        if not word:
            raise self.error("the text ends in the middle of something")
        self.at += 1
        return word

    def accept(self, word: str) -> bool:
        if self.peek() != word:
            return False
        self.at += 1
        return True

    def expect(self, word: str) -> None:
        if not self.accept(word):
            raise self.error(f"`{word}` is expected, not {self.found()}")

    def found(self) -> str:
        return f"`{self.peek()}`" if self.peek() else "the end"

    def name(self) -> str:
        if self.tokens[self.at].kind != "name":
            raise self.error(f"a name is expected, not {self.found()}")
        return self.next()

    def skip_to(self, word: str) -> None:
        while self.next() != word:
            pass

    def error(self, message: str, token: Token | None = None) -> MetalSyntaxError:
        line = token.line if token else self.line
        return MetalSyntaxError(f"line {line}: {message}")


def _part(token: Token, at: int) -> Token:
    """One of the two brackets of `]]`."""
    return Token("sign", "]", token.start + at, token.start + at + 1, token.line)


def _number(text: str) -> Number:
    word = text.lower()
    is_hexadecimal = word.startswith("0x")
    if not is_hexadecimal and re.search(r"[.ehf]|bf$", word):
        return Number(None, "half" if word.endswith("h") else "float")
    digits = word.rstrip("ul")
    is_long, is_unsigned = "l" in word, "u" in word
    name = ("u" * is_unsigned) + ("long" if is_long else "int")
    try:
        return Number(int(digits, 0), name)
    except ValueError:
        return Number(None, name)
