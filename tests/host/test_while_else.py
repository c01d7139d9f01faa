"""Jumps out of the `else` of a loop whose test computes what it passes on, in all variants."""

from __future__ import annotations

import importlib.util
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from eas.msl.host import Host
from tests.host.alike import Arrays, Trial, run_trials
from tests.thorough import thorough

HEAD = "import eas\nfrom eas import mk\n"
TEMPLATE = """

@eas.kernel
def {name}(x, out, N: eas.constexpr):
    i = {index}
    v = mk.load(x, i)
    n = 0
    seen = 0
    {outer}
        k = 0
        while (left := v + step - k * k) > 2{also}:
            k += 1
            if k == 3:
                n += left
                {in_body}
            n += k
        else:
            n += 100 * left
            if (v + step) % 3 == 1:
                {in_else}
            n += 1
        seen += left
    mk.store(out, i, n * 1000 + seen)
"""
OUTER = {
    "for": ("for step in range(4):", ""),
    "while": ("step = -1\n    while (step := step + 1) < 4:", " and mk.load(x, k % 4) != 7"),
}
INDEX = {"lanes": "mk.arange(0, N)", "scalars": "mk.program_id(0)"}
SIZE = 16


def source() -> tuple[str, list[str]]:
    text, names = HEAD, list[str]()
    jumps = ("pass", "break", "continue")
    exits = ("pass", "break", "continue", "return")
    for index, outer, in_body, in_else in product(INDEX, OUTER, jumps, exits):
        name = f"{index}_{outer}_{in_body}_{in_else}"
        names.append(name)
        text += TEMPLATE.format(
            name=name,
            index=INDEX[index],
            outer=OUTER[outer][0],
            also=OUTER[outer][1],
            in_body=in_body,
            in_else=in_else,
        )
    return text, names


def arrays() -> Arrays:
    x = np.array([3, 0, 7, 12, 5, 1, 9, 2, 30, 4, 6, 8, 11, 10, 14, 13], np.int32)
    return {"x": x, "out": np.full(SIZE, -1, np.int32)}


def trial_of(kernel: Any) -> Trial:
    compiled = kernel.compile(**arrays(), N=SIZE)
    grid = (SIZE if kernel.name.startswith("scalars") else 1,)
    return Trial(
        kernel.name, compiled.function, compiled.metal, arrays, compiled.binding.bind, grid
    )


@thorough
def test_every_jump_out_of_an_else_goes_where_the_interpreter_goes(
    tmp_path: Path, host: Host
) -> None:
    text, names = source()
    path = tmp_path / "while_else.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("while_else", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    run_trials(host, [trial_of(getattr(module, name)) for name in names])
