"""Files of logic: Python that is run once for its definitions, whose tasks are then read."""

from __future__ import annotations

import importlib.util
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from eas.frontend_ast.source.errors import CompileError
from eas.septran.logic.errors import LogicError
from eas.septran.logic.tasks import Primitive, Task
from eas.support.diagnostics import Diagnostic
from eas.support.location import NOWHERE, Loc, SourceName
from eas.support.records import frozen, replace

LARGEST = 4 * 2**20  # bytes of a file


@frozen(eq=False)
class Logic:
    """The tasks of an operator by the names of their functions."""

    name: str
    tasks: dict[str, Task]


def load_logic(logic: str | os.PathLike[str] | ModuleType | Task | Iterable[Task]) -> Logic:
    """The tasks of a file, a module, a task (with all that it can launch), or a list of them."""
    if isinstance(logic, ModuleType):
        return _logic(logic.__name__, vars(logic).values())
    if isinstance(logic, Task):
        return _logic(logic.function_name, [logic, *logic.outer_names.values()])
    if not isinstance(logic, str | os.PathLike):
        tasks = list(logic)
        return _logic(tasks[0].function_name if tasks else "", tasks)
    path = os.fspath(logic)
    found = _logic(Path(path).stem, vars(run_file(path)).values())
    if not found.tasks:
        message = "the file has no tasks"
        loc = Loc(SourceName(os.path.basename(path), path), 1, 0, 1, 0)
        raise LogicError([Diagnostic("S811", message, loc, help=("define one: `@task.define`",))])
    return found


def load_primitives(path: str | os.PathLike[str]) -> dict[str, Primitive]:
    """The primitives that a file declares with `@task.leaf()`."""
    values = vars(run_file(os.fspath(path))).values()
    return {each.name: each for each in values if isinstance(each, Primitive)}


def _logic(name: str, values: Iterable[object]) -> Logic:
    tasks = [each for each in values if isinstance(each, Task)]
    return Logic(name, {task.function_name: task for task in tasks})


def run_file(path: str) -> ModuleType:
    """The module of a file, with its folder on the path as `python FILE` would have it.

    `task` need not be imported in a file of primitives: the seed's files use it, and `T`, as given.
    """
    loc = Loc(SourceName(os.path.basename(path), path), 1, 0, 1, 0)
    if (why := _trouble(path)) is not None:
        unread = replace(loc, source=SourceName(os.path.basename(path), path, ()))
        raise LogicError([Diagnostic("S101", f"`{path}` cannot be read: {why}", unread)])
    name = f"septran_logic_{Path(path).stem}"
    spec = importlib.util.spec_from_file_location(name, os.path.abspath(path))
    if spec is None or spec.loader is None:
        raise LogicError([Diagnostic("S811", f"{path} is not a Python file", NOWHERE)])
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    from eas.septran.logic import language as task_lang

    vars(module).update(task=task_lang, T=task_lang.T)
    folder = os.path.dirname(os.path.abspath(path))
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except CompileError:
        raise
    except SyntaxError as error:
        message = f"this is not Python: {error.msg}"
        raise LogicError([Diagnostic("S811", message, _syntax_loc(error, loc))]) from error
    except (Exception, SystemExit) as error:
        message = f"running {os.path.basename(path)} raises {type(error).__name__}: {error}"
        raise LogicError([Diagnostic("S811", message, _line_in(error, path, loc))]) from error
    finally:
        sys.path.remove(folder)
    return module


def _trouble(path: str) -> str | None:
    """Why a file cannot be read, if it cannot: as for files of YAML."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return "it is not a file"
        if os.path.getsize(path) > LARGEST:
            return f"it has more than {LARGEST // 2**20} MiB"
        with open(path, "rb"):
            return None
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        return why.lower()


def _syntax_loc(error: SyntaxError, default: Loc) -> Loc:
    """The place of a syntax error; it may be in a file that the logic imports."""
    line, column = error.lineno or 1, max(error.offset or 1, 1) - 1
    path = error.filename or default.source.path
    is_here = os.path.abspath(path) == os.path.abspath(default.source.path)
    source = default.source if is_here else SourceName(os.path.basename(path), path)
    return Loc(source, line, column, line, column + 1)


def _line_in(error: BaseException, path: str, default: Loc) -> Loc:
    """The line of a file at which an error was raised."""
    found, trace = default, error.__traceback__
    while trace is not None:
        if os.path.abspath(trace.tb_frame.f_code.co_filename) == os.path.abspath(path):
            found = Loc(default.source, trace.tb_lineno, 0, trace.tb_lineno, 0)
        trace = trace.tb_next
    return found
