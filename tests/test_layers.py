"""The arrows between packages point one way, and no module imports itself through others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.test_packaging import STAGES

REPOSITORY = Path(__file__).parent.parent

# What a package may import besides itself.
BELOW: dict[str, set[str]] = {
    "support": set(),
    "ir": {"support"},
    "frontend_ast": {"support", "ir"},
    "llvm": {"support", "ir"},
    "msl": {"support", "ir"},
    "runtime": {"support", "ir", "llvm"},  # runtime/cpu builds and runs what llvm writes
    "septran": {"support", "ir", "frontend_ast", "tuning"},
}

# They compile and launch by the functions that every user has, or know a module by its name.
UPWARD = {
    ("eas.frontend_ast.context", "eas.language"),
    ("eas.septran.logic.leaf_expressions", "eas.language"),
    ("eas.septran.logic.expressions", "eas.task_lang"),
    ("eas.septran.logic.expressions", "eas.septran.task_lang"),
    ("eas.runtime", "eas"),
    (
        "eas.runtime",
        "eas.compiled_launches",
    ),  # `get_runtime`, the way of the first easy_as to launch
    ("eas.septran.cli.commands", "eas"),
    ("eas.septran.threadgroup_memory", "eas"),
    ("eas.septran.operators", "eas"),
    ("eas.septran.operators", "eas.compiler"),  # `load_code_generator`
}

# They import a module whose name is not written in the call.
COMPUTED_NAMES = {
    "eas",  # from a table of whole names
    "eas.compiler",  # likewise
    "eas.runtime.metal.framework",  # parts of pyobjc
    "eas.analysis.loading",  # files of the user
    "eas.tuning.child",  # what the parent process names
}

# The stages of the code generators, the first one first; `top` are the files beside them.
MSL = ("ops", "analysis", "layout", "rewrites", "cxx", "schedule", "lower", "top", "host")
LLVM = ("emit", "analysis", "lanes", "top")

# What a folder of a package may import of the others there; `top` are the files beside them. A
# folder that is not listed fails.
FOLDERS: dict[str, dict[str, set[str]]] = {
    "eas": {
        "tuning": set(),  # candidates of any kind; SepTran has its own
        "top": {"export", "tuning"},  # a kernel is launched without the tools below
        "export": {"top"},  # `kernel.export` imports it when it is called
        "testing": {"top"},
        "analysis": {"testing", "top"},
        "lsp": {"analysis", "top"},
        "review": {"analysis", "review/metal", "testing", "top"},
        "review/metal": set(),  # it reads Metal texts, whoever wrote them
        "cli": {"analysis", "export", "lsp", "review", "testing", "top"},
    },
    "frontend_ast": {"source": set(), "top": {"source"}},
    "ir": {
        "top": {"ops", "passes", "text"},
        "ops": {"top"},
        "text": {"ops", "top"},
        "aliasing": {"ops", "top"},
        "passes": {"ops", "top"},
        "lowering": {"aliasing", "ops", "passes", "top"},
    },
    "runtime": {
        "top": set(),  # they know no backend, and no backend leans on another one
        "cpu": {"top"},
        "interpreter": {"top"},
        "metal": {"streams", "top"},
        "streams": {"top"},
        # memory of a GPU, what still writes to it, and machine code that users of DLPack call
        "tensors": {"cpu", "metal", "streams", "top"},
    },
    "septran": {
        "files": set(),
        "flat": set(),
        "logic": {"flat"},
        "lowering": {"files", "flat", "logic"},
        "picture": {"files", "flat", "logic", "lowering"},
        "targets": {"flat"},
        "tuner": {"files", "flat", "logic", "lowering", "top"},
        "top": {"cli", "files", "flat", "logic", "lowering", "picture", "targets"},
        "cli": {"files", "flat", "logic", "lowering", "picture", "targets", "top", "tuner"},
    },
}


@cache
def modules() -> dict[str, Path]:
    """All modules of ours by the name that they are imported with."""
    found: dict[str, Path] = {}
    for top in (*BELOW, "eas"):
        for path in (REPOSITORY / top).rglob("*.py"):
            if any(parent.is_symlink() for parent in path.parents):
                continue
            parts = path.relative_to(REPOSITORY).with_suffix("").parts
            name = ".".join(parts if top == "eas" else ("eas", *parts))
            found[name.removesuffix(".__init__")] = path
    return found


@cache
def tree_of(name: str) -> ast.Module:
    return ast.parse(modules()[name].read_text("utf-8"))


@cache
def nodes_of(name: str) -> tuple[ast.AST, ...]:
    """The nodes that may name a module, wherever they are."""
    kinds = (ast.Import, ast.ImportFrom, ast.Call, ast.Constant, ast.Attribute)
    return tuple(node for node in ast.walk(tree_of(name)) if isinstance(node, kinds))


@cache
def imports_of(name: str, only_at_start: bool = False) -> set[str]:
    """The modules of ours that one imports: anywhere, or when it is imported itself."""
    nodes = _at_start(tree_of(name)) if only_at_start else nodes_of(name)
    found = {each for node in nodes for each in _imported(node)}
    if not only_at_start:
        found |= {each for node in nodes for each in _named_in_a_string(node)}
        found |= {ast.unparse(node) for node in nodes if _is_a_folder_of_eas(node)}
    else:
        found |= {each for other in found for each in _packages_around(other)}
        found -= _packages_around(name)
    return (found & modules().keys()) - {name}


def _at_start(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run when a module is imported, also those in an `if` or a `try`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from node.orelse
            yield from _at_start(ast.Module(node.orelse, []))
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
            yield from _at_start(node)


def _imported(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(str(module), names):
            inner = [f"{module}.{alias.name}" for alias in names]
            yield from (each if each in modules() else module for each in inner)
        case ast.Call(args=[ast.Constant(str(module)), *_]) if _imports_by_name(node):
            yield module
        case _:
            pass


def _imports_by_name(call: ast.Call) -> bool:
    match call.func:
        case ast.Name(function) | ast.Attribute(attr=function):
            return function in ("import_module", "__import__")
        case _:
            return False


def _named_in_a_string(node: ast.AST) -> Iterator[str]:
    """As in a table for `import_module`, in a command with `-m`, or in a program with `-c`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        if node.value.startswith("eas."):
            yield node.value.partition(":")[0]
        yield from re.findall(r"^(?:from|import) (eas\.[\w.]+)", node.value, re.MULTILINE)


def _is_a_folder_of_eas(node: ast.AST) -> bool:
    """`eas.msl`, where `eas` was imported. (`eas.kernel` is a function and a file.)"""
    match node:
        case ast.Attribute(ast.Name("eas"), name):
            return (REPOSITORY / "eas" / name).is_dir()
        case _:
            return False


def _packages_around(name: str) -> set[str]:
    """Their `__init__.py` runs first: `{"eas", "eas.ir"}` for `eas.ir.nodes`."""
    return {name[: match.start()] for match in re.finditer(r"\.", name)}


def test_imports_have_whole_names() -> None:
    """The tests below find a module by its whole name only."""
    wrong = [
        f"{name}:{node.lineno}"
        for name in modules()
        for node in nodes_of(name)
        if (isinstance(node, ast.ImportFrom) and node.level > 0)
        or (isinstance(node, ast.Call) and name not in COMPUTED_NAMES and _is_computed(node))
    ]
    assert wrong == []


def _is_computed(call: ast.Call) -> bool:
    """Whether it imports a module by a name that is not whole, or no string."""
    match [*call.args, *(each.value for each in call.keywords)]:
        case [ast.Constant(str(name)), *_]:
            return name.startswith(".") and _imports_by_name(call)
        case _:
            return _imports_by_name(call)


def test_our_modules_are_imported_below_eas() -> None:
    """The other folders of a checkout are not installed: users have neither `ir` nor `tests`."""
    others = {path.stem for path in REPOSITORY.iterdir()} - {"eas"}
    wrong = [
        f"{name} imports {other}"
        for name in modules()
        for node in nodes_of(name)
        for other in _imported(node)
        if other.split(".")[0] in others
    ]
    assert wrong == []


def test_every_folder_has_a_place_in_the_order() -> None:
    assert sorted(BELOW) == STAGES
    for package, stages in (("msl", MSL), ("llvm", LLVM)):
        assert {folder_of(name, package) for name in modules()} - {None} == set(stages)


def package_of(name: str) -> str:
    return name.split(".")[1]


@pytest.mark.parametrize("package", BELOW)
def test_a_package_imports_only_what_is_below_it(package: str) -> None:
    allowed = BELOW[package] | {package}
    wrong = [
        f"{name} imports {other}"
        for name in modules()
        if name.split(".")[1:2] == [package]
        for other in imports_of(name)
        if (name, other) not in UPWARD and (other == "eas" or package_of(other) not in allowed)
    ]
    assert wrong == []


@pytest.mark.parametrize(("package", "stages"), [("msl", MSL), ("llvm", LLVM)])
def test_a_stage_imports_only_the_stages_before_it(package: str, stages: tuple[str, ...]) -> None:
    ours = {name: folder for name in modules() if (folder := folder_of(name, package))}
    wrong = [
        f"{name} imports {other}"
        for name, folder in ours.items()
        for other in imports_of(name)
        if other in ours and stages.index(ours[other]) > stages.index(folder)
    ]
    assert wrong == []


@pytest.mark.parametrize("package", FOLDERS)
def test_a_folder_imports_only_what_is_below_it(package: str) -> None:
    ours = {name: folder for name in modules() if (folder := folder_of(name, package))}
    assert set(ours.values()) == FOLDERS[package].keys()
    wrong = [
        f"{name} imports {other}"
        for name, folder in ours.items()
        for other in imports_of(name)
        if other in ours
        and ours[other] not in FOLDERS[package][folder] | {folder}
        and (name, other) not in UPWARD
    ]
    assert wrong == []


def folder_of(name: str, package: str) -> str | None:
    """The folder of a package that a module is in, `top` if in none; or None for other packages."""
    path = modules()[name].relative_to(REPOSITORY)
    if path.parts[0] != package:
        return None
    inner = "/".join(path.parts[1:3])
    if inner in FOLDERS.get(package, {}):
        return inner
    return path.parts[1] if len(path.parts) > 2 else "top"


def test_the_engine_of_tuning_imports_only_the_support() -> None:
    """Kernels and operators are tuned by it: it knows neither."""
    wrong = [
        f"{name} imports {other}"
        for name in modules()
        if name.split(".")[:2] == ["eas", "tuning"]
        for other in imports_of(name)
        if other.split(".")[1:2] not in (["tuning"], ["support"])
    ]
    assert wrong == []


def test_no_module_imports_itself_through_others() -> None:
    arrows = {name: imports_of(name, only_at_start=True) for name in modules()}
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join((*path[path.index(name) :], name))
        if name in done:
            return
        for other in sorted(arrows[name]):
            visit(other, (*path, name))
        done.add(name)

    for name in sorted(arrows):
        visit(name, ())


def test_importing_eas_loads_no_code_generator() -> None:
    """They are loaded for the first kernel that needs them: `import eas` stays short."""
    loaded = {"eas"}
    while (
        more := {other for name in loaded for other in imports_of(name, only_at_start=True)}
        - loaded
    ):
        loaded |= more
    assert "eas.compiler" in loaded
    generators = {"eas.msl.kernel", "eas.metal_text", "eas.llvm.pipeline", "eas.runtime.cpu.llvm"}
    assert loaded & generators == set()
