"""From MSL to the C++ that the shim understands: variables of a threadgroup, and a way in."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from eas.msl.cxx.python_lines import FILE_NAME
from eas.msl.host.convergence import is_wait, with_paths
from eas.msl.host.divisors import with_divisors
from eas.msl.host.errors import MslError
from eas.msl.host.kernel_signatures import (
    FunctionConstant,
    Parameter,
    Signature,
    find_function_constants,
    find_kernels,
)
from eas.msl.host.tokens import Token, closing, tokenize
from eas.support.records import frozen

# What each attribute is in `eas_thread` of include/eas_types.h: an array of three, or a number.
POSITIONS = {
    "thread_position_in_threadgroup": "position",
    "threadgroup_position_in_grid": "group",
    "threads_per_threadgroup": "threads",
    "dispatch_threads_per_threadgroup": "most_threads",
    "threads_per_grid": "grid",
    "threadgroups_per_grid": "groups",
}
NUMBERS = {
    "thread_index_in_simdgroup": "eas_me->lane",
    "simdgroup_index_in_threadgroup": "eas_me->simdgroup",
    "simdgroups_per_threadgroup": "eas_me->simdgroups",
    "dispatch_simdgroups_per_threadgroup": "eas_me->most_simdgroups",
    "thread_index_in_threadgroup": "eas_me->index",
    "threads_per_simdgroup": "32u",
    "thread_execution_width": "32u",
    "quadgroup_index_in_threadgroup": "(eas_me->index / 4)",
    "thread_index_in_quadgroup": "(eas_me->index % 4)",
    "quadgroups_per_threadgroup": (
        "((eas_me->threads[0] * eas_me->threads[1] * eas_me->threads[2] + 3) / 4)"
    ),
}
GRID_POSITION = "thread_position_in_grid"


# Values of function constants by their names.
Constants = Mapping[str, bool | int | float]


@frozen
class Unit:
    """One MSL text in C++. `waits` is set if its threads may wait for each other.

    `type_lines` are the lines on which types are defined.
    """

    number: int
    code: str
    kernels: tuple[Signature, ...]
    waits: bool
    type_lines: frozenset[int] = frozenset()

    def entry(self, kernel: str) -> str:
        """The symbol to enter a kernel by."""
        return f"eas_enter_{self.number}_{kernel}"


def translate(text: str, number: int = 0, constants: Constants | None = None) -> Unit:
    """Translates a text; several with different numbers can be compiled together."""
    kernels = tuple(find_kernels(tokenize(text)))
    text = with_divisors(with_paths(to_cpp(text, constants)))
    tokens = tokenize(text)
    body = _with_threadgroup_variables(text, tokens, number)
    entries = "\n".join(_entry(kernel, number) for kernel in kernels)
    code = (
        f"namespace eas_unit_{number} {{\n"
        f'#line 1 "{FILE_NAME}"\n{body}\n'
        f'#line 1 "entry"\n{entries}\n}}\n{_section_bounds(number)}'
    )
    waits = any(is_wait(token) for token in tokens)
    types = frozenset(token.line for token in tokens if token.text in ("struct", "class"))
    return Unit(number, code, kernels, waits, types)


def to_cpp(text: str, constants: Constants | None = None) -> str:
    """The text without attributes, with values for function constants and C++'s literals."""
    text = _SUFFIX.sub(_literal, text)
    tokens = tokenize(text)
    text = _with_function_constants(text, tokens, constants)
    return _without_attributes(text, tokenize(text))


_SUFFIX = re.compile(
    r"(?<![\w.])((?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?)(h|bf)(?![\w.])", re.IGNORECASE
)


def _literal(match: re.Match[str]) -> str:
    is_half = match[2] in "hH"
    return f"{match[1]}f16" if is_half else f"bfloat({match[1]}f)"


def _without_attributes(text: str, tokens: Sequence[Token]) -> str:
    """The text with blanks for attributes; `[[kernel]]` is a word."""
    parts: list[str] = []
    done = 0
    for at, token in enumerate(tokens):
        if token.text == "[[" and token.start >= done:
            inside = tokens[at + 1 : closing(tokens, at) + 1]
            blank = re.sub(r"[^\n]", " ", text[token.start : inside[-1].end])
            word = "kernel" if any(each.text == "kernel" for each in inside) else ""
            parts += [text[done : token.start], word, blank[len(word) :]]
            done = inside[-1].end
    return "".join(parts) + text[done:]


def _with_function_constants(
    text: str, tokens: Sequence[Token], constants: Constants | None
) -> str:
    """Function constants with their values; without any, each is a zero."""
    found = list(find_function_constants(tokens))
    if constants is not None:
        _refuse_other_constants(text, found, constants)
    parts: list[str] = []
    done = 0
    for each in found:
        value = constants.get(each.name) if constants else None
        parts.append(text[done : each.words[0].start] + _constant(each, value))
        done = each.words[-1].end
    return "".join(parts) + text[done:]


def _constant(constant: FunctionConstant, value: bool | int | float | None) -> str:
    shown = "" if value is None else _spell(value)
    return (
        f"constant {constant.type} {constant.name} = {constant.type}({shown}); "
        f"constant bool eas_has_{constant.name} = {str(value is not None).lower()};"
    )


def _spell(value: Any) -> str:
    """A number of Python's or NumPy's as Metal writes it."""
    number = value.item() if hasattr(value, "item") else value
    if isinstance(number, float) and not math.isfinite(number):
        return "NAN" if math.isnan(number) else "INFINITY" if number > 0 else "-INFINITY"
    return repr(number).lower()


def _refuse_other_constants(
    text: str, found: Sequence[FunctionConstant], constants: Constants
) -> None:
    names = {each.name for each in found}
    for name in constants:
        if name not in names:
            raise MslError(f"the text has no function constant `{name}`")
    for name in sorted(names - set(constants)):
        if f"is_function_constant_defined({name})" not in text:
            raise MslError(f"the function constant `{name}` has no value")


def _with_threadgroup_variables(text: str, tokens: Sequence[Token], number: int) -> str:
    """C++ has no automatic variables in another address space: they become references.

    `threadgroup T a[8];` is the type `T[8]`, static bytes for it, and `a` as a name for these.
    """
    parts: list[str] = []
    done = 0
    for start, end in _threadgroup_variables(tokens):
        parts.append(text[done : tokens[start].start] + "typedef ")
        done = tokens[start].start
        for word in tokens[start:end]:
            if word.text in _QUALIFIERS:
                parts.append(text[done : word.start])
                done = word.end
        names = _declared(tokens[start:end])
        for name in names:
            parts.append(text[done : name.start] + f"eas_type_{name.text}")
            done = name.end
        parts.append(text[done : tokens[end].end])
        parts += [f" EAS_VARIABLE({number}, {name.text});" for name in names]
        done = tokens[end].end
    return "".join(parts) + text[done:]


_QUALIFIERS = frozenset({"threadgroup", "static", "volatile"})


def _threadgroup_variables(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """The first and the last word of each declaration of such a variable."""
    start = depth = 0
    for at, token in enumerate(tokens):
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if token.text in (";", "{", "}") or token.kind == "directive":
            start = at + 1
        elif token.text == "threadgroup" and depth == 0:
            end = next(i for i in range(at, len(tokens)) if tokens[i].text in (";", "=", "{"))
            if not _is_elsewhere(tokens[start:end]):
                if tokens[end].text != ";":
                    raise MslError(
                        f"line {token.line}: a threadgroup variable has no initial value"
                    )
                yield start, end


def _is_elsewhere(words: Sequence[Token]) -> bool:
    """Whether a declaration is of a pointer, a reference or a function."""
    depth = 0
    for word in words:
        if depth == 0 and word.text in ("*", "&", "(", "typedef", "using"):
            return True
        depth += {"[": 1, "<": 1, "]": -1, ">": -1, "]]": -2}.get(word.text, 0)
    return False


def _declared(tokens: Sequence[Token]) -> list[Token]:
    """The names in `threadgroup T a[8], b`."""
    names: list[Token] = []
    depth = 0
    for token, after in zip(tokens, [*(t.text for t in tokens[1:]), ";"], strict=True):
        depth += {"[": 1, "<": 1, "(": 1, "]": -1, ">": -1, ")": -1, "]]": -2}.get(token.text, 0)
        if depth == 0 and token.kind == "name" and after in ("[", ",", ";"):
            names.append(token)
    return names


def _section_bounds(number: int) -> str:
    return f"EAS_BOUNDS({number})\n"


def _entry(kernel: Signature, number: int) -> str:
    arguments = ", ".join(_argument(kernel.name, p) for p in kernel.parameters)
    return (
        f'extern "C" EAS_ENTRY void eas_enter_{number}_{kernel.name}(void* const* eas_buffers, '
        "void* const* eas_shared, const eas_thread* eas_me) "
        f"{{ {kernel.name}({arguments}); }}"
    )


def _argument(kernel: str, parameter: Parameter) -> str:
    ty, attribute = parameter.type, parameter.attribute
    if attribute.startswith("buffer("):
        place = f"eas_buffers[{parameter.index}]"
        if ty.endswith("&"):
            return f"*({ty[:-1]}*)(uintptr_t){place}"
        return f"({ty})(uintptr_t){place}"
    if attribute.startswith("threadgroup("):
        return f"({ty})(uintptr_t)eas_shared[{parameter.index}]"
    if attribute in POSITIONS:
        return _vector(ty, [f"eas_me->{POSITIONS[attribute]}[{axis}]" for axis in range(3)])
    if attribute == GRID_POSITION:
        at = "eas_me->group[{0}] * eas_me->most_threads[{0}] + eas_me->position[{0}]"
        return _vector(ty, [at.format(axis) for axis in range(3)])
    if attribute in NUMBERS:
        return f"{ty}({NUMBERS[attribute]})"
    message = f"`{attribute}` is unknown" if attribute else "it has no attribute"
    raise MslError(f"line {parameter.line}: parameter `{parameter.name}`: {message}", kernel)


def _vector(ty: str, axes: list[str]) -> str:
    width = width_of(ty)
    return f"{ty}({', '.join(axes[:width])})"


def width_of(ty: str) -> int:
    """How many axes a type has: 2 for `uint2` and `vec < ushort , 2 >`, 1 for a number."""
    match = re.search(r"([23])(?: >)?$", ty)
    return int(match[1]) if match else 1
