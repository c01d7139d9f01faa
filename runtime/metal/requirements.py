"""What a program needs of the system and of the GPU; errors name what is missing."""

from __future__ import annotations

from collections.abc import Iterator

from eas.ir.ops.simdgroup import SIMD
from eas.runtime.metal.errors import MetalError
from eas.runtime.metal.framework import Framework
from eas.runtime.metal.objects import PipelineState, RawDevice
from eas.support.records import frozen


@frozen
class Program:
    """A text and the kernel in it; it needs a version of Metal's language."""

    text: str
    kernel: str
    version: tuple[int, int]
    fast_math: bool = False


@frozen
class Need:
    """A feature that needs a version of macOS and a GPU of one of some families."""

    what: str
    system: tuple[int, int]
    families: tuple[str, ...]


# https://developer.apple.com/metal/Metal-Feature-Set-Tables.pdf: reductions over a simdgroup from
# Apple7 and Mac2 on, matrices in simdgroups on Apple's own GPUs only.
NEEDS: dict[tuple[int, int], Need] = {
    (2, 3): Need("is written in Metal 2.3", (11, 0), ("MTLGPUFamilyApple7", "MTLGPUFamilyMac2")),
    (3, 0): Need(
        "is written in Metal 3.0 (for atomics on floats)", (13, 0), ("MTLGPUFamilyMetal3",)
    ),
    (3, 1): Need("is written in Metal 3.1 (for `bfloat`)", (14, 0), ("MTLGPUFamilyMetal3",)),
}
MATRICES = Need("multiplies matrices in simdgroups", (11, 0), ("MTLGPUFamilyApple7",))


def check_needs(
    framework: Framework, raw: RawDevice, system: tuple[int, int], program: Program
) -> None:
    """Raises `MetalError` if the system or the GPU is too old for a program."""
    for need in _needs_of(program):
        if system < need.system:
            raise MetalError(
                f"it {need.what}, which needs macOS {need.system[0]}.{need.system[1]} or later; "
                f"this is macOS {system[0]}.{system[1]}",
                program.kernel,
            )
        if not any(raw.supportsFamily_(framework.constant(name)) for name in need.families):
            families = " or ".join(name.removeprefix("MTLGPUFamily") for name in need.families)
            raise MetalError(
                f"it {need.what}, which needs a GPU of the family {families}; {raw.name()} is none",
                program.kernel,
            )


def _needs_of(program: Program) -> Iterator[Need]:
    yield NEEDS[program.version]
    if "simdgroup_multiply" in program.text:
        yield MATRICES


def check_width(raw: RawDevice, state: PipelineState, program: Program) -> None:
    """Raises `MetalError` for a program with simdgroups, if theirs have another size."""
    width = state.threadExecutionWidth()
    if "simd" in program.text and width != SIMD:
        raise MetalError(
            f"it is written for simdgroups of {SIMD} threads, and those of "
            f"{raw.name()} have {width}",
            program.kernel,
        )


def language_number(version: tuple[int, int]) -> int:
    """A version of the language as an MTLLanguageVersion."""
    major, minor = version
    return major << 16 | minor
