"""Every op, on every dtype that it takes, in every shape, on each backend, against NumPy.

Without `--thorough`, each op still runs on every dtype, but in a sixth of the shapes, with the
interpreter. Every second of these cases also runs on one other backend, each in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import eas
from eas.config import Backend
from eas.ir.types import F64, DType
from tests.backends import BACKENDS, TEXT_BACKENDS
from tests.ops.shapes import Shape
from tests.ops.table import FAMILIES
from tests.ops.table.family import Family
from tests.thorough import in_turn, thorough


def cases() -> Iterator[Any]:
    """The cases of all families on each backend, all but those of the samples marked."""
    for number, family in enumerate(FAMILIES):
        sample = {case[1:]: number + n for n, case in enumerate(family.sample())}
        for _, dtype, shape in family.cases():
            place = sample.get((dtype, shape))
            always = () if place is None else in_turn(BACKENDS, place // 2)[: 2 - place % 2]
            for backend in BACKENDS:
                marks = () if backend in always else thorough
                name = f"{family.name}-{dtype}-{shape}-{backend}"
                yield pytest.param(family, dtype, shape, backend, id=name, marks=marks)


@pytest.mark.parametrize(("family", "dtype", "shape", "backend"), list(cases()))
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
