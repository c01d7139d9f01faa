"""Check mode: each bug is found, in its line, in every order; repaired kernels are silent."""

from __future__ import annotations

import numpy as np
import pytest

import eas
from eas import mk
from eas.msl.host import CHECKED, ORDERS, Bound, Dispatch, Host, KernelFault, check
from eas.msl.host.checking import to_diagnostic
from tests.host.buggy import BUGS, Bug
from tests.thorough import sampled

every_bug = pytest.mark.parametrize("name", BUGS)
in_some_orders = pytest.mark.parametrize(
    ("name", "order"), [(name, order) for order in ORDERS[1:] for name in BUGS]
)


def run_checked(host: Host, bug: Bug, text: str, order: str) -> None:
    library = host.builder.build([text], CHECKED)
    buffers = [
        Bound(0, np.ones(128, np.float32)),
        Bound(1, np.zeros(128, np.float32)),
        Bound(2, np.zeros(128, np.int32)),
        Bound(3, np.zeros(128, np.int32)),
    ]
    groups = (bug.groups, 1, 1)
    dispatch = Dispatch(host, library, "bug", buffers, (64, 1, 1), groups, order=order)
    with host.lock:
        dispatch.run()


@sampled(5)
@every_bug
def test_a_bug_is_found_in_its_line(name: str, checked_host: Host) -> None:
    bug = BUGS[name]
    text = bug.text(bug.wrong)
    with pytest.raises(KernelFault) as caught:
        run_checked(checked_host, bug, text, "forward")
    finding = caught.value.finding
    diagnostic = to_diagnostic(finding, text)
    lines = {loc.line for loc in (diagnostic.loc, *(label.loc for label in diagnostic.secondary))}
    assert (finding.kind, sorted(lines)) == (bug.kind, bug.blamed)
    assert diagnostic.loc.source.name == "bug.py"


@sampled(3)
@in_some_orders
def test_a_bug_is_found_in_every_order(name: str, order: str, checked_host: Host) -> None:
    bug = BUGS[name]
    with pytest.raises(KernelFault):
        run_checked(checked_host, bug, bug.text(bug.wrong), order)


@sampled(5)
@every_bug
def test_the_repaired_twin_is_silent(name: str, checked_host: Host) -> None:
    bug = BUGS[name]
    run_checked(checked_host, bug, bug.text(bug.right), "forward")


@sampled(3)
@in_some_orders
def test_the_repaired_twin_is_silent_in_every_order(
    name: str, order: str, checked_host: Host
) -> None:
    bug = BUGS[name]
    run_checked(checked_host, bug, bug.text(bug.right), order)


@eas.kernel
def off_by_one(x, y, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(y, i, mk.load(x, i + 1, i < N), i < N)


def test_a_bug_of_python_is_reported_at_its_line(checked_host: Host) -> None:
    x = np.zeros(40, np.float32)
    compiled = off_by_one.compile(x, x, 40, BLOCK=32)
    arguments = {"x": x, "y": x.copy(), "N": np.int32(40)}
    bound = compiled.binding.bind(arguments)
    found = check(compiled.metal, compiled.function, bound, (2,), checked_host)
    line = off_by_one.fn.__code__.co_firstlineno + 3
    assert [(d.message, d.loc.source.path, d.loc.line) for d in found] == [
        ("a read outside of buffer 0", __file__, line)
    ]
