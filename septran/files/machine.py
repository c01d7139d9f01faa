"""Machine files: the facts about a piece of hardware, stated once.

`load_machine("apple_gpu")` gives one that ships; a path gives any other. The order of `procs` is
the hierarchy, outermost first. Sizes are in bytes, times in seconds.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, PrivateAttr, StringConstraints

from eas.septran.files import documents, nodes
from eas.septran.files.complaints import Complaints, suggest
from eas.septran.files.documents import Document
from eas.septran.files.machine_names import check_machine
from eas.septran.files.model import (
    LONGEST_NAME,
    Bytes,
    Dotted,
    DTypeName,
    Figure,
    Name,
    Positive,
    Strict,
)
from eas.septran.files.validation import validate
from eas.support.location import NOWHERE, Loc

SUFFIX = ".machine.yaml"  # of a file beside a mapping, which names it without the suffix

Target = Literal["cpu", "apple_gpu", "c", "tvm", "tilelang", "opencl"]
Arrow = Annotated[
    str,
    StringConstraints(
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*->[A-Za-z_][A-Za-z0-9_]*$", max_length=LONGEST_NAME
    ),
]


class Processor(Strict):
    """A level of processors. `threads` run one of them, if nothing else is asked for."""

    threads: Positive = 1
    max_threads: Positive | None = None


class Space(Strict):
    """The addresses of a memory that is no part of the processor's own: arrays in it are numbers.

    The first array is at `base`, in bytes. With a `row` the memory has rows of so many elements; a
    wider array lies there as panels of so many columns, one after the other.
    """

    base: int = Field(default=0, ge=0, lt=2**62)
    row: Positive | None = None


class Memory(Strict):
    """A memory, and the levels whose code can name what lies in it.

    `global` holds the arguments, `scratch` arrays that the compiler allocates, `registers` values
    that have no address. `capacity` is what one processor of the outermost level in `visible` has.
    What lies in a memory with a `space` of its own is reached by the library's functions only.
    `bandwidth` and `cached` are bytes per second: the latter of what is read again, and comes from
    a cache then.
    """

    kind: Literal["global", "scratch", "registers"]
    visible: list[Name] = Field(min_length=1)
    capacity: Bytes | None = None
    align: Positive = 1
    bandwidth: Figure | None = None
    cached: Figure | None = None
    space: Space | None = None


class Copy(Strict):
    """How data moves between two memories.

    A `synchronous` copy is done when its code has run; one that is `start_wait` is started, and
    waited for later. `symbol` is the library's function that copies or starts, `wait` the one that
    waits; without them the target has its own code for it.
    """

    mode: Literal["synchronous", "start_wait"] = "synchronous"
    symbol: Dotted | None = None
    wait: Dotted | None = None
    dtypes: list[DTypeName] = Field(default=[], description="of what it copies; empty for any")
    bandwidth: Figure | None = None
    latency: Figure | None = None


class Primitive(Strict):
    """One way to compute an operation. With a `shape` it takes multiples of these extents only.

    `tails` says what it is given at the end of a tensor, where a tile is smaller: a whole tile that
    is `padded`, or the `partial` one, as it is. `mems` lists for each operand where it may lie,
    `procs` the levels that may call it; what is not listed is free. `symbol` is the library's
    function, if it is one. A product that copies its factors first `packs` so many bytes per
    second; one of at most `unpacked` multiplications does not.
    """

    name: Name
    shape: dict[Name, Positive] = Field(default={})
    tails: Literal["padded", "partial"] = "padded"
    dtypes: list[DTypeName] = Field(default=[], description="of the inputs; empty for any")
    results: list[DTypeName] = Field(default=[], description="of the output; empty for any")
    accumulates: DTypeName | None = None
    mems: dict[Name, list[Name]] = Field(default={})
    procs: list[Name] = Field(default=[])
    symbol: Dotted | None = None
    flops: Figure | None = None
    packs: Figure | None = None
    unpacked: Positive = 1

    @property
    def is_generic(self) -> bool:
        """Whether it takes tiles of any shape."""
        return not self.shape


class Library(Strict):
    """The vendor's C library: files beside the machine file, names or paths to link with."""

    headers: list[str] = Field(default=[])
    sources: list[str] = Field(default=[])
    links: list[str] = Field(default=[])


class Need(Strict):
    """What must be there for the machine to run: a Python `package`, a `command` or a `file`.

    `loads` is a pattern for a shared library in the package's folder, which is loaded before the
    machine's own library. `install` says how to get it.
    """

    package: Dotted | None = None
    command: str | None = None
    file: str | None = None
    loads: str = ""
    install: str


class Emulator(Strict):
    """Runs programs for another processor: compiled by `zig cc` for `target`, run by `command`."""

    target: str
    flags: list[str] = Field(default=[])
    command: list[str] = Field(min_length=1)


class Cost(Strict):
    """Figures that rank mappings before any of them has run."""

    flops: dict[DTypeName, Figure] = Field(default={})
    cores: Positive = 1
    launch: Figure | None = None
    barrier: Figure | None = None


class Machine(Strict):
    """A machine file."""

    name: Name
    about: str = ""
    targets: list[Target] = Field(min_length=1, description="what can be made for it, best first")
    runs: bool = Field(default=True, description="whether it, or a stand-in for it, runs here")
    default_dtype: DTypeName = "f32"
    scratch: Literal["local", "parameter"] = Field(
        default="local", description="whether a kernel declares its scratch arrays or is given them"
    )
    grid: Name = Field(description="the level of which a launch starts many")
    procs: dict[Name, Processor] = Field(min_length=1)
    mems: dict[Name, Memory] = Field(min_length=1)
    copies: dict[Arrow, Copy] = Field(default={})
    primitives: dict[Name, list[Primitive]] = Field(default={})
    symbols: dict[Dotted, Name] = Field(default={})
    library: Library = Library()
    needs: list[Need] = Field(default=[], description="what must be installed for it to run")
    emulator: Emulator | None = None
    cost: Cost = Cost()

    _document: Document | None = PrivateAttr(default=None)

    def keep(self, document: Document) -> None:
        """Remember the file that this was read from."""
        self._document = document

    @property
    def path(self) -> str:
        """The machine file; what it names lies beside it."""
        return self._document.path if self._document is not None else ""

    def place(self, *path: str | int) -> Loc:
        """Where a value stands in the machine file."""
        return NOWHERE if self._document is None else nodes.place(self._document.root, path)

    def key_place(self, *path: str | int) -> Loc:
        """Where the key of a value stands in the machine file."""
        return NOWHERE if self._document is None else nodes.key_place(self._document.root, path)

    def level(self, proc: str) -> int:
        """How deep a processor level is; the outermost has 0."""
        return list(self.procs).index(proc)

    def memories_of(self, proc: str) -> list[str]:
        """The memories that a level sees."""
        return [name for name, memory in self.mems.items() if proc in memory.visible]

    def copy_between(self, source: str, destination: str) -> Copy | None:
        """How data moves from one memory to another, if it does in one step."""
        return self.copies.get(f"{source}->{destination}")

    def primitive(self, name: str) -> tuple[str, Primitive] | None:
        """A primitive by its name, with the operation that it computes."""
        for operation, each in self._each_primitive():
            if each.name == name:
                return operation, each
        return None

    def primitive_names(self) -> list[str]:
        return [each.name for _, each in self._each_primitive()]

    def _each_primitive(self) -> Iterator[tuple[str, Primitive]]:
        for operation, several in self.primitives.items():
            for each in several:
                yield operation, each


def shipped_machines() -> list[str]:
    """The names of the machines that come with the package."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml"))


def known_machines(folders: Iterable[str | os.PathLike[str]]) -> list[str]:
    """The names of the machines that ship, and of those in some folders."""
    files = [path for folder in folders for path in Path(folder).glob(f"*{SUFFIX}")]
    return [*shipped_machines(), *sorted(path.name.removesuffix(SUFFIX) for path in files)]


_FOLDER = Path(__file__).parent.parent / "machines"


def load_machine(
    name_or_path: str | os.PathLike[str], folders: Iterable[str | os.PathLike[str]] = ()
) -> Machine:
    """A machine by its name, in one of some folders or one that ships, or the one in a file."""
    complaints = Complaints()
    text = os.fspath(name_or_path)
    places = [os.fspath(each) for each in folders]
    path = text if is_path(text) else find_machine(text, places)
    if path is None:
        message = f"there is no machine `{text}`"
        help = suggest(text, known_machines(places), "there are")
        complaints.add("S111", message, NOWHERE, help=help)
        raise complaints.error()
    machine = read_machine(path, complaints)
    complaints.raise_if_any()
    assert machine is not None
    return machine


def is_path(text: str) -> bool:
    """Whether a text names a file rather than a machine."""
    return text.endswith((".yaml", ".yml")) or os.sep in text or "/" in text


def find_machine(name: str, folders: Iterable[str]) -> str | None:
    """The file of a machine: beside the mapping, or one that ships."""
    beside = [os.path.join(folder, name + SUFFIX) for folder in folders]
    for path in (*beside, str(_FOLDER / f"{name}.yaml")):
        if os.path.isfile(path):
            return path
    return None


def read_machine(path: str, complaints: Complaints, asked_at: Loc | None = None) -> Machine | None:
    """The machine in a file, if nothing is wrong with it."""
    if Path(path).parent == _FOLDER:
        return _shipped(path)
    return _read(path, complaints, asked_at)


@lru_cache(maxsize=32)
def _shipped(path: str) -> Machine:
    """A file that ships does not change, and many mappings are for the same machine."""
    complaints = Complaints()
    machine = _read(path, complaints, None)
    complaints.raise_if_any()
    assert machine is not None
    return machine


def _read(path: str, complaints: Complaints, asked_at: Loc | None) -> Machine | None:
    document = documents.read(path, complaints, asked_at)
    if document is None:
        return None
    machine = validate(Machine, document.root, complaints)
    check_machine(document.root, complaints)
    if machine is None or complaints:
        return None
    machine.keep(document)
    return machine
