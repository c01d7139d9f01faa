"""The gradients of attention: each program has some keys and goes over all queries."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def flash_attention_backward(
    q, k, v, do, lse, delta, dq, dk, dv, N, scale,
    BM: eas.constexpr, BN: eas.constexpr, D: eas.constexpr,
):  # fmt: skip
    n, d = mk.program_id(0) * BN + mk.arange(0, BN), mk.arange(0, D)
    at_n = n[:, None] * D + d[None, :]
    keys, values = mk.load(k, at_n, n[:, None] < N), mk.load(v, at_n, n[:, None] < N)
    grad_k, grad_v = mk.zeros((BN, D)), mk.zeros((BN, D))
    for start in range(0, N, BM):
        m = start + mk.arange(0, BM)
        at_m, inside = m[:, None] * D + d[None, :], m[:, None] < N
        rows, grad = mk.load(q, at_m, inside), mk.load(do, at_m, inside)
        scores = mk.dot(rows, mk.trans(keys)) * scale
        seen = inside & (n[None, :] < N)
        weights = mk.where(seen, mk.exp(scores - mk.load(lse, m, m < N)[:, None]), 0.0)
        grad_v = mk.dot(mk.trans(weights), grad, grad_v)
        along = mk.dot(grad, mk.trans(values)) - mk.load(delta, m, m < N)[:, None]
        grad_scores = weights * along * scale
        grad_k = mk.dot(mk.trans(grad_scores), rows, grad_k)
        mk.atomic_add(dq, at_m, mk.dot(grad_scores, keys), inside)
    mk.store(dk, at_n, grad_k, n[:, None] < N)
    mk.store(dv, at_n, grad_v, n[:, None] < N)


N, D, SCALE = 27, 16, 0.25


def forward() -> dict[str, Array]:
    q, k, v, do = (floats(N, D, seed=seed).astype("f8") for seed in range(4))
    scores = q @ k.T * SCALE
    lse = np.logaddexp.reduce(scores, axis=1)
    weights = np.exp(scores - lse[:, None])
    delta = (do * (weights @ v)).sum(1)
    return {"q": q, "k": k, "v": v, "do": do, "lse": lse, "delta": delta, "weights": weights}


def arguments() -> Arguments:
    given = {name: a.astype("f4") for name, a in forward().items() if name != "weights"}
    zeros = {name: np.zeros((N, D), "f4") for name in ("dq", "dk", "dv")}
    return {**given, **zeros, "N": N, "scale": SCALE, "BM": 16, "BN": 16, "D": D}


def reference(**_: object) -> dict[str, Array]:
    f = forward()
    along = f["do"] @ f["v"].T - f["delta"][:, None]
    grad = f["weights"] * along * SCALE
    return {"dq": grad @ f["k"], "dk": grad.T @ f["q"], "dv": f["weights"].T @ f["do"]}


CASE = Case(flash_attention_backward, arguments, reference, grid=(2,), tolerance=3e-6)
