"""Reductions as text: in threads, simdgroups and threadgroups."""

from __future__ import annotations

from tests.msl.texts import body_of, lines


def test_a_sum_of_1_threads() -> None:
    ops = """
        %10: i32[200] = arange start=0 size=200
        %11: f32[200] = load %a.0[%10]
        %12: f32 = reduce_sum %11 axis=none
        %13: i32 = 0
        store %b.1[%13] = %12
    """
    expected = """
        float total = 0.0f;
        for (int e = 0; e < 200; ++e) {
            total += a[e];
        }
        b[0] = total;
    """
    assert body_of(ops, threads=1) == lines(expected)


def test_a_sum_of_32_threads() -> None:
    ops = """
        %10: i32[200] = arange start=0 size=200
        %11: f32[200] = load %a.0[%10]
        %12: f32 = reduce_sum %11 axis=none
        %13: i32 = 0
        store %b.1[%13] = %12
    """
    expected = """
        const int t = int(thread_position.x);

        float total = 0.0f;
        for (int e = t; e < 200; e += 32) {
            total += a[e];
        }
        total = simd_sum(total);
        if (t == 0) { b[0] = total; }
    """
    assert body_of(ops, threads=32) == lines(expected)


def test_a_sum_of_64_threads() -> None:
    ops = """
        %10: i32[200] = arange start=0 size=200
        %11: f32[200] = load %a.0[%10]
        %12: f32 = reduce_sum %11 axis=none
        %13: i32 = 0
        store %b.1[%13] = %12
    """
    expected = """
        threadgroup float total_partial[2];
        const int t = int(thread_position.x);

        float total = 0.0f;
        for (int e = t; e < 200; e += 64) {
            total += a[e];
        }
        total = simd_sum(total);
        if (lane == 0) { total_partial[simdgroup] = total; }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        total = simd_sum(lane < 2 ? total_partial[lane] : 0.0f);
        if (t == 0) { b[0] = total; }
    """
    assert body_of(ops, threads=64) == lines(expected)


def test_a_sum_of_40_threads() -> None:
    ops = """
        %10: i32[200] = arange start=0 size=200
        %11: f32[200] = load %a.0[%10]
        %12: f32 = reduce_sum %11 axis=none
        %13: i32 = 0
        store %b.1[%13] = %12
    """
    expected = """
        threadgroup float total_partial[2];
        const int t = int(thread_position.x);

        float total = 0.0f;
        for (int e = t; e < 200; e += 40) {
            total += a[e];
        }
        total = simd_sum(total);
        if (lane == 0) { total_partial[simdgroup] = total; }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        total = total_partial[0];
        total += total_partial[1];
        if (t == 0) { b[0] = total; }
    """
    assert body_of(ops, threads=40) == lines(expected)


def test_an_index_of_the_greatest() -> None:
    ops = """
        %10: i32[64] = arange start=0 size=64
        %11: f32[64] = load %a.0[%10]
        %12: i32 = reduce_argmax %11 axis=none
        %13: i32 = 0
        store %i.2[%13] = %12
    """
    expected = """
        threadgroup float best_partial[2];
        threadgroup int best_index_partial[2];
        const int t = int(thread_position.x);

        const float x_1 = fmax(a[t], -INFINITY);
        float best = simd_max(x_1);
        int best_index = simd_min(x_1 == best ? t : INT_MAX);
        if (lane == 0) {
            best_partial[simdgroup] = best;
            best_index_partial[simdgroup] = best_index;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        best = lane < 2 ? best_partial[lane] : -INFINITY;
        best_index = lane < 2 ? best_index_partial[lane] : INT_MAX;
        const float simd_best = simd_max(best);
        best_index = simd_min(best == simd_best ? best_index : INT_MAX);
        if (t == 0) { i[0] = best_index; }
    """
    assert body_of(ops) == lines(expected)


def test_a_row_of_32_is_reduced_by_its_simdgroup() -> None:
    ops = """
        %10: i32[128] = arange start=0 size=128
        %11: i32[4, 32] = reshape %10 shape=[4, 32]
        %12: f32[4, 32] = load %a.0[%11]
        %13: f32[4] = reduce_max %12 axis=1
        %14: i32[4] = arange start=0 size=4
        store %b.1[%14] = %13
    """
    expected = """
        threadgroup float high_partial[4];
        const int t = int(thread_position.x);

        const float high = simd_max(fmax(a[t], -INFINITY));
        if (lane == 0) { high_partial[t / 32] = high; }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (t < 4) { b[t] = high_partial[t]; }
    """
    assert body_of(ops) == lines(expected)


def test_a_column_is_reduced_by_the_owner_of_its_result() -> None:
    ops = """
        %10: i32[128] = arange start=0 size=128
        %11: i32[4, 32] = reshape %10 shape=[4, 32]
        %12: f32[4, 32] = load %a.0[%11]
        %13: f32[32] = reduce_sum %12 axis=0
        %14: i32[32] = arange start=0 size=32
        store %b.1[%14] = %13
    """
    expected = """
        const int t = int(thread_position.x);

        float total = 0.0f;
        for (int k = 0; k < 4; ++k) {
            total += a[k * 32 + t];
        }
        b[t] = total;
    """
    assert body_of(ops) == lines(expected)


def test_a_sum_of_ints_wraps() -> None:
    ops = """
        %10: i32[32] = arange start=0 size=32
        %11: i32[32] = load %i.2[%10]
        %12: i32[64] = arange start=0 size=64
        %13: i32[64] = load %j.3[%12]
        %14: i32 = reduce_sum %13 axis=none
        %15: i32[32] = splat %14 shape=[32]
        store %i.2[%10] = %15
    """
    expected = """
        const int t = int(thread_position.x);

        int total = 0;
        for (int e = t; e < 64; e += 32) {
            total = wrap_add(total, j[e]);
        }
        total = as_type<int>(simd_sum(as_type<uint>(total)));
        i[t] = total;
    """
    assert body_of(ops, threads=32) == lines(expected)
