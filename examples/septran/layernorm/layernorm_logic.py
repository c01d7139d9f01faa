"""Layer normalization of each row, as tasks: blocks of rows in parallel, whole rows in a leaf."""

from eas import mk
from eas import task_lang as task


@task.define(leaf=True)
def layernorm_leaf(Y, X, weight, bias):
    centered = X - (mk.sum(X, axis=1) / X.shape[1])[:, None]
    variance = mk.sum(centered * centered, axis=1) / X.shape[1]
    normal = centered * mk.rsqrt(variance + 1e-5)[:, None]
    Y[...] = normal * weight[None, :] + bias[None, :]


@task.define
def layernorm_block(Y, X, weight, bias):
    task.launch(layernorm_leaf, Y, X, weight, bias)


@task.define(shapes="Y[M,N] X[M,N] weight[N] bias[N]")
def layernorm(Y, X, weight, bias):
    rows = task.tunable("rows")
    Yp = task.partition(Y, by="rows", tile=rows)
    Xp = task.partition(X, by="rows", tile=rows)
    for i in task.parallel_range(Yp.shape[0]):
        task.launch(layernorm_block, Yp[i, 0], Xp[i, 0], weight, bias)
