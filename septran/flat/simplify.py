"""Drops what the sizes and loops decide: minima, maxima and conditions that are always the same.

With sizes that are multiples of the tiles, `min(16, 128 - 16*i)` is 16 and no tile is ragged.
"""

from __future__ import annotations

from eas.septran.flat.affine import Affine, Max, Min, maximum, minimum
from eas.septran.flat.bounds import Scope
from eas.septran.flat.nodes import For, If, Kernel, Module, ParallelFor, Stmt
from eas.septran.flat.substitution import map_numbers
from eas.support.records import replace


def simplify(module: Module) -> Module:
    """The module without minima, maxima and conditions that are decided."""
    return replace(module, kernels=tuple(map(_simplify_kernel, module.kernels)))


def _simplify_kernel(kernel: Kernel) -> Kernel:
    scope = Scope()
    for name, extent in kernel.grid:
        scope = scope.inside_loop(name, extent)
    return replace(kernel, body=_simplify_body(kernel.body, scope))


def _simplify_body(body: tuple[Stmt, ...], scope: Scope) -> tuple[Stmt, ...]:
    found: list[Stmt] = []
    for stmt in body:
        changed = map_numbers(stmt, lambda number: simplify_number(number, scope))
        match changed:
            case For() | ParallelFor():
                inner = scope.inside_loop(changed.variable, changed.extent)
                found.append(replace(changed, body=_simplify_body(changed.body, inner)))
            case If():
                found += _simplify_if(changed, scope)
            case _:
                found.append(changed)
    return tuple(found)


def _simplify_if(stmt: If, scope: Scope) -> list[Stmt]:
    inner = scope.inside_if(stmt.left, stmt.comparison, stmt.right)
    added = inner.facts[len(scope.facts) :]
    body = _simplify_body(stmt.body, inner)
    # `!=` adds no fact, so nothing is known about it.
    if added and all(scope.proves(fact) for fact in added):
        return list(body)
    if any(scope.proves(-fact - 1) for fact in added):
        return []
    return [replace(stmt, body=body)]


def simplify_number(number: Affine, scope: Scope) -> Affine:
    """A number without the operands of its minima and maxima that are never the result."""
    total = Affine(number.constant)
    for atom, coefficient in number.terms:
        value = Affine(0, ((atom, 1),))
        if isinstance(atom, Min | Max):
            operands = [simplify_number(operand, scope) for operand in atom.operands]
            sign = 1 if isinstance(atom, Min) else -1
            kept = _kept(operands, sign, scope)
            value = minimum(*kept) if isinstance(atom, Min) else maximum(*kept)
        total += value * coefficient
    return total


def _kept(operands: list[Affine], sign: int, scope: Scope) -> list[Affine]:
    kept = list(operands)
    for operand in operands:
        others = [other for other in kept if other is not operand]
        if any(scope.proves((operand - other) * sign) for other in others):
            kept = others
    return kept
