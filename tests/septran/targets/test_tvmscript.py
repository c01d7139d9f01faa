"""TVMScript: the text is the snapshot, and TVM builds and runs it where there is one.

`EAS_TVM_PYTHON` is a Python of an environment with what `.ci/tvm.txt` lists.
"""

from __future__ import annotations

import ast
import os
import sys

import numpy as np
import pytest

from eas.septran.files.machine import load_machine
from eas.septran.flat.interpret import run_module
from eas.septran.flat.nodes import Module
from eas.septran.flat.parser import parse_module
from eas.septran.flat.substitution import bind_sizes
from eas.septran.machine_tables import library_of
from eas.septran.targets.library import PLAIN_C, Library
from eas.septran.targets.probes import probe
from eas.septran.targets.tvm_process import TvmTarget, run_with_tvm
from eas.septran.targets.tvmscript import print_tvmscript
from eas.support.records import replace
from tests.conftest import SnapshotCheck
from tests.septran.modules import (
    assert_close,
    attention_of,
    flash_attention,
    gemm,
    nothing,
    random,
    softmax,
    softmax_of,
)
from tests.septran.targets.machines import AWESOMEDSA, on_gpu

NVIDIA = library_of(load_machine("nvidia_gpu"))
LOCAL = replace(AWESOMEDSA, scratch="local")
TEXTS: dict[str, tuple[Module, Library]] = {
    "gemm_2.awesomedsa.tvm": (gemm(2), AWESOMEDSA),
    "flash_attention.awesomedsa.tvm": (flash_attention("f16"), LOCAL),
    "gemm_3.nvidia_gpu.tvm": (
        bind_sizes(on_gpu(gemm(3, "f16")), {"M": 128, "N": 96, "K": 64}),
        NVIDIA,
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_text_is_the_snapshot(name: str, python_snapshot: SnapshotCheck) -> None:
    text = print_tvmscript(*TEXTS[name])
    ast.parse(text)
    python_snapshot(name, text)


def test_printing_imports_no_tvm() -> None:
    print_tvmscript(gemm(), AWESOMEDSA)
    assert "tvm" not in sys.modules


PYTHON = os.environ.get("EAS_TVM_PYTHON", "")
needs_tvm = pytest.mark.skipif(not PYTHON, reason="EAS_TVM_PYTHON names no Python with TVM")
targets = pytest.mark.parametrize("target", ["llvm", "c"])
libraries = pytest.mark.parametrize("library", [AWESOMEDSA, LOCAL], ids=["parameter", "local"])


@needs_tvm
def test_tvm_is_the_version_that_the_text_is_for() -> None:
    assert (probe("tvm", PYTHON).version or "").startswith("0.27.")


@needs_tvm
@targets
@libraries
@pytest.mark.parametrize("slots", [1, 3])
def test_gemm_runs_in_tvm(library: Library, target: TvmTarget, slots: int) -> None:
    a, b, c = random("f32", 37, 29), random("f32", 29, 53), nothing("f32", 37, 53)
    run_with_tvm(gemm(slots), library, [c, a, b], target, PYTHON)
    assert_close(c, a.astype(np.float64) @ b.astype(np.float64))


@needs_tvm
@targets
def test_softmax_runs_in_tvm(target: TvmTarget) -> None:
    x, y = random("f32", 13, 77), nothing("f32", 13, 77)
    run_with_tvm(softmax(), LOCAL, [y, x], target, PYTHON)
    assert_close(y, softmax_of(x.astype(np.float64)))


@needs_tvm
@pytest.mark.parametrize(("target", "dtype"), [("llvm", "f32"), ("llvm", "f16"), ("c", "f32")])
def test_flash_attention_runs_in_tvm(target: TvmTarget, dtype: str) -> None:
    shapes = enumerate((37, 41, 41))
    q, k, v = (random(dtype, 3, extent, 16, seed=seed) for seed, extent in shapes)
    o = nothing(dtype, 3, 37, 16)
    run_with_tvm(flash_attention(dtype, is_causal=True), AWESOMEDSA, [o, q, k, v], target, PYTHON)
    wide = [each.astype(np.float64) for each in (q, k, v)]
    assert_close(o, attention_of(wide[0], wide[1], wide[2], is_causal=True))


@needs_tvm
@targets
def test_loops_run_in_tvm_where_the_library_has_no_function(target: TvmTarget) -> None:
    """Every function, product and reduction as TVM's own code."""
    functions = ("exp2", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "erf", "gelu", "sigmoid")
    value = " + ".join(
        f"{name}(abs(X.GLOBAL[0:M, 0:N]) + 0.5:f32)" for name in (*functions, "floor")
    )
    condition = "(iota(0) < iota(1)) & !(X.GLOBAL[0:M, 0:N] > 1.0:f32) | (int(M) == 4:i32)"
    params = "Y: f32 [M, N] GLOBAL w, Z: f32 [M, M] GLOBAL rw, T: f32 [M, 1] GLOBAL rw"
    params += ", X: f32 [M, N] GLOBAL r"
    module = parse_module(
        f"""
module loops({params}) machine c {{
  kernel k({params}) grid [] threads 1 {{
    alloc S: f32 [2, 2] SPM slots 2 pad 1
    fill S.SPM@(1)[0:2, 0:2] -inf
    copy S.SPM@(0)[0:2, 0:2] <- X.GLOBAL[0:1, 0:1] fill 2.0
    map Y.GLOBAL[0:M, 0:N] = select({condition}, {value}, max(X.GLOBAL[0:M, 0:N], S.SPM@(1)[0, 0]))
    reduce T.GLOBAL[0:M, 0:1] max= X.GLOBAL[0:M, 0:N] axis 1
    mma Z.GLOBAL[0:M, 0:M] += X.GLOBAL[0:M, 0:N] @ X.GLOBAL[0:M, 0:N] trans b by generic
    map Z.GLOBAL[0:1, 0:1] = Z.GLOBAL[0:1, 0:1] + S.SPM@(0)[1, 1]
  }}
}}
"""
    )
    x = random("f32", 5, 7)
    found = [nothing("f32", 5, 7), random("f32", 5, 5), random("f32", 5, 1), x]
    expected = [each.copy() for each in found]
    run_with_tvm(module, PLAIN_C, found, target, PYTHON)
    run_module(module, expected)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-5)


@needs_tvm
def test_sums_of_16_bits_are_accumulated_in_f32_in_tvm() -> None:
    module = parse_module(str(gemm(1, "f16", "generic")).replace("Cs: f32", "Cs: f16"))
    module = parse_module(str(module).replace("8*k", "64*k").replace("min(8,", "min(64,"))
    text = str(module).replace("(K + 7) // 8", "(K + 63) // 64")
    module = parse_module(text.replace("[16, 8]", "[16, 64]").replace("[8, 24]", "[64, 24]"))
    text = str(module).replace("0 : 16, 0 : 8]", "0 : 16, 0 : 64]")
    module = parse_module(text.replace("0 : 8, 0 : 24]", "0 : 64, 0 : 24]"))
    a, b = np.full((1, 64), 1, np.float16), np.full((64, 1), 2**-5, np.float16)
    a[0, 0], b[0, 0] = 64, 32  # 2048, where f16 has steps of 2
    c = nothing("f16", 1, 1)
    run_with_tvm(module, PLAIN_C, [c, a, b], "llvm", PYTHON)
    assert c[0, 0] == np.float16(2048 + 63 / 32)


@needs_tvm
def test_kernels_run_in_order_in_tvm() -> None:
    module = parse_module(
        """
module two(Y: f32 [M] GLOBAL w, X: f32 [M] GLOBAL r) machine c {
  temp T: f32 [M + 1] GLOBAL
  kernel first(T: f32 [M + 1] GLOBAL w, X: f32 [M] GLOBAL r) grid [] threads 1 {
    map T.GLOBAL[1:M] = X.GLOBAL[0:M] * 2.0:f32
  }
  kernel second(Y: f32 [M] GLOBAL w, T: f32 [M + 1] GLOBAL r) grid [i < M] threads 1 {
    map Y.GLOBAL[i : 1] = T.GLOBAL[M - i : 1]
  }
}
"""
    )
    y, x = nothing("f32", 5), np.arange(5, dtype=np.float32)
    run_with_tvm(module, PLAIN_C, [y, x], "llvm", PYTHON)
    assert y.tolist() == [8, 6, 4, 2, 0]
