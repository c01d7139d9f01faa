"""Helpers, nested functions, lambdas: arguments, results, what they see."""

from __future__ import annotations

import functools
import operator

from tests.frontend.running import NUMBERS, codes_of, same_as_cpython


def classify(n, low=-1, *, high=2):
    if n < low:
        return low
    if n > high:
        return high
    return n


def total(first, *rest):
    for value in rest:
        first = first * 2 + value
    return first + 100 * len(rest)


def twice(f, x):
    return f(f(x))


def adder(k):
    return lambda x: x + k


def last_of_three():
    return [lambda x: x + k for k in (1, 2, 3)]


def counted(n):
    for k in range(10):
        if k * k >= n:
            return k
    return -1


least_of_three = functools.partial(min, 3)


def test_a_helper_may_return_from_anywhere() -> None:
    def f(n):
        return counted(n) * 10 + counted(n * 10)

    same_as_cpython(f)


def test_parameters_have_defaults_and_keywords() -> None:
    def f(n):
        return classify(n) + 10 * classify(n, 0) + 100 * classify(low=1, high=1, n=n)

    same_as_cpython(f)


def test_a_star_collects_arguments_and_spreads_them() -> None:
    def f(a, b):
        pair = (a, b)
        return total(a) + total(a, b, 3) + total(*pair) + total(b, *pair, *(1, 2))

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_a_partial_brings_arguments_along() -> None:
    clamped = functools.partial(classify, high=5)
    above = functools.partial(clamped, low=-1)

    def f(n):
        return clamped(n) + 10 * clamped(n, 0) + 100 * above(n) + 1000 * least_of_three(n)

    same_as_cpython(f)


def test_a_partial_that_brings_too_much_is_refused() -> None:
    def kernel(out):
        out[0] = least_of_three(1, high=2)

    assert codes_of(kernel, "*i32[:]") == ["E0428"]


def test_a_function_is_an_argument() -> None:
    def f(n):
        return twice(lambda x: x * 2 + n, n) + twice(counted, n)

    same_as_cpython(f)


def test_a_function_passed_to_itself_is_called_again() -> None:
    def f(n):
        return twice(lambda x: twice(lambda y: x + y, x), n)

    same_as_cpython(f)


def test_a_nested_function_sees_names_as_they_are_when_it_is_called() -> None:
    def f(n):
        k = 1

        def g(x):
            return x + k

        before = g(n)
        k = 50
        return before * 100 + g(n)

    same_as_cpython(f)


def test_a_nested_function_sees_names_of_the_trip() -> None:
    def f(n):
        total = 0
        add = lambda: total + k
        for k in range(4):
            total = add() * 2 + n
        return total

    same_as_cpython(f)


def test_a_nested_function_has_names_of_its_own() -> None:
    def f(n):
        v = n

        def g():
            v = 7
            return v

        return g() * 10 + v

    same_as_cpython(f)


def test_defaults_are_evaluated_where_the_function_is_defined() -> None:
    def f(n):
        def g(x, y=n):
            return x + y

        n += 100
        return g(1) + n

    same_as_cpython(f)


def test_a_function_that_is_returned_keeps_its_variables() -> None:
    def f(n):
        def make(k):
            k = k * 2
            m = k + 1
            return lambda x: x * k + m

        first, second = make(n), make(n + 1)
        return first(3) + 100 * second(5) + adder(n)(1)

    same_as_cpython(f)


def test_a_function_that_is_returned_sees_variables_that_depend_on_the_path() -> None:
    def f(n):
        def make(k):
            scale = lambda x: x * k
            if k > 1:
                k = 5
                return scale
            k += 7
            return scale

        return make(n)(3)

    same_as_cpython(f)


def test_lambdas_of_a_comprehension_share_its_variable() -> None:
    def f(n):
        first, _, last = last_of_three()
        return first(n) * 100 + last(n)

    same_as_cpython(f)


def test_lambdas_of_a_loop_share_its_variable() -> None:
    def f(n):
        functions = ()
        for k in (1, 2, 3):
            functions += (lambda x: x * k,)
        return functions[0](n) * 100 + functions[2](n)

    same_as_cpython(f)


def test_a_function_defined_in_a_loop_can_be_used_after_it() -> None:
    def f(n):
        for k in (1, 2, 3):
            g = lambda x, y=n * k: x + y
            if n == k:
                break
        return g(10)

    same_as_cpython(f)


def test_functions_call_functions_twenty_deep() -> None:
    def f(n):
        step = lambda x: x + n
        for _ in range(2):
            n += 1
        chain = (step, classify, counted, step, adder(1))
        for _ in (1, 2, 3, 4):
            for each in chain:
                n = each(n)
        return n

    same_as_cpython(f)


def test_a_helper_without_return_gives_none() -> None:
    def f(i, log, n):
        def put(value):
            log[i, 3] = value

        return 1 if put(n) is None else 0

    same_as_cpython(f, NUMBERS, traced=True)


def test_arguments_are_evaluated_from_left_to_right() -> None:
    def f(i, log, n):
        def note(tag):
            log[i, 0] = log[i, 0] * 10 + tag
            return tag

        return classify(note(1), high=note(2), low=note(3)) + total(note(4), *(note(5), note(6)))

    same_as_cpython(f, NUMBERS, traced=True)


def test_results_that_differ_in_type_are_refused() -> None:
    def half(n):
        if n > 0:
            return n * 0.5
        return n

    def kernel(out, n):
        out[0] = half(n)

    assert codes_of(kernel, "*f32[:]", "i32") == ["E0312"]


def test_a_result_that_some_path_does_not_give_is_refused() -> None:
    def half(n):
        if n > 0:
            return n

    def kernel(out, n):
        out[0] = half(n)

    assert codes_of(kernel, "*f32[:]", "i32") == ["E0310"]


def test_recursion_is_refused() -> None:
    def kernel(out, n):
        def count(k):
            return count(k - 1) + 1 if k > 0 else 0

        out[0] = count(n)

    assert codes_of(kernel, "*i32[:]", "i32") == ["E0418"]


def with_a_hundred(function):
    @functools.wraps(function)
    def wrapper(*numbers):
        return function(*numbers) + 100

    return wrapper


@with_a_hundred
def decorated(n):
    return n * 3


def test_the_code_of_a_decorator_runs_too() -> None:
    same_as_cpython(lambda n: decorated(n))


def test_a_kernel_that_a_decorator_has_wrapped_in_code_is_refused() -> None:
    @with_a_hundred
    def kernel(out):
        out[0] = 1

    assert codes_of(kernel, "*i32[:]") == ["E0410"]


def test_a_missing_argument_is_refused() -> None:
    def kernel(out):
        out[0] = classify()  # pyright: ignore[reportCallIssue]

    assert codes_of(kernel, "*i32[:]") == ["E0413"]


def test_a_function_may_be_given_one_that_calls_it_again() -> None:
    def f(n):
        def doubled(x):
            return twice(lambda y: y * 2, x)

        return twice(doubled, n)

    same_as_cpython(f)


def test_functions_made_by_one_lambda_call_each_other() -> None:
    def f(n):
        compose = lambda outer, inner: lambda x: outer(inner(x))
        add, scale = adder(1), lambda x: x * n
        return compose(compose(add, scale), compose(scale, compose(add, add)))(n)

    same_as_cpython(f)


def test_recursion_through_a_function_that_is_passed_on_is_refused() -> None:
    def kernel(out, n):
        def again(x):
            return twice(again, x)

        out[0] = again(n)

    assert codes_of(kernel, "*i32[:]", "i32") == ["E0418"]


def test_functions_made_by_two_calls_of_one_function_can_be_chosen_between() -> None:
    def f(n):
        if n > 2:
            g = adder(n)
        else:
            g = adder(3)
        return g(10)

    same_as_cpython(f)


def test_a_function_made_anew_in_each_trip_keeps_the_variables_of_its_own_call() -> None:
    def f(n):
        for k in (1, 2):
            g = adder(n * k)
            if n == 3:
                continue
            if n == k:
                break
        return g(10)

    same_as_cpython(f)


def test_operators_are_functions_too() -> None:
    def f(n):
        total = 0
        for apply in (operator.add, operator.mul, operator.floordiv):
            total = 100 * total + apply(n, -4)
        return total + operator.lt(n, 3) + 2 * operator.not_(operator.eq(n, 1))

    same_as_cpython(f)
