"""Software pipelining: `for ... pipelined n` written out with `start` and `wait`.

In a loop that is pipelined n deep, the copies into buffers with n slots run n - 1 trips ahead:

    for k < N pipelined 2 {              for k_ahead < min(1, N) {
      copy S@(k % 2) <- A[k]               start S@(k_ahead % 2) <- A[k_ahead] token k_copies
      use S@(k % 2)                      }
    }                                    for k < N {
                                           if k + 1 < N {
                                             start S@((k + 1) % 2) <- A[k + 1] token k_copies
                                           }
                                           wait k_copies keep min(1, N - k - 1)
                                           use S@(k % 2)
                                         }

A start of trip k + n - 1 writes the slot that trip k - 1 has read, so it comes before everything
that trip k does and after all of trip k - 1.
"""

from __future__ import annotations

from eas.septran.flat.affine import affine, minimum
from eas.septran.flat.nodes import (
    Alloc,
    Copy,
    For,
    If,
    Kernel,
    Module,
    ParallelFor,
    Start,
    Stmt,
    Wait,
    accesses,
    body_of,
    walk,
)
from eas.septran.flat.substitution import substitute_all
from eas.support.records import replace


class PipelineError(Exception):
    """A loop that cannot be pipelined as it says."""


def expand_pipelines(module: Module) -> Module:
    """The module with prologues, starts and waits instead of pipelined loops."""
    return replace(module, kernels=tuple(map(_expand_kernel, module.kernels)))


def prefetched(loop: For, allocations: dict[str, Alloc]) -> tuple[Copy, ...]:
    """The copies of a pipelined loop that run ahead.

    They are those directly in the loop that fill a buffer with a slot per stage from a source that
    the loop does not write.
    """
    written = {view.buffer for s in walk(loop.body) for view, how in accesses(s) if "w" in how}
    return tuple(
        stmt
        for stmt in loop.body
        if isinstance(stmt, Copy)
        and stmt.source.buffer not in written
        and stmt.target.buffer in allocations
        and allocations[stmt.target.buffer].slots >= loop.pipelined
    )


def _expand_kernel(kernel: Kernel) -> Kernel:
    allocations = {stmt.name: stmt for stmt in walk(kernel.body) if isinstance(stmt, Alloc)}
    taken = {name for name, _ in kernel.grid} | {param.name for param in kernel.params}
    taken |= {stmt.variable for stmt in walk(kernel.body) if isinstance(stmt, For | ParallelFor)}
    taken |= {*allocations, *(stmt.token for stmt in walk(kernel.body) if isinstance(stmt, Start))}
    return replace(kernel, body=_expand(kernel.body, allocations, taken))


def _expand(
    body: tuple[Stmt, ...], allocations: dict[str, Alloc], taken: set[str]
) -> tuple[Stmt, ...]:
    found: list[Stmt] = []
    for stmt in body:
        if not isinstance(stmt, For | ParallelFor | If):
            found.append(stmt)
            continue
        inner = replace(stmt, body=_expand(body_of(stmt), allocations, taken))
        if isinstance(inner, For) and inner.pipelined > 1:
            found += _expand_loop(inner, allocations, taken)
        else:
            found.append(inner)
    return tuple(found)


def _expand_loop(loop: For, allocations: dict[str, Alloc], taken: set[str]) -> list[Stmt]:
    copies = prefetched(loop, allocations)
    if not copies:
        raise PipelineError(f"the loop over `{loop.variable}` has no copy that can run ahead")
    variable, trips, early = loop.variable, loop.extent, loop.pipelined - 1
    token = _fresh(f"{variable}_copies", taken)
    ahead = _fresh(f"{variable}_ahead", taken)
    starts = tuple(_started(copy, token) for copy in copies)
    prologue = For(
        ahead,
        minimum(early, trips),
        substitute_all(starts, {variable: ahead}),
        origin=loop.origin,
    )
    later = affine(variable) + early
    next_stage = substitute_all(starts, {variable: later})
    keep = minimum(early, trips - variable - 1) * len(copies)
    body: list[Stmt] = [
        If(later, "<", trips, next_stage, loop.origin),
        Wait(token, keep, loop.origin),
        *(stmt for stmt in loop.body if stmt not in copies),
    ]
    return [prologue, replace(loop, body=tuple(body), pipelined=1)]


def _started(copy: Copy, token: str) -> Start:
    return Start(copy.target, copy.source, token, copy.fill, copy.origin)


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name
