"""C = A @ B, as tasks: tiles of C in parallel, and for each the products of a row of tiles."""

from eas import task_lang as task


@task.define(leaf=True)
def zero_leaf(C):
    C[...] = 0.0


@task.define(leaf=True)
def gemm_leaf_logic(C, A, B):
    task.call_primitive("gemm", C, A, B)  # C += A @ B


@task.define
def gemm_block_logic(C, A, B):
    k = task.tunable("block_k")
    Ap = task.partition(A, by="blocks", tile=(A.shape[0], k))
    Bp = task.partition(B, by="blocks", tile=(k, B.shape[1]))
    task.launch(zero_leaf, C)
    for p in task.sequential_range(Ap.shape[1]):
        task.launch(gemm_leaf_logic, C, Ap[0, p], Bp[p, 0])


@task.define
def gemm_host_logic(C, A, B):
    m, n = task.tunable("block_m"), task.tunable("block_n")
    Cp = task.partition(C, by="blocks", tile=(m, n))
    Ap = task.partition(A, by="blocks", tile=(m, A.shape[1]))
    Bp = task.partition(B, by="blocks", tile=(B.shape[0], n))
    for i, j in task.parallel_range(Cp.shape):
        task.launch(gemm_block_logic, Cp[i, j], Ap[i, 0], Bp[0, j])
