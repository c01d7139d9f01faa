"""C for another processor: a program that an emulator runs, with arrays through pipes."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np

from eas.septran.flat.nodes import Module
from eas.septran.targets.c_text import c_name
from eas.septran.targets.codegen_dsa import print_c, scratch_parameters
from eas.septran.targets.library import COUNTERS, NATIVE, Emulator, Library, TargetError
from eas.septran.targets.needs import folder_of, require
from eas.septran.targets.scratch import prepared
from eas.support.cache import digest, open_cache

Array: TypeAlias = np.ndarray[Any, Any]

_FLAGS = ("-std=c11", "-O2", "-static", "-fwrapv", "-ffp-contract=off", "-fno-math-errno", "-w")
_BUILD_SECONDS = 900.0  # the first time, zig builds a C library
_RUN_SECONDS = 600.0

# Reads the arrays and the sizes, calls the kernel, writes the arrays and counts of calls back.
_MAIN = """
#include <stdio.h>
#include <stdlib.h>

extern const char *const {counters}_names[] __attribute__((weak));
extern int64_t {counters}_counts[] __attribute__((weak));

static void get(void *target, size_t bytes) {{
    if (bytes && fread(target, 1, bytes, stdin) != bytes)
        exit(3);
}}

int main(void) {{
    void *arrays[{arrays} + 1];
    int64_t bytes[{arrays} + 1], sizes[{sizes} + 1];
    for (int number = 0; number < {arrays}; ++number) {{
        get(&bytes[number], sizeof bytes[number]);
        arrays[number] = aligned_alloc(64, (bytes[number] / 64 + 1) * 64);
        if (!arrays[number])
            return 4;
        get(arrays[number], bytes[number]);
    }}
    get(sizes, {sizes} * sizeof sizes[0]);
    {entry}({given});
    for (int number = 0; number < {written}; ++number)
        fwrite(arrays[number], 1, bytes[number], stdout);
    for (int number = 0; {counters}_names && {counters}_names[number]; ++number)
        fprintf(stderr, "%s %lld\\n", {counters}_names[number],
                (long long){counters}_counts[number]);
    return fflush(stdout) != 0;
}}
"""


class EmulatedProgram:
    """A module that was compiled for another processor: each call runs a process."""

    def __init__(self, module: Module, library: Library) -> None:
        assert library.emulator is not None
        self.module = module
        self.library = library
        self.text = print_c(module, library)
        self._emulator = library.emulator
        require(library)
        self._program = _compiled(self.text + _main(module, library), library, library.emulator)
        self._counts: dict[str, int] = {}

    def __call__(self, *arrays: Array) -> None:
        """Runs on arrays, one for each parameter; those it writes are changed in place."""
        given, scratch, sizes = prepared(self.module, self.library, arrays)
        parts: list[bytes] = []
        for array in (*given, *scratch):
            parts += [np.int64(array.nbytes).tobytes(), array.tobytes()]
        parts += [np.int64(size).tobytes() for size in sizes]
        output = self._run(b"".join(parts))
        for param, array, used in zip(self.module.params, arrays, given, strict=True):
            data, output = output[: used.nbytes], output[used.nbytes :]
            if param.privilege != "r":
                array[...] = np.frombuffer(data, used.dtype).reshape(used.shape)

    def call_counts(self) -> dict[str, int]:
        """How often each function of the library was called in the last run."""
        return self._counts

    def _run(self, data: bytes) -> bytes:
        with TemporaryDirectory(prefix="septran") as folder:
            path = Path(folder) / "program"
            path.write_bytes(self._program)
            path.chmod(0o700)
            command = [*self._emulator.command, str(path)]
            done = _execute(command, data, _RUN_SECONDS)
        lines = done.stderr.decode(errors="replace").splitlines()
        if done.returncode != 0:
            said = lines[-1] if lines else f"it ended with {done.returncode}"
            raise TargetError(f"`{command[0]}` did not run the program: {said}")
        counted = [line.split() for line in lines]
        self._counts = {words[0]: int(words[1]) for words in counted if len(words) == 2}
        return done.stdout


def _main(module: Module, library: Library) -> str:
    scratch = sum(len(scratch_parameters(kernel, library)) for kernel in module.kernels)
    arrays = len(module.params) + len(module.temps) + scratch
    given = [f"arrays[{number}]" for number in range(arrays)]
    given += [f"sizes[{number}]" for number in range(len(module.sizes))]
    return _MAIN.format(
        arrays=arrays,
        sizes=len(module.sizes),
        written=len(module.params),
        entry=c_name(module.name),
        given=", ".join(given),
        counters=COUNTERS,
    )


def _compiled(text: str, library: Library, emulator: Emulator) -> bytes:
    """The program, from the cache if it is there."""
    folders = (NATIVE, *library.folders)
    headers = [header for folder in folders for header in sorted(folder.glob("*.h"))]
    contents = [path.read_bytes() for path in (*library.sources, *headers)]
    flags = [*_FLAGS, *emulator.flags, *(f"-I{folder}" for folder in folders)]
    key = digest(text, "emulated", emulator.target, " ".join(flags), *contents)
    cache = open_cache()
    found = cache.read(key)
    if found is None:
        found = _compile(text, library, emulator, flags)
        cache.store(key, found)
    return found


def _compile(text: str, library: Library, emulator: Emulator, flags: Sequence[str]) -> bytes:
    zig = folder_of("ziglang")
    assert zig is not None, "the machine needs it"
    with TemporaryDirectory(prefix="septran") as folder:
        kernel, program = Path(folder) / "kernel.c", Path(folder) / "program"
        kernel.write_text(text, "utf-8")
        sources = [str(kernel), *map(str, library.sources)]
        command = [str(zig / "zig"), "cc", "-target", emulator.target, *flags, *sources]
        done = _execute([*command, "-o", str(program)], b"", _BUILD_SECONDS)
        if done.returncode != 0:
            raise TargetError(done.stderr.decode(errors="replace"))
        return program.read_bytes()


def _execute(
    command: Sequence[str], data: bytes, seconds: float
) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            command, input=data, capture_output=True, timeout=seconds, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TargetError(f"`{command[0]}` cannot be run: {error}") from error
