"""All element-wise ops that are spelled for LLVM, in one table."""

from __future__ import annotations

from eas.llvm.emit.arithmetic import ARITHMETIC, Spelling
from eas.llvm.emit.functions import FUNCTIONS

SPELLED: dict[str, Spelling] = {**ARITHMETIC, **FUNCTIONS}
