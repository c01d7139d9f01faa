"""Names: definite assignment, walrus, unpacking, assignment in place."""

# pyright: reportPossiblyUnboundVariable=false, reportUnboundVariable=false
# pyright: reportAssignmentType=false

from __future__ import annotations

from typing import NamedTuple

from tests.frontend.running import NUMBERS, codes_of, same_as_cpython


class Pair(NamedTuple):
    x: int
    y: int = 4


def test_a_name_has_a_value_if_every_branch_gives_one() -> None:
    def f(n):
        if n > 2:
            v = 1
        elif n > 0:
            v = 2
        else:
            v = n
        return v

    same_as_cpython(f)


def test_a_branch_that_returns_need_not_give_a_value() -> None:
    def f(n):
        if n > 2:
            return -1
        elif n > 0:
            v = 2
        else:
            v = n
        return v

    same_as_cpython(f)


def test_a_branch_that_breaks_need_not_give_a_value() -> None:
    def f(n):
        total = 0
        for k in range(5):
            if k > n:
                break
            else:
                v = k * 2
            total += v
        return total

    same_as_cpython(f)


def test_a_name_that_one_branch_leaves_unbound_is_refused_where_it_is_used() -> None:
    def kernel(out, n):
        if n > 0:
            v = 1
        out[0] = 5
        out[1] = v

    assert codes_of(kernel, "*i32[:]", "i32") == ["E0202"]


def test_a_name_that_one_branch_leaves_unbound_is_no_error_if_it_is_not_used() -> None:
    def f(n):
        if n > 0:
            v = 1
            n += v
        return n

    same_as_cpython(f)


def test_a_name_is_used_before_it_has_a_value() -> None:
    def kernel(out):
        out[0] = v
        v = 1

    assert codes_of(kernel, "*i32[:]") == ["E0203"]


def test_a_walrus_binds_in_a_condition() -> None:
    def f(n):
        if (v := n * 2) > 3:
            v += 1
        return v

    same_as_cpython(f)


def test_a_walrus_in_the_test_of_a_loop_binds_on_every_trip() -> None:
    def f(n):
        total = 0
        while (n := n - 1) > 0:
            total += n
        return total, n

    same_as_cpython(f)


def test_a_walrus_behind_and_has_a_value_where_the_whole_is_true() -> None:
    def f(n):
        if n > 0 and (v := n * 2) > 3:
            return v
        return -1

    same_as_cpython(f)


def test_a_walrus_behind_or_has_a_value_where_the_whole_is_false() -> None:
    def f(n):
        if n < 0 or (v := n * 2) > 3:
            return -1
        else:
            return v

    same_as_cpython(f)


def test_a_walrus_behind_and_has_a_value_in_the_body_of_while() -> None:
    def f(n):
        total = 0
        while n > 0 and (v := n % 4) != 3:
            total += v
            n -= 1
        return total

    same_as_cpython(f)


def test_a_walrus_behind_and_may_have_no_value_elsewhere() -> None:
    def kernel(out, n):
        if n > 0 and (v := n * 2) > 3:
            out[0] = v
        out[1] = v

    assert len(codes_of(kernel, "*i32[:]", "i32")) == 1


def test_a_walrus_behind_and_keeps_the_old_value_if_it_is_not_reached() -> None:
    def f(n):
        v = 50
        found = n > 0 and (v := n) > 2
        return v + 100 * found

    same_as_cpython(f)


def test_a_walrus_in_an_operand_does_not_change_those_before_it() -> None:
    def f(n):
        return n + (n := n * 2) + n

    same_as_cpython(f)


def test_a_walrus_in_a_default_binds_outside_of_the_function() -> None:
    def f(n):
        v = 1
        for k in range(3):

            def g(x, y=(v := n + k)):
                return x + y

            n += g(v)
        return n, v

    same_as_cpython(f)


def test_values_are_exchanged() -> None:
    def f(a, b):
        a, b = b, a
        return a * 10 + b

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_a_star_takes_what_is_left() -> None:
    def f(a, b):
        first, *rest, last = a, b, a + b, a - b
        *most, end = rest
        head, *none = (end,)
        return first + 2 * last + 3 * rest[0] + 4 * most[0] + 5 * head + 6 * len(none)

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_targets_nest() -> None:
    def f(a, b):
        (x, (y, *z)), w = (a, (b, 3, 4)), 5
        return x + 2 * y + 3 * sum(z) + 4 * w

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_a_chain_assigns_from_left_to_right() -> None:
    def f(n):
        a = b, c = n, n + 1
        return a[0] + 2 * a[1] + 3 * b + 4 * c

    same_as_cpython(f)


def test_a_generator_can_be_unpacked() -> None:
    def f(n):
        a, b, c = (n * k for k in (1, 2, 3))
        return a + 10 * b + 100 * c

    same_as_cpython(f)


def test_a_wrong_number_of_values_is_refused() -> None:
    def kernel(out):
        a, b = 1, 2, 3
        out[0] = a + b

    assert codes_of(kernel, "*i32[:]") == ["E0407"]


def test_an_assignment_in_place_reads_its_element_once() -> None:
    def f(i, log, n):
        log[i, 1] = n
        log[i, (k := 1)] += k + 2
        log[i, -7] *= 3
        return log[i, 1]

    same_as_cpython(f, NUMBERS, traced=True)


def test_every_operator_works_in_place() -> None:
    def f(a, b):
        b = abs(b) % 5 + 1
        a += b
        a *= 3
        a -= 1
        a //= b
        a %= 7
        a <<= b
        a >>= 1
        a |= b
        a ^= 5
        a &= 13
        return a

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_a_named_tuple_has_fields_and_items() -> None:
    def f(a, b):
        p = Pair(a, y=b)
        q = Pair(x=b)
        x, y = q
        return p.x + 2 * p[1] + 3 * q.y + 4 * x + 5 * y + 6 * len(p)

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_named_tuples_are_joined_field_by_field() -> None:
    def f(a, b):
        p = Pair(a, b)
        if a > b:
            p = Pair(b)
        for _ in range(2):
            p = Pair(p.y, p.x + 1)
        return p.x * 100 + p.y

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_tuples_are_joined_with_slices_and_sums() -> None:
    def f(a, b):
        t = (a, b, 3) + (4,)
        t = t[1:] + t[:1]
        u = t * 2
        return t[0] + 10 * t[-1] + 100 * u[5] + 1000 * len(u) + sum(t[::-2])

    same_as_cpython(f, NUMBERS, NUMBERS)
