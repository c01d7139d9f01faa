"""Whether a text is Metal: two front ends of clang and our own rules have to agree that it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from eas.msl.cxx.python_lines import FILE_NAME
from eas.msl.host.build import Builder, default_builder, include_precompiled
from eas.msl.host.errors import HostError, MslError
from eas.msl.host.lint_rules import Complaint, complaints
from eas.msl.host.preprocess import expand
from eas.msl.host.sections import section_sizes
from eas.msl.host.toolchain import INCLUDE, PRECOMPILED, complain
from eas.msl.host.translate import to_cpp, translate

MAX_THREADGROUP_BYTES = 32768

# What Metal's compiler may let pass, but nobody means.
MISTAKES = (
    "-Wreturn-type", "-Wuninitialized", "-Wsometimes-uninitialized", "-Wvla", "-Warray-bounds",
    "-Wshift-count-overflow", "-Wshift-count-negative", "-Wdivision-by-zero", "-Wdangling",
    "-Winfinite-recursion", "-Wliteral-range", "-Wnarrowing", "-Wfor-loop-analysis",
    "-Wself-assign-overloaded", "-Wzero-length-array",
)  # fmt: skip
# Ours is a text without any warning: conversions are written out.
HOUSE_STYLE = (
    "-Wall", "-Wextra", "-Wno-unused", "-Wno-unused-parameter", "-Wno-sign-compare",
    "-Wno-parentheses", "-Wno-missing-braces", "-Wdouble-promotion", "-Wvla",
    "-Wno-unused-command-line-argument",
)  # fmt: skip
QUIET = ("-Wno-unknown-pragmas", "-Wno-unknown-attributes", "-Wno-duplicate-decl-specifier")
# Classes of ours are called in any memory, hence the generic one, which a text must not use.
FEATURES = (
    "-all", "+__opencl_c_generic_address_space",
    "+__opencl_c_program_scope_global_variables", "+__cl_clang_non_portable_kernel_param_types",
)  # fmt: skip
STRICT_FLAGS = (
    "-x", "cl", "-cl-std=clc++2021", "-cl-no-stdinc", "-nostdinc", "-Xclang",
    f"-cl-ext={','.join(FEATURES)}", "-cl-single-precision-constant", "-fdeclspec", "-DEAS_STRICT",
    "-isystem", str(INCLUDE),
)  # fmt: skip
# A text that begins like that finds a precompiled library as it would find the library.
_INCLUDES_LIBRARY = re.compile(r"(?:[ \t]*(?://.*)?\n)*[ \t]*#[ \t]*include[ \t]*<metal_stdlib>")


def inspect(
    text: str, builder: Builder | None = None, *, house_style: bool = False
) -> list[Complaint]:
    """What speaks against a text, without duplicates; nothing if it is Metal as far as we know.

    The house style, that of the texts that we write, allows no warning and no silent conversion.
    """
    builder = builder or default_builder()
    warnings = (*(HOUSE_STYLE if house_style else ("-Wno-everything", *MISTAKES)), *QUIET)
    found: list[Complaint] = []
    try:
        text = expand(text, builder.tools)
        found += complaints(text)
        found += _seen_as_opencl(text, builder, warnings)
        found += _seen_as_cpp(text, builder, warnings)
        if not found:
            found += _too_much_memory(text, builder)
    except MslError as error:
        found += [] if found else [*_parse(str(error))] or [Complaint(0, str(error))]
    except OSError as error:
        raise HostError(f"there is no place to compile to: {error}") from error
    return list(dict.fromkeys(found))


def _seen_as_cpp(text: str, builder: Builder, warnings: Sequence[str]) -> list[Complaint]:
    flags = (*warnings, "-fsyntax-only", *include_precompiled(builder.header()))
    command = builder.tools.compile_command(flags, "/dev/null")
    return list(_parse(complain(command, translate(text).code)))


def _seen_as_opencl(text: str, builder: Builder, warnings: Sequence[str]) -> list[Complaint]:
    command = [*builder.tools.compiler, *builder.tools.target, *STRICT_FLAGS]
    if _INCLUDES_LIBRARY.match(text):
        header = builder.precompiled([*command, *PRECOMPILED, "-c", "-"], STRICT_FLAGS)
        command += include_precompiled(header)
    command += [*warnings, "-fsyntax-only", "-"]
    found = _parse(complain(command, f'#line 1 "{FILE_NAME}"\n{to_cpp(text)}'))
    return [complaint for complaint in found if not _OF_TYPES.search(complaint.message)]


# Here our classes differ from vectors in Metal, so that only the word of C++ and our rules count.
_OF_TYPES = re.compile(
    "^incompatible operand types|^invalid operands to binary expression"
    "|cannot be used as the type of a kernel parameter$"
    "|^kernel functions cannot be used in a template"
)


def _parse(output: str) -> Iterator[Complaint]:
    """Errors and warnings; one inside of the library counts for the line that led there."""
    message = ""
    for line in output.splitlines():
        match = _COMPLAINT.match(line)
        if match and match["kind"] != "note":
            message = _in_words_of_metal(match["message"])
        if match and message and match["file"] == FILE_NAME:
            yield Complaint(int(match["line"]), message)
            message = ""
    if message:
        yield Complaint(0, message)


def _in_words_of_metal(message: str) -> str:
    for pattern, word in _WORDS.items():
        message = re.sub(pattern, word, message)
    return message


# What clang calls things, and what the text does.
_WORDS = {
    r" \[-W.*\]$": "",
    r"const __global\b": "constant",
    r"\b__local\b": "threadgroup",
    r" ?\b__private\b(?=')": "",
    r"\b__private\b": "thread",
    r"\beas_(?:name_)?(?=local|global|generic|pipe|uniform|read_|write_|atomic_)": "",
}
_COMPLAINT = re.compile(
    r"(?P<file>[^:]+):(?P<line>\d+):\d+: (?:fatal )?(?P<kind>error|warning|note): (?P<message>.*)"
)


def _too_much_memory(text: str, builder: Builder) -> Iterator[Complaint]:
    library = builder.build([text], ["-O0"])  # more would remove variables without a use
    size = section_sizes(library.path.read_bytes()).get("eas_group_0", 0)
    if size > MAX_THREADGROUP_BYTES:
        message = f"{size} bytes of threadgroup memory, Metal has {MAX_THREADGROUP_BYTES}"
        yield Complaint(0, message)
