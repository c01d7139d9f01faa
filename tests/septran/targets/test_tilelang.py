"""TileLang: the text is the snapshot, and what it cannot say is refused.

`EAS_TILELANG_PYTHON` is a Python of an environment with what `.ci/tilelang.txt` lists.
"""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path
from typing import Any

import pytest

import eas
from eas.septran.files.machine import load_machine
from eas.septran.flat.nodes import Module
from eas.septran.flat.parser import parse_module
from eas.septran.flat.pipelines import expand_pipelines
from eas.septran.flat.substitution import bind_sizes
from eas.septran.machine_tables import library_of
from eas.septran.operators import load
from eas.septran.targets.library import TargetError
from eas.septran.targets.probes import probe
from eas.septran.targets.tilelang import print_tilelang
from eas.septran.targets.tilelang_process import TileLangTarget, lower_with_tilelang
from scripts.compare_tilelang import CASES, END, PAGE, START, compare, count, table
from scripts.count_lines import REPOSITORY
from tests.conftest import SnapshotCheck
from tests.septran.modules import flash_attention, gemm, softmax
from tests.septran.operators import EXAMPLES
from tests.septran.targets.machines import on_gpu

NVIDIA = library_of(load_machine("nvidia_gpu"))
GEMM = on_gpu(gemm(3, "f16"))
TEXTS: dict[str, Module] = {
    "gemm_3.tilelang": GEMM,
    "gemm_3_of_whole_tiles.tilelang": bind_sizes(GEMM, {"M": 128, "N": 96, "K": 64}),
    "gemm_simt.tilelang": on_gpu(gemm(1, "f32", "gemm_leaf_simt")),
    "flash_attention.tilelang": on_gpu(flash_attention("f16", is_causal=True)),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_text_is_the_snapshot(name: str, python_snapshot: SnapshotCheck) -> None:
    text = print_tilelang(TEXTS[name], NVIDIA)
    ast.parse(text)
    python_snapshot(name, text)


def body_of(statements: str) -> list[str]:
    """What is printed for some statements of a kernel with a tile `S`."""
    params = "Y: f32 [M, N] GLOBAL w, X: f32 [M, N] GLOBAL r"
    module = parse_module(
        f"module m({params}) machine nvidia_gpu {{\n"
        f"kernel k({params}) grid [i < (M + 7) // 8] threads 32 {{\n"
        f"alloc S: f32 [8, 16] SHARED slots 1 pad 0\n{statements}\n}}\n}}\n"
    )
    lines = print_tilelang(module, NVIDIA).splitlines()
    body = [line[8:] for line in lines[lines.index("@T.prim_func") + 3 :]]
    body.remove('S = T.alloc_shared((8, 16), "float32")')
    return body


def test_a_tile_that_ends_with_its_array_is_one_copy() -> None:
    tile = "X.GLOBAL[8*i : min(8, M - 8*i), 0 : min(16, N)]"
    assert body_of(f"copy S.SHARED[0:8, 0:16] <- {tile} fill 0.0") == [
        "T.copy(X[8 * i : 8 * i + 8, 0 : 16], S)"
    ]


def test_padding_with_another_number_is_a_loop() -> None:
    tile = "X.GLOBAL[8*i : min(8, M - 8*i), 0 : min(16, N)]"
    assert body_of(f"copy S.SHARED[0:8, 0:16] <- {tile} fill -inf") == [
        "for e0, e1 in T.Parallel(8, 16):",
        "    S[e0, e1] = T.if_then_else(T.And(e0 < T.min(8, M - 8 * i), e1 < T.min(16, N)), "
        'X[8 * i + e0, e1], -T.infinity("float32"))',
    ]


def test_a_part_that_ends_inside_of_its_array_is_a_loop() -> None:
    assert body_of("copy S.SHARED[0 : min(8, N), 0:4] <- X.GLOBAL[0 : min(8, N), 0:4]") == [
        "for e0, e1 in T.Parallel(8, 4):",
        "    if e0 < T.min(8, N):",
        "        S[e0, e1] = X[e0, e1]",
    ]


def test_fills_are_of_whole_tiles_or_loops() -> None:
    assert body_of("fill S.SHARED[0:8, 0:16] -inf\nfill S.SHARED[0:8, 3] 1.5") == [
        'T.fill(S, -T.infinity("float32"))',
        "for e0 in T.Parallel(8):",
        "    S[e0, 3] = T.float32(1.5)",
    ]


def test_a_reduction_of_a_ragged_tile_is_masked_with_the_identity() -> None:
    statements = (
        "alloc top: f32 [8] REGISTER slots 1 pad 0\n"
        "reduce top.REGISTER[0 : min(8, M - 8*i)] max= "
        "S.SHARED[0 : min(8, M - 8*i), 0 : min(16, N)] axis 1"
    )
    assert body_of(statements) == [
        'part0 = T.alloc_fragment((8, 16), "float32")',
        'top = T.alloc_fragment((8,), "float32")',
        "for e0, e1 in T.Parallel(8, 16):",
        "    part0[e0, e1] = T.if_then_else(T.And(e0 < T.min(8, M - 8 * i), e1 < T.min(16, N)), "
        'S[e0, e1], -T.infinity("float32"))',
        "T.reduce_max(part0, top, dim=1, clear=False)",
    ]


def test_a_reduction_into_shared_memory_goes_by_a_fragment() -> None:
    statements = (
        "alloc total: f32 [8, 1] SHARED slots 1 pad 0\n"
        "reduce total.SHARED[0:8, 0:1] add= S.SHARED[0:8, 0:16] axis 1"
    )
    assert body_of(statements)[-5:] == [
        "for e0, e1 in T.Parallel(8, 16):",
        "    part0[e0, e1] = S[e0, e1]",
        "T.reduce_sum(part0, part1, dim=1)",
        "for e0 in T.Parallel(8):",
        "    total[e0, 0] = total[e0, 0] + part1[e0, 0]",
    ]


def test_a_product_of_a_ragged_tile_has_zeros_beyond_its_depth() -> None:
    statements = (
        "alloc P: f16 [16, 16] REGISTER slots 1 pad 0\n"
        "alloc V: f16 [16, 16] SHARED slots 1 pad 0\n"
        "alloc O: f32 [16, 16] REGISTER slots 1 pad 0\n"
        "fill P.REGISTER[0:16, 0 : min(16, N)] 1.0\n"
        "copy V.SHARED[0:16, 0:16] <- X.GLOBAL[0 : min(16, N), 0:16] fill 0.0\n"
        "mma O.REGISTER[0:16, 0:16] += P.REGISTER[0:16, 0 : min(16, N)] @ "
        "V.SHARED[0 : min(16, N), 0:16] by nvidia.wmma"
    )
    assert body_of(statements)[-4:] == [
        "for e0, e1 in T.Parallel(16, 16):",
        "    if e1 >= T.min(16, N):",
        "        P[e0, e1] = T.float16(0.0)",
        "T.gemm(P, V, O)",
    ]


REFUSED = {
    "TileLang pipelines loops itself: print it before starts are": on_gpu(
        expand_pipelines(gemm(2))
    ),
    "TileLang reduces by `add`, `max` or `min`, not by `mul`": parse_module(
        str(on_gpu(softmax())).replace("max=", "mul=")
    ),
    "`nvidia.wmma` is a `T.gemm`, whose operands are whole tiles in shared memory or fragments;"
    " an operand is in GLOBAL: `A`": parse_module(
        str(GEMM).replace("As.SHARED@(k % 3)[0 : 16, 0 : 8] @", "A.GLOBAL[0 : 16, 0 : 8] @")
    ),
    "tiles of different shapes share the memory of `As`, and tiles of TileLang are whole"
    " buffers": parse_module(str(GEMM).replace("slots 3 pad 0", "slots 3 pad 0 mixed", 1)),
    "TileLang does not allocate from SPM": gemm(1, "f32", "nvidia.wmma"),
    "nvidia_gpu has no symbol `dsa.mma`": parse_module(
        str(on_gpu(gemm())).replace("nvidia.wmma", "dsa.mma")
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_tilelang_cannot_say_is_refused(message: str) -> None:
    with pytest.raises(TargetError) as caught:
        print_tilelang(REFUSED[message], NVIDIA)
    assert str(caught.value) == message


PARTS = """
from eas import task_lang as task


@task.define(leaf=True)
def double(H, X):
    H[...] = X + X


@task.define(leaf=True)
def multiply(Y, H, W):
    task.call_primitive("gemm", Y, H, W)


@task.define
def block(Y, X, W):
    H = task.local("H", X.shape, dtype=X.dtype)
    Hp = task.partition(H, by="blocks", tile=(X.shape[0], 16))
    Wp = task.partition(W, by="blocks", tile=(16, W.shape[1]))
    task.launch(double, H, X)
    for p in task.sequential_range(Hp.shape[1]):
        task.launch(multiply, Y, Hp[0, p], Wp[p, 0])


@task.define(shapes="Y[M,N] X[M,K] W[K,N]")
def host(Y, X, W):
    Yp = task.partition(Y, by="blocks", tile=(16, 16))
    Xp = task.partition(X, by="rows", tile=16)
    Wp = task.partition(W, by="blocks", tile=(W.shape[0], 16))
    for i, j in task.parallel_range(Yp.shape):
        task.launch(block, Yp[i, j], Xp[i, 0], Wp[0, j])
"""


def test_what_a_target_cannot_say_is_shown_in_the_mapping(tmp_path: Path) -> None:
    logic, mapping = tmp_path / "parts_logic.py", tmp_path / "parts.map.yaml"
    logic.write_text(PARTS, "utf-8")
    mapping.write_text(
        "machine: nvidia_gpu\nentrypoint: host\ntask_mappings:\n"
        "  host: {task_name: host, proc: HOST, calls: {block: block}}\n"
        "  block: {task_name: block, proc: BLOCK, mems: {Y: REGISTER, W: SHARED},"
        " locals: {H: SHARED}}\n",
        "utf-8",
    )
    with pytest.raises(eas.CompileError) as caught:
        load(logic, mapping).emit("tilelang", M=64, N=64, K=64)
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.code == "S701"
    assert diagnostic.message.endswith("an operand is a part of `H`")
    assert diagnostic.loc.source.name == "parts.map.yaml"


PYTHON = os.environ.get("EAS_TILELANG_PYTHON", "")
needs_tilelang = pytest.mark.skipif(
    not PYTHON, reason="EAS_TILELANG_PYTHON names no Python with TileLang"
)
CONVOLUTION = {"N": 2, "P": 16, "Q": 128, "C": 64, "O": 64, "R": 3, "S": 3}
EVEN = {
    "gemm": {"M": 256, "N": 256, "K": 128},
    "batched_gemm": {"G": 2, "M": 256, "N": 256, "K": 128},
    "softmax": {"M": 64, "N": 128},
    "layernorm": {"M": 64, "N": 128},
    "conv2d": CONVOLUTION,
    "flash_attention": {"H": 2, "M": 128, "N": 128, "D": 64},
}
RAGGED = {
    "gemm": {"M": 200, "N": 150, "K": 100},
    "batched_gemm": {"G": 2, "M": 200, "N": 150, "K": 100},
    "softmax": {"M": 61, "N": 100},
    "layernorm": {"M": 61, "N": 100},
    "conv2d": {**CONVOLUTION, "P": 13, "Q": 100, "C": 40, "O": 50},
    "flash_attention": {"H": 2, "M": 100, "N": 100, "D": 64},
}


def texts_of_operators() -> dict[str, str]:
    """The texts of all operators for both GPUs, of even and of ragged tiles."""
    texts: dict[str, str] = {}
    for example in EXAMPLES:
        for mapping in example.mappings:
            operator = load(example.logic_file, mapping)
            if operator.target != "tilelang":
                continue
            for kind, sizes in (("even", EVEN), ("ragged", RAGGED)):
                given: dict[str, Any] = sizes[example.name]
                name = f"{example.name} {mapping.name.partition('.map')[0]} {kind}"
                texts[name] = operator.emit("tilelang", **given)
    return texts


def is_known_limit(name: str, target: TileLangTarget, reason: str) -> bool:
    """What TileLang 0.1.15 cannot lower, whoever writes it."""
    if name.startswith("conv2d"):  # windows of three axes in shared memory
        return "Mapped indices are not independent" in reason
    if target == "metal":  # no reductions, and results of two axes only
        limits = ("no reduce implementation is registered", "Expected 2D destination")
        return any(limit in reason for limit in limits)
    is_causal = name.startswith("flash_attention causal_nvidia_gpu")
    return is_causal and target == "sm_80" and "to ir.IntImm failed" in reason


@needs_tilelang
def test_the_lowered_calls_are_as_many_as_those_of_tilelang_by_hand() -> None:
    compared = compare(CASES, PYTHON)
    assert [each.emitted for each in compared] == [each.by_hand for each in compared]
    version = probe("tilelang", PYTHON).version
    assert version is not None
    assert table(compared, version) in PAGE.read_text("utf-8")


def test_the_page_has_equal_counts_of_calls_for_each_case_and_the_version() -> None:
    page = PAGE.read_text("utf-8").partition(START)[2].partition(END)[0]
    [installed] = re.findall(r"tilelang==(\S+)", (REPOSITORY / ".ci/tilelang.txt").read_text())
    assert f"With TileLang {installed}" in page
    for case in CASES:
        [row] = [line for line in page.splitlines() if line.startswith(f"| {case.name} |")]
        pairs = [cell.split(" / ") for cell in row.split(" | ")[3:]]
        counts = [(int(by_hand), int(ours.strip(" |"))) for by_hand, ours in pairs]
        assert len(counts) == 4
        assert all(by_hand == ours > 0 for by_hand, ours in counts)


def test_calls_are_counted_by_kind() -> None:
    source = """
    #include <tl_templates/cuda/instruction/wgmma.h>
    tl::initialize_wgmma_descriptor<1, 1, 64>(desc_a, (&(((half_t*)A_shared)[0])));
    tl::wgmma_ss<tl::DataType::kFloat16, 64, 256, 16, false, true, 1, 1>(uint64_t(desc_a), 1);
    tl::tma_load(A_desc, mbarrier[(p & 3)], (&(((half_t*)A_shared)[0])), (p * 64), 0);
    tl::tma_store((&(O[0])), (&(((half_t*)O_shared)[0])), 16384);
    tl::tma_store_arrive();
    tl::cp_async_gs<16>(A_shared + 4, A + 8);
    __syncthreads();
    tl::__sync_thread_partial(3, 256);
    mbarrier[((j % 3) + 6)].wait((((j % 6) / 3) ^ 1));
    mbarrier[0].init(1);
    mbarrier[(p & 3)].arrive_and_expect_tx(32768);
    """
    assert count(source) == (1, 3, 2, 2)


@needs_tilelang
def test_tilelang_is_the_version_that_the_text_is_for() -> None:
    assert probe("tilelang", PYTHON).version == "0.1.15"


@needs_tilelang
def test_tilelang_lowers_the_operators_for_every_target() -> None:
    found = lower_with_tilelang(texts_of_operators(), PYTHON)
    assert len(found) == 28 * 3
    failed = {key: each.reason for key, each in found.items() if each.reason}
    assert {key: reason for key, reason in failed.items() if not is_known_limit(*key, reason)} == {}


@needs_tilelang
def test_a_text_that_tilelang_does_not_take_is_reported() -> None:
    texts = {"nonsense": "import tilelang.language as T\nT.no_such_function()\n"}
    found = lower_with_tilelang(texts, PYTHON, ["sm_80"])
    assert "no_such_function" in found["nonsense", "sm_80"].reason
