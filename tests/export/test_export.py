"""What `kernel.export` writes: the text, the manifest, samples that run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator, ValidationError

import eas
from eas.export import schema
from eas.msl.host import Host
from eas.msl.host.toolchain import find_toolchain
from tests.conftest import SnapshotCheck
from tests.export.kernels import CASES, Case, add, normalize, reverse
from tests.metal.conftest import metal_host
from tests.metal.simulated import Machine, installed
from tests.thorough import thorough

__all__ = ["metal_host"]
HERE = Path(__file__).parent
every_case = pytest.mark.parametrize("name", CASES)
VALIDATOR = Draft202012Validator(json.loads(schema()))


@pytest.fixture
def mac(metal_host: Host) -> Iterator[Machine]:
    """A simulated Mac with pyobjc 13."""
    machine = Machine(metal_host, is_strict=False, knows_ownership=True)
    with installed(machine):
        yield machine
        machine.end.set()


def export(name: str, folder: Path) -> dict[str, Path]:
    """The files of a case by their suffixes."""
    case = CASES[name]
    paths = case.kernel.export(folder, *case.types, **case.constants, **case.options)
    return {path.suffix: path for path in paths if path.name != "manifest.schema.json"}


def manifest_of(name: str, folder: Path) -> dict[str, Any]:
    return json.loads(export(name, folder)[".json"].read_text("utf-8"))


def sample_of(path: Path) -> Any:
    spec = spec_from_file_location("sample", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def launched(case: Case) -> list[Any]:
    """The arguments after a launch by the kernel itself."""
    arguments = case.arguments()
    case.kernel(*arguments, **case.constants, _grid=case.grid, _backend="interpret")
    return arguments


@every_case
def test_a_manifest_fits_its_schema(name: str, tmp_path: Path) -> None:
    VALIDATOR.validate(manifest_of(name, tmp_path))


def test_the_schema_is_one_and_refuses_what_is_wrong(tmp_path: Path) -> None:
    Draft202012Validator.check_schema(VALIDATOR.schema)
    manifest = manifest_of("scale_rows", tmp_path)
    changes: list[dict[str, Any]] = [
        {"threads": 0},
        {"extra": 1},
        {"grid": {"axes": 4, "rule": None, "extents": None}},
        {"buffers": [{"index": 0, "kind": "array"}]},
        {"buffers": [{"index": 0, "kind": "scalar", "name": "x", "dtype": "i3", "source": "low"}]},
        {"arguments": [{"name": "a", "kind": "array", "dtype": "f32", "buffer": 0}]},
    ]
    for change in changes:
        with pytest.raises(ValidationError):
            VALIDATOR.validate(manifest | change)


@every_case
def test_the_sample_in_python_runs_on_a_mac(name: str, tmp_path: Path, mac: Machine) -> None:
    case, files = CASES[name], export(name, tmp_path)
    arguments = case.arguments()
    options = {} if case.grid is None else {"_grid": case.grid}
    sample_of(files[".py"]).launch(*arguments, **options)
    for got, right in zip(arguments, launched(case), strict=True):
        np.testing.assert_array_equal(got, right)
    version = json.loads(files[".json"].read_text("utf-8"))["metal"]["language_version"]
    modes = {"math_mode": 0, "math_functions": 1}
    assert mac.libraries == [{"version": version, **modes}]


@pytest.mark.parametrize(
    ("name", "first"), [("add", "c [2. 2."), ("reverse", "a [1. 1."), ("sum_of_many", "out [18")]
)
@pytest.mark.usefixtures("mac")
def test_the_demonstration_in_python_prints_results(
    name: str, first: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sample_of(export(name, tmp_path)[".py"]).main()
    assert capsys.readouterr().out.startswith(first)


@pytest.mark.usefixtures("mac")
def test_a_failed_assert_has_its_text_and_line(tmp_path: Path) -> None:
    sample = sample_of(export("reverse", tmp_path)[".py"])
    array = np.arange(65, dtype=np.float32)
    with pytest.raises(RuntimeError) as caught:
        sample.launch(array, 65, _grid=(1, 1, 1))
    line = next(
        number
        for number, text in enumerate((HERE / "kernels.py").read_text("utf-8").splitlines(), 1)
        if "more than fits" in text
    )
    message = f"kernels.py:{line}: assertion failed: more than fits (in program (0, 0, 0))"
    assert str(caught.value) == message
    np.testing.assert_array_equal(array, np.arange(65))


@pytest.mark.usefixtures("mac")
def test_the_sample_refuses_wrong_arrays_and_grids(tmp_path: Path) -> None:
    launch = sample_of(export("add", tmp_path)[".py"]).launch
    a = np.zeros(8, np.float32)
    with pytest.raises(TypeError, match="buffer 1 is a contiguous array of float32"):
        launch(a, a.astype(np.float64), a, 8)
    with pytest.raises(ValueError, match="at most"):
        launch(a, a, a, 8, _grid=(2**30, 1, 1))
    launch(a[:0], a[:0], a[:0], 0)


@every_case
def test_the_sample_in_cpp_fits_the_headers(name: str, tmp_path: Path) -> None:
    spec = find_spec("ziglang")
    if spec is None or spec.origin is None:
        pytest.skip("it takes the headers of C that come with zig")
    library = Path(spec.origin).parent / "lib"
    names = ("x86-linux-gnu", "generic-glibc", "x86-linux-any", "any-linux-any")
    folders = [library / "include", *(library / "libc" / "include" / each for each in names)]
    command = [
        *find_toolchain().compiler,
        *("--target=x86_64-linux-gnu", "-x", "c++", "-std=c++17", "-fsyntax-only", "-nostdinc"),
        *("-Wall", "-Wextra", "-Werror", "-I", str(HERE / "metal_cpp")),
        *(flag for folder in folders for flag in ("-isystem", str(folder))),
        str(export(name, tmp_path)[".cpp"]),
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.stderr, run.returncode) == ("", 0)


@pytest.mark.parametrize("name", ["add", "sum_of_many", "größe", "reverse", "scale_rows"])
def test_the_sample_in_swift_is_reviewed(
    name: str, tmp_path: Path, example_snapshot: SnapshotCheck
) -> None:
    path = export(name, tmp_path)[".swift"]
    example_snapshot(f"export_{path.stem}", path.read_text("utf-8"))


@every_case
def test_brackets_of_the_sample_in_swift_are_closed(name: str, tmp_path: Path) -> None:
    text = export(name, tmp_path)[".swift"].read_text("utf-8")
    for opening, closing in ("()", "[]", "{}"):
        assert text.count(opening) == text.count(closing)


@pytest.mark.usefixtures("mac")
@every_case
def test_the_text_is_what_a_mac_gets(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    text = export(name, tmp_path)[".metal"].read_text("utf-8")
    threads = case.options.get("_tptg")
    compiled = case.kernel.compile(*case.types, _tptg=threads, **case.constants)
    assert text == (compiled.checked.msl if case.options.get("_checked") else compiled.msl)


@thorough
def test_an_export_has_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from tests.export.test_export import export, CASES\n"
        "for name in CASES: export(name, Path(sys.argv[1]) / name)"
    )
    for seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", program, str(tmp_path / seed)]
        subprocess.run(command, env=environment, cwd=HERE.parent.parent, check=True)
    first, second = (contents(tmp_path / seed) for seed in ("0", "1"))
    assert len(first) == 6 * len(CASES)
    assert first == second


def contents(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_a_kernel_is_exported_for_each_of_its_examples(tmp_path: Path) -> None:
    names = [path.name for path in normalize.export(tmp_path)]
    assert names[:2] == ["normalize_1.metal", "normalize_1.json"]
    assert "normalize_2_host.py" in names
    assert [path.name for path in add.export(tmp_path)][:2] == ["add.metal", "add.json"]


def test_the_manifest_says_what_the_kernel_uses(tmp_path: Path) -> None:
    plain = manifest_of("reverse", tmp_path)
    assert (plain["threads"], plain["metal"]["version"]) == (64, "2.3")
    memory = {"name": "shared", "bytes": 256, "is_allocated": True}
    assert plain["threadgroup_memory"] == {"bytes": 256, "arrays": [memory]}
    assert plain["grid"] == {"axes": 1, "rule": None, "extents": None}
    assert [site["kind"] for site in plain["sites"]] == ["assert"]
    rows = manifest_of("scale_rows_wide", tmp_path)
    assert rows["grid"]["rule"] == "(ceil(W / BLOCK), H)"
    extents = [{"size": "W", "divisor": 8}, {"size": 5, "divisor": 1}]
    assert rows["grid"]["extents"] == extents
    sources = {(b["source"], b["dtype"]) for b in rows["buffers"] if b["kind"] == "scalar"}
    assert {("extent", "i64"), ("stride", "i64")} <= sources
    assert rows["checked"]
    many = manifest_of("sum_of_many", tmp_path)
    assert [each["kind"] for each in many["buffers"]] == ["array", "scalar", "scalars"][::2]


def test_files_that_are_not_ours_are_kept(tmp_path: Path) -> None:
    export("add", tmp_path)
    sample = tmp_path / "add_host.swift"
    sample.write_text("// mine\n")
    with pytest.raises(eas.ExportError) as caught:
        add.export(tmp_path, "*f16", "*f16", "*f16", "i32", BLOCK=64)
    assert str(caught.value).startswith(
        f"{tmp_path} has files that were not exported, or were changed since: add_host.swift;"
    )
    assert sample.read_text() == "// mine\n"
    assert "float*" in (tmp_path / "add.metal").read_text("utf-8")
    add.export(tmp_path, "*f16", "*f16", "*f16", "i32", BLOCK=64, _force=True)
    assert "half*" in (tmp_path / "add.metal").read_text("utf-8")
    add.export(tmp_path, "*f32", "*f32", "*f32", "i32", BLOCK=64)  # all of it is ours again


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(eas.ExportError, match="is not a folder"):
        add.export(file / "inside")
    (tmp_path / "add.json").mkdir()
    with pytest.raises(eas.ExportError, match="is there and cannot be read"):
        add.export(tmp_path)
    if os.geteuid():
        locked = tmp_path / "locked"
        locked.mkdir(mode=0o500)
        with pytest.raises(eas.ExportError, match="no permission"):
            add.export(locked)
        assert list(locked.iterdir()) == []


def test_what_cannot_be_exported_is_refused(tmp_path: Path) -> None:
    with pytest.raises(eas.ExportError, match=r"^kernel `reverse` has no `examples`"):
        reverse.export(tmp_path)
    with pytest.raises(eas.LaunchError, match="lacks the argument `BLOCK`"):
        add.export(tmp_path, "*f32", "*f32", "*f32", "i32")
    array = np.zeros(4, np.float32)
    with pytest.raises(eas.ExportError, match="`b` is the same array as another argument"):
        add.export(tmp_path, array, array, array + 1, 4, BLOCK=4)
    with pytest.raises(eas.CompileError, match="Metal has no f64"):
        add.export(tmp_path, "*f64", "*f64", "*f64", "i32", BLOCK=4)
    assert list(tmp_path.iterdir()) == []
