"""The text at import is the text that runs, and a text that nobody has edited is never refused."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from textwrap import dedent
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

import eas
from eas.frontend_ast.source import start, texts
from eas.frontend_ast.source.errors import Refusal
from eas.frontend_ast.source.reading import read_source
from tests.processes import PATIENCE
from tests.thorough import sampled

Load = Callable[..., ModuleType]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Writes a module and imports it."""
    monkeypatch.syspath_prepend(tmp_path)

    def load(
        text: str, name: str = "module", loader: type[SourceFileLoader] = SourceFileLoader
    ) -> ModuleType:
        path = tmp_path / f"{name}.py"
        path.write_text(dedent(text), encoding="utf-8")
        spec = importlib.util.spec_from_loader(name, loader(name, str(path)))
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    return load


def edit(module: ModuleType, old: str, new: str) -> None:
    path = Path(str(module.__file__))
    path.write_text(path.read_text().replace(old, new))
    later = path.stat().st_mtime + 10  # `linecache` compares times, which can be coarse
    os.utime(path, (later, later))


def is_found(function: FunctionType) -> bool:
    """Whether one of its texts compiles to the function."""
    return any(text.find(function) is not None for text in texts.texts_of(function))


def kernel_of(helper: str = "") -> str:
    return f"""
        import eas
        from eas import mk
        {helper}

        @eas.kernel
        def run(x, N, BLOCK: eas.constexpr):
            i = mk.arange(0, BLOCK)
            mk.store(x + i, scaled(mk.load(x + i)))
        """


def results(kernel: Any, backend: str = "interpret") -> list[float]:
    x = np.arange(1, 5, dtype=np.float32)
    kernel[1](x, 4, BLOCK=4, _backend=backend)
    return x.tolist()


@pytest.mark.parametrize("backend", ["interpret", "cpu"])
def test_a_kernel_that_is_edited_before_its_first_launch_runs_as_imported(
    load: Load, backend: str
) -> None:
    module = load(kernel_of().replace("scaled(mk.load(x + i))", "mk.load(x + i) * 2"))
    edit(module, "* 2", "* 3")
    assert results(module.run, backend) == [2, 4, 6, 8]


def test_a_kernel_runs_as_imported_when_it_is_compiled_again_for_other_types(load: Load) -> None:
    module = load(kernel_of().replace("scaled(mk.load(x + i))", "mk.load(x + i) * 2"))
    results(module.run)
    edit(module, "* 2", "* 3")
    x = np.arange(1, 5, dtype=np.int32)
    module.run[1](x, 4, BLOCK=4, _backend="interpret")
    assert x.tolist() == [2, 4, 6, 8]


def test_a_helper_of_the_same_file_runs_as_imported(load: Load) -> None:
    module = load(kernel_of("def scaled(a): return a * 2"))
    edit(module, "* 2", "* 3")
    assert results(module.run) == [2, 4, 6, 8]


def test_a_marked_helper_of_another_file_runs_as_imported(load: Load) -> None:
    other = load("import eas\n@eas.function\ndef scaled(a): return a * 2\n", "other")
    module = load(kernel_of("from other import scaled"))
    edit(other, "* 2", "* 3")
    assert results(module.run) == [2, 4, 6, 8]


def test_a_kernel_under_a_decorator_of_another_file_runs_as_imported(load: Load) -> None:
    load(
        """
        import functools

        def passing_on(fn):
            @functools.wraps(fn)
            def wrapper(*args): return fn(*args)
            return wrapper
        """,
        "decorators",
    )
    text = kernel_of("import decorators").replace(
        "@eas.kernel", "@eas.kernel\n        @decorators.passing_on"
    )
    module = load(text.replace("scaled(mk.load(x + i))", "mk.load(x + i) * 2"))
    edit(module, "* 2", "* 3")
    assert results(module.run) == [2, 4, 6, 8]


def test_a_helper_of_another_file_that_was_edited_is_refused(load: Load) -> None:
    other = load("def scaled(a): return a * 2\n", "other")
    module = load(kernel_of("from other import scaled"))
    edit(other, "* 2", "* 3")
    with pytest.raises(eas.CompileError) as caught:
        results(module.run)
    [found] = caught.value.diagnostics
    message = "the source of `scaled` has changed since it was loaded"
    assert (found.code, found.message) == ("E0416", message)


def test_a_helper_that_is_imported_again_runs_as_it_is_now(load: Load) -> None:
    other = load("def scaled(a): return a * 2\n", "other")
    module = load(kernel_of("import other\n        def scaled(a): return other.scaled(a)"))
    assert results(module.run) == [2, 4, 6, 8]
    edit(other, "* 2", "* 3")
    importlib.reload(other)
    assert results(module.run) == [3, 6, 9, 12]


MODULES = ("ast", "dataclasses", "functools", "inspect", "json.decoder", "textwrap", "typing")


@pytest.mark.parametrize("name", MODULES)
def test_every_function_of_a_module_is_found(name: str) -> None:
    module = importlib.import_module(name)
    missing = [f.__qualname__ for f in functions_of(module) if not is_found(f)]
    assert missing == []


def functions_of(module: ModuleType) -> Iterator[FunctionType]:
    for holder in (module, *(c for c in vars(module).values() if inspect.isclass(c))):
        for value in vars(holder).values():
            inner = getattr(value, "__func__", getattr(value, "fget", value))
            if isinstance(inner, FunctionType) and inner.__code__.co_filename == module.__file__:
                yield inner


def test_functions_of_every_kind_are_found(load: Load) -> None:
    module = load(
        '''
        from __future__ import annotations
        import math, functools
        from os import (
            path,
        )

        def found():
            seen, self = 1, 2

            def closure(a: int = seen, *more, key: str = "x") -> int:
                """It has a docstring."""
                assert a, "and an assert"
                return [seen + a + each for each in more] and (lambda: seen + self)

            class Inner(Base):
                __limit = 3
                seen = 5

                def method(self, __x=1):
                    return super().__init__(), self.__limit, __x, Inner, math.sin(__x), seen

                @property
                def size(self): return (yield path.join("a"))

                @staticmethod
                @functools.cache
                def static(a): return Inner.__limit, a.b.c(path.sep)

                async def later(self): return [x async for x in self.__limit]

            return closure, Inner.method, Inner.size.fget, Inner.static.__wrapped__, Inner.later

        class Base:
            def __private(self):
                def __inner(__a): return __a, math.sqrt(__a), Base.__private
                return __inner

            inner = lambda self: self.__private()

        every = [*found(), Base._Base__private, Base().inner(), Base.inner, lambda: found, found]
        '''
    )
    missing = [f.__qualname__ for f in module.every if not is_found(f)]
    assert missing == []


def test_a_function_whose_asserts_pytest_has_rewritten_is_found() -> None:
    def f(a: int) -> int:
        assert a > 0, "positive"
        return a

    assert "@py_assert2" in f.__code__.co_varnames
    assert is_found(f)


class Negating(SourceFileLoader):
    """A loader that changes what it loads, as those do that check types."""

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> Any:
        tree = ast.parse(data)
        for node in ast.walk(tree):
            if isinstance(node, ast.Return) and node.value is not None:
                node.value = ast.copy_location(ast.UnaryOp(ast.USub(), node.value), node.value)
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


def test_a_function_that_its_loader_has_changed_is_found_as_written(load: Load) -> None:
    module = load("def f(a): return a\n", loader=Negating)
    assert module.f(1) == -1
    assert is_found(module.f)


def test_a_function_that_its_loader_has_changed_is_refused_after_an_edit(load: Load) -> None:
    module = load("def f(a): return a\n", loader=Negating)
    edit(module, "return a", "return b")
    with pytest.raises(Refusal):
        read_source(module.f)


def test_a_code_that_a_tool_has_changed_is_read_if_its_file_is_older_than_the_process(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tools that measure coverage add to codes; another Python 3.11 may have compiled the file."""
    module = load("def f(a): return a\n")
    code = module.f.__code__
    module.f.__code__ = code.replace(co_consts=(*code.co_consts, "counter"))
    monkeypatch.setattr(texts, "started_at", lambda: time.time() - 60)
    with pytest.raises(Refusal):
        read_source(module.f)
    monkeypatch.setattr(texts, "started_at", lambda: time.time() + 60)
    assert ast.unparse(read_source(module.f).node) == "def f(a):\n    return a"


@sampled(3)
@pytest.mark.parametrize("option", ["-O", "-OO", "-Xno_debug_ranges"])
def test_what_python_is_started_with_makes_no_difference(tmp_path: Path, option: str) -> None:
    (tmp_path / "module.py").write_text(
        "import eas\nfrom eas import mk\n@eas.kernel\ndef f(a):\n"
        '    """Fills."""\n    assert __debug__ or a\n    mk.store(a, 1)\n'
    )
    code = (
        "import module\nfrom eas.frontend_ast.source import texts\n"
        "print([text.find(module.f.fn) is not None for text in texts.texts_of(module.f.fn)])\n"
    )
    command = [sys.executable, option, "-c", code]
    run = subprocess.run(
        command, cwd=tmp_path, check=True, capture_output=True, text=True, timeout=PATIENCE
    )
    assert run.stdout == "[True]\n"


def test_the_start_of_the_process_is_known_to_a_moment() -> None:
    code = "from eas.frontend_ast.source.start import started_at; print(started_at())"
    before = time.time()
    run = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=PATIENCE
    )
    assert before - 1.1 <= float(run.stdout) <= time.time()


@pytest.mark.skipif(sys.platform != "linux", reason="there is only one way to know it")
def test_the_ways_to_know_the_start_agree() -> None:
    by_linux, by_ps = start._by_linux(), start._by_ps()  # pyright: ignore[reportPrivateUsage]
    assert -0.1 < by_linux - by_ps < 2.5
