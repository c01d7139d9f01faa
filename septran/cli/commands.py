"""What the commands print."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import eas
from eas.septran.cli.arguments import Arguments, headline, make_arguments
from eas.septran.cli.failures import NothingFound, WrongResult
from eas.septran.cli.outputs import inputs_of, refuse_input, write_file
from eas.septran.files import grouped, load_machine, parse_values
from eas.septran.files.writing import to_yaml
from eas.septran.flat.run_errors import FlatRunError
from eas.septran.logic.loading import load_logic
from eas.septran.operators import Operator, load
from eas.septran.targets.library import TargetError
from eas.support.command_line import UsageError
from eas.support.interruptions import Interruptions

if TYPE_CHECKING:
    from eas.septran.picture import Contents

Array = np.ndarray[Any, Any]

# What can go wrong besides errors in files: no compiler, no memory, a target that cannot.
FAILURES = (
    FlatRunError,
    TargetError,
    NothingFound,
    WrongResult,
    MemoryError,
    eas.BackendError,
    eas.KernelError,
    eas.LaunchError,
)


def run(parsed: argparse.Namespace, interrupted: Interruptions) -> str:
    """The text that a command prints. `interrupted` are the signals that may end it."""
    if parsed.command == "schema":
        return _schema(parsed.kind)
    if parsed.command in ("emit", "init-mapping", "picture") and parsed.output is not None:
        refuse_input(parsed.output, inputs_of(parsed))
    if parsed.command == "init-mapping":
        return _deliver(_first_mapping(parsed), parsed.output)
    if parsed.command in ("sweep", "replay"):
        from eas.septran.cli import sweeping

        return sweeping.sweep(parsed) if parsed.command == "sweep" else sweeping.replay(parsed)
    if parsed.command == "tune":
        from eas.septran.cli import tuning

        return tuning.tune(parsed, interrupted)
    if parsed.command == "picture":
        return _picture(parsed)
    operator = _load(parsed, parsed.mappings)
    arguments = make_arguments(operator, parsed.shape, parsed.dtype)
    match parsed.command:
        case "check":
            return _check(operator, arguments)
        case "run":
            from eas.septran.cli.trial import try_out

            return try_out(operator, arguments)
        case "explain":
            note = f"\n{arguments.note}" if arguments.note else ""
            return str(operator.explain(*arguments.arrays)) + note
        case _:
            return _emit(operator, arguments, parsed.text, parsed.output)


def _picture(parsed: argparse.Namespace) -> str:
    from eas.septran.picture import make_page

    pictures: list[Contents] = []
    notes: dict[str, None] = {}
    for paths in grouped(parsed.mappings):
        operator = _load(parsed, paths)
        arguments = make_arguments(operator, parsed.shape, parsed.dtype)
        pictures.append(operator.picture(*arguments.arrays))
        notes |= {arguments.note: None} if arguments.note else {}
    return "\n".join([_deliver(make_page(pictures), parsed.output), *notes])


def _load(parsed: argparse.Namespace, mappings: Sequence[str]) -> Operator:
    try:
        tune = parse_values(parsed.tune)
    except ValueError as error:
        raise UsageError(str(error)) from error
    operator = load(
        parsed.logic,
        mappings,
        machine=parsed.machine,
        primitives=parsed.primitives,
        tune=tune,
    )
    if operator.mapping.entrypoint is None:
        raise UsageError("the mapping has no `entrypoint`: give the mapping that it changes first")
    return operator


def _check(operator: Operator, arguments: Arguments) -> str:
    lowered = operator.check(*arguments.arrays)
    kernels = len(lowered.module.kernels)
    count = f"{kernels} kernel{'' if kernels == 1 else 's'}"
    return f"{headline(operator, arguments)}\nno mistakes; {count}"


def _emit(operator: Operator, arguments: Arguments, kind: str, output: str | None) -> str:
    try:
        text = operator.emit(kind, *arguments.arrays)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if arguments.note:
        print(f"septran: {arguments.note}", file=sys.stderr)
    return _deliver(text, output)


def _deliver(text: str, output: str | None) -> str:
    """What is printed: a text, or that it was written to a file."""
    return text if output is None else write_file(output, text.rstrip("\n") + "\n")


def _first_mapping(parsed: argparse.Namespace) -> str:
    from eas.septran.cli.entries import check_entry
    from eas.septran.lowering.skeleton import make_skeleton

    logic, entry = parsed.logic, parsed.entry
    machine, tasks = load_machine(parsed.machine, [Path(logic).parent]), load_logic(logic).tasks
    check_entry(logic, tasks, entry)
    try:
        return to_yaml(make_skeleton(tasks, machine, [entry] if entry else ()))
    except ValueError as error:
        raise UsageError(f"{logic} has no task to start with: {error}") from error


def _schema(kind: str | None) -> str:
    from eas.septran.files.schema import FOLDER, MODELS, schema_text

    if kind is None:
        return "\n".join(f"{name}: {FOLDER / name}.json" for name in MODELS)
    if kind not in MODELS:
        raise UsageError(f"there is no schema `{kind}`; there is {', '.join(MODELS)}")
    return schema_text(kind)
