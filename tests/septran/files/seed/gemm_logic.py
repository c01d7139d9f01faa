import task_lang as task

# 装饰器，定义一个任务及其签名（读写权限等）
@task.define(leaf=True)
def gemm_leaf_logic(C, A, B):
    # 叶子任务的实现，将委托给TileLang/TVM的高性能原语
    # 注意：这里只是一个逻辑占位符，不涉及具体的TileLang调用
    task.call_primitive("gemm", C, A, B)

@task.define
def gemm_block_logic(C, A, B):
    # 纯粹的逻辑分解：将大问题分解成小问题
    Cp = task.partition(C, by="blocks", shape_from="A")
    Ap = task.partition(A, by="blocks", shape_from="A")
    Bp = task.partition(B, by="blocks", shape_from="A")

    # 启动下一层级的任务
    for i, j in task.parallel_range(Cp.shape):
        task.launch(gemm_leaf_logic, Cp[i,j], Ap[i,:], Bp[:,j])

# The one task that the sketch leaves out.
@task.define
def gemm_host_logic(C, A, B):
    task.launch(gemm_block_logic, C, A, B)
