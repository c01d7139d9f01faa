"""Nothing is left out: every class of op has a handler, every fault and every report its code."""

from __future__ import annotations

from typing import get_args

from eas.ir import nodes
from eas.ir.ops import OPS
from eas.runtime import report_codes
from eas.runtime.interpreter.compute import FAULT_CODES
from eas.runtime.interpreter.handlers import HANDLERS


def test_every_class_of_op_has_a_handler() -> None:
    assert set(HANDLERS) == set(get_args(nodes.Op))


def test_every_op_that_can_fault_has_a_code() -> None:
    assert set(FAULT_CODES) == {op.name for op in OPS.values() if op.fault is not None}


def test_every_code_has_a_title() -> None:
    codes = {
        value for name, value in vars(report_codes).items() if name.isupper() and name != "TITLES"
    }
    assert set(report_codes.TITLES) == codes
