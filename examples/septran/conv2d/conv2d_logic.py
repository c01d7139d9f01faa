"""A convolution of images, as tasks: tiles of the result in parallel, their rows in order.

Y[n, p, q, o] is the sum of X[n, p + r, q + s, c] * W[r, s, c, o] over r, s and c. A tile of Y needs
the tile of X below it and a halo, which its neighbours read, too. For each r, s and row of a tile
the sum over c is a product of matrices.
"""

from eas import task_lang as task


@task.define(leaf=True)
def zero_leaf(Y):
    Y[...] = 0.0


@task.define(leaf=True)
def product_leaf(Y, X, W):
    task.call_primitive("gemm", Y, X, W)  # Y += X @ W


@task.define
def conv2d_taps(Y, X, W):
    for r, s in task.sequential_range(W.shape[0], W.shape[1]):
        task.launch(product_leaf, Y, X[r, s : s + Y.shape[0]], W[r, s])


@task.define
def conv2d_row(Y, X, W):
    channels = task.tunable("channels")
    Xp = task.partition(X, by="blocks", tile=(X.shape[0], X.shape[1], channels))
    Wp = task.partition(W, by="blocks", tile=(W.shape[0], W.shape[1], channels, W.shape[3]))
    task.launch(zero_leaf, Y)
    for c in task.sequential_range(Xp.shape[2]):
        task.launch(conv2d_taps, Y, Xp[0, 0, c], Wp[0, 0, c, 0])


@task.define
def conv2d_block(Y, X, W):
    for y in task.sequential_range(Y.shape[0]):
        task.launch(conv2d_row, Y[y], X[y : y + W.shape[0]], W)


@task.define(shapes="Y[N,P,Q,O] X[N,P+R-1,Q+S-1,C] W[R=3,S=3,C,O]")
def conv2d(Y, X, W):
    p, q, o = task.tunable("rows"), task.tunable("columns"), task.tunable("outputs")
    halo = (W.shape[0] - 1, W.shape[1] - 1, 0)
    Wp = task.partition(W, by="blocks", tile=(*W.shape[:3], o))
    for n in task.parallel_range(Y.shape[0]):
        Yp = task.partition(Y[n], by="blocks", tile=(p, q, o))
        Xp = task.partition(X[n], by="halo", tile=(p, q, X.shape[3]), overlap=halo)
        for i, j, k in task.parallel_range(Yp.shape):
            task.launch(conv2d_block, Yp[i, j, k], Xp[i, j, 0], Wp[0, 0, 0, k])
