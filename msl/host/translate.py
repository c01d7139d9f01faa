"""From MSL to the C++ that the shim understands: variables of a threadgroup, and a way in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from eas.ir.records import frozen
from eas.msl.host.errors import MslError
from eas.msl.host.signature import Parameter, Signature, find_kernels
from eas.msl.host.tokens import Token, tokenize
from eas.msl.python_lines import FILE_NAME

# What each attribute is in `eas_thread` of include/eas_types.h: an array of three, or a number.
POSITIONS = {
    "thread_position_in_threadgroup": "position",
    "threadgroup_position_in_grid": "group",
    "threads_per_threadgroup": "threads",
    "dispatch_threads_per_threadgroup": "threads",
    "threads_per_grid": "grid",
    "threadgroups_per_grid": "groups",
}
NUMBERS = {
    "thread_index_in_simdgroup": "me->lane",
    "simdgroup_index_in_threadgroup": "me->simdgroup",
    "simdgroups_per_threadgroup": "me->simdgroups",
    "dispatch_simdgroups_per_threadgroup": "me->simdgroups",
    "thread_index_in_threadgroup": "me->index",
    "threads_per_simdgroup": "32u",
    "thread_execution_width": "32u",
    "quadgroup_index_in_threadgroup": "(me->index / 4)",
    "thread_index_in_quadgroup": "(me->index % 4)",
}
GRID_POSITION = "thread_position_in_grid"
ATTRIBUTES = frozenset({"buffer", "threadgroup", GRID_POSITION, *POSITIONS, *NUMBERS})


@frozen
class Unit:
    """One MSL text in C++. `waits` is set if its threads may wait for each other."""

    number: int
    code: str
    kernels: tuple[Signature, ...]
    waits: bool

    def entry(self, kernel: str) -> str:
        """The symbol to enter a kernel by."""
        return f"eas_enter_{self.number}_{kernel}"


def translate(text: str, number: int = 0) -> Unit:
    """Translates a text; several with different numbers can be compiled together."""
    tokens = tokenize(text)
    kernels = tuple(find_kernels(tokens))
    text = without_attributes(text, tokens)
    body = _with_threadgroup_variables(text, tokens, number)
    entries = "\n".join(_entry(kernel, number) for kernel in kernels)
    code = (
        f"namespace eas_unit_{number} {{\n"
        f'#line 1 "{FILE_NAME}"\n{body}\n'
        f'#line 1 "entry"\n{entries}\n}}\n{_section_bounds(number)}'
    )
    return Unit(number, code, kernels, any(_is_wait(token) for token in tokens))


def _is_wait(token: Token) -> bool:
    """Whether a word may be a function in which threads wait: all of them begin like this."""
    return token.kind == "name" and token.text.startswith(
        ("simd_", "simdgroup_", "quad_", "threadgroup_barrier")
    )


def without_attributes(text: str, tokens: Sequence[Token]) -> str:
    """The text with blanks for attributes of parameters: `threadgroup(0)` is a macro in ours."""
    parts: list[str] = []
    done = 0
    for at, token in enumerate(tokens[:-1]):
        if token.text == "[[" and tokens[at + 1].text in ATTRIBUTES:
            end = next(t for t in tokens[at:] if t.text == "]]").end
            blank = re.sub(r"[^\n]", " ", text[token.start : end])
            parts.append(text[done : token.start] + blank)
            done = end
    return "".join(parts) + text[done:]


# --- variables in threadgroup memory ----------------------------------------------------------


def _with_threadgroup_variables(text: str, tokens: Sequence[Token], number: int) -> str:
    """C++ has no automatic variables in another address space: they become references.

    `threadgroup T a[8];` is the type `T[8]`, static bytes for it, and `a` as a name for these.
    """
    parts: list[str] = []
    done = 0
    for start, end in _threadgroup_variables(tokens):
        parts.append(text[done : tokens[start].start] + "typedef")
        done = tokens[start].end
        names = _declared(tokens[start:end])
        for name in names:
            parts.append(text[done : name.start] + f"eas_type_{name.text}")
            done = name.end
        parts.append(text[done : tokens[end].end])
        parts += [f" EAS_VARIABLE({number}, {name.text});" for name in names]
        done = tokens[end].end
    return "".join(parts) + text[done:]


def _threadgroup_variables(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """The first and the last word of each declaration of such a variable."""
    for at, token in enumerate(tokens):
        if token.text != "threadgroup" or tokens[at - 1].text not in (";", "{", "}"):
            continue
        end = next((i for i in range(at, len(tokens)) if tokens[i].text in (";", "=")), at)
        words = [t.text for t in tokens[at:end]]
        if tokens[end].text == ";" and not {"*", "&", "("} & set(words):
            yield at, end


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


# --- the way in -------------------------------------------------------------------------------


def _entry(kernel: Signature, number: int) -> str:
    arguments = ", ".join(_argument(kernel.name, p) for p in kernel.parameters)
    return (
        f'extern "C" EAS_ENTRY void eas_enter_{number}_{kernel.name}(void* const* buffers, '
        "void* const* shared, const eas_thread* me) "
        f"{{ {kernel.name}({arguments}); }}"
    )


def _argument(kernel: str, parameter: Parameter) -> str:
    ty, attribute = parameter.type, parameter.attribute
    if attribute.startswith("buffer("):
        place = f"buffers[{parameter.index}]"
        if ty.endswith("&"):
            return f"*({ty[:-1]}*)(uintptr_t){place}"
        return f"({ty})(uintptr_t){place}"
    if attribute.startswith("threadgroup("):
        return f"({ty})(uintptr_t)shared[{parameter.index}]"
    if attribute in POSITIONS:
        return _vector(ty, [f"me->{POSITIONS[attribute]}[{axis}]" for axis in range(3)])
    if attribute == GRID_POSITION:
        at = "me->group[{0}] * me->threads[{0}] + me->position[{0}]"
        return _vector(ty, [at.format(axis) for axis in range(3)])
    if attribute in NUMBERS:
        return f"{ty}({NUMBERS[attribute]})"
    message = f"`{attribute}` is unknown" if attribute else "it has no attribute"
    raise MslError(f"line {parameter.line}: parameter `{parameter.name}`: {message}", kernel)


def _vector(ty: str, axes: list[str]) -> str:
    width = int(ty[-1]) if ty[-1] in "23" else 1
    return f"{ty}({', '.join(axes[:width])})"
