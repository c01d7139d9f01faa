"""Mapping files put together: what they extend, several of them left to right, and their machine.

A later file changes an earlier one: maps are merged key by key, lists of `constraints` are joined,
any other value replaces the one before it. Every value keeps its place, whichever file it is in.
A file without `entrypoint` is an overlay: it is meant to be merged, or to be completed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Mapping as MappingOf
from typing import Any, TypeVar

from eas.septran.files import documents, names, nodes
from eas.septran.files.complaints import Complaints, quoted, suggest
from eas.septran.files.conditions import complain, parse_conditions
from eas.septran.files.documents import Document
from eas.septran.files.expressions import ExpressionError, holds
from eas.septran.files.machine import (
    Machine,
    find_machine,
    is_path,
    known_machines,
    read_machine,
)
from eas.septran.files.mapping import Instance, InstanceChoice, MappingFile
from eas.septran.files.nodes import Entry, Items, Map, Node, Scalar
from eas.septran.files.offsets import Text
from eas.septran.files.validation import validate
from eas.septran.files.writing import to_yaml
from eas.support.diagnostics import Label
from eas.support.location import NOWHERE, Loc
from eas.support.records import frozen, replace

DEEPEST = 16  # files that extend each other
MOST_FILES = 64

_ON_MACHINE = re.compile(r".*_on_(\w+)\.(?:map|mapping)\.ya?ml$")

PathName = str | os.PathLike[str]
P = TypeVar("P", bound=PathName)


@frozen(eq=False)
class Mapping:
    """A mapping, merged from its files, for a machine. `place` says where each value stands."""

    root: Map
    data: MappingFile
    machine: Machine
    documents: tuple[Document, ...]
    primitives: tuple[str, ...] = ()

    @property
    def entrypoint(self) -> str | None:
        return self.data.entrypoint

    @property
    def task_mappings(self) -> dict[str, Instance | InstanceChoice]:
        return self.data.task_mappings

    @property
    def constraints(self) -> list[str]:
        return self.data.constraints

    @property
    def is_overlay(self) -> bool:
        """Whether the files only change another mapping: they have no `entrypoint`."""
        return self.data.entrypoint is None

    def place(self, *path: str | int) -> Loc:
        """Where to point at for a value: `place("task_mappings", "gemm_block", "mems", "A")`.

        A map of several lines is shown by its key. If there is no such value, the place is that
        of the innermost map around it.
        """
        return nodes.place(self.root, path)

    def key_place(self, *path: str | int) -> Loc:
        """Where the key of a value stands."""
        return nodes.key_place(self.root, path)


def load_mapping(
    paths: PathName | Sequence[PathName],
    *,
    machine: PathName | Machine | None = None,
    primitives: Collection[str] = (),
    tasks: MappingOf[str, names.TaskNames] | None = None,
) -> Mapping:
    """The mapping in a file, or in several that are merged left to right.

    Its machine is `machine`, or what the key `machine` says, or what follows `_on_` in the name of
    a file. `primitives` are names that bindings may use besides those of the machine. With the
    `tasks` of its logic, names that the logic does not have are reported with all other mistakes.
    """
    complaints = Complaints()
    several = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not several:
        raise ValueError("no mapping is given")
    reader = _Reader(complaints)
    trees = [tree for path in several if (tree := reader.read(os.fspath(path))) is not None]
    if not trees:
        raise complaints.error()
    root = trees[0]
    for tree in trees[1:]:
        root = merge(root, tree)
    found = _machine_of(machine, trees, reader.documents, complaints)
    if tasks is not None:
        names.check_tree_names(root, tasks, complaints)
    return build(root, found, reader.documents, primitives, complaints)


def starts_mapping(path: PathName) -> bool:
    """Whether a file is a mapping of its own: it has an `entrypoint`, or extends one that has.

    A file that cannot be read is one, too: its mistakes are reported when it is loaded.
    """
    return _has_key(path, "entrypoint") or _has_key(path, "extends")


def _has_key(path: PathName, key: str) -> bool:
    document = documents.read(os.fspath(path), Complaints())
    return document is None or nodes.child(document.root, key) is not None


def build(
    root: Map,
    machine: Machine | None,
    documents: Sequence[Document],
    primitives: Collection[str],
    complaints: Complaints,
) -> Mapping:
    """The mapping of a merged tree, or all that is wrong with it as an error."""
    data = validate(MappingFile, root, complaints)
    names.check_tree(root, machine, primitives, complaints)
    complaints.raise_if_any()
    assert data is not None and machine is not None
    return Mapping(root, data, machine, tuple(documents), tuple(primitives))


def merge(first: Map, second: Map, path: tuple[str, ...] = ()) -> Map:
    """A tree changed by a later one."""
    if first.is_tune or second.is_tune:
        return second
    entries = dict(first.entries)
    for name, entry in second.entries.items():
        before = entries.get(name)
        entries[name] = entry if before is None else _merged(before, entry, (*path, name))
    return replace(first, entries=entries)


def _merged(before: Entry, entry: Entry, path: tuple[str, ...]) -> Entry:
    old, new = before.value, entry.value
    if isinstance(old, Map) and isinstance(new, Map):
        return replace(entry, value=merge(old, new, path))
    if path == ("constraints",) and isinstance(old, Items) and isinstance(new, Items):
        return replace(entry, value=replace(new, items=(*old.items, *new.items)))
    return entry


class _Reader:
    """Reads files and what they extend; each file's own mistakes are complained about once."""

    def __init__(self, complaints: Complaints) -> None:
        self.complaints = complaints
        self.documents: list[Document] = []
        self.chain: list[tuple[str, Loc | None]] = []
        self.names: dict[str, str] = {}

    def read(self, path: str, asked_at: Loc | None = None) -> Map | None:
        real = _real_path(path)
        if any(real == before for before, _ in self.chain):
            self._complain_about_cycle(real, asked_at)
            return None
        if len(self.chain) >= DEEPEST or len(self.documents) >= MOST_FILES:
            limit = DEEPEST if len(self.chain) >= DEEPEST else MOST_FILES
            message = f"more than {limit} files extend each other"
            self.complaints.add("S105", message, asked_at or NOWHERE)
            return None
        document = documents.read(path, self.complaints, asked_at, self._name_of(path, real))
        if document is None:
            return None
        self.documents.append(document)
        validate(MappingFile, document.root, self.complaints)
        self.chain.append((real, asked_at))
        root = self._with_bases(document)
        self.chain.pop()
        return root

    def _name_of(self, path: str, real: str) -> str:
        """What places call a file: no two files have one name, also in different folders."""
        folder, base = os.path.split(path)
        near = os.path.join(os.path.basename(folder), base)
        for name in (base, near):
            if self.names.setdefault(name, real) == real:
                return name
        return path

    def _with_bases(self, document: Document) -> Map:
        own = dict(document.root.entries)
        extends = own.pop("extends", None)
        root = replace(document.root, entries=own)
        bases: Map | None = None
        for scalar in _texts(None if extends is None else extends.value):
            path = os.path.join(os.path.dirname(document.path), str(scalar.value))
            base = self.read(path, scalar.loc)
            if base is not None:
                bases = base if bases is None else merge(bases, base)
        return root if bases is None else merge(bases, root)

    def _complain_about_cycle(self, real: str, asked_at: Loc | None) -> None:
        start = next(n for n, (path, _) in enumerate(self.chain) if path == real)
        labels = [Label(loc, "which is extended here") for _, loc in self.chain[start + 1 :] if loc]
        message = f"{quoted(os.path.basename(real))} extends itself"
        self.complaints.add("S114", message, asked_at or NOWHERE, secondary=labels)


def _real_path(path: str) -> str:
    """The same text for all names of a file; of a text that names none, itself."""
    try:
        return os.path.realpath(path)
    except ValueError:  # a character that no path has
        return path


def _texts(node: Node | None) -> list[Scalar]:
    several: Iterable[Node | None] = node.items if isinstance(node, Items) else [node]
    return [each for each in several if isinstance(each, Scalar) and isinstance(each.value, str)]


def _machine_of(
    given: PathName | Machine | None,
    trees: Sequence[Map],
    documents: Sequence[Document],
    complaints: Complaints,
) -> Machine | None:
    """The machine that is given, or that the files name; a complaint if they do not agree."""
    values = [nodes.child(tree, "machine") for tree in trees]
    keys = [key for key in values if isinstance(key, Scalar) and isinstance(key.value, str)]
    for key in keys[1:]:
        if key.value != keys[0].value:
            here, before = quoted(str(key.value)), quoted(str(keys[0].value))
            message = f"the machine is {here} here, and {before} before"
            label = Label(keys[0].loc, "the other machine")
            complaints.add("S113", message, key.loc, secondary=[label])
            return None
    if isinstance(given, Machine):
        _require_same(given.name, keys, complaints)
        return given
    if given is not None:
        text = os.fspath(given)
        folders = [".", *_folders(documents)]
        machine = _find(text, documents[0].start, folders, ".", complaints)
        _require_same(text if machine is None else machine.name, keys, complaints)
        return machine
    if keys:
        return _find_named(keys[0], complaints)
    if any(each is not None for each in values):
        return None  # it is no text, which is among the complaints
    return _machine_in_names(documents, complaints)


def _require_same(name: str, keys: Sequence[Scalar], complaints: Complaints) -> None:
    for key in keys[:1]:
        own = str(key.value)
        if is_path(own):
            machine = _find_named(key, complaints)
            own = name if machine is None else machine.name
        if own != name:
            message = f"this mapping is for {quoted(own)}, not for {quoted(name)}"
            complaints.add("S113", message, key.loc)


def _find_named(key: Scalar, complaints: Complaints) -> Machine | None:
    """The machine that a file names, beside that file."""
    folder = os.path.dirname(key.loc.source.path)
    return _find(str(key.value), key.loc, [folder], folder, complaints)


def _machine_in_names(documents: Sequence[Document], complaints: Complaints) -> Machine | None:
    found: dict[str, Document] = {}
    for document in documents:
        if match := _ON_MACHINE.match(os.path.basename(document.path)):
            found.setdefault(match.group(1), document)
    if not found:
        known = ", ".join(known_machines(_folders(documents)))
        help = [f"write `machine: cpu`, or give a machine; there are {known}"]
        message = "nothing says which machine this mapping is for"
        complaints.add("S112", message, documents[0].start, help=help)
        return None
    (first, document), *others = found.items()
    for name, other in others:
        message = f"this file is named for {quoted(name)}, another one for {quoted(first)}"
        help = [f"say which one: `--machine {first}`, or `machine: {first}` in a file"]
        complaints.add("S113", message, other.start, help=help)
        return None
    return _find(first, document.start, _folders(documents), ".", complaints)


def _folders(documents: Iterable[Document]) -> list[str]:
    return list(dict.fromkeys(os.path.dirname(each.path) for each in documents))


def _find(
    text: str, loc: Loc, folders: Sequence[str], base: str, complaints: Complaints
) -> Machine | None:
    if is_path(text):
        return read_machine(os.path.join(base, text), complaints, loc)
    path = find_machine(text, folders)
    if path is not None:
        return read_machine(path, complaints, loc)
    help = suggest(text, known_machines(folders), "there are")
    complaints.add("S111", f"there is no machine {quoted(text)}", loc, help=help)
    return None


def complete(overlay: Mapping, skeleton: dict[str, Any]) -> Mapping:
    """An overlay laid over a whole mapping that was made for its logic and machine.

    Where the overlay has an instance for a task, the skeleton's instance of this task takes its
    name. What only the skeleton says has its place in the skeleton's own text.
    """
    complaints = Complaints()
    renamed = _renamed(skeleton, _names_by_task(overlay))
    text = Text(to_yaml(renamed), "", f"<completed for {overlay.machine.name}>")
    document = documents.parse(text, complaints)
    complaints.raise_if_any()
    assert document is not None
    root = merge(document.root, overlay.root)
    several = (document, *overlay.documents)
    return build(root, overlay.machine, several, overlay.primitives, complaints)


def _names_by_task(overlay: Mapping) -> dict[str, str]:
    """The first instance that the overlay has for each task."""
    found: dict[str, str] = {}
    for name, instance in overlay.task_mappings.items():
        if isinstance(instance, Instance) and instance.task_name is not None:
            found.setdefault(instance.task_name, name)
    return found


def _renamed(skeleton: dict[str, Any], by_task: dict[str, str]) -> dict[str, Any]:
    instances: dict[str, dict[str, Any]] = skeleton["task_mappings"]
    left = dict(by_task)  # of several instances of a task the first one takes the name
    new = {name: left.pop(each["task_name"], name) for name, each in instances.items()}
    mappings = {
        new[name]: {
            **each,
            "calls": {
                task: new.get(callee, callee) for task, callee in each.get("calls", {}).items()
            },
        }
        for name, each in instances.items()
    }
    entrypoint = new.get(skeleton["entrypoint"], skeleton["entrypoint"])
    return {**skeleton, "entrypoint": entrypoint, "task_mappings": mappings}


def grouped(paths: Sequence[P]) -> list[list[P]]:
    """Mappings with the overlays that follow them."""
    groups: list[list[P]] = []
    for path in paths:
        if not groups or starts_mapping(path):
            groups.append([])
        groups[-1].append(path)
    return groups


def alternatives(paths: Sequence[P]) -> list[list[P]]:
    """Groups of files, each of which is a mapping for some sizes.

    All files are one group, which is merged, unless each mapping but the last one says `when`.
    """
    groups = grouped(paths)
    is_choice = len(groups) > 1 and all(_has_key(first, "when") for first, *_ in groups[:-1])
    return groups if is_choice else [list(paths)]


def pick(mappings: Sequence[Mapping], sizes: dict[str, int]) -> Mapping:
    """The first mapping whose `when` holds for these sizes; one without `when` is for all."""
    complaints = Complaints()
    for mapping in mappings:
        is_for_these = _is_for(mapping, sizes, complaints)
        complaints.raise_if_any()
        if is_for_these:
            return mapping
    shown = ", ".join(f"{name}={size}" for name, size in sizes.items())
    help = ["give another mapping, for these sizes: of several the first one that fits is taken"]
    for mapping in mappings:
        message = f"this mapping is not for {shown}"
        complaints.add("S603", message, mapping.place("when"), help=help)
    raise complaints.error()


def _is_for(mapping: Mapping, sizes: dict[str, int], complaints: Complaints) -> bool:
    results: list[bool] = []
    for scalar, term in parse_conditions(mapping.root, "when", complaints):
        try:
            results.append(holds(term, sizes.get))
        except ExpressionError as error:
            complain(scalar, error, "S122", complaints)
    return all(results)
