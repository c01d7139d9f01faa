"""The verifier finds every race that the interpreter finds."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from eas.septran.flat.interpret import run_module
from eas.septran.flat.parser import parse_module
from eas.septran.flat.run_errors import FlatRunError
from eas.septran.flat.verify import find_violations

small = st.integers(-2, 5)
offsets = st.builds(lambda i, j, c: f"{i}*i + {j}*j + {c}", small, small, st.integers(0, 9))
views = st.builds(
    lambda slot, row, low, size: f"S.SPM@({slot})[{row}, {low} : {size}]",
    st.sampled_from(["0", "1", "i % 2", "j % 2", "i"]),
    st.sampled_from(["0", "i", "j", "i + j"]),
    offsets,
    st.integers(1, 4),
)


@given(st.lists(views, min_size=1, max_size=2), st.integers(1, 3), st.integers(1, 3))
def test_a_loop_without_violations_runs_without_races(
    written: list[str], trips: int, inner: int
) -> None:
    fills = "".join(f"fill {view} 1.0\n" for view in written)
    module = parse_module(
        f"""
module m(Y: f32 [1] GLOBAL w) machine test {{
  kernel k(Y: f32 [1] GLOBAL w) grid [] threads 1 {{
    fill Y.GLOBAL[0:1] 0.0
    alloc S: f32 [8, 64] SPM slots 4 pad 0
    pfor i < {trips} at THREAD {{
      for j < {inner} {{
        {fills}
      }}
    }}
  }}
}}
"""
    )
    violations = find_violations(module)
    assume(all(violation.rule == "race" for violation in violations))
    try:
        run_module(module, [np.zeros(1, np.float32)])
        is_racing = False
    except FlatRunError as error:
        assert error.message == "two parallel iterations touch one element of `S`"
        is_racing = True
    assert violations or not is_racing
