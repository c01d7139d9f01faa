"""`eas init`: a project that works from an empty folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from eas.cli import main
from eas.cli.init import TEMPLATES, source_url, write_project
from eas.support.command_line import UsageError
from tests.thorough import thorough

ROOT = Path(__file__).parent.parent.parent
PYTEST = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]


def files_of(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("new") / "My kernels!"
    write_project(folder, str(ROOT))
    return folder


def test_a_project_has_kernels_tests_texts_and_set_up(project: Path) -> None:
    texts = {
        "kernels/__metal__/relu.metal",
        "kernels/__metal__/softmax.metal",
        "tests/__metal__/relu_half.metal",
    }
    assert files_of(project) == set(TEMPLATES) | texts


def test_its_settings_can_be_read_by_every_tool(project: Path) -> None:
    table = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))
    assert table["project"]["name"] == "my-kernels"
    assert table["project"]["dependencies"] == [f"easy_as @ {ROOT.as_uri()}"]
    for name in (".pre-commit-config.yaml", ".github/workflows/kernels.yml"):
        assert YAML(typ="safe").load((project / name).read_text("utf-8"))


def run(project: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *command],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@thorough
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["-m", "eas.cli", "check"], id="check"),
        pytest.param(
            ["-m", "eas.cli", "snapshot", "--check", "kernels/__init__.py"],
            marks=thorough,
            id="snapshot",
        ),
        pytest.param(
            ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"], id="tests"
        ),
    ],
)
def test_its_checks_pass(project: Path, command: list[str]) -> None:
    done = run(project, *command)
    assert done.returncode == 0, done.stdout + done.stderr


@thorough
def test_its_tests_fail_when_a_kernel_is_wrong(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "wrong"
    shutil.copytree(project, folder)
    kernels = folder / "kernels" / "__init__.py"
    kernels.write_text(kernels.read_text("utf-8").replace("mk.maximum", "mk.minimum"), "utf-8")
    done = run(folder, *PYTEST)
    assert done.returncode == 1
    assert "2 failed, 1 passed" in done.stdout
    snapshot = run(folder, "-m", "eas.cli", "snapshot", "--check", "kernels/__init__.py")
    assert snapshot.returncode == 1


def test_nothing_is_overwritten_and_each_file_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.md").write_text("mine")
    (tmp_path / "tests").mkdir()
    os.symlink("nowhere", tmp_path / "tests" / "test_kernels.py")
    assert main(["init", str(tmp_path)]) == 2
    message = capsys.readouterr().err
    assert str(tmp_path / "README.md") in message
    assert str(tmp_path / "tests" / "test_kernels.py") in message
    assert files_of(tmp_path) == {"README.md"}
    assert (tmp_path / "README.md").read_text() == "mine"


def test_without_a_source_the_released_package_is_named(tmp_path: Path) -> None:
    write_project(tmp_path / "kernels", None)
    text = (tmp_path / "kernels" / "pyproject.toml").read_text("utf-8")
    assert tomllib.loads(text)["project"]["dependencies"] == ["easy_as"]


def test_a_repository_with_a_tag_is_the_source_of_the_hook(tmp_path: Path) -> None:
    write_project(tmp_path / "a", "git+https://example.com/easy_as.git@v1.0")
    hooks = YAML(typ="safe").load((tmp_path / "a/.pre-commit-config.yaml").read_text("utf-8"))
    first = hooks["repos"][0]
    assert (first["repo"], first["rev"]) == ("https://example.com/easy_as.git", "v1.0")
    assert first["hooks"][0]["id"] == "eas-check"


def test_the_command_says_what_to_do_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "two words"]) == 0
    assert capsys.readouterr().out.endswith("next:\n  cd 'two words' && uv run pytest\n")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("no/such/path", "there is no file or folder no/such/path"),
        (str(ROOT / "docs"), "is no checkout of easy_as"),
        (str(ROOT / "README.md"), "is neither a checkout nor a wheel"),
        ('git+https://example.com/"x', "is no URL"),
    ],
)
def test_a_wrong_source_is_named(source: str, message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("+", r"\+")):
        source_url(source)


def test_a_folder_that_is_a_file_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["init", str(tmp_path / "file")]) == 2
    assert "is a file" in capsys.readouterr().err


@thorough
def test_two_commands_in_an_empty_folder_are_enough(tmp_path: Path) -> None:
    """The commands of docs/review.md, with a wheel in an environment of its own."""
    uv = shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not installed")
    environment = {k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "PYTHONPATH")}

    def command(*words: str | Path, folder: Path = tmp_path) -> None:
        done = subprocess.run(
            [str(word) for word in words],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    command(uv, "build", "--quiet", "--wheel", "--out-dir", tmp_path / "dist", ROOT)
    [wheel] = (tmp_path / "dist").glob("*.whl")
    venv.create(tmp_path / "first", with_pip=False)
    command(uv, "pip", "install", "--quiet", "--python", tmp_path / "first/bin/python", wheel)
    command(tmp_path / "first/bin/eas", "init", "--source", wheel, "my kernels")
    project = tmp_path / "my kernels"
    command(uv, "run", "--no-progress", "pytest", folder=project)
    command(uv, "run", "eas", "check", folder=project)
    command(uv, "run", "eas", "snapshot", "--check", "kernels/__init__.py", folder=project)
