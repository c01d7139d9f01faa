"""Runs TVMScript with a Python that has TVM, in a process of its own.

The process compiles the text for a target, links it with the vendor's library and calls the
functions in order. Arrays go there and come back in files.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from eas.septran.flat.interpret import bind_shapes
from eas.septran.flat.nodes import Module
from eas.septran.targets.build import BuildError, compile_objects
from eas.septran.targets.codegen_dsa import allocations
from eas.septran.targets.library import Library
from eas.septran.targets.python_text import py_name
from eas.septran.targets.tvmscript import print_tvmscript

Array: TypeAlias = np.ndarray[Any, Any]
TvmTarget = Literal["llvm", "c"]

_SECONDS = 600.0
_PROGRAM = """
import importlib.util, json, sys
import numpy, tvm
given = json.load(open(sys.argv[1]))
spec = importlib.util.spec_from_file_location("kernels", given["text"])
kernels = importlib.util.module_from_spec(spec)
spec.loader.exec_module(kernels)
arrays = dict(numpy.load(given["arrays"]))
for number, (name, arguments) in enumerate(given["calls"]):
    path = given["folder"] + "/kernel%d.so" % number
    built = tvm.compile(getattr(kernels, name), target=given["target"])
    built.export_library(path, addons=given["objects"])
    tvm.runtime.load_module(path)[name](*[arrays[argument] for argument in arguments])
numpy.savez(given["results"], **arrays)
"""


def run_with_tvm(
    module: Module,
    library: Library,
    arrays: Sequence[Array],
    target: TvmTarget = "llvm",
    python: str = sys.executable,
) -> None:
    """Runs a module on arrays; those it writes are changed in place."""
    sizes = bind_shapes(module, [array.shape for array in arrays])
    named = {f"p_{p.name}": array for p, array in zip(module.params, arrays, strict=True)}
    for temp in module.temps:
        shape = tuple(extent.evaluate(sizes) for extent in temp.shape)
        named[f"p_{temp.name}"] = np.empty(shape, temp.dtype.numpy)
    calls: list[tuple[str, list[str]]] = []
    for kernel in module.kernels:
        arguments = [f"p_{param.name}" for param in kernel.params]
        if library.scratch == "parameter":
            for each in allocations(kernel):
                *rows, row = each.shape or (1,)
                slots = (each.slots,) if each.slots > 1 else ()
                arguments.append(f"s_{kernel.name}_{each.name}")
                named[arguments[-1]] = np.empty((*slots, *rows, row + each.pad), each.dtype.numpy)
        calls.append((py_name(kernel.name), arguments))
    with tempfile.TemporaryDirectory(prefix="septran") as name:
        results = _run(
            print_tvmscript(module, library), library, named, calls, target, python, name
        )
    for param, array in zip(module.params, arrays, strict=True):
        if param.privilege != "r":
            array[...] = results[f"p_{param.name}"]


def _run(
    text: str,
    library: Library,
    arrays: dict[str, Array],
    calls: list[tuple[str, list[str]]],
    target: TvmTarget,
    python: str,
    name: str,
) -> dict[str, Array]:
    folder = Path(name)
    (folder / "kernels.py").write_text(text, "utf-8")
    (folder / "program.py").write_text(_PROGRAM, "utf-8")
    np.savez(folder / "arrays.npz", allow_pickle=False, **arrays)
    given = {
        "text": str(folder / "kernels.py"),
        "arrays": str(folder / "arrays.npz"),
        "results": str(folder / "results.npz"),
        "objects": compile_objects(library, folder),
        "folder": name,
        "target": target,
        "calls": calls,
    }
    (folder / "given.json").write_text(json.dumps(given), "utf-8")
    done = subprocess.run(
        [python, str(folder / "program.py"), str(folder / "given.json")],
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise BuildError(done.stderr or f"TVM ended with {done.returncode}")
    with np.load(folder / "results.npz") as found:
        return dict(found)
