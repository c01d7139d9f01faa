"""The models of mapping files: how an operator's tasks run on a machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Discriminator, Field, StringConstraints, Tag

from eas.septran.files.expressions import LONGEST
from eas.septran.files.model import Name, Strict
from eas.septran.files.tune_tags import (
    MOST_OPTIONS,
    UNWRAP,
    AnyTune,
    BindingName,
    InstanceName,
    MemoryName,
    Padding,
    Stages,
    Threads,
    Value,
    branch_of,
)

NONE = "NONE"  # as a memory: the tensor is not to be copied for this task

Expression = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST)]
FilePath = Annotated[str, StringConstraints(min_length=1, max_length=1000)]


def _list_or_one(value: object) -> str:
    return "<list>" if isinstance(value, list) else "<one>"


FilePaths = Annotated[
    Annotated[FilePath, Tag("<one>")] | Annotated[list[FilePath], Tag("<list>")],
    Discriminator(_list_or_one),
]
Expressions = Annotated[
    Annotated[Expression, Tag("<one>")] | Annotated[list[Expression], Tag("<list>")],
    Discriminator(_list_or_one),
]


class Layout(Strict):
    """How a tensor lies in a memory: `pad` elements follow each row."""

    pad: Padding = 0


class Instance(Strict):
    """How one task runs: where, with its tensors in which memories, and with which numbers."""

    task_name: Name | None = Field(default=None, description="the task in the logic that this maps")
    proc: Name | None = Field(default=None, description="the processor level that runs it")
    mems: dict[Name, MemoryName] = Field(default={}, description="the memory of each argument")
    locals: dict[Name, MemoryName] = Field(default={}, description="the memory of local tensors")
    tunables: dict[Name, Value] = Field(default={}, description="values of `task.tunable(...)`")
    calls: dict[Name, InstanceName] = Field(
        default={}, description="for each task that it launches, the instance to run"
    )
    pipeline: Stages | None = Field(default=None, description="stages of the software pipeline")
    threads: Threads | None = Field(default=None, description="threads of one processor")
    leaf_task_bindings: dict[Name, BindingName] = Field(
        default={}, description="for each leaf task, the primitive that computes it"
    )
    layout: dict[Name, Layout] = Field(default={}, description="how tensors lie in their memory")


def open_values(instance: Instance) -> Iterator[tuple[tuple[str, ...], AnyTune]]:
    """Every `!tune` in an instance, with the keys that lead there."""
    for section in ("mems", "locals", "tunables", "calls", "leaf_task_bindings"):
        for name, value in getattr(instance, section).items():
            if not isinstance(value, int | str):
                yield (section, name), value
    for section in ("pipeline", "threads"):
        value = getattr(instance, section)
        if value is not None and not isinstance(value, int):
            yield (section,), value
    for name, layout in instance.layout.items():
        if not isinstance(layout.pad, int):
            yield ("layout", name, "pad"), layout.pad


class InstanceChoice(Strict):
    """One of several whole instances, chosen by its position from 0 on."""

    type: Literal["instance"]
    values: list[Instance] = Field(min_length=1, max_length=MOST_OPTIONS)


InstanceOrTune = Annotated[
    Annotated[Instance, Tag("<value>")] | Annotated[InstanceChoice, UNWRAP, Tag("<tune>")],
    Discriminator(branch_of),
]


class MappingFile(Strict):
    """A mapping file: complete if it has an `entrypoint`, else an overlay for another one."""

    machine: str | None = Field(
        default=None, description="a machine's name, or the path of its file", max_length=1000
    )
    extends: FilePaths | None = Field(
        default=None, description="files that this one changes; their paths begin at its folder"
    )
    entrypoint: Name | None = Field(default=None, description="the instance that is called")
    task_mappings: dict[Name, InstanceOrTune] = Field(default={})
    constraints: list[Expression] = Field(default=[], description="what must hold of the tunables")
    when: Expressions | None = Field(default=None, description="the sizes that this mapping is for")
