"""Random logics with random mappings, and the same in plain Python on NumPy's views.

A host task has loops over tiles; tasks of blocks have local tensors, loops, conditions, windows and
tasks of their own; leaves write in place. Tensors are passed twice, tiles overlap, and one tensor
is cut in several ways. Every line is drawn twice, as logic and as Python that shares nothing with
the compiler, nor with tasks that run at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import eas
from eas.septran.files import Machine
from eas.septran.files.writing import to_yaml
from eas.septran.flat.interpret import run_module
from eas.septran.flat.verify import find_violations
from eas.septran.operators import Operator, load
from eas.support.records import field, frozen, record

Array = np.ndarray[Any, Any]
Data = dict[str, Any]
Pair = tuple[str, str]  # a line or an expression of the logic, and of Python

HEAD = "from eas import mk\nfrom eas import task_lang as task\n"
PLAIN_HEAD = """
import numpy as np

class mk:
    maximum, exp, sum = np.maximum, np.exp, np.sum

    def max(x, axis):
        return x.max(axis=axis, initial=-np.inf)
"""
LEAVES = {
    "fill": ("Y", "Y[...] = 1.5"),
    "scale": ("Y, X", "Y[...] = X * 0.5 + 0.25"),
    "blend": ("Y, X", "Y[...] = Y * 0.5 + X"),
    "subtract": ("Y, X, Z", "Y[...] = X - Z * 0.5"),
    "largest": ("Y, X", "Y[...] = mk.maximum(Y, X - 1.0)"),
    "row_max": ("Y, X", "Y[...] = Y * 0.5 + mk.max(X - 3.0, axis=1)[:, None] * 0.5"),
    "row_sum": ("Y, X", "Y[...] = Y * 0.5 + mk.sum(mk.exp(X - 4.0), axis=1)[:, None] * 0.01"),
    "named": ("Y, X, Z", "t = X * 0.5", "Y[...] = Y * 0.5 + 1.0", "Z[...] = Z * 0.25 + t"),
    "two": ("Y, X, Z", "Y[...] = X * 0.5", "Z[...] = Z * 0.5 + Y"),
}


def parameters(leaf: str) -> list[str]:
    return LEAVES[leaf][0].split(", ")


@record
class Inner:
    """An inner task, whose tensors all have one shape."""

    name: str
    names: list[str]
    locals: list[str] = field(default_factory=list[str])
    tunables: dict[str, int] = field(default_factory=dict[str, int])
    cuts: dict[str, str] = field(default_factory=dict[str, str])
    calls: set[str] = field(default_factory=set[str])
    body: list[Pair] = field(default_factory=list[Pair])

    def texts(self) -> Pair:
        shapes = " ".join(f"{each}[M,N]" for each in self.names)
        define = f'@task.define(shapes="{shapes}")' if self.name == "main" else "@task.define"
        head = f"def {self.name}({', '.join(self.names)}):"
        first = self.names[0]
        logic = [f'{each} = task.tunable("{each}")' for each in self.tunables]
        logic += [f'{each} = task.local("{each}", {first}.shape)' for each in self.locals]
        logic += [f"{name} = task.partition({cut})" for name, cut in self.cuts.items()]
        plain = [f"{each} = {value}" for each, value in self.tunables.items()]
        plain += [f"{each} = np.full_like({first}, np.nan)" for each in self.locals]
        logic += [line for line, _ in self.body]
        plain += [line for _, line in self.body]
        return "\n    ".join([f"{define}\n{head}", *logic]), "\n    ".join([head, *plain])


def indented(body: Sequence[Pair]) -> list[Pair]:
    return [("    " + logic, "    " + plain) for logic, plain in body]


@record
class Drawer:
    """Draws a logic."""

    source: Random
    tasks: list[Inner] = field(default_factory=list[Inner])
    count: int = 0

    def host(self) -> None:
        host = Inner("main", ["A", "B", "C"])
        for _ in range(self.source.choice((1, 1, 2, 2, 3))):
            host.body += self.grid(host)
        self.tasks.append(host)

    def new(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def tunable(self, task: Inner) -> str:
        name = self.new("t")
        task.tunables[name] = self.source.choice((2, 3, 4, 4, 5, 8))
        return name

    def grid(self, host: Inner) -> list[Pair]:
        """A loop over tiles of all tensors."""
        rows, i, j = self.tunable(host), self.new("i"), self.new("j")
        columns = self.tunable(host) if self.source.random() < 0.6 else "A.shape[1]"
        tiles: list[Pair] = []
        for name in host.names:
            host.cuts[name + rows] = f'{name}, by="blocks", tile=({rows}, {columns})'
            part = f"{i} * {rows} : ({i} + 1) * {rows}, {j} * {columns} : ({j} + 1) * {columns}"
            tiles.append((f"{name}{rows}[{i}, {j}]", f"{name}[{part}]"))
        counts = f"range(-(-A.shape[0] // {rows}))", f"range(-(-A.shape[1] // {columns}))"
        launch = self.launch_task(host, tiles, 1)
        if self.source.random() < 0.75:
            head = f"for {i}, {j} in task.parallel_range(A{rows}.shape):"
            plain = f"for {i}, {j} in ((i, j) for i in {counts[0]} for j in {counts[1]}):"
            return [(head, plain), *indented([launch])]
        logics = [f"task.sequential_range(A{rows}.shape[{axis}])" for axis in (0, 1)]
        loops = [
            (f"for {name} in {logic}:", f"for {name} in {plain}:")
            for name, logic, plain in zip((i, j), logics, counts, strict=True)
        ]
        return [loops[0], *indented([loops[1], *indented([launch])])]

    def launch_task(self, task: Inner, parts: Sequence[Pair], depth: int) -> Pair:
        below = self.block(depth)
        return self.call(task, below.name, [self.source.choice(parts) for _ in below.names])

    def call(self, task: Inner, name: str, given: Sequence[Pair]) -> Pair:
        task.calls.add(name)
        logic, plain = (", ".join(texts) for texts in zip(*given, strict=True))
        return f"task.launch({name}, {logic})", f"{name}({plain})"

    def block(self, depth: int) -> Inner:
        task = Inner(self.new("block"), ["P", "Q", "R"][: self.source.choice((2, 3))])
        task.locals += ["L", "K"][: self.source.choice((0, 0, 1, 2))]
        given = [(name, name) for name in task.names]
        for name in task.locals:
            leaf = self.source.choice(("fill", "scale", "scale"))
            others = [self.source.choice(given) for _ in parameters(leaf)[1:]]
            task.body.append(self.call(task, leaf, [(name, name), *others]))
        every = [*given, *((name, name) for name in task.locals)]
        for _ in range(self.source.choice((1, 2, 2, 3))):
            draw = self.source.choice((self.plain, self.rows, self.rows, self.windows, self.repeat))
            task.body += draw(task, every, depth)
        self.tasks.append(task)
        return task

    def plain(self, task: Inner, every: list[Pair], depth: int) -> list[Pair]:
        return [self.leaf(task, every)]

    def leaf(self, task: Inner, parts: Sequence[Pair]) -> Pair:
        """A leaf on parts, of which two are often the same."""
        name = self.source.choice(list(LEAVES))
        count = len(parameters(name))
        is_mixed = count <= len(parts) and self.source.random() < 0.6
        given = (
            self.source.sample(parts, count) if is_mixed else self.source.choices(parts, k=count)
        )
        return self.call(task, name, given)

    def some(self, task: Inner, parts: list[Pair], variable: str, depth: int) -> list[Pair]:
        """What a loop does, some of it under a condition or in a task of its own."""
        body: list[Pair] = []
        for _ in range(self.source.choice((1, 2, 2, 3))):
            is_task = depth < 2 and self.source.random() < 0.25
            drawn = self.launch_task(task, parts, 2) if is_task else self.leaf(task, parts)
            if self.source.random() < 0.2:
                test = f"if {variable} {self.source.choice(('>', '==', '<='))} "
                test += f"{self.source.choice((0, 1, 2))}:"
                body += [(test, test), *indented([drawn])]
            else:
                body.append(drawn)
        return indented(body)

    def repeat(self, task: Inner, every: list[Pair], depth: int) -> list[Pair]:
        return self.loop(task, every, self.new("s"), self.source.choice((1, 2, 3)), depth)

    def loop(
        self, task: Inner, parts: list[Pair], variable: str, count: int, depth: int
    ) -> list[Pair]:
        head = f"for {variable} in task.sequential_range({count}):"
        plain = f"for {variable} in range({count}):"
        return [(head, plain), *self.some(task, parts, variable, depth)]

    def rows(self, task: Inner, every: list[Pair], depth: int) -> list[Pair]:
        """A loop over tiles of rows."""
        tile, p = self.tunable(task), self.new("p")
        for name, _ in every:
            task.cuts[name + tile] = f'{name}, by="rows", tile={tile}'
        parts = [
            (f"{name}{tile}[{p}, 0]", f"{name}[{p} * {tile} : ({p} + 1) * {tile}]")
            for name, _ in every
        ]
        kind = self.source.choice(("sequential", "sequential", "parallel"))
        head = f"for {p} in task.{kind}_range(P{tile}.shape[0]):"
        plain = f"for {p} in range(-(-len(P) // {tile})):"
        return [(head, plain), *self.some(task, parts, p, depth)]

    def windows(self, task: Inner, every: list[Pair], depth: int) -> list[Pair]:
        """A loop over windows of columns that overlap."""
        w, count = self.new("w"), self.source.choice((1, 2))
        texts = [
            f"{name}[:, {start} : {start} + {name}.shape[1] - {count - 1}]"
            for name, _ in every
            for start in (w, w, "0")
        ]
        return self.loop(task, [(text, text) for text in texts], w, count, depth)


@frozen(eq=False)
class Drawn:
    """A logic, the same in Python, and its inner tasks."""

    logic: str
    plain: str
    tasks: list[Inner]

    def expected(self, arrays: Sequence[Array]) -> list[Array]:
        wide = [array.astype("f8") for array in arrays]
        names: Data = {}
        exec(self.plain, names)
        names["main"](*wide)
        return wide


def draw_logic(source: Random) -> Drawn:
    drawer = Drawer(source)
    drawer.host()
    logic, plain = [HEAD], [PLAIN_HEAD]
    for name, (given, *body) in LEAVES.items():
        text = "\n    ".join([f"def {name}({given}):", *body])
        logic.append(f"@task.define(leaf=True)\n{text}")
        plain.append(text)
    for task in drawer.tasks:
        for texts, text in zip((logic, plain), task.texts(), strict=True):
            texts.append(text)
    return Drawn("\n\n\n".join(logic) + "\n", "\n\n\n".join(plain) + "\n", drawer.tasks)


def draw_mapping(drawn: Drawn, machine: Machine, source: Random) -> Data:
    """A mapping in which memories, stages and instances of leaves are random."""
    instances: Data = {}
    for task in drawn.tasks:
        is_host = task.name == "main"
        proc = next(iter(machine.procs)) if is_host else machine.grid
        own: Data = {"task_name": task.name, "proc": proc, "tunables": task.tunables}
        own["calls"] = {each: each for each in sorted(task.calls) if each not in LEAVES}
        visible = machine.memories_of(proc)
        if not is_host:
            own["mems"] = {n: source.choice(visible) for n in task.names if source.random() < 0.6}
            own["locals"] = {name: source.choice(visible) for name in task.locals}
            own["pipeline"] = source.choice((1, 1, 1, 1, 1, 1, 2, 3))
        for name in sorted(task.calls & LEAVES.keys()):
            if source.random() < 0.3:
                own["calls"][name] = label = f"{task.name}_{name}"
                placed = [each for each in parameters(name) if source.random() < 0.5]
                mems = {each: source.choice(visible) for each in placed}
                instances[label] = {"task_name": name, "proc": proc, "mems": mems}
        instances[task.name] = own
    return {"machine": machine.name, "entrypoint": "main", "task_mappings": instances}


def write(folder: Path, drawn: Drawn, mapping: Data) -> Operator:
    logic, yaml = folder / "random_logic.py", folder / "random.map.yaml"
    logic.write_text(drawn.logic, "utf-8")
    yaml.write_text(to_yaml(mapping), "utf-8")
    return load(logic, yaml)


def make_arrays(source: Random) -> list[Array]:
    shape = source.choice((1, 2, 4, 5, 7, 8, 12)), source.choice((1, 2, 3, 4, 7, 8, 9, 16))
    numbers = np.random.default_rng(source.randrange(1 << 30))
    return [numbers.standard_normal(shape).astype("f4") for _ in range(3)]


def try_logic(operator: Operator, arrays: list[Array], expected: list[Array], runs: bool) -> str:
    """A code if the mapping is refused; else nothing: then its result is that of NumPy."""
    try:
        given = [array.copy() for array in arrays]
        lowered = operator.build_flat(*given)
        assert find_violations(lowered.module, lowered.machine) == []
        run_module(lowered.module, given, machine=lowered.machine)
        check(given, expected, "the flat module")
        if runs:
            given = [array.copy() for array in arrays]
            operator(*given)
            check(given, expected, operator.target)
    except eas.CompileError as error:
        assert "driver" not in str(error), error
        return error.diagnostics[0].code
    return ""


def check(found: list[Array], expected: list[Array], what: str) -> None:
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        assert np.allclose(one, other, rtol=1e-4, atol=1e-4), f"{what}: argument {number} is wrong"
