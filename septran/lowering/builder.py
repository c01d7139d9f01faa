"""Walks the tree of instances: each leaf gets its tensors in the memories that the mapping says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from eas.ir.types import DTYPES, F32, DType
from eas.septran.files import Machine, ResolvedInstance
from eas.septran.files import Mapping as MappingFiles
from eas.septran.files.complaints import Complaints
from eas.septran.files.mapping import NONE
from eas.septran.flat.affine import ZERO, Affine, affine
from eas.septran.flat.nodes import For, If, Mma, Origin, ParallelFor, Stmt, View
from eas.septran.flat.ranges import Ranges, room
from eas.septran.logic.dimensions import Dimensions
from eas.septran.logic.inner import read_inner
from eas.septran.logic.leaves import LeafArgument, LeafTensor, read_leaf
from eas.septran.logic.steps import Argument, Branch, Launch, Local, Step
from eas.septran.logic.steps import Loop as LoopStep
from eas.septran.logic.tasks import Task
from eas.septran.logic.values import Tensor, whole
from eas.septran.lowering.primitives import choose_primitive
from eas.septran.lowering.tree import Do, Guard, Loop, Node, Placed, Resident
from eas.support.diagnostics import Label
from eas.support.location import Loc
from eas.support.records import field, frozen, record, replace


@frozen
class Held:
    """A tensor argument: where it lies now, and in which memories the way down wants it, in order.

    `wishes` are memories with the places in the mapping that ask for them.
    """

    view: View
    dtype: DType
    wishes: tuple[Wish, ...] = ()


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
    """The tunables of an instance, and of those that called it."""

    values: Mapping[str, int]

    def tunable(self, name: str) -> int | None:
        value = self.values.get(name)
        return None if value is None else int(value)

    def names(self) -> tuple[str, ...]:
        return tuple(self.values)


@record
class Builder:
    """Lowers instances. Mistakes of the mapping go to `complaints`.

    `sums` are buffers of 16-bit floats to which products are added: in registers they are f32.
    """

    mapping: MappingFiles
    instances: Mapping[str, ResolvedInstance]
    machine: Machine
    tasks: Mapping[str, Task]
    dimensions: Dimensions
    complaints: Complaints
    numbers: dict[str, count[int]] = field(default_factory=dict[str, "count[int]"])
    entered: set[str] = field(default_factory=set[str])
    depth: int = 0
    sums: frozenset[str] = frozenset()

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
        tunables: Mapping[str, int],
        ranges: Ranges,
    ) -> list[Node]:
        """The nodes of an inner task's instance."""
        self.entered.add(instance.name)
        values = {**tunables, **{name: int(value) for name, value in instance.tunables.items()}}
        arguments: dict[str, Argument] = {
            name: whole(name, value.view.shape) if isinstance(value, Held) else value
            for name, value in bound.items()
        }
        steps = read_inner(
            task,
            arguments,
            Tunables(values),
            ranges,
            self.fresh,
            lambda tensor: self.dimensions.names_of(task, tensor),
            {name: held.dtype.name for name, held in bound.items() if isinstance(held, Held)},
        )
        return self.steps(_Frame(instance, task, dict(bound), values, ranges), steps)

    def steps(self, frame: _Frame, steps: Sequence[Step]) -> list[Node]:
        nodes: list[Node] = []
        residents: list[Resident] = []
        for step in steps:
            match step:
                case Local():
                    residents += self.local(frame, step)
                case LoopStep():
                    nodes.append(self.loop(frame, step))
                case Branch():
                    origin = Origin(f"{step.left} {step.comparison} {step.right}", None, step.loc)
                    guard = If(step.left, step.comparison, step.right, (), origin)
                    nodes.append(Guard(guard, tuple(self.steps(frame, step.body))))
                case Launch():
                    nodes += self.launch(frame, step)
        return [Placed(tuple(residents), tuple(nodes))] if residents else nodes

    def local(self, frame: _Frame, step: Local) -> list[Resident]:
        """A local tensor, in the memory that `locals` says."""
        instance = frame.instance
        name = next(
            (each for each in instance.locals if step.name in (each, *_numbered(each, 99))), None
        )
        if name is None:
            plain = step.name.rstrip("0123456789").rstrip("_") or step.name
            memories = self.machine.memories_of(instance.proc)
            message = f"the instance `{instance.name}` gives the local tensor `{plain}` no memory"
            help = f"add `locals: {{{plain}: {memories[-1]}}}`"
            self.complaints.add(
                "S207",
                message,
                self.mapping.key_place("task_mappings", instance.name),
                secondary=[Label(step.loc, "the local tensor")],
                help=[help],
            )
            name, memory = plain, memories[-1]
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

    def loop(self, frame: _Frame, step: LoopStep) -> Node:
        """A loop; a parallel one over several indices is one loop for each."""
        inner = frame
        for variable, extent in zip(step.variables, step.extents, strict=True):
            inner = replace(inner, ranges=inner.ranges.inside(variable, extent))
        body = tuple(self.steps(inner, step.body))
        instance = frame.instance
        is_parallel = step.kind == "parallel" and not step.reduced
        stages = 1 if is_parallel else instance.pipeline
        wanted = "pipeline_depth" if "pipeline_depth" in instance.tunables else "pipeline"
        path = ("tunables", wanted) if wanted == "pipeline_depth" else (wanted,)
        asked = Origin(
            f"`{instance.name}` asks for {stages} stages", self.place(instance.name, *path)
        )
        because = "a stream of tiles" if step.is_implicit else f"a {step.kind} range"
        origin = Origin(because, self.place(instance.name, "proc"), step.loc)
        pairs = list(zip(step.variables, step.extents, strict=True))
        for variable, extent in reversed(pairs):
            if is_parallel:
                proc = self.loop_proc(instance)
                record: For | ParallelFor = ParallelFor(variable, extent, proc, (), (), origin)
            else:
                record = For(variable, extent, (), 1, origin)
            body = (Loop(record, body, stages, asked),)
        return body[0]

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
        bound = {
            name: self.argument(frame, instance, name, argument)
            for name, argument in zip(task.parameters, step.arguments, strict=True)
        }
        if task.is_leaf:
            self.entered.add(instance.name)
            return self.leaf(frame, instance, task, bound, step)
        if self.depth > 64:
            self.complaints.add("S204", f"`{instance.name}` launches itself without end", step.loc)
            return []
        self.depth += 1
        nodes = self.run(instance, task, bound, frame.tunables, frame.ranges)
        self.depth -= 1
        return nodes

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
        return instance, task

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
        self, frame: _Frame, instance: ResolvedInstance, name: str, argument: Argument
    ) -> Bound:
        """An argument in terms of the buffers that exist, with what the callee wishes for it."""
        if not isinstance(argument, Tensor):
            return argument
        held = frame.bound[argument.root]
        assert isinstance(held, Held)
        view = compose(held.view, argument)
        memory = instance.mems.get(name, NONE)
        wishes = held.wishes
        if memory != NONE:
            loc = self.place(instance.name, "mems", name)
            if self.check_visible(instance, memory, loc):
                last = wishes[-1].memory if wishes else view.memory
                pad = instance.pads.get(name, 0)
                if last != memory:
                    wishes = (*wishes, Wish(memory, pad, loc, instance.name, name))
        return Held(view, held.dtype, wishes)

    def leaf(
        self,
        frame: _Frame,
        instance: ResolvedInstance,
        task: Task,
        bound: Mapping[str, Bound],
        step: Launch,
    ) -> list[Node]:
        """A leaf's statements, inside of residents for what it wants in other memories."""
        levels: list[list[Resident]] = []  # those of a level hold views of those one level out
        arguments: dict[str, LeafArgument] = {}
        for name, value in bound.items():
            if isinstance(value, Held):
                chain = self.chain(frame, value, step.loc)
                levels += [[] for _ in range(len(chain) - len(levels))]
                for level, resident in zip(levels, chain, strict=False):
                    level.append(resident)
                view = _held_view(chain[-1], value.view) if chain else value.view
                arguments[name] = LeafTensor(view, chain[-1].dtype if chain else value.dtype)
            else:
                arguments[name] = value
        temporaries: list[Resident] = []

        def make_temporary(name: str, shape: tuple[Affine, ...], dtype: DType, loc: Loc) -> View:
            memory = instance.locals.get(name) or self.temporary_memory(instance)
            buffer = self.fresh(name)
            sizes = tuple(room(each, frame.ranges) for each in shape)
            where = self.place(instance.name, "locals", name)
            origin = Origin(f"`{name}` of `{task.function_name}` is kept in {memory}", where, loc)
            temporaries.append(Resident(buffer, dtype, memory, sizes, None, 0, origin))
            return View(buffer, memory, (ZERO,) * len(shape), shape)

        statements = read_leaf(task, arguments, make_temporary)
        dtypes = {
            each.view.buffer: each.dtype.name
            for each in arguments.values()
            if isinstance(each, LeafTensor)
        } | {each.buffer: each.dtype.name for each in temporaries}
        nodes: tuple[Node, ...] = tuple(
            Do(self.bound_statement(frame, instance, task, each, dtypes)) for each in statements
        )
        for level in (temporaries, *reversed(levels)):
            if level:
                nodes = (Placed(tuple(level), nodes),)
        return list(nodes)

    def chain(self, frame: _Frame, held: Held, python: Loc) -> list[Resident]:
        """The residents of an argument, each of which holds what the one before it holds."""
        chain: list[Resident] = []
        view = held.view
        for wish in held.wishes:
            if wish.memory != view.memory:
                chain.append(self.resident(frame, view, held.dtype, wish, python))
                view = _held_view(chain[-1], view)
        return chain

    def resident(
        self, frame: _Frame, view: View, dtype: DType, wish: Wish, python: Loc
    ) -> Resident:
        is_sum = view.buffer in self.sums and self.machine.mems[wish.memory].kind == "registers"
        because = f"`{wish.instance}` wants `{wish.parameter}` in {wish.memory}"
        return Resident(
            self.fresh(f"{wish.parameter}_{wish.memory.lower()}"),
            F32 if is_sum else dtype,
            wish.memory,
            tuple(room(extent, frame.ranges) for extent in view.shape),
            view,
            wish.pad,
            Origin(because, wish.loc, python),
        )

    def temporary_memory(self, instance: ResolvedInstance) -> str:
        """Where the intermediate results of leaves are: registers, or the first scratch memory."""
        visible = self.machine.memories_of(instance.proc)
        for kind in ("registers", "scratch", "global"):
            for name in visible:
                if self.machine.mems[name].kind == kind:
                    return name
        return visible[0]

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
            place = self.place(instance.name, "leaf_task_bindings", names[0]) if names else loc
            m, n = stmt.target.shape
            extents = {
                letter: room(extent, frame.ranges)
                for letter, extent in (("m", m), ("n", n), ("k", stmt.depth))
            }
            factors = dict.fromkeys(dtypes[view.buffer] for view in (stmt.left, stmt.right))
            primitive = choose_primitive(
                self.machine, stmt, extents, tuple(factors), bound, place, self.complaints
            )
            return replace(stmt, primitive=primitive, origin=replace(origin, yaml=place))
        return replace(stmt, origin=replace(origin, yaml=loc))


@frozen
class _Frame:
    """Where a step stands: its instance, what its names are bound to, what is known."""

    instance: ResolvedInstance
    task: Task
    bound: dict[str, Bound]
    tunables: Mapping[str, int]
    ranges: Ranges


def _held_view(resident: Resident, source: View) -> View:
    """What a resident holds, in the resident's own buffer."""
    zeros = (ZERO,) * source.rank
    return View(resident.buffer, resident.memory, zeros, tuple(source.shape))


def _numbered(name: str, most: int) -> Iterable[str]:
    return (f"{name}_{number}" for number in range(1, most))


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
