"""The backends whose results are compared; `EAS_TEST_METAL=device` adds this machine's GPU."""

from __future__ import annotations

import os

from eas.config import Backend

IS_ON_DEVICE = os.environ.get("EAS_TEST_METAL") == "device"

# Those that run the Metal text.
TEXT_BACKENDS: tuple[Backend, ...] = ("msl-host", "metal") if IS_ON_DEVICE else ("msl-host",)
BACKENDS: tuple[Backend, ...] = ("interpret", "cpu", *TEXT_BACKENDS)
