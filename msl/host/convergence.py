"""Where lanes that diverge join again: loops and calls of an MSL text, marked for the runtime.

The lanes of a simdgroup that execute a simdgroup function together are its active threads (Metal
Shading Language Specification, "SIMD-group Functions"). The specification does not define when
lanes that diverged are active together again. The runtime takes them to join at the end of the
statement in which they diverged, as the structure of the text has it: lanes meet in one dynamic
instance of a function, that is with the same calls around it and in the same trip of each loop.
The extension VK_KHR_shader_maximal_reconvergence has this rule for Vulkan.

So each lane notes the calls and the loops that it is in (`eas_step`) and counts the trips
(`eas_trip`); the runtime compares these paths (`native/runtime.cpp`). Only what contains a function
in which lanes wait is marked. The marks stand in the lines of the text, whose numbers stay.
"""

from __future__ import annotations

from collections.abc import Sequence

from eas.msl.host.call_graph import Function, called, find_functions
from eas.msl.host.tokens import Token, closing, tokenize

# An `else` of ours after each `if` of ours, so that an `else` of the text belongs to its own `if`.
_LOOP = "if (eas_step eas_loop; false) {} else "
_TRIP = " if (eas_trip eas_this_trip; false) {} else "
_CALLER = "EAS_CALLER"
_CALL = " eas_step eas_call(eas_from.site); "

Marks = list[tuple[int, str]]


def with_paths(text: str) -> str:
    """The text with marks, of which each belongs at a place between two words."""
    tokens = tokenize(text)
    functions = list(find_functions(tokens))
    waiting = _waiting(functions)
    marks: Marks = []
    for function in functions:
        if function.name in waiting and _is_only_called(function, functions, tokens):
            marks += _call_marks(function, tokens)
        words = tokens[function.opening : function.last]
        marks += _loop_marks(words, waiting)
    parts: list[str] = []
    done = 0
    for place, mark in sorted(marks):
        parts += [text[done:place], mark]
        done = place
    return "".join(parts) + text[done:]


def is_wait(token: Token) -> bool:
    """Whether a word may be a function in which threads wait: all of them begin like this."""
    return token.kind == "name" and token.text.startswith(
        ("simd_", "simdgroup_", "quad_", "threadgroup_barrier")
    )


def _waiting(functions: Sequence[Function]) -> set[str]:
    """The functions in which threads may wait, at once or in one that they call."""
    names = {function.name for function in functions}
    waiting = {f.name for f in functions if any(map(is_wait, f.body))}
    while True:
        more = {f.name for f in functions if called(f, names) & waiting} - waiting
        if not more:
            return waiting
        waiting |= more


def _is_only_called(
    function: Function, functions: Sequence[Function], tokens: Sequence[Token]
) -> bool:
    """Whether a parameter with a default may be added: nobody declares or passes the function."""
    before = tokens[function.at - 1]
    if before.kind != "name" and before.text not in ("*", "&", ">"):
        return False  # a constructor, or a member that it initializes
    places = [at for at, token in enumerate(tokens) if token.text == function.name]
    definitions = {each.at for each in functions if each.name == function.name}
    inside = [at for at in places if any(f.opening < at < f.last for f in functions)]
    is_defined_only = definitions >= {*places} - {*inside}
    return is_defined_only and all(tokens[at + 1].text in ("(", "<") for at in inside)


def _call_marks(function: Function, tokens: Sequence[Token]) -> Marks:
    """A parameter that says where the call is, and a step of the path as long as it lasts."""
    if any(token.text == "kernel" for token in _declaration(function, tokens)):
        return []
    if [token.text for token in function.parameters] == ["void"]:
        return []  # there is no place for one more
    parameter = f", {_CALLER}" if function.parameters else _CALLER
    return [(tokens[function.end].start, parameter), (tokens[function.opening].end, _CALL)]


def _declaration(function: Function, tokens: Sequence[Token]) -> list[Token]:
    """The words before a function's name."""
    words: list[Token] = []
    for token in reversed(tokens[: function.at]):
        if token.text in (";", "}", "{") or token.kind == "directive":
            break
        words.append(token)
    return words


def _loop_marks(words: Sequence[Token], waiting: set[str]) -> Marks:
    marks: Marks = []
    ends_of_do: set[int] = set()
    for at, token in enumerate(words):
        if token.text not in ("for", "while", "do") or token.kind != "name" or at in ends_of_do:
            continue
        if token.text == "do":
            body, end = at + 1, _end_of_statement(words, at + 1)
            ends_of_do.add(end)
            end = closing(words, end + 1) + 1
        else:
            body = closing(words, at + 1) + 1
            end = _end_of_statement(words, body)
        if any(is_wait(word) or word.text in waiting for word in words[at:end]):
            marks += [(_start(words, at), _LOOP), (words[body - 1].end, _TRIP)]
    return marks


def _start(words: Sequence[Token], at: int) -> int:
    """Where a loop begins; a `#pragma unroll` above belongs to it."""
    line = words[at - 1].line
    first = next(i for i in range(at - 1, -1, -1) if i == 0 or words[i - 1].line < line)
    if line == words[at].line or not words[first].text.lstrip().startswith("#"):
        return words[at].start
    return words[first - 1].end


def _end_of_statement(words: Sequence[Token], at: int) -> int:
    """The place behind a statement."""
    if at >= len(words):
        return at
    first = words[at].text
    if first == "{":
        return closing(words, at) + 1
    if first in ("for", "while", "if", "switch"):
        condition = at + 2 if words[at + 1].text == "constexpr" else at + 1
        end = _end_of_statement(words, closing(words, condition) + 1)
        has_else = first == "if" and end < len(words) and words[end].text == "else"
        return _end_of_statement(words, end + 1) if has_else else end
    if first == "do":
        condition = _end_of_statement(words, at + 1) + 1
        return closing(words, condition) + 2
    while at < len(words) and words[at].text != ";":
        at = closing(words, at) + 1 if words[at].text in ("(", "[", "{") else at + 1
    return at + 1
