"""Counts files and lines of operators: as logic and mappings, and as TileLang by hand.

python -m scripts.count_lines

A line counts if it has code: no blank lines, comments or docstrings. A line of the TileLang text
is one of hardware if it allocates a memory, copies between memories, or says threads or stages.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent
OPERATORS = REPOSITORY / "examples" / "septran"
MACHINES = REPOSITORY / "septran" / "machines"
BY_HAND = REPOSITORY / "docs" / "tilelang"
HARDWARE = re.compile(r"alloc_|T\.copy|T\.Pipelined|T\.Kernel|threads|stages")
_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip


def python_lines(text: str) -> list[str]:
    """The lines of a Python text that have code."""
    documented = set[int]()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            documented |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    numbers: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            numbers |= set(range(token.start[0], token.end[0] + 1))
    lines = text.splitlines()
    return [lines[number - 1] for number in sorted(numbers - documented)]


def yaml_lines(text: str) -> list[str]:
    """The lines of a YAML text that have keys or values."""
    return [line for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]


def table() -> str:
    """A row for each operator, as Markdown."""
    rows = [
        "| operator | logic | mappings | lines of a mapping | by hand in TileLang | of these, lines"
        " of hardware |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for folder in sorted(each for each in OPERATORS.iterdir() if each.is_dir()):
        logics = sorted(folder.glob("*_logic.py"))
        if not logics:
            continue
        logic = len(python_lines(logics[0].read_text("utf-8")))
        sizes = [
            len(yaml_lines(each.read_text("utf-8"))) for each in sorted(folder.glob("*.map.yaml"))
        ]
        span = str(min(sizes)) if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
        rows.append(f"| {folder.name} | {logic} | {len(sizes)} | {span} | {by_hand(folder.name)} |")
    return "\n".join(rows) + "\n"


def machines_table() -> str:
    """The lines of each operator's mapping for each machine, and of the machine's own file."""
    machines = sorted(path.stem for path in MACHINES.glob("*.yaml"))
    rows = [f"| lines for | {' | '.join(machines)} |", f"|---|{'---:|' * len(machines)}"]
    for folder in sorted(each.parent for each in OPERATORS.glob("*/*_logic.py")):
        for variant in ("", "causal_"):
            paths = [_mapping(folder, variant, machine) for machine in machines]
            if all(path.exists() for path in paths):
                name = f"{variant.replace('_', ' ')}{folder.name}"
                rows.append(f"| {name} | {' | '.join(map(_count, paths))} |")
    files = [MACHINES / f"{machine}.yaml" for machine in machines]
    rows.append(f"| the machine, once | {' | '.join(map(_count, files))} |")
    return "\n".join(rows) + "\n"


def _mapping(folder: Path, variant: str, machine: str) -> Path:
    """The file of a mapping: flash attention's have the names of machines."""
    own = folder / f"{variant}{machine}.map.yaml"
    return own if own.exists() else folder / f"{variant}{folder.name}.{machine}.map.yaml"


def _count(path: Path) -> str:
    return str(len(yaml_lines(path.read_text("utf-8"))))


def by_hand(operator: str) -> str:
    """The lines of the TileLang text of an operator, and those of hardware among them."""
    path = BY_HAND / f"{operator}.txt"
    if not path.exists():
        return " | "
    lines = python_lines(path.read_text("utf-8"))
    return f"{len(lines)} | {sum(bool(HARDWARE.search(line)) for line in lines)}"


if __name__ == "__main__":
    print(table(), machines_table(), sep="\n", end="")
