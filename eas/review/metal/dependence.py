"""What the statements of a loop change, and whether its trips differ in what they do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eas.review.metal.syntax import (
    Assign,
    Binary,
    Block,
    Call,
    Choice,
    Declare,
    Expression,
    If,
    Loop,
    Member,
    Name,
    Number,
    Statement,
    Unary,
)

Node = Statement | Expression


def assigned_names(node: Node) -> set[str]:
    """The variables that are assigned, or whose address is passed on."""
    found: set[str] = set()
    for each in walk(node):
        if isinstance(each, Assign):
            found |= _target(each.target)
        elif isinstance(each, Unary) and each.operator in ("++", "--", "&"):
            found |= _target(each.operand)
    return found


def step_of(loop: Loop) -> int | None:
    """What a loop adds to its counter in each trip: 4 in `for (...; i < n; i += 4)`."""
    if len(loop.step) != 1 or not isinstance(loop.condition, Binary):
        return None
    counter = loop.condition.left
    if not isinstance(counter, Name) or counter.text in assigned_names(loop.body):
        return None
    if names_in(loop.condition.right) & (assigned_names(loop.body) | {counter.text}):
        return None
    match loop.step[0]:
        case Unary(operator="++" | "--" as operator, operand=Name(text=name)):
            step = 1 if operator == "++" else -1
        case Assign(operator="+" | "-" as operator, target=Name(text=name), value=Number(value=n)):
            step = (n or 0) if operator == "+" else -(n or 0)
        case _:
            return None
    return step if name == counter.text and step else None


def depends_on(loop: Loop) -> bool:
    """Whether a condition in a loop depends on what changes from trip to trip."""
    changing = assigned_names(loop)
    while True:
        more = {name for name, value in _definitions(loop.body) if names_in(value) & changing}
        if more <= changing:
            break
        changing |= more
    return any(names_in(condition) & changing for condition in _conditions(loop.body))


def names_in(node: Node) -> set[str]:
    return {each.text for each in walk(node) if isinstance(each, Name)}


def walk(node: Node) -> Iterator[Node]:
    """A node with everything in it."""
    yield node
    fields: tuple[str, ...] = getattr(type(node), "__match_args__", ())
    for name in fields:
        yield from _walk_field(getattr(node, name))


def _walk_field(value: Any) -> Iterator[Node]:
    if isinstance(value, Statement | Expression):
        yield from walk(value)
    elif isinstance(value, tuple):
        for each in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _walk_field(each)


def _target(node: Expression) -> set[str]:
    """The variable of a target; an element of an array has no number that is known."""
    while isinstance(node, Member):
        node = node.base
    return {node.text} if isinstance(node, Name) else set()


def _definitions(node: Node) -> Iterator[tuple[str, Expression]]:
    for each in walk(node):
        if isinstance(each, Declare) and each.value is not None:
            yield each.name, each.value
        elif isinstance(each, Assign):
            for name in _target(each.target):
                yield name, each.value


def _conditions(block: Block) -> Iterator[Node]:
    for each in walk(block):
        if isinstance(each, If | Choice):
            yield each.condition
        elif isinstance(each, Loop):
            if each.condition is not None:
                yield each.condition
            yield from each.start
        elif isinstance(each, Binary) and each.operator in ("&&", "||"):
            yield each.left
        elif isinstance(each, Call):
            yield from each.arguments
