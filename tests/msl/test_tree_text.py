"""The C++ tree as text: `eas tree`."""

from __future__ import annotations

import re
from textwrap import dedent

import eas
from eas import mk
from tests.test_kernels import case_of, every_kernel
from tests.thorough import sampled

NAMED = re.compile(r"#\d+ (\w+): (\w+) = .*  \(named\)$", re.MULTILINE)


@every_kernel
@sampled(3)
def test_what_is_named_in_the_tree_is_declared_in_the_metal_text(name: str) -> None:
    case = case_of(name)
    tree, metal = case.kernel.to_tree(**case.arguments()), case.kernel.to_msl(**case.arguments())
    missing = [
        (hint, kind)
        for hint, kind in NAMED.findall(tree)
        if not re.search(rf"const {kind} {hint}(_\d*)? = ", metal)
    ]
    assert missing == []
    assert tree.count("threadgroup_barrier(") == metal.count("threadgroup_barrier(")


@eas.kernel
def double(x, n):
    for _ in range(3):
        n = n * 2
    mk.store(x, 0, n)


def test_a_variable_that_replaces_an_argument_has_a_name_of_its_own() -> None:
    text = """\
        declare int n_1 = n
        loop for (int value = 0; value < 3; ++value)
          #7 n: int = wrap_mul(n_1, 2)  (inline)
          set n_1 = #7
        guard t == 0
          x[0] = n_1;
        """
    assert double.to_tree("*i32", "i32") == dedent(text)
