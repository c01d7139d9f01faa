"""`eas review`: commits and folders, what is compared, in which order, and the exit codes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from eas.cli import main
from eas.review.pairs import Pair, pair_up
from eas.review.trees import open_tree
from eas.review.versions import Version, Wanted, read_versions
from tests.review.repositories import CHEAP, DEAR, Repository, kernel_file
from tests.review.texts import metal

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = Repository(tmp_path / "a repository")
    monkeypatch.chdir(made.folder)
    return made


def review(old: str, new: str, tmp_path: Path, **wanted: object) -> dict[str, Pair]:
    trees = [open_tree(name, tmp_path / "scratch") for name in (old, new)]
    what = Wanted(**wanted)  # pyright: ignore[reportArgumentType]
    said: list[str] = []
    pairs = pair_up(*(read_versions(tree, what, said.append) for tree in trees))
    return {pair.key: pair for pair in pairs}


def version(name: str, text: str) -> Version:
    return Version(name, "probe", text)


def statuses(old: dict[str, str], new: dict[str, str]) -> dict[str, str]:
    sides = [{key: version(key, text) for key, text in side.items()} for side in (old, new)]
    return {pair.key: pair.status for pair in pair_up(*sides)}


def test_stored_texts_of_two_commits_are_compared(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"kernels/__metal__/probe.metal": CHEAP})
    repository.commit({"kernels/__metal__/probe.metal": DEAR})
    [pair] = review("HEAD~1", "HEAD", tmp_path).values()
    assert pair.status == "more"
    assert {row.key: (row.old, row.new) for row in pair.increases} == {
        "loads": ("1 × 4 B", "2 × 4 B"),
        "flops": ("0", "1"),
    }


def test_nothing_is_checked_out_and_nothing_is_left(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    repository.commit({"a.metal": CHEAP, "k.py": kernel_file("v")})
    repository.commit({"a.metal": DEAR, "k.py": kernel_file("v + v")})
    (repository.folder / "a.metal").write_text("work in progress")
    before = repository.git("status", "--porcelain"), repository.git("log", "--all")
    assert main(["review", "HEAD~1", "HEAD", "-o", str(tmp_path / "page.html")]) == 0
    assert (repository.git("status", "--porcelain"), repository.git("log", "--all")) == before
    assert os.listdir(tmp_path / "scratch") == []
    assert sorted(os.listdir(repository.folder)) == [".git", "a.metal", "k.py"]


def test_kernels_without_stored_texts_are_compiled_as_they_are_in_each_commit(
    repository: Repository, tmp_path: Path
) -> None:
    repository.commit({"kernels.py": kernel_file("mk.maximum(v, 0.0)")})
    repository.commit({"kernels.py": "# a line\n" + kernel_file("mk.exp(v) * v")})
    [pair] = review("HEAD~1", "HEAD", tmp_path).values()
    assert pair.key == "kernels.py::relu"
    assert {row.key for row in pair.increases} == {"flops", "functions"}
    assert pair.new is not None
    assert "exp" in pair.new.ir
    assert pair.new.python[0].head == 6


def test_stored_alone_runs_nothing(repository: Repository, tmp_path: Path) -> None:
    planted = f"open({str(tmp_path / 'ran')!r}, 'w')\n"
    repository.commit({"a.metal": CHEAP, "k.py": planted + kernel_file("v")})
    repository.commit({"a.metal": DEAR})
    assert main(["review", "HEAD~1", "HEAD", "--stored", "-o", str(tmp_path / "page.html")]) == 0
    assert not (tmp_path / "ran").exists()


def test_module_code_runs_in_a_process_of_its_own(repository: Repository, tmp_path: Path) -> None:
    ends = "import os, sys\nprint('noise')\nsys.exit(3)\n"
    repository.commit({"k.py": kernel_file("v")})
    repository.commit({"k.py": ends + kernel_file("v")})
    [pair] = review("HEAD~1", "HEAD", tmp_path).values()
    assert pair.status == "broken"
    assert pair.new is not None
    assert "SystemExit" in pair.new.error or "ended" in pair.new.error


def test_a_kernel_without_types_is_left_out_and_named(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    untyped = "\n@eas.kernel\ndef vague(x, y):\n    mk.store(y, 0, mk.load(x, 0))\n"
    repository.commit({"k.py": kernel_file("v") + untyped})
    assert list(review("HEAD", "HEAD", tmp_path)) == ["k.py::relu"]
    assert main(["review", "HEAD", "HEAD", "-o", str(tmp_path / "page.html")]) == 0
    assert "because the types are not known: vague" in capsys.readouterr().err


def test_names_that_are_no_text_are_escaped(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = os.fsdecode(b"\xff\x1b[31m\n.metal")
    repository.commit({name: CHEAP})
    repository.commit({name: DEAR})
    assert main(["review", "HEAD~1", "HEAD", "-o", str(tmp_path / "page.html")]) == 0
    assert main(["review", "HEAD~1", "HEAD", "--markdown"]) == 0
    out = capsys.readouterr().out
    assert "\\x1b[31m\\n" in out
    assert "\x1b" not in out
    assert "\x1b" not in (tmp_path / "page.html").read_text("utf-8")


def test_a_kernel_that_no_longer_compiles_is_first(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"a.py": kernel_file("v", "one"), "b.py": kernel_file("v", "two")})
    new = {"a.py": kernel_file("v + v", "one"), "b.py": kernel_file("mk.exq(v)", "two")}
    repository.commit(new)
    pairs = list(review("HEAD~1", "HEAD", tmp_path).values())
    assert [(pair.name, pair.status) for pair in pairs] == [("two", "broken"), ("one", "more")]
    assert "E0" in pairs[0].headline


def test_a_stale_stored_text_does_not_hide_a_change(repository: Repository, tmp_path: Path) -> None:
    stored = CHEAP.replace("probe", "relu")
    project = '[tool.eas.check]\npaths = ["."]\n'
    first = {"__metal__/relu.metal": stored, "k.py": kernel_file("v"), "pyproject.toml": project}
    repository.commit(first)
    repository.commit({"k.py": kernel_file("v * 2.0 + 1.0")})
    [pair] = review("HEAD~1", "HEAD", tmp_path).values()
    assert pair.status == "more"
    assert "not that of the new Python" in pair.note


def test_added_removed_and_renamed_kernels_are_apart(
    repository: Repository, tmp_path: Path
) -> None:
    other = metal("for (int k = 0; k < N; ++k) { y[k] = precise::exp(x[k]); }", name="other")
    repository.commit({"old/probe.metal": CHEAP, "gone.metal": other})
    new = metal("threadgroup int a[4];\na[t] = 1;", name="fresh", threads=32)
    repository.commit(
        {"old/probe.metal": None, "gone.metal": None, "new/probe.metal": CHEAP, "n.metal": new}
    )
    pairs = review("HEAD~1", "HEAD", tmp_path)
    found = {key: (pair.status, pair.is_renamed) for key, pair in pairs.items()}
    assert found == {
        "n": ("added", False),
        "gone": ("removed", False),
        "new/probe": ("same", True),
    }


def test_a_kernel_with_a_new_name_is_found_by_its_text() -> None:
    body = "float a = x[t];\nfloat b = x[t + 1];\nfloat c = a * b;\ny[t] = c;"
    old = Version("a", "one", metal(body, name="one"))
    new = Version("b", "two", metal(body.replace("c;", "c + a;"), name="two"))
    [pair] = pair_up({"a": old}, {"b": new})
    assert (pair.is_renamed, pair.status) == (True, "more")


def test_kernels_are_in_the_order_of_their_largest_increase() -> None:
    loads = [f"y[t] = {' + '.join(f'x[t + {i}]' for i in range(n))};" for n in (1, 2, 3, 4)]
    old = {"a": metal(loads[1]), "b": metal(loads[0]), "c": metal(loads[3]), "d": metal(loads[0])}
    new = {"a": metal(loads[2]), "b": metal(loads[2]), "c": metal(loads[2]), "d": metal(loads[0])}
    assert statuses(old, new) == {"b": "more", "a": "more", "c": "less", "d": "same"}
    assert list(statuses(old, new)) == ["b", "a", "c", "d"]


def test_comments_that_name_python_lines_change_nothing() -> None:
    old = CHEAP.replace("x[t];", "x[t];   // kernels.py:12")
    new = CHEAP.replace("x[t];", "x[t];   // +3")
    assert statuses({"a": old}, {"a": new}) == {"a": "same"}


def test_a_larger_block_is_not_more_expensive() -> None:
    small = metal("for (int e = t; e < 128; e += 64) { y[e] = x[e] * 2.0f; }")
    large = metal("for (int e = t; e < 512; e += 64) { y[e] = x[e] * 2.0f; }")
    assert statuses({"a": small}, {"a": large}) == {"a": "text"}


def test_a_loop_with_a_wider_step_is_not_more_expensive() -> None:
    narrow = metal("for (int k = 0; k < N; k += 8) { y[k] = x[k]; }")
    twice = "for (int k = 0; k < N; k += 16) { y[k] = x[k]; y[k + 8] = x[k + 8]; }"
    assert statuses({"a": narrow}, {"a": metal(twice)}) == {"a": "text"}


def test_narrower_accesses_to_the_same_bytes_are_more_expensive() -> None:
    wide = "device float4* a = (device float4*)y;\na[t] = a[t + 1];"
    narrow = "for (int i = 0; i < 4; ++i) { y[t * 4 + i] = y[t * 4 + i + 4]; }"
    sides = [{"a": version("a", metal(each))} for each in (wide, narrow)]
    [pair] = pair_up(*sides)
    [loads] = [row for row in pair.increases if row.key == "loads"]
    assert (loads.old, loads.new) == ("0.25 × 16 B", "1 × 4 B")


def test_a_text_that_is_not_read_is_shown_without_cost(
    repository: Repository, tmp_path: Path
) -> None:
    odd = CHEAP.replace("y[t] = x[t];", "switch (t) { default: y[t] = x[t]; }")
    repository.commit({"a.metal": CHEAP, "b.metal": b"\xff\xfe threads per program \x00"})
    repository.commit({"a.metal": odd, "b.metal": b"\xff\x00 4 threads per program"})
    pairs = review("HEAD~1", "HEAD", tmp_path)
    assert {key: pair.status for key, pair in pairs.items()} == {"a": "text", "b": "text"}
    assert "`switch` is not read" in pairs["a"].note


def test_windows_line_ends_are_no_change(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"a.metal": CHEAP, ".gitattributes": "* -text"})
    repository.commit({"a.metal": CHEAP.replace("\n", "\r\n")})
    assert [pair.status for pair in review("HEAD~1", "HEAD", tmp_path).values()] == ["same"]


def test_two_folders_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in (("old ones", CHEAP), ("new ones", DEAR)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "probe.metal").write_text(text, "utf-8")
    page = tmp_path / "page.html"
    folders = [str(tmp_path / name) for name in ("old ones", "new ones")]
    assert main(["review", *folders, "-o", str(page)]) == 0
    assert "▲ flops 0 → 1" in capsys.readouterr().out
    assert page.is_file()


def test_the_working_tree_is_a_folder(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"a.metal": CHEAP})
    (repository.folder / "a.metal").write_text(DEAR, "utf-8")
    assert [pair.status for pair in review("HEAD", ".", tmp_path).values()] == ["more"]


def test_paths_limit_what_is_compared(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"a/x.metal": CHEAP, "ab/y.metal": CHEAP, "k.py": kernel_file("v")})
    repository.commit({"a/x.metal": DEAR, "ab/y.metal": DEAR})
    assert list(review("HEAD~1", "HEAD", tmp_path, paths=("a",))) == ["a/x"]
    assert list(review("HEAD~1", "HEAD", tmp_path, paths=("k.py",))) == ["k.py::relu"]


@pytest.mark.parametrize(
    ("flags", "code"),
    [([], 0), (["--fail-above", "0"], 1), (["--fail-above", "150%"], 0)],
)
def test_exit_codes(repository: Repository, tmp_path: Path, flags: list[str], code: int) -> None:
    repository.commit({"a.metal": metal("y[t] = x[t] * 2.0f;")})
    repository.commit({"a.metal": metal("y[t] = x[t] * 2.0f + x[t + 1];")})
    assert main(["review", "HEAD~1", "HEAD", "-o", str(tmp_path / "p.html"), *flags]) == code
    assert main(["review", "HEAD", "HEAD~1", "-o", str(tmp_path / "p.html"), *flags]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "HEAD"], "there is no commit and no folder nowhere"),
        (["a.metal", "HEAD"], "a.metal is a file"),
        (["HEAD", "HEAD", "no/such"], "has kernels below no/such"),
        (["HEAD", "HEAD", "/tmp"], "relative to the root"),
        (["HEAD", "HEAD", "-o", "missing/folder/page.html"], "cannot be written"),
        (["HEAD", "HEAD", "--markdown", "-o", "-"], "cannot both be printed"),
    ],
)
def test_wrong_usage_is_named(
    repository: Repository, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    repository.commit({"a.metal": CHEAP})
    assert main(["review", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_shallow_clone_says_how_to_get_the_commit(
    repository: Repository,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = repository.commit({"a.metal": CHEAP})
    repository.commit({"a.metal": DEAR})
    clone = tmp_path / "clone"
    url = repository.folder.as_uri()
    subprocess.run(["git", "clone", "--quiet", "--depth=1", url, str(clone)], check=True)
    monkeypatch.chdir(clone)
    assert main(["review", first, "HEAD"]) == 2
    assert "git fetch --unshallow" in capsys.readouterr().err


def test_outside_of_a_repository_there_are_no_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert main(["review", "HEAD~1", "HEAD"]) == 2
    assert "this is no git repository" in capsys.readouterr().err


def test_links_and_odd_paths_of_a_commit_are_not_written(
    repository: Repository, tmp_path: Path
) -> None:
    os.symlink("/etc/passwd", repository.folder / "link.metal")
    repository.commit({"a.metal": CHEAP})
    tree = open_tree("HEAD", tmp_path / "scratch")
    assert [path.name for path in tree.folder.iterdir()] == ["a.metal"]


def test_markdown_names_what_grew(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"a.metal": CHEAP, "b|c.metal": CHEAP})
    repository.commit({"a.metal": DEAR, "b|c.metal": DEAR})
    assert main(["review", "HEAD~1", "HEAD", "--markdown"]) == 0
    out = capsys.readouterr().out
    assert "2 more expensive." in out
    rows = [line for line in out.splitlines() if line.startswith("| `")]
    assert rows[0] == (
        "| `a` | more expensive | 🔺 flops: 0 → **1**<br>🔺 device loads: 1 × 4 B → **2 × 4 B** "
        "(+100 %) |"
    )
    assert rows[1].startswith("| `b_c` |")
    assert not (repository.folder / "eas-review.html").exists()


def test_two_writers_of_this_project_are_compared_by_their_snapshots(tmp_path: Path) -> None:
    pairs = review(str(ROOT / "snapshots"), str(ROOT / "snapshots"), tmp_path, is_compiled=False)
    assert len(pairs) > 90
    assert {pair.status for pair in pairs.values()} == {"same"}
