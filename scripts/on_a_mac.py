"""Tries easy_as on this Mac and writes a report that can be pasted into an issue.

    uv run python -m scripts.on_a_mac                  # writes on_a_mac.md
    uv run python -m scripts.on_a_mac --output -       # or prints it
    uv run python -m scripts.on_a_mac --simulated      # anywhere: tries this script

Every reviewed text in `snapshots/kernels` is compiled by Metal, and by Xcode's `metal` if that is
there; then the tests that any GPU must pass run on this one, under Metal's validation. What
crashes, hangs or is stopped with Ctrl-C is in the report, too.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from scripts.children import REPOSITORY, Child
from scripts.compile_texts import read_program

SNAPSHOTS = REPOSITORY / "snapshots" / "kernels"
SUITE = (
    *("--thorough", "tests/metal", "tests/frontend", "tests/ops"),
    "tests/host/test_three_ways.py",
)
# A process that Metal ends is replaced, and the test that it was at has failed.
PYTEST = ("-m", "pytest", "-q", "--tb=short", "-m", "not interpreted", "-n", "1")
ENVIRONMENT = {"EAS_BACKEND": "metal", "EAS_TEST_METAL": "device", "MTL_DEBUG_LAYER": "1"}
PACKAGES = ("easy_as", "pyobjc-core", "pyobjc-framework-Metal", "numpy")
MOST_LINES = 200

WELL, FAILED, NO_METAL, STOPPED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the report: 0 if all went well, 1 if not, 2 without Metal, 130 after Ctrl-C."""
    options = _options(arguments)
    trial = Trial(options.simulated, options.patience)
    files = [path.resolve() for path in options.texts or sorted(SNAPSHOTS.glob("*.metal"))]
    try:
        code = trial.run(files, options.tests or SUITE)
    except KeyboardInterrupt:
        trial.remark, code = "It was stopped with Ctrl-C before the end.", STOPPED
    except Exception:
        lines = ["The script itself has failed:", *_block(traceback.format_exc())]
        trial.remark, code = "\n".join(lines), FAILED
    if code == NO_METAL and sys.platform != "darwin":
        print(trial.remark, file=sys.stderr)
    else:
        _write(trial.report(), options.output)
    return code


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.on_a_mac",
        description="Tries easy_as on this Mac and writes a report to paste into an issue.",
    )
    parser.add_argument("--output", default="on_a_mac.md", help="a file, or - to print it")
    parser.add_argument(
        "--patience",
        type=float,
        default=300.0,
        metavar="SECONDS",
        help="how long a process may say nothing before it is stopped (300)",
    )
    parser.add_argument(
        "--simulated", action="store_true", help="try this script on a simulated Mac, anywhere"
    )
    parser.add_argument(
        "--texts", nargs="*", type=Path, help="the texts to compile (those in snapshots/kernels)"
    )
    parser.add_argument("--tests", nargs="*", help="what to pass to pytest (what a GPU must pass)")
    return parser.parse_args(arguments)


def _write(text: str, output: str) -> None:
    if output == "-":
        print(text)
        return
    try:
        Path(output).write_text(text, "utf-8")
    except OSError as error:
        print(text)
        print(f"this is the report, which cannot be written: {error}", file=sys.stderr)
    else:
        print(f"wrote {output}; please paste it into an issue", file=sys.stderr)


class Trial:
    """The facts, compiled texts and test results so far."""

    def __init__(self, is_simulated: bool, patience: float) -> None:
        self.simulation = ("-m", "tests.metal.simulated") if is_simulated else ()
        self.plugin = ("-p", "tests.metal.everywhere") if is_simulated else ()
        self.patience = patience
        self.facts: dict[str, str] = {}
        self.remark = ""
        self.texts: list[Texts] = []
        self.suite: Suite | None = None

    def run(self, files: Sequence[Path], tests: Sequence[str]) -> int:
        self._compile_on_gpu(files)
        if "GPU" not in self.facts:
            return NO_METAL
        self._compile_with_xcode(files)
        self._run_tests(tests)
        is_good = self.suite is not None and self.suite.is_good
        return WELL if is_good and all(texts.is_good for texts in self.texts) else FAILED

    def report(self) -> str:
        parts = ["# easy_as on a Mac", "", *_table({**self.facts, **_software()})]
        if self.remark:
            parts += ["", self.remark]
        if self.texts:
            parts += ["", "## Texts", "", *(texts.summary for texts in self.texts)]
        for texts in self.texts:
            parts += texts.details()
        if self.suite is not None:
            parts += ["", "## Tests", "", *self.suite.lines()]
        return "\n".join([*parts, ""])

    def _compile_on_gpu(self, files: Sequence[Path]) -> None:
        """If a text crashes the process, another process compiles the texts after it."""
        todo, texts = list(files), Texts("Metal", len(files))
        while todo:
            command = [*self.simulation, "-m", "scripts.compile_texts", *map(str, todo)]
            child = Child(command, ENVIRONMENT)
            words: list[str] = []
            for line in _lines(child.output(self.patience)):
                self._hear(line, texts, todo, words)
            if "GPU" not in self.facts:
                why = "\n".join(words[-MOST_LINES:]) or child.ending
                self.remark = f"There is nothing to try here: {why}"
                return
            if todo:
                said = [*words[-MOST_LINES:], f"the process that compiles it: {child.ending}"]
                texts.complaints[todo.pop(0).stem] = "\n".join(said)

    def _hear(self, line: str, texts: Texts, todo: list[Path], words: list[str]) -> None:
        """Takes in a line of `scripts.compile_texts`; Metal may say something in between."""
        heard = _message(line)
        if heard is None:
            words.append(line)
        elif "complaint" in heard:
            texts.complaints[todo.pop(0).stem] = heard["complaint"]
        elif "missing" in heard:
            words.append(heard["missing"])
        elif not self.facts:
            self.facts = heard
            texts.compiler = heard["GPU"]
            self.texts.append(texts)

    def _compile_with_xcode(self, files: Sequence[Path]) -> None:
        version = xcode_version()
        if version:
            texts = Texts(f"Xcode's {version}", len(files))
            self.texts.append(texts)
            for file in files:
                texts.complaints[file.stem] = compile_with_xcode(file, self.patience)

    def _run_tests(self, tests: Sequence[str]) -> None:
        suite = self.suite = Suite()
        child = Child([*PYTEST, *self.plugin, *tests], ENVIRONMENT)
        pieces = child.output(self.patience)
        try:
            for piece in pieces:
                suite.show(piece)
        except KeyboardInterrupt as interrupt:
            # It may have come while a piece was printed. Then `pieces` has still to hear of it, and
            # to give the last words of pytest.
            suite.show(pieces.throw(interrupt))
            for piece in pieces:
                suite.show(piece)
        suite.ending = child.ending


def _lines(pieces: Iterator[str]) -> Iterator[str]:
    rest = ""
    for piece in pieces:
        *lines, rest = (rest + piece).split("\n")
        yield from lines
    if rest:
        yield rest


@dataclass
class Texts:
    """The complaint of a compiler about each text that it was given; empty if it compiles."""

    compiler: str
    count: int
    complaints: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def is_good(self) -> bool:
        return len(self.complaints) == self.count and not any(self.complaints.values())

    @property
    def summary(self) -> str:
        good = sum(not complaint for complaint in self.complaints.values())
        count = len(self.complaints)
        tried = "" if count == self.count else f" ({count} were tried)"
        return f"- {self.compiler}: {good} of {self.count} compile{tried}"

    def details(self) -> Iterator[str]:
        for name, complaint in self.complaints.items():
            if complaint:
                yield from ("", f"`{name}.metal`, {self.compiler}:", *_block(complaint))


def xcode_version() -> str:
    """Which `metal` Xcode has; nothing if there is none."""
    try:
        done = _call(["xcrun", "-sdk", "macosx", "metal", "--version"])
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.partition("\n")[0] if done.returncode == 0 else ""


def compile_with_xcode(file: Path, patience: float) -> str:
    """The complaint of Xcode's compiler about a text, warnings included."""
    major, minor = read_program(file).version
    standard = f"metal{major}.{minor}" if major >= 3 else f"macos-metal{major}.{minor}"
    with tempfile.TemporaryDirectory() as folder:
        command = ["xcrun", "-sdk", "macosx", "metal", f"-std={standard}", "-fno-fast-math"]
        command += ["-Werror", "-c", str(file), "-o", f"{folder}/kernel.air"]
        try:
            done = _call(command, patience)
        except subprocess.TimeoutExpired:
            return f"it did not end within {patience:g} seconds"
    return done.stderr.strip() or f"it ended with {done.returncode}" if done.returncode else ""


def _call(command: Sequence[str], seconds: float = 60.0) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)


@dataclass
class Suite:
    """The output of pytest, and how it ended: empty if it ended well."""

    output: str = ""
    ending: str = "it was stopped"

    @property
    def is_good(self) -> bool:
        return not self.ending

    def show(self, piece: str) -> None:
        self.output += piece
        print(piece, end="", file=sys.stderr, flush=True)

    def lines(self) -> list[str]:
        lines = self.output.strip().splitlines() or ["no output"]
        if self.is_good:
            return [lines[-1]]
        return [f"{lines[-1]} (pytest: {self.ending})", *_block("\n".join(lines[-MOST_LINES:]))]


def _software() -> dict[str, str]:
    return {
        "Python": f"{platform.python_version()} on {platform.platform()}",
        **{name: _version(name) for name in PACKAGES},
        "commit": _commit(),
    }


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _message(line: str) -> dict[str, str] | None:
    """A line that is an object of JSON."""
    try:
        found: Any = json.loads(line)
    except ValueError:
        return None
    return cast(dict[str, str], found) if isinstance(found, dict) else None


def _commit() -> str:
    try:
        done = _call(["git", "-C", str(REPOSITORY), "describe", "--always", "--dirty"])
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return done.stdout.strip() or "unknown"


def _table(facts: Mapping[str, str]) -> list[str]:
    return ["| | |", "|---|---|", *(f"| {name} | {fact} |" for name, fact in facts.items())]


def _block(text: str) -> list[str]:
    return ["```text", text, "```"]


if __name__ == "__main__":
    sys.exit(main())
