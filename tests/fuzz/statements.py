"""Random statements that assign, store, check and leave."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.expressions import (
    call_text,
    condition,
    expression,
    index,
    int_expression,
    tame,
    tuple_expression,
)
from tests.fuzz.maker import Maker, Place
from tests.fuzz.types import INT_LIMIT, PAIR, WRITTEN, FunctionOf, Kind, TupleOf

Write = Callable[[Maker, Place], None]

_KINDS = (Kind.INT, Kind.INT, Kind.FLOAT, Kind.BOOL)
_TUPLES = (
    TupleOf((Kind.INT, Kind.FLOAT)),
    TupleOf((Kind.INT, Kind.INT)),
    PAIR,
    TupleOf((Kind.INT, Kind.INT), "list"),
)
_PREFIX = {Kind.INT: "v", Kind.FLOAT: "f", Kind.BOOL: "b"}


def expression_depth(m: Maker) -> int:
    """How deep an expression of a statement is: most are short, so that there is room for more."""
    return m.pick((1, 1, 0, 2))


def assign(m: Maker, place: Place) -> None:
    """`v = e`, also with an annotation or two targets."""
    kind = m.pick(_KINDS)
    value = tame(m, place, kind, expression_depth(m)).text
    name = target(m, place, kind)
    choice = m.below(8)
    if choice == 7:
        m.line(f"{name}: {kind.value} = {value}")
    elif choice == 6 and place.has_arrays and m.chance(2):
        m.line(f"{name} = {WRITTEN[kind][0]}[i, 1] = {value}")
    elif choice == 6:
        other = target(m, place, kind)
        m.line(f"{name} = {other} = {value}")
        place.names[other] = kind
    elif choice == 5 and place.has_walrus:
        m.line(f"({name} := {value})")
    else:
        m.line(f"{name} = {value}")
    place.names[name] = kind


def target(m: Maker, place: Place, kind: Kind) -> str:
    """A name to assign to: one that has a value, or a new one."""
    names = place.assignable(kind)
    if names and not m.chance(3):
        return m.pick(names)
    return m.fresh(_PREFIX[kind])


def augment(m: Maker, place: Place) -> None:
    """`v += e`, and what keeps it small."""
    kind = m.pick((Kind.INT, Kind.INT, Kind.FLOAT))
    names = place.assignable(kind)
    if not names:
        assign(m, place)
        return
    name = m.pick(names)
    value = tame(m, place, kind, expression_depth(m)).text
    if kind is Kind.FLOAT:
        m.line(f"{name} {m.pick(('+=', '-='))} {value}")
        m.line(f"{name} %= {m.pick(('16.0', '4.0', '-8.0'))}")
        return
    operator = m.pick(("+=", "-=", "*=", "|=", "^=", "&=", "//=", ">>="))
    if operator == "//=":
        value = m.pick(("2", "-3", "7"))
    elif operator == ">>=":
        value = str(m.below(3))
    m.line(f"{name} {operator} {value}")
    m.line(f"{name} %= {m.pick((50, 100, -17))}")


def swap(m: Maker, place: Place) -> None:
    """Several names at once: all values are read before any name changes."""
    kind = m.pick((Kind.INT, Kind.FLOAT, Kind.INT))
    names = place.assignable(kind)
    if len(names) < 2:
        assign(m, place)
        return
    first = m.below(len(names) - 1)
    a, b = names[first], names[first + 1]
    if place.has_arrays and m.chance(4):
        array = WRITTEN[kind][0]
        m.line(f"{array}[i, 0], {array}[i, -1] = {array}[i, -1], {a}")
    elif m.chance(2):
        m.line(f"{a}, {b} = {b}, {a}")
    else:
        m.line(f"{a}, {b} = {b}, {tame(m, place, kind, 1).text}")


def unpack(m: Maker, place: Place) -> None:
    """Tuples with names, stars and nested targets."""
    choice = m.below(4)
    if choice == 0:
        ty = m.pick(_TUPLES)
        known = place.assignable(ty)
        name = m.pick(known) if known and m.chance(2) else m.fresh("t")
        m.line(f"{name} = {tuple_expression(m, place, ty, 1)}")
        place.names[name] = ty
        return
    tuples = place.tuples()
    if choice == 1 and tuples:
        source, ty = m.pick(tuples)
        names = [target(m, place, kind) for kind in ty.kinds]
        if len(set(names)) == len(names):
            m.line(f"{''.join(f'{name}, ' for name in names)}= {source}")
            place.names.update(zip(names, ty.kinds, strict=True))
            return
    _unpack_with_star(m, place, is_nested=choice == 3)


def _unpack_with_star(m: Maker, place: Place, is_nested: bool) -> None:
    values = [tame(m, place, Kind.INT, 1).text for _ in range(3 + m.below(2))]
    first, last = m.fresh("v"), m.fresh("v")
    rest = m.fresh("t")
    if is_nested:
        m.line(f"{first}, ({last}, *{rest}) = {values[0]}, ({', '.join(values[1:])})")
        kinds = (Kind.INT,) * (len(values) - 2)
    else:
        m.line(f"{first}, *{rest}, {last} = {', '.join(values)}")
        kinds = (Kind.INT,) * (len(values) - 2)
    place.names[first] = place.names[last] = Kind.INT
    place.names[rest] = TupleOf(kinds, "list")


def store(m: Maker, place: Place) -> None:
    """`ints[i, j] = v` and the like, also in place."""
    if not place.has_arrays:
        assign(m, place)
        return
    kind = m.pick(_KINDS)
    array, width = WRITTEN[kind]
    if kind is Kind.INT and m.chance(3):
        where = f"{array}[i, {m.below(2 * width) - width}]"
        m.line(f"{where} {m.pick(('+=', '^=', '-='))} {tame(m, place, kind, 1).text}")
        m.line(f"{where} %= {INT_LIMIT}")
        return
    where = f"{array}[i, {index(m, place, width, 1)}]"
    m.line(f"{where} = {tame(m, place, kind, expression_depth(m)).text}")


def check(m: Maker, place: Place) -> None:
    """An `assert` that holds."""
    names = place.of(Kind.INT)
    if names:
        m.line(f"assert abs({m.pick(names)}) <= {INT_LIMIT + 1}, 'a variable is small'")
    else:
        e = expression(m, place, Kind.BOOL, 1).text
        m.line(f"assert {e} or True")


def call(m: Maker, place: Place) -> None:
    """A call for its effects; its value is dropped."""
    known = [
        (name, ty)
        for name, ty in place.names.items()
        if isinstance(ty, FunctionOf) and (place.has_arrays or not ty.context)
    ]
    known = [k for k in known if k[1].cost <= m.budget]
    if not known:
        m.line("pass")
        return
    name, ty = m.pick(known)
    m.budget -= ty.cost
    m.line(call_text(m, place, name, ty, 1))


def leave(m: Maker, place: Place) -> None:
    """`break`, `continue` or `return`; sometimes with code behind it that is never reached."""
    ways: list[Write] = []
    if place.in_loop:
        ways += [leave_by_break, _continue]
    if place.can_return:
        ways.append(leave_by_return)
    if not ways:
        m.line("pass")
        return
    m.pick(ways)(m, place)
    if m.chance(8):
        m.line(f"v0 = {int_expression(m, place, 0).text}")
    place.ended = True


def leave_by_break(m: Maker, place: Place) -> None:
    m.line("break")
    place.breaks.append(dict(place.names))


def _continue(m: Maker, place: Place) -> None:
    m.line("continue")
    place.continues.append(dict(place.names))


def leave_by_return(m: Maker, place: Place) -> None:
    if place.result is not None:
        m.line(f"return {tame(m, place, place.result, 1).text}")
        return
    names = place.of(Kind.INT)
    if names and place.has_arrays:
        m.line(f"ints[i, {m.below(6)}] = {m.pick(names)}")
    m.line("return")


def constant_branch(m: Maker, place: Place) -> None:
    """Only the branch that is taken is compiled: the other one may be nonsense."""
    if "K" not in place.names:
        assign(m, place)
        return
    test = m.pick(("K < 0", "K > 100", "not K + 1", "K == 'text'"))
    nonsense = m.pick(("undefined_name + 1", "v0 = 'text' + 1", "mk.no_such_function(ints)"))
    with m.block(f"if {test}:"):
        m.line(nonsense)
    if m.chance(2):
        with m.block("else:"):
            assign(m, place)


def branch_test(m: Maker, place: Place) -> str:
    """The condition of an `if`; it may give a name its first value."""
    if place.has_walrus and m.chance(6):
        name = m.fresh("v")
        value = tame(m, place, Kind.INT, 1).text
        place.names[name] = Kind.INT
        return f"({name} := {value}) {m.pick(('<', '>', '!='))} {int_expression(m, place, 1).text}"
    return condition(m, place, expression_depth(m))
