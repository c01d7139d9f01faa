"""The memory regions of the arrays of a launch."""

from __future__ import annotations

import numpy as np

from eas.msl.arrays import GRAIN, divide


def test_arrays_that_do_not_alias_have_regions_of_their_own() -> None:
    flats = [np.zeros(10, np.float32), np.zeros(3, np.int8)]
    regions = divide(flats)
    assert sorted(region for region, _ in regions.places) == [0, 1]
    for flat, (region, offset) in zip(flats, regions.places, strict=True):
        assert regions.sizes[region] == offset + flat.nbytes


def test_arrays_that_overlap_are_in_one_region() -> None:
    memory = np.zeros(16, np.float32)
    regions = divide([memory[4:12], memory[:8], memory[10:]])
    assert {region for region, _ in regions.places} == {0}
    first = regions.places[1][1]
    assert [offset - first for _, offset in regions.places] == [16, 0, 40]


def test_an_empty_array_has_an_empty_region() -> None:
    regions = divide([np.zeros(4, np.float32)[3:3]])
    assert (regions.sizes, regions.places) == ((0,), ((0, 0),))


def test_views_of_other_types_stay_aligned() -> None:
    memory = np.zeros(64, np.uint8)
    start = -memory.__array_interface__["data"][0] % GRAIN
    bytes_, words = memory[start + 1 : start + 9], memory[start + 4 : start + 20].view(np.float32)
    regions = divide([bytes_, words])
    assert regions.places == ((0, 1), (0, 4))
