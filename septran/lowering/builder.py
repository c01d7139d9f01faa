"""Walks the tree of instances: each leaf gets its tensors in the memories that the mapping says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

from eas.ir.types import DTYPES, DType
from eas.septran.files import Machine, ResolvedInstance
from eas.septran.files import Mapping as MappingFiles
from eas.septran.files.complaints import Complaints
from eas.septran.files.mapping import NONE
from eas.septran.flat.affine import ZERO, Affine, affine
from eas.septran.flat.element_meanings import accumulator
from eas.septran.flat.nodes import For, If, Mma, Origin, ParallelFor, Stmt, View
from eas.septran.flat.ranges import Ranges, is_axis, room
from eas.septran.logic.dimensions import ENTRY, Dimensions, Site, site_of
from eas.septran.logic.errors import LogicError
from eas.septran.logic.inner import read_inner
from eas.septran.logic.launches import has_branches, tasks_below
from eas.septran.logic.leaves import LeafArgument, LeafTensor, read_leaf
from eas.septran.logic.task_body import Argument, Branch, Launch, Local, Step, launches_of
from eas.septran.logic.task_body import Loop as LoopStep
from eas.septran.logic.tasks import Task
from eas.septran.logic.uses import (
    NO_USE,
    Use,
    Uses,
    check_declared,
    check_entry,
    unwritten_local,
    uses_of_inner,
    uses_of_leaf,
)
from eas.septran.logic.values import Tensor, whole
from eas.septran.lowering.accumulators import WIDE, Sums, may_widen
from eas.septran.lowering.aliases import find_aliases, find_conflict
from eas.septran.lowering.checks import notes_on_extents
from eas.septran.lowering.primitives import Wanted, choose_primitive
from eas.septran.lowering.tree import NO_THREADS, Do, Guard, Loop, Node, Placed, Resident, Threads
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
MOST_LAUNCHES = 20_000


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
class Builder:
    """Lowers instances. Mistakes of the mapping go to `complaints`.

    `sums` are buffers of 16-bit floats to which products are added, once they are known: products
    of a first build may be added to f32 where a sum is 16-bit.
    `entered` are the instances that run, `looping` those that have a sequential loop.
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
    looping: set[str] = field(default_factory=set[str])
    launches: int = 0
    depth: int = 0
    sums: Sums | None = None

    def fresh(self, name: str) -> str:
        """A name that nothing else in the module has."""
        number = next(self.numbers.setdefault(name, count()))
        return name if number == 0 else f"{name}_{number}"

    def place(self, *path: str) -> Loc:
        return self.mapping.place("task_mappings", *path)

    def run(
        self,
        instance: ResolvedInstance,
        task: Task,
        bound: Mapping[str, Bound],
        tunables: Tunables,
        ranges: Ranges,
        site: Site,
        threads: Threads = NO_THREADS,
    ) -> Ran:
        """The nodes of an inner task's instance; `threads` are those of the program around it.

        There are none if its text has mistakes.
        """
        threads = self.enter(instance, threads)
        tunables = self.tunables(instance, tunables)
        arguments: dict[str, Argument] = {
            name: whole(name, value.view.shape) if isinstance(value, Held) else value
            for name, value in bound.items()
        }
        try:
            steps = read_inner(
                task,
                arguments,
                tunables,
                ranges,
                self.fresh,
                lambda tensor: self.dimensions.names_of(site, tensor),
                {name: held.dtype.name for name, held in bound.items() if isinstance(held, Held)},
            )
        except LogicError as error:
            self.refuse(error)
            return Ran([], {})
        frame = _Frame(instance, task, dict(bound), tunables, ranges, site, threads)
        nodes = self.steps(frame, steps)
        tensors = {name: each for name, each in arguments.items() if isinstance(each, Tensor)}
        found = uses_of_inner(tensors, steps, frame.uses, ranges)
        for local, loc in found.unwritten:
            held = Label(self.place(instance.name, "locals", local.label), "where it lies")
            diagnostic = unwritten_local(local, loc)
            self.complaints.take(replace(diagnostic, secondary=(*diagnostic.secondary, held)))
        return Ran(nodes, self.checked(instance, task, found.uses))

    def checked(self, instance: ResolvedInstance, task: Task, uses: Uses) -> Uses:
        """What a task does with its tensors, after a look at what it declares."""
        for diagnostic in check_declared(task, uses):
            label = Label(self.place(instance.name, "task_name"), "runs it")
            self.complaints.take(replace(diagnostic, secondary=(*diagnostic.secondary, label)))
        return uses

    def run_entry(
        self, instance: ResolvedInstance, task: Task, bound: Mapping[str, Held]
    ) -> list[Node]:
        """The nodes of the instance that is called: an inner task, or a leaf by itself."""
        ran = self.entry(instance, task, bound)
        if not self.complaints and not any(map(has_branches, (task, *tasks_below(task)))):
            for diagnostic in check_entry(task, ran.uses):
                label = Label(self.place(instance.name, "task_name"), "runs it")
                self.complaints.take(replace(diagnostic, secondary=(label,)))
        return ran.nodes

    def entry(self, instance: ResolvedInstance, task: Task, bound: Mapping[str, Held]) -> Ran:
        if not task.is_leaf:
            return self.run(instance, task, bound, Tunables(), Ranges(), ENTRY)
        threads = self.enter(instance, NO_THREADS)
        wished = {name: self.wished(instance, name, held) for name, held in bound.items()}
        frame = _Frame(instance, task, dict(bound), Tunables(), Ranges(), ENTRY, threads)
        return self.leaf(frame, instance, task, wished, task.loc)

    def refuse(self, error: LogicError) -> None:
        """Mistakes of a task's text."""
        for each in error.diagnostics:
            notes = (*each.notes, *notes_on_extents(each.message, self.named))
            self.complaints.take(replace(each, notes=notes))

    def tunables(self, instance: ResolvedInstance, around: Tunables) -> Tunables:
        """The tunables inside of an instance, given those of its callers."""
        own = {name: int(value) for name, value in instance.tunables.items()}
        places = {name: self.place(instance.name, "tunables", name) for name in own}
        path = ("task_mappings", instance.name, "tunables")
        missing = self.mapping.key_place(*(path if own else path[:2]))
        return Tunables({**around.values, **own}, {**around.places, **places}, missing)

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

    def steps(self, frame: _Frame, steps: Sequence[Step]) -> list[Node]:
        nodes: list[Node] = []
        residents: list[Resident] = []
        for step in steps:
            match step:
                case Local():
                    residents += self.local(frame, step, steps)
                case LoopStep():
                    nodes.append(self.loop(frame, step))
                case Branch():
                    origin = Origin(f"{step.left} {step.comparison} {step.right}", None, step.loc)
                    guard = If(step.left, step.comparison, step.right, (), origin)
                    nodes.append(Guard(guard, tuple(self.steps(frame, step.body))))
                case Launch():
                    nodes += self.launch(frame, step)
        return [Placed(tuple(residents), tuple(nodes))] if residents else nodes

    def local(self, frame: _Frame, step: Local, steps: Sequence[Step]) -> list[Resident]:
        """A local tensor, in the memory that `locals` says; `steps` are those that may use it."""
        instance = frame.instance
        name = step.label
        if name not in instance.locals:
            memory = self.machine.memories_of(instance.proc)[-1]
            message = f"the instance `{instance.name}` gives the local tensor `{name}` no memory"
            self.complaints.add(
                "S207",
                message,
                self.mapping.key_place("task_mappings", instance.name),
                secondary=[Label(step.loc, "the local tensor")],
                help=[f"add `locals: {{{name}: {memory}}}`"],
            )
        elif instance.locals[name] == NONE:
            memory = self.machine.memories_of(instance.proc)[-1]
            self.check_unused_local(instance, step, steps)
        else:
            memory = instance.locals[name]
            self.check_visible(instance, memory, self.place(instance.name, "locals", name))
        dtype = DTYPES[step.dtype]
        loc = self.place(instance.name, "locals", name)
        origin = Origin(f"`{name}` is a local tensor in {memory}", loc, step.loc)
        view = View(step.name, memory, (ZERO,) * len(step.shape), step.shape)
        frame.bound[step.name] = Held(view, dtype)
        pad = instance.pads.get(name, 0)
        shape = tuple(room(extent, frame.ranges) for extent in step.shape)
        return [Resident(step.name, dtype, memory, shape, None, pad, origin)]

    def check_unused_local(
        self, instance: ResolvedInstance, local: Local, steps: Sequence[Step]
    ) -> None:
        """A local tensor in no memory: nothing uses it, for leaves hand tensors on in memory."""
        for launch in launches_of(steps, local.name):
            message = (
                f"`{instance.name}` wants the local tensor `{local.label}` in no memory, and"
                f" `{launch.callee}` uses it"
            )
            loc = self.place(instance.name, "locals", local.label)
            labels = [Label(launch.loc, "materialized for this")]
            help = ["compute it and use it in one leaf, or give it a memory"]
            self.complaints.add("S206", message, loc, secondary=labels, help=help)
            return

    def loop(self, frame: _Frame, step: LoopStep) -> Node:
        """A loop; a parallel one over several indices is one loop for each."""
        inner = frame
        for variable, extent in zip(step.variables, step.extents, strict=True):
            inner = replace(inner, ranges=inner.ranges.inside(variable, extent))
        body = tuple(self.steps(inner, step.body))
        instance = frame.instance
        is_parallel = step.kind == "parallel"
        reduced = tuple(self.buffer_of(frame, root) for root in step.reduced)
        if not is_parallel or reduced:
            self.looping.add(instance.name)
        stages = 1 if is_parallel and not reduced else instance.pipeline
        asked = Origin(
            f"`{instance.name}` asks for {stages} stages",
            self.place(instance.name, *instance.pipeline_path),
        )
        because = "a stream of tiles" if step.is_implicit else f"a {step.kind} range"
        origin = Origin(because, self.place(instance.name, "proc"), step.loc)
        pairs = list(zip(step.variables, step.extents, strict=True))
        for variable, extent in reversed(pairs):
            if is_parallel:
                proc = self.loop_proc(instance)
                record: For | ParallelFor = ParallelFor(variable, extent, proc, (), reduced, origin)
            else:
                record = For(variable, extent, (), 1, origin)
            body = (Loop(record, body, stages, asked),)
        return body[0]

    def buffer_of(self, frame: _Frame, root: str) -> str:
        held = frame.bound[root]
        assert isinstance(held, Held)
        return held.view.buffer

    def loop_proc(self, instance: ResolvedInstance) -> str:
        """Who runs the iterations of a parallel loop: the grid's level, or the instance's own."""
        level, grid = self.machine.level(instance.proc), self.machine.level(self.machine.grid)
        return self.machine.grid if level <= grid else instance.proc

    def launch(self, frame: _Frame, step: Launch) -> list[Node]:
        found = self.callee(frame, step)
        if found is None:
            return []
        instance, task = found
        if len(task.parameters) != len(step.arguments):
            message = f"`{task.function_name}` takes {len(task.parameters)} arguments"
            self.complaints.add("S203", message, step.loc)
            return []
        around: list[Resident] = []
        bound = {
            name: self.argument(frame, instance, name, argument, step.loc, around)
            for name, argument in zip(task.parameters, step.arguments, strict=True)
        }
        self.launches += 1
        if self.launches > MOST_LAUNCHES:
            message = f"the tasks have more than {MOST_LAUNCHES:,} launches"
            self.complaints.add("S204", message, step.loc)
            return []
        if task.is_leaf:
            ran = self.leaf(frame, instance, task, bound, step.loc)
            return _inside(around, self.ran(frame, step, task, ran))
        if self.depth > 64:
            self.complaints.add("S204", f"`{instance.name}` launches itself without end", step.loc)
            return []
        self.depth += 1
        site = site_of(frame.site, step)
        ran = self.run(instance, task, bound, frame.tunables, frame.ranges, site, frame.threads)
        self.depth -= 1
        return _inside(around, self.ran(frame, step, task, ran))

    def ran(self, frame: _Frame, step: Launch, task: Task, ran: Ran) -> list[Node]:
        """The nodes of a launch; what it does with its arguments is kept for its caller."""
        frame.uses[step] = [ran.uses.get(name, NO_USE) for name in task.parameters]
        return ran.nodes

    def callee(self, frame: _Frame, step: Launch) -> tuple[ResolvedInstance, Task] | None:
        """The instance and the task of a launch; a leaf without an instance has its caller's."""
        caller = frame.instance
        names = step.task.names if step.task is not None else (step.callee,)
        key = next((name for name in (step.callee, *names) if name in caller.calls), None)
        if key is None:
            task = step.task or frame.task.variant(step.callee)
            if task is not None and task.is_leaf:
                inherited = replace(
                    caller, task_name=task.function_name, mems={}, locals=caller.locals
                )
                return inherited, task
            message = f"`{caller.name}` launches `{step.callee}` and maps it to no instance"
            loc = self.mapping.key_place("task_mappings", caller.name)
            candidates = [
                name
                for name, each in self.instances.items()
                if task is not None and each.task_name in task.names
            ]
            wanted = candidates[0] if candidates else f"{step.callee}_instance"
            self.complaints.add(
                "S201",
                message,
                loc,
                secondary=[Label(step.loc, "launched here")],
                help=[f"add `calls: {{{step.callee}: {wanted}}}`"],
            )
            return None
        instance = self.instances[caller.calls[key]]
        task = self.tasks.get(instance.task_name)
        if task is None:
            return None  # an unknown task has been complained about
        if not set(task.names) & {step.callee, *names}:
            message = f"`{instance.name}` runs `{instance.task_name}`, not `{step.callee}`"
            loc = self.place(caller.name, "calls", key)
            self.complaints.add("S203", message, loc, secondary=[Label(step.loc, "launched here")])
            return None
        self.check_levels(caller, instance)
        handed = {**caller.bindings, **instance.bindings}
        return replace(instance, bindings=handed), task

    def binding_place(self, instance: ResolvedInstance, leaf: str) -> Loc:
        """Where a leaf is bound: in its own instance, or in one that hands the binding down."""
        wanted = instance.bindings[leaf]
        several = (self.instances[instance.name], *self.instances.values())
        binder = next(each for each in several if each.bindings.get(leaf) == wanted)
        return self.place(binder.name, "leaf_task_bindings", leaf)

    def check_levels(self, caller: ResolvedInstance, instance: ResolvedInstance) -> None:
        if self.machine.level(instance.proc) < self.machine.level(caller.proc):
            message = (
                f"`{instance.name}` runs on {instance.proc}, which is above {caller.proc} of its"
                f" caller `{caller.name}`"
            )
            self.complaints.add("S204", message, self.place(instance.name, "proc"))

    def check_visible(self, instance: ResolvedInstance, memory: str, loc: Loc) -> bool:
        visible = self.machine.memories_of(instance.proc)
        if memory in visible:
            return True
        message = f"{instance.proc} does not see {memory}"
        self.complaints.add("S205", message, loc, help=[f"it sees {', '.join(visible)}"])
        return False

    def argument(
        self,
        frame: _Frame,
        instance: ResolvedInstance,
        name: str,
        argument: Argument,
        python: Loc,
        around: list[Resident],
    ) -> Bound:
        """An argument in terms of the buffers that exist, with what the callee wishes for it.

        Windows overlap, so what they are cut from is copied, not each window: the residents of that
        are added to those around the launch.
        """
        if not isinstance(argument, Tensor):
            return argument
        held = frame.bound[argument.root]
        assert isinstance(held, Held)
        if argument.is_window and (chain := self.chain(frame, held, python)):
            around += chain
            held = Held(_held_view(chain[-1], held.view), chain[-1].dtype)
        return self.wished(instance, name, replace(held, view=compose(held.view, argument)))

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
        frame: _Frame,
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
        self, frame: _Frame, bound: Mapping[str, Bound], launched: Loc
    ) -> tuple[dict[str, LeafArgument], list[list[Resident]]]:
        """A leaf's arguments where it wants them, and the residents that hold them, by level.

        Those of a level hold views of those one level out.
        """
        levels: list[list[Resident]] = []
        arguments: dict[str, LeafArgument] = {}
        chains: dict[tuple[View, tuple[str, ...]], list[Resident]] = {}
        for name, value in bound.items():
            if isinstance(value, Held):
                key = value.view, tuple(wish.memory for wish in value.wishes)
                chain = chains.get(key)  # a tile that is passed twice is there once
                if chain is None:
                    chain = chains[key] = self.chain(frame, value, launched)
                levels += [[] for _ in range(len(chain) - len(levels))]
                for level, resident in zip(levels, chain, strict=False):
                    if resident not in level:
                        level.append(resident)
                view = _held_view(chain[-1], value.view) if chain else value.view
                arguments[name] = LeafTensor(view, chain[-1].dtype if chain else value.dtype)
            else:
                arguments[name] = value
        return arguments, levels

    def chain(self, frame: _Frame, held: Held, python: Loc) -> list[Resident]:
        """The residents of an argument, each of which holds what the one before it holds."""
        chain: list[Resident] = []
        view = held.view
        for wish in held.wishes:
            if wish.memory != view.memory:
                self.check_refusals(held, view, wish, python)
                dtype = self.dtype_in(wish.memory, held)
                chain.append(self.resident(frame, view, dtype, wish, python))
                view = _held_view(chain[-1], view)
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

    def resident(
        self, frame: _Frame, view: View, dtype: DType, wish: Wish, python: Loc
    ) -> Resident:
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
        frame: _Frame,
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
class _Frame:
    """Where a step stands: its instance, what its names are bound to, what is known."""

    instance: ResolvedInstance
    task: Task
    bound: dict[str, Bound]
    tunables: Tunables
    ranges: Ranges
    site: Site
    threads: Threads
    uses: dict[Launch, Sequence[Use]] = field(default_factory=dict[Launch, "Sequence[Use]"])


def _inside(residents: Sequence[Resident], nodes: list[Node]) -> list[Node]:
    """Nodes inside of residents, of which a later one may hold a view of an earlier one."""
    for resident in reversed(residents):
        nodes = [Placed((resident,), tuple(nodes))]
    return nodes


def _held_view(resident: Resident, source: View) -> View:
    """What a resident holds, in the resident's own buffer."""
    zeros = (ZERO,) * source.rank
    return View(resident.buffer, resident.memory, zeros, tuple(source.shape))


def compose(view: View, tensor: Tensor) -> View:
    """The view of a buffer that a rectangle of it is."""
    inner = iter(zip(tensor.offsets, tensor.extents, strict=True))
    offsets: list[Affine] = []
    extents: list[Affine | None] = []
    for offset, extent in zip(view.offsets, view.extents, strict=True):
        shift, size = (affine(0), None) if extent is None else next(inner)
        offsets.append(offset + shift)
        extents.append(size)
    return replace(view, offsets=tuple(offsets), extents=tuple(extents))
