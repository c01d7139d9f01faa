"""Loads, stores and atomics as text."""

from __future__ import annotations

from tests.msl.texts import body_of, lines


def test_a_masked_store_reads_without_a_mask() -> None:
    ops = """
        %i.10: i32[32] = arange start=0 size=32
        %11: i32[32] = splat %n.4 shape=[32]
        %12: bool[32] = lt %i.10, %11
        %13: f32[32] = splat %x.5 shape=[32]
        %14: f32[32] = load %a.0[%i.10] if %12 else %13
        store %b.1[%i.10] = %14 if %12
    """
    expected = """
        const int t = int(thread_position.x);

        if (t < n) { b[t] = a[t]; }
    """
    assert body_of(ops) == lines(expected)


def test_consecutive_stores_with_one_mask_share_a_condition() -> None:
    ops = """
        %10: i32[32] = arange start=0 size=32
        %11: i32[32] = splat %n.4 shape=[32]
        %12: bool[32] = lt %10, %11
        store %i.2[%10] = %10 if %12
        store %j.3[%10] = %10 if %12
    """
    expected = """
        const int t = int(thread_position.x);

        if (t < n) {
            i[t] = t;
            j[t] = t;
        }
    """
    assert body_of(ops) == lines(expected)


def test_a_load_between_stores_that_share_a_condition_moves_before_it() -> None:
    ops = """
        %10: i32[32] = arange start=0 size=32
        %11: i32[32] = splat %n.4 shape=[32]
        %12: bool[32] = lt %10, %11
        store %i.2[%10] = %10 if %12
        %old.13: i32[32] = load %j.3[%10]
        store %j.3[%10] = %10 if %12
        store %i.2[%10] = %old.13
    """
    expected = """
        const int t = int(thread_position.x);

        const int old = j[t];
        if (t < n) {
            i[t] = t;
            j[t] = t;
        }
        i[t] = old;
    """
    assert body_of(ops) == lines(expected)


def test_a_scalar_is_stored_by_one_thread() -> None:
    ops = """
        %10: i32[32] = arange start=0 size=32
        %11: i32 = 0
        store %i.2[%11] = %n.4
        store %j.3[%10] = %10
    """
    expected = """
        const int t = int(thread_position.x);

        if (t == 0) { i[0] = n; }
        j[t] = t;
    """
    assert body_of(ops) == lines(expected)


def test_a_scalar_that_was_stored_is_read_after_a_barrier() -> None:
    ops = """
        %10: i32[64] = arange start=0 size=64
        %11: i32 = 0
        store %i.2[%11] = %n.4
        %12: i32 = load %i.2[%11]
        %13: i32[64] = splat %12 shape=[64]
        store %j.3[%10] = %13
    """
    expected = """
        const int t = int(thread_position.x);

        if (t == 0) { i[0] = n; }
        threadgroup_barrier(mem_flags::mem_device);
        j[t] = i[0];
    """
    assert body_of(ops) == lines(expected)


def test_the_result_of_an_atomic_of_one_thread_is_broadcast() -> None:
    ops = """
        %10: i32[64] = arange start=0 size=64
        %11: i32 = 1
        %old.12: i32 = atomic add %i.2[%11], %n.4
        %13: i32[64] = splat %old.12 shape=[64]
        store %j.3[%10] = %13
    """
    expected = """
        threadgroup int old_shared[1];
        const int t = int(thread_position.x);

        if (t == 0) {
            const int old = atomic_fetch_add_explicit(&i[1], n, memory_order_relaxed);
            old_shared[0] = old;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        j[t] = old_shared[0];
    """
    assert body_of(ops) == lines(expected)


def test_an_atomic_of_lanes_gives_zero_where_it_is_masked_off() -> None:
    ops = """
        %10: i32[32] = arange start=0 size=32
        %11: i32[32] = splat %n.4 shape=[32]
        %12: bool[32] = lt %10, %11
        %old.13: i32[32] = atomic max %i.2[%10], %11 if %12
        store %j.3[%10] = %old.13
    """
    expected = """
        const int t = int(thread_position.x);

        int old = 0;
        if (t < n) {
            old = atomic_fetch_max_explicit(&i[t], n, memory_order_relaxed);
        }
        j[t] = old;
    """
    assert body_of(ops) == lines(expected)


def test_an_array_that_is_read_too_is_cast_for_an_atomic() -> None:
    ops = """
        %10: i32[32] = arange start=0 size=32
        %11: i32[32] = splat %n.4 shape=[32]
        %12: i32[32] = atomic xor %i.2[%10], %11
        %13: i32[32] = load %i.2[%10]
        store %j.3[%10] = %13
    """
    expected = """
        const int t = int(thread_position.x);

        atomic_fetch_xor_explicit((device atomic_int*)&i[t], n, memory_order_relaxed);
        j[t] = i[t];
    """
    assert body_of(ops) == lines(expected)
