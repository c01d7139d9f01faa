"""Small logics and mappings that tests write, load and run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import eas
from eas import septran
from eas.septran.operators import Operator

RUNNABLE = ("cpu", "apple_gpu", "awesomedsa")
GRID = {"cpu": "BLOCK", "apple_gpu": "BLOCK", "awesomedsa": "CORE"}
HEAD = "from eas import mk\nfrom eas import task_lang as task\n\n"
HOST = """\
machine: {machine}
entrypoint: host
task_mappings:
  host: {{task_name: main, proc: HOST{rest}}}
"""
on_every_machine = pytest.mark.parametrize("machine", RUNNABLE)


def host(machine: str, rest: str = "") -> str:
    """A mapping of the task `main` alone; `rest` are more keys of its instance."""
    return HOST.format(machine=machine, rest=f", {rest}" if rest else "")


def make(folder: Path, logic: str, mapping: str, **options: Any) -> Operator:
    """The operator of two texts."""
    file, yaml = folder / "small_logic.py", folder / "small.map.yaml"
    file.write_text(HEAD + logic, "utf-8")
    yaml.write_text(mapping, "utf-8")
    return septran.load(file, yaml, **options)


def refusal(operator: Operator, *arrays: Any, **sizes: Any) -> eas.CompileError:
    """The error for arrays, or for sizes by name."""
    with pytest.raises(eas.CompileError) as caught:
        operator(*arrays) if arrays else operator.build(**sizes)
    return caught.value


def codes(error: eas.CompileError) -> list[str]:
    return [each.code for each in error.diagnostics]
