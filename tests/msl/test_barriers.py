"""Where barriers stand, and where none is needed."""

from __future__ import annotations

import pytest

from tests.msl.texts import body_of, lines


def test_a_store_at_another_offset_comes_after_a_barrier() -> None:
    ops = """
        %10: i32[64] = arange start=0 size=64
        %11: f32[64] = load %a.0[%10]
        %12: i32 = 63
        %13: i32[64] = splat %12 shape=[64]
        %14: i32[64] = sub %13, %10
        store %a.0[%14] = %11
    """
    expected = """
        const int t = int(thread_position.x);

        const float a_value = a[t];
        threadgroup_barrier(mem_flags::mem_device);
        a[63 - t] = a_value;
    """
    assert body_of(ops) == lines(expected)


def test_a_store_at_the_same_offset_needs_no_barrier() -> None:
    ops = """
        %10: i32[64] = arange start=0 size=64
        %11: f32[64] = load %a.0[%10]
        %12: f32[64] = neg %11
        store %a.0[%10] = %12
    """
    expected = """
        const int t = int(thread_position.x);

        a[t] = -a[t];
    """
    assert body_of(ops) == lines(expected)


def test_stores_to_disjoint_offsets_need_no_barrier() -> None:
    ops = """
        %10: i32[64] = arange start=0 size=64
        %11: i32 = 2
        %12: i32[64] = splat %11 shape=[64]
        %13: i32[64] = mul %10, %12
        %14: i32 = 1
        %15: i32[64] = splat %14 shape=[64]
        %16: i32[64] = add %13, %15
        store %i.2[%13] = %10
        store %i.2[%16] = %10
    """
    expected = """
        const int t = int(thread_position.x);

        i[t * 2] = t;
        i[t * 2 + 1] = t;
    """
    assert body_of(ops) == lines(expected)


def test_a_load_after_a_store_needs_a_barrier_and_another_loop() -> None:
    ops = """
        %10: i32[512] = arange start=0 size=512
        %11: i32 = 511
        %12: i32[512] = splat %11 shape=[512]
        %13: i32[512] = sub %12, %10
        store %i.2[%10] = %10
        %14: i32[512] = load %i.2[%13]
        store %j.3[%10] = %14
    """
    expected = """
        const int t = int(thread_position.x);

        for (int e = t; e < 512; e += 256) {
            i[e] = e;
        }
        threadgroup_barrier(mem_flags::mem_device);
        for (int e = t; e < 512; e += 256) {
            j[e] = i[511 - e];
        }
    """
    assert body_of(ops) == lines(expected)


def test_a_reduction_in_a_loop_is_double_buffered_and_has_one_barrier() -> None:
    ops = """
        %10: i32[64] = arange start=0 size=64
        %11: i32 = 0
        %12: i32 = 1
        %13: f32 = 0.0
        %14: f32 = for %k.15: i32 = %11 .. %n.4 by %12 carrying (%s.16: f32 = %13) {
          %17: i32[64] = splat %k.15 shape=[64]
          %18: i32[64] = add %10, %17
          %19: f32[64] = load %a.0[%18]
          %20: f32 = reduce_sum %19 axis=none
          %21: f32 = add %s.16, %20
          yield %21
        } else (%22: f32)
        store %b.1[%11] = %14
    """
    expected = """
        threadgroup float total_partial[2][2];
        const int t = int(thread_position.x);

        int stage = 0;
        float s = 0.0f;
        for (int k = 0; k < n; ++k) {
            float total = simd_sum(a[t + k]);
            if (lane == 0) {
                total_partial[stage % 2][simdgroup] = total;
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
            total = simd_sum(lane < 2 ? total_partial[stage % 2][lane] : 0.0f);
            stage += 1;
            s += total;
        }
        if (t == 0) { b[0] = s; }
    """
    assert body_of(ops) == lines(expected)


def test_trips_with_disjoint_offsets_need_no_barrier() -> None:
    ops = """
        %10: i32[64] = arange start=0 size=64
        %11: i32 = 0
        %12: i32 = 64
        %13: f32[64] = load %a.0[%10]
        %14: f32 = reduce_sum %13 axis=none
        %15: f32[64] = splat %14 shape=[64]
        %16: f32 = for %k.17: i32 = %11 .. %n.4 by %12 carrying (%s.18: f32 = %x.5) {
          %19: i32[64] = splat %k.17 shape=[64]
          %20: i32[64] = add %10, %19
          store %b.1[%20] = %15
          %21: f32 = add %s.18, %14
          yield %21
        } else (%22: f32)
        %23: i32 = -1
        store %a.0[%23] = %16
    """
    expected = """
        threadgroup float total_partial[2];
        const int t = int(thread_position.x);

        float total = simd_sum(a[t]);
        if (lane == 0) { total_partial[simdgroup] = total; }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        total = simd_sum(lane < 2 ? total_partial[lane] : 0.0f);
        float s = x;
        for (long k = 0; k < n; k += 64) {
            b[t + int(k)] = total;
            s += total;
        }
        threadgroup_barrier(mem_flags::mem_device);
        if (t == 0) { a[-1] = s; }
    """
    assert body_of(ops) == lines(expected)


def test_two_reductions_of_one_loop_share_a_barrier() -> None:
    ops = """
        %10: i32[64] = arange start=0 size=64
        %v.11: f32[64] = load %a.0[%10]
        %12: f32 = reduce_sum %v.11 axis=none
        %13: f32 = reduce_max %v.11 axis=none
        %14: f32 = add %12, %13
        %15: i32 = 0
        store %b.1[%15] = %14
    """
    expected = """
        threadgroup float total_partial[2];
        threadgroup float high_partial[2];
        const int t = int(thread_position.x);

        const float v = a[t];
        float total = simd_sum(v);
        float high = simd_max(fmax(v, -INFINITY));
        if (lane == 0) {
            total_partial[simdgroup] = total;
            high_partial[simdgroup] = high;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        total = simd_sum(lane < 2 ? total_partial[lane] : 0.0f);
        high = simd_max(lane < 2 ? high_partial[lane] : -INFINITY);
        if (t == 0) { b[0] = total + high; }
    """
    assert body_of(ops) == lines(expected)


RING = """
    %10: i32[64] = arange start=0 size=64
    %11: i32 = 0
    %12: i32 = 1
    %13: i32 = 2
    %14: i32 = 64
    %15: i32 = 63
    %16: i32[64] = splat %15 shape=[64]
    %17: i32[64] = sub %16, %10
    %18: i32 = {distance}
    for %k.19: i32 = %11 .. %n.4 by %12 {{
      %20: i32 = truncmod %k.19, %13
      %21: i32 = mul %20, %14
      %22: i32[64] = splat %21 shape=[64]
      %23: i32[64] = add %22, %17
      %24: f32[64] = load %a.0[%23]
      %25: i32 = add %k.19, %18
      %26: i32 = truncmod %25, %13
      %27: i32 = mul %26, %14
      %28: i32[64] = splat %27 shape=[64]
      %29: i32[64] = add %28, %10
      store %a.0[%29] = %24
    }}
"""


def test_a_trip_that_reads_one_slot_and_writes_the_other_needs_one_barrier() -> None:
    expected = """
        const int t = int(thread_position.x);

        for (int k = 0; k < n; ++k) {
            threadgroup_barrier(mem_flags::mem_device);
            a[(k + 1) % 2 * 64 + t] = a[k % 2 * 64 + (63 - t)];
        }
    """
    assert body_of(RING.format(distance=1)) == lines(expected)


def test_a_trip_that_reads_and_writes_one_slot_needs_two_barriers() -> None:
    expected = """
        const int t = int(thread_position.x);

        for (int k = 0; k < n; ++k) {
            threadgroup_barrier(mem_flags::mem_device);
            const float a_value = a[k % 2 * 64 + (63 - t)];
            threadgroup_barrier(mem_flags::mem_device);
            a[(k + 2) % 2 * 64 + t] = a_value;
        }
    """
    assert body_of(RING.format(distance=2)) == lines(expected)


NEXT_WINDOW = """
    %8: i32 = 0
    %9: i32 = 64
    %10: i32[64] = arange start=0 size=64
    %11: i32 = 127
    %12: i32[64] = splat %11 shape=[64]
    %13: i32[64] = sub %12, %10
    for %14: i32 = %8 .. %n.4 by %9 {
      %20: i32[64] = splat %14 shape=[64]
      %21: i32[64] = add %20, %13
      %22: f32[64] = load %a.0[%21]
      %23: i32[64] = add %20, %10
      store %a.0[%23] = %22
      yield
    }
"""
WINDOWS_OF_TWO_LOOPS = """
    %8: i32 = 0
    %9: i32 = 1
    %31: i32 = 64
    %30: i32 = 1024
    %10: i32[64] = arange start=0 size=64
    %11: i32 = 127
    %12: i32[64] = splat %11 shape=[64]
    %13: i32[64] = sub %12, %10
    for %14: i32 = %8 .. %n.4 by %9 {
      %15: i32 = mul %14, %31
      for %16: i32 = %8 .. %n.4 by %9 {
        %17: i32 = mul %16, %30
        %18: i32 = add %15, %17
        %20: i32[64] = splat %18 shape=[64]
        %21: i32[64] = add %20, %13
        %22: f32[64] = load %a.0[%21]
        %23: i32[64] = add %20, %10
        store %a.0[%23] = %22
        yield
      }
      yield
    }
"""


@pytest.mark.parametrize("ops", [NEXT_WINDOW, WINDOWS_OF_TWO_LOOPS])
def test_a_store_waits_for_loads_of_its_window_in_an_earlier_trip(ops: str) -> None:
    assert body_of(ops).count("threadgroup_barrier(mem_flags::mem_device)") == 1


EXIT = """
    %8: i32 = 0
    %9: i32 = 1
    %10: i32[64] = arange start=0 size=64
    %11: i32 = 63
    %12: i32[64] = splat %11 shape=[64]
    %13: i32[64] = sub %12, %10
    for %14: i32 = %8 .. %n.4 by %9 {{
      %15: i32[64] = load %i.2[%13]
      store %j.3[%10] = %15
      %16: bool = eq %14, %9
      if %16 {{
        store %i.2[%10] = %10
        {exit}
      }}
      yield
    }}
    %17: i32[64] = load %i.2[%13]
    store %j.3[%10] = %17
"""


@pytest.mark.parametrize("exit", ["break", "continue"])
def test_a_load_waits_for_the_stores_before_an_exit_of_a_loop(exit: str) -> None:
    before, _, after = body_of(EXIT.format(exit=exit)).partition(f"{exit};")
    assert before.count("threadgroup_barrier") == (1 if exit == "break" else 2)
    assert after.count("threadgroup_barrier") == 1
