"""Runs a program on a simulated Mac: `python -m tests.metal.simulated program.py`, or `-m module`.

Launches use its GPU unless `EAS_BACKEND` says otherwise.
"""

from __future__ import annotations

import os
import runpy
import sys

from tests.metal.simulated import install


def main(arguments: list[str]) -> int:
    match arguments:
        case ["-m", module, *rest]:
            sys.argv = [module, *rest]
        case [program, *rest] if not program.startswith("-"):
            module, sys.argv = "", [program, *rest]
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    os.environ.setdefault("EAS_BACKEND", "metal")
    install()
    if module:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
        runpy.run_path(sys.argv[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
