"""Random logics: what a mapping accepts is what the same statements are in NumPy.

`EAS_RANDOM_LOGICS=n` asks for so many logics, each with a mapping for each machine.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from eas.septran.files import load_machine
from tests.septran.random_logics import draw_logic, draw_mapping, make_arrays, try_logic, write
from tests.thorough import batches

MACHINES = ("cpu", "apple_gpu", "awesomedsa")
SIZE = 2  # logics of a batch


@pytest.mark.parametrize("batch", batches("EAS_RANDOM_LOGICS", SIZE, always=0, thoroughly=20))
def test_a_random_logic_means_the_same_on_every_machine(batch: int, tmp_path: Path) -> None:
    for seed in range(SIZE * batch, SIZE * batch + SIZE):
        source = Random(seed)
        drawn, arrays = draw_logic(source), make_arrays(source)
        expected = drawn.expected(arrays)
        for machine in MACHINES:
            operator = write(tmp_path, drawn, draw_mapping(drawn, load_machine(machine), source))
            runs = machine == MACHINES[seed % len(MACHINES)]
            try_logic(operator, arrays, expected, runs)


def test_some_mappings_of_random_logics_are_accepted(tmp_path: Path) -> None:
    codes: list[str] = []
    for seed in range(4):
        source = Random(seed)
        drawn, arrays = draw_logic(source), make_arrays(source)
        mapping = draw_mapping(drawn, load_machine("cpu"), source)
        operator = write(tmp_path, drawn, mapping)
        codes.append(try_logic(operator, arrays, drawn.expected(arrays), runs=False))
    assert "" in codes
