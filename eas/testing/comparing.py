"""A kernel against a reference: at odd sizes, on every backend, with its Metal text checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from eas.config import Backend, available
from eas.kernel import Kernel

Arguments = Mapping[str, Any]
Array = np.ndarray[Any, np.dtype[Any]]

# One element, one less and more than powers of two, and a prime.
ODD_SIZES = (1, 31, 257, 1000, 1031)

_ORDER: tuple[Backend, ...] = ("interpret", "cpu", "msl-host", "metal")


def compare(
    kernel: Kernel,
    reference: Callable[..., Mapping[str, Array]],
    arguments: Callable[[int], Arguments],
    *,
    sizes: Iterable[int] = ODD_SIZES,
    grid: Callable[[int], Any] | None = None,
    tolerance: float = 1e-5,
    backends: Sequence[Backend] | None = None,
) -> None:
    """Runs a kernel at several sizes on all backends that are here, and compares the results.

    `arguments` makes the arguments for a size, by name. `reference` takes them by name, and gives
    the arrays that the kernel changes; all others must stay as they are. `grid` gives the grid for
    a size; without it the kernel's own rule holds, `ceil(N / BLOCK)`. Floats may differ by
    `tolerance`, relative to the largest; all else is compared exactly. The Metal text runs in the
    check mode of `msl-host` too, which runs the threads in three orders and finds races.

    >>> def arguments(n):
    ...     x = np.random.default_rng(0).standard_normal(n, np.float32)
    ...     return dict(x=x, y=np.zeros(n, np.float32), N=n, BLOCK=64)
    >>> compare(relu, lambda x, **_: {"y": np.maximum(x, 0)}, arguments)
    """
    for size in sizes:
        expected = _arrays(arguments(size))
        expected |= {k: np.asarray(v) for k, v in reference(**arguments(size)).items()}
        for backend, is_checked in _runs(backends):
            given = dict(arguments(size))
            launch = kernel if grid is None else kernel[grid(size)]
            launch(**given, _backend=backend, _checked=is_checked)
            where = f"{kernel.name}, size {size}, {backend}{' in check mode' * bool(is_checked)}"
            for name, result in _arrays(given).items():
                _check(f"{where}: `{name}`", result, expected[name], tolerance)


def _runs(backends: Sequence[Backend] | None) -> list[tuple[Backend, bool | None]]:
    """The backends that are here; the Metal text runs a second time, in check mode."""
    here = [each for each in _ORDER if each in available()]
    chosen = cast(Sequence[Backend], here if backends is None else backends)
    runs: list[tuple[Backend, bool | None]] = [(backend, None) for backend in chosen]
    return [*runs, ("msl-host", True)] if "msl-host" in chosen else runs


def _arrays(arguments: Arguments) -> dict[str, Array]:
    return {name: value for name, value in arguments.items() if isinstance(value, np.ndarray)}


def _check(what: str, result: Array, expected: Array, tolerance: float) -> None:
    if result.shape != expected.shape:
        raise AssertionError(f"{what} has the shape {result.shape}, expected {expected.shape}")
    if result.dtype.kind in "biu":
        wrong = result != expected
    else:
        wide, other = result.astype(np.float64), expected.astype(np.float64)
        finite = np.abs(other[np.isfinite(other)])
        bound = tolerance * max(float(finite.max(initial=0.0)), 1e-30)
        with np.errstate(invalid="ignore"):
            near = np.abs(wide - other) <= bound
        wrong = ~(near | (wide == other) | (np.isnan(wide) & np.isnan(other)))
    if not wrong.any():
        return
    first = tuple(int(place[0]) for place in np.nonzero(np.atleast_1d(wrong)))
    index = ", ".join(map(str, first))
    count = int(wrong.sum())
    value = np.atleast_1d(result)[first]
    wanted = np.atleast_1d(expected)[first]
    raise AssertionError(
        f"{what} is wrong at {count} of {wrong.size} elements, first at [{index}]: "
        f"{value}, expected {wanted}"
    )
