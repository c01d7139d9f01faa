"""How far rays travel to a sphere: a frozen dataclass, helpers with tuples and a star."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@dataclass(frozen=True)
class Sphere:
    centre: tuple[float, float, float]
    radius: float


def dot(a, b):
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


def hit(sphere, *direction):
    along = dot(direction, sphere.centre)
    gap = along * along - dot(sphere.centre, sphere.centre) + sphere.radius * sphere.radius
    if gap < 0.0 or along < 0.0:
        return math.inf
    return along - mk.sqrt(gap)


@eas.kernel
def ray_sphere(rays, distances, N, SPHERE: eas.constexpr, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mask = offs < N
    x, y, z = (mk.load(rays, 3 * offs + axis, mask) for axis in (0, 1, 2))
    mk.store(distances, offs, hit(SPHERE, x, y, z), mask)


def arguments() -> Arguments:
    rays = floats(85, 3) + np.array([0, 0, 2], "f4")
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    sphere = Sphere((0.5, 0.0, 4.0), 2.0)
    distances = np.zeros(85, "f4")
    return {"rays": rays, "distances": distances, "N": 85, "SPHERE": sphere, "BLOCK": 64}


def reference(rays: Array, SPHERE: Sphere, **_: Any) -> dict[str, Array]:
    centre = np.array(SPHERE.centre)
    along = rays.astype("f8") @ centre
    gap = along**2 - centre @ centre + SPHERE.radius**2
    misses = (gap < 0) | (along < 0)
    return {"distances": np.where(misses, math.inf, along - np.sqrt(np.abs(gap)))}


CASE = Case(ray_sphere, arguments, reference, tolerance=1e-5)
