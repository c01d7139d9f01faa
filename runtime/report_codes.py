"""The codes of what a running kernel can be reported for."""

from __future__ import annotations

from eas.support.faults import (
    ATOMIC_OUT_OF_BOUNDS,
    INDEX_OUT_OF_BOUNDS,
    READ_OUT_OF_BOUNDS,
    WRITE_OUT_OF_BOUNDS,
)

READ_BEFORE_WRITE = "R0105"
CONFLICTING_WRITES = "R0106"
READ_AND_WRITTEN = "R0107"
WRAPPED_OFFSET = "R0108"
DIVISION_BY_ZERO = "R0201"
BAD_SHIFT = "R0202"
FLOAT_TO_INT_OVERFLOW = "R0203"
LOOP_BUDGET = "R0301"
ZERO_STEP = "R0302"
ASSERTION = "R0401"

TITLES: dict[str, str] = {
    READ_OUT_OF_BOUNDS: "an array is read outside of its elements",
    WRITE_OUT_OF_BOUNDS: "an array is written outside of its elements",
    ATOMIC_OUT_OF_BOUNDS: "an atomic operation outside of an array's elements",
    INDEX_OUT_OF_BOUNDS: "an index outside of an array's axis",
    READ_BEFORE_WRITE: "threadgroup memory is read before it was written",
    CONFLICTING_WRITES: "two lanes write different values to one element",
    READ_AND_WRITTEN: "an element is read and written in no certain order",
    WRAPPED_OFFSET: "an offset or an index has wrapped",
    DIVISION_BY_ZERO: "an integer is divided by zero",
    BAD_SHIFT: "a shift by a negative amount, or by the width or more",
    FLOAT_TO_INT_OVERFLOW: "a float that does not fit is converted to an int",
    LOOP_BUDGET: "a loop does not end",
    ZERO_STEP: "a range with a step of zero",
    ASSERTION: "an assertion failed",
}
