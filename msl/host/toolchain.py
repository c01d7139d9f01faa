"""The compiler: clang from the `ziglang` wheel, or a clang on the path."""

from __future__ import annotations

import platform
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from eas.msl.host.errors import HostError
from eas.support.records import frozen

HERE = Path(__file__).parent
INCLUDE = HERE / "include"
NATIVE = HERE / "native"
LEAST_CLANG = 19
SECONDS = 120.0

FLAGS = (
    "-std=c++17", "-nostdinc", "-nostdinc++", "-fPIC", "-O1", "-fno-exceptions",
    "-fno-rtti", "-fno-stack-protector", "-fstack-clash-protection", "-fno-strict-aliasing",
    "-fwrapv", "-fno-math-errno", "-ffp-contract=off", "-fsigned-char", "-fdeclspec",
    "-Xclang", "-cl-single-precision-constant",
    "-Wno-unknown-pragmas", "-Wno-unknown-attributes", "-Wno-duplicate-decl-specifier",
    "-isystem", str(INCLUDE),
)  # fmt: skip


# A header is precompiled, and does not depend on when its file was written.
PRECOMPILED = ("-Xclang", "-emit-pch", "-Xclang", "-fno-pch-timestamp")


@frozen
class Toolchain:
    """How to call the compiler and the linker. `version` identifies the compiler."""

    compiler: tuple[str, ...]
    linker: tuple[str, ...]
    target: tuple[str, ...]
    version: str

    def compile_command(self, flags: Sequence[str], output: str) -> list[str]:
        """Compiles what comes through the standard input."""
        return [*self._command("c++", flags), "-c", "-", "-o", output]

    def precompile_command(self, flags: Sequence[str]) -> list[str]:
        """Compiles a header that comes through the standard input; its output is left open."""
        return [*self._command("c++-header", flags), *PRECOMPILED, "-"]

    def _command(self, language: str, flags: Sequence[str]) -> list[str]:
        return [*self.compiler, *self.target, "-x", language, *FLAGS, *flags]

    def link_command(self, objects: Sequence[str], output: str) -> list[str]:
        return [*self.linker, *objects, "-o", output]


@cache
def find_toolchain() -> Toolchain:
    """The compiler of this machine; raises `HostError` if there is none that will do."""
    if sys.platform not in ("linux", "darwin"):
        raise HostError(f"kernels run on Linux and macOS only, not on `{sys.platform}`")
    zig = _find_zig()
    if zig is not None:
        return zig
    for name in ("clang", *(f"clang-{n}" for n in range(30, LEAST_CLANG - 1, -1))):
        clang = _try_clang(name)
        if clang is not None:
            return clang
    raise HostError(
        "the backend `msl-host` compiles kernels with clang, and there is none: "
        "`pip install 'easy_as[host]'` brings one along"
    )


def _find_zig() -> Toolchain | None:
    spec = find_spec("ziglang")
    if spec is None or spec.origin is None:
        return None
    zig = Path(spec.origin).parent / "zig"
    if not zig.exists():
        return None
    linker = (str(zig), "ld.lld", "-shared", "--gc-sections")
    if sys.platform == "darwin":
        linker = (str(zig), "cc", "-shared", "-nostdlib", "-Wl,-undefined,dynamic_lookup")
    stat = zig.stat()
    version = f"zig {stat.st_size} {stat.st_mtime_ns}"
    return Toolchain((str(zig), "clang"), linker, _target(), version)


def _try_clang(name: str) -> Toolchain | None:
    path = shutil.which(name)
    if path is None:
        return None
    version = run_tool([path, "--version"]).splitlines()[0]
    match = re.search(r"clang version (\d+)", version)
    if match is None or int(match[1]) < LEAST_CLANG:
        return None
    undefined = ("-Wl,-undefined,dynamic_lookup",) if sys.platform == "darwin" else ()
    return Toolchain((path,), (path, "-shared", "-nostdlib", *undefined), _target(), version)


def _target() -> tuple[str, ...]:
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(
        platform.machine().lower(), platform.machine().lower()
    )
    if machine not in ("x86_64", "aarch64"):
        raise HostError(f"kernels run on x86-64 and aarch64 only, not on `{machine}`")
    system = "macos" if sys.platform == "darwin" else "linux-gnu"
    return (f"--target={machine}-{system}", *features(machine))


def features(machine: str) -> tuple[str, ...]:
    """Flags for `half` and `bfloat`: each operation is rounded, in hardware where there is some."""
    exact = ("-Xclang", "-fbfloat16-excess-precision=none")
    if machine != "x86_64":
        return exact
    exact = (*exact, "-Xclang", "-ffloat16-excess-precision=none")
    return ("-march=x86-64-v3", *exact) if _has_avx2() else exact


def _has_avx2() -> bool:
    try:
        words = Path("/proc/cpuinfo").read_text("utf-8", "replace").split()
    except OSError:
        return False
    return {"avx2", "f16c", "fma", "bmi2", "movbe"} <= set(words)


def run_tool(command: Sequence[str], text: str = "") -> str:
    """Runs a compiler or linker and gives its output; raises `ToolFailure` with its complaints.

    That it could not write its file, of which some die, is an `OSError`.
    """
    done = _run(command, text)
    if done.returncode < 0:
        raise OSError(f"`{_tool(command)}` was stopped by {_signal_name(-done.returncode)}")
    if done.returncode != 0:
        trouble = _NO_PLACE.search(done.stderr)
        if trouble is not None:
            raise OSError(f"`{_tool(command)}` says: {trouble[0]}")
        raise ToolFailure(done.stderr or f"it ended with {done.returncode}")
    return done.stdout


def _tool(command: Sequence[str]) -> str:
    """The name of a tool: zig has several under one roof."""
    return command[1] if command[1][:1].isalpha() else Path(command[0]).name


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


# What clang and its linker say about their own files, never about a text.
_NO_PLACE = re.compile(
    r"No space left on device|File too large|unable to open output file.*|Read-only file system"
    r"|cannot open output file.*|Disk quota exceeded"
)


def complain(command: Sequence[str], text: str) -> str:
    """What a compiler says about a text, errors and warnings."""
    done = _run(command, text)
    return done.stderr or (f"error: it ended with {done.returncode}" if done.returncode else "")


def _run(command: Sequence[str], text: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise HostError(f"`{command[0]}` took more than {SECONDS:.0f} seconds") from None
    except OSError as error:
        raise HostError(f"`{command[0]}` cannot be run: {error}") from error


class ToolFailure(Exception):
    """What a compiler or linker says against its input."""
