"""Random expressions: of ints, floats and bools, and conditions of any of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.fuzz.maker import Maker, Place
from tests.fuzz.types import (
    FLOAT_GRAIN,
    FLOAT_LIMIT,
    INT_LIMIT,
    READ,
    TABLE_LENGTH,
    WRITTEN,
    Expression,
    FunctionOf,
    Kind,
    TupleOf,
)

Make = Callable[[Maker, Place, int], Expression]


def expression(m: Maker, place: Place, kind: Kind, depth: int) -> Expression:
    return _BY_KIND[kind](m, place, depth)


def tame(m: Maker, place: Place, kind: Kind, depth: int) -> Expression:
    """An expression that a variable of this kind can hold."""
    found = expression(m, place, kind, depth)
    return tamed(m, kind, found)


def tamed(m: Maker, kind: Kind, e: Expression) -> Expression:
    match kind:
        case Kind.INT:
            return _tamed_int(m, e)
        case Kind.FLOAT:
            return _tamed_float(m, e)
        case Kind.BOOL:
            return e


def tuple_expression(m: Maker, place: Place, ty: TupleOf, depth: int) -> str:
    """A tuple written out, or one that has a name."""
    known = place.of(ty)
    if known and m.chance(4):
        return m.pick(known)
    items = [tame(m, place, kind, depth).text for kind in ty.kinds]
    if ty.has_fields:
        return f"{ty.make}({items[0]}, y={items[1]})" if m.chance(2) else _call(ty.make, items)
    if ty.make == "list":
        return f"[{', '.join(items)}]"
    return "(" + "".join(f"{item}, " for item in items) + ")"


def _tamed_int(m: Maker, e: Expression) -> Expression:
    if e.bound <= INT_LIMIT:
        return e
    divisor = m.pick((10, 7, 100, -13, -100, 64))
    if m.chance(4):
        return Expression(f"(({e.text}) % 100 - 50)", 50)
    return Expression(f"({e.text}) % {divisor}", abs(divisor) - 1)


def _tamed_float(m: Maker, e: Expression) -> Expression:
    if e.grain > FLOAT_GRAIN:
        e = Expression(f"(({e.text}) // 0.25 * 0.25)", e.bound + 1, 2)
    if e.bound <= FLOAT_LIMIT:
        return e
    divisor = m.pick(("8.0", "32.0", "2.5", "-4.0", "-0.75"))
    return Expression(f"(({e.text}) % {divisor})", FLOAT_LIMIT, max(e.grain, 2))


def _joined(
    m: Maker, kind: Kind, a: Expression, b: Expression, join: Callable[..., Expression]
) -> Expression:
    """Two operands joined; they are made small first if the result could be too large."""
    holds = m.numbers.holds_int if kind is Kind.INT else m.numbers.holds_float
    result = join(a, b)
    return result if holds(result) else join(tamed(m, kind, a), tamed(m, kind, b))


def int_expression(m: Maker, place: Place, depth: int) -> Expression:
    if depth <= 0:
        return int_atom(m, place)
    return m.weighted(_INTS if m.numbers.has_plain_ints else _ODD_INTS)(m, place, depth - 1)


def int_atom(m: Maker, place: Place, depth: int = 0) -> Expression:
    del depth
    names = place.of(Kind.INT)
    choice = m.below(8)
    if choice == 0 or (choice < 5 and not names):
        return int_literal(m)
    if choice < 5:
        return Expression(m.pick(names), INT_LIMIT)
    if choice == 5 and place.tuples():
        return _tuple_part(m, place, Kind.INT) or int_literal(m)
    if not place.has_arrays:
        return int_literal(m) if not names else Expression(m.pick(names), INT_LIMIT)
    if choice == 6:
        return Expression(f"table[{index(m, place, TABLE_LENGTH, 0)}]", INT_LIMIT)
    return _element(m, place, Kind.INT)


def _element(m: Maker, place: Place, kind: Kind) -> Expression:
    array, width = m.pick((READ[kind], WRITTEN[kind]))
    return _limit(kind, f"{array}[i, {index(m, place, width, 0)}]")


def int_literal(m: Maker) -> Expression:
    value = m.below(14) - 4 if m.chance(2) else m.below(4)
    return Expression(f"({value})" if value < 0 else str(value), abs(value))


def index(m: Maker, place: Place, length: int, depth: int) -> str:
    """An index into a row of that length: from its start, from its end, or computed."""
    choice = m.below(4)
    if choice == 0:
        return str(m.below(length))
    if choice == 1:
        return str(-1 - m.below(length))
    inner = m.pick(place.of(Kind.INT)) if depth <= 0 and place.of(Kind.INT) else None
    text = inner or int_expression(m, place, depth).text
    return f"({text}) % {length}" if choice == 2 else f"({text}) % {length} - {length}"


def _int_sum(m: Maker, place: Place, depth: int) -> Expression:
    a, b = int_expression(m, place, depth), int_expression(m, place, depth)
    sign = m.pick("+-")

    def join(a: Expression, b: Expression) -> Expression:
        return Expression(f"({a.text} {sign} {b.text})", a.bound + b.bound)

    return _joined(m, Kind.INT, a, b, join)


def _int_product(m: Maker, place: Place, depth: int) -> Expression:
    a, b = int_expression(m, place, depth), int_expression(m, place, depth)

    def join(a: Expression, b: Expression) -> Expression:
        return Expression(f"({a.text} * {b.text})", a.bound * b.bound)

    return _joined(m, Kind.INT, a, b, join)


def _int_divisor(m: Maker, place: Place, depth: int) -> Expression:
    """An int that is not zero."""
    choice = m.below(4)
    if choice == 0:
        value = m.pick((2, 3, 7, -2, -3, -5, 1, -1))
        return Expression(str(value) if value > 0 else f"({value})", abs(value))
    inner = _tamed_int(m, int_expression(m, place, depth))
    if choice == 1:
        return Expression(f"(abs({inner.text}) + 1)", inner.bound + 1)
    if choice == 2:
        return Expression(f"(({inner.text}) or 5)", max(inner.bound, 5))
    return Expression(f"(-1 - abs({inner.text}))", inner.bound + 1)


def _int_division(m: Maker, place: Place, depth: int) -> Expression:
    a, b = int_expression(m, place, depth), _int_divisor(m, place, depth)
    choice = m.below(4)
    if choice == 0:
        return Expression(f"({a.text} // {b.text})", a.bound + 1)
    if choice == 1:
        return Expression(f"({a.text} % {b.text})", b.bound)
    part = m.below(2)
    return Expression(f"divmod({a.text}, {b.text})[{part}]", max(a.bound + 1, b.bound))


def _guarded_division(m: Maker, place: Place, depth: int) -> Expression:
    """A division that only happens where the divisor is not zero."""
    names = place.of(Kind.INT)
    if not names:
        return _int_division(m, place, depth)
    a, b = int_expression(m, _inside(place), depth), m.pick(names)
    operator, bound = m.pick((("//", a.bound + 1), ("%", INT_LIMIT)))
    if m.chance(2):
        return Expression(f"({b} and {a.text} {operator} {b})", bound)
    other = int_expression(m, place, 0)
    text = f"({a.text} {operator} {b} if {b} != 0 else {other.text})"
    return Expression(text, max(bound, other.bound))


def _bits(m: Maker, place: Place, depth: int) -> Expression:
    a = _tamed_int(m, int_expression(m, place, depth))
    b = _tamed_int(m, int_expression(m, place, depth))
    return Expression(f"({a.text} {m.pick('&|^')} {b.text})", 127)


def _shift(m: Maker, place: Place, depth: int) -> Expression:
    a = _tamed_int(m, int_expression(m, place, depth))
    names = place.of(Kind.INT)
    amount = f"({m.pick(names)} & 3)" if names and m.chance(2) else str(m.below(4))
    if m.chance(2):
        return Expression(f"({a.text} >> {amount})", a.bound)
    return Expression(f"({a.text} << {amount})", a.bound * 8)


def _int_unary(m: Maker, place: Place, depth: int) -> Expression:
    a = int_expression(m, place, depth)
    choice = m.below(5)
    if choice == 0:
        return Expression(f"(-{a.text})", a.bound)
    if choice == 1:
        return Expression(f"abs({a.text})", a.bound)
    if choice == 2:
        return Expression(f"(+{a.text})", a.bound)
    a = _tamed_int(m, a)
    if choice == 3:
        return Expression(f"(~{a.text})", a.bound + 1)
    return Expression(f"(({a.text}) ** 2)", a.bound * a.bound)


def _int_extreme(m: Maker, place: Place, depth: int) -> Expression:
    items = [int_expression(m, place, depth) for _ in range(2 + m.below(2))]
    bound = max(item.bound for item in items)
    return Expression(_call(m.pick(("min", "max")), [i.text for i in items]), bound)


def _int_of_others(m: Maker, place: Place, depth: int) -> Expression:
    """Ints made of bools and floats."""
    choice = m.below(5)
    if choice == 0:
        return Expression(f"int({bool_expression(m, place, depth).text})", 1)
    if choice == 1:
        a = _tamed_float(m, float_expression(m, place, depth))
        return Expression(f"{m.pick(('int', 'round'))}({a.text})", a.bound + 1)
    if choice == 2:
        a, b = bool_expression(m, place, depth), bool_expression(m, place, depth)
        return Expression(f"({a.text} + {b.text})", 2)
    if choice == 3:
        a, b = int_expression(m, place, depth), bool_expression(m, place, depth)
        return Expression(f"({a.text} * {b.text})", a.bound)
    return Expression(f"(-{bool_expression(m, place, depth).text})", 1)


def _int_of_a_call(m: Maker, place: Place, depth: int) -> Expression:
    """A part of what a function gives, or what a method of a named tuple does."""
    a, b = (_tamed_int(m, int_expression(m, place, depth)).text for _ in range(2))
    if m.chance(2):
        return Expression(f"Pair({a}, y={m.below(9)}.5).moved({b})", 40)
    return Expression(f"ordered({a}, {b})[{m.below(2)}]", INT_LIMIT)


def _int_from_tuple(m: Maker, place: Place, depth: int) -> Expression:
    """`sum`, `max` or a part of a tuple, which may be a comprehension."""
    choice = m.below(5)
    if choice == 3:
        return _comprehension(m, place, depth)
    if choice == 4:
        return Expression(f"SCALES[{m.below(6) - 3}]", 3)
    items = [_tamed_int(m, int_expression(m, place, depth)) for _ in range(1 + m.below(3))]
    text = "(" + "".join(f"{item.text}, " for item in items) + ")"
    if choice == 0:
        return Expression(f"sum({text})", INT_LIMIT * len(items))
    if choice == 1:
        return Expression(f"{m.pick(('min', 'max'))}({text})", INT_LIMIT)
    return Expression(f"{text}[{m.below(len(items) * 2) - len(items)}]", INT_LIMIT)


def _comprehension(m: Maker, place: Place, depth: int) -> Expression:
    name = m.fresh("c")
    inner = _inside(place, [(name, Kind.INT)])
    element = _tamed_int(m, int_expression(m, inner, depth))
    count = 2 + m.below(2)
    choice = m.below(3)
    if choice == 0:
        sequence, test = f"range({count})", m.pick(("", f" if {name} != 1"))
    elif choice == 1:
        sequence, test = f"mk.static_range({count}, 0, -1)", ""
    else:
        items = [_tamed_int(m, int_expression(m, place, 0)).text for _ in range(count)]
        sequence, test = "(" + ", ".join(items) + ")", ""
    text = f"{element.text} for {name} in {sequence}{test}"
    if m.chance(2):
        return Expression(f"sum({text})", element.bound * count)
    return Expression(f"max([{text}])", element.bound)


def float_expression(m: Maker, place: Place, depth: int) -> Expression:
    if depth <= 0:
        return float_atom(m, place)
    return m.weighted(_FLOATS if m.numbers.has_plain_floats else _ODD_FLOATS)(m, place, depth - 1)


def float_atom(m: Maker, place: Place, depth: int = 0) -> Expression:
    del depth
    names = place.of(Kind.FLOAT)
    choice = m.below(8)
    if choice == 0 and m.numbers.has_plain_floats:
        return float_literal(m)
    if choice == 5:
        part = _tuple_part(m, place, Kind.FLOAT)
        if part is not None:
            return part
    if choice < 6 and names:
        return Expression(m.pick(names), FLOAT_LIMIT, FLOAT_GRAIN)
    if place.has_arrays:
        return _element(m, place, Kind.FLOAT)
    return Expression(m.pick(names), FLOAT_LIMIT, FLOAT_GRAIN) if names else float_literal(m)


def float_literal(m: Maker) -> Expression:
    text = m.pick(("0.0", "1.0", "0.5", "2.0", "-1.5", "0.25", "3.0", "-0.125", "-0.0", "7.5"))
    return Expression(f"({text})" if text[0] == "-" else text, 8, 3)


def _float_sum(m: Maker, place: Place, depth: int) -> Expression:
    a, b = float_expression(m, place, depth), _other_operand(m, place, depth)
    sign = m.pick("+-")

    def join(a: Expression, b: Expression) -> Expression:
        return Expression(f"({a.text} {sign} {b.text})", a.bound + b.bound, max(a.grain, b.grain))

    return _float_joined(m, a, b, join)


def _float_product(m: Maker, place: Place, depth: int) -> Expression:
    a, b = float_expression(m, place, depth), _other_operand(m, place, depth)

    def join(a: Expression, b: Expression) -> Expression:
        return Expression(f"({a.text} * {b.text})", a.bound * b.bound, a.grain + b.grain)

    return _float_joined(m, a, b, join)


def _float_joined(
    m: Maker, a: Expression, b: Expression, join: Callable[..., Expression]
) -> Expression:
    if m.chance(2):
        a, b = b, a
    return _joined(m, Kind.FLOAT, a, b, join)


def _other_operand(m: Maker, place: Place, depth: int) -> Expression:
    """What a float may meet in arithmetic: a float, an int, a literal."""
    choice = m.below(6)
    if choice == 4:
        return _tamed_int(m, int_expression(m, place, depth))
    if choice == 5:
        return float_literal(m)
    return float_expression(m, place, depth)


def _float_divisor(m: Maker, place: Place, depth: int) -> str:
    choice = m.below(3)
    if choice == 0:
        return m.pick(("2.0", "0.5", "(-0.75)", "3.0", "(-2.5)"))
    inner = _tamed_float(m, float_expression(m, place, depth))
    return f"(abs({inner.text}) + 0.5)" if choice == 1 else f"(-0.5 - abs({inner.text}))"


def _float_division(m: Maker, place: Place, depth: int) -> Expression:
    """Exact ones only where f32 would round."""
    a = _tamed_float(m, float_expression(m, place, depth))
    if m.chance(2):
        if m.numbers.has_plain_floats:
            return Expression(f"({a.text} / {m.pick(('2.0', '4', '(-8.0)'))})", a.bound, 6)
        return Expression(f"({a.text} / {_float_divisor(m, place, depth)})", a.bound * 2)
    divisor, bound = _float_divisor(m, place, depth), 2 * a.bound + 1
    choice = m.below(4)
    if choice == 0:
        return Expression(f"({a.text} // {divisor})", bound)
    if choice == 1:
        return Expression(f"({a.text} % {divisor})", FLOAT_LIMIT + 1, FLOAT_GRAIN)
    part = m.below(2)
    return Expression(f"divmod({a.text}, {divisor})[{part}]", bound, FLOAT_GRAIN)


def _float_unary(m: Maker, place: Place, depth: int) -> Expression:
    a = float_expression(m, place, depth)
    choice = m.below(4)
    if choice == 0:
        return Expression(f"(-{a.text})", a.bound, a.grain)
    if choice == 1:
        return Expression(f"abs({a.text})", a.bound, a.grain)
    if choice == 2:
        return Expression(f"float({a.text})", a.bound, a.grain)
    a = _tamed_float(m, a)
    return Expression(f"(({a.text}) ** 2)", a.bound * a.bound, a.grain * 2)


def _float_extreme(m: Maker, place: Place, depth: int) -> Expression:
    items = [float_expression(m, place, depth) for _ in range(2 + m.below(2))]
    bound, grain = max(i.bound for i in items), max(i.grain for i in items)
    return Expression(_call(m.pick(("min", "max")), [i.text for i in items]), bound, grain)


def _float_of_ints(m: Maker, place: Place, depth: int) -> Expression:
    a = _tamed_int(m, int_expression(m, place, depth))
    choice = m.below(3)
    if choice == 0:
        return Expression(f"float({a.text})", a.bound)
    if choice == 1:
        return Expression(f"(({a.text}) / {m.pick((2, 4, -8))})", a.bound, 3)
    return Expression(f"(({a.text}) * {float_literal(m).text})", a.bound * 8, 3)


def bool_expression(m: Maker, place: Place, depth: int) -> Expression:
    if depth <= 0:
        return bool_atom(m, place)
    return m.weighted(_BOOLS)(m, place, depth - 1)


def bool_atom(m: Maker, place: Place, depth: int = 0) -> Expression:
    del depth
    names = place.of(Kind.BOOL)
    choice = m.below(6)
    if choice == 0:
        return Expression(m.pick(("False", "True")))
    if choice < 3 and names:
        return Expression(m.pick(names))
    if choice == 3 and place.has_arrays:
        return Expression(f"flags[i, {index(m, place, WRITTEN[Kind.BOOL][1], 0)}]")
    return _comparison(m, place, 0)


def _comparison(m: Maker, place: Place, depth: int) -> Expression:
    """One comparison, or a chain of them."""
    count = 2 if not m.chance(4) else 3 + m.below(2)
    kinds = [Kind.INT] * 3 + [Kind.FLOAT]
    items = [expression(m, place, m.pick(kinds), depth) for _ in range(count)]
    text = items[0].text
    for item in items[1:]:
        text += f" {m.pick(('<', '==', '!=', '>=', '<=', '>'))} {item.text}"
    return Expression(f"({text})")


def _negation(m: Maker, place: Place, depth: int) -> Expression:
    return Expression(f"(not {condition(m, place, depth)})")


def _bool_of(m: Maker, place: Place, depth: int) -> Expression:
    kind = m.pick((Kind.INT, Kind.FLOAT, Kind.BOOL))
    return Expression(f"bool({expression(m, place, kind, depth).text})")


def _membership(m: Maker, place: Place, depth: int) -> Expression:
    """In a tuple, or in a range."""
    items = [int_expression(m, place, 0).text for _ in range(1 + m.below(3))]
    member = int_expression(m, place, depth).text
    sequence = f"({', '.join(items)},)"
    if m.chance(3):
        sequence = f"range({', '.join((*items[:2], m.pick(('3', '-2'))))})"
    return Expression(f"({member} {m.pick(('in', 'not in'))} {sequence})")


def _bool_operator(m: Maker, place: Place, depth: int) -> Expression:
    a, b = bool_expression(m, place, depth), bool_expression(m, place, depth)
    return Expression(f"({a.text} {m.pick(('&', '|', '^', '==', '!=', '<', '>='))} {b.text})")


def _tuple_comparison(m: Maker, place: Place, depth: int) -> Expression:
    pairs = [
        f"({int_expression(m, place, depth).text}, {bool_expression(m, place, 0).text})"
        for _ in range(2)
    ]
    return Expression(f"({pairs[0]} {m.pick(('==', '!='))} {pairs[1]})")


def _quantified(m: Maker, place: Place, depth: int) -> Expression:
    name = m.fresh("c")
    inner = _inside(place, [(name, Kind.INT)])
    test = condition(m, inner, depth)
    items = [_tamed_int(m, int_expression(m, place, 0)).text for _ in range(2 + m.below(2))]
    return Expression(f"{m.pick(('any', 'all'))}({test} for {name} in ({', '.join(items)}))")


def condition(m: Maker, place: Place, depth: int) -> str:
    """Something that is true or false, though it need not be a bool."""
    choice = m.below(8)
    if choice < 3 or depth <= 0:
        return bool_expression(m, place, depth).text
    if choice == 3:
        return int_expression(m, place, depth).text
    if choice == 4:
        return float_expression(m, place, depth).text
    if choice == 5:
        return f"(not {condition(m, place, depth - 1)})"
    parts = [condition(m, place, depth - 1) for _ in range(2 + m.below(2))]
    return "(" + f" {m.pick(('and', 'or'))} ".join(parts) + ")"


def _conditional(kind: Kind) -> Make:
    def make(m: Maker, place: Place, depth: int) -> Expression:
        test = condition(m, place, depth)
        a, b = expression(m, place, kind, depth), expression(m, place, kind, depth)
        bound, grain = max(a.bound, b.bound), max(a.grain, b.grain)
        return Expression(f"({a.text} if {test} else {b.text})", bound, grain)

    return make


def _short_circuit(kind: Kind) -> Make:
    """`and` and `or` give one of their operands."""

    def make(m: Maker, place: Place, depth: int) -> Expression:
        items = [expression(m, place, kind, depth) for _ in range(2 + m.below(2))]
        text = f" {m.pick(('and', 'or'))} ".join(item.text for item in items)
        bound, grain = max(i.bound for i in items), max(i.grain for i in items)
        return Expression(f"({text})", bound, grain)

    return make


def _walrus(kind: Kind) -> Make:
    """Only names that have a value already: the expression need not be evaluated."""

    def make(m: Maker, place: Place, depth: int) -> Expression:
        names = place.assignable(kind)
        inner = tame(m, place, kind, depth)
        if not names or not place.has_walrus:
            return inner
        return Expression(f"({m.pick(names)} := {inner.text})", inner.bound, inner.grain)

    return make


def _called(kind: Kind) -> Make:
    def make(m: Maker, place: Place, depth: int) -> Expression:
        functions = [f for f in place.functions(kind) if f[1].cost <= m.budget]
        if not functions or m.chance(4):
            return _call_lambda(m, place, kind, depth)
        name, ty = m.pick(functions)
        m.budget -= ty.cost
        return _limit(kind, call_text(m, place, name, ty, depth))

    return make


def call_text(m: Maker, place: Place, name: str, ty: FunctionOf, depth: int) -> str:
    """A call: by position, by keyword, with a star."""
    arguments = [ty.context] if ty.context else []
    given = [tame(m, place, kind, depth).text for _, kind in ty.parameters]
    choice = m.below(6)
    if choice == 5:
        given = [f"*({', '.join(given)},)"]
    elif choice == 4 and not ty.has_rest:
        given[-1] = f"{ty.parameters[-1][0]}={given[-1]}"
    arguments += given
    if ty.has_rest:
        arguments += [tame(m, place, Kind.INT, 0).text for _ in range(m.below(3))]
    for keyword, kind in ty.named:
        if m.chance(2):
            arguments.append(f"{keyword}={tame(m, place, kind, 0).text}")
    return _call(name, arguments)


def _call_lambda(m: Maker, place: Place, kind: Kind, depth: int) -> Expression:
    name = m.fresh("p")
    inner = _inside(place, [(name, Kind.INT)])
    body = tame(m, inner, kind, depth)
    argument = tame(m, place, Kind.INT, depth)
    return _limit(kind, f"(lambda {name}: {body.text})({argument.text})")


def _limit(kind: Kind, text: str) -> Expression:
    if kind is Kind.FLOAT:
        return Expression(text, FLOAT_LIMIT, FLOAT_GRAIN)
    return Expression(text, INT_LIMIT if kind is Kind.INT else 1)


def _tuple_part(m: Maker, place: Place, kind: Kind) -> Expression | None:
    parts: list[str] = []
    for name, ty in place.tuples():
        for number, own in enumerate(ty.kinds):
            if own is kind:
                parts.append(f"{name}[{number}]")
                field = f".{'xy'[number]}" if ty.has_fields else f"[{number - len(ty.kinds)}]"
                parts.append(name + field)
    return _limit(kind, m.pick(parts)) if parts else None


def _inside(place: Place, names: Sequence[tuple[str, Kind]] = ()) -> Place:
    """A place inside of an expression that assigns nothing outside."""
    inner = place.branch()
    inner.names.update(names)
    inner.has_walrus = False
    return inner


def _call(name: str, arguments: Sequence[str]) -> str:
    return f"{name}({', '.join(arguments)})"


_BY_KIND: dict[Kind, Make] = {
    Kind.INT: int_expression,
    Kind.FLOAT: float_expression,
    Kind.BOOL: bool_expression,
}

_ODD_INTS: list[tuple[int, Make]] = [
    (4, int_atom),
    (6, _int_sum),
    (3, _int_product),
    (4, _int_division),
    (2, _guarded_division),
    (2, _bits),
    (2, _shift),
    (2, _int_unary),
    (2, _int_extreme),
    (2, _int_from_tuple),
    (1, _int_of_a_call),
    (2, _conditional(Kind.INT)),
    (2, _short_circuit(Kind.INT)),
    (2, _walrus(Kind.INT)),
    (3, _called(Kind.INT)),
]
_INTS = [*_ODD_INTS, (3, _int_of_others)]

_ODD_FLOATS: list[tuple[int, Make]] = [
    (4, float_atom),
    (6, _float_sum),
    (4, _float_product),
    (4, _float_division),
    (2, _float_unary),
    (2, _float_extreme),
    (2, _conditional(Kind.FLOAT)),
    (1, _short_circuit(Kind.FLOAT)),
    (1, _walrus(Kind.FLOAT)),
    (2, _called(Kind.FLOAT)),
]
_FLOATS = [*_ODD_FLOATS, (2, _float_of_ints)]

_BOOLS: list[tuple[int, Make]] = [
    (2, bool_atom),
    (6, _comparison),
    (2, _negation),
    (1, _bool_of),
    (1, _membership),
    (1, _bool_operator),
    (1, _quantified),
    (1, _tuple_comparison),
    (1, _conditional(Kind.BOOL)),
    (2, _short_circuit(Kind.BOOL)),
    (1, _walrus(Kind.BOOL)),
    (1, _called(Kind.BOOL)),
]
