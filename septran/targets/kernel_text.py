"""Walks a kernel for targets that print text: a target says how each statement is spelled."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager

from eas.ir.types import DType
from eas.septran.flat.affine import Affine, affine
from eas.septran.flat.lines import Lines
from eas.septran.flat.nodes import (
    Alloc,
    Barrier,
    Copy,
    Expr,
    Fill,
    For,
    If,
    Kernel,
    Map,
    Mma,
    ParallelFor,
    Reduce,
    Stmt,
    View,
    walk,
)
from eas.septran.targets.calls import Chooser, Chosen, chooser_for
from eas.septran.targets.library import Library, TargetError
from eas.septran.targets.origins import Comments


class KernelText(ABC):
    """Prints one kernel: comments, control flow, and a method for each kind of statement."""

    language: str

    def __init__(self, kernel: Kernel, lines: Lines, comments: Comments) -> None:
        self.kernel = kernel
        self.lines = lines
        self.comments = comments
        self.taken: set[str] = set()  # names that the text uses

    def body(self, body: Sequence[Stmt]) -> None:
        for stmt in body:
            comment = self.comments.of(stmt)
            if comment:
                self.lines.add(self.commented(comment))
            try:
                self.statement(stmt)
            except TargetError as error:
                error.loc = error.loc or stmt.origin.yaml or stmt.origin.python
                raise

    def statement(self, stmt: Stmt) -> None:
        match stmt:
            case For() | ParallelFor():
                self.repeat(stmt)
            case If():
                with self.branch(stmt):
                    self.body(stmt.body)
            case Barrier():
                self.barrier(stmt)
            case Alloc():
                self.alloc(stmt)
            case Copy():
                self.copy(stmt)
            case Fill():
                self.fill(stmt)
            case Map():
                self.map(stmt)
            case Reduce():
                self.reduce(stmt)
            case Mma():
                self.mma(stmt)
            case _:
                raise TargetError(f"{self.language} has no text for {type(stmt).__name__}")

    def fresh(self, name: str) -> str:
        """A name that the kernel does not use."""
        while name in self.taken:
            name += "_"
        return name

    @abstractmethod
    def commented(self, text: str) -> str: ...
    @abstractmethod
    def repeat(self, stmt: For | ParallelFor) -> None: ...
    @abstractmethod
    def branch(self, stmt: If) -> AbstractContextManager[None]: ...
    @abstractmethod
    def barrier(self, stmt: Barrier) -> None: ...
    @abstractmethod
    def alloc(self, stmt: Alloc) -> None: ...
    @abstractmethod
    def copy(self, stmt: Copy) -> None: ...
    @abstractmethod
    def fill(self, stmt: Fill) -> None: ...
    @abstractmethod
    def map(self, stmt: Map) -> None: ...
    @abstractmethod
    def reduce(self, stmt: Reduce) -> None: ...
    @abstractmethod
    def mma(self, stmt: Mma) -> None: ...


class LoopText(KernelText):
    """Prints calls of a library's functions, and loops over elements for all that it lacks."""

    def __init__(self, kernel: Kernel, library: Library, lines: Lines, comments: Comments) -> None:
        super().__init__(kernel, lines, comments)
        self.library = library
        self.chooser: Chooser = chooser_for(kernel, library)
        self.buffers = self.chooser.buffers

    def statement(self, stmt: Stmt) -> None:
        chosen = self.chooser.choose(stmt)
        if chosen is None:
            super().statement(stmt)
            return
        for call in chosen:
            self.call(call)

    @contextmanager
    def loops(self, shape: Sequence[Affine]) -> Generator[list[str]]:
        """Loops over all elements of a shape; gives the position on each axis."""
        with ExitStack() as nest:
            along: list[str] = []
            for axis, extent in enumerate(shape):
                along.append("0" if extent == affine(1) else self.fresh(f"e{axis}"))
                if along[-1] != "0":
                    nest.enter_context(self.loop(along[-1], extent))
            yield along

    def copy(self, stmt: Copy) -> None:
        with self.loops(stmt.source.shape) as along:
            self.assign(stmt.target, along, self.copied(stmt, along))

    def fill(self, stmt: Fill) -> None:
        with self.loops(stmt.target.shape) as along:
            self.assign(stmt.target, along, self.constant(stmt.value, self.dtype(stmt.target)))

    def map(self, stmt: Map) -> None:
        with self.loops(stmt.target.shape) as along:
            self.assign(
                stmt.target, along, self.computed(stmt.value, self.dtype(stmt.target), along)
            )

    def reduce(self, stmt: Reduce) -> None:
        shape, axis = stmt.source.shape, stmt.axis
        with self.loops([*shape[:axis], *shape[axis + 1 :]]) as along:
            is_kept = stmt.target.rank == len(shape)
            target = [*along[:axis], "0", *along[axis:]] if is_kept else along
            with self.accumulated(stmt.target, target, shape[axis]) as (total, step):
                self.combine(stmt, total, [*along[:axis], step, *along[axis:]])

    def mma(self, stmt: Mma) -> None:
        with (
            self.loops(stmt.target.shape) as (i, j),
            self.accumulated(stmt.target, [i, j], stmt.depth) as (total, step),
        ):
            left = [step, i] if "a" in stmt.transposed else [i, step]
            right = [j, step] if "b" in stmt.transposed else [step, j]
            self.add_product(stmt, total, left, right)

    def dtype(self, view: View) -> DType:
        return self.buffers[view.buffer].dtype

    @abstractmethod
    def call(self, call: Chosen) -> None: ...
    @abstractmethod
    def loop(self, variable: str, extent: Affine) -> AbstractContextManager[None]: ...
    @abstractmethod
    def assign(self, target: View, along: Sequence[str], value: str) -> None: ...
    @abstractmethod
    def constant(self, value: float, dtype: DType) -> str:
        """A number as an element."""

    @abstractmethod
    def copied(self, stmt: Copy, along: Sequence[str]) -> str:
        """The element of a copy's source as one of its target."""

    @abstractmethod
    def computed(self, expr: Expr, dtype: DType, along: Sequence[str]) -> str:
        """The value of an expression as an element of a dtype."""

    @abstractmethod
    def accumulated(
        self, view: View, along: Sequence[str], extent: Affine
    ) -> AbstractContextManager[tuple[str, str]]:
        """A loop that accumulates one element, in f32 for numbers of 16 bits.

        Gives the accumulator and the loop's variable.
        """

    @abstractmethod
    def combine(self, stmt: Reduce, total: str, along: Sequence[str]) -> None:
        """One step of a reduction."""

    @abstractmethod
    def add_product(self, stmt: Mma, total: str, left: Sequence[str], right: Sequence[str]) -> None:
        """One step of a matrix product."""


def variables(kernel: Kernel) -> list[str]:
    """The variables of a kernel's grid and loops."""
    loops = (stmt for stmt in walk(kernel.body) if isinstance(stmt, For | ParallelFor))
    return [*(name for name, _ in kernel.grid), *(stmt.variable for stmt in loops)]
