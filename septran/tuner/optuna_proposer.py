"""Optuna's TPE as a way to choose the next point; Optuna is imported when the method is used."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from eas.septran.tuner.prediction import Tried
from eas.septran.tuner.proposers import Predictor, Random, propose_random
from eas.septran.tuner.space import Point, Space
from eas.support.command_line import UsageError

if TYPE_CHECKING:
    from optuna import Study

_MOST_ASKS = 100


@cache
def load_optuna() -> ModuleType:
    """Optuna; raises `UsageError` with the command that installs it."""
    try:
        import optuna
    except ImportError as error:
        raise UsageError("the method `optuna` needs Optuna: pip install optuna") from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def propose_by_optuna(
    space: Space, history: Sequence[Tried], model: Predictor, random: Random
) -> Point | None:
    """What Optuna's TPE asks for next.

    The study is built anew from what was tried, since a proposer has no state. Points that static
    checks refuse are reported to it as pruned, at no cost; a point that was tried is asked for
    anew.
    """
    optuna: Any = load_optuna()
    study = _study(space, history, int(random.integers(1 << 31)))
    distributions = _distributions(space)
    tried = {each.point for each in history}
    for _ in range(_MOST_ASKS):
        asked = study.ask(distributions)
        point = tuple(int(asked.params[tune.key]) for tune in space.tunes)
        is_legal = model.is_legal(point)
        if is_legal and point not in tried:
            return point
        states = optuna.trial.TrialState
        study.tell(asked, state=states.FAIL if is_legal else states.PRUNED)
    return propose_random(space, history, model, random)


def _study(space: Space, history: Sequence[Tried], seed: int) -> Study:
    """A study that knows what was tried. A candidate that must not win has infinite seconds."""
    optuna: Any = load_optuna()
    study: Study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    distributions = _distributions(space)
    for each in history:
        pairs = zip(space.tunes, each.point, strict=True)
        study.add_trial(
            optuna.trial.create_trial(
                params={tune.key: position for tune, position in pairs},
                distributions=distributions,
                value=each.seconds,
            )
        )
    return study


def _distributions(space: Space) -> dict[str, Any]:
    """Positions of options: those of numbers have an order, the others have none."""
    kinds: Any = load_optuna().distributions
    return {
        tune.key: kinds.IntDistribution(0, len(tune.options) - 1)
        if all(type(option) is int for option in tune.options)
        else kinds.CategoricalDistribution(tuple(range(len(tune.options))))
        for tune in space.tunes
    }
