"""What stops a flat module that is run."""

from __future__ import annotations

from eas.septran.flat.nodes import Stmt
from eas.septran.flat.text import print_stmt


class FlatRunError(Exception):
    """A statement that does what no machine may: the statement, the loops around it, the fault."""

    def __init__(self, message: str, stmt: Stmt | None = None, where: str = "") -> None:
        line = "" if stmt is None else print_stmt(stmt).splitlines()[0]
        super().__init__("\n".join(part for part in (message, line, where) if part))
        self.message = message
        self.stmt = stmt
