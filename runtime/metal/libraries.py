"""From a Metal text to a pipeline that a GPU runs."""

from __future__ import annotations

from eas.ir.records import frozen
from eas.runtime.metal.errors import MetalError, TextError, complaints_in
from eas.runtime.metal.framework import Framework, own
from eas.runtime.metal.objects import CompileOptions, Error, Library, PipelineState, RawDevice

SAFE_MATH_MODES = (15, 0)  # the macOS that has `mathMode`


@frozen
class Program:
    """A text and the kernel in it; it needs a version of Metal's language."""

    text: str
    kernel: str
    version: tuple[int, int]
    fast_math: bool = False


@frozen
class Pipeline:
    """A program that is ready to run, with up to `most_threads` threads per threadgroup."""

    program: Program
    state: PipelineState
    most_threads: int


@frozen
class Need:
    """What a version of the language needs: a macOS, and a GPU of one of some families."""

    system: tuple[int, int]
    families: tuple[str, ...]


# https://developer.apple.com/metal/Metal-Feature-Set-Tables.pdf: reductions over a simdgroup and
# `simdgroup_matrix` from Apple7 and Mac2 on, `atomic_float` and `bfloat` with Metal 3.
NEEDS: dict[tuple[int, int], Need] = {
    (2, 3): Need((11, 0), ("MTLGPUFamilyApple7", "MTLGPUFamilyMac2")),
    (3, 0): Need((13, 0), ("MTLGPUFamilyMetal3",)),
    (3, 1): Need((14, 0), ("MTLGPUFamilyMetal3",)),
}
REASONS: dict[tuple[int, int], str] = {
    (3, 0): " (for atomics on floats)",
    (3, 1): " (for `bfloat`)",
}


def make_pipeline(
    framework: Framework, raw: RawDevice, system: tuple[int, int], program: Program
) -> Pipeline:
    """Compiles a program, once it is known that the system and the GPU can run it."""
    with framework.objc.autorelease_pool():
        check_needs(framework, raw, system, program)
        library = _compile(framework, raw, system, program)
        function = own(library.newFunctionWithName_(program.kernel), library.newFunctionWithName_)
        if function is None:
            raise MetalError("Metal does not find it in its own text", program.kernel)
        state, error = raw.newComputePipelineStateWithFunction_error_(function, None)
        state = own(state, raw.newComputePipelineStateWithFunction_error_)
        if state is None:
            raise MetalError(f"{raw.name()} cannot run it: {_told(error)}", program.kernel)
    return Pipeline(program, state, state.maxTotalThreadsPerThreadgroup())


def check_needs(
    framework: Framework, raw: RawDevice, system: tuple[int, int], program: Program
) -> None:
    """Raises `MetalError` if the system or the GPU is too old for a program."""
    need = NEEDS[program.version]
    language = f"Metal {program.version[0]}.{program.version[1]}"
    wants = f"it is written in {language}{REASONS.get(program.version, '')}"
    if system < need.system:
        raise MetalError(
            f"{wants}, which needs macOS {need.system[0]}.{need.system[1]} or later; "
            f"this is macOS {system[0]}.{system[1]}",
            program.kernel,
        )
    if not any(raw.supportsFamily_(framework.constant(name)) for name in need.families):
        families = " or ".join(name.removeprefix("MTLGPUFamily") for name in need.families)
        raise MetalError(
            f"{wants}, which needs a GPU of the family {families}; {raw.name()} is none",
            program.kernel,
        )


def _compile(
    framework: Framework, raw: RawDevice, system: tuple[int, int], program: Program
) -> Library:
    options = _options(framework, system, program)
    library, error = raw.newLibraryWithSource_options_error_(program.text, options, None)
    library = own(library, raw.newLibraryWithSource_options_error_)
    # With a library, an error is about warnings.
    if library is None:
        told = _told(error)
        message = f"Metal's compiler refuses the text\n{told}"
        raise TextError(message, program.kernel, complaints_in(told))
    return library


def _options(framework: Framework, system: tuple[int, int], program: Program) -> CompileOptions:
    """Without options Metal takes NaN and infinities for impossible.

    Its `relaxed` mode reorders and contracts as `fast_math` asks for, and no more; older systems
    have nothing between safe and all.
    """
    metal = framework.metal
    options = metal.MTLCompileOptions.alloc().init()
    options.setLanguageVersion_(language_number(program.version))
    if system < SAFE_MATH_MODES:
        options.setFastMathEnabled_(False)
    elif program.fast_math:
        options.setMathMode_(metal.MTLMathModeRelaxed)
        options.setMathFloatingPointFunctions_(metal.MTLMathFloatingPointFunctionsFast)
    else:
        options.setMathMode_(metal.MTLMathModeSafe)
        options.setMathFloatingPointFunctions_(metal.MTLMathFloatingPointFunctionsPrecise)
    return options


def language_number(version: tuple[int, int]) -> int:
    """A version of the language as an MTLLanguageVersion."""
    major, minor = version
    return major << 16 | minor


def _told(error: Error | None) -> str:
    return "it does not say why" if error is None else error.localizedDescription().strip()
