"""All element-wise ops that are spelled for LLVM, in one table."""

from __future__ import annotations

from eas.runtime.cpu.arithmetic import ARITHMETIC, Spelling
from eas.runtime.cpu.functions import FUNCTIONS

SPELLED: dict[str, Spelling] = {**ARITHMETIC, **FUNCTIONS}
