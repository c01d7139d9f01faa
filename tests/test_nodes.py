"""The published table of nodes: complete, up to date, and true for a kernel per line."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from textwrap import indent

import pytest

import eas
from eas import mk
from eas.frontend_ast.nodes_table import nodes_table

PAGE = Path(__file__).parent.parent / "docs" / "nodes.md"
ROW = re.compile(r"^\| `(\w+)` \| ([\w ]+) \| (.*) \|$", re.MULTILINE)
ROWS = {row[1]: (row[2], row[3]) for row in ROW.finditer(nodes_table())}
ABSTRACT = {
    *("AST", "mod", "stmt", "expr", "expr_context", "boolop", "operator", "unaryop", "cmpop"),
    *("excepthandler", "pattern", "type_ignore"),
}


def test_the_page_is_the_table_that_the_handlers_make(pytestconfig: pytest.Config) -> None:
    if pytestconfig.option.update_snapshots:
        PAGE.write_text(nodes_table(), "utf-8")
    assert PAGE.read_text("utf-8") == nodes_table()


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the table is that of Python 3.11")
def test_the_table_has_every_class_of_node() -> None:
    every = {n for n, c in vars(ast).items() if isinstance(c, type) and issubclass(c, ast.AST)}
    assert set(ROWS) == every - ABSTRACT


def test_every_line_has_a_meaning() -> None:
    assert [node for node, (_, meaning) in ROWS.items() if not meaning] == []


# The body of `def kernel(a, n)` for each node; `a` is an array of i32, `n` an i32.
PROGRAMS = {
    "Add": "a[0] = n + 1",
    "And": "a[0] = n > 0 and n < 9",
    "AnnAssign": "x: mk.i32 = 0",
    "Assert": "assert n > 0",
    "Assign": "x = n",
    "AsyncFor": "async def f():\n    async for x in n:\n        pass",
    "AsyncFunctionDef": "async def f():\n    pass",
    "AsyncWith": "async def f():\n    async with n:\n        pass",
    "Attribute": "a[0] = a.shape[0]",
    "AugAssign": "a[0] += n",
    "Await": "async def f():\n    await n",
    "BinOp": "a[0] = n * n",
    "BitAnd": "a[0] = n & 1",
    "BitOr": "a[0] = n | 1",
    "BitXor": "a[0] = n ^ 1",
    "BoolOp": "a[0] = n or 1",
    "Break": "while n > 0:\n    break",
    "Call": "a[0] = abs(n)",
    "ClassDef": "class C:\n    pass",
    "Compare": "a[0] = 0 < n < 9",
    "Constant": "a[0] = 1",
    "Continue": "for i in range(n):\n    continue",
    "Del": "x = n\ndel x",
    "Delete": "x = n\ndel x",
    "Dict": "x = {}",
    "DictComp": "x = {i: i for i in (1, 2)}",
    "Div": "a[0] = int(n / 2)",
    "Eq": "a[0] = n == 1",
    "ExceptHandler": "try:\n    pass\nexcept ValueError:\n    pass",
    "Expr": "mk.store(a, 0, n)",
    "FloorDiv": "a[0] = n // 2",
    "For": "for i in range(n):\n    a[i] = 1\nelse:\n    a[0] = 2",
    "FormattedValue": "print(f'{n}')",
    "FunctionDef": "def f(x):\n    return x\na[0] = f(n)",
    "GeneratorExp": "a[0] = sum(i * n for i in (1, 2))",
    "Global": "global x",
    "Gt": "a[0] = n > 1",
    "GtE": "a[0] = n >= 1",
    "If": "if n > 0:\n    a[0] = 1\nelse:\n    a[0] = 2",
    "IfExp": "a[0] = 1 if n > 0 else 2",
    "Import": "import math",
    "ImportFrom": "from math import pi",
    "In": "a[0] = n in (1, 2)",
    "Invert": "a[0] = ~n",
    "Is": "a[0] = None is None",
    "IsNot": "a[0] = n is not None",
    "JoinedStr": "print(f'n is {n}')",
    "LShift": "a[0] = n << 1",
    "Lambda": "f = lambda x: x + 1\na[0] = f(n)",
    "List": "a[0] = [1, n][1]",
    "ListComp": "a[0] = max([i * n for i in range(3) if i != 1])",
    "Load": "a[0] = n",
    "Lt": "a[0] = n < 1",
    "LtE": "a[0] = n <= 1",
    "MatMult": "a[0] = n @ n",
    "Match": "match n:\n    case 1:\n        a[0] = 1",
    "MatchAs": "match n:\n    case 1 as one:\n        a[0] = one\n    case _:\n        pass",
    "MatchClass": "match n:\n    case int():\n        pass",
    "MatchMapping": "match n:\n    case {}:\n        pass",
    "MatchOr": "match n:\n    case 1 | 2:\n        a[0] = 1",
    "MatchSequence": "match n:\n    case [x, y]:\n        pass",
    "MatchSingleton": "match n > 0:\n    case True:\n        a[0] = 1",
    "MatchStar": "match n:\n    case [*x]:\n        pass",
    "MatchValue": "match n:\n    case -1:\n        a[0] = 1",
    "Mod": "a[0] = n % 2",
    "Mult": "a[0] = n * 2",
    "Name": "a[0] = n",
    "NamedExpr": "a[0] = (x := n) + x",
    "Nonlocal": "x = n\ndef f():\n    nonlocal x\nf()",
    "Not": "a[0] = not n",
    "NotEq": "a[0] = n != 1",
    "NotIn": "a[0] = n not in (1, 2)",
    "Or": "a[0] = n < 0 or n > 9",
    "Pass": "pass",
    "Pow": "a[0] = n**3",
    "RShift": "a[0] = n >> 1",
    "Raise": "if len(a.shape) > 9:\n    raise ValueError",
    "Return": "if n > 0:\n    return\na[0] = 1",
    "Set": "x = {1}",
    "SetComp": "x = {i for i in (1, 2)}",
    "Slice": "a[0] = mk.sum(mk.arange(0, 8)[2:6])",
    "Starred": "x, *rest = (n, 1, 2)\na[0] = max(*rest)",
    "Store": "x = n",
    "Sub": "a[0] = n - 1",
    "Subscript": "a[0] = a[1]",
    "Try": "try:\n    pass\nfinally:\n    pass",
    "TryStar": "try:\n    pass\nexcept* ValueError:\n    pass",
    "Tuple": "a[0] = (1, n)[1]",
    "UAdd": "a[0] = +n",
    "USub": "a[0] = -n",
    "UnaryOp": "a[0] = -n",
    "While": "while n > 0:\n    n -= 1\nelse:\n    a[0] = n",
    "With": "with n:\n    pass",
    "Yield": "yield n",
    "YieldFrom": "yield from (1, 2)",
    "alias": "import math as m",
    "arg": "def f(x):\n    return x\na[0] = f(n)",
    "arguments": "def f(x, /, y=1, *rest, z=2):\n    return x + y + z\na[0] = f(n, 1, 2, z=3)",
    "comprehension": "a[0] = sum([i for i in (1, 2) if i > 1])",
    "keyword": "mk.store(a, offs=0, value=n)",
    "match_case": "match n:\n    case 1 if n > 0:\n        a[0] = 1",
    "withitem": "with n as x:\n    pass",
}


def test_every_supported_or_refused_node_has_a_program() -> None:
    in_kernels = {n for n, (status, _) in ROWS.items() if status not in ("not seen", "alias")}
    assert set(PROGRAMS) == in_kernels


@pytest.mark.parametrize("node", PROGRAMS)
def test_a_node_is_compiled_or_refused_as_the_table_says(node: str, tmp_path: Path) -> None:
    text = f"def kernel(a, n):\n{indent(PROGRAMS[node], '    ')}\n"
    assert node in {type(n).__name__ for n in ast.walk(ast.parse(text))}
    assert status_of(text, tmp_path) == ROWS[node][0]


def status_of(text: str, folder: Path) -> str:
    """`yes` if a kernel compiles, else the code of its only error."""
    file = folder / "program.py"
    file.write_text(text, "utf-8")
    names: dict[str, object] = {"mk": mk}
    exec(compile(text, str(file), "exec"), names)
    kernel = names["kernel"]
    assert callable(kernel)
    try:
        eas.kernel(kernel).compile("*i32[:]", "i32")
    except eas.CompileError as error:
        [diagnostic] = error.diagnostics
        return diagnostic.code
    return "yes"
