"""The kernels of an MSL text and their parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from eas.ir.records import frozen
from eas.msl.host.errors import MslError
from eas.msl.host.tokens import Token, closing, tokenize


@frozen
class Parameter:
    """A parameter of a kernel: `device float* x [[buffer(0)]]`."""

    type: str
    name: str
    attribute: str
    line: int

    @property
    def index(self) -> int:
        """The number in `buffer(3)` and `threadgroup(0)`, else -1."""
        match = re.fullmatch(r"(?:buffer|threadgroup)\((\d+)\)", self.attribute)
        return int(match[1]) if match else -1


@frozen
class Signature:
    """A kernel's name and parameters; `result` is what it is declared to return."""

    name: str
    parameters: tuple[Parameter, ...]
    line: int
    result: str = "void"


def signatures(text: str) -> list[Signature]:
    """Every kernel that is defined in a text."""
    return list(find_kernels(tokenize(text)))


def find_kernels(tokens: Sequence[Token]) -> Iterator[Signature]:
    for at, token in enumerate(tokens):
        if token.text != "kernel" or token.kind != "name":
            continue
        # `[[kernel]] void f(...)` has the closing bracket in between.
        start = at + 2 if tokens[at + 1].text == "]]" else at + 1
        is_template = _is_after_template(tokens, at)
        opening = next((i for i in range(start, len(tokens)) if tokens[i].text == "("), None)
        if opening is None or opening < start + 2 or is_template:
            continue
        result = " ".join(t.text for t in tokens[start : opening - 1])
        name, end = tokens[opening - 1].text, closing(tokens, opening)
        parts = list(_split(tokens[opening + 1 : end]))
        parameters = tuple(_parameter(name, part) for part in parts)
        yield Signature(name, parameters, token.line, result)


def _is_after_template(tokens: Sequence[Token], at: int) -> bool:
    """Whether a template's parameters stand before; such kernels have no name to launch."""
    for token in reversed(tokens[:at]):
        if token.text == "template":
            return True
        if token.text in (";", "}", "{") or token.kind == "directive":
            return False
    return False


def _split(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The parts between commas that no bracket encloses."""
    part: list[Token] = []
    depth = 0
    for token in tokens:
        depth += {"(": 1, "[": 1, "[[": 1, "<": 1, ")": -1, "]": -1, "]]": -1, ">": -1}.get(
            token.text, 0
        )
        if token.text == "," and depth == 0:
            yield part
            part = []
        else:
            part.append(token)
    if part:
        yield part


def _parameter(kernel: str, tokens: list[Token]) -> Parameter:
    texts = [token.text for token in tokens]
    attribute = ""
    if "[[" in texts:
        start = texts.index("[[")
        end = texts.index("]]", start)
        attribute = "".join(texts[start + 1 : end])
        texts = texts[:start] + texts[end + 1 :]
    if len(texts) < 2:
        raise MslError(f"line {tokens[0].line}: this parameter of the kernel has no name", kernel)
    return Parameter(" ".join(texts[:-1]), texts[-1], attribute, tokens[0].line)
