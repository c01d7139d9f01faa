"""Every op, on every dtype that it takes, in every shape, on each backend, against NumPy.

Without `--thorough`, each op still runs on every dtype, but in a quarter of the shapes.
"""

from __future__ import annotations

import pytest

import eas
from eas.config import Backend
from eas.ir.types import F64, DType
from tests.backends import BACKENDS, TEXT_BACKENDS
from tests.ops.shapes import Shape
from tests.ops.table import FAMILIES
from tests.ops.table.family import Family
from tests.thorough import thorough

CASES = [
    pytest.param(
        *case,
        id=f"{family.name}-{case[1]}-{case[2]}",
        marks=() if case in family.sample() else thorough,
    )
    for family in FAMILIES
    for case in family.cases()
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("family", "dtype", "shape"), CASES)
def test_ops_agree_with_numpy(
    family: Family,
    dtype: DType,
    shape: Shape,
    backend: Backend,
    capsys: pytest.CaptureFixture[str],
) -> None:
    launch = family.launch(dtype, shape)
    is_refused = backend in TEXT_BACKENDS and (dtype == F64 or launch.refusal)
    if is_refused:
        with pytest.raises(eas.CompileError, match=launch.refusal or "Metal has no f64"):
            launch.run(backend)
    elif launch.failure:
        with pytest.raises(eas.KernelError, match=launch.failure):
            launch.run(backend)
    else:
        launch.run(backend)
        faults = [f"{words}, {dtype}{list(shape)} on {backend}" for words in launch.faults(backend)]
        assert not faults, "\n".join(faults)
        assert capsys.readouterr().out == launch.text
