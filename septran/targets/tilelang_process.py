"""Lowers TileLang's text with a Python that has TileLang, in a process of its own.

Nothing runs: TileLang places threads, layouts and barriers, and writes the source of a kernel for a
target. That it can is what is checked.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from eas.septran.targets.build import BuildError
from eas.support.records import frozen

TileLangTarget = Literal["metal", "sm_80", "sm_90"]
TARGETS: tuple[TileLangTarget, ...] = ("metal", "sm_80", "sm_90")

_SECONDS = 1200.0
_PROGRAM = """
import importlib.util, json, sys
import tilelang
from tilelang import tvm

def lower(path, target):
    kind = target if target == "metal" else {"kind": "cuda", "arch": target}
    with tvm.target.Target(kind) as chosen:
        spec = importlib.util.spec_from_file_location("kernels", path)
        kernels = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(kernels)
        functions = [f for f in vars(kernels).values() if type(f).__name__ == "PrimFunc"]
        if not functions:
            raise ValueError("the text has no kernel")
        sources = [tilelang.lower(each, target=chosen).kernel_source for each in functions]
        if not all(sources):
            raise ValueError("TileLang has written nothing")
        return "\\n".join(sources)

given = json.load(open(sys.argv[1]))
found = {}
for name, path in given["texts"].items():
    for target in given["targets"]:
        try:
            found[name + " " + target] = lower(path, target), ""
        except BaseException as error:
            found[name + " " + target] = "", type(error).__name__ + ": " + str(error)
json.dump(found, open(sys.argv[2], "w"))
"""


@frozen
class TileLangSource:
    """The source of a text's kernels for a target; where there is none, the reason why."""

    source: str
    reason: str = ""


def lower_with_tilelang(
    texts: Mapping[str, str], python: str, targets: Sequence[TileLangTarget] = TARGETS
) -> dict[tuple[str, TileLangTarget], TileLangSource]:
    """For each text, by its name, and each target the source, or why there is none.

    lower_with_tilelang({"gemm": operator.emit("tilelang", M=128, N=128, K=64)}, "venv/bin/python")
    """
    with tempfile.TemporaryDirectory(prefix="septran") as name:
        folder = Path(name)
        paths: dict[str, str] = {}
        for number, (key, text) in enumerate(texts.items()):
            path = folder / f"kernels_{number}.py"
            path.write_text(text, "utf-8")
            paths[key] = str(path)
        (folder / "program.py").write_text(_PROGRAM, "utf-8")
        given = json.dumps({"texts": paths, "targets": list(targets)})
        (folder / "given.json").write_text(given, "utf-8")
        done = subprocess.run(
            [python, *(str(folder / each) for each in ("program.py", "given.json", "found.json"))],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        if done.returncode != 0:
            raise BuildError(done.stderr or f"TileLang ended with {done.returncode}")
        found = json.loads((folder / "found.json").read_text("utf-8"))
    return {
        (key, target): TileLangSource(*found[f"{key} {target}"])
        for key in texts
        for target in targets
    }
