"""After an error in the head of a statement: its bodies are searched for errors of their own."""

from __future__ import annotations

import ast
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from eas.frontend_ast.context import Context, Silenced
from eas.frontend_ast.operands import Poison
from eas.frontend_ast.scopes import Bound
from eas.frontend_ast.source.errors import Refusal


@contextmanager
def searching(
    ctx: Context, bodies: Sequence[Sequence[ast.stmt]], names: Sequence[str] = ()
) -> Generator[None]:
    """If what is inside fails, the error is reported and the bodies are searched.

    `names` are those whose values in the bodies depend on what failed.
    """
    try:
        yield
    except (Refusal, Silenced) as error:
        ctx.report(error)
        for body in bodies:
            search(ctx, body, names)
        raise Silenced from error


def search(ctx: Context, body: Sequence[ast.stmt], names: Sequence[str] = ()) -> None:
    """Lowers statements for their errors only: ops, exits and names are dropped."""
    mark = ctx.mark()
    env, loc = ctx.frame.env, ctx.loc
    ctx.frame.env = env | {name: Bound(Poison(), loc) for name in names}
    # it may be the body of a loop, or have a `break` that leaves one further out
    ctx.targets.append(ctx.new_target("loop"))
    ctx.searches += 1
    try:
        with ctx.into([]):
            ctx.statements(body)
    finally:
        ctx.searches -= 1
        ctx.targets.pop()
        ctx.frame.env, ctx.build.loc, ctx.ended = env, loc, ""
    ctx.forget(mark)
