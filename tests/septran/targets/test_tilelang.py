"""TileLang: the text is the snapshot, and what it cannot say is refused."""

from __future__ import annotations

import ast

import pytest

from eas.septran.files.machine import load_machine
from eas.septran.flat.nodes import Module
from eas.septran.flat.pipelines import expand_pipelines
from eas.septran.flat.substitution import bind_sizes
from eas.septran.flat.text import parse_module
from eas.septran.machine_tables import library_of
from eas.septran.targets.library import TargetError
from eas.septran.targets.tilelang import print_tilelang
from tests.conftest import SnapshotCheck
from tests.septran.modules import flash_attention, gemm, softmax
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
    return [line[8:] for line in lines[lines.index("@T.prim_func") + 4 :]]


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


REFUSED = {
    "TileLang pipelines loops itself: print it before starts are": on_gpu(
        expand_pipelines(gemm(2))
    ),
    "TileLang reduces whole tiles, by `add`, `max` or `min`": on_gpu(softmax()),
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
