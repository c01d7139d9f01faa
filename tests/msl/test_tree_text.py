"""The C++ tree as text: `eas tree`."""

from __future__ import annotations

import re

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
