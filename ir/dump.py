"""The function after every pass, in files: `EAS_DUMP=folder`."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from eas.ir.nodes import Function
from eas.ir.text import print_function
from eas.support.cache import digest

_MOST_LETTERS = 40


def dump_folder() -> str | None:
    """The folder to dump to, None if nothing is dumped."""
    return os.environ.get("EAS_DUMP") or None


def dump(folder: str, function: Function, target: str, number: int, step: str) -> bool:
    """Writes a function's text to `folder/KERNEL-DIGEST/TARGET[-FORM]/NUMBER-STEP.ir`.

    A compile never fails because of it: what cannot be written is reported on stderr, and gives
    False.
    """
    path = Path(folder, _folder_name(function), target + _form(function), f"{number:02}-{step}.ir")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(print_function(function), encoding="utf-8", newline="\n")
    except OSError as error:
        reason = error.strerror or str(error)
        sys.stderr.write(f"eas: EAS_DUMP: {path} cannot be written: {reason}\n")
        return False
    return True


def _folder_name(function: Function) -> str:
    """A name that every file system takes, another one for each specialization of a kernel."""
    letters = re.sub(r"[^A-Za-z0-9_]", "_", function.name)[:_MOST_LETTERS]
    types = [f"{p.name}: {p.value.ty}" for p in function.params if p.role == "argument"]
    signature = [function.source.name, function.name, *types, *map(str, function.constants)]
    flags = (function.threads, function.fast_math)
    return f"{letters}-{digest(*signature, str(flags))[:8]}"


def _form(function: Function) -> str:
    """Which of the functions it is that a target makes of one specialization."""
    roles = [param.role for param in function.params]
    is_unit = roles.count("stride") < roles.count("extent")  # see `eas.ir.passes.strides`
    return "-unit-stride" * is_unit + "-checked" * function.checked
