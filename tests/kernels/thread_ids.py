"""Where a thread stands: in its threadgroup, in its simdgroup, and which simdgroup that is."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case


@eas.kernel
def thread_ids(out, THREADS: eas.constexpr):
    t = mk.tid(0, THREADS)
    place = 3 * (mk.program_id(0) * mk.num_programs(1) * THREADS + mk.program_id(1) * THREADS + t)
    mk.store(out, place, mk.local_id())
    mk.store(out, place + 1, mk.lane_id())
    mk.store(out, place + 2, mk.sg_id())


def arguments() -> Arguments:
    return {"out": np.zeros((2, 3, 80, 3), "i4"), "THREADS": 80}


def reference(out: Array, **_: object) -> dict[str, Array]:
    t = np.arange(80, dtype="i4")
    return {"out": np.broadcast_to(np.stack([t, t % 32, t // 32], axis=1), out.shape)}


CASE = Case(thread_ids, arguments, reference, grid=(2, 3))
