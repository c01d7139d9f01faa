"""Tries easy_as on the Mac at hand and writes a report that can be pasted into an issue.

    uv run python -m scripts.on_a_mac                  # writes on_a_mac.md
    uv run python -m scripts.on_a_mac --output -       # or prints it

Every reviewed text in `snapshots/kernels` is compiled by Metal, and by Xcode's `metal` if that is
there; then the tests that any GPU must pass run on this one.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eas.runtime import metal

REPOSITORY = Path(__file__).parent.parent
SNAPSHOTS = REPOSITORY / "snapshots" / "kernels"
SUITE = ("tests/metal", "tests/frontend", "tests/ops", "tests/host/test_three_ways.py")
ON_DEVICE = {"EAS_BACKEND": "metal", "EAS_TEST_METAL": "device"}
PACKAGES = ("easy_as", "pyobjc-core", "pyobjc-framework-Metal", "numpy")
MOST_LINES = 200

# Compiles a text; gives what speaks against it, or nothing.
Compiler = Callable[[metal.Program], str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the report: 0 if all went well, 1 if something failed, 2 without Metal."""
    parser = argparse.ArgumentParser(prog="python -m scripts.on_a_mac")
    parser.add_argument("--output", default="on_a_mac.md", help="a file, or - to print it")
    output: str = parser.parse_args(arguments).output
    why = metal.missing()
    if why:
        print(f"there is nothing to try here: {why}", file=sys.stderr)
        return 2
    device = metal.default_device()
    texts = compile_snapshots(device)
    suite = run_tests(SUITE, ON_DEVICE)
    text = report(device, texts, suite)
    if output == "-":
        print(text)
    else:
        Path(output).write_text(text, "utf-8")
        print(f"wrote {output}; please paste it into an issue")
    return 0 if suite.is_passed and all(not each.complaints for each in texts) else 1


# --- texts ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Compiled:
    """What a compiler says against the texts that it refuses, by their names."""

    compiler: str
    count: int
    complaints: dict[str, str]


def compile_snapshots(device: metal.Device, files: Sequence[Path] = ()) -> list[Compiled]:
    """Compiles the reviewed texts with every compiler that is there."""
    files = files or sorted(SNAPSHOTS.glob("*.metal"))
    compilers: dict[str, Compiler] = {device.name: lambda program: compile_on(device, program)}
    version = xcode_version()
    if version:
        compilers[f"Xcode's {version}"] = compile_with_xcode
    results: list[Compiled] = []
    for name, compiler in compilers.items():
        told = {file.stem: compiler(read_program(file)) for file in files}
        results.append(Compiled(name, len(files), {n: text for n, text in told.items() if text}))
    return results


def read_program(file: Path) -> metal.Program:
    """A text, with the kernel and the version of the language that its head names."""
    text = file.read_text("utf-8")
    kernel = re.search(r"^kernel void (\w+)\(", text, re.MULTILINE)
    version = re.search(r"· Metal (\d+)\.(\d+)$", text, re.MULTILINE)
    if kernel is None or version is None:
        raise ValueError(f"{file} has no kernel, or does not say which Metal it is written in")
    return metal.Program(text, kernel[1], (int(version[1]), int(version[2])))


def compile_on(device: metal.Device, program: metal.Program) -> str:
    try:
        device.pipeline(program)
    except metal.MetalError as error:
        return error.message
    return ""


def xcode_version() -> str:
    """Which `metal` Xcode has; nothing if there is none."""
    try:
        done = _call(["xcrun", "-sdk", "macosx", "metal", "--version"])
    except FileNotFoundError:
        return ""
    return done.stdout.partition("\n")[0] if done.returncode == 0 else ""


def compile_with_xcode(program: metal.Program) -> str:
    major, minor = program.version
    standard = f"metal{major}.{minor}" if major >= 3 else f"macos-metal{major}.{minor}"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"{program.kernel}.metal")
        file.write_text(program.text, "utf-8")
        command = ["xcrun", "-sdk", "macosx", "metal", f"-std={standard}", "-fno-fast-math"]
        done = _call([*command, "-Werror", "-c", str(file), "-o", f"{folder}/kernel.air"])
    return done.stderr.strip() or f"it ended with {done.returncode}" if done.returncode else ""


def _call(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


# --- tests ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Suite:
    """How the tests went."""

    is_passed: bool
    summary: str
    output: str


def run_tests(arguments: Sequence[str], environment: Mapping[str, str]) -> Suite:
    """Runs tests in a process of their own; they say so if the GPU ends it."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not interpreted", "-n", "0"]
    done = subprocess.run(
        [*command, *arguments],
        cwd=REPOSITORY,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    lines = done.stdout.strip().splitlines()
    summary = lines[-1] if lines else "no output"
    if done.returncode not in (0, 1):
        summary = f"pytest ended with {done.returncode}: {summary}"
    return Suite(done.returncode == 0, summary, "\n".join(lines[-MOST_LINES:]))


# --- the report -------------------------------------------------------------------------------


def report(device: metal.Device, texts: Sequence[Compiled], suite: Suite) -> str:
    parts = ["# easy_as on a Mac", "", *_machine(device), "", "## Texts", ""]
    for each in texts:
        good = each.count - len(each.complaints)
        parts.append(f"- {each.compiler}: {good} of {each.count} compile")
    for each in texts:
        for name, told in each.complaints.items():
            parts += ["", f"`{name}.metal`, {each.compiler}:", *_block(told)]
    parts += ["", "## Tests", "", suite.summary]
    if not suite.is_passed:
        parts += _block(suite.output)
    return "\n".join([*parts, ""])


def _machine(device: metal.Device) -> list[str]:
    facts = {
        "GPU": device.name,
        "macOS": ".".join(map(str, device.system)),
        "Python": f"{platform.python_version()} on {platform.machine()}",
        **{name: _version(name) for name in PACKAGES},
        "commit": _commit(),
    }
    return ["| | |", "|---|---|", *(f"| {name} | {fact} |" for name, fact in facts.items())]


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _commit() -> str:
    try:
        done = _call(["git", "-C", str(REPOSITORY), "describe", "--always", "--dirty"])
    except FileNotFoundError:
        return "unknown"
    return done.stdout.strip() or "unknown"


def _block(text: str) -> list[str]:
    return ["```text", text, "```"]


if __name__ == "__main__":
    sys.exit(main())
