"""Random control flow: branches, loops, `match`, and functions inside of functions."""

from __future__ import annotations

from collections.abc import Sequence

from tests.fuzz.expressions import int_expression, tame, tamed
from tests.fuzz.maker import Maker, Names, Place, meet
from tests.fuzz.statements import (
    Write,
    assign,
    augment,
    branch_test,
    call,
    check,
    constant_branch,
    expression_depth,
    leave,
    leave_by_break,
    leave_by_return,
    store,
    swap,
    unpack,
)
from tests.fuzz.types import Expression, FunctionOf, Kind

# How often a statement may run in one program, over all loops around it.
_MAX_TRIPS = 60
_MAX_DEPTH = 4


def block(m: Maker, place: Place, depth: int, most: int = 4) -> None:
    """Statements in a row, one at least."""
    for _ in range(1 + m.below(most)):
        if place.ended:
            return
        statement(m, place, depth)


def statement(m: Maker, place: Place, depth: int) -> None:
    m.budget -= 1
    if depth >= _MAX_DEPTH or m.budget <= 0:
        m.weighted(_SIMPLE)(m, place)
        return
    if m.below(12) < 5:
        m.weighted(_SIMPLE)(m, place)
    else:
        m.weighted(_IN_LOOPS if place.in_loop else _NESTED)(m, place, depth + 1)


def branch(m: Maker, place: Place, depth: int) -> None:
    """`if`, `elif`, `else`."""
    head = f"if {branch_test(m, place)}:"
    ways: list[Place] = []
    for _ in range(1 + m.below(2)):
        ways.append(place.branch())
        with m.block(head):
            block(m, ways[-1], depth, 3)
        head = f"elif {branch_test(m, place.branch())}:"
        if place.has_walrus and ":=" in head:
            break
    rest = place.branch()
    if m.chance(2):
        with m.block("else:"):
            block(m, rest, depth, 3)
    _join(place, [*ways, rest])


def _join(place: Place, ways: Sequence[Place]) -> None:
    names = [way.names for way in ways if not way.ended]
    if names:
        place.names = meet(names)
    else:
        place.ended = True


def leave_if(m: Maker, place: Place, depth: int) -> None:
    """An exit under a condition."""
    del depth
    way = place.branch()
    with m.block(f"if {branch_test(m, place)}:"):
        if m.chance(3):
            m.weighted(_SIMPLE)(m, way)
        if not way.ended:
            leave(m, way)
    if not way.ended:
        place.names = meet([place.names, way.names])


def match(m: Maker, place: Place, depth: int) -> None:
    kind = m.pick((Kind.INT, Kind.INT, Kind.BOOL, Kind.FLOAT))
    subject = tame(m, place, kind, expression_depth(m))
    ways: list[Place] = []
    with m.block(f"match {subject.text}:"):
        for _ in range(1 + m.below(3)):
            ways.append(_case(m, place, kind, depth))
        choice = m.below(3)
        rest = place.branch()
        if choice == 1:
            with m.block("case _:"):
                block(m, rest, depth, 2)
        elif choice == 2:
            name = m.fresh("v")
            rest.names[name] = kind
            with m.block(f"case {name}:"):
                block(m, rest, depth, 2)
    _join(place, [*ways, rest])


_LITERALS: dict[Kind, tuple[str, ...]] = {
    Kind.INT: ("0", "1", "2", "-1", "3", "5"),
    Kind.BOOL: ("True", "False"),
    Kind.FLOAT: ("0.0", "0.5", "-1.5", "2", "1.0"),
}


def _case(m: Maker, place: Place, kind: Kind, depth: int) -> Place:
    way = place.branch()
    literals = [m.pick(_LITERALS[kind]) for _ in range(3)]
    choice = m.below(5)
    pattern = literals[0] if choice < 2 else " | ".join(dict.fromkeys(literals))
    if choice >= 3:
        names = place.assignable(kind)
        name = m.pick(names) if names and m.chance(2) else m.fresh("v")
        pattern = f"({pattern}) as {name}" if choice == 4 else name
        way.names[name] = kind
    # a name alone fits everything: only a guard lets the cases below it be reached
    guard = f" if {branch_test(m, way)}" if choice == 3 or m.chance(4) else ""
    with m.block(f"case {pattern}{guard}:"):
        block(m, way, depth, 2)
    return way


def for_range(m: Maker, place: Place, depth: int) -> None:
    """Bounds that are constants or computed, steps of both signs."""
    if place.trips * 4 > _MAX_TRIPS:
        assign(m, place)
        return
    known = place.assignable(Kind.INT)
    name = m.pick(known) if known and m.chance(3) else m.fresh("j")
    bounds, trips, runs = _range_bounds(m, place)
    body = place.loop_body(trips, [name])
    body.names[name] = Kind.INT
    with m.block(f"for {name} in range({bounds}):"):
        block(m, body, depth)
    _end_loop(m, place, body, depth, runs)


def _range_bounds(m: Maker, place: Place) -> tuple[str, int, bool]:
    """The arguments of `range`, how many trips they allow, and whether one is sure."""
    choice = m.below(5)
    if choice == 0:
        stop = 1 + m.below(4)
        return str(stop), stop, True
    if choice == 1:
        return m.pick((("3, -2, -2", 3, True), ("-3, 3, 2", 3, True), ("2, 2", 0, False)))
    a = int_expression(m, place, 1).text
    if choice == 2:
        return f"({a}) % 4", 4, False
    b = int_expression(m, place, 0).text
    if choice == 3:
        return f"({a}) % 5 - 2, ({b}) % 5", 6, False
    step = m.pick(("-1", "-2", "2", f"({b}) % 3 + 1", f"-(({b}) % 3) - 1", "3"))
    return f"({a}) % 5, ({b}) % 6 - 1, {step}", 6, False


def while_counted(m: Maker, place: Place, depth: int) -> None:
    """A counter that nothing else changes bounds the trips."""
    if place.trips * 4 > _MAX_TRIPS:
        assign(m, place)
        return
    name = m.fresh("n")
    start = str(1 + m.below(4)) if m.chance(2) else f"({int_expression(m, place, 1).text}) % 5"
    m.line(f"{name} = {start}")
    place.names[name] = Kind.INT
    body = place.loop_body(5, [name])
    style = m.below(5)
    test = _WHILE_TESTS[style].format(n=name)
    if style != 4 and m.chance(2):
        extra = branch_test(m, body.branch()) if not m.chance(4) else _bound_in_test(m, body)
        test = f"{test} {m.pick(('and', 'and', 'and not'))} ({extra})"
    with m.block(f"while {test}:"):
        if style in (0, 1):
            m.line(f"{name} -= 1")
        elif style == 4:
            _leave_endless_loop(m, body, name)
            m.line(f"{name} -= 1")
        block(m, body, depth)
    if style == 4:
        _end_endless_loop(place, body)
    else:
        _end_loop(m, place, body, depth, runs=False)


_WHILE_TESTS = ("{n} > 0", "{n}", "({n} := {n} - 1) > 0", "({n} := {n} - 1) >= 0", "True")


def _bound_in_test(m: Maker, body: Place) -> str:
    """A name that gets its first value in the test has one in the body."""
    name = m.fresh("v")
    value = tame(m, body, Kind.INT, 1).text
    body.names[name] = Kind.INT
    return f"({name} := {value}) != {int_expression(m, body, 0).text}"


def for_static(m: Maker, place: Place, depth: int) -> None:
    """Loops that are unrolled at compile time."""
    if place.trips > _MAX_TRIPS or m.budget < 6:
        assign(m, place)
        return
    names, sequence, count = _static_sequence(m, place)
    # a constant in one trip: in the next one it may be another
    body = place.loop_body(count, names)
    body.names.update(dict.fromkeys(names, Kind.INT))
    target = f"{names[0]}, {names[1]}" if len(names) == 2 else names[0]
    before = m.budget
    with m.block(f"for {target} in {sequence}:"):
        block(m, body, depth, 3)
    m.budget -= (before - m.budget) * (count - 1)
    _end_loop(m, place, body, depth, runs=count > 0)


def _static_sequence(m: Maker, place: Place) -> tuple[list[str], str, int]:
    count = 1 + m.below(3)
    items = [tame(m, place, Kind.INT, 1).text for _ in range(count)]
    text = "(" + "".join(f"{item}, " for item in items) + ")"
    one, two = [m.fresh("j")], [m.fresh("j"), m.fresh("j")]
    tuples = [(n, t) for n, t in place.tuples() if set(t.kinds) == {Kind.INT}]
    choice = m.below(7)
    if choice == 0:
        return one, text, count
    if choice == 6:
        return one, m.pick(("SCALES", "SCALES[1:] + SCALES[:1]", "SCALES[::-1]")), 3
    if choice == 1:
        return one, f"mk.static_range({count})", count
    if choice == 2:
        return two, f"enumerate({text}, {m.below(3)})", count
    if choice == 3:
        return two, f"zip({text}, range({count + m.below(2)}))", count
    if choice == 4 and tuples:
        name, ty = m.pick(tuples)
        return one, name, len(ty.kinds)
    return one, f"reversed({text})", count


def _end_loop(m: Maker, place: Place, body: Place, depth: int, runs: bool) -> None:
    """The `else` of a loop, and the names that are sure to have a value behind it."""
    back = [*body.continues, *([] if body.ended else [body.names])]
    after = place.branch()
    if runs:
        after.names = _without_functions(meet(back), place.names) if back else {}
        after.ended = not back  # it is never exhausted
    if m.chance(3):
        with m.block("else:"):
            if after.ended:
                m.line("pass")
            else:
                block(m, after, depth, 2)
    ways = [*body.breaks, *([] if after.ended else [after.names])]
    if ways:
        place.names = _without_functions(meet(ways), place.names)
    else:
        place.ended = True


def _leave_endless_loop(m: Maker, body: Place, name: str) -> None:
    way = body.branch()
    with m.block(f"if {name} <= 0:"):
        if m.chance(3):
            leave_by_return(m, way)
        else:
            leave_by_break(m, way)


def _end_endless_loop(place: Place, body: Place) -> None:
    if body.breaks:
        place.names = _without_functions(meet(body.breaks), place.names)
    else:
        place.ended = True


def _without_functions(names: Names, outer: Names) -> Names:
    """A function that was made in a loop is another one in each trip."""
    return {n: t for n, t in names.items() if n in outer or not isinstance(t, FunctionOf)}


def inner_function(m: Maker, place: Place, depth: int) -> None:
    """A `def` or a lambda that sees the names around it as they are when it is called."""
    if not place.has_walrus:
        assign(m, place)
        return
    name = m.fresh("h")
    kind = m.pick((Kind.INT, Kind.FLOAT, Kind.INT, Kind.BOOL))
    parameter = m.fresh("p")
    inner = place.branch()
    inner.kept = frozenset(place.names)
    inner.names[parameter] = Kind.INT
    named = ((m.fresh("k"), Kind.INT),) if m.chance(3) else ()
    default = f", {named[0][0]}={tame(m, place, Kind.INT, 1).text}" if named else ""
    inner.names.update(dict(named))
    before = m.budget
    if m.chance(2):
        _inner_lambda(m, inner, f"{name} = lambda {parameter}{default}:", kind)
    else:
        with m.block(f"def {name}({parameter}{default}):"):
            function_body(m, inner, kind, depth)
    cost = 1 + before - m.budget
    place.names[name] = FunctionOf(((parameter, Kind.INT),), kind, named=named, cost=cost)


def _inner_lambda(m: Maker, inner: Place, head: str, kind: Kind) -> None:
    inner.has_walrus = False
    m.line(f"{head} {tame(m, inner, kind, expression_depth(m)).text}")


def function_body(m: Maker, inner: Place, kind: Kind, depth: int) -> None:
    """Statements with returns among them, and one at the end."""
    inner.in_loop, inner.result, inner.can_return, inner.ended = False, kind, True, False
    inner.breaks, inner.continues = [], []
    block(m, inner, depth + 1, 3)
    if not inner.ended:
        m.line(f"return {tame(m, inner, kind, expression_depth(m)).text}")


def deferred(m: Maker, place: Place, depth: int) -> None:
    """A function that another one makes."""
    del depth
    name = m.fresh("h")
    maker = m.pick(("adder", "scaler", "last_adder"))
    m.line(f"{name} = {maker}({tame(m, place, Kind.INT, 1).text})")
    place.names[name] = FunctionOf((("x", Kind.INT),), Kind.INT, cost=2)


def applied(m: Maker, place: Place, depth: int) -> None:
    """A function as an argument."""
    del depth
    known = [
        name
        for name, ty in place.functions(Kind.INT)
        if [kind for _, kind in ty.parameters] == [Kind.INT] and not ty.context
    ]
    parameter = m.fresh("p")
    inner = place.branch()
    inner.names[parameter] = Kind.INT
    inner.has_walrus = False
    body = tame(m, inner, Kind.INT, 1).text
    function = m.pick(known) if known and m.chance(2) else f"lambda {parameter}: {body}"
    argument = tame(m, place, Kind.INT, 1).text
    value = tamed(m, Kind.INT, Expression(f"twice({function}, {argument})", 1000)).text
    known_names = place.assignable(Kind.INT)
    name = m.pick(known_names) if known_names else m.fresh("v")
    m.line(f"{name} = {value}")
    place.names[name] = Kind.INT


_SIMPLE: list[tuple[int, Write]] = [
    (8, assign),
    (4, augment),
    (4, store),
    (2, swap),
    (3, unpack),
    (1, check),
    (1, call),
    (1, constant_branch),
]
_NESTED = [
    (5, branch),
    (3, leave_if),
    (5, for_range),
    (5, while_counted),
    (3, for_static),
    (4, match),
    (2, inner_function),
    (1, deferred),
    (1, applied),
]
_IN_LOOPS = [*_NESTED, (16, leave_if)]
