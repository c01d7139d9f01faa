"""No op and no name of `mk` is left out: each has every backend, and is run on each."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from eas import mk
from eas.intrinsic import MARK
from eas.ir.nodes import Op
from eas.ir.ops import OPS
from eas.msl.spelling import SPELLED
from eas.runtime.cpu.uniform import KNOWN
from eas.runtime.interpreter.handlers import HANDLERS

TESTS = Path(__file__).parent.parent
# The kernels here run on every backend.
RUN_EVERYWHERE = [*TESTS.glob("ops/**/*.py"), *TESTS.glob("kernels/*.py")]
# These are done while a kernel is compiled, or only say where a thread is.
COMPILE_TIME = {"static_assert", "static_print", "local_id"}


def test_every_op_is_spelled_in_metal() -> None:
    assert OPS.keys() - SPELLED == set()


def test_every_op_is_spelled_for_the_cpu() -> None:
    reductions = {name for name in OPS if name.startswith("reduce_")}
    assert OPS.keys() - KNOWN - reductions == set()


def test_every_op_has_a_meaning_for_the_interpreter() -> None:
    assert [name for name, op in OPS.items() if not callable(op.meaning)] == []
    assert set(Op.__args__) - HANDLERS.keys() == set()


def test_every_name_of_mk_is_run_on_every_backend() -> None:
    text = "\n".join(path.read_text("utf-8") for path in RUN_EVERYWHERE)
    used = set(re.findall(r"\bmk\.(\w+)", text))
    names = {name for name, value in vars(mk).items() if hasattr(value, MARK)}
    names -= COMPILE_TIME | {name for name in names if name.startswith("to_")}
    assert names - used == set()


def test_the_meanings_keep_their_dtype() -> None:
    """An op of two f16 gives f16: NumPy must not have widened it on the way."""
    for name in ("add", "maximum", "exp", "sigmoid", "erf", "fma", "clamp", "copysign"):
        op = OPS[name]
        arrays = [np.ones(1, np.float16) for _ in op.operands]
        assert op.meaning(*arrays).dtype == np.float16, name
