"""SepTran: one operator text, and for each machine a small file that says how it runs.

    from eas import septran

    gemm = septran.load("gemm_logic.py", "gemm.cpu.map.yaml")
    gemm(C, A, B)

`logic/` reads the operator, `files/` machines and mappings; `lowering/` makes the flat IR of both
(`flat/`), and `targets/` print or run it. This package is an extra (`pip install
"easy_as[septran]"`): `import eas` does not import it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eas.septran.operators import Operator, load

__all__ = ["Operator", "load"]


def __dir__() -> list[str]:
    return [*globals(), *__all__]


def __getattr__(name: str) -> Any:
    """`load` and `Operator` when they are asked for: Task Lang alone needs none of the extra."""
    if name not in __all__:
        raise AttributeError(f"module `eas.septran` has no attribute `{name}`")
    from eas.septran import operators

    return getattr(operators, name)
