"""How many random mappings are accepted, and with which codes the others are refused.

python -m tests.septran.mapping_rates [mappings per machine and operator] [seed]
"""

from __future__ import annotations

import random
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

from tests.septran.random_mappings import MACHINES, OPERATORS, draw_trial, try_mapping


def main(count: int, seed: int, machines: tuple[str, ...], is_compiled: bool) -> int:
    print(f"{'machine':12} {'operator':18} {'accepted':>8}  refused")
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for machine in machines:
            for operator in OPERATORS:
                codes: Counter[str] = Counter()
                accepted = 0
                for number in range(count):
                    source = random.Random(f"{seed} {machine} {operator} {number}")
                    trial = draw_trial(operator, machine, source.choice)
                    try:
                        found = try_mapping(trial, Path(folder), is_compiled=is_compiled)
                    except Exception:
                        wrong += 1
                        print(f"--- {operator} {machine} {number} {trial.sizes} {trial.dtype}")
                        print(trial.yaml)
                        traceback.print_exc(limit=-4, file=sys.stdout)
                        continue
                    accepted += not found
                    codes.update(found)
                refused = ", ".join(f"{code} {times}" for code, times in codes.most_common())
                print(f"{machine:12} {operator:18} {accepted / count:8.0%}  {refused}", flush=True)
    return wrong


if __name__ == "__main__":
    arguments = [each for each in sys.argv[1:] if not each.startswith("--")]
    chosen = [each for each in sys.argv[1:] if each.startswith("--only=")]
    machines = (chosen[0].removeprefix("--only="),) if chosen else MACHINES
    sys.exit(
        min(
            main(
                int(arguments[0]) if arguments else 200,
                int(arguments[1]) if len(arguments) > 1 else 0,
                machines,
                "--flat" not in sys.argv,
            ),
            1,
        )
    )
