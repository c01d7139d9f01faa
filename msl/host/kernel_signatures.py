"""The kernels of an MSL text, their parameters, and its function constants."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count

from eas.msl.host.errors import MslError
from eas.msl.host.tokens import Token, closing
from eas.support.records import frozen, replace

MOST_THREADS = 1024
_LIMIT = "max_total_threads_per_threadgroup"


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
    """A kernel's name and parameters; `result` is what it is declared to return.

    A threadgroup of it has at most so many threads as `limit`.
    """

    name: str
    parameters: tuple[Parameter, ...]
    line: int
    result: str = "void"
    limit: int = MOST_THREADS


@frozen
class FunctionConstant:
    """`constant bool has_bias [[function_constant(0)]];`, from its first word to its last."""

    type: str
    name: str
    index: int
    words: tuple[Token, ...]


def find_kernels(tokens: Sequence[Token]) -> Iterator[Signature]:
    """Every kernel that is defined in a text."""
    words, limits = _without_attributes(tokens)
    for at, token in enumerate(words):
        if token.text != "kernel" or token.kind != "name" or _is_template(words, at):
            continue
        opening = next((i for i in range(at, len(words)) if words[i].text == "("), None)
        if opening is None or opening < at + 3:
            continue
        result = " ".join(word.text for word in words[at + 1 : opening - 1])
        name, end = words[opening - 1].text, closing(words, opening)
        parameters = [_parameter(name, part) for part in split(words[opening + 1 : end])]
        limit = next((limits[i] for i in range(_start(words, at), at + 2) if i in limits), None)
        indexed = tuple(_with_indices(parameters))
        yield Signature(name, indexed, token.line, result, limit or MOST_THREADS)


def _with_indices(parameters: Sequence[Parameter]) -> Iterator[Parameter]:
    """Buffers without an attribute have the indices that no other one has, in their order."""
    taken = {p.index for p in parameters if p.attribute.startswith("buffer(")}
    free = (index for index in count() if index not in taken)
    for each in parameters:
        is_buffer = {"device", "constant"} & {*each.type.split()} and each.type[-1] in "*&"
        attribute = f"buffer({next(free)})" if is_buffer and not each.attribute else each.attribute
        yield replace(each, attribute=attribute)


def _without_attributes(tokens: Sequence[Token]) -> tuple[list[Token], dict[int, int]]:
    """The words without attributes of functions, and the limits of threads that stood among them.

    `[[kernel]]` is the word `kernel`.
    """
    words: list[Token] = []
    limits: dict[int, int] = {}
    at = depth = 0
    while at < len(tokens):
        token = tokens[at]
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if token.text != "[[" or depth:
            words.append(token)
            at += 1
            continue
        end = closing(tokens, at)
        inside = tokens[at + 1 : end]
        for name, number in zip(inside, inside[2:], strict=False):
            if name.text == _LIMIT and number.text.isdigit():
                limits[len(words)] = int(number.text)
        words += [word for word in inside if word.text == "kernel"]
        at = end + 1
    return words, limits


def _start(words: Sequence[Token], at: int) -> int:
    """Where the declaration begins that a word is in."""
    for place in range(at - 1, -1, -1):
        if words[place].text in (";", "}", "{") or words[place].kind == "directive":
            return place + 1
    return 0


def _is_template(words: Sequence[Token], at: int) -> bool:
    """Whether a template's parameters stand before; such kernels have no name to launch."""
    return any(word.text == "template" for word in words[_start(words, at) : at])


def split(tokens: Sequence[Token]) -> Iterator[list[Token]]:
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
        attribute = _attribute(tokens[start + 1 : end])
        texts = texts[:start] + texts[end + 1 :]
    if len(texts) < 2:
        raise MslError(f"line {tokens[0].line}: this parameter of the kernel has no name", kernel)
    return Parameter(" ".join(texts[:-1]), texts[-1], attribute, tokens[0].line)


def _attribute(tokens: Sequence[Token]) -> str:
    """What a parameter stands for: the other attribute may be the constant that switches it on."""
    attributes = ["".join(token.text for token in part) for part in split(tokens)]
    others = [each for each in attributes if not each.startswith("function_constant(")]
    return ", ".join(others)


def find_function_constants(tokens: Sequence[Token]) -> Iterator[FunctionConstant]:
    for at, token in enumerate(tokens):
        if token.text != "function_constant" or tokens[at - 1].text != "[[":
            continue
        start, end = _start(tokens, at), closing(tokens, at - 1) + 1
        names = [word.text for word in tokens[start : at - 1]]
        if "constant" in names and end < len(tokens) and tokens[end].text == ";":
            ty = " ".join(word for word in names[:-1] if word not in ("constant", "const"))
            words = tuple(tokens[start : end + 1])
            yield FunctionConstant(ty, names[-1], int(tokens[at + 2].text), words)
