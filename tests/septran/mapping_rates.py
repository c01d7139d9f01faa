"""How many random mappings are accepted, and with which codes the others are refused.

python -m tests.septran.mapping_rates [mappings per machine and operator] [seed]

`--only=MACHINE` leaves the other machines out, `--flat` runs nothing that is compiled, `--mistakes`
plants a mistake in each mapping, and `--required` fails where fewer than 15 % are accepted, or a
code is in more than half of the refusals.

`--keep=FILE` adds the results to a file, some mappings of each machine and operator at a time; what
is in it already is not tried again, unless it is of another commit. So a long run can be stopped
and goes on later. `--docs` then writes the table of docs/septran.md from that file.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterable, Sequence
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
CHUNK = 50
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "septran.md"
HEAD = "| machine | operator | tried | accepted | refused with |\n|---|---|---:|---:|---|\n"


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

    def add(self, other: Rates) -> None:
        self.tried += other.tried
        self.accepted += other.accepted
        self.wrong += other.wrong
        self.codes.update(other.codes)

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
    numbers: Iterable[int],
    seed: int,
    *,
    is_compiled: bool = True,
    is_mistaken: bool = False,
) -> Rates:
    """Tries mappings of one operator on one machine; prints those that are wrong."""
    rates = Rates(machine, operator)
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
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


@record
class Kept:
    """The results in a file, of one commit and seed: a line for each chunk of mappings."""

    path: Path
    commit: str
    seed: int

    def read(self) -> dict[tuple[str, str, int], Rates]:
        """What was tried, by machine, operator and the number of the first mapping."""
        found: dict[tuple[str, str, int], Rates] = {}
        lines = self.path.read_text("utf-8").splitlines() if self.path.exists() else []
        for each in map(json.loads, lines):
            if (each["commit"], each["seed"]) == (self.commit, self.seed):
                counts = (each["tried"], each["accepted"], each["wrong"], Counter(each["codes"]))
                rates = Rates(each["machine"], each["operator"], *counts)
                found[rates.machine, rates.operator, each["first"]] = rates
        return found

    def add(self, first: int, rates: Rates) -> None:
        line = {
            "commit": self.commit,
            "seed": self.seed,
            "machine": rates.machine,
            "operator": rates.operator,
            "first": first,
            "tried": rates.tried,
            "accepted": rates.accepted,
            "wrong": rates.wrong,
            "codes": dict(rates.codes),
        }
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(line)}\n")

    def totals(self) -> list[Rates]:
        """The rates of each operator on each machine, in the order of the table."""
        totals = {(m, o): Rates(m, o) for m in MACHINES for o in OPERATORS}
        for (machine, operator, _), rates in self.read().items():
            totals[machine, operator].add(rates)
        return [each for each in totals.values() if each.tried]


def write_page(totals: Sequence[Rates], seed: int) -> None:
    """Replaces the table in the documentation, and the sentence before it."""
    text = PAGE.read_text("utf-8")
    start, end = text.index("<!-- rates -->"), text.index("<!-- end of rates -->")
    tried, wrong = (sum(getattr(each, name) for each in totals) for name in ("tried", "wrong"))
    count = max(each.tried for each in totals)
    command = f"python -m tests.septran.mapping_rates {count} {seed} --keep=rates.jsonl --docs"
    said = f"`{command}` wrote this table, of {tried:,} mappings, all of one commit;"
    rows = "".join(f"| {' | '.join(each.cells())} |\n" for each in totals)
    table = f"<!-- rates -->\n{said} {wrong or 'none'} {'were' if wrong > 1 else 'was'} wrong:\n\n"
    PAGE.write_text(f"{text[:start]}{table}{HEAD}{rows}{text[end:]}", "utf-8")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=200)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--only", choices=MACHINES)
    parser.add_argument("--keep", type=Path, metavar="FILE")
    for flag in ("flat", "mistakes", "docs", "required"):
        parser.add_argument(f"--{flag}", action="store_true")
    given = parser.parse_args(arguments)
    if given.docs and given.keep is None:
        parser.error("--docs needs the file of --keep")
    with tempfile.TemporaryDirectory() as folder:
        path = given.keep or Path(folder) / "rates.jsonl"
        kept = Kept(path, _commit(), given.seed)
        _try_all(given, kept)
        totals = kept.totals()
    form = "{:12} {:18} {:>6} {:>9}  {}"
    print(form.format("machine", "operator", "tried", "accepted", "refused with"))
    for rates in totals:
        print(form.format(*rates.cells()))
    if given.docs:
        write_page(totals, given.seed)
    is_good = all(not each.wrong and (each.is_enough or not given.required) for each in totals)
    return 0 if is_good else 1


def _try_all(given: argparse.Namespace, kept: Kept) -> None:
    """The mappings that were not tried yet, some of each machine and operator in turn."""
    done = kept.read()
    for first in range(0, given.count, CHUNK):
        numbers = range(first, min(first + CHUNK, given.count))
        for machine in [given.only] if given.only else MACHINES:
            for operator in OPERATORS:
                if (machine, operator, first) in done:
                    continue
                rates = measure(
                    machine,
                    operator,
                    numbers,
                    given.seed,
                    is_compiled=not given.flat,
                    is_mistaken=given.mistakes,
                )
                kept.add(first, rates)
                print(*rates.cells(), file=sys.stderr, flush=True)


def _commit() -> str:
    command = ["git", "rev-parse", "HEAD"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return found.stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
