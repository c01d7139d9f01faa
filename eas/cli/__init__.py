"""The command `eas`: explain an error, show what a kernel compiles to, list the passes."""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
from collections.abc import Sequence

from eas.cli import explain, passes, show
from eas.frontend_ast.source.errors import CompileError
from eas.support.command_line import UsageError, print_text
from eas.support.diagnostics import use_color
from eas.targets import TARGETS

FORMS = {
    "msl": "the Metal text of a kernel",
    "ir": "the typed IR of a kernel",
    "schedule": "which thread holds what on Metal, and what the threads do in which order",
    "python": "the Python that is left of a kernel once its constexpr arguments are known",
}

_EXAMPLES = """\
examples:
  eas explain E0312
  eas explain --list
  eas msl kernels/add.py::add '*f32' '*f32' '*f32' i32 BLOCK=256
  eas ir kernels/add.py::add '*f32' '*f32' '*f32' i32 BLOCK=256 --after hoist
  eas passes --target cpu
"""

_TYPES = """\
A type is `i32`, `f16`, ... for a scalar and `*f32` for an array; quote the star, or the shell will
take it. A constexpr argument is given by name: its value is a Python literal or a dtype.

example:
  eas {form} kernels/add.py::add '*f32' '*f32' '*f32' i32 BLOCK=256
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0, 1 for errors in a kernel, 2 for wrong usage."""
    parsed = _parser().parse_args(arguments)
    try:
        if parsed.command == "explain":
            text = explain.explain(None if parsed.list else parsed.code)
        elif parsed.command == "passes":
            text = passes.passes(parsed.target)
        elif parsed.command == "ir" and (parsed.after or parsed.target):
            target = parsed.target or TARGETS[0]
            text = show.show_after(parsed.after, target, parsed.kernel, parsed.arguments)
        else:
            text = show.show(parsed.command, parsed.kernel, parsed.arguments)
    except CompileError as error:
        print(error.render(use_color(sys.stderr)), file=sys.stderr)
        return 1
    except UsageError as error:
        print(f"eas: {error}", file=sys.stderr)
        return 2
    return print_text(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="eas",
        description="GPU kernels for Apple silicon in plain Python.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    version = importlib.metadata.version("easy_as")
    parser.add_argument("--version", action="version", version=f"easy_as {version}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    page = commands.add_parser("explain", help="what an error code means and how to repair it")
    page.add_argument("code", nargs="?", help="such as E0312; without a code all are listed")
    page.add_argument("--list", action="store_true", help="list all codes")
    for form, what in FORMS.items():
        command = commands.add_parser(
            form,
            help=f"print {what}",
            description=f"Print {what}.",
            epilog=_TYPES.format(form=form),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_argument("kernel", metavar="FILE::KERNEL")
        command.add_argument("arguments", nargs="*", metavar="TYPE | NAME=VALUE")
        if form == "ir":
            _add_passes(command)
    table = commands.add_parser("passes", help="list the passes of each target, with reasons")
    table.add_argument("--target", choices=TARGETS, help="only those of this target")
    return parser


def _add_passes(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--after", metavar="PASS", help="as it is after this pass; `eas passes` lists them"
    )
    command.add_argument(
        "--target",
        choices=TARGETS,
        help=f"whose passes to run, {TARGETS[0]} unless given; without --after, all of them",
    )
