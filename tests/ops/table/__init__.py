"""The table of ops: every family, with a kernel that runs its ops and what NumPy gives for them."""

from __future__ import annotations

from tests.ops.table.atomics import UPDATED
from tests.ops.table.casts import CASTS
from tests.ops.table.changes import CHANGED
from tests.ops.table.elementwise import ELEMENTWISE
from tests.ops.table.family import Family
from tests.ops.table.memory import MOVED
from tests.ops.table.messages import REPORTED
from tests.ops.table.positions import PLACED
from tests.ops.table.products import MULTIPLIED
from tests.ops.table.randoms import DRAWN
from tests.ops.table.reductions import REDUCED
from tests.ops.table.scans import COMBINED
from tests.ops.table.simdgroup import IN_SIMDGROUPS

FAMILIES: tuple[Family, ...] = (
    *(ELEMENTWISE, *CASTS, REDUCED, *COMBINED, *UPDATED, CHANGED, *MOVED),
    *(*IN_SIMDGROUPS, *MULTIPLIED, DRAWN, *PLACED, *REPORTED),
)
