"""The flat module is legal, or an error says what is not: only verified modules run."""

from __future__ import annotations

from eas.septran.files.complaints import Complaints
from eas.septran.flat.machine import Machine
from eas.septran.flat.nodes import Kernel, Module
from eas.septran.flat.races import find_races
from eas.septran.flat.verify import Violation, find_violations
from eas.support.location import NOWHERE, Loc

# The rules of the verifier that a logic or a mapping can break, and the code of the mistake.
_CODES = {"bounds": "S807", "race": "S302", "capacity": "S401", "overlap": "S903"}
_HELP = {
    "overlap": "place one of the two in a faster memory, where it is copied to, or write to a local"
    " tensor"
}


def check_legality(module: Module, machine: Machine, complaints: Complaints) -> None:
    """Complain about tiles outside of their tensors (S807), races (S302) and overlaps (S903).

    What breaks another rule is nothing that the target can run (S701).
    """
    for violation in find_violations(module, machine):
        code = _CODES.get(violation.rule, "S701")
        help = [_HELP[violation.rule]] if violation.rule in _HELP else []
        complaints.add(code, _message(violation), _place(violation), help=help)


def check_races(kernel: Kernel, private: frozenset[str], complaints: Complaints) -> None:
    """Complain about iterations of a kernel's parallel loops that are not independent (S302)."""
    for stmt, message in find_races(kernel, private):
        violation = Violation("race", message, kernel.name, stmt)
        complaints.add("S302", _message(violation), _place(violation))


def _message(violation: Violation) -> str:
    if violation.rule == "race":
        return f"iterations of a parallel range are not independent: {violation.message}"
    return violation.message


def _place(violation: Violation) -> Loc:
    origin = None if violation.stmt is None else violation.stmt.origin
    if origin is None:
        return NOWHERE
    return origin.python or origin.yaml or NOWHERE
