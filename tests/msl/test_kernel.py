"""Whole files: header, parameters, what a runtime binds, and what is refused."""

from __future__ import annotations

import pytest

from eas.ir.types import BOOL, F32, I32, I64
from eas.msl.kernel import Buffer, Field, MslKernel, write
from eas.msl.ops.errors import UnsupportedError
from eas.support.location import NOWHERE
from eas.support.records import replace
from eas.support.report_buffer import Site
from tests.msl.texts import body_of, function_of, kernel_of, lines

SCALE = (
    'kernel scale(%x.0: *f32, %y.1: *f32, %s.2: f32, %N.3: i32) from "scale.py" where BLOCK=64 {\n'
)
SCALE_OPS = """
    %4: i32 = program_id axis=0                                     @3:11-27
    %5: i32 = 64                                                    @3:11-35
    %6: i32 = mul %4, %5                                            @3:11-35
    %7: i32[64] = arange start=0 size=64                            @3:38-57
    %8: i32[64] = splat %6 shape=[64]                               @3:11-57
    %offs.9: i32[64] = add %8, %7                                   @3:11-57
    %10: i32[64] = splat %N.3 shape=[64]                            @4:11-19
    %mask.11: bool[64] = lt %offs.9, %10                            @4:11-19
    %12: f32 = 0.0                                                  @5:8-44
    %13: f32[64] = splat %12 shape=[64]                             @5:8-44
    %v.14: f32[64] = load %x.0[%offs.9] if %mask.11 else %13        @5:8-44
    %15: f32[64] = splat %s.2 shape=[64]                            @6:8-20
    %16: f32[64] = mul %v.14, %15                                   @6:8-20
    %17: f32[64] = sin %16                                          @6:8-20
    store %y.1[%offs.9] = %17 if %mask.11                           @6:4-20
"""
SCALE_TEXT = """\
// scale(x: *f32, y: *f32, s: f32, N: i32) with BLOCK=64 · 64 threads per program · Metal 2.3
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void scale(device const float* x [[buffer(0)]],
                  device float* y [[buffer(1)]],
                  constant float& s [[buffer(2)]],
                  constant int& N [[buffer(3)]],
                  uint3 program [[threadgroup_position_in_grid]],
                  uint3 thread_position [[thread_position_in_threadgroup]]) {
    const int t = int(thread_position.x);

    const int offs = int(program.x) * 64 + t;               // scale.py:3
    if (offs < N) { y[offs] = precise::sin(x[offs] * s); }  // scale.py:6
}
"""
STORE = """
    %10: i32[32] = arange start=0 size=32
    store %i.2[%10] = %10
"""


def test_a_whole_kernel() -> None:
    kernel = kernel_of(SCALE_OPS, head=SCALE)
    assert kernel.text == SCALE_TEXT
    assert (kernel.name, kernel.threads, kernel.metal_version) == ("scale", 64, (2, 3))
    assert kernel.buffers == (
        Buffer("array", 0, 0),
        Buffer("array", 1, 1, is_written=True),
        Buffer("scalar", 2, 2),
        Buffer("scalar", 3, 3),
    )


def test_fast_math_uses_the_fast_variants() -> None:
    function = replace(function_of(SCALE_OPS, SCALE), fast_math=True)
    text = SCALE_TEXT.replace("#pragma METAL fp contract(off)\n", "")
    expected = text.replace("precise::sin(x[offs] * s); }  ", "sin(x[offs] * s); }           ")
    assert write(function).text == expected


def test_the_grid_may_be_as_large_as_offsets_allow() -> None:
    assert kernel_of(SCALE_OPS, head=SCALE).programs == 2**31 // 64


def test_hidden_parameters_are_called_after_their_array() -> None:
    hidden = "%m.3: i32 = extent 1 of i, %s.4: i32 = stride 0 of i"
    head = f'kernel f(%i.2: *i32, {hidden}) from "f.py" {{\n'
    ops = """
        %10: i32 = mul %m.3, %s.4
        store %i.2[%10] = %m.3
    """
    assert body_of(ops, 1, head) == "i[i_extent_1 * i_stride_0] = i_extent_1;\n"


def test_built_in_variables_give_way_to_the_users_names() -> None:
    ops = """
        %program.10: i32 = program_id axis=0
        %lane.11: i32[32] = arange start=1 size=32
        %12: i32[32] = splat %program.10 shape=[32]
        %13: i32[32] = mul %12, %lane.11
        %14: i32[32] = add %13, %lane.11
        %15: i32 = reduce_sum %14 axis=none
        store %i.2[%program.10] = %15
    """
    expected = """
        const int t = int(thread_position.x);

        const int program = int(group.x);
        const int lane = t + 1;
        const int total = as_type<int>(simd_sum(as_type<uint>(wrap_add(wrap_mul(program, lane),
            lane))));
        if (t == 0) { i[program] = total; }
    """
    assert body_of(ops) == lines(expected)


def test_many_scalars_are_packed_in_a_struct() -> None:
    scalars = [("bool", BOOL), ("f32", F32), ("i64", I64), *([("i32", I32)] * 30)]
    params = ", ".join(f"%s{n}.{n + 1}: {ty}" for n, (ty, _) in enumerate(scalars))
    head = f'kernel f(%o.0: *i32, {params}) from "f.py" {{\n'
    ops = """
        %40: i32 = 0
        %41: i32 = and %s3.4, %s32.33
        store %o.0[%40] = %41
    """
    kernel = kernel_of(ops, 1, head)
    assert body_of(ops, 1, head) == "o[0] = scalars.s3 & scalars.s32;\n"
    assert [buffer.kind for buffer in kernel.buffers] == ["array", "scalars"]
    assert kernel.buffers[1].fields[:5] == (
        Field(1, BOOL, 0),
        Field(2, F32, 4),
        Field(3, I64, 8),
        Field(4, I32, 16),
        Field(5, I32, 20),
    )


def test_asserts_and_prints_report_through_a_buffer() -> None:
    ops = """
        %10: i32[32] = arange start=0 size=32
        %11: f32[32] = load %a.0[%10]
        %12: f32[32] = splat %x.5 shape=[32]
        %13: bool[32] = lt %11, %12
        assert %13, "too large"
        print "v = ", %11, " of ", %n.4
    """
    expected = """
        const int t = int(thread_position.x);

        const float a_value = a[t];
        if (!(a_value < x)) {
            report_failure(report, 0, program, t);
        }
        const uint record = report_record(report, 7, 1, program, t);
        if (record != 0) {
            report_value(report, record, a_value);
            report_value(report, record + 1, n);
        }
    """
    kernel = kernel_of(ops)
    assert body_of(ops) == lines(expected)
    assert kernel.buffers[-1] == Buffer("report", 7, is_written=True)
    assert kernel.sites == (
        Site("assert", ("too large",), NOWHERE),
        Site("print", ("v = ", F32, " of ", I32), NOWHERE),
    )


@pytest.mark.parametrize(
    ("ops", "version"),
    [
        (STORE, (2, 3)),
        ("%9: i32 = 0\n%10: f32 = atomic add %a.0[%9], %x.5", (3, 0)),
        ("%9: bf16 = cast %x.5 dtype=bf16\n%10: f32 = cast %9 dtype=f32\nprint %10", (3, 1)),
    ],
)
def test_the_header_names_the_version_that_the_text_needs(
    ops: str, version: tuple[int, int]
) -> None:
    kernel = kernel_of(ops)
    assert kernel.metal_version == version
    assert kernel.text.splitlines()[1].endswith(f"Metal {version[0]}.{version[1]}")


def reversals(size: int, times: int) -> str:
    """Each reversal is staged."""
    ops = [f"%10: i32[{size}] = arange start=0 size={size}"]
    ops += [f"%20: f32[{size}] = load %a.0[%10]", "store %a.0[%10] = %20"]
    for n in range(20, 20 + 2 * times, 2):
        attrs = f"starts=[{size - 1}] sizes=[{size}] steps=[-1]"
        ops += [f"%{n + 1}: f32[{size}] = slice %{n} {attrs}"]
        ops += [f"%v.{n + 2}: f32[{size}] = add %{'' if n == 20 else 'v.'}{n}, %{n + 1}"]
        ops[-2] = ops[-2].replace(f"slice %{n}", f"slice %{'' if n == 20 else 'v.'}{n}")
    return "\n".join([*ops, f"store %b.1[%10] = %v.{20 + 2 * times}"])


def test_blocks_that_fit_have_arrays_of_their_own() -> None:
    body = body_of(reversals(2048, 3))
    arrays = [line for line in body.splitlines() if line.startswith("threadgroup ")]
    assert arrays == [
        "threadgroup float a_value_shared[2048];",
        "threadgroup float v_shared[2048];",
        "threadgroup float v_shared_1[2048];",
    ]


def test_blocks_live_at_different_times_are_overlaid_if_they_do_not_fit() -> None:
    body = body_of(reversals(2048, 6))
    arrays = [line for line in body.splitlines() if line.startswith("threadgroup ")]
    assert arrays == [
        "threadgroup float scratch[2048];",
        "threadgroup float scratch_1[2048];",
        "threadgroup float v_shared[2048];",
        "threadgroup float v_shared_1[2048];",
    ]


def test_too_much_threadgroup_memory_is_refused_with_a_table() -> None:
    with pytest.raises(UnsupportedError) as raised:
        kernel_of(reversals(9000, 1))
    assert raised.value.message == "36000 bytes of threadgroup memory, Metal has 32768"
    assert raised.value.notes == (" 36000  `a_value_shared`, 9000 x f32 (<none>:0)",)


@pytest.mark.parametrize(
    ("ops", "message"),
    [
        (
            "%9: f64 = cast %x.5 dtype=f64\nprint %9",
            "Metal has no f64: this value needs another dtype, such as f32",
        ),
        (
            "%9: i32 = program_id axis=3\nstore %i.2[%9] = %9",
            "Metal's grids have three axes: there is no axis 3",
        ),
    ],
)
def test_what_metal_lacks_is_refused_by_name(ops: str, message: str) -> None:
    with pytest.raises(UnsupportedError) as raised:
        kernel_of(ops)
    assert raised.value.message == message


def test_atomics_of_64_bits_are_refused() -> None:
    head = 'kernel f(%o.0: *i64, %n.1: i64) from "f.py" {\n'
    with pytest.raises(UnsupportedError) as raised:
        kernel_of("%9: i32 = 0\n%10: i64 = atomic add %o.0[%9], %n.1", head=head)
    assert raised.value.message == "Metal has no atomics on i64, only on numbers of up to 32 bits"


def test_more_threads_than_metal_runs_are_refused() -> None:
    with pytest.raises(UnsupportedError) as raised:
        kernel_of(STORE, threads=1025)
    assert raised.value.message == "Metal runs up to 1024 threads per threadgroup, not 1025"


def test_a_thread_program_runs_with_its_own_number_of_threads() -> None:
    function = replace(function_of("%10: i32[40] = thread_index size=40"), threads=40)
    with pytest.raises(ValueError, match="`f` is written for 40 threads"):
        write(function, 64)


def many_arrays(arrays: int, scalars: int, ops: str = "") -> MslKernel:
    params = [f"%p{n}.{n}: *i32" for n in range(arrays)]
    params += [f"%s{n}.{n}: i32" for n in range(arrays, arrays + scalars)]
    head = f'kernel many({", ".join(params)}) from "many.py" {{\n'
    stores = "".join(f"store %p{n}.{n}[%100] = %100\n" for n in range(arrays))
    return kernel_of(f"%100: i32 = 0\n{stores}{ops}", 1, head)


@pytest.mark.parametrize(("arrays", "scalars", "buffers"), [(31, 0, 31), (30, 1, 31), (30, 2, 31)])
def test_all_buffers_of_metal_can_be_used(arrays: int, scalars: int, buffers: int) -> None:
    kernel = many_arrays(arrays, scalars)
    assert [buffer.index for buffer in kernel.buffers] == list(range(buffers))


@pytest.mark.parametrize(
    ("arrays", "scalars", "ops", "message"),
    [
        (32, 0, "", "32 buffers, but a Metal kernel has at most 31: 32 arrays"),
        (
            31,
            1,
            "",
            "32 buffers, but a Metal kernel has at most 31: 31 arrays, one for all scalars",
        ),
        (
            31,
            0,
            'print "here"',
            "32 buffers, but a Metal kernel has at most 31: 31 arrays, one for asserts and prints",
        ),
    ],
)
def test_more_arrays_than_buffers_are_refused(
    arrays: int, scalars: int, ops: str, message: str
) -> None:
    with pytest.raises(UnsupportedError) as caught:
        many_arrays(arrays, scalars, ops)
    assert caught.value.diagnostic.message == message


def test_conditions_that_are_known_are_not_printed() -> None:
    ops = """
        %10: i32 = 0
        %11: bool = true
        while () {
          condition %11 with
        } do () {
          %12: i32 = load %i.2[%10]
          %13: bool = lt %12, %n.4
          if %13 {
            break
          } else {
            yield
          }
          store %i.2[%10] = %n.4
          yield
        } else () {
        }
        %14: bool = false
        assert %14, "never"
    """
    expected = """
        while (true) {
            if (i[0] < n) { break; }
            i[0] = n;
        }
        report_failure(report, 0, program, 0);
    """
    assert body_of(ops, 1) == lines(expected)
