"""The functions of `mk`: which handler lowers which. An op of the table needs none."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from eas.frontend_ast.accesses import ACCESSES
from eas.frontend_ast.block_pointers import BLOCK_POINTERS
from eas.frontend_ast.blocks import BLOCKS
from eas.frontend_ast.compile_time import COMPILE_TIME
from eas.frontend_ast.context import Context
from eas.frontend_ast.dots import MATRICES
from eas.frontend_ast.elementwise import ELEMENTWISE, elementwise
from eas.frontend_ast.local_arrays import LOCAL_ARRAYS
from eas.frontend_ast.operands import Operand
from eas.frontend_ast.original_forms import LOGIC
from eas.frontend_ast.positions import POSITIONS
from eas.frontend_ast.randoms import RANDOMS
from eas.frontend_ast.reductions import COMBINATIONS, REDUCTIONS, Call
from eas.frontend_ast.shapes import SHAPES
from eas.frontend_ast.simdgroup_matrices import FRAGMENTS
from eas.frontend_ast.simdgroups import SIMDGROUPS
from eas.ir.ops import OPS

HANDLERS: dict[str, Callable[..., Operand]] = {
    **POSITIONS,
    **BLOCKS,
    **ACCESSES,
    **BLOCK_POINTERS,
    **LOCAL_ARRAYS,
    **SHAPES,
    **ELEMENTWISE,
    **REDUCTIONS,
    **MATRICES,
    **FRAGMENTS,
    **SIMDGROUPS,
    **RANDOMS,
    **LOGIC,
    **COMPILE_TIME,
}


def lower_intrinsic(ctx: Context, name: str, bound: inspect.BoundArguments, call: Call) -> Operand:
    """A call of a function of `mk` whose arguments are bound to its parameters.

    `call` calls a function that is among the arguments.
    """
    if name in HANDLERS:
        return HANDLERS[name](ctx, **bound.arguments)
    if name in COMBINATIONS:
        return COMBINATIONS[name](ctx, call, **bound.arguments)
    return elementwise(ctx, OPS[name], list(bound.arguments.values()))


# Functions of `mk` whose op has another name, and ops that are operators or parts of functions.
_RENAMED = frozenset(("where", "trunc_div", "fmod", "xor_sum"))
_WITHOUT_FUNCTION = frozenset(
    (
        *("add", "sub", "mul", "div", "floordiv", "mod", "truncdiv", "truncmod", "neg"),
        *("eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor", "not", "shl", "shr"),
        *("select", "splat", "broadcast", "slice", "index", "cycle", "philox", "mma_word"),
        *("lane_index", "simdgroup_index", "thread_index"),
    )
)


def is_function_of_mk(name: str) -> bool:
    is_reduction = name in OPS and OPS[name].reduction
    if name in _WITHOUT_FUNCTION or is_reduction:
        return False
    tables = (_RENAMED, OPS, HANDLERS, COMBINATIONS)
    return f"reduce_{name}" in OPS or any(name in table for table in tables)
