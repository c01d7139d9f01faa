"""Expressions of a Metal text: their types, the integers that are known, and what they cost."""

from __future__ import annotations

import numpy as np

from eas.review.metal import arithmetic
from eas.review.metal.calls import Calls
from eas.review.metal.kernel_costs import Region
from eas.review.metal.parser import MetalSyntaxError
from eas.review.metal.prices import price_of
from eas.review.metal.state import State
from eas.review.metal.syntax import (
    Assign,
    Binary,
    Braces,
    Call,
    Cast,
    Choice,
    Expression,
    Index,
    Member,
    MetalText,
    Name,
    Number,
    Type,
    Unary,
)
from eas.review.metal.thread_values import (
    BOOL,
    INT,
    Mask,
    Value,
    is_float,
    lanes_of,
    size_of,
    without_space,
)
from eas.support.records import frozen


@frozen(eq=False)
class Condition:
    """The threads for which a condition holds; if it is not known, those for which it may."""

    is_known: bool
    holds: Mask


class Expressions(State):
    """Evaluates expressions; what they do is counted on the way."""

    def __init__(self, tree: MetalText, threads: int, root: Region) -> None:
        super().__init__(tree, threads, root)
        self.calls = Calls(self.evaluate, self.access, self.count, self.function_call)

    def function_call(self, call: Call) -> Value | None:
        """The result of a function of the text; None if it has none of that name."""
        raise NotImplementedError

    def evaluate(self, value: Expression) -> Value:
        match value:
            case Number():
                return Value(Type(value.type), value.value)
            case Name():
                return self.look_up(value.text)
            case Unary():
                return self.unary(value)
            case Binary():
                return self.binary(value)
            case Choice():
                return self.choice(value)
            case Assign():
                return self.assign(value)
            case Call():
                return self.calls.call(value)
            case Index():
                element = self.element(value)
                if not (element.type.is_pointer or element.type.dims):
                    self.access("load", element.type, value.place)
                return Value(without_space(element.type))
            case Member():
                return self.member(value)
            case Cast():
                return self.cast(value)
            case Braces():
                for item in value.items:
                    self.evaluate(item)
                return Value(INT)
            case _:
                raise TypeError(value)

    def condition(self, condition: Expression) -> Condition:
        """For which threads a condition holds, or may hold."""
        value = self.evaluate(condition)
        if value.number is not None:
            holds = np.broadcast_to(np.asarray(value.number) != 0, (self.threads,))
            return Condition(True, holds)
        every = np.ones(self.threads, bool)
        return Condition(False, every if value.possible is None else value.possible)

    def element(self, value: Index) -> Value:
        """The element or row that an index denotes; the index is evaluated, nothing is read."""
        base = self.evaluate(value.base)
        self.evaluate(value.index)
        ty = base.type
        if ty.dims and not (ty.is_pointer and isinstance(value.base, Name)):
            return Value(Type(ty.name, ty.space, False, ty.dims[1:]))
        if ty.dims:  # a pointer to rows
            return Value(Type(ty.name, ty.space, False, ty.dims))
        return Value(Type(ty.name, ty.space, False))

    def member(self, value: Member) -> Value:
        base = self.evaluate(value.base)
        scalar = Type(base.type.name.rstrip("234"))
        axis = "xyzw".find(value.name)
        if base.parts and 0 <= axis < len(base.parts):
            return Value(scalar, base.parts[axis])
        return Value(scalar)

    def cast(self, value: Cast) -> Value:
        inner = self.evaluate(value.operand)
        space = value.type.space or inner.type.space
        ty = Type(value.type.name, space, value.type.is_pointer, value.type.dims)
        number = None if inner.number is None else arithmetic.convert(inner.number, ty.name)
        return Value(ty, None if ty.is_pointer else number)

    def unary(self, value: Unary) -> Value:
        if value.operator in ("++", "--"):
            return self.assign(Assign(value.operator[0], value.operand, Number(1, "int")))
        if value.operator == "&":
            inner = self.address(value.operand)
            return Value(Type(inner.name, inner.space, True))
        operand = self.evaluate(value.operand)
        if value.operator == "*":
            element = Type(operand.type.name, operand.type.space)
            self.access("load", element, id(value))
            return Value(without_space(element))
        if operand.number is None:
            return Value(BOOL if value.operator == "!" else without_space(operand.type))
        number = arithmetic.unary(value.operator, operand.number, operand.type.name)
        return Value(BOOL if value.operator == "!" else operand.type, number)

    def address(self, value: Expression) -> Type:
        """The type of what has an address, which is not read."""
        if isinstance(value, Index):
            return self.element(value).type
        if isinstance(value, Unary) and value.operator == "*":
            return self.evaluate(value.operand).type
        return self.evaluate(value).type

    def binary(self, value: Binary) -> Value:
        if value.operator in ("&&", "||"):
            return self.logical(value)
        left, right = self.evaluate(value.left), self.evaluate(value.right)
        if left.type.is_pointer or left.type.dims:
            return Value(Type(left.type.name, left.type.space, True))
        if arithmetic.is_comparison(value.operator):
            number = arithmetic.binary(value.operator, left.number, right.number, "int")
            return Value(BOOL, number)
        ty = _wider(left.type, right.type)
        if is_float(ty):
            self.count("flop", lanes_of(ty))
            return Value(ty)
        return Value(ty, arithmetic.binary(value.operator, left.number, right.number, ty.name))

    def logical(self, value: Binary) -> Value:
        """The right one is only evaluated by threads for which the left one does not decide."""
        is_and = value.operator == "&&"
        left = self.condition(value.left)
        around = self.mask
        if is_and or left.is_known:
            self.mask = around & (left.holds if is_and else ~left.holds)
        nobody = Condition(True, np.zeros(self.threads, bool))
        right = self.condition(value.right) if self.mask.any() else nobody
        self.mask = around
        holds = left.holds & right.holds if is_and else left.holds | right.holds
        if left.is_known and right.is_known:
            return Value(BOOL, holds.astype(np.int64))
        return Value(BOOL, None if holds[around].any() else 0, possible=holds)

    def choice(self, value: Choice) -> Value:
        condition = self.condition(value.condition)
        if not condition.is_known:
            return self.unknown_choice(condition, value)
        around, found, holds = self.mask, list[Value](), condition.holds
        for mask, each in ((holds, value.then), (~holds, value.orelse)):
            self.mask = around & mask
            found.append(self.evaluate(each) if self.mask.any() else Value(Type("none")))
        self.mask = around
        then, orelse = found
        if then.type.name == "none":
            return orelse
        if orelse.type.name == "none":
            return then
        ty = _wider(then.type, orelse.type)
        if then.number is None or orelse.number is None:
            return Value(ty)
        return Value(ty, np.where(holds, then.number, orelse.number))

    def unknown_choice(self, condition: Condition, value: Choice) -> Value:
        regions: list[Region] = []
        types: list[Type] = []
        with_region, around = self.region, self.mask
        for each, mask in ((value.then, around & condition.holds), (value.orelse, around)):
            self.mask, self.region = mask, Region()
            types.append(self.evaluate(each).type)
            regions.append(self.region)
        self.region, self.mask = with_region, around
        self.region.add(max(regions, key=price_of))
        return Value(types[0] if types[0].is_pointer else _wider(*types))

    def assign(self, value: Assign) -> Value:
        if value.operator:
            result = self.evaluate(Binary(value.operator, value.target, value.value))
        else:
            result = self.evaluate(value.value)
        self.store(value.target, result)
        return result

    def store(self, target: Expression, result: Value) -> None:
        match target:
            case Name():
                self.set(target.text, result)
            case Index():
                element = self.element(target)
                if not element.type.dims:
                    self.access("store", element.type, target.place)
            case Unary(operator="*"):
                ty = self.evaluate(target.operand).type
                self.access("store", Type(ty.name, ty.space), id(target))
            case Member():
                if isinstance(target.base, Name):
                    self.set(target.base.text, Value(self.look_up(target.base.text).type))
                else:
                    self.store(target.base, Value(INT))
            case Call():  # `sum.thread_elements() = c`
                for each in target.arguments:
                    self.store(each, Value(INT))
            case _:
                raise MetalSyntaxError("something is assigned that is no variable and no element")


def _wider(left: Type, right: Type) -> Type:
    """The type of an arithmetic expression; a vector or float wins, then the wider one."""

    def rank(ty: Type) -> tuple[bool, bool, int, bool]:
        unsigned = ty.name.startswith("u")
        return lanes_of(ty) > 1, is_float(ty), max(size_of(ty.name), 4 - 4 * is_float(ty)), unsigned

    ty = max(left, right, key=rank)
    if not is_float(ty) and lanes_of(ty) == 1 and size_of(ty.name) < 4:
        return INT
    return without_space(ty)
