"""Kernels in files of odd names: no text that is made of them is cut, changed or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eas
from eas.ir.text import parse_function, print_function
from eas.msl.kernel import write as write_msl
from eas.support.location import SourceName
from eas.support.records import replace
from tests.msl.texts import function_of

SOURCE = """
import eas
from eas import mk


@eas.kernel
def add_one(x, N, TAG: eas.constexpr = 0, BLOCK: eas.constexpr = 64):
    i = mk.arange(0, BLOCK)
    assert mk.load(x, i, i < N) < 100
    mk.store(x, i, mk.load(x, i, i < N) + 1, i < N)
"""
SHOWN = {
    "x\n#error hi\n.py": r"x\n#error hi\n.py",
    "x\r#error hi.py": r"x\r#error hi.py",
    "\u2028.py": r"\u2028.py",
    "\x85\x0c\x01.py": r"\x85\x0c\x01.py",
    "joined\\": r"joined\\",
    "joined??": r"joined?\x3f",
    "*.py": "*.py",
    'a"b.py': 'a"b.py',
    "\udcff\udc80.py": r"\udcff\udc80.py",
    "\u202e.py": r"\u202e.py",
    "größe 日本.py": "größe 日本.py",
}


def kernel_in(path: Path) -> Any:
    """The kernel of a file that has the source."""
    path.write_text(SOURCE, encoding="utf-8")
    names: dict[str, Any] = {"__name__": "odd"}
    exec(compile(SOURCE, str(path), "exec"), names)
    return names["add_one"]


@pytest.mark.parametrize("name", SHOWN)
def test_comments_of_the_metal_text_are_comments(tmp_path: Path, name: str) -> None:
    kernel = kernel_in(tmp_path / name)
    text: str = kernel.to_msl("*f32", "i32")
    plain: str = kernel_in(tmp_path / "plain.py").to_msl("*f32", "i32")
    assert text == plain.replace("plain.py", SHOWN[name])
    assert len(text.encode().splitlines()) == plain.count("\n")


@pytest.mark.parametrize("name", ["x\n#error hi\n.py", "joined\\", "\udcff\udc80.py"])
def test_every_backend_runs_it(tmp_path: Path, name: str) -> None:
    kernel = kernel_in(tmp_path / name)
    for backend in ("interpret", "cpu", "msl-host"):
        x = np.arange(10, dtype=np.float32)
        kernel(x, 10, _grid=(1,), _backend=backend)
        assert x.tolist() == list(range(1, 11))


@pytest.mark.parametrize("name", SHOWN)
def test_other_texts_can_be_written_to_a_file(tmp_path: Path, name: str) -> None:
    kernel = kernel_in(tmp_path / name)
    for text in (kernel.to_ir("*f32", "i32"), kernel.to_llvm("*f32", "i32")):
        text.encode()
        assert "#error hi" not in text.splitlines()
    function = kernel.compile("*f32", "i32").function
    assert parse_function(print_function(function)) == function


@pytest.mark.parametrize("name", SHOWN)
def test_a_report_can_be_printed(tmp_path: Path, name: str) -> None:
    kernel = kernel_in(tmp_path / name)
    for backend in ("interpret", "msl-host"):
        with pytest.raises(eas.KernelError) as caught:
            kernel(np.full(10, 200, np.float32), 10, _grid=(1,), _backend=backend)
        str(caught.value).encode()


def test_the_end_of_a_comment_in_a_name_is_escaped() -> None:
    ops = "store %i.2[%n.4] = %n.4  @3:4-9"
    function = replace(function_of(ops), source=SourceName("f.py"))
    [op, *others] = function.body.ops
    odd = replace(op, loc=replace(op.loc, source=SourceName("a*/b//c??/")))
    function = replace(function, body=replace(function.body, ops=(odd, *others)))
    assert write_msl(function).text.endswith(r"// a*\x2fb\x2f\x2fc?\x3f\x2f:3" + "\n}\n")


@pytest.mark.parametrize("tag", ["a\n#error hi", "\udcff", ("b\nc",), "back\\"])
def test_what_a_constexpr_shows_is_on_one_line(tmp_path: Path, tag: Any) -> None:
    kernel = kernel_in(tmp_path / "plain.py")
    plain: str = kernel.to_msl("*f32", "i32")
    text: str = kernel.to_msl("*f32", "i32", TAG=tag)
    assert text.encode().splitlines()[1:] == plain.encode().splitlines()[1:]
