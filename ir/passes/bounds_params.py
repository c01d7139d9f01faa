"""Functions whose accesses are checked: what a backend needs to know of each array."""

from __future__ import annotations

from eas.ir.nodes import Function, Param, Role, Value
from eas.ir.rewrite import builder_for
from eas.ir.types import I64, Pointer, Scalar
from eas.support.records import replace


def with_bounds(f: Function) -> Function:
    """The function with the first offset and the end of each array as hidden parameters.

    An array whose strides the function does not take is contiguous, so its first offset is 0; a
    view with a negative stride has elements before its first one.
    """
    build = builder_for(f)
    strided = {param.array for param in f.params if param.role == "stride"}

    def bound(array: str, role: Role) -> Param:
        return Param(build.value(Scalar(I64), f"{array}_{role}"), role, array)

    hidden: list[Param] = []
    for param in f.params:
        if isinstance(param.value.ty, Pointer):
            roles: tuple[Role, ...] = ("low", "high") if param.name in strided else ("high",)
            hidden += [bound(param.name, role) for role in roles]
    return replace(f, params=(*f.params, *hidden), checked=True)


def bounds_of(f: Function) -> dict[int, tuple[Value | None, Value]]:
    """The first offset and the end of each array of a checked function, by the array's id.

    A first offset that is None is 0.
    """
    hidden = {(param.role, param.array): param.value for param in f.params}
    return {
        param.value.id: (hidden.get(("low", param.name)), hidden["high", param.name])
        for param in f.params
        if isinstance(param.value.ty, Pointer) and f.checked
    }
