"""Lowers leaves: each gets its tensors in the memories that the mapping says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

from eas.ir.types import DType
from eas.septran.files import Machine, ResolvedInstance
from eas.septran.files import Mapping as MappingFiles
from eas.septran.files.complaints import Complaints
from eas.septran.files.mapping import NONE
from eas.septran.flat.affine import ZERO, Affine
from eas.septran.flat.element_meanings import accumulator
from eas.septran.flat.nodes import Mma, Origin, Stmt, View
from eas.septran.flat.ranges import Ranges, is_axis, room
from eas.septran.logic.dimensions import Dimensions, Site
from eas.septran.logic.errors import LogicError
from eas.septran.logic.leaves import LeafArgument, LeafTensor, read_leaf
from eas.septran.logic.task_body import Launch
from eas.septran.logic.tasks import Task
from eas.septran.logic.uses import (
    Use,
    Uses,
    check_declared,
    uses_of_leaf,
)
from eas.septran.lowering.accumulators import WIDE, Sums, may_widen
from eas.septran.lowering.aliases import find_aliases, find_conflict
from eas.septran.lowering.checks import notes_on_extents
from eas.septran.lowering.primitives import Wanted, choose_primitive
from eas.septran.lowering.tree import Do, Node, Placed, Resident, Threads
from eas.support.diagnostics import Label
from eas.support.location import NOWHERE, Loc
from eas.support.records import field, frozen, record, replace


@frozen
class Held:
    """A tensor argument: where it lies now, and in which memories the way down wants it, in order.

    `wishes` are memories with the places in the mapping that ask for them, `refusals` the instances
    that ask for `NONE`, with what they do not want to be copied.
    """

    view: View
    dtype: DType
    wishes: tuple[Wish, ...] = ()
    refusals: tuple[tuple[View, Wish], ...] = ()


@frozen
class Wish:
    memory: str
    pad: int
    loc: Loc
    instance: str
    parameter: str


Bound = Held | Affine | float


@frozen
class Tunables:
    """The tunables of an instance, and of those that called it, with their places.

    `missing` is where one that has no value could be given one.
    """

    values: Mapping[str, int] = field(default_factory=dict[str, int])
    places: Mapping[str, Loc] = field(default_factory=dict[str, Loc])
    missing: Loc = NOWHERE

    def tunable(self, name: str) -> int | None:
        value = self.values.get(name)
        return None if value is None else int(value)

    def names(self) -> tuple[str, ...]:
        return tuple(self.values)

    def place(self, name: str) -> Loc | None:
        return self.places.get(name, self.missing)


@frozen(eq=False)
class Ran:
    """What a launch becomes, and what it does with its tensors."""

    nodes: list[Node]
    uses: Uses


@record
class LeafBuilder:
    """Lowers leaves. Mistakes of the mapping go to `complaints`.

    `sums` are buffers of 16-bit floats to which products are added, once they are known: products
    of a first build may be added to f32 where a sum is 16-bit.
    `entered` are the instances that run.
    """

    mapping: MappingFiles
    instances: Mapping[str, ResolvedInstance]
    machine: Machine
    tasks: Mapping[str, Task]
    dimensions: Dimensions
    complaints: Complaints
    named: Mapping[str, int]  # the tunables and the sizes
    numbers: dict[str, count[int]] = field(default_factory=dict[str, "count[int]"])
    entered: set[str] = field(default_factory=set[str])
    sums: Sums | None = None

    def fresh(self, name: str) -> str:
        """A name that nothing else in the module has."""
        number = next(self.numbers.setdefault(name, count()))
        return name if number == 0 else f"{name}_{number}"

    def place(self, *path: str) -> Loc:
        return self.mapping.place("task_mappings", *path)

    def checked(self, instance: ResolvedInstance, task: Task, uses: Uses) -> Uses:
        """What a task does with its tensors, after a look at what it declares."""
        for diagnostic in check_declared(task, uses):
            label = Label(self.place(instance.name, "task_name"), "runs it")
            self.complaints.take(replace(diagnostic, secondary=(*diagnostic.secondary, label)))
        return uses

    def refuse(self, error: LogicError) -> None:
        """Mistakes of a task's text."""
        for each in error.diagnostics:
            notes = (*each.notes, *notes_on_extents(each.message, self.named))
            self.complaints.take(replace(each, notes=notes))

    def enter(self, instance: ResolvedInstance, around: Threads) -> Threads:
        """The threads of a program inside of an instance: the outermost one that asks decides."""
        self.entered.add(instance.name)
        file = self.mapping.task_mappings[instance.name]
        if getattr(file, "threads", None) is None:
            return around
        proc, machine = instance.proc, self.machine
        level, is_grid = machine.procs[proc], proc == machine.grid
        most = (level.max_threads or level.threads) if is_grid else level.threads
        loc = self.place(instance.name, "threads")
        if instance.threads > most or (not is_grid and instance.threads != most):
            has = f"up to {most}" if is_grid and most > 1 else str(most)
            message = f"`{instance.name}` asks for {instance.threads} threads, and {proc} has {has}"
            self.complaints.add("S402", message, loc)
            return around
        if not is_grid:
            return around
        if around.count not in (None, instance.threads):
            message = (
                f"`{instance.name}` asks for {instance.threads} threads, in a program of"
                f" {around.count}"
            )
            secondary = [] if around.loc is None else [Label(around.loc, "asked for here")]
            self.complaints.add("S402", message, loc, secondary=secondary)
            return around
        return Threads(instance.threads, loc)

    def binding_place(self, instance: ResolvedInstance, leaf: str) -> Loc:
        """Where a leaf is bound: in its own instance, or in one that hands the binding down."""
        wanted = instance.bindings[leaf]
        several = (self.instances[instance.name], *self.instances.values())
        binder = next(each for each in several if each.bindings.get(leaf) == wanted)
        return self.place(binder.name, "leaf_task_bindings", leaf)

    def check_visible(self, instance: ResolvedInstance, memory: str, loc: Loc) -> bool:
        visible = self.machine.memories_of(instance.proc)
        if memory in visible:
            return True
        message = f"{instance.proc} does not see {memory}"
        self.complaints.add("S205", message, loc, help=[f"it sees {', '.join(visible)}"])
        return False

    def wished(self, instance: ResolvedInstance, name: str, held: Held) -> Held:
        """An argument with the memory that an instance asks for, if it asks for one."""
        memory = instance.mems.get(name)
        loc = self.place(instance.name, "mems", name)
        wishes = held.wishes
        if memory == NONE:
            refusal = held.view, Wish(NONE, 0, loc, instance.name, name)
            return replace(held, refusals=(*held.refusals, refusal))
        if memory is not None and self.check_visible(instance, memory, loc):
            last = wishes[-1].memory if wishes else held.view.memory
            pad = instance.pads.get(name, 0)
            if last != memory:
                wishes = (*wishes, Wish(memory, pad, loc, instance.name, name))
        return replace(held, wishes=wishes)

    def leaf(
        self,
        frame: Frame,
        instance: ResolvedInstance,
        task: Task,
        bound: Mapping[str, Bound],
        launched: Loc,
    ) -> Ran:
        """A leaf's statements, inside of residents for what it wants in other memories."""
        is_inherited = instance.name == frame.instance.name
        threads = frame.threads if is_inherited else self.enter(instance, frame.threads)
        arguments, levels = self.leaf_arguments(frame, bound, launched)
        temporaries: list[Resident] = []

        def make_temporary(name: str, shape: tuple[Affine, ...], dtype: DType, loc: Loc) -> View:
            memory = instance.locals.get(name) or self.temporary_memory(instance)
            buffer = self.fresh(name)
            sizes = tuple(room(each, frame.ranges) for each in shape)
            where = self.place(instance.name, "locals", name)
            origin = Origin(f"`{name}` of `{task.function_name}` is kept in {memory}", where, loc)
            temporaries.append(Resident(buffer, dtype, memory, sizes, None, 0, origin))
            return View(buffer, memory, (ZERO,) * len(shape), shape)

        tensors = {n: each for n, each in arguments.items() if isinstance(each, LeafTensor)}
        views = {name: each.view for name, each in tensors.items()}
        sources = {name: held.view for name, held in bound.items() if isinstance(held, Held)}
        aliases = find_aliases(sources, views, frame.ranges)
        try:
            statements = read_leaf(task, arguments, make_temporary, aliases)
        except LogicError as error:
            self.refuse(error)
            return Ran([], {})
        if pair := find_conflict(sources, views, statements, frame.ranges):
            self.refuse_copies(task, *pair, launched)
        dtypes = {each.view.buffer: each.dtype.name for each in tensors.values()}
        dtypes |= {each.buffer: each.dtype.name for each in temporaries}
        nodes: tuple[Node, ...] = tuple(
            Do(self.bound_statement(frame, instance, task, each, dtypes), threads)
            for each in statements
        )
        for level in (temporaries, *reversed(levels)):
            if level:
                nodes = (Placed(tuple(level), nodes),)
        return Ran(list(nodes), self.checked(instance, task, uses_of_leaf(views, statements)))

    def refuse_copies(self, task: Task, written: str, other: str, launched: Loc) -> None:
        message = (
            f"`{task.function_name}` uses `{other}` after it has written `{written}`, which may"
            " share elements with it, and the mapping copies them"
        )
        help = [f"place `{written}` and `{other}` in one memory, or write to a local tensor"]
        self.complaints.add("S903", message, launched, help=help)

    def leaf_arguments(
        self, frame: Frame, bound: Mapping[str, Bound], launched: Loc
    ) -> tuple[dict[str, LeafArgument], list[list[Resident]]]:
        """A leaf's arguments where it wants them, and the residents that hold them, by level.

        Those of a level hold views of those one level out.
        """
        levels: list[list[Resident]] = []
        arguments: dict[str, LeafArgument] = {}
        known: list[Resident] = []  # a tile that is passed twice is there once
        for name, value in bound.items():
            if isinstance(value, Held):
                chain = self.chain(frame, value, launched, known)
                levels += [[] for _ in range(len(chain) - len(levels))]
                for level, resident in zip(levels, chain, strict=False):
                    if resident not in level:
                        level.append(resident)
                view = held_view(chain[-1], value.view) if chain else value.view
                arguments[name] = LeafTensor(view, chain[-1].dtype if chain else value.dtype)
            else:
                arguments[name] = value
        return arguments, levels

    def chain(self, frame: Frame, held: Held, python: Loc, known: list[Resident]) -> list[Resident]:
        """The residents of an argument, each of which holds what the one before it holds.

        Those that are `known` are taken; new ones are added to them.
        """
        chain: list[Resident] = []
        view = held.view
        for wish in held.wishes:
            if wish.memory != view.memory:
                wanted = view, wish.memory
                found = next((each for each in known if (each.source, each.memory) == wanted), None)
                if found is None:
                    self.check_refusals(held, view, wish, python)
                    dtype = self.dtype_in(wish.memory, held)
                    found = self.resident(frame, view, dtype, wish, python)
                    known.append(found)
                chain.append(found)
                view = held_view(found, view)
        return chain

    def dtype_in(self, memory: str, held: Held) -> DType:
        """What a copy of an argument holds: f32 if it is a sum that is wide there."""
        place = self.machine.mems[memory]
        is_wide = self.sums is not None and self.sums.are_wide(held.view.buffer, place)
        return accumulator(held.dtype) if is_wide else held.dtype

    def check_refusals(self, held: Held, view: View, wish: Wish, python: Loc) -> None:
        """A tensor that an instance wants in no memory, and that one below it copies whole."""
        for refused, refusal in held.refusals:
            if refused == view and refusal.instance != wish.instance:
                message = (
                    f"`{refusal.instance}` wants no copy of `{refusal.parameter}`, and"
                    f" `{wish.instance}` makes one of all of it, in {wish.memory}"
                )
                labels = [Label(wish.loc, "materialized for this"), Label(python, "launched here")]
                help = [
                    f"give `{refusal.parameter}` of `{refusal.instance}` the memory {wish.memory},"
                    " or copy tiles of it"
                ]
                self.complaints.add("S206", message, refusal.loc, secondary=labels, help=help)

    def resident(self, frame: Frame, view: View, dtype: DType, wish: Wish, python: Loc) -> Resident:
        because = f"`{wish.instance}` wants `{wish.parameter}` in {wish.memory}"
        return Resident(
            self.fresh(f"{wish.parameter}_{wish.memory.lower()}"),
            dtype,
            wish.memory,
            tuple(room(extent, frame.ranges) for extent in view.shape),
            view,
            wish.pad,
            Origin(because, wish.loc, python),
        )

    def temporary_memory(self, instance: ResolvedInstance) -> str:
        """Where the intermediate results of leaves are: registers, or the nearest scratch memory.

        The nearest memory is the first of those that the fewest levels see.
        """
        visible = self.machine.memories_of(instance.proc)
        memories = {name: self.machine.mems[name] for name in visible}
        for kind in ("registers", "scratch", "global"):
            found = [n for n, each in memories.items() if each.kind == kind and each.space is None]
            if found:
                return min(found, key=lambda name: len(memories[name].visible))
        return visible[0]

    def results_of(self, memory: str, dtype: str) -> tuple[str, ...]:
        """What a product may be added to: the target's dtype, and f32 where that may become it."""
        is_open = self.sums is None and may_widen(self.machine.mems[memory])
        return (dtype, WIDE) if is_open else (dtype,)

    def bound_statement(
        self,
        frame: Frame,
        instance: ResolvedInstance,
        task: Task,
        stmt: Stmt,
        dtypes: Mapping[str, str],
    ) -> Stmt:
        """A statement with the primitive that computes it, and the place in the mapping."""
        origin = stmt.origin
        loc = self.place(instance.name, "task_name")
        if isinstance(stmt, Mma):
            names = [each for each in task.names if each in instance.bindings]
            bound = instance.bindings[names[0]] if names else None
            place = self.binding_place(instance, names[0]) if names else loc
            m, n = stmt.target.shape
            named = (("m", m), ("n", n), ("k", stmt.depth))
            extents = {letter: room(extent, frame.ranges) for letter, extent in named}
            factors = dict.fromkeys(dtypes[view.buffer] for view in (stmt.left, stmt.right))
            axes = {letter for letter, extent in named if is_axis(extent)}
            results = self.results_of(stmt.target.memory, dtypes[stmt.target.buffer])
            proc = instance.proc
            wanted = Wanted(stmt, extents, axes, tuple(factors), results, proc, self.named)
            primitive = choose_primitive(self.machine, wanted, bound, place, self.complaints)
            return replace(stmt, primitive=primitive, origin=replace(origin, yaml=place))
        return replace(stmt, origin=replace(origin, yaml=loc))


@frozen
class Frame:
    """Where a step stands: its instance, what its names are bound to, what is known."""

    instance: ResolvedInstance
    task: Task
    bound: dict[str, Bound]
    tunables: Tunables
    ranges: Ranges
    site: Site
    threads: Threads
    uses: dict[Launch, Sequence[Use]] = field(default_factory=dict[Launch, "Sequence[Use]"])


def held_view(resident: Resident, source: View) -> View:
    """What a resident holds, in the resident's own buffer."""
    zeros = (ZERO,) * source.rank
    return View(resident.buffer, resident.memory, zeros, tuple(source.shape))
