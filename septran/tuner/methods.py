"""The search methods by name."""

from __future__ import annotations

from eas.septran.tuner.optuna_proposer import load_optuna, propose_by_optuna
from eas.septran.tuner.proposers import PROPOSERS, Proposer
from eas.support.command_line import UsageError

METHODS: dict[str, Proposer] = {**PROPOSERS, "optuna": propose_by_optuna}


def method_of(name: str) -> Proposer:
    """The proposer of a method; raises `UsageError` if there is none, or if it is not installed."""
    if name not in METHODS:
        raise UsageError(f"there is no method `{name}`: {', '.join(METHODS)}")
    if name == "optuna":
        load_optuna()
    return METHODS[name]
