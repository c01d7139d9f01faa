"""How many random mappings are accepted, and with which codes the others are refused.

python -m tests.septran.mapping_rates [mappings per machine and operator] [seed]

`--only=MACHINE` leaves the other machines out, `--flat` runs nothing that is compiled, `--mistakes`
plants a mistake in each mapping, `--markdown` prints the table of the documentation, and
`--required` fails where fewer than 15 % are accepted, or a code is in more than half of the
refusals.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

from eas.support.records import field, record
from tests.septran.random_mappings import (
    MACHINES,
    OPERATORS,
    Trial,
    draw_trial,
    plant_mistake,
    try_mapping,
)

LEAST_ACCEPTED = 0.15
MOST_OF_A_CODE = 0.5


@record
class Rates:
    """What became of the mappings of one operator on one machine."""

    machine: str
    operator: str
    tried: int = 0
    accepted: int = 0
    wrong: int = 0
    codes: Counter[str] = field(default_factory=Counter[str])

    @property
    def refused(self) -> int:
        return self.tried - self.accepted - self.wrong

    @property
    def is_enough(self) -> bool:
        """Whether enough are accepted, and no code is in more than half of the refusals."""
        is_accepted = self.accepted >= LEAST_ACCEPTED * self.tried
        [(_, most)] = self.codes.most_common(1) or [("", 0)]
        return is_accepted and most <= max(MOST_OF_A_CODE * self.refused, 1)

    def cells(self) -> list[str]:
        """The machine, the operator, the share that is accepted, and the codes of the others."""
        codes = ", ".join(f"{code} {times}" for code, times in self.codes.most_common())
        share = f"{self.accepted / self.tried:.0%}" if self.tried else ""
        return [self.machine, self.operator, str(self.tried), share, codes]


def draw(
    machine: str, operator: str, number: int, seed: int, *, is_mistaken: bool = False
) -> Trial:
    """A mapping by its number; every run draws the same."""
    source = random.Random(f"{seed} {machine} {operator} {number}")
    trial = draw_trial(operator, machine, source.choice)
    return plant_mistake(trial, source.choice) if is_mistaken else trial


def measure(
    machine: str,
    operator: str,
    count: int,
    seed: int,
    *,
    is_compiled: bool = True,
    is_mistaken: bool = False,
) -> Rates:
    """Tries mappings of one operator on one machine; prints those that are wrong."""
    rates = Rates(machine, operator)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            trial = draw(machine, operator, number, seed, is_mistaken=is_mistaken)
            rates.tried += 1
            try:
                found = try_mapping(trial, Path(folder), is_compiled=is_compiled)
            except Exception:
                rates.wrong += 1
                print(f"--- {operator} {machine} {number} {trial.sizes} {trial.dtype}")
                print(trial.yaml)
                traceback.print_exc(limit=-4, file=sys.stdout)
                continue
            rates.accepted += not found
            rates.codes.update(found)
    return rates


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=200)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--only", choices=MACHINES)
    for flag in ("flat", "mistakes", "markdown", "required"):
        parser.add_argument(f"--{flag}", action="store_true")
    given = parser.parse_args(arguments)
    form = "| {} | {} | {} | {} | {} |" if given.markdown else "{:12} {:18} {:>6} {:>9}  {}"
    print(form.format("machine", "operator", "tried", "accepted", "refused with"))
    if given.markdown:
        print("|---|---|---:|---:|---|")
    is_good = True
    for machine in [given.only] if given.only else MACHINES:
        for operator in OPERATORS:
            rates = measure(
                machine,
                operator,
                given.count,
                given.seed,
                is_compiled=not given.flat,
                is_mistaken=given.mistakes,
            )
            print(form.format(*rates.cells()), flush=True)
            is_good &= not rates.wrong and (rates.is_enough or not given.required)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
