"""`if`, conditional expressions, `and`, `or`, `not`, comparisons: values, order and effects."""

from __future__ import annotations

from tests.frontend.running import NUMBERS, codes_of, same_as_cpython


def note(i, log, tag):
    """Leaves the order of its calls in the log."""
    log[i, 0] = log[i, 0] * 10 + tag
    return tag


def test_one_branch_of_a_chain_is_taken() -> None:
    def f(n):
        if n < -1:
            v = 1
        elif n < 1:
            v = 2
        elif n == 2:
            v = 3
        else:
            v = 4
        return v

    same_as_cpython(f)


def test_a_branch_without_else_leaves_the_names_alone() -> None:
    def f(n):
        v = 5
        if n > 0:
            v = n
        return v

    same_as_cpython(f)


def test_any_number_is_a_condition() -> None:
    def f(n):
        v = 0
        if n:
            v += 1
        if n * 0.5:
            v += 10
        if n > 1:
            v += 100
        return v

    same_as_cpython(f)


def test_a_tuple_is_true_if_it_has_items() -> None:
    def f(n):
        pair = (n, n)
        return (1 if pair else 2) + (10 if () else 20)

    same_as_cpython(f)


def test_a_conditional_expression_evaluates_one_side() -> None:
    def f(i, log, n):
        return note(i, log, 1) if n > 0 else note(i, log, 2)

    same_as_cpython(f, NUMBERS, traced=True)


def test_a_conditional_expression_guards_a_division() -> None:
    def f(n):
        return 100 // n if n != 0 else -1

    same_as_cpython(f)


def test_and_gives_the_first_operand_that_is_false() -> None:
    def f(a, b, c):
        return a and b and c

    same_as_cpython(f, (0, 1, 2), (0, 3), (0, 4))


def test_or_gives_the_first_operand_that_is_true() -> None:
    def f(a, b, c):
        return a or b or c

    same_as_cpython(f, (0, 1, 2), (0, 3), (0, 4))


def test_and_of_floats_gives_a_float() -> None:
    def f(a, b):
        return (a and b) + (b or a)

    same_as_cpython(f, (0.0, 1.5, -2.0), (0.0, 0.25), out="float32")


def test_and_stops_at_the_first_operand_that_is_false() -> None:
    def f(i, log, n):
        if n > 0 and note(i, log, 1) and n > 2 and note(i, log, 2):
            return 1
        return 0

    same_as_cpython(f, NUMBERS, traced=True)


def test_or_stops_at_the_first_operand_that_is_true() -> None:
    def f(i, log, n):
        if n > 0 or note(i, log, 1) == n or n < -1 or note(i, log, 2):
            return 1
        return 0

    same_as_cpython(f, NUMBERS, traced=True)


def test_and_guards_a_division() -> None:
    def f(a, b):
        return b and a // b

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_a_condition_may_mix_kinds_of_values() -> None:
    def f(n):
        if n > 1 and n or n * 0.5 and (n, n):
            return 1
        return 0

    same_as_cpython(f)


def test_not_takes_any_mixture() -> None:
    def f(a, b):
        return (not a) + 10 * (not (a or b > 1 or a * 0.5)) + 100 * (not (b and a < b))

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_a_chained_comparison_holds_if_every_link_does() -> None:
    def f(a, b):
        return (a < b < 3) + 10 * (-2 <= a <= b != 2) + 100 * (a == b == 1)

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_a_chained_comparison_evaluates_each_operand_once() -> None:
    def f(i, log, n):
        return 1 if note(i, log, 1) < n < note(i, log, 5) < note(i, log, 7) else 0

    same_as_cpython(f, (0, 1, 2, 3, 5, 6), traced=True)


def test_operands_are_evaluated_from_left_to_right() -> None:
    def f(i, log, n):
        return note(i, log, 1) + note(i, log, 2) * n - max(note(i, log, 3), note(i, log, 4))

    same_as_cpython(f, NUMBERS, traced=True)


def test_a_value_is_assigned_after_the_right_side_is_evaluated() -> None:
    def f(i, log, n):
        log[i, note(i, log, 2)] = note(i, log, 1) + n
        return log[i, 2]

    same_as_cpython(f, NUMBERS, traced=True)


def test_any_and_all_of_a_generator_stop_early() -> None:
    def f(i, log, n):
        some = any(note(i, log, k) > n for k in (1, 2, 3))
        every = all(note(i, log, k) < n + 4 for k in (4, 5, 6))
        return 2 * some + every

    same_as_cpython(f, NUMBERS, traced=True)


def test_any_and_all_of_a_generator_guard_a_division() -> None:
    def f(n):
        return 1 if any(k == 0 or 6 // k == n for k in (n - 1, n - 2, n - 3)) else 0

    same_as_cpython(f)


def test_any_and_all_of_a_tuple_are_bools() -> None:
    def f(a, b):
        return any((a, b)) + 10 * all((a, b)) + 100 * any(()) + 1000 * all(())

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_in_compares_with_every_item() -> None:
    def f(a, b):
        return (a in (1, b, 3)) + 10 * (a not in (b, 2))

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_tuples_are_equal_if_their_items_are() -> None:
    def f(a, b):
        return ((a, b) == (b, a)) + 10 * ((a, 1) != (b, 1)) + 100 * ((a,) == (a, b))

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_a_type_that_depends_on_the_path_is_refused() -> None:
    def kernel(out, n):
        v = 0
        if n > 0:
            v = 1.5
        out[0] = v

    assert codes_of(kernel, "*f32[:]", "i32") == ["E0312"]


def test_values_of_and_must_have_one_type() -> None:
    def kernel(out, n):
        out[0] = n and 1.5

    assert codes_of(kernel, "*f32[:]", "i32") == ["E0312"]


def test_the_negation_of_bits_of_a_bool_is_refused() -> None:
    def kernel(out, n):
        out[0] = ~(n > 0)

    assert codes_of(kernel, "*i32[:]", "i32") == ["E0301"]
