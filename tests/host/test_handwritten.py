"""Metal that people write by hand runs, and is not complained about."""

from __future__ import annotations

import numpy as np
import pytest

from eas.msl.host import ORDERS, Host, load
from eas.msl.host.inspect import inspect
from tests.host.handwritten import EXAMPLES, FOLDER, text_of
from tests.host.references import Array
from tests.thorough import sampled

in_an_order = pytest.mark.parametrize(
    ("name", "order"), [(name, order) for order in ORDERS for name in EXAMPLES]
)


@pytest.mark.parametrize("name", EXAMPLES)
@sampled(5)
def test_a_text_written_by_hand_is_metal(name: str, host: Host) -> None:
    assert inspect(text_of(name), host.builder) == []


def run_example(name: str, host: Host, order: str) -> None:
    """Runs a text on a host and compares what it has written."""
    example = EXAMPLES[name]
    buffers = example.buffers()
    expected = example.expected(*example.buffers())
    shader = load(text_of(name), constants=example.constants, host=host)
    groups = None if example.threads else example.groups
    shader[name](*buffers, threads=example.threads, groups=groups, per_group=example.per_group,
                 shared=example.shared, order=order)  # fmt: skip
    for index, right in expected.items():
        compare(buffers[index], right, example.tolerance)


def compare(result: Array, right: Array, tolerance: float) -> None:
    if result.dtype.names is not None:
        for name in result.dtype.names:
            compare(result[name], right[name], tolerance)
    elif result.dtype.kind in "fV" and tolerance:
        atol = tolerance * float(np.abs(right).max())
        np.testing.assert_allclose(result.astype(np.float32), right.astype(np.float32), 0, atol)
    else:
        np.testing.assert_array_equal(result, right)


@sampled(5)
@in_an_order
def test_a_text_written_by_hand_gives_the_results_of_numpy(
    name: str, order: str, host: Host
) -> None:
    run_example(name, host, order)


@sampled(5)
@in_an_order
def test_nothing_is_wrong_with_a_text_written_by_hand(
    name: str, order: str, checked_host: Host
) -> None:
    run_example(name, checked_host, order)


def test_every_text_written_by_hand_is_used() -> None:
    assert {path.stem for path in FOLDER.glob("*.metal")} == set(EXAMPLES)
