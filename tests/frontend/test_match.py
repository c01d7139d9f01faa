"""`match` means what it means in CPython."""

# pyright: reportMatchNotExhaustive=false

from __future__ import annotations

from tests.frontend.running import NUMBERS, same_as_cpython


def test_literals_are_tried_in_turn() -> None:
    def f(n):
        match n:
            case -2:
                return 1
            case 0:
                return 2
            case 3:
                return 3
            case 3:
                return 4
        return 5

    same_as_cpython(f)


def test_alternatives_fit_if_one_does() -> None:
    def f(n):
        match n:
            case 0 | 1 | -7:
                v = 1
            case 2 | 3:
                v = 2
            case _:
                v = 3
        return v

    same_as_cpython(f)


def test_a_capture_takes_the_subject() -> None:
    def f(n):
        match n * 2:
            case 4:
                v = -1
            case other:
                v = other + 1
        return v

    same_as_cpython(f)


def test_a_name_for_alternatives() -> None:
    def f(n):
        match n:
            case (1 | 2 | 3) as small:
                return small * 10
            case _:
                return 0

    same_as_cpython(f)


def test_a_guard_lets_the_next_cases_be_tried() -> None:
    def f(n, limit):
        match n:
            case 1 | 2 if limit > 1:
                return 1
            case v if v > limit:
                return 2
            case 2:
                return 3
            case _:
                return 4

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_a_guard_runs_only_where_the_pattern_fits() -> None:
    def f(n):
        match n:
            case (1 | 2 | 3) as v if 6 // v > 2:
                return v
            case 0:
                return -1
            case v if 10 // v == 1:
                return -2
        return -3

    same_as_cpython(f)


def test_a_capture_stays_bound_when_the_guard_fails() -> None:
    def f(n):
        v = 100
        match n:
            case (1 | 2) as v if n > 1:
                v += 10
            case 3:
                v += 20
        return v

    same_as_cpython(f)


def test_a_name_bound_in_a_guard_has_a_value_in_the_case() -> None:
    def f(n):
        match n:
            case 1 | 2 | 3 if (v := n * 2) > 3:
                return v
            case _:
                return 0

    same_as_cpython(f)


def test_a_guard_may_bind_the_captured_name_anew() -> None:
    def f(n):
        match n:
            case v if (v := v * 2) > 3:
                return v
            case _:
                return v - 50

    same_as_cpython(f)


def test_the_subject_is_evaluated_once() -> None:
    def f(i, log, n):
        def note(value):
            log[i, 0] += 1
            return value

        match note(n):
            case 1:
                return 10
            case 2 | 3:
                return 20
        return 30

    same_as_cpython(f, NUMBERS, traced=True)


def test_true_fits_a_bool_and_not_an_int() -> None:
    def f(n):
        v = 0
        match n > 0:
            case True:
                v = 1
            case False:
                v = 2
        match n:
            case True:
                v += 10
            case 1:
                v += 20
        return v

    same_as_cpython(f)


def test_an_int_fits_a_float_of_the_same_value() -> None:
    def f(x):
        match x:
            case 1:
                return 1
            case 2.5:
                return 2
            case -0.0:
                return 3
        return 4

    same_as_cpython(f, (0.0, 1.0, 2.5, -1.0))


def test_cases_leave_loops_and_functions() -> None:
    def f(n):
        total = 0
        for k in range(8):
            match k + n:
                case 2 | 5:
                    continue
                case 7:
                    break
                case 9:
                    return -total
                case v:
                    total += v
        return total

    same_as_cpython(f)
