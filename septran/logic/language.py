"""Task Lang: operators as tasks, in Python that is read and never traced.

    from eas import task_lang as task

    @task.define(leaf=True)
    def gemm_leaf_logic(C, A, B):
        task.call_primitive("gemm", C, A, B)

    @task.define
    def gemm_block_logic(C, A, B):
        k = task.tunable("block_k")
        Ap = task.partition(A, by="blocks", tile=(A.shape[0], k))
        Bp = task.partition(B, by="blocks", tile=(k, B.shape[1]))
        for p in task.sequential_range(Ap.shape[1]):
            task.launch(gemm_leaf_logic, C, Ap[0, p], Bp[p, 0])

The functions below are signatures: a task's body is read from its text, so they are never called.
Only `define` and `leaf` run. A task that is called with NumPy arrays runs at once, as the reference
for every mapping: `gemm_block_logic(C, A, B, block_k=8)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NoReturn, overload

from eas.septran.logic.tasks import Primitive, Task, check_function

__all__ = [
    "T",
    "call_primitive",
    "cdiv",
    "define",
    "launch",
    "leaf",
    "local",
    "parallel_range",
    "partition",
    "sequential_range",
    "tunable",
]

Extent = Any
Tensor = Any


@overload
def define(fn: Callable[..., Any], /) -> Task: ...
@overload
def define(
    *,
    leaf: bool = False,
    name: str = "",
    reads: Sequence[str] | None = None,
    writes: Sequence[str] | None = None,
    shapes: str = "",
) -> Callable[[Callable[..., Any]], Task]: ...
def define(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    leaf: bool = False,
    name: str = "",
    reads: Sequence[str] | None = None,
    writes: Sequence[str] | None = None,
    shapes: str = "",
) -> Any:
    """Makes a task of a function: an inner task, or with `leaf=True` one that computes.

    `name` makes it a variant of the tasks of that name. `reads` and `writes` name parameters:
    a task that does more than it declares is refused (S301), and so is one that does not write all
    of what it only writes (S303). What it does is found from its leaves, see
    `eas.septran.logic.uses`. `shapes="C[M,N] A[M,K] B[K,N]"` names the sizes of the entry task's
    tensors. A size may be a sum, `X[P+R-1]`, and have a default for `septran check`: `W[R=3]`.
    """

    def make(fn: Callable[..., Any]) -> Task:
        check_function(fn, "task.define")
        return Task(
            fn,
            leaf,
            name,
            None if reads is None else tuple(reads),
            None if writes is None else tuple(writes),
            shapes,
        )

    return make if fn is None else make(fn)


def leaf() -> Callable[[Callable[..., Any]], Primitive]:
    """Declares a primitive of a project's own, by what a target calls for it.

    @task.leaf()
    def gemm_leaf_systolic(C, A, B):
        T.evaluate(T.call_extern("dsa.systolic_compute", C, A, B, dtype="void"))
    """

    def make(fn: Callable[..., Any]) -> Primitive:
        check_function(fn, "task.leaf()")
        return Primitive(fn)

    return make


def _only_read(name: str) -> NoReturn:
    raise RuntimeError(
        f"`task.{name}` stands in a task, whose text is read; it cannot be called. "
        "Decorate the function with `@task.define`, and call the task with NumPy arrays to run it"
    )


def tunable(name: str) -> int:
    """A number that the mapping chooses: a tile's size, mostly."""
    _only_read("tunable")


def partition(
    tensor: Tensor,
    by: Literal["blocks", "rows", "split", "halo"] = "blocks",
    *,
    tile: Extent | Sequence[Extent] = (),
    shape_from: str = "",
    axis: int = 0,
    parts: Extent = 0,
    overlap: int | Sequence[int] = 0,
) -> Any:
    """A tensor cut into tiles; the last one of an axis may be smaller.

    `blocks`: `tile` has an extent for each axis. `rows`: `tile` is a number of rows. `split`:
    `axis` is cut into `parts` parts. `halo`: a tile begins where one of `blocks` does and is
    `overlap` elements longer, which it shares with its neighbour; only read. Without a `tile`, and
    with `shape_from`, the tunables `block_size`, `block_size_M`, ... of the sizes' names say it.

    `P.shape` is the number of tiles along each axis, `P[i, j]` a tile, `P[i, :]` a stream of tiles:
    a leaf that is launched on streams runs once for each tile, in order, and an inner task is given
    all of them together. Windows of a tensor that overlap need no partition: `X[s : s + n]`.
    """
    _only_read("partition")


def local(name: str, shape: Sequence[Extent], dtype: str = "f32") -> Tensor:
    """A tensor of the task's own, with nothing in it at first. The mapping says where it lies."""
    _only_read("local")


def sequential_range(*extents: Extent) -> Any:
    """Iterations one after the other."""
    _only_read("sequential_range")


def parallel_range(*extents: Extent, reduce: dict[str, str] | None = None) -> Any:
    """Iterations in any order, or at the same time: no two of them write the same elements.

    `reduce={"C": "add"}` allows all of them to add to `C`.
    """
    _only_read("parallel_range")


def launch(callee: Task | str, *arguments: Any) -> None:
    """Runs a task on tensors, tiles, streams of tiles and numbers."""
    _only_read("launch")


def call_primitive(name: str, *arguments: Any, **options: Any) -> None:
    """Computes by a primitive, in a leaf task: `task.call_primitive("gemm", C, A, B)`."""
    _only_read("call_primitive")


def cdiv(a: Extent, b: int) -> int:
    """`a / b`, rounded up."""
    _only_read("cdiv")


class _Script:
    """The name `T` of TVM's script, in the bodies of primitives. They are read, never run."""

    def __getattr__(self, name: str) -> Any:
        _only_read(f"T.{name}")


T = _Script()
