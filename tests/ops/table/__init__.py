"""The table of ops: every family, with a kernel that runs its ops and what NumPy gives for them."""

from __future__ import annotations

from tests.ops.table.atomics import UPDATED
from tests.ops.table.casts import CASTS
from tests.ops.table.changes import CHANGED
from tests.ops.table.elementwise import ELEMENTWISE
from tests.ops.table.family import Family
from tests.ops.table.memory import MOVED
from tests.ops.table.reductions import REDUCED
from tests.ops.table.scans import COMBINED

FAMILIES: tuple[Family, ...] = (ELEMENTWISE, *CASTS, REDUCED, *COMBINED, *UPDATED, CHANGED, *MOVED)
