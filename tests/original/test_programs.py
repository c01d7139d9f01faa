"""The four programs of the first easy_as, written again with its calls."""

from __future__ import annotations

from importlib import import_module

import pytest

import eas

NAMES = ("add", "matmul", "matmul_tiled", "matmul_simdgroup")


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_right(name: str) -> None:
    assert import_module(f"examples.original.{name}").run() < 1e-5


@pytest.mark.usefixtures("default_backend")
@pytest.mark.parametrize("name", NAMES)
def test_a_program_prints_something(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    import_module(f"examples.original.{name}").main()
    assert "the largest difference to NumPy is" in capsys.readouterr().out


def test_wrong_sizes_of_tiles_are_refused_in_the_programs_words() -> None:
    kernel = import_module("examples.original.matmul_tiled").matmul_tiled_kernel
    with pytest.raises(eas.CompileError, match="NT must be BM \\* BN / 4, which is 32, not 64"):
        kernel.compile(*["*f32"] * 3, *["i32"] * 3, BM=8, BN=16, BK=8, NT=64)
