"""Walks the tree of instances: loops, local tensors, and launches of other instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eas.ir.types import DTYPES
from eas.septran.files import ResolvedInstance
from eas.septran.files.mapping import NONE
from eas.septran.flat.affine import ZERO, Affine, affine
from eas.septran.flat.nodes import For, If, Origin, ParallelFor, View
from eas.septran.flat.ranges import Ranges, room
from eas.septran.logic.dimensions import ENTRY, Site, site_of
from eas.septran.logic.errors import LogicError
from eas.septran.logic.inner import read_inner
from eas.septran.logic.launches import tasks_below
from eas.septran.logic.task_body import Argument, Branch, Launch, Local, Step, launches_of
from eas.septran.logic.task_body import Loop as LoopStep
from eas.septran.logic.tasks import Task
from eas.septran.logic.uses import (
    NO_USE,
    Use,
    Uses,
    check_entry,
    unwritten_local,
    uses_of_inner,
)
from eas.septran.logic.values import Tensor, whole
from eas.septran.lowering.leaf_builder import (
    Bound,
    Frame,
    Held,
    LeafBuilder,
    Ran,
    Tunables,
    held_view,
)
from eas.septran.lowering.tree import (
    NO_THREADS,
    Guard,
    Loop,
    Node,
    Placed,
    Resident,
    Threads,
    touches,
    use_of,
)
from eas.support.diagnostics import Label
from eas.support.location import Loc
from eas.support.records import field, record, replace

MOST_LAUNCHES = 20_000


@record
class Builder(LeafBuilder):
    """Lowers instances of inner tasks. `looping` are those that have a sequential loop."""

    looping: set[str] = field(default_factory=set[str])
    launches: int = 0
    depth: int = 0
    uses: Uses = field(default_factory=dict[str, Use])  # of the arguments, once the entry has run

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
        frame = Frame(instance, task, dict(bound), tunables, ranges, site, threads)
        nodes = self.steps(frame, steps)
        tensors = {name: each for name, each in arguments.items() if isinstance(each, Tensor)}
        found = uses_of_inner(tensors, steps, frame.uses, ranges)
        for local, loc in found.unwritten:
            held = Label(self.place(instance.name, "locals", local.label), "where it lies")
            diagnostic = unwritten_local(local, loc)
            self.complaints.take(replace(diagnostic, secondary=(*diagnostic.secondary, held)))
        return Ran(nodes, self.checked(instance, task, found.uses))

    def run_entry(
        self, instance: ResolvedInstance, task: Task, bound: Mapping[str, Held]
    ) -> list[Node]:
        """The nodes of the instance that is called: an inner task, or a leaf by itself."""
        ran = self.entry(instance, task, bound)
        self.uses = ran.uses
        tasks = (task, *tasks_below(task))
        if not self.complaints and not any(each.has_branches for each in tasks):
            for diagnostic in check_entry(task, ran.uses):
                label = Label(self.place(instance.name, "task_name"), "runs it")
                self.complaints.take(replace(diagnostic, secondary=(label,)))
        return ran.nodes

    def entry(self, instance: ResolvedInstance, task: Task, bound: Mapping[str, Held]) -> Ran:
        if not task.is_leaf:
            return self.run(instance, task, bound, Tunables(), Ranges(), ENTRY)
        threads = self.enter(instance, NO_THREADS)
        wished = {name: self.wished(instance, name, held) for name, held in bound.items()}
        frame = Frame(instance, task, dict(bound), Tunables(), Ranges(), ENTRY, threads)
        return self.leaf(frame, instance, task, wished, task.loc)

    def tunables(self, instance: ResolvedInstance, around: Tunables) -> Tunables:
        """The tunables inside of an instance, given those of its callers."""
        own = {name: int(value) for name, value in instance.tunables.items()}
        places = {name: self.place(instance.name, "tunables", name) for name in own}
        path = ("task_mappings", instance.name, "tunables")
        missing = self.mapping.key_place(*(path if own else path[:2]))
        return Tunables({**around.values, **own}, {**around.places, **places}, missing)

    def steps(self, frame: Frame, steps: Sequence[Step]) -> list[Node]:
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

    def local(self, frame: Frame, step: Local, steps: Sequence[Step]) -> list[Resident]:
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

    def loop(self, frame: Frame, step: LoopStep) -> Node:
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

    def buffer_of(self, frame: Frame, root: str) -> str:
        held = frame.bound[root]
        assert isinstance(held, Held)
        return held.view.buffer

    def loop_proc(self, instance: ResolvedInstance) -> str:
        """Who runs the iterations of a parallel loop: the grid's level, or the instance's own."""
        level, grid = self.machine.level(instance.proc), self.machine.level(self.machine.grid)
        return self.machine.grid if level <= grid else instance.proc

    def launch(self, frame: Frame, step: Launch) -> list[Node]:
        found = self.callee(frame, step)
        if found is None:
            return []
        instance, task = found
        if len(task.parameters) != len(step.arguments):
            message = f"`{task.function_name}` takes {len(task.parameters)} arguments"
            self.complaints.add("S203", message, step.loc)
            return []
        around: list[Resident] = []
        cut = {each.root for each in step.arguments if isinstance(each, Tensor) and each.is_window}
        bound: dict[str, Bound] = {}
        for name, argument in zip(task.parameters, step.arguments, strict=True):
            if isinstance(argument, Tensor):
                held = self.held(
                    frame, argument, step.loc, around if argument.root in cut else None
                )
                bound[name] = self.wished(instance, name, held)
            else:
                bound[name] = argument
        self.launches += 1
        if self.launches > MOST_LAUNCHES:
            message = f"the tasks have more than {MOST_LAUNCHES:,} launches"
            self.complaints.add("S204", message, step.loc)
            return []
        if task.is_leaf:
            ran = self.leaf(frame, instance, task, bound, step.loc)
            self.check_windows(task, around, ran.nodes, step.loc)
            return _inside(around, self.ran(frame, step, task, ran))
        if self.depth > 64:
            self.complaints.add("S204", f"`{instance.name}` launches itself without end", step.loc)
            return []
        self.depth += 1
        site = site_of(frame.site, step)
        ran = self.run(instance, task, bound, frame.tunables, frame.ranges, site, frame.threads)
        self.depth -= 1
        self.check_windows(task, around, ran.nodes, step.loc)
        return _inside(around, self.ran(frame, step, task, ran))

    def ran(self, frame: Frame, step: Launch, task: Task, ran: Ran) -> list[Node]:
        """The nodes of a launch; what it does with its arguments is kept for its caller."""
        frame.uses[step] = [ran.uses.get(name, NO_USE) for name in task.parameters]
        return ran.nodes

    def callee(self, frame: Frame, step: Launch) -> tuple[ResolvedInstance, Task] | None:
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

    def check_levels(self, caller: ResolvedInstance, instance: ResolvedInstance) -> None:
        if self.machine.level(instance.proc) < self.machine.level(caller.proc):
            message = (
                f"`{instance.name}` runs on {instance.proc}, which is above {caller.proc} of its"
                f" caller `{caller.name}`"
            )
            self.complaints.add("S204", message, self.place(instance.name, "proc"))

    def held(
        self, frame: Frame, argument: Tensor, python: Loc, around: list[Resident] | None
    ) -> Held:
        """An argument in terms of the buffers that exist.

        Windows overlap, so what they are cut from is copied, not each window: the residents of that
        are added to those `around` the launch, and all arguments cut from it are in them.
        """
        held = frame.bound[argument.root]
        assert isinstance(held, Held)
        if around is not None and (chain := self.chain(frame, held, python, around)):
            held = Held(held_view(chain[-1], held.view), chain[-1].dtype)
        return replace(held, view=compose(held.view, argument))

    def check_windows(
        self, task: Task, around: Sequence[Resident], nodes: Sequence[Node], launched: Loc
    ) -> None:
        """What windows are cut from is used by no other way, if either way writes (S903)."""
        held = _inside(around, list(nodes))
        for resident in around:
            source = resident.source
            assert source is not None
            own = use_of(resident.buffer, held)
            hows = [how for view, how in touches(held, resident) if view.buffer == source.buffer]
            if hows and any("w" in how for how in (own, *hows)):
                message = (
                    f"`{task.function_name}` is given windows of `{source.buffer}`, which the"
                    f" mapping copies to {resident.memory}, and uses what is not copied, too"
                )
                help = ["place all that is passed of it in one memory, or pass it once"]
                self.complaints.add("S903", message, launched, help=help)
                return


def _inside(residents: Sequence[Resident], nodes: list[Node]) -> list[Node]:
    """Nodes inside of residents, of which a later one may hold a view of an earlier one."""
    for resident in reversed(residents):
        nodes = [Placed((resident,), tuple(nodes))]
    return nodes


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
