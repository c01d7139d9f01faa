"""TVM's MetaSchedule on a gemm, in an environment with TVM: `benchmarks.metaschedule` starts it.

It searches, prints a line of JSON, and then for each line that it reads the seconds of one run.
Nothing of ours is imported: TVM's environment has only TVM.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportUnknownLambdaType=false
# pyright: reportMissingParameterType=false, reportAttributeAccessIssue=false

import json
import sys
import tempfile
import time

import numpy as np
import tvm
from tvm import te
from tvm.s_tir import meta_schedule
from tvm.target import Target, codegen

COMPILE_TIMEOUT = 120.0  # TVM's own limit of 30 s includes the start of a worker


def gemm(size):
    """C = A @ B, as TVM's tutorials write it."""
    a = te.placeholder((size, size), "float32", name="A")
    b = te.placeholder((size, size), "float32", name="B")
    k = te.reduce_axis((0, size), name="k")
    product = te.compute((size, size), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return te.create_prim_func([a, b, product])


def search(size, trials, threads, cpu, seed):
    """The best function that was found, and the seconds of the search."""
    options = {"kind": "llvm", "num-cores": threads}
    if cpu == "native":
        options["mcpu"] = codegen.llvm_get_system_cpu()
    target = Target(options)
    function = gemm(size)
    builder = meta_schedule.builder.LocalBuilder(max_workers=threads, timeout_sec=COMPILE_TIMEOUT)
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        database = meta_schedule.tune_tir(
            function,
            target,
            folder,
            max_trials_global=trials,
            num_trials_per_iter=min(trials, 16),
            builder=builder,
            seed=seed,
        )
        seconds = time.perf_counter() - start
        module = tvm.IRModule({"main": function})
        schedule = meta_schedule.tir_integration.compile_tir(database, module, target)
    if schedule is None:
        raise SystemExit("MetaSchedule found no candidate that could be built and run")
    return tvm.compile(schedule.mod, target=target), seconds, options.get("mcpu", "")


def main():
    size, trials, threads, cpu, seed = sys.argv[1:]
    answers = sys.stdout
    sys.stdout = sys.stderr
    made, seconds, name = search(int(size), int(trials), int(threads), cpu, int(seed))
    random = np.random.default_rng(0)
    a, b = (random.standard_normal((int(size),) * 2).astype("float32") for _ in range(2))
    arrays = [tvm.runtime.tensor(each) for each in (a, b, np.zeros_like(a))]
    made["main"](*arrays)
    error = float(np.abs(arrays[2].numpy() - a @ b).max())
    found = {"seconds": seconds, "error": error, "cpu": name, "version": tvm.__version__}
    print(json.dumps(found), file=answers, flush=True)
    for line in sys.stdin:
        warmup, runs = map(int, line.split())
        for _ in range(warmup):
            made["main"](*arrays)
        start = time.perf_counter()
        for _ in range(runs):
            made["main"](*arrays)
        print((time.perf_counter() - start) / runs, file=answers, flush=True)


if __name__ == "__main__":
    main()
