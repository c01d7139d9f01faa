"""`eas doctor`: right on this machine, on a simulated Mac, with a broken cache, without clang."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import eas
from eas.cli import main
from eas.config import resolve_backend
from eas.msl.host import toolchain
from eas.support.cache import FOLDER, open_cache
from tests.metal.conftest import machine, metal_host
from tests.metal.simulated import Machine

__all__ = ["machine", "metal_host"]
Report = dict[str, Any]
Run = Callable[..., Report]


@pytest.fixture
def doctor(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Run:
    """The JSON of the command, by group and name; `code` is its exit code."""
    for name in [each for each in os.environ if each.startswith("EAS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("EAS_CACHE_DIR", str(tmp_path / "cache"))

    def run(*arguments: str) -> Report:
        code = main(["doctor", *arguments, "--json"])
        found = json.loads(capsys.readouterr().out)
        groups = {
            group: {row["name"]: row for row in rows}
            for group, rows in found.items()
            if group != "ok"
        }
        assert found["ok"] == (code == 0)
        return {"code": code, **groups}

    return run


def test_it_shows_what_is_used_and_why(doctor: Run) -> None:
    found = doctor()
    assert found["code"] == 0
    backend = eas.config.automatic()
    assert found["used"]["backend"]["value"] == backend
    assert found["used"]["backend"]["note"].startswith("`auto`: there is")
    assert found["versions"]["numpy"]["value"] == np.__version__
    assert found["backends"]["interpret"]["value"] == "available"
    assert found["settings"].keys() == {"EAS_CACHE_DIR"}


def test_it_counts_the_files_of_the_cache(doctor: Run, tmp_path: Path) -> None:
    code = "code of the backend cpu"
    assert doctor()["caches"][code]["value"] == "0 files, 0.0 MB"
    cache = open_cache(tmp_path / "cache", ".o")
    for key in ("a", "b"):
        cache.store(key * 64, bytes(3 << 20))
    open_cache(tmp_path / "cache").store("c" * 64, bytes(1 << 20))
    found = doctor()["caches"]
    assert found[code]["value"] == "2 files, 6.0 MB"
    assert found["texts that clang compiled"]["value"] == "1 files, 1.0 MB"
    assert "damaged files" not in found
    damaged = tmp_path / "cache" / FOLDER / cache.name("a" * 64)
    damaged.write_bytes(damaged.read_bytes()[:-5])
    found = doctor()["caches"]
    assert (found["damaged files"]["value"], found["damaged files"]["status"]) == ("1", "wrong")
    assert found[code]["value"] == "1 files, 3.0 MB"


def test_a_cache_that_is_not_used_is_explained(
    doctor: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("EAS_CACHE_DIR", str(file))
    found = doctor()
    assert found["code"] == 0
    assert found["caches"]["folder"]["status"] == "wrong"
    assert found["caches"]["folder"]["note"] == "Not a directory: it is not used"
    shared = tmp_path / "shared"
    (shared / FOLDER).mkdir(parents=True)
    shared.chmod(0o777)
    monkeypatch.setenv("EAS_CACHE_DIR", str(shared))
    note = doctor()["caches"]["folder"]["note"]
    assert note == f"others can write to {shared}: it is not used"


def test_without_clang_the_host_is_not_here(doctor: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "find_spec", lambda name: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    monkeypatch.setattr(toolchain.shutil, "which", lambda name: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    toolchain.find_toolchain.cache_clear()
    try:
        found = doctor()
    finally:
        toolchain.find_toolchain.cache_clear()
    assert found["code"] == 0
    assert found["backends"]["msl-host"]["status"] == "missing"
    assert "pip install 'easy_as[host]'" in found["backends"]["msl-host"]["note"]
    assert found["backends"]["cpu"]["status"] == "ok"


@pytest.mark.parametrize("name", ["mpz", "python"])
def test_a_backend_that_is_not_there_is_wrong(
    doctor: Run, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("EAS_BACKEND", name)
    try:
        resolve_backend(name)
        pytest.skip("it is there")
    except eas.BackendError as error:
        message = str(error)
    found = doctor()
    assert found["code"] == 1
    assert found["used"]["backend"]["note"] == f"EAS_BACKEND={name}: {message}"


def test_on_a_mac_it_shows_the_gpu(
    machine: Machine, doctor: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.knows_ownership = True
    monkeypatch.setenv("EAS_BACKEND", "mps")
    found = doctor()
    assert found["code"] == 0
    assert found["used"]["backend"]["value"] == "metal"
    assert found["metal"]["device"]["value"] == "Apple M1 (simulated)"
    assert found["metal"]["device"]["note"] == "it is used; families Apple7, Mac2, Metal3"
    assert found["metal"]["macOS"]["value"] == "15.1"
    assert found["metal"]["language"]["value"] == "Metal 3.1 or later"


def test_a_mac_without_a_gpu_says_so(machine: Machine, doctor: Run) -> None:
    machine.faults.has_no_device = True
    found = doctor()
    assert found["metal"]["devices"]["note"].startswith("Metal finds no GPU")


def test_an_old_mac_is_too_old(
    machine: Machine, doctor: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.knows_ownership = True
    monkeypatch.setenv("EAS_BACKEND", "mps")
    machine.system = (10, 15, 0)
    assert doctor()["metal"]["language"]["status"] == "wrong"


def test_the_table_has_a_line_for_each_finding(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    groups = [line.split()[0] for line in lines if line[:1] not in (" ", "")]
    wanted = ["system", "versions", "used", "backends", "metal", "caches", "settings"]
    assert groups == wanted


class Tensor:
    """A tensor on `mps`."""

    device, dtype = "mps:0", "torch.float32"

    def __dlpack__(self) -> object:
        return object()


def make_torch(*, has_mps: bool, error: Exception | None = None) -> ModuleType:
    module = ModuleType("torch")
    mps = SimpleNamespace(is_available=lambda: has_mps)

    def to_dlpack(x: Tensor) -> object:
        if error is not None:
            raise error
        return x.__dlpack__()

    vars(module).update(
        __version__="2.13.0",
        __spec__=SimpleNamespace(),
        backends=SimpleNamespace(mps=mps),
        float32="float32",
        randn=lambda *_shape, **_options: Tensor(),  # pyright: ignore[reportUnknownLambdaType]
        utils=ModuleType("torch.utils"),
    )
    vars(module)["utils"].dlpack = SimpleNamespace(to_dlpack=to_dlpack)
    return module


@pytest.mark.parametrize(
    ("torch", "values", "code"),
    [
        (make_torch(has_mps=False), ["2.13.0", "False"], 0),
        (
            make_torch(has_mps=True),
            ["2.13.0", "True", "mps:0 dtype: torch.float32", "True", "ok: object"],
            0,
        ),
        (
            make_torch(has_mps=True, error=BufferError("no")),
            [
                *("2.13.0", "True", "mps:0 dtype: torch.float32", "True"),
                "failed: BufferError no",
            ],
            1,
        ),
    ],
)
def test_torch_is_probed(
    doctor: Run, monkeypatch: pytest.MonkeyPatch, torch: Any, values: list[str], code: int
) -> None:
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch.utils", torch.utils)
    found = doctor("torch")
    assert ([row["value"] for row in found["torch"].values()], found["code"]) == (values, code)


def test_without_torch_there_is_nothing_to_probe(
    doctor: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    found = doctor("torch")
    assert (found["torch"]["torch"]["value"], found["code"]) == ("not installed", 1)
