"""Attention with an online softmax: blocks of queries in parallel, blocks of keys in order.

`attention` looks at all keys, `causal_attention` for each query at those up to its own position.
"""

import math

from eas import mk
from eas import task_lang as task


@task.define(leaf=True)
def start(O, m, l):
    O[...] = 0.0
    m[...] = -1e30
    l[...] = 0.0


@task.define(leaf=True)
def scores(S, Q, K, scale):
    S[...] = 0.0
    task.call_primitive("gemm_nt", S, Q, K)
    S[...] = S * scale


@task.define(leaf=True)
def hide_later_keys(S, row, column):
    rows = mk.arange(0, S.shape[0])[:, None] + row
    columns = mk.arange(0, S.shape[1])[None, :] + column
    S[...] = mk.where(columns <= rows, S, -1e30)


@task.define(leaf=True)
def accumulate(O, m, l, S, P, V):
    high = mk.maximum(m, mk.max(S, axis=1))
    rescale = mk.exp(m - high)
    P[...] = mk.exp(S - high[:, None])
    l[...] = l * rescale + mk.sum(P, axis=1)
    O[...] = O * rescale[:, None]
    O[...] += P @ V
    m[...] = high


@task.define(leaf=True)
def finish(O, l):
    O[...] = O / l[:, None]


@task.define
def step(O, m, l, Q, K, V, scale):
    S = task.local("S", (Q.shape[0], K.shape[0]))
    P = task.local("P", (Q.shape[0], K.shape[0]), dtype=V.dtype)
    task.launch(scores, S, Q, K, scale)
    task.launch(accumulate, O, m, l, S, P, V)


@task.define
def causal_step(O, m, l, Q, K, V, scale, row, column):
    S = task.local("S", (Q.shape[0], K.shape[0]))
    P = task.local("P", (Q.shape[0], K.shape[0]), dtype=V.dtype)
    task.launch(scores, S, Q, K, scale)
    task.launch(hide_later_keys, S, row, column)
    task.launch(accumulate, O, m, l, S, P, V)


@task.define
def attention_block(O, Q, K, V):
    keys = task.tunable("keys")
    Kp = task.partition(K, by="rows", tile=keys)
    Vp = task.partition(V, by="rows", tile=keys)
    m = task.local("m", (Q.shape[0],))
    l = task.local("l", (Q.shape[0],))
    scale = 1.0 / math.sqrt(Q.shape[1])
    task.launch(start, O, m, l)
    for j in task.sequential_range(Kp.shape[0]):
        task.launch(step, O, m, l, Q, Kp[j, 0], Vp[j, 0], scale)
    task.launch(finish, O, l)


@task.define
def causal_block(O, Q, K, V, row):
    keys = task.tunable("keys")
    Kp = task.partition(K, by="rows", tile=keys)
    Vp = task.partition(V, by="rows", tile=keys)
    m = task.local("m", (Q.shape[0],))
    l = task.local("l", (Q.shape[0],))
    scale = 1.0 / math.sqrt(Q.shape[1])
    task.launch(start, O, m, l)
    visible = min(Kp.shape[0], task.cdiv(row + Q.shape[0], keys))
    for j in task.sequential_range(visible):
        task.launch(causal_step, O, m, l, Q, Kp[j, 0], Vp[j, 0], scale, row, j * keys)
    task.launch(finish, O, l)


@task.define(shapes="O[H,M,D] Q[H,M,D] K[H,N,D] V[H,N,D]")
def attention(O, Q, K, V):
    queries = task.tunable("queries")
    for h in task.parallel_range(Q.shape[0]):
        Op = task.partition(O[h], by="rows", tile=queries)
        Qp = task.partition(Q[h], by="rows", tile=queries)
        for i in task.parallel_range(Qp.shape[0]):
            task.launch(attention_block, Op[i, 0], Qp[i, 0], K[h], V[h])


@task.define(shapes="O[H,M,D] Q[H,M,D] K[H,N,D] V[H,N,D]")
def causal_attention(O, Q, K, V):
    queries = task.tunable("queries")
    for h in task.parallel_range(Q.shape[0]):
        Op = task.partition(O[h], by="rows", tile=queries)
        Qp = task.partition(Q[h], by="rows", tile=queries)
        for i in task.parallel_range(Qp.shape[0]):
            task.launch(causal_block, Op[i, 0], Qp[i, 0], K[h], V[h], i * queries)
