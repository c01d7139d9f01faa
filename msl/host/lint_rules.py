"""Rules of Metal that no front end of clang knows: on signatures, words, and who calls whom."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from eas.msl.host.call_graph import Function, called, find_functions
from eas.msl.host.kernel_signatures import Parameter, Signature, find_kernels, split
from eas.msl.host.tokens import Token, closing, tokenize
from eas.msl.host.translate import GRID_POSITION, NUMBERS, POSITIONS, width_of
from eas.support.records import frozen

MAX_INDEX = 30
SPACES = frozenset({"device", "constant", "threadgroup", "thread"})


@frozen
class Complaint:
    """What is wrong with a text, and in which line."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


def complaints(text: str) -> list[Complaint]:
    """Everything that the rules here have against a text, in the order of its lines."""
    tokens = tokenize(text)
    kernels = list(find_kernels(tokens))
    functions = list(find_functions(tokens))
    found = [
        *(c for kernel in kernels for c in _signature(kernel)),
        *_words(tokens),
        *_reserved_names(tokens),
        *_calls(functions, {kernel.name for kernel in kernels}),
        *_pointers(tokens, functions),
        *_variables(tokens),
        *_mixed_floats(tokens),
    ]
    return sorted(found, key=lambda complaint: complaint.line)


def _signature(kernel: Signature) -> Iterator[Complaint]:
    if kernel.result != "void":
        yield Complaint(kernel.line, f"kernel `{kernel.name}` returns `{kernel.result}`, not void")
    taken: dict[str, str] = {}
    for parameter in kernel.parameters:
        message = _parameter(parameter)
        if message:
            yield Complaint(parameter.line, f"parameter `{parameter.name}` {message}")
        if parameter.attribute in taken:
            other = taken[parameter.attribute]
            message = f"`{parameter.attribute}` is taken by `{other}` and `{parameter.name}`"
            yield Complaint(parameter.line, message)
        taken[parameter.attribute] = parameter.name
    if {"thread_execution_width", "threads_per_simdgroup"} <= set(taken):
        message = "`thread_execution_width` and `threads_per_simdgroup` are the same"
        yield Complaint(kernel.line, message)
    yield from _same_width(kernel)


def _parameter(parameter: Parameter) -> str:
    attribute, ty = parameter.attribute, parameter.type.replace("metal :: ", "")
    if attribute.startswith("buffer("):
        return _buffer(parameter)
    if attribute.startswith("threadgroup("):
        if not 0 <= parameter.index <= MAX_INDEX:
            return f"has the index {parameter.index}, but buffers go from 0 to {MAX_INDEX}"
        is_pointer = "threadgroup" in ty.split() and ty[-1] in "*&"
        return "" if is_pointer else f"is a threadgroup buffer, but of the type `{ty}`"
    if attribute in NUMBERS:
        return "" if re.fullmatch("uint|ushort", ty) else f"must be a uint or ushort, not `{ty}`"
    if attribute in POSITIONS or attribute == GRID_POSITION:
        is_unsigned = re.fullmatch("(uint|ushort)[23]?", ty)
        return "" if is_unsigned else f"must be a uint or ushort (or 2 or 3 of them), not `{ty}`"
    return f"has the unknown attribute `{attribute}`" if attribute else "has no attribute"


def _buffer(parameter: Parameter) -> str:
    words = parameter.type.split()
    if not 0 <= parameter.index <= MAX_INDEX:
        return f"has the index {parameter.index}, but buffers go from 0 to {MAX_INDEX}"
    if words[-1] not in ("*", "&"):
        return "is a buffer, but neither a pointer nor a reference"
    if words.count("*") + words.count("&") > 1:
        return "is a buffer of pointers"
    if not {"device", "constant"} & set(words):
        return "is a buffer, but neither in `device` nor in `constant` memory"
    return ""


def _same_width(kernel: Signature) -> Iterator[Complaint]:
    """All positions are numbers, or all are vectors of one width."""
    positions = [p for p in kernel.parameters if p.attribute in {*POSITIONS, GRID_POSITION}]
    widths = {width_of(p.type) for p in positions}
    if len(widths) > 1:
        types = ", ".join(f"{p.type} {p.name}" for p in positions)
        yield Complaint(kernel.line, f"positions are of different widths: {types}")


_FORBIDDEN = frozenset({
    "asm", "catch", "char16_t", "char32_t", "delete", "double", "dynamic_cast", "export",
    "extern", "goto", "new", "register", "std", "thread_local", "throw", "try", "typeid", "union",
    "virtual", "wchar_t", "__int128", "__asm__", "__global", "__local", "__constant", "__private",
})  # fmt: skip


_LONG_DOUBLE = re.compile(r"(?:\d*\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)[lL]")


def _words(tokens: Sequence[Token]) -> Iterator[Complaint]:
    for at, token in enumerate(tokens):
        if token.kind == "name" and token.text in _FORBIDDEN:
            yield Complaint(token.line, f"Metal has no `{token.text}`")
        if token.kind == "name" and token.text.startswith(("eas_", "__builtin_")):
            yield Complaint(token.line, f"`{token.text}` is no name of Metal")
        if token.text == "[" and _is_lambda(tokens, at):
            yield Complaint(token.line, "functions without a name need Metal 3.2")
        if [t.text for t in tokens[at : at + 2]] == ["long", "long"]:
            yield Complaint(token.line, "Metal has no `long long`")
        if token.kind == "string" and not _is_message(tokens, at):
            yield Complaint(token.line, "Metal has no strings")
        if token.kind == "number" and _LONG_DOUBLE.fullmatch(token.text):
            yield Complaint(token.line, f"`{token.text}` is a long double")


def _is_lambda(tokens: Sequence[Token], at: int) -> bool:
    """Whether a bracket opens a capture: it follows no value, and a body or parameters follow."""
    before = tokens[at - 1]
    if before.text in (")", "]", "]]") or (before.kind == "name" and before.text != "return"):
        return False
    end = closing(tokens, at)
    return end + 1 < len(tokens) and tokens[end + 1].text in ("(", "{")


def _is_message(tokens: Sequence[Token], at: int) -> bool:
    """Whether a string is one for the compiler: what an assertion says, or an attribute's."""
    for token in reversed(tokens[:at]):
        if token.text in ("static_assert", "_Pragma", "[["):
            return True
        if token.text in (";", "{", "}", "]]"):
            return False
    return False


RESERVED = frozenset({
    "kernel", "vertex", "fragment", "device", "constant", "threadgroup", "thread", "half",
    "bfloat", "uint", "ushort", "uchar", "ulong", "size_t", "sampler", "texture2d", "visible",
    "intersection", "object_data", "bool2", "bool3", "bool4", "int2", "int3", "int4",
    "uint2", "uint3", "uint4", "half2", "half3", "half4", "float2", "float3", "float4", "short2",
    "short3", "short4", "ushort2", "ushort3", "ushort4", "char2", "char3", "char4", "uchar2",
    "uchar3", "uchar4", "long2", "long3", "long4", "ulong2", "ulong3", "ulong4",
})  # fmt: skip


def _reserved_names(tokens: Sequence[Token]) -> Iterator[Complaint]:
    """A reserved word where a name is declared: after a type, before what follows a name."""
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if token.text not in RESERVED or after.text not in ("=", ";", ",", "[", ")"):
            continue
        is_declared = before.kind == "name" and before.text not in {*SPACES, "const", "return"}
        if is_declared and before.text not in ("unsigned", "typename", "class", "using"):
            yield Complaint(token.line, f"`{token.text}` is a word of Metal, not a name")


def _calls(functions: Sequence[Function], kernels: set[str]) -> Iterator[Complaint]:
    names = {function.name for function in functions}
    graph: dict[str, set[str]] = {}
    for function in functions:
        calls = called(function, names)
        # Overloads have one name: what any of them calls counts for all, but for the name itself.
        overloads = sum(other.name == function.name for other in functions)
        if overloads > 1:
            calls.discard(function.name)
        graph.setdefault(function.name, set()).update(calls)
        for name in sorted(calls & kernels):
            yield Complaint(function.line, f"`{function.name}` calls the kernel `{name}`")
    for function in functions:
        if function.name in _reachable(function.name, graph):
            yield Complaint(function.line, f"`{function.name}` calls itself")


def _reachable(name: str, graph: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    todo = list(graph[name])
    while todo:
        function = todo.pop()
        if function not in found:
            found.add(function)
            todo += graph.get(function, ())
    return found


_TYPES = (
    "void|bool|char|uchar|short|ushort|int|uint|long|ulong|half|bfloat|float|size_t|"
    r"(?:bool|char|uchar|short|ushort|int|uint|long|ulong|half|bfloat|float)[234]|atomic_\w+"
)


def _pointers(tokens: Sequence[Token], functions: Sequence[Function]) -> Iterator[Complaint]:
    """Pointers and references say where they point to."""
    structs = {b.text for a, b in pairwise(tokens) if a.text == "struct" and b.kind == "name"}
    types = re.compile("|".join([_TYPES, *map(re.escape, structs)]))
    for function in functions:
        for parameter in split(function.parameters):
            yield from _unqualified_parameter(parameter)
        yield from _unqualified(function.body, types)


def _unqualified_parameter(tokens: Sequence[Token]) -> Iterator[Complaint]:
    """A parameter may be of any type, and of one that a template leaves open."""
    texts = [token.text for token in tokens]
    declared = texts[: texts.index("=")] if "=" in texts else texts
    signs = [at for at, text in enumerate(declared) if text in ("*", "&")]
    if len(signs) > sum(text in SPACES for text in declared):
        at = signs[-1]
        pointed = "".join(texts[at - 1 : at + 1])
        yield Complaint(tokens[at].line, f"`{pointed}` does not say in which memory")


def _unqualified(tokens: Sequence[Token], types: re.Pattern[str]) -> Iterator[Complaint]:
    for at, token in enumerate(tokens[1:], 1):
        before = tokens[at - 1]
        is_pointer = types.fullmatch(before.text) is not None
        is_second = before.text == "*" and at > 1 and types.fullmatch(tokens[at - 2].text)
        if token.text not in ("*", "&") or not (is_pointer or is_second):
            continue
        start = at - 1
        while start and (_is_qualifier(tokens[start - 1]) or tokens[start].text == "::"):
            start -= 1
        if not SPACES & {t.text for t in tokens[start:at]}:
            message = f"`{before.text}{token.text}` does not say in which memory"
            yield Complaint(token.line, message)


def _is_qualifier(token: Token) -> bool:
    return token.text in {*SPACES, "const", "volatile", "struct", "::"}


def _variables(tokens: Sequence[Token]) -> Iterator[Complaint]:
    """Variables that outlive a thread, outside of all functions or static, are constants."""
    for words in _outer_declarations(tokens):
        texts = [word.text for word in words]
        declared = texts[: texts.index("=")] if "=" in texts else texts
        is_variable = len(declared) > 1 and "(" not in declared and not _NO_VARIABLE & {*declared}
        if is_variable and "constant" not in declared:
            message = "a variable outside of all functions must be in `constant` memory"
            yield Complaint(words[0].line, message)
    for at, token in enumerate(tokens):
        inside = [t.text for t in tokens[at:] if token.text == "static"]
        declared = inside[: inside.index(";")] if ";" in inside else inside
        if declared and _depth(tokens[:at]) and not {"constant", "(", "constexpr"} & {*declared}:
            yield Complaint(token.line, "a static variable must be in `constant` memory")


_NO_VARIABLE = frozenset({
    "typedef", "using", "struct", "class", "enum", "template", "static_assert", "namespace",
    "friend", "operator", "sampler",
})  # fmt: skip


def _outer_declarations(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """What ends with a semicolon outside of all functions and types."""
    words: list[Token] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.kind == "directive" or (token.text == "}" and not words):
            words = []
        elif token.text == ";":
            yield words
            words = []
        elif token.text == "{" and "namespace" in [word.text for word in words]:
            words = []
        elif token.text == "{":
            at = closing(tokens, at)
            is_value = any(word.text == "=" for word in words)
            words = words if is_value or _is_type(words) else []
        else:
            words.append(token)
        at += 1


def _is_type(words: Sequence[Token]) -> bool:
    return bool({"struct", "class", "enum"} & {word.text for word in words})


def _depth(tokens: Sequence[Token]) -> int:
    return sum({"{": 1, "}": -1}.get(token.text, 0) for token in tokens)


def _mixed_floats(tokens: Sequence[Token]) -> Iterator[Complaint]:
    """`half` and `bfloat` have no common type: variables of both must not meet in an operation."""
    kinds: dict[str, str] = {}
    for token, after in pairwise(tokens):
        if token.text in ("half", "bfloat") and after.kind == "name":
            kinds[after.text] = token.text
    for a, sign, b in zip(tokens, tokens[1:], tokens[2:], strict=False):
        pair = {kinds.get(a.text), kinds.get(b.text)}
        if sign.text in ("+", "-", "*", "/") and pair == {"half", "bfloat"}:
            yield Complaint(sign.line, f"`{sign.text}` of a half and a bfloat")
