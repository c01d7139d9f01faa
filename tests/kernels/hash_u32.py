"""Mixes the bits of integers; the products wrap around at 32 bits."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case


def mix(h):
    h ^= h >> 16
    h *= 0x85EBCA6B
    h ^= h >> 13
    h *= 0xC2B2AE35
    return h ^ (h >> 16)


@eas.kernel
def hash_u32(keys, out, seed: mk.u32, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(out, offs, mix(mk.load(keys, offs, offs < N) ^ seed), offs < N)


def arguments() -> Arguments:
    keys = (np.arange(300, dtype="u8") * 0x9E3779B9).astype("u4")
    return {"keys": keys, "out": np.zeros_like(keys), "seed": 0xDEADBEEF, "N": 300, "BLOCK": 256}


def reference(keys: Array, seed: int, **_: object) -> dict[str, Array]:
    h = keys.astype("u4") ^ np.uint32(seed)
    h = (h ^ (h >> 16)) * np.uint32(0x85EBCA6B)
    h = (h ^ (h >> 13)) * np.uint32(0xC2B2AE35)
    return {"out": h ^ (h >> 16)}


CASE = Case(hash_u32, arguments, reference)
