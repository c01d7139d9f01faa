"""C with AVX2 intrinsics on all cores: what the machine can do."""

from __future__ import annotations

import ctypes
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.peers import THREADS

_SOURCE = Path(__file__).with_name("by_hand.c")
_FLAGS = ("-O3", "-march=x86-64-v3", "-ffp-contract=off", "-ffreestanding", "-fPIC")


def _compilers() -> list[tuple[list[str], list[str]]]:
    """Commands that compile and that link: of the system, or of the `ziglang` wheel."""
    names = [name for name in ("gcc", "cc", "clang") if shutil.which(name)]
    found = [([name], [name, "-shared", "-nostdlib"]) for name in names]
    spec = find_spec("ziglang")
    if spec is not None and spec.origin is not None:
        folder = Path(spec.origin).parent
        headers = ["-isystem", str(folder / "lib" / "include")]
        zig = str(folder / "zig")
        found.append(([zig, "clang", *headers], [zig, "ld.lld", "-shared"]))
    return found


def _load() -> ctypes.CDLL:
    if platform.machine().lower() not in ("x86_64", "amd64"):
        raise OSError("it is for x86-64")
    why = "there is no C compiler"
    with tempfile.TemporaryDirectory() as folder:
        made, library = Path(folder) / "by_hand.o", Path(folder) / "by_hand.so"
        for compile_, link in _compilers():
            try:
                _run([*compile_, *_FLAGS, "-c", str(_SOURCE), "-o", str(made)])
                _run([*link, str(made), "-o", str(library)])
            except (OSError, subprocess.CalledProcessError) as error:
                why = f"it does not compile: {error}"
                continue
            return ctypes.CDLL(str(library))
    raise OSError(why)


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True)


_library = _load()
_pool = ThreadPoolExecutor(max(THREADS - 1, 1))


def _in_parts(work: Callable[..., object], count: int, part: int, *arguments: Any) -> None:
    """Calls `work` for all parts of a range, on all cores; the C calls run in parallel."""
    if count <= part:
        work(*arguments, ctypes.c_long(0), ctypes.c_long(count))
        return
    starts = iter(range(0, count, part))

    def take() -> None:
        for start in starts:
            stop = min(start + part, count)
            work(*arguments, ctypes.c_long(start), ctypes.c_long(stop))

    helpers = [_pool.submit(take) for _ in range(THREADS - 1)]
    take()
    for helper in helpers:
        helper.result()


def _at(array: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def add(a: Any, b: Any, c: Any) -> None:
    _in_parts(_library.add, len(a), 1 << 20, _at(a), _at(b), _at(c))


def saxpy(x: Any, y: Any) -> None:
    _in_parts(_library.saxpy, len(x), 1 << 20, _at(x), _at(y))


def mandelbrot(out: Any, width: int, height: int, limit: int) -> None:
    sizes = [ctypes.c_int(number) for number in (width, height, limit)]
    _in_parts(_library.mandelbrot, height, 16, _at(out), *sizes)
