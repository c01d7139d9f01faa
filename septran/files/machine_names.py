"""Names in a machine file: each must be that of something in the file.

The tree is looked at and not the model, so that a file with a wrong key has its names checked too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from eas.septran.files import nodes
from eas.septran.files.complaints import Complaints, quoted, suggest
from eas.septran.files.nodes import Map, Scalar
from eas.support.diagnostics import Label
from eas.support.location import Loc

_PROCESSORS = (("grid",), ("mems", "*", "visible", "*"), ("primitives", "*", "*", "procs", "*"))
_MEMORIES = (("primitives", "*", "*", "mems", "*", "*"),)
_EXTENTS = ("m", "n", "k")  # of a product, `C[m, n] += A[m, k] @ B[k, n]`
# What `mems` calls the operands of an operation.
_OPERANDS = {
    "gemm": ("C", "A", "B"),
    "fill": ("D",),
    **dict.fromkeys(("copy", "exp", "gelu", "row_max", "row_sum"), ("D", "A")),
    **dict.fromkeys(("add", "mul"), ("D", "A", "B")),
    "scale_rows": ("D", "A", "R"),
}
_SYMBOLS = (("copies", "*", "symbol"), ("copies", "*", "wait"), ("primitives", "*", "*", "symbol"))


def check_machine(root: Map, complaints: Complaints) -> None:
    """Complain about names of processors, memories and symbols that the file does not have."""
    procs, mems, symbols = (_keys(root, key) for key in ("procs", "mems", "symbols"))
    for name, loc in _texts(root, _PROCESSORS):
        message = f"the machine has no processor {quoted(name)}"
        _require(name, procs, "S115", message, loc, complaints)
    for name, loc in (*_ends_of_copies(root), *_texts(root, _MEMORIES)):
        message = f"the machine has no memory {quoted(name)}"
        _require(name, mems, "S116", message, loc, complaints)
    for name, loc in _texts(root, _SYMBOLS):
        message = f"`symbols` does not have {quoted(name)}"
        _require(name, symbols, "S126", message, loc, complaints)
    _check_memories(root, complaints)
    _check_copies(root, complaints)
    _check_primitives(root, complaints)
    _check_operations(root, complaints)
    _check_needs(root, complaints)


def _keys(root: Map, key: str) -> Collection[str]:
    node = nodes.child(root, key)
    return node.entries if isinstance(node, Map) else ()


def _texts(root: Map, patterns: Collection[tuple[str, ...]]) -> Iterator[tuple[str, Loc]]:
    for pattern in patterns:
        for _, node in nodes.match(root, pattern):
            if isinstance(node, Scalar) and isinstance(node.value, str):
                yield node.value, node.loc


def _ends_of_copies(root: Map) -> Iterator[tuple[str, Loc]]:
    for path, _ in nodes.match(root, ("copies", "*")):
        arrow = str(path[-1])
        if "->" in arrow:
            yield from ((name, nodes.key_place(root, path)) for name in arrow.split("->"))


def _require(
    name: str, known: Collection[str], code: str, message: str, loc: Loc, complaints: Complaints
) -> None:
    if name not in known:
        complaints.add(code, message, loc, help=suggest(name, known, "it has"))


def _check_memories(root: Map, complaints: Complaints) -> None:
    """Arguments lie in a memory of the kind `global`."""
    kinds = [name for name, _ in _texts(root, [("mems", "*", "kind")])]
    if kinds and not any(kind not in ("scratch", "registers") for kind in kinds):
        message = "no memory is of the kind `global`, in which arguments lie"
        complaints.add("S107", message, nodes.key_place(root, ["mems"]))


def _check_copies(root: Map, complaints: Complaints) -> None:
    """Who starts a copy with a function waits for it with another one."""
    for path, node in nodes.match(root, ("copies", "*")):
        if not isinstance(node, Map):
            continue
        mode = nodes.child(node, "mode")
        is_started = isinstance(mode, Scalar) and mode.value == "start_wait"
        if is_started and "symbol" in node.entries and "wait" not in node.entries:
            message = f"{quoted(str(path[-1]))} is started by a function, but `wait` is missing"
            complaints.add("S107", message, nodes.key_place(root, path))
        is_synchronous = mode is None or (isinstance(mode, Scalar) and mode.value == "synchronous")
        if is_synchronous and "wait" in node.entries:
            help = ["write `mode: start_wait`, or remove `wait`"]
            loc = nodes.place(root, [*path, "wait"])
            complaints.add("S109", "a synchronous copy is not waited for", loc, help=help)


def _check_primitives(root: Map, complaints: Complaints) -> None:
    first: dict[str, Loc] = {}
    for name, loc in _texts(root, [("primitives", "*", "*", "name")]):
        if name in first:
            label = Label(first[name], "the first one")
            message = f"two primitives are called {quoted(name)}"
            complaints.add("S103", message, loc, secondary=[label])
        first.setdefault(name, loc)


def _check_operations(root: Map, complaints: Complaints) -> None:
    """Only products have a shape and levels; extents and operands have the operation's names."""
    for path, node in nodes.match(root, ("primitives", "*", "*")):
        if not isinstance(node, Map):
            continue
        operation = str(path[1])
        for key in ("shape", "procs"):
            if operation != "gemm" and key in node.entries:
                message = f"only products (`gemm`) have `{key}`, and this is {quoted(operation)}"
                complaints.add("S109", message, nodes.key_place(root, [*path, key]))
        if operation == "copy" and "symbol" in node.entries:
            message = "the functions that copy are those in `copies`"
            complaints.add("S109", message, nodes.key_place(root, [*path, "symbol"]))
        known = {"shape": _EXTENTS, "mems": _OPERANDS.get(operation, ())}
        for key, names in known.items():
            inner = nodes.child(node, key) if names else None
            for name in inner.entries if isinstance(inner, Map) else ():
                what = "a product" if operation == "gemm" else quoted(operation)
                message = f"`{key}` of {what} has no {quoted(name)}"
                loc = nodes.key_place(root, [*path, key, name])
                _require(name, names, "S106", message, loc, complaints)


def _check_needs(root: Map, complaints: Complaints) -> None:
    """A need is a package, a command or a file."""
    kinds = ("package", "command", "file")
    for path, node in nodes.match(root, ("needs", "*")):
        if not isinstance(node, Map):
            continue
        named = [key for key in node.entries if key in kinds]
        if not named:
            message = "a need is a `package`, a `command` or a `file`: none of them is there"
            complaints.add("S107", message, node.loc)
        for key in named[1:]:
            message = f"a need is one thing, and this is a `{named[0]}` and a `{key}`"
            complaints.add("S109", message, nodes.key_place(root, [*path, key]))
