"""Blocks of two shapes, one for each path."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def tables(out, n):
    rows, columns = mk.arange(0, 4)[:, None], mk.arange(0, 8)
    if n > 1:
        table = columns
    else:
        table = rows * columns
    mk.store(out, rows * 8 + columns, table)
    total = columns
    for _ in range(n):
        total = total + rows
    mk.store(out, rows * 8 + columns, total)


CASE = Broken(tables, "*i32", "i32")
