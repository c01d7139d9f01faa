"""torch, for the tests that need it; without it they are skipped."""

from __future__ import annotations

from importlib import import_module
from typing import Any
from unittest import SkipTest

try:
    torch: Any = import_module("torch")
except ImportError:
    raise SkipTest("torch is not installed") from None
if not hasattr(torch, "Tensor"):  # `unittest discover` takes this folder for it
    raise SkipTest("torch is not installed")
