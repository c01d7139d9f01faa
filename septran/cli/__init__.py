"""The command `septran`: check a mapping, run it, print its texts, explain what was inserted."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from eas.septran.cli.tuning_options import add_commands
from eas.support.collector import without_collector
from eas.support.command_line import UsageError, print_text
from eas.support.diagnostics import use_color
from eas.support.interruptions import Interruptions, interruptions

_EXAMPLES = """\
examples:
  septran check gemm_logic.py gemm.cpu.map.yaml
  septran run gemm_logic.py gemm.cpu.map.yaml --shape M=131,N=95,K=67 --dtype f16
  septran explain gemm_logic.py gemm.apple_gpu.map.yaml --shape M=512,N=512,K=512
  septran picture gemm_logic.py gemm.cpu.map.yaml gemm.h100.map.yaml -o gemm.html
  septran emit metal gemm_logic.py gemm.apple_gpu.map.yaml --shape M=512,N=512,K=512 -o gemm.metal
  septran init-mapping gemm_logic.py --machine cpu -o gemm.cpu.map.yaml
  septran tune gemm_logic.py gemm.cpu.tune.yaml --shape M=512,N=512,K=512 --export best.map.yaml
  septran schema mapping
"""

_FILES = """\
LOGIC is a Python file with tasks. Several MAPPINGs are merged from left to right: a mapping and
overlays that change it. A size that is not given is the largest tunable, at least 64.

examples:
"""

_USES = """\
  septran {command} gemm_logic.py gemm.cpu.map.yaml --shape M=512,N=512,K=512
  septran {command} gemm_logic.py gemm.cpu.map.yaml --shape A=131x95,N=67 --dtype f16
  septran {command} gemm_logic.py gemm.cpu.tune.yaml \\
    --tune gemm_host.block_m=64,gemm_host.block_n=128,gemm_block.block_k=64 \\
    --tune gemm_block.mems.A=SHARED,gemm_block.mems.B=NONE
"""

_EMIT_USES = """\
  septran emit metal gemm_logic.py gemm.apple_gpu.map.yaml --shape M=512,N=512,K=512
  septran emit c gemm_logic.py gemm.awesomedsa.map.yaml --shape A=131x95,N=67 --dtype f16
  septran emit tilelang gemm_logic.py gemm.h100.map.yaml -o gemm_h100.py
"""

_COMMANDS = {
    "check": "check a logic with a mapping, without running it",
    "run": "run with random arrays and compare with NumPy",
    "explain": "say why each buffer, copy and barrier was inserted, and which lines asked for it",
    "emit": "print a text: the flat IR, Metal, LLVM, C, ...",
}

_PICTURE = """\
The page needs no network. Each MAPPING with an `entrypoint` or `extends` is drawn, side by side;
one without changes the mapping before it. Point at a line, or go there with Tab and the arrow keys:
what it caused, or what caused it, lights up.

examples:
  septran picture gemm_logic.py gemm.cpu.map.yaml --shape M=512,N=512,K=512 -o gemm.html
  septran picture flash_attention_logic.py h100.map.yaml awesomedsa.map.yaml apple_gpu.map.yaml
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0, 1 for errors in files, 2 for wrong usage.

    It is 130 for a command that a signal ended, as of shells for Ctrl-C.
    """
    parsed = _parser().parse_args(arguments)
    with interruptions() as interrupted:
        try:
            return _run(parsed, interrupted)
        except KeyboardInterrupt:
            return _complain("interrupted", 130)


def _run(parsed: argparse.Namespace, interrupted: Interruptions) -> int:
    from eas.frontend_ast.source.errors import CompileError

    try:
        with without_collector():
            from eas.septran.cli import commands
    except ModuleNotFoundError as error:  # the extra is not installed
        return _complain(error, 1)
    try:
        return print_text(commands.run(parsed, interrupted))
    except CompileError as error:
        print(error.render(use_color(sys.stderr)), file=sys.stderr)
        return 1
    except UsageError as error:
        return _complain(error, 2)
    except commands.FAILURES as error:
        return _complain(error, 1)


def _complain(error: Exception | str, code: int) -> int:
    print(f"septran: {error}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="septran",
        description="Operators as tasks, and for each machine a mapping that says how they run.",
        epilog=_EXAMPLES,
        formatter_class=raw,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, what in _COMMANDS.items():
        about = f"{what[0].upper()}{what[1:]}."
        uses = _EMIT_USES if name == "emit" else _USES.format(command=name)
        command = commands.add_parser(
            name, help=what, description=about, epilog=_FILES + uses, formatter_class=raw
        )
        if name == "emit":
            command.add_argument("text", metavar="TEXT", help="metal, llvm, c, ..., or flat")
        _add_files(command)
        if name == "emit":
            command.add_argument("-o", "--output", metavar="FILE", help="write it to a file")
    picture = commands.add_parser(
        "picture",
        help="draw tasks, memories, copies and their causes as a page for a browser",
        description="Draw tasks, memories, copies and their causes as a page for a browser.",
        epilog=_PICTURE,
        formatter_class=raw,
    )
    _add_files(picture)
    picture.add_argument(
        "-o", "--output", metavar="FILE", default="picture.html", help="the page: picture.html"
    )
    first = commands.add_parser(
        "init-mapping",
        help="print a first mapping for a logic and a machine: legal, and not fast",
        epilog="example:\n  septran init-mapping gemm_logic.py --machine cpu -o gemm.cpu.map.yaml",
        formatter_class=raw,
    )
    first.add_argument("logic", metavar="LOGIC")
    first.add_argument("--machine", required=True, help="the name of a machine, or its file")
    first.add_argument("--entry", help="the entry task, if the logic has several")
    first.add_argument("-o", "--output", metavar="FILE", help="write it to a file")
    schema = commands.add_parser(
        "schema", help="print the JSON Schema of a kind of file, or where the schemas are"
    )
    schema.add_argument("kind", nargs="?", metavar="KIND", help="mapping or machine")
    add_commands(commands.add_parser)
    return parser


def _add_files(command: argparse.ArgumentParser) -> None:
    command.add_argument("logic", metavar="LOGIC")
    command.add_argument("mappings", nargs="+", metavar="MAPPING")
    command.add_argument("--machine", help="the machine, where the mapping names none")
    command.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=SIZE,...",
        help="sizes by name (M=512,N=512) or the shape of an argument (A=131x95)",
    )
    command.add_argument("--dtype", help="what the arrays hold, if not what the machine prefers")
    command.add_argument(
        "--tune",
        action="append",
        default=[],
        metavar="KEY=VALUE,...",
        help="the values of `!tune` by their keys; may be given several times",
    )
    command.add_argument(
        "--primitives",
        action="append",
        default=[],
        metavar="FILE",
        help="a Python file with primitives of your own; may be given several times",
    )
