"""One launch of a kernel on the worker: its buffers go in, it runs, and they come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from eas.msl.arrays import Array, Bound, Extents
from eas.msl.host.build import Library
from eas.msl.host.findings import KernelFault, to_finding
from eas.msl.host.protocol import Request
from eas.msl.host.shared_buffers import Placed, copy_in, copy_out, place
from eas.msl.host.worker_client import Host
from eas.support.records import field, record

# The orders in which threads and groups run that could run in any.
ORDERS = ("forward", "reverse", "rotated")


@record
class Dispatch:
    """A kernel, its buffers and its extents: `groups` threadgroups of `threads` threads.

    With fewer threads in all than that, `grid`, groups at its end have fewer threads than others.
    `shared` is the size in bytes of each threadgroup buffer. Whoever runs it has the host
    `exclusive`ly until the results are written back.
    """

    host: Host
    library: Library
    kernel: str
    buffers: Sequence[Bound]
    threads: Extents
    groups: Extents
    unit: int = 0
    shared: Mapping[int, int] = field(default_factory=dict[int, int])
    order: str = "forward"
    grid: Extents | None = None
    _placed: Placed | None = None

    def run(self) -> None:
        """Runs every thread; raises `HostError` if that does not work, `KernelFault` for bugs."""
        flats = [bound.flat for bound in self.buffers]
        self._placed = place(flats)
        shared = self._memory()
        copy_in(shared, self._placed, flats)
        report = self.host.ask(self._request(self._placed), self.kernel)
        if report["kind"]:
            unit = self.library.units[self.unit]
            finding = to_finding(report, self.library.path, unit.type_lines)
            raise KernelFault(finding.describe(), self.kernel, finding)

    def write_back(self, *indices: int) -> None:
        """Copies the buffers at some indices back into their arrays."""
        assert self._placed is not None
        shared = self._memory()
        for bound, offset in zip(self.buffers, self._placed.offsets, strict=True):
            if bound.index in indices:
                copy_out(shared, offset, bound.flat)

    def _memory(self) -> Array:
        assert self._placed is not None
        return np.frombuffer(self.host.arrays(self._placed.size), np.uint8)

    def _request(self, placed: Placed) -> Request:
        unit = self.library.units[self.unit]
        whole_grid = tuple(a * b for a, b in zip(self.threads, self.groups, strict=True))
        return Request(
            library=str(self.library.path),
            unit=self.unit,
            entry=unit.entry(self.kernel),
            bytes=placed.size,
            buffers=[
                (
                    bound.index,
                    offset + bound.origin * bound.flat.itemsize,
                    offset,
                    offset + bound.flat.nbytes,
                )
                for bound, offset in zip(self.buffers, placed.offsets, strict=True)
            ],
            shared=list(self.shared.items()),
            threads=self.threads,
            groups=self.groups,
            grid=self.grid or whole_grid,
            order=ORDERS.index(self.order),
            has_fibers=unit.waits or self.host.is_checked,
        )
