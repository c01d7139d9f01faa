"""Control flow as text."""

from __future__ import annotations

from tests.msl.texts import body_of, lines


def test_a_small_choice_is_an_expression() -> None:
    ops = """
        %10: i32 = 0
        %11: f32 = if %p.6 {
          %12: f32 = neg %x.5
          yield %12
        } else {
          yield %x.5
        }
        store %a.0[%10] = %11
    """
    expected = """
        const int t = int(thread_position.x);

        if (t == 0) { a[0] = p ? -x : x; }
    """
    assert body_of(ops) == lines(expected)


def test_and_short_circuits_loads() -> None:
    ops = """
        %10: i32 = 0
        %11: bool = lt %n.4, %10
        %12: bool = if %11 {
          %13: f32 = load %a.0[%n.4]
          %14: bool = lt %13, %x.5
          yield %14
        } else {
          %15: bool = false
          yield %15
        }
        assert %12, "no"
    """
    expected = """
        const int t = int(thread_position.x);

        if (t == 0 && !(n < 0 && a[n] < x)) {
            report_failure(report, 0, program, 0);
        }
    """
    assert body_of(ops) == lines(expected)


def test_a_variable_that_one_branch_changes_begins_with_its_old_value() -> None:
    ops = """
        %10: i32[32] = arange start=0 size=32
        %11: i32[32] = splat %n.4 shape=[32]
        %12: bool[32] = lt %10, %11
        %v.13: i32[32] = if %12 {
          store %i.2[%10] = %10
          %14: i32[32] = mul %10, %11
          yield %14
        } else {
          yield %10
        }
        store %j.3[%10] = %v.13
    """
    expected = """
        const int t = int(thread_position.x);

        int v = t;
        if (t < n) {
            i[t] = t;
            v = wrap_mul(t, n);
        }
        j[t] = v;
    """
    assert body_of(ops) == lines(expected)


def test_carried_values_that_swap_need_a_copy() -> None:
    ops = """
        %10: i32[32] = arange start=0 size=32
        %11: i32 = 0
        %12: i32 = 1
        %13: f32[32] = load %a.0[%10]
        %14: f32[32] = load %b.1[%10]
        %15: f32[32], %16: f32[32] = for %17: i32 = %11 .. %n.4 by %12 carrying (
            %u.18: f32[32] = %13,
            %v.19: f32[32] = %14,
        ) {
          yield %v.19, %u.18
        } else (%20: f32[32], %21: f32[32])
        store %a.0[%10] = %15
        store %b.1[%10] = %16
    """
    expected = """
        const int t = int(thread_position.x);

        float u = a[t];
        float v = b[t];
        for (int i_1 = 0; i_1 < n; ++i_1) {
            const float next_u = v;
            v = u;
            u = next_u;
        }
        a[t] = u;
        b[t] = v;
    """
    assert body_of(ops) == lines(expected)


def test_inner_loops_reuse_the_variables_of_outer_ones() -> None:
    ops = """
        %10: i32[32] = arange start=0 size=32
        %11: i32 = 0
        %12: i32 = 1
        %13: f32[32] = splat %x.5 shape=[32]
        %14: f32[32] = for %r.15: i32 = %11 .. %n.4 by %12 carrying (%s.16: f32[32] = %13) {
          %17: f32[32] = for %c.18: i32 = %11 .. %r.15 by %12 carrying (%s.19: f32[32] = %s.16) {
            %20: i32[32] = splat %c.18 shape=[32]
            %21: i32[32] = add %10, %20
            %22: f32[32] = load %a.0[%21]
            %23: f32[32] = add %s.19, %22
            yield %23
          } else (%24: f32[32])
          yield %17
        } else (%25: f32[32])
        store %b.1[%10] = %14
    """
    expected = """
        const int t = int(thread_position.x);

        float s = x;
        for (int r = 0; r < n; ++r) {
            for (int c = 0; c < r; ++c) {
                s += a[t + c];
            }
        }
        b[t] = s;
    """
    assert body_of(ops) == lines(expected)


def test_a_loop_that_counts_down() -> None:
    ops = """
        %10: i32 = 0
        %11: i32 = -1
        for %k.12: i32 = %n.4 .. %10 by %11 {
          store %i.2[%k.12] = %k.12
          yield
        }
    """
    expected = """
        const int t = int(thread_position.x);

        for (int k = n; k > 0; --k) {
            if (t == 0) { i[k] = k; }
        }
    """
    assert body_of(ops) == lines(expected)


def test_a_step_that_might_overflow_counts_in_a_wider_type() -> None:
    ops = """
        %10: i32 = 0
        %11: i32 = 4
        for %k.12: i32 = %10 .. %n.4 by %11 {
          store %i.2[%k.12] = %k.12
          yield
        }
    """
    expected = """
        const int t = int(thread_position.x);

        for (long k = 0; k < n; k += 4) {
            if (t == 0) { i[int(k)] = int(k); }
        }
    """
    assert body_of(ops) == lines(expected)


def test_a_step_of_an_unknown_sign_counts_trips() -> None:
    ops = """
        %10: i32 = 0
        %11: i32 = load %j.3[%10]
        for %k.12: i32 = %10 .. %n.4 by %11 {
          store %i.2[%k.12] = %k.12
          yield
        }
    """
    expected = """
        const int t = int(thread_position.x);

        const int j_value = j[0];
        const uint trips = trip_count(0, n, j_value);
        for (uint trip = 0; trip < trips; ++trip) {
            if (t == 0) {
                const int k = int(trip * uint(j_value));
                i[k] = k;
            }
        }
    """
    assert body_of(ops) == lines(expected)


def test_a_break_gives_the_carried_variable_its_last_value() -> None:
    ops = """
        %10: i32 = 0
        %11: i32 = 1
        %12: i32 = for %k.13: i32 = %10 .. %n.4 by %11 carrying (%last.14: i32 = %10) {
          %15: i32 = load %j.3[%k.13]
          %16: bool = eq %15, %10
          if %16 {
            break %k.13
          }
          yield %15
        } else (%17: i32) {
          yield %17
        }
        store %i.2[%10] = %12
    """
    expected = """
        const int t = int(thread_position.x);

        int last = 0;
        for (int k = 0; k < n; ++k) {
            const int j_value = j[k];
            if (j_value == 0) {
                last = k;
                break;
            }
            last = j_value;
        }
        if (t == 0) { i[0] = last; }
    """
    assert body_of(ops) == lines(expected)


def test_the_else_of_a_loop_runs_unless_a_break_left_it() -> None:
    ops = """
        %10: i32 = 0
        %11: i32 = 1
        %12: i32 = for %k.13: i32 = %10 .. %n.4 by %11 {
          %15: i32 = load %j.3[%k.13]
          %16: bool = eq %15, %10
          if %16 {
            break %k.13
          }
          yield
        } else {
          store %i.2[%11] = %11
          %17: i32 = neg %n.4
          yield %17
        }
        store %i.2[%10] = %12
    """
    expected = """
        const int t = int(thread_position.x);

        int n_1;
        bool left_early = false;
        for (int k = 0; k < n; ++k) {
            if (j[k] == 0) {
                n_1 = k;
                left_early = true;
                break;
            }
        }
        if (!left_early) {
            if (t == 0) { i[1] = 1; }
            n_1 = wrap_neg(n);
        }
        if (t == 0) { i[0] = n_1; }
    """
    assert body_of(ops) == lines(expected)


def test_the_else_of_a_while_stands_where_the_test_fails() -> None:
    ops = """
        %10: i32 = 0
        %11: i32 = 1
        %12: i32 = while (%k.13: i32 = %10) {
          %14: bool = lt %k.13, %n.4
          condition %14 with %k.13
        } do (%k.15: i32) {
          %16: i32 = load %j.3[%k.15]
          %17: bool = eq %16, %10
          if %17 {
            break %16
          }
          %18: i32 = add %k.15, %11
          yield %18
        } else (%k.19: i32) {
          store %i.2[%11] = %k.19
          yield %11
        }
        store %i.2[%10] = %12
    """
    expected = """
        const int t = int(thread_position.x);

        int k = 0;
        int n_1;
        while (true) {
            if (k >= n) {
                if (t == 0) { i[1] = k; }
                n_1 = 1;
                break;
            }
            const int j_value = j[k];
            if (j_value == 0) {
                n_1 = j_value;
                break;
            }
            k += 1;
        }
        if (t == 0) { i[0] = n_1; }
    """
    assert body_of(ops) == lines(expected)


def test_a_lane_that_continues_lets_the_others_finish_the_trip() -> None:
    ops = """
        %10: i32[64] = arange start=0 size=64
        %11: i32 = 0
        %12: i32 = 1
        %13: i32[64] = load %i.2[%10]
        %14: i32[64] = for %k.15: i32 = %11 .. %n.4 by %12 carrying (%v.16: i32[64] = %13) {
          %17: i32 = reduce_max %v.16 axis=none
          %18: i32[64] = splat %17 shape=[64]
          %19: bool[64] = eq %v.16, %18
          if %19 {
            continue %v.16
          }
          %20: i32[64] = xor %v.16, %18
          yield %20
        } else (%21: i32[64])
        store %j.3[%10] = %14
    """
    expected = """
        threadgroup int high_partial[2][2];
        const int t = int(thread_position.x);

        int stage = 0;
        int v = i[t];
        for (int k = 0; k < n; ++k) {
            int high = simd_max(v);
            if (lane == 0) {
                high_partial[stage % 2][simdgroup] = high;
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
            high = simd_max(lane < 2 ? high_partial[stage % 2][lane] : INT_MIN);
            stage += 1;
            v = v == high ? v : v ^ high;
        }
        j[t] = v;
    """
    assert body_of(ops) == lines(expected)
