"""The project uses the words of the field, so that a compiler engineer finds things by searching.

Each idea below has a term that every textbook has. The file that implements it says so, and our
former words for it occur nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent

TERMS = [
    ("diverge", "frontend_ast/collective.py"),
    ("diverge", "ir/verify.py"),
    ("join", "frontend_ast/joins.py"),
    ("predicate", "ir/lowering/lockstep.py"),
    ("lockstep", "msl/rewrites/lockstep_regions.py"),
    ("lockstep", "llvm/lockstep_regions.py"),
    ("uniform", "ir/lowering/uniform_loops.py"),
    ("reconverge", "msl/host/convergence.py"),
    ("rematerialize", "llvm/analysis/rematerialization.py"),
    ("double buffer", "msl/schedule/double_buffering.py"),
    ("parity", "msl/ops/mma.py"),
    ("prefetch", "msl/ops/mma.py"),
    ("software pipelining", "msl/ops/mma.py"),
    ("epilogue", "msl/ops/mma.py"),
    ("double buffer", "septran/lowering/pipelining.py"),
    ("software pipelining", "septran/lowering/pipelining.py"),
    ("bank conflict", "msl/lower/mma.py"),
    ("partials", "msl/lower/reductions.py"),
    ("fuse", "msl/rewrites/reduction_fusion.py"),
    ("all-reduce", "msl/rewrites/all_reduce.py"),
    ("broadcast reduction", "msl/rewrites/all_reduce.py"),
    ("owner", "msl/layout/layout.py"),
    ("materialize", "msl/layout/materialization.py"),
    ("threadgroup memory", "msl/schedule/memory_planning.py"),
    ("shared memory", "msl/schedule/memory_planning.py"),
    ("in-bounds guard", "llvm/lanes/interior.py"),
    ("loop versioning", "llvm/lanes/loop_versioning.py"),
    ("peel", "llvm/lane_loop.py"),
    ("interior", "llvm/lanes/interior.py"),
    ("privatize", "llvm/lanes/privatization.py"),
    ("serialize", "llvm/lanes/serialization.py"),
    ("safepoint", "llvm/lanes/safepoints.py"),
    ("hoist", "ir/passes/hoist.py"),
    ("affine", "ir/aliasing/affine_forms.py"),
    ("alias", "ir/aliasing/__init__.py"),
    ("trip count", "llvm/lanes/counters.py"),
    ("legal", "ir/stages.py"),
    ("fast path", "eas/fast_path.py"),
    ("slow path", "eas/fast_path.py"),
    ("cache hit", "runtime/cpu/build.py"),
]

FORMER = [
    r"breaths?\b",
    r"lanes? (have |may |can )?part(s|ed|ing)?\b|part(s|ed|ing)? the lanes\b|is parted\b",
    r"ways that part\b",
    r"(take|takes|took|taken) (turns|th(is|at) way|ways)\b|(its|their) own ways?\b",
    r"own pace\b",
    r"in turns\b",
    r"steps? together\b",
    r"remak(e|es|ing)\b|remade\b|made again\b",
    r"at home\b|\bhome indices\b",
    r"anchored\b",
    r"(bring|brings|brought)( \w+)? together\b",
    r"(short|long) ways?\b",
    r"kept code\b|code that was kept\b",
    r"go(es)? round\b",
    r"under way\b",
    r"mended\b",
    r"(?<!study\.)tells?\b|told\b|telling\b",  # Optuna's method has that name
    r"\w*(initial|legal|material|normal|optim|parallel|privat|serial|special|vector)is(e|at)\w*",
]
FOLDERS = (
    *("eas", "frontend_ast", "ir", "llvm", "msl", "runtime", "septran", "support", "scripts"),
    *("docs", "snapshots", "examples", "benchmarks", "tests"),
)
SUFFIXES = {".py", ".md", ".metal", ".ir", ".txt", ".cpp", ".h", ".ll", ""}


@pytest.mark.parametrize(("term", "file"), TERMS)
def test_the_file_that_implements_an_idea_has_its_term(term: str, file: str) -> None:
    assert term in (REPOSITORY / file).read_text("utf-8").lower()


def test_former_words_are_gone() -> None:
    pattern = re.compile(rf"\b(?:{'|'.join(FORMER)})", re.IGNORECASE)
    found = [
        f"{name}:{number}: {line.strip()}"
        for name, text in texts().items()
        if pattern.search(text)
        for number, line in enumerate(text.splitlines())
        if pattern.search(line)
    ]
    assert found == []


def texts() -> dict[str, str]:
    """The name of each file and its lines, in which the words of identifiers stand apart."""
    names = {str(path.relative_to(REPOSITORY)): path for path in files()}
    return {
        name: f"{name}\n{path.read_text('utf-8')}".replace("_", " ") for name, path in names.items()
    }


def files() -> Iterator[Path]:
    """The files of the product, of its documentation, snapshots and tests, except this one."""
    yield from REPOSITORY.glob("*.md")
    for folder in FOLDERS:
        for path in (REPOSITORY / folder).rglob("*"):
            is_ours = "__pycache__" not in path.parts and not path.is_symlink()
            is_ours = is_ours and path != Path(__file__)
            if is_ours and path.is_file() and path.suffix in SUFFIXES:
                yield path
