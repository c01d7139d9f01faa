"""C[g] = gelu(A[g] @ B[g] + bias) for each g, as tasks: the tiles of all products in parallel."""

from eas import task_lang as task


@task.define(leaf=True)
def zero_leaf(C):
    C[...] = 0.0


@task.define(leaf=True)
def gemm_leaf(C, A, B):
    task.call_primitive("gemm", C, A, B)  # C += A @ B


@task.define(leaf=True)
def finish_leaf(C, bias):
    C[...] = C + bias[None, :]
    task.call_primitive("gelu", C, C)


@task.define
def gemm_block(C, A, B, bias):
    k = task.tunable("block_k")
    Ap = task.partition(A, by="blocks", tile=(A.shape[0], k))
    Bp = task.partition(B, by="blocks", tile=(k, B.shape[1]))
    task.launch(zero_leaf, C)
    for p in task.sequential_range(Ap.shape[1]):
        task.launch(gemm_leaf, C, Ap[0, p], Bp[p, 0])
    task.launch(finish_leaf, C, bias)


@task.define(shapes="C[G,M,N] A[G,M,K] B[G,K,N] bias[N]")
def batched_gemm(C, A, B, bias):
    m, n = task.tunable("block_m"), task.tunable("block_n")
    bp = task.partition(bias, by="blocks", tile=(n,))
    for g in task.parallel_range(C.shape[0]):
        Cp = task.partition(C[g], by="blocks", tile=(m, n))
        Ap = task.partition(A[g], by="rows", tile=m)
        Bp = task.partition(B[g], by="blocks", tile=(B.shape[1], n))
        for i, j in task.parallel_range(Cp.shape):
            task.launch(gemm_block, Cp[i, j], Ap[i, 0], Bp[0, j], bp[j])
