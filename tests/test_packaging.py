"""What is installed: every package of ours, under `eas` and nowhere else."""

from __future__ import annotations

import tomllib
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

import eas

REPOSITORY = Path(__file__).parent.parent
PROJECT: dict[str, Any] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
SETUPTOOLS: dict[str, Any] = PROJECT["tool"]["setuptools"]
STAGES = ["frontend_ast", "ir", "llvm", "msl", "runtime", "septran", "support"]
NOT_INSTALLED = {"tests", "examples", "benchmarks", "build"}


def packages_on_disk() -> set[str]:
    """Every folder with an `__init__.py`, by the name it is imported with."""
    found: set[str] = set()
    for top in REPOSITORY.iterdir():
        if top.name.startswith(".") or top.name in NOT_INSTALLED or not top.is_dir():
            continue
        for file in top.rglob("__init__.py"):
            name = ".".join(file.parent.relative_to(REPOSITORY).parts)
            found.add(f"eas.{name}" if top.name in STAGES else name)
    return found


def test_every_package_is_listed() -> None:
    assert set(SETUPTOOLS["packages"]) == packages_on_disk()


def test_every_stage_is_mapped_below_eas() -> None:
    expected = {"eas": "eas"} | {f"eas.{stage}": stage for stage in STAGES}
    assert SETUPTOOLS["package-dir"] == expected


@pytest.mark.parametrize("stage", STAGES)
def test_a_checkout_imports_the_stage_from_its_folder(stage: str) -> None:
    link = REPOSITORY / "eas" / stage
    # An archive without symbolic links has a small file here, or nothing: then the
    # installed package's finder maps the name, and there is no link to check.
    if link.is_dir():
        assert link.is_symlink()
        assert link.readlink() == Path("..", stage)


def test_the_readme_names_the_versions_of_python_that_are_supported() -> None:
    words = [each.split(" :: ") for each in PROJECT["project"]["classifiers"]]
    *most, last = [version for *_, version in words if version.startswith("3.")]
    readme = (REPOSITORY / "README.md").read_text("utf-8")
    assert f"With Python {', '.join(most)} or {last} and pip" in readme


def test_only_eas_and_task_lang_are_installed() -> None:
    names = (distribution("easy_as").read_text("top_level.txt") or "").split()
    assert names == ["eas", "task_lang"]


def test_the_linter_refuses_to_import_a_stage_without_eas() -> None:
    banned: dict[str, dict[str, str]] = PROJECT["tool"]["ruff"]["lint"]["flake8-tidy-imports"][
        "banned-api"
    ]
    assert banned == {stage: {"msg": f"import eas.{stage}"} for stage in STAGES}


def test_the_linter_sees_each_file_once() -> None:
    links = {f"eas/{stage}" for stage in STAGES}
    assert links <= set(PROJECT["tool"]["ruff"]["extend-exclude"])


def test_the_package_has_the_version_of_the_project() -> None:
    assert eas.__version__ == PROJECT["project"]["version"]


def test_every_data_file_is_packaged() -> None:
    """Files of our packages that are no Python, against the patterns of `package-data`."""
    folders: dict[str, str] = SETUPTOOLS["package-dir"]
    packaged = {
        file
        for package, patterns in SETUPTOOLS["package-data"].items()
        for pattern in patterns
        for file in (REPOSITORY / folders[package]).glob(pattern)
    }
    assert packaged == data_files()


def data_files() -> set[Path]:
    every = (file for top in ["eas", *STAGES] for file in (REPOSITORY / top).rglob("*"))
    return {
        file
        for file in every
        if file.is_file() and file.suffix not in {".py", ".pyc"} and file.name not in STAGES
    }
