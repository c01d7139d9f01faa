"""C for vendor libraries: right results, the calls that the table names, and loops for the rest."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from eas.ir.types import DTYPES
from eas.septran.files.machine import load_machine
from eas.septran.flat.interpret import run_module
from eas.septran.flat.nodes import BinaryKind, Module, ReduceKind, UnaryKind
from eas.septran.flat.parser import parse_module
from eas.septran.flat.pipelines import expand_pipelines
from eas.septran.flat.run_errors import FlatRunError
from eas.septran.flat.spelling import INFIX, PREFIX
from eas.septran.machine_tables import library_of
from eas.septran.targets import build
from eas.septran.targets.build import BuildError, Program
from eas.septran.targets.codegen_dsa import print_c
from eas.septran.targets.library import PLAIN_C, Library, TargetError
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
from tests.septran.targets.machines import AWESOMEDSA, LIBRARIES
from tests.thorough import sampled

libraries = pytest.mark.parametrize("library", LIBRARIES.values(), ids=list(LIBRARIES))
dtypes = pytest.mark.parametrize("dtype", ["f32", "f16"])


@sampled(3)
@libraries
@dtypes
@pytest.mark.parametrize("slots", [1, 2, 3])
def test_gemm_is_right_at_odd_sizes(library: Library, dtype: str, slots: int) -> None:
    primitive = "dsa.mma" if library is AWESOMEDSA else "generic"
    program = Program(gemm(slots, dtype, primitive), library)
    for m, n, k in [(37, 53, 29), (1, 1, 1), (16, 24, 8), (50, 3, 17)]:
        a, b, c = random(dtype, m, k), random(dtype, k, n), nothing(dtype, m, n)
        program(c, a, b)
        assert_close(c, a.astype(np.float64) @ b.astype(np.float64))


@libraries
@dtypes
def test_softmax_is_right_at_odd_sizes(library: Library, dtype: str) -> None:
    program = Program(softmax(dtype), library)
    for shape in [(13, 77), (8, 32), (1, 1)]:
        x, y = random(dtype, *shape), nothing(dtype, *shape)
        program(y, x)
        assert_close(y, softmax_of(x.astype(np.float64)))


@sampled(3)
@libraries
@dtypes
@pytest.mark.parametrize("is_causal", [False, True])
def test_flash_attention_is_right_at_odd_sizes(
    library: Library, dtype: str, is_causal: bool
) -> None:
    text = str(flash_attention(dtype, is_causal))
    program = Program(
        parse_module(text if library is AWESOMEDSA else text.replace("dsa.mma", "generic")), library
    )
    for heads, rows, columns in [(3, 37, 41), (1, 16, 12), (2, 5, 5)]:
        shapes = enumerate((rows, columns, columns))
        q, k, v = (random(dtype, heads, extent, 16, seed=seed) for seed, extent in shapes)
        o = nothing(dtype, heads, rows, 16)
        program(o, q, k, v)
        wide = [each.astype(np.float64) for each in (q, k, v)]
        assert_close(o, attention_of(wide[0], wide[1], wide[2], is_causal))


def counted(program: Program) -> dict[str, int]:
    return {name: count for name, count in program.call_counts().items() if count}


def test_the_library_counts_two_copies_per_step_and_one_per_block() -> None:
    program = Program(gemm(2), AWESOMEDSA)
    program(nothing("f32", 32, 48), random("f32", 32, 24), random("f32", 24, 48))
    assert counted(program) == {
        "vendor_lib_dma_copy": 4 * (3 * 2 + 1),
        "vendor_lib_sync": 4 * (3 + 1),
        "vendor_lib_fill": 4,
        "vendor_lib_mma": 4 * 3,
    }


def test_a_bound_primitive_is_the_function_that_is_called() -> None:
    program = Program(gemm(1, "f32", "gemm_leaf_systolic"), AWESOMEDSA)
    a, b, c = random("f32", 16, 40), random("f32", 40, 24), nothing("f32", 16, 24)
    program(c, a, b)
    assert_close(c, a.astype(np.float64) @ b.astype(np.float64))
    assert counted(program)["vendor_lib_systolic_compute"] == 5
    assert "vendor_lib_mma" not in counted(program)


def test_a_missing_wait_shows() -> None:
    text = str(expand_pipelines(gemm(2)))
    waits = [line for line in text.splitlines() if "wait" in line]
    module = parse_module(text.replace(waits[0], waits[0].split(" keep")[0] + " keep 9"))
    a, b, c = random("f32", 16, 64), random("f32", 64, 24), nothing("f32", 16, 24)
    Program(module, AWESOMEDSA)(c, a, b)
    assert not np.allclose(c, a @ b)


@pytest.mark.parametrize("name", ["gemm_2", "flash_attention"])
def test_the_text_is_the_snapshot(name: str, c_snapshot: SnapshotCheck) -> None:
    modules = {"gemm_2": gemm(2), "flash_attention": flash_attention("f16")}
    c_snapshot(f"{name}.awesomedsa", print_c(modules[name], AWESOMEDSA))


A, B = "A.GLOBAL[0:M]", "B.GLOBAL[0:M]"
COMPARISONS = ("lt", "le", "eq", "ne", "gt", "ge")


def elementwise(dtype: str, expressions: dict[str, tuple[str, str]]) -> Module:
    """An output for each expression of `A` and `B`, with the dtype of its result."""
    params = [f"{name}: {result} [M] GLOBAL w" for name, (result, _) in expressions.items()]
    given = ", ".join([*params, f"A: {dtype} [M] GLOBAL r", f"B: {dtype} [M] GLOBAL r"])
    maps = "".join(f"map {n}.GLOBAL[0:M] = {text}\n" for n, (_, text) in expressions.items())
    return parse_module(
        f"module elementwise({given}) machine c {{\n"
        f"kernel k({given}) grid [] threads 1 {{\n{maps}}}\n}}\n"
    )


def assert_same_as_interpreter(dtype: str, expressions: dict[str, tuple[str, str]]) -> None:
    """C gives what the interpreter gives, up to an error of libm in the last place."""
    module = elementwise(dtype, expressions)
    a, b = (random("f64", 200, seed=seed) * 3 for seed in (1, 2))
    b[::7] = a[::7]
    if dtype.startswith("u"):
        a, b = np.abs(a), np.abs(b)
    given = [each.astype(DTYPES[dtype].numpy) for each in (a, b)]
    found, expected = (
        [nothing(result, 200) for result, _ in expressions.values()] for _ in range(2)
    )
    Program(module, PLAIN_C)(*found, *given)
    run_module(module, [*expected, *given])
    for (name, (result, _)), ours, theirs in zip(expressions.items(), found, expected, strict=True):
        bound = {"f16": 1e-3, "bf16": 1e-2, "f32": 3e-7, "f64": 1e-15}.get(result, 0)
        pair = ours.astype(np.float64), theirs.astype(np.float64)
        np.testing.assert_allclose(*pair, rtol=bound, atol=bound, err_msg=name)


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "f64"])
def test_functions_of_one_number_are_those_of_the_interpreter(dtype: str) -> None:
    kinds = [kind for kind in get_args(UnaryKind) if kind != "not"]
    positive = f"abs({A}) + 0.125:{dtype}"
    texts = {
        kind: f"-{A}"
        if kind in PREFIX
        else f"{kind}({positive if kind in ('log', 'sqrt', 'rsqrt') else A})"
        for kind in kinds
    }
    assert_same_as_interpreter(dtype, {f"Y_{k}": (dtype, text) for k, text in texts.items()})


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "f64", "i32", "i8", "u16"])
def test_functions_of_two_numbers_are_those_of_the_interpreter(dtype: str) -> None:
    only_floats = () if DTYPES[dtype].is_float else ("div", "pow")
    kinds = [k for k in get_args(BinaryKind) if k not in ("and", "or", *only_floats)]
    texts = {
        kind: f"{A} {INFIX[kind][0]} {B}"
        if kind in INFIX
        else f"{kind}({f'abs({A})' if kind == 'pow' else A}, {B})"
        for kind in kinds
    }
    results = {k: "bool" if k in COMPARISONS else dtype for k in kinds}
    assert_same_as_interpreter(dtype, {f"Y_{k}": (results[k], texts[k]) for k in kinds})


@pytest.mark.parametrize("source", ["f16", "bf16", "f32", "f64", "i32", "i8"])
def test_casts_are_those_of_the_interpreter(source: str) -> None:
    targets = ["f16", "bf16", "f32", "f64", "i32", "i8", "bool"]
    assert_same_as_interpreter(source, {f"Y_{t}": (t, f"{t}({A})") for t in targets})


def test_conditions_select_elements() -> None:
    condition = f"({A} < {B}) & !({A} < 0.0:f32) | (iota(0) < int(M - 190))"
    expression = f"select({condition}, {A} * 2.0:f32, -1.5:f32)"
    assert_same_as_interpreter("f32", {"Y": ("f32", expression)})


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["f32", "f16", "i32"])
def test_reductions_are_those_of_the_interpreter(axis: int, dtype: str) -> None:
    kinds, shape = get_args(ReduceKind), ["M", "5", "7"]
    kept = [extent if n != axis else "1" for n, extent in enumerate(shape)]
    outputs = [f"Y_{kind}: {dtype} [{', '.join(kept)}] GLOBAL rw" for kind in kinds]
    params = ", ".join([*outputs, f"X: {dtype} [M, 5, 7] GLOBAL r"])
    target, source = (", ".join(f"0 : {extent}" for extent in each) for each in (kept, shape))
    body = "".join(
        f"reduce Y_{kind}.GLOBAL[{target}] {kind}= X.GLOBAL[{source}] axis {axis}\n"
        for kind in kinds
    )
    module = parse_module(
        f"module reduction({params}) machine c {{\n"
        f"kernel k({params}) grid [] threads 1 {{\n{body}}}\n}}\n"
    )
    x = random("f32", 3, 5, 7).astype(DTYPES[dtype].numpy)
    sizes = [3 if extent == "M" else int(extent) for extent in kept]
    found = [random("f32", *sizes, seed=4).astype(x.dtype) for _ in kinds]
    expected = [each.copy() for each in found]
    Program(module, PLAIN_C)(*found, x)
    run_module(module, [*expected, x])
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours.astype(float), theirs.astype(float), rtol=2e-3, atol=1e-3)


def test_copies_of_three_axes_are_copied_plane_by_plane() -> None:
    params = "Y: f32 [H, M, N] GLOBAL w, X: f32 [H, M, N] GLOBAL r"
    module = parse_module(
        f"""
module planes({params}) machine awesomedsa {{
  kernel k({params}) grid [] threads 1 {{
    alloc S: f32 [4, 6, 8] SPM slots 2 pad 3
    start S.SPM@(1)[0:4, 0:6, 0:8] <- X.GLOBAL[0:H, 0:M, 0:N] fill 7.0 token t
    wait t
    map S.SPM@(0)[0:4, 0:6, 0:8] = S.SPM@(1)[0:4, 0:6, 0:8] + S.SPM@(1)[3, 5, 7]
    copy Y.GLOBAL[0:H, 0:M, 0:N] <- S.SPM@(0)[0:H, 0:M, 0:N]
  }}
}}
"""
    )
    x, y = random("f32", 3, 5, 7), nothing("f32", 3, 5, 7)
    expected = y.copy()
    program = Program(module, AWESOMEDSA)
    program(y, x)
    run_module(module, [expected, x])
    np.testing.assert_array_equal(y, expected)
    assert counted(program)["vendor_lib_dma_copy"] == 3 + 3


def planes_ahead(*planes: int) -> Module:
    """Sums of tiles of three axes, which are copied two steps ahead; each source has its planes."""
    names = list(zip("XZ", planes, strict=False))
    params = ["Y: f32 [4, 6] GLOBAL w"]
    params += [f"{name}: f32 [5, {count}, 4, 6] GLOBAL r" for name, count in names]
    lines = [f"alloc {name}s: f32 [{count}, 4, 6] SPM slots 3 pad 0" for name, count in names]
    lines += ["fill Y.GLOBAL[0:4, 0:6] 0.0", "for k < 5 pipelined 3 {"]
    for name, count in names:
        tile = f"[0:{count}, 0:4, 0:6]"
        lines.append(f"copy {name}s.SPM@(k % 3){tile} <- {name}.GLOBAL[k, {tile[1:]}")
    for name, count in names:
        tile = f"{name}s.SPM@(k % 3)[0:{count}, 0:4, 0:6]"
        lines.append(f"reduce Y.GLOBAL[0:4, 0:6] add= {tile} axis 0")
    given, body = ", ".join(params), "\n".join(lines)
    return parse_module(
        f"module sums({given}) machine awesomedsa {{\n"
        f"kernel k({given}) grid [] threads 1 {{\n{body}\n}}\n}}\n}}\n"
    )


@pytest.mark.parametrize("planes", [(3,), (2, 2), (3, 2)], ids=str)
def test_tiles_of_three_axes_are_copied_ahead(planes: tuple[int, ...]) -> None:
    """A wait counts planes; where two sources differ in their number, copies are not queued."""
    module = planes_ahead(*planes)
    sources = [random("f32", 5, count, 4, 6) for count in planes]
    y = nothing("f32", 4, 6)
    program = Program(module, AWESOMEDSA)
    program(y, *sources)
    expected = sum(source.sum((0, 1)) for source in sources)
    assert np.allclose(y, expected, atol=1e-5)
    is_queued = len(set(planes)) == 1
    counts = counted(program)
    assert counts["vendor_lib_dma_copy"] == 5 * sum(planes)
    assert counts["vendor_lib_sync"] == (5 if is_queued else 5 * sum(planes))
    keep = f"vendor_lib_sync(1, {sum(planes)} * septran_min_i64(2, 4 - k));"
    assert (keep in program.text) == is_queued


def test_kernels_run_in_order_and_hand_on_temporary_memory() -> None:
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
    Program(module, PLAIN_C)(y, x)
    assert y.tolist() == [8, 6, 4, 2, 0]


def test_arrays_with_strides_are_read_and_written() -> None:
    a, b = random("f32", 29, 37).T, random("f32", 58, 53)[::2]
    c = np.zeros((53, 37), np.float32).T
    Program(gemm(), AWESOMEDSA)(c, a, b)
    assert_close(c, a.astype(np.float64) @ b.astype(np.float64))


def test_arrays_of_other_dtypes_are_refused() -> None:
    with pytest.raises(FlatRunError, match="`A` holds f32, the array float64"):
        Program(gemm(), AWESOMEDSA)(
            nothing("f32", 3, 3), nothing("f64", 3, 3), nothing("f32", 3, 3)
        )


def test_words_of_c_are_no_names() -> None:
    module = parse_module(str(elementwise("f32", {"Y": ("f32", A)})).replace("A", "int"))
    y, a = nothing("f32", 3), np.arange(3, dtype=np.float32)
    Program(module, PLAIN_C)(y, a, a)
    assert y.tolist() == [0, 1, 2]


def test_an_unknown_symbol_is_refused() -> None:
    with pytest.raises(TargetError, match=r"awesomedsa has no symbol `dsa\.wmma`"):
        print_c(gemm(1, "f32", "dsa.wmma"), AWESOMEDSA)


def test_a_kernel_of_many_threads_is_refused_if_it_has_a_barrier() -> None:
    text = str(elementwise("f32", {"Y": ("f32", A)})).replace(
        "threads 1 {", "threads 8 {\nbarrier B GLOBAL"
    )
    with pytest.raises(TargetError, match="`k` has 8 and a barrier"):
        print_c(parse_module(text), PLAIN_C)


def test_a_program_comes_from_the_cache_the_second_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> bytes:
        raise BuildError("compiled twice")

    module = elementwise("f32", {"Y": ("f32", f"{A} * 12345.5:f32")})
    Program(module, PLAIN_C)
    monkeypatch.setattr(build, "_compile", refuse)
    Program(module, PLAIN_C)
    with pytest.raises(BuildError, match="compiled twice"):
        Program(elementwise("f32", {"Y": ("f32", f"{A} * 12346.5:f32")}), PLAIN_C)


MACHINE = """
name: tiny
targets: [c]
grid: CORE
procs: {HOST: {}, CORE: {}}
mems:
  GLOBAL: {kind: global, visible: [HOST, CORE]}
  SPM: {kind: scratch, visible: [CORE], capacity: 4096}
  ACC: {kind: scratch, visible: [CORE], capacity: 4096}
copies:
  GLOBAL->SPM: {symbol: tiny.load}
primitives:
  gemm: [{name: tiny_gemm, symbol: tiny.product}]
symbols: {tiny.load: tiny_load, tiny.product: tiny_product, tiny.twice: tiny_twice}
library: {headers: [tiny.h]}
"""
HEADER = """
#include <stdint.h>
static void tiny_load(void *to, int32_t to_stride, const void *from, int32_t from_stride,
                      int32_t rows, int32_t columns, int32_t dtype, int32_t token) {
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c)
            ((float *)to)[r * to_stride + c] = ((const float *)from)[r * from_stride + c];
}
static void tiny_product(float *t, int32_t ts, int32_t t_dtype, const float *a, int32_t as,
                         const float *b, int32_t bs, int32_t dtype, int32_t m, int32_t n, int32_t k,
                         int32_t transposed) {
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j)
            for (int p = 0; p < k; ++p) t[i * ts + j] += a[i * as + p] * b[p * bs + j];
}
static void tiny_twice(float *y, int32_t stride, int32_t rows, int32_t columns, int64_t factor,
                       float more) {
    for (int c = 0; c < columns; ++c) y[c] = y[c] * factor + more;
}
"""


def test_a_new_machine_is_a_file_and_a_header(tmp_path: Path) -> None:
    (tmp_path / "tiny.machine.yaml").write_text(MACHINE)
    (tmp_path / "tiny.h").write_text(HEADER)
    library = library_of(load_machine(tmp_path / "tiny.machine.yaml"))
    a, b, c = random("f32", 37, 29), random("f32", 29, 53), nothing("f32", 37, 53)
    program = Program(gemm(2, "f32", "tiny_gemm"), library)
    program(c, a, b)
    assert_close(c, a.astype(np.float64) @ b.astype(np.float64))
    assert program.call_counts() == {}
    params = "Y: f32 [M, N] GLOBAL rw"
    module = parse_module(
        f"module calls({params}) machine tiny {{\nkernel k({params}) grid [i < M] threads 1 {{\n"
        "call tiny.twice(rw Y.GLOBAL[i, 0:N], i + 2, 0.5:f32)\n}\n}\n"
    )
    y = np.ones((3, 4), np.float32)
    Program(module, library)(y)
    np.testing.assert_array_equal(y, np.full((3, 4), [[2.5], [3.5], [4.5]], np.float32))
