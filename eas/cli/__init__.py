"""The command `eas`: check kernels, explain an error, show what a kernel compiles to."""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import sys
from collections.abc import Sequence

from eas.cli import explain, passes, review_arguments, show
from eas.frontend_ast.source.errors import CompileError
from eas.support.command_line import UsageError, print_text
from eas.support.diagnostics import use_color
from eas.targets import TARGETS

FORMS = {
    "msl": "the Metal text of a kernel",
    "ir": "the typed IR of a kernel",
    "schedule": "which thread holds what on Metal, and what the threads do in which order",
    "tree": "the C++ tree of a kernel: its statements and expressions before they are Metal text",
    "python": "the Python that is left of a kernel once its constexpr arguments are known",
}

_EXAMPLES = """\
examples:
  eas explain E0312
  eas explain --list
  eas msl kernels/add.py::add '*f32' '*f32' '*f32' i32 BLOCK=256
  eas ir kernels/add.py::add '*f32' '*f32' '*f32' i32 BLOCK=256 --after hoist
  eas passes --target cpu
  eas check kernels/ --format github
  eas snapshot kernels/add.py --update
  eas review main HEAD -o review.html
  eas init --source ../easy_as my_kernels
  eas export kernels/add.py::add --signature '*f32,*f32,*f32,i32' --constexpr BLOCK=256 -o out
  eas doctor
"""

_CHECK = """\
The types of a kernel are found in `@eas.kernel(examples=[("*f32", "i32", dict(BLOCK=256))])`, in
the table [tool.eas.check] of pyproject.toml, or in the annotations of its parameters. A kernel
without them is checked in part: names, syntax, constructs. Each file is imported in a process of
its own, whose output goes to stderr; kernels are compiled, not run.

exit codes: 0 no errors, 1 errors in kernels, 2 wrong usage or a file that cannot be imported
"""

_SNAPSHOT = """\
The Metal text of each kernel, for each of its `examples`, in the folder `__metal__` beside its
file. Comments count lines from the `def` of a function.
"""

_EXPORT = """\
For each kernel: its Metal text, a manifest (arguments, buffer indices, grid, threads) with its JSON
Schema, and samples of hosts in Python, Swift and C++. A kernel with `examples` needs no signature;
of a file without a kernel's name, all kernels with examples are exported. The same kernel gives the
same bytes everywhere. docs/export.md describes the files.

examples:
  eas export kernels.py::add --signature '*f32,*f32,*f32,i32' --constexpr BLOCK=256 -o out
  eas export kernels.py other.py::scale -o out
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
        elif parsed.command == "check":
            return _check(parsed)
        elif parsed.command == "lsp":
            return _serve(parsed)
        elif parsed.command == "snapshot":
            from eas.cli import snapshot  # as above

            return snapshot.snapshot(parsed.files, update=parsed.update)
        elif parsed.command == "review":
            from eas.cli import review  # as above

            return review.run(parsed)
        elif parsed.command == "init":
            from eas.cli import init  # as above

            return init.run(parsed)
        elif parsed.command == "export":
            return _export(parsed)
        elif parsed.command == "doctor":
            from eas.cli import doctor_table  # as above

            return doctor_table.doctor(parsed.topic, as_json=parsed.json)
        elif parsed.command == "passes":
            text = passes.passes(parsed.target)
        elif parsed.command == "ir" and (parsed.after or parsed.target):
            target = parsed.target or TARGETS[0]
            text = show.show_after(parsed.after, target, parsed.kernel, parsed.arguments)
        elif parsed.command == "schedule":
            options = {"_target": parsed.target}
            text = show.show("schedule", parsed.kernel, parsed.arguments, **options)
        else:
            text = show.show(parsed.command, parsed.kernel, parsed.arguments)
    except CompileError as error:
        print(error.render(use_color(sys.stderr)), file=sys.stderr)
        return 1
    except UsageError as error:
        print(f"eas: {error}", file=sys.stderr)
        return 2
    return print_text(text)


def _check(parsed: argparse.Namespace) -> int:
    from eas.cli import check  # not needed for what the other commands do

    return check.check(
        check.Request(
            parsed.files,
            parsed.format,
            parsed.target,
            parsed.timeout,
            parsed.config,
            not parsed.no_import,
        )
    )


def _export(parsed: argparse.Namespace) -> int:
    from eas.cli import export_files  # not needed for what the other commands do

    return export_files.export(
        export_files.Request(
            parsed.kernels,
            parsed.signature,
            [each for group in parsed.constexpr for each in group],
            parsed.output,
            parsed.tptg,
            parsed.checked,
            parsed.force,
        )
    )


def _serve(parsed: argparse.Namespace) -> int:
    if importlib.util.find_spec("pygls") is None:
        raise UsageError("the language server needs the extra `lsp`: pip install 'easy_as[lsp]'")
    from eas.lsp.features import make_server

    make_server(has_imports=not parsed.no_import).start_io()
    return 0


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
        if form == "schedule":
            _add_targets(command)
    _add_check(commands)
    server = commands.add_parser(
        "lsp", help="the language server, on stdin and stdout (extra `lsp`; see docs/editors.md)"
    )
    server.add_argument(
        "--no-import", action="store_true", help="run nothing: outer names that need it are unknown"
    )
    server.add_argument("--stdio", action="store_true", help="the default, which editors ask for")
    stored = commands.add_parser(
        "snapshot",
        help="compare the Metal texts of kernels with stored ones, or store them",
        description=_SNAPSHOT,
    )
    stored.add_argument("files", nargs="+", metavar="FILE")
    mode = stored.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="compare, which is the default")
    mode.add_argument("--update", action="store_true", help="write the texts")
    review_arguments.add_review(commands)
    review_arguments.add_init(commands)
    _add_export(commands)
    health = commands.add_parser(
        "doctor",
        help="what is on this machine, what will be used, and why",
        description="Show devices, compilers, caches and versions, what will be used, and why.",
        epilog="exit codes: 0 launches can run, 1 they cannot (or, of a topic, something is amiss)",
    )
    health.add_argument("topic", nargs="?", choices=("torch",), help="tensors of torch on `mps`")
    health.add_argument("--json", action="store_true", help="as JSON, for programs")
    table = commands.add_parser("passes", help="list the passes of each target, with reasons")
    table.add_argument("--target", choices=TARGETS, help="only those of this target")
    return parser


def _add_check(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:  # pyright: ignore[reportPrivateUsage]
    command = commands.add_parser(
        "check",
        help="compile the kernels of files, without running them",
        description="Compile the kernels of files and folders, without running them.",
        epilog=_CHECK,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("files", nargs="*", metavar="FILE | FOLDER")
    command.add_argument("--format", choices=("text", "json", "sarif", "github"), default="text")
    command.add_argument("--target", choices=("metal", "cpu"), help="metal unless given")
    command.add_argument(
        "--timeout", type=_seconds, metavar="SECONDS", help="for the import of a file (60)"
    )
    command.add_argument("--config", metavar="FILE", help="instead of the next pyproject.toml")
    command.add_argument(
        "--no-import", action="store_true", help="run nothing: outer names that need it are unknown"
    )


def _add_export(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:  # pyright: ignore[reportPrivateUsage]
    command = commands.add_parser(
        "export",
        help="write kernels as Metal text with manifests and samples of hosts",
        description="Write kernels for programs without Python.",
        epilog=_EXPORT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("kernels", nargs="+", metavar="FILE[::KERNEL]")
    command.add_argument(
        "--signature", metavar="TYPES", help="the types of the arguments: '*f32,*f32[:, :],i32'"
    )
    command.add_argument(
        "--constexpr", nargs="+", action="append", default=[], metavar="NAME=VALUE"
    )
    command.add_argument("-o", "--output", required=True, metavar="FOLDER")
    command.add_argument("--tptg", type=int, metavar="THREADS", help="the threads of a program")
    command.add_argument("--checked", action="store_true", help="check accesses in the text")
    command.add_argument(
        "--force", action="store_true", help="overwrite files that were not exported, or changed"
    )


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < float("inf"):
        raise ValueError
    return seconds


def _add_targets(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--target",
        choices=TARGETS,
        default=TARGETS[0],
        help="metal, unless given; cpu: what a program does once, and in which loops over lanes",
    )


def _add_passes(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--after", metavar="PASS", help="as it is after this pass; `eas passes` lists them"
    )
    command.add_argument(
        "--target",
        choices=TARGETS,
        help=f"whose passes to run, {TARGETS[0]} unless given; without --after, all of them",
    )
