"""The numbers that are counted in Metal texts, against those that other ways of counting give."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path

import numpy as np
import pytest

from eas.compiler import CompiledKernel
from eas.review.metal.counting import count
from eas.review.metal.kernel_costs import Costs, Key, Region, barriers_per_loop, terms_of
from eas.review.metal.parser import MetalSyntaxError
from tests.kernels.case import Case
from tests.review.executed import execute
from tests.review.texts import metal
from tests.test_kernels import NAMES, case_of
from tests.thorough import sampled

SNAPSHOTS = Path(__file__).parent.parent.parent / "snapshots" / "kernels"

# Kernels in which each thread loads and computes what a lane does, and nothing twice.
SAME = [
    "add", "argmax_rows", "axpy_f16", "cholesky", "complex_polynomial", "divide_by_constant", "fft",
    "floor_division", "gather_i64", "gelu", "global_extremes", "hash_u32", "prefix_sum", "relu",
    "rope", "saxpy", "scale_bf16", "segmented_scan", "simd_reduce", "softmax_rows", "static_loops",
    "stencil", "stencil_3d", "stream_compaction", "thread_ids", "top_k",
]  # fmt: skip

# Kernels with a loop whose length the text does not have, with that length.
LOOPS = {
    "batched_dot": 3,  # ceil(21 / 8)
    "kmeans_step": 7,
    "linear_bf16": 3,
    "matmul": 19,
    "matmul_tiles": 4,
    "mma_tiles": 3,
    "nbody": 67,
    "retention": 3,
    "rmsnorm": 3,
    "tiled_scale": 3,
}
# Of these only some numbers are those of the lanes: a product of matrices is one op of the IR, and
# a number that all lanes share is loaded by each thread.
COMPARED: dict[str, list[Key]] = {
    "batched_dot": [("load", 2), ("store", 4)],
    "kmeans_step": [("flop", 0), ("store", 4)],
    "linear_bf16": [("load", 2), ("store", 4)],
    "matmul": [("flop", 0), ("store", 4)],
    "matmul_tiles": [("load", 2), ("store", 4)],
    "mma_tiles": [("load", 4), ("store", 4)],
    "nbody": [("flop", 0), ("store", 4)],
    "retention": [("load", 4), ("store", 4)],
    "rmsnorm": [("load", 4), ("store", 4)],
    "tiled_scale": [("flop", 0), ("load", 4), ("store", 4)],
}


def snapshot(name: str) -> Costs:
    return count((SNAPSHOTS / f"{name}.metal").read_text("utf-8"))


def programs_of(case: Case) -> int:
    if case.grid is not None:
        return math.prod(case.grid)
    arguments = case.arguments()
    return math.ceil(arguments["N"] / arguments["BLOCK"])


def totals(region: Region, trips: int) -> dict[Key, float]:
    """The counts of all loops, with this length where it is not known."""
    whole = dict(region.counts)
    for loop in region.loops:
        for key, number in totals(loop, trips).items():
            whole[key] = whole.get(key, 0) + number
    by = 1 if region.is_known else trips
    return {key: number * by for key, number in whole.items()}


@sampled(2)
@pytest.mark.parametrize("name", SAME)
def test_accesses_and_flops_are_those_that_the_interpreter_makes(name: str) -> None:
    case = case_of(name)
    executed = execute(case)
    counted = totals(snapshot(name).root, 0)
    kinds = {key for key in counted if key[0] in ("load", "store", "flop")}
    assert {key: counted[key] * programs_of(case) for key in kinds} == dict(executed)


@sampled(2)
@pytest.mark.parametrize("name", LOOPS)
def test_counts_per_trip_times_the_trips_are_those_that_the_interpreter_makes(name: str) -> None:
    case = case_of(name)
    executed = execute(case)
    counted = totals(snapshot(name).root, LOOPS[name])
    found = {key: counted[key] * programs_of(case) for key in COMPARED[name]}
    assert found == {key: executed[key] for key in COMPARED[name]}


def test_a_product_of_tiles_has_two_flops_per_element_and_factor() -> None:
    [_, loop] = terms_of(snapshot("matmul_tiles"), "flop")
    assert loop.total == 2 * 32 * 32 * 16  # BM, BN, BK


def compiled(name: str) -> CompiledKernel:
    case = case_of(name)
    return case.kernel.compile(**case.arguments())


@sampled(8)
@pytest.mark.parametrize("name", NAMES)
def test_threads_and_threadgroup_memory_are_those_of_the_compiler(name: str) -> None:
    kernel = compiled(name)
    costs = count(kernel.msl)
    memory = kernel.threadgroup_memory
    assert costs.threads == kernel.metal.threads
    assert costs.threadgroup_bytes == sum(each.bytes for each in memory)


@pytest.mark.parametrize("name", NAMES)
def test_every_text_of_the_corpus_is_read(name: str) -> None:
    assert snapshot(name).root.assumed()


def numbers(body: str, what: str = "load", **more: object) -> list[float]:
    costs = count(metal(body, **more))  # pyright: ignore[reportArgumentType]
    return [term.total for term in terms_of(costs, what)]  # pyright: ignore[reportArgumentType]


def test_only_threads_that_pass_a_condition_count() -> None:
    assert numbers("if (lane == 0) { y[t] = x[t]; }") == [2]
    assert numbers("if (t < 20) { y[t] = x[t]; }") == [20]
    assert numbers("if (t < 20 && t < N) { y[t] = x[t]; }") == [20]
    assert numbers("y[t] = t < 20 ? x[t] : 0.0f;") == [20]
    assert numbers("y[t] = t < 20 && t < N ? x[t] : 0.0f;") == [20]
    assert numbers("if (simdgroup == 0 || lane < 4) { y[t] = x[t]; }") == [36]


def test_an_unknown_condition_counts_as_true() -> None:
    assert numbers("if (t < N) { y[t] = x[t]; }") == [64]


def test_of_two_branches_the_more_expensive_one_counts() -> None:
    text = "if (N > 3) { y[t] = x[t]; } else { y[t] = x[t] + x[t + 1] + x[t + 2]; }"
    assert numbers(text) == [3 * 64]
    assert numbers("y[t] = N > 3 ? x[t] : x[t] + x[t + 1];") == [2 * 64]


def test_what_follows_a_branch_that_returns_is_its_other_branch() -> None:
    assert numbers("if (N == 0) { y[t] = x[t] + x[0]; return; }\ny[t] = x[t];") == [2 * 64]


def test_threads_that_have_returned_do_nothing_more() -> None:
    assert numbers("if (t >= 10) { return; }\ny[t] = x[t];") == [10]


def test_trips_of_a_known_number_are_multiplied() -> None:
    assert numbers("for (int i = 0; i < 5; ++i) { y[i] = x[i]; }") == [5 * 64]
    assert numbers("for (int e = t; e < 100; e += 64) { y[e] = x[e]; }") == [100]
    assert numbers("for (int i = 1; i < 32; i *= 2) { y[i] = x[i]; }") == [5 * 64]
    assert numbers("for (int i = 9; i >= 0; i -= 3) { y[i] = x[i]; }") == [4 * 64]
    assert numbers("for (int i = 0; i < 1000000; ++i) { if (i > 5) { y[i] = x[i]; } }") == [64e6]
    assert numbers("int i = 40;\nwhile (i > 3) { y[i] = x[i]; i = i / 2; }") == [4 * 64]


def test_a_loop_over_a_triangle_counts_what_is_in_it() -> None:
    text = "for (int i = 0; i < 6; ++i) { for (int j = i; j < 6; ++j) { y[j] = x[j]; } }"
    assert numbers(text) == [21 * 64]


def test_break_and_continue_of_known_threads_are_followed() -> None:
    loop = "for (int i = 0; i < 8; ++i) { if (i == 3) { %s; } y[i] = x[i]; }"
    assert numbers(loop % "break") == [3 * 64]
    assert numbers(loop % "continue") == [7 * 64]


def test_a_loop_of_unknown_length_counts_per_trip() -> None:
    text = "y[0] = x[t];\nfor (int k = 0; k < N; ++k) { y[k] = x[k] + x[k + 1]; }"
    assert numbers(text) == [64, 128]
    assert numbers("while (true) { y[t] = x[t]; if (y[0] > 1.0f) { break; } }") == [128]


def test_loops_in_loops_of_unknown_length_are_apart() -> None:
    text = "for (int i = 0; i < N; ++i) { for (int k = 0; k < i; ++k) { y[k] = x[k]; } }"
    costs = count(metal(text))
    [term] = terms_of(costs, "load")
    assert term.loop is not None
    assert (term.total, term.loop.head) == (64, "for (int k = 0; k < i; ++k)")


def test_barriers_are_counted_in_all_and_per_trip_of_a_loop() -> None:
    text = """
threadgroup_barrier(mem_flags::mem_threadgroup);
for (int i = 0; i < 5; ++i) { threadgroup_barrier(mem_flags::mem_threadgroup); }
for (int k = 0; k < N; ++k) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    threadgroup_barrier(mem_flags::mem_threadgroup);
}
"""
    costs = count(metal(text))
    assert [term.total / 64 for term in terms_of(costs, "barrier")] == [6, 2]
    assert [number for _, number in barriers_per_loop(costs)] == [1, 2]


def test_accesses_have_their_width() -> None:
    text = """
device const float4* wide = (device const float4*)x;
const float4 v = wide[t];
y[t] = v.x + float(h[t]);
"""
    costs = count(metal(text, parameters="\n    device const half* h [[buffer(3)]],"))
    [term] = terms_of(costs, "load")
    assert term.by_width == {16: 64, 2: 64}


def test_a_compound_assignment_loads_and_stores() -> None:
    assert numbers("y[t] += 1.0f;") == [64]
    assert numbers("y[t] += 1.0f;", "store") == [64]


def test_an_address_and_a_constant_are_not_loaded() -> None:
    assert numbers("device float* p = &y[t];\nint n = N + 1;") == []


def test_atomics_of_device_memory_and_of_threadgroup_memory_are_apart() -> None:
    text = """
threadgroup int counts[8];
atomic_fetch_add_explicit((device atomic_int*)&y[0], 1, memory_order_relaxed);
atomic_fetch_add_explicit((threadgroup atomic_int*)&counts[0], 1, memory_order_relaxed);
"""
    assert numbers(text, "atomic") == [64]
    assert numbers(text, "shared") == [64]


def test_functions_of_the_text_are_entered_with_their_arguments() -> None:
    functions = """
inline float twice(float a) {
    return a + a;
}

inline float sum_of(device const float* from, int count) {
    float sum = 0.0f;
    for (int i = 0; i < count; ++i) { sum += from[i]; }
    return sum;
}
"""
    body = "y[t] = twice(x[t]) + sum_of(x, 7);"
    assert numbers(body, functions=functions) == [8 * 64]
    assert numbers(body, "flop", functions=functions) == [9 * 64]


def test_flops_count_floats_only() -> None:
    assert numbers("y[t + 1] = x[t * 2] * 3.0f - 1.0f;", "flop") == [2 * 64]
    assert numbers("y[t] = fma(x[t], 2.0f, 1.0f);", "flop") == [2 * 64]
    assert numbers("y[t] = precise::exp(x[t]);", "function") == [64]
    assert numbers("const float2 v = float2(x[t], 1.0f);\ny[t] = (v * v).x;", "flop") == [2 * 64]


def test_fragments_and_their_products_are_counted() -> None:
    text = """
simdgroup_float8x8 acc[4];
simdgroup_float8x8 a;
simdgroup_load(a, &x[t], 8);
for (int i = 0; i < 4; ++i) { simdgroup_multiply_accumulate(acc[i], a, a, acc[i]); }
simdgroup_store(acc[0], y, 8);
"""
    costs = count(metal(text))
    assert costs.fragments == 5
    assert numbers(text, "product") == [4 * 2]  # two simdgroups
    assert numbers(text, "flop") == [4 * 2 * 1024]
    assert numbers(text) == numbers(text, "store") == [2 * 64]


def test_memory_in_the_memory_of_another_array_counts_once() -> None:
    text = """
threadgroup float scratch[64];
threadgroup half (*tile)[32] = (threadgroup half (*)[32])scratch;
tile[0][t] = half(x[t]);
"""
    assert count(metal(text)).threadgroup_bytes == 256
    assert numbers(text, "shared") == [64]


def test_a_program_handles_as_many_elements_as_it_stores_or_loads() -> None:
    assert count(metal("y[t] = x[t];")).elements == 64
    assert count(metal("for (int e = t; e < 256; e += 64) { y[e] = x[e]; }")).elements == 256
    loop = "float s = 0.0f;\nfor (int e = t; e < 256; e += 64) { s += x[e]; }"
    reduces = f"{loop}\nif (t == 0) {{ y[0] = s; }}"
    assert count(metal(reduces)).elements == 256
    assert count(metal("")).elements == 64


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00\x01\xff garbage",
        "kernel void f(",
        "kernel void f() {",
        "struct A { int x; };",
        "kernel void f() { switch (1) {} }",
        "kernel void f() { x = ; }",
        "kernel void f() { a[[[[ }",
        "inline int f() { return 1; }",
        "kernel void f() { " + "(" * 5000 + " }",
        "kernel void f() { if (1) " + "{ " * 3000,
        "kernel void f() { f<int>; 1 = 2; }",
    ],
)
def test_a_text_that_is_not_read_is_refused_by_name(text: str) -> None:
    with pytest.raises(MetalSyntaxError):
        count(text)


def test_random_changes_of_texts_never_raise_anything_else() -> None:
    rng = np.random.default_rng(0)
    text = (SNAPSHOTS / "softmax.metal").read_text("utf-8")
    for _ in range(60):
        at, size = int(rng.integers(len(text))), int(rng.integers(1, 12))
        changed = text[:at] + text[at + size :]
        with contextlib.suppress(MetalSyntaxError):
            count(changed)
