"""The tree of a Metal text: the part of C++ that our texts are written in."""

from __future__ import annotations

from eas.support.records import frozen


@frozen
class Type:
    """`device const float*`: the space, the name, and whether it is a pointer or a reference.

    `dims` are the extents of an array; -1 for one that is no number.
    """

    name: str
    space: str = ""
    is_pointer: bool = False
    dims: tuple[int, ...] = ()


class Expression:
    """A part of a line."""

    __slots__ = ()


@frozen(eq=False)
class Number(Expression):
    """`value` is None for a float, whose value is not needed."""

    value: int | None
    type: str


@frozen(eq=False)
class Name(Expression):
    text: str


@frozen(eq=False)
class Unary(Expression):
    operator: str
    operand: Expression


@frozen(eq=False)
class Binary(Expression):
    operator: str
    left: Expression
    right: Expression


@frozen(eq=False)
class Choice(Expression):
    """`condition ? then : orelse`"""

    condition: Expression
    then: Expression
    orelse: Expression


@frozen(eq=False)
class Assign(Expression):
    """`target = value`, or `target += value` with the operator `+`."""

    operator: str
    target: Expression
    value: Expression


@frozen(eq=False)
class Call(Expression):
    """`of` is the type that a template gets: `as_type<int>`."""

    function: str
    arguments: tuple[Expression, ...]
    of: str = ""


@frozen(eq=False)
class Index(Expression):
    """An element of an array; `place` differs for each access of a text."""

    base: Expression
    index: Expression
    place: int


@frozen(eq=False)
class Member(Expression):
    base: Expression
    name: str


@frozen(eq=False)
class Cast(Expression):
    type: Type
    operand: Expression


@frozen(eq=False)
class Braces(Expression):
    """`{1, 2}`"""

    items: tuple[Expression, ...]


@frozen(eq=False)
class Statement:
    """`line` counts from 1."""

    line: int


@frozen(eq=False)
class Declare(Statement):
    type: Type
    name: str
    value: Expression | None


@frozen(eq=False)
class Evaluate(Statement):
    value: Expression


@frozen(eq=False)
class Block(Statement):
    statements: tuple[Statement, ...]


@frozen(eq=False)
class If(Statement):
    condition: Expression
    then: Block
    orelse: Block


@frozen(eq=False)
class Loop(Statement):
    """`head` is its text; a `for` has a start and a step; `do` tests behind the body."""

    head: str
    start: tuple[Statement, ...]
    condition: Expression | None
    step: tuple[Expression, ...]
    body: Block
    is_tested_behind: bool = False


@frozen(eq=False)
class Leave(Statement):
    """`return`, `break`, `continue`"""

    kind: str
    value: Expression | None = None


@frozen(eq=False)
class Parameter:
    """`attribute` is `buffer(0)`, `thread_index_in_simdgroup` and the like."""

    type: Type
    name: str
    attribute: str = ""


@frozen(eq=False)
class Function:
    name: str
    result: Type
    parameters: tuple[Parameter, ...]
    body: Block
    line: int
    is_kernel: bool = False


@frozen(eq=False)
class MetalText:
    """All functions of a text, in their order; several may have one name."""

    functions: tuple[Function, ...]
