"""Functions are found in their files with true lines and columns, wherever they were defined."""

from __future__ import annotations

import ast
import code
import doctest
import functools
import importlib.util
import itertools
import linecache
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

import eas
from eas.frontend_ast.source.errors import Refusal
from eas.frontend_ast.source.reading import FunctionSource, read_source
from eas.frontend_ast.source.wrappers import look_through
from eas.support.location import Loc

Decorator = Callable[..., Any]


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], ModuleType]:
    """Writes a module and imports it."""

    def load(text: str, name: str = "module") -> ModuleType:
        path = tmp_path / f"{name}.py"
        path.write_text(dedent(text), encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


Load = Callable[[str], ModuleType]


def text_at(source: FunctionSource, loc: Loc) -> str:
    """What stands at a place, cut from the file by lines and columns."""
    lines = source.lines[loc.line - 1 : loc.end_line]
    lines[-1] = lines[-1][: loc.end_column]
    lines[0] = lines[0][loc.column :]
    return "".join(lines)


def written(fn: Callable[..., Any]) -> str:
    """The text of a function as its node's place in the file says."""
    source = read_source(fn)
    return text_at(source, source.loc(source.node))


def refusal_of(fn: Callable[..., Any]) -> tuple[str, str]:
    with pytest.raises(Refusal) as caught:
        read_source(fn)
    return caught.value.diagnostic.code, caught.value.diagnostic.message


def test_a_function_of_a_file_is_found_with_its_name_and_lines(load: Load) -> None:
    module = load("x = 1\n\ndef f(a):\n    return a\n\ny = 2\n")
    source = read_source(module.f)
    assert source.name == "f"
    assert (source.source.name, source.source.path) == ("module.py", module.__file__)
    assert (source.node.lineno, source.node.end_lineno) == (3, 4)
    assert written(module.f) == "def f(a):\n    return a"


def test_the_last_function_of_a_file_without_a_newline_is_found(load: Load) -> None:
    assert written(load("def f(a): return a").f) == "def f(a): return a"


def test_a_nested_function_keeps_its_columns(load: Load) -> None:
    module = load(
        """
        def outer():
            if True:
                def inner(a):
                    return a + 1
                return inner
        """
    )
    source = read_source(module.outer())
    assert isinstance(source.node, ast.FunctionDef)
    assert source.node.col_offset == 8
    assert text_at(source, source.loc(source.node.body[0])) == "return a + 1"


def test_functions_indented_by_tabs_keep_their_columns(load: Load) -> None:
    module = load("class A:\n\tdef f(a):\n\t\treturn a\n")
    assert written(module.A.f) == "def f(a):\n\t\treturn a"


def test_methods_of_all_kinds_are_found(load: Load) -> None:
    module = load(
        """
        class A:
            def plain(self): return 1

            @staticmethod
            def static(a): return 2

            @classmethod
            def of_class(cls): return 3

            def __private(self, __x): return 4
        """
    )
    a = module.A()
    assert written(a.plain) == "def plain(self): return 1"
    assert written(module.A.static) == "def static(a): return 2"
    assert written(vars(module.A)["static"]) == "def static(a): return 2"
    assert written(a.of_class) == "def of_class(cls): return 3"
    assert written(vars(module.A)["_A__private"]) == "def __private(self, __x): return 4"


def test_decorators_above_and_below_do_not_matter(load: Load) -> None:
    module = load(
        """
        import functools

        def same(fn): return fn

        def wrapping(fn):
            @functools.wraps(fn)
            def wrapper(*args): return fn(*args)
            return wrapper

        @same
        @wrapping
        # a comment
        @functools.lru_cache(
            maxsize=None,
        )
        @same
        def f(a):
            return a
        """
    )
    assert written(look_through(module.f)) == "def f(a):\n    return a"


def test_a_decorator_in_brackets_is_found_too(load: Load) -> None:
    assert written(load("@(\n    lambda f: f)\ndef f(a):\n    return a\n").f) == (
        "def f(a):\n    return a"
    )


def test_of_functions_with_one_name_the_right_one_is_found(load: Load) -> None:
    module = load("def f(a): return 1\ng = f\ndef f(a): return 2\n")
    assert (written(module.g), written(module.f)) == ("def f(a): return 1", "def f(a): return 2")


def test_a_renamed_function_is_found_by_the_name_in_the_text(load: Load) -> None:
    module = load("def f(a): return 1\nf.__name__ = f.__qualname__ = 'g'\n")
    assert written(module.f) == "def f(a): return 1"


def test_an_async_function_is_found(load: Load) -> None:
    source = read_source(load("async def f(a):\n    return a\n").f)
    assert isinstance(source.node, ast.AsyncFunctionDef)


def test_every_kind_of_parameter_is_recognized(load: Load) -> None:
    text = "def f(a, /, b, *c, d=1, **e): return a"
    assert written(load(text).f) == text


def test_lines_at_the_margin_within_strings_and_brackets_do_not_end_a_function(
    load: Load,
) -> None:
    text = (
        'def f(a,\nb):\n    """A text\nat the margin.\n    """\n    c = [\n1,\n]\n# a remark\n'
        "    d = a + \\\nb\n    return '''\nend'''"
    )
    assert written(load(text + "\nx = 1\n").f) == text


def test_a_function_after_which_much_text_at_the_margin_follows_is_found(load: Load) -> None:
    text = 'def f(a):\n    """\n' + "text\n" * 100 + '    """\n    return a'
    assert written(load(text + "\nx = 1\n").f) == text


def test_escapes_that_python_warns_of_are_no_obstacle(load: Load) -> None:
    with pytest.warns((DeprecationWarning, SyntaxWarning)):
        module = load("def f(a):\n    return '\\d'\n")
    assert written(module.f) == "def f(a):\n    return '\\d'"


def test_of_several_lambdas_on_a_line_each_is_found(load: Load) -> None:
    module = load("f, g, h = lambda x: x, lambda x: x + 1, lambda x: lambda x: x\n")
    assert written(module.f) == "lambda x: x"
    assert written(module.g) == "lambda x: x + 1"
    assert written(module.h) == "lambda x: lambda x: x"
    assert read_source(module.h(1)).node.col_offset == 50


def test_a_lambda_within_a_statement_of_many_lines_is_found(load: Load) -> None:
    module = load("table = dict(\n    f=lambda x: (\n        x + 1\n    ),\n)\n")
    assert written(module.table["f"]) == "lambda x: (\n        x + 1\n    )"


def test_lambdas_are_distinguished_by_their_parameters_too(load: Load) -> None:
    module = load("f = [lambda x: 0, lambda y: 0]\n")
    assert [written(f) for f in module.f] == ["lambda x: 0", "lambda y: 0"]


def test_lambdas_are_distinguished_without_columns(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text("f, g, h = lambda x: x, lambda x: x + 1, lambda x: x\n")
    (tmp_path / "run.py").write_text(
        "import module\nfrom eas.frontend_ast.source.reading import read_source\n"
        "print(*(read_source(f).node.col_offset for f in (module.f, module.g, module.h)))\n"
    )
    command = [sys.executable, "-X", "no_debug_ranges", "run.py"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout == "10 23 10\n"  # the first and the last are the same code


def test_columns_count_characters_not_bytes(load: Load) -> None:
    module = load("def f(größe):\n    return 'äöü' + größe, '日本', größe\n")
    source = read_source(module.f)
    names = [node for node in ast.walk(source.node) if isinstance(node, ast.Name)]
    assert [text_at(source, source.loc(name)) for name in names] == ["größe", "größe"]
    assert [source.loc(name).column for name in names] == [32, 19]


def test_every_name_and_number_is_at_its_text(load: Load) -> None:
    module = load(
        """
        def f(a, *, é=[1, 22]):
            for i in range(a):
                if a < é[0] and not (i > 222):
                    b = {é: a ** 2, **é}; c = a
            return [x for x in é if x], "ü", b, (
                "日本", c)
        """
    )
    source = read_source(module.f)
    for node in ast.walk(source.node):
        match node:
            case ast.Name(id=text) | ast.arg(arg=text):
                assert text_at(source, source.loc(node)) == text
            case ast.Constant(value=value):
                assert ast.literal_eval(text_at(source, source.loc(node))) == value
            case _:
                pass


def test_nodes_without_a_place_are_where_their_children_are(load: Load) -> None:
    source = read_source(load("def f(a, b=1):\n    return a + b\n").f)
    assert text_at(source, source.loc(source.node.args)) == "a, b=1"


def test_an_operator_is_somewhere_in_its_function(load: Load) -> None:
    source = read_source(load("def f(a, b): return a + b\n").f)
    assert source.loc(ast.Add()) == source.loc(source.node)


def test_a_place_knows_the_call_that_led_there(load: Load) -> None:
    source = read_source(load("def f(a):\n    return a\n").f)
    caller = source.loc(source.node)
    assert source.loc(source.node.args, caller).caller is caller


def test_the_names_of_the_module_and_the_closure_are_at_hand(load: Load) -> None:
    module = load(
        """
        def outer():
            one = 1
            def inner(): return one + later
            yield inner
            later = 2
            yield inner
        """
    )
    functions = module.outer()
    assert read_source(next(functions)).closure == {"one": 1}
    assert read_source(next(functions)).closure == {"one": 1, "later": 2}
    assert read_source(module.outer).globals is vars(module)


@pytest.fixture
def shell() -> InteractiveShell:
    return InteractiveShell()


def test_a_function_of_a_notebook_cell_is_found(shell: InteractiveShell) -> None:
    shell.run_cell("x = 1", store_history=True)
    shell.run_cell("def f(a):\n    return a", store_history=True)
    source = read_source(shell.user_ns["f"])
    assert source.source.name == "<cell>"
    assert written(shell.user_ns["f"]) == "def f(a):\n    return a"


def test_a_cell_that_is_run_again_gives_the_new_text(shell: InteractiveShell) -> None:
    for value in ("1", "2"):
        shell.run_cell(f"def f(a): return {value}", store_history=True)
        assert written(shell.user_ns["f"]) == f"def f(a): return {value}"


@pytest.mark.parametrize(
    "path",
    ["/tmp/ipykernel_12345/678910.py", "<ipython-input-3-abc>", "<python-input-7>", "<stdin>-7"],
)
def test_cells_and_prompts_have_a_name_that_does_not_count_them(path: str) -> None:
    assert _define("def f(a): return a\n", path).source.name == "<cell>"


def test_text_registered_with_linecache_is_found() -> None:
    source = _define("def f(a): return a\n", "<generated>")
    assert (source.source.name, source.source.path) == ("<generated>", "<generated>")
    assert ast.unparse(source.node) == "def f(a):\n    return a"


def _define(text: str, name: str) -> FunctionSource:
    return read_source(_exec(text, name)["f"])


def _exec(text: str, name: str) -> dict[str, Any]:
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names: dict[str, Any] = {}
    exec(compile(text, name, "exec"), names)
    return names


def test_a_function_of_a_doctest_is_found() -> None:
    text = """
    >>> def f(a):
    ...     return a
    >>> source = read_source(f)
    >>> source.source.name, source.lines
    ('<doctest>', ['def f(a):\\n', '    return a\\n'])
    """
    test = doctest.DocTestParser().get_doctest(text, {"read_source": read_source}, "t", None, 0)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_text_that_python_keeps_beside_the_code_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The prompt of Python 3.13 does so."""
    text = "def f(a): return a\n"
    names: dict[str, Any] = {}
    exec(compile(text, "<python-input-0>", "exec"), names)

    def lines_of(code: object) -> list[str]:
        return [text] if code is names["f"].__code__ else []

    monkeypatch.setattr(linecache, "_getlines_from_code", lines_of, raising=False)
    source = read_source(names["f"])
    assert (source.source.name, source.lines) == ("<cell>", [text])
    assert linecache.getline("<python-input-0>", 1) == text


def test_a_kernel_of_a_console_is_found() -> None:
    console = code.InteractiveConsole()
    for line in ("import eas", "@eas.kernel", "def f(a):", "    a[0] = b", ""):
        console.push(line)
    with pytest.raises(eas.CompileError) as caught:
        console.locals["f"].compile("*f32[:]")  # pyright: ignore[reportUnknownMemberType]
    assert (caught.value.text, caught.value.offset) == ("    a[0] = b\n", 12)


class History:
    """What `readline` keeps of a session at a terminal: no empty lines, none twice in a row."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines

    def get_current_history_length(self) -> int:
        return len(self.lines)

    def get_history_item(self, number: int) -> str:
        return self.lines[number - 1]


def typed(text: str, name: str) -> Any:
    names: dict[str, Any] = {}
    exec(compile(text, "<stdin>", "exec"), names)
    return names[name]


@pytest.mark.parametrize(
    "text",
    [
        "def f(a):\n    return a",
        "@str.title.__class__.__call__ if 0 else lambda f: f\ndef f(a):\n    return a + 1",
        "if 1:\n    def f(a):\n        return a\nelse:\n    f = 0",
        "f = lambda a: a * 2",
    ],
)
def test_a_function_typed_at_a_terminal_is_found(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["import eas", "def f(a):", "    return -a", *text.splitlines(), "f(1)"]
    monkeypatch.setitem(sys.modules, "readline", History(lines))
    f = typed(text, "f")
    source = read_source(f)
    assert (source.source.name, "".join(source.lines)) == ("<cell>", text + "\n")


def test_a_history_that_lacks_a_line_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def f(a):\n    a += 1\n    a += 1\n    return a"
    kept = [line for line, _ in itertools.groupby(text.splitlines())]
    monkeypatch.setitem(sys.modules, "readline", History(kept))
    assert refusal_of(typed(text, "f")) == ("E0801", "the source of `f` cannot be read")


@pytest.mark.parametrize("command", ["", "import sys", "def g(a): return a"])
def test_a_function_made_by_exec_is_refused(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    entry = (len(command), None, command.splitlines(), "<string>")  # of `python -c` from 3.13 on
    monkeypatch.setitem(linecache.cache, "<string>", entry)
    names: dict[str, Any] = {}
    exec("def f(a): return a", names)
    with pytest.raises(Refusal) as caught:
        read_source(names["f"])
    assert str(caught.value) == dedent(
        """\
        error[E0801]: the source of `f` cannot be read
         --> <string>:1:1
          = note: there is no text for `<string>`: it was run by `exec`, or the file is gone
          = help: put the function into a file and import it"""
    )


def test_a_function_typed_at_an_old_prompt_is_refused() -> None:
    names: dict[str, Any] = {}
    exec(compile("def f(a): return a", "<stdin>", "exec"), names)
    with pytest.raises(Refusal) as caught:
        read_source(names["f"])
    assert str(caught.value) == dedent(
        """\
        error[E0801]: the source of `f` cannot be read
         --> <stdin>:1:1
          = note: this prompt does not keep what was typed
          = help: use IPython or Python 3.13, or put the function into a file and import it"""
    )


@pytest.mark.parametrize("fn", [len, "".join, int, functools.partial(print), print.__call__])
def test_what_is_not_written_in_python_is_refused(fn: Callable[..., Any]) -> None:
    name = getattr(fn, "__name__", "partial")
    message = f"`{name}` has no Python source: it is not a function written in Python"
    assert refusal_of(fn) == ("E0801", message)


@pytest.mark.parametrize(
    "edited",
    [
        "def g(a): return a\n",
        "def f(a, b): return a\n",
        "def f(b): return a\n",
        "def f(a): return a + 1\n",
        "def f(a): return -a\n",
        "def f(a): return 1\n",
        "x = 1\ndef f(a): return a + 1\n",
        "def f(a:\n",
        "def f(*a): return a\n",
        "async def f(a): return a\n",
        "def f(a):\n    def g(): return a\n    return a\n",
    ],
)
def test_a_file_that_was_edited_after_its_import_is_refused(load: Load, edited: str) -> None:
    module = load("def f(a): return a\n")
    _overwrite(Path(str(module.__file__)), edited)
    assert refusal_of(module.f) == ("E0801", "the source of `f` has changed since it was loaded")


def test_a_function_that_was_found_before_an_edit_keeps_its_text(load: Load) -> None:
    module = load("def f(a): return a\n")
    read_source(module.f)
    _overwrite(Path(str(module.__file__)), "def f(a): return a + 1\n")
    assert written(module.f) == "def f(a): return a"


@pytest.mark.parametrize("decorator", ["eas.kernel", "eas.function"])
def test_the_text_at_import_is_the_text_that_is_read(load: Load, decorator: str) -> None:
    module = load(f"import eas\n@{decorator}\ndef f(a): return a\n")
    _overwrite(Path(str(module.__file__)), f"import eas\n@{decorator}\ndef f(a): return a + 1\n")
    assert written(getattr(module.f, "fn", module.f)) == "def f(a): return a"


def test_the_text_that_linecache_has_of_the_import_is_read(load: Load) -> None:
    module = load("def f(a): return a\n")
    linecache.getlines(str(module.__file__))
    _overwrite(Path(str(module.__file__)), "def f(a): return a + 1\n")
    assert written(module.f) == "def f(a): return a"


def test_a_function_below_an_edit_is_found_where_it_is_now(load: Load) -> None:
    module = load("def g(a): return 1\ndef f(a): return a\nh = lambda a: a * 2\n")
    _overwrite(
        Path(str(module.__file__)),
        "import os\n\ndef g(a): return 2\ndef f(a): return a\nh = lambda a: a * 2\n",
    )
    assert read_source(module.f).node.lineno == 4
    assert written(module.f) == "def f(a): return a"
    assert read_source(module.h).node.lineno == 5
    assert refusal_of(module.g) == ("E0801", "the source of `g` has changed since it was loaded")


def test_comments_and_spaces_can_be_edited(load: Load) -> None:
    module = load("def f(a):\n    return a+1\n")
    _overwrite(Path(str(module.__file__)), "def f(a):\n    # one more\n    return a  +  1\n")
    assert written(module.f) == "def f(a):\n    # one more\n    return a  +  1"


def test_a_module_that_is_loaded_again_has_its_new_text(load: Load) -> None:
    module = load("import eas\n@eas.function\ndef f(a): return a\n")
    before = module.f
    _overwrite(Path(str(module.__file__)), "import eas\n@eas.function\ndef f(a): return -a\n")
    assert module.__spec__ and module.__spec__.loader
    module.__spec__.loader.exec_module(module)
    assert written(module.f) == "def f(a): return -a"
    assert written(before) == "def f(a): return a"


def test_text_that_is_registered_again_under_its_name_is_not_taken_for_the_old_one() -> None:
    first: Any = _exec("def f(a): return 1\n", "<again>")
    second: Any = _exec("def f(a): return 2\n", "<again>")
    assert written(second["f"]) == "def f(a): return 2"
    assert refusal_of(first["f"]) == ("E0801", "the source of `f` has changed since it was loaded")


def test_a_kernel_keeps_the_text_that_its_name_had(load: Load) -> None:
    text = "import eas\n@eas.kernel\ndef f(a): a[0] = 1\n"
    first: Any = _exec(text, "<again>")
    _exec(text.replace("1", "2"), "<again>")
    assert written(first["f"].fn) == "def f(a): a[0] = 1"


def test_an_error_shows_the_text_at_import(
    load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    module = load("import eas\n\n@eas.kernel\ndef f(a): a[0] = wrong\n")
    _overwrite(tmp_path / "module.py", "# nothing\n")
    with pytest.raises(eas.CompileError) as caught:
        module.f.compile("*f32[:]")
    assert caught.value.text == "def f(a): a[0] = wrong\n"
    assert str(caught.value) == dedent(
        """\
        error[E0201]: the name `wrong` is not defined
         --> module.py:4:18
          |
        4 | def f(a): a[0] = wrong
          |                  ^^^^^

        1 error in kernel `f`"""
    )


def test_the_place_of_an_edited_function_is_shown(
    load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    module = load("x = 1\ndef f(a): return a\n")
    _overwrite(tmp_path / "module.py", "x = 1\ny = 2\n")
    with pytest.raises(Refusal) as caught:
        read_source(module.f)
    assert str(caught.value) == dedent(
        """\
        error[E0801]: the source of `f` has changed since it was loaded
         --> module.py:2:1
          |
        2 | y = 2
          | ^^^^^ `f` was here, and something else is now
          = help: reload the module or start Python again"""
    )


def _overwrite(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    later = path.stat().st_mtime + 10  # `linecache` compares times, which can be coarse
    os.utime(path, (later, later))


def test_a_large_file_is_not_parsed_for_one_of_its_functions(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = load("".join(f"def f{n}(a):\n    return a + {n}\n\n" for n in range(2000)))
    parsed: list[str] = []
    parse = ast.parse

    def count(text: str, *more: Any, **options: Any) -> Any:
        parsed.append(text.strip())
        return parse(text, *more, **options)

    monkeypatch.setattr(ast, "parse", count)
    for _ in range(3):
        read_source(module.f1500)
    assert parsed == ["def f1500(a):\n    return a + 1500", "pass\ndef _():\n    pass"]
