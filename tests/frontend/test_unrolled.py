"""Loops over tuples, `zip`, `enumerate`, `mk.static_range`, and comprehensions."""

# pyright: reportPossiblyUnboundVariable=false

from __future__ import annotations

from eas import mk
from tests.frontend.running import NUMBERS, codes_of, same_as_cpython

SCALES = (3, -1, 2)


def test_a_loop_over_a_tuple_takes_its_items_in_turn() -> None:
    def f(a, b):
        total = 0
        for v in (a, b, 5, a + b):
            total = total * 2 + v
        return total, v

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_items_may_differ_in_type() -> None:
    def f(n):
        total = 0.0
        for v in (n, 0.5, n > 1):
            total = total * 2 + v
        return total

    same_as_cpython(f, out="float32")


def test_a_loop_on_the_device_may_have_other_types_in_each_trip() -> None:
    def f(n):
        total = 0.0
        for v in (1, 2.5, n):
            x = v
            for _ in range(3):
                x = x + v
            total += x
        return total

    same_as_cpython(f, out="float32")


def test_zip_and_enumerate_give_tuples() -> None:
    def f(a, b):
        total = 0
        for k, (x, y) in enumerate(zip((a, b, 1), SCALES, strict=True), 2):
            total += k * x + y
        for x, y in zip((a, b), range(5)):
            total = total * 2 + x - y
        for x in reversed((a, b)):
            total = total * 3 + x
        return total

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_a_static_range_is_a_range() -> None:
    def f(n):
        total = 0
        for k in mk.static_range(3):
            total = total * 2 + k
        for k in mk.static_range(5, -2, -3):
            total = total * 2 + k * n
        return total

    same_as_cpython(f)


def test_break_depends_on_data() -> None:
    def f(n):
        total = 0
        for k in SCALES:
            if k == n:
                break
            total += k
        else:
            total += 100
        return total, k

    same_as_cpython(f)


def test_continue_depends_on_data() -> None:
    def f(n):
        total = 0
        for k in SCALES:
            if k > n:
                continue
            total = total * 2 + k
        return total

    same_as_cpython(f)


def test_break_in_an_else_leaves_the_loop_around() -> None:
    def f(n):
        total = 0
        for a in (1, 2, 3):
            for b in (1, 2):
                if a * b == n:
                    break
            else:
                total += a
                break
            total += 10
        return total

    same_as_cpython(f)


def test_return_leaves_an_unrolled_loop() -> None:
    def f(n):
        for k, v in enumerate(SCALES):
            if v == n:
                return k
        return -1

    same_as_cpython(f)


def test_loops_of_both_kinds_nest() -> None:
    def f(n):
        total = 0
        for a in range(n):
            for b in SCALES:
                if b == a:
                    break
                for c in range(b):
                    if c == n - 2:
                        continue
                    total += 1
            else:
                total += 10
        return total

    same_as_cpython(f)


def test_a_comprehension_has_its_own_variables() -> None:
    def f(n):
        k = 7
        values = [k * n for k in (1, 2, 3)]
        return sum(values) * 10 + k

    same_as_cpython(f)


def test_a_comprehension_nests_and_filters() -> None:
    def f(n):
        pairs = [a * 10 + b + n for a in range(3) if a != 1 for b in range(a)]
        return sum(pairs) + max(x for x in pairs) + len(pairs)

    same_as_cpython(f)


def test_nothing_is_left_of_an_empty_tuple() -> None:
    def f(n):
        for k in ():
            n = k
        else:
            n += 1
        return n + sum(())

    same_as_cpython(f)


def test_a_comprehension_of_unknown_length_is_refused() -> None:
    def kernel(out, n):
        out[0] = sum([k for k in range(n)])

    assert codes_of(kernel, "*i32[:]", "i32") == ["E0702"]


def test_a_walrus_in_a_comprehension_is_refused() -> None:
    def kernel(out, n):
        v = 1
        out[0] = sum([(v := n) for _ in range(3)])
        out[1] = v

    assert codes_of(kernel, "*i32[:]", "i32") == ["E0121"]


def test_a_generator_that_is_kept_is_refused() -> None:
    def kernel(out, n):
        values = (n * k for k in range(3))
        out[0] = sum(values)

    assert codes_of(kernel, "*i32[:]", "i32") == ["E0113"]


def test_a_range_that_depends_on_the_path_can_be_kept() -> None:
    def f(n):
        total = 0
        for k in (1, 2):
            steps = range(k, n * k, k)
            if n == 3:
                continue
            if n == 2:
                break
        for j in steps:
            total = total * 2 + j
        return total

    same_as_cpython(f)


def test_a_default_that_depends_on_the_path_is_kept() -> None:
    def f(n):
        for k in (1, 2, 3):
            g = lambda x, y=n * k: x + y
            if n == 3:
                continue
            if n == k:
                break
        return g(10)

    same_as_cpython(f)
