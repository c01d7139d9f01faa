"""Loops over elements: owners, live-out values, and rematerialization."""

from __future__ import annotations

from tests.msl.texts import body_of, lines


def test_one_element_per_thread_needs_no_loop() -> None:
    ops = """
        %10: i32[64] = arange start=0 size=64
        %11: f32[64] = load %a.0[%10]
        store %b.1[%10] = %11
    """
    expected = """
        const int t = int(thread_position.x);

        b[t] = a[t];
    """
    assert body_of(ops) == lines(expected)


def test_several_elements_per_thread_are_looped_over() -> None:
    ops = """
        %10: i32[512] = arange start=0 size=512
        %11: f32[512] = load %a.0[%10]
        store %b.1[%10] = %11
    """
    expected = """
        const int t = int(thread_position.x);

        for (int e = t; e < 512; e += 256) {
            b[e] = a[e];
        }
    """
    assert body_of(ops) == lines(expected)


def test_elements_that_do_not_fill_the_threads_are_guarded_by_the_loop() -> None:
    ops = """
        %10: i32[300] = arange start=0 size=300
        %11: f32[300] = load %a.0[%10]
        store %b.1[%10] = %11
    """
    expected = """
        const int t = int(thread_position.x);

        for (int e = t; e < 300; e += 256) {
            b[e] = a[e];
        }
    """
    assert body_of(ops) == lines(expected)


def test_threads_without_an_element_do_nothing() -> None:
    ops = """
        %10: i32[20] = arange start=0 size=20
        %11: f32[20] = load %a.0[%10]
        store %b.1[%10] = %11
    """
    expected = """
        const int t = int(thread_position.x);

        if (t < 20) { b[t] = a[t]; }
    """
    assert body_of(ops) == lines(expected)


def test_one_thread_loops_over_all_elements() -> None:
    ops = """
        %10: i32[20] = arange start=0 size=20
        %11: f32[20] = load %a.0[%10]
        store %b.1[%10] = %11
    """
    expected = """
        for (int e = 0; e < 20; ++e) {
            b[e] = a[e];
        }
    """
    assert body_of(ops, threads=1) == lines(expected)


def test_the_users_name_counts_the_elements() -> None:
    ops = """
        %offs.10: i32[512] = arange start=0 size=512
        %11: f32[512] = load %a.0[%offs.10]
        store %b.1[%offs.10] = %11
    """
    expected = """
        const int t = int(thread_position.x);

        for (int offs = t; offs < 512; offs += 256) {
            b[offs] = a[offs];
        }
    """
    assert body_of(ops) == lines(expected)


def test_values_live_out_of_a_loop_are_saved_and_indices_are_rematerialized() -> None:
    ops = """
        %10: i32[512] = arange start=0 size=512
        %11: i32[512] = splat %n.4 shape=[512]
        %12: i32[512] = add %10, %11
        %v.13: f32[512] = load %a.0[%12]
        %14: f32 = reduce_sum %v.13 axis=none
        %15: f32[512] = splat %14 shape=[512]
        %16: f32[512] = div %v.13, %15
        store %b.1[%12] = %16
    """
    expected = """
        threadgroup float total_partial[8];
        const int t = int(thread_position.x);

        float v[2];
        float total = 0.0f;
        for (int slot = 0; slot < 2; ++slot) {
            const int e = t + 256 * slot;
            v[slot] = a[e + n];
            total += v[slot];
        }
        total = simd_sum(total);
        if (lane == 0) { total_partial[simdgroup] = total; }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        total = simd_sum(lane < 8 ? total_partial[lane] : 0.0f);
        for (int slot = 0; slot < 2; ++slot) {
            const int e = t + 256 * slot;
            b[e + n] = v[slot] / total;
        }
    """
    assert body_of(ops) == lines(expected)


def test_a_value_live_out_of_a_guard_is_declared_before_it() -> None:
    ops = """
        %10: i32[40] = arange start=0 size=40
        %v.13: f32[40] = load %a.0[%10]
        %14: f32 = reduce_sum %v.13 axis=none
        %15: f32[40] = splat %14 shape=[40]
        %16: f32[40] = div %v.13, %15
        store %b.1[%10] = %16
    """
    expected = """
        threadgroup float total_partial[2];
        const int t = int(thread_position.x);

        float v;
        float total = 0.0f;
        if (t < 40) {
            v = a[t];
            total = v;
        }
        total = simd_sum(total);
        if (lane == 0) { total_partial[simdgroup] = total; }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        total = simd_sum(lane < 2 ? total_partial[lane] : 0.0f);
        if (t < 40) { b[t] = v / total; }
    """
    assert body_of(ops) == lines(expected)


def test_a_broadcast_row_is_loaded_again_at_each_element() -> None:
    ops = """
        %10: i32[8] = arange start=0 size=8
        %11: i32[4] = arange start=0 size=4
        %12: f32[8] = load %a.0[%10]
        %13: f32[8, 1] = expand_dims %12 axis=1
        %14: f32[8, 4] = broadcast %13 shape=[8, 4]
        %15: i32 = 4
        %16: i32[8] = splat %15 shape=[8]
        %17: i32[8] = mul %10, %16
        %18: i32[8, 1] = expand_dims %17 axis=1
        %19: i32[8, 4] = broadcast %18 shape=[8, 4]
        %20: i32[1, 4] = expand_dims %11 axis=0
        %21: i32[8, 4] = broadcast %20 shape=[8, 4]
        %22: i32[8, 4] = add %19, %21
        store %b.1[%22] = %14
    """
    expected = """
        const int t = int(thread_position.x);

        b[t] = a[t / 4];
    """
    assert body_of(ops) == lines(expected)


def test_an_expensive_row_that_is_broadcast_is_staged() -> None:
    ops = """
        %row.10: i32[8] = arange start=0 size=8
        %12: f32[8] = load %a.0[%row.10]
        %e.13: f32[8] = exp %12
        %14: f32[8, 1] = expand_dims %e.13 axis=1
        %15: f32[8, 4] = broadcast %14 shape=[8, 4]
        %16: i32[32] = arange start=0 size=32
        %17: i32[8, 4] = reshape %16 shape=[8, 4]
        store %b.1[%17] = %15
    """
    expected = """
        threadgroup float e_shared[8];
        const int t = int(thread_position.x);

        if (t < 8) { e_shared[t] = precise::exp(a[t]); }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        b[t] = e_shared[t / 4];
    """
    assert body_of(ops) == lines(expected)


def test_a_permuted_load_reads_in_another_order() -> None:
    ops = """
        %10: i32[32] = arange start=0 size=32
        %11: i32[4, 8] = reshape %10 shape=[4, 8]
        %12: f32[4, 8] = load %a.0[%11]
        %13: f32[8, 4] = permute %12 axes=[1, 0]
        %14: i32[8, 4] = reshape %10 shape=[8, 4]
        store %b.1[%14] = %13
    """
    expected = """
        const int t = int(thread_position.x);

        b[t] = a[t % 4 * 8 + t / 4];
    """
    assert body_of(ops) == lines(expected)


def test_a_reversed_block_of_a_loop_is_staged() -> None:
    ops = """
        %10: i32[32] = arange start=0 size=32
        %11: f32[32] = load %a.0[%10]
        %12: i32 = 0
        %13: i32 = 1
        %14: f32[32] = for %15: i32 = %12 .. %n.4 by %13 carrying (%v.16: f32[32] = %11) {
          %17: f32[32] = slice %v.16 starts=[31] sizes=[32] steps=[-1]
          %18: f32[32] = add %v.16, %17
          yield %18
        } else (%19: f32[32])
        store %b.1[%10] = %14
    """
    expected = """
        threadgroup float v_shared[32];
        const int t = int(thread_position.x);

        float v = a[t];
        for (int i_1 = 0; i_1 < n; ++i_1) {
            threadgroup_barrier(mem_flags::mem_threadgroup);
            v_shared[t] = v;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            v += v_shared[31 - t];
        }
        b[t] = v;
    """
    assert body_of(ops) == lines(expected)


def test_a_result_that_several_lanes_have_is_read_from_threadgroup_memory() -> None:
    ops = """
        %10: i32[8] = arange start=0 size=8
        %11: i32[8, 1] = expand_dims %10 axis=1
        %12: i32[32] = arange start=0 size=32
        %13: i32[8, 4] = reshape %12 shape=[8, 4]
        %14: i32[8, 1] = load %i.2[%11]
        %15: i32[8, 1] = splat %n.4 shape=[8, 1]
        %16: bool[8, 1] = lt %14, %15
        %v.17: i32[8, 1] = if %16 {
          store %j.3[%13] = %13
          yield %14
        } else {
          yield %15
        }
        store %i.2[%11] = %v.17
    """
    expected = """
        threadgroup int i_value_shared[8];
        threadgroup bool block_shared[8];
        threadgroup int v_shared[8];
        const int t = int(thread_position.x);

        if (t < 8) {
            const int i_value = i[t];
            i_value_shared[t] = i_value;
            block_shared[t] = i_value < n;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        const int i_1 = t / 4;
        int v = n;
        if (block_shared[i_1]) {
            j[t] = t;
            v = i_value_shared[i_1];
        }
        if (t % 4 == 0) { v_shared[i_1] = v; }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (t < 8) { i[t] = v_shared[t]; }
    """
    assert body_of(ops) == lines(expected)
