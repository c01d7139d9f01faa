"""Linear attention with decay, a chunk of time at a time: what came before is one matrix."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def retention(q, k, v, out, T, decay, CHUNK: eas.constexpr, DK: eas.constexpr, DV: eas.constexpr):
    head = mk.program_id(0)
    i = mk.arange(0, CHUNK)
    past = i[:, None] - i[None, :]
    weights = mk.where(past >= 0, mk.pow(decay, past.to(mk.f32)), 0.0)
    state = mk.zeros((DK, DV))
    rows = mk.make_block_ptr(q + head * T * DK, (T, DK), (DK, 1), (0, 0), (CHUNK, DK))
    columns = mk.make_block_ptr(k + head * T * DK, (DK, T), (1, DK), (0, 0), (DK, CHUNK))
    values = mk.make_block_ptr(v + head * T * DV, (T, DV), (DV, 1), (0, 0), (CHUNK, DV))
    results = mk.make_block_ptr(out + head * T * DV, (T, DV), (DV, 1), (0, 0), (CHUNK, DV))
    for _ in range(0, T, CHUNK):
        x, y, z = (mk.load(p, boundary_check=(0, 1)) for p in (rows, columns, values))
        old = mk.dot(x, state) * mk.pow(decay, (i + 1).to(mk.f32))[:, None]
        mk.store(results, mk.dot(mk.dot(x, y) * weights, z, old), boundary_check=(0, 1))
        faded = y * mk.pow(decay, (CHUNK - 1 - i).to(mk.f32))[None, :]
        state = mk.dot(faded, z, state * mk.pow(decay, CHUNK))
        rows, values = mk.advance(rows, (CHUNK, 0)), mk.advance(values, (CHUNK, 0))
        columns, results = mk.advance(columns, (0, CHUNK)), mk.advance(results, (CHUNK, 0))


def arguments() -> Arguments:
    return {
        "q": floats(2, 37, 16), "k": floats(2, 37, 16, seed=1), "v": floats(2, 37, 8, seed=2),
        "out": np.zeros((2, 37, 8), "f4"), "T": 37, "decay": 0.9, "CHUNK": 16, "DK": 16, "DV": 8,
    }  # fmt: skip


def reference(q: Array, k: Array, v: Array, decay: float, **_: object) -> dict[str, Array]:
    state, out = np.zeros((2, 16, 8)), np.zeros(v.shape)
    for t in range(q.shape[1]):
        state = decay * state + k[:, t, :, None].astype("f8") * v[:, t, None, :]
        out[:, t] = np.einsum("hk,hkv->hv", q[:, t], state)
    return {"out": out}


CASE = Case(retention, arguments, reference, grid=(2,), tolerance=1e-5)
