"""The simulated Metal refuses texts and objects that are no good, and counts references."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from scripts.children import REPOSITORY
from tests.metal.session import ADD_ONE, Session, refused
from tests.metal.simulated import Machine
from tests.metal.simulated.__main__ import main as simulated_main
from tests.metal.simulated.objects import constant
from tests.processes import in_a_fork


def test_an_object_that_is_released_twice(session: Session) -> None:
    buffer = session.buffer(np.zeros(1, np.float32))
    with refused("MTLBuffer is released once too often"):
        buffer.release()
    with refused(r"-\[MTLBuffer length\]: the object is freed"):
        buffer.length()
    with refused(r"-\[MTLBuffer retain\]: the object is freed"):
        session.encoder.setBuffer_offset_atIndex_(buffer, 0, 0)


def test_an_object_that_is_never_released(machine: Machine, session: Session) -> None:
    buffer = session.device.newBufferWithLength_options_(16, 0)
    del buffer
    gc.collect()
    assert machine.troubles == ["MTLBuffer is leaked"]
    machine.troubles.clear()


def test_an_object_outside_of_a_pool(machine: Machine, session: Session) -> None:
    def use() -> None:
        session.queue.commandBuffer()
        session.device.name()

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert machine.troubles == ["MTLCommandBuffer outside of a pool", "NSString outside of a pool"]
    machine.troubles.clear()


def test_an_object_in_a_forked_process(session: Session) -> None:
    def use() -> str:
        with refused(r"-\[MTLCommandQueue commandBuffer\]: the object is of another process"):
            session.queue.commandBuffer()
        return "refused"

    assert in_a_fork(use) == "refused"


def test_a_wrong_number_of_arguments(session: Session) -> None:
    with pytest.raises(TypeError, match=r"^Need 1 arguments, got 2$"):
        session.device.supportsFamily_(1, 2)


def test_a_text_that_is_no_metal(session: Session) -> None:
    library, error = session.library(ADD_ONE.replace("x[i] +=", "y[i] +="))
    assert library is None
    assert error.domain() == "MTLLibraryErrorDomain"
    assert error.code() == constant("MTLLibraryErrorCompileFailure")
    assert error.localizedDescription().startswith("program_source:7:")


def test_a_text_that_breaks_a_rule_of_metal_only(session: Session) -> None:
    text = ADD_ONE.replace("uint i [[thread", "int i [[thread")
    assert session.library(text)[0] is None


def test_a_function_that_is_not_there_is_none(session: Session) -> None:
    assert session.library(ADD_ONE)[0].newFunctionWithName_("add_two") is None


def test_a_text_without_options_is_compiled_for_speed(machine: Machine, session: Session) -> None:
    make = session.device.newLibraryWithSource_options_error_
    session.own(make(ADD_ONE, None, None)[0])
    fast = {"version": 0x30002, "math_mode": 2, "math_functions": 0}
    assert machine.libraries[-1] == fast


def test_options_that_are_not_initialized(session: Session) -> None:
    options = session.metal.MTLCompileOptions.alloc()
    with refused("MTLCompileOptions without `init`"):
        options.setLanguageVersion_(0x20003)
    with refused("MTLCompileOptions without `init`"):
        session.device.newLibraryWithSource_options_error_(ADD_ONE, options, None)


def test_options_that_are_none(session: Session) -> None:
    with refused("dict is no MTLCompileOptions"):
        session.device.newLibraryWithSource_options_error_(ADD_ONE, {"fast": False}, None)


def test_an_error_that_goes_in(session: Session) -> None:
    with refused("an error that goes out is None on its way in"):
        session.device.newLibraryWithSource_options_error_(ADD_ONE, None, [])


@pytest.mark.parametrize(
    ("version", "system"), [(0x30001, 13), (0x30000, 12), (0x40, 15), (-1, 15)]
)
def test_a_version_of_the_language_that_the_system_does_not_have(
    machine: Machine, session: Session, version: int, system: int
) -> None:
    machine.system = (system, 0, 0)
    options = session.metal.MTLCompileOptions.alloc().init()
    with refused("0x[0-9a-f]+ is no version of the language that this macOS has"):
        options.setLanguageVersion_(version)


@pytest.mark.parametrize(
    ("word", "too_old", "enough"),
    [
        ("bfloat", "MTLLanguageVersion3_0", "MTLLanguageVersion3_1"),
        ("atomic_float", "MTLLanguageVersion2_3", "MTLLanguageVersion3_0"),
    ],
)
def test_a_type_that_is_too_new(session: Session, word: str, too_old: str, enough: str) -> None:
    text = ADD_ONE.replace("constant int& n", f"device {word}* y [[buffer(2)]], constant int& n")
    library, error = session.library(text, too_old)
    assert library is None
    line = text.splitlines()[4]
    assert error.localizedDescription() == (
        f"program_source:5:{line.index(word) + 1}: error: unknown type name '{word}'\n"
    )
    assert session.library(text, enough)[1] is None


def test_too_much_threadgroup_memory(session: Session) -> None:
    text = ADD_ONE.replace(
        "    if (int(i)",
        "    threadgroup float much[8193];\n    much[i] = 0.0f;\n    if (int(i)",
    )
    assert session.pipeline(text, "add_one") == (
        "32772 bytes of threadgroup memory, Metal has 32768"
    )


PROGRAM = """\
import sys
import numpy as np
from tests.metal.kernels import twice

x = np.arange(4, dtype=np.float32)
twice(x, 4, BLOCK=4)
import Metal
print(sys.argv[1:], x.tolist(), Metal.MTLCreateSystemDefaultDevice().name())
"""


@pytest.mark.parametrize("as_module", [False, True])
def test_a_program_runs_on_a_simulated_mac(tmp_path: Path, as_module: bool) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    program = ["-m", "program"] if as_module else [str(tmp_path / "program.py")]
    paths = os.pathsep.join([str(REPOSITORY), *([str(tmp_path)] if as_module else [])])
    environment = {name: text for name, text in os.environ.items() if name != "EAS_BACKEND"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.metal.simulated", *program, "a", "-b"],
        env={**environment, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == (
        "['a', '-b'] [0.0, 2.0, 4.0, 6.0] Apple M1 (simulated)\n",
        "",
    )


def test_without_a_program_it_says_how_it_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    assert simulated_main([]) == 2
    assert "python -m tests.metal.simulated program.py" in capsys.readouterr().err
