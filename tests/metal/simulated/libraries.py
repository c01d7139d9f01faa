"""Libraries from source: compiled by clang, complained about in Metal's words."""

from __future__ import annotations

import re
from functools import lru_cache

from eas.msl.host import Library as HostLibrary
from eas.msl.host import inspect
from eas.msl.host.kernel_signatures import Signature
from eas.msl.host.lint_rules import Complaint
from tests.metal.simulated.foundation import NSError
from tests.metal.simulated.machine import Machine
from tests.metal.simulated.objects import (
    Object,
    autorelease,
    constant,
    give,
    require,
    selector,
)

# The version of the language that brings a type, and the macOS that brings a version.
NEWER_TYPES = {"bfloat": "MTLLanguageVersion3_1", "atomic_float": "MTLLanguageVersion3_0"}
SYSTEMS = {
    "MTLLanguageVersion2_3": 11,
    "MTLLanguageVersion2_4": 12,
    "MTLLanguageVersion3_0": 13,
    "MTLLanguageVersion3_1": 14,
    "MTLLanguageVersion3_2": 15,
}


class MTLCompileOptions(Object):
    """What `alloc` gives; `init` makes it usable."""

    is_ready = False
    version = max(map(constant, SYSTEMS))
    math_mode = 2
    math_functions = 0

    def require_usable(self, method: str) -> None:
        super().require_usable(method)
        require(self.is_ready or method == "init", "MTLCompileOptions without `init`")

    @selector
    def init(self) -> MTLCompileOptions:
        self.is_ready = True
        return self

    @selector
    def setLanguageVersion_(self, version: int) -> None:
        known = [v for v, since in SYSTEMS.items() if since <= self.machine.system[0]]
        message = f"{version:#x} is no version of the language that this macOS has"
        require(version in map(constant, known), message)
        self.version = version

    @selector
    def setMathMode_(self, mode: int) -> None:
        self._require_modes("setMathMode:")
        require(mode in (0, 1, 2), f"{mode} is no MTLMathMode")
        self.math_mode = mode

    @selector
    def setMathFloatingPointFunctions_(self, functions: int) -> None:
        self._require_modes("setMathFloatingPointFunctions:")
        require(functions in (0, 1), f"{functions} is no MTLMathFloatingPointFunctions")
        self.math_functions = functions

    @selector
    def setFastMathEnabled_(self, enabled: bool) -> None:
        self.math_mode, self.math_functions = (2, 0) if enabled else (0, 1)

    def _require_modes(self, name: str) -> None:
        if self.machine.system < (15, 0, 0):
            raise AttributeError(f"'MTLCompileOptions' object has no attribute '{name}'")


class MTLFunction(Object):
    """A kernel of a library."""

    def __init__(self, machine: Machine, library: MTLLibrary, signature: Signature) -> None:
        super().__init__(machine)
        self.library, self.signature = library, signature


class MTLLibrary(Object):
    """A text that clang has compiled."""

    def __init__(self, machine: Machine, text: str) -> None:
        super().__init__(machine)
        self.text = text
        self.built: HostLibrary = machine.host.builder.build([text])

    @selector
    def newFunctionWithName_(self, name: str) -> MTLFunction | None:
        for signature in self.built.units[0].kernels:
            if signature.name == name and not self.machine.faults.loses_function:
                return give(MTLFunction(self.machine, self, signature))
        return None


def compile_library(
    machine: Machine, text: str, options: MTLCompileOptions | None
) -> tuple[MTLLibrary | None, NSError | None]:
    """What `newLibraryWithSource:options:error:` does; without options, it is fast and loose."""
    options = options or MTLCompileOptions(machine)
    modes = {"math_mode": options.math_mode, "math_functions": options.math_functions}
    machine.libraries.append({"version": options.version, **modes})
    said = machine.faults.library_error
    for word, version in NEWER_TYPES.items():
        if options.version < constant(version):
            said += "".join(_unknown(text, word))
    for complaint in complaints_of(text) if machine.is_strict else ():
        if complaint.line:
            said += f"program_source:{complaint.line}:1: error: {complaint.message}\n"
    if said:
        code = constant("MTLLibraryErrorCompileFailure")
        return None, autorelease(NSError(machine, "MTLLibraryErrorDomain", code, said))
    return give(MTLLibrary(machine, text)), None


@lru_cache(maxsize=256)
def complaints_of(text: str) -> tuple[Complaint, ...]:
    """What speaks against a text; without a line it is about the kernel as a whole."""
    return tuple(inspect(text))


def _unknown(text: str, word: str) -> list[str]:
    found: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        match = re.search(rf"\b{word}\b", line.partition("//")[0])
        if match:
            column = match.start() + 1
            found.append(f"program_source:{number}:{column}: error: unknown type name '{word}'\n")
    return found
