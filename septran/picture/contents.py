"""What a picture shows of an operator: its tasks, where tensors lie, what is copied, and why."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from eas.septran.files import Machine, ResolvedInstance, require_resolved
from eas.septran.files import Mapping as MappingFiles
from eas.septran.flat.counts import count
from eas.septran.flat.nodes import (
    NO_ORIGIN,
    Alloc,
    Block,
    Copy,
    Kernel,
    Module,
    Param,
    Start,
    Stmt,
    Temp,
    body_of,
    bytes_of,
    walk,
)
from eas.septran.flat.text import print_stmt
from eas.septran.logic.launches import calls_of, launched_tasks
from eas.septran.logic.tasks import Task
from eas.support.location import Loc, SourceName
from eas.support.records import field, frozen, record, replace

DEEPEST = 24  # tasks that launch themselves are drawn so far


@frozen
class Line:
    """A line of the flat IR: a statement's first line, or the end of one that holds others."""

    number: int  # of the statement
    text: str
    depth: int
    because: str = ""
    yaml: Loc | None = None
    is_end: bool = False


@frozen
class Box:
    """A buffer in a memory, and the lines that touch it."""

    name: str
    memory: str
    size: str
    bytes: int
    slots: int
    line: int | None  # of its allocation
    yaml: Loc | None


@frozen
class Arrow:
    """A copy: the buffers it goes between, the bytes of all runs, and how often it runs."""

    source: str
    target: str
    bytes: int
    times: int
    line: int
    yaml: Loc | None

    @property
    def each(self) -> int:
        """The bytes of a copy; those of ragged tiles are fewer."""
        return -(-self.bytes // self.times) if self.times else 0


@frozen
class Row:
    """A tensor: where it lies, from the argument to the last copy of it."""

    name: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


@frozen
class TaskNode:
    """An instance of a task, and what it launches. A leaf may have its caller's instance."""

    task: str
    instance: str
    proc: str
    is_leaf: bool
    places: tuple[tuple[str, str], ...]  # tensors and their memories
    numbers: tuple[tuple[str, str], ...]  # tunables, stages, threads, bindings
    lines: tuple[Loc, ...]  # of the mapping
    children: tuple[TaskNode, ...]


@frozen
class KernelPicture:
    name: str
    grid: str
    threads: int
    rows: tuple[Row, ...]
    lines: tuple[Line, ...]


@frozen
class Contents:
    """All that is drawn of one mapping."""

    title: str
    machine: Machine
    sizes: Mapping[str, int]
    dtype: str
    tree: TaskNode
    kernels: tuple[KernelPicture, ...]
    files: tuple[SourceName, ...]


def contents_of(
    title: str,
    entry: Task,
    tasks: Mapping[str, Task],
    mapping: MappingFiles,
    module: Module,
    sizes: Mapping[str, int],
) -> Contents:
    """What is drawn of a mapping that is lowered to a module."""
    instances = require_resolved(mapping)
    first = instances[mapping.entrypoint or ""]
    tree = _Tree(mapping, instances, tasks).node(first, entry, (), first.proc)
    numbering = _Numbering()
    kernels = tuple(_kernel(each, module, numbering) for each in module.kernels)
    dtype = " and ".join(dict.fromkeys(str(param.dtype) for param in module.params))
    files = [document.start.source for document in mapping.documents]
    return Contents(title, mapping.machine, sizes, dtype, tree, kernels, tuple(files))


@frozen
class _Tree:
    mapping: MappingFiles
    instances: Mapping[str, ResolvedInstance]
    tasks: Mapping[str, Task]

    def node(
        self, instance: ResolvedInstance | None, task: Task, path: tuple[str, ...], proc: str
    ) -> TaskNode:
        if instance is None:
            return TaskNode(task.function_name, "", proc, task.is_leaf, (), (), (), ())
        children: list[TaskNode] = []
        inner = (*path, task.function_name)
        for each in _launched(task) if len(path) < DEEPEST else ():
            if each.function_name in inner:
                continue
            names = [name for name in each.names if name in instance.calls]
            own = self.instances.get(instance.calls[names[0]]) if names else None
            called = self.tasks.get(own.task_name, each) if own else each
            children.append(self.node(own, called, inner, own.proc if own else proc))
        name = instance.name
        return TaskNode(
            task.function_name,
            name,
            instance.proc,
            task.is_leaf,
            tuple({**instance.mems, **instance.locals}.items()),
            tuple(_numbers(instance, "threads" in self.given(name))),
            tuple(self.lines(name)),
            tuple(children),
        )

    def lines(self, name: str) -> Iterator[Loc]:
        """The keys of an instance in the mapping."""
        yield self.mapping.key_place("task_mappings", name)
        for key in self.given(name):
            yield self.mapping.key_place("task_mappings", name, key)

    def given(self, name: str) -> tuple[str, ...]:
        """The keys that the files give an instance."""
        return tuple(getattr(self.mapping.task_mappings[name], "model_fields_set", ()))


def _launched(task: Task) -> list[Task]:
    """The tasks that a task launches, each once, in the order of its text."""
    lines: dict[str, int] = {}
    for call in calls_of(task, "launch"):
        match call.args:
            case [ast.Name(id=name) | ast.Constant(value=str(name)), *_]:
                lines[name] = min(call.lineno, lines.get(name, call.lineno))
            case _:
                pass
    several = {each.function_name: each for each in launched_tasks(task)}
    return sorted(several.values(), key=lambda each: min(lines.get(name, 0) for name in each.names))


def _numbers(instance: ResolvedInstance, has_threads: bool) -> Iterator[tuple[str, str]]:
    for name, value in instance.tunables.items():
        yield name, str(value)
    if instance.pipeline > 1:
        yield "pipeline", str(instance.pipeline)
    if has_threads:
        yield "threads", str(instance.threads)
    yield from instance.bindings.items()


@record
class _Numbering:
    """Numbers statements of all kernels in the order of the text."""

    numbers: dict[int, int] = field(default_factory=dict[int, int])

    def of(self, stmt: Stmt) -> int:
        return self.numbers.setdefault(id(stmt), len(self.numbers))


def _kernel(kernel: Kernel, module: Module, numbering: _Numbering) -> KernelPicture:
    lines = tuple(_lines(kernel.body, 0, numbering))
    grid = " × ".join(str(extent) for _, extent in kernel.grid) or "1"
    rows = tuple(_rows(kernel, module, numbering))
    return KernelPicture(kernel.name, grid, kernel.threads, rows, lines)


def _lines(body: Sequence[Stmt], depth: int, numbering: _Numbering) -> Iterator[Line]:
    for stmt in body:
        number, origin = numbering.of(stmt), stmt.origin
        text = first_line(stmt)
        yield Line(number, text, depth, origin.because, origin.yaml)
        if isinstance(stmt, Block):
            yield from _lines(stmt.body, depth + 1, numbering)
            yield Line(number, "}", depth, is_end=True)


def first_line(stmt: Stmt) -> str:
    """A statement without its origin and without what is inside of it."""
    bare = replace(stmt, origin=NO_ORIGIN)
    if isinstance(bare, Block):
        bare = replace(bare, body=())
    return print_stmt(bare).partition("\n")[0]


def _rows(kernel: Kernel, module: Module, numbering: _Numbering) -> Iterator[Row]:
    """Buffers by the tensor that they are copies of; arguments first, then local tensors."""
    copies = [stmt for stmt in walk(kernel.body) if isinstance(stmt, Copy | Start)]
    boxes = {param.name: _argument(param) for param in kernel.params}
    for stmt in walk(kernel.body):
        if isinstance(stmt, Alloc):
            boxes[stmt.name] = _buffer(stmt, numbering.of(stmt))
    groups = _groups(boxes, copies)
    for name, members in groups.items():
        arrows = [
            _arrow(each, kernel, module, numbering)
            for each in copies
            if each.source.buffer in members
        ]
        yield Row(name, tuple(boxes[each] for each in members), tuple(arrows))


def _groups(boxes: Mapping[str, Box], copies: Sequence[Copy | Start]) -> dict[str, list[str]]:
    """Names of buffers by the first one that they are connected with by copies."""
    first = {name: name for name in boxes}

    def root(name: str) -> str:
        while first[name] != name:
            name = first[name]
        return name

    order = list(boxes)
    for copy in copies:
        pair = sorted((root(copy.source.buffer), root(copy.target.buffer)), key=order.index)
        first[pair[1]] = pair[0]
    groups: dict[str, list[str]] = {}
    for name in boxes:
        groups.setdefault(root(name), []).append(name)
    return groups


def _argument(param: Param | Temp) -> Box:
    shape = " × ".join(str(extent) for extent in param.shape)
    elements = 1
    for extent in param.shape:
        elements *= extent.value if extent.is_constant else 0
    size = elements * bytes_of(param.dtype)
    return Box(param.name, param.memory, f"{shape} {param.dtype}", size, 1, None, None)


def _buffer(alloc: Alloc, line: int) -> Box:
    shape = " × ".join(map(str, alloc.shape)) or "1"
    size = f"{shape} {alloc.dtype}"
    name, memory, yaml = alloc.name, alloc.memory, alloc.origin.yaml
    return Box(name, memory, size, alloc.bytes, alloc.slots, line, yaml)


def _arrow(copy: Copy | Start, kernel: Kernel, module: Module, numbering: _Numbering) -> Arrow:
    """A copy with what it moves in all runs: the kernel is counted with this copy alone."""
    alone = replace(kernel, body=_only(kernel.body, copy))
    total = count(replace(module, kernels=(alone,)), {})[0].total
    source, target = copy.source.buffer, copy.target.buffer
    return Arrow(source, target, total.bytes, total.copies, numbering.of(copy), copy.origin.yaml)


def _only(body: Sequence[Stmt], wanted: Stmt) -> tuple[Stmt, ...]:
    """Statements without all but one, and without what does not hold it."""
    kept: list[Stmt] = []
    for stmt in body:
        if stmt is wanted or isinstance(stmt, Alloc):
            kept.append(stmt)
        elif isinstance(stmt, Block) and any(each is wanted for each in walk(body_of(stmt))):
            kept.append(replace(stmt, body=_only(stmt.body, wanted)))
    return tuple(kept)
