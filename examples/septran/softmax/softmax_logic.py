"""Softmax of each row, as tasks: blocks of rows in parallel, whole rows in a leaf."""

from eas import mk
from eas import task_lang as task


@task.define(leaf=True)
def softmax_leaf(Y, X):
    powers = mk.exp(X - mk.max(X, axis=1)[:, None])
    Y[...] = powers / mk.sum(powers, axis=1)[:, None]


@task.define
def softmax_block(Y, X):
    task.launch(softmax_leaf, Y, X)


@task.define(shapes="Y[M,N] X[M,N]")
def softmax(Y, X):
    rows = task.tunable("rows")
    Yp = task.partition(Y, by="rows", tile=rows)
    Xp = task.partition(X, by="rows", tile=rows)
    for i in task.parallel_range(Yp.shape[0]):
        task.launch(softmax_block, Yp[i, 0], Xp[i, 0])
