"""From a Metal text to a pipeline that a GPU runs."""

from __future__ import annotations

from eas.runtime.metal.errors import MetalError, TextError, complaints_in
from eas.runtime.metal.framework import Framework, own
from eas.runtime.metal.objects import CompileOptions, Error, Library, PipelineState, RawDevice
from eas.runtime.metal.requirements import Program, check_needs, check_width, language_number
from eas.support.records import frozen

SAFE_MATH_MODES = (15, 0)  # the macOS that has `mathMode`


@frozen
class Pipeline:
    """A program that is ready to run, with up to `most_threads` threads per threadgroup."""

    program: Program
    state: PipelineState
    most_threads: int


def make_pipeline(
    framework: Framework, raw: RawDevice, system: tuple[int, int], program: Program
) -> Pipeline:
    """Compiles a program, after checking that the system and the GPU can run it."""
    with framework.objc.autorelease_pool():
        check_needs(framework, raw, system, program)
        library = _compile(framework, raw, system, program)
        function = own(library.newFunctionWithName_(program.kernel), library.newFunctionWithName_)
        if function is None:
            raise MetalError("Metal does not find it in its own text", program.kernel)
        state, error = raw.newComputePipelineStateWithFunction_error_(function, None)
        state = own(state, raw.newComputePipelineStateWithFunction_error_)
        if state is None:
            raise MetalError(f"{raw.name()} cannot run it: {_describe(error)}", program.kernel)
        check_width(raw, state, program)
    return Pipeline(program, state, state.maxTotalThreadsPerThreadgroup())


def _compile(
    framework: Framework, raw: RawDevice, system: tuple[int, int], program: Program
) -> Library:
    options = _options(framework, system, program)
    library, error = raw.newLibraryWithSource_options_error_(program.text, options, None)
    library = own(library, raw.newLibraryWithSource_options_error_)
    # If there is a library, the error has only warnings.
    if library is None:
        said = _describe(error)
        message = f"Metal's compiler refuses the text\n{said}"
        raise TextError(message, program.kernel, complaints_in(said))
    return library


def _options(framework: Framework, system: tuple[int, int], program: Program) -> CompileOptions:
    """Without options Metal assumes that there are no NaN and infinities.

    Its `relaxed` mode reorders and contracts as `fast_math` asks for, and no more. Older systems
    have no mode between safe and fast.
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


def _describe(error: Error | None) -> str:
    return "it does not say why" if error is None else error.localizedDescription().strip()
