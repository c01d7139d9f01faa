"""The script for people with a Mac, on a simulated one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from scripts import compile_texts, on_a_mac
from scripts.children import REPOSITORY, Child
from scripts.on_a_mac import SNAPSHOTS
from tests.metal.conftest import forget_device
from tests.metal.simulated import Machine
from tests.processes import is_alive, wait_until
from tests.thorough import thorough

GPU = "Apple M1 (simulated)"

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


@pytest.fixture
def _without_xcode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_a_mac, "xcode_version", lambda: "")


@pytest.fixture
def _without_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_a_mac.Trial, "_run_tests", lambda *_: None)


def files(*names: str) -> list[str]:
    return [str(SNAPSHOTS / f"{name}.metal") for name in names]


def report_of(code: int, output: Path, *arguments: str) -> str:
    """The report that the script writes, from the GPU on and without the software."""
    assert on_a_mac.main(["--simulated", "--output", str(output), *arguments]) == code
    return output.read_text("utf-8")


def behind(title: str, report: str) -> str:
    return report.partition(f"\n## {title}\n\n")[2]


@thorough
@pytest.mark.usefixtures("_without_xcode")
def test_a_report_describes_the_machine_the_texts_and_the_tests(tmp_path: Path) -> None:
    tests = ["tests/metal/test_corpus.py::test_a_gpu_gives_the_results_of_the_reference[relu]"]
    texts = files("softmax", "scale_bf16")
    report = report_of(0, tmp_path / "report.md", "--texts", *texts, "--tests", *tests)
    assert report.startswith(
        f"# easy_as on a Mac\n\n| | |\n|---|---|\n| GPU | {GPU} |\n| macOS | 15.1 |\n| Python | 3."
    )
    said = f"- {GPU}: 2 of 2 compile\n\n## Tests\n\n1 passed in "
    assert behind("Texts", report).startswith(said)


@thorough
@pytest.mark.usefixtures("_without_xcode")
def test_a_test_that_fails_is_shown(tmp_path: Path) -> None:
    test = tmp_path / "test_that_fails.py"
    test.write_text("def test_it():\n    assert 2 == 3\n")
    arguments = ["--texts", *files("add"), "--tests", str(test)]
    tests = behind("Tests", report_of(1, tmp_path / "report.md", *arguments))
    assert tests.startswith("1 failed in ")
    assert "assert 2 == 3" in tests


@thorough
@pytest.mark.usefixtures("_without_xcode")
def test_a_test_that_ends_the_process_does_not_end_the_others(tmp_path: Path) -> None:
    test = tmp_path / "test_that_aborts.py"
    test.write_text("import os\ndef test_a():\n    os.abort()\ndef test_b():\n    pass\n")
    arguments = ["--texts", *files("add"), "--tests", str(test)]
    tests = behind("Tests", report_of(1, tmp_path / "report.md", *arguments))
    assert tests.startswith("1 failed, 1 passed")


@pytest.mark.thorough  # it waits for ten seconds
@pytest.mark.usefixtures("_without_xcode")
def test_a_test_that_hangs_is_ended(tmp_path: Path) -> None:
    test = tmp_path / "test_that_hangs.py"
    test.write_text("import time\ndef test_it():\n    time.sleep(600)\n")
    arguments = ["--texts", *files("add"), "--tests", str(test), "--patience", "10"]
    tests = behind("Tests", report_of(1, tmp_path / "report.md", *arguments))
    assert "(pytest: it said nothing for 10 seconds and was stopped)" in tests


# A job in the background ignores it.
INTERRUPTIBLE = """
import signal
from scripts.on_a_mac import main
signal.signal(signal.SIGINT, signal.default_int_handler)
raise SystemExit(main())
"""


@thorough
def test_ctrl_c_leaves_a_report(tmp_path: Path) -> None:
    test, output, mark = (tmp_path / name for name in ("test_hang.py", "report.md", "mark"))
    test.write_text(
        "import pathlib, time\ndef test_a():\n    assert 2 == 3\n"
        f"def test_b():\n    pathlib.Path({str(mark)!r}).touch()\n    time.sleep(600)\n"
    )
    command = [sys.executable, "-c", INTERRUPTIBLE, "--simulated", "--output", str(output)]
    script = subprocess.Popen(
        [*command, "--texts", *files("add"), "--tests", str(test)],
        cwd=REPOSITORY,
        stderr=subprocess.PIPE,
    )
    assert script.stderr is not None
    said = b""
    while b"\nF" not in said:  # the controller has heard of the first test; warnings have F, too
        piece = os.read(script.stderr.fileno(), 4096)
        assert piece, said
        said += piece
    wait_until(mark.exists)
    script.send_signal(signal.SIGINT)
    assert script.wait(60) == 130
    script.stderr.close()
    report = output.read_text("utf-8")
    assert "\n\nIt was stopped with Ctrl-C before the end.\n\n## Texts\n\n" in report
    tests = behind("Tests", report)
    assert "(pytest: it was stopped)" in tests
    assert "assert 2 == 3" in tests


def test_a_failure_of_the_script_leaves_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_trial: object, _files: object) -> None:
        raise ValueError("of all things")

    monkeypatch.setattr(on_a_mac.Trial, "_compile_on_gpu", fail)
    report = report_of(1, tmp_path / "report.md")
    assert "\n\nThe script itself has failed:\n```text\nTraceback" in report
    assert "ValueError: of all things" in report


@pytest.mark.usefixtures("_without_xcode", "_without_tests")
def test_a_report_that_cannot_be_written_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "nowhere" / "report.md"
    arguments = ["--simulated", "--output", str(output), "--texts", *files("add")]
    assert on_a_mac.main(arguments) == 1
    said = capsys.readouterr()
    assert said.out.startswith("# easy_as on a Mac\n")
    assert said.err.startswith("this is the report, which cannot be written: ")


def test_without_metal_it_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if sys.platform == "darwin":
        pytest.skip("this is a Mac")
    monkeypatch.chdir(tmp_path)
    assert on_a_mac.main([]) == 2
    assert capsys.readouterr().err == (
        "There is nothing to try here: Metal needs a Mac, and this is `linux`\n"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("_without_xcode", "_without_tests")
def test_a_text_that_metal_refuses_is_shown(tmp_path: Path) -> None:
    text = Path(*files("relu")).read_text("utf-8").replace("float", "flaot")
    broken = tmp_path / "broken.metal"
    broken.write_text(text, "utf-8")
    arguments = ["--texts", str(broken), *files("add")]
    texts = behind("Texts", report_of(1, tmp_path / "report.md", *arguments))
    head = f"- {GPU}: 1 of 2 compile\n\n`broken.metal`, {GPU}:\n```text\n"
    assert texts.startswith(f"{head}Metal's compiler refuses the text\nprogram_source:")


def test_a_text_that_puts_an_end_to_the_process_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The GPU and the first text, then it dies; the next process goes on behind the second."""
    said = iter([
        ['{"GPU": "M9", "macOS": "30.0"}\n{"com', 'plaint": ""}\nfailed assertion `length(0)\'\n'],
        ['{"GPU": "M9", "macOS": "30.0"}\n', '{"complaint": "no"}\n'],
        ["3 passed"],
    ])  # fmt: skip
    endings = iter(["it ended with SIGABRT", "", ""])

    class Scripted(Child):
        def output(self, patience: float) -> Generator[str]:
            self.ending = next(endings)
            yield from next(said)

    monkeypatch.setattr(on_a_mac, "Child", Scripted)
    monkeypatch.setattr(on_a_mac, "xcode_version", lambda: "")
    texts = files("add", "relu", "softmax")
    report = report_of(1, tmp_path / "report.md", "--texts", *texts)
    assert behind("Texts", report) == (
        "- M9: 1 of 3 compile\n"
        "\n`relu.metal`, M9:\n```text\nfailed assertion `length(0)'\n"
        "the process that compiles it: it ended with SIGABRT\n```\n"
        "\n`softmax.metal`, M9:\n```text\nno\n```\n"
        "\n## Tests\n\n3 passed\n"
    )


@pytest.mark.usefixtures("_without_tests")
def test_xcodes_compiler_is_asked_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    xcrun = tmp_path / "xcrun"
    xcrun.write_text(XCRUN)
    xcrun.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    arguments = ["--texts", *files("add", "relu", "scale_bf16")]
    name = "Xcode's Apple metal version 32023.620 (metalfe-32023.620)"
    report = report_of(1, tmp_path / "report.md", *arguments)
    assert behind("Texts", report).startswith(
        f"- {GPU}: 3 of 3 compile\n- {name}: 2 of 3 compile\n\n`relu.metal`, {name}:\n"
        "```text\nrelu.metal:7:1: error: not today\n```\n"
    )


def test_every_reviewed_text_names_its_kernel_and_its_metal() -> None:
    programs = [compile_texts.read_program(file) for file in sorted(SNAPSHOTS.glob("*.metal"))]
    assert {program.version for program in programs} <= {(2, 3), (3, 0), (3, 1)}


def test_a_gpu_that_cannot_be_opened_is_reported(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.faults.has_no_device = True
    forget_device()
    assert compile_texts.main([]) == 2
    assert capsys.readouterr().out.startswith('{"missing": "Metal finds no GPU: ')


@pytest.mark.parametrize(
    ("code", "ending"),
    [
        ("", ""),
        ("exit(3)", "it ended with 3"),
        ("import os; os.abort()", "it ended with SIGABRT"),
        ("import time; time.sleep(99)", "it said nothing for 1 seconds and was stopped"),
    ],
)
def test_the_end_of_a_process_is_put_in_words(code: str, ending: str) -> None:
    child = Child(["-c", f"print('begun', flush=True)\n{code}"], {})
    assert "".join(child.output(1.0)).startswith("begun\n")
    assert child.ending == ending


def test_a_process_is_ended_with_all_that_it_has_started() -> None:
    # Each number is one write: two `print`s of processes without buffers may mix.
    code = "import os, time\nos.write(1, b'%d\\n' % os.fork())\ntime.sleep(99)"
    pieces = Child(["-c", code], {}).output(300.0)
    numbers = next(pieces).split()
    while len(numbers) < 2:
        numbers += next(pieces).split()
    pieces.close()  # pyright: ignore[reportAttributeAccessIssue]
    end = time.monotonic() + 60
    while is_alive(max(map(int, numbers))):
        assert time.monotonic() < end
