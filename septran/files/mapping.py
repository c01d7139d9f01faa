"""The models of mapping files: how an operator's tasks run on a machine."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Discriminator, Field, StringConstraints, Tag, model_validator

from eas.septran.files.model import Name, Strict, wrong
from eas.septran.files.tune_tags import (
    MOST_OPTIONS,
    MOST_STAGES,
    BindingName,
    InstanceName,
    MemoryName,
    Padding,
    Stages,
    Threads,
    Value,
    kind_of,
)

NONE = "NONE"  # as a memory: the tensor is not to be copied for this task

Expression = Annotated[str, StringConstraints(min_length=1, max_length=500)]
FilePath = Annotated[str, StringConstraints(min_length=1, max_length=1000)]


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

    @model_validator(mode="after")
    def _check_tunables(self) -> Self:
        """`gemm.pipeline` in an expression is the instance's own key, and no tunable."""
        for name in self.tunables:
            if name in _FIELDS:
                raise wrong(
                    "S110", f"`{name}` is a key of instances, no tunable", f"tunables.{name}"
                )
        depth = self.tunables.get("pipeline_depth", 1)
        depths = [depth] if isinstance(depth, int) else depth.options()
        if not all(type(each) is int and 1 <= each <= MOST_STAGES for each in depths):
            message = f"`pipeline_depth` is a number from 1 to {MOST_STAGES}"
            raise wrong("S109", message, "tunables.pipeline_depth")
        return self


_FIELDS = frozenset(Instance.model_fields)


class InstanceChoice(Strict):
    """One of several whole instances, chosen by its position from 0 on."""

    type: Literal["instance"]
    values: list[Instance] = Field(min_length=1, max_length=MOST_OPTIONS)


InstanceOrTune = Annotated[
    Annotated[Instance, Tag("<value>")] | Annotated[InstanceChoice, Tag("<tune>")],
    Discriminator(kind_of),
]


class MappingFile(Strict):
    """A mapping file: complete if it has an `entrypoint`, else an overlay for another one."""

    machine: str | None = Field(
        default=None, description="a machine's name, or the path of its file", max_length=1000
    )
    extends: FilePath | list[FilePath] | None = Field(
        default=None, description="files that this one changes; their paths begin at its folder"
    )
    entrypoint: Name | None = Field(default=None, description="the instance that is called")
    task_mappings: dict[Name, InstanceOrTune] = Field(default={})
    constraints: list[Expression] = Field(default=[], description="what must hold of the tunables")
    when: Expression | list[Expression] | None = Field(
        default=None, description="the sizes that this mapping is for"
    )
