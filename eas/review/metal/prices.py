"""How two branches are compared of which one runs: a rough price for what they do."""

from __future__ import annotations

from eas.review.metal.kernel_costs import Region, What

_PRICES: dict[What, float] = {
    "load": 1, "store": 1, "atomic": 4, "shared": 2, "flop": 1, "function": 8, "simd": 4,
    "product": 32, "barrier": 32,
}  # fmt: skip


def price_of(region: Region) -> float:
    """Larger for a branch that costs more; accesses are weighed by their bytes."""
    return sum(
        _PRICES[what] * count * max(width, 1) for (what, width), count in region.assumed().items()
    )
