"""Whether a text is Metal: two front ends of clang and our own rules have to agree that it is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from eas.msl.host.build import HEAD, Builder, default_builder
from eas.msl.host.errors import MslError
from eas.msl.host.rules import Complaint, complaints
from eas.msl.host.sections import section_sizes
from eas.msl.host.tokens import tokenize
from eas.msl.host.toolchain import HERE, Toolchain, complain
from eas.msl.host.translate import translate, without_attributes
from eas.msl.python_lines import FILE_NAME

MAX_THREADGROUP_BYTES = 32768

# Warnings that would be a mistake in any text; those of style are left out.
WARNINGS = (
    "-Wall", "-Wextra", "-Wno-unused", "-Wno-unused-parameter", "-Wno-sign-compare",
    "-Wno-parentheses", "-Wno-missing-braces", "-Wdouble-promotion", "-Wno-unknown-pragmas",
    "-Wno-unknown-attributes", "-Wvla", "-Wno-unused-command-line-argument",
)  # fmt: skip
STRICT_FLAGS = (
    "-x", "cl", "-cl-std=clc++2021", "-cl-no-stdinc", "-Xclang",
    "-cl-ext=-all,+cl_khr_fp16,-cl_khr_fp64,-__opencl_c_fp64,-__opencl_c_generic_address_space",
    "-isystem", str(HERE / "strict"), "-fsyntax-only", "-",
)  # fmt: skip


def inspect(text: str, builder: Builder | None = None) -> list[Complaint]:
    """What speaks against a text, without duplicates; nothing if it is Metal as far as we know."""
    builder = builder or default_builder()
    found: list[Complaint] = []
    try:
        found += complaints(text)
        found += _seen_as_opencl(text, builder.tools)
        found += _seen_as_cpp(text, builder.tools)
        if not found:
            found += _too_much_memory(text, builder)
    except MslError as error:
        found += [] if found else [Complaint(0, str(error))]
    return list(dict.fromkeys(found))


def _seen_as_cpp(text: str, tools: Toolchain) -> list[Complaint]:
    code = HEAD + translate(text).code
    command = [*tools.compile_command((*WARNINGS, "-fsyntax-only"), "/dev/null")]
    return list(_parse(complain(command, code)))


def _seen_as_opencl(text: str, tools: Toolchain) -> list[Complaint]:
    command = [*tools.compiler, *tools.target, *WARNINGS, *STRICT_FLAGS]
    code = without_attributes(text, tokenize(text))
    return list(_parse(complain(command, f'#line 1 "{FILE_NAME}"\n{code}')))


def _parse(output: str) -> Iterator[Complaint]:
    """Errors and warnings; one inside of the library counts for the line that led there."""
    message = ""
    for line in output.splitlines():
        match = _COMPLAINT.match(line)
        if match and match["kind"] != "note":
            message = re.sub(r" \[-W.*\]$", "", match["message"])
        if match and message and match["file"] == FILE_NAME:
            yield Complaint(int(match["line"]), message)
            message = ""
    if message:
        yield Complaint(0, message)


_COMPLAINT = re.compile(
    r"(?P<file>[^:]+):(?P<line>\d+):\d+: (?:fatal )?(?P<kind>error|warning|note): (?P<message>.*)"
)


def _too_much_memory(text: str, builder: Builder) -> Iterator[Complaint]:
    library = builder.build([text], ["-O0"]).path  # more would remove variables without a use
    size = section_sizes(library.read_bytes()).get("eas_group_0", 0)
    if size > MAX_THREADGROUP_BYTES:
        message = f"{size} bytes of threadgroup memory, Metal has {MAX_THREADGROUP_BYTES}"
        yield Complaint(0, message)
