"""The script for people with a Mac, on a simulated one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from eas.runtime import metal
from scripts import on_a_mac
from scripts.on_a_mac import ON_DEVICE, SNAPSHOTS, Compiled, Suite
from tests.metal.conftest import forget_device
from tests.metal.simulated import Machine

# Stands in for Xcode's: takes every text but that of `relu`.
XCRUN = """\
#!/bin/sh
case "$*" in
    *--version) echo "Apple metal version 32023.620 (metalfe-32023.620)" ;;
    *relu.metal*) echo "relu.metal:7:1: error: not today" >&2; exit 1 ;;
    *-std=macos-metal2.3*|*-std=metal3.1*) ;;
    *) echo "unknown standard in $*" >&2; exit 1 ;;
esac
"""
GPU = "Apple M1 (simulated)"


def files(*names: str) -> list[Path]:
    return [SNAPSHOTS / f"{name}.metal" for name in names]


def test_without_metal_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "Metal", None)
    monkeypatch.setattr(sys, "platform", "linux")
    forget_device()
    assert on_a_mac.main([]) == 2
    assert capsys.readouterr().err == (
        "there is nothing to try here: Metal needs a Mac, and this is `linux`\n"
    )


def test_every_reviewed_text_is_compiled_for_the_metal_that_it_names(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.is_strict = False
    monkeypatch.setattr(on_a_mac, "xcode_version", lambda: "")
    programs = [on_a_mac.read_program(file) for file in sorted(SNAPSHOTS.glob("*.metal"))]
    assert {program.version for program in programs} <= {(2, 3), (3, 0), (3, 1)}
    [result] = on_a_mac.compile_snapshots(metal.default_device(), files("softmax", "scale_bf16"))
    assert result == Compiled(GPU, 2, {})
    assert [library["version"] for library in machine.libraries] == [0x20003, 0x30001]


def test_a_text_that_metal_refuses_is_in_the_report(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_a_mac, "xcode_version", lambda: "")
    machine.faults.library_error = "program_source:3:1: error: not on this Mac"
    results = on_a_mac.compile_snapshots(metal.default_device(), files("add"))
    text = on_a_mac.report(metal.default_device(), results, Suite(True, "9 passed", ""))
    assert text.partition("## Texts\n")[2] == (
        f"\n- {GPU}: 0 of 1 compile\n\n`add.metal`, {GPU}:\n```text\n"
        "Metal's compiler refuses the text\nprogram_source:3:1: error: not on this Mac\n```\n\n"
        "## Tests\n\n9 passed\n"
    )


def test_xcodes_compiler_is_asked_too(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.is_strict = False
    xcrun = tmp_path / "xcrun"
    xcrun.write_text(XCRUN)
    xcrun.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    chosen = files("add", "relu", "scale_bf16")
    name = "Xcode's Apple metal version 32023.620 (metalfe-32023.620)"
    assert on_a_mac.compile_snapshots(metal.default_device(), chosen) == [
        Compiled(GPU, 3, {}),
        Compiled(name, 3, {"relu": "relu.metal:7:1: error: not today"}),
    ]


def test_the_tests_run_and_their_failures_are_in_the_report(machine: Machine) -> None:
    device = metal.default_device()
    arguments = ["-p", "tests.metal.everywhere", "tests/metal/test_corpus.py"]
    suite = on_a_mac.run_tests([*arguments, "-k", "relu"], ON_DEVICE)
    assert suite.is_passed, suite.output
    assert suite.summary.startswith("2 passed")
    nothing = on_a_mac.run_tests([*arguments, "-k", "no_such_kernel"], ON_DEVICE)
    assert not nothing.is_passed
    assert nothing.summary.startswith("pytest ended with 5: ")
    assert nothing.output in on_a_mac.report(device, [], nothing)
    assert machine.libraries == []


def test_the_report_begins_with_the_machine(machine: Machine) -> None:
    machine.system = (15, 6, 1)
    text = on_a_mac.report(metal.default_device(), [], Suite(True, "9 passed", ""))
    assert text.startswith(
        f"# easy_as on a Mac\n\n| | |\n|---|---|\n| GPU | {GPU} |\n| macOS | 15.6 |\n| Python | 3."
    )


def test_the_report_is_written(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.is_strict = False
    failed = Suite(False, "1 failed", "FAILED tests/metal/test_launch.py")
    monkeypatch.setattr(on_a_mac, "run_tests", lambda *_: failed)
    monkeypatch.setattr(on_a_mac, "xcode_version", lambda: "")
    monkeypatch.setattr(on_a_mac, "SNAPSHOTS", tmp_path)
    (tmp_path / "add.metal").write_text((SNAPSHOTS / "add.metal").read_text("utf-8"), "utf-8")
    output = tmp_path / "report.md"
    assert on_a_mac.main(["--output", str(output)]) == 1
    assert output.read_text("utf-8").endswith(
        f"- {GPU}: 1 of 1 compile\n\n## Tests\n\n1 failed\n```text\n"
        "FAILED tests/metal/test_launch.py\n```\n"
    )
