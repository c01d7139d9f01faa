"""Waits for the GPU for a limited time, and explains its errors."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

from eas.runtime.metal.errors import MetalError
from eas.runtime.metal.framework import Framework
from eas.runtime.metal.objects import CommandBuffer, Error

SECONDS_VARIABLE = "EAS_METAL_SECONDS"
SECONDS = 60.0

# A pause is a small part of the elapsed time, so that the end of short kernels is noticed soon.
PAUSE_SHARE, LONGEST_PAUSE = 1 / 16, 0.002

_FIND = '`_backend="interpret"` shows where'
# The codes of MTLCommandBufferError.
ERRORS: dict[str, str] = {
    "MTLCommandBufferErrorInternal": "Metal failed inside",
    "MTLCommandBufferErrorTimeout": "it took too long, and the system stopped it: macOS lets a "
    "kernel run for some seconds only",
    "MTLCommandBufferErrorPageFault": f"it accessed memory outside of its arrays; {_FIND}",
    "MTLCommandBufferErrorAccessRevoked": "this process may not use the GPU any more, because of "
    "earlier faults: start it anew",
    "MTLCommandBufferErrorNotPermitted": "this process may not use the GPU now",
    "MTLCommandBufferErrorOutOfMemory": "the GPU has no memory left",
    "MTLCommandBufferErrorInvalidResource": "a buffer was gone before the GPU was done with it",
    "MTLCommandBufferErrorMemoryless": "the GPU has no memory left for passing data",
    "MTLCommandBufferErrorDeviceRemoved": "the GPU was removed",
    "MTLCommandBufferErrorStackOverflow": f"it needs too much stack; {_FIND}",
}
DOMAIN = "MTLCommandBufferErrorDomain"


class TimeOutError(MetalError):
    """The GPU has not finished in time; it may still be working."""


def time_limit(environment: Mapping[str, str]) -> float:
    """How many seconds to wait for a launch: `EAS_METAL_SECONDS`, or a minute."""
    text = environment.get(SECONDS_VARIABLE, str(SECONDS))
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not seconds > 0:
        raise MetalError(f"`{SECONDS_VARIABLE}` is a number of seconds, not `{text}`")
    return seconds


def wait(framework: Framework, commands: CommandBuffer, kernel: str, seconds: float) -> None:
    """Waits until committed commands are done; raises `MetalError` if they fail or take too long.

    It polls: Metal's own wait has no time limit, and a completion handler that runs on another
    thread while Python exits crashes the process.
    """
    start = time.monotonic()
    while True:
        status = commands.status()
        if status == framework.metal.MTLCommandBufferStatusCompleted:
            return
        if status == framework.metal.MTLCommandBufferStatusError:
            raise MetalError(explain(framework, commands.error()), kernel)
        passed = time.monotonic() - start
        if passed > seconds:
            raise TimeOutError(
                f"it did not end within {seconds:g} seconds; the GPU may still be at work on it "
                f"(`{SECONDS_VARIABLE}` sets the limit)",
                kernel,
            )
        time.sleep(min(passed * PAUSE_SHARE, LONGEST_PAUSE))


def explain(framework: Framework, error: Error | None) -> str:
    """An error of a command buffer in words, followed by Metal's own."""
    if error is None:
        return "it failed on the GPU, and Metal does not say why"
    said = f"Metal says: {error.localizedDescription()} ({error.domain()}, {error.code()})"
    codes = {framework.constant(name): words for name, words in ERRORS.items()}
    if error.domain() != DOMAIN or error.code() not in codes:
        return f"it failed on the GPU. {said}"
    return f"{codes[error.code()]}. {said}"
