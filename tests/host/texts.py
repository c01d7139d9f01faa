"""Runs hand-written Metal texts on arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from eas.msl.host import Bound, Dispatch, Host

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"


def run_text(
    host: Host,
    text: str,
    *buffers: Any,
    groups: tuple[int, int, int] = (1, 1, 1),
    threads: tuple[int, int, int] = (1, 1, 1),
    shared: dict[int, int] | None = None,
    order: str = "forward",
) -> None:
    """Runs the only kernel of a text with its buffers in order; arrays take the results."""
    library = host.builder.build([text])
    kernel = library.units[0].kernels[0].name
    bound = [Bound(n, np.atleast_1d(b).reshape(-1)) for n, b in enumerate(buffers)]
    dispatch = Dispatch(
        host, library, kernel, bound, threads, groups, shared=shared or {}, order=order
    )
    with host.lock:
        dispatch.run()
        dispatch.write_back(*range(len(bound)))
