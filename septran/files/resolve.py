"""From open choices to values: what can be tuned, what was chosen, and what must hold of it.

A `!tune` has a key: `gemm_host.block_m` for a tunable, `gemm_block.pipeline`, `gemm_block.threads`,
`gemm_block.mems.A`, `gemm_block.locals.t`, `gemm_block.calls.leaf`, `gemm_block.layout.A.pad`,
`gemm_block.leaf_task_bindings.gemm_leaf`, and `gemm_block` for a whole instance, which is chosen by
its position in the list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Mapping as MappingOf
from typing import Any, cast

from eas.septran.files import nodes
from eas.septran.files.complaints import Complaints, quoted, suggest
from eas.septran.files.conditions import complain, parse_conditions
from eas.septran.files.expressions import ExpressionError, holds, names_in
from eas.septran.files.mapping import Instance, InstanceChoice, open_values
from eas.septran.files.merge import Mapping, build
from eas.septran.files.nodes import Node, Scalar
from eas.septran.files.scalars import NumberTooLong, meaning_of
from eas.septran.files.tune_tags import AnyTune, BindingChoice, MemoryChoice
from eas.septran.files.writing import flow
from eas.support.location import Loc
from eas.support.records import frozen

Chosen = int | bool | str
Values = MappingOf[str, Chosen]


@frozen
class Tune:
    """An open choice of a mapping: its key, what it can be, and where it stands."""

    key: str
    path: tuple[str, ...]
    options: tuple[Chosen, ...]
    loc: Loc

    def has(self, value: object) -> bool:
        """Whether a value is an option; `1` is not `true`."""
        return any(type(each) is type(value) and each == value for each in self.options)


def tunes(mapping: Mapping) -> list[Tune]:
    """Every `!tune` that is not resolved yet, in the order of the instances."""
    found: list[Tune] = []
    for name, instance in mapping.task_mappings.items():
        at = ("task_mappings", name)
        if isinstance(instance, InstanceChoice):
            options = tuple(range(len(instance.values)))
            found.append(Tune(name, at, options, mapping.place(*at)))
            continue
        for path, tune in open_values(instance):
            inner = path[1:] if path[0] == "tunables" else path
            loc = mapping.place(*at, *path)
            options = _options(mapping, instance, tune)
            found.append(Tune(".".join((name, *inner)), (*at, *path), options, loc))
    return found


def _options(mapping: Mapping, instance: Instance, tune: AnyTune) -> tuple[Chosen, ...]:
    options = tune.options()
    if options is not None:
        return tuple(options)
    if isinstance(tune, MemoryChoice):
        machine = mapping.machine
        return tuple(machine.memories_of(instance.proc) if instance.proc else machine.mems)
    assert isinstance(tune, BindingChoice)
    return (*mapping.machine.primitive_names(), *mapping.primitives)


def parse_values(texts: Iterable[str]) -> dict[str, Chosen]:
    """`["gemm_host.block_m=64,gemm_block.mems.A=SHARED"]` as values; a `ValueError` if not."""
    values: dict[str, Chosen] = {}
    for text in (part for several in texts for part in several.split(",")):
        key, equals, written = text.partition("=")
        try:
            value = meaning_of(written.strip())
        except NumberTooLong:
            value = None
        if not equals or not isinstance(value, Chosen):
            raise ValueError(f"`{text}` does not choose a value, as `gemm_host.block_m=64` does")
        values[key.strip()] = value
    return values


def resolve(mapping: Mapping, values: Values) -> Mapping:
    """The mapping with some of its choices made."""
    complaints = Complaints()
    root = mapping.root
    for tune, value in _chosen(mapping, values, complaints):
        root = nodes.put(root, tune.path, _node(mapping, tune, value))
    complaints.raise_if_any()
    if root is mapping.root:
        return mapping
    return build(root, mapping.machine, mapping.documents, mapping.primitives, complaints)


def _chosen(
    mapping: Mapping, values: Values, complaints: Complaints
) -> Iterator[tuple[Tune, Chosen]]:
    known = {tune.key: tune for tune in tunes(mapping)}
    for key, value in values.items():
        tune = known.get(key)
        if tune is None:
            message = f"nothing called {quoted(key)} can be tuned"
            loc = mapping.key_place("task_mappings")
            none = ("the mapping has no `!tune`: change the value itself, or use an overlay",)
            help = suggest(key, known, "what can be is") if known else none
            complaints.add("S120", message, loc, help=help)
        elif not tune.has(value):
            message = f"{quoted(key)} cannot be {quoted(flow(value))}"
            help = suggest(str(value), map(str, tune.options), "it can be")
            complaints.add("S124", message, tune.loc, help=help)
        else:
            yield tune, value


def _node(mapping: Mapping, tune: Tune, value: Chosen) -> Node:
    """The value in the tree, at the place of the `!tune`."""
    if len(tune.path) == 2:
        chosen = nodes.find(mapping.root, [*tune.path, "values", cast(int, value)])
        assert chosen is not None
        return chosen
    return Scalar(value, tune.loc)


def resolved_texts(mapping: Mapping, values: Values) -> dict[str, str]:
    """The files of a mapping with `!tune` replaced by what was chosen, and nothing else changed."""
    complaints = Complaints()
    edits: dict[str, list[tuple[int, int, str]]] = {}
    chosen = list(_chosen(mapping, values, complaints))
    complaints.raise_if_any()
    texts = {document.path: document.text for document in mapping.documents}
    for tune, value in chosen:
        node = nodes.find(mapping.root, tune.path)
        assert node is not None
        text = texts[node.loc.source.path]
        start = text.offset(node.loc.line, node.loc.column)
        end = text.offset(node.loc.end_line, node.loc.end_column)
        written = flow(nodes.to_data(_node(mapping, tune, value)))
        written += _comment_after_tag(text.text[start:end])
        edits.setdefault(node.loc.source.path, []).append((start, end, written))
    return {path: _edited(text.text, edits.get(path, [])) for path, text in texts.items()}


def _comment_after_tag(text: str) -> str:
    """The comment that follows `!tune` on its line, if the choice itself begins below."""
    found = re.match(r"!tune([ \t]+#[^\r\n]*)[\r\n]", text)
    return found.group(1) if found else ""


def _edited(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    for start, end, written in sorted(edits, reverse=True):
        text = text[:start] + written + text[end:]
    return text


@frozen
class ResolvedInstance:
    """An instance of which nothing is open. `pads` has the tensors with a `layout`."""

    name: str
    task_name: str
    proc: str
    mems: dict[str, str]
    locals: dict[str, str]
    tunables: dict[str, int | bool]
    calls: dict[str, str]
    pipeline: int
    threads: int
    bindings: dict[str, str]
    pads: dict[str, int]

    @property
    def pipeline_path(self) -> tuple[str, ...]:
        """The keys that lead to the number of stages: the tunable says more than `pipeline`."""
        is_tunable = "pipeline_depth" in self.tunables
        return ("tunables", "pipeline_depth") if is_tunable else ("pipeline",)


def require_resolved(mapping: Mapping) -> dict[str, ResolvedInstance]:
    """The instances of a complete mapping by name; an error for each `!tune` that is left."""
    complaints = Complaints()
    for tune in tunes(mapping):
        example = f"{tune.key}={flow(tune.options[0])}" if tune.options else tune.key
        message = f"`{tune.key}` is not resolved"
        way = f"choose a value: `--tune {example}`, or let `septran tune` find one"
        complaints.add("S601", message, tune.loc, help=[way])
    complaints.raise_if_any()
    found: dict[str, ResolvedInstance] = {}
    for name, instance in mapping.task_mappings.items():
        assert isinstance(instance, Instance)
        found[name] = _resolved(mapping, name, instance)
    return found


def _resolved(mapping: Mapping, name: str, instance: Instance) -> ResolvedInstance:
    assert instance.task_name is not None and instance.proc is not None
    return ResolvedInstance(
        name,
        instance.task_name,
        instance.proc,
        cast(dict[str, str], instance.mems),
        cast(dict[str, str], instance.locals),
        cast(dict[str, int | bool], instance.tunables),
        cast(dict[str, str], instance.calls),
        _number(mapping, instance, "pipeline"),
        _number(mapping, instance, "threads"),
        cast(dict[str, str], instance.leaf_task_bindings),
        {tensor: cast(int, layout.pad) for tensor, layout in instance.layout.items()},
    )


def _number(mapping: Mapping, instance: Instance, key: str) -> int:
    """`pipeline` or `threads`; the tunable `pipeline_depth` says more than `pipeline` does."""
    if key == "pipeline":
        return cast(int, instance.tunables.get("pipeline_depth", instance.pipeline or 1))
    threads = instance.threads or mapping.machine.procs[instance.proc or ""].threads
    return cast(int, threads)


def check_constraints(mapping: Mapping, sizes: MappingOf[str, int]) -> None:
    """Raise an error for each constraint that is false for these sizes and values (S602)."""
    complaints = Complaints()
    values = {**sizes, **_values(mapping)}
    for scalar, term in parse_conditions(mapping.root, "constraints", complaints):
        unknown = [each for each in names_in(term) if each.name not in values]
        for named in unknown:
            message = f"{quoted(named.name)} has no value"
            help = suggest(named.name, values, "there are")
            complaints.add("S122", message, scalar.part(named.start, named.end), help=help)
        if unknown:
            continue
        try:
            is_true = holds(term, values.get)
        except ExpressionError as error:
            complain(scalar, error, "S121", complaints)
            continue
        if not is_true:
            used = dict.fromkeys(each.name for each in names_in(term))
            notes = [", ".join(f"{name} is {flow(values[name])}" for name in used)] if used else []
            complaints.add("S602", "this constraint is false", scalar.loc, notes=notes)
    complaints.raise_if_any()


def _values(mapping: Mapping) -> dict[str, int | bool]:
    """The numbers that constraints may name, as far as they are resolved."""
    found: dict[str, int | bool] = {}
    for name, instance in mapping.task_mappings.items():
        if isinstance(instance, Instance):
            numbers: dict[str, Any] = dict(instance.tunables)
            for key in ("pipeline", "threads"):
                if instance.proc is not None:
                    numbers[key] = _number(mapping, instance, key)
            found |= {f"{name}.{k}": v for k, v in numbers.items() if isinstance(v, int)}
    return found
