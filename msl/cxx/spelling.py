"""The spelling of each op in MSL: one line, or one small function, per op.

Element-wise ops are functions from the texts of their operands to a text. Views have no text: they
only change which element of their operand a lane takes (`eas.ir.aliasing.lane_indices`). Reductions
are lowered by `eas.msl.lower.reductions`, ops of simdgroups by `eas.msl.lower.simdgroups`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eas.ir.nodes import Compute
from eas.ir.ops.matrix import MATRIX
from eas.ir.ops.reduce import REDUCE
from eas.ir.ops.shape import SHAPE
from eas.ir.ops.simdgroup import SIMDGROUP
from eas.ir.types import BF16, BOOL, F16, F32, DType
from eas.msl.analysis.numbers import Numbers
from eas.msl.cxx.helpers import Helpers
from eas.msl.ops.dtypes import is_narrow_int, literal, type_name
from eas.msl.ops.text import Level, Text, call, infix, prefix, ternary
from eas.support.records import frozen, replace

Texts = Sequence[Text]


@frozen
class Spelling:
    """An op, and what its spelling depends on."""

    op: Compute
    numbers: Numbers
    helpers: Helpers
    fast_math: bool

    @property
    def operand(self) -> DType:
        return self.op.operands[-1].ty.dtype

    @property
    def result(self) -> DType:
        return self.op.result.ty.dtype

    def helper(self, name: str, *arguments: Text) -> Text:
        return call(self.helpers.need(name, self.operand), *arguments)


Speller = Callable[[Spelling, Texts], Text]


def spell(spelling: Spelling, texts: Texts) -> Text:
    """The text of an element-wise op. `bfloat` is computed as `float`."""
    speller = ELEMENTWISE[spelling.op.op.name]
    if spelling.operand != BF16 or spelling.op.op.name in _ANY_DTYPE:
        return speller(spelling, texts)
    wide = speller(spelling, [call("float", text) for text in texts])
    return call("bfloat", wide) if spelling.result == BF16 else wide


_ANY_DTYPE = ("select", "cast", "bitcast")


def _arithmetic(operator: str, level: Level, wrapping: str) -> Speller:
    def speller(spelling: Spelling, texts: Texts) -> Text:
        a, b = texts
        if is_narrow_int(spelling.operand):
            return _narrow(spelling, infix(operator, a.promoted, b.promoted, level))
        if spelling.operand.is_signed and spelling.numbers.may_wrap(spelling.op):
            return spelling.helper(wrapping, a, b)
        return infix(operator, a, b, level)

    return speller


def _narrow(spelling: Spelling, text: Text) -> Text:
    """A value that C++ has promoted to `int`, converted back to its dtype."""
    return call(type_name(spelling.operand), text)


def _mul(spelling: Spelling, texts: Texts) -> Text:
    if spelling.operand.name == "u16":  # promoted to `int`, the product of two may overflow
        a, b = (call("uint", text.promoted) for text in texts)
        return call("ushort", infix("*", a, b, Level.PRODUCT))
    return _PLAIN_MUL(spelling, texts)


_PLAIN_MUL = _arithmetic("*", Level.PRODUCT, "wrap_mul")


def _div(spelling: Spelling, texts: Texts) -> Text:
    del spelling
    return infix("/", texts[0], texts[1], Level.PRODUCT)


def _floor_helper(name: str) -> Speller:
    def speller(spelling: Spelling, texts: Texts) -> Text:
        dtype = spelling.operand
        if dtype == F16:
            spelling.helpers.need(name, F32)
            return call("half", call(name, *(call("float", text) for text in texts)))
        if dtype == BF16:
            return call(spelling.helpers.need(name, F32), *texts)
        return spelling.helper(name, *texts)

    return speller


def _truncated(operator: str, helper: str) -> Speller:
    def speller(spelling: Spelling, texts: Texts) -> Text:
        op, numbers, dtype = spelling.op, spelling.numbers, spelling.operand
        if dtype.is_float:
            return _through_float("fmod")(spelling, texts)
        overflows = dtype.is_signed and numbers.may_be(op, 0, dtype.min)
        if numbers.may_be(op, 1, 0) or (overflows and numbers.may_be(op, 1, -1)):
            return spelling.helper(helper, *texts)
        if is_narrow_int(dtype):
            a, b = (text.promoted for text in texts)
            return _narrow(spelling, infix(operator, a, b, Level.PRODUCT))
        return infix(operator, texts[0], texts[1], Level.PRODUCT)

    return speller


def _floor_or_plain(operator: str, helper: str) -> Speller:
    """Division by rounding down; for unsigned numbers that is plain division."""
    rounded, plain = _floor_helper(helper), _truncated(operator, helper.replace("floor", "trunc"))

    def speller(spelling: Spelling, texts: Texts) -> Text:
        return (plain if spelling.operand.is_unsigned else rounded)(spelling, texts)

    return speller


def _neg(spelling: Spelling, texts: Texts) -> Text:
    if is_narrow_int(spelling.operand):
        return _narrow(spelling, prefix("-", texts[0].promoted))
    if spelling.operand.is_signed and spelling.numbers.may_wrap(spelling.op):
        return spelling.helper("wrap_neg", texts[0])
    return prefix("-", texts[0])


def _abs(spelling: Spelling, texts: Texts) -> Text:
    dtype = spelling.operand
    if dtype.is_float:
        return call("fabs", texts[0])
    if dtype.is_unsigned:
        return texts[0]
    if spelling.numbers.may_be(spelling.op, 0, dtype.min):
        return spelling.helper("wrap_abs", texts[0])
    return call("abs", texts[0])


def _extreme(name: str) -> Speller:
    def speller(spelling: Spelling, texts: Texts) -> Text:
        return call(f"f{name}" if spelling.operand.is_float else name, *texts)

    return speller


def _clamp(spelling: Spelling, texts: Texts) -> Text:
    f = "f" if spelling.operand.is_float else ""
    return call(f"{f}min", call(f"{f}max", texts[0], texts[1]), texts[2])


def _sign(spelling: Spelling, texts: Texts) -> Text:
    dtype = F32 if spelling.operand == BF16 else spelling.operand
    return call(spelling.helpers.need("sign_of", dtype), texts[0])


def _bits(operator: str, level: Level, logical: str, logical_level: Level) -> Speller:
    def speller(spelling: Spelling, texts: Texts) -> Text:
        a, b = texts
        if spelling.operand.is_bool:
            return infix(logical, a, b, logical_level, associative=logical != "!=")
        if is_narrow_int(spelling.operand):
            return _narrow(spelling, infix(operator, a.promoted, b.promoted, level, True))
        return infix(operator, a, b, level, associative=True)

    return speller


def _not(spelling: Spelling, texts: Texts) -> Text:
    if spelling.operand.is_bool:
        return negated(texts[0])
    inverted = prefix("~", texts[0])
    return _narrow(spelling, inverted) if is_narrow_int(spelling.operand) else inverted


_TRUTHS = {"true": "false", "false": "true"}


def negated(text: Text) -> Text:
    """The negation of a condition."""
    if text.text in _TRUTHS:
        return Text(_TRUTHS[text.text])
    if text.negation:
        return Text(text.negation, text.level, negation=text.text)
    if text.level is Level.UNARY and text.text.startswith("!"):
        return Text(text.text[1:], Level.UNARY)
    return prefix("!", text)


def _shl(spelling: Spelling, texts: Texts) -> Text:
    a, b = texts
    if is_narrow_int(spelling.operand):
        return _narrow(spelling, infix("<<", call("uint", a.promoted), b.promoted, Level.SHIFT))
    if spelling.operand.is_signed and _shift_may_overflow(spelling):
        return spelling.helper("wrap_shl", a, b)
    return infix("<<", a, b, Level.SHIFT)


def _shift_may_overflow(spelling: Spelling) -> bool:
    low, high = spelling.numbers.bounds(spelling.op, 0)
    _, most = spelling.numbers.bounds(spelling.op, 1)
    return low < 0 or most >= spelling.operand.bits or high << most > spelling.operand.max


def _shr(spelling: Spelling, texts: Texts) -> Text:
    if is_narrow_int(spelling.operand):
        a, b = (text.promoted for text in texts)
        return _narrow(spelling, infix(">>", a, b, Level.SHIFT))
    return infix(">>", texts[0], texts[1], Level.SHIFT)


_OPPOSITES = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def _compared(operator: str, level: Level) -> Speller:
    def speller(spelling: Spelling, texts: Texts) -> Text:
        a, b = texts
        if is_narrow_int(spelling.operand):
            a, b = a.promoted, b.promoted
        text = infix(operator, a, b, level)
        if (
            spelling.operand.is_float and level is Level.RELATIONAL
        ):  # not the negation if one is NaN
            return text
        return replace(text, negation=infix(_OPPOSITES[operator], a, b, level).text)

    return speller


def _select(spelling: Spelling, texts: Texts) -> Text:
    del spelling
    return ternary(texts[0], texts[1], texts[2])


def _index(spelling: Spelling, texts: Texts) -> Text:
    if spelling.numbers.bounds(spelling.op, 0)[0] >= 0:
        return texts[0]
    return spelling.helper("wrap_index", *texts)


def _cast(spelling: Spelling, texts: Texts) -> Text:
    return converted(texts[0], spelling.operand, spelling.result)


def converted(text: Text, source: DType, target: DType) -> Text:
    """A value in another dtype; conversions of `bfloat` go through `float`."""
    if source == target:
        return text
    if source == BF16 and target != F32:
        return converted(call("float", text), F32, target)
    if target == BOOL:
        return infix("!=", text, literal(0, source), Level.EQUALITY)
    if target == BF16 and source != F32:
        text = call("float", text)
    return call(type_name(target), text)


def _bitcast(spelling: Spelling, texts: Texts) -> Text:
    if spelling.operand == spelling.result:
        return texts[0]
    return call(f"as_type<{type_name(spelling.result)}>", texts[0])


def _same(name: str) -> Speller:
    """A function that is exact for each dtype."""

    def speller(spelling: Spelling, texts: Texts) -> Text:
        del spelling
        return call(name, *texts)

    return speller


def _through_float(name: str) -> Speller:
    """A function that is computed in `float` and rounded once."""

    def speller(spelling: Spelling, texts: Texts) -> Text:
        if spelling.operand != F16:
            return call(name, *texts)
        return call("half", call(name, *(call("float", text) for text in texts)))

    return speller


def _precise(name: str) -> Speller:
    """A function of which Metal has a fast and a precise variant."""
    fast, precise = _through_float(name), _through_float(f"precise::{name}")

    def speller(spelling: Spelling, texts: Texts) -> Text:
        return (fast if spelling.fast_math else precise)(spelling, texts)

    return speller


def _written_out(name: str) -> Speller:
    """A function that Metal lacks, from `eas.msl.cxx.functions`."""

    def speller(spelling: Spelling, texts: Texts) -> Text:
        return _through_float(spelling.helpers.need(name, F32))(spelling, texts)

    return speller


def _fma(spelling: Spelling, texts: Texts) -> Text:
    if spelling.operand != BF16 or spelling.fast_math:
        return call("fma", *texts)
    return call(spelling.helpers.need("odd_fma", F32), *texts)


def _sigmoid(spelling: Spelling, texts: Texts) -> Text:
    if not spelling.fast_math:
        return _written_out("sigmoid_of")(spelling, texts)
    x = call("float", texts[0]) if spelling.operand == F16 else texts[0]
    power = call("exp", prefix("-", x))
    below = infix("+", literal(1.0, F32), power, Level.SUM)
    result = infix("/", literal(1.0, F32), below, Level.PRODUCT)
    return call("half", result) if spelling.operand == F16 else result


def _philox(spelling: Spelling, texts: Texts) -> Text:
    function = spelling.helpers.need("philox", spelling.operand)
    words = call(function, call("uint4", *texts[:4]), call("uint2", *texts[4:]))
    word = spelling.op.attr("word")
    assert isinstance(word, int)
    return Text(f"{words.text}.{'xyzw'[word]}")


ELEMENTWISE: dict[str, Speller] = {
    "add": _arithmetic("+", Level.SUM, "wrap_add"),
    "sub": _arithmetic("-", Level.SUM, "wrap_sub"),
    "mul": _mul,
    "div": _div,
    "floordiv": _floor_or_plain("/", "floor_div"),
    "mod": _floor_or_plain("%", "floor_mod"),
    "truncdiv": _truncated("/", "trunc_div"),
    "truncmod": _truncated("%", "trunc_mod"),
    "neg": _neg,
    "abs": _abs,
    "minimum": _extreme("min"),
    "maximum": _extreme("max"),
    "and": _bits("&", Level.BIT_AND, "&&", Level.LOGICAL_AND),
    "or": _bits("|", Level.BIT_OR, "||", Level.LOGICAL_OR),
    "xor": _bits("^", Level.BIT_XOR, "!=", Level.EQUALITY),
    "not": _not,
    "shl": _shl,
    "shr": _shr,
    "umulhi": _same("mulhi"),
    "philox": _philox,
    "popcount": _same("popcount"),
    "clz": _same("clz"),
    "lt": _compared("<", Level.RELATIONAL),
    "le": _compared("<=", Level.RELATIONAL),
    "gt": _compared(">", Level.RELATIONAL),
    "ge": _compared(">=", Level.RELATIONAL),
    "eq": _compared("==", Level.EQUALITY),
    "ne": _compared("!=", Level.EQUALITY),
    "select": _select,
    "index": _index,
    "cast": _cast,
    "bitcast": _bitcast,
    "ceil": _same("ceil"),
    "floor": _same("floor"),
    "round": _same("rint"),
    "trunc": _same("trunc"),
    "exp": _precise("exp"),
    "exp2": _precise("exp2"),
    "expm1": _written_out("expm1_of"),
    "log": _precise("log"),
    "log2": _precise("log2"),
    "log10": _precise("log10"),
    "log1p": _written_out("log1p_of"),
    "sqrt": _precise("sqrt"),
    "rsqrt": _precise("rsqrt"),
    "sin": _precise("sin"),
    "cos": _precise("cos"),
    "tan": _precise("tan"),
    "asin": _precise("asin"),
    "acos": _precise("acos"),
    "atan": _precise("atan"),
    "sinh": _precise("sinh"),
    "cosh": _precise("cosh"),
    "tanh": _precise("tanh"),
    "erf": _written_out("erf_of"),
    "sigmoid": _sigmoid,
    "sign": _sign,
    "pow": _precise("pow"),
    "atan2": _precise("atan2"),
    "copysign": _same("copysign"),
    "fma": _fma,
    "clamp": _clamp,
    "isnan": _same("isnan"),
    "isinf": _same("isinf"),
    "isfinite": _same("isfinite"),
}

SPELLED = frozenset((*ELEMENTWISE, *(op.name for op in (*SHAPE, *REDUCE, *MATRIX, *SIMDGROUP))))
