"""Loops on the device mean what they mean in CPython."""

# pyright: reportPossiblyUnboundVariable=false, reportUndefinedVariable=false
from __future__ import annotations

import pytest

from eas import mk
from tests.frontend.running import NUMBERS, codes_of, same_as_cpython


def test_a_range_counts_up_to_its_end() -> None:
    def f(n):
        total = 0
        for k in range(n):
            total = total * 3 + k
        return total

    same_as_cpython(f)


@pytest.mark.parametrize("step", [1, 2, 3, -1, -2, -7])
def test_a_range_takes_steps_of_either_sign(step: int) -> None:
    def f(start, stop):
        total, trips = 0, 0
        for k in range(start, stop, step):
            total = total * 2 + k
            trips += 1
        return total, trips

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_the_step_of_a_range_may_be_known_at_run_time_only() -> None:
    def f(start, stop, step):
        total = 1
        for k in range(start, stop, step or 5):
            total = total * 2 + k
        return total

    same_as_cpython(f, NUMBERS, NUMBERS, NUMBERS)


def test_bounds_are_read_once() -> None:
    def f(n):
        trips = 0
        for _ in range(n):
            n += 1
            trips += 1
        return trips, n

    same_as_cpython(f)


def test_the_counter_may_be_changed_in_the_body() -> None:
    def f(n):
        total = 0
        for k in range(n):
            k = k * 2
            total += k
        return total

    same_as_cpython(f)


def test_the_counter_keeps_its_last_value() -> None:
    def f(n):
        k = -5
        for k in range(0, n, 2):
            pass
        return k

    same_as_cpython(f)


def test_the_counter_of_a_loop_that_is_sure_to_run_has_a_value_after_it() -> None:
    def f(n):
        for k in range(4):
            if k == n:
                break
        return k

    same_as_cpython(f)


def test_what_the_body_binds_has_a_value_after_a_loop_that_is_sure_to_run() -> None:
    def f(n):
        for k in range(3):
            last = k * n
        return last

    same_as_cpython(f)


def test_what_the_body_binds_has_a_value_in_the_else_of_a_loop_that_is_sure_to_run() -> None:
    def f(n):
        total = 0
        for k in range(3):
            last = k * n
        else:
            last += 1
            total = last
        return total

    same_as_cpython(f)


def test_a_loop_that_is_always_left_in_its_first_trip_is_never_exhausted() -> None:
    def f(n):
        for k in range(3):
            v = n + k
            break
        else:
            v = undefined
        return v

    same_as_cpython(f)


def test_while_tests_before_every_trip() -> None:
    def f(n):
        trips = 0
        while n > 0:
            n //= 2
            trips += 1
        return n, trips

    same_as_cpython(f)


def test_while_takes_any_number_for_a_condition() -> None:
    def f(n):
        n = abs(n)
        trips = 0
        while n:
            n -= 1
            trips += 1
        return trips

    same_as_cpython(f)


def test_an_endless_loop_is_left_by_break() -> None:
    def f(n):
        total = 0
        while True:
            total += 1
            if total * total > n:
                break
        return total

    same_as_cpython(f)


def test_an_endless_loop_is_left_by_return() -> None:
    def f(n):
        total = 0
        while True:
            total += 1
            if total * total > n:
                return total

    same_as_cpython(f)


def test_while_false_runs_only_its_else() -> None:
    def f(n):
        while False:
            n = 100
        else:
            n += 1
        return n

    same_as_cpython(f)


def test_break_leaves_only_the_inner_loop() -> None:
    def f(n, limit):
        total = 0
        for a in range(n):
            for b in range(5):
                if b > limit:
                    break
                total += 10
            total += a
        return total

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_continue_goes_on_with_the_inner_loop() -> None:
    def f(n, divisor):
        total = 0
        for a in range(n):
            for b in range(4):
                if (a + b) % (divisor or 1) == 0:
                    continue
                total = (total * 2 + b) % 1000
        return total

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_continue_in_while_goes_back_to_the_test() -> None:
    def f(n):
        total = 0
        while n > 0:
            n -= 1
            if n % 3 == 1:
                continue
            total = total * 2 + n
        return total

    same_as_cpython(f)


def test_else_runs_when_the_loop_was_not_left() -> None:
    def f(n, wanted):
        found = -1
        for k in range(n):
            if k == wanted:
                found = k
                break
        else:
            found = 100
        return found

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_break_in_an_else_leaves_the_loop_around() -> None:
    def f(n):
        total = 0
        for a in range(5):
            total += 100
            for b in range(n):
                if b == 2:
                    break
            else:
                total += a
                break
        return total

    same_as_cpython(f)


def test_continue_in_an_else_belongs_to_the_loop_around() -> None:
    def f(n):
        total = 0
        for a in range(4):
            while n > a:
                n -= 1
                if n == 5:
                    break
            else:
                continue
            total += 10 + a
        return total, n

    same_as_cpython(f)


def test_a_break_after_a_continue_of_other_lanes_is_for_the_rest_only() -> None:
    def f(n):
        seen = 0
        last = 0
        for k in range(6):
            last = k + 1
            if (k + n) % 3 != 0:
                continue
            seen += k
            break
        return seen, last

    same_as_cpython(f)


def test_loops_may_nest_six_deep() -> None:
    def f(n):
        total = 0
        for a in range(2):
            for b in range(a, 2):
                for c in range(2):
                    for d in range(c + b, 3):
                        for e in range(2):
                            for g in range(n % 3):
                                if (a + b + c + d + e + g) % 4 == 3:
                                    break
                                total = (total * 3 + g) % 1000
        return total

    same_as_cpython(f)


def test_a_literal_before_a_loop_takes_the_type_of_what_the_loop_adds() -> None:
    def f(x):
        total = 0.0
        for _ in range(3):
            total += x
        return total

    same_as_cpython(f, (0.5, -1.25), out="float32")


def test_a_tuple_is_carried_from_trip_to_trip() -> None:
    def f(n):
        pair = (0, 1)
        for _ in range(n):
            pair = (pair[1], pair[0] + pair[1])
        return pair

    same_as_cpython(f)


def test_values_are_exchanged_in_a_loop() -> None:
    def f(a, b):
        a, b = abs(a), abs(b)
        while b:
            a, b = b, a % b
        return a

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_a_name_that_only_the_body_binds_may_have_no_value_after_the_loop() -> None:
    def kernel(out, n):
        for k in range(n):
            last = k
        out[0] = last

    assert codes_of(kernel, "*i32[:]", "i32") == ["E0202"]


def test_a_counter_may_have_no_value_after_the_loop() -> None:
    def kernel(out, n):
        for k in range(n):
            out[k] = k
        out[0] = k

    assert codes_of(kernel, "*i32[:]", "i32") == ["E0202"]


def test_a_value_of_the_trip_before_has_no_value_in_the_first_one() -> None:
    def kernel(out, n):
        for k in range(n):
            if k > 0:
                out[k] = before
            before = k

    assert codes_of(kernel, "*i32[:]", "i32") == ["E0202"]


def test_a_step_of_zero_is_refused() -> None:
    def kernel(out):
        for k in range(0, 4, 0):
            out[k] = k

    assert codes_of(kernel, "*i32[:]") == ["E0420"]


def test_a_range_holds_what_it_counts() -> None:
    def f(n):
        return (
            n in range(5),
            n in range(-7, 12, 3),
            n not in range(10, n - 3, -2),
            n / 2 in range(-4, 9),
            n in range(3, 3),
        )

    same_as_cpython(f)


def test_a_range_is_a_sequence() -> None:
    def f(n):
        count = range(2, 9, 3)
        return n + len(count), n + count[-1], n + sum(count[1:]), n if range(4, 4) else -n

    same_as_cpython(f)


def test_a_bool_is_a_bound() -> None:
    def f(n):
        for _ in range(True):
            n = n * 2
        return n

    same_as_cpython(f)


def test_a_range_of_floats_is_refused() -> None:
    def kernel(out, x):
        for k in range(x):
            out[k] = k

    assert codes_of(kernel, "*i32[:]", "f32") == ["E0403"]


def test_a_mistake_before_a_loop_is_reported_once_whatever_the_loop_does_with_it() -> None:
    def kernel(a, out):
        v = a + a
        w = 0
        for i in range(4):
            w = v
            if a[mk.arange(0, 4)] > i:
                continue
        out[0] = w

    assert codes_of(kernel, "*f32[:]", "*f32[:]") == ["E0309"]
